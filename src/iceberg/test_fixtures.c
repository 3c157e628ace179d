/* SPDX-License-Identifier: Apache-2.0 */
/* test_fixtures.c - tables of other writers: read whole, written again, equal (FIRN_FIXTURES names their folder).
 *
 * The tables were made elsewhere: each is copied into a memory store, and the paths inside are moved to it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "iceberg/iceberg_int.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; Error err; Str root; int tables, manifests; Str from, to; } Env;

static Str slurp(Arena *a, Str path)
{
    FILE *f = fopen(str_z(a, path), "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *p = arena_alloc(a, n + 1);
    assert_int_equal(fread(p, 1, n, f), n);
    fclose(f);
    return (Str){ p, n };
}

/* Puts every file below `dir` at s3://fix/<name>/<rest>. */
static void copy_in(Env *e, Str dir, Str key)
{
    DIR *d = opendir(str_z(e->a, dir));
    assert_non_null(d);
    for (struct dirent *x; (x = readdir(d));) {
        struct stat st;
        if (x->d_name[0] == '.')
            continue;
        Str path = str_fmt(e->a, STR_FMT "/%s", STR_ARG(dir), x->d_name), to = str_fmt(e->a, STR_FMT "/%s", STR_ARG(key), x->d_name);
        assert_int_equal(stat(str_z(e->a, path), &st), 0);
        if (S_ISDIR(st.st_mode))
            copy_in(e, path, to);
        else
            assert_ok(store_put(e->s, to, slurp(e->a, path), &e->err), &e->err);
    }
    closedir(d);
}

static Str moved(Env *e, Str path)
{
    return str_starts(path, e->from) ? str_cat(e->a, e->to, str_from(path, e->from.n)) : path;
}

/* ---- comparing ------------------------------------------------------------------------------------------------- */

/* Spaces in "decimal(9,2)" are a matter of taste. */
static bool same_text(Str x, Str y)
{
    size_t i = 0, k = 0;
    while (i < x.n || k < y.n) {
        if (i < x.n && x.p[i] == ' ')
            i++;
        else if (k < y.n && y.p[k] == ' ')
            k++;
        else if (i < x.n && k < y.n && x.p[i] == y.p[k])
            i++, k++;
        else
            return false;
    }
    return true;
}

/* Members that no reader could tell apart from being absent. */
static bool says_nothing(const Json *v)
{
    return !v || v->kind == JSON_NULL || ((v->kind == JSON_ARRAY || v->kind == JSON_OBJECT) && !json_len(v))
        || (v->kind == JSON_INT && v->integer == 0) || (v->kind == JSON_BOOL && !v->boolean);
}

/* Everything in `x` is in `y` with the same value. */
static void assert_inside(Env *e, const Json *x, const Json *y, Str where)
{
    if (says_nothing(x) && says_nothing(y))
        return;
    if (!y || x->kind != y->kind || (x->kind == JSON_ARRAY && json_len(x) != json_len(y)))
        fail_msg("at " STR_FMT ": " STR_FMT " became " STR_FMT, STR_ARG(where), STR_ARG(json_text(e->a, x)),
                 STR_ARG(y ? json_text(e->a, y) : S("nothing")));
    if (x->kind == JSON_ARRAY) {
        for (size_t i = 0; i < json_len(x); i++)
            assert_inside(e, json_at(x, i), json_at(y, i), str_fmt(e->a, STR_FMT "/%zu", STR_ARG(where), i));
    } else if (x->kind == JSON_OBJECT) {
        for (size_t i = 0; i < x->object.n; i++)
            assert_inside(e, x->object.p[i].value, json_get_s(y, x->object.p[i].key),
                          str_fmt(e->a, STR_FMT "/" STR_FMT, STR_ARG(where), STR_ARG(x->object.p[i].key)));
    } else if (x->kind == JSON_STRING ? !same_text(x->string, y->string) : !json_equal(x, y)) {
        fail_msg("at " STR_FMT ": " STR_FMT " became " STR_FMT, STR_ARG(where), STR_ARG(json_text(e->a, x)), STR_ARG(json_text(e->a, y)));
    }
}

#define SAME(x, y) assert_int_equal((x), (y))
#define SAME_STR(x, y) assert_true(str_eq((x), (y)))
#define SAME_OPT(x, y) do { assert_int_equal((x).has, (y).has); if ((x).has) assert_int_equal((x).v, (y).v); } while (0)
#define SAME_COUNTS(x, y) do { SAME((x).n, (y).n); \
    for (size_t i_ = 0; i_ < (x).n; i_++) { SAME((x).p[i_].id, (y).p[i_].id); SAME((x).p[i_].n, (y).p[i_].n); } } while (0)
#define SAME_BOUNDS(x, y) do { SAME((x).n, (y).n); \
    for (size_t i_ = 0; i_ < (x).n; i_++) { SAME((x).p[i_].id, (y).p[i_].id); SAME_STR((x).p[i_].bytes, (y).p[i_].bytes); } } while (0)
#define SAME_LIST(x, y) do { SAME((x).n, (y).n); for (size_t i_ = 0; i_ < (x).n; i_++) SAME((x).p[i_], (y).p[i_]); } while (0)

static void same_entry(const IceEntry *x, const IceEntry *y, int version)
{
    const IceFile *f = &x->file, *g = &y->file;

    SAME(x->status, y->status);
    SAME_OPT(x->snapshot_id, y->snapshot_id);
    SAME_OPT(x->sequence_number, y->sequence_number);
    SAME_OPT(x->file_sequence_number, y->file_sequence_number);
    SAME(f->content, g->content);
    SAME_STR(f->path, g->path);
    SAME_STR(f->format, g->format);
    SAME(f->record_count, g->record_count);
    SAME(f->size, g->size);
    SAME_COUNTS(f->column_sizes, g->column_sizes);
    SAME_COUNTS(f->value_counts, g->value_counts);
    SAME_COUNTS(f->null_counts, g->null_counts);
    SAME_COUNTS(f->nan_counts, g->nan_counts);
    SAME_BOUNDS(f->lower, g->lower);
    SAME_BOUNDS(f->upper, g->upper);
    SAME_LIST(f->split_offsets, g->split_offsets);
    SAME_LIST(f->equality_ids, g->equality_ids);
    SAME_OPT(f->sort_order_id, g->sort_order_id);
    SAME_STR(f->referenced_data_file, g->referenced_data_file);
    if (version >= 3) {
        SAME_OPT(f->first_row_id, g->first_row_id);
        SAME_OPT(f->content_offset, g->content_offset);
        SAME_OPT(f->content_size, g->content_size);
    }
    SAME(f->npartition, g->npartition);
    for (size_t i = 0; i < f->npartition; i++)
        SAME(ice_value_cmp(&f->partition[i], &g->partition[i]), 0);
}

/* ---- one table ---------------------------------------------------------------------------------------------------- */

static void manifest_again(Env *e, IceMetadata *m, IceManifest *mf)
{
    IceEntries entries, back;
    IceManifest out;

    mf->path = moved(e, mf->path);
    assert_ok(ice_manifest_read(e->a, e->s, m, mf, &entries, &e->err), &e->err);
    assert_true(entries.n > 0);
    IceMetadata as = *m;
    as.format_version = m->format_version < 2 ? 2 : m->format_version;
    IceManifestPlan plan = { .path = str_fmt(e->a, "s3://fix/again/%d.avro", e->manifests++), .spec_id = mf->spec_id, .deletes = mf->deletes,
                             .snapshot_id = mf->added_snapshot_id.v, .sequence_number = mf->sequence_number };
    assert_ok(ice_manifest_write(e->a, e->s, &as, &plan, &entries, &out, &e->err), &e->err);
    assert_ok(ice_manifest_read(e->a, e->s, &as, &out, &back, &e->err), &e->err);
    SAME(entries.n, back.n);
    for (size_t i = 0; i < entries.n; i++)
        same_entry(&entries.p[i], &back.p[i], as.format_version);
    if (mf->added_files.has)
        SAME(mf->added_files.v, out.added_files.v);
}

static void snapshot_again(Env *e, IceMetadata *m, IceSnapshot *s)
{
    IceManifests list;

    s->manifest_list = s->manifest_list.n ? moved(e, s->manifest_list) : s->manifest_list;
    for vec_each(Str, path, &s->manifests)
        *path = moved(e, *path);
    assert_ok(ice_manifest_list_read(e->a, e->s, m, s, &list, &e->err), &e->err);
    for vec_each(IceManifest, mf, &list)
        manifest_again(e, m, mf);
}

static void table_again(Env *e, Str folder, Str metadata_file)
{
    IceMetadata *m, *back;
    Json *was;
    ObjectInfo info;

    e->to = str_fmt(e->a, "s3://fix/t%d", e->tables++);
    copy_in(e, folder, e->to);
    Str location = str_fmt(e->a, STR_FMT "/" STR_FMT, STR_ARG(e->to), STR_ARG(metadata_file));
    assert_ok(ice_metadata_read(e->a, e->s, location, &m, &e->err), &e->err);
    Str bytes = slurp(e->a, str_fmt(e->a, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(metadata_file)));
    assert_ok(ice_json_load(e->a, bytes, &was, &e->err), &e->err);
    assert_inside(e, was, ice_metadata_json(e->a, m), metadata_file);
    assert_ok(ice_metadata_parse(e->a, json_text(e->a, ice_metadata_json(e->a, m)), &back, &e->err), &e->err);
    assert_true(json_equal(ice_metadata_json(e->a, m), ice_metadata_json(e->a, back)));
    e->from = m->location;
    for (size_t i = 0; i < m->snapshots.n; i++) {
        Str list = m->snapshots.p[i]->manifest_list;
        if (list.n && store_stat(e->s, e->a, moved(e, list), &info, &e->err) != OK)
            continue;                                    /* an expired snapshot's list is not part of the fixture */
        snapshot_again(e, m, m->snapshots.p[i]);
    }
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    const char *root = getenv("FIRN_FIXTURES");
    BucketInfo b = { .name = S("fix"), .owner = S("me"), .region = S("us-east-1") };

    e->a = arena_create();
    e->root = str_c(root);
    assert_ok(store_open_memory(&e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
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

static void test_all_tables(void **state)
{
    Env *e = *state;
    Json *expected;

    if (!e->root.n)
        skip();
    assert_ok(json_parse(e->a, slurp(e->a, str_cat(e->a, e->root, S("/expected.json"))), &expected, &e->err), &e->err);
    for (size_t i = 0; i < expected->object.n; i++) {
        const JsonMember *t = &expected->object.p[i];
        if (str_eq(t->key, S("_about")))
            continue;
        table_again(e, str_fmt(e->a, STR_FMT "/" STR_FMT, STR_ARG(e->root), STR_ARG(t->key)), json_get_str(t->value, "metadata", S("")));
    }
    print_message("%d manifests\n", e->manifests);
    assert_true(e->tables > 15 && e->manifests > 20);
}

/* Deletes find their data; partition values prune. */
static IceScan scan_fixture(Env *e, const char *folder, const char *file, const IcePredicates *where)
{
    IceMetadata *m;
    IceScan scan;

    e->to = str_fmt(e->a, "s3://fix/t%d", e->tables++);
    copy_in(e, str_fmt(e->a, STR_FMT "/iceberg/%s", STR_ARG(e->root), folder), e->to);
    assert_ok(ice_metadata_read(e->a, e->s, str_fmt(e->a, STR_FMT "/metadata/%s", STR_ARG(e->to), file), &m, &e->err), &e->err);
    e->from = m->location;
    IceSnapshot *s = (IceSnapshot *)ice_current_snapshot(m);
    s->manifest_list = moved(e, s->manifest_list);
    IceManifests list;
    assert_ok(ice_manifest_list_read(e->a, e->s, m, s, &list, &e->err), &e->err);
    for vec_each(IceManifest, mf, &list)
        mf->path = moved(e, mf->path);
    Str path = str_fmt(e->a, STR_FMT "/again-list.avro", STR_ARG(e->to));
    assert_ok(ice_manifest_list_write(e->a, e->s, m, s, path, &list, &e->err), &e->err);
    s->manifest_list = path;
    assert_ok(ice_scan(e->a, e->s, m, s, where, &scan, &e->err), &e->err);
    return scan;
}

static void test_scan_equality_delete(void **state)
{
    Env *e = *state;
    if (!e->root.n)
        skip();
    IceScan scan = scan_fixture(e, "equality_delete_cross_partition/warehouse/ns/t", "vfinal.metadata.json", NULL);
    SAME(scan.tasks.n, 2);
    for vec_each(IceTask, t, &scan.tasks)
        SAME(t->deletes.n, t->data->file.partition[0].integer == 0 ? 1 : 0);
}

static void test_scan_deletion_vector(void **state)
{
    Env *e = *state;
    Positions gone;
    if (!e->root.n)
        skip();
    IceScan scan = scan_fixture(e, "legacy_bare_deletion_vector/warehouse/default/legacy_bare_deletion_vector",
                                "00002-legacy-bare-dv.metadata.json", NULL);
    SAME(scan.tasks.n, 1);
    SAME(scan.tasks.p[0].deletes.n, 1);
    IceFile dv = scan.tasks.p[0].deletes.p[0]->file;
    dv.path = moved(e, dv.path);
    assert_ok(ice_dv_read(e->a, e->s, &dv, &gone, &e->err), &e->err);
    SAME(gone.n, 1);
}

static void test_scan_prunes_partitions(void **state)
{
    Env *e = *state;
    IceValue v = { .kind = ICE_LONG, .integer = INT64_MAX };
    IcePredicates where = { 0 };
    if (!e->root.n)
        skip();
    vec_push(e->a, &where, ((IcePredicate){ .field_id = 1, .op = PRED_EQ, .values = &v, .n = 1 }));
    IceScan scan = scan_fixture(e, "partition_bigint", "v2.metadata.json", &where);
    SAME(scan.files_total, 2);
    SAME(scan.tasks.n, 1);
    SAME(scan.tasks.p[0].data->file.partition[0].integer, INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scan_equality_delete, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scan_deletion_vector, setup, teardown),
        cmocka_unit_test_setup_teardown(test_scan_prunes_partitions, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
