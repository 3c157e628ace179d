/* SPDX-License-Identifier: Apache-2.0 */
/* sink_progress.c - how far a sink is: what the table's snapshots say, and what this server remembers.
 *
 * A snapshot's summary carries mz-frontier ("[1754900000000]"; "[]" when the input has ended), mz-sink-id, mz-sink-version (spec/materialize.md 2.4).  The newest snapshot
 * with all three tells; snapshots without them are passed over only when they are replacements (compactions).
 * The note is written before a commit is sent, so whatever lands can be known again; and after it is known to have landed. */
#include "sink/sink_int.h"

enum { INTENTS_MAX = 1000 };

/* ---- of the table ---------------------------------------------------------------------------------------------------------- */

static Str frontier_text(Arena *a, int64_t frontier) { return frontier == SEALED ? S("[]") : str_fmt(a, "[%lld]", (long long)frontier); }

void progress_write(Arena *a, const SinkSpec *s, int64_t frontier, Props *summary)
{
    props_set(a, summary, S("mz-frontier"), frontier_text(a, frontier));
    props_set(a, summary, S("mz-sink-id"), str_fmt(a, "u%lld", (long long)s->id));
    props_set(a, summary, S("mz-sink-version"), str_fmt(a, "%lld", (long long)s->version));
}

static Status decode(const IceSnapshot *s, Progress *ret, Error *err)
{
    Str frontier = str_trim(props_get(&s->summary, S("mz-frontier"), (Str){0})), id = props_get(&s->summary, S("mz-sink-id"), (Str){0});

    *ret = (Progress){ .has = 1, .snapshot = s->id, .sequence = s->sequence_number };
    if (!str_starts(frontier, S("[")) || !str_ends(frontier, S("]")))
        return FAIL(err, E_CORRUPT, "Failed to deserialize frontier from snapshot properties: '" STR_FMT "'", STR_ARG(frontier));
    frontier = str_trim(str_sub(frontier, 1, frontier.n - 1));
    ret->sealed = !frontier.n;
    ret->frontier = ret->sealed ? SEALED : 0;
    if (frontier.n && (!str_to_i64(frontier, &ret->frontier) || ret->frontier < 0))
        return FAIL(err, E_CORRUPT, "Failed to deserialize frontier from snapshot properties: '[" STR_FMT "]'", STR_ARG(frontier));
    if (!str_to_i64(props_get(&s->summary, S("mz-sink-version"), (Str){0}), &ret->version) || ret->version < 0)
        return FAIL(err, E_CORRUPT, "Failed to parse mz-sink-version from snapshot properties");
    if (id.n < 2 || (id.p[0] != 'u' && id.p[0] != 's') || !str_to_i64(str_from(id, 1), &ret->sink))
        return FAIL(err, E_CORRUPT, "Failed to parse mz-sink-id from snapshot properties: '" STR_FMT "'", STR_ARG(id));
    return OK;
}

static bool carries(const IceSnapshot *s)
{
    return props_has(&s->summary, S("mz-frontier")) && props_has(&s->summary, S("mz-sink-id")) && props_has(&s->summary, S("mz-sink-version"));
}

static bool is_before(const IceSnapshot *x, const IceSnapshot *y)
{
    return x->sequence_number != y->sequence_number ? x->sequence_number < y->sequence_number : x->timestamp_ms < y->timestamp_ms;
}

/* The newest that is older than `than`. */
static const IceSnapshot *newest(const IceMetadata *m, const IceSnapshot *than)
{
    const IceSnapshot *best = NULL;

    for (size_t i = 0; i < m->snapshots.n; i++) {
        const IceSnapshot *s = m->snapshots.p[i];
        if ((!than || is_before(s, than)) && (!best || is_before(best, s)))
            best = s;
    }
    return best;
}

/* What hangs on main: a branch of somebody else's, or a snapshot that was rolled back, tells nothing of the table. */
static const IceSnapshot *before(const IceMetadata *m, const IceSnapshot *s)
{
    const IceSnapshot *parent = s->parent_id.has ? ice_snapshot(m, s->parent_id.v) : NULL;
    return parent && parent != s ? parent : newest(m, s);
}

Status progress_read(const IceMetadata *m, Progress *ret, Error *err)
{
    const IceSnapshot *s = ice_current_snapshot(m);

    *ret = (Progress){0};
    for (size_t i = 0; s && i <= m->snapshots.n; i++, s = before(m, s)) {
        if (carries(s))
            return decode(s, ret, err);
        if (!str_eq(s->operation, S("replace")))
            return FAIL(err, E_CORRUPT, "Iceberg table is in an inconsistent state: snapshot %lld has operation '" STR_FMT "' but is missing 'mz-frontier' property. "
                        "Schema or partition spec evolution is not supported.", (long long)s->id, STR_ARG(s->operation));
    }
    return OK;
}

/* ---- the note --------------------------------------------------------------------------------------------------------------- */

static Str note_key(Arena *a, int64_t sink) { return str_fmt(a, "sink/%lld", (long long)sink); }

Str note_text(Arena *a, const Note *n)
{
    Json *o = json_object(a), *intents = json_array(a);

    json_set(a, o, "relation", json_int(a, n->relation));
    json_set(a, o, "frontier", json_int(a, n->frontier));
    json_set(a, o, "snapshot", json_int(a, n->snapshot));
    json_set(a, o, "sequence", json_int(a, n->sequence));
    json_set(a, o, "version", json_int(a, n->version));
    json_set(a, o, "from", json_int(a, n->from));
    json_set(a, o, "cut-relation", json_int(a, n->cut_relation));
    json_set(a, o, "cut-upto", json_int(a, n->cut_upto));
    json_set(a, o, "gap", json_int(a, n->gap));
    json_set(a, o, "rebuilt", json_int(a, n->rebuilt));
    json_set(a, o, "uuid", json_str(a, n->uuid));
    for (size_t i = 0; i < n->intents.n; i++) {
        Json *one = json_object(a);
        json_set(a, one, "base", json_int(a, n->intents.p[i].base));
        json_set(a, one, "upper", json_int(a, n->intents.p[i].upper));
        json_push(a, intents, one);
    }
    json_set(a, o, "intents", intents);
    return json_text(a, o);
}

Status note_parse(Arena *a, Str text, Note *ret, Error *err)
{
    Json *o = NULL;

    *ret = (Note){0};
    if (!text.n)
        return OK;
    TRY_CTX(json_parse(a, text, &o, err), err, "the note of a sink");
    ret->relation = json_get_int(o, "relation", 0);
    ret->frontier = json_get_int(o, "frontier", 0);
    ret->snapshot = json_get_int(o, "snapshot", 0);
    ret->sequence = json_get_int(o, "sequence", 0);
    ret->version = json_get_int(o, "version", 0);
    ret->from = json_get_int(o, "from", 0);
    ret->cut_relation = json_get_int(o, "cut-relation", 0);
    ret->cut_upto = json_get_int(o, "cut-upto", 0);
    ret->gap = json_get_int(o, "gap", 0);
    ret->rebuilt = json_get_int(o, "rebuilt", 0);
    ret->uuid = json_get_str(o, "uuid", (Str){0});
    const Json *intents = json_get(o, "intents");
    for (size_t i = 0; i < json_len(intents); i++) {
        const Json *one = json_at(intents, i);
        vec_push(a, &ret->intents, ((Intent){ json_get_int(one, "base", 0), json_get_int(one, "upper", 0) }));
    }
    return OK;
}

Status note_read(Live *l, Arena *a, int64_t sink, Note *ret, Error *err)
{
    Str text = {0};

    TRY(live_note_get(l, a, note_key(a, sink), &text, err));
    return note_parse(a, text, ret, err);
}

Status note_write(Live *l, int64_t sink, const Note *n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LiveNote note = { .key = note_key(a, sink), .value = note_text(a, n) };
    int64_t t;

    if (n->intents.n > INTENTS_MAX)
        return FAIL(err, E_LIMIT, "%d commits were sent and none of them is known to have ended", INTENTS_MAX);
    return live_commit_noted(l, NULL, 0, &note, 1, &t, err);
}

Status note_forget(Live *l, int64_t sink, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    LiveNote note = { .key = note_key(a, sink), .value = (Str){0} };
    int64_t t;

    return live_commit_noted(l, NULL, 0, &note, 1, &t, err);
}
