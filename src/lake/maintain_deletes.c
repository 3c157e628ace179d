/* SPDX-License-Identifier: Apache-2.0 */
/* maintain_deletes.c - many small position delete files of a partition become one; positions in files that are gone are left out.
 *
 * Format 2 only: deletion vectors are one a data file by nature.
 * Invariant: the new file holds exactly the positions that the old ones held for live data files; its later sequence number changes
 * nothing, because a position names its file. */
#include "lake/maintain.h"
#include "lake/lake_int.h"

#include <unistd.h>

enum { DELETE_ROUNDS = 4, DELETE_MIN_INPUT = 5, DELETE_PATH_ID = 2147483546, DELETE_POS_ID = 2147483545 };

typedef struct DeleteGroup { const IceFile *like; Map deletes, data; int64_t bytes; } DeleteGroup;     /* path: IceFile */

typedef struct Merge {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    LakeTable table;
    const IceSnapshot *snapshot;
    IceScan scan;
    Map groups;                       /* partition: DeleteGroup */
    LakeFiles files;
    IceChange change;
    LakeMergedDeletes *ret;
} Merge;

/* ---- the plan ---------------------------------------------------------------------------------------------------------------- */

static DeleteGroup *group_for(Merge *m, const IceFile *d)
{
    const IceSpec *spec = ice_spec(m->table.meta, d->spec_id);
    Str path = spec ? ice_partition_path(m->a, spec, ice_current_schema(m->table.meta), d->partition) : (Str){0};
    Str key = str_fmt(m->a, "%d/" STR_FMT, (int)d->spec_id, STR_ARG(path));
    DeleteGroup *g = map_get(&m->groups, key);

    if (g)
        return g;
    g = arena_new(m->a, DeleteGroup);
    *g = (DeleteGroup){ .like = d, .deletes = map_new(m->a), .data = map_new(m->a) };
    map_put(&m->groups, key, g);
    return g;
}

static Status plan(Merge *m, Error *err)
{
    m->groups = map_new(m->a);
    TRY(lake_plan(m->lake, m->a, &m->table, m->snapshot, NULL, &m->scan, err));
    for (size_t i = 0; i < m->scan.tasks.n; i++)
        for (size_t k = 0; k < m->scan.tasks.p[i].deletes.n; k++) {
            IceFile *d = &m->scan.tasks.p[i].deletes.p[k]->file, *data = &m->scan.tasks.p[i].data->file;
            if (d->content != CONTENT_POSITION_DELETES || !str_eq(d->format, S("PARQUET")))
                continue;
            DeleteGroup *g = group_for(m, d);
            g->bytes += map_has(&g->deletes, d->path) ? 0 : d->size;
            map_put(&g->deletes, d->path, d);
            map_put(&g->data, data->path, data);
        }
    return OK;
}

/* ---- the work ------------------------------------------------------------------------------------------------------------------ */

static Status select_sql(Merge *m, const DeleteGroup *g, Str *ret, Error *err)
{
    StrBuf b = sb_new(m->a);

    sb_addc(&b, "SELECT DISTINCT CAST(file_path AS VARCHAR) AS file_path, CAST(pos AS BIGINT) AS pos FROM read_parquet([");
    for (size_t i = 0; i < g->deletes.n; i++) {
        Str local;
        TRY(lake_file_allowed(m->lake, m->a, &m->table, g->deletes.entries[i].key, err));
        TRY(store_local_path(m->lake->store, m->a, g->deletes.entries[i].key, &local, err));
        sb_addc(&b, i ? ", " : "");
        sql_lit(&b, local);
    }
    sb_addc(&b, "], hive_partitioning = false) WHERE file_path IN (");
    for (size_t i = 0; i < g->data.n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_lit(&b, g->data.entries[i].key);
    }
    sb_addc(&b, ") ORDER BY file_path, pos");
    *ret = sb_str(&b);
    return OK;
}

static IceFile described(Merge *m, const DeleteGroup *g)
{
    const IceSpec *spec = ice_spec(m->table.meta, g->like->spec_id);
    Str dir = spec ? ice_partition_path(m->a, spec, ice_current_schema(m->table.meta), g->like->partition) : (Str){0};
    IceFile f = { .content = CONTENT_POSITION_DELETES, .format = S("PARQUET"), .spec_id = g->like->spec_id, .partition = g->like->partition, .npartition = g->like->npartition };
    Str first = g->data.entries[0].key, last = first;

    for (size_t i = 1; i < g->data.n; i++) {
        first = str_cmp(g->data.entries[i].key, first) < 0 ? g->data.entries[i].key : first;
        last = str_cmp(g->data.entries[i].key, last) > 0 ? g->data.entries[i].key : last;
    }
    if (g->data.n == 1)
        f.referenced_data_file = first;
    vec_push(m->a, &f.lower, ((IceBound){ DELETE_PATH_ID, first }));
    vec_push(m->a, &f.upper, ((IceBound){ DELETE_PATH_ID, last }));
    f.path = ice_data_location(m->a, m->table.meta, dir, str_fmt(m->a, "00000-0-" STR_FMT "-deletes.parquet", STR_ARG(uuid_v4(m->a))));
    return f;
}

static Status write_merged(Merge *m, const DeleteGroup *g, Str local, Error *err)
{
    LakeFile lf = { .file = described(m, g) };
    ObjectInfo info;
    Str sql;
    bool has;

    TRY(select_sql(m, g, &sql, err));
    Str copy = str_fmt(m->a, "COPY (" STR_FMT ") TO " STR_FMT " (FORMAT parquet, COMPRESSION zstd, FIELD_IDS {file_path: %d, pos: %d})", STR_ARG(sql),
                       STR_ARG(sql_lit_str(m->a, local)), DELETE_PATH_ID, DELETE_POS_ID);
    TRY(duck_exec(m->c, copy, err));
    TRY(duck_scalar_i64(m->c, str_fmt(m->a, "SELECT num_rows FROM parquet_file_metadata(" STR_FMT ")", STR_ARG(sql_lit_str(m->a, local))), &lf.file.record_count, &has, err));
    if (!lf.file.record_count) {
        unlink(local.p);
        return OK;
    }
    TRY(store_adopt(m->lake->store, lf.file.path, local, m->a, &info, err));
    lf.file.size = info.size;
    lf.sha256 = str_dup(m->a, info.sha256);
    vec_push(m->a, &m->files, lf);
    vec_push(m->a, &m->change.add_deletes, lf.file);
    m->ret->added_files++;
    m->ret->added_bytes += info.size;
    return OK;
}

static Status merge_group(Merge *m, const DeleteGroup *g, Error *err)
{
    Str local = str_fmt(m->a, STR_FMT "/deletes-" STR_FMT ".parquet", STR_ARG(store_scratch(m->lake->store)), STR_ARG(uuid_v4(m->a)));
    Status s = write_merged(m, g, local, err);

    if (s != OK) {
        unlink(local.p);
        return s;
    }
    for (size_t i = 0; i < g->deletes.n; i++)
        vec_push(m->a, &m->change.remove_deletes, g->deletes.entries[i].key);
    m->ret->rewritten_files += (int64_t)g->deletes.n;
    m->ret->rewritten_bytes += g->bytes;
    return OK;
}

static Status merge_once(Merge *m, int64_t least, Error *err)
{
    LakeTable next;

    *m->ret = (LakeMergedDeletes){0};
    m->snapshot = ice_current_snapshot(m->table.meta);
    if (!m->snapshot || m->table.meta->format_version != 2)
        return OK;
    TRY(plan(m, err));
    for (size_t i = 0; i < m->groups.n; i++) {
        const DeleteGroup *g = m->groups.entries[i].value;
        if (g->deletes.n > 1 && (int64_t)g->deletes.n >= least)
            TRY(merge_group(m, g, err));
    }
    if (!m->change.remove_deletes.n)
        return OK;
    m->change.operation = S("replace");
    m->change.check_conflicts = 1;
    m->change.base_snapshot = SOME_I64(m->snapshot->id);
    return lake_commit(m->lake, m->a, &m->table, &m->change, NULL, 0, &next, err);
}

Status lake_merge_deletes(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, int64_t min_input_files, LakeMergedDeletes *ret, Error *err)
{
    LakeTable now = *t;

    for (int round = 1; ; round++) {
        Merge m = { .lake = l, .a = a, .c = c, .table = now, .ret = ret };
        CatRelation rel;
        Status s = merge_once(&m, min_input_files > 0 ? min_input_files : DELETE_MIN_INPUT, err);
        if (s == OK)
            return OK;
        lake_discard(l, &m.files);
        *ret = (LakeMergedDeletes){0};
        if (s != E_CONFLICT || round == DELETE_ROUNDS)
            return s;
        TRY(cat_relation_by_id(l->catalog, a, t->relation.id, &rel, err));
        TRY(lake_open_relation(l, a, &rel, &now, err));
        now.rights = t->rights;
    }
}
