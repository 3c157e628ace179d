/* SPDX-License-Identifier: Apache-2.0 */
/* test_tables.c - commits over a store that fails at its n-th call, and races: old or new, never between; nothing left behind. */
#include "base/test.h"
#include "service/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "123456789012"

typedef struct Env { Arena *a; char dir[64]; SvcCtx ctx; Principal root; SvcCall call; Error err; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-tab-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(store_open_memory(&e->ctx.store, &e->err), &e->err);
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S(ACCOUNT), S("us-east-1"), &e->ctx.catalog, &e->err), &e->err);
    e->ctx.access = access_new(e->ctx.catalog);
    e->root = access_root(e->a, e->ctx.access);
    e->call = (SvcCall){ .ctx = &e->ctx, .a = e->a, .who = &e->root, .api = "test" };
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };
    access_free(e->ctx.access);
    cat_close(e->ctx.catalog);
    store_close(e->ctx.store);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static SvcName name_of(Str name) { return (SvcName){ .catalog = S(ACCOUNT), .namespace = S("ns"), .name = name }; }

static Status make(Env *e, Str name, SvcTable *ret)
{
    Json *j = NULL;
    SvcNewTable n = { .name = name_of(name) };
    TRY(json_parse(e->a, S("{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":false}]}"), &j, &e->err));
    TRY(ice_schema_parse(e->a, j, &n.schema, &e->err));
    return svc_table_create(&e->call, &n, ret, &e->err);
}

static void make_ns(Env *e)
{
    CatNamespace n = {0};
    Props none = {0};
    assert_ok(svc_namespace_create(&e->call, S(ACCOUNT), S("ns"), &none, &n, &e->err), &e->err);
}

static SvcCommit set(Arena *a, Str table, Str key, Str value)
{
    SvcCommit c = { .name = name_of(table), .as = ACT_WRITE_DATA };
    IceUpdate up = { .kind = UP_SET_PROPERTIES };
    props_set(a, &up.props, key, value);
    vec_push(a, &c.updates, up);
    return c;
}

static Str prop(Env *e, Str table, Str key)
{
    SvcName n = name_of(table);
    SvcTable t = {0};
    assert_ok(svc_table_load(&e->call, &n, &t, &e->err), &e->err);
    return props_get(&t.metadata->properties, key, S("none"));
}

static size_t files(Env *e)
{
    ObjectInfos all = {0};
    assert_ok(store_list_all(e->ctx.store, e->a, S("s3://firn-warehouse/"), &all, &e->err), &e->err);
    return all.n;
}

/* Whatever call of the store fails, the transaction over two tables happened to both or to none, and leaves no stray file. */
static void test_every_store_call_may_fail(void **state)
{
    Env *e = *state;
    SvcTable t = {0};
    int done = 0;

    make_ns(e);
    assert_ok(make(e, S("x"), &t), &e->err);
    assert_ok(make(e, S("y"), &t), &e->err);
    for (int64_t nth = 1; !done && nth < 100; nth++) {
        Str v = str_fmt(e->a, "%lld", (long long)nth);
        SvcCommit both[2] = { set(e->a, S("x"), S("k"), v), set(e->a, S("y"), S("k"), v) };
        size_t before = files(e);
        store_memory_fail_at(e->ctx.store, store_memory_calls(e->ctx.store) + nth, E_IO);
        Status s = svc_table_commit_all(&e->call, both, 2, &e->err);
        store_memory_fail_at(e->ctx.store, 0, OK);
        bool x = str_eq(prop(e, S("x"), S("k")), v), y = str_eq(prop(e, S("y"), S("k")), v);
        assert_true(x == y);
        assert_true((s == OK) == x);
        assert_int_equal(files(e), before + (s == OK ? 2 : 0));
        done = s == OK;
    }
    assert_true(done);
}

static void test_a_failed_create_leaves_nothing(void **state)
{
    Env *e = *state;
    SvcTable t = {0};
    SvcName n = name_of(S("t"));
    int done = 0;

    make_ns(e);
    assert_ok(make(e, S("other"), &t), &e->err);
    size_t before = files(e);
    for (int64_t nth = 1; !done && nth < 100; nth++) {
        store_memory_fail_at(e->ctx.store, store_memory_calls(e->ctx.store) + nth, E_FULL);
        done = make(e, S("t"), &t) == OK;
        store_memory_fail_at(e->ctx.store, 0, OK);
        if (!done)
            assert_status(svc_table_exists(&e->call, &n, &e->err), E_NOT_FOUND);
        assert_int_equal(files(e), before + (size_t)done);
    }
    assert_true(done);
}

typedef struct Racer { Env *e; int id; long won; } Racer;

static void *race(void *arg)
{
    Racer *r = arg;
    for (int i = 0; i < 10; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        SvcCall call = r->e->call;
        SvcTable t = {0};
        Error err;
        call.a = a;
        SvcCommit c = set(a, S("t"), str_fmt(a, "k%d-%d", r->id, i), S("1"));
        r->won += svc_table_commit(&call, &c, &t, &err) == OK;
    }
    return NULL;
}

/* Commits without requirements all land, each on top of the others, for each one metadata file. */
static void test_racing_commits_all_land(void **state)
{
    Env *e = *state;
    SvcTable t = {0};
    SvcName n = name_of(S("t"));
    Racer racers[4];
    pthread_t th[4];
    long won = 0;

    make_ns(e);
    assert_ok(make(e, S("t"), &t), &e->err);
    size_t props = t.metadata->properties.n;
    for (int i = 0; i < 4; i++) {
        racers[i] = (Racer){ .e = e, .id = i };
        assert_int_equal(pthread_create(&th[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(th[i], NULL);
        won += racers[i].won;
    }
    assert_ok(svc_table_load(&e->call, &n, &t, &e->err), &e->err);
    assert_int_equal(t.metadata->properties.n, props + (size_t)won);
    assert_int_equal(files(e), 1 + (size_t)won);
    assert_true(won >= 30);
}

static void test_drop_with_purge_keeps_what_is_not_its_own(void **state)
{
    Env *e = *state;
    SvcTable t = {0}, u = {0};
    SvcName n = name_of(S("t")), again = name_of(S("again"));

    make_ns(e);
    assert_ok(make(e, S("t"), &t), &e->err);
    assert_ok(make(e, S("u"), &u), &e->err);
    assert_ok(svc_table_register(&e->call, &again, t.relation.metadata_location, SVC_REGISTER_NEW, &u, &e->err), &e->err);
    assert_ok(svc_table_drop(&e->call, &n, SVC_PURGE_FILES, &e->err), &e->err);
    assert_ok(svc_table_load(&e->call, &again, &t, &e->err), &e->err);            /* its files are still there */
    assert_ok(svc_table_drop(&e->call, &again, SVC_PURGE_FILES, &e->err), &e->err);
    assert_int_equal(files(e), 1);
}

static void test_table_bucket(void **state)
{
    Env *e = *state;
    CatWarehouse w = { .id = S(ACCOUNT ":s3tablescatalog/tb"), .sql_name = S("tb"), .kind = S("table_bucket"),
                       .arn = S("arn:aws:s3tables:us-east-1:" ACCOUNT ":bucket/tb"), .bucket = S("tb") };
    CatNamespace n = {0};
    Props none = {0};
    SvcNewTable t = { .name = { .catalog = w.id, .namespace = S("ns"), .name = S("t") }, .schema = arena_new(e->a, IceSchema) };
    SvcTable got = {0};
    Location l = {0};
    BucketInfo b = {0};

    assert_ok(cat_warehouse_create(e->ctx.catalog, &w, &e->err), &e->err);
    assert_ok(svc_namespace_create(&e->call, w.id, S("ns"), &none, &n, &e->err), &e->err);
    assert_ok(svc_table_create(&e->call, &t, &got, &e->err), &e->err);
    assert_ok(store_parse_location(e->a, got.relation.location, &l, &e->err), &e->err);
    assert_int_equal(l.bucket.n, 63);
    assert_true(str_ends(l.bucket, S("--table-s3")));
    assert_ok(svc_table_drop(&e->call, &t.name, SVC_KEEP_FILES, &e->err), &e->err);
    assert_status(store_bucket_get(e->ctx.store, e->a, l.bucket, &b, &e->err), E_NOT_FOUND);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_every_store_call_may_fail), T(test_a_failed_create_leaves_nothing), T(test_racing_commits_all_land),
        T(test_drop_with_purge_keeps_what_is_not_its_own), T(test_table_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
