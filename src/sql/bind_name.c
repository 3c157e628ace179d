/* SPDX-License-Identifier: Apache-2.0 */
/* bind_name.c - what a name means: a column in sight, a field of a struct, an alias, a column of an outer query.
 *
 * `a.b.c` may be table a.b with column c, table a with struct b and field c, or column a with fields b and c.
 * The longest qualifier that fits wins; the nearest level wins.  A name that fits two columns is an error,
 * unless it was quoted and fits just one of them in its exact case. */
#include "sql/bind_int.h"

typedef struct Found { Visible *hit; size_t used; int count; } Found;

/* Do name parts [0, n) name relation `rel`? Its alias, or the tail of its full name. */
static bool rel_is(const Bind *b, const TableRef *rel, const StrVec *name, size_t n)
{
    if (rel->alias.n)
        return n == 1 && bind_name_eq(b, rel->alias, name->p[0]);
    if (n > rel->name.n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!bind_name_eq(b, rel->name.p[rel->name.n - n + i], name->p[i]))
            return false;
    return n > 0;
}

static bool is_quoted(const Bind *b, const Expr *e)
{
    char quote = b->spark ? '`' : '"';
    Str text = b->b->text;
    size_t at = (size_t)e->position;

    if (!text.n || e->position < 1 || at > text.n)
        return true;
    while (at <= text.n && (text.p[at - 1] == '_' || text.p[at - 1] == '.' || text.p[at - 1] == quote
                            || (unsigned char)text.p[at - 1] > ' ')) {
        if (text.p[at - 1] == quote)
            return true;
        if (strchr(",()+-*/<>=", text.p[at - 1]))
            return false;
        at++;
    }
    return false;
}

static bool names_match(const Bind *b, Str x, Str y)
{
    return b->b->case_sensitive ? str_eq(x, y) : str_ieq(x, y);
}

/* Columns named name[at] with qualifier name[0, at). */
static void look(const Bind *b, Visibles *v, const Expr *e, size_t at, Found *f)
{
    Visible *exact = NULL;
    int exacts = 0;

    *f = (Found){ .used = at + 1 };
    for (size_t i = 0; i < v->n; i++) {
        Visible *x = &v->p[i];
        if (!names_match(b, x->name, e->name.p[at]) || (at ? x->col < 0 || !rel_is(b, x->rel, &e->name, at) : x->hidden))
            continue;
        f->hit = x;
        f->count++;
        if (str_eq(x->name, e->name.p[at])) {
            exact = x;
            exacts++;
        }
    }
    if (f->count > 1 && exacts == 1 && is_quoted(b, e)) {
        f->hit = exact;
        f->count = 1;
    }
}

static Str suggestions(Bind *b, Level *l)
{
    StrBuf s = sb_new(b->a);
    int n = 0;

    for (size_t i = 0; l && i < l->visible.n && n < 5; i++)
        if (!l->visible.p[i].hidden)
            sb_fmt(&s, "%s`" STR_FMT "`", n++ ? ", " : "", STR_ARG(l->visible.p[i].name));
    return sb_str(&s);
}

static Str quoted_name(Bind *b, const Expr *e)
{
    StrBuf s = sb_new(b->a);
    for (size_t i = 0; i < e->name.n; i++)
        sb_fmt(&s, b->spark ? "%s`" STR_FMT "`" : "%s" STR_FMT, i ? "." : "", STR_ARG(e->name.p[i]));
    return sb_str(&s);
}

static Status fail_ambiguous(Bind *b, const Expr *e)
{
    Str name = quoted_name(b, e);
    if (b->spark)
        return BIND_FAIL(b, e->position, "42704", "[AMBIGUOUS_REFERENCE] Reference " STR_FMT " is ambiguous, could be more than one column.", STR_ARG(name));
    if (b->trino)
        return BIND_FAIL(b, e->position, "42702", "Column '" STR_FMT "' is ambiguous", STR_ARG(name));
    return BIND_FAIL(b, e->position, "42702", "column reference \"" STR_FMT "\" is ambiguous", STR_ARG(vec_last(&e->name)));
}

static Status fail_missing(Bind *b, Level *l, const Expr *e)
{
    Str name = quoted_name(b, e), near = suggestions(b, l);

    if (b->trino)
        return BIND_FAIL(b, e->position, "42703", "Column '" STR_FMT "' cannot be resolved or requester is not authorized to access requested resources", STR_ARG(name));
    if (!b->spark)
        return BIND_FAIL(b, e->position, "42703", e->name.n > 1 ? "column " STR_FMT " does not exist" : "column \"" STR_FMT "\" does not exist", STR_ARG(name));
    if (near.n)
        return BIND_FAIL(b, e->position, "42703", "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name " STR_FMT
                         " cannot be resolved. Did you mean one of the following? [" STR_FMT "].", STR_ARG(name), STR_ARG(near));
    return BIND_FAIL(b, e->position, "42703", "[UNRESOLVED_COLUMN.WITHOUT_SUGGESTION] A column, variable, or function parameter with name " STR_FMT
                     " cannot be resolved.", STR_ARG(name));
}

/* ---- struct fields -------------------------------------------------------------------------------------------- */

static Status field_of(Bind *b, Expr *base, Str field, int position, Expr **ret)
{
    Expr *e = bx_new(b->a, EX_FIELD, position);

    if (base->type.kind == DT_MAP) {
        Expr *i = bx_new(b->a, EX_INDEX, position);
        vec_push(b->a, &i->args, base);
        vec_push(b->a, &i->args, bx_str(b->a, field));
        i->type = base->type.children[1];
        i->nullable = 1;
        *ret = i;
        return OK;
    }
    for (size_t i = 0; base->type.kind == DT_STRUCT && i < base->type.nchildren; i++) {
        if (!names_match(b, base->type.names[i], field))
            continue;
        vec_push(b->a, &e->name, base->type.names[i]);
        vec_push(b->a, &e->args, base);
        e->type = base->type.children[i];
        e->nullable = 1;
        *ret = e;
        return OK;
    }
    if (b->spark)
        return BIND_FAIL(b, position, "42704", "[FIELD_NOT_FOUND] No such struct field `" STR_FMT "`.", STR_ARG(field));
    return BIND_FAIL(b, position, "42703", "column \"" STR_FMT "\" not found in data type " STR_FMT, STR_ARG(field),
                     STR_ARG(bind_type_name(b, &base->type)));
}

Status bind_field(Bind *b, Expr *base, Str field, int position, Expr **ret)
{
    return field_of(b, base, field, position, ret);
}

/* ---- columns --------------------------------------------------------------------------------------------------- */

static Expr *take(Bind *b, const Visible *v, int outer, const Expr *e)
{
    if (v->merged) {
        if (!outer || v->merged->kind != EX_COLUMN)
            return v->merged;
        Expr *m = bx_column(b->a, v->merged->rel, v->merged->col);
        m->outer = outer;
        return m;
    }
    Expr *c = bx_column(b->a, v->rel, v->col);
    c->outer = outer;
    c->position = e->position;
    return c;
}

/* Longest qualifier first, at one level. */
static Status at_level(Bind *b, Level *l, Expr *e, int outer, Expr **ret)
{
    Found f;

    *ret = NULL;
    for (size_t at = e->name.n; at-- > 0;) {
        look(b, &l->visible, e, at, &f);
        if (f.count > 1)
            return fail_ambiguous(b, e);
        if (!f.hit)
            continue;
        Expr *c = take(b, f.hit, outer, e);
        if (f.used < e->name.n && !c->type.nchildren)
            continue;                            /* a.b where column a has no fields: another a may be a relation further out */
        *ret = c;
        for (size_t i = f.used; i < e->name.n; i++)
            TRY(field_of(b, *ret, e->name.p[i], e->position, ret));
        return OK;
    }
    return OK;
}

/* The row of an outer join's side that found nothing is NULL: all its columns are. */
static Expr *row_or_null(Bind *b, Expr *row)
{
    StrBuf test = sb_new(b->a);
    Expr *e = bx_new(b->a, EX_CASE, row->position), *none = bx_new(b->a, EX_LITERAL, row->position);

    for (size_t i = 0; i < row->args.n; i++) {
        if (!row->args.p[i]->nullable)
            return row;
        sb_fmt(&test, "%s$%zu IS NULL", i ? " AND " : "(", i + 1);
    }
    sb_byte(&test, ')');
    Expr *empty = bx_call(b->a, "no_row", sb_str(&test).p, ty(DT_BOOL), NULL, NULL);
    empty->args = row->args;
    empty->nullable = 0;
    none->type = row->type;
    vec_push(b->a, &e->args, empty);
    vec_push(b->a, &e->args, none);
    e->else_ = row;
    e->type = row->type;
    e->nullable = 1;
    return e;
}

/* PostgreSQL: a relation's name alone is its row. */
static Status whole_row(Bind *b, Level *l, Expr *e, int outer, Expr **ret)
{
    Expr *row = bx_new(b->a, EX_STRUCT, e->position);
    const TableRef *rel = NULL;
    DataType t = { .kind = DT_STRUCT };

    for (size_t i = 0; i < l->visible.n; i++) {
        const Visible *v = &l->visible.p[i];
        if (v->col < 0 || !v->rel || !rel_is(b, v->rel, &e->name, e->name.n))
            continue;
        if (rel && v->rel != rel)
            return fail_ambiguous(b, e);
        rel = v->rel;
        vec_push(b->a, &row->args, take(b, v, outer, e));
        vec_push(b->a, &row->name, v->name);
    }
    if (!rel)
        return OK;
    t.nchildren = row->args.n;
    t.children = arena_array(b->a, DataType, t.nchildren);
    t.names = arena_array(b->a, Str, t.nchildren);
    for (size_t i = 0; i < t.nchildren; i++) {
        t.children[i] = row->args.p[i]->type;
        t.names[i] = row->name.p[i];
    }
    row->type = t;
    *ret = row_or_null(b, row);
    return OK;
}

/* The select item of that alias among the first n; NULL: none. */
static Expr *alias_of(Bind *b, Level *l, Str name, size_t n)
{
    for (size_t i = 0; l->select && i < n && i < l->select->items.n; i++)
        if (bind_name_eq(b, l->select->items.p[i].alias, name))
            return l->select->items.p[i].expr;
    return NULL;
}

static Expr *output_column(Bind *b, Level *l, const Expr *e)
{
    for (size_t i = 0; e->name.n == 1 && i < l->output->n; i++) {
        if (!bind_name_eq(b, l->output->p[i].name, e->name.p[0]))
            continue;
        Expr *c = bx_new(b->a, EX_COLUMN, e->position);
        c->col = (int)i;
        c->type = l->output->p[i].type;
        c->nullable = l->output->p[i].nullable;
        vec_push(b->a, &c->name, l->output->p[i].engine);
        return c;
    }
    return NULL;
}

/* Output names come first in ORDER BY, and in Spark's HAVING. */
static bool alias_first(const Bind *b, const Level *l)
{
    return l->clause == CL_ORDER || (b->spark && l->clause == CL_HAVING);
}

/* Aliases are the second try in GROUP BY (not in Trino), and in Spark in the select list (lateral column aliases) and HAVING. */
static bool alias_last(const Bind *b, const Level *l)
{
    return (l->clause == CL_GROUP && !b->trino) || (b->spark && (l->clause == CL_ITEM || l->clause == CL_HAVING));
}

Status bind_column(Bind *b, Level *l, Expr **pe)
{
    Expr *e = *pe, *hit = NULL;
    int outer = 0;

    if (l->output && (hit = output_column(b, l, e))) {
        *pe = hit;
        return OK;
    }
    if (alias_first(b, l) && e->name.n == 1 && !l->in_aggregate)
        hit = alias_of(b, l, e->name.p[0], l->nitems);
    for (Level *at = l; at && !hit; at = at->outer, outer++) {
        TRY(at_level(b, at, e, outer, &hit));
        if (!hit && at == l && alias_last(b, l) && e->name.n == 1)
            hit = alias_of(b, l, e->name.p[0], l->nitems);
    }
    outer = 0;
    for (Level *at = l; at && !hit && !b->spark && !b->trino && e->name.n == 1; at = at->outer, outer++)
        TRY(whole_row(b, at, e, outer, &hit));
    if (!hit)
        return fail_missing(b, l, e);
    *pe = hit;
    return OK;
}

/* ---- stars ------------------------------------------------------------------------------------------------------- */

static bool is_excepted(const Bind *b, const Expr *star, Str name)
{
    for (size_t i = 0; i < star->except.n; i++)
        if (bind_name_eq(b, star->except.p[i], name))
            return true;
    return false;
}

static Status star_of_struct(Bind *b, Level *l, const Expr *star, SelectItems *ret)
{
    Expr *base = bx_new(b->a, EX_COLUMN, star->position), *f;

    base->name = star->name;
    TRY(bind_column(b, l, &base));
    for (size_t i = 0; i < base->type.nchildren && base->type.kind == DT_STRUCT; i++) {
        if (is_excepted(b, star, base->type.names[i]))
            continue;
        TRY(field_of(b, base, base->type.names[i], star->position, &f));
        vec_push(b->a, ret, ((SelectItem){ f, base->type.names[i] }));
    }
    return OK;
}

Status bind_star(Bind *b, Level *l, const SelectItem *item, SelectItems *ret)
{
    const Expr *star = item->expr;
    size_t before = ret->n;

    for (size_t i = 0; i < l->visible.n; i++) {
        Visible *v = &l->visible.p[i];
        if (star->name.n ? v->col < 0 || !rel_is(b, v->rel, &star->name, star->name.n) : v->hidden)
            continue;
        if (is_excepted(b, star, v->name))
            continue;
        vec_push(b->a, ret, ((SelectItem){ take(b, v, 0, star), v->name }));
    }
    if (ret->n > before)
        return OK;
    if (star->name.n)
        return star_of_struct(b, l, star, ret);
    if (star->except.n)
        return OK;
    return BIND_FAIL(b, star->position, "42601", "%s", b->spark ? "[INVALID_USAGE_OF_STAR_OR_REGEX] Invalid usage of '*' in query without FROM."
                                                               : "SELECT * with no tables specified is not valid");
}
