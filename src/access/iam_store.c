/* SPDX-License-Identifier: Apache-2.0 */
/* iam_store.c - users, groups, roles, policies and profiles as documents of the catalog.
 *
 * One document an entity, by its name (policies by ARN).  Every change drops what is remembered, so it holds from the next decision on. */
#include "access/iam_int.h"

#include <stdio.h>

static const char *const kinds[] = { "iam.user", "iam.role", "iam.group", "iam.policy", "iam.profile" };
static const char *const titles[] = { "user", "role", "group", "policy", "instance profile" };

static Str doc_kind(IamKind k) { return str_c(kinds[k]); }

static Status missing(IamKind kind, Str name, Error *err)
{
    if (kind == IAM_POLICY)
        RAISE(err, E_NOT_FOUND, "Policy " STR_FMT " was not found.", STR_ARG(name));
    else if (kind == IAM_PROFILE)
        RAISE(err, E_NOT_FOUND, "Instance Profile " STR_FMT " cannot be found.", STR_ARG(name));
    else
        RAISE(err, E_NOT_FOUND, "The %s with name " STR_FMT " cannot be found.", titles[kind], STR_ARG(name));
    snprintf(err->kind, sizeof err->kind, "NoSuchEntity");
    return E_NOT_FOUND;
}

Status iam_get(Access *x, Arena *a, IamKind kind, Str name, Json **ret, Error *err)
{
    Status s = cat_doc_get(x->catalog, a, doc_kind(kind), name, ret, err);
    if (s == E_NOT_FOUND && kind == IAM_POLICY && iam_managed_get(a, name, ret, err) == OK)
        return OK;
    if (s == E_NOT_FOUND && kind == IAM_ROLE && (*ret = iam_own_role(x, a, name)) != NULL)
        return OK;
    return s == E_NOT_FOUND ? missing(kind, name, err) : s;
}

Status iam_list(Access *x, Arena *a, IamKind kind, Str path_prefix, Json **ret, Error *err)
{
    CatDocs docs = {0};

    TRY(cat_doc_list(x->catalog, a, doc_kind(kind), (Str){0}, &docs, err));
    *ret = json_array(a);
    for vec_each(CatDoc, d, &docs)
        if (str_starts(json_get_str(d->value, "Path", S("/")), path_prefix))
            json_push(a, *ret, d->value);
    return OK;
}

static Status write(Access *x, Str kind, Str key, const Json *value, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatChange ch = { .kind = CH_DOC, .doc_kind = kind, .doc_key = key, .doc = value ? json_copy(a, value) : NULL };

    TRY(cat_commit(x->catalog, &ch, 1, err));
    iam_forget(x);
    return OK;
}

static Status exists(Access *x, IamKind kind, Str name, bool *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *ignored;
    Status s = cat_doc_get(x->catalog, a, doc_kind(kind), name, &ignored, err);

    *ret = s == OK;
    return s == E_NOT_FOUND ? OK : s;
}

static Status absent(Access *x, IamKind kind, Str name, Error *err)
{
    return iam_is_own_role(x, kind, name) ? iam_own_role_refuse(name, err) : missing(kind, name, err);
}

Status iam_create(Access *x, IamKind kind, Str name, const Json *record, Error *err)
{
    bool there;
    TRY(exists(x, kind, name, &there, err));
    if (there || iam_is_own_role(x, kind, name)) {
        RAISE(err, E_EXISTS, "%s with name " STR_FMT " already exists.", titles[kind], STR_ARG(name));
        snprintf(err->kind, sizeof err->kind, "EntityAlreadyExists");
        return E_EXISTS;
    }
    return write(x, doc_kind(kind), name, record, err);
}

Status iam_update(Access *x, IamKind kind, Str name, const Json *record, Error *err)
{
    bool there;
    TRY(exists(x, kind, name, &there, err));
    return there ? write(x, doc_kind(kind), name, record, err) : absent(x, kind, name, err);
}

Status iam_delete(Access *x, IamKind kind, Str name, Error *err)
{
    bool there;
    TRY(exists(x, kind, name, &there, err));
    return there ? write(x, doc_kind(kind), name, NULL, err) : absent(x, kind, name, err);
}

Str iam_new_id(Arena *a, const char *prefix)
{
    return str_cat(a, str_c(prefix), session_random(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 17));
}

Status iam_policy_text(Access *x, Arena *a, Str arn, Str *ret, Error *err)
{
    Json *p;

    TRY(iam_get(x, a, IAM_POLICY, arn, &p, err));
    Str version = json_get_str(p, "DefaultVersionId", S("v1"));
    const Json *versions = json_get(p, "Versions");
    for (size_t i = 0; i < json_len(versions); i++)
        if (str_eq(json_get_str(json_at(versions, i), "VersionId", (Str){0}), version)) {
            *ret = json_get_str(json_at(versions, i), "Document", (Str){0});
            return OK;
        }
    return missing(IAM_POLICY, arn, err);
}

/* ---- other documents ---------------------------------------------------------------------------------------------------- */

static Str other_kind(Arena *a, Str kind) { return str_cat(a, S("iam."), kind); }

Status iam_doc_put(Access *x, Str kind, Str key, Json *value, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    return write(x, other_kind(a, kind), key, value, err);
}

Status iam_doc_get(Access *x, Arena *a, Str kind, Str key, Json **ret, Error *err)
{
    return cat_doc_get(x->catalog, a, other_kind(a, kind), key, ret, err);
}

Status iam_doc_list(Access *x, Arena *a, Str kind, Json **ret, Error *err)
{
    CatDocs docs = {0};

    TRY(cat_doc_list(x->catalog, a, other_kind(a, kind), (Str){0}, &docs, err));
    *ret = json_array(a);
    for vec_each(CatDoc, d, &docs)
        json_push(a, *ret, d->value);
    return OK;
}
