/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_settings.c - the account's settings: administrators and the permissions that new databases and tables get.
 *
 * Kept as the API gives them.  Root is an administrator whatever they say, so nobody can lock the account out. */
#include "access/lakeformation_int.h"

static const char SETTINGS[] = "lf.settings";

static Json *default_permissions(Arena *a, bool everybody)
{
    Json *list = json_array(a), *o, *who, *permissions;

    if (!everybody)
        return list;
    o = json_object(a);
    who = json_object(a);
    permissions = json_array(a);
    json_set(a, who, "DataLakePrincipalIdentifier", json_str(a, LF_EVERYBODY));
    json_push(a, permissions, json_str(a, S("ALL")));
    json_set(a, o, "Principal", who);
    json_set(a, o, "Permissions", permissions);
    json_push(a, list, o);
    return list;
}

static Json *first_settings(Arena *a, bool everybody)
{
    Json *o = json_object(a);

    json_set(a, o, "DataLakeAdmins", json_array(a));
    json_set(a, o, "CreateDatabaseDefaultPermissions", default_permissions(a, everybody));
    json_set(a, o, "CreateTableDefaultPermissions", default_permissions(a, everybody));
    json_set(a, o, "TrustedResourceOwners", json_array(a));
    json_set(a, o, "AllowExternalDataFiltering", json_bool(a, false));
    json_set(a, o, "ExternalDataFilteringAllowList", json_array(a));
    return o;
}

Status lf_settings(Access *x, Arena *a, Json **ret, Error *err)
{
    Status s = cat_doc_get(x->catalog, a, str_c(SETTINGS), cat_account(x->catalog), ret, err);
    if (s != E_NOT_FOUND)
        return s;
    *ret = first_settings(a, true);
    return OK;
}

static Status put(Access *x, const Json *settings, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(SETTINGS), .doc_key = cat_account(x->catalog), .doc = json_copy(a, settings) };

    return cat_commit(x->catalog, &ch, 1, err);
}

Status lf_settings_put(Access *x, const Json *settings, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;

    lf_lock(x);
    return put(x, settings, err);
}

Status lf_first_start(Access *x, Str permissions, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *there = NULL;

    Status s = cat_doc_get(x->catalog, a, str_c(SETTINGS), cat_account(x->catalog), &there, err);
    if (s != E_NOT_FOUND)
        return s;
    return put(x, first_settings(a, !str_eq(permissions, S("none"))), err);
}

static bool names_one_of(const Json *list, const StrVec *who)
{
    for (size_t i = 0; i < json_len(list); i++)
        if (strvec_has(who, json_get_str(json_at(list, i), "DataLakePrincipalIdentifier", (Str){0})))
            return true;
    return false;
}

static bool is_listed(Access *x, Arena *a, const Principal *p, const char *list)
{
    Json *settings = NULL;
    StrVec who = {0};
    Error ignored;

    vec_push(a, &who, principal_owner(p));                /* a group is no administrator */
    return lf_settings(x, a, &settings, &ignored) == OK && names_one_of(json_get(settings, list), &who);
}

bool lf_is_admin(Access *x, Arena *a, const Principal *p)
{
    return p->kind == PR_ROOT || p->kind == PR_SYSTEM || is_listed(x, a, p, "DataLakeAdmins");
}

bool lf_is_reader(Access *x, Arena *a, const Principal *p)
{
    return lf_is_admin(x, a, p) || is_listed(x, a, p, "ReadOnlyAdmins");
}
