/* SPDX-License-Identifier: Apache-2.0 */
/* parse_literal.c - numbers, strings, and literals with a type in front.
 *
 * Spark: 1 INT or BIGINT or DECIMAL by size; 1L 1S 1Y by suffix; 1.5 DECIMAL(2,1); 1e3 DOUBLE; 1D 1F 1BD; DATE'…' is a
 * value, checked here.  PostgreSQL: 1.5 and 1e3 are NUMERIC; date '…' is a cast of a string, so that 'today' and
 * 'infinity' are the binder's matter. */
#include "sql/parse_int.h"

#include <stdlib.h>

enum { DECIMAL_DIGITS = 38 };

typedef struct Decimal { __int128 unscaled; int digits, scale; bool ok; } Decimal;

static Decimal decimal(Str text);
static Expr *number_node(Parser *p, DataTypeKind kind, int at);
static Expr *integer(Parser *p, Str text, int negative, int at);
static Expr *decimal_node(Parser *p, Str text, int negative, int at);
static Expr *real(Parser *p, Str text, DataTypeKind kind, int negative, int at);
static Expr *suffixed(Parser *p, Str text, int negative, int at);

Expr *p_number(Parser *p, int negative)
{
    int at = p_pos(p);
    Str text = p_peek(p, 0)->text;
    char last = (char)(text.p[text.n - 1] | 0x20);

    p->at++;
    if (last >= 'a' && last <= 'z')
        return suffixed(p, text, negative, at);
    bool exponent = str_chr(text, 'e') >= 0 || str_chr(text, 'E') >= 0;
    if (!exponent && str_chr(text, '.') < 0)
        return integer(p, text, negative, at);
    if (exponent && !p_postgres(p))
        return real(p, text, DT_DOUBLE, negative, at);
    return decimal_node(p, text, negative, at);
}

static Expr *number_node(Parser *p, DataTypeKind kind, int at)
{
    Expr *e = e_null(p, at);
    e->value.kind = e->type.kind = kind;
    return e;
}

static Expr *integer(Parser *p, Str text, int negative, int at)
{
    Decimal d = decimal(text);
    __int128 v = negative ? -d.unscaled : d.unscaled;

    if (!d.ok || v > INT64_MAX || v < INT64_MIN)
        return decimal_node(p, text, negative, at);
    return e_int(p, (int64_t)v, at);
}

static Expr *decimal_node(Parser *p, Str text, int negative, int at)
{
    Decimal d = decimal(text);
    Expr *e = number_node(p, DT_DECIMAL, at);

    if (!d.ok)
        P_FAIL(p, E_OVERFLOW, at, "the number " STR_FMT " has more than %d digits", STR_ARG(str_sub(text, 0, 60)), DECIMAL_DIGITS);
    e->value.wide = negative ? -d.unscaled : d.unscaled;
    e->type.precision = d.digits > d.scale ? d.digits : d.scale;
    e->type.scale = d.scale;
    return e;
}

static Expr *real(Parser *p, Str text, DataTypeKind kind, int negative, int at)
{
    Expr *e = number_node(p, kind, at);
    double v = strtod(str_z(p->a, text), NULL);

    if (v > 1.7976931348623157e308 || (kind == DT_FLOAT && v > 3.4028234663852886e38))
        P_FAIL(p, E_OVERFLOW, at, "the number " STR_FMT " is out of range", STR_ARG(str_sub(text, 0, 60)));
    e->value.real = negative ? -v : v;
    return e;
}

/* Spark's 1L 1S 1Y 1D 1F 1BD */
static Expr *suffixed(Parser *p, Str text, int negative, int at)
{
    static const struct { char letter; DataTypeKind kind; int64_t min, max; const char *name; } INTEGERS[] = {
        { 'l', DT_INT64, INT64_MIN, INT64_MAX, "bigint" }, { 's', DT_INT16, INT16_MIN, INT16_MAX, "smallint" },
        { 'y', DT_INT8, INT8_MIN, INT8_MAX, "tinyint" },
    };
    char last = (char)(text.p[text.n - 1] | 0x20), before = text.n > 1 ? (char)(text.p[text.n - 2] | 0x20) : 0;
    Str digits = str_sub(text, 0, text.n - 1);

    if (last == 'd' && before == 'b')
        return decimal_node(p, str_sub(text, 0, text.n - 2), negative, at);
    if (last == 'd' || last == 'f')
        return real(p, digits, last == 'd' ? DT_DOUBLE : DT_FLOAT, negative, at);
    for (size_t i = 0; i < COUNT_OF(INTEGERS); i++) {
        if (INTEGERS[i].letter != last)
            continue;
        Decimal d = decimal(digits);
        __int128 v = negative ? -d.unscaled : d.unscaled;
        if (!d.ok || d.scale || v < INTEGERS[i].min || v > INTEGERS[i].max)
            P_FAIL(p, E_OVERFLOW, at, "[INVALID_NUMERIC_LITERAL_RANGE] Numeric literal %s" STR_FMT " is outside the valid range for %s "
                   "with minimum value of %lld and maximum value of %lld. Adjust the value accordingly. SQLSTATE: 22003",
                   negative ? "-" : "", STR_ARG(str_sub(text, 0, 60)), INTEGERS[i].name, (long long)INTEGERS[i].min,
                   (long long)INTEGERS[i].max);
        Expr *e = number_node(p, INTEGERS[i].kind, at);
        e->value.integer = (int64_t)v;
        return e;
    }
    p_syntax(p);
    return e_null(p, at);
}

/* Digits, point and exponent to an unscaled integer; leading zeros do not count. */
static Decimal decimal(Str text)
{
    Decimal d = { .ok = true };
    size_t i = 0;
    bool point = false;

    for (; i < text.n && (text.p[i] == '.' || (text.p[i] >= '0' && text.p[i] <= '9')); i++) {
        if (text.p[i] == '.') {
            point = true;
            continue;
        }
        d.scale += point;
        d.digits += d.digits || text.p[i] != '0';
        if (d.digits > DECIMAL_DIGITS || d.scale > DECIMAL_DIGITS)
            return (Decimal){0};
        d.unscaled = d.unscaled * 10 + (text.p[i] - '0');
    }
    int64_t exponent = 0;
    if (i < text.n) {
        Str e = str_from(text, i + 1);
        if (e.n && e.p[0] == '+')
            e = str_from(e, 1);
        if (!str_to_i64(e, &exponent) || exponent > DECIMAL_DIGITS || exponent < -DECIMAL_DIGITS)
            return (Decimal){0};
    }
    for (; exponent > 0; exponent--) {
        if (d.scale) {
            d.scale--;
            continue;
        }
        d.digits += d.digits > 0;
        if (d.digits > DECIMAL_DIGITS)
            return (Decimal){0};
        d.unscaled *= 10;
    }
    d.scale += (int)-exponent;
    d.digits += !d.digits;
    d.ok = d.scale <= DECIMAL_DIGITS;
    return d;
}

bool e_negate(Parser *p, Expr *e)
{
    if (e->kind != EX_LITERAL)
        return false;
    switch (e->value.kind) {
    case DT_INT32: case DT_INT64:
        if (e->value.integer == INT64_MIN)
            return false;
        *e = *e_int(p, -e->value.integer, e->position);
        e->value.type = &e->type;
        return true;
    case DT_DECIMAL:
        e->value.wide = -e->value.wide;
        if (!e->type.scale && e->value.wide == INT64_MIN) {
            *e = *e_int(p, INT64_MIN, e->position);
            e->value.type = &e->type;
        }
        return true;
    case DT_DOUBLE: case DT_FLOAT:
        e->value.real = -e->value.real;
        return true;
    default:
        return false;
    }
}

/* ---- strings and typed literals ------------------------------------------------------------------------------ */

Expr *p_string_literal(Parser *p)
{
    int at = p_pos(p);
    return e_string(p, p_string(p), at);
}

static Expr *spark_literal(Parser *p, Keyword k, int at)
{
    Str text = p_string(p);
    Expr *e = number_node(p, k == K_DATE ? DT_DATE : k == K_TIMESTAMP_NTZ ? DT_TIMESTAMP : DT_TIMESTAMPTZ, at);
    bool zoned = false;

    if (k == K_DATE ? datetime_date(text, &e->value.integer) : datetime_timestamp(text, &e->value.integer, &zoned))
        return e;
    P_FAIL(p, E_INVALID, at, "[INVALID_TYPED_LITERAL] The value of the typed literal \"%s\" is invalid: '" STR_FMT "'. SQLSTATE: 42604",
           lex_keyword_name(k), STR_ARG(str_sub(text, 0, 60)));
    return e;
}

/* The zone behind a timestamp: '2020-01-01 10:00 Europe/Rome', '… UTC', '… +02:00'. */
static bool zone_of(Str text, Str *local, Str *zone)
{
    ptrdiff_t at = str_rchr(text, ' ');

    if (at < 10 || (size_t)at + 1 >= text.n || (text.p[at + 1] >= '0' && text.p[at + 1] <= '9'))
        return false;
    *local = str_trim(str_sub(text, 0, (size_t)at));
    *zone = str_from(text, (size_t)at + 1);
    return true;
}

/* Digits behind the point: the precision of the literal's type. */
static int fraction_digits(Str text)
{
    ptrdiff_t dot = str_chr(text, '.');
    int n = 0;

    for (size_t i = dot < 0 ? text.n : (size_t)dot + 1; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
        n++;
    return n;
}

/* A timestamp with a zone is with_timezone(timestamp, 'zone'). */
static Expr *trino_literal(Parser *p, Keyword k, int at)
{
    Str text = str_trim(p_string(p)), local = text, zone = S("");
    Expr *e = number_node(p, k == K_DATE ? DT_DATE : DT_TIMESTAMP, at);
    bool zoned = false, has_zone = k == K_TIMESTAMP && zone_of(text, &local, &zone);
    int digits = fraction_digits(local);

    bool good = k == K_DATE ? datetime_date(local, &e->value.integer) : datetime_timestamp(local, &e->value.integer, &zoned);
    if (!good)
        P_FAIL(p, E_INVALID, at, "INVALID_LITERAL: line %d:%d: '" STR_FMT "' is not a valid %s literal", p_line(p, at), p_column(p, at), STR_ARG(str_sub(text, 0, 60)),
               k == K_DATE ? "DATE" : "TIMESTAMP");
    else if (zoned || digits > 6)
        P_FAIL(p, E_UNSUPPORTED, at, "NOT_SUPPORTED: line %d:%d: timestamp literals with %s are not supported", p_line(p, at), p_column(p, at),
               zoned ? "an offset glued to the time" : "more than 6 digits behind the point");
    if (k == K_DATE)
        return e;
    e->type.length = digits + 1;
    if (!has_zone)
        return e;
    Expr *call = e_call(p, "with_timezone", at);
    vec_push(p->a, &call->args, e);
    vec_push(p->a, &call->args, e_string(p, zone, at));
    return call;
}

/* DECIMAL '-1.50': DECIMAL(3,2) */
static Expr *decimal_text(Parser *p, int at)
{
    Str text = str_trim(p_string(p));
    bool negative = text.n && text.p[0] == '-', sign = negative || (text.n && text.p[0] == '+'), good = text.n > (size_t)sign;

    for (size_t i = sign; i < text.n; i++)
        good = good && ((text.p[i] >= '0' && text.p[i] <= '9') || text.p[i] == '.');
    if (!good || str_chr(text, '.') != str_rchr(text, '.'))
        P_FAIL(p, E_INVALID, at, "INVALID_LITERAL: line %d:%d: '" STR_FMT "' is not a valid DECIMAL literal", p_line(p, at), p_column(p, at), STR_ARG(str_sub(text, 0, 60)));
    return p->status ? e_null(p, at) : decimal_node(p, str_from(text, sign), negative, at);
}

/* How many tokens of a type's name stand before a string: 0 when this is no typed literal. */
static bool postgres_typed(Parser *p)
{
    size_t n = 1;

    if (!p_type_is(p))
        return false;
    if (p_is2(p, K_DOUBLE, K_PRECISION) || p_is2(p, K_CHARACTER, K_VARYING))
        n = 2;
    if (p_is_op_at(p, n, '(') && p_is_op_at(p, n + 2, ')'))
        n += 3;
    if ((p_is(p, K_TIMESTAMP) || p_is(p, K_TIME)) && (p_is_at(p, n, K_WITH) || p_is_at(p, n, K_WITHOUT)))
        n += 3;
    return p_peek(p, n)->kind == TK_STRING;
}

Expr *p_typed_literal(Parser *p)
{
    int at = p_pos(p), from = at - 1;
    Keyword k = (Keyword)p_peek(p, 0)->id;

    if (k == K_INTERVAL)
        return p_interval(p);
    if (p_spark(p)) {
        if (p_peek(p, 1)->kind != TK_STRING || (k != K_DATE && k != K_TIMESTAMP && k != K_TIMESTAMP_NTZ && k != K_TIMESTAMP_LTZ))
            return NULL;
        p->at++;
        return spark_literal(p, k, at);
    }
    if (p_trino(p) && p_peek(p, 1)->kind == TK_STRING && (k == K_DATE || k == K_TIMESTAMP)) {
        p->at++;
        return trino_literal(p, k, at);
    }
    if (p_trino(p) && p_peek(p, 1)->kind == TK_STRING && p_is_word_like(p, "decimal")) {
        p->at++;
        return decimal_text(p, at);
    }
    if (p_trino(p) && p_peek(p, 1)->kind == TK_STRING && p_is_word_like(p, "json")) {
        Expr *call = e_call(p, "json_parse", at);
        p->at++;
        vec_push(p->a, &call->args, p_string_literal(p));
        return call;
    }
    if (!postgres_typed(p))
        return NULL;
    DataType t = p_cast_type(p);
    int to = p_last_end(p);
    Expr *e = e_cast(p, p_string_literal(p), t, at);
    vec_push(p->a, &e->name, p_text(p, from, to));
    return e;
}
