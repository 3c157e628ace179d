/* SPDX-License-Identifier: Apache-2.0 */
/* live_options.c - WITH (…) of tables and materialized views: RETAIN HISTORY, ASSERT NOT NULL, REFRESH; and ALTER … SET, RESET of what may change.
 *
 * detail: {"retain-ms": n, "assert-not-null": [column …], "refresh": [{"every-ms": n, "aligned-ms": t} | {"at-ms": t}]}; without "refresh" a view follows each commit. */
#include "service/live_sql.h"

enum { DAY_MS = 86400000 };

static Status bail(Error *err, const char *text) { return live_refuse(FAIL(err, E_INVALID, "%s", text), "22023", err); }

/* ---- RETAIN HISTORY ------------------------------------------------------------------------------------------------------------- */

static Status retain(Run *r, const LiveOption *o, Json *detail, Error *err)
{
    int64_t ms;

    TRY(live_opt_interval(r->a, o, &ms, err));
    if (ms < 1000)
        return bail(err, "RETAIN HISTORY cannot be set lower than 1000ms");
    json_set(r->a, detail, "retain-ms", json_int(r->a, ms));
    return OK;
}

/* ---- ASSERT NOT NULL ---------------------------------------------------------------------------------------------------------------- */

static Status assert_column(Run *r, Str name, Json *list, Error *err)
{
    for (size_t i = 0; i < json_len(list); i++)
        if (str_eq(json_at(list, i)->string, name))
            return live_refuse(FAIL(err, E_INVALID, "duplicate column \"" STR_FMT "\" in non-null assertions", STR_ARG(name)), "42701", err);
    json_push(r->a, list, json_str(r->a, name));
    return OK;
}

static Status assert_not_null(Run *r, const LiveOption *o, Json *detail, Error *err)
{
    Json *list = json_get(detail, "assert-not-null");
    StrVec names = {0};

    if (!list) {
        list = json_array(r->a);
        json_set(r->a, detail, "assert-not-null", list);
    }
    TRY(live_opt_list(r->a, o, &names, err));
    for vec_each(Str, n, &names)
        TRY(assert_column(r, *n, list, err));
    return OK;
}

Status live_asserts(Run *r, const Object *o, LiveAsserts *ret, Error *err)
{
    const Json *list = json_get(o->detail, "assert-not-null");

    for (size_t i = 0; i < json_len(list); i++) {
        Str name = json_at(list, i)->string;
        const ObjColumn *c = NULL;
        for vec_each(const ObjColumn, x, &o->columns)
            if (str_eq(x->name, name))
                c = x;
        if (!c)
            return live_refuse(FAIL(err, E_NOT_FOUND, "column \"" STR_FMT "\" in ASSERT NOT NULL option not found", STR_ARG(name)), "42703", err);
        LiveAssert one = { c->engine, str_fmt(r->a, "column \"" STR_FMT "\" must not be null", STR_ARG(name)) };
        vec_push(r->a, ret, one);
    }
    return OK;
}

/* ---- REFRESH ------------------------------------------------------------------------------------------------------------------------- */

static Status every(Run *r, const LiveOption *o, int64_t now, Json *one, Error *err)
{
    const LiveOption *aligned = live_option(&o->list, "ALIGNED TO");
    int64_t ms, to = now;

    TRY(live_interval_ms(r->a, live_option(&o->list, "EVERY")->text, &ms, err));
    if (ms <= 0)
        return bail(err, "REFRESH interval must be positive");
    if (ms > 366 * (int64_t)DAY_MS)
        return bail(err, "REFRESH interval is longer than a year");
    if (aligned)
        TRY(live_time_of(r, aligned->expr, "ALIGNED TO", &to, err));
    json_set(r->a, one, "every-ms", json_int(r->a, ms));
    json_set(r->a, one, "aligned-ms", json_int(r->a, to));
    return OK;
}

static Status refresh(Run *r, const LiveOption *o, int64_t now, Json *list, Error *err)
{
    Json *one = json_object(r->a);
    int64_t at = now;

    if (str_eq(o->text, S("EVERY"))) {
        TRY(every(r, o, now, one, err));
    } else {
        if (str_eq(o->text, S("AT")))
            TRY(live_time_of(r, live_option(&o->list, "AT")->expr, "REFRESH AT", &at, err));
        json_set(r->a, one, "at-ms", json_int(r->a, at));
    }
    json_push(r->a, list, one);
    return OK;
}

static Status refreshes(Run *r, const LiveOptions *with, Json *detail, Error *err)
{
    int64_t now = clock_ms();
    Json *list = json_array(r->a);
    int on_commit = 0, others = 0;

    for (size_t i = 0; i < with->n; i++) {
        const LiveOption *o = &with->p[i];
        if (!str_eq(o->name, S("REFRESH")))
            continue;
        if (str_eq(o->text, S("ON COMMIT"))) {
            on_commit++;
            continue;
        }
        others++;
        TRY(refresh(r, o, now, list, err));
    }
    if (on_commit > 1)
        return bail(err, "REFRESH ON COMMIT cannot be specified multiple times");
    if (on_commit && others)
        return bail(err, "REFRESH ON COMMIT is not compatible with any of the other REFRESH options");
    if (others)
        json_set(r->a, detail, "refresh", list);
    return OK;
}

/* The earliest due time after `after`; INT64_MAX: none any more. */
int64_t live_next_refresh(const Object *o, int64_t after)
{
    const Json *list = json_get(o->detail, "refresh");
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < json_len(list); i++) {
        const Json *one = json_at(list, i);
        int64_t ms = json_get_int(one, "every-ms", 0), at = json_get_int(one, "at-ms", 0), aligned = json_get_int(one, "aligned-ms", 0);
        if (ms > 0) {
            int64_t back = (after - aligned) % ms;
            at = after - (back < 0 ? back + ms : back) + ms;
        }
        if (at > after)
            next = min_i64(next, at);
    }
    return next;
}

/* ---- statements --------------------------------------------------------------------------------------------------------------------------- */

Status live_read_options(Run *r, Object *o, Error *err)
{
    const LiveOptions *with = r->st->live ? &r->st->live->with : &(LiveOptions){0};
    Json *detail = o->detail ? o->detail : json_object(r->a);

    for (size_t i = 0; i < with->n; i++) {
        if (str_eq(with->p[i].name, S("RETAIN HISTORY")))
            TRY(retain(r, &with->p[i], detail, err));
        else if (str_eq(with->p[i].name, S("ASSERT NOT NULL")))
            TRY(assert_not_null(r, &with->p[i], detail, err));
    }
    TRY(refreshes(r, with, detail, err));
    if (json_len(detail))
        o->detail = detail;
    return OK;
}

static Status text_with(Run *r, Object *o, const LiveStmt *change, Error *err)
{
    StmtVec all = {0};
    Str text;

    TRY(live_text(r->svc, r->a, o, LIVE_TEXT_WHOLE, &text, err));
    TRY(sql_parse(r->a, DIALECT_POSTGRES, text, &all, err));
    Stmt *st = all.p[0];
    if (!st->live)
        st->live = arena_new(r->a, LiveStmt);
    LiveOptions kept = {0};
    for (size_t i = 0; i < st->live->with.n; i++)
        if (!str_eq(st->live->with.p[i].name, S("RETAIN HISTORY")))
            vec_push(r->a, &kept, st->live->with.p[i]);
    for (size_t i = 0; i < change->options.n; i++)
        vec_push(r->a, &kept, change->options.p[i]);
    st->live->with = kept;
    o->create_sql = sql_live_text(r->a, st, LIVE_TEXT_WHOLE);
    return OK;
}

/* RETAIN HISTORY alone may change. */
Status live_alter_options(Run *r, Object *o, Error *err)
{
    const LiveStmt *l = r->st->live;

    for (size_t i = 0; i < l->options.n + l->drop.n; i++) {
        Str name = i < l->options.n ? l->options.p[i].name : l->drop.p[i - l->options.n].name;
        if (!str_eq(name, S("RETAIN HISTORY")))
            return live_refuse(FAIL(err, E_UNSUPPORTED, "ALTER ... %s (" STR_FMT ") not yet supported", i < l->options.n ? "SET" : "RESET", STR_ARG(name)), "0A000", err);
    }
    if (!o->detail)
        o->detail = json_object(r->a);
    json_del(o->detail, S("retain-ms"));
    for (size_t i = 0; i < l->options.n; i++)
        TRY(retain(r, &l->options.p[i], o->detail, err));
    TRY(text_with(r, o, l, err));
    TRY(live_store(r, o, 1, LIVE_ALTERED, err));
    if (!live_has(r->svc->live, o->id))
        return OK;
    return live_retain(r->svc->live, o->id, json_get_int(o->detail, "retain-ms", 0), err);
}
