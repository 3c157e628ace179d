/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - the binder's doors: names to relations, functions by the list, a type for every expression.
 *
 * The tree is changed in place: an EX_COLUMN gets its relation and column, stars are expanded, USING becomes ON,
 * implicit casts become EX_CAST nodes, and every expression gets a type.  Printing needs nothing but the tree.
 * Invariants: (1) after success no EX_STAR and no unbound EX_COLUMN is left; (2) every TableRef that is not a join
 * has an engine alias unique in the statement; (3) output columns have engine names unique without regard to case;
 * (4) a function that is not on the list (func_table.c) is refused. */
#include "sql/bind_int.h"

#include <stdio.h>

Status bind_fail(Bind *b, int position, const char *sqlstate, const char *origin, const char *fmt, ...)
{
    char text[LIMIT_ERROR_TEXT];
    va_list ap;
    Status code = strcmp(sqlstate, "0A000") == 0 ? E_UNSUPPORTED : E_INVALID;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (b->spark)
        error_set(b->err, code, origin, "%s SQLSTATE: %s", text, sqlstate);
    else if (b->trino)
        error_set(b->err, code, origin, "%s", trino_error_text(b, position, sqlstate, text).p);
    else
        error_set(b->err, code, origin, "%s", text);
    b->err->position = position;
    snprintf(b->err->sqlstate, sizeof b->err->sqlstate, "%s", sqlstate);
    return code;
}

static Bind bind_start(Arena *a, Binder *b, Error *err)
{
    return (Bind){ .a = a, .b = b, .err = err, .spark = b->dialect == DIALECT_SPARK, .trino = b->dialect == DIALECT_TRINO, .next_alias = b->aliases, .probes = map_new(a) };
}

/* A parameter that nothing gave a type is text. */
static void settle_params(Binder *b)
{
    for (size_t i = 0; b->param_types && !b->params && i < b->nparams; i++)
        if (ty_unknown(&b->param_types[i]))
            b->param_types[i] = ty(DT_STRING);
}

Status sql_bind_query(Arena *a, Binder *b, Query *q, Error *err)
{
    Bind s = bind_start(a, b, err);

    TRY(bind_query(&s, NULL, q));
    b->aliases = s.next_alias;
    settle_params(b);
    return OK;
}

static bool is_bound(const TableRef *t)
{
    while (t->kind == TR_JOIN)
        t = t->left;
    return t->engine.n > 0;
}

static void collect(Arena *a, TableRef *t, Visibles *ret)
{
    if (t->kind == TR_JOIN) {
        collect(a, t->left, ret);
        if (t->join != JOIN_SEMI && t->join != JOIN_ANTI)
            collect(a, t->right, ret);
        return;
    }
    for (size_t i = 0; i < t->columns.n; i++)
        vec_push(a, ret, ((Visible){ .name = t->columns.p[i].name, .rel = t, .col = (int)i }));
}

Status sql_bind_expr(Arena *a, Binder *b, TableRef *from, Expr *e, Error *err)
{
    Bind s = bind_start(a, b, err);
    Level l = { .clause = CL_WHERE };
    Expr *bound = arena_new(a, Expr);               /* a node of its own: binding may wrap it */

    if (from && is_bound(from))
        collect(a, from, &l.visible);
    else if (from) {
        Visibles v = { 0 };
        TRY(bind_from(&s, &l, from, &v));
        l.visible = v;
    }
    *bound = *e;
    TRY(bind_expr(&s, &l, &bound));
    *e = *bound;
    b->aliases = s.next_alias;
    settle_params(b);
    return OK;
}

Str bind_new_alias(Bind *b) { return str_fmt(b->a, "t%d", ++b->next_alias); }

Str bind_type_name(Bind *b, const DataType *t)
{
    Str s = sql_type_name(b->a, b->b->dialect, t);
    return b->spark ? str_upper(b->a, s) : s;
}

bool bind_name_eq(const Bind *b, Str x, Str y)
{
    return b->trino || (b->spark && !b->b->case_sensitive) ? str_ieq(x, y) : str_eq(x, y);
}

/* ---- output names -------------------------------------------------------------------------------------------- */

/* The next number to try behind each name: thousands of columns of one name cost no more than thousands of names. */
static int *next_suffix(Bind *b, Map *suffixes, Str name)
{
    int *k = map_get(suffixes, name);

    if (!k) {
        k = arena_new(b->a, int);
        *k = 2;
        map_put(suffixes, name, k);
    }
    return k;
}

void bind_engine_names(Bind *b, BoundColumns *cols)
{
    Map taken = map_new(b->a), suffixes = map_new(b->a);

    for (size_t i = 0; i < cols->n; i++) {
        Str name = cols->p[i].name.n ? cols->p[i].name : S("_");
        int *k = next_suffix(b, &suffixes, str_lower(b->a, cols->p[i].name));
        while (map_has(&taken, str_lower(b->a, name)))
            name = str_fmt(b->a, STR_FMT "_%d", STR_ARG(cols->p[i].name), (*k)++);
        map_put(&taken, str_lower(b->a, name), cols);
        cols->p[i].engine = name;
    }
}

/* ---- equality of bound expressions ------------------------------------------------------------------------------ */

static bool literal_equal(const Value *x, const Value *y)
{
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case DT_NULL: case DT_INVALID: return true;
    case DT_BOOL: return x->boolean == y->boolean;
    case DT_STRING: case DT_BINARY: case DT_JSON: case DT_UUID: case DT_ENUM: case DT_OTHER: case DT_TIMETZ: return str_eq(x->string, y->string);
    case DT_FLOAT: case DT_DOUBLE: return x->real == y->real;
    case DT_DECIMAL: case DT_INT128: case DT_UINT64: case DT_UINT128: return x->wide == y->wide;
    case DT_INTERVAL:
        return x->interval.months == y->interval.months && x->interval.days == y->interval.days && x->interval.micros == y->interval.micros;
    case DT_LIST: case DT_STRUCT: case DT_MAP: return false;
    default: return x->integer == y->integer;
    }
}

static bool exprs_equal(const ExprVec *x, const ExprVec *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!expr_equal(x->p[i], y->p[i]))
            return false;
    return true;
}

static bool orders_equal(const OrderVec *x, const OrderVec *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!expr_equal(x->p[i].expr, y->p[i].expr) || x->p[i].descending != y->p[i].descending || x->p[i].nulls_first != y->p[i].nulls_first)
            return false;
    return true;
}

static bool calls_equal(const FuncCall *x, const FuncCall *y)
{
    if (!x || !y)
        return x == y;
    return str_eq(x->canonical, y->canonical) && str_eq(x->engine, y->engine) && x->distinct == y->distinct && x->star == y->star
           && x->ignore_nulls == y->ignore_nulls && !x->volatile_ && !y->volatile_ && expr_equal(x->filter, y->filter)
           && orders_equal(&x->order, &y->order) && x->over == y->over;
}

static bool names_equal(const StrVec *x, const StrVec *y)
{
    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!str_eq(x->p[i], y->p[i]))
            return false;
    return true;
}

bool expr_equal(const Expr *x, const Expr *y)
{
    if (!x || !y || x == y)
        return x == y;
    if (x->kind != y->kind || x->op != y->op || x->negated != y->negated || x->try_cast != y->try_cast || x->all != y->all
        || x->has_operand != y->has_operand || x->query != y->query || !data_type_equal(&x->type, &y->type))
        return false;
    if (x->kind == EX_COLUMN)
        return x->rel == y->rel && x->col == y->col && x->outer == y->outer;
    if (x->kind == EX_PARAM)
        return x->param == y->param;
    if (x->kind == EX_LITERAL)
        return literal_equal(&x->value, &y->value);
    return names_equal(&x->name, &y->name) && exprs_equal(&x->args, &y->args) && expr_equal(x->else_, y->else_) && calls_equal(x->func, y->func);
}

/* ---- the engine's errors in the dialect's words ------------------------------------------------------------------- */

static void say(Error *err, Status code, const char *sqlstate, const char *text)
{
    snprintf(err->message, sizeof err->message, "%s", text);
    err->code = code;
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
}

static void say_spark(Error *err)
{
    char text[LIMIT_ERROR_TEXT];

    if (err->message[0] == '[')                    /* raised in Spark's words already */
        return;
    if (err->code == E_DIVISION) {
        say(err, E_DIVISION, "22012", "[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate divisor being 0 and return NULL instead. SQLSTATE: 22012");
    } else if (err->code == E_OVERFLOW) {
        snprintf(text, sizeof text, "[ARITHMETIC_OVERFLOW] %.1900s SQLSTATE: 22003", err->message);
        say(err, E_OVERFLOW, "22003", text);
    } else if (err->code == E_INVALID && strcmp(err->sqlstate, "22018") == 0) {
        snprintf(text, sizeof text, "[CAST_INVALID_INPUT] %.1900s Use `try_cast` to tolerate malformed input and return NULL instead. SQLSTATE: 22018", err->message);
        say(err, E_INVALID, "22018", text);
    }
}

static const char *postgres_type(Str spark)
{
    static const char *const names[][2] = { { "TINYINT", "smallint" }, { "SMALLINT", "smallint" }, { "INT", "integer" }, { "BIGINT", "bigint" } };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_eq(spark, str_c(names[i][0])))
            return names[i][1];
    return NULL;
}

/* Our strict casts (duck_strict.c) raise in Spark's words; PostgreSQL has its own for the same. */
static bool say_postgres_cast(Error *err)
{
    static const char value[] = "[CAST_INVALID_INPUT] The value '", target[] = " cannot be cast to \"";
    char text[LIMIT_ERROR_TEXT];
    Str m = str_c(err->message);
    ptrdiff_t to = str_find(m, str_c(target)), from = str_find(m, S("' of the type"));

    if (to < 0)
        return false;
    Str rest = str_from(m, (size_t)to + sizeof target - 1), type, unused;
    if (!str_cut(rest, '"', &type, &unused) || !postgres_type(type))
        return false;
    if (str_starts(m, S("[CAST_OVERFLOW]"))) {
        snprintf(text, sizeof text, "%s out of range", postgres_type(type));
        say(err, E_OVERFLOW, "22003", text);
        return true;
    }
    if (!str_starts(m, str_c(value)) || from < (ptrdiff_t)sizeof value - 1)
        return false;
    Str v = str_sub(m, sizeof value - 1, (size_t)from);
    snprintf(text, sizeof text, "invalid input syntax for type %s: \"" STR_FMT "\"", postgres_type(type), STR_ARG(v));
    say(err, E_INVALID, "22P02", text);
    return true;
}

/* The code at the end of a text that a template raised goes to the client in its own field. */
static void drop_sqlstate(char *message)
{
    static const char mark[] = " SQLSTATE: ";
    enum { CODE = 5 };
    size_t n = strlen(message), tail = sizeof mark - 1 + CODE;

    if (n >= tail && strncmp(message + n - tail, mark, sizeof mark - 1) == 0)
        message[n - tail] = 0;
}

/* Spark's class and SQLSTATE around a text that our own functions raised mean nothing to a PostgreSQL client. */
static void say_postgres(Error *err)
{
    char *close = err->message[0] == '[' ? strstr(err->message, "] ") : NULL;

    if (err->code == E_DIVISION) {
        say(err, E_DIVISION, "22012", "division by zero");
        return;
    }
    if (say_postgres_cast(err))
        return;
    if (err->code == E_INVALID && strcmp(err->sqlstate, "22018") == 0)
        snprintf(err->sqlstate, sizeof err->sqlstate, "22P02");
    drop_sqlstate(err->message);
    if (!close)
        return;
    memmove(err->message, close + 2, strlen(close + 2) + 1);
}

/* NAME_OF_ERROR: …, as the texts are that our templates raise. */
static bool has_error_name(const char *message)
{
    size_t n = strspn(message, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return n > 3 && message[n] == ':' && message[n + 1] == ' ';
}

/* Trino's error names; the text is the engine's, without the classes of our own functions. */
static void say_trino(Error *err)
{
    char text[LIMIT_ERROR_TEXT], *state = strstr(err->message, " SQLSTATE: ");
    bool cast = err->code == E_INVALID && strcmp(err->sqlstate, "22018") == 0;

    if (has_error_name(err->message)) {
        if (state)
            *state = 0;
        return;
    }
    say_postgres(err);
    if (err->code == E_DIVISION) {
        say(err, E_DIVISION, "22012", "DIVISION_BY_ZERO: Division by zero");
    } else if (err->code == E_OVERFLOW) {
        snprintf(text, sizeof text, "NUMERIC_VALUE_OUT_OF_RANGE: %.1900s", err->message);
        say(err, E_OVERFLOW, "22003", text);
    } else if (cast || (err->code == E_INVALID && strcmp(err->sqlstate, "22P02") == 0)) {
        snprintf(text, sizeof text, "INVALID_CAST_ARGUMENT: %.1900s", err->message);
        say(err, E_INVALID, "22018", text);
    }
}

void sql_engine_error(Dialect d, Error *err)
{
    if (d == DIALECT_SPARK)
        say_spark(err);
    else if (d == DIALECT_TRINO)
        say_trino(err);
    else
        say_postgres(err);
}
