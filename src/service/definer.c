/* SPDX-License-Identifier: Apache-2.0 */
/* definer.c - a refresh acts as its view's definer, and that is asked anew before every run (spec/glue.md 2.8).
 *
 * A role is taken as the service glue.amazonaws.com, so its trust policy decides first; then it must still be allowed to refresh the view and to
 * read every source.  The account's root needs no permission.  Whoever asked for the run was asked before: this is the other half. */
#include "access/iam.h"
#include "access/lakeformation.h"
#include "service/external.h"
#include "service/notices.h"

static const char *const GLUE = "glue.amazonaws.com";

static Status as_user(Service *svc, Arena *a, Str arn, Principal *ret, Error *err)
{
    Json *user;
    ptrdiff_t slash = str_rchr(arn, '/');

    TRY(iam_get(svc->access, a, IAM_USER, str_from(arn, (size_t)slash + 1), &user, err));
    *ret = (Principal){ .kind = PR_USER, .arn = arn, .user_id = json_get_str(user, "UserId", (Str){0}) };
    return OK;
}

static Status definer_principal(Service *svc, Arena *a, Str definer, Principal *ret, Error *err)
{
    if (str_ends(definer, S(":root"))) {
        *ret = access_root(a, svc->access);
        return OK;
    }
    if (str_find(definer, S(":role/")) >= 0)
        return iam_assume_service(svc->access, a, definer, GLUE, S("MaterializedViewRefresh"), ret, err);
    if (str_find(definer, S(":user/")) >= 0)
        return as_user(svc, a, definer, ret, err);
    return FAIL(err, E_DENIED, "'" STR_FMT "' is neither a role nor a user", STR_ARG(definer));
}

Status definer_may_read(Service *svc, Arena *a, Str definer, LakeMay what, Str bucket, Str key, Error *err)
{
    Principal p;

    TRY(definer_principal(svc, a, definer, &p, err));
    return external_may(svc->access, a, &p, what, bucket, key, err);
}

static Status may_read_sources(Service *svc, Arena *a, const Principal *p, const CatMview *v, Error *err)
{
    for (size_t i = 0; i < json_len(v->sources); i++) {
        const Json *s = json_at(v->sources, i);
        CatRelation rel;
        Error gone;
        if (cat_relation_get(svc->catalog, a, json_get_str(s, "catalog", (Str){0}), json_get_str(s, "namespace", (Str){0}), json_get_str(s, "name", (Str){0}), &rel, &gone) != OK)
            continue;                                 /* the run itself says what is missing */
        Ask ask = { .action = ACT_READ_DATA, .api = "REFRESH MATERIALIZED VIEW", .relation = &rel };
        TRY(access_check(svc->access, a, p, &ask, err));
        TRY(lf_whole_table(svc->access, a, p, &rel, err));
    }
    return OK;
}

const char *definer_refresh_action(const CatMview *v) { return v->managed ? "glue:StartMaterializedViewRefreshTaskRun" : "glue:UpdateTable"; }

static Status check(Service *svc, Arena *a, const CatRelation *view, const CatMview *v, Error *err)
{
    Ask ask = { .action = ACT_REFRESH, .api = "REFRESH MATERIALIZED VIEW", .iam = definer_refresh_action(v), .relation = view };
    Principal p;

    TRY(definer_principal(svc, a, v->definer, &p, err));
    TRY(access_check(svc->access, a, &p, &ask, err));
    return may_read_sources(svc, a, &p, v, err);
}

Status definer_authorize(Service *svc, Arena *a, const CatRelation *view, const CatMview *v, Error *err)
{
    Status s = check(svc, a, view, v, err);
    return s == OK ? OK : error_context(err, "the view's definer " STR_FMT " may not refresh it", STR_ARG(v->definer));
}
