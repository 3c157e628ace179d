/* SPDX-License-Identifier: Apache-2.0 */
/* named.c - named queries and prepared statements: SQL text kept for later. */
#include "door/athena/athena_int.h"

/* ---- named queries: {"Name", "Description", "Database", "QueryString", "NamedQueryId", "WorkGroup", "Token"} -------------------- */

static Status named_get(AwsCall *c, Str id, Json **ret, Error *err)
{
    TRY(rec_get(ath_service(c), c->a, K_NAMED, id, ret, err));
    if (!*ret)
        return ATH_INVALID(err, "INVALID_INPUT", "NamedQuery " STR_FMT " does not exist", STR_ARG(id));
    return ath_allow(c, "workgroup", json_get_str(*ret, "WorkGroup", S("primary")), err);
}

static Json *named_shape(AwsCall *c, const Json *q)
{
    static const char *const members[] = { "Name", "Description", "Database", "QueryString", "NamedQueryId", "WorkGroup" };
    Json *v = json_object(c->a);

    rec_copy_members(c->a, v, q, members, COUNT_OF(members));
    return v;
}

/* The query that an earlier call with this token made; NULL: none. */
static Status named_by_token(AwsCall *c, Str token, Json **ret, Error *err)
{
    CatDocs docs;

    *ret = NULL;
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_NAMED), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        if (token.n && str_eq(json_get_str(d->value, "Token", (Str){0}), token))
            *ret = d->value;
    if (docs.n >= ATH_RECORDS_MAX && !*ret)
        return FAIL(err, E_LIMIT, "there are %zu named queries already; the limit is %d", docs.n, ATH_RECORDS_MAX);
    return OK;
}

Status ath_CreateNamedQuery(AwsCall *c, Error *err)
{
    static const char *const members[] = { "Name", "Description", "Database", "QueryString" };
    Json *q = json_object(c->a), *w, *earlier;
    Str id = uuid_v4(c->a), token = aws_str(c, "ClientRequestToken");

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    rec_copy_members(c->a, q, c->in, members, COUNT_OF(members));
    json_set(c->a, q, "WorkGroup", json_str(c->a, wg_of(c)));
    TRY(named_by_token(c, token, &earlier, err));
    if (earlier) {
        Json *was = named_shape(c, earlier);
        json_del(was, S("NamedQueryId"));
        if (!json_equal(was, q))
            return ATH_INVALID(err, "INVALID_INPUT", "Idempotent parameters do not match");
        aws_put_str(c, "NamedQueryId", json_get_str(earlier, "NamedQueryId", (Str){0}));
        return OK;
    }
    json_set(c->a, q, "NamedQueryId", json_str(c->a, id));
    if (token.n)
        json_set(c->a, q, "Token", json_str(c->a, token));
    TRY(rec_put(ath_service(c), K_NAMED, id, q, err));
    aws_put_str(c, "NamedQueryId", id);
    return OK;
}

Status ath_GetNamedQuery(AwsCall *c, Error *err)
{
    Json *q;

    TRY(named_get(c, aws_str(c, "NamedQueryId"), &q, err));
    aws_put(c, "NamedQuery", named_shape(c, q));
    return OK;
}

Status ath_UpdateNamedQuery(AwsCall *c, Error *err)
{
    static const char *const members[] = { "Name", "Description", "QueryString" };
    Json *q;

    TRY(named_get(c, aws_str(c, "NamedQueryId"), &q, err));
    rec_copy_members(c->a, q, c->in, members, COUNT_OF(members));
    return rec_put(ath_service(c), K_NAMED, aws_str(c, "NamedQueryId"), q, err);
}

Status ath_DeleteNamedQuery(AwsCall *c, Error *err)
{
    Json *q;

    TRY(named_get(c, aws_str(c, "NamedQueryId"), &q, err));
    return rec_put(ath_service(c), K_NAMED, aws_str(c, "NamedQueryId"), NULL, err);
}

Status ath_ListNamedQueries(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a), *w;
    CatDocs docs;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_NAMED), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        if (str_eq(json_get_str(d->value, "WorkGroup", S("primary")), wg_of(c)))
            json_push(c->a, list, json_str(c->a, d->key));
    return aws_page(c, "NamedQueryIds", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

static Json *unprocessed(AwsCall *c, const char *member, Str name, const Error *why)
{
    Json *v = json_object(c->a);

    json_set(c->a, v, member, json_str(c->a, name));
    json_set(c->a, v, "ErrorCode", json_str(c->a, why->code == E_DENIED ? S("ACCESS_DENIED") : S("INVALID_INPUT")));
    json_set(c->a, v, "ErrorMessage", json_str(c->a, str_dup(c->a, str_c(why->message))));
    return v;
}

Status ath_BatchGetNamedQuery(AwsCall *c, Error *err UNUSED)
{
    const Json *ids = aws_get(c, "NamedQueryIds");
    Json *found = json_array(c->a), *rest = json_array(c->a), *q;
    Error why;

    for (size_t i = 0; i < json_len(ids); i++) {
        Str id = json_at(ids, i)->string;
        if (named_get(c, id, &q, &why) == OK)
            json_push(c->a, found, named_shape(c, q));
        else
            json_push(c->a, rest, unprocessed(c, "NamedQueryId", id, &why));
    }
    aws_put(c, "NamedQueries", found);
    aws_put(c, "UnprocessedNamedQueryIds", rest);
    return OK;
}

/* ---- prepared statements: {"StatementName", "QueryStatement", "WorkGroupName", "Description", "ModifiedMs"} ---------------------- */

static Str prepared_key(Arena *a, Str wg, Str name) { return str_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(wg), STR_ARG(name)); }

Status prep_find(Service *svc, Arena *a, Str workgroup, Str name, Json **ret, Error *err)
{
    TRY(rec_get(svc, a, K_PREPARED, prepared_key(a, workgroup, name), ret, err));
    if (*ret)
        return OK;
    RAISE(err, E_NOT_FOUND, "PreparedStatement " STR_FMT " was not found in workGroup " STR_FMT, STR_ARG(name), STR_ARG(workgroup));
    aws_code(err, "ResourceNotFoundException");
    return E_NOT_FOUND;
}

Status prep_store(Service *svc, Arena *a, Str workgroup, Str name, Str query, Str description, Error *err)
{
    Json *p = json_object(a);

    if (!ath_name_ok(name, "_@:-") || (name.p[0] >= '0' && name.p[0] <= '9') || name.n > 256)
        return ATH_INVALID(err, "INVALID_INPUT", "Statement name must match [a-zA-Z_][a-zA-Z0-9_@:]{1,256}");
    json_set(a, p, "StatementName", json_str(a, name));
    json_set(a, p, "QueryStatement", json_str(a, query));
    json_set(a, p, "WorkGroupName", json_str(a, workgroup));
    if (description.n)
        json_set(a, p, "Description", json_str(a, description));
    json_set(a, p, "ModifiedMs", json_int(a, clock_ms()));
    return rec_put(svc, K_PREPARED, prepared_key(a, workgroup, name), p, err);
}

static Json *prepared_shape(AwsCall *c, const Json *p, int whole)
{
    static const char *const all[] = { "StatementName", "QueryStatement", "WorkGroupName", "Description" };
    Json *v = json_object(c->a);

    rec_copy_members(c->a, v, p, all, whole ? COUNT_OF(all) : 1);
    json_set(c->a, v, "LastModifiedTime", aws_time(c, json_get_int(p, "ModifiedMs", 0)));
    return v;
}

Status ath_CreatePreparedStatement(AwsCall *c, Error *err)
{
    Json *w, *old;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    TRY(rec_get(ath_service(c), c->a, K_PREPARED, prepared_key(c->a, wg_of(c), aws_str(c, "StatementName")), &old, err));
    if (old)
        return ATH_INVALID(err, "INVALID_INPUT", "PreparedStatement " STR_FMT " already exists in workGroup " STR_FMT, STR_ARG(aws_str(c, "StatementName")), STR_ARG(wg_of(c)));
    TRY(rec_count_below(c, K_PREPARED, err));
    return prep_store(ath_service(c), c->a, wg_of(c), aws_str(c, "StatementName"), aws_str(c, "QueryStatement"), aws_str(c, "Description"), err);
}

static Status prepared_here(AwsCall *c, Str name, Json **ret, Error *err)
{
    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    return prep_find(ath_service(c), c->a, wg_of(c), name, ret, err);
}

Status ath_UpdatePreparedStatement(AwsCall *c, Error *err)
{
    Json *p;

    TRY(prepared_here(c, aws_str(c, "StatementName"), &p, err));
    Str description = aws_has(c, "Description") ? aws_str(c, "Description") : json_get_str(p, "Description", (Str){0});
    return prep_store(ath_service(c), c->a, wg_of(c), aws_str(c, "StatementName"), aws_str(c, "QueryStatement"), description, err);
}

Status ath_GetPreparedStatement(AwsCall *c, Error *err)
{
    Json *p;

    TRY(prepared_here(c, aws_str(c, "StatementName"), &p, err));
    aws_put(c, "PreparedStatement", prepared_shape(c, p, 1));
    return OK;
}

Status ath_DeletePreparedStatement(AwsCall *c, Error *err)
{
    Json *p;

    TRY(prepared_here(c, aws_str(c, "StatementName"), &p, err));
    return rec_put(ath_service(c), K_PREPARED, prepared_key(c->a, wg_of(c), aws_str(c, "StatementName")), NULL, err);
}

Status ath_ListPreparedStatements(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a), *w;
    CatDocs docs;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_PREPARED), prepared_key(c->a, wg_of(c), S("")), &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, list, prepared_shape(c, d->value, 0));
    return aws_page(c, "PreparedStatements", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

Status ath_BatchGetPreparedStatement(AwsCall *c, Error *err)
{
    const Json *names = aws_get(c, "PreparedStatementNames");
    Json *found = json_array(c->a), *rest = json_array(c->a), *p;
    Error why;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    for (size_t i = 0; i < json_len(names); i++) {
        Str name = json_at(names, i)->string;
        if (prep_find(ath_service(c), c->a, wg_of(c), name, &p, &why) == OK)
            json_push(c->a, found, prepared_shape(c, p, 1));
        else
            json_push(c->a, rest, unprocessed(c, "StatementName", name, &why));
    }
    aws_put(c, "PreparedStatements", found);
    aws_put(c, "UnprocessedPreparedStatementNames", rest);
    return OK;
}
