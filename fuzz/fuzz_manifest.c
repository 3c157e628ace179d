/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manifest.c - manifests and manifest lists from arbitrary bytes, and a scan over them.
 * The bytes stand in a memory store as a list and as each manifest that it names.  What can be read is also changed: all
 * files are removed, and manifests rewritten. */
#include <stdlib.h>

#include "iceberg/iceberg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const METADATA =
    "{\"format-version\":3,\"table-uuid\":\"u\",\"location\":\"s3://w/t\",\"last-sequence-number\":1,\"last-updated-ms\":1,"
    "\"last-column-id\":3,\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"type\":\"long\",\"required\":false},{\"id\":2,\"name\":\"r\",\"type\":\"string\",\"required\":false},"
    "{\"id\":3,\"name\":\"d\",\"type\":\"decimal(9,2)\",\"required\":false}]}],\"default-spec-id\":1,\"partition-specs\":["
    "{\"spec-id\":0,\"fields\":[]},{\"spec-id\":1,\"fields\":[{\"name\":\"r\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000},"
    "{\"name\":\"d\",\"transform\":\"truncate[10]\",\"source-id\":3,\"field-id\":1001}]}],\"last-partition-id\":1001,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"current-snapshot-id\":1,\"snapshots\":[{\"snapshot-id\":1,\"sequence-number\":1,\"timestamp-ms\":1,\"manifest-list\":\"s3://w/x\"}]}";

static void predicate(Arena *a, IcePredicates *where)
{
    IceValue *v = arena_new(a, IceValue);

    *v = (IceValue){ .kind = ICE_LONG, .integer = 7 };
    vec_push(a, where, ((IcePredicate){ .field_id = 1, .op = PRED_GT, .values = v, .n = 1 }));
    vec_push(a, where, ((IcePredicate){ .field_id = 2, .op = PRED_NOT_NULL }));
}

static void read_all(Arena *a, Store *st, const IceMetadata *m)
{
    IcePredicates where = { 0 };
    IceManifests list;
    IceScan scan;
    Error err;

    predicate(a, &where);
    for (int32_t spec = 0; spec < 2; spec++) {
        IceManifest mf = { .path = S("s3://w/x"), .spec_id = spec, .first_row_id = SOME_I64(INT64_MAX - 9) };
        IceEntries entries;
        if (ice_manifest_read(a, st, m, &mf, &entries, &err) != OK)
            continue;
        for vec_each(IceEntry, e, &entries)
            if (e->file.npartition != ice_spec(m, spec)->fields.n || e->file.record_count < 0)
                abort();
    }
    if (ice_manifest_list_read(a, st, m, m->snapshots.p[0], &list, &err) == OK
        && ice_scan(a, st, m, m->snapshots.p[0], &where, &scan, &err) == OK && scan.files_skipped > scan.files_total)
        abort();
}

static void change_all(Arena *a, Store *st, const IceMetadata *m)
{
    IceChange ch = { .operation = S("delete"), .replace_all = 1 };
    IceUpdates ups = { 0 };
    IceRequirements rqs = { 0 };
    StrVec written = { 0 };
    IceMetadata *next;
    IceScan scan;
    Error err;
    size_t before, after;
    int changed;

    if (ice_change_prepare(a, st, m, &ch, 1, &ups, &rqs, &written, &err) == OK
        && ice_metadata_apply(a, m, S(""), &ups, 1, &next, &changed, &err) == OK
        && ice_scan(a, st, next, ice_current_snapshot(next), NULL, &scan, &err) == OK && scan.tasks.n)
        abort();
    if (ice_rewrite_manifests(a, st, m, 1, &ups, &rqs, &written, &before, &after, &err) == OK && after > before + 2)
        abort();
    for vec_each(Str, path, &written)
        if (store_delete(st, *path, &err) != OK)
            abort();
}

/* One store for all runs: opening one is slow. */
static Store *the_store(void)
{
    static Store *st;
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };
    Error err;

    if (!st && (store_open_memory(&st, &err) != OK || store_bucket_create(st, &b, &err) != OK))
        abort();
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Store *st = the_store();
    IceMetadata *m;
    Error err;

    if (store_put(st, S("s3://w/x"), str_n((const char *)data, size), &err) != OK
        || ice_metadata_parse(a, str_c(METADATA), &m, &err) != OK)
        abort();
    read_all(a, st, m);
    change_all(a, st, m);
    m->snapshots.p[0]->manifest_list = S("");            /* as format v1 may: the bytes are the one manifest */
    vec_push(a, &m->snapshots.p[0]->manifests, S("s3://w/x"));
    change_all(a, st, m);
    return 0;
}
