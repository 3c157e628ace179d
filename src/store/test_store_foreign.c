/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_foreign.c - the S3 backend against an object store that is not ours.  FIRN_FOREIGN_S3 is its URL, FIRN_FOREIGN_KEYS "id:secret", FIRN_FOREIGN_BUCKET an empty bucket,
 * FIRN_FOREIGN_HOST_STYLE a URL below which buckets are hosts.  Skipped without. (tests/suites/test_foreign_store.py starts one.) */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"
#include "test.h"

typedef struct Env { Arena *a; StoreCache *cache; Store *s; AwsKeys keys; Str bucket; Error err; char dir[64]; } Env;

static Status keys(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err)
{
    (void)a, (void)bucket, (void)key, (void)err;
    *ret = ((Env *)ctx)->keys;
    return OK;
}

static void reopen(Env *e, const char *url, int path_style)
{
    StoreS3Options o = { .endpoint = str_c(url), .path_style = path_style, .ctx = e, .keys = keys, .cache = e->cache, .tries = 3, .pause_ms = 10 };
    store_close(e->s);
    e->s = NULL;
    assert_ok(store_open_s3(&o, &e->s, &e->err), &e->err);
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    const char *url = getenv("FIRN_FOREIGN_S3"), *both = getenv("FIRN_FOREIGN_KEYS"), *bucket = getenv("FIRN_FOREIGN_BUCKET");

    *state = e;
    if (!url || !both || !bucket)
        return 0;
    e->a = arena_create();
    e->bucket = str_c(bucket);
    str_cut(str_c(both), ':', &e->keys.access_key, &e->keys.secret_key);
    strcpy(e->dir, "/tmp/firn-test-XXXXXX");
    assert_non_null(mkdtemp(e->dir));
    assert_ok(store_cache_open(str_c(e->dir), 0, &e->cache, &e->err), &e->err);
    reopen(e, url, 1);
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    store_cache_free(e->cache);
    if (e->a)
        rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static Str at(Env *e, const char *key) { return store_s3_uri(e->a, e->bucket, str_c(key)); }

static void same(Env *e, Str uri, Str bytes)
{
    Str got;
    assert_ok(store_read(e->s, e->a, uri, bytes.n + 1, &got, &e->err), &e->err);
    assert_true(str_eq(got, bytes));
}

static void test_keys(void **state)
{
    static const char *const KEYS[] = {
        "k/plain", "k/with space", "k/plus+and%25%2F", "k/\xc3\xbc\xe2\x82\xac\xf0\x9f\xa6\x86", "k/a=b&c?d#e", "k/quote'\"<>&amp;", "k/tilde~-_.", "k/(par)[en]{s}", "k/col:on;semi,@!$*", "k/x|y^z`",
        "k/p=%C3%BC/q=a%20b/data.parquet", "k/year=2026/month=01/x",
    };
    Env *e = *state;
    ObjectInfos all = {0};
    size_t found = 0;

    if (!e->a)
        skip();
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        assert_ok(store_put(e->s, at(e, KEYS[i]), str_c(KEYS[i]), &e->err), &e->err);
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        same(e, at(e, KEYS[i]), str_c(KEYS[i]));
    assert_ok(store_list_all(e->s, e->a, at(e, "k/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, COUNT_OF(KEYS));
    for vec_each(const ObjectInfo, o, &all)
        for (size_t i = 0; i < COUNT_OF(KEYS); i++)
            found += str_eq(o->key, str_c(KEYS[i])) && o->size == (int64_t)strlen(KEYS[i]);
    assert_int_equal(found, COUNT_OF(KEYS));
    for (size_t i = 0; i < COUNT_OF(KEYS); i++)
        assert_ok(store_delete(e->s, at(e, KEYS[i]), &e->err), &e->err);
    assert_ok(store_delete(e->s, at(e, KEYS[0]), &e->err), &e->err);           /* absent is fine */
    all.n = 0;
    assert_ok(store_list_all(e->s, e->a, at(e, "k/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 0);
}

static void test_many(void **state)
{
    enum { MANY = 1105 };                           /* over one page */
    Env *e = *state;
    ObjectInfos all = {0};

    if (!e->a)
        skip();
    for (int i = 0; i < MANY; i++)
        assert_ok(store_put(e->s, at(e, str_fmt(e->a, "many/%d +%%", i).p), S("x"), &e->err), &e->err);
    assert_ok(store_list_all(e->s, e->a, at(e, "many/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, MANY);
}

static Str noise(Env *e, size_t n)
{
    char *p = arena_alloc(e->a, n);
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        p[i] = (char)x;
    }
    return str_n(p, n);
}

static void write_object(Env *e, const char *key, Str bytes, ObjectInfo *ret)
{
    StoreWriter *w;
    assert_ok(store_put_open(e->s, e->bucket, str_c(key), &w, &e->err), &e->err);
    for (Str rest = bytes; rest.n; rest = str_from(rest, min_size(rest.n, 1000003)))
        assert_ok(store_put_add(w, str_sub(rest, 0, min_size(rest.n, 1000003)), &e->err), &e->err);
    assert_ok(store_put_commit(w, NULL, e->a, ret, &e->err), &e->err);
}

static void test_parts(void **state)
{
    Env *e = *state;
    ObjectInfo written, seen;
    StoreWriter *w;
    Str path, piece;

    if (!e->a)
        skip();
    Str big = noise(e, (40u << 20) + 12345);
    write_object(e, "parts/big", big, &written);
    assert_ok(store_stat(e->s, e->a, at(e, "parts/big"), &seen, &e->err), &e->err);
    assert_int_equal(seen.size, big.n);
    assert_true(str_eq(seen.etag, written.etag));
    assert_true(str_ends(seen.etag, S("-3")));
    same(e, at(e, "parts/big"), big);
    assert_ok(store_read_range(e->s, e->a, at(e, "parts/big"), (16 << 20) - 5, 10, &piece, &e->err), &e->err);
    assert_true(str_eq(piece, str_sub(big, (16u << 20) - 5, (16u << 20) + 5)));
    assert_ok(store_local_path(e->s, e->a, at(e, "parts/big"), &path, &e->err), &e->err);
    write_object(e, "parts/exact", str_sub(big, 0, 16u << 20), &written);      /* one PUT: not over a part */
    assert_int_equal(str_chr(written.etag, '-'), -1);
    same(e, at(e, "parts/exact"), str_sub(big, 0, 16u << 20));
    assert_ok(store_put_open(e->s, e->bucket, S("parts/left"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, big, &e->err), &e->err);
    store_put_abandon(w);
    assert_status(store_stat(e->s, e->a, at(e, "parts/left"), &seen, &e->err), E_NOT_FOUND);
    write_object(e, "parts/empty", (Str){0}, &written);
    same(e, at(e, "parts/empty"), (Str){0});
}

static void test_conditions(void **state)
{
    PutCondition wrong = { .if_match = S("0123456789abcdef0123456789abcdef") };
    Env *e = *state;
    StoreWriter *w;
    ObjectInfo o;

    if (!e->a)
        skip();
    assert_ok(store_put_new(e->s, at(e, "cond/new"), S("one"), &e->err), &e->err);
    assert_status(store_put_new(e->s, at(e, "cond/new"), S("two"), &e->err), E_EXISTS);
    same(e, at(e, "cond/new"), S("one"));
    assert_ok(store_put_open(e->s, e->bucket, S("cond/new"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("three"), &e->err), &e->err);
    assert_status(store_put_commit(w, &wrong, e->a, &o, &e->err), E_CONFLICT);
    assert_ok(store_stat(e->s, e->a, at(e, "cond/new"), &o, &e->err), &e->err);
    PutCondition right = { .if_match = o.etag };
    assert_ok(store_put_open(e->s, e->bucket, S("cond/new"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("three"), &e->err), &e->err);
    assert_ok(store_put_commit(w, &right, e->a, &o, &e->err), &e->err);
    same(e, at(e, "cond/new"), S("three"));
}

static void test_refusals(void **state)
{
    Env *e = *state;
    Str got;
    ObjectInfo o;
    ObjectInfos all = {0};

    if (!e->a)
        skip();
    assert_status(store_read(e->s, e->a, at(e, "none"), 10, &got, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchKey");
    assert_status(store_read(e->s, e->a, S("s3://firn-no-such-bucket/x"), 10, &got, &e->err), E_NOT_FOUND);
    assert_status(store_list_all(e->s, e->a, S("s3://firn-no-such-bucket/"), &all, &e->err), E_NOT_FOUND);
    assert_ok(store_put(e->s, at(e, "small"), S("12345"), &e->err), &e->err);
    assert_status(store_read_range(e->s, e->a, at(e, "small"), 10, 5, &got, &e->err), E_INVALID);
    assert_status(store_read(e->s, e->a, at(e, "small"), 4, &got, &e->err), E_LIMIT);
    AwsKeys good = e->keys;
    e->keys.secret_key = S("wrong-secret");
    assert_status(store_read(e->s, e->a, at(e, "small"), 10, &got, &e->err), E_AUTH);
    assert_string_equal(e->err.kind, "SignatureDoesNotMatch");
    assert_status(store_stat(e->s, e->a, at(e, "small"), &o, &e->err), E_DENIED);          /* HEAD says no more */
    e->keys = (AwsKeys){ .access_key = S("NOBODY"), .secret_key = S("x") };
    assert_status(store_put(e->s, at(e, "small"), S("x"), &e->err), E_AUTH);
    e->keys = good;
    same(e, at(e, "small"), S("12345"));
}

static void test_host_style(void **state)
{
    Env *e = *state;
    ObjectInfos all = {0};

    if (!e->a || !getenv("FIRN_FOREIGN_HOST_STYLE"))
        skip();
    reopen(e, getenv("FIRN_FOREIGN_HOST_STYLE"), 0);
    assert_ok(store_put(e->s, at(e, "host/a b+c"), S("bytes"), &e->err), &e->err);
    same(e, at(e, "host/a b+c"), S("bytes"));
    assert_ok(store_list_all(e->s, e->a, at(e, "host/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = { T(test_keys), T(test_many), T(test_parts), T(test_conditions), T(test_refusals), T(test_host_style) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
