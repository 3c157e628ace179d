/* SPDX-License-Identifier: Apache-2.0 */
/* apply_snapshot.c - updates of snapshots, refs and statistics.
 *
 * `main` and the current snapshot move together, and each move is logged. */
#include "iceberg/apply_int.h"

static Status check_row_ids(Build *b, const IceSnapshot *s, Error *err)
{
    if (b->m->format_version < 3)
        return OK;
    if (!s->first_row_id.has)
        return FAIL(err, E_INVALID, "Cannot add a snapshot: first-row-id is null");
    if (s->first_row_id.v < b->m->next_row_id)
        return FAIL(err, E_CONFLICT, "Cannot add a snapshot, first-row-id is behind table next-row-id: %lld < %lld",
                    (long long)s->first_row_id.v, (long long)b->m->next_row_id);
    if (!s->added_rows.has || s->added_rows.v < 0)
        return FAIL(err, E_INVALID, "Cannot add a snapshot: added-rows is null or negative");
    int64_t next;
    if (__builtin_add_overflow(s->first_row_id.v, s->added_rows.v, &next))
        return FAIL(err, E_INVALID, "Cannot add a snapshot: row ids overflow");
    b->m->next_row_id = next;
    return OK;
}

static Status check_snapshot(Build *b, const IceSnapshot *s, Error *err)
{
    const IceMetadata *m = b->m;

    if (!m->schemas.n)
        return FAIL(err, E_INVALID, "Attempting to add a snapshot before a schema is added");
    if (!m->specs.n)
        return FAIL(err, E_INVALID, "Attempting to add a snapshot before a partition spec is added");
    if (!m->orders.n)
        return FAIL(err, E_INVALID, "Attempting to add a snapshot before a sort order is added");
    if (ice_snapshot(m, s->id))
        return FAIL(err, E_INVALID, "Snapshot already exists for id: %lld", (long long)s->id);
    if (m->format_version > 1 && s->sequence_number <= m->last_sequence_number && s->parent_id.has)
        return FAIL(err, E_CONFLICT, "Cannot add snapshot with sequence number %lld older than last sequence number %lld",
                    (long long)s->sequence_number, (long long)m->last_sequence_number);
    return OK;
}

Status ice_add_snapshot(Build *b, IceSnapshot *s, Error *err)
{
    TRY(check_snapshot(b, s, err));
    TRY(check_row_ids(b, s, err));
    vec_push(b->a, &b->m->snapshots, s);
    vec_push(b->a, &b->added, s->id);
    b->m->last_updated_ms = s->timestamp_ms;
    if (b->m->format_version > 1)
        b->m->last_sequence_number = max_i64(b->m->last_sequence_number, s->sequence_number);
    b->timed = b->changed = 1;
    return OK;
}

static void move_main(Build *b, const IceSnapshot *s)
{
    b->m->current_snapshot_id = SOME_I64(s->id);
    if (HAS_ID(b->added, s->id))
        b->m->last_updated_ms = s->timestamp_ms;
    else if (!b->timed)
        b->m->last_updated_ms = b->now;
    b->timed = 1;
    vec_push(b->a, &b->was_main, s->id);
    vec_push(b->a, &b->m->snapshot_log, ((IceLogEntry){ b->m->last_updated_ms, s->id, S("") }));
}

Status ice_set_ref(Build *b, const IceRef *r, Error *err)
{
    const IceRef *old = ice_ref(b->m, r->name);
    const IceSnapshot *s = ice_snapshot(b->m, r->snapshot_id);
    bool is_main = str_eq(r->name, ICE_MAIN);

    if (old && ice_ref_equal(old, r))
        return OK;
    if (!s)
        return FAIL(err, E_INVALID, "Cannot set " STR_FMT " to unknown snapshot: %lld", STR_ARG(r->name), (long long)r->snapshot_id);
    if (is_main && !str_eq(r->type, S("branch")))
        return FAIL(err, E_INVALID, "Cannot set main to a tag, it must be a branch");
    if (is_main && (!old || old->snapshot_id != s->id))
        move_main(b, s);
    if (old)
        b->m->refs.p[old - b->m->refs.p] = *r;
    else
        vec_push(b->a, &b->m->refs, *r);
    b->changed = 1;
    return OK;
}

void ice_remove_ref(Build *b, Str name)
{
    if (!ice_ref(b->m, name))
        return;
    if (str_eq(name, ICE_MAIN))                        /* the log stays: a replaced table keeps its history */
        b->m->current_snapshot_id = (OptI64){ 0 };
    FILTER(IceRef, b->m->refs, !str_eq(it.name, name));
    b->changed = 1;
}

static Json *without_snapshot(Arena *a, const Json *list, int64_t snapshot)
{
    Json *out = json_array(a);

    for (size_t i = 0; i < json_len(list); i++)
        if (json_get_int(json_at(list, i), "snapshot-id", 0) != snapshot)
            json_push(a, out, json_at(list, i));
    return out;
}

void ice_remove_statistics(Build *b, Json **list, int64_t snapshot)
{
    Json *out = without_snapshot(b->a, *list, snapshot);

    if (json_len(out) == json_len(*list))
        return;
    *list = out;
    b->changed = 1;
}

void ice_set_statistics(Build *b, Json **list, const IceUpdate *u)
{
    *list = without_snapshot(b->a, *list, u->number);
    json_push(b->a, *list, u->json);
    b->changed = 1;
}

void ice_remove_snapshots(Build *b, const IceUpdate *u)
{
    IceMetadata *m = b->m;
    size_t before = m->snapshots.n;
    StrVec dangling = { 0 };

    for (size_t i = 0; i < u->ids.n; i++) {
        ice_remove_statistics(b, &m->statistics, u->ids.p[i]);
        ice_remove_statistics(b, &m->partition_statistics, u->ids.p[i]);
    }
    FILTER(IceSnapshot *, m->snapshots, !HAS_ID(u->ids, it->id));
    b->removed |= before != m->snapshots.n;
    b->changed |= b->removed;
    for vec_each(const IceRef, r, &m->refs)
        if (!ice_snapshot(m, r->snapshot_id))
            vec_push(b->a, &dangling, r->name);
    for vec_each(const Str, name, &dangling)
        ice_remove_ref(b, *name);
}

/* What came before an entry of a removed snapshot is history that cannot be told any more. */
void ice_finish_snapshot_log(Build *b)
{
    IceMetadata *m = b->m;
    size_t n = 0;

    for (size_t i = 0; i < m->snapshot_log.n; i++) {
        IceLogEntry e = m->snapshot_log.p[i];
        if (!ice_snapshot(m, e.snapshot_id) && b->removed) {
            n = 0;
            continue;
        }
        bool current = m->current_snapshot_id.has && m->current_snapshot_id.v == e.snapshot_id;
        if (!current && HAS_ID(b->added, e.snapshot_id) && HAS_ID(b->was_main, e.snapshot_id))
            continue;
        m->snapshot_log.p[n++] = e;
    }
    m->snapshot_log.n = n;
}
