/* SPDX-License-Identifier: Apache-2.0 */
/* wire_aws.c - AWS's services on the lake door: which there are, and whose a request is. */
#include "main/wire.h"

#include "door/athena/athenadoor.h"
#include "door/glue/gluedoor.h"
#include "door/iam/iamdoor.h"
#include "door/logs/logsdoor.h"
#include "door/lakeformation/lakeformationdoor.h"
#include "door/s3tables/s3tablesdoor.h"

typedef Status (*OpenDoor)(Service *svc, AwsMount *ret, Error *err);

static Status open_glue(Service *svc, AwsMount *ret, Error *err) { return glue_open(svc, svc->jobs, ret, err); }

/* One line a service. */
static const OpenDoor doors[] = {
    athena_open,
    iam_open,
    sts_open,
    lakeformation_open,
    open_glue,
    s3tables_open,
    logsdoor_open,
};

Status aws_open_doors(LakeDoor *d, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(doors); i++) {
        TRY(doors[i](d->svc, &d->mounts[d->nmounts], err));
        d->nmounts++;
    }
    return OK;
}

void aws_close_doors(LakeDoor *d)
{
    for (size_t i = 0; i < d->nmounts; i++)
        if (d->mounts[i].close)
            d->mounts[i].close(d->mounts[i].ctx);
    d->nmounts = 0;
}

bool aws_doors_handle(LakeDoor *d, HttpRequest *r, HttpAnswer *ret)
{
    SigClaim claim = {0};
    Error err;

    if (sig_parse(r->arena, r, &claim, &err) != OK)
        claim = (SigClaim){0};
    for (size_t i = 0; i < d->nmounts; i++)
        if (aws_is_for(&d->mounts[i], r, &claim)) {
            aws_handle(&d->mounts[i], d->svc->access, r, ret);
            return true;
        }
    return false;
}
