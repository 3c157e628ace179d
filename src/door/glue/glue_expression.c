/* SPDX-License-Identifier: Apache-2.0 */
/* glue_expression.c - the Expression of GetPartitions: a condition over partition columns, as SQL writes it.
 *
 *   or    = and {OR and}                 operand = column | 'text' | number | ( operand )
 *   and   = not {AND not}                test    = operand [NOT] (op operand | IN (…) | BETWEEN x AND y | LIKE 'p' | IS [NOT] NULL)
 *   not   = NOT not | ( or ) | test
 * Values of partitions are text; a column's type says how they compare.  A literal that is not of the column's type is refused in AWS's words.
 * Words may stand in parentheses, as AWS's own parser has it. */
#include "door/glue/glue_int.h"

enum { DEPTH_MAX = 200, NODES_MAX = 2000 };

typedef enum { PX_AND, PX_OR, PX_NOT, PX_CMP, PX_IN, PX_BETWEEN, PX_LIKE, PX_IS_NULL, PX_TRUE } ExKind;
typedef enum { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE } Cmp;
typedef enum { TY_STRING, TY_INTEGER, TY_DECIMAL, TY_DATE, TY_TIMESTAMP } Type;

struct GlueExpr {
    ExKind kind;
    Cmp cmp;
    GlueExpr *left, *right;
    size_t column;
    Type type;
    StrVec values;
};

typedef enum { TOK_END, TOK_WORD, TOK_TEXT, TOK_NUMBER, TOK_SIGN } TokKind;
typedef struct Tok { TokKind kind; Str text; } Tok;
typedef struct Parser { Arena *a; Str text; size_t at; Tok tok; const Json *keys; int depth, nodes; Error *err; Status status; } Parser;

static void bad(Parser *p, const char *fmt, Str x)
{
    if (p->status == OK)
        p->status = x.n > 0 ? FAIL(p->err, E_INVALID, "%s '" STR_FMT "'", fmt, STR_ARG(str_sub(x, 0, 100))) : FAIL(p->err, E_INVALID, "%s", fmt);
}

static GlueExpr *node(Parser *p, ExKind kind)
{
    GlueExpr *e = arena_new(p->a, GlueExpr);
    e->kind = kind;
    if (++p->nodes > NODES_MAX)
        bad(p, "Unsupported expression: it is too long", (Str){0});
    return e;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------ */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void quoted(Parser *p, char quote, TokKind kind)
{
    StrBuf b = sb_new(p->a);

    for (p->at++; p->at < p->text.n; p->at++) {
        char c = p->text.p[p->at];
        bool doubled = c == quote && p->at + 1 < p->text.n && p->text.p[p->at + 1] == quote;
        if (c == quote && !doubled)
            break;
        p->at += doubled;
        sb_byte(&b, c);
    }
    if (p->at >= p->text.n)
        bad(p, "Unsupported expression: a quote is not closed", (Str){0});
    p->at++;
    p->tok = (Tok){ kind, sb_str(&b) };
}

static void run_of(Parser *p, TokKind kind)
{
    size_t from = p->at++;
    while (p->at < p->text.n) {
        char c = p->text.p[p->at];
        bool exponent = kind == TOK_NUMBER && (c == '-' || c == '+') && (p->text.p[p->at - 1] | 32) == 'e';
        if (!is_letter(c) && !is_digit(c) && c != '.' && !exponent)
            break;
        p->at++;
    }
    p->tok = (Tok){ kind, str_sub(p->text, from, p->at) };
}

static void sign(Parser *p)
{
    static const char *const two[] = { "<=", ">=", "<>", "!=" };
    for (size_t i = 0; i < COUNT_OF(two); i++)
        if (str_starts(str_from(p->text, p->at), str_c(two[i]))) {
            p->tok = (Tok){ TOK_SIGN, str_c(two[i]) };
            p->at += 2;
            return;
        }
    p->tok = (Tok){ TOK_SIGN, str_sub(p->text, p->at, p->at + 1) };
    p->at++;
}

static void next(Parser *p)
{
    while (p->at < p->text.n && strchr(" \t\r\n", p->text.p[p->at]))
        p->at++;
    p->tok = (Tok){ TOK_END, {0} };
    if (p->at >= p->text.n || p->status != OK)
        return;
    char c = p->text.p[p->at];
    bool negative = (c == '-' || c == '+') && p->at + 1 < p->text.n && (is_digit(p->text.p[p->at + 1]) || p->text.p[p->at + 1] == '.');
    if (c == '\'')
        quoted(p, '\'', TOK_TEXT);
    else if (c == '"' || c == '`')
        quoted(p, c, TOK_WORD);
    else if (is_letter(c))
        run_of(p, TOK_WORD);
    else if (is_digit(c) || negative)
        run_of(p, TOK_NUMBER);
    else
        sign(p);
}

static bool is_sign(const Parser *p, const char *s) { return p->tok.kind == TOK_SIGN && str_eq(p->tok.text, str_c(s)); }
static bool is_word(const Parser *p, const char *w) { return p->tok.kind == TOK_WORD && str_ieq(p->tok.text, str_c(w)); }

static bool take_sign(Parser *p, const char *s)
{
    if (!is_sign(p, s))
        return false;
    next(p);
    return true;
}

/* A word, or the word in parentheses. */
static bool take_word(Parser *p, const char *w)
{
    Parser before = *p;

    if (take_sign(p, "(")) {
        if (is_word(p, w)) {
            next(p);
            if (take_sign(p, ")"))
                return true;
        }
        *p = before;
        return false;
    }
    if (!is_word(p, w))
        return false;
    next(p);
    return true;
}

static void need_sign(Parser *p, const char *s)
{
    if (!take_sign(p, s))
        bad(p, "Unsupported expression near", p->tok.text.n > 0 ? p->tok.text : S("its end"));
}

/* ---- literals and their types ---------------------------------------------------------------------------------------------------- */

static const struct { const char *name; Type type; } types[] = {
    { "string", TY_STRING }, { "varchar", TY_STRING }, { "char", TY_STRING }, { "int", TY_INTEGER }, { "integer", TY_INTEGER }, { "bigint", TY_INTEGER }, { "long", TY_INTEGER },
    { "smallint", TY_INTEGER }, { "tinyint", TY_INTEGER }, { "decimal", TY_DECIMAL }, { "date", TY_DATE }, { "timestamp", TY_TIMESTAMP },
};

static const char *const wanted[] = { [TY_INTEGER] = "an integer", [TY_DECIMAL] = "a decimal", [TY_DATE] = "a date", [TY_TIMESTAMP] = "a timestamp" };
static const char *const families[] = { [TY_INTEGER] = "Integral", [TY_DECIMAL] = "Decimal", [TY_DATE] = "Date", [TY_TIMESTAMP] = "Timestamp" };

static bool digits(Str s, size_t from, size_t n, int min, int max)
{
    int v = 0;
    for (size_t i = from; i < from + n; i++) {
        if (i >= s.n || !is_digit(s.p[i]))
            return false;
        v = v * 10 + (s.p[i] - '0');
    }
    return v >= min && v <= max;
}

static bool is_date(Str s)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    if (s.n != 10 || s.p[4] != '-' || s.p[7] != '-' || !digits(s, 0, 4, 0, 9999) || !digits(s, 5, 2, 1, 12) || !digits(s, 8, 2, 1, 31))
        return false;
    int year = (s.p[0] - '0') * 1000 + (s.p[1] - '0') * 100 + (s.p[2] - '0') * 10 + (s.p[3] - '0'), month = (s.p[5] - '0') * 10 + (s.p[6] - '0');
    int day = (s.p[8] - '0') * 10 + (s.p[9] - '0'), leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && leap);
}

/* yyyy-mm-dd hh:mm:ss[.f…], nine places of a second at most. */
static bool is_timestamp(Str s)
{
    if (s.n < 19 || !is_date(str_sub(s, 0, 10)) || (s.p[10] != ' ' && s.p[10] != 'T') || s.p[13] != ':' || s.p[16] != ':')
        return false;
    if (!digits(s, 11, 2, 0, 23) || !digits(s, 14, 2, 0, 59) || !digits(s, 17, 2, 0, 59))
        return false;
    return s.n == 19 || (s.p[19] == '.' && s.n > 20 && s.n <= 29 && digits(s, 20, s.n - 20, 0, 999999999));
}

static bool fits(Type t, Str s)
{
    int64_t n;
    double d;

    switch (t) {
    case TY_STRING: return true;
    case TY_INTEGER: return str_to_i64(s, &n);
    case TY_DECIMAL: return str_to_f64(s, &d);
    case TY_DATE: return is_date(s);
    case TY_TIMESTAMP: return is_timestamp(s);
    }
    return false;
}

/* Without the zeros at the end of its fraction, so that texts compare as times. */
static Str trimmed_time(Str s)
{
    if (s.n <= 20)
        return s;
    while (s.n > 20 && s.p[s.n - 1] == '0')
        s.n--;
    return s.n == 20 ? str_sub(s, 0, 19) : s;
}

static int compare(Type t, Str x, Str y)
{
    int64_t i = 0, k = 0;
    double d = 0, e = 0;

    if (t == TY_INTEGER && str_to_i64(x, &i) && str_to_i64(y, &k))
        return i < k ? -1 : i > k;
    if (t == TY_DECIMAL && str_to_f64(x, &d) && str_to_f64(y, &e))
        return d < e ? -1 : d > e;
    return t == TY_TIMESTAMP ? str_cmp(trimmed_time(x), trimmed_time(y)) : str_cmp(x, y);
}

/* ---- grammar -------------------------------------------------------------------------------------------------------------------------- */

static bool find_column(Parser *p, Str name, GlueExpr *e)
{
    for (e->column = 0; e->column < json_len(p->keys); e->column++) {
        const Json *key = json_at(p->keys, e->column);
        Str type = json_get_str(key, "Type", S("string")), head = {0}, rest = {0};
        if (!str_ieq(json_get_str(key, "Name", (Str){0}), name))
            continue;
        str_cut(type, '(', &head, &rest);
        for (size_t i = 0; i < COUNT_OF(types); i++)
            if (str_ieq(str_trim(head), str_c(types[i].name))) {
                e->type = types[i].type;
                return true;
            }
        bad(p, "Unknown type :", type);
        return true;
    }
    return false;
}

/* "a", ("a"), (("a")) */
static void column(Parser *p, GlueExpr *e)
{
    int open = 0;

    while (p->status == OK && take_sign(p, "("))
        open++;
    if (p->tok.kind != TOK_WORD)
        bad(p, "Unsupported expression near", p->tok.text.n > 0 ? p->tok.text : S("its end"));
    else if (!find_column(p, p->tok.text, e))
        bad(p, "Invalid partition expression!", (Str){0});
    next(p);
    while (open-- > 0)
        need_sign(p, ")");
}

static void literal(Parser *p, GlueExpr *e)
{
    int open = 0;

    while (p->status == OK && take_sign(p, "("))
        open++;
    if (p->tok.kind != TOK_TEXT && p->tok.kind != TOK_NUMBER)
        bad(p, "Unsupported expression near", p->tok.text.n > 0 ? p->tok.text : S("its end"));
    else if (!fits(e->type, p->tok.text) && p->status == OK)
        p->status = FAIL(p->err, E_INVALID, "\"" STR_FMT "\" is not %s", STR_ARG(str_sub(p->tok.text, 0, 100)), wanted[e->type]);
    vec_push(p->a, &e->values, p->tok.text);
    next(p);
    while (open-- > 0)
        need_sign(p, ")");
}

static bool comparison(Parser *p, Cmp *ret)
{
    static const struct { const char *sign; Cmp cmp; } signs[] = { { "=", CMP_EQ }, { "<>", CMP_NE }, { "!=", CMP_NE }, { "<=", CMP_LE }, { ">=", CMP_GE }, { "<", CMP_LT }, { ">", CMP_GT } };
    for (size_t i = 0; i < COUNT_OF(signs); i++)
        if (take_sign(p, signs[i].sign)) {
            *ret = signs[i].cmp;
            return true;
        }
    return false;
}

static void in_list(Parser *p, GlueExpr *e)
{
    e->kind = PX_IN;
    need_sign(p, "(");
    do
        literal(p, e);
    while (p->status == OK && take_sign(p, ","));
    need_sign(p, ")");
}

static void between(Parser *p, GlueExpr *e)
{
    e->kind = PX_BETWEEN;
    literal(p, e);
    if (!take_word(p, "and"))
        bad(p, "Unsupported expression: BETWEEN without AND", (Str){0});
    literal(p, e);
}

static void like(Parser *p, GlueExpr *e)
{
    e->kind = PX_LIKE;
    if (e->type != TY_STRING && p->status == OK)
        p->status = FAIL(p->err, E_INVALID, "%s data type doesn't support operation 'LIKE'", families[e->type]);
    literal(p, e);
}

static GlueExpr *negated(Parser *p, GlueExpr *e, bool not)
{
    if (!not)
        return e;
    GlueExpr *n = node(p, PX_NOT);
    n->left = e;
    return n;
}

static GlueExpr *test(Parser *p)
{
    GlueExpr *e = node(p, PX_CMP);

    column(p, e);
    if (comparison(p, &e->cmp)) {
        literal(p, e);
        return e;
    }
    bool not = take_word(p, "not");
    if (take_word(p, "in"))
        in_list(p, e);
    else if (take_word(p, "between"))
        between(p, e);
    else if (take_word(p, "like"))
        like(p, e);
    else if (!not && take_word(p, "is")) {
        not = take_word(p, "not");
        e->kind = PX_IS_NULL;
        if (!take_word(p, "null"))
            bad(p, "Unsupported expression: IS without NULL", (Str){0});
    } else
        bad(p, "Unsupported expression near", p->tok.text.n > 0 ? p->tok.text : S("its end"));
    return negated(p, e, not);
}

static GlueExpr *either(Parser *p);

/* Does a parenthesis here hold a condition, or just a column? */
static bool holds_condition(Parser *p)
{
    Parser ahead = *p;
    Error ignored;
    int open = 0;

    ahead.err = &ignored;
    while (take_sign(&ahead, "("))
        open++;
    if (ahead.tok.kind != TOK_WORD)
        return true;
    next(&ahead);
    while (open > 0 && take_sign(&ahead, ")"))
        open--;
    return open > 0;
}

static GlueExpr *single(Parser *p)
{
    GlueExpr *e;

    if (++p->depth > DEPTH_MAX)
        bad(p, "Unsupported expression: it is nested too deeply", (Str){0});
    if (p->status != OK)
        e = node(p, PX_TRUE);
    else if (take_word(p, "not"))
        e = negated(p, single(p), true);
    else if (is_sign(p, "(") && holds_condition(p)) {
        next(p);
        e = either(p);
        need_sign(p, ")");
    } else
        e = test(p);
    p->depth--;
    return e;
}

static GlueExpr *joined(Parser *p, ExKind kind, const char *word, GlueExpr *(*part)(Parser *))
{
    GlueExpr *e = part(p);

    while (p->status == OK && take_word(p, word)) {
        GlueExpr *both = node(p, kind);
        both->left = e;
        both->right = part(p);
        e = both;
    }
    return e;
}

static GlueExpr *both(Parser *p) { return joined(p, PX_AND, "and", single); }
static GlueExpr *either(Parser *p) { return joined(p, PX_OR, "or", both); }

Status glue_expr_parse(Arena *a, Str text, const Json *partition_keys, GlueExpr **ret, Error *err)
{
    Parser p = { .a = a, .text = text, .keys = partition_keys, .err = err };

    if (!str_trim(text).n) {
        *ret = node(&p, PX_TRUE);
        return OK;
    }
    next(&p);
    *ret = either(&p);
    if (p.status == OK && p.tok.kind != TOK_END)
        bad(&p, "Unsupported expression near", p.tok.text);
    return p.status;
}

/* ---- evaluation --------------------------------------------------------------------------------------------------------------------------- */

static bool by(Cmp cmp, int order)
{
    switch (cmp) {
    case CMP_EQ: return order == 0;
    case CMP_NE: return order != 0;
    case CMP_LT: return order < 0;
    case CMP_LE: return order <= 0;
    case CMP_GT: return order > 0;
    case CMP_GE: return order >= 0;
    }
    return false;
}

static bool in_values(const GlueExpr *e, Str v)
{
    for vec_each(Str, x, &e->values)
        if (compare(e->type, v, *x) == 0)
            return true;
    return false;
}

static bool is_null(Str v) { return str_eq(v, S("__HIVE_DEFAULT_PARTITION__")); }

/* SQL's three answers: a comparison with null is neither true nor false. */
typedef enum { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN } Answer;

static Answer yes_if(bool b) { return b ? ANSWER_YES : ANSWER_NO; }

static Answer and_of(Answer x, Answer y)
{
    if (x == ANSWER_NO || y == ANSWER_NO)
        return ANSWER_NO;
    return x == ANSWER_YES && y == ANSWER_YES ? ANSWER_YES : ANSWER_UNKNOWN;
}

static Answer not_of(Answer x) { return x == ANSWER_UNKNOWN ? x : yes_if(x == ANSWER_NO); }

static Status test_answer(const GlueExpr *e, const Json *values, Answer *ret, Error *err)
{
    const Json *j = json_at(values, e->column);
    Str v = json_is(j, JSON_STRING) ? j->string : (Str){0};
    bool null = !j || is_null(v);

    *ret = e->kind == PX_IS_NULL ? yes_if(null) : ANSWER_UNKNOWN;
    if (null || e->kind == PX_IS_NULL)
        return OK;
    if (!fits(e->type, v))
        return AWS_FAIL(err, E_INVALID, "InvalidStateException", "\"" STR_FMT "\" is not %s", STR_ARG(str_sub(v, 0, 100)), wanted[e->type]);
    if (e->kind == PX_CMP)
        *ret = yes_if(by(e->cmp, compare(e->type, v, e->values.p[0])));
    else if (e->kind == PX_IN)
        *ret = yes_if(in_values(e, v));
    else if (e->kind == PX_BETWEEN)
        *ret = yes_if(compare(e->type, v, e->values.p[0]) >= 0 && compare(e->type, v, e->values.p[1]) <= 0);
    else
        *ret = yes_if(str_like(v, e->values.p[0]));
    return OK;
}

static Status answer(const GlueExpr *e, const Json *values, Answer *ret, Error *err)
{
    Answer left, right;

    *ret = ANSWER_YES;
    if (e->kind == PX_TRUE)
        return OK;
    if (e->kind != PX_AND && e->kind != PX_OR && e->kind != PX_NOT)
        return test_answer(e, values, ret, err);
    TRY(answer(e->left, values, &left, err));
    if (e->kind == PX_NOT) {
        *ret = not_of(left);
        return OK;
    }
    TRY(answer(e->right, values, &right, err));
    *ret = e->kind == PX_AND ? and_of(left, right) : not_of(and_of(not_of(left), not_of(right)));
    return OK;
}

Status glue_expr_holds(const GlueExpr *e, const Json *values, bool *ret, Error *err)
{
    Answer x;

    TRY(answer(e, values, &x, err));
    *ret = x == ANSWER_YES;
    return OK;
}
