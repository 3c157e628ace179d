/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - the verbs on tables but for the commit: create, load, list, drop, rename, register.
 *
 * A table is a row of the catalog that points at a metadata file.  The file is written first and the row second, in one
 * compare-and-swap; when the second fails for sure, the file is removed again. */
#include "service/tablebuckets.h"
#include "service/tables_int.h"

Status tables_get(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err)
{
    TRY(cat_relation_get(c->ctx->catalog, c->a, name->catalog, name->namespace, name->name, ret, err));
    if (ret->kind != REL_VIEW && ret->kind != REL_EXTERNAL)
        return OK;
    (void)FAIL(err, E_NOT_FOUND, "Table does not exist: " STR_FMT, STR_ARG(cat_display_name(c->a, name->namespace, name->name)));
    return tables_kind(err, "NoSuchTableException");
}

Status tables_missing(const SvcCall *c, const SvcName *name, Status s, Error *err)
{
    Error denied;

    if (s != E_NOT_FOUND || tables_ask(c, ACT_READ_METADATA, NULL, name, &denied) != E_DENIED)
        return s;
    *err = denied;
    return E_DENIED;
}

Status tables_find(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err) { return tables_missing(c, name, tables_get(c, name, ret, err), err); }

Status tables_must_be_free(const SvcCall *c, const SvcName *name, RelKind wanted, Error *err)
{
    CatRelation r = {0};
    Status s = cat_relation_get(c->ctx->catalog, c->a, name->catalog, name->namespace, name->name, &r, err);
    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    int view = wanted == REL_VIEW, old_view = r.kind == REL_VIEW;
    const char *what = view && old_view ? "View already exists" : view ? "Table with same name already exists"
                     : old_view ? "View with same name already exists" : "Table already exists";
    return FAIL(err, E_EXISTS, "%s: " STR_FMT, what, STR_ARG(cat_display_name(c->a, name->namespace, name->name)));
}

Status svc_table_load(const SvcCall *c, const SvcName *name, SvcTable *ret, Error *err)
{
    TRY(tables_find(c, name, &ret->relation, err));
    TRY(tables_ask(c, ACT_READ_METADATA, &ret->relation, name, err));
    TRY(tables_ask(c, ACT_READ_DATA, &ret->relation, name, err));
    TRY(lf_whole_table(c->ctx->access, c->a, c->who, &ret->relation, err));      /* metadata names every column, and leads to files that hold them */
    TRY(tables_has_metadata(&ret->relation, err));
    TRY(ice_metadata_read(c->a, c->ctx->store, ret->relation.metadata_location, &ret->metadata, err));
    return cat_metadata_keeps_place(c->ctx->catalog, c->a, &ret->relation, ret->metadata, err);
}

Status svc_table_exists(const SvcCall *c, const SvcName *name, Error *err)
{
    CatRelation r = {0};
    TRY(tables_find(c, name, &r, err));
    return tables_ask(c, ACT_READ_METADATA, &r, name, err);
}

Status svc_table_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err)
{
    TRY(tables_ask_list(c, catalog, ns, err));
    return tables_list(c, catalog, ns, 1 << REL_TABLE | 1 << REL_MVIEW, page, ret, err);
}

/* ---- create ----------------------------------------------------------------------------------------------------------- */

static CatRelation new_relation(const SvcCall *c, const SvcName *n, RelKind kind, Str uuid, Str location, Str metadata_location)
{
    return (CatRelation){ .catalog = n->catalog, .namespace = n->namespace, .name = n->name, .kind = kind, .uuid = uuid,
                          .location = location, .metadata_location = metadata_location, .owner = principal_owner(c->who) };
}

static Status publish_new(const SvcCall *c, const SvcName *name, IceMetadata *m, SvcTable *ret, Error *err)
{
    Str file = ice_metadata_next_location(c->a, m, (Str){0});
    CatRelation r = new_relation(c, name, REL_TABLE, m->uuid, m->location, file);
    CatChange ch = { .kind = CH_CREATE, .relation = &r };
    Error ignored;

    TRY(tables_metadata_allowed(c, file, m->location, 0, err));
    TRY(ice_metadata_write(c->a, c->ctx->store, m, file, err));
    Status s = lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err);
    if (s != OK && s != E_UNKNOWN)
        (void)!store_delete(c->ctx->store, file, &ignored);
    TRY(s);
    TRY(cat_relation_by_id(c->ctx->catalog, c->a, r.id, &ret->relation, err));
    ret->metadata = m;
    return OK;
}

static Status plan_new(const SvcCall *c, const SvcNewTable *t, IceMetadata **ret, Error *err)
{
    CatNamespace ns = {0};
    IceNewTable n = { .schema = t->schema, .spec = t->spec, .order = t->order, .location = t->location,
                      .properties = t->properties, .format_version = 2, .uuid = uuid_v4(c->a) };

    TRY(cat_namespace_get(c->ctx->catalog, c->a, t->name.catalog, t->name.namespace, &ns, err));
    TRY(tables_must_be_free(c, &t->name, REL_TABLE, err));
    if (n.location.n == 0)
        TRY(tables_default_location(c, &ns, t->name.name, n.uuid, &n.location, err));
    else
        TRY(tables_location_allowed(c, n.location, 0, err));
    TRY(tables_bucket_location(c, t->name.catalog, n.location, err));
    while (n.location.n > 1 && n.location.p[n.location.n - 1] == '/')
        n.location.n--;
    TRY(ice_metadata_new(c->a, &n, ret, err));
    return tables_paths_allowed(c, NULL, *ret, 0, err);
}

Status svc_table_create(const SvcCall *c, const SvcNewTable *t, SvcTable *ret, Error *err)
{
    IceMetadata *m = NULL;

    TRY(tables_check_name(&t->name, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, &t->name, err));
    TRY(plan_new(c, t, &m, err));
    if (!t->stage)
        return publish_new(c, &t->name, m, ret, err);
    ret->relation = new_relation(c, &t->name, REL_TABLE, m->uuid, m->location, (Str){0});
    ret->metadata = m;
    return OK;
}

/* ---- drop ---------------------------------------------------------------------------------------------------------------- */

/* What the metadata reaches below the table's own storage; unreadable metadata reaches nothing. */
static void own_files(const SvcCall *c, const CatRelation *r, StrVec *ret)
{
    IceMetadata *m = NULL;
    Map files = map_new(c->a);
    Error ignored;

    if (ice_metadata_read(c->a, c->ctx->store, r->metadata_location, &m, &ignored) != OK)
        return;
    if (ice_reachable(c->a, c->ctx->store, m, r->metadata_location, &files, &ignored) != OK)
        return;
    for (size_t i = 0; i < files.n; i++)
        if (tables_within(c->a, files.entries[i].key, r->location))
            vec_push(c->a, ret, files.entries[i].key);
}

/* The row is gone: whoever else keeps files there now (a table registered twice) keeps them. */
static void delete_files(const SvcCall *c, const StrVec *files)
{
    CatRelation other = {0};
    Error ignored;

    for vec_each(Str, f, files) {
        Status s = cat_relation_by_location(c->ctx->catalog, c->a, *f, &other, &ignored);
        if (s == E_NOT_FOUND || (s == OK && other.kind == REL_VIEW))
            (void)!store_delete(c->ctx->store, *f, &ignored);
    }
}

Status svc_table_drop(const SvcCall *c, const SvcName *name, SvcFiles files, Error *err)
{
    CatRelation r = {0};
    StrVec doomed = {0};

    TRY(tables_find(c, name, &r, err));
    TRY(tables_ask(c, ACT_DROP, &r, name, err));
    if (files == SVC_PURGE_FILES)
        own_files(c, &r, &doomed);
    Str arn = cat_relation_arn(c->ctx->catalog, c->a, &r);
    CatChange ch[] = { { .kind = CH_DROP, .relation = &r }, { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_POLICY), .doc_key = arn },
                       { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_CONFIG), .doc_key = arn },
                       { .kind = CH_DOC, .doc_kind = S(DOC_S3TABLES_STATUS), .doc_key = arn } };
    TRY(lf_commit(c->ctx->access, c->a, c->who, ch, svc_is_table_bucket(r.catalog) ? COUNT_OF(ch) : 1, err));
    if (svc_is_table_bucket(r.catalog))
        tables_drop_private_bucket(c, r.location);
    else
        delete_files(c, &doomed);
    return OK;
}

Status svc_table_unregister(const SvcCall *c, const SvcName *name, SvcTable *ret, Error *err)
{
    TRY(tables_find(c, name, &ret->relation, err));
    TRY(tables_ask(c, ACT_DROP, &ret->relation, name, err));
    if (svc_is_table_bucket(name->catalog))
        return FAIL(err, E_UNSUPPORTED, "a table in a table bucket cannot be unregistered: its storage goes with its name");
    TRY(ice_metadata_read(c->a, c->ctx->store, ret->relation.metadata_location, &ret->metadata, err));
    CatChange ch = { .kind = CH_DROP, .relation = &ret->relation, .expected = ret->relation.metadata_location };
    return lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err);
}

/* ---- rename ---------------------------------------------------------------------------------------------------------------- */

Status svc_table_rename(const SvcCall *c, const SvcName *from, const SvcName *to, Error *err)
{
    CatRelation r = {0};

    TRY(tables_check_name(to, err));
    if (!str_eq(from->catalog, to->catalog))
        return FAIL(err, E_UNSUPPORTED, "a table cannot be renamed into another catalog");
    TRY(tables_find(c, from, &r, err));
    TRY(tables_ask(c, ACT_RENAME, &r, from, err));
    TRY(tables_ask(c, ACT_CREATE, NULL, to, err));
    CatChange ch = { .kind = CH_RENAME, .relation = &r, .new_namespace = to->namespace, .new_name = to->name };
    return lf_commit(c->ctx->access, c->a, c->who, &ch, 1, err);
}

/* ---- register ---------------------------------------------------------------------------------------------------------------- */

static bool is_metadata_name(Str s)
{
    return str_ends(s, S(".metadata.json")) || str_ends(s, S(".metadata.json.gz")) || str_ends(s, S(".gz.metadata.json"));
}

static Status read_foreign(const SvcCall *c, Str location, IceMetadata **ret, Error *err)
{
    if (!is_metadata_name(location))
        return FAIL(err, E_INVALID, "'" STR_FMT "' does not name a metadata file (.metadata.json)", STR_ARG(location));
    TRY(tables_readable(c, location, err));
    return ice_metadata_read(c->a, c->ctx->store, location, ret, err);
}

static Status put_registered(const SvcCall *c, const SvcName *name, CatRelation *old, const IceMetadata *m, Str location, Error *err)
{
    CatRelation r = new_relation(c, name, REL_TABLE, m->uuid, m->location, location);
    CatChange ch[2] = { { .kind = CH_DROP, .relation = old }, { .kind = CH_CREATE, .relation = &r } };
    CatChange swap = { .kind = CH_SWAP, .relation = old, .next = location, .new_location = m->location };

    if (!old)
        return lf_commit(c->ctx->access, c->a, c->who, &ch[1], 1, err);
    ch[0].expected = swap.expected = old->metadata_location;
    if (str_eq(old->uuid, m->uuid))
        return lf_commit(c->ctx->access, c->a, c->who, &swap, 1, err);
    return lf_commit(c->ctx->access, c->a, c->who, ch, 2, err);
}

Status svc_table_register(const SvcCall *c, const SvcName *name, Str metadata_location, SvcRegister how, SvcTable *ret, Error *err)
{
    CatRelation old = {0};
    CatNamespace ns = {0};

    TRY(tables_check_name(name, err));
    TRY(cat_namespace_get(c->ctx->catalog, c->a, name->catalog, name->namespace, &ns, err));
    int over = how == SVC_REGISTER_OVER && tables_get(c, name, &old, err) == OK;
    TRY(tables_ask(c, ACT_REGISTER, over ? &old : NULL, name, err));
    if (!over)
        TRY(tables_must_be_free(c, name, REL_TABLE, err));
    TRY(read_foreign(c, metadata_location, &ret->metadata, err));
    if (!over)
        TRY(tables_bucket_location(c, name->catalog, ret->metadata->location, err));
    TRY(tables_location_shareable(c, ret->metadata->location, err));
    TRY(tables_paths_allowed(c, NULL, ret->metadata, 0, err));
    TRY(put_registered(c, name, over ? &old : NULL, ret->metadata, metadata_location, err));
    return tables_get(c, name, &ret->relation, err);
}

/* ---- storage ------------------------------------------------------------------------------------------------------------------- */

void svc_table_prefixes(const SvcCall *c, const SvcTable *t, StrVec *ret)
{
    static const char *const keys[] = { "write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path" };
    Error ignored;

    vec_push(c->a, ret, t->metadata->location);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        Str path = props_get(&t->metadata->properties, str_c(keys[i]), (Str){0});
        if (path.n > 0 && !tables_within(c->a, path, t->metadata->location)
            && tables_location_allowed(c, path, t->relation.id, &ignored) == OK)
            vec_push(c->a, ret, path);
    }
}
