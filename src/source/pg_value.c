/* SPDX-License-Identifier: Apache-2.0 */
/* pg_value.c - PostgreSQL's types and the texts of their values, read by our own rules: the session sets ISO dates, UTC, postgres intervals, hexadecimal bytea.
 *
 * What our types cannot hold is an error with the value's beginning: infinite dates, NaN of numeric, more digits than 38, arrays of several dimensions. */
#include "source/format.h"
#include "source/pg_int.h"

#include <errno.h>
#include <stdlib.h>

typedef struct TypeRow { uint32_t oid, array; DataTypeKind kind; const char *name; } TypeRow;

static const TypeRow types[] = {
    { 16, 1000, DT_BOOL, "boolean" },     { 17, 1001, DT_BINARY, "bytea" },     { 18, 1002, DT_STRING, "\"char\"" },   { 19, 1003, DT_STRING, "name" },
    { 20, 1016, DT_INT64, "bigint" },     { 21, 1005, DT_INT16, "smallint" },   { 23, 1007, DT_INT32, "integer" },     { 25, 1009, DT_STRING, "text" },
    { 26, 1028, DT_UINT32, "oid" },       { 114, 199, DT_JSON, "jsonb" },       { 3802, 3807, DT_JSON, "jsonb" },      { 700, 1021, DT_FLOAT, "real" },
    { 701, 1022, DT_DOUBLE, "double precision" }, { 1042, 1014, DT_STRING, "character" }, { 1043, 1015, DT_STRING, "character varying" }, { 1082, 1182, DT_DATE, "date" },
    { 1083, 1183, DT_TIME, "time" },      { 1114, 1115, DT_TIMESTAMP, "timestamp without time zone" }, { 1184, 1185, DT_TIMESTAMPTZ, "timestamp with time zone" },
    { 1186, 1187, DT_INTERVAL, "interval" }, { 1700, 1231, DT_DECIMAL, "numeric" }, { 2950, 2951, DT_UUID, "uuid" },
};

static const TypeRow *row_of(uint32_t oid, int *is_array)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].oid == oid || types[i].array == oid) {
            *is_array = types[i].array == oid;
            return &types[i];
        }
    return NULL;
}

/* numeric(p, s) is kept in its modifier; without one, and beyond 38 digits, we have 38 digits. */
static bool numeric_type(int32_t mod, DataType *t)
{
    int precision = mod < 4 ? 38 : (mod - 4) >> 16 & 0xffff, scale = mod < 4 ? PG_NUMERIC_SCALE : (((mod - 4) & 0x7ff) ^ 1024) - 1024;

    *t = (DataType){ .kind = DT_DECIMAL, .precision = precision > 38 ? 38 : precision, .scale = scale };
    return scale >= 0 && scale <= t->precision;
}

static const struct { uint32_t oid, array; RangeKind kind; } range_types[] = {
    { 3904, 3905, RANGE_INT4 }, { 3906, 3907, RANGE_NUM }, { 3908, 3909, RANGE_TS }, { 3910, 3911, RANGE_TSTZ }, { 3912, 3913, RANGE_DATE }, { 3926, 3927, RANGE_INT8 },
};

static bool range_type(Arena *a, uint32_t oid, int *is_array, DataType *ret, Str *name)
{
    for (size_t i = 0; i < COUNT_OF(range_types); i++)
        if (range_types[i].oid == oid || range_types[i].array == oid) {
            *is_array = range_types[i].array == oid;
            *ret = data_type_copy(a, data_type_of_range(range_types[i].kind));
            *name = str_c(range_name(range_types[i].kind));
            return true;
        }
    return false;
}

static bool scalar_type(Arena *a, const TypeRow *row, int32_t mod, DataType *ret, Str *name)
{
    *ret = (DataType){ .kind = row->kind };
    *name = str_c(row->name);
    if (row->kind == DT_DECIMAL) {
        if (mod >= 4 && numeric_type(mod, ret))
            *name = str_fmt(a, "numeric(%d,%d)", (mod - 4) >> 16 & 0xffff, ret->scale);
        return numeric_type(mod, ret);
    }
    if ((row->oid == 1042 || row->oid == 1043) && mod >= 4)
        *name = str_fmt(a, "%s(%d)", row->name, mod - 4);
    return true;
}

bool pg_type(Arena *a, uint32_t oid, int32_t mod, DataType *ret, Str *sql_type)
{
    int is_array = 0;
    const TypeRow *row = row_of(oid, &is_array);
    DataType element;

    if (row ? !scalar_type(a, row, mod, &element, sql_type) : !range_type(a, oid, &is_array, &element, sql_type))
        return false;
    *ret = element;
    if (is_array) {
        *ret = (DataType){ .kind = DT_LIST, .nchildren = 1, .children = arena_new(a, DataType) };
        ret->children[0] = element;
        *sql_type = str_fmt(a, STR_FMT "[]", STR_ARG(*sql_type));
    }
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------------------- */

static Status bad(const char *what, Str text, Error *err) { return FAIL(err, E_INVALID, "invalid %s '" STR_FMT "'", what, STR_ARG(str_sub(text, 0, 60))); }

static Status integer(const DataType *t, Str s, Value *ret, Error *err)
{
    static const int64_t least[] = { [DT_INT16] = INT16_MIN, [DT_INT32] = INT32_MIN, [DT_INT64] = INT64_MIN, [DT_UINT32] = 0 };
    static const int64_t most[] = { [DT_INT16] = INT16_MAX, [DT_INT32] = INT32_MAX, [DT_INT64] = INT64_MAX, [DT_UINT32] = UINT32_MAX };

    if (!str_to_i64(s, &ret->integer) || ret->integer < least[t->kind] || ret->integer > most[t->kind])
        return bad("integer", s, err);
    return OK;
}

static Status real(Str s, Value *ret, Error *err)
{
    char text[64], *end;

    if (!s.n || s.n >= sizeof text)
        return bad("floating point number", s, err);
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    ret->real = strtod(text, &end);                   /* Infinity and NaN are its words too */
    return *end ? bad("floating point number", s, err) : OK;
}

static Status numeric(const DataType *t, Str s, Value *ret, Error *err)
{
    bool minus = s.n && s.p[0] == '-', point = false;
    int digits = 0, scale = 0;
    __int128 v = 0;

    for (size_t i = minus; i < s.n; i++) {
        char c = s.p[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            return FAIL(err, E_INVALID, "numeric value " STR_FMT " has no place here", STR_ARG(str_sub(s, 0, 60)));
        if (point && scale == t->scale) {
            if (c != '0')
                return FAIL(err, E_OVERFLOW, "numeric value " STR_FMT " has more than %d digits behind the point", STR_ARG(str_sub(s, 0, 60)), t->scale);
            continue;
        }
        scale += point;
        digits += v || c != '0';
        if (digits > t->precision)
            return FAIL(err, E_OVERFLOW, "numeric value " STR_FMT " has more than %d digits", STR_ARG(str_sub(s, 0, 60)), t->precision);
        v = v * 10 + (c - '0');
    }
    int places = t->scale - scale;
    if ((v && digits + places > t->precision) || s.n == (size_t)minus)
        return FAIL(err, E_OVERFLOW, "numeric value " STR_FMT " does not fit %d digits", STR_ARG(str_sub(s, 0, 60)), t->precision);
    for (; v && places > 0; places--)
        v *= 10;
    ret->wide = minus ? -v : v;
    return OK;
}

/* ---- time ---------------------------------------------------------------------------------------------------------------------- */

typedef struct Clock { Str s; size_t at; bool bad; } Clock;

static bool next_is(const Clock *c, char x) { return c->at < c->s.n && c->s.p[c->at] == x; }

static int64_t digits(Clock *c, size_t least, size_t most)
{
    int64_t v = 0;
    size_t n = 0;

    for (; n < most && c->at < c->s.n && c->s.p[c->at] >= '0' && c->s.p[c->at] <= '9'; n++)
        v = v * 10 + (c->s.p[c->at++] - '0');
    c->bad |= n < least;
    return v;
}

static void expect(Clock *c, char x)
{
    if (next_is(c, x))
        c->at++;
    else
        c->bad = true;
}

static int64_t date_days(Clock *c, int is_bc)
{
    int64_t y = digits(c, 4, 7);
    expect(c, '-');
    int64_t m = digits(c, 2, 2);
    expect(c, '-');
    int64_t d = digits(c, 2, 2);
    c->bad |= m < 1 || m > 12 || d < 1 || d > 31;
    return calendar_days(is_bc ? 1 - y : y, m, d);
}

static int64_t fraction(Clock *c)
{
    int64_t v = 0, unit = 100000;

    if (!next_is(c, '.'))
        return 0;
    c->at++;
    for (; c->at < c->s.n && c->s.p[c->at] >= '0' && c->s.p[c->at] <= '9'; c->at++, unit /= 10)
        v += (c->s.p[c->at] - '0') * unit;
    return v;
}

static int64_t time_us(Clock *c, size_t hour_digits)
{
    int64_t h = digits(c, 2, hour_digits);
    expect(c, ':');
    int64_t m = digits(c, 2, 2);
    expect(c, ':');
    int64_t s = digits(c, 2, 2);
    c->bad |= m > 59 || s > 60;
    return ((h * 60 + m) * 60 + s) * 1000000 + fraction(c);
}

/* +hh[:mm[:ss]]; nothing is UTC. */
static int64_t zone_us(Clock *c)
{
    if (!next_is(c, '+') && !next_is(c, '-'))
        return 0;
    int64_t sign = c->s.p[c->at++] == '-' ? -1 : 1, v = digits(c, 2, 2) * 3600;
    for (int64_t unit = 60; unit && next_is(c, ':'); unit /= 60) {
        c->at++;
        v += digits(c, 2, 2) * unit;
    }
    return sign * v * 1000000;
}

static Status moment(const DataType *t, Str text, Value *ret, Error *err)
{
    int is_bc = str_ends(text, S(" BC"));
    Clock c = { .s = is_bc ? str_sub(text, 0, text.n - 3) : text };

    if (str_ends(text, S("infinity")))
        return FAIL(err, E_INVALID, "a date or time of " STR_FMT " has no place here", STR_ARG(str_sub(text, 0, 20)));
    if (t->kind == DT_TIME)
        ret->integer = time_us(&c, 2);
    else
        ret->integer = date_days(&c, is_bc);
    if (t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMPTZ) {
        expect(&c, ' ');
        ret->integer = ret->integer * 86400000000 + time_us(&c, 2);
        if (t->kind == DT_TIMESTAMPTZ)
            ret->integer -= zone_us(&c);
    }
    return c.bad || c.at != c.s.n ? bad("date or time", text, err) : OK;
}

static bool interval_word(Str word, int64_t n, Value *ret)
{
    static const struct { const char *word; int months, days; } units[] = { { "year", 12, 0 }, { "years", 12, 0 }, { "mon", 1, 0 }, { "mons", 1, 0 }, { "day", 0, 1 }, { "days", 0, 1 } };

    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (str_eq(word, str_c(units[i].word))) {
            ret->interval.months += (int32_t)(n * units[i].months);
            ret->interval.days += (int32_t)(n * units[i].days);
            return true;
        }
    return false;
}

/* 1 year 2 mons -3 days -04:05:06.789 */
static Status interval(Str text, Value *ret, Error *err)
{
    Str rest = text, word;
    int64_t n;

    while (rest.n) {
        str_cut(rest, ' ', &word, &rest);
        if (str_chr(word, ':') >= 0) {
            bool minus = word.p[0] == '-';
            Clock c = { .s = word, .at = minus || word.p[0] == '+' };
            ret->interval.micros = time_us(&c, 12) * (minus ? -1 : 1);
            if (c.bad || c.at != word.n || rest.n)
                return bad("interval", text, err);
            return OK;
        }
        Str unit;
        if (!str_to_i64(word.n && word.p[0] == '+' ? str_from(word, 1) : word, &n) || n > INT32_MAX / 12 || n < INT32_MIN / 12)
            return bad("interval", text, err);
        str_cut(rest, ' ', &unit, &rest);
        if (!interval_word(unit, n, ret))
            return bad("interval", text, err);
    }
    return text.n ? OK : bad("interval", text, err);
}

/* ---- the rest --------------------------------------------------------------------------------------------------------------------- */

static Status uuid(Arena *a, Str s, Value *ret, Error *err)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '-')
            sb_byte(&b, s.p[i]);
    if (b.n != 32 || !hex_decode(a, sb_str(&b), &ret->string))
        return bad("uuid", s, err);
    return OK;
}

static Status text_value(const DataType *t, Arena *a, Str s, Value *ret, Error *err)
{
    if (t->kind == DT_JSON)
        return format_json_text(a, s, &ret->string, err);
    if (t->kind == DT_BINARY)
        return str_starts(s, S("\\x")) && hex_decode(a, str_from(s, 2), &ret->string) ? OK : bad("bytea", s, err);
    if (!str_is_utf8(s))
        return FAIL(err, E_INVALID, "a text is not UTF-8");
    ret->string = s;
    return OK;
}

static Status scalar(Arena *a, const DataType *t, Str s, Value *ret, Error *err);

/* Beyond all moments there are two more, as bounds alone. */
static bool is_infinite(const DataType *t, Str s, Value *ret)
{
    bool minus = str_eq(s, S("-infinity"));
    int64_t most = t->kind == DT_DATE ? INT32_MAX : INT64_MAX;

    if ((t->kind != DT_DATE && t->kind != DT_TIMESTAMP && t->kind != DT_TIMESTAMPTZ) || (!minus && !str_eq(s, S("infinity"))))
        return false;
    *ret = (Value){ .kind = t->kind, .type = t, .integer = minus ? -most : most };
    return true;
}

static Status bound(Arena *a, const DataType *t, const StrVec *text, Value *ret, Error *err)
{
    if (!text->n || is_infinite(t, text->p[0], ret))
        return OK;
    return scalar(a, t, text->p[0], ret, err);
}

static Value flag(const DataType *t, bool v) { return (Value){ .kind = DT_BOOL, .type = t, .boolean = v }; }

/* PostgreSQL gives them canonical: [1,11), empty, a bound that is not there exclusive. */
static Status range(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    Value *f = arena_array(a, Value, RANGE_FIELDS);
    RangeText r;

    if (!range_parts(a, s, &r))
        return bad("range", s, err);
    for (int i = 0; i < RANGE_FIELDS; i++)
        f[i] = (Value){ .kind = DT_NULL };
    f[RANGE_STATE] = (Value){ .kind = DT_INT8, .type = &t->children[RANGE_STATE], .integer = r.empty ? RANGE_IS_EMPTY : r.lower.n ? RANGE_HAS_LOWER : RANGE_NO_LOWER };
    f[RANGE_LO_EXCLUSIVE] = flag(&t->children[RANGE_LO_EXCLUSIVE], !r.empty && !r.lower_inclusive);
    f[RANGE_HI_INCLUSIVE] = flag(&t->children[RANGE_HI_INCLUSIVE], !r.empty && r.upper_inclusive);
    if (!r.empty) {
        TRY(bound(a, &t->children[RANGE_LO], &r.lower, &f[RANGE_LO], err));
        TRY(bound(a, &t->children[RANGE_HI], &r.upper, &f[RANGE_HI], err));
    }
    *ret = (Value){ .kind = DT_STRUCT, .type = t, .items = { f, RANGE_FIELDS } };
    return OK;
}

static Status scalar(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    *ret = (Value){ .kind = t->kind, .type = t };
    switch (t->kind) {
    case DT_BOOL:
        ret->boolean = str_eq(s, S("t"));
        return ret->boolean || str_eq(s, S("f")) ? OK : bad("boolean", s, err);
    case DT_INT16: case DT_INT32: case DT_INT64: case DT_UINT32: return integer(t, s, ret, err);
    case DT_FLOAT: case DT_DOUBLE: return real(s, ret, err);
    case DT_DECIMAL: return numeric(t, s, ret, err);
    case DT_DATE: case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: return moment(t, s, ret, err);
    case DT_INTERVAL: return interval(s, ret, err);
    case DT_UUID: return uuid(a, s, ret, err);
    case DT_STRUCT: return range(a, t, s, ret, err);
    default: return text_value(t, a, s, ret, err);
    }
}

/* An element: quoted with backslashes, or up to the next comma. */
static Status element(Arena *a, Str s, size_t *at, Str *ret, int *quoted, Error *err)
{
    StrBuf b = sb_new(a);

    *quoted = *at < s.n && s.p[*at] == '"';
    *at += (size_t)*quoted;
    for (; *at < s.n; (*at)++) {
        char c = s.p[*at];
        if (*quoted ? c == '"' : c == ',' || c == '}')
            break;
        if (c == '{' && !*quoted)
            return FAIL(err, E_INVALID, "arrays of several dimensions have no place here");
        if (c == '\\' && ++*at == s.n)
            break;
        sb_byte(&b, s.p[*at]);
    }
    if (*at >= s.n)
        return bad("array", s, err);
    *at += (size_t)*quoted;
    *ret = sb_str(&b);
    return OK;
}

static Status array(Arena *a, const DataType *t, Str s, Value *ret, Error *err)
{
    VEC(Value) items = {0};
    size_t at = 1;

    if (s.n && s.p[0] == '[')
        return FAIL(err, E_INVALID, "arrays that do not begin at 1 have no place here");
    if (s.n < 2 || s.p[0] != '{' || s.p[s.n - 1] != '}')
        return bad("array", s, err);
    while (at < s.n - 1) {
        Value v = { .kind = DT_NULL };
        Str text;
        int quoted;
        TRY(element(a, s, &at, &text, &quoted, err));
        if (quoted || !str_eq(text, S("NULL")))
            TRY(scalar(a, &t->children[0], text, &v, err));
        vec_push(a, &items, v);
        bool more = at < s.n - 1 && s.p[at] == ',';
        if (items.n > PG_ARRAY_MAX || (more ? at + 1 == s.n - 1 : at != s.n - 1))
            return bad("array", s, err);
        at++;
    }
    *ret = (Value){ .kind = DT_LIST, .type = t };
    ret->items.p = items.p;
    ret->items.n = items.n;
    return OK;
}

Status pg_value(Arena *a, uint32_t oid UNUSED, const DataType *t, Str text, Value *ret, Error *err)
{
    return t->kind == DT_LIST ? array(a, t, text, ret, err) : scalar(a, t, text, ret, err);
}
