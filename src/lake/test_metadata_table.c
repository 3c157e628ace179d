/* SPDX-License-Identifier: Apache-2.0 */
/* test_metadata_table.c - metadata tables of a table made here over the memory store: what is in them, read by the engine. */
#include <stdlib.h>

#include "lake/lake.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Lake *l; DuckEngine *e; DuckConn *c; LakeTable t; Error err; } Env;

static IceField column(Arena *a, int32_t id, Str name, IceTypeKind kind)
{
    IceType *t = arena_new(a, IceType);
    t->kind = kind;
    return (IceField){ .id = id, .name = name, .type = t };
}

static void commit(Env *e, const IceChange *ch, int64_t at_ms)
{
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    StrVec written = {0};
    int changed;

    assert_ok(ice_change_prepare(e->a, e->s, e->t.meta, ch, at_ms, &ups, &rqs, &written, &e->err), &e->err);
    assert_ok(ice_metadata_apply(e->a, e->t.meta, S("s3://w/t/metadata/0.json"), &ups, at_ms, &e->t.meta, &changed, &e->err), &e->err);
}

static IceBound bound(Env *e, int32_t id, int64_t v)
{
    IceType t = { .kind = ICE_LONG };
    IceValue x = { .kind = ICE_LONG, .integer = v };
    return (IceBound){ id, ice_value_encode(e->a, &t, &x) };
}

static void append(Env *e, const char *path, const char *region, int64_t rows, int64_t at_ms)
{
    IceChange ch = { .operation = S("append") };
    IceFile f = { .path = str_c(path), .format = S("PARQUET"), .record_count = rows, .size = 10 * rows, .npartition = 1 };

    f.partition = arena_new(e->a, IceValue);
    f.partition[0] = region ? (IceValue){ .kind = ICE_STRING, .bytes = str_c(region) } : (IceValue){ .null = 1, .kind = ICE_STRING };
    vec_push(e->a, &f.null_counts, ((IceCount){ 1, 2 }));
    vec_push(e->a, &f.lower, bound(e, 1, 7));
    vec_push(e->a, &f.upper, bound(e, 1, 900));
    vec_push(e->a, &ch.add_data, f);
    commit(e, &ch, at_ms);
}

static int set_up(void **state)
{
    Env *e = calloc(1, sizeof *e);
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 2 };

    e->a = arena_create();
    IceSchema *s = arena_new(e->a, IceSchema);
    IceSpec *spec = arena_new(e->a, IceSpec);
    assert_ok(store_open_memory(&e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    assert_ok(duck_open(&o, &e->e, &e->err), &e->err);
    assert_ok(duck_connect(e->e, &e->c, &e->err), &e->err);
    e->l = lake_new(NULL, e->s, NULL);
    vec_push(e->a, &s->fields, column(e->a, 1, S("id"), ICE_LONG));
    vec_push(e->a, &s->fields, column(e->a, 2, S("region"), ICE_STRING));
    vec_push(e->a, &spec->fields, ((IcePartitionField){ .source_id = 2, .name = S("region"), .transform = ice_transform_parse(S("identity")) }));
    IceNewTable t = { .schema = s, .spec = spec, .location = S("s3://w/t"), .format_version = 2 };
    assert_ok(ice_metadata_new(e->a, &t, &e->t.meta, &e->err), &e->err);
    e->t.relation = (CatRelation){ .namespace = S("ns"), .name = S("t"), .metadata_location = S("s3://w/t/metadata/9.json") };
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    Env *e = *state;
    duck_disconnect(e->c);
    duck_close(e->e);
    lake_free(e->l);
    store_close(e->s);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* One cell as text of a query over the metadata table, which is written as %T. */
static Str ask(Env *e, const char *table, const char *select, const char *rest)
{
    LakeRelation rel;
    BoundColumns cols = {0};
    DuckColumns engine = {0};
    Str ret = S("<none>");
    bool has;

    assert_ok(lake_metadata_columns(e->a, &e->t, str_c(table), &cols, &e->err), &e->err);
    assert_ok(lake_metadata_table(e->l, e->a, e->c, &e->t, str_c(table), ice_current_snapshot(e->t.meta), &rel, &e->err), &e->err);
    assert_ok(duck_describe(e->c, e->a, rel.sql, &engine, &e->err), &e->err);
    assert_int_equal(cols.n, engine.n);
    for (size_t i = 0; i < cols.n; i++) {
        assert_true(str_eq(cols.p[i].engine, engine.p[i].name));
        assert_true(data_type_equal(&cols.p[i].type, &engine.p[i].type));
    }
    Str sql = str_fmt(e->a, "SELECT CAST(%s AS VARCHAR) FROM (" STR_FMT ") m %s", select, STR_ARG(rel.sql), rest);
    assert_ok(duck_scalar_str(e->c, e->a, sql, &ret, &has, &e->err), &e->err);
    lake_relation_drop(e->c, &rel);
    return has ? ret : S("<null>");
}

static void snapshots(void **state)
{
    Env *e = *state;

    assert_str(ask(e, "snapshots", "count(*)", ""), "0");
    append(e, "s3://w/t/data/a", "eu", 3, 4000000000000);
    append(e, "s3://w/t/data/b", NULL, 4, 4000000001000);
    assert_str(ask(e, "snapshots", "count(*)", ""), "2");
    assert_str(ask(e, "snapshots", "min(committed_at)", ""), "2096-10-02 07:06:40+00");
    assert_str(ask(e, "snapshots", "string_agg(operation, ',')", ""), "append,append");
    assert_str(ask(e, "snapshots", "summary['added-records']", "ORDER BY committed_at DESC LIMIT 1"), "4");
    assert_str(ask(e, "snapshots", "count(*)", "WHERE parent_id IS NULL"), "1");
    assert_str(ask(e, "snapshots", "count(*)", "WHERE manifest_list LIKE 's3://w/t/metadata/snap-%.avro'"), "2");
    assert_str(ask(e, "history", "bool_and(is_current_ancestor)", ""), "true");
    assert_str(ask(e, "refs", "name || '/' || type", ""), "main/BRANCH");
    assert_str(ask(e, "metadata_log_entries", "max(file)", ""), "s3://w/t/metadata/9.json");
}

static void files(void **state)
{
    Env *e = *state;

    append(e, "s3://w/t/data/a", "eu", 3, 4000000000000);
    append(e, "s3://w/t/data/b", NULL, 4, 4000000001000);
    assert_str(ask(e, "files", "sum(record_count)", ""), "7");
    assert_str(ask(e, "files", "partition.region", "WHERE file_path LIKE '%a'"), "eu");
    assert_str(ask(e, "files", "count(*)", "WHERE partition.region IS NULL"), "1");
    assert_str(ask(e, "data_files", "count(*)", ""), "2");
    assert_str(ask(e, "delete_files", "count(*)", ""), "0");
    assert_str(ask(e, "files", "null_value_counts[1]", "LIMIT 1"), "2");
    assert_str(ask(e, "files", "hex(lower_bounds[1])", "LIMIT 1"), "0700000000000000");
    assert_str(ask(e, "files", "readable_metrics.id.upper_bound", "LIMIT 1"), "900");
    assert_str(ask(e, "files", "count(*)", "WHERE readable_metrics.region.lower_bound IS NULL"), "2");
    assert_str(ask(e, "entries", "string_agg(sequence_number, ',' ORDER BY sequence_number)", ""), "1,2");
    assert_str(ask(e, "entries", "max(data_file.file_path)", ""), "s3://w/t/data/b");
    assert_str(ask(e, "all_data_files", "count(*)", ""), "2");
}

static void removed_files(void **state)
{
    Env *e = *state;
    IceChange ch = { .operation = S("delete") };

    append(e, "s3://w/t/data/a", "eu", 3, 4000000000000);
    append(e, "s3://w/t/data/b", "us", 4, 4000000001000);
    vec_push(e->a, &ch.remove_data, S("s3://w/t/data/a"));
    commit(e, &ch, 4000000002000);
    assert_str(ask(e, "files", "string_agg(file_path, ',')", ""), "s3://w/t/data/b");
    assert_str(ask(e, "entries", "count(*)", "WHERE status = 2"), "1");
    assert_str(ask(e, "all_data_files", "count(DISTINCT file_path)", ""), "2");
}

static void partitions_and_manifests(void **state)
{
    Env *e = *state;

    append(e, "s3://w/t/data/a", "eu", 3, 4000000000000);
    append(e, "s3://w/t/data/b", "us", 4, 4000000001000);
    append(e, "s3://w/t/data/c", "eu", 5, 4000000002000);
    assert_str(ask(e, "partitions", "count(*)", ""), "2");
    assert_str(ask(e, "partitions", "record_count || '/' || file_count || '/' || total_data_file_size_in_bytes", "WHERE partition.region = 'eu'"), "8/2/80");
    assert_str(ask(e, "partitions", "last_updated_at", "WHERE partition.region = 'eu'"), "2096-10-02 07:06:42+00");
    assert_str(ask(e, "manifests", "sum(added_data_files_count + existing_data_files_count)", ""), "3");
    assert_str(ask(e, "manifests", "min(partition_summaries[1].lower_bound)", ""), "eu");
    assert_str(ask(e, "all_manifests", "count(DISTINCT reference_snapshot_id)", ""), "3");
    assert_true(lake_is_metadata_table(S("Snapshots")));
    assert_false(lake_is_metadata_table(S("refreshes")));
}

static void unpartitioned_has_no_partition(void **state)
{
    Env *e = *state;
    BoundColumns cols = {0};
    IceSchema *s = arena_new(e->a, IceSchema);

    vec_push(e->a, &s->fields, column(e->a, 1, S("id"), ICE_LONG));
    IceNewTable t = { .schema = s, .location = S("s3://w/t"), .format_version = 2 };
    assert_ok(ice_metadata_new(e->a, &t, &e->t.meta, &e->err), &e->err);
    assert_ok(lake_metadata_columns(e->a, &e->t, S("partitions"), &cols, &e->err), &e->err);
    assert_str(cols.p[0].name, "record_count");
    assert_status(lake_metadata_columns(e->a, &e->t, S("nothing"), &cols, &e->err), E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(snapshots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(removed_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partitions_and_manifests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unpartitioned_has_no_partition, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
