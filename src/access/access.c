/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - one question, one answer with its reason.
 *
 * Order: a session first sees only what its scope holds; then the protection of managed views, which binds every principal; then the
 * principal's own rights.  So whoever may reach a managed view at all reads the same words at every door.
 * Invariants: (1) nothing but the run of a managed view passes its protection; (2) a scope matches at '/' boundaries only;
 * (3) an object is judged by the relation that owns its location now, not by the rights that were current when a key was vended. */
#include "access/iam_int.h"

#include <stdio.h>
#include <stdlib.h>

Access *access_new(Catalog *c)
{
    Access *x = calloc(1, sizeof *x);
    if (!x)
        abort();
    x->catalog = c;
    pthread_mutex_init(&x->lock, NULL);
    pthread_mutex_init(&x->lf_lock, NULL);
    x->a = arena_create();
    x->iam = iam_new();
    return x;
}

void access_free(Access *x)
{
    if (!x)
        return;
    pthread_mutex_destroy(&x->lock);
    pthread_mutex_destroy(&x->lf_lock);
    arena_destroy(x->a);
    iam_free(x->iam);
    free(x->connection_role);
    free(x);
}

void access_set_bucket_policy(Access *x, AccessBucketPolicy of, void *ctx)
{
    x->bucket_policy = of;
    x->bucket_ctx = ctx;
}

static Str account_arn(Arena *a, const Access *x, const char *who)
{
    return str_fmt(a, "arn:aws:iam::" STR_FMT ":%s", STR_ARG(cat_account(x->catalog)), who);
}

Principal access_root(Arena *a, const Access *x)
{
    return (Principal){ .kind = PR_ROOT, .arn = account_arn(a, x, "root"), .user_id = cat_account(x->catalog) };
}

Str principal_owner(const Principal *p) { return p->role_arn.n ? p->role_arn : p->arn; }

Principal principal_dup(Arena *a, const Principal *p)
{
    return (Principal){ .kind = p->kind, .arn = str_dup(a, p->arn), .role_arn = str_dup(a, p->role_arn), .user_id = str_dup(a, p->user_id), .key_id = str_dup(a, p->key_id),
                        .scope = p->scope ? json_copy(a, p->scope) : NULL, .session = p->session ? json_copy(a, p->session) : NULL, .source_ip = str_dup(a, p->source_ip), .system_relation = p->system_relation };
}

Principal access_system(Arena *a, const Access *x, int64_t relation_id)
{
    return (Principal){ .kind = PR_SYSTEM, .arn = account_arn(a, x, "system"), .system_relation = relation_id };
}

Str access_protected_text(Arena *a, const CatRelation *r, const char *api)
{
    StrBuf b = sb_new(a);
    sb_fmt(&b, "Cannot %s ", api);
    sb_add(&b, cat_display_name(a, r->namespace, r->name));
    sb_addc(&b, ": it is a system-managed materialized view; only firn's own refresh writes it");
    return sb_str(&b);
}

/* ---- what an action is -------------------------------------------------------------------------------------------- */

static bool is_object_action(Action act)
{
    return act == ACT_OBJECT_GET || act == ACT_OBJECT_LIST || act == ACT_OBJECT_PUT || act == ACT_OBJECT_DELETE;
}

static bool is_object_write(Action act) { return act == ACT_OBJECT_PUT || act == ACT_OBJECT_DELETE; }

/* Would change the data, metadata or definition of a relation.  Dropping, scheduling and refreshing do not write it. */
static bool is_relation_write(Action act)
{
    return act == ACT_WRITE_DATA || act == ACT_ALTER || act == ACT_RENAME || act == ACT_REGISTER;
}

static bool is_read_of_rows(Action act) { return act == ACT_READ_DATA || act == ACT_OBJECT_GET; }

/* ---- scopes of sessions ------------------------------------------------------------------------------------------------ */

static bool within(Str uri, Str prefix)
{
    while (prefix.n > 0 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    return str_starts(uri, prefix) && (uri.n == prefix.n || uri.p[prefix.n] == '/');
}

static bool scope_holds(const Json *scope, Str uri)
{
    const Json *prefixes = json_get(scope, "prefixes");
    for (size_t i = 0; i < json_len(prefixes); i++) {
        const Json *p = json_at(prefixes, i);
        if (json_is(p, JSON_STRING) && p->string.n > 0 && within(uri, p->string))
            return true;
    }
    return false;
}

/* A listing shows every key that begins with its prefix, so the prefix itself must end inside the scope. */
static bool scope_holds_listing(const Json *scope, Str uri)
{
    const Json *prefixes = json_get(scope, "prefixes");
    for (size_t i = 0; i < json_len(prefixes); i++) {
        const Json *p = json_at(prefixes, i);
        if (json_is(p, JSON_STRING) && within(uri, p->string) && uri.n > p->string.n - str_ends(p->string, S("/")))
            return true;
    }
    return false;
}

static bool scope_names_bucket(Arena *a, const Json *scope, Str bucket)
{
    const Json *prefixes = json_get(scope, "prefixes");
    for (size_t i = 0; i < json_len(prefixes); i++) {
        const Json *p = json_at(prefixes, i);
        if (json_is(p, JSON_STRING) && within(p->string, str_fmt(a, "s3://" STR_FMT, STR_ARG(bucket))))
            return true;
    }
    return false;
}

static Str object_uri(Arena *a, const Ask *ask)
{
    return str_fmt(a, "s3://" STR_FMT "/" STR_FMT, STR_ARG(ask->bucket), STR_ARG(ask->key));
}

static Status scope_check(Arena *a, const Principal *p, const Ask *ask, Error *err)
{
    bool ok = false;
    Str uri = object_uri(a, ask);

    if (ask->action == ACT_OBJECT_LIST)
        ok = scope_holds_listing(p->scope, uri);
    else if (is_object_action(ask->action))
        ok = scope_holds(p->scope, uri);
    else if (ask->action == ACT_BUCKET_LIST && ask->bucket.n > 0)
        ok = scope_names_bucket(a, p->scope, ask->bucket);
    if (ok)
        return OK;
    return FAIL(err, E_DENIED, "Access denied to %s: this session's credentials are limited to the storage of the table they were vended for", ask->api);
}

static Status scope_write_check(const Principal *p, const Ask *ask, Error *err)
{
    if (!is_object_write(ask->action) || json_get_bool(p->scope, "write", false))
        return OK;
    return FAIL(err, E_DENIED, "Access denied to %s: this session's credentials were vended for reading only", ask->api);
}

/* ---- protection ---------------------------------------------------------------------------------------------------------- */

/* The relation that a question is about: named, or the owner of an object's location. *known false: none. */
static Status subject(Access *x, Arena *a, const Ask *ask, CatRelation *ret, bool *known, Error *err)
{
    *known = false;
    if (ask->relation) {
        *ret = *ask->relation;
        *known = true;
        return OK;
    }
    if (!is_object_action(ask->action) || ask->action == ACT_OBJECT_LIST)
        return OK;
    Status s = cat_relation_by_location(x->catalog, a, object_uri(a, ask), ret, err);
    *known = s == OK;
    return s == E_NOT_FOUND ? OK : s;
}

static Status refuse(Arena *a, const CatRelation *r, const Ask *ask, Error *err)
{
    Status s = FAIL(err, E_PROTECTED, STR_FMT, STR_ARG(access_protected_text(a, r, ask->api)));
    error_hint(err, "Use REFRESH MATERIALIZED VIEW, or DROP MATERIALIZED VIEW and create it again.");
    return s;
}

static Status quarantine_check(const CatRelation *r, const CatMview *v, const Principal *p, Action act, Error *err)
{
    if (v->quarantine.n == 0 || !is_read_of_rows(act) || p->kind == PR_SYSTEM)
        return OK;
    Status s = FAIL(err, E_QUARANTINED, "materialized view " STR_FMT " is quarantined: " STR_FMT, STR_ARG(r->name), STR_ARG(v->quarantine));
    error_hint(err, "REFRESH MATERIALIZED VIEW … FULL computes it anew and ends the quarantine.");
    return s;
}

static Status protection_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *r, Error *err)
{
    CatMview v = {0};

    if (r->kind != REL_MVIEW)
        return OK;
    Status s = cat_mview_get(x->catalog, a, r->id, &v, err);
    if (s == E_NOT_FOUND)                      /* dropped meanwhile */
        return OK;
    TRY(s);
    int own_run = p->kind == PR_SYSTEM && p->system_relation == r->id;
    if (v.managed && !own_run && (is_relation_write(ask->action) || is_object_write(ask->action)))
        return refuse(a, r, ask, err);
    return quarantine_check(r, &v, p, ask->action, err);
}

/* A bucket that is or holds a managed view's storage is not deleted from under it; one that is nothing else is not configured either. */
static Status bucket_check(Access *x, Arena *a, const Ask *ask, Error *err)
{
    CatRelation r = {0};
    CatMview v = {0};
    Str uri = str_fmt(a, "s3://" STR_FMT, STR_ARG(ask->bucket));

    if (ask->action != ACT_BUCKET_DELETE && ask->action != ACT_BUCKET_CONFIG)
        return OK;
    Status s = cat_relation_by_location(x->catalog, a, uri, &r, err);
    if (s == E_NOT_FOUND && ask->action == ACT_BUCKET_DELETE)
        s = cat_relation_below(x->catalog, a, uri, &r, err);
    if (s == E_NOT_FOUND || (s == OK && r.kind != REL_MVIEW))
        return OK;
    TRY(s);
    if (cat_mview_get(x->catalog, a, r.id, &v, err) == OK && v.managed)
        return refuse(a, &r, ask, err);
    return OK;
}

/* ---- the principal's own rights -------------------------------------------------------------------------------------------- */

static Status system_check(const Principal *p, const Ask *ask, const CatRelation *r, Error *err)
{
    if (!is_relation_write(ask->action) && !is_object_write(ask->action) && ask->action != ACT_DROP)
        return OK;
    if (r && r->id == p->system_relation)
        return OK;
    return FAIL(err, E_DENIED, "a refresh run may write its own view only, not for %s", ask->api);
}

Status access_check(Access *x, Arena *a, const Principal *p, const Ask *ask, Error *err)
{
    CatRelation r = {0};
    bool known = false;

    TRY(iam_root_key(x, p, err));
    if (p->scope)
        TRY(scope_check(a, p, ask, err));
    TRY(subject(x, a, ask, &r, &known, err));
    if (known)
        TRY(protection_check(x, a, p, ask, &r, err));
    TRY(bucket_check(x, a, ask, err));
    if (p->scope)
        TRY(scope_write_check(p, ask, err));
    if (p->kind == PR_SYSTEM)
        return system_check(p, ask, known ? &r : NULL, err);
    TRY(rights_check(x, a, p, ask, known ? &r : NULL, err));
    return lf_check(x, a, p, ask, known ? &r : NULL, err);
}
