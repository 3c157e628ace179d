/* SPDX-License-Identifier: Apache-2.0 */
/* bind_materialize.c - what a materialized view may not call: functions whose result is not that of its arguments. */
#include "sql/bind_int.h"

/* As the user writes it, and as it is called in the message. */
static const struct { const char *name, *called; } functions[] = {
    { "now", "current_timestamp" }, { "current_timestamp", "current_timestamp" }, { "transaction_timestamp", "current_timestamp" }, { "statement_timestamp", "current_timestamp" },
    { "clock_timestamp", "current_timestamp" }, { "localtimestamp", "current_timestamp" }, { "current_date", "current_timestamp" }, { "current_user", "current_user" },
    { "session_user", "session_user" }, { "user", "current_user" }, { "current_role", "current_role" }, { "current_catalog", "current_database" }, { "current_database", "current_database" },
    { "current_schema", "current_schema" }, { "current_schemas", "current_schemas" }, { "version", "version" }, { "mz_version", "mz_version" }, { "mz_version_num", "mz_version_num" },
    { "mz_environment_id", "mz_environment_id" }, { "mz_uptime", "mz_uptime" }, { "mz_session_id", "mz_session_id" }, { "pg_backend_pid", "pg_backend_pid" },
    { "pg_postmaster_start_time", "pg_postmaster_start_time" }, { "current_setting", "current_setting" }, { "txid_current", "txid_current" }, { "random", "random" }, { "gen_random_uuid", "gen_random_uuid" }, { "pg_cancel_backend", "pg_cancel_backend" },
};

typedef struct Found { const char *called; int position; } Found;

static int see_call(void *ctx, Expr *e)
{
    Found *f = ctx;

    if (e->kind != EX_FUNCTION || !e->func || !e->func->name.n)
        return 1;
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        if (str_ieq(vec_last(&e->func->name), str_c(functions[i].name))) {
            *f = (Found){ functions[i].called, e->position };
            return 0;
        }
    return 1;
}

static int see_now(void *ctx, Expr *e)
{
    Found *f = ctx;

    if (e->kind == EX_FUNCTION && e->func && e->func->name.n && str_ieq(vec_last(&e->func->name), S("mz_now")))
        *f = (Found){ "mz_now", e->position };
    return !f->called;
}

static Status refuse(const Found *f, Error *err)
{
    RAISE(err, E_UNSUPPORTED, "cannot materialize call to %s", f->called);
    err->position = f->position;
    if (strcmp(f->called, "current_timestamp") == 0)
        error_hint(err, "Try using `mz_now()` here instead.");
    return E_UNSUPPORTED;
}

Status sql_check_materializable(const Query *q, Error *err)
{
    Found f = {0};

    (void)sql_walk_query((Query *)q, see_call, &f);
    for (size_t i = 0; !f.called && q->select && i < q->select->items.n; i++)
        (void)sql_walk_expr(q->select->items.p[i].expr, see_now, &f);
    return f.called ? refuse(&f, err) : OK;
}
