/* SPDX-License-Identifier: Apache-2.0 */
/* policy_condition.c - one condition of a statement: an operator, a key, values.
 *
 * A negated operator says "none of the values"; with a key that is absent it is true, a plain one false.  …IfExists is true when the key is absent.
 * ForAllValues: every value of the request passes (an absent key too); ForAnyValue: one does.  Without either one is enough. */
#include "access/policy_int.h"

#include <arpa/inet.h>

/* ---- values ------------------------------------------------------------------------------------------------------------ */

static bool digits(Str *s, size_t min, size_t max, int64_t *ret)
{
    size_t n = 0;
    *ret = 0;
    while (n < s->n && n < max && s->p[n] >= '0' && s->p[n] <= '9')
        *ret = *ret * 10 + (s->p[n++] - '0');
    *s = str_from(*s, n);
    return n >= min && (s->n == 0 || s->p[0] < '0' || s->p[0] > '9');
}

static bool eat(Str *s, const char *any)
{
    if (s->n == 0 || !strchr(any, s->p[0]))
        return false;
    *s = str_from(*s, 1);
    return true;
}

static int64_t days_of(int64_t y, int64_t m, int64_t d)            /* days since 1970-01-01, Gregorian */
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static bool date_part(Str *s, int64_t *ms)
{
    int64_t y, m = 1, d = 1;
    if (!digits(s, 1, 9, &y))
        return false;
    if (eat(s, "-") && (!digits(s, 1, 2, &m) || m < 1 || m > 12))
        return false;
    if (eat(s, "-") && (!digits(s, 1, 2, &d) || d < 1 || d > 31))
        return false;
    *ms = days_of(y, m, d) * 86400000;
    return true;
}

static bool fraction(Str *s, int64_t *ms)
{
    size_t n = 0;
    int64_t v;
    while (n < s->n && s->p[n] >= '0' && s->p[n] <= '9')
        n++;
    Str first = str_sub(*s, 0, min_size(n, 3));
    if (n < 1 || n > 9 || !digits(&first, 1, 3, &v))
        return false;
    *ms += n == 1 ? v * 100 : n == 2 ? v * 10 : v;
    *s = str_from(*s, n);
    return true;
}

static bool time_part(Str *s, int64_t *ms)
{
    int64_t h, m = 0, sec = 0;
    if (s->n == 0)
        return true;
    if (!digits(s, 1, 2, &h) || h > 24)
        return false;
    if (eat(s, ":") && (!digits(s, 2, 2, &m) || m > 59))
        return false;
    if (eat(s, ":") && (!digits(s, 2, 2, &sec) || sec > 60))
        return false;
    *ms += (h * 3600 + m * 60 + sec) * 1000;
    return !eat(s, ".,") || fraction(s, ms);
}

static bool zone_part(Str *s, int64_t *ms)
{
    int64_t h, m = 0;
    if (s->n == 0 || (s->n == 1 && eat(s, "Zz")))
        return true;
    int sign = s->p[0] == '-' ? 1 : -1;
    if (!eat(s, "+-") || !digits(s, 2, 4, &h))
        return false;
    if (h > 99) {
        m = h % 100;
        h /= 100;
    } else if (eat(s, ":") && !digits(s, 2, 2, &m)) {
        return false;
    }
    *ms += sign * (h * 60 + m) * 60000;
    return s->n == 0 && h < 24 && m < 60;
}

bool policy_date(Str text, int64_t *ms)
{
    int64_t n;
    if (str_to_i64(text, &n)) {                                       /* epoch seconds */
        *ms = n > INT64_MAX / 1000 ? INT64_MAX : n < INT64_MIN / 1000 ? INT64_MIN : n * 1000;
        return true;
    }
    if (!date_part(&text, ms))
        return false;
    if (text.n && (!eat(&text, "Tt") || !time_part(&text, ms)))
        return false;
    return zone_part(&text, ms);
}

static bool bits_equal(const unsigned char *x, const unsigned char *y, int64_t bits)
{
    size_t whole = (size_t)(bits / 8);
    int rest = (int)(bits % 8);
    if (memcmp(x, y, whole) != 0)
        return false;
    return rest == 0 || (x[whole] ^ y[whole]) >> (8 - rest) == 0;
}

static bool address(Str s, int family, unsigned char *ret)
{
    char z[64];
    if (s.n == 0 || s.n >= sizeof z)
        return false;
    memcpy(z, s.p, s.n);
    z[s.n] = 0;
    return inet_pton(family, z, ret) == 1;
}

static bool ip_in(Str ip, Str range)
{
    Str net, len;
    unsigned char x[16] = {0}, y[16] = {0};
    int family = str_chr(ip, ':') >= 0 ? AF_INET6 : AF_INET;
    int64_t bits = family == AF_INET6 ? 128 : 32, max = bits;

    if (str_cut(range, '/', &net, &len) && (!str_to_i64(len, &bits) || bits < 0 || bits > max))
        return false;
    return address(ip, family, x) && address(net, family, y) && bits_equal(x, y, bits);
}

/* ---- operators ---------------------------------------------------------------------------------------------------------- */

static bool compare(ConditionOp op, ConditionOp first, double x, double y)
{
    switch ((int)op - (int)first) {
    case 0: return x >= y && x <= y;
    case 1: return x < y;
    case 2: return x <= y;
    case 3: return x > y;
    default: return x >= y;
    }
}

static bool numbers(ConditionOp op, Str value, Str wanted)
{
    double x, y;
    return str_to_f64(value, &x) && str_to_f64(wanted, &y) && compare(op, OP_NUMERIC_EQUALS, x, y);
}

static bool dates(ConditionOp op, Str value, Str wanted)
{
    int64_t x, y;
    return policy_date(value, &x) && policy_date(wanted, &y) && compare(op, OP_DATE_EQUALS, (double)x, (double)y);
}

static bool one(Eval *e, ConditionOp op, Str value, Str wanted)
{
    Str text;
    if (op == OP_STRING_LIKE)
        return policy_match(e, value, wanted);
    if (op == OP_ARN_LIKE || op == OP_ARN_EQUALS)
        return policy_match_arn(e, value, wanted);
    if (!policy_expand(e, wanted, &text))
        return false;
    switch (op) {
    case OP_STRING_EQUALS: case OP_BINARY_EQUALS: return str_eq(value, text);
    case OP_STRING_EQUALS_NOCASE: case OP_BOOL: return str_ieq(value, text);
    case OP_IP_ADDRESS: return ip_in(value, text);
    case OP_NUMERIC_EQUALS: case OP_NUMERIC_LT: case OP_NUMERIC_LE: case OP_NUMERIC_GT: case OP_NUMERIC_GE: return numbers(op, value, text);
    default: return dates(op, value, text);
    }
}

static bool passes(Eval *e, const Condition *c, Str value)
{
    for vec_each(Str, w, &c->values)
        if (one(e, c->op, value, *w))
            return !c->negated;
    return c->negated;
}

static bool null_condition(const Condition *c, size_t present)
{
    for vec_each(Str, v, &c->values)
        if (str_ieq(*v, present ? S("false") : S("true")))
            return true;
    return false;
}

bool policy_condition(Eval *e, const Condition *c)
{
    const Props *ctx = e->ask->context;
    size_t present = 0, passed = 0;

    for (size_t i = 0; ctx && i < ctx->n; i++)
        if (str_ieq(ctx->p[i].key, c->key)) {
            present++;
            passed += c->op != OP_NULL && passes(e, c, ctx->p[i].value);
        }
    if (c->op == OP_NULL)
        return null_condition(c, present);
    if (present == 0)
        return c->if_exists || c->set == SET_ALL || (c->negated && c->set == SET_NONE);
    return c->set == SET_ALL ? passed == present : passed > 0;
}
