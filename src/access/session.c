/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - keys and sessions: who signs, and credentials that see one table's storage for a while.
 *
 * A session is a key in the catalog with a token and an end, so it outlives a restart.  Its principal is the one that asked for it:
 * what that principal may not do, the session may not either. */
#include "access/access_int.h"

#include <stdio.h>

static Status no_key(Error *err, const char *kind, const char *message)
{
    Status s = FAIL(err, E_AUTH, "%s", message);
    snprintf(err->kind, sizeof err->kind, "%s", kind);
    return s;
}

static PrincipalKind kind_of(const CatKey *k)
{
    if (str_ends(k->principal, S(":root")))
        return PR_ROOT;
    return str_find(k->principal, S(":user/")) >= 0 ? PR_USER : PR_ROLE;
}

static Status check_token(const CatKey *k, Str token, Error *err)
{
    if (str_eq_const_time(k->token, token))
        return OK;
    return no_key(err, "InvalidToken", "The provided token is malformed or otherwise invalid: it does not belong to this access key.");
}

Status access_by_key(Access *x, Arena *a, Str key_id, Str session_token, Str *secret, Principal *ret, Error *err)
{
    CatKey k = {0};
    Status s = cat_key_get(x->catalog, a, key_id, &k, err);

    if (s == E_NOT_FOUND || (s == OK && !k.active))
        return no_key(err, "InvalidAccessKeyId", "The AWS access key Id you provided does not exist in our records.");
    TRY(s);
    TRY(check_token(&k, session_token, err));
    if (k.expires_ms > 0 && k.expires_ms <= clock_ms())
        return no_key(err, "ExpiredToken", "The provided token has expired.");
    *secret = k.secret;
    *ret = (Principal){ .kind = kind_of(&k), .arn = k.principal, .key_id = k.id, .scope = k.scope };
    return OK;
}

/* ---- vending --------------------------------------------------------------------------------------------------------- */

static Str random_text(Arena *a, const char *alphabet, size_t n)
{
    unsigned char *p = arena_alloc(a, n + 1);
    size_t size = strlen(alphabet);                       /* 32 or 64: no bias */

    rand_bytes(p, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)alphabet[p[i] % size];
    p[n] = 0;
    return str_n((char *)p, n);
}

static Json *scope_of(Arena *a, const StrVec *prefixes, int write_too)
{
    Json *scope = json_object(a), *list = json_array(a);
    for vec_each(Str, p, prefixes)
        json_push(a, list, json_str(a, *p));
    json_set(a, scope, "prefixes", list);
    json_set(a, scope, "write", json_bool(a, write_too != 0));
    return scope;
}

static CatKey new_session(Arena *a, const Principal *p, Json *scope, int64_t seconds)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const char mixed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    int64_t now = clock_ms();

    return (CatKey){ .id = str_cat(a, S("ASIA"), random_text(a, upper, 16)), .secret = random_text(a, mixed, 40),
                     .token = random_text(a, mixed, 64), .principal = str_dup(a, p->arn), .created_ms = now,
                     .expires_ms = now + seconds * 1000, .scope = scope, .active = 1 };
}

static Str remembered(Access *x, Arena *a, Str ask)
{
    pthread_mutex_lock(&x->lock);
    const Vended *v = map_get(&x->vended, ask);
    Str id = v ? str_dup(a, v->key_id) : (Str){0};
    pthread_mutex_unlock(&x->lock);
    return id;
}

static void forget_all(Access *x)
{
    arena_destroy(x->a);
    x->a = arena_create();
    x->vended = map_new(x->a);
}

static void remember(Access *x, Str ask, Str key_id)
{
    pthread_mutex_lock(&x->lock);
    if (!x->vended.a || x->vended.n >= VENDED_MAX || arena_used(x->a) > (8u << 20))
        forget_all(x);
    Vended *v = arena_new(x->a, Vended);
    v->key_id = str_dup(x->a, key_id);
    map_put(&x->vended, map_has(&x->vended, ask) ? ask : str_dup(x->a, ask), v);
    pthread_mutex_unlock(&x->lock);
}

static bool still_good(Access *x, Arena *a, Str id, int64_t seconds, CatKey *ret)
{
    Error err;
    return id.n > 0 && cat_key_get(x->catalog, a, id, ret, &err) == OK && ret->active
        && ret->expires_ms > clock_ms() + seconds * 500;
}

/* The catalog does not fill with sessions that have ended. */
static void sweep(Access *x)
{
    Error ignored;
    int64_t now = clock_ms();

    pthread_mutex_lock(&x->lock);
    bool due = now - x->swept_ms > SWEEP_MS;
    if (due)
        x->swept_ms = now;
    pthread_mutex_unlock(&x->lock);
    if (due)
        (void)!cat_key_expire(x->catalog, now, &ignored);
}

Status access_vend(Access *x, Arena *a, const Principal *p, const StrVec *prefixes, int write_too, int64_t seconds, CatKey *ret, Error *err)
{
    if (p->scope)
        return FAIL(err, E_DENIED, "a session with limited credentials cannot vend others");
    if (prefixes->n == 0 || prefixes->n > PREFIXES_MAX)
        return FAIL(err, E_LIMIT, "credentials are vended for 1 to %d prefixes", PREFIXES_MAX);
    if (seconds < 1 || seconds > VEND_SECONDS_MAX)
        return FAIL(err, E_INVALID, "credentials are vended for 1 to %d seconds", VEND_SECONDS_MAX);
    Json *scope = scope_of(a, prefixes, write_too);
    Str ask = str_fmt(a, STR_FMT " %lld " STR_FMT, STR_ARG(p->arn), (long long)seconds, STR_ARG(json_text(a, scope)));
    if (still_good(x, a, remembered(x, a, ask), seconds, ret))
        return OK;
    sweep(x);
    CatKey k = new_session(a, p, scope, seconds);
    TRY(cat_key_put(x->catalog, &k, err));
    remember(x, ask, k.id);
    *ret = k;
    return OK;
}
