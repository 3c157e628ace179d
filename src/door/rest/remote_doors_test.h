/* SPDX-License-Identifier: Apache-2.0 */
/* remote_doors_test.h - a REST and an S3 door on a port of this process, and a client of them, for tests of what talks to catalogs elsewhere. */
#ifndef FIRN_REMOTE_DOORS_TEST_H
#define FIRN_REMOTE_DOORS_TEST_H

#include "remote/remote_life_test.h"
#include "door/rest/restdoor.h"
#include "door/s3/s3door.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "123456789012"

typedef struct Env {
    Arena *a;
    Str dir;
    Catalog *c;
    Access *x;
    Store *st;
    RestDoor *rest;
    S3Door *s3;
    HttpServer *srv;
    Str url;
    HttpServer *bad;              /* the same doors, behind a bad line */
    Str bad_url;
    int badness;                  /* of 100 requests there */
    Client client;
    int s3_requests, down;        /* down: the next requests to S3 get 503 */
    Error err;
} Env;

/* ---- the server ------------------------------------------------------------------------------------------------------ */

static Status secret(void *ctx, Arena *a, const HttpRequest *r, const SigClaim *c, Str *ret, void **principal, Error *err)
{
    Principal *p = arena_new(a, Principal);
    (void)r;
    *principal = p;
    return access_by_key(((Env *)ctx)->x, a, c->access_key, c->session_token, ret, p, err);
}

static Status allow(void *ctx, Arena *a, void *principal, const char *action, Str bucket, Str key, const Props *context, Error *err)
{
    Action act = strncmp(action, "s3:Put", 6) == 0 || strncmp(action, "s3:Abort", 8) == 0 ? ACT_OBJECT_PUT : strncmp(action, "s3:Delete", 9) == 0 ? ACT_OBJECT_DELETE
               : strncmp(action, "s3:List", 7) == 0 ? ACT_OBJECT_LIST : ACT_OBJECT_GET;
    Ask ask = { .action = act, .api = action, .context = context, .bucket = bucket, .key = key };
    if (!principal)
        return FAIL(err, E_DENIED, "not signed");
    return access_check(((Env *)ctx)->x, a, principal, &ask, err);
}

static void answer(void *ctx, HttpRequest *r, HttpAnswer *ret)
{
    Env *e = ctx;
    if (str_starts(r->path, S("/iceberg/"))) {
        rest_handle(e->rest, r, ret);
    } else if (__atomic_fetch_sub(&e->down, 1, __ATOMIC_RELAXED) > 0) {
        ret->status = 503;
    } else {
        __atomic_fetch_add(&e->s3_requests, 1, __ATOMIC_RELAXED);
        s3_handle(e->s3, r, ret);
    }
}

static UNUSED Status half_pull(void *ctx, char *buf, size_t cap, size_t *n, Error *err)
{
    int *calls = ctx;
    (void)cap;
    if ((*calls)++)
        return FAIL(err, E_IO, "cut");
    *n = 1;
    buf[0] = '{';
    return OK;
}

/* Refused, failed, done and cut, or answered by half. */
static void answer_badly(void *ctx, HttpRequest *r, HttpAnswer *ret)
{
    Env *e = ctx;
    uint64_t dice = rand_u64() % 100, way = rand_u64() % 4;
    bool bad = dice < (uint64_t)__atomic_load_n(&e->badness, __ATOMIC_RELAXED);

    if (bad && way < 2) {
        ret->status = way ? 503 : 500;
        return;
    }
    answer(ctx, r, ret);
    if (!bad)
        return;
    file_closep(&ret->fd);
    *ret = (HttpAnswer){ .status = 200, .fd = -1, .pull = half_pull, .ctx = arena_alloc(r->arena, sizeof(int)), .length = 1000 };
}

static int set_up(void **state)
{
    Env *e = calloc(1, sizeof *e);
    char dir[] = "/tmp/firn-remote-XXXXXX";
    HttpServerOptions ho = { .addr = S("127.0.0.1"), .name = "test" };
    CatKey k = { .id = S("AKIAROOT"), .secret = S("rootsecret"), .principal = S("arn:aws:iam::" ACCOUNT ":root"), .active = 1 };

    e->a = arena_create();
    assert_non_null(mkdtemp(dir));
    e->dir = str_dup(e->a, str_c(dir));
    assert_ok(store_open_memory(&e->st, &e->err), &e->err);
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", dir), S(ACCOUNT), S("us-east-1"), &e->c, &e->err), &e->err);
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    e->x = access_new(e->c);
    RestOptions ro = { .svc = { .catalog = e->c, .access = e->x, .store = e->st } };
    S3DoorOptions so = { .store = e->st, .region = S("us-east-1"), .owner_id = S(ACCOUNT), .owner_name = S(ACCOUNT), .hooks = { .ctx = e, .secret = secret, .allow = allow } };
    e->rest = rest_new(&ro);
    e->s3 = s3_door_new(&so);
    assert_ok(http_serve(&ho, answer, e, &e->srv, &e->err), &e->err);
    e->url = str_fmt(e->a, "http://127.0.0.1:%d/iceberg", http_server_port(e->srv));
    assert_ok(http_serve(&ho, answer_badly, e, &e->bad, &e->err), &e->err);
    e->bad_url = str_fmt(e->a, "http://127.0.0.1:%d/iceberg", http_server_port(e->bad));
    client_start(&e->client, e->a, S("ns"));
    *state = e;
    return 0;
}

static int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *ftw UNUSED) { return remove(path); }

static int tear_down(void **state)
{
    Env *e = *state;
    client_stop(&e->client);
    http_server_stop(e->srv, 1);
    http_server_stop(e->bad, 1);
    rest_free(e->rest);
    s3_door_free(e->s3);
    access_free(e->x);
    cat_close(e->c);
    store_close(e->st);
    nftw(e->dir.p, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* ---- the client --------------------------------------------------------------------------------------------------------- */

static UNUSED Status root_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    (void)ctx, (void)a, (void)err;
    *ret = (AwsKeys){ .access_key = S("AKIAROOT"), .secret_key = S("rootsecret") };
    return OK;
}

/* By OAuth with vended credentials; by signatures with the root's own keys, as the guide has it. */
static UNUSED RemoteOptions by_oauth(Env *e)
{
    return (RemoteOptions){ .kind = REMOTE_REST, .url = e->url, .credential = S("AKIAROOT:rootsecret"), .delegation = REMOTE_VENDED, .dir = str_cat(e->a, e->dir, S("/copies")) };
}

static UNUSED RemoteOptions by_signature(Env *e)
{
    return (RemoteOptions){ .kind = REMOTE_GLUE, .url = S("https://glue.us-east-1.amazonaws.com/iceberg"), .endpoint = str_sub(e->url, 0, e->url.n - 8), .region = S("us-east-1"),
                            .warehouse = S(ACCOUNT), .keys = { NULL, root_keys }, .dir = str_cat(e->a, e->dir, S("/copies")) };
}

#endif
