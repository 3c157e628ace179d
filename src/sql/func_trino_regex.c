/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_regex.c - Trino's regular expressions (Java's) by the engine's (RE2).
 *
 * Patterns that both read alike pass; what only Java has (look-around, back references, possessive quantifiers), and what the two read
 * differently, is refused while binding.  So the pattern must be a literal. */
#include "sql/func_int.h"

enum { SHORT_REPLACEMENT = 32 };

/* Look-around, atomic groups, back references, possessive quantifiers, and classes within classes. */
static const char *only_java(Str p)
{
    int in_class = 0;

    for (size_t i = 0; i < p.n; i++) {
        char c = p.p[i], next = i + 1 < p.n ? p.p[i + 1] : 0;
        if (c == '\\') {
            if (next >= '1' && next <= '9')
                return "back references";
            if (next && strchr("GZRXhHvVkpPcNeE", next) && !(next == 'p' || next == 'P'))
                return "this escape";
            i++;
        } else if (in_class) {
            if (c == '[' && next != ':')
                return "classes within classes";
            if (c == '&' && next == '&')
                return "intersections of classes";
            in_class = c != ']';
        } else if (c == '[') {
            in_class = 1;
            i += next == '^';
            i += i + 1 < p.n && p.p[i + 1] == ']';
        } else if (c == '(' && next == '?') {
            char k = i + 2 < p.n ? p.p[i + 2] : 0, m = i + 3 < p.n ? p.p[i + 3] : 0;
            if (k == '=' || k == '!' || k == '>' || (k == '<' && (m == '=' || m == '!')))
                return "look-around and atomic groups";
            if (k && strchr("dux", k))
                return "this flag";
        } else if ((c == '*' || c == '+' || c == '?' || c == '}') && next == '+') {
            return "possessive quantifiers";
        } else if (c == '$' && next && next != ')' && next != '|') {
            return "$ inside of a pattern";
        }
    }
    return NULL;
}

/* Is capturing group n part of every match? Not when it, or a group around it, is optional or one of alternatives. */
static bool is_certain(Str p, int64_t n)
{
    struct { int64_t group; bool alternatives; } stack[64] = { { 0, false } };
    bool optional[64] = { 0 }, alternative[64] = { 0 };
    int64_t parent[64] = { 0 }, next = 0;
    size_t depth = 0;

    if (n == 0)
        return true;
    for (size_t i = 0; i < p.n; i++) {
        char c = p.p[i];
        if (c == '\\') {
            i++;
        } else if (c == '[') {
            for (i += i + 1 < p.n && p.p[i + 1] == '^' ? 2 : 1, i += i < p.n && p.p[i] == ']'; i < p.n && p.p[i] != ']'; i++)
                i += p.p[i] == '\\';
        } else if (c == '(') {
            if (depth + 1 >= COUNT_OF(stack) || next + 1 >= (int64_t)COUNT_OF(optional))
                return false;
            bool named = i + 2 < p.n && p.p[i + 1] == '?' && (p.p[i + 2] == '<' || p.p[i + 2] == 'P'), plain = !(i + 1 < p.n && p.p[i + 1] == '?');
            depth++;
            if (!plain && !named)
                return false;                                          /* groups that do not capture are not followed */
            stack[depth].group = ++next;
            parent[next] = stack[depth - 1].group;
        } else if (c == '|') {
            alternative[stack[depth].group] = true;
        } else if (c == ')') {
            char q = i + 1 < p.n ? p.p[i + 1] : 0;
            if (!depth)
                return false;
            optional[stack[depth].group] = q == '?' || q == '*' || q == '{';
            depth--;
        }
    }
    if (n > next)
        return false;
    for (int64_t g = n; g; g = parent[g])
        if (optional[g] || alternative[parent[g]])
            return false;
    return true;
}

/* \\w, \\d, \\s and \\b mean ASCII to the engine.  Texts in which that would matter are refused when they come. */
static const char *ascii_only(Str p)
{
    bool words = false, digits = false, blanks = false;

    for (size_t i = 0; i + 1 < p.n; i++) {
        if (p.p[i] != '\\')
            continue;
        char k = p.p[++i];
        words |= k == 'w' || k == 'W' || k == 'b' || k == 'B';
        digits |= k == 'd' || k == 'D';
        blanks |= k == 's' || k == 'S';
    }
    if (words)
        return "[^\\x00-\\x7F]";
    if (digits && blanks)
        return "[^\\PN\\x00-\\x7F]|[^\\PZ\\x00-\\x7F]|\\x{85}";
    return digits ? "[^\\PN\\x00-\\x7F]" : blanks ? "[^\\PZ\\x00-\\x7F]|\\x{85}" : NULL;
}

static Status pattern(FuncArgs *c, Str *ret)
{
    static const char guard[] = "(CASE WHEN strlen($1) > length($1) AND regexp_matches($1, '%s') THEN firn_error('NOT_SUPPORTED: this pattern over a text that is not ASCII SQLSTATE: 0A000') ELSE $1 END)";

    if (!trino_text_arg(c, 1, ret))
        return trino_refuse(c, "the pattern must be a literal");
    const char *why = only_java(*ret), *beyond = ascii_only(*ret);
    if (why)
        return trino_refuse(c, "%s in patterns are not supported", why);
    if (beyond)
        c->e->args.p[0] = bx_call(c->b->a, "ascii_only", str_fmt(c->b->a, guard, beyond).p, ty(DT_STRING), c->e->args.p[0], NULL);
    return OK;
}

static Status group(FuncArgs *c, Str p, int64_t *ret)
{
    const Expr *e = c->e->args.n > 2 ? c->e->args.p[2] : NULL;

    *ret = 0;
    if (!e)
        return OK;
    while (e->kind == EX_CAST)
        e = e->args.p[0];
    if (e->kind != EX_LITERAL || e->value.kind == DT_NULL)
        return trino_refuse(c, "the group must be a literal");
    *ret = e->value.integer;
    if (*ret < 0)
        return trino_bad(c, "Group cannot be negative");
    if (!is_certain(p, *ret))
        return trino_refuse(c, "a group that need not take part in a match, or does not exist, is not supported");
    return OK;
}

static Status like(FuncArgs *c)
{
    Str p;
    TRY(pattern(c, &p));
    return func_with(c, "regexp_matches($1, $2)", ty(DT_BOOL));
}

static Status extract(FuncArgs *c)
{
    int64_t n;
    Str p;

    TRY(pattern(c, &p));
    TRY(group(c, p, &n));
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN regexp_matches($1, $2) THEN regexp_extract($1, $2, %d) END)", (int)n).p, ty(DT_STRING));
}

static Status extract_all(FuncArgs *c)
{
    int64_t n;
    Str p;

    TRY(pattern(c, &p));
    TRY(group(c, p, &n));
    return func_with(c, str_fmt(c->b->a, "regexp_extract_all($1, $2, %d)", (int)n).p, ty_list(c->b->a, ty(DT_STRING)));
}

static Status count(FuncArgs *c)
{
    Str p;
    TRY(pattern(c, &p));
    return func_with(c, "len(regexp_extract_all($1, $2))", ty(DT_INT64));
}

static Status split(FuncArgs *c)
{
    Str p;
    TRY(pattern(c, &p));
    return func_with(c, "regexp_split_to_array($1, $2)", ty_list(c->b->a, ty(DT_STRING)));
}

/* $1 becomes \1, a backslash takes the next character as it is. */
static Status replacement(FuncArgs *c, Str *ret)
{
    StrBuf b = sb_new(c->b->a);
    Str r = S("");

    if (c->e->args.n > 2 && !trino_text_arg(c, 2, &r))
        return trino_refuse(c, "the replacement must be a literal");
    for (size_t i = 0; i < r.n; i++) {
        char next = i + 1 < r.n ? r.p[i + 1] : 0;
        if (r.p[i] == '$') {
            if (next < '0' || next > '9' || (i + 2 < r.n && r.p[i + 2] >= '0' && r.p[i + 2] <= '9'))
                return trino_refuse(c, "only $0 to $9 are supported in the replacement");
            sb_byte(&b, '\\');
            sb_byte(&b, next);
            i++;
        } else if (r.p[i] == '\\') {
            if (!next)
                return trino_bad(c, "Invalid replacement sequence");
            sb_addc(&b, next == '\\' ? "\\\\" : (char[]){ next, 0 });
            i++;
        } else {
            sb_byte(&b, r.p[i]);
        }
    }
    *ret = sb_str(&b);
    return OK;
}

static Status replace(FuncArgs *c)
{
    Str p, r;

    TRY(pattern(c, &p));
    if (c->e->args.n > 2 && c->e->args.p[2]->kind == EX_LAMBDA)
        return trino_refuse(c, "a function as the replacement is not supported");
    TRY(replacement(c, &r));
    c->e->args.n = 2;
    vec_push(c->b->a, &c->e->args, bx_str(c->b->a, r));
    if (r.n <= SHORT_REPLACEMENT)
        return func_with(c, "regexp_replace($1, $2, $3, 'g')", ty(DT_STRING));
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN strlen($1) * %zu > 268435456 THEN firn_error('EXCEEDED_LOCAL_MEMORY_LIMIT: the result of the function would be too large SQLSTATE: 54000') "
                     "ELSE regexp_replace($1, $2, $3, 'g') END)", r.n).p, ty(DT_STRING));
}

static const FuncRow rows[] = {
    { "regexp_like", FD_TRINO, like }, { "regexp_extract", FD_TRINO, extract }, { "regexp_extract_all", FD_TRINO, extract_all },
    { "regexp_count", FD_TRINO, count }, { "regexp_split", FD_TRINO, split }, { "regexp_replace", FD_TRINO, replace },
};

FuncWorker func_trino_regex(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
