/* SPDX-License-Identifier: Apache-2.0 */
/* live_make.c - what every statement that makes an object does: its place, what it names, its privileges, storing it, the audit log. */
#include "service/live_sql.h"
#include "service/mzcatalog.h"

Status live_refuse(Status s, const char *sqlstate, Error *err)
{
    memcpy(err->sqlstate, sqlstate, 6);
    return s;
}

/* ---- where it is made --------------------------------------------------------------------------------------------------------- */

static Status there_already(Run *r, ObjKind kind, LivePlace *p, Error *err)
{
    if (r->st->if_not_exists) {
        session_note(r->ss, "NOTICE", "42710", "%s \"%s\" already exists, skipping", obj_kind_words(p->there.kind), str_z(r->a, p->name.name));
        p->done = 1;
        return OK;
    }
    if (r->st->or_replace && p->there.kind == kind)
        return live_ask_owner(r, &p->there, err);
    return live_refuse(FAIL(err, E_EXISTS, "%s \"" STR_FMT "\" already exists", obj_kind_words(p->there.kind), STR_ARG(live_full(r->a, &p->there))), "42710", err);
}

Status live_place_at(Run *r, ObjKind kind, const LiveName *n, LivePlace *p, Error *err)
{
    Error absent;
    RealmSchema s;

    *p = (LivePlace){ .name = *n };
    if (!str_starts(n->schema, S(LIVE_TEMP_SCHEMA))) {
        TRY(realm_schema(r->svc->realm, r->a, n->database, n->schema, &s, err));
        if (!s.database.n)
            return live_refuse(FAIL(err, E_DENIED, "system schema '" STR_FMT "' cannot be modified", STR_ARG(n->schema)), "42501", err);
        TRY(live_ask_schema(r, 'C', n->database, n->schema, err));
    }
    p->taken = objects_find(r->svc->objects, r->a, n->database, n->schema, n->name, &p->there, &absent) == OK;
    return p->taken ? there_already(r, kind, p, err) : OK;
}

Status live_place(Run *r, ObjKind kind, LivePlace *p, Error *err)
{
    LiveName n;
    int live;

    if (!r->st->name.n)
        return live_refuse(FAIL(err, E_INVALID, "unspecified name for %s", obj_kind_words(kind)), "42601", err);
    TRY(live_name_new(r, &r->st->name, &n, &live, err));
    if (!live)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown schema '" STR_FMT "'", STR_ARG(r->st->name.p[0])), "3F000", err);
    return live_place_at(r, kind, &n, p, err);
}

/* ---- a new object ---------------------------------------------------------------------------------------------------------------- */

void live_use(Arena *a, Object *o, int64_t id)
{
    for (size_t i = 0; i < o->uses.n; i++)
        if (o->uses.p[i] == id)
            return;
    vec_push(a, &o->uses, id);
}

static bool default_fits(const RealmDefault *d, const Object *o, Str database, Str schema)
{
    bool mine = str_eq(d->role, o->owner) || str_eq(d->role, S(REALM_PUBLIC));
    Str kind = str_c(obj_kind_name(o->kind));

    if (o->kind == OBJ_VIEW || o->kind == OBJ_MVIEW || o->kind == OBJ_SOURCE)             /* privileges of relations are granted as those of tables */
        kind = S("table");
    return mine && str_eq(d->kind, kind) && (!d->database.n || str_eq(d->database, database)) && (!d->schema.n || str_eq(d->schema, schema));
}

static Str fitting_letters(Arena *a, const Object *o, Str letters)
{
    Str can = str_c(live_letters(o->kind));
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < letters.n; i++)
        if (str_chr(can, letters.p[i]) >= 0)
            sb_byte(&b, letters.p[i]);
    return sb_str(&b);
}

static void default_grants(Run *r, Object *o)
{
    RealmDefaults all = {0};
    RealmSchema s = {0};
    RealmDatabase d = {0};
    Error absent;

    if (*live_letters(o->kind))
        realm_grant(r->a, &o->grants, o->owner, o->owner, str_c(live_letters(o->kind)));
    if (realm_database(r->svc->realm, r->a, o->database, &d, &absent) != OK || realm_schema(r->svc->realm, r->a, o->database, o->schema, &s, &absent) != OK)
        return;
    realm_defaults(r->svc->realm, r->a, &all);
    for (size_t i = 0; i < all.n; i++) {
        Str letters = fitting_letters(r->a, o, all.p[i].letters);
        if (letters.n && default_fits(&all.p[i], o, d.id, s.id))
            realm_grant(r->a, &o->grants, all.p[i].grantee, o->owner, letters);
    }
}

Object live_object(Run *r, ObjKind kind, const LiveName *n)
{
    Object o = { .id = objects_next_id(r->svc->objects), .kind = kind, .database = n->database, .schema = n->schema, .name = n->name, .created_ms = clock_ms() };
    Error absent;

    if (live_role(r, &o.owner, &absent) != OK)            /* rights have been asked: there is one */
        o.owner = S(REALM_SYSTEM_ROLE);
    for (size_t i = 0; i < r->live_used.n; i++)
        live_use(r->a, &o, r->live_used.p[i]);
    for (size_t i = 0; i < r->live_types.n; i++)
        live_use(r->a, &o, r->live_types.p[i]);
    default_grants(r, &o);
    return o;
}

/* ---- what a statement names ------------------------------------------------------------------------------------------------------- */

static Str kinds_text(Arena *a, int kinds)
{
    StrBuf b = sb_new(a);

    for (int k = 0; k < OBJ_KINDS; k++)
        if (kinds & 1 << k)
            sb_fmt(&b, "%s%s", b.n ? " or " : "", obj_kind_words((ObjKind)k));
    return sb_str(&b);
}

static const char *article(Str word) { return word.n && strchr("aeiou", word.p[0]) ? "an" : "a"; }

Status live_need(Run *r, const StrVec *parts, int kinds, char letter, Object *ret, Error *err)
{
    Status s = live_find_object(r, r->a, parts, ret, err);

    if (s == E_NOT_FOUND)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, parts, S(".")))), "42704", err);
    TRY(s);
    if (!(kinds & 1 << ret->kind)) {
        Str is = str_c(obj_kind_words(ret->kind)), wanted = kinds_text(r->a, kinds);
        return live_refuse(FAIL(err, E_INVALID, STR_FMT " is %s " STR_FMT " not %s " STR_FMT, STR_ARG(live_full(r->a, ret)), article(is), STR_ARG(is), article(wanted), STR_ARG(wanted)), "42809", err);
    }
    return live_ask(r, letter, ret, err);
}

Status live_need_cluster(Run *r, const StrVec *parts, RealmCluster *ret, Error *err)
{
    Str name = parts->n ? vec_last(parts) : setting_get(r->ss, S("cluster"), S("quickstart"));

    TRY(realm_cluster(r->svc->realm, r->a, name, ret, err));
    if (ret->id.p[0] == 's')
        return live_refuse(FAIL(err, E_DENIED, "system cluster '" STR_FMT "' cannot be modified", STR_ARG(name)), "42501", err);
    return live_ask_cluster(r, 'C', ret, err);
}

/* ---- storing ------------------------------------------------------------------------------------------------------------------------- */

/* What is new goes again when a later statement of the same COMMIT fails. */
static void note_made(Run *r, const int64_t *ids, size_t n)
{
    if (!r->ss->live_committing)
        return;
    for (size_t i = 0; i < n; i++)
        vec_push(r->ss->arena, &r->ss->live_made, ids[i]);
}

Status live_store(Run *r, const Object *o, size_t n, LiveStored how, Error *err)
{
    ObjChanges ch = { .puts = o, .nputs = n };
    int64_t *made = arena_array(r->a, int64_t, n + 1);
    size_t nmade = 0;

    for (size_t i = 0; i < n; i++)
        TRY(live_check_temporary(r, &o[i], err));
    for (size_t i = 0; i < n; i++)
        TRY(live_check_replacements(r, &o[i], err));
    TRY(live_limit_objects(r, o, n, err));
    for (size_t i = 0; i < n; i++)
        if (!str_starts(o[i].schema, S(LIVE_TEMP_SCHEMA)) && !realm_has_schema(r->svc->realm, o[i].database, o[i].schema))
            return FAIL(err, E_NOT_FOUND, "unknown schema '" STR_FMT "'", STR_ARG(o[i].schema));
    for (size_t i = 0; i < n; i++)
        if (!objects_known(r->svc->objects, o[i].id))
            made[nmade++] = o[i].id;
    TRY(objects_change(r->svc->objects, &ch, err));
    note_made(r, made, nmade);
    for (size_t i = 0; i < n; i++)
        live_audit(r, how == LIVE_CREATED ? "create" : "alter", obj_kind_name(o[i].kind), &o[i], NULL);
    return OK;
}

bool live_runs(Service *s, const Object *o) { return realm_cluster_runs(s->realm, o->cluster); }

static Json *name_details(Arena *a, const Object *o)
{
    Json *j = json_object(a);

    json_set(a, j, "id", json_str(a, str_fmt(a, "u%lld", (long long)o->id)));
    json_set(a, j, "database", json_str(a, o->database));
    json_set(a, j, "schema", json_str(a, o->schema));
    json_set(a, j, "item", json_str(a, o->name));
    return j;
}

/* What has been done stays done when the log cannot be written: that is told to the server's own log. */
void live_audit(Run *r, const char *event, const char *type, const Object *o, Json *details)
{
    RealmEvent e = { .event = str_c(event), .type = str_c(type), .details = details ? details : name_details(r->a, o), .at_ms = clock_ms() };
    Str role;
    Error why;

    if (r->draft) {
        live_draft_audit(r->draft, event, type, e.details);
        return;
    }
    if (live_role(r, &role, &why) == OK)
        e.user = realm_role_name(r->svc->realm, r->a, role);
    if (realm_audit(r->svc->realm, &e, &why) != OK)
        log_error(&why, "the audit log of the live side was not written", "event", event, NULL);
    mz_audit_wake(r->svc->mz_audit);
}

void live_note_absent(Run *r, const char *kind, const StrVec *name)
{
    session_note(r->ss, "NOTICE", "42704", "%s \"%s\" does not exist, skipping", kind, str_z(r->a, str_join(r->a, name, S("."))));
}
