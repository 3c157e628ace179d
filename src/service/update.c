/* SPDX-License-Identifier: Apache-2.0 */
/* update.c - DELETE, TRUNCATE, UPDATE. */
#include "service/dml_int.h"

/* ---- DELETE ----------------------------------------------------------------------------------------------------------------------------- */

static Status bind_target(Dml *d, TableRef *target, Expr *where, Str *cond, Error *err)
{
    Run *r = d->r;
    Printer p = run_printer(r);
    Expr truth = { .kind = EX_LITERAL, .value = { .kind = DT_BOOL, .boolean = true } };
    Binder b;

    run_binder(r, &b);
    if (!where) {
        where = arena_new(r->a, Expr);
        *where = truth;
    }
    TRY(sql_bind_expr(r->a, &b, target, where, err));
    if (where->type.kind != DT_BOOL && where->type.kind != DT_NULL)
        return FAIL(err, E_INVALID, "the condition is of type " STR_FMT ", not boolean", STR_ARG(sql_type_name(r->a, r->ss->dialect, &where->type)));
    return sql_print_expr(r->a, &p, where, cond, err);
}

Status do_delete(Run *r, Rows *rows, Error *err)
{
    Dml d;
    Str cond, text, sql;

    TRY(dml_open(&d, r, "DELETE from", err));
    if (r->st->from)
        return FAIL(err, E_UNSUPPORTED, "DELETE … USING is not supported: use WHERE … IN or EXISTS");
    TableRef *target = dml_target(&d, r->st->alias);
    TRY(bind_target(&d, target, r->st->where, &cond, err));
    TargetPrinter tp = { &d, target, run_printer(r) };
    Printer p = { .ctx = &tp, .table = dml_print_target };
    TRY(sql_print_table(r->a, &p, target, &text, err));
    sql = str_fmt(r->a, "SELECT " STR_FMT ".__file, " STR_FMT ".__pos FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(target->engine), STR_ARG(target->engine), STR_ARG(text), STR_ARG(cond));
    TRY(dml_finish(&d, dml_delete_hits(&d, sql, "delete", &d.rows, err), err));
    dml_tag(rows, "DELETE", d.rows);
    return OK;
}

Status do_truncate(Run *r, Rows *rows, Error *err)
{
    Dml d;

    TRY(dml_open(&d, r, "TRUNCATE", err));
    rows_command(rows, "TRUNCATE TABLE");
    if (d.live) {
        TRY(dml_live_delete(&d, str_fmt(r->a, "SELECT __pos FROM " STR_FMT " q", STR_ARG(dml_live_target(&d))), &d.rows, err));
        return dml_commit(&d, err);
    }
    d.change.operation = S("delete");
    d.change.replace_all = ice_current_snapshot(d.table.meta) != NULL;
    return dml_commit(&d, err);
}

/* ---- UPDATE ------------------------------------------------------------------------------------------------------------------------------- */

/* The new value of each column as text, over the target's engine alias. */
Status dml_assigned(Dml *d, TableRef *scope, TableRef *target, const AssignVec *set, StrBuf *out, Error *err)
{
    Run *r = d->r;
    Expr **values = arena_array(r->a, Expr *, d->columns.n + 1);
    Binder b;

    run_binder(r, &b);
    for (size_t i = 0; i < set->n; i++) {
        Str col = set->p[i].column.p[set->p[i].column.n - 1];
        ptrdiff_t at = dml_column(d, col);
        if (at < 0)
            return dml_unknown_column(d, col, err);
        if (values[at])
            return FAIL(err, E_INVALID, "column '" STR_FMT "' is set twice", STR_ARG(col));
        values[at] = set->p[i].value;
        TRY(sql_bind_expr(r->a, &b, scope, values[at], err));
    }
    for (size_t i = 0; i < d->columns.n; i++)
        TRY(dml_select_item(d, values[i] ? values[i] : dml_column_expr(r->a, target, i, &d->columns.p[i]), i, out, err));
    return OK;
}

Status do_update(Run *r, Rows *rows, Error *err)
{
    Dml d;
    Str cond, text;
    StrBuf items = sb_new(r->a);
    int64_t written;

    TRY(dml_open(&d, r, "UPDATE", err));
    if (r->st->from)
        return FAIL(err, E_UNSUPPORTED, "UPDATE … FROM is not supported: use MERGE INTO");
    TableRef *target = dml_target(&d, r->st->alias);
    TRY(bind_target(&d, target, r->st->where, &cond, err));
    TRY(dml_assigned(&d, target, target, &r->st->set, &items, err));
    TargetPrinter tp = { &d, target, run_printer(r) };
    Printer p = { .ctx = &tp, .table = dml_print_target };
    TRY(sql_print_table(r->a, &p, target, &text, err));
    Str hits = str_fmt(r->a, "SELECT " STR_FMT ".__file, " STR_FMT ".__pos FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(target->engine), STR_ARG(target->engine), STR_ARG(text), STR_ARG(cond));
    Status s = dml_delete_hits(&d, hits, "update", &d.rows, err);
    Str row = sql_ident_str(r->a, target->engine), at = str_cat(r->a, row, S("."));
    Str new_rows = str_fmt(r->a, "SELECT " STR_FMT STR_FMT " FROM " STR_FMT STR_FMT " WHERE " STR_FMT, STR_ARG(sb_str(&items)), STR_ARG(dml_lineage_items(&d, row, at, LINEAGE_CHANGED)),
                           STR_ARG(text), STR_ARG(dml_lineage_join(&d, at)), STR_ARG(cond));
    if (s == OK && d.rows)
        s = dml_write(&d, new_rows, &written, err);
    TRY(dml_finish(&d, s, err));
    dml_tag(rows, "UPDATE", d.rows);
    return OK;
}
