/* SPDX-License-Identifier: Apache-2.0 */
/* test_ivm.c - the property that the room stands for: after any change, incremental equals recomputed, as bags.
 *
 * FIRN_IVM_CASES sets how many random views are tried (default 300), FIRN_IVM_SEED where they begin; each view goes
 * through some rounds of changes.  A failure prints the seed, the view and the plan. */
#include "ivm_oracle_test.h"

enum { ROUNDS = 4 };

static int env_int(const char *name, int fallback)
{
    const char *z = getenv(name);
    int64_t n = 0;
    return z && str_to_i64(str_c(z), &n) ? (int)n : fallback;
}

typedef struct Count { int full, refused, defects, by_shape[4]; } Count;

static Status run_view(Lab *lab, Gen *g, Error *err)
{
    TRY(lab_create(lab, g, err));
    for (size_t i = 0; i < COUNT_OF(GEN_TABLES); i++)
        TRY(lab_exec(lab, err, "CREATE OR REPLACE TABLE b_%s_old AS FROM b_%s_new", GEN_TABLES[i].name, GEN_TABLES[i].name));
    IvmChange none[64] = {0};
    TRY(lab_sources(lab, none, err));
    TRY_CTX(lab_store(lab, err), err, "first store");
    TRY_CTX(lab_compare(lab, err), err, "first compare");
    for (int i = 0; i < ROUNDS; i++)
        TRY(lab_round(lab, g, err));
    return OK;
}

static void explain(const Lab *lab, int seed, const Error *err)
{
    fprintf(stderr, "seed %d round %d: %s\n%.*s\n", seed, lab->round, err->message, STR_ARG(lab->sql));
    if (lab->plan) {
        Str text = ivm_plan_text(lab->a, lab->view, lab->plan);
        fprintf(stderr, "%.*s\n", STR_ARG(text));
    }
}

/* What a failed round left behind. */
static void clean_up(Lab *lab)
{
    Error err = {0};
    Status s = duck_exec(lab->db, S("DROP TABLE IF EXISTS lab_ins; DROP TABLE IF EXISTS lab_del"), &err);
    for (size_t i = 0; s == OK && lab->plan && i < lab->plan->steps.n; i++)
        s = lab_exec(lab, &err, "DROP TABLE IF EXISTS temp." STR_FMT, STR_ARG(lab->plan->steps.p[i].name));
}

/* 1: a mismatch */
static int run_seed(DuckConn *db, int seed, IvmTarget target, Count *count)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err = {0};
    Gen g = { .a = a, .state = (uint64_t)seed * 0x9E3779B97F4A7C15ull + 1 };
    Lab lab = { .a = a, .db = db, .dialect = DIALECT_SPARK, .target = target };
    for (int i = 0; i < 5; i++)
        (void)gen_next(&g);
    if (lab_compile(&lab, target == IVM_LIVE ? gen_live_view(&g) : gen_view(&g), &err) != OK) {
        count->refused++;
        if (getenv("FIRN_IVM_VERBOSE"))
            explain(&lab, seed, &err);
        return 0;
    }
    count->by_shape[ivm_shape(lab.view)]++;
    if (ivm_shape(lab.view) == IVM_FULL_ONLY) {
        count->full++;
        if (getenv("FIRN_IVM_VERBOSE"))
            fprintf(stderr, "seed %d full only: %.*s\n  %.*s\n", seed, STR_ARG(ivm_reason(lab.view)), STR_ARG(lab.sql));
        return 0;
    }
    Status s = run_view(&lab, &g, &err);
    count->defects += lab.engine_defects > 0;
    if (s == OK)
        return 0;
    explain(&lab, seed, &err);
    clean_up(&lab);
    return 1;
}

static void run_random(IvmTarget target)
{
    Error err = {0};
    DuckEngine *engine = NULL;
    CLEANUP(duck_disconnectp) DuckConn *db = NULL;
    DuckOptions options = { .threads = 1, .memory_limit = S("2GB") };
    Count count = {0};
    int cases = env_int("FIRN_IVM_CASES", 300), first = env_int("FIRN_IVM_SEED", 1), wrong = 0;
    assert_ok(duck_open(&options, &engine, &err), &err);
    assert_ok(duck_connect(engine, &db, &err), &err);
    for (int i = 0; i < cases && wrong < env_int("FIRN_IVM_WRONG", 1); i++)
        wrong += run_seed(db, first + i, target, &count);
    fprintf(stderr, "%d views: %d bag, %d merge, %d replace, %d full only, %d refused by the binder, %d with an engine defect\n", cases, count.by_shape[IVM_BAG],
            count.by_shape[IVM_MERGE], count.by_shape[IVM_REPLACE], count.full, count.refused, count.defects);
    duck_disconnectp(&db);
    duck_close(engine);
    assert_int_equal(wrong, 0);
    assert_true(count.refused * 20 <= cases);
    assert_true(count.full * 20 <= cases);
    assert_true(count.defects * (target == IVM_LIVE ? 5 : 50) <= cases);
}

static void test_random(void **state UNUSED) { run_random(IVM_STORED); }
static void test_random_live(void **state UNUSED) { run_random(IVM_LIVE); }

/* A name chooses among the tests: test_random_live. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random), cmocka_unit_test(test_random_live) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
