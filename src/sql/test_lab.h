/* SPDX-License-Identifier: Apache-2.0 */
/* test_lab.h - statements bound against an in-memory engine's tables, printed and run: what the binder's tests share.
 *
 * A row of a case: dialect, SQL, the whole result as text, the columns' types.  A result "!text" wants an error that holds the text. */
#ifndef FIRN_SQL_TEST_LAB_H
#define FIRN_SQL_TEST_LAB_H

#include "test.h"

#include "sql/bind_int.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Fixture { DuckEngine *e; DuckConn *c; Arena *a; } Fixture;

static const char *const set_up_sql =
    "CREATE TABLE emp (id INTEGER, name VARCHAR, dept INTEGER, salary DECIMAL(10,2), hired DATE, boss INTEGER);"
    "INSERT INTO emp VALUES (1, 'Ann', 10, 100.50, '2020-01-15', NULL), (2, 'Bob', 10, 200.25, '2021-02-28', 1),"
    " (3, 'Cid', 20, 300.00, '2021-12-31', 1), (4, 'Dee', NULL, NULL, NULL, 2);"
    "CREATE TABLE dept (id INTEGER, title VARCHAR);"
    "INSERT INTO dept VALUES (10, 'Ops'), (20, 'Dev'), (30, 'Law');"
    "CREATE TABLE nums (i INTEGER, l BIGINT, d DOUBLE, s VARCHAR, b BOOLEAN, p DECIMAL(38,10), q DECIMAL(20,4), t TIMESTAMPTZ);"
    "INSERT INTO nums VALUES (2147483647, 9223372036854775807, 2.5, '12', true, 1.5, 7.1234, '2024-03-01 12:34:56.5+00'),"
    " (-7, 2, -0.5, ' 3 ', false, -2.25, 2, '1969-12-31 23:59:59+00'), (0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);"
    "CREATE TABLE \"case t\" (c1 INTEGER, c2 INTEGER); INSERT INTO \"case t\" VALUES (1, 2);"
    "CREATE TABLE nest (k INTEGER, a INTEGER[], m MAP(VARCHAR, INTEGER), s STRUCT(x INTEGER, y VARCHAR));"
    "INSERT INTO nest VALUES (1, [10, 20, NULL], map(['u', 'v'], [1, 2]), {'x': 5, 'y': 'yy'}), (2, [], map([], []), NULL), (3, NULL, NULL, NULL);";

static int set_up(void **state)
{
    static Fixture f;
    Error err;
    DuckOptions o = { .memory_limit = S("500MB"), .threads = 2 };

    assert_ok(duck_open(&o, &f.e, &err), &err);
    assert_ok(duck_connect(f.e, &f.c, &err), &err);
    assert_ok(duck_exec(f.c, str_c(set_up_sql), &err), &err);
    f.a = arena_create();
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    duck_disconnect(f->c);
    duck_close(f->e);
    arena_destroy(f->a);
    return 0;
}

/* ---- the resolver: the engine's own tables; "case_t" has names that differ by case only ------------------------------ */

static Status resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    Fixture *f = ctx;
    Str name = vec_last(&ref->name);
    BoundTable *t = arena_new(a, BoundTable);
    DuckColumns cols;
    int by_case = str_ieq(name, S("case_t"));

    if (duck_describe(f->c, a, str_fmt(a, "SELECT * FROM \"" STR_FMT "\"", STR_ARG(by_case ? S("case t") : name)), &cols, err) != OK)
        return FAIL(err, E_NOT_FOUND, "no such table");
    t->id = t->display = by_case ? S("case t") : name;
    for (size_t i = 0; i < cols.n; i++) {
        Str user = by_case ? (i ? S("ID") : S("id")) : cols.p[i].name;
        vec_push(a, &t->columns, ((BoundColumn){ user, cols.p[i].name, cols.p[i].type, 1, (int32_t)i + 1 }));
    }
    *ret = t;
    return OK;
}

static Status table_text(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    (void)ctx;
    (void)err;
    sql_ident(out, ref->table->id);
    return OK;
}

static Status engine_text(Fixture *f, Arena *a, Dialect d, const char *sql, Query **q, Str *ret, Error *err)
{
    Binder b = { .dialect = d, .ctx = f, .resolve = resolve, .probe = f->c, .now_has = 1, .now_us = 1700000000000000, .text = str_c(sql),
                 .current_user = S("me"), .current_catalog = S("cat"), .current_namespace = S("ns") };
    Printer p = { .ctx = f, .table = table_text };

    TRY(sql_parse_query(a, d, str_c(sql), q, err));
    TRY(sql_bind_query(a, &b, *q, err));
    return sql_print_query(a, &p, *q, ret, err);
}

/* ---- one case --------------------------------------------------------------------------------------------------------- */

static void cell_text(StrBuf *b, const Value *v)
{
    StrBuf t = sb_new(b->a);
    if (v->kind == DT_STRING) {
        sb_add(b, v->string);
        return;
    }
    Value bare = *v;
    if (v->kind == DT_NULL) {
        sb_addc(b, "NULL");
        return;
    }
    sql_value(&t, &bare);
    sb_add(b, sb_str(&t));
}

/* The result as text by the engine's VARCHAR casts, so that the cells can be compared as written. */
static Status run(Fixture *f, Arena *a, Dialect d, const char *sql, Str *rows, Str *types, Error *err)
{
    Query *q;
    Str text;
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrBuf out = sb_new(a), ty = sb_new(a), wrap = sb_new(a);
    size_t n;

    TRY(engine_text(f, a, d, sql, &q, &text, err));
    if (getenv("FIRN_SHOW_SQL"))
        printf("%s\n  -> " STR_FMT "\n", sql, STR_ARG(text));
    DuckColumns cols;
    TRY(duck_describe(f->c, a, text, &cols, err));
    sb_addc(&wrap, "SELECT ");
    for (size_t i = 0; i < cols.n; i++) {
        Str bound = data_type_sql(a, &q->columns.p[i].type), real = data_type_sql(a, &cols.p[i].type);
        if (!str_eq(bound, real) && !str_eq(bound, S("\"NULL\"")))
            return FAIL(err, E_INTERNAL, "column %zu is bound as " STR_FMT " and comes as " STR_FMT ": %s", i + 1, STR_ARG(bound), STR_ARG(real), text.p);
        sb_fmt(&ty, "%s" STR_FMT, i ? "," : "", STR_ARG(sql_type_name(a, d, &q->columns.p[i].type)));
        sb_fmt(&wrap, "%sCAST(COLUMNS(%zu) AS VARCHAR)", i ? ", " : "", i + 1);
    }
    wrap = sb_new(a);
    sb_addc(&wrap, "SELECT ");
    for (size_t i = 0; i < cols.n; i++) {
        sb_addc(&wrap, i ? ", CAST(" : "CAST(");
        sql_ident(&wrap, cols.p[i].name);
        sb_addc(&wrap, " AS VARCHAR)");
    }
    sb_fmt(&wrap, " FROM (" STR_FMT ")", STR_ARG(text));
    TRY(duck_query(f->c, sb_str(&wrap), &r, err));
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++) {
            if (out.n)
                sb_byte(&out, ';');
            for (size_t j = 0; j < duck_ncols(r); j++) {
                Value v = duck_value(a, r, j, i);
                if (j)
                    sb_byte(&out, '|');
                cell_text(&out, &v);
            }
        }
    } while (n);
    *rows = sb_str(&out);
    *types = sb_str(&ty);
    return OK;
}

typedef struct Case { Dialect d; const char *sql, *rows, *types; } Case;

/* "!text": the error, in the dialect's words. */
static bool fails_rightly(const Case *c, Status s, Error *err)
{
    if (s != OK)
        sql_engine_error(c->d, err);
    return s != OK && c->rows && c->rows[0] == '!' && strstr(err->message, c->rows + 1) && !strstr(err->message, "SQLSTATE");
}

static void check(Fixture *f, const Case *cases, size_t n)
{
    int failed = 0;

    for (size_t i = 0; i < n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Error err = { 0 };
        Str rows = S(""), types = S("");
        Status s = run(f, a, cases[i].d, cases[i].sql, &rows, &types, &err);
        if (fails_rightly(&cases[i], s, &err))
            continue;
        if (s != OK)
            printf("  %s\n    failed: %s (%s)\n", cases[i].sql, err.message, err.origin);
        else if (cases[i].rows && !str_eq(rows, str_c(cases[i].rows)))
            printf("  %s\n    gave " STR_FMT "\n    not  %s\n", cases[i].sql, STR_ARG(rows), cases[i].rows);
        else if (cases[i].types && !str_eq(types, str_c(cases[i].types)))
            printf("  %s\n    has types " STR_FMT "\n    not       %s\n", cases[i].sql, STR_ARG(types), cases[i].types);
        else
            continue;
        failed++;
    }
    if (failed)
        fail_msg("%d of %zu cases", failed, n);
}

#endif
