/* SPDX-License-Identifier: Apache-2.0 */
/* remote_server_test.h - a server that says what each test wants, true or not, and a catalog's client that asks it. */
#ifndef FIRN_REMOTE_SERVER_TEST_H
#define FIRN_REMOTE_SERVER_TEST_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "remote/remote.h"
#include "test.h"

enum { ASKED_MAX = 64 };
typedef struct Asked { Str line, head, body; } Asked;
typedef struct Env Env;
struct Env {
    Arena *a, *sa;                /* the test's; the server's */
    pthread_mutex_t mu;
    pthread_t thread;
    int fd, port, n;
    Asked asked[ASKED_MAX];
    /* The raw bytes of an answer; p NULL: the connection is cut. */
    Str (*answer)(Env *e, const Asked *q);
    Str config, table, script;    /* bodies */
    int status, tokens, token_life, fail_first, keys_asked, vended, no_route;
    RemoteCatalog *c;
    Error err;
    char dir[64];
};

/* ---- the server ---------------------------------------------------------------------------------------------------- */

static UNUSED Str http(Env *e, int status, Str body)
{
    return str_fmt(e->sa, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n" STR_FMT, status, body.n, STR_ARG(body));
}

static UNUSED bool has(Str s, const char *needle) { return str_find(s, str_c(needle)) >= 0; }
static UNUSED bool is(const Asked *q, const char *start) { return str_starts(q->line, str_c(start)); }

static UNUSED Str token_answer(Env *e)
{
    e->tokens++;
    return http(e, 200, str_fmt(e->sa, "{\"access_token\":\"tok%d\",\"token_type\":\"bearer\",\"expires_in\":%d}", e->tokens, e->token_life));
}

static UNUSED Str usual(Env *e, const Asked *q)
{
    if (has(q->line, "/oauth/tokens"))
        return token_answer(e);
    if (has(q->line, "/config"))
        return http(e, 200, e->config);
    if (has(q->line, "/credentials"))
        return e->no_route ? http(e, 404, S("{\"error\":{\"message\":\"no route\",\"type\":\"NoSuchEndpoint\",\"code\":404}}")) : http(e, e->status, e->script);
    if (has(q->line, "/tables/") && is(q, "GET"))
        return http(e, 200, e->table);
    return http(e, e->status, e->script);
}

static UNUSED size_t content_length(Str head)
{
    ptrdiff_t at = str_find(head, S("Content-Length: "));
    return at < 0 ? 0 : (size_t)atol(head.p + at + 16);
}

static UNUSED void serve_one(Env *e, int fd)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    char buf[4096];
    ptrdiff_t end;
    ssize_t n;

    while ((end = str_find(sb_str(&b), S("\r\n\r\n"))) < 0 || b.n < (size_t)end + 4 + content_length(sb_str(&b))) {
        if ((n = read(fd, buf, sizeof buf)) <= 0)
            return;
        sb_add(&b, str_n(buf, (size_t)n));
    }
    pthread_mutex_lock(&e->mu);
    Asked *q = &e->asked[e->n % ASKED_MAX];
    Str all = str_dup(e->sa, sb_str(&b));
    q->head = str_sub(all, 0, (size_t)end);
    q->body = str_from(all, (size_t)end + 4);
    str_cut(q->head, '\r', &q->line, &(Str){0});
    e->n++;
    Str out = e->answer(e, q);
    pthread_mutex_unlock(&e->mu);
    while (out.n && (n = send(fd, out.p, out.n, MSG_NOSIGNAL)) > 0)
        out = str_from(out, (size_t)n);
}

static UNUSED void *serve(void *ctx)
{
    Env *e = ctx;
    for (int fd; (fd = accept(e->fd, NULL, NULL)) >= 0; ) {
        serve_one(e, fd);
        shutdown(fd, SHUT_RDWR);
        close(fd);
    }
    return NULL;
}

static UNUSED Asked *last(Env *e)
{
    pthread_mutex_lock(&e->mu);
    Asked *q = &e->asked[(e->n - 1) % ASKED_MAX];
    pthread_mutex_unlock(&e->mu);
    return q;
}

/* ---- frame ------------------------------------------------------------------------------------------------------------- */

static UNUSED Str metadata_text(Env *e, const char *location, const char *props)
{
    return str_fmt(e->a, "{\"format-version\":2,\"table-uuid\":\"7c0f1a6e-0000-4000-8000-000000000001\",\"location\":\"%s\",\"last-sequence-number\":1,\"last-updated-ms\":1,\"last-column-id\":1,"
        "\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"x\",\"required\":false,\"type\":\"long\"}]}],"
        "\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[]}],\"last-partition-id\":999,\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],"
        "\"properties\":%s,\"current-snapshot-id\":5,\"snapshots\":[{\"snapshot-id\":5,\"sequence-number\":1,\"timestamp-ms\":1,\"summary\":{\"operation\":\"append\"},\"manifest-list\":\"%s/metadata/l.avro\"}],"
        "\"refs\":{\"main\":{\"snapshot-id\":5,\"type\":\"branch\"}}}", location, props, location);
}

static UNUSED Str table_text(Env *e, const char *metadata_location, Str metadata, const char *config)
{
    return str_fmt(e->a, "{\"metadata-location\":\"%s\",\"metadata\":" STR_FMT ",\"config\":%s}", metadata_location, STR_ARG(metadata), config);
}

static UNUSED int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;

    e->a = arena_create();
    e->sa = arena_create();
    pthread_mutex_init(&e->mu, NULL);
    strcpy(e->dir, "/tmp/firn-test-XXXXXX");
    assert_non_null(mkdtemp(e->dir));
    e->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(e->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(e->fd, 16), 0);
    assert_int_equal(getsockname(e->fd, (struct sockaddr *)&at, &n), 0);
    e->port = ntohs(at.sin_port);
    e->answer = usual;
    e->status = 200;
    e->token_life = 3600;
    e->config = S("{\"defaults\":{},\"overrides\":{}}");
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), "{}");
    assert_int_equal(pthread_create(&e->thread, NULL, serve, e), 0);
    *state = e;
    return 0;
}

static UNUSED int teardown(void **state)
{
    Env *e = *state;
    remote_close(e->c);
    shutdown(e->fd, SHUT_RDWR);
    pthread_join(e->thread, NULL);
    close(e->fd);
    assert_int_equal(rmdir(e->dir), 0);
    pthread_mutex_destroy(&e->mu);
    arena_destroy(e->a);
    arena_destroy(e->sa);
    free(e);
    return 0;
}

static UNUSED Status keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    (void)err, (void)a;
    ((Env *)ctx)->keys_asked++;
    *ret = (AwsKeys){ .access_key = S("AKIDTEST"), .secret_key = S("secret") };
    return OK;
}

static UNUSED RemoteOptions options(Env *e)
{
    return (RemoteOptions){ .kind = REMOTE_REST, .url = str_fmt(e->a, "http://127.0.0.1:%d/cat/", e->port), .dir = str_c(e->dir), .timeout_ms = 2000, .keys = { e, keys } };
}

static UNUSED void open_catalog(Env *e, RemoteOptions o)
{
    remote_close(e->c);
    e->c = NULL;
    assert_ok(remote_open(&o, &e->c, &e->err), &e->err);
}

static UNUSED Str refuses_all(Env *e, const Asked *q)
{
    return has(q->line, "/oauth/tokens") ? http(e, 401, S("{\"error\":\"invalid_client\",\"error_description\":\"who are you\\n?\"}")) : usual(e, q);
}

static UNUSED void load_fails(Env *e, Str answer, Status st)
{
    RemoteTable t = {0};
    e->table = answer;
    Status got = remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err);
    if (got != st)
        fail_msg("%s: %s", status_name(got), got == OK ? "" : e->err.message);
    assert_null(t.store);
}

#endif
