/* SPDX-License-Identifier: Apache-2.0 */
/* bag.c - views without state: the change of the rows themselves.
 *
 * Rows that come are written w times.  For rows that go, just |w| of the equal stored copies are picked; stored rows are
 * met by equality on all columns, which the engine hashes.  That fewer are found than must go is the check. */
#include "ivm/ivm_int.h"

Status root_select_sql(Emit *e, Str from, Str hidden, Str *ret, Error *err)
{
    const Node *root = e->v->root;
    StrBuf b = sb_new(e->a);
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < node_ncols(root); i++) {
        sb_addc(&b, i ? ", " : "");
        TRY(put_expr(&b, root->exprs.p[i], err));
        sb_addc(&b, " AS ");
        sql_ident(&b, e->v->visible.p[i].engine);
    }
    sb_add(&b, hidden);
    sb_fmt(&b, " FROM " STR_FMT " n%d", STR_ARG(from), root->in.p[0]->id);
    *ret = sb_str(&b);
    return OK;
}

/* Columns c1 … under the view's own names. */
static void put_visible(StrBuf *b, const Emit *e, const char *alias)
{
    for (size_t i = 0; i < e->v->visible.n; i++) {
        sb_fmt(b, "%s%s.c%zu AS ", i ? ", " : "", alias, i + 1);
        sql_ident(b, e->v->visible.p[i].engine);
    }
}

Status plain_full_sql(Emit *e, Str *ret, Error *err)
{
    Str rows = {0};
    StrBuf b = sb_new(e->a);
    TRY(state_sql(e, e->v->root, SIDE_NEW, NULL, &rows, err));
    sb_addc(&b, "SELECT ");
    put_visible(&b, e, "x");
    sb_fmt(&b, " FROM (" STR_FMT ") x", STR_ARG(rows));
    *ret = sb_str(&b);
    return OK;
}

/* Stored rows equal to rows that go, numbered among their equals. */
static Status pick_stored(Emit *e, Str change, Error *err)
{
    const Node *root = e->v->root;
    StrBuf b = sb_new(e->a);
    sb_addc(&b, "SELECT p.* FROM (SELECT v.\"__file\", v.\"__pos\", d.w AS __w, row_number() OVER (PARTITION BY d.id ORDER BY v.\"__file\", v.\"__pos\") AS __rn");
    put_stored_visible(&b, e->v);
    sb_addc(&b, " FROM ");
    put_rows_near(&b, e->v, str_fmt(e->a, "FROM " STR_FMT " WHERE w < 0", STR_ARG(change)));
    sb_addc(&b, " JOIN (SELECT rowid AS id, ");
    put_columns(&b, root, "x");
    sb_fmt(&b, ", x.w FROM " STR_FMT " x WHERE x.w < 0) d ON ", STR_ARG(change));
    for (size_t i = 0; i < node_ncols(root); i++) {
        sb_addc(&b, i ? " AND " : "");
        Str stored = str_cat(e->a, S("v."), sql_ident_str(e->a, e->v->visible.p[i].engine));
        put_same(&b, stored, str_fmt(e->a, "d.c%zu", i + 1), node_type(root, i), node_nullable(root, i));
    }
    sb_addc(&b, ") p WHERE p.__rn <= -p.__w");
    return emit_step(e, S("ivm_del"), sb_str(&b), err);
}

static void insert_rows(Emit *e, Str change)
{
    StrBuf b = sb_new(e->a);
    sb_addc(&b, "SELECT ");
    put_visible(&b, e, "x");
    sb_fmt(&b, " FROM " STR_FMT " x WHERE x.w = 1 UNION ALL SELECT ", STR_ARG(change));
    put_visible(&b, e, "y");
    sb_fmt(&b, " FROM (SELECT x.*, unnest(range(x.w)) FROM " STR_FMT " x WHERE x.w > 1) y", STR_ARG(change));
    e->plan->insert_sql = sb_str(&b);
}

/* All that comes comes once. */
static Status insert_delta(Emit *e, Error *err)
{
    Str rows = {0};
    StrBuf b = sb_new(e->a);
    TRY(delta_sql(e, e->v->root, &rows, err));
    sb_addc(&b, "SELECT ");
    put_visible(&b, e, "x");
    sb_fmt(&b, " FROM (" STR_FMT ") x", STR_ARG(rows));
    e->plan->insert_sql = sb_str(&b);
    return OK;
}

Status bag_plan(Emit *e, Error *err)
{
    Str change = {0};
    if (emit_unit(e, e->v->root))
        return insert_delta(e, err);
    TRY(delta_table(e, e->v->root, &change, err));
    insert_rows(e, change);
    if (!emit_deletes(e, e->v->root))
        return OK;
    TRY(pick_stored(e, change, err));
    StrBuf gone = sb_new(e->a);
    sb_addc(&gone, "SELECT d.\"__file\", d.\"__pos\"");
    put_gone_visible(&gone, e->v, "d");
    sb_addc(&gone, " FROM ivm_del d");
    e->plan->delete_sql = sb_str(&gone);
    e->plan->check_sql = str_fmt(e->a, "SELECT (SELECT CAST(coalesce(sum(-x.w), 0) AS BIGINT) FROM " STR_FMT " x WHERE x.w < 0) - "
                                 "(SELECT count(*) FROM ivm_del)", STR_ARG(change));
    return OK;
}
