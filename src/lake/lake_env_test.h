/* SPDX-License-Identifier: Apache-2.0 */
/* lake_env_test.h - a table of (id long, region string) over a real store, catalog and engine, for tests. */
#ifndef FIRN_LAKE_ENV_TEST_H
#define FIRN_LAKE_ENV_TEST_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lake/maintain.h"
#include "test.h"

typedef struct Env { Arena *a; Str dir; Store *s; Catalog *cat; Lake *l; DuckEngine *e; DuckConn *c; LakeTable t; Error err; } Env;

static inline IceField column(Arena *a, int32_t id, Str name, IceTypeKind kind)
{
    IceType *t = arena_new(a, IceType);
    t->kind = kind;
    return (IceField){ .id = id, .name = name, .type = t };
}

static inline LakeTable new_table(Env *e, const char *name, Str location, int partitioned)
{
    IceSchema *s = arena_new(e->a, IceSchema);
    IceSpec *spec = arena_new(e->a, IceSpec);
    LakeTable t = {0};

    vec_push(e->a, &s->fields, column(e->a, 1, S("id"), ICE_LONG));
    vec_push(e->a, &s->fields, column(e->a, 2, S("region"), ICE_STRING));
    if (partitioned)
        vec_push(e->a, &spec->fields, ((IcePartitionField){ .source_id = 2, .name = S("region"), .transform = ice_transform_parse(S("identity")) }));
    IceNewTable nt = { .schema = s, .spec = spec, .location = location, .format_version = 2 };
    assert_ok(ice_metadata_new(e->a, &nt, &t.meta, &e->err), &e->err);
    Str file = ice_metadata_next_location(e->a, t.meta, (Str){0});
    assert_ok(ice_metadata_write(e->a, e->s, t.meta, file, &e->err), &e->err);
    CatRelation rel = { .catalog = S("123456789012"), .namespace = S("ns"), .name = str_c(name), .kind = REL_TABLE, .uuid = t.meta->uuid,
                        .metadata_location = file, .location = location, .owner = S("me") };
    CatChange ch = { .kind = CH_CREATE, .relation = &rel };
    assert_ok(cat_commit(e->cat, &ch, 1, &e->err), &e->err);
    assert_ok(lake_open(e->l, e->a, rel.catalog, rel.namespace, rel.name, &t, &e->err), &e->err);
    return t;
}

static inline int set_up(void **state)
{
    Env *e = calloc(1, sizeof *e);
    char dir[] = "/tmp/firn-lake-XXXXXX";
    BucketInfo b = { .name = S("w"), .owner = S("me"), .region = S("us-east-1") };
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 2 };

    e->a = arena_create();
    assert_non_null(mkdtemp(dir));
    e->dir = str_dup(e->a, str_c(dir));
    StoreOptions so = { .dir = str_cat(e->a, e->dir, S("/store")) };
    assert_ok(store_open_local(&so, &e->s, &e->err), &e->err);
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    assert_ok(cat_open(str_cat(e->a, e->dir, S("/catalog.db")), S("123456789012"), S("us-east-1"), &e->cat, &e->err), &e->err);
    CatNamespace ns = { .catalog = S("123456789012"), .name = S("ns"), .uuid = S("u") };
    assert_ok(cat_namespace_create(e->cat, &ns, &e->err), &e->err);
    assert_ok(duck_open(&o, &e->e, &e->err), &e->err);
    assert_ok(duck_connect(e->e, &e->c, &e->err), &e->err);
    e->l = lake_new(e->cat, e->s, NULL);
    e->t = new_table(e, "t", S("s3://w/t"), 0);
    *state = e;
    return 0;
}

static inline int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *ftw UNUSED) { return remove(path); }

static inline int tear_down(void **state)
{
    Env *e = *state;
    duck_disconnect(e->c);
    duck_close(e->e);
    lake_free(e->l);
    cat_close(e->cat);
    store_close(e->s);
    nftw(e->dir.p, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* ---- making rows ------------------------------------------------------------------------------------------------------------ */

static inline LakeTable insert(Env *e, LakeTable t, const char *values)
{
    LakeWrite w = { .table = &t, .schema = ice_current_schema(t.meta) };
    LakeFiles files = {0};
    IceChange ch = { .operation = S("append") };
    LakeTable next;
    int64_t rows;

    Str sql = str_fmt(e->a, "SELECT CAST(a AS BIGINT) AS id, CAST(b AS VARCHAR) AS region FROM (VALUES %s) v(a, b)", values);
    assert_ok(lake_write(e->l, e->a, e->c, &w, sql, &files, &rows, &e->err), &e->err);
    for (size_t i = 0; i < files.n; i++)
        vec_push(e->a, &ch.add_data, files.p[i].file);
    assert_ok(lake_commit(e->l, e->a, &t, &ch, NULL, 0, &next, &e->err), &e->err);
    return next;
}

static inline LakeRelation scan_of(Env *e, const LakeTable *t, const IceSnapshot *s, int positions)
{
    LakeScan scan = { .snapshot = s, .schema = ice_current_schema(t->meta), .positions = positions };
    LakeRelation rel;
    assert_ok(lake_scan(e->l, e->a, e->c, t, &scan, &rel, &e->err), &e->err);
    return rel;
}

static inline LakeTable delete_where(Env *e, LakeTable t, const char *cond)
{
    IceChange ch = { .operation = S("delete"), .check_conflicts = 1, .base_snapshot = t.meta->current_snapshot_id };
    LakeRelation rel = scan_of(e, &t, ice_current_snapshot(t.meta), 1);
    LakeFiles files = {0};
    LakeTable next;
    int64_t rows;

    Str sql = str_fmt(e->a, "SELECT __file, __pos FROM (" STR_FMT ") q WHERE %s", STR_ARG(rel.sql), cond);
    assert_ok(lake_delete_rows(e->l, e->a, e->c, &t, sql, &ch, &files, &rows, &e->err), &e->err);
    assert_ok(lake_commit(e->l, e->a, &t, &ch, NULL, 0, &next, &e->err), &e->err);
    return next;
}

static inline LakeTable now(Env *e, const LakeTable *t)
{
    LakeTable r;
    assert_ok(lake_open(e->l, e->a, t->relation.catalog, t->relation.namespace, t->relation.name, &r, &e->err), &e->err);
    return r;
}

static inline Str rows_at(Env *e, const LakeTable *t, const IceSnapshot *s)
{
    LakeRelation rel = scan_of(e, t, s, 0);
    Str ret = S("");
    bool has;
    Str sql = str_fmt(e->a, "SELECT string_agg(id || region, ' ' ORDER BY id) FROM (" STR_FMT ") q", STR_ARG(rel.sql));
    assert_ok(duck_scalar_str(e->c, e->a, sql, &ret, &has, &e->err), &e->err);
    return ret;
}

static inline Str rows_of(Env *e, const LakeTable *t) { return rows_at(e, t, ice_current_snapshot(t->meta)); }

#endif
