/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_place.c - how far each partition was read, as the note that is written with the rows:
 * {"outputs": {"<relation>": [[partition, next, last, time, bytes], …], …}}. A relation that is not in it begins at the beginning. */
#include "source/source_kafka_int.h"

static Status read_place(const Json *j, KafkaPlace *ret, Error *err)
{
    int64_t v[5];

    for (size_t i = 0; i < COUNT_OF(v); i++) {
        if (!json_is(json_at(j, i), JSON_INT))
            return FAIL(err, E_CORRUPT, "offsets: a partition's place is not five numbers");
        v[i] = json_at(j, i)->integer;
    }
    if (v[0] < 0 || v[0] >= KAFKA_PARTITIONS_MAX || v[1] < 0 || v[2] < -1 || v[2] >= v[1])
        return FAIL(err, E_CORRUPT, "offsets: partition %lld at %lld", (long long)v[0], (long long)v[1]);
    *ret = (KafkaPlace){ .partition = (int32_t)v[0], .next = v[1], .last = v[2], .last_ms = v[3], .last_bytes = v[4], .verify = v[2] >= 0 };
    return OK;
}

Status kafka_places_read(Arena *a, Str note, int64_t relation, KafkaPlaces *ret, Error *err)
{
    Json *j, *outputs, *list;

    *ret = (KafkaPlaces){0};
    if (!note.n)
        return OK;
    TRY_CTX(json_parse(a, note, &j, err), err, "offsets");
    TRY_CTX(json_need(j, "outputs", JSON_OBJECT, &outputs, err), err, "offsets");
    list = json_get(outputs, str_fmt(a, "%lld", (long long)relation).p);
    for (size_t i = 0; i < json_len(list); i++) {
        KafkaPlace p;
        TRY(read_place(json_at(list, i), &p, err));
        if (kafka_place(ret, p.partition))
            return FAIL(err, E_CORRUPT, "offsets: partition %d twice", p.partition);
        vec_push(a, ret, p);
    }
    return OK;
}

void kafka_places_write(StrBuf *b, int64_t relation, const KafkaPlaces *places)
{
    sb_fmt(b, "%s\"%lld\":[", b->n ? "," : "{\"outputs\":{", (long long)relation);
    for (size_t i = 0; i < places->n; i++) {
        const KafkaPlace *p = &places->p[i];
        sb_fmt(b, "%s[%d,%lld,%lld,%lld,%lld]", i ? "," : "", p->partition, (long long)p->next, (long long)p->last, (long long)p->last_ms, (long long)p->last_bytes);
    }
    sb_byte(b, ']');
}

Str kafka_places_end(StrBuf *b, const Json *bad)
{
    sb_addc(b, b->n ? "}" : "{\"outputs\":{}");
    if (json_len(bad)) {
        sb_addc(b, ",\"bad\":");
        json_write(b, bad);
    }
    sb_addc(b, "}");
    return sb_str(b);
}

/* They are in order of their partitions most of the time. */
KafkaPlace *kafka_place(KafkaPlaces *p, int32_t partition)
{
    if (partition >= 0 && (size_t)partition < p->n && p->p[partition].partition == partition)
        return &p->p[partition];
    for (size_t i = 0; i < p->n; i++)
        if (p->p[i].partition == partition)
            return &p->p[i];
    return NULL;
}
