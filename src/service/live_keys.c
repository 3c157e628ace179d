/* SPDX-License-Identifier: Apache-2.0 */
/* live_keys.c - which columns of a relation are surely unique together (for KEY of upsert sinks).
 *
 * Read off the bound definition: groups, DISTINCT, set operations, one row, joins along keys, and what selections and projections leave of them.  A source tells its own
 * key; a table has none.  What is not seen is not claimed. */
#include "service/live_sink.h"

enum { KEYS_MAX = 64, VIEWS_DEEP = 16 };

typedef struct ColumnRef { const TableRef *rel; int col; } ColumnRef;
typedef VEC(ColumnRef) RefKey;
typedef VEC(RefKey) RefKeys;                          /* of a FROM item */
typedef VEC(int) Key;
typedef VEC(Key) Keys;                                /* of a query: its output columns */
typedef struct Finder { Run *r; int depth; } Finder;

static void query_keys(Finder *f, const Query *q, Keys *ret);
static void relation_keys(Finder *f, const Object *o, Keys *ret);

static void add(Finder *f, Keys *keys, Key k)
{
    if (keys->n < KEYS_MAX)
        vec_push(f->r->a, keys, k);
}

static void add_all_columns(Finder *f, size_t n, Keys *ret)
{
    Key k = {0};
    for (size_t i = 0; i < n; i++)
        vec_push(f->r->a, &k, (int)i);
    add(f, ret, k);
}

/* ---- expressions -------------------------------------------------------------------------------------------------------------- */

static bool is_column(const Expr *e) { return e->kind == EX_COLUMN && e->rel && !e->outer; }

static bool same_literal(const Expr *x, const Expr *y)
{
    const Value *v = &x->value, *w = &y->value;

    if (v->kind != w->kind)
        return false;
    switch (v->kind) {
    case DT_NULL: return true;
    case DT_BOOL: return v->boolean == w->boolean;
    case DT_INT8: case DT_INT16: case DT_INT32: case DT_INT64: return v->integer == w->integer;
    case DT_STRING: return str_eq(v->string, w->string);
    default: return false;
    }
}

/* Surely the same value in every row; what is not looked into is not the same. */
static bool same(const Expr *x, const Expr *y)
{
    if (x == y)
        return true;
    if (x->kind != y->kind || x->args.n != y->args.n || x->query || y->query)
        return false;
    if (x->kind == EX_COLUMN)
        return x->rel && x->rel == y->rel && x->col == y->col && !x->outer && !y->outer;
    if (x->kind == EX_LITERAL)
        return same_literal(x, y);
    bool call = x->kind == EX_FUNCTION && x->func && y->func && str_eq(x->func->canonical, y->func->canonical) && x->func->class == FN_SCALAR && !x->func->volatile_;
    bool op = (x->kind == EX_BINARY || x->kind == EX_UNARY) && x->op == y->op;
    if ((!call && !op && x->kind != EX_CAST) || !x->args.n || !data_type_equal(&x->type, &y->type))
        return false;
    for (size_t i = 0; i < x->args.n; i++)
        if (!same(x->args.p[i], y->args.p[i]))
            return false;
    return true;
}

static int item_of(const Select *s, const Expr *e)
{
    for (size_t i = 0; i < s->items.n; i++)
        if (same(s->items.p[i].expr, e))
            return (int)i;
    return -1;
}

/* ---- FROM --------------------------------------------------------------------------------------------------------------------- */

static void as_refs(Finder *f, const TableRef *t, const Keys *keys, RefKeys *ret)
{
    for (size_t i = 0; i < keys->n; i++) {
        RefKey k = {0};
        for (size_t j = 0; j < keys->p[i].n; j++)
            vec_push(f->r->a, &k, ((ColumnRef){ t, keys->p[i].p[j] }));
        vec_push(f->r->a, ret, k);
    }
}

typedef VEC(const Expr *) Equations;

static void equated(Finder *f, const Expr *on, Equations *ret)
{
    if (!on || on->kind != EX_BINARY || on->args.n != 2)
        return;
    if (on->op == OP_AND) {
        equated(f, on->args.p[0], ret);
        equated(f, on->args.p[1], ret);
    } else if (on->op == OP_EQ && is_column(on->args.p[0]) && is_column(on->args.p[1]))
        vec_push(f->r->a, ret, on);
}

static bool holds(const RefKey *k, const Expr *col)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->p[i].rel == col->rel && k->p[i].col == col->col)
            return true;
    return false;
}

static bool contains(const TableRef *t, const TableRef *rel)
{
    return t == rel || (t->kind == TR_JOIN && (contains(t->left, rel) || contains(t->right, rel)));
}

/* Each column of the key is equated with one of the other side: at most one row of its side meets a row of the other. */
static bool is_met(Finder *f, const RefKey *k, const Expr *on, const TableRef *other)
{
    Equations eq = {0};
    size_t met = 0;

    equated(f, on, &eq);
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0; j < eq.n; j++) {
            const Expr *l = eq.p[j]->args.p[0], *r = eq.p[j]->args.p[1];
            RefKey one = { .p = &k->p[i], .n = 1 };
            bool across = (holds(&one, l) && contains(other, r->rel)) || (holds(&one, r) && contains(other, l->rel));
            if (across) {
                met++;
                break;
            }
        }
    return met == k->n;
}

static bool any_met(Finder *f, const RefKeys *keys, const Expr *on, const TableRef *other)
{
    for (size_t i = 0; i < keys->n; i++)
        if (is_met(f, &keys->p[i], on, other))
            return true;
    return false;
}

static void product(Finder *f, const RefKeys *l, const RefKeys *r, RefKeys *ret)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t j = 0; j < r->n && ret->n < KEYS_MAX; j++) {
            RefKey k = {0};
            for (size_t n = 0; n < l->p[i].n; n++)
                vec_push(f->r->a, &k, l->p[i].p[n]);
            for (size_t n = 0; n < r->p[j].n; n++)
                vec_push(f->r->a, &k, r->p[j].p[n]);
            vec_push(f->r->a, ret, k);
        }
}

static void append(Finder *f, const RefKeys *from, RefKeys *ret)
{
    for (size_t i = 0; i < from->n && ret->n < KEYS_MAX; i++)
        vec_push(f->r->a, ret, from->p[i]);
}

static void from_keys(Finder *f, const TableRef *t, const Expr *where, RefKeys *ret);

static void join_keys(Finder *f, const TableRef *t, const Expr *where, RefKeys *ret)
{
    RefKeys l = {0}, r = {0};
    bool inner = t->join == JOIN_INNER || t->join == JOIN_CROSS;
    const Expr *on = inner && !t->on ? where : t->on;

    from_keys(f, t->left, where, &l);
    if (t->join == JOIN_SEMI || t->join == JOIN_ANTI) {
        append(f, &l, ret);
        return;
    }
    if (t->right->lateral)
        return;
    from_keys(f, t->right, where, &r);
    if ((inner || t->join == JOIN_LEFT) && any_met(f, &r, on, t->left))
        append(f, &l, ret);
    if ((inner || t->join == JOIN_RIGHT) && any_met(f, &l, on, t->right))
        append(f, &r, ret);
    if (t->join != JOIN_FULL)
        product(f, &l, &r, ret);
}

static void from_keys(Finder *f, const TableRef *t, const Expr *where, RefKeys *ret)
{
    Keys keys = {0};
    int64_t id;
    Object o;
    Error absent;

    if (t->kind == TR_JOIN) {
        join_keys(f, t, where, ret);
        return;
    }
    if (t->query && (t->kind == TR_QUERY || t->kind == TR_CTE))
        query_keys(f, t->query, &keys);
    else if (t->kind == TR_TABLE && t->table && t->table->view)
        query_keys(f, t->table->view, &keys);
    else if (t->kind == TR_TABLE && t->table && live_is_table(t->table, &id) && objects_get(f->r->svc->objects, f->r->a, id, &o, &absent) == OK)
        relation_keys(f, &o, &keys);
    as_refs(f, t, &keys, ret);
}

/* ---- queries --------------------------------------------------------------------------------------------------------------------- */

static void grouped(Finder *f, const Select *s, Keys *ret)
{
    Key k = {0};

    for (size_t i = 0; i < s->group_by.n; i++) {
        int item = item_of(s, s->group_by.p[i]);
        if (item < 0)
            return;
        vec_push(f->r->a, &k, item);
    }
    add(f, ret, k);                                   /* no group at all: one row */
}

static void projected(Finder *f, const Select *s, Keys *ret)
{
    RefKeys from = {0};

    if (!s->from) {
        add(f, ret, (Key){0});
        return;
    }
    from_keys(f, s->from, s->where, &from);
    for (size_t i = 0; i < from.n; i++) {
        Key k = {0};
        for (size_t j = 0; j < from.p[i].n; j++) {
            Expr col = { .kind = EX_COLUMN, .rel = (TableRef *)from.p[i].p[j].rel, .col = from.p[i].p[j].col };
            int item = item_of(s, &col);
            if (item >= 0)
                vec_push(f->r->a, &k, item);
        }
        if (k.n == from.p[i].n)
            add(f, ret, k);
    }
}

/* A function that gives rows makes several of one. */
static bool multiplies(const Select *s)
{
    for (size_t i = 0; i < s->items.n; i++)
        if (s->items.p[i].expr->kind == EX_FUNCTION && s->items.p[i].expr->func && s->items.p[i].expr->func->class == FN_TABLE)
            return true;
    return false;
}

static void select_keys(Finder *f, const Select *s, Keys *ret)
{
    Key on = {0};

    if (s->distinct)
        add_all_columns(f, s->items.n, ret);
    for (size_t i = 0; i < s->distinct_on.n; i++) {
        int item = item_of(s, s->distinct_on.p[i]);
        if (item >= 0)
            vec_push(f->r->a, &on, item);
    }
    if (s->distinct_on.n && on.n == s->distinct_on.n)
        add(f, ret, on);
    if (multiplies(s))
        return;
    if (s->aggregated && (s->grouping == GROUP_PLAIN || s->grouping == GROUP_NONE))
        grouped(f, s, ret);
    else if (!s->aggregated)
        projected(f, s, ret);
}

static bool is_one(const Expr *e) { return e && e->kind == EX_LITERAL && e->value.kind != DT_NULL && e->value.kind <= DT_INT64 && e->value.kind >= DT_INT8 && e->value.integer <= 1; }

static void query_keys(Finder *f, const Query *q, Keys *ret)
{
    if (is_one(q->limit))
        add(f, ret, (Key){0});
    if (q->body == BODY_SELECT)
        select_keys(f, q->select, ret);
    else if (q->body == BODY_VALUES && q->rows.n <= 1)
        add(f, ret, (Key){0});
    else if (q->body == BODY_SETOP && !q->all)
        add_all_columns(f, q->columns.n, ret);
    if (q->body == BODY_SETOP && q->setop != SETOP_UNION && !q->by_name)
        query_keys(f, q->left, ret);
}

/* ---- relations --------------------------------------------------------------------------------------------------------------------- */

static void source_keys(Finder *f, const Object *o, Keys *ret)
{
    const Json *key = json_get(json_get(o->detail, "output"), "key");
    Key k = {0};

    for (size_t i = 0; i < json_len(key); i++)
        for (size_t c = 0; c < o->columns.n; c++)
            if (str_eq(o->columns.p[c].name, json_at(key, i)->string))
                vec_push(f->r->a, &k, (int)c);
    if (k.n && k.n == json_len(key))
        add(f, ret, k);
}

static void relation_keys(Finder *f, const Object *o, Keys *ret)
{
    Str as = f->r->live_as;
    Error ignored;
    IvmView *v;
    Query *q;

    source_keys(f, o, ret);
    if (o->kind != OBJ_MVIEW || f->depth >= VIEWS_DEEP)
        return;
    f->depth++;
    f->r->live_as = S(REALM_SYSTEM_ROLE);
    if (live_compile(f->r, f->r->a, o->definition, &q, &v, &ignored) == OK)
        query_keys(f, q, ret);
    f->r->live_as = as;
    f->depth--;
}

void live_unique_keys(Run *r, const Object *o, LiveKeys *ret)
{
    Finder f = { .r = r };
    Keys keys = {0};

    relation_keys(&f, o, &keys);
    for (size_t i = 0; i < keys.n; i++) {
        StrVec names = {0};
        for (size_t j = 0; j < keys.p[i].n; j++)
            if ((size_t)keys.p[i].p[j] < o->columns.n)
                vec_push(r->a, &names, o->columns.p[keys.p[i].p[j]].name);
        if (names.n == keys.p[i].n)
            vec_push(r->a, ret, names);
    }
}
