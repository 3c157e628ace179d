/* SPDX-License-Identifier: Apache-2.0 */
/* lex.c - text to tokens, one at a time.
 *
 * The dialects share the shape of words, numbers and comments; they differ in quotes and operators.  PostgreSQL's
 * operators are read by its own rule (longest run of operator characters), Spark's and Trino's from lists.
 * Invariants: (1) a token never reaches beyond the text; (2) every call moves forward, but at the end;
 * (3) what cannot be read becomes TK_BAD, an error only if the parser gets there (SET takes raw text). */
#include "sql/parse_int.h"

#include <stdio.h>

static const struct { const char *text; int code; } OPERATORS[] = {
    { "<=>", O_NULLSAFE }, { ">>>", O_USHR }, { "->>", O_ARROW2 }, { "#>>", O_HASH_ARROW2 }, { "!~~*", O_NOT_ILIKE },
    { "!~~", O_NOT_LIKE }, { "~~*", O_ILIKE }, { "!~*", O_NOT_MATCH_I }, { "<=", O_LE }, { ">=", O_GE }, { "<>", O_NE },
    { "!=", O_NE }, { "==", O_EQ2 }, { "||", O_CONCAT }, { "::", O_CAST }, { "->", O_ARROW }, { "#>", O_HASH_ARROW },
    { "=>", O_FAT_ARROW }, { "<<", O_SHL }, { ">>", O_SHR }, { "@>", O_CONTAINS }, { "<@", O_CONTAINED }, { "&&", O_OVERLAP },
    { "~~", O_LIKE }, { "~*", O_MATCH_I }, { "!~", O_NOT_MATCH },
};
/* Spark has these of the operators above; the rest of its operators are single characters. */
static const char *const TRINO_OPERATORS[] = { "<=", ">=", "<>", "!=", "||", "->", "=>" };
static const char *const SPARK_OPERATORS[] = { "<=>", ">>>", "<=", ">=", "<>", "!=", "==", "||", "::", "->", "=>", "<<", ">>" };

static int peek(const Lexer *l, size_t ahead);
static bool skip_blank(Lexer *l, Token *bad);
static bool is_word_start(int c);
static bool is_word(int c);
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static Token word(Lexer *l);
static Token number(Lexer *l);
static Token operator_listed(Lexer *l);
static Token operator_postgres(Lexer *l);
static bool string_prefix(const Lexer *l);

Token lex_next(Lexer *l)
{
    Token bad;

    if (!skip_blank(l, &bad))
        return bad;
    int c = peek(l, 0);
    if (c < 0)
        return (Token){ .kind = TK_END, .start = (int)l->at, .end = (int)l->at };
    if (c == '\'' || string_prefix(l))
        return lex_string(l);
    if (c == '"')
        return l->dialect == DIALECT_SPARK ? lex_string(l) : lex_quoted(l, '"');
    if (c == '`' && l->dialect != DIALECT_POSTGRES)          /* Athena: in Hive-style statements only; the parser looks */
        return lex_quoted(l, '`');
    if ((c == 'x' || c == 'X') && peek(l, 1) == '\'')
        return lex_bytes(l);
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1))))
        return number(l);
    if (is_word_start(c))
        return word(l);
    if (c == '$')
        return lex_dollar(l);
    return l->dialect == DIALECT_POSTGRES ? operator_postgres(l) : operator_listed(l);
}

Token lex_bad(const Lexer *l, size_t start, const char *fmt, ...)
{
    char text[160];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return (Token){ .kind = TK_BAD, .start = (int)start, .end = (int)min_size(start + 1, l->text.n),
                    .text = str_dup(l->a, str_c(text)) };
}

static int peek(const Lexer *l, size_t ahead)
{
    return l->at + ahead < l->text.n ? (unsigned char)l->text.p[l->at + ahead] : -1;
}

/* At a block comment: to its end, comments inside it included. */
static bool skip_comment(Lexer *l, Token *bad)
{
    size_t start = l->at;
    int depth = 0;

    do {
        if (peek(l, 0) == '/' && peek(l, 1) == '*') {
            depth++;
            l->at += 2;
        } else if (peek(l, 0) == '*' && peek(l, 1) == '/') {
            depth--;
            l->at += 2;
        } else if (peek(l, 0) < 0) {
            *bad = lex_bad(l, start, "unterminated /* comment");
            return false;
        } else {
            l->at++;
        }
    } while (depth);
    return true;
}

static bool skip_blank(Lexer *l, Token *bad)
{
    for (;;) {
        int c = peek(l, 0);
        if (is_space(c)) {
            l->at++;
        } else if (c == '-' && peek(l, 1) == '-') {
            while (peek(l, 0) >= 0 && peek(l, 0) != '\n')
                l->at++;
        } else if (c == '/' && peek(l, 1) == '*') {
            if (!skip_comment(l, bad))
                return false;
        } else {
            return true;
        }
    }
}

static bool is_word_start(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80; }
static bool is_word(int c) { return is_word_start(c) || is_digit(c); }

/* r'…' in Spark, E'…' in PostgreSQL, U&'…' in Trino. B'…' and N'…' are not known: the letter becomes a word, then an error. */
static bool string_prefix(const Lexer *l)
{
    int c = peek(l, 0), quote = peek(l, 1);
    if (l->dialect == DIALECT_SPARK)
        return (c == 'r' || c == 'R') && (quote == '\'' || quote == '"');
    if (l->dialect == DIALECT_TRINO)
        return (c == 'u' || c == 'U') && quote == '&' && peek(l, 2) == '\'';
    return (c == 'e' || c == 'E') && quote == '\'';
}

static Token word(Lexer *l)
{
    size_t start = l->at;

    while (is_word(peek(l, 0)) || (l->dialect == DIALECT_POSTGRES && peek(l, 0) == '$'))
        l->at++;
    Str text = str_sub(l->text, start, l->at);
    Keyword k = lex_keyword(text);
    if (l->dialect != DIALECT_SPARK)
        text = str_lower(l->a, text);
    return (Token){ .kind = TK_WORD, .id = (int)k, .start = (int)start, .end = (int)l->at, .text = text };
}

static void digits(Lexer *l)
{
    while (is_digit(peek(l, 0)))
        l->at++;
}

static void exponent(Lexer *l)
{
    size_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';
    if ((peek(l, 0) != 'e' && peek(l, 0) != 'E') || !is_digit(peek(l, 1 + sign)))
        return;
    l->at += 1 + sign;
    digits(l);
}

/* Spark's suffixes: L S Y D F BD. */
static void suffix(Lexer *l)
{
    int c = peek(l, 0) | 0x20, d = peek(l, 1);
    if (peek(l, 0) < 0)
        return;
    if (c == 'b' && d >= 0 && (d | 0x20) == 'd' && !is_word(peek(l, 2)))
        l->at += 2;
    else if (strchr("lsydf", c) && !is_word(d))
        l->at++;
}

static Token number(Lexer *l)
{
    size_t start = l->at;

    digits(l);
    bool dot = peek(l, 0) == '.' && peek(l, 1) != '.';
    if (dot) {
        l->at++;
        digits(l);
    }
    exponent(l);
    if (l->dialect == DIALECT_SPARK)
        suffix(l);
    if (is_word(peek(l, 0)) && l->dialect == DIALECT_SPARK && !dot) {      /* 1abc is a name in Spark */
        l->at = start;
        return word(l);
    }
    if (is_word(peek(l, 0)))
        return lex_bad(l, start, "trailing junk after numeric literal at or near \"" STR_FMT "\"",
                       STR_ARG(str_sub(l->text, start, l->at + 1)));
    return (Token){ .kind = TK_NUMBER, .start = (int)start, .end = (int)l->at, .text = str_sub(l->text, start, l->at) };
}

static Token op_token(Lexer *l, int code, size_t n)
{
    Token t = { .kind = TK_OP, .id = code, .start = (int)l->at, .end = (int)(l->at + n), .text = str_sub(l->text, l->at, l->at + n) };
    l->at += n;
    return t;
}

static int op_code(Str text)
{
    for (size_t i = 0; i < COUNT_OF(OPERATORS); i++)
        if (str_eq(text, str_c(OPERATORS[i].text)))
            return OPERATORS[i].code;
    return text.n == 1 ? (unsigned char)text.p[0] : O_OTHER;
}

static Token single(Lexer *l)
{
    int c = peek(l, 0);
    if (c > ' ' && c < 0x7F && strchr("()[]{},;.:+-*/<>=~!@#%^&|?`", c))
        return op_token(l, c, 1);
    Token bad = lex_bad(l, l->at, "unexpected character 0x%02x", (unsigned)c);
    l->at++;
    return bad;
}

static Token operator_listed(Lexer *l)
{
    bool spark = l->dialect == DIALECT_SPARK;
    const char *const *list = spark ? SPARK_OPERATORS : TRINO_OPERATORS;
    size_t n = spark ? COUNT_OF(SPARK_OPERATORS) : COUNT_OF(TRINO_OPERATORS);

    for (size_t i = 0; i < n; i++) {
        Str op = str_c(list[i]);
        if (str_starts(str_from(l->text, l->at), op))
            return op_token(l, op_code(op), op.n);
    }
    return single(l);
}

/* PostgreSQL's rule: the longest run of operator characters without the start of a comment; it may end in + or -
 * only if it holds one of ~ ! @ # % ^ & | ` ? (so that a*-b reads as two operators). */
static Token operator_postgres(Lexer *l)
{
    size_t n = 0;
    bool special = false;

    if (peek(l, 0) == ':' && peek(l, 1) == ':')
        return op_token(l, O_CAST, 2);
    for (; peek(l, n) > 0 && strchr("+-*/<>=~!@#%^&|`?", peek(l, n)); n++) {
        if (n && ((peek(l, n) == '-' && peek(l, n + 1) == '-') || (peek(l, n) == '/' && peek(l, n + 1) == '*')))
            break;
        special = special || strchr("~!@#%^&|`?", peek(l, n));
    }
    if (n < 2)
        return single(l);
    while (n > 1 && !special && (peek(l, n - 1) == '+' || peek(l, n - 1) == '-'))
        n--;
    return op_token(l, op_code(str_sub(l->text, l->at, l->at + n)), n);
}
