/* SPDX-License-Identifier: Apache-2.0 */
/* s3door.h - the S3 API (path style) on a store.
 *
 * The door decodes a request, proves its signature, asks whether it is allowed, calls the store and encodes the answer; it
 * decides nothing itself.  Who a key belongs to and what it may do is asked through S3Hooks: reads once, writes when they
 * begin and again just before they are published (a long upload may outlive the right to it).
 * Any thread may call s3_handle; it blocks for as long as the request takes. */
#ifndef FIRN_S3DOOR_H
#define FIRN_S3DOOR_H

#include "store/store.h"

typedef struct S3Hooks {
    void *ctx;
    /* The secret of a claim's access key, and who it is. E_AUTH, err->kind InvalidAccessKeyId | ExpiredToken | InvalidToken. */
    Status (*secret)(void *ctx, Arena *a, const HttpRequest *r, const SigClaim *c, Str *secret, void **principal, Error *err);
    /* May this principal do it? action: "s3:GetObject" …; key is a listing's prefix, empty for a bucket, both are for the account. principal NULL:
     * an unsigned request. `context`: S3's condition keys of the request ("s3:prefix", "s3:x-amz-acl"). E_DENIED | E_PROTECTED with the message that the client gets. */
    Status (*allow)(void *ctx, Arena *a, void *principal, const char *action, Str bucket, Str key, const Props *context, Error *err);
    /* Does a bucket's policy parse? E_INVALID with the message; NULL: any JSON with statements will do. */
    Status (*policy)(void *ctx, Arena *a, Str text, Error *err);
} S3Hooks;

typedef struct S3DoorOptions {
    Store *store;
    S3Hooks hooks;
    Str region;                   /* what x-amz-bucket-region says when a bucket was made without a region */
    Str owner_id, owner_name;     /* of every bucket and object */
    Str domain;                   /* "s3.example.org": requests to <bucket>.s3.example.org are for that bucket; empty: path style only */
} S3DoorOptions;

typedef struct S3Door S3Door;
S3Door *s3_door_new(const S3DoorOptions *o);        /* copies the options; the store stays the caller's */
void s3_door_free(S3Door *d);
void s3_handle(S3Door *d, HttpRequest *r, HttpAnswer *ret);

/* The bucket in the request's Host, "" for path style. */
Str s3_host_bucket(const HttpRequest *r, Str domain);

/* An S3 error answer for a failure before this door was reached (throttling, shutdown). */
void s3_answer_error(HttpRequest *r, HttpAnswer *ret, const Error *err);

/* A bucket's policy document as put through this door, "" when there is none; `config` is BucketInfo.config. */
Str s3_bucket_policy(Arena *a, Str config);

#endif
