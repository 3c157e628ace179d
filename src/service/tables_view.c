/* SPDX-License-Identifier: Apache-2.0 */
/* tables_view.c - the verbs on Iceberg views: a name, a metadata file, versions of a definition.  Like tables, without data. */
#include "service/tables_int.h"

Status tables_get_view(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err)
{
    Status s = cat_relation_get(c->ctx->catalog, c->a, name->catalog, name->namespace, name->name, ret, err);
    if (s == OK && ret->kind == REL_VIEW)
        return OK;
    if (s != OK && s != E_NOT_FOUND)
        return s;
    (void)FAIL(err, E_NOT_FOUND, "View does not exist: " STR_FMT, STR_ARG(cat_display_name(c->a, name->namespace, name->name)));
    return tables_kind(err, "NoSuchViewException");
}

Status svc_view_load(const SvcCall *c, const SvcName *name, SvcView *ret, Error *err)
{
    TRY(tables_missing(c, name, tables_get_view(c, name, &ret->relation, err), err));
    TRY(tables_ask(c, ACT_READ_METADATA, &ret->relation, name, err));
    return ice_view_read(c->a, c->ctx->store, ret->relation.metadata_location, &ret->view, err);
}

Status svc_view_exists(const SvcCall *c, const SvcName *name, Error *err)
{
    CatRelation r = {0};
    TRY(tables_get_view(c, name, &r, err));
    return tables_ask(c, ACT_READ_METADATA, &r, name, err);
}

Status svc_view_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err)
{
    TRY(tables_ask_list(c, catalog, ns, err));
    return tables_list(c, catalog, ns, 1 << REL_VIEW, page, ret, err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

/* Writes the file, makes the change, takes the file back when the change surely failed. */
static Status write_and_change(const SvcCall *c, const IceView *v, Str file, CatChange *ch, Error *err)
{
    Error ignored;

    TRY(store_put_new(c->ctx->store, file, json_text(c->a, ice_view_json(c->a, v)), err));
    Status s = lf_commit(c->ctx->access, c->a, c->who, ch, 1, err);
    if (s != OK && s != E_UNKNOWN)
        (void)!store_delete(c->ctx->store, file, &ignored);
    return s;
}

static CatRelation new_view(const SvcCall *c, const SvcName *n, const IceView *v, Str file)
{
    return (CatRelation){ .catalog = n->catalog, .namespace = n->namespace, .name = n->name, .kind = REL_VIEW, .uuid = v->uuid,
                          .location = v->location, .metadata_location = file, .owner = principal_owner(c->who) };
}

static Status plan_view(const SvcCall *c, const SvcNewView *v, IceView **ret, Error *err)
{
    CatNamespace ns = {0};
    Str location = v->location;

    TRY(cat_namespace_get(c->ctx->catalog, c->a, v->name.catalog, v->name.namespace, &ns, err));
    TRY(tables_must_be_free(c, &v->name, REL_VIEW, err));
    if (location.n == 0)
        TRY(tables_default_location(c, &ns, v->name.name, uuid_v4(c->a), &location, err));
    else
        TRY(tables_view_location_allowed(c, location, err));
    while (location.n > 1 && location.p[location.n - 1] == '/')
        location.n--;
    return ice_view_new(c->a, location, v->schema, v->version, &v->properties, clock_ms(), ret, err);
}

Status svc_view_create(const SvcCall *c, const SvcNewView *v, SvcView *ret, Error *err)
{
    TRY(tables_check_name(&v->name, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, &v->name, err));
    TRY(plan_view(c, v, &ret->view, err));
    Str file = ice_view_next_location(c->a, ret->view, (Str){0});
    CatRelation r = new_view(c, &v->name, ret->view, file);
    CatChange ch = { .kind = CH_CREATE, .relation = &r };
    TRY(tables_metadata_allowed(c, file, ret->view->location, 0, err));
    TRY(write_and_change(c, ret->view, file, &ch, err));
    return cat_relation_by_id(c->ctx->catalog, c->a, r.id, &ret->relation, err);
}

static Status commit_once(const SvcCall *c, const SvcName *name, const Json *rqs, const Json *ups, SvcView *ret, int *lost, Error *err)
{
    IceView *base = NULL;
    int changed = 0;

    TRY(tables_get_view(c, name, &ret->relation, err));
    TRY(tables_ask(c, ACT_ALTER, &ret->relation, name, err));
    TRY(ice_view_read(c->a, c->ctx->store, ret->relation.metadata_location, &base, err));
    TRY(ice_view_apply(c->a, base, rqs, ups, clock_ms(), &ret->view, &changed, err));
    if (!changed)
        return OK;
    if (!str_eq(base->location, ret->view->location))
        TRY(tables_view_location_allowed(c, ret->view->location, err));
    Str file = ice_view_next_location(c->a, ret->view, ret->relation.metadata_location);
    TRY(tables_metadata_allowed(c, file, ret->view->location, ret->relation.id, err));
    CatChange ch = { .kind = CH_SWAP, .relation = &ret->relation, .expected = ret->relation.metadata_location, .next = file,
                     .new_location = ret->view->location };
    Status s = write_and_change(c, ret->view, file, &ch, err);
    *lost = s == E_CONFLICT;
    if (s == OK)
        ret->relation.metadata_location = file;
    return s;
}

Status svc_view_commit(const SvcCall *c, const SvcName *name, const Json *requirements, const Json *updates, SvcView *ret, Error *err)
{
    Status s = OK;

    TRY(tables_check_name(name, err));
    for (int round = 0; round < COMMIT_ATTEMPTS; round++) {
        int lost = 0;
        s = commit_once(c, name, requirements, updates, ret, &lost, err);
        if (s == OK || !lost)
            return s;
    }
    return s;
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

Status svc_view_drop(const SvcCall *c, const SvcName *name, Error *err)
{
    CatRelation r = {0};

    TRY(tables_get_view(c, name, &r, err));
    TRY(tables_ask(c, ACT_DROP, &r, name, err));
    CatChange ch = { .kind = CH_DROP, .relation = &r };
    TRY(lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err));
    tables_drop_private_bucket(c, r.location);
    return OK;
}

Status svc_view_rename(const SvcCall *c, const SvcName *from, const SvcName *to, Error *err)
{
    CatRelation r = {0};

    TRY(tables_check_name(to, err));
    if (!str_eq(from->catalog, to->catalog))
        return FAIL(err, E_UNSUPPORTED, "a view cannot be renamed into another catalog");
    TRY(tables_get_view(c, from, &r, err));
    TRY(tables_ask(c, ACT_RENAME, &r, from, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, to, err));
    CatChange ch = { .kind = CH_RENAME, .relation = &r, .new_namespace = to->namespace, .new_name = to->name };
    return lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err);
}

Status svc_view_register(const SvcCall *c, const SvcName *name, Str metadata_location, SvcView *ret, Error *err)
{
    CatNamespace ns = {0};

    TRY(tables_check_name(name, err));
    TRY(cat_namespace_get(c->ctx->catalog, c->a, name->catalog, name->namespace, &ns, err));
    TRY(tables_ask(c, ACT_REGISTER, NULL, name, err));
    TRY(tables_must_be_free(c, name, REL_VIEW, err));
    TRY(tables_readable(c, metadata_location, err));
    TRY(ice_view_read(c->a, c->ctx->store, metadata_location, &ret->view, err));
    TRY(tables_view_location_allowed(c, ret->view->location, err));
    CatRelation r = new_view(c, name, ret->view, metadata_location);
    CatChange ch = { .kind = CH_CREATE, .relation = &r };
    TRY(lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err));
    return cat_relation_by_id(c->ctx->catalog, c->a, r.id, &ret->relation, err);
}
