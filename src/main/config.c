/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - every key in one table, and where its value came from.
 *
 * Later sources win: default, file, environment, command line.  Unknown keys and values are errors. */
#include "main/main_int.h"

#include <stdio.h>
#include <stdlib.h>

extern char **environ;

const ConfigKey config_keys[] = {
    { "account", "123456789012", "AWS account id in ARNs and catalog ids; fixed at first start", NULL },
    { "region", "us-east-1", "region in ARNs", NULL },
    { "lake", "127.0.0.1:9090", "address of the lake door: S3, Iceberg REST", NULL },
    { "lake.domain", "", "domain below which hosts are buckets (<bucket>.<domain>); empty: path style only", NULL },
    { "sql", "127.0.0.1:6875", "address of the SQL door: PostgreSQL wire protocol", NULL },
    { "manage", "127.0.0.1:9091", "address of the manage door: health, metrics", NULL },
    { "warehouse", "warehouse", "bucket of the account's catalog; made at start", NULL },
    { "log.format", "text", "form of log lines", "text|json" },
    { "log.level", "info", "least level that is logged", "debug|info|warn|error" },
    { "sql.trust_local", "off", "admit the users materialize and firn as root from loopback without a password", "on|off" },
    { "sql.tls_cert", "", "PEM file of the SQL door's certificate; empty: no TLS", NULL },
    { "sql.tls_key", "", "PEM file of its key", NULL },
    { "sql.max_connections", "1000", "SQL connections at once", NULL },
    { "lake.max_connections", "512", "lake connections at once", NULL },
    { "statement_timeout", "0", "milliseconds a statement may run; 0: no limit", NULL },
    { "aws_compat", "off", "reproduce AWS's own behaviour where firn does better", "on|off" },
    { "lakeformation.default_permissions", "iam_allowed_principals", "default permissions on new objects", "iam_allowed_principals|none" },
    { "auth.iceberg", "required", "off: Iceberg REST requests without credentials act as root, from loopback only", "required|off" },
    { "iceberg.file_root", "", "folder under which file: locations are allowed; empty: none", NULL },
    { "test.reset", "off", "on: POST <manage>/reset empties everything but the root account", "on|off" },
    { "memory_limit", "", "memory of the engine, as 4GB; empty: 60 % of the machine", NULL },
    { "threads", "0", "threads of the engine; 0: as many as processors", NULL },
    { "schedule.minimum", "600", "least seconds between scheduled refreshes of a view; not below 60", NULL },
    { "events.webhook", "", "URL that gets every notice of a refresh by POST; empty: none", NULL },
    { "managed.general_purpose", "off", "on: system-managed views in general purpose buckets too, protected there as well; off: in table buckets and the warehouse alone", "on|off" },
    { "aws.endpoint", "", "endpoint of AWS connections (CREATE CONNECTION … TO AWS) that name none; own: this server; empty: AWS", NULL },
    { "aws.connection_role_arn", "", "role that AWS connections act as before they assume their own; empty: role/MaterializeConnection of this server's IAM", NULL },
    { "aws.access_key_id", "", "key that takes this role where it is not this server's; empty: that of the environment, AWS_ACCESS_KEY_ID", NULL },
    { "aws.secret_access_key", "", "its secret", NULL },
    { "aws.session_token", "", "its session token, where it has one", NULL },
    { "maintenance.interval", "3600", "seconds between rounds of maintenance of tables in table buckets; 0: off", NULL },
    { "glue.jobs", "on", "Glue jobs; unsafe: run scripts even where they cannot be shut off from the data folder", "on|off|unsafe" },
    { "glue.spark_home", "", "Spark 4 installation for jobs; empty: what `make setup-spark` installed", NULL },
    { "glue.python", "", "python3 of pythonshell jobs; empty: the system's", NULL },
    { "glue.job_user", "", "user that runs job scripts, where the server is root; empty: nobody, in namespaces of its own", NULL },
    { "glue.job_memory", "2GB", "memory of each process of a job; 0: no limit", NULL },
    { "scrub.rate", "10485760", "bytes a second re-read to check files of managed views; 0: off", NULL },
    { "refresh.full_share", "0.5", "share of changed source rows beyond which a refresh is full", NULL },
    { "refresh.rewrite_rows", "50000", "views of up to this many rows are written anew at each change, without delete files", NULL },
    { "refresh.hot_bytes", "268435456", "memory for files that incremental refreshes look a few rows up in, by estimate; never more than a quarter of the engine's; 0: none", NULL },
    { "root.access_key_id", "", "fixed root access key; empty: made at first start", NULL },
    { "root.secret_access_key", "", "its secret", NULL },
};
const size_t config_nkeys = COUNT_OF(config_keys);

void config_init(Config *c, Arena *a)
{
    *c = (Config){ .a = a, .values = map_new(a) };
    for (size_t i = 0; i < config_nkeys; i++) {
        ConfigValue *v = arena_new(a, ConfigValue);
        *v = (ConfigValue){ str_c(config_keys[i].fallback), "default" };
        map_put(&c->values, str_c(config_keys[i].key), v);
    }
}

static const ConfigKey *key_of(Str key)
{
    for (size_t i = 0; i < config_nkeys; i++)
        if (str_eq(key, str_c(config_keys[i].key)))
            return &config_keys[i];
    return NULL;
}

Status config_set(Config *c, Str key, Str value, const char *origin, Error *err)
{
    const ConfigKey *k = key_of(key);
    StrVec choices = {0};

    if (!k)
        return FAIL(err, E_INVALID, "unknown configuration key '" STR_FMT "' (%s): 'firn config' lists all", STR_ARG(key), origin);
    if (k->choices) {
        str_split(c->a, str_c(k->choices), '|', &choices);
        if (!strvec_has(&choices, value))
            return FAIL(err, E_INVALID, "'" STR_FMT "' is not a value of %s (%s): one of %s", STR_ARG(value), k->key, origin, k->choices);
    }
    ConfigValue *v = map_get(&c->values, key);
    *v = (ConfigValue){ str_dup(c->a, value), origin };
    return OK;
}

static Status config_line(Config *c, Str line, Str path, int n, Error *err)
{
    Str key, value;

    line = str_trim(line);
    if (!line.n || line.p[0] == '#')
        return OK;
    if (!str_cut(line, '=', &key, &value))
        return FAIL(err, E_INVALID, STR_FMT ":%d: not of the form key = value", STR_ARG(path), n);
    TRY_CTX(config_set(c, str_trim(key), str_trim(value), "file", err), err, STR_FMT ":%d", STR_ARG(path), n);
    return OK;
}

Status config_file(Config *c, Str path, Error *err)
{
    FILE *f = fopen(str_z(c->a, path), "re");
    char buf[4096];
    Status s = OK;

    if (!f)
        return FAIL(err, E_NOT_FOUND, "configuration file '" STR_FMT "' cannot be opened", STR_ARG(path));
    for (int n = 1; s == OK && fgets(buf, sizeof buf, f); n++)
        s = config_line(c, str_c(buf), path, n, err);
    fclose(f);
    return s;
}

/* FIRN_SQL_TRUST_LOCAL is sql.trust_local: keys are looked for by their own spelling. */
Status config_environment(Config *c, Error *err)
{
    for (size_t i = 0; i < config_nkeys; i++) {
        StrBuf name = sb_new(c->a);
        sb_addc(&name, "FIRN_");
        for (const char *p = config_keys[i].key; *p; p++)
            sb_byte(&name, *p == '.' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p);
        const char *value = getenv(sb_str(&name).p);
        if (value)
            TRY_CTX(config_set(c, str_c(config_keys[i].key), str_c(value), "environment", err), err, "%s", name.p);
    }
    return OK;
}

Str config_get(const Config *c, const char *key) { return ((ConfigValue *)map_get(&c->values, str_c(key)))->value; }
const char *config_origin(const Config *c, const char *key) { return ((ConfigValue *)map_get(&c->values, str_c(key)))->origin; }
bool config_on(const Config *c, const char *key) { return str_eq(config_get(c, key), S("on")); }

int64_t config_int(const Config *c, const char *key)
{
    int64_t n = 0;
    return str_to_i64(config_get(c, key), &n) ? n : 0;
}

/* The key is the configuration's or the environment's, never half of each. */
static void aws_options(const Config *c, ServiceOptions *o)
{
    o->aws_endpoint = config_get(c, "aws.endpoint");
    o->aws_role = config_get(c, "aws.connection_role_arn");
    o->aws_key = config_get(c, "aws.access_key_id");
    o->aws_secret = config_get(c, "aws.secret_access_key");
    o->aws_token = config_get(c, "aws.session_token");
    if (o->aws_key.n)
        return;
    o->aws_key = str_c(getenv("AWS_ACCESS_KEY_ID"));
    o->aws_secret = str_c(getenv("AWS_SECRET_ACCESS_KEY"));
    o->aws_token = str_c(getenv("AWS_SESSION_TOKEN"));
}

void config_service(const Config *c, ServiceOptions *o)
{
    *o = (ServiceOptions){ .dir = c->data, .account = config_get(c, "account"), .region = config_get(c, "region"), .warehouse_bucket = config_get(c, "warehouse"),
                           .memory_limit = config_get(c, "memory_limit"), .threads = (int)config_int(c, "threads"), .file_root = config_get(c, "iceberg.file_root"),
                           .root_key_id = config_get(c, "root.access_key_id"), .root_secret = config_get(c, "root.secret_access_key"),
                           .statement_timeout_ms = config_int(c, "statement_timeout"), .scrub_bytes_s = config_int(c, "scrub.rate"),
                           .schedule_minimum_s = max_i64(60, config_int(c, "schedule.minimum")) };
    o->lake_domain = config_get(c, "lake.domain");
    o->upkeep_s = max_i64(0, config_int(c, "maintenance.interval"));
    o->aws_compat = config_on(c, "aws_compat");
    o->managed_anywhere = config_on(c, "managed.general_purpose");
    o->lf_defaults = config_get(c, "lakeformation.default_permissions");
    o->webhook = config_get(c, "events.webhook");
    aws_options(c, o);
    if (!str_to_f64(config_get(c, "refresh.full_share"), &o->refresher.full_share))
        o->refresher.full_share = 0.5;
    o->hot_bytes = max_i64(0, config_int(c, "refresh.hot_bytes"));
    o->refresher.rewrite_rows = max_i64(1, config_int(c, "refresh.rewrite_rows"));
}

int cmd_config(Config *c, Args *args)
{
    if (args->at < args->n) {
        const ConfigKey *k = key_of(str_c(args->v[args->at]));
        if (!k)
            return usage_error("unknown configuration key '%s'", args->v[args->at]);
        printf(STR_FMT "\n", STR_ARG(config_get(c, k->key)));
        return EXIT_DONE;
    }
    for (size_t i = 0; i < config_nkeys; i++) {
        bool secret = (str_ends(str_c(config_keys[i].key), S("secret_access_key")) || str_ends(str_c(config_keys[i].key), S("session_token"))) && config_get(c, config_keys[i].key).n;
        printf("%-34s = %-24s # %s; %s%s%s\n", config_keys[i].key, secret ? "********" : str_z(c->a, config_get(c, config_keys[i].key)), config_origin(c, config_keys[i].key),
               config_keys[i].meaning, config_keys[i].choices ? "; " : "", config_keys[i].choices ? config_keys[i].choices : "");
    }
    return EXIT_DONE;
}
