/* SPDX-License-Identifier: Apache-2.0 */
/* test_footer.c - a file's columns are those that the engine's own reader of footers finds. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lake/lake_int.h"
#include "test.h"

typedef struct Env { Arena *a; DuckEngine *e; DuckConn *c; Str path; Error err; } Env;

static int set_up(void **state)
{
    Env *e = calloc(1, sizeof *e);
    char path[] = "/tmp/firn-footer-XXXXXX";
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 1 };
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    e->a = arena_create();
    e->path = str_dup(e->a, str_c(path));
    assert_ok(duck_open(&o, &e->e, &e->err), &e->err);
    assert_ok(duck_connect(e->e, &e->c, &e->err), &e->err);
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    Env *e = *state;

    unlink(e->path.p);
    duck_disconnect(e->c);
    duck_close(e->e);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static void write_file(Env *e, const char *select, const char *options)
{
    Str sql = str_fmt(e->a, "COPY (%s) TO " STR_FMT " (FORMAT parquet%s)", select, STR_ARG(sql_lit_str(e->a, e->path)), options);
    assert_ok(duck_exec(e->c, sql, &e->err), &e->err);
}

/* One line an element: name, children, id, repeated, a converted type or none. */
static Str ours(Env *e)
{
    FileElements els = {0};
    StrBuf b = sb_new(e->a);

    assert_ok(lake_footer_read(e->a, e->path, &els, &e->err), &e->err);
    for (size_t i = 0; i < els.n; i++)
        sb_fmt(&b, STR_FMT "|%lld|%d|%d|%d\n", STR_ARG(els.p[i].name), (long long)els.p[i].children, els.p[i].field_id, els.p[i].repeated,
               els.p[i].converted == 3 ? 3 : els.p[i].converted == 1 ? 1 : 0);
    return sb_str(&b);
}

static Str theirs(Env *e)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrBuf b = sb_new(e->a);
    Str sql = str_fmt(e->a, "SELECT name || '|' || coalesce(num_children, 0) || '|' || coalesce(field_id, -1) || '|' || CASE WHEN repetition_type = 'REPEATED' THEN 1 ELSE 0 END || '|' ||"
                      " CASE converted_type WHEN 'LIST' THEN 3 WHEN 'MAP' THEN 1 ELSE 0 END FROM parquet_schema(" STR_FMT ")", STR_ARG(sql_lit_str(e->a, e->path)));
    assert_ok(duck_query(e->c, sql, &r, &e->err), &e->err);
    for (size_t n = 1; n; ) {
        assert_ok(duck_next(r, &n, &e->err), &e->err);
        for (size_t i = 0; i < n; i++)
            sb_fmt(&b, STR_FMT "\n", STR_ARG(duck_value(e->a, r, 0, i).string));
    }
    return sb_str(&b);
}

static const char all_types[] =
    "SELECT true AS b, CAST(1 AS TINYINT) AS i8, CAST(1 AS SMALLINT) AS i16, 1 AS i32, CAST(1 AS BIGINT) AS i64, CAST(1 AS UTINYINT) AS u8, CAST(1 AS UBIGINT) AS u64, "
    "CAST(1 AS HUGEINT) AS h, CAST(1.5 AS FLOAT) AS f, CAST(1.5 AS DOUBLE) AS d, CAST(1.5 AS DECIMAL(4,1)) AS d4, CAST(1.5 AS DECIMAL(18,2)) AS d18, "
    "CAST(1.5 AS DECIMAL(38,10)) AS d38, 'x' AS s, CAST('x' AS BLOB) AS bin, DATE '2020-01-01' AS day, TIME '01:02:03' AS t, TIMESTAMP '2020-01-01 00:00:00' AS ts, "
    "CAST('2020-01-01 00:00:00' AS TIMESTAMP_NS) AS tns, CAST('2020-01-01 00:00:00+00' AS TIMESTAMPTZ) AS tz, CAST('00000000-0000-0000-0000-000000000001' AS UUID) AS u, "
    "INTERVAL 1 DAY AS iv, [1, 2] AS l, [[1], [2]] AS ll, {'a': 1, 'b': {'c': 'x', 'd': [1]}} AS st, MAP {'k': 1} AS m, MAP {'k': {'x': [MAP {1: 2}]}} AS mm, [{'a': 1}] AS ls, "
    "1 AS \"quoted \"\"name\"\" of \xC3\xA4\"";

static void every_type(void **state)
{
    Env *e = *state;
    write_file(e, all_types, "");
    assert_str(ours(e), theirs(e).p);
}

static void ids_of_nested_fields(void **state)
{
    Env *e = *state;
    write_file(e, "SELECT 1 AS a, {'x': 1, 'y': [1]} AS s, MAP {'k': {'v': 1}} AS m",
               ", FIELD_IDS {a: 1, s: {__duckdb_field_id: 2, x: 3, y: {__duckdb_field_id: 2147483000, element: 5}}, m: {__duckdb_field_id: 6, key: 7, value: {__duckdb_field_id: 8, v: 9}}}");
    assert_str(ours(e), theirs(e).p);
}

/* More than the first read of a footer holds. */
static void many_columns(void **state)
{
    Env *e = *state;
    StrBuf b = sb_new(e->a);

    sb_addc(&b, "SELECT 0 AS c");
    for (int i = 0; i < 4000; i++)
        sb_fmt(&b, ", %d AS a_column_with_a_long_name_%d", i, i);
    write_file(e, sb_str(&b).p, "");
    assert_str(ours(e), theirs(e).p);
}

static void types_are_part_of_a_layout(void **state)
{
    static const char *const selects[] = { "SELECT CAST(1 AS INTEGER) AS a", "SELECT CAST(1 AS BIGINT) AS a", "SELECT CAST(1 AS DECIMAL(9,2)) AS a",
                                           "SELECT CAST(1 AS DECIMAL(8,2)) AS a", "SELECT CAST(1 AS DECIMAL(9,3)) AS a", "SELECT CAST('2020-01-01' AS TIMESTAMP) AS a" };
    Env *e = *state;
    Str raw[COUNT_OF(selects)];

    for (size_t i = 0; i < COUNT_OF(selects); i++) {
        FileElements els = {0};
        write_file(e, selects[i], "");
        assert_ok(lake_footer_read(e->a, e->path, &els, &e->err), &e->err);
        assert_int_equal(els.n, 2);
        raw[i] = els.p[1].raw;
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(raw[i], raw[k]));
    }
}

/* ---- bytes that are no footer --------------------------------------------------------------------------------------------- */

static Str footer_of(Env *e)
{
    FILE *f = fopen(e->path.p, "rb");
    static char bytes[65536];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    const uint8_t *tail = (const uint8_t *)bytes + n - 8;
    size_t len = (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16;
    return str_dup(e->a, str_n(bytes + n - 8 - len, len));
}

/* Cut anywhere, it is read whole or not at all; flipped anywhere, it does no harm. */
static void broken_footers(void **state)
{
    Env *e = *state;
    FileElements whole = {0};

    write_file(e, all_types, "");
    Str footer = footer_of(e);
    assert_true(lake_footer_elements(e->a, footer, &whole));
    for (size_t n = 0; n < footer.n; n++) {
        FileElements els = {0};
        if (lake_footer_elements(e->a, str_dup(e->a, str_sub(footer, 0, n)), &els))
            assert_int_equal(els.n, whole.n);
    }
    for (size_t i = 0; i < footer.n && i < 2000; i++) {
        char *bad = str_z(e->a, footer);
        FileElements els = {0};
        bad[i] = (char)(bad[i] ^ 0x5A);
        (void)lake_footer_elements(e->a, str_n(bad, footer.n), &els);
    }
}

static void put(Env *e, const char *bytes, size_t n)
{
    FILE *f = fopen(e->path.p, "wb");
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void no_parquet_file(void **state)
{
    static const struct { const char *bytes; size_t n; Status status; } files[] = {
        { "", 0, E_CORRUPT }, { "PAR1PAR1", 8, E_CORRUPT }, { "PAR1....\4\0\0\0PAR2", 16, E_CORRUPT }, { "PAR1....\377\377\377\177PAR1", 16, E_CORRUPT },
        { "PAR1\0\0\0\0\4\0\0\0PAR1", 16, E_CORRUPT }, { "PARE\0\0\0\0\4\0\0\0PARE", 16, E_UNSUPPORTED },
    };
    Env *e = *state;

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        FileElements els = {0};
        put(e, files[i].bytes, files[i].n);
        assert_status(lake_footer_read(e->a, e->path, &els, &e->err), files[i].status);
    }
    FileElements els = {0};
    assert_status(lake_footer_read(e->a, S("/nowhere/at.all"), &els, &e->err), E_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ids_of_nested_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types_are_part_of_a_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(broken_footers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_parquet_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
