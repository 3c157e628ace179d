/* SPDX-License-Identifier: Apache-2.0 */
/* live_comment.c - COMMENT ON objects, columns, databases, schemas, clusters and their replicas, roles. */
#include "service/live_cluster_int.h"

static Str given(const Run *r) { return r->st->comment; }                /* NULL: empty, gone */

static Status on_column(Run *r, Object *o, Error *err)
{
    Str column = vec_last(&r->st->live->to);
    bool known = false;

    for (size_t i = 0; i < o->columns.n; i++)
        known |= str_eq(o->columns.p[i].name, column);
    if (!known)
        return live_refuse(FAIL(err, E_NOT_FOUND, "column \"" STR_FMT "." STR_FMT "\" does not exist", STR_ARG(o->name), STR_ARG(column)), "42703", err);
    if (given(r).n)
        props_set(r->a, &o->column_comments, column, given(r));
    else
        props_del(&o->column_comments, column);
    return OK;
}

static Status on_object(Run *r, LiveDone *ret, Error *err)
{
    static const ObjKind kinds[LK_KINDS] = {
        [LK_TABLE] = OBJ_TABLE, [LK_VIEW] = OBJ_VIEW, [LK_MVIEW] = OBJ_MVIEW, [LK_SOURCE] = OBJ_SOURCE, [LK_SINK] = OBJ_SINK, [LK_INDEX] = OBJ_INDEX,
        [LK_CONNECTION] = OBJ_CONNECTION, [LK_SECRET] = OBJ_SECRET, [LK_TYPE] = OBJ_TYPE,
    };
    LiveKind kind = r->st->live->kind;
    Error absent;
    Object o;

    ret->done = live_find_object(r, r->a, &r->st->name, &o, &absent) == OK;
    if (!ret->done && r->st->kind == ST_LIVE)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, &r->st->name, S(".")))), "42704", err);
    if (!ret->done)
        return OK;
    if (kind != LK_COLUMN && kinds[kind] != o.kind)
        return live_wrong_kind(r, &o, "COMMENT ON", kinds[kind], err);
    TRY(live_ask_owner(r, &o, err));
    if (kind == LK_COLUMN)
        TRY(on_column(r, &o, err));
    else
        o.comment = given(r);
    TRY(objects_put(r->svc->objects, &o, err));
    live_audit(r, "comment", obj_kind_name(o.kind), &o, NULL);
    return OK;
}

static Json *details(Arena *a, Str id, Str name)
{
    Json *j = json_object(a);
    json_set(a, j, "id", json_str(a, id));
    json_set(a, j, "name", json_str(a, name));
    return j;
}

static Status on_schema(Run *r, LiveDone *ret, Error *err)
{
    const StrVec *name = &r->st->name;
    Str database = name->n > 1 ? name->p[name->n - 2] : live_database(r);
    RealmSchema s;

    ret->done = realm_has_schema(r->svc->realm, database, vec_last(name));
    if (!ret->done)
        return OK;
    TRY(realm_schema(r->svc->realm, r->a, database, vec_last(name), &s, err));
    TRY(live_ask_owner_of(r, "SCHEMA", s.name, s.owner, err));
    s.comment = given(r);
    live_audit(r, "comment", "schema", NULL, details(r->a, s.id, s.name));
    return realm_put_schema(r->svc->realm, &s, err);
}

static Status on_database(Run *r, LiveDone *ret, Error *err)
{
    RealmDatabase d;

    ret->done = 1;
    TRY(realm_database(r->svc->realm, r->a, vec_last(&r->st->name), &d, err));
    TRY(live_ask_owner_of(r, "DATABASE", d.name, d.owner, err));
    d.comment = given(r);
    live_audit(r, "comment", "database", NULL, details(r->a, d.id, d.name));
    return realm_put_database(r->svc->realm, &d, err);
}

/* That of a managed cluster's replica goes with the replica. */
static Status on_replica(Run *r, RealmCluster *c, Error *err)
{
    Str name = vec_last(&r->st->name);
    ptrdiff_t at = r->st->name.n == 2 ? cluster_replica_at(c, name) : -1;

    if (at < 0)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown cluster replica '" STR_FMT "'", STR_ARG(name)), "42704", err);
    c->replicas.p[at].comment = given(r);
    live_audit(r, "comment", "cluster-replica", NULL, cluster_details(r->a, c, name));
    return realm_put_cluster(r->svc->realm, c, err);
}

static Status on_cluster(Run *r, LiveDone *ret, Error *err)
{
    RealmCluster c;

    ret->done = 1;
    TRY(realm_cluster(r->svc->realm, r->a, r->st->name.p[0], &c, err));
    TRY(live_ask_owner_of(r, "CLUSTER", c.name, c.owner, err));
    if (r->st->live->kind == LK_REPLICA)
        return on_replica(r, &c, err);
    c.comment = given(r);
    live_audit(r, "comment", "cluster", NULL, details(r->a, c.id, c.name));
    return realm_put_cluster(r->svc->realm, &c, err);
}

static Status on_role(Run *r, LiveDone *ret, Error *err)
{
    RealmRole role;

    ret->done = 1;
    TRY(realm_role(r->svc->realm, r->a, vec_last(&r->st->name), &role, err));
    TRY(live_ask_system(r, 'R', err));
    role.comment = given(r);
    live_audit(r, "comment", "role", NULL, details(r->a, role.id, role.name));
    return realm_put_role(r->svc->realm, &role, err);
}

Status live_comment(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    switch (r->st->live->kind) {
    case LK_SCHEMA: return on_schema(r, ret, err);
    case LK_DATABASE: return on_database(r, ret, err);
    case LK_CLUSTER: case LK_REPLICA: return on_cluster(r, ret, err);
    case LK_ROLE: return on_role(r, ret, err);
    default: return on_object(r, ret, err);
    }
}
