/* SPDX-License-Identifier: Apache-2.0 */
/* func_text.c - strings, conditions and the session's facts. */
#include "sql/func_int.h"

/* ---- strings --------------------------------------------------------------------------------------------- */

static Status length(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_BINARY)
        return func_with(c, "octet_length($1)", ty(DT_INT32));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    return func_with(c, "length($1)", ty(DT_INT32));
}

static Status octet_length(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_BINARY)
        return func_with(c, "octet_length($1)", ty(DT_INT32));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    return func_with(c, "strlen($1)", ty(DT_INT32));
}

/* Spark: NULL if any is NULL; arrays too.  PostgreSQL: NULLs are left out. */
static Status concat(FuncArgs *c)
{
    int lists = c->e->args.n && func_arg(c, 0)->kind == DT_LIST;
    DataType t = ty(DT_STRING);
    Expr ***es = arena_array(c->b->a, Expr **, c->e->args.n + 1);

    for (size_t i = 0; i < c->e->args.n; i++)
        es[i] = &c->e->args.p[i];
    if (lists) {
        TRY(bind_unify(c->b, es, c->e->args.n, c->e->position, &t));
        return func_with(c, "list_concat($*)", t);
    }
    for (size_t i = 0; i < c->e->args.n; i++) {
        if (func_arg(c, i)->kind == DT_BOOL && !c->b->spark)
            *es[i] = bx_call(c->b->a, "bool_out", "(CASE WHEN $1 THEN 't' WHEN NOT $1 THEN 'f' END)", ty(DT_STRING), *es[i], NULL);
        if (func_arg(c, i)->kind != DT_BINARY || c->e->args.n == 1)
            bind_to(c->b, es[i], ty(DT_STRING));
    }
    if (!c->e->args.n)
        return func_with(c, "''", ty(DT_STRING));
    if (func_arg(c, 0)->kind == DT_BINARY)
        t = ty(DT_BINARY);
    return func_with(c, c->b->spark ? "CAST(($|) AS $T)" : "concat($*)", t);
}

static Status concat_ws(FuncArgs *c)
{
    return func_with(c, c->e->args.n == 1 ? "(CASE WHEN $1 IS NOT NULL THEN '' END)" : "concat_ws($*)", ty(DT_STRING));
}

static Status substring(FuncArgs *c)
{
    if (c->e->args.n == 2 && ty_is_text(func_arg(c, 1))) {
        return func_with(c, "nullif(regexp_extract($1, $2), '')", ty(DT_STRING));
    }
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT32), "substring"));
    return func_done(c, ty(DT_STRING));
}

static Status reverse(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_LIST)
        return func_with(c, "list_reverse($1)", *func_arg(c, 0));
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), "reverse"));
    return func_with(c, "reverse($1)", ty(DT_STRING));
}

static Status locate(FuncArgs *c)
{
    if (c->e->args.n == 2)
        return func_with(c, "instr($2, $1)", ty(DT_INT32));
    return func_with(c, "(CASE WHEN $3 < 1 THEN 0 WHEN instr(substring($2, $3), $1) = 0 THEN 0 ELSE instr(substring($2, $3), $1) + $3 - 1 END)", ty(DT_INT32));
}

static Status string_list(FuncArgs *c) { return func_done(c, ty_list(c->b->a, ty(DT_STRING))); }

static Status split(FuncArgs *c)
{
    if (c->e->args.n == 3)
        return BIND_FAIL(c->b, c->e->position, "0A000", "split with a limit is not supported");
    return func_with(c, "string_split_regex($1, $2)", ty_list(c->b->a, ty(DT_STRING)));
}

static Status no_encoding(FuncArgs *c, Str how) { return BIND_FAIL(c->b, c->e->position, "22023", "unrecognized encoding: \"" STR_FMT "\"", STR_ARG(how)); }

static Status encode(FuncArgs *c)
{
    Str how;

    TRY(func_constant(c, 1, &how));
    if (c->b->spark)
        return str_ieq(how, S("utf-8")) ? func_with(c, "encode($1)", ty(DT_BINARY)) : func_fail(c, "the character set UTF-8");
    if (str_ieq(how, S("hex")))
        return func_with(c, "lower(hex($1))", ty(DT_STRING));
    if (str_ieq(how, S("escape")))
        return func_with(c, "firn_bytea_escape($1)", ty(DT_STRING));
    return str_ieq(how, S("base64")) ? func_with(c, "rtrim(regexp_replace(to_base64($1), '(.{76})', '\\1' || chr(10), 'g'), chr(10))", ty(DT_STRING)) : no_encoding(c, how);
}

/* decode(bytes, 'UTF-8'), or decode(x, search, result, …[, default]). */
static Status decode(FuncArgs *c)
{
    Str how;
    Bind *b = c->b;

    if (!b->spark) {
        TRY(func_constant(c, 1, &how));
        const char *engine = str_ieq(how, S("hex")) ? "firn_bytea_from_hex($1)" : str_ieq(how, S("base64")) ? "firn_bytea_from_base64($1)" : str_ieq(how, S("escape")) ? "firn_bytea_from_escape($1)" : NULL;
        return engine ? func_with(c, engine, ty(DT_BINARY)) : no_encoding(c, how);
    }
    if (c->e->args.n == 2) {
        bind_to(b, &c->e->args.p[0], ty(DT_BINARY));
        return func_with(c, "decode($1)", ty(DT_STRING));
    }
    Expr *e = bx_new(b->a, EX_CASE, c->e->position);
    size_t n = c->e->args.n;
    for (size_t i = 1; i + 1 < n; i += 2) {
        Expr *x = c->e->args.p[0], *y = c->e->args.p[i];
        Expr **both[] = { &x, &y };
        DataType t;
        TRY(bind_unify(b, both, 2, c->e->position, &t));
        vec_push(b->a, &e->args, bx_binary(b->a, OP_NULLSAFE_EQ, x, y, ty(DT_BOOL)));
        vec_push(b->a, &e->args, c->e->args.p[i + 1]);
    }
    if (n % 2 == 0)
        e->else_ = c->e->args.p[n - 1];
    Expr ***es = arena_array(b->a, Expr **, n + 1);
    size_t k = 0;
    for (size_t i = 1; i < e->args.n; i += 2)
        es[k++] = &e->args.p[i];
    if (e->else_)
        es[k++] = &e->else_;
    TRY(bind_unify(b, es, k, e->position, &e->type));
    e->nullable = 1;
    *c->pe = e;
    return OK;
}

/* ---- conditions ------------------------------------------------------------------------------------------ */

static Status nullif_(FuncArgs *c)
{
    DataType own = *func_arg(c, 0), t;
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };

    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    return func_with(c, "nullif($1, $2)", c->b->spark || ty_unknown(&own) ? t : own);
}

static DataType without_modifiers(Arena *a, const DataType *t)
{
    DataType r = *t;

    if (ty_is_text(t))
        r.length = 0;
    if (t->kind == DT_DECIMAL)
        r.kind = DT_UINT128;                                    /* whose name is the bare one */
    r.children = t->nchildren ? arena_array(a, DataType, t->nchildren) : NULL;
    for (size_t i = 0; i < t->nchildren; i++)
        r.children[i] = without_modifiers(a, &t->children[i]);
    return r;
}

static Status typeof_(FuncArgs *c)
{
    const Expr *x = c->e->args.p[0];
    DataType t = without_modifiers(c->b->a, func_arg(c, 0));
    bool literal = x->kind == EX_LITERAL && x->value.kind == DT_STRING;
    Str name = !c->b->spark && literal ? S("unknown") : sql_type_name(c->b->a, c->b->b->dialect, c->b->spark ? func_arg(c, 0) : &t);

    if (!c->l->aggregates || str_chr(name, '$') >= 0) {
        *c->pe = bx_str(c->b->a, name);
        return OK;
    }
    name = sql_lit_str(c->b->a, name);                           /* the aggregate stays: it is what makes one row of many */
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN $1 IS NULL THEN " STR_FMT " ELSE " STR_FMT " END)", STR_ARG(name), STR_ARG(name)).p, ty(DT_STRING));
}

/* ---- the session ----------------------------------------------------------------------------------------- */

static Status session(FuncArgs *c)
{
    Str name = c->e->func->canonical;
    Binder *o = c->b->b;

    *c->pe = bx_str(c->b->a, str_eq(name, S("current_user")) ? o->current_user : str_eq(name, S("current_catalog")) ? o->current_catalog : o->current_namespace);
    return OK;
}

static Status oid(FuncArgs *c) { return func_done(c, ty(DT_UINT32)); }
static Status text(FuncArgs *c) { return func_done(c, ty(DT_STRING)); }

/* The session's search path as a constant: drivers use it as an argument of functions in FROM, where nothing may be asked. */
static Status schemas(FuncArgs *c)
{
    Str here = c->b->b->current_namespace;
    StrBuf b = sb_new(c->b->a);

    if (str_chr(here, '$') < 0) {
        Str lit = sql_lit_str(c->b->a, here);
        sb_fmt(&b, "(CASE WHEN $1 THEN ['pg_catalog', " STR_FMT "] ELSE [" STR_FMT "] END)", STR_ARG(lit), STR_ARG(lit));
        c->e->func->engine = sb_str(&b);
    }
    return string_list(c);
}

/* ---- hashes ----------------------------------------------------------------------------------------------- */

enum { UINT4_MARK = 4 };                               /* as parse_type.c has it: uint4, not an oid */

/* Of a text, or of bytes. */
static Status hashed(FuncArgs *c)
{
    static const struct { const char *name; DataType type; } results[] = {
        { "crc32", { .kind = DT_UINT32, .precision = UINT4_MARK } }, { "kafka_murmur2", { .kind = DT_INT32 } }, { "seahash", { .kind = DT_UINT64 } },
    };
    size_t i = 0;

    if (func_arg(c, 0)->kind != DT_BINARY)
        TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), c->spec->name));
    while (strcmp(results[i].name, c->spec->name) != 0)
        i++;
    return func_done(c, results[i].type);
}

/* Texts, or bytes: beside bytes a literal is bytes. */
static Status text_or_bytes(FuncArgs *c)
{
    bool bytes = func_arg(c, 0)->kind == DT_BINARY || func_arg(c, 1)->kind == DT_BINARY;

    for (size_t i = 0; i < 2; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], ty(bytes ? DT_BINARY : DT_STRING), c->spec->name));
    return func_done(c, ty(strcmp(c->spec->name, "hmac") == 0 ? DT_BINARY : DT_BOOL));
}

static Status uuid_v5(FuncArgs *c)
{
    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_UUID), c->spec->name));
    return func_done(c, ty(DT_UUID));
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static const FuncRow rows[] = {
    { "length", FD_BOTH, length }, { "octet_length", FD_BOTH, octet_length }, { "concat", FD_BOTH, concat },
    { "concat_ws", FD_BOTH, concat_ws }, { "substring", FD_BOTH, substring }, { "reverse", FD_BOTH, reverse },
    { "locate", FD_BOTH, locate }, { "split", FD_BOTH, split }, { "regexp_split_to_array", FD_BOTH, string_list },
    { "string_to_array", FD_BOTH, string_list }, { "parse_ident", FD_POSTGRES, string_list }, { "regexp_extract", FD_BOTH, text },
    { "regexp_extract_all", FD_BOTH, string_list }, { "encode", FD_BOTH, encode }, { "decode", FD_BOTH, decode },
    { "nullif", FD_BOTH, nullif_ }, { "typeof", FD_BOTH, typeof_ }, { "current_user", FD_BOTH, session },
    { "current_catalog", FD_BOTH, session }, { "current_schema", FD_BOTH, session },
    { "current_schemas", FD_BOTH, schemas }, { "to_regclass", FD_BOTH, oid }, { "to_regtype", FD_BOTH, oid },
    { "to_regproc", FD_BOTH, oid }, { "to_regprocedure", FD_BOTH, oid }, { "to_regnamespace", FD_BOTH, oid },
    { "to_regrole", FD_BOTH, oid }, { "crc32", FD_POSTGRES, hashed }, { "kafka_murmur2", FD_POSTGRES, hashed }, { "seahash", FD_POSTGRES, hashed },
    { "uuid_generate_v5", FD_POSTGRES, uuid_v5 }, { "hmac", FD_POSTGRES, text_or_bytes }, { "constant_time_eq", FD_POSTGRES, text_or_bytes },
};

FuncWorker func_text(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
