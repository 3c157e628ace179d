/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - the formats by name, and those that need no schema: text, bytes, JSON. */
#include "source/format_int.h"
#include "sql/sql.h"

static const FormatKind format_text, format_bytes, format_json;
static const FormatKind *const kinds[] = { &format_text, &format_bytes, &format_json, &format_csv, &format_avro, &format_protobuf };

Status format_open(Arena *a, const FormatOptions *o, Format **ret, Error *err)
{
    Format *f = arena_new(a, Format);
    Str name = json_get_str(o->options, "format", S(""));

    f->a = a;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_eq(name, str_c(kinds[i]->name)))
            f->kind = kinds[i];
    if (!f->kind)
        return FAIL(err, E_UNSUPPORTED, "FORMAT '" STR_FMT "' is not supported", STR_ARG(str_sub(name, 0, 100)));
    if (o->part == FORMAT_AFTER && f->kind != &format_avro)
        return FAIL(err, E_UNSUPPORTED, "ENVELOPE DEBEZIUM requires FORMAT AVRO");
    TRY(f->kind->open(f, o, err));
    *ret = f;
    return OK;
}

const FormatColumns *format_columns(const Format *f) { return &f->columns; }
Str format_pinned(const Format *f) { return f->pinned; }
bool format_is_composite(const Format *f) { return f->composite; }

bool format_is_poison(Status s)
{
    return s == E_CORRUPT || s == E_SYNTAX || s == E_INVALID || s == E_LIMIT || s == E_OVERFLOW || s == E_UNSUPPORTED;
}

Status format_decode(Format *f, Arena *a, Str bytes, Value *cells, int *gone, Error *err)
{
    *gone = 0;
    if (bytes.n > FORMAT_MESSAGE_MAX)
        return FAIL(err, E_LIMIT, "a message of %zu bytes, the limit is %d", bytes.n, FORMAT_MESSAGE_MAX);
    return f->kind->decode(f, a, bytes, cells, gone, err);
}

bool format_option_int(const Json *options, const char *key, int64_t fallback, int64_t *ret)
{
    const Json *v = json_get(options, key);

    *ret = v && v->kind == JSON_INT ? v->integer : fallback;
    return !v || (v->kind == JSON_INT && !v->above_i64) || (v->kind == JSON_STRING && str_to_i64(str_trim(v->string), ret));
}

bool format_option_bool(const Json *options, const char *key, bool fallback, bool *ret)
{
    const Json *v = json_get(options, key);
    bool yes = json_is(v, JSON_STRING) && str_ieq(v->string, S("true")), no = json_is(v, JSON_STRING) && str_ieq(v->string, S("false"));

    *ret = json_is(v, JSON_BOOL) ? v->boolean : yes || (fallback && !no);
    return !v || v->kind == JSON_BOOL || yes || no;
}

/* ---- columns and their types ------------------------------------------------------------------------------------------------------ */

static void type_name(StrBuf *b, const DataType *t)
{
    switch (t->kind) {
    case DT_LIST:
        type_name(b, &t->children[0]);
        sb_addc(b, " list");
        break;
    case DT_MAP:
        sb_addc(b, "map[text=>");
        type_name(b, &t->children[1]);
        sb_byte(b, ']');
        break;
    case DT_STRUCT:
        sb_addc(b, "record(");
        for (size_t i = 0; i < t->nchildren; i++) {
            sb_addc(b, i ? ", " : "");
            sb_add(b, t->names[i]);
            sb_addc(b, ": ");
            type_name(b, &t->children[i]);
        }
        sb_byte(b, ')');
        break;
    case DT_UINT16: sb_addc(b, "uint2"); break;
    case DT_UINT32: sb_addc(b, "uint4"); break;
    case DT_UINT64: sb_addc(b, "uint8"); break;
    default: sb_add(b, sql_type_name(b->a, DIALECT_POSTGRES, t)); break;
    }
}

Str format_type_name(Arena *a, const DataType *t)
{
    StrBuf b = sb_new(a);
    type_name(&b, t);
    return sb_str(&b);
}

Status format_column(Format *f, Str name, DataType type, int not_null, Error *err)
{
    SourceColumn c = { .name = str_dup(f->a, name), .type = data_type_copy(f->a, &type), .not_null = not_null };

    if (f->columns.n >= FORMAT_MAX_COLUMNS)
        return FAIL(err, E_LIMIT, "more than %d columns", FORMAT_MAX_COLUMNS);
    c.sql_type = format_type_name(f->a, &c.type);
    vec_push(f->a, &f->columns, c);
    return OK;
}

Status format_text_value(Str s, const DataType *t, Value *ret, Error *err)
{
    if (!str_is_utf8(s))
        return FAIL(err, E_CORRUPT, "a text that is not UTF-8");
    if (s.n && memchr(s.p, 0, s.n))
        return FAIL(err, E_CORRUPT, "a text with a NUL byte in it");
    *ret = (Value){ .kind = DT_STRING, .type = t, .string = s };
    return OK;
}

/* ---- text, bytes, JSON ------------------------------------------------------------------------------------------------------------ */

static Status open_text(Format *f, const FormatOptions *o UNUSED, Error *err) { return format_column(f, S("text"), type_of(DT_STRING), 1, err); }
static Status open_bytes(Format *f, const FormatOptions *o UNUSED, Error *err) { return format_column(f, S("data"), type_of(DT_BINARY), 1, err); }
static Status open_json(Format *f, const FormatOptions *o UNUSED, Error *err) { return format_column(f, S("data"), type_of(DT_JSON), 1, err); }

static Status decode_text(Format *f, Arena *a UNUSED, Str bytes, Value *cells, int *gone UNUSED, Error *err)
{
    return format_text_value(bytes, &f->columns.p[0].type, &cells[0], err);
}

static Status decode_bytes(Format *f, Arena *a UNUSED, Str bytes, Value *cells, int *gone UNUSED, Error *err UNUSED)
{
    cells[0] = (Value){ .kind = DT_BINARY, .type = &f->columns.p[0].type, .string = bytes };
    return OK;
}

static Status decode_json(Format *f, Arena *a, Str bytes, Value *cells, int *gone UNUSED, Error *err)
{
    cells[0] = (Value){ .kind = DT_JSON, .type = &f->columns.p[0].type };
    return format_json_text(a, bytes, &cells[0].string, err);
}

static const FormatKind format_text = { "text", open_text, decode_text };
static const FormatKind format_bytes = { "bytes", open_bytes, decode_bytes };
static const FormatKind format_json = { "json", open_json, decode_json };
