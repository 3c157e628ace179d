/* SPDX-License-Identifier: Apache-2.0 */
/* avro_write.c - rows to an Avro object container (Avro 1.11).
 *
 * Rows are encoded by the schema; a value that does not fit it is the caller's mistake and is told with the path
 * to it.  A block is closed as soon as it holds AVRO_BLOCK_BYTES, so that readers hold little at a time.
 * The Encoder is sticky: after the first failure it adds nothing. */
#include "codec/codec_int.h"

typedef struct { StrBuf b; Status status; Error *err; } Encoder;

static void encode(Encoder *e, const AvroSchema *s, const AvroValue *v);

static void put_long(StrBuf *b, int64_t v)
{
    uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
    for (; z >= 0x80; z >>= 7)
        sb_byte(b, (char)(z | 0x80));
    sb_byte(b, (char)z);
}

static void put_bytes(StrBuf *b, Str s)
{
    put_long(b, (int64_t)s.n);
    sb_add(b, s);
}

static void misfit(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    if (e->status == OK)
        e->status = FAIL(e->err, E_INVALID, "a value of kind %s does not fit Avro type %s", avro_kind_name(v->kind),
                         avro_kind_name(s->kind));
}

/* ---- does a value fit a type? -------------------------------------------------------------------------- */

static bool is_integer(const AvroValue *v) { return v->kind == AVRO_INT || v->kind == AVRO_LONG; }
static bool is_real(const AvroValue *v) { return v->kind == AVRO_FLOAT || v->kind == AVRO_DOUBLE; }
static bool fits_i32(int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; }

/* One level deep: what is inside is checked when it is encoded. */
static bool fits(const AvroSchema *s, const AvroValue *v)
{
    switch (s->kind) {
    case AVRO_INT: return is_integer(v) && fits_i32(v->integer);
    case AVRO_LONG: return is_integer(v);
    case AVRO_FLOAT:
    case AVRO_DOUBLE: return is_real(v);
    case AVRO_FIXED: return v->kind == AVRO_FIXED && v->bytes.n == (size_t)s->size;
    case AVRO_ENUM: return v->kind == AVRO_ENUM && v->integer >= 0 && (uint64_t)v->integer < s->symbols.n;
    case AVRO_RECORD: return v->kind == AVRO_RECORD && v->items.n == s->fields.n;
    case AVRO_UNION: return false;
    default: return v->kind == s->kind;
    }
}

/* The branch of just the value's kind, or else one that can take it (an int in a long). */
static size_t branch_of(const AvroSchema *s, const AvroValue *v)
{
    size_t able = s->branches.n;
    for (size_t i = s->branches.n; i-- > 0; ) {
        const AvroSchema *branch = s->branches.p[i];
        if (!fits(branch, v))
            continue;
        bool exact = branch->kind == v->kind, better = able < s->branches.n && s->branches.p[able]->kind == v->kind;
        bool named = v->schema && v->schema->name.n && str_eq(v->schema->name, branch->name);
        if (named)
            return i;
        if (exact || !better)
            able = i;
    }
    return able;
}

/* ---- encoding ------------------------------------------------------------------------------------------ */

static void encode_real(Encoder *e, const AvroSchema *s, double v)
{
    float f = (float)v;
    if (s->kind == AVRO_FLOAT)
        sb_add(&e->b, str_n((const char *)&f, sizeof f));
    else
        sb_add(&e->b, str_n((const char *)&v, sizeof v));
}

static void encode_string(Encoder *e, Str s)
{
    if (str_is_utf8(s))
        put_bytes(&e->b, s);
    else
        e->status = FAIL(e->err, E_INVALID, "a string is not UTF-8");
}

static void encode_array(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    if (v->items.n)
        put_long(&e->b, (int64_t)v->items.n);
    for (size_t i = 0; i < v->items.n; i++)
        encode(e, s->element, &v->items.p[i]);
    put_long(&e->b, 0);
}

static void encode_map(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    if (v->map.n)
        put_long(&e->b, (int64_t)v->map.n);
    for (size_t i = 0; i < v->map.n; i++) {
        put_bytes(&e->b, v->map.keys[i]);
        encode(e, s->element, &v->map.p[i]);
    }
    put_long(&e->b, 0);
}

static void encode_record(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    for (size_t i = 0; i < s->fields.n && e->status == OK; i++) {
        encode(e, s->fields.p[i].type, &v->items.p[i]);
        if (e->status != OK)
            error_context(e->err, "field '" STR_FMT "'", STR_ARG(s->fields.p[i].name));
    }
}

static void encode_union(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    size_t i = branch_of(s, v);
    if (i == s->branches.n) {
        misfit(e, s, v);
        return;
    }
    put_long(&e->b, (int64_t)i);
    encode(e, s->branches.p[i], v);
}

static void encode(Encoder *e, const AvroSchema *s, const AvroValue *v)
{
    if (e->status != OK)
        return;
    if (s->kind == AVRO_UNION) {
        encode_union(e, s, v);
        return;
    }
    if (!fits(s, v)) {
        misfit(e, s, v);
        return;
    }
    switch (s->kind) {
    case AVRO_NULL:
    case AVRO_UNION: break;
    case AVRO_BOOL: sb_byte(&e->b, v->boolean ? 1 : 0); break;
    case AVRO_INT:
    case AVRO_LONG:
    case AVRO_ENUM: put_long(&e->b, v->integer); break;
    case AVRO_FLOAT:
    case AVRO_DOUBLE: encode_real(e, s, v->real); break;
    case AVRO_BYTES: put_bytes(&e->b, v->bytes); break;
    case AVRO_STRING: encode_string(e, v->bytes); break;
    case AVRO_FIXED: sb_add(&e->b, v->bytes); break;
    case AVRO_ARRAY: encode_array(e, s, v); break;
    case AVRO_MAP: encode_map(e, s, v); break;
    case AVRO_RECORD: encode_record(e, s, v); break;
    }
}

/* ---- the container ------------------------------------------------------------------------------------- */

static void put_header(StrBuf *b, Str schema_json, const Props *meta, const char *codec, Str sync)
{
    size_t own = 0;
    for (size_t i = 0; meta && i < meta->n; i++)
        own += !str_starts(meta->p[i].key, S("avro."));

    sb_add(b, AVRO_MAGIC);
    put_long(b, (int64_t)own + 2);
    put_bytes(b, S("avro.schema"));
    put_bytes(b, schema_json);
    put_bytes(b, S("avro.codec"));
    put_bytes(b, str_c(codec));
    for (size_t i = 0; meta && i < meta->n; i++)
        if (!str_starts(meta->p[i].key, S("avro."))) {
            put_bytes(b, meta->p[i].key);
            put_bytes(b, meta->p[i].value);
        }
    put_long(b, 0);
    sb_add(b, sync);
}

static Status put_block(Arena *scratch, StrBuf *out, const char *codec, Str plain, size_t count, Str sync, Error *err)
{
    Str packed = plain;

    if (strcmp(codec, "deflate") == 0)
        TRY(deflate_pack(scratch, plain, &packed, err));
    else if (strcmp(codec, "zstandard") == 0)
        TRY(zstd_pack(scratch, plain, &packed, err));
    put_long(out, (int64_t)count);
    put_bytes(out, packed);
    sb_add(out, sync);
    return OK;
}

static Status put_rows(StrBuf *out, const AvroSchema *schema, const char *codec, const AvroValue *rows, size_t nrows,
                       Str sync, Error *err)
{
    for (size_t at = 0; at < nrows; ) {
        CLEANUP(arena_destroyp) Arena *scratch = arena_create();
        Encoder e = { .b = sb_new(scratch), .err = err };
        size_t from = at;
        while (at < nrows && e.b.n < AVRO_BLOCK_BYTES && at - from < AVRO_MAX_EMPTY) {
            encode(&e, schema, &rows[at]);
            TRY_CTX(e.status, err, "Avro row %zu", at);
            at++;
        }
        TRY(put_block(scratch, out, codec, sb_str(&e.b), at - from, sync, err));
    }
    return OK;
}

Status avro_write(Arena *a, Str schema_json, const Props *meta, const char *codec, const AvroValue *rows, size_t nrows,
                  Str *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *scratch = arena_create();
    StrBuf out = sb_new(scratch);
    AvroSchema *schema;
    char sync[AVRO_SYNC];

    if (strcmp(codec, "null") != 0 && strcmp(codec, "deflate") != 0 && strcmp(codec, "zstandard") != 0)
        return FAIL(err, E_UNSUPPORTED, "Avro codec '%s'", codec);
    TRY(avro_schema_parse(scratch, schema_json, &schema, err));
    rand_bytes(sync, sizeof sync);
    put_header(&out, schema_json, meta, codec, str_n(sync, sizeof sync));
    TRY(put_rows(&out, schema, codec, rows, nrows, str_n(sync, sizeof sync), err));
    if (out.n > LIMIT_MANIFEST_BYTES)
        return FAIL(err, E_LIMIT, "Avro file of %zu bytes, limit is %d", out.n, LIMIT_MANIFEST_BYTES);
    *ret = str_dup(a, sb_str(&out));
    return OK;
}
