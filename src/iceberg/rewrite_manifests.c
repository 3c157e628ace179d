/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_manifests.c - live entries sorted by partition into manifests of the target size: a `replace` snapshot.
 *
 * Manifests of a kind and spec that are as few as their bytes need stay as they are.  Nothing of an entry changes but
 * its status. */
#include "iceberg/change_int.h"

#include <stdlib.h>

typedef struct Group { int32_t spec_id; int deletes; IceManifests list; int64_t bytes; } Group;

static Group group_of(Commit *c, const IceManifests *list, int32_t spec_id, int deletes)
{
    Group g = { .spec_id = spec_id, .deletes = deletes };

    for vec_each(const IceManifest, mf, list) {
        if (mf->spec_id != spec_id || mf->deletes != deletes)
            continue;
        vec_push(c->a, &g.list, *mf);
        g.bytes = ice_add_sat(g.bytes, max_i64(0, mf->length));
    }
    return g;
}

static int by_partition(const void *x, const void *y)
{
    const IceFile *f = &((const IceEntry *)x)->file, *g = &((const IceEntry *)y)->file;

    for (size_t i = 0; i < f->npartition && i < g->npartition; i++) {
        int order = ice_value_cmp(&f->partition[i], &g->partition[i]);
        if (order)
            return order;
    }
    return str_cmp(f->path, g->path);
}

static Status live_entries(Commit *c, const Group *g, IceEntries *ret, Error *err)
{
    for vec_each(const IceManifest, mf, &g->list) {
        IceEntries entries;
        TRY(ice_manifest_read(c->a, c->st, c->m, mf, &entries, err));
        for vec_each(IceEntry, e, &entries) {
            if (!ice_is_live(e))
                continue;
            e->status = ENTRY_EXISTING;
            vec_push(c->a, ret, *e);
        }
    }
    qsort(ret->p, ret->n, sizeof *ret->p, by_partition);
    return OK;
}

static Status write_part(Commit *c, const Group *g, const IceEntries *all, size_t from, size_t to, IceManifests *out, Error *err)
{
    IceEntries part = { .p = all->p + from, .n = to - from, .cap = to - from };
    IceManifest mf;

    TRY(ice_commit_write(c, g->spec_id, g->deletes, &part, &mf, err));
    if (!g->deletes)
        ice_commit_keep_row_ids(&g->list.p[0], &part, &mf);
    vec_push(c->a, out, mf);
    return OK;
}

static Status rewrite_group(Commit *c, const Group *g, int64_t target, IceManifests *out, size_t *nrewritten, Error *err)
{
    size_t need = (size_t)(g->bytes / target) + 1;
    IceEntries all = { 0 };

    if (g->list.n <= need) {
        for vec_each(const IceManifest, mf, &g->list)
            vec_push(c->a, out, *mf);
        return OK;
    }
    TRY(live_entries(c, g, &all, err));
    for (size_t i = 0; i < need; i++)
        if (all.n * i / need < all.n * (i + 1) / need)
            TRY(write_part(c, g, &all, all.n * i / need, all.n * (i + 1) / need, out, err));
    *nrewritten += g->list.n;
    return OK;
}

static void count(Commit *c, IceChange *ch, const char *key, size_t n)
{
    vec_push(c->a, &ch->summary, ((KeyValue){ str_c(key), str_fmt(c->a, "%zu", n) }));
}

Status ice_rewrite_manifests(Arena *a, Store *st, const IceMetadata *m, int64_t now_ms, IceUpdates *ups, IceRequirements *rqs,
                             StrVec *written, size_t *nbefore, size_t *nafter, Error *err)
{
    int64_t target = max_i64(1, ice_prop_i64(&m->properties, "commit.manifest.target-size-bytes", 8 * 1024 * 1024));
    IceChange ch = { .operation = S("replace") };
    IceManifests list = { 0 };
    size_t nrewritten = 0;
    Commit c;

    ice_commit_init(&c, a, st, m, &ch, written);
    *nbefore = *nafter = 0;
    if (!c.parent)
        return OK;
    TRY(ice_manifest_list_read(a, st, m, c.parent, &list, err));
    TRY(ice_check_specs(m, &list, err));
    for (size_t i = 0; i < m->specs.n; i++)
        for (int deletes = 0; deletes < 2; deletes++) {
            Group g = group_of(&c, &list, m->specs.p[i]->id, deletes);
            TRY(rewrite_group(&c, &g, target, deletes ? &c.deletes : &c.data, &nrewritten, err));
        }
    *nbefore = list.n;
    *nafter = nrewritten ? c.data.n + c.deletes.n : list.n;
    if (!nrewritten)
        return OK;
    count(&c, &ch, "manifests-created", *nafter + nrewritten - *nbefore);
    count(&c, &ch, "manifests-kept", *nbefore - nrewritten);
    count(&c, &ch, "manifests-replaced", nrewritten);
    return ice_commit_finish(&c, now_ms, ups, rqs, err);
}
