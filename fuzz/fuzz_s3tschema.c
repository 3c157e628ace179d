/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_s3tschema.c - the metadata of S3 Tables' CreateTable: what is accepted makes table metadata that reads back as it was written. */
#include "door/s3tables/s3t_schema.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SvcNewTable t = {0};
    IceMetadata *m, *again;
    Json *in;
    Error err;

    if (json_parse(a, str_n((const char *)data, size), &in, &err) != OK || s3t_schema(a, in, &t, &err) != OK)
        return 0;
    IceNewTable n = { .schema = t.schema, .spec = t.spec, .order = t.order, .location = S("s3://b/t"), .properties = t.properties, .format_version = 2, .uuid = uuid_v4(a) };
    if (ice_metadata_new(a, &n, &m, &err) != OK)
        return 0;
    Str text = json_text(a, ice_metadata_json(a, m));
    if (ice_metadata_parse(a, text, &again, &err) != OK || !str_eq(text, json_text(a, ice_metadata_json(a, again))))
        abort();
    return 0;
}
