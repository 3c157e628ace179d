/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - buckets: rows of the index with an owner, a region and a configuration that only the doors understand. */
#include "store/store_int.h"

typedef struct NameConfig { Str name, config; } NameConfig;
typedef struct NameState { Str name; Versioning state; } NameState;

static Status add_row(Db *db, void *arg, Error *err);
static Status config_row(Db *db, void *arg, Error *err);
static Status state_row(Db *db, void *arg, Error *err);
static Status delete_row(Db *db, void *arg, Error *err);
static Status missing(Str name, Error *err);
static void from_row(Q *q, Arena *a, BucketInfo *ret);

Status store_bucket_create(Store *s, const BucketInfo *b, Error *err)
{
    TRY(store_gate(s, err));
    TRY(key_check(b->name, S("-"), err));
    return index_write(s->index, add_row, (void *)b, err);
}

Status store_bucket_get(Store *s, Arena *a, Str name, BucketInfo *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_BUCKET_GET);
    q_text(&q, name);
    bool found = q_row(&q);
    if (found)
        from_row(&q, a, ret);
    TRY(q_done(&q, err));
    return found ? OK : missing(name, err);
}

Status store_bucket_config(Store *s, Str name, Str config, Error *err)
{
    NameConfig nc = { name, config };
    TRY(store_gate(s, err));
    return index_write(s->index, config_row, &nc, err);
}

Status store_bucket_versioning(Store *s, Str name, Versioning v, Error *err)
{
    NameState ns = { name, v };
    TRY(store_gate(s, err));
    return index_write(s->index, state_row, &ns, err);
}

Status store_bucket_delete(Store *s, Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    UploadInfos uploads = {0};
    TRY(store_gate(s, err));
    TRY(store_upload_list(s, a, name, (Str){0}, &uploads, err));
    TRY(index_write(s->index, delete_row, &name, err));
    for vec_each(UploadInfo, u, &uploads)
        TRY(store_upload_abort(s, u->id, err));
    return OK;
}

Status store_bucket_list(Store *s, Arena *a, BucketInfos *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_BUCKET_ALL);
    while (q_row(&q)) {
        BucketInfo b = {0};
        from_row(&q, a, &b);
        vec_push(a, ret, b);
    }
    return q_done(&q, err);
}

Status bucket_need(Db *db, Str bucket, Error *err)
{
    int unused;
    return bucket_state(db, bucket, &unused, err);
}

Status bucket_state(Db *db, Str bucket, int *ret, Error *err)
{
    Q q = q_open(db, Q_BUCKET_GET);
    q_text(&q, bucket);
    bool found = q_row(&q);
    if (found)
        *ret = (int)q_i64(&q, 5);
    TRY(q_done(&q, err));
    return found ? OK : missing(bucket, err);
}

static Status add_row(Db *db, void *arg, Error *err)
{
    const BucketInfo *b = arg;
    Q q = q_open(db, Q_BUCKET_ADD);
    q_text(&q, b->name);
    q_text(&q, b->owner);
    q_text(&q, b->region);
    q_int(&q, b->created_ms ? b->created_ms : clock_ms());
    q_blob(&q, b->config);
    Status st = q_run(&q, err);
    return st == E_EXISTS ? FAIL(err, E_EXISTS, "bucket '" STR_FMT "' exists", STR_ARG(b->name)) : st;
}

static Status config_row(Db *db, void *arg, Error *err)
{
    const NameConfig *nc = arg;
    Q q = q_open(db, Q_BUCKET_CONFIG);
    q_blob(&q, nc->config);
    q_text(&q, nc->name);
    TRY(q_run(&q, err));
    return sqlite3_changes(db->h) ? OK : missing(nc->name, err);
}

static Status state_row(Db *db, void *arg, Error *err)
{
    const NameState *ns = arg;
    Q q = q_open(db, Q_BUCKET_STATE);
    q_int(&q, ns->state);
    q_text(&q, ns->name);
    TRY(q_run(&q, err));
    return sqlite3_changes(db->h) ? OK : missing(ns->name, err);
}

/* Unfinished uploads do not keep a bucket; they are aborted with it. */
static Status delete_row(Db *db, void *arg, Error *err)
{
    const Str *name = arg;
    TRY(bucket_need(db, *name, err));
    Q used = q_open(db, Q_BUCKET_USED);
    q_text(&used, *name);
    bool full = q_row(&used) && q_i64(&used, 0);
    TRY(q_done(&used, err));
    if (full)
        return FAIL(err, E_NOT_EMPTY, "bucket '" STR_FMT "' is not empty", STR_ARG(*name));
    Q q = q_open(db, Q_BUCKET_DEL);
    q_text(&q, *name);
    return q_run(&q, err);
}

static Status missing(Str name, Error *err)
{
    (void)FAIL(err, E_NOT_FOUND, "bucket '" STR_FMT "' does not exist", STR_ARG(name));
    strcpy(err->kind, "NoSuchBucket");
    return E_NOT_FOUND;
}

static void from_row(Q *q, Arena *a, BucketInfo *ret)
{
    *ret = (BucketInfo){ .name = q_str(q, 0, a), .owner = q_str(q, 1, a), .region = q_str(q, 2, a),
                         .created_ms = q_i64(q, 3), .config = q_str(q, 4, a),
                         .versioning = (Versioning)q_i64(q, 5) };
}
