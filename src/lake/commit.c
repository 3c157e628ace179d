/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - optimistic commits of one table, with bounded retries.
 *
 * A try: read the newest metadata, let the caller prepare updates on it, check the requirements, write the next metadata
 * file, swap the pointer in one catalog transaction with whatever else must become true at the same moment.
 *
 * Invariants: (1) files written by a lost try are removed before the next; (2) the pointer moves only by cat_commit, so an
 * outcome is never unknown: the catalog is in this process; (3) a conflict that the format's rules forbid is not retried. */
#include "lake/lake_int.h"

#include <stdlib.h>
#include <unistd.h>

enum { RETRIES = 8, FIRST_WAIT_US = 5000 };      /* commit.retry.num-retries is honoured up to this */

static int retries_of(const IceMetadata *m)
{
    int64_t n;
    if (!str_to_i64(props_get(&m->properties, S("commit.retry.num-retries"), S("4")), &n) || n < 0)
        n = 4;
    return (int)min_i64(n, RETRIES);
}

void lake_discard_written(Lake *l, const StrVec *written)
{
    Error ignored;
    for (size_t i = 0; i < written->n; i++)
        if (store_delete(l->store, written->p[i], &ignored) != OK)
            continue;
}

typedef struct Try { LakePrepare prepare; LakeLate late; void *ctx; CatChange *also; size_t nalso; StrVec written; } Try;

static Status swap(Lake *l, Arena *a, const LakeTable *base, const LakeTable *next, Try *t, Error *err)
{
    CatChange *all = arena_array(a, CatChange, t->nalso + 1);

    all[0] = (CatChange){ .kind = CH_SWAP, .relation = arena_new(a, CatRelation), .expected = base->relation.metadata_location,
                          .next = next->relation.metadata_location };
    *all[0].relation = base->relation;
    if (!str_eq(base->meta->location, next->meta->location))
        all[0].new_location = next->meta->location;
    if (t->late)
        TRY(t->late(t->ctx, a, next, t->also, t->nalso, err));
    for (size_t i = 0; i < t->nalso; i++)
        all[i + 1] = t->also[i];
    return cat_commit(l->catalog, all, t->nalso + 1, err);
}

/* `also` without a change of the table: the transaction holds them alone. */
static Status only_also(Lake *l, Arena *a, const LakeTable *base, Try *t, Error *err)
{
    if (t->late)
        TRY(t->late(t->ctx, a, base, t->also, t->nalso, err));
    return t->nalso ? cat_commit(l->catalog, t->also, t->nalso, err) : OK;
}

static Status attempt(Lake *l, Arena *a, const LakeTable *base, Try *t, LakeTable *next, Error *err)
{
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    int changed = 0;

    TRY(t->prepare(t->ctx, a, base, &ups, &rqs, &t->written, err));
    TRY(ice_requirements_check(base->meta, &rqs, err));
    *next = *base;
    TRY(ice_metadata_apply(a, base->meta, base->relation.metadata_location, &ups, clock_ms(), &next->meta, &changed, err));
    if (!changed)
        return only_also(l, a, base, t, err);
    next->relation.metadata_location = ice_metadata_next_location(a, next->meta, base->relation.metadata_location);
    vec_push(a, &t->written, next->relation.metadata_location);
    TRY(ice_metadata_write(a, l->store, next->meta, next->relation.metadata_location, err));
    return swap(l, a, base, next, t, err);
}

static bool moved(Lake *l, Arena *a, const LakeTable *base)
{
    CatRelation now;
    Error ignored;
    return cat_relation_by_id(l->catalog, a, base->relation.id, &now, &ignored) == OK &&
           !str_eq(now.metadata_location, base->relation.metadata_location);
}

static Status reopen(Lake *l, Arena *a, const LakeTable *t, LakeTable *ret, Error *err)
{
    CatRelation now;
    TRY(cat_relation_by_id(l->catalog, a, t->relation.id, &now, err));
    return lake_open_relation(l, a, &now, ret, err);
}

Status lake_commit_with(Lake *l, Arena *a, const LakeTable *t, LakePrepare prepare, LakeLate late, void *ctx, CatChange *also, size_t nalso, LakeTable *ret, Error *err)
{
    LakeTable base;
    TRY(reopen(l, a, t, &base, err));

    for (int n = 0, max = retries_of(base.meta); ; n++) {
        Try one = { .prepare = prepare, .late = late, .ctx = ctx, .also = also, .nalso = nalso };
        LakeTable next;
        Status s = attempt(l, a, &base, &one, &next, err);
        if (s == OK) {
            *ret = next;
            return OK;
        }
        lake_discard_written(l, &one.written);
        if (s != E_CONFLICT || n >= max || !moved(l, a, &base))
            return s;
        usleep((useconds_t)(FIRST_WAIT_US << n) + (useconds_t)(rand_u64() % FIRST_WAIT_US));
        TRY(reopen(l, a, t, &base, err));
    }
}

/* ---- a change of files ---------------------------------------------------------------------------------------------------- */

typedef struct ChangeCtx { Lake *lake; const IceChange *ch; } ChangeCtx;

static Status prepare_change(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err)
{
    ChangeCtx *c = ctx;
    return ice_change_prepare(a, c->lake->store, base->meta, c->ch, clock_ms(), ups, rqs, written, err);
}

Status lake_commit(Lake *l, Arena *a, const LakeTable *t, IceChange *ch, CatChange *also, size_t nalso, LakeTable *ret, Error *err)
{
    ChangeCtx c = { l, ch };
    return lake_commit_with(l, a, t, prepare_change, NULL, &c, also, nalso, ret, err);
}

/* ---- a change of metadata alone --------------------------------------------------------------------------------------------- */

typedef struct UpdateCtx { const LakeTable *t; const IceUpdates *ups; } UpdateCtx;

static bool touches(const IceUpdates *ups, IceUpdateKind kind)
{
    for (size_t i = 0; i < ups->n; i++)
        if (ups->p[i].kind == kind)
            return true;
    return false;
}

/* What was read must still hold where it matters: schema and spec changes are made from what t was. */
static Status prepare_update(void *ctx, Arena *a, const LakeTable *base UNUSED, IceUpdates *ups, IceRequirements *rqs, StrVec *written UNUSED, Error *err UNUSED)
{
    UpdateCtx *c = ctx;
    const IceMetadata *m = c->t->meta;

    vec_push(a, rqs, ((IceRequirement){ .kind = RQ_UUID, .text = m->uuid }));
    if (touches(c->ups, UP_ADD_SCHEMA) || touches(c->ups, UP_SET_CURRENT_SCHEMA)) {
        vec_push(a, rqs, ((IceRequirement){ .kind = RQ_CURRENT_SCHEMA, .number = SOME_I64(m->current_schema_id) }));
        vec_push(a, rqs, ((IceRequirement){ .kind = RQ_LAST_FIELD_ID, .number = SOME_I64(m->last_column_id) }));
    }
    if (touches(c->ups, UP_ADD_SPEC)) {
        vec_push(a, rqs, ((IceRequirement){ .kind = RQ_DEFAULT_SPEC, .number = SOME_I64(m->default_spec_id) }));
        vec_push(a, rqs, ((IceRequirement){ .kind = RQ_LAST_PARTITION_ID, .number = SOME_I64(m->last_partition_id) }));
    }
    for (size_t i = 0; i < c->ups->n; i++)
        vec_push(a, ups, c->ups->p[i]);
    return OK;
}

Status lake_update(Lake *l, Arena *a, const LakeTable *t, const IceUpdates *ups, CatChange *also, size_t nalso, LakeTable *ret, Error *err)
{
    UpdateCtx c = { t, ups };
    return lake_commit_with(l, a, t, prepare_update, NULL, &c, also, nalso, ret, err);
}
