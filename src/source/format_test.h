/* SPDX-License-Identifier: Apache-2.0 */
/* format_test.h - what the tests of the formats share: a format opened from JSON, a row as text, a schema registry in the same process. */
#ifndef FIRN_SOURCE_FORMAT_TEST_H
#define FIRN_SOURCE_FORMAT_TEST_H

#include "net/net.h"
#include "source/format_int.h"

static inline Json *test_json(Arena *a, const char *text)
{
    Json *j;
    Error err;
    assert_ok(json_parse(a, str_c(text), &j, &err), &err);
    return j;
}

static inline Format *test_open(Arena *a, const char *options)
{
    FormatOptions o = { .options = test_json(a, options), .subject = S("t-value") };
    Format *f;
    Error err;
    assert_ok(format_open(a, &o, &f, &err), &err);
    return f;
}

static inline Str test_hex(Arena *a, const char *hex)
{
    Str s;
    assert_true(hex_decode(a, str_c(hex), &s));
    return s;
}

/* "name:type!,…" */
static inline Str test_columns(Arena *a, const Format *f)
{
    StrBuf b = sb_new(a);
    for vec_each(SourceColumn, c, format_columns(f))
        sb_fmt(&b, "%s" STR_FMT ":" STR_FMT "%s", c == format_columns(f)->p ? "" : "; ", STR_ARG(c->name), STR_ARG(c->sql_type), c->not_null ? "!" : "");
    return sb_str(&b);
}

/* The cells as the engine's literals, or "gone", or the error's message. */
static inline Str test_row(Arena *a, Format *f, Str bytes)
{
    Value *cells = arena_array(a, Value, format_columns(f)->n);
    StrBuf b = sb_new(a);
    Error err = {0};
    int gone;

    if (format_decode(f, a, bytes, cells, &gone, &err) != OK)
        return str_fmt(a, "%s %s", status_name(err.code), err.message);
    for (size_t i = 0; i < format_columns(f)->n && !gone; i++) {
        sb_addc(&b, i ? "; " : "");
        sql_value(&b, &cells[i]);
    }
    return gone ? S("gone") : sb_str(&b);
}

/* ---- a registry: documents by path --------------------------------------------------------------------------------------------------- */

typedef struct TestRegistry { HttpServer *server; Arena *a; Props documents; int asked; int down; Str authorization; } TestRegistry;

static void test_registry_answer(void *ctx, HttpRequest *q, HttpAnswer *ret)
{
    TestRegistry *r = ctx;

    r->asked++;
    r->authorization = str_dup(r->a, http_header(q, "authorization"));
    ret->status = r->down ? 503 : props_has(&r->documents, q->path) ? 200 : 404;
    ret->body = r->down ? S("busy") : props_get(&r->documents, q->path, S("{\"error_code\": 40403, \"message\": \"Schema not found\"}"));
}

static inline Json *test_registry(Arena *a, TestRegistry *r)
{
    HttpServerOptions o = { .addr = S("127.0.0.1"), .name = "registry" };
    Error err;

    r->a = a;
    assert_ok(http_serve(&o, test_registry_answer, r, &r->server, &err), &err);
    Json *j = json_object(a);
    json_set(a, j, "url", json_str(a, str_fmt(a, "http://127.0.0.1:%d/", http_server_port(r->server))));
    return j;
}

/* Under the id, and as the newest of subject t-value. */
static inline void test_register(TestRegistry *r, int id, const char *type, const char *schema)
{
    Json *j = json_object(r->a);
    json_set(r->a, j, "id", json_int(r->a, id));
    json_set(r->a, j, "schemaType", json_str(r->a, str_c(type)));
    json_set(r->a, j, "schema", json_str(r->a, str_c(schema)));
    Str text = json_text(r->a, j);
    props_set(r->a, &r->documents, str_fmt(r->a, "/schemas/ids/%d", id), text);
    props_set(r->a, &r->documents, S("/subjects/t-value/versions/latest"), text);
}

static inline Str test_framed(Arena *a, int id, Str data)
{
    char head[5] = { 0, (char)(id >> 24), (char)(id >> 16), (char)(id >> 8), (char)id };
    return str_cat(a, str_n(head, 5), data);
}

#endif
