/* SPDX-License-Identifier: Apache-2.0 */
/* check_definition.c - the rules on a materialized view's query (glue.md 2.2, items 1 to 5).
 *
 * Works on bound and unbound queries.  What only binding knows: that a one-part name is a CTE's (before it, any CTE's
 * name is accepted), which functions are volatile beyond the list below, and the names of columns without an alias.
 * Plain views inside the query are not entered: they were checked, or not, when they were made. */
#include "sql/parse_int.h"

typedef struct Check { const Query *top; StrVec ctes; Error *err; Status status; } Check;

static TreeNext visit(void *ctx, TreeNode n);
static void check_query(Check *c, const Query *q);
static void check_table(Check *c, const TableRef *t);
static void check_expr(Check *c, const Expr *e);
static void check_outputs(Check *c, const Query *q);
static TreeNext collect_ctes(void *ctx, TreeNode n);

typedef struct Collect { Arena *a; StrVec *names; } Collect;

Status sql_check_definition(Arena *a, const Query *q, Error *err)
{
    Check c = { .top = q, .err = err };
    Collect names = { a, &c.ctes };
    TreeNode root = { TREE_QUERY, (void *)q, 0 };

    tree_walk(root, collect_ctes, &names);
    tree_walk(root, visit, &c);
    if (!c.status)
        check_outputs(&c, q);
    return c.status;
}

static TreeNext collect_ctes(void *ctx, TreeNode n)
{
    Collect *c = ctx;
    const Query *q = n.p;

    for (size_t i = 0; n.kind == TREE_QUERY && i < q->ctes.n; i++)
        vec_push(c->a, c->names, q->ctes.p[i].name);
    return TREE_ENTER;
}

static TreeNext visit(void *ctx, TreeNode n)
{
    Check *c = ctx;

    if (n.kind == TREE_QUERY)
        check_query(c, n.p);
    else if (n.kind == TREE_TABLE)
        check_table(c, n.p);
    else
        check_expr(c, n.p);
    if (c->status)
        return TREE_STOP;
    const TableRef *t = n.p;
    return n.kind == TREE_TABLE && t->table && t->table->view ? TREE_PASS : TREE_ENTER;
}

#define REFUSE(c, at, ...) do { \
    (c)->status = FAIL((c)->err, E_INVALID, __VA_ARGS__); \
    (c)->err->position = (at) > 0 ? (at) : (c)->top->position; } while (0)

/* ---- names ---------------------------------------------------------------------------------------------------- */

static bool plain_name(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return s.n > 0;
}

static bool reserved(Str s) { return str_ieq(str_sub(s, 0, 5), S("__ivm")); }

static void check_name(Check *c, Str name, int at)
{
    if (c->status || !name.n)
        return;
    if (!plain_name(name)) {
        REFUSE(c, at, "the name '" STR_FMT "' in a materialized view's definition may hold letters, digits and underscores only",
               STR_ARG(str_sub(name, 0, 100)));
        error_hint(c->err, "Give the expression or table an alias of letters, digits and underscores.");
    } else if (reserved(name)) {
        REFUSE(c, at, "the name '" STR_FMT "' is reserved: names that begin with __ivm belong to the system", STR_ARG(str_sub(name, 0, 100)));
    }
}

static void check_names(Check *c, const StrVec *names, int at)
{
    for (size_t i = 0; i < names->n; i++)
        check_name(c, names->p[i], at);
}

/* The names of the view's columns; those without an alias are known after binding. */
static void check_outputs(Check *c, const Query *q)
{
    const Query *first = q;

    while (first->body == BODY_SETOP)
        first = first->left;
    for (size_t i = 0; i < q->columns.n; i++) {
        const Select *s = first->select;
        int at = s && i < s->items.n ? s->items.p[i].expr->position : q->position;
        check_name(c, q->columns.p[i].name, at ? at : q->position);
    }
}

/* ---- queries and tables --------------------------------------------------------------------------------------- */

static void forbid(Check *c, bool present, const char *clause, int at)
{
    if (present && !c->status)
        REFUSE(c, at, "%s is not allowed in a materialized view's definition", clause);
}

static void check_query(Check *c, const Query *q)
{
    int order = q->order.n && q->order.p[0].expr->position ? q->order.p[0].expr->position : q->position;

    forbid(c, q->spark_sort == 1, "SORT BY", q->position);
    forbid(c, q->spark_sort == 2, "CLUSTER BY", q->position);
    forbid(c, q->order.n, "ORDER BY", order);
    forbid(c, q->limit, "LIMIT", q->limit ? q->limit->position : 0);
    forbid(c, q->offset, "OFFSET", q->offset ? q->offset->position : 0);
    for (size_t i = 0; i < q->ctes.n; i++) {
        check_name(c, q->ctes.p[i].name, q->ctes.p[i].position);
        check_names(c, &q->ctes.p[i].columns, q->ctes.p[i].position);
    }
    if (!q->select || q->columns.n)               /* bound: aliases are filled with made-up names */
        return;
    for (size_t i = 0; i < q->select->items.n; i++)
        check_name(c, q->select->items.p[i].alias, q->select->items.p[i].expr->position);
}

static bool is_cte(const Check *c, const TableRef *t)
{
    if (t->name.n != 1 || c->top->columns.n)
        return false;
    for (size_t i = 0; i < c->ctes.n; i++)
        if (str_ieq(c->ctes.p[i], t->name.p[0]))
            return true;
    return false;
}

static bool is_named_table(const TableRef *t) { return t->kind == TR_TABLE || (t->kind == TR_QUERY && t->table); }

static void check_table(Check *c, const TableRef *t)
{
    check_name(c, t->alias, t->position);
    check_names(c, &t->column_aliases, t->position);
    if (c->status)
        return;
    if (t->kind == TR_FILE)
        REFUSE(c, t->position, "a materialized view's definition cannot read files");
    else if (t->as_of.has)
        REFUSE(c, t->position, "time travel is not allowed in a materialized view's definition");
    else if (is_named_table(t) && t->name.n < 3 && !is_cte(c, t))
        REFUSE(c, t->position, "[MATERIALIZED_VIEW_REQUIRES_FULLY_QUALIFIED_TABLES] The table '" STR_FMT "' must be named by catalog, namespace "
               "and table, because automatic refresh does not use default catalog and database settings",
               STR_ARG(t->name.n ? vec_last(&t->name) : S("")));
    else if (is_named_table(t))
        check_names(c, &t->name, t->position);
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

/* Functions whose result depends on more than their arguments. current_date is allowed: such a view is refreshed in full. */
static const char *const VOLATILE[] = {
    "rand", "random", "randn", "randstr", "uniform", "shuffle", "uuid", "gen_random_uuid", "uuidv4", "now", "current_timestamp", "current_time",
    "localtime", "localtimestamp", "sysdate", "getdate", "clock_timestamp", "statement_timestamp", "transaction_timestamp", "timeofday",
    "current_user", "session_user", "current_role", "user", "current_catalog", "current_database", "current_schema", "current_schemas",
    "current_setting", "current_timezone", "monotonically_increasing_id", "spark_partition_id", "input_file_name",
    "input_file_block_start", "input_file_block_length", "version", "nextval", "currval", "txid_current", "pg_backend_pid", "pg_sleep",
};
static const char *const STABLE[] = { "current_date", "curdate" };

static bool listed(Str name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_ieq(name, str_c(list[i])))
            return true;
    return false;
}

static void check_call(Check *c, const Expr *e)
{
    const FuncCall *f = e->func;
    Str name = f->name.n ? vec_last(&f->name) : f->canonical;

    if (listed(name, STABLE, COUNT_OF(STABLE)))
        return;
    bool clock = str_ieq(name, S("unix_timestamp")) && !e->args.n;        /* with arguments it converts */
    if (clock || f->volatile_ || listed(name, VOLATILE, COUNT_OF(VOLATILE)))
        REFUSE(c, e->position, "the function " STR_FMT " is not deterministic and not allowed in a materialized view's definition", STR_ARG(name));
}

/* 'now'::timestamp is a clock in disguise. */
static void check_cast(Check *c, const Expr *e)
{
    static const char *const CLOCKS[] = { "now", "today", "tomorrow", "yesterday" };
    const Expr *x = e->args.p[0];
    DataTypeKind k = e->type.kind;

    if (k != DT_DATE && k != DT_TIME && k != DT_TIMETZ && k != DT_TIMESTAMP && k != DT_TIMESTAMPTZ && k != DT_TIMESTAMP_NS)
        return;
    if (x->kind != EX_LITERAL || x->value.kind != DT_STRING)
        return;
    for (size_t i = 0; i < COUNT_OF(CLOCKS); i++)
        if (str_starts(str_trim(x->value.string), str_c(CLOCKS[i])) || str_ieq(str_trim(x->value.string), str_c(CLOCKS[i])))
            REFUSE(c, e->position, "'%s' as a time is not deterministic and not allowed in a materialized view's definition", CLOCKS[i]);
}

/* The binder's own reference to a column of a subquery, for a cast: an expression without an alias has a made-up name there. */
static bool made_up(const Expr *e)
{
    return e->kind == EX_COLUMN && !e->position && e->rel && e->rel->kind == TR_QUERY && !e->rel->table;
}

static void check_expr(Check *c, const Expr *e)
{
    if (made_up(e))
        return;
    switch (e->kind) {
    case EX_COLUMN: case EX_FIELD: case EX_STRUCT: case EX_LAMBDA:
        check_names(c, &e->name, e->position);
        break;
    case EX_FUNCTION:
        check_call(c, e);
        break;
    case EX_CAST:
        check_cast(c, e);
        break;
    case EX_PARAM:
        REFUSE(c, e->position, "a materialized view's definition cannot have parameters");
        break;
    default:
        break;
    }
}
