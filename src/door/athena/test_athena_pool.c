/* SPDX-License-Identifier: Apache-2.0 */
/* test_athena_pool.c - many callers start, look at, stop and list executions at once; then the door closes over what is left.
 *
 * The statements are PREPARE: they need no engine, so this runs under the thread sanitizer. */
#include "base/test.h"
#include "door/athena/athena_int.h"

#include <stdlib.h>
#include <unistd.h>

enum { CALLERS = 8, ROUNDS = 20 };
#define ACCOUNT "123456789012"

typedef struct World { Arena *a; char dir[64]; Service svc; AwsMount mount; Error err; } World;

static int setup(void **state)
{
    World *w = calloc(1, sizeof *w);

    w->a = arena_create();
    strcpy(w->dir, "/tmp/firn-athena-XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    assert_ok(store_open_memory(&w->svc.store, &w->err), &w->err);
    assert_ok(cat_open(str_fmt(w->a, "%s/catalog.db", w->dir), S(ACCOUNT), S("us-east-1"), &w->svc.catalog, &w->err), &w->err);
    w->svc.access = access_new(w->svc.catalog);
    assert_ok(store_bucket_create(w->svc.store, &(BucketInfo){ .name = S("results"), .owner = S(ACCOUNT), .region = S("us-east-1") }, &w->err), &w->err);
    assert_ok(athena_open(&w->svc, &w->mount, &w->err), &w->err);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    World *w = *state;

    if (w->mount.close)
        w->mount.close(w->mount.ctx);
    access_free(w->svc.access);
    cat_close(w->svc.catalog);
    store_close(w->svc.store);
    if (system(str_fmt(w->a, "rm -rf %s", w->dir).p) != 0)
        return -1;
    arena_destroy(w->a);
    free(w);
    return 0;
}

static const AwsOp *operation(Str name)
{
    for (size_t i = 0; i < athena_service.nops; i++)
        if (str_eq(name, str_c(athena_service.ops[i].name)))
            return &athena_service.ops[i];
    return NULL;
}

static Status call(World *w, Arena *a, const char *op, const char *member, Str value, Json **out, Error *err)
{
    AwsCall c = { .a = a, .service = &athena_service, .op = operation(str_c(op)), .door = w->mount.ctx, .access = w->svc.access, .who = access_root(a, w->svc.access),
                  .in = json_object(a), .out = json_object(a) };

    if (member)
        json_set(a, c.in, member, json_str(a, value));
    if (strcmp(op, "StartQueryExecution") == 0) {
        Json *result = json_object(a);
        json_set(a, result, "OutputLocation", json_str(a, S("s3://results/x/")));
        json_set(a, c.in, "ResultConfiguration", result);
    }
    Status s = c.op->handler(&c, err);
    *out = c.out;
    return s;
}

static Str state_of(World *w, Arena *a, Str id)
{
    Json *out;
    Error err;

    if (call(w, a, "GetQueryExecution", "QueryExecutionId", id, &out, &err) != OK)
        return S("LOST");
    return json_get_str(json_get(json_get(out, "QueryExecution"), "Status"), "State", S("?"));
}

typedef struct Caller { World *w; int number, good, stopped; pthread_t thread; } Caller;

static void *caller(void *ctx)
{
    Caller *me = ctx;

    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Str name = str_fmt(a, "p_%d_%d", me->number, i);
        Json *out;
        Error err;
        if (call(me->w, a, "StartQueryExecution", "QueryString", str_fmt(a, "PREPARE %s FROM SELECT ?", name.p), &out, &err) != OK)
            continue;
        Str id = json_get_str(out, "QueryExecutionId", (Str){0}), state;
        if (i % 5 == 0)
            (void)!call(me->w, a, "StopQueryExecution", "QueryExecutionId", id, &out, &err);
        do
            state = state_of(me->w, a, id);
        while (str_eq(state, S("QUEUED")) || str_eq(state, S("RUNNING")));
        me->good += str_eq(state, S("SUCCEEDED"));
        me->stopped += str_eq(state, S("CANCELLED"));
        (void)!call(me->w, a, "ListQueryExecutions", NULL, (Str){0}, &out, &err);
    }
    return NULL;
}

static void many_callers(void **state)
{
    World *w = *state;
    Caller callers[CALLERS] = {0};
    int good = 0, stopped = 0;
    CatDocs docs;

    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (Caller){ .w = w, .number = i };
        assert_int_equal(pthread_create(&callers[i].thread, NULL, caller, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        good += callers[i].good;
        stopped += callers[i].stopped;
    }
    assert_int_equal(good + stopped, CALLERS * ROUNDS);
    assert_ok(cat_doc_list(w->svc.catalog, w->a, S(K_PREPARED), (Str){0}, &docs, &w->err), &w->err);
    assert_true(docs.n >= (size_t)good && docs.n <= CALLERS * ROUNDS);
}

/* Whatever waits or runs when the door closes has an end afterwards. */
static void closes_over_work(void **state)
{
    World *w = *state;
    CatDocs docs;
    Json *out;

    for (int i = 0; i < 40; i++)
        assert_ok(call(w, w->a, "StartQueryExecution", "QueryString", str_fmt(w->a, "PREPARE c_%d FROM SELECT 1", i), &out, &w->err), &w->err);
    w->mount.close(w->mount.ctx);
    w->mount.close = NULL;
    assert_ok(cat_doc_list(w->svc.catalog, w->a, S(K_QUERY), (Str){0}, &docs, &w->err), &w->err);
    assert_int_equal(docs.n, 40);
    for vec_each(CatDoc, d, &docs)
        assert_false(str_eq(json_get_str(d->value, "State", (Str){0}), S("QUEUED")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_callers, setup, teardown),
        cmocka_unit_test_setup_teardown(closes_over_work, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
