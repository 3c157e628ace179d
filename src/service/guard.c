/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - proof before reading, and the scrub.
 *
 * Known-good files are remembered by path with the size, time and inode they had when their SHA-256 matched the evidence.  A file that
 * still looks so is read at once; any other file of a managed view is hashed first.
 *
 * Invariants: (1) a file of a managed view is never read unproven in this process's life unless it looks as it did when it was proven;
 * (2) the first mismatch quarantines the view through refresh_verify, which names the file. */
#include "service/guard.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

typedef struct Look { int64_t size, mtime_ns; uint64_t inode; } Look;

struct Guard {
    Service *svc;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Arena *arena;
    Map proven;                       /* object location: Look */
    GuardState state;
    pthread_t thread;
    int started, stop;
};

Guard *guard_new(Service *s)
{
    Guard *g = calloc(1, sizeof *g);
    pthread_condattr_t attr;

    *g = (Guard){ .svc = s, .arena = arena_create() };
    g->proven = map_new(g->arena);
    pthread_mutex_init(&g->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&g->wake, &attr);
    pthread_condattr_destroy(&attr);
    return g;
}

GuardState guard_state(Guard *g)
{
    pthread_mutex_lock(&g->lock);
    GuardState s = g->state;
    pthread_mutex_unlock(&g->lock);
    return s;
}

/* ---- before a read (1) ----------------------------------------------------------------------------------------------------- */

static bool look_at(Guard *g, Arena *a, Str uri, Look *ret)
{
    struct stat st;
    Str local;
    Error ignored;

    if (store_local_path(g->svc->store, a, uri, &local, &ignored) != OK || stat(local.p, &st) != 0)
        return false;
    *ret = (Look){ st.st_size, (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec, st.st_ino };
    return true;
}

static bool known_good(Guard *g, Str uri, const Look *now)
{
    pthread_mutex_lock(&g->lock);
    const Look *was = map_get(&g->proven, uri);
    bool same = was && memcmp(was, now, sizeof *now) == 0;
    pthread_mutex_unlock(&g->lock);
    return same;
}

static void remember(Guard *g, Str uri, const Look *look)
{
    pthread_mutex_lock(&g->lock);
    Look *l = map_get(&g->proven, uri);
    if (!l) {
        l = arena_new(g->arena, Look);
        map_put(&g->proven, str_dup(g->arena, uri), l);
    }
    *l = *look;
    pthread_mutex_unlock(&g->lock);
}

/* Only what is new or looks different is read again. */
static int still_good(void *ctx, Arena *a, Str path)
{
    Guard *g = ctx;
    Look look;
    return look_at(g, a, path, &look) && known_good(g, path, &look);
}

static Status quarantined(const CatRelation *rel, Str what, Error *err)
{
    RAISE(err, E_QUARANTINED, "materialized view " STR_FMT "." STR_FMT " is quarantined: " STR_FMT, STR_ARG(rel->namespace), STR_ARG(rel->name), STR_ARG(what));
    error_hint(err, "REFRESH MATERIALIZED VIEW … FULL repairs it.");
    return E_QUARANTINED;
}

static Status prove(Guard *g, Arena *a, const CatRelation *rel, Error *err)
{
    VerifyOptions o = { .files_only = 1, .quarantine = 1, .known = still_good, .known_ctx = g };
    VerifyReport report;
    CatEvidence head;
    Error none;

    Status s = refresh_verify(g->svc->refresher, a, rel->id, &o, &report, err);
    if (s == E_NOT_FOUND)
        return OK;                                    /* being made: no evidence yet */
    TRY(s);
    pthread_mutex_lock(&g->lock);
    g->state.files += report.files;
    g->state.bytes += report.bytes;
    g->state.mismatches += !report.proven;
    pthread_mutex_unlock(&g->lock);
    if (!report.proven)
        return quarantined(rel, report.what, err);    /* (2) */
    if (cat_evidence_head(g->svc->catalog, a, rel->id, &head, &none) == OK)
        for (size_t i = 0; i < json_len(json_get(head.body, "files")); i++) {
            Str path = json_get_str(json_at(json_get(head.body, "files"), i), "path", (Str){0});
            Look look;
            if (look_at(g, a, path, &look))
                remember(g, path, &look);
        }
    return OK;
}

static Status before_read(void *ctx, Arena *a, Str uri, Error *err)
{
    Guard *g = ctx;
    CatRelation rel;
    CatMview v;
    Look look;
    Error ignored;

    if (!look_at(g, a, uri, &look))
        return OK;                                    /* the read itself says what is wrong */
    if (known_good(g, uri, &look))
        return OK;
    if (cat_relation_by_location(g->svc->catalog, a, uri, &rel, &ignored) != OK || rel.kind != REL_MVIEW ||
        cat_mview_get(g->svc->catalog, a, rel.id, &v, &ignored) != OK || !v.managed) {
        remember(g, uri, &look);                      /* nothing to prove: not asked again while it looks the same */
        return OK;
    }
    return prove(g, a, &rel, err);
}

LakeHooks guard_hooks(Guard *g) { return (LakeHooks){ .ctx = g, .before_read = before_read }; }

/* ---- the scrub -------------------------------------------------------------------------------------------------------------------- */

static bool pause_for(Guard *g, int64_t us)
{
    int64_t until = clock_mono_us() + us;
    struct timespec ts = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };

    pthread_mutex_lock(&g->lock);
    while (!g->stop && clock_mono_us() < until)
        pthread_cond_timedwait(&g->wake, &g->lock, &ts);
    bool stop = g->stop;
    pthread_mutex_unlock(&g->lock);
    return !stop;
}

static bool scrub_view(Guard *g, const CatMview *v)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    VerifyOptions o = { .files_only = 1, .quarantine = 1 };
    VerifyReport report = {0};
    Error err;

    Status s = refresh_verify(g->svc->refresher, a, v->relation_id, &o, &report, &err);
    if (s == OK && !report.proven)
        log_event(LOG_ERROR, "scrub found a mismatch", "what", str_z(a, report.what), NULL);
    pthread_mutex_lock(&g->lock);
    g->state.files += report.files;
    g->state.bytes += report.bytes;
    g->state.mismatches += s == OK && !report.proven;
    pthread_mutex_unlock(&g->lock);
    return pause_for(g, report.bytes * 1000000 / max_i64(1, g->svc->options.scrub_bytes_s));
}

enum { ROUND_PAUSE_US = 60 * 1000000 };

static void *scrub(void *arg)
{
    Guard *g = arg;

    while (pause_for(g, ROUND_PAUSE_US)) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        CatMviews views = {0};
        Error err;
        if (cat_mview_list(g->svc->catalog, a, &views, &err) != OK)
            continue;
        for (size_t i = 0; i < views.n; i++)
            if (views.p[i].managed && !views.p[i].quarantine.n && !scrub_view(g, &views.p[i]))
                return NULL;
    }
    return NULL;
}

Status guard_start(Guard *g, Error *err)
{
    if (g->svc->options.scrub_bytes_s <= 0)
        return OK;
    if (pthread_create(&g->thread, NULL, scrub, g) != 0)
        return FAIL(err, E_IO, "the scrub's thread cannot be started");
    g->started = 1;
    return OK;
}

void guard_free(Guard *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->stop = 1;
    pthread_cond_broadcast(&g->wake);
    pthread_mutex_unlock(&g->lock);
    if (g->started)
        pthread_join(g->thread, NULL);
    arena_destroy(g->arena);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->wake);
    free(g);
}
