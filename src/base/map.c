/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - open addressing over an array of entries that keeps insertion order.
 *
 * Invariants: (1) a slot holds 1 + the index of its entry, 0 means free; (2) deletion closes the gap in the
 * entries and rebuilds the slots: maps are small or never shrink. */
#include "base/base.h"

Map map_new(Arena *a) { return (Map){ .a = a }; }

static uint64_t hash(Str s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static uint32_t *slot_of(const Map *m, Str key)
{
    size_t i = hash(key) & (m->nslots - 1);
    while (m->slots[i] && !str_eq(m->entries[m->slots[i] - 1].key, key))
        i = (i + 1) & (m->nslots - 1);
    return &m->slots[i];
}

static void rebuild(Map *m, size_t nslots)
{
    m->slots = arena_array(m->a, uint32_t, nslots);
    m->nslots = nslots;
    for (size_t i = 0; i < m->n; i++)
        *slot_of(m, m->entries[i].key) = (uint32_t)i + 1;
}

static MapEntry *find(const Map *m, Str key)
{
    if (!m->n)
        return NULL;
    uint32_t s = *slot_of(m, key);
    return s ? &m->entries[s - 1] : NULL;
}

void *map_get(const Map *m, Str key)
{
    MapEntry *e = find(m, key);
    return e ? e->value : NULL;
}

bool map_has(const Map *m, Str key) { return find(m, key) != NULL; }

void map_put(Map *m, Str key, void *value)
{
    MapEntry *e = find(m, key);
    if (e) {
        e->value = value;
        return;
    }
    if (m->n == m->cap)
        vec_grow_(m->a, (void **)&m->entries, &m->cap, sizeof(MapEntry));
    m->entries[m->n++] = (MapEntry){ key, value };
    if (m->n * 2 > m->nslots)
        rebuild(m, m->nslots ? m->nslots * 2 : 16);
    else
        *slot_of(m, key) = (uint32_t)m->n;
}

bool map_del(Map *m, Str key)
{
    MapEntry *e = find(m, key);
    if (!e)
        return false;
    memmove(e, e + 1, (size_t)(m->entries + --m->n - e) * sizeof *e);
    rebuild(m, m->nslots);
    return true;
}

static KeyValue *prop(const Props *p, Str key)
{
    for (size_t i = 0; i < p->n; i++)
        if (str_eq(p->p[i].key, key))
            return &p->p[i];
    return NULL;
}

Str props_get(const Props *p, Str key, Str fallback)
{
    KeyValue *kv = prop(p, key);
    return kv ? kv->value : fallback;
}

bool props_has(const Props *p, Str key) { return prop(p, key) != NULL; }

void props_set(Arena *a, Props *p, Str key, Str value)
{
    KeyValue *kv = prop(p, key);
    if (kv)
        kv->value = value;
    else
        vec_push(a, p, ((KeyValue){ key, value }));
}

bool props_del(Props *p, Str key)
{
    KeyValue *kv = prop(p, key);
    if (!kv)
        return false;
    memmove(kv, kv + 1, (size_t)(p->p + --p->n - kv) * sizeof *kv);
    return true;
}
