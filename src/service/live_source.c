/* SPDX-License-Identifier: Apache-2.0 */
/* live_source.c - the lives of sources: objects to outputs, started, paused, dropped; their options as they are now; webhooks called.
 *
 * A source that runs is started anew when an output comes or goes. */
#include "service/live_source.h"
#include "service/live_connection.h"

/* ---- objects to outputs ---------------------------------------------------------------------------------------------------------- */

int64_t source_part_of(const Object *o) { return json_get_int(o->detail, "source", 0); }

/* Has it a connector of its own? A part of another source has none; what else tables keep as their options is not ours. */
static bool has_connector(const Object *o) { return json_get(o->detail, "options") && (o->kind == OBJ_SOURCE || str_eq(o->type, S("webhook"))); }

bool source_owns(const Object *o) { return o->kind == OBJ_SOURCE || source_part_of(o) || has_connector(o); }

Status source_may_drop(const Object *o, Error *err)
{
    bool part = o->kind == OBJ_SOURCE && source_part_of(o);

    if (!part)
        return OK;
    return live_refuse(FAIL(err, E_INVALID, "SOURCE \"" STR_FMT "\" is a " STR_FMT " and must be dropped with ALTER SOURCE...DROP SUBSOURCE", STR_ARG(o->name), STR_ARG(o->type)), "0A000", err);
}

static void output_of(Arena *a, const Object *o, SourceOutput *ret)
{
    const Json *x = json_get(o->detail, "output"), *key = json_get(x, "key");

    *ret = (SourceOutput){ .name = json_get_str(x, "name", (Str){0}), .external = json_get_str(x, "external", (Str){0}), .pinned = json_get_str(x, "pinned", (Str){0}), .relation = o->id };
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        SourceColumn col = { .name = c->name, .type = c->type, .not_null = c->not_null, .sql_type = c->type_name };
        vec_push(a, &ret->columns, col);
    }
    for (size_t i = 0; key && key->kind == JSON_ARRAY && i < key->array.n; i++)
        vec_push(a, &ret->key, key->array.p[i]->string);
}

static void outputs_of(Service *s, Arena *a, const Object *source, SourceOutputs *ret)
{
    ObjectVec users = {0};
    SourceOutput out;

    if (json_get(source->detail, "output")) {
        output_of(a, source, &out);
        vec_push(a, ret, out);
    }
    objects_direct_users(s->objects, a, source->id, &users);
    for (size_t i = 0; i < users.n; i++)
        if (source_part_of(&users.p[i]) == source->id) {
            output_of(a, &users.p[i], &out);
            vec_push(a, ret, out);
        }
}

/* ---- running ---------------------------------------------------------------------------------------------------------------------------- */

Status source_begin(Service *s, const Object *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SourceOutputs outputs = {0};

    if (!has_connector(o))
        return OK;
    outputs_of(s, a, o, &outputs);
    if (!live_runs(s, o)) {
        source_stop(s->sources, o->id);
        live_status_put(s->live, o->id, "paused", (Str){0}, (Str){0});
        for (size_t i = 0; i < outputs.n; i++)
            live_status_put(s->live, outputs.p[i].relation, "paused", (Str){0}, (Str){0});
        return OK;
    }
    return source_start(s->sources, o->id, o->type, &outputs, err);
}

static void start_or_log(Service *s, const Object *o)
{
    Error err;
    if (source_begin(s, o, &err) != OK)
        log_error(&err, "a source did not start", NULL);
}

static void restart(Service *s, int64_t id)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Object o;
    Error gone;

    if (objects_get(s->objects, a, id, &o, &gone) == OK)
        start_or_log(s, &o);
}

static void dropped(Service *s, const Object *o)
{
    Error err;

    if (has_connector(o)) {
        if (source_drop(s->sources, o->id, &err) != OK)
            log_error(&err, "a source was dropped", NULL);
    } else if (source_part_of(o))
        restart(s, source_part_of(o));
    live_status_forget(s->live, o->id);
}

static void pause_source(Service *s, const Object *o)
{
    if (has_connector(o))
        start_or_log(s, o);
}

static void table_dropped(Service *s, const Object *o)
{
    if (source_owns(o))
        dropped(s, o);
}

const LiveHooks source_hooks = { .start = source_begin, .drop = dropped, .pause = pause_source, .resume = pause_source };
const LiveHooks source_table_hooks = { .start = source_begin, .drop = table_dropped, .pause = pause_source, .resume = pause_source };

/* What tables of a source say of formats for themselves: {"<relation>": {…}}. */
static Status table_options(Service *s, Arena *a, const Object *source, Json *to, Error *err)
{
    ObjectVec users = {0};
    Json *all = json_object(a), *own;

    objects_direct_users(s->objects, a, source->id, &users);
    for (size_t i = 0; i < users.n; i++) {
        const Json *options = json_get(users.p[i].detail, "table_options");
        if (source_part_of(&users.p[i]) != source->id || !options)
            continue;
        TRY(source_resolve(s, a, options, &own, err));
        json_set(a, all, str_fmt(a, "%lld", (long long)users.p[i].id).p, own);
    }
    if (json_len(all))
        json_set(a, to, "table_options", all);
    return OK;
}

static Status options_of(void *ctx, Arena *a, int64_t id, Json **ret, Error *err)
{
    Service *s = ctx;
    Object o;

    TRY(objects_get(s->objects, a, id, &o, err));
    if (!has_connector(&o))
        return FAIL(err, E_INTERNAL, "u%lld is no source", (long long)id);
    TRY(source_resolve(s, a, json_get(o.detail, "options"), ret, err));
    return table_options(s, a, &o, *ret, err);
}

Status source_catalog_of(void *ctx, int64_t connection, RemoteCatalog **ret, Error *err)
{
    return connection_open_catalog(ctx, connection, ret, err);
}

struct Sources *live_sources_new(Service *s)
{
    SourcesOptions o = { .live = s->live, .engine = s->engine, .ctx = s, .options = options_of, .catalog = source_catalog_of };
    return sources_new(&o);
}

/* ---- webhooks ------------------------------------------------------------------------------------------------------------------------------------------- */

Status svc_webhook(Service *s, Str database, Str schema, Str name, const WebhookRequest *q, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Object o;

    if (objects_find(s->objects, a, database, schema, name, &o, err) != OK || !has_connector(&o) || !str_eq(o.type, S("webhook")))
        return FAIL(err, E_NOT_FOUND, "no object was found at the path " STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(sql_ident_str(a, database)), STR_ARG(sql_ident_str(a, schema)), STR_ARG(sql_ident_str(a, name)));
    return source_webhook(s->sources, o.id, q, err);
}
