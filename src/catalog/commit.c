/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - one transaction for everything that must change together.
 *
 * Changes are applied in order inside one SQLite transaction; the first that does not hold undoes all.  Every pointer change draws a
 * new version token.  Invariants: (1) a relation's pointer moves only by compare-and-swap; (2) the evidence chain only grows at its
 * head; (3) a relation's name is taken by at most one table, view or materialized view; (4) no table's or materialized
 * view's storage lies inside another's, so an object has one owner; (5) a view whose pointer was moved past the catalog
 * stays marked until its refresh moves it. */
#include "catalog/catalog_int.h"

/* refreshed: a view's record is written too, so what moves the pointer is its refresh. */
typedef struct Commit { Db *db; Arena *a; int64_t last_id, now_ms; bool refreshed; Error *err; } Commit;

static Str new_token(Arena *a)
{
    char bytes[10];
    rand_bytes(bytes, sizeof bytes);
    return hex_encode(a, str_n(bytes, sizeof bytes));
}

static Status current(Commit *t, const CatRelation *want, CatRelation *ret)
{
    QUERY(q, t->db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE catalog = ? AND namespace = ? AND name = ?", t->err);
    cq_text(&q, want->catalog);
    cq_text(&q, want->namespace);
    cq_text(&q, want->name);
    if (cq_next(&q)) {
        cat_relation_row(&q, t->a, ret);
        return cq_status(&q);
    }
    TRY(cq_status(&q));
    (void)FAIL(t->err, E_NOT_FOUND, "%s does not exist: " STR_FMT, want->kind == REL_VIEW ? "View" : "Table",
         STR_ARG(cat_display_name(t->a, want->namespace, want->name)));
    return cat_error_kind(t->err, want->kind == REL_VIEW ? "NoSuchViewException" : "NoSuchTableException");
}

static Status name_must_be_free(Commit *t, const CatRelation *r)
{
    CatRelation old = {0};
    Status s = current(t, r, &old);
    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    int view = r->kind == REL_VIEW, old_view = old.kind == REL_VIEW;
    const char *what = view && old_view ? "View already exists" : view ? "Table with same name already exists"
                     : old_view ? "View with same name already exists" : "Table already exists";
    return FAIL(t->err, E_EXISTS, "%s: " STR_FMT, what, STR_ARG(cat_display_name(t->a, r->namespace, r->name)));
}

/* ---- storage: invariant 4 ---------------------------------------------------------------------------------------------- */

static Status overlap(Commit *t, Str location, Query *q)
{
    CatRelation other = {0};

    if (!cq_next(q))
        return cq_status(q);
    cat_relation_row(q, t->a, &other);
    return FAIL(t->err, E_INVALID, "location '" STR_FMT "' overlaps the storage of " STR_FMT, STR_ARG(location),
                STR_ARG(cat_display_name(t->a, other.namespace, other.name)));
}

/* Tables may share a place (one file registered twice); a materialized view shares with nobody. */
static Status place_is_free(Commit *t, const CatRelation *r, Str location, Str key)
{
    QUERY(q, t->db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE location_key = ?1 AND id <> ?2 AND (kind = 2 OR (?3 = 2 AND kind <> 1))", t->err);
    cq_text(&q, key);
    cq_int(&q, r->id);
    cq_int(&q, r->kind);
    return overlap(t, location, &q);
}

static Status above_is_free(Commit *t, const CatRelation *r, Str location, Str key)
{
    QUERY(q, t->db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE location_key = ?1 AND id <> ?2 AND kind <> 1", t->err);
    cq_text(&q, key);
    cq_int(&q, r->id);
    return overlap(t, location, &q);
}

static Status below_is_free(Commit *t, const CatRelation *r, Str location, Str key)
{
    QUERY(q, t->db, "SELECT " RELATION_COLUMNS " FROM relation r WHERE location_key >= ?1 AND location_key < ?2 AND id <> ?3"
                    " AND kind <> 1 LIMIT 1", t->err);
    cq_text(&q, str_cat(t->a, key, S("/")));
    cq_text(&q, str_cat(t->a, key, S("0")));
    cq_int(&q, r->id);
    return overlap(t, location, &q);
}

static Status storage_must_be_free(Commit *t, const CatRelation *r, Str location)
{
    Str key = cat_location_key(t->a, location), up = key;

    if (key.n == 0 || r->kind == REL_VIEW)
        return OK;
    TRY(place_is_free(t, r, location, key));
    while ((up = cat_parent_location(up)).n > 0)
        TRY(above_is_free(t, r, location, up));
    return below_is_free(t, r, location, key);
}

static Status do_create(Commit *t, CatRelation *r)
{
    TRY(cat_namespace_must_exist(t->db, r->catalog, r->namespace, t->err));
    TRY(name_must_be_free(t, r));
    TRY(storage_must_be_free(t, r, r->location));
    Str token = r->version_token.n > 0 ? r->version_token : new_token(t->a);
    QUERY(q, t->db, "INSERT INTO relation(catalog, namespace, name, kind, uuid, metadata_location, version_token, location, location_key,"
                    " owner, created_ms, updated_ms, extra, view_token, resource_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", t->err);
    cq_text(&q, r->catalog);
    cq_text(&q, r->namespace);
    cq_text(&q, r->name);
    cq_int(&q, r->kind);
    cq_text(&q, r->uuid);
    cq_text(&q, r->metadata_location);
    cq_text(&q, token);
    cq_text(&q, cat_trimmed_location(r->location));
    cq_text(&q, cat_location_key(t->a, r->location));
    cq_text(&q, r->owner);
    cq_int(&q, r->created_ms ? r->created_ms : t->now_ms);
    cq_int(&q, r->updated_ms ? r->updated_ms : t->now_ms);
    cq_json(&q, t->a, r->extra);
    cq_text(&q, token);
    cq_text(&q, r->resource_id.n > 0 ? r->resource_id : r->uuid);
    TRY(cq_run(&q));
    r->id = t->last_id = sqlite3_last_insert_rowid(t->db->h);
    return OK;
}

static Status same_relation(Commit *t, const CatRelation *want, const CatRelation *have)
{
    if (want->uuid.n == 0 || str_eq(want->uuid, have->uuid))
        return OK;
    return FAIL(t->err, E_CONFLICT, "Commit failed: " STR_FMT " was replaced: its UUID is " STR_FMT ", not " STR_FMT,
                STR_ARG(cat_display_name(t->a, want->namespace, want->name)), STR_ARG(have->uuid), STR_ARG(want->uuid));
}

static Status pointer_is(Commit *t, const CatRelation *have, Str expected)
{
    if (str_eq(have->metadata_location, expected))
        return OK;
    return FAIL(t->err, E_CONFLICT, "Commit failed: Cannot commit to " STR_FMT ": its metadata has changed: expected " STR_FMT ", is " STR_FMT,
                STR_ARG(cat_display_name(t->a, have->namespace, have->name)), STR_ARG(expected), STR_ARG(have->metadata_location));
}

static Status version_is(Commit *t, const CatRelation *have, OptI64 wanted)
{
    if (!wanted.has || wanted.v == have->version)
        return OK;
    return FAIL(t->err, E_CONFLICT, "Commit failed: " STR_FMT " was changed meanwhile: its version is %lld, not %lld",
                STR_ARG(cat_display_name(t->a, have->namespace, have->name)), (long long)have->version, (long long)wanted.v);
}

static Status do_extra(Commit *t, const CatChange *ch)
{
    CatRelation have = {0};

    TRY(current(t, ch->relation, &have));
    TRY(same_relation(t, ch->relation, &have));
    TRY(version_is(t, &have, ch->version));
    QUERY(q, t->db, "UPDATE relation SET extra = ?2, updated_ms = ?3, version = version + 1 WHERE id = ?1", t->err);
    cq_int(&q, have.id);
    cq_json(&q, t->a, ch->doc);
    cq_int(&q, t->now_ms);
    return cq_run(&q);
}

static Status do_swap(Commit *t, const CatChange *ch)
{
    CatRelation have = {0};

    TRY(current(t, ch->relation, &have));
    TRY(same_relation(t, ch->relation, &have));
    TRY(pointer_is(t, &have, ch->expected));
    TRY(version_is(t, &have, ch->version));
    if (ch->new_location.n > 0 && !str_eq(cat_location_key(t->a, ch->new_location), cat_location_key(t->a, have.location)))
        TRY(storage_must_be_free(t, &have, ch->new_location));
    Str location = ch->new_location.n > 0 ? cat_trimmed_location(ch->new_location) : have.location;
    Str token = new_token(t->a);
    QUERY(q, t->db, "UPDATE relation SET metadata_location = ?2, version_token = ?3, location = ?4, location_key = ?5, updated_ms = ?6,"
                    " uuid = ?7, view_token = ?8, extra = coalesce(?9, extra), version = version + 1 WHERE id = ?1", t->err);
    cq_int(&q, have.id);
    cq_text(&q, ch->next);
    cq_text(&q, token);
    cq_text(&q, location);
    cq_text(&q, cat_location_key(t->a, location));
    cq_int(&q, t->now_ms);
    cq_text(&q, ch->new_uuid.n > 0 ? ch->new_uuid : have.uuid);
    cq_text(&q, ch->past_catalog || (!cat_intact(&have) && !t->refreshed) ? have.view_token : token);      /* (5) */
    cq_json(&q, t->a, ch->doc);
    return cq_run(&q);
}

static Status drop_docs(Commit *t, int64_t id)
{
    static const char *const kinds[] = { DOC_PARTITION, DOC_PARTITION_INDEX, DOC_VERSION, DOC_STATISTICS };

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        QUERY(q, t->db, "DELETE FROM doc WHERE kind = ? AND key >= ? AND key < ?", t->err);
        cq_text(&q, str_c(kinds[i]));
        cq_text(&q, str_fmt(t->a, "%lld/", (long long)id));
        cq_text(&q, str_fmt(t->a, "%lld0", (long long)id));    /* '0' follows '/' */
        TRY(cq_run(&q));
    }
    return OK;
}

static Status do_drop(Commit *t, const CatChange *ch)
{
    CatRelation have = {0};

    TRY(current(t, ch->relation, &have));
    TRY(same_relation(t, ch->relation, &have));
    if (ch->expected.n > 0)
        TRY(pointer_is(t, &have, ch->expected));
    {
        QUERY(runs, t->db, "DELETE FROM run WHERE relation_id = ?", t->err);
        cq_int(&runs, have.id);
        TRY(cq_run(&runs));
    }
    TRY(drop_docs(t, have.id));
    QUERY(q, t->db, "DELETE FROM relation WHERE id = ?", t->err);      /* its view, evidence and sources go along */
    cq_int(&q, have.id);
    return cq_run(&q);
}

static Status rename_target_free(Commit *t, const CatRelation *from, const CatRelation *to)
{
    CatRelation old = {0};
    Str x = cat_display_name(t->a, from->namespace, from->name), y = cat_display_name(t->a, to->namespace, to->name);
    Status s = current(t, to, &old);
    if (s == OK)
        return FAIL(t->err, E_EXISTS, "Cannot rename " STR_FMT " to " STR_FMT ". %s already exists", STR_ARG(x), STR_ARG(y),
                    old.kind == REL_VIEW ? "View" : "Table");
    return s == E_NOT_FOUND ? OK : s;
}

static Status do_rename(Commit *t, const CatChange *ch)
{
    CatRelation have = {0}, to = *ch->relation;

    to.namespace = ch->new_namespace;
    to.name = ch->new_name;
    TRY(current(t, ch->relation, &have));
    TRY(same_relation(t, ch->relation, &have));
    TRY(cat_namespace_must_exist(t->db, to.catalog, to.namespace, t->err));
    TRY(rename_target_free(t, ch->relation, &to));
    Str token = new_token(t->a);
    QUERY(q, t->db, "UPDATE relation SET namespace = ?2, name = ?3, updated_ms = ?4, version_token = ?5, view_token = ?6 WHERE id = ?1", t->err);
    cq_int(&q, have.id);
    cq_text(&q, to.namespace);
    cq_text(&q, to.name);
    cq_int(&q, t->now_ms);
    cq_text(&q, token);
    cq_text(&q, cat_intact(&have) ? token : have.view_token);        /* a new name mends nothing */
    return cq_run(&q);
}

static Status apply(Commit *t, CatChange *ch)
{
    switch (ch->kind) {
    case CH_CREATE: return do_create(t, ch->relation);
    case CH_SWAP: return do_swap(t, ch);
    case CH_DROP: return do_drop(t, ch);
    case CH_RENAME: return do_rename(t, ch);
    case CH_MVIEW: return cat_mview_write(t->db, ch->mview, t->last_id, t->err);
    case CH_RUN: return cat_run_write(t->db, ch->run, t->last_id, t->err);
    case CH_EVIDENCE: return cat_evidence_write(t->db, ch->evidence, t->last_id, t->err);
    case CH_EXTRA: return do_extra(t, ch);
    case CH_DOC: return cat_doc_write(t->db, ch->doc_kind, ch->doc_key, ch->doc, t->err);
    }
    return FAIL(t->err, E_INTERNAL, "unknown change %d", (int)ch->kind);
}

Status cat_commit(Catalog *c, CatChange *changes, size_t n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    Commit t = { .db = db, .a = a, .now_ms = clock_ms(), .err = err };
    for (size_t i = 0; i < n; i++)
        t.refreshed |= changes[i].kind == CH_MVIEW;
    for (size_t i = 0; i < n; i++)
        TRY(apply(&t, &changes[i]));
    return cat_writer_commit(&db, err);
}
