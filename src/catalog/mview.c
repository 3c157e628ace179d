/* SPDX-License-Identifier: Apache-2.0 */
/* mview.c - materialized views, their refresh runs and their evidence.
 *
 * A view's row says what it is, what its last refresh read (pinned sources) and left (snapshot, pointer).  mview_source repeats the
 * sources' UUIDs so that a table's readers are one look-up.  Evidence is a chain: each record names the hash of the one before. */
#include "catalog/catalog_int.h"

#define MVIEW_COLUMNS "relation_id, managed, definition, dialect, definer, comment, schedule_s, next_due_ms, state, quarantine," \
    " snapshot_id, metadata_location, view_version, sources, hidden, columns, last_type, last_reason, last_run," \
    " last_refresh_ms, created_ms, extra"
#define RUN_COLUMNS "id, relation_id, status, type, reason, error, role, trigger, created_ms, started_ms, finished_ms, rows_in," \
    " rows_changed, bytes, snapshot_id, full_estimate_us"
#define EVIDENCE_COLUMNS "relation_id, seq, created_ms, hash, prev_hash, signature, body"

static void mview_row(Query *q, Arena *a, CatMview *v)
{
    v->relation_id = cq_i64(q);
    v->managed = (int)cq_i64(q);
    v->definition = cq_str(q, a);
    v->dialect = cq_str(q, a);
    v->definer = cq_str(q, a);
    v->comment = cq_str(q, a);
    v->schedule_s = cq_i64(q);
    v->next_due_ms = cq_i64(q);
    v->read_schedule_s = v->schedule_s;
    v->read_due_ms = v->next_due_ms;
    v->state = cq_str(q, a);
    v->quarantine = cq_str(q, a);
    v->snapshot_id = cq_i64(q);
    v->metadata_location = cq_str(q, a);
    v->view_version = cq_i64(q);
    v->sources = cq_doc(q, a);
    v->hidden = cq_doc(q, a);
    v->columns = cq_doc(q, a);
    v->last_type = cq_str(q, a);
    v->last_reason = cq_str(q, a);
    v->last_run = cq_str(q, a);
    v->last_refresh_ms = cq_i64(q);
    v->created_ms = cq_i64(q);
    v->extra = cq_doc(q, a);
}

static Status mviews(Query *q, Arena *a, CatMviews *ret)
{
    *ret = (CatMviews){0};
    while (cq_next(q)) {
        CatMview v = {0};
        mview_row(q, a, &v);
        vec_push(a, ret, v);
    }
    return cq_status(q);
}

Status cat_mview_get(Catalog *c, Arena *a, int64_t relation_id, CatMview *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " MVIEW_COLUMNS " FROM mview WHERE relation_id = ?", err);
    cq_int(&q, relation_id);
    if (cq_next(&q))
        mview_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "relation %lld is not a materialized view", (long long)relation_id);
    return cq_status(&q);
}

Status cat_mview_list(Catalog *c, Arena *a, CatMviews *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " MVIEW_COLUMNS " FROM mview ORDER BY relation_id", err);
    return mviews(&q, a, ret);
}

Status cat_mview_due(Catalog *c, Arena *a, int64_t now_ms, CatMviews *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " MVIEW_COLUMNS " FROM mview WHERE next_due_ms > 0 AND next_due_ms <= ? ORDER BY next_due_ms", err);
    cq_int(&q, now_ms);
    return mviews(&q, a, ret);
}

Status cat_mview_readers(Catalog *c, Arena *a, Str source_uuid, CatMviews *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " MVIEW_COLUMNS " FROM mview WHERE relation_id IN"
                 " (SELECT relation_id FROM mview_source WHERE uuid = ?) ORDER BY relation_id", err);
    cq_text(&q, source_uuid);
    return mviews(&q, a, ret);
}

static Status mview_upsert(Db *db, Arena *a, const CatMview *v, Error *err)
{
    QUERY(q, db, "INSERT OR REPLACE INTO mview(" MVIEW_COLUMNS ") VALUES(?1,?2,?3,?4,?5,?6,"
                 " iif(?7 = ?23, coalesce((SELECT schedule_s FROM mview WHERE relation_id = ?1), ?7), ?7),"
                 " iif(?8 = ?24, coalesce((SELECT next_due_ms FROM mview WHERE relation_id = ?1), ?8), ?8),"
                 " ?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22)", err);
    cq_int(&q, v->relation_id);
    cq_int(&q, v->managed);
    cq_text(&q, v->definition);
    cq_text(&q, v->dialect);
    cq_text(&q, v->definer);
    cq_text(&q, v->comment);
    cq_int(&q, v->schedule_s);
    cq_int(&q, v->next_due_ms);
    cq_text(&q, v->state);
    cq_text(&q, v->quarantine);
    cq_int(&q, v->snapshot_id);
    cq_text(&q, v->metadata_location);
    cq_int(&q, v->view_version);
    cq_json(&q, a, v->sources);
    cq_json(&q, a, v->hidden);
    cq_json(&q, a, v->columns);
    cq_text(&q, v->last_type);
    cq_text(&q, v->last_reason);
    cq_text(&q, v->last_run);
    cq_int(&q, v->last_refresh_ms);
    cq_int(&q, v->created_ms ? v->created_ms : clock_ms());
    cq_json(&q, a, v->extra);
    cq_int(&q, v->read_schedule_s);
    cq_int(&q, v->read_due_ms);
    return cq_run(&q);
}

static Status sources_write(Db *db, const CatMview *v, Error *err)
{
    {
        QUERY(del, db, "DELETE FROM mview_source WHERE relation_id = ?", err);
        cq_int(&del, v->relation_id);
        TRY(cq_run(&del));
    }
    for (size_t i = 0; i < json_len(v->sources); i++) {
        QUERY(q, db, "INSERT OR IGNORE INTO mview_source(relation_id, uuid) VALUES(?, ?)", err);
        cq_int(&q, v->relation_id);
        cq_text(&q, json_get_str(json_at(v->sources, i), "uuid", (Str){0}));
        TRY(cq_run(&q));
    }
    return OK;
}

static Status relation_known(Db *db, int64_t id, Error *err)
{
    QUERY(q, db, "SELECT 1 FROM relation WHERE id = ?", err);
    cq_int(&q, id);
    if (!cq_next(&q) && cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "no relation has the id %lld", (long long)id);
    return cq_status(&q);
}

Status cat_mview_write(Db *db, CatMview *v, int64_t last_id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (v->relation_id == 0)
        v->relation_id = last_id;
    TRY(relation_known(db, v->relation_id, err));
    TRY(mview_upsert(db, a, v, err));
    return sources_write(db, v, err);
}

static Status due_write(Db *db, int64_t id, int64_t old_s, int64_t new_s, int64_t due_ms, Error *err)
{
    QUERY(q, db, "UPDATE mview SET schedule_s = ?1, next_due_ms = ?2 WHERE relation_id = ?3 AND (?4 < 0 OR schedule_s = ?4)", err);
    cq_int(&q, new_s);
    cq_int(&q, due_ms);
    cq_int(&q, id);
    cq_int(&q, old_s);
    TRY(cq_run(&q));
    return cq_changed(&q) || old_s >= 0 ? OK : FAIL(err, E_NOT_FOUND, "relation %lld is not a materialized view", (long long)id);
}

enum { WHATEVER_SCHEDULE = -1 };

Status cat_mview_schedule(Catalog *c, int64_t relation_id, int64_t schedule_s, int64_t next_due_ms, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(due_write(db, relation_id, WHATEVER_SCHEDULE, schedule_s, next_due_ms, err));
    return cat_writer_commit(&db, err);
}

Status cat_mview_postpone(Catalog *c, int64_t relation_id, int64_t schedule_s, int64_t next_due_ms, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(due_write(db, relation_id, schedule_s, schedule_s, next_due_ms, err));
    return cat_writer_commit(&db, err);
}

Status cat_mview_quarantine(Catalog *c, int64_t relation_id, Str last_run, Str reason, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    {
        QUERY(q, db, "UPDATE mview SET quarantine = ? WHERE relation_id = ? AND last_run = ?", err);
        cq_text(&q, reason);
        cq_int(&q, relation_id);
        cq_text(&q, last_run);
        TRY(cq_run(&q));
        if (!cq_changed(&q))
            return FAIL(err, E_CONFLICT, "relation %lld was refreshed meanwhile", (long long)relation_id);
    }
    return cat_writer_commit(&db, err);
}

/* ---- runs ------------------------------------------------------------------------------------------------------ */

static void run_row(Query *q, Arena *a, CatRun *r)
{
    r->id = cq_str(q, a);
    r->relation_id = cq_i64(q);
    r->status = cq_str(q, a);
    r->type = cq_str(q, a);
    r->reason = cq_str(q, a);
    r->error = cq_str(q, a);
    r->role = cq_str(q, a);
    r->trigger = cq_str(q, a);
    r->created_ms = cq_i64(q);
    r->started_ms = cq_i64(q);
    r->finished_ms = cq_i64(q);
    r->rows_in = cq_i64(q);
    r->rows_changed = cq_i64(q);
    r->bytes = cq_i64(q);
    r->snapshot_id = cq_i64(q);
    r->full_estimate_us = cq_i64(q);
}

static Status runs(Query *q, Arena *a, CatRuns *ret)
{
    *ret = (CatRuns){0};
    while (cq_next(q)) {
        CatRun r = {0};
        run_row(q, a, &r);
        vec_push(a, ret, r);
    }
    return cq_status(q);
}

Status cat_run_write(Db *db, CatRun *r, int64_t last_id, Error *err)
{
    if (r->relation_id == 0)
        r->relation_id = last_id;
    QUERY(q, db, "INSERT OR REPLACE INTO run(" RUN_COLUMNS ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", err);
    cq_text(&q, r->id);
    cq_int(&q, r->relation_id);
    cq_text(&q, r->status);
    cq_text(&q, r->type);
    cq_text(&q, r->reason);
    cq_text(&q, r->error);
    cq_text(&q, r->role);
    cq_text(&q, r->trigger);
    cq_int(&q, r->created_ms);
    cq_int(&q, r->started_ms);
    cq_int(&q, r->finished_ms);
    cq_int(&q, r->rows_in);
    cq_int(&q, r->rows_changed);
    cq_int(&q, r->bytes);
    cq_int(&q, r->snapshot_id);
    cq_int(&q, r->full_estimate_us);
    return cq_run(&q);
}

Status cat_run_get(Catalog *c, Arena *a, Str id, CatRun *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " RUN_COLUMNS " FROM run WHERE id = ?", err);
    cq_text(&q, id);
    if (cq_next(&q))
        run_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "no refresh run has the id " STR_FMT, STR_ARG(id));
    return cq_status(&q);
}

Status cat_run_list(Catalog *c, Arena *a, int64_t relation_id, int max, CatRuns *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    if (relation_id == 0) {
        QUERY(all, db, "SELECT " RUN_COLUMNS " FROM run ORDER BY created_ms DESC, id LIMIT ?", err);
        cq_int(&all, max > 0 ? max : -1);
        return runs(&all, a, ret);
    }
    QUERY(q, db, "SELECT " RUN_COLUMNS " FROM run WHERE relation_id = ? ORDER BY created_ms DESC, id LIMIT ?", err);
    cq_int(&q, relation_id);
    cq_int(&q, max > 0 ? max : -1);
    return runs(&q, a, ret);
}

Status cat_run_recover(Catalog *c, Arena *a, CatRuns *ret, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    {
        QUERY(q, db, "UPDATE run SET status = 'FAILED', error = 'the server stopped during the run', finished_ms = ?"
                     " WHERE status IN ('STARTING', 'RUNNING') RETURNING " RUN_COLUMNS, err);
        cq_int(&q, clock_ms());
        TRY(runs(&q, a, ret));
    }
    return cat_writer_commit(&db, err);
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

static void evidence_row(Query *q, Arena *a, CatEvidence *e)
{
    e->relation_id = cq_i64(q);
    e->seq = cq_i64(q);
    e->created_ms = cq_i64(q);
    e->hash = cq_str(q, a);
    e->prev_hash = cq_str(q, a);
    e->signature = cq_str(q, a);
    e->body = cq_doc(q, a);
}

static Status evidence_last(Db *db, Arena *a, int64_t relation_id, CatEvidence *ret, Error *err)
{
    QUERY(q, db, "SELECT " EVIDENCE_COLUMNS " FROM evidence WHERE relation_id = ? ORDER BY seq DESC LIMIT 1", err);
    cq_int(&q, relation_id);
    if (cq_next(&q))
        evidence_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "relation %lld has no evidence yet", (long long)relation_id);
    return cq_status(&q);
}

Status cat_evidence_head(Catalog *c, Arena *a, int64_t relation_id, CatEvidence *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    return evidence_last(db, a, relation_id, ret, err);
}

Status cat_evidence_list(Catalog *c, Arena *a, int64_t relation_id, CatEvidences *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    *ret = (CatEvidences){0};
    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " EVIDENCE_COLUMNS " FROM evidence WHERE relation_id = ? ORDER BY seq", err);
    cq_int(&q, relation_id);
    while (cq_next(&q)) {
        CatEvidence e = {0};
        evidence_row(&q, a, &e);
        vec_push(a, ret, e);
    }
    return cq_status(&q);
}

static Status evidence_insert(Db *db, Arena *a, const CatEvidence *e, Error *err)
{
    QUERY(q, db, "INSERT INTO evidence(" EVIDENCE_COLUMNS ") VALUES(?,?,?,?,?,?,?)", err);
    cq_int(&q, e->relation_id);
    cq_int(&q, e->seq);
    cq_int(&q, e->created_ms ? e->created_ms : clock_ms());
    cq_text(&q, e->hash);
    cq_text(&q, e->prev_hash);
    cq_blob(&q, e->signature);
    cq_json(&q, a, e->body);
    return cq_run(&q);
}

Status cat_evidence_write(Db *db, CatEvidence *e, int64_t last_id, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatEvidence head = {0};

    if (e->relation_id == 0)
        e->relation_id = last_id;
    TRY(relation_known(db, e->relation_id, err));
    Status s = evidence_last(db, a, e->relation_id, &head, err);
    if (s != OK && s != E_NOT_FOUND)
        return s;
    if (!str_eq(head.hash, e->prev_hash) || (e->seq != 0 && e->seq != head.seq + 1))
        return FAIL(err, E_CONFLICT, "Commit failed: the evidence of relation %lld has grown meanwhile", (long long)e->relation_id);
    e->seq = head.seq + 1;
    return evidence_insert(db, a, e, err);
}
