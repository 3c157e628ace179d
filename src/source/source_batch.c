/* SPDX-License-Identifier: Apache-2.0 */
/* source_batch.c - rows gathered, then written with their offsets in one tick.
 *
 * Rows of an output go into a temporary table of the source's connection, with their weight (__w) and their number (__seq).  At the commit they are brought to what they amount
 * to: plain rows to a bag with signs, rows by key to the last one of each key; then they are staged.  Where stored rows go, they are looked up while nothing else is
 * written (live_exclusive): row numbers are good only so long.
 * A relation's engine columns are c1, c2, … in the order of the output's.
 * Invariants: (1) an output is written by source_row or by source_upsert in one batch, not by both; (2) nothing is visible before live_commit. */
#include "source/source_int.h"

typedef struct Gathered {
    DuckAppender *ap;
    Str table;                        /* b0; b0n: what it amounts to */
    int64_t rows, truncated;          /* truncated: number of the row after which a truncation came; rows before count no more */
    int has_minus, by_key, has_truncate;
} Gathered;

struct SourceBatch {
    SourceRun *r;
    DuckConn *conn;
    Arena *a;
    Gathered *outputs;
    int64_t rows, seq;
    uint64_t at;
    int has_at;
    Status failed;
    Error err;
};

Str source_note_key(Arena *a, int64_t id) { return str_fmt(a, "source %lld", (long long)id); }

Status batch_on(SourceRun *r, DuckConn *conn, SourceBatch **ret, Error *err UNUSED)
{
    Arena *a = arena_create();
    SourceBatch *b = arena_new(a, SourceBatch);

    *b = (SourceBatch){ .r = r, .conn = conn, .a = a, .outputs = arena_array(a, Gathered, r->outputs.n + 1) };
    *ret = b;
    return OK;
}

Status source_batch(SourceRun *r, SourceBatch **ret, Error *err) { return batch_on(r, r->conn, ret, err); }

int64_t source_batch_rows(const SourceBatch *b) { return b->rows; }

/* ---- rows in ----------------------------------------------------------------------------------------------------------- */

static DuckColumn *table_columns(SourceBatch *b, const SourceOutput *o)
{
    DuckColumn *c = arena_array(b->a, DuckColumn, o->columns.n + 2);

    for (size_t i = 0; i < o->columns.n; i++)
        c[i] = (DuckColumn){ str_fmt(b->a, "c%zu", i + 1), o->columns.p[i].type };
    c[o->columns.n] = (DuckColumn){ S("__w"), { .kind = DT_INT64 } };
    c[o->columns.n + 1] = (DuckColumn){ S("__seq"), { .kind = DT_INT64 } };
    return c;
}

static Gathered *open_output(SourceBatch *b, size_t i)
{
    if (b->failed)
        return NULL;
    if (i >= b->r->outputs.n) {
        b->failed = FAIL(&b->err, E_INTERNAL, "source %lld has no output %zu", (long long)b->r->id, i);
        return NULL;
    }
    Gathered *g = &b->outputs[i];
    if (g->ap)
        return g;
    const SourceOutput *o = &b->r->outputs.p[i];
    g->table = str_fmt(b->a, "b%zu", i);
    b->failed = duck_temp_table(b->conn, g->table, table_columns(b, o), o->columns.n + 2, &g->ap, &b->err);
    return b->failed ? NULL : g;
}

static void end_row(SourceBatch *b, Gathered *g, int64_t weight)
{
    duck_append_i64(g->ap, weight);
    duck_append_i64(g->ap, ++b->seq);
    duck_end_row(g->ap);
    g->rows++;
    b->rows++;
}

static void append_cell(DuckAppender *ap, const Value *v)
{
    if (v->kind == DT_STRING || v->kind == DT_JSON || v->kind == DT_BINARY)
        duck_append_str(ap, v->string);
    else if (v->kind == DT_NULL || v->kind == DT_INVALID)
        duck_append_null(ap);
    else
        duck_append(ap, v);
}

void source_row(SourceBatch *b, size_t output, int weight, const Value *cells)
{
    Gathered *g = open_output(b, output);

    if (!g)
        return;
    for (size_t i = 0; i < b->r->outputs.p[output].columns.n; i++)
        append_cell(g->ap, &cells[i]);
    g->has_minus |= weight < 0;
    end_row(b, g, weight);
}

static ptrdiff_t key_at(const SourceOutput *o, Str column)
{
    for (size_t i = 0; i < o->key.n; i++)
        if (str_eq(o->key.p[i], column))
            return (ptrdiff_t)i;
    return -1;
}

void source_upsert(SourceBatch *b, size_t output, const Value *key, const Value *cells)
{
    Gathered *g = open_output(b, output);
    static const Value null = { .kind = DT_NULL };

    if (!g)
        return;
    const SourceOutput *o = &b->r->outputs.p[output];
    for (size_t i = 0; i < o->columns.n; i++) {
        ptrdiff_t k = key_at(o, o->columns.p[i].name);
        append_cell(g->ap, k >= 0 ? &key[k] : cells ? &cells[i] : &null);
    }
    g->by_key = 1;
    end_row(b, g, cells ? 1 : 0);
}

void source_truncate(SourceBatch *b, size_t output)
{
    Gathered *g = open_output(b, output);

    if (!g)
        return;
    g->has_truncate = 1;
    g->truncated = b->seq;
}

void source_batch_at(SourceBatch *b, uint64_t offset)
{
    b->at = offset;
    b->has_at = 1;
}

/* One row, which takes the place of the last. */
static void put_progress(SourceBatch *b)
{
    Value at = { .kind = DT_UINT64, .wide = (__int128)b->at };
    int64_t rows = b->rows;

    for (size_t i = 0; b->has_at && i < b->r->outputs.n; i++)
        if (str_eq(b->r->outputs.p[i].external, S(SOURCE_PROGRESS))) {
            source_truncate(b, i);
            source_row(b, i, 1, &at);
        }
    b->rows = rows;
}

/* ---- what the rows amount to ----------------------------------------------------------------------------------------------- */

static Str columns_sql(Arena *a, const SourceOutput *o, const char *prefix)
{
    StrBuf s = sb_new(a);
    for (size_t i = 0; i < o->columns.n; i++)
        sb_fmt(&s, "%s%sc%zu", i ? ", " : "", prefix, i + 1);
    return sb_str(&s);
}

/* x.c1 = y.c1 AND …: of the key's columns, or of all. */
static Str equal_sql(Arena *a, const SourceOutput *o, int only_key)
{
    StrBuf s = sb_new(a);
    for (size_t i = 0; i < o->columns.n; i++) {
        ptrdiff_t k = key_at(o, o->columns.p[i].name);
        if (only_key && k < 0)
            continue;
        sb_fmt(&s, "%sx.c%zu %s y.c%zu", s.n ? " AND " : "", i + 1, o->columns.p[i].not_null ? "=" : "IS NOT DISTINCT FROM", i + 1);
    }
    return sb_str(&s);
}

static Str key_sql(Arena *a, const SourceOutput *o)
{
    StrBuf s = sb_new(a);
    for (size_t i = 0; i < o->columns.n; i++)
        if (key_at(o, o->columns.p[i].name) >= 0)
            sb_fmt(&s, "%sc%zu", s.n ? ", " : "", i + 1);
    return sb_str(&s);
}

static Status amount(SourceBatch *b, size_t i, Error *err)
{
    const Gathered *g = &b->outputs[i];
    const SourceOutput *o = &b->r->outputs.p[i];
    Str cols = columns_sql(b->a, o, "");
    Str sql = str_fmt(b->a, "CREATE OR REPLACE TEMP TABLE " STR_FMT "n AS ", STR_ARG(g->table));

    if (g->by_key)
        sql = str_fmt(b->a, STR_FMT "SELECT " STR_FMT ", __w AS __n FROM " STR_FMT " WHERE __seq > %lld QUALIFY row_number() OVER (PARTITION BY " STR_FMT " ORDER BY __seq DESC) = 1", STR_ARG(sql),
                      STR_ARG(cols), STR_ARG(g->table), (long long)g->truncated, STR_ARG(key_sql(b->a, o)));
    else
        sql = str_fmt(b->a, STR_FMT "SELECT " STR_FMT ", CAST(sum(__w) AS BIGINT) AS __n FROM " STR_FMT " WHERE __seq > %lld GROUP BY ALL HAVING sum(__w) <> 0", STR_ARG(sql), STR_ARG(cols),
                      STR_ARG(g->table), (long long)g->truncated);
    return duck_exec(b->conn, sql, err);
}

static bool changes_stored(const Gathered *g) { return g->has_minus || g->by_key || g->has_truncate; }

static Status finish_rows(SourceBatch *b, Error *err)
{
    for (size_t i = 0; i < b->r->outputs.n; i++) {
        DuckAppender *ap = b->outputs[i].ap;
        if (!ap)
            continue;
        b->outputs[i].ap = NULL;
        Status s = duck_append_done(ap, err);
        if (s != OK && !b->failed) {
            b->failed = s;
            b->err = *err;
        }
    }
    if (b->failed) {
        *err = b->err;
        return b->failed;
    }
    for (size_t i = 0; i < b->r->outputs.n; i++)
        if (b->outputs[i].table.n && changes_stored(&b->outputs[i]))
            TRY(amount(b, i, err));
    return OK;
}

/* ---- staging --------------------------------------------------------------------------------------------------------------- */

static Str new_rows_sql(SourceBatch *b, size_t i)
{
    Str cols = columns_sql(b->a, &b->r->outputs.p[i], ""), t = b->outputs[i].table;

    if (b->outputs[i].by_key)
        return str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT "n WHERE __n > 0", STR_ARG(cols), STR_ARG(t));
    return str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT "n WHERE __n = 1 UNION ALL SELECT " STR_FMT " FROM (SELECT *, unnest(range(__n)) AS __i FROM " STR_FMT "n WHERE __n > 1) q", STR_ARG(cols),
                   STR_ARG(t), STR_ARG(cols), STR_ARG(t));
}

/* The stored rows that go. Those of a key are looked for by the key first: the other columns are read of few rows then. */
static Str old_rows_sql(SourceBatch *b, size_t i)
{
    const SourceOutput *o = &b->r->outputs.p[i];
    Str rows = live_rows_sql(b->a, o->relation), t = b->outputs[i].table, from = str_fmt(b->a, STR_FMT " x", STR_ARG(rows));

    if (b->outputs[i].has_truncate)
        return str_fmt(b->a, "SELECT __rid FROM " STR_FMT " q", STR_ARG(rows));
    if (b->outputs[i].by_key)
        return str_fmt(b->a, "SELECT x.__rid FROM " STR_FMT " x SEMI JOIN " STR_FMT "n y ON " STR_FMT, STR_ARG(rows), STR_ARG(t), STR_ARG(equal_sql(b->a, o, 1)));
    if (o->key.n)
        from = str_fmt(b->a, "(SELECT x.* FROM " STR_FMT " x SEMI JOIN (SELECT * FROM " STR_FMT "n WHERE __n < 0) y ON " STR_FMT ") x", STR_ARG(rows), STR_ARG(t), STR_ARG(equal_sql(b->a, o, 1)));
    return str_fmt(b->a, "SELECT __rid FROM (SELECT x.__rid, y.__n, row_number() OVER (PARTITION BY y.__g) AS __k FROM " STR_FMT " JOIN (SELECT *, rowid AS __g FROM " STR_FMT "n WHERE __n < 0) y ON " STR_FMT
                   ") q WHERE __k <= -__n", STR_ARG(from), STR_ARG(t), STR_ARG(equal_sql(b->a, o, 0)));
}

/* A row that should go and was not there: nothing that we can mend, but it must be seen. */
static Status count_missing(SourceBatch *b, size_t i, const LiveWrite *w, Error *err)
{
    int64_t should;
    bool has;
    const Gathered *g = &b->outputs[i];

    if (g->by_key || g->has_truncate)
        return OK;
    TRY(duck_scalar_i64(b->conn, str_fmt(b->a, "SELECT CAST(coalesce(sum(-__n), 0) AS BIGINT) FROM " STR_FMT "n WHERE __n < 0", STR_ARG(g->table)), &should, &has, err));
    if (w->rows < should)
        source_error(b->r, b->r->outputs.p[i].external, str_fmt(b->a, "%lld rows that went upstream were not there", (long long)(should - w->rows)));
    return OK;
}

typedef VEC(LiveWrite) Writes;

static Status stage_inserts(SourceBatch *b, Writes *ret, Error *err)
{
    for (size_t i = 0; i < b->r->outputs.n; i++) {
        const Gathered *g = &b->outputs[i];
        LiveWrite w = {0};
        if (!g->rows || changes_stored(g))
            continue;
        Str sql = str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(columns_sql(b->a, &b->r->outputs.p[i], "")), STR_ARG(g->table));
        Status s = live_stage_inserts(b->r->owner->o.live, b->a, b->conn, b->r->outputs.p[i].relation, sql, &w, err);
        vec_push(b->a, ret, w);
        TRY(s);
    }
    return OK;
}

static Status stage_changes(SourceBatch *b, Writes *ret, Error *err)
{
    for (size_t i = 0; i < b->r->outputs.n; i++) {
        const Gathered *g = &b->outputs[i];
        LiveWrite w = {0};
        if (!g->table.n || !changes_stored(g))
            continue;
        Status s = live_stage_changes(b->r->owner->o.live, b->a, b->conn, b->r->outputs.p[i].relation, old_rows_sql(b, i), new_rows_sql(b, i), &w, err);
        vec_push(b->a, ret, w);
        TRY(s);
        TRY(count_missing(b, i, &w, err));
    }
    return OK;
}

static bool needs_exclusive(const SourceBatch *b)
{
    for (size_t i = 0; i < b->r->outputs.n; i++)
        if (b->outputs[i].table.n && changes_stored(&b->outputs[i]))
            return true;
    return false;
}

static Status write_all(SourceBatch *b, const LiveNote *note, Writes *w, int64_t *t, Error *err)
{
    CLEANUP(live_exclusive_endp) LiveExclusive *x = NULL;

    TRY(finish_rows(b, err));
    TRY(stage_inserts(b, w, err));
    if (!needs_exclusive(b))
        return live_commit_noted(b->r->owner->o.live, w->p, w->n, note, note->value.n > 0, t, err);
    TRY(live_exclusive(b->r->owner->o.live, &x, err));
    TRY(stage_changes(b, w, err));
    return live_exclusive_commit_noted(x, w->p, w->n, note, note->value.n > 0, t, err);
}

static void drop_tables(SourceBatch *b)
{
    Error ignored;
    for (size_t i = 0; i < b->r->outputs.n; i++)
        if (b->outputs[i].table.n)
            (void)!duck_exec(b->conn, str_fmt(b->a, "DROP TABLE IF EXISTS temp." STR_FMT "; DROP TABLE IF EXISTS temp." STR_FMT "n", STR_ARG(b->outputs[i].table), STR_ARG(b->outputs[i].table)), &ignored);
}

static void end_batch(SourceBatch *b)
{
    Error ignored;
    for (size_t i = 0; i < b->r->outputs.n; i++)
        if (b->outputs[i].ap)
            (void)!duck_append_done(b->outputs[i].ap, &ignored);
    drop_tables(b);
    arena_destroy(b->a);
}

Status source_commit(SourceBatch *b, Str offsets, Error *err)
{
    LiveNote note = { .key = source_note_key(b->a, b->r->id), .value = offsets };
    Writes w = {0};
    int64_t t = 0;

    put_progress(b);
    source_counted(b->r, 0, 0, b->rows, 0, 0);
    Status s = write_all(b, &note, &w, &t, err);
    for (size_t i = 0; s != OK && i < w.n; i++)
        if (w.p[i].stage.n)
            live_unstage(b->r->owner->o.live, &w.p[i]);
    if (s == OK)
        source_counted(b->r, 0, 0, 0, b->rows, t);
    end_batch(b);
    return s;
}

void source_abandon(SourceBatch *b) { end_batch(b); }
