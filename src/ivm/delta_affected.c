/* SPDX-License-Identifier: Apache-2.0 */
/* delta_affected.c - the change of nodes that are not linear: recomputed for just the rows or keys that can change.
 *
 * Both states of every input can be read, so no node keeps state of its own (spec/ivm.md 2.3 to 2.6):
 *   outer join   the inner join's terms; changed left rows without a match now; and old left rows that a changed right
 *                row matches ("candidates"), as far as having a match came or went
 *   semi, anti   the same with the match as the condition
 *   aggregate    - old rows + new rows of the keys in the input's change
 *   DISTINCT     changed tuples, counted in the new state; the old count is that minus the change
 *   set ops      the same with two counts */
#include "ivm/ivm_int.h"

/* ---- matches --------------------------------------------------------------------------------------------- */

typedef struct Match { Emit *e; const Node *n, *kept, *other; StrBuf *b; int parts; } Match;

static void put_from(StrBuf *b, Str from, const Node *n)
{
    sb_fmt(b, " FROM " STR_FMT " n%d", STR_ARG(from), n->id);
}

static Status state_item(Emit *e, const Node *n, Side side, Str *ret, Error *err)
{
    TRY(state_sql(e, n, side, NULL, ret, err));
    *ret = str_fmt(e->a, "(" STR_FMT ")", STR_ARG(*ret));
    return OK;
}

/* Output of one kept row: its own columns, and NULL for the other side's in an outer join. */
static void put_kept(Match *m, const char *w)
{
    int any = 0;
    size_t base = 0;
    sb_addc(m->b, m->parts++ ? " UNION ALL SELECT " : "SELECT ");
    const NodeVec *in = &m->n->in;
    for (size_t k = 0; k < (m->n->kind == NODE_OUTER ? 2u : 1u); k++) {
        const Node *side = in->p[k];
        for (size_t i = 0; i < node_ncols(side); i++) {
            if (!m->n->used[base + i])
                continue;
            sb_addc(m->b, any++ ? ", " : "");
            if (side == m->kept)
                sb_fmt(m->b, "n%d.c%zu", side->id, i + 1);
            else
                sb_addc(m->b, "NULL");
            sb_fmt(m->b, " AS c%zu", base + i + 1);
        }
        base += node_ncols(side);
    }
    sb_fmt(m->b, "%s, %s AS w", any ? "" : "1 AS c0", w);
}

/* kept rows of `from` whose match in `other_from` is as `word` says, with weight w */
static Status kept_part(Match *m, Str from, const char *w, const char *word, Str other_from, Error *err)
{
    put_kept(m, w);
    put_from(m->b, from, m->kept);
    return put_match(m->b, m->n, m->kept, m->other, word, other_from, err);
}

/* Old rows of the kept side that a changed row of the other side matches.  Where no condition names both sides, no
 * changed row that qualifies means no candidate: the engine sees an empty input and does not read the kept side. */
static Status candidates_sql(Match *m, StrBuf *b, Error *err)
{
    Str state = {0}, change = {0};
    MatchParts parts;
    TRY(delta_table(m->e, m->other, &change, err));
    TRY(state_item(m->e, m->kept, SIDE_OLD, &state, err));
    split_match(b->a, m->n, m->kept, m->other, &parts);
    sb_addc(b, "SELECT ");
    put_columns(b, m->kept, str_z(m->e->a, m->kept->ref.engine));
    put_from(b, state, m->kept);
    if (parts.both.n)
        return put_match(b, m->n, m->kept, m->other, "EXISTS", change, err);
    sb_fmt(b, ", (SELECT 1 FROM " STR_FMT " n%d WHERE ", STR_ARG(change), m->other->id);
    TRY(put_conjuncts(b, &parts.other, err));
    sb_addc(b, " LIMIT 1) any_match WHERE ");
    return put_conjuncts(b, &parts.kept, err);
}

static Status candidates(Match *m, Str *ret, Error *err)
{
    StrBuf b = sb_new(m->e->a);
    *ret = str_fmt(m->e->a, "ivm_a%d_%d", m->n->id, m->kept->id);
    if (strvec_has(&m->e->made, *ret))
        return OK;
    TRY(candidates_sql(m, &b, err));
    vec_push(m->e->a, &m->e->made, *ret);
    return emit_step(m->e, *ret, sb_str(&b), err);
}

/* Change of "kept rows for which `word` (EXISTS or NOT EXISTS) holds". */
static Status matched_change(Match *m, const char *word, Error *err)
{
    Str change = {0}, cand = {0}, new_other = {0}, old_other = {0};
    int anti = word[0] == 'N';
    TRY(state_item(m->e, m->other, SIDE_NEW, &new_other, err));
    if (emit_changed(m->e, m->kept)) {
        TRY(delta_table(m->e, m->kept, &change, err));
        TRY(kept_part(m, change, str_z(m->e->a, str_fmt(m->e->a, "n%d.w", m->kept->id)), word, new_other, err));
    }
    if (!emit_changed(m->e, m->other))
        return OK;
    TRY(candidates(m, &cand, err));
    TRY(state_item(m->e, m->other, SIDE_OLD, &old_other, err));
    if (!emit_deletes(m->e, m->other))      /* every candidate has a match now: what counts is who had none before */
        return kept_part(m, cand, anti ? "-1" : "1", "NOT EXISTS", old_other, err);
    TRY(kept_part(m, cand, "1", word, new_other, err));
    return kept_part(m, cand, "-1", word, old_other, err);
}

/* ---- outer joins ------------------------------------------------------------------------------------------ */

static Status outer_term(Match *m, Str left, Str right, const Node *weight, Error *err)
{
    sb_addc(m->b, m->parts++ ? " UNION ALL SELECT " : "SELECT ");
    put_join_columns(m->b, m->n);
    sb_fmt(m->b, ", n%d.w FROM " STR_FMT " n%d, " STR_FMT " n%d WHERE ", weight->id, STR_ARG(left), m->n->in.p[0]->id,
           STR_ARG(right), m->n->in.p[1]->id);
    return put_conjuncts(m->b, &m->n->preds, err);
}

static Status outer_inner(Match *m, Error *err)
{
    const Node *l = m->n->in.p[0], *r = m->n->in.p[1];
    Str change = {0}, state = {0};
    if (emit_changed(m->e, l)) {
        TRY(delta_table(m->e, l, &change, err));
        TRY(state_item(m->e, r, SIDE_OLD, &state, err));
        TRY(outer_term(m, change, state, l, err));
    }
    if (!emit_changed(m->e, r))
        return OK;
    TRY(delta_table(m->e, r, &change, err));
    TRY(state_item(m->e, l, SIDE_NEW, &state, err));
    return outer_term(m, state, change, r, err);
}

Status delta_outer(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    Match m = { e, n, n->in.p[0], n->in.p[1], &b, 0 };
    TRY(outer_inner(&m, err));
    TRY(matched_change(&m, "NOT EXISTS", err));
    if (n->full) {
        m.kept = n->in.p[1];
        m.other = n->in.p[0];
        TRY(matched_change(&m, "NOT EXISTS", err));
    }
    *ret = sb_str(&b);
    return OK;
}

Status delta_semi(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    Match m = { e, n, n->in.p[0], n->in.p[1], &b, 0 };
    TRY(matched_change(&m, n->anti ? "NOT EXISTS" : "EXISTS", err));
    *ret = sb_str(&b);
    return OK;
}

/* ---- aggregates ------------------------------------------------------------------------------------------- */

/* Group keys over the kept side of a left or semi join below, when they need nothing else: then the rows that a change
 * touches give the keys, and who gained or lost a match need not be known.  More keys than change is fine. */
typedef struct Touched { const Node *join; ExprVec keys; } Touched;
typedef struct OnlyOf { const Node *node; int yes; } OnlyOf;

static void see_only(void *ctx, const Expr *col)
{
    OnlyOf *o = ctx;
    o->yes &= node_of(col) == o->node;
}

static Status to_kept(Compiler *c, const Node *join, const ExprVec *keys, Touched *ret, Error *err)
{
    OnlyOf only = { join->in.p[0], 1 };
    Touched t = { join, {0} };
    for vec_each(Expr *, k, keys) {
        Expr *x = NULL;
        TRY(node_to_inputs(c, join, *k, &x, err));
        expr_visit_columns(x, see_only, &only);
        vec_push(c->a, &t.keys, x);
    }
    if (only.yes)
        *ret = t;
    return OK;
}

static Status find_touched(Emit *e, const Node *agg, Touched *ret, Error *err)
{
    Compiler c = { .a = e->a, .v = (IvmView *)e->v };
    const Node *n = agg->in.p[0];
    ExprVec keys = {0};
    for (size_t i = 0; i < agg->nkeys; i++)
        vec_push(e->a, &keys, agg->exprs.p[i]);
    while (n->kind == NODE_FILTER || n->kind == NODE_PROJECT) {
        if (n->kind == NODE_PROJECT)
            TRY(node_substitute(&c, n, &keys, err));
        else
            TRY(node_reseat(&c, n, n->in.p[0], &keys, err));
        n = n->in.p[0];
    }
    if (n->kind == NODE_SEMI || (n->kind == NODE_OUTER && !n->full))
        return to_kept(&c, n, &keys, ret, err);
    return OK;
}

static Status put_keys(StrBuf *b, const ExprVec *keys, Str from, const Node *n, Error *err)
{
    sb_addc(b, keys->n ? "SELECT DISTINCT " : "SELECT 1 AS k0");
    for (size_t i = 0; i < keys->n; i++) {
        sb_addc(b, i ? ", " : "");
        TRY(put_expr(b, keys->p[i], err));
        sb_fmt(b, " AS k%zu", i + 1);
    }
    put_from(b, from, n);
    return OK;
}

static Status touched_keys(Emit *e, const Touched *t, StrBuf *b, Error *err)
{
    Match m = { e, t->join, t->join->in.p[0], t->join->in.p[1], b, 0 };
    Str rows = {0};
    if (emit_changed(e, m.kept)) {
        TRY(delta_table(e, m.kept, &rows, err));
        TRY(put_keys(b, &t->keys, rows, m.kept, err));
    }
    if (!emit_changed(e, m.other))
        return OK;
    sb_addc(b, emit_changed(e, m.kept) ? " UNION " : "");
    TRY(candidates(&m, &rows, err));
    return put_keys(b, &t->keys, rows, m.kept, err);
}

Status affected_keys(Emit *e, const Node *agg, Str name, Error *err)
{
    Str change = {0};
    StrBuf b = sb_new(e->a);
    Touched t = {0};
    ExprVec keys = {0};
    TRY(find_touched(e, agg, &t, err));
    if (t.join && agg->nkeys) {
        TRY(touched_keys(e, &t, &b, err));
        return emit_step(e, name, sb_str(&b), err);
    }
    for (size_t i = 0; i < agg->nkeys; i++)
        vec_push(e->a, &keys, agg->exprs.p[i]);
    TRY(delta_table(e, agg->in.p[0], &change, err));
    TRY(put_keys(&b, &keys, change, agg->in.p[0], err));
    if (!agg->nkeys)
        sb_addc(&b, " LIMIT 1");
    return emit_step(e, name, sb_str(&b), err);
}

Restrict restrict_to_keys(Arena *a, const Node *agg, Str table)
{
    size_t *cols = arena_array(a, size_t, agg->nkeys + 1);
    Str *names = arena_array(a, Str, agg->nkeys + 1);
    for (size_t i = 0; i < agg->nkeys; i++) {
        cols[i] = i;
        names[i] = str_fmt(a, "k%zu", i + 1);
    }
    return (Restrict){ table, agg->nkeys, cols, names, 0 };
}

Status delta_agg(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    Str keys = str_fmt(e->a, "ivm_k%d", n->id);
    TRY(affected_keys(e, n, keys, err));
    Restrict only = restrict_to_keys(e->a, n, keys);
    for (int side = 0; side < 2; side++) {
        Str rows = {0};
        TRY(state_sql(e, n, side ? SIDE_NEW : SIDE_OLD, &only, &rows, err));
        sb_addc(&b, side ? " UNION ALL SELECT " : "SELECT ");
        put_columns(&b, n, "x");
        sb_fmt(&b, ", %s AS w FROM (" STR_FMT ") x", side ? "1" : "-1", STR_ARG(rows));
        if (!n->nkeys)
            sb_fmt(&b, " WHERE EXISTS (SELECT 1 FROM " STR_FMT ")", STR_ARG(keys));
    }
    *ret = sb_str(&b);
    return OK;
}

/* ---- counted tuples ---------------------------------------------------------------------------------------- */

static Restrict restrict_to_rows(Arena *a, const Node *n, Str table)
{
    size_t *cols = arena_array(a, size_t, node_ncols(n) + 1);
    Str *names = arena_array(a, Str, node_ncols(n) + 1);
    for (size_t i = 0; i < node_ncols(n); i++) {
        cols[i] = i;
        names[i] = str_fmt(a, "c%zu", i + 1);
    }
    return (Restrict){ table, node_ncols(n), cols, names, 0 };
}

static void put_same_rows(StrBuf *b, const Node *n, const char *l, const char *r)
{
    for (size_t i = 0; i < node_ncols(n); i++) {
        sb_addc(b, i ? " AND " : "");
        put_same(b, str_fmt(b->a, "%s.c%zu", l, i + 1), str_fmt(b->a, "%s.c%zu", r, i + 1), node_type(n, i), node_nullable(n, i));
    }
}

/* LEFT JOIN the new counts of the rows of `keys` in one input */
static Status put_counts(Emit *e, const Node *n, const Node *in, Str keys, const char *alias, StrBuf *b, Error *err)
{
    Str rows = {0};
    Restrict only = restrict_to_rows(e->a, in, keys);
    TRY(state_sql(e, in, SIDE_NEW, &only, &rows, err));
    sb_addc(b, " LEFT JOIN (SELECT ");
    put_columns(b, n, "y");
    sb_fmt(b, ", count(*) AS n FROM (" STR_FMT ") y GROUP BY ALL) %s ON ", STR_ARG(rows), alias);
    put_same_rows(b, n, "d", alias);
    return OK;
}

Status delta_distinct(Emit *e, const Node *n, Str *ret, Error *err)
{
    Str change = {0};
    StrBuf b = sb_new(e->a);
    TRY(delta_consolidated(e, n->in.p[0], &change, err));
    sb_addc(&b, "SELECT ");
    put_columns(&b, n, "z");
    sb_addc(&b, ", CASE WHEN z.n1 > 0 THEN 1 ELSE -1 END AS w FROM (SELECT ");
    put_columns(&b, n, "d");
    sb_fmt(&b, ", coalesce(x.n, 0) AS n1, coalesce(x.n, 0) - d.w AS n0 FROM " STR_FMT " d", STR_ARG(change));
    TRY(put_counts(e, n, n->in.p[0], change, "x", &b, err));
    sb_addc(&b, ") z WHERE (z.n1 > 0) <> (z.n0 > 0)");
    *ret = sb_str(&b);
    return OK;
}

/* Changed tuples of both inputs with the change of each. */
static Status changed_tuples(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    int parts = 0;
    sb_addc(&b, "SELECT ");
    put_columns(&b, n, "u");
    sb_addc(&b, ", CAST(sum(u.da) AS BIGINT) AS da, CAST(sum(u.db) AS BIGINT) AS db FROM (");
    for (size_t i = 0; i < 2; i++) {
        Str change = {0};
        if (!emit_changed(e, n->in.p[i]))
            continue;
        TRY(delta_table(e, n->in.p[i], &change, err));
        sb_addc(&b, parts++ ? " UNION ALL SELECT " : "SELECT ");
        put_names(&b, n);
        sb_fmt(&b, ", %s AS da, %s AS db FROM " STR_FMT, i ? "0" : "w", i ? "w" : "0", STR_ARG(change));
    }
    sb_addc(&b, ") u GROUP BY ");
    put_columns(&b, n, "u");
    *ret = str_fmt(e->a, "ivm_t%d", n->id);
    return emit_step(e, *ret, sb_str(&b), err);
}

static const char *setop_weight(const Node *n)
{
    if (n->setop == SETOP_INTERSECT)
        return n->all ? "least(a1, b1) - least(a0, b0)"
                      : "CAST(a1 > 0 AND b1 > 0 AS BIGINT) - CAST(a0 > 0 AND b0 > 0 AS BIGINT)";
    return n->all ? "greatest(a1 - b1, 0) - greatest(a0 - b0, 0)"
                  : "CAST(a1 > 0 AND b1 = 0 AS BIGINT) - CAST(a0 > 0 AND b0 = 0 AS BIGINT)";
}

Status delta_setop(Emit *e, const Node *n, Str *ret, Error *err)
{
    Str tuples = {0};
    StrBuf b = sb_new(e->a);
    TRY(changed_tuples(e, n, &tuples, err));
    sb_addc(&b, "SELECT ");
    put_columns(&b, n, "q");
    sb_addc(&b, ", q.w FROM (SELECT ");
    put_columns(&b, n, "z");
    sb_fmt(&b, ", %s AS w FROM (SELECT ", setop_weight(n));
    put_columns(&b, n, "d");
    sb_addc(&b, ", coalesce(x.n, 0) AS a1, coalesce(y.n, 0) AS b1, coalesce(x.n, 0) - d.da AS a0, coalesce(y.n, 0) - d.db AS b0 FROM ");
    sb_fmt(&b, STR_FMT " d", STR_ARG(tuples));
    TRY(put_counts(e, n, n->in.p[0], tuples, "x", &b, err));
    TRY(put_counts(e, n, n->in.p[1], tuples, "y", &b, err));
    sb_addc(&b, ") z) q WHERE q.w <> 0");
    *ret = sb_str(&b);
    return OK;
}
