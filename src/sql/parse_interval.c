/* SPDX-License-Identifier: Apache-2.0 */
/* parse_interval.c - INTERVAL literals to months, days and microseconds: Spark's and Trino's here, PostgreSQL's by codec (interval_text.c).
 *
 *   INTERVAL '3 days 2 hours'   INTERVAL '1' DAY   INTERVAL 3 DAYS 2 HOURS   INTERVAL '1-2' YEAR TO MONTH
 *   INTERVAL '1 02:03:04.5' DAY TO SECOND   INTERVAL '10:20' MINUTE TO SECOND   INTERVAL 'P1Y2M3DT4H5M6S'   '… ago'
 * Sums are checked: months and days are 32 bits, microseconds 64. */
#include "codec/codec.h"
#include "sql/parse_int.h"

#define SECOND INT64_C(1000000)
#define HOUR (3600 * SECOND)
#define DAY_MICROS (24 * HOUR)

typedef struct Sum { __int128 months, days, micros; bool bad; } Sum;

static bool add_text(Sum *sum, Str text, const TimeUnit *from, const TimeUnit *to);
static void add(Sum *sum, Str number, const TimeUnit *u);
static Expr *finish(Parser *p, const Sum *sum, Str text, int at);

static const TimeUnit *unit_here(Parser *p, size_t ahead)
{
    const Token *t = p_peek(p, ahead);
    return t->kind == TK_WORD ? time_unit(t->text) : NULL;
}

/* [unit [TO unit]] */
static void qualifier(Parser *p, const TimeUnit **from, const TimeUnit **to)
{
    if (!(*from = unit_here(p, 0)))
        return;
    p_next(p);
    if (p_is(p, K_TO) && unit_here(p, 1)) {
        *to = unit_here(p, 1);
        p->at += 2;
    }
}

/* ---- PostgreSQL ---------------------------------------------------------------------------------------------------- */

static IntervalField field_here(Parser *p, size_t ahead)
{
    const Token *t = p_peek(p, ahead);
    return t->kind == TK_WORD ? interval_field(t->text) : INTERVAL_ANY;
}

/* (n) behind SECOND */
static void digits_here(Parser *p, int *ret)
{
    int64_t n;

    if (!p_is_op(p, '(') || p_peek(p, 1)->kind != TK_NUMBER || !p_is_op_at(p, 2, ')'))
        return;
    if (!str_to_i64(p_peek(p, 1)->text, &n) || n > 6)
        p_syntax(p);
    else
        *ret = (int)n;
    p->at += 3;
}

/* [field [TO field]] */
static void fields_here(Parser *p, IntervalFields *f)
{
    if (!(f->from = field_here(p, 0)))
        return;
    f->to = f->from;
    p_next(p);
    if (p_is(p, K_TO) && field_here(p, 1)) {
        f->to = field_here(p, 1);
        p->at++;
        if (f->to <= f->from)
            p_syntax(p);
        p->at++;
    }
    if (f->to == INTERVAL_SECOND)
        digits_here(p, &f->digits);
}

static Expr *postgres_literal(Parser *p, int at, size_t precision)
{
    IntervalFields f = { .digits = -1 };
    Interval v = { 0 };
    Expr *e = e_null(p, at);

    p->at++;
    if (precision)
        digits_here(p, &f.digits);
    Str text = p_string(p);
    fields_here(p, &f);
    bool fresh = !p->status;
    IntervalParse how = interval_parse(p->a, text, f.from || f.digits >= 0 ? &f : NULL, &v);
    if (how == INTERVAL_MALFORMED)
        P_FAIL(p, E_INVALID, at, "invalid input syntax for type interval: \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 60)));
    else if (how == INTERVAL_TOO_LARGE)
        P_FAIL(p, E_OVERFLOW, at, "interval field value out of range: \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 60)));
    if (fresh && how != INTERVAL_PARSED)
        memcpy(p->err->sqlstate, how == INTERVAL_MALFORMED ? "22007" : "22015", 6);
    e->value.kind = e->type.kind = DT_INTERVAL;
    e->value.interval.months = v.months;
    e->value.interval.days = v.days;
    e->value.interval.micros = v.micros;
    return e;
}

/* ---- the others ---------------------------------------------------------------------------------------------------- */

/* Spark's pairs: 3 DAYS -2 HOURS '1' MINUTE */
static void pairs(Parser *p, Sum *sum)
{
    for (;;) {
        size_t sign = p_is_op(p, '-') || p_is_op(p, '+');
        const Token *t = p_peek(p, sign);
        if ((t->kind != TK_NUMBER && t->kind != TK_STRING) || !unit_here(p, sign + 1))
            return;
        Sum one = {0};
        const TimeUnit *from = NULL, *to = NULL;
        bool negative = p_is_op(p, '-');
        Str text = t->text;
        p->at += sign + 1;
        qualifier(p, &from, &to);
        sum->bad = !add_text(&one, text, from, to) || sum->bad;
        int k = negative ? -1 : 1;
        sum->months += k * one.months;
        sum->days += k * one.days;
        sum->micros += k * one.micros;
    }
}

/* After INTERVAL was seen, not taken. NULL: a column named interval. */
Expr *p_interval(Parser *p)
{
    int at = p_pos(p);
    Sum sum = {0};
    size_t sign = p_is_op_at(p, 1, '-') || p_is_op_at(p, 1, '+');
    size_t precision = p_postgres(p) && p_is_op_at(p, 1, '(') && p_is_op_at(p, 3, ')') ? 3 : 0;
    const Token *t = p_peek(p, 1 + precision + (p_spark(p) ? sign : 0));
    const TimeUnit *from = NULL, *to = NULL;

    if (p_spark(p) && (t->kind == TK_NUMBER || t->kind == TK_STRING) && unit_here(p, 2 + sign)) {
        p->at++;
        int start = p_pos(p) - 1;
        pairs(p, &sum);
        return finish(p, &sum, p_text(p, start, p_last_end(p)), at);
    }
    if (p_trino(p) && sign)                                     /* INTERVAL -'1' DAY */
        t = p_peek(p, 2);
    if (t->kind != TK_STRING || (p_spark(p) && sign))
        return NULL;
    if (p_postgres(p))
        return postgres_literal(p, at, precision);
    bool negative = p_trino(p) && p_is_op_at(p, 1, '-');
    p->at += 1 + (p_trino(p) ? sign : 0);
    Str text = p_string(p);
    if (!p_spark(p))
        qualifier(p, &from, &to);
    if (p_trino(p) && !from)
        p_syntax(p);
    if (!add_text(&sum, text, from, to))
        sum.bad = true;
    if (negative)
        sum = (Sum){ -sum.months, -sum.days, -sum.micros, sum.bad };
    return finish(p, &sum, text, at);
}

static Expr *finish(Parser *p, const Sum *sum, Str text, int at)
{
    Expr *e = e_null(p, at);
    bool fresh = !p->status;

    if (sum->bad && p_spark(p))
        P_FAIL(p, E_INVALID, at, "[INVALID_INTERVAL_FORMAT] Error parsing '" STR_FMT "' to interval. SQLSTATE: 22006", STR_ARG(str_sub(text, 0, 60)));
    else if (sum->bad)
        P_FAIL(p, E_INVALID, at, "invalid input syntax for type interval: \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 60)));
    else if (sum->months != (int32_t)sum->months || sum->days != (int32_t)sum->days || sum->micros != (int64_t)sum->micros)
        P_FAIL(p, E_OVERFLOW, at, "interval out of range: '" STR_FMT "'", STR_ARG(str_sub(text, 0, 60)));
    if (fresh && sum->bad && !p_spark(p))
        memcpy(p->err->sqlstate, "22007", 6);
    e->value.kind = e->type.kind = DT_INTERVAL;
    e->value.interval.months = (int32_t)sum->months;
    e->value.interval.days = (int32_t)sum->days;
    e->value.interval.micros = (int64_t)sum->micros;
    return e;
}

/* ---- the text ------------------------------------------------------------------------------------------------ */

/* "-12.5" to millionths. */
static bool millionths(Str s, __int128 *ret)
{
    bool negative = s.n && s.p[0] == '-';
    Str whole, fraction;
    int64_t w = 0, f = 0;

    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_from(s, 1);
    if (!s.n || !((s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '.'))
        return false;
    str_cut(s, '.', &whole, &fraction);
    fraction = str_sub(fraction, 0, 6);
    for (size_t i = 0; i < fraction.n; i++)
        if (fraction.p[i] < '0' || fraction.p[i] > '9')
            return false;
    if ((whole.n && !str_to_i64(whole, &w)) || (fraction.n && !str_to_i64(fraction, &f)))
        return false;
    for (size_t n = fraction.n; n < 6; n++)
        f *= 10;
    *ret = (__int128)w * SECOND + f;
    if (negative)
        *ret = -*ret;
    return true;
}

/* A part of a month is days of 1/30, a part of a day is time, as PostgreSQL has it. */
static void add(Sum *sum, Str number, const TimeUnit *u)
{
    __int128 v;

    if (!u || !millionths(number, &v)) {
        sum->bad = true;
        return;
    }
    if (u->months) {
        sum->months += v * u->months / SECOND;
        v = v * u->months % SECOND * 30;
        sum->days += v / SECOND;
        sum->micros += v % SECOND * (DAY_MICROS / SECOND);
    } else if (u->days) {
        sum->days += v * u->days / SECOND;
        sum->micros += v * u->days % SECOND * (DAY_MICROS / SECOND);
    } else {
        sum->micros += v * u->micros / SECOND;
    }
}

/* h:m[:s[.f]], or m:s when the qualifier says so */
static void add_clock(Sum *sum, Str text, bool minutes_first)
{
    bool negative = text.p[0] == '-';
    Str part, rest = negative || text.p[0] == '+' ? str_from(text, 1) : text;
    Sum one = {0};

    for (int i = minutes_first; i < 3; i++) {
        bool more = str_cut(rest, ':', &part, &rest);
        add(&one, part, &time_units[UNIT_HOUR + i]);
        if (!more)
            break;
        one.bad = one.bad || i == 2;
    }
    sum->bad = sum->bad || one.bad;
    sum->micros += negative ? -one.micros : one.micros;
}

/* years-months */
static void add_years_months(Sum *sum, Str text)
{
    bool negative = text.p[0] == '-';
    Str years, months;
    Sum one = {0};

    str_cut(negative || text.p[0] == '+' ? str_from(text, 1) : text, '-', &years, &months);
    add(&one, years, time_unit(S("year")));
    add(&one, months, time_unit(S("month")));
    sum->bad = sum->bad || one.bad;
    sum->months += negative ? -one.months : one.months;
}

/* P1Y2M3DT4H5M6S */
static void add_iso(Sum *sum, Str text)
{
    bool time = false;

    while (text.n) {
        size_t n = 0;
        if (text.p[0] == 'T' || text.p[0] == 't') {
            time = true;
            text = str_from(text, 1);
            continue;
        }
        while (n < text.n && strchr("+-.0123456789", text.p[n]))
            n++;
        Str number = str_sub(text, 0, n), letter = str_sub(text, n, n + 1);
        bool month = str_ieq(letter, S("m")) && !time;
        add(sum, number, month ? time_unit(S("month")) : time_unit(letter));
        text = str_from(text, n + 1);
        if (sum->bad)
            return;
    }
}

static Str next_word(Str *text)
{
    size_t n = 0;

    *text = str_trim(*text);
    while (n < text->n && text->p[n] != ' ' && text->p[n] != '\t' && text->p[n] != '\n')
        n++;
    Str w = str_sub(*text, 0, n);
    *text = str_from(*text, n);
    return w;
}

/* A number alone: in the qualifier's unit; the second one of `DAY TO HOUR` is hours; else seconds. */
static const TimeUnit *unit_alone(const TimeUnit *from, const TimeUnit *to, int nth)
{
    if (from && to)
        return nth == 0 ? from : to;
    return from ? from : time_unit(S("second"));
}

static bool add_text(Sum *sum, Str text, const TimeUnit *from, const TimeUnit *to)
{
    int alone = 0, words = 0;
    bool minutes_first = from == &time_units[UNIT_MINUTE] && to == &time_units[UNIT_SECOND], ago = false;

    text = str_trim(text);
    if (str_starts(text, S("interval ")))                     /* Spark allows INTERVAL 'interval 1 day' */
        text = str_from(text, 9);
    if (text.n > 1 && (text.p[0] == 'P' || text.p[0] == 'p')) {
        add_iso(sum, str_from(text, 1));
        return !sum->bad;
    }
    for (Str w; (w = next_word(&text)).n && !sum->bad; words++) {
        size_t n = 0;
        if (str_eq(w, S("@")))
            continue;
        if ((ago = str_ieq(w, S("ago"))))
            break;
        while (n < w.n && strchr("+-.:0123456789", w.p[n]))
            n++;
        Str number = str_sub(w, 0, n), unit = str_from(w, n);
        if (str_chr(w, ':') >= 0) {
            add_clock(sum, w, minutes_first);
        } else if (str_rchr(w, '-') > 0) {
            add_years_months(sum, w);
        } else if (unit.n) {
            add(sum, number, time_unit(unit));
        } else {
            Str rest = text, following = next_word(&rest);
            const TimeUnit *u = time_unit(following);
            if (u)
                text = rest;
            add(sum, number, u ? u : unit_alone(from, to, alone++));
        }
    }
    if (ago) {
        sum->months = -sum->months;
        sum->days = -sum->days;
        sum->micros = -sum->micros;
        sum->bad = sum->bad || str_trim(text).n;
    }
    return words && !sum->bad;
}
