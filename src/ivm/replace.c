/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - views whose affected keys are recomputed: stored rows of the keys go, the query restricted to them comes.
 *
 * Keys are the group keys (those not visible are stored as __ivm_k<i>), or, for other views with columns that are not the
 * same at each computation (sums of floating point below a join), all the other columns. */
#include "ivm/ivm_int.h"

/* The visible column that is just column `col` of `under`; SIZE_MAX: none. */
size_t visible_column(const IvmView *v, const Node *under, size_t col)
{
    for (size_t i = 0; i < v->root->exprs.n; i++) {
        const Expr *x = v->root->exprs.p[i];
        if (x->kind == EX_COLUMN && x->rel == &under->ref && (size_t)x->col == col)
            return i;
    }
    return SIZE_MAX;
}

Str add_hidden(Compiler *c, Str name, DataType type, Nullability nullable)
{
    for (size_t i = 0; i < c->v->hidden.n; i++)
        if (str_ieq(c->v->hidden.p[i].name, name)) {
            name = str_cat(c->a, name, S("_"));
            i = (size_t)-1;
        }
    IvmColumn col = { name, name, type, nullable == MAY_BE_NULL };
    vec_push(c->a, &c->v->hidden, col);
    return name;
}

/* Where each group key is stored. */
void store_keys(Compiler *c, const Node *top)
{
    const Node *agg = c->v->agg;
    for (size_t i = 0; i < agg->nkeys; i++) {
        size_t at = visible_column(c->v, top, i);
        KeyStore k = { at == SIZE_MAX ? (Str){0} : c->v->visible.p[at].engine, at == SIZE_MAX };
        if (k.hidden)
            k.store = add_hidden(c, str_fmt(c->a, "__ivm_k%zu", i + 1), *node_type(agg, i), MAY_BE_NULL);
        vec_push(c->a, &c->v->keys, k);
    }
}

void put_stored_keys(StrBuf *b, const IvmView *v, const char *alias, KeyNulls nulls)
{
    for (size_t i = 0; i < v->agg->nkeys; i++) {
        Str stored = str_cat(b->a, S("v."), sql_ident_str(b->a, v->keys.p[i].store));
        sb_addc(b, i ? " AND " : "");
        put_same(b, stored, str_fmt(b->a, "%s.k%zu", alias, i + 1), node_type(v->agg, i), nulls == KEYS_MAY_BE_NULL && node_nullable(v->agg, i));
    }
    if (!v->agg->nkeys)
        sb_addc(b, "TRUE");
}

void put_stored_visible(StrBuf *b, const IvmView *v)
{
    for (size_t i = 0; v->target == IVM_STORED && i < v->visible.n; i++) {
        sb_addc(b, ", v.");
        sql_ident(b, v->visible.p[i].engine);
        sb_fmt(b, " AS __ivm_o%zu", i + 1);
    }
}

void put_stored_rows(StrBuf *b, const IvmView *v)
{
    sb_addc(b, "SELECT v.\"__file\", v.\"__pos\"");
    put_stored_visible(b, v);
}

void put_gone_visible(StrBuf *b, const IvmView *v, const char *alias)
{
    for (size_t i = 0; v->target == IVM_STORED && i < v->visible.n; i++)
        sb_fmt(b, ", %s.__ivm_o%zu", alias, i + 1);
}

Status replace_compile(Compiler *c, Error *err)
{
    if (c->v->topk)
        return topk_compile(c, err);
    store_keys(c, c->v->having ? c->v->having : c->v->agg);
    return OK;
}

/* ", n3.c1 AS __ivm_k1 …" for keys that are not visible */
Str hidden_keys(Arena *a, const IvmView *v)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < v->keys.n; i++) {
        if (!v->keys.p[i].hidden)
            continue;
        sb_fmt(&b, ", n%d.c%zu AS ", v->root->in.p[0]->id, i + 1);
        sql_ident(&b, v->keys.p[i].store);
    }
    return sb_str(&b);
}

static Status groups_sql(Emit *e, const Restrict *only, Str *ret, Error *err)
{
    Str rows = {0};
    const Node *top = e->v->having ? e->v->having : e->v->agg;
    TRY(state_sql(e, top, SIDE_NEW, only, &rows, err));
    return root_select_sql(e, str_fmt(e->a, "(" STR_FMT ")", STR_ARG(rows)), hidden_keys(e->a, e->v), ret, err);
}

Status replace_full_sql(Emit *e, Str *ret, Error *err)
{
    if (e->v->topk)
        return topk_full_sql(e, ret, err);
    return e->v->by_row ? plain_full_sql(e, ret, err) : groups_sql(e, NULL, ret, err);
}

static Status replace_groups(Emit *e, Error *err)
{
    const Node *agg = e->v->agg;
    StrBuf b = sb_new(e->a);
    Str keys = S("ivm_k"), rows = {0};
    TRY(affected_keys(e, agg, keys, err));
    Restrict only = restrict_to_keys(e->a, agg, keys);
    put_stored_rows(&b, e->v);
    sb_addc(&b, " FROM ");
    put_groups_near(&b, e->v, S("FROM ivm_k"));
    sb_addc(&b, " WHERE EXISTS (SELECT 1 FROM ivm_k k WHERE ");
    put_stored_keys(&b, e->v, "k", KEYS_MAY_BE_NULL);
    sb_addc(&b, ")");
    e->plan->delete_sql = sb_str(&b);
    TRY(groups_sql(e, &only, &rows, err));
    e->plan->insert_sql = agg->nkeys ? rows : str_cat(e->a, rows, S(" WHERE EXISTS (SELECT 1 FROM ivm_k)"));
    return OK;
}

/* ---- by row: the columns that are not fuzzy are the key -------------------------------------------------------- */

static void put_row_keys(StrBuf *b, const IvmView *v)
{
    int any = 0;
    for (size_t i = 0; i < node_ncols(v->root); i++) {
        if (v->root->fuzzy[i])
            continue;
        Str stored = str_cat(b->a, S("v."), sql_ident_str(b->a, v->visible.p[i].engine));
        sb_addc(b, any++ ? " AND " : "");
        put_same(b, stored, str_fmt(b->a, "k.c%zu", i + 1), node_type(v->root, i), node_nullable(v->root, i));
    }
    if (!any)
        sb_addc(b, "TRUE");
}

static Status row_keys_step(Emit *e, Restrict *only, Error *err)
{
    const Node *root = e->v->root;
    Str change = {0};
    StrBuf b = sb_new(e->a);
    size_t *cols = arena_array(e->a, size_t, node_ncols(root) + 1);
    Str *names = arena_array(e->a, Str, node_ncols(root) + 1);
    TRY(delta_table(e, root, &change, err));
    *only = (Restrict){ S("ivm_k"), 0, cols, names, 0 };
    sb_addc(&b, "SELECT DISTINCT ");
    for (size_t i = 0; i < node_ncols(root); i++) {
        if (root->fuzzy[i])
            continue;
        cols[only->n] = i;
        names[only->n] = str_fmt(e->a, "c%zu", i + 1);
        sb_fmt(&b, "%sc%zu", only->n++ ? ", " : "", i + 1);
    }
    sb_fmt(&b, "%s FROM " STR_FMT, only->n ? "" : "1 AS c0", STR_ARG(change));
    return emit_step(e, S("ivm_k"), sb_str(&b), err);
}

static Status replace_rows(Emit *e, Error *err)
{
    Restrict only = {0};
    Str rows = {0};
    StrBuf del = sb_new(e->a), ins = sb_new(e->a);
    TRY(row_keys_step(e, &only, err));
    put_stored_rows(&del, e->v);
    sb_addc(&del, " FROM v WHERE EXISTS (SELECT 1 FROM ivm_k k WHERE ");
    put_row_keys(&del, e->v);
    sb_addc(&del, ")");
    TRY(state_sql(e, e->v->root, SIDE_NEW, &only, &rows, err));
    sb_addc(&ins, "SELECT ");
    for (size_t i = 0; i < e->v->visible.n; i++) {
        sb_fmt(&ins, "%sx.c%zu AS ", i ? ", " : "", i + 1);
        sql_ident(&ins, e->v->visible.p[i].engine);
    }
    sb_fmt(&ins, " FROM (" STR_FMT ") x%s", STR_ARG(rows), only.n ? "" : " WHERE EXISTS (SELECT 1 FROM ivm_k)");
    e->plan->delete_sql = sb_str(&del);
    e->plan->insert_sql = sb_str(&ins);
    return OK;
}

Status replace_plan(Emit *e, Error *err)
{
    if (e->v->topk)
        return topk_plan(e, err);
    return e->v->by_row ? replace_rows(e, err) : replace_groups(e, err);
}
