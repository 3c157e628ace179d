/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - proof that the bytes on disk are what the system computed.
 *
 * In order: chain and signatures; the pointer; every file of the recorded state by size and SHA-256; row count and row hash by
 * reading; with --deep the query again on the pinned sources.  The first mismatch is named and ends the check. */
#include "refresh/refresh_int.h"

#include <unistd.h>

typedef struct Check { Refresher *r; Arena *a; const VerifyOptions *o; CatRelation rel; CatMview view; CatEvidences chain; LakeTable table; VerifyReport *ret; } Check;

static bool broken(Check *c, Str what)
{
    c->ret->proven = 0;
    c->ret->what = what;
    return true;
}

/* ---- chain ------------------------------------------------------------------------------------------------------------ */

static size_t chain_start(const CatEvidences *chain)
{
    for (size_t i = chain->n; i-- > 0;)
        if (json_get_bool(chain->p[i].body, "restart", 0))
            return i;
    return 0;
}

/* From the newest record that a repair began with: it stands on nothing before it. */
static Status check_chain(Check *c, bool *bad, Error *err)
{
    size_t start = chain_start(&c->chain);
    Str seed, pub, prev = start ? c->chain.p[start].prev_hash : (Str){0}, sig;

    TRY(cat_signing_key(lake_catalog(c->r->lake), c->a, &seed, &pub, err));
    for (size_t i = start; i < c->chain.n; i++) {
        const CatEvidence *e = &c->chain.p[i];
        if (!str_eq(e->prev_hash, prev))
            return *bad = broken(c, str_fmt(c->a, "evidence record %lld: the chain is broken", (long long)e->seq)), OK;
        if (!str_eq(e->hash, hash_hex(c->a, HASH_SHA256, evidence_text(c->a, e->body, e->prev_hash))))
            return *bad = broken(c, str_fmt(c->a, "evidence record %lld: its hash does not match its content", (long long)e->seq)), OK;
        if (!hex_decode(c->a, e->signature, &sig) || !ed25519_verify(pub, e->hash, sig))
            return *bad = broken(c, str_fmt(c->a, "evidence record %lld: its signature is not this server's", (long long)e->seq)), OK;
        prev = e->hash;
    }
    return OK;
}

static void check_record(Check *c, const CatEvidence *head, bool *bad)
{
    Str what = evidence_differs(c->a, &c->view, head);
    if (what.n)
        *bad = broken(c, what);
}

/* ---- pointer ------------------------------------------------------------------------------------------------------------- */

/* A property change moves the pointer without touching the rows: then the snapshot must still be the recorded one. */
static void check_pointer(Check *c, const CatEvidence *head, bool *bad)
{
    const IceSnapshot *now = ice_current_snapshot(c->table.meta);
    int64_t recorded = json_get_int(head->body, "snapshot-id", -1);

    if ((now ? now->id : -1) == recorded && str_eq(c->table.meta->uuid, json_get_str(json_get(head->body, "view"), "uuid", (Str){0})))
        return;
    c->ret->drifted = !c->view.managed;
    *bad = broken(c, str_fmt(c->a, "pointer %s" STR_FMT ": the current snapshot is %lld, the last refresh committed %lld", "", STR_ARG(c->rel.metadata_location),
                             (long long)(now ? now->id : -1), (long long)recorded));
}

/* The pointer was moved past the catalog: nothing behind it is the view's. */
static void check_token(Check *c, bool *bad)
{
    if (!cat_intact(&c->rel))
        *bad = broken(c, str_fmt(c->a, "integrity: versionId (" STR_FMT ") != viewVersionToken (" STR_FMT "): the pointer was moved past the catalog",
                                 STR_ARG(c->rel.version_token), STR_ARG(c->rel.view_token)));
}

/* ---- files ------------------------------------------------------------------------------------------------------------------ */

Status object_sha256(Arena *a, Store *st, Str uri, Str *hex, int64_t *size, Error *err)
{
    CLEANUP(file_closep) int fd = -1;
    char buf[1 << 16];
    ObjectInfo info;
    ssize_t n;

    TRY(store_open_fd(st, a, uri, &fd, &info, err));
    CLEANUP(hasher_freep) Hasher *h = hasher_new(HASH_SHA256);
    *size = 0;
    while ((n = read(fd, buf, sizeof buf)) > 0) {
        hasher_add(h, str_n(buf, (size_t)n));
        *size += n;
    }
    if (n < 0)
        return FAIL(err, E_IO, "'" STR_FMT "' cannot be read", STR_ARG(uri));
    *hex = hex_encode(a, hasher_done(h, a));
    return OK;
}

static Status check_file(Check *c, const Json *f, bool *bad, Error *err)
{
    Str path = json_get_str(f, "path", (Str){0}), hex;
    int64_t size;

    if (c->o->known && c->o->known(c->o->known_ctx, c->a, path))
        return OK;
    Status s = object_sha256(c->a, lake_store(c->r->lake), path, &hex, &size, err);
    if (s == E_NOT_FOUND || s == E_IO || s == E_CORRUPT)
        return *bad = broken(c, str_fmt(c->a, "file " STR_FMT ": %s", STR_ARG(path), s == E_NOT_FOUND ? "it is missing" : err->message)), OK;
    TRY(s);
    c->ret->files++;
    c->ret->bytes += size;
    if (size != json_get_int(f, "size", -1))
        *bad = broken(c, str_fmt(c->a, "file " STR_FMT ": it has %lld bytes, %lld were written", STR_ARG(path), (long long)size, (long long)json_get_int(f, "size", -1)));
    else if (!str_eq(hex, json_get_str(f, "sha256", (Str){0})))
        *bad = broken(c, str_fmt(c->a, "file " STR_FMT ": its SHA-256 differs from what was written", STR_ARG(path)));
    return OK;
}

static Status check_files(Check *c, const CatEvidence *head, bool *bad, Error *err)
{
    const Json *files = json_get(head->body, "files");
    for (size_t i = 0; i < json_len(files) && !*bad; i++)
        if (!c->o->metadata_only || str_starts(json_get_str(json_at(files, i), "kind", (Str){0}), S("m")))
            TRY(check_file(c, json_at(files, i), bad, err));
    return OK;
}

/* The pointer's own metadata file, when a property change put it after the recorded one. */
static Status check_readable(Check *c, bool *bad, Error *err)
{
    Error why;
    Status s = lake_open_relation(c->r->lake, c->a, &c->rel, &c->table, &why);
    if (s == OK)
        return OK;
    if (s == E_UNAVAILABLE || s == E_TIMEOUT || s == E_FULL)
        return error_set(err, s, why.origin, "%s", why.message);
    *bad = broken(c, str_fmt(c->a, "file " STR_FMT ": %s", STR_ARG(c->rel.metadata_location), why.message));
    return OK;
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------------- */

static Status check_rows(Check *c, DuckConn *conn, const CatEvidence *head, bool *bad, Error *err)
{
    LakeScan scan = { .snapshot = ice_current_snapshot(c->table.meta), .schema = ice_current_schema(c->table.meta) };
    BoundColumns cols = {0};
    LakeRelation rel;
    __int128 hash, recorded;
    int64_t count;
    Str algorithm = str_fmt(c->a, "%s/%s", ROW_HASH_ALGORITHM, duck_version());

    if (!str_eq(algorithm, json_get_str(head->body, "row-hash-algorithm", (Str){0})))
        return OK;                                    /* another engine's hash: the files are proven, the rows not compared */
    TRY(lake_columns(c->a, scan.schema, &cols, err));
    TRY(lake_scan(c->r->lake, c->a, conn, &c->table, &scan, &rel, err));
    TRY(scalar_wide(conn, c->a, row_hash_sql(c->a, &cols, str_fmt(c->a, "(" STR_FMT ") q", STR_ARG(rel.sql))), &hash, &count, err));
    if (!wide_parse(json_get_str(head->body, "row-hash", (Str){0}), &recorded) || recorded != hash || count != json_get_int(head->body, "row-count", -1))
        *bad = broken(c, str_fmt(c->a, "rows: %lld rows with another hash than the %lld recorded", (long long)count, (long long)json_get_int(head->body, "row-count", -1)));
    return OK;
}

/* ---- deep ------------------------------------------------------------------------------------------------------------------------ */

static const Json *evidence_source(const CatEvidence *head, Str uuid)
{
    const Json *list = json_get(head->body, "sources");
    for (size_t i = 0; i < json_len(list); i++)
        if (str_eq(json_get_str(json_at(list, i), "uuid", (Str){0}), uuid))
            return json_at(list, i);
    return NULL;
}

/* Each source as it was read: at the recorded snapshot, by the recorded metadata file when the table has moved on. */
static Status deep_sources(Check *c, DuckConn *conn, BoundView *b, const CatEvidence *head, Error *err)
{
    for (size_t i = 0; i < b->sources.n; i++) {
        LakeSource *s = b->sources.p[i];
        const Json *rec = evidence_source(head, s->table.meta->uuid);
        int64_t id = json_get_int(rec, "snapshot-id", -1);
        const IceSnapshot *snap = id >= 0 ? ice_snapshot(s->table.meta, id) : NULL;
        LakeRelation rel;
        if (!rec || (id >= 0 && !snap))
            return FAIL(err, E_NOT_FOUND, "snapshot %lld of source " STR_FMT " has expired: the query cannot be run again", (long long)id, STR_ARG(ivm_source(b->view, i)->display));
        LakeScan scan = { .snapshot = snap, .schema = s->schema };
        TRY(lake_scan(c->r->lake, c->a, conn, &s->table, &scan, &rel, err));
        TRY(duck_exec(conn, str_fmt(c->a, "CREATE OR REPLACE TEMP VIEW s%zu_new AS " STR_FMT, i, STR_ARG(rel.sql)), err));
    }
    return OK;
}

static Status check_deep(Check *c, DuckConn *conn, const CatEvidence *head, bool *bad, Error *err)
{
    LakeScan scan = { .snapshot = ice_current_snapshot(c->table.meta), .schema = ice_current_schema(c->table.meta) };
    Props catalogs = catalogs_of(c->a, &c->view);
    BoundView b = {0};
    LakeRelation rel;
    int64_t differ = 0;
    bool has;
    Str query;

    TRY(view_bind(c->r, c->a, conn, c->view.definition, str_eq(c->view.dialect, S("spark")) ? DIALECT_SPARK : DIALECT_POSTGRES, &catalogs, c->view.definer, c->rel.id, &b, err));
    TRY(deep_sources(c, conn, &b, head, err));
    TRY(ivm_query_sql(c->a, b.view, &query, err));
    TRY(lake_scan(c->r->lake, c->a, conn, &c->table, &scan, &rel, err));
    Str sql = str_fmt(c->a, "SELECT (SELECT count(*) FROM ((" STR_FMT ") EXCEPT ALL (" STR_FMT "))) + (SELECT count(*) FROM ((" STR_FMT ") EXCEPT ALL (" STR_FMT ")))",
                      STR_ARG(query), STR_ARG(rel.sql), STR_ARG(rel.sql), STR_ARG(query));
    TRY(duck_scalar_i64(conn, sql, &differ, &has, err));
    if (differ)
        *bad = broken(c, str_fmt(c->a, "query: run again on the pinned sources it differs in %lld row(s)", (long long)differ));
    return OK;
}

/* ---- entry -------------------------------------------------------------------------------------------------------------------------- */

static Status check_all(Check *c, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *conn = NULL;
    bool bad = false;

    if (!c->chain.n)
        return FAIL(err, E_NOT_FOUND, "the view has no evidence: it was never refreshed");
    const CatEvidence *head = &vec_last(&c->chain);
    check_token(c, &bad);
    if (!bad)
        TRY(check_chain(c, &bad, err));
    if (!bad)
        check_record(c, head, &bad);
    if (!bad)
        TRY(check_readable(c, &bad, err));
    if (!bad)
        check_pointer(c, head, &bad);
    if (!bad)
        TRY(check_files(c, head, &bad, err));
    if (bad || c->o->files_only || c->o->metadata_only)
        return OK;
    TRY(duck_connect(c->r->engine, &conn, err));
    TRY(check_rows(c, conn, head, &bad, err));
    return bad || !c->o->deep ? OK : check_deep(c, conn, head, &bad, err);
}

/* A refresh may publish while we look: what was read of the view then does not belong together. */
static Status has_moved(const Check *c, int *ret, Error *err)
{
    Catalog *cat = lake_catalog(c->r->lake);
    CatRelation rel;
    CatMview v;

    TRY(cat_relation_by_id(cat, c->a, c->rel.id, &rel, err));
    TRY(cat_mview_get(cat, c->a, c->rel.id, &v, err));
    *ret = !str_eq(rel.metadata_location, c->rel.metadata_location) || !str_eq(v.last_run, c->view.last_run) || v.view_version != c->view.view_version;
    return OK;
}

static Status verify_once(Check *c, int64_t relation_id, Error *err)
{
    Catalog *cat = lake_catalog(c->r->lake);

    *c->ret = (VerifyReport){ .proven = 1 };
    c->chain = (CatEvidences){0};
    TRY(cat_relation_by_id(cat, c->a, relation_id, &c->rel, err));
    TRY(cat_mview_get(cat, c->a, relation_id, &c->view, err));
    TRY(cat_evidence_list(cat, c->a, relation_id, &c->chain, err));
    return check_all(c, err);
}

/* *again: the view moved before the mark could be set. */
static Status quarantine(Check *c, int *again, Error *err)
{
    if (!c->o->quarantine || !c->view.managed || str_eq(c->view.quarantine, c->ret->what))
        return OK;
    Status s = cat_mview_quarantine(lake_catalog(c->r->lake), c->rel.id, c->view.last_run, c->ret->what, err);
    *again = s == E_CONFLICT;
    return *again ? OK : s;
}

Status refresh_verify(Refresher *r, Arena *a, int64_t relation_id, const VerifyOptions *o, VerifyReport *ret, Error *err)
{
    enum { LOOKS = 5 };
    Check c = { .r = r, .a = a, .o = o, .ret = ret };

    for (int look = 0; look < LOOKS; look++) {
        int again = 0;
        TRY(verify_once(&c, relation_id, err));
        if (ret->proven)
            return OK;
        TRY(has_moved(&c, &again, err));
        if (!again)
            TRY(quarantine(&c, &again, err));
        if (!again)
            return OK;
    }
    return FAIL(err, E_CONFLICT, "the view was refreshed again and again while it was checked");
}
