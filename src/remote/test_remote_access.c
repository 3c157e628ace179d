/* SPDX-License-Identifier: Apache-2.0 */
/* test_remote_access.c - who lets the client at a catalog and at its tables' files: keys of its own, vended ones and their renewal, signatures of the catalog's, signed requests,
 * tokens that are exchanged, tokens of tables. */
#include "codec/codec.h"
#include "remote/remote_server_test.h"

/* ---- storage -------------------------------------------------------------------------------------------------------------------- */

static Str storage(Env *e, const Asked *q)
{
    if (is(q, "GET /b/") || is(q, "HEAD /b/"))
        return str_fmt(e->sa, "HTTP/1.1 200 X\r\nETag: \"e\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbytes");
    return usual(e, q);
}

static Str vended_config(Env *e, const char *id, int64_t life_ms)
{
    return str_fmt(e->a, "{\"s3.endpoint\":\"http://127.0.0.1:%d\",\"s3.path-style-access\":\"true\",\"s3.region\":\"eu-north-1\",\"s3.access-key-id\":\"%s\",\"s3.secret-access-key\":\"sec\","
        "\"s3.session-token\":\"sess-%s\",\"s3.session-token-expires-at-ms\":\"%lld\"}", e->port, id, id, (long long)(clock_ms() + life_ms));
}

static void read_bytes(Env *e, RemoteTable *t)
{
    Str got;
    assert_ok(store_read(t->store, e->a, S("s3://b/t/data/x"), 100, &got, &e->err), &e->err);
    assert_str(got, "bytes");
}

static void test_own_keys(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);

    e->answer = storage;
    e->config = str_fmt(e->a, "{\"defaults\":{\"s3.endpoint\":\"http://127.0.0.1:%d\",\"client.region\":\"eu-south-1\"},\"overrides\":{}}", e->port);
    open_catalog(e, o);
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_false(has(last(e)->head, "x-iceberg-access-delegation"));
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "Credential=AKIDTEST/"));
    assert_true(has(last(e)->head, "/eu-south-1/s3/aws4_request"));
    remote_table_end(&t);
    o.keys.get = NULL;
    open_catalog(e, o);
    load_fails(e, e->table, E_AUTH);
    assert_non_null(strstr(e->err.hint, "vended"));
}

static void test_vended(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);

    e->answer = storage;
    o.delegation = REMOTE_VENDED;
    open_catalog(e, o);
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), vended_config(e, "AK1", 600).p);
    e->script = str_fmt(e->a, "{\"storage-credentials\":[{\"prefix\":\"s3://b\",\"config\":{\"s3.access-key-id\":\"WRONG\",\"s3.secret-access-key\":\"x\"}},{\"prefix\":\"s3://b/t\",\"config\":" STR_FMT "},"
        "{\"prefix\":\"s3://b/tt\",\"config\":{}}]}", STR_ARG(vended_config(e, "AK2", 3600000)));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_true(has(last(e)->head, "x-iceberg-access-delegation: vended-credentials"));
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "Credential=AK1/"));
    assert_true(has(last(e)->head, "sess-AK1"));
    usleep(400 * 1000);                              /* half of its life */
    e->n = 0;
    read_bytes(e, &t);
    assert_true(is(&e->asked[0], "GET /cat/v1/namespaces/n/tables/t/credentials HTTP"));
    assert_true(has(last(e)->head, "Credential=AK2/"));
    e->n = 0;
    read_bytes(e, &t);
    assert_int_equal(e->n, 1);
    remote_table_end(&t);
    assert_int_equal(e->keys_asked, 0);
}

static void test_vended_by_load(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);
    Str got;

    e->answer = storage;
    e->no_route = 1;
    o.delegation = REMOTE_VENDED;
    open_catalog(e, o);
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), vended_config(e, "AK1", 300).p);
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), vended_config(e, "AK3", 600).p);
    usleep(200 * 1000);
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "Credential=AK3/"));
    e->table = S("{}");
    usleep(350 * 1000);                              /* due, not over: the old ones serve */
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "Credential=AK3/"));
    usleep(300 * 1000);                              /* over */
    assert_status(store_read(t.store, e->a, S("s3://b/t/data/x"), 100, &got, &e->err), E_INVALID);
    remote_table_end(&t);
}

/* Two places, two keys: each request has those of the longest prefix that covers its object. */
static void test_vended_by_place(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);
    Str got;

    e->answer = storage;
    o.delegation = REMOTE_VENDED;
    open_catalog(e, o);
    Str answer = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{\"write.data.path\":\"s3a://b/d\"}"), "{}");
    e->table = str_fmt(e->a, STR_FMT ",\"storage-credentials\":[{\"prefix\":\"s3\",\"config\":" STR_FMT "},{\"prefix\":\"s3://b/t/\",\"config\":" STR_FMT "},{\"prefix\":\"s3://b/d/\",\"config\":" STR_FMT "}]}",
                       STR_ARG(str_sub(answer, 0, answer.n - 1)), STR_ARG(vended_config(e, "ALL", 3600000)), STR_ARG(vended_config(e, "TAB", 3600000)), STR_ARG(vended_config(e, "DAT", 3600000)));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "Credential=TAB/"));
    assert_ok(store_read(t.store, e->a, S("s3a://b/d/x"), 100, &got, &e->err), &e->err);
    assert_true(has(last(e)->head, "Credential=DAT/"));
    assert_true(has(last(e)->head, "sess-DAT"));
    remote_table_end(&t);
}

/* The catalog's overrides beat the options, these its defaults. */
static void test_precedence(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);

    e->answer = storage;
    props_set(e->a, &o.storage, S("s3.endpoint"), str_fmt(e->a, "http://127.0.0.1:%d", e->port));
    props_set(e->a, &o.storage, S("s3.region"), S("mine"));
    e->config = S("{\"defaults\":{\"s3.endpoint\":\"http://127.0.0.1:1\",\"s3.region\":\"theirs\",\"prefix\":\"p\"},\"overrides\":{\"s3.region\":\"over\"}}");
    open_catalog(e, o);
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_true(is(last(e), "GET /cat/v1/p/namespaces/n/tables/t HTTP"));
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "/over/s3/aws4_request"));
    remote_table_end(&t);
}

/* ---- requests that are signed --------------------------------------------------------------------------------------- */

static void test_signed_requests(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    o.region = S("eu-central-1");
    o.sign_name = S("execute-api");
    open_catalog(e, o);
    assert_true(has(last(e)->head, "/eu-central-1/execute-api/aws4_request"));
    assert_false(has(last(e)->head, "original-authorization"));
    e->script = S("{\"namespaces\":[]}");
    o.sign_region = S("us-west-2");
    o.credential = S("me:secret");
    open_catalog(e, o);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_true(has(last(e)->head, "/us-west-2/execute-api/aws4_request"));
    assert_true(has(last(e)->head, "original-authorization: Bearer tok1"));
    assert_true(has(last(e)->head, "original-authorization;x-"));          /* it is signed too */
}

static void test_catalog_wants_signatures(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    e->config = S("{\"defaults\":{\"rest.sigv4-enabled\":\"true\",\"rest.signing-region\":\"ap-south-1\"},\"overrides\":{\"rest.signing-name\":\"lakes\"}}");
    open_catalog(e, o);
    assert_false(has(last(e)->head, "AWS4-HMAC"));
    e->script = S("{\"namespaces\":[]}");
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_true(has(last(e)->head, "Credential=AKIDTEST/"));
    assert_true(has(last(e)->head, "/ap-south-1/lakes/aws4_request"));
    remote_close(e->c);
    e->c = NULL;
    o.keys.get = NULL;
    assert_status(remote_open(&o, &e->c, &e->err), E_AUTH);
    assert_non_null(strstr(e->err.hint, "SIGNING NAME"));
}

/* ---- requests to the object store that the catalog signs ------------------------------------------------------------ */

static Str signing_config(Env *e)
{
    return str_fmt(e->a, "{\"s3.endpoint\":\"http://127.0.0.1:%d\",\"s3.path-style-access\":\"true\",\"s3.region\":\"eu-north-1\",\"s3.remote-signing-enabled\":\"true\"}", e->port);
}

/* Signs what it is shown: the URL gets a query, the request two headers. */
static Str signer(Env *e, const Asked *q)
{
    Json *j = NULL;
    Error err;

    if (!is(q, "POST") || !has(q->line, "/sign"))
        return storage(e, q);
    assert_int_equal(json_parse(e->sa, q->body, &j, &err), OK);
    return http(e, 200, str_fmt(e->sa, "{\"uri\":\"" STR_FMT "?X-Amz-Signed=1\",\"headers\":{\"Authorization\":[\"signed by the catalog\"],\"x-two\":[\"a\",\"b\"],\"Host\":[\"evil\"]}}", STR_ARG(json_get_str(j, "uri", (Str){0}))));
}

static void signed_table(Env *e, Str config)
{
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), config.p);
}

static void test_remote_signing(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);

    e->answer = signer;
    o.delegation = REMOTE_SIGNING;
    o.bearer = S("mine");
    open_catalog(e, o);
    signed_table(e, signing_config(e));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_true(has(last(e)->head, "x-iceberg-access-delegation: remote-signing"));
    e->n = 0;
    read_bytes(e, &t);
    assert_int_equal(e->n, 2);
    assert_true(is(&e->asked[0], "POST /cat/v1/aws/s3/sign HTTP"));
    assert_true(has(e->asked[0].head, "Bearer mine"));
    assert_str(e->asked[0].body, str_fmt(e->a, "{\"region\":\"eu-north-1\",\"uri\":\"http://127.0.0.1:%d/b/t/data/x\",\"method\":\"GET\",\"headers\":{\"x-amz-checksum-mode\":[\"ENABLED\"]},"
        "\"properties\":{},\"provider\":\"s3\"}", e->port).p);
    assert_true(is(last(e), "GET /b/t/data/x?X-Amz-Signed=1 HTTP"));
    assert_true(has(last(e)->head, "authorization: signed by the catalog"));
    assert_true(has(last(e)->head, "x-two: a, b"));
    assert_true(has(last(e)->head, "x-amz-checksum-mode: ENABLED"));
    assert_false(has(last(e)->head, "evil"));
    assert_int_equal(e->keys_asked, 0);
    remote_table_end(&t);

    Str config = signing_config(e);
    signed_table(e, str_fmt(e->a, STR_FMT ",\"signer.uri\":\"http://127.0.0.1:%d/other/\",\"signer.endpoint\":\"v1/p/sign/here\"}", STR_ARG(str_sub(config, 0, config.n - 1)), e->port));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    e->n = 0;
    read_bytes(e, &t);
    assert_true(is(&e->asked[0], "POST /other/v1/p/sign/here HTTP"));
    remote_table_end(&t);
}

/* The catalog that vends nothing is asked whether it signs; one that does neither is an error. */
static Str signs_on_demand(Env *e, const Asked *q)
{
    if (has(q->line, "/tables/") && has(q->head, "access-delegation: remote-signing"))
        return http(e, 200, e->script);
    return signer(e, q);
}

static void test_remote_signing_asked_for(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);

    e->answer = signs_on_demand;
    o.delegation = REMOTE_VENDED;
    o.keys.get = NULL;
    open_catalog(e, o);
    Str bare = e->table;
    signed_table(e, signing_config(e));
    e->script = e->table;
    e->table = bare;
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    read_bytes(e, &t);
    assert_true(has(last(e)->head, "signed by the catalog"));
    remote_table_end(&t);
    e->script = bare;
    load_fails(e, bare, E_AUTH);
    o.delegation = REMOTE_SIGNING;
    open_catalog(e, o);
    load_fails(e, bare, E_AUTH);
    assert_non_null(strstr(e->err.message, "does not sign"));
}

static Str other_request(Env *e, const Asked *q)
{
    return is(q, "POST") ? http(e, e->status, e->script) : storage(e, q);
}

static void sign_fails(Env *e, RemoteTable *t, Str script, Status st)
{
    Str got;
    e->script = script;
    e->n = 0;
    assert_status(store_read(t->store, e->a, S("s3://b/t/data/x"), 100, &got, &e->err), st);
    for (int i = 0; i < e->n; i++)
        assert_true(is(&e->asked[i], "POST /cat/v1/aws/s3/sign HTTP"));       /* nothing reached the object store */
}

static void test_bad_signers(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);
    Str config = signing_config(e), head = str_sub(config, 0, config.n - 1);

    e->answer = other_request;
    o.delegation = REMOTE_SIGNING;
    open_catalog(e, o);
    signed_table(e, str_fmt(e->a, STR_FMT ",\"s3.signer.uri\":\"http://127.0.0.2:%d\"}", STR_ARG(head), e->port));
    load_fails(e, e->table, E_DENIED);
    signed_table(e, str_fmt(e->a, STR_FMT ",\"s3.signer.endpoint\":\"https://elsewhere/sign\"}", STR_ARG(head)));
    load_fails(e, e->table, E_DENIED);
    signed_table(e, str_fmt(e->a, STR_FMT ",\"s3.signer.endpoint\":\"a b\"}", STR_ARG(head)));
    load_fails(e, e->table, E_INVALID);
    signed_table(e, config);
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    sign_fails(e, &t, S(""), E_INVALID);
    sign_fails(e, &t, S("{}"), E_INVALID);
    sign_fails(e, &t, S("{\"uri\":\"http://127.0.0.1:1/b/t/data/x\",\"headers\":{}}"), E_INVALID);
    sign_fails(e, &t, str_fmt(e->a, "{\"uri\":\"http://127.0.0.1:%d/b/t/data/y\",\"headers\":{}}", e->port), E_INVALID);
    sign_fails(e, &t, str_fmt(e->a, "{\"uri\":\"http://127.0.0.1:%d/b/t/data/x\",\"headers\":{\"a b\":[\"c\"]}}", e->port), E_INVALID);
    sign_fails(e, &t, str_fmt(e->a, "{\"uri\":\"http://127.0.0.1:%d/b/t/data/x\",\"headers\":{\"a\":[\"c\\r\\nd: e\"]}}", e->port), E_INVALID);
    e->status = 403;
    sign_fails(e, &t, S("{\"error\":{\"message\":\"not yours\",\"type\":\"ForbiddenException\",\"code\":403}}"), E_DENIED);
    remote_table_end(&t);
}

/* ---- tokens ----------------------------------------------------------------------------------------------------------- */

/* {"exp": now + life} between two other parts. */
static Str jwt(Env *e, int64_t life_s)
{
    Str body = base64_encode(e->a, str_fmt(e->a, "{\"sub\":\"x\",\"exp\":%lld}", (long long)(clock_ms() / 1000 + life_s)));
    while (str_ends(body, S("=")))
        body.n--;
    return str_fmt(e->a, "eyJhbGciOiJub25lIn0." STR_FMT ".sig", STR_ARG(body));
}

static void test_exchange(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    o.bearer = jwt(e, 3600);
    e->script = S("{\"namespaces\":[]}");
    open_catalog(e, o);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 0);                  /* long to go */
    o.bearer = jwt(e, 1);
    o.scope = S("PRINCIPAL_ROLE:ALL");
    open_catalog(e, o);
    usleep(1200 * 1000);
    e->n = 0;
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 1);
    assert_true(is(&e->asked[0], "POST /cat/v1/oauth/tokens HTTP"));
    assert_true(has(e->asked[0].head, str_fmt(e->a, "Bearer " STR_FMT, STR_ARG(o.bearer)).p));
    assert_true(str_starts(e->asked[0].body, S("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&")));
    assert_true(has(e->asked[0].body, str_fmt(e->a, "subject_token=" STR_FMT "&scope=PRINCIPAL_ROLE%%3AALL", STR_ARG(o.bearer)).p));
    assert_true(has(last(e)->head, "Bearer tok1"));
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 1);
}

/* A server that does not exchange: the token that was given goes on, and the server is not asked each time. */
static void test_exchange_refused(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    o.bearer = jwt(e, 1);
    e->script = S("{\"namespaces\":[]}");
    open_catalog(e, o);
    e->answer = refuses_all;
    usleep(1200 * 1000);
    e->n = 0;
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->n, 3);
    assert_true(has(last(e)->head, str_fmt(e->a, "Bearer " STR_FMT, STR_ARG(o.bearer)).p));
    e->config = S("{\"defaults\":{},\"overrides\":{\"token-exchange-enabled\":\"false\"}}");
    e->answer = usual;
    open_catalog(e, o);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 1);                  /* the one for the configuration, before it could say no */
}

static Str token_of_table(Env *e, const Asked *q)
{
    if (has(q->head, "Bearer for-t") && e->fail_first)
        return e->fail_first--, http(e, 401, S("{}"));
    return usual(e, q);
}

static void test_token_of_table(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    RemoteOptions o = options(e);
    IceUpdates ups = {0};
    IceRequirements rqs = {0};

    e->answer = token_of_table;
    o.bearer = S("mine");
    open_catalog(e, o);
    Str bare = e->table;
    e->table = e->script = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), "{\"token\":\"for-t\"}");
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_true(has(last(e)->head, "Bearer mine"));
    assert_ok(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), &e->err);
    assert_true(has(last(e)->head, "Bearer for-t"));
    e->fail_first = 1;                               /* it has ended: the catalog's own is good still */
    e->script = bare;
    e->n = 0;
    assert_ok(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), &e->err);
    assert_int_equal(e->n, 2);
    assert_true(has(last(e)->head, "Bearer mine"));
    remote_table_end(&t);
}

static void test_token_of_configuration(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    e->config = S("{\"defaults\":{},\"overrides\":{\"token\":\"theirs\"}}");
    e->script = S("{\"namespaces\":[]}");
    open_catalog(e, o);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_true(has(last(e)->head, "Bearer theirs"));
    o.bearer = S("mine");
    open_catalog(e, o);
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_true(has(last(e)->head, "Bearer mine"));
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_own_keys), T(test_vended), T(test_vended_by_load), T(test_vended_by_place), T(test_precedence), T(test_signed_requests), T(test_catalog_wants_signatures), T(test_remote_signing),
        T(test_remote_signing_asked_for), T(test_bad_signers), T(test_exchange), T(test_exchange_refused), T(test_token_of_table), T(test_token_of_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
