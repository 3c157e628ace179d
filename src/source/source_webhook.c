/* SPDX-License-Identifier: Apache-2.0 */
/* source_webhook.c - webhooks: a request's body and headers become rows, when CHECK allows it.
 *
 * A request is handled on its caller's thread with a connection of its own; requests that come together share a tick (live_commit).  CHECK is parsed and bound anew for each
 * request over one row of typed values and evaluated by the engine: what comes in is never part of a text that is parsed. */
#include "source/format.h"
#include "source/source_int.h"
#include "sql/sql.h"

enum { WEBHOOK_BODY_MAX = 2 * 1024 * 1024, WEBHOOK_ROWS_MAX = 100000 };

static const DataType type_text = { .kind = DT_STRING }, type_bytes = { .kind = DT_BINARY }, type_json = { .kind = DT_JSON };
static DataType text_text[] = { { .kind = DT_STRING }, { .kind = DT_STRING } }, text_bytes[] = { { .kind = DT_STRING }, { .kind = DT_BINARY } };
static const DataType type_map = { .kind = DT_MAP, .nchildren = 2, .children = text_text }, type_map_bytes = { .kind = DT_MAP, .nchildren = 2, .children = text_bytes };

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

static SourceColumn column(Str name, const DataType *t, const char *sql_type, int not_null)
{
    return (SourceColumn){ .name = name, .type = *t, .sql_type = str_c(sql_type), .not_null = not_null };
}

static bool has_name(const SourceOutput *o, Str name)
{
    for (size_t i = 0; i < o->columns.n; i++)
        if (str_eq(o->columns.p[i].name, name))
            return true;
    return false;
}

static Status webhook_discover(Arena *a, const SourceSpec *s, SourceOutputs *ret, Error *err)
{
    SourceOutput o = {0};
    Str body = json_get_str(s->options, "body", (Str){0});
    const Json *mapped = json_get(s->options, "mapped");

    if (str_eq(body, S("text")))
        vec_push(a, &o.columns, column(S("body"), &type_text, "text", 1));
    else if (str_eq(body, S("bytes")))
        vec_push(a, &o.columns, column(S("body"), &type_bytes, "bytea", 1));
    else
        vec_push(a, &o.columns, column(S("body"), &type_json, "jsonb", 1));
    if (json_get_bool(s->options, "headers", false))
        vec_push(a, &o.columns, column(S("headers"), &type_map, "map[text=>text]", 1));
    for (size_t i = 0; mapped && i < mapped->array.n; i++) {
        const Json *m = mapped->array.p[i];
        Str name = json_get_str(m, "column", (Str){0});
        int bytes = json_get_bool(m, "bytes", false);
        if (has_name(&o, name))
            return FAIL(err, E_INVALID, "column \"" STR_FMT "\" specified more than once", STR_ARG(name));
        vec_push(a, &o.columns, column(name, bytes ? &type_bytes : &type_text, bytes ? "bytea" : "text", 0));
    }
    vec_push(a, ret, o);
    return OK;
}

/* ---- the body ------------------------------------------------------------------------------------------------------------------- */

typedef VEC(Value) Bodies;

static Status add_json(Arena *a, Str text, Bodies *ret, Error *err)
{
    Value v = { .kind = DT_JSON, .type = &type_json };

    if (ret->n >= WEBHOOK_ROWS_MAX)
        return FAIL(err, E_LIMIT, "a request has more than %d rows", WEBHOOK_ROWS_MAX);
    TRY(format_json_text(a, text, &v.string, err));
    vec_push(a, ret, v);
    return OK;
}

/* A document, or one a line. */
static Status json_lines(Arena *a, Str body, Bodies *ret, Error *err)
{
    Str rest = body, line;
    Error whole;

    if (add_json(a, body, ret, &whole) == OK)
        return OK;
    for (bool more = str_chr(str_trim(body), '\n') >= 0; more;) {
        more = str_cut(rest, '\n', &line, &rest);
        if (str_trim(line).n)
            TRY(add_json(a, str_trim(line), ret, err));
    }
    if (ret->n)
        return OK;
    *err = whole;
    return whole.code;
}

/* Where the element that begins at `at` ends, in a text that is known to be JSON without blanks. */
static size_t element_end(Str s, size_t at)
{
    int depth = 0;
    bool quoted = false;

    for (; at < s.n; at++) {
        char c = s.p[at];
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{'))
            depth++;
        else if (!quoted && (c == ']' || c == '}') && depth-- == 0)
            break;
        else if (!quoted && c == ',' && depth == 0)
            break;
    }
    return at;
}

static Status json_elements(Arena *a, Str body, Bodies *ret, Error *err)
{
    Str s;

    TRY(format_json_text(a, body, &s, err));
    if (!s.n || s.p[0] != '[')
        return add_json(a, s, ret, err);
    for (size_t at = 1; at < s.n - 1;) {
        size_t end = element_end(s, at);
        TRY(add_json(a, str_sub(s, at, end), ret, err));
        at = end + 1;
    }
    return OK;
}

static Status bodies_of(Arena *a, const Json *options, Str body, Bodies *ret, Error *err)
{
    Str kind = json_get_str(options, "body", (Str){0});
    Value v = { .kind = DT_STRING, .type = &type_text, .string = body };

    if (str_eq(kind, S("json")))
        return json_lines(a, body, ret, err);
    if (str_eq(kind, S("json array")))
        return json_elements(a, body, ret, err);
    if (str_eq(kind, S("bytes")))
        v = (Value){ .kind = DT_BINARY, .type = &type_bytes, .string = body };
    else if (!str_is_utf8(body) || memchr(body.p ? body.p : "", 0, body.n))
        return FAIL(err, E_INVALID, "the body is not UTF-8 text");
    vec_push(a, ret, v);
    return OK;
}

/* ---- headers --------------------------------------------------------------------------------------------------------------------- */

static bool in_list(const Json *list, Str name)
{
    for (size_t i = 0; list && list->kind == JSON_ARRAY && i < list->array.n; i++)
        if (str_eq(list->array.p[i]->string, name))
            return true;
    return false;
}

static Value map_of(Arena *a, const Props *headers, const Json *only, const Json *not, int bytes)
{
    VEC(Value) items = {0};
    bool limited = only && only->kind == JSON_ARRAY && only->array.n;

    for (size_t i = 0; i < headers->n; i++) {
        const KeyValue *h = &headers->p[i];
        if (in_list(not, h->key) || (limited && !in_list(only, h->key)))
            continue;
        vec_push(a, &items, ((Value){ .kind = DT_STRING, .type = &type_text, .string = h->key }));
        vec_push(a, &items, ((Value){ .kind = bytes ? DT_BINARY : DT_STRING, .type = bytes ? &type_bytes : &type_text, .string = h->value }));
    }
    Value v = { .kind = DT_MAP, .type = bytes ? &type_map_bytes : &type_map };
    v.items.p = items.p;
    v.items.n = items.n;
    return v;
}

static Status check_headers(const Props *headers, Error *err)
{
    for (size_t i = 0; i < headers->n; i++)
        if (!str_is_utf8(headers->p[i].value) || !str_is_utf8(headers->p[i].key))
            return FAIL(err, E_INVALID, "a header is not UTF-8 text");
    return OK;
}

/* ---- CHECK ------------------------------------------------------------------------------------------------------------------------- */

typedef struct Check { Arena *a; BoundTable table; VEC(Value) values; } Check;

static void input(Check *c, Str name, const DataType *t, Value v)
{
    BoundColumn col = { .name = name, .engine = str_fmt(c->a, "c%zu", c->table.columns.n + 1), .type = *t, .nullable = 1 };

    v.type = t;
    vec_push(c->a, &c->table.columns, col);
    vec_push(c->a, &c->values, v);
}

static void inputs(Check *c, const Json *options, const WebhookRequest *q)
{
    const Json *with = json_get(options, "with");

    for (size_t i = 0; with && with->kind == JSON_ARRAY && i < with->array.n; i++) {
        const Json *x = with->array.p[i];
        Str kind = json_get_str(x, "kind", (Str){0}), name = json_get_str(x, "name", (Str){0});
        int bytes = json_get_bool(x, "bytes", false);
        Str text = str_eq(kind, S("body")) ? q->body : json_get_str(x, "secret", (Str){0});
        if (str_eq(kind, S("headers")))
            input(c, name, bytes ? &type_map_bytes : &type_map, map_of(c->a, q->headers, NULL, NULL, bytes));
        else
            input(c, name, bytes ? &type_bytes : &type_text, (Value){ .kind = bytes ? DT_BINARY : DT_STRING, .string = text });
    }
}

static Status resolve(void *ctx, Arena *a UNUSED, const TableRef *ref UNUSED, BoundTable **ret, Error *err UNUSED)
{
    *ret = &((Check *)ctx)->table;
    return OK;
}

static Status print_table(void *ctx, StrBuf *out, const TableRef *ref UNUSED, Error *err UNUSED)
{
    const Check *c = ctx;

    sb_addc(out, "(SELECT ");
    for (size_t i = 0; i < c->values.n; i++) {
        sb_addc(out, i ? ", " : "");
        sql_value(out, &c->values.p[i]);
        sb_addc(out, " AS ");
        sql_ident(out, c->table.columns.p[i].engine);
    }
    sb_addc(out, c->values.n ? ")" : "1 AS c0)");
    return OK;
}

static Status check_sql(Check *c, DuckConn *probe, const Json *options, Str *ret, Error *err)
{
    Printer p = { .ctx = c, .table = print_table };
    TableRef *from = arena_new(c->a, TableRef);
    Str text = json_get_str(options, "check", (Str){0}), cond, rel;
    Binder b = { .dialect = DIALECT_POSTGRES, .ctx = c, .resolve = resolve, .probe = probe, .text = text, .now_has = 1, .now_us = clock_us() };
    Expr *e;

    *from = (TableRef){ .kind = TR_TABLE };
    vec_push(c->a, &from->name, S("request"));
    c->table.id = S("request");
    c->table.display = S("request");
    TRY(sql_parse_expr(c->a, DIALECT_POSTGRES, text, &e, err));
    TRY(sql_bind_expr(c->a, &b, from, e, err));
    if (e->type.kind != DT_BOOL && e->type.kind != DT_NULL)
        return FAIL(err, E_INVALID, "argument of CHECK must be type boolean, not type " STR_FMT, STR_ARG(sql_type_name(c->a, DIALECT_POSTGRES, &e->type)));
    TRY(sql_print_expr(c->a, &p, e, &cond, err));
    TRY(sql_print_table(c->a, &p, from, &rel, err));
    *ret = str_fmt(c->a, "SELECT CAST((" STR_FMT ") AS BIGINT) FROM " STR_FMT, STR_ARG(cond), STR_ARG(rel));
    return OK;
}

Status webhook_check_bind(Arena *a, DuckConn *probe, const Json *options, Error *err)
{
    Props none = {0};
    WebhookRequest q = { .headers = &none };
    Check c = { .a = a };
    Str sql;

    if (!json_get(options, "check"))
        return OK;
    inputs(&c, options, &q);
    return check_sql(&c, probe, options, &sql, err);
}

static Status allowed(Arena *a, DuckConn *conn, const Json *options, const WebhookRequest *q, Error *err)
{
    Check c = { .a = a };
    int64_t yes = 0;
    bool has = false;
    Error why;
    Str sql;

    if (!json_get(options, "check"))
        return OK;
    if (!str_is_utf8(q->body))
        return FAIL(err, E_INVALID, "the body is not UTF-8 text");
    inputs(&c, options, q);
    TRY(check_sql(&c, conn, options, &sql, err));
    if (duck_scalar_i64(conn, sql, &yes, &has, &why) != OK)      /* what the engine says may tell of secrets */
        return FAIL(err, E_DENIED, "failed to validate the request: CHECK could not be evaluated");
    return has && yes ? OK : FAIL(err, E_DENIED, "failed to validate the request: CHECK is not true");
}

/* ---- a request ------------------------------------------------------------------------------------------------------------------------ */

static void put_rows(Arena *a, SourceBatch *b, const SourceRun *r, const Json *options, const WebhookRequest *q, const Bodies *bodies)
{
    Value *cells = arena_array(a, Value, r->outputs.p[0].columns.n + 1);
    const Json *mapped = json_get(options, "mapped");
    size_t n = 1;

    if (json_get_bool(options, "headers", false))
        cells[n++] = map_of(a, q->headers, json_get(options, "only"), json_get(options, "not"), 0);
    for (size_t i = 0; mapped && i < mapped->array.n && n < r->outputs.p[0].columns.n; i++) {
        Str name = json_get_str(mapped->array.p[i], "name", (Str){0});
        DataTypeKind kind = json_get_bool(mapped->array.p[i], "bytes", false) ? DT_BINARY : DT_STRING;
        cells[n++] = props_has(q->headers, name) ? (Value){ .kind = kind, .string = props_get(q->headers, name, (Str){0}) } : (Value){ .kind = DT_NULL };
    }
    for (size_t i = 0; i < bodies->n; i++) {
        cells[0] = bodies->p[i];
        source_row(b, 0, 1, cells);
    }
}

static Status take(SourceRun *r, const WebhookRequest *q, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *conn = NULL;
    Bodies bodies = {0};
    SourceBatch *b;
    Json *options;

    TRY(r->owner->o.options(r->owner->o.ctx, a, r->id, &options, err));
    TRY(duck_connect(r->owner->o.engine, &conn, err));
    TRY(check_headers(q->headers, err));
    TRY(allowed(a, conn, options, q, err));
    Status s = bodies_of(a, options, q->body, &bodies, err);
    if (s != OK) {
        source_error(r, S("request"), str_c(err->message));
        return s == E_LIMIT ? s : FAIL(err, E_INVALID, "failed to deserialize body: %s", str_z(a, str_c(err->message)));
    }
    TRY(batch_on(r, conn, &b, err));
    put_rows(a, b, r, options, q, &bodies);
    source_received(r, (int64_t)bodies.n, (int64_t)q->body.n);
    return source_commit(b, (Str){0}, err);
}

Status source_webhook(Sources *s, int64_t id, const WebhookRequest *q, Error *err)
{
    CLEANUP(source_releasep) SourceRun *r = source_hold(s, id);

    if (!r || r->c != &source_webhooks || r->outputs.n < 1)
        return FAIL(err, E_NOT_FOUND, "the source does not run");
    if (q->body.n > WEBHOOK_BODY_MAX)
        return FAIL(err, E_LIMIT, "the body is larger than %d bytes", WEBHOOK_BODY_MAX);
    return take(r, q, err);
}

const SourceConnector source_webhooks = { .type = "webhook", .discover = webhook_discover };
