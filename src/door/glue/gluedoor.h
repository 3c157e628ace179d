/* SPDX-License-Identifier: Apache-2.0 */
/* gluedoor.h - AWS Glue (awsJson1.1): catalogs, databases, tables, materialized views and their refresh runs, jobs.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_GLUEDOOR_H
#define FIRN_GLUEDOOR_H

#include "aws/aws.h"
#include "service/service.h"
#include "jobs/jobs.h"

extern const AwsService glue_service;
/* jobs NULL: job operations say that jobs are off. */
NODISCARD Status glue_open(Service *svc, Jobs *jobs, AwsMount *ret, Error *err);

#endif
