/* SPDX-License-Identifier: Apache-2.0 */
/* func_regex.c - regexp_match of the postgres dialect: the groups of the first match as an array, the whole match when there are none.
 *
 * The engine gives '' for a group that took no part in the match, which must be NULL.  So the pattern is read here, as a literal: of a group
 * that may be left out and matches no empty text, '' is NULL; of a group that is in every match, '' is ''.  A group that may be left out and
 * may match an empty text cannot be told, and is refused. */
#include "sql/func_int.h"

enum { GROUPS_MAX = 9, NEST_MAX = 50 };                 /* the engine gives groups up to the ninth */

typedef struct Group { int optional, empty; } Group;
typedef struct Regex { Str p; size_t at; Group groups[GROUPS_MAX]; size_t n; int depth; const char *why; } Regex;

static int alternatives(Regex *r);

static int peek(const Regex *r, size_t ahead) { return r->at + ahead < r->p.n ? (unsigned char)r->p.p[r->at + ahead] : -1; }

static int refuse_pattern(Regex *r, const char *why)
{
    if (!r->why)
        r->why = why;
    r->at = r->p.n;
    return 1;
}

/* From behind '[' to behind its ']'. */
static void skip_class(Regex *r)
{
    r->at += peek(r, 0) == '^';
    r->at += peek(r, 0) == ']';
    while (peek(r, 0) >= 0 && peek(r, 0) != ']') {
        if (peek(r, 0) == '[' && peek(r, 1) == ':') {
            for (r->at += 2; peek(r, 0) >= 0 && !(peek(r, 0) == ':' && peek(r, 1) == ']'); r->at++)
                ;
            r->at += peek(r, 0) == ':';
        } else if (peek(r, 0) == '[') {
            refuse_pattern(r, "a class within a class");
            return;
        } else {
            r->at += peek(r, 0) == '\\';
        }
        r->at++;
    }
    r->at++;
}

/* Behind '(': what follows '?', when it does.  1: the group captures; 0: it does not; -1: flags alone, already closed. */
static int group_head(Regex *r)
{
    if (peek(r, 0) != '?')
        return 1;
    r->at++;
    r->at += peek(r, 0) == 'P' && peek(r, 1) == '<';
    if (peek(r, 0) == '<') {
        while (peek(r, 0) >= 0 && peek(r, 0) != '>')
            r->at++;
        r->at++;
        return 1;
    }
    for (; peek(r, 0) >= 0 && peek(r, 0) != ':' && peek(r, 0) != ')'; r->at++)
        if (!strchr("imsU-", peek(r, 0)))
            return refuse_pattern(r, "this kind of group");
    int closed = peek(r, 0) == ')';
    r->at++;
    return closed ? -1 : 0;
}

/* May it match an empty text? */
static int group(Regex *r)
{
    int captures = group_head(r);
    size_t own = r->n;

    if (captures < 0)
        return 1;
    if (captures && ++r->n > GROUPS_MAX)
        return refuse_pattern(r, "more than nine groups");
    if (++r->depth > NEST_MAX)
        return refuse_pattern(r, "a pattern nested this deeply");
    int empty = alternatives(r);
    r->depth--;
    r->at++;
    if (captures && !r->why)
        r->groups[own].empty = empty;
    return empty;
}

static int escape(Regex *r)
{
    int c = peek(r, 0);

    if (c >= '1' && c <= '9')
        return refuse_pattern(r, "a back reference");
    if (c >= 0 && strchr("QECKGX", c))
        return refuse_pattern(r, "this escape");
    r->at++;
    if (c >= 0 && strchr("pPx", c) && peek(r, 0) == '{')
        while (peek(r, 0) >= 0 && peek(r, 0) != '}')
            r->at++;
    r->at += c >= 0 && strchr("pPx", c) != NULL;        /* the letter of \pL, a digit of \x41, or the brace */
    return c >= 0 && strchr("bBAz", c) != NULL;
}

static int atom(Regex *r)
{
    int c = peek(r, 0);

    r->at++;
    if (c == '(')
        return group(r);
    if (c == '\\')
        return escape(r);
    if (c == '[')
        skip_class(r);
    return c == '^' || c == '$';
}

/* The quantifier that stands here, if any: may the atom before it be left out? */
static int may_be_left_out(Regex *r)
{
    int c = peek(r, 0), none = c == '?' || c == '*';

    if (c == '{') {
        size_t digits = 0;
        none = 1;
        for (r->at++; peek(r, 0) >= '0' && peek(r, 0) <= '9'; r->at++, digits++)
            none &= peek(r, 0) == '0';
        if (!digits)
            return refuse_pattern(r, "a brace that is no quantifier");
        while (peek(r, 0) >= 0 && peek(r, 0) != '}')
            r->at++;
    } else if (!none && c != '+') {
        return 0;
    }
    r->at++;
    if (peek(r, 0) == '+')
        return refuse_pattern(r, "a possessive quantifier");
    r->at += peek(r, 0) == '?';
    return none;
}

static void make_optional(Regex *r, size_t from)
{
    for (size_t i = from; i < r->n && i < GROUPS_MAX; i++)
        r->groups[i].optional = 1;
}

static int sequence(Regex *r)
{
    int empty = 1;

    while (!r->why && peek(r, 0) >= 0 && peek(r, 0) != '|' && peek(r, 0) != ')') {
        size_t from = r->n;
        int nothing = atom(r);
        while (peek(r, 0) >= 0 && strchr("?*+{", peek(r, 0)))
            if (may_be_left_out(r)) {
                make_optional(r, from);
                nothing = 1;
            }
        empty &= nothing;
    }
    return empty;
}

static int alternatives(Regex *r)
{
    size_t from = r->n;
    int empty = sequence(r), several = 0;

    while (!r->why && peek(r, 0) == '|') {
        several = 1;
        r->at++;
        empty |= sequence(r);
    }
    if (several)
        make_optional(r, from);
    return empty;
}

static Status read_pattern(FuncArgs *c, Regex *ret)
{
    TRY(func_constant(c, 1, &ret->p));
    alternatives(ret);
    for (size_t i = 0; i < ret->n && !ret->why; i++)
        if (ret->groups[i].optional && ret->groups[i].empty)
            ret->why = "a group that may be left out and may match an empty text";
    if (ret->why)
        return BIND_FAIL(c->b, c->e->args.p[1]->position, "0A000", "regexp_match does not support %s", ret->why);
    return OK;
}

/* \\d, \\s and \\w mean ASCII to the engine, and Unicode here: the members of a class that says so. */
static const char *unicode_class(char c)
{
    switch (c) {
    case 'd': case 'D': return "\\p{Nd}";
    case 's': case 'S': return "\\t\\n\\x0B\\f\\r \\x{85}\\p{Z}";
    case 'w': case 'W':
        return "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200C}\\x{200D}\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";
    default: return NULL;
    }
}

/* The escape k in the engine's words. */
static void add_escape(StrBuf *b, char k, int in_class)
{
    const char *members = unicode_class(k);
    int inverted = k == 'D' || k == 'S' || k == 'W';

    if (!members)
        sb_fmt(b, "\\%c", k);
    else if (k == 'D')
        sb_addc(b, "\\P{Nd}");
    else if (in_class)
        sb_addc(b, members);
    else
        sb_fmt(b, "[%s%s]", inverted ? "^" : "", members);
}

/* A pattern that read_pattern has passed, as the engine is to have it; NULL, or why there is none.  words: it asks for ends of words, which the
 * engine finds in ASCII alone. */
static const char *engine_pattern(Arena *a, Str p, Str *ret, int *words)
{
    StrBuf b = sb_new(a);
    size_t class_from = 0;                              /* behind the '[' and '^', 0: outside */

    for (size_t i = 0; i < p.n; i++) {
        char c = p.p[i], k = i + 1 < p.n ? p.p[i + 1] : 0;
        if (c == '\\' && k) {
            if (class_from && (k == 'S' || k == 'W'))
                return "\\S and \\W in a class";
            *words |= k == 'b' || k == 'B';
            add_escape(&b, k, class_from != 0);
            i++;
            continue;
        }
        if (c == '[' && class_from && k == ':') {
            for (; i < p.n && !(p.p[i] == ':' && i + 1 < p.n && p.p[i + 1] == ']'); i++)
                sb_byte(&b, p.p[i]);
            sb_addc(&b, ":]");
            i++;
            continue;
        }
        if (c == '[' && !class_from)
            class_from = i + 1 + (k == '^');
        else if (c == ']' && class_from && i > class_from)
            class_from = 0;
        sb_byte(&b, c);
    }
    *ret = sb_str(&b);
    return NULL;
}

static Status read_flags(FuncArgs *c, Str *ret)
{
    *ret = S("c");
    if (c->e->args.n < 3)
        return OK;
    TRY(func_constant(c, 2, ret));
    for (size_t i = 0; i < ret->n; i++)
        if (ret->p[i] != 'i' && ret->p[i] != 'c')
            return BIND_FAIL(c->b, c->e->args.p[2]->position, "22023", "invalid regular expression flag: %c", ret->p[i]);
    *ret = ret->n && ret->p[ret->n - 1] == 'i' ? S("i") : S("c");
    c->e->args.n = 2;
    return OK;
}

static Status match(FuncArgs *c)
{
    StrBuf b = sb_new(c->b->a);
    Regex r = { .n = 0 };
    Str flags, engine;
    int words = 0;

    TRY(read_pattern(c, &r));
    r.why = engine_pattern(c->b->a, r.p, &engine, &words);
    if (r.why)
        return BIND_FAIL(c->b, c->e->args.p[1]->position, "0A000", "regexp_match does not support %s", r.why);
    c->e->args.p[1] = bx_str(c->b->a, engine);
    TRY(read_flags(c, &flags));
    sb_addc(&b, "(CASE");
    if (words)
        sb_addc(&b, " WHEN strlen($1) > length($1) THEN CAST(error('regexp_match does not support ends of words in a text that is not ASCII SQLSTATE: 0A000') AS $T)");
    sb_fmt(&b, " WHEN regexp_matches($1, $2, '" STR_FMT "') THEN [", STR_ARG(flags));
    for (size_t i = r.n ? 1 : 0; i <= r.n; i++)
        sb_fmt(&b, r.n && r.groups[i - 1].optional ? "%snullif(regexp_extract($1, $2, %zu, '" STR_FMT "'), '')" : "%sregexp_extract($1, $2, %zu, '" STR_FMT "')", i > 1 ? ", " : "", i, STR_ARG(flags));
    sb_addc(&b, "] END)");
    return func_with(c, sb_str(&b).p, ty_list(c->b->a, ty(DT_STRING)));
}

/* Of a pattern that is not a literal, and one that the engine cannot be told, its own meaning of letters is left: ASCII. */
Expr *regex_unicode(Bind *b, Expr *pattern)
{
    const Value *v = &pattern->value;
    int words = 0;
    Str engine;

    if (pattern->kind != EX_LITERAL || v->kind != DT_STRING || str_chr(v->string, '\\') < 0 || engine_pattern(b->a, v->string, &engine, &words))
        return pattern;
    Expr *e = bx_str(b->a, engine);
    e->position = pattern->position;
    return e;
}

static Status replace(FuncArgs *c)
{
    c->e->args.p[1] = regex_unicode(c->b, c->e->args.p[1]);
    return func_done(c, ty(DT_STRING));
}

static const FuncRow rows[] = { { "regexp_match", FD_POSTGRES, match }, { "regexp_replace", FD_POSTGRES, replace } };

FuncWorker func_regex(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
