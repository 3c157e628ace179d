/* SPDX-License-Identifier: Apache-2.0 */
/* test_lake_maintain.c - maintenance over a real store, catalog and engine: the rows stay, what nobody needs goes, what somebody needs does not. */
#include "lake/lake_env_test.h"

static size_t live_files(Env *e, const LakeTable *t)
{
    IceScan scan = {0};
    assert_ok(ice_scan(e->a, e->s, t->meta, ice_current_snapshot(t->meta), NULL, &scan, &e->err), &e->err);
    return scan.tasks.n;
}

static size_t objects(Env *e, const char *prefix)
{
    ObjectInfos found = {0};
    assert_ok(store_list_all(e->s, e->a, str_c(prefix), &found, &e->err), &e->err);
    return found.n;
}

/* ---- rewriting ------------------------------------------------------------------------------------------------------------------ */

static void rewrite_keeps_rows(void **state)
{
    Env *e = *state;
    LakeRewritten done;
    LakeTable t = e->t;

    for (int i = 0; i < 6; i++)
        t = insert(e, t, str_fmt(e->a, "(%d, 'eu'), (%d, 'us')", i, 10 + i).p);
    t = delete_where(e, t, "id IN (3, 14)");
    Str before = rows_of(e, &t);
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &t, &(LakeRewrite){0}, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 6);
    assert_int_equal(done.added_files, 1);
    t = now(e, &t);
    assert_str(ice_current_snapshot(t.meta)->operation, "replace");
    assert_int_equal(live_files(e, &t), 1);
    assert_true(str_eq(rows_of(e, &t), before));
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &t, &(LakeRewrite){0}, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 0);             /* one file is not worth it */
}

/* The caller's table is an older state: a delete came since. It must not come back. */
static void rewrite_keeps_deletes_that_came_meanwhile(void **state)
{
    Env *e = *state;
    LakeRewritten done;
    LakeTable t = e->t;

    for (int i = 0; i < 5; i++)
        t = insert(e, t, str_fmt(e->a, "(%d, 'eu'), (%d, 'us')", i, 10 + i).p);
    LakeTable old = t;
    t = delete_where(e, t, "id = 2");
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &old, &(LakeRewrite){ .rewrite_all = 1 }, &done, &e->err), &e->err);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "0eu 1eu 3eu 4eu 10us 11us 12us 13us 14us");
    assert_int_equal(live_files(e, &t), 1);
}

static void rewrite_keeps_rows_added_meanwhile(void **state)
{
    Env *e = *state;
    LakeRewritten done;
    LakeTable t = insert(e, insert(e, e->t, "(1, 'a')"), "(2, 'b')"), old = t;

    t = insert(e, t, "(3, 'c')");
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &old, &(LakeRewrite){ .min_input_files = 2 }, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 2);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "1a 2b 3c");
    assert_int_equal(live_files(e, &t), 2);
}

static void rewrite_by_partition(void **state)
{
    Env *e = *state;
    LakeRewritten done;
    LakeTable t = new_table(e, "p", S("s3://w/p"), 1);

    for (int i = 0; i < 3; i++)
        t = insert(e, t, str_fmt(e->a, "(%d, 'eu'), (%d, 'us')", i, 10 + i).p);
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &t, &(LakeRewrite){ .min_input_files = 3 }, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 6);
    assert_int_equal(done.added_files, 2);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "0eu 1eu 2eu 10us 11us 12us");
}

static void deletes_merge(void **state)
{
    Env *e = *state;
    LakeMergedDeletes done;
    LakeTable t = insert(e, insert(e, e->t, "(1, 'a'), (2, 'a'), (3, 'a'), (4, 'a'), (5, 'a')"), "(6, 'b'), (7, 'b'), (8, 'b')");

    for (int i = 2; i < 8; i++)
        t = delete_where(e, t, str_fmt(e->a, "id = %d", i).p);
    assert_str(rows_of(e, &t), "1a 8b");
    assert_ok(lake_merge_deletes(e->l, e->a, e->c, &t, 0, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 6);
    assert_int_equal(done.added_files, 1);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "1a 8b");
    assert_int_equal(live_files(e, &t), 2);
    assert_str(props_get(&ice_current_snapshot(t.meta)->summary, S("total-delete-files"), S("")), "1");
    assert_ok(lake_merge_deletes(e->l, e->a, e->c, &t, 0, &done, &e->err), &e->err);
    assert_int_equal(done.rewritten_files, 0);
    LakeTable old = t;
    t = delete_where(e, t, "id = 1");                     /* came meanwhile: the first file goes whole */
    assert_ok(lake_merge_deletes(e->l, e->a, e->c, &old, 1, &done, &e->err), &e->err);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "8b");
}

/* ---- expiry ------------------------------------------------------------------------------------------------------------------------ */

static void expire_keeps_pinned(void **state)
{
    Env *e = *state;
    LakeTable t = insert(e, e->t, "(1, 'a')");
    int64_t pinned = t.meta->current_snapshot_id.v;
    LakeRewritten done;
    LakeExpired gone;

    t = insert(e, t, "(2, 'b')");
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &t, &(LakeRewrite){ .rewrite_all = 1 }, &done, &e->err), &e->err);
    t = insert(e, now(e, &t), "(3, 'c')");
    IceExpire x = { .older_than_ms = clock_ms() + 1000, .retain_last = 1, .now_ms = clock_ms() };
    assert_ok(lake_expire(e->l, e->a, &t, &x, &pinned, 1, &gone, &e->err), &e->err);
    t = now(e, &t);
    assert_int_equal(gone.snapshots, 2);
    assert_int_equal(gone.data_files, 1);                  /* (2, 'b') as it was written; (1, 'a') is still needed by the pinned snapshot */
    assert_str(rows_of(e, &t), "1a 2b 3c");
    assert_non_null(ice_snapshot(t.meta, pinned));
    assert_str(rows_at(e, &t, ice_snapshot(t.meta, pinned)), "1a");
    assert_ok(lake_expire(e->l, e->a, &t, &x, NULL, 0, &gone, &e->err), &e->err);
    assert_int_equal(gone.data_files, 1);
    t = now(e, &t);
    assert_null(ice_snapshot(t.meta, pinned));
    assert_str(rows_of(e, &t), "1a 2b 3c");
}

/* The same metadata under two names: what one lets go of, the other still reads. */
static void expire_spares_a_second_name(void **state)
{
    Env *e = *state;
    LakeTable t = insert(e, insert(e, e->t, "(1, 'a')"), "(2, 'b')"), twin = t;
    LakeRewritten done;
    LakeExpired gone;

    twin.relation.name = S("twin");
    twin.relation.uuid = S("another");
    CatChange ch = { .kind = CH_CREATE, .relation = &twin.relation };
    assert_ok(cat_commit(e->cat, &ch, 1, &e->err), &e->err);
    assert_ok(lake_rewrite_files(e->l, e->a, e->c, &t, &(LakeRewrite){ .rewrite_all = 1 }, &done, &e->err), &e->err);
    t = now(e, &t);
    IceExpire x = { .older_than_ms = clock_ms() + 1000, .retain_last = 1, .now_ms = clock_ms() };
    assert_ok(lake_expire(e->l, e->a, &t, &x, NULL, 0, &gone, &e->err), &e->err);
    assert_int_equal(gone.snapshots, 2);
    assert_int_equal(gone.data_files, 0);
    twin = now(e, &twin);
    assert_str(rows_of(e, &twin), "1a 2b");
}

/* ---- manifests, orphans ---------------------------------------------------------------------------------------------------------------- */

static void manifests_merge(void **state)
{
    Env *e = *state;
    LakeTable t = insert(e, insert(e, insert(e, e->t, "(1, 'a')"), "(2, 'b')"), "(3, 'c')");
    int64_t rewritten, added;

    assert_ok(lake_rewrite_manifests(e->l, e->a, &t, &rewritten, &added, &e->err), &e->err);
    assert_int_equal(rewritten, 3);
    assert_int_equal(added, 1);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "1a 2b 3c");
    assert_ok(lake_rewrite_manifests(e->l, e->a, &t, &rewritten, &added, &e->err), &e->err);
    assert_int_equal(rewritten, 0);
}

static void orphans(void **state)
{
    Env *e = *state;
    LakeTable t = insert(e, insert(e, e->t, "(1, 'a')"), "(2, 'b')"), inner = insert(e, new_table(e, "inner", S("s3://w/t2"), 0), "(9, 'z')");
    size_t before = objects(e, "s3://w/t/");
    StrVec found = {0}, none = {0};

    assert_ok(store_put(e->s, S("s3://w/t/data/junk.parquet"), S("x"), &e->err), &e->err);
    assert_ok(store_put(e->s, S("s3://w/t/data/_temporary/junk"), S("x"), &e->err), &e->err);
    assert_ok(lake_remove_orphans(e->l, e->a, &t, (Str){0}, clock_ms() - 3600000, ORPHANS_REMOVE, &none, &e->err), &e->err);
    assert_int_equal(none.n, 0);                           /* all is younger than an hour */
    assert_ok(lake_remove_orphans(e->l, e->a, &t, (Str){0}, clock_ms() + 1000, ORPHANS_LIST, &found, &e->err), &e->err);
    assert_int_equal(found.n, 1);
    assert_str(found.p[0], "s3://w/t/data/junk.parquet");
    assert_int_equal(objects(e, "s3://w/t/"), before + 2);
    found.n = 0;
    assert_ok(lake_remove_orphans(e->l, e->a, &t, (Str){0}, clock_ms() + 1000, ORPHANS_REMOVE, &found, &e->err), &e->err);
    assert_int_equal(objects(e, "s3://w/t/"), before + 1);
    assert_str(rows_of(e, &t), "1a 2b");
    assert_str(rows_of(e, &inner), "9z");
    assert_status(lake_remove_orphans(e->l, e->a, &t, S("s3://w"), clock_ms(), ORPHANS_LIST, &found, &e->err), E_INVALID);
}

/* ---- adopting ---------------------------------------------------------------------------------------------------------------------------- */

static void put_parquet(Env *e, const char *uri)
{
    Str local = str_fmt(e->a, STR_FMT "/x.parquet", STR_ARG(store_scratch(e->s)));
    ObjectInfo info;
    Str sql = str_fmt(e->a, "COPY (SELECT CAST(i AS BIGINT) AS id FROM range(3) r(i)) TO " STR_FMT, STR_ARG(sql_lit_str(e->a, local)));
    assert_ok(duck_exec(e->c, sql, &e->err), &e->err);
    assert_ok(store_adopt(e->s, str_c(uri), local, e->a, &info, &e->err), &e->err);
}

static void add_files(void **state)
{
    Env *e = *state;
    LakeTable t = new_table(e, "p", S("s3://w/p"), 1);
    StrVec uris = {0}, bad = {0};
    int64_t files, partitions;

    put_parquet(e, "s3://w/in/region=a%20b/f.parquet");
    put_parquet(e, "s3://w/in/region=__HIVE_DEFAULT_PARTITION__/f.parquet");
    put_parquet(e, "s3://w/in/f.parquet");
    vec_push(e->a, &uris, S("s3://w/in/region=a%20b/f.parquet"));
    vec_push(e->a, &uris, S("s3://w/in/region=__HIVE_DEFAULT_PARTITION__/f.parquet"));
    vec_push(e->a, &bad, S("s3://w/in/f.parquet"));
    assert_ok(lake_add_files(e->l, e->a, e->c, &t, S("s3://w/in"), &uris, ADD_CHECK_DUPLICATES, &files, &partitions, &e->err), &e->err);
    assert_int_equal(files, 2);
    assert_int_equal(partitions, 2);
    t = now(e, &t);
    assert_str(rows_of(e, &t), "0a b 1a b 2a b");          /* the others' region is null */
    assert_status(lake_add_files(e->l, e->a, e->c, &t, S("s3://w/in"), &uris, ADD_CHECK_DUPLICATES, &files, &partitions, &e->err), E_EXISTS);
    assert_status(lake_add_files(e->l, e->a, e->c, &t, S("s3://w/in"), &bad, ADD_CHECK_DUPLICATES, &files, &partitions, &e->err), E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rewrite_keeps_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rewrite_keeps_deletes_that_came_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rewrite_keeps_rows_added_meanwhile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rewrite_by_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deletes_merge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(expire_keeps_pinned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(expire_spares_a_second_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(manifests_merge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(orphans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(add_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
