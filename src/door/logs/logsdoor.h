/* SPDX-License-Identifier: Apache-2.0 */
/* logsdoor.h - CloudWatch Logs (awsJson1.1): groups, streams, events.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_LOGSDOOR_H
#define FIRN_LOGSDOOR_H

#include "aws/aws.h"
#include "service/service.h"

extern const AwsService logs_service_table;
NODISCARD Status logsdoor_open(Service *svc, AwsMount *ret, Error *err);

#endif
