/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_grant.c - granted, taken back, listed.
 *
 * A grant adds to the entry of its principal and part (the whole resource, some columns, all but some).  Taking back subtracts.
 * Texts are AWS's.  Changes are serial, so two grants at once both stand. */
#include "access/lakeformation_int.h"

/* ---- may it be? --------------------------------------------------------------------------------------------------------- */

static uint32_t all_bits(const LfGrant *g) { return g->permissions | g->grantable; }

static Status check_bits(Arena *a, const LfGrant *g, Error *err)
{
    uint32_t wrong = all_bits(g) & ~lf_kind_bits(g->resource.kind);

    if (!all_bits(g))
        return FAIL(err, E_INVALID, "Permissions are not specified");
    if (g->resource.kind == LF_TAG_POLICY)
        wrong |= all_bits(g) & ~(g->resource.policy_on == LF_DATABASE ? LF_OF_DATABASE : LF_OF_TABLE);
    if (!wrong)
        return OK;
    size_t n;
    const LfPermissionName *names = lf_permission_names(&n);
    StrVec list = {0};
    for (size_t i = 0; i < n; i++)
        if (wrong & names[i].bit)
            vec_push(a, &list, str_c(names[i].name));
    return FAIL(err, E_INVALID, "Permissions modification is invalid: [" STR_FMT "] cannot be granted on this kind of resource", STR_ARG(str_join(a, &list, S(", "))));
}

static Status missing(const char *what, Error *err) { return FAIL(err, E_NOT_FOUND, "%s not found.", what); }

static Status check_there(Access *x, Arena *a, const LfResource *r, Error *err)
{
    CatWarehouse w;
    CatNamespace ns;
    CatRelation rel;
    StrVec values = {0};

    if (r->kind == LF_TAG)
        return lf_tag_get(x, a, r->catalog, r->tag.key, &values, err);
    if (cat_warehouse_get(x->catalog, a, r->catalog, &w, err) != OK)
        return missing("Catalog", err);
    if (r->kind != LF_DATABASE && r->kind != LF_TABLE && r->kind != LF_COLUMNS)
        return OK;
    if (cat_namespace_get(x->catalog, a, r->catalog, r->database, &ns, err) != OK)
        return missing("Database", err);
    if (r->kind == LF_DATABASE || r->wildcard)
        return OK;
    return cat_relation_get(x->catalog, a, r->catalog, r->database, r->table, &rel, err) == OK ? OK : missing("Table", err);
}

/* ---- may he? ---------------------------------------------------------------------------------------------------------------- */

/* What of the grant's columns this entry may hand on. */
static bool covers(const LfEntry *e, const LfResource *r)
{
    if (e->part == LF_WHOLE || r->kind != LF_COLUMNS)
        return e->part == LF_WHOLE || r->kind == LF_TAG;
    LfColumns c = { .has_but = e->part == LF_BUT };
    if (e->part == LF_BUT)
        c.but = e->names;
    else
        c.only = e->names;
    for vec_each(Str, s, &r->columns)
        if (!lf_column_allowed(&c, *s))
            return false;
    return r->columns.n > 0;
}

static Status handed_on(Access *x, Arena *a, const StrVec *who, const LfResource *r, const LfResource *of, uint32_t *bits, Error *err)
{
    LfDoc d;
    int there;

    TRY(lf_load(x, a, r, &d, &there, err));
    for vec_each(LfEntry, e, &d.entries)
        if (strvec_has(who, e->principal) && !str_eq(e->principal, LF_EVERYBODY) && covers(e, of))
            *bits |= e->grantable;
    return OK;
}

Status lf_may_grant(Access *x, Arena *a, const Principal *p, const LfGrant *g, Error *err)
{
    LfResource r = g->resource, wild = { .kind = LF_TABLE, .catalog = r.catalog, .database = r.database, .wildcard = 1 };
    uint32_t have = 0, ignored = 0;
    StrVec who = {0};

    if (lf_is_admin(x, a, p))
        return OK;
    lf_identities(x, a, p, &who);
    TRY(handed_on(x, a, &who, &r, &g->resource, &have, err));
    if (r.kind == LF_TABLE || r.kind == LF_COLUMNS)
        TRY(handed_on(x, a, &who, &wild, &g->resource, &have, err));
    if (r.kind == LF_COLUMNS)
        r.kind = LF_TABLE;
    if (r.kind == LF_TABLE || r.kind == LF_DATABASE)
        TRY(lf_by_tags(x, a, &who, &r, (Str){0}, &ignored, &have, err));
    if (!(all_bits(g) & ~lf_expand(r.kind, have)))
        return OK;
    return FAIL(err, E_DENIED, "Resource does not exist or requester is not authorized to access requested permissions.");
}

/* ---- grant ------------------------------------------------------------------------------------------------------------------- */

static bool same_names(const StrVec *x, const StrVec *y)
{
    if (x->n != y->n)
        return false;
    for vec_each(Str, s, x)
        if (!strvec_has(y, *s))
            return false;
    return true;
}

/* Named columns of one right are one entry; "all but" and tag values are told apart by their names. */
static LfEntry *entry_for(LfDoc *d, const LfGrant *g)
{
    LfPart part = lf_part(&g->resource);

    for vec_each(LfEntry, e, &d->entries) {
        if (!str_eq(e->principal, g->principal) || e->part != part)
            continue;
        if (part == LF_WHOLE)
            return e;
        bool one = g->resource.kind == LF_COLUMNS && part == LF_ONLY;
        if (one ? e->permissions == g->permissions && e->grantable == g->grantable : same_names(&e->names, lf_names(&g->resource)))
            return e;
    }
    return NULL;
}

static void add_names(Arena *a, StrVec *to, const StrVec *names)
{
    for vec_each(Str, s, names)
        if (!strvec_has(to, *s))
            vec_push(a, to, *s);
}

static void add_entry(Arena *a, LfDoc *d, const LfGrant *g)
{
    LfEntry *e = entry_for(d, g);

    if (!e) {
        vec_push(a, &d->entries, ((LfEntry){ .principal = g->principal, .part = lf_part(&g->resource) }));
        e = &vec_last(&d->entries);
    }
    if (e->part != LF_WHOLE)
        add_names(a, &e->names, lf_names(&g->resource));
    e->permissions |= g->permissions;
    e->grantable |= g->grantable;
    e->updated_ms = g->updated_ms;
    e->updated_by = g->updated_by;
}

/* A database that IAM alone judged gets a document: what everybody has must be said now. */
static void keep_open(Arena *a, LfDoc *d)
{
    LfResource *r = &d->resource;
    if (r->kind == LF_DATABASE || (r->kind == LF_TABLE && !r->wildcard))
        vec_push(a, &d->entries, ((LfEntry){ .principal = LF_EVERYBODY, .permissions = LF_ALL, .updated_ms = clock_ms() }));
}

Status lf_grant(Access *x, Arena *a, const LfGrant *g, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    LfDoc d;
    int there;

    lf_lock(x);
    TRY(check_bits(a, g, err));
    TRY(check_there(x, a, &g->resource, err));
    TRY(lf_load(x, a, &g->resource, &d, &there, err));
    if (!there)
        keep_open(a, &d);
    add_entry(a, &d, g);
    if (d.entries.n > LF_GRANTS_MAX || lf_names(&g->resource)->n > LF_NAMES_MAX)
        return FAIL(err, E_LIMIT, "more than %d grants on one resource", LF_GRANTS_MAX);
    return lf_store(x, a, &d, err);
}

/* ---- revoke -------------------------------------------------------------------------------------------------------------------- */

/* Taking back columns that one entry names with others leaves those. */
static void subtract_names(Arena *a, LfDoc *d, LfEntry *e, const LfGrant *g)
{
    StrVec rest = {0};

    for vec_each(Str, s, &e->names)
        if (!strvec_has(&g->resource.columns, *s))
            vec_push(a, &rest, *s);
    LfEntry kept = *e;
    e->permissions &= ~g->permissions;
    e->grantable &= ~g->grantable;
    if (!rest.n)
        return;
    kept.names = rest;
    StrVec taken = {0};
    for vec_each(Str, s, &e->names)
        if (!strvec_has(&rest, *s))
            vec_push(a, &taken, *s);
    e->names = taken;
    vec_push(a, &d->entries, kept);
}

static bool names_any(const LfEntry *e, const StrVec *names)
{
    for vec_each(Str, s, names)
        if (strvec_has(&e->names, *s))
            return true;
    return false;
}

static uint32_t subtract(Arena *a, LfDoc *d, const LfGrant *g)
{
    LfPart part = lf_part(&g->resource);
    size_t n = d->entries.n;
    uint32_t taken = 0;

    for (size_t i = 0; i < n; i++) {
        LfEntry *e = &d->entries.p[i];
        bool columns = g->resource.kind == LF_COLUMNS && part == LF_ONLY;
        if (!str_eq(e->principal, g->principal) || e->part != part)
            continue;
        if (part != LF_WHOLE && !(columns ? names_any(e, &g->resource.columns) : same_names(&e->names, lf_names(&g->resource))))
            continue;
        taken |= (e->permissions & g->permissions) | (e->grantable & g->grantable);
        if (columns)
            subtract_names(a, d, e, g);
        else
            e->permissions &= ~g->permissions, e->grantable &= ~g->grantable;
    }
    return taken;
}

static bool has_any(const LfDoc *d, Str principal)
{
    for vec_each(LfEntry, e, &d->entries)
        if (str_eq(e->principal, principal))
            return true;
    return false;
}

static Status nothing_taken(Arena *a, const LfDoc *d, const LfGrant *g, Error *err)
{
    size_t n;
    const LfPermissionName *names = lf_permission_names(&n);
    StrVec list = {0};

    if (!has_any(d, g->principal))
        return FAIL(err, E_INVALID, "No permissions revoked. Grantee has no permissions and no grantable permissions on resource.");
    for (size_t i = 0; i < n; i++)
        if (all_bits(g) & names[i].bit)
            vec_push(a, &list, str_c(names[i].name));
    return FAIL(err, E_INVALID, "No permissions revoked. Grantee does not have: [" STR_FMT "]", STR_ARG(str_join(a, &list, S(", "))));
}

Status lf_revoke(Access *x, Arena *a, const LfGrant *g, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    LfDoc d;
    int there;

    lf_lock(x);
    TRY(check_there(x, a, &g->resource, err));
    TRY(lf_load(x, a, &g->resource, &d, &there, err));
    if (!there)
        keep_open(a, &d);                       /* taking IAM_ALLOWED_PRINCIPALS away makes it Lake Formation's */
    if (!subtract(a, &d, g))
        return nothing_taken(a, &d, g, err);
    return lf_store(x, a, &d, err);
}

/* ---- lists ----------------------------------------------------------------------------------------------------------------------- */

static LfGrant grant_of(const LfDoc *d, const LfEntry *e)
{
    LfGrant g = { .resource = d->resource, .principal = e->principal, .permissions = e->permissions, .grantable = e->grantable, .updated_ms = e->updated_ms, .updated_by = e->updated_by };

    if (d->resource.kind == LF_TAG)
        g.resource.tag.values = e->names;
    else if (e->part == LF_ONLY)
        g.resource.kind = LF_COLUMNS, g.resource.columns = e->names;
    else if (e->part == LF_BUT)
        g.resource.kind = LF_COLUMNS, g.resource.excluded = e->names;
    return g;
}

static void list_doc(Arena *a, const LfDoc *d, Str principal, LfGrants *ret)
{
    for vec_each(LfEntry, e, &d->entries)
        if (!principal.n || str_eq(e->principal, principal))
            vec_push(a, ret, grant_of(d, e));
}

Status lf_grants(Access *x, Arena *a, Str catalog, const LfResource *of, Str principal, LfGrants *ret, Error *err)
{
    LfDocs docs = {0};
    LfDoc d;
    int there;

    if (of) {
        TRY(lf_load(x, a, of, &d, &there, err));
        list_doc(a, &d, principal, ret);
        return OK;
    }
    TRY(lf_load_all(x, a, (Str){0}, &docs, err));
    for vec_each(LfDoc, each, &docs)
        if (!catalog.n || str_eq(each->resource.catalog, catalog))
            list_doc(a, each, principal, ret);
    return OK;
}
