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

/* ---- files that stayed, by position --------------------------------------------------------------------------------- */

typedef struct Stayed { ScanBuild *old, *new; ScanUnits was, is; int came; } Stayed;      /* came: some rows came back */

/* The rows of one file that moved in one direction: the bounds let the reader skip, the set picks. */
static Status moved_rows(Stayed *s, const ScanUnit *u, RowSet *rows, int w, StrVec *selects, Error *err)
{
    ScanBuild *b = s->new;
    uint64_t first, last = rowset_last(rows);
    int64_t n = (int64_t)rowset_count(rows);
    StrBuf cond = sb_new(b->a);
    Str sql;

    if (!rowset_next(rows, 0, &first))
        return OK;
    sb_fmt(&cond, "r.file_row_number BETWEEN %llu AND %llu", (unsigned long long)first, (unsigned long long)last);
    if ((int64_t)(last - first) + 1 != n) {
        int64_t lent = duck_rows_lend(b->c, rows);
        vec_push(b->a, &b->ret->row_sets, lent);
        sb_fmt(&cond, " AND firn_in_rows(%lld, r.file_row_number)", (long long)lent);
    }
    TRY(scan_select(b, &u, 1, str_fmt(b->a, ", CAST(%d AS BIGINT) AS __w", w), sb_str(&cond), &sql, err));
    vec_push(b->a, selects, sql);
    b->ret->rows_upper += n;
    s->came |= w > 0;
    return OK;
}

/* Rows deleted on one side only went, or came back. */
static Status moved_file(Stayed *s, size_t i, StrVec *selects, Error *err)
{
    const ScanUnit *was = &s->was.p[i], *is = &s->is.p[i];
    CLEANUP(rowset_freep) RowSet *gone = rowset_minus(is->deleted, was->deleted);
    CLEANUP(rowset_freep) RowSet *back = rowset_minus(was->deleted, is->deleted);

    TRY(moved_rows(s, is, gone, -1, selects, err));
    return moved_rows(s, is, back, 1, selects, err);
}

/* Equality deletes on either side: the file is read whole, twice. */
static Status by_condition(Stayed *s, size_t i, StrVec *selects, Error *err)
{
    const ScanUnit *was = &s->was.p[i], *is = &s->is.p[i];
    Str live_was, live_is;

    TRY(scan_live(s->old, was, &live_was, err));
    TRY(scan_live(s->new, is, &live_is, err));
    TRY(one_side(s->old, was, live_was, live_is, ", CAST(-1 AS BIGINT) AS __w", selects, err));
    TRY(one_side(s->new, is, live_is, live_was, ", CAST(1 AS BIGINT) AS __w", selects, err));
    s->new->ret->rows_upper += is->task->data->file.record_count;
    s->came |= live_was.n > 0;
    return OK;
}

static Status other_deletes(ScanBuild *b, const Sides *s, StrVec *selects, int *came, Error *err)
{
    ScanBuild bo = *b, bn = *b;
    Stayed st = { .old = &bo, .new = &bn };
    int64_t rows = b->ret->rows_upper;

    if (!s->stayed_old.tasks.n)
        return OK;
    TRY(scan_units(&bo, &s->stayed_old, NULL, &st.was, err));
    TRY(scan_units(&bn, &s->stayed_new, NULL, &st.is, err));
    TRY(scan_positions(&bo, &st.was, err));
    TRY(scan_positions(&bn, &st.is, err));
    b->ret->rows_upper = rows;
    scan_hot(&bn, &st.is, HOT_AS_IT_IS);                   /* a few rows of a file, by number */
    for (size_t i = 0; i < st.is.n; i++) {
        bool simple = scan_by_position(st.is.p[i].task) && scan_by_position(st.was.p[i].task);
        TRY(simple ? moved_file(&st, i, selects, err) : by_condition(&st, i, selects, err));
    }
    *came |= st.came;
    return OK;
}

static bool without_deletes(const IceScan *scan)
{
    for (size_t i = 0; i < scan->tasks.n; i++)
        if (scan->tasks.p[i].deletes.n)
            return false;
    return true;
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

Status lake_changes(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const IceSnapshot *from, const IceSnapshot *to, const IceSchema *schema, const uint8_t *reads, LakeChanges *ret,
                    Error *err)
{
    *ret = (LakeChanges){ .nothing = from && to && from->id == to->id };
    if (ret->nothing)
        return OK;
    if (t->external)
        return FAIL(err, E_UNSUPPORTED, STR_FMT "." STR_FMT " is not an Iceberg table: its changes are not known", STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    ScanBuild b = { .lake = l, .a = a, .c = c, .table = t, .schema = schema, .reads = reads, .ret = &ret->relation };
    IceScan old = {0}, new = {0};
    Sides s = {0};
    StrVec selects = {0};

    TRY(scan_begin(&b, err));
    if (from)
        TRY(lake_plan(l, a, t, from, NULL, &old, err));
    if (to)
        TRY(lake_plan(l, a, t, to, NULL, &new, err));
    ret->nothing = from && to && only_replaced(t->meta, from, to) && !totals_differ(&old, &new);
    if (!ret->nothing) {
        split(a, &old, &new, &s);
        TRY(whole_files(&b, &s.came, ", CAST(1 AS BIGINT) AS __w", &selects, err));
        TRY(whole_files(&b, &s.went, ", CAST(-1 AS BIGINT) AS __w", &selects, err));
        TRY(other_deletes(&b, &s, &selects, &ret->has_inserts, err));
    }
    ret->nothing = !selects.n;
    ret->has_inserts |= s.came.tasks.n > 0;
    ret->has_deletes = s.went.tasks.n || s.stayed_old.tasks.n;
    ret->rows_upper = ret->relation.rows_upper;
    ret->whole = !s.stayed_old.tasks.n && without_deletes(&s.came) && without_deletes(&s.went);
    ret->files = (int64_t)(s.came.tasks.n + s.went.tasks.n + s.stayed_old.tasks.n);
    if (!selects.n) {
        Str sql;
        TRY(scan_empty(&b, S(", CAST(NULL AS BIGINT) AS __w"), &sql, err));
        vec_push(a, &selects, sql);
    }
    ret->relation.sql = str_join(a, &selects, S(" UNION ALL "));
    return OK;
}
