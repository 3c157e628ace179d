/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what catalogs answer: bytes to values, and statuses to what they mean for the request.
 *
 * Pure functions over bytes from outside.  An outcome is E_CONFLICT or "not done" only where the specification says so; whatever else a commit gets for an answer is E_UNKNOWN,
 * since only a look at the table can tell (spec/iceberg.md 1.3, materialize.md 2.5). */
#include <stdio.h>

#include "remote/remote_int.h"

typedef struct Said { Str type, message; } Said;

static Said said(Arena *a, Str body);
static Status meaning(Does does, int http);
static void set_kind(Error *err, Does does, int http, Str type);

/* ---- errors ------------------------------------------------------------------------------------------------------- */

Str remote_words(Arena *a, Str s)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s.n && b.n < WORDS_MAX; i++)
        sb_byte(&b, (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f ? ' ' : s.p[i]);
    while (b.n && !str_is_utf8(str_n(b.p, b.n)) && b.n + 4 > WORDS_MAX)
        b.n--;                                               /* cut inside of a character */
    Str out = str_trim(sb_str(&b));
    return str_is_utf8(out) ? out : S("(not text)");
}

Status remote_judge(Arena *a, Does does, int http, Str body, Error *err)
{
    Said s = said(a, body);
    Status st = meaning(does, http);

    if (!s.message.n)
        s.message = str_fmt(a, "HTTP status %d", http);
    RAISE(err, st, STR_FMT "%s" STR_FMT, STR_ARG(s.type), s.type.n ? ": " : "", STR_ARG(s.message));
    set_kind(err, does, http, s.type);
    return st;
}

/* The specification's error model, AWS's, OAuth's, or whatever text there is. */
static Said said(Arena *a, Str body)
{
    static const char *const MESSAGES[] = { "message", "Message", "error_description" };
    Said s = {0};
    Json *j = NULL;
    Error ignored;

    if (body.n > SMALL_ANSWER_MAX || json_parse(a, body, &j, &ignored) != OK) {
        bool markup = str_find(str_sub(body, 0, 200), S("<")) >= 0;
        s.message = markup ? (Str){0} : remote_words(a, body);
        return s;
    }
    const Json *e = json_is(json_get(j, "error"), JSON_OBJECT) ? json_get(j, "error") : j;
    for (size_t i = 0; i < COUNT_OF(MESSAGES) && !s.message.n; i++)
        s.message = remote_words(a, json_get_str(e, MESSAGES[i], (Str){0}));
    s.type = json_get_str(e, "type", json_get_str(e, "__type", json_get_str(e, "error", (Str){0})));
    s.type = remote_words(a, str_sub(str_from(s.type, (size_t)(str_chr(s.type, '#') + 1)), 0, 80));
    return s;
}

static Status meaning(Does does, int http)
{
    switch (http) {
    case 400: case 406: case 411: case 412: case 413: case 414: case 415: case 422: case 431: return E_INVALID;
    case 401: case 419: return E_AUTH;
    case 403: return E_DENIED;
    case 404: return E_NOT_FOUND;
    case 405: return E_UNSUPPORTED;
    case 409: return does == DOES_CREATE ? E_EXISTS : E_CONFLICT;
    case 429: return E_UNAVAILABLE;
    default: break;
    }
    if (http >= 300 && http < 400)
        return E_UNAVAILABLE;                                /* not followed, so not done */
    if (does > DOES_LIST)
        return E_UNKNOWN;
    return http == 501 ? E_UNSUPPORTED : http >= 500 || http == 408 ? E_UNAVAILABLE : E_INVALID;
}

static void set_kind(Error *err, Does does, int http, Str type)
{
    Str kind = type;
    bool of_namespace = str_find(type, S("NoSuchNamespace")) >= 0;

    if (http == 404)
        kind = of_namespace || does == DOES_CREATE || does == DOES_LIST ? S("NoSuchNamespace") : S("NoSuchTable");
    if (http >= 300 && http < 400)
        error_hint(err, "The answer is a redirect (HTTP %d), which is not followed: name the catalog's own URL.", http);
    snprintf(err->kind, sizeof err->kind, STR_FMT, STR_ARG(kind));
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------ */

static Status object(Arena *a, Str body, const char *what, Json **ret, Error *err)
{
    if (json_parse(a, body, ret, err) != OK || !json_is(*ret, JSON_OBJECT))
        return FAIL(err, E_INVALID, "the catalog's answer is no %s: it is not a JSON object", what);
    return OK;
}

/* Strings; numbers and booleans as they are written, since some catalogs send them. Others are left out. */
static Status add_props(Arena *a, const Json *o, Props *ret, Error *err)
{
    if (o && !json_is(o, JSON_NULL) && !json_is(o, JSON_OBJECT))
        return FAIL(err, E_INVALID, "the catalog's answer has properties that are no object");
    for (size_t i = 0; i < json_len(o); i++) {
        const JsonMember *m = &o->object.p[i];
        if (json_is(m->value, JSON_STRING))
            props_set(a, ret, m->key, m->value->string);
        else if (json_is(m->value, JSON_INT) || json_is(m->value, JSON_BOOL))
            props_set(a, ret, m->key, json_text(a, m->value));
    }
    return OK;
}

Status remote_parse_config(Arena *a, Str body, Props *defaults, Props *overrides, Error *err)
{
    Json *j = NULL;

    TRY(object(a, body, "configuration", &j, err));
    if (!json_get(j, "defaults") && !json_get(j, "overrides"))
        return FAIL(err, E_INVALID, "the catalog's answer is no configuration: it has neither defaults nor overrides");
    TRY(add_props(a, json_get(j, "defaults"), defaults, err));
    return add_props(a, json_get(j, "overrides"), overrides, err);
}

static bool one_line(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return s.n <= TOKEN_BYTES_MAX;
}

static Str joined(Arena *a, const Json *list)
{
    StrVec parts = {0};
    for (size_t i = 0; i < json_len(list); i++)
        if (json_is(json_at(list, i), JSON_STRING))
            vec_push(a, &parts, json_at(list, i)->string);
    return str_join(a, &parts, S(", "));
}

Status remote_parse_token(Arena *a, Str body, TokenAnswer *ret, Error *err)
{
    Json *j = NULL;

    TRY(object(a, body, "token", &j, err));
    *ret = (TokenAnswer){ .token = json_get_str(j, "access_token", (Str){0}), .life_ms = TOKEN_LIFE_MS };
    int64_t seconds = json_get_int(j, "expires_in", 0);
    if (seconds > 0)
        ret->life_ms = min_i64(seconds, 7 * 86400LL) * 1000;
    if (!ret->token.n || ret->token.n > TOKEN_BYTES_MAX)
        return FAIL(err, E_INVALID, "the token server's answer has no access_token of at most %d bytes", TOKEN_BYTES_MAX);
    return remote_is_token(ret->token) ? OK : FAIL(err, E_INVALID, "the token server's answer has an access_token that is none");
}

bool remote_is_token(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= 0x20 || s.p[i] >= 0x7f)
            return false;
    return s.n && s.n <= TOKEN_BYTES_MAX;
}

/* Read, not verified: whether it is good is for the catalog to say. */
int64_t remote_token_ends(Arena *a, Str token)
{
    Str head, rest, payload, tail, text;
    Json *j = NULL;
    Error ignored;

    if (token.n > TOKEN_BYTES_MAX || !str_cut(token, '.', &head, &rest) || !str_cut(rest, '.', &payload, &tail))
        return 0;
    if (base64_decode(a, payload, &text, &ignored) != OK || json_parse(a, text, &j, &ignored) != OK)
        return 0;
    int64_t s = json_get_int(j, "exp", 0);
    return s > 0 && s < INT64_MAX / 1000 ? s * 1000 : 0;
}

/* {"uri": "…", "headers": {"Authorization": ["…"]}}; what frames the request stays ours. */
Status remote_parse_signed(Arena *a, Str body, Str *url, Props *headers, Error *err)
{
    static const char *const OURS[] = { "host", "content-length", "transfer-encoding", "connection", "expect", "te", "upgrade" };
    Json *j = NULL, *all = NULL;

    TRY(object(a, body, "signed request", &j, err));
    if (json_need_str(j, "uri", url, err) != OK || json_need(j, "headers", JSON_OBJECT, &all, err) != OK || json_len(all) > SIGNED_HEADERS_MAX)
        return FAIL(err, E_INVALID, "the catalog's answer is no signed request: it has no uri, or no headers, or more than %d of them", SIGNED_HEADERS_MAX);
    for (size_t i = 0; i < all->object.n; i++) {
        const JsonMember *m = &all->object.p[i];
        Str name = str_lower(a, m->key), value = json_is(m->value, JSON_STRING) ? m->value->string : joined(a, m->value);
        bool ours = false;
        for (size_t k = 0; k < COUNT_OF(OURS); k++)
            ours = ours || str_eq(name, str_c(OURS[k]));
        if (!remote_is_token(name) || str_chr(name, ':') >= 0 || !one_line(value))
            return FAIL(err, E_INVALID, "the catalog's answer is no signed request: it has a header that is none");
        if (!ours)
            props_set(a, headers, name, value);
    }
    return OK;
}

/* {"error": "invalid_client", "error_description": "…"} with 400 or 401 (RFC 6749, 5.2). */
Status remote_judge_token(Arena *a, int http, Str body, Error *err)
{
    Status st = remote_judge(a, DOES_READ, http, body, err);

    if (http == 400 || http == 404 || st == E_DENIED)
        st = err->code = E_AUTH;
    return st;
}

static Status grants_of(Arena *a, const Json *list, StorageGrants *ret, Error *err)
{
    if (list && !json_is(list, JSON_NULL) && !json_is(list, JSON_ARRAY))
        return FAIL(err, E_INVALID, "the catalog's answer has storage-credentials that are no list");
    if (json_len(list) > CREDENTIALS_MAX)
        return FAIL(err, E_LIMIT, "the catalog's answer has %zu storage-credentials, limit is %d", json_len(list), CREDENTIALS_MAX);
    for (size_t i = 0; i < json_len(list); i++) {
        StorageGrant g = { .prefix = json_get_str(json_at(list, i), "prefix", (Str){0}) };
        TRY(add_props(a, json_get(json_at(list, i), "config"), &g.config, err));
        vec_push(a, ret, g);
    }
    return OK;
}

Status remote_parse_grants(Arena *a, Str body, StorageGrants *ret, Error *err)
{
    Json *j = NULL;
    TRY(object(a, body, "list of credentials", &j, err));
    return grants_of(a, json_get(j, "storage-credentials"), ret, err);
}

/* Some catalogs name the metadata file itself as the table's location. */
static Str folder_of_table(Str location)
{
    ptrdiff_t at = str_ends(location, S(".metadata.json")) ? str_find(location, S("/metadata/")) : -1;
    return at > 0 ? str_sub(location, 0, (size_t)at) : location;
}

Status remote_parse_table(Arena *a, Str body, TableAnswer *ret, Error *err)
{
    Json *j = NULL, *meta = NULL;

    *ret = (TableAnswer){0};
    TRY(object(a, body, "table", &j, err));
    if (json_need_str(j, "metadata-location", &ret->metadata_location, err) != OK || json_need(j, "metadata", JSON_OBJECT, &meta, err) != OK)
        return FAIL(err, E_INVALID, "the catalog's answer is no table: metadata-location or metadata is missing");
    if (ice_metadata_from_json(a, meta, &ret->meta, err) != OK) {
        err->code = E_INVALID;
        return error_context(err, "the table's metadata in the catalog's answer");
    }
    if (!ret->meta->uuid.n && ret->meta->format_version > 1)
        return FAIL(err, E_INVALID, "the table's metadata in the catalog's answer has no table-uuid");
    ret->meta->location = folder_of_table(ret->meta->location);
    TRY(add_props(a, json_get(j, "config"), &ret->config, err));
    return grants_of(a, json_get(j, "storage-credentials"), &ret->grants, err);
}

static Status namespace_of(Arena *a, const Json *levels, StrVec *ret, Error *err)
{
    for (size_t i = 0; i < json_len(levels); i++) {
        const Json *l = json_at(levels, i);
        if (!json_is(l, JSON_STRING))
            return FAIL(err, E_INVALID, "the catalog lists a namespace that is none");
        vec_push(a, ret, l->string);
    }
    return json_is(levels, JSON_ARRAY) && ret->n ? OK : FAIL(err, E_INVALID, "the catalog lists a namespace that is none");
}

Status remote_parse_namespaces(Arena *a, Str body, RemoteNamespaces *ret, Str *next, Error *err)
{
    Json *j = NULL, *list = NULL;

    TRY(object(a, body, "list of namespaces", &j, err));
    if (json_need(j, "namespaces", JSON_ARRAY, &list, err) != OK)
        return FAIL(err, E_INVALID, "the catalog's answer is no list of namespaces");
    for (size_t i = 0; i < list->array.n; i++) {
        StrVec one = {0};
        TRY(namespace_of(a, list->array.p[i], &one, err));
        vec_push(a, ret, one);
    }
    *next = json_get_str(j, "next-page-token", json_get_str(j, "nextPageToken", (Str){0}));
    return ret->n > NAMESPACES_MAX ? FAIL(err, E_LIMIT, "the catalog has more than %d namespaces", NAMESPACES_MAX) : OK;
}

Status remote_parse_tables(Arena *a, Str body, StrVec *names, Str *next, Error *err)
{
    Json *j = NULL, *list = NULL;

    TRY(object(a, body, "list of tables", &j, err));
    if (json_need(j, "identifiers", JSON_ARRAY, &list, err) != OK)
        return FAIL(err, E_INVALID, "the catalog's answer is no list of tables");
    for (size_t i = 0; i < list->array.n; i++) {
        Str name = json_get_str(list->array.p[i], "name", (Str){0});
        if (!name.n)
            return FAIL(err, E_INVALID, "the catalog lists a table without a name");
        vec_push(a, names, name);
    }
    *next = json_get_str(j, "next-page-token", json_get_str(j, "nextPageToken", (Str){0}));
    return names->n > TABLES_MAX ? FAIL(err, E_LIMIT, "the namespace has more than %d tables", TABLES_MAX) : OK;
}

/* ---- places ------------------------------------------------------------------------------------------------------------ */

static bool lies_in(Arena *a, Str uri, Str top)
{
    Location x, y;
    Error ignored;

    while (top.n && top.p[top.n - 1] == '/')
        top.n--;
    if (store_parse_location(a, uri, &x, &ignored) != OK || store_parse_location(a, top, &y, &ignored) != OK || x.file || y.file || !str_eq(x.bucket, y.bucket))
        return false;
    return !y.key.n || (str_starts(x.key, y.key) && x.key.n > y.key.n && x.key.p[y.key.n] == '/');
}

Status remote_places(Arena *a, const IceMetadata *m, Str metadata_location, StrVec *ret, Error *err)
{
    static const char *const KEYS[] = { "write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path" };
    Location at;
    bool inside = false;

    if (store_parse_location(a, m->location, &at, err) != OK || at.file)
        return FAIL(err, E_UNSUPPORTED, "the table's files lie at '" STR_FMT "', which is not in an S3 object store", STR_ARG(remote_words(a, m->location)));
    vec_push(a, ret, m->location);
    for (size_t i = 0; i < COUNT_OF(KEYS); i++) {
        Str place = props_get(&m->properties, str_c(KEYS[i]), (Str){0});
        if (place.n && store_parse_location(a, place, &at, err) == OK && !at.file)
            vec_push(a, ret, place);
    }
    for vec_each(Str, place, ret)
        inside = inside || lies_in(a, metadata_location, *place);
    if (inside)
        return OK;
    return FAIL(err, E_INVALID, "the catalog's answer leads elsewhere: the metadata file '" STR_FMT "' does not lie in the table's location '" STR_FMT "'",
                STR_ARG(remote_words(a, metadata_location)), STR_ARG(remote_words(a, m->location)));
}
