/* SPDX-License-Identifier: Apache-2.0 */
/* pg_run.c - one cursor carried out: its rows sent, or COPY in one of its directions. */
#include "door/pg/pg_int.h"

#include <stdio.h>

Status pg_check_cancel(PgConn *c, Error *err)
{
    if (__atomic_load_n(&c->cancelled, __ATOMIC_RELAXED))
        return FAIL(err, E_CANCELLED, "canceling statement due to user request");
    if (c->wire.dead)
        return FAIL(err, E_IO, "the client is gone");
    return OK;
}

void pg_cursor_close(PgCursor *cur)
{
    if (cur->close)
        cur->close(cur);
    *cur = (PgCursor){ 0 };
}

/* Rows of one statement share an arena until it has grown: then it is renewed. */
static void renew(Arena **a)
{
    if (arena_used(*a) < PG_ARENA_BYTES)
        return;
    arena_destroy(*a);
    *a = arena_create();
}

/* Nothing to send for now: the client gets what there is, and is looked after. */
static void idle(PgConn *c)
{
    pg_wire_flush(&c->wire);
    pg_wire_look(&c->wire);
}

Status pg_run_rows(PgConn *c, PgCursor *cur, int64_t max, const int16_t *formats, size_t nformats, int64_t *rows, int *more,
                   Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create(), *own = arena_create();
    Value *cells = arena_array(own, Value, cur->columns.n + 1);

    *more = 0;
    for (int64_t n = 0; cur->next; n++) {
        int has = 0;
        if (max > 0 && n == max) {
            *more = 1;
            return OK;
        }
        TRY(pg_check_cancel(c, err));
        renew(&a);
        TRY(cur->next(cur, a, cells, &has, err));
        if (!has)
            return OK;
        if (has == 2) {
            idle(c);
            n--;
            continue;
        }
        TRY(pg_send_row(c, &cur->columns, cells, formats, nformats, err));
        ++*rows;
    }
    return OK;
}

/* ---- COPY ----------------------------------------------------------------------------------------------------------------- */

static void send_copy_start(PgConn *c, char type, const PgCopy *copy, size_t n)
{
    PgOut *o = &c->wire.out;
    int binary = copy->format == PG_COPY_BINARY;

    pg_out_begin(o, type);
    pg_out_u8(o, binary);
    pg_out_i16(o, (int)n);
    for (size_t i = 0; i < n; i++)
        pg_out_i16(o, binary);
    pg_out_end(o);
}

/* The signature of the binary format goes before the first row, or the trailer, in the same message, as PostgreSQL's does. */
static void begin_copy_data(PgConn *c, const PgCopy *copy, const PgColumns *columns, int first)
{
    pg_out_begin(&c->wire.out, 'd');
    if (first && copy->format == PG_COPY_BINARY)
        pg_copy_header_out(copy, &c->wire.out, columns);
}

static Status send_copy_row(PgConn *c, const PgCopy *copy, const PgColumns *columns, const Value *cells, int first, Error *err)
{
    PgOut *o = &c->wire.out;

    begin_copy_data(c, copy, columns, first);
    Status s = pg_copy_row_out(copy, o, columns, cells, err);
    if (s == OK && o->bad)
        s = FAIL(err, E_LIMIT, "a row is longer than %d bytes", PG_ROW_BYTES);
    if (s != OK)
        pg_out_undo(o);
    else
        pg_out_end(o);
    pg_wire_flush_if_full(&c->wire);
    return s;
}

static void send_copy_names(PgConn *c, const PgCopy *copy, const PgColumns *columns)
{
    if (copy->format == PG_COPY_BINARY || !copy->header)
        return;
    pg_out_begin(&c->wire.out, 'd');
    pg_copy_header_out(copy, &c->wire.out, columns);
    pg_out_end(&c->wire.out);
}

static void send_copy_end(PgConn *c, const PgCopy *copy, const PgColumns *columns, int first)
{
    if (copy->format == PG_COPY_BINARY) {
        begin_copy_data(c, copy, columns, first);
        pg_out_i16(&c->wire.out, -1);
        pg_out_end(&c->wire.out);
    }
    pg_send_simple(c, 'c');
}

Status pg_run_copy_out(PgConn *c, PgCursor *cur, int64_t *rows, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create(), *own = arena_create();
    Value *cells = arena_array(own, Value, cur->columns.n + 1);
    PgCopy copy;

    TRY(pg_copy_options(&cur->copy_options, &copy, err));
    send_copy_start(c, 'H', &copy, cur->columns.n);
    send_copy_names(c, &copy, &cur->columns);
    while (cur->next) {
        int has = 0;
        TRY(pg_check_cancel(c, err));
        renew(&a);
        TRY(cur->next(cur, a, cells, &has, err));
        if (!has)
            break;
        if (has == 2) {
            idle(c);
            continue;
        }
        TRY(send_copy_row(c, &copy, &cur->columns, cells, *rows == 0, err));
        ++*rows;
    }
    send_copy_end(c, &copy, &cur->columns, *rows == 0);
    return OK;
}

static Status take_rows(PgConn *c, PgCursor *cur, PgCopyIn *in, Arena **a, Error *err)
{
    for (;;) {
        PgFields f;
        int has;
        TRY(pg_check_cancel(c, err));
        renew(a);
        TRY(pg_copy_take(in, *a, &f, &has, err));
        if (!has)
            return OK;
        TRY_CTX(cur->copy_row(cur, *a, f.fields, f.nulls, f.n, err), err, "COPY line %lld", (long long)in->line);
    }
}

static Status copy_failed(Str body, Error *err)
{
    PgIn in = pg_in(body);
    Str why = pg_in_cstr(&in);
    RAISE(err, E_CANCELLED, "COPY from stdin failed: " STR_FMT, STR_ARG(str_sub(why, 0, 500)));
    snprintf(err->sqlstate, sizeof err->sqlstate, "57014");
    return E_CANCELLED;
}

/* One message while rows come in: *end 1 at CopyDone. */
static Status copy_message(PgConn *c, PgCopyIn *in, int *end, Error *err)
{
    char type = 0;
    Str body;

    TRY(pg_wire_message(&c->wire, c->door->max_message, &type, &body, err));
    switch (type) {
    case 'd': return pg_copy_feed(in, body, err);
    case 'c':
        *end = in->at_end = 1;
        return OK;
    case 'f': return copy_failed(body, err);
    case 'H': case 'S': return OK;                        /* of the extended protocol: ignored here, PostgreSQL 55.2.6 */
    default:
        RAISE(err, E_INVALID, "unexpected message type 0x%02X during COPY from stdin", (unsigned char)type);
        snprintf(err->sqlstate, sizeof err->sqlstate, "08P01");
        c->wire.dead = type == 'X';
        return E_INVALID;
    }
}

static Status copy_loop(PgConn *c, PgCursor *cur, PgCopyIn *in, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (int end = 0; !end;) {
        TRY(copy_message(c, in, &end, err));
        TRY(take_rows(c, cur, in, &a, err));
    }
    return OK;
}

Status pg_run_copy_in(PgConn *c, PgCursor *cur, int64_t *rows, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgCopyIn in = { .columns = &cur->columns, .limit = c->door->max_message };

    TRY(pg_copy_options(&cur->copy_options, &in.copy, err));
    if (!cur->copy_row || (in.copy.format == PG_COPY_BINARY && !cur->columns.n))
        return FAIL(err, E_UNSUPPORTED, "this COPY cannot take rows in that format");
    send_copy_start(c, 'G', &in.copy, cur->columns.n);
    pg_wire_flush(&c->wire);
    Status s = copy_loop(c, cur, &in, err);
    pg_copy_in_done(&in);
    if (s != OK)
        return s;
    return cur->copy_done ? cur->copy_done(cur, a, rows, err) : OK;
}
