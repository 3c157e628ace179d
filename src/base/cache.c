/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - shared values by key, in two generations.
 *
 * What is asked for moves to the young generation; when that has grown to half of what may be kept, the old one goes and the young one
 * takes its place.  So nothing is ordered at each look, and what nobody asked for in between is what goes. */
#include "base/base.h"

#include <pthread.h>
#include <stdlib.h>

enum { ENTRY_BYTES = 128 };          /* what a key and its place cost beside the value */

typedef struct Generation { Arena *arena; Map values; size_t bytes; } Generation;
typedef struct Kept { void *value; size_t bytes; } Kept;
struct Cache { pthread_mutex_t lock; size_t max_bytes; void *(*ref)(void *value); void (*unref)(void *value); Generation young, old; };

static Generation generation_new(void)
{
    Arena *a = arena_create();
    return (Generation){ .arena = a, .values = map_new(a) };
}

static void generation_done(Cache *c, Generation *g)
{
    for (size_t i = 0; i < g->values.n; i++)
        c->unref(((Kept *)g->values.entries[i].value)->value);
    arena_destroy(g->arena);
}

Cache *cache_new(size_t max_bytes, void *(*ref)(void *value), void (*unref)(void *value))
{
    Cache *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    *c = (Cache){ .max_bytes = max_bytes, .ref = ref, .unref = unref, .young = generation_new(), .old = generation_new() };
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void cache_free(Cache *c)
{
    if (!c)
        return;
    generation_done(c, &c->young);
    generation_done(c, &c->old);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static void put_young(Cache *c, Str key, const Kept *k)
{
    Kept *mine;

    if (map_has(&c->young.values, key))
        return;                                             /* two have made the same */
    mine = arena_new(c->young.arena, Kept);
    *mine = (Kept){ c->ref(k->value), k->bytes };
    map_put(&c->young.values, str_dup(c->young.arena, key), mine);
    c->young.bytes += k->bytes + key.n + ENTRY_BYTES;
    if (c->young.bytes < c->max_bytes / 2)
        return;
    generation_done(c, &c->old);
    c->old = c->young;
    c->young = generation_new();
}

void *cache_get(Cache *c, Str key)
{
    void *value = NULL;

    pthread_mutex_lock(&c->lock);
    const Kept *k = map_get(&c->young.values, key), *old = k ? NULL : map_get(&c->old.values, key);
    if (k || old)
        value = c->ref((k ? k : old)->value);               /* before its generation may go */
    if (old)
        put_young(c, key, old);
    pthread_mutex_unlock(&c->lock);
    return value;
}

void cache_put(Cache *c, Str key, void *value, size_t bytes)
{
    pthread_mutex_lock(&c->lock);
    put_young(c, key, &(Kept){ value, bytes });
    pthread_mutex_unlock(&c->lock);
}
