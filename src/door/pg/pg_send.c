/* SPDX-License-Identifier: Apache-2.0 */
/* pg_send.c - the messages that we send: errors, notices, parameters, row descriptions, rows, ready. */
#include "door/pg/pg_int.h"

#include <stdio.h>

void pg_send_simple(PgConn *c, char type)
{
    pg_out_begin(&c->wire.out, type);
    pg_out_end(&c->wire.out);
}

/* ---- errors and notices ------------------------------------------------------------------------------------------------ */

static void send_field(PgOut *o, char code, const char *text)
{
    if (!*text)
        return;
    pg_out_u8(o, code);
    pg_out_cstr(o, str_c(text));
}

/* Positions are counted in characters on the wire, in bytes within. */
static int position_of(Str text, int byte)
{
    int n = 1;
    for (size_t i = 0; i + 1 < (size_t)byte && i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

static void send_position(PgConn *c, const Error *err)
{
    char text[16];

    if (err->position <= 0 || (size_t)err->position > c->text.n + 1)
        return;
    snprintf(text, sizeof text, "%d", position_of(c->text, err->position));
    send_field(&c->wire.out, 'P', text);
}

void pg_send_error(PgConn *c, const char *severity, const Error *err)
{
    PgOut *o = &c->wire.out;

    pg_out_begin(o, 'E');
    send_field(o, 'S', severity);
    send_field(o, 'V', severity);
    send_field(o, 'C', err->sqlstate[0] ? err->sqlstate : status_sqlstate(err->code));
    send_field(o, 'M', err->message[0] ? err->message : "internal error");
    send_field(o, 'D', err->detail);
    send_field(o, 'H', err->hint);
    send_position(c, err);
    pg_out_u8(o, 0);
    pg_out_end(o);
}

void pg_send_notices(PgConn *c)
{
    PgOut *o = &c->wire.out;
    PgNotice n = { 0 };

    while (c->door->hooks.notice && c->door->hooks.notice(c->session, &n)) {
        const char *severity = n.severity[0] ? n.severity : "NOTICE";
        pg_out_begin(o, 'N');
        send_field(o, 'S', severity);
        send_field(o, 'V', severity);
        send_field(o, 'C', n.sqlstate[0] ? n.sqlstate : strcmp(severity, "WARNING") ? "00000" : "01000");
        send_field(o, 'M', n.message[0] ? n.message : "notice");
        send_field(o, 'D', n.detail);
        send_field(o, 'H', n.hint);
        pg_out_u8(o, 0);
        pg_out_end(o);
        n = (PgNotice){ 0 };
    }
}

/* ---- parameters and ready ------------------------------------------------------------------------------------------------ */

static void send_parameter(PgConn *c, Str key, Str value)
{
    if (props_has(&c->sent, key) && str_eq(props_get(&c->sent, key, S("")), value))
        return;
    props_set(c->arena, &c->sent, str_dup(c->arena, key), str_dup(c->arena, value));
    pg_out_begin(&c->wire.out, 'S');
    pg_out_cstr(&c->wire.out, key);
    pg_out_cstr(&c->wire.out, value);
    pg_out_end(&c->wire.out);
}

/* What the encoders of this door promise, whatever the session says. */
static const KeyValue promised[] = {
    { S("server_encoding"), S("UTF8") }, { S("client_encoding"), S("UTF8") }, { S("integer_datetimes"), S("on") },
    { S("standard_conforming_strings"), S("on") }, { S("DateStyle"), S("ISO, MDY") }, { S("IntervalStyle"), S("postgres") },
};

static bool is_promised(Str key)
{
    for (size_t i = 0; i < COUNT_OF(promised); i++)
        if (str_ieq(promised[i].key, key))
            return true;
    return false;
}

void pg_send_parameters(PgConn *c)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Props now = { 0 };

    for (size_t i = 0; i < COUNT_OF(promised); i++)
        send_parameter(c, promised[i].key, promised[i].value);
    if (c->door->hooks.parameters)
        c->door->hooks.parameters(c->session, a, &now);
    for vec_each(KeyValue, kv, &now)
        if (!is_promised(kv->key))
            send_parameter(c, kv->key, kv->value);
}

void pg_send_ready(PgConn *c)
{
    pg_send_parameters(c);
    pg_out_begin(&c->wire.out, 'Z');
    pg_out_u8(&c->wire.out, c->door->hooks.tx_status ? c->door->hooks.tx_status(c->session) : 'I');
    pg_out_end(&c->wire.out);
    pg_wire_flush(&c->wire);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------- */

int16_t pg_format_of(const int16_t *formats, size_t n, size_t i) { return n == 0 ? 0 : n == 1 ? formats[0] : formats[i]; }

static int32_t column_oid(const PgColumn *col) { return col->pg_oid ? col->pg_oid : pg_type_oid(&col->type); }

void pg_send_columns(PgConn *c, const PgColumns *columns, const int16_t *formats, size_t nformats)
{
    PgOut *o = &c->wire.out;

    pg_out_begin(o, 'T');
    pg_out_i16(o, (int)columns->n);
    for (size_t i = 0; i < columns->n; i++) {
        const PgColumn *col = &columns->p[i];
        int32_t oid = column_oid(col);
        pg_out_cstr(o, col->name);
        pg_out_i32(o, 0);                                /* no table, no attribute number: results are expressions */
        pg_out_i16(o, 0);
        pg_out_i32(o, oid);
        pg_out_i16(o, pg_type_len(oid));
        pg_out_i32(o, col->typmod ? col->typmod : pg_typmod(&col->type));
        pg_out_i16(o, pg_format_of(formats, nformats, i));
    }
    pg_out_end(o);
}

/* int2vector's text: "1 2". */
static void vector_out(PgOut *o, const Value *v)
{
    for (size_t i = 0; i < v->items.n; i++) {
        if (i)
            pg_out_u8(o, ' ');
        pg_text_out(o, &v->items.p[i]);
    }
}

static Status send_cells(PgOut *o, const PgColumns *columns, const Value *cells, const int16_t *formats, size_t nformats, Error *err)
{
    pg_out_i16(o, (int)columns->n);
    for (size_t i = 0; i < columns->n; i++) {
        if (cells[i].kind == DT_NULL) {
            pg_out_i32(o, -1);
            continue;
        }
        size_t at = pg_out_len_begin(o);
        if (pg_format_of(formats, nformats, i) == 1)
            TRY_CTX(pg_binary_as(o, &cells[i], &columns->p[i].type, column_oid(&columns->p[i]), err), err, "column \"" STR_FMT "\"",
                    STR_ARG(columns->p[i].name));
        else if (cells[i].kind == DT_LIST && column_oid(&columns->p[i]) == OID_INT2VECTOR)
            vector_out(o, &cells[i]);
        else
            pg_text_as(o, &cells[i], &columns->p[i].type);
        pg_out_len_end(o, at);
    }
    return OK;
}

Status pg_send_row(PgConn *c, const PgColumns *columns, const Value *cells, const int16_t *formats, size_t nformats, Error *err)
{
    PgOut *o = &c->wire.out;

    pg_out_begin(o, 'D');
    Status s = send_cells(o, columns, cells, formats, nformats, err);
    if (s == OK && o->bad)
        s = FAIL(err, E_LIMIT, "a row is longer than %d bytes", PG_ROW_BYTES);
    if (s != OK) {
        pg_out_undo(o);
        return s;
    }
    pg_out_end(o);
    pg_wire_flush_if_full(&c->wire);
    return OK;
}

void pg_send_tag(PgConn *c, PgCursor *cur, Arena *a, int64_t rows)
{
    Str tag;

    if (cur->tag)
        tag = cur->tag(cur, a, rows);
    else if (cur->copy_in || cur->copy_out)
        tag = str_fmt(a, "COPY %lld", (long long)rows);
    else
        tag = str_fmt(a, "SELECT %lld", (long long)rows);
    if (!tag.n) {
        pg_send_simple(c, 'I');
        return;
    }
    pg_out_begin(&c->wire.out, 'C');
    pg_out_cstr(&c->wire.out, tag);
    pg_out_end(&c->wire.out);
}
