/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c - data files that are read again and again, kept decoded as tables of the engine.
 *
 * A refresh looks a few keys up in its sources: to the reader of Parquet that is whole row groups, each time.  A file that a scan asks for as `hot` a second time is
 * read into a table in the engine's memory, with the columns that are read, and from then on the scan's text names the table.  All together have a budget:
 * what was asked for longest ago makes way for what was asked for since.
 *
 * Invariants: (1) a table is dropped when its entry has let go of it and no connection holds it; (2) whether the file may be read was asked before, as for any scan;
 * (3) a table that cannot be made costs nothing but the try: the file is read as it stands. */
#include "lake/scan_int.h"

#include <stdlib.h>

enum { MIN_ROWS = 5000, ENTRIES_MAX = 20000, CELL_BYTES = 16, UNPACKED = 4 };      /* UNPACKED: how much larger a packed column becomes, at a guess */

typedef struct HotTable { HotCache *cache; int refs; uint64_t id; int64_t bytes; } HotTable;
typedef enum { HOT_SEEN, HOT_BUILDING, HOT_READY, HOT_NEVER } HotState;
typedef struct HotEntry { struct HotEntry *next; char *path; HotState state; uint64_t used; uint8_t *columns; size_t ncolumns; HotTable *table; } HotEntry;

struct HotCache {
    pthread_mutex_t lock;             /* of all below */
    pthread_mutex_t conn_lock;        /* of conn; taken without the other one, or after it */
    int refs;
    DuckEngine *engine;
    DuckConn *conn;                   /* for the tables */
    int64_t budget, bytes;
    uint64_t clock, serial;
    size_t nentries;
    HotEntry *entries;
};

/* ---- life ------------------------------------------------------------------------------------------------------------------ */

HotCache *hot_cache_new(DuckEngine *e, int64_t budget)
{
    HotCache *c = calloc(1, sizeof *c);
    *c = (HotCache){ .refs = 1, .engine = e, .budget = budget };
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->conn_lock, NULL);
    return c;
}

static void cache_unref(HotCache *c)
{
    if (__atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    duck_disconnect(c->conn);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->conn_lock);
    free(c);
}

static Status run(HotCache *c, Str sql, Error *err)
{
    Status s = OK;

    pthread_mutex_lock(&c->conn_lock);
    if (!c->conn) {
        s = duck_connect(c->engine, &c->conn, err);
        if (s == OK)
            s = duck_exec(c->conn, S("CREATE SCHEMA IF NOT EXISTS firn_hot"), err);
    }
    if (s == OK)
        s = duck_exec(c->conn, sql, err);
    pthread_mutex_unlock(&c->conn_lock);
    return s;
}

/* (1) */
static void table_unref(void *what)
{
    HotTable *t = what;

    if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error ignored;
    (void)!run(t->cache, str_fmt(a, "DROP TABLE IF EXISTS firn_hot.t%llu", (unsigned long long)t->id), &ignored);
    cache_unref(t->cache);
    free(t);
}

static void entry_free(HotEntry *e)
{
    free(e->path);
    free(e->columns);
    free(e);
}

static void forget_all(HotCache *c)
{
    while (c->entries) {
        HotEntry *e = c->entries;
        c->entries = e->next;
        table_unref(e->table);
        entry_free(e);
    }
    c->nentries = 0;
    c->bytes = 0;
}

void hot_cache_free(HotCache *c)
{
    if (!c)
        return;
    forget_all(c);
    cache_unref(c);
}

/* ---- entries, under the lock --------------------------------------------------------------------------------------------------- */

static HotEntry *find_entry(HotCache *c, Str path)
{
    HotEntry *e = c->entries;
    while (e && !str_eq(str_c(e->path), path))
        e = e->next;
    return e;
}

static bool building(const HotCache *c)
{
    for (const HotEntry *e = c->entries; e; e = e->next)
        if (e->state == HOT_BUILDING)
            return true;
    return false;
}

static HotEntry *new_entry(HotCache *c, Str path, size_t ncolumns)
{
    HotEntry *e;

    if (c->nentries >= ENTRIES_MAX && !building(c))
        forget_all(c);
    e = calloc(1, sizeof *e);
    e->path = strndup(path.p, path.n);
    e->columns = calloc(ncolumns + 1, 1);
    e->ncolumns = ncolumns;
    e->next = c->entries;
    c->entries = e;
    c->nentries++;
    return e;
}

static void let_go(HotCache *c, HotEntry *e, HotState state)
{
    if (e->table)
        c->bytes -= e->table->bytes;
    table_unref(e->table);
    e->table = NULL;
    e->state = state;
}

/* The entry with a table that was asked for longest ago, before `since`. */
static HotEntry *oldest_of(HotCache *c, uint64_t since)
{
    HotEntry *oldest = NULL;

    for (HotEntry *e = c->entries; e; e = e->next)
        if (e->state == HOT_READY && e->used < since && (!oldest || e->used < oldest->used))
            oldest = e;
    return oldest;
}

static int64_t bytes_before(const HotCache *c, uint64_t since)
{
    int64_t bytes = 0;
    for (const HotEntry *e = c->entries; e; e = e->next)
        bytes += e->state == HOT_READY && e->used < since ? e->table->bytes : 0;
    return bytes;
}

/* Reserves the bytes of a file that was asked for at `since` before now.  Only what nobody wanted in between makes way: files that do not fit together would
 * drive each other out at each round. */
static bool reserve(HotCache *c, int64_t bytes, uint64_t since)
{
    if (c->bytes + bytes - bytes_before(c, since) > c->budget)
        return false;
    while (c->bytes + bytes > c->budget)
        let_go(c, oldest_of(c, since), HOT_SEEN);
    c->bytes += bytes;
    return true;
}

static bool covers(const HotEntry *e, const uint8_t *wanted)
{
    for (size_t i = 0; i < e->ncolumns; i++)
        if (wanted[i] && !e->columns[i])
            return false;
    return true;
}

/* ---- making a table -------------------------------------------------------------------------------------------------------------- */

static int64_t estimate(const ScanUnit *u, const uint8_t *wanted)
{
    const IceFile *f = &u->task->data->file;
    int64_t bytes = f->record_count * CELL_BYTES;            /* the row's number */

    for (size_t i = 0; i < u->layout->columns.n; i++)
        bytes += wanted[i] ? f->record_count * CELL_BYTES : 0;
    for (size_t k = 0; k < f->column_sizes.n; k++)
        for (size_t i = 0; i < u->layout->columns.n; i++)
            if (wanted[i] && u->layout->columns.p[i].field_id == f->column_sizes.p[k].id)
                bytes += f->column_sizes.p[k].n * UNPACKED;
    return bytes;
}

static Str table_sql(Arena *a, const ScanUnit *u, uint64_t id, const uint8_t *wanted)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "CREATE TABLE firn_hot.t%llu AS SELECT r.file_row_number AS n", (unsigned long long)id);
    for (size_t i = 0; i < u->layout->columns.n; i++)
        if (wanted[i])
            sb_fmt(&b, ", r." STR_FMT " AS c%zu", STR_ARG(sql_ident_str(a, u->layout->columns.p[i].engine)), i);
    sb_fmt(&b, " FROM read_parquet(" STR_FMT ", hive_partitioning = false, file_row_number = true) r", STR_ARG(sql_lit_str(a, u->local)));
    return sb_str(&b);
}

/* The entry is in state BUILDING and nobody else's. */
static void build(HotCache *c, Arena *a, HotEntry *e, const ScanUnit *u, const uint8_t *wanted, int64_t bytes)
{
    Error ignored;

    pthread_mutex_lock(&c->lock);
    uint64_t id = ++c->serial;
    pthread_mutex_unlock(&c->lock);
    Status s = run(c, table_sql(a, u, id, wanted), &ignored);
    pthread_mutex_lock(&c->lock);
    let_go(c, e, s == OK ? HOT_READY : HOT_NEVER);            /* (3); and the one with fewer columns */
    if (s != OK)
        c->bytes -= bytes;
    else {
        e->table = calloc(1, sizeof *e->table);
        *e->table = (HotTable){ .cache = c, .refs = 1, .id = id, .bytes = bytes };
        __atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
        memcpy(e->columns, wanted, e->ncolumns);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Sets e->state to BUILDING when a table is to be made now, of *columns; under the lock. */
static bool should_build(HotCache *c, HotEntry *e, const ScanUnit *u, uint8_t *columns, int64_t *bytes)
{
    uint64_t before = e->used;

    e->used = ++c->clock;
    if (!before || e->state == HOT_BUILDING || e->state == HOT_NEVER || (e->state == HOT_READY && covers(e, columns)))
        return false;
    for (size_t i = 0; i < e->ncolumns; i++)
        columns[i] |= e->state == HOT_READY && e->columns[i];
    *bytes = estimate(u, columns);
    if (!reserve(c, *bytes, before))
        return false;
    e->state = HOT_BUILDING;
    return true;
}

/* A reference to the file's table where there is one, NULL: it is to be read as it stands. */
static HotTable *table_of(HotCache *c, const ScanUnit *u, const uint8_t *wanted)
{
    HotTable *t = NULL;

    pthread_mutex_lock(&c->lock);
    const HotEntry *e = find_entry(c, u->local);
    if (e && e->state == HOT_READY && covers(e, wanted)) {
        t = e->table;
        __atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&c->lock);
    return t;
}

/* Made now, if it is time. */
static HotTable *ask(HotCache *c, Arena *a, const ScanUnit *u, const uint8_t *wanted)
{
    size_t n = u->layout->columns.n;
    uint8_t *columns = arena_array(a, uint8_t, n + 1);
    int64_t bytes = 0;

    memcpy(columns, wanted, n);
    pthread_mutex_lock(&c->lock);
    HotEntry *e = find_entry(c, u->local);
    if (!e)
        e = new_entry(c, u->local, n);
    bool now = should_build(c, e, u, columns, &bytes);
    pthread_mutex_unlock(&c->lock);
    if (now)
        build(c, a, e, u, columns, bytes);
    return table_of(c, u, wanted);
}

/* ---- in a scan -------------------------------------------------------------------------------------------------------------------- */

static void name_table(ScanBuild *b, ScanUnit *u, const HotTable *t, const uint8_t *wanted)
{
    StrBuf s = sb_new(b->a);

    sb_fmt(&s, "(SELECT h.n AS file_row_number, " STR_FMT " AS filename", STR_ARG(sql_lit_str(b->a, u->local)));
    for (size_t i = 0; i < u->layout->columns.n; i++)
        if (wanted[i])
            sb_fmt(&s, ", h.c%zu AS " STR_FMT, i, STR_ARG(sql_ident_str(b->a, u->layout->columns.p[i].engine)));
    sb_fmt(&s, " FROM firn_hot.t%llu h)", (unsigned long long)t->id);
    u->hot = sb_str(&s);
}

void scan_hot(ScanBuild *b, ScanUnits *units, HotUse use)
{
    HotCache *c = b->lake->hot;

    for (size_t i = 0; c && c->budget > 0 && i < units->n; i++) {
        ScanUnit *u = &units->p[i];
        if (u->task->data->file.record_count < MIN_ROWS || !scan_by_position(u->task))
            continue;                                       /* columns of equality deletes need not be among those that are read */
        uint8_t *wanted = scan_columns(b, u);
        HotTable *t = use == HOT_MAKE ? ask(c, b->a, u, wanted) : table_of(c, u, wanted);
        if (!t)
            continue;
        vec_push(b->a, &b->ret->holds, duck_hold(b->c, table_unref, t));
        name_table(b, u, t, wanted);
    }
}
