/* SPDX-License-Identifier: Apache-2.0 */
/* store.h - objects by location.
 *
 * A location is a URI: s3://bucket/key (s3a and s3n are read as s3), or file:/path where a folder is allowed.  The local
 * backend keeps buckets and keys in an index (SQLite, store.db) and bytes in immutable files of opaque names under objects/:
 * an object is replaced by writing a new file and swapping the index row, so readers of the old bytes never see a mixture.
 * A put is durable when it returns: file synced, folder synced, index committed with synchronous=FULL.
 * Any thread may call.  Nothing here knows who asks: rights are checked above (access/).
 * What is not found says which by err->kind: NoSuchBucket, NoSuchKey, NoSuchUpload.
 * The memory backend is the same interface for tests and can fail on its n-th call.
 * The S3 backend speaks to an object store elsewhere; buckets, versions, tags, copies and uploads of others are E_UNSUPPORTED there. */
#ifndef FIRN_STORE_H
#define FIRN_STORE_H

#include "base/base.h"
#include "codec/codec.h"
#include "net/net.h"

typedef struct Store Store;

typedef struct StoreOptions {
    Str dir;                      /* local backend's folder */
    Str file_root;                /* folder under which file: locations are allowed; empty: none */
    int sync;                     /* 0 only in tests */
} StoreOptions;
/* Opens and cleans: files that no index row names and unfinished temporary files are removed. */
NODISCARD Status store_open_local(const StoreOptions *o, Store **ret, Error *err);
NODISCARD Status store_open_memory(Store **ret, Error *err);
void store_memory_fail_at(Store *s, int64_t nth_call, Status with);       /* memory backend: 1-based; 0 never */
int64_t store_memory_calls(const Store *s);
void store_close(Store *s);

/* Copies of remote objects as files, and a folder for files on their way out: in a folder of its own below `dir` ("": the system's for temporary files),
 * which goes at the end; what owners that crashed left there is removed. Holds at most max_bytes (0: 8 GiB); what no open store has asked for goes first. */
typedef struct StoreCache StoreCache;
NODISCARD Status store_cache_open(Str dir, int64_t max_bytes, StoreCache **ret, Error *err);
void store_cache_free(StoreCache *c);            /* after the stores that use it; NULL is fine */

typedef struct StoreS3Request { const char *method; Str region, url; Props headers; } StoreS3Request;
typedef struct StoreS3Options {
    Str endpoint;                 /* "http://host:port"; empty: AWS's of the region */
    Str region;                   /* empty: us-east-1 */
    int path_style;               /* bucket in the path; else in the host's name */
    void *ctx;                    /* of the four below */
    Status (*keys)(void *ctx, Arena *a, Str bucket, Str key, AwsKeys *ret, Error *err);      /* asked for each request; NULL: requests are not signed */
    Status (*sign)(void *ctx, Arena *a, StoreS3Request *r, Error *err); /* takes the place of keys: somebody else signs, into url and headers. NULL: nobody */
    void (*refused)(void *ctx);   /* the keys have expired: the next ones should be new. NULL: they stay as they are */
    void (*closed)(void *ctx);    /* at store_close, or when opening fails */
    const StrVec *within;         /* locations outside of these are refused: E_DENIED. NULL: none are */
    StoreCache *cache;            /* outlives the store */
    int tries;                    /* of a request that may be done twice; 0: 6 */
    int timeout_ms, pause_ms;     /* of a request (0: 30,000; large bodies may take longer while they move); before the second try (0: 100), doubled each time */
} StoreS3Options;
/* Copies the options; asks nothing yet.  Whatever a server says besides: E_AUTH (keys), E_DENIED, E_UNAVAILABLE, E_TIMEOUT, E_UNKNOWN (a write that may have been done). */
NODISCARD Status store_open_s3(const StoreS3Options *o, Store **ret, Error *err);
/* The paths that store_local_path gave out may go now. For the other backends nothing happens. */
void store_paths_done(Store *s);

/* ---- locations ---------------------------------------------------------------------------------------------- */

typedef struct Location { int file; Str bucket, key, path; } Location;     /* file: path; else bucket and key (verbatim, undecoded) */
NODISCARD Status store_parse_location(Arena *a, Str uri, Location *ret, Error *err);
Str store_s3_uri(Arena *a, Str bucket, Str key);

/* ---- buckets -------------------------------------------------------------------------------------------------- */

typedef enum { VERSIONING_OFF, VERSIONING_ON, VERSIONING_SUSPENDED } Versioning;   /* once on, never off again */
typedef struct BucketInfo { Str name, owner, region; int64_t created_ms; Str config; Versioning versioning; } BucketInfo;   /* config: JSON, the door's own */
NODISCARD Status store_bucket_create(Store *s, const BucketInfo *b, Error *err);          /* E_EXISTS */
NODISCARD Status store_bucket_get(Store *s, Arena *a, Str name, BucketInfo *ret, Error *err);   /* E_NOT_FOUND */
NODISCARD Status store_bucket_config(Store *s, Str name, Str config, Error *err);
NODISCARD Status store_bucket_versioning(Store *s, Str name, Versioning v, Error *err);
NODISCARD Status store_bucket_delete(Store *s, Str name, Error *err);                     /* E_NOT_EMPTY */
typedef VEC(BucketInfo) BucketInfos;
NODISCARD Status store_bucket_list(Store *s, Arena *a, BucketInfos *ret, Error *err);

/* ---- objects --------------------------------------------------------------------------------------------------- */

typedef struct ObjectInfo {
    Str bucket, key;
    int64_t size, modified_ms;
    Str etag;                     /* without quotes: MD5 hex, or hex-N for multipart */
    Str sha256;                   /* hex, of the bytes: always known for objects of one put; "" for multipart */
    Props headers;                /* content-type, cache-control, …, x-amz-meta-*, checksums as x-amz-checksum-<algo> */
    Props tags;
    StrVec part_sizes;            /* multipart: decimal sizes in order */
    Str version;                  /* "" the null version: written while versioning was not on */
    int marker;                   /* a delete marker: no bytes */
} ObjectInfo;

/* if_none_match: there must be no object. if_match: an etag, "*" or empty. unless_etag: the object, if any, has another etag. */
typedef struct PutCondition { int if_none_match; Str if_match, unless_etag; } PutCondition;

/* Writing: open, add bytes, then commit or abandon.  Nothing is visible before the commit. */
typedef struct StoreWriter StoreWriter;
NODISCARD Status store_put_open(Store *s, Str bucket, Str key, StoreWriter **ret, Error *err);
NODISCARD Status store_put_add(StoreWriter *w, Str bytes, Error *err);
void store_put_headers(StoreWriter *w, const Props *headers, const Props *tags);
/* MD5, SHA-256, CRC32, CRC32C, CRC64NVME, SHA-1 of what was added, raw bytes; the last three only if asked for before the first add. */
void store_put_want(StoreWriter *w, HashKind kind);
Str store_put_hash(StoreWriter *w, Arena *a, HashKind kind);
/* E_CONFLICT: the condition does not hold (err->kind NoSuchKey: if_match, and there is no object). E_NOT_FOUND: the bucket
 * is gone. Frees w, also on error. */
NODISCARD Status store_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err);
void store_put_abandon(StoreWriter *w);
void store_put_abandonp(StoreWriter **w);

/* Small objects in one call. */
NODISCARD Status store_put(Store *s, Str uri, Str bytes, Error *err);
NODISCARD Status store_put_new(Store *s, Str uri, Str bytes, Error *err);                 /* E_EXISTS */
/* Take over a local file that was written under store_scratch() (by the engine): renamed and synced, not copied. */
NODISCARD Status store_adopt(Store *s, Str uri, Str local_path, Arena *a, ObjectInfo *ret, Error *err);
Str store_scratch(const Store *s);               /* a folder on the same file system for files to adopt; emptied at start */

NODISCARD Status store_stat(Store *s, Arena *a, Str uri, ObjectInfo *ret, Error *err);    /* E_NOT_FOUND, message names the location */
NODISCARD Status store_read(Store *s, Arena *a, Str uri, size_t limit, Str *ret, Error *err);
NODISCARD Status store_read_range(Store *s, Arena *a, Str uri, int64_t offset, int64_t length, Str *ret, Error *err);
/* An open descriptor on the immutable bytes; stays good when the object is replaced or deleted. */
NODISCARD Status store_open_fd(Store *s, Arena *a, Str uri, int *fd, ObjectInfo *info, Error *err);
/* A path that the engine can open: the object's own file (local), or a bounded cache's copy (remote). */
NODISCARD Status store_local_path(Store *s, Arena *a, Str uri, Str *ret, Error *err);
/* For those who will ask for the paths of many: remote objects are fetched side by side. What goes wrong shows when it is asked for. */
void store_prefetch(Store *s, const StrVec *uris);
/* Puts "a file" in the place of every such path in an error's text: where the store's files lie is nobody's business. */
void store_hide_paths(const Store *s, char *text);
NODISCARD Status store_delete(Store *s, Str uri, Error *err);                             /* absent is OK */
NODISCARD Status store_delete_if(Store *s, Str uri, const PutCondition *cond, Error *err);   /* E_CONFLICT; absent with a condition: E_NOT_FOUND */
NODISCARD Status store_set_tags(Store *s, Str uri, const Props *tags, Error *err);
/* headers, tags NULL: the source's. */
typedef struct CopyRequest { Str from, from_version, to; const Props *headers, *tags; const PutCondition *cond; } CopyRequest;
NODISCARD Status store_copy(Store *s, const CopyRequest *c, Arena *a, ObjectInfo *ret, Error *err);

/* Versions of buckets where versioning is or was on. In arguments "" is the current version, "null" the null version. */
/* fd NULL: look only. E_NOT_FOUND, kind NoSuchVersion. A delete marker is OK with ret->marker and no fd. */
NODISCARD Status store_open_version(Store *s, Arena *a, Str uri, Str version, int *fd, ObjectInfo *ret, Error *err);
/* Without a version a versioned bucket gets a delete marker; with one, that version goes for good. */
typedef struct Removed { Str version; int marker; } Removed;
NODISCARD Status store_remove(Store *s, Arena *a, Str uri, Str version, const PutCondition *cond, Removed *ret, Error *err);
/* Newest first for each key. after_version: the place inside the key `after`. */
typedef struct VersionInfo { ObjectInfo o; int latest; } VersionInfo;
typedef struct VersionResult { VEC(VersionInfo) versions; StrVec prefixes; int truncated; Str next_after, next_version; } VersionResult;

typedef struct ListQuery { Str bucket, prefix, delimiter, after; int max; } ListQuery;    /* after: exclusive; a common prefix is skipped whole */
typedef struct ListResult { VEC(ObjectInfo) objects; StrVec prefixes; int truncated; Str next_after; } ListResult;   /* key order, bytewise */
NODISCARD Status store_list(Store *s, Arena *a, const ListQuery *q, ListResult *ret, Error *err);
NODISCARD Status store_list_versions(Store *s, Arena *a, const ListQuery *q, Str after_version, VersionResult *ret, Error *err);
/* Every object under a prefix uri. */
typedef VEC(ObjectInfo) ObjectInfos;
NODISCARD Status store_list_all(Store *s, Arena *a, Str prefix_uri, ObjectInfos *ret, Error *err);

/* ---- multipart ---------------------------------------------------------------------------------------------------- */

typedef struct UploadInfo { Str id, bucket, key; int64_t started_ms; Props headers, tags; Str owner; } UploadInfo;
typedef struct PartInfo { int number; int64_t size, modified_ms; Str etag; Props checksums; } PartInfo;
typedef VEC(UploadInfo) UploadInfos;
typedef VEC(PartInfo) PartInfos;
NODISCARD Status store_upload_start(Store *s, Arena *a, const UploadInfo *u, Str *id, Error *err);
NODISCARD Status store_upload_get(Store *s, Arena *a, Str bucket, Str key, Str id, UploadInfo *ret, Error *err);   /* E_NOT_FOUND */
NODISCARD Status store_upload_list(Store *s, Arena *a, Str bucket, Str prefix, UploadInfos *ret, Error *err);
/* A part is written like an object; the writer comes from here and is committed by store_part_commit. */
NODISCARD Status store_part_open(Store *s, Str upload_id, int number, StoreWriter **ret, Error *err);   /* E_NOT_FOUND, kind NoSuchUpload */
NODISCARD Status store_part_commit(StoreWriter *w, const Props *checksums, Arena *a, PartInfo *ret, Error *err);
NODISCARD Status store_part_list(Store *s, Arena *a, Str upload_id, PartInfos *ret, Error *err);
/* Joins the named parts in order. E_INVALID: unknown part or wrong etag (err->kind InvalidPart), order (InvalidPartOrder), a part but the last under 5 MiB (EntityTooSmall).
 * E_CONFLICT as for a put; the upload stays. `extra` headers are added to those of the upload (may be NULL). */
NODISCARD Status store_upload_complete(Store *s, Str upload_id, const PartInfos *parts, const PutCondition *cond, const Props *extra, Arena *a, ObjectInfo *ret, Error *err);
NODISCARD Status store_upload_abort(Store *s, Str upload_id, Error *err);

/* Empties everything (test.reset). */
NODISCARD Status store_reset(Store *s, Error *err);
/* E_FULL, E_IO: the folder cannot be written now (readyz). */
NODISCARD Status store_probe(Store *s, Error *err);

#endif
