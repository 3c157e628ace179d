/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - a named table at a version, as what the binder wants to see. */
#include "lake/lake_int.h"

static Status pick_ref(const IceMetadata *m, const LakeName *n, const IceSnapshot **ret, Error *err)
{
    const IceRef *ref = ice_ref(m, n->ref);
    int64_t id;

    if (!ref && str_to_i64(n->ref, &id) && ice_snapshot(m, id)) {          /* VERSION AS OF '123' */
        *ret = ice_snapshot(m, id);
        return OK;
    }
    if (!ref)
        return FAIL(err, E_NOT_FOUND, "Cannot find snapshot: table " STR_FMT "." STR_FMT " has no branch, tag or snapshot '" STR_FMT "'",
                    STR_ARG(n->namespace), STR_ARG(n->name), STR_ARG(n->ref));
    *ret = ice_snapshot(m, ref->snapshot_id);
    return OK;
}

static Status pick_snapshot(const IceMetadata *m, const LakeName *n, const IceSnapshot **ret, Error *err)
{
    *ret = ice_current_snapshot(m);
    if (n->ref.n)
        return pick_ref(m, n, ret, err);
    if (n->version.has) {
        *ret = ice_snapshot(m, n->version.v);
        if (!*ret)
            return FAIL(err, E_NOT_FOUND, "Cannot find snapshot with ID %lld in table " STR_FMT "." STR_FMT, (long long)n->version.v, STR_ARG(n->namespace), STR_ARG(n->name));
    }
    if (n->timestamp_ms.has) {
        *ret = ice_snapshot_at(m, n->timestamp_ms.v);
        if (!*ret)
            return FAIL(err, E_NOT_FOUND, "Cannot find a snapshot of table " STR_FMT "." STR_FMT " older than the given time", STR_ARG(n->namespace), STR_ARG(n->name));
    }
    return OK;
}

/* Time travel sees the schema of its time; a branch and the current state see the current one (spec "Point in Time Reads"). */
static const IceSchema *pick_schema(const IceMetadata *m, const LakeName *n, const IceSnapshot *s)
{
    const IceRef *ref = n->ref.n ? ice_ref(m, n->ref) : NULL;
    bool travel = n->version.has || n->timestamp_ms.has || (n->ref.n && (!ref || str_eq(ref->type, S("tag"))));
    const IceSchema *then = travel && s && s->schema_id.has ? ice_schema(m, s->schema_id.v) : NULL;
    return then ? then : ice_current_schema(m);
}

Status lake_bind_table(Lake *l UNUSED, Arena *a, const LakeTable *t, const LakeName *n, BoundTable **ret, Error *err)
{
    BoundTable *b = arena_new(a, BoundTable);
    LakeSource *src = arena_new(a, LakeSource);

    src->table = *t;
    TRY(pick_snapshot(t->meta, n, &src->snapshot, err));
    src->schema = pick_schema(t->meta, n, src->snapshot);
    src->metadata_table = n->metadata_table;
    if (n->metadata_table.n)
        TRY(lake_metadata_columns(a, t, n->metadata_table, &b->columns, err));
    else
        TRY(lake_columns(a, src->schema, &b->columns, err));
    b->id = str_fmt(a, STR_FMT "@%lld/%d/" STR_FMT, STR_ARG(t->meta->uuid), (long long)(src->snapshot ? src->snapshot->id : -1), src->schema->id, STR_ARG(n->metadata_table));
    b->display = str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(n->catalog_name), STR_ARG(n->namespace), STR_ARG(n->name));
    b->user = src;
    *ret = b;
    return OK;
}

Status lake_source_relation(Lake *l, Arena *a, DuckConn *c, const LakeSource *s, const IcePredicates *where, LakeRelation *ret, Error *err)
{
    LakeScan scan = { .snapshot = s->snapshot, .schema = s->schema, .where = where, .hidden = s->hidden };
    if (s->metadata_table.n)
        return lake_metadata_table(l, a, c, &s->table, s->metadata_table, s->snapshot, ret, err);
    return lake_scan(l, a, c, &s->table, &scan, ret, err);
}
