/* SPDX-License-Identifier: Apache-2.0 */
/* workgroup.c - workgroups: where results go, whether a query may choose otherwise, how much one may read.
 *
 * A record is {"Name", "State", "Description", "Configuration", "CreationMs", "Tags"}.  `primary` exists without one, as in every account. */
#include "door/athena/athena_int.h"

static Json *default_configuration(Arena *a, int enforce)
{
    Json *v = json_object(a), *engine = json_object(a);

    json_set(a, engine, "SelectedEngineVersion", json_str(a, S("AUTO")));
    json_set(a, engine, "EffectiveEngineVersion", json_str(a, S(ATH_ENGINE)));
    json_set(a, v, "EnforceWorkGroupConfiguration", json_bool(a, enforce != 0));
    json_set(a, v, "PublishCloudWatchMetricsEnabled", json_bool(a, false));
    json_set(a, v, "RequesterPaysEnabled", json_bool(a, false));
    json_set(a, v, "EngineVersion", engine);
    json_set(a, v, "EnableMinimumEncryptionConfiguration", json_bool(a, false));
    return v;
}

static Json *primary(Arena *a)
{
    Json *w = json_object(a), *conf = default_configuration(a, 0);

    json_set(a, conf, "ResultConfiguration", json_object(a));
    json_set(a, w, "Name", json_str(a, S("primary")));
    json_set(a, w, "State", json_str(a, S("ENABLED")));
    json_set(a, w, "Configuration", conf);
    json_set(a, w, "Tags", json_object(a));
    return w;
}

Str wg_of(const AwsCall *c)
{
    Str name = aws_str(c, "WorkGroup");
    return name.n ? name : S("primary");
}

Status wg_get(Service *svc, Arena *a, Str name, Json **ret, Error *err)
{
    TRY(rec_get(svc, a, K_WORKGROUP, name, ret, err));
    if (!*ret && str_eq(name, S("primary")))
        *ret = primary(a);
    if (!*ret)
        return ATH_INVALID(err, "WORKGROUP_NOT_FOUND", "WorkGroup " STR_FMT " is not found.", STR_ARG(name));
    return OK;
}

/* ---- configurations ------------------------------------------------------------------------------------------------------ */

static Status check_location(const Json *conf, Error *err)
{
    Str uri = json_get_str(json_get(conf, "ResultConfiguration"), "OutputLocation", (Str){0});
    if (uri.n && (!str_starts(uri, S("s3://")) || uri.n <= 5 || uri.p[5] == '/'))
        return ATH_INVALID(err, "INVALID_INPUT", "outputLocation is not a valid S3 path.");
    return OK;
}

/* What this server cannot keep is refused rather than forgotten. */
static Status check_supported(const Json *conf, Error *err)
{
    Str engine = json_get_str(json_get(conf, "EngineVersion"), "SelectedEngineVersion", (Str){0});

    if (json_get_bool(json_get(conf, "ManagedQueryResultsConfiguration"), "Enabled", false))
        return ATH_INVALID(err, "INVALID_INPUT", "Managed query results are not supported: set ResultConfiguration.OutputLocation");
    if (json_get_bool(json_get(conf, "IdentityCenterConfiguration"), "EnableIdentityCenter", false))
        return ATH_INVALID(err, "INVALID_INPUT", "IAM Identity Center workgroups are not supported");
    if (engine.n && !str_eq(engine, S("AUTO")) && !str_eq(engine, S(ATH_ENGINE)))
        return ATH_INVALID(err, "INVALID_INPUT", "Engine version '" STR_FMT "' is not available: AUTO or '%s' are", STR_ARG(engine), ATH_ENGINE);
    return check_location(conf, err);
}

/* Members of `given` over `conf`; the engine version that holds is ours to say. */
static void overlay(Arena *a, Json *conf, const Json *given)
{
    for (size_t i = 0; given && i < given->object.n; i++) {
        const JsonMember *m = &given->object.p[i];
        if (!str_eq(m->key, S("EngineVersion")))
            json_set_s(a, conf, m->key, m->value);
    }
    Str selected = json_get_str(json_get(given, "EngineVersion"), "SelectedEngineVersion", (Str){0});
    if (selected.n)
        json_set(a, json_get(conf, "EngineVersion"), "SelectedEngineVersion", json_str(a, selected));
}

Status ath_CreateWorkGroup(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "Name");
    Json *w = json_object(c->a), *tags = json_object(c->a), *conf = default_configuration(c->a, 1), *old;

    TRY(ath_allow(c, "workgroup", name, err));
    if (!ath_name_ok(name, "._-") || name.n > 128)
        return ATH_INVALID(err, "INVALID_INPUT", "WorkGroup name must match [a-zA-Z0-9._-]{1,128}");
    TRY(check_supported(aws_get(c, "Configuration"), err));
    TRY(rec_tags(c, aws_get(c, "Tags"), tags, err));
    TRY(rec_get(ath_service(c), c->a, K_WORKGROUP, name, &old, err));
    if (old || str_eq(name, S("primary")))
        return ATH_INVALID(err, "WORKGROUP_ALREADY_EXISTS", "WorkGroup already exists");
    TRY(rec_count_below(c, K_WORKGROUP, err));
    overlay(c->a, conf, aws_get(c, "Configuration"));
    json_set(c->a, w, "Name", json_str(c->a, name));
    json_set(c->a, w, "State", json_str(c->a, S("ENABLED")));
    if (aws_has(c, "Description"))
        json_set(c->a, w, "Description", json_str(c->a, aws_str(c, "Description")));
    json_set(c->a, w, "Configuration", conf);
    json_set(c->a, w, "CreationMs", json_int(c->a, clock_ms()));
    json_set(c->a, w, "Tags", tags);
    return rec_put(ath_service(c), K_WORKGROUP, name, w, err);
}

/* WorkGroup and WorkGroupSummary. */
static Json *shape_of(AwsCall *c, const Json *w, int whole)
{
    static const char *const members[] = { "Name", "State", "Description" };
    Json *v = json_object(c->a);
    int64_t created = json_get_int(w, "CreationMs", 0);

    rec_copy_members(c->a, v, w, members, COUNT_OF(members));
    if (whole)
        json_set(c->a, v, "Configuration", json_get(w, "Configuration"));
    else
        json_set(c->a, v, "EngineVersion", json_get(json_get(w, "Configuration"), "EngineVersion"));
    if (created)
        json_set(c->a, v, "CreationTime", aws_time(c, created));
    return v;
}

Status ath_GetWorkGroup(AwsCall *c, Error *err)
{
    Json *w;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    aws_put(c, "WorkGroup", shape_of(c, w, 1));
    return OK;
}

Status ath_ListWorkGroups(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a), *w;
    CatDocs docs;

    TRY(ath_allow(c, "workgroup", S("*"), err));
    TRY(wg_get(ath_service(c), c->a, S("primary"), &w, err));
    json_push(c->a, list, shape_of(c, w, 0));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_WORKGROUP), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        if (!str_eq(d->key, S("primary")))
            json_push(c->a, list, shape_of(c, d->value, 0));
    return aws_page(c, "WorkGroups", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

/* ---- updates ---------------------------------------------------------------------------------------------------------------- */

/* "RemoveX": true takes X away. */
static void apply_removals(Arena *a, Json *target, const Json *updates)
{
    for (size_t i = 0; updates && i < updates->object.n; i++) {
        const JsonMember *m = &updates->object.p[i];
        if (str_starts(m->key, S("Remove")))
            continue;
        json_set_s(a, target, m->key, m->value);
    }
    for (size_t i = 0; updates && i < updates->object.n; i++) {
        const JsonMember *m = &updates->object.p[i];
        if (str_starts(m->key, S("Remove")) && m->value->kind == JSON_BOOL && m->value->boolean)
            json_del(target, str_from(m->key, 6));
    }
}

static Json *nested(Arena *a, Json *conf, const char *name)
{
    Json *v = json_get(conf, name);
    if (!v) {
        v = json_object(a);
        json_set(a, conf, name, v);
    }
    return v;
}

static void apply_updates(Arena *a, Json *conf, const Json *updates)
{
    Json *rest = json_copy(a, updates);
    const Json *results = json_get(updates, "ResultConfigurationUpdates"), *managed = json_get(updates, "ManagedQueryResultsConfigurationUpdates");

    if (results)
        apply_removals(a, nested(a, conf, "ResultConfiguration"), results);
    if (managed)
        apply_removals(a, nested(a, conf, "ManagedQueryResultsConfiguration"), managed);
    json_del(rest, S("ResultConfigurationUpdates"));
    json_del(rest, S("ManagedQueryResultsConfigurationUpdates"));
    json_del(rest, S("EngineVersion"));
    apply_removals(a, conf, rest);
    Str selected = json_get_str(json_get(updates, "EngineVersion"), "SelectedEngineVersion", (Str){0});
    if (selected.n)
        json_set(a, nested(a, conf, "EngineVersion"), "SelectedEngineVersion", json_str(a, selected));
}

Status ath_UpdateWorkGroup(AwsCall *c, Error *err)
{
    const Json *updates = aws_get(c, "ConfigurationUpdates");
    Json *w;

    TRY(ath_allow(c, "workgroup", wg_of(c), err));
    TRY(wg_get(ath_service(c), c->a, wg_of(c), &w, err));
    if (updates) {
        Json *conf = json_get(w, "Configuration");
        apply_updates(c->a, conf, updates);
        TRY(check_supported(conf, err));
    }
    if (aws_has(c, "Description"))
        json_set(c->a, w, "Description", json_str(c->a, aws_str(c, "Description")));
    if (aws_has(c, "State"))
        json_set(c->a, w, "State", json_str(c->a, aws_str(c, "State")));
    return rec_put(ath_service(c), K_WORKGROUP, wg_of(c), w, err);
}

/* ---- deletion ------------------------------------------------------------------------------------------------------------------ */

typedef VEC(CatChange) Changes;

static Status collect(AwsCall *c, const char *kind, Str prefix, Str wg, Changes *changes, Error *err)
{
    CatDocs docs;

    TRY(cat_doc_list(ath_service(c)->catalog, c->a, str_c(kind), prefix, &docs, err));
    for vec_each(CatDoc, d, &docs)
        if (prefix.n || str_eq(json_get_str(d->value, "WorkGroup", (Str){0}), wg))
            vec_push(c->a, changes, ((CatChange){ .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = d->key }));
    return OK;
}

Status ath_DeleteWorkGroup(AwsCall *c, Error *err)
{
    Str wg = wg_of(c), prefix = str_fmt(c->a, STR_FMT "/", STR_ARG(wg));
    Changes changes = {0};
    Json *w;

    TRY(ath_allow(c, "workgroup", wg, err));
    if (str_eq(wg, S("primary")))
        return ATH_INVALID(err, "INVALID_INPUT", "The primary workgroup cannot be deleted");
    TRY(wg_get(ath_service(c), c->a, wg, &w, err));
    TRY(collect(c, K_NAMED, (Str){0}, wg, &changes, err));
    TRY(collect(c, K_PREPARED, prefix, wg, &changes, err));
    if (changes.n && !aws_bool(c, "RecursiveDeleteOption", false))
        return ATH_INVALID(err, "WORKGROUP_NOT_EMPTY", "WorkGroup " STR_FMT " is not empty", STR_ARG(wg));
    vec_push(c->a, &changes, ((CatChange){ .kind = CH_DOC, .doc_kind = S(K_WORKGROUP), .doc_key = wg }));
    return cat_commit(ath_service(c)->catalog, changes.p, changes.n, err);
}
