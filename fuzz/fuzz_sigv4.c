/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sigv4.c - a request as text (request line, headers, empty line, body) through parsing, verifying and body decoding.
 * What sig_sign signs must verify, whatever the path, the query and the headers are. */
#include "net/net_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static HttpRequest request_of(Arena *a, Str text, HttpExchange *x)
{
    HttpRequest r = { .arena = a, .x = x, .method = S("GET") };
    Str line, target, name, value;
    Error err;

    str_cut(text, '\n', &line, &text);
    str_cut(line, ' ', &r.method, &target);
    str_cut(target, '?', &r.path, &r.query);
    if (url_query_parse(a, r.query, &r.args, &err) != OK)
        r.args.n = 0;
    while (str_cut(text, '\n', &line, &text) && line.n) {
        str_cut(line, ':', &name, &value);
        props_set(a, &r.headers, str_lower(a, str_trim(name)), str_trim(value));
    }
    *x = (HttpExchange){ .mode = BODY_INLINE, .body = str_z(a, text), .have = text.n };
    return r;
}

static void read_body(HttpRequest *r, const SigClaim *c)
{
    CLEANUP(sig_body_closep) SigBody *b = NULL;
    char buf[100];
    Error err;
    size_t n = 1;

    if (sig_body_open(r, c, S("secret"), &b, &err) != OK)
        return;
    while (n && sig_body_read(b, buf, sizeof buf, &n, &err) == OK)
        ;
}

static void sign_and_verify(Arena *a, const HttpRequest *r)
{
    AwsKeys keys = { S("AK/ID"), S("secret"), (Str){0} };
    HttpRequest own = { .arena = a, .method = S("PUT"), .path = r->path, .query = r->query };
    Error err;
    SigClaim c;

    if (!str_starts(r->path, S("/")) || str_chr(r->path, '#') >= 0 || str_chr(r->query, '#') >= 0 || memchr(r->path.p, 0, r->path.n) ||
        (r->query.n && memchr(r->query.p, 0, r->query.n)))
        return;
    Str url = str_cat(a, str_cat(a, S("http://h:9"), r->path), r->query.n ? str_cat(a, S("?"), r->query) : (Str){0});
    if (sig_sign(a, "PUT", url, &own.headers, S("body"), &keys, S("s3"), S("r"), 1369353600000, &err) != OK)
        return;
    props_set(a, &own.headers, S("host"), S("h:9"));
    if (sig_parse(a, &own, &c, &err) != OK || sig_verify(a, &own, &c, S("secret"), 1369353600000, (Str){0}, &err) != OK)
        abort();
    if (sig_verify(a, &own, &c, S("other"), 1369353600000, (Str){0}, &err) == OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    HttpExchange x;
    HttpRequest r = request_of(a, str_n((const char *)data, size), &x);
    SigClaim c;
    Error err;

    sign_and_verify(a, &r);
    if (sig_parse(a, &r, &c, &err) != OK)
        return 0;
    if (c.access_key.n && sig_verify(a, &r, &c, S("secret"), c.time_ms, (Str){0}, &err) == OK && size < 100)
        abort();                                             /* nothing that short can be signed */
    read_body(&r, &c);
    return 0;
}
