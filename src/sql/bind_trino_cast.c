/* SPDX-License-Identifier: Apache-2.0 */
/* bind_trino_cast.c - Trino's casts, written and not written.
 *
 * The engine reads more texts as numbers, dates and booleans than Trino does: a text is looked at first.  Numbers are rounded half up,
 * rows are cast by place, timestamps are shown with as many digits as their type has.  A time in a zone other than UTC keeps the zone
 * in the tree alone (trino_zone): what would need it later is refused. */
#include "sql/bind_int.h"

static Expr *convert(Bind *b, Expr *x, DataType to, int try_cast);

static Expr *cast_node(Bind *b, Expr *x, DataType t, int try_cast)
{
    Expr *c = bx_new(b->a, EX_CAST, x->position);

    c->type = t;
    c->try_cast = try_cast;
    c->nullable = x->nullable || try_cast;
    vec_push(b->a, &c->args, x);
    return c;
}

static Expr *call(Bind *b, const char *name, const char *engine, DataType t, Expr *x)
{
    Expr *e = bx_call(b->a, name, engine, t, x, NULL);
    e->nullable = x->nullable;
    return e;
}

/* ---- zones -------------------------------------------------------------------------------------------------------------- */

bool trino_zone(const Expr *e, Str *ret)
{
    *ret = S("UTC");
    if (e->type.kind != DT_TIMESTAMPTZ || !e->type.scale)
        return true;
    if (e->kind != EX_FUNCTION || !str_eq(e->func->canonical, S("at_timezone")) || e->args.n != 2 || e->args.p[1]->kind != EX_LITERAL)
        return false;
    *ret = e->args.p[1]->value.string;
    return true;
}

bool trino_is_zoned(const DataType *t)
{
    if (t->kind == DT_TIMESTAMPTZ)
        return t->scale != 0;
    for (size_t i = 0; i < t->nchildren; i++)
        if (trino_is_zoned(&t->children[i]))
            return true;
    return false;
}

Status trino_local(Bind *b, Expr **pe)
{
    DataType t = ty(DT_TIMESTAMP);
    Str zone;

    if ((*pe)->type.kind != DT_TIMESTAMPTZ)
        return OK;
    if (!trino_zone(*pe, &zone))
        return BIND_FAIL(b, (*pe)->position, "0A000", "the zone of this timestamp is not known any more; apply AT TIME ZONE where it is used");
    t.length = (*pe)->type.length;
    *pe = bx_call(b->a, "local", "timezone($2, $1)", t, *pe, bx_str(b->a, zone));
    return OK;
}

/* ---- texts --------------------------------------------------------------------------------------------------------------- */

/* What Trino reads as each type; spaces around are allowed where it allows them. */
static const char *pattern_of(DataTypeKind k)
{
    switch (k) {
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: return "[+-]?[0-9]+";
    case DT_DECIMAL: return "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?";
    case DT_FLOAT: case DT_DOUBLE: return "\\s*[+-]?(([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?|NaN|Infinity)\\s*";
    case DT_BOOL: return "(?i)(t|f|true|false|1|0)";
    case DT_DATE: return "\\s*[0-9]+-[0-9]?[0-9]-[0-9]?[0-9]\\s*";
    case DT_TIME: return "[0-9]?[0-9]:[0-9]?[0-9](:[0-9]?[0-9]([.][0-9]+)?)?";
    case DT_TIMESTAMP: return "[0-9]+-[0-9]?[0-9]-[0-9]?[0-9]( [0-9]?[0-9]:[0-9]?[0-9](:[0-9]?[0-9]([.][0-9]+)?)?)?\\s*";
    case DT_TIMESTAMPTZ: return "[0-9]+-[0-9]?[0-9]-[0-9]?[0-9]( [0-9]?[0-9]:[0-9]?[0-9](:[0-9]?[0-9]([.][0-9]+)?)?)?\\s*(Z|UTC|[+-]00:00)?";
    default: return NULL;
    }
}

/* The text itself when it reads as the type; else the error, or NULL. */
static Expr *looked_at(Bind *b, Expr *x, const DataType *to, int try_cast)
{
    const char *pattern = pattern_of(to->kind);
    StrBuf s = sb_new(b->a);

    if (!pattern)
        return x;
    sb_fmt(&s, "(CASE WHEN $1 IS NULL THEN NULL WHEN regexp_full_match($1, '%s') THEN $1", pattern);
    if (!try_cast)
        sb_fmt(&s, " ELSE firn_error('INVALID_CAST_ARGUMENT: Cannot cast ''' || $1 || ''' to " STR_FMT " SQLSTATE: 22018')",
               STR_ARG(str_upper(b->a, bind_type_name(b, to))));
    sb_addc(&s, " END)");
    return call(b, "looked_at", sb_str(&s).p, ty(DT_STRING), x);
}

/* Half up to the type's digits. */
static Expr *round_time(Bind *b, Expr *x, DataType to)
{
    int have = sql_time_digits(&x->type), want = sql_time_digits(&to);
    int64_t unit = 1;

    if (x->type.kind == DT_DATE || have <= want || (to.kind != DT_TIMESTAMP && to.kind != DT_TIMESTAMPTZ))
        return x;
    for (int i = want; i < 6; i++)
        unit *= 10;
    const char *make = to.kind == DT_TIMESTAMP ? "make_timestamp" : "make_timestamptz";
    Str engine = str_fmt(b->a, "%s(epoch_us($1) + %lld - (((epoch_us($1) + %lld) %% %lld) + %lld) %% %lld)", make, (long long)unit / 2, (long long)unit / 2,
                         (long long)unit, (long long)unit, (long long)unit);
    return call(b, "round_time", engine.p, to, x);
}

static Expr *text_to(Bind *b, Expr *x, DataType to, int try_cast)
{
    if (to.kind == DT_JSON)
        return call(b, "to_json", "to_json($1)", to, x);
    Expr *e = cast_node(b, looked_at(b, x, &to, try_cast), to, try_cast);
    if (to.kind == DT_TIMESTAMP || to.kind == DT_TIMESTAMPTZ) {
        e->type.length = 0;                                          /* microseconds until it is rounded */
        e = round_time(b, e, to);
        e->type.length = to.length;
    }
    return e;
}

/* '2020-01-01 00:00:00.000', with the zone behind it. */
static Expr *time_text(Bind *b, Expr *x)
{
    int digits = sql_time_digits(&x->type);
    Str zone;

    if (x->type.kind == DT_TIME)
        return call(b, "text", str_fmt(b->a, "left(strftime(CAST('1970-01-01' AS DATE) + $1, '%%H:%%M:%%S.%%f'), %d)", digits ? 9 + digits : 8).p, ty(DT_STRING), x);
    Str format = str_fmt(b->a, "left(strftime($1, '%%Y-%%m-%%d %%H:%%M:%%S.%%f'), %d)", digits ? 20 + digits : 19);
    if (x->type.kind != DT_TIMESTAMPTZ)
        return call(b, "text", format.p, ty(DT_STRING), x);
    if (!trino_zone(x, &zone) || trino_local(b, &x) != OK)
        return NULL;
    Expr *e = bx_call(b->a, "text", str_fmt(b->a, "(" STR_FMT " || ' ' || $2)", STR_ARG(format)).p, ty(DT_STRING), x, bx_str(b->a, zone));
    e->nullable = x->nullable;
    return e;
}

static Expr *plain_text(Bind *b, Expr *x, int try_cast)
{
    switch (x->type.kind) {
    case DT_FLOAT: case DT_DOUBLE: return call(b, "text", "firn_double_text", ty(DT_STRING), x);
    case DT_TIME: case DT_TIMESTAMP: case DT_TIMESTAMPTZ: case DT_TIMESTAMP_NS: return time_text(b, x);
    case DT_JSON:
        return call(b, "text", try_cast ? "(CASE WHEN json_type($1) IN ('OBJECT', 'ARRAY') THEN NULL ELSE json_extract_string($1, '$$') END)"
                    : "(CASE WHEN json_type($1) IN ('OBJECT', 'ARRAY') THEN firn_error('INVALID_CAST_ARGUMENT: Cannot cast to varchar. Unexpected JSON value SQLSTATE: 22018') "
                      "ELSE json_extract_string($1, '$$') END)", ty(DT_STRING), x);
    case DT_DECIMAL:
        if (x->type.precision == x->type.scale && x->type.scale < 38)
            x = cast_node(b, x, ty_decimal(x->type.precision + 1, x->type.scale), 0);
        return cast_node(b, x, ty(DT_STRING), 0);
    default: return cast_node(b, x, ty(DT_STRING), 0);
    }
}

/* VARCHAR(n) cuts a text, and refuses anything else that is longer. */
static Expr *to_text(Bind *b, Expr *x, DataType to, int try_cast)
{
    bool text = ty_is_text(&x->type);
    Expr *e = text ? x : plain_text(b, x, try_cast);

    if (!e || !to.length)
        return e;
    if (text)
        return cast_node(b, e, to, 0);
    Str too_long = try_cast ? S("NULL") : str_fmt(b->a, "firn_error('INVALID_CAST_ARGUMENT: Value ' || $1 || ' cannot be represented as varchar(%d) SQLSTATE: 22018')", to.length);
    return call(b, "text", str_fmt(b->a, "(CASE WHEN length($1) > %d THEN " STR_FMT " ELSE $1 END)", to.length, STR_ARG(too_long)).p, to, e);
}

/* ---- nested ---------------------------------------------------------------------------------------------------------------- */

/* The engine's own cast does it. */
static bool is_plain(const DataType *from, const DataType *to)
{
    if (ty_unknown(from))
        return true;
    if (from->nchildren != to->nchildren || (from->nchildren && from->kind != to->kind))
        return false;
    for (size_t i = 0; i < from->nchildren; i++)
        if (!is_plain(&from->children[i], &to->children[i]) || (from->kind == DT_STRUCT && !str_eq(from->names[i], to->names[i])))
            return false;
    if (from->nchildren || from->kind == to->kind)
        return !(from->kind == DT_STRING && to->length) && !(ty_is_time(to) && to->kind != DT_DATE && sql_time_digits(from) > sql_time_digits(to));
    if (ty_is_integer(from))
        return ty_is_numeric(to);
    return (from->kind == DT_DECIMAL && ty_is_real(to)) || (from->kind == DT_FLOAT && to->kind == DT_DOUBLE) || (from->kind == DT_DATE && ty_is_time(to));
}

static Expr *row_cast(Bind *b, Expr *x, DataType to, int try_cast)
{
    Expr *e = bx_new(b->a, EX_STRUCT, x->position);

    for (size_t i = 0; i < to.nchildren; i++) {
        Expr *field = i < x->args.n && x->kind == EX_STRUCT ? x->args.p[i] : NULL;
        if (!field) {
            field = bx_new(b->a, EX_FIELD, x->position);
            vec_push(b->a, &field->args, x);
            vec_push(b->a, &field->name, x->type.names[i]);
            field->type = x->type.children[i];
            field->nullable = 1;
        }
        field = convert(b, field, to.children[i], try_cast);
        if (!field)
            return NULL;
        vec_push(b->a, &e->args, field);
        vec_push(b->a, &e->name, to.names[i]);
    }
    e->type = to;
    if (x->kind == EX_STRUCT || !x->nullable)
        return e;
    return bx_call(b->a, "row_cast", "(CASE WHEN $1 IS NULL THEN NULL ELSE $2 END)", to, x, e);
}

static Expr *list_cast(Bind *b, Expr *x, DataType to, int try_cast)
{
    TableRef *t = arena_new(b->a, TableRef);
    Expr *l = bx_new(b->a, EX_LAMBDA, x->position);

    t->kind = TR_VALUES;
    vec_push(b->a, &t->columns, ((BoundColumn){ .name = S("x"), .engine = str_fmt(b->a, "firn_l%d", ++b->next_alias), .type = x->type.children[0], .nullable = 1 }));
    Expr *body = convert(b, bx_column(b->a, t, 0), to.children[0], try_cast);
    if (!body)
        return NULL;
    vec_push(b->a, &l->name, t->columns.p[0].engine);
    vec_push(b->a, &l->args, body);
    l->type = body->type;
    return bx_call(b->a, "list_cast", "list_transform($1, $2)", to, x, l);
}

/* ---- JSON --------------------------------------------------------------------------------------------------------------------- */

static bool may_be_json(const DataType *t)
{
    if (t->kind == DT_LIST)
        return may_be_json(&t->children[0]);
    if (t->kind == DT_MAP)
        return ty_is_text(&t->children[0]) && may_be_json(&t->children[1]);
    return ty_is_text(t) || ty_is_integer(t) || t->kind == DT_BOOL || t->kind == DT_DOUBLE || t->kind == DT_JSON || ty_unknown(t);
}

/* Scalars by way of their text; arrays and maps by the engine, which is as strict. */
static Expr *from_json(Bind *b, Expr *x, DataType to, int try_cast)
{
    if (to.kind == DT_LIST || to.kind == DT_MAP)
        return may_be_json(&to) ? cast_node(b, x, to, try_cast) : NULL;
    if (to.nchildren || ty_is_time(&to))
        return NULL;
    Expr *text = plain_text(b, x, try_cast);
    return ty_is_text(&to) ? to_text(b, text, to, try_cast) : text_to(b, text, to, try_cast);
}

/* ---- all ------------------------------------------------------------------------------------------------------------------------- */

static Expr *from_time(Bind *b, Expr *x, DataType to, int try_cast)
{
    if (to.kind == DT_TIMESTAMPTZ && x->type.scale)
        return sql_time_digits(&x->type) <= sql_time_digits(&to) ? x : NULL;       /* rounding would lose the zone */
    if (to.kind == DT_TIMESTAMPTZ || (x->type.kind != DT_TIMESTAMPTZ && !ty_is_time(&to) && to.kind != DT_TIME))
        return ty_is_time(&to) ? round_time(b, x->type.kind == DT_TIMESTAMPTZ ? x : cast_node(b, x, to, try_cast), to) : NULL;
    if (trino_local(b, &x) != OK)
        return NULL;
    x = round_time(b, x, to);
    return x->type.kind == to.kind ? x : cast_node(b, x, to, try_cast);
}

static Expr *from_number(Bind *b, Expr *x, DataType to, int try_cast)
{
    if (to.kind == DT_BOOL)
        return call(b, "nonzero", "($1 <> 0)", to, x);
    if (!ty_is_numeric(&to))
        return NULL;
    if (ty_is_real(&x->type) && to.kind == DT_DECIMAL)                /* of the shortest text of the number: 1.005 is 1.01 */
        x = call(b, "text", "firn_double_text", ty(DT_STRING), x);
    if (ty_is_real(&x->type) && ty_is_integer(&to))
        x = call(b, "round", "round", ty(DT_DOUBLE), x);              /* the engine rounds halves to even */
    return cast_node(b, x, to, try_cast);
}

/* NULL: there is no such cast. */
static Expr *convert(Bind *b, Expr *x, DataType to, int try_cast)
{
    const DataType *from = &x->type;

    if (ty_unknown(from) || (from->kind == to.kind && is_plain(from, &to)))
        return data_type_equal(from, &to) ? x : cast_node(b, x, to, try_cast);
    if (from->kind == DT_JSON)
        return from_json(b, x, to, try_cast);
    if (ty_is_text(&to))
        return from->nchildren || from->kind == DT_BINARY || from->kind == DT_INTERVAL ? NULL : to_text(b, x, to, try_cast);
    if (ty_is_text(from))
        return to.nchildren || to.kind == DT_BINARY || to.kind == DT_INTERVAL ? NULL : text_to(b, x, to, try_cast);
    if (to.kind == DT_JSON)
        return may_be_json(from) ? call(b, "to_json", from->nchildren ? "CAST(firn_json_sorted(CAST(to_json($1) AS VARCHAR)) AS JSON)" : "to_json($1)", to, x) : NULL;      /* maps are objects with sorted keys */
    if (ty_is_time(from))
        return from_time(b, x, to, try_cast);
    if (ty_is_numeric(from))
        return from_number(b, x, to, try_cast);
    if (from->kind == DT_BOOL)
        return ty_is_numeric(&to) ? cast_node(b, x, to, try_cast) : NULL;
    if (from->kind != to.kind || from->nchildren != to.nchildren)
        return NULL;
    if (from->kind == DT_STRUCT)
        return row_cast(b, x, to, try_cast);
    if (from->kind == DT_LIST)
        return list_cast(b, x, to, try_cast);
    return from->kind == DT_MAP ? NULL : cast_node(b, x, to, try_cast);
}

Status trino_cast(Bind *b, Expr **pe)
{
    Expr *e = *pe, *x = e->args.p[0];

    if (x->kind == EX_PARAM && ty_unknown(&x->type)) {
        bind_to(b, &e->args.p[0], e->type);
        x = e->args.p[0];
    }
    b->err->code = OK;
    Expr *r = convert(b, x, e->type, e->try_cast);
    if (!r && b->err->code != OK)
        return b->err->code;
    if (!r)
        return BIND_FAIL(b, e->position, "42846", "Cannot cast " STR_FMT " to " STR_FMT, STR_ARG(trino_type_of(b, x)), STR_ARG(bind_type_name(b, &e->type)));
    if (r == x) {                                                     /* a node of its own: the type's digits and length are the written ones */
        r = call(b, "same", "$1", e->type, x);
        r->type.scale = ty_is_time(&x->type) ? x->type.scale : e->type.scale;
    } else if (ty_is_time(&e->type)) {
        r->type.length = e->type.length;
    }
    r->position = e->position;
    *pe = r;
    return OK;
}

Expr *trino_implicit_cast(Bind *b, Expr *x, DataType t)
{
    Expr *e = convert(b, x, t, 0);

    return e ? e : cast_node(b, x, t, 0);
}
