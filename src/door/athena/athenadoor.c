/* SPDX-License-Identifier: Apache-2.0 */
/* athenadoor.c - Athena as a service: its codes, its records, opening and closing.
 *
 * Everything durable is a document of the catalog; results are objects at the caller's output location.  Queries run in a pool of a few threads, each
 * by a session of the principal that asked (pool.c, exec.c). */
#include "door/athena/athena_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* AthenaErrorCode, Reason and ResourceName ride in the detail. */
void ath_error_members(const Error *err, Arena *a, Json *body)
{
    Str detail = str_c(err->detail);

    if (strcmp(err->kind, "TooManyRequestsException") == 0)
        json_set(a, body, "Reason", json_str(a, S("CONCURRENT_QUERY_LIMIT_EXCEEDED")));
    else if (strcmp(err->kind, "ResourceNotFoundException") == 0 && detail.n)
        json_set(a, body, "ResourceName", json_str(a, str_dup(a, detail)));
    else if (err->code == E_INVALID || err->code == E_LIMIT || err->code == E_UNSUPPORTED || err->code == E_SYNTAX)
        json_set(a, body, "AthenaErrorCode", json_str(a, detail.n ? str_dup(a, detail) : S("INVALID_INPUT")));
}

void ath_error_code(Error *err, const char *code) { snprintf(err->detail, sizeof err->detail, "%s", code); }

/* ---- opening and closing ----------------------------------------------------------------------------------------------- */

static void door_close(void *ctx)
{
    AthDoor *d = ctx;

    pool_close(d);
    pthread_cond_destroy(&d->work);
    pthread_cond_destroy(&d->done);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

Status athena_open(Service *svc, AwsMount *ret, Error *err)
{
    AthDoor *d = calloc(1, sizeof *d);
    pthread_condattr_t attr;

    if (!d)
        return FAIL(err, E_INTERNAL, "out of memory");
    d->svc = svc;
    d->queue_end = &d->queue;
    d->opened_ms = clock_ms();
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&d->work, NULL);
    pthread_cond_init(&d->done, &attr);
    pthread_condattr_destroy(&attr);
    pool_prune(d);
    *ret = (AwsMount){ .service = &athena_service, .ctx = d, .close = door_close };
    return OK;
}

/* ---- who may, and on what ------------------------------------------------------------------------------------------------ */

Service *ath_service(const AwsCall *c) { return ath_door(c)->svc; }

Str ath_arn(const AwsCall *c, const char *type, Str name)
{
    const Catalog *cat = ath_service(c)->catalog;
    return str_fmt(c->a, "arn:aws:athena:" STR_FMT ":" STR_FMT ":%s/" STR_FMT, STR_ARG(cat_region(cat)), STR_ARG(cat_account(cat)), type, STR_ARG(name));
}

Status ath_allow(AwsCall *c, const char *type, Str name, Error *err)
{
    return aws_allow(c, str_fmt(c->a, "athena:%s", c->op->name).p, ath_arn(c, type, name), NULL, err);
}

bool ath_name_ok(Str name, const char *more)
{
    for (size_t i = 0; i < name.n; i++) {
        char k = name.p[i];
        if (!((k >= 'a' && k <= 'z') || (k >= 'A' && k <= 'Z') || (k >= '0' && k <= '9') || (k && strchr(more, k))))
            return false;
    }
    return name.n > 0;
}

/* ---- records ------------------------------------------------------------------------------------------------------------- */

Status rec_put(Service *svc, const char *kind, Str key, const Json *value, Error *err)
{
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key, .doc = (Json *)value };
    return cat_commit(svc->catalog, &ch, 1, err);
}

Status rec_get(Service *svc, Arena *a, const char *kind, Str key, Json **ret, Error *err)
{
    *ret = NULL;
    Status s = cat_doc_get(svc->catalog, a, str_c(kind), key, ret, err);
    return s == E_NOT_FOUND ? OK : s;
}

Status rec_count_below(AwsCall *c, const char *kind, Error *err)
{
    CatDocs docs;

    TRY(cat_doc_list(ath_service(c)->catalog, c->a, str_c(kind), (Str){0}, &docs, err));
    if (docs.n >= ATH_RECORDS_MAX)
        return FAIL(err, E_LIMIT, "there are %zu of these already; the limit is %d", docs.n, ATH_RECORDS_MAX);
    return OK;
}

Status rec_tags(AwsCall *c, const Json *list, Json *into, Error *err)
{
    for (size_t i = 0; i < json_len(list); i++) {
        Str key = json_get_str(json_at(list, i), "Key", (Str){0});
        if (!key.n || str_starts(key, S("aws:")))
            return ATH_INVALID(err, "INVALID_INPUT", "Tag key '" STR_FMT "' is not allowed", STR_ARG(key));
        json_set_s(c->a, into, key, json_str(c->a, json_get_str(json_at(list, i), "Value", S(""))));
    }
    if (json_len(into) > ATH_TAGS_MAX)
        return ATH_INVALID(err, "INVALID_INPUT", "A resource has at most %d tags", ATH_TAGS_MAX);
    return OK;
}

void rec_copy_members(Arena *a, Json *to, const Json *from, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Json *v = json_get(from, names[i]);
        if (v)
            json_set(a, to, names[i], v);
    }
}
