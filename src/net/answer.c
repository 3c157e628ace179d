/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - a handler's answer handed to libmicrohttpd: bytes, a file (by sendfile), or a stream. */
#include <unistd.h>

#include "net/net_int.h"

static struct MHD_Response *make_response(HttpExchange *x);
static ssize_t pull_block(void *cls, uint64_t pos, char *buf, size_t cap);
static ssize_t no_bytes(void *cls, uint64_t pos, char *buf, size_t cap);

void http_answer_header(HttpRequest *r, HttpAnswer *ans, const char *name, Str value)
{
    KeyValue kv = { str_dup(r->arena, str_c(name)), str_dup(r->arena, value) };
    vec_push(r->arena, &ans->headers, kv);
}

void answer_error(HttpExchange *x, int status, const char *text)
{
    x->ans = (HttpAnswer){ .status = status, .fd = -1, .body = str_fmt(x->arena, "%s\n", text) };
    http_answer_header(&x->req, &x->ans, "Content-Type", S("text/plain"));
}

enum MHD_Result answer_queue(HttpExchange *x)
{
    struct MHD_Response *r = make_response(x);
    if (!r)
        return MHD_NO;
    for vec_each(KeyValue, h, &x->ans.headers)
        MHD_add_response_header(r, str_z(x->arena, h->key), h->value.n ? str_z(x->arena, h->value) : " ");   /* MHD takes no empty value */
    MHD_add_response_header(r, "x-amz-request-id", str_z(x->arena, x->req.request_id));
    MHD_add_response_header(r, "Server", "firn");
    x->queued = 1;
    enum MHD_Result ok = MHD_queue_response(x->conn, (unsigned)x->ans.status, r);
    MHD_destroy_response(r);
    return ok;
}

void answer_drop(HttpExchange *x)
{
    file_closep(&x->ans.fd);
    if (x->ans.pull_done)
        x->ans.pull_done(x->ans.ctx);
    x->ans.pull_done = NULL;
}

static struct MHD_Response *make_response(HttpExchange *x)
{
    HttpAnswer *ans = &x->ans;
    if (x->head_only && !ans->body.n && ans->length > 0)
        return MHD_create_response_from_callback((uint64_t)ans->length, STREAM_BLOCK, no_bytes, NULL, NULL);
    if (ans->fd >= 0 && ans->length > 0) {
        struct MHD_Response *r = MHD_create_response_from_fd_at_offset64((uint64_t)ans->length, ans->fd, (uint64_t)ans->offset);
        if (r)
            ans->fd = -1;                                /* closed by MHD */
        return r;
    }
    if (ans->pull)
        return MHD_create_response_from_callback(ans->length >= 0 ? (uint64_t)ans->length : MHD_SIZE_UNKNOWN, STREAM_BLOCK, pull_block, x, NULL);
    return MHD_create_response_from_buffer(ans->body.n, (void *)(uintptr_t)ans->body.p, MHD_RESPMEM_PERSISTENT);
}

static ssize_t pull_block(void *cls, uint64_t pos, char *buf, size_t cap)
{
    HttpExchange *x = cls;
    Error err = {0};
    size_t n = 0;
    (void)pos;
    if (x->ans.pull(x->ans.ctx, buf, cap, &n, &err) != OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    return n ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t no_bytes(void *cls, uint64_t pos, char *buf, size_t cap)
{
    (void)cls, (void)pos, (void)buf, (void)cap;
    return MHD_CONTENT_READER_END_OF_STREAM;
}
