/* SPDX-License-Identifier: Apache-2.0 */
/* tables_bucket.c - tables of table buckets: names and storage.
 *
 * Invariants: (1) a table keeps its files in the private bucket that was made for it, and in no other place; (2) a private bucket without a relation is
 * open to who had it made (a staged table), and to nobody else. */
#include "service/tablebuckets.h"
#include "service/tables_int.h"

#define SUFFIX "--table-s3"

bool svc_is_table_bucket(Str catalog_id) { return str_find(catalog_id, S(":s3tablescatalog/")) >= 0; }

bool svc_is_table_storage(Str bucket) { return str_ends(bucket, S(SUFFIX)); }

/* ---- names ------------------------------------------------------------------------------------------------------------ */

static bool is_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

Str svc_table_bucket_name_problem(Str name)
{
    if (!name.n || name.n > NAME_BYTES_MAX)
        return S("it must have 1 to 255 characters");
    for (size_t i = 0; i < name.n; i++)
        if (!is_alnum(name.p[i]) && name.p[i] != '_')
            return S("it may hold lower-case letters, digits and underscores only");
    if (!is_alnum(name.p[0]) || !is_alnum(name.p[name.n - 1]))
        return S("it must begin and end with a letter or digit");
    return (Str){0};
}

static Status check(Str name, const char *what, Error *err)
{
    Str problem = svc_table_bucket_name_problem(name);
    return problem.n ? FAIL(err, E_INVALID, "The specified %s name '" STR_FMT "' is not valid in a table bucket: " STR_FMT, what, STR_ARG(name), STR_ARG(problem)) : OK;
}

Status tables_bucket_namespace(Str catalog, Str ns, Error *err)
{
    if (!svc_is_table_bucket(catalog))
        return OK;
    if (str_eq(ns, S("aws_s3_metadata")))
        return FAIL(err, E_INVALID, "The specified namespace name is not valid: aws_s3_metadata is reserved");
    return check(ns, "namespace", err);
}

Status tables_bucket_name(const SvcName *n, Error *err)
{
    return svc_is_table_bucket(n->catalog) ? check(n->name, "table", err) : OK;
}

/* ---- storage ---------------------------------------------------------------------------------------------------------- */

/* <first three groups of the UUID>-<34 of [a-z0-9]>--table-s3, 63 characters (spec/glue.md 1.1). */
Status tables_private_bucket(const SvcCall *c, Str uuid, Str *ret, Error *err)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char r[34];
    StrBuf b = sb_new(c->a);

    rand_bytes(r, sizeof r);
    sb_add(&b, str_sub(uuid, 0, 18));
    sb_byte(&b, '-');
    for (size_t i = 0; i < sizeof r; i++)
        sb_byte(&b, alphabet[r[i] % 36]);
    sb_addc(&b, SUFFIX);
    BucketInfo info = { .name = sb_str(&b), .owner = principal_owner(c->who), .region = cat_region(c->ctx->catalog), .created_ms = clock_ms() };
    TRY(store_bucket_create(c->ctx->store, &info, err));
    *ret = str_fmt(c->a, "s3://" STR_FMT, STR_ARG(info.name));
    return OK;
}

/* A whole private bucket that no relation has yet, made for this principal. (2) */
bool tables_is_staged_storage(const SvcCall *c, Str uri)
{
    BucketInfo b = {0};
    CatRelation r = {0};
    Location l = {0};
    Error ignored;

    if (store_parse_location(c->a, uri, &l, &ignored) != OK || l.file || l.key.n || !svc_is_table_storage(l.bucket))
        return false;
    return store_bucket_get(c->ctx->store, c->a, l.bucket, &b, &ignored) == OK && str_eq(b.owner, principal_owner(c->who))
        && cat_relation_by_location(c->ctx->catalog, c->a, uri, &r, &ignored) == E_NOT_FOUND;
}

Status tables_bucket_location(const SvcCall *c, Str catalog, Str uri, Error *err)
{
    if (!svc_is_table_bucket(catalog) || tables_is_staged_storage(c, uri))
        return OK;
    return FAIL(err, E_INVALID, "location '" STR_FMT "' cannot be chosen: a table in a table bucket keeps its files in storage of its own", STR_ARG(uri));     /* (1) */
}

void svc_table_storage_remove(Catalog *c, Store *st, Arena *a, Str bucket)
{
    ObjectInfos all = {0};
    CatRelation r = {0};
    Error ignored;

    if (!svc_is_table_storage(bucket) || cat_relation_by_location(c, a, str_cat(a, S("s3://"), bucket), &r, &ignored) != E_NOT_FOUND)
        return;
    if (store_list_all(st, a, store_s3_uri(a, bucket, (Str){0}), &all, &ignored) != OK)
        return;
    for vec_each(ObjectInfo, o, &all)
        (void)!store_delete(st, store_s3_uri(a, o->bucket, o->key), &ignored);
    (void)!store_bucket_delete(st, bucket, &ignored);
}

void tables_drop_private_bucket(const SvcCall *c, Str uri)
{
    Location l = {0};
    Error ignored;

    if (store_parse_location(c->a, uri, &l, &ignored) == OK && !l.file && !l.key.n)
        svc_table_storage_remove(c->ctx->catalog, c->ctx->store, c->a, l.bucket);
}

/* ---- a table without metadata ------------------------------------------------------------------------------------------ */

Status tables_has_metadata(const CatRelation *r, Error *err)
{
    if (r->metadata_location.n || r->kind == REL_EXTERNAL)
        return OK;
    return FAIL(err, E_INVALID, "table " STR_FMT "." STR_FMT " has no metadata yet: it was created without a schema", STR_ARG(r->namespace), STR_ARG(r->name));
}
