/* SPDX-License-Identifier: Apache-2.0 */
/* live_option.c - values of options (NAME [=] value) as what they stand for, with Materialize's words for those that do not fit. */
#include "service/live_sql.h"

static Status bad(const LiveOption *o, const char *why, Error *err)
{
    RAISE(err, E_INVALID, "invalid " STR_FMT " option value: %s", STR_ARG(o->name), why);
    err->position = o->position;
    return live_refuse(E_INVALID, "22023", err);
}

static bool has_text(const LiveOption *o) { return o->kind == OPT_STRING || o->kind == OPT_NUMBER || o->kind == OPT_BOOL || (o->kind == OPT_NAME && o->text.n); }

Status live_opt_text(const LiveOption *o, Str *ret, Error *err)
{
    if (!has_text(o))
        return bad(o, "cannot use value as string", err);
    *ret = o->text;
    return OK;
}

Status live_opt_bool(const LiveOption *o, int *ret, Error *err)
{
    *ret = o->kind == OPT_NONE || str_ieq(o->text, S("true")) || str_ieq(o->text, S("on")) || str_eq(o->text, S("1"));
    if (*ret || (has_text(o) && (str_ieq(o->text, S("false")) || str_ieq(o->text, S("off")) || str_eq(o->text, S("0")))))
        return OK;
    return bad(o, "cannot use value as boolean", err);
}

Status live_opt_int(const LiveOption *o, int64_t least, int64_t most, int64_t *ret, Error *err)
{
    if (!has_text(o) || !str_to_i64(o->text, ret))
        return bad(o, "cannot use value as number", err);
    return *ret < least || *ret > most ? bad(o, "out of range", err) : OK;
}

Status live_interval_ms(Arena *a, Str text, int64_t *ret, Error *err)
{
    Expr *e;

    TRY(sql_parse_expr(a, DIALECT_POSTGRES, str_fmt(a, "INTERVAL " STR_FMT, STR_ARG(sql_lit_str(a, text))), &e, err));
    if (e->kind != EX_LITERAL || e->value.kind != DT_INTERVAL)
        return FAIL(err, E_INVALID, "invalid input syntax for type interval: '" STR_FMT "'", STR_ARG(text));
    int64_t days = (int64_t)e->value.interval.days + 30 * (int64_t)e->value.interval.months;
    *ret = days * 86400000 + e->value.interval.micros / 1000;
    return OK;
}

Status live_opt_interval(Arena *a, const LiveOption *o, int64_t *ms, Error *err)
{
    Error why;

    if (!has_text(o))
        return bad(o, "cannot use value as interval", err);
    return live_interval_ms(a, o->text, ms, &why) == OK ? OK : bad(o, why.message, err);
}

/* (a, b): strings or names of one part. */
Status live_opt_list(Arena *a, const LiveOption *o, StrVec *ret, Error *err)
{
    for (size_t i = 0; i < o->list.n; i++) {
        if (!has_text(&o->list.p[i]))
            return bad(o, "cannot use value as list of strings", err);
        vec_push(a, ret, o->list.p[i].text);
    }
    if (o->kind == OPT_LIST)
        return OK;
    if (!has_text(o))
        return bad(o, "cannot use value as list of strings", err);
    vec_push(a, ret, o->text);
    return OK;
}
