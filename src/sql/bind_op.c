/* SPDX-License-Identifier: Apache-2.0 */
/* bind_op.c - operators: the operands' types and the result's.
 *
 * Spark: DecimalPrecision with adjustPrecisionScale (allowPrecisionLoss), `/` of integers is DOUBLE, `div` BIGINT,
 * ANSI overflow and division errors.  PostgreSQL: integer division stays integer, numeric division has a scale of
 * at least 16. */
#include "sql/bind_int.h"

static Status fail_types(Bind *b, const Expr *e, const char *op)
{
    Str l = bind_type_name(b, &e->args.p[0]->type), r = bind_type_name(b, &vec_last(&e->args)->type);

    if (b->spark)
        return BIND_FAIL(b, e->position, "42K09", "[DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES] Cannot resolve the expression due to data type mismatch: the left "
                         "and right operands of \"%s\" have incompatible types (\"" STR_FMT "\" and \"" STR_FMT "\").", op, STR_ARG(l), STR_ARG(r));
    if (e->args.n == 1)
        return BIND_FAIL(b, e->position, "42883", "operator does not exist: %s " STR_FMT, op, STR_ARG(l));
    return BIND_FAIL(b, e->position, "42883", "operator does not exist: " STR_FMT " %s " STR_FMT, STR_ARG(l), op, STR_ARG(r));
}

static const char *op_name(Op op)
{
    static const char *const names[] = {
        [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_INT_DIV] = "div", [OP_MOD] = "%", [OP_POW] = "^",
        [OP_CONCAT] = "||", [OP_BIT_AND] = "&", [OP_BIT_OR] = "|", [OP_BIT_XOR] = "^", [OP_SHL] = "<<", [OP_SHR] = ">>",
        [OP_EQ] = "=", [OP_NE] = "<>", [OP_LT] = "<", [OP_LE] = "<=", [OP_GT] = ">", [OP_GE] = ">=", [OP_NULLSAFE_EQ] = "<=>",
        [OP_AND] = "AND", [OP_OR] = "OR", [OP_NOT] = "NOT", [OP_NEG] = "-", [OP_PLUS] = "+", [OP_BIT_NOT] = "~",
        [OP_JSON_GET] = "->", [OP_JSON_GET_TEXT] = "->>", [OP_JSON_PATH] = "#>", [OP_JSON_PATH_TEXT] = "#>>",
        [OP_CONTAINS] = "@>", [OP_CONTAINED] = "<@", [OP_OVERLAP] = "&&",
    };
    return (size_t)op < COUNT_OF(names) && names[op] ? names[op] : "?";
}

/* ---- decimals ------------------------------------------------------------------------------------------------------- */

static int max_int(int x, int y) { return x > y ? x : y; }
static int min_int(int x, int y) { return x < y ? x : y; }

static DataType decimal_result(Bind *b, Op op, DataType x, DataType y)
{
    int s = max_int(x.scale, y.scale), whole = max_int(x.precision - x.scale, y.precision - y.scale);

    switch (op) {
    case OP_MUL: return ty_bounded(x.precision + y.precision + 1, x.scale + y.scale);
    case OP_DIV:
        if (!b->spark)
            return ty_decimal(38, max_int(16, s) > 20 ? 20 : max_int(16, s));
        s = max_int(6, x.scale + y.precision + 1);
        return ty_bounded(x.precision - x.scale + y.scale + s, s);
    case OP_MOD: return ty_bounded(min_int(x.precision - x.scale, y.precision - y.scale) + s, s);
    default: return ty_bounded(whole + s + 1, s);
    }
}

static void to_decimal(Bind *b, Expr **e)
{
    if ((*e)->type.kind != DT_DECIMAL)
        bind_to(b, e, ty_of_literal(*e));
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------------ */

static void finish(Expr *e, DataType t)
{
    e->type = t;
    e->nullable = 0;
    for (size_t i = 0; i < e->args.n; i++)
        e->nullable |= e->args.p[i]->nullable;
}

/* Text in arithmetic: BIGINT or DOUBLE in Spark's ANSI mode; an untyped literal takes the other side's type. */
static void settle_text(Bind *b, Expr **e, const DataType *other)
{
    if (!ty_is_text(&(*e)->type) && !ty_unknown(&(*e)->type))
        return;
    if (ty_unknown(&(*e)->type) || (!b->spark && (*e)->kind == EX_LITERAL)) {
        if (ty_is_numeric(other) || other->kind == DT_INTERVAL)
            bind_to(b, e, *other);
        else if (ty_is_text(other) || ty_unknown(other))
            bind_to(b, e, ty(DT_DOUBLE));
        return;
    }
    if (b->spark && (ty_is_numeric(other) || ty_is_text(other)))
        bind_to(b, e, ty(ty_is_integer(other) ? DT_INT64 : DT_DOUBLE));
}

static Status bind_numeric(Bind *b, Expr *e)
{
    Expr **l = &e->args.p[0], **r = &e->args.p[1];
    DataType t;

    if (e->op == OP_POW || (ty_is_real(&(*l)->type) || ty_is_real(&(*r)->type))) {
        DataType real = ty((*l)->type.kind == DT_FLOAT && (*r)->type.kind == DT_FLOAT && (e->op != OP_DIV || !b->spark) ? DT_FLOAT : DT_DOUBLE);
        if (e->op == OP_POW)
            real = ty(DT_DOUBLE);
        bind_to(b, l, real);
        bind_to(b, r, real);
        finish(e, real);
    } else if ((*l)->type.kind == DT_DECIMAL || (*r)->type.kind == DT_DECIMAL) {
        to_decimal(b, l);
        to_decimal(b, r);
        TypeMark mark = (*l)->type.mark == MARK_NUMERIC || (*r)->type.mark == MARK_NUMERIC ? MARK_NUMERIC : MARK_NONE;
        finish(e, decimal_result(b, e->op, (*l)->type, (*r)->type));
        e->type.mark = mark;
    } else if (e->op == OP_DIV && b->spark) {
        bind_to(b, l, ty(DT_DOUBLE));
        bind_to(b, r, ty(DT_DOUBLE));
        finish(e, ty(DT_DOUBLE));
    } else {
        if (!ty_common(b, &(*l)->type, &(*r)->type, &t))
            return fail_types(b, e, op_name(e->op));
        if (t.kind == DT_INT128)
            t = ty_decimal(38, 0);
        bind_to(b, l, t);
        bind_to(b, r, t);
        finish(e, t);
    }
    return OK;
}

/* Spark's `a div b` is BIGINT whatever the operands. */
static Status bind_int_div(Bind *b, Expr *e)
{
    for (int i = 0; i < 2; i++) {
        if (ty_is_real(&e->args.p[i]->type) || ty_is_text(&e->args.p[i]->type) || ty_unknown(&e->args.p[i]->type))
            bind_to(b, &e->args.p[i], ty(DT_INT64));
        if (!ty_is_numeric(&e->args.p[i]->type))
            return fail_types(b, e, "div");
        if (e->args.p[i]->type.kind != DT_DECIMAL)
            bind_to(b, &e->args.p[i], ty(DT_INT64));
    }
    for (int i = 0; i < 2; i++)
        if (e->args.p[1 - i]->type.kind == DT_DECIMAL)
            to_decimal(b, &e->args.p[i]);
    finish(e, ty(DT_INT64));
    return OK;
}

/* ---- dates and intervals ------------------------------------------------------------------------------------------------ */

static bool is_whole_days(const Expr *e)
{
    return e->kind == EX_LITERAL && e->value.kind == DT_INTERVAL && e->value.interval.micros == 0;
}

static Expr *as_days(Bind *b, Expr *difference)
{
    return bx_call(b->a, "to_days", "to_days($1)", ty(DT_INTERVAL), difference, NULL);
}

/* Returns false when this is no date arithmetic. */
static bool bind_temporal(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    Expr **l = &e->args.p[0], **r = &e->args.p[1];
    DataType *x = &(*l)->type, *y = &(*r)->type;

    if (e->op == OP_ADD && (y->kind == DT_DATE || ty_is_time(y)) && !ty_is_time(x)) {
        Expr *swap = *l;
        *l = *r;
        *r = swap;
        x = &(*l)->type;
        y = &(*r)->type;
    }
    if (x->kind == DT_INTERVAL && y->kind == DT_INTERVAL && (e->op == OP_ADD || e->op == OP_SUB)) {
        finish(e, ty(DT_INTERVAL));
        return true;
    }
    if (e->op == OP_MUL && (x->kind == DT_INTERVAL || y->kind == DT_INTERVAL)) {
        Expr **n = x->kind == DT_INTERVAL ? r : l;
        if (!ty_is_integer(&(*n)->type))
            bind_to(b, n, ty(DT_DOUBLE));
        finish(e, ty(DT_INTERVAL));
        return true;
    }
    if (e->op == OP_DIV && x->kind == DT_INTERVAL) {
        bind_to(b, r, ty(DT_DOUBLE));
        finish(e, ty(DT_INTERVAL));
        return true;
    }
    if ((e->op != OP_ADD && e->op != OP_SUB) || (!ty_is_time(x) && x->kind != DT_TIME))
        return false;
    if (ty_unknown(y))
        bind_to(b, r, ty(e->op == OP_SUB ? x->kind : DT_INTERVAL));
    if (ty_is_text(y) && e->op == OP_SUB)
        bind_to(b, r, ty(x->kind));
    y = &(*r)->type;
    if (y->kind == DT_INTERVAL) {
        finish(e, x->kind == DT_DATE && (!b->spark || !is_whole_days(*r)) ? ty(DT_TIMESTAMP) : *x);
        if (b->spark && x->kind == DT_DATE && !is_whole_days(*r))
            e->type = ty(DT_TIMESTAMPTZ);
        return true;
    }
    if (x->kind == DT_DATE && ty_is_integer(y)) {
        bind_to(b, r, ty(DT_INT32));
        finish(e, ty(DT_DATE));
        return true;
    }
    if (!b->spark && x->kind == DT_DATE && y->kind == DT_TIME && e->op == OP_ADD) {
        finish(e, ty(DT_TIMESTAMP));
        return true;
    }
    if (!b->spark && x->kind == DT_TIME && y->kind == DT_TIME && e->op == OP_SUB) {
        *pe = bx_call(b->a, "time_difference", "to_microseconds(epoch_us($1) - epoch_us($2))", ty(DT_INTERVAL), *l, *r);
        return true;
    }
    if (e->op == OP_SUB && x->kind == DT_DATE && y->kind == DT_DATE) {
        finish(e, ty(DT_INT32));
        if (b->spark)
            *pe = as_days(b, e);
        return true;
    }
    if (e->op == OP_SUB && ty_is_time(x) && ty_is_time(y)) {
        DataType t;
        (void)ty_common(b, x, y, &t);
        bind_to(b, l, t);
        bind_to(b, r, t);
        finish(e, ty(DT_INTERVAL));
        return true;
    }
    return false;
}

static Status bind_arithmetic(Bind *b, Expr **pe)
{
    Expr *e = *pe;

    settle_text(b, &e->args.p[0], &e->args.p[1]->type);
    settle_text(b, &e->args.p[1], &e->args.p[0]->type);
    if (bind_temporal(b, pe))
        return OK;
    if (e->op == OP_INT_DIV)
        return bind_int_div(b, e);
    for (int i = 0; i < 2; i++)
        if (!ty_is_numeric(&e->args.p[i]->type))
            return fail_types(b, e, op_name(e->op));
    return bind_numeric(b, e);
}

/* ---- comparison, logic, text ------------------------------------------------------------------------------------------------ */

/* char(n) is compared without the blanks at its end: it is kept so, what is beside it is not. */
static void without_blanks(Bind *b, Expr **x, Expr **beside)
{
    if ((*beside)->type.mark == MARK_BPCHAR && (*x)->type.mark != MARK_BPCHAR && ty_is_text(&(*x)->type))
        *x = bx_call(b->a, "bpchar", "rtrim($1, ' ')", ty(DT_STRING), *x, NULL);
}

/* ROW(…) = ROW(…) field by field, as SQL has it: unknown where fields that are NULL decide. */
static Expr *fields_compared(Bind *b, const Expr *e, Op op, size_t i)
{
    Expr *c = bx_binary(b->a, op, e->args.p[0]->args.p[i], e->args.p[1]->args.p[i], ty(DT_NULL));

    c->position = e->position;
    return c;
}

static Status bind_joined(Bind *b, Expr **left, Op op, Expr *right)
{
    *left = bx_binary(b->a, op, *left, right, ty(DT_NULL));
    return bind_binary(b, left);
}

static Status bind_row_comparison(Bind *b, Expr **pe)
{
    Expr *e = *pe, *all = NULL;
    Op strict = e->op == OP_LE ? OP_LT : e->op == OP_GE ? OP_GT : e->op;
    bool equality = e->op == OP_EQ || e->op == OP_NE;

    for (size_t i = e->args.p[0]->args.n; i-- > 0;) {
        Expr *one = fields_compared(b, e, all || equality ? strict : e->op, i);
        TRY(bind_binary(b, &one));
        if (all && !equality) {                                  /* x < y, or x = y and the rest */
            Expr *same = fields_compared(b, e, OP_EQ, i);
            TRY(bind_binary(b, &same));
            TRY(bind_joined(b, &same, OP_AND, all));
            TRY(bind_joined(b, &one, OP_OR, same));
        } else if (all) {
            TRY(bind_joined(b, &one, e->op == OP_EQ ? OP_AND : OP_OR, all));
        }
        all = one;
    }
    *pe = all;
    return OK;
}

static bool are_rows(const Bind *b, const Expr *e)
{
    const Expr *l = e->args.p[0], *r = e->args.p[1];

    return !b->spark && e->op != OP_NULLSAFE_EQ && l->kind == EX_STRUCT && r->kind == EX_STRUCT && l->args.n && l->args.n == r->args.n;
}

/* row IN (items from..to), as a tree of small height */
static Status any_row(Bind *b, const Expr *e, size_t from, size_t to, Expr **ret)
{
    Expr *right = NULL;

    if (to - from == 1) {
        *ret = bx_binary(b->a, OP_EQ, e->args.p[0], e->args.p[from], ty(DT_NULL));
        (*ret)->position = e->position;
        return bind_binary(b, ret);
    }
    TRY(any_row(b, e, from, from + (to - from) / 2, ret));
    TRY(any_row(b, e, from + (to - from) / 2, to, &right));
    return bind_joined(b, ret, OP_OR, right);
}

bool bind_is_row_in(const Bind *b, const Expr *e)
{
    bool rows = !b->spark && !b->trino && e->kind == EX_IN_LIST && e->args.n > 1;

    for (size_t i = 0; i < e->args.n; i++)
        rows &= e->args.p[i]->kind == EX_STRUCT && e->args.p[i]->args.n == e->args.p[0]->args.n;
    return rows;
}

Status bind_row_in(Bind *b, Expr **pe)
{
    Expr *e = *pe;

    TRY(any_row(b, e, 1, e->args.n, pe));
    if (!e->negated)
        return OK;
    Expr *not = bx_new(b->a, EX_UNARY, e->position);
    not->op = OP_NOT;
    vec_push(b->a, &not->args, *pe);
    *pe = not;
    return bind_unary(b, pe);
}

static Status bind_comparison(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType t;
    Expr **sides[] = { &e->args.p[0], &e->args.p[1] };

    if (are_rows(b, e))
        return bind_row_comparison(b, pe);
    bind_now_compared(b, sides, 2);
    if (!ty_common(b, &e->args.p[0]->type, &e->args.p[1]->type, &t))
        return fail_types(b, e, op_name(e->op));
    if (t.kind == DT_MAP && t.mark != MARK_MAP)
        return fail_types(b, e, op_name(e->op));
    Expr **both[] = { &e->args.p[0], &e->args.p[1] };
    without_blanks(b, both[0], both[1]);
    without_blanks(b, both[1], both[0]);
    TRY(bind_unify_compared(b, both, 2, e->position, &t));
    finish(e, ty(DT_BOOL));
    if (e->op == OP_NULLSAFE_EQ)
        e->nullable = 0;
    return OK;
}

static Status bind_logic(Bind *b, Expr *e)
{
    for (size_t i = 0; i < e->args.n; i++)
        TRY(bind_coerce(b, &e->args.p[i], ty(DT_BOOL), op_name(e->op)));
    finish(e, ty(DT_BOOL));
    return OK;
}

static Status bind_concat(Bind *b, Expr *e)
{
    DataType *x = &e->args.p[0]->type, *y = &e->args.p[1]->type, t;

    if (x->kind == DT_LIST || y->kind == DT_LIST) {
        if (x->kind == DT_LIST && y->kind != DT_LIST) {
            bind_to(b, &e->args.p[1], x->children[0]);
            *e = *bx_call(b->a, "array_append", "list_append($1, $2)", *x, e->args.p[0], e->args.p[1]);
            return OK;
        }
        if (!ty_common(b, x, y, &t))
            return fail_types(b, e, "||");
        bind_to(b, &e->args.p[0], t);
        bind_to(b, &e->args.p[1], t);
        finish(e, t);
        return OK;
    }
    if (x->kind == DT_BINARY && y->kind == DT_BINARY) {
        finish(e, ty(DT_BINARY));
        return OK;
    }
    if (!b->spark && !ty_is_text(x) && !ty_is_text(y) && !ty_unknown(x) && !ty_unknown(y))
        return fail_types(b, e, "||");
    bind_to(b, &e->args.p[0], ty(DT_STRING));
    bind_to(b, &e->args.p[1], ty(DT_STRING));
    finish(e, ty(DT_STRING));
    return OK;
}

/* PostgreSQL counts places modulo the width (SMALLINT is shifted as INTEGER); bits go out on the left without a word. */
static void bind_shift(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    const char *right = e->type.kind == DT_INT64 ? "($1 >> ($2 & 63))" : "CAST((CAST($1 AS INTEGER) >> ($2 & 31)) AS $T)";

    *pe = bx_call(b->a, e->op == OP_SHL ? "shift_left" : "shift_right", e->op == OP_SHL ? "firn_shift_left" : right, e->type, e->args.p[0], e->args.p[1]);
    (*pe)->position = e->position;
    (*pe)->nullable = e->nullable;
}

static Status bind_bits(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType t;
    int shift = e->op == OP_SHL || e->op == OP_SHR;

    for (size_t i = 0; i < 2; i++)
        if (!ty_is_integer(&e->args.p[i]->type) && !ty_unknown(&e->args.p[i]->type))
            return fail_types(b, e, op_name(e->op));
    if (shift) {
        bind_to(b, &e->args.p[1], ty(DT_INT32));
        finish(e, e->args.p[0]->type);
        if (!b->spark)
            bind_shift(b, pe);
        return OK;
    }
    if (!ty_common(b, &e->args.p[0]->type, &e->args.p[1]->type, &t))
        return fail_types(b, e, op_name(e->op));
    bind_to(b, &e->args.p[0], t);
    bind_to(b, &e->args.p[1], t);
    finish(e, t);
    return OK;
}

static Status bind_json(Bind *b, Expr *e)
{
    bind_to(b, &e->args.p[0], ty(DT_JSON));
    if (!ty_is_integer(&e->args.p[1]->type))
        bind_to(b, &e->args.p[1], ty(DT_STRING));
    finish(e, ty(e->op == OP_JSON_GET_TEXT ? DT_STRING : DT_JSON));
    e->nullable = 1;
    return OK;
}

static Status bind_containment(Bind *b, Expr *e)
{
    DataType t;

    if (!ty_common(b, &e->args.p[0]->type, &e->args.p[1]->type, &t) || t.kind != DT_LIST)
        return fail_types(b, e, op_name(e->op));
    bind_to(b, &e->args.p[0], t);
    bind_to(b, &e->args.p[1], t);
    finish(e, ty(DT_BOOL));
    return OK;
}

Status bind_binary(Bind *b, Expr **pe)
{
    Expr *e = *pe;

    if (b->trino)
        return trino_binary(b, pe);
    if (!b->spark && bind_is_range_op(e))
        return bind_range_op(b, pe);
    if (!b->spark && bind_is_collection_op(e))
        return bind_collection_op(b, pe);
    if (!b->spark && bind_is_jsonb_op(e))
        return bind_jsonb_op(b, pe);
    switch (e->op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_INT_DIV: case OP_MOD: case OP_POW: return bind_arithmetic(b, pe);
    case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_NULLSAFE_EQ: return bind_comparison(b, pe);
    case OP_AND: case OP_OR: return bind_logic(b, e);
    case OP_CONCAT: return bind_concat(b, e);
    case OP_BIT_AND: case OP_BIT_OR: case OP_BIT_XOR: case OP_SHL: case OP_SHR: return bind_bits(b, pe);
    case OP_JSON_GET: case OP_JSON_GET_TEXT: return bind_json(b, e);
    case OP_CONTAINS: case OP_CONTAINED: case OP_OVERLAP: return bind_containment(b, e);
    default: return fail_types(b, e, e->name.n ? str_z(b->a, e->name.p[0]) : op_name(e->op));
    }
}

Status bind_unary(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType *t = &e->args.p[0]->type;

    if (b->trino)
        return trino_unary(b, pe);
    if (e->op == OP_NOT)
        return bind_logic(b, e);
    if (ty_unknown(t) || (b->spark && ty_is_text(t)))
        bind_to(b, &e->args.p[0], ty(DT_DOUBLE));
    if (e->op == OP_BIT_NOT ? !ty_is_integer(&e->args.p[0]->type) : !ty_is_numeric(&e->args.p[0]->type) && e->args.p[0]->type.kind != DT_INTERVAL)
        return fail_types(b, e, op_name(e->op));
    finish(e, e->args.p[0]->type);
    if (e->op == OP_PLUS)
        *pe = e->args.p[0];
    return OK;
}
