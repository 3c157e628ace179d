/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c - the rows that lead from one snapshot to another.
 *
 * By difference of the two live file sets (spec/ivm.md 2.13): files that came give +1, files that went give -1, files that
 * stayed but have other deletes give the rows that are live on one side only.  No intermediate snapshot is needed, so expiry
 * in between, several rewrites in a row and any writer's habits do not matter.
 *
 * Invariant: old rows + changes = new rows, as bags, whatever the files are. */
#include "lake/scan_int.h"

static Str delete_key(Arena *a, const IceTask *t)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < t->deletes.n; i++) {
        const IceFile *d = &t->deletes.p[i]->file;
        sb_fmt(&b, STR_FMT "@%lld\n", STR_ARG(d->path), (long long)(d->content_offset.has ? d->content_offset.v : -1));
    }
    return sb_str(&b);
}

static bool same_deletes(Arena *a, const IceTask *x, const IceTask *y)
{
    if (x->deletes.n != y->deletes.n)
        return false;
    Map have = map_new(a);
    for (size_t i = 0; i < x->deletes.n; i++) {
        IceTask one = { .deletes = { &x->deletes.p[i], 1, 1 } };
        map_put(&have, delete_key(a, &one), &have);
    }
    for (size_t i = 0; i < y->deletes.n; i++) {
        IceTask one = { .deletes = { &y->deletes.p[i], 1, 1 } };
        if (!map_has(&have, delete_key(a, &one)))
            return false;
    }
    return true;
}

typedef struct Sides { IceScan came, went, stayed_old, stayed_new; } Sides;     /* the stayed ones in the same order */

static void split(Arena *a, const IceScan *old, const IceScan *new, Sides *s)
{
    Map before = map_new(a), after = map_new(a);

    for (size_t i = 0; i < old->tasks.n; i++)
        map_put(&before, old->tasks.p[i].data->file.path, &old->tasks.p[i]);
    for (size_t i = 0; i < new->tasks.n; i++) {
        IceTask *t = &new->tasks.p[i], *was = map_get(&before, t->data->file.path);
        map_put(&after, t->data->file.path, t);
        if (!was) {
            vec_push(a, &s->came.tasks, *t);
        } else if (!same_deletes(a, was, t)) {
            vec_push(a, &s->stayed_old.tasks, *was);
            vec_push(a, &s->stayed_new.tasks, *t);
        }
    }
    for (size_t i = 0; i < old->tasks.n; i++)
        if (!map_has(&after, old->tasks.p[i].data->file.path))
            vec_push(a, &s->went.tasks, old->tasks.p[i]);
}

static Status whole_files(ScanBuild *b, const IceScan *files, const char *weight, StrVec *selects, Error *err)
{
    ScanUnits units = {0};

    TRY(scan_units(b, files, NULL, &units, err));
    TRY(scan_positions(b, &units, err));
    return scan_union(b, &units, str_c(weight), selects, err);
}

/* Rows of one file that are live on the first side and not on the second. */
static Status one_side(ScanBuild *b, const ScanUnit *u, Str live_here, Str live_there, const char *weight, StrVec *selects, Error *err)
{
    Str sql, cond;

    if (!live_there.n)
        return OK;                                  /* everything is live there */
    cond = live_here.n ? str_fmt(b->a, STR_FMT " AND NOT (" STR_FMT ")", STR_ARG(live_here), STR_ARG(live_there))
                       : str_fmt(b->a, "NOT (" STR_FMT ")", STR_ARG(live_there));
    TRY(scan_select(b, &u, 1, str_c(weight), cond, &sql, err));
    vec_push(b->a, selects, sql);
    return OK;
}

/* Both sides' positions live in their own temporary tables: the builder is used twice. */
static Status other_deletes(ScanBuild *b, const Sides *s, StrVec *selects, Error *err)
{
    ScanBuild bo = *b, bn = *b;
    ScanUnits old = {0}, new = {0};
    int64_t rows = b->ret->rows_upper;

    if (!s->stayed_old.tasks.n)
        return OK;
    bo.pos_table = bo.dv_table = bn.pos_table = bn.dv_table = (Str){0};
    TRY(scan_units(&bo, &s->stayed_old, NULL, &old, err));
    TRY(scan_units(&bn, &s->stayed_new, NULL, &new, err));
    TRY(scan_positions(&bo, &old, err));
    TRY(scan_positions(&bn, &new, err));
    b->ret->rows_upper = rows;
    for (size_t i = 0; i < old.n; i++) {
        Str was, is;
        TRY(scan_live(&bo, &old.p[i], &was, err));
        TRY(scan_live(&bn, &new.p[i], &is, err));
        TRY(one_side(&bo, &old.p[i], was, is, ", CAST(-1 AS BIGINT) AS __w", selects, err));
        TRY(one_side(&bn, &new.p[i], is, was, ", CAST(1 AS BIGINT) AS __w", selects, err));
        for (size_t k = 0; k < new.p[i].task->deletes.n; k++)
            b->ret->rows_upper += new.p[i].task->deletes.p[k]->file.record_count;
    }
    return OK;
}

/* Every snapshot after `from` up to `to` only rewrote files: by contract nothing changed (spec "replace"). */
static bool only_replaced(const IceMetadata *m, const IceSnapshot *from, const IceSnapshot *to)
{
    const IceSnapshot *s = to;
    for (size_t guard = 0; s && guard <= m->snapshots.n; guard++) {
        if (s->id == from->id)
            return true;
        if (!str_eq(s->operation, S("replace")))
            return false;
        s = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    }
    return false;
}

static bool totals_differ(const IceScan *old, const IceScan *new)
{
    int64_t x = 0, y = 0;
    for (size_t i = 0; i < old->tasks.n; i++)
        x += old->tasks.p[i].deletes.n ? 0 : old->tasks.p[i].data->file.record_count;
    for (size_t i = 0; i < new->tasks.n; i++)
        y += new->tasks.p[i].deletes.n ? 0 : new->tasks.p[i].data->file.record_count;
    for (size_t i = 0; i < old->tasks.n; i++)
        if (old->tasks.p[i].deletes.n)
            return false;                           /* cannot be compared by counts */
    for (size_t i = 0; i < new->tasks.n; i++)
        if (new->tasks.p[i].deletes.n)
            return false;
    return x != y;
}

Status lake_changes(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const IceSnapshot *from, const IceSnapshot *to, const IceSchema *schema, LakeChanges *ret, Error *err)
{
    *ret = (LakeChanges){0};
    ScanBuild b = { .lake = l, .a = a, .c = c, .table = t, .schema = schema, .ret = &ret->relation };
    IceScan old = {0}, new = {0};
    Sides s = {0};
    StrVec selects = {0};

    TRY(scan_begin(&b, err));
    if (from)
        TRY(ice_scan(a, l->store, t->meta, from, NULL, &old, err));
    if (to)
        TRY(ice_scan(a, l->store, t->meta, to, NULL, &new, err));
    ret->nothing = from && to && (from->id == to->id || (only_replaced(t->meta, from, to) && !totals_differ(&old, &new)));
    if (!ret->nothing) {
        split(a, &old, &new, &s);
        TRY(whole_files(&b, &s.came, ", CAST(1 AS BIGINT) AS __w", &selects, err));
        b.pos_table = b.dv_table = (Str){0};
        TRY(whole_files(&b, &s.went, ", CAST(-1 AS BIGINT) AS __w", &selects, err));
        TRY(other_deletes(&b, &s, &selects, err));
    }
    ret->nothing = !selects.n;
    ret->has_deletes = s.went.tasks.n || s.stayed_old.tasks.n;
    ret->rows_upper = ret->relation.rows_upper;
    ret->files = (int64_t)(s.came.tasks.n + s.went.tasks.n + s.stayed_old.tasks.n);
    if (!selects.n) {
        Str sql;
        TRY(scan_empty(&b, S(", CAST(NULL AS BIGINT) AS __w"), &sql, err));
        vec_push(a, &selects, sql);
    }
    ret->relation.sql = str_join(a, &selects, S(" UNION ALL "));
    return OK;
}
