/* SPDX-License-Identifier: Apache-2.0 */
/* source_iceberg.c - Iceberg tables as live relations: what leads from one snapshot to the next becomes one tick.
 *
 * The catalog is asked every REFRESH INTERVAL (with the ETag of what is known).  A new snapshot is compared with the one that was read last by their files (lake_changes), so
 * compactions bring nothing, several commits come as one, and rollbacks and overwrites are what they are.  When the last one was expired meanwhile, the table is read anew and takes
 * the place of the rows that stand.  Rows are seen as the schema was when the source was made, by field id: added and renamed columns do no harm.
 * Invariants: (1) the rows of a tick and the snapshot they lead to are noted together; (2) a table whose columns went or changed their type, or that was made anew under its
 * name, is not read: the source stalls and says why.
 *
 * Options: "connection_id": the catalog's connection; "namespace", "table", or "tables": [[namespace, table] or [table], …]; "refresh_interval": "10s" (1 second at least).
 * An output's `pinned` is {"namespace", "table", "uuid", "schema"}; the note is {"<namespace>.<table>": {"snapshot", "sequence"}}. */
#include "lake/lake.h"
#include "source/source_iceberg_int.h"

enum { GROUP_FILES = 64, GROUP_BYTES = 1024 * 1024 * 1024 };           /* of data files that are read at once when a table is read whole */

typedef struct Watched {
    size_t output;
    Str ns, table, name, uuid;            /* name: "<ns>.<table>" */
    IceSchema *schema;                    /* as it was when the source was made */
    RemoteTable t;
    Lake *lake;
    Arena *a;                             /* of t as it is now */
    OptI64 snapshot;                      /* read last; absent: an empty table */
    int64_t sequence;
    int begun, broken;                    /* begun: something was noted */
} Watched;

typedef struct Watch {
    SourceRun *r;
    Arena *a;
    const Json *options;
    RemoteCatalog *catalog;
    DuckConn *conn;                       /* for reading; rows go in over the run's */
    Watched *tables;
    size_t n;
    int64_t interval_us;
    int running;
} Watch;

/* ---- what is watched ---------------------------------------------------------------------------------------------------------------------------- */

static void watched_close(Watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        lake_free(w->tables[i].lake);
        remote_table_end(&w->tables[i].t);
        arena_destroy(w->tables[i].a);
    }
    duck_disconnect(w->conn);
    remote_close(w->catalog);
}

static Status take_pin(Watch *w, size_t output, const SourceOutput *o, const Json *note, Error *err)
{
    Watched *t = &w->tables[w->n];
    Json *j = NULL;

    TRY_CTX(json_parse(w->a, o->pinned, &j, err), err, "what was kept of the table");
    *t = (Watched){ .output = output, .ns = json_get_str(j, "namespace", (Str){0}), .table = json_get_str(j, "table", (Str){0}), .uuid = json_get_str(j, "uuid", (Str){0}) };
    t->name = str_fmt(w->a, STR_FMT "." STR_FMT, STR_ARG(t->ns), STR_ARG(t->table));
    TRY_CTX(ice_schema_parse(w->a, json_get(j, "schema"), &t->schema, err), err, "what was kept of the table");
    const Json *seen = json_get_s(note, t->name);
    if (seen) {
        const Json *id = json_get(seen, "snapshot");
        t->begun = 1;
        t->sequence = json_get_int(seen, "sequence", 0);
        if (json_is(id, JSON_INT))
            t->snapshot = SOME_I64(id->integer);
    }
    w->n++;
    return OK;
}

static Status take_pins(Watch *w, Error *err)
{
    const SourceOutputs *outputs = source_spec(w->r)->outputs;
    Str text = source_offsets(w->r, w->a);
    Json *note = NULL;

    if (text.n)
        TRY_CTX(json_parse(w->a, text, &note, err), err, "the source's note");
    w->tables = arena_array(w->a, Watched, outputs->n + 1);
    for (size_t i = 0; i < outputs->n; i++)
        if (!str_eq(outputs->p[i].external, S(SOURCE_PROGRESS)))
            TRY(take_pin(w, i, &outputs->p[i], note, err));
    return OK;
}

/* ---- drift ------------------------------------------------------------------------------------------------------------------------------------------ */

static Status drifted(Error *err, const Watched *t, const IceField *f, const char *what)
{
    RAISE(err, E_INVALID, "Iceberg table " STR_FMT " has changed: column \"" STR_FMT "\" %s", STR_ARG(t->name), STR_ARG(f->name), what);
    error_hint(err, "Drop the source and create it again for the table as it is now, or bring the column back.");
    return E_INVALID;
}

static const IceField *top_field(const IceSchema *s, int32_t id)
{
    for vec_each(const IceField, f, &s->fields)
        if (f->id == id)
            return f;
    return NULL;
}

static Status check_drift(const Watched *t, Error *err)
{
    const IceSchema *now = ice_current_schema(t->t.meta);

    for vec_each(const IceField, f, &t->schema->fields) {
        const IceField *is = now ? top_field(now, f->id) : NULL;
        if (!is)
            return drifted(err, t, f, "was dropped");
        if (!ice_type_equal(is->type, f->type))
            return drifted(err, t, f, "is of another type now");
        if (f->required && !is->required)
            return drifted(err, t, f, "may be null now");
    }
    return OK;
}

static Status check_identity(const Watched *t, Error *err)
{
    if (str_ieq(t->t.meta->uuid, t->uuid))
        return OK;
    RAISE(err, E_INVALID, "Iceberg table " STR_FMT " was dropped and made anew", STR_ARG(t->name));
    error_hint(err, "Drop the source and create it again for the new table.");
    return E_INVALID;
}

/* *changed: it is another one than when it was looked at last. */
static Status look(Watch *w, Watched *t, int *changed, Error *err)
{
    Arena *a = arena_create();
    int first = !t->t.store;
    Status s = first ? remote_table_load(w->catalog, a, t->ns, t->table, &t->t, err) : remote_table_poll(&t->t, a, changed, err);

    if (s != OK || (!first && !*changed)) {
        arena_destroy(a);
        return s == OK ? OK : (error_context(err, "Iceberg table " STR_FMT, STR_ARG(t->name)), s);
    }
    *changed = 1;
    arena_destroy(t->a);
    t->a = a;
    if (!t->lake)
        t->lake = lake_new(NULL, t->t.store, NULL);
    TRY(check_identity(t, err));
    return check_drift(t, err);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------------------------------- */

static Status select_sql(Arena *a, const Watched *t, Str from, size_t *columns, Str *ret, Error *err)
{
    BoundColumns all = {0};
    StrBuf b = sb_new(a);

    TRY(lake_columns(a, t->schema, &all, err));
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < all.n; i++) {
        Str name = sql_ident_str(a, all.p[i].engine);
        if (iceberg_shortened(&all.p[i].type))
            sb_fmt(&b, "CAST(" STR_FMT " AS TIMESTAMP), ", STR_ARG(name));
        else
            sb_fmt(&b, STR_FMT ", ", STR_ARG(name));
    }
    sb_fmt(&b, "CAST(__w AS BIGINT) FROM (" STR_FMT ") q", STR_ARG(from));
    *columns = all.n;
    *ret = sb_str(&b);
    return OK;
}

static Status put_rows(Watch *w, const Watched *t, SourceBatch *b, Str from, int64_t *rows, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    size_t columns = 0, n = 0;
    Str sql;

    TRY(select_sql(a, t, from, &columns, &sql, err));
    TRY(duck_query(w->conn, sql, &r, err));
    TRY(duck_next(r, &n, err));
    while (n) {
        CLEANUP(arena_destroyp) Arena *chunk = arena_create();
        Value *cells = arena_array(chunk, Value, columns + 1);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k <= columns; k++)
                cells[k] = duck_value(chunk, r, k, i);
            int64_t weight = cells[columns].integer;
            for (int64_t c = 0; c < (weight < 0 ? -weight : weight); c++)
                source_row(b, t->output, weight < 0 ? -1 : 1, cells);
        }
        *rows += (int64_t)n;
        if (source_stopping(w->r))
            return FAIL(err, E_CANCELLED, "the source is to stop");
        TRY(duck_next(r, &n, err));
    }
    return OK;
}

static LakeTable lake_table(const Watched *t)
{
    return (LakeTable){ .meta = t->t.meta, .relation = { .metadata_location = t->t.metadata_location, .uuid = t->t.meta->uuid } };
}

static Status put_group(Watch *w, const Watched *t, SourceBatch *b, const IceSnapshot *to, const StrVec *files, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LakeTable lt = lake_table(t);
    LakeScan scan = { .snapshot = to, .schema = t->schema, .only_files = files };
    LakeRelation rel = {0};
    int64_t rows = 0;

    TRY(lake_scan(t->lake, a, w->conn, &lt, &scan, &rel, err));
    Status s = put_rows(w, t, b, str_fmt(a, "SELECT *, 1 AS __w FROM (" STR_FMT ") s", STR_ARG(rel.sql)), &rows, err);
    lake_relation_drop(w->conn, &rel);
    store_paths_done(t->t.store);
    source_received(w->r, rows, rel.bytes);
    return s;
}

/* Some files after the other, so that a table may be larger than the room for copies. */
static Status put_whole(Watch *w, const Watched *t, SourceBatch *b, const IceSnapshot *to, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrVec files = {0};
    IceScan plan = {0};
    int64_t bytes = 0;

    TRY(ice_scan(a, t->t.store, t->t.meta, to, NULL, &plan, err));
    for vec_each(IceTask, task, &plan.tasks) {
        vec_push(a, &files, task->data->file.path);
        bytes += min_i64(max_i64(task->data->file.size, 0), GROUP_BYTES);
        if (files.n < GROUP_FILES && bytes < GROUP_BYTES && task + 1 < plan.tasks.p + plan.tasks.n)
            continue;
        TRY(put_group(w, t, b, to, &files, err));
        files.n = 0;
        bytes = 0;
    }
    return OK;
}

static Status put_difference(Watch *w, const Watched *t, SourceBatch *b, const IceSnapshot *from, const IceSnapshot *to, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LakeTable lt = lake_table(t);
    LakeChanges ch = {0};
    int64_t rows = 0;

    TRY(lake_changes(t->lake, a, w->conn, &lt, from, to, t->schema, NULL, &ch, err));
    Status s = ch.nothing ? OK : put_rows(w, t, b, ch.relation.sql, &rows, err);
    lake_relation_drop(w->conn, &ch.relation);
    store_paths_done(t->t.store);
    source_received(w->r, rows, ch.relation.bytes);
    return s;
}

/* The snapshot that was read last, if the table still has it. */
static Status put_changes(Watch *w, const Watched *t, SourceBatch *b, Error *err)
{
    const IceSnapshot *from = t->snapshot.has ? ice_snapshot(t->t.meta, t->snapshot.v) : NULL, *to = ice_current_snapshot(t->t.meta);

    if (from)
        return put_difference(w, t, b, from, to, err);
    if (t->begun && t->snapshot.has)
        source_truncate(b, t->output);
    return to ? put_whole(w, t, b, to, err) : OK;
}

static bool is_new(const Watched *t)
{
    OptI64 now = t->t.meta->current_snapshot_id;
    return !t->begun || now.has != t->snapshot.has || (now.has && now.v != t->snapshot.v);
}

static void advance(Watched *t)
{
    const IceSnapshot *to = ice_current_snapshot(t->t.meta);
    t->begun = 1;
    t->snapshot = t->t.meta->current_snapshot_id;
    t->sequence = to ? to->sequence_number : 0;
}

static Str note_text(Arena *a, const Watch *w)
{
    Json *all = json_object(a);

    for (size_t i = 0; i < w->n; i++) {
        const Watched *t = &w->tables[i];
        Json *j = json_object(a);
        if (!t->begun)
            continue;
        json_set(a, j, "snapshot", t->snapshot.has ? json_int(a, t->snapshot.v) : json_null(a));
        json_set(a, j, "sequence", json_int(a, t->sequence));
        json_set_s(a, all, t->name, j);
    }
    return json_text(a, all);
}

/* ---- one round ---------------------------------------------------------------------------------------------------------------------------------------- */

/* One table of several that cannot be read any more does not stop the others. */
static Status give_up(Watch *w, Watched *t, Status s, Error *err)
{
    bool for_good = s == E_INVALID || s == E_NOT_FOUND || s == E_UNSUPPORTED;

    if (w->n == 1 || !for_good)
        return s;
    t->broken = 1;
    source_output_broken(w->r, t->output, str_c(err->message), str_c(err->hint));
    return OK;
}

static Status gather(Watch *w, SourceBatch **b, Watched **moved, size_t *nmoved, Error *err)
{
    for (size_t i = 0; i < w->n; i++) {
        Watched *t = &w->tables[i];
        int changed = 0;
        if (t->broken)
            continue;
        Status s = look(w, t, &changed, err);
        if (s != OK) {
            TRY(give_up(w, t, s, err));
            continue;
        }
        if (!changed || !is_new(t))
            continue;
        if (!*b)
            TRY(source_batch(w->r, b, err));
        TRY_CTX(put_changes(w, t, *b, err), err, "Iceberg table " STR_FMT, STR_ARG(t->name));
        moved[(*nmoved)++] = t;
    }
    return OK;
}

static void tell_progress(Watch *w)
{
    int64_t known = 0, done = 0;

    for (size_t i = 0; i < w->n; i++) {
        if (w->tables[i].t.meta)
            known += w->tables[i].t.meta->last_sequence_number;
        done += w->tables[i].sequence;
    }
    source_progress(w->r, known, done);
}

/* A commit that fails leaves the run, and the next attempt begins with the note: what was advanced here is forgotten with it. */
static Status commit(Watch *w, SourceBatch *b, Watched **moved, size_t nmoved, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    int64_t done = 0;

    for (size_t i = 0; i < nmoved; i++)
        advance(moved[i]);
    for (size_t i = 0; i < w->n; i++)
        done += w->tables[i].sequence;
    source_batch_at(b, (uint64_t)max_i64(done, 0));
    return source_commit(b, note_text(a, w), err);
}

static Status round_of(Watch *w, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Watched **moved = arena_array(a, Watched *, w->n + 1);
    SourceBatch *b = NULL;
    size_t nmoved = 0;

    Status s = gather(w, &b, moved, &nmoved, err);
    if (s != OK) {
        if (b)
            source_abandon(b);
        return s;
    }
    if (b)
        TRY(commit(w, b, moved, nmoved, err));
    tell_progress(w);
    if (!w->running) {
        w->running = 1;
        source_snapshot_done(w->r);
        source_status(w->r, "running", (Str){0}, (Str){0});
    }
    return OK;
}

static Status watch(Watch *w, Error *err)
{
    TRY(iceberg_interval(w->options, &w->interval_us, err));
    TRY(take_pins(w, err));
    TRY(iceberg_open_catalog(source_spec(w->r), &w->catalog, err));
    TRY(duck_connect(w->r->owner->o.engine, &w->conn, err));
    do
        TRY(round_of(w, err));
    while (source_wait(w->r, w->interval_us));
    return OK;
}

static Status iceberg_run(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Watch w = { .r = r, .a = a, .options = source_spec(r)->options };

    Status s = watch(&w, err);
    watched_close(&w);
    return s == E_CANCELLED && source_stopping(r) ? OK : s;
}

const SourceConnector source_iceberg = { .type = "iceberg", .discover = iceberg_discover, .run = iceberg_run };
