/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sinkprogress.c - what a table says of a sink's progress, written by whoever: three lines are frontier, id and version; the whole also as table metadata and as a note.
 * Progress that is read is written again and read the same. */
#include "sink/sink_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static IceMetadata with_summary(Arena *a, const Props *summary)
{
    IceMetadata m = { .current_snapshot_id = SOME_I64(1) };
    IceSnapshot *s = arena_new(a, IceSnapshot);

    s->id = s->sequence_number = 1;
    s->operation = S("append");
    s->summary = *summary;
    vec_push(a, &m.snapshots, s);
    return m;
}

static void three_lines(Arena *a, Str in)
{
    static const char *const keys[] = { "mz-frontier", "mz-sink-id", "mz-sink-version" };
    Props summary = {0};
    Progress p, again;
    StrVec lines = {0};
    Error err;

    str_split(a, in, '\n', &lines);
    for (size_t i = 0; i < lines.n && i < COUNT_OF(keys); i++)
        props_set(a, &summary, str_c(keys[i]), lines.p[i]);
    IceMetadata m = with_summary(a, &summary);
    if (progress_read(&m, &p, &err) != OK || !p.has || p.sealed)
        return;
    if (p.frontier < 0 || p.version < 0)
        abort();
    SinkSpec spec = { .id = p.sink, .version = p.version };
    progress_write(a, &spec, p.frontier, &summary);
    m = with_summary(a, &summary);
    if (progress_read(&m, &again, &err) != OK || again.frontier != p.frontier || again.version != p.version || again.sink != p.sink)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *a = arena_create();
    Str in = str_dup(a, str_n((const char *)data, size));
    IceMetadata *m = NULL;
    Progress p;
    Error err;
    Note n;

    three_lines(a, in);
    if (ice_metadata_parse(a, in, &m, &err) == OK)
        (void)!progress_read(m, &p, &err);
    if (note_parse(a, in, &n, &err) == OK && note_parse(a, note_text(a, &n), &n, &err) != OK)
        abort();
    arena_destroy(a);
    return 0;
}
