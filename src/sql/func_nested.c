/* SPDX-License-Identifier: Apache-2.0 */
/* func_nested.c - arrays, maps, lambdas. */
#include "sql/func_int.h"

static Status size(FuncArgs *c)
{
    bind_flatten(c->b, &c->e->args.p[0]);
    if (func_arg(c, 0)->kind == DT_MAP)
        return func_with(c, "cardinality($1)", ty(DT_INT32));
    return func_arg(c, 0)->kind == DT_LIST ? func_with(c, "len($1)", ty(DT_INT32)) : func_fail(c, "an array or a map");
}

/* array_length(a, dimension) and its kin: an array in an array is a dimension. */
static Status array_extent(FuncArgs *c)
{
    bool lower = strcmp(c->spec->name, "array_lower") == 0;
    StrBuf b = sb_new(c->b->a);
    Str list = S("$1");
    size_t n = 0;

    sb_addc(&b, "(CASE $2{1}");
    for (const DataType *t = func_arg(c, 0); t->kind == DT_LIST; t = &t->children[0]) {
        sb_fmt(&b, lower ? " WHEN %zu THEN CASE WHEN len(" STR_FMT ") > 0 THEN 1 END" : " WHEN %zu THEN nullif(len(" STR_FMT "), 0)", ++n, STR_ARG(list));
        list = str_fmt(c->b->a, STR_FMT "[1]", STR_ARG(list));
    }
    sb_addc(&b, n ? " END)" : " WHEN 1 THEN NULL END)");
    return func_with(c, sb_str(&b).p, ty(DT_INT32));
}

/* generate_subscripts(a, dimension[, backwards]); an int2vector counts from 0 */
static Status subscripts(FuncArgs *c)
{
    StrBuf b = sb_new(c->b->a);
    Str list = S("$1");
    size_t n = 0;
    int first = func_arg(c, 0)->kind == DT_LIST && func_arg(c, 0)->length ? 0 : 1;

    sb_fmt(&b, "range(%d, %d + coalesce(CASE $2", first, first);
    for (const DataType *t = func_arg(c, 0); t->kind == DT_LIST; t = &t->children[0]) {
        sb_fmt(&b, " WHEN %zu THEN len(" STR_FMT ")", ++n, STR_ARG(list));
        list = str_fmt(c->b->a, STR_FMT "[1]", STR_ARG(list));
    }
    sb_addc(&b, n ? " END, 0))" : " WHEN 1 THEN 0 END, 0))");
    if (c->e->args.n < 3)
        return func_with(c, str_fmt(c->b->a, "unnest(" STR_FMT ")", STR_ARG(sb_str(&b))).p, ty(DT_INT32));
    return func_with(c, str_fmt(c->b->a, "unnest(CASE WHEN $3 THEN list_reverse(" STR_FMT ") ELSE " STR_FMT " END)", STR_ARG(sb_str(&b)), STR_ARG(sb_str(&b))).p, ty(DT_INT32));
}

/* array_to_string(a, separator[, instead of null]) */
static Status to_string(FuncArgs *c)
{
    bind_flatten(c->b, &c->e->args.p[0]);
    for (size_t i = 1; i < c->e->args.n; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], ty(DT_STRING), "array_to_string"));
    return func_with(c, "array_to_string(list_filter(list_transform($1, lambda firn_x: coalesce(CAST(firn_x AS VARCHAR), $3{NULL})), lambda firn_x: firn_x IS NOT NULL), $2)", ty(DT_STRING));
}

static Status array_cat(FuncArgs *c) { return func_operator(c, OP_CONCAT); }

/* The element is cast to the array's element type, or both to their common type. */
static Status fit_element(FuncArgs *c, size_t list, size_t element)
{
    DataType *t = func_arg(c, list), common;

    if (t->kind != DT_LIST)
        return func_fail(c, "an array");
    if (!ty_common(c->b, &t->children[0], func_arg(c, element), &common))
        return func_fail(c, "an element of the array's type");
    bind_to(c->b, &c->e->args.p[list], ty_list(c->b->a, common));
    bind_to(c->b, &c->e->args.p[element], common);
    return OK;
}

static Status array_element(FuncArgs *c)
{
    static const struct { const char *name, *engine; char ret; } rows[] = {
        { "array_contains", "list_contains($1, $2)", 'b' },
        { "array_position", "coalesce(list_position($1, $2), 0)", 'p' },
        { "array_remove", "list_filter($1, lambda firn_x: firn_x IS DISTINCT FROM $2)", '1' },
        { "array_append", "list_append($1, $2)", '1' },
        { "array_prepend", "list_prepend($2, $1)", '1' },
    };
    size_t i = 0;

    while (strcmp(rows[i].name, c->spec->name) != 0)
        i++;
    if (!c->b->spark && rows[i].ret != 'b' && func_arg(c, 0)->kind == DT_LIST && func_arg(c, 0)->children[0].kind == DT_LIST && func_arg(c, 1)->kind != DT_LIST)
        return BIND_FAIL(c->b, c->e->position, "0A000", "%s is for arrays of one dimension", c->spec->name);
    TRY(fit_element(c, 0, 1));
    if (rows[i].ret == 'p' && !c->b->spark)
        return func_with(c, "list_position($1, $2)", ty(DT_INT32));
    return func_with(c, rows[i].engine, rows[i].ret == 'b' ? ty(DT_BOOL) : rows[i].ret == 'p' ? ty(DT_INT64) : *func_arg(c, 0));
}

/* Lists are built in memory that the engine does not count: too many elements are refused before. */
#define TOO_LONG "error('the result of the function would be too large SQLSTATE: 54000')"

static Status array_repeat(FuncArgs *c) { return func_with(c, "list_transform(range(CASE WHEN $2 > 16777216 THEN CAST(" TOO_LONG " AS BIGINT) ELSE greatest($2, 0) END), lambda firn_x: $1)", ty_list(c->b->a, *func_arg(c, 0))); }

#define FILL_ERROR(state, text) "CAST(error('" text " SQLSTATE: " state "') AS BIGINT)"

enum { FILL_DIMENSIONS_MAX = 6 };
#define FILL_LIMIT "16777216"

/* Its type has as many dimensions as are written out; others are not known before it runs: there is one. */
static Status array_fill(FuncArgs *c)
{
    size_t dims = c->e->args.p[1]->kind == EX_ARRAY && !c->e->args.p[1]->query && c->e->args.p[1]->args.n > 1 ? c->e->args.p[1]->args.n : 1;
    Str value = S("$1");
    DataType t;

    TRY(bind_coerce(c->b, &c->e->args.p[1], ty_list(c->b->a, ty(DT_INT32)), "array_fill"));
    if (ty_unknown(func_arg(c, 0)))
        bind_to(c->b, &c->e->args.p[0], ty(DT_STRING));
    if (dims > FILL_DIMENSIONS_MAX)
        return BIND_FAIL(c->b, c->e->position, "54000", "number of array dimensions (%zu) exceeds the maximum allowed (%d)", dims, FILL_DIMENSIONS_MAX);
    t = *func_arg(c, 0);
    for (size_t i = dims; i > 0; i--) {
        t = ty_list(c->b->a, t);
        value = str_fmt(c->b->a, "list_transform(range(CASE WHEN $2 IS NULL THEN " FILL_ERROR("22004", "dimension array or low bound array cannot be null")
                        " WHEN len($2) = 0 THEN 0 WHEN len($2) <> %zu THEN " FILL_ERROR("0A000", "array_fill with several dimensions takes them written out")
                        " WHEN list_extract($2, %zu) IS NULL THEN " FILL_ERROR("22004", "dimension values cannot be null")
                        " WHEN list_extract($2, %zu) < 0 OR list_product(list_transform($2, lambda firn_x: CAST(greatest(firn_x, 1) AS DOUBLE))) > " FILL_LIMIT " THEN "
                        FILL_ERROR("54000", "array size exceeds the maximum allowed") " ELSE list_extract($2, %zu) END), lambda firn_x%zu: " STR_FMT ")", dims, i, i, i, i, STR_ARG(value));
    }
    return func_with(c, value.p, t);
}

static Status sequence(FuncArgs *c)
{
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };
    DataType t;

    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    if (ty_is_integer(&t)) {
        for (size_t i = 0; i < c->e->args.n; i++)
            bind_to(c->b, &c->e->args.p[i], ty(DT_INT64));
        return func_with(c, "(CASE WHEN abs(CAST($2 AS HUGEINT) - CAST($1 AS HUGEINT)) > 16777216 THEN CAST(" TOO_LONG " AS BIGINT[]) "
                         "ELSE generate_series($1, $2, $3{CASE WHEN $1 <= $2 THEN 1 ELSE -1 END}) END)", ty_list(c->b->a, t));
    }
    if (!ty_is_time(&t))
        return func_fail(c, "integers, dates or timestamps");
    if (c->e->args.n == 3)
        TRY(bind_coerce(c->b, &c->e->args.p[2], ty(DT_INTERVAL), "sequence"));
    return func_with(c, "(CASE WHEN abs(epoch($2) - epoch($1)) > 16777216 * greatest(abs(epoch($3{to_days(1)})), 0.000001) THEN CAST(" TOO_LONG " AS $T) "
                     "ELSE generate_series($1, $2, $3{CASE WHEN $1 <= $2 THEN to_days(1) ELSE to_days(-1) END}) END)", ty_list(c->b->a, t));
}

static Status element_at(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);

    if (t->kind == DT_MAP) {
        TRY(bind_coerce(c->b, &c->e->args.p[1], t->children[0], "element_at"));
        return func_with(c, "$1[$2]", t->children[1]);
    }
    if (t->kind != DT_LIST)
        return func_fail(c, "an array or a map");
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT64), "element_at"));
    return func_with(c, "list_extract($1, $2)", t->children[0]);
}

/* map(k, v, …) */
static Status map_(FuncArgs *c)
{
    Bind *b = c->b;
    size_t n = c->e->args.n / 2;
    Expr ***keys = arena_array(b->a, Expr **, n + 1), ***values = arena_array(b->a, Expr **, n + 1);
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(b->a, DataType, 2) };
    StrBuf k = sb_new(b->a), v = sb_new(b->a);

    if (c->e->args.n % 2)
        return func_fail(c, "an even number of arguments");
    for (size_t i = 0; i < n; i++) {
        keys[i] = &c->e->args.p[2 * i];
        values[i] = &c->e->args.p[2 * i + 1];
        sb_fmt(&k, "%s$%zu", i ? ", " : "", 2 * i + 1);
        sb_fmt(&v, "%s$%zu", i ? ", " : "", 2 * i + 2);
    }
    TRY(bind_unify(b, keys, n, c->e->position, &t.children[0]));
    TRY(bind_unify(b, values, n, c->e->position, &t.children[1]));
    return func_with(c, str_fmt(b->a, "map([" STR_FMT "], [" STR_FMT "])", STR_ARG(sb_str(&k)), STR_ARG(sb_str(&v))).p, t);
}

/* From pairs of a text and a value; of one text the last pair. */
static Status map_build(FuncArgs *c)
{
    Arena *a = c->b->a;
    const DataType *list = func_arg(c, 0), *pair = list->kind == DT_LIST ? &list->children[0] : NULL;
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(a, DataType, 2), .mark = MARK_MAP };
    Str field[2];

    if (!pair || pair->kind != DT_STRUCT || pair->nchildren != 2 || !ty_is_text(&pair->children[0]))
        return func_fail(c, "records of a text and a value");
    for (size_t i = 0; i < 2; i++) {
        t.children[i] = pair->children[i];
        if (str_chr(pair->names[i], '$') >= 0)
            return func_unsupported(c);
        field[i] = sql_lit_str(a, pair->names[i]);
    }
    t.children[0] = ty(DT_STRING);
    Str keys = str_fmt(a, "list_sort(list_distinct(list_transform($1, lambda firn_r: struct_extract(firn_r, " STR_FMT "))))", STR_ARG(field[0]));
    return func_with(c, str_fmt(a, "(CASE WHEN $1 IS NULL THEN NULL WHEN len(list_filter($1, lambda firn_r: struct_extract(firn_r, " STR_FMT ") IS NULL)) > 0 THEN "
                                "CAST(error('map_build does not support keys that are null SQLSTATE: 0A000') AS $T) ELSE map(" STR_FMT ", list_transform(" STR_FMT ", lambda firn_k: "
                                "struct_extract(list_extract(list_filter($1, lambda firn_r: struct_extract(firn_r, " STR_FMT ") = firn_k), -1), " STR_FMT "))) END)",
                                STR_ARG(field[0]), STR_ARG(keys), STR_ARG(keys), STR_ARG(field[0]), STR_ARG(field[1])).p, t);
}

static Status map_part(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);
    return func_done(c, ty_list(c->b->a, t->children[strcmp(c->spec->name, "map_values") == 0]));
}

static Status higher_order(FuncArgs *c)
{
    static const struct { const char *name, *engine; char ret; } rows[] = {
        { "transform", "list_transform($1, $2)", 'r' },
        { "filter", "list_filter($1, $2)", '1' },
        { "exists", "list_bool_or(list_transform($1, $2))", 'b' },
        { "any_match", "list_bool_or(list_transform($1, $2))", 'b' },
        { "forall", "coalesce(list_bool_and(list_transform($1, $2)), true)", 'b' },
    };
    size_t i = 0;

    if (c->e->args.p[1]->kind != EX_LAMBDA)
        return func_fail(c, "a lambda function");
    while (strcmp(rows[i].name, c->spec->name) != 0)
        i++;
    return func_with(c, rows[i].engine, rows[i].ret == 'r' ? ty_list(c->b->a, *func_arg(c, 1)) : rows[i].ret == 'b' ? ty(DT_BOOL) : *func_arg(c, 0));
}

/* explode(array) in a select list: one row an element. */
static Status explode(FuncArgs *c)
{
    if (c->l->clause != CL_ITEM || c->l->in_aggregate)
        return BIND_FAIL(c->b, c->e->position, "42K0E", "[UNSUPPORTED_GENERATOR.OUTSIDE_SELECT] The generator is not supported outside the SELECT clause, found: %s.", c->spec->name);
    bind_flatten(c->b, &c->e->args.p[0]);
    if (func_arg(c, 0)->kind != DT_LIST)
        return func_arg(c, 0)->kind == DT_MAP ? func_unsupported(c) : func_fail(c, "an array");
    return func_with(c, "unnest($1)", func_arg(c, 0)->children[0]);
}

/* generate_series(a, b[, step]) in a select list. */
static Status series(FuncArgs *c)
{
    Expr **both[] = { &c->e->args.p[0], &c->e->args.p[1] };
    DataType t;

    if (c->l->clause != CL_ITEM || c->l->in_aggregate)
        return func_fail(c, "a place in FROM or in the select list");
    TRY(bind_unify(c->b, both, 2, c->e->position, &t));
    if (ty_is_integer(&t)) {
        for (size_t i = 0; i < c->e->args.n; i++)
            TRY(bind_coerce(c->b, &c->e->args.p[i], ty(DT_INT64), "generate_series"));
        return func_with(c, "unnest(generate_series($1, $2, $3{1}))", t);
    }
    if (!ty_is_time(&t) || c->e->args.n < 3)
        return func_fail(c, "integers, or timestamps and an interval");
    bind_to(c->b, &c->e->args.p[2], ty(DT_INTERVAL));
    if (t.kind == DT_DATE)
        t = ty(DT_TIMESTAMP);
    bind_to(c->b, both[0], t);
    bind_to(c->b, both[1], t);
    return func_with(c, "unnest(generate_series($1, $2, $3))", t);
}

/* PostgreSQL's information_schema._pg_expandarray(array): a row (x, n) for each element and its place. */
static Status expandarray(FuncArgs *c)
{
    Arena *a = c->b->a;
    DataType t = { .kind = DT_STRUCT, .nchildren = 2, .children = arena_array(a, DataType, 2), .names = arena_array(a, Str, 2) };

    if (c->l->clause != CL_ITEM || c->l->in_aggregate || func_arg(c, 0)->kind != DT_LIST)
        return func_fail(c, "an array, in a select list");
    t.children[0] = func_arg(c, 0)->children[0];
    t.children[1] = ty(DT_INT32);
    t.names[0] = S("x");
    t.names[1] = S("n");
    return func_with(c, "unnest(list_transform($1, lambda x, i: struct_pack(x := x, n := CAST(i AS INTEGER))))", t);
}

/* Materialize's mz_internal.mz_aclexplode(privileges): a row for each privilege of each "grantee=letters/grantor". */
static Status aclexplode(FuncArgs *c)
{
    static const char *const names[] = { "grantor", "grantee", "privilege_type", "is_grantable" };
    Arena *a = c->b->a;
    DataType t = { .kind = DT_STRUCT, .nchildren = COUNT_OF(names), .children = arena_array(a, DataType, COUNT_OF(names)), .names = arena_array(a, Str, COUNT_OF(names)) };

    if (c->l->clause != CL_ITEM || c->l->in_aggregate || func_arg(c, 0)->kind != DT_LIST)
        return func_fail(c, "an array of privileges, in a select list");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        t.names[i] = str_c(names[i]);
        t.children[i] = ty(i < 3 ? DT_STRING : DT_BOOL);
    }
    return func_with(c, "unnest(firn_pg_aclexplode($1))", t);
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static const FuncRow rows[] = {
    { "size", FD_BOTH, size }, { "array_length", FD_POSTGRES, array_extent }, { "generate_subscripts", FD_POSTGRES, subscripts }, { "array_to_string", FD_POSTGRES, to_string },
    { "array_cat", FD_POSTGRES, array_cat }, { "array_contains", FD_BOTH, array_element },
    { "array_position", FD_BOTH, array_element }, { "array_remove", FD_BOTH, array_element },
    { "array_append", FD_BOTH, array_element }, { "array_prepend", FD_BOTH, array_element },
    { "array_repeat", FD_BOTH, array_repeat }, { "array_fill", FD_POSTGRES, array_fill }, { "sequence", FD_BOTH, sequence },
    { "element_at", FD_BOTH, element_at }, { "map", FD_BOTH, map_ }, { "map_build", FD_POSTGRES, map_build }, { "map_keys", FD_BOTH, map_part },
    { "map_values", FD_BOTH, map_part }, { "transform", FD_BOTH, higher_order }, { "filter", FD_BOTH, higher_order },
    { "array_exists", FD_BOTH, higher_order }, { "forall", FD_BOTH, higher_order }, { "explode", FD_BOTH, explode },
    { "_pg_expandarray", FD_POSTGRES, expandarray }, { "mz_aclexplode", FD_POSTGRES, aclexplode }, { "generate_series", FD_POSTGRES, series },
};

FuncWorker func_nested(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }
