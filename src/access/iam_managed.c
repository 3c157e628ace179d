/* SPDX-License-Identifier: Apache-2.0 */
/* iam_managed.c - the policies that AWS manages and people attach, under their names and ARNs.
 *
 * The texts are our own: each says what its name promises, for the services that are here.  They cannot be changed or deleted. */
#include "access/iam_int.h"

#include <stdio.h>

#define POLICY(statements) "{\"Version\":\"2012-10-17\",\"Statement\":[" statements "]}"
#define ALLOW(sid, actions, resource) "{\"Sid\":\"" sid "\",\"Effect\":\"Allow\",\"Action\":[" actions "],\"Resource\":" resource "}"
#define ALL "\"*\""
#define READS(service) "\"" service ":Get*\",\"" service ":List*\",\"" service ":BatchGet*\",\"" service ":Describe*\",\"" service ":Search*\""

typedef struct Managed { const char *path, *name, *description, *text; } Managed;

static const Managed managed[] = {
    { "/", "AdministratorAccess", "Provides full access to AWS services and resources.", POLICY(ALLOW("All", "\"*\"", ALL)) },
    { "/", "PowerUserAccess", "Provides full access to AWS services and resources, but does not allow management of Users and groups.",
      POLICY("{\"Sid\":\"AllButIdentities\",\"Effect\":\"Allow\",\"NotAction\":[\"iam:*\",\"organizations:*\",\"account:*\"],\"Resource\":\"*\"},"
             ALLOW("Identities", "\"iam:CreateServiceLinkedRole\",\"iam:DeleteServiceLinkedRole\",\"iam:ListRoles\"", ALL)) },
    { "/", "ReadOnlyAccess", "Provides read-only access to AWS services and resources.",
      POLICY(ALLOW("Reads", READS("glue") "," READS("s3") "," READS("s3tables") "," READS("athena") "," READS("lakeformation") "," READS("logs") "," READS("iam") ","
                   "\"logs:FilterLogEvents\",\"iam:GenerateCredentialReport\",\"iam:Simulate*\",\"sts:Get*\",\"sts:Decode*\"", ALL)) },
    { "/", "ViewOnlyAccess", "This policy grants permissions to view resources and basic metadata across all AWS services",
      POLICY(ALLOW("Lists", "\"glue:List*\",\"s3:List*\",\"s3tables:List*\",\"athena:List*\",\"lakeformation:List*\",\"logs:Describe*\",\"iam:List*\"", ALL)) },
    { "/job-function/", "SystemAdministrator", "Grants full access permissions necessary for resources required for application and development operations.",
      POLICY(ALLOW("Operations", "\"glue:*\",\"s3:*\",\"s3tables:*\",\"athena:*\",\"logs:*\",\"iam:Get*\",\"iam:List*\"", ALL)) },
    { "/", "IAMFullAccess", "Provides full access to IAM via the AWS Management Console.", POLICY(ALLOW("Iam", "\"iam:*\"", ALL)) },
    { "/", "IAMReadOnlyAccess", "Provides read only access to IAM via the AWS Management Console.",
      POLICY(ALLOW("Iam", "\"iam:Get*\",\"iam:List*\",\"iam:Generate*\",\"iam:Simulate*\"", ALL)) },
    { "/", "IAMUserChangePassword", "Provides the ability for an IAM user to change their own password.",
      POLICY(ALLOW("Own", "\"iam:ChangePassword\"", "[\"arn:aws:iam::*:user/${aws:username}\"]") "," ALLOW("Policy", "\"iam:GetAccountPasswordPolicy\"", ALL)) },
    { "/", "AmazonS3FullAccess", "Provides full access to all buckets via the AWS Management Console.", POLICY(ALLOW("S3", "\"s3:*\"", ALL)) },
    { "/", "AmazonS3ReadOnlyAccess", "Provides read only access to all buckets via the AWS Management Console.",
      POLICY(ALLOW("S3", "\"s3:Get*\",\"s3:List*\",\"s3:Describe*\"", ALL)) },
    { "/", "AmazonS3TablesFullAccess", "Provides full access to all S3 table buckets.", POLICY(ALLOW("S3Tables", "\"s3tables:*\"", ALL)) },
    { "/", "AmazonS3TablesReadOnlyAccess", "Provides read only access to all S3 table buckets.", POLICY(ALLOW("S3Tables", "\"s3tables:Get*\",\"s3tables:List*\"", ALL)) },
    { "/", "AWSGlueConsoleFullAccess", "Provides full access to AWS Glue via the AWS Management Console",
      POLICY(ALLOW("Glue", "\"glue:*\",\"s3:ListBucket\",\"s3:ListAllMyBuckets\",\"s3:GetBucketAcl\",\"s3:GetBucketLocation\",\"iam:ListRoles\",\"iam:ListUsers\",\"iam:ListGroups\","
                           "\"iam:GetRole\",\"iam:GetRolePolicy\",\"iam:ListRolePolicies\",\"iam:ListAttachedRolePolicies\",\"logs:GetLogEvents\",\"logs:Describe*\"", ALL) ","
             ALLOW("GlueObjects", "\"s3:GetObject\",\"s3:PutObject\"", "[\"arn:aws:s3:::aws-glue-*/*\",\"arn:aws:s3:::*/*aws-glue-*/*\",\"arn:aws:s3:::aws-glue-*\"]") ","
             ALLOW("GlueBuckets", "\"s3:CreateBucket\"", "[\"arn:aws:s3:::aws-glue-*\"]") ","
             "{\"Sid\":\"PassToGlue\",\"Effect\":\"Allow\",\"Action\":\"iam:PassRole\",\"Resource\":[\"arn:aws:iam::*:role/AWSGlueServiceRole*\",\"arn:aws:iam::*:role/service-role/AWSGlueServiceRole*\"],"
             "\"Condition\":{\"StringLike\":{\"iam:PassedToService\":[\"glue.amazonaws.com\"]}}}") },
    { "/service-role/", "AWSGlueServiceRole", "Policy for AWS Glue service role which allows access to related services including EC2, S3, and Cloudwatch Logs",
      POLICY(ALLOW("Glue", "\"glue:*\",\"s3:GetBucketLocation\",\"s3:ListBucket\",\"s3:ListAllMyBuckets\",\"s3:GetBucketAcl\",\"iam:ListRolePolicies\",\"iam:GetRole\",\"iam:GetRolePolicy\"", ALL) ","
             ALLOW("Buckets", "\"s3:CreateBucket\"", "[\"arn:aws:s3:::aws-glue-*\"]") ","
             ALLOW("Objects", "\"s3:GetObject\",\"s3:PutObject\",\"s3:DeleteObject\"", "[\"arn:aws:s3:::aws-glue-*/*\",\"arn:aws:s3:::*/*aws-glue-*/*\"]") ","
             ALLOW("Crawlers", "\"s3:GetObject\"", "[\"arn:aws:s3:::crawler-public*\",\"arn:aws:s3:::aws-glue-*\"]") ","
             ALLOW("Logs", "\"logs:CreateLogGroup\",\"logs:CreateLogStream\",\"logs:PutLogEvents\"", "[\"arn:aws:logs:*:*:*:/aws-glue/*\",\"arn:aws:logs:*:*:log-group:/aws-glue/*\"]")) },
    { "/", "AmazonAthenaFullAccess", "Provide full access to Amazon Athena and scoped access to the dependencies needed to enable querying, writing results, and data management.",
      POLICY(ALLOW("Athena", "\"athena:*\"", ALL) ","
             ALLOW("Glue", "\"glue:CreateDatabase\",\"glue:DeleteDatabase\",\"glue:GetCatalog\",\"glue:GetCatalogs\",\"glue:GetDatabase\",\"glue:GetDatabases\",\"glue:UpdateDatabase\","
                           "\"glue:CreateTable\",\"glue:DeleteTable\",\"glue:BatchDeleteTable\",\"glue:UpdateTable\",\"glue:GetTable\",\"glue:GetTables\",\"glue:BatchCreatePartition\","
                           "\"glue:CreatePartition\",\"glue:DeletePartition\",\"glue:BatchDeletePartition\",\"glue:UpdatePartition\",\"glue:GetPartition\",\"glue:GetPartitions\",\"glue:BatchGetPartition\"", ALL) ","
             ALLOW("Results", "\"s3:GetBucketLocation\",\"s3:GetObject\",\"s3:ListBucket\",\"s3:ListBucketMultipartUploads\",\"s3:ListMultipartUploadParts\",\"s3:AbortMultipartUpload\","
                              "\"s3:CreateBucket\",\"s3:PutObject\"", "[\"arn:aws:s3:::aws-athena-query-results-*\"]") ","
             ALLOW("Buckets", "\"s3:ListBucket\",\"s3:GetBucketLocation\",\"s3:ListAllMyBuckets\"", ALL) ","
             ALLOW("LakeFormation", "\"lakeformation:GetDataAccess\"", ALL)) },
    { "/", "AWSLakeFormationDataAdmin", "Grants administrative access to AWS Lake Formation and related services, such as AWS Glue, to manage data lakes",
      POLICY(ALLOW("Admin", "\"lakeformation:*\",\"glue:*\",\"s3:GetBucketLocation\",\"s3:ListBucket\",\"s3:ListAllMyBuckets\",\"s3:GetBucketAcl\",\"iam:ListUsers\",\"iam:ListRoles\","
                            "\"iam:GetRole\",\"iam:GetRolePolicy\"", ALL) ","
             "{\"Sid\":\"NotItsOwnSettings\",\"Effect\":\"Deny\",\"Action\":[\"lakeformation:PutDataLakeSettings\"],\"Resource\":\"*\"}") },
    { "/", "CloudWatchLogsFullAccess", "Provides full access to CloudWatch Logs", POLICY(ALLOW("Logs", "\"logs:*\"", ALL)) },
    { "/", "CloudWatchLogsReadOnlyAccess", "Provides read only access to CloudWatch Logs",
      POLICY(ALLOW("Logs", "\"logs:Describe*\",\"logs:Get*\",\"logs:List*\",\"logs:FilterLogEvents\",\"logs:TestMetricFilter\"", ALL)) },
};

static Json *record_of(Arena *a, const Managed *m)
{
    Json *o = json_object(a), *versions = json_array(a), *v = json_object(a);
    Str id = str_cat(a, S("ANPA"), str_upper(a, str_sub(hash_hex(a, HASH_SHA256, str_c(m->name)), 0, 17)));

    json_set(a, v, "VersionId", json_str(a, S("v1")));
    json_set(a, v, "Document", json_str(a, str_c(m->text)));
    json_set(a, v, "CreateDate", json_int(a, 1423247963000));
    json_push(a, versions, v);
    json_set(a, o, "PolicyName", json_str(a, str_c(m->name)));
    json_set(a, o, "PolicyId", json_str(a, id));
    json_set(a, o, "Arn", json_str(a, str_fmt(a, "arn:aws:iam::aws:policy%s%s", m->path, m->name)));
    json_set(a, o, "Path", json_str(a, str_c(m->path)));
    json_set(a, o, "DefaultVersionId", json_str(a, S("v1")));
    json_set(a, o, "Description", json_str(a, str_c(m->description)));
    json_set(a, o, "CreateDate", json_int(a, 1423247963000));
    json_set(a, o, "UpdateDate", json_int(a, 1423247963000));
    json_set(a, o, "Versions", versions);
    return o;
}

Status iam_managed_get(Arena *a, Str arn, Json **ret, Error *err)
{
    Str prefix = S("arn:aws:iam::aws:policy"), path = str_from(arn, prefix.n);

    for (size_t i = 0; str_starts(arn, prefix) && i < COUNT_OF(managed); i++) {
        Str p = str_c(managed[i].path);
        if (str_starts(path, p) && str_eq(str_from(path, p.n), str_c(managed[i].name))) {
            *ret = record_of(a, &managed[i]);
            return OK;
        }
    }
    RAISE(err, E_NOT_FOUND, "Policy " STR_FMT " was not found.", STR_ARG(arn));
    snprintf(err->kind, sizeof err->kind, "NoSuchEntity");
    return E_NOT_FOUND;
}

Json *iam_managed_list(Arena *a)
{
    Json *l = json_array(a);
    for (size_t i = 0; i < COUNT_OF(managed); i++)
        json_push(a, l, record_of(a, &managed[i]));
    return l;
}
