/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h - doors connected to the service: hooks that decide nothing themselves. */
#ifndef FIRN_WIRE_H
#define FIRN_WIRE_H

#include "aws/aws.h"
#include "door/pg/pgdoor.h"
#include "door/rest/restdoor.h"
#include "door/s3/s3door.h"
#include "service/service.h"

/* The lake door: /iceberg goes to the REST catalog; a request signed for one of AWS's services to that; the rest to S3. */
enum { MOUNTS_MAX = 16 };
typedef struct LakeDoor { Service *svc; S3Door *s3; RestDoor *rest; AwsMount mounts[MOUNTS_MAX]; size_t nmounts; } LakeDoor;
/* The AWS services of wire_aws.c. */
NODISCARD Status aws_open_doors(LakeDoor *d, Error *err);
void aws_close_doors(LakeDoor *d);
/* false: not a request of theirs. */
bool aws_doors_handle(LakeDoor *d, HttpRequest *r, HttpAnswer *ret);
NODISCARD Status lake_open_door(LakeDoor *d, Service *svc, int auth_off, Error *err);
void lake_close_door(LakeDoor *d);
void lake_handle(void *ctx, HttpRequest *r, HttpAnswer *ret);

typedef struct PgWire { Service *svc; int trust_local; } PgWire;
PgHooks pg_wire_hooks(PgWire *w);

#endif
