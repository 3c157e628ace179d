/* SPDX-License-Identifier: Apache-2.0 */
/* temporal.c - conditions on mz_now(): a filter whose rows come and go with time.
 *
 * Time is one more source, of one row, s_now: it moves from t_old to t_new.  The rows after it are those of the input that pass at t_new.  The change has
 * two parts: the input's change, as far as it passes at t_new, and old rows of the input that pass at one of the two times only. */
#include "ivm/ivm_int.h"

static int see_now(void *ctx, Expr *e)
{
    *(int *)ctx |= e->kind == EX_FUNCTION && e->func && str_eq(e->func->canonical, S("mz_now"));
    return 1;
}

int has_now(const Expr *e)
{
    int any = 0;
    (void)sql_walk_expr((Expr *)e, see_now, &any);
    return any;
}

typedef struct Inputs { const Node *join; uint64_t seen; } Inputs;

static void see_input(void *ctx, const Expr *col)
{
    Inputs *x = ctx;
    size_t at = (size_t)col->col;
    for (size_t i = 0; i < x->join->in.n; i++) {
        if (at < node_ncols(x->join->in.p[i])) {
            x->seen |= (uint64_t)1 << i;
            return;
        }
        at -= node_ncols(x->join->in.p[i]);
    }
}

/* The only input of a join that a condition names; SIZE_MAX: several. */
static size_t only_input(const Node *join, const Expr *pred)
{
    Inputs x = { join, 0 };
    if (join->in.n > 63)
        return SIZE_MAX;
    expr_visit_columns(pred, see_input, &x);
    for (size_t i = 0; i < join->in.n; i++)
        if (x.seen == (uint64_t)1 << i)
            return i;
    return SIZE_MAX;
}

static Status plain_temporal(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err);

/* The same join with its input i behind a temporal filter: each second that input alone is looked at. */
static Status temporal_input(Compiler *c, const Node *join, size_t i, Expr *pred, Node **ret, Error *err)
{
    Expr *below = NULL;
    ExprVec one = {0};
    Node *in = NULL, *n = NULL;
    TRY(node_to_inputs(c, join, pred, &below, err));
    vec_push(c->a, &one, below);
    TRY(plain_temporal(c, join->in.p[i], &one, &in, err));
    TRY(node_new(c, NODE_JOIN, &n, err));
    for (size_t k = 0; k < join->in.n; k++)
        node_add_input(c, n, k == i ? in : join->in.p[k]);
    for (size_t k = 0; k < node_ncols(join); k++)
        node_add_column(c, n, *node_type(join, k), node_nullable(join, k), join->fuzzy[k]);
    for vec_each(Expr *, p, &join->preds)
        vec_push(c->a, &n->preds, *p);
    *ret = n;
    return node_reseat(c, join->in.p[i], in, &n->preds, err);
}

Status node_temporal(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    ExprVec left = *preds, rest = {0};
    for (size_t k = 0; in->kind == NODE_JOIN && k < left.n; k++) {
        Node *join = NULL;
        size_t i = only_input(in, left.p[k]);
        if (i == SIZE_MAX) {
            vec_push(c->a, &rest, left.p[k]);
            continue;
        }
        TRY(temporal_input(c, in, i, left.p[k], &join, err));
        TRY(node_reseat(c, in, join, &left, err));
        TRY(node_reseat(c, in, join, &rest, err));
        in = join;
    }
    if (in->kind != NODE_JOIN)
        rest = left;
    *ret = in;
    return rest.n ? plain_temporal(c, in, &rest, ret, err) : OK;
}

static Status plain_temporal(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err)
{
    Node *n = NULL;
    for vec_each(Expr *, p, preds)
        if (expr_fuzzy(*p))
            return FAIL(err, E_UNSUPPORTED, "mz_now() compared with a floating-point or order-dependent aggregate");
    TRY(node_new(c, NODE_TEMPORAL, &n, err));
    node_add_input(c, n, in);
    for (size_t i = 0; i < node_ncols(in); i++)
        node_add_column(c, n, *node_type(in, i), node_nullable(in, i), in->fuzzy[i]);
    n->preds = *preds;
    n->sources |= (uint64_t)1 << IVM_TIME;
    n->monotone = 0;
    construct_met(c, S("temporal filter"));
    *ret = n;
    return OK;
}

static Status old_now(void *ctx, const Expr *e, Expr **ret, Error *err UNUSED)
{
    Compiler *c = ctx;
    if (e->kind != EX_FUNCTION || !e->func || !str_eq(e->func->canonical, S("mz_now")))
        return OK;
    Expr *x = arena_new(c->a, Expr);
    *x = *e;
    x->func = arena_new(c->a, FuncCall);
    *x->func = *e->func;
    x->func->engine = S("(SELECT t_old FROM s_now)");
    *ret = x;
    return OK;
}

/* The binder lets mz_now() read t_new. */
Status put_now_conjuncts(Emit *e, StrBuf *b, const ExprVec *preds, Side side, Error *err)
{
    Compiler c = { .a = e->a, .v = (IvmView *)e->v };
    ExprVec old = {0};
    if (side == SIDE_NEW)
        return put_conjuncts(b, preds, err);
    for vec_each(Expr *, p, preds) {
        Expr *x = NULL;
        TRY(expr_rewrite(&c, *p, old_now, &c, &x, err));
        vec_push(e->a, &old, x);
    }
    return put_conjuncts(b, &old, err);
}

static Status arrived(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    const Node *in = n->in.p[0];
    Str change = {0};
    TRY(delta_table(e, in, &change, err));
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, in->ref.engine));
    sb_fmt(b, ", n%d.w FROM " STR_FMT " n%d WHERE ", in->id, STR_ARG(change), in->id);
    return put_now_conjuncts(e, b, &n->preds, SIDE_NEW, err);
}

static Status came_of_age(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    const Node *in = n->in.p[0];
    Str rows = {0};
    TRY(state_sql(e, in, SIDE_OLD, NULL, &rows, err));
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, in->ref.engine));
    sb_addc(b, ", CASE WHEN ");
    TRY(put_now_conjuncts(e, b, &n->preds, SIDE_NEW, err));
    sb_fmt(b, " THEN 1 ELSE -1 END AS w FROM (" STR_FMT ") n%d WHERE ((", STR_ARG(rows), in->id);
    TRY(put_now_conjuncts(e, b, &n->preds, SIDE_NEW, err));
    sb_addc(b, ") IS TRUE) <> ((");
    TRY(put_now_conjuncts(e, b, &n->preds, SIDE_OLD, err));
    sb_addc(b, ") IS TRUE)");
    return OK;
}

Status delta_temporal(Emit *e, const Node *n, StrBuf *b, Error *err)
{
    int change = emit_changed(e, n->in.p[0]), time = emit_time_moved(e);
    if (change)
        TRY(arrived(e, n, b, err));
    if (change && time)
        sb_addc(b, " UNION ALL ");
    return time ? came_of_age(e, n, b, err) : OK;
}
