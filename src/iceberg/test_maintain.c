/* SPDX-License-Identifier: Apache-2.0 */
/* test_maintain.c - expiring snapshots, reachable files, rewriting manifests, deletion vector files, name mappings. */
#include <stdlib.h>

#include "iceberg/iceberg_int.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; IceMetadata *m; int64_t now; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };
    IceSchema *s;

    e->a = arena_create();
    e->now = 2000000000000;
    assert_ok(store_open_memory(&e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    s = arena_new(e->a, IceSchema);
    vec_push(e->a, &s->fields, ((IceField){ .id = 1, .name = S("id"), .type = ice_type_new(e->a, ICE_LONG) }));
    IceNewTable t = { .schema = s, .location = S("s3://w/t"), .format_version = 3 };
    assert_ok(ice_metadata_new(e->a, &t, &e->m, &e->err), &e->err);
    e->m->last_updated_ms = e->now;
    *state = e;
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static void update(Env *e, const IceUpdates *ups)
{
    int changed;
    assert_ok(ice_metadata_apply(e->a, e->m, S(""), ups, e->now, &e->m, &changed, &e->err), &e->err);
}

/* A day passes; then a file comes, and `gone` (or NULL) goes. */
static int64_t commit(Env *e, const char *path, const char *gone)
{
    IceChange ch = { .operation = gone ? S("overwrite") : S("append") };
    IceFile f = { .path = str_c(path), .format = S("PARQUET"), .record_count = 1, .size = 10 };
    IceUpdates ups = { 0 };
    IceRequirements rqs = { 0 };
    StrVec written = { 0 };

    e->now += 86400000;
    vec_push(e->a, &ch.add_data, f);
    if (gone)
        vec_push(e->a, &ch.remove_data, str_c(gone));
    assert_ok(ice_change_prepare(e->a, e->s, e->m, &ch, e->now, &ups, &rqs, &written, &e->err), &e->err);
    update(e, &ups);
    return e->m->current_snapshot_id.v;
}

static StrVec expire(Env *e, int64_t older_than, int keep, const int64_t *pins, size_t npins)
{
    IceExpire x = { .older_than_ms = older_than, .retain_last = keep, .now_ms = e->now };
    IceUpdates ups = { 0 };
    StrVec files = { 0 };

    assert_ok(ice_expire(e->a, e->s, e->m, &x, pins, npins, &ups, &files, &e->err), &e->err);
    update(e, &ups);
    return files;
}

static size_t count_prefix(const StrVec *v, const char *prefix)
{
    size_t n = 0;
    for vec_each(const Str, s, v)
        n += str_starts(*s, str_c(prefix));
    return n;
}

static void test_expire(void **state)
{
    Env *e = *state;

    commit(e, "s3://w/t/data/a", NULL);
    commit(e, "s3://w/t/data/b", "s3://w/t/data/a");
    commit(e, "s3://w/t/data/c", NULL);
    StrVec none = expire(e, e->now - 10 * 86400000LL, 1, NULL, 0);
    assert_int_equal(none.n, 0);
    assert_int_equal(e->m->snapshots.n, 3);
    StrVec files = expire(e, e->now + 1, 1, NULL, 0);
    assert_int_equal(e->m->snapshots.n, 1);
    assert_true(strvec_has(&files, S("s3://w/t/data/a")));
    assert_int_equal(count_prefix(&files, "s3://w/t/data/"), 1);
    assert_int_equal(count_prefix(&files, "s3://w/t/metadata/snap-"), 2);
    for vec_each(Str, f, &files)
        if (str_starts(*f, S("s3://w/t/metadata/")))
            assert_ok(store_delete(e->s, *f, &e->err), &e->err);
    IceScan scan;
    assert_ok(ice_scan(e->a, e->s, e->m, ice_current_snapshot(e->m), NULL, &scan, &e->err), &e->err);
    assert_int_equal(scan.tasks.n, 2);
}

static void test_expire_keeps_refs_and_pins(void **state)
{
    Env *e = *state;
    int64_t first = commit(e, "s3://w/t/data/a", NULL), second = commit(e, "s3://w/t/data/b", NULL);
    IceUpdates ups = { 0 };
    IceRef tag = { .name = S("keep"), .type = S("tag"), .snapshot_id = first };
    IceRef old = { .name = S("old"), .type = S("tag"), .snapshot_id = first, .max_ref_age_ms = SOME_I64(1) };

    commit(e, "s3://w/t/data/c", NULL);
    commit(e, "s3://w/t/data/d", NULL);
    vec_push(e->a, &ups, ((IceUpdate){ .kind = UP_SET_REF, .ref = tag }));
    vec_push(e->a, &ups, ((IceUpdate){ .kind = UP_SET_REF, .ref = old }));
    update(e, &ups);
    expire(e, e->now + 1, 1, &second, 1);
    assert_int_equal(e->m->snapshots.n, 3);
    assert_non_null(ice_snapshot(e->m, first));
    assert_non_null(ice_snapshot(e->m, second));
    assert_null(ice_ref(e->m, S("old")));
    assert_non_null(ice_ref(e->m, S("keep")));
}

static void test_expire_named(void **state)
{
    Env *e = *state;
    int64_t first = commit(e, "s3://w/t/data/a", NULL);
    IceExpire x = { .now_ms = e->now };
    IceUpdates ups = { 0 };
    StrVec files = { 0 };

    commit(e, "s3://w/t/data/b", NULL);
    int64_t third = commit(e, "s3://w/t/data/c", NULL);
    vec_push(e->a, &x.ids, first);
    x.now_ms = e->now + 100 * 86400000LL;
    assert_ok(ice_expire(e->a, e->s, e->m, &x, NULL, 0, &ups, &files, &e->err), &e->err);
    assert_int_equal(ups.n, 1);
    assert_int_equal(ups.p[0].ids.n, 1);
    x.ids.p[0] = third;
    assert_status(ice_expire(e->a, e->s, e->m, &x, NULL, 0, &ups, &files, &e->err), E_INVALID);
    props_set(e->a, &e->m->properties, S("gc.enabled"), S("false"));
    assert_status(ice_expire(e->a, e->s, e->m, &x, NULL, 0, &ups, &files, &e->err), E_INVALID);
}

static void test_reachable(void **state)
{
    Env *e = *state;
    ObjectInfos all = { 0 };
    Map files;

    commit(e, "s3://w/t/data/a", NULL);
    commit(e, "s3://w/t/data/b", "s3://w/t/data/a");
    assert_ok(ice_reachable(e->a, e->s, e->m, S("s3://w/t/metadata/now.json"), &files, &e->err), &e->err);
    assert_string_equal(map_get(&files, S("s3://w/t/data/a")), "data");
    assert_string_equal(map_get(&files, S("s3://w/t/metadata/now.json")), "metadata");
    assert_ok(store_list_all(e->s, e->a, S("s3://w/t/metadata/"), &all, &e->err), &e->err);
    for vec_each(ObjectInfo, o, &all)
        assert_true(map_has(&files, store_s3_uri(e->a, o->bucket, o->key)));
    assert_int_equal(files.n, all.n + 3);
}

static void test_rewrite_manifests(void **state)
{
    Env *e = *state;
    IceUpdates ups = { 0 };
    IceRequirements rqs = { 0 };
    StrVec written = { 0 };
    IceScan before, after;
    size_t nbefore, nafter;

    for (int i = 0; i < 6; i++)
        commit(e, str_fmt(e->a, "s3://w/t/data/%d", i).p, NULL);
    assert_ok(ice_scan(e->a, e->s, e->m, ice_current_snapshot(e->m), NULL, &before, &e->err), &e->err);
    int64_t rows = e->m->next_row_id;
    assert_ok(ice_rewrite_manifests(e->a, e->s, e->m, e->now, &ups, &rqs, &written, &nbefore, &nafter, &e->err), &e->err);
    assert_int_equal(nbefore, 6);
    assert_int_equal(nafter, 1);
    assert_int_equal(rqs.n, 2);
    update(e, &ups);
    assert_str(ice_current_snapshot(e->m)->operation, "replace");
    assert_str(props_get(&ice_current_snapshot(e->m)->summary, S("manifests-replaced"), S("")), "6");
    assert_str(props_get(&ice_current_snapshot(e->m)->summary, S("total-records"), S("")), "6");
    assert_ok(ice_scan(e->a, e->s, e->m, ice_current_snapshot(e->m), NULL, &after, &e->err), &e->err);
    assert_int_equal(after.tasks.n, 6);
    assert_int_equal(e->m->next_row_id, rows);
    for vec_each(IceTask, x, &before.tasks)
        for vec_each(IceTask, y, &after.tasks)
            if (str_eq(x->data->file.path, y->data->file.path)) {
                assert_int_equal(x->data->sequence_number.v, y->data->sequence_number.v);
                assert_int_equal(x->data->file.first_row_id.v, y->data->file.first_row_id.v);
            }
    ups.n = 0;
    assert_ok(ice_rewrite_manifests(e->a, e->s, e->m, e->now, &ups, &rqs, &written, &nbefore, &nafter, &e->err), &e->err);
    assert_int_equal(ups.n, 0);
}

static void test_vectors(void **state)
{
    Env *e = *state;
    IceDv dvs[2] = { { .data_file = S("s3://w/t/data/a") }, { .data_file = S("s3://w/t/data/b") } };
    Positions back;
    int64_t size;

    vec_push(e->a, &dvs[0].positions, 3);
    vec_push(e->a, &dvs[1].positions, 0);
    vec_push(e->a, &dvs[1].positions, 5000000000);
    assert_ok(ice_dv_write(e->a, e->s, S("s3://w/t/data/x.puffin"), dvs, 2, &size, &e->err), &e->err);
    for (int i = 0; i < 2; i++) {
        IceFile f = { .path = S("s3://w/t/data/x.puffin"), .content_offset = SOME_I64(dvs[i].offset), .content_size = SOME_I64(dvs[i].size) };
        assert_ok(ice_dv_read(e->a, e->s, &f, &back, &e->err), &e->err);
        assert_int_equal(back.n, dvs[i].positions.n);
        assert_int_equal(back.p[back.n - 1], dvs[i].positions.p[back.n - 1]);
        f.content_offset.v++;
        assert_int_not_equal(ice_dv_read(e->a, e->s, &f, &back, &e->err), OK);
    }
    IceFile none = { .path = S("s3://w/t/data/x.puffin") };
    assert_status(ice_dv_read(e->a, e->s, &none, &back, &e->err), E_CORRUPT);
}

static void test_name_mapping(void **state)
{
    Env *e = *state;
    IceNameMapping m;

    assert_str(ice_name_mapping_of(e->a, ice_current_schema(e->m)), "[{\"field-id\":1,\"names\":[\"id\"]}]");
    assert_ok(ice_name_mapping_parse(e->a, S("[{\"field-id\":1,\"names\":[\"a.b\",\"c\"]},{\"names\":[],\"fields\":[{\"field-id\":2,\"names\":[\"x\"]}]}]"), &m, &e->err), &e->err);
    assert_int_equal(m.n, 2);
    assert_str(m.p[0].names.p[0], "a.b");
    assert_false(m.p[1].id.has);
    assert_int_equal(m.p[1].fields.p[0].id.v, 2);
    assert_status(ice_name_mapping_parse(e->a, S("{}"), &m, &e->err), E_INVALID);
}

static void test_metadata_files(void **state)
{
    Env *e = *state;
    IceMetadata *back;
    Str plain = ice_metadata_next_location(e->a, e->m, S(""));

    assert_ok(ice_metadata_write(e->a, e->s, e->m, plain, &e->err), &e->err);
    assert_status(ice_metadata_write(e->a, e->s, e->m, plain, &e->err), E_EXISTS);
    props_set(e->a, &e->m->properties, S("write.metadata.compression-codec"), S("gzip"));
    Str zipped = ice_metadata_next_location(e->a, e->m, plain);
    assert_true(str_starts(zipped, S("s3://w/t/metadata/00001-")));
    assert_ok(ice_metadata_write(e->a, e->s, e->m, zipped, &e->err), &e->err);
    assert_ok(ice_metadata_read(e->a, e->s, zipped, &back, &e->err), &e->err);
    assert_true(json_equal(ice_metadata_json(e->a, e->m), ice_metadata_json(e->a, back)));
    assert_status(ice_metadata_read(e->a, e->s, S("s3://w/t/metadata/none.json"), &back, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.message, "Failed to open input stream for file: s3://w/t/metadata/none.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(test_expire), T(test_expire_keeps_refs_and_pins), T(test_expire_named), T(test_reachable), T(test_rewrite_manifests),
        T(test_vectors), T(test_name_mapping), T(test_metadata_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
