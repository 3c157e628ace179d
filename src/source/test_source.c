/* SPDX-License-Identifier: Apache-2.0 */
/* test_source.c - batches and their offsets in one tick, sources that stall and go on, load generators over restarts. */
#include "source/source_world_test.h"

enum { ID = 7, FIRST_RELATION = 20 };

static void begin(World *w, Arena *a)
{
    *w = (World){ .a = a };
    snprintf(w->path, sizeof w->path, "/tmp/firn-source-%d.db", (int)getpid());
    remove_files(w);
    open_world(w);
}

static void end_world(World *w)
{
    close_world(w);
    remove_files(w);
    arena_destroy(w->a);
}

static void make_relations(World *w)
{
    Error err;

    for (size_t i = 0; i < w->outputs.n; i++) {
        LiveColumns cols = {0};
        for (size_t c = 0; c < w->outputs.p[i].columns.n; c++) {
            LiveColumn col = { str_fmt(w->a, "c%zu", c + 1), w->outputs.p[i].columns.p[c].type, w->outputs.p[i].columns.p[c].not_null };
            vec_push(w->a, &cols, col);
        }
        w->outputs.p[i].relation = FIRST_RELATION + (int64_t)i;
        assert_ok(live_table_create(w->live, w->outputs.p[i].relation, &cols, &err), &err);
    }
}

static int64_t scalar(World *w, const char *what, size_t output)
{
    Error err;
    Str sql;
    int64_t n = 0;
    bool has;

    assert_ok(live_relation_sql(w->live, w->a, FIRST_RELATION + (int64_t)output, &sql, &err), &err);
    assert_ok(duck_scalar_i64(w->db, str_fmt(w->a, "SELECT CAST(%s AS BIGINT) FROM " STR_FMT " q", what, STR_ARG(sql)), &n, &has, &err), &err);
    return n;
}

/* ---- batches ---------------------------------------------------------------------------------------------------------------- */

static SourceOutput two_columns(World *w, int with_key)
{
    SourceOutput o = { .name = S("t"), .external = S("t") };
    vec_push(w->a, &o.columns, ((SourceColumn){ .name = S("k"), .type = { .kind = DT_INT64 }, .not_null = with_key }));
    vec_push(w->a, &o.columns, ((SourceColumn){ .name = S("v"), .type = { .kind = DT_STRING } }));
    if (with_key)
        vec_push(w->a, &o.key, S("k"));
    return o;
}

static void put_row(SourceBatch *b, size_t output, int weight, int64_t k, const char *v)
{
    Value cells[] = { { .kind = DT_INT64, .integer = k }, { .kind = v ? DT_STRING : DT_NULL, .string = str_c(v) } };
    source_row(b, output, weight, cells);
}

static void put_key(SourceBatch *b, size_t output, int64_t k, const char *v)
{
    Value cells[] = { { .kind = DT_INT64, .integer = k }, { .kind = DT_STRING, .string = str_c(v) } };
    source_upsert(b, output, cells, v ? cells : NULL);
}

/* A run without a thread: what a connector's thread would have. */
static SourceRun *bare_run(World *w)
{
    static SourceRun r;
    memset(&r, 0, sizeof r);
    static KeptError errors[SOURCE_ERRORS_KEPT];
    r = (SourceRun){ .owner = w->sources, .id = ID, .a = w->a, .outputs = w->outputs, .conn = w->db, .errors = errors };
    pthread_mutex_init(&r.lock, NULL);
    return &r;
}

static void commit(SourceBatch *b, const char *offsets)
{
    Error err;
    assert_ok(source_commit(b, str_c(offsets), &err), &err);
}

static SourceBatch *batch(SourceRun *r)
{
    SourceBatch *b;
    Error err;
    assert_ok(source_batch(r, &b, &err), &err);
    return b;
}

static void test_batches(void **state UNUSED)
{
    World w;
    begin(&w, arena_create());
    for (int i = 0; i < 3; i++)
        vec_push(w.a, &w.outputs, two_columns(&w, i > 0));
    make_relations(&w);
    SourceRun *r = bare_run(&w);

    SourceBatch *b = batch(r);
    for (int i = 0; i < 3; i++)
        put_row(b, 0, 1, 1, "same");
    put_row(b, 0, 1, 2, NULL);
    for (int64_t k = 1; k <= 100; k++)
        put_row(b, 1, 1, k, "old");
    put_key(b, 2, 1, "a");
    put_key(b, 2, 2, "b");
    put_key(b, 2, 1, "c");
    commit(b, "1");
    assert_int_equal(scalar(&w, "count(*)", 0), 4);
    assert_int_equal(scalar(&w, "count(*) FILTER (WHERE c2 = 'c')", 2), 1);
    assert_int_equal(scalar(&w, "count(*)", 2), 2);

    b = batch(r);                                     /* one of equal rows goes, a row with NULL goes, an update, a tombstone */
    put_row(b, 0, -1, 1, "same");
    put_row(b, 0, -1, 2, NULL);
    put_row(b, 0, 1, 9, "x");
    put_row(b, 0, -1, 9, "x");
    put_row(b, 1, -1, 50, "old");
    put_row(b, 1, 1, 50, "new");
    put_key(b, 2, 1, NULL);
    commit(b, "2");
    assert_int_equal(scalar(&w, "count(*)", 0), 2);
    assert_int_equal(scalar(&w, "sum(c1)", 0), 2);
    assert_int_equal(scalar(&w, "count(*)", 1), 100);
    assert_int_equal(scalar(&w, "count(*) FILTER (WHERE c2 = 'new')", 1), 1);
    assert_int_equal(scalar(&w, "count(*)", 2), 1);

    b = batch(r);                                     /* what came before a truncation goes, of this batch too */
    put_row(b, 0, 1, 3, "gone");
    source_truncate(b, 0);
    put_row(b, 0, 1, 4, "stays");
    source_truncate(b, 1);
    commit(b, "3");
    assert_int_equal(scalar(&w, "sum(c1)", 0), 4);
    assert_int_equal(scalar(&w, "count(*)", 1), 0);

    b = batch(r);
    put_row(b, 0, 1, 5, "abandoned");
    source_abandon(b);
    b = batch(r);                                     /* a row that was never there */
    put_row(b, 0, -1, 77, "nobody");
    commit(b, "4");
    assert_int_equal(scalar(&w, "sum(c1)", 0), 4);
    assert_int_equal(r->report.errors, 1);
    assert_true(str_eq(source_offsets(r, w.a), S("4")));
    end_world(&w);
}

/* ---- generators ---------------------------------------------------------------------------------------------------------------- */

static void discover(World *w)
{
    Error err;
    Json *o;
    assert_ok(json_parse(w->a, w->options, &o, &err), &err);
    SourceSpec spec = { .id = ID, .type = S("load-generator"), .options = o };
    w->outputs = (SourceOutputs){0};
    assert_ok(source_load_generator.discover(w->a, &spec, &w->outputs, &err), &err);
}

static void start(World *w)
{
    Error err;
    assert_ok(source_start(w->sources, ID, S("load-generator"), &w->outputs, &err), &err);
}

static int64_t offset_now(World *w)
{
    Error err;
    Str text;
    Json *note;
    assert_ok(live_note_get(w->live, w->a, source_note_key(w->a, ID), &text, &err), &err);
    if (!text.n)
        return 0;
    assert_ok(json_parse(w->a, text, &note, &err), &err);
    return json_get_int(note, "offset", 0);
}

static void wait_offset(World *w, int64_t n)
{
    int64_t until = clock_mono_us() + 60000000;
    while (offset_now(w) < n && clock_mono_us() < until)
        usleep(5000);
    assert_true(offset_now(w) >= n);
}

static void begin_generator(World *w, const char *options)
{
    begin(w, arena_create());
    w->options = str_c(options);
    discover(w);
    make_relations(w);
    start(w);
}

static void reopen(World *w)
{
    close_world(w);
    open_world(w);
    start(w);
}

static void test_counter(void **state UNUSED)
{
    World w;
    SourceReport report;

    begin_generator(&w, "{\"generator\":\"counter\",\"tick_us\":1000,\"as_of\":4,\"up_to\":300}");
    wait_offset(&w, 5);
    assert_true(scalar(&w, "count(*)", 0) >= 5);
    reopen(&w);
    wait_offset(&w, 300);
    assert_int_equal(scalar(&w, "count(*)", 0), 300);
    assert_int_equal(scalar(&w, "sum(c1)", 0), 45150);
    reopen(&w);
    for (int i = 0; i < 1000 && !(source_report(w.sources, ID, &report) && report.sealed); i++)
        usleep(5000);
    assert_true(report.sealed);
    assert_int_equal(scalar(&w, "count(*)", 0), 300);
    end_world(&w);
    begin_generator(&w, "{\"generator\":\"counter\",\"tick_us\":1000,\"max_cardinality\":3,\"up_to\":50}");
    wait_offset(&w, 50);
    assert_int_equal(scalar(&w, "count(*)", 0), 3);
    assert_int_equal(scalar(&w, "min(c1)", 0), 48);
    end_world(&w);
}

static void test_auction(void **state UNUSED)
{
    World w;

    begin_generator(&w, "{\"generator\":\"auction\",\"tick_us\":1000,\"up_to\":500}");
    wait_offset(&w, 100);
    reopen(&w);
    wait_offset(&w, 500);
    assert_int_equal(scalar(&w, "count(*)", 0), 100);
    assert_int_equal(scalar(&w, "count(*)", 1), 1024);
    assert_int_equal(scalar(&w, "sum(c3)", 2), 1000000);
    assert_int_equal(scalar(&w, "count(*)", 3) + scalar(&w, "count(*)", 4), 499);
    assert_int_equal(scalar(&w, "count(DISTINCT c1)", 3), scalar(&w, "max(c1)", 3));
    assert_int_equal(scalar(&w, "count(DISTINCT c1)", 4), scalar(&w, "count(*)", 4));
    assert_int_equal(scalar(&w, "count(*) FILTER (WHERE c1 // 10 <> c3 OR c4 NOT BETWEEN 1 AND 99)", 4), 0);
    end_world(&w);
}

/* Two runs from one seed give the same, however often they were interrupted. */
static int64_t tpch_sum(World *w)
{
    return scalar(w, "sum(c4 * 100)", 4) + scalar(w, "sum(c6 * 100)", 5) + scalar(w, "count(*)", 5);
}

static void test_tpch(void **state UNUSED)
{
    World w;
    const char *options = "{\"generator\":\"tpch\",\"tick_us\":2000,\"scale_factor\":0.001,\"up_to\":40,\"seed\":3}";

    begin_generator(&w, options);
    wait_offset(&w, 10);
    reopen(&w);
    wait_offset(&w, 40);
    int64_t sum = tpch_sum(&w);
    assert_int_equal(scalar(&w, "count(*)", 0), 10);
    assert_int_equal(scalar(&w, "count(*)", 1), 200);
    assert_int_equal(scalar(&w, "count(DISTINCT (c1, c2))", 2), 800);
    assert_int_equal(scalar(&w, "count(*)", 3), 150);
    assert_int_equal(scalar(&w, "count(DISTINCT c1)", 4), 1500);
    assert_int_equal(scalar(&w, "count(DISTINCT c1)", 5), 1500);
    assert_int_equal(scalar(&w, "count(*)", 6), 25);
    end_world(&w);
    begin_generator(&w, options);
    wait_offset(&w, 40);
    assert_int_equal(tpch_sum(&w), sum);
    end_world(&w);
}

static void test_others(void **state UNUSED)
{
    World w;

    begin_generator(&w, "{\"generator\":\"datums\"}");
    wait_offset(&w, 1);
    assert_int_equal(scalar(&w, "count(*)", 0), 7);
    assert_int_equal(scalar(&w, "count(c2)", 0), 2);
    end_world(&w);
    begin_generator(&w, "{\"generator\":\"clock\",\"tick_us\":5000}");
    wait_offset(&w, 3);
    assert_int_equal(scalar(&w, "count(*)", 0), 1);
    end_world(&w);
    begin_generator(&w, "{\"generator\":\"key value\",\"keys\":16,\"snapshot_rounds\":3,\"value_size\":10,\"seed\":1,\"partitions\":4,\"batch_size\":2,\"tick_us\":1000,\"envelope\":\"upsert\",\"up_to\":60}");
    wait_offset(&w, 60);
    assert_int_equal(scalar(&w, "count(*)", 0), 16);
    assert_int_equal(scalar(&w, "count(DISTINCT c3)", 0), 16);
    end_world(&w);
    begin_generator(&w, "{\"generator\":\"marketing\",\"tick_us\":1000,\"up_to\":400}");
    wait_offset(&w, 100);
    reopen(&w);
    wait_offset(&w, 400);
    assert_int_equal(scalar(&w, "count(*)", 0), 50);
    assert_int_equal(scalar(&w, "count(*)", 1), 399);
    assert_int_equal(scalar(&w, "count(DISTINCT c1)", 3), 399);
    assert_int_equal(scalar(&w, "count(*)", 5), 399);
    SourceReport report;
    assert_true(source_report(w.sources, ID, &report));
    assert_int_equal(report.errors, 0);               /* every lead that was updated was there */
    end_world(&w);
}

static void test_bad_options(void **state UNUSED)
{
    static const struct { const char *options, *error; } bad[] = {
        { "{\"generator\":\"nobody\"}", "there is no load generator nobody" },
        { "{\"generator\":\"counter\",\"scale_factor\":1}", "COUNTER load generators do not support SCALE FACTOR values" },
        { "{\"generator\":\"auction\",\"max_cardinality\":1}", "AUCTION load generators do not support MAX CARDINALITY values" },
        { "{\"generator\":\"counter\",\"max_cardinality\":-1}", "unsupported negative max cardinality" },
        { "{\"generator\":\"counter\",\"as_of\":10,\"up_to\":5}", "UP TO cannot be less than AS OF" },
        { "{\"generator\":\"tpch\",\"scale_factor\":-0.5}", "unsupported scale factor -0.5" },
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Error err;
        Json *o;
        SourceOutputs outputs = {0};
        assert_ok(json_parse(a, str_c(bad[i].options), &o, &err), &err);
        SourceSpec spec = { .id = ID, .type = S("load-generator"), .options = o };
        assert_int_not_equal(source_load_generator.discover(a, &spec, &outputs, &err), OK);
        assert_string_equal(err.message, bad[i].error);
    }
}

/* Options that cannot be had stall the source; it goes on when they can be. */
static void test_stall(void **state UNUSED)
{
    World w;
    Error err;
    LiveStatuses all = {0};

    begin(&w, arena_create());
    w.options = S("{\"generator\":\"counter\",\"tick_us\":1000,\"up_to\":3}");
    discover(&w);
    make_relations(&w);
    w.options = S("{not json");
    start(&w);
    for (int i = 0; i < 400 && (!all.n || !str_eq(vec_last(&all).status, S("stalled"))); i++) {
        usleep(5000);
        all = (LiveStatuses){0};
        assert_ok(live_status_list(w.live, w.a, &all, &err), &err);
    }
    assert_true(str_eq(vec_last(&all).status, S("stalled")) && vec_last(&all).error.n > 0);
    w.options = S("{\"generator\":\"counter\",\"tick_us\":1000,\"up_to\":3}");
    wait_offset(&w, 3);
    source_pause(w.sources, ID);
    assert_ok(source_drop(w.sources, ID, &err), &err);
    assert_int_equal(offset_now(&w), 0);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches), cmocka_unit_test(test_counter), cmocka_unit_test(test_auction), cmocka_unit_test(test_tpch), cmocka_unit_test(test_others), cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_stall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
