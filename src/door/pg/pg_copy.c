/* SPDX-License-Identifier: Apache-2.0 */
/* pg_copy.c - COPY's options and its outgoing rows: text, CSV and binary framing (PostgreSQL 15, COPY, File Formats). */
#include "door/pg/pg_int.h"

static const char signature[] = "PGCOPY\n\377\r\n";       /* and its NUL: 11 bytes */

/* ---- options ---------------------------------------------------------------------------------------------------- */

static Status one_byte(Str key, Str value, char *ret, Error *err)
{
    if (value.n != 1 || value.p[0] == '\n' || value.p[0] == '\r')
        return FAIL(err, E_INVALID, "COPY " STR_FMT " must be a single one-byte character", STR_ARG(key));
    *ret = value.p[0];
    return OK;
}

static Status format_of(Str value, PgCopyFormat *ret, Error *err)
{
    if (str_ieq(value, S("text")))
        *ret = PG_COPY_TEXT;
    else if (str_ieq(value, S("csv")))
        *ret = PG_COPY_CSV;
    else if (str_ieq(value, S("binary")))
        *ret = PG_COPY_BINARY;
    else
        return FAIL(err, E_INVALID, "COPY format \"" STR_FMT "\" not recognized", STR_ARG(value));
    return OK;
}

static Status truth_of(Str key, Str value, int *ret, Error *err)
{
    static const char *const yes[] = { "", "true", "on", "1", "match" }, *const no[] = { "false", "off", "0" };

    for (size_t i = 0; i < COUNT_OF(yes); i++)
        if (str_ieq(value, str_c(yes[i])))
            return *ret = 1, OK;
    for (size_t i = 0; i < COUNT_OF(no); i++)
        if (str_ieq(value, str_c(no[i])))
            return *ret = 0, OK;
    return FAIL(err, E_INVALID, "COPY " STR_FMT " requires a Boolean value", STR_ARG(key));
}

static Status option(const KeyValue *o, PgCopy *c, Error *err)
{
    int ignored;

    if (str_ieq(o->key, S("format")))
        return OK;
    if (str_ieq(o->key, S("header")))
        return truth_of(o->key, o->value, &c->header, err);
    if (str_ieq(o->key, S("freeze")))
        return truth_of(o->key, o->value, &ignored, err);
    if (str_ieq(o->key, S("delimiter")))
        return one_byte(o->key, o->value, &c->delimiter, err);
    if (str_ieq(o->key, S("null"))) {
        c->null = o->value;
        return OK;
    }
    if (str_ieq(o->key, S("encoding")))
        return str_ieq(o->value, S("utf8")) || str_ieq(o->value, S("utf-8")) ? OK
            : FAIL(err, E_UNSUPPORTED, "COPY encoding \"" STR_FMT "\" is not supported, only UTF8", STR_ARG(o->value));
    if (c->format == PG_COPY_CSV && str_ieq(o->key, S("quote")))
        return one_byte(o->key, o->value, &c->quote, err);
    if (c->format == PG_COPY_CSV && str_ieq(o->key, S("escape")))
        return one_byte(o->key, o->value, &c->escape, err);
    return FAIL(err, E_INVALID, "COPY option \"" STR_FMT "\" is not known for this format", STR_ARG(o->key));
}

Status pg_copy_options(const Props *options, PgCopy *ret, Error *err)
{
    PgCopy c = { .quote = '"' };
    int has_escape = 0;

    for vec_each(KeyValue, o, options)
        if (str_ieq(o->key, S("format")))
            TRY(format_of(o->value, &c.format, err));
    c.delimiter = c.format == PG_COPY_CSV ? ',' : '\t';
    c.null = c.format == PG_COPY_CSV ? S("") : S("\\N");
    for vec_each(KeyValue, o, options) {
        TRY(option(o, &c, err));
        has_escape |= str_ieq(o->key, S("escape"));
    }
    if (!has_escape)
        c.escape = c.quote;
    if (c.format == PG_COPY_BINARY && options->n > 1)
        return FAIL(err, E_INVALID, "COPY in binary format takes no other options");
    if (memchr(c.null.p ? c.null.p : "", '\n', c.null.n) || memchr(c.null.p ? c.null.p : "", '\r', c.null.n))
        return FAIL(err, E_INVALID, "COPY null representation cannot use newline or carriage return");
    if (c.format == PG_COPY_TEXT && strchr("\\.abcdefghijklmnopqrstuvwxyz0123456789", c.delimiter))
        return FAIL(err, E_INVALID, "COPY delimiter cannot be \"%c\"", c.delimiter);
    if (c.format == PG_COPY_CSV && c.delimiter == c.quote)
        return FAIL(err, E_INVALID, "COPY delimiter and quote must be different");
    if (memchr(c.null.p ? c.null.p : "", c.delimiter, c.null.n))
        return FAIL(err, E_INVALID, "COPY delimiter must not appear in the NULL specification");
    *ret = c;
    return OK;
}

/* ---- rows out ------------------------------------------------------------------------------------------------------ */

static void text_field(const PgCopy *c, PgOut *o, Str s)
{
    static const char special[] = "\b\f\n\r\t\v", letter[] = "bfnrtv";

    for (size_t i = 0; i < s.n && !o->bad; i++) {
        const char *hit = s.p[i] ? strchr(special, s.p[i]) : NULL;
        if (hit || s.p[i] == '\\' || s.p[i] == c->delimiter)
            pg_out_u8(o, '\\');
        pg_out_u8(o, hit ? letter[hit - special] : s.p[i]);
    }
}

static bool csv_needs_quotes(const PgCopy *c, Str s, int alone)
{
    if (str_eq(s, c->null) || (alone && str_eq(s, S("\\."))))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == c->delimiter || s.p[i] == c->quote || s.p[i] == '\n' || s.p[i] == '\r')
            return true;
    return false;
}

static void csv_field(const PgCopy *c, PgOut *o, Str s, int alone)
{
    if (!csv_needs_quotes(c, s, alone)) {
        pg_out_bytes(o, s);
        return;
    }
    pg_out_u8(o, c->quote);
    for (size_t i = 0; i < s.n && !o->bad; i++) {
        if (s.p[i] == c->quote || s.p[i] == c->escape)
            pg_out_u8(o, c->escape);
        pg_out_u8(o, s.p[i]);
    }
    pg_out_u8(o, c->quote);
}

static void field(const PgCopy *c, PgOut *o, Str s, int alone)
{
    if (c->format == PG_COPY_CSV)
        csv_field(c, o, s, alone);
    else
        text_field(c, o, s);
}

void pg_copy_header_out(const PgCopy *c, PgOut *o, const PgColumns *columns)
{
    if (c->format == PG_COPY_BINARY) {
        pg_out_bytes(o, str_n(signature, sizeof signature));
        pg_out_i32(o, 0);
        pg_out_i32(o, 0);
        return;
    }
    for (size_t i = 0; i < columns->n; i++) {
        if (i)
            pg_out_u8(o, c->delimiter);
        field(c, o, columns->p[i].name, columns->n == 1);
    }
    pg_out_u8(o, '\n');
}

static Status binary_row(PgOut *o, const PgColumns *columns, const Value *cells, Error *err)
{
    pg_out_i16(o, (int)columns->n);
    for (size_t i = 0; i < columns->n; i++) {
        const PgColumn *col = &columns->p[i];
        if (cells[i].kind == DT_NULL) {
            pg_out_i32(o, -1);
            continue;
        }
        size_t at = pg_out_len_begin(o);
        TRY(pg_binary_as(o, &cells[i], &col->type, col->pg_oid ? col->pg_oid : pg_type_oid(&col->type), err));
        pg_out_len_end(o, at);
    }
    return OK;
}

Status pg_copy_row_out(const PgCopy *c, PgOut *o, const PgColumns *columns, const Value *cells, Error *err)
{
    PgOut text = { 0 };

    if (c->format == PG_COPY_BINARY)
        return binary_row(o, columns, cells, err);
    for (size_t i = 0; i < columns->n && !o->bad; i++) {
        if (i)
            pg_out_u8(o, c->delimiter);
        if (cells[i].kind == DT_NULL) {
            pg_out_bytes(o, c->null);
            continue;
        }
        text.n = 0;
        pg_text_as(&text, &cells[i], &columns->p[i].type);
        o->bad |= text.bad;
        field(c, o, str_n(text.p, text.n), columns->n == 1);
    }
    pg_out_free(&text);
    pg_out_u8(o, '\n');
    return OK;
}
