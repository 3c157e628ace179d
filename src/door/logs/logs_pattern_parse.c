/* SPDX-License-Identifier: Apache-2.0 */
/* logs_pattern_parse.c - the text of a filter pattern, by its three grammars (logs_pattern.h). */
#include "door/logs/logs_pattern_int.h"

typedef struct Scan { Arena *a; Str s; size_t at; int depth, nodes; Error *err; } Scan;

static Status wrong(Scan *c, const char *what) { return FAIL(c->err, E_SYNTAX, "Invalid filter pattern: %s at position %zu", what, c->at + 1); }

static char peek(const Scan *c) { return c->at < c->s.n ? c->s.p[c->at] : 0; }

static void blanks(Scan *c)
{
    while (peek(c) == ' ' || peek(c) == '\t' || peek(c) == '\n' || peek(c) == '\r')
        c->at++;
}

static bool take(Scan *c, const char *token)
{
    blanks(c);
    if (!str_starts(str_from(c->s, c->at), str_c(token)))
        return false;
    c->at += strlen(token);
    return true;
}

static Status quoted(Scan *c, Str *ret)
{
    StrBuf b = sb_new(c->a);

    for (c->at++; c->at < c->s.n && peek(c) != '"'; c->at++) {
        if (peek(c) == '\\' && c->at + 1 < c->s.n)
            c->at++;
        sb_byte(&b, peek(c));
    }
    if (peek(c) != '"')
        return wrong(c, "a quote is not closed");
    c->at++;
    *ret = sb_str(&b);
    return OK;
}

static Str run_of(Scan *c, const char *stop)
{
    size_t from = c->at;
    while (c->at < c->s.n && !strchr(stop, peek(c)))
        c->at++;
    return str_sub(c->s, from, c->at);
}

/* ---- terms ----------------------------------------------------------------------------------------------------------- */

static Status term(Scan *c, LogPattern *p)
{
    LogTerm t = {0};

    if (peek(c) == '-' || peek(c) == '?')
        t.mark = c->s.p[c->at++];
    if (t.mark == '-')
        blanks(c);                                    /* `- "text"` is seen in the wild */
    if (peek(c) == '%')
        return FAIL(c->err, E_UNSUPPORTED, "filter patterns with regular expressions (%%…%%) are not supported");
    if (peek(c) == '"')
        TRY(quoted(c, &t.text));
    else
        t.text = run_of(c, " \t\r\n");
    if (!t.text.n)
        return wrong(c, "a term is empty");
    if (p->terms.n == LOG_PATTERN_TERMS)
        return FAIL(c->err, E_LIMIT, "a filter pattern has at most %d terms", LOG_PATTERN_TERMS);
    vec_push(c->a, &p->terms, t);
    return OK;
}

static Status terms(Scan *c, LogPattern *p)
{
    for (blanks(c); c->at < c->s.n; blanks(c))
        TRY(term(c, p));
    if (p->terms.n == 1 && !p->terms.p[0].mark && str_eq(p->terms.p[0].text, S("*")))
        p->terms.n = 0;
    return OK;
}

/* ---- comparisons ------------------------------------------------------------------------------------------------------- */

static bool compare_op(Scan *c, LogCompare *op)
{
    static const struct { const char *text; LogCompare op; } ops[] = { { "!=", LC_NE }, { "<=", LC_LE }, { ">=", LC_GE }, { "=", LC_EQ }, { "<", LC_LT }, { ">", LC_GT } };
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (take(c, ops[i].text)) {
            *op = ops[i].op;
            return true;
        }
    return false;
}

static Status literal(Scan *c, const char *stop, LogTest *t)
{
    blanks(c);
    if (peek(c) == '%')
        return FAIL(c->err, E_UNSUPPORTED, "filter patterns with regular expressions (%%…%%) are not supported");
    if (peek(c) == '"')
        return quoted(c, &t->text);
    t->text = run_of(c, stop);
    t->numeric = str_to_f64(t->text, &t->number);
    return t->text.n ? OK : wrong(c, "a value is expected");
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------------- */

static Status path_step(Scan *c, LogPath *path)
{
    LogStep step = {0};
    int64_t index;

    if (take(c, ".")) {
        step.name = run_of(c, ".[ \t=!<>)&|}");
        if (!step.name.n)
            return wrong(c, "a name is expected");
    } else {
        c->at++;
        if (peek(c) == '"') {
            TRY(quoted(c, &step.name));
        } else {
            if (!str_to_i64(run_of(c, "]"), &index) || index < 0 || index > INT32_MAX)
                return wrong(c, "an index is expected");
            step.index = (size_t)index;
        }
        if (!take(c, "]"))
            return wrong(c, "']' is expected");
    }
    vec_push(c->a, path, step);
    return OK;
}

static Status test(Scan *c, LogNode *n)
{
    n->kind = LN_TEST;
    if (!take(c, "$"))
        return wrong(c, "'$' is expected");
    while (peek(c) == '.' || peek(c) == '[')
        TRY(path_step(c, &n->path));
    if (compare_op(c, &n->test.op))
        return literal(c, " \t)&|}", &n->test);
    if (take(c, "IS TRUE"))
        n->test.op = LC_IS_TRUE;
    else if (take(c, "IS FALSE"))
        n->test.op = LC_IS_FALSE;
    else if (take(c, "IS NULL"))
        n->test.op = LC_IS_NULL;
    else if (take(c, "NOT EXISTS"))
        n->test.op = LC_NOT_EXISTS;
    else
        return wrong(c, "a comparison is expected");
    return OK;
}

static Status either(Scan *c, LogNode **ret);

static Status single(Scan *c, LogNode **ret)
{
    if (++c->nodes > LOG_PATTERN_TERMS || c->depth > LOG_PATTERN_DEPTH)
        return FAIL(c->err, E_LIMIT, "a filter pattern has at most %d tests, %d levels deep", LOG_PATTERN_TERMS, LOG_PATTERN_DEPTH);
    if (take(c, "(")) {
        c->depth++;
        TRY(either(c, ret));
        c->depth--;
        return take(c, ")") ? OK : wrong(c, "')' is expected");
    }
    *ret = arena_new(c->a, LogNode);
    return test(c, *ret);
}

static LogNode *pair(Scan *c, int kind, LogNode *left, LogNode *right)
{
    LogNode *n = arena_new(c->a, LogNode);
    n->kind = kind;
    n->left = left;
    n->right = right;
    return n;
}

static Status both(Scan *c, LogNode **ret)
{
    LogNode *right;

    TRY(single(c, ret));
    while (take(c, "&&")) {
        TRY(single(c, &right));
        *ret = pair(c, LN_AND, *ret, right);
    }
    return OK;
}

static Status either(Scan *c, LogNode **ret)
{
    LogNode *right;

    TRY(both(c, ret));
    while (take(c, "||")) {
        TRY(both(c, &right));
        *ret = pair(c, LN_OR, *ret, right);
    }
    return OK;
}

static Status json(Scan *c, LogPattern *p)
{
    p->kind = LP_JSON;
    c->at++;
    TRY(either(c, &p->root));
    if (!take(c, "}"))
        return wrong(c, "'}' is expected");
    blanks(c);
    return c->at == c->s.n ? OK : wrong(c, "nothing more is expected");
}

/* ---- words ----------------------------------------------------------------------------------------------------------------- */

/* "status = 4*", "size > 10 && size < 20", "name", "..." */
static Status field(Scan *c, LogPattern *p)
{
    LogField f = {0};

    if (take(c, "...")) {
        if (p->has_rest)
            return wrong(c, "'...' stands twice");
        f.rest = p->has_rest = 1;
        vec_push(c->a, &p->fields, f);
        return OK;
    }
    do {
        LogTest t = {0};
        blanks(c);
        run_of(c, " \t,]=!<>&");
        if (!compare_op(c, &t.op))
            break;
        TRY(literal(c, " \t,]&", &t));
        if (f.tests.n == LOG_PATTERN_TERMS)
            return FAIL(c->err, E_LIMIT, "a filter pattern has at most %d tests", LOG_PATTERN_TERMS);
        vec_push(c->a, &f.tests, t);
    } while (take(c, "&&"));
    vec_push(c->a, &p->fields, f);
    return OK;
}

static Status words(Scan *c, LogPattern *p)
{
    p->kind = LP_WORDS;
    c->at++;
    do {
        if (p->fields.n == LOG_PATTERN_TERMS)
            return FAIL(c->err, E_LIMIT, "a filter pattern has at most %d fields", LOG_PATTERN_TERMS);
        TRY(field(c, p));
    } while (take(c, ","));
    if (!take(c, "]"))
        return wrong(c, "',' or ']' is expected");
    blanks(c);
    return c->at == c->s.n ? OK : wrong(c, "nothing more is expected");
}

Status log_pattern_parse(Arena *a, Str text, LogPattern **ret, Error *err)
{
    LogPattern *p = arena_new(a, LogPattern);
    Scan c = { .a = a, .s = text, .err = err };

    if (text.n > LOG_PATTERN_MAX)
        return FAIL(err, E_LIMIT, "a filter pattern is at most %d bytes", LOG_PATTERN_MAX);
    blanks(&c);
    TRY(peek(&c) == '{' ? json(&c, p) : peek(&c) == '[' ? words(&c, p) : terms(&c, p));
    *ret = p;
    return OK;
}
