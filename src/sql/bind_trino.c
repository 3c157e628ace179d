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
