/* SPDX-License-Identifier: Apache-2.0 */
/* func_special.c - entries of the list whose result type or meaning needs more than a letter.
 *
 * One row a function; each row's worker sets the type, and may change the engine text or replace the node.
 * Aggregates: SUM and AVG by Spark's rules (Sum.resultType, Average.resultType); the printer adds the cast that
 * raises on overflow. */
#include "sql/bind_int.h"

typedef struct Call { Bind *b; Level *l; Expr **pe; Expr *e; const FuncSpec *spec; } Call;
typedef Status (*Worker)(Call *c);

static DataType *arg_type(Call *c, size_t i) { return &c->e->args.p[i]->type; }

static Status done(Call *c, DataType t)
{
    c->e->type = t;
    return OK;
}

static Status with(Call *c, const char *engine, DataType t)
{
    c->e->func->engine = str_c(engine);
    return done(c, t);
}

static Status fail_arg(Call *c, const char *needs)
{
    if (c->b->spark)
        return BIND_FAIL(c->b, c->e->position, "42K09", "[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] Cannot resolve \"%s\" due to data type mismatch: it requires %s.",
                         c->spec->name, needs);
    return BIND_FAIL(c->b, c->e->position, "42883", "function %s(" STR_FMT ") does not exist", c->spec->name,
                     STR_ARG(c->e->args.n ? bind_type_name(c->b, arg_type(c, 0)) : S("")));
}

static Status replace_by_op(Call *c, Op op)
{
    Expr *e = bx_binary(c->b->a, op, c->e->args.p[0], c->e->args.p[1], ty(DT_NULL));
    e->position = c->e->position;
    *c->pe = e;
    return bind_binary(c->b, c->pe);
}

/* ---- aggregates ------------------------------------------------------------------------------------------------- */

static int min_int(int x, int y) { return x < y ? x : y; }

static Status sum(Call *c)
{
    Bind *b = c->b;
    DataType *t = arg_type(c, 0);

    if (ty_is_text(t) || ty_unknown(t))
        bind_to(b, &c->e->args.p[0], ty(DT_DOUBLE));
    t = arg_type(c, 0);
    if (t->kind == DT_DECIMAL)
        return done(c, ty_decimal(b->spark ? min_int(38, t->precision + 10) : 38, t->scale));
    if (t->kind == DT_INT64 && !b->spark)
        return done(c, ty_decimal(38, 0));
    if (ty_is_integer(t))
        return done(c, t->kind == DT_INT128 || t->kind == DT_UINT64 || t->kind == DT_UINT128 ? ty_decimal(38, 0) : ty(DT_INT64));
    if (t->kind == DT_INTERVAL)
        return done(c, ty(DT_INTERVAL));
    if (!ty_is_real(t))
        return fail_arg(c, "a numeric or interval argument");
    return done(c, ty(t->kind == DT_FLOAT && !b->spark ? DT_FLOAT : DT_DOUBLE));
}

static Status avg(Call *c)
{
    Bind *b = c->b;
    DataType *t = arg_type(c, 0);

    if (ty_is_text(t) || ty_unknown(t))
        bind_to(b, &c->e->args.p[0], ty(DT_DOUBLE));
    t = arg_type(c, 0);
    if (t->kind == DT_DECIMAL && b->spark)
        return done(c, ty_bounded(t->precision + 4, t->scale + 4));
    if (t->kind == DT_DECIMAL || (ty_is_integer(t) && !b->spark))
        return done(c, ty_decimal(38, t->kind == DT_DECIMAL && t->scale > 16 ? t->scale : 16));
    if (t->kind == DT_INTERVAL)
        return done(c, ty(DT_INTERVAL));
    return ty_is_numeric(t) ? done(c, ty(DT_DOUBLE)) : fail_arg(c, "a numeric or interval argument");
}

/* first(x[, ignore]) */
static Status first(Call *c)
{
    Expr *flag = c->e->args.n > 1 ? c->e->args.p[1] : NULL;

    if (flag && flag->kind != EX_LITERAL)
        return fail_arg(c, "a constant as second argument");
    if (flag && flag->value.kind == DT_BOOL && flag->value.boolean)
        c->e->func->ignore_nulls = 1;
    c->e->args.n = 1;
    return done(c, *arg_type(c, 0));
}

static Status list_of_arg(Call *c) { return done(c, ty_list(c->b->a, *arg_type(c, 0))); }

static Status collect(Call *c)
{
    if (str_eq(c->e->func->canonical, S("collect_set")))
        c->e->func->distinct = 1;
    return list_of_arg(c);
}

/* percentile_cont(0.5) WITHIN GROUP (ORDER BY x) */
static Status within_group(Call *c)
{
    FuncCall *f = c->e->func;

    if (f->order.n != 1)
        return fail_arg(c, "WITHIN GROUP (ORDER BY …)");
    if (str_eq(f->canonical, S("percentile_cont"))) {
        bind_to(c->b, &f->order.p[0].expr, ty(DT_DOUBLE));
        return done(c, ty(DT_DOUBLE));
    }
    return done(c, f->order.p[0].expr->type);
}

static Status mode(Call *c)
{
    FuncCall *f = c->e->func;

    if (!c->e->args.n && f->order.n == 1) {
        vec_push(c->b->a, &c->e->args, f->order.p[0].expr);
        f->order.n = 0;
    }
    return c->e->args.n == 1 ? done(c, *arg_type(c, 0)) : fail_arg(c, "one argument");
}

static Status grouping(Call *c)
{
    if (str_eq(c->e->func->canonical, S("grouping_id"))) {
        if (!c->e->args.n)
            for (size_t i = 0; c->l->select && i < c->l->select->group_by.n; i++)
                vec_push(c->b->a, &c->e->args, c->l->select->group_by.p[i]);
        return with(c, "grouping($*)", ty(DT_INT64));
    }
    return with(c, "grouping($*)", ty(c->b->spark ? DT_INT8 : DT_INT32));
}

static Status lag(Call *c)
{
    DataType t = *arg_type(c, 0);

    if (c->e->args.n == 3) {
        Expr **both[] = { &c->e->args.p[0], &c->e->args.p[2] };
        TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    }
    return done(c, t);
}

/* ---- strings ----------------------------------------------------------------------------------------------------- */

static Status length(Call *c)
{
    if (arg_type(c, 0)->kind == DT_BINARY)
        return with(c, "octet_length($1)", ty(DT_INT32));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    return with(c, "length($1)", ty(DT_INT32));
}

static Status octet_length(Call *c)
{
    if (arg_type(c, 0)->kind == DT_BINARY)
        return with(c, "octet_length($1)", ty(DT_INT32));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    return with(c, "strlen($1)", ty(DT_INT32));
}

/* Spark: NULL if any is NULL; arrays too.  PostgreSQL: NULLs are left out. */
static Status concat(Call *c)
{
    int lists = c->e->args.n && arg_type(c, 0)->kind == DT_LIST;
    DataType t = ty(DT_STRING);
    Expr ***es = arena_array(c->b->a, Expr **, c->e->args.n + 1);

    for (size_t i = 0; i < c->e->args.n; i++)
        es[i] = &c->e->args.p[i];
    if (lists) {
        TRY(bind_unify(c->b, es, c->e->args.n, c->e->position, &t));
        return with(c, "list_concat($*)", t);
    }
    for (size_t i = 0; i < c->e->args.n; i++)
        if (arg_type(c, i)->kind != DT_BINARY || c->e->args.n == 1)
            bind_to(c->b, es[i], ty(DT_STRING));
    if (!c->e->args.n)
        return with(c, "''", ty(DT_STRING));
    if (arg_type(c, 0)->kind == DT_BINARY)
        t = ty(DT_BINARY);
    return with(c, c->b->spark ? "CAST(($|) AS $T)" : "concat($*)", t);
}

static Status substring(Call *c)
{
    if (c->e->args.n == 2 && ty_is_text(arg_type(c, 1))) {
        return with(c, "nullif(regexp_extract($1, $2), '')", ty(DT_STRING));
    }
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT32), "substring"));
    return done(c, ty(DT_STRING));
}

static Status reverse(Call *c)
{
    if (arg_type(c, 0)->kind == DT_LIST)
        return with(c, "list_reverse($1)", *arg_type(c, 0));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), "reverse"));
    return with(c, "reverse($1)", ty(DT_STRING));
}

static Status locate(Call *c)
{
    if (c->e->args.n == 2)
        return with(c, "instr($2, $1)", ty(DT_INT32));
    return with(c, "(CASE WHEN $3 < 1 THEN 0 WHEN instr(substring($2, $3), $1) = 0 THEN 0 ELSE instr(substring($2, $3), $1) + $3 - 1 END)", ty(DT_INT32));
}

static Status string_list(Call *c) { return done(c, ty_list(c->b->a, ty(DT_STRING))); }

static Status split(Call *c)
{
    if (c->e->args.n == 3)
        return BIND_FAIL(c->b, c->e->position, "0A000", "split with a limit is not supported");
    return with(c, "string_split_regex($1, $2)", ty_list(c->b->a, ty(DT_STRING)));
}

static Status constant_text(Call *c, size_t i, Str *ret)
{
    const Expr *e = c->e->args.p[i];

    if (e->kind != EX_LITERAL || e->value.kind != DT_STRING)
        return BIND_FAIL(c->b, e->position, "0A000", "argument %zu of %s must be a string literal", i + 1, c->spec->name);
    *ret = e->value.string;
    return OK;
}

static Status encode(Call *c)
{
    Str how;

    TRY(constant_text(c, 1, &how));
    if (c->b->spark)
        return str_ieq(how, S("utf-8")) ? with(c, "encode($1)", ty(DT_BINARY)) : fail_arg(c, "the character set UTF-8");
    if (str_ieq(how, S("hex")))
        return with(c, "lower(hex($1))", ty(DT_STRING));
    return str_ieq(how, S("base64")) ? with(c, "to_base64($1)", ty(DT_STRING)) : fail_arg(c, "hex or base64");
}

/* decode(bytes, 'UTF-8'), or decode(x, search, result, …[, default]). */
static Status decode(Call *c)
{
    Str how;
    Bind *b = c->b;

    if (!b->spark) {
        TRY(constant_text(c, 1, &how));
        if (str_ieq(how, S("hex")))
            return with(c, "from_hex($1)", ty(DT_BINARY));
        return str_ieq(how, S("base64")) ? with(c, "from_base64($1)", ty(DT_BINARY)) : fail_arg(c, "hex or base64");
    }
    if (c->e->args.n == 2) {
        bind_to(b, &c->e->args.p[0], ty(DT_BINARY));
        return with(c, "decode($1)", ty(DT_STRING));
    }
    Expr *e = bx_new(b->a, EX_CASE, c->e->position);
    size_t n = c->e->args.n;
    for (size_t i = 1; i + 1 < n; i += 2) {
        Expr *x = c->e->args.p[0], *y = c->e->args.p[i];
        Expr **both[] = { &x, &y };
        DataType t;
        TRY(bind_unify(b, both, 2, c->e->position, &t));
        vec_push(b->a, &e->args, bx_binary(b->a, OP_NULLSAFE_EQ, x, y, ty(DT_BOOL)));
        vec_push(b->a, &e->args, c->e->args.p[i + 1]);
    }
    if (n % 2 == 0)
        e->else_ = c->e->args.p[n - 1];
    Expr ***es = arena_array(b->a, Expr **, n + 1);
    size_t k = 0;
    for (size_t i = 1; i < e->args.n; i += 2)
        es[k++] = &e->args.p[i];
    if (e->else_)
        es[k++] = &e->else_;
    TRY(bind_unify(b, es, k, e->position, &e->type));
    e->nullable = 1;
    *c->pe = e;
    return OK;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static Status whole(Call *c)
{
    DataType t = *arg_type(c, 0);

    if (t.kind == DT_DECIMAL)
        return done(c, c->b->spark ? ty_bounded(t.precision - t.scale + 1, 0) : ty_decimal(t.precision - t.scale + 1 > 38 ? 38 : t.precision - t.scale + 1, 0));
    if (ty_is_integer(&t))
        return with(c, "$1", c->b->spark ? ty(DT_INT64) : t);
    return done(c, ty(c->b->spark ? DT_INT64 : DT_DOUBLE));
}

/* RoundBase.dataType */
static Status round_(Call *c)
{
    DataType t = *arg_type(c, 0);
    const Expr *d = c->e->args.n > 1 ? c->e->args.p[1] : NULL;
    int n = d && d->kind == EX_LITERAL ? (int)d->value.integer : 0;

    if (d && c->b->spark && d->kind != EX_LITERAL && d->kind != EX_UNARY)
        return fail_arg(c, "a constant scale");
    if (d && d->kind == EX_UNARY && d->args.p[0]->kind == EX_LITERAL)
        n = -(int)d->args.p[0]->value.integer;
    if (t.kind != DT_DECIMAL)
        return done(c, ty_is_real(&t) && !c->b->spark ? ty(DT_DOUBLE) : t);
    int digits = t.precision - t.scale + 1;
    if (n < 0)
        return done(c, ty_bounded(digits > 1 - n ? digits : 1 - n, 0));
    int s = min_int(n, t.scale);
    return done(c, ty_bounded(digits + s, s));
}

static Status trunc_pg(Call *c)
{
    if (c->e->args.n == 2 && arg_type(c, 0)->kind == DT_DECIMAL)
        return with(c, "(trunc($1 * pow(10, $2)) / pow(10, $2))", *arg_type(c, 0));
    return done(c, *arg_type(c, 0));
}

static Status log_(Call *c)
{
    if (c->e->args.n == 1)
        return with(c, "(CASE WHEN $1 > 0 THEN ln($1) END)", ty(DT_DOUBLE));
    return with(c, "(CASE WHEN $1 > 0 AND $2 > 0 THEN ln($2) / ln($1) END)", ty(DT_DOUBLE));
}

static Status mod(Call *c) { return replace_by_op(c, OP_MOD); }
static Status div_(Call *c) { return replace_by_op(c, OP_INT_DIV); }
static Status shift_left(Call *c) { return replace_by_op(c, OP_SHL); }
static Status shift_right(Call *c) { return replace_by_op(c, OP_SHR); }

static Status pmod(Call *c)
{
    Expr *e = c->e;

    TRY(replace_by_op(c, OP_MOD));
    DataType t = (*c->pe)->type;
    Expr *m = *c->pe;
    *c->pe = bx_call(c->b->a, "pmod", "(CASE WHEN $1 < 0 THEN ($1 + abs($2)) ELSE $1 END)", t, m, e->args.p[1]);
    return OK;
}

/* try_add and its kin: the operator, with errors turned into NULL. */
static Status try_op(Call *c)
{
    static const struct { const char *name; Op op; } ops[] = {
        { "try_add", OP_ADD }, { "try_subtract", OP_SUB }, { "try_multiply", OP_MUL }, { "try_divide", OP_DIV }, { "try_mod", OP_MOD },
    };
    size_t i = 0;

    while (strcmp(ops[i].name, c->spec->name) != 0)
        i++;
    TRY(replace_by_op(c, ops[i].op));
    *c->pe = bx_call(c->b->a, "try", "TRY($1)", (*c->pe)->type, *c->pe, NULL);
    return OK;
}

/* ---- conditions ------------------------------------------------------------------------------------------------------- */

static Status nullif_(Call *c)
{
    DataType own = *arg_type(c, 0), t;
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };

    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    return with(c, "nullif($1, $2)", c->b->spark || ty_unknown(&own) ? t : own);
}

static Status typeof_(Call *c)
{
    *c->pe = bx_str(c->b->a, sql_type_name(c->b->a, c->b->b->dialect, arg_type(c, 0)));
    return OK;
}

/* ---- time --------------------------------------------------------------------------------------------------------------- */

static Status now(Call *c)
{
    Binder *o = c->b->b;
    Str instant = o->now_has ? str_fmt(c->b->a, "make_timestamptz(%lld)", (long long)o->now_us) : S("now()");
    Str name = c->e->func->canonical;

    c->e->args.n = 0;
    c->e->nullable = 0;
    if (str_eq(name, S("current_date")))
        return with(c, str_fmt(c->b->a, "CAST(" STR_FMT " AS DATE)", STR_ARG(instant)).p, ty(DT_DATE));
    if (str_eq(name, S("localtimestamp")))
        return with(c, str_fmt(c->b->a, "CAST(" STR_FMT " AS TIMESTAMP)", STR_ARG(instant)).p, ty(DT_TIMESTAMP));
    return with(c, str_fmt(c->b->a, "(" STR_FMT ")", STR_ARG(instant)).p, ty(DT_TIMESTAMPTZ));
}

static bool is_seconds(Str f)
{
    static const char *const names[] = { "second", "s", "sec", "seconds", "secs" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(f, str_c(names[i])))
            return true;
    return false;
}

static Status extract(Call *c)
{
    static const struct { const char *names, *engine; } fields[] = {
        { "year y years yr yrs", "year($2)" }, { "yearofweek", "isoyear($2)" }, { "isoyear", "isoyear($2)" }, { "quarter qtr", "quarter($2)" },
        { "month mon mons months", "month($2)" }, { "week w weeks", "weekofyear($2)" }, { "day d days dayofmonth", "day($2)" },
        { "dayofweek", "(dayofweek($2) + 1)" }, { "dow", "dayofweek($2)" }, { "isodow dayofweek_iso", "isodow($2)" }, { "doy dayofyear", "dayofyear($2)" },
        { "hour h hours hr hrs", "hour($2)" }, { "minute m min mins minutes", "minute($2)" }, { "century", "date_part('century', $2)" },
        { "decade", "date_part('decade', $2)" }, { "millennium", "date_part('millennium', $2)" },
    };
    Str f;

    TRY(constant_text(c, 0, &f));
    if (is_seconds(f))
        return with(c, "(date_part('microseconds', $2) / 1000000.0)", c->b->spark ? ty_decimal(8, 6) : ty_decimal(12, 6));
    if (str_ieq(f, S("epoch")))
        return with(c, "epoch($2)", c->b->spark ? ty_decimal(20, 6) : ty_decimal(20, 6));
    if (!c->b->spark && (str_ieq(f, S("microseconds")) || str_ieq(f, S("milliseconds"))))
        return with(c, str_ieq(f, S("microseconds")) ? "date_part('microseconds', $2)" : "(date_part('microseconds', $2) / 1000.0)", ty_decimal(18, 3));
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        StrVec names = { 0 };
        str_split(c->b->a, str_c(fields[i].names), ' ', &names);
        for (size_t k = 0; k < names.n; k++) {
            if (!str_ieq(names.p[k], f))
                continue;
            if (str_ieq(f, S("dow")) && c->b->spark)
                return with(c, "(dayofweek($2) + 1)", ty(DT_INT32));
            return with(c, fields[i].engine, c->b->spark ? ty(DT_INT32) : ty_decimal(18, 0));
        }
    }
    return BIND_FAIL(c->b, c->e->position, "22023", c->b->spark ? "[INVALID_EXTRACT_FIELD] Cannot extract `" STR_FMT "`." : "unit \"" STR_FMT "\" not recognized", STR_ARG(f));
}

static Status unit_of(Call *c, size_t i, Str *ret)
{
    static const char *const units[] = { "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year" };
    Str f;

    TRY(constant_text(c, i, &f));
    f = str_lower(c->b->a, f);
    if (str_eq(f, S("dayofyear")))
        f = S("day");
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (str_eq(f, str_c(units[k])) || str_eq(f, str_fmt(c->b->a, "%ss", units[k]))) {
            *ret = str_c(units[k]);
            return OK;
        }
    return BIND_FAIL(c->b, c->e->position, "22023", "[INVALID_PARAMETER_VALUE.DATETIME_UNIT] unknown datetime unit " STR_FMT, STR_ARG(f));
}

static Status to_instant(Call *c, size_t i)
{
    if (!ty_is_time(arg_type(c, i)))
        return bind_coerce(c->b, &c->e->args.p[i], ty(DT_TIMESTAMPTZ), c->spec->name);
    return OK;
}

/* date_add(date, days), or dateadd(unit, n, time). */
static Status date_add(Call *c)
{
    Str unit;

    if (c->e->args.n == 2) {
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_DATE), c->spec->name));
        TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT32), c->spec->name));
        return with(c, "($1 + $2)", ty(DT_DATE));
    }
    TRY(unit_of(c, 0, &unit));
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT64), c->spec->name));
    TRY(to_instant(c, 2));
    DataType t = arg_type(c, 2)->kind == DT_DATE ? ty(DT_TIMESTAMPTZ) : *arg_type(c, 2);
    if (str_eq(unit, S("quarter")))
        return with(c, "($3 + to_months(CAST($2 * 3 AS INTEGER)))", t);
    if (str_eq(unit, S("week")))
        return with(c, "($3 + to_days(CAST($2 * 7 AS INTEGER)))", t);
    int narrow = str_eq(unit, S("day")) || str_eq(unit, S("month")) || str_eq(unit, S("year"));
    return with(c, str_fmt(c->b->a, narrow ? "($3 + to_" STR_FMT "s(CAST($2 AS INTEGER)))" : "($3 + to_" STR_FMT "s($2))", STR_ARG(unit)).p, t);
}

/* datediff(end, start), or datediff(unit, start, end). */
static Status datediff(Call *c)
{
    Str unit;

    if (c->e->args.n == 2) {
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_DATE), c->spec->name));
        TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_DATE), c->spec->name));
        return with(c, "($1 - $2)", ty(DT_INT32));
    }
    TRY(unit_of(c, 0, &unit));
    for (size_t i = 1; i < 3; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], ty(DT_TIMESTAMPTZ), c->spec->name));
    return with(c, str_fmt(c->b->a, "datesub('" STR_FMT "', $2, $3)", STR_ARG(unit)).p, ty(DT_INT64));
}

/* Spark's short forms of the units of trunc and date_trunc. */
static Status trunc_unit(Call *c, size_t i, Str *ret)
{
    static const char *const alias[][2] = {
        { "yyyy", "year" }, { "yy", "year" }, { "mm", "month" }, { "mon", "month" }, { "dd", "day" },
    };
    Str f;

    TRY(constant_text(c, i, &f));
    *ret = str_lower(c->b->a, f);
    for (size_t k = 0; k < COUNT_OF(alias); k++)
        if (str_eq(*ret, str_c(alias[k][0])))
            *ret = str_c(alias[k][1]);
    static const char *const units[] = { "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century", "millennium" };
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (str_eq(*ret, str_c(units[k])))
            return OK;
    return BIND_FAIL(c->b, c->e->position, "22023", c->b->spark ? "unit '" STR_FMT "' is not known" : "unit \"" STR_FMT "\" not recognized", STR_ARG(*ret));
}

static Status trunc_date(Call *c)
{
    Str unit;

    TRY(trunc_unit(c, 1, &unit));
    return with(c, str_fmt(c->b->a, "CAST(date_trunc('" STR_FMT "', $1) AS DATE)", STR_ARG(unit)).p, ty(DT_DATE));
}

static Status date_trunc(Call *c)
{
    Str unit;
    DataType t = *arg_type(c, 1);

    TRY(trunc_unit(c, 0, &unit));
    if (t.kind == DT_DATE)
        bind_to(c->b, &c->e->args.p[1], t = ty(DT_TIMESTAMPTZ));
    return with(c, str_fmt(c->b->a, "date_trunc('" STR_FMT "', $2)", STR_ARG(unit)).p, t);
}

/* A java.time pattern as strftime's; what has no counterpart is refused. */
static Status pattern(Call *c, size_t i, Str *ret)
{
    static const char *const pairs[][2] = {
        { "yyyy", "%Y" }, { "yy", "%y" }, { "y", "%Y" }, { "MMMM", "%B" }, { "MMM", "%b" }, { "MM", "%m" }, { "M", "%-m" }, { "dd", "%d" },
        { "d", "%-d" }, { "HH", "%H" }, { "H", "%-H" }, { "hh", "%I" }, { "h", "%-I" }, { "mm", "%M" }, { "m", "%-M" }, { "ss", "%S" },
        { "s", "%-S" }, { "SSSSSS", "%f" }, { "SSS", "%g" }, { "a", "%p" }, { "EEEE", "%A" }, { "EEE", "%a" }, { "E", "%a" }, { "DDD", "%j" },
    };
    StrBuf b = sb_new(c->b->a);
    Str f;

    TRY(constant_text(c, i, &f));
    for (size_t at = 0; at < f.n;) {
        char ch = f.p[at];
        size_t run = 1;
        while (at + run < f.n && f.p[at + run] == ch)
            run++;
        if (ch == '\'') {
            for (at++; at < f.n && f.p[at] != '\''; at++)
                sb_byte(&b, f.p[at]);
            at++;
            continue;
        }
        if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'))) {
            for (size_t k = 0; k < run; k++)
                sb_addc(&b, ch == '%' ? "%%" : (char[]){ ch, 0 });
            at += run;
            continue;
        }
        size_t k = 0;
        while (k < COUNT_OF(pairs) && !(strlen(pairs[k][0]) == run && pairs[k][0][0] == ch))
            k++;
        if (k == COUNT_OF(pairs))
            return BIND_FAIL(c->b, c->e->position, "0A000", "date pattern '" STR_FMT "' is not supported", STR_ARG(f));
        sb_addc(&b, pairs[k][1]);
        at += run;
    }
    *ret = sql_lit_str(c->b->a, sb_str(&b));
    for (size_t k = 0; k < ret->n; k++)
        if (ret->p[k] == '$')
            return BIND_FAIL(c->b, c->e->position, "0A000", "date pattern '" STR_FMT "' is not supported", STR_ARG(f));
    return OK;
}

static Status to_time(Call *c)
{
    DataTypeKind k = strcmp(c->spec->name, "to_date") == 0 ? DT_DATE : strcmp(c->spec->name, "to_timestamp_ntz") == 0 ? DT_TIMESTAMP : DT_TIMESTAMPTZ;
    int lenient = strncmp(c->spec->name, "try_", 4) == 0;
    Str p;

    if (c->e->args.n == 1 || !(ty_is_text(arg_type(c, 0)) || ty_unknown(arg_type(c, 0)))) {
        Expr *e = bx_new(c->b->a, EX_CAST, c->e->position);
        vec_push(c->b->a, &e->args, c->e->args.p[0]);
        e->type = ty(k);
        e->try_cast = lenient;
        *c->pe = e;
        return bind_cast(c->b, c->pe);
    }
    TRY(pattern(c, 1, &p));
    bind_to(c->b, &c->e->args.p[0], ty(DT_STRING));
    return with(c, str_fmt(c->b->a, lenient ? "try_strptime($1, " STR_FMT ")" : "strptime($1, " STR_FMT ")", STR_ARG(p)).p, ty(k));
}

static Status date_format(Call *c)
{
    Str p;

    TRY(pattern(c, 1, &p));
    return with(c, str_fmt(c->b->a, "strftime(CAST($1 AS TIMESTAMP), " STR_FMT ")", STR_ARG(p)).p, ty(DT_STRING));
}

static Status from_unixtime(Call *c)
{
    Str p = S("'%Y-%m-%d %H:%M:%S'");

    if (c->e->args.n == 2)
        TRY(pattern(c, 1, &p));
    return with(c, str_fmt(c->b->a, "strftime(make_timestamp($1 * 1000000), " STR_FMT ")", STR_ARG(p)).p, ty(DT_STRING));
}

static Status unix_timestamp(Call *c)
{
    Binder *o = c->b->b;
    Str p;

    if (!c->e->args.n) {
        c->e->func->volatile_ = 1;
        return with(c, o->now_has ? str_fmt(c->b->a, "CAST(%lld AS BIGINT)", (long long)(o->now_us / 1000000)).p : "CAST(floor(epoch(now())) AS BIGINT)", ty(DT_INT64));
    }
    if (c->e->args.n == 1 || !ty_is_text(arg_type(c, 0))) {
        c->e->args.n = 1;
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_TIMESTAMPTZ), "unix_timestamp"));
        return with(c, "floor(epoch($1))", ty(DT_INT64));
    }
    TRY(pattern(c, 1, &p));
    return with(c, str_fmt(c->b->a, "floor(epoch(strptime($1, " STR_FMT ")))", STR_ARG(p)).p, ty(DT_INT64));
}

static Status timezone_(Call *c)
{
    DataType *t = arg_type(c, 1);

    if (!ty_is_time(t))
        bind_to(c->b, &c->e->args.p[1], ty(DT_TIMESTAMPTZ));
    t = arg_type(c, 1);
    if (t->kind == DT_DATE)
        bind_to(c->b, &c->e->args.p[1], ty(DT_TIMESTAMPTZ));
    return with(c, "timezone($1, $2)", ty(arg_type(c, 1)->kind == DT_TIMESTAMPTZ ? DT_TIMESTAMP : DT_TIMESTAMPTZ));
}

static Status unsupported(Call *c) { return BIND_FAIL(c->b, c->e->position, "0A000", "function %s is not supported with these arguments", c->spec->name); }

/* ---- arrays and maps ------------------------------------------------------------------------------------------------------ */

static Status size(Call *c)
{
    if (arg_type(c, 0)->kind == DT_MAP)
        return with(c, "cardinality($1)", ty(DT_INT32));
    return arg_type(c, 0)->kind == DT_LIST ? with(c, "len($1)", ty(DT_INT32)) : fail_arg(c, "an array or a map");
}

/* The element is cast to the array's element type, or both to their common type. */
static Status fit_element(Call *c, size_t list, size_t element)
{
    DataType *t = arg_type(c, list), common;

    if (t->kind != DT_LIST)
        return fail_arg(c, "an array");
    if (!ty_common(c->b, &t->children[0], arg_type(c, element), &common))
        return fail_arg(c, "an element of the array's type");
    bind_to(c->b, &c->e->args.p[list], ty_list(c->b->a, common));
    bind_to(c->b, &c->e->args.p[element], common);
    return OK;
}

static Status array_element(Call *c)
{
    static const struct { const char *name, *engine; char ret; } rows[] = {
        { "array_contains", "list_contains($1, $2)", 'b' },
        { "array_position", "coalesce(list_position($1, $2), 0)", 'p' },
        { "array_remove", "list_filter($1, lambda firn_x: firn_x IS DISTINCT FROM $2)", '1' },
        { "array_append", "list_append($1, $2)", '1' },
        { "array_prepend", "list_prepend($2, $1)", '1' },
    };
    size_t i = 0;

    while (strcmp(rows[i].name, c->spec->name) != 0)
        i++;
    TRY(fit_element(c, 0, 1));
    if (rows[i].ret == 'p' && !c->b->spark)
        return with(c, "list_position($1, $2)", ty(DT_INT32));
    return with(c, rows[i].engine, rows[i].ret == 'b' ? ty(DT_BOOL) : rows[i].ret == 'p' ? ty(DT_INT64) : *arg_type(c, 0));
}

static Status array_repeat(Call *c) { return with(c, "list_transform(range(greatest($2, 0)), lambda firn_x: $1)", ty_list(c->b->a, *arg_type(c, 0))); }

static Status sequence(Call *c)
{
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };
    DataType t;

    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    if (ty_is_integer(&t)) {
        for (size_t i = 0; i < c->e->args.n; i++)
            bind_to(c->b, &c->e->args.p[i], ty(DT_INT64));
        return with(c, "generate_series($1, $2, $3{CASE WHEN $1 <= $2 THEN 1 ELSE -1 END})", ty_list(c->b->a, t));
    }
    if (!ty_is_time(&t))
        return fail_arg(c, "integers, dates or timestamps");
    if (c->e->args.n == 3)
        TRY(bind_coerce(c->b, &c->e->args.p[2], ty(DT_INTERVAL), "sequence"));
    return with(c, "generate_series($1, $2, $3{CASE WHEN $1 <= $2 THEN to_days(1) ELSE to_days(-1) END})", ty_list(c->b->a, t));
}

static Status element_at(Call *c)
{
    DataType *t = arg_type(c, 0);

    if (t->kind == DT_MAP) {
        TRY(bind_coerce(c->b, &c->e->args.p[1], t->children[0], "element_at"));
        return with(c, "$1[$2]", t->children[1]);
    }
    if (t->kind != DT_LIST)
        return fail_arg(c, "an array or a map");
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT64), "element_at"));
    return with(c, "list_extract($1, $2)", t->children[0]);
}

/* map(k, v, …) */
static Status map_(Call *c)
{
    Bind *b = c->b;
    size_t n = c->e->args.n / 2;
    Expr ***keys = arena_array(b->a, Expr **, n + 1), ***values = arena_array(b->a, Expr **, n + 1);
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(b->a, DataType, 2) };
    StrBuf k = sb_new(b->a), v = sb_new(b->a);

    if (c->e->args.n % 2)
        return fail_arg(c, "an even number of arguments");
    for (size_t i = 0; i < n; i++) {
        keys[i] = &c->e->args.p[2 * i];
        values[i] = &c->e->args.p[2 * i + 1];
        sb_fmt(&k, "%s$%zu", i ? ", " : "", 2 * i + 1);
        sb_fmt(&v, "%s$%zu", i ? ", " : "", 2 * i + 2);
    }
    TRY(bind_unify(b, keys, n, c->e->position, &t.children[0]));
    TRY(bind_unify(b, values, n, c->e->position, &t.children[1]));
    return with(c, str_fmt(b->a, "map([" STR_FMT "], [" STR_FMT "])", STR_ARG(sb_str(&k)), STR_ARG(sb_str(&v))).p, t);
}

static Status map_part(Call *c)
{
    DataType *t = arg_type(c, 0);
    return done(c, ty_list(c->b->a, t->children[strcmp(c->spec->name, "map_values") == 0]));
}

static Status higher_order(Call *c)
{
    static const struct { const char *name, *engine; char ret; } rows[] = {
        { "transform", "list_transform($1, $2)", 'r' },
        { "filter", "list_filter($1, $2)", '1' },
        { "exists", "list_bool_or(list_transform($1, $2))", 'b' },
        { "any_match", "list_bool_or(list_transform($1, $2))", 'b' },
        { "forall", "coalesce(list_bool_and(list_transform($1, $2)), true)", 'b' },
    };
    size_t i = 0;

    if (c->e->args.p[1]->kind != EX_LAMBDA)
        return fail_arg(c, "a lambda function");
    while (strcmp(rows[i].name, c->spec->name) != 0)
        i++;
    return with(c, rows[i].engine, rows[i].ret == 'r' ? ty_list(c->b->a, *arg_type(c, 1)) : rows[i].ret == 'b' ? ty(DT_BOOL) : *arg_type(c, 0));
}

/* explode(array) in a select list: one row an element. */
static Status explode(Call *c)
{
    if (c->l->clause != CL_ITEM || c->l->in_aggregate)
        return BIND_FAIL(c->b, c->e->position, "42K0E", "[UNSUPPORTED_GENERATOR.OUTSIDE_SELECT] The generator is not supported outside the SELECT clause, found: %s.", c->spec->name);
    if (arg_type(c, 0)->kind != DT_LIST)
        return arg_type(c, 0)->kind == DT_MAP ? unsupported(c) : fail_arg(c, "an array");
    return with(c, "unnest($1)", arg_type(c, 0)->children[0]);
}

/* ---- the session ------------------------------------------------------------------------------------------------------------ */

static Status session(Call *c)
{
    Str name = c->e->func->canonical;
    Binder *o = c->b->b;

    *c->pe = bx_str(c->b->a, str_eq(name, S("current_user")) ? o->current_user : str_eq(name, S("current_catalog")) ? o->current_catalog : o->current_namespace);
    return OK;
}

static Status oid(Call *c) { return done(c, ty(DT_UINT32)); }
static Status text(Call *c) { return done(c, ty(DT_STRING)); }

/* ---- rows --------------------------------------------------------------------------------------------------------------------- */

typedef struct Row { const char *canonical; Worker worker; } Row;

static const Row rows_spark[] = { { "trunc", trunc_date }, { "to_timestamp", to_time } };
static const Row rows_postgres[] = { { "trunc", trunc_pg } };

static const Row rows_both[] = {
    { "sum", sum }, { "try_sum", sum }, { "avg", avg }, { "first", first }, { "last", first }, { "any_value", first },
    { "collect_list", collect }, { "collect_set", collect }, { "array_agg", list_of_arg }, { "percentile_cont", within_group },
    { "percentile_disc", within_group }, { "mode", mode }, { "grouping", grouping }, { "grouping_id", grouping }, { "lag", lag }, { "lead", lag },
    { "length", length }, { "octet_length", octet_length }, { "concat", concat }, { "concat_ws", text }, { "substring", substring },
    { "reverse", reverse }, { "locate", locate }, { "split", split }, { "regexp_split_to_array", string_list }, { "string_to_array", string_list },
    { "regexp_extract", text }, { "regexp_extract_all", string_list }, { "encode", encode }, { "decode", decode }, { "to_char", unsupported },
    { "ceil", whole }, { "floor", whole }, { "round", round_ }, { "bround", round_ }, { "log", log_ }, { "mod", mod }, { "div", div_ },
    { "pmod", pmod }, { "shiftleft", shift_left }, { "shiftright", shift_right }, { "try_add", try_op }, { "try_subtract", try_op },
    { "try_multiply", try_op }, { "try_divide", try_op }, { "try_mod", try_op }, { "nullif", nullif_ }, { "typeof", typeof_ },
    { "current_date", now }, { "current_timestamp", now }, { "localtimestamp", now }, { "extract", extract }, { "date_add", date_add },
    { "datediff", datediff }, { "date_trunc", date_trunc }, { "to_date", to_time }, { "to_timestamp_ntz", to_time }, { "try_to_timestamp", to_time },
    { "date_format", date_format }, { "from_unixtime", from_unixtime }, { "unix_timestamp", unix_timestamp }, { "timezone", timezone_ },
    { "size", size }, { "array_contains", array_element }, { "array_position", array_element }, { "array_remove", array_element },
    { "array_append", array_element }, { "array_prepend", array_element }, { "array_repeat", array_repeat }, { "sequence", sequence },
    { "element_at", element_at }, { "map", map_ }, { "map_keys", map_part }, { "map_values", map_part }, { "transform", higher_order },
    { "filter", higher_order }, { "array_exists", higher_order }, { "forall", higher_order }, { "explode", explode },
    { "current_user", session }, { "current_catalog", session }, { "current_schema", session }, { "current_schemas", string_list },
    { "to_regclass", oid }, { "to_regtype", oid },
};

static Worker find(const Row *rows, size_t n, Str canonical)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(canonical, str_c(rows[i].canonical)))
            return rows[i].worker;
    return NULL;
}

Status func_special(Bind *b, Level *l, Expr **pe, const FuncSpec *spec)
{
    Call c = { b, l, pe, *pe, spec };
    Str name = (*pe)->func->canonical;
    Worker w = b->spark ? find(rows_spark, COUNT_OF(rows_spark), name) : find(rows_postgres, COUNT_OF(rows_postgres), name);

    if (!w)
        w = find(rows_both, COUNT_OF(rows_both), name);
    return w ? w(&c) : FAIL(b->err, E_INTERNAL, "function '%s' has no typing rule", spec->name);
}
