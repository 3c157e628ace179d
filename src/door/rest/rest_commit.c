/* SPDX-License-Identifier: Apache-2.0 */
/* rest_commit.c - commits to one table and transactions over several. */
#include "door/rest/rest_int.h"

static Status array_of(const Json *j, const char *key, const Json **ret, Error *err)
{
    *ret = json_get(j, key);
    if (*ret && !json_is(*ret, JSON_ARRAY))
        return FAIL(err, E_INVALID, "Malformed request: '%s' must be an array", key);
    return OK;
}

static Status parse_requirements(RestCall *c, const Json *j, IceRequirements *ret, Error *err)
{
    const Json *list = NULL;

    TRY(array_of(j, "requirements", &list, err));
    for (size_t i = 0; i < json_len(list); i++) {
        IceRequirement rq = {0};
        TRY(ice_requirement_parse(c->a, json_at(list, i), &rq, err));
        vec_push(c->a, ret, rq);
    }
    return OK;
}

static Status parse_updates(RestCall *c, const Json *j, IceUpdates *ret, Error *err)
{
    const Json *list = NULL;

    TRY(array_of(j, "updates", &list, err));
    for (size_t i = 0; i < json_len(list); i++) {
        IceUpdate up = {0};
        TRY(ice_update_parse(c->a, json_at(list, i), &up, err));
        vec_push(c->a, ret, up);
    }
    return OK;
}

/* REST commits can do anything to a table, so they are asked for as writing it, whatever they hold. */
static Status parse_commit(RestCall *c, const Json *j, SvcCommit *ret, Error *err)
{
    ret->as = ACT_WRITE_DATA;
    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Malformed request: a commit must be an object");
    TRY(parse_requirements(c, j, &ret->requirements, err));
    return parse_updates(c, j, &ret->updates, err);
}

static Status same_name(RestCall *c, const Json *body, const SvcName *name, Error *err)
{
    SvcName said = {0};
    const Json *j = json_get(body, "identifier");

    if (!j || json_is(j, JSON_NULL))
        return OK;
    TRY(rest_parse_identifier(c, j, &said, err));
    if (!str_eq(said.namespace, name->namespace) || !str_eq(said.name, name->name))
        return FAIL(err, E_INVALID, "Malformed request: the identifier names another table than the path");
    return OK;
}

Status rest_commit_table(RestCall *c, Error *err)
{
    Json *body = NULL, *j = json_object(c->a);
    SvcCommit commit = { .name = rest_name(c) };
    SvcTable t = {0};

    TRY(rest_body(c, &body, err));
    TRY(same_name(c, body, &commit.name, err));
    TRY(parse_commit(c, body, &commit, err));
    TRY(svc_table_commit(&c->svc, &commit, &t, err));
    json_set(c->a, j, "metadata-location", json_str(c->a, t.relation.metadata_location));
    json_set(c->a, j, "metadata", ice_metadata_json(c->a, t.metadata));
    rest_json(c, 200, j);
    return OK;
}

Status rest_commit_transaction(RestCall *c, Error *err)
{
    Json *body = NULL, *changes = NULL;

    TRY(rest_body(c, &body, err));
    TRY(json_need(body, "table-changes", JSON_ARRAY, &changes, err));
    size_t n = json_len(changes);
    SvcCommit *commits = arena_array(c->a, SvcCommit, n + 1);
    for (size_t i = 0; i < n; i++) {
        TRY(rest_parse_identifier(c, json_get(json_at(changes, i), "identifier"), &commits[i].name, err));
        TRY(parse_commit(c, json_at(changes, i), &commits[i], err));
    }
    TRY(svc_table_commit_all(&c->svc, commits, n, err));
    rest_empty(c, 204);
    return OK;
}
