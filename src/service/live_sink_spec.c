/* SPDX-License-Identifier: Apache-2.0 */
/* live_sink_spec.c - a stored sink as its room takes it, and its life: started with the server (one of an earlier version is made to fit first), stopped, paused with its cluster, dropped.
 *
 * Everything is read from the statement that made it (Object.create_sql) and from the relation as it is now: columns that the relation has got since come along at the next
 * start. */
#include "service/live_connection.h"
#include "service/live_sink.h"
#include "source/source.h"

enum { INTERVAL_LEAST_MS = 1000 };

/* ---- options ------------------------------------------------------------------------------------------------------------------ */

static Status interval(Arena *a, const LiveStmt *l, SinkSpec *ret, Error *err)
{
    const LiveOption *o = live_option(&l->with, "COMMIT INTERVAL");

    if (!o)
        return FAIL(err, E_INVALID, "Iceberg sink must specify COMMIT INTERVAL");
    TRY(live_opt_interval(a, o, &ret->interval_ms, err));
    return ret->interval_ms >= INTERVAL_LEAST_MS ? OK : FAIL(err, E_INVALID, "COMMIT INTERVAL must be at least 1 second");
}

typedef struct Word { const char *word; int value; } Word;

static Status one_of(const LiveStmt *l, const char *name, const Word *words, size_t n, int *ret, Error *err)
{
    const LiveOption *o = live_option(&l->with, name);
    Str text;

    if (!o)
        return OK;
    TRY(live_opt_text(o, &text, err));
    for (size_t i = 0; i < n; i++)
        if (str_ieq(text, str_c(words[i].word))) {
            *ret = words[i].value;
            return OK;
        }
    return live_refuse(FAIL(err, E_INVALID, "invalid %s option value: '" STR_FMT "'", name, STR_ARG(text)), "22023", err);
}

static Status properties(Arena *a, const LiveStmt *l, SinkSpec *ret, Error *err)
{
    const LiveOption *o = live_option(&l->with, "PROPERTIES");
    StrVec list = {0};

    if (o)
        TRY(live_opt_list(a, o, &list, err));
    for vec_each(const Str, one, &list) {
        Str key, value;
        if (!str_cut(*one, '=', &key, &value) || !str_trim(key).n)
            return live_refuse(FAIL(err, E_INVALID, "invalid PROPERTIES option value: '" STR_FMT "' is not name=value", STR_ARG(*one)), "22023", err);
        props_set(a, &ret->props, str_trim(key), str_trim(value));
    }
    return OK;
}

static Status options(Arena *a, const LiveStmt *l, SinkSpec *ret, Error *err)
{
    static const Word deletes[] = { { "equality", SINK_DELETES_EQUALITY }, { "positions", SINK_DELETES_POSITION }, { "vectors", SINK_DELETES_VECTOR } };
    static const Word poison[] = { { "fail", SINK_POISON_FAIL }, { "null", SINK_POISON_NULL }, { "text", SINK_POISON_TEXT } };
    const LiveOption *snapshot = live_option(&l->with, "SNAPSHOT"), *size = live_option(&l->with, "COMMIT SIZE"), *limit = live_option(&l->with, "LOG LIMIT");
    int how = SINK_DELETES_EQUALITY, bad = SINK_POISON_FAIL;

    TRY(interval(a, l, ret, err));
    ret->snapshot = 1;
    if (snapshot)
        TRY(live_opt_bool(snapshot, &ret->snapshot, err));
    if (size)
        TRY(live_opt_int(size, 1, INT64_MAX, &ret->size_bytes, err));
    if (limit)
        TRY(live_opt_int(limit, 1, INT64_MAX, &ret->log_limit, err));
    TRY(one_of(l, "DELETES", deletes, COUNT_OF(deletes), &how, err));
    TRY(one_of(l, "POISON", poison, COUNT_OF(poison), &bad, err));
    ret->deletes = (SinkDeletes)how;
    ret->poison = (SinkPoison)bad;
    return properties(a, l, ret, err);
}

static Status target(const LiveStmt *l, SinkSpec *ret, Error *err)
{
    const LiveOption *table = live_option(&l->options, "TABLE"), *ns = live_option(&l->options, "NAMESPACE");

    if (!table)
        return FAIL(err, E_INVALID, "Iceberg sink must specify TABLE");
    if (!ns)
        return FAIL(err, E_INVALID, "Iceberg sink must specify NAMESPACE");
    TRY(live_opt_text(table, &ret->table, err));
    return live_opt_text(ns, &ret->ns, err);
}

/* ---- columns, partitions, order ------------------------------------------------------------------------------------------------- */

static void columns(Arena *a, const Object *from, SinkSpec *ret)
{
    for vec_each(const ObjColumn, c, &from->columns)
        vec_push(a, &ret->columns, ((SinkColumn){ .name = c->name, .engine = c->engine, .type = c->type, .not_null = c->not_null, .sql_type = c->type_name }));
}

static Status order(Arena *a, const LiveStmt *l, SinkSpec *ret, Error *err)
{
    for vec_each(const OrderItem, o, &l->order) {
        if (o->expr->kind != EX_COLUMN || o->expr->name.n != 1)
            return live_refuse(FAIL(err, E_UNSUPPORTED, "ORDER BY of a sink takes columns"), "0A000", err);
        int first = o->nulls_first < 0 ? o->descending : o->nulls_first;
        vec_push(a, &ret->order, ((SinkOrder){ .column = o->expr->name.p[0], .descending = o->descending, .nulls_first = first }));
    }
    return OK;
}

/* A service that keeps its tables in shape itself is left alone. */
static bool keeps_itself(const Object *connection)
{
    Str type = json_get_str(json_get(json_get(connection->detail, "options"), "CATALOG TYPE"), "text", (Str){0});
    return str_ieq(type, S("s3tablesrest"));
}

Status sink_spec_of(Arena *a, const Object *sink, const LiveStmt *l, const Object *from, const Object *connection, SinkSpec *ret, Error *err)
{
    *ret = (SinkSpec){ .id = sink->id, .version = sink->version, .relation = from->id, .mode = str_eq(l->mode, S("append")) ? SINK_APPEND : SINK_UPSERT, .key = l->key,
                       .rebuild = json_get_int(sink->detail, "rebuild", 0) };
    columns(a, from, ret);
    for vec_each(const PartitionField, p, &l->partitions)
        vec_push(a, &ret->partitions, ((SinkPartition){ .transform = p->transform, .width = p->width, .column = p->column }));
    TRY(order(a, l, ret, err));
    TRY(target(l, ret, err));
    TRY(options(a, l, ret, err));
    if (keeps_itself(connection) && !props_has(&ret->props, S("sink.maintenance")))
        props_set(a, &ret->props, S("sink.maintenance"), S("off"));
    return OK;
}

Status sink_statement(Arena *a, const Object *o, Stmt **ret, Error *err)
{
    StmtVec all = {0};

    TRY_CTX(sql_parse(a, DIALECT_POSTGRES, o->create_sql, &all, err), err, "the statement of sink \"" STR_FMT "\"", STR_ARG(o->name));
    if (all.n != 1 || all.p[0]->kind != ST_LIVE || !all.p[0]->live)
        return FAIL(err, E_CORRUPT, "the statement of sink \"" STR_FMT "\" is none", STR_ARG(o->name));
    *ret = all.p[0];
    return OK;
}

/* ---- its life -------------------------------------------------------------------------------------------------------------------- */

static Status start(Service *s, const Object *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Object from, connection;
    SinkSpec spec;
    Stmt *st;

    if (!s->sinks)
        return OK;
    TRY(sink_statement(a, o, &st, err));
    TRY(objects_get(s->objects, a, json_get_int(o->detail, "from", 0), &from, err));
    TRY(objects_get(s->objects, a, json_get_int(o->detail, "connection", 0), &connection, err));
    TRY(sink_spec_of(a, o, st->live, &from, &connection, &spec, err));
    spec.paused = !live_runs(s, o);
    return sink_start(s->sinks, &spec, err);
}

/* An interval of a version that had no least one becomes the least, in the statement too: what is shown is what holds. */
static Status raise_interval(Service *s, Arena *a, Object *o, Error *err)
{
    LiveOption *interval = NULL;
    Stmt *st;
    int64_t ms;

    TRY(sink_statement(a, o, &st, err));
    for vec_each(LiveOption, with, &st->live->with)
        if (str_eq(with->name, S("COMMIT INTERVAL")))
            interval = with;
    if (!interval)
        return OK;
    TRY(live_opt_interval(a, interval, &ms, err));
    if (ms >= INTERVAL_LEAST_MS)
        return OK;
    log_event(LOG_INFO, "COMMIT INTERVAL of a sink is raised to 1s", "sink", str_z(a, live_full(a, o)), NULL);
    *interval = (LiveOption){ .name = interval->name, .kind = OPT_STRING, .text = S("1s") };
    o->create_sql = sql_live_text(a, st, LIVE_TEXT_WHOLE);
    return objects_put(s->objects, o, err);
}

static Status load(Service *s, const Object *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Object now = *o;

    if (!s->sinks)
        return OK;
    TRY(raise_interval(s, a, &now, err));
    return start(s, &now, err);
}

Status sink_restart(Service *s, const Object *o, Error *err)
{
    if (s->sinks)
        sink_stop(s->sinks, o->id);
    return start(s, o, err);
}

/* ---- columns that come --------------------------------------------------------------------------------------------------------- */

static bool reads(const Object *o, int64_t relation) { return o->kind == OBJ_SINK && json_get_int(o->detail, "from", 0) == relation; }

void sinks_hold(Service *s, int64_t relation)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ObjectVec users = {0};

    objects_direct_users(s->objects, a, relation, &users);
    for vec_each(const Object, o, &users)
        if (reads(o, relation) && s->sinks)
            sink_stop(s->sinks, o->id);
}

void sinks_go(Service *s, int64_t relation)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ObjectVec users = {0};
    Error err;

    objects_direct_users(s->objects, a, relation, &users);
    for vec_each(const Object, o, &users)
        if (reads(o, relation) && start(s, o, &err) != OK)
            live_status_put(s->live, o->id, "stalled", str_c(err.message), str_c(err.hint));
}

/* ---- hooks ----------------------------------------------------------------------------------------------------------------------- */

static void drop(Service *s, const Object *o)
{
    if (s->sinks)
        sink_drop(s->sinks, o->id);
}

static void pause_one(Service *s, const Object *o)
{
    if (s->sinks)
        sink_pause(s->sinks, o->id);
}

static void resume_one(Service *s, const Object *o)
{
    if (s->sinks)
        sink_resume(s->sinks, o->id);
}

const LiveHooks sink_hooks = { .start = load, .drop = drop, .pause = pause_one, .resume = resume_one };

static Status catalog_of(void *ctx, int64_t sink, RemoteCatalog **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Service *s = ctx;
    Object o;

    TRY(objects_get(s->objects, a, sink, &o, err));
    return connection_open_catalog_with(s, json_get_int(o.detail, "connection", 0), json_get_int(o.detail, "aws", 0), ret, err);
}

/* A crash between the name's end and the log's leaves a reader that nobody will ever be. */
static void sweep_readers(Service *s)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LiveLogReaders all = {0};
    Error err;
    int64_t id;
    Object o;

    live_log_readers(s->live, a, &all);
    for vec_each(const LiveLogReader, r, &all) {
        if (!str_starts(r->reader, S("sink u")) || !str_to_i64(str_from(r->reader, 6), &id) || objects_get(s->objects, a, id, &o, &err) == OK)
            continue;
        if (live_log_end(s->live, r->relation, r->reader, &err) != OK)
            log_error(&err, "the change log of a dropped sink was not given up", "reader", str_z(a, r->reader), NULL);
    }
}

/* A source that has come to its end; whatever else a sink reads may change again. */
static int ended(void *ctx, int64_t relation)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Service *s = ctx;
    SourceReport r;
    Error ignored;
    Object o;

    return s->sources && objects_get(s->objects, a, relation, &o, &ignored) == OK && o.kind == OBJ_SOURCE && source_report(s->sources, relation, &r) && r.sealed;
}

struct Sinks *live_sinks_new(Service *s)
{
    sweep_readers(s);
    SinksOptions o = { .live = s->live, .engine = s->engine, .scratch = s->options.dir, .ctx = s, .catalog = catalog_of, .ended = ended };
    return sinks_new(&o);
}
