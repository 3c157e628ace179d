/* SPDX-License-Identifier: Apache-2.0 */
/* relation.c - reading tables, views and materialized views: by name, id, uuid, storage location.
 *
 * A location is kept without slashes at its end, so that the relation of an object is found by exact look-ups of the object's own
 * prefixes at '/' boundaries: `s3://b/t` never matches `s3://b/t2`. */
#include "catalog/catalog_int.h"

#include <stdio.h>

Str cat_trimmed_location(Str uri)
{
    while (uri.n > 0 && uri.p[uri.n - 1] == '/')
        uri.n--;
    return uri;
}

Str cat_location_key(Arena *a, Str uri)
{
    Location l = {0};
    Error ignored;

    if (store_parse_location(a, uri, &l, &ignored) != OK)
        return cat_trimmed_location(uri);
    Str key = l.file ? str_cat(a, S("file:"), l.path) : store_s3_uri(a, l.bucket, l.key);
    return cat_trimmed_location(key);
}

Status cat_error_kind(Error *err, const char *kind)
{
    snprintf(err->kind, sizeof err->kind, "%s", kind);
    return err->code;
}

static Status no_table(Error *err, Arena *a, Str ns, Str name)
{
    (void)FAIL(err, E_NOT_FOUND, "Table does not exist: " STR_FMT, STR_ARG(cat_display_name(a, ns, name)));
    return cat_error_kind(err, "NoSuchTableException");
}

void cat_relation_row(Query *q, Arena *a, CatRelation *r)
{
    r->id = cq_i64(q);
    r->catalog = cq_str(q, a);
    r->namespace = cq_str(q, a);
    r->name = cq_str(q, a);
    r->kind = (RelKind)cq_i64(q);
    r->uuid = cq_str(q, a);
    r->metadata_location = cq_str(q, a);
    r->version_token = cq_str(q, a);
    r->location = cq_str(q, a);
    r->owner = cq_str(q, a);
    r->created_ms = cq_i64(q);
    r->updated_ms = cq_i64(q);
    r->extra = cq_doc(q, a);
    r->view_token = cq_str(q, a);
    r->resource_id = cq_str(q, a);
    r->version = cq_i64(q);
}

/* One row or E_NOT_FOUND without a text. */
static Status one(Query *q, Arena *a, CatRelation *ret)
{
    if (cq_next(q)) {
        cat_relation_row(q, a, ret);
        return cq_status(q);
    }
    return cq_status(q) == OK ? E_NOT_FOUND : cq_status(q);
}

Status cat_relation_get(Catalog *c, Arena *a, Str catalog, Str ns, Str name, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE catalog = ? AND namespace = ? AND name = ?", err);
    cq_text(&q, catalog);
    cq_text(&q, ns);
    cq_text(&q, name);
    Status s = one(&q, a, ret);
    if (s == E_NOT_FOUND)
        return no_table(err, a, ns, name);
    return s;
}

Status cat_relation_by_id(Catalog *c, Arena *a, int64_t id, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE id = ?", err);
    cq_int(&q, id);
    Status s = one(&q, a, ret);
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "no relation has the id %lld", (long long)id) : s;
}

Status cat_relation_by_uuid(Catalog *c, Arena *a, Str uuid, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE uuid = ? ORDER BY id LIMIT 1", err);
    cq_text(&q, uuid);
    Status s = one(&q, a, ret);
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "no relation has the UUID " STR_FMT, STR_ARG(uuid)) : s;
}

Status cat_relation_list(Catalog *c, Arena *a, Str catalog, Str ns, int kind_mask, CatPage page, CatRelations *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    *ret = (CatRelations){0};
    TRY(cat_reader_take(c, &db, err));
    TRY(cat_namespace_must_exist(db, catalog, ns, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE catalog = ? AND namespace = ? AND name > ?"
                 " AND ((1 << kind) & ?) <> 0 ORDER BY name LIMIT ?", err);
    cq_text(&q, catalog);
    cq_text(&q, ns);
    cq_text(&q, page.after);
    cq_int(&q, kind_mask);
    cq_int(&q, page.max > 0 ? page.max : -1);
    while (cq_next(&q)) {
        CatRelation r = {0};
        cat_relation_row(&q, a, &r);
        vec_push(a, ret, r);
    }
    return cq_status(&q);
}

/* Two relations may share a location (one file registered twice): the managed one counts. */
static Status at_location(Db *db, Arena *a, Str location, CatRelation *ret, Error *err)
{
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r LEFT JOIN mview m ON m.relation_id = r.id"
                 " WHERE r.location_key = ? ORDER BY coalesce(m.managed, 0) DESC, r.id LIMIT 1", err);
    cq_text(&q, location);
    return one(&q, a, ret);
}

/* Where the part of a location begins that relations divide among them: after "s3://" or "file:". */
static size_t root_end(Str key)
{
    ptrdiff_t scheme = str_find(key, S("://"));
    return scheme >= 0 ? (size_t)scheme + 3 : (size_t)(str_chr(key, ':') + 1);
}

Str cat_parent_location(Str key)
{
    ptrdiff_t slash = str_rchr(key, '/');
    Str up = slash < 0 ? (Str){0} : cat_trimmed_location(str_sub(key, 0, (size_t)slash));
    return up.n > root_end(key) ? up : (Str){0};
}

Status cat_relation_by_location(Catalog *c, Arena *a, Str uri, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    for (Str at = cat_location_key(a, uri); at.n > 0; at = cat_parent_location(at)) {
        Status s = at_location(db, a, at, ret, err);
        if (s != E_NOT_FOUND)
            return s;
    }
    return FAIL(err, E_NOT_FOUND, "no relation keeps its files at '" STR_FMT "'", STR_ARG(uri));
}

Status cat_relation_below(Catalog *c, Arena *a, Str uri, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;
    Str base = cat_location_key(a, uri);

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r LEFT JOIN mview m ON m.relation_id = r.id"
                 " WHERE r.location_key >= ? AND r.location_key < ? ORDER BY coalesce(m.managed, 0) DESC, r.id LIMIT 1", err);
    cq_text(&q, str_cat(a, base, S("/")));
    cq_text(&q, str_cat(a, base, S("0")));              /* '0' follows '/' */
    Status s = one(&q, a, ret);
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "no relation keeps its files below '" STR_FMT "'", STR_ARG(uri)) : s;
}

Status cat_relation_extra(Catalog *c, int64_t id, const Json *extra, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    {
        QUERY(q, db, "UPDATE relation SET extra = ?2 WHERE id = ?1", err);
        cq_int(&q, id);
        cq_json(&q, a, extra);
        TRY(cq_run(&q));
        if (cq_changed(&q) == 0)
            return FAIL(err, E_NOT_FOUND, "no relation has the id %lld", (long long)id);
    }
    return cat_writer_commit(&db, err);
}

/* ---- ARNs of tables ------------------------------------------------------------------------------------------------ */

#define S3_CATALOG "s3tablescatalog/"

Str cat_relation_arn(const Catalog *c, Arena *a, const CatRelation *r)
{
    ptrdiff_t at = str_find(r->catalog, S(S3_CATALOG));

    if (at < 0)
        return str_fmt(a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":table/" STR_FMT "/" STR_FMT, STR_ARG(c->region), STR_ARG(c->account),
                       STR_ARG(cat_display_name(a, r->namespace, (Str){0})), STR_ARG(r->name));
    return str_fmt(a, "arn:aws:s3tables:" STR_FMT ":" STR_FMT ":bucket/" STR_FMT "/table/" STR_FMT, STR_ARG(c->region), STR_ARG(c->account),
                   STR_ARG(str_from(r->catalog, (size_t)at + strlen(S3_CATALOG))), STR_ARG(r->resource_id));
}

static Status by_resource(Catalog *c, Arena *a, Str id, CatRelation *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE resource_id = ? AND instr(catalog, '" S3_CATALOG "') > 0 LIMIT 1", err);
    cq_text(&q, id);
    return one(&q, a, ret);
}

Status cat_relation_by_arn(Catalog *c, Arena *a, Str arn, CatRelation *ret, Error *err)
{
    ptrdiff_t at = str_find(arn, S("/table/"));
    Status s = at < 0 ? E_NOT_FOUND : by_resource(c, a, str_from(arn, (size_t)at + strlen("/table/")), ret, err);

    if (s == OK && !str_eq(cat_relation_arn(c, a, ret), arn))
        s = E_NOT_FOUND;
    return s == E_NOT_FOUND ? FAIL(err, E_NOT_FOUND, "no table has the ARN " STR_FMT, STR_ARG(arn)) : s;
}

/* ---- the place of files ------------------------------------------------------------------------------------------------ */

static bool below(Str key, Str place) { return str_starts(key, place) && (key.n == place.n || key.p[place.n] == '/'); }

static Status path_is_free(Catalog *c, Arena *a, const CatRelation *r, Str path, Error *err)
{
    CatRelation owner = {0};

    if (!path.n || below(cat_location_key(a, path), cat_location_key(a, r->location)))
        return OK;
    Status s = cat_relation_by_location(c, a, path, &owner, err);
    if (s != OK || owner.id == r->id || owner.kind == REL_VIEW)
        return s == E_NOT_FOUND ? OK : s;
    return FAIL(err, E_INVALID, "the metadata of " STR_FMT " sends files to '" STR_FMT "', the storage of " STR_FMT, STR_ARG(cat_display_name(a, r->namespace, r->name)), STR_ARG(path),
                STR_ARG(cat_display_name(a, owner.namespace, owner.name)));
}

Status cat_metadata_keeps_place(Catalog *c, Arena *a, const CatRelation *r, const IceMetadata *m, Error *err)
{
    static const char *const paths[] = { "write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path" };

    if (!r->location.n)
        return OK;
    if (!str_eq(m->location, r->location) && !str_eq(cat_location_key(a, m->location), cat_location_key(a, r->location)))
        return FAIL(err, E_INVALID, "the metadata of " STR_FMT " was changed: it says that the table lies at '" STR_FMT "', the catalog keeps it at '" STR_FMT "'",
                    STR_ARG(cat_display_name(a, r->namespace, r->name)), STR_ARG(m->location), STR_ARG(r->location));
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        TRY(path_is_free(c, a, r, props_get(&m->properties, str_c(paths[i]), (Str){0}), err));
    return OK;
}

/* ---- integrity ------------------------------------------------------------------------------------------------------- */

bool cat_intact(const CatRelation *r) { return r->kind != REL_MVIEW || str_eq(r->version_token, r->view_token); }

Status cat_intact_check(const CatRelation *r, Error *err)
{
    if (cat_intact(r))
        return OK;
    (void)FAIL(err, E_QUARANTINED, "Materialized view " STR_FMT " integrity check failed: versionId (" STR_FMT ") != viewVersionToken (" STR_FMT ")."
               " Please recreate the materialized view or run a full refresh", STR_ARG(r->name), STR_ARG(r->version_token), STR_ARG(r->view_token));
    error_detail(err, "Materialized view integrity check failed for (catalog:" STR_FMT "$schema:" STR_FMT ", " STR_FMT "): versionId (" STR_FMT ") != viewVersionToken ("
                 STR_FMT ")", STR_ARG(r->catalog), STR_ARG(r->namespace), STR_ARG(r->name), STR_ARG(r->version_token), STR_ARG(r->view_token));
    error_hint(err, "REFRESH MATERIALIZED VIEW … FULL computes the view anew and repairs it.");
    return cat_error_kind(err, "MaterializedViewIntegrity");
}
