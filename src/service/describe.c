/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - DESCRIBE [EXTENDED], in the order and words of spec/glue.md 2.5.
 *
 * Property names of views follow AWS's; what AWS promises and does not show (last refresh time, run, reason) is added. */
#include "service/describe_int.h"
#include "service/external.h"

#include "service/athena.h"

#include <stdlib.h>

/* ---- properties ------------------------------------------------------------------------------------------------------------ */

static int by_key(const void *x, const void *y) { return str_cmp(((const KeyValue *)x)->key, ((const KeyValue *)y)->key); }

Status describe_properties(Run *r, const LakeTable *t, Props *ret, Error *err)
{
    const IceMetadata *m = t->meta;
    CatWarehouse w;

    for (size_t i = 0; i < m->properties.n; i++)
        props_set(r->a, ret, m->properties.p[i].key, m->properties.p[i].value);
    props_set(r->a, ret, S("current-snapshot-id"), m->current_snapshot_id.has ? str_fmt(r->a, "%lld", (long long)m->current_snapshot_id.v) : S("none"));
    props_set(r->a, ret, S("format"), S("iceberg/parquet"));
    props_set(r->a, ret, S("format-version"), str_fmt(r->a, "%d", m->format_version));
    props_set(r->a, ret, S("ownerAccountId"), cat_account(r->svc->catalog));
    props_set(r->a, ret, S("createdBy"), cat_account(r->svc->catalog));
    props_set(r->a, ret, S("warehouse_location"), m->location);
    if (!props_has(ret, S("write.parquet.compression-codec")))
        props_set(r->a, ret, S("write.parquet.compression-codec"), S("zstd"));
    TRY(cat_warehouse_get(r->svc->catalog, r->a, t->relation.catalog, &w, err));
    if (str_eq(w.kind, S("table_bucket")))
        props_set(r->a, ret, S("s3TableArn"), cat_relation_arn(r->svc->catalog, r->a, &t->relation));
    qsort(ret->p, ret->n, sizeof *ret->p, by_key);
    return OK;
}

static Str sources_json(Run *r, const CatMview *v)
{
    Json *list = json_array(r->a);
    for (size_t i = 0; i < json_len(v->sources); i++) {
        const Json *s = json_at(v->sources, i);
        Json *o = json_object(r->a);
        json_set(r->a, o, "Version", json_str(r->a, str_fmt(r->a, "%lld", (long long)json_get_int(s, "snapshot-id", -1))));
        json_set(r->a, o, "DatabaseName", json_str(r->a, json_get_str(s, "namespace", (Str){0})));
        json_set(r->a, o, "Region", json_str(r->a, cat_region(r->svc->catalog)));
        json_set(r->a, o, "CatalogId", json_str(r->a, json_get_str(s, "catalog", (Str){0})));
        json_set(r->a, o, "Name", json_str(r->a, json_get_str(s, "name", (Str){0})));
        json_push(r->a, list, o);
    }
    return json_text(r->a, list);
}

Status describe_view_properties(Run *r, const CatRelation *rel, Props *p, Error *err)
{
    Staleness st;
    CatMview v;

    TRY(cat_mview_get(r->svc->catalog, r->a, rel->id, &v, err));
    TRY(refresh_staleness(r->svc->refresher, r->a, &v, &st, err));
    props_set(r->a, p, S("isMaterializedView"), S("true"));
    props_set(r->a, p, S("isManaged"), v.managed ? S("true") : S("false"));
    props_set(r->a, p, S("IMV_mvCatalogID"), rel->catalog);
    props_set(r->a, p, S("IMV_mvNamespace"), rel->namespace);
    props_set(r->a, p, S("IMV_region"), cat_region(r->svc->catalog));
    props_set(r->a, p, S("IMV_ansiEnabled"), S("true"));
    props_set(r->a, p, S("subObjects"), sources_json(r, &v));
    props_set(r->a, p, S("viewVersionId"), str_fmt(r->a, "%lld", (long long)v.snapshot_id));
    props_set(r->a, p, S("tableVersionToken"), rel->version_token);
    props_set(r->a, p, S("viewVersionToken"), rel->view_token);
    props_set(r->a, p, S("integrity"), cat_intact(rel) ? S("OK") : S("BROKEN"));
    props_set(r->a, p, S("viewOriginalText"), v.definition);
    props_set(r->a, p, S("definer"), v.definer);
    props_set(r->a, p, S("stalenessStatus"), st.stale ? S("STALE") : S("FRESH"));
    if (st.stale)
        props_set(r->a, p, S("stalenessReason"), st.reason);
    props_set(r->a, p, S("lastRefreshType"), v.last_type);
    props_set(r->a, p, S("lastRefreshReason"), v.last_reason);
    props_set(r->a, p, S("lastRefreshTime"), time_iso8601(r->a, v.last_refresh_ms));
    props_set(r->a, p, S("lastRefreshTaskRunId"), v.last_run);
    if (v.schedule_s)
        props_set(r->a, p, S("schedule"), str_fmt(r->a, "%lld", (long long)v.schedule_s));
    if (v.quarantine.n)
        props_set(r->a, p, S("quarantined"), v.quarantine);
    qsort(p->p, p->n, sizeof *p->p, by_key);
    return OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

static void line(Rows *rows, Str x, Str y, Str z)
{
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, x);
    cell_str(rows, row, 1, y);
    cell_str(rows, row, 2, z);
}

static void blank(Rows *rows) { line(rows, (Str){0}, (Str){0}, (Str){0}); }

static Status columns(Run *r, Rows *rows, const IceSchema *s, Error *err)
{
    for (size_t i = 0; i < s->fields.n; i++) {
        const IceField *f = &s->fields.p[i];
        DataType t;
        TRY(lake_type(r->a, f->type, &t, err));
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, f->name);
        Str type = sql_type_name(r->a, r->ss->dialect, &t);
        if (r->ss->dialect == DIALECT_TRINO)
            TRY(athena_type(r, f->type, &type, err));
        cell_str(rows, row, 1, type);
        if (f->doc.n)
            cell_str(rows, row, 2, f->doc);
    }
    return OK;
}

static void partitions(Run *r, Rows *rows, const LakeTable *t)
{
    const IceSpec *spec = ice_spec(t->meta, t->meta->default_spec_id);

    if (!spec || !spec->fields.n)
        return;
    blank(rows);
    line(rows, S("# Partitioning"), (Str){0}, (Str){0});
    for (size_t i = 0; i < spec->fields.n; i++) {
        const IceField *f = ice_field_by_id(ice_current_schema(t->meta), spec->fields.p[i].source_id);
        Str transform = ice_transform_text(r->a, &spec->fields.p[i].transform), name = f ? f->name : spec->fields.p[i].name;
        line(rows, str_fmt(r->a, "Part %zu", i),
             spec->fields.p[i].transform.kind == TRANSFORM_IDENTITY ? name : str_fmt(r->a, STR_FMT "(" STR_FMT ")", STR_ARG(transform), STR_ARG(name)), (Str){0});
    }
}

static Str bracketed(Run *r, const Props *p)
{
    StrBuf b = sb_new(r->a);
    sb_byte(&b, '[');
    for (size_t i = 0; i < p->n; i++)
        sb_fmt(&b, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(p->p[i].key), STR_ARG(p->p[i].value));
    sb_byte(&b, ']');
    return sb_str(&b);
}

static Str statistics(Run *r, const LakeTable *t)
{
    const IceSnapshot *s = ice_current_snapshot(t->meta);
    if (!s)
        return S("0 bytes, 0 rows");
    return str_fmt(r->a, STR_FMT " bytes, " STR_FMT " rows", STR_ARG(props_get(&s->summary, S("total-files-size"), S("0"))), STR_ARG(props_get(&s->summary, S("total-records"), S("0"))));
}

static Status extended(Run *r, Rows *rows, const Name *n, const LakeTable *t, Error *err)
{
    Props props = {0}, view = {0};

    blank(rows);
    line(rows, S("# Metadata Columns"), (Str){0}, (Str){0});
    line(rows, S("_spec_id"), S("int"), (Str){0});
    line(rows, S("_partition"), S("struct<>"), (Str){0});
    line(rows, S("_file"), S("string"), (Str){0});
    line(rows, S("_pos"), S("bigint"), (Str){0});
    line(rows, S("_deleted"), S("boolean"), (Str){0});
    blank(rows);
    line(rows, S("# Detailed Table Information"), (Str){0}, (Str){0});
    line(rows, S("Name"), name_display(r->a, n), (Str){0});
    line(rows, S("Type"), S("MANAGED"), (Str){0});
    if (props_has(&t->meta->properties, S("comment")))
        line(rows, S("Comment"), props_get(&t->meta->properties, S("comment"), (Str){0}), (Str){0});
    line(rows, S("Location"), t->meta->location, (Str){0});
    line(rows, S("Provider"), S("iceberg"), (Str){0});
    line(rows, S("Owner"), t->relation.owner, (Str){0});
    line(rows, S("Table_type"), S("ICEBERG"), (Str){0});
    TRY(describe_properties(r, t, &props, err));
    line(rows, S("Table Properties"), bracketed(r, &props), (Str){0});
    if (t->relation.kind == REL_MVIEW) {
        TRY(describe_view_properties(r, &t->relation, &view, err));
        line(rows, S("Materialized View Properties"), bracketed(r, &view), (Str){0});
    }
    line(rows, S("Statistics"), statistics(r, t), (Str){0});
    return OK;
}

/* As the Glue catalog has them. */
static void external_columns(Rows *rows, const CatRelation *rel)
{
    const Json *cols = json_get(json_get(json_get(rel->extra, "glue"), "StorageDescriptor"), "Columns");

    for (size_t i = 0; i < json_len(cols); i++)
        line(rows, json_get_str(json_at(cols, i), "Name", (Str){0}), json_get_str(json_at(cols, i), "Type", (Str){0}), json_get_str(json_at(cols, i), "Comment", (Str){0}));
}

/* The Glue catalog has more to say (GetTable). */
static void external_details(Run *r, Rows *rows, const LakeTable *t)
{
    const Json *glue = json_get(t->relation.extra, "glue"), *keys = json_get(glue, "PartitionKeys");

    for (size_t i = 0; i < json_len(keys); i++) {
        if (i == 0) {
            line(rows, S("# Partition Information"), (Str){0}, (Str){0});
            line(rows, S("# col_name"), S("data_type"), S("comment"));
        }
        line(rows, json_get_str(json_at(keys, i), "Name", (Str){0}), json_get_str(json_at(keys, i), "Type", (Str){0}), json_get_str(json_at(keys, i), "Comment", (Str){0}));
    }
    if (!r->st->extended)
        return;
    blank(rows);
    line(rows, S("# Detailed Table Information"), (Str){0}, (Str){0});
    line(rows, S("Type"), S("EXTERNAL"), (Str){0});
    line(rows, S("Provider"), S("hive"), (Str){0});
    line(rows, S("Location"), t->meta->location, (Str){0});
    line(rows, S("Serde Library"), json_get_str(json_get(json_get(glue, "StorageDescriptor"), "SerdeInfo"), "SerializationLibrary", (Str){0}), (Str){0});
}

static Status describe_view(Run *r, Rows *rows, const CatRelation *rel, Error *err)
{
    IceView *v;

    TRY(ice_view_read(r->a, r->svc->store, rel->metadata_location, &v, err));
    for (size_t i = 0; i < v->versions.n; i++)
        if (v->versions.p[i]->id == v->current_version_id)
            for (size_t k = 0; k < v->schemas.n; k++)
                if (v->schemas.p[k]->id == v->versions.p[i]->schema_id)
                    return columns(r, rows, v->schemas.p[k], err);
    return OK;
}

static Status describe_namespace(Run *r, Rows *rows, Error *err)
{
    CatNamespace ns;
    Name n;

    rows->columns.n = 0;
    rows_column(rows, "info_name", DT_STRING);
    rows_column(rows, "info_value", DT_STRING);
    TRY(name_namespace(r, &r->st->name, &n, err));
    TRY(cat_namespace_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, &ns, err));
    const KeyValue facts[] = { { S("Catalog Name"), n.catalog_name }, { S("Namespace Name"), ns.name }, { S("Owner"), ns.owner } };
    for (size_t i = 0; i < COUNT_OF(facts); i++) {
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, facts[i].key);
        cell_str(rows, row, 1, facts[i].value);
    }
    for (size_t i = 0; i < ns.props.n; i++) {
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, ns.props.p[i].key);
        cell_str(rows, row, 1, ns.props.p[i].value);
    }
    return OK;
}

static Status describe_query(Run *r, Rows *rows, Error *err)
{
    Binder b;

    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, r->st->query, err));
    for (size_t i = 0; i < r->st->query->columns.n; i++) {
        Value *row = rows_row(rows);
        cell_str(rows, row, 0, r->st->query->columns.p[i].name);
        cell_str(rows, row, 1, sql_type_name(r->a, r->ss->dialect, &r->st->query->columns.p[i].type));
    }
    return OK;
}

static Status bookkeeping(Run *r, Rows *rows, const CatRelation *rel, Error *err)
{
    const IceFields *hidden;
    IceSchema s = {0};

    TRY(compat_columns(r, r->a, rel, &hidden, err));
    if (!hidden)
        return OK;
    s.fields = *hidden;
    return columns(r, rows, &s, err);
}

Status do_describe(Run *r, Rows *rows, Error *err)
{
    const IceSchema *seen;
    CatRelation rel;
    LakeTable t;
    Name n;

    rows->tag = "DESCRIBE";
    rows_column(rows, "col_name", DT_STRING);
    rows_column(rows, "data_type", DT_STRING);
    rows_column(rows, "comment", DT_STRING);
    if (str_eq(r->st->what, S("namespace")))
        return describe_namespace(r, rows, err);
    if (r->st->query)
        return describe_query(r, rows, err);
    TRY(name_resolve(r, &r->st->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    TRY(run_ask(r, ACT_READ_METADATA, "DESCRIBE", &rel, err));
    if (rel.kind == REL_VIEW)
        return describe_view(r, rows, &rel, err);
    if (external_is_view(&rel))
        return external_columns(rows, &rel), OK;
    TRY(external_open(r, r->a, &rel, &t, err));
    TRY(run_seen_schema(r, &rel, ice_current_schema(t.meta), &seen, err));
    TRY(columns(r, rows, seen, err));
    TRY(bookkeeping(r, rows, &rel, err));
    if (t.external)
        return external_details(r, rows, &t), OK;
    if (seen != ice_current_schema(t.meta))
        return OK;                                    /* partitions, definition and statistics name the others */
    if (!r->st->extended && !str_eq(r->st->what, S("materialized view")))
        return partitions(r, rows, &t), OK;
    partitions(r, rows, &t);
    return extended(r, rows, &n, &t, err);
}

/* ---- SHOW CREATE TABLE ------------------------------------------------------------------------------------------------------------ */

void describe_string(StrBuf *b, Str s)
{
    sb_byte(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'' || s.p[i] == '\\')
            sb_byte(b, '\\');
        sb_byte(b, s.p[i]);
    }
    sb_byte(b, '\'');
}

static Status view_text(Run *r, const Name *n, const CatRelation *rel, Str *ret, Error *err)
{
    CatMview v;
    StrBuf b = sb_new(r->a);

    TRY(cat_mview_get(r->svc->catalog, r->a, rel->id, &v, err));
    sb_fmt(&b, "CREATE %sMATERIALIZED VIEW " STR_FMT, v.managed ? "MANAGED " : "", STR_ARG(name_display(r->a, n)));
    if (v.comment.n) {
        sb_addc(&b, "\nCOMMENT ");
        describe_string(&b, v.comment);
    }
    if (v.schedule_s % 3600 == 0 && v.schedule_s)
        sb_fmt(&b, "\nSCHEDULE REFRESH EVERY %lld HOURS", (long long)(v.schedule_s / 3600));
    else if (v.schedule_s)
        sb_fmt(&b, "\nSCHEDULE REFRESH EVERY %lld MINUTES", (long long)(v.schedule_s / 60));
    sb_fmt(&b, "\nAS " STR_FMT, STR_ARG(v.definition));
    *ret = sb_str(&b);
    return OK;
}

Status describe_create_text(Run *r, const Name *n, const LakeTable *t, Str *ret, Error *err)
{
    const IceSchema *s = ice_current_schema(t->meta);
    const IceSpec *spec = ice_spec(t->meta, t->meta->default_spec_id);
    StrBuf b = sb_new(r->a);

    if (t->relation.kind == REL_MVIEW)
        return view_text(r, n, &t->relation, ret, err);
    sb_fmt(&b, "CREATE TABLE " STR_FMT " (", STR_ARG(name_display(r->a, n)));
    for (size_t i = 0; i < s->fields.n; i++) {
        DataType type;
        TRY(lake_type(r->a, s->fields.p[i].type, &type, err));
        sb_fmt(&b, "%s\n  `" STR_FMT "` " STR_FMT "%s", i ? "," : "", STR_ARG(s->fields.p[i].name), STR_ARG(str_upper(r->a, sql_type_name(r->a, DIALECT_SPARK, &type))),
               s->fields.p[i].required ? " NOT NULL" : "");
    }
    sb_addc(&b, ")\nUSING iceberg");
    for (size_t i = 0; spec && i < spec->fields.n; i++) {
        const IceField *f = ice_field_by_id(s, spec->fields.p[i].source_id);
        const IceTransform *tr = &spec->fields.p[i].transform;
        Str name = f ? f->name : spec->fields.p[i].name;
        sb_addc(&b, i ? ", " : "\nPARTITIONED BY (");
        if (tr->kind == TRANSFORM_IDENTITY)
            sb_fmt(&b, "`" STR_FMT "`", STR_ARG(name));
        else if (tr->width)
            sb_fmt(&b, "%s(%d, `" STR_FMT "`)", tr->kind == TRANSFORM_BUCKET ? "bucket" : "truncate", tr->width, STR_ARG(name));
        else
            sb_fmt(&b, STR_FMT "s(`" STR_FMT "`)", STR_ARG(ice_transform_text(r->a, tr)), STR_ARG(name));
    }
    sb_addc(&b, spec && spec->fields.n ? ")" : "");
    sb_addc(&b, "\nLOCATION ");
    describe_string(&b, t->meta->location);
    for (size_t i = 0; i < t->meta->properties.n; i++) {
        sb_addc(&b, i ? ",\n  " : "\nTBLPROPERTIES (\n  ");
        describe_string(&b, t->meta->properties.p[i].key);
        sb_addc(&b, " = ");
        describe_string(&b, t->meta->properties.p[i].value);
    }
    sb_addc(&b, t->meta->properties.n ? ")" : "");
    *ret = sb_str(&b);
    return OK;
}
