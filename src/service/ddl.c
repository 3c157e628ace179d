/* SPDX-License-Identifier: Apache-2.0 */
/* ddl.c - tables made, replaced and dropped by SQL (views: ddl_view.c, namespaces: ddl_namespace.c, ALTER: alter.c).
 *
 * The verbs of tables.h do the work; here statements become schemas, specs and updates. */
#include "service/athena.h"
#include "service/ddl_int.h"

SvcCall ddl_call(Run *r, SvcCtx *ctx, const char *api)
{
    *ctx = service_ctx(r->svc);
    return (SvcCall){ .ctx = ctx, .a = r->a, .who = &r->ss->principal, .api = api };
}

/* ---- schemas -------------------------------------------------------------------------------------------------------------- */

static Status schema_of_defs(Run *r, const ColumnDefs *defs, IceSchema **ret, Error *err)
{
    IceSchema *s = arena_new(r->a, IceSchema);
    int32_t next = (int32_t)defs->n + 1;

    for (size_t i = 0; i < defs->n; i++) {
        const ColumnDef *d = &defs->p[i];
        IceField f = { .id = (int32_t)i + 1, .name = d->name, .required = d->not_null, .doc = d->comment, .has_doc = d->comment.n > 0 };
        for (size_t k = 0; k < i; k++)
            if (str_ieq(defs->p[k].name, d->name)) {
                RAISE(err, E_INVALID, "[COLUMN_ALREADY_EXISTS] The column `" STR_FMT "` already exists. Choose another name or rename the existing column.", STR_ARG(d->name));
                err->position = d->position;
                return E_INVALID;
            }
        TRY_CTX(lake_ice_type(r->a, &d->type, &next, &f.type, err), err, "column '" STR_FMT "'", STR_ARG(d->name));
        vec_push(r->a, &s->fields, f);
    }
    *ret = s;
    return OK;
}

Status ddl_schema_of_query(Run *r, const Query *q, IceSchema **ret, Error *err)
{
    ColumnDefs defs = {0};
    for (size_t i = 0; i < q->columns.n; i++)
        vec_push(r->a, &defs, ((ColumnDef){ .name = q->columns.p[i].name, .type = q->columns.p[i].type }));
    return schema_of_defs(r, &defs, ret, err);
}

Status ddl_transform(Run *r, const PartitionField *p, IceTransform *t, Str *name, Error *err)
{
    Str text = p->width ? str_fmt(r->a, STR_FMT "[%d]", STR_ARG(p->transform), p->width) : p->transform;
    Str suffix = str_eq(p->transform, S("truncate")) ? S("trunc") : p->transform;

    *t = ice_transform_parse(text);
    if (t->kind == TRANSFORM_UNKNOWN)
        return FAIL(err, E_INVALID, "unknown partition transform '" STR_FMT "'", STR_ARG(text));
    *name = p->alias.n ? p->alias : t->kind == TRANSFORM_IDENTITY ? p->column : str_fmt(r->a, STR_FMT "_" STR_FMT, STR_ARG(p->column), STR_ARG(suffix));
    return OK;
}

static Status spec_of(Run *r, const PartitionFields *fields, const IceSchema *s, IceSpec **ret, Error *err)
{
    IceSpec *spec = arena_new(r->a, IceSpec);

    for (size_t i = 0; i < fields->n; i++) {
        const IceField *f = ddl_field(s, fields->p[i].column);
        IcePartitionField pf = { .field_id = 1000 + (int32_t)i };
        if (!f)
            return FAIL(err, E_INVALID, "PARTITIONED BY names column '" STR_FMT "', which the table does not have", STR_ARG(fields->p[i].column));
        TRY(ddl_transform(r, &fields->p[i], &pf.transform, &pf.name, err));
        pf.source_id = f->id;
        vec_push(r->a, &spec->fields, pf);
    }
    *ret = spec;
    return OK;
}

const IceField *ddl_field(const IceSchema *s, Str name)
{
    const IceField *f = ice_field_by_name(s, name);
    for (size_t i = 0; !f && i < s->fields.n; i++)
        if (str_ieq(s->fields.p[i].name, name))
            f = &s->fields.p[i];
    return f;
}

/* ---- CREATE TABLE ------------------------------------------------------------------------------------------------------------ */

static Status check_provider(const Stmt *st, Error *err)
{
    if (!st->provider.n || str_ieq(st->provider, S("iceberg")))
        return OK;
    return FAIL(err, E_UNSUPPORTED, "USING " STR_FMT " is not supported: tables are Iceberg tables", STR_ARG(st->provider));
}

Status ddl_bind_query(Run *r, Error *err)
{
    Binder b;
    run_binder(r, &b);
    return sql_bind_query(r->a, &b, r->st->query, err);
}

static Status new_table(Run *r, const Name *n, SvcNewTable *t, Error *err)
{
    const Stmt *st = r->st;

    *t = (SvcNewTable){ .name = { n->catalog_id, n->namespace, n->name }, .location = st->location };
    if (st->query) {
        TRY(ddl_bind_query(r, err));
        TRY(ddl_schema_of_query(r, st->query, &t->schema, err));
    } else if (st->target.n) {                       /* LIKE */
        Name like;
        LakeTable other;
        TRY(open_table(r, &st->target, &like, &other, err));
        TRY(run_ask(r, ACT_READ_METADATA, "CREATE TABLE LIKE", &other.relation, err));
        TRY(run_every_column(r, &like, &other.relation, "CREATE TABLE LIKE", err));
        t->schema = (IceSchema *)ice_current_schema(other.meta);
        t->spec = (IceSpec *)ice_spec(other.meta, other.meta->default_spec_id);
    } else {
        TRY(schema_of_defs(r, &st->columns, &t->schema, err));
    }
    if (st->partitions.n)
        TRY(spec_of(r, &st->partitions, t->schema, &t->spec, err));
    for (size_t i = 0; i < st->props.n; i++)
        props_set(r->a, &t->properties, st->props.p[i].key, st->props.p[i].value);
    if (st->has_comment)
        props_set(r->a, &t->properties, S("comment"), st->comment);
    return OK;
}

/* CREATE … AS SELECT: the rows are written before the name exists; table and first snapshot appear in one transaction. */
static Status write_ctas(Run *r, const LakeTable *t, LakeFiles *files, IceChange *ch, int64_t *rows, Error *err)
{
    LakeWrite w = { .table = t, .schema = ice_current_schema(t->meta) };
    Printer p = run_printer(r);
    Str inner;
    StrBuf sql = sb_new(r->a);
    BoundColumns cols = {0};

    TRY(sql_print_query(r->a, &p, r->st->query, &inner, err));
    TRY(lake_columns(r->a, w.schema, &cols, err));
    sb_addc(&sql, "SELECT ");
    for (size_t i = 0; i < cols.n; i++) {
        sb_addc(&sql, i ? ", CAST(q." : "CAST(q.");
        sql_ident(&sql, r->st->query->columns.p[i].engine);
        sb_fmt(&sql, " AS " STR_FMT ") AS ", STR_ARG(data_type_sql(r->a, &cols.p[i].type)));
        sql_ident(&sql, cols.p[i].engine);
    }
    sb_fmt(&sql, " FROM (" STR_FMT ") q", STR_ARG(inner));
    TRY(lake_write(r->svc->lake, r->a, r->c, &w, sb_str(&sql), files, rows, err));
    for (size_t i = 0; i < files->n; i++)
        vec_push(r->a, &ch->add_data, files->p[i].file);
    ch->operation = S("append");
    return OK;
}

static Status create_as(Run *r, const SvcCall *call, SvcNewTable *nt, int64_t *rows, Error *err)
{
    SvcTable staged, made;
    LakeFiles files = {0};
    IceChange ch = {0};
    SvcCommit commit = { .name = nt->name, .as = ACT_CREATE };
    StrVec written = {0};
    IceRequirements ignored = {0};

    nt->stage = 1;
    TRY(svc_table_create(call, nt, &staged, err));
    LakeTable t = { .relation = staged.relation, .meta = staged.metadata };
    Status s = write_ctas(r, &t, &files, &ch, rows, err);
    if (s == OK)
        s = ddl_create_updates(r->a, staged.metadata, &commit.updates);
    if (s == OK && files.n)
        s = ice_change_prepare(r->a, r->svc->store, staged.metadata, &ch, clock_ms(), &commit.updates, &ignored, &written, err);
    vec_push(r->a, &commit.requirements, ((IceRequirement){ .kind = RQ_CREATE }));
    if (s == OK)
        s = svc_table_commit(call, &commit, &made, err);
    for (size_t i = 0; s == OK && i < files.n; i++)
        vec_push(r->a, &r->written, files.p[i].file.path);
    if (s != OK) {
        lake_discard(r->svc->lake, &files);
        lake_discard_written(r->svc->lake, &written);
    }
    return s;
}

static bool table_exists(Run *r, const Name *n)
{
    CatRelation rel;
    Error ignored;
    return cat_relation_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, n->name, &rel, &ignored) == OK;
}

Status do_create_table(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "CREATE TABLE");
    SvcNewTable nt;
    SvcTable made;
    int64_t n = 0;
    Name name;

    rows_command(rows, "CREATE TABLE");
    if (r->st->hive) {
        TRY(name_resolve(r, &r->st->name, &name, err));
        return do_create_external(r, rows, &name, err);
    }
    TRY(check_provider(r->st, err));
    TRY(name_resolve(r, &r->st->name, &name, err));
    bool there = table_exists(r, &name);
    if (there && r->st->if_not_exists)
        return OK;
    TRY(new_table(r, &name, &nt, err));
    if (there && r->st->or_replace)
        return ddl_replace_table(r, &call, &nt, err);
    if (there)
        return FAIL(err, E_EXISTS, "[TABLE_OR_VIEW_ALREADY_EXISTS] Cannot create table or view " STR_FMT " because it already exists.", STR_ARG(name_display(r->a, &name)));
    if (r->st->query) {
        TRY(create_as(r, &call, &nt, &n, err));
        rows->changed = n;
        return OK;
    }
    return svc_table_create(&call, &nt, &made, err);
}

/* A staged table's metadata as the updates that make it. */
Status ddl_create_updates(Arena *a, const IceMetadata *m, IceUpdates *ups)
{
    vec_push(a, ups, ((IceUpdate){ .kind = UP_ASSIGN_UUID, .text = m->uuid }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_UPGRADE_FORMAT, .number = m->format_version }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = (IceSchema *)ice_current_schema(m) }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_ADD_SPEC, .spec = (IceSpec *)ice_spec(m, m->default_spec_id) }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_DEFAULT_SPEC, .number = -1 }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_ADD_ORDER, .order = m->orders.p[0] }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_DEFAULT_ORDER, .number = -1 }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_LOCATION, .text = m->location }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_PROPERTIES, .props = m->properties }));
    return OK;
}

/* ---- CREATE OR REPLACE TABLE ------------------------------------------------------------------------------------------------------ */

static IceSchema *fresh_ids(Arena *a, const IceSchema *s, const IceMetadata *m)
{
    int32_t last = m->last_column_id;
    IceSchema *n = ice_schema_assign_ids(a, s, &last);
    n->id = -1;
    return n;
}

static IceSpec *spec_on(Arena *a, const IceSpec *spec, const IceSchema *from, const IceSchema *to, int32_t last_id)
{
    IceSpec *n = arena_new(a, IceSpec);
    n->id = -1;
    for (size_t i = 0; spec && i < spec->fields.n; i++) {
        IcePartitionField f = spec->fields.p[i];
        const IceField *source = ice_field_by_id(from, f.source_id);
        f.source_id = ice_field_by_name(to, source->name)->id;
        f.field_id = last_id + 1 + (int32_t)i;
        vec_push(a, &n->fields, f);
    }
    return n;
}

/* History stays: new schema, spec and rows become one more commit of the same table. */
Status ddl_replace_table(Run *r, const SvcCall *call, SvcNewTable *nt, Error *err)
{
    SvcTable now, made;
    SvcCommit commit = { .name = nt->name, .as = ACT_ALTER };
    LakeFiles files = {0};
    IceChange ch = { .operation = S("overwrite"), .replace_all = 1 };
    StrVec written = {0};
    IceRequirements ignored = {0};
    IceMetadata *next;
    int64_t rows;
    int changed;

    TRY(svc_table_load(call, &nt->name, &now, err));
    TRY(run_ask(r, ACT_ALTER, "CREATE OR REPLACE TABLE", &now.relation, err));
    IceSchema *schema = fresh_ids(r->a, nt->schema, now.metadata);
    IceSpec *spec = spec_on(r->a, nt->spec, nt->schema, schema, now.metadata->last_partition_id);
    vec_push(r->a, &commit.requirements, ((IceRequirement){ .kind = RQ_UUID, .text = now.metadata->uuid }));
    vec_push(r->a, &commit.updates, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = schema }));
    vec_push(r->a, &commit.updates, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    vec_push(r->a, &commit.updates, ((IceUpdate){ .kind = UP_ADD_SPEC, .spec = spec }));
    vec_push(r->a, &commit.updates, ((IceUpdate){ .kind = UP_SET_DEFAULT_SPEC, .number = -1 }));
    if (nt->properties.n)
        vec_push(r->a, &commit.updates, ((IceUpdate){ .kind = UP_SET_PROPERTIES, .props = nt->properties }));
    TRY(ice_metadata_apply(r->a, now.metadata, now.relation.metadata_location, &commit.updates, clock_ms(), &next, &changed, err));
    LakeTable t = { .relation = now.relation, .meta = next };
    ch.schema_id = SOME_I32(next->current_schema_id);
    if (r->st->query)
        TRY(write_ctas(r, &t, &files, &ch, &rows, err));
    ch.operation = S("overwrite");
    Status s = ice_change_prepare(r->a, r->svc->store, next, &ch, clock_ms(), &commit.updates, &ignored, &written, err);
    if (s == OK)
        s = svc_table_commit(call, &commit, &made, err);
    for (size_t i = 0; s == OK && i < files.n; i++)
        vec_push(r->a, &r->written, files.p[i].file.path);
    if (s != OK) {
        lake_discard(r->svc->lake, &files);
        lake_discard_written(r->svc->lake, &written);
    }
    return s;
}

/* ---- DROP TABLE -------------------------------------------------------------------------------------------------- */

Status ddl_absent_is_fine(Run *r, Status s, Error *err, const StrVec *name)
{
    if (s != E_NOT_FOUND)
        return s;
    return r->st->if_exists ? OK : table_not_found(r, name, r->st->position, err);
}

Status do_drop_table(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "DROP TABLE");
    CatRelation rel;
    Name n;

    rows_command(rows, "DROP TABLE");
    TRY(name_resolve(r, &r->st->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == OK && rel.kind == REL_VIEW)
        return FAIL(err, E_INVALID, "[WRONG_COMMAND_FOR_OBJECT_TYPE] " STR_FMT " is a view: use DROP VIEW", STR_ARG(name_display(r->a, &n)));
    if (s == OK && rel.kind == REL_MVIEW)
        return FAIL(err, E_INVALID, "[WRONG_COMMAND_FOR_OBJECT_TYPE] " STR_FMT " is a materialized view: use DROP MATERIALIZED VIEW", STR_ARG(name_display(r->a, &n)));
    SvcName name = { n.catalog_id, n.namespace, n.name };
    if (s == OK && rel.kind == REL_EXTERNAL)
        return svc_external_drop(&call, &name, err);      /* its files are not ours: they stay */
    if (s == OK)
        s = svc_table_drop(&call, &name, r->st->purge || r->dialect == DIALECT_TRINO ? SVC_PURGE_FILES : SVC_KEEP_FILES, err);      /* Athena's DROP takes the data too */
    return ddl_absent_is_fine(r, s, err, &r->st->name);
}
