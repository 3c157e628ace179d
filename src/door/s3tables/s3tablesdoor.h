/* SPDX-License-Identifier: Apache-2.0 */
/* s3tablesdoor.h - S3 Tables (restJson1): table buckets, namespaces, tables, policies, maintenance.
 *
 * Decodes nothing itself (aws/): each operation calls one verb and fills the answer.  Any thread may call. */
#ifndef FIRN_S3TABLESDOOR_H
#define FIRN_S3TABLESDOOR_H

#include "aws/aws.h"
#include "service/service.h"

extern const AwsService s3tables_service;
NODISCARD Status s3tables_open(Service *svc, AwsMount *ret, Error *err);

#endif
