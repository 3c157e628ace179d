/* SPDX-License-Identifier: Apache-2.0 */
/* deletes.c - rows that go, as delete files.
 *
 * Format 2: position delete files, one for each partition that is touched, sorted by file and position.  Format 3: deletion
 * vectors, one Puffin file a commit; the vector of a data file replaces what was there (older positions are merged into it).
 * A data file that keeps no row is removed whole: no delete file is needed for it.
 *
 * Invariant: every position is of a row that is live at the table's snapshot; the caller read it there. */
#include "lake/scan_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct FileHits { const IceTask *task; Str local; Positions positions; } FileHits;

typedef struct DeleteJob {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeTable *table;
    Map by_local;                     /* local path: FileHits */
    IceChange *ch;
    LakeFiles *files;
    int64_t rows;
} DeleteJob;

static Status index_tasks(DeleteJob *j, Error *err)
{
    IceScan *scan = arena_new(j->a, IceScan);
    const IceSnapshot *s = ice_current_snapshot(j->table->meta);

    j->by_local = map_new(j->a);
    if (s)
        TRY(ice_scan(j->a, j->lake->store, j->table->meta, s, NULL, scan, err));
    for (size_t i = 0; i < scan->tasks.n; i++) {
        FileHits *h = arena_new(j->a, FileHits);
        h->task = &scan->tasks.p[i];
        TRY(store_local_path(j->lake->store, j->a, h->task->data->file.path, &h->local, err));
        map_put(&j->by_local, h->local, h);
    }
    return OK;
}

/* Rows come ordered by file and position, without doubles. */
static Status collect(DeleteJob *j, Str sql, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    FileHits *h = NULL;
    size_t n;

    TRY(duck_query(j->c, str_fmt(j->a, "SELECT DISTINCT CAST(__file AS VARCHAR), CAST(__pos AS BIGINT) FROM (" STR_FMT ") q ORDER BY 1, 2", STR_ARG(sql)), &r, err));
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++) {
            Str file = duck_value(j->a, r, 0, i).string;
            if (!h || !str_eq(h->local, file))
                h = map_get(&j->by_local, file);
            if (!h)
                return FAIL(err, E_CONFLICT, "a row to delete lies in a file that is no longer part of the table");
            vec_push(j->a, &h->positions, (uint64_t)duck_value(j->a, r, 1, i).integer);
            j->rows++;
        }
    }
}

static int64_t live_rows(const IceTask *t)
{
    int64_t n = t->data->file.record_count;
    for (size_t i = 0; i < t->deletes.n; i++)
        if (t->deletes.p[i]->file.content == CONTENT_EQUALITY_DELETES || !t->deletes.p[i]->file.referenced_data_file.n)
            return INT64_MAX;                     /* not known: never removed whole */
        else
            n -= t->deletes.p[i]->file.record_count;
    return n;
}

/* ---- format 2 --------------------------------------------------------------------------------------------------------------- */

typedef VEC(FileHits *) Hits;

static Status append_positions(DeleteJob *j, Str table, const Hits *hits, Error *err)
{
    const DuckColumn cols[] = { { S("file_path"), { .kind = DT_STRING } }, { S("pos"), { .kind = DT_INT64 } } };
    DuckAppender *ap;

    TRY(duck_temp_table(j->c, table, cols, COUNT_OF(cols), &ap, err));
    for (size_t i = 0; i < hits->n; i++)
        for (size_t k = 0; k < hits->p[i]->positions.n; k++) {
            duck_append_str(ap, hits->p[i]->task->data->file.path);
            duck_append_i64(ap, (int64_t)hits->p[i]->positions.p[k]);
            duck_end_row(ap);
        }
    return duck_append_done(ap, err);
}

static IceFile position_file(DeleteJob *j, const Hits *hits)
{
    const IceFile *data = &hits->p[0]->task->data->file;
    const IceSpec *spec = ice_spec(j->table->meta, data->spec_id);
    IceFile f = { .content = CONTENT_POSITION_DELETES, .format = S("PARQUET"), .spec_id = data->spec_id,
                  .partition = data->partition, .npartition = data->npartition };
    Str dir = spec ? ice_partition_path(j->a, spec, ice_current_schema(j->table->meta), data->partition) : (Str){0};

    for (size_t i = 0; i < hits->n; i++)
        f.record_count += (int64_t)hits->p[i]->positions.n;
    if (hits->n == 1)
        f.referenced_data_file = data->path;
    f.path = ice_data_location(j->a, j->table->meta, dir, str_fmt(j->a, "00000-0-" STR_FMT "-deletes.parquet", STR_ARG(uuid_v4(j->a))));
    Str first = hits->p[0]->task->data->file.path, last = first;
    for (size_t i = 1; i < hits->n; i++) {
        Str p = hits->p[i]->task->data->file.path;
        first = str_cmp(p, first) < 0 ? p : first;
        last = str_cmp(p, last) > 0 ? p : last;
    }
    vec_push(j->a, &f.lower, ((IceBound){ 2147483546, first }));
    vec_push(j->a, &f.upper, ((IceBound){ 2147483546, last }));
    return f;
}

static Status write_positions(DeleteJob *j, const Hits *hits, Error *err)
{
    Str table = str_fmt(j->a, "__wd%llu", (unsigned long long)lake_serial(j->lake));
    Str local = str_fmt(j->a, STR_FMT "/deletes-" STR_FMT ".parquet", STR_ARG(store_scratch(j->lake->store)), STR_ARG(uuid_v4(j->a)));
    LakeFile lf = { .file = position_file(j, hits) };
    ObjectInfo info;
    Error ignored;

    TRY(append_positions(j, table, hits, err));
    Str copy = str_fmt(j->a, "COPY (SELECT file_path, pos FROM temp." STR_FMT " ORDER BY file_path, pos) TO " STR_FMT
                       " (FORMAT parquet, COMPRESSION zstd, FIELD_IDS {file_path: 2147483546, pos: 2147483545})",
                       STR_ARG(table), STR_ARG(sql_lit_str(j->a, local)));
    Status s = duck_exec(j->c, copy, err);
    if (duck_exec(j->c, str_fmt(j->a, "DROP TABLE temp." STR_FMT, STR_ARG(table)), &ignored) != OK && s == OK)
        s = FAIL(err, E_INTERNAL, "%s", ignored.message);
    if (s == OK)
        s = store_adopt(j->lake->store, lf.file.path, local, j->a, &info, err);
    if (s != OK) {
        unlink(local.p);
        return s;
    }
    lf.file.size = info.size;
    lf.sha256 = str_dup(j->a, info.sha256);
    vec_push(j->a, j->files, lf);
    vec_push(j->a, &j->ch->add_deletes, lf.file);
    return OK;
}

static Str partition_key(Arena *a, const LakeTable *t, const IceFile *f)
{
    const IceSpec *spec = ice_spec(t->meta, f->spec_id);
    return str_fmt(a, "%d/" STR_FMT, f->spec_id, STR_ARG(spec ? ice_partition_path(a, spec, ice_current_schema(t->meta), f->partition) : (Str){0}));
}

static Status write_v2(DeleteJob *j, const Hits *hits, Error *err)
{
    Map groups = map_new(j->a);

    for (size_t i = 0; i < hits->n; i++) {
        Str key = partition_key(j->a, j->table, &hits->p[i]->task->data->file);
        Hits *g = map_get(&groups, key);
        if (!g) {
            g = arena_new(j->a, Hits);
            map_put(&groups, key, g);
        }
        vec_push(j->a, g, hits->p[i]);
    }
    for (size_t i = 0; i < groups.n; i++)
        TRY(write_positions(j, groups.entries[i].value, err));
    return OK;
}

/* ---- format 3 ----------------------------------------------------------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static void sort_unique(Positions *p)
{
    size_t n = 0;
    qsort(p->p, p->n, sizeof *p->p, by_value);
    for (size_t i = 0; i < p->n; i++)
        if (!i || p->p[i] != p->p[i - 1])
            p->p[n++] = p->p[i];
    p->n = n;
}

static Status read_position_file(DeleteJob *j, const IceFile *d, Str data_path, Positions *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Str local;
    size_t n;

    TRY(lake_file_allowed(j->lake, j->a, j->table, d->path, err));
    TRY(store_local_path(j->lake->store, j->a, d->path, &local, err));
    TRY(duck_query(j->c, str_fmt(j->a, "SELECT CAST(pos AS BIGINT) FROM read_parquet(" STR_FMT ", hive_partitioning = false) WHERE file_path = " STR_FMT,
                                 STR_ARG(sql_lit_str(j->a, local)), STR_ARG(sql_lit_str(j->a, data_path))), &r, err));
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++)
            vec_push(j->a, ret, (uint64_t)duck_value(j->a, r, 0, i).integer);
    }
}

/* Old positions of the data file join the new ones: the vector written here replaces its old vector and its own position deletes. */
static Status merge_old(DeleteJob *j, FileHits *h, Error *err)
{
    for (size_t i = 0; i < h->task->deletes.n; i++) {
        const IceFile *d = &h->task->deletes.p[i]->file;
        Positions old = {0};
        if (d->content != CONTENT_POSITION_DELETES)
            continue;
        if (str_eq(d->format, S("PUFFIN")))
            TRY(ice_dv_read(j->a, j->lake->store, d, &old, err));
        else
            TRY(read_position_file(j, d, h->task->data->file.path, &old, err));
        for (size_t k = 0; k < old.n; k++)
            vec_push(j->a, &h->positions, old.p[k]);
    }
    sort_unique(&h->positions);
    return OK;
}

static Status write_v3(DeleteJob *j, const Hits *hits, Error *err)
{
    IceDv *dvs = arena_array(j->a, IceDv, hits->n + 1);
    Str path = ice_data_location(j->a, j->table->meta, (Str){0}, str_fmt(j->a, "00000-0-" STR_FMT "-deletes.puffin", STR_ARG(uuid_v4(j->a))));
    ObjectInfo info;
    int64_t size;

    for (size_t i = 0; i < hits->n; i++) {
        TRY(merge_old(j, hits->p[i], err));
        dvs[i] = (IceDv){ .data_file = hits->p[i]->task->data->file.path, .positions = hits->p[i]->positions };
    }
    TRY(ice_dv_write(j->a, j->lake->store, path, dvs, hits->n, &size, err));
    TRY(store_stat(j->lake->store, j->a, path, &info, err));
    for (size_t i = 0; i < hits->n; i++) {
        const IceFile *data = &hits->p[i]->task->data->file;
        IceFile f = { .content = CONTENT_POSITION_DELETES, .format = S("PUFFIN"), .path = path, .spec_id = data->spec_id, .partition = data->partition,
                      .npartition = data->npartition, .record_count = (int64_t)dvs[i].positions.n, .size = size, .referenced_data_file = data->path,
                      .content_offset = SOME_I64(dvs[i].offset), .content_size = SOME_I64(dvs[i].size) };
        vec_push(j->a, &j->ch->add_deletes, f);
    }
    vec_push(j->a, j->files, ((LakeFile){ .file = { .path = path, .size = size, .content = CONTENT_POSITION_DELETES, .format = S("PUFFIN") }, .sha256 = str_dup(j->a, info.sha256) }));
    return OK;
}

Status lake_delete_rows(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str sql, IceChange *ch, LakeFiles *files, int64_t *rows, Error *err)
{
    DeleteJob j = { .lake = l, .a = a, .c = c, .table = t, .ch = ch, .files = files };
    Hits hits = {0};

    TRY(index_tasks(&j, err));
    TRY(collect(&j, sql, err));
    for (size_t i = 0; i < j.by_local.n; i++) {
        FileHits *h = j.by_local.entries[i].value;
        if (!h->positions.n)
            continue;
        if ((int64_t)h->positions.n >= live_rows(h->task))
            vec_push(a, &ch->remove_data, h->task->data->file.path);
        else
            vec_push(a, &hits, h);
    }
    *rows = j.rows;
    if (!hits.n)
        return OK;
    return t->meta->format_version >= 3 ? write_v3(&j, &hits, err) : write_v2(&j, &hits, err);
}
