/* SPDX-License-Identifier: Apache-2.0 */
/* sink_maintain.c - the table kept in shape by who writes it: small files joined, old snapshots expired, our own orphans removed.
 *
 * Policy, in SinkSpec.props (ms, bytes, counts):
 *   sink.maintenance = on | off        off where the service keeps the table itself (S3 Tables)
 *   sink.maintenance.interval-ms       600,000
 *   sink.rewrite.min-files = 16        small files of a partition that are joined; 0: never
 *   sink.rewrite.delete-files = 16     a data file that so many delete files apply to is written again
 *   sink.expire.max-age-ms             432,000,000 (five days); 0: never
 *   sink.expire.min-snapshots = 20
 *   sink.orphans.older-than-ms         259,200,000 (three days); 0: never
 * Manifests are merged by each commit (commit.manifest-merge.* of the table).
 * Invariants: (1) a replacement carries the newest progress again, so that expiry never takes the last one; (2) the snapshots with the newest progress stay whatever their age;
 * (3) only files named mz_data-… are removed as orphans; (4) what fails here fails alone: the sink goes on, and tries again next time. */
#include "sink/sink_int.h"
#include "lake/maintain.h"

enum { INTERVAL_MS = 600000, MIN_FILES = 16, DELETE_FILES = 16, MIN_SNAPSHOTS = 20 };
#define EXPIRE_MS 432000000ll
#define ORPHANS_MS 259200000ll

Str policy_get(const SinkSpec *s, const char *key, Str fallback) { return props_get(&s->props, str_c(key), fallback); }

int64_t policy_i64(const SinkSpec *s, const char *key, int64_t fallback)
{
    int64_t n;
    return str_to_i64(policy_get(s, key, (Str){0}), &n) && n >= 0 ? n : fallback;
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------ */

/* (1) */
static Status keep_progress(Arena *a, const IceMetadata *m, IceChange *ch, Error *err)
{
    static const char *const keys[] = { "mz-frontier", "mz-sink-id", "mz-sink-version" };
    const IceSnapshot *s = NULL;
    Progress p;

    TRY(progress_read(m, &p, err));
    if (p.has)
        s = ice_snapshot(m, p.snapshot);
    for (size_t i = 0; s && i < COUNT_OF(keys); i++)
        props_set(a, &ch->summary, str_c(keys[i]), props_get(&s->summary, str_c(keys[i]), (Str){0}));
    return OK;
}

static bool is_certain(Status s) { return s != OK && s != E_UNKNOWN && s != E_TIMEOUT && s != E_UNAVAILABLE && s != E_IO && s != E_CONFLICT; }

static Status rewrite(Sink *s, Arena *a, Table *t, Error *err)
{
    LakeRewrite rw = { .min_input_files = policy_i64(&s->spec, "sink.rewrite.min-files", MIN_FILES), .delete_file_threshold = policy_i64(&s->spec, "sink.rewrite.delete-files", DELETE_FILES),
                       .prefix = S("mz_data-") };
    IceRequirements rqs = {0};
    LakeRewritten done = {0};
    LakeFiles files = {0};
    IceUpdates ups = {0};
    StrVec written = {0};
    IceChange ch = {0};

    if (!rw.min_input_files)
        return OK;
    TRY(lake_rewrite_prepare(t->lake, a, s->conn, &t->lt, &rw, &ch, &files, &done, err));
    if (!done.rewritten_files)
        return OK;
    Status st = keep_progress(a, t->remote.meta, &ch, err);
    if (st == OK)
        st = ice_change_prepare(a, t->remote.store, t->remote.meta, &ch, clock_ms(), &ups, &rqs, &written, err);
    if (st == OK)
        st = remote_table_commit(&t->remote, a, &ups, &rqs, err);
    if (is_certain(st)) {                             /* else orphans: an answer may have been lost */
        lake_discard(t->lake, &files);
        lake_discard_written(t->lake, &written);
    }
    return st;
}

/* ---- snapshots -------------------------------------------------------------------------------------------------------------------- */

static Status expire(Sink *s, Arena *a, Table *t, Error *err)
{
    int64_t age = policy_i64(&s->spec, "sink.expire.max-age-ms", EXPIRE_MS), now = clock_ms();
    IceExpire e = { .older_than_ms = now - age, .retain_last = (int)policy_i64(&s->spec, "sink.expire.min-snapshots", MIN_SNAPSHOTS), .now_ms = now };
    IceRequirements rqs = {0};
    IceUpdates ups = {0};
    StrVec lost = {0};
    Error ignored;
    Progress p;

    if (!age || !t->remote.meta->snapshots.n)
        return OK;
    TRY(progress_read(t->remote.meta, &p, err));
    int64_t pinned[] = { p.snapshot };                /* (2) */
    TRY(ice_expire(a, t->remote.store, t->remote.meta, &e, pinned, p.has ? 1 : 0, &ups, &lost, err));
    if (!ups.n)
        return OK;
    vec_push(a, &rqs, ((IceRequirement){ .kind = RQ_UUID, .text = t->remote.meta->uuid }));
    if (t->remote.meta->current_snapshot_id.has)
        vec_push(a, &rqs, ((IceRequirement){ .kind = RQ_REF_SNAPSHOT, .text = S("main"), .number = t->remote.meta->current_snapshot_id }));
    TRY(remote_table_commit(&t->remote, a, &ups, &rqs, err));
    for vec_each(const Str, uri, &lost)
        if (store_delete(t->remote.store, *uri, &ignored) == E_DENIED)
            return OK;                                /* S3 Tables lets nobody delete */
    return OK;
}

/* ---- orphans ---------------------------------------------------------------------------------------------------------------------- */

static Str data_folder(Arena *a, const IceMetadata *m)
{
    Str path = ice_data_location(a, m, (Str){0}, S("x"));
    return str_sub(path, 0, path.n - 1);
}

static bool is_ours(Str key)
{
    ptrdiff_t slash = str_rchr(key, '/');
    return str_starts(str_from(key, (size_t)(slash + 1)), S("mz_data-"));      /* (3) */
}

/* One spelling for each place: metadata may say s3a where the store says s3. A location that cannot be read keeps everything. */
static Status places(Arena *a, const Map *reached, Map *ret, Error *err)
{
    *ret = map_new(a);
    for (size_t i = 0; i < reached->n; i++) {
        Location at;
        TRY(store_parse_location(a, reached->entries[i].key, &at, err));
        map_put(ret, at.file ? at.path : store_s3_uri(a, at.bucket, at.key), ret);
    }
    return OK;
}

static Status orphans(Sink *s, Arena *a, Table *t, Error *err)
{
    int64_t age = policy_i64(&s->spec, "sink.orphans.older-than-ms", ORPHANS_MS), limit = clock_ms() - age;
    ObjectInfos all = {0};
    Map reached, kept;
    Error ignored;

    if (!age)
        return OK;
    TRY(store_list_all(t->remote.store, a, data_folder(a, t->remote.meta), &all, err));
    TRY(ice_reachable(a, t->remote.store, t->remote.meta, t->remote.metadata_location, &reached, err));
    TRY(places(a, &reached, &kept, err));
    for vec_each(const ObjectInfo, o, &all) {
        Str uri = store_s3_uri(a, o->bucket, o->key);
        if (is_ours(o->key) && o->modified_ms < limit && !map_has(&kept, uri) && store_delete(t->remote.store, uri, &ignored) == E_DENIED)
            return OK;
    }
    return OK;
}

/* ---- all ---------------------------------------------------------------------------------------------------------------------------- */

static Status reload(Sink *s, Arena *a, Table *t, Error *err)
{
    table_close(t);
    TRY(table_load(s, a, t, err));
    return table_agree(s, t, err);
}

static Status each(Sink *s, Arena *a, Table *t, Error *err)
{
    TRY(reload(s, a, t, err));
    TRY(rewrite(s, a, t, err));
    TRY(reload(s, a, t, err));
    TRY(expire(s, a, t, err));
    TRY(reload(s, a, t, err));
    return orphans(s, a, t, err);
}

Status maintain(Sink *s, Arena *a, Table *t, Error *err)
{
    int64_t every = policy_i64(&s->spec, "sink.maintenance.interval-ms", INTERVAL_MS);

    s->maintain_due_us = clock_mono_us() + every * 1000;
    if (str_eq(policy_get(&s->spec, "sink.maintenance", S("on")), S("off")))
        return OK;
    Status st = each(s, a, t, err);
    if (st != OK && s->fatal)
        return st;                                    /* somebody else writes the table */
    return OK;                                        /* (4) */
}
