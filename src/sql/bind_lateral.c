/* SPDX-License-Identifier: Apache-2.0 */
/* bind_lateral.c - functions in FROM: range, generate_series, unnest, explode and its kin, and scalar functions.
 *
 * After binding, name[0] is the canonical name (lower case, without _outer) that print_from.c writes. */
#include "sql/bind_int.h"

static void add_column(Bind *b, TableRef *t, Str name, DataType type)
{
    vec_push(b->a, &t->columns, ((BoundColumn){ .name = name, .type = type, .nullable = 1 }));
}

static Status fail_arg(Bind *b, const TableRef *t, const char *needs)
{
    return BIND_FAIL(b, t->position, b->spark ? "42K09" : "42883", "%s" STR_FMT " requires %s", b->spark ? "[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] " : "",
                     STR_ARG(t->name.p[0]), needs);
}

/* PostgreSQL names the only column of a function after its alias. */
static Str single_name(const Bind *b, const TableRef *t, Str fallback) { return !b->spark && t->alias.n ? t->alias : fallback; }

static Status range(Bind *b, TableRef *t)
{
    if (t->args.n < 1 || t->args.n > (b->spark ? 4 : 3))
        return fail_arg(b, t, "one to three arguments");
    for (size_t i = 0; i < t->args.n; i++)
        TRY(bind_coerce(b, &t->args.p[i], ty(DT_INT64), "range"));
    if (t->args.n == 4)
        t->args.n = 3;                                  /* the number of partitions */
    add_column(b, t, single_name(b, t, b->spark ? S("id") : S("range")), ty(DT_INT64));
    t->columns.p[0].nullable = 0;
    return OK;
}

static Status series(Bind *b, TableRef *t)
{
    Expr **both[] = { &t->args.p[0], &t->args.p[1] };
    DataType type;

    if (t->args.n < 2 || t->args.n > 3)
        return fail_arg(b, t, "two or three arguments");
    TRY(bind_unify(b, both, 2, t->position, &type));
    if (type.kind == DT_DATE || ty_is_text(&type)) {
        type = ty(DT_TIMESTAMP);
        bind_to(b, both[0], type);
        bind_to(b, both[1], type);
    }
    if (ty_is_integer(&type)) {
        for (size_t i = 0; i < t->args.n; i++)
            TRY(bind_coerce(b, &t->args.p[i], ty(DT_INT64), "generate_series"));
    } else if (!ty_is_time(&type) || t->args.n < 3) {
        return fail_arg(b, t, "integers, or timestamps and an interval");
    } else {
        bind_to(b, &t->args.p[2], ty(DT_INTERVAL));
    }
    add_column(b, t, single_name(b, t, S("generate_series")), type);
    return OK;
}

static Status explode(Bind *b, TableRef *t)
{
    DataType *a;

    if (t->args.n < 1)
        return fail_arg(b, t, "an argument");
    if (str_eq(t->name.p[0], S("posexplode")))
        add_column(b, t, S("pos"), ty(DT_INT32));
    for (size_t i = 0; i < t->args.n; i++) {
        bind_flatten(b, &t->args.p[i]);
        a = &t->args.p[i]->type;
        if (a->kind == DT_LIST) {
            add_column(b, t, t->args.n == 1 ? single_name(b, t, b->spark ? S("col") : S("unnest")) : S("unnest"), a->children[0]);
        } else if (a->kind == DT_MAP && t->args.n == 1) {
            add_column(b, t, S("key"), a->children[0]);
            add_column(b, t, S("value"), a->children[1]);
        } else {
            return fail_arg(b, t, "an array or a map");
        }
    }
    return OK;
}

static Status inline_(Bind *b, TableRef *t)
{
    const DataType *a = t->args.n == 1 ? &t->args.p[0]->type : NULL;

    if (!a || a->kind != DT_LIST || a->children[0].kind != DT_STRUCT)
        return fail_arg(b, t, "an array of structs");
    for (size_t i = 0; i < a->children[0].nchildren; i++)
        add_column(b, t, a->children[0].names[i], a->children[0].children[i]);
    return OK;
}

/* stack(n, v1, v2, …): n rows */
static Status stack(Bind *b, TableRef *t)
{
    const Expr *n = t->args.n > 1 ? t->args.p[0] : NULL;

    if (!n || n->kind != EX_LITERAL || !ty_is_integer(&n->type) || n->value.integer < 1 || n->value.integer > 10000)
        return fail_arg(b, t, "a constant number of rows and values");
    size_t rows = (size_t)n->value.integer, values = t->args.n - 1, width = (values + rows - 1) / rows;
    while ((t->args.n - 1) < rows * width) {
        Expr *null = bx_new(b->a, EX_LITERAL, t->position);
        null->value.kind = DT_NULL;
        null->type = ty(DT_NULL);
        vec_push(b->a, &t->args, null);
    }
    for (size_t j = 0; j < width; j++) {
        Expr ***es = arena_array(b->a, Expr **, rows);
        DataType type;
        for (size_t i = 0; i < rows; i++)
            es[i] = &t->args.p[1 + i * width + j];
        TRY(bind_unify(b, es, rows, t->position, &type));
        add_column(b, t, str_fmt(b->a, "col%zu", j), type);
    }
    return OK;
}

static Status json_tuple(Bind *b, TableRef *t)
{
    for (size_t i = 0; i < t->args.n; i++)
        TRY(bind_coerce(b, &t->args.p[i], ty(DT_STRING), "json_tuple"));
    for (size_t i = 1; i < t->args.n; i++)
        add_column(b, t, str_fmt(b->a, "c%zu", i - 1), ty(DT_STRING));
    return t->columns.n ? OK : fail_arg(b, t, "at least two arguments");
}

/* Trino's UNNEST: a row is spread over its fields, a map over key and value. */
static Status unnest_trino(Bind *b, TableRef *t)
{
    for (size_t i = 0; i < t->args.n; i++) {
        const DataType *a = &t->args.p[i]->type, *item = a->nchildren ? &a->children[0] : a;
        if (a->kind != DT_LIST && a->kind != DT_MAP)
            return BIND_FAIL(b, t->args.p[i]->position, "42K09", "Cannot unnest type: " STR_FMT, STR_ARG(bind_type_name(b, a)));
        if (a->kind == DT_LIST && item->kind != DT_STRUCT)
            add_column(b, t, str_fmt(b->a, "_col%zu", t->columns.n), *item);
        for (size_t k = 0; a->kind == DT_MAP && k < 2; k++)
            add_column(b, t, str_fmt(b->a, "_col%zu", t->columns.n), a->children[k]);
        for (size_t k = 0; item->kind == DT_STRUCT && a->kind == DT_LIST && k < item->nchildren; k++)
            add_column(b, t, item->names[k], item->children[k]);
    }
    if (!t->args.n)
        return BIND_FAIL(b, t->position, "42601", "UNNEST takes an array or a map");
    if (t->column_aliases.n && t->column_aliases.n != t->columns.n + (t->ordinality ? 1 : 0))
        return BIND_FAIL(b, t->position, "42K09", "Column alias list has %zu entries but '" STR_FMT "' has %zu columns available", t->column_aliases.n, STR_ARG(t->alias),
                         t->columns.n + (t->ordinality ? 1 : 0));
    vec_push(b->a, &t->name, S("trino"));
    return OK;
}

/* jsonb_each[_text](object): a row of key and value for each member. */
static Status json_each(Bind *b, TableRef *t)
{
    if (t->args.n != 1)
        return fail_arg(b, t, "one argument");
    if (t->ordinality)
        return fail_arg(b, t, "no WITH ORDINALITY");
    TRY(bind_coerce(b, &t->args.p[0], ty(DT_JSON), "jsonb_each"));
    add_column(b, t, S("key"), ty(DT_STRING));
    add_column(b, t, S("value"), ty(str_ends(t->name.p[0], S("_text")) ? DT_STRING : DT_JSON));
    return OK;
}

enum { CSV_COLUMNS_MAX = 1600 };                        /* as many as a table of PostgreSQL's may have */

/* csv_extract(n, text): the records as structs of column1 … columnn, spread as inline does. */
static Status csv_extract(Bind *b, TableRef *t)
{
    Expr *n = t->args.n == 2 ? t->args.p[0] : NULL;
    StrBuf pack = sb_new(b->a);

    if (!n || n->kind != EX_LITERAL || !ty_is_integer(&n->type) || n->value.integer < 1 || n->value.integer > CSV_COLUMNS_MAX)
        return fail_arg(b, t, "a constant number of columns and a text");
    TRY(bind_coerce(b, &t->args.p[1], ty(DT_STRING), "csv_extract"));
    size_t columns = (size_t)n->value.integer;
    DataType row = { .kind = DT_STRUCT, .nchildren = columns, .children = arena_array(b->a, DataType, columns), .names = arena_array(b->a, Str, columns) };
    for (size_t i = 0; i < columns; i++) {
        row.names[i] = str_fmt(b->a, "column%zu", i + 1);
        row.children[i] = ty(DT_STRING);
        sb_fmt(&pack, "%scolumn%zu := firn_r[%zu]", i ? ", " : "", i + 1, i + 1);
        add_column(b, t, row.names[i], row.children[i]);
    }
    Str engine = str_fmt(b->a, "list_transform(CAST(CAST(firn_csv_records($1, %zu) AS JSON) AS VARCHAR[][]), lambda firn_r: struct_pack(" STR_FMT "))", columns, STR_ARG(sb_str(&pack)));
    Expr *records = bx_call(b->a, "csv_extract", engine.p, ty_list(b->a, row), t->args.p[1], NULL);
    t->args.n = 0;
    vec_push(b->a, &t->args, records);
    t->name.p[0] = S("inline");
    return OK;
}

typedef struct Row { const char *name; int dialects; Status (*bind)(Bind *b, TableRef *t); } Row;

static const Row rows[] = {
    { "range", FD_SPARK, range }, { "unnest", FD_TRINO, unnest_trino }, { "generate_series", FD_BOTH, series }, { "unnest", FD_POSTGRES, explode }, { "explode", FD_SPARK, explode },
    { "posexplode", FD_SPARK, explode }, { "inline", FD_SPARK, inline_ }, { "stack", FD_SPARK, stack }, { "json_tuple", FD_SPARK, json_tuple },
    { "csv_extract", FD_POSTGRES, csv_extract }, { "jsonb_each", FD_POSTGRES, json_each }, { "jsonb_each_text", FD_POSTGRES, json_each }, { "json_each", FD_POSTGRES, json_each }, { "json_each_text", FD_POSTGRES, json_each },
};

/* A scalar function of the list as a relation of one row. */
static Status scalar(Bind *b, Level *l, TableRef *t)
{
    Expr *e = bx_new(b->a, EX_FUNCTION, t->position);

    e->func = arena_new(b->a, FuncCall);
    e->func->name = t->name;
    e->args = t->args;
    t->args = (ExprVec){ 0 };
    TRY(bind_function(b, l, &e));
    if (e->kind == EX_FUNCTION && e->func->class != FN_SCALAR && e->func->class != FN_TABLE)
        return BIND_FAIL(b, t->position, "42883", "function " STR_FMT " cannot be used in FROM", STR_ARG(vec_last(&t->name)));
    Str name = str_lower(b->a, vec_last(&t->name));
    bool named = str_ends(name, S("_array_elements")) || str_ends(name, S("_array_elements_text"));
    if (named)
        name = S("value");
    vec_push(b->a, &t->args, e);
    t->name = (StrVec){ 0 };
    vec_push(b->a, &t->name, S("(scalar)"));
    add_column(b, t, named ? name : single_name(b, t, name), e->type);      /* a result with a name keeps it beside an alias */
    return OK;
}

/* unnest(a, b) is unnest(a), unnest(b). */
static void spread_unnest(Bind *b, ExprVec *calls)
{
    ExprVec all = {0};

    for vec_each(Expr *, call, calls) {
        bool several = (*call)->args.n > 1 && str_ieq(vec_last(&(*call)->func->name), S("unnest"));
        if (!several)
            vec_push(b->a, &all, *call);
        for (size_t i = 0; several && i < (*call)->args.n; i++) {
            Expr *one = bx_new(b->a, EX_FUNCTION, (*call)->position);
            one->func = arena_new(b->a, FuncCall);
            one->func->name = (*call)->func->name;
            vec_push(b->a, &one->args, (*call)->args.p[i]);
            vec_push(b->a, &all, one);
        }
    }
    *calls = all;
}

/* unnest's list is the list. */
static Status rows_of_list(Bind *b, Level *l, Expr **pe)
{
    Expr *list = (*pe)->args.p[0];

    TRY(bind_expr(b, l, &list));
    bind_flatten(b, &list);
    *pe = list;
    return list->type.kind == DT_LIST ? OK : BIND_FAIL(b, list->position, "42883", "unnest in ROWS FROM requires an array");
}

static Status rows_of_series(Bind *b, Level *l, Expr **pe)
{
    TableRef t = { .position = (*pe)->position, .args = (*pe)->args };

    vec_push(b->a, &t.name, S("generate_series"));
    for (size_t i = 0; i < t.args.n; i++)
        TRY(bind_expr(b, l, &t.args.p[i]));
    TRY(series(b, &t));
    Expr *e = bx_call(b->a, "generate_series", "generate_series($1, $2, $3{1})", ty_list(b->a, t.columns.p[0].type), t.args.p[0], t.args.p[1]);
    if (t.args.n > 2)
        vec_push(b->a, &e->args, t.args.p[2]);
    *pe = e;
    return OK;
}

/* A call as the list of its rows: a set's text is unnest(…), one value is a row. */
static Status rows_of_call(Bind *b, Level *l, Expr **pe)
{
    Str name = vec_last(&(*pe)->func->name);

    if (str_ieq(name, S("unnest")) && (*pe)->args.n == 1)
        return rows_of_list(b, l, pe);
    if (str_ieq(name, S("generate_series")))
        return rows_of_series(b, l, pe);
    TRY(bind_function(b, l, pe));
    Expr *e = *pe;
    if (e->kind != EX_FUNCTION || e->func->class == FN_SCALAR) {
        *pe = bx_call(b->a, "row", "[$1]", ty_list(b->a, e->type), e, NULL);
        return OK;
    }
    Str set = e->func->engine;
    if (e->func->class != FN_TABLE || !str_starts(set, S("unnest(")) || !str_ends(set, S(")")))
        return BIND_FAIL(b, e->position, "0A000", "function " STR_FMT " cannot be used in ROWS FROM", STR_ARG(name));
    e->func->engine = str_sub(set, strlen("unnest("), set.n - 1);
    e->func->class = FN_SCALAR;
    e->type = ty_list(b->a, e->type);
    return OK;
}

/* The rows of all calls side by side, NULL behind the end of each: as unnest of several lists. */
static Status rows_from(Bind *b, Level *l, TableRef *t)
{
    spread_unnest(b, &t->args);
    t->name.p[0] = S("unnest");
    for (size_t i = 0; i < t->args.n; i++) {
        Str name = str_lower(b->a, vec_last(&t->args.p[i]->func->name));
        TRY(rows_of_call(b, l, &t->args.p[i]));
        add_column(b, t, t->args.n == 1 ? single_name(b, t, name) : name, t->args.p[i]->type.children[0]);
    }
    return OK;
}

static Status fail_unknown(Bind *b, const TableRef *t)
{
    if (b->trino)
        return BIND_FAIL(b, t->position, "42883", "Table function '" STR_FMT "' not registered", STR_ARG(vec_last(&t->name)));
    if (b->spark)
        return BIND_FAIL(b, t->position, "42883", "[UNRESOLVABLE_TABLE_VALUED_FUNCTION] Could not resolve `" STR_FMT "` to a table-valued function. Please make sure that "
                         "`" STR_FMT "` is defined as a table-valued function and that all required parameters are provided correctly.",
                         STR_ARG(vec_last(&t->name)), STR_ARG(vec_last(&t->name)));
    return BIND_FAIL(b, t->position, "42883", "function " STR_FMT "() does not exist", STR_ARG(vec_last(&t->name)));
}

static const Row *find(Bind *b, Str name)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if ((rows[i].dialects & func_dialect(b)) && str_eq(name, str_c(rows[i].name)))
            return &rows[i];
    return NULL;
}

static Status finish(Bind *b, TableRef *t)
{
    if (t->ordinality) {
        add_column(b, t, S("ordinality"), ty(DT_INT64));
    }
    bind_engine_names(b, &t->columns);
    return OK;
}

Status bind_table_function(Bind *b, Level *l, TableRef *t)
{
    Clause clause = l->clause;
    Str name = str_lower(b->a, vec_last(&t->name));
    int qualified = t->name.n > 1 && !(t->name.n == 2 && str_ieq(t->name.p[0], S("pg_catalog")) && !b->spark);

    if (b->spark && str_ends(name, S("_outer"))) {
        name = str_sub(name, 0, name.n - 6);
        t->outer = 1;
    }
    if (str_eq(t->name.p[0], S(ROWS_FROM))) {
        l->clause = CL_FROM;
        TRY(rows_from(b, l, t));
        l->clause = clause;
        return finish(b, t);
    }
    const Row *r = qualified ? NULL : find(b, name);
    if (!r && (qualified || b->trino || !func_find(name, b->b->dialect)))
        return fail_unknown(b, t);
    l->clause = CL_FROM;
    if (!r) {
        TRY(scalar(b, l, t));
        l->clause = clause;
        return finish(b, t);
    }
    t->name = (StrVec){ 0 };
    vec_push(b->a, &t->name, name);
    for (size_t i = 0; i < t->args.n; i++)
        TRY(bind_expr(b, l, &t->args.p[i]));
    l->clause = clause;
    TRY(r->bind(b, t));
    return finish(b, t);
}
