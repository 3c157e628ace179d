/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation.h - Lake Formation's settings and grants, and what they allow.
 *
 * After IAM's yes, a resource is judged here.  One that grants nothing but to IAM_ALLOWED_PRINCIPALS is IAM's matter alone; else a grant on it, on its
 * database's table wildcard, or on tags that it has, is needed.  New databases and tables get the settings' default permissions; their creator has all
 * on them, with grant option.  `lakeformation.default_permissions = none` empties the defaults at first start.
 * Administrators (root always) see and grant everything; root and firn's own runs are not judged.  Never widens what IAM denies.  spec/glue.md 5.4.
 *
 * Grants are documents of the catalog, one a resource, under the resource's name; they come, move and go in the transaction that makes, renames
 * and drops it (lf_commit).  A resource without a document was made before Lake Formation was there: IAM alone judges it, as on AWS. */
#ifndef FIRN_LAKEFORMATION_H
#define FIRN_LAKEFORMATION_H

#include "access/access.h"

typedef enum {
    LF_SELECT = 1, LF_INSERT = 2, LF_DELETE = 4, LF_DESCRIBE = 8, LF_ALTER = 16, LF_DROP = 32, LF_CREATE_TABLE = 64, LF_CREATE_DATABASE = 128,
    LF_DATA_LOCATION = 256, LF_CREATE_CATALOG = 512, LF_SUPER = 1024, LF_ALL = 2048, LF_CREATE_TAG = 4096, LF_ASSOCIATE = 8192, LF_GRANT_TAG = 16384,
    LF_CREATE_EXPRESSION = 32768
} LfPermission;
/* "SELECT" and its bit, in the order in which the API lists them. */
typedef struct LfPermissionName { const char *name, *title; uint32_t bit; } LfPermissionName;      /* title: "Select", as messages have it */
const LfPermissionName *lf_permission_names(size_t *n);

enum {
    LF_GRANTS_MAX = 10000,            /* grants on one resource */
    LF_TAGS_MAX   = 1000,             /* tags of an account */
    LF_VALUES_MAX = 1000,             /* values of a tag */
    LF_NAMES_MAX  = 4096,             /* columns in a grant */
};

typedef struct LfTagPair { Str catalog, key; StrVec values; } LfTagPair;
typedef VEC(LfTagPair) LfTagPairs;

typedef enum { LF_CATALOG, LF_DATABASE, LF_TABLE, LF_COLUMNS, LF_LOCATION, LF_TAG, LF_TAG_POLICY } LfKind;
typedef struct LfResource {
    LfKind kind;
    Str catalog, database, table;     /* catalog ids; database as joined namespace */
    int wildcard;                     /* LF_TABLE: every table of the database */
    StrVec columns, excluded;         /* LF_COLUMNS: the named ones, or (columns empty) all but `excluded` */
    Str location;                     /* ARN */
    LfTagPair tag;
    LfKind policy_on;                 /* LF_TAG_POLICY: LF_DATABASE or LF_TABLE */
    LfTagPairs expression;
} LfResource;

typedef struct LfGrant { LfResource resource; Str principal; uint32_t permissions, grantable; int64_t updated_ms; Str updated_by; } LfGrant;
typedef VEC(LfGrant) LfGrants;

/* ---- settings ------------------------------------------------------------------------------------------------------------- */

NODISCARD Status lf_settings(Access *x, Arena *a, Json **ret, Error *err);          /* DataLakeSettings in the API's own shape */
NODISCARD Status lf_settings_put(Access *x, const Json *settings, Error *err);      /* as given: what is left out is empty */
/* Sets the defaults of the account ("iam_allowed_principals" or "none"); does nothing when settings exist. */
NODISCARD Status lf_first_start(Access *x, Str default_permissions, Error *err);
bool lf_is_admin(Access *x, Arena *a, const Principal *p);
bool lf_is_reader(Access *x, Arena *a, const Principal *p);                         /* an administrator, or a read-only one */

/* ---- grants --------------------------------------------------------------------------------------------------------------- */

/* May p hand out (or take back) these permissions: an administrator, or one who has them with grant option.
 * E_DENIED "Resource does not exist or requester is not authorized to access requested permissions." */
NODISCARD Status lf_may_grant(Access *x, Arena *a, const Principal *p, const LfGrant *g, Error *err);
/* Adds to what is granted. E_INVALID: permissions that the resource does not have; E_NOT_FOUND: no such database or table. */
NODISCARD Status lf_grant(Access *x, Arena *a, const LfGrant *g, Error *err);
NODISCARD Status lf_revoke(Access *x, Arena *a, const LfGrant *g, Error *err);      /* E_INVALID "No permissions revoked. …" */
/* All of one catalog; of a resource, those on just it; principal empty: everybody's. */
NODISCARD Status lf_grants(Access *x, Arena *a, Str catalog, const LfResource *of, Str principal, LfGrants *ret, Error *err);

/* ---- the life of what is granted on ------------------------------------------------------------------------------------------ */

/* cat_commit, with the documents that its CREATEs, DROPs and RENAMEs bring: one transaction. */
NODISCARD Status lf_commit(Access *x, Arena *a, const Principal *p, CatChange *changes, size_t n, Error *err);
/* The same for who commits by himself: the document of a new table or view, to be put in its transaction. */
NODISCARD Status lf_created(Access *x, Arena *a, Str owner, Str catalog, Str ns, Str name, CatChange *ret, Error *err);
/* cat_namespace_create and cat_namespace_delete, likewise. */
NODISCARD Status lf_namespace_create(Access *x, Arena *a, const Principal *p, const CatNamespace *n, Error *err);
NODISCARD Status lf_namespace_delete(Access *x, Arena *a, Str catalog, Str ns, Error *err);

/* ---- decisions ----------------------------------------------------------------------------------------------------------------- */

/* Every permission in `need`. E_DENIED "Insufficient Lake Formation permission(s): Required Describe on orders" (spec/glue.md 2.9 E17). */
NODISCARD Status lf_allowed(Access *x, Arena *a, const Principal *p, const LfResource *r, uint32_t need, Error *err);
/* What p has on a database or table, the group's included; all of them where IAM alone judges. */
NODISCARD Status lf_effective(Access *x, Arena *a, const Principal *p, const LfResource *r, uint32_t *ret, Error *err);
/* Takes out what p may not see (Describe). */
NODISCARD Status lf_filter_relations(Access *x, Arena *a, const Principal *p, CatRelations *list, Error *err);
NODISCARD Status lf_filter_namespaces(Access *x, Arena *a, const Principal *p, CatNamespaces *list, Error *err);
/* Does Lake Formation judge this database or table: IAM_ALLOWED_PRINCIPALS does not have all on it? (Glue's IsRegisteredWithLakeFormation.) */
NODISCARD Status lf_governs(Access *x, Arena *a, const LfResource *r, int *ret, Error *err);

/* Columns that the principal may select. `all`: every one; else those that lf_column_allowed says (Glue's AuthorizedColumns). */
typedef struct LfColumns { int all; StrVec only, but; int has_but; } LfColumns;
NODISCARD Status lf_columns(Access *x, Arena *a, const Principal *p, Str catalog, Str ns, Str table, LfColumns *ret, Error *err);
bool lf_column_allowed(const LfColumns *c, Str name);                               /* Glue's names: without case */

/* E_DENIED when that is not every column: for what reads files, or a definition whose columns are not known. */
NODISCARD Status lf_whole_table(Access *x, Arena *a, const Principal *p, const CatRelation *r, Error *err);

/* ---- registered locations (documents "lf.location", by ARN) ---------------------------------------------------------------------- */

NODISCARD Status lf_registered(Access *x, Arena *a, Str arn, Str *ret, Error *err);           /* the narrowest that holds it; "" none */
/* DATA_LOCATION_ACCESS on the place or above it. */
NODISCARD Status lf_location_granted(Access *x, Arena *a, const Principal *p, Str arn, Error *err);
/* May p put tables there: yes where nothing is registered. */
NODISCARD Status lf_location_allowed(Access *x, Arena *a, const Principal *p, Str uri, Error *err);

/* ---- tags ------------------------------------------------------------------------------------------------------------------------ */

NODISCARD Status lf_tag_get(Access *x, Arena *a, Str catalog, Str key, StrVec *values, Error *err);      /* E_NOT_FOUND */
NODISCARD Status lf_tag_put(Access *x, Arena *a, Str catalog, Str key, const StrVec *values, Error *err);
/* Its assignments and the grants on it go too. */
NODISCARD Status lf_tag_delete(Access *x, Arena *a, Str catalog, Str key, Error *err);
NODISCARD Status lf_tag_list(Access *x, Arena *a, Str catalog, LfTagPairs *ret, Error *err);
/* Sets (value non-empty) or removes a tag of a database, a table or columns of one. E_NOT_FOUND "Tag or tag value does not exist." */
NODISCARD Status lf_tag_assign(Access *x, Arena *a, const LfResource *r, Str key, Str value, Error *err);
/* Own tags of a resource; of a column when `column` is set. */
NODISCARD Status lf_tags_of(Access *x, Arena *a, const LfResource *r, Str column, LfTagPairs *ret, Error *err);
/* Tags that count: a table's with its database's, a column's with both. */
NODISCARD Status lf_tags_effective(Access *x, Arena *a, const LfResource *r, Str column, LfTagPairs *ret, Error *err);
/* Columns of a table with tags of their own. */
NODISCARD Status lf_tagged_columns(Access *x, Arena *a, const LfResource *table, StrVec *ret, Error *err);
bool lf_tags_match(const LfTagPairs *tags, const LfTagPairs *expression);          /* every key has one of its values */

#endif
