/* SPDX-License-Identifier: Apache-2.0 */
/* test_lake_scan.c - what a scan and a change leave out, and what they must not. */
#include "lake/lake_env_test.h"

static Str columns_of(Env *e, Str relation)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrBuf b = sb_new(e->a);

    assert_ok(duck_query(e->c, str_fmt(e->a, "SELECT * FROM (" STR_FMT ") q", STR_ARG(relation)), &r, &e->err), &e->err);
    for (size_t i = 0; i < duck_ncols(r); i++)
        sb_fmt(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(duck_col(r, i)->name));
    return sb_str(&b);
}

static Str scan_sql(Env *e, const LakeTable *t, const IceSnapshot *s, const uint8_t *reads, int positions)
{
    LakeScan scan = { .snapshot = s, .schema = ice_current_schema(t->meta), .reads = reads, .positions = positions };
    LakeRelation rel;
    assert_ok(lake_scan(e->l, e->a, e->c, t, &scan, &rel, &e->err), &e->err);
    return rel.sql;
}

static int64_t number(Env *e, const char *what, Str relation)
{
    int64_t n;
    bool has;
    assert_ok(duck_scalar_i64(e->c, str_fmt(e->a, "SELECT %s FROM (" STR_FMT ") q", what, STR_ARG(relation)), &n, &has, &e->err), &e->err);
    return n;
}

static void columns_that_nobody_reads(void **state)
{
    Env *e = *state;
    LakeTable t = delete_where(e, insert(e, insert(e, e->t, "(1, 'a'), (2, 'b')"), "(3, 'c')"), "id = 2");
    const IceSnapshot *s = ice_current_snapshot(t.meta);
    const uint8_t both[] = { 1, 1 }, second[] = { 0, 1 }, none[] = { 0, 0 };

    assert_str(columns_of(e, scan_sql(e, &t, s, both, 0)), "id region");
    assert_str(columns_of(e, scan_sql(e, &t, s, second, 0)), "region");
    assert_str(columns_of(e, scan_sql(e, &t, s, second, 1)), "region __file __pos");
    assert_str(columns_of(e, scan_sql(e, &t, NULL, second, 0)), "region");
    assert_int_equal(number(e, "count(*)", scan_sql(e, &t, s, none, 0)), 2);
    assert_int_equal(number(e, "count(*)", scan_sql(e, &t, NULL, none, 0)), 0);
}

static void changes_without_columns(void **state)
{
    Env *e = *state;
    const uint8_t second[] = { 0, 1 }, none[] = { 0, 0 };
    LakeTable old = insert(e, e->t, "(1, 'a'), (2, 'b'), (3, 'b')"), t = insert(e, delete_where(e, old, "id = 2"), "(4, 'c'), (5, 'c')");
    const IceSnapshot *from = ice_current_snapshot(old.meta), *to = ice_current_snapshot(t.meta);
    LakeChanges ch;

    assert_ok(lake_changes(e->l, e->a, e->c, &t, from, to, ice_current_schema(t.meta), second, &ch, &e->err), &e->err);
    assert_str(columns_of(e, ch.relation.sql), "region __w");
    assert_int_equal(number(e, "sum(CASE region WHEN 'b' THEN 10 ELSE 1 END * __w)", ch.relation.sql), 2 - 10);
    assert_ok(lake_changes(e->l, e->a, e->c, &t, from, to, ice_current_schema(t.meta), none, &ch, &e->err), &e->err);
    assert_int_equal(number(e, "sum(__w)", ch.relation.sql), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_that_nobody_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_without_columns, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
