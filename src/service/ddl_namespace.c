/* SPDX-License-Identifier: Apache-2.0 */
/* ddl_namespace.c - namespaces made, changed and dropped by SQL; USE. */
#include "service/ddl_int.h"

Status do_create_namespace(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "CREATE NAMESPACE");
    CatNamespace made;
    Props props = r->st->props;
    Name n;

    rows_command(rows, "CREATE NAMESPACE");
    TRY(name_namespace(r, &r->st->name, &n, err));
    if (r->st->has_comment)
        props_set(r->a, &props, S("comment"), r->st->comment);
    if (r->st->location.n)
        props_set(r->a, &props, S("location"), r->st->location);
    Status s = svc_namespace_create(&call, n.catalog_id, n.namespace, &props, &made, err);
    return s == E_EXISTS && r->st->if_not_exists ? OK : s;
}

static Status drop_content(Run *r, const SvcCall *call, const Name *n, Error *err)
{
    CatRelations rels = {0};

    TRY(cat_relation_list(r->svc->catalog, r->a, n->catalog_id, n->namespace, 15, (CatPage){0}, &rels, err));
    for (size_t i = 0; i < rels.n; i++) {
        SvcName name = { n->catalog_id, n->namespace, rels.p[i].name };
        if (rels.p[i].kind == REL_VIEW)
            TRY(svc_view_drop(call, &name, err));
        else if (rels.p[i].kind == REL_EXTERNAL)
            TRY(svc_external_drop(call, &name, err));
        else
            TRY(svc_table_drop(call, &name, SVC_PURGE_FILES, err));
    }
    return OK;
}

Status do_drop_namespace(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "DROP NAMESPACE");
    Name n;

    rows_command(rows, "DROP NAMESPACE");
    TRY(name_namespace(r, &r->st->name, &n, err));
    if (r->st->cascade)
        TRY(drop_content(r, &call, &n, err));
    Status s = svc_namespace_drop(&call, n.catalog_id, n.namespace, err);
    return s == E_NOT_FOUND && r->st->if_exists ? OK : s;
}

Status do_alter_namespace(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "ALTER NAMESPACE");
    SvcPropsChange ch = {0};
    Name n;

    rows_command(rows, "ALTER NAMESPACE");
    TRY(name_namespace(r, &r->st->name, &n, err));
    for (size_t i = 0; i < r->st->actions.n; i++) {
        const AlterAction *x = &r->st->actions.p[i];
        if (x->kind == AT_SET_LOCATION)
            props_set(r->a, &ch.set, S("location"), x->location);
        else if (x->kind == AT_SET_PROPS)
            for (size_t k = 0; k < x->props.n; k++)
                props_set(r->a, &ch.set, x->props.p[k].key, x->props.p[k].value);
        else if (x->kind == AT_UNSET_PROPS)
            for (size_t k = 0; k < x->props.n; k++)
                vec_push(r->a, &ch.remove, x->props.p[k].key);
        else
            return FAIL(err, E_UNSUPPORTED, "this ALTER NAMESPACE is not supported: properties and location can be changed");
    }
    return svc_namespace_alter(&call, n.catalog_id, n.namespace, &ch, err);
}

Status do_use(Run *r, Rows *rows, Error *err)
{
    CatNamespace ns;
    Name n;
    Str id;
    Error not_catalog;

    rows_command(rows, "USE");
    if (r->st->name.n == 1 && name_catalog(r, r->st->name.p[0], &id, &not_catalog) == OK) {
        r->ss->catalog_name = str_dup(r->ss->arena, r->st->name.p[0]);
        r->ss->namespace = S("default");
        return OK;
    }
    TRY(name_namespace(r, &r->st->name, &n, err));
    TRY(cat_namespace_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, &ns, err));
    r->ss->catalog_name = str_dup(r->ss->arena, n.catalog_name);
    r->ss->namespace = str_dup(r->ss->arena, n.namespace);
    return OK;
}
