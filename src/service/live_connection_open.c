/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_open.c - connections used: Iceberg catalogs opened, options handed to connectors with their secrets, and both tried.
 *
 * Secrets are read here, for the one call that needs them.  What comes back from outside may repeat what was sent: a secret is taken out of every message before it
 * goes up. */
#include "service/live_connection_int.h"
#include "source/source.h"

#include <stdio.h>

Status conn_get(Service *s, Arena *a, int64_t id, Object *ret, Error *err)
{
    TRY(objects_get(s->objects, a, id, ret, err));
    return ret->kind == OBJ_CONNECTION ? OK : FAIL(err, E_INVALID, "\"" STR_FMT "\" is not a connection", STR_ARG(ret->name));
}

/* ---- secrets --------------------------------------------------------------------------------------------------------------------------------------------- */

Status conn_secret_text(Service *s, Arena *a, int64_t id, const char *what, Str *ret, Error *err)
{
    Error why;

    if (live_secret_text(s, a, id, ret, &why) == OK)
        return OK;
    log_error(&why, "secret cannot be read", NULL);
    return FAIL(err, E_INTERNAL, "internal error: failed to read %s from secret store", what);
}

Status conn_text_or_secret(Service *s, Arena *a, const Json *options, const char *name, const char *what, Str *ret, Error *err)
{
    int64_t secret = conn_secret(options, name);

    *ret = conn_text(options, name);
    return secret ? conn_secret_text(s, a, secret, what, ret, err) : OK;
}

static void blot(char *text, Str secret)
{
    Str rest = str_c(text);
    ptrdiff_t at;

    while ((at = str_find(rest, secret)) >= 0) {
        char *p = text + (rest.p - text) + at;
        memset(p, '*', secret.n);
        rest = str_c(p + secret.n);
    }
}

enum { BLOT_MIN = 6 };                 /* shorter texts stand in messages by chance */

/* As it is, and as a form or a URL carries it. */
static void blot_error(Arena *a, Error *err, Str secret)
{
    const Str ways[] = { secret, url_encode(a, secret, 0) };

    if (secret.n < BLOT_MIN)
        return;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        blot(err->message, ways[i]);
        blot(err->detail, ways[i]);
        blot(err->hint, ways[i]);
    }
}

/* Every secret that the connection's options name, and what follows the colon of an id:secret. */
static void hide_secrets(Service *s, Arena *a, const Object *o, Error *err)
{
    const Json *options = json_get(o->detail, "options");

    for (size_t i = 0; i < json_len(options); i++) {
        int64_t id = json_get_int(options->object.p[i].value, "secret", 0);
        bool credential = str_eq(options->object.p[i].key, S("CREDENTIAL"));
        Str text = json_get_str(options->object.p[i].value, "text", (Str){0}), head, tail;
        Error none;
        if (id && live_secret_text(s, a, id, &text, &none) != OK)
            continue;
        if (!id && !credential)
            continue;
        blot_error(a, err, text);
        if (credential && str_cut(text, ':', &head, &tail))
            blot_error(a, err, tail);
    }
}

/* ---- Iceberg catalogs --------------------------------------------------------------------------------------------------------------------------------------- */

static Status aws_part(Service *s, Arena *a, int64_t id, RemoteOptions *o, Error *err)
{
    Object aws;
    AwsKeys ignored;

    TRY(conn_get(s, a, id, &aws, err));
    o->endpoint = conn_endpoint(s, a, &aws);
    o->region = conn_region(s, &aws);
    o->keys = conn_key_source(s, id);
    return conn_keys(s, a, &aws, &ignored, err);           /* what is wrong with the role is said as such, not as a failed request */
}

static Status gcp_part(Service *s, Arena *a, int64_t id, RemoteOptions *o, Error *err)
{
    Object gcp;

    TRY(conn_get(s, a, id, &gcp, err));
    return conn_text_or_secret(s, a, json_get(gcp.detail, "options"), "SERVICE ACCOUNT KEY", "service account key", &o->google_key, err);
}

/* Of a REST catalog only the object store is AWS's, and there the catalog's own word counts for more. */
static void storage_at(Arena *a, RemoteOptions *o)
{
    if (o->endpoint.n) {
        props_set(a, &o->storage, S("s3.endpoint"), o->endpoint);
        props_set(a, &o->storage, S("s3.path-style-access"), S("true"));
    }
    o->endpoint = (Str){0};
}

static Status open_options(Service *s, Arena *a, const Object *o, int64_t aws, RemoteOptions *ret, Error *err)
{
    const Json *v = json_get(o->detail, "options");
    Str type = conn_text(v, "CATALOG TYPE");
    int64_t own = conn_object(v, "AWS CONNECTION");

    *ret = (RemoteOptions){ .kind = str_eq(type, S("rest")) ? REMOTE_REST : str_eq(type, S("glue")) ? REMOTE_GLUE : REMOTE_S3TABLES, .url = conn_text(v, "URL"),
                            .warehouse = conn_text(v, "WAREHOUSE"), .scope = conn_text(v, "SCOPE"), .oauth2_url = conn_text(v, "OAUTH2 SERVER URL"), .region = cat_region(s->catalog) };
    if (ret->kind == REMOTE_REST)
        ret->delegation = str_ieq(conn_text(v, "ACCESS DELEGATION"), S("remote-signing")) ? REMOTE_SIGNING : REMOTE_VENDED;
    ret->sign_name = conn_text(v, "SIGNING NAME");
    ret->sign_region = conn_text(v, "SIGNING REGION");
    if (own || aws)
        TRY(aws_part(s, a, own ? own : aws, ret, err));
    if (ret->kind == REMOTE_REST)
        storage_at(a, ret);
    if (conn_has(v, "GCP CONNECTION"))
        TRY(gcp_part(s, a, conn_object(v, "GCP CONNECTION"), ret, err));
    TRY(conn_text_or_secret(s, a, v, "CREDENTIAL", "credential", &ret->credential, err));
    return conn_text_or_secret(s, a, v, "BEARER TOKEN", "bearer token", &ret->bearer, err);
}

/* Whoever asks at the server's start waits for its own doors: the catalog may be this very server. A tool that only looks at the folder has none, and must not write elsewhere. */
static Status open_catalog(Service *s, Arena *a, const Object *o, int64_t aws, int timeout_ms, RemoteCatalog **ret, Error *err)
{
    RemoteOptions ro;
    Str ignored;

    if (!service_lake_url(s, a, CONNECTION_DOORS_MS, &ignored))
        return FAIL(err, E_UNAVAILABLE, "the doors of this server are not open");
    TRY(open_options(s, a, o, aws, &ro, err));
    ro.timeout_ms = timeout_ms;
    ro.dir = str_fmt(a, STR_FMT "/remote", STR_ARG(s->options.dir));
    return remote_open(&ro, ret, err);
}

Status connection_open_catalog_with(Service *s, int64_t connection, int64_t aws, RemoteCatalog **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Object o;

    TRY(conn_get(s, a, connection, &o, err));
    if (!str_eq(o.type, S("iceberg-catalog")))
        return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not an iceberg catalog connection", STR_ARG(live_full(a, &o)));
    Status st = open_catalog(s, a, &o, aws, 0, ret, err);
    if (st != OK) {
        hide_secrets(s, a, &o, err);
        error_context(err, "failed to connect to catalog");
    }
    return st;
}

Status connection_open_catalog(Service *s, int64_t connection, RemoteCatalog **ret, Error *err)
{
    return connection_open_catalog_with(s, connection, 0, ret, err);
}

Status conn_validate_iceberg(Service *s, Arena *a, const Object *o, Error *err)
{
    CLEANUP(remote_closep) RemoteCatalog *c = NULL;
    RemoteNamespaces all = {0};
    const char *what = "failed to connect to catalog";

    Status st = open_catalog(s, a, o, 0, CONNECTION_CHECK_MS, &c, err);
    if (st == OK) {
        what = "failed to list namespaces";
        st = remote_namespaces(c, a, &all, err);
    }
    if (st != OK) {
        hide_secrets(s, a, o, err);
        error_context(err, "%s", what);
    }
    return st;
}

/* ---- connectors ------------------------------------------------------------------------------------------------------------------------------------------------ */

static Status plain(Service *s, Arena *a, Str name, const Json *v, Json **ret, Error *err)
{
    int64_t secret = json_get_int(v, "secret", 0), object = json_get_int(v, "object", 0), n;
    Str text = json_get_str(v, "text", (Str){0});

    if (object)
        return connection_options(s, a, object, ret, err);
    if (secret)
        TRY(conn_secret_text(s, a, secret, str_z(a, str_lower(a, name)), &text, err));
    if (json_get(v, "list"))
        *ret = json_get(v, "list");
    else if (str_to_i64(json_get_str(v, "number", (Str){0}), &n))
        *ret = json_int(a, n);
    else
        *ret = json_str(a, text);
    return OK;
}

/* Names and values that connectors know by another word. */
static void translate(Arena *a, Json *o)
{
    const Json *broker = json_get(o, "broker");

    if (json_get(o, "user"))
        json_set(a, o, "username", json_get(o, "user"));
    if (str_eq(json_get_str(o, "ssl mode", (Str){0}), S("required")))
        json_set(a, o, "ssl mode", json_str(a, S("require")));
    if (json_len(broker)) {
        json_set(a, o, "brokers", json_copy(a, broker));
        json_set(a, o, "broker", json_copy(a, json_at(broker, 0)));
    }
}

static Status options_of(Service *s, Arena *a, const Object *o, Json **ret, Error *err)
{
    const Json *options = json_get(o->detail, "options");

    *ret = json_object(a);
    json_set(a, *ret, "type", json_str(a, o->type));
    for (size_t i = 0; i < json_len(options); i++) {
        const JsonMember *m = &options->object.p[i];
        Json *v;
        TRY(plain(s, a, m->key, m->value, &v, err));
        json_set_s(a, *ret, str_lower(a, m->key), v);
    }
    translate(a, *ret);
    return OK;
}

Status connection_options(Service *s, Arena *a, int64_t connection, Json **ret, Error *err)
{
    Object o;

    TRY(conn_get(s, a, connection, &o, err));
    return options_of(s, a, &o, ret, err);
}

Status conn_validate_source(Service *s, Arena *a, const Object *o, Error *err)
{
    const SourceConnector *c = source_connector(o->type);
    Json *options;

    if (!c || !c->validate)
        return FAIL(err, E_UNSUPPORTED, "validating these connections is not supported");
    TRY(options_of(s, a, o, &options, err));
    Status st = c->validate(a, options, err);
    if (st != OK)
        hide_secrets(s, a, o, err);
    return st;
}

Status conn_validate_registry(Service *s, Arena *a, const Object *o, Error *err)
{
    Json *options;

    TRY(options_of(s, a, o, &options, err));
    Status st = source_validate_registry(a, options, err);
    if (st != OK)
        hide_secrets(s, a, o, err);
    return st;
}
