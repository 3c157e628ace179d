/* SPDX-License-Identifier: Apache-2.0 */
/* remote_life_test.h - the life of a table that is reached through remote/ and lake/ on a remote store: made, written, deleted from, read at snapshots, compared, dropped. */
#ifndef FIRN_REMOTE_LIFE_TEST_H
#define FIRN_REMOTE_LIFE_TEST_H

#include "base/test.h"
#include "lake/lake.h"
#include "remote/remote.h"

typedef struct Client {
    Arena *a;
    Str ns;
    DuckEngine *engine;
    DuckConn *conn;
    RemoteCatalog *remote;
    RemoteTable t;
    Lake *l;
    LakeTable lt;
    Error err;
} Client;

static UNUSED void client_start(Client *e, Arena *a, Str ns)
{
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 2 };
    *e = (Client){ .a = a, .ns = ns };
    assert_ok(duck_open(&o, &e->engine, &e->err), &e->err);
    assert_ok(duck_connect(e->engine, &e->conn, &e->err), &e->err);
}

static UNUSED void end_table(Client *e)
{
    lake_free(e->l);
    e->l = NULL;
    remote_table_end(&e->t);
}

static UNUSED void client_stop(Client *e)
{
    duck_disconnect(e->conn);
    duck_close(e->engine);
    end_table(e);
    remote_close(e->remote);
}

static UNUSED void open_remote(Client *e, RemoteOptions o)
{
    assert_ok(remote_open(&o, &e->remote, &e->err), &e->err);
}

static UNUSED IceField column(Arena *a, int32_t id, const char *name, IceTypeKind kind)
{
    IceType *t = arena_new(a, IceType);
    t->kind = kind;
    return (IceField){ .id = id, .name = str_c(name), .type = t };
}

static UNUSED void use_table(Client *e)
{
    lake_free(e->l);
    e->l = lake_new(NULL, e->t.store, NULL);
    e->lt = (LakeTable){ .meta = e->t.meta, .relation = { .metadata_location = e->t.metadata_location, .uuid = e->t.meta->uuid } };
}

static UNUSED void create_table(Client *e, int partitioned, const char *version)
{
    IceSchema *s = arena_new(e->a, IceSchema);
    IceSpec *spec = arena_new(e->a, IceSpec);
    RemoteNew n = { .schema = s, .spec = partitioned ? spec : NULL };

    vec_push(e->a, &s->fields, column(e->a, 1, "id", ICE_LONG));
    vec_push(e->a, &s->fields, column(e->a, 2, "region", ICE_STRING));
    vec_push(e->a, &spec->fields, ((IcePartitionField){ .source_id = 2, .field_id = 1000, .name = S("region"), .transform = ice_transform_parse(S("identity")) }));
    props_set(e->a, &n.props, S("format-version"), str_c(version));
    Status st = remote_namespace_create(e->remote, e->ns, &e->err);
    if (st != E_EXISTS)
        assert_ok(st, &e->err);
    assert_ok(remote_table_create(e->remote, e->a, e->ns, S("t"), &n, &e->t, &e->err), &e->err);
    use_table(e);
}

static UNUSED Status commit(Client *e, const IceChange *ch)
{
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    StrVec written = {0};

    assert_ok(ice_change_prepare(e->a, e->t.store, e->t.meta, ch, clock_ms(), &ups, &rqs, &written, &e->err), &e->err);
    TRY(remote_table_commit(&e->t, e->a, &ups, &rqs, &e->err));
    use_table(e);
    return OK;
}

static UNUSED void prepare_insert(Client *e, const char *values, IceChange *ch)
{
    LakeWrite w = { .table = &e->lt, .schema = ice_current_schema(e->t.meta) };
    LakeFiles files = {0};
    int64_t rows;

    *ch = (IceChange){ .operation = S("append"), .base_snapshot = e->t.meta->current_snapshot_id };
    props_set(e->a, &ch->summary, S("mz-frontier"), S("[7]"));
    Str sql = str_fmt(e->a, "SELECT CAST(a AS BIGINT) AS id, CAST(b AS VARCHAR) AS region FROM (VALUES %s) v(a, b)", values);
    assert_ok(lake_write(e->l, e->a, e->conn, &w, sql, &files, &rows, &e->err), &e->err);
    for (size_t i = 0; i < files.n; i++)
        vec_push(e->a, &ch->add_data, files.p[i].file);
}

static UNUSED void insert(Client *e, const char *values)
{
    IceChange ch;
    prepare_insert(e, values, &ch);
    assert_ok(commit(e, &ch), &e->err);
}

static UNUSED LakeRelation scan_of(Client *e, const IceSnapshot *s, int positions)
{
    LakeScan scan = { .snapshot = s, .schema = ice_current_schema(e->t.meta), .positions = positions };
    LakeRelation rel;
    assert_ok(lake_scan(e->l, e->a, e->conn, &e->lt, &scan, &rel, &e->err), &e->err);
    return rel;
}

static UNUSED void delete_where(Client *e, const char *cond)
{
    IceChange ch = { .operation = S("delete"), .base_snapshot = e->t.meta->current_snapshot_id };
    LakeRelation rel = scan_of(e, ice_current_snapshot(e->t.meta), 1);
    LakeFiles files = {0};
    int64_t rows;

    Str sql = str_fmt(e->a, "SELECT __file, __pos FROM (" STR_FMT ") q WHERE %s", STR_ARG(rel.sql), cond);
    assert_ok(lake_delete_rows(e->l, e->a, e->conn, &e->lt, sql, &ch, &files, &rows, &e->err), &e->err);
    assert_ok(commit(e, &ch), &e->err);
}

static UNUSED Str one_text(Client *e, Str sql)
{
    Str ret = S("");
    bool has;
    assert_ok(duck_scalar_str(e->conn, e->a, sql, &ret, &has, &e->err), &e->err);
    return ret;
}

static UNUSED Str rows_at(Client *e, const IceSnapshot *s)
{
    LakeRelation rel = scan_of(e, s, 0);
    return one_text(e, str_fmt(e->a, "SELECT string_agg(id || region, ' ' ORDER BY id) FROM (" STR_FMT ") q", STR_ARG(rel.sql)));
}

static UNUSED Str rows_now(Client *e) { return rows_at(e, ice_current_snapshot(e->t.meta)); }

static UNUSED Str changes_between(Client *e, const IceSnapshot *from, const IceSnapshot *to)
{
    LakeChanges ch = {0};
    assert_ok(lake_changes(e->l, e->a, e->conn, &e->lt, from, to, ice_current_schema(e->t.meta), NULL, &ch, &e->err), &e->err);
    return one_text(e, str_fmt(e->a, "SELECT string_agg(w || ':' || id, ' ' ORDER BY id, w) FROM (SELECT id, sum(__w) AS w FROM (" STR_FMT ") q GROUP BY id HAVING sum(__w) <> 0)",
                               STR_ARG(ch.relation.sql)));
}

/* ---- a life ------------------------------------------------------------------------------------------------------------------ */

static UNUSED void life(Client *e, int partitioned, const char *version)
{
    RemoteNamespaces all = {0};

    create_table(e, partitioned, version);
    assert_ok(remote_namespaces(e->remote, e->a, &all, &e->err), &e->err);
    assert_true(all.n > 0);
    assert_str(rows_now(e), "");
    insert(e, "(1, 'a'), (2, 'b'), (3, 'a')");
    const IceSnapshot *first = ice_current_snapshot(e->t.meta);
    insert(e, "(4, 'c'), (5, 'a')");
    assert_str(rows_now(e), "1a 2b 3a 4c 5a");
    assert_str(rows_at(e, first), "1a 2b 3a");
    delete_where(e, "id IN (1, 4)");
    assert_str(rows_now(e), "2b 3a 5a");
    assert_str(changes_between(e, first, ice_current_snapshot(e->t.meta)), "-1:1 1:5");
    assert_str(changes_between(e, NULL, ice_current_snapshot(e->t.meta)), "1:2 1:3 1:5");

    end_table(e);                                    /* as another process would see it */
    assert_ok(remote_table_load(e->remote, e->a, e->ns, S("t"), &e->t, &e->err), &e->err);
    use_table(e);
    assert_str(rows_now(e), "2b 3a 5a");
    assert_int_equal(e->t.meta->snapshots.n, 3);
    assert_str(props_get(&e->t.meta->snapshots.p[0]->summary, S("mz-frontier"), S("")), "[7]");
    end_table(e);
    assert_ok(remote_table_drop(e->remote, e->ns, S("t"), &e->err), &e->err);
    assert_status(remote_table_load(e->remote, e->a, e->ns, S("t"), &e->t, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchTable");
}

#endif
