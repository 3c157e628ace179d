/* SPDX-License-Identifier: Apache-2.0 */
/* source_iceberg_plan.c - a source of Iceberg tables before it runs: its options, its tables, their columns.
 *
 * What a table is when the source is made is pinned with its output: the run holds what it finds later against that. */
#include "lake/lake.h"
#include "source/source_iceberg_int.h"

enum { INTERVAL_US = 10 * 1000 * 1000, INTERVAL_MIN_US = 1000 * 1000, TABLES_MAX = 1000 };

/* ---- options ------------------------------------------------------------------------------------------------------------------------------- */

Status iceberg_interval(const Json *options, int64_t *ret, Error *err)
{
    Str s = str_trim(json_get_str(options, "refresh_interval", S("")));

    *ret = INTERVAL_US;
    if (s.n && !source_interval(s, ret))
        return FAIL(err, E_INVALID, "invalid REFRESH INTERVAL '" STR_FMT "': a number and a unit, as in '10s'", STR_ARG(s));
    return *ret >= INTERVAL_MIN_US ? OK : FAIL(err, E_INVALID, "REFRESH INTERVAL must be one second at least");
}

typedef struct Named { Str ns, table; } Named;
typedef VEC(Named) NamedTables;

static Status add_named(Arena *a, Str ns, Str table, NamedTables *ret, Error *err)
{
    if (!ns.n || !table.n)
        return FAIL(err, E_INVALID, "ICEBERG CATALOG sources must specify %s", ns.n ? "TABLE" : "NAMESPACE");
    vec_push(a, ret, ((Named){ ns, table }));
    return OK;
}

/* FOR ALL TABLES, of the namespace; FOR SCHEMAS. */
static bool whole_namespaces(const Json *options)
{
    return json_get(options, "all") || json_get(options, "schemas");
}

static Status tables_in(Arena *a, RemoteCatalog *c, Str ns, NamedTables *ret, Error *err)
{
    StrVec names = {0};

    if (!ns.n)
        return FAIL(err, E_INVALID, "ICEBERG CATALOG sources must specify NAMESPACE");
    TRY_CTX(remote_tables(c, a, ns, &names, err), err, "namespace " STR_FMT, STR_ARG(ns));
    if (names.n > TABLES_MAX - ret->n)
        return FAIL(err, E_LIMIT, "a source of more than %d tables", TABLES_MAX);
    for vec_each(Str, n, &names)
        vec_push(a, ret, ((Named){ ns, *n }));
    return OK;
}

static Status listed_tables(Arena *a, RemoteCatalog *c, const Json *options, NamedTables *ret, Error *err)
{
    const Json *schemas = json_get(options, "schemas");

    if (json_get(options, "all"))
        TRY(tables_in(a, c, json_get_str(options, "namespace", (Str){0}), ret, err));
    for (size_t i = 0; i < json_len(schemas); i++)
        TRY(tables_in(a, c, json_is(json_at(schemas, i), JSON_STRING) ? json_at(schemas, i)->string : (Str){0}, ret, err));
    return OK;
}

static Status named_tables(Arena *a, const Json *options, NamedTables *ret, Error *err)
{
    const Json *tables = json_get(options, "tables");
    Str ns = json_get_str(options, "namespace", (Str){0}), table = json_get_str(options, "table", (Str){0});

    if (whole_namespaces(options))
        return OK;
    if (!json_len(tables) || table.n)
        TRY(add_named(a, ns, table, ret, err));
    if (json_len(tables) > TABLES_MAX)
        return FAIL(err, E_LIMIT, "a source of %zu tables, limit is %d", json_len(tables), TABLES_MAX);
    for (size_t i = 0; i < json_len(tables); i++) {
        const Json *parts = json_at(tables, i), *last = json_at(parts, json_len(parts) - 1), *first = json_len(parts) > 1 ? json_at(parts, 0) : NULL;
        if (!json_is(last, JSON_STRING) || json_len(parts) > 2 || (first && !json_is(first, JSON_STRING)))
            return FAIL(err, E_INVALID, "a table of an Iceberg catalog is named <namespace>.<table>");
        TRY(add_named(a, first ? first->string : ns, last->string, ret, err));
    }
    return OK;
}

Status iceberg_open_catalog(const SourceSpec *s, RemoteCatalog **ret, Error *err)
{
    if (!s->catalog)
        return FAIL(err, E_UNSUPPORTED, "there are no Iceberg catalogs here");
    return s->catalog(s->ctx, json_get_int(s->options, "connection_id", 0), ret, err);
}

/* ---- columns --------------------------------------------------------------------------------------------------------------------------------- */

/* PostgreSQL's timestamps end at microseconds. */
bool iceberg_shortened(const DataType *t) { return t->kind == DT_TIMESTAMP_NS; }

static Status output_columns(Arena *a, const IceSchema *schema, SourceOutput *o, Error *err)
{
    BoundColumns columns = {0};

    TRY(lake_columns(a, schema, &columns, err));
    for (size_t i = 0; i < columns.n; i++) {
        SourceColumn c = { .name = columns.p[i].engine, .type = columns.p[i].type, .not_null = schema->fields.p[i].required };
        if (iceberg_shortened(&c.type))
            c.type.kind = DT_TIMESTAMP;
        vec_push(a, &o->columns, c);
    }
    return OK;
}

static Str pinned_text(Arena *a, const Named *n, const IceMetadata *m)
{
    Json *j = json_object(a);

    json_set(a, j, "namespace", json_str(a, n->ns));
    json_set(a, j, "table", json_str(a, n->table));
    json_set(a, j, "uuid", json_str(a, m->uuid));
    json_set(a, j, "schema", ice_schema_json(a, ice_current_schema(m)));
    return json_text(a, j);
}

static Status table_output(Arena *a, RemoteCatalog *c, const Named *n, SourceOutput *ret, Error *err)
{
    RemoteTable t = {0};

    TRY_CTX(remote_table_load(c, a, n->ns, n->table, &t, err), err, "Iceberg table " STR_FMT "." STR_FMT, STR_ARG(n->ns), STR_ARG(n->table));
    *ret = (SourceOutput){ .name = n->table, .external = str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(n->ns), STR_ARG(n->table)), .pinned = pinned_text(a, n, t.meta) };
    Status s = output_columns(a, ice_current_schema(t.meta), ret, err);
    remote_table_end(&t);
    return s;
}

Status iceberg_discover(Arena *a, const SourceSpec *s, SourceOutputs *ret, Error *err)
{
    CLEANUP(remote_closep) RemoteCatalog *c = NULL;
    NamedTables named = {0};
    int64_t ignored;
    int several = json_len(json_get(s->options, "tables")) > 0 || whole_namespaces(s->options);

    TRY(iceberg_interval(s->options, &ignored, err));
    TRY(named_tables(a, s->options, &named, err));
    TRY(iceberg_open_catalog(s, &c, err));
    TRY(listed_tables(a, c, s->options, &named, err));
    if (!named.n)
        return FAIL(err, E_NOT_FOUND, "there are no tables in the namespace");
    for (size_t i = 0; i < named.n; i++) {
        SourceOutput o = {0};
        TRY(table_output(a, c, &named.p[i], &o, err));
        if (!several)
            o.name = (Str){0};
        vec_push(a, ret, o);
    }
    return OK;
}
