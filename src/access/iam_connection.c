/* SPDX-License-Identifier: Apache-2.0 */
/* iam_connection.c - the role as which firn's own connections act (the principal that Materialize's guide puts into trust policies).
 *
 * It stands among the roles without being a document: trust policies may name it and GetRole shows it, but it cannot be made, changed or deleted, and lists leave it
 * out.  Only firn itself takes it (iam_assume_service_key, IAM_CONNECTION_SERVICE).
 * It has no rights at all: whoever may make a connection acts through it, so it takes the roles that name it, never those that trust its account. */
#include "access/iam_int.h"

#include <stdio.h>
#include <stdlib.h>

#define ROLE_NAME "MaterializeConnection"
#define ROLE_ID "AROAFIRNCONNECTIONROL"
#define TRUST "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"" IAM_CONNECTION_SERVICE "\"},\"Action\":\"sts:AssumeRole\"}]}"

Status iam_set_connection_role(Access *x, Str arn, Error *err)
{
    if (arn.n > 256 || !str_starts(arn, S("arn:")) || str_find(arn, S(":role/")) < 0 || !iam_name_of(arn).n)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is no ARN of a role: arn:aws:iam::<account>:role/<name>", STR_ARG(arn));
    free(x->connection_role);
    x->connection_role = strndup(arn.p, arn.n);
    if (!x->connection_role)
        abort();
    iam_forget(x);
    return OK;
}

Str iam_connection_role(const Access *x, Arena *a)
{
    if (x->connection_role)
        return str_c(x->connection_role);
    return str_fmt(a, "arn:aws:iam::" STR_FMT ":role/" ROLE_NAME, STR_ARG(cat_account(x->catalog)));
}

static Str path_of(Arena *a, Str arn, Str name)
{
    Str rest = str_from(arn, (size_t)str_find(arn, S(":role/")) + 5);
    return str_dup(a, str_sub(rest, 0, rest.n - name.n));
}

Json *iam_own_role(const Access *x, Arena *a, Str name)
{
    Str arn = iam_connection_role(x, a), mine = iam_name_of(arn);
    Json *r;

    if (!str_eq(name, mine))
        return NULL;
    r = json_object(a);
    json_set(a, r, "Path", json_str(a, path_of(a, arn, mine)));
    json_set(a, r, "RoleName", json_str(a, mine));
    json_set(a, r, "RoleId", json_str(a, S(ROLE_ID)));
    json_set(a, r, "Arn", json_str(a, arn));
    json_set(a, r, "CreateDate", json_int(a, 0));
    json_set(a, r, "AssumeRolePolicyDocument", json_str(a, S(TRUST)));
    json_set(a, r, "Description", json_str(a, S("Connections of the SQL door act as this role. It belongs to firn and cannot be changed.")));
    json_set(a, r, "MaxSessionDuration", json_int(a, 3600));
    json_set(a, r, "Inline", json_object(a));
    json_set(a, r, "Attached", json_array(a));
    json_set(a, r, "Tags", json_object(a));
    return r;
}

bool iam_is_own_role(const Access *x, IamKind kind, Str name)
{
    CLEANUP(arena_destroyp) Arena *a = kind == IAM_ROLE ? arena_create() : NULL;
    return a && iam_own_role(x, a, name) != NULL;
}

Status iam_own_role_refuse(Str name, Error *err)
{
    RAISE(err, E_INVALID, "Cannot perform the operation on the protected role '" STR_FMT "' - this role is only modifiable by AWS", STR_ARG(name));
    error_hint(err, "connections of the SQL door act as this role; `aws.connection_role_arn` names another one");
    snprintf(err->kind, sizeof err->kind, "UnmodifiableEntity");
    return E_INVALID;
}
