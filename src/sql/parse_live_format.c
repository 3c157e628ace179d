/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_format.c - FORMAT, KEY FORMAT … VALUE FORMAT, INCLUDE, ENVELOPE of sources, sinks and tables from sources. */
#include "sql/parse_live_int.h"

static void add(Parser *p, LiveFormat *f, const char *name, OptionKind kind, Str text)
{
    LiveOption o = { .name = str_c(name), .kind = kind, .text = text, .position = p_pos(p) };
    lp_push(p, &f->options, o);
}

/* SEED KEY SCHEMA '…' VALUE SCHEMA '…', KEY STRATEGY …, VALUE STRATEGY … */
static void strategy(Parser *p, LiveFormat *f, const char *name)
{
    if (lp_take(p, "INLINE"))
        add(p, f, name, OPT_STRING, p_string(p));
    else if (lp_take(p, "ID"))
        add(p, f, name, OPT_NUMBER, str_fmt(p->a, "%lld", (long long)p_integer(p)));
    else if (lp_take(p, "LATEST"))
        add(p, f, name, OPT_NAME, S("latest"));
    else
        p_syntax(p);
}

static void seed(Parser *p, LiveFormat *f)
{
    for (;;) {
        if (lp_take(p, "SEED"))
            continue;
        if (lp_take(p, "KEY STRATEGY"))
            strategy(p, f, "KEY STRATEGY");
        else if (lp_take(p, "VALUE STRATEGY"))
            strategy(p, f, "VALUE STRATEGY");
        else if (lp_take(p, "KEY SCHEMA"))
            add(p, f, "SEED KEY SCHEMA", OPT_STRING, p_string(p));
        else if (lp_take(p, "VALUE SCHEMA"))
            add(p, f, "SEED VALUE SCHEMA", OPT_STRING, p_string(p));
        else
            return;
    }
}

/* USING CONFLUENT SCHEMA REGISTRY CONNECTION c [( … )] [SEED …] | USING SCHEMA '…' [( … )] */
static void registry(Parser *p, LiveFormat *f)
{
    static const struct { const char *words, *kind; } REGISTRIES[] = {
        { "CONFLUENT SCHEMA REGISTRY CONNECTION", "confluent schema registry" }, { "AWS GLUE SCHEMA REGISTRY CONNECTION", "aws glue schema registry" } };

    p_need(p, K_USING);
    for (size_t i = 0; i < COUNT_OF(REGISTRIES); i++)
        if (lp_take(p, REGISTRIES[i].words)) {
            f->registry = str_c(REGISTRIES[i].kind);
            p_name(p, &f->connection);
            if (p_is_op(p, '('))
                lp_options(p, LIVE_OPT_REGISTRY, &f->options);
            seed(p, f);
            return;
        }
    f->registry = S("schema");
    if (str_eq(f->kind, S("protobuf")) && lp_take(p, "MESSAGE"))
        add(p, f, "MESSAGE", OPT_STRING, p_string(p));
    lp_need(p, "SCHEMA");
    add(p, f, "SCHEMA", OPT_STRING, p_string(p));
    if (p_is_op(p, '('))
        lp_options(p, LIVE_OPT_REGISTRY, &f->options);
}

static void protobuf(Parser *p, LiveFormat *f)
{
    f->kind = S("protobuf");
    if (lp_take(p, "MESSAGE"))
        add(p, f, "MESSAGE", OPT_STRING, p_string(p));
    if (p_is(p, K_USING))
        registry(p, f);
}

/* CSV WITH HEADER [(a, b)] | WITH n COLUMNS, [DELIMITED BY ';'] */
static void csv(Parser *p, LiveFormat *f)
{
    f->kind = S("csv");
    p_need(p, K_WITH);
    if (lp_take(p, "HEADER") || lp_take(p, "HEADERS")) {
        LiveOption o = { .name = S("HEADER"), .kind = OPT_LIST, .position = p_pos(p) };
        StrVec names = {0};
        if (p_is_op(p, '('))
            p_ident_list(p, &names);
        for vec_each(Str, n, &names) {
            LiveOption x = { .kind = OPT_NAME, .text = *n, .position = o.position };
            vec_push(p->a, &x.names, *n);
            lp_push(p, &o.list, x);
        }
        lp_push(p, &f->options, o);
    } else {
        add(p, f, "COLUMNS", OPT_NUMBER, str_fmt(p->a, "%lld", (long long)p_integer(p)));
        lp_need(p, "COLUMNS");
    }
    if (lp_take(p, "DELIMITED BY"))
        add(p, f, "DELIMITED BY", OPT_STRING, p_string(p));
}

static void one_format(Parser *p, LiveFormat *f)
{
    if (lp_take(p, "AVRO")) {
        f->kind = S("avro");
        registry(p, f);
    } else if (lp_take(p, "JSON ARRAY")) {
        f->kind = S("json array");
    } else if (lp_take(p, "JSON")) {
        f->kind = S("json");
    } else if (lp_take(p, "TEXT")) {
        f->kind = S("text");
    } else if (lp_take(p, "BYTES")) {
        f->kind = S("bytes");
    } else if (lp_take(p, "CSV")) {
        csv(p, f);
    } else if (lp_take(p, "REGEX")) {
        f->kind = S("regex");
        add(p, f, "REGEX", OPT_STRING, p_string(p));
    } else if (lp_take(p, "PROTOBUF")) {
        protobuf(p, f);
    } else {
        p_syntax(p);
    }
}

bool lp_format(Parser *p, LiveStmt *l)
{
    if (l->format.kind.n)
        return false;
    if (lp_take(p, "KEY FORMAT")) {
        one_format(p, &l->key_format);
        lp_need(p, "VALUE FORMAT");
    } else if (!lp_take(p, "FORMAT")) {
        return false;
    }
    one_format(p, &l->format);
    return true;
}

/* ---- INCLUDE, ENVELOPE -------------------------------------------------------------------------------------------------------- */

/* KEY | PARTITION | OFFSET | TIMESTAMP | HEADERS | HEADER 'x', each [AS alias] */
static void include(Parser *p, LiveStmt *l)
{
    static const char *const PLAIN[] = { "KEY", "PARTITION", "OFFSET", "TIMESTAMP", "HEADERS" };
    LiveInclude x = {0};

    for (size_t i = 0; i < COUNT_OF(PLAIN) && !x.name.n; i++)
        if (lp_take(p, PLAIN[i]))
            x.name = str_lower(p->a, str_c(PLAIN[i]));
    if (!x.name.n) {
        lp_need(p, "HEADER");
        x.name = str_cat(p->a, S("header:"), p_string(p));
    }
    if (p_take(p, K_AS))
        x.alias = p_ident(p);
    if (str_starts(x.name, S("header:")) && lp_take(p, "BYTES"))
        x.name = str_cat(p->a, S("header bytes:"), str_from(x.name, 7));
    lp_room(p, l->include.n);
    vec_push(p->a, &l->include, x);
}

void lp_envelope(Parser *p, LiveStmt *l)
{
    static const struct { const char *words, *name; } ENVELOPES[] = { { "NONE", "none" }, { "DEBEZIUM", "debezium" }, { "UPSERT", "upsert" }, { "MATERIALIZE", "materialize" } };
    LiveOption o = { .name = S("VALUE DECODING ERRORS"), .kind = OPT_NAME, .text = S("error"), .position = p_pos(p) };

    for (size_t i = 0; i < COUNT_OF(ENVELOPES) && !l->envelope.n; i++)
        if (lp_take(p, ENVELOPES[i].words))
            l->envelope = str_c(ENVELOPES[i].name);
    if (!l->envelope.n)
        p_syntax(p);
    if (!str_eq(l->envelope, S("upsert")) || !p_take_op(p, '('))
        return;
    lp_need(p, "VALUE DECODING ERRORS");
    p_take_op(p, '=');
    bool list = p_take_op(p, '(');
    lp_need(p, "INLINE");
    if (p_take(p, K_AS))
        o.text = p_ident(p);
    vec_push(p->a, &o.names, o.text);
    lp_push(p, &l->envelope_options, o);
    if (list)
        p_need_op(p, ')');
    p_need_op(p, ')');
}

void lp_format_clauses(Parser *p, LiveStmt *l)
{
    for (;;) {
        if (lp_format(p, l))
            continue;
        if (!l->include.n && lp_take(p, "INCLUDE")) {
            do
                include(p, l);
            while (p_take_op(p, ','));
        } else if (!l->envelope.n && lp_take(p, "ENVELOPE")) {
            lp_envelope(p, l);
        } else {
            return;
        }
    }
}
