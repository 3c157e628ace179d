/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformationdoor.h - Lake Formation (restJson1): settings, grants, temporary credentials.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_LAKEFORMATIONDOOR_H
#define FIRN_LAKEFORMATIONDOOR_H

#include "aws/aws.h"
#include "service/service.h"

extern const AwsService lakeformation_service;
NODISCARD Status lakeformation_open(Service *svc, AwsMount *ret, Error *err);

#endif
