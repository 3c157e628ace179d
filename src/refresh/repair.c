/* SPDX-License-Identifier: Apache-2.0 */
/* repair.c - a full refresh of a view whose own state is not what evidence says.
 *
 * A full refresh always repairs, whatever was changed or lost: pointer, metadata, manifests, data, evidence.  So nothing of the
 * state is used but the newest metadata file that a sound record vouches for, and of that no snapshot: the history may hold what
 * was tampered with.  Where no metadata file is left, the table is made from the view's record; it is then unpartitioned and has no
 * properties.  The new record starts the chain anew.
 *
 * Invariant: a definition that no record vouches for is never run as if it were the view's: CREATE OR REPLACE sets it anew. */
#include "refresh/refresh_int.h"

static Status refuse(const Job *j, Str what, Error *err)
{
    const CatRelation *r = &j->table.relation;

    RAISE(err, E_QUARANTINED, "materialized view " STR_FMT "." STR_FMT " was changed in the catalog's file: " STR_FMT, STR_ARG(r->namespace), STR_ARG(r->name), STR_ARG(what));
    error_hint(err, "CREATE OR REPLACE MATERIALIZED VIEW sets the definition anew.");
    return E_QUARANTINED;
}

static const CatEvidence *newest_sound(Job *j, const CatEvidences *chain, Str pub)
{
    for (size_t i = chain->n; i-- > 0;)
        if (evidence_sound(j->a, pub, &chain->p[i]))
            return &chain->p[i];
    return NULL;
}

/* Quarantined: everything is in question.  Else only what the run would build on is looked at: pointer and metadata. */
static Status is_broken(Job *j, int *ret, Error *err)
{
    VerifyOptions o = { .metadata_only = 1 };
    VerifyReport report;

    *ret = j->mview.quarantine.n > 0 || !cat_intact(&j->table.relation);
    if (*ret)
        return OK;
    Status s = refresh_verify(j->r, j->a, j->mview.relation_id, &o, &report, err);
    if (s == E_NOT_FOUND)                              /* no evidence yet */
        return OK;
    TRY(s);
    *ret = !report.proven && !report.drifted;
    return OK;
}

Status job_examine(Job *j, int full, Error *err)
{
    Catalog *c = lake_catalog(j->r->lake);
    CatEvidences chain = {0};
    Str seed, pub;

    if (!full || j->r->options.full_keeps_broken)
        TRY(cat_intact_check(&j->table.relation, err));
    TRY(cat_evidence_list(c, j->a, j->mview.relation_id, &chain, err));
    TRY(cat_signing_key(c, j->a, &seed, &pub, err));
    const CatEvidence *e = newest_sound(j, &chain, pub);
    Str what = e ? evidence_differs(j->a, &j->mview, e) : (Str){0};
    if (what.n)
        return refuse(j, what, err);
    return full ? is_broken(j, &j->mend, err) : OK;
}

/* ---- what to build on ------------------------------------------------------------------------------------------------ */

static Str metadata_file(const CatEvidence *e, Str *sha256)
{
    const Json *files = json_get(e->body, "files");
    for (size_t i = 0; i < json_len(files); i++)
        if (str_eq(json_get_str(json_at(files, i), "kind", (Str){0}), S("metadata"))) {
            *sha256 = json_get_str(json_at(files, i), "sha256", (Str){0});
            return json_get_str(json_at(files, i), "path", (Str){0});
        }
    return (Str){0};
}

static bool trusted_metadata(Job *j, const CatEvidence *e, IceMetadata **ret)
{
    Str recorded = {0}, path = metadata_file(e, &recorded), hex;
    Error ignored;
    int64_t size;

    return path.n && object_sha256(j->a, lake_store(j->r->lake), path, &hex, &size, &ignored) == OK && str_eq(hex, recorded) &&
           ice_metadata_read(j->a, lake_store(j->r->lake), path, ret, &ignored) == OK;
}

static void forget_history(IceMetadata *m)
{
    m->snapshots.n = m->refs.n = m->snapshot_log.n = m->metadata_log.n = 0;
    m->current_snapshot_id = (OptI64){0};
    m->statistics = m->partition_statistics = NULL;
}

static Status from_record(Job *j, Error *err)
{
    CatRelation rel = j->table.relation;
    ViewSpec spec = { .catalog = rel.catalog, .namespace = rel.namespace, .name = rel.name, .location = rel.location, .definer = rel.owner };

    TRY(job_new_table(j, &spec, err));
    j->table.meta->uuid = rel.uuid;
    j->table.relation = rel;
    j->mview.hidden = hidden_json(j->a, j->hidden);
    return OK;
}

Status job_mend(Job *j, Error *err)
{
    Catalog *c = lake_catalog(j->r->lake);
    CatEvidences chain = {0};
    Str seed, pub;

    TRY(cat_evidence_list(c, j->a, j->mview.relation_id, &chain, err));
    TRY(cat_signing_key(c, j->a, &seed, &pub, err));
    for (size_t i = chain.n; i-- > 0;) {
        const CatEvidence *e = &chain.p[i];
        if (!evidence_sound(j->a, pub, e) || evidence_differs(j->a, &j->mview, e).n || !trusted_metadata(j, e, &j->table.meta))
            continue;
        forget_history(j->table.meta);
        return OK;
    }
    return from_record(j, err);
}

/* ---- publishing ------------------------------------------------------------------------------------------------------- */

static Status mend_commit(Job *j, StrVec *written, Error *err)
{
    Store *st = lake_store(j->r->lake);
    IceUpdates ups = {0};                              /* a widened schema is in j->table.meta already */
    IceRequirements rqs = {0};
    LakeTable next = j->table;
    CatChange all[4];
    size_t n;
    int changed;

    TRY(ice_change_prepare(j->a, st, j->table.meta, &j->change, clock_ms(), &ups, &rqs, written, err));
    TRY(ice_metadata_apply(j->a, j->table.meta, (Str){0}, &ups, clock_ms(), &next.meta, &changed, err));
    next.relation.metadata_location = ice_metadata_next_location(j->a, next.meta, j->table.relation.metadata_location);
    vec_push(j->a, written, next.relation.metadata_location);
    TRY(ice_metadata_write(j->a, st, next.meta, next.relation.metadata_location, err));
    TRY(job_late(j, j->a, &next, NULL, 0, err));
    TRY(job_publish(j, all + 1, &n, err));
    all[0] = (CatChange){ .kind = CH_SWAP, .relation = &j->table.relation, .expected = j->table.relation.metadata_location, .next = next.relation.metadata_location };
    return cat_commit(lake_catalog(j->r->lake), all, n + 1, err);
}

Status job_mend_publish(Job *j, Error *err)
{
    StrVec written = {0};
    Error ignored;

    j->reason = j->mview.quarantine.n ? str_fmt(j->a, "repair of a quarantined view: " STR_FMT, STR_ARG(j->mview.quarantine)) : S("repair: the view's state was not what evidence says");
    props_set(j->a, &j->change.summary, S("refresh-state"), job_refresh_state(j));
    props_set(j->a, &j->change.summary, S("firn.refresh-type"), S("FULL"));
    props_set(j->a, &j->change.summary, S("firn.run-id"), j->run.id);
    Status s = mend_commit(j, &written, err);
    if (s == OK)
        return OK;
    for (size_t i = 0; i < written.n; i++)
        if (store_delete(lake_store(j->r->lake), written.p[i], &ignored) != OK)
            continue;
    lake_discard(j->r->lake, &j->files);
    return s;
}
