/* SPDX-License-Identifier: Apache-2.0 */
/* live_secret.c - secrets: sealed at rest with a key that lies apart from the catalog, never given out but to resolvers.
 *
 * detail: {"sealed": text}.  The value is an expression without relations that casts implicitly to bytea; text does so by PostgreSQL's rules of bytea input. */
#include "service/live_sql.h"

enum { SECRET_MAX = 512 * 1024 };

/* ---- the value ------------------------------------------------------------------------------------------------------------------ */

static int is_query(void *ctx, Expr *e)
{
    int *found = ctx;
    *found |= e->kind == EX_SUBQUERY || e->kind == EX_EXISTS || e->kind == EX_IN_QUERY || (e->kind == EX_QUANTIFIED && e->query) || (e->kind == EX_ARRAY && e->query);
    return !*found;
}

static bool octal(Str s, size_t at, unsigned *ret)
{
    if (at + 3 > s.n)
        return false;
    *ret = 0;
    for (size_t i = at; i < at + 3; i++) {
        if (s.p[i] < '0' || s.p[i] > '7')
            return false;
        *ret = *ret * 8 + (unsigned)(s.p[i] - '0');
    }
    return *ret < 256;
}

static Status bad_escape(Error *err)
{
    return live_refuse(FAIL(err, E_INVALID, "invalid input syntax for type bytea: invalid escape sequence"), "22P02", err);
}

/* PostgreSQL's input of bytea: \x and hex digits, or bytes with \\ and \nnn. */
static Status bytes_of_text(Arena *a, Str s, Str *ret, Error *err)
{
    StrBuf b = sb_new(a);
    unsigned byte;

    if (str_starts(s, S("\\x"))) {
        if (hex_decode(a, str_lower(a, str_from(s, 2)), ret))
            return OK;
        return live_refuse(FAIL(err, E_INVALID, "invalid input syntax for type bytea: invalid hexadecimal digits"), "22P02", err);
    }
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\')
            sb_byte(&b, s.p[i]);
        else if (i + 1 < s.n && s.p[i + 1] == '\\')
            sb_byte(&b, s.p[++i]);
        else if (octal(s, i + 1, &byte)) {
            sb_byte(&b, (char)byte);
            i += 3;
        } else
            return bad_escape(err);
    }
    *ret = sb_str(&b);
    return OK;
}

static Status value_of(Run *r, const Expr *given, Str *ret, Error *err)
{
    Printer p = run_printer(r);
    Expr *e = sql_copy_expr(r->a, given);
    int query = 0;
    bool has;
    Binder b;
    Str text;

    sql_walk_expr(e, is_query, &query);
    if (query)
        return live_refuse(FAIL(err, E_INVALID, "%s SECRET does not allow subqueries", r->st->live->verb == LV_CREATE ? "CREATE" : "ALTER"), "0A000", err);
    run_binder(r, &b);
    TRY(sql_bind_expr(r->a, &b, NULL, e, err));
    if (e->type.kind != DT_STRING && e->type.kind != DT_BINARY)
        return live_refuse(FAIL(err, E_INVALID, "a secret's value does not support implicitly casting from " STR_FMT " to bytea", STR_ARG(sql_type_name(r->a, DIALECT_POSTGRES, &e->type))), "42804", err);
    TRY(sql_print_expr(r->a, &p, e, &text, err));
    TRY(duck_scalar_str(r->c, r->a, str_fmt(r->a, e->type.kind == DT_BINARY ? "SELECT lower(hex(" STR_FMT "))" : "SELECT " STR_FMT, STR_ARG(text)), ret, &has, err));
    if (!has)
        return live_refuse(FAIL(err, E_INVALID, "secret value can not be null"), "22004", err);
    if (e->type.kind == DT_STRING)
        return bytes_of_text(r->a, *ret, ret, err);
    return hex_decode(r->a, *ret, ret) ? OK : FAIL(err, E_INTERNAL, "the engine wrote a value that is not hexadecimal");
}

static Status seal(Run *r, Object *o, Error *err)
{
    Str value, sealed;

    TRY(value_of(r, r->st->live->value, &value, err));
    if (value.n > SECRET_MAX)
        return live_refuse(FAIL(err, E_LIMIT, "secrets can not be bigger than 512KiB"), "54000", err);
    TRY(cat_seal(r->svc->catalog, r->a, value, &sealed, err));
    o->detail = json_object(r->a);
    json_set(r->a, o->detail, "sealed", json_str(r->a, sealed));
    return OK;
}

/* ---- statements ------------------------------------------------------------------------------------------------------------------------ */

static Str text_of(Run *r, const Object *o)
{
    LiveStmt l = { .verb = LV_CREATE, .kind = LK_SECRET, .value = r->st->live->value };
    Stmt st = { .kind = ST_LIVE, .name = live_parts(r->a, o), .live = &l };
    return sql_live_text(r->a, &st, LIVE_TEXT_REDACTED);
}

Status live_create_secret(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LivePlace p;

    ret->done = 1;
    TRY(live_place(r, OBJ_SECRET, &p, err));
    if (p.done)
        return OK;
    Object o = live_object(r, OBJ_SECRET, &p.name);
    TRY(seal(r, &o, err));
    o.create_sql = text_of(r, &o);
    return live_store(r, &o, 1, LIVE_CREATED, err);
}

Status live_alter_secret(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Object o;
    Error absent;

    ret->done = 1;
    if (r->st->if_exists && live_find_object(r, r->a, &r->st->name, &o, &absent) == E_NOT_FOUND) {
        live_note_absent(r, "secret", &r->st->name);
        return OK;
    }
    TRY(live_need(r, &r->st->name, 1 << OBJ_SECRET, 0, &o, err));
    TRY(live_ask_owner(r, &o, err));
    TRY(seal(r, &o, err));
    return live_store(r, &o, 1, LIVE_ALTERED, err);
}

/* ---- for resolvers ---------------------------------------------------------------------------------------------------------------------- */

Status live_secret_text(Service *s, Arena *a, int64_t secret, Str *ret, Error *err)
{
    Object o;

    TRY(objects_get(s->objects, a, secret, &o, err));
    if (o.kind != OBJ_SECRET)
        return FAIL(err, E_INVALID, STR_FMT " is not a secret", STR_ARG(live_full(a, &o)));
    return cat_unseal(s->catalog, a, json_get_str(o.detail, "sealed", (Str){0}), ret, err);
}
