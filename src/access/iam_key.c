/* SPDX-License-Identifier: Apache-2.0 */
/* iam_key.c - access keys of users and of the root, and when keys and roles were last used.
 *
 * A last use is kept in memory and written when the one on disk is a quarter of an hour old: a request costs no durable write. */
#include "access/iam_int.h"

typedef struct Used { int64_t ms, written_ms; char service[32], region[32]; } Used;

Status iam_key_create(Access *x, Arena *a, Str principal_arn, CatKey *ret, Error *err)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const char mixed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    *ret = (CatKey){ .id = str_cat(a, S("AKIA"), session_random(a, upper, 16)), .secret = session_random(a, mixed, 40), .principal = principal_arn,
                     .created_ms = clock_ms(), .active = 1 };
    TRY(cat_key_put(x->catalog, ret, err));
    iam_forget(x);
    return OK;
}

Status iam_key_activate(Access *x, Str id, int active, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatKey k = {0};

    TRY(cat_key_get(x->catalog, a, id, &k, err));
    k.active = active;
    TRY(cat_key_put(x->catalog, &k, err));
    iam_forget(x);
    return OK;
}

Status iam_key_delete(Access *x, Str id, Error *err)
{
    TRY(cat_key_delete(x->catalog, id, err));
    iam_forget(x);
    return OK;
}

Status iam_key_move(Access *x, Str id, Str principal_arn, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatKey k = {0};

    TRY(cat_key_get(x->catalog, a, id, &k, err));
    k.principal = principal_arn;
    TRY(cat_key_put(x->catalog, &k, err));
    iam_forget(x);
    return OK;
}

/* ---- last use --------------------------------------------------------------------------------------------------------------- */

static void copy(char *to, size_t size, Str s)
{
    size_t n = min_size(s.n, size - 1);
    memcpy(to, s.p ? s.p : "", n);
    to[n] = 0;
}

static Used *used_of(Iam *i, Str what)
{
    Used *u = map_get(&i->used, what);
    if (u)
        return u;
    if (i->used.n >= USED_MAX) {
        arena_destroy(i->used_arena);
        i->used_arena = arena_create();
        i->used = map_new(i->used_arena);
    }
    u = arena_new(i->used_arena, Used);
    map_put(&i->used, str_dup(i->used_arena, what), u);
    return u;
}

static bool note(Iam *i, Str what, Str service, Str region)
{
    pthread_mutex_lock(&i->lock);
    Used *u = used_of(i, what);
    u->ms = clock_ms();
    copy(u->service, sizeof u->service, service);
    copy(u->region, sizeof u->region, region);
    bool due = u->ms - u->written_ms > USED_FLUSH_MS;
    if (due)
        u->written_ms = u->ms;
    pthread_mutex_unlock(&i->lock);
    return due;
}

void iam_used(Access *x, const Principal *p, Str service, Str region)
{
    CLEANUP(arena_destroyp) Arena *a = NULL;
    Str what = p->kind == PR_ROLE ? json_get_str(p->session, "role_id", (Str){0}) : p->key_id;
    Error ignored;

    if (!what.n || p->scope || (p->kind != PR_ROLE && !str_starts(what, S("AKIA"))) || !note(x->iam, what, service, region))
        return;
    a = arena_create();
    Json *o = json_object(a);
    json_set(a, o, "ms", json_int(a, clock_ms()));
    json_set(a, o, "service", json_str(a, service));
    json_set(a, o, "region", json_str(a, region));
    CatChange ch = { .kind = CH_DOC, .doc_kind = S("iam.used"), .doc_key = what, .doc = o };
    (void)!cat_commit(x->catalog, &ch, 1, &ignored);
}

static bool remembered(Iam *i, Arena *a, Str what, IamUsed *ret)
{
    pthread_mutex_lock(&i->lock);
    const Used *u = map_get(&i->used, what);
    if (u)
        *ret = (IamUsed){ .ms = u->ms, .service = str_dup(a, str_c(u->service)), .region = str_dup(a, str_c(u->region)) };
    pthread_mutex_unlock(&i->lock);
    return u != NULL;
}

Status iam_last_used(Access *x, Arena *a, Str what, IamUsed *ret, Error *err)
{
    Json *o;

    *ret = (IamUsed){0};
    if (remembered(x->iam, a, what, ret))
        return OK;
    Status s = cat_doc_get(x->catalog, a, S("iam.used"), what, &o, err);
    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    *ret = (IamUsed){ .ms = json_get_int(o, "ms", 0), .service = json_get_str(o, "service", (Str){0}), .region = json_get_str(o, "region", (Str){0}) };
    return OK;
}
