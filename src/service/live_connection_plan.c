/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_plan.c - the rules of each type of connection, in Materialize's order and words (spec/materialize.md 1.2, 1.3, 1.11b).
 *
 * Nothing is asked outside: a plan says yes or no from the statement and the names it uses.  What firn has no implementation for is refused here, by name. */
#include "service/live_connection_int.h"

#include <ctype.h>

/* ---- shared -------------------------------------------------------------------------------------------------------------------------------------- */

static bool has(const ConnPlan *p, const char *name) { return conn_has(p->options, name); }

static Status is_of_type(const ConnPlan *p, const char *option, const char *type, const char *words, Error *err)
{
    Object o;

    TRY(objects_get(p->r->svc->objects, p->a, conn_object(p->options, option), &o, err));
    return str_eq(o.type, str_c(type)) ? OK : FAIL(err, E_INVALID, STR_FMT " is not %s connection", STR_ARG(o.name), words);
}

static Status is_aws(const ConnPlan *p, const char *option, Error *err) { return is_of_type(p, option, "aws", "an AWS", err); }

/* scheme://host[:port][/path], nothing else in it. */
static Status check_url(Str url, const char *what, Error *err)
{
    ptrdiff_t at = str_find(url, S("://"));
    Str rest, host, after;

    if (at <= 0)
        return FAIL(err, E_INVALID, "parsing %s: relative URL without a base", what);
    if (!str_starts(url, S("http://")) && !str_starts(url, S("https://")))
        return FAIL(err, E_INVALID, "parsing %s: the scheme is http or https", what);
    rest = str_from(url, (size_t)at + 3);
    str_cut(rest, '/', &host, &after);
    if (!host.n || host.p[0] == ':')
        return FAIL(err, E_INVALID, "parsing %s: empty host", what);
    if (str_chr(host, '@') >= 0)
        return FAIL(err, E_INVALID, "parsing %s: credentials do not belong into a URL", what);
    for (size_t i = 0; i < url.n; i++)
        if (isspace((unsigned char)url.p[i]) || (unsigned char)url.p[i] < 0x20)
            return FAIL(err, E_INVALID, "parsing %s: invalid character in URL", what);
    return OK;
}

static Status no_tunnels(const ConnPlan *p, Error *err)
{
    if (has(p, "SSH TUNNEL"))
        return FAIL(err, E_UNSUPPORTED, "SSH TUNNEL is not supported");
    if (has(p, "AWS PRIVATELINK"))
        return FAIL(err, E_UNSUPPORTED, "AWS PRIVATELINK is not supported");
    return OK;
}

/* ---- AWS -------------------------------------------------------------------------------------------------------------------------------------------- */

Status conn_plan_aws(ConnPlan *p, Error *err)
{
    bool id = has(p, "ACCESS KEY ID"), secret = has(p, "SECRET ACCESS KEY"), token = has(p, "SESSION TOKEN"), role = has(p, "ASSUME ROLE ARN");

    if ((id || secret || token) && !(id && secret))
        return FAIL(err, E_INVALID, "must specify both ACCESS KEY ID and SECRET ACCESS KEY with optional SESSION TOKEN");
    if (has(p, "ASSUME ROLE SESSION NAME") && !role)
        return FAIL(err, E_INVALID, "must specify ASSUME ROLE ARN with optional ASSUME ROLE SESSION NAME");
    if (!id && !role)
        return FAIL(err, E_INVALID, "must specify either ASSUME ROLE ARN or ACCESS KEY ID and SECRET ACCESS KEY");
    if (id && role)
        return FAIL(err, E_INVALID, "cannot specify both ACCESS KEY ID and ASSUME ROLE ARN");
    if (has(p, "ENDPOINT") && !conn_text(p->options, "ENDPOINT").n)
        (void)!json_del(p->options, S("ENDPOINT"));
    return OK;
}

/* ---- Iceberg catalogs --------------------------------------------------------------------------------------------------------------------------------- */

#define BIGLAKE "https://biglake.googleapis.com/iceberg/v1/restcatalog"

static Status no_option(const ConnPlan *p, const char *type, const char *const *names, size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++)
        if (has(p, names[i]))
            return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG %s connections do not support %s", type, names[i]);
    return OK;
}

/* A word of a signature's scope. */
static Status scope_word(const ConnPlan *p, const char *name, Error *err)
{
    Str v = conn_text(p->options, name);
    bool good = v.n && v.n <= 64;

    for (size_t i = 0; good && i < v.n; i++)
        good = isalnum((unsigned char)v.p[i]) || v.p[i] == '-';
    return good || !has(p, name) ? OK : FAIL(err, E_INVALID, "invalid %s option value: letters, digits and '-', at most 64", name);
}

/* s3tablesrest and glue: requests signed by an AWS connection. */
static Status plan_signed(ConnPlan *p, const char *type, Error *err)
{
    static const char *const others[] = { "GCP CONNECTION", "OAUTH2 SERVER URL", "ACCESS DELEGATION", "STORAGE PROVIDER", "CREDENTIAL", "SCOPE", "BEARER TOKEN", "SIGNING NAME", "SIGNING REGION" };

    TRY(no_option(p, type, others, COUNT_OF(others), err));
    if (!has(p, "WAREHOUSE") && strcmp(type, "glue") != 0)
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG %s connections must specify WAREHOUSE", type);
    if (!has(p, "AWS CONNECTION"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG %s connections require an AWS connection", type);
    return is_aws(p, "AWS CONNECTION", err);
}

/* A token of Google's is good wherever it is sent: it goes to Google alone. */
static Status plan_gcp(const ConnPlan *p, Str provider, Error *err)
{
    if (has(p, "OAUTH2 SERVER URL"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: OAUTH2 SERVER URL applies to CREDENTIAL auth, not GCP CONNECTION");
    if (provider.n && !str_ieq(provider, S("gcs")))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG GCP CONNECTION implies STORAGE PROVIDER 'gcs', not '" STR_FMT "'", STR_ARG(provider));
    TRY(is_of_type(p, "GCP CONNECTION", "gcp", "a GCP", err));
    if (!str_eq(conn_text(p->options, "URL"), S(BIGLAKE)))
        return FAIL(err, E_INVALID, "GCP connection can only be used with '" BIGLAKE "'");
    return OK;
}

Status conn_plan_gcp(ConnPlan *p, Error *err)
{
    return has(p, "SERVICE ACCOUNT KEY") ? OK : FAIL(err, E_INVALID, "invalid CONNECTION: GCP connections must specify SERVICE ACCOUNT KEY");
}

static Status check_provider(ConnPlan *p, Error *err)
{
    static const char *const known[] = { "s3", "gcs", "adls" };
    Str v = conn_text(p->options, "STORAGE PROVIDER");

    if (!has(p, "STORAGE PROVIDER"))
        return OK;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_ieq(v, str_c(known[i])))
            return OK;
    return FAIL(err, E_INVALID, "invalid STORAGE PROVIDER option value: invalid iceberg storage provider, expected 's3', 'gcs', or 'adls'");
}

static Status check_delegation(ConnPlan *p, Error *err)
{
    Str v = conn_text(p->options, "ACCESS DELEGATION");

    if (!has(p, "ACCESS DELEGATION") || str_ieq(v, S("vended-credentials")) || str_ieq(v, S("remote-signing")))
        return OK;
    return FAIL(err, E_INVALID, "invalid ACCESS DELEGATION option value: expected 'vended-credentials' or 'remote-signing'");
}

/* Requests signed with an AWS connection's keys: as a service's behind API Gateway. */
static Status plan_signing(const ConnPlan *p, Error *err)
{
    if (!has(p, "SIGNING NAME"))
        return has(p, "SIGNING REGION") ? FAIL(err, E_INVALID, "invalid CONNECTION: SIGNING REGION needs a SIGNING NAME") : OK;
    if (!has(p, "AWS CONNECTION"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: SIGNING NAME needs an AWS CONNECTION whose keys sign");
    if (has(p, "GCP CONNECTION"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG rest connections may set SIGNING NAME or GCP CONNECTION, not both");
    TRY(scope_word(p, "SIGNING NAME", err));
    TRY(scope_word(p, "SIGNING REGION", err));
    return is_aws(p, "AWS CONNECTION", err);
}

static Status plan_rest(ConnPlan *p, Error *err)
{
    bool credential = has(p, "CREDENTIAL"), gcp = has(p, "GCP CONNECTION"), bearer = has(p, "BEARER TOKEN");
    Str oauth = conn_text(p->options, "OAUTH2 SERVER URL");

    if (has(p, "AWS CONNECTION") && !has(p, "SIGNING NAME")) {
        RAISE(err, E_INVALID, "invalid CONNECTION: ICEBERG rest connections do not support AWS CONNECTION.\n\nTry s3tablesrest instead.");
        error_hint(err, "A rest catalog whose requests are signed (SigV4) takes an AWS CONNECTION with a SIGNING NAME.");
        return E_INVALID;
    }
    TRY(plan_signing(p, err));
    if (credential && gcp)
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG rest connections may set CREDENTIAL or GCP CONNECTION, not both");
    if (bearer && (credential || gcp))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG rest connections may set BEARER TOKEN or CREDENTIAL, not both");
    if (!credential && !gcp && !bearer && !has(p, "SIGNING NAME"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG rest connections require a CREDENTIAL or GCP CONNECTION");
    if (gcp)
        return plan_gcp(p, conn_text(p->options, "STORAGE PROVIDER"), err);
    if (oauth.n)
        TRY(check_url(oauth, "OAuth2 server url", err));
    return OK;
}

Status conn_plan_iceberg(ConnPlan *p, Error *err)
{
    Str type = conn_text(p->options, "CATALOG TYPE");

    TRY(check_provider(p, err));
    TRY(check_delegation(p, err));
    if (!has(p, "CATALOG TYPE"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: ICEBERG connections must specify CATALOG TYPE");
    Str low = str_lower(p->a, type);
    if (!str_eq(low, S("s3tablesrest")) && !str_eq(low, S("rest")) && !str_eq(low, S("glue")))
        return FAIL(err, E_INVALID, "invalid CATALOG TYPE option value: invalid iceberg catalog type, expected 's3tablesrest', 'rest', or 'glue'");
    json_set(p->a, json_get(p->options, "CATALOG TYPE"), "text", json_str(p->a, low));
    if (!has(p, "URL"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: must specify URL");
    TRY(check_url(conn_text(p->options, "URL"), "Iceberg catalog url", err));
    return str_eq(low, S("rest")) ? plan_rest(p, err) : plan_signed(p, str_z(p->a, low), err);
}

/* ---- Kafka ---------------------------------------------------------------------------------------------------------------------------------------------- */

static Status plan_brokers(const ConnPlan *p, Error *err)
{
    int n = has(p, "BROKER") + has(p, "BROKERS") + has(p, "AWS PRIVATELINK");
    const Json *list = json_get(json_get(p->options, has(p, "BROKERS") ? "BROKERS" : "BROKER"), "list");

    if (!n)
        return FAIL(err, E_INVALID, "invalid CONNECTION: must set one of BROKER, BROKERS, or AWS PRIVATELINK");
    if (n > 1)
        return FAIL(err, E_INVALID, "invalid CONNECTION: can only set one of BROKER, BROKERS, or AWS PRIVATELINK");
    for (size_t i = 0; i < json_len(list); i++)
        if (str_chr(json_at(list, i)->string, ',') >= 0)
            return FAIL(err, E_INVALID, "invalid CONNECTION: cannot specify multiple Kafka broker addresses in one string.\n\nInstead, specify BROKERS using multiple strings, e.g. BROKERS ('kafka:9092', 'kafka:9093')");
    return OK;
}

typedef struct Protocol { const char *name; int tls, sasl; } Protocol;

static Status kafka_protocol(const ConnPlan *p, Protocol *ret, Error *err)
{
    static const Protocol known[] = { { "PLAINTEXT", 0, 0 }, { "SSL", 1, 0 }, { "SASL_PLAINTEXT", 0, 1 }, { "SASL_SSL", 1, 1 } };
    Str v = conn_text(p->options, "SECURITY PROTOCOL");
    bool sasl = has(p, "AWS CONNECTION") || has(p, "SASL MECHANISMS") || has(p, "SASL USERNAME") || has(p, "SASL PASSWORD");

    *ret = known[sasl ? 3 : 1];                     /* secure unless it is said otherwise */
    if (!has(p, "SECURITY PROTOCOL"))
        return OK;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_ieq(v, str_c(known[i].name))) {
            *ret = known[i];
            return OK;
        }
    return FAIL(err, E_INVALID, "unknown security protocol: " STR_FMT, STR_ARG(str_upper(p->a, v)));
}

static Status kafka_sasl(ConnPlan *p, Error *err)
{
    static const char *const needed[] = { "SASL MECHANISMS", "SASL USERNAME", "SASL PASSWORD" };

    if (has(p, "AWS CONNECTION")) {
        TRY(is_aws(p, "AWS CONNECTION", err));
        return FAIL(err, E_UNSUPPORTED, "AWS IAM authentication of Kafka is not supported");
    }
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!has(p, needed[i]))
            return FAIL(err, E_INVALID, "%s must be specified", needed[i]);
    json_set(p->a, json_get(p->options, "SASL MECHANISMS"), "text", json_str(p->a, str_upper(p->a, conn_text(p->options, "SASL MECHANISMS"))));
    return OK;
}

/* The first option that the protocol has no use for. */
static Status kafka_left_over(const ConnPlan *p, const Protocol *q, Error *err)
{
    static const struct { const char *name; int tls; } all[] = { { "AWS CONNECTION", 0 }, { "SASL MECHANISMS", 0 }, { "SASL PASSWORD", 0 }, { "SASL USERNAME", 0 },
                                                                 { "SSL CERTIFICATE", 1 }, { "SSL CERTIFICATE AUTHORITY", 1 }, { "SSL KEY", 1 } };
    bool key_alone = has(p, "SSL KEY") && !has(p, "SSL CERTIFICATE");

    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (has(p, all[i].name) && (all[i].tls ? !q->tls || (key_alone && strcmp(all[i].name, "SSL KEY") == 0) : !q->sasl))
            return FAIL(err, E_INVALID, "option %s not supported with this configuration", all[i].name);
    return OK;
}

Status conn_plan_kafka(ConnPlan *p, Error *err)
{
    Protocol q;
    int64_t n;

    TRY(kafka_protocol(p, &q, err));
    if (q.tls && has(p, "SSL CERTIFICATE") && !has(p, "SSL KEY"))
        return FAIL(err, E_INVALID, "SSL KEY must be specified with SSL CERTIFICATE");
    if (q.sasl)
        TRY(kafka_sasl(p, err));
    TRY(kafka_left_over(p, &q, err));
    TRY(plan_brokers(p, err));
    TRY(no_tunnels(p, err));
    if (has(p, "PROGRESS TOPIC REPLICATION FACTOR") && (!str_to_i64(conn_text(p->options, "PROGRESS TOPIC REPLICATION FACTOR"), &n) || n <= 0))
        return FAIL(err, E_INVALID, "invalid CONNECTION: PROGRESS TOPIC REPLICATION FACTOR must be greater than 0");
    return OK;
}

/* ---- the schema registry, PostgreSQL ---------------------------------------------------------------------------------------------------------------------- */

static Str url_path(Str url)
{
    Str rest = str_from(url, (size_t)str_find(url, S("://")) + 3), host, path;
    str_cut(rest, '/', &host, &path);
    return path;
}

Status conn_plan_registry(ConnPlan *p, Error *err)
{
    if (!has(p, "URL"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: must specify URL");
    TRY(check_url(conn_text(p->options, "URL"), "schema registry url", err));
    if (url_path(conn_text(p->options, "URL")).n)
        return FAIL(err, E_INVALID, "invalid CONNECTION: URL must have an empty path");
    if (has(p, "SSL KEY") != has(p, "SSL CERTIFICATE"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: reading from SSL-auth Confluent Schema Registry requires both SSL KEY and SSL CERTIFICATE");
    return no_tunnels(p, err);
}

Status conn_plan_postgres(ConnPlan *p, Error *err)
{
    static const char *const modes[] = { "disable", "require", "required", "verify_ca", "verify-ca", "verify_full", "verify-full" }, *const needed[] = { "DATABASE", "HOST", "USER" };
    Str mode = conn_text(p->options, "SSL MODE");
    bool known = !has(p, "SSL MODE");

    if (has(p, "SSL KEY") != has(p, "SSL CERTIFICATE"))
        return FAIL(err, E_INVALID, "invalid CONNECTION: both SSL KEY and SSL CERTIFICATE are required");
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        known = known || str_eq(mode, str_c(modes[i]));
    if (!known)
        return FAIL(err, E_INVALID, "invalid CONNECTION: unknown SSL MODE \"" STR_FMT "\"", STR_ARG(mode));
    TRY(no_tunnels(p, err));
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (!has(p, needed[i]))
            return FAIL(err, E_INVALID, "%s option is required", needed[i]);
    return OK;
}

Status conn_plan_none(ConnPlan *p, Error *err)
{
    RAISE(err, E_UNSUPPORTED, "%s connections are not supported", p->type->title);
    error_hint(err, "Supported are AWS, GCP, ICEBERG CATALOG, KAFKA, CONFLUENT SCHEMA REGISTRY and POSTGRES.");
    return E_UNSUPPORTED;
}
