/* SPDX-License-Identifier: Apache-2.0 */
/* jsonb.c - JSON texts as PostgreSQL's jsonb has them: one text for each value, and its operators.
 *
 * Invariants: (1) texts of equal values are equal bytes: no blanks, members in order of their names and of one name the last, numbers without
 * needless zeros and exponents, strings with no escapes but those they need; (2) nothing is read beyond the text; nesting is bounded.
 * What comes out parses. */
#include "codec/codec.h"

#include <stdlib.h>

enum { NEST_MAX = 200, PLAIN_DIGITS_MAX = 400 };

typedef struct Node Node;
typedef struct Part { Str name; Node *value; size_t place; } Part;              /* of an array: no name */
struct Node { JsonKind kind; Str text; VEC(Part) parts; };                     /* text: of a scalar, but for a string's quotes and escapes */

typedef struct Reader { Arena *a; const char *p, *end; JsonbWords words; } Reader;

static bool read_value(Reader *r, Node **ret, int depth);

static void blank(Reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool take(Reader *r, char c)
{
    blank(r);
    if (r->p >= r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static Node *node(Reader *r, JsonKind kind, Str text)
{
    Node *n = arena_new(r->a, Node);

    n->kind = kind;
    n->text = text;
    return n;
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

/* The text between quotes, escapes undone by the parser of strings that is there. */
static bool read_string(Reader *r, Str *ret)
{
    blank(r);
    const char *from = r->p;
    Error err = { 0 };
    Json *s;

    if (!take(r, '"'))
        return false;
    bool escaped = false;
    while (r->p < r->end && *r->p != '"') {
        if ((unsigned char)*r->p < ' ')
            return false;
        escaped |= *r->p == '\\';
        r->p += *r->p == '\\' ? 2 : 1;
    }
    if (r->p >= r->end)
        return false;
    r->p++;
    *ret = str_n(from + 1, (size_t)(r->p - from) - 2);
    if (!escaped)
        return str_is_utf8(*ret);
    if (json_parse(r->a, str_n(from, (size_t)(r->p - from)), &s, &err) != OK || s->kind != JSON_STRING)
        return false;
    *ret = s->string;
    return true;
}

static size_t digits(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && p[n] >= '0' && p[n] <= '9')
        n++;
    return n;
}

/* digits × 10^exponent, without needless zeros. */
static Str number_text(Arena *a, bool negative, Str digits_, int64_t exponent)
{
    StrBuf b = sb_new(a);

    while (digits_.n && digits_.p[0] == '0')
        digits_ = str_from(digits_, 1);
    while (digits_.n && digits_.p[digits_.n - 1] == '0') {
        digits_.n--;
        exponent++;
    }
    if (!digits_.n)
        return S("0");
    if (negative)
        sb_byte(&b, '-');
    int64_t point = (int64_t)digits_.n + exponent;                       /* places before the point */
    if (point > PLAIN_DIGITS_MAX || exponent < -PLAIN_DIGITS_MAX) {
        sb_add(&b, digits_);
        sb_fmt(&b, "e%lld", (long long)exponent);
        return sb_str(&b);
    }
    if (point <= 0) {
        sb_addc(&b, "0.");
        for (; point < 0; point++)
            sb_byte(&b, '0');
        sb_add(&b, digits_);
        return sb_str(&b);
    }
    for (int64_t i = 0; i < point; i++)
        sb_byte(&b, i < (int64_t)digits_.n ? digits_.p[i] : '0');
    if (point < (int64_t)digits_.n) {
        sb_byte(&b, '.');
        sb_add(&b, str_from(digits_, (size_t)point));
    }
    return sb_str(&b);
}

static bool read_exponent(Reader *r, int64_t *ret)
{
    *ret = 0;
    if (r->p >= r->end || (*r->p | 0x20) != 'e')
        return true;
    const char *from = ++r->p;
    if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
        r->p++;
    size_t n = digits(r->p, r->end);
    r->p += n;
    if (!n || n > 9)
        return false;
    if (*from == '+')
        from++;
    return str_to_i64(str_n(from, (size_t)(r->p - from)), ret);
}

static bool read_number(Reader *r, Node **ret)
{
    bool negative = *r->p == '-';
    StrBuf all = sb_new(r->a);
    int64_t exponent;

    r->p += negative;
    size_t whole = digits(r->p, r->end), fraction = 0;
    if (!whole || (whole > 1 && *r->p == '0'))
        return false;
    sb_add(&all, str_n(r->p, whole));
    r->p += whole;
    if (r->p < r->end && *r->p == '.') {
        fraction = digits(++r->p, r->end);
        if (!fraction)
            return false;
        sb_add(&all, str_n(r->p, fraction));
        r->p += fraction;
    }
    if (!read_exponent(r, &exponent))
        return false;
    *ret = node(r, JSON_REAL, number_text(r->a, negative, sb_str(&all), exponent - (int64_t)fraction));
    return true;
}

static bool read_word(Reader *r, Node **ret)
{
    static const struct { const char *word; JsonKind kind; } words[] = {
        { "null", JSON_NULL }, { "true", JSON_BOOL }, { "false", JSON_BOOL }, { "NaN", JSON_STRING }, { "nan", JSON_STRING }, { "Infinity", JSON_STRING },
        { "-Infinity", JSON_STRING }, { "inf", JSON_STRING }, { "-inf", JSON_STRING },
    };
    static const char *const as[] = { NULL, NULL, NULL, "NaN", "NaN", "Infinity", "-Infinity", "Infinity", "-Infinity" };
    Str rest = str_n(r->p, (size_t)(r->end - r->p));

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        Str w = str_c(words[i].word);
        if (!str_starts(rest, w) || (words[i].kind == JSON_STRING && r->words == JSONB_STRICT))
            continue;
        r->p += w.n;
        *ret = node(r, words[i].kind, as[i] ? str_c(as[i]) : w);
        return true;
    }
    return false;
}

static int by_name(const void *x, const void *y)
{
    const Part *l = x, *r = y;
    int c = str_cmp(l->name, r->name);
    return c ? c : (l->place > r->place) - (l->place < r->place);
}

/* In order of the names; of one name the last. */
static void settle(Node *object)
{
    size_t n = 0;

    if (!object->parts.n)
        return;
    qsort(object->parts.p, object->parts.n, sizeof *object->parts.p, by_name);
    for (size_t i = 0; i < object->parts.n; i++)
        if (i + 1 == object->parts.n || !str_eq(object->parts.p[i].name, object->parts.p[i + 1].name))
            object->parts.p[n++] = object->parts.p[i];
    object->parts.n = n;
}

static bool read_parts(Reader *r, Node *to, char end, int depth)
{
    if (take(r, end))
        return true;
    do {
        Part part = { .place = to->parts.n };
        if (to->kind == JSON_OBJECT && (!read_string(r, &part.name) || !take(r, ':')))
            return false;
        if (!read_value(r, &part.value, depth))
            return false;
        vec_push(r->a, &to->parts, part);
    } while (take(r, ','));
    return take(r, end);
}

static bool read_value(Reader *r, Node **ret, int depth)
{
    blank(r);
    if (r->p >= r->end || depth >= NEST_MAX)
        return false;
    switch (*r->p) {
    case '{':
        r->p++;
        *ret = node(r, JSON_OBJECT, S(""));
        if (!read_parts(r, *ret, '}', depth + 1))
            return false;
        settle(*ret);
        return true;
    case '[':
        r->p++;
        *ret = node(r, JSON_ARRAY, S(""));
        return read_parts(r, *ret, ']', depth + 1);
    case '"':
        *ret = node(r, JSON_STRING, S(""));
        return read_string(r, &(*ret)->text);
    default:
        return read_word(r, ret) || ((*r->p == '-' || (*r->p >= '0' && *r->p <= '9')) && read_number(r, ret));
    }
}

static bool parse(Arena *a, Str text, JsonbWords words, Node **ret)
{
    Reader r = { a, text.p, text.p + text.n, words };

    if (!read_value(&r, ret, 0))
        return false;
    blank(&r);
    return r.p == r.end;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------- */

static void write_string(StrBuf *b, Str s) { json_write(b, json_str(b->a, s)); }

static void write(StrBuf *b, const Node *n)
{
    bool object = n->kind == JSON_OBJECT;

    if (n->kind == JSON_STRING) {
        write_string(b, n->text);
        return;
    }
    if (n->kind != JSON_ARRAY && !object) {
        sb_add(b, n->text);
        return;
    }
    sb_byte(b, object ? '{' : '[');
    for (size_t i = 0; i < n->parts.n; i++) {
        if (i)
            sb_byte(b, ',');
        if (object) {
            write_string(b, n->parts.p[i].name);
            sb_byte(b, ':');
        }
        write(b, n->parts.p[i].value);
    }
    sb_byte(b, object ? '}' : ']');
}

static Str written(Arena *a, const Node *n)
{
    StrBuf b = sb_new(a);

    write(&b, n);
    return sb_str(&b);
}

bool jsonb_text(Arena *a, Str text, JsonbWords words, Str *ret)
{
    Node *n;

    if (!parse(a, text, words, &n))
        return false;
    *ret = written(a, n);
    return true;
}

/* ---- operators ---------------------------------------------------------------------------------------------------------------- */

static const Node *member(const Node *object, Str name)
{
    size_t from = 0, to = object->kind == JSON_OBJECT ? object->parts.n : 0;

    while (from < to) {
        size_t mid = (from + to) / 2;
        int c = str_cmp(object->parts.p[mid].name, name);
        if (!c)
            return object->parts.p[mid].value;
        if (c < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

static bool contains(const Node *whole, const Node *part);

static bool has_item(const Node *array, const Node *part)
{
    for (size_t i = 0; i < array->parts.n; i++)
        if (contains(array->parts.p[i].value, part))
            return true;
    return false;
}

static bool contains(const Node *whole, const Node *part)
{
    if (whole->kind != part->kind)
        return false;
    if (whole->kind != JSON_OBJECT && whole->kind != JSON_ARRAY)
        return str_eq(whole->text, part->text);
    for (size_t i = 0; i < part->parts.n; i++) {
        const Node *own = whole->kind == JSON_OBJECT ? member(whole, part->parts.p[i].name) : NULL;
        if (whole->kind == JSON_OBJECT ? !own || !contains(own, part->parts.p[i].value) : !has_item(whole, part->parts.p[i].value))
            return false;
    }
    return true;
}

bool jsonb_contains(Arena *a, Str whole, Str part, bool *ret)
{
    Node *x, *y;

    if (!parse(a, whole, JSONB_STRICT, &x) || !parse(a, part, JSONB_STRICT, &y))
        return false;
    bool scalar = y->kind != JSON_ARRAY && y->kind != JSON_OBJECT;
    *ret = x->kind == JSON_ARRAY && scalar ? has_item(x, y) : contains(x, y);        /* an array may contain a bare scalar */
    return true;
}

bool jsonb_has_key(Arena *a, Str text, Str key, bool *ret)
{
    Node *x;

    if (!parse(a, text, JSONB_STRICT, &x))
        return false;
    *ret = x->kind == JSON_OBJECT ? member(x, key) != NULL : x->kind == JSON_STRING && str_eq(x->text, key);
    for (size_t i = 0; x->kind == JSON_ARRAY && i < x->parts.n && !*ret; i++)
        *ret = x->parts.p[i].value->kind == JSON_STRING && str_eq(x->parts.p[i].value->text, key);
    return true;
}

/* An array of one, unless it is one. */
static void append(Arena *a, Node *to, Node *n)
{
    if (n->kind != JSON_ARRAY) {
        vec_push(a, &to->parts, ((Part){ .value = n }));
        return;
    }
    for (size_t i = 0; i < n->parts.n; i++)
        vec_push(a, &to->parts, n->parts.p[i]);
}

bool jsonb_concat(Arena *a, Str left, Str right, Str *ret)
{
    Node *x, *y, all = { .kind = JSON_ARRAY };

    if (!parse(a, left, JSONB_STRICT, &x) || !parse(a, right, JSONB_STRICT, &y))
        return false;
    if (x->kind == JSON_OBJECT && y->kind == JSON_OBJECT) {
        all.kind = JSON_OBJECT;
        for (size_t i = 0; i < x->parts.n + y->parts.n; i++) {
            Part part = i < x->parts.n ? x->parts.p[i] : y->parts.p[i - x->parts.n];
            part.place = i;
            vec_push(a, &all.parts, part);
        }
        settle(&all);
    } else {
        append(a, &all, x);
        append(a, &all, y);
    }
    *ret = written(a, &all);
    return true;
}

JsonbDelete jsonb_without_key(Arena *a, Str text, Str key, Str *ret)
{
    Node *x, rest = { 0 };

    if (!parse(a, text, JSONB_STRICT, &x))
        return JSONB_MALFORMED;
    if (x->kind != JSON_OBJECT && x->kind != JSON_ARRAY)
        return JSONB_FROM_SCALAR;
    rest.kind = x->kind;
    for (size_t i = 0; i < x->parts.n; i++) {
        const Part *part = &x->parts.p[i];
        bool hit = x->kind == JSON_OBJECT ? str_eq(part->name, key) : part->value->kind == JSON_STRING && str_eq(part->value->text, key);
        if (!hit)
            vec_push(a, &rest.parts, *part);
    }
    *ret = written(a, &rest);
    return JSONB_DONE;
}

JsonbDelete jsonb_without_item(Arena *a, Str text, int64_t at, Str *ret)
{
    Node *x, rest = { .kind = JSON_ARRAY };

    if (!parse(a, text, JSONB_STRICT, &x))
        return JSONB_MALFORMED;
    if (x->kind != JSON_ARRAY)
        return x->kind == JSON_OBJECT ? JSONB_FROM_OBJECT : JSONB_FROM_SCALAR;
    if (at < 0)
        at += (int64_t)x->parts.n;
    for (size_t i = 0; i < x->parts.n; i++)
        if ((int64_t)i != at)
            vec_push(a, &rest.parts, x->parts.p[i]);
    *ret = written(a, &rest);
    return JSONB_DONE;
}

/* One step down: a member's name, or an item's place in decimal digits, from the end when negative. */
static const Node *step(const Node *n, Str key)
{
    int64_t at;

    if (n->kind == JSON_OBJECT)
        return member(n, key);
    if (n->kind != JSON_ARRAY || !str_to_i64(key, &at))
        return NULL;
    if (at < 0)
        at += (int64_t)n->parts.n;
    return at >= 0 && at < (int64_t)n->parts.n ? n->parts.p[at].value : NULL;
}

static bool found(Arena *a, const Node *n, JsonbResult as, Str *ret)
{
    if (!n || (as == JSONB_AS_TEXT && n->kind == JSON_NULL))
        return false;
    *ret = as == JSONB_AS_TEXT && n->kind == JSON_STRING ? n->text : written(a, n);
    return true;
}

bool jsonb_member(Arena *a, Str text, Str key, JsonbResult as, Str *ret)
{
    Node *x;

    return parse(a, text, JSONB_STRICT, &x) && found(a, member(x, key), as, ret);
}

bool jsonb_path(Arena *a, Str text, Str path, JsonbResult as, Str *ret)
{
    Node *x, *steps;

    if (!parse(a, text, JSONB_STRICT, &x) || !parse(a, path, JSONB_STRICT, &steps) || steps->kind != JSON_ARRAY)
        return false;
    const Node *at = x;
    for (size_t i = 0; i < steps->parts.n && at; i++)
        at = steps->parts.p[i].value->kind == JSON_STRING ? step(at, steps->parts.p[i].value->text) : NULL;
    return found(a, at, as, ret);
}
