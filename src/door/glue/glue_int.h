/* SPDX-License-Identifier: Apache-2.0 */
/* glue_int.h - what the files of the Glue door share: the door, names, errors, tables as Glue shows them. */
#ifndef FIRN_GLUE_INT_H
#define FIRN_GLUE_INT_H

#include "door/glue/gluedoor.h"

enum {
    PAGE_TABLES = 100, PAGE_PARTITIONS = 1000, PAGE_RUNS = 1000,
    PARTITIONS_BATCH = 100,
};

struct GlueRuns;
typedef struct GlueDoor {
    Service *svc;
    Jobs *jobs;
    SvcCtx ctx;
    struct GlueRuns *runs;
    pthread_mutex_t docs;             /* held from looking whether a document is there until it is written */
} GlueDoor;

/* What an operation is about. db and table are as they stand in the catalog when they exist, folded to lower case when they do not. */
typedef struct GlueName { CatWarehouse w; Str db, table; } GlueName;

#define GLUE_DOOR(c) ((GlueDoor *)(c)->door)
SvcCall glue_call(AwsCall *c);
Catalog *glue_catalog(AwsCall *c);
bool glue_is_bucket(const GlueName *n);                /* of S3 Tables */

/* ---- glue_names.c --------------------------------------------------------------------------------------------------- */

/* EntityNotFoundException for a catalog that is not there; AccessDeniedException for another account's. */
NODISCARD Status glue_warehouse(AwsCall *c, Str catalog_id, CatWarehouse *ret, Error *err);
/* CatalogId of the input, and these names; asks IAM for the operation on catalog, database and table. The names need not exist. */
NODISCARD Status glue_name(AwsCall *c, Str db, Str table, GlueName *ret, Error *err);
/* The same, and the database exists: "Database x not found." */
NODISCARD Status glue_database(AwsCall *c, Str db, GlueName *ret, CatNamespace *ns, Error *err);
/* The same, and the table exists: "Table x not found." */
NODISCARD Status glue_table(AwsCall *c, Str db, Str table, GlueName *ret, CatRelation *rel, Error *err);
NODISCARD Status glue_find_table(AwsCall *c, GlueName *n, CatRelation *rel, Error *err);
Status glue_no_table(Str name, Error *err);
SvcName glue_svc_name(const GlueName *n);
Str glue_fold(AwsCall *c, Str name);
Str glue_arn(AwsCall *c, const CatWarehouse *w, const char *what, Str db, Str name);      /* what: "catalog", "database", "table", "userDefinedFunction" */
NODISCARD Status glue_allow(AwsCall *c, Str resource, Error *err);      /* this operation on this ARN */
Json *glue_error_detail(AwsCall *c, const Error *err);  /* {ErrorCode, ErrorMessage} */
/* Is the VersionId of the input (if any) the relation's? E_CONFLICT, E_INVALID. *ret is empty without one. */
NODISCARD Status glue_version_given(AwsCall *c, const CatRelation *r, OptI64 *ret, Error *err);

/* ---- glue_show.c: relations as Glue's Table ----------------------------------------------------------------------------- */

enum { SHOW_STATUS = 1, SHOW_NAMES = 2, SHOW_TYPES = 4, SHOW_ICEBERG = 8 };
NODISCARD Status glue_show(AwsCall *c, const CatRelation *r, int flags, Json **ret, Error *err);
Str glue_version_id(AwsCall *c, const CatRelation *r);
Json *glue_columns(Arena *a, const IceMetadata *m, int all_schemas);
void glue_show_view(AwsCall *c, const CatRelation *r, const CatMview *v, int flags, Json *table);      /* glue_view.c */
Str glue_source_arn(AwsCall *c, const Json *source);

/* ---- glue_input.c: TableInput to what is kept ------------------------------------------------------------------------------- */

bool glue_is_iceberg(const Json *input);               /* Parameters.table_type */
Json *glue_keep(Arena *a, const Json *input, const Json *old_extra);      /* the new CatRelation.extra */
Json *glue_patch(Arena *a, const Json *input, const Json *old_extra);     /* the same, members that the input lacks stay */
Str glue_parameter(const Json *input, const char *key);
NODISCARD Status glue_iceberg_create(AwsCall *c, const GlueName *n, const Json *input, Error *err);       /* OpenTableFormatInput */
NODISCARD Status glue_iceberg_update(AwsCall *c, const GlueName *n, const CatRelation *r, Error *err);    /* UpdateOpenTableFormatInput */
Json *glue_iceberg_metadata(AwsCall *c, const IceMetadata *m);

/* ---- glue_version.c ------------------------------------------------------------------------------------------------------------ */

/* The change that keeps r's present state as an old version; .kind CH_DOC. */
NODISCARD Status glue_archive(AwsCall *c, const CatRelation *r, CatChange *ret, Error *err);

/* ---- glue_table.c, glue_update.c ----------------------------------------------------------------------------------------------- */

NODISCARD Status glue_drop(AwsCall *c, const CatRelation *r, Error *err);
/* The pointer moves to the input's metadata_location. */
NODISCARD Status glue_point(AwsCall *c, const GlueName *n, const CatRelation *r, const Json *input, const Json *extra, Error *err);

/* ---- glue_view.c: UpdateTable's rules for materialized views ------------------------------------------------------------------ */

NODISCARD Status glue_view_update(AwsCall *c, const GlueName *n, const CatRelation *r, const Json *input, Error *err);

/* ---- glue_partition.c ------------------------------------------------------------------------------------------------------------ */

Str glue_values_key(Arena *a, int64_t relation_id, const Json *values);
NODISCARD Status glue_partitioned(AwsCall *c, GlueName *n, CatRelation *r, Error *err);          /* DatabaseName and TableName of the input */
NODISCARD Status glue_partition_writer(AwsCall *c, GlueName *n, CatRelation *r, Error *err);     /* the same, and its partitions may be changed */
const Json *glue_partition_keys(const CatRelation *r);
Json *glue_show_partition(AwsCall *c, const CatRelation *r, const Json *doc);
typedef void (*PartitionFailed)(void *ctx, const Json *values, const Error *why);
NODISCARD Status glue_partitions_create(AwsCall *c, const CatRelation *r, const Json *inputs, PartitionFailed failed, void *ctx, Error *err);
NODISCARD Status glue_partition_update(AwsCall *c, const CatRelation *r, const Json *old_values, const Json *input, Error *err);
NODISCARD Status glue_partition_delete(AwsCall *c, const CatRelation *r, const Json *values, Error *err);
/* A partition expression over columns (glue_expression.c). values: of one partition. E_INVALID in AWS's words. */
typedef struct GlueExpr GlueExpr;
NODISCARD Status glue_expr_parse(Arena *a, Str text, const Json *partition_keys, GlueExpr **ret, Error *err);
NODISCARD Status glue_expr_holds(const GlueExpr *e, const Json *values, bool *ret, Error *err);

/* ---- glue_regex.c: patterns of names ------------------------------------------------------------------------------------------------ */

typedef struct GluePattern GluePattern;
NODISCARD Status glue_pattern(Arena *a, Str text, GluePattern **ret, Error *err);
bool glue_matches(Arena *a, const GluePattern *p, Str name);

/* ---- glue_tag.c ------------------------------------------------------------------------------------------------------------------------ */

NODISCARD Status glue_tag_put(AwsCall *c, Str arn, const Json *tags, Error *err);       /* adds; NULL tags: nothing */
NODISCARD Status glue_tag_drop(AwsCall *c, Str arn, Error *err);
Json *glue_tags(AwsCall *c, Str arn);                  /* an object, never NULL */
#define GLUE_POLICY_KIND "glue.policy"                 /* documents: key "catalog", or an ARN */
Str glue_policy_text(AwsCall *c, Str key);             /* empty: none */

/* ---- glue_refresh.c ---------------------------------------------------------------------------------------------------------------------- */

struct GlueRuns *glue_runs_new(Service *svc);
void glue_runs_free(struct GlueRuns *r);               /* stops and waits */

/* ---- operations ---------------------------------------------------------------------------------------------------------------------------- */

#define GLUE_OPS(X) \
    X(create_catalog) X(get_catalog) X(get_catalogs) X(update_catalog) X(delete_catalog) \
    X(create_database) X(get_database) X(get_databases) X(update_database) X(delete_database) \
    X(create_table) X(get_table) X(get_tables) X(update_table) X(delete_table) X(batch_delete_table) X(search_tables) \
    X(get_table_version) X(get_table_versions) X(delete_table_version) X(batch_delete_table_version) \
    X(start_refresh) X(stop_refresh) X(get_refresh) X(list_refreshes) \
    X(create_partition) X(get_partition) X(get_partitions) X(update_partition) X(delete_partition) \
    X(batch_create_partition) X(batch_get_partition) X(batch_update_partition) X(batch_delete_partition) \
    X(create_partition_index) X(get_partition_indexes) X(delete_partition_index) \
    X(create_function) X(get_function) X(get_functions) X(update_function) X(delete_function) \
    X(tag_resource) X(untag_resource) X(get_tags) \
    X(get_statistics) X(update_statistics) X(delete_statistics) \
    X(put_policy) X(get_policy) X(get_policies) X(delete_policy) \
    X(create_connection) X(get_connection) X(get_connections) X(update_connection) X(delete_connection) X(batch_delete_connection)
#define GLUE_DECLARE(op) NODISCARD Status glue_##op(AwsCall *c, Error *err);
GLUE_OPS(GLUE_DECLARE)


#endif
