/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - how many rows a table has, without a look at data.
 *
 * Manifests say how many rows each file holds, and deletes by position are sets of row numbers.  Deletes by value are not known without reading.
 *
 * Invariant: whether each file may be read is asked as if it were. */
#include "lake/scan_int.h"

static Status units_of(ScanBuild *b, const IceScan *scan, ScanUnits *units, bool *known, Error *err)
{
    *known = true;
    for (size_t i = 0; i < scan->tasks.n && *known; i++) {
        const IceTask *t = &scan->tasks.p[i];
        *known = t->data->file.record_count >= 0;
        for (size_t k = 0; k < t->deletes.n; k++)
            *known = *known && t->deletes.p[k]->file.content != CONTENT_EQUALITY_DELETES;
        TRY(scan_may_read(b, &t->data->file, err));
        vec_push(b->a, units, ((ScanUnit){ .task = t }));
    }
    return OK;
}

/* Positions behind the file's end delete nothing. */
static int64_t live_rows(const ScanUnit *u)
{
    int64_t rows = u->task->data->file.record_count;
    int64_t deleted = (int64_t)rowset_count(u->deleted);
    uint64_t row;

    for (uint64_t at = (uint64_t)rows; rowset_next(u->deleted, at, &row); at = row + 1)
        deleted--;
    return rows - deleted;
}

Status lake_count(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const IceSnapshot *s, OptI64 *ret, Error *err)
{
    LakeRelation loans = {0};
    ScanBuild b = { .lake = l, .a = a, .c = c, .table = t, .ret = &loans };
    IceScan scan = {0};
    ScanUnits units = {0};
    bool known;

    *ret = (OptI64){0};
    if (t->external)
        return OK;
    if (s)
        TRY_CTX(lake_plan(l, a, t, s, NULL, &scan, err), err, "table " STR_FMT "." STR_FMT, STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    TRY(units_of(&b, &scan, &units, &known, err));
    if (!known)
        return OK;
    Status done = scan_positions(&b, &units, err);
    *ret = SOME_I64(0);
    for (size_t i = 0; done == OK && i < units.n; i++)
        ret->v += live_rows(&units.p[i]);
    lake_relation_drop(c, &loans);
    return done;
}
