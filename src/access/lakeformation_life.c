/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_life.c - what is granted on an object comes, moves and goes with it.
 *
 * Invariants: (1) the document of a new table or view is written in the transaction that makes its name, over whatever stood there: grants on a
 * dropped name never reach what is made under it later; (2) a rename moves grants and tags whole, and no grant or revocation falls between. */
#include "access/lakeformation_int.h"

static uint32_t bits_of(const Json *names)
{
    size_t n;
    const LfPermissionName *all = lf_permission_names(&n);
    uint32_t bits = 0;

    for (size_t k = 0; k < json_len(names); k++)
        for (size_t i = 0; i < n; i++)
            if (json_is(json_at(names, k), JSON_STRING) && str_eq(json_at(names, k)->string, str_c(all[i].name)))
                bits |= all[i].bit;
    return bits;
}

/* The settings' default permissions, and all to who made it. Root needs none. */
static Status new_doc(Access *x, Arena *a, Str owner, const char *defaults, LfDoc *d, Error *err)
{
    Json *settings = NULL;
    int64_t now = clock_ms();

    TRY(lf_settings(x, a, &settings, err));
    const Json *list = json_get(settings, defaults);
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *e = json_at(list, i);
        vec_push(a, &d->entries, ((LfEntry){ .principal = json_get_str(json_get(e, "Principal"), "DataLakePrincipalIdentifier", (Str){0}),
                                             .permissions = bits_of(json_get(e, "Permissions")), .updated_ms = now, .updated_by = owner }));
    }
    if (owner.n && !str_ends(owner, S(":root")) && !str_ends(owner, S(":system")))
        vec_push(a, &d->entries, ((LfEntry){ .principal = owner, .permissions = LF_ALL, .grantable = LF_ALL, .updated_ms = now, .updated_by = owner }));
    return OK;
}

Status lf_created(Access *x, Arena *a, Str owner, Str catalog, Str ns, Str name, CatChange *ret, Error *err)
{
    LfDoc d = { .resource = { .kind = LF_TABLE, .catalog = catalog, .database = ns, .table = name } };

    TRY(new_doc(x, a, owner, "CreateTableDefaultPermissions", &d, err));
    *ret = lf_store_change(a, &d);
    return OK;
}

/* ---- documents that go or move -------------------------------------------------------------------------------------------- */

static const char *const kinds[] = { "lf.grant", "lf.tagged" };

static LfResource resource_of(const CatRelation *r)
{
    return (LfResource){ .kind = LF_TABLE, .catalog = r->catalog, .database = r->namespace, .table = r->name };
}

static CatChange gone(const char *kind, Str key) { return (CatChange){ .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key }; }

/* ---- namespaces ------------------------------------------------------------------------------------------------------------- */

static Status clear(Access *x, Arena *a, Str catalog, Str ns, const LfDoc *next, Error *err)
{
    LfResource db = { .kind = LF_DATABASE, .catalog = catalog, .database = ns }, wild = { .kind = LF_TABLE, .catalog = catalog, .database = ns, .wildcard = 1 };
    CatChange ch[] = { gone(kinds[0], lf_key(a, &db)), gone(kinds[1], lf_key(a, &db)), gone(kinds[0], lf_key(a, &wild)), {0} };
    size_t n = 3;

    if (next)
        ch[n++] = lf_store_change(a, next);
    return cat_commit(x->catalog, ch, n, err);
}

/* The document first: a database is never there without what its defaults say, and what was granted on one of that name before is gone. */
Status lf_namespace_create(Access *x, Arena *a, const Principal *p, const CatNamespace *n, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    LfDoc d = { .resource = { .kind = LF_DATABASE, .catalog = n->catalog, .database = n->name } };
    CatNamespace there;
    Error ignored;

    lf_lock(x);
    if (cat_namespace_get(x->catalog, a, n->catalog, n->name, &there, &ignored) == OK)
        return cat_namespace_create(x->catalog, n, err);                  /* says that it is there */
    TRY(new_doc(x, a, principal_owner(p), "CreateDatabaseDefaultPermissions", &d, err));
    TRY(clear(x, a, n->catalog, n->name, &d, err));
    Status s = cat_namespace_create(x->catalog, n, err);
    if (s != OK && s != E_UNKNOWN)
        (void)!clear(x, a, n->catalog, n->name, NULL, &ignored);
    return s;
}

Status lf_namespace_delete(Access *x, Arena *a, Str catalog, Str ns, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;

    lf_lock(x);
    TRY(cat_namespace_delete(x->catalog, catalog, ns, err));
    return clear(x, a, catalog, ns, NULL, err);
}

/* ---- relations ---------------------------------------------------------------------------------------------------------------- */

typedef VEC(CatChange) Changes;

static void drop_docs(Arena *a, const CatRelation *r, Changes *ret)
{
    LfResource t = resource_of(r);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        vec_push(a, ret, gone(kinds[i], lf_key(a, &t)));
}

static Status move_docs(Access *x, Arena *a, const CatChange *ch, Changes *ret, Error *err)
{
    LfResource from = resource_of(ch->relation), to = from;
    LfDoc d;
    int there;
    Json *tags = NULL;

    to.database = ch->new_namespace;
    to.table = ch->new_name;
    TRY(lf_load(x, a, &from, &d, &there, err));
    Status s = cat_doc_get(x->catalog, a, str_c(kinds[1]), lf_key(a, &from), &tags, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    drop_docs(a, ch->relation, ret);
    d.resource.database = to.database;
    d.resource.table = to.table;
    if (there)
        vec_push(a, ret, lf_store_change(a, &d));
    if (s == OK)
        vec_push(a, ret, ((CatChange){ .kind = CH_DOC, .doc_kind = str_c(kinds[1]), .doc_key = lf_key(a, &to), .doc = tags }));
    return OK;
}

static Status docs_of(Access *x, Arena *a, const Principal *p, const CatChange *ch, Changes *ret, Error *err)
{
    const CatRelation *r = ch->relation;
    CatChange doc;

    switch (ch->kind) {
    case CH_CREATE:
        TRY(lf_created(x, a, principal_owner(p), r->catalog, r->namespace, r->name, &doc, err));
        vec_push(a, ret, doc);
        return OK;
    case CH_DROP: drop_docs(a, r, ret); return OK;
    case CH_RENAME: return move_docs(x, a, ch, ret, err);
    default: return OK;
    }
}

Status lf_commit(Access *x, Arena *a, const Principal *p, CatChange *changes, size_t n, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    Changes all = {0};

    lf_lock(x);
    for (size_t i = 0; i < n; i++)
        vec_push(a, &all, changes[i]);
    for (size_t i = 0; i < n; i++)
        TRY(docs_of(x, a, p, &changes[i], &all, err));
    return cat_commit(x->catalog, all.p, all.n, err);
}
