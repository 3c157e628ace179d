/* SPDX-License-Identifier: Apache-2.0 */
/* duck_rowset.c - sets of row numbers, and a function that asks them: firn_in_rows(id BIGINT, row BIGINT).
 *
 * Rows that delete files name are kept as such a set, not as a table of the engine: a condition on them is a function of the row's number, with nothing to
 * plan, build or drop.  A set is split into pages of 65,536 rows; a page is a list of its rows in order, or bits when it has many.
 * A set is lent to a connection under a number, which its statements name; the loan ends with the connection at the latest.
 *
 * Invariants: (1) a set that is lent is not changed any more; (2) a number is given once; (3) a number that nobody lent is an error of the statement. */
#include "duck/duck_scalar.h"

#include <stdlib.h>

enum { PAGE_BITS = 16, PAGE_ROWS = 1 << PAGE_BITS, PAGE_WORDS = PAGE_ROWS / 64, LIST_MAX = 4096 };

typedef struct Page { uint32_t n, cap; uint16_t *list; uint64_t *bits; } Page;      /* bits NULL: the list holds them */
struct RowSet { int refs; size_t npages, n, bytes; Page *pages; };

/* ---- a set --------------------------------------------------------------------------------------------------------------- */

static void *grown(void *p, size_t bytes)
{
    void *q = realloc(p, bytes);
    if (!q)
        abort();                                            /* as arenas do */
    return q;
}

RowSet *rowset_new(void)
{
    RowSet *s = grown(NULL, sizeof *s);
    *s = (RowSet){ .refs = 1, .bytes = sizeof *s };
    return s;
}

RowSet *rowset_ref(RowSet *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void rowset_free(RowSet *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < s->npages; i++) {
        free(s->pages[i].list);
        free(s->pages[i].bits);
    }
    free(s->pages);
    free(s);
}

void rowset_freep(RowSet **s)
{
    rowset_free(*s);
    *s = NULL;
}

size_t rowset_count(const RowSet *s) { return s ? s->n : 0; }
size_t rowset_bytes(const RowSet *s) { return s->bytes; }

static Page *page_for(RowSet *s, size_t i)
{
    if (i >= s->npages) {
        size_t n = i + 1 + i / 2;
        s->pages = grown(s->pages, n * sizeof *s->pages);
        memset(s->pages + s->npages, 0, (n - s->npages) * sizeof *s->pages);
        s->bytes += (n - s->npages) * sizeof *s->pages;
        s->npages = n;
    }
    return &s->pages[i];
}

static bool bit_of(const uint64_t *bits, uint32_t low) { return bits[low / 64] >> (low % 64) & 1; }

/* The first place whose row is not below `low`. */
static uint32_t place_of(const Page *p, uint32_t low)
{
    uint32_t from = 0, to = p->n;

    while (from < to) {
        uint32_t mid = (from + to) / 2;
        if (p->list[mid] < low)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static bool page_has(const Page *p, uint32_t low)
{
    if (p->bits)
        return bit_of(p->bits, low);
    uint32_t at = place_of(p, low);
    return at < p->n && p->list[at] == low;
}

static void list_to_bits(RowSet *s, Page *p)
{
    p->bits = grown(NULL, PAGE_WORDS * sizeof *p->bits);
    memset(p->bits, 0, PAGE_WORDS * sizeof *p->bits);
    for (uint32_t i = 0; i < p->n; i++)
        p->bits[p->list[i] / 64] |= UINT64_C(1) << (p->list[i] % 64);
    free(p->list);
    s->bytes += PAGE_WORDS * sizeof *p->bits;
    s->bytes -= p->cap * sizeof *p->list;
    p->list = NULL;
    p->cap = 0;
}

static void list_add(RowSet *s, Page *p, uint32_t low)
{
    uint32_t at = p->n && p->list[p->n - 1] < low ? p->n : place_of(p, low);

    if (p->n == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 4;
        p->list = grown(p->list, cap * sizeof *p->list);
        s->bytes += (cap - p->cap) * sizeof *p->list;
        p->cap = cap;
    }
    memmove(p->list + at + 1, p->list + at, (p->n - at) * sizeof *p->list);
    p->list[at] = (uint16_t)low;
}

static void add(RowSet *s, uint64_t row)
{
    Page *p = page_for(s, row >> PAGE_BITS);
    uint32_t low = row & (PAGE_ROWS - 1);

    if (page_has(p, low))
        return;
    if (!p->bits && p->n == LIST_MAX)
        list_to_bits(s, p);
    if (p->bits)
        p->bits[low / 64] |= UINT64_C(1) << (low % 64);
    else
        list_add(s, p, low);
    p->n++;
    s->n++;
}

Status rowset_add(RowSet *s, uint64_t row, Error *err)
{
    if (row >= ROWSET_MAX)
        return FAIL(err, E_LIMIT, "row %llu of a file is deleted, limit is %llu", (unsigned long long)row, (unsigned long long)ROWSET_MAX);
    add(s, row);
    return OK;
}

/* The next row of a page from `low` on; PAGE_ROWS: none. */
static uint32_t page_next(const Page *p, uint32_t low)
{
    if (!p->bits) {
        uint32_t at = place_of(p, low);
        return at < p->n ? p->list[at] : PAGE_ROWS;
    }
    for (uint32_t w = low / 64; w < PAGE_WORDS; w++) {
        uint64_t word = p->bits[w] & (w == low / 64 ? ~UINT64_C(0) << (low % 64) : ~UINT64_C(0));
        if (word)
            return w * 64 + (uint32_t)__builtin_ctzll(word);
    }
    return PAGE_ROWS;
}

bool rowset_next(const RowSet *s, uint64_t from, uint64_t *row)
{
    uint32_t low = from & (PAGE_ROWS - 1);

    for (size_t i = from >> PAGE_BITS; s && i < s->npages; i++, low = 0) {
        uint32_t at = s->pages[i].n ? page_next(&s->pages[i], low) : PAGE_ROWS;
        if (at < PAGE_ROWS) {
            *row = (uint64_t)i << PAGE_BITS | at;
            return true;
        }
    }
    return false;
}

uint64_t rowset_last(const RowSet *s)
{
    size_t i = s ? s->npages : 0;

    while (i && !s->pages[i - 1].n)
        i--;
    if (!i)
        return 0;
    const Page *p = &s->pages[i - 1];
    uint32_t low = p->bits ? PAGE_ROWS - 1 : p->list[p->n - 1];
    while (p->bits && !bit_of(p->bits, low))
        low--;
    return (uint64_t)(i - 1) << PAGE_BITS | low;
}

bool rowset_has(const RowSet *s, uint64_t row)
{
    size_t i = row >> PAGE_BITS;
    return s && i < s->npages && s->pages[i].n && page_has(&s->pages[i], row & (PAGE_ROWS - 1));
}

void rowset_join(RowSet *s, const RowSet *other)
{
    uint64_t row;
    for (uint64_t at = 0; rowset_next(other, at, &row); at = row + 1)
        add(s, row);
}

RowSet *rowset_minus(const RowSet *x, const RowSet *y)
{
    RowSet *s = rowset_new();
    uint64_t row;

    for (uint64_t at = 0; rowset_next(x, at, &row); at = row + 1)
        if (!rowset_has(y, row))
            add(s, row);
    return s;
}

/* ---- loans ----------------------------------------------------------------------------------------------------------------- */

typedef struct Loan { int64_t id; RowSet *set; } Loan;
struct RowSets { int refs; pthread_rwlock_t lock; int64_t last; Loan *p; size_t n, cap; };      /* by id, which only grow */

RowSets *rowsets_new(void)
{
    RowSets *r = grown(NULL, sizeof *r);
    *r = (RowSets){ .refs = 1 };
    pthread_rwlock_init(&r->lock, NULL);
    return r;
}

RowSets *rowsets_ref(RowSets *r)
{
    __atomic_add_fetch(&r->refs, 1, __ATOMIC_RELAXED);
    return r;
}

void rowsets_free(RowSets *r)
{
    if (!r || __atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < r->n; i++)
        rowset_free(r->p[i].set);
    free(r->p);
    pthread_rwlock_destroy(&r->lock);
    free(r);
}

/* Where id is, or would be. */
static size_t loan_at(const RowSets *r, int64_t id)
{
    size_t from = 0, to = r->n;

    while (from < to) {
        size_t mid = (from + to) / 2;
        if (r->p[mid].id < id)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static RowSet *borrow(RowSets *r, int64_t id)
{
    pthread_rwlock_rdlock(&r->lock);
    size_t i = loan_at(r, id);
    RowSet *s = i < r->n && r->p[i].id == id ? rowset_ref(r->p[i].set) : NULL;
    pthread_rwlock_unlock(&r->lock);
    return s;
}

int64_t duck_rows_lend(DuckConn *c, RowSet *s)
{
    RowSets *r = c->rowsets;

    pthread_rwlock_wrlock(&r->lock);
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 64;
        r->p = grown(r->p, r->cap * sizeof *r->p);
    }
    int64_t id = ++r->last;                                 /* (2) */
    r->p[r->n++] = (Loan){ id, rowset_ref(s) };
    pthread_rwlock_unlock(&r->lock);
    if (c->nlent == c->lent_cap) {
        c->lent_cap = c->lent_cap ? c->lent_cap * 2 : 16;
        c->lent = grown(c->lent, c->lent_cap * sizeof *c->lent);
    }
    c->lent[c->nlent++] = id;
    return id;
}

static void end_loan(RowSets *r, int64_t id)
{
    pthread_rwlock_wrlock(&r->lock);
    size_t i = loan_at(r, id);
    RowSet *s = NULL;
    if (i < r->n && r->p[i].id == id) {
        s = r->p[i].set;
        memmove(r->p + i, r->p + i + 1, (r->n - i - 1) * sizeof *r->p);
        r->n--;
    }
    pthread_rwlock_unlock(&r->lock);
    rowset_free(s);
}

void duck_rows_return(DuckConn *c, int64_t id)
{
    for (size_t i = 0; i < c->nlent; i++)
        if (c->lent[i] == id) {
            c->lent[i] = c->lent[--c->nlent];
            end_loan(c->rowsets, id);
            return;
        }
}

void rowsets_end(DuckConn *c)
{
    for (size_t i = 0; i < c->nlent; i++)
        end_loan(c->rowsets, c->lent[i]);
    free(c->lent);
    c->lent = NULL;
    c->nlent = c->lent_cap = 0;
    rowsets_free(c->rowsets);
}

/* ---- the function ------------------------------------------------------------------------------------------------------------ */

/* Rows come in order nearly always: the place in a list is kept from one to the next. */
typedef struct Cursor { const RowSet *set; const Page *page; size_t npage; uint32_t at, last; } Cursor;

static bool cursor_has(Cursor *c, int64_t row)
{
    size_t i = (uint64_t)row >> PAGE_BITS;
    uint32_t low = row & (PAGE_ROWS - 1);

    if (row < 0 || i >= c->set->npages || !c->set->pages[i].n)
        return false;
    const Page *p = &c->set->pages[i];
    if (p->bits)
        return bit_of(p->bits, low);
    if (p != c->page || low < c->last) {
        c->page = p;
        c->at = place_of(p, low);
    }
    c->last = low;
    while (c->at < p->n && p->list[c->at] < low)
        c->at++;
    return c->at < p->n && p->list[c->at] == low;
}

static void in_rows(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out)
{
    RowSets *sets = duckdb_scalar_function_get_extra_info(info);
    ScalarArgs a = scalar_args(in);
    bool *to = duckdb_vector_get_data(out);
    const int64_t *rows = a.data[1];

    if (!a.n)
        return;
    CLEANUP(rowset_freep) RowSet *s = scalar_has(&a, 0, 0) ? borrow(sets, ((const int64_t *)a.data[0])[0]) : NULL;
    if (!s) {
        duckdb_scalar_function_set_error(info, "a set of rows is not there any more");      /* (3) */
        return;
    }
    Cursor c = { .set = s };
    for (size_t i = 0; i < a.n; i++)
        to[i] = scalar_has(&a, 1, i) && cursor_has(&c, rows[i]);
}

Status duck_rowset_register(duckdb_connection con, RowSets *sets, Error *err)
{
    const ScalarSpec spec = { .name = "firn_in_rows", .nargs = 2, .args = { DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_BIGINT }, .result = DUCKDB_TYPE_BOOLEAN, .run = in_rows, .extra = sets };
    return scalar_register(con, &spec, 1, err);
}
