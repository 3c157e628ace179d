/* SPDX-License-Identifier: Apache-2.0 */
/* test_ivm_doc.c - docs/which-sql-is-incremental.md is what the compiler says of an example of each construct.
 *
 * FIRN_GOLDEN_UPDATE=1 writes the document anew; look at the difference before it is committed. */
#include <stdio.h>
#include <stdlib.h>

#include "ivm/ivm.h"
#include "test.h"

typedef struct Example { const char *topic, *name, *sql; } Example;

/* In the materialize dialect; what Spark writes in another way is its own business: the compiler sees the same trees. */
static const Example EXAMPLES[] = {
    { "Rows", "projection and filter", "SELECT a, b + 1 AS b FROM t WHERE s = 'x'" },
    { "Rows", "inner join", "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a" },
    { "Rows", "left, right join", "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a" },
    { "Rows", "full join", "SELECT t.a, u.b FROM t FULL JOIN u ON t.a = u.a" },
    { "Rows", "cross join, condition without equality", "SELECT t.a, u.b FROM t, u WHERE t.a < u.b" },
    { "Rows", "derived table, CTE, view over view", "WITH c AS (SELECT a, b FROM t) SELECT x.a, y.b FROM c x JOIN c y ON x.a = y.a" },
    { "Rows", "UNION ALL", "SELECT a FROM t UNION ALL SELECT a FROM u" },
    { "Rows", "DISTINCT", "SELECT DISTINCT a, s FROM t" },
    { "Rows", "UNION", "SELECT a FROM t UNION SELECT a FROM u" },
    { "Rows", "INTERSECT [ALL], EXCEPT [ALL]", "SELECT a FROM t EXCEPT ALL SELECT a FROM u" },
    { "Rows", "VALUES", "SELECT t.a, v.n FROM t JOIN (VALUES (1, 'one')) v(a, n) ON v.a = t.a" },
    { "Aggregates", "COUNT, SUM, AVG, MIN, MAX, BOOL_AND, BOOL_OR", "SELECT s, count(*), sum(a), avg(b), min(a), bool_or(a > 1) FROM t GROUP BY s" },
    { "Aggregates", "without GROUP BY", "SELECT count(*), max(a) FROM t" },
    { "Aggregates", "FILTER", "SELECT s, count(*) FILTER (WHERE a > 1) AS n FROM t GROUP BY s" },
    { "Aggregates", "DISTINCT in an aggregate", "SELECT s, count(DISTINCT a) AS n FROM t GROUP BY s" },
    { "Aggregates", "SUM, AVG of floating-point numbers; STDDEV, VARIANCE", "SELECT s, sum(d) AS x, stddev(d) AS y FROM t GROUP BY s" },
    { "Aggregates", "ARRAY_AGG, STRING_AGG, JSONB_AGG, with ORDER BY", "SELECT s, array_agg(a ORDER BY b) AS x FROM t GROUP BY s" },
    { "Aggregates", "HAVING", "SELECT s, count(*) AS n FROM t GROUP BY s HAVING count(*) > 1" },
    { "Aggregates", "aggregate below a join or another aggregate", "SELECT max(n) AS m FROM (SELECT s, count(*) AS n FROM t GROUP BY s) q" },
    { "Aggregates", "aggregate that picks a row, below the top", "SELECT q.x, u.b FROM (SELECT s, any_value(a) AS x FROM t GROUP BY s) q JOIN u ON u.s = q.s" },
    { "Aggregates", "GROUPING SETS, ROLLUP, CUBE", "SELECT a, s, count(*) AS n FROM t GROUP BY ROLLUP (a, s)" },
    { "Subqueries", "IN, EXISTS in a conjunct of WHERE", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)" },
    { "Subqueries", "NOT IN, NOT EXISTS in a conjunct of WHERE", "SELECT a FROM t WHERE a NOT IN (SELECT b FROM u)" },
    { "Subqueries", "scalar subquery that is an aggregate", "SELECT a FROM t WHERE a > (SELECT avg(b) FROM u)" },
    { "Subqueries", "correlated scalar subquery", "SELECT a, (SELECT max(u.b) FROM u WHERE u.a = t.a) AS m FROM t" },
    { "Subqueries", "scalar subquery that may give several rows", "SELECT a, (SELECT u.b FROM u WHERE u.a = t.a) AS m FROM t" },
    { "Subqueries", "IN, EXISTS, ANY, ALL under OR or in the select list", "SELECT a, b IN (SELECT b FROM u) AS known FROM t WHERE a > 2 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a)" },
    { "Subqueries", "LATERAL", "SELECT t.a, q.m FROM t LEFT JOIN LATERAL (SELECT max(b) AS m FROM u WHERE u.a = t.a) q ON true" },
    { "Windows and top-k", "window function with PARTITION BY", "SELECT a, rank() OVER (PARTITION BY s ORDER BY b) AS r, lag(b) OVER (PARTITION BY s ORDER BY b, a) AS p FROM t" },
    { "Windows and top-k", "aggregate OVER, any frame", "SELECT a, sum(b) OVER (PARTITION BY s ORDER BY a ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS r FROM t" },
    { "Windows and top-k", "window function without PARTITION BY", "SELECT a, row_number() OVER (ORDER BY b) AS r FROM t" },
    { "Windows and top-k", "row_number() and a filter", "SELECT a, s FROM (SELECT a, s, row_number() OVER (PARTITION BY s ORDER BY b DESC) AS r FROM t) q WHERE r <= 3" },
    { "Windows and top-k", "DISTINCT ON", "SELECT DISTINCT ON (s) s, a FROM t ORDER BY s, b DESC" },
    { "Windows and top-k", "ORDER BY … LIMIT of each group (LATERAL)", "SELECT g.s, q.a FROM (SELECT DISTINCT s FROM t) g, LATERAL (SELECT a FROM t WHERE t.s = g.s ORDER BY b DESC LIMIT 3) q" },
    { "Windows and top-k", "ORDER BY … LIMIT of the whole", "SELECT a, b FROM t ORDER BY b DESC LIMIT 3" },
    { "Windows and top-k", "ORDER BY … LIMIT in a subquery", "SELECT u.a, u.b FROM (SELECT a FROM t ORDER BY b DESC LIMIT 3) q JOIN u ON u.a = q.a" },
    { "Windows and top-k", "ORDER BY without LIMIT", "SELECT a, b FROM t ORDER BY b" },
    { "Functions that give rows", "in FROM: generate_series, unnest, jsonb_array_elements, …", "SELECT t.a, x FROM t, generate_series(1, t.b) AS g(x)" },
    { "Functions that give rows", "WITH ORDINALITY, LEFT JOIN LATERAL", "SELECT t.a, w, i FROM t LEFT JOIN LATERAL regexp_split_to_table(t.s, ',') WITH ORDINALITY AS g(w, i) ON true" },
    { "Functions that give rows", "in the select list", "SELECT a, generate_series(1, b) AS x FROM t" },
    { "Time", "temporal filter: mz_now() in WHERE or HAVING", "SELECT a FROM t WHERE mz_now() < at + INTERVAL '30 seconds'" },
    { "Time", "other volatile functions (random, now in the lake)", "SELECT a FROM t WHERE b > random() * 10" },
    { "Recursion", "WITH MUTUALLY RECURSIVE", "WITH MUTUALLY RECURSIVE r (a int, b int) AS (SELECT a, b FROM t UNION SELECT r.a, t.b FROM r JOIN t ON r.b = t.a) SELECT * FROM r" },
    { "Recursion", "WITH RECURSIVE", "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT t.a, r.n FROM t JOIN r ON r.n = t.a" },
};

static const char INTRO[] =
    "# Which SQL is incremental\n\n"
    "What firn's compiler says of an example of each construct; a test keeps this page equal to it. *Continuous view* is a materialized view of the `materialize`\n"
    "database, kept by ticks; *managed view* is a materialized view over Iceberg tables, kept by refreshes. A view that is not incremental is right as well: it is\n"
    "computed anew, at each change or at each refresh, and says why (a notice of CREATE MATERIALIZED VIEW, EXPLAIN, the refresh history).\n\n"
    "How views are kept:\n\n"
    "- **rows by their change**: the change of the rows follows from the change of the tables; stored rows that go are found, rows that come are added.\n"
    "- **merged by hidden state**: sums and counts are stored beside each group, and the change is added to them; only a lost MIN or MAX is read again.\n"
    "- **affected groups (rows) recomputed**: the groups that a change touches are computed anew, out of the rows of those groups.\n"
    "- Windows, top-k, ordered aggregates below the top: the partitions that a change touches are computed before and after it. Rows that an ORDER BY leaves equal\n"
    "  are told apart by their other columns, so one of the results that SQL allows is kept.\n"
    "- In a continuous view, aggregates below the top that merge, count(DISTINCT …), and the first rows of partitions that something else reads have tables of their own, which\n"
    "  are kept like views (EXPLAIN shows them as parts). They are read instead of the rows under them, and take room on disk.\n"
    "- Correlated subqueries are unnested: computed once for all outer values, and joined back. None is evaluated row by row.\n"
    "- Temporal filters: time is one more table. Rows come and go with it, at the latest a second late.\n"
    "- WITH MUTUALLY RECURSIVE is computed in turn until nothing changes, at most 10,000 times (`RECURSION LIMIT` sets less).\n\n"
    "One construct that is not incremental makes the whole view computed anew, but for windows and LIMIT without partition below other operators: there just they are\n"
    "computed twice.\n";

/* ---- a world to compile in ------------------------------------------------------------------------------------------- */

typedef struct World { Arena *a; DuckEngine *engine; DuckConn *db; BoundTable t, u; } World;

static void add_column(World *w, BoundTable *t, const char *name, DataTypeKind kind)
{
    BoundColumn c = { .name = str_c(name), .engine = str_c(name), .type = { .kind = kind }, .nullable = 1 };
    vec_push(w->a, &t->columns, c);
}

static void begin(World *w)
{
    DuckOptions o = { .threads = 1, .memory_limit = S("1GB") };
    Error err;
    *w = (World){ .a = arena_create(), .t = { .id = S("t"), .display = S("t") }, .u = { .id = S("u"), .display = S("u") } };
    assert_ok(duck_open(&o, &w->engine, &err), &err);
    assert_ok(duck_connect(w->engine, &w->db, &err), &err);
    for (int i = 0; i < 2; i++) {
        BoundTable *t = i ? &w->u : &w->t;
        add_column(w, t, "a", DT_INT32);
        add_column(w, t, "b", DT_INT32);
        add_column(w, t, "s", DT_STRING);
        add_column(w, t, "d", DT_DOUBLE);
        add_column(w, t, "at", DT_TIMESTAMPTZ);
    }
}

static void end(World *w)
{
    duck_disconnect(w->db);
    duck_close(w->engine);
    arena_destroy(w->a);
}

static Status resolve(void *ctx, Arena *a UNUSED, const TableRef *ref, BoundTable **ret, Error *err)
{
    World *w = ctx;
    if (str_eq(vec_last(&ref->name), S("t")))
        *ret = &w->t;
    else if (str_eq(vec_last(&ref->name), S("u")))
        *ret = &w->u;
    else
        return FAIL(err, E_NOT_FOUND, "no table");
    return OK;
}

static IvmView *compile(World *w, const char *sql, IvmTarget target)
{
    Binder b = { .dialect = DIALECT_POSTGRES, .ctx = w, .resolve = resolve, .probe = w->db };
    IvmView *v = NULL;
    Query *q;
    Error err;
    if (sql_parse_query(w->a, DIALECT_POSTGRES, str_c(sql), &q, &err) != OK || sql_bind_query(w->a, &b, q, &err) != OK ||
        ivm_compile_for(w->a, q, target, &v, &err) != OK)
        fail_msg("%s: %s", sql, err.message);
    return v;
}

/* ---- the page ---------------------------------------------------------------------------------------------------------- */

/* Without the place: examples are short. */
static Str said(World *w, const IvmView *v)
{
    Str why = ivm_reason(v);
    ptrdiff_t at = str_find(why, S(" at position "));
    if (ivm_shape(v) != IVM_FULL_ONLY)
        return why;
    return str_fmt(w->a, "computed anew: " STR_FMT, STR_ARG(at < 0 ? why : str_sub(why, 0, (size_t)at)));
}

static Str page(World *w)
{
    StrBuf b = sb_new(w->a);
    const char *topic = "";
    sb_addc(&b, INTRO);
    for (size_t i = 0; i < COUNT_OF(EXAMPLES); i++) {
        const Example *e = &EXAMPLES[i];
        if (strcmp(topic, e->topic) != 0)
            sb_fmt(&b, "\n## %s\n\n| construct | example | continuous view | managed view |\n|---|---|---|---|\n", e->topic);
        topic = e->topic;
        sb_fmt(&b, "| %s | `%s` | " STR_FMT " | " STR_FMT " |\n", e->name, e->sql, STR_ARG(said(w, compile(w, e->sql, IVM_LIVE))), STR_ARG(said(w, compile(w, e->sql, IVM_STORED))));
    }
    return sb_str(&b);
}

static Str read_file(Arena *a, const char *path)
{
    FILE *f = fopen(path, "r");
    char buf[65536];
    if (!f)
        return S("");
    size_t n = fread(buf, 1, sizeof buf, f);
    fclose(f);
    return str_dup(a, str_n(buf, n));
}

static void test_page(void **state UNUSED)
{
    World w;
    begin(&w);
    Str now = page(&w);
    char *path = str_z(w.a, str_fmt(w.a, "%s/docs/which-sql-is-incremental.md", FIRN_SOURCE));
    if (getenv("FIRN_GOLDEN_UPDATE")) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fwrite(now.p, 1, now.n, f);
        fclose(f);
    }
    if (!str_eq(read_file(w.a, path), now))
        fail_msg("docs/which-sql-is-incremental.md is not what the compiler says; it says\n%.*s", STR_ARG(now));
    end(&w);
}

/* What EXPLAIN shows. */
static void test_explain(void **state UNUSED)
{
    World w;
    Error err;
    Str text;
    begin(&w);
    assert_ok(ivm_explain(w.a, compile(&w, "SELECT s, count(*) AS n FROM t GROUP BY s", IVM_LIVE), &text, &err), &err);
    if (!str_starts(text, S("Incremental: aggregate merged by hidden state\nConstructs: count, group by\nSources: t\n")))
        fail_msg("%.*s", STR_ARG(text));
    assert_true(str_find(text, S("ivm_g:")) > 0);
    assert_ok(ivm_explain(w.a, compile(&w, "SELECT a FROM t ORDER BY b, random() LIMIT 2", IVM_LIVE), &text, &err), &err);
    assert_true(str_starts(text, S("Computed anew: volatile function random() at position ")));
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_page), cmocka_unit_test(test_explain) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
