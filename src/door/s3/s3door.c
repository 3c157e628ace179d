/* SPDX-License-Identifier: Apache-2.0 */
/* s3door.c - from a request to its operation: target, signature, the table of operations, the first question of rights.
 *
 * The target is split while still encoded, so a %2F in a key is never taken for a slash of the path.
 * Invariants: (1) no operation runs before its signature was proven and its action allowed; (2) an operation either filled
 * the answer and returned OK, or returned an error, and then the answer is the error's. */
#include <stdlib.h>

#include "door/s3/s3_int.h"
#include "service/tablebuckets.h"

typedef enum { SERVICE, BUCKET, OBJECT } Level;
typedef struct Op { const char *method; Level level; const char *arg, *header; const char *action; S3Run run; } Op;

/* The first row that fits is taken: rows with a sub-resource or a header before those without. */
static const Op ops[] = {
    { "GET",    SERVICE, NULL, NULL, "s3:ListAllMyBuckets", op_list_buckets },

    { "GET",    BUCKET, "location", NULL,   "s3:GetBucketLocation", op_bucket_location },
    { "GET",    BUCKET, "policy", NULL,     "s3:GetBucketPolicy", op_policy_get },
    { "PUT",    BUCKET, "policy", NULL,     "s3:PutBucketPolicy", op_policy_put },
    { "DELETE", BUCKET, "policy", NULL,     "s3:DeleteBucketPolicy", op_policy_delete },
    { "GET",    BUCKET, "tagging", NULL,    "s3:GetBucketTagging", op_bucket_tags_get },
    { "PUT",    BUCKET, "tagging", NULL,    "s3:PutBucketTagging", op_bucket_tags_put },
    { "DELETE", BUCKET, "tagging", NULL,    "s3:PutBucketTagging", op_bucket_tags_delete },
    { "GET",    BUCKET, "versioning", NULL, "s3:GetBucketVersioning", op_versioning_get },
    { "PUT",    BUCKET, "versioning", NULL, "s3:PutBucketVersioning", op_versioning_put },
    { "GET",    BUCKET, "acl", NULL,        "s3:GetBucketAcl", op_acl_get },
    { "PUT",    BUCKET, "acl", NULL,        "s3:PutBucketAcl", op_acl_put },
    { "GET",    BUCKET, "versions", NULL,   "s3:ListBucketVersions", op_list_versions },
    { "GET",    BUCKET, "uploads", NULL,    "s3:ListBucketMultipartUploads", op_list_uploads },
    { "GET",    BUCKET, "list-type", NULL,  "s3:ListBucket", op_list_v2 },
    { "POST",   BUCKET, "delete", NULL,     NULL, op_delete_many },              /* asks for each key */
    { "GET",    BUCKET, "?", NULL,          "s3:GetBucketConfiguration", op_config_get },
    { "PUT",    BUCKET, "?", NULL,          "s3:PutBucketConfiguration", op_config_put },
    { "DELETE", BUCKET, "?", NULL,          "s3:PutBucketConfiguration", op_config_delete },
    { "GET",    BUCKET, NULL, NULL,         "s3:ListBucket", op_list_v1 },
    { "PUT",    BUCKET, NULL, NULL,         "s3:CreateBucket", op_bucket_create },
    { "HEAD",   BUCKET, NULL, NULL,         "s3:ListBucket", op_bucket_head },
    { "DELETE", BUCKET, NULL, NULL,         "s3:DeleteBucket", op_bucket_delete },

    { "GET",    OBJECT, "acl", NULL,        "s3:GetObjectAcl", op_acl_get },
    { "PUT",    OBJECT, "acl", NULL,        "s3:PutObjectAcl", op_acl_put },
    { "GET",    OBJECT, "tagging", NULL,    "s3:GetObjectTagging", op_tags_get },
    { "PUT",    OBJECT, "tagging", NULL,    "s3:PutObjectTagging", op_tags_put },
    { "DELETE", OBJECT, "tagging", NULL,    "s3:DeleteObjectTagging", op_tags_delete },
    { "GET",    OBJECT, "attributes", NULL, "s3:GetObject", op_attributes },
    { "POST",   OBJECT, "uploads", NULL,    "s3:PutObject", op_upload_start },
    { "PUT",    OBJECT, "uploadId", "x-amz-copy-source", "s3:PutObject", op_part_copy },
    { "PUT",    OBJECT, "uploadId", NULL,   "s3:PutObject", op_upload_part },
    { "POST",   OBJECT, "uploadId", NULL,   "s3:PutObject", op_upload_complete },
    { "DELETE", OBJECT, "uploadId", NULL,   "s3:AbortMultipartUpload", op_upload_abort },
    { "GET",    OBJECT, "uploadId", NULL,   "s3:ListMultipartUploadParts", op_list_parts },
    { "GET",    OBJECT, "?", NULL,          "s3:GetObjectConfiguration", op_config_get },
    { "PUT",    OBJECT, "?", NULL,          "s3:PutObjectConfiguration", op_config_put },
    { "GET",    OBJECT, NULL, NULL,         "s3:GetObject", op_get },
    { "HEAD",   OBJECT, NULL, NULL,         "s3:GetObject", op_get },
    { "PUT",    OBJECT, NULL, "x-amz-copy-source", "s3:PutObject", op_copy },
    { "PUT",    OBJECT, NULL, NULL,         "s3:PutObject", op_put },
    { "DELETE", OBJECT, NULL, NULL,         "s3:DeleteObject", op_delete },
};

/* Sub-resources that this door knows only as "not configured" ("?" above). */
static const char *const other_configs[] = { "cors", "lifecycle", "encryption", "website", "replication", "object-lock", "publicAccessBlock",
    "ownershipControls", "policyStatus", "notification", "logging", "requestPayment", "accelerate", "analytics", "inventory", "metrics",
    "intelligent-tiering", "retention", "legal-hold", "torrent", "restore", "select" };

static Status handle(S3Req *q, Error *err);
static Status split_target(S3Req *q, Level *level, Error *err);
static Status decode_key(S3Req *q, Str raw, Str *ret, Error *err);
static Status authenticate(S3Req *q, Error *err);
static Str asked_key(const S3Req *q, const Op *op);
static const Op *find_op(const S3Req *q, Level level);
static bool arg_fits(const S3Req *q, const char *arg);
static Status no_op(const S3Req *q, Level level, Error *err);
static bool table_storage_forbids(const S3Req *q, const Op *op);
static Status refuse_storage(S3Req *q, Level level, Error *err);

S3Door *s3_door_new(const S3DoorOptions *o)
{
    S3Door *d = calloc(1, sizeof(*d));
    if (!d)
        abort();
    d->a = arena_create();
    d->o = *o;
    d->o.region = str_dup(d->a, o->region);
    d->o.owner_id = str_dup(d->a, o->owner_id);
    d->o.owner_name = str_dup(d->a, o->owner_name);
    d->o.domain = str_dup(d->a, o->domain);
    return d;
}

void s3_door_free(S3Door *d)
{
    if (!d)
        return;
    arena_destroy(d->a);
    free(d);
}

void s3_handle(S3Door *d, HttpRequest *r, HttpAnswer *ret)
{
    S3Req q = { .d = d, .st = d->o.store, .r = r, .ans = ret, .a = r->arena };
    Error err = {0};
    if (handle(&q, &err) != OK)
        s3_error_answer(r, ret, &err);                           /* invariant 2 */
}

/* What policies may ask of a request (Service Authorization Reference, S3). */
static void add_conditions(S3Req *q, const char *action, Props *ret)
{
    static const struct { const char *arg, *key; } args[] = { { "prefix", "s3:prefix" }, { "delimiter", "s3:delimiter" }, { "max-keys", "s3:max-keys" }, { "versionId", "s3:VersionId" } };
    static const char *const headers[] = { "x-amz-acl", "x-amz-copy-source", "x-amz-storage-class", "x-amz-server-side-encryption", "x-amz-content-sha256" };
    bool lists = strncmp(action, "s3:ListBucket", strlen("s3:ListBucket")) == 0;

    for (size_t i = 0; i < COUNT_OF(args); i++)
        if ((lists || i == COUNT_OF(args) - 1) && http_has_arg(q->r, args[i].arg))
            props_set(q->a, ret, str_c(args[i].key), http_arg(q->r, args[i].arg, (Str){0}));
    for (size_t i = 0; i < COUNT_OF(headers); i++)
        if (http_has_header(q->r, headers[i]))
            props_set(q->a, ret, str_fmt(q->a, "s3:%s", headers[i]), http_header(q->r, headers[i]));
}

Status s3_allow(S3Req *q, const char *action, Str bucket, Str key, Error *err)
{
    Props context = {0};
    add_conditions(q, action, &context);
    return q->d->o.hooks.allow(q->d->o.hooks.ctx, q->a, q->principal, action, bucket, key, &context, err);
}

Status s3_allow_again(S3Req *q, Error *err)
{
    return s3_allow(q, q->action, q->bucket, q->key, err);
}

void s3_header(S3Req *q, const char *name, Str value)
{
    http_answer_header(q->r, q->ans, name, value);
}

void s3_xml(S3Req *q, XmlWriter *w)
{
    q->ans->body = xw_done(w);
    s3_header(q, "Content-Type", S("application/xml"));
}

Str s3_uri(S3Req *q)
{
    return store_s3_uri(q->a, q->bucket, q->key);
}

Str s3_etag(Arena *a, Str etag)
{
    return str_fmt(a, "\"" STR_FMT "\"", STR_ARG(etag));
}

Str s3_unquote(Str etag)
{
    etag = str_trim(etag);
    if (str_starts(etag, S("W/")))
        etag = str_from(etag, 2);
    if (etag.n >= 2 && etag.p[0] == '"' && etag.p[etag.n - 1] == '"')
        etag = str_sub(etag, 1, etag.n - 1);
    return etag;
}

Status s3_int_arg(S3Req *q, const char *name, int64_t fallback, int64_t *ret, Error *err)
{
    Str text = http_arg(q->r, name, (Str){0});
    *ret = fallback;
    if (text.n && (!str_to_i64(text, ret) || *ret < 0 || *ret > INT32_MAX))
        return s3_fail(err, "InvalidArgument", "Provided %s not an integer or within integer range", name);
    return OK;
}

void s3_owner(S3Req *q, XmlWriter *w, const char *element)
{
    xw_open(w, element);
    xw_elem(w, "ID", q->d->o.owner_id);
    xw_elem(w, "DisplayName", q->d->o.owner_name);
    xw_close(w);
}

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

static Status handle(S3Req *q, Error *err)
{
    Level level = SERVICE;
    TRY(split_target(q, &level, err));
    TRY(authenticate(q, err));
    const Op *op = find_op(q, level);
    if (op && table_storage_forbids(q, op))
        return refuse_storage(q, level, err);
    if (!op)
        return no_op(q, level, err);
    q->action = op->action;
    if (op->action)
        TRY(s3_allow(q, op->action, q->bucket, asked_key(q, op), err));    /* invariant 1 */
    return op->run(q, err);
}

/* A listing is asked about by its prefix: who may see one table may list it, and nothing beside it. */
static Str asked_key(const S3Req *q, const Op *op)
{
    bool listing = !q->key.n && strncmp(op->action, "s3:ListBucket", strlen("s3:ListBucket")) == 0;
    return listing ? http_arg(q->r, "prefix", (Str){0}) : q->key;
}

/* <bucket>.<domain>[:port]; names of buckets may hold dots. */
Str s3_host_bucket(const HttpRequest *r, Str domain)
{
    Str host = http_header(r, "host");
    ptrdiff_t colon = str_rchr(host, ':');

    if (colon >= 0)
        host = str_sub(host, 0, (size_t)colon);
    if (!domain.n || host.n <= domain.n + 1 || !str_ieq(str_from(host, host.n - domain.n), domain) || host.p[host.n - domain.n - 1] != '.')
        return (Str){0};
    return str_sub(host, 0, host.n - domain.n - 1);
}

static Status split_target(S3Req *q, Level *level, Error *err)
{
    Str bucket = s3_host_bucket(q->r, q->d->o.domain), key = str_from(q->r->path, 1);
    if (!bucket.n)
        str_cut(str_from(q->r->path, 1), '/', &bucket, &key);
    TRY(decode_key(q, bucket, &q->bucket, err));
    TRY(decode_key(q, key, &q->key, err));
    *level = q->key.n ? OBJECT : q->bucket.n ? BUCKET : SERVICE;
    if (q->key.n > 1024)
        return s3_fail(err, "KeyTooLongError", "Your key is too long");
    return OK;
}

static Status decode_key(S3Req *q, Str raw, Str *ret, Error *err)
{
    if (url_decode(q->a, raw, 0, ret, err) != OK || !str_is_utf8(*ret) || (ret->n && memchr(ret->p, 0, ret->n)))
        return s3_fail(err, "InvalidURI", "Couldn't parse the specified URI.");
    return OK;
}

static Status authenticate(S3Req *q, Error *err)
{
    TRY(sig_parse(q->a, q->r, &q->claim, err));
    if (!q->claim.access_key.n)
        return OK;                                               /* unsigned: the hook sees no principal */
    if (!q->claim.payload_hash.n && !q->claim.presigned)
        return s3_fail(err, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256");
    TRY(q->d->o.hooks.secret(q->d->o.hooks.ctx, q->a, q->r, &q->claim, &q->secret, &q->principal, err));
    return sig_verify(q->a, q->r, &q->claim, q->secret, clock_ms(), (Str){0}, err);
}

static const Op *find_op(const S3Req *q, Level level)
{
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        const Op *op = &ops[i];
        if (op->level == level && str_eq(q->r->method, str_c(op->method)) && arg_fits(q, op->arg) &&
            (!op->header || http_has_header(q->r, op->header)))
            return op;
    }
    return NULL;
}

static bool arg_fits(const S3Req *q, const char *arg)
{
    if (!arg)
        return true;
    if (arg[0] != '?')
        return http_has_arg(q->r, arg);
    for (size_t i = 0; i < COUNT_OF(other_configs); i++)
        if (http_has_arg(q->r, other_configs[i]))
            return true;
    return false;
}

/* The storage of a table in a table bucket knows no listing, deleting, copying or configuring (S3 Tables, "Supported S3 API operations"). */
static bool table_storage_forbids(const S3Req *q, const Op *op)
{
    static const S3Run known[] = { op_get, op_put, op_upload_start, op_upload_part, op_upload_complete, op_upload_abort, op_list_parts, op_list_uploads,
                                   op_bucket_head, op_bucket_location, op_bucket_create /* refuses the name */ };

    if (!svc_is_table_storage(q->bucket))
        return false;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (op->run == known[i])
            return false;
    return true;
}

/* A managed view's storage says why nobody changes it; other tables' that this is no way to do so. */
static Status refuse_storage(S3Req *q, Level level, Error *err)
{
    bool reads = str_eq(q->r->method, S("GET")) || str_eq(q->r->method, S("HEAD"));

    if (!reads && s3_allow(q, "s3:PutObject", q->bucket, q->key, err) == E_PROTECTED)
        return E_PROTECTED;
    return no_op(q, level, err);
}

static Status no_op(const S3Req *q, Level level, Error *err)
{
    if (level == SERVICE && str_eq(q->r->method, S("HEAD")))
        return s3_fail(err, "MethodNotAllowed", "The specified method is not allowed against this resource.");
    return s3_fail(err, "MethodNotAllowed", "The specified method is not allowed against this resource: " STR_FMT " " STR_FMT,
                   STR_ARG(q->r->method), STR_ARG(q->r->path));
}
