/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_metadata.c - table and view metadata, updates, requirements and name mappings from arbitrary bytes.
 * What parses is written, parses again, and is then equal. */
#include <stdlib.h>

#include "iceberg/iceberg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void metadata(Arena *a, Str bytes)
{
    IceMetadata *m, *back;
    Error err;

    if (ice_metadata_parse(a, bytes, &m, &err) != OK)
        return;
    Json *j = ice_metadata_json(a, m);
    if (ice_metadata_parse(a, json_text(a, j), &back, &err) != OK || !json_equal(j, ice_metadata_json(a, back)))
        abort();
}

static void view(Arena *a, Str bytes)
{
    IceView *v, *back;
    Error err;

    if (ice_view_parse(a, bytes, &v, &err) != OK)
        return;
    Json *j = ice_view_json(a, v);
    if (ice_view_parse(a, json_text(a, j), &back, &err) != OK || !json_equal(j, ice_view_json(a, back)))
        abort();
}

/* A list is taken as the updates of a request that creates a table. */
static void updates(Arena *a, Str bytes)
{
    IceUpdates ups = { 0 };
    IceRequirement rq;
    IceNameMapping mapping;
    IceMetadata *m;
    Json *j;
    Error err;
    int changed;

    if (json_parse(a, bytes, &j, &err) != OK)
        return;
    for (size_t i = 0; i < json_len(j) && json_is(j, JSON_ARRAY); i++) {
        IceUpdate u;
        if (ice_update_parse(a, json_at(j, i), &u, &err) == OK)
            vec_push(a, &ups, u);
        if (ice_requirement_parse(a, json_at(j, i), &rq, &err) == OK)
            continue;
    }
    if (ice_metadata_apply(a, NULL, (Str){ 0 }, &ups, 1, &m, &changed, &err) == OK)
        metadata(a, json_text(a, ice_metadata_json(a, m)));
    if (ice_name_mapping_parse(a, bytes, &mapping, &err) == OK)
        return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str bytes = str_n((const char *)data, size);

    metadata(a, bytes);
    view(a, bytes);
    updates(a, bytes);
    return 0;
}
