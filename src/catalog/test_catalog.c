/* SPDX-License-Identifier: Apache-2.0 */
/* test_catalog.c - the catalog's rules: names, compare-and-swap, all or nothing, sealed secrets, restarts. */
#include "base/test.h"
#include "catalog/catalog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Env { Arena *a; char dir[64]; Str path; Catalog *c; Error err; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-cat-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    e->path = str_fmt(e->a, "%s/catalog.db", e->dir);
    *state = e;
    return cat_open(e->path, S("123456789012"), S("us-east-1"), &e->c, &e->err) == OK ? 0 : -1;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key", "copy.db", "catalog.key.old" };
    cat_close(e->c);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static void reopen(Env *e)
{
    cat_close(e->c);
    e->c = NULL;
    assert_ok(cat_open(e->path, S("123456789012"), S("us-east-1"), &e->c, &e->err), &e->err);
}

static void make_ns(Env *e, Str name)
{
    CatNamespace n = { .catalog = S("123456789012"), .name = name };
    assert_ok(cat_namespace_create(e->c, &n, &e->err), &e->err);
}

static CatRelation rel(RelKind kind, Str ns, Str name, Str meta, Str location)
{
    return (CatRelation){ .catalog = S("123456789012"), .namespace = ns, .name = name, .kind = kind, .uuid = S("u-1"),
                          .metadata_location = meta, .location = location, .owner = S("arn:aws:iam::123456789012:root") };
}

static Status create(Env *e, CatRelation *r)
{
    CatChange ch = { .kind = CH_CREATE, .relation = r };
    return cat_commit(e->c, &ch, 1, &e->err);
}

static void test_account_is_fixed(void **state)
{
    Env *e = *state;
    Catalog *other = NULL;
    CatWarehouse w = {0};

    assert_status(cat_open(e->path, S("999999999999"), S("us-east-1"), &other, &e->err), E_INVALID);
    assert_ok(cat_warehouse_get(e->c, e->a, (Str){0}, &w, &e->err), &e->err);
    assert_str(w.sql_name, "glue_catalog");
    assert_ok(cat_warehouse_get(e->c, e->a, S("arn:aws:glue:us-east-1:123456789012:catalog"), &w, &e->err), &e->err);
    assert_str(w.id, "123456789012");
    assert_status(cat_warehouse_get(e->c, e->a, S("nope"), &w, &e->err), E_NOT_FOUND);
}

static void test_key_files(void **state)
{
    Env *e = *state;
    char *key = str_z(e->a, str_fmt(e->a, "%s/catalog.key", e->dir)), *old = str_z(e->a, str_fmt(e->a, "%s/catalog.key.old", e->dir));
    struct stat st;
    Catalog *c = NULL;

    assert_int_equal(stat(key, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(chmod(key, 0640), 0);
    assert_status(cat_open(e->path, S("123456789012"), S("us-east-1"), &c, &e->err), E_IO);
    assert_int_equal(chmod(key, 0600), 0);
    assert_int_equal(rename(key, old), 0);                   /* a lost key file is noticed, not replaced in silence */
    assert_status(cat_open(e->path, S("123456789012"), S("us-east-1"), &c, &e->err), E_CORRUPT);
    assert_non_null(strstr(e->err.message, "catalog.key"));
}

static void test_namespaces(void **state)
{
    Env *e = *state;
    CatNamespace n = { .catalog = S("123456789012"), .name = S("a\x1f" "b") };
    CatNamespaces list = {0};

    assert_status(cat_namespace_create(e->c, &n, &e->err), E_NOT_FOUND);
    make_ns(e, S("a"));
    make_ns(e, S("a\x1f" "b"));
    make_ns(e, S("a\x1f" "b\x1f" "c"));
    make_ns(e, S("a!"));                                     /* sorts between a and its children's bound */
    assert_status(cat_namespace_create(e->c, &n, &e->err), E_EXISTS);
    assert_string_equal(e->err.message, "Namespace already exists: a.b");
    assert_ok(cat_namespace_list(e->c, e->a, S("123456789012"), (Str){0}, (CatPage){0}, &list, &e->err), &e->err);
    assert_int_equal(list.n, 2);
    assert_ok(cat_namespace_list(e->c, e->a, S("123456789012"), S("a"), (CatPage){0}, &list, &e->err), &e->err);
    assert_int_equal(list.n, 1);
    assert_str(list.p[0].name, "a\x1f" "b");
    assert_status(cat_namespace_delete(e->c, S("123456789012"), S("a"), &e->err), E_NOT_EMPTY);
    assert_status(cat_namespace_list(e->c, e->a, S("123456789012"), S("zz"), (CatPage){0}, &list, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchNamespaceException");
}

static void test_namespace_paging_and_props(void **state)
{
    Env *e = *state;
    CatNamespaces list = {0};
    Props props = {0};
    CatNamespace n = {0};

    for (int i = 0; i < 5; i++)
        make_ns(e, str_fmt(e->a, "n%d", i));
    assert_ok(cat_namespace_list(e->c, e->a, S("123456789012"), (Str){0}, (CatPage){ S("n1"), 2 }, &list, &e->err), &e->err);
    assert_int_equal(list.n, 2);
    assert_str(list.p[0].name, "n2");
    props_set(e->a, &props, S("k"), S("v\"x"));
    assert_ok(cat_namespace_props(e->c, S("123456789012"), S("n1"), &props, &e->err), &e->err);
    reopen(e);
    assert_ok(cat_namespace_get(e->c, e->a, S("123456789012"), S("n1"), &n, &e->err), &e->err);
    assert_str(props_get(&n.props, S("k"), (Str){0}), "v\"x");
}

static void test_names_are_taken_once(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m0"), S("s3://b/ns/t"));
    CatRelation v = rel(REL_VIEW, S("ns"), S("t"), S("v0"), S("s3://b/ns/v"));

    assert_status(create(e, &t), E_NOT_FOUND);
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    assert_int_not_equal(t.id, 0);
    assert_status(create(e, &t), E_EXISTS);
    assert_string_equal(e->err.message, "Table already exists: ns.t");
    assert_status(create(e, &v), E_EXISTS);
    assert_string_equal(e->err.message, "Table with same name already exists: ns.t");
    assert_status(cat_namespace_delete(e->c, S("123456789012"), S("ns"), &e->err), E_NOT_EMPTY);
}

static void test_swap(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m0"), S("s3://b/ns/t/")), got = {0};
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    assert_ok(cat_relation_get(e->c, e->a, t.catalog, t.namespace, t.name, &got, &e->err), &e->err);
    Str token = got.version_token;
    assert_int_equal(token.n, 20);

    CatChange ch = { .kind = CH_SWAP, .relation = &t, .expected = S("m0"), .next = S("m1") };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_CONFLICT);
    assert_ok(cat_relation_get(e->c, e->a, t.catalog, t.namespace, t.name, &got, &e->err), &e->err);
    assert_str(got.metadata_location, "m1");
    assert_false(str_eq(got.version_token, token));
    assert_str(got.location, "s3://b/ns/t");
    t.uuid = S("other");
    ch = (CatChange){ .kind = CH_SWAP, .relation = &t, .expected = S("m1"), .next = S("m2") };
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_CONFLICT);
}

/* Versions count pointer and extra; what is kept beside changes from a known version only, with the pointer or without. */
static void test_versions_and_extra(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m0"), S("s3://b/t")), got = {0};
    Json *extra = json_object(e->a), *more = json_object(e->a);

    json_set(e->a, extra, "k", json_int(e->a, 1));
    json_set(e->a, more, "k", json_int(e->a, 2));
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    CatChange ch = { .kind = CH_EXTRA, .relation = &t, .doc = extra, .version = SOME_I64(0) };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_CONFLICT);
    ch = (CatChange){ .kind = CH_SWAP, .relation = &t, .expected = S("m0"), .next = S("m1"), .version = SOME_I64(0) };
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_CONFLICT);
    ch.version = SOME_I64(1);
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_relation_get(e->c, e->a, t.catalog, t.namespace, t.name, &got, &e->err), &e->err);
    assert_int_equal(got.version, 2);
    assert_int_equal(json_get_int(got.extra, "k", 0), 1);                    /* a swap without one keeps it */
    ch = (CatChange){ .kind = CH_SWAP, .relation = &t, .expected = S("m1"), .next = S("m2"), .doc = more };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_relation_get(e->c, e->a, t.catalog, t.namespace, t.name, &got, &e->err), &e->err);
    assert_int_equal(json_get_int(got.extra, "k", 0), 2);
}

static void test_documents_of_relations(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_EXTERNAL, S("ns"), S("t"), (Str){0}, (Str){0}), u = rel(REL_EXTERNAL, S("ns"), S("u"), (Str){0}, (Str){0});
    CatDocs docs = {0};

    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    assert_ok(create(e, &u), &e->err);
    for (int i = 0; i < 2; i++) {
        CatChange put = { .kind = CH_DOC, .doc_kind = S(DOC_PARTITION), .doc_key = str_fmt(e->a, "%lld/p", (long long)(i ? u.id : t.id)), .doc = json_object(e->a) };
        assert_ok(cat_commit(e->c, &put, 1, &e->err), &e->err);
    }
    CatChange drop = { .kind = CH_DROP, .relation = &t };
    assert_ok(cat_commit(e->c, &drop, 1, &e->err), &e->err);
    assert_ok(cat_doc_list(e->c, e->a, S(DOC_PARTITION), (Str){0}, &docs, &e->err), &e->err);
    assert_int_equal(docs.n, 1);
    assert_str(docs.p[0].key, str_fmt(e->a, "%lld/p", (long long)u.id).p);
}

static void test_all_or_nothing(void **state)
{
    Env *e = *state;
    CatRelation x = rel(REL_TABLE, S("ns"), S("x"), S("x0"), S("s3://b/x")), y = rel(REL_TABLE, S("ns"), S("y"), S("y0"), S("s3://b/y")), got = {0};
    make_ns(e, S("ns"));
    assert_ok(create(e, &x), &e->err);
    assert_ok(create(e, &y), &e->err);
    CatChange ch[2] = { { .kind = CH_SWAP, .relation = &x, .expected = S("x0"), .next = S("x1") },
                        { .kind = CH_SWAP, .relation = &y, .expected = S("stale"), .next = S("y1") } };
    assert_status(cat_commit(e->c, ch, 2, &e->err), E_CONFLICT);
    assert_ok(cat_relation_get(e->c, e->a, x.catalog, x.namespace, x.name, &got, &e->err), &e->err);
    assert_str(got.metadata_location, "x0");
}

static void test_rename_and_drop(void **state)
{
    Env *e = *state;
    CatRelation x = rel(REL_TABLE, S("ns"), S("x"), S("x0"), S("s3://b/x")), y = rel(REL_VIEW, S("ns"), S("y"), S("y0"), S("s3://b/y")), got = {0};
    make_ns(e, S("ns"));
    assert_ok(create(e, &x), &e->err);
    assert_ok(create(e, &y), &e->err);
    CatChange ch = { .kind = CH_RENAME, .relation = &x, .new_namespace = S("ns"), .new_name = S("y") };
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_EXISTS);
    assert_string_equal(e->err.message, "Cannot rename ns.x to ns.y. View already exists");
    ch.new_namespace = S("zz");
    assert_status(cat_commit(e->c, &ch, 1, &e->err), E_NOT_FOUND);
    ch.new_namespace = S("ns");
    ch.new_name = S("z");
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_relation_get(e->c, e->a, x.catalog, S("ns"), S("z"), &got, &e->err), &e->err);
    assert_int_equal(got.id, x.id);
    CatChange drop = { .kind = CH_DROP, .relation = &got };
    assert_ok(cat_commit(e->c, &drop, 1, &e->err), &e->err);
    assert_status(cat_commit(e->c, &drop, 1, &e->err), E_NOT_FOUND);
    int64_t old = x.id;
    assert_ok(create(e, &x), &e->err);
    assert_true(x.id > old + 1 || x.id > y.id);              /* ids are never used again */
}

static void test_by_location(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m"), S("s3://b/ns/t")), got = {0};
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    assert_ok(cat_relation_by_location(e->c, e->a, S("s3://b/ns/t/data/x.parquet"), &got, &e->err), &e->err);
    assert_str(got.name, "t");
    assert_ok(cat_relation_by_location(e->c, e->a, S("s3://b/ns/t"), &got, &e->err), &e->err);
    assert_status(cat_relation_by_location(e->c, e->a, S("s3://b/ns/t2/data/x"), &got, &e->err), E_NOT_FOUND);
    assert_status(cat_relation_by_location(e->c, e->a, S("s3://b/ns"), &got, &e->err), E_NOT_FOUND);
    assert_ok(cat_relation_below(e->c, e->a, S("s3://b/ns/"), &got, &e->err), &e->err);
    assert_status(cat_relation_below(e->c, e->a, S("s3://b/ns/t"), &got, &e->err), E_NOT_FOUND);
    assert_status(cat_relation_below(e->c, e->a, S("s3://b/n"), &got, &e->err), E_NOT_FOUND);
    assert_ok(cat_relation_by_location(e->c, e->a, S("s3a://b/ns/t/x"), &got, &e->err), &e->err);
    CatRelation f = rel(REL_TABLE, S("ns"), S("f"), S("m"), S("file:///tmp/f"));
    assert_ok(create(e, &f), &e->err);
    assert_ok(cat_relation_by_location(e->c, e->a, S("file:/tmp//f/x"), &got, &e->err), &e->err);
    assert_str(got.name, "f");
}

static Status try_at(Env *e, RelKind kind, Str name, Str location)
{
    CatRelation r = rel(kind, S("ns"), name, S("m"), location);
    CatMview v = { .managed = 1 };
    CatChange ch[2] = { { .kind = CH_CREATE, .relation = &r }, { .kind = CH_MVIEW, .mview = &v } };
    return cat_commit(e->c, ch, kind == REL_MVIEW ? 2 : 1, &e->err);
}

static void test_storage_has_one_owner(void **state)
{
    Env *e = *state;
    make_ns(e, S("ns"));
    assert_ok(try_at(e, REL_TABLE, S("t"), S("s3://b/x/t")), &e->err);
    assert_status(try_at(e, REL_TABLE, S("in"), S("s3a://b/x/t/deep/er")), E_INVALID);
    assert_string_equal(e->err.message, "location 's3a://b/x/t/deep/er' overlaps the storage of ns.t");
    assert_status(try_at(e, REL_MVIEW, S("over"), S("s3://b")), E_INVALID);
    assert_status(try_at(e, REL_MVIEW, S("same"), S("s3://b/x/t/")), E_INVALID);
    assert_ok(try_at(e, REL_TABLE, S("twin"), S("s3://b/x/t/")), &e->err);
    assert_ok(try_at(e, REL_VIEW, S("v"), S("s3://b/x/t/v")), &e->err);
    assert_ok(try_at(e, REL_MVIEW, S("mv"), S("s3://b/x/t2")), &e->err);
    assert_status(try_at(e, REL_TABLE, S("like"), S("s3://b/x/t2")), E_INVALID);
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m"), S("s3://b/x/t"));
    CatChange move = { .kind = CH_SWAP, .relation = &t, .expected = S("m"), .next = S("n"), .new_location = S("s3://b/x/t2/y") };
    assert_status(cat_commit(e->c, &move, 1, &e->err), E_INVALID);
    move.new_location = S("s3://b/x/t/");
    assert_ok(cat_commit(e->c, &move, 1, &e->err), &e->err);
}

static Status make_mview(Env *e, CatRelation *r, CatMview *v)
{
    CatChange ch[2] = { { .kind = CH_CREATE, .relation = r }, { .kind = CH_MVIEW, .mview = v } };
    return cat_commit(e->c, ch, 2, &e->err);
}

static void test_mview(void **state)
{
    Env *e = *state;
    CatRelation r = rel(REL_MVIEW, S("ns"), S("mv"), S("m"), S("s3://b/mv"));
    CatMview v = { .managed = 1, .definition = S("SELECT 1"), .state = S("ACTIVE"), .schedule_s = 60, .next_due_ms = 500 }, got = {0};
    CatMviews list = {0};
    make_ns(e, S("ns"));
    assert_ok(json_parse(e->a, S("[{\"uuid\":\"src-1\",\"snapshot-id\":7}]"), &v.sources, &e->err), &e->err);
    assert_ok(make_mview(e, &r, &v), &e->err);
    assert_int_equal(v.relation_id, r.id);
    assert_ok(cat_mview_readers(e->c, e->a, S("src-1"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 1);
    assert_ok(cat_mview_due(e->c, e->a, 499, &list, &e->err), &e->err);
    assert_int_equal(list.n, 0);
    assert_ok(cat_mview_due(e->c, e->a, 500, &list, &e->err), &e->err);
    assert_int_equal(list.n, 1);
    assert_ok(cat_mview_get(e->c, e->a, r.id, &got, &e->err), &e->err);
    assert_int_equal(json_get_int(json_at(got.sources, 0), "snapshot-id", 0), 7);
    CatChange drop = { .kind = CH_DROP, .relation = &r };
    assert_ok(cat_commit(e->c, &drop, 1, &e->err), &e->err);
    assert_status(cat_mview_get(e->c, e->a, r.id, &got, &e->err), E_NOT_FOUND);
    assert_ok(cat_mview_readers(e->c, e->a, S("src-1"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 0);
}

/* A run reads the row, works, and writes it: a schedule that was changed meanwhile stays changed. */
static Status move_view(Env *e, CatRelation *r, int past_catalog, CatMview *refreshed)
{
    CatChange ch[2] = { { .kind = CH_SWAP, .relation = r, .expected = r->metadata_location, .next = str_cat(e->a, r->metadata_location, S("+")), .past_catalog = past_catalog },
                        { .kind = CH_MVIEW, .mview = refreshed } };
    TRY(cat_commit(e->c, ch, refreshed ? 2 : 1, &e->err));
    return cat_relation_get(e->c, e->a, r->catalog, r->namespace, r->name, r, &e->err);
}

static void test_integrity(void **state)
{
    Env *e = *state;
    CatRelation r = rel(REL_MVIEW, S("ns"), S("mv"), S("m0"), S("s3://b/mv"));
    CatMview v = { .definition = S("SELECT 1"), .dialect = S("spark"), .state = S("ACTIVE") };
    CatChange rename = { .kind = CH_RENAME, .relation = &r, .new_namespace = S("ns"), .new_name = S("renamed") };

    make_ns(e, S("ns"));
    assert_ok(make_mview(e, &r, &v), &e->err);
    assert_ok(move_view(e, &r, 0, NULL), &e->err);
    assert_true(cat_intact(&r));
    Str token = r.version_token;
    assert_ok(move_view(e, &r, 1, NULL), &e->err);
    assert_false(cat_intact(&r));
    assert_true(str_eq(r.view_token, token));
    assert_status(cat_intact_check(&r, &e->err), E_QUARANTINED);
    assert_ok(move_view(e, &r, 0, NULL), &e->err);       /* whatever others write then, it stays marked */
    assert_false(cat_intact(&r));
    assert_ok(cat_commit(e->c, &rename, 1, &e->err), &e->err);
    r.name = S("renamed");
    v.relation_id = r.id;
    assert_ok(move_view(e, &r, 0, &v), &e->err);
    assert_true(cat_intact(&r));
}

static void test_tables_by_arn(void **state)
{
    Env *e = *state;
    CatWarehouse w = { .id = S("123456789012:s3tablescatalog/tb"), .sql_name = S("tb"), .kind = S("table_bucket"), .arn = S("arn:aws:s3tables:us-east-1:123456789012:bucket/tb"), .bucket = S("tb") };
    CatNamespace ns = { .catalog = w.id, .name = S("ns") };
    CatRelation r = rel(REL_TABLE, S("ns"), S("t"), S(""), S("s3://x--table-s3")), got;
    CatChange ch = { .kind = CH_CREATE, .relation = &r };

    r.catalog = w.id;
    assert_ok(cat_warehouse_create(e->c, &w, &e->err), &e->err);
    assert_ok(cat_namespace_create(e->c, &ns, &e->err), &e->err);
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_relation_by_id(e->c, e->a, r.id, &got, &e->err), &e->err);
    Str arn = cat_relation_arn(e->c, e->a, &got);
    ch = (CatChange){ .kind = CH_SWAP, .relation = &got, .next = S("m1"), .new_uuid = S("another") };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_relation_by_arn(e->c, e->a, arn, &got, &e->err), &e->err);
    assert_str(got.uuid, "another");
    assert_true(str_starts(arn, S("arn:aws:s3tables:us-east-1:123456789012:bucket/tb/table/")));
    assert_status(cat_relation_by_arn(e->c, e->a, str_cat(e->a, arn, S("x")), &got, &e->err), E_NOT_FOUND);
    assert_status(cat_relation_by_arn(e->c, e->a, w.arn, &got, &e->err), E_NOT_FOUND);
}

static void test_schedule_beside_a_run(void **state)
{
    Env *e = *state;
    CatRelation r = rel(REL_MVIEW, S("ns"), S("mv"), S("m"), S("s3://b/mv"));
    CatMview v = { .state = S("ACTIVE"), .schedule_s = 60, .next_due_ms = 500 }, run = {0}, got = {0};
    make_ns(e, S("ns"));
    assert_ok(make_mview(e, &r, &v), &e->err);
    assert_ok(cat_mview_get(e->c, e->a, r.id, &run, &e->err), &e->err);
    assert_ok(cat_mview_schedule(e->c, r.id, 0, 0, &e->err), &e->err);
    run.last_type = S("FULL");
    CatChange ch = { .kind = CH_MVIEW, .mview = &run };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_mview_get(e->c, e->a, r.id, &got, &e->err), &e->err);
    assert_str(got.last_type, "FULL");
    assert_int_equal(got.schedule_s, 0);
    assert_int_equal(got.next_due_ms, 0);
    assert_ok(cat_mview_postpone(e->c, r.id, 60, 900, &e->err), &e->err);      /* of the schedule that is gone */
    assert_ok(cat_mview_get(e->c, e->a, r.id, &got, &e->err), &e->err);
    assert_int_equal(got.next_due_ms, 0);
    got.schedule_s = 120;
    got.next_due_ms = 700;
    ch.mview = &got;
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(cat_mview_postpone(e->c, r.id, 120, 900, &e->err), &e->err);
    assert_ok(cat_mview_get(e->c, e->a, r.id, &got, &e->err), &e->err);
    assert_int_equal(got.schedule_s, 120);
    assert_int_equal(got.next_due_ms, 900);
    assert_status(cat_mview_schedule(e->c, r.id + 1, 60, 1, &e->err), E_NOT_FOUND);
    assert_status(cat_mview_quarantine(e->c, r.id, S("another run"), S("why"), &e->err), E_CONFLICT);
    assert_ok(cat_mview_quarantine(e->c, r.id, got.last_run, S("why"), &e->err), &e->err);
    assert_ok(cat_mview_get(e->c, e->a, r.id, &got, &e->err), &e->err);
    assert_str(got.quarantine, "why");
}

static Status add_evidence(Env *e, int64_t id, Str hash, Str prev)
{
    CatEvidence ev = { .relation_id = id, .hash = hash, .prev_hash = prev, .signature = S("\x00\x01sig"), .body = json_object(e->a) };
    CatChange ch = { .kind = CH_EVIDENCE, .evidence = &ev };
    return cat_commit(e->c, &ch, 1, &e->err);
}

static void test_evidence_is_a_chain(void **state)
{
    Env *e = *state;
    CatRelation r = rel(REL_MVIEW, S("ns"), S("mv"), S("m"), S("s3://b/mv"));
    CatMview v = { .managed = 1 };
    CatEvidence head = {0};
    make_ns(e, S("ns"));
    assert_ok(make_mview(e, &r, &v), &e->err);
    assert_status(cat_evidence_head(e->c, e->a, r.id, &head, &e->err), E_NOT_FOUND);
    assert_ok(add_evidence(e, r.id, S("h1"), (Str){0}), &e->err);
    assert_status(add_evidence(e, r.id, S("h2"), (Str){0}), E_CONFLICT);
    assert_ok(add_evidence(e, r.id, S("h2"), S("h1")), &e->err);
    assert_ok(cat_evidence_head(e->c, e->a, r.id, &head, &e->err), &e->err);
    assert_int_equal(head.seq, 2);
    assert_int_equal(head.signature.n, 5);
}

static void test_runs_recover(void **state)
{
    Env *e = *state;
    CatRun run = { .id = S("r1"), .relation_id = 7, .status = S("RUNNING"), .created_ms = 1 }, got = {0};
    CatChange ch = { .kind = CH_RUN, .run = &run };
    CatRuns list = {0};
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    reopen(e);
    assert_ok(cat_run_recover(e->c, e->a, &list, &e->err), &e->err);
    assert_int_equal(list.n, 1);
    assert_ok(cat_run_get(e->c, e->a, S("r1"), &got, &e->err), &e->err);
    assert_str(got.status, "FAILED");
    assert_ok(cat_run_recover(e->c, e->a, &list, &e->err), &e->err);
    assert_int_equal(list.n, 0);
}

static bool file_holds(Env *e, const char *name, Str needle)
{
    static char buf[1 << 20];
    CLEANUP(file_closep) int fd = open(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, name)), O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf);
    return n > 0 && memmem(buf, (size_t)n, needle.p, needle.n);
}

static void test_keys_are_sealed(void **state)
{
    Env *e = *state;
    CatKey k = { .id = S("AKIA1"), .secret = S("topsecret-value"), .principal = S("arn:aws:iam::123456789012:root"), .active = 1 }, got = {0};
    CatKey s = { .id = S("ASIA1"), .secret = S("session-secret"), .token = S("tok"), .principal = S("arn:aws:iam::123456789012:root"), .expires_ms = 100, .active = 1 };
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    assert_ok(cat_key_put(e->c, &s, &e->err), &e->err);
    assert_false(file_holds(e, "catalog.db", k.secret) || file_holds(e, "catalog.db-wal", k.secret));
    assert_true(file_holds(e, "catalog.db", k.id) || file_holds(e, "catalog.db-wal", k.id));
    reopen(e);
    assert_ok(cat_key_get(e->c, e->a, S("AKIA1"), &got, &e->err), &e->err);
    assert_str(got.secret, "topsecret-value");
    assert_null(got.scope);
    assert_ok(cat_key_expire(e->c, 100, &e->err), &e->err);
    assert_status(cat_key_get(e->c, e->a, S("ASIA1"), &got, &e->err), E_NOT_FOUND);
}

static void test_reset_keeps_root(void **state)
{
    Env *e = *state;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m"), S("s3://b/t"));
    CatKey k = { .id = S("AKIA1"), .secret = S("x"), .principal = S("arn:aws:iam::123456789012:root"), .active = 1 };
    CatKey u = { .id = S("AKIA2"), .secret = S("x"), .principal = S("arn:aws:iam::123456789012:user/u"), .active = 1 };
    CatNamespaces list = {0};
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    assert_ok(cat_key_put(e->c, &u, &e->err), &e->err);
    assert_ok(cat_reset(e->c, &e->err), &e->err);
    assert_ok(cat_namespace_list(e->c, e->a, S("123456789012"), (Str){0}, (CatPage){0}, &list, &e->err), &e->err);
    assert_int_equal(list.n, 0);
    assert_ok(cat_key_get(e->c, e->a, S("AKIA1"), &k, &e->err), &e->err);
    assert_status(cat_key_get(e->c, e->a, S("AKIA2"), &u, &e->err), E_NOT_FOUND);
}

static void test_docs(void **state)
{
    Env *e = *state;
    Json *j = json_object(e->a), *got = NULL;
    CatDocs list = {0};
    json_set(e->a, j, "n", json_int(e->a, 5));
    CatChange ch[2] = { { .kind = CH_DOC, .doc_kind = S("conn"), .doc_key = S("a_1"), .doc = j },
                        { .kind = CH_DOC, .doc_kind = S("conn"), .doc_key = S("b"), .doc = j } };
    assert_ok(cat_commit(e->c, ch, 2, &e->err), &e->err);
    assert_ok(cat_doc_get(e->c, e->a, S("conn"), S("a_1"), &got, &e->err), &e->err);
    assert_int_equal(json_get_int(got, "n", 0), 5);
    assert_ok(cat_doc_list(e->c, e->a, S("conn"), S("a_"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 1);
    ch[0].doc = NULL;
    assert_ok(cat_commit(e->c, ch, 1, &e->err), &e->err);
    assert_status(cat_doc_get(e->c, e->a, S("conn"), S("a_1"), &got, &e->err), E_NOT_FOUND);
}

/* A prefix ends where the next letter begins, whatever the letters are. */
static void test_docs_by_prefix(void **state)
{
    Env *e = *state;
    Str keys[] = { S("a"), S("a\x1E"), S("a\x1E" "b"), S("a\x1E\xF4\x8F\xBF\xBF"), S("a\x1F"), S("aa"), S("b\xC3\xBF"), S("b\xC3\xBFz"), S("b\xC4\x80") };
    Json *j = json_object(e->a);
    CatDocs list = {0};

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        CatChange ch = { .kind = CH_DOC, .doc_kind = S("p"), .doc_key = keys[i], .doc = j };
        assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    }
    assert_ok(cat_doc_list(e->c, e->a, S("p"), S("a\x1E"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 3);
    assert_ok(cat_doc_list(e->c, e->a, S("p"), S("b\xC3\xBF"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 2);
    assert_ok(cat_doc_list(e->c, e->a, S("p"), (Str){0}, &list, &e->err), &e->err);
    assert_int_equal(list.n, COUNT_OF(keys));
    assert_ok(cat_doc_list(e->c, e->a, S("q"), S("a"), &list, &e->err), &e->err);
    assert_int_equal(list.n, 0);
}

static void *race(void *arg)
{
    Env *e = arg;
    Error err;
    long won = 0;
    for (int i = 0; i < 20; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        CatRelation got = {0};
        if (cat_relation_get(e->c, a, S("123456789012"), S("ns"), S("t"), &got, &err) != OK)
            return (void *)-1;
        CatChange ch = { .kind = CH_SWAP, .relation = &got, .expected = got.metadata_location, .next = uuid_v4(a) };
        Status s = cat_commit(e->c, &ch, 1, &err);
        won += s == OK;
        if (s != OK && s != E_CONFLICT)
            return (void *)-1;
    }
    return (void *)won;
}

/* Whoever is told OK has moved the pointer: as many tokens as wins. */
static void test_threads_race(void **state)
{
    Env *e = *state;
    pthread_t th[6];
    long total = 0;
    CatRelation t = rel(REL_TABLE, S("ns"), S("t"), S("m"), S("s3://b/t"));
    make_ns(e, S("ns"));
    assert_ok(create(e, &t), &e->err);
    for (size_t i = 0; i < COUNT_OF(th); i++)
        assert_int_equal(pthread_create(&th[i], NULL, race, e), 0);
    for (size_t i = 0; i < COUNT_OF(th); i++) {
        void *won;
        pthread_join(th[i], &won);
        assert_true((long)won >= 0);
        total += (long)won;
    }
    assert_true(total >= 20);
}

static void test_backup(void **state)
{
    Env *e = *state;
    Str to = str_fmt(e->a, "%s/copy.db", e->dir);
    make_ns(e, S("ns"));
    assert_ok(cat_backup(e->c, to, &e->err), &e->err);
    assert_status(cat_backup(e->c, to, &e->err), E_EXISTS);
    cat_close(e->c);
    assert_ok(cat_open(to, S("123456789012"), S("us-east-1"), &e->c, &e->err), &e->err);
    CatNamespace n = {0};
    assert_ok(cat_namespace_get(e->c, e->a, S("123456789012"), S("ns"), &n, &e->err), &e->err);
    assert_ok(cat_probe(e->c, &e->err), &e->err);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_account_is_fixed), T(test_key_files), T(test_namespaces), T(test_namespace_paging_and_props), T(test_names_are_taken_once),
        T(test_swap), T(test_versions_and_extra), T(test_documents_of_relations), T(test_all_or_nothing), T(test_rename_and_drop), T(test_by_location), T(test_storage_has_one_owner), T(test_mview), T(test_integrity), T(test_tables_by_arn), T(test_schedule_beside_a_run), T(test_evidence_is_a_chain),
        T(test_runs_recover), T(test_keys_are_sealed), T(test_reset_keeps_root), T(test_docs), T(test_docs_by_prefix), T(test_threads_race), T(test_backup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
