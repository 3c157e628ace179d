/* SPDX-License-Identifier: Apache-2.0 */
/* func_time.c - dates and timestamps: units, patterns, the statement's fixed time. */
#include "codec/codec.h"
#include "sql/func_int.h"

static Status now(FuncArgs *c)
{
    Binder *o = c->b->b;
    Str instant = o->now_has ? str_fmt(c->b->a, "make_timestamptz(%lld)", (long long)o->now_us) : S("now()");
    Str name = c->e->func->canonical;

    c->e->args.n = 0;
    c->e->nullable = 0;
    if (str_eq(name, S("current_date")))
        return func_with(c, str_fmt(c->b->a, "CAST(" STR_FMT " AS DATE)", STR_ARG(instant)).p, ty(DT_DATE));
    if (str_eq(name, S("localtimestamp")))
        return func_with(c, str_fmt(c->b->a, "CAST(" STR_FMT " AS TIMESTAMP)", STR_ARG(instant)).p, ty(DT_TIMESTAMP));
    return func_with(c, str_fmt(c->b->a, "(" STR_FMT ")", STR_ARG(instant)).p, ty(DT_TIMESTAMPTZ));
}

/* Milliseconds.  A statement's own time, or, in what is kept as time goes on, that of the row of s_now (ivm.h). */
static Status mz_now(FuncArgs *c)
{
    Binder *o = c->b->b;

    c->e->nullable = 0;
    return func_with(c, o->now_has ? str_fmt(c->b->a, "(%lld)", (long long)(o->now_us / 1000)).p : "(SELECT t_new FROM s_now)", ty_decimal(20, 0));
}

/* PostgreSQL's names of units; Spark has some of its own beside them. */
static Str unit_name(Str f)
{
    const TimeUnit *u = time_unit(f);
    return u ? str_c(u->name) : f;
}

/* What a time of day, and a date where EXTRACT is written, do not have. */
static Status lacks_field(FuncArgs *c, Str f)
{
    static const char *const of_day[] = { "hour", "minute", "second", "millisecond", "microsecond" };
    DataTypeKind k = func_arg(c, 1)->kind;
    bool day_part = false;

    for (size_t i = 0; i < COUNT_OF(of_day); i++)
        day_part |= str_eq(f, str_c(of_day[i]));
    if (c->b->spark || str_ieq(f, S("epoch")) || !(k == DT_TIME ? !day_part : k == DT_DATE && day_part && strcmp(c->spec->name, "extract") == 0))
        return OK;
    return BIND_FAIL(c->b, c->e->position, "0A000", "unit \"" STR_FMT "\" not supported for type " STR_FMT, STR_ARG(f), STR_ARG(bind_type_name(c->b, func_arg(c, 1))));
}

static Status extract(FuncArgs *c)
{
    static const struct { const char *names, *engine; } fields[] = {
        { "year", "year($2)" }, { "yearofweek", "isoyear($2)" }, { "isoyear", "isoyear($2)" }, { "quarter", "quarter($2)" },
        { "month", "month($2)" }, { "week", "weekofyear($2)" }, { "day dayofmonth", "day($2)" },
        { "dayofweek", "(dayofweek($2) + 1)" }, { "dow", "dayofweek($2)" }, { "isodow dayofweek_iso", "isodow($2)" }, { "doy dayofyear", "dayofyear($2)" },
        { "hour", "hour($2)" }, { "minute", "minute($2)" }, { "century", "date_part('century', $2)" }, { "millennium", "date_part('millennium', $2)" },
    };
    Str f;

    TRY(func_constant(c, 0, &f));
    Str written = f;
    f = unit_name(f);
    TRY(lacks_field(c, f));
    if (str_eq(f, S("decade")))
        return func_with(c, func_arg(c, 1)->kind == DT_INTERVAL ? "date_part('decade', $2)" : "floor(year($2) / 10.0)", c->b->spark ? ty(DT_INT32) : ty_decimal(18, 0));
    if (str_eq(f, S("second")))
        return func_with(c, "(date_part('microseconds', $2) / 1000000.0)", c->b->spark ? ty_decimal(8, 6) : ty_decimal(12, 6));
    if (str_ieq(f, S("epoch")))
        return func_with(c, "epoch($2)", c->b->spark ? ty_decimal(20, 6) : ty_decimal(20, 6));
    if (!c->b->spark && (str_eq(f, S("microsecond")) || str_eq(f, S("millisecond"))))
        return func_with(c, str_eq(f, S("microsecond")) ? "date_part('microseconds', $2)" : "(date_part('microseconds', $2) / 1000.0)", ty_decimal(18, 3));
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        StrVec names = { 0 };
        str_split(c->b->a, str_c(fields[i].names), ' ', &names);
        for (size_t k = 0; k < names.n; k++) {
            if (!str_ieq(names.p[k], f))
                continue;
            if (str_ieq(f, S("dow")) && c->b->spark)
                return func_with(c, "(dayofweek($2) + 1)", ty(DT_INT32));
            return func_with(c, fields[i].engine, c->b->spark ? ty(DT_INT32) : ty_decimal(18, 0));
        }
    }
    return BIND_FAIL(c->b, c->e->position, "22023", c->b->spark ? "[INVALID_EXTRACT_FIELD] Cannot extract `" STR_FMT "`." : "unit \"" STR_FMT "\" not recognized", STR_ARG(written));
}

static Status unit_of(FuncArgs *c, size_t i, Str *ret)
{
    static const char *const units[] = { "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year" };
    Str f;

    TRY(func_constant(c, i, &f));
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

static Status to_instant(FuncArgs *c, size_t i)
{
    if (!ty_is_time(func_arg(c, i)))
        return bind_coerce(c->b, &c->e->args.p[i], ty(DT_TIMESTAMPTZ), c->spec->name);
    return OK;
}

/* date_add(date, days), or dateadd(unit, n, time). */
static Status date_add(FuncArgs *c)
{
    Str unit;

    if (c->e->args.n == 2) {
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_DATE), c->spec->name));
        TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT32), c->spec->name));
        return func_with(c, "($1 + $2)", ty(DT_DATE));
    }
    TRY(unit_of(c, 0, &unit));
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT64), c->spec->name));
    TRY(to_instant(c, 2));
    DataType t = func_arg(c, 2)->kind == DT_DATE ? ty(DT_TIMESTAMPTZ) : *func_arg(c, 2);
    if (str_eq(unit, S("quarter")))
        return func_with(c, "($3 + to_months(CAST($2 * 3 AS INTEGER)))", t);
    if (str_eq(unit, S("week")))
        return func_with(c, "($3 + to_days(CAST($2 * 7 AS INTEGER)))", t);
    int narrow = str_eq(unit, S("day")) || str_eq(unit, S("month")) || str_eq(unit, S("year"));
    return func_with(c, str_fmt(c->b->a, narrow ? "($3 + to_" STR_FMT "s(CAST($2 AS INTEGER)))" : "($3 + to_" STR_FMT "s($2))", STR_ARG(unit)).p, t);
}

/* datediff(end, start), or datediff(unit, start, end). */
static Status datediff(FuncArgs *c)
{
    Str unit;

    if (c->e->args.n == 2) {
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_DATE), c->spec->name));
        TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_DATE), c->spec->name));
        return func_with(c, "($1 - $2)", ty(DT_INT32));
    }
    TRY(unit_of(c, 0, &unit));
    for (size_t i = 1; i < 3; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], ty(DT_TIMESTAMPTZ), c->spec->name));
    return func_with(c, str_fmt(c->b->a, "datesub('" STR_FMT "', $2, $3)", STR_ARG(unit)).p, ty(DT_INT64));
}

/* Spark's short forms of the units of trunc and date_trunc. */
static Status trunc_unit(FuncArgs *c, size_t i, Str *ret)
{
    static const char *const alias[][2] = {
        { "yyyy", "year" }, { "yy", "year" }, { "mm", "month" }, { "mon", "month" }, { "dd", "day" },
    };
    Str f;

    TRY(func_constant(c, i, &f));
    *ret = unit_name(str_lower(c->b->a, f));
    for (size_t k = 0; c->b->spark && k < COUNT_OF(alias); k++)
        if (str_eq(*ret, str_c(alias[k][0])))
            *ret = str_c(alias[k][1]);
    static const char *const units[] = { "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year", "decade", "century", "millennium" };
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (str_eq(*ret, str_c(units[k])))
            return OK;
    return BIND_FAIL(c->b, c->e->position, "22023", c->b->spark ? "unit '" STR_FMT "' is not known" : "unit \"" STR_FMT "\" not recognized", STR_ARG(*ret));
}

static Status trunc_date(FuncArgs *c)
{
    Str unit;

    TRY(trunc_unit(c, 1, &unit));
    return func_with(c, str_fmt(c->b->a, "CAST(date_trunc('" STR_FMT "', $1) AS DATE)", STR_ARG(unit)).p, ty(DT_DATE));
}

/* The first century begins in the year 1, and so does the first millennium; before it the engine cuts towards the year 0. */
static bool long_unit(FuncArgs *c, Str unit)
{
    int years = str_eq(unit, S("decade")) ? 10 : str_eq(unit, S("century")) ? 100 : str_eq(unit, S("millennium")) ? 1000 : 0;

    if (years)
        c->e->func->engine = str_fmt(c->b->a, "(date_trunc('year', $2) - to_years(CAST(((year($2) - %d) %% %d + %d) %% %d AS INTEGER)))", years > 10, years, years, years);
    return years != 0;
}

/* A unit that is known when the row is. */
#define LONG_UNIT(add, years) "date_trunc('year', $2) - to_years(CAST(((year($2) - " add ") % " years " + " years ") % " years " AS INTEGER))"
static Status any_unit(FuncArgs *c, DataType t)
{
    if (t.kind == DT_INTERVAL)
        return func_with(c, "date_trunc(lower($1), $2)", t);
    return func_with(c, "(CASE lower($1) WHEN 'decade' THEN " LONG_UNIT("0", "10") " WHEN 'century' THEN " LONG_UNIT("1", "100") " WHEN 'millennium' THEN " LONG_UNIT("1", "1000")
                     " WHEN 'milliseconds' THEN date_trunc('millisecond', $2) WHEN 'microseconds' THEN $2 ELSE date_trunc(lower($1), $2) END)", t);
}

static Status date_trunc(FuncArgs *c)
{
    Str unit;
    DataType t = *func_arg(c, 1);

    if (!c->b->spark && c->e->args.p[0]->kind != EX_LITERAL) {
        if (t.kind == DT_DATE)
            bind_to(c->b, &c->e->args.p[1], t = ty(DT_TIMESTAMPTZ));
        return any_unit(c, t);
    }
    TRY(trunc_unit(c, 0, &unit));
    if (t.kind == DT_DATE)
        bind_to(c->b, &c->e->args.p[1], t = ty(DT_TIMESTAMPTZ));
    if (!c->b->spark && t.kind != DT_INTERVAL && long_unit(c, unit))
        return func_done(c, t);
    return func_with(c, str_fmt(c->b->a, "date_trunc('" STR_FMT "', $2)", STR_ARG(unit)).p, t);
}

/* A java.time pattern as strftime's; what has no counterpart is refused. */
static Status pattern(FuncArgs *c, size_t i, Str *ret)
{
    static const char *const pairs[][2] = {
        { "yyyy", "%Y" }, { "yy", "%y" }, { "y", "%Y" }, { "MMMM", "%B" }, { "MMM", "%b" }, { "MM", "%m" }, { "M", "%-m" }, { "dd", "%d" },
        { "d", "%-d" }, { "HH", "%H" }, { "H", "%-H" }, { "hh", "%I" }, { "h", "%-I" }, { "mm", "%M" }, { "m", "%-M" }, { "ss", "%S" },
        { "s", "%-S" }, { "SSSSSS", "%f" }, { "SSS", "%g" }, { "a", "%p" }, { "EEEE", "%A" }, { "EEE", "%a" }, { "E", "%a" }, { "DDD", "%j" },
    };
    StrBuf b = sb_new(c->b->a);
    Str f;

    TRY(func_constant(c, i, &f));
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

static Status to_time(FuncArgs *c)
{
    DataTypeKind k = strcmp(c->spec->name, "to_date") == 0 ? DT_DATE : strcmp(c->spec->name, "to_timestamp_ntz") == 0 ? DT_TIMESTAMP : DT_TIMESTAMPTZ;
    int lenient = strncmp(c->spec->name, "try_", 4) == 0;
    Str p;

    if (c->e->args.n == 1 || !(ty_is_text(func_arg(c, 0)) || ty_unknown(func_arg(c, 0)))) {
        Expr *e = bx_new(c->b->a, EX_CAST, c->e->position);
        vec_push(c->b->a, &e->args, c->e->args.p[0]);
        e->type = ty(k);
        e->try_cast = lenient;
        *c->pe = e;
        return bind_cast(c->b, c->pe);
    }
    TRY(pattern(c, 1, &p));
    bind_to(c->b, &c->e->args.p[0], ty(DT_STRING));
    return func_with(c, str_fmt(c->b->a, lenient ? "try_strptime($1, " STR_FMT ")" : "strptime($1, " STR_FMT ")", STR_ARG(p)).p, ty(k));
}

static Status date_format(FuncArgs *c)
{
    Str p;

    TRY(pattern(c, 1, &p));
    return func_with(c, str_fmt(c->b->a, "strftime(CAST($1 AS TIMESTAMP), " STR_FMT ")", STR_ARG(p)).p, ty(DT_STRING));
}

static Status from_unixtime(FuncArgs *c)
{
    Str p = S("'%Y-%m-%d %H:%M:%S'");

    if (c->e->args.n == 2)
        TRY(pattern(c, 1, &p));
    return func_with(c, str_fmt(c->b->a, "strftime(make_timestamp($1 * 1000000), " STR_FMT ")", STR_ARG(p)).p, ty(DT_STRING));
}

static Status unix_timestamp(FuncArgs *c)
{
    Binder *o = c->b->b;
    Str p;

    if (!c->e->args.n) {
        c->e->func->volatile_ = 1;
        return func_with(c, o->now_has ? str_fmt(c->b->a, "CAST(%lld AS BIGINT)", (long long)(o->now_us / 1000000)).p : "CAST(floor(epoch(now())) AS BIGINT)", ty(DT_INT64));
    }
    if (c->e->args.n == 1 || !ty_is_text(func_arg(c, 0))) {
        c->e->args.n = 1;
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_TIMESTAMPTZ), "unix_timestamp"));
        return func_with(c, "floor(epoch($1))", ty(DT_INT64));
    }
    TRY(pattern(c, 1, &p));
    return func_with(c, str_fmt(c->b->a, "floor(epoch(strptime($1, " STR_FMT ")))", STR_ARG(p)).p, ty(DT_INT64));
}

static Status timezone_(FuncArgs *c)
{
    DataType *t = func_arg(c, 1);

    if (!ty_is_time(t))
        bind_to(c->b, &c->e->args.p[1], ty(DT_TIMESTAMPTZ));
    t = func_arg(c, 1);
    if (t->kind == DT_DATE)
        bind_to(c->b, &c->e->args.p[1], ty(DT_TIMESTAMPTZ));
    return func_with(c, "timezone($1, $2)", ty(func_arg(c, 1)->kind == DT_TIMESTAMPTZ ? DT_TIMESTAMP : DT_TIMESTAMPTZ));
}

/* Of dates and points in time; those of other types are not there. */
static Status to_char(FuncArgs *c)
{
    if (ty_unknown(func_arg(c, 0)) || func_arg(c, 0)->kind == DT_DATE)
        bind_to(c->b, &c->e->args.p[0], ty(DT_TIMESTAMPTZ));
    if (!ty_is_time(func_arg(c, 0)) || func_arg(c, 0)->kind == DT_TIME)
        return func_unsupported(c);
    return func_with(c, "firn_to_char($1, $2)", ty(DT_STRING));
}

static Status timestamp(FuncArgs *c) { return func_done(c, ty(DT_TIMESTAMP)); }

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static const FuncRow rows[] = {
    { "mz_now", FD_POSTGRES, mz_now },
    { "trunc", FD_SPARK, trunc_date }, { "to_timestamp", FD_SPARK, to_time }, { "to_char", FD_POSTGRES, to_char },
    { "current_date", FD_BOTH, now }, { "current_timestamp", FD_BOTH, now }, { "localtimestamp", FD_BOTH, now },
    { "extract", FD_BOTH, extract }, { "date_add", FD_BOTH, date_add }, { "datediff", FD_BOTH, datediff },
    { "date_trunc", FD_BOTH, date_trunc }, { "to_date", FD_BOTH, to_time }, { "to_timestamp_ntz", FD_BOTH, to_time },
    { "try_to_timestamp", FD_BOTH, to_time }, { "date_format", FD_BOTH, date_format },
    { "from_unixtime", FD_BOTH, from_unixtime }, { "unix_timestamp", FD_BOTH, unix_timestamp },
    { "timezone", FD_BOTH, timezone_ }, { "try_parse_monotonic_iso8601_timestamp", FD_POSTGRES, timestamp },
};

FuncWorker func_time(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
