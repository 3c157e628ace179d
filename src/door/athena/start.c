/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - StartQueryExecution: what is asked, checked and recorded before it may run.
 *
 * The order is AWS's: workgroup, request token, context, where the result goes, the statement's form.  Names in the statement are looked up when it runs. */
#include "door/athena/athena_int.h"

#include <stdlib.h>

/* What Start has found out; becomes an Exec. */
typedef struct Start {
    AwsCall *c;
    Arena *a;
    Service *svc;
    Str id, workgroup, text, location, token_key, reuse_key;
    const Json *conf;                 /* of the workgroup */
    int enforced;
    int64_t now_ms;
    AthStmt stmt;
    StrVec params;
    Str catalog, database;
} Start;

/* ---- workgroup and token ------------------------------------------------------------------------------------------------------- */

static Status start_workgroup(Start *s, Error *err)
{
    Json *w;

    s->workgroup = wg_of(s->c);
    TRY(ath_allow(s->c, "workgroup", s->workgroup, err));
    if (wg_get(s->svc, s->a, s->workgroup, &w, err) != OK)
        return err->code == E_INVALID ? ATH_INVALID(err, "WORKGROUP_NOT_FOUND", "WorkGroup does not exist") : err->code;
    if (str_eq(json_get_str(w, "State", (Str){0}), S("DISABLED")))
        return ATH_INVALID(err, "WORKGROUP_DISABLED", "WorkGroup " STR_FMT " is disabled.", STR_ARG(s->workgroup));
    s->conf = json_get(w, "Configuration");
    s->enforced = json_get_bool(s->conf, "EnforceWorkGroupConfiguration", false);
    return OK;
}

static Str fingerprint(Start *s)
{
    Json *in = json_copy(s->a, s->c->in);

    json_del(in, S("ClientRequestToken"));
    return hash_hex(s->a, HASH_SHA256, json_text(s->a, in));
}

/* The execution that this token started before; empty: none. Tokens of other principals are others. */
static Status start_token(Start *s, Str *earlier, Error *err)
{
    Str token = aws_str(s->c, "ClientRequestToken");
    Json *was;

    if (!token.n)
        return OK;
    s->token_key = hash_hex(s->a, HASH_SHA256, str_fmt(s->a, STR_FMT "\n" STR_FMT, STR_ARG(s->c->who.arn), STR_ARG(token)));
    TRY(rec_get(s->svc, s->a, K_TOKEN, s->token_key, &was, err));
    if (!was)
        return OK;
    if (!str_eq(json_get_str(was, "of", (Str){0}), fingerprint(s)))
        return ATH_INVALID(err, "INVALID_INPUT", "Idempotent parameters do not match");
    *earlier = json_get_str(was, "id", (Str){0});
    return OK;
}

/* ---- where the result goes ------------------------------------------------------------------------------------------------------ */

/* A member of the result configuration that holds: the workgroup's when it insists, else the caller's before the workgroup's. */
static const Json *result_member(const Start *s, const char *name)
{
    const Json *mine = json_get(aws_get(s->c, "ResultConfiguration"), name), *theirs = json_get(json_get(s->conf, "ResultConfiguration"), name);
    return s->enforced || !mine ? theirs : mine;
}

/* Athena makes the bucket when it is not there and the caller may. */
static Status need_bucket(Start *s, Str bucket, Error *err)
{
    Ask ask = { .action = ACT_BUCKET_CREATE, .api = "s3:CreateBucket", .bucket = bucket };
    BucketInfo b = {0};
    Error why = {0};
    Status st = store_bucket_get(s->svc->store, s->a, bucket, &b, err);

    if (st != E_NOT_FOUND)
        return st;
    st = ath_name_ok(bucket, ".-") && bucket.n >= 3 && bucket.n <= 63 ? access_check(s->svc->access, s->a, &s->c->who, &ask, &why) : E_INVALID;
    if (st == OK) {
        b = (BucketInfo){ .name = bucket, .owner = cat_account(s->svc->catalog), .region = cat_region(s->svc->catalog), .created_ms = s->now_ms };
        st = store_bucket_create(s->svc->store, &b, &why);
    }
    if (st == OK || st == E_EXISTS)
        return OK;
    return ATH_INVALID(err, "INVALID_INPUT", "Unable to verify/create output bucket " STR_FMT ". %s", STR_ARG(bucket), why.message);
}

static Status start_location(Start *s, Error *err)
{
    const Json *uri = result_member(s, "OutputLocation"), *encryption = result_member(s, "EncryptionConfiguration"), *owner = result_member(s, "ExpectedBucketOwner");
    Str option = json_get_str(encryption, "EncryptionOption", S("SSE_S3"));
    Location at;

    s->location = json_is(uri, JSON_STRING) ? uri->string : (Str){0};
    if (!s->location.n)
        return ATH_INVALID(err, "INVALID_INPUT", "No output location provided. An output location is required either through the Workgroup result configuration setting or as an API input.");
    if (!str_starts(s->location, S("s3://")) || store_parse_location(s->a, s->location, &at, err) != OK)
        return ATH_INVALID(err, "INVALID_INPUT", "outputLocation is not a valid S3 path.");
    if (!str_eq(option, S("SSE_S3")))
        return ATH_INVALID(err, "INVALID_INPUT", "Encryption of results with " STR_FMT " is not supported: this server has no keys of that kind", STR_ARG(option));
    if (json_is(owner, JSON_STRING) && !str_eq(owner->string, cat_account(s->svc->catalog)))
        return ATH_INVALID(err, "INVALID_INPUT", "The bucket owner is not the expected one, " STR_FMT, STR_ARG(owner->string));
    if (!str_ends(s->location, S("/")))
        s->location = str_cat(s->a, s->location, S("/"));
    return need_bucket(s, at.bucket, err);
}

/* ---- the statement --------------------------------------------------------------------------------------------------------------- */

static Status malformed(Status st, Error *err)
{
    Error was = *err;
    Str text = str_c(was.message);

    if (st != E_SYNTAX && st != E_INVALID && st != E_UNSUPPORTED && st != E_LIMIT && st != E_DENIED)
        return st;
    if (str_starts(text, S("SYNTAX_ERROR: ")))
        text = str_from(text, 14);
    return ATH_INVALID(err, st == E_UNSUPPORTED || st == E_DENIED ? "NOT_SUPPORTED" : "MALFORMED_QUERY", STR_FMT, STR_ARG(text));
}

/* EXECUTE runs what was prepared, with its own parameters or the call's. */
static Status start_execute(Start *s, Error *err)
{
    Prep prep;
    Json *p;

    TRY(prep_parse(s->a, s->text, &prep, err));
    TRY(prep_find(s->svc, s->a, s->workgroup, prep.name, &p, err));
    s->text = json_get_str(p, "QueryStatement", (Str){0});
    if (prep.params.n && s->params.n)
        return ATH_INVALID(err, "INVALID_INPUT", "Parameters are given by USING or by ExecutionParameters, not by both");
    if (prep.params.n)
        s->params = prep.params;
    TRY(malformed(stmt_classify(s->a, s->text, &s->stmt, err), err));
    if (s->stmt.door)
        return ATH_INVALID(err, "INVALID_INPUT", "A prepared statement cannot be PREPARE, EXECUTE or DEALLOCATE");
    return OK;
}

static Status start_statement(Start *s, Error *err)
{
    static const char *const actions[] = { [PREP_PREPARE] = "athena:CreatePreparedStatement", [PREP_EXECUTE] = "athena:GetPreparedStatement",
                                           [PREP_DEALLOCATE] = "athena:DeletePreparedStatement" };
    const Json *params = aws_get(s->c, "ExecutionParameters");

    s->text = aws_str(s->c, "QueryString");
    TRY(malformed(stmt_classify(s->a, s->text, &s->stmt, err), err));
    if (json_len(params) > ATH_PARAMS_MAX)
        return FAIL(err, E_LIMIT, "more than %d parameters", ATH_PARAMS_MAX);
    for (size_t i = 0; i < json_len(params); i++)
        vec_push(s->a, &s->params, json_at(params, i)->string);
    if (s->stmt.door)
        TRY(aws_allow(s->c, actions[s->stmt.door], ath_arn(s->c, "workgroup", s->workgroup), NULL, err));
    return s->stmt.door == PREP_EXECUTE ? start_execute(s, err) : OK;
}

/* Some clients quote the database as they would in DDL: `my-db`. */
static Str unquoted(Str name)
{
    bool quoted = name.n > 2 && name.p[0] == name.p[name.n - 1] && (name.p[0] == '`' || name.p[0] == '"');
    return quoted ? str_sub(name, 1, name.n - 1) : name;
}

static Status start_context(Start *s, Error *err)
{
    const Json *context = aws_get(s->c, "QueryExecutionContext");
    CatWarehouse w;

    s->catalog = json_get_str(context, "Catalog", (Str){0});
    s->database = json_get_str(context, "Database", (Str){0});
    Status st = cat_resolve(s->svc, s->a, s->catalog, &w, err);
    if (st == E_NOT_FOUND)
        ath_error_code(err, "CATALOG_NOT_FOUND");
    return st;
}

/* ---- the record ------------------------------------------------------------------------------------------------------------------- */

static void set_str(Start *s, Json *v, const char *key, Str value)
{
    if (value.n)
        json_set(s->a, v, key, json_str(s->a, value));
}

static Str output_of(const Start *s)
{
    static const char *const suffixes[] = { [OUT_CSV] = ".csv", [OUT_TXT] = ".txt", [OUT_NONE] = "" };
    return str_fmt(s->a, STR_FMT STR_FMT "%s", STR_ARG(s->location), STR_ARG(s->id), suffixes[s->stmt.out]);
}

static Json *start_record(Start *s)
{
    Json *v = json_object(s->a);
    const Json *reuse = json_get(aws_get(s->c, "ResultReuseConfiguration"), "ResultReuseByAgeConfiguration");
    static const char *const results[] = { "EncryptionConfiguration", "ExpectedBucketOwner", "AclConfiguration" };

    set_str(s, v, "Id", s->id);
    set_str(s, v, "Query", aws_str(s->c, "QueryString"));
    set_str(s, v, "StatementType", s->stmt.type);
    set_str(s, v, "SubstatementType", s->stmt.substatement);
    set_str(s, v, "WorkGroup", s->workgroup);
    set_str(s, v, "Output", output_of(s));
    set_str(s, v, "Catalog", s->catalog);
    set_str(s, v, "Database", s->database);
    set_str(s, v, "Owner", s->c->who.arn);
    set_str(s, v, "TokenKey", s->token_key);
    set_str(s, v, "ReuseKey", s->reuse_key);
    set_str(s, v, "State", S("QUEUED"));
    json_set(s->a, v, "SubmittedMs", json_int(s->a, s->now_ms));
    if (aws_has(s->c, "ExecutionParameters"))
        json_set(s->a, v, "Parameters", (Json *)aws_get(s->c, "ExecutionParameters"));
    for (size_t i = 0; i < COUNT_OF(results); i++)
        if (result_member(s, results[i]))
            json_set(s->a, v, results[i], (Json *)result_member(s, results[i]));
    if (reuse)
        json_set(s->a, v, "Reuse", (Json *)reuse);
    return v;
}

typedef VEC(CatChange) Changes;

static void start_changes(Start *s, Json *record, Changes *ret)
{
    Json *index = json_object(s->a), *token = json_object(s->a);

    json_set(s->a, index, "id", json_str(s->a, s->id));
    json_set(s->a, index, "ms", json_int(s->a, s->now_ms));
    vec_push(s->a, ret, ((CatChange){ .kind = CH_DOC, .doc_kind = S(K_QUERY), .doc_key = s->id, .doc = record }));
    vec_push(s->a, ret, ((CatChange){ .kind = CH_DOC, .doc_kind = S(K_INDEX), .doc_key = record_index_key(s->a, s->workgroup, s->now_ms, s->id), .doc = index }));
    if (!s->token_key.n)
        return;
    json_set(s->a, token, "id", json_str(s->a, s->id));
    json_set(s->a, token, "of", json_str(s->a, fingerprint(s)));
    vec_push(s->a, ret, ((CatChange){ .kind = CH_DOC, .doc_kind = S(K_TOKEN), .doc_key = s->token_key, .doc = token }));
}

/* ---- results used again -------------------------------------------------------------------------------------------------------------- */

/* The same text in the same context for the same principal. */
static void reuse_key(Start *s)
{
    Json *v = json_object(s->a), *params = json_array(s->a);

    if (s->stmt.kind != ST_QUERY)
        return;
    for vec_each(Str, p, &s->params)
        json_push(s->a, params, json_str(s->a, *p));
    set_str(s, v, "text", s->text);
    set_str(s, v, "workgroup", s->workgroup);
    set_str(s, v, "catalog", s->catalog);
    set_str(s, v, "database", s->database);
    set_str(s, v, "location", s->location);
    set_str(s, v, "who", s->c->who.arn);
    json_set(s->a, v, "params", params);
    s->reuse_key = hash_hex(s->a, HASH_SHA256, json_text(s->a, v));
}

/* The principal may still read all that the statement names. */
static bool may_still_read(Start *s)
{
    Props settings = {0};
    SessionOptions o = { .principal = s->c->who, .dialect = ATH_DIALECT, .namespace = unquoted(s->database), .settings = &settings };
    RowColumns columns = {0};
    DataType types[8] = {0};
    Session *ss;
    Batch *b;
    Error err;
    size_t n;
    int returns_rows;

    if (s->params.n > COUNT_OF(types) || cat_settings(s->svc, s->a, s->catalog, &settings, &err) != OK || session_open(s->svc, &o, &ss, &err) != OK)
        return false;
    bool ok = session_parse(ss, s->a, s->text, &b, &n, &err) == OK && session_describe(ss, s->a, b, types, s->params.n, &columns, &returns_rows, &err) == OK;
    session_close(ss);
    return ok;
}

static Status reuse_find(Start *s, Json **ret, Error *err)
{
    const Json *conf = json_get(aws_get(s->c, "ResultReuseConfiguration"), "ResultReuseByAgeConfiguration");
    int64_t age = json_get_int(conf, "MaxAgeInMinutes", 60);
    Json *newest = NULL, *record = NULL;
    ObjectInfo info;
    Error ignored;

    *ret = NULL;
    if (!json_get_bool(conf, "Enabled", false) || !s->reuse_key.n)
        return OK;
    TRY(rec_get(s->svc, s->a, K_REUSE, s->reuse_key, &newest, err));
    if (!newest || json_get_int(newest, "ms", 0) < s->now_ms - age * 60000)
        return OK;
    TRY(rec_get(s->svc, s->a, K_QUERY, json_get_str(newest, "id", (Str){0}), &record, err));
    if (record && store_stat(s->svc->store, s->a, json_get_str(record, "Output", (Str){0}), &info, &ignored) == OK && may_still_read(s))
        *ret = record;
    return OK;
}

static Status start_reused(Start *s, const Json *earlier, Error *err)
{
    static const char *const same[] = { "Output", "Columns", "Rows" };
    Json *record = start_record(s);
    AthEnd end = { .state = "SUCCEEDED" };
    Changes changes = {0};

    json_del(record, S("ReuseKey"));                     /* a result does not get younger by being used */
    record = record_ended(s->a, record, &end);
    rec_copy_members(s->a, record, earlier, same, COUNT_OF(same));
    json_set(s->a, record, "Reused", json_bool(s->a, true));
    start_changes(s, record, &changes);
    return cat_commit(s->svc->catalog, changes.p, changes.n, err);
}

/* ---- the operation ------------------------------------------------------------------------------------------------------------------- */

static Status start_run(Start *s, Error *err)
{
    Exec *x = calloc(1, sizeof *x);
    Changes changes = {0};

    if (!x)
        return FAIL(err, E_UNAVAILABLE, "out of memory");
    Arena *a = x->a = arena_create();
    x->door = ath_door(s->c);
    x->id = str_dup(a, s->id);
    x->workgroup = str_dup(a, s->workgroup);
    x->record = json_copy(a, start_record(s));
    x->text = str_dup(a, s->text);
    for vec_each(Str, p, &s->params)
        vec_push(a, &x->params, str_dup(a, *p));
    x->catalog = str_dup(a, s->catalog);
    x->namespace = str_lower(a, unquoted(s->database));
    x->output = str_dup(a, output_of(s));
    x->cutoff = json_get_int(s->conf, "BytesScannedCutoffPerQuery", 0);
    x->who = principal_dup(a, &s->c->who);
    x->stmt = s->stmt;
    x->stmt.type = str_dup(a, s->stmt.type);
    x->stmt.substatement = str_dup(a, s->stmt.substatement);
    x->stmt.what = str_dup(a, s->stmt.what);
    x->started_us = clock_mono_us();
    start_changes(s, x->record, &changes);
    TRY(pool_submit(x->door, x, changes.p, changes.n, err));
    pool_wait(ath_door(s->c), s->id, ATH_START_WAIT_MS);
    return OK;
}

Status ath_StartQueryExecution(AwsCall *c, Error *err)
{
    Start s = { .c = c, .a = c->a, .svc = ath_service(c), .id = uuid_v4(c->a), .now_ms = clock_ms() };
    Str earlier = {0};
    Json *same = NULL;

    TRY(start_workgroup(&s, err));
    TRY(start_token(&s, &earlier, err));
    if (earlier.n) {
        aws_put_str(c, "QueryExecutionId", earlier);
        return OK;
    }
    TRY(start_context(&s, err));
    TRY(start_statement(&s, err));
    TRY(start_location(&s, err));
    reuse_key(&s);
    TRY(reuse_find(&s, &same, err));
    TRY(same ? start_reused(&s, same, err) : start_run(&s, err));
    aws_put_str(c, "QueryExecutionId", s.id);
    return OK;
}
