/* SPDX-License-Identifier: Apache-2.0 */
/* format_registry.c - a schema registry from the client's side (Confluent's REST API: subjects/<s>/versions/<v>, schemas/ids/<id>).
 *
 * Answers are bounded and believed in nothing.  What a schema refers to is fetched with it, each text once, those first that others need.
 * The difference that matters: an id that the registry does not know is the message's fault (E_INVALID), a registry that cannot be asked is not. */
#include "net/net.h"
#include "source/format_int.h"
#include "source/source.h"

enum {
    REGISTRY_TIMEOUT_MS     = 10000,
    REGISTRY_ANSWER_MAX     = 4 * 1024 * 1024,
    REGISTRY_MAX_REFERENCES = 200,
    REGISTRY_MAX_DEPTH      = 20,
};

struct Registry { Str url, authorization, ca, cert, key; };

typedef struct { Registry *r; Arena *a; RegistrySchema *ret; Map seen; int depth; Error *err; } Fetch;

static Status ask(Registry *r, Arena *a, Str path, Json **ret, Error *err);

Status registry_open(Arena *a, const Json *connection, Registry **ret, Error *err)
{
    Registry *r = arena_new(a, Registry);
    Str url = json_get_str(connection, "url", S("")), user = json_get_str(connection, "username", S(""));

    if (!str_starts(url, S("http://")) && !str_starts(url, S("https://")))
        return FAIL(err, E_INVALID, "schema registry: URL '" STR_FMT "' is neither http nor https", STR_ARG(str_sub(url, 0, 200)));
    while (str_ends(url, S("/")))
        url.n--;
    r->url = str_dup(a, url);
    if (user.n)
        r->authorization = str_cat(a, S("Basic "), base64_encode(a, str_fmt(a, STR_FMT ":" STR_FMT, STR_ARG(user), STR_ARG(json_get_str(connection, "password", S(""))))));
    r->ca = str_dup(a, json_get_str(connection, "ssl certificate authority", S("")));
    r->cert = str_dup(a, json_get_str(connection, "ssl certificate", S("")));
    r->key = str_dup(a, json_get_str(connection, "ssl key", S("")));
    *ret = r;
    return OK;
}

Status registry_check(Registry *r, Arena *a, Error *err)
{
    Json *j;

    TRY(ask(r, a, S("/subjects"), &j, err));
    return json_is(j, JSON_ARRAY) ? OK : FAIL(err, E_INVALID, "schema registry " STR_FMT ": the answer is not that of a registry", STR_ARG(r->url));
}

Status source_validate_registry(Arena *a, const Json *connection, Error *err)
{
    Registry *r;

    TRY(registry_open(a, connection, &r, err));
    return registry_check(r, a, err);
}

/* ---- one request ------------------------------------------------------------------------------------------------------------------------ */

static Status refused(const Registry *r, const HttpReply *reply, Json *j, Error *err)
{
    Str why = str_sub(json_get_str(j, "message", S("")), 0, 500);
    int status = reply->status;
    Status code = status == 401 || status == 403 ? E_AUTH : status == 404 ? E_NOT_FOUND : status >= 500 || status == 429 ? E_UNAVAILABLE : E_INVALID;

    return FAIL(err, code, "schema registry " STR_FMT " answered %d: " STR_FMT, STR_ARG(r->url), status, STR_ARG(why));
}

/* 404 of anything but a registry says nothing about a schema. */
static bool is_from_registry(const Json *j) { return json_is(json_get(j, "error_code"), JSON_INT); }

static Status ask(Registry *r, Arena *a, Str path, Json **ret, Error *err)
{
    HttpCall c = { .method = "GET", .url = str_cat(a, r->url, path), .timeout_ms = REGISTRY_TIMEOUT_MS, .max_bytes = REGISTRY_ANSWER_MAX,
                   .tls_ca = r->ca, .tls_cert = r->cert, .tls_key = r->key };
    HttpReply reply;
    Error parse;

    props_set(a, &c.headers, S("accept"), S("application/vnd.schemaregistry.v1+json, application/json"));
    if (r->authorization.n)
        props_set(a, &c.headers, S("authorization"), r->authorization);
    Status s = http_call(a, &c, &reply, err);
    if (s != OK)
        return s == E_LIMIT || s == E_UNKNOWN ? (err->code = E_UNAVAILABLE) : s;       /* a GET does nothing: ask again */
    s = json_parse(a, reply.body, ret, &parse);
    if (reply.status >= 200 && reply.status < 300)
        return s == OK ? OK : FAIL(err, E_UNAVAILABLE, "schema registry " STR_FMT ": the answer is no JSON: %.300s", STR_ARG(r->url), parse.message);
    if (reply.status == 404 && (s != OK || !is_from_registry(*ret)))
        return FAIL(err, E_UNAVAILABLE, "schema registry " STR_FMT ": nothing at " STR_FMT ", is it a registry's URL?", STR_ARG(r->url), STR_ARG(path));
    return refused(r, &reply, s == OK ? *ret : NULL, err);
}

Status registry_answer(Arena *a, Str body, RegistrySchema *ret, Json **references, Error *err)
{
    Json *j;

    TRY(json_parse(a, body, &j, err));
    *ret = (RegistrySchema){ .type = json_get_str(j, "schemaType", S("AVRO")) };
    int64_t id = json_get_int(j, "id", 0);
    if (id < 0 || id > INT32_MAX)
        return FAIL(err, E_INVALID, "schema registry: an id that is out of range");
    ret->id = (int32_t)id;
    *references = json_get(j, "references");
    TRY_CTX(json_need_str(j, "schema", &ret->text, err), err, "schema registry");
    return OK;
}

/* ---- a schema and what it refers to ------------------------------------------------------------------------------------------------------ */

static Status fetch(Fetch *f, Str path, RegistrySchema *ret);

static Status refer(Fetch *f, const Json *reference)
{
    Str name, subject;
    int64_t version;
    RegistrySchema s;

    TRY_CTX(json_need_str(reference, "name", &name, f->err), f->err, "schema registry, a reference");
    TRY_CTX(json_need_str(reference, "subject", &subject, f->err), f->err, "schema registry, a reference");
    TRY_CTX(json_need_int(reference, "version", &version, f->err), f->err, "schema registry, a reference");
    if (map_has(&f->seen, name))
        return OK;
    if (f->seen.n >= REGISTRY_MAX_REFERENCES || f->depth >= REGISTRY_MAX_DEPTH)
        return FAIL(f->err, E_LIMIT, "schema registry: a schema refers to too many others");
    map_put(&f->seen, name, f);
    TRY(fetch(f, str_fmt(f->a, "/subjects/" STR_FMT "/versions/%lld", STR_ARG(url_encode(f->a, subject, 0)), (long long)version), &s));
    vec_push(f->a, &f->ret->references, s.text);
    vec_push(f->a, &f->ret->names, name);
    return OK;
}

static Status fetch(Fetch *f, Str path, RegistrySchema *ret)
{
    Json *j, *references;

    TRY(ask(f->r, f->a, path, &j, f->err));
    if (registry_answer(f->a, json_text(f->a, j), ret, &references, f->err) != OK)
        return f->err->code = E_UNAVAILABLE;                  /* not the message's fault */
    f->depth++;
    for (size_t i = 0; json_is(references, JSON_ARRAY) && i < json_len(references); i++)
        TRY(refer(f, json_at(references, i)));
    f->depth--;
    return OK;
}

static Status fetch_whole(Registry *r, Arena *a, Str path, RegistrySchema *ret, Error *err)
{
    RegistrySchema links = {0};
    Fetch f = { .r = r, .a = a, .ret = &links, .seen = map_new(a), .err = err };

    TRY(fetch(&f, path, ret));
    ret->references = links.references;
    ret->names = links.names;
    return OK;
}

Status registry_latest(Registry *r, Arena *a, Str subject, RegistrySchema *ret, Error *err)
{
    Status s = fetch_whole(r, a, str_fmt(a, "/subjects/" STR_FMT "/versions/latest", STR_ARG(url_encode(a, subject, 0))), ret, err);

    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "No schema found in the registry for subject '" STR_FMT "'", STR_ARG(subject));
    return s;
}

Status registry_by_id(Registry *r, Arena *a, int32_t id, RegistrySchema *ret, Error *err)
{
    Status s = fetch_whole(r, a, str_fmt(a, "/schemas/ids/%d", id), ret, err);

    if (s == E_NOT_FOUND)
        return FAIL(err, E_INVALID, "the schema registry knows no schema with id %d", id);
    if (s == OK)
        ret->id = id;
    return s;
}

Status registry_frame(Str bytes, int32_t *id, Str *data, Error *err)
{
    if (bytes.n < 5)
        return FAIL(err, E_CORRUPT, "the message of %zu bytes is too short for the schema registry's frame", bytes.n);
    const unsigned char *p = (const unsigned char *)bytes.p;
    if (p[0] != 0)
        return FAIL(err, E_CORRUPT, "the message does not begin with the schema registry's magic byte 0 but with %d", p[0]);
    *id = (int32_t)((uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4]);
    *data = str_from(bytes, 5);
    return OK;
}
