/* SPDX-License-Identifier: Apache-2.0 */
/* request.c - what a handler sees of a request: the raw target split, headers by lower-case name, the query decoded. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "net/net_int.h"

static enum MHD_Result add_header(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_n, const char *value, size_t value_n);
static void split_target(HttpRequest *r, Str uri);
static void fill_peer(HttpExchange *x);
static Str make_id(Arena *a);

Str http_header(const HttpRequest *r, const char *lower_name)
{
    return props_get(&r->headers, str_c(lower_name), (Str){0});
}

bool http_has_header(const HttpRequest *r, const char *lower_name)
{
    return props_has(&r->headers, str_c(lower_name));
}

Str http_arg(const HttpRequest *r, const char *name, Str fallback)
{
    return props_get(&r->args, str_c(name), fallback);
}

bool http_has_arg(const HttpRequest *r, const char *name)
{
    return props_has(&r->args, str_c(name));
}

Status http_body_all(HttpRequest *r, size_t limit, Str *ret, Error *err)
{
    StrBuf b = sb_new(r->arena);
    char *buf = arena_alloc(r->arena, STREAM_BLOCK);
    if (r->length.has && (uint64_t)r->length.v > limit)
        return FAIL(err, E_LIMIT, "request body of %lld bytes, limit is %zu", (long long)r->length.v, limit);
    for (size_t n = 1; n;) {
        TRY(http_body_read(r, buf, STREAM_BLOCK, &n, err));
        if (b.n + n > limit)
            return FAIL(err, E_LIMIT, "request body over the limit of %zu bytes", limit);
        sb_add(&b, str_n(buf, n));
    }
    *ret = sb_str(&b);
    return OK;
}

Status request_fill(HttpExchange *x, const char *method, Error *err)
{
    HttpRequest *r = &x->req;
    *r = (HttpRequest){ .arena = x->arena, .x = x, .method = str_dup(x->arena, str_c(method)), .request_id = make_id(x->arena) };
    x->head_only = str_eq(r->method, S("HEAD"));
    MHD_get_connection_values_n(x->conn, MHD_HEADER_KIND, add_header, x);
    split_target(r, x->uri);
    fill_peer(x);
    Str length = http_header(r, "content-length");
    if (http_has_header(r, "content-length")) {
        if (!str_to_i64(str_trim(length), &r->length.v) || r->length.v < 0)
            return FAIL(err, E_INVALID, "malformed Content-Length");
        r->length.has = true;
    }
    return url_query_parse(r->arena, r->query, &r->args, err);
}

static enum MHD_Result add_header(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_n, const char *value, size_t value_n)
{
    HttpExchange *x = cls;
    Str name = str_lower(x->arena, str_n(key, key_n)), v = str_dup(x->arena, str_n(value, value_n));
    (void)kind;
    if (props_has(&x->req.headers, name)) {
        Str before = props_get(&x->req.headers, name, (Str){0});
        v = str_fmt(x->arena, STR_FMT ", " STR_FMT, STR_ARG(before), STR_ARG(v));
    }
    props_set(x->arena, &x->req.headers, name, v);
    return MHD_YES;
}

/* The absolute form (GET http://host/path) is taken as its path. */
static void split_target(HttpRequest *r, Str uri)
{
    ptrdiff_t scheme = str_find(uri, S("://")), question = str_chr(uri, '?');
    if (!str_starts(uri, S("/")) && scheme > 0 && (question < 0 || scheme < question)) {
        Str rest = str_from(uri, (size_t)scheme + 3);
        ptrdiff_t slash = str_chr(rest, '/');
        uri = slash < 0 ? S("/") : str_from(rest, (size_t)slash);
    }
    str_cut(uri, '?', &r->path, &r->query);
}

static void fill_peer(HttpExchange *x)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(x->conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char host[INET6_ADDRSTRLEN] = "";
    if (!info || !info->client_addr)
        return;
    if (info->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)info->client_addr;
        inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
        x->req.loopback = IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
        x->req.peer = str_fmt(x->arena, "[%s]:%d", host, ntohs(in->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)info->client_addr;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        x->req.loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
        x->req.peer = str_fmt(x->arena, "%s:%d", host, ntohs(in->sin_port));
    }
}

static Str make_id(Arena *a)
{
    unsigned char raw[8];
    rand_bytes(raw, sizeof raw);
    return str_upper(a, hex_encode(a, str_n((const char *)raw, sizeof raw)));
}
