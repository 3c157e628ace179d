/* SPDX-License-Identifier: Apache-2.0 */
/* versions.c - older versions and delete markers of buckets where versioning is or was on.
 *
 * `objects` holds what a plain read sees and nothing else, so reads and listings cost the same with and without versions.
 * What is replaced moves to `older`; a delete leaves a marker there.
 * Invariants:
 * 1. Of one key, every row of `older` was made before the row in `objects`, and seq orders them by age.
 * 2. There is at most one null version ("") of a key, in one of both tables.
 * 3. When `objects` has no row of a key, the newest row in `older`, if any, is a delete marker. */
#include <unistd.h>

#include "store/store_s3_int.h"

typedef struct RemoveJob {
    Arena *a;
    Str bucket, key, version;      /* version: as given, "" or "null" or an id */
    const PutCondition *cond;
    BlobId old;
    Removed ret;
} RemoveJob;
typedef struct OlderRow { ObjectRow row; int64_t seq; int found; } OlderRow;
typedef struct VersionLister { Arena *a; const ListQuery *q; Str after_version; VersionResult *ret; Str last_key; int count, passed, done; } VersionLister;

static Status remove_job(Db *db, void *arg, Error *err);
static Status remove_current(Db *db, RemoveJob *j, int state, Error *err);
static Status remove_version(Db *db, RemoveJob *j, Error *err);
static Status check_remove(Db *db, RemoveJob *j, const ObjectRow *current, Error *err);
static Status mark(Db *db, RemoveJob *j, int state, Error *err);
static Status raise_newest(Db *db, Arena *a, Str bucket, Str key, Error *err);
static Status older_row(Db *db, Arena *a, QueryId id, Str bucket, Str key, const Str *version, OlderRow *ret, Error *err);
static Status on_key(Db *db, QueryId id, Str bucket, Str key, const int64_t *seq, Error *err);
static void take(VersionLister *l, Q *q);
static bool before_start(VersionLister *l, Str key, Str version);

Status store_open_version(Store *s, Arena *a, Str uri, Str version, int *fd, ObjectInfo *ret, Error *err)
{
    CLEANUP(file_closep) int own = -1;
    Location loc;
    ObjectRow row = {0};
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return FAIL(err, E_UNSUPPORTED, "files have no versions: '" STR_FMT "'", STR_ARG(uri));
    TRY(object_open(s, a, loc.bucket, loc.key, version, fd ? fd : &own, &row, err));
    *ret = row.info;
    return OK;
}

Status store_remove(Store *s, Arena *a, Str uri, Str version, const PutCondition *cond, Removed *ret, Error *err)
{
    Location loc;
    if (s->s3)
        return s3s_remove(s, a, uri, version, cond, ret, err);
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, uri, &loc, err));
    if (loc.file)
        return file_delete(s, loc.path, err);
    RemoveJob job = { .a = a, .bucket = loc.bucket, .key = loc.key, .version = version, .cond = cond };
    TRY(index_write(s->index, remove_job, &job, err));
    blob_remove(s, job.old);
    *ret = job.ret;
    return OK;
}

Status store_list_versions(Store *s, Arena *a, const ListQuery *q, Str after_version, VersionResult *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    VersionLister l = { .a = a, .q = q, .after_version = after_version, .ret = ret };
    *ret = (VersionResult){0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    TRY(bucket_need(r.db, q->bucket, err));
    Q rows = q_open(r.db, Q_VERSIONS);
    q_text(&rows, q->bucket);
    q_blob(&rows, q->after.n && str_cmp(q->after, q->prefix) > 0 ? q->after : q->prefix);
    while (!l.done && q->max > 0 && q_row(&rows))
        take(&l, &rows);
    return q_done(&rows, err);
}

Status version_find(Db *db, Arena *a, Str bucket, Str key, Str version, ObjectRow *ret, Error *err)
{
    OlderRow older = {0};
    Str want = str_eq(version, S("null")) ? (Str){0} : version;
    Status st = object_find(db, a, bucket, key, ret, err);
    if (!version.n || (st != OK && st != E_NOT_FOUND) || (st == OK && str_eq(ret->info.version, want)))
        return st;
    TRY(bucket_need(db, bucket, err));
    TRY(older_row(db, a, Q_OLDER_GET, bucket, key, &want, &older, err));
    if (!older.found) {
        (void)FAIL(err, E_NOT_FOUND, "version '" STR_FMT "' of object 's3://" STR_FMT "/" STR_FMT "' does not exist", STR_ARG(version),
                   STR_ARG(bucket), STR_ARG(key));
        strcpy(err->kind, "NoSuchVersion");
        return E_NOT_FOUND;
    }
    *ret = older.row;
    return OK;
}

Status version_keep(Db *db, Str bucket, Str key, Error *err)
{
    TRY(on_key(db, Q_OLDER_PUSH, bucket, key, NULL, err));
    return on_key(db, Q_OBJECT_DEL, bucket, key, NULL, err);
}

Status version_drop_null(Db *db, Arena *a, Str bucket, Str key, BlobId *old, Error *err)
{
    OlderRow older = {0};
    Str null = {0};
    TRY(older_row(db, a, Q_OLDER_GET, bucket, key, &null, &older, err));
    if (!older.found)
        return OK;
    *old = older.row.blob;
    return on_key(db, Q_OLDER_DEL, bucket, key, &older.seq, err);
}

/* ---- removing --------------------------------------------------------------------------------------------------- */

static Status remove_job(Db *db, void *arg, Error *err)
{
    RemoveJob *j = arg;
    int state = VERSIONING_OFF;
    TRY(bucket_state(db, j->bucket, &state, err));
    return j->version.n ? remove_version(db, j, err) : remove_current(db, j, state, err);
}

static Status remove_current(Db *db, RemoveJob *j, int state, Error *err)
{
    ObjectRow row = {0};
    Status st = object_find(db, j->a, j->bucket, j->key, &row, err);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    if (j->cond)
        TRY(check_remove(db, j, st == OK ? &row : NULL, err));
    if (st == OK && (state == VERSIONING_ON || row.info.version.n)) {
        TRY(version_keep(db, j->bucket, j->key, err));
    } else if (st == OK) {
        j->old = row.blob;
        TRY(on_key(db, Q_OBJECT_DEL, j->bucket, j->key, NULL, err));
    }
    return state == VERSIONING_OFF ? OK : mark(db, j, state, err);
}

/* A delete marker counts as an object without ETag: "*" holds, an ETag does not. */
static Status check_remove(Db *db, RemoveJob *j, const ObjectRow *current, Error *err)
{
    OlderRow newest = {0};
    if (current)
        return put_condition_check(j->cond, current, err);
    TRY(older_row(db, j->a, Q_OLDER_NEWEST, j->bucket, j->key, NULL, &newest, err));
    if (!newest.found)
        return no_such_key(j->bucket, j->key, err);
    return put_condition_check(j->cond, &newest.row, err);
}

static Status mark(Db *db, RemoveJob *j, int state, Error *err)
{
    if (state == VERSIONING_SUSPENDED)
        TRY(version_drop_null(db, j->a, j->bucket, j->key, &j->old, err));
    j->ret.marker = 1;
    j->ret.version = state == VERSIONING_ON ? str_dup(j->a, str_c(blob_new_id().z)) : (Str){0};
    Q q = q_open(db, Q_OLDER_MARK);
    q_text(&q, j->bucket);
    q_blob(&q, j->key);
    q_text(&q, j->ret.version);
    q_int(&q, clock_ms());
    TRY(q_run(&q, err));
    if (!j->ret.version.n)
        j->ret.version = S("null");
    return OK;
}

/* A version that is not there is gone already. */
static Status remove_version(Db *db, RemoveJob *j, Error *err)
{
    ObjectRow row = {0};
    OlderRow older = {0};
    Str want = str_eq(j->version, S("null")) ? (Str){0} : j->version;
    Status st = object_find(db, j->a, j->bucket, j->key, &row, err);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    j->ret.version = j->version;
    if (st == OK && str_eq(row.info.version, want)) {
        if (j->cond)
            TRY(put_condition_check(j->cond, &row, err));
        j->old = row.blob;
        TRY(on_key(db, Q_OBJECT_DEL, j->bucket, j->key, NULL, err));
        return raise_newest(db, j->a, j->bucket, j->key, err);
    }
    TRY(older_row(db, j->a, Q_OLDER_GET, j->bucket, j->key, &want, &older, err));
    if (!older.found)
        return OK;
    if (j->cond)
        TRY(put_condition_check(j->cond, &older.row, err));
    j->old = older.row.blob;
    j->ret.marker = older.row.info.marker;
    TRY(on_key(db, Q_OLDER_DEL, j->bucket, j->key, &older.seq, err));
    return st == OK ? OK : raise_newest(db, j->a, j->bucket, j->key, err);
}

/* The newest older version becomes the current one, unless it is a marker (invariant 3). */
static Status raise_newest(Db *db, Arena *a, Str bucket, Str key, Error *err)
{
    OlderRow newest = {0};
    TRY(older_row(db, a, Q_OLDER_NEWEST, bucket, key, NULL, &newest, err));
    if (!newest.found || newest.row.info.marker)
        return OK;
    TRY(on_key(db, Q_OLDER_RAISE, bucket, key, &newest.seq, err));
    return on_key(db, Q_OLDER_DEL, bucket, key, &newest.seq, err);
}

static Status older_row(Db *db, Arena *a, QueryId id, Str bucket, Str key, const Str *version, OlderRow *ret, Error *err)
{
    Q q = q_open(db, id);
    q_text(&q, bucket);
    q_blob(&q, key);
    if (version)
        q_text(&q, *version);
    ret->found = q_row(&q);
    if (ret->found) {
        object_from_row(&q, a, &ret->row);
        ret->row.info.marker = (int)q_i64(&q, 11);
        ret->seq = q_i64(&q, 12);
    }
    return q_done(&q, err);
}

static Status on_key(Db *db, QueryId id, Str bucket, Str key, const int64_t *seq, Error *err)
{
    Q q = q_open(db, id);
    q_text(&q, bucket);
    q_blob(&q, key);
    if (seq)
        q_int(&q, *seq);
    return q_run(&q, err);
}

/* ---- listing ----------------------------------------------------------------------------------------------------- */

static void take(VersionLister *l, Q *q)
{
    ObjectRow row = {0};
    VersionInfo v = {0};
    object_from_row(q, l->a, &row);
    row.info.marker = (int)q_i64(q, 11);
    v.o = row.info;
    v.latest = !str_eq(l->last_key, v.o.key) || !l->last_key.p;
    l->last_key = v.o.key;
    if (!str_starts(v.o.key, l->q->prefix)) {
        l->done = 1;
        return;
    }
    Str cp = list_common_prefix(l->q, v.o.key);
    bool repeated = cp.n && l->ret->prefixes.n && str_eq(vec_last(&l->ret->prefixes), cp);
    if (repeated || before_start(l, cp.n ? cp : v.o.key, v.o.version))
        return;
    if (l->count == l->q->max) {
        l->ret->truncated = l->done = 1;
        return;
    }
    l->count++;
    l->ret->next_after = cp.n ? cp : v.o.key;
    l->ret->next_version = cp.n ? (Str){0} : v.o.version.n ? v.o.version : S("null");
    if (cp.n)
        vec_push(l->a, &l->ret->prefixes, cp);
    else
        vec_push(l->a, &l->ret->versions, v);
}

/* Not yet past the place where the page begins. */
static bool before_start(VersionLister *l, Str key, Str version)
{
    int c = l->q->after.n ? str_cmp(key, l->q->after) : 1;
    if (c != 0)
        return c < 0;
    if (!l->after_version.n || l->passed == 1)
        return !l->after_version.n;
    l->passed = str_eq(l->after_version, version.n ? version : S("null"));
    return true;
}
