/* SPDX-License-Identifier: Apache-2.0 */
/* aws_api.c - firn version --aws-api: every operation of the AWS services and whether it is there, out of the doors' own tables. docs/aws-api-support.md is its output. */
#include "main/main_int.h"

#include "door/athena/athenadoor.h"
#include "door/glue/gluedoor.h"
#include "door/iam/iamdoor.h"
#include "door/lakeformation/lakeformationdoor.h"
#include "door/logs/logsdoor.h"
#include "door/s3tables/s3tablesdoor.h"

#include <stdio.h>

static const AwsService *const services[] = { &glue_service, &s3tables_service, &athena_service, &lakeformation_service, &iam_service, &sts_service, &logs_service_table };

static size_t supported(const AwsService *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nops; i++)
        n += s->ops[i].handler != NULL;
    return n;
}

void print_aws_api(void)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);

    sb_addc(&b, "# AWS API support\n\nPrinted by `firn version --aws-api` from the tables that the requests are answered by. S3 and Iceberg REST are not here: S3's operations are\n"
                "in `src/door/s3/s3door.c`, REST has all of the specification's table and view catalog.\n\n| service | operations known | supported |\n|---|---|---|\n");
    for (size_t i = 0; i < COUNT_OF(services); i++)
        sb_fmt(&b, "| %s | %zu | %zu |\n", services[i]->title, services[i]->nops, supported(services[i]));
    sb_addc(&b, "\n");
    for (size_t i = 0; i < COUNT_OF(services); i++)
        aws_describe(services[i], &b);
    fwrite(b.p, 1, b.n, stdout);
}
