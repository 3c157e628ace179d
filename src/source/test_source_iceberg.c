/* SPDX-License-Identifier: Apache-2.0 */
/* test_source_iceberg.c - an Iceberg table of a REST catalog as a live relation: its rows, what changes, over restarts, after expiry, with other columns, made anew. */
#include "door/rest/remote_doors_test.h"
#include "source/source_int.h"

enum { ID = 7, RELATION = 20 };

typedef struct World { Env *env; Client *client; Arena *a; DuckEngine *engine; DuckConn *db; Live *live; Sources *sources; SourceOutputs outputs; Str path; Json *options; int bad_line; } World;

static int keep(void *ctx UNUSED, int64_t id UNUSED) { return 1; }

static Status options_of(void *ctx, Arena *a, int64_t id UNUSED, Json **ret, Error *err UNUSED)
{
    *ret = json_copy(a, ((World *)ctx)->options);
    return OK;
}

static Status catalog_of(void *ctx, int64_t connection, RemoteCatalog **ret, Error *err)
{
    World *w = ctx;
    RemoteOptions o = by_oauth(w->env);
    if (w->bad_line)
        o.url = w->env->bad_url;
    assert_int_equal(connection, 5);
    return remote_open(&o, ret, err);
}

static void open_world(World *w)
{
    DuckOptions o = { .threads = 2 };
    Error err;

    assert_ok(duck_open(&o, &w->engine, &err), &err);
    assert_ok(duck_connect(w->engine, &w->db, &err), &err);
    LiveSetup lo = { .engine = w->engine, .path = w->path, .keep = keep };
    assert_ok(live_open(&lo, &w->live, &err), &err);
    SourcesOptions so = { .live = w->live, .engine = w->engine, .ctx = w, .options = options_of, .catalog = catalog_of };
    w->sources = sources_new(&so);
    sources_wake(w->sources);
}

static void close_world(World *w)
{
    sources_free(w->sources);
    live_close(w->live);
    duck_disconnect(w->db);
    duck_close(w->engine);
}

static Status discover(World *w, Error *err)
{
    SourceSpec spec = { .id = ID, .type = S("iceberg"), .options = w->options, .ctx = w, .catalog = catalog_of };
    w->outputs = (SourceOutputs){0};
    return source_iceberg.discover(w->a, &spec, &w->outputs, err);
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
        w->outputs.p[i].relation = RELATION + (int64_t)i;
        assert_ok(live_table_create(w->live, w->outputs.p[i].relation, &cols, &err), &err);
    }
}

static void start(World *w)
{
    Error err;
    assert_ok(source_start(w->sources, ID, S("iceberg"), &w->outputs, &err), &err);
}

static Json *options(World *w, const char *text)
{
    Json *j;
    Error err;
    assert_ok(json_parse(w->a, str_c(text), &j, &err), &err);
    return j;
}

static void begin(World *w, void **state, const char *text)
{
    Error err;
    Env *env = *state;
    *w = (World){ .env = env, .client = &env->client, .a = env->a, .path = str_cat(env->a, env->dir, S("/live.db")) };
    w->options = options(w, text);
    open_world(w);
    assert_ok(discover(w, &err), &err);
    make_relations(w);
    start(w);
}

static Str rows(World *w, size_t output)
{
    Error err;
    Str sql, got = S("");
    bool has;

    assert_ok(live_relation_sql(w->live, w->a, RELATION + (int64_t)output, &sql, &err), &err);
    sql = str_fmt(w->a, "SELECT string_agg(c1 || coalesce(c2, '-'), ' ' ORDER BY c1, c2) FROM (" STR_FMT ") q", STR_ARG(sql));
    assert_ok(duck_scalar_str(w->db, w->a, sql, &got, &has, &err), &err);
    return got;
}

static void wait_rows(World *w, size_t output, const char *want)
{
    int64_t until = clock_mono_us() + 30000000;
    while (!str_eq(rows(w, output), str_c(want)) && clock_mono_us() < until)
        usleep(20000);
    assert_str(rows(w, output), want);
}

/* The newest status of an object. */
static LiveStatus status_of(World *w, int64_t object)
{
    LiveStatuses all = {0};
    LiveStatus last = {0};
    Error err;
    assert_ok(live_status_list(w->live, w->a, &all, &err), &err);
    for (size_t i = 0; i < all.n; i++)
        if (all.p[i].object == object)
            last = all.p[i];
    return last;
}

static LiveStatus status(World *w) { return status_of(w, ID); }

static void wait_stall(World *w, const char *words)
{
    int64_t until = clock_mono_us() + 30000000;
    while (str_find(status(w).error, str_c(words)) < 0 && clock_mono_us() < until)
        usleep(20000);
    if (str_find(status(w).error, str_c(words)) < 0)
        fail_msg("status " STR_FMT ": " STR_FMT, STR_ARG(status(w).status), STR_ARG(status(w).error));
    assert_str(status(w).status, "stalled");
}

static void update(Client *e, const char *text)
{
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    Json *list;

    assert_ok(json_parse(e->a, str_c(text), &list, &e->err), &e->err);
    for (size_t i = 0; i < json_len(list); i++) {
        IceUpdate u = {0};
        assert_ok(ice_update_parse(e->a, json_at(list, i), &u, &e->err), &e->err);
        vec_push(e->a, &ups, u);
    }
    assert_ok(remote_table_commit(&e->t, e->a, &ups, &rqs, &e->err), &e->err);
    use_table(e);
}

#define ONE "{\"connection_id\":5,\"namespace\":\"ns\",\"table\":\"t\",\"refresh_interval\":\"1s\"}"

static void new_table(Env *env)
{
    Client *e = &env->client;
    if (!e->remote)
        open_remote(e, by_oauth(env));
    create_table(e, 0, "2");
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------------------- */

/* Rows are seen a moment before the report tells of them. */
static SourceReport report_at(World *w, int64_t offset)
{
    SourceReport r = {0};

    for (int i = 0; i < 500; i++) {
        assert_true(source_report(w->sources, ID, &r));
        if (r.offset_committed.v == offset)
            break;
        usleep(20000);
    }
    return r;
}

static void test_changes(void **state)
{
    World w;
    SourceReport report;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    insert(e, "(1, 'a'), (2, NULL), (2, NULL)");
    begin(&w, state, ONE);
    assert_int_equal(w.outputs.n, 1);
    assert_str(w.outputs.p[0].name, "");
    assert_str(w.outputs.p[0].external, "ns.t");
    assert_int_equal(w.outputs.p[0].columns.n, 2);
    wait_rows(&w, 0, "1a 2- 2-");
    insert(e, "(3, 'c')");
    delete_where(e, "id = 1");
    wait_rows(&w, 0, "2- 2- 3c");
    report = report_at(&w, 3);
    assert_true(report.snapshot_done);
    assert_int_equal(report.offset_committed.v, 3);
    close_world(&w);                                 /* both sides go on without each other */
    insert(e, "(4, 'd')");
    delete_where(e, "id = 2");
    insert(e, "(5, 'e')");
    open_world(&w);
    start(&w);
    wait_rows(&w, 0, "3c 4d 5e");
    close_world(&w);
}

static void test_empty_then_rows(void **state)
{
    World w;

    new_table(*state);
    begin(&w, state, ONE);
    for (int i = 0; i < 500 && !str_eq(status(&w).status, S("running")); i++)
        usleep(20000);
    assert_str(status(&w).status, "running");
    insert(&((Env *)*state)->client, "(1, 'a')");
    wait_rows(&w, 0, "1a");
    close_world(&w);
}

/* What was read last is not there any more: the table takes the place of the rows. */
static void test_expired(void **state)
{
    World w;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    insert(e, "(1, 'a'), (2, 'b')");
    begin(&w, state, ONE);
    wait_rows(&w, 0, "1a 2b");
    close_world(&w);
    int64_t read = e->t.meta->current_snapshot_id.v;
    insert(e, "(3, 'c')");
    delete_where(e, "id = 1");
    update(e, str_fmt(e->a, "[{\"action\":\"remove-snapshots\",\"snapshot-ids\":[%lld]}]", (long long)read).p);
    open_world(&w);
    start(&w);
    wait_rows(&w, 0, "2b 3c");
    insert(e, "(4, 'd')");
    wait_rows(&w, 0, "2b 3c 4d");
    close_world(&w);
}

#define FIELD(id, name, type) "{\"id\":" id ",\"name\":\"" name "\",\"required\":false,\"type\":\"" type "\"}"
#define NEW_SCHEMA(fields) "[{\"action\":\"add-schema\",\"schema\":{\"type\":\"struct\",\"schema-id\":0,\"fields\":[" fields "]}},{\"action\":\"set-current-schema\",\"schema-id\":-1}]"

static void test_drift(void **state)
{
    World w;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    insert(e, "(1, 'a')");
    begin(&w, state, ONE);
    wait_rows(&w, 0, "1a");
    update(e, NEW_SCHEMA(FIELD("1", "id", "long") "," FIELD("2", "area", "string") "," FIELD("3", "more", "string")));       /* renamed, added */
    LakeWrite lw = { .table = &e->lt, .schema = ice_current_schema(e->t.meta) };
    LakeFiles files = {0};
    IceChange ch = { .operation = S("append"), .base_snapshot = e->t.meta->current_snapshot_id };
    int64_t n;
    assert_ok(lake_write(e->l, e->a, e->conn, &lw, S("SELECT CAST(2 AS BIGINT) AS id, 'b' AS area, 'x' AS more"), &files, &n, &e->err), &e->err);
    vec_push(e->a, &ch.add_data, files.p[0].file);
    assert_ok(commit(e, &ch), &e->err);
    wait_rows(&w, 0, "1a 2b");
    update(e, NEW_SCHEMA(FIELD("1", "id", "long") "," FIELD("3", "more", "string")));
    wait_stall(&w, "column \"region\" was dropped");
    assert_true(status(&w).hint.n > 0);
    assert_str(rows(&w, 0), "1a 2b");
    close_world(&w);
}

static void test_made_anew(void **state)
{
    World w;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    insert(e, "(1, 'a')");
    begin(&w, state, ONE);
    wait_rows(&w, 0, "1a");
    end_table(e);
    assert_ok(remote_table_drop(e->remote, S("ns"), S("t"), &e->err), &e->err);
    wait_stall(&w, "does not exist");
    new_table(*state);
    insert(e, "(9, 'z')");
    wait_stall(&w, "made anew");
    assert_str(rows(&w, 0), "1a");
    close_world(&w);
}

static void test_several(void **state)
{
    World w;
    RemoteTable other = {0};
    Error err;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    assert_ok(remote_table_create(e->remote, e->a, S("ns"), S("u"), &(RemoteNew){ .schema = ice_current_schema(e->t.meta) }, &other, &e->err), &e->err);
    insert(e, "(1, 'a')");
    begin(&w, state, "{\"connection_id\":5,\"namespace\":\"ns\",\"tables\":[[\"t\"],[\"ns\",\"u\"]],\"refresh_interval\":\"1 second\"}");
    assert_int_equal(w.outputs.n, 2);
    assert_str(w.outputs.p[1].name, "u");
    wait_rows(&w, 0, "1a");
    RemoteTable t = e->t;
    e->t = other;
    use_table(e);
    insert(e, "(2, 'b')");
    wait_rows(&w, 1, "2b");
    update(e, NEW_SCHEMA(FIELD("1", "id", "long")));
    remote_table_end(&e->t);
    e->t = t;
    use_table(e);
    usleep(1500000);
    insert(e, "(3, 'c')");                           /* the other one goes on */
    wait_rows(&w, 0, "1a 3c");
    assert_str(status_of(&w, RELATION + 1).status, "stalled");
    assert_true(str_find(status_of(&w, RELATION + 1).error, S("column \"region\" was dropped")) >= 0);
    assert_str(status(&w).status, "running");
    close_world(&w);
    w.options = options(&w, "{\"connection_id\":5,\"namespace\":\"ns\",\"table\":\"none\"}");
    assert_status(discover(&w, &err), E_NOT_FOUND);
    w.options = options(&w, "{\"connection_id\":5,\"table\":\"t\"}");
    assert_status(discover(&w, &err), E_INVALID);
    w.options = options(&w, "{\"connection_id\":5,\"namespace\":\"ns\",\"table\":\"t\",\"refresh_interval\":\"10ms\"}");
    assert_status(discover(&w, &err), E_INVALID);
    w.options = options(&w, "{\"connection_id\":5,\"namespace\":\"ns\",\"table\":\"t\",\"refresh_interval\":\"often\"}");
    assert_status(discover(&w, &err), E_INVALID);
}

/* More files than are read at once. */
static void test_many_files(void **state)
{
    World w;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    for (int i = 0; i < 70; i++)
        insert(e, str_fmt(e->a, "(%d, 'x')", i).p);
    delete_where(e, "id >= 3");
    insert(e, "(100, 'y')");
    begin(&w, state, ONE);
    wait_rows(&w, 0, "0x 1x 2x 100y");
    close_world(&w);
}

static void test_many_files_whole(void **state)
{
    World w;
    Error err;
    int64_t n = 0;
    bool has;
    Str sql;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    for (int i = 0; i < 130; i++)
        insert(e, str_fmt(e->a, "(%d, 'x')", i).p);
    begin(&w, state, ONE);
    for (int i = 0; i < 500 && n != 130; i++) {
        usleep(20000);
        assert_ok(live_relation_sql(w.live, w.a, RELATION, &sql, &err), &err);
        assert_ok(duck_scalar_i64(w.db, str_fmt(w.a, "SELECT count(DISTINCT c1) FROM (" STR_FMT ") q", STR_ARG(sql)), &n, &has, &err), &err);
    }
    assert_int_equal(n, 130);
    close_world(&w);
}

static void test_store_that_fails(void **state)
{
    World w;

    new_table(*state);
    Client *e = &((Env *)*state)->client;
    begin(&w, state, ONE);
    insert(e, "(1, 'a')");
    __atomic_store_n(&((Env *)*state)->down, 8, __ATOMIC_RELAXED);
    wait_rows(&w, 0, "1a");
    close_world(&w);
}

/* Over a line that loses every fourth answer; what stands at the end is what the table has. */
static void test_bad_line(void **state)
{
    World w;
    Env *env = *state;

    new_table(env);
    Client *e = &env->client;
    insert(e, "(0, 'x')");
    begin(&w, state, ONE);
    wait_rows(&w, 0, "0x");
    close_world(&w);
    w.bad_line = 1;
    env->badness = 25;
    open_world(&w);
    start(&w);
    for (int i = 1; i <= 6; i++) {
        insert(e, str_fmt(e->a, "(%d, 'a'), (%d, 'b')", i, i + 10).p);
        delete_where(e, str_fmt(e->a, "id = %d", i + 9).p);
        usleep(400000);
    }
    wait_rows(&w, 0, "0x 1a 2a 3a 4a 5a 6a 16b");
    close_world(&w);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = { T(test_changes), T(test_empty_then_rows), T(test_expired), T(test_drift), T(test_made_anew), T(test_several), T(test_many_files), T(test_many_files_whole), T(test_store_that_fails), T(test_bad_line) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
