/* SPDX-License-Identifier: Apache-2.0 */
/* print_expr.c - bound expressions as the engine's text, fully parenthesised.
 *
 * The text of a node depends on its type and those of its children alone: the dialect was settled by the binder. */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

void print_type(Print *p, const DataType *t) { sb_add(&p->out, data_type_sql(p->a, t)); }

void print_exprs(Print *p, const ExprVec *v, size_t from)
{
    for (size_t i = from; i < v->n; i++) {
        if (i != from)
            add(p, ", ");
        print_expr(p, v->p[i]);
    }
}

static void print_literal(Print *p, const Expr *e)
{
    Value v = e->value;

    v.type = v.kind == DT_NULL || v.kind == e->type.kind ? &e->type : v.type;
    sql_value(&p->out, &v);
}

static void print_column(Print *p, const Expr *e)
{
    if (!e->rel) {
        if (!e->name.n)
            PRINT_FAIL(p, E_INTERNAL, "a column without a name");
        else
            sql_ident(&p->out, vec_last(&e->name));
        return;
    }
    if ((size_t)e->col >= e->rel->columns.n) {
        PRINT_FAIL(p, E_INTERNAL, "column %d of a relation with %zu columns", e->col, e->rel->columns.n);
        return;
    }
    if (e->rel->engine.n) {
        sb_add(&p->out, e->rel->engine);
        add(p, ".");
    }
    sql_ident(&p->out, e->rel->columns.p[e->col].engine);
}

static void print_unary(Print *p, const Expr *e)
{
    if (e->op == OP_NOT && e->args.p[0]->kind == EX_IN_QUERY) {
        Expr other = *e->args.p[0];
        other.negated = !other.negated;
        print_in_query(p, &other);
        return;
    }
    add(p, e->op == OP_NOT ? "(NOT " : e->op == OP_NEG ? "(-" : e->op == OP_BIT_NOT ? "(~" : "(+");
    print_expr(p, e->args.p[0]);
    add(p, ")");
}

static void print_case(Print *p, const Expr *e)
{
    size_t i = 0;

    add(p, "(CASE");
    if (e->has_operand) {
        add(p, " ");
        print_expr(p, e->args.p[i++]);
    }
    for (; i + 1 < e->args.n; i += 2) {
        add(p, " WHEN ");
        print_expr(p, e->args.p[i]);
        add(p, " THEN ");
        print_expr(p, e->args.p[i + 1]);
    }
    if (e->else_) {
        add(p, " ELSE ");
        print_expr(p, e->else_);
    }
    add(p, " END)");
}

static void print_between(Print *p, const Expr *e)
{
    add(p, "(");
    print_expr(p, e->args.p[0]);
    add(p, e->negated ? " NOT BETWEEN " : " BETWEEN ");
    print_expr(p, e->args.p[1]);
    add(p, " AND ");
    print_expr(p, e->args.p[2]);
    add(p, ")");
}

static void print_in_list(Print *p, const Expr *e)
{
    add(p, "(");
    print_expr(p, e->args.p[0]);
    add(p, e->negated ? " NOT IN (" : " IN (");
    print_exprs(p, &e->args, 1);
    add(p, "))");
}

static const char *compare_text(Op op)
{
    switch (op) {
    case OP_EQ: return " = ";
    case OP_NE: return " <> ";
    case OP_LT: return " < ";
    case OP_LE: return " <= ";
    case OP_GT: return " > ";
    case OP_GE: return " >= ";
    default: return NULL;
    }
}

/* x op ANY (array): over the array's elements as rows. */
static void print_quantified(Print *p, const Expr *e)
{
    const char *op = compare_text(e->op);

    if (!op) {
        PRINT_FAIL(p, E_UNSUPPORTED, "this operator with ANY or ALL is not supported");
        return;
    }
    add(p, e->negated ? "(NOT (" : "(");
    print_expr(p, e->args.p[0]);
    add(p, op);
    add(p, e->all ? "ALL (" : "ANY (");
    if (e->query) {
        print_query(p, e->query);
    } else {
        add(p, "SELECT unnest(");
        print_expr(p, e->args.p[1]);
        add(p, ")");
    }
    add(p, e->negated ? ")))" : "))");
}

/* ---- LIKE ------------------------------------------------------------------------------------------------------- */

static bool needs_escape(const Expr *pattern)
{
    return pattern->kind != EX_LITERAL || pattern->value.kind != DT_STRING || str_chr(pattern->value.string, '\\') >= 0;
}

static void print_plain_like(Print *p, const Expr *e)
{
    add(p, "(");
    print_expr(p, e->args.p[0]);
    if (e->negated)
        add(p, " NOT");
    add(p, e->op == OP_ILIKE ? " ILIKE " : " LIKE ");
    print_expr(p, e->args.p[1]);
    if (e->args.n > 2) {
        add(p, " ESCAPE ");
        print_expr(p, e->args.p[2]);
    } else if (!e->all && needs_escape(e->args.p[1])) {
        add(p, " ESCAPE '\\'");
    }
    add(p, ")");
}

static void print_regex(Print *p, const Expr *e)
{
    add(p, e->negated ? "(NOT regexp_matches(" : "regexp_matches(");
    print_expr(p, e->args.p[0]);
    add(p, ", ");
    print_expr(p, e->args.p[1]);
    add(p, e->op == OP_REGEX_IMATCH ? ", 'i')" : ")");
    if (e->negated)
        add(p, ")");
}

/* SQL's regular expression: % and _ beside | * + ? {} () []. */
static void print_similar(Print *p, const Expr *e)
{
    const Expr *pattern = e->args.p[1];
    StrBuf b = sb_new(p->a);

    if (pattern->kind != EX_LITERAL || pattern->value.kind != DT_STRING) {
        PRINT_FAIL(p, E_UNSUPPORTED, "SIMILAR TO needs a string literal");
        return;
    }
    Str s = pattern->value.string;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '%')
            sb_addc(&b, ".*");
        else if (s.p[i] == '_')
            sb_byte(&b, '.');
        else if (s.p[i] == '.' || s.p[i] == '^' || s.p[i] == '$')
            sb_addc(&b, (char[]){ '\\', s.p[i], 0 });
        else
            sb_byte(&b, s.p[i]);
    }
    add(p, e->negated ? "(NOT regexp_full_match(" : "(regexp_full_match(");
    print_expr(p, e->args.p[0]);
    add(p, ", ");
    sql_lit(&p->out, sb_str(&b));
    add(p, "))");
}

static void print_like(Print *p, const Expr *e)
{
    switch (e->op) {
    case OP_LIKE: case OP_ILIKE: print_plain_like(p, e); return;
    case OP_SIMILAR: print_similar(p, e); return;
    default: print_regex(p, e);
    }
}

static void print_is(Print *p, const Expr *e)
{
    add(p, "(");
    print_expr(p, e->args.p[0]);
    if (e->op == OP_IS_DISTINCT) {
        add(p, e->negated ? " IS NOT DISTINCT FROM " : " IS DISTINCT FROM ");
        print_expr(p, e->args.p[1]);
        add(p, ")");
        return;
    }
    add(p, e->negated ? " IS NOT " : " IS ");
    add(p, e->op == OP_IS_TRUE ? "TRUE)" : e->op == OP_IS_FALSE ? "FALSE)" : "NULL)");
}

/* ---- nested values -------------------------------------------------------------------------------------------------- */

static void print_index(Print *p, const Expr *e)
{
    int is_map = e->args.p[0]->type.kind == DT_MAP;

    add(p, is_map ? "map_extract_value(" : e->args.n > 2 ? "list_slice(" : "list_extract(");
    print_exprs(p, &e->args, 0);
    add(p, ")");
}

static void print_array(Print *p, const Expr *e)
{
    if (e->query) {
        add(p, "ARRAY(");
        int nested = p->nested;

        p->nested = 0;                    /* the order of its rows counts: nothing is put around it */
        print_query(p, e->query);
        p->nested = nested;
        add(p, ")");
        return;
    }
    add(p, "CAST([");
    print_exprs(p, &e->args, 0);
    add(p, "] AS ");
    print_type(p, &e->type);
    add(p, ")");
}

static void print_struct(Print *p, const Expr *e)
{
    add(p, "{");
    for (size_t i = 0; i < e->args.n; i++) {
        if (i)
            add(p, ", ");
        sql_lit(&p->out, e->name.p[i]);
        add(p, ": ");
        print_expr(p, e->args.p[i]);
    }
    add(p, "}");
}

static void print_lambda(Print *p, const Expr *e)
{
    add(p, "lambda ");
    for (size_t i = 0; i < e->name.n; i++) {
        if (i)
            add(p, ", ");
        sql_ident(&p->out, e->name.p[i]);
    }
    add(p, ": ");
    print_expr(p, e->args.p[0]);
}

static void print_subquery(Print *p, const Expr *e)
{
    add(p, e->kind == EX_EXISTS ? (e->negated ? "(NOT EXISTS (" : "(EXISTS (") : "(");
    print_query(p, e->query);
    add(p, e->kind == EX_EXISTS ? "))" : ")");
}

void print_expr(Print *p, const Expr *e)
{
    if (p->status != OK)
        return;
    switch (e->kind) {
    case EX_LITERAL: print_literal(p, e); return;
    case EX_COLUMN: print_column(p, e); return;
    case EX_PARAM: sb_fmt(&p->out, "$%d", e->param); return;
    case EX_UNARY: print_unary(p, e); return;
    case EX_BINARY: print_binary(p, e); return;
    case EX_FUNCTION: print_call(p, e); return;
    case EX_CAST: print_cast(p, e); return;
    case EX_CASE: print_case(p, e); return;
    case EX_BETWEEN: print_between(p, e); return;
    case EX_IN_LIST: print_in_list(p, e); return;
    case EX_IN_QUERY: print_in_query(p, e); return;
    case EX_EXISTS: case EX_SUBQUERY: print_subquery(p, e); return;
    case EX_QUANTIFIED: print_quantified(p, e); return;
    case EX_LIKE: print_like(p, e); return;
    case EX_IS: print_is(p, e); return;
    case EX_FIELD:
        add(p, "struct_extract(");
        print_expr(p, e->args.p[0]);
        add(p, ", ");
        sql_lit(&p->out, e->name.p[0]);
        add(p, ")");
        return;
    case EX_INDEX: print_index(p, e); return;
    case EX_ARRAY: print_array(p, e); return;
    case EX_STRUCT: print_struct(p, e); return;
    case EX_LAMBDA: print_lambda(p, e); return;
    case EX_STAR: PRINT_FAIL(p, E_INTERNAL, "a star that the binder did not expand"); return;
    }
}
