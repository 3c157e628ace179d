/* SPDX-License-Identifier: Apache-2.0 */
/* backend_cancel.c - SELECT pg_cancel_backend(n): stops what the session with that number runs, and says whether there is one.
 *
 * It does something, so it stands alone: the only item of a SELECT without FROM, as in Materialize.  Anywhere else the function is bound to an
 * error.  Allowed to members of the session's role and to superusers. */
#include "service/live_sql.h"
#include "service/mzcatalog.h"

static bool is_cancel(const Expr *e)
{
    const StrVec *name = e->kind == EX_FUNCTION ? &e->func->name : NULL;

    return name && e->args.n == 1 && name->n && str_ieq(vec_last(name), S("pg_cancel_backend")) && (name->n == 1 || (name->n == 2 && str_ieq(name->p[0], S("pg_catalog"))));
}

/* The item that is the call, NULL: this is another query. */
static SelectItem *alone(const Run *r)
{
    const Query *q = r->st->query;

    if (r->dialect != DIALECT_POSTGRES || q->body != BODY_SELECT || q->ctes.n || q->limit || q->offset)
        return NULL;
    const Select *s = q->select;
    if (s->from || s->where || s->having || s->grouping != GROUP_NONE || s->distinct || s->items.n != 1 || !s->items.p[0].expr)
        return NULL;
    return is_cancel(s->items.p[0].expr) ? &s->items.p[0] : NULL;
}

static Status number_of(Run *r, Expr *e, int64_t *pid, bool *has, Error *err)
{
    static const DataType INTEGER = { .kind = DT_INT32 };
    Printer p = run_printer(r);
    Binder b;
    Str text, value;

    run_binder(r, &b);
    TRY(sql_bind_expr(r->a, &b, NULL, e, err));
    TRY(sql_assign_cast(r->a, r->dialect, &e, &INTEGER, S("pid"), err));
    TRY(sql_print_expr(r->a, &p, e, &text, err));
    TRY(duck_scalar_str(r->c, r->a, str_fmt(r->a, "SELECT CAST((" STR_FMT ") AS VARCHAR)", STR_ARG(text)), &value, has, err));
    if (*has && !str_to_i64(value, pid))
        return FAIL(err, E_INTERNAL, "the number of a session came as " STR_FMT, STR_ARG(value));
    return OK;
}

static Status ask_member(Run *r, const Principal *whose, Error *err)
{
    Session other = { .principal = *whose };
    Run as = { .ss = &other, .svc = r->svc, .a = r->a };
    Str role;

    TRY(live_role(&as, &role, err));
    return live_ask_member(r, role, err);
}

Status run_cancel_backend(Run *r, Error *err)
{
    SelectItem *item = alone(r);
    int64_t pid = 0;
    bool has, found = false;
    MzBackend other;

    if (!item)
        return OK;
    Expr *answer = arena_new(r->a, Expr);
    *answer = (Expr){ .kind = EX_LITERAL, .position = item->expr->position, .type = { .kind = DT_BOOL }, .value = { .kind = DT_BOOL } };
    TRY(number_of(r, item->expr->args.p[0], &pid, &has, err));
    if (has && mz_session_find(r->svc, r->a, pid, &other)) {
        TRY(ask_member(r, &other.who, err));
        found = mz_session_cancel(r->svc, other.id);
    }
    if (!has)
        answer->type.kind = answer->value.kind = DT_NULL;
    answer->value.boolean = found;
    answer->value.type = &answer->type;
    item->expr = answer;
    if (!item->alias.n)
        item->alias = S("pg_cancel_backend");
    return OK;
}
