/* SPDX-License-Identifier: Apache-2.0 */
/* s3_int.h - what the files of the S3 door share: one request, its checks, the operations. */
#ifndef FIRN_S3_INT_H
#define FIRN_S3_INT_H

#include "door/s3/s3door.h"

enum {
    MAX_KEYS         = 1000,
    DELETE_MAX       = 1000,
    META_BYTES_MAX   = 2048,
    TAGS_MAX         = 10,
    TAG_KEY_MAX      = 128,
    TAG_VALUE_MAX    = 256,
    XML_BODY_MAX     = 2 * 1024 * 1024,
    POLICY_MAX       = 20 * 1024,
    PUMP_BYTES       = 256 * 1024,
    PART_NUMBER_MAX  = 10000,
};

#define S3_NS "http://s3.amazonaws.com/doc/2006-03-01/"
/* Headers of an object that are ours and never sent. */
#define H_UPLOAD  "-upload"               /* the multipart upload that made it: a repeated completion is answered alike */
#define H_PARTSUM "-part-checksums"       /* base64 checksums of the parts, comma-separated */
#define H_ALGO    "-checksum-algorithm"   /* what the upload was started with */
#define H_TYPE    "-checksum-type"

struct S3Door { Arena *a; S3DoorOptions o; };

typedef struct S3Req {
    S3Door *d;
    Store *st;
    HttpRequest *r;
    HttpAnswer *ans;
    Arena *a;
    SigClaim claim;
    Str secret;
    void *principal;
    const char *action;
    Str bucket, key;
} S3Req;

typedef Status (*S3Run)(S3Req *q, Error *err);

/* s3_error.c */
NODISCARD Status s3_fail(Error *err, const char *code, const char *fmt, ...) PRINTF_LIKE(3, 4);
const char *s3_code(const Error *err);                                    /* always one of S3's */
void s3_error_answer(HttpRequest *r, HttpAnswer *ans, const Error *err);

/* s3door.c */
NODISCARD Status s3_allow(S3Req *q, const char *action, Str bucket, Str key, Error *err);
NODISCARD Status s3_allow_again(S3Req *q, Error *err);                    /* the operation's own action on its own target */
void s3_header(S3Req *q, const char *name, Str value);
void s3_xml(S3Req *q, XmlWriter *w);
Str s3_uri(S3Req *q);
Str s3_etag(Arena *a, Str etag);                                          /* in quotes */
Str s3_unquote(Str etag);
NODISCARD Status s3_int_arg(S3Req *q, const char *name, int64_t fallback, int64_t *ret, Error *err);   /* InvalidArgument */
void s3_owner(S3Req *q, XmlWriter *w, const char *element);

/* s3_checksum.c */
typedef struct Algo {
    const char *name, *header, *element;          /* "CRC32", "x-amz-checksum-crc32", "ChecksumCRC32" */
    HashKind kind;
    int whole;                                    /* FULL_OBJECT unless the client says otherwise */
    int bits;                                     /* of a CRC, 0: a hash */
    uint64_t poly;                                /* reflected */
} Algo;
extern const Algo ALGOS[];
extern const size_t ALGO_COUNT;
const Algo *algo_by_name(Str name);
const Algo *algo_of_headers(const Props *headers);                        /* the object's; NULL: none */
typedef struct Checks { Str md5; const Algo *algo; Str value; int in_trailer; } Checks;
NODISCARD Status checks_of_request(S3Req *q, Checks *ret, Error *err);
/* md5 and sum are raw and of the whole body; adds the checksum's header to `headers`. BadDigest, MalformedTrailerError. */
NODISCARD Status checks_verify(S3Req *q, const Checks *c, Str md5, Str sum, const Props *trailers, Props *headers, Error *err);
Str checksum_combined(Arena *a, const Algo *algo, int whole, const StrVec *parts, const StrVec *sizes);
void checksum_xml(XmlWriter *w, const Props *headers, int with_type);
void checksum_headers(S3Req *q, const Props *headers);

/* s3_put.c */
NODISCARD Status s3_pump(S3Req *q, StoreWriter *w, const Checks *c, Props *headers, Error *err);      /* body to writer, all checks made */
NODISCARD Status s3_body_text(S3Req *q, size_t limit, Str *ret, Error *err);
NODISCARD Status s3_body_text_unchecked(S3Req *q, size_t limit, Str *ret, Error *err);               /* where checksum headers are not the body's */
NODISCARD Status s3_body_xml(S3Req *q, Xml **ret, Error *err);                                      /* MalformedXML */
NODISCARD Status s3_headers_of_request(S3Req *q, Props *ret, Error *err);
NODISCARD Status s3_tags_of_header(S3Req *q, Props *ret, Error *err);
NODISCARD Status s3_put_condition(S3Req *q, PutCondition *ret, Error *err);
NODISCARD Status s3_acl_check(S3Req *q, Error *err);

/* s3_get.c */
typedef struct Conditions { Str if_match, if_none_match, modified_since, unmodified_since; } Conditions;
NODISCARD Status conditions_check(const Conditions *c, const ObjectInfo *o, int *not_modified, Error *err);
bool etag_listed(Str list, Str etag);
void s3_object_headers(S3Req *q, const ObjectInfo *o);
/* The object or one version of it; fd NULL: look only. A delete marker is MethodNotAllowed. */
NODISCARD Status s3_find(S3Req *q, int *fd, ObjectInfo *ret, Error *err);
void s3_version_header(S3Req *q, Str version);                            /* nothing for the null version */

/* s3_tags.c */
NODISCARD Status tags_of_xml(S3Req *q, const Xml *x, size_t max, Props *ret, Error *err);
void tags_xml(S3Req *q, const Props *tags);

/* operations, by file */
NODISCARD Status op_list_buckets(S3Req *q, Error *err);                   /* s3_bucket.c */
NODISCARD Status op_bucket_create(S3Req *q, Error *err);
NODISCARD Status op_bucket_head(S3Req *q, Error *err);
NODISCARD Status op_bucket_delete(S3Req *q, Error *err);
NODISCARD Status op_bucket_location(S3Req *q, Error *err);
NODISCARD Status op_policy_get(S3Req *q, Error *err);                     /* s3_config.c */
NODISCARD Status op_policy_put(S3Req *q, Error *err);
NODISCARD Status op_policy_delete(S3Req *q, Error *err);
NODISCARD Status op_bucket_tags_get(S3Req *q, Error *err);
NODISCARD Status op_bucket_tags_put(S3Req *q, Error *err);
NODISCARD Status op_bucket_tags_delete(S3Req *q, Error *err);
NODISCARD Status op_versioning_get(S3Req *q, Error *err);
NODISCARD Status op_versioning_put(S3Req *q, Error *err);
NODISCARD Status op_config_get(S3Req *q, Error *err);
NODISCARD Status op_config_put(S3Req *q, Error *err);
NODISCARD Status op_config_delete(S3Req *q, Error *err);
NODISCARD Status op_acl_get(S3Req *q, Error *err);                        /* s3_tags.c */
NODISCARD Status op_acl_put(S3Req *q, Error *err);
NODISCARD Status op_tags_get(S3Req *q, Error *err);
NODISCARD Status op_tags_put(S3Req *q, Error *err);
NODISCARD Status op_tags_delete(S3Req *q, Error *err);
NODISCARD Status op_list_v1(S3Req *q, Error *err);                        /* s3_list.c */
NODISCARD Status op_list_v2(S3Req *q, Error *err);
NODISCARD Status op_list_versions(S3Req *q, Error *err);
NODISCARD Status op_get(S3Req *q, Error *err);                            /* s3_get.c */
NODISCARD Status op_attributes(S3Req *q, Error *err);                     /* s3_attributes.c */
NODISCARD Status op_put(S3Req *q, Error *err);                            /* s3_put.c */
NODISCARD Status op_copy(S3Req *q, Error *err);                           /* s3_copy.c */
NODISCARD Status op_part_copy(S3Req *q, Error *err);
NODISCARD Status op_delete(S3Req *q, Error *err);                         /* s3_delete.c */
NODISCARD Status op_delete_many(S3Req *q, Error *err);
NODISCARD Status op_upload_start(S3Req *q, Error *err);                   /* s3_multipart.c */
NODISCARD Status op_upload_part(S3Req *q, Error *err);
NODISCARD Status op_upload_complete(S3Req *q, Error *err);
NODISCARD Status op_upload_abort(S3Req *q, Error *err);
NODISCARD Status op_list_parts(S3Req *q, Error *err);                     /* s3_uploads.c */
NODISCARD Status op_list_uploads(S3Req *q, Error *err);

#endif
