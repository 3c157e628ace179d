/* SPDX-License-Identifier: Apache-2.0 */
/* ddl_external.c - CREATE EXTERNAL TABLE, and CREATE TABLE AS of a table that is not Iceberg (Athena's words).
 *
 * The table is a definition in the shape of Glue's TableInput; its files are whoever's.  CREATE … AS writes them first, as UNLOAD does, so a table
 * whose files are not whole never has a name; when the name cannot be given, the file goes again. */
#include "service/athena.h"
#include "service/ddl_int.h"

#define PARQUET_PACKAGE "org.apache.hadoop.hive.ql.io.parquet."
#define TEXT_INPUT "org.apache.hadoop.mapred.TextInputFormat"
#define TEXT_OUTPUT "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"

typedef struct Storage { const char *name, *input, *output, *serde; } Storage;
static const Storage STORAGES[] = {
    { "textfile", TEXT_INPUT, TEXT_OUTPUT, "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe" },
    { "parquet", PARQUET_PACKAGE "MapredParquetInputFormat", PARQUET_PACKAGE "MapredParquetOutputFormat", PARQUET_PACKAGE "serde.ParquetHiveSerDe" },
    { "json", TEXT_INPUT, TEXT_OUTPUT, "org.openx.data.jsonserde.JsonSerDe" },
    { "orc", "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat", "org.apache.hadoop.hive.ql.io.orc.OrcSerde" },
    { "avro", "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat", "org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
      "org.apache.hadoop.hive.serde2.avro.AvroSerDe" },
};

static void set(Run *r, Json *o, const char *key, Str value)
{
    if (value.n)
        json_set(r->a, o, key, json_str(r->a, value));
}

/* ---- the definition ---------------------------------------------------------------------------------------------------------- */

static Status add_column(Run *r, Json *list, Str name, const DataType *t, Str comment, Error *err)
{
    int32_t next = 1;
    Json *col = json_object(r->a);
    IceType *type;

    TRY_CTX(lake_ice_type(r->a, t, &next, &type, err), err, "column '" STR_FMT "'", STR_ARG(name));
    set(r, col, "Name", str_lower(r->a, name));
    set(r, col, "Type", hive_type_text(r->a, type));
    set(r, col, "Comment", comment);
    json_push(r->a, list, col);
    return OK;
}

static Status columns_of(Run *r, const ColumnDefs *defs, Json **ret, Error *err)
{
    *ret = json_array(r->a);
    for (size_t i = 0; i < defs->n; i++)
        TRY(add_column(r, *ret, defs->p[i].name, &defs->p[i].type, defs->p[i].comment, err));
    return OK;
}

static Json *props_json(Run *r, const Props *p)
{
    Json *o = json_object(r->a);
    for (size_t i = 0; i < p->n; i++)
        json_set_s(r->a, o, p->p[i].key, json_str(r->a, p->p[i].value));
    return o;
}

static Status storage_of(const HiveTable *h, Storage *ret, Error *err)
{
    Str name = h->stored_as.n ? h->stored_as : S("textfile");

    for (size_t i = 0; i < COUNT_OF(STORAGES); i++)
        if (str_ieq(name, str_c(STORAGES[i].name))) {
            *ret = STORAGES[i];
            return OK;
        }
    return FAIL(err, E_UNSUPPORTED, "STORED AS " STR_FMT " is not supported", STR_ARG(name));
}

static Json *serde_json(Run *r, const HiveTable *h, const Storage *s)
{
    Json *v = json_object(r->a);

    set(r, v, "SerializationLibrary", h->serde.n ? h->serde : str_c(s->serde));
    json_set(r->a, v, "Parameters", props_json(r, &h->serde_props));
    return v;
}

static Status definition(Run *r, const HiveTable *h, Json *columns, Str location, const Props *params, Json **ret, Error *err)
{
    Json *def = json_object(r->a), *storage = json_object(r->a), *keys, *parameters = props_json(r, params);
    Storage s;

    TRY(storage_of(h, &s, err));
    TRY(columns_of(r, &h->partition_columns, &keys, err));
    json_set(r->a, storage, "Columns", columns);
    set(r, storage, "Location", location);
    set(r, storage, "InputFormat", h->input_format.n ? h->input_format : str_c(s.input));
    set(r, storage, "OutputFormat", h->output_format.n ? h->output_format : str_c(s.output));
    json_set(r->a, storage, "SerdeInfo", serde_json(r, h, &s));
    json_set(r->a, parameters, "EXTERNAL", json_str(r->a, S("TRUE")));
    set(r, def, "Description", r->st->comment);
    set(r, def, "TableType", S("EXTERNAL_TABLE"));
    json_set(r->a, def, "StorageDescriptor", storage);
    json_set(r->a, def, "PartitionKeys", keys);
    json_set(r->a, def, "Parameters", parameters);
    *ret = json_object(r->a);
    json_set(r->a, *ret, "glue", def);
    return OK;
}

/* ---- statements --------------------------------------------------------------------------------------------------------------- */

static Status must_be_free(Run *r, const Name *n, int *there, Error *err)
{
    CatRelation rel;
    Status s = cat_relation_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, n->name, &rel, err);

    *there = s == OK;
    if (s == OK && !r->st->if_not_exists)
        return FAIL(err, E_EXISTS, "TABLE_ALREADY_EXISTS: line 1:1: Destination table '" STR_FMT "' already exists", STR_ARG(name_display(r->a, n)));
    return s == E_NOT_FOUND ? OK : s;
}

static Status check_location(Run *r, Str location, Error *err)
{
    Location at;

    if (!location.n)
        return FAIL(err, E_INVALID, "an external table needs a LOCATION");
    TRY(store_parse_location(r->a, location, &at, err));
    return at.file ? FAIL(err, E_INVALID, "an external table lies at an s3:// location, not at '" STR_FMT "'", STR_ARG(location)) : OK;
}

/* Where CREATE TABLE AS puts files that are given no place: a folder of its own. */
static Status own_folder(Run *r, const SvcCall *call, const Name *n, Str *ret, Error *err)
{
    CatNamespace ns = {0};
    Str base;

    TRY(cat_namespace_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, &ns, err));
    base = props_get(&ns.props, S("location"), (Str){0});
    if (!base.n)
        TRY(svc_warehouse_base(call, &base, err));
    *ret = str_fmt(r->a, STR_FMT "%stables/" STR_FMT "/", STR_ARG(base), str_ends(base, S("/")) ? "" : "/", STR_ARG(uuid_v4(r->a)));
    return OK;
}

static Status columns_of_query(Run *r, const Query *q, Json **ret, Error *err)
{
    *ret = json_array(r->a);
    for (size_t i = 0; i < q->columns.n; i++)
        TRY(add_column(r, *ret, q->columns.p[i].name, &q->columns.p[i].type, (Str){0}, err));
    return OK;
}

static void forget_written(Run *r)
{
    Error ignored;
    for vec_each(Str, uri, &r->written)
        (void)!store_delete(r->svc->store, *uri, &ignored);
    r->written.n = 0;
}

static Status create_as(Run *r, Rows *rows, const SvcCall *call, const Name *n, Json **extra, Error *err)
{
    const Stmt *st = r->st;
    Str format = props_get(&st->props, S("format"), S("PARQUET"));
    Str compression = props_get(&st->props, S("write_compression"), props_get(&st->props, S("parquet_compression"), (Str){0}));
    Str location = props_get(&st->props, S("external_location"), (Str){0});
    HiveTable h = { .stored_as = str_lower(r->a, format) };
    Props params = {0};
    Json *columns;

    if (st->partitions.n)
        return FAIL(err, E_UNSUPPORTED, "CREATE TABLE AS of a partitioned table is supported for Iceberg tables: table_type = 'ICEBERG', partitioning = ARRAY[…]");
    if (!location.n)
        TRY(own_folder(r, call, n, &location, err));
    TRY(check_location(r, location, err));
    Unload u = { .location = location, .format = format, .compression = compression };
    TRY(unload_query(r, &u, &rows->changed, err));
    props_set(r->a, &params, S("classification"), h.stored_as);
    Status s = columns_of_query(r, st->query, &columns, err);
    if (s == OK)
        s = definition(r, &h, columns, location, &params, extra, err);
    return s;
}

Status do_create_external(Run *r, Rows *rows, const Name *n, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "CREATE TABLE");
    SvcName name = { n->catalog_id, n->namespace, str_lower(r->a, n->name) };
    Json *extra, *columns;
    CatRelation made;
    int there;

    TRY(must_be_free(r, n, &there, err));
    if (there)
        return OK;
    if (r->st->query) {
        TRY(create_as(r, rows, &call, n, &extra, err));
    } else {
        TRY(check_location(r, r->st->location, err));
        TRY(columns_of(r, &r->st->columns, &columns, err));
        TRY(definition(r, r->st->hive, columns, r->st->location, &r->st->props, &extra, err));
    }
    Status s = svc_external_create(&call, &name, extra, NULL, &made, err);
    if (s != OK)
        forget_written(r);
    return s;
}
