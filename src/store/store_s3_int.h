/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_int.h - the S3 backend: what its files share. */
#ifndef FIRN_STORE_S3_INT_H
#define FIRN_STORE_S3_INT_H

#include "store/store_int.h"

enum {
    S3_PART_BYTES    = 16 * 1024 * 1024,             /* larger objects go in parts of this size, doubled each 1,000 parts */
    S3_LIST_MAX      = 5 * 1000 * 1000,              /* objects of one listing */
    S3_PAGE_KEYS     = 1000,
    S3_PAGES_MAX     = 10 * 1000,
    S3_ANSWER_MAX    = LIMIT_XML_BYTES,
    S3_FAULT_MAX     = 64 * 1024,                    /* an error beside a small answer */
    S3_TRIES         = 6,
    S3_PAUSE_MS      = 100,
    S3_PAUSE_MAX_MS  = 5000,
    S3_TIMEOUT_MS    = 30000,
    S3_BODY_TIMEOUT_MS = 60 * 60 * 1000,             /* a body that moves */
    S3_STALL_S       = 30,
    S3_FETCHERS      = 8,
    S3_REGION_MAX    = 32,                           /* bytes of a name */
    S3_MOVES_MAX     = 16,                           /* regions that one store follows a server to */
    S3_SKEW_MS       = 4 * 60 * 1000,                /* servers refuse at 15 minutes; less than this is no reason */
    S3_REFETCH_TRIES = 4,                            /* an object that is replaced while it is fetched */
};

typedef struct CacheEntry CacheEntry;
typedef struct S3Pin { CacheEntry *entry; } S3Pin;

typedef struct S3Side {
    Arena *a;                                        /* of the options' copies */
    StoreS3Options o;
    StrVec within;
    HttpPool *pool;
    StoreCache *own_cache;                           /* when the options name none */
    pthread_mutex_t mu;                              /* what comes next */
    Str region, endpoint;                            /* the options', until a server tells of the bucket's own */
    int moves, own_endpoint;                         /* AWS's, by the region */
    int64_t skew_ms;                                 /* of the server's clock, when it has refused ours */
    VEC(S3Pin) pins;                                 /* heap: entries of the cache whose paths were given out */
} S3Side;

/* ---- store_s3_call.c: one request, signed, repeated where that is right --------------------------------------- */

typedef struct S3Call {
    const char *method;
    Str bucket, key;
    Str below;                                       /* of a listing: its prefix, for whose keys it is */
    Str query;                                       /* encoded, without '?' */
    Props headers;
    Str body;
    size_t max_bytes;                                /* of the answer; 0: S3_ANSWER_MAX */
    int once;                                        /* not repeated when it may have been done */
    int moves_much;                                  /* a large body goes one way or the other */
    Status (*sink)(void *ctx, Str bytes, Error *err);
    void (*again)(void *ctx);                        /* the sink's bytes so far are void: they come anew */
    void *sink_ctx;
} S3Call;
/* OK: a 2xx answer. Others by S3's code, which is err->kind. */
NODISCARD Status s3s_call(Store *s, Arena *a, const S3Call *q, HttpReply *ret, Error *err);
Str s3s_header(const HttpReply *r, const char *name);
void s3s_object_info(Arena *a, Str bucket, Str key, const HttpReply *r, ObjectInfo *ret);
/* The Location, if it may be touched. */
NODISCARD Status s3s_place(Store *s, Arena *a, Str uri, Location *ret, Error *err);
/* Bytes against the checksum that the answer names; an answer without one proves nothing. */
typedef struct S3Check { Hasher *h; Str want; } S3Check;
void s3s_check_start(S3Check *c, Arena *a, const HttpReply *r);
NODISCARD Status s3s_check_end(S3Check *c, Arena *a, Str what, Error *err);
void s3s_check_done(S3Check *c);
/* An answer that brought as many bytes as it announced. */
NODISCARD Status s3s_whole(const HttpReply *r, int64_t got, Str what, Error *err);
/* Pieces of S3's error: "" when the body is none. Also a 200 may carry one. */
typedef struct S3Fault { Str code, message, region; } S3Fault;
S3Fault s3s_fault(Arena *a, Str body);

Str s3s_aws_endpoint(Arena *a, Str region);

/* ---- store_s3_object.c, store_s3_put.c, store_s3_cache.c ---------------------------------------------------------- */

void s3s_close(S3Side *t);
NODISCARD Status s3s_stat(Store *s, Arena *a, Str uri, ObjectInfo *ret, Error *err);
NODISCARD Status s3s_read(Store *s, Arena *a, Str uri, size_t limit, Str *ret, Error *err);
NODISCARD Status s3s_read_range(Store *s, Arena *a, Str uri, int64_t offset, int64_t length, Str *ret, Error *err);
NODISCARD Status s3s_remove(Store *s, Arena *a, Str uri, Str version, const PutCondition *cond, Removed *ret, Error *err);
NODISCARD Status s3s_list_all(Store *s, Arena *a, Str prefix_uri, ObjectInfos *ret, Error *err);
/* One page of ListObjectsV2; next "": the last. E_INVALID: no such answer. */
NODISCARD Status s3s_list_parse(Arena *a, Str bucket, Str body, ObjectInfos *ret, Str *next, Error *err);

NODISCARD Status s3s_put_open(Store *s, Str bucket, Str key, StoreWriter **ret, Error *err);
NODISCARD Status s3s_put_add(StoreWriter *w, Str bytes, Error *err);
NODISCARD Status s3s_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err);
void s3s_put_abandon(StoreWriter *w);
NODISCARD Status s3s_adopt(Store *s, Str uri, Str local_path, Arena *a, ObjectInfo *ret, Error *err);

NODISCARD Status s3s_local_path(Store *s, Arena *a, Str uri, Str *ret, Error *err);
NODISCARD Status s3s_open_fd(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err);
void s3s_prefetch(Store *s, const StrVec *uris);
void s3s_unpin(S3Side *t);
/* store_s3_folder.c */
typedef struct CacheFolder CacheFolder;
#define CACHE_SCRATCH "/scratch"                     /* in it: files on their way out */
NODISCARD Status cache_folder_make(Str dir, CacheFolder **ret, Error *err);      /* *ret is set also on an error */
const char *cache_folder_dir(const CacheFolder *f);
void cache_folder_remove(CacheFolder *f);

Str store_cache_dir(const StoreCache *c);
Str store_cache_scratch(const StoreCache *c);

#endif
