/* SPDX-License-Identifier: Apache-2.0 */
/* test_versions.c - versioned buckets: replace, delete, read, remove and list versions; suspended and off. */
#include <unistd.h>

#include "store/store.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; } Env;

static int setup(void **state)
{
    static Env e;
    e = (Env){ .a = arena_create() };
    BucketInfo b = { .name = S("b") };
    assert_ok(store_open_memory(&e.s, &e.err), &e.err);
    assert_ok(store_bucket_create(e.s, &b, &e.err), &e.err);
    *state = &e;
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    arena_destroy(e->a);
    return 0;
}

static void turn(Env *e, Versioning v)
{
    assert_ok(store_bucket_versioning(e->s, S("b"), v, &e->err), &e->err);
}

static Str put(Env *e, const char *text)
{
    StoreWriter *w;
    ObjectInfo o;
    assert_ok(store_put_open(e->s, S("b"), S("k"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, str_c(text), &e->err), &e->err);
    assert_ok(store_put_commit(w, NULL, e->a, &o, &e->err), &e->err);
    return o.version;
}

static void is(Env *e, Str version, const char *text)
{
    CLEANUP(file_closep) int fd = -1;
    ObjectInfo o = {0};
    char buf[32] = "";
    Status st = store_open_version(e->s, e->a, S("s3://b/k"), version, &fd, &o, &e->err);
    if (!text) {
        assert_status(st, E_NOT_FOUND);
        return;
    }
    assert_ok(st, &e->err);
    assert_int_equal(pread(fd, buf, sizeof buf - 1, 0), o.size);
    assert_string_equal(buf, text);
}

static Removed gone(Env *e, Str version)
{
    Removed r = {0};
    assert_ok(store_remove(e->s, e->a, S("s3://b/k"), version, NULL, &r, &e->err), &e->err);
    return r;
}

/* "<size or - for a marker>[*]" for each version; * the latest. */
static void list(Env *e, ListQuery q, Str after_version, const char *want)
{
    VersionResult r;
    StrBuf b = sb_new(e->a);
    q.bucket = S("b");
    assert_ok(store_list_versions(e->s, e->a, &q, after_version, &r, &e->err), &e->err);
    for vec_each(VersionInfo, v, &r.versions) {
        if (v->o.marker)
            sb_byte(&b, '-');
        else
            sb_fmt(&b, "%lld", (long long)v->o.size);
        sb_addc(&b, v->latest ? "* " : " ");
    }
    sb_addc(&b, r.truncated ? ">" : "");
    assert_str(sb_str(&b), want);
}

static void test_on(void **state)
{
    Env *e = *state;
    Str none = {0};
    put(e, "0");
    turn(e, VERSIONING_ON);
    Str v1 = put(e, "11"), v2 = put(e, "222");
    assert_true(v1.n && v2.n && !str_eq(v1, v2));
    is(e, none, "222");
    is(e, v1, "11");
    is(e, S("null"), "0");
    is(e, S("other"), NULL);
    list(e, (ListQuery){ .max = 10 }, none, "3* 2 1 ");
    list(e, (ListQuery){ .max = 2 }, none, "3* 2 >");
    list(e, (ListQuery){ .max = 2, .after = S("k") }, v1, "1 ");
    Removed marker = gone(e, none);
    assert_true(marker.marker && marker.version.n);
    is(e, none, NULL);
    assert_string_equal(e->err.kind, "NoSuchKey");
    list(e, (ListQuery){ .max = 10 }, none, "-* 3 2 1 ");
    assert_status(store_bucket_delete(e->s, S("b"), &e->err), E_NOT_EMPTY);
    assert_true(gone(e, marker.version).marker);
    is(e, none, "222");
    gone(e, v2);
    is(e, none, "11");
    list(e, (ListQuery){ .max = 10 }, none, "2* 1 ");
    gone(e, S("null"));
    gone(e, v1);
    gone(e, v1);
    list(e, (ListQuery){ .max = 10 }, none, "");
    assert_ok(store_bucket_delete(e->s, S("b"), &e->err), &e->err);
}

static void test_suspended(void **state)
{
    Env *e = *state;
    Str none = {0};
    turn(e, VERSIONING_ON);
    Str v1 = put(e, "11");
    turn(e, VERSIONING_SUSPENDED);
    assert_int_equal(put(e, "222").n, 0);
    assert_int_equal(put(e, "4444").n, 0);
    list(e, (ListQuery){ .max = 10 }, none, "4* 2 ");
    assert_str(gone(e, none).version, "null");
    list(e, (ListQuery){ .max = 10 }, none, "-* 2 ");
    is(e, v1, "11");
    put(e, "55555");
    list(e, (ListQuery){ .max = 10 }, none, "5* 2 ");
    gone(e, S("null"));
    is(e, none, "11");
}

static void test_off(void **state)
{
    Env *e = *state;
    Removed r;
    put(e, "1");
    put(e, "22");
    list(e, (ListQuery){ .max = 10 }, (Str){0}, "2* ");
    r = gone(e, (Str){0});
    assert_int_equal(r.marker, 0);
    list(e, (ListQuery){ .max = 10 }, (Str){0}, "");
}

static void test_conditions_and_copy(void **state)
{
    Env *e = *state;
    Removed r;
    ObjectInfo o;
    PutCondition any = { .if_match = S("*") }, bad = { .if_match = S("x") };
    turn(e, VERSIONING_ON);
    assert_status(store_remove(e->s, e->a, S("s3://b/k"), (Str){0}, &any, &r, &e->err), E_NOT_FOUND);
    Str v1 = put(e, "11");
    put(e, "222");
    assert_status(store_remove(e->s, e->a, S("s3://b/k"), (Str){0}, &bad, &r, &e->err), E_CONFLICT);
    gone(e, (Str){0});
    assert_status(store_remove(e->s, e->a, S("s3://b/k"), (Str){0}, &bad, &r, &e->err), E_CONFLICT);
    assert_ok(store_remove(e->s, e->a, S("s3://b/k"), (Str){0}, &any, &r, &e->err), &e->err);
    assert_ok(store_copy(e->s, &(CopyRequest){ .from = S("s3://b/k"), .from_version = v1, .to = S("s3://b/k") }, e->a, &o, &e->err), &e->err);
    is(e, (Str){0}, "11");
    list(e, (ListQuery){ .max = 10 }, (Str){0}, "2* - - 3 2 ");
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = { T(test_on), T(test_suspended), T(test_off), T(test_conditions_and_copy) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
