/* SPDX-License-Identifier: Apache-2.0 */
/* tables_namespace.c - the verbs on namespaces, and the checks of names that all verbs share. */
#include "service/tablebuckets.h"
#include "service/tables_int.h"

#include <stdio.h>

Status tables_kind(Error *err, const char *iceberg_name)
{
    snprintf(err->kind, sizeof err->kind, "%s", iceberg_name);
    return err->code;
}

static Status check_part(Str part, const char *what, Error *err)
{
    if (part.n == 0)
        return FAIL(err, E_INVALID, "Invalid %s: it is empty", what);
    if (part.n > NAME_BYTES_MAX)
        return FAIL(err, E_LIMIT, "Invalid %s: %zu bytes, limit is %d", what, part.n, NAME_BYTES_MAX);
    if (!str_is_utf8(part))
        return FAIL(err, E_INVALID, "Invalid %s: not UTF-8", what);
    for (size_t i = 0; i < part.n; i++)
        if ((unsigned char)part.p[i] < 0x20 || part.p[i] == 0x7F)
            return FAIL(err, E_INVALID, "Invalid %s: it contains a control character", what);
    return OK;
}

Status tables_check_namespace(Str ns, Error *err)
{
    Str head = {0}, rest = ns;
    int levels = 0;

    for (bool more = true; more; levels++) {
        if (levels == LEVELS_MAX)
            return FAIL(err, E_LIMIT, "Invalid namespace: more than %d levels", LEVELS_MAX);
        more = str_cut(rest, 0x1F, &head, &rest);
        TRY(check_part(head, "namespace", err));
    }
    return OK;
}

Status tables_check_name(const SvcName *name, Error *err)
{
    TRY(tables_check_namespace(name->namespace, err));
    TRY(check_part(name->name, "table or view name", err));
    return tables_bucket_name(name, err);
}

Status tables_ask(const SvcCall *c, Action act, const CatRelation *r, const SvcName *name, Error *err)
{
    Ask ask = { .action = act, .api = c->api, .iam = c->iam, .relation = r };
    if (name) {
        ask.catalog = name->catalog;
        ask.namespace = name->namespace;
        ask.name = name->name;
    }
    return access_check(c->ctx->access, c->a, c->who, &ask, err);
}

Status tables_ask_list(const SvcCall *c, Str catalog, Str ns, Error *err)
{
    SvcCall call = *c;
    SvcName n = { .catalog = catalog, .namespace = ns };

    if (!call.iam)
        call.iam = svc_is_table_bucket(catalog) ? "s3tables:ListTables" : "glue:GetTables";
    return tables_ask(&call, ACT_READ_METADATA, NULL, &n, err);
}

static Status ask_namespace(const SvcCall *c, Action act, Str catalog, Str name, Error *err)
{
    SvcName n = { .catalog = catalog, .namespace = name };
    return tables_ask(c, act, NULL, &n, err);
}

/* A page is cut from what the principal may see: an unseen name never shortens it. */
Status tables_list(const SvcCall *c, Str catalog, Str ns, int kind_mask, CatPage page, CatRelations *ret, Error *err)
{
    if (c->who->kind == PR_ROOT)
        return cat_relation_list(c->ctx->catalog, c->a, catalog, ns, kind_mask, page, ret, err);
    TRY(cat_relation_list(c->ctx->catalog, c->a, catalog, ns, kind_mask, (CatPage){ .after = page.after }, ret, err));
    TRY(lf_filter_relations(c->ctx->access, c->a, c->who, ret, err));
    if (page.max && ret->n > (size_t)page.max)
        ret->n = (size_t)page.max;
    return OK;
}

Status svc_namespace_create(const SvcCall *c, Str catalog, Str name, const Props *props, CatNamespace *ret, Error *err)
{
    CatNamespace n = { .catalog = catalog, .name = name, .uuid = uuid_v4(c->a), .created_ms = clock_ms(), .owner = principal_owner(c->who), .props = *props };

    TRY(tables_check_namespace(name, err));
    TRY(tables_bucket_namespace(catalog, name, err));
    TRY(ask_namespace(c, ACT_NAMESPACE_CREATE, catalog, name, err));
    TRY(lf_namespace_create(c->ctx->access, c->a, c->who, &n, err));
    *ret = n;
    return OK;
}

Status svc_namespace_get(const SvcCall *c, Str catalog, Str name, CatNamespace *ret, Error *err)
{
    TRY(ask_namespace(c, ACT_READ_METADATA, catalog, name, err));
    return cat_namespace_get(c->ctx->catalog, c->a, catalog, name, ret, err);
}

Status svc_namespace_list(const SvcCall *c, Str catalog, Str parent, CatPage page, CatNamespaces *ret, Error *err)
{
    TRY(ask_namespace(c, ACT_READ_METADATA, catalog, parent, err));
    if (c->who->kind == PR_ROOT)
        return cat_namespace_list(c->ctx->catalog, c->a, catalog, parent, page, ret, err);
    TRY(cat_namespace_list(c->ctx->catalog, c->a, catalog, parent, (CatPage){ .after = page.after }, ret, err));
    TRY(lf_filter_namespaces(c->ctx->access, c->a, c->who, ret, err));
    if (page.max && ret->n > (size_t)page.max)
        ret->n = (size_t)page.max;
    return OK;
}

Status svc_namespace_drop(const SvcCall *c, Str catalog, Str name, Error *err)
{
    TRY(ask_namespace(c, ACT_NAMESPACE_DROP, catalog, name, err));
    return lf_namespace_delete(c->ctx->access, c->a, catalog, name, err);
}

Status svc_namespace_alter(const SvcCall *c, Str catalog, Str name, SvcPropsChange *ch, Error *err)
{
    TRY(ask_namespace(c, ACT_NAMESPACE_ALTER, catalog, name, err));
    return cat_namespace_update(c->ctx->catalog, c->a, catalog, name, &ch->set, &ch->remove, &ch->removed, &ch->missing, err);
}
