/* SPDX-License-Identifier: Apache-2.0 */
/* tables_glue.c - the verbs that the Glue catalog and S3 Tables need beside those of Iceberg REST.
 *
 * A client that writes metadata files itself commits by moving the pointer: svc_table_point.  Tables that are not Iceberg are relations
 * whose definition is their `extra`.
 * Invariants: (1) a pointer moves only from what its caller saw; (2) metadata that a client wrote names a place where the client may
 * write and manifest lists that it may read. */
#include "service/tablebuckets.h"
#include "service/tables_int.h"

/* ---- any relation ------------------------------------------------------------------------------------------------------- */

Status svc_relation_get(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err)
{
    TRY(tables_missing(c, name, cat_relation_get(c->ctx->catalog, c->a, name->catalog, name->namespace, name->name, ret, err), err));
    return tables_ask(c, ACT_READ_METADATA, ret, name, err);
}

Status svc_relation_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err)
{
    SvcName n = { .catalog = catalog, .namespace = ns };
    TRY(tables_ask(c, ACT_READ_METADATA, NULL, &n, err));
    return tables_list(c, catalog, ns, 1 << REL_TABLE | 1 << REL_VIEW | 1 << REL_MVIEW | 1 << REL_EXTERNAL, page, ret, err);
}

static Status commit_also(const SvcCall *c, const CatChange *first, const SvcAlso *also, Error *err)
{
    size_t n = also ? also->n : 0;
    CatChange *all = arena_array(c->a, CatChange, n + 1);

    all[0] = *first;
    for (size_t i = 0; i < n; i++)
        all[i + 1] = also->p[i];
    return lf_commit(c->ctx->access, c->a, c->who, all, n + 1, err);
}

/* A table that is not Iceberg may lie where other tables do, but not where a managed view does. */
static Status external_place(const SvcCall *c, const Json *extra, Error *err)
{
    Str place = json_get_str(json_get(json_get(extra, "glue"), "StorageDescriptor"), "Location", (Str){0});
    CatRelation r = {0};

    while (place.n > 0 && place.p[place.n - 1] == '/')
        place.n--;
    if (!place.n)
        return OK;
    Status s = cat_relation_by_location(c->ctx->catalog, c->a, place, &r, err);
    if (s == OK && r.kind == REL_MVIEW)
        return tables_ask(c, ACT_WRITE_DATA, &r, NULL, err);
    return s == E_NOT_FOUND ? OK : s;
}

Status svc_relation_extra(const SvcCall *c, const CatRelation *r, const Json *extra, const SvcAlso *also, Error *err)
{
    CatRelation named = *r;
    SvcName n = { r->catalog, r->namespace, r->name };
    CatChange ch = { .kind = CH_EXTRA, .relation = &named, .doc = (Json *)extra, .version = SOME_I64(r->version) };

    TRY(tables_ask(c, r->kind == REL_EXTERNAL ? ACT_ALTER : ACT_ALTER_PROPERTIES, r, &n, err));
    if (r->kind == REL_EXTERNAL)
        TRY(external_place(c, extra, err));
    return commit_also(c, &ch, also, err);
}

/* ---- tables that are not Iceberg ------------------------------------------------------------------------------------------ */

Status svc_external_create(const SvcCall *c, const SvcName *name, const Json *extra, const SvcAlso *also, CatRelation *ret, Error *err)
{
    CatNamespace ns = {0};

    TRY(tables_check_name(name, err));
    TRY(cat_namespace_get(c->ctx->catalog, c->a, name->catalog, name->namespace, &ns, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, name, err));
    TRY(external_place(c, extra, err));
    TRY(tables_must_be_free(c, name, REL_TABLE, err));
    *ret = (CatRelation){ .catalog = name->catalog, .namespace = name->namespace, .name = name->name, .kind = REL_EXTERNAL,
                          .uuid = uuid_v4(c->a), .owner = principal_owner(c->who), .extra = (Json *)extra };
    CatChange ch = { .kind = CH_CREATE, .relation = ret };
    return commit_also(c, &ch, also, err);
}

Status svc_external_drop(const SvcCall *c, const SvcName *name, Error *err)
{
    CatRelation r = {0};

    TRY(cat_relation_get(c->ctx->catalog, c->a, name->catalog, name->namespace, name->name, &r, err));
    TRY(tables_ask(c, ACT_DROP, &r, name, err));
    if (r.kind != REL_EXTERNAL)
        return FAIL(err, E_INVALID, STR_FMT " is an Iceberg table or view", STR_ARG(cat_display_name(c->a, r.namespace, r.name)));
    CatChange ch = { .kind = CH_DROP, .relation = &r };
    return lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err);
}

/* ---- a table without metadata ------------------------------------------------------------------------------------------------ */

Status svc_table_reserve(const SvcCall *c, const SvcName *name, Str location, const Json *extra, CatRelation *ret, Error *err)
{
    CatNamespace ns = {0};
    Str uuid = uuid_v4(c->a);

    TRY(tables_check_name(name, err));
    TRY(cat_namespace_get(c->ctx->catalog, c->a, name->catalog, name->namespace, &ns, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, name, err));
    TRY(tables_must_be_free(c, name, REL_TABLE, err));
    if (location.n > 0)
        TRY(tables_location_allowed(c, location, 0, err));
    else
        TRY(tables_default_location(c, &ns, name->name, uuid, &location, err));
    TRY(tables_bucket_location(c, name->catalog, location, err));
    CatRelation r = { .catalog = name->catalog, .namespace = name->namespace, .name = name->name, .kind = REL_TABLE, .uuid = uuid,
                      .location = location, .owner = principal_owner(c->who), .extra = (Json *)extra };
    CatChange ch = { .kind = CH_CREATE, .relation = &r };
    TRY(lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err));
    return cat_relation_by_id(c->ctx->catalog, c->a, r.id, ret, err);
}

/* ---- a pointer moved by a client that wrote the metadata itself ------------------------------------------------------------ */

static Status as_seen(const SvcPoint *p, const CatRelation *r, Error *err)
{
    if (p->expected.n > 0 && !str_eq(p->expected, r->metadata_location))
        return FAIL(err, E_CONFLICT, "the table's metadata location is " STR_FMT ", not " STR_FMT, STR_ARG(r->metadata_location), STR_ARG(p->expected));
    if (p->token.n > 0 && !str_eq(p->token, r->version_token))
        return FAIL(err, E_CONFLICT, "the table's version token is " STR_FMT ", not " STR_FMT, STR_ARG(r->version_token), STR_ARG(p->token));
    if (p->version.has && p->version.v != r->version)
        return FAIL(err, E_CONFLICT, "the table's version is %lld, not %lld", (long long)r->version, (long long)p->version.v);
    return OK;
}

static bool had_snapshot(const IceMetadata *base, const IceSnapshot *s)
{
    const IceSnapshot *old = base ? ice_snapshot(base, s->id) : NULL;
    return old && str_eq(old->manifest_list, s->manifest_list);
}

/* (2) */
static Status lists_readable(const SvcCall *c, const IceMetadata *base, const IceMetadata *next, Error *err)
{
    for vec_each(IceSnapshot *, s, &next->snapshots) {
        Str list = (*s)->manifest_list;
        if (list.n > 0 && !had_snapshot(base, *s) && !tables_within(c->a, list, next->location))
            TRY_CTX(tables_readable(c, list, err), err, "manifest list of snapshot %lld", (long long)(*s)->id);
    }
    return OK;
}

static bool in_table_bucket(const CatRelation *r) { return svc_is_table_bucket(r->catalog); }

static Status place_allowed(const SvcCall *c, const CatRelation *r, const IceMetadata *base, const IceMetadata *next, Str file, Error *err)
{
    if (in_table_bucket(r) && (!tables_within(c->a, file, r->location) || !tables_within(c->a, next->location, r->location)))
        return FAIL(err, E_INVALID, "The specified metadata location is not valid: the table keeps its files below " STR_FMT, STR_ARG(r->location));
    if (!tables_within(c->a, next->location, r->location) || !tables_within(c->a, r->location, next->location))
        TRY(tables_location_allowed(c, next->location, r->id, err));
    return tables_paths_allowed(c, base, next, r->id, err);
}

static Status read_next(const SvcCall *c, const SvcPoint *p, const CatRelation *r, IceMetadata **ret, Error *err)
{
    IceMetadata *base = NULL;
    Error unreadable;

    if (!tables_within(c->a, p->next, r->location))
        TRY(tables_readable(c, p->next, err));
    TRY(ice_metadata_read(c->a, c->ctx->store, p->next, ret, err));
    if (r->kind == REL_MVIEW && !str_eq((*ret)->uuid, r->uuid))
        return FAIL(err, E_INVALID, "'" STR_FMT "' is the metadata of another table: its UUID is " STR_FMT, STR_ARG(p->next), STR_ARG((*ret)->uuid));
    if (r->metadata_location.n > 0 && ice_metadata_read(c->a, c->ctx->store, r->metadata_location, &base, &unreadable) != OK)
        base = NULL;
    TRY(place_allowed(c, r, base, *ret, p->next, err));
    return lists_readable(c, base, *ret, err);
}

Status svc_table_point(const SvcCall *c, const SvcPoint *p, SvcTable *ret, Error *err)
{
    CatRelation r = {0};

    TRY(tables_get(c, &p->name, &r, err));
    TRY(tables_ask(c, ACT_WRITE_DATA, &r, &p->name, err));
    TRY(as_seen(p, &r, err));
    TRY(read_next(c, p, &r, &ret->metadata, err));
    CatChange ch = { .kind = CH_SWAP, .relation = &r, .expected = r.metadata_location, .next = p->next, .version = SOME_I64(r.version), .doc = (Json *)p->extra,
                     .new_location = in_table_bucket(&r) ? (Str){0} : ret->metadata->location, .new_uuid = ret->metadata->uuid,
                     .past_catalog = p->how == SVC_POINT_PAST_CATALOG };
    TRY(commit_also(c, &ch, &p->also, err));
    return tables_get(c, &p->name, &ret->relation, err);
}
