/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino_nested.c - Trino's arrays, maps, rows and lambdas.
 *
 * Logic has three values here too: contains(ARRAY[1, NULL], 2) is NULL.  The engine has lambdas over arrays only: one over a map's
 * entries is written as two, the key's and the value's, each over an array of one. */
#include "sql/func_int.h"

#define TOO_LONG "firn_error('EXCEEDED_LOCAL_MEMORY_LIMIT: the result of the function would be too large SQLSTATE: 54000')"
#define BAD(text) "firn_error('INVALID_FUNCTION_ARGUMENT: " text " SQLSTATE: 22023')"

/* ---- elements ----------------------------------------------------------------------------------------------------------- */

/* Array and element to their common type. */
static Status fit(FuncArgs *c, size_t list, size_t element)
{
    DataType *t = func_arg(c, list), common;

    if (t->kind != DT_LIST || !trino_common(c->b, &t->children[0], func_arg(c, element), &common))
        return trino_mismatch(c);
    bind_to(c->b, &c->e->args.p[list], ty_list(c->b->a, common));
    bind_to(c->b, &c->e->args.p[element], common);
    return OK;
}

static Status cardinality(FuncArgs *c)
{
    if (func_arg(c, 0)->kind == DT_MAP)
        return func_with(c, "cardinality($1)", ty(DT_INT64));
    return func_arg(c, 0)->kind == DT_LIST ? func_with(c, "len($1)", ty(DT_INT64)) : trino_mismatch(c);
}

static Status element_at(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);

    if (t->kind == DT_MAP) {
        TRY(bind_coerce(c->b, &c->e->args.p[1], t->children[0], "element_at"));
        return func_with(c, "map_extract_value($1, $2)", t->children[1]);
    }
    if (t->kind != DT_LIST)
        return trino_mismatch(c);
    TRY(bind_coerce(c->b, &c->e->args.p[1], ty(DT_INT64), "element_at"));
    return func_with(c, "list_extract($1, CASE WHEN $2 = 0 THEN CAST(" BAD("SQL array indices start at 1") " AS BIGINT) ELSE $2 END)", t->children[0]);
}

static Status contains(FuncArgs *c)
{
    TRY(fit(c, 0, 1));
    return func_with(c, "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN list_contains($1, $2) THEN true WHEN list_count($1) < len($1) THEN NULL ELSE false END)", ty(DT_BOOL));
}

static Status array_position(FuncArgs *c)
{
    TRY(fit(c, 0, 1));
    return func_with(c, "(CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN coalesce(list_position($1, $2), 0) END)", ty(DT_INT64));
}

static Status array_remove(FuncArgs *c)
{
    TRY(fit(c, 0, 1));
    return func_with(c, "(CASE WHEN $2 IS NOT NULL THEN list_filter($1, lambda firn_x: firn_x IS DISTINCT FROM $2) END)", *func_arg(c, 0));
}

static Status array_join(FuncArgs *c)
{
    DataType *t = func_arg(c, 0);

    if (t->children[0].nchildren)
        return trino_mismatch(c);
    if (!ty_is_text(&t->children[0])) {
        Expr *cast = bx_new(c->b->a, EX_CAST, c->e->position);
        vec_push(c->b->a, &cast->args, c->e->args.p[0]);
        cast->type = ty_list(c->b->a, ty(DT_STRING));
        TRY(bind_cast(c->b, &cast));
        c->e->args.p[0] = cast;
    }
    const char *list = c->e->args.n == 3 ? "list_transform($1, lambda firn_x: coalesce(firn_x, $3))" : "$1";
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN len($1) * (strlen($2) + strlen($3{''})) > 67108864 THEN " TOO_LONG " ELSE coalesce(array_to_string(%s, $2), CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL "
                     "THEN '' END) END)", list).p, ty(DT_STRING));
}

/* NULL when any element is; NaN has no agreed place. */
static Status array_extreme(FuncArgs *c)
{
    DataType t = func_arg(c, 0)->children[0];
    const char *f = strcmp(c->spec->name, "array_max") == 0 ? "list_max" : "list_min";

    if (t.nchildren || t.kind == DT_JSON)
        return trino_mismatch(c);
    Str nan = ty_is_real(&t) ? str_fmt(c->b->a, "WHEN len(list_filter($1, lambda firn_x: isnan(firn_x))) > 0 THEN CAST(firn_error('NOT_SUPPORTED: %s over NaN SQLSTATE: 0A000') AS $T) ", c->spec->name) : S("");
    return func_with(c, str_fmt(c->b->a, "(CASE " STR_FMT "WHEN list_count($1) = len($1) THEN %s($1) END)", STR_ARG(nan), f).p, t);
}

/* ---- arrays made --------------------------------------------------------------------------------------------------------------- */

#define LONG_SEQUENCE BAD("result of sequence function must not have more than 10000 entries")
#define WRONG_WAY BAD("sequence stop value should be greater than or equal to start value if step is greater than zero otherwise stop should be less than or equal to start")

static Status number_sequence(FuncArgs *c)
{
    for (size_t i = 0; i < c->e->args.n; i++)
        TRY(bind_coerce(c->b, &c->e->args.p[i], ty(DT_INT64), "sequence"));
    if (c->e->args.n == 2)
        return func_with(c, "(CASE WHEN abs(CAST($2 AS HUGEINT) - CAST($1 AS HUGEINT)) >= 10000 THEN CAST(" LONG_SEQUENCE " AS BIGINT[]) "
                         "ELSE generate_series($1, $2, CASE WHEN $1 <= $2 THEN 1 ELSE -1 END) END)", ty_list(c->b->a, ty(DT_INT64)));
    return func_with(c, "(CASE WHEN $3 = 0 OR ($3 > 0 AND $2 < $1) OR ($3 < 0 AND $2 > $1) THEN CAST(" WRONG_WAY " AS BIGINT[]) "
                     "WHEN abs((CAST($2 AS HUGEINT) - CAST($1 AS HUGEINT)) // $3) >= 10000 THEN CAST(" LONG_SEQUENCE " AS BIGINT[]) ELSE generate_series($1, $2, $3) END)",
                     ty_list(c->b->a, ty(DT_INT64)));
}

/* The engine adds months one after the other, which loses the days behind the 28th. */
static Status time_sequence(FuncArgs *c, DataType t)
{
    const Expr *step = c->e->args.n > 2 ? c->e->args.p[2] : NULL;

    if (step && step->type.kind != DT_INTERVAL)
        return trino_mismatch(c);
    if (!step && t.kind != DT_DATE)
        return trino_mismatch(c);
    bind_to(c->b, &c->e->args.p[0], t);
    bind_to(c->b, &c->e->args.p[1], t);
    if (step && (step->kind != EX_LITERAL || (t.kind == DT_DATE && step->value.interval.micros)))
        return trino_refuse(c, "the step must be a literal of whole days or months");
    bool months = step && step->value.interval.months;
    Str guard = months ? S("WHEN day($1) > 28 THEN CAST(firn_error('NOT_SUPPORTED: a sequence by months from a day behind the 28th SQLSTATE: 0A000') AS $T) ") : S("");
    return func_with(c, str_fmt(c->b->a, "(CASE " STR_FMT "WHEN abs(epoch($2) - epoch($1)) >= 10000 * greatest(abs(epoch($3{to_days(1)})), 0.001) THEN CAST(" LONG_SEQUENCE
                     " AS $T) WHEN ($2 - $1) <> ($2 - $2) AND (epoch($2) > epoch($1)) <> (epoch($3{CASE WHEN $1 <= $2 THEN to_days(1) ELSE to_days(-1) END}) > 0) THEN CAST(" WRONG_WAY
                     " AS $T) ELSE generate_series($1, $2, $3{CASE WHEN $1 <= $2 THEN to_days(1) ELSE to_days(-1) END}) END)", STR_ARG(guard)).p, ty_list(c->b->a, t));
}

static Status sequence(FuncArgs *c)
{
    DataType t;

    if (!trino_common(c->b, func_arg(c, 0), func_arg(c, 1), &t))
        return trino_mismatch(c);
    if (ty_is_integer(&t))
        return number_sequence(c);
    return ty_is_time(&t) && !t.scale ? time_sequence(c, t) : trino_mismatch(c);
}

static Status repeat(FuncArgs *c)
{
    const DataType *t = func_arg(c, 0);
    const char *size = t->kind == DT_LIST ? "len($1)" : t->kind == DT_MAP ? "cardinality($1)" : ty_is_text(t) || t->kind == DT_BINARY ? "strlen($1)" : "1";

    if (t->kind == DT_BINARY)
        size = "octet_length($1)";
    return func_with(c, str_fmt(c->b->a, "list_transform(range(CASE WHEN $2 * coalesce(%s, 1) > 16777216 THEN CAST(" TOO_LONG " AS BIGINT) WHEN $2 > 10000 THEN CAST(" BAD("count argument of repeat function must be less than or equal to 10000") " AS BIGINT) "
                     "WHEN $2 < 0 THEN CAST(" BAD("count argument of repeat function must be greater than or equal to 0") " AS BIGINT) ELSE $2 END), lambda firn_x: $1)", size).p,
                     ty_list(c->b->a, *func_arg(c, 0)));
}

static Status flatten(FuncArgs *c)
{
    DataType t = func_arg(c, 0)->children[0];
    return t.kind == DT_LIST ? func_with(c, "flatten($1)", t) : trino_mismatch(c);
}

static DataType row_of(FuncArgs *c, size_t n)
{
    DataType t = { .kind = DT_STRUCT, .nchildren = n, .children = arena_array(c->b->a, DataType, n), .names = arena_array(c->b->a, Str, n) };
    for (size_t i = 0; i < n; i++)
        t.names[i] = str_fmt(c->b->a, "field%zu", i);
    return t;
}

static Status zip(FuncArgs *c)
{
    DataType row = row_of(c, c->e->args.n);
    StrBuf b = sb_new(c->b->a), any = sb_new(c->b->a);

    for (size_t i = 0; i < c->e->args.n; i++) {
        row.children[i] = func_arg(c, i)->children[0];
        sb_fmt(&any, "%s$%zu IS NULL", i ? " OR " : "", i + 1);
        sb_fmt(&b, "%s'field%zu': firn_x[%zu]", i ? ", " : "", i, i + 1);
    }
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN " STR_FMT " THEN NULL ELSE list_transform(list_zip($*), lambda firn_x: {" STR_FMT "}) END)", STR_ARG(sb_str(&any)),
                     STR_ARG(sb_str(&b))).p, ty_list(c->b->a, row));
}

/* ---- lambdas over arrays ----------------------------------------------------------------------------------------------------------- */

static Status need_lambda(FuncArgs *c, size_t i, size_t names)
{
    const Expr *e = c->e->args.p[i];
    return e->kind == EX_LAMBDA && e->name.n == names ? OK : trino_mismatch(c);
}

static Status need_test(FuncArgs *c, size_t i)
{
    return func_arg(c, i)->kind == DT_BOOL || ty_unknown(func_arg(c, i)) ? OK : trino_mismatch(c);
}

static Status transform(FuncArgs *c)
{
    TRY(need_lambda(c, 1, 1));
    return func_with(c, "list_transform($1, $2)", ty_list(c->b->a, *func_arg(c, 1)));
}

static Status filter(FuncArgs *c)
{
    TRY(need_lambda(c, 1, 1));
    TRY(need_test(c, 1));
    return func_with(c, "list_filter($1, $2)", *func_arg(c, 0));
}

#define RESULTS "list_transform($1, $2)"

static Status match(FuncArgs *c)
{
    static const struct { const char *name, *engine; } rows[] = {
        { "any_match", "(CASE WHEN $1 IS NULL THEN NULL WHEN list_contains(" RESULTS ", true) THEN true WHEN list_count(" RESULTS ") < len($1) THEN NULL ELSE false END)" },
        { "all_match", "(CASE WHEN $1 IS NULL THEN NULL WHEN list_contains(" RESULTS ", false) THEN false WHEN list_count(" RESULTS ") < len($1) THEN NULL ELSE true END)" },
        { "none_match", "(CASE WHEN $1 IS NULL THEN NULL WHEN list_contains(" RESULTS ", true) THEN false WHEN list_count(" RESULTS ") < len($1) THEN NULL ELSE true END)" },
    };
    size_t i = 0;

    TRY(need_lambda(c, 1, 1));
    TRY(need_test(c, 1));
    while (strcmp(rows[i].name, c->spec->name) != 0)
        i++;
    return func_with(c, rows[i].engine, ty(DT_BOOL));
}

/* reduce(array, start, (state, x) -> …, state -> …): the engine's fold has one type for elements and state. */
static Status reduce(FuncArgs *c)
{
    TRY(need_lambda(c, 2, 2));
    TRY(need_lambda(c, 3, 1));
    DataType state = *func_arg(c, 2), t;
    if (!trino_common(c->b, &func_arg(c, 0)->children[0], &state, &t) || !data_type_equal(&t, &state))
        return trino_refuse(c, "a state of another type than the elements is not supported");
    bind_to(c->b, &c->e->args.p[0], ty_list(c->b->a, state));
    bind_to(c->b, &c->e->args.p[1], state);
    return func_with(c, "(CASE WHEN $1 IS NULL THEN NULL ELSE list_extract(list_transform([list_reduce($1, $3, $2)], $4), 1) END)", *func_arg(c, 3));
}

/* ---- maps ------------------------------------------------------------------------------------------------------------------------------ */

static DataType map_of(FuncArgs *c, DataType k, DataType v)
{
    DataType t = { .kind = DT_MAP, .nchildren = 2, .children = arena_array(c->b->a, DataType, 2) };
    t.children[0] = k;
    t.children[1] = v;
    return t;
}

static Status map_(FuncArgs *c)
{
    if (c->e->args.n != 2)
        return trino_refuse(c, "an empty map has no type; use MAP(ARRAY[], ARRAY[]) with a cast");
    for (size_t i = 0; i < 2; i++)
        if (ty_unknown(func_arg(c, i)))
            return trino_mismatch(c);
    return func_with(c, "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN len($1) <> len($2) THEN CAST(" BAD("Key and value arrays must be the same length") " AS $T) ELSE map($1, $2) END)",
                     map_of(c, func_arg(c, 0)->children[0], func_arg(c, 1)->children[0]));
}

static Status map_part(FuncArgs *c)
{
    return func_done(c, ty_list(c->b->a, func_arg(c, 0)->children[strcmp(c->spec->name, "map_values") == 0]));
}

static Status map_entries(FuncArgs *c)
{
    DataType row = row_of(c, 2), *m = func_arg(c, 0);

    row.children[0] = m->children[0];
    row.children[1] = m->children[1];
    return func_with(c, "list_transform(map_entries($1), lambda firn_x: {'field0': firn_x.key, 'field1': firn_x.value})", ty_list(c->b->a, row));
}

static Status map_from_entries(FuncArgs *c)
{
    const DataType *row = &func_arg(c, 0)->children[0];

    if (row->kind != DT_STRUCT || row->nchildren != 2)
        return trino_mismatch(c);
    return func_with(c, "(CASE WHEN $1 IS NOT NULL THEN map_from_entries($1) END)", map_of(c, row->children[0], row->children[1]));
}

/* f(map, (k, v) -> …). The lambda keeps the value's name; the key's is written around it. */
static Status over_entries(FuncArgs *c)
{
    static const char template[] = "list_extract(list_transform([firn_e.key], lambda " STR_FMT ": list_extract(list_transform([firn_e.value], $2), 1)), 1)";
    DataType m = *func_arg(c, 0), body = *func_arg(c, 1);
    Expr *l = c->e->args.p[1];

    TRY(need_lambda(c, 1, 2));
    Str key = l->name.p[0];
    StrVec value = { 0 };
    vec_push(c->b->a, &value, l->name.p[1]);
    l->name = value;
    Str result = str_fmt(c->b->a, template, STR_ARG(key));
    if (strcmp(c->spec->name, "map_filter") == 0) {
        TRY(need_test(c, 1));
        return func_with(c, str_fmt(c->b->a, "(CASE WHEN $1 IS NOT NULL THEN map_from_entries(list_filter(map_entries($1), lambda firn_e: " STR_FMT ")) END)", STR_ARG(result)).p, m);
    }
    bool keys = strcmp(c->spec->name, "transform_keys") == 0;
    Str entry = keys ? str_fmt(c->b->a, "{'k': " STR_FMT ", 'v': firn_e.value}", STR_ARG(result)) : str_fmt(c->b->a, "{'k': firn_e.key, 'v': " STR_FMT "}", STR_ARG(result));
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN $1 IS NOT NULL THEN map_from_entries(list_transform(map_entries($1), lambda firn_e: " STR_FMT ")) END)", STR_ARG(entry)).p,
                     keys ? map_of(c, body, m.children[1]) : map_of(c, m.children[0], body));
}

/* zip_with(a, b, (x, y) -> …); the shorter one is filled up with NULL. */
static Status zip_with(FuncArgs *c)
{
    Expr *l = c->e->args.p[2];
    StrVec second = { 0 };

    TRY(need_lambda(c, 2, 2));
    Str first = l->name.p[0];
    vec_push(c->b->a, &second, l->name.p[1]);
    l->name = second;
    return func_with(c, str_fmt(c->b->a, "(CASE WHEN $1 IS NOT NULL AND $2 IS NOT NULL THEN list_transform(list_zip($1, $2), lambda firn_e: list_extract(list_transform([firn_e[1]], lambda " STR_FMT
                     ": list_extract(list_transform([firn_e[2]], $3), 1)), 1)) END)", STR_ARG(first)).p, ty_list(c->b->a, *func_arg(c, 2)));
}

/* 'a=1,b=2' */
static Status split_to_map(FuncArgs *c)
{
    return func_with(c, "(CASE WHEN $1 IS NULL OR $2 IS NULL OR $3 IS NULL THEN NULL WHEN $2 = '' OR $3 = '' OR $2 = $3 THEN CAST(" BAD("entryDelimiter and keyValueDelimiter must not be empty or the same")
                     " AS $T) WHEN $1 = '' THEN map(CAST([] AS VARCHAR[]), CAST([] AS VARCHAR[])) ELSE map_from_entries(list_transform(list_filter(string_split($1, $2), lambda firn_x: firn_x <> ''), lambda firn_x: "
                     "{'k': CASE WHEN len(string_split(firn_x, $3)) = 2 THEN string_split(firn_x, $3)[1] ELSE " BAD("Key-value delimiter must appear exactly once in each entry") " END, "
                     "'v': string_split(firn_x, $3)[2]})) END)", map_of(c, ty(DT_STRING), ty(DT_STRING)));
}

static const FuncRow rows[] = {
    { "zip_with", FD_TRINO, zip_with }, { "array_extreme", FD_TRINO, array_extreme }, { "split_to_map", FD_TRINO, split_to_map }, { "cardinality", FD_TRINO, cardinality }, { "element_at", FD_TRINO, element_at }, { "contains", FD_TRINO, contains },
    { "array_position", FD_TRINO, array_position }, { "array_remove", FD_TRINO, array_remove }, { "array_join", FD_TRINO, array_join },
    { "sequence", FD_TRINO, sequence }, { "repeat", FD_TRINO, repeat }, { "flatten", FD_TRINO, flatten }, { "zip", FD_TRINO, zip },
    { "transform", FD_TRINO, transform }, { "filter", FD_TRINO, filter }, { "any_match", FD_TRINO, match }, { "all_match", FD_TRINO, match },
    { "none_match", FD_TRINO, match }, { "reduce", FD_TRINO, reduce }, { "map", FD_TRINO, map_ }, { "map_keys", FD_TRINO, map_part },
    { "map_values", FD_TRINO, map_part }, { "map_entries", FD_TRINO, map_entries }, { "map_from_entries", FD_TRINO, map_from_entries },
    { "map_filter", FD_TRINO, over_entries }, { "transform_keys", FD_TRINO, over_entries }, { "transform_values", FD_TRINO, over_entries },
};

FuncWorker func_trino_nested(Str canonical, int dialect) { return func_row(rows, COUNT_OF(rows), canonical, dialect); }

/* ---- subscripts ---------------------------------------------------------------------------------------------------------------------------- */

/* Outside of an array, and a key that a map lacks, are errors; a row is indexed by a constant place. */
Status trino_index(Bind *b, Expr **pe)
{
    Expr *e = *pe, *x = e->args.p[0];
    DataType *t = &x->type;

    e->nullable = 1;
    if (t->kind == DT_MAP) {
        TRY(bind_coerce(b, &e->args.p[1], t->children[0], "subscript"));
        *pe = bx_call(b->a, "map_subscript", "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN NOT map_contains($1, $2) THEN CAST(firn_error('INVALID_FUNCTION_ARGUMENT: Key not present in map: ' || CAST($2 AS VARCHAR) || "
                      "' SQLSTATE: 22023') AS $T) ELSE map_extract_value($1, $2) END)", t->children[1], x, e->args.p[1]);
        return OK;
    }
    if (t->kind == DT_STRUCT) {
        const Expr *n = e->args.p[1];
        if (n->kind != EX_LITERAL || n->value.integer < 1 || (size_t)n->value.integer > t->nchildren)
            return BIND_FAIL(b, e->position, "22023", "Subscript expression on ROW requires a constant index within the row");
        return bind_field(b, x, t->names[n->value.integer - 1], e->position, pe);
    }
    if (t->kind != DT_LIST)
        return BIND_FAIL(b, e->position, "42K09", "Cannot use subscript on " STR_FMT, STR_ARG(bind_type_name(b, t)));
    TRY(bind_coerce(b, &e->args.p[1], ty(DT_INT64), "subscript"));
    *pe = bx_call(b->a, "array_subscript", "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN $2 BETWEEN 1 AND len($1) THEN list_extract($1, $2) WHEN $2 < 1 THEN CAST(" BAD("SQL array indices start at 1")
                  " AS $T) ELSE CAST(" BAD("Array subscript must be less than or equal to array length") " AS $T) END)", t->children[0], x, e->args.p[1]);
    return OK;
}

/* ---- the parameters of lambdas -------------------------------------------------------------------------------------------------------------- */

/* The types of the parameters of argument i, a lambda, of a call whose arguments before it are bound. */
Status trino_lambda(Bind *b, Level *l, Expr *call, size_t i)
{
    Str name = str_lower(b->a, vec_last(&call->func->name));
    const DataType *x = i ? &call->args.p[0]->type : NULL;
    DataType types[2];
    size_t n = 1;
    Expr *lambda = call->args.p[i];

    if (x && x->kind == DT_MAP) {
        types[0] = x->children[0];
        types[1] = x->children[1];
        n = 2;
    } else if (x && x->kind == DT_LIST && i == 2 && str_eq(name, S("zip_with")) && call->args.p[1]->type.kind == DT_LIST) {
        types[0] = x->children[0];
        types[1] = call->args.p[1]->type.children[0];
        n = 2;
    } else if (x && x->kind == DT_LIST && !str_eq(name, S("reduce"))) {
        types[0] = x->children[0];
    } else if (x && x->kind == DT_LIST && i >= 2) {
        types[0] = i == 2 ? call->args.p[1]->type : call->args.p[2]->type;
        types[1] = x->children[0];
        n = i == 2 ? 2 : 1;
    } else {
        return BIND_FAIL(b, lambda->position, "42K09", "Unexpected lambda for function " STR_FMT, STR_ARG(name));
    }
    if (str_eq(name, S("array_sort")))
        return BIND_FAIL(b, lambda->position, "0A000", "array_sort with a comparison of one's own is not supported");
    if (lambda->name.n != n)
        return BIND_FAIL(b, lambda->position, "42K09", "Unexpected parameters for function " STR_FMT ": a lambda of %zu parameters is needed", STR_ARG(name), n);
    if (i == 2 && n == 2 && str_eq(name, S("reduce"))) {                /* the state's type is that of start and body */
        Expr *trial = sql_copy_expr(b->a, lambda);
        DataType t;
        TRY(bind_lambda_typed(b, l, trial, types));
        if (!trino_common(b, &types[0], &trial->type, &t))
            return BIND_FAIL(b, lambda->position, "42K09", "the state of reduce is " STR_FMT " and " STR_FMT, STR_ARG(bind_type_name(b, &types[0])), STR_ARG(bind_type_name(b, &trial->type)));
        types[0] = t;
    }
    TRY(bind_lambda_typed(b, l, lambda, types));
    if (i == 2 && str_eq(name, S("reduce"))) {
        bind_to(b, &lambda->args.p[0], types[0]);
        lambda->type = types[0];
    }
    return OK;
}
