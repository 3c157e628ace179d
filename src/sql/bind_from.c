/* SPDX-License-Identifier: Apache-2.0 */
/* bind_from.c - the FROM clause: tables, derived tables, CTE references, VALUES, joins.
 *
 * Binding a reference yields the list of columns that it puts in sight, in the order of `*`.  USING and NATURAL
 * become ON; of each pair of merged columns one stays in sight without a qualifier (COALESCE of both for FULL). */
#include "sql/bind_int.h"

/* Always with catalog and schema. */
static Status fail_no_table_trino(Bind *b, const TableRef *t)
{
    Str catalog = t->name.n > 2 ? t->name.p[0] : b->b->current_catalog, schema = t->name.n > 1 ? t->name.p[t->name.n - 2] : b->b->current_namespace;

    (void)!BIND_FAIL(b, t->position, "42P01", "Table '" STR_FMT "." STR_FMT "." STR_FMT "' does not exist", STR_ARG(str_lower(b->a, catalog)), STR_ARG(schema),
                     STR_ARG(vec_last(&t->name)));
    return b->err->code = E_NOT_FOUND;
}

static Status fail_no_table(Bind *b, const TableRef *t)
{
    StrBuf s = sb_new(b->a);

    for (size_t i = 0; i < t->name.n; i++)
        sb_fmt(&s, b->spark ? "%s`" STR_FMT "`" : "%s" STR_FMT, i ? "." : "", STR_ARG(t->name.p[i]));
    if (b->trino)
        return fail_no_table_trino(b, t);
    Status raised = b->spark ? BIND_FAIL(b, t->position, "42P01", "[TABLE_OR_VIEW_NOT_FOUND] The table or view " STR_FMT " cannot be found. Verify the "
                                       "spelling and correctness of the schema and catalog.", STR_ARG(sb_str(&s)))
                         : BIND_FAIL(b, t->position, "42P01", "relation \"" STR_FMT "\" does not exist", STR_ARG(sb_str(&s)));
    (void)raised;
    return b->err->code = E_NOT_FOUND;
}

static Status rename_columns(Bind *b, TableRef *t)
{
    if (t->column_aliases.n > t->columns.n)
        return BIND_FAIL(b, t->position, b->spark ? "42601" : "42P10", "%s", b->spark
                         ? "[NUM_TABLE_VALUE_ALIASES_MISMATCH] Number of given aliases does not match number of output columns."
                         : "table has fewer columns available than columns specified");
    for (size_t i = 0; i < t->column_aliases.n; i++)
        t->columns.p[i].name = t->column_aliases.p[i];
    return OK;
}

static Status show(Bind *b, TableRef *t, Visibles *ret)
{
    if (!t->engine.n)
        t->engine = bind_new_alias(b);
    TRY(rename_columns(b, t));
    for (size_t i = 0; i < t->columns.n; i++)
        vec_push(b->a, ret, ((Visible){ .name = t->columns.p[i].name, .rel = t, .col = (int)i }));
    return OK;
}

static void copy_columns(Bind *b, TableRef *t, const BoundColumns *from)
{
    t->columns = (BoundColumns){ 0 };
    for (size_t i = 0; i < from->n; i++)
        vec_push(b->a, &t->columns, from->p[i]);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static CteScope *find_cte(Bind *b, const TableRef *t)
{
    for (CteScope *c = b->ctes; c && t->name.n == 1; c = c->outer)
        if (bind_name_eq(b, c->cte->name, t->name.p[0]))
            return c;
    return NULL;
}

static Status bind_cte_ref(Bind *b, TableRef *t, CteScope *c, Visibles *ret)
{
    if (c->recursive && !c->columns)
        return BIND_FAIL(b, t->position, "42P19", "recursive reference to \"" STR_FMT "\" must not appear within its non-recursive term",
                         STR_ARG(c->cte->name));
    if (c->recursive)
        c->cte->recursive = 1;
    t->kind = TR_CTE;
    t->query = c->query;
    copy_columns(b, t, c->columns);
    return show(b, t, ret);
}

/* Version and time are expressions without columns; the resolver evaluates them. */
static Status bind_as_of(Bind *b, TableRef *t)
{
    Level none = { .clause = CL_FROM };

    if (t->as_of.version)
        TRY(bind_expr(b, &none, &t->as_of.version));
    if (t->as_of.timestamp) {
        TRY(bind_expr(b, &none, &t->as_of.timestamp));
        if (b->spark && ty_is_integer(&t->as_of.timestamp->type))                                  /* seconds since 1970 */
            t->as_of.timestamp = bx_call(b->a, "timestamp_seconds", "to_timestamp($1)", ty(DT_TIMESTAMPTZ), t->as_of.timestamp, NULL);
        TRY(bind_coerce(b, &t->as_of.timestamp, ty(DT_TIMESTAMPTZ), "TIMESTAMP AS OF"));
    }
    return OK;
}

static Status bind_table(Bind *b, TableRef *t, Visibles *ret)
{
    CteScope *c = t->kind == TR_TABLE && !t->as_of.has ? find_cte(b, t) : NULL;
    Binder *o = b->b;

    if (c)
        return bind_cte_ref(b, t, c, ret);
    if (t->kind == TR_FILE && !o->resolve_file)
        return BIND_FAIL(b, t->position, "0A000", "reading files is not offered here");
    if (!o->resolve)
        return fail_no_table(b, t);
    TRY(bind_as_of(b, t));
    o->aliases = b->next_alias;
    Status s = t->kind == TR_FILE ? o->resolve_file(o->ctx, b->a, t, &t->table, b->err) : o->resolve(o->ctx, b->a, t, &t->table, b->err);
    b->next_alias = o->aliases > b->next_alias ? o->aliases : b->next_alias;
    if (s == E_NOT_FOUND && t->kind == TR_TABLE)
        return fail_no_table(b, t);
    if (s != OK) {
        if (!b->err->position)
            b->err->position = t->position;
        return s;
    }
    copy_columns(b, t, &t->table->columns);
    if (t->table->view) {
        t->kind = TR_QUERY;
        t->query = t->table->view;
        for (size_t i = 0; i < t->columns.n && i < t->query->columns.n; i++)
            t->columns.p[i].engine = t->query->columns.p[i].engine;
    }
    return show(b, t, ret);
}

static Status bind_derived(Bind *b, Level *l, TableRef *t, Visibles *ret)
{
    TRY(bind_query(b, t->lateral ? l : l->outer, t->query));       /* only LATERAL sees its siblings */
    copy_columns(b, t, &t->query->columns);
    return show(b, t, ret);
}

static Status bind_values(Bind *b, Level *l, TableRef *t, Visibles *ret)
{
    TRY(bind_rows(b, l, t->rows.p, t->rows.n, &t->columns, t->position));
    bind_engine_names(b, &t->columns);
    return show(b, t, ret);
}

/* ---- joins -------------------------------------------------------------------------------------------------------- */

static Visible *find_visible(Bind *b, Visibles *v, Str name, int *count)
{
    Visible *hit = NULL;

    *count = 0;
    for (size_t i = 0; i < v->n; i++)
        if (!v->p[i].hidden && bind_name_eq(b, v->p[i].name, name)) {
            hit = &v->p[i];
            (*count)++;
        }
    return hit;
}

static void natural_names(Bind *b, Visibles *left, Visibles *right, StrVec *ret)
{
    int n;
    for (size_t i = 0; i < left->n; i++)
        if (!left->p[i].hidden && find_visible(b, right, left->p[i].name, &n))
            vec_push(b->a, ret, left->p[i].name);
}

static Expr *value_of(Bind *b, const Visible *v) { return v->merged ? v->merged : bx_column(b->a, v->rel, v->col); }

static Status fail_using(Bind *b, const TableRef *t, Str name, const char *side, int count)
{
    if (count > 1)
        return BIND_FAIL(b, t->position, "42702", "common column name \"" STR_FMT "\" appears more than once in %s table", STR_ARG(name), side);
    if (b->spark)
        return BIND_FAIL(b, t->position, "42703", "[UNRESOLVED_USING_COLUMN_FOR_JOIN] USING column `" STR_FMT "` cannot be resolved on the %s side of "
                         "the join.", STR_ARG(name), side);
    return BIND_FAIL(b, t->position, "42703", "column \"" STR_FMT "\" specified in USING clause does not exist in %s table", STR_ARG(name), side);
}

/* One USING column: its condition is added to *on; what stays in sight goes to the front of ret. */
static Status merge_column(Bind *b, TableRef *t, Str name, Visibles *left, Visibles *right, Visibles *ret, Expr **on)
{
    int n;
    Visible *l = find_visible(b, left, name, &n);
    if (n != 1)
        return fail_using(b, t, name, "left", n);
    Visible *r = find_visible(b, right, name, &n);
    if (n != 1)
        return fail_using(b, t, name, "right", n);
    Expr *x = value_of(b, l), *y = value_of(b, r);
    Expr **both[] = { &x, &y };
    DataType type;

    TRY(bind_unify(b, both, 2, t->position, &type));
    Expr *eq = bx_binary(b->a, OP_EQ, x, y, ty(DT_BOOL));
    *on = *on ? bx_binary(b->a, OP_AND, *on, eq, ty(DT_BOOL)) : eq;
    Visible kept = t->join == JOIN_RIGHT ? *r : *l;
    kept.name = l->name;
    if (t->join == JOIN_FULL) {
        Expr *m = bx_call(b->a, "coalesce", "coalesce", type, x, y);
        kept = (Visible){ .name = l->name, .rel = l->rel, .col = -1, .merged = m };
    }
    vec_push(b->a, ret, kept);
    if (t->join == JOIN_FULL || t->join == JOIN_RIGHT)
        l->hidden = 1;
    else
        l->hidden = 2;                        /* 2: stands in ret already */
    r->hidden = t->join == JOIN_RIGHT ? 2 : 1;
    return OK;
}

static Status bind_using(Bind *b, TableRef *t, Visibles *left, Visibles *right, Visibles *ret)
{
    StrVec names = t->using_;

    if (t->natural)
        natural_names(b, left, right, &names);
    for (size_t i = 0; i < names.n; i++)
        TRY(merge_column(b, t, names.p[i], left, right, ret, &t->on));
    if (!t->on && t->join != JOIN_CROSS) {
        if (t->join == JOIN_INNER)
            t->join = JOIN_CROSS;
        else
            t->on = bx_bool(b->a, 1);
    }
    t->natural = 0;
    t->using_ = (StrVec){ 0 };
    return OK;
}

static void append(Bind *b, Visibles *to, const Visibles *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (from->p[i].hidden != 2)
            vec_push(b->a, to, from->p[i]);
}

static void set_nullable(Visibles *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->p[i].col >= 0)
            v->p[i].rel->columns.p[v->p[i].col].nullable = 1;
}

static Status bind_condition(Bind *b, Level *l, TableRef *t, Visibles *both)
{
    Visibles outside = l->visible;
    Clause clause = l->clause;

    l->visible = *both;
    l->clause = CL_FROM;
    Status s = bind_expr(b, l, &t->on);
    l->visible = outside;
    l->clause = clause;
    TRY(s);
    return bind_coerce(b, &t->on, ty(DT_BOOL), "JOIN ON");
}

/* The left side is in sight of a lateral right side. */
static Status bind_right(Bind *b, Level *l, TableRef *t, const Visibles *left, Visibles *right)
{
    Visibles outside = l->visible, seen = { 0 };

    append(b, &seen, &outside);
    append(b, &seen, left);
    l->visible = seen;
    Status s = bind_from(b, l, t->right, right);
    l->visible = outside;
    return s;
}

static Status bind_join(Bind *b, Level *l, TableRef *t, Visibles *ret)
{
    Visibles left = { 0 }, right = { 0 }, both = { 0 };

    TRY(bind_from(b, l, t->left, &left));
    TRY(bind_right(b, l, t, &left, &right));
    if (t->join == JOIN_LEFT || t->join == JOIN_FULL)
        set_nullable(&right);
    if (t->join == JOIN_RIGHT || t->join == JOIN_FULL)
        set_nullable(&left);
    if (t->natural || t->using_.n) {
        TRY(bind_using(b, t, &left, &right, &both));
    } else if (t->on) {
        append(b, &both, &left);
        append(b, &both, &right);
        TRY(bind_condition(b, l, t, &both));
        both.n = 0;
    } else if (t->join == JOIN_INNER) {
        t->join = JOIN_CROSS;
    } else if (t->join != JOIN_CROSS) {
        t->on = bx_bool(b->a, 1);
    }
    append(b, &both, &left);
    if (t->join != JOIN_SEMI && t->join != JOIN_ANTI)
        append(b, &both, &right);
    for (size_t i = 0; i < both.n; i++)
        vec_push(b->a, ret, both.p[i]);
    return OK;
}

Status bind_from(Bind *b, Level *l, TableRef *t, Visibles *ret)
{
    switch (t->kind) {
    case TR_TABLE: case TR_FILE: return bind_table(b, t, ret);
    case TR_QUERY: return bind_derived(b, l, t, ret);
    case TR_VALUES: return bind_values(b, l, t, ret);
    case TR_JOIN: return bind_join(b, l, t, ret);
    case TR_CTE: {
        CteScope *c = find_cte(b, t);
        return c ? bind_cte_ref(b, t, c, ret) : fail_no_table(b, t);
    }
    case TR_FUNCTION:
        TRY(bind_table_function(b, l, t));
        return show(b, t, ret);
    }
    return FAIL(b->err, E_INTERNAL, "unknown kind of table reference");
}
