/* SPDX-License-Identifier: Apache-2.0 */
/* lineage.c - rows of format 3 keep their ids when a statement moves them (spec "Row Lineage").
 *
 * A row's id is in its file, or follows from the file's first row id and its position; the same goes for the sequence number of its last
 * change.  A statement that rewrites rows reads both beside the target's columns and writes them out: the id as it was, the number
 * as it was for a row that merely moves and null for one that it changes.  New rows have null in both and inherit.
 *
 * Invariant: the two columns come last, in the order of dml_lineage_fields(). */
#include "service/dml_int.h"

enum { ROW_ID = 2147483540, LAST_UPDATED = 2147483539 };

const IceFields *dml_lineage_fields(const Dml *d)
{
    static IceType number = { .kind = ICE_LONG };

    if (d->table.meta->format_version < 3)
        return NULL;
    IceFields *f = arena_new(d->r->a, IceFields);
    vec_push(d->r->a, f, ((IceField){ .id = ROW_ID, .name = S("_row_id"), .type = &number }));
    vec_push(d->r->a, f, ((IceField){ .id = LAST_UPDATED, .name = S("_last_updated_sequence_number"), .type = &number }));
    return f;
}

static Status add_file(Dml *d, const IceEntry *e, DuckAppender *ap, Error *err)
{
    Str local;

    TRY(store_local_path(d->r->svc->store, d->r->a, e->file.path, &local, err));
    duck_append_str(ap, local);
    if (e->file.first_row_id.has)
        duck_append_i64(ap, e->file.first_row_id.v);
    else
        duck_append_null(ap);
    duck_append_i64(ap, e->sequence_number.v);
    duck_end_row(ap);
    return OK;
}

/* dml_files: what the rows of each data file inherit. */
Status dml_lineage_begin(Dml *d, const IceSnapshot *s, Error *err)
{
    const DuckColumn cols[] = { { S("file"), { .kind = DT_STRING } }, { S("first_row_id"), { .kind = DT_INT64 } }, { S("number"), { .kind = DT_INT64 } } };
    DuckAppender *ap = NULL;
    IceScan scan = {0};
    Status st = OK;
    Error ignored;

    if (d->table.meta->format_version < 3 || !s)
        return OK;
    TRY(ice_scan(d->r->a, d->r->svc->store, d->table.meta, s, NULL, &scan, err));
    TRY(duck_exec(d->r->c, S("DROP TABLE IF EXISTS temp.dml_files"), err));
    TRY(duck_temp_table(d->r->c, S("dml_files"), cols, COUNT_OF(cols), &ap, err));
    for (size_t i = 0; i < scan.tasks.n && st == OK; i++)
        st = add_file(d, scan.tasks.p[i].data, ap, err);
    Status done = duck_append_done(ap, st == OK ? err : &ignored);
    TRY(st != OK ? st : done);
    d->lineage = 1;
    return OK;
}

Str dml_lineage_items(const Dml *d, Str row, Str at, LineageMode mode)
{
    StrBuf b = sb_new(d->r->a);

    if (!d->lineage)
        return S("");
    sb_fmt(&b, ", coalesce(" STR_FMT "._row_id, lf.first_row_id + " STR_FMT "__pos) AS _row_id, ", STR_ARG(row), STR_ARG(at));
    if (mode == LINEAGE_MOVED)
        sb_fmt(&b, "coalesce(" STR_FMT "._last_updated_sequence_number, lf.number)", STR_ARG(row));
    else
        sb_addc(&b, "CAST(NULL AS BIGINT)");
    sb_addc(&b, " AS _last_updated_sequence_number");
    return sb_str(&b);
}

Str dml_lineage_join(const Dml *d, Str at)
{
    return d->lineage ? str_fmt(d->r->a, " LEFT JOIN temp.dml_files lf ON lf.file = " STR_FMT "__file", STR_ARG(at)) : S("");
}
