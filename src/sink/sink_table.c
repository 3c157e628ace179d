/* SPDX-License-Identifier: Apache-2.0 */
/* sink_table.c - the table at the start of a sink and at each load: created, adopted, widened, believed or not.
 *
 * Invariants: (1) a table with history whose progress is neither readable nor remembered is never written; (2) progress that this server did not make stops the sink:
 * a frontier is ours when the note has it, or a commit that was sent has it; (3) the schema is changed only where the table carries our own progress. */
#include "sink/sink_int.h"

/* ---- loading ------------------------------------------------------------------------------------------------------------ */

/* S3 Tables gives the location of a metadata file at times; a folder for data has two names (spec/materialize.md 2.10). */
static void settle_location(Arena *a, IceMetadata *m)
{
    ptrdiff_t at = str_find(m->location, S("/metadata/"));
    Str folder = props_get(&m->properties, S("write.folder-storage.path"), (Str){0});

    if (at > 0 && str_ends(m->location, S(".metadata.json")))
        m->location = str_dup(a, str_sub(m->location, 0, (size_t)at));
    if (folder.n && !props_has(&m->properties, S("write.data.path")))
        props_set(a, &m->properties, S("write.data.path"), folder);
}

static void table_opened(Sink *s, Arena *a, Table *t)
{
    settle_location(a, t->remote.meta);
    t->lake = lake_new(NULL, t->remote.store, NULL);
    t->lt = (LakeTable){ .relation = { .name = s->spec.table, .namespace = s->spec.ns, .uuid = t->remote.meta->uuid }, .meta = t->remote.meta };
    t->open = 1;
}

Status table_load(Sink *s, Arena *a, Table *ret, Error *err)
{
    *ret = (Table){0};
    TRY(remote_table_load(s->catalog, a, s->spec.ns, s->spec.table, &ret->remote, err));
    table_opened(s, a, ret);
    return OK;
}

void table_close(Table *t)
{
    if (!t->open)
        return;
    lake_free(t->lake);
    remote_table_end(&t->remote);
    t->open = 0;
}

/* ---- creating ------------------------------------------------------------------------------------------------------------- */

static Props table_properties(Arena *a, const SinkSpec *s)
{
    Props r = {0};

    props_set(a, &r, S("format-version"), s->deletes == SINK_DELETES_VECTOR ? S("3") : S("2"));
    props_set(a, &r, S("write.parquet.compression-codec"), S("zstd"));
    for (size_t i = 0; i < s->props.n; i++)
        if (!str_starts(s->props.p[i].key, S("sink.")))
            props_set(a, &r, s->props.p[i].key, s->props.p[i].value);
    return r;
}

static Status create_once(Sink *s, Arena *a, const IceSchema *schema, Table *ret, Error *err)
{
    RemoteNew n = { .schema = schema, .props = table_properties(a, &s->spec) };
    IceSortOrder *order;
    IceSpec *spec;

    TRY(sink_spec(a, &s->spec, schema, &spec, err));
    TRY(sink_order(a, &s->spec, schema, &order, err));
    n.spec = spec;
    n.order = order;
    *ret = (Table){0};
    TRY(remote_table_create(s->catalog, a, s->spec.ns, s->spec.table, &n, &ret->remote, err));
    table_opened(s, a, ret);
    return OK;
}

static Status create_namespace(Sink *s, Error *err)
{
    Status made = remote_namespace_create(s->catalog, s->spec.ns, err);

    if (made == OK || made == E_EXISTS)
        return OK;
    return error_context(err, "creating namespace '" STR_FMT "'", STR_ARG(s->spec.ns));
}

/* The namespace is looked for first: there are catalogs in which a table that was refused for want of one leaves half a namespace. */
static Status create(Sink *s, Arena *a, const IceSchema *schema, Table *ret, Error *err)
{
    Error ignored;

    if (remote_namespace_find(s->catalog, s->spec.ns, &ignored) == E_NOT_FOUND)
        TRY(create_namespace(s, err));
    Status st = create_once(s, a, schema, ret, err);
    if (st == E_NOT_FOUND) {
        TRY(create_namespace(s, err));
        st = create_once(s, a, schema, ret, err);
    }
    if (st == E_EXISTS || st == E_UNKNOWN || st == E_TIMEOUT)
        if (table_load(s, a, ret, &ignored) == OK)
            return OK;
    if (st != OK)
        error_context(err, "Failed to create Iceberg table '" STR_FMT "' in namespace '" STR_FMT "'", STR_ARG(s->spec.table), STR_ARG(s->spec.ns));
    return st;
}

static Status load_or_create(Sink *s, Arena *a, const IceSchema *schema, Table *ret, Error *err)
{
    Status st = table_load(s, a, ret, err);

    if (st == E_NOT_FOUND && s->note.frontier && !sink_rebuilds(s)) {
        RAISE(err, E_CONFLICT, "Iceberg table '" STR_FMT "." STR_FMT "' does not exist any more: somebody else has dropped it", STR_ARG(s->spec.ns), STR_ARG(s->spec.table));
        error_hint(err, "Bring it back, or make it anew with ALTER SINK ... SET (SNAPSHOT = true).");
        return E_CONFLICT;
    }
    if (st == E_NOT_FOUND)
        return create(s, a, schema, ret, err);
    if (st != OK)
        return error_context(err, "Failed to load Iceberg table '" STR_FMT "." STR_FMT "'", STR_ARG(s->spec.ns), STR_ARG(s->spec.table));
    return OK;
}

/* ---- does the schema fit? ------------------------------------------------------------------------------------------------- */

static bool type_fits(const IceType *table, const IceType *ours)
{
    if (table->kind != ours->kind || table->fields.n != ours->fields.n)
        return false;
    if (table->kind == ICE_DECIMAL && (table->precision < ours->precision || table->scale != ours->scale))
        return false;
    if (table->kind == ICE_FIXED && table->length != ours->length)
        return false;
    for (size_t i = 0; i < table->fields.n; i++) {
        if (table->kind == ICE_STRUCT && !str_eq(table->fields.p[i].name, ours->fields.p[i].name))
            return false;
        if (!type_fits(table->fields.p[i].type, ours->fields.p[i].type))
            return false;
    }
    return true;
}

/* A wider type of the table's takes what we have. */
static bool takes(const IceType *table, const IceType *ours)
{
    return type_fits(table, ours) || ice_type_promotes(ours, table, 2);
}

static bool field_fits(const IceField *table, const IceField *ours)
{
    return takes(table->type, ours->type) && (!table->required || ours->required);
}

static void fit_encodings(Arena *a, const IceSchema *table, IceSchema *ours, const Encodings *e)
{
    for (size_t i = 0; i < e->n; i++) {
        const IceField *f = ice_field_by_name(table, ours->fields.p[i].name);
        if (!f)
            continue;
        sink_encoding_fit(a, e->p[i], f->type);
        ours->fields.p[i].type = e->p[i]->ice;
    }
}

static bool schema_fits(const IceSchema *table, const IceSchema *ours)
{
    if (table->fields.n != ours->fields.n)
        return false;
    for (size_t i = 0; i < ours->fields.n; i++) {
        const IceField *f = ice_field_by_name(table, ours->fields.p[i].name);
        if (!f || !field_fits(f, &ours->fields.p[i]))
            return false;
    }
    return true;
}

static Status mismatch(const Sink *s, Arena *a, const IceSchema *table, const IceSchema *ours, Error *err)
{
    return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' schema does not match expected schema. Current schema: " STR_FMT ", expected schema: " STR_FMT, STR_ARG(s->spec.table),
                STR_ARG(json_text(a, ice_schema_json(a, table))), STR_ARG(json_text(a, ice_schema_json(a, ours))));
}

/* ---- a schema that grows --------------------------------------------------------------------------------------------------- */

static bool grow_field(IceField *f, const IceField *ours)
{
    if (!takes(f->type, ours->type) && !ice_type_promotes(f->type, ours->type, 2))
        return false;
    if (!takes(f->type, ours->type))
        f->type = ours->type;
    f->required &= ours->required;
    return true;
}

static void add_fields(Arena *a, const IceMetadata *m, const IceSchema *ours, IceSchema *next)
{
    int32_t last = m->last_column_id;

    for (size_t i = 0; i < ours->fields.n; i++) {
        IceSchema one = {0};
        if (ice_field_by_name(next, ours->fields.p[i].name))
            continue;
        vec_push(a, &one.fields, ours->fields.p[i]);
        IceField f = ice_schema_assign_ids(a, &one, &last)->fields.p[0];
        f.required = 0;                               /* the rows that are there have no value */
        vec_push(a, &next->fields, f);
    }
}

/* false: the table's columns cannot become ours. A column that we do not have any more is NULL from now on. */
static bool grown(Arena *a, const IceMetadata *m, const IceSchema *ours, IceSchema *next)
{
    const IceSchema *now = ice_current_schema(m);

    *next = (IceSchema){ .id = now->id };
    for (size_t i = 0; i < now->fields.n; i++) {
        IceField f = now->fields.p[i];
        const IceField *mine = ice_field_by_name(ours, f.name);
        if (mine && !grow_field(&f, mine))
            return false;
        f.required = mine ? f.required : 0;
        vec_push(a, &next->fields, f);
    }
    for (size_t i = 0; i < now->identifiers.n; i++) {
        const IceField *f = ice_field_by_id(next, now->identifiers.p[i]);
        if (f && f->required)
            vec_push(a, &next->identifiers, now->identifiers.p[i]);
    }
    add_fields(a, m, ours, next);
    return true;
}

static Status evolve(Sink *s, Arena *a, Table *t, const IceSchema *ours, Error *err)
{
    const IceMetadata *m = t->remote.meta;
    IceSchema *next = arena_new(a, IceSchema);
    IceRequirements rqs = {0};
    IceUpdates ups = {0};

    if (!grown(a, m, ours, next))
        return mismatch(s, a, ice_current_schema(m), ours, err);
    if (ice_same_schema(next, ice_current_schema(m)))
        return OK;
    next->id = m->current_schema_id + 1;
    vec_push(a, &ups, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = next }));
    vec_push(a, &ups, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    vec_push(a, &rqs, ((IceRequirement){ .kind = RQ_UUID, .text = m->uuid }));
    vec_push(a, &rqs, ((IceRequirement){ .kind = RQ_CURRENT_SCHEMA, .number = SOME_I64(m->current_schema_id) }));
    vec_push(a, &rqs, ((IceRequirement){ .kind = RQ_LAST_FIELD_ID, .number = SOME_I64(m->last_column_id) }));
    TRY_CTX(remote_table_commit(&t->remote, a, &ups, &rqs, err), err, "changing the schema of Iceberg table '" STR_FMT "'", STR_ARG(s->spec.table));
    settle_location(a, t->remote.meta);
    t->lt.meta = t->remote.meta;
    return OK;
}

static Status check_schema(Sink *s, Arena *a, Table *t, IceSchema *ours, const Encodings *e, Error *err)
{
    const IceSchema *table = ice_current_schema(t->remote.meta);
    Progress p;

    if (!table)
        return FAIL(err, E_CORRUPT, "Iceberg table '" STR_FMT "' has no current schema", STR_ARG(s->spec.table));
    fit_encodings(a, table, ours, e);
    if (schema_fits(table, ours))
        return OK;
    if (sink_rebuilds(s))
        return evolve(s, a, t, ours, err);
    TRY(progress_read(t->remote.meta, &p, err));
    if (!p.has || p.sink != s->spec.id)
        return mismatch(s, a, table, ours, err);      /* (3) */
    return evolve(s, a, t, ours, err);
}

/* ---- partitions ------------------------------------------------------------------------------------------------------------ */

static bool same_partitions(const IceMetadata *m, const IceSpec *table, const IceSchema *ours_schema, const IceSpec *ours)
{
    if (table->fields.n != ours->fields.n)
        return false;
    for (size_t i = 0; i < ours->fields.n; i++) {
        const IceField *mine = ice_field_by_id(ours_schema, ours->fields.p[i].source_id), *theirs = ice_field_by_id(ice_current_schema(m), table->fields.p[i].source_id);
        const IceTransform *x = &ours->fields.p[i].transform, *y = &table->fields.p[i].transform;
        if (!mine || !theirs || !str_eq(mine->name, theirs->name) || x->kind != y->kind || x->width != y->width)
            return false;
    }
    return true;
}

static bool is_partitioned(const IceSpec *spec)
{
    for (size_t i = 0; i < spec->fields.n; i++)
        if (spec->fields.p[i].transform.kind != TRANSFORM_VOID)
            return true;
    return false;
}

static Status check_partitions(Sink *s, Arena *a, const Table *t, const IceSchema *ours, Error *err)
{
    const IceMetadata *m = t->remote.meta;
    const IceSpec *table = ice_spec(m, m->default_spec_id);
    IceSpec *mine;

    TRY(sink_spec(a, &s->spec, ours, &mine, err));
    if (!table)
        return FAIL(err, E_CORRUPT, "Iceberg table '" STR_FMT "' has no default partition spec", STR_ARG(s->spec.table));
    if (is_partitioned(table) && !mine->fields.n)
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' is partitioned but sink has no PARTITION BY", STR_ARG(s->spec.table));
    if (!is_partitioned(table) && mine->fields.n)
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' is unpartitioned but sink specifies PARTITION BY", STR_ARG(s->spec.table));
    if (mine->fields.n && !same_partitions(m, table, ours, mine))
        return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "': partition spec mismatch: the table has " STR_FMT, STR_ARG(s->spec.table), STR_ARG(json_text(a, ice_spec_json(a, table))));
    if (m->format_version < 2 || (s->spec.deletes == SINK_DELETES_VECTOR && m->format_version < 3))
        return FAIL(err, E_UNSUPPORTED, "Iceberg table '" STR_FMT "' has format version %d: the sink needs %d", STR_ARG(s->spec.table), m->format_version, s->spec.deletes == SINK_DELETES_VECTOR ? 3 : 2);
    return OK;
}

Status table_begin(Sink *s, Arena *a, Table *ret, Error *err)
{
    IceSchema *ours = NULL;
    Encodings e = {0};

    TRY(sink_encodings(a, &s->spec, &e, &ours, err));
    TRY(load_or_create(s, a, ours, ret, err));
    TRY(check_schema(s, a, ret, ours, &e, err));
    TRY(check_partitions(s, a, ret, ours, err));
    TRY(table_agree(s, ret, err));
    s->schema_id = ret->remote.meta->current_schema_id;
    s->spec_id = ret->remote.meta->default_spec_id;
    s->fresh = 1;
    return OK;
}
