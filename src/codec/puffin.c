/* SPDX-License-Identifier: Apache-2.0 */
/* puffin.c - Puffin files: blobs, and a JSON footer that says where they are (Iceberg's Puffin spec).
 *
 * magic, blobs, magic, footer JSON, its size, flags, magic.  Footers and blobs may be compressed: zstd is read and
 * written; lz4 is refused with its name, since nothing here reads it. */
#include "codec/codec_int.h"

enum { TAIL = 12, HEAD = 4 };

#define PUFFIN_MAGIC S("PFA1")

static Status read_footer(Arena *a, Str file, Json **ret, size_t *blobs_end, Error *err);
static Status read_blob(Arena *a, Str blobs_part, const Json *j, size_t *budget, PuffinBlob *ret, Error *err);
static Status read_props(Arena *a, const Json *j, Props *ret, Error *err);

Status puffin_read(Arena *a, Str file, PuffinBlobs *blobs, Props *props, Error *err)
{
    size_t end, budget = LIMIT_MANIFEST_BYTES;
    Json *footer, *list;
    PuffinBlobs found = {0};

    if (file.n > LIMIT_MANIFEST_BYTES)
        return FAIL(err, E_LIMIT, "Puffin file of %zu bytes, limit is %d", file.n, LIMIT_MANIFEST_BYTES);
    TRY_CTX(read_footer(a, file, &footer, &end, err), err, "Puffin file");
    if (json_need(footer, "blobs", JSON_ARRAY, &list, err) != OK)
        return FAIL(err, E_CORRUPT, "Puffin footer has no list of blobs");
    for (size_t i = 0; i < json_len(list); i++) {
        PuffinBlob b = {0};
        TRY_CTX(read_blob(a, str_sub(file, 0, end), json_at(list, i), &budget, &b, err), err, "Puffin blob %zu", i);
        vec_push(a, &found, b);
    }
    TRY(read_props(a, json_get(footer, "properties"), props, err));
    *blobs = found;
    return OK;
}

static uint32_t little_endian32(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static Status read_footer(Arena *a, Str file, Json **ret, size_t *blobs_end, Error *err)
{
    Error why;

    if (file.n < HEAD + HEAD + TAIL || !str_starts(file, PUFFIN_MAGIC) || !str_ends(file, PUFFIN_MAGIC))
        return FAIL(err, E_CORRUPT, "no magic number at its start and end");
    size_t room = file.n - HEAD - HEAD - TAIL, size = little_endian32(file.p + file.n - TAIL);
    uint32_t flags = little_endian32(file.p + file.n - TAIL + 4);
    if (size > room)
        return FAIL(err, E_CORRUPT, "footer of %zu bytes does not fit", size);
    if (flags)
        return FAIL(err, E_UNSUPPORTED, "footer flags %#x (1 is an lz4 footer)", flags);
    size_t start = file.n - TAIL - size;
    if (!str_eq(str_sub(file, start - HEAD, start), PUFFIN_MAGIC))
        return FAIL(err, E_CORRUPT, "no magic number before its footer");
    if (json_parse(a, str_sub(file, start, start + size), ret, &why) != OK)
        return FAIL(err, E_CORRUPT, "footer: %s", why.message);
    *blobs_end = start - HEAD;
    return OK;
}

static Status read_props(Arena *a, const Json *j, Props *ret, Error *err)
{
    Props p = {0};

    for (size_t i = 0; i < json_len(j); i++) {
        if (!json_is(j, JSON_OBJECT) || !json_is(j->object.p[i].value, JSON_STRING))
            return FAIL(err, E_CORRUPT, "Puffin properties must be strings");
        vec_push(a, &p, ((KeyValue){ j->object.p[i].key, j->object.p[i].value->string }));
    }
    *ret = p;
    return OK;
}

static Status read_fields(Arena *a, const Json *j, PuffinBlob *b, Error *err)
{
    for (size_t i = 0; i < json_len(j); i++) {
        const Json *id = json_at(j, i);
        if (!json_is(id, JSON_INT) || id->integer < INT32_MIN || id->integer > INT32_MAX)
            return FAIL(err, E_CORRUPT, "field ids must be integers of 32 bits");
        vec_push(a, &b->fields, (int32_t)id->integer);
    }
    return OK;
}

static Status unpack_blob(Arena *a, Str packed, size_t limit, PuffinBlob *b, Error *err)
{
    if (!b->codec.n) {
        b->bytes = str_dup(a, packed);
        return OK;
    }
    if (!str_eq(b->codec, S("zstd")))
        return FAIL(err, E_UNSUPPORTED, "compression '" STR_FMT "'", STR_ARG(str_sub(b->codec, 0, 100)));
    return zstd_unpack(a, packed, limit, &b->bytes, err);
}

static Status read_blob(Arena *a, Str blobs_part, const Json *j, size_t *budget, PuffinBlob *b, Error *err)
{
    Json *fields;
    Error why;

    if (json_need_str(j, "type", &b->type, &why) != OK || json_need(j, "fields", JSON_ARRAY, &fields, &why) != OK
        || json_need_int(j, "snapshot-id", &b->snapshot_id, &why) != OK
        || json_need_int(j, "sequence-number", &b->sequence_number, &why) != OK
        || json_need_int(j, "offset", &b->offset, &why) != OK || json_need_int(j, "length", &b->length, &why) != OK)
        return FAIL(err, E_CORRUPT, "footer: %s", why.message);
    int64_t end = (int64_t)blobs_part.n;
    if (b->offset < HEAD || b->length < 0 || b->offset > end || b->length > end - b->offset)
        return FAIL(err, E_CORRUPT, "%lld bytes at %lld lie outside of the file's blobs", (long long)b->length, (long long)b->offset);
    TRY(read_fields(a, fields, b, err));
    TRY(read_props(a, json_get(j, "properties"), &b->props, err));
    b->codec = json_get_str(j, "compression-codec", S(""));
    Str packed = str_sub(blobs_part, (size_t)b->offset, (size_t)(b->offset + b->length));
    if (packed.n > *budget)                                                     /* blobs may overlap */
        return FAIL(err, E_LIMIT, "blobs of more than %d bytes together", LIMIT_MANIFEST_BYTES);
    TRY(unpack_blob(a, packed, *budget, b, err));
    *budget -= b->bytes.n;
    return OK;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static Json *props_json(Arena *a, const Props *p)
{
    Json *j = json_object(a);
    for vec_each(KeyValue, kv, p)
        json_set_s(a, j, kv->key, json_str(a, kv->value));
    return j;
}

static Json *blob_json(Arena *a, const PuffinBlob *b)
{
    Json *j = json_object(a), *fields = json_array(a);

    for (size_t i = 0; i < b->fields.n; i++)
        json_push(a, fields, json_int(a, b->fields.p[i]));
    json_set(a, j, "type", json_str(a, b->type));
    json_set(a, j, "fields", fields);
    json_set(a, j, "snapshot-id", json_int(a, b->snapshot_id));
    json_set(a, j, "sequence-number", json_int(a, b->sequence_number));
    json_set(a, j, "offset", json_int(a, b->offset));
    json_set(a, j, "length", json_int(a, b->length));
    if (b->codec.n)
        json_set(a, j, "compression-codec", json_str(a, b->codec));
    if (b->props.n)
        json_set(a, j, "properties", props_json(a, &b->props));
    return j;
}

static Status put_blob(Arena *a, StrBuf *out, PuffinBlob *b, Error *err)
{
    Str packed = b->bytes;

    if (b->codec.n && str_eq(b->type, S("deletion-vector-v1")))
        return FAIL(err, E_INVALID, "a deletion vector must not be compressed");
    if (b->codec.n && !str_eq(b->codec, S("zstd")))
        return FAIL(err, E_UNSUPPORTED, "Puffin compression '" STR_FMT "'", STR_ARG(str_sub(b->codec, 0, 100)));
    if (b->codec.n)
        TRY(zstd_pack(a, b->bytes, &packed, err));
    b->offset = (int64_t)out->n;
    b->length = (int64_t)packed.n;
    sb_add(out, packed);
    return OK;
}

Status puffin_write(Arena *a, PuffinBlobs *blobs, const Props *props, Str *ret, Error *err)
{
    StrBuf out = sb_new(a);
    Json *footer = json_object(a), *list = json_array(a);

    sb_add(&out, PUFFIN_MAGIC);
    for vec_each(PuffinBlob, b, blobs) {
        TRY(put_blob(a, &out, b, err));
        json_push(a, list, blob_json(a, b));
    }
    json_set(a, footer, "blobs", list);
    if (props && props->n)
        json_set(a, footer, "properties", props_json(a, props));
    Str payload = json_text(a, footer);
    uint32_t tail[2] = { (uint32_t)payload.n, 0 };
    sb_add(&out, PUFFIN_MAGIC);
    sb_add(&out, payload);
    sb_add(&out, str_n((const char *)tail, sizeof tail));
    sb_add(&out, PUFFIN_MAGIC);
    if (out.n > LIMIT_MANIFEST_BYTES)
        return FAIL(err, E_LIMIT, "Puffin file of %zu bytes, limit is %d", out.n, LIMIT_MANIFEST_BYTES);
    *ret = sb_str(&out);
    return OK;
}
