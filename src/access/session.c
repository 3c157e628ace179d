/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - keys and sessions: who signs, and credentials that see one table's storage for a while.
 *
 * A session is a key in the catalog with a token and an end, so it outlives a restart.  Its principal is the one that asked for it:
 * what that principal may not do, the session may not either. */
#include "access/iam_int.h"

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
    return str_find(k->principal, S(":assumed-role/")) >= 0 ? PR_ROLE : PR_USER;
}

static Status check_token(const CatKey *k, Str token, Error *err)
{
    if (str_eq_const_time(k->token, token))
        return OK;
    return no_key(err, "InvalidToken", "The provided token is malformed or otherwise invalid: it does not belong to this access key.");
}

static void fill(Arena *a, const CatKey *k, Principal *ret)
{
    *ret = (Principal){ .kind = kind_of(k), .arn = k->principal, .key_id = k->id, .session = json_get(k->scope, "session") };
    if (json_get(k->scope, "prefixes"))
        ret->scope = k->scope;
    ret->role_arn = json_get_str(ret->session, "role_arn", (Str){0});
    if (ret->kind == PR_ROLE)
        ret->user_id = str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(json_get_str(ret->session, "role_id", (Str){0})), STR_ARG(json_get_str(ret->session, "name", (Str){0})));
    else if (ret->kind == PR_ROOT)
        ret->user_id = iam_account_of(ret->arn);
    else if (str_find(ret->arn, S(":federated-user/")) >= 0)
        ret->user_id = str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(iam_account_of(ret->arn)), STR_ARG(iam_name_of(ret->arn)));
}

/* Keys of a user or role that is gone are as if they did not exist. A user's id is read with it. */
static Status still_there(Access *x, Arena *a, Principal *p, Error *err)
{
    const char *why;
    Str issuer = json_get_str(p->session, "issuer", p->arn);
    Entity *e = NULL;

    if (p->kind == PR_ROOT || str_ends(issuer, S(":root")))
        return OK;
    pthread_mutex_lock(&x->iam->lock);
    Status s = iam_entity(x, p->kind == PR_ROLE ? IAM_ROLE : IAM_USER, iam_name_of(p->kind == PR_ROLE ? p->role_arn : issuer), &e, err);
    bool over = s == OK && iam_session_over(p, e, &why);
    if (s == OK && p->kind == PR_USER && !p->user_id.n)
        p->user_id = str_dup(a, e->id);
    pthread_mutex_unlock(&x->iam->lock);
    TRY(s);
    if (over)
        return no_key(err, "InvalidAccessKeyId", "The security token included in the request is invalid: its user or role no longer exists.");
    return OK;
}

static Status by_key(Access *x, Arena *a, Str key_id, const Str *session_token, Str *secret, Principal *ret, Error *err)
{
    CatKey k = {0};
    Status s = cat_key_get(x->catalog, a, key_id, &k, err);

    if (s == E_NOT_FOUND || (s == OK && !k.active))
        return no_key(err, "InvalidAccessKeyId", "The AWS access key Id you provided does not exist in our records.");
    TRY(s);
    if (session_token)
        TRY(check_token(&k, *session_token, err));
    if (k.expires_ms > 0 && k.expires_ms <= clock_ms())
        return no_key(err, "ExpiredToken", "The provided token has expired.");
    *secret = k.secret;
    fill(a, &k, ret);
    return still_there(x, a, ret, err);
}

Status access_by_key(Access *x, Arena *a, Str key_id, Str session_token, Str *secret, Principal *ret, Error *err)
{
    return by_key(x, a, key_id, &session_token, secret, ret, err);
}

Status access_by_key_alone(Access *x, Arena *a, Str key_id, Str *secret, Principal *ret, Error *err)
{
    return by_key(x, a, key_id, NULL, secret, ret, err);
}

Json *principal_scope(Arena *a, const Principal *p)
{
    Json *scope = p->scope ? json_copy(a, p->scope) : json_object(a);
    if (p->session)
        json_set(a, scope, "session", p->session);
    return json_len(scope) ? scope : NULL;
}

/* ---- vending --------------------------------------------------------------------------------------------------------- */

Str session_random(Arena *a, const char *alphabet, size_t n)
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

CatKey session_key(Arena *a, Str principal, Json *scope, int64_t seconds)
{
    static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const char mixed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    int64_t now = clock_ms();

    return (CatKey){ .id = str_cat(a, S("ASIA"), session_random(a, upper, 16)), .secret = session_random(a, mixed, 40),
                     .token = session_random(a, mixed, 64), .principal = str_dup(a, principal), .created_ms = now,
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
    if (p->session)
        json_set(a, scope, "session", p->session);
    Str ask = str_fmt(a, STR_FMT " %lld " STR_FMT, STR_ARG(p->arn), (long long)seconds, STR_ARG(json_text(a, scope)));
    if (still_good(x, a, remembered(x, a, ask), seconds, ret))
        return OK;
    sweep(x);
    CatKey k = session_key(a, p->arn, scope, seconds);
    TRY(cat_key_put(x->catalog, &k, err));
    remember(x, ask, k.id);
    *ret = k;
    return OK;
}
