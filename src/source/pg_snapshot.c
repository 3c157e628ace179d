/* SPDX-License-Identifier: Apache-2.0 */
/* pg_snapshot.c - the slot, and the rows of tables as they stand where it begins.
 *
 * CREATE_REPLICATION_SLOT exports a snapshot: all that committed before the slot's point, nothing of what came later.  The rows are copied in it by another connection,
 * so rows and stream fit without a seam.  A slot that was made and whose rows never became durable is dropped and made anew. */
#include "source/pg_stream.h"

static Status copy_line(PgStream *s, const PgStreamTable *t, Str line, Error *err)
{
    PgTuple cells = {0};

    TRY(pg_copy_line(s->message, line, &cells, err));
    if (cells.n != t->t.columns.n)
        return FAIL(err, E_CORRUPT, "COPY of " STR_FMT " has %zu fields, not %zu", STR_ARG(t->place), cells.n, t->t.columns.n);
    return pg_put_row(s, t, &cells, 1, err);
}

static Status copy_rows(PgStream *s, const Pg *p, const PgStreamTable *t, Error *err)
{
    for (;;) {
        char *bytes = NULL;
        int n;
        TRY(pg_copied(p, 1000, &bytes, &n, err));
        if (n < 0)
            return OK;
        if (source_stopping(s->r))
            return FAIL(err, E_CANCELLED, "the source is to stop");
        if (!n)
            continue;
        Status st = copy_line(s, t, str_n(bytes, (size_t)n), err);
        PQfreemem(bytes);
        TRY(st);
        source_received(s->r, 1, n);
        pg_fresh_message(s);
    }
}

/* A table's own rows; of a partitioned one those of its partitions. */
static Status copy_table(PgStream *s, const Pg *p, const PgStreamTable *t, Error *err)
{
    CLEANUP(pg_clearp) PGresult *kind = NULL;
    CLEANUP(pg_clearp) PGresult *copy = NULL;
    StrBuf b = sb_new(s->a);

    TRY(pg_query(p, str_fmt(s->a, "SELECT relkind FROM pg_catalog.pg_class WHERE oid = %u", t->t.oid), &kind, err));
    sb_addc(&b, "COPY (SELECT ");
    for (size_t i = 0; i < t->t.columns.n; i++) {
        sb_addc(&b, i ? ", " : "");
        pg_ident(&b, t->t.columns.p[i].name);
    }
    sb_addc(&b, PQntuples(kind) && str_eq(pg_cell(kind, 0, 0), S("p")) ? " FROM " : " FROM ONLY ");
    pg_ident(&b, t->t.ns);
    sb_byte(&b, '.');
    pg_ident(&b, t->t.name);
    sb_addc(&b, ") TO STDOUT");
    TRY(pg_query(p, sb_str(&b), &copy, err));
    return copy_rows(s, p, t, err);
}

static Status copy_all(PgStream *s, const Pg *p, Str snapshot, Error *err)
{
    StrBuf b = sb_new(s->a);

    sb_addc(&b, "BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT ");
    pg_literal(&b, snapshot);
    TRY(pg_do(p, sb_str(&b), err));
    TRY(pg_check_tables(s, p, err));
    for (size_t i = 0; i < s->tables.n; i++)
        if (!s->tables.p[i].has_rows && !s->tables.p[i].broken)
            TRY_CTX(copy_table(s, p, &s->tables.p[i], err), err, "snapshot of " STR_FMT, STR_ARG(s->tables.p[i].place));
    return pg_do(p, S("COMMIT"), err);
}

static Status drop_if_there(PgStream *s, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf b = sb_new(s->a);

    sb_addc(&b, "SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots WHERE slot_name = ");
    pg_literal(&b, s->slot);
    return pg_query(&s->repl, sb_str(&b), &r, err);
}

/* The first time the slot stays; later tables get one that goes with the connection. */
static Status make_slot(PgStream *s, uint64_t *point, Str *snapshot, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf b = sb_new(s->a);

    if (!s->has_note)
        TRY(drop_if_there(s, err));
    sb_addc(&b, "CREATE_REPLICATION_SLOT ");
    pg_ident(&b, s->has_note ? str_fmt(s->a, STR_FMT "_t", STR_ARG(s->slot)) : s->slot);
    sb_addc(&b, s->has_note ? " TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT" : " LOGICAL pgoutput EXPORT_SNAPSHOT");
    TRY(pg_query(&s->repl, sb_str(&b), &r, err));
    if (PQntuples(r) != 1 || PQnfields(r) < 3 || !pg_lsn(pg_cell(r, 0, 1), point))
        return FAIL(err, E_CORRUPT, "postgres: CREATE_REPLICATION_SLOT answered what it must not");
    *snapshot = str_dup(s->a, pg_cell(r, 0, 2));
    return OK;
}

Status pg_snapshot(PgStream *s, Error *err)
{
    CLEANUP(pg_close) Pg plain = {0};
    uint64_t point = 0;
    Str snapshot;

    TRY(make_slot(s, &point, &snapshot, err));
    TRY(pg_connect(json_get(s->options, "connection"), PG_PLAIN, s->r, &plain, err));
    TRY(pg_open_batch(s, err));
    TRY(copy_all(s, &plain, snapshot, err));
    for (size_t i = 0; i < s->tables.n; i++)
        if (!s->tables.p[i].has_rows) {
            s->tables.p[i].has_rows = 1;
            s->tables.p[i].from = point;
        }
    if (!s->has_note)
        s->lsn = s->seen = point;
    return pg_commit(s, err);
}
