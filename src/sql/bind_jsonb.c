/* SPDX-License-Identifier: Apache-2.0 */
/* bind_jsonb.c - PostgreSQL's operators, casts and makers of jsonb.
 *
 * Invariant: a value of type jsonb is the one text that firn_jsonb gives for it, so that the engine's equality of texts is that of the values.  What makes
 * such a value passes through firn_jsonb (texts from outside) or firn_jsonb_made (what the engine wrote). */
#include "codec/codec.h"
#include "sql/func_int.h"

#define TEXT1 "CAST($1 AS VARCHAR)"
#define TEXT2 "CAST($2 AS VARCHAR)"

static bool is_json(const Expr *e) { return e->type.kind == DT_JSON; }
static bool is_op(const Expr *e, const char *text) { return e->op == OP_OTHER && e->name.n && str_eq(e->name.p[0], str_c(text)); }

bool bind_is_jsonb_op(const Expr *e)
{
    const Expr *l = e->args.p[0], *r = e->args.p[1];

    switch (e->op) {
    case OP_JSON_GET: case OP_JSON_GET_TEXT: return l->type.kind != DT_MAP;
    case OP_JSON_PATH: case OP_JSON_PATH_TEXT: return true;
    case OP_CONTAINS: case OP_CONTAINED: case OP_CONCAT: return is_json(l) || is_json(r);
    case OP_SUB: return is_json(l);
    default: return is_json(l) && is_op(e, "?");
    }
}

static Status call(Bind *b, Expr **pe, const char *name, const char *engine, DataType t)
{
    Expr *e = *pe, *f = bx_call(b->a, name, engine, t, e->args.p[0], e->args.p[1]);

    f->position = e->position;
    *pe = f;
    return OK;
}

static Status no_operator(Bind *b, const Expr *e, const char *op)
{
    return BIND_FAIL(b, e->position, "42883", "operator does not exist: " STR_FMT " %s " STR_FMT, STR_ARG(bind_type_name(b, &e->args.p[0]->type)), op,
                     STR_ARG(bind_type_name(b, &e->args.p[1]->type)));
}

/* Both sides as jsonb: one of them may be a literal without a type. */
static Status both_json(Bind *b, Expr *e, const char *op)
{
    for (size_t i = 0; i < 2; i++) {
        Expr *x = e->args.p[i];
        if (!is_json(x) && x->kind != EX_LITERAL && x->kind != EX_PARAM && !ty_unknown(&x->type))
            return no_operator(b, e, op);
        if (!is_json(x) && x->kind == EX_LITERAL && !ty_is_text(&x->type) && !ty_unknown(&x->type))
            return no_operator(b, e, op);
        bind_to(b, &e->args.p[i], ty(DT_JSON));
    }
    return OK;
}

/* The engine reads these as a path, or as the whole. */
static bool is_plain_key(const Expr *e)
{
    if (e->kind != EX_LITERAL || e->value.kind != DT_STRING || !e->value.string.n)
        return false;
    for (size_t i = 0; i < e->value.string.n; i++) {
        char c = e->value.string.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

static Status get(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    bool text = e->op == OP_JSON_GET_TEXT;

    bind_to(b, &e->args.p[0], ty(DT_JSON));
    e->type = ty(text ? DT_STRING : DT_JSON);
    e->nullable = 1;
    if (ty_is_integer(&e->args.p[1]->type)) {
        bind_to(b, &e->args.p[1], ty(DT_INT64));
        return OK;
    }
    if (!ty_is_text(&e->args.p[1]->type) && !ty_unknown(&e->args.p[1]->type))
        return no_operator(b, e, text ? "->>" : "->");
    bind_to(b, &e->args.p[1], ty(DT_STRING));
    if (is_plain_key(e->args.p[1]))
        return OK;
    return text ? call(b, pe, "jsonb_member_text", "firn_jsonb_member_text(" TEXT1 ", $2)", e->type)
                : call(b, pe, "jsonb_member", "CAST(firn_jsonb_member(" TEXT1 ", $2) AS JSON)", e->type);
}

static Status path(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    bool text = e->op == OP_JSON_PATH_TEXT;

    bind_to(b, &e->args.p[0], ty(DT_JSON));
    TRY(bind_coerce(b, &e->args.p[1], ty_list(b->a, ty(DT_STRING)), text ? "#>>" : "#>"));
    return text ? call(b, pe, "jsonb_path_text", "firn_jsonb_path_text(" TEXT1 ", CAST(to_json($2) AS VARCHAR))", ty(DT_STRING))
                : call(b, pe, "jsonb_path", "CAST(firn_jsonb_path(" TEXT1 ", CAST(to_json($2) AS VARCHAR)) AS JSON)", ty(DT_JSON));
}

static Status without(Bind *b, Expr **pe)
{
    Expr *e = *pe;
    DataType *t = &e->args.p[1]->type;

    if (ty_is_integer(t)) {
        bind_to(b, &e->args.p[1], ty(DT_INT64));
        return call(b, pe, "jsonb_without_item", "CAST(firn_jsonb_without_item(" TEXT1 ", $2) AS JSON)", ty(DT_JSON));
    }
    if (!ty_is_text(t) && !ty_unknown(t))
        return no_operator(b, e, "-");
    bind_to(b, &e->args.p[1], ty(DT_STRING));
    return call(b, pe, "jsonb_without_key", "CAST(firn_jsonb_without_key(" TEXT1 ", $2) AS JSON)", ty(DT_JSON));
}

static Status has_key(Bind *b, Expr **pe)
{
    DataType *t = &(*pe)->args.p[1]->type;

    if (!ty_is_text(t) && !ty_unknown(t))
        return no_operator(b, *pe, "?");
    bind_to(b, &(*pe)->args.p[1], ty(DT_STRING));
    return call(b, pe, "jsonb_has_key", "firn_jsonb_has_key(" TEXT1 ", $2)", ty(DT_BOOL));
}

Status bind_jsonb_op(Bind *b, Expr **pe)
{
    switch ((*pe)->op) {
    case OP_JSON_GET: case OP_JSON_GET_TEXT: return get(b, pe);
    case OP_JSON_PATH: case OP_JSON_PATH_TEXT: return path(b, pe);
    case OP_SUB: return without(b, pe);
    case OP_CONCAT:
        TRY(both_json(b, *pe, "||"));
        return call(b, pe, "jsonb_concat", "CAST(firn_jsonb_concat(" TEXT1 ", " TEXT2 ") AS JSON)", ty(DT_JSON));
    case OP_CONTAINS:
        TRY(both_json(b, *pe, "@>"));
        return call(b, pe, "jsonb_contains", "firn_jsonb_contains(" TEXT1 ", " TEXT2 ")", ty(DT_BOOL));
    case OP_CONTAINED:
        TRY(both_json(b, *pe, "<@"));
        return call(b, pe, "jsonb_contained", "firn_jsonb_contains(" TEXT2 ", " TEXT1 ")", ty(DT_BOOL));
    default: return has_key(b, pe);
    }
}

/* ---- casts -------------------------------------------------------------------------------------------------------------- */

bool bind_jsonb_may_cast(const DataType *from, const DataType *to)
{
    if (ty_unknown(from) || ty_is_text(from) || from->kind == to->kind)
        return true;
    return from->kind == DT_JSON && (ty_is_text(to) || ty_is_numeric(to) || to->kind == DT_BOOL);
}

Expr *bind_jsonb_in(Bind *b, Expr *text) { return bx_call(b->a, "jsonb_in", "firn_jsonb($1)", ty(DT_STRING), text, NULL); }

Status bind_jsonb_value(Bind *b, Expr *literal)
{
    Str text = literal->value.string;

    if (!jsonb_text(b->a, text, JSONB_STRICT, &literal->value.string))
        return BIND_FAIL(b, literal->position, "22P02", "invalid input syntax for type jsonb: \"" STR_FMT "\"", STR_ARG(str_sub(text, 0, 200)));
    return OK;
}

/* A number or a truth value as its text; of the others the error, null is NULL. */
Expr *bind_jsonb_scalar(Bind *b, Expr *x, const DataType *to)
{
    const char *own = to->kind == DT_BOOL ? "'BOOLEAN'" : "'BIGINT', 'UBIGINT', 'DOUBLE', 'HUGEINT'";
    Str engine = str_fmt(b->a, "(CASE WHEN json_type($1) = 'NULL' THEN NULL WHEN json_type($1) IN (%s) THEN " TEXT1 " ELSE CAST(error('cannot cast jsonb ' || "
                         "(CASE json_type($1) WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'VARCHAR' THEN 'string' WHEN 'BOOLEAN' THEN 'boolean' ELSE 'number' END) || "
                         "' to type " STR_FMT " SQLSTATE: 22023') AS VARCHAR) END)", own, STR_ARG(bind_type_name(b, to)));

    return bx_call(b->a, "jsonb_scalar", engine.p, ty(DT_STRING), x, NULL);
}

/* ---- makers ---------------------------------------------------------------------------------------------------------------- */

/* What the engine's JSON writes in another way than PostgreSQL: as the text that a cast gives. */
static void as_json_knows(FuncArgs *c, size_t i)
{
    DataTypeKind k = func_arg(c, i)->kind;

    if (k == DT_BINARY || k == DT_INTERVAL || k == DT_UUID)
        bind_to(c->b, &c->e->args.p[i], ty(DT_STRING));
}

static Status to_json(FuncArgs *c)
{
    as_json_knows(c, 0);
    if (is_json(c->e->args.p[0]))
        return func_with(c, "$1", ty(DT_JSON));
    return func_with(c, "CAST(firn_jsonb_made(CAST(to_json($1) AS VARCHAR)) AS JSON)", ty(DT_JSON));
}

static Status build_array(FuncArgs *c)
{
    for (size_t i = 0; i < c->e->args.n; i++)
        as_json_knows(c, i);
    return func_with(c, "CAST(firn_jsonb_made(CAST(json_array($*) AS VARCHAR)) AS JSON)", ty(DT_JSON));
}

static Status build_object(FuncArgs *c)
{
    if (c->e->args.n % 2)
        return BIND_FAIL(c->b, c->e->position, "22023", "argument list must have even number of elements");
    for (size_t i = 0; i < c->e->args.n; i++)
        if (i % 2)
            as_json_knows(c, i);
        else
            bind_to(c->b, &c->e->args.p[i], ty(DT_STRING));
    return func_with(c, "CAST(firn_jsonb_made(CAST(json_object($*) AS VARCHAR)) AS JSON)", ty(DT_JSON));
}

static Status agg(FuncArgs *c)
{
    as_json_knows(c, 0);
    return func_done(c, ty(DT_JSON));
}

static Status object_agg(FuncArgs *c)
{
    bind_to(c->b, &c->e->args.p[0], ty(DT_STRING));
    as_json_knows(c, 1);
    return func_done(c, ty(DT_JSON));
}

static const FuncRow rows[] = {
    { "to_json", FD_POSTGRES, to_json }, { "to_jsonb", FD_POSTGRES, to_json }, { "row_to_json", FD_POSTGRES, to_json }, { "json_build_array", FD_POSTGRES, build_array },
    { "jsonb_build_array", FD_POSTGRES, build_array }, { "json_build_object", FD_POSTGRES, build_object }, { "jsonb_build_object", FD_POSTGRES, build_object },
    { "json_agg", FD_POSTGRES, agg }, { "jsonb_agg", FD_POSTGRES, agg }, { "json_object_agg", FD_POSTGRES, object_agg }, { "jsonb_object_agg", FD_POSTGRES, object_agg },
};

FuncWorker func_jsonb(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
