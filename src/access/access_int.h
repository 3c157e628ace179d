/* SPDX-License-Identifier: Apache-2.0 */
/* access_int.h - what the files of the access room share. */
#ifndef FIRN_ACCESS_INT_H
#define FIRN_ACCESS_INT_H

#include "access/access.h"

enum {
    VENDED_MAX      = 4096,            /* sessions remembered for reuse */
    VEND_SECONDS_MAX = 12 * 3600,
    PREFIXES_MAX    = 64,
    SWEEP_MS        = 10 * 60 * 1000,  /* ended sessions are forgotten so often */
};

/* A session vended before, given again while more than half of its life is left: vending costs a durable write. */
typedef struct Vended { Str key_id; } Vended;

struct Access {
    Catalog *catalog;
    pthread_mutex_t lock;              /* guards all below */
    Arena *a;
    Map vended;                        /* by what was asked for */
    int64_t swept_ms;                  /* when ended sessions were last forgotten */
    struct Iam *iam;
    AccessBucketPolicy bucket_policy;
    void *bucket_ctx;
    char *connection_role;             /* ARN, NULL: that of the account (iam_connection.c) */
    pthread_mutex_t lf_lock;           /* Lake Formation's documents: read, changed and written by one at a time */
};

/* Lake Formation's answer to the question, after IAM's yes; `relation` is what an object belongs to, or NULL. */
NODISCARD Status lf_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *relation, Error *err);

/* IAM's answer to the question; `relation` as for lf_check. */
NODISCARD Status rights_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *relation, Error *err);

/* ---- session.c */
CatKey session_key(Arena *a, Str principal, Json *scope, int64_t seconds);
Str session_random(Arena *a, const char *alphabet, size_t n);

#endif
