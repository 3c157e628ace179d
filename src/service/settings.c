/* SPDX-License-Identifier: Apache-2.0 */
/* settings.c - SET, RESET, SHOW of session settings.
 *
 * Spark's keys (anything that begins with "spark.") and PostgreSQL's run-time parameters that clients set.  Settings live in this
 * session and steer firn alone; none of them reaches the engine.  A parameter that nobody knows is an error in the postgres dialect. */
#include "service/realm.h"
#include "service/live_sql.h"
#include "service/session_int.h"

typedef enum { FREE, FIXED, SYSTEM } SettingHow;         /* SYSTEM: ALTER SYSTEM alone sets it, a whole number or a size, for all */
typedef struct Parameter { const char *name, *value; int reported; SettingHow fixed; } Parameter;

/* What PostgreSQL clients read and set; reported ones go out as ParameterStatus. */
static const Parameter parameters[] = {
    { "server_version", "15.0 (firn)", 1, 1 }, { "server_version_num", "150000", 0, 1 }, { "server_encoding", "UTF8", 1, 1 },
    { "client_encoding", "UTF8", 1, 0 }, { "DateStyle", "ISO, MDY", 1, 0 }, { "IntervalStyle", "postgres", 1, 0 }, { "TimeZone", "UTC", 1, 0 },
    { "integer_datetimes", "on", 1, 1 }, { "standard_conforming_strings", "on", 1, 0 }, { "is_superuser", "on", 1, 1 },
    { "application_name", "", 1, 0 }, { "session_authorization", "", 1, 1 }, { "default_transaction_read_only", "off", 1, 0 },
    { "in_hot_standby", "off", 1, 1 }, { "extra_float_digits", "1", 0, 0 }, { "statement_timeout", "0", 0, 0 }, { "lock_timeout", "0", 0, 0 },
    { "idle_in_transaction_session_timeout", "0", 0, 0 }, { "search_path", "public", 0, 0 }, { "transaction_isolation", "serializable", 0, 0 },
    { "default_transaction_isolation", "serializable", 0, 0 }, { "transaction_read_only", "off", 0, 0 }, { "transaction_deferrable", "off", 0, 0 },
    { "default_transaction_deferrable", "off", 0, 0 }, { "client_min_messages", "notice", 0, 0 }, { "bytea_output", "hex", 0, 0 },
    { "row_security", "on", 0, 0 }, { "max_identifier_length", "255", 0, 1 }, { "default_table_access_method", "iceberg", 0, 0 },
    { "cluster", "quickstart", 0, 0 }, { "database", "", 0, 0 }, { "auto_route_catalog_queries", "on", 0, 0 }, { "emit_timestamp_notice", "off", 0, 0 },
    { "synchronous_commit", "on", 0, 0 }, { "session_replication_role", "origin", 0, 0 }, { "jit", "off", 0, 0 }, { "xmloption", "content", 0, 0 },
};

/* What Materialize's clients read and set beside: told in sessions of the live side. */
static const Parameter live_parameters[] = {
    { "mz_version", "v26.34.0 (firn)", 1, 1 }, { "welcome_message", "off", 1, 0 }, { "cluster_replica", "", 0, 0 }, { "current_object_missing_warnings", "on", 0, 0 },
    { "emit_introspection_query_notice", "on", 0, 0 }, { "emit_plan_insights_notice", "off", 0, 0 }, { "emit_trace_id_notice", "off", 0, 0 }, { "enable_session_rbac_checks", "on", 0, 0 },
    { "failpoints", "", 0, 0 }, { "force_source_table_syntax", "off", 0, 0 }, { "optimizer_e2e_latency_warning_threshold", "500 ms", 0, 0 }, { "real_time_recency", "off", 0, 0 },
    { "real_time_recency_timeout", "10 s", 0, 0 }, { "sql_safe_updates", "off", 0, 0 }, { "enable_default_connection_validation", "on", 0, 0 }, { "statement_logging_sample_rate", "0.01", 0, 0 }, { "max_query_result_size", "1GB", 0, 0 },
    { "max_aws_privatelink_connections", "0", 0, FIXED }, { "max_credit_consumption_rate", "1024", 0, FIXED }, { "max_clusters", "10", 0, SYSTEM }, { "max_connections", "5000", 0, SYSTEM },
    { "max_databases", "1000", 0, SYSTEM }, { "max_kafka_connections", "1000", 0, SYSTEM }, { "max_materialized_views", "500", 0, SYSTEM },
    { "max_objects_per_schema", "1000", 0, SYSTEM }, { "max_postgres_connections", "1000", 0, SYSTEM }, { "max_replicas_per_cluster", "5", 0, SYSTEM },
    { "max_result_size", "1GB", 0, SYSTEM }, { "max_roles", "1000", 0, SYSTEM }, { "max_schemas_per_database", "1000", 0, SYSTEM }, { "max_secrets", "100", 0, SYSTEM },
    { "max_sinks", "1000", 0, SYSTEM }, { "max_sources", "200", 0, SYSTEM }, { "max_tables", "200", 0, SYSTEM },
};

static const char *const live_reported[] = { "cluster", "database", "search_path" };

static const Parameter *parameter(Str key)
{
    for (size_t i = 0; i < COUNT_OF(parameters); i++)
        if (str_ieq(key, str_c(parameters[i].name)))
            return &parameters[i];
    for (size_t i = 0; i < COUNT_OF(live_parameters); i++)
        if (str_ieq(key, str_c(live_parameters[i].name)))
            return &live_parameters[i];
    return NULL;
}

static bool is_live(const Session *ss) { return ss->dialect == DIALECT_POSTGRES && realm_has_database(ss->svc->realm, ss->database); }

Str setting_get(const Session *ss, Str key, Str fallback)
{
    return props_get(&ss->settings, key, fallback);
}

bool setting_on(const Session *ss, Str key)
{
    Str v = setting_get(ss, key, (Str){0});
    return str_ieq(v, S("true")) || str_ieq(v, S("on")) || str_eq(v, S("1"));
}

/* A whole number with a unit behind it, or alone. */
typedef struct Unit { const char *name; int64_t factor; } Unit;

static bool parse_with_unit(Str v, const Unit *units, size_t nunits, int64_t *ret)
{
    size_t n = 0;

    while (n < v.n && v.p[n] >= '0' && v.p[n] <= '9')
        n++;
    Str unit = str_trim(str_from(v, n));
    if (!n || n > 15 || !str_to_i64(str_sub(v, 0, n), ret))
        return false;
    for (size_t i = 0; i < nunits; i++)
        if (str_ieq(unit, str_c(units[i].name)))
            return !__builtin_mul_overflow(*ret, units[i].factor, ret);
    return !unit.n;
}

/* "250ms", "30s", "5min", "250" (milliseconds) to milliseconds. */
static bool parse_ms(Str v, int64_t *ms)
{
    static const Unit units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    return parse_with_unit(v, units, COUNT_OF(units), ms);
}

/* "1GB", "500 MB", "1073741824": bytes. */
bool setting_bytes(Str v, int64_t *ret)
{
    static const Unit units[] = { { "B", 1 }, { "kB", 1024 }, { "MB", 1024 * 1024 }, { "GB", 1024 * 1024 * 1024 }, { "TB", 1024LL * 1024 * 1024 * 1024 } };
    return parse_with_unit(v, units, COUNT_OF(units), ret);
}

static Status check_value(Str key, Str *value, Arena *a, Error *err)
{
    int64_t ms;

    if (str_ieq(key, S("statement_timeout"))) {
        if (!parse_ms(*value, &ms))
            return FAIL(err, E_INVALID, "invalid value for parameter \"statement_timeout\": \"" STR_FMT "\"", STR_ARG(*value));
        *value = str_fmt(a, "%lld", (long long)ms);
    }
    if (str_ieq(key, S("max_query_result_size")) && !setting_bytes(*value, &ms)) {
        RAISE(err, E_INVALID, "parameter \"max_query_result_size\" requires a \"bytes\" value");
        memcpy(err->sqlstate, "22023", 6);
        return E_INVALID;
    }
    if (str_ieq(key, S("client_encoding")) && !str_ieq(*value, S("UTF8")) && !str_ieq(*value, S("UTF-8")) && !str_ieq(*value, S("unicode")))
        return FAIL(err, E_UNSUPPORTED, "client_encoding \"" STR_FMT "\" is not supported: only UTF8 is", STR_ARG(*value));
    return OK;
}

static bool is_setting(const Session *ss, Str key)
{
    return parameter(key) || str_starts(key, S("spark.")) || str_starts(key, S("hive.")) || str_chr(key, '.') >= 0 || props_has(&ss->settings, key);
}

static Status unknown_setting(Str key, Error *err)
{
    RAISE(err, E_NOT_FOUND, "unrecognized configuration parameter \"" STR_FMT "\"", STR_ARG(key));
    memcpy(err->sqlstate, "42704", 6);
    return E_NOT_FOUND;
}

static Status refuse_fixed(const Parameter *p, Error *err)
{
    if (!p || !p->fixed)
        return OK;
    RAISE(err, E_DENIED, "parameter \"%s\" cannot be changed", p->name);
    memcpy(err->sqlstate, "55P02", 6);
    return E_DENIED;
}

static Status check_limit(const Parameter *p, Str value, Error *err)
{
    bool size = strstr(p->name, "_size") != NULL;
    int64_t n;

    if (size ? setting_bytes(value, &n) : str_to_i64(value, &n) && n >= 0)
        return OK;
    RAISE(err, E_INVALID, "parameter \"%s\" requires a \"%s\" value", p->name, size ? "bytes" : "unsigned integer");
    memcpy(err->sqlstate, "22023", 6);
    return E_INVALID;
}

Status setting_check(Arena *a, Str key, Str *value, Error *err)
{
    const Parameter *p = parameter(key);

    if (!p && !str_starts(key, S("spark.")) && !str_starts(key, S("hive.")))
        return unknown_setting(key, err);
    if (p && p->fixed == SYSTEM)
        return check_limit(p, *value, err);
    TRY(refuse_fixed(p, err));
    return check_value(key, value, a, err);
}

Str setting_system(Service *s, Arena *a, Str key)
{
    const Parameter *p = parameter(key);
    Props all = {0};

    realm_settings(s->realm, a, &all);
    for vec_each(KeyValue, x, &all)
        if (str_ieq(x->key, key))
            return x->value;
    return p ? str_c(p->value) : (Str){0};
}

Status session_set(Session *ss, Str key, Str value, Error *err)
{
    const Parameter *p = parameter(key);
    bool spark = str_starts(key, S("spark.")) || str_starts(key, S("hive."));

    TRY(refuse_fixed(p, err));
    if (!is_setting(ss, key) && ss->dialect != DIALECT_SPARK)
        return unknown_setting(key, err);
    if (!p && !spark && ss->dialect == DIALECT_SPARK && str_chr(key, '.') < 0)
        return FAIL(err, E_INVALID, "unknown setting '" STR_FMT "': firn knows spark.* and PostgreSQL's session parameters", STR_ARG(key));
    TRY(check_value(key, &value, ss->arena, err));
    props_set(ss->arena, &ss->settings, p ? str_c(p->name) : str_dup(ss->arena, key), str_dup(ss->arena, value));
    return OK;
}

static Str shown(Session *ss, Str key)
{
    const Parameter *p = parameter(key);
    if (p && p->fixed == SYSTEM)
        return setting_system(ss->svc, ss->arena, str_c(p->name));
    if (str_ieq(key, S("database")))
        return setting_get(ss, S("database"), ss->database);
    if (str_ieq(key, S("transaction_isolation")) && is_live(ss))
        return setting_get(ss, S("transaction_isolation"), S("strict serializable"));
    return setting_get(ss, p ? str_c(p->name) : key, p ? str_c(p->value) : (Str){0});
}

void session_parameters(Session *ss, Arena *a, Props *ret)
{
    for (size_t i = 0; i < COUNT_OF(parameters); i++)
        if (parameters[i].reported)
            props_set(a, ret, str_c(parameters[i].name), shown(ss, str_c(parameters[i].name)));
    for (size_t i = 0; is_live(ss) && i < COUNT_OF(live_parameters); i++)
        if (live_parameters[i].reported)
            props_set(a, ret, str_c(live_parameters[i].name), shown(ss, str_c(live_parameters[i].name)));
    for (size_t i = 0; is_live(ss) && i < COUNT_OF(live_reported); i++)
        props_set(a, ret, str_c(live_reported[i]), shown(ss, str_c(live_reported[i])));
    if (ss->application.n && !props_has(&ss->settings, S("application_name")))
        props_set(a, ret, S("application_name"), ss->application);
    props_set(a, ret, S("session_authorization"), ss->principal.key_id);
}

/* ---- statements ------------------------------------------------------------------------------------------------------------- */

static void pair(Rows *rows, Str key, Str value)
{
    Value *row = rows_row(rows);
    cell_str(rows, row, 0, key);
    cell_str(rows, row, 1, value);
}

/* Spark answers SET with the key and its value. */
static Status spark_set(Run *r, Rows *rows, Error *err)
{
    rows_column(rows, "key", DT_STRING);
    rows_column(rows, "value", DT_STRING);
    rows->tag = "SET";
    if (!r->st->setting.n) {
        for (size_t i = 0; i < r->ss->settings.n; i++)
            pair(rows, r->ss->settings.p[i].key, r->ss->settings.p[i].value);
        return OK;
    }
    if (r->st->kind == ST_SET && r->st->setting_value.p)
        TRY(session_set(r->ss, r->st->setting, r->st->setting_value, err));
    Str v = shown(r->ss, r->st->setting);
    pair(rows, r->st->setting, v.p ? v : S("<undefined>"));
    return OK;
}

static Status show_setting(Run *r, Rows *rows, Error *err)
{
    const Parameter *p = parameter(r->st->setting);

    rows->tag = "SHOW";
    if (str_ieq(r->st->setting, S("all")) || str_eq(r->st->what, S("all"))) {
        rows_column(rows, "name", DT_STRING);
        rows_column(rows, "setting", DT_STRING);
        for (size_t i = 0; i < COUNT_OF(parameters); i++)
            pair(rows, str_c(parameters[i].name), shown(r->ss, str_c(parameters[i].name)));
        for (size_t i = 0; is_live(r->ss) && i < COUNT_OF(live_parameters); i++)
            pair(rows, str_c(live_parameters[i].name), shown(r->ss, str_c(live_parameters[i].name)));
        return OK;
    }
    if (!p && !props_has(&r->ss->settings, r->st->setting))
        return unknown_setting(r->st->setting, err);
    rows_column(rows, p ? p->name : str_z(r->a, r->st->setting), DT_STRING);
    cell_str(rows, rows_row(rows), 0, shown(r->ss, r->st->setting));
    return OK;
}

Status do_set(Run *r, Rows *rows, Error *err)
{
    if (r->st->kind == ST_SHOW_SETTING)
        return show_setting(r, rows, err);
    if (r->st->kind == ST_RESET) {
        if (r->st->setting.n && !str_ieq(r->st->setting, S("all")) && !is_setting(r->ss, r->st->setting))
            return unknown_setting(r->st->setting, err);
        if (r->st->setting.n && !str_ieq(r->st->setting, S("all")))
            props_del(&r->ss->settings, parameter(r->st->setting) ? str_c(parameter(r->st->setting)->name) : r->st->setting);
        else
            r->ss->settings.n = 0;
        rows_command(rows, "RESET");
        return OK;
    }
    if (r->ss->dialect == DIALECT_SPARK && !parameter(r->st->setting))
        return spark_set(r, rows, err);
    if (r->st->setting.n)
        TRY(session_set(r->ss, r->st->setting, r->st->setting_value, err));
    if (r->st->setting.n)
        live_note_setting(r->ss, r->st->setting, r->st->setting_value);
    rows_command(rows, "SET");
    return OK;
}
