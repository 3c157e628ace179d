/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_life.c - what connections of one service share: keys that are remembered, where the server's own doors are, the environment's id.
 *
 * Invariant: everything here is read and changed under the lock; what is given out is copied. */
#include "service/live_connection_int.h"

#include <stdlib.h>
#include <time.h>

struct Connections *connections_new(void)
{
    struct Connections *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->reached, NULL);
    c->a = arena_create();
    c->sources = map_new(c->a);
    c->keys_arena = arena_create();
    c->taken = map_new(c->keys_arena);
    return c;
}

void connections_free(struct Connections *c)
{
    if (!c)
        return;
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->reached);
    arena_destroy(c->a);
    arena_destroy(c->keys_arena);
    free(c);
}

void conn_forget_keys(struct Connections *c)
{
    arena_destroy(c->keys_arena);
    c->keys_arena = arena_create();
    c->taken = map_new(c->keys_arena);
}

void connections_forget(struct Connections *c)
{
    pthread_mutex_lock(&c->lock);
    conn_forget_keys(c);
    c->environment = (Str){0};
    pthread_mutex_unlock(&c->lock);
}

void connections_stop(struct Connections *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = 1;
    pthread_cond_broadcast(&c->reached);
    pthread_mutex_unlock(&c->lock);
}

/* ---- where the doors are ----------------------------------------------------------------------------------------------------------------------------- */

void service_reach(Service *s, Str lake, Str manage)
{
    struct Connections *c = s->connections;

    pthread_mutex_lock(&c->lock);
    c->lake = str_dup(c->a, lake);
    c->manage = str_dup(c->a, manage);
    pthread_cond_broadcast(&c->reached);
    pthread_mutex_unlock(&c->lock);
}

static bool door_url(Service *s, Arena *a, const Str *door, int64_t wait_ms, Str *ret)
{
    struct Connections *c = s->connections;
    int64_t until = clock_ms() + wait_ms;
    struct timespec at = { .tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000 };
    int late = 0;

    pthread_mutex_lock(&c->lock);
    while (!door->n && !late && !c->stopping)
        late = pthread_cond_timedwait(&c->reached, &c->lock, &at);
    *ret = str_dup(a, *door);
    pthread_mutex_unlock(&c->lock);
    return ret->n > 0;
}

bool service_lake_url(Service *s, Arena *a, int64_t wait_ms, Str *ret) { return door_url(s, a, &s->connections->lake, wait_ms, ret); }
bool service_manage_url(Service *s, Arena *a, int64_t wait_ms, Str *ret) { return door_url(s, a, &s->connections->manage, wait_ms, ret); }

/* ---- who we are ----------------------------------------------------------------------------------------------------------------------------------------- */

static const char *const ENVIRONMENT = "live.environment";

static Status load_environment(Service *s, Arena *a, Str *ret, Error *err)
{
    Json *j;
    Status st = cat_doc_get(s->catalog, a, str_c(ENVIRONMENT), S("id"), &j, err);

    if (st == OK)
        return json_need_str(j, "uuid", ret, err);
    if (st != E_NOT_FOUND)
        return st;
    *ret = uuid_v4(a);
    j = json_object(a);
    json_set(a, j, "uuid", json_str(a, *ret));
    CatChange ch = { .kind = CH_DOC, .doc_kind = str_c(ENVIRONMENT), .doc_key = S("id"), .doc = j };
    return cat_commit(s->catalog, &ch, 1, err);
}

Status connection_environment(Service *s, Arena *a, Str *ret, Error *err)
{
    struct Connections *c = s->connections;
    Status st = OK;

    pthread_mutex_lock(&c->lock);
    if (!c->environment.n) {
        st = load_environment(s, a, ret, err);
        if (st == OK)
            c->environment = str_dup(c->a, *ret);
    }
    *ret = st == OK ? str_dup(a, c->environment) : (Str){0};
    pthread_mutex_unlock(&c->lock);
    return st;
}
