/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - files of a table that lie outside of its storage.
 *
 * Metadata and manifests are written by whoever may write the table, and may name any file of the store.  So the right to read a table covers what lies in
 * the storage that the catalog gives it, and nothing else: another file is read by the reader's own rights.
 *
 * Invariants: (1) the table's place is the catalog's word, never the metadata's; (2) the system, which has no rights of its own to ask for, reads no file
 * in another relation's storage. */
#include "lake/lake_int.h"

static bool in_place(const LakeTable *t, Str uri)
{
    Str at = t->relation.location;                         /* (1); without a slash at its end */
    return str_starts(uri, at) && uri.n > at.n && uri.p[at.n] == '/';
}

static Status refuse(const LakeTable *t, Str uri, const CatRelation *owner, Error *err)
{
    return FAIL(err, E_DENIED, "table " STR_FMT "." STR_FMT " names the file '" STR_FMT "', which lies in the storage of " STR_FMT "." STR_FMT ": it is not read",
                STR_ARG(t->relation.namespace), STR_ARG(t->relation.name), STR_ARG(uri), STR_ARG(owner->namespace), STR_ARG(owner->name));
}

Status lake_file_allowed(Lake *l, Arena *a, const LakeTable *t, Str uri, Error *err)
{
    CatRelation owner = {0};
    Location at;

    if (!l->catalog || !t->relation.location.n || in_place(t, uri))      /* a table elsewhere: its store refuses what is not its */
        return OK;
    Status s = cat_relation_by_location(l->catalog, a, uri, &owner, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    bool owned = s == OK && owner.kind != REL_VIEW;
    if (owned && (owner.id == t->relation.id || str_eq(owner.location, t->relation.location)))      /* another spelling; one place registered twice */
        return OK;
    if (!t->rights)
        return owned ? refuse(t, uri, &owner, err) : OK;   /* (2) */
    TRY(store_parse_location(a, uri, &at, err));
    if (at.file)
        return OK;                                         /* only the account root makes tables there */
    TRY_CTX(t->rights->may(t->rights->ctx, a, LAKE_MAY_READ, at.bucket, at.key, err), err, "table " STR_FMT "." STR_FMT " names the file '" STR_FMT "' outside of its storage",
            STR_ARG(t->relation.namespace), STR_ARG(t->relation.name), STR_ARG(uri));
    return OK;
}

/* What was read of them so far has gone nowhere. */
Status lake_manifests_allowed(Lake *l, Arena *a, const LakeTable *t, const IceSnapshot *s, const StrVec *manifests, Error *err)
{
    if (s && s->manifest_list.n)
        TRY(lake_file_allowed(l, a, t, s->manifest_list, err));
    for vec_each(Str, path, manifests)
        TRY(lake_file_allowed(l, a, t, *path, err));
    return OK;
}

Status lake_plan(Lake *l, Arena *a, const LakeTable *t, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err)
{
    Cache *kept = l->catalog ? l->manifests : NULL;        /* elsewhere a path is of the day */

    TRY(ice_scan_kept(a, l->store, kept, t->meta, s, where, ret, err));
    return lake_manifests_allowed(l, a, t, s, &ret->manifests, err);
}
