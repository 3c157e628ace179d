/* SPDX-License-Identifier: Apache-2.0 */
/* iamdoor.h - IAM and STS (awsQuery): users, groups, roles, policies, sessions.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_IAMDOOR_H
#define FIRN_IAMDOOR_H

#include "aws/aws.h"
#include "service/service.h"

extern const AwsService iam_service, sts_service;
NODISCARD Status iam_open(Service *svc, AwsMount *ret, Error *err);
NODISCARD Status sts_open(Service *svc, AwsMount *ret, Error *err);

#endif
