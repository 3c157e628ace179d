/* SPDX-License-Identifier: Apache-2.0 */
/* test_commit.c - changes over the memory store: what the new snapshot reads as, and that a failing store leaves the
 * old table or the new one, never something between. */
#include <stdlib.h>

#include "iceberg/iceberg_int.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; IceMetadata *m; int version; } Env;

static IceField column(Arena *a, int32_t id, Str name, IceTypeKind kind)
{
    return (IceField){ .id = id, .name = name, .type = ice_type_new(a, kind) };
}

static IceMetadata *new_table(Env *e, int version, Props props)
{
    IceSchema *s = arena_new(e->a, IceSchema);
    IceSpec *spec = arena_new(e->a, IceSpec);
    IceMetadata *m;

    vec_push(e->a, &s->fields, column(e->a, 11, S("id"), ICE_LONG));
    vec_push(e->a, &s->fields, column(e->a, 12, S("region"), ICE_STRING));
    vec_push(e->a, &spec->fields, ((IcePartitionField){ .source_id = 12, .name = S("region"), .transform = ice_transform_parse(S("identity")) }));
    IceNewTable t = { .schema = s, .spec = spec, .location = S("s3://w/t"), .properties = props, .format_version = version };
    assert_ok(ice_metadata_new(e->a, &t, &m, &e->err), &e->err);
    return m;
}

static int setup_version(void **state, int version)
{
    Env *e = calloc(1, sizeof *e);
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };

    e->a = arena_create();
    e->version = version;
    assert_ok(store_open_memory(&e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    e->m = new_table(e, version, (Props){ 0 });
    *state = e;
    return 0;
}

static int setup_v2(void **state) { return setup_version(state, 2); }
static int setup_v3(void **state) { return setup_version(state, 3); }

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* ---- making changes ------------------------------------------------------------------------------------------- */

static IceFile data_file(Env *e, const char *path, const char *region, int64_t rows)
{
    IceFile f = { .path = str_c(path), .format = S("PARQUET"), .record_count = rows, .size = 100 * rows, .npartition = 1 };

    f.partition = arena_new(e->a, IceValue);
    f.partition[0] = (IceValue){ .kind = ICE_STRING, .bytes = str_c(region) };
    return f;
}

static IceFile delete_file(Env *e, IceContent content, const char *path, const char *region, const char *data)
{
    IceFile f = data_file(e, path, region, 1);

    f.content = content;
    f.referenced_data_file = str_c(data);
    if (content == CONTENT_EQUALITY_DELETES)
        vec_push(e->a, &f.equality_ids, 1);
    return f;
}

static Status commit(Env *e, const IceChange *ch)
{
    IceUpdates ups = { 0 };
    IceRequirements rqs = { 0 };
    StrVec written = { 0 };
    int changed;

    TRY(ice_change_prepare(e->a, e->s, e->m, ch, 1000 + e->m->last_updated_ms, &ups, &rqs, &written, &e->err));
    TRY(ice_requirements_check(e->m, &rqs, &e->err));
    TRY(ice_metadata_apply(e->a, e->m, S("s3://w/t/metadata/0.json"), &ups, 5, &e->m, &changed, &e->err));
    assert_int_equal(changed, 1);
    return ice_metadata_parse(e->a, json_text(e->a, ice_metadata_json(e->a, e->m)), &e->m, &e->err);
}

static void append(Env *e, const char *path, const char *region, int64_t rows)
{
    IceChange ch = { .operation = S("append") };

    vec_push(e->a, &ch.add_data, data_file(e, path, region, rows));
    assert_ok(commit(e, &ch), &e->err);
}

static IceScan scan(Env *e)
{
    IceScan s;
    assert_ok(ice_scan(e->a, e->s, e->m, ice_current_snapshot(e->m), NULL, &s, &e->err), &e->err);
    return s;
}

static IceTask *task_of(IceScan *s, const char *path)
{
    for vec_each(IceTask, t, &s->tasks)
        if (str_eq(t->data->file.path, str_c(path)))
            return t;
    return NULL;
}

static Str total(Env *e, const char *key) { return props_get(&ice_current_snapshot(e->m)->summary, str_c(key), S("absent")); }

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

static void test_append(void **state)
{
    Env *e = *state;

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 4);
    IceScan s = scan(e);
    assert_int_equal(s.tasks.n, 2);
    assert_int_equal(task_of(&s, "s3://w/t/data/a")->data->sequence_number.v, 1);
    assert_int_equal(task_of(&s, "s3://w/t/data/b")->data->sequence_number.v, 2);
    assert_int_equal(e->m->last_sequence_number, 2);
    assert_int_equal(e->m->snapshot_log.n, 2);
    assert_int_equal(e->m->metadata_log.n, 2);
    assert_str(total(e, "total-records"), "7");
    assert_str(total(e, "added-records"), "4");
    assert_str(total(e, "total-data-files"), "2");
    assert_str(total(e, "changed-partition-count"), "1");
    assert_int_equal(ice_current_snapshot(e->m)->parent_id.v, e->m->snapshots.p[0]->id);
}

static void test_append_twice_same_path(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("append") };

    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/a", "eu", 1));
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/a", "eu", 1));
    assert_status(commit(e, &ch), E_INVALID);
}

static void test_append_wrong_partition(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("append") };
    IceFile f = data_file(e, "s3://w/t/data/a", "eu", 1);

    f.partition[0] = (IceValue){ .kind = ICE_LONG, .integer = 4 };
    vec_push(e->a, &ch.add_data, f);
    assert_status(commit(e, &ch), E_INVALID);
    ch.add_data.p[0].npartition = 0;
    assert_status(commit(e, &ch), E_INVALID);
}

static void test_prune_by_summary_and_stats(void **state)
{
    Env *e = *state;
    IceValue v = { .kind = ICE_STRING, .bytes = S("us") };
    IcePredicates where = { 0 };
    IceScan s;

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 4);
    vec_push(e->a, &where, ((IcePredicate){ .field_id = 2, .op = PRED_EQ, .values = &v, .n = 1 }));
    assert_ok(ice_scan(e->a, e->s, e->m, ice_current_snapshot(e->m), &where, &s, &e->err), &e->err);
    assert_int_equal(s.tasks.n, 1);
    assert_int_equal(s.manifests_skipped, 1);
    assert_int_equal(s.files_skipped, 1);
}

static void test_overwrite(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite") };
    IceManifests list;
    IceEntries entries;
    size_t deleted = 0, existing = 0;

    append(e, "s3://w/t/data/a", "eu", 3);
    IceChange two = { .operation = S("append") };
    vec_push(e->a, &two.add_data, data_file(e, "s3://w/t/data/b", "us", 4));
    vec_push(e->a, &two.add_data, data_file(e, "s3://w/t/data/c", "us", 5));
    assert_ok(commit(e, &two), &e->err);
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/b"));
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/d", "us", 2));
    assert_ok(commit(e, &ch), &e->err);
    IceScan s = scan(e);
    assert_int_equal(s.tasks.n, 3);
    assert_null(task_of(&s, "s3://w/t/data/b"));
    assert_int_equal(task_of(&s, "s3://w/t/data/c")->data->sequence_number.v, 2);
    assert_int_equal(task_of(&s, "s3://w/t/data/d")->data->sequence_number.v, 3);
    assert_str(total(e, "deleted-records"), "4");
    assert_str(total(e, "total-records"), "10");
    const IceSnapshot *now = ice_current_snapshot(e->m);
    assert_ok(ice_manifest_list_read(e->a, e->s, e->m, now, &list, &e->err), &e->err);
    for vec_each(IceManifest, mf, &list) {
        assert_ok(ice_manifest_read(e->a, e->s, e->m, mf, &entries, &e->err), &e->err);
        for vec_each(IceEntry, x, &entries) {
            deleted += x->status == ENTRY_DELETED;
            existing += x->status == ENTRY_EXISTING;
            if (x->status == ENTRY_DELETED)
                assert_int_equal(x->snapshot_id.v, now->id);
        }
    }
    assert_int_equal(deleted, 1);
    assert_int_equal(existing, 1);
    append(e, "s3://w/t/data/e", "eu", 1);
    s = scan(e);
    assert_int_equal(s.tasks.n, 4);
}

static void test_remove_missing(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("delete") };

    append(e, "s3://w/t/data/a", "eu", 3);
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/nope"));
    assert_status(commit(e, &ch), E_CONFLICT);
    assert_non_null(strstr(e->err.message, "Missing required files to delete: s3://w/t/data/nope"));
}

static void test_replace_all(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite"), .replace_all = 1 };

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 4);
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/c", "us", 9));
    vec_push(e->a, &ch.summary, ((KeyValue){ S("refresh-state"), S("{}") }));
    assert_ok(commit(e, &ch), &e->err);
    IceScan s = scan(e);
    assert_int_equal(s.tasks.n, 1);
    assert_str(total(e, "total-records"), "9");
    assert_str(total(e, "deleted-data-files"), "2");
    assert_str(total(e, "refresh-state"), "{}");
}

static void test_row_delta(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite") };

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 4);
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/c", "us", 9));
    vec_push(e->a, &ch.add_deletes, delete_file(e, CONTENT_EQUALITY_DELETES, "s3://w/t/data/eq", "us", ""));
    if (e->version < 3)
        vec_push(e->a, &ch.add_deletes, delete_file(e, CONTENT_POSITION_DELETES, "s3://w/t/data/pos", "eu", ""));
    assert_ok(commit(e, &ch), &e->err);
    IceScan s = scan(e);
    assert_int_equal(task_of(&s, "s3://w/t/data/a")->deletes.n, e->version < 3 ? 1 : 0);
    assert_int_equal(task_of(&s, "s3://w/t/data/b")->deletes.n, 1);
    assert_int_equal(task_of(&s, "s3://w/t/data/c")->deletes.n, 0);
    IceChange all = { .operation = S("delete"), .replace_all = 1 };
    assert_ok(commit(e, &all), &e->err);
    assert_int_equal(scan(e).tasks.n, 0);
    assert_str(total(e, "total-delete-files"), "0");
}

static IceFile vector(Env *e, const char *path, const char *region, const char *data)
{
    IceFile f = delete_file(e, CONTENT_POSITION_DELETES, path, region, data);

    f.format = S("PUFFIN");
    f.content_offset = SOME_I64(4);
    f.content_size = SOME_I64(40);
    return f;
}

static void test_vectors_replace_each_other(void **state)
{
    Env *e = *state;
    IceChange one = { .operation = S("delete") }, two = one, gone = one, bad = one;

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "eu", 3);
    vec_push(e->a, &one.add_deletes, vector(e, "s3://w/t/data/1.puffin", "eu", "s3://w/t/data/a"));
    vec_push(e->a, &one.add_deletes, vector(e, "s3://w/t/data/1.puffin", "eu", "s3://w/t/data/b"));
    assert_ok(commit(e, &one), &e->err);
    assert_str(total(e, "added-dvs"), "2");
    vec_push(e->a, &two.add_deletes, vector(e, "s3://w/t/data/2.puffin", "eu", "s3://w/t/data/a"));
    assert_ok(commit(e, &two), &e->err);
    IceScan s = scan(e);
    assert_int_equal(task_of(&s, "s3://w/t/data/a")->deletes.n, 1);
    assert_str(task_of(&s, "s3://w/t/data/a")->deletes.p[0]->file.path, "s3://w/t/data/2.puffin");
    assert_str(task_of(&s, "s3://w/t/data/b")->deletes.p[0]->file.path, "s3://w/t/data/1.puffin");
    vec_push(e->a, &gone.remove_data, S("s3://w/t/data/a"));
    assert_ok(commit(e, &gone), &e->err);
    assert_str(total(e, "removed-dvs"), "1");
    assert_str(total(e, "total-delete-files"), "1");
    vec_push(e->a, &bad.add_deletes, delete_file(e, CONTENT_POSITION_DELETES, "s3://w/t/data/pos", "eu", ""));
    assert_status(commit(e, &bad), E_INVALID);
}

static void test_row_ids(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite") };

    append(e, "s3://w/t/data/a", "eu", 3);
    IceChange two = { .operation = S("append") };
    vec_push(e->a, &two.add_data, data_file(e, "s3://w/t/data/b", "us", 4));
    vec_push(e->a, &two.add_data, data_file(e, "s3://w/t/data/c", "us", 5));
    assert_ok(commit(e, &two), &e->err);
    assert_int_equal(e->m->next_row_id, 12);
    assert_int_equal(ice_current_snapshot(e->m)->first_row_id.v, 3);
    assert_int_equal(ice_current_snapshot(e->m)->added_rows.v, 9);
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/b"));
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/d", "us", 2));
    assert_ok(commit(e, &ch), &e->err);
    IceScan s = scan(e);
    assert_int_equal(task_of(&s, "s3://w/t/data/a")->data->file.first_row_id.v, 0);
    assert_int_equal(task_of(&s, "s3://w/t/data/c")->data->file.first_row_id.v, 7);
    assert_int_equal(task_of(&s, "s3://w/t/data/d")->data->file.first_row_id.v, 12);
    assert_int_equal(e->m->next_row_id, 14);
    IceSnapshot liar = *ice_current_snapshot(e->m);
    int64_t end;
    liar.added_rows = SOME_I64(0);
    assert_ok(ice_snapshot_rows_end(e->a, e->s, e->m, &liar, &end, &e->err), &e->err);
    assert_int_equal(end, 14);
}

static void test_upgraded_table_gets_row_ids(void **state)
{
    Env *e = *state;
    IceUpdates ups = { 0 };
    int changed;

    append(e, "s3://w/t/data/a", "eu", 3);
    vec_push(e->a, &ups, ((IceUpdate){ .kind = UP_UPGRADE_FORMAT, .number = 3 }));
    assert_ok(ice_metadata_apply(e->a, e->m, S(""), &ups, 9, &e->m, &changed, &e->err), &e->err);
    append(e, "s3://w/t/data/b", "eu", 2);
    IceScan s = scan(e);
    assert_int_equal(e->m->next_row_id, 5);
    assert_int_equal(task_of(&s, "s3://w/t/data/b")->data->file.first_row_id.v, 0);
    assert_int_equal(task_of(&s, "s3://w/t/data/a")->data->file.first_row_id.v, 2);
}

static void test_merging(void **state)
{
    Env *e = *state;
    IceManifests list;
    int64_t row_ids[10], end = 0;

    props_set(e->a, &e->m->properties, S("commit.manifest.min-count-to-merge"), S("4"));
    for (int i = 0; i < 10; i++) {
        char *path = str_z(e->a, str_fmt(e->a, "s3://w/t/data/%d", i));
        append(e, path, i % 2 ? "eu" : "us", i + 1);
        IceScan now = scan(e);
        row_ids[i] = task_of(&now, path)->data->file.first_row_id.v;
        assert_true(e->version < 3 || row_ids[i] >= end);
        end = row_ids[i] + i + 1;
    }
    assert_ok(ice_manifest_list_read(e->a, e->s, e->m, ice_current_snapshot(e->m), &list, &e->err), &e->err);
    assert_true(list.n < 4);
    IceScan s = scan(e);
    assert_int_equal(s.tasks.n, 10);
    for (int i = 0; i < 10; i++) {
        IceTask *t = task_of(&s, str_z(e->a, str_fmt(e->a, "s3://w/t/data/%d", i)));
        assert_int_equal(t->data->sequence_number.v, i + 1);
        assert_int_equal(t->data->snapshot_id.v, e->m->snapshots.p[i]->id);
        assert_int_equal(t->data->file.first_row_id.v, row_ids[i]);
    }
    assert_str(total(e, "total-records"), "55");
}

/* ---- conflicts ---------------------------------------------------------------------------------------------------------- */

static void test_conflicting_append(void **state)
{
    Env *e = *state;
    IceValue us = { .kind = ICE_STRING, .bytes = S("us") };
    IceChange ch = { .operation = S("overwrite"), .check_conflicts = 1 };

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 3);
    ch.base_snapshot = e->m->current_snapshot_id;
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/b"));
    vec_push(e->a, &ch.conflict_filter, ((IcePredicate){ .field_id = 2, .op = PRED_EQ, .values = &us, .n = 1 }));
    append(e, "s3://w/t/data/c", "eu", 3);
    IceMetadata *between = e->m;
    assert_ok(commit(e, &ch), &e->err);
    e->m = between;
    append(e, "s3://w/t/data/d", "us", 3);
    assert_status(commit(e, &ch), E_CONFLICT);
    assert_non_null(strstr(e->err.message, "Found conflicting files"));
    ch.isolation = ISOLATION_SNAPSHOT;
    assert_ok(commit(e, &ch), &e->err);
}

static void test_conflicting_delete(void **state)
{
    Env *e = *state;
    IceChange rewrite = { .operation = S("replace"), .check_conflicts = 1 }, del = { .operation = S("delete") };

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 3);
    rewrite.base_snapshot = e->m->current_snapshot_id;
    vec_push(e->a, &rewrite.remove_data, S("s3://w/t/data/a"));
    vec_push(e->a, &rewrite.add_data, data_file(e, "s3://w/t/data/a2", "eu", 3));
    IceMetadata *before = e->m;
    vec_push(e->a, &del.add_deletes, delete_file(e, CONTENT_EQUALITY_DELETES, "s3://w/t/data/eq", "us", ""));
    assert_ok(commit(e, &del), &e->err);
    assert_ok(commit(e, &rewrite), &e->err);
    e->m = before;
    IceChange hit = { .operation = S("delete") };
    vec_push(e->a, &hit.add_deletes, delete_file(e, CONTENT_EQUALITY_DELETES, "s3://w/t/data/eq2", "eu", ""));
    assert_ok(commit(e, &hit), &e->err);
    assert_status(commit(e, &rewrite), E_CONFLICT);
    assert_non_null(strstr(e->err.message, "found new delete for replaced data file"));
}

static void test_base_out_of_history(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite"), .check_conflicts = 1, .base_snapshot = SOME_I64(77) };

    append(e, "s3://w/t/data/a", "eu", 3);
    assert_status(commit(e, &ch), E_CONFLICT);
}

static void test_lost_race(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("append") };
    IceUpdates ups = { 0 };
    IceRequirements rqs = { 0 };
    StrVec written = { 0 };
    IceMetadata *out;
    int changed;

    append(e, "s3://w/t/data/a", "eu", 3);
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/b", "eu", 3));
    assert_ok(ice_change_prepare(e->a, e->s, e->m, &ch, 1, &ups, &rqs, &written, &e->err), &e->err);
    append(e, "s3://w/t/data/c", "eu", 3);
    assert_status(ice_requirements_check(e->m, &rqs, &e->err), E_CONFLICT);
    assert_non_null(strstr(e->err.message, "Requirement failed: branch main has changed: expected id"));
    assert_status(ice_metadata_apply(e->a, e->m, S(""), &ups, 5, &out, &changed, &e->err), E_CONFLICT);
    assert_int_equal(written.n, 2);
}

static void test_branches(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("append"), .branch = S("audit") };

    append(e, "s3://w/t/data/a", "eu", 3);
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/b", "eu", 3));
    assert_ok(commit(e, &ch), &e->err);
    assert_int_equal(scan(e).tasks.n, 1);
    assert_non_null(ice_ref(e->m, S("audit")));
    assert_int_equal(e->m->snapshot_log.n, 1);
    IceScan on_branch;
    const IceSnapshot *head = ice_snapshot(e->m, ice_ref(e->m, S("audit"))->snapshot_id);
    assert_ok(ice_scan(e->a, e->s, e->m, head, NULL, &on_branch, &e->err), &e->err);
    assert_int_equal(on_branch.tasks.n, 2);
    assert_ok(commit(e, &ch), &e->err);
    ch.stage_only = 1;
    int64_t before = e->m->current_snapshot_id.v;
    assert_ok(commit(e, &ch), &e->err);
    assert_int_equal(e->m->current_snapshot_id.v, before);
    assert_int_equal(e->m->snapshots.n, 4);
}

/* A rewrite keeps its data older than the equality deletes that came meanwhile; deletes older than all data go. */
static void test_rewrite_keeps_age(void **state)
{
    Env *e = *state;
    IceChange del = { .operation = S("delete") }, rewrite = { .operation = S("replace"), .data_sequence_number = SOME_I64(1) };
    IceScan s;

    append(e, "s3://w/t/data/a", "eu", 3);
    vec_push(e->a, &del.add_deletes, delete_file(e, CONTENT_EQUALITY_DELETES, "s3://w/t/data/eq", "eu", ""));
    assert_ok(commit(e, &del), &e->err);
    vec_push(e->a, &rewrite.remove_data, S("s3://w/t/data/a"));
    vec_push(e->a, &rewrite.add_data, data_file(e, "s3://w/t/data/a2", "eu", 3));
    assert_ok(commit(e, &rewrite), &e->err);
    s = scan(e);
    assert_int_equal(s.tasks.p[0].data->sequence_number.v, 1);
    assert_int_equal(s.tasks.p[0].data->file_sequence_number.v, 3);
    assert_int_equal(s.tasks.p[0].deletes.n, 1);
    IceChange fresh = { .operation = S("replace") };
    vec_push(e->a, &fresh.remove_data, S("s3://w/t/data/a2"));
    vec_push(e->a, &fresh.add_data, data_file(e, "s3://w/t/data/a3", "eu", 2));
    assert_ok(commit(e, &fresh), &e->err);
    s = scan(e);
    assert_int_equal(s.tasks.p[0].deletes.n, 0);
    assert_str(total(e, "removed-equality-delete-files"), "1");
    assert_str(total(e, "total-delete-files"), "0");
}

/* ---- a failing store --------------------------------------------------------------------------------------------------- */

/* Each call of the commit fails in turn: what was there reads as before, and everything new was named. */
static void test_failing_store(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("overwrite") };
    IceMetadata *before;

    append(e, "s3://w/t/data/a", "eu", 3);
    append(e, "s3://w/t/data/b", "us", 3);
    before = e->m;
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/a"));
    vec_push(e->a, &ch.add_data, data_file(e, "s3://w/t/data/c", "eu", 3));
    for (int n = 1; n < 100; n++) {
        IceUpdates ups = { 0 };
        IceRequirements rqs = { 0 };
        StrVec written = { 0 };
        ObjectInfos all = { 0 };
        store_memory_fail_at(e->s, n, E_IO);
        Status s = ice_change_prepare(e->a, e->s, e->m, &ch, 1, &ups, &rqs, &written, &e->err);
        store_memory_fail_at(e->s, 0, OK);
        if (s == OK) {
            assert_true(n > 3);
            return;
        }
        assert_status(s, E_IO);
        assert_int_equal(scan(e).tasks.n, 2);
        assert_ptr_equal(e->m, before);
        for vec_each(Str, path, &written)
            assert_ok(store_delete(e->s, *path, &e->err), &e->err);
        assert_ok(store_list_all(e->s, e->a, S("s3://w/t/metadata/"), &all, &e->err), &e->err);
        assert_int_equal(all.n, 4);
    }
    fail_msg("never succeeded");
}

#define BOTH(test) cmocka_unit_test_setup_teardown(test, setup_v2, teardown), cmocka_unit_test_setup_teardown(test, setup_v3, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_append), BOTH(test_append_twice_same_path), BOTH(test_append_wrong_partition), BOTH(test_prune_by_summary_and_stats), BOTH(test_overwrite),
        BOTH(test_remove_missing), BOTH(test_replace_all), BOTH(test_row_delta), BOTH(test_merging),
        BOTH(test_conflicting_append), BOTH(test_conflicting_delete), BOTH(test_base_out_of_history), BOTH(test_lost_race),
        BOTH(test_branches), BOTH(test_rewrite_keeps_age), BOTH(test_failing_store),
        cmocka_unit_test_setup_teardown(test_vectors_replace_each_other, setup_v3, teardown),
        cmocka_unit_test_setup_teardown(test_row_ids, setup_v3, teardown),
        cmocka_unit_test_setup_teardown(test_upgraded_table_gets_row_ids, setup_v2, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
