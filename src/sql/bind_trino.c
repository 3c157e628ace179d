/* SPDX-License-Identifier: Apache-2.0 */
/* bind_trino.c - Trino's types in the binder: what becomes what without being asked, operators, casts, error texts. */
#include "sql/bind_int.h"

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

static const char *error_name(const char *sqlstate)
{
    static const char *const names[][2] = {
        { "42P01", "TABLE_NOT_FOUND" }, { "42703", "COLUMN_NOT_FOUND" }, { "42702", "AMBIGUOUS_NAME" }, { "42704", "AMBIGUOUS_NAME" },
        { "42883", "FUNCTION_NOT_FOUND" }, { "42803", "EXPRESSION_NOT_AGGREGATE" }, { "0A000", "NOT_SUPPORTED" }, { "42601", "SYNTAX_ERROR" },
        { "42P10", "INVALID_COLUMN_REFERENCE" }, { "22023", "INVALID_FUNCTION_ARGUMENT" }, { "42701", "DUPLICATE_COLUMN_NAME" },
        { "42P20", "MISSING_OVER" }, { "54001", "EXCEEDED_QUERY_DEPTH" }, { "42P02", "INVALID_PARAMETER_USAGE" }, { "22018", "INVALID_CAST_ARGUMENT" },
    };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i][0], sqlstate) == 0)
            return names[i][1];
    return "TYPE_MISMATCH";
}

/* NAME: line 1:8: text */
Str trino_error_text(Bind *b, int position, const char *sqlstate, const char *text)
{
    Str t = b->b->text;
    int line = 1, column = 1;

    for (int i = 0; i + 1 < position && (size_t)i < t.n; i++) {
        column++;
        if (t.p[i] == '\n') {
            line++;
            column = 1;
        }
    }
    if (position < 1 || !t.n)
        return str_fmt(b->a, "%s: %s", error_name(sqlstate), text);
    return str_fmt(b->a, "%s: line %d:%d: %s", error_name(sqlstate), line, column, text);
}

/* ---- the common type ------------------------------------------------------------------------------------------------- */

static int max_int(int x, int y) { return x > y ? x : y; }
static int min_int(int x, int y) { return x < y ? x : y; }

DataType trino_decimal_of(const DataType *t)
{
    return t->kind == DT_INT64 ? ty_decimal(19, 0) : ty_as_decimal(t);
}

static DataType common_decimal(const DataType *x, const DataType *y)
{
    DataType l = trino_decimal_of(x), r = trino_decimal_of(y);
    int scale = max_int(l.scale, r.scale);

    return ty_decimal(min_int(38, max_int(l.precision - l.scale, r.precision - r.scale) + scale), scale);
}

static DataType common_numeric(const DataType *x, const DataType *y)
{
    if (x->kind == DT_DOUBLE || y->kind == DT_DOUBLE)
        return ty(DT_DOUBLE);
    if (x->kind == DT_FLOAT || y->kind == DT_FLOAT)
        return ty(DT_FLOAT);
    if (x->kind == DT_DECIMAL || y->kind == DT_DECIMAL)
        return common_decimal(x, y);
    DataTypeKind k = x->kind > y->kind ? x->kind : y->kind;
    return k > DT_INT64 ? ty_decimal(38, 0) : ty(k);                /* beyond BIGINT: only in our own metadata tables */
}

/* With the finer digits; `scale` marks a point in time that is to be shown in a zone other than UTC. */
static DataType common_time(const DataType *x, const DataType *y)
{
    DataType t = ty(x->kind == DT_TIMESTAMPTZ || y->kind == DT_TIMESTAMPTZ ? DT_TIMESTAMPTZ : DT_TIMESTAMP);
    int l = x->kind == DT_DATE ? 0 : sql_time_digits(x), r = y->kind == DT_DATE ? 0 : sql_time_digits(y);

    t.length = max_int(l, r) + 1;
    t.scale = x->scale | y->scale;
    return t;
}

static bool common_nested(Bind *b, const DataType *x, const DataType *y, DataType *ret)
{
    if (x->kind != y->kind || x->nchildren != y->nchildren || !x->nchildren)
        return false;
    *ret = *x;
    ret->children = arena_array(b->a, DataType, x->nchildren + 1);
    for (size_t i = 0; i < x->nchildren; i++)
        if (!trino_common(b, &x->children[i], &y->children[i], &ret->children[i]))
            return false;
    return true;
}

bool trino_common(Bind *b, const DataType *x, const DataType *y, DataType *ret)
{
    *ret = ty_unknown(x) ? *y : *x;
    if (ty_unknown(x) || ty_unknown(y))
        return true;
    if (ty_is_numeric(x) && ty_is_numeric(y))
        return *ret = common_numeric(x, y), true;
    if (x->kind == DT_DATE && y->kind == DT_DATE)
        return true;
    if (ty_is_time(x) && ty_is_time(y))
        return *ret = common_time(x, y), true;
    if (ty_is_text(x) && ty_is_text(y)) {
        *ret = ty(DT_STRING);
        ret->length = x->length && y->length ? max_int(x->length, y->length) : 0;
        return true;
    }
    if (x->kind == y->kind && !x->nchildren)
        return true;
    return common_nested(b, x, y, ret);
}

/* May a value of type `from` stand where `to` is wanted? */
bool trino_may_coerce(Bind *b, const DataType *from, const DataType *to)
{
    DataType t;

    if (ty_unknown(from) || (from->kind == to->kind && !from->nchildren))
        return true;
    if (to->nchildren == 0 && from->kind == to->kind)
        return true;
    return trino_common(b, from, to, &t) && t.kind == to->kind;
}

/* A literal's type with its length: varchar(3). */
Str trino_type_of(Bind *b, const Expr *e)
{
    DataType t = e->type;

    if (e->kind == EX_LITERAL && e->value.kind == DT_STRING && !t.length) {
        for (size_t i = 0; i < e->value.string.n; i++)
            t.length += ((unsigned char)e->value.string.p[i] & 0xC0) != 0x80;
        if (!t.length)
            return S("varchar(0)");
    }
    return bind_type_name(b, &t);
}
