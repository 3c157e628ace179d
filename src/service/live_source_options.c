/* SPDX-License-Identifier: Apache-2.0 */
/* live_source_options.c - what CREATE SOURCE and CREATE TABLE … FROM SOURCE say, as options of connectors; references to connections and secrets looked up. */
#include "service/live_connection.h"
#include "service/live_source.h"

/* ---- references ------------------------------------------------------------------------------------------------------------- */

static Json *reference(Arena *a, const char *kind, int64_t id)
{
    Json *j = json_object(a);
    json_set(a, j, kind, json_int(a, id));
    return j;
}

static Status use_connection(Run *r, Object *o, const StrVec *name, const char *type, Json **ret, Error *err)
{
    Object c;

    TRY(connection_need(r, name, type, &c, err));
    live_use(r->a, o, c.id);
    *ret = reference(r->a, "$connection", c.id);
    return OK;
}

static Status use_secret(Run *r, Object *o, const StrVec *name, Json **ret, Error *err)
{
    Object c;

    TRY(live_need(r, name, 1 << OBJ_SECRET, 'U', &c, err));
    live_use(r->a, o, c.id);
    *ret = reference(r->a, "$secret", c.id);
    return OK;
}

static Status resolve_reference(Service *s, Arena *a, const Json *j, Json **ret, Error *err)
{
    const Json *connection = json_get(j, "$connection"), *secret = json_get(j, "$secret");
    Str text;

    if (connection)
        return connection_options(s, a, connection->integer, ret, err);
    TRY(live_secret_text(s, a, secret->integer, &text, err));
    *ret = json_str(a, text);
    return OK;
}

static Status resolve_object(Service *s, Arena *a, const Json *j, Json **ret, Error *err)
{
    Json *v;

    if (json_get(j, "$connection") || json_get(j, "$secret"))
        return resolve_reference(s, a, j, ret, err);
    *ret = json_object(a);
    for (size_t i = 0; i < j->object.n; i++) {
        TRY(source_resolve(s, a, j->object.p[i].value, &v, err));
        json_set_s(a, *ret, str_dup(a, j->object.p[i].key), v);
    }
    return OK;
}

Status source_resolve(Service *s, Arena *a, const Json *j, Json **ret, Error *err)
{
    Json *v;

    if (j->kind == JSON_OBJECT)
        return resolve_object(s, a, j, ret, err);
    if (j->kind == JSON_STRING)
        *ret = json_str(a, str_dup(a, j->string));
    else if (j->kind != JSON_ARRAY) {
        *ret = arena_new(a, Json);
        **ret = *j;
    } else {
        *ret = json_array(a);
        for (size_t i = 0; i < j->array.n; i++) {
            TRY(source_resolve(s, a, j->array.p[i], &v, err));
            json_push(a, *ret, v);
        }
    }
    return OK;
}

/* ---- values ------------------------------------------------------------------------------------------------------------------- */

/* "SCALE FACTOR" to "scale_factor". */
static Str key_of(Arena *a, Str name)
{
    Str k = str_lower(a, name);
    char *p = (char *)(uintptr_t)k.p;

    for (size_t i = 0; i < k.n; i++)
        if (p[i] == ' ')
            p[i] = '_';
    return k;
}

static Json *names_json(Arena *a, const StrVec *names)
{
    Json *j = json_array(a);
    for (size_t i = 0; i < names->n; i++)
        json_push(a, j, json_str(a, names->p[i]));
    return j;
}

/* Value by its own kind: numbers, truth, texts, lists of names and texts. */
static Status value_json(Run *r, Object *o, const LiveOption *x, Json **ret, Error *err)
{
    int64_t n;
    double d;

    switch (x->kind) {
    case OPT_NUMBER:
        *ret = str_to_i64(x->text, &n) ? json_int(r->a, n) : str_to_f64(x->text, &d) ? json_real(r->a, d) : json_str(r->a, x->text);
        return OK;
    case OPT_BOOL: *ret = json_bool(r->a, str_ieq(x->text, S("true"))); return OK;
    case OPT_NONE: *ret = json_bool(r->a, true); return OK;
    case OPT_STRING: case OPT_NAME: *ret = json_str(r->a, x->text); return OK;
    case OPT_SECRET: return use_secret(r, o, &x->names, ret, err);
    case OPT_LIST: {
        *ret = json_array(r->a);
        for (size_t i = 0; i < x->list.n; i++) {
            Json *v;
            if (x->list.p[i].names.n > 1)
                v = names_json(r->a, &x->list.p[i].names);
            else
                TRY(value_json(r, o, &x->list.p[i], &v, err));
            json_push(r->a, *ret, v);
        }
        return OK;
    }
    default: return FAIL(err, E_INVALID, "invalid " STR_FMT " option value", STR_ARG(x->name));
    }
}

static Status all_options(Run *r, Object *o, const LiveOptions *options, Json *to, Error *err)
{
    for (size_t i = 0; i < options->n; i++) {
        Json *v;
        Str key = key_of(r->a, options->p[i].name);
        if (json_get_s(to, key))
            return FAIL(err, E_INVALID, STR_FMT " specified more than once", STR_ARG(options->p[i].name));
        TRY(value_json(r, o, &options->p[i], &v, err));
        json_set_s(r->a, to, key, v);
    }
    return OK;
}

/* ---- load generators ------------------------------------------------------------------------------------------------------------- */

static Status generator_option(Run *r, const LiveOption *x, Json *to, Error *err)
{
    int64_t n;
    double d;
    int truth;
    Str text;

    if (str_eq(x->name, S("TICK INTERVAL"))) {
        TRY(live_opt_interval(r->a, x, &n, err));
        json_set(r->a, to, "tick_us", json_int(r->a, n * 1000));
    } else if (str_eq(x->name, S("SCALE FACTOR"))) {
        TRY(live_opt_text(x, &text, err));
        if (!str_to_f64(text, &d))
            return live_refuse(FAIL(err, E_INVALID, "invalid SCALE FACTOR option value: cannot use value as number"), "22023", err);
        json_set(r->a, to, "scale_factor", json_real(r->a, d));
    } else if (str_eq(x->name, S("TRANSACTIONAL SNAPSHOT"))) {
        TRY(live_opt_bool(x, &truth, err));
        json_set(r->a, to, "transactional_snapshot", json_bool(r->a, truth));
    } else {
        TRY(live_opt_int(x, INT64_MIN, INT64_MAX, &n, err));
        json_set_s(r->a, to, key_of(r->a, x->name), json_int(r->a, n));
    }
    return OK;
}

static Status generator_options(Run *r, Object *o UNUSED, Json *to, Error *err)
{
    const LiveStmt *l = r->st->live;

    if (l->tables.n || l->schemas.n)
        return FAIL(err, E_INVALID, "FOR %s (..) unsupported", l->tables.n ? "TABLES" : "SCHEMAS");
    json_set(r->a, to, "generator", json_str(r->a, l->generator));
    for (size_t i = 0; i < l->options.n; i++)
        TRY(generator_option(r, &l->options.p[i], to, err));
    if (l->envelope.n)
        json_set(r->a, to, "envelope", json_str(r->a, l->envelope));
    for (size_t i = 0; i < l->include.n; i++)
        json_set_s(r->a, to, str_cat(r->a, S("include_"), l->include.p[i].name), json_bool(r->a, true));
    return OK;
}

/* ---- PostgreSQL --------------------------------------------------------------------------------------------------------------------- */

static void which_tables(Run *r, Json *to)
{
    const LiveStmt *l = r->st->live;
    Json *tables = json_array(r->a);

    if (l->all_tables)
        json_set(r->a, to, "all", json_bool(r->a, true));
    if (l->schemas.n)
        json_set(r->a, to, "schemas", names_json(r->a, &l->schemas));
    for (size_t i = 0; i < l->tables.n; i++)
        json_push(r->a, tables, names_json(r->a, &l->tables.p[i].external));
    if (l->tables.n)
        json_set(r->a, to, "tables", tables);
}

static Status columns_option(Run *r, const LiveOption *x, const StrVec *table, Json *to, Error *err)
{
    Json *list = json_array(r->a);

    for (size_t i = 0; i < x->list.n; i++) {
        StrVec name = {0};
        for (size_t k = 0; table && k < table->n; k++)
            vec_push(r->a, &name, table->p[k]);
        for (size_t k = 0; k < x->list.p[i].names.n; k++)
            vec_push(r->a, &name, x->list.p[i].names.p[k]);
        json_push(r->a, list, names_json(r->a, &name));
    }
    if (x->kind != OPT_LIST)
        return FAIL(err, E_INVALID, "invalid " STR_FMT " option value: a list of columns in parentheses is expected", STR_ARG(x->name));
    json_set_s(r->a, to, key_of(r->a, x->name), list);
    return OK;
}

static Status postgres_options(Run *r, Object *o, Json *to, Error *err)
{
    const LiveStmt *l = r->st->live;
    Json *connection;

    TRY(use_connection(r, o, &l->connection, "postgres", &connection, err));
    json_set(r->a, to, "connection", connection);
    json_set(r->a, to, "slot", json_str(r->a, str_cat(r->a, S("materialize_"), hex_encode(r->a, str_n((const char *)(uint64_t[]){ rand_u64(), rand_u64() }, 16)))));
    for (size_t i = 0; i < l->options.n; i++) {
        const LiveOption *x = &l->options.p[i];
        Str text;
        if (str_eq(x->name, S("DETAILS"))) {
            RAISE(err, E_INVALID, "CREATE SOURCE specifies DETAILS option");
            error_hint(err, "If trying to use the output of SHOW CREATE SOURCE, remove the DETAILS option.");
            return err->code;
        }
        if (str_eq(x->name, S("PUBLICATION"))) {
            TRY(live_opt_text(x, &text, err));
            json_set(r->a, to, "publication", json_str(r->a, text));
        } else
            TRY(columns_option(r, x, NULL, to, err));
    }
    which_tables(r, to);
    return OK;
}

/* ---- Kafka, Iceberg ------------------------------------------------------------------------------------------------------------------- */

static Status format_json(Run *r, Object *o, const LiveFormat *f, Json **ret, Error *err)
{
    Json *registry;

    *ret = json_object(r->a);
    json_set(r->a, *ret, "format", json_str(r->a, f->kind));
    TRY(all_options(r, o, &f->options, *ret, err));
    if (!f->connection.n)
        return OK;
    TRY(use_connection(r, o, &f->connection, "confluent-schema-registry", &registry, err));
    json_set(r->a, *ret, "registry", registry);
    return OK;
}

/* FORMAT, INCLUDE, ENVELOPE: of a source, and of a table from one. */
static Status format_options(Run *r, Object *o, Json *to, Error *err)
{
    const LiveStmt *l = r->st->live;
    Json *format, *include = json_array(r->a);

    if (l->key_format.kind.n) {
        TRY(format_json(r, o, &l->key_format, &format, err));
        json_set(r->a, to, "key_format", format);
    }
    if (l->format.kind.n) {
        TRY(format_json(r, o, &l->format, &format, err));
        json_set(r->a, to, "format", format);
    }
    for (size_t i = 0; i < l->include.n; i++) {
        Json *x = json_object(r->a);
        json_set(r->a, x, "name", json_str(r->a, l->include.p[i].name));
        json_set(r->a, x, "alias", json_str(r->a, l->include.p[i].alias));
        json_push(r->a, include, x);
    }
    if (l->include.n)
        json_set(r->a, to, "include", include);
    if (l->envelope.n)
        json_set(r->a, to, "envelope", json_str(r->a, l->envelope));
    if (l->envelope_options.n)
        json_set(r->a, to, "value_decoding_errors", json_str(r->a, l->envelope_options.p[0].text));
    return OK;
}

static Status kafka_options(Run *r, Object *o, Json *to, Error *err)
{
    Json *connection;

    TRY(use_connection(r, o, &r->st->live->connection, "kafka", &connection, err));
    json_set(r->a, to, "connection", connection);
    TRY(all_options(r, o, &r->st->live->options, to, err));
    return format_options(r, o, to, err);
}

static Status iceberg_options(Run *r, Object *o, Json *to, Error *err)
{
    Json *connection;
    Object c;

    TRY(connection_need(r, &r->st->live->connection, "iceberg-catalog", &c, err));
    TRY(use_connection(r, o, &r->st->live->connection, "iceberg-catalog", &connection, err));
    json_set(r->a, to, "connection", connection);
    json_set(r->a, to, "connection_id", json_int(r->a, c.id));
    TRY(all_options(r, o, &r->st->live->options, to, err));
    which_tables(r, to);
    return OK;
}

/* ---- webhooks ---------------------------------------------------------------------------------------------------------------------------- */

static Json *header_json(Run *r, const LiveInclude *x)
{
    int bytes = str_starts(x->name, S("header bytes:"));
    Json *h = json_object(r->a);

    json_set(r->a, h, "name", json_str(r->a, str_lower(r->a, str_from(x->name, bytes ? 13 : 7))));
    json_set(r->a, h, "column", json_str(r->a, x->alias));
    json_set(r->a, h, "bytes", json_bool(r->a, bytes));
    return h;
}

static void webhook_headers(Run *r, Json *to)
{
    const LiveStmt *l = r->st->live;
    Json *mapped = json_array(r->a), *only = json_array(r->a), *not = json_array(r->a);

    for (size_t i = 0; i < l->include.n; i++) {
        const LiveInclude *x = &l->include.p[i];
        if (str_eq(x->name, S("headers")))
            json_set(r->a, to, "headers", json_bool(r->a, true));
        else if (str_starts(x->name, S("not header:")))
            json_push(r->a, not, json_str(r->a, str_lower(r->a, str_from(x->name, 11))));
        else if (str_starts(x->name, S("only header:")))
            json_push(r->a, only, json_str(r->a, str_lower(r->a, str_from(x->name, 12))));
        else
            json_push(r->a, mapped, header_json(r, x));
    }
    json_set(r->a, to, "mapped", mapped);
    json_set(r->a, to, "only", only);
    json_set(r->a, to, "not", not);
}

static Status webhook_input(Run *r, Object *o, const LiveOption *x, Json **ret, Error *err)
{
    Json *secret;
    Str fallback = str_lower(r->a, x->name);

    *ret = json_object(r->a);
    json_set(r->a, *ret, "kind", json_str(r->a, fallback));
    if (x->kind == OPT_SECRET) {
        TRY(use_secret(r, o, &x->names, &secret, err));
        json_set(r->a, *ret, "secret", secret);
        fallback = vec_last(&x->names);
    }
    json_set(r->a, *ret, "name", json_str(r->a, x->text.n ? x->text : fallback));
    json_set(r->a, *ret, "bytes", json_bool(r->a, x->list.n > 0));
    return OK;
}

static Status webhook_options(Run *r, Object *o, Json *to, Error *err)
{
    const LiveStmt *l = r->st->live;
    Json *with = json_array(r->a);

    json_set(r->a, to, "body", json_str(r->a, l->format.kind));
    webhook_headers(r, to);
    if (!l->check)
        return OK;
    for (size_t i = 0; i < l->check_with.n; i++) {
        Json *x;
        TRY(webhook_input(r, o, &l->check_with.p[i], &x, err));
        json_push(r->a, with, x);
    }
    json_set(r->a, to, "with", with);
    json_set(r->a, to, "check", json_str(r->a, l->check_text));
    return OK;
}

/* ---- by type ------------------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *words, *type; Status (*fill)(Run *r, Object *o, Json *to, Error *err); } types[] = {
    { "load generator", "load-generator", generator_options }, { "postgres", "postgres", postgres_options }, { "kafka", "kafka", kafka_options },
    { "webhook", "webhook", webhook_options }, { "iceberg catalog", "iceberg", iceberg_options },
};

Status source_options_of(Run *r, Object *o, Json **ret, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_eq(r->st->live->type, str_c(types[i].words))) {
            o->type = str_c(types[i].type);
            *ret = json_object(r->a);
            return types[i].fill(r, o, *ret, err);
        }
    return live_refuse(FAIL(err, E_UNSUPPORTED, STR_FMT " sources are not supported", STR_ARG(str_upper(r->a, r->st->live->type))), "0A000", err);
}

/* The source's own, without the tables that it was made with; a reference; the formats and columns of the statement. */
Status source_table_options(Run *r, Object *table, const Object *source, Json **ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    const Json *of = json_get(source->detail, "options");
    Json *tables = json_array(r->a);

    *ret = json_object(r->a);
    for (size_t i = 0; of && i < of->object.n; i++) {
        Str k = of->object.p[i].key;
        if (!str_eq(k, S("all")) && !str_eq(k, S("tables")) && !str_eq(k, S("schemas")) && !str_eq(k, S("text_columns")) && !str_eq(k, S("exclude_columns")))
            json_set_s(r->a, *ret, k, of->object.p[i].value);
    }
    if (l->reference.n && !str_eq(source->type, S("load-generator"))) {
        json_push(r->a, tables, names_json(r->a, &l->reference));
        json_set(r->a, *ret, "tables", tables);
    }
    for (size_t i = 0; i < l->with.n; i++)
        if (str_eq(l->with.p[i].name, S("TEXT COLUMNS")) || str_eq(l->with.p[i].name, S("EXCLUDE COLUMNS")))
            TRY(columns_option(r, &l->with.p[i], &l->reference, *ret, err));
    return format_options(r, table, *ret, err);
}
