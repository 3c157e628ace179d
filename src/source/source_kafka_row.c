/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_row.c - a message's row.
 *
 * ENVELOPE NONE passes over messages without a value; UPSERT takes the key's newest value, and none deletes it; DEBEZIUM does so with what stands behind "after".
 * A value that cannot be decoded is an error of its key (source_kafka_bad.c), unless VALUE DECODING ERRORS = INLINE: then the row says so. */
#include "source/source_kafka_int.h"

static const int64_t TIMESTAMP_MAX_MS = 9223371331200000;

static Value null_of(const SourceColumn *c) { return (Value){ .kind = DT_NULL, .type = &c->type }; }

static Status headers_value(Arena *a, const KafkaMessage *m, const DataType *t, Value *ret, Error *err)
{
    const DataType *record = &t->children[0];

    if (m->headers.n > KAFKA_HEADERS_MAX)
        return FAIL(err, E_LIMIT, "a message with %zu headers, the limit is %d", m->headers.n, KAFKA_HEADERS_MAX);
    *ret = (Value){ .kind = DT_LIST, .type = t };
    ret->items.n = m->headers.n;
    ret->items.p = arena_array(a, Value, m->headers.n + 1);
    for (size_t i = 0; i < m->headers.n; i++) {
        const KafkaHeader *h = &m->headers.p[i];
        Value *r = &ret->items.p[i];
        *r = (Value){ .kind = DT_STRUCT, .type = record };
        r->items.n = 2;
        r->items.p = arena_array(a, Value, 2);
        if (!str_is_utf8(h->name) || (h->name.n && memchr(h->name.p, 0, h->name.n)))
            return FAIL(err, E_CORRUPT, "a header's name is not UTF-8 text");
        r->items.p[0] = (Value){ .kind = DT_STRING, .type = &record->children[0], .string = h->name };
        r->items.p[1] = (Value){ .kind = h->is_null ? DT_NULL : DT_BINARY, .type = &record->children[1], .string = h->value };
    }
    return OK;
}

/* Of several headers of a name the last. */
static Status header_value(const KafkaMeta *meta, const KafkaMessage *m, const SourceColumn *c, Value *ret, Error *err)
{
    const KafkaHeader *found = NULL;

    for vec_each(KafkaHeader, h, &m->headers)
        if (str_eq(h->name, meta->header))
            found = h;
    if (!found)
        return FAIL(err, E_INVALID, "a message without header '" STR_FMT "'", STR_ARG(meta->header));
    *ret = null_of(c);
    if (found->is_null)
        return OK;
    *ret = (Value){ .kind = c->type.kind, .type = &c->type, .string = found->value };
    if (meta->kind == KAFKA_HEADER && (!str_is_utf8(found->value) || (found->value.n && memchr(found->value.p, 0, found->value.n))))
        return FAIL(err, E_CORRUPT, "header '" STR_FMT "' is not UTF-8 text", STR_ARG(meta->header));
    return OK;
}

static Status meta_value(Arena *a, const KafkaMeta *meta, const KafkaMessage *m, const SourceColumn *c, Value *ret, Error *err)
{
    *ret = (Value){ .kind = c->type.kind, .type = &c->type };
    switch (meta->kind) {
    case KAFKA_PARTITION: ret->integer = m->partition; return OK;
    case KAFKA_OFFSET: ret->wide = m->offset; return OK;
    case KAFKA_TIMESTAMP:
        if (m->timestamp_ms < 0 || m->timestamp_ms >= TIMESTAMP_MAX_MS)
            *ret = (Value){ .kind = DT_TIMESTAMP, .type = &c->type };
        else
            ret->integer = m->timestamp_ms * 1000;
        return OK;
    case KAFKA_HEADERS: return headers_value(a, m, &c->type, ret, err);
    default: return header_value(meta, m, c, ret, err);
    }
}

static Status metas(KafkaShape *s, Arena *a, const KafkaMessage *m, Value *cells, Error *err)
{
    size_t at = s->columns.n - s->metas.n;

    for (size_t i = 0; i < s->metas.n; i++)
        TRY(meta_value(a, &s->metas.p[i], m, &s->columns.p[at + i], &cells[at + i], err));
    return OK;
}

/* The cells that decoding gives become the columns of the row. */
static void place_key(const KafkaShape *s, Value *decoded, Value *cells)
{
    if (s->key_named && s->key_cells > 1) {
        cells[0] = (Value){ .kind = DT_STRUCT, .type = &s->columns.p[0].type };
        cells[0].items.p = decoded;
        cells[0].items.n = s->key_cells;
        return;
    }
    memcpy(cells, decoded, s->key_cells * sizeof *cells);
}

static Status read_key(KafkaShape *s, Arena *a, const KafkaMessage *m, KafkaRow *r, Error *err)
{
    Value *decoded = arena_array(a, Value, s->key_cells + 1);
    int gone;

    for (size_t i = 0; i < s->nkey; i++)
        r->cells[i] = null_of(&s->columns.p[i]);
    if (!m->has_key && s->envelope != KAFKA_NONE)
        return FAIL(err, E_INVALID, "record with NULL key in UPSERT source; to retract this error, produce a record upstream with a NULL key and NULL value");
    if (!m->has_key || (s->envelope == KAFKA_NONE && !s->key_in_row))
        return OK;
    TRY_CTX(format_decode(s->key, a, m->key, decoded, &gone, err), err, "key");
    r->key = decoded;
    if (!s->key_in_row)
        return OK;
    place_key(s, decoded, r->cells);
    r->key = r->cells;
    return OK;
}

static void error_row(KafkaShape *s, Arena *a, Value *cells, const Error *why)
{
    const SourceColumn *c = &s->columns.p[s->nkey + s->nvalue];
    Value *text = arena_new(a, Value);

    for (size_t i = 0; i < s->nvalue; i++)
        cells[s->nkey + i] = null_of(&s->columns.p[s->nkey + i]);
    *text = (Value){ .kind = DT_STRING, .type = &c->type.children[0], .string = str_dup(a, str_c(why->message)) };
    cells[s->nkey + s->nvalue] = (Value){ .kind = DT_STRUCT, .type = &c->type };
    cells[s->nkey + s->nvalue].items.p = text;
    cells[s->nkey + s->nvalue].items.n = 1;
}

static Status read_value(KafkaShape *s, Arena *a, const KafkaMessage *m, KafkaRow *r, int *gone, Error *err)
{
    Status st = format_decode(s->value, a, m->value, r->cells + s->nkey, gone, err);

    if (st == OK && s->inline_errors)
        r->cells[s->nkey + s->nvalue] = null_of(&s->columns.p[s->nkey + s->nvalue]);
    if (st == OK || !s->inline_errors || !format_is_poison(st))
        return st;
    error_row(s, a, r->cells, err);
    return OK;
}

Status kafka_row(KafkaShape *s, Arena *a, const KafkaMessage *m, KafkaRow *r, Error *err)
{
    int gone = !m->has_value;

    *r = (KafkaRow){ .verb = KAFKA_SKIP };
    if (!m->has_value && s->envelope == KAFKA_NONE)
        return OK;
    r->cells = arena_array(a, Value, s->columns.n);
    if (s->key)
        TRY(read_key(s, a, m, r, err));
    if (m->has_value)
        TRY_CTX(read_value(s, a, m, r, &gone, err), err, "value");
    if (!gone)
        TRY(metas(s, a, m, r->cells, err));
    r->verb = gone ? KAFKA_DELETE : s->envelope == KAFKA_NONE ? KAFKA_INSERT : KAFKA_PUT;
    return OK;
}
