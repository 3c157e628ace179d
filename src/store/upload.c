/* SPDX-License-Identifier: Apache-2.0 */
/* upload.c - multipart uploads: parts are blobs of their own, joined into one blob at completion.
 *
 * Invariants: (1) a part's row is published like an object's, the newest of a number wins; (2) completion drops the upload,
 * its parts and publishes the object in one transaction, so a second completion finds no upload. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_int.h"

typedef VEC(BlobId) BlobIds;
typedef struct StartJob { Arena *a; const UploadInfo *u; Str id; } StartJob;
typedef struct PartRow { PartInfo info; BlobId blob; } PartRow;
typedef struct PartJob { Arena *a; Str upload; const PartRow *row; BlobId old; } PartJob;
typedef struct FinishJob { Arena *a; Str upload; ObjectRow *row; const PutCondition *cond; BlobId old; BlobIds parts; } FinishJob;

static Status start_job(Db *db, void *arg, Error *err);
static Status part_job(Db *db, void *arg, Error *err);
static Status finish_job(Db *db, void *arg, Error *err);
static Status find_upload(Db *db, Arena *a, Str id, UploadInfo *ret, Error *err);
static Status find_part(Db *db, Arena *a, Str upload, int number, PartRow *ret, Error *err);
static void part_from_row(Q *q, Arena *a, PartRow *ret);
static void upload_from_row(Q *q, Arena *a, UploadInfo *ret);
static Status drop_upload(Db *db, Arena *a, Str id, BlobIds *ret, Error *err);
static Status join(Store *s, Str upload, const PartInfos *parts, Arena *a, ObjectRow *row, Error *err);
static Status check_order(const PartInfos *parts, Error *err);
static Status check_parts(Store *s, Str upload, const PartInfos *parts, Arena *a, UploadInfo *u, BlobIds *blobs, Error *err);
static Status add_part(Store *s, BlobId part, StoreWriter *to, Arena *a, ObjectInfo *o, Error *err);
static Status bad_part(Error *err, const char *kind, int number, const char *why);
static Str parts_etag(Arena *a, Str md5s, size_t n);

Status store_upload_start(Store *s, Arena *a, const UploadInfo *u, Str *id, Error *err)
{
    StartJob job = { a, u, str_dup(a, str_c(blob_new_id().z)) };
    TRY(store_gate(s, err));
    TRY(key_check(u->bucket, u->key, err));
    TRY(index_write(s->index, start_job, &job, err));
    *id = job.id;
    return OK;
}

Status store_upload_get(Store *s, Arena *a, Str bucket, Str key, Str id, UploadInfo *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    UploadInfo u = {0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    TRY(find_upload(r.db, a, id, &u, err));
    if (!str_eq(u.bucket, bucket) || !str_eq(u.key, key)) {
        (void)FAIL(err, E_NOT_FOUND, "upload '" STR_FMT "' is of another object", STR_ARG(id));
        strcpy(err->kind, "NoSuchUpload");
        return E_NOT_FOUND;
    }
    *ret = u;
    return OK;
}

Status store_upload_list(Store *s, Arena *a, Str bucket, Str prefix, UploadInfos *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    TRY(bucket_need(r.db, bucket, err));
    Q q = q_open(r.db, Q_UPLOAD_ALL);
    q_text(&q, bucket);
    q_blob(&q, prefix);
    while (q_row(&q)) {
        UploadInfo u = {0};
        upload_from_row(&q, a, &u);
        if (!str_starts(u.key, prefix))
            break;
        vec_push(a, ret, u);
    }
    return q_done(&q, err);
}

Status store_part_open(Store *s, Str upload_id, int number, StoreWriter **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(reader_give) Reader r = {0};
    UploadInfo u = {0};
    StoreWriter *w = NULL;
    TRY(store_gate(s, err));
    if (number < 1 || number > PARTS_MAX)
        return FAIL(err, E_INVALID, "part number %d is not in 1 to %d", number, PARTS_MAX);
    TRY(reader_take(s->index, &r, err));
    TRY(find_upload(r.db, a, upload_id, &u, err));
    TRY(writer_new(s, &w, err));
    w->upload = str_dup(w->a, upload_id);
    w->number = number;
    *ret = w;
    return OK;
}

Status store_part_commit(StoreWriter *w, const Props *checksums, Arena *a, PartInfo *ret, Error *err)
{
    PartRow row = { .blob = w->blob };
    Store *s = w->s;
    row.info = (PartInfo){ .number = w->number, .size = w->size, .modified_ms = clock_ms() };
    row.info.etag = hex_encode(a, hashes_get(&w->hashes, a, HASH_MD5));
    props_copy(a, checksums, &row.info.checksums);
    PartJob job = { .a = a, .upload = str_dup(a, w->upload), .row = &row };
    Status st = store_gate(s, err);
    if (st == OK)
        st = blob_seal(s, w->blob, w->fd, err);
    writer_free(w);
    if (st == OK)
        st = index_write(s->index, part_job, &job, err);
    blob_remove(s, st == OK ? job.old : row.blob);
    if (st == OK)
        *ret = row.info;
    return st;
}

Status store_part_list(Store *s, Arena *a, Str upload_id, PartInfos *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_PART_ALL);
    q_text(&q, upload_id);
    while (q_row(&q)) {
        PartRow row = {0};
        part_from_row(&q, a, &row);
        vec_push(a, ret, row.info);
    }
    return q_done(&q, err);
}

Status store_upload_complete(Store *s, Str upload_id, const PartInfos *parts, const PutCondition *cond, const Props *extra, Arena *a, ObjectInfo *ret, Error *err)
{
    ObjectRow row = {0};
    TRY(store_gate(s, err));
    TRY(join(s, upload_id, parts, a, &row, err));
    for (size_t i = 0; extra && i < extra->n; i++)
        props_set(a, &row.info.headers, extra->p[i].key, extra->p[i].value);
    FinishJob job = { .a = a, .upload = upload_id, .row = &row, .cond = cond };
    Status st = index_write(s->index, finish_job, &job, err);
    if (st != OK) {
        blob_remove(s, row.blob);
        return st;
    }
    blob_remove(s, job.old);
    for vec_each(BlobId, b, &job.parts)
        blob_remove(s, *b);
    *ret = row.info;
    return OK;
}

Status store_upload_abort(Store *s, Str upload_id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    FinishJob job = { .a = a, .upload = upload_id };
    TRY(store_gate(s, err));
    TRY(index_write(s->index, finish_job, &job, err));
    for vec_each(BlobId, b, &job.parts)
        blob_remove(s, *b);
    return OK;
}

/* ---- joining ---------------------------------------------------------------------------------------------------- */

static Status join(Store *s, Str upload, const PartInfos *parts, Arena *a, ObjectRow *row, Error *err)
{
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    UploadInfo u = {0};
    BlobIds blobs = {0};
    StrBuf md5s = sb_new(a);
    TRY(check_parts(s, upload, parts, a, &u, &blobs, err));
    TRY(writer_new(s, &w, err));
    row->info = (ObjectInfo){ .bucket = u.bucket, .key = u.key, .headers = u.headers, .tags = u.tags, .modified_ms = clock_ms() };
    for (size_t i = 0; i < parts->n; i++) {
        Str raw = {0};
        TRY(add_part(s, blobs.p[i], w, a, &row->info, err));
        if (hex_decode(a, parts->p[i].etag, &raw))
            sb_add(&md5s, raw);
    }
    TRY(blob_seal(s, w->blob, w->fd, err));
    row->info.etag = parts_etag(a, sb_str(&md5s), parts->n);
    row->blob = w->blob;
    writer_free(w);                                          /* the blob goes on in row */
    w = NULL;
    return OK;
}

static Status check_order(const PartInfos *parts, Error *err)
{
    if (!parts->n || parts->n > PARTS_MAX)
        return FAIL(err, E_INVALID, "%zu parts named, 1 to %d expected", parts->n, PARTS_MAX);
    for (size_t i = 1; i < parts->n; i++)
        if (parts->p[i].number <= parts->p[i - 1].number)
            return bad_part(err, "InvalidPartOrder", parts->p[i].number, "is out of order");
    return OK;
}

/* The index connection is given back before the copying begins. */
static Status check_parts(Store *s, Str upload, const PartInfos *parts, Arena *a, UploadInfo *u, BlobIds *blobs, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(reader_take(s->index, &r, err));
    TRY(find_upload(r.db, a, upload, u, err));
    TRY(check_order(parts, err));
    for (size_t i = 0; i < parts->n; i++) {
        const PartInfo *want = &parts->p[i];
        PartRow part = {0};
        TRY(find_part(r.db, a, upload, want->number, &part, err));
        if (!str_eq(part.info.etag, want->etag))
            return bad_part(err, "InvalidPart", want->number, "has another ETag");
        if (i + 1 < parts->n && part.info.size < PART_BYTES_MIN)
            return bad_part(err, "EntityTooSmall", want->number, "is under 5 MiB and not the last");
        vec_push(a, blobs, part.blob);
    }
    return OK;
}

static Status add_part(Store *s, BlobId part, StoreWriter *to, Arena *a, ObjectInfo *o, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    struct stat st;
    Status opened = blob_open(s, part, &fd, err);
    if (opened == E_NOT_FOUND)
        return bad_part(err, "InvalidPart", (int)o->part_sizes.n + 1, "was replaced meanwhile");
    TRY(opened);
    if (fstat(fd, &st) < 0)
        return FAIL_ERRNO(err, "looking at a part");
    TRY(fd_append(to->fd, fd, err));
    o->size += st.st_size;
    vec_push(a, &o->part_sizes, str_fmt(a, "%lld", (long long)st.st_size));
    return OK;
}

static Status bad_part(Error *err, const char *kind, int number, const char *why)
{
    (void)FAIL(err, E_INVALID, "part %d %s", number, why);
    snprintf(err->kind, sizeof err->kind, "%s", kind);
    return E_INVALID;
}

static Str parts_etag(Arena *a, Str md5s, size_t n)
{
    return str_fmt(a, STR_FMT "-%zu", STR_ARG(hash_hex(a, HASH_MD5, md5s)), n);
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static Status start_job(Db *db, void *arg, Error *err)
{
    StartJob *j = arg;
    TRY(bucket_need(db, j->u->bucket, err));
    Str headers = props_pack(j->a, &j->u->headers);
    if (headers.n > HEADERS_BYTES_MAX)
        return FAIL(err, E_LIMIT, "upload headers of %zu bytes, limit is %d", headers.n, HEADERS_BYTES_MAX);
    Q q = q_open(db, Q_UPLOAD_ADD);
    q_text(&q, j->id);
    q_text(&q, j->u->bucket);
    q_blob(&q, j->u->key);
    q_int(&q, clock_ms());
    q_blob(&q, headers);
    q_blob(&q, props_pack(j->a, &j->u->tags));
    q_text(&q, j->u->owner);
    return q_run(&q, err);
}

static Status part_job(Db *db, void *arg, Error *err)
{
    PartJob *j = arg;
    UploadInfo u = {0};
    PartRow old = {0};
    TRY(find_upload(db, j->a, j->upload, &u, err));
    Status st = find_part(db, j->a, j->upload, j->row->info.number, &old, err);
    if (st != OK && !str_eq(str_c(err->kind), S("InvalidPart")))
        return st;
    Q q = q_open(db, Q_PART_PUT);
    q_text(&q, j->upload);
    q_int(&q, j->row->info.number);
    q_int(&q, j->row->info.size);
    q_int(&q, j->row->info.modified_ms);
    q_text(&q, j->row->info.etag);
    q_blob(&q, props_pack(j->a, &j->row->info.checksums));
    q_text(&q, str_c(j->row->blob.z));
    j->old = old.blob;
    return q_run(&q, err);
}

/* Completes (row given) or aborts. */
static Status finish_job(Db *db, void *arg, Error *err)
{
    FinishJob *j = arg;
    UploadInfo u = {0};
    TRY(find_upload(db, j->a, j->upload, &u, err));
    if (j->row)
        TRY(object_put_row(db, j->a, j->row, j->cond, &j->old, err));
    return drop_upload(db, j->a, j->upload, &j->parts, err);
}

static Status drop_upload(Db *db, Arena *a, Str id, BlobIds *ret, Error *err)
{
    Q all = q_open(db, Q_PART_ALL);
    q_text(&all, id);
    while (q_row(&all))
        vec_push(a, ret, blob_from(q_str(&all, 5, a)));
    TRY(q_done(&all, err));
    Q parts = q_open(db, Q_PART_DEL);
    q_text(&parts, id);
    TRY(q_run(&parts, err));
    Q upload = q_open(db, Q_UPLOAD_DEL);
    q_text(&upload, id);
    return q_run(&upload, err);
}

static Status find_upload(Db *db, Arena *a, Str id, UploadInfo *ret, Error *err)
{
    Q q = q_open(db, Q_UPLOAD_GET);
    q_text(&q, id);
    bool found = q_row(&q);
    if (found)
        upload_from_row(&q, a, ret);
    TRY(q_done(&q, err));
    if (found)
        return OK;
    (void)FAIL(err, E_NOT_FOUND, "upload '" STR_FMT "' does not exist: it was completed, aborted or never started", STR_ARG(id));
    strcpy(err->kind, "NoSuchUpload");
    return E_NOT_FOUND;
}

static Status find_part(Db *db, Arena *a, Str upload, int number, PartRow *ret, Error *err)
{
    Q q = q_open(db, Q_PART_GET);
    q_text(&q, upload);
    q_int(&q, number);
    bool found = q_row(&q);
    if (found)
        part_from_row(&q, a, ret);
    TRY(q_done(&q, err));
    return found ? OK : bad_part(err, "InvalidPart", number, "was not uploaded");
}

static void part_from_row(Q *q, Arena *a, PartRow *ret)
{
    ret->info = (PartInfo){ .number = (int)q_i64(q, 0), .size = q_i64(q, 1), .modified_ms = q_i64(q, 2), .etag = q_str(q, 3, a) };
    props_unpack(a, q_str(q, 4, a), &ret->info.checksums);
    ret->blob = blob_from(q_str(q, 5, a));
}

static void upload_from_row(Q *q, Arena *a, UploadInfo *ret)
{
    *ret = (UploadInfo){ .id = q_str(q, 0, a), .bucket = q_str(q, 1, a), .key = q_str(q, 2, a), .started_ms = q_i64(q, 3),
                         .owner = q_str(q, 6, a) };
    props_unpack(a, q_str(q, 4, a), &ret->headers);
    props_unpack(a, q_str(q, 5, a), &ret->tags);
}
