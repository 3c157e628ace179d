/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - the verbs on namespaces, tables and views that all doors share, each with its access check.
 *
 * A verb is one question to access/, work on metadata through iceberg/ and store/, and one catalog transaction.  Nothing here knows a
 * protocol.  Results live in the call's arena.  Data files are never opened.  Any thread may call.
 * E_NOT_FOUND carries in err->kind the Iceberg name of what is missing (NoSuchTableException …); when it is a metadata
 * file, err->kind is empty.  A commit that fails leaves nothing behind; E_UNKNOWN alone means that it may have happened. */
#ifndef FIRN_SERVICE_TABLES_H
#define FIRN_SERVICE_TABLES_H

#include "access/access.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "iceberg/iceberg.h"
#include "store/store.h"

typedef struct SvcCtx {
    Catalog *catalog;
    Access *access;
    Store *store;
    /* Where the account's tables go by default: a bucket, laid out as Glue does (<bucket>/<db>.db/<table>), or a URI (s3://b/x, file:/x), laid
     * out as Iceberg does (<uri>/<namespace>/<table>). Empty: the catalog's own bucket. */
    Str warehouse_bucket;
    Str file_root;                     /* folder under which file: locations are allowed; empty: none */
} SvcCtx;

/* Who calls, for what: the first parameter of every verb. */
typedef struct SvcCall {
    const SvcCtx *ctx;
    Arena *a;
    const Principal *who;
    const char *api;                   /* the operation's own name in refusals: "INSERT", "glue:UpdateTable" */
    const char *iam;                   /* the IAM action to ask for; NULL: what the verb means */
} SvcCall;

typedef struct SvcName { Str catalog, namespace, name; } SvcName;

/* ---- namespaces -------------------------------------------------------------------------------------------------- */

NODISCARD Status svc_namespace_create(const SvcCall *c, Str catalog, Str name, const Props *props, CatNamespace *ret, Error *err);
NODISCARD Status svc_namespace_get(const SvcCall *c, Str catalog, Str name, CatNamespace *ret, Error *err);
NODISCARD Status svc_namespace_list(const SvcCall *c, Str catalog, Str parent, CatPage page, CatNamespaces *ret, Error *err);
NODISCARD Status svc_namespace_drop(const SvcCall *c, Str catalog, Str name, Error *err);
typedef struct SvcPropsChange { Props set; StrVec remove; StrVec removed, missing; } SvcPropsChange;      /* the last two are filled */
NODISCARD Status svc_namespace_alter(const SvcCall *c, Str catalog, Str name, SvcPropsChange *ch, Error *err);

/* ---- tables (materialized views too) -------------------------------------------------------------------------------- */

typedef struct SvcTable { CatRelation relation; IceMetadata *metadata; } SvcTable;

typedef struct SvcNewTable {
    SvcName name;
    IceSchema *schema;
    IceSpec *spec;                     /* NULL: unpartitioned */
    IceSortOrder *order;               /* NULL: unsorted */
    Str location;                      /* empty: the catalog chooses */
    Props properties;
    int stage;                         /* only compute: nothing is written, metadata_location stays empty */
} SvcNewTable;
/* E_EXISTS, E_NOT_FOUND (namespace), E_INVALID (also: a location inside of another relation's storage). */
NODISCARD Status svc_table_create(const SvcCall *c, const SvcNewTable *t, SvcTable *ret, Error *err);
/* To read it: E_QUARANTINED for a managed view whose evidence does not match; E_DENIED for who may select some columns only (lf_columns). */
NODISCARD Status svc_table_load(const SvcCall *c, const SvcName *name, SvcTable *ret, Error *err);
NODISCARD Status svc_table_exists(const SvcCall *c, const SvcName *name, Error *err);
NODISCARD Status svc_table_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err);

typedef struct SvcCommit {
    SvcName name;
    IceRequirements requirements;
    IceUpdates updates;
    Action as;                         /* ACT_WRITE_DATA, ACT_ALTER, or ACT_ALTER_PROPERTIES (updates of properties alone) */
} SvcCommit;
/* Updates are applied again on a newer base when someone else was faster and the requirements still hold. With RQ_CREATE it creates.
 * E_CONFLICT: a requirement does not hold, or too many others were faster; nothing was changed. */
NODISCARD Status svc_table_commit(const SvcCall *c, const SvcCommit *commit, SvcTable *ret, Error *err);
/* All or nothing over several tables, each named once. */
NODISCARD Status svc_table_commit_all(const SvcCall *c, const SvcCommit *commits, size_t n, Error *err);

typedef enum { SVC_KEEP_FILES, SVC_PURGE_FILES } SvcFiles;
/* Purging deletes what the metadata reaches below the table's own storage. A table in a table bucket always loses its storage. */
NODISCARD Status svc_table_drop(const SvcCall *c, const SvcName *name, SvcFiles files, Error *err);
NODISCARD Status svc_table_rename(const SvcCall *c, const SvcName *from, const SvcName *to, Error *err);
typedef enum { SVC_REGISTER_NEW, SVC_REGISTER_OVER } SvcRegister;
NODISCARD Status svc_table_register(const SvcCall *c, const SvcName *name, Str metadata_location, SvcRegister how, SvcTable *ret, Error *err);
/* Forgets the name, keeps every file. */
/* Where the account's tables go: "s3://<bucket>" or the configured URI. */
NODISCARD Status svc_warehouse_base(const SvcCall *c, Str *ret, Error *err);
NODISCARD Status svc_table_unregister(const SvcCall *c, const SvcName *name, SvcTable *ret, Error *err);
/* Storage that reading (and writing) the table needs: its location, and data and metadata paths where properties name others. */
void svc_table_prefixes(const SvcCall *c, const SvcTable *t, StrVec *ret);

/* ---- for the Glue catalog and S3 Tables -------------------------------------------------------------------------------- */

/* Catalog changes that belong to the same transaction. */
typedef struct SvcAlso { CatChange *p; size_t n; } SvcAlso;
/* Any relation, whatever it is; nothing is read but the catalog. */
NODISCARD Status svc_relation_get(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err);
NODISCARD Status svc_relation_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err);
/* Replaces what upper rooms keep with it. E_CONFLICT when it is not of r's version any more. also may be NULL. */
NODISCARD Status svc_relation_extra(const SvcCall *c, const CatRelation *r, const Json *extra, const SvcAlso *also, Error *err);
/* Tables that are not Iceberg: the definition is `extra`. */
NODISCARD Status svc_external_create(const SvcCall *c, const SvcName *name, const Json *extra, const SvcAlso *also, CatRelation *ret, Error *err);
NODISCARD Status svc_external_drop(const SvcCall *c, const SvcName *name, Error *err);
/* A name and a place; metadata comes with the first svc_table_point. */
NODISCARD Status svc_table_reserve(const SvcCall *c, const SvcName *name, Str location, const Json *extra, CatRelation *ret, Error *err);
/* The client wrote the metadata file: the pointer moves to it, from what the client saw. Empty and unset members are not compared. E_CONFLICT. */
typedef enum { SVC_POINT_CATALOG, SVC_POINT_PAST_CATALOG } SvcPointHow;       /* PAST: a materialized view's integrity token stays behind */
typedef struct SvcPoint { SvcName name; Str expected, token; OptI64 version; Str next; const Json *extra; SvcPointHow how; SvcAlso also; } SvcPoint;
NODISCARD Status svc_table_point(const SvcCall *c, const SvcPoint *p, SvcTable *ret, Error *err);

/* ---- views -------------------------------------------------------------------------------------------------------------- */

typedef struct SvcView { CatRelation relation; IceView *view; } SvcView;
typedef struct SvcNewView { SvcName name; Str location; IceSchema *schema; IceViewVersion *version; Props properties; } SvcNewView;
NODISCARD Status svc_view_create(const SvcCall *c, const SvcNewView *v, SvcView *ret, Error *err);
NODISCARD Status svc_view_load(const SvcCall *c, const SvcName *name, SvcView *ret, Error *err);
NODISCARD Status svc_view_exists(const SvcCall *c, const SvcName *name, Error *err);
NODISCARD Status svc_view_list(const SvcCall *c, Str catalog, Str ns, CatPage page, CatRelations *ret, Error *err);
NODISCARD Status svc_view_commit(const SvcCall *c, const SvcName *name, const Json *requirements, const Json *updates, SvcView *ret, Error *err);
NODISCARD Status svc_view_drop(const SvcCall *c, const SvcName *name, Error *err);
NODISCARD Status svc_view_rename(const SvcCall *c, const SvcName *from, const SvcName *to, Error *err);
NODISCARD Status svc_view_register(const SvcCall *c, const SvcName *name, Str metadata_location, SvcView *ret, Error *err);

#endif
