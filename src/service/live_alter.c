/* SPDX-License-Identifier: Apache-2.0 */
/* live_alter.c - ALTER of what every object has: name, owner, schema, cluster; of tables their columns; of databases and schemas names and owners. */
#include "live/live.h"
#include "service/live_sink.h"
#include "service/live_sql.h"

static ObjKind kind_of(LiveKind k)
{
    static const ObjKind kinds[LK_KINDS] = {
        [LK_TABLE] = OBJ_TABLE, [LK_VIEW] = OBJ_VIEW, [LK_MVIEW] = OBJ_MVIEW, [LK_SOURCE] = OBJ_SOURCE, [LK_SINK] = OBJ_SINK, [LK_INDEX] = OBJ_INDEX,
        [LK_CONNECTION] = OBJ_CONNECTION, [LK_SECRET] = OBJ_SECRET, [LK_TYPE] = OBJ_TYPE,
    };
    return k == LK_TABLE || kinds[k] ? kinds[k] : OBJ_KINDS;
}

/* ---- one object ----------------------------------------------------------------------------------------------------------------------- */

static Status rename_to(Run *r, Object *o, Error *err)
{
    const StrVec *to = &r->st->live->to;
    ObjectVec one = {0};

    if (to->n != 1)
        return live_refuse(FAIL(err, E_INVALID, "a new name has one part: use SET SCHEMA to move the object"), "42601", err);
    TRY(live_ask_schema(r, 'C', o->database, o->schema, err));
    TRY(live_check_ident(to->p[0], err));
    o->name = to->p[0];
    vec_push(r->a, &one, *o);
    return live_rename(r, &one, err);
}

static Status set_schema(Run *r, Object *o, Error *err)
{
    const StrVec *to = &r->st->live->to;
    ObjectVec one = {0};
    RealmSchema s;

    TRY(realm_schema(r->svc->realm, r->a, to->n > 1 ? to->p[0] : o->database, vec_last(to), &s, err));
    if (!s.database.n)
        return live_refuse(FAIL(err, E_DENIED, "system schema '" STR_FMT "' cannot be modified", STR_ARG(s.name)), "42501", err);
    if (to->n > 1)
        o->database = to->p[0];
    o->schema = s.name;
    TRY(live_ask_schema(r, 'C', o->database, o->schema, err));
    vec_push(r->a, &one, *o);
    return live_rename(r, &one, err);
}

/* Who gets it must be a role that this one is a member of, and may create where it lies. */
static Status new_owner(Run *r, Str *ret, Error *err)
{
    RealmRole role;

    TRY(realm_role(r->svc->realm, r->a, r->st->live->to.p[0], &role, err));
    TRY(live_ask_member(r, role.id, err));
    *ret = role.id;
    return OK;
}

static Status owner_to(Run *r, Object *o, Error *err)
{
    Str old = o->owner;

    TRY(new_owner(r, &o->owner, err));
    TRY(live_ask_schema(r, 'C', o->database, o->schema, err));
    live_grants_follow(r->a, &o->grants, old, o->owner);
    return live_store(r, o, 1, LIVE_ALTERED, err);
}

static Status set_cluster(Run *r, Object *o, Error *err)
{
    RealmCluster c;
    bool ran = live_runs(r->svc, o);

    if (!o->cluster.n)
        return live_refuse(FAIL(err, E_INVALID, "a %s has no cluster", obj_kind_words(o->kind)), "0A000", err);
    TRY(live_need_cluster(r, &r->st->live->to, &c, err));
    o->cluster = c.id;
    TRY(live_store(r, o, 1, LIVE_ALTERED, err));
    const LiveHooks *h = live_hooks(o->kind);
    if (h->renamed)
        h->renamed(r->svc, o);
    if (ran != live_runs(r->svc, o) && (ran ? h->pause : h->resume))
        (ran ? h->pause : h->resume)(r->svc, o);
    return OK;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------------------ */

static Status same_name(Run *r, const Object *o, Str name, int *there, Error *err)
{
    *there = 0;
    for (size_t i = 0; i < o->columns.n; i++)
        if (str_eq(o->columns.p[i].name, name)) {
            *there = 1;
            if (!r->st->if_not_exists)
                return live_refuse(FAIL(err, E_EXISTS, "column \"" STR_FMT "\" of relation \"" STR_FMT "\" already exists", STR_ARG(name), STR_ARG(o->name)), "42701", err);
            session_note(r->ss, "NOTICE", "42701", "column \"%s\" of relation \"%s\" already exists, skipping", str_z(r->a, name), str_z(r->a, o->name));
        }
    return OK;
}

/* Rows that stand have NULL there. The engine's name is one that the table never had. */
static Status add_column(Run *r, Object *o, const ColumnDef *d, Error *err)
{
    ObjColumn c = { .name = d->name, .engine = str_fmt(r->a, "c%zu", o->columns.n + 1), .type = d->type, .type_name = sql_type_name(r->a, DIALECT_POSTGRES, &d->type) };
    LiveColumn lc = { .engine = c.engine, .type = c.type };
    int there;

    TRY(same_name(r, o, d->name, &there, err));
    if (there)
        return OK;
    if (d->not_null || d->default_)
        return live_refuse(FAIL(err, E_UNSUPPORTED, "ALTER TABLE ... ADD COLUMN with NOT NULL or DEFAULT not yet supported"), "0A000", err);
    for (size_t i = 0; i < r->live_types.n; i++)
        live_use(r->a, o, r->live_types.p[i]);
    vec_push(r->a, &o->columns, c);
    o->create_sql = (Str){0};                             /* made from the columns */
    sinks_hold(r->svc, o->id);
    Status s = live_table_add_column(r->svc->live, o->id, &lc, err);
    if (s == OK)
        s = live_store(r, o, 1, LIVE_ALTERED, err);
    sinks_go(r->svc, o->id);
    return s;
}

static Status alter_table(Run *r, Object *o, Error *err)
{
    const LiveStmt *l = r->st->live;

    if (l->alter != ALTER_ADD_COLUMN || r->st->columns.n != 1)
        return live_refuse(FAIL(err, E_UNSUPPORTED, "this form of ALTER TABLE is not yet supported here"), "0A000", err);
    if (o->kind != OBJ_TABLE)
        return live_wrong_kind(r, o, "ALTER", OBJ_TABLE, err);
    return add_column(r, o, &r->st->columns.p[0], err);
}

/* ---- the statement, for objects -------------------------------------------------------------------------------------------------------------- */

static Status by_alter(Run *r, Object *o, Error *err)
{
    switch (r->st->live->alter) {
    case ALTER_RENAME: return rename_to(r, o, err);
    case ALTER_OWNER: return owner_to(r, o, err);
    case ALTER_SET_SCHEMA: return set_schema(r, o, err);
    case ALTER_SET_CLUSTER: return set_cluster(r, o, err);
    case ALTER_SET: case ALTER_RESET: return live_alter_options(r, o, err);
    case ALTER_APPLY_REPLACEMENT: return live_apply_replacement(r, o, err);
    default: return alter_table(r, o, err);
    }
}

static bool fits(LiveKind k, ObjKind is)
{
    return kind_of(k) == is || (k == LK_TABLE && is == OBJ_SOURCE) || (k == LK_SOURCE && is == OBJ_TABLE);
}

static Status alter_object(Run *r, LiveDone *ret, Error *err)
{
    LiveKind kind = r->st->live->kind;
    Error absent;
    Object o;

    ret->done = live_find_object(r, r->a, &r->st->name, &o, &absent) == OK;
    if (!ret->done) {
        if (r->st->kind != ST_LIVE)
            return OK;                                    /* it may be one of the lake */
        ret->done = r->st->if_exists;
        if (!ret->done)
            return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, &r->st->name, S(".")))), "42704", err);
        live_note_absent(r, obj_kind_words(kind_of(kind)), &r->st->name);
        return OK;
    }
    if (!fits(kind, o.kind))
        return live_wrong_kind(r, &o, "ALTER", kind_of(kind), err);
    TRY(live_ask_owner(r, &o, err));
    return by_alter(r, &o, err);
}

/* ---- databases and schemas ---------------------------------------------------------------------------------------------------------------------- */

static Json *place_details(Arena *a, Str id, Str name)
{
    Json *j = json_object(a);
    json_set(a, j, "id", json_str(a, id));
    json_set(a, j, "name", json_str(a, name));
    return j;
}

static Status alter_database(Run *r, LiveDone *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    RealmDatabase d;
    Error absent;

    ret->done = realm_database(r->svc->realm, r->a, vec_last(&r->st->name), &d, &absent) == OK || r->st->if_exists;
    if (!ret->done)
        return realm_database(r->svc->realm, r->a, vec_last(&r->st->name), &d, err);
    if (!realm_has_database(r->svc->realm, vec_last(&r->st->name))) {
        live_note_absent(r, "database", &r->st->name);
        return OK;
    }
    TRY(live_ask_owner_of(r, "DATABASE", d.name, d.owner, err));
    Str old = d.owner;
    if (l->alter == ALTER_RENAME)
        TRY(live_rename_database(r, &d, vec_last(&l->to), err));
    else {
        TRY(new_owner(r, &d.owner, err));
        live_grants_follow(r->a, &d.grants, old, d.owner);
        TRY(realm_put_database(r->svc->realm, &d, err));
    }
    live_audit(r, "alter", "database", NULL, place_details(r->a, d.id, d.name));
    return OK;
}

static Status schema_change(Run *r, Str database, RealmSchema *s, Error *err)
{
    const LiveStmt *l = r->st->live;
    Str old = s->owner, to = vec_last(&l->to);
    RealmSchema other;

    if (l->alter == ALTER_OWNER) {
        TRY(new_owner(r, &s->owner, err));
        live_grants_follow(r->a, &s->grants, old, s->owner);
        return realm_put_schema(r->svc->realm, s, err);
    }
    if (l->alter == ALTER_RENAME)
        return live_rename_schema(r, database, s, to, err);
    TRY(realm_schema(r->svc->realm, r->a, database, to, &other, err));
    TRY(live_ask_owner_of(r, "SCHEMA", to, other.owner, err));
    return live_swap_schemas(r, database, s, &other, err);
}

static Status alter_schema(Run *r, LiveDone *ret, Error *err)
{
    const StrVec *name = &r->st->name;
    Str database = name->n > 1 ? name->p[name->n - 2] : live_database(r);
    RealmSchema s;

    ret->done = realm_has_database(r->svc->realm, database);              /* namespaces of the lake have no such changes */
    if (!ret->done)
        return OK;
    if (!realm_has_schema(r->svc->realm, database, vec_last(name)) && r->st->if_exists) {
        live_note_absent(r, "schema", name);
        return OK;
    }
    TRY(realm_schema(r->svc->realm, r->a, database, vec_last(name), &s, err));
    if (!s.database.n)
        return live_refuse(FAIL(err, E_DENIED, "system schema '" STR_FMT "' cannot be modified", STR_ARG(s.name)), "42501", err);
    TRY(live_ask_owner_of(r, "SCHEMA", s.name, s.owner, err));
    TRY(schema_change(r, database, &s, err));
    live_audit(r, "alter", "schema", NULL, place_details(r->a, s.id, s.name));
    return OK;
}

Status live_alter(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LiveKind kind = r->st->live ? r->st->live->kind : LK_NONE;

    ret->done = 0;
    if (kind == LK_DATABASE || kind == LK_SCHEMA) {
        LiveAlter a = r->st->live->alter;
        if (a != ALTER_RENAME && a != ALTER_OWNER && a != ALTER_SWAP)
            return OK;
        return kind == LK_DATABASE ? alter_database(r, ret, err) : alter_schema(r, ret, err);
    }
    return kind == LK_NONE ? OK : alter_object(r, ret, err);
}
