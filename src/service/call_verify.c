/* SPDX-License-Identifier: Apache-2.0 */
/* call_verify.c - CALL system.verify: `firn verify` on a server that runs.
 *
 * One row a view: its name, proven | drifted | broken | unchecked, and what was found. Without a table: every view that the caller may read. */
#include "service/call_int.h"

static Status one_view(Call *c, const CatMview *v, const VerifyOptions *o, Error *err)
{
    static const char *const words[] = { "broken", "drifted" };
    Run *r = c->r;
    CatRelation rel;
    CatWarehouse w;
    VerifyReport rep;
    Error why;

    TRY(cat_relation_by_id(r->svc->catalog, r->a, v->relation_id, &rel, err));
    if (run_ask(r, ACT_READ_METADATA, "CALL verify on", &rel, &why) == E_DENIED)
        return c->args[0].has ? (*err = why, E_DENIED) : OK;
    TRY(cat_warehouse_get(r->svc->catalog, r->a, rel.catalog, &w, err));
    Value *row = rows_row(c->rows);
    cell_str(c->rows, row, 0, str_fmt(r->a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(w.sql_name), STR_ARG(rel.namespace), STR_ARG(rel.name)));
    Status s = refresh_verify(r->svc->refresher, r->a, v->relation_id, o, &rep, &why);
    cell_str(c->rows, row, 1, s != OK ? S("unchecked") : rep.proven ? S("proven") : str_c(words[rep.drifted]));
    cell_str(c->rows, row, 2, s != OK ? str_c(why.message) : rep.what);
    return OK;
}

static bool is_wanted(Call *c, const Name *wanted, const CatMview *v)
{
    CatRelation rel;
    Error ignored;

    if (!c->args[0].has)
        return true;
    return cat_relation_by_id(c->r->svc->catalog, c->r->a, v->relation_id, &rel, &ignored) == OK && str_eq(rel.catalog, wanted->catalog_id) &&
           str_eq(rel.namespace, wanted->namespace) && str_eq(rel.name, wanted->name);
}

Status call_verify(Call *c, Error *err)
{
    VerifyOptions o = { .deep = call_arg(c, "deep")->number != 0, .quarantine = 1 };
    StrVec parts = {0};
    CatMviews views = {0};
    Name wanted = {0};

    if (c->args[0].has) {
        TRY(call_table_name(c, c->args[0].text, &parts, err));
        TRY(name_resolve(c->r, &parts, &wanted, err));
    }
    TRY(cat_mview_list(c->r->svc->catalog, c->r->a, &views, err));
    for (size_t i = 0; i < views.n; i++)
        if (is_wanted(c, &wanted, &views.p[i]))
            TRY(one_view(c, &views.p[i], &o, err));
    if (c->args[0].has && !c->rows->memory.n)
        return FAIL(err, E_NOT_FOUND, STR_FMT " is not a materialized view", STR_ARG(name_display(c->r->a, &wanted)));
    return OK;
}
