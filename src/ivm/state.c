/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - the rows of a node before or after the change, as SQL.
 *
 * Each node is one SELECT over its inputs as derived tables; only used columns are written.  A restriction (rows whose
 * columns are in a table of keys) is pushed down as far as columns are plain, so that scans are filtered first, and
 * applied where it can go no further.  Pushing a part of the keys only is a pre-filter; the whole is then applied above. */
#include "ivm/ivm_int.h"

static Status sub(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Str sql = {0};
    TRY(state_sql(e, n, side, only, &sql, err));
    sb_addc(b, "(");
    sb_add(b, sql);
    sb_fmt(b, ") n%d", n->id);
    return OK;
}

/* ---- restrictions --------------------------------------------------------------------------------------- */

/* JOIN with the distinct keys: an inner join is never decorrelated the slow way, and filters the scan of its input. */
static void put_keys_join(StrBuf *b, const Restrict *only)
{
    sb_addc(b, " JOIN (SELECT DISTINCT ");
    for (size_t i = 0; i < only->n; i++)
        sb_fmt(b, "%sk." STR_FMT " AS r%zu", i ? ", " : "", STR_ARG(only->names[i]), i + 1);
    sb_fmt(b, " FROM " STR_FMT " k) r ON ", STR_ARG(only->table));
}

/* The key `strict` (SIZE_MAX: none) is compared by `=`, whatever the others are. */
static void put_restrict(StrBuf *b, const Node *n, const char *alias, const Restrict *only, size_t strict)
{
    put_keys_join(b, only);
    for (size_t i = 0; i < only->n; i++) {
        size_t col = only->cols[i];
        sb_addc(b, i ? " AND " : "");
        put_same(b, str_fmt(b->a, "%s.c%zu", alias, col + 1), str_fmt(b->a, "r.r%zu", i + 1), node_type(n, col),
                 i != strict && !only->strict && node_nullable(n, col));
    }
}

void put_restricted(StrBuf *b, const Node *n, const Restrict *only, Str rows, size_t strict)
{
    sb_addc(b, "SELECT ");
    put_columns(b, n, "x");
    sb_fmt(b, " FROM (" STR_FMT ") x", STR_ARG(rows));
    put_restrict(b, n, "x", only, strict);
}

typedef struct Pushed { Restrict only; int whole; } Pushed;

/* The part of a restriction on n that an input can check; `map` says which of its columns (SIZE_MAX: none). */
static Pushed push_by(Emit *e, const Restrict *only, const size_t *map)
{
    Pushed p = { { .table = only->table, .strict = only->strict }, 1 };
    size_t *cols = arena_array(e->a, size_t, only->n + 1);
    Str *names = arena_array(e->a, Str, only->n + 1);
    for (size_t i = 0; i < only->n; i++) {
        if (map[only->cols[i]] == SIZE_MAX) {
            p.whole = 0;
            continue;
        }
        cols[p.only.n] = map[only->cols[i]];
        names[p.only.n++] = only->names[i];
    }
    p.only.cols = cols;
    p.only.names = names;
    return p;
}

static Pushed push_through_exprs(Emit *e, const Node *n, const Restrict *only)
{
    size_t *map = arena_array(e->a, size_t, node_ncols(n) + 1);
    for (size_t i = 0; i < node_ncols(n); i++) {
        const Expr *x = n->exprs.p[i];
        map[i] = x->kind == EX_COLUMN && (n->kind != NODE_AGG || i < n->nkeys) ? (size_t)x->col : SIZE_MAX;
    }
    return push_by(e, only, map);
}

static Pushed push_to_input(Emit *e, const Node *n, size_t which, const Restrict *only)
{
    size_t *map = arena_array(e->a, size_t, node_ncols(n) + 1), base = 0;
    for (size_t i = 0; i < which; i++)
        base += node_ncols(n->in.p[i]);
    for (size_t i = 0; i < node_ncols(n); i++)
        map[i] = i >= base && i < base + node_ncols(n->in.p[which]) ? i - base : SIZE_MAX;
    return push_by(e, only, map);
}

static int restricted_col(const Restrict *only, const Expr *x, const Node *in, size_t *ret)
{
    for (size_t i = 0; x->kind == EX_COLUMN && node_of(x) == in && i < only->n; i++)
        if (only->cols[i] == (size_t)x->col) {
            *ret = i;
            return 1;
        }
    return 0;
}

/* What a restriction of one input says of another that n's conditions equate with it: rows without those keys find no
 * partner.  A pre-filter, never the whole. */
static Pushed push_equal(Emit *e, const Node *n, const Restrict *only, const Node *from, const Node *to)
{
    Pushed p = { { .table = only->table, .strict = 1 }, 0 };
    size_t *cols = arena_array(e->a, size_t, n->preds.n + 1), key = 0;
    Str *names = arena_array(e->a, Str, n->preds.n + 1);
    for vec_each(Expr *, pred, &n->preds) {
        const Expr *x = *pred;
        if (x->kind != EX_BINARY || x->op != OP_EQ)
            continue;
        for (size_t side = 0; side < 2; side++) {
            const Expr *other = x->args.p[1 - side];
            if (!restricted_col(only, x->args.p[side], from, &key) || other->kind != EX_COLUMN || node_of(other) != to)
                continue;
            cols[p.only.n] = (size_t)other->col;
            names[p.only.n++] = only->names[key];
            break;
        }
    }
    p.only.cols = cols;
    p.only.names = names;
    return p;
}

static const Restrict *if_any(const Pushed *p) { return p->only.n ? &p->only : NULL; }

/* ---- one function a node -------------------------------------------------------------------------------- */

static void put_scan(Emit *e, const Node *n, const char *suffix, StrBuf *b)
{
    const BoundTable *t = e->v->tables.p[n->source];
    int any = 0;
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sb_addc(b, any++ ? ", " : "");
        sql_ident(b, t->columns.p[i].engine);
        sb_fmt(b, " AS c%zu", i + 1);
    }
    if (!any)
        sb_addc(b, "1 AS c0");
    sb_fmt(b, " FROM s%zu_%s", n->source, suffix);
    if (e->gate.n)
        sb_fmt(b, ", (SELECT 1 FROM " STR_FMT " LIMIT 1) gate", STR_ARG(e->gate));
}

void restrict_above(Emit *e, const Node *n, const Restrict *only, StrBuf *b)
{
    StrBuf c = sb_new(e->a);
    put_restricted(&c, n, only, sb_str(b), SIZE_MAX);
    *b = c;
}

/* ---- restricted scans of both sides, read once ------------------------------------------------------------ */

static int is_flat(const Node *n)
{
    for (size_t i = 0; i < node_ncols(n); i++)
        if (n->used[i] && node_type(n, i)->nchildren)
            return 0;
    return 1;
}

/* Restricted rows of the change that came (or went), as often as they did. */
static void put_changed(Emit *e, const Node *n, const Restrict *only, int came, StrBuf *b)
{
    StrBuf c = sb_new(e->a);
    put_scan(e, n, "chg", &c);
    sb_fmt(&c, ", unnest(range(%s__w)) AS u WHERE __w %s 0", came ? "" : "-", came ? ">" : "<");
    restrict_above(e, n, only, &c);
    sb_add(b, sb_str(&c));
}

/* Old and new rows of the keys differ by the change alone: one scan becomes a step, the other side follows from it.
 * Without deletes that is the old one (new = old + what came), else the new one (old = new - what came + what went).
 * The side that is asked for first makes the step: it is the old one where both are wanted. */
static Status shared_scan(Emit *e, const Node *n, Side side, const Restrict *only, int *done, StrBuf *b, Error *err)
{
    int changed = emit_changed(e, n), deletes = emit_deletes(e, n);
    StrBuf base = sb_new(e->a);
    size_t at = 0;
    put_scan(e, n, changed && !deletes ? "old" : "new", &base);
    restrict_scan(e, n, only, &base);
    Str sql = sb_str(&base);
    while (at < e->shared.n && !str_eq(e->shared.p[at], sql))
        at++;
    if (at == e->shared.n && side == SIDE_NEW)
        return OK;                              /* nobody needs the other side */
    *done = 1;
    Str name = str_fmt(e->a, "ivm_r%zu", at);
    if (at == e->shared.n) {
        vec_push(e->a, &e->shared, sql);
        TRY(emit_step(e, name, sql, err));
    }
    int except = changed && deletes && side == SIDE_OLD, plus = except || (changed && !deletes && side == SIDE_NEW);
    sb_addc(b, except ? "(SELECT " : "SELECT ");
    put_names(b, n);
    sb_fmt(b, " FROM " STR_FMT, STR_ARG(name));
    if (except) {
        sb_addc(b, " EXCEPT ALL ");
        put_changed(e, n, only, 1, b);
        sb_addc(b, ")");
    }
    if (plus) {
        sb_addc(b, " UNION ALL ");
        put_changed(e, n, only, !except, b);
    }
    return OK;
}

static Status state_scan(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    int done = 0;
    if (only && e->plan && is_flat(n))
        TRY(shared_scan(e, n, side, only, &done, b, err));
    if (done)
        return OK;
    put_scan(e, n, side == SIDE_OLD && emit_changed(e, n) ? "old" : "new", b);
    if (only)
        restrict_scan(e, n, only, b);
    return OK;
}

static Status state_values(const Node *n, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    put_columns(b, n, "x");
    sb_addc(b, " FROM (VALUES ");
    for (size_t i = 0; i < n->nrows; i++) {
        sb_addc(b, i ? ", (" : "(");
        for (size_t j = 0; j < n->rows[i].n; j++) {
            sb_addc(b, j ? ", " : "");
            TRY(put_expr(b, n->rows[i].p[j], err));
        }
        sb_addc(b, ")");
    }
    sb_addc(b, ") x(");
    for (size_t i = 0; i < node_ncols(n); i++)
        sb_fmt(b, "%sc%zu", i ? ", " : "", i + 1);
    sb_addc(b, ")");
    return OK;
}

static Status state_filter(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, n->in.p[0]->ref.engine));
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only, b, err));
    sb_addc(b, " WHERE ");
    return put_conjuncts(b, &n->preds, err);
}

static Status put_exprs(StrBuf *b, const Node *n, Error *err)
{
    int any = 0;
    for (size_t i = 0; i < n->exprs.n; i++) {
        if (!n->used[i])
            continue;
        sb_addc(b, any++ ? ", " : "");
        TRY(put_expr(b, n->exprs.p[i], err));
        sb_fmt(b, " AS c%zu", i + 1);
    }
    if (!any)                                  /* without keys it is the aggregate that makes one row of many */
        sb_addc(b, n->kind == NODE_AGG ? "count(*) AS c0" : "1 AS c0");
    return OK;
}

static Status state_project(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Pushed p = {0};
    if (only)
        p = push_through_exprs(e, n, only);
    sb_addc(b, "SELECT ");
    TRY(put_exprs(b, n, err));
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only ? if_any(&p) : NULL, b, err));
    if (only && !p.whole)
        restrict_above(e, n, only, b);
    return OK;
}

/* The inputs' columns under the join's own names. */
void put_join_columns(StrBuf *b, const Node *n)
{
    size_t base = 0;
    int any = 0;
    for vec_each(Node *, in, &n->in) {
        for (size_t i = 0; i < node_ncols(*in); i++)
            if (n->used[base + i]) {
                sb_addc(b, any++ ? ", " : "");
                sb_fmt(b, "n%d.c%zu AS c%zu", (*in)->id, i + 1, base + i + 1);
            }
        base += node_ncols(*in);
    }
    if (!any)
        sb_addc(b, "1 AS c0");
}

/* The restriction of input i of an inner join: its own columns' part, or what an equation with another input gives. */
static Pushed push_to_join(Emit *e, const Node *n, size_t i, const Restrict *only)
{
    Pushed p = push_to_input(e, n, i, only);
    for (size_t k = 0; k < n->in.n && !p.only.n; k++) {
        Pushed from = push_to_input(e, n, k, only);
        p = push_equal(e, n, &from.only, n->in.p[k], n->in.p[i]);
    }
    return p;
}

static Status state_join(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    int whole = 0;
    sb_addc(b, "SELECT ");
    put_join_columns(b, n);
    sb_addc(b, " FROM ");
    for (size_t i = 0; i < n->in.n; i++) {
        Pushed p = {0};
        if (only)
            p = push_to_join(e, n, i, only);
        whole |= only && p.whole;
        sb_addc(b, i ? ", " : "");
        TRY(sub(e, n->in.p[i], side, only ? if_any(&p) : NULL, b, err));
    }
    sb_addc(b, " WHERE ");
    TRY(put_conjuncts(b, &n->preds, err));
    if (only && !whole)
        restrict_above(e, n, only, b);
    return OK;
}

static Status state_outer(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Pushed p = {0}, other = {0};
    if (only && !n->full) {                   /* rows of the left side are kept or lost by their own columns only */
        p = push_to_input(e, n, 0, only);
        other = push_equal(e, n, &p.only, n->in.p[0], n->in.p[1]);
    }
    sb_addc(b, "SELECT ");
    put_join_columns(b, n);
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only ? if_any(&p) : NULL, b, err));
    sb_addc(b, n->full ? " FULL JOIN " : " LEFT JOIN ");
    TRY(sub(e, n->in.p[1], side, if_any(&other), b, err));
    sb_addc(b, " ON ");
    TRY(put_conjuncts(b, &n->preds, err));
    if (only && !(p.only.n && p.whole))
        restrict_above(e, n, only, b);
    return OK;
}

/* ---- matches ------------------------------------------------------------------------------------------------ */

typedef struct SeenSides { const Node *kept, *other; int kept_seen, other_seen; } SeenSides;

static void see_side(void *ctx, const Expr *col)
{
    SeenSides *s = ctx;
    s->kept_seen |= node_of(col) == s->kept;
    s->other_seen |= node_of(col) == s->other;
}

static SeenSides sides_of(const Expr *x, const Node *kept, const Node *other)
{
    SeenSides s = { kept, other, 0, 0 };
    expr_visit_columns(x, see_side, &s);
    return s;
}

/* Conditions by the sides that they name. */
void split_match(Arena *a, const Node *n, const Node *kept, const Node *other, MatchParts *ret)
{
    *ret = (MatchParts){0};
    for vec_each(Expr *, p, &n->preds) {
        SeenSides s = sides_of(*p, kept, other);
        vec_push(a, s.kept_seen && s.other_seen ? &ret->both : s.kept_seen ? &ret->kept : &ret->other, *p);
    }
}

/* l = r, with l of the one side and r of the other. */
static int ties(const Expr *p, const Node *kept, const Node *other)
{
    if (p->kind != EX_BINARY || p->op != OP_EQ)
        return 0;
    SeenSides l = sides_of(p->args.p[0], kept, other), r = sides_of(p->args.p[1], kept, other);
    return (l.kept_seen && !l.other_seen && r.other_seen && !r.kept_seen) || (l.other_seen && !l.kept_seen && r.kept_seen && !r.other_seen);
}

/* Equations tie the sides together, and more is asked of one of them: in a correlated subquery that makes the engine collect the different
 * rows of `kept` first, however many there are. */
static int wants_join(const MatchParts *parts, const Node *kept, const Node *other, int anti)
{
    if (!parts->both.n || (anti ? parts->kept.n : 0) || !(parts->kept.n || parts->other.n))
        return 0;
    for vec_each(Expr *, p, &parts->both)
        if (!ties(*p, kept, other))
            return 0;
    return 1;
}

static Status put_match_join(StrBuf *b, const MatchParts *parts, const Node *other, int anti, Str from, Error *err)
{
    sb_fmt(b, " %s JOIN (SELECT * FROM " STR_FMT " n%d WHERE ", anti ? "ANTI" : "SEMI", STR_ARG(from), other->id);
    TRY(put_conjuncts(b, &parts->other, err));
    sb_fmt(b, ") n%d ON ", other->id);
    TRY(put_conjuncts(b, &parts->both, err));
    if (!parts->kept.n)
        return OK;
    sb_addc(b, " WHERE ");
    return put_conjuncts(b, &parts->kept, err);
}

/* Without a condition on both sides the subquery does not depend on the row: one look decides. */
Status put_match(StrBuf *b, const Node *n, const Node *kept, const Node *other, const char *word, Str from, Error *err)
{
    MatchParts parts;
    split_match(b->a, n, kept, other, &parts);
    int alone = !parts.both.n && parts.kept.n, anti = word[0] == 'N';
    if (wants_join(&parts, kept, other, anti))
        return put_match_join(b, &parts, other, anti, from, err);
    sb_addc(b, " WHERE ");
    if (alone) {
        sb_addc(b, anti ? "NOT ((" : "((");
        TRY(put_conjuncts(b, &parts.kept, err));
        sb_addc(b, ") IS TRUE AND ");
    }
    sb_fmt(b, "%s (SELECT 1 FROM " STR_FMT " n%d WHERE ", alone ? "EXISTS" : word, STR_ARG(from), other->id);
    TRY(put_conjuncts(b, alone ? &parts.other : &n->preds, err));
    sb_addc(b, alone ? "))" : ")");
    return OK;
}

static Status state_semi(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Str other = {0};
    Pushed p = {0};
    if (only)
        p = push_equal(e, n, only, n->in.p[0], n->in.p[1]);
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, n->in.p[0]->ref.engine));
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only, b, err));
    TRY(state_sql(e, n->in.p[1], side, if_any(&p), &other, err));
    other = str_fmt(e->a, "(" STR_FMT ")", STR_ARG(other));
    return put_match(b, n, n->in.p[0], n->in.p[1], n->anti ? "NOT EXISTS" : "EXISTS", other, err);
}

/* An aggregate's SELECT; `extra` (", x AS y") is more output for hidden columns. */
Status agg_select_sql(Emit *e, const Node *n, Side side, const Restrict *only, Str extra, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    Pushed p = {0};
    Str keyed = {0};
    if (only)
        p = push_through_exprs(e, n, only);
    sb_addc(&b, "SELECT ");
    TRY(put_exprs(&b, n, err));
    sb_add(&b, extra);
    sb_addc(&b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only ? if_any(&p) : NULL, &b, err));
    if (only && !p.whole) {
        StrBuf k = sb_new(e->a);
        put_keys_join(&k, only);
        for (size_t i = 0; i < only->n; i++) {
            Str key = {0};
            TRY(expr_text(e->a, n->exprs.p[only->cols[i]], &key, err));
            sb_addc(&k, i ? " AND " : "");
            put_same(&k, str_fmt(e->a, "(" STR_FMT ")", STR_ARG(key)), str_fmt(e->a, "r.r%zu", i + 1), node_type(n, only->cols[i]), 1);
        }
        keyed = sb_str(&k);
    }
    sb_add(&b, keyed);
    for (size_t i = 0; i < n->nkeys; i++)
        sb_fmt(&b, "%s%zu", i ? ", " : " GROUP BY ", i + 1);
    *ret = sb_str(&b);
    return OK;
}

static Status state_agg(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Str sql = {0};
    int on_keys = 1;
    for (size_t i = 0; only && i < only->n; i++)
        on_keys &= only->cols[i] < n->nkeys;
    TRY(agg_select_sql(e, n, side, on_keys ? only : NULL, (Str){0}, &sql, err));
    sb_add(b, sql);
    if (only && !on_keys)
        restrict_above(e, n, only, b);
    return OK;
}

static Status state_distinct(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT DISTINCT ");
    put_columns(b, n, str_z(e->a, n->in.p[0]->ref.engine));
    sb_addc(b, " FROM ");
    return sub(e, n->in.p[0], side, only, b, err);
}

static const char *setop_word(const Node *n)
{
    if (n->kind == NODE_UNION)
        return "UNION ALL";
    if (n->setop == SETOP_INTERSECT)
        return n->all ? "INTERSECT ALL" : "INTERSECT";
    return n->all ? "EXCEPT ALL" : "EXCEPT";
}

static Status state_setop(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    for (size_t i = 0; i < 2; i++) {
        if (i)
            sb_fmt(b, " %s ", setop_word(n));
        sb_addc(b, "SELECT ");
        put_columns(b, n, str_z(e->a, n->in.p[i]->ref.engine));
        sb_addc(b, " FROM ");
        TRY(sub(e, n->in.p[i], side, only, b, err));
    }
    return OK;
}

/* ---- functions that give rows, conditions on time ------------------------------------------------------------ */

/* ", LATERAL (…) f3" behind in[0]'s rows. */
Status put_flat(StrBuf *b, const Node *n, Error *err)
{
    size_t base = node_ncols(n->in.p[0]);
    Printer p = { NULL, NULL };
    Str text = {0};
    sb_addc(b, n->outer ? " LEFT JOIN LATERAL " : ", LATERAL ");
    if (n->func) {
        TRY(sql_print_table(b->a, &p, n->func, &text, err));
        sb_add(b, text);
    } else {
        for (size_t i = 0; i < n->exprs.n; i++) {
            sb_addc(b, i ? ", " : "(SELECT ");
            TRY(put_expr(b, n->exprs.p[i], err));
            sb_fmt(b, " AS c%zu", base + i + 1);
        }
        sb_fmt(b, ") AS f%d", n->id);
    }
    sb_addc(b, n->outer ? " ON TRUE" : "");
    return OK;
}

void put_flat_columns(StrBuf *b, const Node *n)
{
    const Node *in = n->in.p[0];
    int any = 0;
    for (size_t i = 0; i < node_ncols(n); i++) {
        if (!n->used[i])
            continue;
        sb_fmt(b, "%s%c%d.c%zu AS c%zu", any++ ? ", " : "", i < node_ncols(in) ? 'n' : 'f', i < node_ncols(in) ? in->id : n->id, i + 1, i + 1);
    }
    if (!any)
        sb_addc(b, "1 AS c0");
}

static Status state_flat(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    Pushed p = {0};
    if (only)
        p = push_to_input(e, n, 0, only);
    sb_addc(b, "SELECT ");
    put_flat_columns(b, n);
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only ? if_any(&p) : NULL, b, err));
    TRY(put_flat(b, n, err));
    if (only && !p.whole)
        restrict_above(e, n, only, b);
    return OK;
}

static Status state_temporal(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    put_columns(b, n, str_z(e->a, n->in.p[0]->ref.engine));
    sb_addc(b, " FROM ");
    TRY(sub(e, n->in.p[0], side, only, b, err));
    sb_addc(b, " WHERE ");
    return put_now_conjuncts(e, b, &n->preds, side == SIDE_OLD && emit_time_moved(e) ? SIDE_OLD : SIDE_NEW, err);
}

static Status state_node(Emit *e, const Node *n, Side side, const Restrict *only, StrBuf *b, Error *err)
{
    switch (n->kind) {
    case NODE_ONE:      sb_addc(b, "SELECT 1 AS c0"); return OK;
    case NODE_VALUES:   TRY(state_values(n, b, err)); break;
    case NODE_SCAN:     return state_scan(e, n, side, only, b, err);
    case NODE_FILTER:   return state_filter(e, n, side, only, b, err);
    case NODE_PROJECT:  return state_project(e, n, side, only, b, err);
    case NODE_JOIN:     return state_join(e, n, side, only, b, err);
    case NODE_OUTER:    return state_outer(e, n, side, only, b, err);
    case NODE_SEMI:     return state_semi(e, n, side, only, b, err);
    case NODE_AGG:      return state_agg(e, n, side, only, b, err);
    case NODE_DISTINCT: return state_distinct(e, n, side, only, b, err);
    case NODE_UNION:
    case NODE_SETOP:    return state_setop(e, n, side, only, b, err);
    case NODE_WINDOW:   return state_window(e, n, side, only, b, err);
    case NODE_FLAT:     return state_flat(e, n, side, only, b, err);
    case NODE_TEMPORAL: return state_temporal(e, n, side, only, b, err);
    }
    if (only)
        restrict_above(e, n, only, b);
    return OK;
}

Status state_sql(Emit *e, const Node *n, Side side, const Restrict *only, Str *ret, Error *err)
{
    StrBuf b = sb_new(e->a);
    TRY(state_node(e, n, side, only && only->n ? only : NULL, &b, err));
    if (b.n > IVM_MAX_TEXT)
        return FAIL(err, E_LIMIT, "a statement of the plan is more than %d bytes", IVM_MAX_TEXT);
    *ret = sb_str(&b);
    return OK;
}
