/* SPDX-License-Identifier: Apache-2.0 */
/* s3tablesdoor.c - the operations of S3 Tables, as a table. */
#include "door/s3tables/s3t_int.h"

#include <stdlib.h>

#define B "tableBucketARN! s1-2048"
#define T B ", namespace! s1-255, name! s1-255"
#define BY_ARN "tableArn! s1-2048"
#define BUCKET "/buckets/{tableBucketARN}"
#define TABLE "/tables/{tableBucketARN}/{namespace}/{name}"

static const AwsOp ops[] = {
    { .name = "CreateTableBucket", .handler = s3t_create_bucket, .method = "PUT", .path = "/buckets",
      .fields = "name! s1-2048, encryptionConfiguration {Encryption}, storageClassConfiguration {StorageClass}, tags <s0-256>0-50" },
    { .name = "ListTableBuckets", .handler = s3t_list_buckets, .method = "GET", .path = "/buckets",
      .fields = "prefix s0-63, continuationToken s1-4096, maxBuckets i1-1000, type e(customer|aws)" },
    { .name = "GetTableBucket", .handler = s3t_get_bucket, .method = "GET", .path = BUCKET, .fields = B },
    { .name = "DeleteTableBucket", .handler = s3t_delete_bucket, .method = "DELETE", .path = BUCKET, .fields = B, .status = 204 },

    { .name = "CreateNamespace", .handler = s3t_create_namespace, .method = "PUT", .path = "/namespaces/{tableBucketARN}", .fields = B ", namespace! [s1-255]1-1" },
    { .name = "ListNamespaces", .handler = s3t_list_namespaces, .method = "GET", .path = "/namespaces/{tableBucketARN}",
      .fields = B ", prefix s0-255, continuationToken s1-4096, maxNamespaces i1-1000" },
    { .name = "GetNamespace", .handler = s3t_get_namespace, .method = "GET", .path = "/namespaces/{tableBucketARN}/{namespace}", .fields = B ", namespace! s1-255" },
    { .name = "DeleteNamespace", .handler = s3t_delete_namespace, .method = "DELETE", .path = "/namespaces/{tableBucketARN}/{namespace}", .fields = B ", namespace! s1-255", .status = 204 },

    { .name = "CreateTable", .handler = s3t_create_table, .method = "PUT", .path = "/tables/{tableBucketARN}/{namespace}",
      .fields = T ", format! e(ICEBERG), metadata {TableMetadata}, encryptionConfiguration {Encryption}, storageClassConfiguration {StorageClass}, tags <s0-256>0-50" },
    { .name = "GetTable", .handler = s3t_get_table, .method = "GET", .path = "/get-table", .fields = "tableBucketARN s1-2048, namespace s1-255, name s1-255, tableArn s1-2048" },
    { .name = "ListTables", .handler = s3t_list_tables, .method = "GET", .path = "/tables/{tableBucketARN}",
      .fields = B ", namespace s1-255, prefix s0-255, continuationToken s1-4096, maxTables i1-1000" },
    { .name = "DeleteTable", .handler = s3t_delete_table, .method = "DELETE", .path = TABLE, .fields = T ", versionToken s1-2048", .status = 204 },
    { .name = "RenameTable", .handler = s3t_rename_table, .method = "PUT", .path = TABLE "/rename", .fields = T ", newNamespaceName s1-255, newName s1-255, versionToken s1-2048", .status = 204 },
    { .name = "GetTableMetadataLocation", .handler = s3t_get_pointer, .method = "GET", .path = TABLE "/metadata-location", .fields = T },
    { .name = "UpdateTableMetadataLocation", .handler = s3t_put_pointer, .method = "PUT", .path = TABLE "/metadata-location", .fields = T ", versionToken! s1-2048, metadataLocation! s1-2048",
      .note = "refused for managed views; marks a regular view as BROKEN until its next full refresh" },

    { .name = "GetTableBucketPolicy", .handler = s3t_get_bucket_policy, .method = "GET", .path = BUCKET "/policy", .fields = B },
    { .name = "PutTableBucketPolicy", .handler = s3t_put_bucket_policy, .method = "PUT", .path = BUCKET "/policy", .fields = B ", resourcePolicy! s1-20480" },
    { .name = "DeleteTableBucketPolicy", .handler = s3t_delete_bucket_policy, .method = "DELETE", .path = BUCKET "/policy", .fields = B, .status = 204 },
    { .name = "GetTablePolicy", .handler = s3t_get_table_policy, .method = "GET", .path = TABLE "/policy", .fields = T, .note = "shows the system's deny policy of a managed view" },
    { .name = "PutTablePolicy", .handler = s3t_put_table_policy, .method = "PUT", .path = TABLE "/policy", .fields = T ", resourcePolicy! s1-20480" },
    { .name = "DeleteTablePolicy", .handler = s3t_delete_table_policy, .method = "DELETE", .path = TABLE "/policy", .fields = T, .status = 204 },

    { .name = "GetTableBucketEncryption", .handler = s3t_get_bucket_encryption, .method = "GET", .path = BUCKET "/encryption", .fields = B },
    { .name = "PutTableBucketEncryption", .handler = s3t_put_bucket_encryption, .method = "PUT", .path = BUCKET "/encryption", .fields = B ", encryptionConfiguration! {Encryption}",
      .note = "AES256 only: there are no KMS keys" },
    { .name = "DeleteTableBucketEncryption", .handler = s3t_delete_bucket_encryption, .method = "DELETE", .path = BUCKET "/encryption", .fields = B, .status = 204 },
    { .name = "GetTableEncryption", .handler = s3t_get_table_encryption, .method = "GET", .path = TABLE "/encryption", .fields = T },
    { .name = "GetTableBucketStorageClass", .handler = s3t_get_bucket_storage, .method = "GET", .path = BUCKET "/storage-class", .fields = B },
    { .name = "PutTableBucketStorageClass", .handler = s3t_put_bucket_storage, .method = "PUT", .path = BUCKET "/storage-class", .fields = B ", storageClassConfiguration! {StorageClass}",
      .note = "stored and returned" },
    { .name = "GetTableStorageClass", .handler = s3t_get_table_storage, .method = "GET", .path = TABLE "/storage-class", .fields = T },
    { .name = "GetTableBucketMetricsConfiguration", .handler = s3t_get_metrics, .method = "GET", .path = BUCKET "/metrics", .fields = B },
    { .name = "PutTableBucketMetricsConfiguration", .handler = s3t_put_metrics, .method = "PUT", .path = BUCKET "/metrics", .fields = B, .status = 204, .note = "stored and returned" },
    { .name = "DeleteTableBucketMetricsConfiguration", .handler = s3t_delete_metrics, .method = "DELETE", .path = BUCKET "/metrics", .fields = B, .status = 204 },

    { .name = "GetTableBucketMaintenanceConfiguration", .handler = s3t_get_bucket_upkeep, .method = "GET", .path = BUCKET "/maintenance", .fields = B },
    { .name = "PutTableBucketMaintenanceConfiguration", .handler = s3t_put_bucket_upkeep, .method = "PUT", .path = BUCKET "/maintenance/{type}", .status = 204,
      .fields = B ", type! e(icebergUnreferencedFileRemoval), value! {Maintenance}" },
    { .name = "GetTableMaintenanceConfiguration", .handler = s3t_get_table_upkeep, .method = "GET", .path = TABLE "/maintenance", .fields = T },
    { .name = "PutTableMaintenanceConfiguration", .handler = s3t_put_table_upkeep, .method = "PUT", .path = TABLE "/maintenance/{type}", .status = 204,
      .fields = T ", type! e(icebergCompaction|icebergSnapshotManagement), value! {Maintenance}", .note = "z-order is refused" },
    { .name = "GetTableMaintenanceJobStatus", .handler = s3t_get_upkeep_status, .method = "GET", .path = TABLE "/maintenance-job-status", .fields = T },

    { .name = "GetTableBucketReplication", .handler = s3t_no_bucket_replication, .method = "GET", .path = "/table-bucket-replication", .fields = B },
    { .name = "PutTableBucketReplication", .handler = s3t_refuse_bucket_replication, .method = "PUT", .path = "/table-bucket-replication", .fields = B ", configuration! *, versionToken s1-2048",
      .note = "refused: there is no other place to replicate to" },
    { .name = "DeleteTableBucketReplication", .handler = s3t_no_bucket_replication, .method = "DELETE", .path = "/table-bucket-replication", .fields = B ", versionToken s1-2048", .status = 204 },
    { .name = "GetTableReplication", .handler = s3t_no_table_replication, .method = "GET", .path = "/table-replication", .fields = BY_ARN },
    { .name = "PutTableReplication", .handler = s3t_refuse_table_replication, .method = "PUT", .path = "/table-replication", .fields = BY_ARN ", configuration! *, versionToken s1-2048",
      .note = "refused: there is no other place to replicate to" },
    { .name = "DeleteTableReplication", .handler = s3t_no_table_replication, .method = "DELETE", .path = "/table-replication", .fields = BY_ARN ", versionToken s1-2048", .status = 204 },
    { .name = "GetTableReplicationStatus", .handler = s3t_no_table_replication, .method = "GET", .path = "/replication-status", .fields = BY_ARN },

    { .name = "GetTableRecordExpirationConfiguration", .handler = s3t_get_expiration, .method = "GET", .path = "/table-record-expiration", .fields = BY_ARN },
    { .name = "PutTableRecordExpirationConfiguration", .handler = s3t_put_expiration, .method = "PUT", .path = "/table-record-expiration", .fields = BY_ARN ", value! {Expiration}", .status = 204,
      .note = "stored and returned; its job reports that such tables have no record times" },
    { .name = "GetTableRecordExpirationJobStatus", .handler = s3t_get_expiration_status, .method = "GET", .path = "/table-record-expiration-job-status", .fields = BY_ARN },

    { .name = "ListTagsForResource", .handler = s3t_list_tags, .method = "GET", .path = "/tag/{resourceArn}", .fields = "resourceArn! s1-1011" },
    { .name = "TagResource", .handler = s3t_tag, .method = "POST", .path = "/tag/{resourceArn}", .fields = "resourceArn! s1-1011, tags! <s0-256>0-200" },
    { .name = "UntagResource", .handler = s3t_untag, .method = "DELETE", .path = "/tag/{resourceArn}", .fields = "resourceArn! s1-1011, tagKeys! [s1-128]0-200", .status = 204 },
};

static const AwsShape shapes[] = {
    { "Encryption", "sseAlgorithm! e(AES256|aws:kms), kmsKeyArn s1-2048" },
    { "StorageClass", "storageClass! e(STANDARD|INTELLIGENT_TIERING)" },
    { "TableMetadata", "iceberg {Iceberg}" },
    { "Iceberg", "schema {Schema}, schemaV2 {SchemaV2}, partitionSpec {PartitionSpec}, writeOrder {WriteOrder}, properties <s0-8192>0-200" },
    { "Schema", "fields! [{SchemaField}]0-1000" },
    { "SchemaField", "name! s1-255, type! s1-255, id i1-2147483646, required b" },
    { "SchemaV2", "type! e(struct), fields! [{SchemaV2Field}]0-1000, schema-id i0-2147483646, identifier-field-ids [i1-2147483646]0-1000" },
    { "SchemaV2Field", "id! i1-2147483646, name! s1-255, type! *, required! b, doc s0-8192" },
    { "PartitionSpec", "fields! [{PartitionField}]0-100, spec-id i0-2147483646" },
    { "PartitionField", "source-id! i1-2147483646, transform! s1-64, name! s1-255, field-id i1-2147483646" },
    { "WriteOrder", "order-id! i0-2147483646, fields! [{SortField}]0-100" },
    { "SortField", "source-id! i1-2147483646, transform! s1-64, direction! e(asc|desc), null-order! e(nulls-first|nulls-last)" },
    { "Maintenance", "status e(enabled|disabled), settings {MaintenanceSettings}" },
    { "MaintenanceSettings", "icebergCompaction {Compaction}, icebergSnapshotManagement {SnapshotManagement}, icebergUnreferencedFileRemoval {UnreferencedFileRemoval}" },
    { "Compaction", "targetFileSizeMB i64-512, strategy e(auto|binpack|sort|z-order)" },
    { "SnapshotManagement", "minSnapshotsToKeep i1-2147483647, maxSnapshotAgeHours i1-2147483647" },
    { "UnreferencedFileRemoval", "unreferencedDays i1-2147483647, nonCurrentDays i1-2147483647" },
    { "Expiration", "status e(enabled|disabled), settings {ExpirationSettings}" },
    { "ExpirationSettings", "days i1-2147483647" },
};

static const AwsCode codes[] = {
    { "AccessDeniedException", 403 }, { "BadRequestException", 400 }, { "ConflictException", 409 }, { "ForbiddenException", 403 }, { "InternalServerErrorException", 500 },
    { "MethodNotAllowedException", 405 }, { "NotFoundException", 404 }, { "TooManyRequestsException", 429 },
};

const AwsService s3tables_service = {
    .scope = "s3tables", .title = "S3 Tables", .protocol = AWS_REST_JSON, .message_key = "message", .iso_times = 1,
    .ops = ops, .nops = COUNT_OF(ops), .shapes = shapes, .nshapes = COUNT_OF(shapes), .codes = codes, .ncodes = COUNT_OF(codes),
    .code_of = { [E_NOT_FOUND] = "NotFoundException", [E_EXISTS] = "ConflictException", [E_CONFLICT] = "ConflictException", [E_NOT_EMPTY] = "ConflictException",
                 [E_INVALID] = "BadRequestException", [E_SYNTAX] = "BadRequestException", [E_LIMIT] = "BadRequestException", [E_UNSUPPORTED] = "BadRequestException",
                 [E_CORRUPT] = "BadRequestException", [E_DENIED] = "AccessDeniedException", [E_PROTECTED] = "AccessDeniedException", [E_QUARANTINED] = "AccessDeniedException",
                 [E_UNAVAILABLE] = "TooManyRequestsException", [E_INTERNAL] = "InternalServerErrorException", [E_IO] = "InternalServerErrorException", [E_FULL] = "InternalServerErrorException" },
    .validation = "BadRequestException",
};

S3tDoor *s3t_door(const AwsCall *c) { return c->door; }
Catalog *s3t_catalog(const AwsCall *c) { return s3t_door(c)->svc->catalog; }
const char *s3t_action(AwsCall *c) { return str_fmt(c->a, "s3tables:%s", c->op->name).p; }

SvcCall s3t_call(AwsCall *c)
{
    const char *action = s3t_action(c);
    return (SvcCall){ .ctx = &s3t_door(c)->ctx, .a = c->a, .who = &c->who, .api = action, .iam = action };
}

static void s3tables_close(void *ctx)
{
    S3tDoor *d = ctx;
    upkeep_stop(d->upkeep);
    pthread_mutex_destroy(&d->config_lock);
    free(d);
}

Status s3tables_open(Service *svc, AwsMount *ret, Error *err)
{
    S3tDoor *d = calloc(1, sizeof *d);
    if (!d)
        abort();
    *d = (S3tDoor){ .svc = svc, .ctx = service_ctx(svc) };
    pthread_mutex_init(&d->config_lock, NULL);
    Status s = upkeep_start(svc, &d->upkeep, err);
    if (s != OK) {
        s3tables_close(d);
        return s;
    }
    *ret = (AwsMount){ .service = &s3tables_service, .ctx = d, .close = s3tables_close };
    return OK;
}
