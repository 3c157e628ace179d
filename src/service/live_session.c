/* SPDX-License-Identifier: Apache-2.0 */
/* live_session.c - what a session has of its own on the live side: settings that its role brings, what its transaction created, temporary objects that
 * end with it. */
#include "live/live.h"
#include "service/live_sql.h"

/* ---- settings ------------------------------------------------------------------------------------------------------------------ */

static void apply(Session *ss, const Props *p)
{
    Error ignored;

    for vec_each(KeyValue, s, p)                          /* a name that is not known here is another version's */
        (void)!session_set(ss, s->key, s->value, &ignored);
}

void live_session_begin(Session *ss)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .dialect = DIALECT_POSTGRES };
    Props system = {0};
    RealmRole role;
    Error ignored;
    Str id;

    if (!ss->svc->realm || ss->dialect != DIALECT_POSTGRES)
        return;
    realm_settings(ss->svc->realm, a, &system);
    apply(ss, &system);
    if (live_role(&r, &id, &ignored) == OK && realm_role_by_id(ss->svc->realm, a, id, &role, &ignored) == OK)
        apply(ss, &role.settings);
}

/* SET cluster, database: what is not there may come; it is said. */
void live_note_setting(Session *ss, Str key, Str value)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    RealmCluster c;
    Error absent;

    if (!ss->svc->realm || ss->dialect != DIALECT_POSTGRES)
        return;
    if (str_ieq(key, S("cluster")) && realm_cluster(ss->svc->realm, a, value, &c, &absent) != OK)
        session_note(ss, "NOTICE", "01000", "cluster \"%s\" does not exist", str_z(a, value));
    if (str_ieq(key, S("database")) && !realm_has_database(ss->svc->realm, value))
        session_note(ss, "NOTICE", "01000", "session database \"%s\" does not exist", str_z(a, value));
}

/* ---- what a transaction created --------------------------------------------------------------------------------------------------- */

static void drop(Session *ss, Arena *a, const ObjectVec *objects)
{
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .dialect = DIALECT_POSTGRES, .live_as = S(REALM_SYSTEM_ROLE) };
    Error why;

    realm_ddl_begin(ss->svc->realm);
    if (objects->n && live_drop_all(&r, objects, &why) != OK)
        log_error(&why, "objects of a session that should go stay", NULL);
    realm_ddl_end(ss->svc->realm);
}

void live_session_undo(Session *ss)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ObjectVec made = {0};
    Object o;
    Error gone;

    for (size_t i = 0; i < ss->live_made.n; i++)
        if (objects_get(ss->svc->objects, a, ss->live_made.p[i], &o, &gone) == OK)
            vec_push(a, &made, o);
    ss->live_made.n = 0;
    if (made.n)
        drop(ss, a, &made);
}

/* ---- temporary objects ------------------------------------------------------------------------------------------------------------- */

void live_session_end(Session *ss)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ObjectVec all = {0}, mine = {0};

    if (!ss->live_temp.n)
        return;
    objects_list(ss->svc->objects, a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].schema, ss->live_temp))
            vec_push(a, &mine, all.p[i]);
    drop(ss, a, &mine);
}

/* What sessions of an earlier start left: their names go before the file of rows is opened, so their rows go with them. */
Status live_forget_temporary(Service *s, Arena *a, Error *err)
{
    struct { int64_t *p; size_t n, cap; } ids = {0};
    ObjectVec all = {0};

    objects_list(s->objects, a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_starts(all.p[i].schema, S(LIVE_TEMP_SCHEMA "/")))
            vec_push(a, &ids, all.p[i].id);
    return ids.n ? objects_delete(s->objects, ids.p, ids.n, err) : OK;
}

bool live_is_temporary(const Object *o) { return str_starts(o->schema, S(LIVE_TEMP_SCHEMA "/")); }

Status live_check_temporary(Run *r, const Object *o, Error *err)
{
    Object used;
    Error absent;

    for (size_t i = 0; !live_is_temporary(o) && i < o->uses.n; i++)
        if (objects_get(r->svc->objects, r->a, o->uses.p[i], &used, &absent) == OK && live_is_temporary(&used))
            return live_refuse(FAIL(err, E_INVALID, "non-temporary items cannot depend on temporary item"), "42P16", err);
    return OK;
}
