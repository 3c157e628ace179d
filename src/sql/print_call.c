/* SPDX-License-Identifier: Apache-2.0 */
/* print_call.c - function calls: templates, aggregates with the bound type, windows.
 *
 * Every aggregate is written with the cast that gives the bound type and raises on overflow: the engine's HUGEINT,
 * DECIMAL(38) and DOUBLE choices never leave it. */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

/* ---- templates ------------------------------------------------------------------------------------------------- */

/* `text` in braces behind $n: used when there is no argument n. Returns the index behind it. */
static size_t fallback(Str t, size_t i, Str *ret)
{
    size_t from = i + 1, depth = 1;

    *ret = S("NULL");
    if (i >= t.n || t.p[i] != '{')
        return i;
    for (i = from; i < t.n && depth; i++)
        depth += t.p[i] == '{' ? 1 : t.p[i] == '}' ? (size_t)-1 : 0;
    *ret = str_sub(t, from, i - 1);
    return i;
}

static void joined(Print *p, const ExprVec *args, size_t from, const char *sep)
{
    for (size_t k = from; k < args->n; k++) {
        if (k != from)
            add(p, sep);
        print_expr(p, args->p[k]);
    }
}

/* Templates that use an argument twice grow with nesting. */
static bool too_long(Print *p)
{
    if (p->out.n > PRINT_MAX_BYTES)
        PRINT_FAIL(p, E_LIMIT, "the statement is more than %d bytes long when written for the engine", PRINT_MAX_BYTES);
    return p->status != OK;
}

/* $1, $2{default}, $* all, $2* from the second on, $| all joined by ||, $T the node's own type, $$ a dollar. */
void print_template(Print *p, Str t, const ExprVec *args, const Expr *e)
{
    for (size_t i = 0; i < t.n && !too_long(p); i++) {
        if (t.p[i] != '$' || i + 1 >= t.n) {
            sb_byte(&p->out, t.p[i]);
            continue;
        }
        char c = t.p[++i];
        if (c == '*') {
            joined(p, args, 0, ", ");
        } else if (c == '|') {
            joined(p, args, 0, " || ");
        } else if (c == 'T') {
            print_type(p, &e->type);
        } else if (c >= '1' && c <= '9') {
            size_t n = (size_t)(c - '0');
            while (i + 1 < t.n && t.p[i + 1] >= '0' && t.p[i + 1] <= '9')
                n = n * 10 + (size_t)(t.p[++i] - '0');
            if (i + 1 < t.n && t.p[i + 1] == '*') {
                i++;
                joined(p, args, n - 1, ", ");
                continue;
            }
            Str other;
            size_t end = fallback(t, i + 1, &other);
            if (n <= args->n)
                print_expr(p, args->p[n - 1]);
            else
                print_template(p, other, args, e);
            i = end - 1;
        } else {
            sb_byte(&p->out, c);
        }
    }
}

/* ---- OVER, FILTER ------------------------------------------------------------------------------------------------- */

void print_order(Print *p, const OrderVec *v)
{
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            add(p, ", ");
        print_expr(p, v->p[i].expr);
        add(p, v->p[i].descending ? " DESC" : " ASC");
        add(p, v->p[i].nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

static void print_bound(Print *p, Str bound, const Expr *n)
{
    if (n) {
        print_expr(p, n);
        add(p, " ");
    }
    sb_add(&p->out, str_upper(p->a, bound));
}

static void print_frame(Print *p, const WindowFrame *f)
{
    if (!f->mode.n)
        return;
    add(p, " ");
    sb_add(&p->out, str_upper(p->a, f->mode));
    add(p, " BETWEEN ");
    print_bound(p, f->from, f->from_n);
    add(p, " AND ");
    print_bound(p, f->to.n ? f->to : S("current row"), f->to_n);
    if (f->exclude.n) {
        add(p, " EXCLUDE ");
        sb_add(&p->out, str_upper(p->a, f->exclude));
    }
}

static void print_over(Print *p, const WindowSpec *w)
{
    if (!w)
        return;
    add(p, " OVER (");
    if (w->partition.n) {
        add(p, "PARTITION BY ");
        print_exprs(p, &w->partition, 0);
        add(p, w->order.n ? " " : "");
    }
    if (w->order.n) {
        add(p, "ORDER BY ");
        print_order(p, &w->order);
    }
    print_frame(p, &w->frame);
    add(p, ")");
}

static void print_filter(Print *p, const Expr *filter, const Expr *not_null)
{
    if (!filter && !not_null)
        return;
    add(p, " FILTER (WHERE ");
    if (not_null) {
        print_expr(p, not_null);
        add(p, filter ? " IS NOT NULL AND " : " IS NOT NULL");
    }
    if (filter)
        print_expr(p, filter);
    add(p, ")");
}

/* ---- aggregates ---------------------------------------------------------------------------------------------------- */

typedef struct Agg { const char *name; const Expr *not_null; int ignore_nulls; } Agg;

static void print_agg_args(Print *p, const Expr *e, Str text)
{
    if (e->func->distinct)
        add(p, "DISTINCT ");
    if (text.n)
        print_template(p, text, &e->args, e);
    else
        print_exprs(p, &e->args, 0);
}

/* name([DISTINCT] args [ORDER BY …]) [FILTER …] [OVER …] */
static void print_agg(Print *p, const Expr *e, const Agg *g, Str args)
{
    const FuncCall *f = e->func;

    add(p, g->name);
    add(p, "(");
    print_agg_args(p, e, args);
    if (f->order.n) {
        add(p, " ORDER BY ");
        print_order(p, &f->order);
    }
    if (g->ignore_nulls)
        add(p, " IGNORE NULLS");
    add(p, ")");
    print_filter(p, f->filter, g->not_null);
    print_over(p, f->over);
}

static void print_named(Print *p, const Expr *e, const char *name) { print_agg(p, e, &(Agg){ .name = name }, S("")); }

static bool is_split(const Expr *e) { return !e->func->over && !e->func->distinct && print_can_narrow(e->args.p[0]); }

static void print_part(Print *p, const Expr *e, const char *name, void (*part)(Print *p, const Expr *e))
{
    add(p, name);
    part(p, e->args.p[0]);
    add(p, ")");
    print_filter(p, e->func->filter, NULL);
}

/* The sum of the argument, DECIMAL(38,s) of the engine. */
static void print_raw_sum(Print *p, const Expr *e)
{
    if (!is_split(e)) {
        print_named(p, e, "sum");
        return;
    }
    add(p, "coalesce(");
    for (int i = 0; i < 2; i++) {
        print_part(p, e, "sum(", print_fitting);
        add(p, i ? ", " : " + ");
        print_part(p, e, "sum(", print_rest);
        add(p, i ? ")" : ", ");
    }
}

static void print_raw_count(Print *p, const Expr *e)
{
    if (is_split(e))
        print_part(p, e, "count(", print_presence);
    else
        print_named(p, e, "count");
}

static void print_sum(Print *p, const Expr *e)
{
    const DataType *t = &e->type, *x = &e->args.p[0]->type;

    if (t->kind == DT_INT64 && ty_is_integer(x)) {
        add(p, "firn_long(");
        print_named(p, e, "sum");
        add(p, ")");
    } else if (t->kind == DT_DECIMAL && t->precision == 38) {
        sb_fmt(&p->out, "firn_round_s%d(", t->scale);
        print_raw_sum(p, e);
        add(p, ")");
    } else {
        add(p, "CAST(");
        print_raw_sum(p, e);
        add(p, " AS ");
        print_type(p, t);
        add(p, ")");
    }
}

/* Out of range gives NULL. */
static void print_try_sum(Print *p, const Expr *e)
{
    add(p, "TRY_CAST(");
    print_named(p, e, "sum");
    add(p, " AS ");
    print_type(p, &e->type);
    add(p, ")");
}

static void print_avg(Print *p, const Expr *e)
{
    if (e->type.kind != DT_DECIMAL) {
        add(p, "CAST(");
        print_named(p, e, "avg");
        add(p, " AS ");
        print_type(p, &e->type);
        add(p, ")");
        return;
    }
    sb_fmt(&p->out, "CAST(firn_div_s%d(", e->type.scale);
    print_raw_sum(p, e);
    add(p, ", nullif(");
    print_raw_count(p, e);
    add(p, ", 0)) AS ");
    print_type(p, &e->type);
    add(p, ")");
}

/* count(a, b): rows where none is NULL. */
static void print_count(Print *p, const Expr *e)
{
    if (e->func->star || e->args.n < 2) {
        print_agg(p, e, &(Agg){ .name = "count" }, e->args.n ? S("") : S("*"));
        return;
    }
    StrBuf b = sb_new(p->a);
    sb_addc(&b, "CASE WHEN ");
    for (size_t i = 0; i < e->args.n; i++)
        sb_fmt(&b, "%s$%zu IS NOT NULL", i ? " AND " : "", i + 1);
    sb_addc(&b, " THEN row($*) END");
    print_agg(p, e, &(Agg){ .name = "count" }, sb_str(&b));
}

static void print_first(Print *p, const Expr *e)
{
    const FuncCall *f = e->func;
    int last = str_eq(f->canonical, S("last"));
    int ignore = f->ignore_nulls;

    if (f->over) {
        print_agg(p, e, &(Agg){ .name = last ? "last_value" : "first_value", .ignore_nulls = ignore }, S(""));
        return;
    }
    print_agg(p, e, &(Agg){ .name = last ? "last" : "first", .not_null = ignore ? e->args.p[0] : NULL }, S(""));
}

static void print_collect(Print *p, const Expr *e)
{
    add(p, "coalesce(");
    print_agg(p, e, &(Agg){ .name = "list", .not_null = e->args.p[0] }, S(""));
    add(p, ", CAST([] AS ");
    print_type(p, &e->type);
    add(p, "))");
}

/* percentile_cont(f) WITHIN GROUP (ORDER BY x [DESC]) */
static void print_within_group(Print *p, const Expr *e)
{
    const FuncCall *f = e->func;

    add(p, str_eq(f->canonical, S("percentile_cont")) ? "quantile_cont(" : "quantile_disc(");
    print_expr(p, f->order.p[0].expr);
    add(p, f->order.p[0].descending ? ", 1 - " : ", ");
    print_expr(p, e->args.p[0]);
    add(p, ")");
    print_filter(p, f->filter, NULL);
}

static void print_array_agg(Print *p, const Expr *e) { print_named(p, e, "list"); }

/* As a list, which takes an order and a filter; NULL over nothing. */
static void print_json_agg(Print *p, const Expr *e)
{
    add(p, "CAST(firn_jsonb_made(CAST(to_json(");
    print_named(p, e, "list");
    add(p, ") AS VARCHAR)) AS JSON)");
}

/* Its members as texts, which take an order and a filter; of one name the last. */
static void print_json_object_agg(Print *p, const Expr *e)
{
    add(p, "CAST(firn_jsonb_made('{' || ");
    print_agg(p, e, &(Agg){ .name = "string_agg" }, S("(CASE WHEN $1 IS NULL THEN CAST(error('field name must not be null SQLSTATE: 22004') AS VARCHAR) ELSE "
                                                      "CAST(to_json($1) AS VARCHAR) || ':' || coalesce(CAST(to_json($2) AS VARCHAR), 'null') END), ','"));
    add(p, " || '}') AS JSON)");
}

static void print_entries(Print *p, const Expr *e, const char *what) { print_agg(p, e, &(Agg){ .name = "list", .not_null = e->args.p[0] }, str_c(what)); }

/* Materialize's map_agg: the last value of each key, keys in order. */
static void print_last_map_agg(Print *p, const Expr *e)
{
    add(p, "(CASE WHEN len(");
    print_entries(p, e, "$1");
    add(p, ") * len(list_distinct(");
    print_entries(p, e, "$1");
    add(p, ")) > 1000000000 THEN CAST(firn_error('too many keys and entries SQLSTATE: 54000') AS ");
    print_type(p, &e->type);
    add(p, ") ELSE map(list_sort(list_distinct(");
    print_entries(p, e, "$1");
    add(p, ")), list_transform(list_sort(list_distinct(");
    print_entries(p, e, "$1");
    add(p, ")), lambda firn_k: struct_extract(list_extract(list_filter(");
    print_entries(p, e, "{'k': $1, 'v': $2}");
    add(p, ", lambda firn_r: struct_extract(firn_r, 'k') = firn_k), -1), 'v'))) END)");
}

/* Trino's map_agg: the first value of each key; multimap_agg: all of them. The lists of keys and entries are in the same order; work grows
 * with entries times keys, so there is an end. */
static void print_map_agg(Print *p, const Expr *e)
{
    bool many = str_eq(e->func->canonical, S("multimap_agg"));

    add(p, "(CASE WHEN len(");
    print_entries(p, e, "$1");
    add(p, ") * len(list_distinct(");
    print_entries(p, e, "$1");
    add(p, ")) > 1000000000");
    if (!many) {
        add(p, " AND len(");
        print_entries(p, e, "$1");
        add(p, ") > len(list_distinct(");
        print_entries(p, e, "$1");
        add(p, "))");
    }
    add(p, " THEN CAST(firn_error('EXCEEDED_LOCAL_MEMORY_LIMIT: too many keys and entries SQLSTATE: 54000') AS ");
    print_type(p, &e->type);
    if (many) {
        add(p, ") ELSE map_from_entries(list_transform(list_distinct(");
        print_entries(p, e, "$1");
        add(p, "), lambda firn_k: {'k': firn_k, 'v': list_transform(list_filter(");
        print_entries(p, e, "{'k': $1, 'v': $2}");
        add(p, ", lambda firn_e: firn_e.k = firn_k), lambda firn_e: firn_e.v)})) END)");
        return;
    }
    add(p, ") WHEN len(");
    print_entries(p, e, "$1");
    add(p, ") = len(list_distinct(");
    print_entries(p, e, "$1");
    add(p, ")) THEN map_from_entries(");
    print_entries(p, e, "{'k': $1, 'v': $2}");
    add(p, ") ELSE map_from_entries(list_filter(");
    print_entries(p, e, "{'k': $1, 'v': $2}");
    add(p, ", lambda firn_e, firn_i: list_position(");
    print_entries(p, e, "$1");
    add(p, ", firn_e.k) = firn_i)) END)");
}

static void print_window(Print *p, const Expr *e)
{
    const FuncCall *f = e->func;

    sb_add(&p->out, f->canonical);
    add(p, "(");
    print_exprs(p, &e->args, 0);
    add(p, f->ignore_nulls ? " IGNORE NULLS)" : ")");
    print_over(p, f->over);
}

typedef struct Row { const char *canonical; void (*print)(Print *p, const Expr *e); } Row;

static const Row rows[] = {
    { "sum", print_sum }, { "try_sum", print_try_sum }, { "avg", print_avg }, { "count", print_count }, { "first", print_first },
    { "last", print_first }, { "any_value", print_first }, { "collect_list", print_collect }, { "collect_set", print_collect },
    { "array_agg", print_array_agg }, { "json_agg", print_json_agg }, { "jsonb_agg", print_json_agg }, { "json_object_agg", print_json_object_agg }, { "jsonb_object_agg", print_json_object_agg }, { "map_agg", print_map_agg }, { "mz_map_agg", print_last_map_agg }, { "multimap_agg", print_map_agg }, { "percentile_cont", print_within_group }, { "percentile_disc", print_within_group },
};

/* "quantile_disc($1, $2)" to its name and its arguments. */
static void print_listed_agg(Print *p, const Expr *e)
{
    Str t = e->func->engine, name, args;

    if (str_cut(t, '(', &name, &args)) {
        print_agg(p, e, &(Agg){ .name = str_z(p->a, name) }, str_sub(args, 0, args.n - 1));
        return;
    }
    print_named(p, e, str_z(p->a, t));
}

static void print_body(Print *p, const Expr *e)
{
    const FuncCall *f = e->func;

    if (f->class == FN_WINDOW) {
        print_window(p, e);
        return;
    }
    for (size_t i = 0; f->class == FN_AGGREGATE && i < COUNT_OF(rows); i++)
        if (str_eq(f->canonical, str_c(rows[i].canonical))) {
            rows[i].print(p, e);
            return;
        }
    if (f->class == FN_AGGREGATE) {
        print_listed_agg(p, e);
        return;
    }
    if (str_chr(f->engine, '$') >= 0 || str_chr(f->engine, '(') >= 0 || str_chr(f->engine, '\'') >= 0) {
        print_template(p, f->engine, &e->args, e);
        return;
    }
    sb_add(&p->out, f->engine.n ? f->engine : f->canonical);
    add(p, "(");
    print_exprs(p, &e->args, 0);
    add(p, ")");
}

/* Types that the engine's functions give exactly. */
static bool is_exact(const DataType *t)
{
    return t->kind == DT_BOOL || t->kind == DT_STRING || t->kind == DT_JSON || t->kind == DT_BINARY || ty_unknown(t);
}

static bool casts_itself(const Expr *e)
{
    return e->func->class == FN_AGGREGATE && (str_eq(e->func->canonical, S("sum")) || str_eq(e->func->canonical, S("avg")));
}

void print_call(Print *p, const Expr *e)
{
    if (is_exact(&e->type) || casts_itself(e)) {
        print_body(p, e);
        return;
    }
    add(p, "CAST(");
    print_body(p, e);
    add(p, " AS ");
    print_type(p, &e->type);
    add(p, ")");
}
