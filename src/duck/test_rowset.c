/* SPDX-License-Identifier: Apache-2.0 */
/* test_rowset.c - sets of row numbers against a plain list, and the function that asks them. */
#include <stdlib.h>

#include "duck/duck.h"
#include "test.h"

enum { ROWS = 400000 };

static uint64_t seed = 7;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

/* Some pages full, some with few rows, some empty; added in no order. */
static RowSet *random_set(uint8_t *has, size_t n)
{
    RowSet *s = rowset_new();
    Error err;

    memset(has, 0, ROWS);
    for (size_t i = 0; i < n; i++) {
        uint64_t row = draw(4) ? 70000 + draw(20000) : draw(ROWS);
        has[row] = 1;
        assert_ok(rowset_add(s, row, &err), &err);
    }
    return s;
}

static void same(const RowSet *s, const uint8_t *has)
{
    uint64_t at = 0, row, last = 0;
    size_t n = 0;

    for (uint64_t i = 0; i < ROWS; i++) {
        assert_int_equal(rowset_has(s, i), has[i]);
        if (!has[i])
            continue;
        assert_true(rowset_next(s, at, &row));
        assert_int_equal(row, i);
        at = row + 1;
        last = i;
        n++;
    }
    assert_false(rowset_next(s, at, &row));
    assert_int_equal(rowset_count(s), n);
    assert_int_equal(rowset_last(s), last);
}

static void as_a_list(void **state UNUSED)
{
    static uint8_t x[ROWS], y[ROWS];
    const size_t sizes[] = { 0, 1, 100, 3000, 40000 };

    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            CLEANUP(rowset_freep) RowSet *a = random_set(x, sizes[i]), *b = random_set(y, sizes[k]), *less = NULL;
            same(a, x);
            same(b, y);
            less = rowset_minus(a, b);
            rowset_join(a, b);
            for (size_t r = 0; r < ROWS; r++) {
                uint8_t either = x[r] | y[r];
                y[r] = x[r] & !y[r];
                x[r] = either;
            }
            same(a, x);
            same(less, y);
        }
}

static void limits(void **state UNUSED)
{
    CLEANUP(rowset_freep) RowSet *s = rowset_new();
    Error err;
    uint64_t row;

    assert_int_equal(rowset_count(NULL), 0);
    assert_false(rowset_has(NULL, 0));
    assert_false(rowset_next(NULL, 0, &row));
    assert_status(rowset_add(s, ROWSET_MAX, &err), E_LIMIT);
    assert_status(rowset_add(s, UINT64_MAX, &err), E_LIMIT);
    assert_int_equal(rowset_count(s), 0);
}

/* ---- in statements --------------------------------------------------------------------------------------------------------- */

typedef struct Env { DuckEngine *e; DuckConn *c; Error err; } Env;

static int set_up(void **state)
{
    Env *e = calloc(1, sizeof *e);
    DuckOptions o = { .memory_limit = S("300MB"), .threads = 2 };

    assert_ok(duck_open(&o, &e->e, &e->err), &e->err);
    assert_ok(duck_connect(e->e, &e->c, &e->err), &e->err);
    *state = e;
    return 0;
}

static int tear_down(void **state)
{
    Env *e = *state;
    duck_disconnect(e->c);
    duck_close(e->e);
    free(e);
    return 0;
}

static int64_t ask(Env *e, DuckConn *c, int64_t id, const char *from)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t n = -1;
    bool has;
    assert_ok(duck_scalar_i64(c, str_fmt(a, "SELECT count(*) FROM %s WHERE firn_in_rows(%lld, r)", from, (long long)id), &n, &has, &e->err), &e->err);
    return n;
}

static void asked_by_statements(void **state)
{
    static uint8_t has[ROWS];
    Env *e = *state;
    CLEANUP(rowset_freep) RowSet *s = random_set(has, 30000);
    int64_t id = duck_rows_lend(e->c, s), n = 0;

    for (size_t i = 0; i < ROWS; i++)
        n += has[i];
    assert_int_equal(ask(e, e->c, id, "range(400000) t(r)"), n);
    assert_int_equal(ask(e, e->c, id, "(SELECT 399999 - r AS r FROM range(400000) t(r))"), n);
    assert_int_equal(ask(e, e->c, id, "(SELECT (r * 7919) % 400000 AS r FROM range(400000) t(r))"), n);
    assert_int_equal(ask(e, e->c, id, "(VALUES (-1), (NULL), (274877906944)) t(r)"), 0);
}

static void loans_end(void **state)
{
    Env *e = *state;
    CLEANUP(duck_disconnectp) DuckConn *other = NULL;
    CLEANUP(rowset_freep) RowSet *s = rowset_new();
    int64_t n;
    bool has;

    assert_ok(rowset_add(s, 5, &e->err), &e->err);
    assert_ok(duck_connect(e->e, &other, &e->err), &e->err);
    int64_t mine = duck_rows_lend(e->c, s), theirs = duck_rows_lend(other, s), third = duck_rows_lend(e->c, s);
    assert_int_equal(ask(e, e->c, theirs, "range(10) t(r)"), 1);
    duck_disconnectp(&other);
    assert_int_equal(ask(e, e->c, mine, "range(10) t(r)"), 1);
    duck_rows_return(e->c, mine);
    assert_int_equal(ask(e, e->c, third, "range(10) t(r)"), 1);
    assert_status(duck_scalar_i64(e->c, S("SELECT count(*) FROM range(10) t(r) WHERE firn_in_rows(1, r)"), &n, &has, &e->err), E_INVALID);
    assert_status(duck_scalar_i64(e->c, S("SELECT count(*) FROM range(10) t(r) WHERE firn_in_rows(NULL, r)"), &n, &has, &e->err), E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_list), cmocka_unit_test(limits),
        cmocka_unit_test_setup_teardown(asked_by_statements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loans_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
