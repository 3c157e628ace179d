/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_option.c - options of the live side's statements: NAME [=] [value], the names several keywords long.
 *
 * Since `=` may be left out, where a name ends is told by lists of the names that a place knows; the longest that fits is it.  Whether an option may stand with this type of
 * object is the planner's matter (Materialize parses all options of connections in any of them); a name that no object has is a syntax error, and so is an empty list.
 * An option given twice is refused here, in Materialize's words. */
#include "sql/parse_live_int.h"

const char *const LIVE_OPT_CONNECTION[] = {
    "ACCESS DELEGATION", "ACCESS KEY ID", "ASSUME ROLE ARN", "ASSUME ROLE SESSION NAME", "AVAILABILITY ZONES", "AWS CONNECTION", "AWS PRIVATELINK", "BEARER TOKEN", "BROKER", "BROKERS", "CATALOG TYPE",
    "CREDENTIAL", "DATABASE", "ENDPOINT", "GCP CONNECTION", "HOST", "OAUTH2 SERVER URL", "PASSWORD", "PORT", "PROGRESS TOPIC", "PROGRESS TOPIC REPLICATION FACTOR", "PROJECT", "PUBLIC KEY 1",
    "PUBLIC KEY 2", "REGION", "REGISTRY", "REGISTRY NAME", "SASL MECHANISMS", "SASL PASSWORD", "SASL USERNAME", "SCOPE", "SECRET ACCESS KEY", "SECURITY PROTOCOL", "SERVICE ACCOUNT KEY",
    "SERVICE NAME", "SESSION TOKEN", "SIGNING NAME", "SIGNING REGION", "SSH TUNNEL", "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY", "SSL KEY", "SSL MODE", "STORAGE PROVIDER", "URL", "USER", "USERNAME", "WAREHOUSE", NULL };
const char *const LIVE_OPT_VALIDATE[] = { "VALIDATE", NULL };
const char *const LIVE_OPT_SINK_ICEBERG[] = { "NAMESPACE", "TABLE", NULL };
const char *const LIVE_OPT_SINK_KAFKA[] = { "COMPRESSION TYPE", "LEGACY IDS", "PARTITION BY", "PROGRESS GROUP ID PREFIX", "TOPIC", "TOPIC CONFIG", "TOPIC PARTITION COUNT",
    "TOPIC REPLICATION FACTOR", "TRANSACTIONAL ID PREFIX", NULL };
const char *const LIVE_OPT_SINK[] = { "COMMIT INTERVAL", "COMMIT SIZE", "DELETES", "LOG LIMIT", "PARTITION STRATEGY", "POISON", "PROPERTIES", "SNAPSHOT", "VERSION", NULL };
const char *const LIVE_OPT_GENERATOR[] = { "AS OF", "BATCH SIZE", "KEYS", "MAX CARDINALITY", "PARTITIONS", "SCALE FACTOR", "SEED", "SNAPSHOT ROUNDS", "TICK INTERVAL",
    "TRANSACTIONAL SNAPSHOT", "UP TO", "VALUE SIZE", NULL };
const char *const LIVE_OPT_SOURCE_POSTGRES[] = { "DETAILS", "EXCLUDE COLUMNS", "IGNORE COLUMNS", "PUBLICATION", "TEXT COLUMNS", NULL };
const char *const LIVE_OPT_SOURCE_KAFKA[] = { "GROUP ID PREFIX", "START OFFSET", "START TIMESTAMP", "TOPIC", "TOPIC METADATA REFRESH INTERVAL", NULL };
const char *const LIVE_OPT_SOURCE_ICEBERG[] = { "NAMESPACE", "REFRESH INTERVAL", "TABLE", NULL };
const char *const LIVE_OPT_SOURCE[] = { "IGNORE KEYS", "RETAIN HISTORY", "TIMELINE", "TIMESTAMP INTERVAL", NULL };
const char *const LIVE_OPT_CLUSTER[] = { "AVAILABILITY ZONES", "DISK", "INTROSPECTION DEBUGGING", "INTROSPECTION INTERVAL", "MANAGED", "REPLICATION FACTOR", "SCHEDULE", "SIZE",
    "WORKLOAD CLASS", NULL };
const char *const LIVE_OPT_CLUSTER_WITH[] = { "WAIT", NULL };
const char *const LIVE_OPT_REPLICA[] = { "AVAILABILITY ZONE", "BILLED AS", "DISK", "INTERNAL", "INTROSPECTION DEBUGGING", "INTROSPECTION INTERVAL", "SIZE", NULL };
const char *const LIVE_OPT_TABLE[] = { "DETAILS", "EXCLUDE COLUMNS", "PARTITION BY", "RETAIN HISTORY", "TEXT COLUMNS", NULL };
const char *const LIVE_OPT_MVIEW[] = { "ASSERT NOT NULL", "PARTITION BY", "REFRESH", "RETAIN HISTORY", NULL };
const char *const LIVE_OPT_INDEX[] = { "RETAIN HISTORY", NULL };
const char *const LIVE_OPT_ROLE[] = { "CREATECLUSTER", "CREATEDB", "CREATEROLE", "INHERIT", "LOGIN", "NOCREATECLUSTER", "NOCREATEDB", "NOCREATEROLE", "NOINHERIT", "NOLOGIN", "NOSUPERUSER",
    "PASSWORD", "SUPERUSER", NULL };
const char *const LIVE_OPT_LIST_TYPE[] = { "ELEMENT TYPE", NULL };
const char *const LIVE_OPT_MAP_TYPE[] = { "KEY TYPE", "VALUE TYPE", NULL };
const char *const LIVE_OPT_REGISTRY[] = { "AVRO KEY FULLNAME", "AVRO VALUE FULLNAME", "CONFLUENT WIRE FORMAT", "DOC ON COLUMN", "DOC ON TYPE", "KEY COMPATIBILITY LEVEL", "KEY DOC ON COLUMN",
    "KEY DOC ON TYPE", "NULL DEFAULTS", "SCHEMA NAME", "VALUE COMPATIBILITY LEVEL", "VALUE DOC ON COLUMN", "VALUE DOC ON TYPE", NULL };
const char *const LIVE_OPT_EXPLAIN[] = { "ARITY", "CARDINALITY", "COLUMN NAMES", "EQUIVALENCES", "FAST PATH", "FILTER PUSHDOWN", "HUMANIZED EXPRESSIONS", "JOIN IMPLEMENTATIONS",
    "JOIN IMPLS", "KEYS", "LINEAR CHAINS", "NO FAST PATH", "NO NOTICES", "NODE IDENTIFIERS", "NON NEGATIVE", "RAW", "RAW PLANS", "RAW SYNTAX", "REDACTED", "REOPTIMIZE IMPORTED VIEWS", "SUBTREE SIZE",
    "TIMING", "TYPES", NULL };

static const char *const HYDRATION[] = { "HYDRATION TIME ESTIMATE", NULL };
static const char *const WAIT_READY[] = { "ON TIMEOUT", "TIMEOUT", NULL };
static const char *const TUNNEL[] = { "AVAILABILITY ZONE", "PORT", NULL };

static void value(Parser *p, LiveOption *o);
static bool is_role_flag(Str name);
static bool special_value(Parser *p, LiveOption *o);

/* The longest known name that stands here, in tokens; 0: none. */
static size_t known_name(Parser *p, size_t ahead, LiveOptionNames known, const char **ret)
{
    size_t best = 0;

    for (size_t i = 0; known[i]; i++) {
        size_t n = lp_match(p, ahead, known[i]);
        if (n > best) {
            best = n;
            *ret = known[i];
        }
    }
    return best;
}

bool lp_option_starts(Parser *p, size_t ahead, LiveOptionNames known)
{
    const char *name;
    return known_name(p, ahead, known, &name) > 0;
}

/* REFRESH and ASSERT NOT NULL say several things by coming several times. */
static bool may_repeat(Str name)
{
    return str_eq(name, S("REFRESH")) || str_eq(name, S("ASSERT NOT NULL")) || str_eq(name, S("BROKER")) || str_ends(name, S("DOC ON TYPE")) || str_ends(name, S("DOC ON COLUMN"));
}

void lp_push(Parser *p, LiveOptions *ret, LiveOption o)
{
    lp_room(p, ret->n);
    if (o.name.n && !may_repeat(o.name))
        for vec_each(LiveOption, x, ret)
            if (str_eq(x->name, o.name))
                P_FAIL(p, E_INVALID, o.position, STR_FMT " specified more than once", STR_ARG(o.name));
    vec_push(p->a, ret, o);
}

static bool option_name(Parser *p, LiveOptionNames known, LiveOption *o)
{
    const char *name = "";
    size_t n = known_name(p, 0, known, &name);

    *o = (LiveOption){ .name = str_eq(str_c(name), S("USERNAME")) ? S("USER") : str_c(name), .position = p_pos(p) };      /* the manual has both words */
    if (!n)
        p_syntax(p);
    else
        p->at += n;
    return n > 0;
}

void lp_options_bare(Parser *p, LiveOptionNames known, LiveOptions *ret)
{
    LiveOption o;

    do {
        if (!option_name(p, known, &o))
            return;
        if (str_ends(o.name, S("DOC ON TYPE")) || str_ends(o.name, S("DOC ON COLUMN")))
            p_name(p, &o.names);
        value(p, &o);
        lp_push(p, ret, o);
    } while (p_take_op(p, ','));
}

void lp_options(Parser *p, LiveOptionNames known, LiveOptions *ret)
{
    p_need_op(p, '(');
    lp_options_bare(p, known, ret);
    p_need_op(p, ')');
}

void lp_options_any(Parser *p, LiveOptionNames known, LiveOptions *ret)
{
    if (p_is_op(p, '('))
        lp_options(p, known, ret);
    else
        lp_options_bare(p, known, ret);
}

void lp_with(Parser *p, LiveOptionNames known, LiveOptions *ret)
{
    if (p_take(p, K_WITH))
        lp_options(p, known, ret);
}

void lp_option_names(Parser *p, LiveOptionNames known, LiveOptions *ret)
{
    bool list = p_take_op(p, '(');
    LiveOption o;

    do {
        if (!option_name(p, known, &o))
            return;
        lp_push(p, ret, o);
    } while (list && p_take_op(p, ','));
    if (list)
        p_need_op(p, ')');
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

static void take_number(Parser *p, LiveOption *o)
{
    bool negative = p_take_op(p, '-');

    o->kind = OPT_NUMBER;
    if (!p_is_kind(p, TK_NUMBER)) {
        p_syntax(p);
        return;
    }
    o->text = negative ? str_cat(p->a, S("-"), p_peek(p, 0)->text) : p_peek(p, 0)->text;
    p_next(p);
}

static void list_value(Parser *p, LiveOption *o, int close)
{
    o->kind = OPT_LIST;
    p->at++;
    if (p_take_op(p, close))
        return;
    if (!p_enter(p))
        return;
    do {
        LiveOption x = { .position = p_pos(p) };
        value(p, &x);
        if (x.kind == OPT_NONE)
            p_syntax(p);
        lp_push(p, &o->list, x);
    } while (p_take_op(p, ','));
    p_need_op(p, close);
    p_leave(p);
}

/* A name with dots: a word of several parts, `public`.`t`; one part is in `text`, too. */
static void name_value(Parser *p, LiveOption *o)
{
    o->kind = OPT_NAME;
    do
        vec_push(p->a, &o->names, p_label(p));
    while (p_take_op(p, '.'));
    if (o->names.n > PARSE_NAME_PARTS)
        P_FAIL(p, E_LIMIT, o->position, "a name of more than %d parts", PARSE_NAME_PARTS);
    o->text = o->names.n == 1 ? o->names.p[0] : S("");
}

/* BROKER 'b:9092' USING SSH TUNNEL x | AWS PRIVATELINK y (PORT 1) */
static void tunnel(Parser *p, LiveOption *o)
{
    LiveOption t = { .position = p_pos(p) };

    if (lp_take(p, "SSH TUNNEL"))
        t.name = S("SSH TUNNEL");
    else if (lp_take(p, "AWS PRIVATELINK"))
        t.name = S("AWS PRIVATELINK");
    else
        p_syntax(p);
    t.kind = OPT_NAME;
    p_name(p, &t.names);
    if (p_is_op(p, '('))
        lp_options(p, TUNNEL, &t.list);
    vec_push(p->a, &o->list, t);
}

static void string_value(Parser *p, LiveOption *o)
{
    o->kind = OPT_STRING;
    o->text = p_string(p);
    if (p_take(p, K_USING))
        tunnel(p, o);
}

static bool value_ends(Parser *p) { return p_at_end(p) || p_is_op(p, ',') || p_is_op(p, ')') || p_is_op(p, ']'); }

static void plain_value(Parser *p, LiveOption *o)
{
    if (p_is_kind(p, TK_STRING)) {
        string_value(p, o);
    } else if (p_is_kind(p, TK_NUMBER) || p_is_op(p, '-')) {
        take_number(p, o);
    } else if (p_is_op(p, '(') || p_is_op(p, '[')) {
        list_value(p, o, p_is_op(p, '(') ? ')' : ']');
    } else if (p_is(p, K_TRUE) || p_is(p, K_FALSE)) {
        o->kind = OPT_BOOL;
        o->text = p_take(p, K_TRUE) ? S("true") : S("false");
        p_take(p, K_FALSE);
    } else if (p_is_word_like(p, "SECRET") && !p_is_op_at(p, 1, ',') && !p_is_op_at(p, 1, ')')) {
        p_next(p);
        o->kind = OPT_SECRET;
        p_name(p, &o->names);
    } else if (p_is(p, K_INTERVAL) && p_peek(p, 1)->kind == TK_STRING) {
        p_next(p);
        string_value(p, o);
    } else if (p_is_kind(p, TK_WORD) || p_is_kind(p, TK_QUOTED)) {
        name_value(p, o);
    } else {
        p_syntax(p);
    }
}

static void value(Parser *p, LiveOption *o)
{
    if (is_role_flag(o->name))
        return;
    bool equals = p_take_op(p, '=');
    if (value_ends(p)) {
        if (equals)
            p_syntax(p);
        return;
    }
    if (!special_value(p, o))
        plain_value(p, o);
}

/* ---- values with a grammar of their own -------------------------------------------------------------------------------------- */

static LiveOption sub_string(Parser *p, const char *name)
{
    LiveOption x = { .name = str_c(name), .kind = OPT_STRING, .position = p_pos(p) };
    x.text = p_string(p);
    return x;
}

static LiveOption sub_expr(Parser *p, const char *name)
{
    LiveOption x = { .name = str_c(name), .kind = OPT_EXPR, .position = p_pos(p) };
    x.expr = p_expr(p);
    x.text = p_text(p, x.position - 1, p_last_end(p));
    return x;
}

static void refresh_value(Parser *p, LiveOption *o)
{
    o->kind = OPT_GROUP;
    if (lp_take(p, "ON COMMIT")) {
        o->text = S("ON COMMIT");
    } else if (lp_take(p, "AT CREATION")) {
        o->text = S("AT CREATION");
    } else if (lp_take(p, "EVERY")) {
        o->text = S("EVERY");
        p_take(p, K_INTERVAL);
        vec_push(p->a, &o->list, sub_string(p, "EVERY"));
        if (lp_take(p, "ALIGNED TO"))
            vec_push(p->a, &o->list, sub_expr(p, "ALIGNED TO"));
    } else if (lp_take(p, "AT")) {
        o->text = S("AT");
        vec_push(p->a, &o->list, sub_expr(p, "AT"));
    } else {
        p_syntax(p);
    }
}

static void schedule_value(Parser *p, LiveOption *o)
{
    if (lp_take(p, "MANUAL")) {
        o->kind = OPT_NAME;
        o->text = S("manual");
        vec_push(p->a, &o->names, o->text);
        return;
    }
    o->kind = OPT_GROUP;
    o->text = S("ON REFRESH");
    lp_need(p, "ON REFRESH");
    if (p_is_op(p, '('))
        lp_options(p, HYDRATION, &o->list);
}

static void wait_value(Parser *p, LiveOption *o)
{
    o->kind = OPT_GROUP;
    if (lp_take(p, "FOR")) {
        o->text = S("FOR");
        p_take(p, K_INTERVAL);
        vec_push(p->a, &o->list, sub_string(p, "FOR"));
        return;
    }
    o->text = S("UNTIL READY");
    lp_need(p, "UNTIL READY");
    lp_options(p, WAIT_READY, &o->list);
}

/* A type, the user's own too. */
static void type_value(Parser *p, LiveOption *o)
{
    o->kind = OPT_TYPE;
    o->type = p_type(p);
    if (o->type.mark == MARK_NAMED)
        o->names = o->type.made->parts;
    o->text = p_text(p, o->position - 1, p_last_end(p));
}

/* INHERIT, NOLOGIN … : the word is all, another one may follow without a comma. */
static bool is_role_flag(Str name)
{
    for (size_t i = 0; LIVE_OPT_ROLE[i]; i++)
        if (str_eq(name, str_c(LIVE_OPT_ROLE[i])))
            return !str_eq(name, S("PASSWORD"));
    return false;
}

static bool special_value(Parser *p, LiveOption *o)
{
    if (str_eq(o->name, S("REFRESH"))) {
        refresh_value(p, o);
    } else if (str_eq(o->name, S("SCHEDULE"))) {
        schedule_value(p, o);
    } else if (str_eq(o->name, S("WAIT"))) {
        wait_value(p, o);
    } else if (str_eq(o->name, S("RETAIN HISTORY"))) {
        p_take(p, K_FOR);
        p_take(p, K_INTERVAL);
        o->kind = OPT_STRING;
        o->text = p_string(p);
    } else if (str_eq(o->name, S("ASSERT NOT NULL"))) {
        o->kind = OPT_NAME;
        o->text = p_ident(p);
        vec_push(p->a, &o->names, o->text);
    } else if (str_ends(o->name, S(" TYPE")) && (str_eq(o->name, S("ELEMENT TYPE")) || str_eq(o->name, S("KEY TYPE")) || str_eq(o->name, S("VALUE TYPE")))) {
        o->position = p_pos(p);
        type_value(p, o);
    } else {
        return false;
    }
    return true;
}
