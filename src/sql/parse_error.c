/* SPDX-License-Identifier: Apache-2.0 */
/* parse_error.c - how a syntax error reads in each dialect (glue.md 2.9 E4; PostgreSQL's scanner and grammar).
 *
 * Spark: [PARSE_SYNTAX_ERROR] with line and 0-based column within the statement; the detail shows the statement and a
 * caret.  PostgreSQL: syntax error at or near "x".  Trino: line 1:8: mismatched input 'x'. Expecting: 'y', with the one thing that this
 * parser expected there.  Err.position is set in all. */
#include "sql/parse_int.h"

#include <stdio.h>

enum { SHOWN_STATEMENT = 700, SHOWN_LINE = 200 };

static Str near_text(const Parser *p, const Token *t);
static void syntax_spark(Parser *p, const Token *t);
static void syntax_postgres(Parser *p, const Token *t);
static void syntax_trino(Parser *p, const Token *t);

void p_raise(Parser *p, Status code, const char *origin, int position, const char *fmt, ...)
{
    char text[LIMIT_ERROR_TEXT];
    va_list ap;

    if (p->status)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    p->status = error_set(p->err, code, origin, "%s", text);
    p->err->position = position;
}

void p_syntax(Parser *p)
{
    if (p->status)
        return;
    p_raise_syntax(p, p_peek(p, 0));
}

void p_raise_syntax(Parser *p, const Token *t)
{
    if (p->status)
        return;
    if (p_spark(p))
        syntax_spark(p, t);
    else if (p_trino(p))
        syntax_trino(p, t);
    else
        syntax_postgres(p, t);
    p->err->position = t->start + 1;
}

static Str near_text(const Parser *p, const Token *t)
{
    Str s = p_text(p, t->start, t->end);
    return s.n <= 64 ? s : str_cat(p->a, str_sub(s, 0, 61), S("..."));
}

static void line_column(const Parser *p, int offset, int *line, int *column)
{
    *line = 1;
    *column = 0;
    for (int i = p->base; i < offset && (size_t)i < p->lex.text.n; i++) {
        (*column)++;
        if (p->lex.text.p[i] == '\n') {
            (*line)++;
            *column = 0;
        }
    }
}

/* The end of the present statement: the next semicolon is good enough for showing. */
static int shown_end(const Parser *p, int from)
{
    int i = from;
    while ((size_t)i < p->lex.text.n && p->lex.text.p[i] != ';')
        i++;
    return i;
}

/* "== SQL ==", the statement with dashes and a caret below the offending line. */
static void show_statement(Parser *p, int offset, int column)
{
    StrBuf b = sb_new(p->a);
    int end = shown_end(p, offset), line_end = offset, from = p->base;

    while (line_end < end && p->lex.text.p[line_end] != '\n')
        line_end++;
    if (end - from > SHOWN_STATEMENT || column > SHOWN_LINE) {      /* too long: the neighbourhood only */
        from = offset - column;
        if (column > SHOWN_LINE)
            from = offset - SHOWN_LINE;
        column = offset - from;
        end = line_end = line_end > offset + SHOWN_LINE ? offset + SHOWN_LINE : line_end;
    }
    sb_addc(&b, "== SQL ==\n");
    sb_add(&b, p_text(p, from, line_end));
    sb_byte(&b, '\n');
    for (int i = 0; i < column; i++)
        sb_byte(&b, '-');
    sb_addc(&b, "^^^");
    sb_add(&b, p_text(p, line_end, end));
    error_detail(p->err, "%s", sb_str(&b).p);
}

static void syntax_spark(Parser *p, const Token *t)
{
    int line, column;
    Str where = t->kind == TK_END ? S("end of input") : str_fmt(p->a, "'" STR_FMT "'", STR_ARG(near_text(p, t)));
    Str why = t->kind == TK_BAD ? str_fmt(p->a, ": " STR_FMT, STR_ARG(t->text)) : S("");

    line_column(p, t->start, &line, &column);
    p->status = FAIL(p->err, E_SYNTAX, "[PARSE_SYNTAX_ERROR] Syntax error at or near " STR_FMT STR_FMT ". SQLSTATE: 42601 (line %d, pos %d)",
                     STR_ARG(where), STR_ARG(why), line, column);
    show_statement(p, t->start, column);
}

static void syntax_postgres(Parser *p, const Token *t)
{
    if (t->kind == TK_END)
        p->status = FAIL(p->err, E_SYNTAX, "syntax error at end of input");
    else if (t->kind == TK_BAD)
        p->status = FAIL(p->err, E_SYNTAX, STR_FMT, STR_ARG(t->text));
    else
        p->status = FAIL(p->err, E_SYNTAX, "syntax error at or near \"" STR_FMT "\"", STR_ARG(near_text(p, t)));
}

/* ---- Trino ------------------------------------------------------------------------------------------------------- */

int p_line(const Parser *p, int position)
{
    int line, column;
    line_column(p, position - 1, &line, &column);
    return line;
}

/* 1-based. */
int p_column(const Parser *p, int position)
{
    int line, column;
    line_column(p, position - 1, &line, &column);
    return column + 1;
}

static void syntax_trino(Parser *p, const Token *t)
{
    int line = p_line(p, t->start + 1), column = p_column(p, t->start + 1);
    Str what = t->kind == TK_END ? S("<EOF>") : near_text(p, t);

    if (t->kind == TK_BAD)
        p->status = FAIL(p->err, E_SYNTAX, "line %d:%d: " STR_FMT, line, column, STR_ARG(t->text));
    else
        p->status = FAIL(p->err, E_SYNTAX, "line %d:%d: mismatched input '" STR_FMT "'. Expecting: %s", line, column, STR_ARG(what),
                         p->expecting ? p->expecting : "<EOF>");
}

void p_expecting(Parser *p, const char *what)
{
    p->expecting = what;
    p_syntax(p);
}
