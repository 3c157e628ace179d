/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - the entry points of the parser, and its cursor over the tokens.
 *
 * Hand-written recursive descent; expressions by precedence climbing (parse_expr.c).
 * Invariants: (1) no recursion goes deeper than LIMIT_SQL_DEPTH, and no finished tree is higher than PARSE_TREE_DEPTH,
 * so that whoever walks a tree may recurse; (2) after an error every token reads as the end of input. */
#include "sql/parse_int.h"

#include <stdio.h>

static Parser start(Arena *a, Dialect d, Str text, Error *err);
static Status check_text(Str text, Error *err);
static void need_end(Parser *p);

Status sql_parse(Arena *a, Dialect d, Str text, StmtVec *ret, Error *err)
{
    StmtVec v = {0};

    TRY(check_text(text, err));
    Parser p = start(a, d, text, err);
    while (!p.status) {
        while (p_take_op(&p, ';'))
            ;
        if (p_peek(&p, 0)->kind == TK_END)
            break;
        p.base = v.n ? p_peek(&p, 0)->start : 0;
        p.nparams = 0;
        int from = p_peek(&p, 0)->start;
        Stmt *s = p_stmt(&p);
        if (!p_at_end(&p))
            p_syntax(&p);
        s->start = from;
        s->end = p_last_end(&p);
        s->nparams = p.nparams;
        vec_push(a, &v, s);
    }
    TRY(p.status);
    *ret = v;
    return OK;
}

Status sql_parse_query(Arena *a, Dialect d, Str text, Query **ret, Error *err)
{
    TRY(check_text(text, err));
    Parser p = start(a, d, text, err);
    Query *q = p_query(&p);
    p_take_op(&p, ';');
    need_end(&p);
    TRY(p.status);
    *ret = q;
    return OK;
}

Status sql_parse_expr(Arena *a, Dialect d, Str text, Expr **ret, Error *err)
{
    TRY(check_text(text, err));
    Parser p = start(a, d, text, err);
    Expr *e = p_expr(&p);
    need_end(&p);
    TRY(p.status);
    *ret = e;
    return OK;
}

Status sql_parse_type(Arena *a, Dialect d, Str text, DataType *ret, Error *err)
{
    TRY(check_text(text, err));
    Parser p = start(a, d, text, err);
    DataType t = p_type(&p);
    need_end(&p);
    TRY(p.status);
    *ret = t;
    return OK;
}

Status sql_parse_name(Arena *a, Dialect d, Str text, StrVec *ret, Error *err)
{
    StrVec v = {0};

    TRY(check_text(text, err));
    Parser p = start(a, d, text, err);
    p_name(&p, &v);
    need_end(&p);
    TRY(p.status);
    *ret = v;
    return OK;
}

static Parser start(Arena *a, Dialect d, Str text, Error *err)
{
    return (Parser){ .a = a, .dialect = d, .lex = { .a = a, .dialect = d, .text = text }, .err = err };
}

static Status check_text(Str text, Error *err)
{
    Status s = OK;

    if (text.n > LIMIT_SQL_BYTES)
        return FAIL(err, E_LIMIT, "the statement is %zu bytes, limit is %d", text.n, LIMIT_SQL_BYTES);
    if (!str_is_utf8(text) || str_chr(text, 0) >= 0) {
        s = FAIL(err, E_INVALID, "invalid byte sequence for encoding \"UTF8\" in the statement");
        memcpy(err->sqlstate, "22021", 6);
    }
    return s;
}

static void need_end(Parser *p)
{
    if (p_peek(p, 0)->kind != TK_END)
        p_syntax(p);
}

/* ---- looking ------------------------------------------------------------------------------------------------- */

static const Token THE_END = { .kind = TK_END };

const Token *p_peek(Parser *p, size_t ahead)
{
    if (p->status)
        return &THE_END;
    while (p->tokens.n <= p->at + ahead) {
        if (p->tokens.n && vec_last(&p->tokens).kind == TK_END)
            return &vec_last(&p->tokens);
        vec_push(p->a, &p->tokens, lex_next(&p->lex));
    }
    return &p->tokens.p[p->at + ahead];
}

void p_next(Parser *p)
{
    const Token *t = p_peek(p, 0);
    if (t->kind == TK_BAD)
        p_syntax(p);
    else if (t->kind != TK_END)
        p->at++;
}

int p_pos(Parser *p) { return p_peek(p, 0)->start + 1; }
int p_last_end(const Parser *p) { return p->at && p->at <= p->tokens.n ? p->tokens.p[p->at - 1].end : 0; }
bool p_is_kind(Parser *p, TokenKind kind) { return p_peek(p, 0)->kind == kind; }

bool p_is_at(Parser *p, size_t ahead, Keyword k)
{
    const Token *t = p_peek(p, ahead);
    return t->kind == TK_WORD && t->id == (int)k;
}

bool p_is(Parser *p, Keyword k) { return p_is_at(p, 0, k); }
bool p_is2(Parser *p, Keyword k1, Keyword k2) { return p_is(p, k1) && p_is_at(p, 1, k2); }

bool p_is_op_at(Parser *p, size_t ahead, int op)
{
    const Token *t = p_peek(p, ahead);
    return t->kind == TK_OP && t->id == op;
}

bool p_is_op(Parser *p, int op) { return p_is_op_at(p, 0, op); }

bool p_at_end(Parser *p) { return p_is_kind(p, TK_END) || p_is_op(p, ';'); }

/* ---- taking -------------------------------------------------------------------------------------------------- */

bool p_take(Parser *p, Keyword k)
{
    if (!p_is(p, k))
        return false;
    p->at++;
    return true;
}

bool p_take2(Parser *p, Keyword k1, Keyword k2)
{
    if (!p_is2(p, k1, k2))
        return false;
    p->at += 2;
    return true;
}

bool p_take3(Parser *p, Keyword k1, Keyword k2, Keyword k3)
{
    if (!p_is2(p, k1, k2) || !p_is_at(p, 2, k3))
        return false;
    p->at += 3;
    return true;
}

void p_need(Parser *p, Keyword k)
{
    if (!p_take(p, k))
        p_expecting(p, str_fmt(p->a, "'%s'", lex_keyword_name(k)).p);
}

bool p_take_op(Parser *p, int op)
{
    if (!p_is_op(p, op))
        return false;
    p->at++;
    return true;
}

void p_need_op(Parser *p, int op)
{
    if (!p_take_op(p, op))
        p_expecting(p, op < 128 ? str_fmt(p->a, "'%c'", op).p : NULL);
}

/* ---- leaves -------------------------------------------------------------------------------------------------- */

bool p_is_ident(Parser *p, size_t ahead)
{
    const Token *t = p_peek(p, ahead);
    int flags = t->kind == TK_WORD ? lex_keyword_flags((Keyword)t->id) : 0;

    if (t->kind == TK_QUOTED)
        return true;
    return t->kind == TK_WORD && !(flags & KW_RESERVED) && (!p_postgres(p) || !(flags & KW_RESERVED_PG));
}

bool p_is_word_like(Parser *p, const char *word)
{
    const Token *t = p_peek(p, 0);
    return t->kind == TK_WORD && str_ieq(t->text, str_c(word));
}

static Str take_text(Parser *p)
{
    const Token *t = p_peek(p, 0);
    Str s = t->text;

    if (p_trino(p) && !p->hive && t->kind == TK_QUOTED && p->lex.text.p[t->start] == '`')
        P_FAIL(p, E_SYNTAX, t->start + 1, "line %d:%d: backquoted identifiers are not supported; use double quotes to quote identifiers", p_line(p, t->start + 1), p_column(p, t->start + 1));
    p->at++;
    return s;
}

Str p_ident(Parser *p)
{
    if (p_is_ident(p, 0))
        return take_text(p);
    p_expecting(p, "<identifier>");
    return S("");
}

Str p_label(Parser *p)
{
    if (p_is_kind(p, TK_WORD) || p_is_kind(p, TK_QUOTED))
        return take_text(p);
    p_expecting(p, "<identifier>");
    return S("");
}

void p_name(Parser *p, StrVec *ret)
{
    int at = p_pos(p);

    vec_push(p->a, ret, p_ident(p));
    while (p_take_op(p, '.'))
        vec_push(p->a, ret, p_label(p));
    if (ret->n > PARSE_NAME_PARTS)
        P_FAIL(p, E_LIMIT, at, "a name of more than %d parts", PARSE_NAME_PARTS);
}

void p_ident_list(Parser *p, StrVec *ret)
{
    p_need_op(p, '(');
    do
        vec_push(p->a, ret, p_ident(p));
    while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* Adjacent literals are one: in PostgreSQL only over a line break. */
static bool string_goes_on(Parser *p)
{
    return p_is_kind(p, TK_STRING) && (p_spark(p) || str_chr(p_text(p, p_last_end(p), p_peek(p, 0)->start), '\n') >= 0);
}

bool p_last_is(const Parser *p, const char *word)
{
    return p->at && p->at <= p->tokens.n && str_ieq(p->tokens.p[p->at - 1].text, str_c(word));
}

/* Hive's escapes in a text; the lexer of the trino dialect leaves them. */
static Str hive_text(Parser *p, Str s)
{
    static const char FROM[] = "ntr0", TO[] = "\n\t\r";
    StrBuf b = sb_new(p->a);

    if (str_chr(s, '\\') < 0)
        return s;
    for (size_t i = 0; i < s.n; i++) {
        const char *at = s.p[i] == '\\' && i + 1 < s.n ? strchr(FROM, s.p[i + 1]) : NULL;
        if (s.p[i] != '\\' || i + 1 >= s.n)
            sb_byte(&b, s.p[i]);
        else if (at && *at != '0')
            sb_byte(&b, TO[at - FROM]), i++;
        else if (!at)
            sb_byte(&b, s.p[++i]);
        else
            sb_byte(&b, '\\');                                  /* an octal escape is kept as it is */
    }
    return sb_str(&b);
}

Str p_string(Parser *p)
{
    if (p->hive && (p_is_kind(p, TK_STRING) || (p_is_kind(p, TK_QUOTED) && p->lex.text.p[p_peek(p, 0)->start] == '"')))
        return hive_text(p, take_text(p));
    if (!p_is_kind(p, TK_STRING)) {
        p_expecting(p, "<string>");
        return S("");
    }
    Str s = take_text(p);
    if (!string_goes_on(p))
        return s;
    StrBuf b = sb_new(p->a);
    sb_add(&b, s);
    while (string_goes_on(p))
        sb_add(&b, take_text(p));
    return sb_str(&b);
}

int64_t p_integer(Parser *p)
{
    int64_t v = 0;
    bool negative = p_take_op(p, '-');

    if (!p_is_kind(p, TK_NUMBER) || !str_to_i64(p_peek(p, 0)->text, &v)) {
        p_expecting(p, "<integer>");
        return 0;
    }
    p->at++;
    return negative ? -v : v;
}

Str p_text(const Parser *p, int from, int to) { return str_sub(p->lex.text, (size_t)from, (size_t)to); }

Str p_raw_rest(Parser *p)
{
    size_t from = (size_t)p_last_end(p), to = from;
    Str text = p->lex.text;

    if (p->status)
        return S("");
    while (to < text.n && text.p[to] != ';')
        to++;
    Str s = str_trim(str_sub(text, from, to));
    p->tokens.n = p->at;
    p->lex.at = to;
    Token t = { .kind = TK_STRING, .text = s, .start = (int)from, .end = (int)from };
    if (s.n) {
        t.start = (int)(s.p - text.p);
        t.end = t.start + (int)s.n;
    }
    vec_push(p->a, &p->tokens, t);
    p->at++;
    return s;
}

/* ---- nesting ------------------------------------------------------------------------------------------------- */

bool p_enter(Parser *p)
{
    if (p->status)
        return false;
    if (p->depth >= LIMIT_SQL_DEPTH) {
        P_FAIL(p, E_LIMIT, p_pos(p), "the statement nests deeper than %d levels", LIMIT_SQL_DEPTH);
        return false;
    }
    p->depth++;
    return true;
}

void p_leave(Parser *p) { p->depth--; }
