/* SPDX-License-Identifier: Apache-2.0 */
/* call_snapshots.c - procedures that move references: rollback, set_current_snapshot, cherrypick, publish, fast_forward; and ancestors_of.
 *
 * Moving main is one metadata update.  It is committed only while main is where this call saw it. */
#include "service/call_int.h"

/* ---- moving a reference --------------------------------------------------------------------------------------------------------- */

typedef struct Move { IceRef ref; OptI64 from; } Move;

static Status prepare_move(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written UNUSED, Error *err UNUSED)
{
    const Move *m = ctx;
    vec_push(a, rqs, ((IceRequirement){ .kind = RQ_UUID, .text = base->meta->uuid }));
    vec_push(a, rqs, ((IceRequirement){ .kind = RQ_REF_SNAPSHOT, .text = m->ref.name, .number = m->from }));
    vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_REF, .text = m->ref.name, .ref = m->ref }));
    return OK;
}

static Status move_branch(Call *c, Str branch, int64_t to, Error *err)
{
    const IceRef *now = ice_ref(c->table.meta, branch);
    Move m = { .ref = now ? *now : (IceRef){ .name = branch, .type = S("branch") } };
    LakeTable next;

    if (now)
        m.from = SOME_I64(now->snapshot_id);
    m.ref.snapshot_id = to;
    return lake_commit_with(c->r->svc->lake, c->r->a, &c->table, prepare_move, NULL, &m, NULL, 0, &next, err);
}

static void two_ids(Call *c, OptI64 before, int64_t after)
{
    Value *row = rows_row(c->rows);
    if (before.has)
        cell_int(c->rows, row, 0, before.v);
    cell_int(c->rows, row, 1, after);
}

static Status move_main(Call *c, int64_t to, Error *err)
{
    OptI64 before = c->table.meta->current_snapshot_id;

    TRY(move_branch(c, S("main"), to, err));
    two_ids(c, before, to);
    return OK;
}

/* ---- rollback ---------------------------------------------------------------------------------------------------------------------- */

Status call_rollback_to_snapshot(Call *c, Error *err)
{
    const IceMetadata *m = c->table.meta;
    int64_t id = call_arg(c, "snapshot_id")->number;

    if (!ice_snapshot(m, id))
        return FAIL(err, E_INVALID, "Cannot roll back to unknown snapshot id: %lld", (long long)id);
    if (!m->current_snapshot_id.has || !ice_is_ancestor(m, id, m->current_snapshot_id.v))
        return FAIL(err, E_INVALID, "Cannot roll back to snapshot, not an ancestor of the current state: %lld", (long long)id);
    return move_main(c, id, err);
}

Status call_rollback_to_timestamp(Call *c, Error *err)
{
    const IceMetadata *m = c->table.meta;
    int64_t at = call_arg(c, "timestamp")->number;
    const IceSnapshot *s = ice_current_snapshot(m);

    for (size_t i = 0; s && s->timestamp_ms >= at && i <= m->snapshots.n; i++)
        s = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    if (!s)
        return FAIL(err, E_INVALID, "Cannot roll back, no valid snapshot older than: " STR_FMT, STR_ARG(time_iso8601(c->r->a, at)));
    return move_main(c, s->id, err);
}

Status call_set_current_snapshot(Call *c, Error *err)
{
    const Arg *id = call_arg(c, "snapshot_id"), *ref = call_arg(c, "ref");
    int64_t to = id->number;

    if (id->has == ref->has)
        return FAIL(err, E_INVALID, "Either snapshot_id or ref must be provided, not both");
    if (ref->has) {
        const IceRef *r = ice_ref(c->table.meta, ref->text);
        if (!r)
            return FAIL(err, E_NOT_FOUND, "Cannot find matching snapshot ID for ref " STR_FMT, STR_ARG(ref->text));
        to = r->snapshot_id;
    }
    if (!ice_snapshot(c->table.meta, to))
        return FAIL(err, E_INVALID, "Cannot roll back to unknown snapshot id: %lld", (long long)to);
    return move_main(c, to, err);
}

/* ---- cherry-picking -------------------------------------------------------------------------------------------------------------------- */

static Status picked_files(Call *c, const IceSnapshot *s, IceChange *ch, Error *err)
{
    Arena *a = c->r->a;
    IceManifests list = {0};

    TRY(ice_manifest_list_read(a, c->r->svc->store, c->table.meta, s, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        IceEntries entries = {0};
        if (!list.p[i].added_snapshot_id.has || list.p[i].added_snapshot_id.v != s->id)
            continue;
        if (list.p[i].deletes)
            return FAIL(err, E_UNSUPPORTED, "Cannot cherry-pick snapshot %lld: it has delete files", (long long)s->id);
        TRY(ice_manifest_read(a, c->r->svc->store, c->table.meta, &list.p[i], &entries, err));
        for (size_t k = 0; k < entries.n; k++) {
            IceEntry *e = &entries.p[k];
            if (e->status != ENTRY_ADDED || !e->snapshot_id.has || e->snapshot_id.v != s->id)
                continue;
            e->file.first_row_id = (OptI64){0};
            vec_push(a, &ch->add_data, e->file);
        }
    }
    return OK;
}

static Status not_picked_before(Call *c, const IceSnapshot *s, Error *err)
{
    const IceMetadata *m = c->table.meta;
    Str id = str_fmt(c->r->a, "%lld", (long long)s->id), wap = props_get(&s->summary, S("wap.id"), (Str){0});
    const IceSnapshot *x = ice_current_snapshot(m);

    if (x && ice_is_ancestor(m, s->id, x->id))
        return FAIL(err, E_INVALID, "Cannot cherrypick snapshot %lld: already an ancestor", (long long)s->id);
    for (size_t i = 0; x && i <= m->snapshots.n; i++) {
        if (str_eq(props_get(&x->summary, S("source-snapshot-id"), (Str){0}), id))
            return FAIL(err, E_INVALID, "Cannot cherrypick snapshot %lld: already picked to create ancestor %lld", (long long)s->id, (long long)x->id);
        if (wap.n && (str_eq(props_get(&x->summary, S("wap.id"), (Str){0}), wap) || str_eq(props_get(&x->summary, S("published-wap-id"), (Str){0}), wap)))
            return FAIL(err, E_INVALID, "Duplicate request to cherry pick wap id that was published already: " STR_FMT, STR_ARG(wap));
        x = x->parent_id.has ? ice_snapshot(m, x->parent_id.v) : NULL;
    }
    return OK;
}

static Status pick(Call *c, const IceSnapshot *s, Error *err)
{
    OptI64 now = c->table.meta->current_snapshot_id, source = SOME_I64(s->id);
    IceChange ch = { .operation = S("append") };
    Str wap = props_get(&s->summary, S("wap.id"), (Str){0});
    LakeTable next;

    TRY(not_picked_before(c, s, err));
    if (now.has == s->parent_id.has && (!now.has || now.v == s->parent_id.v)) {          /* fast-forward */
        TRY(move_branch(c, S("main"), s->id, err));
        two_ids(c, source, s->id);
        return OK;
    }
    if (!str_eq(s->operation, S("append")))
        return FAIL(err, E_UNSUPPORTED, "Cannot cherry pick snapshot %lld: not append or fast-forward", (long long)s->id);
    TRY(picked_files(c, s, &ch, err));
    props_set(c->r->a, &ch.summary, S("source-snapshot-id"), str_fmt(c->r->a, "%lld", (long long)s->id));
    if (wap.n)
        props_set(c->r->a, &ch.summary, S("published-wap-id"), wap);
    TRY(lake_commit(c->r->svc->lake, c->r->a, &c->table, &ch, NULL, 0, &next, err));
    two_ids(c, source, next.meta->current_snapshot_id.v);
    return OK;
}

Status call_cherrypick_snapshot(Call *c, Error *err)
{
    int64_t id = call_arg(c, "snapshot_id")->number;
    const IceSnapshot *s = ice_snapshot(c->table.meta, id);

    if (!s)
        return FAIL(err, E_INVALID, "Cannot cherry-pick unknown snapshot ID: %lld", (long long)id);
    return pick(c, s, err);
}

Status call_publish_changes(Call *c, Error *err)
{
    Str wap = call_arg(c, "wap_id")->text;
    const IceMetadata *m = c->table.meta;

    for (size_t i = 0; i < m->snapshots.n; i++)
        if (str_eq(props_get(&m->snapshots.p[i]->summary, S("wap.id"), (Str){0}), wap))
            return pick(c, m->snapshots.p[i], err);
    return FAIL(err, E_INVALID, "Cannot apply unknown WAP ID '" STR_FMT "'", STR_ARG(wap));
}

/* ---- fast_forward ------------------------------------------------------------------------------------------------------------------------ */

Status call_fast_forward(Call *c, Error *err)
{
    const IceMetadata *m = c->table.meta;
    Str branch = call_arg(c, "branch")->text, to = call_arg(c, "to")->text;
    const IceRef *from = ice_ref(m, branch), *target = ice_ref(m, to);

    if (!target)
        return FAIL(err, E_INVALID, "Ref does not exist: " STR_FMT, STR_ARG(to));
    if (from && !str_eq(from->type, S("branch")))
        return FAIL(err, E_INVALID, "Ref " STR_FMT " is a tag not a branch", STR_ARG(branch));
    if (from && !ice_is_ancestor(m, from->snapshot_id, target->snapshot_id))
        return FAIL(err, E_INVALID, "Cannot fast-forward: " STR_FMT " is not an ancestor of " STR_FMT, STR_ARG(branch), STR_ARG(to));
    TRY(move_branch(c, branch, target->snapshot_id, err));
    Value *row = rows_row(c->rows);
    cell_str(c->rows, row, 0, branch);
    if (from)
        cell_int(c->rows, row, 1, from->snapshot_id);
    cell_int(c->rows, row, 2, target->snapshot_id);
    return OK;
}

/* ---- ancestors_of ---------------------------------------------------------------------------------------------------------------------------- */

Status call_ancestors_of(Call *c, Error *err)
{
    const IceMetadata *m = c->table.meta;
    const Arg *id = call_arg(c, "snapshot_id");
    const IceSnapshot *s = id->has ? ice_snapshot(m, id->number) : ice_current_snapshot(m);

    if (id->has && !s)
        return FAIL(err, E_INVALID, "Cannot find snapshot: %lld", (long long)id->number);
    for (size_t i = 0; s && i <= m->snapshots.n; i++) {
        call_row(c, (const int64_t[]){ s->id, s->timestamp_ms }, 2);
        s = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    }
    return OK;
}
