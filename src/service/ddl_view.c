/* SPDX-License-Identifier: Apache-2.0 */
/* ddl_view.c - plain views made, replaced and dropped by SQL. */
#include "service/ddl_int.h"

static Json *version_json(Arena *a, const IceViewVersion *v)
{
    Json *o = json_object(a), *reprs = json_array(a), *one = json_object(a), *ns = json_array(a), *summary = json_object(a);

    json_set(a, one, "type", json_str(a, S("sql")));
    json_set(a, one, "sql", json_str(a, v->reprs.p[0].sql));
    json_set(a, one, "dialect", json_str(a, v->reprs.p[0].dialect));
    json_push(a, reprs, one);
    for (size_t i = 0; i < v->default_namespace.n; i++)
        json_push(a, ns, json_str(a, v->default_namespace.p[i]));
    json_set(a, summary, "operation", json_str(a, S("replace")));
    json_set(a, o, "version-id", json_int(a, 1));      /* the next free one is given */
    json_set(a, o, "timestamp-ms", json_int(a, v->timestamp_ms));
    json_set(a, o, "schema-id", json_int(a, -1));
    json_set(a, o, "summary", summary);
    json_set(a, o, "representations", reprs);
    json_set(a, o, "default-catalog", json_str(a, v->default_catalog));
    json_set(a, o, "default-namespace", ns);
    return o;
}

static Json *view_update(Arena *a, Json *list, const char *action)
{
    Json *u = json_object(a);
    json_set(a, u, "action", json_str(a, str_c(action)));
    json_push(a, list, u);
    return u;
}

/* A new version of the same view: its identity and its older versions stay, and a failure leaves it as it was. */
static Status replace_view(Run *r, const SvcCall *call, const SvcNewView *nv, Error *err)
{
    Json *ups = json_array(r->a), *props = json_object(r->a);
    SvcView made;

    json_set(r->a, view_update(r->a, ups, "add-schema"), "schema", ice_schema_json(r->a, nv->schema));
    json_set(r->a, view_update(r->a, ups, "add-view-version"), "view-version", version_json(r->a, nv->version));
    json_set(r->a, view_update(r->a, ups, "set-current-view-version"), "view-version-id", json_int(r->a, -1));
    for (size_t i = 0; i < nv->properties.n; i++)
        json_set_s(r->a, props, nv->properties.p[i].key, json_str(r->a, nv->properties.p[i].value));
    if (nv->properties.n)
        json_set(r->a, view_update(r->a, ups, "set-properties"), "updates", props);
    return svc_view_commit(call, &nv->name, NULL, ups, &made, err);
}

Status do_create_view(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "CREATE VIEW");
    SvcNewView nv = {0};
    SvcView made;
    CatRelation rel;
    Error ignored;
    Name n;

    rows_command(rows, "CREATE VIEW");
    if (r->st->temporary)
        return FAIL(err, E_UNSUPPORTED, "temporary views are not supported");
    TRY(name_resolve(r, &r->st->name, &n, err));
    bool there = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, &ignored) == OK;
    if (there && r->st->if_not_exists)
        return OK;
    TRY(ddl_bind_query(r, err));
    nv.name = (SvcName){ n.catalog_id, n.namespace, n.name };
    TRY(ddl_schema_of_query(r, r->st->query, &nv.schema, err));
    if (r->st->column_names.n && r->st->column_names.n != nv.schema->fields.n)
        return FAIL(err, E_INVALID, "the view has %zu columns, %zu names are given", nv.schema->fields.n, r->st->column_names.n);
    Str sql = r->st->query_text;
    for (size_t i = 0; i < r->st->column_names.n; i++)
        nv.schema->fields.p[i].name = r->st->column_names.p[i];
    if (r->st->column_names.n) {
        StrBuf b = sb_new(r->a);
        sb_fmt(&b, "SELECT * FROM (" STR_FMT ") AS v(", STR_ARG(sql));
        for (size_t i = 0; i < r->st->column_names.n; i++)
            if (r->ss->dialect == DIALECT_SPARK) {
                sb_fmt(&b, "%s`" STR_FMT "`", i ? ", " : "", STR_ARG(r->st->column_names.p[i]));
            } else {
                sb_addc(&b, i ? ", " : "");
                sql_ident(&b, r->st->column_names.p[i]);
            }
        sb_byte(&b, ')');
        sql = sb_str(&b);
    }
    nv.version = arena_new(r->a, IceViewVersion);
    *nv.version = (IceViewVersion){ .id = 1, .timestamp_ms = clock_ms(), .default_catalog = r->ss->catalog_name };
    vec_push(r->a, &nv.version->default_namespace, r->ss->namespace);
    vec_push(r->a, &nv.version->reprs, ((IceViewRepr){ sql, r->ss->dialect == DIALECT_SPARK ? S("spark") : r->ss->dialect == DIALECT_TRINO ? S("trino") : S("postgres") }));
    nv.properties = r->st->props;
    if (r->st->has_comment)
        props_set(r->a, &nv.properties, S("comment"), r->st->comment);
    if (there && r->st->or_replace && rel.kind == REL_VIEW)
        return replace_view(r, &call, &nv, err);
    return svc_view_create(&call, &nv, &made, err);
}

Status do_drop_view(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "DROP VIEW");
    Name n;

    rows_command(rows, "DROP VIEW");
    TRY(name_resolve(r, &r->st->name, &n, err));
    SvcName name = { n.catalog_id, n.namespace, n.name };
    return ddl_absent_is_fine(r, svc_view_drop(&call, &name, err), err, &r->st->name);
}
