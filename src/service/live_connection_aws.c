/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_aws.c - AWS connections: endpoint, region, keys that stay fresh, the handshake with a role, and what mz_aws_connections says of it.
 *
 * A role is taken in two steps (spec/materialize.md 1.2): firn's own role first (its principal; AWS sees it as who asks), then the user's, with an external id that
 * belongs to this connection alone.  Who takes the first role: the key that the configuration or the environment gives; without one firn's own IAM, in process, so
 * the endpoint must then be a firn that knows this role - this server.  External id: mz_<environment>_u<connection>, a function of both.
 * Invariants: (1) keys are given out with KEYS_AHEAD_MS of life left, or are new; (2) what is remembered is forgotten when the connection's options or a secret change:
 * it is kept under a hash of all that went into it; (3) no key is ever in a message. */
#include "access/iam.h"
#include "service/live_connection_int.h"

static Status external_id(Service *s, Arena *a, int64_t id, Str *ret, Error *err)
{
    Str env;

    TRY(connection_environment(s, a, &env, err));
    *ret = str_fmt(a, "mz_" STR_FMT "_u%lld", STR_ARG(env), (long long)id);
    return OK;
}

/* ---- options ----------------------------------------------------------------------------------------------------------------------------------------------- */

static const Json *options_of(const Object *aws) { return json_get(aws->detail, "options"); }

Str conn_endpoint(Service *s, Arena *a, const Object *aws)
{
    Str own = conn_text(options_of(aws), "ENDPOINT"), e = own.n ? own : s->options.aws_endpoint;

    if (str_ieq(e, S("own")) && !service_lake_url(s, a, CONNECTION_DOORS_MS, &e))
        return S("http://localhost:0");               /* nobody answers: an error of connecting says so */
    if (!e.n || str_find(e, S("://")) >= 0)
        return e;
    return str_fmt(a, "http://" STR_FMT, STR_ARG(e));
}

Str conn_region(Service *s, const Object *aws)
{
    Str r = conn_text(options_of(aws), "REGION");
    return r.n ? r : cat_region(s->catalog);
}

/* ---- the handshake -------------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct Handshake {
    Service *s;
    Arena *a;
    const Object *aws;
    Str endpoint, region, role, session, external;
    RemoteSts jump;                    /* STS, with the keys of firn's own role */
} Handshake;

/* Keys that this server gave out are its own principals', not those of a cloud. */
static bool ambient(const Handshake *h)
{
    const ServiceOptions *o = &h->s->options;
    CatKey k;
    Error none;

    return o->aws_key.n && cat_key_get(h->s->catalog, h->a, o->aws_key, &k, &none) == E_NOT_FOUND;
}

static Status jump_elsewhere(Handshake *h, Error *err)
{
    const ServiceOptions *o = &h->s->options;
    RemoteSts sts = { .endpoint = h->endpoint, .region = h->region, .keys = { o->aws_key, o->aws_secret, o->aws_token }, .timeout_ms = CONNECTION_CHECK_MS };
    RemoteRole r;

    if (!o->aws_role.n) {
        RAISE(err, E_INVALID, "internal error: no AWS connection role configured");
        error_hint(err, "Set aws.connection_role_arn to the role that firn's own key (aws.access_key_id) may assume.");
        return E_INVALID;
    }
    TRY_CTX(remote_assume_role(&sts, h->a, o->aws_role, h->session, (Str){0}, &r, err), err, "firn's own role");
    h->jump = (RemoteSts){ .endpoint = h->endpoint, .region = h->region, .keys = r.keys, .timeout_ms = CONNECTION_CHECK_MS };
    return OK;
}

static Status jump_here(Handshake *h, Error *err)
{
    Str role = iam_connection_role(h->s->access, h->a);
    CatKey k;

    if (!h->endpoint.n) {
        RAISE(err, E_INVALID, "internal error: no AWS connection role configured");
        error_hint(err, "AWS itself needs a key of firn's own (aws.access_key_id, aws.secret_access_key, aws.connection_role_arn); for this server's IAM and S3 Tables name its address as ENDPOINT, or set aws.endpoint = own.");
        return E_INVALID;
    }
    TRY_CTX(iam_assume_service_key(h->s->access, h->a, role, IAM_CONNECTION_SERVICE, h->session, 3600, &k, err), err, "taking firn's own role " STR_FMT, STR_ARG(role));
    h->jump = (RemoteSts){ .endpoint = h->endpoint, .region = h->region, .keys = { k.id, k.secret, k.token }, .timeout_ms = CONNECTION_CHECK_MS };
    return OK;
}

static Status begin(Service *s, Arena *a, const Object *aws, Handshake *h, Error *err)
{
    Str env;

    *h = (Handshake){ .s = s, .a = a, .aws = aws, .endpoint = conn_endpoint(s, a, aws), .region = conn_region(s, aws), .role = conn_text(options_of(aws), "ASSUME ROLE ARN"),
                      .session = conn_text(options_of(aws), "ASSUME ROLE SESSION NAME") };
    TRY(connection_environment(s, a, &env, err));
    TRY(external_id(s, a, aws->id, &h->external, err));
    if (!h->session.n)
        h->session = str_fmt(a, STR_FMT "-u%lld", STR_ARG(env), (long long)aws->id);
    return ambient(h) ? jump_elsewhere(h, err) : jump_here(h, err);
}

static Status take_role(Handshake *h, RemoteRole *ret, Error *err)
{
    Status st = remote_assume_role(&h->jump, h->a, h->role, h->session, h->external, ret, err);

    if (st == OK)
        return OK;
    if (st == E_DENIED || st == E_AUTH)
        error_hint(err, "The role's trust policy must name the principal and the external ID of this connection: SELECT example_trust_policy FROM mz_internal.mz_aws_connections WHERE id = 'u%lld'.", (long long)h->aws->id);
    return st;
}

/* ---- keys --------------------------------------------------------------------------------------------------------------------------------------------------------- */

static Status own_keys(Service *s, Arena *a, const Object *aws, AwsKeys *ret, Error *err)
{
    const Json *o = options_of(aws);

    *ret = (AwsKeys){0};
    TRY(conn_text_or_secret(s, a, o, "ACCESS KEY ID", "access key ID", &ret->access_key, err));
    TRY(conn_text_or_secret(s, a, o, "SECRET ACCESS KEY", "secret access key", &ret->secret_key, err));
    return conn_text_or_secret(s, a, o, "SESSION TOKEN", "session token", &ret->session_token, err);
}

/* All that the keys were made from. */
static Str stamp_of(Service *s, Arena *a, const Object *aws)
{
    return str_fmt(a, STR_FMT "|" STR_FMT, STR_ARG(json_text(a, options_of(aws))), STR_ARG(conn_endpoint(s, a, aws)));
}

static Str key_of(Arena *a, int64_t id) { return str_fmt(a, "%lld", (long long)id); }

static bool remembered(struct Connections *c, Arena *a, Str id, Str stamp, AwsKeys *ret)
{
    pthread_mutex_lock(&c->lock);
    const Taken *t = map_get(&c->taken, id);
    bool good = t && str_eq(t->stamp, stamp) && t->expires_ms > clock_ms() + KEYS_AHEAD_MS;
    if (good)
        *ret = (AwsKeys){ str_dup(a, t->keys.access_key), str_dup(a, t->keys.secret_key), str_dup(a, t->keys.session_token) };
    pthread_mutex_unlock(&c->lock);
    return good;
}

enum { KEYS_BYTES = 1 << 20 };

static void remember(struct Connections *c, Str id, Str stamp, const RemoteRole *r)
{
    pthread_mutex_lock(&c->lock);
    if (arena_used(c->keys_arena) > KEYS_BYTES)
        conn_forget_keys(c);
    Arena *a = c->keys_arena;
    Taken *t = arena_new(a, Taken);
    *t = (Taken){ .stamp = str_dup(a, stamp), .expires_ms = r->expires_ms,
                  .keys = { str_dup(a, r->keys.access_key), str_dup(a, r->keys.secret_key), str_dup(a, r->keys.session_token) } };
    map_put(&c->taken, map_has(&c->taken, id) ? id : str_dup(a, id), t);
    pthread_mutex_unlock(&c->lock);
}

Status conn_keys(Service *s, Arena *a, const Object *aws, AwsKeys *ret, Error *err)
{
    Str id = key_of(a, aws->id), stamp = stamp_of(s, a, aws);
    Handshake h;
    RemoteRole r;

    if (!conn_has(options_of(aws), "ASSUME ROLE ARN"))
        return own_keys(s, a, aws, ret, err);
    if (remembered(s->connections, a, id, stamp, ret))
        return OK;
    TRY(begin(s, a, aws, &h, err));
    TRY(take_role(&h, &r, err));
    remember(s->connections, id, stamp, &r);
    *ret = r.keys;
    return OK;
}

Status connection_keys(Service *s, Arena *a, int64_t connection, AwsKeys *ret, Error *err)
{
    Object o;

    TRY(conn_get(s, a, connection, &o, err));
    if (!str_eq(o.type, S("aws")))
        return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not an AWS connection", STR_ARG(live_full(a, &o)));
    return conn_keys(s, a, &o, ret, err);
}

static Status ask_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    const KeySource *k = ctx;
    return connection_keys(k->s, a, k->id, ret, err);
}

RemoteKeys conn_key_source(Service *s, int64_t aws)
{
    struct Connections *c = s->connections;

    pthread_mutex_lock(&c->lock);
    Str id = key_of(c->a, aws);
    KeySource *k = map_get(&c->sources, id);
    if (!k) {
        k = arena_new(c->a, KeySource);
        *k = (KeySource){ s, aws };
        map_put(&c->sources, id, k);
    }
    pthread_mutex_unlock(&c->lock);
    return (RemoteKeys){ .ctx = k, .get = ask_keys };
}

/* ---- its object store ------------------------------------------------------------------------------------------------------------------------------------------- */

static Status store_keys(void *ctx, Arena *a, Str bucket UNUSED, Str key UNUSED, AwsKeys *ret, Error *err) { return ask_keys(ctx, a, ret, err); }

Status connection_open_store(Service *s, int64_t connection, StoreCache *cache, Store **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AwsKeys ignored;
    Object aws;

    TRY(conn_get(s, a, connection, &aws, err));
    TRY(conn_keys(s, a, &aws, &ignored, err));             /* what is wrong with the role is said as such */
    StoreS3Options o = { .endpoint = conn_endpoint(s, a, &aws), .region = conn_region(s, &aws), .ctx = conn_key_source(s, connection).ctx, .keys = store_keys, .cache = cache };
    o.path_style = o.endpoint.n > 0;
    return store_open_s3(&o, ret, err);
}

/* ---- VALIDATE ------------------------------------------------------------------------------------------------------------------------------------------------------- */

static Status caller(Service *s, Arena *a, const Object *aws, const AwsKeys *keys, Error *err)
{
    RemoteSts sts = { .endpoint = conn_endpoint(s, a, aws), .region = conn_region(s, aws), .keys = *keys, .timeout_ms = CONNECTION_CHECK_MS };
    Str arn;

    return remote_caller(&sts, a, &arn, err);
}

/* Whoever may assume the role without the external id may be sent by any other connection. */
static Status needs_external_id(Handshake *h, Error *err)
{
    RemoteRole r;
    Error refused;
    Status st = remote_assume_role(&h->jump, h->a, h->role, h->session, (Str){0}, &r, &refused);

    if (st == E_DENIED || st == E_AUTH)
        return OK;
    if (st != OK) {
        *err = refused;
        return error_context(err, "without external ID");
    }
    RAISE(err, E_INVALID, "role trust policy does not require an external ID");
    error_detail(err, "The trust policy for the connection's role (" STR_FMT ") is insecure and allows any Materialize customer to assume the role.", STR_ARG(h->role));
    error_hint(err, "Update the trust policy for the connection's role to require the external ID: SELECT example_trust_policy FROM mz_internal.mz_aws_connections WHERE id = 'u%lld'.", (long long)h->aws->id);
    return E_INVALID;
}

Status conn_validate_aws(Service *s, Arena *a, const Object *o, Error *err)
{
    Handshake h;
    AwsKeys keys;
    RemoteRole r;

    if (!conn_has(options_of(o), "ASSUME ROLE ARN")) {
        TRY(own_keys(s, a, o, &keys, err));
        return caller(s, a, o, &keys, err);
    }
    TRY(begin(s, a, o, &h, err));
    TRY(take_role(&h, &r, err));
    TRY(caller(s, a, o, &r.keys, err));
    return needs_external_id(&h, err);
}

/* ---- mz_aws_connections ------------------------------------------------------------------------------------------------------------------------------------------------ */

static Json *pair(Arena *a, const char *key, Json *v)
{
    Json *j = json_object(a);
    json_set(a, j, key, v);
    return j;
}

static Str trust_policy(Arena *a, Str principal, Str external)
{
    Json *doc = json_object(a), *st = json_object(a), *list = json_array(a);

    json_set(a, st, "Action", json_str(a, S("sts:AssumeRole")));
    json_set(a, st, "Condition", pair(a, "StringEquals", pair(a, "sts:ExternalId", json_str(a, external))));
    json_set(a, st, "Effect", json_str(a, S("Allow")));
    json_set(a, st, "Principal", pair(a, "AWS", json_str(a, principal)));
    json_push(a, list, st);
    json_set(a, doc, "Statement", list);
    json_set(a, doc, "Version", json_str(a, S("2012-10-17")));
    return json_text(a, doc);
}

static Status describe(Service *s, Arena *a, const Object *o, AwsConnection *ret, Error *err)
{
    const Json *v = options_of(o);

    *ret = (AwsConnection){ .id = o->id, .endpoint = conn_text(v, "ENDPOINT"), .region = conn_text(v, "REGION"), .access_key_id = conn_text(v, "ACCESS KEY ID"),
                            .access_key_id_secret = conn_secret(v, "ACCESS KEY ID"), .secret_access_key_secret = conn_secret(v, "SECRET ACCESS KEY"),
                            .session_token = conn_text(v, "SESSION TOKEN"), .session_token_secret = conn_secret(v, "SESSION TOKEN"), .role_arn = conn_text(v, "ASSUME ROLE ARN"),
                            .session_name = conn_text(v, "ASSUME ROLE SESSION NAME") };
    if (!ret->role_arn.n)
        return OK;
    ret->principal = iam_connection_role(s->access, a);
    TRY(external_id(s, a, o->id, &ret->external_id, err));
    ret->example_trust_policy = trust_policy(a, ret->principal, ret->external_id);
    return OK;
}

Status connection_list_aws(Service *s, Arena *a, AwsConnections *ret, Error *err)
{
    ObjectVec all = {0};

    objects_list(s->objects, a, &all);
    for (size_t i = 0; i < all.n; i++) {
        AwsConnection c;
        if (all.p[i].kind != OBJ_CONNECTION || !str_eq(all.p[i].type, S("aws")))
            continue;
        TRY(describe(s, a, &all.p[i], &c, err));
        vec_push(a, ret, c);
    }
    return OK;
}
