/* SPDX-License-Identifier: Apache-2.0 */
/* test_remote.c - the client of catalogs against a server that says what each test wants, true or not: whole and half answers, wrong JSON, endless bodies, every HTTP status,
 * cut connections, tokens that end, redirects. */
#include "remote/remote_server_test.h"

/* ---- configuration ------------------------------------------------------------------------------------------------------- */

static void test_configuration(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};

    o.warehouse = S("arn:aws:x/y z");
    e->config = S("{\"defaults\":{\"prefix\":\"no\",\"header.X-Tenant\":\"t1\",\"header.Authorization\":\"evil\",\"header.x-amz-date\":\"evil\",\"header.Bad Name\":\"x\"},\"overrides\":{\"prefix\":\"catalogs/a%3Ab\"}}");
    open_catalog(e, o);
    assert_true(is(last(e), "GET /cat/v1/config?warehouse=arn%3Aaws%3Ax%2Fy%20z HTTP"));
    e->script = S("{\"namespaces\":[[\"a\"],[\"b\",\"c\"]]}");
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_true(is(last(e), "GET /cat/v1/catalogs/a%3Ab/namespaces HTTP"));
    assert_true(has(last(e)->head, "x-tenant: t1"));
    assert_false(has(last(e)->head, "evil"));
    assert_false(has(last(e)->head, "uthorization"));
    assert_int_equal(all.n, 2);
    assert_str(all.p[1].p[1], "c");
}

static void config_fails(Env *e, const char *config, Status st)
{
    RemoteOptions o = options(e);
    RemoteCatalog *c = NULL;
    e->config = str_c(config);
    assert_status(remote_open(&o, &c, &e->err), st);
    assert_null(c);
}

static void test_bad_configurations(void **state)
{
    Env *e = *state;
    config_fails(e, "", E_INVALID);
    config_fails(e, "[]", E_INVALID);
    config_fails(e, "{}", E_INVALID);
    config_fails(e, "{\"defaults\":{\"a\":", E_INVALID);
    config_fails(e, "<html>", E_INVALID);
    config_fails(e, "{\"defaults\":[1]}", E_INVALID);
    config_fails(e, "{\"overrides\":{\"prefix\":\"../x\"}}", E_INVALID);
    config_fails(e, "{\"overrides\":{\"prefix\":\"a b\"}}", E_INVALID);
    config_fails(e, "{\"overrides\":{\"prefix\":\"a?b\"}}", E_INVALID);
    RemoteOptions o = options(e);
    o.url = S("ftp://x");
    assert_status(remote_open(&o, &e->c, &e->err), E_INVALID);
    o.url = S("http://127.0.0.1:1/");
    assert_status(remote_open(&o, &e->c, &e->err), E_UNAVAILABLE);
}

static void test_endpoint(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    o.kind = REMOTE_S3TABLES;
    o.url = S("https://s3tables.eu-west-1.amazonaws.com/iceberg");
    o.endpoint = str_fmt(e->a, "127.0.0.1:%d/", e->port);
    o.warehouse = S("w");
    open_catalog(e, o);
    assert_true(is(last(e), "GET /iceberg/v1/config?warehouse=w HTTP"));
    assert_true(has(last(e)->head, "/eu-west-1/s3tables/aws4_request"));
    assert_int_equal(e->keys_asked, 1);
    o.kind = REMOTE_GLUE;
    o.region = S("us-west-2");
    open_catalog(e, o);
    assert_true(has(last(e)->head, "/us-west-2/glue/aws4_request"));
    o.keys.get = NULL;
    remote_close(e->c);
    e->c = NULL;
    assert_status(remote_open(&o, &e->c, &e->err), E_AUTH);
}

/* ---- tokens --------------------------------------------------------------------------------------------------------------- */

static Str refuses_first_token(Env *e, const Asked *q)
{
    if (!has(q->line, "/oauth/tokens") && !has(q->line, "/config") && has(q->head, "Bearer tok1"))
        return http(e, 401, S("{\"error\":{\"message\":\"token is over\",\"type\":\"NotAuthorizedException\",\"code\":401}}"));
    return usual(e, q);
}

static void test_tokens(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    RemoteNamespaces all = {0};
    RemoteTable t = {0};

    o.credential = S("my id:se:cret&");
    open_catalog(e, o);
    assert_true(is(&e->asked[0], "POST /cat/v1/oauth/tokens HTTP"));
    assert_str(e->asked[0].body, "grant_type=client_credentials&client_id=my%20id&client_secret=se%3Acret%26&scope=catalog");
    assert_true(has(e->asked[1].head, "Bearer tok1"));
    e->script = S("{\"namespaces\":[]}");
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 1);

    e->answer = refuses_first_token;
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_int_equal(e->tokens, 2);
    e->script = e->table;
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    assert_ok(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), &e->err);
    remote_table_end(&t);

    e->answer = usual;
    e->token_life = 1;
    e->tokens = 0;
    o.credential = S("only-secret");
    o.scope = S("PRINCIPAL_ROLE:ALL");
    o.oauth2_url = str_fmt(e->a, "http://127.0.0.1:%d/elsewhere/oauth/tokens", e->port);
    e->n = 0;
    open_catalog(e, o);
    assert_true(is(&e->asked[0], "POST /elsewhere/oauth/tokens"));
    assert_str(e->asked[0].body, "grant_type=client_credentials&client_secret=only-secret&scope=PRINCIPAL_ROLE%3AALL");
    usleep(600 * 1000);
    e->script = S("{\"namespaces\":[]}");
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->tokens, 2);                  /* half of its life is over */

    e->answer = refuses_all;
    remote_close(e->c);
    e->c = NULL;
    assert_status(remote_open(&o, &e->c, &e->err), E_AUTH);
    assert_non_null(strstr(e->err.message, "invalid_client: who are you ?"));
}

static void test_bearer(void **state)
{
    Env *e = *state;
    RemoteOptions o = options(e);
    o.bearer = S("given");
    open_catalog(e, o);
    assert_true(has(last(e)->head, "Bearer given"));
    RemoteNamespaces all = {0};
    e->status = 401;
    e->script = S("{\"error\":{\"message\":\"no\",\"type\":\"NotAuthorizedException\",\"code\":401}}");
    e->n = 0;
    assert_status(remote_namespaces(e->c, e->a, &all, &e->err), E_AUTH);
    assert_int_equal(e->n, 1);
}

/* ---- namespaces ------------------------------------------------------------------------------------------------------------- */

static Str pages(Env *e, const Asked *q)
{
    if (has(q->line, "pageToken=two%20%26"))
        return http(e, 200, S("{\"namespaces\":[[\"b\"]],\"next-page-token\":null}"));
    return http(e, 200, S("{\"namespaces\":[[\"a\"]],\"next-page-token\":\"two &\"}"));
}

static Str endless(Env *e, const Asked *q)
{
    (void)q;
    return http(e, 200, S("{\"namespaces\":[[\"a\"]],\"next-page-token\":\"again\"}"));
}

static void test_namespaces(void **state)
{
    Env *e = *state;
    RemoteNamespaces all = {0};
    open_catalog(e, options(e));
    e->answer = pages;
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(all.n, 2);
    e->answer = endless;
    assert_status(remote_namespaces(e->c, e->a, &all, &e->err), E_INVALID);
    e->answer = usual;
    e->script = S("{\"namespaces\":[[1]]}");
    assert_status(remote_namespaces(e->c, e->a, &all, &e->err), E_INVALID);
    e->script = S("{\"namespaces\":[[]]}");
    assert_status(remote_namespaces(e->c, e->a, &all, &e->err), E_INVALID);
    e->script = S("{}");
    assert_ok(remote_namespace_create(e->c, S("n.1"), &e->err), &e->err);
    assert_str(last(e)->body, "{\"namespace\":[\"n.1\"],\"properties\":{}}");
    e->status = 409;
    assert_status(remote_namespace_create(e->c, S("n"), &e->err), E_EXISTS);
    e->status = 404;
    assert_status(remote_namespace_find(e->c, S("n\x1f" "m"), &e->err), E_NOT_FOUND);
    assert_true(is(last(e), "GET /cat/v1/namespaces/n%1Fm HTTP"));
    e->status = 200;
    assert_ok(remote_namespace_find(e->c, S("n"), &e->err), &e->err);
    e->status = 503;
    e->n = 0;
    assert_status(remote_namespaces(e->c, e->a, &all, &e->err), E_UNAVAILABLE);
    assert_int_equal(e->n, 3);                       /* reading is tried again */
    e->n = 0;
    assert_status(remote_namespace_create(e->c, S("n"), &e->err), E_UNKNOWN);
    assert_int_equal(e->n, 1);                       /* creating is not */
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------- */

static void test_load(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    Str good, got;

    open_catalog(e, options(e));
    assert_ok(remote_table_load(e->c, e->a, S("a/b\x1f" "c d"), S("t?"), &t, &e->err), &e->err);
    assert_true(is(last(e), "GET /cat/v1/namespaces/a%2Fb%1Fc%20d/tables/t%3F HTTP"));
    assert_str(t.metadata_location, "s3://b/t/metadata/1.metadata.json");
    assert_str(t.meta->location, "s3://b/t");
    e->n = 0;
    assert_status(store_read(t.store, e->a, S("s3://b/other/x"), 10, &got, &e->err), E_DENIED);
    assert_status(store_read(t.store, e->a, S("s3://secrets/x"), 10, &got, &e->err), E_DENIED);
    assert_int_equal(e->n, 0);
    remote_table_end(&t);
    remote_table_end(&t);

    good = e->table;
    load_fails(e, S(""), E_INVALID);
    load_fails(e, S("null"), E_INVALID);
    load_fails(e, S("{\"metadata-location\":null,\"metadata\":{}}"), E_INVALID);
    load_fails(e, S("{\"metadata-location\":\"s3://b/t/m\",\"metadata\":{}}"), E_INVALID);
    load_fails(e, str_sub(good, 0, good.n / 2), E_INVALID);
    load_fails(e, table_text(e, "s3://b/other/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), "{}"), E_INVALID);
    load_fails(e, table_text(e, "s3://b/tt/1.metadata.json", metadata_text(e, "s3://b/t", "{}"), "{}"), E_INVALID);
    load_fails(e, table_text(e, "file:///etc/passwd", metadata_text(e, "s3://b/t", "{}"), "{}"), E_INVALID);
    load_fails(e, table_text(e, "file:///t/m.json", metadata_text(e, "file:///t", "{}"), "{}"), E_UNSUPPORTED);
    load_fails(e, table_text(e, "gs://t/m.json", metadata_text(e, "gs://t", "{}"), "{}"), E_UNSUPPORTED);
    load_fails(e, table_text(e, "s3://b/t/m.json", metadata_text(e, "s3://b/t", "{}"), "[1]"), E_INVALID);
    load_fails(e, table_text(e, "s3://b/t/m.json", metadata_text(e, "s3://b/t", "{}"), "{\"s3.endpoint\":\"gopher://x\"}"), E_INVALID);

    e->table = table_text(e, "s3://m/x/1.metadata.json", metadata_text(e, "s3://b/t", "{\"write.metadata.path\":\"s3://m/x\",\"write.data.path\":\"s3://d/\"}"), "{}");
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    remote_table_end(&t);
    /* A location that is the metadata file itself. */
    e->table = table_text(e, "s3://b/t/metadata/1.metadata.json", metadata_text(e, "s3://b/t/metadata/0.metadata.json", "{}"), "{}");
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    assert_str(t.meta->location, "s3://b/t");
    remote_table_end(&t);
}

static Str with_etag(Env *e, const Asked *q)
{
    if (has(q->head, "if-none-match: \"v1\""))
        return S("HTTP/1.1 304 X\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n");
    return str_fmt(e->sa, "HTTP/1.1 200 X\r\nETag: \"v%d\"\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n" STR_FMT, e->vended, e->table.n, STR_ARG(e->table));
}

static void test_poll(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    int changed = 1;

    open_catalog(e, options(e));
    e->answer = with_etag;
    e->vended = 1;
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    const IceMetadata *before = t.meta;
    assert_ok(remote_table_poll(&t, e->a, &changed, &e->err), &e->err);
    assert_int_equal(changed, 0);
    assert_ptr_equal(t.meta, before);
    t.etag = S("\"v0\"");
    e->vended = 2;
    assert_ok(remote_table_poll(&t, e->a, &changed, &e->err), &e->err);
    assert_int_equal(changed, 1);
    assert_ptr_not_equal(t.meta, before);
    assert_str(t.etag, "\"v2\"");
    remote_table_end(&t);
}

static Str not_found(Env *e, const Asked *q)
{
    (void)q;
    return http(e, e->status, e->script);
}

static void test_not_found(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    open_catalog(e, options(e));
    e->answer = not_found;
    e->status = 404;
    e->script = S("{\"error\":{\"message\":\"Table does not exist: n.t\",\"type\":\"NoSuchTableException\",\"code\":404}}");
    assert_status(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchTable");
    assert_non_null(strstr(e->err.message, "Table does not exist: n.t"));
    e->script = S("{\"error\":{\"message\":\"none\",\"type\":\"NoSuchNamespaceException\",\"code\":404}}");
    assert_status(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchNamespace");
    e->script = S("{\"__type\":\"com.amazonaws#EntityNotFoundException\",\"Message\":\"gone\"}");
    assert_status(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchTable");
    assert_non_null(strstr(e->err.message, "EntityNotFoundException: gone"));
    e->status = 403;
    assert_status(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), E_DENIED);
    e->status = 404;
    RemoteNew n = { .schema = &(IceSchema){0} };
    assert_status(remote_table_create(e->c, e->a, S("n"), S("t"), &n, &t, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchNamespace");
}

static Str table_pages(Env *e, const Asked *q)
{
    if (has(q->line, "pageToken=p2"))
        return http(e, 200, S("{\"identifiers\":[{\"namespace\":[\"n\"],\"name\":\"c\"}],\"next-page-token\":\"\"}"));
    return http(e, 200, S("{\"identifiers\":[{\"namespace\":[\"n\"],\"name\":\"a\"},{\"namespace\":[\"n\"],\"name\":\"b\"}],\"next-page-token\":\"p2\"}"));
}

static void test_tables(void **state)
{
    Env *e = *state;
    StrVec names = {0};
    open_catalog(e, options(e));
    e->answer = table_pages;
    assert_ok(remote_tables(e->c, e->a, S("n 1"), &names, &e->err), &e->err);
    assert_true(is(last(e), "GET /cat/v1/namespaces/n%201/tables?pageToken=p2 HTTP"));
    assert_int_equal(names.n, 3);
    assert_str(names.p[2], "c");
    e->answer = endless;
    assert_status(remote_tables(e->c, e->a, S("n"), &names, &e->err), E_INVALID);
    e->answer = not_found;
    e->status = 404;
    e->script = S("{}");
    assert_status(remote_tables(e->c, e->a, S("n"), &names, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchNamespace");
    e->status = 200;
    e->script = S("{\"identifiers\":[{\"namespace\":[\"n\"]}]}");
    assert_status(remote_tables(e->c, e->a, S("n"), &names, &e->err), E_INVALID);
}

static Str busy(Env *e, const Asked *q)
{
    (void)q;
    if (e->n == 1)
        return S("HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return http(e, 200, S("{\"namespaces\":[]}"));
}

static void test_retry_after(void **state)
{
    Env *e = *state;
    RemoteNamespaces all = {0};
    open_catalog(e, options(e));
    e->answer = busy;
    e->n = 0;
    int64_t began = clock_mono_us();
    assert_ok(remote_namespaces(e->c, e->a, &all, &e->err), &e->err);
    assert_int_equal(e->n, 2);
    assert_true(clock_mono_us() - began >= 500000);
}

static Str oversized(Env *e, const Asked *q)
{
    static char big[5 << 20];
    (void)q;
    memset(big, ' ', sizeof big);
    return str_cat(e->sa, S("HTTP/1.1 200 X\r\nConnection: close\r\n\r\n"), str_n(big, sizeof big));
}

static Str half(Env *e, const Asked *q)
{
    (void)q;
    return str_fmt(e->sa, "HTTP/1.1 200 X\r\nContent-Length: 100000\r\n\r\n{\"namespaces\":[");
}

static Str cut(Env *e, const Asked *q)
{
    (void)e, (void)q;
    return (Str){0};
}

static Str redirect(Env *e, const Asked *q)
{
    (void)q;
    return str_fmt(e->sa, "HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:%d/evil\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", e->port);
}

static Str no_http(Env *e, const Asked *q)
{
    (void)e, (void)q;
    return S("SSH-2.0-OpenSSH_9.6\r\n");
}

static Str many_headers(Env *e, const Asked *q)
{
    StrBuf b = sb_new(e->sa);
    (void)q;
    sb_addc(&b, "HTTP/1.1 200 X\r\n");
    for (int i = 0; i < 20000; i++)
        sb_fmt(&b, "X-%d: aaaaaaaaaaaaaaaaaaaaaaaa\r\n", i);
    sb_addc(&b, "\r\n");
    return sb_str(&b);
}

static void test_lies(void **state)
{
    Env *e = *state;
    RemoteNamespaces all = {0};
    struct { Str (*answer)(Env *, const Asked *); Status st; } cases[] = {
        { oversized, E_LIMIT }, { half, E_UNAVAILABLE }, { cut, E_UNAVAILABLE }, { redirect, E_UNAVAILABLE }, { many_headers, E_LIMIT },
    };
    open_catalog(e, options(e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        e->answer = cases[i].answer;
        assert_status(remote_namespaces(e->c, e->a, &all, &e->err), cases[i].st);
        assert_false(is(last(e), "GET /evil"));
    }
    e->answer = no_http;
    assert_int_not_equal(remote_namespaces(e->c, e->a, &all, &e->err), OK);
}

/* ---- commits ------------------------------------------------------------------------------------------------------------------ */

static void commit_updates(Env *e, IceUpdates *ups, IceRequirements *rqs)
{
    IceSnapshot *s = arena_new(e->a, IceSnapshot);
    *s = (IceSnapshot){ .id = 5, .sequence_number = 1, .timestamp_ms = 1, .operation = S("append"), .manifest_list = S("s3://b/t/metadata/l.avro") };
    vec_push(e->a, ups, ((IceUpdate){ .kind = UP_ADD_SNAPSHOT, .snapshot = s }));
    vec_push(e->a, ups, ((IceUpdate){ .kind = UP_SET_REF, .text = S("main"), .ref = { .name = S("main"), .type = S("branch"), .snapshot_id = 5 } }));
    vec_push(e->a, rqs, ((IceRequirement){ .kind = RQ_REF_SNAPSHOT, .text = S("main") }));
}

static void test_commit_outcomes(void **state)
{
    static const struct { int http; Status st; } outcomes[] = {
        { 400, E_INVALID }, { 401, E_AUTH }, { 403, E_DENIED }, { 404, E_NOT_FOUND }, { 405, E_UNSUPPORTED }, { 408, E_UNKNOWN }, { 409, E_CONFLICT }, { 412, E_INVALID }, { 418, E_UNKNOWN },
        { 419, E_AUTH }, { 422, E_INVALID }, { 429, E_UNAVAILABLE }, { 499, E_UNKNOWN }, { 500, E_UNKNOWN }, { 501, E_UNKNOWN }, { 502, E_UNKNOWN }, { 503, E_UNKNOWN }, { 504, E_UNKNOWN },
        { 599, E_UNKNOWN }, { 301, E_UNAVAILABLE }, { 307, E_UNAVAILABLE },
    };
    Env *e = *state;
    RemoteTable t = {0};
    IceUpdates ups = {0};
    IceRequirements rqs = {0};

    open_catalog(e, options(e));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    commit_updates(e, &ups, &rqs);
    const IceMetadata *before = t.meta;
    e->script = S("{\"error\":{\"message\":\"words\",\"type\":\"T\",\"code\":1}}");
    for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
        e->status = outcomes[i].http;
        e->n = 0;
        Status st = remote_table_commit(&t, e->a, &ups, &rqs, &e->err);
        if (st != outcomes[i].st)
            fail_msg("HTTP %d is %s", outcomes[i].http, status_name(st));
        assert_int_equal(e->n, 1);                   /* never sent twice */
        assert_ptr_equal(t.meta, before);
        assert_non_null(strstr(e->err.message, "words"));
    }
    assert_str(last(e)->body, "{\"identifier\":{\"namespace\":[\"n\"],\"name\":\"t\"},\"requirements\":[{\"type\":\"assert-ref-snapshot-id\",\"ref\":\"main\",\"snapshot-id\":null}],"
        "\"updates\":[{\"action\":\"add-snapshot\",\"snapshot\":{\"sequence-number\":1,\"snapshot-id\":5,\"timestamp-ms\":1,\"summary\":{\"operation\":\"append\"},\"manifest-list\":\"s3://b/t/metadata/l.avro\"}},"
        "{\"action\":\"set-snapshot-ref\",\"ref-name\":\"main\",\"type\":\"branch\",\"snapshot-id\":5}]}");
    e->status = 200;
    e->script = e->table;
    assert_ok(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), &e->err);
    assert_ptr_not_equal(t.meta, before);
    remote_table_end(&t);
}

static Str slow(Env *e, const Asked *q)
{
    (void)q;
    usleep(2500 * 1000);
    return http(e, 200, e->table);
}

static void test_commit_lies(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    IceUpdates ups = {0};
    IceRequirements rqs = {0};
    Str (*answers[])(Env *, const Asked *) = { cut, half, oversized, slow, no_http };

    open_catalog(e, options(e));
    assert_ok(remote_table_load(e->c, e->a, S("n"), S("t"), &t, &e->err), &e->err);
    commit_updates(e, &ups, &rqs);
    for (size_t i = 0; i < COUNT_OF(answers) - 1; i++) {
        e->answer = answers[i];
        e->n = 0;
        Status st = remote_table_commit(&t, e->a, &ups, &rqs, &e->err);
        if (st == E_LIMIT || st == OK)
            fail_msg("answer %zu: %s", i, status_name(st));
        assert_status(st, E_UNKNOWN);
        assert_int_equal(e->n, 1);
    }
    e->answer = usual;
    const char *bodies[] = { "", "{}", "{\"metadata-location\":\"s3://b/t/metadata/2.json\"}", "null" };
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        e->script = str_c(bodies[i]);
        assert_status(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), E_UNKNOWN);
    }
    e->script = table_text(e, "s3://elsewhere/2.json", metadata_text(e, "s3://b/t", "{}"), "{}");
    assert_status(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), E_UNKNOWN);
    e->script = e->table;
    ups.p[0].snapshot->id = 6;                       /* the answer does not have it */
    assert_status(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), E_UNKNOWN);
    ups.p[0].snapshot->id = 5;
    Str other = str_dup(e->a, e->table);
    ((char *)(uintptr_t)other.p)[str_find(other, S("7c0f1a6e"))] = '8';
    e->script = other;
    assert_status(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), E_UNKNOWN);
    Str real = e->table;
    e->table = other;
    assert_status(remote_table_reload(&t, e->a, &e->err), E_NOT_FOUND);
    e->table = real;
    assert_ok(remote_table_reload(&t, e->a, &e->err), &e->err);
    e->script = e->table;
    assert_ok(remote_table_commit(&t, e->a, &ups, &rqs, &e->err), &e->err);
    remote_table_end(&t);
}

static void test_create_and_drop(void **state)
{
    Env *e = *state;
    RemoteTable t = {0};
    IceType lng = { .kind = ICE_LONG };
    IceSchema s = {0};
    RemoteNew n = { .schema = &s };

    vec_push(e->a, &s.fields, ((IceField){ .id = 1, .name = S("x"), .type = &lng }));
    props_set(e->a, &n.props, S("k"), S("v"));
    open_catalog(e, options(e));
    e->script = e->table;
    assert_ok(remote_table_create(e->c, e->a, S("n"), S("t"), &n, &t, &e->err), &e->err);
    remote_table_end(&t);
    assert_true(is(last(e), "POST /cat/v1/namespaces/n/tables HTTP"));
    assert_str(last(e)->body, "{\"name\":\"t\",\"schema\":{\"type\":\"struct\",\"schema-id\":0,\"fields\":[{\"id\":1,\"name\":\"x\",\"required\":false,\"type\":\"long\"}]},\"stage-create\":false,"
        "\"properties\":{\"k\":\"v\"}}");
    e->status = 409;
    assert_status(remote_table_create(e->c, e->a, S("n"), S("t"), &n, &t, &e->err), E_EXISTS);
    e->status = 500;
    assert_status(remote_table_create(e->c, e->a, S("n"), S("t"), &n, &t, &e->err), E_UNKNOWN);
    e->status = 204;
    e->script = S("");
    assert_ok(remote_table_drop(e->c, S("n"), S("t"), &e->err), &e->err);
    assert_true(is(last(e), "DELETE /cat/v1/namespaces/n/tables/t?purgeRequested=false HTTP"));
}

/* ---- STS -------------------------------------------------------------------------------------------------------------------------- */

static Str sts(Env *e, const Asked *q)
{
    (void)q;
    return http(e, e->status, e->script);
}

static void test_sts(void **state)
{
    Env *e = *state;
    RemoteSts s = { .endpoint = str_fmt(e->a, "http://127.0.0.1:%d", e->port), .region = S("us-east-1"), .keys = { .access_key = S("AK"), .secret_key = S("s") } };
    RemoteRole r;
    Str arn;

    e->answer = sts;
    e->script = S("<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>k</SecretAccessKey>"
        "<SessionToken>t</SessionToken><Expiration>2026-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>");
    assert_ok(remote_assume_role(&s, e->a, S("arn:aws:iam::1:role/r"), S("me&"), S("ext id"), &r, &e->err), &e->err);
    assert_str(last(e)->body, "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=me%26&ExternalId=ext%20id");
    assert_true(has(last(e)->head, "/us-east-1/sts/aws4_request"));
    assert_str(r.keys.access_key, "ASIA1");
    assert_int_equal(r.expires_ms, 1767323045000);
    assert_ok(remote_assume_role(&s, e->a, S("r"), S("me"), (Str){0}, &r, &e->err), &e->err);
    assert_false(has(last(e)->body, "ExternalId"));
    e->script = S("<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:sts::1:x</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>");
    assert_ok(remote_caller(&s, e->a, &arn, &e->err), &e->err);
    assert_str(arn, "arn:aws:sts::1:x");
    assert_status(remote_assume_role(&s, e->a, S("r"), S("me"), (Str){0}, &r, &e->err), E_INVALID);
    e->status = 403;
    e->script = S("<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User: x is not authorized to perform: sts:AssumeRole on resource: r</Message></Error></ErrorResponse>");
    assert_status(remote_assume_role(&s, e->a, S("r"), S("me"), (Str){0}, &r, &e->err), E_DENIED);
    assert_non_null(strstr(e->err.message, "is not authorized to perform"));
    e->script = S("<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>m</Message></Error></ErrorResponse>");
    assert_status(remote_caller(&s, e->a, &arn, &e->err), E_AUTH);
    e->status = 500;
    e->script = S("oops");
    assert_status(remote_caller(&s, e->a, &arn, &e->err), E_UNAVAILABLE);
    e->answer = cut;
    assert_status(remote_caller(&s, e->a, &arn, &e->err), E_UNAVAILABLE);
    s.keys.access_key = (Str){0};
    assert_status(remote_caller(&s, e->a, &arn, &e->err), E_AUTH);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_configuration), T(test_bad_configurations), T(test_endpoint), T(test_tokens), T(test_bearer), T(test_namespaces), T(test_load), T(test_poll), T(test_not_found), T(test_tables), T(test_retry_after), T(test_lies),
        T(test_commit_outcomes), T(test_commit_lies), T(test_create_and_drop), T(test_sts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
