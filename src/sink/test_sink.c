/* SPDX-License-Identifier: Apache-2.0 */
/* test_sink.c - exactly once: whatever the catalog does and whenever the sink is stopped, the table is the relation at the frontier that it records.
 *
 * FIRN_SINK_ROUNDS: random rounds of each kind (default 1); FIRN_SINK_SEED: where they begin; FIRN_SINK_KIND: the first kind. */
#include "sink/fake_remote_test.h"
#include "sink/sink_int.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SINK = 7, RELATION = 1, OTHER = 2 };

typedef struct World {
    Arena *a;
    Str dir, db;
    DuckEngine *engine;
    DuckConn *c;
    Live *live;
    Sinks *sinks;
    SinkSpec spec;
    int next;                         /* key */
    Error err;
} World;

static int keep(void *ctx UNUSED, int64_t id UNUSED) { return 1; }

static Status open_catalog(void *ctx UNUSED, int64_t sink UNUSED, RemoteCatalog **ret, Error *err)
{
    pthread_mutex_lock(&fake.lock);
    bool down = fake.only == FAULT_LOAD && fake.share && (int)(fake_random() % 100) < fake.share;
    pthread_mutex_unlock(&fake.lock);
    if (down)
        return FAIL(err, E_UNAVAILABLE, "connection refused");
    *ret = &fake.catalog;
    return OK;
}

static _Atomic int input_over;        /* of the test program */

static int input_ended(void *ctx UNUSED, int64_t relation UNUSED) { return input_over; }

static void open_world(World *w)
{
    LiveSetup o = { .engine = w->engine, .path = w->db, .keep = keep };
    SinksOptions so = { .scratch = w->dir, .catalog = open_catalog, .ended = input_ended, .retry_ms = 5 };

    assert_ok(live_open(&o, &w->live, &w->err), &w->err);
    so.live = w->live;
    so.engine = w->engine;
    w->sinks = sinks_new(&so);
}

static void close_world(World *w)
{
    sinks_free(w->sinks);
    live_close(w->live);
}

static DataType type_of(DataTypeKind k) { return (DataType){ .kind = k, .precision = k == DT_DECIMAL ? 12 : 0, .scale = k == DT_DECIMAL ? 2 : 0 }; }

static void create_relation(World *w, int64_t id)
{
    LiveColumns cols = {0};
    int64_t from;

    vec_push(w->a, &cols, ((LiveColumn){ S("k"), type_of(DT_INT32), 0 }));
    vec_push(w->a, &cols, ((LiveColumn){ S("v"), type_of(DT_STRING), 0 }));
    vec_push(w->a, &cols, ((LiveColumn){ S("n"), type_of(DT_DECIMAL), 0 }));
    assert_ok(live_table_create(w->live, id, &cols, &w->err), &w->err);
    assert_ok(live_log_begin(w->live, id, S("oracle"), &from, &w->err), &w->err);
}

static void column(World *w, const char *name, DataTypeKind k, const char *sql)
{
    vec_push(w->a, &w->spec.columns, ((SinkColumn){ str_c(name), str_c(name), type_of(k), 0, str_c(sql) }));
}

static void begin(World *w, SinkMode mode, SinkDeletes deletes)
{
    char dir[] = "/tmp/firn-sink-XXXXXX";
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };
    DuckOptions o = { .memory_limit = S("500MB"), .threads = 2 };

    *w = (World){ .a = arena_create() };
    assert_non_null(mkdtemp(dir));
    w->dir = str_dup(w->a, str_c(dir));
    w->db = str_cat(w->a, w->dir, S("/live.db"));
    fake = (Fake){ .a = arena_create(), .seed = 1 };
    pthread_mutex_init(&fake.lock, NULL);
    StoreOptions so = { .dir = str_cat(w->a, w->dir, S("/store")) };
    assert_ok(store_open_local(&so, &fake.store, &w->err), &w->err);
    assert_ok(store_bucket_create(fake.store, &b, &w->err), &w->err);
    assert_ok(duck_open(&o, &w->engine, &w->err), &w->err);
    assert_ok(duck_connect(w->engine, &w->c, &w->err), &w->err);
    open_world(w);
    create_relation(w, RELATION);
    w->spec = (SinkSpec){ .id = SINK, .relation = RELATION, .mode = mode, .deletes = deletes, .ns = S("ns"), .table = S("t"), .interval_ms = 10, .snapshot = 1 };
    column(w, "k", DT_INT32, "integer");
    column(w, "v", DT_STRING, "text");
    column(w, "n", DT_DECIMAL, "numeric(12,2)");
    if (mode == SINK_UPSERT)
        vec_push(w->a, &w->spec.key, S("k"));
}

static int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *ftw UNUSED) { return remove(path); }

static void finish(World *w)
{
    close_world(w);
    duck_disconnect(w->c);
    duck_close(w->engine);
    store_close(fake.store);
    arena_destroy(fake.a);
    nftw(w->dir.p, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_destroy(w->a);
}

/* ---- changes --------------------------------------------------------------------------------------------------------------------- */

static void change(World *w, int64_t relation, Str rids, Str rows)
{
    CLEANUP(live_exclusive_endp) LiveExclusive *x = NULL;
    LiveWrite lw = {0};
    int64_t t;

    assert_ok(live_exclusive(w->live, &x, &w->err), &w->err);
    assert_ok(live_stage_changes(w->live, w->a, w->c, relation, rids, rows, &lw, &w->err), &w->err);
    assert_ok(live_exclusive_commit(x, &lw, 1, &t, &w->err), &w->err);
}

static void insert(World *w, int n)
{
    LiveWrite lw = {0};
    int64_t t;
    Str rows = str_fmt(w->a, "SELECT CAST(range AS INTEGER) AS k, 'new ' || range AS v, CAST(range %% 7 AS DECIMAL(12,2)) AS n FROM range(%d, %d)", w->next, w->next + n);

    w->next += n;
    assert_ok(live_stage_inserts(w->live, w->a, w->c, RELATION, rows, &lw, &w->err), &w->err);
    assert_ok(live_commit(w->live, &lw, 1, &t, &w->err), &w->err);
}

static Str rids_of(World *w, const char *where)
{
    return str_fmt(w->a, "SELECT __rid FROM " STR_FMT " q WHERE %s", STR_ARG(live_rows_sql(w->a, RELATION)), where);
}

static void update(World *w, const char *where, const char *v)
{
    Str rows = str_fmt(w->a, "SELECT k, CAST(%s AS VARCHAR) AS v, n + 1 AS n FROM " STR_FMT " q WHERE %s", v, STR_ARG(live_rows_sql(w->a, RELATION)), where);
    change(w, RELATION, rids_of(w, where), rows);
}

static void delete(World *w, const char *where) { change(w, RELATION, rids_of(w, where), (Str){0}); }

static void random_change(World *w)
{
    Str some = str_fmt(w->a, "hash(k, %llu) %% 5 = 0", (unsigned long long)fake_random());

    switch (fake_random() % 5) {
    case 0: case 1: insert(w, 1 + (int)(fake_random() % 5)); break;
    case 2: delete(w, str_z(w->a, str_fmt(w->a, "hash(k, %llu) %% 11 = 0", (unsigned long long)fake_random()))); break;
    case 3: update(w, str_z(w->a, some), "NULL"); break;
    default: update(w, str_z(w->a, some), str_z(w->a, str_fmt(w->a, "'u%llu'", (unsigned long long)fake_random()))); break;
    }
}

/* ---- the table against the relation -------------------------------------------------------------------------------------------------- */

static int64_t scalar(World *w, Str sql)
{
    bool has;
    int64_t n = 0;
    assert_ok(duck_scalar_i64(w->c, sql, &n, &has, &w->err), &w->err);
    return n;
}

/* Rows of the table as now; *frontier 0: it has none yet. */
static Str table_rows(World *w, int64_t *frontier)
{
    Lake *l = lake_new(NULL, fake.store, NULL);
    LakeRelation rel = {0};
    LakeTable t = {0};
    Progress p;

    *frontier = 0;
    pthread_mutex_lock(&fake.lock);
    t.meta = fake_meta(w->a);
    pthread_mutex_unlock(&fake.lock);
    if (!t.meta)
        return (Str){0};
    assert_ok(progress_read(t.meta, &p, &w->err), &w->err);
    LakeScan scan = { .snapshot = ice_current_snapshot(t.meta), .schema = ice_current_schema(t.meta) };
    assert_ok(lake_scan(l, w->a, w->c, &t, &scan, &rel, &w->err), &w->err);
    assert_ok(duck_exec(w->c, str_fmt(w->a, "CREATE OR REPLACE TEMP TABLE got AS SELECT * FROM (" STR_FMT ") q", STR_ARG(rel.sql)), &w->err), &w->err);
    lake_free(l);
    *frontier = p.frontier;
    return S("got");
}

static Str difference(Arena *a, const char *x, const char *y)
{
    return str_fmt(a, "SELECT (SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT ALL SELECT * FROM (%s))) + (SELECT count(*) FROM (SELECT * FROM (%s) EXCEPT ALL SELECT * FROM (%s)))", x, y, y, x);
}

static Str oracle(World *w, int64_t frontier, const char *cols)
{
    Str log;
    assert_ok(live_log_sql(w->live, w->a, RELATION, 0, frontier - 1, &log, &w->err), &w->err);
    return str_fmt(w->a, "SELECT %s FROM (SELECT %s, unnest(range(CAST(n_ AS BIGINT))) FROM (SELECT %s, sum(__w) AS n_ FROM " STR_FMT " q GROUP BY ALL HAVING sum(__w) > 0))", cols, cols, cols,
                   STR_ARG(log));
}

static void check(World *w, const char *when)
{
    int64_t frontier;
    Str got = table_rows(w, &frontier);

    if (!frontier)
        return;
    Str want = oracle(w, frontier, "k, v, n");
    Str mine = str_fmt(w->a, "SELECT k, v, CAST(n AS DECIMAL(12,2)) AS n FROM " STR_FMT, STR_ARG(got));
    if (w->spec.mode == SINK_APPEND)
        mine = str_fmt(w->a, "SELECT k, v, CAST(n AS DECIMAL(12,2)) AS n FROM (SELECT k, v, n, unnest(range(CAST(d AS BIGINT))) FROM (SELECT k, v, n, sum(_mz_diff) AS d FROM got GROUP BY ALL HAVING sum(_mz_diff) <> 0))");
    int64_t n = scalar(w, difference(w->a, str_z(w->a, mine), str_z(w->a, want)));
    if (n)
        fail_msg("%s: %lld rows differ at frontier %lld (seed %llu)", when, (long long)n, (long long)frontier, (unsigned long long)fake.seed);
}

static Str status(World *w, Str *error)
{
    LiveStatuses all = {0};
    assert_ok(live_status_list(w->live, w->a, &all, &w->err), &w->err);
    *error = all.n ? vec_last(&all).error : (Str){0};
    return all.n ? vec_last(&all).status : (Str){0};
}

/* Waits until the table has everything that was written before. */
static void settle(World *w)
{
    int64_t now = live_now(w->live), frontier = 0;
    Str log;
    bool has;

    assert_ok(live_log_sql(w->live, w->a, RELATION, 0, now, &log, &w->err), &w->err);
    int64_t last = 0;
    assert_ok(duck_scalar_i64(w->c, str_fmt(w->a, "SELECT max(__t) FROM " STR_FMT " q", STR_ARG(log)), &last, &has, &w->err), &w->err);
    for (int i = 0; i < 6000; i++) {
        SinkReport r = {0};
        if (sink_report(w->sinks, SINK, &r) && r.frontier > last && !r.backlog_rows)
            return;
        frontier = r.frontier;
        usleep(10000);
    }
    Str error = {0}, st = status(w, &error);
    fail_msg("the sink stands at %lld, the relation at %lld; it is '" STR_FMT "' (" STR_FMT ")", (long long)frontier, (long long)last, STR_ARG(st), STR_ARG(error));
}

static void wait_status(World *w, const char *want, const char *text)
{
    Str error = {0}, s = {0};
    for (int i = 0; i < 1000; i++) {
        s = status(w, &error);
        if (str_eq(s, str_c(want)) && (!text || str_find(error, str_c(text)) >= 0))
            return;
        usleep(10000);
    }
    fail_msg("status is '" STR_FMT "' (" STR_FMT "), not %s with '%s'", STR_ARG(s), STR_ARG(error), want, text ? text : "");
}

static void start(World *w) { assert_ok(sink_start(w->sinks, &w->spec, &w->err), &w->err); }

static const IceSnapshot *newest_snapshot(World *w) { return ice_current_snapshot(fake_meta(w->a)); }

/* ---- tests -------------------------------------------------------------------------------------------------------------------------- */

static void test_narrow(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    insert(&w, 3);
    start(&w);
    settle(&w);
    check(&w, "snapshot");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 3);
    assert_str(newest_snapshot(&w)->operation, "append");
    update(&w, "k = 1", "'changed'");
    settle(&w);
    check(&w, "update");
    assert_str(newest_snapshot(&w)->operation, "overwrite");
    delete(&w, "k = 2");
    settle(&w);
    check(&w, "delete");
    assert_str(newest_snapshot(&w)->operation, "delete");
    insert(&w, 2);
    settle(&w);
    check(&w, "insert");
    assert_str(newest_snapshot(&w)->operation, "append");
    LiveLogReaders readers = {0};
    live_log_readers(w.live, w.a, &readers);
    assert_int_equal(readers.n, 2);
    assert_str(readers.p[1].reader, "sink u7");
    sink_drop(w.sinks, SINK);
    readers.n = 0;
    live_log_readers(w.live, w.a, &readers);
    assert_int_equal(readers.n, 1);                   /* the oracle's */
    finish(&w);
}

static void test_idle(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    start(&w);
    settle(&w);
    size_t n = fake_meta(w.a)->snapshots.n;
    assert_int_equal(n, 1);                           /* an empty snapshot that carries progress */
    usleep(100000);
    assert_int_equal(fake_meta(w.a)->snapshots.n, 1);
    insert(&w, 1);
    delete(&w, "k = 0");
    settle(&w);
    check(&w, "nothing on net");
    finish(&w);
}

typedef struct Kind { SinkMode mode; SinkDeletes deletes; } Kind;
static const Kind KINDS[] = { { SINK_UPSERT, SINK_DELETES_EQUALITY }, { SINK_APPEND, SINK_DELETES_EQUALITY }, { SINK_UPSERT, SINK_DELETES_POSITION }, { SINK_UPSERT, SINK_DELETES_VECTOR } };

static void restart(World *w)
{
    if (fake_random() % 3)
        sink_stop(w->sinks, SINK);
    else {
        close_world(w);
        open_world(w);
    }
    if (fake_random() % 2)
        random_change(w);
    w->spec.version += fake_random() % 4 == 0;
    start(w);
}

static void random_round(const Kind *k, uint64_t seed)
{
    World w;

    begin(&w, k->mode, k->deletes);
    fake.seed = seed;
    insert(&w, 5);
    start(&w);
    for (int i = 0; i < 60; i++) {
        pthread_mutex_lock(&fake.lock);
        fake.share = fake_random() % 3 ? 50 : 0;
        fake.only = (Fault)(fake_random() % FAULT_KINDS);
        pthread_mutex_unlock(&fake.lock);
        random_change(&w);
        usleep((useconds_t)(fake_random() % 15000));
        if (fake_random() % 6 == 0)
            restart(&w);
        if (fake_random() % 6 == 0)
            check(&w, "on the way");
    }
    pthread_mutex_lock(&fake.lock);
    fake.share = 0;
    pthread_mutex_unlock(&fake.lock);
    settle(&w);
    check(&w, "at the end");
    print_message("kind %d/%d: %lld commits, %lld faults, %zu snapshots\n", k->mode, k->deletes, (long long)fake.commits, (long long)fake.faults, fake_meta(w.a)->snapshots.n);
    finish(&w);
}

static void test_random(void **state UNUSED)
{
    int rounds = getenv("FIRN_SINK_ROUNDS") ? atoi(getenv("FIRN_SINK_ROUNDS")) : 1;
    uint64_t seed = getenv("FIRN_SINK_SEED") ? strtoull(getenv("FIRN_SINK_SEED"), NULL, 10) : 1;

    size_t from = getenv("FIRN_SINK_KIND") ? (size_t)atoi(getenv("FIRN_SINK_KIND")) : 0;

    for (size_t k = from; k < COUNT_OF(KINDS); k++)
        for (int i = 0; i < rounds; i++)
            random_round(&KINDS[k], seed + (uint64_t)i * 77);
}

/* An answer that is lost: one commit, no second one (case 14). */
static void test_lost_answer(void **state UNUSED)
{
    World w;

    begin(&w, SINK_APPEND, SINK_DELETES_EQUALITY);
    start(&w);
    settle(&w);
    pthread_mutex_lock(&fake.lock);
    fake.only = FAULT_ANSWER_LOST;
    fake.once = 1;
    pthread_mutex_unlock(&fake.lock);
    insert(&w, 13);
    settle(&w);
    check(&w, "answer lost");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 13);
    assert_int_equal(fake_meta(w.a)->snapshots.n, 2);
    Str error;
    assert_str(status(&w, &error), "running");
    finish(&w);
}

static void forge(World *w, const char *frontier, const char *version, const char *sink)
{
    pthread_mutex_lock(&fake.lock);
    fake_dummy(w->a, frontier, version, sink);
    pthread_mutex_unlock(&fake.lock);
}

/* Case 15: another sink with a newer version at the same frontier. */
static void test_fenced(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    insert(&w, 2);
    start(&w);
    settle(&w);
    forge(&w, NULL, "999", "u99");
    int64_t commits = fake.commits;
    insert(&w, 1);
    wait_status(&w, "stalled", "another writer");
    sink_stop(w.sinks, SINK);
    start(&w);
    wait_status(&w, "stalled", "Fenced off by newer sink version: resume_version 999, sink_version 0");
    assert_int_equal(fake.commits, commits);
    finish(&w);
}

/* Case 16: our own id and version, a frontier that we did not commit. */
static void test_prefix(void **state UNUSED)
{
    World w;
    Progress p;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    insert(&w, 2);
    start(&w);
    settle(&w);
    assert_ok(progress_read(fake_meta(w.a), &p, &w.err), &w.err);
    forge(&w, str_z(w.a, str_fmt(w.a, "[%lld]", (long long)p.frontier + 1000)), NULL, NULL);
    int64_t commits = fake.commits;
    insert(&w, 1);
    wait_status(&w, "stalled", "another writer");
    sink_stop(w.sinks, SINK);
    start(&w);
    wait_status(&w, "stalled", "another writer");
    assert_int_equal(fake.commits, commits);
    w.spec.version++;                                 /* the explicit repair */
    w.spec.rebuild = w.spec.version;
    sink_stop(w.sinks, SINK);
    start(&w);
    settle(&w);
    check(&w, "rebuilt");
    insert(&w, 1);
    settle(&w);
    check(&w, "after the rebuild");
    finish(&w);
}

/* Case 17: a commit of an earlier start arrives when the next batch, which covers more, is under way: the rest is made anew. */
static void test_overlap(void **state UNUSED)
{
    World w;

    begin(&w, SINK_APPEND, SINK_DELETES_EQUALITY);
    insert(&w, 3);
    start(&w);
    settle(&w);
    pthread_mutex_lock(&fake.lock);
    fake.only = FAULT_LATE;
    fake.share = 100;
    pthread_mutex_unlock(&fake.lock);
    insert(&w, 2);
    for (int i = 0; i < 500 && !fake.late.n; i++)
        usleep(2000);
    sink_stop(w.sinks, SINK);
    insert(&w, 1);
    pthread_mutex_lock(&fake.lock);
    fake.share = 0;
    pthread_mutex_unlock(&fake.lock);
    start(&w);
    settle(&w);
    check(&w, "overlap");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 6);
    finish(&w);
}

/* A catalog whose answer does not come: the sink is stopped all the same, and its successor finds what it has sent. */
static void test_orphan(void **state UNUSED)
{
    World w;

    begin(&w, SINK_APPEND, SINK_DELETES_EQUALITY);
    insert(&w, 2);
    start(&w);
    settle(&w);
    pthread_mutex_lock(&fake.lock);
    fake.hang_ms = 6000;
    pthread_mutex_unlock(&fake.lock);
    insert(&w, 3);
    for (int i = 0; i < 1000 && !fake.hanging; i++)
        usleep(5000);
    int64_t begun = clock_mono_us();
    sink_stop(w.sinks, SINK);
    assert_true(clock_mono_us() - begun < 5500000);
    insert(&w, 1);
    w.spec.version++;
    start(&w);
    settle(&w);
    check(&w, "beside an orphan");
    usleep(4000000);
    insert(&w, 1);
    settle(&w);
    check(&w, "after an orphan");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 7);
    finish(&w);
}

/* Somebody else's foreign table, or one that lost what it knew. */
static void test_adoption(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    insert(&w, 2);
    start(&w);
    settle(&w);
    sink_stop(w.sinks, SINK);
    w.spec.id = SINK + 1;                             /* another sink, the same table */
    start(&w);
    wait_status(&w, "stalled", "input compacted past resume upper");
    sink_stop(w.sinks, SINK + 1);
    w.spec.id = SINK;
    column(&w, "extra", DT_STRING, "text");
    w.spec.id = SINK + 2;
    start(&w);
    wait_status(&w, "stalled", "schema does not match expected schema");
    finish(&w);
}

static size_t sealed_snapshots(World *w)
{
    IceMetadata *m = fake_meta(w->a);
    size_t n = 0;

    for (size_t i = 0; i < m->snapshots.n; i++)
        n += str_eq(props_get(&m->snapshots.p[i]->summary, S("mz-frontier"), (Str){0}), S("[]"));
    return n;
}

static void wait_sealed(World *w)
{
    SinkReport r = {0};

    for (int i = 0; i < 1000 && !(sink_report(w->sinks, SINK, &r) && r.sealed); i++)
        usleep(10000);
    assert_true(r.sealed);
}

/* Cases 9 and 10: an input that has ended is written as such once, answer or no answer; after that the sink does nothing, unless the relation is written anew. */
static void test_sealed(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    insert(&w, 3);
    start(&w);
    settle(&w);
    assert_int_equal(sealed_snapshots(&w), 0);
    pthread_mutex_lock(&fake.lock);
    fake.only = FAULT_ANSWER_LOST;
    fake.share = 100;
    pthread_mutex_unlock(&fake.lock);
    update(&w, "k = 1", "'last'");
    input_over = 1;
    for (int i = 0; i < 1000 && !sealed_snapshots(&w); i++)
        usleep(5000);
    pthread_mutex_lock(&fake.lock);
    fake.share = 0;
    pthread_mutex_unlock(&fake.lock);
    wait_sealed(&w);
    check(&w, "sealed");
    assert_int_equal(sealed_snapshots(&w), 1);
    size_t n = fake_meta(w.a)->snapshots.n;
    sink_stop(w.sinks, SINK);
    w.spec.version++;
    start(&w);
    wait_sealed(&w);
    wait_status(&w, "running", NULL);
    usleep(100000);
    assert_int_equal(fake_meta(w.a)->snapshots.n, n);
    sink_stop(w.sinks, SINK);
    input_over = 0;
    w.spec.rebuild = ++w.spec.version;
    start(&w);
    settle(&w);
    insert(&w, 2);
    settle(&w);
    check(&w, "written anew");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 5);
    finish(&w);
}

/* Nothing has ever come, and nothing will: one empty snapshot. */
static void test_sealed_empty(void **state UNUSED)
{
    World w;

    begin(&w, SINK_APPEND, SINK_DELETES_EQUALITY);
    input_over = 1;
    start(&w);
    wait_sealed(&w);
    usleep(100000);
    assert_int_equal(fake_meta(w.a)->snapshots.n, 1);
    assert_int_equal(sealed_snapshots(&w), 1);
    input_over = 0;
    finish(&w);
}

/* Changes of several times and of one, rows that stand twice: what is written without netting is what netting would write. */
static void test_spans(void **state UNUSED)
{
    World w;

    begin(&w, SINK_APPEND, SINK_DELETES_EQUALITY);
    insert(&w, 4);
    start(&w);
    settle(&w);
    sink_pause(w.sinks, SINK);
    update(&w, "k < 2", "'one time'");
    sink_resume(w.sinks, SINK);
    settle(&w);
    check(&w, "of one time");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 8);
    sink_pause(w.sinks, SINK);
    update(&w, "k = 3", "'x'");
    update(&w, "k = 3", "'y'");
    change(&w, RELATION, rids_of(&w, "false"), S("SELECT CAST(1 AS INTEGER) AS k, 'twice' AS v, CAST(1 AS DECIMAL(12,2)) AS n FROM range(3)"));
    sink_resume(w.sinks, SINK);
    settle(&w);
    check(&w, "of several times");
    assert_int_equal(scalar(&w, S("SELECT count(*) FROM got")), 15);
    assert_int_equal(scalar(&w, S("SELECT count(DISTINCT _mz_timestamp) FROM got WHERE k = 3 AND v IN ('x', 'y')")), 2);
    finish(&w);
}

/* Small files are joined, snapshots expire but for the newest progress, orphans go; the rows stay. */
static void test_maintenance(void **state UNUSED)
{
    static const char *const policy[][2] = { { "sink.maintenance.interval-ms", "30" }, { "sink.rewrite.min-files", "3" }, { "sink.expire.max-age-ms", "1" }, { "sink.expire.min-snapshots", "2" },
                                             { "sink.orphans.older-than-ms", "1" } };
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    for (size_t i = 0; i < COUNT_OF(policy); i++)
        props_set(w.a, &w.spec.props, str_c(policy[i][0]), str_c(policy[i][1]));
    insert(&w, 5);
    start(&w);
    assert_ok(store_put(fake.store, S("s3://w/t/data/mz_data-orphan.parquet"), S("x"), &w.err), &w.err);
    assert_ok(store_put(fake.store, S("s3://w/t/data/other.parquet"), S("x"), &w.err), &w.err);
    for (int i = 0; i < 12; i++) {
        insert(&w, 2);
        update(&w, "k % 2 = 0", "'again'");
        usleep(40000);
        check(&w, "under maintenance");
    }
    settle(&w);
    usleep(200000);
    check(&w, "maintained");
    IceMetadata *m = fake_meta(w.a);
    ObjectInfo info;
    assert_true(m->snapshots.n <= 6);
    assert_status(store_stat(fake.store, w.a, S("s3://w/t/data/mz_data-orphan.parquet"), &info, &w.err), E_NOT_FOUND);
    assert_ok(store_stat(fake.store, w.a, S("s3://w/t/data/other.parquet"), &info, &w.err), &w.err);
    insert(&w, 1);
    settle(&w);
    check(&w, "goes on");
    finish(&w);
}

static void test_log_limit(void **state UNUSED)
{
    World w;

    begin(&w, SINK_UPSERT, SINK_DELETES_EQUALITY);
    w.spec.log_limit = 100;
    start(&w);
    settle(&w);
    pthread_mutex_lock(&fake.lock);
    fake.only = FAULT_DENIED;
    fake.share = 100;
    pthread_mutex_unlock(&fake.lock);
    insert(&w, 50);
    wait_status(&w, "stalled", "403 Forbidden");
    insert(&w, 200);
    wait_status(&w, "paused", "more than its limit of 100");
    fake.share = 0;
    sink_stop(w.sinks, SINK);
    start(&w);
    wait_status(&w, "stalled", "input compacted past resume upper");
    sink_stop(w.sinks, SINK);
    w.spec.rebuild = ++w.spec.version;
    start(&w);
    wait_status(&w, "running", NULL);
    settle(&w);
    check(&w, "rebuilt");
    finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_narrow), cmocka_unit_test(test_idle), cmocka_unit_test(test_lost_answer), cmocka_unit_test(test_fenced), cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_orphan), cmocka_unit_test(test_adoption), cmocka_unit_test(test_log_limit), cmocka_unit_test(test_maintenance),
        cmocka_unit_test(test_sealed), cmocka_unit_test(test_sealed_empty), cmocka_unit_test(test_spans), cmocka_unit_test(test_random),
    };
    if (getenv("FIRN_SINK_ONLY"))
        cmocka_set_test_filter(getenv("FIRN_SINK_ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
