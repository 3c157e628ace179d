/* SPDX-License-Identifier: Apache-2.0 */
/* athenadoor.h - Athena (awsJson1.1): query executions in Trino's SQL, workgroups, metadata.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_ATHENADOOR_H
#define FIRN_ATHENADOOR_H

#include "aws/aws.h"
#include "service/service.h"

extern const AwsService athena_service;
NODISCARD Status athena_open(Service *svc, AwsMount *ret, Error *err);

#endif
