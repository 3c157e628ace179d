/* SPDX-License-Identifier: Apache-2.0 */
/* store_int.h - what the files of the store room share: the store itself, its index (SQLite) and its blobs (files). */
#ifndef FIRN_STORE_INT_H
#define FIRN_STORE_INT_H

#include <sqlite3.h>

#include "store/store.h"

enum {
    READERS_MAX       = 8,                 /* index connections that read at the same time */
    BATCH_MAX         = 256,               /* writes that share one index commit */
    BLOB_ID_LEN       = 32,
    KEY_BYTES_MAX     = 1024,              /* S3's own limit */
    BUCKET_BYTES_MAX  = 255,
    HEADERS_BYTES_MAX = 64 * 1024,         /* headers of one object, encoded */
    PARTS_MAX         = 10000,
    PART_BYTES_MIN    = 5 * 1024 * 1024,   /* every part but the last */
    COPY_CHUNK        = 1024 * 1024,
    JOURNAL_BYTES_MAX = 64 * 1024,         /* objects up to this size are made durable by the index's commit alone */
};

/* ---- index.c: connections, statements, group commit ------------------------------------------------------- */

/* Each statement of the room; texts in index_sql.c. */
typedef enum {
    Q_BUCKET_ADD, Q_BUCKET_GET, Q_BUCKET_CONFIG, Q_BUCKET_STATE, Q_BUCKET_DEL, Q_BUCKET_ALL, Q_BUCKET_USED,
    Q_OBJECT_GET, Q_OBJECT_PUT, Q_OBJECT_DEL, Q_OBJECT_TAGS, Q_OBJECT_FROM, Q_OBJECT_AFTER,
    Q_OLDER_PUSH, Q_OLDER_MARK, Q_OLDER_GET, Q_OLDER_NEWEST, Q_OLDER_DEL, Q_OLDER_RAISE, Q_VERSIONS,
    Q_UPLOAD_ADD, Q_UPLOAD_GET, Q_UPLOAD_DEL, Q_UPLOAD_ALL,
    Q_PART_PUT, Q_PART_GET, Q_PART_ALL, Q_PART_DEL,
    Q_JOURNAL_ADD, Q_JOURNAL_ALL, Q_JOURNAL_LAST, Q_JOURNAL_DEL,
    Q_BLOBS, Q_META_GET, Q_META_PUT,
    Q_COUNT
} QueryId;
extern const char *const QUERY_TEXT[Q_COUNT];
extern const char *const SCHEMA_TEXT;

typedef struct Db { sqlite3 *h; sqlite3_stmt *st[Q_COUNT]; } Db;

/* One run of a statement. Sticky: after the first error it does nothing; q_done says what happened. */
typedef struct Q { Db *db; sqlite3_stmt *st; int at, rc; } Q;
Q q_open(Db *db, QueryId id);
void q_text(Q *q, Str s);
void q_blob(Q *q, Str s);
void q_int(Q *q, int64_t v);
bool q_row(Q *q);                                    /* true: a row is there */
Str q_str(Q *q, int col, Arena *a);                  /* copied */
int64_t q_i64(Q *q, int col);
NODISCARD Status q_done(Q *q, Error *err);           /* resets the statement */
NODISCARD Status q_run(Q *q, Error *err);            /* steps to the end */

typedef struct Index Index;
NODISCARD Status index_open(const char *path, int sync, Index **ret, Error *err);
void index_close(Index *x);
/* Borrow a reading connection; blocks while all are in use. */
NODISCARD Status index_reader(Index *x, Db **ret, Error *err);
void index_give(Index *x, Db *db);

/* Run fn inside a transaction; returns after that transaction is durable. Writes of several threads share a commit,
 * each in a savepoint of its own.  fn may run on another thread while the caller waits. */
typedef Status (*WriteFn)(Db *db, void *arg, Error *err);
NODISCARD Status index_write(Index *x, WriteFn fn, void *arg, Error *err);

/* A borrowed reader that returns by itself. */
typedef struct Reader { Index *x; Db *db; } Reader;
NODISCARD Status reader_take(Index *x, Reader *ret, Error *err);
void reader_give(Reader *r);

/* ---- blob.c: immutable files of opaque names ---------------------------------------------------------------- */

typedef struct BlobId { char z[BLOB_ID_LEN + 1]; } BlobId;        /* empty: none */
BlobId blob_new_id(void);
BlobId blob_from(Str s);
NODISCARD Status blob_create(Store *s, BlobId id, int *fd, Error *err);
NODISCARD Status blob_open(Store *s, BlobId id, int *fd, Error *err);       /* E_NOT_FOUND */
NODISCARD Status blob_seal(Store *s, BlobId id, int fd, Error *err);        /* file and folder synced */
NODISCARD Status blob_link(Store *s, BlobId from, BlobId to, Error *err);   /* the same bytes under a second name, synced */
NODISCARD Status blob_take(Store *s, const char *path, BlobId id, Error *err);   /* renamed here, not synced yet */
void blob_remove(Store *s, BlobId id);
Str blob_path(Store *s, Arena *a, BlobId id);
NODISCARD Status blob_dirs(Store *s, Error *err);
/* Remove each file that no index row names, and everything in the scratch folder. */
NODISCARD Status blob_sweep(Store *s, Error *err);
void blob_empty(const char *dir);                                /* removes what is in a folder, not the folder */
NODISCARD Status fd_write_all(int fd, Str bytes, Error *err);
NODISCARD Status fd_read_at(Arena *a, int fd, int64_t offset, int64_t length, Str *ret, Error *err);
NODISCARD Status fd_append(int to, int from, Error *err);        /* the whole of `from` */
NODISCARD Status dir_sync(const char *dir, Error *err);

/* ---- journal.c: small objects ride in the index's commit ------------------------------------------------------ */

typedef struct Journal Journal;
/* Writes again what a crash may have lost, then starts the thread that syncs files behind the puts. */
NODISCARD Status journal_start(Store *s, Error *err);
void journal_stop(Store *s);                                     /* all files synced, unless the disk refuses */
void journal_added(Store *s, size_t bytes);                      /* a row was committed */
NODISCARD Status journal_status(Store *s, Error *err);           /* E_IO, E_FULL: files cannot be synced; the journal keeps them */

/* ---- the store ------------------------------------------------------------------------------------------------ */

struct Store {
    Arena *a;                       /* the strings below */
    Str dir, objects, scratch, file_root;
    int sync;
    int memory;                     /* the folder is private and goes away at close */
    Index *index;
    Journal *journal;
    struct S3Side *s3;              /* an object store elsewhere (store_s3.c): no index, no journal; NULL: the local backend */
    pthread_mutex_t mu;             /* the four below */
    int64_t calls, fail_at;
    Status fail_with;
};
/* Each public call passes here once: the memory backend counts, and fails when told. */
NODISCARD Status store_gate(Store *s, Error *err);

/* A row of objects. */
typedef struct ObjectRow { ObjectInfo info; BlobId blob; Str journal; } ObjectRow;    /* journal: the bytes, when the blob is not synced */
NODISCARD Status object_find(Db *db, Arena *a, Str bucket, Str key, ObjectRow *ret, Error *err);   /* E_NOT_FOUND, kind NoSuchKey or NoSuchBucket */
NODISCARD Status bucket_need(Db *db, Str bucket, Error *err);                                      /* E_NOT_FOUND, kind NoSuchBucket */
NODISCARD Status bucket_state(Db *db, Str bucket, int *ret, Error *err);                           /* the same; a VERSIONING_… */
void object_from_row(Q *q, Arena *a, ObjectRow *ret);                                              /* columns of Q_OBJECT_GET */
NODISCARD Status object_open(Store *s, Arena *a, Str bucket, Str key, Str version, int *fd, ObjectRow *ret, Error *err);

/* Publish a row whose blob is sealed; removes the blob that it replaces, or its own on failure. */
NODISCARD Status object_publish(Store *s, Arena *a, ObjectRow *row, const PutCondition *cond, Error *err);
NODISCARD Status object_put_row(Db *db, Arena *a, ObjectRow *row, const PutCondition *cond, BlobId *old, Error *err);
NODISCARD Status put_condition_check(const PutCondition *cond, const ObjectRow *old, Error *err);   /* old NULL: no object */
NODISCARD Status no_such_key(Str bucket, Str key, Error *err);

/* versions.c: what was replaced or deleted in a versioned bucket */
NODISCARD Status version_find(Db *db, Arena *a, Str bucket, Str key, Str version, ObjectRow *ret, Error *err);   /* "" the current one; E_NOT_FOUND NoSuchVersion */
NODISCARD Status version_keep(Db *db, Str bucket, Str key, Error *err);                             /* the current row becomes an older one */
NODISCARD Status version_drop_null(Db *db, Arena *a, Str bucket, Str key, BlobId *old, Error *err);
Str list_common_prefix(const ListQuery *q, Str key);                  /* "": none */
NODISCARD Status key_check(Str bucket, Str key, Error *err);

Str props_pack(Arena *a, const Props *p);           /* length-prefixed pairs; any bytes */
void props_unpack(Arena *a, Str packed, Props *ret);
void props_copy(Arena *a, const Props *from, Props *ret);

/* ---- put.c: writers, used by objects, parts and file: locations ------------------------------------------------- */

typedef struct Digest { char p[32]; size_t n; } Digest;
typedef struct Hashes { Hasher *h[HASH_CRC64NVME + 1]; Digest done[HASH_CRC64NVME + 1]; } Hashes;
void hashes_start(Hashes *h);                       /* MD5 and SHA-256 */
void hashes_add(Hashes *h, Str bytes);
Str hashes_get(Hashes *h, Arena *a, HashKind kind); /* raw; "" when not asked for */
void hashes_end(Hashes *h);

struct StoreWriter {
    Store *s;
    Arena *a;
    Str bucket, key, upload, path;                  /* upload: a part; path: a file: location */
    Str temp;                                       /* file: location: the unfinished file */
    int number;
    BlobId blob;
    int fd;
    int64_t size;
    Hashes hashes;
    StrBuf small;                                   /* the bytes while they fit the journal */
    int large;
    Props headers, tags;
    struct S3Put *s3;                               /* towards an object store elsewhere */
};
NODISCARD Status writer_new(Store *s, StoreWriter **ret, Error *err);
void writer_free(StoreWriter *w);                   /* keeps the blob */

/* ---- file_location.c: file: URIs under file_root ------------------------------------------------------------------ */

NODISCARD Status file_check(const Store *s, Str path, Error *err);
NODISCARD Status file_put_open(Store *s, Str path, StoreWriter **ret, Error *err);
NODISCARD Status file_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err);
NODISCARD Status file_stat(Store *s, Arena *a, Str path, ObjectInfo *ret, Error *err);
NODISCARD Status file_open(Store *s, Arena *a, Str path, int *fd, ObjectInfo *ret, Error *err);
NODISCARD Status file_adopt(Store *s, Str path, Str local, Arena *a, ObjectInfo *ret, Error *err);
NODISCARD Status file_delete(Store *s, Str path, Error *err);
NODISCARD Status file_list(Store *s, Arena *a, Str prefix, ObjectInfos *ret, Error *err);

#endif
