/* SPDX-License-Identifier: Apache-2.0 */
/* rest_table.c - tables but for commits: list, create, load, exists, drop, register, rename, credentials, metrics. */
#include "door/rest/rest_int.h"

Status rest_list_tables(RestCall *c, Error *err)
{
    CatPage page = {0};
    CatRelations all = {0};
    size_t size = 0;
    Json *j = json_object(c->a), *list = json_array(c->a);

    TRY(rest_page(c, &page, &size, err));
    TRY(svc_table_list(&c->svc, c->warehouse.id, c->ns, page, &all, err));
    size_t n = rest_page_end(c, j, all.n, size, size > 0 && all.n > size ? all.p[size - 1].name : (Str){0});
    for (size_t i = 0; i < n; i++)
        json_push(c->a, list, rest_identifier(c->a, all.p[i].namespace, all.p[i].name));
    json_set(c->a, j, "identifiers", list);
    rest_json(c, 200, j);
    return OK;
}

/* ---- LoadTableResult --------------------------------------------------------------------------------------------------- */

static Str etag_of(RestCall *c, const SvcTable *t, const char *mode)
{
    return str_fmt(c->a, "\"" STR_FMT "-%s\"", STR_ARG(t->relation.version_token), mode);
}

/* A client that reads by the pointer alone is told that the pointer was moved past the catalog. */
static void tell_integrity(RestCall *c, const SvcTable *t, Json *config)
{
    Error why;

    if (cat_intact_check(&t->relation, &why) == OK)
        return;
    json_set(c->a, config, "firn.integrity", json_str(c->a, S("BROKEN")));
    json_set(c->a, config, "firn.integrity-reason", json_str(c->a, str_dup(c->a, str_c(why.message))));
}

static Status answer_table(RestCall *c, const SvcTable *t, const IceMetadata *shown, Error *err)
{
    Json *j = json_object(c->a), *config = json_object(c->a), *credentials = NULL;
    Str location = t->relation.metadata_location;

    json_set(c->a, j, "metadata-location", location.n > 0 ? json_str(c->a, location) : json_null(c->a));
    json_set(c->a, j, "metadata", ice_metadata_json(c->a, shown));
    if (rest_wants_credentials(c))
        TRY(rest_vend(c, t, config, &credentials, err));
    tell_integrity(c, t, config);
    json_set(c->a, j, "config", config);
    if (json_len(credentials) > 0)
        json_set(c->a, j, "storage-credentials", credentials);
    rest_json(c, 200, j);
    return OK;
}

static bool is_referenced(const IceMetadata *m, int64_t id)
{
    for vec_each(IceRef, ref, &m->refs)
        if (ref->snapshot_id == id)
            return true;
    return m->current_snapshot_id.has && m->current_snapshot_id.v == id;
}

static const IceMetadata *only_refs(RestCall *c, const IceMetadata *m)
{
    IceMetadata *ret = arena_new(c->a, IceMetadata);

    *ret = *m;
    memset(&ret->snapshots, 0, sizeof ret->snapshots);
    for vec_each(IceSnapshot *, s, &m->snapshots)
        if (is_referenced(m, (*s)->id))
            vec_push(c->a, &ret->snapshots, *s);
    return ret;
}

static bool etag_matches(Str sent, Str etag)
{
    Str head = {0}, rest = sent;
    for (bool more = sent.n > 0; more;) {
        more = str_cut(rest, ',', &head, &rest);
        head = str_trim(head);
        if (str_starts(head, S("W/")))
            head = str_from(head, 2);
        if (str_eq(head, etag) || str_eq(head, str_sub(etag, 1, etag.n - 1)))
            return true;
    }
    return false;
}

Status rest_load_table(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    SvcTable t = {0};
    Str mode = http_arg(c->r, "snapshots", S("all"));
    int refs = str_ieq(mode, S("refs"));

    if (!refs && !str_ieq(mode, S("all")))
        return FAIL(err, E_INVALID, "Invalid snapshots mode: " STR_FMT " (all or refs)", STR_ARG(mode));
    TRY(svc_table_load(&c->svc, &name, &t, err));
    Str etag = etag_of(c, &t, refs ? "refs" : "all");
    rest_header(c, "etag", etag);
    if (etag_matches(http_header(c->r, "if-none-match"), etag)) {
        rest_empty(c, 304);
        return OK;
    }
    return answer_table(c, &t, refs ? only_refs(c, t.metadata) : t.metadata, err);
}

Status rest_head_table(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    TRY(svc_table_exists(&c->svc, &name, err));
    rest_empty(c, 204);
    return OK;
}

/* ---- create, register ------------------------------------------------------------------------------------------------------- */

static bool has(const Json *body, const char *key)
{
    const Json *j = json_get(body, key);
    return j && !json_is(j, JSON_NULL);
}

static Status parse_new(RestCall *c, const Json *body, SvcNewTable *t, Error *err)
{
    Json *schema = NULL;

    t->name = rest_name(c);
    TRY(json_need_str(body, "name", &t->name.name, err));
    TRY(json_need(body, "schema", JSON_OBJECT, &schema, err));
    TRY(ice_schema_parse(c->a, schema, &t->schema, err));
    if (has(body, "partition-spec"))
        TRY(ice_spec_parse(c->a, json_get(body, "partition-spec"), &t->spec, err));
    if (has(body, "write-order"))
        TRY(ice_order_parse(c->a, json_get(body, "write-order"), &t->order, err));
    t->location = json_get_str(body, "location", (Str){0});
    t->stage = json_get_bool(body, "stage-create", false);
    return rest_parse_props(c, body, "properties", &t->properties, err);
}

Status rest_create_table(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcNewTable n = {0};
    SvcTable t = {0};

    TRY(rest_body(c, &body, err));
    TRY(parse_new(c, body, &n, err));
    TRY(svc_table_create(&c->svc, &n, &t, err));
    if (!n.stage)
        rest_header(c, "etag", etag_of(c, &t, "all"));
    return answer_table(c, &t, t.metadata, err);
}

Status rest_register_table(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcName name = rest_name(c);
    SvcTable t = {0};
    Str location = {0};

    TRY(rest_body(c, &body, err));
    TRY(json_need_str(body, "name", &name.name, err));
    TRY(json_need_str(body, "metadata-location", &location, err));
    SvcRegister how = json_get_bool(body, "overwrite", false) ? SVC_REGISTER_OVER : SVC_REGISTER_NEW;
    TRY(svc_table_register(&c->svc, &name, location, how, &t, err));
    rest_header(c, "etag", etag_of(c, &t, "all"));
    return answer_table(c, &t, t.metadata, err);
}

/* ---- drop, rename ------------------------------------------------------------------------------------------------------------- */

Status rest_drop_table(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    SvcFiles files = str_ieq(http_arg(c->r, "purgeRequested", (Str){0}), S("true")) ? SVC_PURGE_FILES : SVC_KEEP_FILES;

    TRY(svc_table_drop(&c->svc, &name, files, err));
    rest_empty(c, 204);
    return OK;
}

Status rest_unregister_table(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    SvcTable t = {0};
    Json *j = json_object(c->a);

    TRY(svc_table_unregister(&c->svc, &name, &t, err));
    json_set(c->a, j, "metadata-location", json_str(c->a, t.relation.metadata_location));
    json_set(c->a, j, "metadata", ice_metadata_json(c->a, t.metadata));
    rest_json(c, 200, j);
    return OK;
}

Status rest_rename_table(RestCall *c, Error *err)
{
    Json *body = NULL;
    SvcName from = {0}, to = {0};

    TRY(rest_body(c, &body, err));
    TRY_CTX(rest_parse_identifier(c, json_get(body, "source"), &from, err), err, "source");
    TRY_CTX(rest_parse_identifier(c, json_get(body, "destination"), &to, err), err, "destination");
    TRY(svc_table_rename(&c->svc, &from, &to, err));
    rest_empty(c, 204);
    return OK;
}

/* ---- credentials, metrics --------------------------------------------------------------------------------------------------- */

Status rest_table_credentials(RestCall *c, Error *err)
{
    SvcName name = rest_name(c);
    SvcTable t = {0};
    Json *j = json_object(c->a), *config = json_object(c->a), *credentials = NULL;

    TRY(svc_table_load(&c->svc, &name, &t, err));
    TRY(rest_vend(c, &t, config, &credentials, err));
    json_set(c->a, j, "storage-credentials", credentials);
    rest_json(c, 200, j);
    return OK;
}

/* Reports are checked and not kept. */
Status rest_report_metrics(RestCall *c, Error *err)
{
    Json *body = NULL;
    Str type = {0};

    TRY(rest_body(c, &body, err));
    TRY(json_need_str(body, "report-type", &type, err));
    rest_empty(c, 204);
    return OK;
}
