/* SPDX-License-Identifier: Apache-2.0 */
/* topk.c - ORDER BY … LIMIT on top of a view: the stored rows are the best so far, and compete with those that come.
 *
 * Stored beside the visible columns: every column of the input that is read, so that stored rows can be ordered again.  As long as no stored row goes, or all rows there
 * are were stored (fewer than the limit), the best of the stored and the new ones are the best of all: what is not stored is behind the last stored row.  Else ("lost")
 * the input is read anew; its scans are joined with ivm_lost, so that they end at once where it is empty.
 * Steps: ivm_del stored rows that go, ivm_lost a row if the input must be read, ivm_n the rows that there are now, ivm_new a row if they differ from the stored. */
#include "ivm/ivm_int.h"

/* ---- compiling --------------------------------------------------------------------------------------------------------- */

/* rn <= k and nothing else. */
static int limit_of(const Node *filter, const Node *window, int64_t *ret)
{
    const Expr *p = filter->preds.n == 1 ? filter->preds.p[0] : NULL;
    if (!p || p->kind != EX_BINARY || p->op != OP_LE || p->args.p[0]->kind != EX_COLUMN || p->args.p[1]->kind != EX_LITERAL)
        return 0;
    *ret = p->args.p[1]->value.integer;
    return node_of(p->args.p[0]) == window && (size_t)p->args.p[0]->col == node_ncols(window->in.p[0]);
}

typedef struct Seen { const Node *node; size_t col; int yes; } Seen;

static void see_number(void *ctx, const Expr *col)
{
    Seen *s = ctx;
    s->yes |= node_of(col) == s->node && (size_t)col->col == s->col;
}

static int shows_number(const IvmView *v, const Node *filter, size_t col)
{
    Seen s = { filter, col, 0 };
    for vec_each(Expr *, x, &v->root->exprs)
        expr_visit_columns(*x, see_number, &s);
    return s.yes;
}

int is_topk(IvmView *v)
{
    const Node *filter = v->root->in.p[0], *window = filter->kind == NODE_FILTER ? filter->in.p[0] : NULL;
    int64_t limit = 0;
    if (v->target != IVM_LIVE || !window || window->kind != NODE_WINDOW || window->nparts || window->exprs.n != 1 || !limit_of(filter, window, &limit) ||
        shows_number(v, filter, node_ncols(window->in.p[0])))
        return 0;
    v->topk = (Node *)window;
    v->topk_limit = limit;
    return 1;
}

Status topk_compile(Compiler *c, Error *err UNUSED)
{
    IvmView *v = c->v;
    const Node *in = v->topk->in.p[0];
    for (size_t i = 0; i < node_ncols(in); i++) {
        size_t at = visible_column(v, v->root->in.p[0], i);
        KeyStore k = { {0}, at == SIZE_MAX };
        if (in->used[i])
            k.store = k.hidden ? add_hidden(c, str_fmt(c->a, "__ivm_k%zu", i + 1), *node_type(in, i), MAY_BE_NULL) : v->visible.p[at].engine;
        vec_push(c->a, &v->keys, k);
    }
    return OK;
}

/* ---- texts --------------------------------------------------------------------------------------------------------------- */

/* ", n5.c2 AS __ivm_k2 …" for the columns that are stored hidden. */
static Str hidden_columns(Arena *a, const IvmView *v)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < v->keys.n; i++) {
        if (!v->keys.p[i].store.n || !v->keys.p[i].hidden)
            continue;
        sb_fmt(&b, ", n%d.c%zu AS ", v->root->in.p[0]->id, i + 1);
        sql_ident(&b, v->keys.p[i].store);
    }
    return sb_str(&b);
}

Status topk_full_sql(Emit *e, Str *ret, Error *err)
{
    Str rows = {0};
    TRY(state_sql(e, e->v->root->in.p[0], SIDE_NEW, NULL, &rows, err));
    return root_select_sql(e, str_fmt(e->a, "(" STR_FMT ")", STR_ARG(rows)), hidden_columns(e->a, e->v), ret, err);
}

/* The stored rows as rows of the input. */
static void put_stored(StrBuf *b, const IvmView *v)
{
    int any = 0;
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < v->keys.n; i++) {
        if (!v->keys.p[i].store.n)
            continue;
        sb_addc(b, any++ ? ", v." : "v.");
        sql_ident(b, v->keys.p[i].store);
        sb_fmt(b, " AS c%zu", i + 1);
    }
    sb_addc(b, any ? " FROM v" : "1 AS c0 FROM v");
}

static Status gone_step(Emit *e, Str change, Error *err)
{
    const IvmView *v = e->v;
    const Node *in = v->topk->in.p[0];
    StrBuf b = sb_new(e->a);
    int any = 0;
    sb_addc(&b, "SELECT p.f AS f, p.p AS p FROM (SELECT v.\"__file\" AS f, v.\"__pos\" AS p, d.w AS w, row_number() OVER (PARTITION BY d.id ORDER BY v.\"__file\", v.\"__pos\") AS rn "
                "FROM v JOIN (SELECT rowid AS id, ");
    put_columns(&b, in, "x");
    sb_fmt(&b, ", x.w FROM " STR_FMT " x WHERE x.w < 0) d ON ", STR_ARG(change));
    for (size_t i = 0; i < node_ncols(in); i++) {
        if (!in->used[i])
            continue;
        sb_addc(&b, any++ ? " AND " : "");
        put_same(&b, str_cat(e->a, S("v."), sql_ident_str(e->a, v->keys.p[i].store)), str_fmt(e->a, "d.c%zu", i + 1), node_type(in, i), node_nullable(in, i));
    }
    sb_addc(&b, any ? ") p WHERE p.rn <= -p.w" : "TRUE) p WHERE p.rn <= -p.w");
    TRY(emit_step(e, S("ivm_del"), sb_str(&b), err));
    return emit_step(e, S("ivm_lost"), str_fmt(e->a, "SELECT 1 AS x WHERE EXISTS (SELECT 1 FROM ivm_del) AND (SELECT count(*) FROM v) >= %lld", (long long)v->topk_limit), err);
}

/* Stored rows that stay, and rows that come, w times. */
static void put_candidates(Emit *e, Str change, int deletes, StrBuf *b)
{
    const Node *in = e->v->topk->in.p[0];
    put_stored(b, e->v);
    if (deletes)
        sb_addc(b, " WHERE NOT EXISTS (SELECT 1 FROM ivm_lost) AND NOT EXISTS (SELECT 1 FROM ivm_del q WHERE q.f = v.\"__file\" AND q.p = v.\"__pos\")");
    sb_addc(b, " UNION ALL SELECT ");
    put_columns(b, in, "y");
    sb_fmt(b, " FROM (SELECT x.*, unnest(range(x.w)) FROM " STR_FMT " x WHERE x.w > 0%s) y", STR_ARG(change), deletes ? " AND NOT EXISTS (SELECT 1 FROM ivm_lost)" : "");
}

static Status rows_step(Emit *e, Str change, int deletes, Error *err)
{
    const Node *w = e->v->topk, *in = w->in.p[0];
    StrBuf b = sb_new(e->a);
    Str rows = {0};
    sb_addc(&b, "SELECT ");
    put_columns(&b, in, "q");
    sb_addc(&b, " FROM (SELECT ");
    put_columns(&b, in, str_z(e->a, in->ref.engine));
    sb_addc(&b, ", ");
    TRY(put_window_call(e, w, 0, &b, err));
    sb_addc(&b, " AS rn FROM (");
    put_candidates(e, change, deletes, &b);
    if (deletes) {
        e->gate = S("ivm_lost");
        Status s = state_sql(e, in, SIDE_NEW, NULL, &rows, err);
        e->gate = (Str){0};
        TRY(s);
        sb_addc(&b, " UNION ALL SELECT ");
        put_columns(&b, in, "z");
        sb_fmt(&b, " FROM (" STR_FMT ") z WHERE EXISTS (SELECT 1 FROM ivm_lost)", STR_ARG(rows));
    }
    sb_fmt(&b, ") n%d) q WHERE q.rn <= %lld", in->id, (long long)e->v->topk_limit);
    return emit_step(e, S("ivm_n"), sb_str(&b), err);
}

static Status differs_step(Emit *e, Error *err)
{
    StrBuf b = sb_new(e->a), stored = sb_new(e->a);
    put_stored(&stored, e->v);
    sb_fmt(&b, "SELECT 1 AS x WHERE (SELECT count(*) FROM ivm_n) <> (SELECT count(*) FROM v) OR EXISTS (SELECT * FROM ivm_n EXCEPT ALL (" STR_FMT "))", STR_ARG(sb_str(&stored)));
    return emit_step(e, S("ivm_new"), sb_str(&b), err);
}

Status topk_plan(Emit *e, Error *err)
{
    const Node *in = e->v->topk->in.p[0];
    int deletes = emit_deletes(e, in);
    Str change = {0}, insert = {0};
    TRY(delta_table(e, in, &change, err));
    if (deletes)
        TRY(gone_step(e, change, err));
    TRY(rows_step(e, change, deletes, err));
    TRY(differs_step(e, err));
    TRY(root_select_sql(e, S("ivm_n"), hidden_columns(e->a, e->v), &insert, err));
    StrBuf gone = sb_new(e->a);
    put_stored_rows(&gone, e->v);
    sb_addc(&gone, " FROM v WHERE EXISTS (SELECT 1 FROM ivm_new)");
    e->plan->delete_sql = sb_str(&gone);
    e->plan->insert_sql = str_cat(e->a, insert, S(" WHERE EXISTS (SELECT 1 FROM ivm_new)"));
    e->plan->check_sql = str_fmt(e->a, "SELECT greatest(count(*) - %lld, 0) FROM v", (long long)e->v->topk_limit);
    return OK;
}
