/* SPDX-License-Identifier: Apache-2.0 */
/* test_pgcatalog.c - what clients ask of pg_catalog, through parser, binder and engine, over a few objects. */
#include "test.h"

#include <stdio.h>

#include "service/pgcatalog_int.h"

static Arena *arena;
static DuckEngine *engine;
static DuckConn *conn;
static Error err;

static PgCatRelation relation(const char *ns, const char *name, char kind, const char *comment)
{
    static const DataType i32 = { .kind = DT_INT32 };
    PgCatRelation r = { .namespace = str_c(ns), .name = str_c(name), .kind = kind, .owner = S("bob"), .comment = str_c(comment),
                        .rows = SOME_I64(7), .bytes = SOME_I64(20480) };
    if (kind != 'r')
        r.definition = S("SELECT a FROM t1");
    vec_push(arena, &r.columns, ((PgCatColumn){ .name = S("a"), .type = i32, .not_null = 1, .comment = S("the key"), .default_ = S("1") }));
    vec_push(arena, &r.columns, ((PgCatColumn){ .name = S("B b"), .type = { .kind = DT_STRING, .length = 20 } }));
    vec_push(arena, &r.columns, ((PgCatColumn){ .name = S("c"), .type = { .kind = DT_DECIMAL, .precision = 10, .scale = 2 } }));
    vec_push(arena, &r.columns, ((PgCatColumn){ .name = S("d"), .type = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&i32 } }));
    return r;
}

static PgCatObjects sample(void)
{
    PgCatObjects o = { .database = S("materialize"), .user = S("AKIATEST"), .current_schema = S("public"), .backend_pid = 42 };

    vec_push(arena, &o.namespaces, S("public"));
    vec_push(arena, &o.namespaces, S("Other"));
    vec_push(arena, &o.relations, relation("public", "t1", 'r', "a table"));
    vec_push(arena, &o.relations, relation("public", "v1", 'v', NULL));
    vec_push(arena, &o.relations, relation("public", "m1", 'm', NULL));
    vec_push(arena, &o.relations, relation("Other", "T.2", 'r', NULL));
    vec_push(arena, &o.databases, S("spark"));
    props_set(arena, &o.settings, S("TimeZone"), S("Europe/Rome"));
    return o;
}

static int setup(void **state UNUSED)
{
    DuckOptions options = { .threads = 1 };

    arena = arena_create();
    if (duck_open(&options, &engine, &err) != OK || duck_connect(engine, &conn, &err) != OK)
        return -1;
    PgCatObjects o = sample();
    Status s = pgcat_install(conn, &err);
    if (s == OK)
        s = pgcat_fill(conn, &o, &err);
    if (s != OK)
        print_error("%s\n", err.message);
    return s != OK;
}

static int teardown(void **state UNUSED)
{
    duck_disconnect(conn);
    duck_close(engine);
    arena_destroy(arena);
    return 0;
}

/* ---- a statement as a session would run it ------------------------------------------------------------------------------ */

static Status resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *e)
{
    return pgcat_resolve(ctx, a, ref->name.n > 1 ? ref->name.p[ref->name.n - 2] : S("pg_catalog"), vec_last(&ref->name), ret, e);
}

static Status print_table(void *ctx UNUSED, StrBuf *out, const TableRef *ref, Error *e UNUSED)
{
    sql_ident(out, ref->table->id);
    return OK;
}

static Status rows_of(DuckConn *c, Arena *a, Str sql, Str *ret)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrBuf b = sb_new(a);
    size_t n;

    TRY(duck_query(c, sql, &r, &err));
    for (;;) {
        TRY(duck_next(r, &n, &err));
        if (!n)
            break;
        for (size_t row = 0; row < n; row++)
            for (size_t col = 0; col < duck_ncols(r); col++) {
                Value v = duck_value(a, r, col, row);
                Str s = { 0 };
                if (v.kind == DT_STRING)
                    s = v.string;
                else if (v.kind == DT_BOOL)
                    s = v.boolean ? S("t") : S("f");
                else if (v.kind != DT_NULL && v.kind != DT_LIST && v.kind != DT_STRUCT)
                    s = str_fmt(a, "%lld", (long long)v.integer);
                sb_fmt(&b, STR_FMT "%s", STR_ARG(s), col + 1 < duck_ncols(r) ? "|" : "\n");
            }
    }
    *ret = sb_str(&b);
    return OK;
}

static Status ask_on(DuckConn *c, Arena *a, Str text, Str *ret)
{
    Query *q;
    DataType types[8] = { 0 };
    Value nulls[8];
    Str sql;
    Binder b = { .dialect = DIALECT_POSTGRES, .resolve = resolve, .probe = c, .nparams = 8, .now_has = 1, .now_us = clock_us(),
                 .current_user = S("AKIATEST"), .current_catalog = S("materialize"), .current_namespace = S("public"), .param_types = types };
    Printer p = { .table = print_table };

    TRY(sql_parse_query(a, DIALECT_POSTGRES, text, &q, &err));
    TRY_CTX(sql_bind_query(a, &b, q, &err), &err, "binding");
    for (size_t i = 0; i < COUNT_OF(nulls); i++)           /* parameters: once for the types, once with values */
        nulls[i] = (Value){ .kind = DT_NULL, .type = &types[i] };
    b.params = nulls;
    TRY(sql_parse_query(a, DIALECT_POSTGRES, text, &q, &err));
    TRY_CTX(sql_bind_query(a, &b, q, &err), &err, "binding with values");
    TRY_CTX(sql_print_query(a, &p, q, &sql, &err), &err, "printing");
    TRY_CTX(rows_of(c, a, sql, ret), &err, "running " STR_FMT, STR_ARG(sql));
    return OK;
}

static void gives(const char *text, const char *rows)
{
    Str s;
    assert_ok(ask_on(conn, arena, str_c(text), &s), &err);
    assert_str(s, rows);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static void test_every_relation_is_readable(void **state UNUSED)
{
    for (size_t i = 0; i < pgcat_ntables(); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        const PgcatTable *t = &pgcat_tables[i];
        BoundTable *b;
        DuckColumns columns = { 0 };
        Str rows, sql = str_fmt(a, "SELECT * FROM %s.%s", t->schema, t->name);

        assert_ok(ask_on(conn, a, sql, &rows), &err);
        assert_ok(pgcat_resolve(NULL, a, str_c(t->schema), str_c(t->name), &b, &err), &err);
        assert_ok(duck_describe(conn, a, str_cat(a, S("SELECT * FROM "), sql_ident_str(a, b->id)), &columns, &err), &err);
        assert_int_equal(columns.n, b->columns.n);
        for (size_t k = 0; k < columns.n; k++)
            if (!data_type_equal(&columns.p[k].type, &b->columns.p[k].type))
                fail_msg("%s.%s: column " STR_FMT " has another type", t->schema, t->name, STR_ARG(columns.p[k].name));
    }
    BoundTable *b;
    assert_status(pgcat_resolve(NULL, arena, S("pg_catalog"), S("pg_nosuch"), &b, &err), E_NOT_FOUND);
}

static void test_views_name_their_columns(void **state UNUSED)
{
    for (size_t i = 0; i < pgcat_nviews(); i++) {
        const PgcatTable *t = pgcat_table(S("pg_catalog"), str_c(pgcat_views[i].name));
        if (!t)
            t = pgcat_table(S("information_schema"), str_c(pgcat_views[i].name));
        if (!t)
            fail_msg("view %s is no relation", pgcat_views[i].name);
        for (const char *const *e = pgcat_views[i].exprs; *e; e += 2) {
            Str name, rest = str_c(t->columns);
            DataType type;
            bool found = false;
            while (pgcat_next_column(&rest, &name, &type))
                found |= str_eq(name, str_c(*e));
            if (!found)
                fail_msg("view %s: %s is no column", pgcat_views[i].name, *e);
        }
    }
}

static void test_relations(void **state UNUSED)
{
    gives("SELECT n.nspname, c.relname, c.relkind, pg_get_userbyid(c.relowner), pg_table_is_visible(c.oid), c.relnatts FROM pg_class c JOIN "
          "pg_namespace n ON n.oid = c.relnamespace ORDER BY 1, 2",
          "Other|T.2|r|bob|f|4\npublic|m1|m|bob|t|4\npublic|t1|r|bob|t|4\npublic|v1|v|bob|t|4\n");
    gives("SELECT attname, format_type(atttypid, atttypmod), attnotnull, attlen, atttypid FROM pg_attribute WHERE attrelid = 't1'::regclass ORDER BY attnum",
          "a|integer|t|4|23\nB b|character varying(20)|f|-1|1043\nc|numeric(10,2)|f|-1|1700\nd|integer[]|f|-1|1007\n");
    gives("SELECT adnum, pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't1'::regclass", "1|1\n");
    gives("SELECT pg_get_viewdef('v1'::regclass, true)", "SELECT a FROM t1\n");
    gives("SELECT tablename FROM pg_tables ORDER BY 1", "T.2\nt1\n");
    gives("SELECT matviewname, definition FROM pg_matviews", "m1|SELECT a FROM t1\n");
    gives("SELECT obj_description('t1'::regclass, 'pg_class'), obj_description('v1'::regclass), col_description('t1'::regclass, 1)", "a table||the key\n");
    gives("SELECT pg_size_pretty(pg_total_relation_size('t1')), pg_relation_size('m1'::regclass)", "20 kB|20480\n");
    gives("SELECT table_type, count(*) FROM information_schema.tables GROUP BY 1 ORDER BY 1", "BASE TABLE|2\nMATERIALIZED VIEW|1\nVIEW|1\n");
    gives("SELECT column_name, data_type, udt_name, character_maximum_length, numeric_precision, numeric_scale, is_nullable FROM "
          "information_schema.columns WHERE table_name = 't1' ORDER BY ordinal_position",
          "a|integer|int4||32|0|NO\nB b|character varying|varchar|20|||YES\nc|numeric|numeric||10|2|YES\nd|ARRAY|_int4||||YES\n");
}

static void test_names(void **state UNUSED)
{
    gives("SELECT 't1'::regclass = 'public.t1'::regclass, 't1'::regclass = 'PUBLIC.T1'::regclass, to_regclass('t2'), to_regclass('\"T.2\"'), "
          "to_regclass('\"Other\".\"T.2\"') > 0", "t|t|||t\n");
    gives("SELECT 'pg_class'::regclass::oid, 'pg_catalog.pg_type'::regclass::oid, 'int4'::regtype::oid, to_regtype('character varying')::oid", "1259|1247|23|1043\n");
    gives("SELECT format_type(1700, 655366), format_type(1231, 655366), format_type(25, NULL), format_type(0, NULL), format_type(99999, -1)",
          "numeric(10,2)|numeric(10,2)[]|text|-|?" "?" "?\n");
    gives("SELECT 't1'::regclass::text, oid::regclass::text, CAST(1259 AS REGCLASS)::text FROM pg_class WHERE relname = 'T.2'", "t1|\"Other\".\"T.2\"|pg_class\n");
    gives("SELECT quote_ident('abc'), quote_ident('a b'), quote_ident('select'), quote_ident('A\"')", "abc|\"a b\"|\"select\"|\"A\"\"\"\n");
}

static void test_session(void **state UNUSED)
{
    gives("SELECT datname FROM pg_database ORDER BY 1", "materialize\nspark\n");
    gives("SELECT rolname, oid = 10 FROM pg_roles ORDER BY 1", "AKIATEST|t\nbob|f\n");
    gives("SELECT pg_backend_pid(), current_setting('timezone'), current_setting('server_version_num'), current_setting('nosuch', true)",
          "42|Europe/Rome|150000|\n");
    gives("SELECT setting FROM pg_settings WHERE name = 'TimeZone'", "Europe/Rome\n");
    gives("SELECT count(*) FROM pg_settings WHERE lower(name) = 'timezone'", "1\n");
    gives("SELECT usename, pid FROM pg_stat_activity", "AKIATEST|42\n");
    gives("SELECT typname, typarray, typelem FROM pg_type WHERE oid IN (23, 1007) ORDER BY oid", "int4|1007|0\n_int4|0|23\n");
}

static void test_refill(void **state UNUSED)
{
    PgCatObjects o = sample();
    DuckConn *other;

    o.current_schema = S("Other");
    o.relations.n = 1;
    assert_ok(duck_connect(engine, &other, &err), &err);
    assert_ok(pgcat_install(other, &err), &err);
    assert_ok(pgcat_fill(other, &o, &err), &err);
    Str s, before, after;
    assert_ok(ask_on(other, arena, S("SELECT relname, pg_table_is_visible(oid) FROM pg_class"), &s), &err);
    assert_str(s, "t1|f\n");
    assert_ok(ask_on(other, arena, S("SELECT oid FROM pg_class"), &after), &err);
    assert_ok(ask_on(conn, arena, S("SELECT oid FROM pg_class WHERE relname = 't1'"), &before), &err);
    assert_true(str_eq(before, after));                    /* ids come from names */
    duck_disconnect(other);
    gives("SELECT count(*) FROM pg_class", "4\n");          /* this connection keeps its own */
}

static Str read_file(const char *name)
{
    Str path = str_fmt(arena, "%s/src/service/testdata/%s", FIRN_SOURCE, name);
    FILE *f = fopen(path.p, "r");
    StrBuf b = sb_new(arena);
    char buf[4096];

    assert_non_null(f);
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0;)
        sb_add(&b, str_n(buf, n));
    fclose(f);
    return sb_str(&b);
}

static void run_corpus(const char *name)
{
    Str text = read_file(name), q, rows;
    int failed = 0, n = 0;

    for (ptrdiff_t at; text.n; n++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        at = str_find(text, S("\n;;\n"));
        q = at < 0 ? text : str_sub(text, 0, (size_t)at);
        text = at < 0 ? S("") : str_from(text, (size_t)at + 4);
        if (!n || ask_on(conn, a, q, &rows) == OK)           /* the first part is the file's comment */
            continue;
        failed++;
        print_error("%.300s\n  of: %.*s\n", err.message, (int)min_size(q.n, 200), q.p);
    }
    if (failed || n < 20)
        fail_msg("%d of %d statements of %s failed", failed, n, name);
}

static void test_psql(void **state UNUSED) { run_corpus("pgcat_psql.sql"); }
static void test_clients(void **state UNUSED) { run_corpus("pgcat_clients.sql"); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_relation_is_readable), cmocka_unit_test(test_views_name_their_columns), cmocka_unit_test(test_relations),
        cmocka_unit_test(test_names), cmocka_unit_test(test_session), cmocka_unit_test(test_refill), cmocka_unit_test(test_psql),
        cmocka_unit_test(test_clients),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
