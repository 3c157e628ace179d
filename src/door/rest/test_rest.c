/* SPDX-License-Identifier: Apache-2.0 */
/* test_rest.c - the REST door over a real server and client: error model, paging, ETags, commits, protection, credentials, sign-in. */
#include "base/test.h"
#include "door/rest/restdoor.h"

#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT "123456789012"
#define SCHEMA "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"int\",\"required\":false}]}"

typedef struct Env {
    Arena *a;
    char dir[64];
    Catalog *c;
    Access *x;
    Store *st;
    RestDoor *d;
    HttpServer *srv;
    Str base;
    Error err;
    HttpReply reply;
    Json *json;
} Env;

static void answer(void *ctx, HttpRequest *r, HttpAnswer *ret) { rest_handle(ctx, r, ret); }

static int start(void **state, int auth_off)
{
    Env *e = calloc(1, sizeof *e);
    HttpServerOptions ho = { .addr = S("127.0.0.1"), .name = "test" };
    CatKey k = { .id = S("AKIAROOT"), .secret = S("rootsecret"), .principal = S("arn:aws:iam::" ACCOUNT ":root"), .active = 1 };

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-rest-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(store_open_memory(&e->st, &e->err), &e->err);
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S(ACCOUNT), S("us-east-1"), &e->c, &e->err), &e->err);
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    e->x = access_new(e->c);
    RestOptions o = { .svc = { .catalog = e->c, .access = e->x, .store = e->st }, .auth_off = auth_off };
    e->d = rest_new(&o);
    assert_ok(http_serve(&ho, answer, e->d, &e->srv, &e->err), &e->err);
    e->base = str_fmt(e->a, "http://127.0.0.1:%d/iceberg/v1", http_server_port(e->srv));
    return 0;
}

static int open_door(void **state) { return start(state, 1); }
static int closed_door(void **state) { return start(state, 0); }

static int stop(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };
    http_server_stop(e->srv, 1);
    rest_free(e->d);
    access_free(e->x);
    cat_close(e->c);
    store_close(e->st);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static int call(Env *e, const char *method, const char *path, const char *body)
{
    HttpCall c = { .method = method, .url = str_fmt(e->a, STR_FMT "%s", STR_ARG(e->base), path), .body = str_c(body) };
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    e->json = NULL;
    if (e->reply.body.n > 0)
        assert_ok(json_parse(e->a, e->reply.body, &e->json, &e->err), &e->err);
    return e->reply.status;
}

#define assert_call(e, wanted_, verb_, path_, text_) do { int got_ = call((e), (verb_), (path_), (text_)); \
    if (got_ != (wanted_)) fail_msg("%s %s: %d instead of %d: " STR_FMT, (verb_), (path_), got_, (wanted_), STR_ARG((e)->reply.body)); } while (0)

static void assert_error(Env *e, const char *type, const char *part)
{
    const Json *x = json_get(e->json, "error");
    assert_str(json_get_str(x, "type", (Str){0}), type);
    if (str_find(json_get_str(x, "message", (Str){0}), str_c(part)) < 0)
        fail_msg("'%s' is not in " STR_FMT, part, STR_ARG(e->reply.body));
    assert_int_equal(json_get_int(x, "code", 0), e->reply.status);
}

static void make_table(Env *e, const char *name)
{
    Str body = str_fmt(e->a, "{\"name\":\"%s\",\"schema\":" SCHEMA "}", name);
    assert_call(e, 200, "POST", "/namespaces/ns/tables", body.p);
}

static void make_ns(Env *e) { assert_call(e, 200, "POST", "/namespaces", "{\"namespace\":[\"ns\"]}"); }

static void make_managed(Env *e, Str name)
{
    CatRelation r = {0};
    make_table(e, "src");
    make_table(e, str_z(e->a, name));
    assert_ok(cat_relation_get(e->c, e->a, S(ACCOUNT), S("ns"), name, &r, &e->err), &e->err);
    CatRelation v = { .catalog = r.catalog, .namespace = r.namespace, .name = name, .kind = REL_MVIEW, .uuid = r.uuid,
                      .metadata_location = r.metadata_location, .location = r.location };
    CatMview m = { .managed = 1 };
    CatChange ch[3] = { { .kind = CH_DROP, .relation = &r }, { .kind = CH_CREATE, .relation = &v }, { .kind = CH_MVIEW, .mview = &m } };
    assert_ok(cat_commit(e->c, ch, 3, &e->err), &e->err);
}

static void test_config(void **state)
{
    Env *e = *state;
    assert_call(e, 200, "GET", "/config?warehouse=" ACCOUNT, "");
    assert_str(json_get_str(json_get(e->json, "defaults"), "s3.path-style-access", (Str){0}), "true");
    assert_true(json_len(json_get(e->json, "endpoints")) > 20);
    assert_call(e, 404, "GET", "/config?warehouse=nope", "");
    assert_error(e, "NoSuchWarehouseException", "nope");
    assert_call(e, 404, "GET", "/nothing/here/at/all", "");
    assert_call(e, 406, "PUT", "/namespaces", "");
    assert_call(e, 406, "POST", "/namespaces/ns/tables/t/plan", "{}");
    assert_error(e, "UnsupportedOperationException", "PlanTableScan");
}

static void test_namespaces(void **state)
{
    Env *e = *state;
    make_ns(e);
    assert_call(e, 409, "POST", "/namespaces", "{\"namespace\":[\"ns\"]}");
    assert_error(e, "AlreadyExistsException", "Namespace already exists: ns");
    assert_call(e, 400, "POST", "/namespaces", "{\"namespace\":[]}");
    assert_call(e, 400, "POST", "/namespaces", "{\"namespace\":");
    assert_call(e, 200, "POST", "/namespaces", "{\"namespace\":[\"ns\",\"x/y\"],\"properties\":{\"k\":\"v\"}}");
    assert_call(e, 200, "GET", "/namespaces/ns%1Fx%2Fy", "");
    assert_str(json_get_str(json_get(e->json, "properties"), "k", (Str){0}), "v");
    assert_call(e, 409, "DELETE", "/namespaces/ns", "");
    assert_error(e, "NamespaceNotEmptyException", "is not empty");
    assert_call(e, 204, "HEAD", "/namespaces/ns", "");
    assert_call(e, 404, "HEAD", "/namespaces/zz", "");
    assert_call(e, 404, "GET", "/namespaces/zz", "");
    assert_error(e, "NoSuchNamespaceException", "Namespace does not exist: zz");
}

static void test_namespace_properties(void **state)
{
    Env *e = *state;
    make_ns(e);
    assert_call(e, 200, "POST", "/namespaces/ns/properties", "{\"updates\":{\"a\":\"1\"},\"removals\":[\"gone\"]}");
    assert_int_equal(json_len(json_get(e->json, "updated")), 1);
    assert_int_equal(json_len(json_get(e->json, "missing")), 1);
    assert_call(e, 422, "POST", "/namespaces/ns/properties", "{\"updates\":{\"a\":\"1\"},\"removals\":[\"a\"]}");
    assert_error(e, "UnprocessableEntityException", "a");
}

static void test_paging(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "t1");
    make_table(e, "t2");
    make_table(e, "t3");
    assert_call(e, 200, "GET", "/namespaces/ns/tables?pageSize=2", "");              /* no token: all */
    assert_int_equal(json_len(json_get(e->json, "identifiers")), 3);
    assert_call(e, 200, "GET", "/namespaces/ns/tables?pageToken=&pageSize=2", "");
    assert_int_equal(json_len(json_get(e->json, "identifiers")), 2);
    Str token = json_get_str(e->json, "next-page-token", (Str){0});
    assert_true(token.n > 0);
    Str path = str_fmt(e->a, "/namespaces/ns/tables?pageToken=" STR_FMT "&pageSize=2", STR_ARG(url_encode(e->a, token, 0)));
    assert_call(e, 200, "GET", path.p, "");
    assert_int_equal(json_len(json_get(e->json, "identifiers")), 1);
    assert_true(json_is(json_get(e->json, "next-page-token"), JSON_NULL));
    assert_call(e, 400, "GET", "/namespaces/ns/tables?pageToken=&pageSize=x", "");
}

static void test_table_life(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "t");
    Str file = json_get_str(e->json, "metadata-location", (Str){0});
    assert_call(e, 409, "POST", "/namespaces/ns/tables", "{\"name\":\"t\",\"schema\":" SCHEMA "}");
    assert_error(e, "AlreadyExistsException", "Table already exists: ns.t");
    assert_call(e, 204, "HEAD", "/namespaces/ns/tables/t", "");
    assert_call(e, 204, "POST", "/tables/rename", "{\"source\":{\"namespace\":[\"ns\"],\"name\":\"t\"},\"destination\":{\"namespace\":[\"ns\"],\"name\":\"u\"}}");
    assert_call(e, 404, "GET", "/namespaces/ns/tables/t", "");
    assert_error(e, "NoSuchTableException", "Table does not exist: ns.t");
    make_table(e, "t");                                       /* the renamed table keeps the place, this one gets another */
    assert_call(e, 204, "DELETE", "/namespaces/ns/tables/u?purgeRequested=False", "");
    Str body = str_fmt(e->a, "{\"name\":\"back\",\"metadata-location\":\"" STR_FMT "\"}", STR_ARG(file));
    assert_call(e, 200, "POST", "/namespaces/ns/register", body.p);
    assert_call(e, 204, "DELETE", "/namespaces/ns/tables/back?purgeRequested=True", "");
    body = str_fmt(e->a, "{\"name\":\"gone\",\"metadata-location\":\"" STR_FMT "\"}", STR_ARG(file));
    assert_call(e, 404, "POST", "/namespaces/ns/register", body.p);
    assert_error(e, "NotFoundException", "Failed to open input stream for file: ");
}

static void test_etag(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "t");
    assert_call(e, 200, "GET", "/namespaces/ns/tables/t", "");
    Str etag = props_get(&e->reply.headers, S("etag"), (Str){0});
    HttpCall c = { .method = "GET", .url = str_cat(e->a, e->base, S("/namespaces/ns/tables/t")) };
    props_set(e->a, &c.headers, S("if-none-match"), etag);
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 304);
    c.url = str_cat(e->a, e->base, S("/namespaces/ns/tables/t?snapshots=refs"));
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 200);
}

#define COMMIT(rq, key, value) "{\"requirements\":[" rq "],\"updates\":[{\"action\":\"set-properties\",\"updates\":{\"" key "\":\"" value "\"}}]}"

static void test_commits(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "t");
    assert_call(e, 200, "POST", "/namespaces/ns/tables/t", COMMIT("", "k", "1"));
    assert_int_equal(json_len(json_get(json_get(e->json, "metadata"), "metadata-log")), 1);
    Str file = json_get_str(e->json, "metadata-location", (Str){0});
    assert_call(e, 200, "POST", "/namespaces/ns/tables/t", "{\"requirements\":[],\"updates\":[]}");
    assert_true(str_eq(file, json_get_str(e->json, "metadata-location", (Str){0})));      /* no effect, no file */
    assert_call(e, 409, "POST", "/namespaces/ns/tables/t", COMMIT("{\"type\":\"assert-table-uuid\",\"uuid\":\"x\"}", "k", "2"));
    assert_error(e, "CommitFailedException", "Requirement failed: UUID does not match");
    assert_call(e, 400, "POST", "/namespaces/ns/tables/t", "{\"requirements\":[],\"updates\":[{\"action\":\"no-such\"}]}");
    assert_call(e, 404, "POST", "/namespaces/ns/tables/none", COMMIT("", "k", "1"));
}

#define CHANGE(name, rq) "{\"identifier\":{\"namespace\":[\"ns\"],\"name\":\"" name "\"},\"requirements\":[" rq "]," \
    "\"updates\":[{\"action\":\"set-properties\",\"updates\":{\"both\":\"yes\"}}]}"

static bool has_prop(Env *e, const char *path, const char *key)
{
    assert_call(e, 200, "GET", path, "");
    return json_get(json_get(json_get(e->json, "metadata"), "properties"), key) != NULL;
}

static void test_transactions_are_atomic(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "x");
    make_table(e, "y");
    assert_call(e, 409, "POST", "/transactions/commit",
                "{\"table-changes\":[" CHANGE("x", "") "," CHANGE("y", "{\"type\":\"assert-table-uuid\",\"uuid\":\"no\"}") "]}");
    assert_false(has_prop(e, "/namespaces/ns/tables/x", "both"));
    assert_call(e, 204, "POST", "/transactions/commit", "{\"table-changes\":[" CHANGE("x", "") "," CHANGE("y", "") "]}");
    assert_true(has_prop(e, "/namespaces/ns/tables/x", "both") && has_prop(e, "/namespaces/ns/tables/y", "both"));
    assert_call(e, 400, "POST", "/transactions/commit", "{\"table-changes\":[" CHANGE("x", "") "," CHANGE("x", "") "]}");
}

static void test_locations(void **state)
{
    Env *e = *state;
    make_ns(e);
    make_table(e, "t");
    assert_call(e, 400, "POST", "/namespaces/ns/tables", "{\"name\":\"in\",\"location\":\"s3://firn-warehouse/ns.db/t/data\",\"schema\":" SCHEMA "}");
    assert_error(e, "BadRequestException", "lies inside the storage of ns.t");
    assert_call(e, 400, "POST", "/namespaces/ns/tables", "{\"name\":\"over\",\"location\":\"s3://firn-warehouse/ns.db\",\"schema\":" SCHEMA "}");
    assert_call(e, 400, "POST", "/namespaces/ns/tables", "{\"name\":\"f\",\"location\":\"file:/etc\",\"schema\":" SCHEMA "}");
    assert_call(e, 400, "POST", "/namespaces/ns/tables", "{\"name\":\"b\",\"location\":\"s3://absent/x\",\"schema\":" SCHEMA "}");
    assert_call(e, 400, "POST", "/namespaces/ns/tables", "{\"name\":\"g\",\"location\":\"gs://b/x\",\"schema\":" SCHEMA "}");
    assert_call(e, 200, "POST", "/namespaces/ns/tables", "{\"name\":\"t2\",\"location\":\"s3://firn-warehouse/ns.db/t2x\",\"schema\":" SCHEMA "}");
}

static void test_staged_create(void **state)
{
    Env *e = *state;
    make_ns(e);
    assert_call(e, 200, "POST", "/namespaces/ns/tables", "{\"name\":\"s\",\"stage-create\":true,\"schema\":" SCHEMA "}");
    assert_true(json_is(json_get(e->json, "metadata-location"), JSON_NULL));
    assert_call(e, 404, "HEAD", "/namespaces/ns/tables/s", "");
    const char *commit = "{\"requirements\":[{\"type\":\"assert-create\"}],\"updates\":["
        "{\"action\":\"add-schema\",\"schema\":" SCHEMA "},{\"action\":\"set-current-schema\",\"schema-id\":-1},"
        "{\"action\":\"add-spec\",\"spec\":{\"spec-id\":0,\"fields\":[]}},{\"action\":\"set-default-spec\",\"spec-id\":-1}]}";
    assert_call(e, 200, "POST", "/namespaces/ns/tables/s", commit);
    assert_call(e, 204, "HEAD", "/namespaces/ns/tables/s", "");
    assert_call(e, 409, "POST", "/namespaces/ns/tables/s", commit);
}

static void test_managed_views_are_protected(void **state)
{
    Env *e = *state;
    static const char words[] = "ns.mv: it is a system-managed materialized view";
    make_ns(e);
    make_managed(e, S("mv"));
    assert_call(e, 200, "GET", "/namespaces/ns/tables/mv", "");
    Str file = json_get_str(e->json, "metadata-location", (Str){0});
    assert_call(e, 403, "POST", "/namespaces/ns/tables/mv", COMMIT("", "k", "1"));
    assert_error(e, "ForbiddenException", words);
    assert_error(e, "ForbiddenException", "Use REFRESH MATERIALIZED VIEW");
    assert_call(e, 403, "POST", "/transactions/commit", "{\"table-changes\":[" CHANGE("src", "") "," CHANGE("mv", "") "]}");
    assert_error(e, "ForbiddenException", words);
    assert_false(has_prop(e, "/namespaces/ns/tables/src", "both"));
    assert_call(e, 403, "POST", "/tables/rename", "{\"source\":{\"namespace\":[\"ns\"],\"name\":\"mv\"},\"destination\":{\"namespace\":[\"ns\"],\"name\":\"u\"}}");
    Str body = str_fmt(e->a, "{\"name\":\"mv\",\"overwrite\":true,\"metadata-location\":\"" STR_FMT "\"}", STR_ARG(file));
    assert_call(e, 403, "POST", "/namespaces/ns/register", body.p);
    assert_call(e, 403, "POST", "/namespaces/ns/tables", "{\"name\":\"in\",\"location\":\"s3://firn-warehouse/ns.db/mv/x\",\"schema\":" SCHEMA "}");
    assert_error(e, "ForbiddenException", words);
    assert_call(e, 204, "DELETE", "/namespaces/ns/tables/mv", "");
}

static void test_quarantine(void **state)
{
    Env *e = *state;
    CatRelation r = {0};
    make_ns(e);
    make_managed(e, S("mv"));
    assert_ok(cat_relation_get(e->c, e->a, S(ACCOUNT), S("ns"), S("mv"), &r, &e->err), &e->err);
    CatMview m = { .relation_id = r.id, .managed = 1, .quarantine = S("a file changed") };
    CatChange ch = { .kind = CH_MVIEW, .mview = &m };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_call(e, 403, "GET", "/namespaces/ns/tables/mv", "");
    assert_error(e, "ForbiddenException", "a file changed");
}

/* What is vended opens the table's own place and nothing beside it; for a managed view, for reading only. */
static void test_vended_credentials(void **state)
{
    Env *e = *state;
    Principal p = {0};
    Str secret = {0};
    make_ns(e);
    make_managed(e, S("mv"));
    assert_call(e, 200, "GET", "/namespaces/ns/tables/src/credentials", "");
    const Json *one = json_at(json_get(e->json, "storage-credentials"), 0), *config = json_get(one, "config");
    assert_str(json_get_str(one, "prefix", (Str){0}), "s3://firn-warehouse/ns.db/src");
    assert_str(json_get_str(config, "client.region", (Str){0}), "us-east-1");
    assert_ok(access_by_key(e->x, e->a, json_get_str(config, "s3.access-key-id", (Str){0}), json_get_str(config, "s3.session-token", (Str){0}),
                            &secret, &p, &e->err), &e->err);
    Ask ask = { .action = ACT_OBJECT_PUT, .api = "s3:PutObject", .bucket = S("firn-warehouse"), .key = S("ns.db/src/data/x") };
    assert_ok(access_check(e->x, e->a, &p, &ask, &e->err), &e->err);
    ask.key = S("ns.db/src2/x");
    assert_status(access_check(e->x, e->a, &p, &ask, &e->err), E_DENIED);
    HttpCall c = { .method = "GET", .url = str_cat(e->a, e->base, S("/namespaces/ns/tables/src")) };
    props_set(e->a, &c.headers, S("x-iceberg-access-delegation"), S("remote-signing"));
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(str_find(e->reply.body, S("s3.access-key-id")), -1);
}

static void test_views(void **state)
{
    Env *e = *state;
    static const char version[] = "{\"version-id\":1,\"timestamp-ms\":1,\"schema-id\":0,\"summary\":{},\"default-namespace\":[\"ns\"],"
        "\"representations\":[{\"type\":\"sql\",\"sql\":\"select 1\",\"dialect\":\"spark\"}]}";
    make_ns(e);
    make_table(e, "t");
    Str body = str_fmt(e->a, "{\"name\":\"v\",\"schema\":" SCHEMA ",\"view-version\":%s,\"properties\":{}}", version);
    assert_call(e, 200, "POST", "/namespaces/ns/views", body.p);
    assert_call(e, 409, "POST", "/namespaces/ns/tables", "{\"name\":\"v\",\"schema\":" SCHEMA "}");
    assert_error(e, "AlreadyExistsException", "View with same name already exists: ns.v");
    assert_call(e, 404, "GET", "/namespaces/ns/tables/v", "");
    assert_call(e, 404, "GET", "/namespaces/ns/views/t", "");
    assert_error(e, "NoSuchViewException", "View does not exist: ns.t");
    assert_call(e, 200, "POST", "/namespaces/ns/views/v", "{\"requirements\":[],\"updates\":[{\"action\":\"set-properties\",\"updates\":{\"k\":\"v\"}}]}");
    assert_call(e, 200, "GET", "/namespaces/ns/views/v", "");
    assert_str(json_get_str(json_get(json_get(e->json, "metadata"), "properties"), "k", (Str){0}), "v");
    assert_call(e, 204, "DELETE", "/namespaces/ns/views/v", "");
    body = str_fmt(e->a, "{\"name\":\"w\",\"location\":\"s3://firn-warehouse/ns.db/t\",\"schema\":" SCHEMA ",\"view-version\":%s,\"properties\":{}}", version);
    assert_call(e, 200, "POST", "/namespaces/ns/views", body.p);      /* views own no data */
    make_managed(e, S("mv"));
    body = str_fmt(e->a, "{\"name\":\"x\",\"location\":\"s3://firn-warehouse/ns.db/mv/v\",\"schema\":" SCHEMA ",\"view-version\":%s,\"properties\":{}}", version);
    assert_call(e, 403, "POST", "/namespaces/ns/views", body.p);
    assert_error(e, "ForbiddenException", "system-managed materialized view");
    body = str_fmt(e->a, "{\"name\":\"x\",\"location\":\"s3://firn-warehouse/ns.db\",\"schema\":" SCHEMA ",\"view-version\":%s,\"properties\":{}}", version);
    assert_call(e, 400, "POST", "/namespaces/ns/views", body.p);
}

/* A table bucket is a warehouse of its own, named in the path by its ARN or, as Glue has it, by its catalog id. */
static void test_table_bucket_warehouse(void **state)
{
    Env *e = *state;
    CatWarehouse w = { .id = S(ACCOUNT ":s3tablescatalog/tb"), .sql_name = S("tb"), .kind = S("table_bucket"),
                       .arn = S("arn:aws:s3tables:us-east-1:" ACCOUNT ":bucket/tb"), .bucket = S("tb") };
    assert_ok(cat_warehouse_create(e->c, &w, &e->err), &e->err);
    assert_call(e, 200, "GET", "/config?warehouse=arn%3Aaws%3As3tables%3Aus-east-1%3A" ACCOUNT "%3Abucket%2Ftb", "");
    Str prefix = json_get_str(json_get(e->json, "overrides"), "prefix", (Str){0});
    assert_str(prefix, "arn%3Aaws%3As3tables%3Aus-east-1%3A" ACCOUNT "%3Abucket%2Ftb");
    Str path = str_fmt(e->a, "/" STR_FMT "/namespaces", STR_ARG(prefix));
    assert_call(e, 200, "POST", path.p, "{\"namespace\":[\"only\"]}");
    assert_call(e, 404, "GET", "/namespaces/only", "");
    assert_call(e, 200, "GET", "/catalogs/" ACCOUNT "%3As3tablescatalog%2Ftb/namespaces/only", "");
    path = str_fmt(e->a, "/" STR_FMT "/namespaces/only/tables", STR_ARG(prefix));
    assert_call(e, 200, "POST", path.p, "{\"name\":\"t\",\"schema\":" SCHEMA "}");
    Str location = json_get_str(json_get(e->json, "metadata"), "location", (Str){0});
    assert_true(str_ends(location, S("--table-s3")));
    assert_call(e, 404, "GET", "/nowhere/namespaces", "");
    assert_error(e, "NoSuchWarehouseException", "nowhere");
}

static void test_sign_in(void **state)
{
    Env *e = *state;
    AwsKeys keys = { .access_key = S("AKIAROOT"), .secret_key = S("rootsecret") };
    assert_call(e, 401, "GET", "/namespaces", "");
    assert_error(e, "NotAuthorizedException", "no credentials");
    HttpCall c = { .method = "POST", .url = str_cat(e->a, e->base, S("/namespaces")), .body = S("{\"namespace\":[\"ns\"]}"),
                   .sign = &keys, .service = S("s3tables"), .region = S("eu-west-1") };
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 200);
    c.service = S("s3");
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 401);
    c.service = S("glue");
    keys.secret_key = S("wrong");
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 401);
}

static void test_tokens(void **state)
{
    Env *e = *state;
    assert_call(e, 401, "POST", "/oauth/tokens", "grant_type=client_credentials&client_id=AKIAROOT&client_secret=no");
    assert_str(json_get_str(e->json, "error", (Str){0}), "invalid_client");
    assert_call(e, 400, "POST", "/oauth/tokens", "grant_type=password");
    assert_call(e, 200, "POST", "/oauth/tokens", "grant_type=client_credentials&client_id=AKIAROOT&client_secret=rootsecret");
    Str token = json_get_str(e->json, "access_token", (Str){0});
    HttpCall c = { .method = "GET", .url = str_cat(e->a, e->base, S("/namespaces")), .bearer = token };
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 200);
    c.bearer = str_cat(e->a, token, S("0"));
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 401);
    Str form = str_fmt(e->a, "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Atoken-exchange&subject_token=" STR_FMT, STR_ARG(token));
    assert_call(e, 200, "POST", "/oauth/tokens", form.p);
    c.bearer = json_get_str(e->json, "access_token", (Str){0});
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 200);
    assert_ok(cat_key_delete(e->c, S("AKIAROOT"), &e->err), &e->err);         /* takes its tokens along */
    assert_ok(http_call(e->a, &c, &e->reply, &e->err), &e->err);
    assert_int_equal(e->reply.status, 401);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_door, stop)
#define A(f) cmocka_unit_test_setup_teardown(f, closed_door, stop)
    const struct CMUnitTest tests[] = {
        T(test_config), T(test_namespaces), T(test_namespace_properties), T(test_paging), T(test_table_life), T(test_etag), T(test_commits),
        T(test_transactions_are_atomic), T(test_locations), T(test_staged_create), T(test_managed_views_are_protected), T(test_quarantine),
        T(test_vended_credentials), T(test_views), T(test_table_bucket_warehouse), A(test_sign_in), A(test_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
