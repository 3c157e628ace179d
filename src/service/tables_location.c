/* SPDX-License-Identifier: Apache-2.0 */
/* tables_location.c - where relations may keep their files.
 *
 * Invariants: (1) no table's storage lies inside another's, so an object has one owner (views own no data: they may lie in regular ones); (2) a metadata file is written only where
 * its principal may write; (3) file: locations are under the configured folder and for the account root alone. */
#include "service/tables_int.h"

static Str folder_name(Arena *a, Str name) { return url_encode(a, name, 0); }

bool tables_within(Arena *a, Str uri, Str prefix)
{
    Location x = {0}, y = {0};
    Error ignored;

    if (store_parse_location(a, uri, &x, &ignored) != OK || store_parse_location(a, prefix, &y, &ignored) != OK || x.file != y.file)
        return false;
    Str in = x.file ? x.path : x.key, at = y.file ? y.path : y.key;
    if (!x.file && !str_eq(x.bucket, y.bucket))
        return false;
    while (at.n > 0 && at.p[at.n - 1] == '/')
        at.n--;
    return at.n == 0 || (str_starts(in, at) && (in.n == at.n || in.p[at.n] == '/'));
}

static Status file_allowed(const SvcCall *c, const Location *l, Error *err)
{
    Str root = c->ctx->file_root;

    if (c->who->kind != PR_ROOT && c->who->kind != PR_SYSTEM)
        return FAIL(err, E_DENIED, "file: locations are for the account root only");
    bool inside = root.n > 0 && str_starts(l->path, root)
               && (l->path.n == root.n || root.p[root.n - 1] == '/' || l->path.p[root.n] == '/');
    if (!inside || str_find(str_cat(c->a, l->path, S("/")), S("/../")) >= 0)
        return FAIL(err, E_INVALID, "location '" STR_FMT "' points outside of the warehouse: it is not under iceberg.file_root", STR_ARG(l->path));
    return OK;
}

static Status object_allowed(const SvcCall *c, Action act, const Location *l, Error *err)
{
    BucketInfo b = {0};
    Ask ask = { .action = act, .api = c->api, .bucket = l->bucket, .key = l->key };

    TRY(access_check(c->ctx->access, c->a, c->who, &ask, err));
    if (store_bucket_get(c->ctx->store, c->a, l->bucket, &b, err) == E_NOT_FOUND)
        return FAIL(err, E_INVALID, "location points outside of the warehouse: bucket '" STR_FMT "' does not exist", STR_ARG(l->bucket));
    return OK;
}

/* A place, and what one wants to do there. */
static Status place_allowed(const SvcCall *c, Action act, Str uri, Error *err)
{
    Location l = {0};

    TRY(store_parse_location(c->a, uri, &l, err));
    if (l.file)
        return file_allowed(c, &l, err);
    TRY(object_allowed(c, act, &l, err));
    return act == ACT_OBJECT_PUT ? lf_location_allowed(c->ctx->access, c->a, c->who, uri, err) : OK;
}

Status tables_readable(const SvcCall *c, Str uri, Error *err) { return place_allowed(c, ACT_OBJECT_GET, uri, err); }

static Status taken(const SvcCall *c, Str uri, const CatRelation *r, const char *how, Error *err)
{
    return FAIL(err, E_INVALID, "location '" STR_FMT "' %s the storage of " STR_FMT, STR_ARG(uri), how,
                STR_ARG(cat_display_name(c->a, r->namespace, r->name)));
}

Status tables_location_allowed(const SvcCall *c, Str uri, int64_t self, Error *err)
{
    CatRelation r = {0};

    if (tables_is_staged_storage(c, uri))
        return OK;
    TRY(place_allowed(c, ACT_OBJECT_PUT, uri, err));
    Status s = cat_relation_by_location(c->ctx->catalog, c->a, uri, &r, err);
    if (s == OK && r.id != self)
        return taken(c, uri, &r, "lies inside", err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    s = cat_relation_below(c->ctx->catalog, c->a, uri, &r, err);
    if (s == OK && r.id != self)
        return taken(c, uri, &r, "holds", err);
    return s == E_NOT_FOUND ? OK : s;
}

Status tables_view_location_allowed(const SvcCall *c, Str uri, Error *err)
{
    CatRelation r = {0};
    CatMview v = {0};

    TRY(place_allowed(c, ACT_OBJECT_PUT, uri, err));
    Status s = cat_relation_by_location(c->ctx->catalog, c->a, uri, &r, err);
    if (s == OK)
        TRY(tables_ask(c, ACT_WRITE_DATA, &r, NULL, err));
    else if (s != E_NOT_FOUND)
        return s;
    s = cat_relation_below(c->ctx->catalog, c->a, uri, &r, err);            /* a managed one comes first */
    if (s == OK && r.kind == REL_MVIEW && cat_mview_get(c->ctx->catalog, c->a, r.id, &v, err) == OK && v.managed)
        return taken(c, uri, &r, "holds", err);
    return s == E_NOT_FOUND ? OK : s;
}

Status tables_location_shareable(const SvcCall *c, Str uri, Error *err)
{
    CatRelation r = {0};

    TRY(place_allowed(c, ACT_OBJECT_PUT, uri, err));
    Status s = cat_relation_by_location(c->ctx->catalog, c->a, uri, &r, err);
    bool same = s == OK && tables_within(c->a, r.location, uri) && tables_within(c->a, uri, r.location);
    if (same && r.kind == REL_MVIEW)                      /* file: places have no object rights to be refused by */
        return tables_ask(c, ACT_WRITE_DATA, &r, NULL, err);
    return tables_location_allowed(c, uri, same ? r.id : 0, err);
}

Status tables_metadata_allowed(const SvcCall *c, Str file, Str location, int64_t self, Error *err)
{
    CatRelation r = {0};

    if (tables_within(c->a, file, location))
        return OK;
    TRY(place_allowed(c, ACT_OBJECT_PUT, file, err));
    Status s = cat_relation_by_location(c->ctx->catalog, c->a, file, &r, err);
    if (s == OK && r.id != self)
        return taken(c, file, &r, "lies inside", err);
    return s == E_NOT_FOUND ? OK : s;
}

/* Properties that send files elsewhere are asked about when they change: writers follow them without asking again. */
Status tables_paths_allowed(const SvcCall *c, const IceMetadata *base, const IceMetadata *next, int64_t self, Error *err)
{
    static const char *const keys[] = { "write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path" };

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        Str key = str_c(keys[i]), path = props_get(&next->properties, key, (Str){0});
        bool same = base && str_eq(base->location, next->location) && str_eq(path, props_get(&base->properties, key, (Str){0}));
        if (path.n > 0 && !same && !tables_within(c->a, path, next->location))
            TRY_CTX(tables_location_allowed(c, path, self, err), err, "%s", keys[i]);
    }
    return OK;
}

/* ---- the catalog's own choice ---------------------------------------------------------------------------------------- */

static Status ensure_bucket(const SvcCall *c, Str name, Error *err)
{
    BucketInfo b = {0};
    Status s = store_bucket_get(c->ctx->store, c->a, name, &b, err);
    if (s != E_NOT_FOUND)
        return s;
    b = (BucketInfo){ .name = name, .owner = cat_account(c->ctx->catalog), .region = cat_region(c->ctx->catalog), .created_ms = clock_ms() };
    s = store_bucket_create(c->ctx->store, &b, err);
    return s == E_EXISTS ? OK : s;
}

static Str without_slash(Str uri)
{
    while (uri.n > 0 && uri.p[uri.n - 1] == '/')
        uri.n--;
    return uri;
}

static bool is_uri(Str bucket) { return str_chr(bucket, ':') >= 0; }

static Status ensure_base(const SvcCall *c, Str bucket, Error *err)
{
    Location l = { .bucket = bucket };

    if (is_uri(bucket))
        TRY(store_parse_location(c->a, bucket, &l, err));
    return l.file ? OK : ensure_bucket(c, l.bucket, err);
}

static Status base_of(const SvcCall *c, const CatWarehouse *w, const CatNamespace *ns, Str *ret, Error *err)
{
    Str given = props_get(&ns->props, S("location"), (Str){0});
    Str bucket = c->ctx->warehouse_bucket.n > 0 ? c->ctx->warehouse_bucket : w->bucket;
    Str folder = folder_name(c->a, cat_display_name(c->a, ns->name, (Str){0}));

    if (given.n > 0)
        *ret = without_slash(given);
    else if (is_uri(bucket))
        *ret = str_fmt(c->a, STR_FMT "/" STR_FMT, STR_ARG(without_slash(bucket)), STR_ARG(folder));
    else
        *ret = str_fmt(c->a, "s3://" STR_FMT "/" STR_FMT ".db", STR_ARG(bucket), STR_ARG(folder));
    return given.n > 0 ? OK : ensure_base(c, bucket, err);
}

Status svc_warehouse_base(const SvcCall *c, Str *ret, Error *err)
{
    CatWarehouse w = {0};

    TRY(cat_warehouse_get(c->ctx->catalog, c->a, (Str){0}, &w, err));
    Str bucket = c->ctx->warehouse_bucket.n > 0 ? c->ctx->warehouse_bucket : w.bucket;
    *ret = is_uri(bucket) ? without_slash(bucket) : str_cat(c->a, S("s3://"), bucket);
    return OK;
}

/* A place is used again only when nobody keeps files there: a renamed table keeps its old place. */
Status tables_default_location(const SvcCall *c, const CatNamespace *ns, Str name, Str uuid, Str *ret, Error *err)
{
    CatWarehouse w = {0};
    CatRelation r = {0};
    Str base = {0};

    TRY(cat_warehouse_get(c->ctx->catalog, c->a, ns->catalog, &w, err));
    if (str_eq(w.kind, S("table_bucket")))
        return tables_private_bucket(c, uuid, ret, err);
    TRY(base_of(c, &w, ns, &base, err));
    Str place = str_fmt(c->a, STR_FMT "/" STR_FMT, STR_ARG(base), STR_ARG(folder_name(c->a, name)));
    bool used = cat_relation_by_location(c->ctx->catalog, c->a, place, &r, err) == OK
             || cat_relation_below(c->ctx->catalog, c->a, place, &r, err) == OK;
    *ret = used ? str_fmt(c->a, STR_FMT "-" STR_FMT, STR_ARG(place), STR_ARG(str_sub(uuid, 0, 8))) : place;
    return tables_location_allowed(c, *ret, 0, err);
}
