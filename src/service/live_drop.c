/* SPDX-License-Identifier: Apache-2.0 */
/* live_drop.c - DROP of every kind: what is named, what needs it, and how it goes.
 *
 * Order: the name goes in the catalog, then what stood behind it (rows, threads): a crash between leaves rows without a name, which the next start removes.
 * Parts (subsources of a source, indexes of a relation) go with what they belong to, unasked. */
#include "live/live.h"
#include "service/live_source.h"
#include "service/live_sql.h"

bool live_is_part(const Object *part, const Object *of)
{
    bool uses = false;

    for (size_t i = 0; i < part->uses.n; i++)
        uses |= part->uses.p[i] == of->id;
    if (!uses)
        return false;
    return part->kind == OBJ_INDEX || (part->kind == OBJ_SOURCE && (str_eq(part->type, S("subsource")) || str_eq(part->type, S("progress"))));
}

/* ---- who is in the way --------------------------------------------------------------------------------------------------------------- */

static bool among(const ObjectVec *v, int64_t id)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->p[i].id == id)
            return true;
    return false;
}

/* Parts of what goes, and their parts, go too. */
static void with_parts(Run *r, const ObjectVec *named, ObjectVec *ret)
{
    for (size_t i = 0; i < named->n; i++)
        if (!among(ret, named->p[i].id))
            vec_push(r->a, ret, named->p[i]);
    for (size_t i = 0; i < ret->n; i++) {
        ObjectVec users = {0};
        objects_direct_users(r->svc->objects, r->a, ret->p[i].id, &users);
        for (size_t k = 0; k < users.n; k++)
            if (live_is_part(&users.p[k], &ret->p[i]) && !among(ret, users.p[k].id))
                vec_push(r->a, ret, users.p[k]);
    }
}

static Status still_used(Run *r, const Object *o, const ObjectVec *users, const ObjectVec *gone, Error *err)
{
    StrBuf by = sb_new(r->a);

    for (size_t i = 0; i < users->n; i++)
        if (!among(gone, users->p[i].id))
            sb_fmt(&by, "%s%s \"" STR_FMT "\"", by.n ? ", " : "", obj_kind_words(users->p[i].kind), STR_ARG(users->p[i].name));
    if (!by.n)
        return OK;
    RAISE(err, E_CONFLICT, "cannot drop %s \"" STR_FMT "\": still depended upon by " STR_FMT, obj_kind_words(o->kind), STR_ARG(o->name), STR_ARG(sb_str(&by)));
    error_hint(err, "Use DROP ... CASCADE to drop the dependent objects too.");
    return live_refuse(E_CONFLICT, "2BP01", err);
}

Status live_check_users(Run *r, const ObjectVec *named, Error *err)
{
    ObjectVec gone = {0};

    with_parts(r, named, &gone);
    for (size_t i = 0; i < gone.n; i++) {
        ObjectVec users = {0};
        objects_direct_users(r->svc->objects, r->a, gone.p[i].id, &users);
        TRY(still_used(r, &gone.p[i], &users, &gone, err));
    }
    return OK;
}

/* ---- going --------------------------------------------------------------------------------------------------------------------------- */

/* With everything that needs them, the furthest first: who is in the closure of one has its own users there before it. */
static void closure(Run *r, const ObjectVec *named, ObjectVec *ret)
{
    for (size_t i = 0; i < named->n; i++) {
        ObjectVec users = {0};
        objects_users(r->svc->objects, r->a, named->p[i].id, &users);
        vec_push(r->a, &users, named->p[i]);
        for (size_t k = 0; k < users.n; k++)
            if (!among(ret, users.p[k].id))
                vec_push(r->a, ret, users.p[k]);
    }
}

static bool has_rows(ObjKind k) { return k == OBJ_TABLE || k == OBJ_MVIEW || k == OBJ_SOURCE; }

static Status after(Run *r, const ObjectVec *gone, Error *err)
{
    struct { int64_t *p; size_t n, cap; } ids = {0};

    for (size_t i = 0; i < gone->n; i++) {
        live_audit(r, "drop", obj_kind_name(gone->p[i].kind), &gone->p[i], NULL);
        if (live_hooks(gone->p[i].kind)->drop)
            live_hooks(gone->p[i].kind)->drop(r->svc, &gone->p[i]);
        if (has_rows(gone->p[i].kind) && live_has(r->svc->live, gone->p[i].id))
            vec_push(r->a, &ids, gone->p[i].id);
    }
    return ids.n ? live_drop(r->svc->live, ids.p, ids.n, err) : OK;
}

Status live_replace(Run *r, const ObjectVec *named, const Object *puts, size_t nputs, Error *err)
{
    ObjectVec gone = {0};
    struct { int64_t *p; size_t n, cap; } ids = {0};

    closure(r, named, &gone);
    for (size_t i = 0; i < gone.n; i++)
        vec_push(r->a, &ids, gone.p[i].id);
    ObjChanges ch = { .puts = puts, .nputs = nputs, .deletes = ids.p, .ndeletes = ids.n };
    TRY(objects_change(r->svc->objects, &ch, err));
    for (size_t i = 0; i < nputs; i++)
        live_audit(r, "create", obj_kind_name(puts[i].kind), &puts[i], NULL);
    return after(r, &gone, err);
}

Status live_drop_all(Run *r, const ObjectVec *named, Error *err) { return live_replace(r, named, NULL, 0, err); }

/* ---- the statement ---------------------------------------------------------------------------------------------------------------------- */

static ObjKind kind_of(LiveKind k)
{
    switch (k) {
    case LK_TABLE: return OBJ_TABLE;
    case LK_VIEW: return OBJ_VIEW;
    case LK_MVIEW: return OBJ_MVIEW;
    case LK_SOURCE: return OBJ_SOURCE;
    case LK_SINK: return OBJ_SINK;
    case LK_INDEX: return OBJ_INDEX;
    case LK_CONNECTION: return OBJ_CONNECTION;
    case LK_SECRET: return OBJ_SECRET;
    case LK_TYPE: return OBJ_TYPE;
    default: return OBJ_KINDS;
    }
}

Status live_wrong_kind(Run *r, const Object *o, const char *verb, ObjKind wanted, Error *err)
{
    const char *is = obj_kind_words(o->kind), *not = obj_kind_words(wanted);

    if (wanted == OBJ_VIEW && o->kind == OBJ_MVIEW) {
        RAISE(err, E_INVALID, STR_FMT " is not a view", STR_ARG(live_full(r->a, o)));
        error_hint(err, "Use %s MATERIALIZED VIEW to %s a materialized view.", verb, strcmp(verb, "DROP") ? "change" : "remove");
    } else
        RAISE(err, E_INVALID, STR_FMT " is %s %s not %s %s", STR_ARG(live_full(r->a, o)), strchr("aeiou", is[0]) ? "an" : "a", is, strchr("aeiou", not[0]) ? "an" : "a", not);
    return live_refuse(E_INVALID, "42809", err);
}

static bool lake_has_it(const Run *r) { return r->st->kind == ST_DROP_TABLE || r->st->kind == ST_DROP_VIEW || r->st->kind == ST_DROP_MV; }

/* *found 0: it is not there; a name that may be one of the lake is left to the lake. */
static Status find_one(Run *r, const StrVec *name, ObjKind kind, Object *o, int *found, int *lake, Error *err)
{
    LiveName n;
    Error absent;
    int live = 0;

    *found = live_find_object(r, r->a, name, o, &absent) == OK;
    if (*found)
        return o->kind != kind ? live_wrong_kind(r, o, "DROP", kind, err) : live_ask_owner(r, o, err) == OK ? source_may_drop(o, err) : err->code;
    bool placed = live_name_new(r, name, &n, &live, &absent) == OK;
    if (lake_has_it(r) && (!placed || !live || (name->n == 1 && !r->st->if_exists))) {
        *lake = 1;
        return OK;
    }
    if (r->st->if_exists) {
        live_note_absent(r, obj_kind_words(kind), name);
        return OK;
    }
    return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, name, S(".")))), "42704", err);
}

static Status find_all(Run *r, ObjKind kind, ObjectVec *ret, int *lake, Error *err)
{
    const LiveStmt *l = r->st->live;
    Object o;
    int found;

    *lake = 0;
    for (size_t i = 0; i < 1 + (l ? l->also.n : 0); i++) {
        int this_lake = 0;
        TRY(find_one(r, i ? &l->also.p[i - 1] : &r->st->name, kind, &o, &found, &this_lake, err));
        *lake |= this_lake;
        if (found && !among(ret, o.id))
            vec_push(r->a, ret, o);
    }
    if (*lake && (l ? l->also.n : 0))
        return FAIL(err, E_UNSUPPORTED, "objects here and tables of the lake cannot be dropped in one statement");
    return OK;
}

static Status drop_objects(Run *r, ObjKind kind, LiveDone *ret, Error *err)
{
    ObjectVec named = {0};
    int lake;

    TRY(find_all(r, kind, &named, &lake, err));
    ret->done = !lake;
    if (lake || !named.n)
        return OK;
    if (!r->st->cascade)
        TRY(live_check_users(r, &named, err));
    return live_drop_all(r, &named, err);
}

Status live_drop_stmt(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    static const struct { StmtKind stmt; LiveKind kind; } lakes[] = { { ST_DROP_TABLE, LK_TABLE }, { ST_DROP_VIEW, LK_VIEW }, { ST_DROP_MV, LK_MVIEW }, { ST_DROP_NAMESPACE, LK_SCHEMA } };
    LiveKind kind = r->st->live ? r->st->live->kind : LK_NONE;

    for (size_t i = 0; kind == LK_NONE && i < COUNT_OF(lakes); i++)
        if (lakes[i].stmt == r->st->kind)
            kind = lakes[i].kind;
    if (kind_of(kind) != OBJ_KINDS)
        return drop_objects(r, kind_of(kind), ret, err);
    if (kind == LK_DATABASE || kind == LK_SCHEMA)
        return live_drop_schemas(r, ret, err);
    ret->done = 1;
    if (kind == LK_ROLE)
        return live_drop_roles(r, err);
    return live_drop_clusters(r, err);
}
