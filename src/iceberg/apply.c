/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - updates applied to metadata give new metadata (the rules of the reference's TableMetadata.Builder).
 *
 * The builder works on a copy whose lists are its own; the value it started from is never touched.
 * 1. An identical schema, spec or order is not added again: its id is reused.  2. -1 means what this request added
 * last.  3. Only a snapshot newer than the last sequence number is added.  4. `main` and the current snapshot move
 * together and leave a log entry; snapshots that were current only inside of this commit leave none. */
#include "iceberg/iceberg_int.h"

typedef struct Build {
    Arena *a;
    IceMetadata *m;
    int64_t now;
    int changed, timed;                    /* timed: last_updated_ms is set by this commit */
    OptI32 added_schema, added_spec, added_order;
    VEC(int64_t) added, was_main;          /* snapshots of this commit; those that main pointed to during it */
} Build;

static bool has_id(const int64_t *p, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == id)
            return true;
    return false;
}

#define HAS_ID(v, id) has_id((v).p, (v).n, (id))

#define COPY_LIST(a, v) do {                                                       \
    void *to_ = (v).n ? arena_alloc((a), (v).n * sizeof *(v).p) : NULL;            \
    if ((v).n)                                                                     \
        memcpy(to_, (v).p, (v).n * sizeof *(v).p);                                 \
    (v).p = to_;                                                                   \
    (v).cap = (v).n;                                                               \
} while (0)

/* Keeps the elements for which `keep` (an expression over `it`) holds. */
#define FILTER(T, v, keep) do {                                                    \
    size_t out_ = 0;                                                               \
    for (size_t i_ = 0; i_ < (v).n; i_++) {                                        \
        T it = (v).p[i_];                                                          \
        if (keep)                                                                  \
            (v).p[out_++] = it;                                                    \
    }                                                                              \
    (v).n = out_;                                                                  \
} while (0)

static IceMetadata *copy_of(Arena *a, const IceMetadata *m)
{
    IceMetadata *c = arena_new(a, IceMetadata);

    *c = *m;
    COPY_LIST(a, c->schemas);
    COPY_LIST(a, c->specs);
    COPY_LIST(a, c->orders);
    COPY_LIST(a, c->properties);
    COPY_LIST(a, c->snapshots);
    COPY_LIST(a, c->snapshot_log);
    COPY_LIST(a, c->metadata_log);
    COPY_LIST(a, c->refs);
    return c;
}

/* ---- schemas, specs, orders ----------------------------------------------------------------------------------- */

static void rising(int32_t *last, int32_t id) { *last = id > *last ? id : *last; }

static Status add_schema(Build *b, const IceSchema *s, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = m->current_schema_id, top = ice_schema_highest_id(s);

    TRY(ice_schema_check_version(b->a, s, m->format_version, err));
    for (size_t i = 0; i < m->schemas.n; i++) {
        if (ice_same_schema(m->schemas.p[i], s)) {
            b->added_schema = SOME_I32(m->schemas.p[i]->id);
            return OK;
        }
        id = m->schemas.p[i]->id >= id ? m->schemas.p[i]->id + 1 : id;
    }
    IceSchema *added = arena_new(b->a, IceSchema);
    *added = *s;
    added->id = id;
    vec_push(b->a, &m->schemas, added);
    rising(&m->last_column_id, top);
    b->added_schema = SOME_I32(id);
    b->changed = 1;
    return OK;
}

static Status last_added(OptI32 added, int64_t asked, const char *what, const char *whats, int32_t *ret, Error *err)
{
    if (asked == -1 && !added.has)
        return FAIL(err, E_INVALID, "Cannot set last added %s: no %s has been added", what, whats);
    *ret = asked == -1 ? added.v : (int32_t)asked;
    return OK;
}

static Status set_current_schema(Build *b, int64_t asked, Error *err)
{
    int32_t id;

    TRY(last_added(b->added_schema, asked, "schema", "schema", &id, err));
    if (!ice_schema(b->m, id))
        return FAIL(err, E_INVALID, "Cannot set current schema to unknown schema: %d", (int)id);
    b->changed |= id != b->m->current_schema_id;
    b->m->current_schema_id = id;
    return OK;
}

static Status source_exists(Build *b, int32_t source, const char *what, Str name, Error *err)
{
    if (ice_field_by_id(ice_current_schema(b->m), source))
        return OK;
    return FAIL(err, E_INVALID, "Cannot find source column for %s field: " STR_FMT " (id %d)", what, STR_ARG(name), (int)source);
}

static Status check_transform(Build *b, const IcePartitionField *f, Error *err)
{
    const IceField *source = ice_field_by_id(ice_current_schema(b->m), f->source_id);
    IceValue null = { .null = 1 }, out;

    if (f->transform.kind == TRANSFORM_UNKNOWN)
        return FAIL(err, E_INVALID, "Cannot use unknown transform: " STR_FMT, STR_ARG(f->transform.text));
    return ice_transform_apply(b->a, &f->transform, source->type, &null, &out, err);
}

/* An id that another spec gave to the same source and transform is used again. */
static int32_t partition_id(Build *b, const IcePartitionField *f)
{
    for (size_t i = 0; i < b->m->specs.n; i++)
        for vec_each(const IcePartitionField, g, &b->m->specs.p[i]->fields)
            if (g->source_id == f->source_id && g->transform.kind == f->transform.kind && g->transform.width == f->transform.width)
                return g->field_id;
    return ++b->m->last_partition_id;
}

static Status fresh_spec(Build *b, const IceSpec *s, int32_t id, IceSpec **ret, Error *err)
{
    IceSpec *added = arena_new(b->a, IceSpec);

    *added = *s;
    added->id = id;
    COPY_LIST(b->a, added->fields);
    for vec_each(IcePartitionField, f, &added->fields) {
        TRY(source_exists(b, f->source_id, "partition", f->name, err));
        TRY(check_transform(b, f, err));
        if (!f->field_id)
            f->field_id = partition_id(b, f);
        rising(&b->m->last_partition_id, f->field_id);
    }
    for (size_t i = 0; b->m->format_version == 1 && i < added->fields.n; i++)
        if (added->fields.p[i].field_id != FIRST_PARTITION_ID + (int32_t)i)
            return FAIL(err, E_INVALID, "Spec does not use sequential IDs that are required in v1");
    *ret = added;
    return OK;
}

static Status add_spec(Build *b, const IceSpec *s, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = m->default_spec_id;
    IceSpec *added;

    if (!m->schemas.n)
        return FAIL(err, E_INVALID, "Attempting to add a partition spec before a schema is added");
    for (size_t i = 0; i < m->specs.n; i++) {
        if (ice_spec_compatible(m->specs.p[i], s)) {
            b->added_spec = SOME_I32(m->specs.p[i]->id);
            return OK;
        }
        id = m->specs.p[i]->id >= id ? m->specs.p[i]->id + 1 : id;
    }
    TRY(fresh_spec(b, s, id, &added, err));
    vec_push(b->a, &m->specs, added);
    b->added_spec = SOME_I32(id);
    b->changed = 1;
    return OK;
}

static Status set_default_spec(Build *b, int64_t asked, Error *err)
{
    int32_t id;

    TRY(last_added(b->added_spec, asked, "spec", "spec", &id, err));
    if (!ice_spec(b->m, id))
        return FAIL(err, E_INVALID, "Cannot set default spec to unknown spec: %d", (int)id);
    b->changed |= id != b->m->default_spec_id;
    b->m->default_spec_id = id;
    return OK;
}

static Status add_order(Build *b, const IceSortOrder *o, Error *err)
{
    IceMetadata *m = b->m;
    int32_t id = o->fields.n ? 1 : 0;

    for (size_t i = 0; i < m->orders.n; i++) {
        if (ice_order_same(m->orders.p[i], o)) {
            b->added_order = SOME_I32(m->orders.p[i]->id);
            return OK;
        }
        id = o->fields.n && m->orders.p[i]->id >= id ? m->orders.p[i]->id + 1 : id;
    }
    for vec_each(const IceSortField, f, &o->fields)
        TRY(source_exists(b, f->source_id, "sort", f->transform.text, err));
    IceSortOrder *added = arena_new(b->a, IceSortOrder);
    *added = *o;
    added->id = id;
    vec_push(b->a, &m->orders, added);
    b->added_order = SOME_I32(id);
    b->changed = 1;
    return OK;
}

static Status set_default_order(Build *b, int64_t asked, Error *err)
{
    bool found = false;
    int32_t id;

    TRY(last_added(b->added_order, asked, "sort order", "sort order", &id, err));
    for (size_t i = 0; i < b->m->orders.n; i++)
        found |= b->m->orders.p[i]->id == id;
    if (!found)
        return FAIL(err, E_INVALID, "Cannot set default sort order to unknown sort order: %d", (int)id);
    b->changed |= id != b->m->default_order_id;
    b->m->default_order_id = id;
    return OK;
}

static Status remove_schemas(Build *b, const IceUpdate *u, Error *err)
{
    size_t before = b->m->schemas.n;

    if (HAS_ID(u->ids, b->m->current_schema_id))
        return FAIL(err, E_INVALID, "Cannot remove the current schema");
    FILTER(IceSchema *, b->m->schemas, !HAS_ID(u->ids, it->id));
    b->changed |= before != b->m->schemas.n;
    return OK;
}

static Status remove_specs(Build *b, const IceUpdate *u, Error *err)
{
    size_t before = b->m->specs.n;

    if (HAS_ID(u->ids, b->m->default_spec_id))
        return FAIL(err, E_INVALID, "Cannot remove the default partition spec");
    FILTER(IceSpec *, b->m->specs, !HAS_ID(u->ids, it->id));
    b->changed |= before != b->m->specs.n;
    return OK;
}

/* ---- snapshots and refs -------------------------------------------------------------------------------------- */

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

static Status add_snapshot(Build *b, IceSnapshot *s, Error *err)
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

static Status set_ref(Build *b, const IceRef *r, Error *err)
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

static void remove_ref(Build *b, Str name)
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

static void remove_statistics(Build *b, Json **list, int64_t snapshot)
{
    Json *out = without_snapshot(b->a, *list, snapshot);

    if (json_len(out) == json_len(*list))
        return;
    *list = out;
    b->changed = 1;
}

static void set_statistics(Build *b, Json **list, const IceUpdate *u)
{
    *list = without_snapshot(b->a, *list, u->number);
    json_push(b->a, *list, u->json);
    b->changed = 1;
}

static void remove_snapshots(Build *b, const IceUpdate *u)
{
    IceMetadata *m = b->m;
    size_t before = m->snapshots.n;
    StrVec dangling = { 0 };

    for (size_t i = 0; i < u->ids.n; i++) {
        remove_statistics(b, &m->statistics, u->ids.p[i]);
        remove_statistics(b, &m->partition_statistics, u->ids.p[i]);
    }
    FILTER(IceSnapshot *, m->snapshots, !HAS_ID(u->ids, it->id));
    b->changed |= before != m->snapshots.n;
    for vec_each(const IceRef, r, &m->refs)
        if (!ice_snapshot(m, r->snapshot_id))
            vec_push(b->a, &dangling, r->name);
    for vec_each(const Str, name, &dangling)
        remove_ref(b, *name);
}

/* ---- the rest -------------------------------------------------------------------------------------------------- */

static Status upgrade(Build *b, int64_t version, Error *err)
{
    if (version > FORMAT_VERSION_MAX)
        return FAIL(err, E_INVALID, "Cannot upgrade table to unsupported format version: v%lld (supported: v%d)", (long long)version,
                    FORMAT_VERSION_MAX);
    if (version < b->m->format_version)
        return FAIL(err, E_INVALID, "Cannot downgrade v%d table to v%lld", b->m->format_version, (long long)version);
    b->changed |= version != b->m->format_version;
    b->m->format_version = (int)version;
    return OK;
}

static void set_text(Build *b, Str *field, Str value)
{
    b->changed |= !str_eq(*field, value);
    *field = value;
}

static Status properties(Build *b, const IceUpdate *u, Error *err)
{
    (void)err;
    for vec_each(const KeyValue, kv, &u->props) {
        if (props_has(&b->m->properties, kv->key) && str_eq(props_get(&b->m->properties, kv->key, S("")), kv->value))
            continue;
        props_set(b->a, &b->m->properties, kv->key, kv->value);
        b->changed = 1;
    }
    for vec_each(const Str, key, &u->keys)
        b->changed |= props_del(&b->m->properties, *key);
    return OK;
}

static void encryption_key(Build *b, const IceUpdate *u)
{
    Json *out = json_array(b->a), *old = b->m->encryption_keys;

    for (size_t i = 0; i < json_len(old); i++)
        if (!str_eq(json_get_str(json_at(old, i), "key-id", S("")), u->text))
            json_push(b->a, out, json_at(old, i));
    if (u->json)
        json_push(b->a, out, u->json);
    b->changed |= u->json || json_len(out) != json_len(old);
    b->m->encryption_keys = json_len(out) || old ? out : NULL;
}

static Status apply_one(Build *b, const IceUpdate *u, Error *err)
{
    switch (u->kind) {
    case UP_ASSIGN_UUID: set_text(b, &b->m->uuid, u->text); return OK;
    case UP_UPGRADE_FORMAT: return upgrade(b, u->number, err);
    case UP_ADD_SCHEMA: return add_schema(b, u->schema, err);
    case UP_SET_CURRENT_SCHEMA: return set_current_schema(b, u->number, err);
    case UP_ADD_SPEC: return add_spec(b, u->spec, err);
    case UP_SET_DEFAULT_SPEC: return set_default_spec(b, u->number, err);
    case UP_ADD_ORDER: return add_order(b, u->order, err);
    case UP_SET_DEFAULT_ORDER: return set_default_order(b, u->number, err);
    case UP_ADD_SNAPSHOT: return add_snapshot(b, u->snapshot, err);
    case UP_SET_REF: return set_ref(b, &u->ref, err);
    case UP_REMOVE_SNAPSHOTS: remove_snapshots(b, u); return OK;
    case UP_REMOVE_REF: remove_ref(b, u->text); return OK;
    case UP_SET_LOCATION: set_text(b, &b->m->location, u->text); return OK;
    case UP_SET_PROPERTIES:
    case UP_REMOVE_PROPERTIES: return properties(b, u, err);
    case UP_SET_STATISTICS: set_statistics(b, &b->m->statistics, u); return OK;
    case UP_REMOVE_STATISTICS: remove_statistics(b, &b->m->statistics, u->number); return OK;
    case UP_SET_PARTITION_STATISTICS: set_statistics(b, &b->m->partition_statistics, u); return OK;
    case UP_REMOVE_PARTITION_STATISTICS: remove_statistics(b, &b->m->partition_statistics, u->number); return OK;
    case UP_REMOVE_SPECS: return remove_specs(b, u, err);
    case UP_REMOVE_SCHEMAS: return remove_schemas(b, u, err);
    case UP_ADD_ENCRYPTION_KEY:
    case UP_REMOVE_ENCRYPTION_KEY: encryption_key(b, u); return OK;
    }
    return FAIL(err, E_INTERNAL, "update kind %d", (int)u->kind);
}

/* ---- finishing ---------------------------------------------------------------------------------------------------- */

/* Invariant 4; and what came before an entry of a removed snapshot is history that cannot be told any more. */
static void finish_snapshot_log(Build *b)
{
    IceMetadata *m = b->m;
    size_t n = 0;

    for (size_t i = 0; i < m->snapshot_log.n; i++) {
        IceLogEntry e = m->snapshot_log.p[i];
        if (!ice_snapshot(m, e.snapshot_id)) {
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

static void log_previous(Build *b, const IceMetadata *old, Str location)
{
    IceMetadata *m = b->m;
    int64_t keep = max_i64(1, ice_prop_i64(&m->properties, "write.metadata.previous-versions-max", 100));

    if (location.n)
        vec_push(b->a, &m->metadata_log, ((IceLogEntry){ old->last_updated_ms, 0, location }));
    if ((int64_t)m->metadata_log.n > keep) {
        size_t drop = m->metadata_log.n - (size_t)keep;
        m->metadata_log.p += drop;
        m->metadata_log.n -= drop;
        m->metadata_log.cap = m->metadata_log.n;
    }
}

static Status complete(Build *b, Error *err)
{
    IceMetadata *m = b->m;

    if (!m->location.n)
        return FAIL(err, E_INVALID, "Cannot build table metadata: no location");
    if (!ice_current_schema(m))
        return FAIL(err, E_INVALID, "Cannot build table metadata: no current schema");
    if (!ice_spec(m, m->default_spec_id))
        return FAIL(err, E_INVALID, "Cannot build table metadata: no default partition spec");
    if (!m->orders.n)
        vec_push(b->a, &m->orders, arena_new(b->a, IceSortOrder));
    if (!m->uuid.n)
        m->uuid = uuid_v4(b->a);
    return ice_schema_check_version(b->a, ice_current_schema(m), m->format_version, err);
}

/* Nothing yet: the first upgrade of the request says the format version. */
static IceMetadata *empty(Arena *a, const IceUpdates *ups)
{
    IceMetadata *m = arena_new(a, IceMetadata);

    m->format_version = 2;
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    for vec_each(const IceUpdate, u, ups) {
        if (u->kind != UP_UPGRADE_FORMAT)
            continue;
        if (u->number >= 1 && u->number <= FORMAT_VERSION_MAX)
            m->format_version = (int)u->number;
        break;
    }
    return m;
}

Status ice_metadata_apply(Arena *a, const IceMetadata *m, Str previous_location, const IceUpdates *ups, int64_t now_ms,
                          IceMetadata **ret, int *changed, Error *err)
{
    Build b = { .a = a, .m = m ? copy_of(a, m) : empty(a, ups), .now = now_ms, .changed = !m };

    for vec_each(const IceUpdate, u, ups)
        TRY(apply_one(&b, u, err));
    TRY(complete(&b, err));
    finish_snapshot_log(&b);
    if (b.changed && !b.timed)
        b.m->last_updated_ms = now_ms;
    if (b.changed && m)
        log_previous(&b, m, previous_location);
    *changed = b.changed;
    *ret = b.m;
    return OK;
}

/* ---- new tables ------------------------------------------------------------------------------------------------------ */

static Status new_spec(Build *b, const IceNewTable *t, const IceSchema *fresh, Error *err)
{
    static const IceSpec UNPARTITIONED = { 0 };
    const IceSpec *given = t->spec ? t->spec : &UNPARTITIONED;
    IceSpec spec = *given;
    int32_t id = FIRST_PARTITION_ID;

    COPY_LIST(b->a, spec.fields);
    for vec_each(IcePartitionField, f, &spec.fields) {
        int32_t twin = ice_id_twin(&t->schema->fields, &fresh->fields, f->source_id);
        if (twin < 0)
            return FAIL(err, E_INVALID, "Cannot find source column for partition field: " STR_FMT, STR_ARG(f->name));
        f->source_id = twin;
        f->field_id = id++;
    }
    return add_spec(b, &spec, err);
}

static Status new_order(Build *b, const IceNewTable *t, const IceSchema *fresh, Error *err)
{
    static const IceSortOrder UNSORTED = { 0 };
    IceSortOrder order = t->order ? *t->order : UNSORTED;

    COPY_LIST(b->a, order.fields);
    for vec_each(IceSortField, f, &order.fields) {
        int32_t twin = ice_id_twin(&t->schema->fields, &fresh->fields, f->source_id);
        if (twin < 0)
            return FAIL(err, E_INVALID, "Cannot find source column for sort field with id %d", (int)f->source_id);
        f->source_id = twin;
    }
    return add_order(b, &order, err);
}

static Status new_version(const IceNewTable *t, int *ret, Error *err)
{
    Str text = props_get(&t->properties, S("format-version"), S(""));
    int64_t version = t->format_version ? t->format_version : 2;

    if (text.n && !str_to_i64(text, &version))
        return FAIL(err, E_INVALID, "Invalid format-version: '" STR_FMT "'", STR_ARG(text));
    if (version < 1 || version > FORMAT_VERSION_MAX)
        return FAIL(err, E_INVALID, "Unsupported format version: v%lld (supported: v%d)", (long long)version, FORMAT_VERSION_MAX);
    *ret = (int)version;
    return OK;
}

Status ice_metadata_new(Arena *a, const IceNewTable *t, IceMetadata **ret, Error *err)
{
    IceMetadata *m = arena_new(a, IceMetadata);
    Build b = { .a = a, .m = m };

    TRY(new_version(t, &m->format_version, err));
    m->uuid = t->uuid.n ? t->uuid : uuid_v4(a);
    m->location = t->location;
    m->last_updated_ms = clock_ms();
    m->last_partition_id = FIRST_PARTITION_ID - 1;
    IceSchema *fresh = ice_schema_assign_ids(a, t->schema, &m->last_column_id);
    TRY(add_schema(&b, fresh, err));
    TRY(new_spec(&b, t, fresh, err));
    TRY(new_order(&b, t, fresh, err));
    m->default_order_id = b.added_order.v;
    for vec_each(const KeyValue, kv, &t->properties)
        if (!str_eq(kv->key, S("format-version")))
            props_set(a, &m->properties, kv->key, kv->value);
    if (!props_has(&m->properties, S("write.parquet.compression-codec")))
        props_set(a, &m->properties, S("write.parquet.compression-codec"), S("zstd"));
    *ret = m;
    return OK;
}
