/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - whole objects: find, read, delete, tag, copy, and the row that publishes one.
 *
 * Between finding a row and opening its blob the object may be replaced and the blob removed: then the row is read again.
 * A copy is a second name of the same immutable bytes (a hard link), so it costs no data. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_s3_int.h"

enum { REOPEN_TRIES = 16 };

typedef struct PutJob { Arena *a; ObjectRow *row; const PutCondition *cond; BlobId old; } PutJob;
typedef struct TagsJob { Str bucket, key, tags; } TagsJob;

static Status put_job(Db *db, void *arg, Error *err);
static Status tags_job(Db *db, void *arg, Error *err);
static Status open_any(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err);

Status store_stat(Store *s, Arena *a, Str uri, ObjectInfo *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    Location loc;
    ObjectRow row = {0};
    if (s->s3)
        return s3s_stat(s, a, uri, ret, err);
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return file_stat(s, a, loc.path, ret, err);
    TRY(reader_take(s->index, &r, err));
    TRY(object_find(r.db, a, loc.bucket, loc.key, &row, err));
    *ret = row.info;
    return OK;
}

Status store_read(Store *s, Arena *a, Str uri, size_t limit, Str *ret, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    ObjectInfo info = {0};
    if (s->s3)
        return s3s_read(s, a, uri, limit, ret, err);
    TRY(open_any(s, a, uri, &fd, &info, err));
    if ((uint64_t)info.size > limit)
        return FAIL(err, E_LIMIT, "'" STR_FMT "' has %lld bytes, limit is %zu", STR_ARG(uri), (long long)info.size, limit);
    TRY_CTX(fd_read_at(a, fd, 0, info.size, ret, err), err, "reading '" STR_FMT "'", STR_ARG(uri));
    return OK;
}

Status store_read_range(Store *s, Arena *a, Str uri, int64_t offset, int64_t length, Str *ret, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    ObjectInfo info = {0};
    if (s->s3)
        return s3s_read_range(s, a, uri, offset, length, ret, err);
    TRY(open_any(s, a, uri, &fd, &info, err));
    if (offset < 0 || length < 0 || offset > info.size || length > info.size - offset)
        return FAIL(err, E_INVALID, "'" STR_FMT "' has %lld bytes, asked for %lld at %lld", STR_ARG(uri), (long long)info.size,
                    (long long)length, (long long)offset);
    TRY_CTX(fd_read_at(a, fd, offset, length, ret, err), err, "reading '" STR_FMT "'", STR_ARG(uri));
    return OK;
}

Status store_open_fd(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err)
{
    return s->s3 ? s3s_open_fd(s, a, uri, fd, info, err) : open_any(s, a, uri, fd, info, err);
}

Status store_local_path(Store *s, Arena *a, Str uri, Str *ret, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    ObjectRow row = {0};
    Location loc;
    if (s->s3)
        return s3s_local_path(s, a, uri, ret, err);
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file) {
        TRY(file_open(s, a, loc.path, &fd, &row.info, err));
        *ret = loc.path;
        return OK;
    }
    TRY(object_open(s, a, loc.bucket, loc.key, (Str){0}, &fd, &row, err));
    *ret = blob_path(s, a, row.blob);
    return OK;
}

Status store_delete(Store *s, Str uri, Error *err)
{
    return store_delete_if(s, uri, NULL, err);
}

Status store_delete_if(Store *s, Str uri, const PutCondition *cond, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Removed gone = {0};
    return store_remove(s, a, uri, (Str){0}, cond, &gone, err);
}

Status store_set_tags(Store *s, Str uri, const Props *tags, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Location loc;
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return FAIL(err, E_UNSUPPORTED, "files have no tags: '" STR_FMT "'", STR_ARG(uri));
    TagsJob job = { loc.bucket, loc.key, props_pack(a, tags) };
    return index_write(s->index, tags_job, &job, err);
}

Status store_copy(Store *s, const CopyRequest *c, Arena *a, ObjectInfo *ret, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    Location src, dst;
    ObjectRow row = {0};
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, c->from, &src, err));
    TRY(store_parse_location(a, c->to, &dst, err));
    if (src.file || dst.file)
        return FAIL(err, E_UNSUPPORTED, "copying between file: locations");
    TRY(key_check(dst.bucket, dst.key, err));
    TRY(object_open(s, a, src.bucket, src.key, c->from_version, &fd, &row, err));
    BlobId id = blob_new_id();
    if (s->sync && fsync(fd) < 0)                            /* the source may still be covered by the journal alone */
        return FAIL_ERRNO(err, "syncing the source of a copy");
    TRY(blob_link(s, row.blob, id, err));
    row.blob = id;
    row.info.bucket = dst.bucket;
    row.info.key = dst.key;
    row.info.modified_ms = clock_ms();
    if (c->headers)
        props_copy(a, c->headers, &row.info.headers);
    if (c->tags)
        props_copy(a, c->tags, &row.info.tags);
    TRY(object_publish(s, a, &row, c->cond, err));
    *ret = row.info;
    return OK;
}

/* ---- shared with the other files of the room ----------------------------------------------------------------- */

void object_from_row(Q *q, Arena *a, ObjectRow *ret)
{
    ObjectInfo *o = &ret->info;
    *o = (ObjectInfo){ .bucket = q_str(q, 0, a), .key = q_str(q, 1, a), .size = q_i64(q, 2), .modified_ms = q_i64(q, 3),
                       .etag = q_str(q, 4, a), .sha256 = q_str(q, 5, a) };
    props_unpack(a, q_str(q, 6, a), &o->headers);
    props_unpack(a, q_str(q, 7, a), &o->tags);
    Str parts = q_str(q, 8, a);
    if (parts.n)
        str_split(a, parts, ',', &o->part_sizes);
    ret->blob = blob_from(q_str(q, 9, a));
    o->version = q_str(q, 10, a);
}

Status object_find(Db *db, Arena *a, Str bucket, Str key, ObjectRow *ret, Error *err)
{
    Q q = q_open(db, Q_OBJECT_GET);
    q_text(&q, bucket);
    q_blob(&q, key);
    bool found = q_row(&q);
    if (found)
        object_from_row(&q, a, ret);
    TRY(q_done(&q, err));
    if (found)
        return OK;
    TRY(bucket_need(db, bucket, err));
    return no_such_key(bucket, key, err);
}

Status object_open(Store *s, Arena *a, Str bucket, Str key, Str version, int *fd, ObjectRow *ret, Error *err)
{
    Status st = OK;
    for (int i = 0; i < REOPEN_TRIES; i++) {
        CLEANUP(reader_give) Reader r = {0};
        TRY(reader_take(s->index, &r, err));
        TRY(version_find(r.db, a, bucket, key, version, ret, err));
        if (ret->info.marker)
            return OK;
        st = blob_open(s, ret->blob, fd, err);
        if (st != E_NOT_FOUND)
            return st;
    }
    return FAIL(err, E_CORRUPT, "the file of object 's3://" STR_FMT "/" STR_FMT "' is missing (%s)", STR_ARG(bucket), STR_ARG(key), ret->blob.z);
}

Status object_publish(Store *s, Arena *a, ObjectRow *row, const PutCondition *cond, Error *err)
{
    PutJob job = { .a = a, .row = row, .cond = cond };
    Status st = index_write(s->index, put_job, &job, err);
    blob_remove(s, st == OK ? job.old : row->blob);
    if (st == OK && row->journal.n)
        journal_added(s, row->journal.n);
    return st;
}

Status object_put_row(Db *db, Arena *a, ObjectRow *row, const PutCondition *cond, BlobId *old, Error *err)
{
    ObjectInfo *o = &row->info;
    ObjectRow before = {0};
    int state = VERSIONING_OFF;
    TRY(bucket_state(db, o->bucket, &state, err));
    Status st = object_find(db, a, o->bucket, o->key, &before, err);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    TRY(put_condition_check(cond, st == OK ? &before : NULL, err));
    o->version = state == VERSIONING_ON ? str_dup(a, str_c(blob_new_id().z)) : (Str){0};
    bool keep = st == OK && (state == VERSIONING_ON || before.info.version.n);
    *old = before.blob;
    if (keep) {
        *old = (BlobId){{0}};
        TRY(version_keep(db, o->bucket, o->key, err));
    }
    if (state == VERSIONING_SUSPENDED)
        TRY(version_drop_null(db, a, o->bucket, o->key, old, err));
    Str headers = props_pack(a, &o->headers);
    if (headers.n > HEADERS_BYTES_MAX)
        return FAIL(err, E_LIMIT, "object headers of %zu bytes, limit is %d", headers.n, HEADERS_BYTES_MAX);
    Q q = q_open(db, Q_OBJECT_PUT);
    q_text(&q, o->bucket);
    q_blob(&q, o->key);
    q_int(&q, o->size);
    q_int(&q, o->modified_ms);
    q_text(&q, o->etag);
    q_text(&q, o->sha256);
    q_blob(&q, headers);
    q_blob(&q, props_pack(a, &o->tags));
    q_text(&q, str_join(a, &o->part_sizes, S(",")));
    q_text(&q, str_c(row->blob.z));
    q_text(&q, o->version);
    TRY(q_run(&q, err));
    if (!row->journal.n)
        return OK;
    Q j = q_open(db, Q_JOURNAL_ADD);
    q_text(&j, str_c(row->blob.z));
    q_blob(&j, row->journal);
    return q_run(&j, err);
}

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static Status open_any(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err)
{
    Location loc;
    ObjectRow row = {0};
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return file_open(s, a, loc.path, fd, info, err);
    TRY(object_open(s, a, loc.bucket, loc.key, (Str){0}, fd, &row, err));
    *info = row.info;
    return OK;
}

static Status put_job(Db *db, void *arg, Error *err)
{
    PutJob *j = arg;
    return object_put_row(db, j->a, j->row, j->cond, &j->old, err);
}

static Status tags_job(Db *db, void *arg, Error *err)
{
    TagsJob *j = arg;
    Q q = q_open(db, Q_OBJECT_TAGS);
    q_blob(&q, j->tags);
    q_text(&q, j->bucket);
    q_blob(&q, j->key);
    TRY(q_run(&q, err));
    return sqlite3_changes(db->h) ? OK : no_such_key(j->bucket, j->key, err);
}

Status put_condition_check(const PutCondition *cond, const ObjectRow *old, Error *err)
{
    if (!cond)
        return OK;
    if (cond->if_none_match && old)
        return FAIL(err, E_CONFLICT, "object '" STR_FMT "' exists", STR_ARG(old->info.key));
    if (cond->unless_etag.n && old && str_eq(cond->unless_etag, old->info.etag))
        return FAIL(err, E_CONFLICT, "object '" STR_FMT "' has this ETag", STR_ARG(old->info.key));
    if (!cond->if_match.n)
        return OK;
    if (!old) {
        (void)FAIL(err, E_CONFLICT, "the object to replace does not exist");
        strcpy(err->kind, "NoSuchKey");
        return E_CONFLICT;
    }
    if (str_eq(cond->if_match, S("*")) || str_eq(cond->if_match, old->info.etag))
        return OK;
    return FAIL(err, E_CONFLICT, "object '" STR_FMT "' has ETag " STR_FMT ", not " STR_FMT, STR_ARG(old->info.key),
                STR_ARG(old->info.etag), STR_ARG(cond->if_match));
}

Status no_such_key(Str bucket, Str key, Error *err)
{
    (void)FAIL(err, E_NOT_FOUND, "object 's3://" STR_FMT "/" STR_FMT "' does not exist", STR_ARG(bucket), STR_ARG(key));
    strcpy(err->kind, "NoSuchKey");
    return E_NOT_FOUND;
}
