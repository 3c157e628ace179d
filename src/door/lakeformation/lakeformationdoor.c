/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformationdoor.c - Lake Formation's operations as a table.
 *
 * Facts of the public API model (service version 2017-03-31).  Row and cell filters, governed tables and their transactions, identity center and
 * opt-ins have no handler: what could not be enforced is refused, never kept as if it were. */
#include "door/lakeformation/lakeformation_door_int.h"

#define OP(op_name, fn, text) { .name = op_name, .handler = fn, .fields = text, .method = "POST", .path = "/" op_name }
#define GRANT "CatalogId s1-255, Principal! {Principal}, Resource! {Resource}, Permissions! [s1-255], PermissionsWithGrantOption [s1-255], Condition {Condition}"
#define PAGE ", MaxResults i1-1000, NextToken s1-8192"
#define CREDENTIALS "TableArn! s1-2048, Permissions [s1-255], DurationSeconds i900-43200, SupportedPermissionTypes [s1-255]1-255, AuditContext *, S3Path s1-2048, QuerySessionContext *"

static const AwsOp ops[] = {
    OP("GrantPermissions", door_grant, GRANT),
    OP("RevokePermissions", door_revoke, GRANT),
    OP("BatchGrantPermissions", door_batch_grant, "CatalogId s1-255, Entries! [{Entry}]"),
    OP("BatchRevokePermissions", door_batch_revoke, "CatalogId s1-255, Entries! [{Entry}]"),
    OP("ListPermissions", door_list_permissions, "CatalogId s1-255, Principal {Principal}, ResourceType e(CATALOG|DATABASE|TABLE|DATA_LOCATION|LF_TAG|LF_TAG_POLICY|LF_TAG_POLICY_DATABASE|LF_TAG_POLICY_TABLE|LF_NAMED_TAG_EXPRESSION), Resource {Resource}, IncludeRelated s1-5" PAGE),
    OP("GetEffectivePermissionsForPath", door_effective_permissions, "CatalogId s1-255, ResourceArn! s1-2048" PAGE),
    OP("GetDataLakeSettings", door_get_settings, "CatalogId s1-255"),
    OP("PutDataLakeSettings", door_put_settings, "CatalogId s1-255, DataLakeSettings! {Settings}"),
    OP("GetDataLakePrincipal", door_principal_of, ""),
    OP("RegisterResource", door_register, "ResourceArn! s1-2048, UseServiceLinkedRole b, RoleArn s1-2048, WithFederation b, HybridAccessEnabled b, WithPrivilegedAccess b, ExpectedResourceOwnerAccount s12-12"),
    OP("UpdateResource", door_update_location, "ResourceArn! s1-2048, RoleArn! s1-2048, WithFederation b, HybridAccessEnabled b, ExpectedResourceOwnerAccount s12-12"),
    OP("DeregisterResource", door_deregister, "ResourceArn! s1-2048"),
    OP("DescribeResource", door_describe_location, "ResourceArn! s1-2048"),
    OP("ListResources", door_list_locations, "FilterConditionList [{Filter}]1-20" PAGE),
    { .name = "GetTemporaryGlueTableCredentials", .handler = door_table_credentials, .fields = CREDENTIALS, .method = "POST", .path = "/GetTemporaryGlueTableCredentials",
      .note = "never for some columns of a table; of a managed view for reading only" },
    OP("GetTemporaryGluePartitionCredentials", door_table_credentials, CREDENTIALS ", Partition! {Partition}"),
    OP("GetTemporaryDataLocationCredentials", door_location_credentials, "DataLocations [s1-2048]1-255, DurationSeconds i900-43200, CredentialsScope e(READ|READWRITE), AuditContext *"),
    OP("CreateLFTag", door_create_tag, "CatalogId s1-255, TagKey! s1-128, TagValues! [s0-256]1-50"),
    OP("UpdateLFTag", door_update_tag, "CatalogId s1-255, TagKey! s1-128, TagValuesToDelete [s0-256]1-50, TagValuesToAdd [s0-256]1-50"),
    OP("GetLFTag", door_get_tag, "CatalogId s1-255, TagKey! s1-128"),
    OP("DeleteLFTag", door_delete_tag, "CatalogId s1-255, TagKey! s1-128"),
    OP("ListLFTags", door_list_tags, "CatalogId s1-255, ResourceShareType e(FOREIGN|ALL)" PAGE),
    OP("AddLFTagsToResource", door_add_tags, "CatalogId s1-255, Resource! {Resource}, LFTags! [{LFTag}]1-50"),
    OP("RemoveLFTagsFromResource", door_remove_tags, "CatalogId s1-255, Resource! {Resource}, LFTags! [{LFTag}]1-50"),
    OP("GetResourceLFTags", door_resource_tags, "CatalogId s1-255, Resource! {Resource}, ShowAssignedLFTags b"),
    OP("SearchDatabasesByLFTags", door_search_databases, "CatalogId s1-255, Expression! [{LFTag}]1-50" PAGE),
    OP("SearchTablesByLFTags", door_search_tables, "CatalogId s1-255, Expression! [{LFTag}]1-50" PAGE),
    { .name = "CreateDataCellsFilter", .handler = door_create_filter, .fields = "TableData! {CellsFilter}", .method = "POST", .path = "/CreateDataCellsFilter", .note = "refused: rows are not filtered; grant columns instead" },
    OP("ListDataCellsFilter", door_list_filters, "Table *" PAGE),
    OP("GetDataCellsFilter", door_no_filter, "TableCatalogId! s1-255, DatabaseName! s1-255, TableName! s1-255, Name! s1-255"),
    OP("DeleteDataCellsFilter", door_no_filter, "TableCatalogId s1-255, DatabaseName s1-255, TableName s1-255, Name s1-255"),
    OP("UpdateDataCellsFilter", NULL, ""), OP("CreateLFTagExpression", NULL, ""), OP("DeleteLFTagExpression", NULL, ""), OP("GetLFTagExpression", NULL, ""),
    OP("ListLFTagExpressions", NULL, ""), OP("UpdateLFTagExpression", NULL, ""), OP("AssumeDecoratedRoleWithSAML", NULL, ""), OP("CancelTransaction", NULL, ""),
    OP("CommitTransaction", NULL, ""), OP("StartTransaction", NULL, ""), OP("DescribeTransaction", NULL, ""), OP("ExtendTransaction", NULL, ""), OP("ListTransactions", NULL, ""),
    OP("DeleteObjectsOnCancel", NULL, ""), OP("GetTableObjects", NULL, ""), OP("UpdateTableObjects", NULL, ""), OP("GetQueryState", NULL, ""), OP("GetQueryStatistics", NULL, ""),
    OP("GetWorkUnits", NULL, ""), OP("GetWorkUnitResults", NULL, ""), OP("StartQueryPlanning", NULL, ""), OP("ListTableStorageOptimizers", NULL, ""), OP("UpdateTableStorageOptimizer", NULL, ""),
    OP("CreateLakeFormationIdentityCenterConfiguration", NULL, ""), OP("DeleteLakeFormationIdentityCenterConfiguration", NULL, ""),
    OP("DescribeLakeFormationIdentityCenterConfiguration", NULL, ""), OP("UpdateLakeFormationIdentityCenterConfiguration", NULL, ""),
    OP("CreateLakeFormationOptIn", NULL, ""), OP("DeleteLakeFormationOptIn", NULL, ""), OP("ListLakeFormationOptIns", NULL, ""),
};

static const AwsShape shapes[] = {
    { "Principal", "DataLakePrincipalIdentifier! s1-255" },
    { "Condition", "Expression s0-3000" },
    { "Resource", "Catalog {CatalogRes}, Database {DatabaseRes}, Table {TableRes}, TableWithColumns {ColumnsRes}, DataLocation {LocationRes}, DataCellsFilter *, LFTag {LFTag}, LFTagPolicy {PolicyRes}, LFTagExpression *, AnyResource *, RLSPolicy *, UserDefinedFunction *" },
    { "CatalogRes", "Id s1-255" },
    { "DatabaseRes", "CatalogId s1-255, Name! s1-255" },
    { "TableRes", "CatalogId s1-255, DatabaseName! s1-255, Name s1-255, TableWildcard *" },
    { "ColumnsRes", "CatalogId s1-255, DatabaseName! s1-255, Name! s1-255, ColumnNames [s1-255], ColumnWildcard {ColumnWildcard}" },
    { "ColumnWildcard", "ExcludedColumnNames [s1-255]" },
    { "LocationRes", "CatalogId s1-255, ResourceArn! s1-2048" },
    { "LFTag", "CatalogId s1-255, TagKey! s1-128, TagValues! [s0-256]1-50" },
    { "PolicyRes", "CatalogId s1-255, ResourceType! e(DATABASE|TABLE), Expression [{LFTag}]1-50, ExpressionName s1-255" },
    { "Entry", "Id! s1-255, Principal {Principal}, Resource {Resource}, Permissions [s1-255], PermissionsWithGrantOption [s1-255], Condition {Condition}" },
    { "Default", "Principal {Principal}, Permissions [s1-255]" },
    { "Settings", "DataLakeAdmins [{Principal}]0-30, ReadOnlyAdmins [{Principal}]0-30, CreateDatabaseDefaultPermissions [{Default}], CreateTableDefaultPermissions [{Default}], Parameters <s0-512000>, TrustedResourceOwners [s1-255], AllowExternalDataFiltering b, AllowFullTableExternalDataAccess b, ExternalDataFilteringAllowList [{Principal}]0-30, AuthorizedSessionTagValueList [s1-255]" },
    { "Filter", "Field e(RESOURCE_ARN|ROLE_ARN|LAST_MODIFIED), ComparisonOperator e(EQ|NE|LE|LT|GE|GT|CONTAINS|NOT_CONTAINS|BEGINS_WITH|IN|BETWEEN), StringValueList [s1-2048]" },
    { "Partition", "Values! [s0-1024]1-100" },
    { "CellsFilter", "TableCatalogId! s1-255, DatabaseName! s1-255, TableName! s1-255, Name! s1-255, RowFilter *, ColumnNames [s1-255], ColumnWildcard *, VersionId s1-255" },
};

static const AwsCode codes[] = {
    { "AccessDeniedException", 403 }, { "AlreadyExistsException", 400 }, { "ConcurrentModificationException", 400 }, { "EntityNotFoundException", 400 },
    { "GlueEncryptionException", 400 }, { "InternalServiceException", 500 }, { "InvalidInputException", 400 }, { "OperationTimeoutException", 400 },
    { "PermissionTypeMismatchException", 400 }, { "ResourceNumberLimitExceededException", 400 }, { "ConflictException", 409 },
};

const AwsService lakeformation_service = {
    .scope = "lakeformation", .title = "AWS Lake Formation", .protocol = AWS_REST_JSON, .message_key = "Message",
    .ops = ops, .nops = COUNT_OF(ops), .shapes = shapes, .nshapes = COUNT_OF(shapes), .codes = codes, .ncodes = COUNT_OF(codes),
    .code_of = { [E_INVALID] = "InvalidInputException", [E_NOT_FOUND] = "EntityNotFoundException", [E_EXISTS] = "AlreadyExistsException", [E_DENIED] = "AccessDeniedException",
                 [E_PROTECTED] = "AccessDeniedException", [E_QUARANTINED] = "AccessDeniedException", [E_LIMIT] = "ResourceNumberLimitExceededException", [E_UNSUPPORTED] = "InvalidInputException",
                 [E_CONFLICT] = "ConcurrentModificationException", [E_INTERNAL] = "InternalServiceException", [E_IO] = "InternalServiceException", [E_CORRUPT] = "InternalServiceException" },
    .validation = "InvalidInputException",
};

Status lakeformation_open(Service *svc, AwsMount *ret, Error *err UNUSED)
{
    *ret = (AwsMount){ .service = &lakeformation_service, .ctx = svc };
    return OK;
}
