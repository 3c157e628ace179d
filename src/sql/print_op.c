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

static const char *integer_name(DataTypeKind k)
{
    switch (k) {
    case DT_INT8: return "tinyint";
    case DT_INT16: return "smallint";
    case DT_INT32: return "integer";
    case DT_INT64: return "bigint";
    default: return NULL;
    }
}

/* What our checked cast to an integer takes the source as; NULL: the engine's cast cannot fail. */
static const char *checked_source(const DataType *from, DataTypeKind to)
{
    if (from->kind == DT_STRING)
        return "";
    if (from->kind >= DT_INT8 && from->kind <= DT_INT64)
        return from->kind > to ? "BIGINT" : NULL;
    if (from->kind == DT_DECIMAL || from->kind == DT_INT128)
        return "HUGEINT";
    return ty_is_real(from) ? "DOUBLE" : NULL;
}

/* Text: the engine's cast takes '12.7', '1e3' and '0x1F', which both dialects refuse.  Numbers: it does not tell overflow
 * from bad text. */
static bool integer_cast(Print *p, const Expr *e)
{
    const char *name = integer_name(e->type.kind), *as = name ? checked_source(&e->args.p[0]->type, e->type.kind) : NULL;

    if (!as)
        return false;
    sb_fmt(&p->out, "firn_%s%s(%s", e->try_cast ? "try_" : "", name, *as ? "CAST(" : "");
    print_expr(p, e->args.p[0]);
    if (*as)
        sb_fmt(&p->out, " AS %s)", as);
    add(p, ")");
    return true;
}

/* A decimal that may not fit its new precision. */
static bool decimal_cast(Print *p, const Expr *e)
{
    const DataType *t = &e->type;
    DataType from = e->args.p[0]->type;

    if (t->kind != DT_DECIMAL || e->try_cast || !(from.kind == DT_DECIMAL || (from.kind >= DT_INT8 && from.kind <= DT_INT64)))
        return false;
    from = ty_as_decimal(&from);
    int have = from.precision - from.scale, room = t->precision - t->scale;
    if (have < room || (have == room && from.scale <= t->scale))
        return false;
    sb_fmt(&p->out, "CAST(firn_fit_s%d(", t->scale);
    print_expr(p, e->args.p[0]);
    sb_fmt(&p->out, ", %d)", t->precision);
    cast_close(p, t);
    return true;
}

void print_cast(Print *p, const Expr *e)
{
    const Expr *x = e->args.p[0];

    if (integer_cast(p, e) || decimal_cast(p, e))
        return;
    int cut = e->type.kind == DT_STRING && e->type.length > 0;
    if (cut)
        add(p, "left(");
    add(p, e->try_cast ? "TRY_CAST(" : "CAST(");
    print_expr(p, x);
    cast_close(p, &e->type);
    if (cut)
        sb_fmt(&p->out, ", %d)", e->type.length);
}
