/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rest.c - requests to the Iceberg REST door: the first line is "METHOD raw-path?query", the rest is the body.
 *
 * The door runs over a memory store and a catalog of its own with a namespace, two tables and a view.  Every request gets an answer
 * that is JSON or empty, and whatever it did, the first table still loads or is gone. */
#include "door/rest/rest_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SCHEMA "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":false}]}"

static struct { Store *store; Catalog *catalog; Access *access; RestDoor *door; char dir[64]; unsigned n; } world;

static int run(Str method, Str path, Str query, Str body, Str *answer, Arena *a)
{
    HttpRequest r = { .arena = a, .method = method, .path = path, .query = query, .length = SOME_I64((int64_t)body.n), .loopback = 1,
                      .request_id = S("fuzz") };
    HttpAnswer ans = { .status = 200, .fd = -1 };
    RestCall c = { .d = world.door, .r = &r, .ret = &ans, .a = a, .body = body, .has_body = 1 };
    Error ignored;

    if (url_query_parse(a, query, &r.args, &ignored) != OK)
        r.args = (Props){0};
    rest_dispatch(&c);
    *answer = ans.body;
    return ans.status;
}

static void post(const char *path, const char *body)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str answer;
    run(S("POST"), str_c(path), (Str){0}, str_c(body), &answer, a);
}

static void forget(void)
{
    static const char *const names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };
    char path[128];
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", world.dir, names[i]);
        unlink(path);
    }
    rmdir(world.dir);
}

static void fresh(void)
{
    Error err;

    if (cat_reset(world.catalog, &err) != OK || store_reset(world.store, &err) != OK)
        abort();
    post("/iceberg/v1/namespaces", "{\"namespace\":[\"ns\"]}");
    post("/iceberg/v1/namespaces/ns/tables", "{\"name\":\"t\",\"schema\":" SCHEMA "}");
    post("/iceberg/v1/namespaces/ns/tables", "{\"name\":\"u\",\"schema\":" SCHEMA "}");
    post("/iceberg/v1/namespaces/ns/views", "{\"name\":\"v\",\"schema\":" SCHEMA ",\"properties\":{},\"view-version\":{\"version-id\":1,"
         "\"timestamp-ms\":1,\"schema-id\":0,\"summary\":{},\"default-namespace\":[\"ns\"],\"representations\":[{\"type\":\"sql\","
         "\"sql\":\"select 1\",\"dialect\":\"spark\"}]}}");
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    Error err;
    char path[128];

    (void)argc, (void)argv;
    log_setup(LOG_ERROR, false);
    strcpy(world.dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/firn-fuzz-XXXXXX" : "/tmp/firn-fuzz-XXXXXX");
    if (!mkdtemp(world.dir))
        abort();
    atexit(forget);
    snprintf(path, sizeof path, "%s/catalog.db", world.dir);
    if (store_open_memory(&world.store, &err) != OK || cat_open(str_c(path), S("123456789012"), S("us-east-1"), &world.catalog, &err) != OK)
        abort();
    world.access = access_new(world.catalog);
    RestOptions o = { .svc = { .catalog = world.catalog, .access = world.access, .store = world.store }, .auth_off = 1 };
    world.door = rest_new(&o);
    fresh();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str line, body, method, target, path, query, answer;
    Error err;
    Json *j;

    str_cut(str_n((const char *)data, size), '\n', &line, &body);
    str_cut(line, ' ', &method, &target);
    str_cut(target, '?', &path, &query);
    if (!str_starts(path, S("/iceberg")))
        path = str_cat(a, S("/iceberg/v1/"), path);
    run(method, path, query, body, &answer, a);
    if (answer.n > 0 && json_parse(a, answer, &j, &err) != OK)
        abort();
    int status = run(S("GET"), S("/iceberg/v1/namespaces/ns/tables/t"), (Str){0}, (Str){0}, &answer, a);
    if (status != 200 && status != 404)
        abort();
    if (++world.n % 64 == 0 || status == 404)
        fresh();
    return 0;
}
