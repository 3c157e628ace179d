/* SPDX-License-Identifier: Apache-2.0 */
/* test_foreign.c - the same life of tables in a catalog that is not ours.  FIRN_FOREIGN_CATALOG is its URL, FIRN_FOREIGN_KEYS "id:secret" of its object store's keys;
 * FIRN_FOREIGN_VENDED: ask for vended credentials instead, FIRN_FOREIGN_S3: the object store's URL. Skipped without. (tests/suites/test_foreign_catalog.py starts one.) */
#include "remote/remote_life_test.h"

#include <stdlib.h>

static Status own_keys(void *ctx, Arena *a, AwsKeys *ret, Error *err)
{
    (void)ctx, (void)a, (void)err;
    *ret = (AwsKeys){0};
    str_cut(str_c(getenv("FIRN_FOREIGN_KEYS")), ':', &ret->access_key, &ret->secret_key);
    return OK;
}

static int set_up(void **state)
{
    Client *e = calloc(1, sizeof *e);
    const char *url = getenv("FIRN_FOREIGN_CATALOG");
    *state = e;
    if (!url)
        return 0;
    Arena *a = arena_create();
    RemoteOptions o = { .kind = REMOTE_REST, .url = str_c(url), .delegation = getenv("FIRN_FOREIGN_VENDED") ? REMOTE_VENDED : REMOTE_OWN_KEYS, .region = S("us-east-1") };
    if (getenv("FIRN_FOREIGN_S3"))
        props_set(a, &o.storage, S("s3.endpoint"), str_c(getenv("FIRN_FOREIGN_S3")));
    if (getenv("FIRN_FOREIGN_KEYS"))
        o.keys.get = own_keys;
    client_start(e, a, str_fmt(a, "n%llu", (unsigned long long)rand_u64()));
    open_remote(e, o);
    return 0;
}

static int tear_down(void **state)
{
    Client *e = *state;
    if (e->a) {
        client_stop(e);
        arena_destroy(e->a);
    }
    free(e);
    return 0;
}

static void with(void **state, int partitioned, const char *version)
{
    Client *e = *state;
    if (e->a)
        life(e, partitioned, version);
    else
        skip();
}

static void test_plain(void **state) { with(state, 0, "2"); }
static void test_partitioned(void **state) { with(state, 1, "2"); }
static void test_vectors(void **state) { with(state, 1, "3"); }

static void test_conflict(void **state)
{
    Client *e = *state;
    RemoteTable other = {0};
    IceChange ch;

    if (!e->a)
        skip();
    create_table(e, 0, "2");
    insert(e, "(1, 'a')");
    assert_ok(remote_table_load(e->remote, e->a, e->ns, S("t"), &other, &e->err), &e->err);
    prepare_insert(e, "(2, 'b')", &ch);
    insert(e, "(3, 'c')");
    RemoteTable mine = e->t;
    e->t = other;
    assert_status(commit(e, &ch), E_CONFLICT);
    assert_ok(remote_table_reload(&e->t, e->a, &e->err), &e->err);
    use_table(e);
    assert_ok(commit(e, &ch), &e->err);
    assert_str(rows_now(e), "1a 2b 3c");
    RemoteTable again = {0};
    assert_status(remote_table_create(e->remote, e->a, e->ns, S("t"), &(RemoteNew){ .schema = ice_current_schema(e->t.meta) }, &again, &e->err), E_EXISTS);
    lake_free(e->l);
    e->l = NULL;
    remote_table_end(&mine);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = { T(test_plain), T(test_partitioned), T(test_vectors), T(test_conflict) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
