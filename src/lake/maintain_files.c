/* SPDX-License-Identifier: Apache-2.0 */
/* maintain_files.c - snapshots expired, orphans removed, manifests rewritten.
 *
 * Invariants: (1) a file is deleted only after the catalog has let go of it, or when no metadata names it; (2) only storage that the catalog
 * gives to this table, or that its own write paths name, is touched; (3) what another relation at the same place reaches stays. */
#include "lake/maintain.h"
#include "lake/lake_int.h"

/* ---- whose file is it ------------------------------------------------------------------------------------------------------------ */

/* One spelling of an object's location, to compare what metadata says with what the store lists. */
static Str canonical(Arena *a, Str uri)
{
    Location loc;
    Error ignored;

    if (store_parse_location(a, uri, &loc, &ignored) != OK)
        return uri;
    return loc.file ? str_fmt(a, "file:" STR_FMT, STR_ARG(loc.path)) : store_s3_uri(a, loc.bucket, loc.key);
}

static bool below(Arena *a, Str uri, Str prefix)
{
    Str u = canonical(a, uri), p = canonical(a, prefix);

    while (p.n && p.p[p.n - 1] == '/')
        p.n--;
    return p.n && str_starts(u, p) && (u.n == p.n || u.p[p.n] == '/');
}

static bool own(Lake *l, Arena *a, const LakeTable *t, Str uri)
{
    static const char *const paths[] = { "write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path" };
    CatRelation owner;
    Error ignored;

    if (cat_relation_by_location(l->catalog, a, uri, &owner, &ignored) == OK)
        return owner.id == t->relation.id;
    if (below(a, uri, t->meta->location))
        return true;
    for (size_t i = 0; i < COUNT_OF(paths); i++)
        if (below(a, uri, props_get(&t->meta->properties, str_c(paths[i]), (Str){0})))
            return true;
    return false;
}

static Status add_reach(Lake *l, Arena *a, const CatRelation *rel, Map *keep, Error *err)
{
    LakeTable other;
    Map reached;

    TRY(lake_open_relation(l, a, rel, &other, err));
    TRY(ice_reachable(a, l->store, other.meta, rel->metadata_location, &reached, err));
    for (size_t i = 0; i < reached.n; i++)
        map_put(keep, canonical(a, reached.entries[i].key), keep);
    return OK;
}

/* Everything that relations other than t, at a place that overlaps with t's, reach. (3) */
static Status others_reach(Lake *l, Arena *a, const LakeTable *t, Map *keep, Error *err)
{
    CatWarehouses ws = {0};

    TRY(cat_warehouse_list(l->catalog, a, &ws, err));
    for (size_t w = 0; w < ws.n; w++) {
        CatNamespaces nss = {0};
        TRY(cat_namespace_list(l->catalog, a, ws.p[w].id, (Str){0}, (CatPage){0}, &nss, err));
        for (size_t i = 0; i < nss.n; i++) {
            CatRelations rels = {0};
            TRY(cat_relation_list(l->catalog, a, ws.p[w].id, nss.p[i].name, 1 << REL_TABLE | 1 << REL_MVIEW, (CatPage){0}, &rels, err));
            for (size_t k = 0; k < rels.n; k++)
                if (rels.p[k].id != t->relation.id && (below(a, rels.p[k].location, t->meta->location) || below(a, t->meta->location, rels.p[k].location)))
                    TRY_CTX(add_reach(l, a, &rels.p[k], keep, err), err, STR_FMT "." STR_FMT " shares the storage", STR_ARG(rels.p[k].namespace), STR_ARG(rels.p[k].name));
        }
    }
    return OK;
}

/* ---- expiry ------------------------------------------------------------------------------------------------------------------------ */

typedef struct ExpireCtx {
    Lake *lake;
    const IceExpire *e;
    const int64_t *pinned;
    size_t npinned;
    LakeTable copy;                   /* the base of the last try */
    StrVec unreachable;
} ExpireCtx;

static Status prepare_expire(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written UNUSED, Error *err)
{
    ExpireCtx *x = ctx;

    x->unreachable = (StrVec){0};
    x->copy = *base;
    vec_push(a, rqs, ((IceRequirement){ .kind = RQ_UUID, .text = base->meta->uuid }));
    return ice_expire(a, x->lake->store, base->meta, x->e, x->pinned, x->npinned, ups, &x->unreachable, err);
}

typedef enum { KIND_DATA = 1, KIND_POSITIONS, KIND_EQUALITY, KIND_MANIFEST, KIND_LIST } FileKind;

static void note_kind(Map *kinds, Str path, FileKind kind)
{
    map_put(kinds, path, (void *)(uintptr_t)kind);
}

/* What the lost files are, told by the snapshots that went. */
static Status kinds_of(ExpireCtx *x, Arena *a, const Map *lost, const IceMetadata *next, Map *kinds, Error *err)
{
    const IceMetadata *m = x->copy.meta;

    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        IceManifests list = {0};
        if (ice_snapshot(next, s->id))
            continue;
        note_kind(kinds, s->manifest_list, KIND_LIST);
        Status got = ice_manifest_list_read(a, x->lake->store, m, s, &list, err);
        if (got == E_NOT_FOUND)
            continue;
        TRY(got);
        for (size_t k = 0; k < list.n; k++) {
            IceEntries entries = {0};
            if (!map_has(lost, list.p[k].path) || map_has(kinds, list.p[k].path))
                continue;
            note_kind(kinds, list.p[k].path, KIND_MANIFEST);
            got = ice_manifest_read(a, x->lake->store, m, &list.p[k], &entries, err);
            if (got == E_NOT_FOUND)
                continue;
            TRY(got);
            for (size_t j = 0; j < entries.n; j++)
                note_kind(kinds, entries.p[j].file.path, entries.p[j].file.content == CONTENT_DATA ? KIND_DATA
                                                         : entries.p[j].file.content == CONTENT_POSITION_DELETES ? KIND_POSITIONS : KIND_EQUALITY);
        }
    }
    return OK;
}

static void count_kind(LakeExpired *ret, FileKind kind)
{
    switch (kind) {
    case KIND_DATA: ret->data_files++; return;
    case KIND_POSITIONS: ret->position_deletes++; return;
    case KIND_EQUALITY: ret->equality_deletes++; return;
    case KIND_MANIFEST: ret->manifests++; return;
    case KIND_LIST: ret->manifest_lists++; return;
    }
    ret->statistics++;
}

static Status delete_lost(ExpireCtx *x, Arena *a, const LakeTable *next, LakeExpired *ret, Error *err)
{
    Map lost = map_new(a), kinds = map_new(a), keep = map_new(a);
    Error ignored;

    for (size_t i = 0; i < x->unreachable.n; i++)
        map_put(&lost, x->unreachable.p[i], x);
    TRY(kinds_of(x, a, &lost, next->meta, &kinds, err));
    TRY(others_reach(x->lake, a, next, &keep, err));
    for (size_t i = 0; i < x->unreachable.n; i++) {
        Str path = x->unreachable.p[i];
        if (map_has(&keep, canonical(a, path)) || !own(x->lake, a, next, path))
            continue;
        if (store_delete(x->lake->store, path, &ignored) == OK)                       /* what stays is an orphan */
            count_kind(ret, (FileKind)(uintptr_t)map_get(&kinds, path));
    }
    return OK;
}

Status lake_expire(Lake *l, Arena *a, const LakeTable *t, const IceExpire *e, const int64_t *pinned, size_t npinned, LakeExpired *ret, Error *err)
{
    ExpireCtx x = { .lake = l, .e = e, .pinned = pinned, .npinned = npinned };
    LakeTable next;

    *ret = (LakeExpired){0};
    TRY(lake_commit_with(l, a, t, prepare_expire, NULL, &x, NULL, 0, &next, err));
    for (size_t i = 0; i < x.copy.meta->snapshots.n; i++)
        ret->snapshots += !ice_snapshot(next.meta, x.copy.meta->snapshots.p[i]->id);
    return x.unreachable.n ? delete_lost(&x, a, &next, ret, err) : OK;                /* (1) */
}

/* ---- manifests ------------------------------------------------------------------------------------------------------------------------ */

static Status prepare_manifests(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err)
{
    Lake *l = ctx;
    size_t before, after;
    return ice_rewrite_manifests(a, l->store, base->meta, clock_ms(), ups, rqs, written, &before, &after, err);
}

static int64_t summary_count(const IceSnapshot *s, Str key)
{
    int64_t n;
    return s && str_to_i64(props_get(&s->summary, key, S("0")), &n) ? n : 0;
}

Status lake_rewrite_manifests(Lake *l, Arena *a, const LakeTable *t, int64_t *rewritten, int64_t *added, Error *err)
{
    LakeTable next;

    *rewritten = *added = 0;
    TRY(lake_commit_with(l, a, t, prepare_manifests, NULL, l, NULL, 0, &next, err));
    if (str_eq(next.relation.metadata_location, t->relation.metadata_location))
        return OK;
    const IceSnapshot *s = ice_current_snapshot(next.meta);
    if (s && !ice_snapshot(t->meta, s->id)) {
        *rewritten = summary_count(s, S("manifests-replaced"));
        *added = summary_count(s, S("manifests-created"));
    }
    return OK;
}

/* ---- orphans -------------------------------------------------------------------------------------------------------------------------- */

/* Names that begin with _ or . are other programs' bookkeeping, as for the reference. */
static bool is_hidden(Str rest)
{
    Str part, more = rest;
    while (more.n) {
        str_cut(more, '/', &part, &more);
        if (part.n && (part.p[0] == '_' || part.p[0] == '.') && str_chr(part, '=') < 0)
            return true;
    }
    return str_ends(rest, S("version-hint.text"));
}

Status lake_remove_orphans(Lake *l, Arena *a, const LakeTable *t, Str location, int64_t older_than_ms, LakeOrphanMode mode, StrVec *ret, Error *err)
{
    ObjectInfos objects = {0};
    Map keep = map_new(a);
    CatRelation rel;
    LakeTable now;
    Str root = canonical(a, location.n ? location : t->meta->location);

    while (root.n && root.p[root.n - 1] == '/')
        root.n--;
    if (!below(a, root, t->meta->location))
        return FAIL(err, E_INVALID, "location '" STR_FMT "' is not inside of the table's location '" STR_FMT "'", STR_ARG(root), STR_ARG(t->meta->location));
    TRY(store_list_all(l->store, a, str_cat(a, root, S("/")), &objects, err));       /* listed first: what is committed meanwhile is reached below */
    TRY(cat_relation_by_id(l->catalog, a, t->relation.id, &rel, err));
    TRY(lake_open_relation(l, a, &rel, &now, err));
    TRY(add_reach(l, a, &rel, &keep, err));
    TRY(others_reach(l, a, &now, &keep, err));
    for (size_t i = 0; i < objects.n; i++) {
        Str uri = store_s3_uri(a, objects.p[i].bucket, objects.p[i].key);
        Error ignored;
        if (objects.p[i].modified_ms >= older_than_ms || map_has(&keep, canonical(a, uri)) || !own(l, a, &now, uri) || is_hidden(str_from(uri, min_size(root.n, uri.n))))
            continue;
        if (mode == ORPHANS_LIST || store_delete(l->store, uri, &ignored) == OK)
            vec_push(a, ret, uri);
    }
    return OK;
}
