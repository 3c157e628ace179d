/* SPDX-License-Identifier: Apache-2.0 */
/* glue_view.c - materialized views in Glue: ViewDefinition and Status as shown, and UpdateTable's rules (spec/glue.md 3).
 *
 * The rules are asked in AWS's order and refuse in AWS's words, with the view's name behind.  An input without ViewDefinition changes what it names
 * and leaves the rest (AWS drops it silently: aws_compat does the same). */
#include "door/glue/glue_int.h"
#include "sched/sched.h"

/* ---- ViewDefinition ------------------------------------------------------------------------------------------------------ */

Str glue_source_arn(AwsCall *c, const Json *source)
{
    CatWarehouse w = {0};
    Error gone;

    if (cat_warehouse_get(glue_catalog(c), c->a, json_get_str(source, "catalog", (Str){0}), &w, &gone) != OK)
        w.id = cat_account(glue_catalog(c));
    return glue_arn(c, &w, "table", json_get_str(source, "namespace", (Str){0}), json_get_str(source, "name", (Str){0}));
}

static void put_sources(AwsCall *c, const CatMview *v, Json *def)
{
    Json *arns = json_array(c->a), *ids = json_array(c->a), *statistics = json_array(c->a);

    for (size_t i = 0; i < json_len(v->sources); i++) {
        const Json *s = json_at(v->sources, i);
        Json *one = json_object(c->a);
        json_push(c->a, arns, json_str(c->a, glue_source_arn(c, s)));
        json_push(c->a, ids, json_int(c->a, json_get_int(s, "snapshot-id", -1)));
        json_set(c->a, one, "SourceType", json_str(c->a, json_get_str(s, "source-type", S("ICEBERG"))));
        json_push(c->a, statistics, one);
    }
    json_set(c->a, def, "SubObjects", arns);
    json_set(c->a, def, "SubObjectVersionIds", ids);
    json_set(c->a, def, "SubObjectsStatistics", statistics);
}

/* The last run that computed something. */
static Str last_type(AwsCall *c, const CatMview *v)
{
    CatRuns runs = {0};
    Error unreadable;

    if (!str_eq(v->last_type, S("NONE")))
        return v->last_type;
    if (cat_run_list(glue_catalog(c), c->a, v->relation_id, 100, &runs, &unreadable) != OK)
        return (Str){0};
    for vec_each(CatRun, r, &runs)
        if (str_eq(r->type, S("FULL")) || str_eq(r->type, S("INCREMENTAL")))
            return r->type;
    return S("FULL");
}

static Json *representation(AwsCall *c, const CatMview *v)
{
    Json *rep = json_object(c->a);
    Staleness st = {0};
    Error unreadable;

    json_set(c->a, rep, "Dialect", json_str(c->a, S("SPARK")));
    json_set(c->a, rep, "DialectVersion", json_str(c->a, S("4.1.1")));
    json_set(c->a, rep, "ViewOriginalText", json_str(c->a, v->definition));
    json_set(c->a, rep, "ViewExpandedText", json_str(c->a, v->definition));
    bool known = refresh_staleness(GLUE_DOOR(c)->svc->refresher, c->a, v, &st, &unreadable) == OK;
    json_set(c->a, rep, "IsStale", json_bool(c->a, !known || st.stale));
    return rep;
}

static Json *definition(AwsCall *c, const CatRelation *r, const CatMview *v)
{
    Json *def = json_object(c->a), *reps = json_array(c->a);
    Str type = last_type(c, v);

    json_set(c->a, def, "IsProtected", json_bool(c->a, true));
    json_set(c->a, def, "IsManaged", json_bool(c->a, v->managed));
    json_set(c->a, def, "Definer", json_str(c->a, v->definer));
    json_set(c->a, def, "ViewVersionId", json_int(c->a, v->snapshot_id));
    json_set(c->a, def, "ViewVersionToken", json_str(c->a, r->view_token));
    if (v->schedule_s)
        json_set(c->a, def, "RefreshSeconds", json_int(c->a, v->schedule_s));
    if (type.n > 0)
        json_set(c->a, def, "LastRefreshType", json_str(c->a, type));
    put_sources(c, v, def);
    json_push(c->a, reps, representation(c, v));
    json_set(c->a, def, "Representations", reps);
    return def;
}

/* ---- Status ----------------------------------------------------------------------------------------------------------------- */

/* The run that made the view: when it was asked for, when it was done. */
static void creation_times(AwsCall *c, const CatMview *v, int64_t *asked, int64_t *done)
{
    CatRuns runs = {0};
    Error unreadable;

    *asked = v->created_ms;
    *done = v->created_ms;
    if (cat_run_list(glue_catalog(c), c->a, v->relation_id, 0, &runs, &unreadable) != OK)
        return;
    for vec_each(CatRun, r, &runs)
        if (str_eq(r->trigger, S("CREATE"))) {
            *asked = r->created_ms ? r->created_ms : *asked;
            *done = r->finished_ms ? r->finished_ms : *done;
        }
}

static Json *status_of(AwsCall *c, const CatRelation *r, const CatMview *v)
{
    Str state = str_eq(v->state, S("CREATING")) ? S("IN_PROGRESS") : str_eq(v->state, S("FAILED")) ? S("FAILED") : S("SUCCESS");
    Json *s = json_object(c->a);
    int64_t asked, done;

    creation_times(c, v, &asked, &done);
    json_set(c->a, s, "RequestedBy", json_str(c->a, r->owner));
    json_set(c->a, s, "UpdatedBy", json_str(c->a, r->owner));
    json_set(c->a, s, "RequestTime", aws_time(c, asked));
    json_set(c->a, s, "UpdateTime", aws_time(c, done));
    json_set(c->a, s, "Action", json_str(c->a, S("CREATE")));
    json_set(c->a, s, "State", json_str(c->a, state));
    return s;
}

void glue_show_view(AwsCall *c, const CatRelation *r, const CatMview *v, int flags, Json *table)
{
    json_set(c->a, table, "ViewDefinition", definition(c, r, v));
    if (v->comment.n > 0 && !json_get(table, "Description"))
        json_set(c->a, table, "Description", json_str(c->a, v->comment));
    if (!cat_intact(r) || v->quarantine.n > 0)
        json_set(c->a, json_get(table, "Parameters"), "integrity", json_str(c->a, S("BROKEN")));
    if (v->managed && (flags & SHOW_STATUS))
        json_set(c->a, table, "Status", status_of(c, r, v));
}

/* ---- UpdateTable's rules -------------------------------------------------------------------------------------------------------- */

typedef struct ViewUpdate { AwsCall *c; const GlueName *n; const CatRelation *r; const Json *input, *def; CatMview v; } ViewUpdate;

/* "Cannot modify X on a system-managed materialized view. This field is immutable after creation." and whose. */
static Status immutable(const ViewUpdate *u, const char *what, Error *err)
{
    return FAIL(err, E_INVALID, "Cannot modify %s on a system-managed materialized view. This field is immutable after creation. (" STR_FMT "." STR_FMT
                ": only firn's own refresh writes it)", what, STR_ARG(u->r->namespace), STR_ARG(u->r->name));
}

static Status check_shape(const ViewUpdate *u, Error *err)
{
    Str type = json_get_str(u->input, "TableType", S("EXTERNAL_TABLE"));

    if (!str_eq(type, S("EXTERNAL_TABLE")))
        return FAIL(err, E_INVALID, "Materialized views must have table type EXTERNAL_TABLE. GetTable shows '" STR_FMT "' for tables of S3 Tables: send EXTERNAL_TABLE back",
                    STR_ARG(type));
    if (u->def && aws_str(u->c, "ViewUpdateAction").n == 0)
        return FAIL(err, E_INVALID, "View update action must be one of: [ADD, REPLACE, ADD_OR_REPLACE, DROP]. Say which with ViewUpdateAction (--view-update-action)");
    return OK;
}

static Status check_managed(const ViewUpdate *u, Error *err)
{
    const Json *managed = json_get(u->def, "IsManaged");

    if (managed && managed->boolean != (u->v.managed != 0)) {
        if (u->v.managed)
            return immutable(u, "ViewDefinition.IsManaged", err);
        return FAIL(err, E_INVALID, "ViewDefinition.IsManaged cannot be set on a materialized view: CREATE OR REPLACE MANAGED MATERIALIZED VIEW makes it managed");
    }
    return u->v.managed && !u->def ? immutable(u, "ViewDefinition", err) : OK;
}

static Status check_text(const ViewUpdate *u, Error *err)
{
    const Json *reps = json_get(u->def, "Representations");

    for (size_t i = 0; i < json_len(reps); i++) {
        const Json *rep = json_at(reps, i);
        if (!str_eq(json_get_str(rep, "Dialect", S("SPARK")), S("SPARK")))
            return FAIL(err, E_UNSUPPORTED, "a materialized view has its SPARK representation alone");
        if (!str_eq(json_get_str(rep, "ViewOriginalText", u->v.definition), u->v.definition))
            return FAIL(err, E_INVALID, "Update of ViewOriginalText for Materialized View is not available.");
    }
    if (u->def && str_eq(aws_str(u->c, "ViewUpdateAction"), S("DROP")))
        return FAIL(err, E_INVALID, "the only representation of a materialized view cannot be dropped: DROP MATERIALIZED VIEW");
    return OK;
}

static bool same_arns(AwsCall *c, const Json *given, const CatMview *v)
{
    if (json_len(given) != json_len(v->sources))
        return false;
    for (size_t i = 0; i < json_len(given); i++)
        if (!str_eq(json_at(given, i)->string, glue_source_arn(c, json_at(v->sources, i))))
            return false;
    return true;
}

static bool same_columns(AwsCall *c, const Json *given, const IceMetadata *m)
{
    const Json *have = glue_columns(c->a, m, 0);

    if (json_len(given) != json_len(have))
        return false;
    for (size_t i = 0; i < json_len(given); i++) {
        const Json *x = json_at(given, i), *y = json_at(have, i);
        if (!str_eq(json_get_str(x, "Name", (Str){0}), json_get_str(y, "Name", (Str){0}))
            || !str_ieq(json_get_str(x, "Type", json_get_str(y, "Type", (Str){0})), json_get_str(y, "Type", (Str){0})))
            return false;
    }
    return true;
}

/* What a managed view is made of stays as its refresh left it. */
static Status check_substance(const ViewUpdate *u, Error *err)
{
    const Json *sd = json_get(u->input, "StorageDescriptor"), *columns = json_get(sd, "Columns"), *subs = json_get(u->def, "SubObjects");
    Str pointer = glue_parameter(u->input, "metadata_location"), location = json_get_str(sd, "Location", u->r->location);
    IceMetadata *m = NULL;

    if (!u->v.managed)
        return OK;
    if (pointer.n > 0 && !str_eq(pointer, u->r->metadata_location))
        return immutable(u, "Parameters.metadata_location", err);
    if (location.n > 0 && !str_eq(location, u->r->location) && !str_eq(location, str_cat(u->c->a, u->r->location, S("/"))))
        return immutable(u, "StorageDescriptor.Location", err);
    if (!str_eq(json_get_str(u->def, "Definer", u->v.definer), u->v.definer))
        return immutable(u, "ViewDefinition.Definer", err);
    if (json_len(subs) && !same_arns(u->c, subs, &u->v))
        return immutable(u, "ViewDefinition.SubObjects", err);
    if (!json_len(columns))
        return OK;
    TRY(ice_metadata_read(u->c->a, GLUE_DOOR(u->c)->svc->store, u->r->metadata_location, &m, err));
    return same_columns(u->c, columns, m) ? OK : immutable(u, "StorageDescriptor.Columns", err);
}

/* ---- applied -------------------------------------------------------------------------------------------------------------------------- */

static Status set_schedule(const ViewUpdate *u, Error *err)
{
    int64_t seconds = json_get_int(u->def, "RefreshSeconds", u->v.schedule_s), min = GLUE_DOOR(u->c)->svc->options.schedule_minimum_s;
    CatMview v = u->v;
    Ask ask = { .action = ACT_SCHEDULE, .api = "glue:UpdateTable", .iam = "glue:UpdateTable", .relation = u->r, .catalog = u->r->catalog,
                .namespace = u->r->namespace, .name = u->r->name };

    if (seconds == v.schedule_s)
        return OK;
    if (seconds != 0 && seconds < min)
        return FAIL(err, E_INVALID, "RefreshSeconds %lld is below the minimum of %lld seconds (schedule.minimum)", (long long)seconds, (long long)min);
    TRY(access_check(u->c->access, u->c->a, &u->c->who, &ask, err));
    TRY(cat_mview_schedule(glue_catalog(u->c), v.relation_id, seconds, seconds ? clock_ms() + seconds * 1000 : 0, err));
    sched_wake(GLUE_DOOR(u->c)->svc->scheduler);
    return OK;
}

static Json *kept_of(const ViewUpdate *u)
{
    Json *input = json_copy(u->c->a, u->input), *params = json_copy(u->c->a, json_get(input, "Parameters"));

    if (!json_is(params, JSON_OBJECT))
        params = json_copy(u->c->a, json_get(json_get(u->r->extra, "glue"), "Parameters"));
    if (!json_is(params, JSON_OBJECT))
        params = json_object(u->c->a);
    json_set(u->c->a, params, "table_type", json_str(u->c->a, S("ICEBERG")));
    json_set(u->c->a, input, "Parameters", params);
    return glue_patch(u->c->a, input, u->r->extra);
}

static Status apply(const ViewUpdate *u, Error *err)
{
    Str pointer = glue_parameter(u->input, "metadata_location");
    SvcCall call = glue_call(u->c);

    if (pointer.n > 0 && !str_eq(pointer, u->r->metadata_location))
        return glue_point(u->c, u->n, u->r, u->input, kept_of(u), err);
    TRY(set_schedule(u, err));
    if (GLUE_DOOR(u->c)->svc->options.aws_compat)
        return OK;                                     /* AWS answers success and keeps nothing */
    return svc_relation_extra(&call, u->r, kept_of(u), NULL, err);
}

Status glue_view_update(AwsCall *c, const GlueName *n, const CatRelation *r, const Json *input, Error *err)
{
    ViewUpdate u = { .c = c, .n = n, .r = r, .input = input, .def = json_get(input, "ViewDefinition") };
    OptI64 version;

    TRY(cat_mview_get(glue_catalog(c), c->a, r->id, &u.v, err));
    if (aws_has(c, "UpdateOpenTableFormatInput") && u.v.managed)
        return immutable(&u, "ViewDefinition", err);
    if (aws_has(c, "UpdateOpenTableFormatInput") && input)
        return FAIL(err, E_INVALID, "TableInput and UpdateOpenTableFormatInput cannot be given together for a materialized view");
    if (!input)
        return u.v.managed ? immutable(&u, "ViewDefinition", err) : glue_iceberg_update(c, n, r, err);
    TRY(check_shape(&u, err));
    TRY(check_managed(&u, err));
    TRY(check_text(&u, err));
    TRY(glue_version_given(c, r, &version, err));
    TRY(check_substance(&u, err));
    return apply(&u, err);
}
