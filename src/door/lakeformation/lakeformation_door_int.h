/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_door_int.h - what the files of the Lake Formation door share. */
#ifndef FIRN_LAKEFORMATION_DOOR_INT_H
#define FIRN_LAKEFORMATION_DOOR_INT_H

#include "access/lakeformation.h"
#include "door/lakeformation/lakeformationdoor.h"

static inline Service *door_service(const AwsCall *c) { return c->door; }

/* ---- lakeformation_names.c: the API's resources, principals and permissions, there and back --------------------------------- */

/* "" is the account. E_INVALID for another account's. */
NODISCARD Status door_catalog(AwsCall *c, Str given, Str *ret, Error *err);
NODISCARD Status door_resource(AwsCall *c, const Json *o, LfResource *ret, Error *err);
Json *door_resource_json(AwsCall *c, const LfResource *r);
NODISCARD Status door_principal(const Json *o, Str *ret, Error *err);
NODISCARD Status door_permissions(AwsCall *c, const Json *list, uint32_t *ret, Error *err);
Json *door_permissions_json(AwsCall *c, uint32_t bits);
void door_strings(AwsCall *c, const Json *list, StrVec *ret);
Json *door_strings_json(AwsCall *c, const StrVec *v);
NODISCARD Status door_expression(AwsCall *c, Str catalog, const Json *list, LfTagPairs *ret, Error *err);
Json *door_pairs_json(AwsCall *c, const LfTagPairs *pairs);
/* s3://bucket/prefix of "arn:aws:s3:::bucket/prefix". E_INVALID. */
NODISCARD Status door_location_uri(AwsCall *c, Str arn, Str *ret, Error *err);
const char *door_error_code(const Error *err);

/* ---- lakeformation_locations.c ------------------------------------------------------------------------------------------------- */

/* E_NOT_FOUND: no registered location holds this one. */
NODISCARD Status door_registered(AwsCall *c, Str arn, Error *err);

/* ---- operations ------------------------------------------------------------------------------------------------------------------ */

Status door_grant(AwsCall *c, Error *err);
Status door_revoke(AwsCall *c, Error *err);
Status door_batch_grant(AwsCall *c, Error *err);
Status door_batch_revoke(AwsCall *c, Error *err);
Status door_list_permissions(AwsCall *c, Error *err);
Status door_effective_permissions(AwsCall *c, Error *err);
Status door_get_settings(AwsCall *c, Error *err);
Status door_put_settings(AwsCall *c, Error *err);
Status door_principal_of(AwsCall *c, Error *err);
Status door_register(AwsCall *c, Error *err);
Status door_update_location(AwsCall *c, Error *err);
Status door_deregister(AwsCall *c, Error *err);
Status door_describe_location(AwsCall *c, Error *err);
Status door_list_locations(AwsCall *c, Error *err);
Status door_table_credentials(AwsCall *c, Error *err);
Status door_location_credentials(AwsCall *c, Error *err);
Status door_create_tag(AwsCall *c, Error *err);
Status door_update_tag(AwsCall *c, Error *err);
Status door_get_tag(AwsCall *c, Error *err);
Status door_delete_tag(AwsCall *c, Error *err);
Status door_list_tags(AwsCall *c, Error *err);
Status door_add_tags(AwsCall *c, Error *err);
Status door_remove_tags(AwsCall *c, Error *err);
Status door_resource_tags(AwsCall *c, Error *err);
Status door_search_databases(AwsCall *c, Error *err);
Status door_search_tables(AwsCall *c, Error *err);
Status door_create_filter(AwsCall *c, Error *err);
Status door_list_filters(AwsCall *c, Error *err);
Status door_no_filter(AwsCall *c, Error *err);

#endif
