/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest_remote.c - firn as its own client: tables made, written, deleted from and read through remote/ and lake/ on a remote store, against the REST and S3 doors of this process. */
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

static Status root_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    (void)ctx, (void)a, (void)err;
    *ret = (AwsKeys){ .access_key = S("AKIAROOT"), .secret_key = S("rootsecret") };
    return OK;
}

/* By OAuth with vended credentials; by signatures with the root's own keys, as the guide has it. */
static RemoteOptions by_oauth(Env *e)
{
    return (RemoteOptions){ .kind = REMOTE_REST, .url = e->url, .credential = S("AKIAROOT:rootsecret"), .vended = 1, .dir = str_cat(e->a, e->dir, S("/copies")) };
}

static RemoteOptions by_signature(Env *e)
{
    return (RemoteOptions){ .kind = REMOTE_GLUE, .url = S("https://glue.us-east-1.amazonaws.com/iceberg"), .endpoint = str_sub(e->url, 0, e->url.n - 8), .region = S("us-east-1"),
                            .warehouse = S(ACCOUNT), .keys = { NULL, root_keys }, .dir = str_cat(e->a, e->dir, S("/copies")) };
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

static void test_oauth(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    open_remote(e, by_oauth(env));
    life(e, 0, "2");
}

static void test_signatures(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    open_remote(e, by_signature(env));
    life(e, 1, "2");
}

static void test_vectors(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    open_remote(e, by_oauth(env));
    life(e, 1, "3");
}

/* Two that commit on the same base: one of them is told so, and nothing of its is there. */
static void test_conflict(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    IceChange ch;
    RemoteTable other = {0};

    open_remote(e, by_oauth(env));
    create_table(e, 0, "2");
    insert(e, "(1, 'a')");
    assert_ok(remote_table_load(e->remote, e->a, S("ns"), S("t"), &other, &e->err), &e->err);
    prepare_insert(e, "(2, 'b')", &ch);
    insert(e, "(3, 'c')");
    RemoteTable mine = e->t;
    e->t = other;
    assert_status(commit(e, &ch), E_CONFLICT);
    assert_non_null(strstr(e->err.message, "has changed"));
    assert_ok(remote_table_reload(&e->t, e->a, &e->err), &e->err);
    use_table(e);
    assert_str(rows_now(e), "1a 3c");
    assert_ok(commit(e, &ch), &e->err);              /* on the new base; its file is still there */
    assert_str(rows_now(e), "1a 2b 3c");
    lake_free(e->l);
    e->l = NULL;
    remote_table_end(&mine);
    assert_status(remote_table_create(e->remote, e->a, S("ns"), S("t"), &(RemoteNew){ .schema = ice_current_schema(e->t.meta) }, &mine, &e->err), E_EXISTS);
}

static void test_store_that_fails(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    open_remote(e, by_oauth(env));
    create_table(e, 0, "2");
    env->down = 3;
    insert(e, "(1, 'a')");
    env->down = 3;
    assert_str(rows_now(e), "1a");
}

/* Vended credentials are for the table's own place. */
static void test_elsewhere(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    Str got;
    open_remote(e, by_oauth(env));
    create_table(e, 0, "2");
    Str outside = str_cat(e->a, e->t.meta->location, S("x/y"));
    assert_status(store_put(e->t.store, outside, S("x"), &e->err), E_DENIED);
    assert_status(store_read(e->t.store, e->a, outside, 10, &got, &e->err), E_DENIED);
}

static void test_large_object(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    ObjectInfo o;
    StoreWriter *w;
    Str got, uri, part = { arena_alloc(e->a, 20 << 20), 20 << 20 };
    ObjectInfos all = {0};

    open_remote(e, by_signature(env));
    create_table(e, 0, "2");
    uri = str_cat(e->a, e->t.meta->location, S("/data/large object"));
    Location at;
    assert_ok(store_parse_location(e->a, uri, &at, &e->err), &e->err);
    assert_ok(store_put_open(e->t.store, at.bucket, at.key, &w, &e->err), &e->err);
    assert_ok(store_put_add(w, part, &e->err), &e->err);
    assert_ok(store_put_add(w, S("end"), &e->err), &e->err);
    assert_ok(store_put_commit(w, NULL, e->a, &o, &e->err), &e->err);
    assert_int_equal(o.size, part.n + 3);
    assert_true(str_ends(o.etag, S("-2")));
    assert_ok(store_read_range(e->t.store, e->a, uri, (int64_t)part.n, 3, &got, &e->err), &e->err);
    assert_str(got, "end");
    assert_ok(store_put_new(e->t.store, str_cat(e->a, e->t.meta->location, S("/once")), S("1"), &e->err), &e->err);
    assert_status(store_put_new(e->t.store, str_cat(e->a, e->t.meta->location, S("/once")), S("2"), &e->err), E_EXISTS);
    assert_ok(store_list_all(e->t.store, e->a, str_cat(e->a, e->t.meta->location, S("/data/")), &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
    assert_true(str_eq(all.p[0].key, at.key));
    assert_ok(store_delete(e->t.store, uri, &e->err), &e->err);
    assert_status(store_stat(e->t.store, e->a, uri, &o, &e->err), E_NOT_FOUND);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_oauth), T(test_signatures), T(test_vectors), T(test_conflict), T(test_store_that_fails), T(test_elsewhere), T(test_large_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
