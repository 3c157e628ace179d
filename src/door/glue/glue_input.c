/* SPDX-License-Identifier: Apache-2.0 */
/* glue_input.c - TableInput and the open table format's input: what is kept, and what becomes Iceberg.
 *
 * Glue spells Iceberg's members in capitals (SourceId for source-id); types stay as the specification has them.  The words are turned and the
 * usual parsers read the result. */
#include "door/glue/glue_int.h"
#include "lake/lake.h"

Str glue_parameter(const Json *input, const char *key) { return json_get_str(json_get(input, "Parameters"), key, (Str){0}); }

bool glue_is_iceberg(const Json *input) { return str_ieq(glue_parameter(input, "table_type"), S("ICEBERG")); }

/* ---- what is kept -------------------------------------------------------------------------------------------------------- */

static void keep_parameters(Arena *a, Json *kept)
{
    static const char *const known[] = { "table_type", "metadata_location", "previous_metadata_location", "integrity" };
    Json *p = json_copy(a, json_get(kept, "Parameters"));

    if (!json_is(p, JSON_OBJECT))
        return;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        json_del(p, str_c(known[i]));
    json_set(a, kept, "Parameters", p);
}

/* Comments of columns are kept by name; the columns themselves are the metadata's. */
static void keep_comments(Arena *a, Json *kept)
{
    Json *sd = json_copy(a, json_get(kept, "StorageDescriptor")), *comments = json_object(a);
    const Json *columns = json_get(sd, "Columns");

    if (!json_is(sd, JSON_OBJECT))
        return;
    for (size_t i = 0; i < json_len(columns); i++) {
        Json *col = json_at(columns, i), *comment = json_get(col, "Comment");
        if (comment)
            json_set_s(a, comments, json_get_str(col, "Name", (Str){0}), comment);
    }
    json_del(sd, S("Columns"));
    json_del(sd, S("Location"));
    json_set(a, kept, "StorageDescriptor", sd);
    if (json_len(comments))
        json_set(a, kept, "Comments", comments);
}

Json *glue_keep(Arena *a, const Json *input, const Json *old_extra)
{
    Json *extra = json_is(old_extra, JSON_OBJECT) ? json_copy(a, old_extra) : json_object(a), *kept = json_object(a);

    for (size_t i = 0; i < json_len(input); i++)
        if (!str_eq(input->object.p[i].key, S("Name")))
            json_set_s(a, kept, input->object.p[i].key, input->object.p[i].value);
    if (glue_is_iceberg(input)) {
        keep_parameters(a, kept);
        keep_comments(a, kept);
        json_del(kept, S("TableType"));
    }
    json_set(a, extra, "glue", kept);
    return extra;
}

Json *glue_patch(Arena *a, const Json *input, const Json *old_extra)
{
    Json *merged = json_copy(a, json_get(old_extra, "glue"));

    if (!json_is(merged, JSON_OBJECT))
        merged = json_object(a);
    for (size_t i = 0; i < json_len(input); i++)
        json_set_s(a, merged, input->object.p[i].key, input->object.p[i].value);
    json_del(merged, S("ViewDefinition"));
    return glue_keep(a, merged, old_extra);
}

/* ---- spelling ---------------------------------------------------------------------------------------------------------------- */

static Str to_kebab(Arena *a, Str s)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < s.n; i++) {
        bool up = s.p[i] >= 'A' && s.p[i] <= 'Z';
        if (up && i > 0)
            sb_byte(&b, '-');
        sb_byte(&b, up ? (char)(s.p[i] + 32) : s.p[i]);
    }
    return sb_str(&b);
}

static Str to_camel(Arena *a, Str s)
{
    StrBuf b = sb_new(a);
    bool up = true;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '-') {
            up = true;
            continue;
        }
        sb_byte(&b, up && s.p[i] >= 'a' && s.p[i] <= 'z' ? (char)(s.p[i] - 32) : s.p[i]);
        up = false;
    }
    return sb_str(&b);
}

/* Types and defaults are documents: what is inside of them is not ours to spell. */
static bool is_document(Str key)
{
    static const char *const keys[] = { "Type", "InitialDefault", "WriteDefault", "type", "initial-default", "write-default" };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (str_eq(key, str_c(keys[i])))
            return true;
    return false;
}

static Json *respell(Arena *a, const Json *v, Str (*word)(Arena *, Str))
{
    Json *ret;

    if (json_is(v, JSON_ARRAY)) {
        ret = json_array(a);
        for (size_t i = 0; i < json_len(v); i++)
            json_push(a, ret, respell(a, json_at(v, i), word));
        return ret;
    }
    if (!json_is(v, JSON_OBJECT))
        return (Json *)v;
    ret = json_object(a);
    for (size_t i = 0; i < json_len(v); i++) {
        Str key = v->object.p[i].key;
        Json *value = v->object.p[i].value;
        json_set_s(a, ret, word(a, key), is_document(key) ? value : respell(a, value, word));
    }
    return ret;
}

static Json *iceberg_words(Arena *a, const Json *v) { return respell(a, v, to_kebab); }

static Json *schema_json(Arena *a, const Json *v)
{
    Json *s = iceberg_words(a, v);
    if (!json_get(s, "type"))
        json_set(a, s, "type", json_str(a, S("struct")));
    return s;
}

Json *glue_iceberg_metadata(AwsCall *c, const IceMetadata *m)
{
    static const char *const lists[][2] = { { "schemas", "Schemas" }, { "partition-specs", "PartitionSpecs" }, { "sort-orders", "SortOrders" } };
    static const char *const numbers[][2] = { { "current-schema-id", "CurrentSchemaId" }, { "last-column-id", "LastColumnId" }, { "default-spec-id", "DefaultSpecId" },
                                              { "last-partition-id", "LastPartitionId" }, { "default-sort-order-id", "DefaultSortOrderId" } };
    Json *j = ice_metadata_json(c->a, m), *o = json_object(c->a);

    json_set(c->a, o, "FormatVersion", json_str(c->a, str_fmt(c->a, "%d", m->format_version)));
    json_set(c->a, o, "TableUuid", json_str(c->a, m->uuid));
    json_set(c->a, o, "Location", json_str(c->a, m->location));
    if (json_get(j, "properties"))
        json_set(c->a, o, "Properties", json_get(j, "properties"));
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        json_set(c->a, o, lists[i][1], respell(c->a, json_get(j, lists[i][0]), to_camel));
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        json_set(c->a, o, numbers[i][1], json_int(c->a, json_get_int(j, numbers[i][0], 0)));
    return o;
}

/* ---- CreateTable with OpenTableFormatInput -------------------------------------------------------------------------------------- */

static void props_of(Arena *a, const Json *map, Props *ret)
{
    for (size_t i = 0; i < json_len(map); i++)
        props_set(a, ret, map->object.p[i].key, map->object.p[i].value->string);
}

/* Without a schema of its own the table gets the descriptor's columns. */
static Status schema_of_columns(Arena *a, const Json *columns, IceSchema **ret, Error *err)
{
    IceSchema *s = arena_new(a, IceSchema);
    int32_t next = (int32_t)json_len(columns) + 1;

    for (size_t i = 0; i < json_len(columns); i++) {
        const Json *col = json_at(columns, i);
        IceField f = { .id = (int32_t)i + 1, .name = json_get_str(col, "Name", (Str){0}), .doc = json_get_str(col, "Comment", (Str){0}) };
        f.has_doc = f.doc.n > 0;
        TRY_CTX(hive_type_parse(a, json_get_str(col, "Type", (Str){0}), &next, &f.type, err), err, "column '" STR_FMT "'", STR_ARG(f.name));
        vec_push(a, &s->fields, f);
    }
    *ret = s;
    return OK;
}

static Status iceberg_parts(AwsCall *c, const Json *input, const Json *ice, SvcNewTable *t, Error *err)
{
    const Json *create = json_get(ice, "CreateIcebergTableInput"), *sd = json_get(input, "StorageDescriptor");

    t->location = json_get_str(create, "Location", json_get_str(sd, "Location", (Str){0}));
    props_of(c->a, json_get(create, "Properties"), &t->properties);
    if (!json_get(create, "Schema"))
        TRY(schema_of_columns(c->a, json_get(sd, "Columns"), &t->schema, err));
    else
        TRY_CTX(ice_schema_parse(c->a, schema_json(c->a, json_get(create, "Schema")), &t->schema, err), err, "Schema");
    if (json_get(create, "PartitionSpec"))
        TRY_CTX(ice_spec_parse(c->a, iceberg_words(c->a, json_get(create, "PartitionSpec")), &t->spec, err), err, "PartitionSpec");
    if (json_get(create, "WriteOrder"))
        TRY_CTX(ice_order_parse(c->a, iceberg_words(c->a, json_get(create, "WriteOrder")), &t->order, err), err, "WriteOrder");
    Str version = json_get_str(ice, "Version", S("2"));
    if (!str_eq(version, S("1")) && !str_eq(version, S("2")) && !str_eq(version, S("3")))
        return FAIL(err, E_INVALID, "IcebergInput.Version '" STR_FMT "' is not a format version of Iceberg", STR_ARG(version));
    if (!props_has(&t->properties, S("format-version")))
        props_set(c->a, &t->properties, S("format-version"), str_eq(version, S("1")) ? S("2") : version);      /* we write 2 and 3 */
    return OK;
}

Status glue_iceberg_create(AwsCall *c, const GlueName *n, const Json *input, Error *err)
{
    const Json *ice = json_get(aws_get(c, "OpenTableFormatInput"), "IcebergInput");
    SvcNewTable t = { .name = glue_svc_name(n) };
    SvcCall call = glue_call(c);
    SvcTable made = {0};

    if (!ice)
        return FAIL(err, E_INVALID, "OpenTableFormatInput needs IcebergInput");
    TRY(iceberg_parts(c, input, ice, &t, err));
    if (glue_is_bucket(n))
        t.location = (Str){0};
    TRY(svc_table_create(&call, &t, &made, err));
    Json *marked = input ? json_copy(c->a, input) : json_object(c->a), *params = json_copy(c->a, json_get(marked, "Parameters"));
    params = json_is(params, JSON_OBJECT) ? params : json_object(c->a);
    json_set(c->a, params, "table_type", json_str(c->a, S("ICEBERG")));
    json_set(c->a, marked, "Parameters", params);
    return cat_relation_extra(glue_catalog(c), made.relation.id, glue_keep(c->a, marked, NULL), err);
}

/* ---- UpdateTable with UpdateOpenTableFormatInput ------------------------------------------------------------------------------------ */

static Json *action(AwsCall *c, Str name)
{
    Json *o = json_object(c->a);
    json_set(c->a, o, "action", json_str(c->a, name));
    return o;
}

/* One of Glue's updates as the REST specification writes it. */
static Json *rest_update(AwsCall *c, Str name, const Json *u)
{
    Json *o = action(c, name), *keys = json_array(c->a);
    const Json *props = json_get(u, "Properties");

    if (str_eq(name, S("add-schema")))
        json_set(c->a, o, "schema", schema_json(c->a, json_get(u, "Schema")));
    if (str_eq(name, S("set-current-schema")))
        json_set(c->a, o, "schema-id", json_int(c->a, json_get_int(json_get(u, "Schema"), "SchemaId", -1)));
    if (str_eq(name, S("add-spec")))
        json_set(c->a, o, "spec", iceberg_words(c->a, json_get(u, "PartitionSpec")));
    if (str_eq(name, S("set-default-spec")))
        json_set(c->a, o, "spec-id", json_int(c->a, json_get_int(json_get(u, "PartitionSpec"), "SpecId", -1)));
    if (str_eq(name, S("add-sort-order")))
        json_set(c->a, o, "sort-order", iceberg_words(c->a, json_get(u, "SortOrder")));
    if (str_eq(name, S("set-default-sort-order")))
        json_set(c->a, o, "sort-order-id", json_int(c->a, json_get_int(json_get(u, "SortOrder"), "OrderId", -1)));
    if (str_eq(name, S("set-location")))
        json_set(c->a, o, "location", json_str(c->a, json_get_str(u, "Location", (Str){0})));
    if (str_eq(name, S("set-properties")))
        json_set(c->a, o, "updates", props ? (Json *)props : json_object(c->a));
    for (size_t i = 0; i < json_len(props); i++)
        json_push(c->a, keys, json_str(c->a, props->object.p[i].key));
    if (str_eq(name, S("remove-properties")))
        json_set(c->a, o, "removals", keys);
    return o;
}

static Status add_update(AwsCall *c, Str name, const Json *u, IceUpdates *ups, Error *err)
{
    IceUpdate up = {0};
    TRY_CTX(ice_update_parse(c->a, rest_update(c, name, u), &up, err), err, STR_FMT, STR_ARG(name));
    vec_push(c->a, ups, up);
    return OK;
}

/* Without an action the update is the whole wanted state. */
static Status whole_state(AwsCall *c, const Json *u, IceUpdates *ups, Error *err)
{
    TRY(add_update(c, S("add-schema"), u, ups, err));
    IceUpdate current = { .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }, spec = { .kind = UP_SET_DEFAULT_SPEC, .number = -1 }, order = { .kind = UP_SET_DEFAULT_ORDER, .number = -1 };
    vec_push(c->a, ups, current);
    if (json_get(u, "PartitionSpec")) {
        TRY(add_update(c, S("add-spec"), u, ups, err));
        vec_push(c->a, ups, spec);
    }
    if (json_get(u, "SortOrder")) {
        TRY(add_update(c, S("add-sort-order"), u, ups, err));
        vec_push(c->a, ups, order);
    }
    TRY(add_update(c, S("set-location"), u, ups, err));
    return json_get(u, "Properties") ? add_update(c, S("set-properties"), u, ups, err) : OK;
}

Status glue_iceberg_update(AwsCall *c, const GlueName *n, const CatRelation *r, Error *err)
{
    const Json *list = json_get(json_get(json_get(aws_get(c, "UpdateOpenTableFormatInput"), "UpdateIcebergInput"), "UpdateIcebergTableInput"), "Updates");
    SvcCommit commit = { .name = glue_svc_name(n), .as = ACT_ALTER };
    IceRequirement same = { .kind = RQ_UUID, .text = r->uuid };
    SvcCall call = glue_call(c);
    SvcTable t = {0};

    if (r->kind != REL_TABLE && r->kind != REL_MVIEW)
        return FAIL(err, E_INVALID, "Table " STR_FMT " is not an Iceberg table.", STR_ARG(r->name));
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *u = json_at(list, i);
        Str name = json_get_str(u, "Action", (Str){0});
        TRY(name.n > 0 ? add_update(c, name, u, &commit.updates, err) : whole_state(c, u, &commit.updates, err));
    }
    vec_push(c->a, &commit.requirements, same);
    return svc_table_commit(&call, &commit, &t, err);
}
