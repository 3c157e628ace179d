/* SPDX-License-Identifier: Apache-2.0 */
/* live_as_of.c - SELECT … AS OF [AT LEAST] t: every relation of the live side as it was at one time.
 *
 * A time to come is waited for.  Of the past, what RETAIN HISTORY keeps is known, and of what has not changed since, everything.  Nothing is written from the choice of the time
 * until the engine has begun to read, so all relations are seen at the same time. */
#include "live/live.h"
#include "service/live_sql.h"

#include <time.h>

enum { WAIT_STEP_MS = 10, WAIT_MAX_MS = 24 * 3600 * 1000 };

static bool is_temporal(const DataType *t) { return t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMPTZ || t->kind == DT_DATE; }

static bool is_now(const Expr *e) { return e->kind == EX_FUNCTION && e->func->name.n && str_ieq(vec_last(&e->func->name), S("mz_now")) && !e->args.n; }

static int put_now(void *ctx, Expr *e)
{
    if (is_now(e)) {
        *e = (Expr){ .kind = EX_LITERAL, .position = e->position, .type = { .kind = DT_INT64 } };
        e->value = (Value){ .kind = DT_INT64, .type = &e->type, .integer = *(const int64_t *)ctx };
    }
    return 1;
}

/* A timestamp: milliseconds as a number, or what casts to timestamptz; mz_now() is the time now. */
Status live_time_of(Run *r, const Expr *given, const char *what, int64_t *ret, Error *err)
{
    int64_t now = max_i64(live_advance(r->svc->live), live_now(r->svc->live));
    Expr *e = sql_copy_expr(r->a, given);
    Printer p = run_printer(r);
    Binder b;
    Str text;
    bool has;

    sql_walk_expr(e, put_now, &now);
    run_binder(r, &b);
    TRY(sql_bind_expr(r->a, &b, NULL, e, err));
    TRY(sql_print_expr(r->a, &p, e, &text, err));
    Str sql = is_temporal(&e->type) ? str_fmt(r->a, "SELECT epoch_ms(CAST(" STR_FMT " AS TIMESTAMPTZ))", STR_ARG(text))
            : e->type.kind == DT_STRING ? str_fmt(r->a, "SELECT coalesce(TRY_CAST(x AS BIGINT), epoch_ms(CAST(x AS TIMESTAMPTZ))) FROM (SELECT " STR_FMT " AS x) q", STR_ARG(text))
            : str_fmt(r->a, "SELECT CAST(" STR_FMT " AS BIGINT)", STR_ARG(text));
    TRY(duck_scalar_i64(r->c, sql, ret, &has, err));
    return has ? OK : FAIL(err, E_INVALID, "%s must not be NULL", what);
}

Status live_wait_for(Run *r, int64_t t, Error *err)
{
    int64_t deadline = clock_mono_us() + WAIT_MAX_MS * (int64_t)1000;

    while (live_advance(r->svc->live) <= t) {
        struct timespec step = { .tv_nsec = WAIT_STEP_MS * 1000000 };
        if (r->ss->cancelled || (r->deadline_us && clock_mono_us() > r->deadline_us))
            return FAIL(err, E_CANCELLED, "canceling statement due to user request");
        if (clock_mono_us() > deadline)
            return FAIL(err, E_TIMEOUT, "AS OF a time that did not come within a day");
        nanosleep(&step, NULL);
    }
    return OK;
}

/* AT LEAST: the time given, or the earliest one that all of them know. */
static Status choose(Run *r, int64_t *t, Error *err)
{
    const AsOf *as = &r->st->as_of;

    TRY(live_time_of(r, as->timestamp, "AS OF", t, err));
    for (size_t i = 0; as->branch.n && i < r->live_used.n; i++)
        *t = max_i64(*t, live_oldest(r->svc->live, r->live_used.p[i]));
    return live_wait_for(r, *t, err);
}

Status live_as_of_begin(Run *r, Error *err)
{
    int64_t t;

    if (!r->live_used.n)
        return live_time_of(r, r->st->as_of.timestamp, "AS OF", &t, err);
    TRY(choose(r, &t, err));
    TRY(live_exclusive(r->svc->live, &r->live_exclusive, err));
    r->live_as_of = SOME_I64(t);
    return OK;
}
