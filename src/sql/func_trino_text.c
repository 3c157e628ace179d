/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_text.c - Trino's functions on texts, conditions and the session, that need more than a template. */
#include "sql/func_int.h"

#include <stdio.h>

Status trino_bad(FuncArgs *c, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return BIND_FAIL(c->b, c->e->position, "22023", "%s", text);
}

Status trino_refuse(FuncArgs *c, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return BIND_FAIL(c->b, c->e->position, "0A000", "%s: %s", c->spec->name, text);
}

Status trino_mismatch(FuncArgs *c)
{
    StrBuf s = sb_new(c->b->a);

    for (size_t i = 0; i < c->e->args.n; i++)
        sb_fmt(&s, "%s" STR_FMT, i ? ", " : "", STR_ARG(c->e->args.p[i]->kind == EX_LAMBDA ? S("function") : trino_type_of(c->b, c->e->args.p[i])));
    return BIND_FAIL(c->b, c->e->position, "42K09", "Unexpected parameters (" STR_FMT ") for function %s", STR_ARG(sb_str(&s)), c->spec->name);
}

bool trino_text_arg(FuncArgs *c, size_t i, Str *ret)
{
    const Expr *e = i < c->e->args.n ? c->e->args.p[i] : NULL;

    while (e && e->kind == EX_FUNCTION && str_eq(e->func->canonical, S("same")))
        e = e->args.p[0];
    if (!e || e->kind != EX_LITERAL || e->value.kind != DT_STRING)
        return false;
    *ret = e->value.string;
    return true;
}

/* ---- concat ------------------------------------------------------------------------------------------------------------ */

/* Texts, bytes or arrays with arrays and elements: as the operator ||, from the left. */
static Status concat(FuncArgs *c)
{
    Expr *e = c->e->args.p[0];

    for (size_t i = 1; i < c->e->args.n; i++) {
        e = bx_binary(c->b->a, OP_CONCAT, e, c->e->args.p[i], ty(DT_NULL));
        e->position = c->e->position;
        TRY(bind_binary(c->b, &e));
    }
    *c->pe = e;
    return OK;
}

static Status concat_ws(FuncArgs *c)
{
    if (c->e->args.n == 2 && func_arg(c, 1)->kind == DT_LIST)
        return ty_is_text(&func_arg(c, 1)->children[0]) ? func_with(c, "array_to_string($2, $1)", ty(DT_STRING)) : trino_mismatch(c);
    for (size_t i = 1; i < c->e->args.n; i++) {
        if (!ty_is_text(func_arg(c, i)) && !ty_unknown(func_arg(c, i)))
            return trino_mismatch(c);
        bind_to(c->b, &c->e->args.p[i], ty(DT_STRING));
    }
    return func_with(c, "concat_ws($*)", ty(DT_STRING));
}

static Status length(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_BINARY)
        return func_with(c, "octet_length($1)", ty(DT_INT64));
    if (!ty_is_text(func_arg(c, 0)) && !ty_unknown(func_arg(c, 0)))
        return trino_mismatch(c);
    return func_with(c, "length($1)", ty(DT_INT64));
}

static Status reverse(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_LIST)
        return func_with(c, "list_reverse($1)", *func_arg(c, 0));
    return ty_is_text(func_arg(c, 0)) ? func_with(c, "(CASE WHEN strlen($1) = length($1) THEN reverse($1) ELSE array_to_string(list_reverse(regexp_extract_all($1, '(?s).')), '') END)", ty(DT_STRING)) : trino_mismatch(c);
}

/* From the end by a negative start; nothing when it lies outside. */
static Status substr(FuncArgs *c)
{
    const Expr *from = c->e->args.p[1], *n = c->e->args.n > 2 ? c->e->args.p[2] : NULL;

    while (from->kind == EX_CAST)
        from = from->args.p[0];
    while (n && n->kind == EX_CAST)
        n = n->args.p[0];
    bool plain = from->kind == EX_LITERAL && from->value.integer > 0 && (!n || (n->kind == EX_LITERAL && n->value.integer >= 0 && n->value.kind != DT_NULL));
    if (plain)
        return func_with(c, "substr($*)", ty(DT_STRING));
#define FROM_START "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN $2 = 0 OR abs($2) > length($1) THEN '' WHEN $2 > 0 THEN substr($1, $2) ELSE right($1, -$2) END)"
    return func_with(c, n ? "left(" FROM_START ", CASE WHEN $3 > 0 THEN $3 WHEN $3 <= 0 THEN 0 END)" : FROM_START, ty(DT_STRING));
}

static Status string_list(FuncArgs *c) { return func_done(c, ty_list(c->b->a, ty(DT_STRING))); }

/* ---- format, URLs -------------------------------------------------------------------------------------------------------- */

/* %s, %d and %%; Java's other conversions are not the engine's. */
static Status format(FuncArgs *c)
{
    StrBuf b = sb_new(c->b->a);
    size_t next = 1;
    Str f;

    if (!trino_text_arg(c, 0, &f))
        return trino_refuse(c, "the format must be a literal");
    sb_addc(&b, "(''");
    for (size_t i = 0; i < f.n; i++) {
        char k = f.p[i] == '%' && i + 1 < f.n ? f.p[i + 1] : 0;
        if (f.p[i] != '%' || k == '%') {
            sb_fmt(&b, " || %s", f.p[i] == '\'' ? "''''" : f.p[i] == '$' ? "'$$'" : "");
            if (f.p[i] != '\'' && f.p[i] != '$')
                sb_fmt(&b, "chr(%d)", (int)(unsigned char)f.p[i]);
            if ((unsigned char)f.p[i] >= 0x80)
                return trino_refuse(c, "formats with characters beyond ASCII are not supported");
            i += k == '%';
            continue;
        }
        if ((k != 's' && k != 'd') || next >= c->e->args.n)
            return trino_refuse(c, "only %%s, %%d and %%%% are supported");
        if (k == 'd' && !ty_is_integer(func_arg(c, next)))
            return trino_mismatch(c);
        Expr *cast = bx_new(c->b->a, EX_CAST, c->e->position);
        vec_push(c->b->a, &cast->args, c->e->args.p[next]);
        cast->type = ty(DT_STRING);
        TRY(bind_cast(c->b, &cast));
        c->e->args.p[next++] = cast;
        sb_fmt(&b, " || coalesce($%zu, 'null')", next);
        i++;
    }
    sb_byte(&b, ')');
    return func_with(c, sb_str(&b).p, ty(DT_STRING));
}

/* RFC 3986's parts.  An escape in the part would have to be decoded, a URL that Java does not parse gives NULL: both are refused. */
static Status url_part(FuncArgs *c)
{
    static const struct { const char *name, *pattern; int group; } parts[] = {
        { "url_extract_protocol", "^([A-Za-z][A-Za-z0-9+.-]*):", 1 }, { "url_extract_host", "^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#:@]+)", 1 },
        { "url_extract_port", "^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?[^/?#:@]+:([0-9]+)", 1 },
        { "url_extract_path", "^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*([^?#]*)", 1 }, { "url_extract_query", "^[^?#]*[?]([^#]*)", 1 },
        { "url_extract_fragment", "^[^#]*#(.*)", 1 },
    };
    size_t i = 0;

    while (strcmp(parts[i].name, c->spec->name) != 0)
        i++;
    bool port = strcmp(c->spec->name, "url_extract_port") == 0;
    Str engine = str_fmt(c->b->a, "(CASE WHEN $1 IS NULL THEN NULL WHEN NOT regexp_full_match($1, '[A-Za-z][A-Za-z0-9+.-]*://[!-$$&-;=?-Z_a-z~#@]+') THEN "
                         "firn_error('NOT_SUPPORTED: %s of a URL with escapes, or that is none SQLSTATE: 0A000') WHEN regexp_matches($1, '%s') THEN "
                         "regexp_extract($1, '%s', 1) END)", c->spec->name, parts[i].pattern, parts[i].pattern);
    if (port)
        engine = str_fmt(c->b->a, "CAST(" STR_FMT " AS BIGINT)", STR_ARG(engine));
    return func_with(c, engine.p, ty(port ? DT_INT64 : DT_STRING));
}

/* The first parameter of that name; NULL when there is none. */
static Status url_parameter(FuncArgs *c)
{
    Str name;

    if (!trino_text_arg(c, 1, &name) || !name.n)
        return trino_refuse(c, "the parameter's name must be a literal");
    for (size_t i = 0; i < name.n; i++)
        if (!((name.p[i] >= 'a' && name.p[i] <= 'z') || (name.p[i] >= 'A' && name.p[i] <= 'Z') || (name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '_' || name.p[i] == '-'))
            return trino_refuse(c, "the parameter's name may hold letters, digits, - and _");
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN $1 IS NULL THEN NULL WHEN NOT regexp_full_match($1, '[A-Za-z][A-Za-z0-9+.-]*://[!-$$&-*,-;=?-Z_a-z~#@]+') THEN "
                     "firn_error('NOT_SUPPORTED: url_extract_parameter of a URL with escapes, or that is none SQLSTATE: 0A000') WHEN regexp_matches($1, '^[^#?]*[?]([^#]*&)?" STR_FMT "(=|&|#|$$)') THEN "
                     "regexp_extract($1, '^[^#?]*[?](?:[^#]*?&)?" STR_FMT "(?:=([^&#]*))?', 1) END)", STR_ARG(name), STR_ARG(name)).p, ty(DT_STRING));
}

/* ---- conditions, the session ------------------------------------------------------------------------------------------------ */

static Status nullif_(FuncArgs *c)
{
    DataType own = *func_arg(c, 0), t;
    Expr *eq = bx_binary(c->b->a, OP_EQ, c->e->args.p[0], c->e->args.p[1], ty(DT_NULL));

    if (!trino_common(c->b, &own, func_arg(c, 1), &t))
        return trino_mismatch(c);
    eq->position = c->e->position;
    TRY(bind_binary(c->b, &eq));
    c->e->args.p[1] = eq;
    return func_with(c, "(CASE WHEN $2 THEN NULL ELSE $1 END)", own);
}

static Status try_(FuncArgs *c) { return func_with(c, "TRY($1)", *func_arg(c, 0)); }

static Status typeof_(FuncArgs *c)
{
    *c->pe = bx_str(c->b->a, trino_type_of(c->b, c->e->args.p[0]));
    return OK;
}

static Status uuid_(FuncArgs *c) { return func_done(c, ty(DT_UUID)); }

static Status session(FuncArgs *c)
{
    Str name = c->e->func->canonical;
    Binder *o = c->b->b;

    *c->pe = bx_str(c->b->a, str_eq(name, S("current_user")) ? o->current_user : str_eq(name, S("current_catalog")) ? o->current_catalog : o->current_namespace);
    return OK;
}

static const FuncRow rows[] = {
    { "concat", FD_TRINO, concat }, { "concat_ws", FD_TRINO, concat_ws }, { "length", FD_TRINO, length }, { "reverse", FD_TRINO, reverse },
    { "substr", FD_TRINO, substr }, { "split", FD_TRINO, string_list }, { "format", FD_TRINO, format }, { "url_part", FD_TRINO, url_part }, { "url_extract_parameter", FD_TRINO, url_parameter },
    { "nullif", FD_TRINO, nullif_ }, { "try", FD_TRINO, try_ }, { "typeof", FD_TRINO, typeof_ }, { "uuid", FD_TRINO, uuid_ },
    { "current_user", FD_TRINO, session }, { "current_catalog", FD_TRINO, session }, { "current_schema", FD_TRINO, session },
};

FuncWorker func_trino_text(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
