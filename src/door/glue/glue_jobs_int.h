/* SPDX-License-Identifier: Apache-2.0 */
/* glue_jobs_int.h - what the files about jobs share. */
#ifndef FIRN_GLUE_JOBS_INT_H
#define FIRN_GLUE_JOBS_INT_H

#include "door/glue/glue_int.h"

/* E_UNSUPPORTED: jobs are off. */
NODISCARD Status glue_jobs_room(AwsCall *c, Jobs **ret, Error *err);
/* The job, after IAM was asked for this operation on it. */
NODISCARD Status glue_job_named(AwsCall *c, Str name, Jobs **room, Json **job, Error *err);
/* Epoch ms to the wire's times. */
void glue_show_times(AwsCall *c, Json *o, const char *const *keys, size_t n);

#endif
