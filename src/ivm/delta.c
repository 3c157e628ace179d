/* SPDX-License-Identifier: Apache-2.0 */
/* delta.c - the change of a node, as rows with a signed weight w.
 *
 * Linear nodes carry the weight along.  An inner join of N inputs has N terms: term i joins the new states before i, the
 * delta of i, and the old states after it (telescoping, spec/ivm.md 2.2); terms of unchanged inputs do not exist.  Other
 * nodes are in delta_affected.c.  Deltas are right without being consolidated; who needs one where nothing cancels, or needs
 * it twice, asks for delta_table: a step of its own, made once. */
#include "ivm/ivm_int.h"

static Status put_inline(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    Str sql = {0};
    if (n->refs > 1 && !is_pass(n))                     /* once for all who stand on it */
        TRY(delta_table(e, n, &sql, err));
    TRY(delta_sql(e, n, &sql, err));
    sb_addc(b, "(");
    sb_add(b, sql);
    sb_fmt(b, ") n%d", n->id);
    return OK;
}

/* A delta as a FROM item: nodes that are a pass over a source's change stay inline, others become a step, so that the
 * engine knows how few rows they are. */
static Status put_delta(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    Str table = {0};
    if (is_pass(n))
        return put_inline(e, n, b, err);
    TRY(delta_table(e, n, &table, err));
    sb_fmt(b, STR_FMT " n%d", STR_ARG(table), n->id);
    return OK;
}

static Status put_state(Emit *e, const Node *n, Side side, StrBuf *b, Error *err)
{
    Str sql = {0};
    TRY(state_sql(e, n, side, NULL, &sql, err));
    sb_addc(b, "(");
    sb_add(b, sql);
    sb_fmt(b, ") n%d", n->id);
    return OK;
}

/* ---- linear nodes --------------------------------------------------------------------------------------- */

static Status delta_scan(Emit *e, const Node *n, StrBuf *b)
{
    const BoundTable *t = e->v->tables.p[n->source];
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sql_ident(b, t->columns.p[i].engine);
        sb_fmt(b, " AS c%zu, ", i + 1);
    }
    sb_fmt(b, "\"__w\" AS w FROM s%zu_chg", n->source);
    return OK;
}

static Status delta_filter(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    const Node *in = n->in.p[0];
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, in->ref.engine));
    sb_fmt(b, ", n%d.w FROM ", in->id);
    TRY(put_inline(e, in, b, err));
    sb_addc(b, " WHERE ");
    return put_conjuncts(b, &n->preds, err);
}

static Status delta_project(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    const Node *in = n->in.p[0];
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < n->exprs.n; i++) {
        if (!n->used[i])
            continue;
        TRY(put_expr(b, n->exprs.p[i], err));
        sb_fmt(b, " AS c%zu, ", i + 1);
    }
    sb_fmt(b, "n%d.w FROM ", in->id);
    return put_inline(e, in, b, err);
}

static Status delta_union(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    int any = 0;
    for vec_each(Node *, in, &n->in) {
        if (!emit_changed(e, *in))
            continue;
        sb_addc(b, any++ ? " UNION ALL SELECT " : "SELECT ");
        put_columns(b, n, str_z(e->a, (*in)->ref.engine));
        sb_fmt(b, ", n%d.w FROM ", (*in)->id);
        TRY(put_inline(e, *in, b, err));
    }
    return OK;
}

static Status delta_flat(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    put_flat_columns(b, n);
    sb_fmt(b, ", n%d.w FROM ", n->in.p[0]->id);
    TRY(put_inline(e, n->in.p[0], b, err));
    return put_flat(b, n, err);
}

/* ---- inner joins ---------------------------------------------------------------------------------------- */

static Status join_term(Emit *e, const Node *n, size_t which, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    put_join_columns(b, n);
    sb_fmt(b, ", n%d.w FROM ", n->in.p[which]->id);
    for (size_t i = 0; i < n->in.n; i++) {
        sb_addc(b, i ? ", " : "");
        if (i == which)
            TRY(put_delta(e, n->in.p[i], b, err));
        else
            TRY(put_state(e, n->in.p[i], i < which ? SIDE_NEW : SIDE_OLD, b, err));
    }
    sb_addc(b, " WHERE ");
    return put_conjuncts(b, &n->preds, err);
}

/* A term of three inputs and more is joined in steps, from the change outwards, so that the engine knows how few rows there
 * are each time: it reads of the next input what they ask for.  A step takes one input, or several in a row that are small:
 * those need no care.  It holds each input as one struct column under the input's name, so that conditions keep their text. */
typedef struct Chain { Emit *e; const Node *n; size_t which; uint64_t joined, applied; Str table; size_t steps, run[64], nrun; } Chain;

static void see_input(void *ctx, const Expr *col)
{
    struct { const Node *n; uint64_t inputs; } *s = ctx;
    for (size_t i = 0; i < s->n->in.n; i++)
        if (node_of(col) == s->n->in.p[i])
            s->inputs |= 1ull << i;
}

static uint64_t inputs_of(const Node *n, const Expr *pred)
{
    struct { const Node *n; uint64_t inputs; } s = { n, 0 };
    expr_visit_columns(pred, see_input, &s);
    return s.inputs;
}

/* An input that an equation ties to what is joined; else any that is left. */
static size_t next_input(const Chain *c)
{
    size_t left = SIZE_MAX;
    for (size_t i = c->n->in.n; i-- > 0; ) {
        if (c->joined >> i & 1)
            continue;
        left = i;
        for vec_each(Expr *, p, &c->n->preds) {
            uint64_t in = inputs_of(c->n, *p);
            if ((*p)->kind == EX_BINARY && (*p)->op == OP_EQ && (in >> i & 1) && (in & c->joined) && !(in & ~(c->joined | 1ull << i)))
                return i;
        }
    }
    return left;
}

/* Conditions that can be checked now and were not yet. */
static ExprVec ready_conditions(Chain *c)
{
    ExprVec ready = {0};
    for (size_t i = 0; i < c->n->preds.n; i++)
        if (!(c->applied >> i & 1) && !(inputs_of(c->n, c->n->preds.p[i]) & ~c->joined)) {
            c->applied |= 1ull << i;
            vec_push(c->e->a, &ready, c->n->preds.p[i]);
        }
    return ready;
}

static void take(Chain *c, size_t input)
{
    c->run[c->nrun++] = input;
    c->joined |= 1ull << input;
}

static int all_joined(const Chain *c) { return c->joined == (1ull << c->n->in.n) - 1; }

/* The inputs of the next step. */
static void take_run(Chain *c)
{
    c->nrun = 0;
    if (!c->joined)
        take(c, c->which);
    size_t input = next_input(c);
    take(c, input);
    while (!all_joined(c) && emit_small(c->e, c->n->in.p[input])) {
        input = next_input(c);
        if (!emit_small(c->e, c->n->in.p[input]))
            return;
        take(c, input);
    }
}

static Status chain_from(Chain *c, StrBuf *b, Error *err)
{
    sb_fmt(b, " FROM " STR_FMT, STR_ARG(c->table));
    for (size_t i = 0; i < c->nrun; i++) {
        size_t input = c->run[i];
        sb_addc(b, i || c->table.n ? ", " : "");
        if (input == c->which)
            TRY(put_delta(c->e, c->n->in.p[input], b, err));
        else
            TRY(put_state(c->e, c->n->in.p[input], input < c->which ? SIDE_NEW : SIDE_OLD, b, err));
    }
    ExprVec ready = ready_conditions(c);
    sb_addc(b, " WHERE ");
    return put_conjuncts(b, &ready, err);
}

static Status chain_step(Chain *c, Error *err)
{
    StrBuf b = sb_new(c->e->a);
    const char *comma = "";
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < c->n->in.n; i++)
        if (c->joined >> i & 1) {
            sb_fmt(&b, "%sn%d", comma, c->n->in.p[i]->id);
            comma = ", ";
        }
    TRY(chain_from(c, &b, err));
    c->table = str_fmt(c->e->a, "ivm_j%d_%zu_%zu", c->n->id, c->which, c->steps++);
    return emit_step(c->e, c->table, sb_str(&b), err);
}

static Status chain_term(Emit *e, const Node *n, size_t which, StrBuf *b, Error *err)
{
    Chain c = { .e = e, .n = n, .which = which };
    for (take_run(&c); !all_joined(&c); take_run(&c))
        TRY(chain_step(&c, err));
    sb_addc(b, "SELECT ");
    put_join_columns(b, n);
    sb_fmt(b, ", n%d.w", n->in.p[which]->id);
    return chain_from(&c, b, err);
}

static Status delta_join(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    int any = 0, chained = n->in.n > 2 && n->in.n < 64 && n->preds.n < 64;
    for (size_t i = 0; i < n->in.n; i++) {
        if (!emit_changed(e, n->in.p[i]))
            continue;
        sb_addc(b, any++ ? " UNION ALL " : "");
        TRY(chained ? chain_term(e, n, i, b, err) : join_term(e, n, i, b, err));
    }
    return OK;
}

/* ---- the door ------------------------------------------------------------------------------------------- */

static Status delta_node(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    Str sql = {0};
    switch (n->kind) {
    case NODE_SCAN:     return delta_scan(e, n, b);
    case NODE_FILTER:   return delta_filter(e, n, b, err);
    case NODE_PROJECT:  return delta_project(e, n, b, err);
    case NODE_UNION:    return delta_union(e, n, b, err);
    case NODE_JOIN:     return delta_join(e, n, b, err);
    case NODE_OUTER:    TRY(delta_outer(e, n, &sql, err)); break;
    case NODE_SEMI:     TRY(delta_semi(e, n, &sql, err)); break;
    case NODE_AGG:      TRY(delta_agg(e, n, &sql, err)); break;
    case NODE_DISTINCT: TRY(delta_distinct(e, n, &sql, err)); break;
    case NODE_SETOP:    TRY(delta_setop(e, n, &sql, err)); break;
    case NODE_WINDOW:   TRY(delta_window(e, n, &sql, err)); break;
    case NODE_FLAT:     return delta_flat(e, n, b, err);
    case NODE_TEMPORAL: return delta_temporal(e, n, b, err);
    case NODE_ONE:
    case NODE_VALUES:
        return FAIL(err, E_INTERNAL, "the delta of a constant was asked for");
    }
    sb_add(b, sql);
    return OK;
}

Status delta_sql(Emit *e, const Node *n, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    if (e->tables[n->id].n) {                           /* made already: read it */
        sb_addc(&b, "SELECT ");
        put_columns(&b, n, "x");
        sb_fmt(&b, ", x.w FROM " STR_FMT " x", STR_ARG(e->tables[n->id]));
    } else {
        TRY(delta_node(e, n, &b, err));
    }
    if (b.n > IVM_MAX_TEXT)
        return FAIL(err, E_LIMIT, "a statement of the plan is more than %d bytes", IVM_MAX_TEXT);
    *ret = sb_str(&b);
    return OK;
}

static Str consolidated(Emit *e, const Node *n, Str sql)
{
    StrBuf b = sb_new(e->a);
    size_t keys = 0;
    sb_addc(&b, "SELECT ");
    put_columns(&b, n, "x");
    sb_fmt(&b, ", CAST(sum(x.w) AS BIGINT) AS w FROM (" STR_FMT ") x", STR_ARG(sql));
    for (size_t i = 0; i < node_ncols(n); i++)
        keys += n->used[i] != 0;
    for (size_t i = 0; i < (keys ? keys : 1); i++)
        sb_fmt(&b, "%s%zu", i ? ", " : " GROUP BY ", i + 1);
    sb_addc(&b, " HAVING sum(x.w) <> 0");
    return sb_str(&b);
}

/* A pass over rows that only came is read where it stands: to make a table of it costs more than to read it twice. */
Status delta_table(Emit *e, const Node *n, Str *ret, Error *err)
{
    Str sql = {0};
    int unit = emit_unit(e, n);
    *ret = e->tables[n->id];
    if (ret->n)
        return OK;
    TRY(delta_sql(e, n, &sql, err));
    if (unit && is_pass(n)) {
        *ret = str_fmt(e->a, "(" STR_FMT ")", STR_ARG(sql));
        return OK;
    }
    *ret = str_fmt(e->a, "ivm_d%d", n->id);
    TRY(emit_step(e, *ret, unit ? sql : consolidated(e, n, sql), err));
    e->tables[n->id] = *ret;
    return OK;
}

Status delta_consolidated(Emit *e, const Node *n, Str *ret, Error *err)
{
    Str sql = {0};
    if (!emit_unit(e, n))
        return delta_table(e, n, ret, err);
    TRY(delta_sql(e, n, &sql, err));
    *ret = str_fmt(e->a, "ivm_e%d", n->id);
    return emit_step(e, *ret, consolidated(e, n, sql), err);
}
