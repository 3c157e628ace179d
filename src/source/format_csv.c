/* SPDX-License-Identifier: Apache-2.0 */
/* format_csv.c - a message that is one record of comma-separated values (RFC 4180, with a delimiter of choice).
 *
 * All columns are text.  A quote opens a field only at its beginning; inside, two quotes are one.  One line break may end the record. */
#include "source/format_int.h"

typedef struct { char delimiter; } Csv;
typedef struct { const char *p, *end; char delimiter; } Record;

static Status named_columns(Format *f, const Json *header, Error *err)
{
    for (size_t i = 0; i < json_len(header); i++) {
        if (!json_is(json_at(header, i), JSON_STRING))
            return FAIL(err, E_INVALID, "CSV: a column's name is no text");
        TRY(format_column(f, json_at(header, i)->string, type_of(DT_STRING), 1, err));
    }
    return OK;
}

static Status numbered_columns(Format *f, int64_t n, Error *err)
{
    if (n < 1 || n > FORMAT_MAX_COLUMNS)
        return FAIL(err, E_INVALID, "CSV WITH %lld COLUMNS: 1 to %d are possible", (long long)n, FORMAT_MAX_COLUMNS);
    for (int64_t i = 1; i <= n; i++)
        TRY(format_column(f, str_fmt(f->a, "column%lld", (long long)i), type_of(DT_STRING), 1, err));
    return OK;
}

static Status open_csv(Format *f, const FormatOptions *o, Error *err)
{
    const Json *header = json_get(o->options, "header");
    Str delimiter = json_get_str(o->options, "delimited_by", S(","));
    int64_t columns;
    Csv *c = arena_new(f->a, Csv);

    if (delimiter.n != 1 || (unsigned char)delimiter.p[0] > 127 || strchr("\"\r\n", delimiter.p[0]))
        return FAIL(err, E_INVALID, "CSV delimiter must be a single ASCII character other than a quote or a line break");
    c->delimiter = delimiter.p[0];
    f->state = c;
    f->composite = 1;
    if (json_len(header))
        return named_columns(f, header, err);
    if (header)
        return FAIL(err, E_UNSUPPORTED, "CSV WITH HEADER needs the columns' names here: WITH HEADER (a, b)");
    if (!format_option_int(o->options, "columns", 0, &columns))
        columns = 0;
    return numbered_columns(f, columns, err);
}

static bool ends_field(const Record *r)
{
    return r->p == r->end || *r->p == r->delimiter || *r->p == '\n' || *r->p == '\r';
}

static Str plain(Record *r)
{
    const char *from = r->p;
    while (!ends_field(r))
        r->p++;
    return str_n(from, (size_t)(r->p - from));
}

static Status quoted(Record *r, Arena *a, Str *ret, Error *err)
{
    StrBuf b = sb_new(a);

    for (r->p++;; sb_byte(&b, '"')) {
        const char *close = memchr(r->p, '"', (size_t)(r->end - r->p));
        if (!close)
            return FAIL(err, E_SYNTAX, "CSV: a quoted field does not end");
        sb_add(&b, str_n(r->p, (size_t)(close - r->p)));
        r->p = close + 1;
        if (r->p == r->end || *r->p != '"')
            break;
        r->p++;
    }
    if (!ends_field(r))
        return FAIL(err, E_SYNTAX, "CSV: something behind the closing quote of a field");
    *ret = sb_str(&b);
    return OK;
}

static Status field(Record *r, Arena *a, Str *ret, Error *err)
{
    if (r->p < r->end && *r->p == '"')
        return quoted(r, a, ret, err);
    *ret = plain(r);
    return OK;
}

/* One line break, and then the end. */
static bool ended(Record *r)
{
    if (r->p < r->end && *r->p == '\r')
        r->p++;
    if (r->p < r->end && *r->p == '\n')
        r->p++;
    return r->p == r->end;
}

static Status decode_csv(Format *f, Arena *a, Str bytes, Value *cells, int *gone UNUSED, Error *err)
{
    const char *p = bytes.p ? bytes.p : "";
    Record r = { p, p + bytes.n, ((const Csv *)f->state)->delimiter };
    size_t n = 0;
    Str s;

    for (bool more = true; more; n++) {
        TRY(field(&r, a, &s, err));
        if (n < f->columns.n)
            TRY(format_text_value(s, &f->columns.p[n].type, &cells[n], err));
        more = r.p < r.end && *r.p == r.delimiter;
        r.p += more;
    }
    if (!ended(&r))
        return FAIL(err, E_SYNTAX, "CSV: more than one record in a message");
    if (n != f->columns.n)
        return FAIL(err, E_INVALID, "CSV: expected %zu columns, got %zu", f->columns.n, n);
    return OK;
}

const FormatKind format_csv = { "csv", open_csv, decode_csv };
