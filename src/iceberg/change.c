/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - one change becomes one snapshot: manifests, manifest list, updates, requirements.
 *
 * The snapshot producer writes files and decides; it commits nothing.  A commit that loses the race is prepared again
 * on the new metadata; its files are all named in `written`.
 * 1. Added entries leave their sequence numbers to inheritance.  2. A manifest that holds no removed file is carried
 * over as it is.  3. Removed entries stay, as DELETED, for this one snapshot.  4. In v3 every data manifest has a
 * first row id, in list order, and the snapshot says how many ids it took. */
#include "iceberg/change_int.h"

#include <stdio.h>

enum { MANIFEST_TARGET_BYTES = 8 * 1024 * 1024 };

void ice_commit_init(Commit *c, Arena *a, Store *st, const IceMetadata *m, const IceChange *ch, StrVec *written)
{
    *c = (Commit){ .a = a, .st = st, .m = m, .ch = ch, .written = written, .doomed_data = map_new(a),
                   .doomed_deletes = map_new(a), .vectored = map_new(a), .uuid = uuid_v4(a) };
    c->sequence_number = ice_add_sat(m->last_sequence_number, 1);
    do
        c->id = (int64_t)(rand_u64() >> 1);
    while (!c->id || ice_snapshot(m, c->id));
    c->parent = ice_branch_head(m, ch->branch);
}

const IceSnapshot *ice_branch_head(const IceMetadata *m, Str branch)
{
    const IceRef *r = ice_ref(m, branch.n ? branch : ICE_MAIN);
    return r ? ice_snapshot(m, r->snapshot_id) : ice_current_snapshot(m);
}

/* ---- is the change itself sound? ------------------------------------------------------------------------------- */

static Status check_partition(Commit *c, const IceSpec *spec, const IceFile *f, Error *err)
{
    for (size_t i = 0; i < f->npartition; i++) {
        const IcePartitionField *p = &spec->fields.p[i];
        const IceType *t = ice_partition_type(c->a, c->m, p);
        if (t && !ice_value_fits(t, &f->partition[i])) {
            Str type = ice_type_text(c->a, t);
            return FAIL(err, E_INVALID, "file '" STR_FMT "': partition value of '" STR_FMT "' is no " STR_FMT, STR_ARG(f->path),
                        STR_ARG(p->name), STR_ARG(type));
        }
    }
    return OK;
}

static Status check_file(Commit *c, const IceFile *f, Error *err)
{
    const IceSpec *spec = ice_spec(c->m, f->spec_id);

    if (!spec)
        return FAIL(err, E_INVALID, "Cannot find partition spec %d for file: " STR_FMT, (int)f->spec_id, STR_ARG(f->path));
    if (f->npartition != spec->fields.n)
        return FAIL(err, E_INVALID, "file '" STR_FMT "' has %zu partition values, its spec has %zu fields", STR_ARG(f->path),
                    f->npartition, spec->fields.n);
    if (!f->path.n || !f->format.n || f->record_count < 0 || f->size < 0)
        return FAIL(err, E_INVALID, "file '" STR_FMT "' lacks a path, format, size or record count", STR_ARG(f->path));
    return check_partition(c, spec, f, err);
}

static Status check_delete(Commit *c, const IceFile *f, Error *err)
{
    bool dv = ice_is_dv(f);

    if (f->content == CONTENT_DATA)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is no delete file", STR_ARG(f->path));
    if (f->content == CONTENT_EQUALITY_DELETES)
        return f->equality_ids.n ? OK : FAIL(err, E_INVALID, "equality delete file '" STR_FMT "' has no equality ids", STR_ARG(f->path));
    if (!dv && c->m->format_version >= 3)
        return FAIL(err, E_INVALID, "Must use DVs for position deletes in V%d: " STR_FMT, c->m->format_version, STR_ARG(f->path));
    if (dv && c->m->format_version < 3)
        return FAIL(err, E_INVALID, "Must not use DVs for position deletes in V%d: " STR_FMT, c->m->format_version, STR_ARG(f->path));
    if (!dv)
        return OK;
    if (!f->referenced_data_file.n || !f->content_offset.has || !f->content_size.has)
        return FAIL(err, E_INVALID, "deletion vector in '" STR_FMT "' lacks its data file, offset or size", STR_ARG(f->path));
    if (map_has(&c->vectored, f->referenced_data_file))
        return FAIL(err, E_INVALID, "Cannot add multiple DVs for " STR_FMT, STR_ARG(f->referenced_data_file));
    map_put(&c->vectored, f->referenced_data_file, (void *)1);
    return OK;
}

static Status check_adds(Commit *c, Error *err)
{
    Map seen = map_new(c->a);

    for vec_each(const IceFile, f, &c->ch->add_data) {
        TRY(check_file(c, f, err));
        if (f->content != CONTENT_DATA)
            return FAIL(err, E_INVALID, "'" STR_FMT "' is no data file", STR_ARG(f->path));
        if (map_has(&seen, f->path))
            return FAIL(err, E_INVALID, "file '" STR_FMT "' is added twice", STR_ARG(f->path));
        map_put(&seen, f->path, (void *)1);
    }
    for vec_each(const IceFile, f, &c->ch->add_deletes) {
        TRY(check_file(c, f, err));
        TRY(check_delete(c, f, err));
        if (!ice_is_dv(f) && map_has(&seen, f->path))
            return FAIL(err, E_INVALID, "file '" STR_FMT "' is added twice", STR_ARG(f->path));
        map_put(&seen, f->path, (void *)1);
    }
    return OK;
}

/* ---- writing what is added ---------------------------------------------------------------------------------------- */

Str ice_commit_manifest_path(Commit *c)
{
    return ice_metadata_file(c->a, c->m, str_fmt(c->a, STR_FMT "-m%d.avro", STR_ARG(c->uuid), c->nfiles++));
}

Status ice_commit_write(Commit *c, int32_t spec_id, int deletes, const IceEntries *entries, IceManifest *ret, Error *err)
{
    IceManifestPlan plan = { .path = ice_commit_manifest_path(c), .spec_id = spec_id, .deletes = deletes, .snapshot_id = c->id,
                             .sequence_number = c->sequence_number };

    vec_push(c->a, c->written, plan.path);
    return ice_manifest_write(c->a, c->st, c->m, &plan, entries, ret, err);
}

/* About what an entry takes in a compressed manifest. */
static int64_t weight(const IceFile *f)
{
    size_t stats = 8 * (f->column_sizes.n + f->value_counts.n + f->null_counts.n + f->nan_counts.n) + f->path.n + 100;

    for vec_each(const IceBound, b, &f->lower)
        stats += 4 + b->bytes.n;
    for vec_each(const IceBound, b, &f->upper)
        stats += 4 + b->bytes.n;
    return (int64_t)(stats / 3);
}

static IceEntry added_entry(const Commit *c, const IceFile *f)
{
    IceEntry e = { .status = ENTRY_ADDED, .snapshot_id = SOME_I64(c->id), .file = *f };

    if (f->content == CONTENT_DATA)
        e.sequence_number = c->ch->data_sequence_number;
    if (c->m->format_version < 3)
        e.file.first_row_id = (OptI64){ 0 };
    return e;
}

typedef VEC(IceFile) Files;

/* Files of one spec, in manifests of about the target size. */
static Status add_group(Commit *c, const Files *files, int32_t spec_id, int deletes, IceManifests *list, Error *err)
{
    int64_t target = ice_prop_i64(&c->m->properties, "commit.manifest.target-size-bytes", MANIFEST_TARGET_BYTES), size = 0;
    IceEntries entries = { 0 };
    IceManifest mf;

    for vec_each(const IceFile, f, files) {
        if (f->spec_id != spec_id)
            continue;
        vec_push(c->a, &entries, added_entry(c, f));
        size += weight(f);
        if (size < target)
            continue;
        TRY(ice_commit_write(c, spec_id, deletes, &entries, &mf, err));
        vec_push(c->a, list, mf);
        entries.n = 0;
        size = 0;
    }
    if (!entries.n)
        return OK;
    TRY(ice_commit_write(c, spec_id, deletes, &entries, &mf, err));
    vec_push(c->a, list, mf);
    return OK;
}

/* New manifests come first in the list, as the reference has them. */
static Status add_files(Commit *c, const void *added, int deletes, IceManifests *list, Error *err)
{
    const Files *files = added;
    IceManifests all = { 0 };

    for (size_t i = 0; i < c->m->specs.n; i++)
        TRY(add_group(c, files, c->m->specs.p[i]->id, deletes, &all, err));
    for vec_each(const IceManifest, mf, list)
        vec_push(c->a, &all, *mf);
    *list = all;
    return OK;
}

/* ---- row ids --------------------------------------------------------------------------------------------------------- */

void ice_commit_keep_row_ids(const IceManifest *from, const IceEntries *entries, IceManifest *to)
{
    for vec_each(const IceEntry, e, entries)
        if (ice_is_live(e) && !e->file.first_row_id.has)
            return;
    to->first_row_id = from->first_row_id;
}

static Status assign_row_ids(Commit *c, IceSnapshot *s, Error *err)
{
    int64_t next = c->m->next_row_id;

    if (c->m->format_version < 3)
        return OK;
    for vec_each(IceManifest, mf, &c->data) {
        int64_t rows = ice_add_sat(mf->added_rows.v, mf->existing_rows.v);
        if (mf->first_row_id.has)
            continue;
        mf->first_row_id = SOME_I64(next);
        if (rows < 0 || __builtin_add_overflow(next, rows, &next))
            return FAIL(err, E_CORRUPT, "manifest '" STR_FMT "' says that it has %lld rows", STR_ARG(mf->path), (long long)rows);
    }
    s->first_row_id = SOME_I64(c->m->next_row_id);
    s->added_rows = SOME_I64(next - c->m->next_row_id);
    return OK;
}

/* ---- the snapshot ----------------------------------------------------------------------------------------------------- */

static IceManifests whole_list(Commit *c)
{
    IceManifests all = { 0 };

    for vec_each(const IceManifest, mf, &c->data)
        vec_push(c->a, &all, *mf);
    for vec_each(const IceManifest, mf, &c->deletes)
        vec_push(c->a, &all, *mf);
    return all;
}

static void make_updates(Commit *c, IceSnapshot *s, IceUpdates *ups, IceRequirements *rqs)
{
    Str branch = c->ch->branch.n ? c->ch->branch : ICE_MAIN;
    const IceRef *old = ice_ref(c->m, branch);
    IceRef ref = old ? *old : (IceRef){ .name = branch, .type = S("branch") };
    OptI64 expected = old ? SOME_I64(old->snapshot_id) : (OptI64){ 0 };

    ref.snapshot_id = s->id;
    vec_push(c->a, ups, ((IceUpdate){ .kind = UP_ADD_SNAPSHOT, .snapshot = s }));
    vec_push(c->a, rqs, ((IceRequirement){ .kind = RQ_UUID, .text = c->m->uuid }));
    if (c->ch->stage_only)
        return;
    vec_push(c->a, ups, ((IceUpdate){ .kind = UP_SET_REF, .text = branch, .ref = ref }));
    vec_push(c->a, rqs, ((IceRequirement){ .kind = RQ_REF_SNAPSHOT, .text = branch, .number = expected }));
}

Status ice_commit_finish(Commit *c, int64_t now_ms, IceUpdates *ups, IceRequirements *rqs, Error *err)
{
    IceSnapshot *s = arena_new(c->a, IceSnapshot);
    Str path = ice_metadata_file(c->a, c->m, str_fmt(c->a, "snap-%lld-1-" STR_FMT ".avro", (long long)c->id, STR_ARG(c->uuid)));

    s->id = c->id;
    s->sequence_number = c->sequence_number;
    s->timestamp_ms = max_i64(now_ms, c->m->last_updated_ms);
    s->parent_id = c->parent ? SOME_I64(c->parent->id) : (OptI64){ 0 };
    s->schema_id = c->ch->schema_id.has ? c->ch->schema_id : SOME_I32(c->m->current_schema_id);
    s->operation = c->ch->operation;
    s->manifest_list = path;
    TRY(assign_row_ids(c, s, err));
    ice_commit_summary(c, s);
    IceManifests all = whole_list(c);
    vec_push(c->a, c->written, path);
    TRY(ice_manifest_list_write(c->a, c->st, c->m, s, path, &all, err));
    make_updates(c, s, ups, rqs);
    return OK;
}

static Status check_operation(const IceChange *ch, Error *err)
{
    static const char *const KNOWN[] = { "append", "overwrite", "delete", "replace" };

    for (size_t i = 0; i < COUNT_OF(KNOWN); i++)
        if (str_eq(ch->operation, str_c(KNOWN[i])))
            return OK;
    return FAIL(err, E_INVALID, "unknown snapshot operation '" STR_FMT "'", STR_ARG(ch->operation));
}

Status ice_change_prepare(Arena *a, Store *st, const IceMetadata *m, const IceChange *ch, int64_t now_ms, IceUpdates *ups,
                          IceRequirements *rqs, StrVec *written, Error *err)
{
    Commit c;

    ice_commit_init(&c, a, st, m, ch, written);
    TRY(check_operation(ch, err));
    TRY(check_adds(&c, err));
    if (ch->branch.n && ice_ref(m, ch->branch) && !str_eq(ice_ref(m, ch->branch)->type, S("branch")))
        return FAIL(err, E_INVALID, STR_FMT " is a tag, not a branch. Tags cannot be targets for producing snapshots", STR_ARG(ch->branch));
    TRY(ice_commit_filter(&c, err));
    TRY(ice_commit_check(&c, err));
    TRY(add_files(&c, &ch->add_data, 0, &c.data, err));
    TRY(add_files(&c, &ch->add_deletes, 1, &c.deletes, err));
    TRY(ice_commit_merge(&c, &c.data, err));
    TRY(ice_commit_merge(&c, &c.deletes, err));
    return ice_commit_finish(&c, now_ms, ups, rqs, err);
}
