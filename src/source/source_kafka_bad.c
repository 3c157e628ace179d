/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_bad.c - keys of ENVELOPE UPSERT whose newest value cannot be decoded.
 *
 * Such a key has no row, and reads of the output fail until the key gets a value that can be decoded, or a tombstone.  Which keys those are is written with the rows, in the note
 * of the places: {"bad": {"<relation>": [[hash of the key, error], …]}}.  There may be so many; one more stalls the source before it. */
#include "source/source_kafka_int.h"

enum { BAD_MAX = 1000, BAD_TEXT = 300 };

Status kafka_bad_read(Arena *a, Str note, int64_t relation, KafkaBad *ret, Error *err)
{
    Json *j;

    *ret = (KafkaBad){0};
    if (!note.n)
        return OK;
    TRY_CTX(json_parse(a, note, &j, err), err, "offsets");
    const Json *list = json_get(json_get(j, "bad"), str_fmt(a, "%lld", (long long)relation).p);
    for (size_t i = 0; i < json_len(list) && i < BAD_MAX; i++) {
        const Json *key = json_at(json_at(list, i), 0), *error = json_at(json_at(list, i), 1);
        if (!json_is(key, JSON_STRING) || !json_is(error, JSON_STRING))
            return FAIL(err, E_CORRUPT, "offsets: a key that cannot be decoded is not two texts");
        KafkaBadKey one = { key->string, error->string };
        vec_push(a, ret, one);
    }
    return OK;
}

Json *kafka_bad_json(Arena *a, const KafkaBad *b)
{
    Json *list = json_array(a);

    for vec_each(const KafkaBadKey, k, b) {
        Json *one = json_array(a);
        json_push(a, one, json_str(a, k->key));
        json_push(a, one, json_str(a, k->error));
        json_push(a, list, one);
    }
    return list;
}

/* The key as its bytes say, whatever they decode to. */
static Str name_of(Arena *a, const KafkaMessage *m) { return hash_hex(a, HASH_SHA256, m->key); }

static KafkaBadKey *find(KafkaBad *b, Str key)
{
    for (size_t i = 0; i < b->n; i++)
        if (str_eq(b->p[i].key, key))
            return &b->p[i];
    return NULL;
}

/* What a value quotes may be any bytes. */
static Str text_of(Arena *a, const char *message)
{
    Str s = str_dup(a, str_sub(str_c(message), 0, BAD_TEXT));

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 32 || (unsigned char)s.p[i] > 126)
            ((char *)s.p)[i] = '?';
    return s;
}

Status kafka_bad_mark(KafkaTopic *t, Arena *scratch, const KafkaMessage *m, const Error *why, Error *err)
{
    Str key = name_of(scratch, m);
    KafkaBadKey *k = find(&t->bad, key);

    if (!k && t->bad.n == BAD_MAX)
        return FAIL(err, E_LIMIT, "topic " STR_FMT ", partition %d, offset %lld: %d keys have values that cannot be decoded already: %s", STR_ARG(t->k.topic), m->partition, (long long)m->offset, BAD_MAX,
                    why->message);
    if (!k) {
        KafkaBadKey one = { .key = str_dup(t->a, key) };
        vec_push(t->a, &t->bad, one);
        k = &vec_last(&t->bad);
    }
    k->error = text_of(t->a, why->message);
    return OK;
}

void kafka_bad_clear(KafkaTopic *t, Arena *scratch, const KafkaMessage *m)
{
    KafkaBadKey *k = t->bad.n && m->has_key ? find(&t->bad, name_of(scratch, m)) : NULL;

    if (k)
        *k = t->bad.p[--t->bad.n];
}

/* After each commit: a tick has made the views over it anew. */
void kafka_bad_tell(KafkaTopic *t)
{
    if (!t->bad.n && !t->failing)
        return;
    t->failing = t->bad.n > 0;
    source_output_error(t->r, t->output, t->bad.n ? str_cat(t->a, S("Envelope error: Upsert: Value error: "), t->bad.p[0].error) : (Str){0});
}
