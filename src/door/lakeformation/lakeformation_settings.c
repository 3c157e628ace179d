/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_settings.c - the account's settings, and who the caller is. Data cells filters, which are refused, too. */
#include "door/lakeformation/lakeformation_door_int.h"

Status door_get_settings(AwsCall *c, Error *err)
{
    Json *settings = NULL;
    Str catalog;

    TRY(aws_allow(c, "lakeformation:GetDataLakeSettings", S("*"), NULL, err));
    TRY(door_catalog(c, aws_str(c, "CatalogId"), &catalog, err));
    TRY(lf_settings(c->access, c->a, &settings, err));
    aws_put(c, "DataLakeSettings", settings);
    return OK;
}

static Status check_principals(const Json *list, Error *err)
{
    Str ignored;

    for (size_t i = 0; i < json_len(list); i++)
        TRY(door_principal(json_at(list, i), &ignored, err));
    return OK;
}

static Status check_defaults(AwsCall *c, const Json *list, Error *err)
{
    uint32_t bits;
    Str who;

    for (size_t i = 0; i < json_len(list); i++) {
        TRY(door_principal(json_get(json_at(list, i), "Principal"), &who, err));
        TRY(door_permissions(c, json_get(json_at(list, i), "Permissions"), &bits, err));
    }
    return OK;
}

/* IAM alone decides, as on AWS: who has lakeformation:PutDataLakeSettings can make himself an administrator. */
Status door_put_settings(AwsCall *c, Error *err)
{
    const Json *s = aws_get(c, "DataLakeSettings");
    Str catalog;

    TRY(aws_allow(c, "lakeformation:PutDataLakeSettings", S("*"), NULL, err));
    TRY(door_catalog(c, aws_str(c, "CatalogId"), &catalog, err));
    TRY(check_principals(json_get(s, "DataLakeAdmins"), err));
    TRY(check_principals(json_get(s, "ReadOnlyAdmins"), err));
    TRY(check_principals(json_get(s, "ExternalDataFilteringAllowList"), err));
    TRY(check_defaults(c, json_get(s, "CreateDatabaseDefaultPermissions"), err));
    TRY(check_defaults(c, json_get(s, "CreateTableDefaultPermissions"), err));
    return lf_settings_put(c->access, s, err);
}

Status door_principal_of(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:GetDataLakePrincipal", S("*"), NULL, err));
    aws_put_str(c, "Identity", c->who.arn);
    return OK;
}

/* ---- data cells filters ------------------------------------------------------------------------------------------------- */

Status door_create_filter(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:CreateDataCellsFilter", S("*"), NULL, err));
    return AWS_FAIL(err, E_UNSUPPORTED, "InvalidInputException", "Data cells filters are not supported: rows would not be filtered. To limit columns, grant SELECT on TableWithColumns.");
}

Status door_list_filters(AwsCall *c, Error *err)
{
    TRY(aws_allow(c, "lakeformation:ListDataCellsFilter", S("*"), NULL, err));
    return aws_page(c, "DataCellsFilters", json_array(c->a), "NextToken", "MaxResults", 1000, "NextToken", err);
}

Status door_no_filter(AwsCall *c UNUSED, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Data cells filter not found.");
}
