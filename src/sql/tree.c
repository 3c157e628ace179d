/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - walks over trees.
 *
 * One function knows the children of each node; walking, collecting tables and measuring the height stand on it.
 * Invariants: (1) a CTE is entered where it is defined, not where it is named, so a walk sees each expression once;
 * (2) the height is counted with a stack of our own, so it is safe before the height is known. */
#include "sql/parse_int.h"

typedef VEC(TreeNode) NodeVec;
typedef struct Kids { Arena *a; NodeVec *out; int height; } Kids;

static void add(Kids *k, TreeNodeKind kind, const void *p)
{
    TreeNode n = { kind, (void *)p, k->height };
    if (p)
        vec_push(k->a, k->out, n);
}

static void add_list(Kids *k, const ExprVec *v)
{
    for (size_t i = 0; i < v->n; i++)
        add(k, TREE_EXPR, v->p[i]);
}

static void add_order(Kids *k, const OrderVec *v)
{
    for (size_t i = 0; i < v->n; i++)
        add(k, TREE_EXPR, v->p[i].expr);
}

static void add_window(Kids *k, const WindowSpec *w)
{
    add_list(k, &w->partition);
    add_order(k, &w->order);
    add(k, TREE_EXPR, w->frame.from_n);
    add(k, TREE_EXPR, w->frame.to_n);
}

static void expr_kids(Kids *k, const Expr *e)
{
    add_list(k, &e->args);
    add(k, TREE_EXPR, e->else_);
    add(k, TREE_QUERY, e->query);
    if (!e->func)
        return;
    add(k, TREE_EXPR, e->func->filter);
    add_order(k, &e->func->order);
    if (e->func->over)
        add_window(k, e->func->over);
}

static void table_kids(Kids *k, const TableRef *t)
{
    add(k, TREE_TABLE, t->left);
    add(k, TREE_TABLE, t->right);
    if (t->kind != TR_CTE)
        add(k, TREE_QUERY, t->query);
    if (t->kind == TR_TABLE && t->table && t->table->view && !t->query)
        add(k, TREE_QUERY, t->table->view);
    add_list(k, &t->args);
    for (size_t i = 0; i < t->rows.n; i++)
        add_list(k, &t->rows.p[i]);
    add(k, TREE_EXPR, t->as_of.version);
    add(k, TREE_EXPR, t->as_of.timestamp);
    add(k, TREE_EXPR, t->on);
}

static void select_kids(Kids *k, const Select *s)
{
    add_list(k, &s->distinct_on);
    for (size_t i = 0; i < s->items.n; i++)
        add(k, TREE_EXPR, s->items.p[i].expr);
    add(k, TREE_TABLE, s->from);
    add(k, TREE_EXPR, s->where);
    add_list(k, &s->group_by);
    for (size_t i = 0; i < s->group_sets.n; i++)
        add_list(k, &s->group_sets.p[i]);
    add(k, TREE_EXPR, s->having);
    for (size_t i = 0; i < s->windows.n; i++)
        add_window(k, s->windows.p[i]);
    add(k, TREE_EXPR, s->qualify);
}

static void query_kids(Kids *k, const Query *q)
{
    for (size_t i = 0; i < q->ctes.n; i++)
        add(k, TREE_QUERY, q->ctes.p[i].query);
    if (q->select)
        select_kids(k, q->select);
    add(k, TREE_QUERY, q->left);
    add(k, TREE_QUERY, q->right);
    for (size_t i = 0; i < q->rows.n; i++)
        add_list(k, &q->rows.p[i]);
    add_order(k, &q->order);
    add(k, TREE_EXPR, q->limit);
    add(k, TREE_EXPR, q->offset);
}

static void kids(Kids *k, TreeNode n)
{
    k->height = n.height + 1;
    switch (n.kind) {
    case TREE_EXPR: expr_kids(k, n.p); break;
    case TREE_QUERY: query_kids(k, n.p); break;
    case TREE_TABLE: table_kids(k, n.p); break;
    }
}

/* In order of appearance: the children of a node are pushed in reverse. */
int tree_walk(TreeNode root, TreeVisit visit, void *ctx)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    NodeVec stack = {0}, children = {0};
    Kids k = { .a = a, .out = &children };

    vec_push(a, &stack, root);
    while (stack.n) {
        TreeNode n = stack.p[--stack.n];
        TreeNext next = visit(ctx, n);
        if (next == TREE_STOP)
            return 0;
        children.n = 0;
        if (next == TREE_ENTER)
            kids(&k, n);
        for (size_t i = children.n; i-- > 0;)
            vec_push(a, &stack, children.p[i]);
    }
    return 1;
}

/* ---- walks ----------------------------------------------------------------------------------------------------- */

typedef struct ExprWalk { ExprVisit visit; void *ctx; } ExprWalk;

static TreeNext visit_expr(void *ctx, TreeNode n)
{
    ExprWalk *w = ctx;
    return n.kind != TREE_EXPR || w->visit(w->ctx, n.p) ? TREE_ENTER : TREE_STOP;
}

static int walk_exprs(TreeNode root, ExprVisit visit, void *ctx)
{
    ExprWalk w = { visit, ctx };
    return root.p ? tree_walk(root, visit_expr, &w) : 1;
}

int sql_walk_expr(Expr *e, ExprVisit visit, void *ctx) { return walk_exprs((TreeNode){ TREE_EXPR, e, 0 }, visit, ctx); }
int sql_walk_query(Query *q, ExprVisit visit, void *ctx) { return walk_exprs((TreeNode){ TREE_QUERY, q, 0 }, visit, ctx); }

typedef struct TableWalk { Arena *a; TableRefs *ret; } TableWalk;

static TreeNext visit_table(void *ctx, TreeNode n)
{
    TableWalk *w = ctx;
    TableRef *t = n.p;

    if (n.kind == TREE_TABLE && (t->kind == TR_TABLE || t->kind == TR_FILE) && !(t->table && t->table->view))
        vec_push(w->a, w->ret, t);
    return TREE_ENTER;
}

void sql_tables(Arena *a, const Query *q, TableRefs *ret)
{
    TableWalk w = { a, ret };
    tree_walk((TreeNode){ TREE_QUERY, (void *)q, 0 }, visit_table, &w);
}

static TreeNext visit_height(void *ctx, TreeNode n)
{
    int *max = ctx;
    *max = n.height > *max ? n.height : *max;
    return TREE_ENTER;
}

static int height(TreeNode root)
{
    int max = 0;
    tree_walk(root, visit_height, &max);
    return max;
}

int tree_height_expr(Expr *e) { return height((TreeNode){ TREE_EXPR, e, 0 }); }
int tree_height_query(Query *q) { return height((TreeNode){ TREE_QUERY, q, 0 }); }
