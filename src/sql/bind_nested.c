/* SPDX-License-Identifier: Apache-2.0 */
/* bind_nested.c - values with parts from PostgreSQL's text and to it, and records as records of another type, as expressions: the engine's own casts know neither.
 *
 * A text is taken apart by one function a level (duck/duck_nested_text.c) and each part is cast as any text would be.  The operand stands outside of lambdas, so names
 * inside of it cannot be taken for theirs; what is used twice is bound to a lambda's parameter. */
#include "sql/bind_int.h"

static Expr *call1(Bind *b, const char *engine, DataType t, Expr *x) { return bx_call(b->a, "nested", engine, t, x, NULL); }

static bool is_array(const DataType *t) { return t->kind == DT_LIST && t->mark != MARK_LIST; }

void bind_flatten(Bind *b, Expr **x)
{
    while (!b->spark && !b->trino && is_array(&(*x)->type) && is_array(&(*x)->type.children[0]))
        *x = call1(b, "flatten($1)", (*x)->type.children[0], *x);
}

/* ---- lambdas -------------------------------------------------------------------------------------------------------------- */

/* `lambda p: …`: its parameter, of that type; the body is put in by close_lambda. */
static Expr *open_lambda(Bind *b, DataType t, Expr **param)
{
    TableRef *rel = arena_new(b->a, TableRef);
    Expr *l = bx_new(b->a, EX_LAMBDA, 0);
    Str name = str_fmt(b->a, "firn_n%d", ++b->next_alias);

    rel->kind = TR_VALUES;
    vec_push(b->a, &rel->columns, ((BoundColumn){ .name = name, .engine = name, .nullable = 1, .type = t }));
    vec_push(b->a, &l->name, name);
    *param = bx_column(b->a, rel, 0);
    return l;
}

static Expr *close_lambda(Bind *b, Expr *l, Expr *body)
{
    vec_push(b->a, &l->args, body);
    l->type = body->type;
    return l;
}

/* body for each element of a list. */
static Expr *each(Bind *b, Expr *list, Expr *l, Expr *body)
{
    return bx_call(b->a, "nested", "list_transform($1, $2)", ty_list(b->a, body->type), list, close_lambda(b, l, body));
}

/* body, with the parameter for x: NULL when x is. */
static Expr *let(Bind *b, Expr *x, Expr *l, Expr *param, Expr *body)
{
    Expr *guarded = bx_call(b->a, "nested", "(CASE WHEN $1 IS NULL THEN NULL ELSE $2 END)", body->type, param, body);
    return bx_call(b->a, "nested", "list_extract(list_transform([$1], $2), 1)", body->type, x, close_lambda(b, l, guarded));
}

static Expr *field(Bind *b, Expr *record, size_t i)
{
    Expr *e = bx_new(b->a, EX_FIELD, 0);

    vec_push(b->a, &e->name, record->type.names[i]);
    vec_push(b->a, &e->args, record);
    e->type = record->type.children[i];
    e->nullable = 1;
    return e;
}

static Expr *pack(Bind *b, const DataType *t)
{
    Expr *e = bx_new(b->a, EX_STRUCT, 0);

    e->type = *t;
    for (size_t i = 0; i < t->nchildren; i++)
        vec_push(b->a, &e->name, t->names[i]);
    return e;
}

/* ---- from text ------------------------------------------------------------------------------------------------------------ */

static Expr *texts(Bind *b, Str engine, Expr *x)
{
    Str cast = str_fmt(b->a, "CAST(CAST(" STR_FMT " AS JSON) AS VARCHAR[])", STR_ARG(engine));
    return call1(b, cast.p, ty_list(b->a, ty(DT_STRING)), x);
}

static Expr *cast_each(Bind *b, Expr *items, const DataType *to)
{
    Expr *param, *l, *body;

    if (to->kind == DT_STRING)
        return items;
    l = open_lambda(b, ty(DT_STRING), &param);
    body = param;
    bind_to(b, &body, *to);
    return each(b, items, l, body);
}

static Expr *record_in(Bind *b, Expr *x, const DataType *to)
{
    Expr *param, *r = pack(b, to);
    Expr *parts = texts(b, str_fmt(b->a, "firn_record_fields($1, '%zu')", to->nchildren), x), *l = open_lambda(b, parts->type, &param);

    for (size_t i = 0; i < to->nchildren; i++) {
        Expr *part = bx_call(b->a, "nested", "list_extract($1, $2)", ty(DT_STRING), param, bx_int(b->a, (int64_t)i + 1));
        bind_to(b, &part, to->children[i]);
        vec_push(b->a, &r->args, part);
    }
    return let(b, parts, l, param, r);
}

static Expr *map_in(Bind *b, Expr *x, const DataType *to)
{
    Expr *param, *l = open_lambda(b, ty(DT_STRING), &param);
    Expr *keys = cast_each(b, texts(b, S("firn_map_keys($1)"), param), &to->children[0]), *values = cast_each(b, texts(b, S("firn_map_values($1)"), param), &to->children[1]);

    return let(b, x, l, param, bx_call(b->a, "nested", "map($1, $2)", *to, keys, values));
}

static Expr *range_in(Bind *b, Expr *x, const DataType *to)
{
    return call1(b, str_fmt(b->a, "firn_%s_in($1)", range_name(data_type_range(to))).p, *to, x);
}

Expr *bind_nested_in(Bind *b, Expr *x, const DataType *to)
{
    Expr *r;

    if (data_type_range(to))
        return range_in(b, x, to);
    if (to->kind == DT_LIST)
        r = cast_each(b, texts(b, str_fmt(b->a, "firn_array_items($1, '%s')", to->mark == MARK_LIST ? "list" : "array"), x), &to->children[0]);
    else
        r = to->kind == DT_MAP ? map_in(b, x, to) : record_in(b, x, to);
    r->type = *to;
    return r;
}

/* ---- to text ---------------------------------------------------------------------------------------------------------------- */

static const char *quote_of(const DataType *t, const char *quote) { return t->kind == DT_LIST || t->kind == DT_MAP ? "$1" : quote; }

/* A part as it stands in its whole; NULL stays. */
static Expr *part_out(Bind *b, Expr *x, const char *quote)
{
    const char *how = x->type.kind == DT_STRUCT && !data_type_range(&x->type) ? quote : quote_of(&x->type, quote);

    if (x->type.kind == DT_BOOL)
        return call1(b, "(CASE WHEN $1 THEN 't' WHEN NOT $1 THEN 'f' END)", ty(DT_STRING), x);
    if (ty_is_numeric(&x->type) && !ty_is_real(&x->type))
        how = "$1";
    bind_to(b, &x, ty(DT_STRING));
    return strcmp(how, "$1") == 0 ? x : call1(b, how, ty(DT_STRING), x);
}

static Expr *list_out(Bind *b, Expr *x)
{
    Expr *param, *l = open_lambda(b, x->type.children[0], &param);
    Expr *part = call1(b, "coalesce($1, 'NULL')", ty(DT_STRING), part_out(b, param, "firn_array_quote($1)"));

    return call1(b, "('{' || array_to_string($1, ',') || '}')", ty(DT_STRING), each(b, x, l, part));
}

static Expr *record_out(Bind *b, Expr *x)
{
    Expr *param, *l = open_lambda(b, x->type, &param), *all = NULL;

    for (size_t i = 0; i < x->type.nchildren; i++) {
        Expr *part = call1(b, "coalesce($1, '')", ty(DT_STRING), part_out(b, field(b, param, i), "firn_record_quote($1)"));
        all = all ? bx_call(b->a, "nested", "($1 || ',' || $2)", ty(DT_STRING), all, part) : part;
    }
    return let(b, x, l, param, all ? call1(b, "('(' || $1 || ')')", ty(DT_STRING), all) : bx_str(b->a, S("()")));
}

static Expr *map_out(Bind *b, Expr *x)
{
    Expr *map, *key, *outer = open_lambda(b, x->type, &map), *inner = open_lambda(b, x->type.children[0], &key);
    Expr *value = bx_call(b->a, "nested", "map_extract_value($1, $2)", x->type.children[1], map, key);
    Expr *left = part_out(b, key, "firn_map_quote($1)"), *right = call1(b, "coalesce($1, 'NULL')", ty(DT_STRING), part_out(b, value, "firn_map_quote($1)"));
    Expr *entries = each(b, call1(b, "map_keys($1)", ty_list(b->a, x->type.children[0]), map), inner, bx_call(b->a, "nested", "($1 || '=>' || $2)", ty(DT_STRING), left, right));

    return let(b, x, outer, map, call1(b, "('{' || array_to_string($1, ',') || '}')", ty(DT_STRING), entries));
}

Expr *bind_nested_out(Bind *b, Expr *x)
{
    if (data_type_range(&x->type))
        return call1(b, str_fmt(b->a, "firn_%s_text($1)", range_name(data_type_range(&x->type))).p, ty(DT_STRING), x);
    if (x->type.kind == DT_LIST)
        return list_out(b, x);
    return x->type.kind == DT_MAP ? map_out(b, x) : record_out(b, x);
}

/* ---- records as others: by place, where the engine's cast goes by name --------------------------------------------------------- */

bool bind_by_place(const DataType *from, const DataType *to)
{
    if (from->kind != to->kind || from->nchildren != to->nchildren)
        return false;
    for (size_t i = 0; i < from->nchildren; i++)
        if ((from->kind == DT_STRUCT && !str_eq(from->names[i], to->names[i])) || bind_by_place(&from->children[i], &to->children[i]))
            return true;
    return false;
}

static Expr *record_as(Bind *b, Expr *x, const DataType *to)
{
    bool written = x->kind == EX_STRUCT;
    Expr *param = x, *l = written ? NULL : open_lambda(b, x->type, &param), *r = pack(b, to);

    for (size_t i = 0; i < to->nchildren; i++) {
        Expr *part = written ? x->args.p[i] : field(b, param, i);
        bind_to(b, &part, to->children[i]);
        vec_push(b->a, &r->args, part);
    }
    r->position = x->position;
    return written ? r : let(b, x, l, param, r);
}

static Expr *map_as(Bind *b, Expr *x, const DataType *to)
{
    Expr *map, *outer = open_lambda(b, x->type, &map), *value, *inner = open_lambda(b, x->type.children[1], &value), *keys, *values;

    keys = call1(b, "map_keys($1)", ty_list(b->a, x->type.children[0]), map);
    values = call1(b, "map_values($1)", ty_list(b->a, x->type.children[1]), map);
    bind_to(b, &value, to->children[1]);
    return let(b, x, outer, map, bx_call(b->a, "nested", "map($1, $2)", *to, keys, each(b, values, inner, value)));
}

Expr *bind_nested_as(Bind *b, Expr *x, const DataType *to)
{
    Expr *r, *param, *l;

    if (to->kind == DT_STRUCT)
        r = record_as(b, x, to);
    else if (to->kind == DT_MAP)
        r = map_as(b, x, to);
    else {
        l = open_lambda(b, x->type.children[0], &param);
        bind_to(b, &param, to->children[0]);
        r = each(b, x, l, param);
    }
    r->type = *to;
    r->nullable = x->nullable;
    return r;
}
