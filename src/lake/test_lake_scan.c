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

/* ---- deleted rows ---------------------------------------------------------------------------------------------------------- */

static LakeTable many_rows(Env *e, LakeTable t, int from, int n)
{
    StrBuf b = sb_new(e->a);
    for (int i = from; i < from + n; i++)
        sb_fmt(&b, "%s(%d, 'r%d')", i > from ? ", " : "", i, i % 7);
    return insert(e, t, sb_str(&b).p);
}

static int64_t change_of(Env *e, const LakeTable *t, const IceSnapshot *from, const IceSnapshot *to, const char *what)
{
    LakeChanges ch;
    assert_ok(lake_changes(e->l, e->a, e->c, t, from, to, ice_current_schema(t->meta), NULL, &ch, &e->err), &e->err);
    int64_t n = number(e, what, ch.relation.sql);
    lake_relation_drop(e->c, &ch.relation);
    return n;
}

/* Several delete files over several data files: at each state the rows are what they were, twice over (the second time from memory). */
static void deletes_over_deletes(void **state)
{
    Env *e = *state;
    LakeTable t = many_rows(e, many_rows(e, many_rows(e, e->t, 0, 3000), 3000, 3000), 6000, 10);
    int64_t sums[6], counts[6];
    const char *const conds[] = { "id % 3 = 0", "id BETWEEN 2900 AND 3100", "id = 1", "id > 5000" };

    for (size_t i = 0; i < COUNT_OF(conds); i++) {
        const IceSnapshot *was = ice_current_snapshot(t.meta);
        t = delete_where(e, t, conds[i]);
        Str sql = scan_sql(e, &t, ice_current_snapshot(t.meta), NULL, 0), before = scan_sql(e, &t, ice_snapshot(t.meta, was->id), NULL, 0);
        sums[i] = number(e, "sum(id)", sql);
        counts[i] = number(e, "count(*)", sql);
        assert_int_equal(change_of(e, &t, ice_snapshot(t.meta, was->id), ice_current_snapshot(t.meta), "sum(id * __w)"), sums[i] - number(e, "sum(id)", before));
        assert_int_equal(change_of(e, &t, ice_snapshot(t.meta, was->id), ice_current_snapshot(t.meta), "max(__w)"), -1);
        assert_int_equal(change_of(e, &t, ice_current_snapshot(t.meta), ice_snapshot(t.meta, was->id), "sum(__w)"), number(e, "count(*)", before) - counts[i]);
        assert_int_equal(change_of(e, &t, NULL, ice_current_snapshot(t.meta), "sum(id * __w)"), sums[i]);
    }
    assert_int_equal(counts[0], 4007 - 1);
    lake_free(e->l);                                       /* nothing is known any more */
    e->l = lake_new(e->cat, e->s, NULL);
    for (size_t i = t.meta->snapshots.n, k = COUNT_OF(conds); k-- > 0; ) {
        Str sql = scan_sql(e, &t, t.meta->snapshots.p[--i], NULL, 0);
        assert_int_equal(number(e, "sum(id)", sql), sums[k]);
        assert_int_equal(number(e, "count(*)", sql), counts[k]);
    }
}

/* ---- hot files --------------------------------------------------------------------------------------------------------------- */

static Str hot_sql(Env *e, const LakeTable *t, const uint8_t *reads, int positions)
{
    LakeScan scan = { .snapshot = ice_current_snapshot(t->meta), .schema = ice_current_schema(t->meta), .reads = reads, .positions = positions, .hot = 1 };
    LakeRelation rel;
    assert_ok(lake_scan(e->l, e->a, e->c, t, &scan, &rel, &e->err), &e->err);
    return rel.sql;
}

static int64_t tables(Env *e)
{
    int64_t n;
    bool has;
    assert_ok(duck_scalar_i64(e->c, S("SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'firn_hot'"), &n, &has, &e->err), &e->err);
    return n;
}

static void fresh_connection(Env *e)
{
    duck_disconnect(e->c);
    assert_ok(duck_connect(e->e, &e->c, &e->err), &e->err);
}

static void same_rows(Env *e, Str x, Str y)
{
    assert_int_equal(number(e, "count(*)", str_fmt(e->a, "(" STR_FMT ") EXCEPT ALL (" STR_FMT ")", STR_ARG(x), STR_ARG(y))), 0);
    assert_int_equal(number(e, "count(*)", str_fmt(e->a, "(" STR_FMT ") EXCEPT ALL (" STR_FMT ")", STR_ARG(y), STR_ARG(x))), 0);
}

static void hot_files(void **state)
{
    Env *e = *state;
    const uint8_t first[] = { 1, 0 };
    LakeTable t = delete_where(e, many_rows(e, many_rows(e, e->t, 0, 6000), 6000, 20), "id % 5 = 0");

    lake_keep_hot(e->l, e->e, 64 << 20);
    assert_true(str_find(hot_sql(e, &t, first, 0), S("firn_hot")) < 0);       /* once is not again */
    assert_int_equal(tables(e), 0);
    assert_true(str_find(hot_sql(e, &t, first, 0), S("firn_hot")) > 0);
    assert_int_equal(tables(e), 1);                                          /* the small file is none */
    const uint8_t *const reads[] = { first, NULL };
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        for (int positions = 0; positions < 2; positions++) {
            Str hot = hot_sql(e, &t, reads[i], positions);
            assert_true(str_find(hot, S("firn_hot")) > 0);
            same_rows(e, hot, scan_sql(e, &t, ice_current_snapshot(t.meta), reads[i], positions));
        }
    assert_int_equal(tables(e), 2);                                          /* the one with fewer columns is still held */
    fresh_connection(e);
    assert_int_equal(tables(e), 1);
    same_rows(e, hot_sql(e, &t, first, 1), scan_sql(e, &t, ice_current_snapshot(t.meta), first, 1));
    assert_int_equal(tables(e), 1);
}

/* Room for one: it stays while it is asked for; then it goes, but not before those who read it. */
static void hot_within_budget(void **state)
{
    Env *e = *state;
    LakeTable t = many_rows(e, e->t, 0, 6000), u = many_rows(e, new_table(e, "u", S("s3://w/u"), 0), 0, 6000);

    lake_keep_hot(e->l, e->e, 6000 * 16 * 4);
    Str mine = hot_sql(e, &t, NULL, 0), theirs = hot_sql(e, &u, NULL, 0);
    for (int i = 0; i < 3; i++) {                           /* in turn: neither drives the other out */
        mine = hot_sql(e, &t, NULL, 0);
        theirs = hot_sql(e, &u, NULL, 0);
        assert_true(str_find(mine, S("firn_hot")) > 0);
        assert_true(str_find(theirs, S("firn_hot")) < 0);
    }
    assert_int_equal(tables(e), 1);
    theirs = hot_sql(e, &u, NULL, 0);                       /* again, and nobody asked for the other */
    assert_true(str_find(theirs, S("firn_hot")) > 0);
    assert_int_equal(tables(e), 2);
    same_rows(e, mine, theirs);
    fresh_connection(e);
    assert_int_equal(tables(e), 1);
    lake_free(e->l);
    e->l = lake_new(e->cat, e->s, NULL);
    assert_int_equal(tables(e), 0);
    lake_keep_hot(e->l, e->e, 1000);
    for (int i = 0; i < 3; i++)
        assert_true(str_find(hot_sql(e, &t, NULL, 0), S("firn_hot")) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_that_nobody_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_without_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(deletes_over_deletes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hot_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hot_within_budget, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
