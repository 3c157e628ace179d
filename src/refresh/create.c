/* SPDX-License-Identifier: Apache-2.0 */
/* create.c - a view made, or made anew.
 *
 * The first rows are computed before the name exists: table, record, evidence and name become visible in one catalog
 * transaction, so a create that fails or dies leaves nothing but files that the next start removes.
 *
 * Hidden state (design idea 3): the table's schema 0 holds visible and hidden fields, schema 1 the visible ones alone and is
 * current; data files carry all of them.  last-column-id covers the hidden ids, so that they are never given out again. */
#include "refresh/refresh_int.h"

/* ---- columns ---------------------------------------------------------------------------------------------------------- */

static Status unique_names(const IvmColumns *cols, Error *err)
{
    for (size_t i = 0; i < cols->n; i++) {
        if (str_starts(cols->p[i].name, S("__ivm")))
            return FAIL(err, E_INVALID, "column '" STR_FMT "': names that begin with __ivm are reserved for the system", STR_ARG(cols->p[i].name));
        if (str_ieq(cols->p[i].name, S("__file")) || str_ieq(cols->p[i].name, S("__pos")))
            return FAIL(err, E_INVALID, "column '" STR_FMT "': the names __file and __pos are reserved for the system", STR_ARG(cols->p[i].name));
        for (size_t k = 0; k < i; k++)
            if (str_ieq(cols->p[i].name, cols->p[k].name))
                return FAIL(err, E_EXISTS, "[COLUMN_ALREADY_EXISTS] The column `" STR_FMT "` already exists. Choose another name or rename the existing column.", STR_ARG(cols->p[i].name));
    }
    return OK;
}

static Status add_fields(Arena *a, const IvmColumns *cols, IceSchema *s, int32_t *next_id, Error *err)
{
    for (size_t i = 0; i < cols->n; i++) {
        IceField f = { .id = (*next_id)++, .name = cols->p[i].name };
        vec_push(a, &s->fields, f);
    }
    for (size_t i = 0; i < cols->n; i++) {
        IceField *f = &s->fields.p[s->fields.n - cols->n + i];
        TRY_CTX(lake_ice_type(a, &cols->p[i].type, next_id, &f->type, err), err, "column '" STR_FMT "' of the view", STR_ARG(cols->p[i].name));
    }
    return OK;
}

/* PARTITIONED BY over the result's columns. */
static Status partition_spec(Arena *a, const PartitionFields *fields, const IceSchema *s, IceSpec **ret, Error *err)
{
    IceSpec *spec = arena_new(a, IceSpec);

    for (size_t i = 0; i < fields->n; i++) {
        const PartitionField *p = &fields->p[i];
        const IceField *f = ice_field_by_name(s, p->column);
        if (!f)
            return FAIL(err, E_INVALID, "PARTITIONED BY names column '" STR_FMT "', which the view does not have", STR_ARG(p->column));
        Str text = p->width ? str_fmt(a, STR_FMT "[%d]", STR_ARG(p->transform), p->width) : p->transform;
        IceTransform t = ice_transform_parse(text);
        Str name = p->alias.n ? p->alias : t.kind == TRANSFORM_IDENTITY ? p->column : str_fmt(a, STR_FMT "_" STR_FMT, STR_ARG(p->column), STR_ARG(p->transform));
        vec_push(a, &spec->fields, ((IcePartitionField){ .source_id = f->id, .field_id = 1000 + (int32_t)i, .name = name, .transform = t }));
    }
    *ret = spec;
    return OK;
}

static Status visible_only(Arena *a, const IceMetadata *m, size_t nvisible, IceUpdates *ups)
{
    const IceSchema *all = ice_current_schema(m);
    IceSchema *visible = arena_new(a, IceSchema);

    *visible = (IceSchema){ .id = -1 };
    for (size_t i = 0; i < nvisible; i++)
        vec_push(a, &visible->fields, all->fields.p[i]);
    vec_push(a, ups, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = visible }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    return OK;
}

static IceFields *tail_fields(Arena *a, const IceSchema *s, size_t from)
{
    IceFields *f = arena_new(a, IceFields);
    for (size_t i = from; i < s->fields.n; i++)
        vec_push(a, f, s->fields.p[i]);
    return f;
}

/* ---- the record ------------------------------------------------------------------------------------------------------------ */

static Json *columns_json(Arena *a, const IvmColumns *cols)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < cols->n; i++) {
        Json *o = json_object(a);
        json_set(a, o, "name", json_str(a, cols->p[i].name));
        json_set(a, o, "type", json_str(a, data_type_sql(a, &cols->p[i].type)));
        json_push(a, list, o);
    }
    return list;
}

static Json *extra_json(Arena *a, const ViewSpec *spec)
{
    Json *extra = json_object(a), *catalogs = json_object(a);
    for (size_t i = 0; i < spec->catalogs.n; i++)
        json_set_s(a, catalogs, spec->catalogs.p[i].key, json_str(a, spec->catalogs.p[i].value));
    json_set(a, extra, "catalogs", catalogs);
    return extra;
}

static void fill_mview(Job *j, const ViewSpec *spec)
{
    CatMview *v = &j->mview;

    v->managed = spec->managed;
    v->definition = spec->definition;
    v->dialect = spec->dialect == DIALECT_SPARK ? S("spark") : S("postgres");
    v->definer = spec->definer;
    v->comment = spec->comment;
    v->view_version++;
    v->columns = columns_json(j->a, ivm_visible(j->bound.view));
    v->hidden = hidden_json(j->a, j->hidden);
    v->extra = extra_json(j->a, spec);
    if (spec->schedule.has) {
        v->schedule_s = spec->schedule.seconds;
        v->next_due_ms = clock_ms() + spec->schedule.seconds * 1000;
    }
    if (!v->created_ms)
        v->created_ms = clock_ms();
}

/* ---- a new view ---------------------------------------------------------------------------------------------------------------- */

Status job_new_table(Job *j, const ViewSpec *spec, Error *err)
{
    const IvmColumns *visible = ivm_visible(j->bound.view), *hidden = ivm_hidden(j->bound.view);
    IceSchema *s = arena_new(j->a, IceSchema);
    IceNewTable t = { .schema = s, .location = spec->location, .properties = spec->properties, .format_version = 2 };
    IceMetadata *with_hidden;
    int32_t id = 1;
    int changed;

    TRY(add_fields(j->a, visible, s, &id, err));
    TRY(add_fields(j->a, hidden, s, &id, err));
    TRY(partition_spec(j->a, &spec->partitions, s, &t.spec, err));
    TRY(ice_metadata_new(j->a, &t, &with_hidden, err));
    j->hidden = tail_fields(j->a, ice_current_schema(with_hidden), visible->n);
    j->table.meta = with_hidden;
    if (hidden->n) {
        IceUpdates ups = {0};
        TRY(visible_only(j->a, with_hidden, visible->n, &ups));
        TRY(ice_metadata_apply(j->a, with_hidden, (Str){0}, &ups, clock_ms(), &j->table.meta, &changed, err));
    }
    j->table.relation = (CatRelation){ .catalog = spec->catalog, .namespace = spec->namespace, .name = spec->name, .kind = REL_MVIEW, .uuid = j->table.meta->uuid,
                                       .location = spec->location, .owner = spec->definer, .created_ms = clock_ms(), .updated_ms = clock_ms() };
    return OK;
}

/* A regular view begins as AWS's does, as an empty table that then gets its rows; a managed one is never empty (spec/glue.md 1.2). */
static Status write_empty(Job *j, StrVec *written, Str *ret, Error *err)
{
    if (j->mview.managed)
        return OK;
    *ret = ice_metadata_next_location(j->a, j->table.meta, (Str){0});
    vec_push(j->a, written, *ret);
    return ice_metadata_write(j->a, lake_store(j->r->lake), j->table.meta, *ret, err);
}

static Status commit_new(Job *j, const ViewSpec *spec, StrVec *written, Error *err)
{
    Str before = {0};
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    LakeTable next = j->table;
    CatChange *all = arena_array(j->a, CatChange, 4 + spec->nalso);
    size_t n;
    int changed;

    props_set(j->a, &j->change.summary, S("refresh-state"), job_refresh_state(j));
    props_set(j->a, &j->change.summary, S("firn.refresh-type"), S("FULL"));
    props_set(j->a, &j->change.summary, S("firn.run-id"), j->run.id);
    TRY(ice_change_prepare(j->a, lake_store(j->r->lake), j->table.meta, &j->change, clock_ms(), &ups, &rqs, written, err));
    TRY(write_empty(j, written, &before, err));
    TRY(ice_metadata_apply(j->a, j->table.meta, before, &ups, clock_ms(), &next.meta, &changed, err));
    next.relation.metadata_location = ice_metadata_next_location(j->a, next.meta, before);
    vec_push(j->a, written, next.relation.metadata_location);
    TRY(ice_metadata_write(j->a, lake_store(j->r->lake), next.meta, next.relation.metadata_location, err));
    TRY(job_late(j, j->a, &next, NULL, 0, err));
    TRY(job_publish(j, all + 1, &n, err));
    all[0] = (CatChange){ .kind = CH_CREATE, .relation = &next.relation };
    n++;
    for (size_t i = 0; i < spec->nalso; i++)
        all[n++] = spec->also[i];
    TRY(cat_commit(lake_catalog(j->r->lake), all, n, err));
    j->table = next;
    return OK;
}

static Status create_new(Job *j, const ViewSpec *spec, Error *err)
{
    StrVec written = {0};

    TRY(job_new_table(j, spec, err));
    fill_mview(j, spec);
    j->type = RUN_FULL;
    j->reason = S("first refresh");
    Status s = job_full(j, err);
    if (s == OK)
        s = commit_new(j, spec, &written, err);
    if (s != OK) {
        lake_discard_written(j->r->lake, &written);
        lake_discard(j->r->lake, &j->files);
    }
    return s;
}

/* ---- OR REPLACE ------------------------------------------------------------------------------------------------------------------ */

/* New fields with new ids on the same table: readers of old snapshots still see the old columns. */
static Status replace_schema(Job *j, Error *err)
{
    const IvmColumns *visible = ivm_visible(j->bound.view), *hidden = ivm_hidden(j->bound.view);
    IceSchema *s = arena_new(j->a, IceSchema);
    int32_t id = j->table.meta->last_column_id + 1;
    IceMetadata *with_hidden;
    int changed;

    *s = (IceSchema){ .id = -1 };
    TRY(add_fields(j->a, visible, s, &id, err));
    TRY(add_fields(j->a, hidden, s, &id, err));
    vec_push(j->a, &j->schema_updates, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = s }));
    vec_push(j->a, &j->schema_updates, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    TRY(ice_metadata_apply(j->a, j->table.meta, j->table.relation.metadata_location, &j->schema_updates, clock_ms(), &with_hidden, &changed, err));
    j->hidden = tail_fields(j->a, ice_current_schema(with_hidden), visible->n);
    if (hidden->n) {
        TRY(visible_only(j->a, with_hidden, visible->n, &j->schema_updates));
        TRY(ice_metadata_apply(j->a, j->table.meta, j->table.relation.metadata_location, &j->schema_updates, clock_ms(), &with_hidden, &changed, err));
    }
    j->table.meta = with_hidden;
    j->change.schema_id = SOME_I32(with_hidden->current_schema_id);
    return OK;
}

static Status prepare_replace(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err)
{
    Job *j = ctx;
    IceMetadata *with_schema;
    int changed;

    for (size_t i = 0; i < j->schema_updates.n; i++)
        vec_push(a, ups, j->schema_updates.p[i]);
    TRY(ice_metadata_apply(a, base->meta, base->relation.metadata_location, ups, clock_ms(), &with_schema, &changed, err));
    return ice_change_prepare(a, lake_store(j->r->lake), with_schema, &j->change, clock_ms(), ups, rqs, written, err);
}

static Status replace(Job *j, const ViewSpec *spec, const CatRelation *rel, Error *err)
{
    CatChange also[3];
    size_t n;
    LakeTable next;

    if (spec->partitions.n)
        return FAIL(err, E_UNSUPPORTED, "CREATE OR REPLACE cannot change the partitioning of an existing materialized view: drop it first");
    TRY(cat_mview_get(lake_catalog(j->r->lake), j->a, rel->id, &j->mview, err));
    TRY(lake_open_relation(j->r->lake, j->a, rel, &j->table, err));
    TRY(replace_schema(j, err));
    fill_mview(j, spec);
    j->run.relation_id = rel->id;
    j->type = RUN_FULL;
    j->reason = S("the definition was replaced");
    Status s = job_full(j, err);
    if (s == OK)
        s = job_publish(j, also, &n, err);
    props_set(j->a, &j->change.summary, S("refresh-state"), job_refresh_state(j));
    props_set(j->a, &j->change.summary, S("firn.refresh-type"), S("FULL"));
    if (s == OK)
        s = lake_commit_with(j->r->lake, j->a, &j->table, prepare_replace, job_late, j, also, n, &next, err);
    if (s != OK)
        lake_discard(j->r->lake, &j->files);
    return s;
}

/* ---- entry -------------------------------------------------------------------------------------------------------------------------- */

static Status check_definition(Job *j, const ViewSpec *spec, int64_t self, Error *err)
{
    TRY(view_bind(j->r, j->a, j->c, spec->definition, spec->dialect, &spec->catalogs, spec->definer, self, &j->bound, err));
    TRY(sql_check_definition(j->a, j->bound.query, err));
    TRY(unique_names(ivm_visible(j->bound.view), err));
    if (j->bound.sources.n > 10)
        return FAIL(err, E_LIMIT, "the view reads %zu tables, the limit is 10", j->bound.sources.n);
    return OK;
}

/* The first rows are one transaction with the view itself: only then its run can be told, from its start. */
static void tell_made(Job *j)
{
    CatRun done = j->run;

    j->run.status = S("RUNNING");
    j->run.type = j->run.reason = (Str){0};
    j->run.finished_ms = j->run.bytes = 0;
    job_tell(j);
    j->run = done;
    job_tell(j);
}

Status refresh_create(Refresher *r, Arena *a, const ViewSpec *spec, RefreshReport *ret, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    int64_t begun = clock_mono_us();
    Job j = { .r = r, .a = a, .started_ms = clock_ms() };
    CatRelation rel;
    Error absent;

    if (!spec->conn)
        TRY(duck_connect(r->engine, &c, err));
    j.c = spec->conn ? spec->conn : c;
    j.run = (CatRun){ .id = uuid_v4(a), .status = S("RUNNING"), .role = spec->definer, .trigger = spec->run_trigger.n ? spec->run_trigger : S("CREATE"),
                      .created_ms = j.started_ms, .started_ms = j.started_ms };
    Status there = cat_relation_get(lake_catalog(r->lake), a, spec->catalog, spec->namespace, spec->name, &rel, &absent);
    TRY(check_definition(&j, spec, there == OK ? rel.id : -1, err));
    if (there == OK && !spec->or_replace)
        return FAIL(err, E_EXISTS, "Table already exists: " STR_FMT "." STR_FMT, STR_ARG(spec->namespace), STR_ARG(spec->name));
    if (there == OK && rel.kind != REL_MVIEW)
        return FAIL(err, E_EXISTS, STR_FMT "." STR_FMT " exists and is not a materialized view", STR_ARG(spec->namespace), STR_ARG(spec->name));
    if (there == OK)
        TRY(replace(&j, spec, &rel, err));
    else
        TRY(create_new(&j, spec, err));
    tell_made(&j);
    *ret = (RefreshReport){ .run_id = j.run.id, .type = S("FULL"), .reason = j.reason, .rows_in = j.rows_in, .rows_changed = j.rows_changed,
                            .snapshot_id = j.run.snapshot_id, .started_ms = j.started_ms, .duration_us = clock_mono_us() - begun, .constructs = *ivm_constructs(j.bound.view) };
    return OK;
}
