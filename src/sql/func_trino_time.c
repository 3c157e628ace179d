/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_time.c - Trino's dates and timestamps: units, MySQL's and Joda's patterns, zones.
 *
 * A TIMESTAMP WITH TIME ZONE is looked at by the clock of its zone (trino_local); what gives one back keeps the zone. */
#include "sql/func_int.h"

#include <stdio.h>

static DataType stamp(DataTypeKind k, int digits) { return (DataType){ .kind = k, .length = digits + 1 }; }

static Status local(FuncArgs *c, size_t i) { return trino_local(c->b, &c->e->args.p[i]); }

/* ---- now ---------------------------------------------------------------------------------------------------------------- */

static Status now(FuncArgs *c)
{
    const Expr *p = c->e->args.n ? c->e->args.p[0] : NULL;
    Str name = c->e->func->canonical;
    int digits = 3;
    int64_t unit = 1;

    if (p && (p->kind != EX_LITERAL || p->value.integer < 0 || p->value.integer > 6))
        return trino_refuse(c, "the precision must be a literal between 0 and 6");
    digits = p ? (int)p->value.integer : 3;
    for (int i = digits; i < 6; i++)
        unit *= 10;
    c->e->args.n = 0;
    c->e->nullable = 0;
    c->e->func->volatile_ = 1;
    if (!c->b->b->now_has)
        return FAIL(c->b->err, E_INTERNAL, "a statement without a time");
    int64_t us = c->b->b->now_us / unit * unit;
    if (str_eq(name, S("now_date")))
        return func_with(c, str_fmt(c->b->a, "CAST(make_timestamp(%lld) AS DATE)", (long long)us).p, ty(DT_DATE));
    bool zoned = !str_eq(name, S("now_local"));
    return func_with(c, str_fmt(c->b->a, zoned ? "make_timestamptz(%lld)" : "make_timestamp(%lld)", (long long)us).p, stamp(zoned ? DT_TIMESTAMPTZ : DT_TIMESTAMP, digits));
}

static Status date(FuncArgs *c)
{
    Expr *e = bx_new(c->b->a, EX_CAST, c->e->position);

    vec_push(c->b->a, &e->args, c->e->args.p[0]);
    e->type = ty(DT_DATE);
    *c->pe = e;
    return bind_cast(c->b, c->pe);
}

/* ---- zones ---------------------------------------------------------------------------------------------------------------- */

static Status zone_name(FuncArgs *c, size_t i, Str *ret)
{
    if (!trino_text_arg(c, i, ret))
        return trino_refuse(c, "the time zone must be a literal");
    for (size_t k = 0; k < ret->n; k++)
        if (!((ret->p[k] >= 'a' && ret->p[k] <= 'z') || (ret->p[k] >= 'A' && ret->p[k] <= 'Z') || (ret->p[k] == '/' && k) || ret->p[k] == '_'))
            return trino_refuse(c, "time zone '" STR_FMT "' is not supported; use a region's name", STR_ARG(str_sub(*ret, 0, 60)));
    return ret->n ? OK : trino_bad(c, "'' is not a valid time zone");
}

/* The node whose second argument is the zone: trino_zone() reads it. */
static Status keep_zone(FuncArgs *c, Expr *instant, Str zone, int length)
{
    Expr *e = bx_call(c->b->a, "at_timezone", "$1", (DataType){ .kind = DT_TIMESTAMPTZ, .length = length, .scale = !str_ieq(zone, S("UTC")) }, instant, bx_str(c->b->a, zone));
    e->position = c->e->position;
    *c->pe = e;
    return OK;
}

static Status zone_at(FuncArgs *c)
{
    Expr *x = c->e->args.p[0];
    Str zone;

    TRY(zone_name(c, 1, &zone));
    if (x->type.kind == DT_TIME || x->type.kind == DT_INTERVAL || x->type.kind == DT_DATE)
        return trino_mismatch(c);
    int length = x->type.length;
    if (x->type.kind != DT_TIMESTAMPTZ)
        bind_to(c->b, &x, ty(DT_TIMESTAMPTZ));
    return keep_zone(c, x, zone, length);
}

static Status zone_with(FuncArgs *c)
{
    Expr *x = c->e->args.p[0];
    Str zone;

    TRY(zone_name(c, 1, &zone));
    if (x->type.kind != DT_TIMESTAMP)
        return trino_mismatch(c);
    return keep_zone(c, bx_call(c->b->a, "with_timezone", "timezone($2, $1)", ty(DT_TIMESTAMPTZ), x, bx_str(c->b->a, zone)), zone, x->type.length);
}

/* Run `engine` on the clock's reading of argument i, and go back to an instant of the same zone. */
static Status by_the_clock(FuncArgs *c, size_t i, const char *engine)
{
    DataType own = *func_arg(c, i);
    Str zone;

    if (own.kind != DT_TIMESTAMPTZ || !own.scale)
        return func_with(c, engine, own);
    if (!trino_zone(c->e->args.p[i], &zone))
        return trino_refuse(c, "the zone of this timestamp is not known any more");
    TRY(local(c, i));
    c->e->func->engine = str_c(engine);
    c->e->type = *func_arg(c, i);
    Expr *back = bx_call(c->b->a, "with_timezone", "timezone($2, $1)", ty(DT_TIMESTAMPTZ), c->e, bx_str(c->b->a, zone));
    return keep_zone(c, back, zone, own.length);
}

/* Units below a day do not jump with the clock: they work on the instant, which keeps its zone. `engine` sees the instant as argument i
 * and its zone as the last one. */
static Status by_the_instant(FuncArgs *c, size_t i, const char *engine)
{
    DataType own = *func_arg(c, i);
    Str zone;

    if (!trino_zone(c->e->args.p[i], &zone))
        return trino_refuse(c, "the zone of this timestamp is not known any more");
    vec_push(c->b->a, &c->e->args, bx_str(c->b->a, zone));
    c->e->func->engine = str_c(engine);
    c->e->type = (DataType){ .kind = DT_TIMESTAMPTZ, .length = own.length };
    return keep_zone(c, c->e, zone, own.length);
}

static bool is_zoned(FuncArgs *c, size_t i) { return func_arg(c, i)->kind == DT_TIMESTAMPTZ && func_arg(c, i)->scale; }

static bool below_day(Str unit) { return str_eq(unit, S("millisecond")) || str_eq(unit, S("second")) || str_eq(unit, S("minute")) || str_eq(unit, S("hour")); }

/* ---- units ------------------------------------------------------------------------------------------------------------------ */

static Status unit_of(FuncArgs *c, const DataType *t, Str *ret)
{
    static const char *const units[] = { "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year" };
    Str f;

    if (!trino_text_arg(c, 0, &f))
        return trino_refuse(c, "the unit must be a literal");
    for (size_t k = 0; k < COUNT_OF(units); k++)
        if (str_ieq(f, str_c(units[k]))) {
            if ((t->kind == DT_DATE && k < 4) || (t->kind == DT_TIME && k >= 4))
                return trino_bad(c, "'" STR_FMT "' is not a valid %s field", STR_ARG(f), t->kind == DT_DATE ? "DATE" : "TIME");
            *ret = str_c(units[k]);
            return OK;
        }
    return trino_bad(c, "'" STR_FMT "' is not a valid field", STR_ARG(str_sub(f, 0, 60)));
}

static Status date_trunc(FuncArgs *c)
{
    DataType t = *func_arg(c, 1);
    Str unit;

    if (t.kind == DT_INTERVAL || t.kind == DT_TIME)
        return trino_mismatch(c);
    TRY(unit_of(c, &t, &unit));
    if (below_day(unit) && is_zoned(c, 1))
        return by_the_instant(c, 1, str_fmt(c->b->a, "($2 - (timezone($3, $2) - date_trunc('" STR_FMT "', timezone($3, $2))))", STR_ARG(unit)).p);
    return by_the_clock(c, 1, str_fmt(c->b->a, "date_trunc('" STR_FMT "', $2)", STR_ARG(unit)).p);
}

static Status date_add(FuncArgs *c)
{
    DataType t = *func_arg(c, 2);
    Str unit;

    if (t.kind == DT_INTERVAL || t.kind == DT_TIME)
        return trino_mismatch(c);
    TRY(unit_of(c, &t, &unit));
    const char *n = "CAST($2 AS INTEGER)";
    if (str_eq(unit, S("quarter")))
        return by_the_clock(c, 2, "($3 + to_months(CAST($2 * 3 AS INTEGER)))");
    if (str_eq(unit, S("week")))
        return by_the_clock(c, 2, "($3 + to_days(CAST($2 * 7 AS INTEGER)))");
    if (below_day(unit) && is_zoned(c, 2))
        return by_the_instant(c, 2, str_fmt(c->b->a, "($3 + to_" STR_FMT "s($2))", STR_ARG(unit)).p);
    if (below_day(unit))
        n = "$2";
    return by_the_clock(c, 2, str_fmt(c->b->a, "($3 + to_" STR_FMT "s(%s))", STR_ARG(unit), n).p);
}

/* Whole units between the two, by the clock of the second's zone. */
static Status date_diff(FuncArgs *c)
{
    DataType t;
    Str unit;

    if (!trino_common(c->b, func_arg(c, 1), func_arg(c, 2), &t) || t.kind == DT_INTERVAL || t.kind == DT_TIME)
        return trino_mismatch(c);
    if (t.scale)
        return trino_refuse(c, "timestamps in a zone other than UTC are not supported");
    TRY(unit_of(c, &t, &unit));
    bind_to(c->b, &c->e->args.p[1], t);
    bind_to(c->b, &c->e->args.p[2], t);
    return func_with(c, str_fmt(c->b->a, "datesub('" STR_FMT "', $2, $3)", STR_ARG(unit)).p, ty(DT_INT64));
}

/* ---- parts ---------------------------------------------------------------------------------------------------------------------- */

typedef struct Part { const char *names, *engine, *of_interval; int of_date; } Part;

static const Part *part_of(Str name)
{
    static const Part parts[] = {
        { " year ", "year($1)", NULL, 1 }, { " quarter ", "quarter($1)", NULL, 1 }, { " month ", "month($1)", NULL, 1 },
        { " week week_of_year ", "weekofyear($1)", NULL, 1 }, { " day day_of_month ", "day($1)", "date_part('day', $1)", 1 },
        { " day_of_week dow ", "isodow($1)", NULL, 1 }, { " day_of_year doy ", "dayofyear($1)", NULL, 1 },
        { " year_of_week yow ", "isoyear($1)", NULL, 1 }, { " hour ", "hour($1)", "date_part('hour', $1)", 0 },
        { " minute ", "minute($1)", "date_part('minute', $1)", 0 }, { " second ", "second($1)", "date_part('second', $1)", 0 },
        { " millisecond ", "(millisecond($1) % 1000)", NULL, 0 }, { " timezone_hour timezone_minute ", "(CASE WHEN $1 IS NOT NULL THEN 0 END)", NULL, 0 },
    };
    char key[40];

    if (name.n > sizeof key - 3)
        return NULL;
    snprintf(key, sizeof key, " " STR_FMT " ", STR_ARG(name));
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (strstr(parts[i].names, key))
            return &parts[i];
    return NULL;
}

static Status part(FuncArgs *c, Str name)
{
    const Part *p = part_of(name);
    DataType t = *func_arg(c, 0);
    bool zone = str_starts(name, S("timezone"));

    if (!p)
        return trino_bad(c, "Unsupported field: " STR_FMT, STR_ARG(str_sub(name, 0, 60)));
    if (ty_unknown(&t))
        bind_to(c->b, &c->e->args.p[0], t = ty(DT_TIMESTAMP));
    bool known = ty_is_time(&t) ? (t.kind != DT_DATE || p->of_date) : t.kind == DT_TIME ? !p->of_date && !zone : t.kind == DT_INTERVAL && p->of_interval;
    if (!known || (zone && t.kind != DT_TIMESTAMPTZ))
        return trino_mismatch(c);
    if (zone && t.scale)
        return trino_refuse(c, "zones other than UTC are not supported");
    if (t.kind == DT_INTERVAL)
        return trino_refuse(c, "parts of intervals are not supported");
    TRY(local(c, 0));
    return func_with(c, p->engine, ty(DT_INT64));
}

static Status time_part(FuncArgs *c) { return part(c, str_c(c->spec->name)); }

static Status extract(FuncArgs *c)
{
    Str name;

    if (!trino_text_arg(c, 0, &name))
        return trino_mismatch(c);
    c->e->args.p[0] = c->e->args.p[1];
    c->e->args.n = 1;
    return part(c, str_lower(c->b->a, name));
}

static Status last_day(FuncArgs *c)
{
    if (!ty_is_time(func_arg(c, 0)))
        return trino_mismatch(c);
    TRY(local(c, 0));
    return func_with(c, "last_day($1)", ty(DT_DATE));
}

/* ---- patterns --------------------------------------------------------------------------------------------------------------------- */

static Status done(FuncArgs *c, StrBuf *b, Str *ret)
{
    StrBuf out = sb_new(c->b->a);
    Str lit = sql_lit_str(c->b->a, sb_str(b));

    for (size_t i = 0; i < lit.n; i++) {                              /* a dollar is the template's own */
        if (lit.p[i] == '$')
            sb_byte(&out, '$');
        sb_byte(&out, lit.p[i]);
    }
    *ret = sb_str(&out);
    return OK;
}

/* MySQL's date_format. */
static Status mysql_pattern(FuncArgs *c, size_t i, Str *ret)
{
    static const struct { char mysql; const char *engine; } letters[] = {
        { 'a', "%a" }, { 'b', "%b" }, { 'c', "%-m" }, { 'd', "%d" }, { 'e', "%-d" }, { 'f', "%f" }, { 'H', "%H" }, { 'h', "%I" }, { 'I', "%I" }, { 'i', "%M" },
        { 'j', "%j" }, { 'k', "%-H" }, { 'l', "%-I" }, { 'M', "%B" }, { 'm', "%m" }, { 'p', "%p" }, { 'r', "%I:%M:%S %p" }, { 'S', "%S" }, { 's', "%S" },
        { 'T', "%H:%M:%S" }, { 'v', "%V" }, { 'W', "%A" }, { 'x', "%G" }, { 'Y', "%Y" }, { 'y', "%y" }, { '%', "%%" },
    };
    StrBuf b = sb_new(c->b->a);
    Str f;

    if (!trino_text_arg(c, i, &f))
        return trino_refuse(c, "the pattern must be a literal");
    for (size_t at = 0; at < f.n; at++) {
        if (f.p[at] != '%') {
            sb_byte(&b, f.p[at]);
            continue;
        }
        size_t k = 0;
        at++;
        while (at < f.n && k < COUNT_OF(letters) && letters[k].mysql != f.p[at])
            k++;
        if (at >= f.n || k == COUNT_OF(letters))
            return trino_bad(c, "%%%c not supported in date format string", at < f.n ? f.p[at] : ' ');
        sb_addc(&b, letters[k].engine);
    }
    return done(c, &b, ret);
}

/* Joda's. */
static Status joda_pattern(FuncArgs *c, size_t i, Str *ret)
{
    static const char *const pairs[][2] = {
        { "yyyy", "%Y" }, { "yy", "%y" }, { "YYYY", "%Y" }, { "MMMM", "%B" }, { "MMM", "%b" }, { "MM", "%m" }, { "M", "%-m" }, { "dd", "%d" }, { "d", "%-d" },
        { "HH", "%H" }, { "H", "%-H" }, { "hh", "%I" }, { "h", "%-I" }, { "mm", "%M" }, { "m", "%-M" }, { "ss", "%S" }, { "s", "%-S" }, { "SSSSSS", "%f" },
        { "SSS", "%g" }, { "a", "%p" }, { "EEEE", "%A" }, { "EEE", "%a" }, { "E", "%a" }, { "DDD", "%j" }, { "e", "%u" }, { "xxxx", "%G" }, { "ww", "%V" },
    };
    StrBuf b = sb_new(c->b->a);
    Str f;

    if (!trino_text_arg(c, i, &f))
        return trino_refuse(c, "the pattern must be a literal");
    for (size_t at = 0; at < f.n;) {
        char ch = f.p[at];
        size_t run = 1, k = 0;
        while (at + run < f.n && f.p[at + run] == ch)
            run++;
        if (ch == '\'') {
            for (at++; at < f.n && f.p[at] != '\''; at++)
                sb_addc(&b, f.p[at] == '%' ? "%%" : (char[]){ f.p[at], 0 });
            at++;
            continue;
        }
        if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'))) {
            sb_addc(&b, ch == '%' ? "%%" : (char[]){ ch, 0 });
            at++;
            continue;
        }
        while (k < COUNT_OF(pairs) && !(strlen(pairs[k][0]) == run && pairs[k][0][0] == ch))
            k++;
        if (k == COUNT_OF(pairs))
            return trino_refuse(c, "pattern '" STR_FMT "' is not supported", STR_ARG(str_sub(f, 0, 100)));
        sb_addc(&b, pairs[k][1]);
        at += run;
    }
    return done(c, &b, ret);
}

static Status formatted(FuncArgs *c, Status (*pattern)(FuncArgs *, size_t, Str *))
{
    Str p;

    if (!ty_is_time(func_arg(c, 0)))
        return trino_mismatch(c);
    TRY(local(c, 0));
    TRY(pattern(c, 1, &p));
    return func_with(c, str_fmt(c->b->a, "strftime($1, " STR_FMT ")", STR_ARG(p)).p, ty(DT_STRING));
}

static Status date_format(FuncArgs *c) { return formatted(c, mysql_pattern); }
static Status format_datetime(FuncArgs *c) { return formatted(c, joda_pattern); }

#define PARSED "(CASE WHEN $1 IS NULL THEN NULL WHEN try_strptime($1, " STR_FMT ") IS NULL THEN CAST(firn_error('INVALID_FUNCTION_ARGUMENT: Invalid format: \"' || $1 || '\" SQLSTATE: 22023') AS TIMESTAMP) " \
               "ELSE date_trunc('millisecond', strptime($1, " STR_FMT ")) END)"

/* Years of two digits are read into another century here and there. */
static Status whole_years(FuncArgs *c, Str pattern)
{
    return str_find(pattern, S("%y")) < 0 ? OK : trino_refuse(c, "years of two digits are not supported");
}

static Status date_parse(FuncArgs *c)
{
    Str p;

    TRY(mysql_pattern(c, 1, &p));
    TRY(whole_years(c, p));
    return func_with(c, str_fmt(c->b->a, PARSED, STR_ARG(p), STR_ARG(p)).p, stamp(DT_TIMESTAMP, 3));
}

static Status parse_datetime(FuncArgs *c)
{
    Str p;

    TRY(joda_pattern(c, 1, &p));
    TRY(whole_years(c, p));
    return func_with(c, str_fmt(c->b->a, PARSED, STR_ARG(p), STR_ARG(p)).p, stamp(DT_TIMESTAMPTZ, 3));
}

/* ---- seconds since 1970, ISO 8601 ----------------------------------------------------------------------------------------------------- */

static Status from_unixtime(FuncArgs *c)
{
    static const char engine[] = "make_timestamptz(CAST(round($1 * 1000) AS BIGINT) * 1000)";
    Str zone;

    if (c->e->args.n == 1)
        return func_with(c, engine, stamp(DT_TIMESTAMPTZ, 3));
    TRY(zone_name(c, 1, &zone));
    return keep_zone(c, bx_call(c->b->a, "from_unixtime", engine, ty(DT_TIMESTAMPTZ), c->e->args.p[0], NULL), zone, 4);
}

#define LOOK(pattern) "(CASE WHEN $1 IS NULL THEN NULL WHEN regexp_full_match($1, '" pattern "') THEN $1 ELSE firn_error('NOT_SUPPORTED: ''' || $1 || ''' is not ISO 8601, or in a zone other than UTC SQLSTATE: 0A000') END)"

static Status from_iso8601_timestamp(FuncArgs *c)
{
    return func_with(c, "make_timestamptz((epoch_us(CAST(regexp_replace(" LOOK("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9](T[0-9][0-9]:[0-9][0-9](:[0-9][0-9]([.,][0-9]+)?)?(Z|[+-]00:?00)?)?") ", '^(.{13}:..)(Z|[+-].*)?$$', '\\1:00\\2') AS TIMESTAMPTZ)) + 0) // 1000 * 1000)",
                     stamp(DT_TIMESTAMPTZ, 3));
}

static Status from_iso8601_date(FuncArgs *c)
{
    return func_with(c, "CAST(" LOOK("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]") " AS DATE)", ty(DT_DATE));
}

static Status to_iso8601(FuncArgs *c)
{
    DataType t = *func_arg(c, 0);
    int digits = t.kind == DT_DATE ? 0 : sql_time_digits(&t);

    if (!ty_is_time(&t))
        return trino_mismatch(c);
    if (t.kind == DT_DATE)
        return func_with(c, "strftime($1, '%Y-%m-%d')", ty(DT_STRING));
    if (t.scale)
        return trino_refuse(c, "timestamps in a zone other than UTC are not supported");
    TRY(local(c, 0));
    return func_with(c, str_fmt(c->b->a, "(left(strftime($1, '%%Y-%%m-%%dT%%H:%%M:%%S.%%f'), %d)%s)", digits ? 20 + digits : 19, t.kind == DT_TIMESTAMPTZ ? " || 'Z'" : "").p,
                     ty(DT_STRING));
}

static const FuncRow rows[] = {
    { "now", FD_TRINO, now }, { "now_date", FD_TRINO, now }, { "now_local", FD_TRINO, now }, { "date", FD_TRINO, date }, { "date_trunc", FD_TRINO, date_trunc },
    { "date_add", FD_TRINO, date_add }, { "date_diff", FD_TRINO, date_diff }, { "date_format", FD_TRINO, date_format }, { "date_parse", FD_TRINO, date_parse },
    { "format_datetime", FD_TRINO, format_datetime }, { "parse_datetime", FD_TRINO, parse_datetime }, { "from_unixtime", FD_TRINO, from_unixtime },
    { "from_iso8601_timestamp", FD_TRINO, from_iso8601_timestamp }, { "from_iso8601_date", FD_TRINO, from_iso8601_date }, { "to_iso8601", FD_TRINO, to_iso8601 },
    { "extract", FD_TRINO, extract }, { "time_part", FD_TRINO, time_part }, { "last_day_of_month", FD_TRINO, last_day }, { "zone_at", FD_TRINO, zone_at },
    { "zone_with", FD_TRINO, zone_with },
};

FuncWorker func_trino_time(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
