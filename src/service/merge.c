/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - MERGE INTO.
 *
 * Target and source are joined once into an engine table that says for every pair which clause fires; the clauses' new rows and the
 * positions of the rows that go are then read from it.  Each side is one struct column under its own alias, so that the bound
 * expressions of the clauses print unchanged.
 *
 * Invariant: a target row is touched at most once; a second match is MERGE_CARDINALITY_VIOLATION. */
#include "service/dml_int.h"

/* ---- MERGE ---------------------------------------------------------------------------------------------------------------------------------- */

/* One engine table of joined rows: target columns t0…, positions, whether each side is there, and the clause that fires. */
typedef struct Merge { Dml d; TableRef *target, *join; StrBuf action, *values; size_t nvalues; } Merge;

static Status merge_cond(Merge *m, const MergeClause *c, size_t i, Error *err)
{
    static const char *const sides[] = { [MERGE_MATCHED] = "has_t AND has_s", [MERGE_NOT_MATCHED] = "has_t IS NULL AND has_s", [MERGE_NOT_MATCHED_BY_SOURCE] = "has_t AND has_s IS NULL" };
    Run *r = m->d.r;
    Printer p = run_printer(r);
    Str text = S("true");
    Binder b;

    run_binder(r, &b);
    if (c->cond) {
        TRY(sql_bind_expr(r->a, &b, m->join, c->cond, err));
        TRY(sql_print_expr(r->a, &p, c->cond, &text, err));
    }
    sb_fmt(&m->action, " WHEN %s AND (" STR_FMT ") THEN %zu", sides[c->match], STR_ARG(text), i);
    return OK;
}

/* SET * and INSERT *: source columns by name. */
static Status star_assign(Merge *m, const TableRef *source, AssignVec *set, Error *err)
{
    Run *r = m->d.r;
    for (size_t i = 0; i < m->d.columns.n; i++) {
        Expr *e = arena_new(r->a, Expr);
        *e = (Expr){ .kind = EX_COLUMN };
        if (source->alias.n)
            vec_push(r->a, &e->name, source->alias);
        else
            for (size_t k = 0; source->kind == TR_TABLE && k < source->name.n; k++)
                vec_push(r->a, &e->name, source->name.p[k]);
        vec_push(r->a, &e->name, m->d.columns.p[i].name);
        Assign as = { .value = e };
        vec_push(r->a, &as.column, m->d.columns.p[i].name);
        vec_push(r->a, set, as);
    }
    (void)err;
    return OK;
}

static Status insert_values(Merge *m, const MergeClause *c, AssignVec *set, Error *err)
{
    Run *r = m->d.r;
    size_t n = c->columns.n ? c->columns.n : m->d.columns.n;

    if (c->values.n != n)
        return dml_arity(&m->d, c->values.n, n, err);
    for (size_t i = 0; i < n; i++) {
        Assign as = { .value = c->values.p[i] };
        vec_push(r->a, &as.column, c->columns.n ? c->columns.p[i] : m->d.columns.p[i].name);
        vec_push(r->a, set, as);
    }
    return OK;
}

static Status merge_values(Merge *m, const MergeClause *c, const TableRef *source, size_t i, Error *err)
{
    AssignVec set = {0};
    bool insert = c->action == MERGE_INSERT || c->action == MERGE_INSERT_ALL;

    m->values[i] = sb_new(m->d.r->a);
    if (c->action == MERGE_DELETE || c->action == MERGE_NOTHING)
        return OK;
    if (c->action == MERGE_UPDATE_ALL || c->action == MERGE_INSERT_ALL)
        TRY(star_assign(m, source, &set, err));
    else if (c->action == MERGE_INSERT)
        TRY(insert_values(m, c, &set, err));
    else
        set = c->set;
    if (!insert)
        return dml_assigned(&m->d, m->join, m->target, &set, &m->values[i], err);
    for (size_t k = 0; k < m->d.columns.n; k++) {              /* columns that an INSERT leaves out */
        bool given = false;
        for (size_t q = 0; q < set.n; q++)
            given |= dml_column(&m->d, set.p[q].column.p[set.p[q].column.n - 1]) == (ptrdiff_t)k;
        if (given)
            continue;
        Assign as = {0};
        TRY(dml_default(&m->d, k, &as.value, err));
        vec_push(m->d.r->a, &as.column, m->d.columns.p[k].name);
        vec_push(m->d.r->a, &set, as);
    }
    return dml_assigned(&m->d, m->join, m->target, &set, &m->values[i], err);
}

static Status bind_merge(Merge *m, Error *err)
{
    Run *r = m->d.r;
    const Stmt *st = r->st;
    Expr *on = st->on;
    Binder b;

    run_binder(r, &b);
    m->target = dml_target(&m->d, st->alias);
    m->join = arena_new(r->a, TableRef);
    *m->join = (TableRef){ .kind = TR_JOIN, .join = JOIN_FULL, .left = m->target, .right = st->from, .on = on };
    Expr *probe = dml_null(r->a);
    TRY(sql_bind_expr(r->a, &b, m->join, probe, err));        /* binds the join */
    m->action = sb_new(r->a);
    m->nvalues = st->merges.n;
    m->values = arena_array(r->a, StrBuf, st->merges.n + 1);
    for (size_t i = 0; i < st->merges.n; i++) {
        TRY(merge_cond(m, &st->merges.p[i], i, err));
        TRY(merge_values(m, &st->merges.p[i], st->from, i, err));
    }
    return OK;
}

/* FULL JOIN of the two sides, each marked as present; the action is the first clause that fits. */
static Status merge_relation(Merge *m, Str *ret, Error *err)
{
    Run *r = m->d.r;
    TargetPrinter tp = { &m->d, m->target, run_printer(r) };
    Printer p = { .ctx = &tp, .table = dml_print_target };
    Str left, right, on;

    TRY(sql_print_table(r->a, &p, m->target, &left, err));
    TRY(sql_print_table(r->a, &p, m->join->right, &right, err));
    TRY(sql_print_expr(r->a, &p, m->join->on, &on, err));
    Str t = m->target->engine, s = m->join->right->kind == TR_JOIN ? (Str){0} : m->join->right->engine;
    if (!s.n)
        return FAIL(err, E_UNSUPPORTED, "MERGE needs a table or a subquery as its source, not a join");
    *ret = str_fmt(r->a, "(SELECT *, true AS has_t FROM " STR_FMT ") AS " STR_FMT " FULL JOIN (SELECT *, true AS has_s FROM " STR_FMT ") AS " STR_FMT " ON " STR_FMT,
                   STR_ARG(left), STR_ARG(sql_ident_str(r->a, t)), STR_ARG(right), STR_ARG(sql_ident_str(r->a, s)), STR_ARG(on));
    return OK;
}

static Status check_cardinality(Merge *m, Str joined, Error *err)
{
    Run *r = m->d.r;
    int64_t twice = 0;
    bool has;
    Str sql = str_fmt(r->a, "SELECT count(*) FROM (SELECT 1 FROM (" STR_FMT ") q WHERE has_t AND has_s AND action IS NOT NULL GROUP BY __file, __pos HAVING count(*) > 1) d", STR_ARG(joined));

    TRY(duck_scalar_i64(r->c, sql, &twice, &has, err));
    if (!twice)
        return OK;
    RAISE(err, E_INVALID, "[MERGE_CARDINALITY_VIOLATION] The ON search condition of the MERGE statement matched a single row from the target table with multiple rows of the source table.");
    memcpy(err->sqlstate, "23K01", 6);
    return E_INVALID;
}

static Str actions(Merge *m, int which)
{
    const Stmt *st = m->d.r->st;
    StrBuf b = sb_new(m->d.r->a);
    for (size_t i = 0; i < st->merges.n; i++) {
        MergeDo act = st->merges.p[i].action;
        bool removes = act == MERGE_UPDATE || act == MERGE_UPDATE_ALL || act == MERGE_DELETE;
        bool fits = which == 0 ? removes : act != MERGE_NOTHING;
        if (fits)
            sb_fmt(&b, "%s%zu", b.n ? ", " : "", i);
    }
    if (!b.n)
        sb_addc(&b, "-1");
    return sb_str(&b);
}

/* The joined rows with the action are computed once into an engine table, whose columns keep the sides' own aliases by a struct each. */
static Status materialise(Merge *m, Str joined, Error *err)
{
    Run *r = m->d.r;
    Str t = sql_ident_str(r->a, m->target->engine), s = sql_ident_str(r->a, m->join->right->engine);
    Str sql = str_fmt(r->a, "CREATE OR REPLACE TEMP TABLE dml_merge AS SELECT " STR_FMT " AS " STR_FMT ", " STR_FMT " AS " STR_FMT ", " STR_FMT ".__file AS __file, " STR_FMT
                      ".__pos AS __pos, coalesce(" STR_FMT ".has_t, false) AS m_t, coalesce(" STR_FMT ".has_s, false) AS m_s, CASE" STR_FMT " END AS action FROM " STR_FMT,
                      STR_ARG(t), STR_ARG(t), STR_ARG(s), STR_ARG(s), STR_ARG(t), STR_ARG(t), STR_ARG(t), STR_ARG(s), STR_ARG(sb_str(&m->action)), STR_ARG(joined));
    return duck_exec(r->c, sql, err);
}

static Status run_merge(Merge *m, Error *err)
{
    Run *r = m->d.r;
    StrVec parts = {0};
    Str joined;
    int64_t gone = 0, written = 0;

    TRY(merge_relation(m, &joined, err));
    TRY(materialise(m, joined, err));
    TRY(check_cardinality(m, S("SELECT __file, __pos, m_t AS has_t, m_s AS has_s, action FROM dml_merge"), err));
    TRY(dml_delete_hits(&m->d, str_fmt(r->a, "SELECT __file, __pos FROM dml_merge WHERE action IN (" STR_FMT ")", STR_ARG(actions(m, 0))), "merge", &gone, err));
    Str ids = dml_lineage_items(&m->d, sql_ident_str(r->a, m->target->engine), S(""), LINEAGE_CHANGED), join = dml_lineage_join(&m->d, S(""));
    for (size_t i = 0; i < m->nvalues; i++)
        if (m->values[i].n)
            vec_push(r->a, &parts, str_fmt(r->a, "SELECT " STR_FMT STR_FMT " FROM dml_merge" STR_FMT " WHERE action = %zu", STR_ARG(sb_str(&m->values[i])), STR_ARG(ids), STR_ARG(join), i));
    if (parts.n)
        TRY(dml_write(&m->d, str_join(r->a, &parts, S(" UNION ALL ")), &written, err));
    bool has;
    return duck_scalar_i64(r->c, str_fmt(r->a, "SELECT count(*) FROM dml_merge WHERE action IN (" STR_FMT ")", STR_ARG(actions(m, 1))), &m->d.rows, &has, err);
}

Status do_merge(Run *r, Rows *rows, Error *err)
{
    Merge m = {0};

    TRY(dml_open(&m.d, r, "MERGE INTO", err));
    TRY(bind_merge(&m, err));
    TRY(dml_finish(&m.d, run_merge(&m, err), err));
    dml_tag(rows, "MERGE", m.d.rows);
    return OK;
}
