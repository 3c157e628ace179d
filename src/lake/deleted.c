/* SPDX-License-Identifier: Apache-2.0 */
/* deleted.c - the rows of data files that position delete files and deletion vectors name.
 *
 * They become a set of row numbers for each data file, lent to the connection; the scan's text asks it by firn_in_rows().  Delete files never change, so what one
 * of them says of one data file is decoded once and kept.
 *
 * Invariants: (1) a set that is kept is never changed: a data file with several delete files gets a set of its own; (2) whether a delete file
 * may be read is asked by every scan, however well its rows are known. */
#include "lake/scan_int.h"

enum { KEPT_BYTES = 64 << 20 };

static void *set_ref(void *set) { return rowset_ref(set); }
static void set_free(void *set) { rowset_free(set); }

Cache *deleted_cache_new(void) { return cache_new(KEPT_BYTES, set_ref, set_free); }

/* ---- what one delete file says of one data file -------------------------------------------------------------------------- */

typedef struct Part { const ScanUnit *unit; const IceFile *file; Str local, key; RowSet *set; int fresh; } Part;
typedef VEC(Part) Parts;

static void parts_done(Parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        rowset_free(p->p[i].set);
}

static Status find_part(ScanBuild *b, const ScanUnit *u, const IceFile *d, Parts *parts, Error *err)
{
    Part p = { .unit = u, .file = d, .local = d->path };
    int64_t at = d->content_offset.has ? d->content_offset.v : -1;

    TRY(scan_may_read(b, d, err));                          /* (2) */
    if (b->lake->catalog || !scan_is_dv(d))                 /* elsewhere, a vector's file is not fetched whole */
        TRY(store_local_path(b->lake->store, b->a, d->path, &p.local, err));
    p.key = str_fmt(b->a, "%lld " STR_FMT " " STR_FMT, (long long)at, STR_ARG(p.local), STR_ARG(u->task->data->file.path));
    p.set = cache_get(b->lake->deleted, p.key);
    p.fresh = !p.set;
    if (p.fresh)
        p.set = rowset_new();
    vec_push(b->a, parts, p);
    return OK;
}

static Status read_vector(ScanBuild *b, Part *p, Error *err)
{
    Positions positions = {0};

    TRY(ice_dv_read(b->a, b->lake->store, p->file, &positions, err));
    for (size_t i = 0; i < positions.n; i++)
        TRY_CTX(rowset_add(p->set, positions.p[i], err), err, "deletion vector in '" STR_FMT "'", STR_ARG(p->file->path));
    return OK;
}

/* A delete file that says which data file it is of needs no look at its paths: they are one column of long strings. */
typedef struct PositionFiles { StrBuf own, files, map; Map seen; } PositionFiles;

static void add_file(ScanBuild *b, const Part *part, size_t i, PositionFiles *p)
{
    if (str_eq(part->file->referenced_data_file, part->unit->task->data->file.path)) {
        sb_fmt(&p->own, "%sSELECT CAST(%zu AS BIGINT) AS f, CAST(pos AS BIGINT) AS pos FROM read_parquet(" STR_FMT ", hive_partitioning = false) WHERE pos IS NOT NULL",
               p->own.n ? " UNION ALL " : "", i, STR_ARG(sql_lit_str(b->a, part->local)));
        return;
    }
    if (!map_has(&p->seen, part->local)) {
        sb_addc(&p->files, p->files.n ? ", " : "");
        sql_lit(&p->files, part->local);
        map_put(&p->seen, part->local, p);
    }
    sb_addc(&p->map, p->map.n ? ", (" : "(");
    sql_lit(&p->map, part->local);
    sb_addc(&p->map, ", ");
    sql_lit(&p->map, part->unit->task->data->file.path);
    sb_fmt(&p->map, ", %zu)", i);
}

static Str position_query(ScanBuild *b, const Parts *parts)
{
    PositionFiles p = { sb_new(b->a), sb_new(b->a), sb_new(b->a), map_new(b->a) };

    for (size_t i = 0; i < parts->n; i++)
        if (parts->p[i].fresh && !scan_is_dv(parts->p[i].file))
            add_file(b, &parts->p[i], i, &p);
    if (p.files.n)
        sb_fmt(&p.own, "%sSELECT CAST(m.f AS BIGINT) AS f, CAST(d.pos AS BIGINT) AS pos FROM read_parquet([" STR_FMT "], filename = true, hive_partitioning = false) d JOIN (VALUES " STR_FMT
               ") m(dl, path, f) ON d.filename = m.dl AND d.file_path = m.path WHERE d.pos IS NOT NULL", p.own.n ? " UNION ALL " : "", STR_ARG(sb_str(&p.files)), STR_ARG(sb_str(&p.map)));
    return sb_str(&p.own);
}

static Status read_position_files(ScanBuild *b, Parts *parts, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Str sql = position_query(b, parts);
    size_t n;

    if (!sql.n)
        return OK;
    TRY(duck_query(b->c, sql, &r, err));
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        const int64_t *f = duck_i64s(r, 0), *pos = duck_i64s(r, 1);
        for (size_t i = 0; i < n; i++)
            if (pos[i] >= 0)                                /* no row has such a number */
                TRY(rowset_add(parts->p[f[i]].set, (uint64_t)pos[i], err));
    }
}

/* ---- the sets of a scan ----------------------------------------------------------------------------------------------------- */

static void lend(ScanBuild *b, ScanUnit *u, RowSet *s)
{
    u->deleted = s;                                         /* the loan holds it */
    u->lent = duck_rows_lend(b->c, s);
    vec_push(b->a, &b->ret->row_sets, u->lent);
}

/* `first` is the place of the unit's first part; gives the place behind its last. */
static size_t lend_parts(ScanBuild *b, ScanUnit *u, const Parts *parts, size_t first)
{
    size_t end = first;

    while (end < parts->n && parts->p[end].unit == u)
        end++;
    if (end == first + 1) {
        lend(b, u, parts->p[first].set);
    } else if (end > first) {
        CLEANUP(rowset_freep) RowSet *all = rowset_new();   /* (1) */
        for (size_t i = first; i < end; i++)
            rowset_join(all, parts->p[i].set);
        lend(b, u, all);
    }
    return end;
}

Status scan_positions(ScanBuild *b, ScanUnits *units, Error *err)
{
    CLEANUP(parts_done) Parts parts = {0};
    size_t at = 0;

    for (size_t i = 0; i < units->n; i++)
        for (size_t k = 0; k < units->p[i].task->deletes.n; k++)
            if (units->p[i].task->deletes.p[k]->file.content == CONTENT_POSITION_DELETES)
                TRY(find_part(b, &units->p[i], &units->p[i].task->deletes.p[k]->file, &parts, err));
    for (size_t i = 0; i < parts.n; i++)
        if (parts.p[i].fresh && scan_is_dv(parts.p[i].file))
            TRY(read_vector(b, &parts.p[i], err));
    TRY_CTX(read_position_files(b, &parts, err), err, "reading position deletes");
    for (size_t i = 0; i < parts.n; i++)
        if (parts.p[i].fresh)
            cache_put(b->lake->deleted, parts.p[i].key, parts.p[i].set, rowset_bytes(parts.p[i].set));
    for (size_t i = 0; i < units->n; i++)
        at = lend_parts(b, &units->p[i], &parts, at);
    return OK;
}
