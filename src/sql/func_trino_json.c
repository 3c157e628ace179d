/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_json.c - Trino's JSON functions with paths of the form $.a[0]["b c"]; the path must be a literal.
 *
 * A text that is no JSON gives NULL, as there.  JSON values (not scalars taken out of a text) are written as the engine writes them: 1.50 as 1.5. */
#include "sql/func_int.h"

/* $.a.b[0]["c d"] as the engine's $."a"."b"[0]."c d", in quotes for SQL. */
static Status path(FuncArgs *c, Str *ret)
{
    StrBuf b = sb_new(c->b->a);
    size_t i = 1;
    Str p;

    if (!trino_text_arg(c, 1, &p))
        return trino_refuse(c, "the path must be a literal");
    if (!p.n || p.p[0] != '$')
        return trino_refuse(c, "a path begins with $");
    sb_byte(&b, '$');
    while (i < p.n) {
        bool bracket = p.p[i] == '[', quoted = bracket && i + 1 < p.n && (p.p[i + 1] == '"' || p.p[i + 1] == '\'');
        size_t from = i + 1 + quoted, to = from;
        if (!bracket && p.p[i] != '.')
            return trino_bad(c, "Invalid JSON path: '" STR_FMT "'", STR_ARG(str_sub(p, 0, 100)));
        while (to < p.n && (quoted ? p.p[to] != p.p[from - 1] : bracket ? p.p[to] != ']' : p.p[to] != '.' && p.p[to] != '['))
            to++;
        Str key = str_sub(p, from, to);
        i = to + (size_t)bracket + quoted;
        if (!key.n || i > p.n || (bracket && p.p[i - 1] != ']') || str_chr(key, '"') >= 0 || str_chr(key, '\\') >= 0 || str_eq(key, S("*")) || (!bracket && str_chr(key, '*') >= 0))
            return trino_refuse(c, "path '" STR_FMT "' is not supported", STR_ARG(str_sub(p, 0, 100)));
        int64_t n;
        if (bracket && !quoted && (!str_to_i64(key, &n) || n < 0))
            return trino_refuse(c, "path '" STR_FMT "' is not supported", STR_ARG(str_sub(p, 0, 100)));
        sb_fmt(&b, bracket && !quoted ? "[" STR_FMT "]" : ".\"" STR_FMT "\"", STR_ARG(key));
    }
    *ret = sb_str(&b);
    return OK;
}

/* Texts that are no JSON are NULL. */
static Status as_json(FuncArgs *c)
{
    Expr **x = &c->e->args.p[0];

    if (ty_unknown(&(*x)->type))
        bind_to(c->b, x, ty(DT_JSON));
    if ((*x)->type.kind == DT_JSON)
        return OK;
    if (!ty_is_text(&(*x)->type))
        return trino_mismatch(c);
    *x = bx_call(c->b->a, "as_json", "CAST((CASE WHEN json_valid($1) THEN $1 END) AS JSON)", ty(DT_JSON), *x, NULL);
    return OK;
}

static Status with_path(FuncArgs *c, const char *engine, DataType t)
{
    Str p;

    TRY(as_json(c));
    TRY(path(c, &p));
    c->e->args.p[1] = bx_str(c->b->a, p);
    return func_with(c, engine, t);
}

static Status extract(FuncArgs *c) { return with_path(c, "json_extract($1, $2)", ty(DT_JSON)); }

/* By our own function, which leaves numbers as they are written. */
static Status extract_scalar(FuncArgs *c)
{
    Str p;

    if (ty_unknown(func_arg(c, 0)))
        bind_to(c->b, &c->e->args.p[0], ty(DT_STRING));
    if (func_arg(c, 0)->kind != DT_JSON && !ty_is_text(func_arg(c, 0)))
        return trino_mismatch(c);
    TRY(path(c, &p));
    c->e->args.p[1] = bx_str(c->b->a, p);
    return func_with(c, "firn_json_scalar(CAST($1 AS VARCHAR), $2)", ty(DT_STRING));
}

static Status size(FuncArgs *c)
{
    return with_path(c, "(CASE json_type($1, $2) WHEN 'ARRAY' THEN CAST(json_array_length($1, $2) AS BIGINT) WHEN 'OBJECT' THEN len(json_keys($1, $2)) WHEN NULL THEN NULL "
                     "ELSE CASE WHEN json_type($1, $2) IS NOT NULL THEN 0 END END)", ty(DT_INT64));
}

static Status array_length(FuncArgs *c)
{
    TRY(as_json(c));
    return func_with(c, "(CASE WHEN json_type($1) = 'ARRAY' THEN CAST(json_array_length($1) AS BIGINT) END)", ty(DT_INT64));
}

static Status is_scalar(FuncArgs *c)
{
    TRY(as_json(c));
    return func_with(c, "(json_type($1) NOT IN ('OBJECT', 'ARRAY'))", ty(DT_BOOL));
}

static const FuncRow rows[] = {
    { "json_extract", FD_TRINO, extract }, { "json_extract_scalar", FD_TRINO, extract_scalar }, { "json_size", FD_TRINO, size },
    { "json_array_length", FD_TRINO, array_length }, { "is_json_scalar", FD_TRINO, is_scalar },
};

FuncWorker func_trino_json(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
