/* SPDX-License-Identifier: Apache-2.0 */
/* test_upload.c - multipart uploads: joining, wrong parts, replacing a part, aborting, a completion that loses its condition. */
#include "store/store.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; Str id; } Env;

static int setup(void **state)
{
    static Env e;
    e = (Env){ .a = arena_create() };
    BucketInfo b = { .name = S("b") };
    UploadInfo u = { .bucket = S("b"), .key = S("k"), .owner = S("me") };
    assert_ok(store_open_memory(&e.s, &e.err), &e.err);
    assert_ok(store_bucket_create(e.s, &b, &e.err), &e.err);
    props_set(e.a, &u.headers, S("content-type"), S("text/x"));
    assert_ok(store_upload_start(e.s, e.a, &u, &e.id, &e.err), &e.err);
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

static PartInfo part(Env *e, int number, size_t n, char c)
{
    StoreWriter *w;
    PartInfo p = {0};
    char *buf = arena_alloc(e->a, n);
    memset(buf, c, n);
    assert_ok(store_part_open(e->s, e->id, number, &w, &e->err), &e->err);
    assert_ok(store_put_add(w, str_n(buf, n), &e->err), &e->err);
    assert_ok(store_part_commit(w, NULL, e->a, &p, &e->err), &e->err);
    return p;
}

static void test_join(void **state)
{
    Env *e = *state;
    PartInfos parts = {0}, listed = {0};
    ObjectInfo o;
    Str tail;
    size_t five = 5 * 1024 * 1024;
    vec_push(e->a, &parts, part(e, 2, five, 'a'));
    part(e, 5, 3, 'x');
    vec_push(e->a, &parts, part(e, 5, 4, 'b'));
    assert_ok(store_part_list(e->s, e->a, e->id, &listed, &e->err), &e->err);
    assert_int_equal(listed.n, 2);
    assert_ok(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), &e->err);
    assert_int_equal(o.size, five + 4);
    assert_true(str_ends(o.etag, S("-2")));
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);
    assert_int_equal(o.part_sizes.n, 2);
    assert_str(o.part_sizes.p[1], "4");
    assert_str(o.sha256, "");
    assert_str(props_get(&o.headers, S("content-type"), S("")), "text/x");
    assert_ok(store_read_range(e->s, e->a, S("s3://b/k"), (int64_t)five - 1, 5, &tail, &e->err), &e->err);
    assert_str(tail, "abbbb");
    assert_status(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchUpload");
}

static void test_wrong_parts(void **state)
{
    Env *e = *state;
    PartInfos parts = {0};
    ObjectInfo o;
    PartInfo small = part(e, 1, 10, 'a'), last = part(e, 2, 10, 'b');
    vec_push(e->a, &parts, small);
    vec_push(e->a, &parts, last);
    assert_status(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), E_INVALID);
    assert_string_equal(e->err.kind, "EntityTooSmall");
    parts.p[0] = last;
    parts.p[1] = small;
    assert_status(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), E_INVALID);
    assert_string_equal(e->err.kind, "InvalidPartOrder");
    parts.n = 1;
    parts.p[0].etag = S("00");
    assert_status(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), E_INVALID);
    assert_string_equal(e->err.kind, "InvalidPart");
    parts.p[0].number = 7;
    assert_status(store_upload_complete(e->s, e->id, &parts, NULL, NULL, e->a, &o, &e->err), E_INVALID);
    assert_status(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), E_NOT_FOUND);
}

static void test_condition_keeps_upload(void **state)
{
    Env *e = *state;
    PartInfos parts = {0};
    ObjectInfo o;
    PutCondition cond = { .if_none_match = 1 };
    vec_push(e->a, &parts, part(e, 1, 10, 'a'));
    assert_ok(store_put(e->s, S("s3://b/k"), S("first"), &e->err), &e->err);
    assert_status(store_upload_complete(e->s, e->id, &parts, &cond, NULL, e->a, &o, &e->err), E_CONFLICT);
    assert_ok(store_delete(e->s, S("s3://b/k"), &e->err), &e->err);
    assert_ok(store_upload_complete(e->s, e->id, &parts, &cond, NULL, e->a, &o, &e->err), &e->err);
}

static void test_abort_and_list(void **state)
{
    Env *e = *state;
    UploadInfos all = {0};
    UploadInfo u;
    StoreWriter *w;
    part(e, 1, 10, 'a');
    assert_ok(store_upload_list(e->s, e->a, S("b"), S("k"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
    assert_status(store_upload_get(e->s, e->a, S("b"), S("other"), e->id, &u, &e->err), E_NOT_FOUND);
    assert_ok(store_upload_abort(e->s, e->id, &e->err), &e->err);
    assert_status(store_upload_abort(e->s, e->id, &e->err), E_NOT_FOUND);
    assert_status(store_part_open(e->s, e->id, 1, &w, &e->err), E_NOT_FOUND);
    assert_ok(store_bucket_delete(e->s, S("b"), &e->err), &e->err);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = { T(test_join), T(test_wrong_parts), T(test_condition_keeps_upload), T(test_abort_and_list) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
