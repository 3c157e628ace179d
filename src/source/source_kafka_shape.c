/* SPDX-License-Identifier: Apache-2.0 */
/* source_kafka_shape.c - which columns a topic has (Materialize's manual, CREATE SOURCE: Kafka).
 *
 * In front the key's columns, then the value's, then metadata in the order of INCLUDE.  A key of a format with names of its own gives its columns, any other one
 * column "key"; INCLUDE KEY AS k makes it one column in each case.  DEBEZIUM's columns are those behind "after", and the key's must be among them. */
#include "source/source_kafka_int.h"

static bool is(Str s, const char *z) { return str_eq(s, str_c(z)); }

/* ---- formats of key and value -------------------------------------------------------------------------------------------------------------- */

typedef struct Pins { Str key, value; int made; } Pins;       /* made: the source is there already */

static Status read_pins(Arena *a, Str pinned, Pins *ret, Error *err)
{
    Json *j;

    *ret = (Pins){0};
    if (!pinned.n)
        return OK;
    TRY_CTX(json_parse(a, pinned, &j, err), err, "the schemas that were pinned");
    *ret = (Pins){ json_get_str(j, "key", S("")), json_get_str(j, "value", S("")), 1 };
    return OK;
}

static Str write_pins(const KafkaShape *s)
{
    Json *j = json_object(s->a);

    if (s->key)
        json_set(s->a, j, "key", json_str(s->a, format_pinned(s->key)));
    json_set(s->a, j, "value", json_str(s->a, format_pinned(s->value)));
    return json_text(s->a, j);
}

/* SEED KEY SCHEMA, VALUE STRATEGY INLINE: the reader's schema of one side. */
static Status given_schema(Arena *a, const Json *format, const char *what, const Json **ret, Error *err)
{
    const Json *strategy = json_get(format, str_fmt(a, "%s_strategy", what).p), *seed = json_get(format, str_fmt(a, "seed_%s_schema", what).p);
    Json *own;

    *ret = format;
    if (strategy && strategy->kind != JSON_STRING)
        return FAIL(err, E_UNSUPPORTED, "%s STRATEGY ID is not supported", what);
    if (strategy && !is(strategy->string, "latest"))
        seed = strategy;
    if (!json_is(seed, JSON_STRING))
        return OK;
    own = json_copy(a, format);
    json_set(a, own, "schema", json_str(a, seed->string));
    *ret = own;
    return OK;
}

static Status side(Arena *a, const Json *format, Str topic, const char *what, Str pinned, FormatOptions *ret, Error *err)
{
    *ret = (FormatOptions){ .subject = str_fmt(a, STR_FMT "-%s", STR_ARG(topic), what), .pinned = pinned };
    return given_schema(a, format, what, &ret->options, err);
}

/* A bare FORMAT whose registry has a schema for the topic's keys is one for both. */
static Status open_bare_key(KafkaShape *s, const Json *format, Str topic, const Pins *pins, Error *err)
{
    FormatOptions o;
    Error absent;

    if (!json_get(format, "registry") || json_get(format, "schema") || (pins->made && !pins->key.n))
        return OK;
    TRY(side(s->a, format, topic, "key", pins->key, &o, err));
    Status st = format_open(s->a, &o, &s->key, &absent);
    if (st == E_NOT_FOUND)
        return OK;
    if (st != OK)
        *err = absent;
    return st;
}

static Status open_formats(KafkaShape *s, const Json *options, Str topic, const Pins *pins, Error *err)
{
    const Json *key = json_get(options, "key_format"), *value = json_get(options, "format");
    FormatOptions o;

    if (!value)
        return FAIL(err, E_INVALID, "Source format must be specified");
    TRY(side(s->a, value, topic, "value", pins->value, &o, err));
    o.part = s->envelope == KAFKA_DEBEZIUM ? FORMAT_AFTER : FORMAT_WHOLE;
    TRY(format_open(s->a, &o, &s->value, err));
    if (!key)
        return open_bare_key(s, value, topic, pins, err);
    TRY(side(s->a, key, topic, "key", pins->key, &o, err));
    return format_open(s->a, &o, &s->key, err);
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------------------------ */

static Status add(KafkaShape *s, Str name, const DataType *t, int not_null, Str sql_type, Error *err)
{
    SourceColumn c = { .name = str_dup(s->a, name), .type = data_type_copy(s->a, t), .not_null = not_null, .sql_type = sql_type };

    for vec_each(SourceColumn, o, &s->columns)
        if (str_eq(o->name, name))
            return FAIL(err, E_INVALID, "column \"" STR_FMT "\" specified more than once", STR_ARG(name));
    if (s->columns.n >= FORMAT_MAX_COLUMNS)
        return FAIL(err, E_LIMIT, "more than %d columns", FORMAT_MAX_COLUMNS);
    vec_push(s->a, &s->columns, c);
    return OK;
}

static Status add_all(KafkaShape *s, const FormatColumns *from, int nullable, Error *err)
{
    for vec_each(SourceColumn, c, from)
        TRY(add(s, c->name, &c->type, c->not_null && !nullable, c->sql_type, err));
    return OK;
}

/* record(a: integer, b: text) */
static Status add_key_record(KafkaShape *s, Str name, int nullable, Error *err)
{
    const FormatColumns *from = format_columns(s->key);
    DataType t = { .kind = DT_STRUCT, .nchildren = from->n, .children = arena_array(s->a, DataType, from->n), .names = arena_array(s->a, Str, from->n) };
    StrBuf b = sb_new(s->a);

    for (size_t i = 0; i < from->n; i++) {
        t.children[i] = from->p[i].type;
        t.names[i] = from->p[i].name;
        sb_fmt(&b, "%s" STR_FMT ": " STR_FMT, i ? ", " : "record(", STR_ARG(from->p[i].name), STR_ARG(from->p[i].sql_type));
    }
    sb_byte(&b, ')');
    return add(s, name, &t, !nullable, sb_str(&b), err);
}

/* alias "": none. */
static Status add_key(KafkaShape *s, Str alias, Error *err)
{
    const FormatColumns *from = format_columns(s->key);
    int nullable = s->envelope == KAFKA_NONE;

    s->key_in_row = 1;
    s->key_named = alias.n || !format_is_composite(s->key);
    Str name = alias.n ? alias : S("key");
    if (!s->key_named)
        TRY(add_all(s, from, nullable, err));
    else if (from->n > 1)
        TRY(add_key_record(s, name, nullable, err));
    else
        TRY(add(s, name, &from->p[0].type, from->p[0].not_null && !nullable, from->p[0].sql_type, err));
    s->nkey = s->columns.n;
    for (size_t i = 0; i < s->nkey && s->envelope == KAFKA_UPSERT; i++)
        vec_push(s->a, &s->key_names, s->columns.p[i].name);
    return OK;
}

/* record(description: text) */
static Status add_error(KafkaShape *s, Str name, Error *err)
{
    DataType t = { .kind = DT_STRUCT, .nchildren = 1, .children = arena_new(s->a, DataType), .names = arena_new(s->a, Str) };

    t.children[0] = (DataType){ .kind = DT_STRING };
    t.names[0] = S("description");
    return add(s, name, &t, 0, S("record(description: text)"), err);
}

static Status add_headers(KafkaShape *s, Str name, Error *err)
{
    DataType *record = arena_new(s->a, DataType), list = { .kind = DT_LIST, .nchildren = 1, .children = record };

    *record = (DataType){ .kind = DT_STRUCT, .nchildren = 2, .children = arena_array(s->a, DataType, 2), .names = arena_array(s->a, Str, 2) };
    record->children[0] = (DataType){ .kind = DT_STRING };
    record->children[1] = (DataType){ .kind = DT_BINARY };
    record->names[0] = S("key");
    record->names[1] = S("value");
    return add(s, name, &list, 1, S("record(key: text, value: bytea) list"), err);
}

static Status add_meta(KafkaShape *s, Str name, Str alias, Error *err)
{
    static const struct { const char *name; KafkaMetaKind kind; DataTypeKind type; const char *sql_type; } plain[] = {
        { "partition", KAFKA_PARTITION, DT_INT32, "integer" }, { "offset", KAFKA_OFFSET, DT_UINT64, "uint8" }, { "timestamp", KAFKA_TIMESTAMP, DT_TIMESTAMP, "timestamp without time zone" },
        { "headers", KAFKA_HEADERS, DT_LIST, "" }, { "header:", KAFKA_HEADER, DT_STRING, "text" }, { "header bytes:", KAFKA_HEADER_BYTES, DT_BINARY, "bytea" },
    };
    size_t i = 0;
    bool header = str_starts(name, S("header:")) || str_starts(name, S("header bytes:"));

    while (i < COUNT_OF(plain) && !(header ? str_starts(name, str_c(plain[i].name)) && strchr(plain[i].name, ':') : is(name, plain[i].name)))
        i++;
    if (i == COUNT_OF(plain) || s->metas.n >= KAFKA_INCLUDES_MAX)
        return FAIL(err, E_INVALID, "INCLUDE " STR_FMT " is not possible", STR_ARG(str_sub(name, 0, 100)));
    KafkaMeta m = { plain[i].kind, header ? str_from(name, strlen(plain[i].name)) : S("") };
    vec_push(s->a, &s->metas, m);
    Str column = alias.n ? alias : header ? m.header : name;
    if (m.kind == KAFKA_HEADERS)
        return add_headers(s, column, err);
    return add(s, column, &(DataType){ .kind = plain[i].type }, !header, str_c(plain[i].sql_type), err);
}

static Status add_metas(KafkaShape *s, const Json *include, Error *err)
{
    for (size_t i = 0; i < json_len(include); i++) {
        Str name = json_get_str(json_at(include, i), "name", S(""));
        if (!is(name, "key"))
            TRY(add_meta(s, name, json_get_str(json_at(include, i), "alias", S("")), err));
    }
    return OK;
}

/* ---- the envelope ---------------------------------------------------------------------------------------------------------------------------------- */

static Status envelope_of(Str name, KafkaEnvelope *ret, Error *err)
{
    if (!is(name, "none") && !is(name, "upsert") && !is(name, "debezium"))
        return FAIL(err, E_UNSUPPORTED, "ENVELOPE " STR_FMT " is not supported for Kafka sources", STR_ARG(str_sub(name, 0, 40)));
    *ret = is(name, "upsert") ? KAFKA_UPSERT : is(name, "debezium") ? KAFKA_DEBEZIUM : KAFKA_NONE;
    return OK;
}

static const Json *included_key(const Json *include)
{
    for (size_t i = 0; i < json_len(include); i++)
        if (is(json_get_str(json_at(include, i), "name", S("")), "key"))
            return json_at(include, i);
    return NULL;
}

/* Debezium's key is part of the row: each of its columns must be there, of the same type. */
static Status find_key(KafkaShape *s, Error *err)
{
    for vec_each(SourceColumn, k, format_columns(s->key)) {
        const SourceColumn *found = NULL;
        for vec_each(SourceColumn, c, &s->columns)
            if (str_eq(c->name, k->name))
                found = c;
        if (!found || !data_type_equal(&found->type, &k->type))
            return FAIL(err, E_UNSUPPORTED, "ENVELOPE DEBEZIUM: the key's column \"" STR_FMT "\" is not among the value's columns, or of another type", STR_ARG(k->name));
        vec_push(s->a, &s->key_names, k->name);
    }
    return OK;
}

static Status may_include_key(const KafkaShape *s, const Json *key, Error *err)
{
    if (s->envelope != KAFKA_NONE && !s->key)
        return FAIL(err, E_INVALID, "ENVELOPE [DEBEZIUM] UPSERT requires that KEY FORMAT be specified");
    if (key && s->envelope == KAFKA_DEBEZIUM)
        return FAIL(err, E_INVALID, "Cannot use INCLUDE KEY with ENVELOPE DEBEZIUM: Debezium values include all keys.");
    if (key && !s->key)
        return FAIL(err, E_INVALID, "INCLUDE KEY requires specifying KEY FORMAT .. VALUE FORMAT, got bare FORMAT");
    return OK;
}

static Status all_columns(KafkaShape *s, const Json *options, Error *err)
{
    const Json *include = json_get(options, "include"), *key = included_key(include);
    Str error = json_get_str(options, "value_decoding_errors", S(""));

    TRY(may_include_key(s, key, err));
    s->key_cells = s->key ? format_columns(s->key)->n : 0;
    if (key || s->envelope == KAFKA_UPSERT)
        TRY(add_key(s, json_get_str(key, "alias", S("")), err));
    s->inline_errors = s->envelope == KAFKA_UPSERT && error.n;
    s->nvalue = format_columns(s->value)->n;
    TRY(add_all(s, format_columns(s->value), s->inline_errors, err));
    if (s->inline_errors)
        TRY(add_error(s, error, err));
    if (s->envelope == KAFKA_DEBEZIUM)
        TRY(find_key(s, err));
    return add_metas(s, include, err);
}

Status kafka_shape(Arena *a, const Json *options, Str pinned, KafkaShape **ret, Error *err)
{
    KafkaShape *s = arena_new(a, KafkaShape);
    Str topic = json_get_str(options, "topic", S(""));
    Pins pins;

    s->a = a;
    if (!topic.n)
        return FAIL(err, E_INVALID, "KAFKA CONNECTION without TOPIC");
    TRY(read_pins(a, pinned, &pins, err));
    TRY(envelope_of(json_get_str(options, "envelope", S("none")), &s->envelope, err));
    TRY(open_formats(s, options, topic, &pins, err));
    TRY(all_columns(s, options, err));
    s->pinned = pins.made ? str_dup(a, pinned) : write_pins(s);
    *ret = s;
    return OK;
}
