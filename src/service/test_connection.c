/* SPDX-License-Identifier: Apache-2.0 */
/* test_connection.c - connections without a session: what they say of themselves, what connectors get of them, who waits for the doors. */
#include "access/iam.h"
#include "base/test.h"
#include "service/live_connection.h"

#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "123456789012"
#define ROLE "arn:aws:iam::" ACCOUNT ":role/r"

typedef struct Env { Arena *a; char dir[64]; Service s; Error err; } Env;

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-con-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S(ACCOUNT), S("eu-west-1"), &e->s.catalog, &e->err), &e->err);
    assert_ok(objects_open(e->s.catalog, &e->s.objects, &e->err), &e->err);
    e->s.access = access_new(e->s.catalog);
    e->s.connections = connections_new();
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };

    connections_free(e->s.connections);
    access_free(e->s.access);
    objects_close(e->s.objects);
    cat_close(e->s.catalog);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* A connection whose options are this JSON. */
static int64_t connection(Env *e, const char *name, const char *type, const char *options)
{
    Object o = { .id = objects_next_id(e->s.objects), .kind = OBJ_CONNECTION, .database = S("materialize"), .schema = S("public"), .name = str_c(name), .owner = S("s1"), .type = str_c(type) };
    Json *j;

    assert_ok(json_parse(e->a, str_c(options), &j, &e->err), &e->err);
    o.detail = json_object(e->a);
    json_set(e->a, o.detail, "options", j);
    assert_ok(objects_put(e->s.objects, &o, &e->err), &e->err);
    return o.id;
}

static void test_what_an_aws_connection_says(void **state)
{
    Env *e = *state;
    AwsConnections all = {0};
    Str env, again;
    Json *j;

    int64_t id = connection(e, "role", "aws", "{\"ASSUME ROLE ARN\":{\"text\":\"" ROLE "\"},\"REGION\":{\"text\":\"us-west-2\"}}");
    (void)connection(e, "keys", "aws", "{\"ACCESS KEY ID\":{\"text\":\"AK\"},\"SECRET ACCESS KEY\":{\"secret\":77},\"ENDPOINT\":{\"text\":\"minio:9000\"}}");
    (void)connection(e, "other", "kafka", "{\"BROKER\":{\"list\":[\"a:1\"]}}");
    assert_ok(connection_environment(&e->s, e->a, &env, &e->err), &e->err);
    assert_int_equal(env.n, 36);
    assert_ok(connection_list_aws(&e->s, e->a, &all, &e->err), &e->err);
    assert_int_equal(all.n, 2);
    assert_str(all.p[0].external_id, str_fmt(e->a, "mz_" STR_FMT "_u%lld", STR_ARG(env), (long long)id).p);
    assert_str(all.p[0].principal, "arn:aws:iam::" ACCOUNT ":role/MaterializeConnection");
    assert_str(all.p[0].region, "us-west-2");
    assert_ok(json_parse(e->a, all.p[0].example_trust_policy, &j, &e->err), &e->err);
    const Json *st = json_at(json_get(j, "Statement"), 0);
    assert_str(json_get_str(json_get(st, "Principal"), "AWS", (Str){0}), "arn:aws:iam::" ACCOUNT ":role/MaterializeConnection");
    assert_true(str_eq(json_get_str(json_get(json_get(st, "Condition"), "StringEquals"), "sts:ExternalId", (Str){0}), all.p[0].external_id));
    assert_str(all.p[1].access_key_id, "AK");
    assert_int_equal(all.p[1].secret_access_key_secret, 77);
    assert_int_equal(all.p[1].external_id.n, 0);

    connections_free(e->s.connections);                /* another start: the environment is the same */
    e->s.connections = connections_new();
    assert_ok(connection_environment(&e->s, e->a, &again, &e->err), &e->err);
    assert_true(str_eq(env, again));
}

static void test_what_connectors_get(void **state)
{
    Env *e = *state;
    Json *o;

    int64_t k = connection(e, "k", "kafka", "{\"BROKER\":{\"list\":[\"a:1\"]},\"SECURITY PROTOCOL\":{\"text\":\"PLAINTEXT\"}}");
    int64_t p = connection(e, "p", "postgres", "{\"HOST\":{\"text\":\"h\"},\"PORT\":{\"number\":\"5433\"},\"USER\":{\"text\":\"u\"},\"SSL MODE\":{\"text\":\"required\"}}");
    int64_t lost = connection(e, "lost", "postgres", "{\"HOST\":{\"text\":\"h\"},\"PASSWORD\":{\"secret\":4711}}");
    assert_ok(connection_options(&e->s, e->a, k, &o, &e->err), &e->err);
    assert_str(json_get_str(o, "broker", (Str){0}), "a:1");
    assert_str(json_at(json_get(o, "brokers"), 0)->string, "a:1");
    assert_str(json_get_str(o, "security protocol", (Str){0}), "PLAINTEXT");
    assert_ok(connection_options(&e->s, e->a, p, &o, &e->err), &e->err);
    assert_int_equal(json_get_int(o, "port", 0), 5433);
    assert_str(json_get_str(o, "username", (Str){0}), "u");
    assert_str(json_get_str(o, "ssl mode", (Str){0}), "require");
    assert_str(json_get_str(o, "type", (Str){0}), "postgres");
    assert_status(connection_options(&e->s, e->a, lost, &o, &e->err), E_INTERNAL);
    assert_string_equal(e->err.message, "internal error: failed to read password from secret store");
    assert_status(connection_options(&e->s, e->a, 999, &o, &e->err), E_NOT_FOUND);
}

static void test_keys(void **state)
{
    Env *e = *state;
    AwsKeys keys;

    int64_t plain = connection(e, "plain", "aws", "{\"ACCESS KEY ID\":{\"text\":\"AK\"},\"SECRET ACCESS KEY\":{\"text\":\"no secret at all\"}}");
    int64_t role = connection(e, "role", "aws", "{\"ASSUME ROLE ARN\":{\"text\":\"" ROLE "\"}}");
    int64_t kafka = connection(e, "kafka", "kafka", "{}");
    RemoteCatalog *c = NULL;

    assert_ok(connection_keys(&e->s, e->a, plain, &keys, &e->err), &e->err);
    assert_str(keys.access_key, "AK");
    assert_status(connection_keys(&e->s, e->a, kafka, &keys, &e->err), E_INVALID);
    assert_status(connection_keys(&e->s, e->a, role, &keys, &e->err), E_INVALID);          /* no endpoint, no key of firn's own */
    assert_string_equal(e->err.message, "internal error: no AWS connection role configured");
    e->s.options.aws_key = S("AKIAELSEWHERE");
    assert_status(connection_keys(&e->s, e->a, role, &keys, &e->err), E_INVALID);          /* a key, no role to take */
    assert_non_null(strstr(e->err.hint, "aws.connection_role_arn"));
    service_reach(&e->s, S("http://127.0.0.1:1"), S("http://127.0.0.1:2"));
    assert_status(connection_open_catalog(&e->s, role, &c, &e->err), E_INVALID);
    assert_null(c);
}

/* ---- the doors --------------------------------------------------------------------------------------------------------------------- */

typedef struct Waiter { Service *s; int64_t ms; bool got; } Waiter;

static void *wait_for_lake(void *arg)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Waiter *w = arg;
    Str url;
    int64_t from = clock_mono_us();

    w->got = service_lake_url(w->s, a, 20000, &url);
    w->ms = (clock_mono_us() - from) / 1000;
    return NULL;
}

static Waiter waited(Env *e, void (*then)(Env *e))
{
    Waiter w = { .s = &e->s };
    pthread_t t;

    assert_int_equal(pthread_create(&t, NULL, wait_for_lake, &w), 0);
    usleep(50000);
    then(e);
    pthread_join(t, NULL);
    return w;
}

static void reach(Env *e) { service_reach(&e->s, S("http://127.0.0.1:9090"), S("http://127.0.0.1:9091")); }
static void stop(Env *e) { connections_stop(e->s.connections); }

static void test_doors(void **state)
{
    Env *e = *state;
    Str url;

    assert_false(service_lake_url(&e->s, e->a, 20, &url));
    Waiter w = waited(e, reach);
    assert_true(w.got && w.ms < 15000);
    assert_true(service_manage_url(&e->s, e->a, 0, &url));
    assert_str(url, "http://127.0.0.1:9091");
}

static void test_a_service_that_closes(void **state)
{
    Env *e = *state;
    Waiter w = waited(e, stop);

    assert_true(!w.got && w.ms < 15000);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_what_an_aws_connection_says), T(test_what_connectors_get), T(test_keys), T(test_doors), T(test_a_service_that_closes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
