/* SPDX-License-Identifier: Apache-2.0 */
/* dv.c - deletion vectors in Puffin files (Iceberg spec "Deletion Vectors", Puffin spec "deletion-vector-v1").
 *
 * A vector is read by the offset and length that its manifest entry gives, never by the Puffin footer: that is one
 * small read, and old writers left bare blobs without any footer. */
#include "iceberg/iceberg_int.h"

enum { LIMIT_DV_BYTES = 256 * 1024 * 1024 };

static void name_blob(Arena *a, const IceDv *dv, PuffinBlob *b)
{
    b->type = S("deletion-vector-v1");
    vec_push(a, &b->fields, ROW_POSITION_ID);
    b->snapshot_id = b->sequence_number = -1;
    b->codec = S("");
    b->bytes = dv_blob_write(a, &dv->positions);
    props_set(a, &b->props, S("referenced-data-file"), dv->data_file);
    props_set(a, &b->props, S("cardinality"), str_fmt(a, "%zu", dv->positions.n));
}

Status ice_dv_write(Arena *a, Store *st, Str location, IceDv *dvs, size_t n, int64_t *file_size, Error *err)
{
    PuffinBlobs blobs = { 0 };
    Props props = { 0 };
    Str bytes;

    props_set(a, &props, S("created-by"), S("firn"));
    for (size_t i = 0; i < n; i++) {
        PuffinBlob b = { 0 };
        name_blob(a, &dvs[i], &b);
        vec_push(a, &blobs, b);
    }
    TRY_CTX(puffin_write(a, &blobs, &props, &bytes, err), err, "deletion vectors");
    TRY_CTX(store_put_new(st, location, bytes, err), err, "writing deletion vectors '" STR_FMT "'", STR_ARG(location));
    for (size_t i = 0; i < n; i++) {
        dvs[i].offset = blobs.p[i].offset;
        dvs[i].size = blobs.p[i].length;
    }
    *file_size = (int64_t)bytes.n;
    return OK;
}

Status ice_dv_read(Arena *a, Store *st, const IceFile *f, Positions *ret, Error *err)
{
    Str blob;

    if (!f->content_offset.has || !f->content_size.has)
        return FAIL(err, E_CORRUPT, "deletion vector in '" STR_FMT "' has no offset or size", STR_ARG(f->path));
    if (f->content_offset.v < 0 || f->content_size.v < 0 || f->content_size.v > LIMIT_DV_BYTES)
        return FAIL(err, E_LIMIT, "deletion vector in '" STR_FMT "' is %lld bytes, limit is %d", STR_ARG(f->path),
                    (long long)f->content_size.v, LIMIT_DV_BYTES);
    TRY_CTX(store_read_range(st, a, f->path, f->content_offset.v, f->content_size.v, &blob, err), err,
            "reading deletion vector '" STR_FMT "'", STR_ARG(f->path));
    TRY_CTX(dv_blob_read(a, blob, ret, err), err, "deletion vector '" STR_FMT "' at %lld", STR_ARG(f->path),
            (long long)f->content_offset.v);
    return OK;
}
