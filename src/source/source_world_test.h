/* SPDX-License-Identifier: Apache-2.0 */
/* source_world_test.h - for tests: an engine, a live side in a file, and sources whose options are a text. */
#ifndef FIRN_SOURCE_WORLD_TEST_H
#define FIRN_SOURCE_WORLD_TEST_H

#include "source/source_int.h"
#include "test.h"

#include <stdio.h>
#include <unistd.h>

typedef struct World {
    Arena *a;
    DuckEngine *engine;
    DuckConn *db;
    Live *live;
    Sources *sources;
    SourceOutputs outputs;
    char path[64];
    Str options;
    struct rd_kafka_s *producer;                    /* of the tests of Kafka */
    struct rd_kafka_mock_cluster_s *cluster;
} World;

static int keep(void *ctx UNUSED, int64_t id UNUSED) { return 1; }

static Status options_of(void *ctx, Arena *a, int64_t id UNUSED, Json **ret, Error *err)
{
    World *w = ctx;
    return json_parse(a, w->options, ret, err);
}

static void open_world(World *w)
{
    DuckOptions o = { .threads = 2 };
    Error err;

    assert_ok(duck_open(&o, &w->engine, &err), &err);
    assert_ok(duck_connect(w->engine, &w->db, &err), &err);
    LiveSetup lo = { .engine = w->engine, .path = str_c(w->path), .keep = keep };
    assert_ok(live_open(&lo, &w->live, &err), &err);
    SourcesOptions so = { .live = w->live, .engine = w->engine, .ctx = w, .options = options_of };
    w->sources = sources_new(&so);
    sources_wake(w->sources);
}

static void close_world(World *w)
{
    sources_free(w->sources);
    live_close(w->live);
    duck_disconnect(w->db);
    duck_close(w->engine);
}

static void remove_files(const World *w)
{
    char wal[80];
    snprintf(wal, sizeof wal, "%s.wal", w->path);
    unlink(w->path);
    unlink(wal);
}

#endif
