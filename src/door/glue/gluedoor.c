/* SPDX-License-Identifier: Apache-2.0 */
/* gluedoor.c - the Glue Data Catalog as a service: the door's own state, opened and closed.
 *
 * Operations are listed in glue_ops.c, each a handler beside others of its kind.  A handler asks IAM for its operation, names what it is
 * about, calls a verb of service/ and shows the result in Glue's shape.  An Iceberg table that Glue shows is the one
 * that every door shows; what Glue alone knows of it is kept in its `extra`. */
#include "door/glue/glue_int.h"

#include <stdlib.h>

SvcCall glue_call(AwsCall *c)
{
    return (SvcCall){ .ctx = &GLUE_DOOR(c)->ctx, .a = c->a, .who = &c->who, .api = str_fmt(c->a, "glue:%s", c->op->name).p };
}

Catalog *glue_catalog(AwsCall *c) { return GLUE_DOOR(c)->svc->catalog; }

static void glue_close(void *ctx)
{
    GlueDoor *d = ctx;

    glue_runs_free(d->runs);
    pthread_mutex_destroy(&d->docs);
    free(d);
}

Status glue_open(Service *svc, Jobs *jobs, AwsMount *ret, Error *err UNUSED)
{
    GlueDoor *d = calloc(1, sizeof *d);

    if (!d)
        abort();
    *d = (GlueDoor){ .svc = svc, .jobs = jobs, .ctx = service_ctx(svc), .runs = glue_runs_new(svc) };
    pthread_mutex_init(&d->docs, NULL);
    *ret = (AwsMount){ .service = &glue_service, .ctx = d, .close = glue_close };
    return OK;
}
