/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest_remote.c - firn as its own client: tables made, written, deleted from and read through remote/ and lake/ on a remote store, against the REST and S3 doors of this process. */
#include "door/rest/remote_doors_test.h"

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

/* A manifest that names what is not the table's. */
static void test_file_elsewhere(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    IceChange ch;
    LakeRelation rel;

    open_remote(e, by_signature(env));
    create_table(e, 0, "2");
    prepare_insert(e, "(1, 'a')", &ch);
    ch.add_data.p[0].path = S("s3://secrets/x.parquet");
    assert_ok(commit(e, &ch), &e->err);
    LakeScan scan = { .snapshot = ice_current_snapshot(e->t.meta), .schema = ice_current_schema(e->t.meta) };
    assert_status(lake_scan(e->l, e->a, e->conn, &e->lt, &scan, &rel, &e->err), E_DENIED);
    assert_non_null(strstr(e->err.message, "s3://secrets/x.parquet"));
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

/* What a commit says of itself is held against the table, looked at over a good line: OK is done, E_UNKNOWN may be, everything else is not. */
static void test_commits_over_a_bad_line(void **state)
{
    Env *env = *state;
    Client *e = &env->client;
    RemoteOptions o = by_oauth(env);
    RemoteCatalog *good = NULL;
    RemoteTable truth = {0};
    int unknown = 0, landed = 0, done = 0;

    assert_ok(remote_open(&o, &good, &e->err), &e->err);
    o.url = env->bad_url;
    open_remote(e, o);
    create_table(e, 0, "2");
    assert_ok(remote_table_load(good, e->a, S("ns"), S("t"), &truth, &e->err), &e->err);
    env->badness = 60;
    for (int i = 0; i < 40; i++) {
        IceUpdates ups = {0};
        IceRequirements rqs = {0};
        IceUpdate u = { .kind = UP_SET_PROPERTIES };
        Str key = str_fmt(e->a, "k%d", i);
        props_set(e->a, &u.props, key, S("v"));
        vec_push(e->a, &ups, u);
        Status st = remote_table_commit(&e->t, e->a, &ups, &rqs, &e->err);
        assert_ok(remote_table_reload(&truth, e->a, &e->err), &e->err);
        int there = props_has(&truth.meta->properties, key);
        if (st != E_UNKNOWN)
            assert_int_equal(there, st == OK);
        unknown += st == E_UNKNOWN;
        landed += st == E_UNKNOWN && there;
        done += st == OK;
    }
    assert_true(done > 0 && unknown > 0 && landed > 0 && landed < unknown);
    env->badness = 0;
    remote_table_end(&truth);
    remote_close(good);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_oauth), T(test_signatures), T(test_vectors), T(test_conflict), T(test_store_that_fails), T(test_elsewhere), T(test_file_elsewhere), T(test_large_object), T(test_commits_over_a_bad_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
