/* SPDX-License-Identifier: Apache-2.0 */
/* source_postgres.c - PostgreSQL as a source: snapshot, then the stream of its publication (pgoutput), exactly once.
 *
 * The note {"system", "timeline", "lsn", "tables", "broken"} is written with the rows: `lsn` is the end of the last transaction that is in them.  A start asks for the
 * stream from there, and a transaction that commits before is passed over, however often the server sends it.  The server is told an LSN only after it is durable
 * here, so its WAL is kept as long as we may need it.  Transactions are whole: a batch ends between two of them.
 * Invariants: (1) source_commit only between transactions; (2) nothing is acknowledged beyond `lsn` while a batch is open. */
#include "source/pg_stream.h"

enum { BATCH_ROWS = 100000, BATCH_US = 200000, FEEDBACK_US = 5000000, CHECK_US = 10000000, IDLE_MS = 500, MESSAGE_ARENA = 4 * 1024 * 1024, SLOTS_NEEDED = 2 };
static const int64_t PG_EPOCH_US = 946684800000000;

/* ---- the note ------------------------------------------------------------------------------------------------------------------ */

static Str note_text(PgStream *s, Arena *a)
{
    Json *note = json_object(a), *tables = json_object(a), *broken = json_object(a);

    json_set(a, note, "system", json_str(a, s->system));
    json_set(a, note, "timeline", json_int(a, s->timeline));
    json_set(a, note, "lsn", json_int(a, (int64_t)max_i64((int64_t)s->lsn, (int64_t)s->seen)));
    for (size_t i = 0; i < s->tables.n; i++) {
        const PgStreamTable *t = &s->tables.p[i];
        Str id = str_fmt(a, "%lld", (long long)source_spec(s->r)->outputs->p[t->output].relation);
        if (t->has_rows)
            json_set_s(a, tables, id, json_int(a, (int64_t)t->from));
        if (t->broken)
            json_set_s(a, broken, id, json_str(a, t->why));
    }
    json_set(a, note, "tables", tables);
    json_set(a, note, "broken", broken);
    return json_text(a, note);
}

static Status read_note(PgStream *s, Error *err)
{
    Str text = source_offsets(s->r, s->a);
    Json *note = NULL;

    if (text.n)
        TRY_CTX(json_parse(s->a, text, &note, err), err, "the note of a PostgreSQL source");
    s->has_note = note != NULL;
    s->system = json_get_str(note, "system", (Str){0});
    s->timeline = json_get_int(note, "timeline", 0);
    s->lsn = s->seen = s->acked = (uint64_t)json_get_int(note, "lsn", 0);
    for (size_t i = 0; i < s->tables.n; i++) {
        PgStreamTable *t = &s->tables.p[i];
        Str id = str_fmt(s->a, "%lld", (long long)source_spec(s->r)->outputs->p[t->output].relation);
        const Json *from = json_get_s(json_get(note, "tables"), id), *broken = json_get_s(json_get(note, "broken"), id);
        t->has_rows = from != NULL;
        t->from = from ? (uint64_t)from->integer : 0;
        if (broken && broken->kind == JSON_STRING)
            pg_break(s, t, broken->string);
    }
    s->dirty = 0;
    return OK;
}

Status pg_open_batch(PgStream *s, Error *err) { return s->b ? OK : source_batch(s->r, &s->b, err); }

Status pg_commit(PgStream *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SourceBatch *b;

    TRY(pg_open_batch(s, err));
    b = s->b;
    s->b = NULL;
    source_batch_at(b, (uint64_t)max_i64((int64_t)s->lsn, (int64_t)s->seen));
    TRY(source_commit(b, note_text(s, a), err));
    s->lsn = (uint64_t)max_i64((int64_t)s->lsn, (int64_t)s->seen);
    s->has_note = 1;
    s->dirty = 0;
    s->pending_us = 0;
    return OK;
}

void pg_fresh_message(PgStream *s)
{
    if (s->message && arena_used(s->message) < MESSAGE_ARENA)
        return;
    arena_destroy(s->message);
    s->message = arena_create();
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------------- */

static Status check_now(PgStream *s, Error *err)
{
    CLEANUP(pg_close) Pg plain = {0};

    s->check_us = clock_mono_us();
    TRY(pg_connect(json_get(s->options, "connection"), PG_PLAIN, s->r, &plain, err));
    return pg_check_tables(s, &plain, err);
}

static Status open_tables(PgStream *s, Error *err)
{
    const SourceOutputs *outputs = source_spec(s->r)->outputs;

    for (size_t i = 0; i < outputs->n; i++) {
        PgStreamTable t = { .output = i, .place = outputs->p[i].external };
        if (!outputs->p[i].pinned.n)
            continue;
        TRY(pg_pinned(s->a, &outputs->p[i], &t.t, err));
        vec_push(s->a, &s->tables, t);
    }
    return OK;
}

/* ---- the stream ---------------------------------------------------------------------------------------------------------------------- */

static void put_u64(char *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (char)(v >> (56 - 8 * i));
}

/* Standby status update: written, flushed, applied, the time, no answer wanted. */
static Status feedback(PgStream *s, Error *err)
{
    char m[34] = { 'r' };

    put_u64(m + 1, s->acked);
    put_u64(m + 9, s->acked);
    put_u64(m + 17, s->acked);
    put_u64(m + 25, (uint64_t)(clock_us() - PG_EPOCH_US));
    s->feedback_us = clock_mono_us();
    if (PQputCopyData(s->repl.c, m, sizeof m) < 0 || PQflush(s->repl.c) < 0)
        return pg_failed(&s->repl, NULL, err);
    return OK;
}

static Status take_frame(PgStream *s, Str bytes, Error *err)
{
    PgFrame f;
    PgMessage m;

    TRY(pg_frame(bytes, &f, err));
    if (f.kind == 'w') {
        pg_fresh_message(s);
        TRY(pg_message(s->message, f.body, &m, err));
        source_received(s->r, m.kind == 'I' || m.kind == 'U' || m.kind == 'D', (int64_t)f.body.n);
        TRY(pg_apply(s, &m, err));
        if (pg_has_pending(s) && !s->pending_us)
            s->pending_us = clock_mono_us();
    } else if (!s->in_tx && !pg_has_pending(s))          /* (2) */
        s->acked = (uint64_t)max_i64((int64_t)s->acked, (int64_t)f.end);
    source_progress(s->r, max_i64((int64_t)f.end, (int64_t)s->lsn), max_i64((int64_t)s->lsn, (int64_t)s->acked));
    return f.kind == 'k' && f.reply ? feedback(s, err) : OK;
}

static Status receive(PgStream *s, int *n, Error *err)
{
    char *bytes = NULL;

    TRY(pg_copied(&s->repl, pg_has_pending(s) && !s->in_tx ? 0 : IDLE_MS, &bytes, n, err));
    if (*n < 0)
        return FAIL(err, E_UNAVAILABLE, "postgres: the server ended the replication stream");
    if (!*n)
        return OK;
    Status st = take_frame(s, str_n(bytes, (size_t)*n), err);
    PQfreemem(bytes);
    return st;
}

static bool must_commit(const PgStream *s, int n)
{
    if (s->in_tx || !pg_has_pending(s))                  /* (1) */
        return false;
    return n == 0 || (s->b && source_batch_rows(s->b) >= BATCH_ROWS) || clock_mono_us() - s->pending_us > BATCH_US;
}

static Status commit_and_tell(PgStream *s, Error *err)
{
    TRY(pg_commit(s, err));
    s->acked = (uint64_t)max_i64((int64_t)s->acked, (int64_t)s->lsn);
    source_progress(s->r, (int64_t)s->acked, (int64_t)s->acked);
    return feedback(s, err);
}

static Status follow(PgStream *s, Error *err)
{
    int n;

    while (!source_stopping(s->r)) {
        TRY(receive(s, &n, err));
        if (must_commit(s, n))
            TRY(commit_and_tell(s, err));
        if (clock_mono_us() - s->feedback_us > FEEDBACK_US)
            TRY(feedback(s, err));
        if (n == 0 && !pg_has_pending(s) && !s->in_tx && clock_mono_us() - s->check_us > CHECK_US)
            TRY(check_now(s, err));
    }
    return OK;
}

static Status start_stream(PgStream *s, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf b = sb_new(s->a), name = sb_new(s->a);

    pg_ident(&name, s->publication);
    sb_addc(&b, "START_REPLICATION SLOT ");
    pg_ident(&b, s->slot);
    sb_fmt(&b, " LOGICAL " STR_FMT " (proto_version '1', publication_names ", STR_ARG(pg_lsn_text(s->a, s->lsn)));
    pg_literal(&b, sb_str(&name));
    sb_byte(&b, ')');
    Status st = pg_query(&s->repl, sb_str(&b), &r, err);
    if (st != OK && !err->hint[0])
        error_hint(err, "If the slot " STR_FMT " is gone, changes are lost: drop the source and create it anew.", STR_ARG(s->slot));
    return st;
}

/* The server that we know, and no other that took its place. */
static Status identify(PgStream *s, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    int64_t timeline = 0;

    TRY(pg_query(&s->repl, S("IDENTIFY_SYSTEM"), &r, err));
    if (PQntuples(r) != 1 || PQnfields(r) < 2 || !str_to_i64(pg_cell(r, 0, 1), &timeline))
        return FAIL(err, E_CORRUPT, "postgres: IDENTIFY_SYSTEM answered what it must not");
    if (s->has_note && !str_eq(s->system, pg_cell(r, 0, 0)))
        return FAIL(err, E_CONFLICT, "postgres: the server is another one: its system identifier is " STR_FMT ", not " STR_FMT, STR_ARG(pg_cell(r, 0, 0)), STR_ARG(s->system));
    if (s->has_note && timeline != s->timeline)
        return FAIL(err, E_CONFLICT, "unsupported action: database restored from point-in-time backup. Expected timeline ID %lld but got %lld", (long long)s->timeline, (long long)timeline);
    s->system = str_dup(s->a, pg_cell(r, 0, 0));
    s->timeline = timeline;
    return OK;
}

static bool lacks_rows(const PgStream *s)
{
    for (size_t i = 0; i < s->tables.n; i++)
        if (!s->tables.p[i].has_rows && !s->tables.p[i].broken)
            return true;
    return !s->has_note;
}

/* A temporary slot lives as long as its connection, and a connection streams from one slot. */
static Status connect_again(PgStream *s, Error *err)
{
    pg_close(&s->repl);
    return pg_connect(json_get(s->options, "connection"), PG_REPLICATION, s->r, &s->repl, err);
}

static Status run(PgStream *s, Error *err)
{
    TRY(open_tables(s, err));
    TRY(read_note(s, err));
    TRY(connect_again(s, err));
    TRY(identify(s, err));
    if (lacks_rows(s)) {
        TRY(pg_snapshot(s, err));
        TRY(connect_again(s, err));
    } else
        TRY(check_now(s, err));
    source_snapshot_done(s->r);
    TRY(start_stream(s, err));
    source_status(s->r, "running", (Str){0}, (Str){0});
    s->acked = (uint64_t)max_i64((int64_t)s->acked, (int64_t)s->lsn);
    return follow(s, err);
}

static Status postgres_run(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    const Json *o = source_spec(r)->options;
    PgStream s = { .r = r, .a = a, .options = o, .slot = json_get_str(o, "slot", (Str){0}), .publication = json_get_str(o, "publication", (Str){0}), .check_us = clock_mono_us() };

    pg_fresh_message(&s);
    Status st = run(&s, err);
    if (s.b)
        source_abandon(s.b);
    pg_close(&s.repl);
    arena_destroy(s.message);
    return st;
}

/* ---- before it runs, and after --------------------------------------------------------------------------------------------------------- */

static Status setting(Arena *a, const Pg *p, const char *sql, Str *ret, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;

    TRY(pg_query(p, str_c(sql), &r, err));
    *ret = PQntuples(r) ? str_dup(a, pg_cell(r, 0, 0)) : (Str){0};
    return OK;
}

static Status check_server(Arena *a, const Pg *p, Error *err)
{
    Str level, senders, slots;
    int64_t n = 0;

    TRY(setting(a, p, "SHOW wal_level", &level, err));
    if (!str_eq(level, S("logical")))
        return FAIL(err, E_INVALID, "server must have wal_level >= logical, but has " STR_FMT, STR_ARG(level));
    TRY(setting(a, p, "SHOW max_wal_senders", &senders, err));
    if (!str_to_i64(senders, &n) || n < 1)
        return FAIL(err, E_INVALID, "replication disabled on server");
    TRY(setting(a, p, "SELECT current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_catalog.pg_replication_slots)", &slots, err));
    if (str_to_i64(slots, &n) && n >= SLOTS_NEEDED)
        return OK;
    RAISE(err, E_LIMIT, "PostgreSQL server has insufficient number of replication slots available");
    error_detail(err, "executing this statement requires %d replication slots", SLOTS_NEEDED);
    error_hint(err, "you might be able to wait for other sources to finish snapshotting and try again");
    return err->code;
}

static Status postgres_discover(Arena *a, const SourceSpec *spec, SourceOutputs *ret, Error *err)
{
    CLEANUP(pg_close) Pg p = {0};
    PgTables all = {0}, chosen = {0};
    Str publication = json_get_str(spec->options, "publication", (Str){0});

    if (!publication.n)
        return FAIL(err, E_INVALID, "POSTGRES CONNECTION must specify PUBLICATION");
    TRY(pg_connect(json_get(spec->options, "connection"), PG_PLAIN, NULL, &p, err));
    TRY(check_server(a, &p, err));
    TRY(pg_tables(a, &p, publication, &all, err));
    TRY(pg_choose(a, spec->options, &all, &chosen, err));
    for (size_t i = 0; i < chosen.n; i++) {
        SourceOutput o;
        TRY(pg_output(a, &chosen.p[i], &o, err));
        vec_push(a, ret, o);
    }
    return OK;
}

static Status postgres_validate(Arena *a, const Json *connection, Error *err)
{
    CLEANUP(pg_close) Pg p = {0};
    Str one;

    TRY(pg_connect(connection, PG_PLAIN, NULL, &p, err));
    return setting(a, &p, "SELECT 1", &one, err);
}

static Status postgres_forget(Arena *a, const SourceSpec *spec, Error *err)
{
    CLEANUP(pg_close) Pg p = {0};
    StrBuf b = sb_new(a);
    Str slot = json_get_str(spec->options, "slot", (Str){0});

    if (!slot.n)
        return OK;
    TRY(pg_connect(json_get(spec->options, "connection"), PG_REPLICATION, NULL, &p, err));
    sb_addc(&b, "DROP_REPLICATION_SLOT ");
    pg_ident(&b, slot);
    sb_addc(&b, " WAIT");
    Status s = pg_do(&p, sb_str(&b), err);
    return s != OK && str_eq(str_c(err->kind), S("42704")) ? OK : s;      /* undefined_object */
}

const SourceConnector source_postgres = { .type = "postgres", .discover = postgres_discover, .run = postgres_run, .validate = postgres_validate, .forget = postgres_forget };
