/* SPDX-License-Identifier: Apache-2.0 */
/* print_op.c - arithmetic and casts with the bound type, and errors where the engine has none.
 *
 * The engine gives NULL or infinity for a division by zero, DOUBLE for a division of decimals, and multiplies short
 * decimals in 18 digits: none of that may show.  Our functions (duck_functions.c, duck_decimal.c) do the exact work:
 *   firn_nonzero(x)           x, or the error for a division by zero
 *   firn_mul_sN, firn_div_sN  decimals rounded half up to N digits behind the point, as DECIMAL(38,N) */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

static void cast_open(Print *p) { add(p, "CAST("); }

static void cast_close(Print *p, const DataType *t)
{
    add(p, " AS ");
    print_type(p, t);
    add(p, ")");
}

static void print_as(Print *p, const Expr *e, DataType t)
{
    if (data_type_equal(&e->type, &t)) {
        print_expr(p, e);
        return;
    }
    cast_open(p);
    print_expr(p, e);
    cast_close(p, &t);
}

static void infix(Print *p, const Expr *e, const char *op)
{
    add(p, "(");
    print_expr(p, e->args.p[0]);
    add(p, op);
    print_expr(p, e->args.p[1]);
    add(p, ")");
}

static void prefix(Print *p, const Expr *e, const char *function)
{
    add(p, function);
    add(p, "(");
    print_exprs(p, &e->args, 0);
    add(p, ")");
}

bool print_is_nonzero(const Expr *e)
{
    if (e->kind == EX_CAST)
        return print_is_nonzero(e->args.p[0]);
    if (e->kind != EX_LITERAL)
        return false;
    switch (e->value.kind) {
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: return e->value.integer != 0;
    case DT_FLOAT: case DT_DOUBLE: return e->value.real != 0;
    case DT_DECIMAL: return e->value.wide != 0;
    default: return false;
    }
}

static void print_divisor(Print *p, const Expr *e, DataType t)
{
    if (!print_is_nonzero(e))
        add(p, "firn_nonzero(");
    print_as(p, e, t);
    if (!print_is_nonzero(e))
        add(p, ")");
}

/* ---- decimals ---------------------------------------------------------------------------------------------------- */

static int max_int(int x, int y) { return x > y ? x : y; }

static void decimal_function(Print *p, const Expr *e, const char *name)
{
    cast_open(p);
    sb_fmt(&p->out, "firn_%s_s%d(", name, e->type.scale);
    print_exprs(p, &e->args, 0);
    add(p, ")");
    cast_close(p, &e->type);
}

/* Both as wide as the result, so that the engine works in 128 bits when 18 digits may not do. */
static void decimal_sum(Print *p, const Expr *e, const char *op)
{
    DataType wide = e->type;

    cast_open(p);
    add(p, "(");
    print_as(p, e->args.p[0], wide);
    add(p, op);
    print_as(p, e->args.p[1], wide);
    add(p, ")");
    cast_close(p, &e->type);
}

static void decimal_product(Print *p, const Expr *e)
{
    DataType x = e->args.p[0]->type, y = e->args.p[1]->type;

    if (x.scale + y.scale != e->type.scale) {
        decimal_function(p, e, "mul");
        return;
    }
    if (x.precision + y.precision > 18)
        x.precision = max_int(x.precision, 19);
    cast_open(p);
    add(p, "(");
    print_as(p, e->args.p[0], x);
    add(p, " * ");
    print_expr(p, e->args.p[1]);
    add(p, ")");
    cast_close(p, &e->type);
}

static void decimal_rest(Print *p, const Expr *e)
{
    DataType x = e->args.p[0]->type, y = e->args.p[1]->type;
    int s = max_int(x.scale, y.scale), whole = max_int(x.precision - x.scale, y.precision - y.scale);
    DataType t = ty_bounded(whole + s, s);

    cast_open(p);
    add(p, "(");
    print_as(p, e->args.p[0], t);
    add(p, " % ");
    if (print_is_nonzero(e->args.p[1])) {
        print_as(p, e->args.p[1], t);
    } else {
        sb_fmt(&p->out, "firn_nonzero_s%d(", t.scale);
        print_as(p, e->args.p[1], t);
        add(p, ")");
    }
    add(p, ")");
    cast_close(p, &e->type);
}

static bool decimal(Print *p, const Expr *e)
{
    if (e->type.kind != DT_DECIMAL || e->args.p[0]->type.kind != DT_DECIMAL)
        return false;
    switch (e->op) {
    case OP_ADD: decimal_sum(p, e, " + "); return true;
    case OP_SUB: decimal_sum(p, e, " - "); return true;
    case OP_MUL: decimal_product(p, e); return true;
    case OP_DIV: decimal_function(p, e, "div"); return true;
    case OP_MOD: decimal_rest(p, e); return true;
    default: return false;
    }
}

/* ---- the others ------------------------------------------------------------------------------------------------------ */

static void print_division(Print *p, const Expr *e)
{
    const Expr *x = e->args.p[0], *y = e->args.p[1];

    if (x->type.kind == DT_INTERVAL) {
        infix(p, e, " / ");
        return;
    }
    if (e->op == OP_INT_DIV && x->type.kind == DT_DECIMAL) {
        add(p, "CAST(trunc(CAST(");
        print_expr(p, x);
        add(p, " AS DOUBLE) / ");
        print_divisor(p, y, ty(DT_DOUBLE));
        add(p, ") AS BIGINT)");
        return;
    }
    add(p, "(");
    print_expr(p, x);
    add(p, e->op == OP_MOD ? " % " : ty_is_integer(&e->type) ? " // " : " / ");
    print_divisor(p, y, y->type);
    add(p, ")");
}

/* DATE and TIMESTAMP arithmetic has the engine's types: bring it to the bound one. */
static void print_sum(Print *p, const Expr *e)
{
    int exact = ty_is_numeric(&e->type) && ty_is_numeric(&e->args.p[0]->type);

    if (!exact)
        cast_open(p);
    infix(p, e, e->op == OP_ADD ? " + " : " - ");
    if (!exact)
        cast_close(p, &e->type);
}

void print_binary(Print *p, const Expr *e)
{
    if (decimal(p, e))
        return;
    switch (e->op) {
    case OP_ADD: case OP_SUB: print_sum(p, e); return;
    case OP_MUL: infix(p, e, " * "); return;
    case OP_DIV: case OP_INT_DIV: case OP_MOD: print_division(p, e); return;
    case OP_POW: prefix(p, e, "pow"); return;
    case OP_CONCAT:                                        /* the engine makes INTEGER of 'a' || NULL */
        cast_open(p);
        infix(p, e, " || ");
        cast_close(p, &e->type);
        return;
    case OP_BIT_AND: infix(p, e, " & "); return;
    case OP_BIT_OR: infix(p, e, " | "); return;
    case OP_BIT_XOR: prefix(p, e, "xor"); return;
    case OP_SHL: infix(p, e, " << "); return;
    case OP_SHR: infix(p, e, " >> "); return;
    case OP_EQ: infix(p, e, " = "); return;
    case OP_NE: infix(p, e, " <> "); return;
    case OP_LT: infix(p, e, " < "); return;
    case OP_LE: infix(p, e, " <= "); return;
    case OP_GT: infix(p, e, " > "); return;
    case OP_GE: infix(p, e, " >= "); return;
    case OP_NULLSAFE_EQ: infix(p, e, " IS NOT DISTINCT FROM "); return;
    case OP_AND: infix(p, e, " AND "); return;
    case OP_OR: infix(p, e, " OR "); return;
    case OP_JSON_GET: infix(p, e, " -> "); return;
    case OP_JSON_GET_TEXT: infix(p, e, " ->> "); return;
    case OP_CONTAINS: prefix(p, e, "list_has_all"); return;
    case OP_OVERLAP: prefix(p, e, "list_has_any"); return;
    case OP_CONTAINED:
        add(p, "list_has_all(");
        print_expr(p, e->args.p[1]);
        add(p, ", ");
        print_expr(p, e->args.p[0]);
        add(p, ")");
        return;
    default: PRINT_FAIL(p, E_INTERNAL, "operator %d cannot be printed", (int)e->op);
    }
}

/* ---- casts --------------------------------------------------------------------------------------------------------------- */

/* Text to an integer: the engine rounds '12.7' and takes '1e3' and '0x1F'; both dialects refuse them. */
static const char *strict_cast(const Expr *e)
{
    const DataType *from = &e->args.p[0]->type;

    if (from->kind != DT_STRING)
        return NULL;
    switch (e->type.kind) {
    case DT_INT8: return "tinyint";
    case DT_INT16: return "smallint";
    case DT_INT32: return "integer";
    case DT_INT64: return "bigint";
    default: return NULL;
    }
}

void print_cast(Print *p, const Expr *e)
{
    const Expr *x = e->args.p[0];
    const char *strict = strict_cast(e);

    if (strict) {
        sb_fmt(&p->out, "firn_%s%s(", e->try_cast ? "try_" : "", strict);
        print_expr(p, x);
        add(p, ")");
        return;
    }
    int cut = e->type.kind == DT_STRING && e->type.length > 0;
    if (cut)
        add(p, "left(");
    add(p, e->try_cast ? "TRY_CAST(" : "CAST(");
    print_expr(p, x);
    cast_close(p, &e->type);
    if (cut)
        sb_fmt(&p->out, ", %d)", e->type.length);
}
