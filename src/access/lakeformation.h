/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation.h - Lake Formation's settings and grants, and what they allow.
 *
 * A resource is judged by Lake Formation once its grants do not hold IAM_ALLOWED_PRINCIPALS: then IAM's yes is not enough, and a grant on it, on its database,
 * on the table wildcard or on the catalog is needed.  New databases and tables get the settings' default permissions.  Administrators may see and grant all;
 * the creator of a table has all on it, with grant option.  `lakeformation.default_permissions = none` empties the defaults at first start.
 * Never widens what IAM denies.  spec/glue.md 5.4. */
#ifndef FIRN_LAKEFORMATION_H
#define FIRN_LAKEFORMATION_H

#include "access/access.h"

typedef enum {
    LF_SELECT = 1, LF_INSERT = 2, LF_DELETE = 4, LF_DESCRIBE = 8, LF_ALTER = 16, LF_DROP = 32, LF_CREATE_TABLE = 64, LF_CREATE_DATABASE = 128,
    LF_DATA_LOCATION = 256, LF_CREATE_CATALOG = 512, LF_SUPER = 1024, LF_ALL = 2048
} LfPermission;

typedef enum { LF_CATALOG, LF_DATABASE, LF_TABLE, LF_LOCATION } LfKind;
typedef struct LfResource {
    LfKind kind;
    Str catalog, database, table;     /* catalog ids; database as joined namespace; table empty: the wildcard */
    int wildcard;
    StrVec columns, excluded_columns; /* TableWithColumns */
    Str location;
} LfResource;

typedef struct LfGrant { LfResource resource; Str principal; uint32_t permissions, grantable; int64_t updated_ms; Str updated_by; } LfGrant;
typedef VEC(LfGrant) LfGrants;

NODISCARD Status lf_settings(Access *x, Arena *a, Json **ret, Error *err);          /* DataLakeSettings in the API's own shape */
NODISCARD Status lf_settings_put(Access *x, const Json *settings, Error *err);
/* Sets the defaults of the account and makes root an administrator; does nothing when settings exist. */
NODISCARD Status lf_first_start(Access *x, Str default_permissions, Error *err);
NODISCARD Status lf_grant(Access *x, const LfGrant *g, Error *err);
NODISCARD Status lf_revoke(Access *x, const LfGrant *g, Error *err);                /* E_NOT_FOUND: nothing of it is granted */
NODISCARD Status lf_grants(Access *x, Arena *a, const LfResource *of, Str principal, LfGrants *ret, Error *err);     /* of NULL: all; principal empty: all */
/* A new object gets its defaults and its creator's rights; a dropped one loses its grants; a renamed one keeps them. */
NODISCARD Status lf_created(Access *x, const Principal *p, const LfResource *r, Error *err);
NODISCARD Status lf_dropped(Access *x, const LfResource *r, Error *err);
NODISCARD Status lf_renamed(Access *x, const LfResource *from, const LfResource *to, Error *err);

/* E_DENIED "Insufficient Lake Formation permission(s): Required Describe on orders" (spec/glue.md 2.9 E17). */
NODISCARD Status lf_allowed(Access *x, Arena *a, const Principal *p, const LfResource *r, LfPermission need, Error *err);
bool lf_is_admin(Access *x, Arena *a, const Principal *p);
/* Columns that the principal may select: *all 1 when every one, else `columns` allowed by name (`excluded` then empty), or all but `excluded`. */
NODISCARD Status lf_columns(Access *x, Arena *a, const Principal *p, const CatRelation *r, int *all, StrVec *columns, StrVec *excluded, Error *err);

#endif
