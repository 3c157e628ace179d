/* SPDX-License-Identifier: Apache-2.0 */
/* ivm_int.h - private to ivm/: the plan tree, its expressions, and the emitters' common ground.
 *
 * A plan node offers columns c1 … cn under the alias n<id>; its expressions are bound trees whose EX_COLUMN points at the
 * `ref` of an input node.  So the printer of sql/ writes them as they are, and names never clash however deep the nesting.
 * Trees are directed graphs: a subquery used three times (NOT IN) is one node; a table or CTE named twice is two. */
#ifndef FIRN_IVM_INT_H
#define FIRN_IVM_INT_H

#include "ivm/ivm.h"

enum {
    IVM_MAX_SOURCES = 63,                 /* a set of sources is a bit mask; the last bit is time (mz_now) */
    IVM_TIME = 63,
    IVM_MAX_NODES = 2000,                 /* CTEs that name each other twice grow without end */
    IVM_MAX_COLUMNS = 4000,
    IVM_MAX_EXPRS = 200000,               /* expressions made while compiling */
    IVM_MAX_TEXT = 16 * 1024 * 1024,      /* one statement of a plan */
};

typedef enum {
    NODE_ONE,         /* one row without columns: SELECT without FROM */
    NODE_VALUES,      /* constant rows */
    NODE_SCAN,
    NODE_FILTER,      /* preds over in[0] */
    NODE_PROJECT,     /* exprs over in[0] */
    NODE_JOIN,        /* inner join of all inputs, preds over them; columns are the inputs' in a row */
    NODE_OUTER,       /* left (or full) join of in[0] and in[1] on preds */
    NODE_SEMI,        /* rows of in[0] with (anti: without) a row of in[1] that satisfies preds */
    NODE_AGG,         /* exprs: nkeys keys, then aggregates, over in[0] */
    NODE_DISTINCT,
    NODE_UNION,       /* UNION ALL */
    NODE_SETOP,       /* INTERSECT [ALL], EXCEPT [ALL] */
    NODE_WINDOW,      /* in[0]'s columns, then exprs: window calls whose partitions hold those of `parts` */
    NODE_FLAT,        /* in[0]'s columns, then those of `func` or of exprs (functions that give many rows), for each row of in[0] */
    NODE_TEMPORAL,    /* a filter whose preds compare mz_now() */
} NodeKind;

enum { FUZZY_NUMBER = 1, FUZZY_PICK = 2 };        /* sums of floats and lists, which depend on order; any_value and its kin */

typedef struct Node Node;
typedef VEC(Node *) NodeVec;
struct Node {
    TableRef ref;                         /* first: an EX_COLUMN's rel is its node */
    NodeKind kind;
    int id, refs, position;               /* refs: nodes that stand on it */
    NodeVec in;
    ExprVec preds, exprs;                 /* preds: conjuncts */
    size_t nkeys, source;
    int full, anti, all, outer;           /* outer: of NODE_FLAT, a row without results stays */
    size_t *parts, nparts;                /* NODE_WINDOW: columns of in[0] */
    uint8_t *ties;                        /* NODE_WINDOW: calls whose order must leave no ties, see window.c */
    TableRef *func;                       /* NODE_FLAT */
    SetOp setop;
    const ExprVec *rows;                  /* NODE_VALUES */
    size_t nrows;
    uint64_t sources;                     /* every source below */
    int monotone;                         /* inserts below can only give inserts */
    uint8_t *used;                        /* columns that somebody above reads */
    uint8_t *fuzzy;                       /* columns whose value is not the same at each computation: FUZZY_… or 0 */
};

static inline Node *node_of(const Expr *column) { return (Node *)column->rel; }
static inline size_t node_ncols(const Node *n) { return n->ref.columns.n; }
static inline const DataType *node_type(const Node *n, size_t i) { return &n->ref.columns.p[i].type; }
static inline int node_nullable(const Node *n, size_t i) { return n->ref.columns.p[i].nullable; }

/* ---- the compiled view -------------------------------------------------------------------------------- */

typedef enum { AGG_COUNT_STAR, AGG_COUNT, AGG_SUM, AGG_AVG, AGG_MIN, AGG_MAX, AGG_BOOL_AND, AGG_BOOL_OR, AGG_OTHER } AggKind;

/* One piece of mergeable state. Slot 0 is always the number of rows of the group. */
typedef enum { SLOT_ROWS, SLOT_COUNT, SLOT_SUM, SLOT_TRUE, SLOT_FALSE, SLOT_MIN, SLOT_MAX } SlotKind;
typedef struct Slot {
    SlotKind kind;
    size_t agg;                           /* index into the node's exprs; of SLOT_ROWS: none */
    Str store;                            /* the stored column that holds it */
    int hidden;                           /* 0: a visible column */
    DataType type;                        /* of the stored column */
} Slot;
typedef struct KeyStore { Str store; int hidden; } KeyStore;

struct IvmView {
    const Query *query;
    IvmTarget target;
    int uses_now;
    IvmShape shape;
    Str reason;
    StrVec constructs;
    IvmColumns visible, hidden;
    VEC(const BoundTable *) tables;
    NodeVec nodes;
    Node *root;                           /* columns: the visible ones in order */
    /* MERGE and REPLACE: root is a NODE_PROJECT over `agg`, with `having` between when not NULL */
    Node *agg, *having;
    VEC(Slot) slots;
    VEC(KeyStore) keys;
    int by_row;                           /* REPLACE by the columns that are not fuzzy */
    Node *topk;                           /* REPLACE of the first topk_limit rows: the window that numbers them (topk.c) */
    int64_t topk_limit;
    IvmView *arranged;                    /* arrange.c */
    IvmInners inner;
};

typedef struct Compiler {
    Arena *a;
    IvmView *v;
    VEC(const Query *) stack;             /* queries being planned: a recursive CTE meets itself here */
    size_t nexprs, ncolumns;
    int arranges;                         /* aggregates below the top become views of their own */
} Compiler;

/* What names mean while a SELECT is planned: relations of the bound tree to columns of one node. */
typedef struct ScopeEntry { const TableRef *rel; size_t base; } ScopeEntry;
typedef struct ColumnEntry { const TableRef *rel; size_t col, at; } ColumnEntry;      /* one column of a relation */
typedef struct ScalarEntry { const Expr *expr; size_t col; } ScalarEntry;
typedef VEC(ColumnEntry) ColumnEntries;
/* The first ndom columns of the node are those of a correlated subquery's domain (lateral.c).  base: the node that subqueries take their domain from. */
typedef struct Scope { Node *node, *base, *dom; size_t ndom; VEC(ScopeEntry) rels; ColumnEntries cols; VEC(ScalarEntry) scalars; } Scope;
int scope_find(const Scope *s, const TableRef *rel, size_t col, size_t *at);
void scope_copy(Compiler *c, const Scope *from, Scope *to);
void scope_append(Compiler *c, Scope *to, const Scope *from, size_t shift);

/* ---- algebra.c, node.c: bound query to plan. E_UNSUPPORTED: the construct is not incremental ------------ */

/* `dom`: the domain of a correlated subquery, whose columns come first in the result; NULL: none. */
NODISCARD Status plan_query(Compiler *c, const Query *q, const Scope *dom, Node **ret, Error *err);
NODISCARD Status plan_from(Compiler *c, const TableRef *t, Scope *s, Error *err);      /* adds t to the scope and sets s->node */
/* `lists` are what stands over the groups: the select list, HAVING …: rewritten in place. */
NODISCARD Status plan_aggregate(Compiler *c, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err);

/* subquery.c: a conjunct of WHERE that is IN, EXISTS or quantified becomes a semi or anti join over s->node. */
int is_subquery_conjunct(const Expr *e);
NODISCARD Status plan_subquery(Compiler *c, const Expr *cond, Scope *s, Error *err);
/* Subqueries inside an expression are joined to the scope's node, one column each. */
NODISCARD Status plan_scalars(Compiler *c, const Expr *e, Scope *s, Error *err);
NODISCARD Status truth_query(Compiler *c, const Expr *e, const Query **ret, Error *err);      /* truth.c */
NODISCARD Status plan_where(Compiler *c, const Expr *where, Scope *s, Error *err);

/* "construct" met at a place: raises E_UNSUPPORTED with "construct at position n". */
NODISCARD Status not_incremental(const Expr *e, Error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same where the view is kept in a table of the lake: constructs that only live/ keeps. */
NODISCARD Status live_only(Compiler *c, const Expr *e, Error *err, const char *fmt, ...) PRINTF_LIKE(4, 5);
void construct_met(Compiler *c, Str name);

NODISCARD Status node_new(Compiler *c, NodeKind kind, Node **ret, Error *err);
void node_add_input(Compiler *c, Node *n, Node *in);
void node_add_column(Compiler *c, Node *n, DataType type, int nullable, int fuzzy);
NODISCARD Status node_filter(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err);
NODISCARD Status node_project(Compiler *c, Node *in, const ExprVec *exprs, Node **ret, Error *err);
NODISCARD Status node_join(Compiler *c, Node *l, Node *r, Node **ret, Error *err);                 /* no predicates yet */
NODISCARD Status node_join_add(Compiler *c, Node *join, const ExprVec *preds, Error *err);        /* preds over join's own columns */
typedef enum { PAD_NONE, PAD_LEFT, PAD_BOTH } Padding;             /* rows of which inputs survive without a match */
typedef enum { KEEP_MATCHED, KEEP_UNMATCHED } Keep;
NODISCARD Status node_outer(Compiler *c, Node *l, Node *r, Padding padding, Node **ret, Error *err);
NODISCARD Status node_semi(Compiler *c, Node *l, Node *r, Keep keep, Node **ret, Error *err);
NODISCARD Status node_to_inputs(Compiler *c, const Node *n, const Expr *e, Expr **ret, Error *err);
NODISCARD Status node_distinct(Compiler *c, Node *in, Node **ret, Error *err);
NODISCARD Status node_setop(Compiler *c, const Query *q, Node *l, Node *r, Node **ret, Error *err);
NODISCARD Status node_union(Compiler *c, Node *l, Node *r, Node **ret, Error *err);
/* exprs over `from` become exprs over `to`, a node with the same columns in front. */
NODISCARD Status node_reseat(Compiler *c, const Node *from, Node *to, ExprVec *exprs, Error *err);
/* exprs over a projection become exprs over its input. */
NODISCARD Status node_substitute(Compiler *c, const Node *project, ExprVec *exprs, Error *err);
NODISCARD Status node_rename(Compiler *c, Node *n, const BoundColumns *want, Node **ret, Error *err);
void nodes_mark_used(IvmView *v);

/* lateral.c: relations and subqueries that name columns of a scope. */
int refers_table(const TableRef *t, const Scope *s);
int refers_query(const Query *q, const Scope *s);
NODISCARD Status lateral_join(Compiler *c, const TableRef *t, Scope *s, Error *err);                       /* s becomes s × t */
NODISCARD Status lateral_step(Compiler *c, const TableRef *join, Scope *s, Error *err);                    /* s becomes s join … */
NODISCARD Status lateral_left_join(Compiler *c, const TableRef *t, const Expr *on, Scope *s, Error *err);
NODISCARD Status plan_function(Compiler *c, const TableRef *t, const Scope *names, Node *in, Padding padding, Node **ret, Error *err);
NODISCARD Status plan_correlated(Compiler *c, const Query *q, Scope *s, Padding padding, const TableRef *as, const Expr *on, size_t *col, Error *err);
NODISCARD Status plan_set_returning(Compiler *c, Scope *s, ExprVec *lists[], size_t n, Error *err);
Expr *expr_same(Compiler *c, Expr *l, Expr *r);            /* l IS NOT DISTINCT FROM r, or l = r where neither is NULL */

/* window.c */
int is_window_call(const Expr *e);
NODISCARD Status plan_windows(Compiler *c, Scope *s, ExprVec *lists[], size_t n, Error *err);
/* Rows offset+1 … offset+limit of each partition (the scope's domain and `by`) in the order of `order`. */
typedef struct TopK { ExprVec by; OrderVec order; const Expr *limit, *offset; int position; } TopK;
NODISCARD Status plan_topk(Compiler *c, Scope *s, const TopK *k, ExprVec *lists[], size_t n, Error *err);

/* aggregate.c, piece by piece.  `groupings`: a node that holds the GROUPING() calls, where there are sets. */
typedef struct Grouping { Compiler *c; Node *agg, *groupings; StrVec texts; int queries; } Grouping;
NODISCARD Status group_begin(Grouping *g, Scope *s, Error *err);
NODISCARD Status group_key(Grouping *g, const Expr *k, Scope *s, Error *err);
NODISCARD Status group_lists(Grouping *g, ExprVec *lists[], size_t n, Error *err);
NODISCARD Status group_subqueries(Grouping *g, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err);

/* grouping.c: GROUPING SETS, ROLLUP, CUBE: one aggregate a set, put together again. */
NODISCARD Status plan_grouping_sets(Compiler *c, const Select *sel, Scope *s, ExprVec *lists[], size_t n, Error *err);

/* arrange.c: count(DISTINCT) becomes aggregates that merge; aggregates below the top become views. */
NODISCARD Status arrange_distinct(Compiler *c, Node *n, Error *err);
NODISCARD Status arrange_cut(Compiler *c, Error *err);
Str ivm_kept_how(const IvmView *v);

/* temporal.c: conditions on mz_now(). */
int has_now(const Expr *e);
NODISCARD Status node_temporal(Compiler *c, Node *in, const ExprVec *preds, Node **ret, Error *err);

/* ---- expr.c ---------------------------------------------------------------------------------------------- */

/* Rebuild an expression. `swap` may answer with a replacement; NULL means: copy and go down. */
typedef Status (*ExprSwap)(void *ctx, const Expr *e, Expr **ret, Error *err);
NODISCARD Status expr_rewrite(Compiler *c, const Expr *e, ExprSwap swap, void *ctx, Expr **ret, Error *err);
/* Names of s (and, when not NULL, of an outer scope) to node columns; refuses what is not incremental. */
typedef struct Names { Compiler *c; Scope *own, *outer; Node *own_node, *outer_node; int aggregates; } Names;
NODISCARD Status expr_bind(Names *n, const Expr *e, Expr **ret, Error *err);
Expr *expr_column(Compiler *c, Node *n, size_t col);
Expr *expr_binary(Compiler *c, Op op, Expr *l, Expr *r);
Expr *expr_is(Compiler *c, Op op, Expr *x, int negated);
Expr *expr_cast(Compiler *c, Expr *x, DataType type);
void expr_conjuncts(Compiler *c, const Expr *e, ExprVec *ret);
int expr_nullable(const Expr *e);
int expr_fuzzy(const Expr *e);
NODISCARD Status expr_text(Arena *a, const Expr *e, Str *ret, Error *err);
int expr_has_query(const Expr *e);        /* a subquery somewhere inside */
uint64_t expr_visit_columns(const Expr *e, void (*visit)(void *ctx, const Expr *column), void *ctx);   /* how many */
AggKind agg_kind(const Expr *e);
int agg_is_fuzzy(const Expr *e);          /* recomputing it over equal rows may give another value */
int agg_mergeable(const Expr *e);

/* ---- emitting SQL ---------------------------------------------------------------------------------------- */

typedef enum { SIDE_OLD, SIDE_NEW } Side;

typedef struct Emit {
    Arena *a;
    const IvmView *v;
    const IvmChange *changes;             /* NULL: everything may change */
    IvmPlan *plan;                        /* steps are added here */
    Str *tables;                          /* by node id: the step that holds its delta */
    StrVec made;                          /* other steps that several nodes may ask for */
    Str gate;                             /* scans that are written now are empty unless this table has a row */
    StrVec shared;                        /* restricted scans that are steps ivm_r<i>: their text */
} Emit;

/* Rows of a node restricted to those whose columns are in a table of keys; `strict`: NULL is equal to nothing. */
typedef struct Restrict { Str table; size_t n; const size_t *cols; const Str *names; int strict; } Restrict;

Emit emit_new(Arena *a, const IvmView *v, const IvmChange *changes, IvmPlan *plan);
int emit_changed(const Emit *e, const Node *n);
int emit_time_moved(const Emit *e);
int emit_deletes(const Emit *e, const Node *n);    /* n's delta may hold negative weights */
int is_pass(const Node *n);                        /* filters and projections over a source */
int emit_unit(const Emit *e, const Node *n);       /* every weight in n's delta, as delta_sql and delta_table write it, is 1 */
int emit_small(const Emit *e, const Node *n);      /* n stands on few rows, surely */
NODISCARD Status emit_step(Emit *e, Str name, Str sql, Error *err);
void put_columns(StrBuf *b, const Node *n, const char *alias);       /* alias.c1 AS c1, … of the used columns; never empty */
void put_join_columns(StrBuf *b, const Node *n);                     /* state.c */
void put_names(StrBuf *b, const Node *n);                            /* c1, c2 … */
NODISCARD Status put_expr(StrBuf *b, const Expr *x, Error *err);
NODISCARD Status put_conjuncts(StrBuf *b, const ExprVec *preds, Error *err);   /* "(a) AND (b)"; TRUE when empty */
/* l = r, or IS NOT DISTINCT FROM when either may be NULL or holds parts that may. */
void put_same(StrBuf *b, Str l, Str r, const DataType *t, int nullable);

/* state.c: the rows of a node at a side; columns c1 … of those used. `only` may be NULL. */
NODISCARD Status state_sql(Emit *e, const Node *n, Side side, const Restrict *only, Str *ret, Error *err);
void restrict_above(Emit *e, const Node *n, const Restrict *only, StrBuf *b);      /* what is in b, as far as `only` holds for the result */
void put_restricted(StrBuf *b, const Node *n, const Restrict *only, Str rows, size_t strict);    /* key `strict` is compared by =; SIZE_MAX: none more than it need be */
/* near.c: a scan so restricted; and v as a FROM item, narrowed to rows that the keys k1 … or rows c1 … of "FROM …" may be equal to. */
void restrict_scan(Emit *e, const Node *n, const Restrict *only, StrBuf *b);
void put_groups_near(StrBuf *b, const IvmView *v, Str from);
void put_rows_near(StrBuf *b, const IvmView *v, Str from);
NODISCARD Status agg_select_sql(Emit *e, const Node *n, Side side, const Restrict *keys, Str extra, Str *ret, Error *err);

/* Matching rows of two sides by n->preds (semi and outer joins). */
typedef struct MatchParts { ExprVec kept, other, both; } MatchParts;
void split_match(Arena *a, const Node *n, const Node *kept, const Node *other, MatchParts *ret);
/* Behind "FROM … n<kept>": its rows that have (NOT EXISTS: have not) a match in `from`, the rows of `other`. */
NODISCARD Status put_match(StrBuf *b, const Node *n, const Node *kept, const Node *other, const char *word, Str from, Error *err);

/* delta.c: the change of a node as rows with a weight w. Call only when emit_changed. */
NODISCARD Status delta_sql(Emit *e, const Node *n, Str *ret, Error *err);
/* What stands behind FROM: a step of its own, without rows that cancel each other; equal rows are one, or all have the weight 1 (emit_unit). */
NODISCARD Status delta_table(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status delta_consolidated(Emit *e, const Node *n, Str *ret, Error *err);      /* equal rows are one */
/* A NODE_FLAT's function beside its input, and its columns. */
NODISCARD Status put_flat(StrBuf *b, const Node *n, Error *err);
void put_flat_columns(StrBuf *b, const Node *n);
/* window.c, temporal.c */
NODISCARD Status state_window(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err);
NODISCARD Status delta_window(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status put_now_conjuncts(Emit *e, StrBuf *b, const ExprVec *preds, Side side, Error *err);
NODISCARD Status delta_temporal(Emit *e, const Node *n, StrBuf *b, Error *err);
/* delta_affected.c: nodes whose change is recomputed for the affected rows or keys. */
NODISCARD Status delta_outer(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status delta_semi(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status delta_agg(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status delta_distinct(Emit *e, const Node *n, Str *ret, Error *err);
NODISCARD Status delta_setop(Emit *e, const Node *n, Str *ret, Error *err);

/* The keys of `agg` that its input's delta touches, as a step with columns k1 … kn. */
NODISCARD Status affected_keys(Emit *e, const Node *agg, Str name, Error *err);
Restrict restrict_to_keys(Arena *a, const Node *agg, Str table);

/* One file a shape. */
NODISCARD Status bag_plan(Emit *e, Error *err);
typedef enum { NOT_NULL, MAY_BE_NULL } Nullability;
size_t visible_column(const IvmView *v, const Node *under, size_t col);
Str add_hidden(Compiler *c, Str name, DataType type, Nullability nullable);      /* the name may get a suffix to be unique */
void store_keys(Compiler *c, const Node *top);
Str hidden_keys(Arena *a, const IvmView *v);
typedef enum { KEYS_MAY_BE_NULL, KEYS_NOT_NULL } KeyNulls;
void put_stored_keys(StrBuf *b, const IvmView *v, const char *alias, KeyNulls nulls);            /* v.key = alias.k<i> … */
/* ", v.column AS __ivm_o<i>" for each visible one, and ", alias.__ivm_o<i>", where delete_sql has them. */
void put_stored_visible(StrBuf *b, const IvmView *v);
void put_stored_rows(StrBuf *b, const IvmView *v);                               /* the select list of delete_sql over v itself */
void put_gone_visible(StrBuf *b, const IvmView *v, const char *alias);
NODISCARD Status merge_compile(Compiler *c, Error *err);
NODISCARD Status merge_full_sql(Emit *e, Str *ret, Error *err);
NODISCARD Status merge_plan(Emit *e, Error *err);
/* topk.c */
int is_topk(IvmView *v);                         /* then v->topk is set */
NODISCARD Status topk_compile(Compiler *c, Error *err);
NODISCARD Status topk_full_sql(Emit *e, Str *ret, Error *err);
NODISCARD Status topk_plan(Emit *e, Error *err);
NODISCARD Status put_window_call(Emit *e, const Node *n, size_t i, StrBuf *b, Error *err);
NODISCARD Status replace_compile(Compiler *c, Error *err);
NODISCARD Status replace_full_sql(Emit *e, Str *ret, Error *err);
NODISCARD Status replace_plan(Emit *e, Error *err);
NODISCARD Status plain_full_sql(Emit *e, Str *ret, Error *err);
/* Columns of the root under the view's own names, over FROM text; then `hidden` text if any. */
NODISCARD Status root_select_sql(Emit *e, Str from, Str hidden, Str *ret, Error *err);

#endif
