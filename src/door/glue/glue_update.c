/* SPDX-License-Identifier: Apache-2.0 */
/* glue_update.c - UpdateTable of tables and Glue views (materialized views: glue_view.c).
 *
 * For an Iceberg table a new Parameters.metadata_location is a commit: the pointer moves from what the client saw (VersionId, and
 * previous_metadata_location when given) to the file that the client wrote; the rest of the input is kept beside it. */
#include "door/glue/glue_int.h"

static Status concurrent(Status s, Error *err)
{
    if (s == E_CONFLICT)
        aws_code(err, "ConcurrentModificationException");
    return s;
}

/* The old state as a version, unless the client wants none. */
static Status archive(AwsCall *c, const CatRelation *r, CatChange *ch, SvcAlso *ret, Error *err)
{
    *ret = (SvcAlso){0};
    if (aws_bool(c, "SkipArchive", false))
        return OK;
    TRY(glue_archive(c, r, ch, err));
    *ret = (SvcAlso){ ch, 1 };
    return OK;
}

Status glue_point(AwsCall *c, const GlueName *n, const CatRelation *r, const Json *input, const Json *extra, Error *err)
{
    SvcPoint p = { .name = glue_svc_name(n), .expected = glue_parameter(input, "previous_metadata_location"), .next = glue_parameter(input, "metadata_location"), .extra = extra };
    SvcCall call = glue_call(c);
    SvcTable t = {0};
    CatChange old;

    TRY(glue_version_given(c, r, &p.version, err));
    if (p.expected.n == 0)
        p.expected = r->metadata_location;
    if (!p.version.has)
        p.version = SOME_I64(r->version);
    TRY(archive(c, r, &old, &p.also, err));
    return concurrent(svc_table_point(&call, &p, &t, err), err);
}

static Status update_iceberg(AwsCall *c, const GlueName *n, const CatRelation *r, const Json *input, Error *err)
{
    Str next = glue_parameter(input, "metadata_location");
    SvcCall call = glue_call(c);
    OptI64 version;
    SvcAlso also;
    CatChange old;

    if (next.n > 0 && !str_eq(next, r->metadata_location))
        return glue_point(c, n, r, input, glue_keep(c->a, input, r->extra), err);
    TRY(glue_version_given(c, r, &version, err));
    TRY(archive(c, r, &old, &also, err));
    Json *marked = json_copy(c->a, input), *params = json_copy(c->a, json_get(input, "Parameters"));
    params = json_is(params, JSON_OBJECT) ? params : json_object(c->a);
    json_set(c->a, params, "table_type", json_str(c->a, S("ICEBERG")));      /* it stays one */
    json_set(c->a, marked, "Parameters", params);
    return concurrent(svc_relation_extra(&call, r, glue_keep(c->a, marked, r->extra), &also, err), err);
}

/* ---- Glue views of several dialects ------------------------------------------------------------------------------------------- */

static Json *find_dialect(const Json *reps, Str dialect, size_t *at)
{
    for (*at = 0; *at < json_len(reps); (*at)++)
        if (str_eq(json_get_str(json_at(reps, *at), "Dialect", (Str){0}), dialect))
            return json_at(reps, *at);
    return NULL;
}

static Status merge_one(AwsCall *c, Str action, const Json *new_rep, Json *reps, Error *err)
{
    Str dialect = json_get_str(new_rep, "Dialect", (Str){0});
    size_t at;
    bool there = find_dialect(reps, dialect, &at) != NULL;

    if (there && str_eq(action, S("ADD")))
        return FAIL(err, E_INVALID, "The view has a representation of dialect " STR_FMT " already.", STR_ARG(dialect));
    if (!there && (str_eq(action, S("REPLACE")) || str_eq(action, S("DROP"))))
        return FAIL(err, E_INVALID, "The view has no representation of dialect " STR_FMT ".", STR_ARG(dialect));
    if (str_eq(action, S("DROP"))) {
        memmove(&reps->array.p[at], &reps->array.p[at + 1], (reps->array.n - at - 1) * sizeof reps->array.p[0]);
        reps->array.n--;
    } else if (there) {
        reps->array.p[at] = (Json *)new_rep;
    } else {
        json_push(c->a, reps, (Json *)new_rep);
    }
    return OK;
}

/* The input's ViewDefinition with the old one's dialects merged in. */
static Status merge_view(AwsCall *c, const Json *old, Json *input, Error *err)
{
    Json *v = json_copy(c->a, json_get(input, "ViewDefinition"));
    Json *reps = json_copy(c->a, json_get(old, "Representations"));
    Str action = aws_str(c, "ViewUpdateAction");
    const Json *given = json_get(v, "Representations");

    if (action.n == 0)
        return FAIL(err, E_INVALID, "View update action must be one of: [ADD, REPLACE, ADD_OR_REPLACE, DROP]");
    reps = json_is(reps, JSON_ARRAY) ? reps : json_array(c->a);
    for (size_t i = 0; i < json_len(given); i++)
        TRY(merge_one(c, action, json_at(given, i), reps, err));
    if (!json_len(reps))
        return FAIL(err, E_INVALID, "The last representation of a view cannot be dropped: delete the view.");
    json_set(c->a, v, "Representations", reps);
    json_set(c->a, input, "ViewDefinition", v);
    return OK;
}

static Status update_external(AwsCall *c, const CatRelation *r, const Json *given, Error *err)
{
    const Json *old_view = json_get(json_get(r->extra, "glue"), "ViewDefinition");
    Json *input = json_copy(c->a, given);
    SvcCall call = glue_call(c);
    OptI64 version;
    SvcAlso also;
    CatChange old;

    if (glue_is_iceberg(input))
        return FAIL(err, E_UNSUPPORTED, "an external table does not become an Iceberg table in place: create the Iceberg table under another name");
    if (old_view && json_get(input, "ViewDefinition"))
        TRY(merge_view(c, old_view, input, err));
    TRY(glue_version_given(c, r, &version, err));
    TRY(archive(c, r, &old, &also, err));
    return concurrent(svc_relation_extra(&call, r, glue_keep(c->a, input, r->extra), &also, err), err);
}

/* ---- the operation ---------------------------------------------------------------------------------------------------------------- */

static Status needs_token(AwsCall *c, const GlueName *n, Error *err)
{
    if (!glue_is_bucket(n) || aws_str(c, "VersionId").n > 0)
        return OK;
    return AWS_FAIL(err, E_UNSUPPORTED, "FederationSourceException",
                    "versionToken is null: UpdateTable on a table of a table bucket needs VersionId (--version-id), the VersionId that GetTable shows");
}

Status glue_update_table(AwsCall *c, Error *err)
{
    const Json *input = aws_get(c, "TableInput");
    Str name = json_get_str(input, "Name", (Str){0}), given = aws_str(c, "Name");
    CatRelation r = {0};
    GlueName n = {0};

    if (given.n > 0 && name.n > 0 && !str_ieq(given, name))
        return FAIL(err, E_INVALID, "a table cannot be renamed: TableInput.Name must be " STR_FMT, STR_ARG(given));
    if (given.n == 0 && name.n == 0)
        return FAIL(err, E_INVALID, "UpdateTable needs the table's name");
    TRY(glue_table(c, aws_str(c, "DatabaseName"), name.n > 0 ? name : given, &n, &r, err));
    TRY(needs_token(c, &n, err));
    if (r.kind == REL_MVIEW)
        return glue_view_update(c, &n, &r, input, err);
    if (aws_has(c, "UpdateOpenTableFormatInput"))
        return concurrent(glue_iceberg_update(c, &n, &r, err), err);
    if (!input)
        return FAIL(err, E_INVALID, "UpdateTable needs TableInput");
    if (r.kind == REL_VIEW)
        return FAIL(err, E_UNSUPPORTED, "Table " STR_FMT " is an Iceberg view: it is changed by CREATE OR REPLACE VIEW", STR_ARG(r.name));
    return r.kind == REL_EXTERNAL ? update_external(c, &r, input, err) : update_iceberg(c, &n, &r, input, err);
}
