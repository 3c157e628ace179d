/* SPDX-License-Identifier: Apache-2.0 */
/* test_ivm_plan.c - shapes, reasons and hidden columns of chosen views; their plans against src/ivm/golden.txt; and the
 * wrong results that other systems had (spec/ivm.md 2.12), each as a small history.
 *
 * FIRN_GOLDEN_UPDATE=1 writes the golden file anew; look at the difference before it is committed. */
#include "ivm_oracle_test.h"

typedef struct Fixture { DuckEngine *engine; DuckConn *db; Arena *a; } Fixture;

static int setup(void **state)
{
    Error err = {0};
    DuckOptions options = { .threads = 1, .memory_limit = S("1GB") };
    Fixture *f = calloc(1, sizeof(*f));
    f->a = arena_create();
    if (duck_open(&options, &f->engine, &err) != OK || duck_connect(f->engine, &f->db, &err) != OK)
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    duck_disconnect(f->db);
    duck_close(f->engine);
    arena_destroy(f->a);
    free(f);
    return 0;
}

static Lab lab_for(Fixture *f, const char *sql, IvmTarget target)
{
    Error err = {0};
    Lab lab = { .a = f->a, .db = f->db, .dialect = DIALECT_SPARK, .target = target };
    assert_ok(lab_compile(&lab, str_c(sql), &err), &err);
    return lab;
}

static Lab lab_of(Fixture *f, const char *sql) { return lab_for(f, sql, IVM_STORED); }

/* ---- shapes and reasons ---------------------------------------------------------------------------------- */

static const struct { const char *sql; IvmShape shape; const char *reason, *hidden; } SHAPES[] = {
    { "SELECT a, b + 1 AS b FROM c.n.t WHERE a > 1", IVM_BAG, "rows by their change", "" },
    { "SELECT s, count(*) AS n, sum(c) AS total FROM c.n.t GROUP BY s", IVM_MERGE, "aggregate merged by hidden state",
      "__ivm_s_total __ivm_num_rec" },
    { "SELECT sum(a) AS x FROM c.n.t GROUP BY s", IVM_MERGE, "aggregate merged by hidden state", "__ivm_k1 __ivm_s_x __ivm_num_rec" },
    { "SELECT avg(a) AS m, max(b) AS h FROM c.n.t", IVM_MERGE, "aggregate merged by hidden state", "__ivm_sum_m __ivm_s_m __ivm_num_rec" },
    { "SELECT DISTINCT a, s FROM c.n.t", IVM_MERGE, "distinct rows counted by hidden state", "__ivm_num_rec" },
    { "SELECT a FROM c.n.t UNION SELECT a FROM c.n.u", IVM_MERGE, "distinct rows counted by hidden state", "__ivm_num_rec" },
    { "SELECT s, sum(d) AS x FROM c.n.t GROUP BY s", IVM_REPLACE, "affected groups recomputed", "" },
    { "SELECT count(DISTINCT b) AS x FROM c.n.t GROUP BY s, a", IVM_REPLACE, "affected groups recomputed", "__ivm_k1 __ivm_k2" },
    { "SELECT s, count(*) AS n FROM c.n.t GROUP BY s HAVING count(*) > 1", IVM_REPLACE, "affected groups recomputed", "" },
    { "SELECT * FROM (SELECT s, count(*) AS n FROM c.n.t GROUP BY s) q WHERE s = 'x'", IVM_MERGE, "aggregate merged by hidden state",
      "__ivm_num_rec" },
    { "SELECT q.s, q.x, u.a FROM (SELECT s, sum(d) AS x FROM c.n.t GROUP BY s) q JOIN c.n.u u ON q.s = u.s", IVM_REPLACE,
      "affected rows recomputed", "" },
    { "SELECT a, row_number() OVER (ORDER BY b) AS n FROM c.n.t", IVM_FULL_ONLY, "window function row_number() at position", "" },
    { "SELECT a FROM c.n.t ORDER BY a LIMIT 3", IVM_FULL_ONLY, "LIMIT at position", "" },
    { "SELECT a FROM c.n.t WHERE rand() > 0.5", IVM_FULL_ONLY, "volatile function rand", "" },
    { "SELECT a, count(*) FROM c.n.t GROUP BY ROLLUP (a)", IVM_FULL_ONLY, "GROUPING SETS at position", "" },
    { "SELECT a, (SELECT max(u.b) FROM c.n.u u WHERE u.a = t.a) AS m FROM c.n.t t", IVM_FULL_ONLY, "correlated subquery at position", "" },
    { "SELECT a FROM c.n.t WHERE a = 1 OR a IN (SELECT a FROM c.n.u)", IVM_FULL_ONLY, "IN subquery outside of the conjuncts", "" },
};

static void test_shapes(void **state)
{
    for (size_t i = 0; i < COUNT_OF(SHAPES); i++) {
        Lab lab = lab_of(*state, SHAPES[i].sql);
        StrVec names = {0};
        for vec_each(const IvmColumn, c, ivm_hidden(lab.view))
            vec_push(lab.a, &names, c->name);
        if (ivm_shape(lab.view) != SHAPES[i].shape)
            fail_msg("%s: shape %d, " STR_FMT, SHAPES[i].sql, ivm_shape(lab.view), STR_ARG(ivm_reason(lab.view)));
        if (!str_starts(ivm_reason(lab.view), str_c(SHAPES[i].reason)))
            fail_msg("%s: reason '" STR_FMT "'", SHAPES[i].sql, STR_ARG(ivm_reason(lab.view)));
        assert_str(str_join(lab.a, &names, S(" ")), SHAPES[i].hidden);
    }
}

static void test_full_only_still_prints(void **state)
{
    Error err = {0};
    Lab lab = lab_of(*state, "SELECT a, row_number() OVER (ORDER BY b) AS n FROM c.n.t");
    IvmChange changes[1] = { { .changed = 1, .has_deletes = 1 } };
    Str full = {0};
    assert_ok(ivm_full_sql(lab.a, lab.view, &full, &err), &err);
    assert_true(str_find(full, S("s0_new")) >= 0);
    assert_status(ivm_plan(lab.a, lab.view, changes, &lab.plan, &err), E_UNSUPPORTED);
}

static void test_constructs(void **state)
{
    Lab lab = lab_of(*state, "SELECT t.s, sum(t.a) AS x FROM c.n.t t LEFT JOIN c.n.u u ON t.a = u.a WHERE t.b > 1 AND t.a IN (SELECT a FROM c.n.w) GROUP BY t.s");
    static const char *const want[] = { "left join", "filter", "semi join", "group by", "sum" };
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_true(strvec_has(ivm_constructs(lab.view), str_c(want[i])));
    assert_int_equal(ivm_nsources(lab.view), 3);
    assert_str(ivm_source(lab.view, 1)->id, "u");
}

static void test_nothing_changed(void **state)
{
    Error err = {0};
    Lab lab = lab_of(*state, "SELECT t.a FROM c.n.t t JOIN c.n.u u ON t.a = u.a");
    IvmChange changes[2] = {0};
    assert_ok(ivm_plan(lab.a, lab.view, changes, &lab.plan, &err), &err);
    assert_int_equal(lab.plan->steps.n, 0);
    assert_int_equal(lab.plan->insert_sql.n + lab.plan->delete_sql.n, 0);
}

static void test_insert_only_deletes_nothing(void **state)
{
    Error err = {0};
    Lab lab = lab_of(*state, "SELECT t.a FROM c.n.t t JOIN c.n.u u ON t.a = u.a");
    IvmChange changes[2] = { { .changed = 1 }, { .changed = 1 } };
    assert_ok(ivm_plan(lab.a, lab.view, changes, &lab.plan, &err), &err);
    assert_int_equal(lab.plan->delete_sql.n, 0);
    changes[1].has_deletes = 1;
    assert_ok(ivm_plan(lab.a, lab.view, changes, &lab.plan, &err), &err);
    assert_true(lab.plan->delete_sql.n > 0 && lab.plan->check_sql.n > 0);
}

/* ---- golden plans ----------------------------------------------------------------------------------------- */

static const char *const GOLDEN[] = {
    "SELECT a, b + 1 AS b FROM c.n.t WHERE a > 1",
    "SELECT t.a, u.b FROM c.n.t t JOIN c.n.u u ON t.a = u.a WHERE u.b > 1",
    "SELECT x.a, y.b FROM c.n.t x, c.n.t y WHERE x.a = y.b",
    "SELECT t.a, u.b FROM c.n.t t LEFT JOIN c.n.u u ON t.a = u.a AND u.b > 1",
    "SELECT t.a, u.b FROM c.n.t t FULL JOIN c.n.u u ON t.a = u.a",
    "SELECT a FROM c.n.t WHERE a NOT IN (SELECT a FROM c.n.u)",
    "SELECT a FROM c.n.t t WHERE EXISTS (SELECT 1 FROM c.n.u u WHERE u.a = t.a AND u.b > 1)",
    "SELECT s, count(*) AS n, sum(c) AS total, avg(a) AS m, min(b) AS low FROM c.n.t GROUP BY s",
    "SELECT sum(a) / count(*) AS r, bool_or(b > 1) AS o FROM c.n.t GROUP BY s",
    "SELECT s, count(DISTINCT a) AS n FROM c.n.t GROUP BY s HAVING count(*) > 1",
    "SELECT n, count(*) AS k FROM (SELECT a, count(*) AS n FROM c.n.t GROUP BY a) q GROUP BY n",
    "SELECT a FROM c.n.t EXCEPT ALL SELECT a FROM c.n.u",
    "SELECT DISTINCT a FROM c.n.t",
    "SELECT max(a) AS m FROM c.n.t",
};

/* Of live views. */
static const char *const GOLDEN_LIVE[] = {
    "SELECT a, lag(b) OVER (PARTITION BY s ORDER BY b) AS p FROM c.n.t",
    "SELECT a, b FROM c.n.t ORDER BY b DESC LIMIT 2",
    "SELECT a, b FROM (SELECT a, b, row_number() OVER (PARTITION BY s ORDER BY b) AS r FROM c.n.t) q WHERE r <= 2",
    "SELECT t.a, (SELECT count(*) FROM c.n.u u WHERE u.a = t.a) AS n FROM c.n.t t",
    "SELECT t.a, x.v FROM c.n.t t, LATERAL explode(array(t.a, t.b)) AS x(v)",
    "SELECT a FROM c.n.t t WHERE b > 1 OR EXISTS (SELECT 1 FROM c.n.u u WHERE u.a = t.a)",
    "SELECT s, a, count(*) AS n FROM c.n.t GROUP BY ROLLUP (s, a)",
};

static Str golden_path(Arena *a) { return str_fmt(a, "%s/src/ivm/golden.txt", FIRN_SOURCE); }

static Str read_file(Arena *a, Str path)
{
    StrBuf b = sb_new(a);
    char buf[4096];
    size_t n;
    FILE *f = fopen(str_z(a, path), "rb");
    while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
        sb_add(&b, str_n(buf, n));
    if (f)
        fclose(f);
    return sb_str(&b);
}

static void put_golden(Fixture *f, const char *sql, IvmTarget target, StrBuf *b)
{
    Error err = {0};
    Lab lab = lab_for(f, sql, target);
    IvmChange changes[4];
    for (size_t i = 0; i < COUNT_OF(changes); i++)
        changes[i] = (IvmChange){ .changed = 1, .has_deletes = 1 };
    Str full = {0};
    assert_ok(ivm_plan(lab.a, lab.view, changes, &lab.plan, &err), &err);
    assert_ok(ivm_full_sql(lab.a, lab.view, &full, &err), &err);
    sb_fmt(b, "== %s\n" STR_FMT "full:\n  " STR_FMT "\n\n", sql, STR_ARG(ivm_plan_text(lab.a, lab.view, lab.plan)), STR_ARG(full));
}

static Str golden_text(Fixture *f)
{
    StrBuf b = sb_new(f->a);
    for (size_t i = 0; i < COUNT_OF(GOLDEN); i++)
        put_golden(f, GOLDEN[i], IVM_STORED, &b);
    for (size_t i = 0; i < COUNT_OF(GOLDEN_LIVE); i++)
        put_golden(f, GOLDEN_LIVE[i], IVM_LIVE, &b);
    return sb_str(&b);
}

static void test_golden(void **state)
{
    Fixture *f = *state;
    Str now = golden_text(f);
    if (getenv("FIRN_GOLDEN_UPDATE")) {
        FILE *out = fopen(str_z(f->a, golden_path(f->a)), "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(now.p, 1, now.n, out), now.n);
        fclose(out);
    }
    Str want = read_file(f->a, golden_path(f->a));
    size_t i = 0;
    while (i < want.n && i < now.n && want.p[i] == now.p[i])
        i++;
    if (i < want.n || i < now.n)
        fail_msg("plans differ from golden.txt at byte %zu: '%.*s'", i, (int)min_size(120, now.n - i), now.p + i);
}

/* ---- histories -------------------------------------------------------------------------------------------- */

typedef struct History { const char *view, *start, *steps[3]; } History;

static const History HISTORIES[] = {
    { "SELECT s, sum(a) AS x FROM c.n.t GROUP BY s", "INSERT INTO b_t_new(a, s) VALUES (0, 'x'), (1, 'y'), (-1, 'y'), (NULL, 'z')",   /* a sum of 0 is a group */
      { "DELETE FROM b_t_new WHERE a = 1", "INSERT INTO b_t_new(a, s) VALUES (1, 'y')", "DELETE FROM b_t_new WHERE s = 'z' OR a = 0" } },
    { "SELECT s, sum(a) AS x, count(a) AS n FROM c.n.t GROUP BY s", "INSERT INTO b_t_new(a, s) VALUES (1, NULL), (2, NULL), (3, 'x')",   /* NULL keys */
      { "INSERT INTO b_t_new(a, s) VALUES (7, NULL)", "DELETE FROM b_t_new WHERE a IN (1, 2)", "DELETE FROM b_t_new WHERE s IS NULL" } },
    { "SELECT t.s, sum(u.b) AS x, count(*) AS n, count(u.b) AS m, coalesce(sum(u.b), 0) AS z FROM c.n.t t LEFT JOIN c.n.u u ON t.a = u.a GROUP BY t.s",
      "INSERT INTO b_t_new(a, s) VALUES (1, 'x'), (1, 'x'), (2, 'y'); INSERT INTO b_u_new(a, b) VALUES (1, 5)",
      { "DELETE FROM b_u_new", "INSERT INTO b_u_new(a, b) VALUES (1, 1), (2, 2), (2, NULL)", "DELETE FROM b_t_new WHERE a = 1; DELETE FROM b_u_new WHERE b = 2" } },
    { "SELECT t.a, u.b FROM c.n.t t FULL JOIN c.n.u u ON t.a = u.a", "INSERT INTO b_t_new(a) VALUES (1), (NULL); INSERT INTO b_u_new(a, b) VALUES (2, 2)",
      { "INSERT INTO b_t_new(a) VALUES (3), (2); INSERT INTO b_u_new(a, b) VALUES (3, 3), (1, 1)", "DELETE FROM b_t_new WHERE a = 3; DELETE FROM b_u_new WHERE a = 3",
        "DELETE FROM b_t_new; INSERT INTO b_t_new(a) VALUES (2)" } },
    { "WITH q AS (SELECT a, count(*) AS n FROM c.n.t GROUP BY a) SELECT x.a, y.n FROM q x JOIN q y ON x.n = y.a", "INSERT INTO b_t_new(a) VALUES (1), (2), (2)",
      { "INSERT INTO b_t_new(a) VALUES (1)", "DELETE FROM b_t_new WHERE a = 2", "INSERT INTO b_t_new(a) VALUES (2), (3), (3), (3)" } },
    { "SELECT count(*) AS n, sum(a) AS x, min(a) AS low FROM c.n.t", "SELECT 1",                                                        /* one row always */
      { "INSERT INTO b_t_new(a) VALUES (3), (NULL)", "DELETE FROM b_t_new", "INSERT INTO b_t_new(a) VALUES (NULL)" } },
    { "SELECT s, count(*) AS n FROM c.n.t GROUP BY s HAVING sum(a) IS NULL OR count(*) > 1", "INSERT INTO b_t_new(a, s) VALUES (1, 'x'), (NULL, 'y')",
      { "INSERT INTO b_t_new(a, s) VALUES (1, 'y'), (2, 'x')", "DELETE FROM b_t_new WHERE s = 'y'", "UPDATE b_t_new SET a = NULL" } },
    { "SELECT s, max(a) AS h, min(a) AS l FROM c.n.t GROUP BY s", "INSERT INTO b_t_new(a, s) VALUES (1, 'x'), (5, 'x'), (5, 'x'), (2, NULL)",
      { "DELETE FROM b_t_new WHERE a = 5", "UPDATE b_t_new SET a = 9", "INSERT INTO b_t_new(a, s) VALUES (9, 'x'); DELETE FROM b_t_new WHERE s IS NULL" } },
};

static void test_histories(void **state)
{
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(HISTORIES); i++) {
        Error err = {0};
        Gen g = { .a = f->a, .state = 1 };
        Lab lab = lab_of(f, HISTORIES[i].view);
        IvmChange changes[8];
        assert_ok(lab_create(&lab, &g, &err), &err);
        for (size_t k = 0; k < COUNT_OF(GEN_TABLES); k++)
            assert_ok(lab_exec(&lab, &err, "DELETE FROM b_%s_new", GEN_TABLES[k].name), &err);
        assert_ok(lab_exec(&lab, &err, "%s", HISTORIES[i].start), &err);
        for (size_t k = 0; k < COUNT_OF(GEN_TABLES); k++)
            assert_ok(lab_exec(&lab, &err, "CREATE OR REPLACE TABLE b_%s_old AS FROM b_%s_new", GEN_TABLES[k].name, GEN_TABLES[k].name), &err);
        assert_ok(lab_sources(&lab, changes, &err), &err);
        assert_ok(lab_store(&lab, &err), &err);
        for (size_t s = 0; s < 3; s++) {
            for (size_t k = 0; k < COUNT_OF(GEN_TABLES); k++)
                assert_ok(lab_exec(&lab, &err, "CREATE OR REPLACE TABLE b_%s_old AS FROM b_%s_new", GEN_TABLES[k].name, GEN_TABLES[k].name), &err);
            assert_ok(lab_exec(&lab, &err, "%s", HISTORIES[i].steps[s]), &err);
            assert_ok(lab_step(&lab, &err), &err);
        }
    }
}

/* A row to delete that is not stored must be seen. */
static void test_check_finds_loss(void **state)
{
    static const char *const views[] = { "SELECT a FROM c.n.t", "SELECT s, count(*) AS n, sum(a) AS x FROM c.n.t GROUP BY s" };
    Fixture *f = *state;
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        Error err = {0};
        Gen g = { .a = f->a, .state = 1 };
        Lab lab = lab_of(f, views[i]);
        IvmChange changes[8];
        assert_ok(lab_create(&lab, &g, &err), &err);
        assert_ok(lab_exec(&lab, &err, "DELETE FROM b_t_new; INSERT INTO b_t_new(a, s) VALUES (1, 'x'), (2, 'x'); "
                           "CREATE OR REPLACE TABLE b_t_old AS FROM b_t_new"), &err);
        assert_ok(lab_sources(&lab, changes, &err), &err);
        assert_ok(lab_store(&lab, &err), &err);
        assert_ok(lab_exec(&lab, &err, "DELETE FROM v; DELETE FROM b_t_new"), &err);
        assert_status(lab_step(&lab, &err), E_CORRUPT);
        for vec_each(const IvmStep, s, &lab.plan->steps)
            assert_ok(lab_exec(&lab, &err, "DROP TABLE temp." STR_FMT, STR_ARG(s->name)), &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes), cmocka_unit_test(test_full_only_still_prints), cmocka_unit_test(test_constructs),
        cmocka_unit_test(test_nothing_changed), cmocka_unit_test(test_insert_only_deletes_nothing), cmocka_unit_test(test_golden),
        cmocka_unit_test(test_histories), cmocka_unit_test(test_check_finds_loss),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
