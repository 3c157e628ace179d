/* SPDX-License-Identifier: Apache-2.0 */
/* test_logs.c - groups, streams, positions in both directions, retention, notices, restarts. */
#include "base/test.h"
#include "catalog/logs.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct Env { Arena *a; char dir[64]; Str path; Logs *l; Error err; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-logs-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    e->path = str_fmt(e->a, "%s/logs.db", e->dir);
    *state = e;
    return logs_open(e->path, &e->l, &e->err) == OK ? 0 : -1;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "logs.db", "logs.db-wal", "logs.db-shm" };
    logs_close(e->l);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static void put(Env *e, const char *stream, int64_t time_ms, const char *message)
{
    LogEvents v = {0};
    vec_push(e->a, &v, ((LogEvent){ .time_ms = time_ms, .message = str_c(message) }));
    assert_ok(logs_put(e->l, S("g"), str_c(stream), &v, &e->err), &e->err);
}

static Str messages(Env *e, const LogQuery *q)
{
    LogEvents v;
    StrVec out = {0};
    assert_ok(logs_read(e->l, e->a, q, &v, &e->err), &e->err);
    for vec_each(LogEvent, it, &v)
        vec_push(e->a, &out, it->message);
    return str_join(e->a, &out, S(" "));
}

static void make_streams(Env *e)
{
    LogGroup g = { .name = S("g") };
    assert_ok(logs_group_create(e->l, &g, &e->err), &e->err);
    assert_ok(logs_stream_create(e->l, S("g"), S("a"), &e->err), &e->err);
    assert_ok(logs_stream_create(e->l, S("g"), S("ab"), &e->err), &e->err);
}

static void groups(void **state)
{
    Env *e = *state;
    LogGroup g = { .name = S("/x/one"), .retention_days = 7, .created_ms = 42 }, got;
    LogGroups all;

    props_set(e->a, &g.tags, S("k"), S("v"));
    assert_ok(logs_group_create(e->l, &g, &e->err), &e->err);
    assert_status(logs_group_create(e->l, &g, &e->err), E_EXISTS);
    assert_status(logs_group_get(e->l, e->a, S("/x"), &got, &e->err), E_NOT_FOUND);
    assert_ok(logs_group_get(e->l, e->a, S("/x/one"), &got, &e->err), &e->err);
    assert_int_equal(got.retention_days, 7);
    assert_int_equal(got.created_ms, 42);
    assert_str(got.class_, "STANDARD");
    assert_str(props_get(&got.tags, S("k"), S("")), "v");
    got.retention_days = 0;
    assert_ok(logs_group_update(e->l, &got, &e->err), &e->err);
    g.name = S("/x/two");
    assert_ok(logs_group_create(e->l, &g, &e->err), &e->err);
    g.name = S("/X/two");
    assert_ok(logs_group_create(e->l, &g, &e->err), &e->err);
    assert_ok(logs_group_list(e->l, e->a, S("/x"), (Str){0}, 0, &all, &e->err), &e->err);
    assert_int_equal(all.n, 2);
    assert_int_equal(all.p[0].retention_days, 0);
    assert_ok(logs_group_list(e->l, e->a, S("/x"), S("/x/one"), 5, &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
    assert_str(all.p[0].name, "/x/two");
    assert_ok(logs_group_delete(e->l, S("/x/two"), &e->err), &e->err);
    assert_status(logs_group_delete(e->l, S("/x/two"), &e->err), E_NOT_FOUND);
}

static void events_by_position(void **state)
{
    Env *e = *state;
    LogQuery q = { .group = S("g") };
    LogEvents v;

    make_streams(e);
    put(e, "a", 20, "m2");
    put(e, "a", 10, "m1");
    put(e, "ab", 20, "m3");
    put(e, "a", 20, "m4");
    put(e, "ab", 30, "m5");
    assert_str(messages(e, &q), "m1 m2 m3 m4 m5");
    q.max = 2;
    assert_str(messages(e, &q), "m1 m2");
    q.backward = 1;
    assert_str(messages(e, &q), "m4 m5");
    assert_ok(logs_read(e->l, e->a, &q, &v, &e->err), &e->err);
    q.after_time_ms = v.p[0].time_ms;
    q.after_id = v.p[0].id;
    assert_str(messages(e, &q), "m2 m3");
    q.backward = 0;
    assert_str(messages(e, &q), "m5");
    q = (LogQuery){ .group = S("g"), .from_ms = 20, .to_ms = 30 };
    assert_str(messages(e, &q), "m2 m3 m4");
    q = (LogQuery){ .group = S("g"), .stream_prefix = S("ab") };
    assert_str(messages(e, &q), "m3 m5");
    q = (LogQuery){ .group = S("g") };
    vec_push(e->a, &q.streams, S("a"));
    assert_str(messages(e, &q), "m1 m2 m4");
    vec_push(e->a, &q.streams, S("nothing"));
    assert_str(messages(e, &q), "m1 m2 m4");
    q = (LogQuery){ .group = S("none") };
    assert_status(logs_read(e->l, e->a, &q, &v, &e->err), E_NOT_FOUND);
}

static void sizes(void **state)
{
    Env *e = *state;
    LogGroup g;
    LogStream s;
    LogEvents v = {0};

    make_streams(e);
    put(e, "a", 10, "\xC3\xA4");
    put(e, "ab", 5, "xyz");
    assert_ok(logs_group_get(e->l, e->a, S("g"), &g, &e->err), &e->err);
    assert_int_equal(g.stored_bytes, 2 + 3 + 52);
    assert_ok(logs_stream_get(e->l, e->a, S("g"), S("a"), &s, &e->err), &e->err);
    assert_int_equal(s.first_ms, 10);
    assert_int_equal(s.last_ms, 10);
    assert_ok(logs_stream_delete(e->l, S("g"), S("a"), &e->err), &e->err);
    assert_ok(logs_group_get(e->l, e->a, S("g"), &g, &e->err), &e->err);
    assert_int_equal(g.stored_bytes, 3 + 26);
    assert_status(logs_put(e->l, S("g"), S("a"), &v, &e->err), E_NOT_FOUND);
    assert_non_null(strstr(e->err.message, "log stream"));
    char *big = arena_alloc(e->a, LOGS_EVENT_BYTES);
    memset(big, 'x', LOGS_EVENT_BYTES);
    vec_push(e->a, &v, ((LogEvent){ .time_ms = 1, .message = str_n(big, LOGS_EVENT_BYTES) }));
    assert_status(logs_put(e->l, S("g"), S("ab"), &v, &e->err), E_LIMIT);
    v.p[0].message.n = LOGS_EVENT_BYTES / 2;
    vec_push(e->a, &v, v.p[0]);
    assert_status(logs_put(e->l, S("g"), S("ab"), &v, &e->err), E_LIMIT);
}

static Str streams(Env *e, const LogStreamQuery *q)
{
    LogStreams v;
    StrVec out = {0};
    assert_ok(logs_stream_list(e->l, e->a, q, &v, &e->err), &e->err);
    for vec_each(LogStream, it, &v)
        vec_push(e->a, &out, it->name);
    return str_join(e->a, &out, S(" "));
}

static void streams_in_order(void **state)
{
    Env *e = *state;
    LogStreamQuery q = { .group = S("g") };

    make_streams(e);
    assert_ok(logs_stream_create(e->l, S("g"), S("b"), &e->err), &e->err);
    put(e, "b", 10, "x");
    put(e, "a", 20, "x");
    assert_str(streams(e, &q), "a ab b");
    q.descending = 1;
    assert_str(streams(e, &q), "b ab a");
    q.after = S("b");
    assert_str(streams(e, &q), "ab a");
    q = (LogStreamQuery){ .group = S("g"), .by_time = 1, .max = 2 };
    assert_str(streams(e, &q), "ab b");
    q.after = S("b");
    q.after_ms = 10;
    assert_str(streams(e, &q), "a");
    q = (LogStreamQuery){ .group = S("g"), .by_time = 1, .descending = 1 };
    assert_str(streams(e, &q), "a b ab");
    q = (LogStreamQuery){ .group = S("g"), .prefix = S("a") };
    assert_str(streams(e, &q), "a ab");
}

static void retention(void **state)
{
    Env *e = *state;
    LogQuery q = { .group = S("g") };
    LogGroup g;
    const int64_t day = 86400000;

    make_streams(e);
    put(e, "a", 10 * day, "old");
    put(e, "a", 12 * day, "new");
    assert_ok(logs_expire(e->l, 100 * day, &e->err), &e->err);
    assert_str(messages(e, &q), "old new");
    assert_ok(logs_group_get(e->l, e->a, S("g"), &g, &e->err), &e->err);
    g.retention_days = 1;
    assert_ok(logs_group_update(e->l, &g, &e->err), &e->err);
    assert_ok(logs_expire(e->l, 12 * day, &e->err), &e->err);
    assert_str(messages(e, &q), "new");
    assert_ok(logs_group_get(e->l, e->a, S("g"), &g, &e->err), &e->err);
    assert_int_equal(g.stored_bytes, 3 + 26);
}

static void written_by_runs(void **state)
{
    Env *e = *state;
    LogQuery q = { .group = S("/own") };

    assert_ok(logs_write(e->l, S("/own"), S("r"), S("one"), &e->err), &e->err);
    assert_ok(logs_write(e->l, S("/own"), S("r"), S("two"), &e->err), &e->err);
    logs_close(e->l);
    e->l = NULL;
    assert_ok(logs_open(e->path, &e->l, &e->err), &e->err);
    assert_str(messages(e, &q), "one two");
    assert_ok(logs_reset(e->l, &e->err), &e->err);
    LogEvents v;
    assert_status(logs_read(e->l, e->a, &q, &v, &e->err), E_NOT_FOUND);
}

static void notices(void **state)
{
    Env *e = *state;
    Json *o = json_object(e->a), *list;

    for (int i = 0; i < 3; i++) {
        json_set(e->a, o, "id", json_int(e->a, i));
        assert_ok(logs_notice(e->l, o, &e->err), &e->err);
    }
    assert_ok(logs_notices(e->l, e->a, 0, 2, &list, &e->err), &e->err);
    assert_int_equal(json_len(list), 2);
    int64_t last = json_get_int(json_at(list, 1), "sequence", 0);
    assert_ok(logs_notices(e->l, e->a, last, 0, &list, &e->err), &e->err);
    assert_int_equal(json_len(list), 1);
    assert_int_equal(json_get_int(json_at(list, 0), "id", -1), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(groups, setup, teardown),
        cmocka_unit_test_setup_teardown(events_by_position, setup, teardown),
        cmocka_unit_test_setup_teardown(sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(streams_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(retention, setup, teardown),
        cmocka_unit_test_setup_teardown(written_by_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(notices, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
