/* SPDX-License-Identifier: Apache-2.0 */
/* test_manifest.c - manifests as other writers make them: without ids, with everything nullable, with fields of their
 * own, and broken. */
#include <stdlib.h>

#include "iceberg/iceberg_int.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; IceMetadata *m; } Env;

static const char *const METADATA =
    "{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"s3://w/t\",\"last-sequence-number\":1,\"last-updated-ms\":1,"
    "\"last-column-id\":3,\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"type\":\"uuid\",\"required\":false},{\"id\":2,\"name\":\"r\",\"type\":\"string\",\"required\":false},"
    "{\"id\":3,\"name\":\"d\",\"type\":\"decimal(9,2)\",\"required\":false}]}],\"default-spec-id\":1,\"partition-specs\":["
    "{\"spec-id\":0,\"fields\":[]},{\"spec-id\":1,\"fields\":[{\"name\":\"r x\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000},"
    "{\"name\":\"d\",\"transform\":\"truncate[10]\",\"source-id\":3,\"field-id\":1001},"
    "{\"name\":\"id\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1002},"
    "{\"name\":\"gone\",\"transform\":\"zorder\",\"source-id\":77,\"field-id\":1003}]}],\"last-partition-id\":1003,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"snapshots\":[{\"snapshot-id\":1,\"sequence-number\":1,\"timestamp-ms\":1,\"manifest-list\":\"s3://w/x\"}]}";

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };

    e->a = arena_create();
    assert_ok(store_open_memory(&e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    assert_ok(ice_metadata_parse(e->a, str_c(METADATA), &e->m, &e->err), &e->err);
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

static AvroValue *items(Env *e, size_t n) { return arena_array(e->a, AvroValue, n); }

static AvroValue record(AvroValue *p, size_t n)
{
    AvroValue v = { .kind = AVRO_RECORD };
    v.items.p = p;
    v.items.n = n;
    return v;
}

static AvroValue text(const char *s) { return (AvroValue){ .kind = AVRO_STRING, .bytes = str_c(s) }; }
static AvroValue number(int64_t n) { return (AvroValue){ .kind = AVRO_LONG, .integer = n }; }

static void put(Env *e, const char *schema, const AvroValue *row)
{
    Props meta = { 0 };
    Str bytes;
    assert_ok(avro_write(e->a, str_c(schema), &meta, "null", row, 1, &bytes, &e->err), &e->err);
    assert_ok(store_put(e->s, S("s3://w/x"), bytes, &e->err), &e->err);
}

static Status read_manifest(Env *e, int32_t spec, IceEntries *ret)
{
    IceManifest mf = { .path = S("s3://w/x"), .spec_id = spec, .sequence_number = 5, .added_snapshot_id = SOME_I64(9), .first_row_id = SOME_I64(100) };
    return ice_manifest_read(e->a, e->s, e->m, &mf, ret, &e->err);
}

/* No field ids, long counts, an unknown field, little else. */
static void test_by_name(void **state)
{
    Env *e = *state;
    AvroValue *file = items(e, 4), *entry = items(e, 2), row;
    IceEntries got;

    file[0] = text("s3://w/a");
    file[1] = text("parquet");
    file[2] = number(7);
    file[3] = text("?");
    entry[0] = number(1);
    entry[1] = record(file, 4);
    row = record(entry, 2);
    put(e, "{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"status\",\"type\":\"long\"},{\"name\":\"data_file\",\"type\":"
           "{\"type\":\"record\",\"name\":\"f\",\"fields\":[{\"name\":\"file_path\",\"type\":\"string\"},{\"name\":\"file_format\",\"type\":\"string\"},"
           "{\"name\":\"record_count\",\"type\":[\"null\",\"long\"]},{\"name\":\"new_thing\",\"type\":\"string\"}]}}]}", &row);
    assert_ok(read_manifest(e, 1, &got), &e->err);
    assert_int_equal(got.n, 1);
    assert_int_equal(got.p[0].status, ENTRY_ADDED);
    assert_int_equal(got.p[0].sequence_number.v, 5);
    assert_int_equal(got.p[0].snapshot_id.v, 9);
    assert_int_equal(got.p[0].file.first_row_id.v, 100);
    assert_int_equal(got.p[0].file.record_count, 7);
    assert_str(got.p[0].file.format, "PARQUET");
    assert_int_equal(got.p[0].file.npartition, 4);
    assert_int_equal(got.p[0].file.partition[3].null, 1);
}

static void test_missing_path(void **state)
{
    Env *e = *state;
    AvroValue *file = items(e, 1), *entry = items(e, 1), row;
    IceEntries got;

    file[0] = number(1);
    entry[0] = record(file, 1);
    row = record(entry, 1);
    put(e, "{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"f\",\"fields\":["
           "{\"name\":\"record_count\",\"type\":\"long\"}]}}]}", &row);
    assert_status(read_manifest(e, 0, &got), E_CORRUPT);
    assert_non_null(strstr(e->err.message, "file_path"));
    assert_status(read_manifest(e, 8, &got), E_CORRUPT);
    assert_ok(store_put(e->s, S("s3://w/x"), S("Obj\1rubbish"), &e->err), &e->err);
    assert_int_not_equal(read_manifest(e, 0, &got), OK);
    assert_ok(store_delete(e->s, S("s3://w/x"), &e->err), &e->err);
    assert_status(read_manifest(e, 0, &got), E_NOT_FOUND);
}

static void one_file(const char *schema_of_path, const AvroValue *path, Env *e)
{
    AvroValue *file = items(e, 1), *entry = items(e, 1), row;

    file[0] = *path;
    entry[0] = record(file, 1);
    row = record(entry, 1);
    put(e, str_fmt(e->a, "{\"type\":\"record\",\"name\":\"e\",\"fields\":[{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"f\",\"fields\":["
                         "{\"name\":\"file_path\",\"type\":\"%s\"}]}}]}", schema_of_path).p, &row);
}

static void test_wrong_kind(void **state)
{
    Env *e = *state;
    IceEntries got;
    AvroValue path = number(3);

    one_file("long", &path, e);
    assert_status(read_manifest(e, 0, &got), E_CORRUPT);
}

static void test_encrypted(void **state)
{
    Env *e = *state;
    IceManifest mf = { .path = S("s3://w/x"), .key_metadata = S("k") };
    IceEntries got;

    assert_status(ice_manifest_read(e->a, e->s, e->m, &mf, &got, &e->err), E_UNSUPPORTED);
}

/* Values of every sort survive, a transform that nobody knows included; two decimals do not collide in the schema. */
static void test_partition_round_trip(void **state)
{
    Env *e = *state;
    IceEntries in = { 0 }, out;
    IceEntry x = { .status = ENTRY_ADDED, .file = { .path = S("s3://w/a"), .format = S("PARQUET"), .spec_id = 1, .npartition = 4 } };
    IceManifestPlan plan = { .path = S("s3://w/m"), .spec_id = 1, .snapshot_id = 1, .sequence_number = 1 };
    IceManifest mf;

    x.file.partition = arena_array(e->a, IceValue, 4);
    x.file.partition[0] = (IceValue){ .kind = ICE_STRING, .bytes = S("h\xc3\xa9/x") };
    x.file.partition[1] = (IceValue){ .kind = ICE_DECIMAL, .scale = 2, .decimal = -1230 };
    x.file.partition[2] = (IceValue){ .kind = ICE_UUID, .bytes = S("0123456789abcdef") };
    x.file.partition[3] = (IceValue){ .kind = ICE_LONG, .integer = 42 };
    vec_push(e->a, &in, x);
    assert_ok(ice_manifest_write(e->a, e->s, e->m, &plan, &in, &mf, &e->err), &e->err);
    assert_ok(ice_manifest_read(e->a, e->s, e->m, &mf, &out, &e->err), &e->err);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ice_value_cmp(&x.file.partition[i], &out.p[0].file.partition[i]), 0);
    assert_int_equal(mf.partitions.n, 4);
    assert_int_equal(mf.partitions.p[1].contains_null, 0);
    assert_str(mf.partitions.p[0].lower, "h\xc3\xa9/x");
    assert_int_equal(mf.added_files.v, 1);
}

static void test_v1_is_read_only(void **state)
{
    Env *e = *state;
    IceEntries none = { 0 };
    IceManifestPlan plan = { .path = S("s3://w/m") };
    IceManifest mf;

    e->m->format_version = 1;
    assert_status(ice_manifest_write(e->a, e->s, e->m, &plan, &none, &mf, &e->err), E_UNSUPPORTED);
    assert_non_null(strstr(e->err.hint, "format-version"));
}

static void test_same_partition(void **state)
{
    Env *e = *state;
    IceValue x = { .kind = ICE_DOUBLE, .real = 0.0 }, y = { .kind = ICE_DOUBLE, .real = -0.0 }, z = { .null = 1 };

    assert_true(str_eq(ice_partition_key(e->a, 1, &x, 1), ice_partition_key(e->a, 1, &y, 1)));
    assert_false(str_eq(ice_partition_key(e->a, 1, &x, 1), ice_partition_key(e->a, 2, &x, 1)));
    assert_false(str_eq(ice_partition_key(e->a, 1, &x, 1), ice_partition_key(e->a, 1, &z, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        T(test_by_name), T(test_missing_path), T(test_wrong_kind), T(test_encrypted), T(test_partition_round_trip),
        T(test_v1_is_read_only), T(test_same_partition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
