/* SPDX-License-Identifier: Apache-2.0 */
/* func_list.c - Materialize's lists and maps: functions and operators. A map's keys are in order, so equal maps are equal to the engine. */
#include "sql/func_int.h"

/* ---- functions ------------------------------------------------------------------------------------------------------ */

/* list_append(l, x), list_prepend(x, l), list_remove(l, x): x becomes what l holds. */
static Status with_element(FuncArgs *c)
{
    static const struct { const char *name, *engine; size_t list; } rows[] = {
        { "list_append", "list_append($1, $2)", 0 }, { "list_prepend", "list_prepend($1, $2)", 1 }, { "list_remove", "list_filter($1, lambda firn_x: firn_x IS DISTINCT FROM $2)", 0 },
    };
    size_t i = 0;

    while (!str_eq(c->e->func->canonical, str_c(rows[i].name)))
        i++;
    Expr **list = &c->e->args.p[rows[i].list], **x = &c->e->args.p[1 - rows[i].list];
    if (ty_unknown(&(*list)->type) && !ty_unknown(&(*x)->type))
        bind_to(c->b, list, ty_list(c->b->a, (*x)->type));
    if ((*list)->type.kind != DT_LIST)
        return func_fail(c, "a list");
    if (ty_unknown(&(*list)->type.children[0]))                       /* LIST[] */
        bind_to(c->b, list, ty_list(c->b->a, ty_unknown(&(*x)->type) ? ty(DT_STRING) : (*x)->type));
    TRY(bind_coerce(c->b, x, (*list)->type.children[0], c->spec->name));
    return func_with(c, rows[i].engine, (*list)->type);
}

static Status list_cat(FuncArgs *c)
{
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };
    DataType t;

    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    return t.kind == DT_LIST ? func_with(c, "list_concat($1, $2)", t) : func_fail(c, "two lists");
}

static Status list_agg(FuncArgs *c)
{
    DataType t = ty_list(c->b->a, *func_arg(c, 0));

    if (ty_unknown(func_arg(c, 0)))
        bind_to(c->b, &c->e->args.p[0], t.children[0] = ty(DT_STRING));
    t.mark = MARK_LIST;
    c->e->func->canonical = S("array_agg");
    return func_done(c, t);
}

/* map_agg(key, value ORDER BY …): of one key the last value; keys that are NULL are left out. */
static Status map_agg(FuncArgs *c)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(c->b->a, DataType, 2), .mark = MARK_MAP };

    TRY(bind_coerce(c->b, &c->e->args.p[0], ty(DT_STRING), "map_agg"));
    if (ty_unknown(func_arg(c, 1)))
        bind_to(c->b, &c->e->args.p[1], ty(DT_STRING));
    t.children[0] = ty(DT_STRING);
    t.children[1] = *func_arg(c, 1);
    return func_done(c, t);
}

static const FuncRow rows[] = {
    { "list_append", FD_POSTGRES, with_element }, { "list_prepend", FD_POSTGRES, with_element }, { "list_remove", FD_POSTGRES, with_element }, { "list_cat", FD_POSTGRES, list_cat },
    { "list_agg", FD_POSTGRES, list_agg }, { "mz_map_agg", FD_POSTGRES, map_agg },
};

FuncWorker func_list(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

/* ---- operators --------------------------------------------------------------------------------------------------------- */

static bool is_map(const Expr *e) { return e->type.kind == DT_MAP; }

/* l || l, l || x, x || l. Two lists of which one holds the other's kind: that one takes the other in. */
static Status list_concat(Bind *b, Expr **pe)
{
    Expr *e = *pe, **x = &e->args.p[0], **y = &e->args.p[1];
    const DataType *s = &(*x)->type, *t = &(*y)->type;
    bool append = t->kind != DT_LIST ? !ty_unknown(t) : s->kind == DT_LIST && data_type_equal(&s->children[0], t);
    bool prepend = s->kind != DT_LIST ? !ty_unknown(s) : t->kind == DT_LIST && data_type_equal(&t->children[0], s);
    DataType common;

    if (append || prepend) {
        DataType list = append ? *s : *t;
        TRY(bind_coerce(b, append ? y : x, list.children[0], "||"));
        *pe = bx_call(b->a, "list_concat", append ? "list_append($1, $2)" : "list_prepend($1, $2)", list, *x, *y);
        return OK;
    }
    if (!ty_common(b, s, t, &common))
        return BIND_FAIL(b, e->position, "42883", "operator does not exist: " STR_FMT " || " STR_FMT, STR_ARG(bind_type_name(b, s)), STR_ARG(bind_type_name(b, t)));
    bind_to(b, x, common);
    bind_to(b, y, common);
    *pe = bx_call(b->a, "list_concat", "list_concat($1, $2)", common, *x, *y);
    return OK;
}

/* Has the map $1 all entries of the map $2? */
#define HAS_ENTRIES(x, y) "(CASE WHEN " x " IS NULL OR " y " IS NULL THEN NULL ELSE len(list_filter(map_keys(" y "), lambda firn_e: NOT (list_contains(map_keys(" x "), firn_e) AND " \
    "map_extract_value(" x ", firn_e) IS NOT DISTINCT FROM map_extract_value(" y ", firn_e)))) = 0 END)"

typedef struct MapOp { const char *text; Op op; const char *engine; char right; } MapOp;      /* right: k a key, l a list of keys, m a map */
static const MapOp MAP_OPS[] = {
    { "->", OP_JSON_GET, "map_extract_value($1, $2)", 'k' }, { "?", OP_OTHER, "list_contains(map_keys($1), $2)", 'k' }, { "?&", OP_OTHER, "list_has_all(map_keys($1), $2)", 'l' },
    { "?|", OP_OTHER, "list_has_any(map_keys($1), $2)", 'l' }, { "@>", OP_CONTAINS, HAS_ENTRIES("$1", "$2"), 'm' }, { "<@", OP_CONTAINED, HAS_ENTRIES("$2", "$1"), 'm' },
};

static const MapOp *map_op(const Expr *e)
{
    for (size_t i = 0; i < COUNT_OF(MAP_OPS); i++)
        if (MAP_OPS[i].op == e->op && (e->op != OP_OTHER || (e->name.n && str_eq(e->name.p[0], str_c(MAP_OPS[i].text)))))
            return &MAP_OPS[i];
    return NULL;
}

bool bind_is_collection_op(const Expr *e)
{
    const Expr *x = e->args.p[0], *y = e->args.p[1];

    if (e->op == OP_CONCAT)
        return x->type.kind == DT_LIST || y->type.kind == DT_LIST;
    return (is_map(x) || (is_map(y) && e->op == OP_CONTAINED)) && map_op(e);
}

Status bind_collection_op(Bind *b, Expr **pe)
{
    Expr *e = *pe, *x = e->args.p[0], *y = e->args.p[1];
    const MapOp *o = map_op(e);
    DataType result = ty(DT_BOOL);

    if (e->op == OP_CONCAT)
        return list_concat(b, pe);
    DataType map = is_map(x) ? x->type : y->type;
    if (o->right == 'm') {
        TRY(bind_coerce(b, &x, map, o->text));
        TRY(bind_coerce(b, &y, map, o->text));
    } else
        TRY(bind_coerce(b, &y, o->right == 'k' ? map.children[0] : ty_list(b->a, map.children[0]), o->text));
    if (e->op == OP_JSON_GET)
        result = map.children[1];
    *pe = bx_call(b->a, "map_op", o->engine, result, x, y);
    (*pe)->position = e->position;
    return OK;
}
