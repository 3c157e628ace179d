/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - aggregates kept by hidden state: stored state + change = new state, for the groups that the change touches.
 *
 * State is a list of slots.  Slot 0 is the number of rows of the group, always; it alone says whether a group exists
 * (never a sum of zero, spec/ivm.md 2.12).  A slot lives in a visible column when one shows just its value, else in a
 * hidden one.  Sums are kept as DECIMAL(38,s) and added in HUGEINT or DECIMAL(38,s), so nothing overflows on the way
 * that the query itself would not; the visible value is cast to the query's type by the same cast.
 * Steps: ivm_g the change by group, ivm_m stored and changed merged, ivm_x the extremes read again for the groups that
 * lost the stored one.  Invariants checked: no negative count, no count above the rows, no group stored twice. */
#include "ivm/ivm_int.h"

static const Expr *slot_agg(const IvmView *v, const Slot *s) { return v->agg->exprs.p[s->agg]; }
static const Expr *slot_arg(const IvmView *v, const Slot *s) { return slot_agg(v, s)->args.p[0]; }

/* ---- compiling: which slots, and where they live ------------------------------------------------------------- */

static DataType bigint(void) { return (DataType){ .kind = DT_INT64 }; }

static DataType sum_type(const Expr *arg)
{
    return (DataType){ .kind = DT_DECIMAL, .precision = 38, .scale = arg->type.kind == DT_DECIMAL ? arg->type.scale : 0 };
}

static void add_slot(Compiler *c, SlotKind kind, size_t agg, size_t visible, Str prefix, DataType type)
{
    IvmView *v = c->v;
    size_t shown = visible_column(v, v->agg, agg);
    Slot s = { kind, agg, {0}, 0, type };
    if (visible != SIZE_MAX) {
        s.store = v->visible.p[visible].engine;
        s.type = v->visible.p[visible].type;
    } else {
        Str name = shown == SIZE_MAX ? str_fmt(c->a, "%zu", agg + 1) : v->visible.p[shown].engine;
        s.hidden = 1;
        s.store = add_hidden(c, str_cat(c->a, prefix, name), type, kind == SLOT_MIN || kind == SLOT_MAX ? MAY_BE_NULL : NOT_NULL);
    }
    vec_push(c->a, &v->slots, s);
}

static void slots_of_agg(Compiler *c, size_t agg)
{
    const Expr *x = c->v->agg->exprs.p[agg];
    size_t at = visible_column(c->v, c->v->agg, agg);
    switch (agg_kind(x)) {
    case AGG_COUNT_STAR:
        if (!x->func->filter)
            break;
        /* fall through */
    case AGG_COUNT:
        add_slot(c, SLOT_COUNT, agg, at, S("__ivm_s_"), bigint());
        break;
    case AGG_SUM:
        add_slot(c, SLOT_SUM, agg, at, S("__ivm_sum_"), sum_type(x->args.p[0]));
        add_slot(c, SLOT_COUNT, agg, SIZE_MAX, S("__ivm_s_"), bigint());
        break;
    case AGG_AVG:
        add_slot(c, SLOT_SUM, agg, SIZE_MAX, S("__ivm_sum_"), sum_type(x->args.p[0]));
        add_slot(c, SLOT_COUNT, agg, SIZE_MAX, S("__ivm_s_"), bigint());
        break;
    case AGG_MIN:
        add_slot(c, SLOT_MIN, agg, at, S("__ivm_m_"), x->type);
        break;
    case AGG_MAX:
        add_slot(c, SLOT_MAX, agg, at, S("__ivm_m_"), x->type);
        break;
    case AGG_BOOL_AND:
    case AGG_BOOL_OR:
        add_slot(c, SLOT_TRUE, agg, SIZE_MAX, S("__ivm_t_"), bigint());
        add_slot(c, SLOT_FALSE, agg, SIZE_MAX, S("__ivm_f_"), bigint());
        break;
    case AGG_OTHER:
        break;
    }
}

Status merge_compile(Compiler *c, Error *err UNUSED)
{
    IvmView *v = c->v;
    Slot rows = { SLOT_ROWS, 0, {0}, 1, bigint() };
    store_keys(c, v->agg);
    vec_push(c->a, &v->slots, rows);
    for (size_t i = v->agg->nkeys; i < v->agg->exprs.n; i++)
        if (v->agg->used[i])
            slots_of_agg(c, i);
    v->slots.p[0].store = add_hidden(c, S("__ivm_num_rec"), bigint(), NOT_NULL);
    return OK;
}

/* ---- slots as SQL ---------------------------------------------------------------------------------------------- */

static int is_extreme(const Slot *s) { return s->kind == SLOT_MIN || s->kind == SLOT_MAX; }

static int is_exact(const DataType *t)
{
    return t->kind == DT_INT8 || t->kind == DT_INT16 || t->kind == DT_INT32 || t->kind == DT_INT64 || t->kind == DT_DECIMAL;
}

/* Sums, differences and products of exact numbers are NULL just where one of their columns is. */
static int is_strict(const Expr *x)
{
    if (x->kind == EX_COLUMN)
        return 1;
    if (x->kind == EX_LITERAL)
        return x->value.kind != DT_NULL;
    if (x->kind == EX_CAST)
        return !x->try_cast && is_exact(&x->type) && is_exact(&x->args.p[0]->type) && is_strict(x->args.p[0]);
    return x->kind == EX_BINARY && (x->op == OP_ADD || x->op == OP_SUB || x->op == OP_MUL) && is_exact(&x->type) &&
           is_strict(x->args.p[0]) && is_strict(x->args.p[1]);
}

typedef struct NotNull { StrBuf *b; int n; } NotNull;

static void put_column_not_null(void *ctx, const Expr *col)
{
    NotNull *o = ctx;
    Error ignored;
    Str text;
    if (expr_text(o->b->a, col, &text, &ignored) == OK)
        sb_fmt(o->b, "%s" STR_FMT " IS NOT NULL", o->n++ ? " AND " : "", STR_ARG(text));
}

/* "x IS NOT NULL" for the argument of a sum, said of its columns where that is the same: they are there already, x costs. */
static Status put_not_null(StrBuf *b, const Expr *x, Error *err)
{
    NotNull columns = { b, 0 };
    if (is_strict(x) && expr_visit_columns(x, put_column_not_null, &columns) && columns.n)
        return OK;
    sb_addc(b, "(");
    TRY(put_expr(b, x, err));
    sb_addc(b, ") IS NOT NULL");
    return OK;
}

static int counts_sum(const IvmView *v, const Slot *s)
{
    AggKind k = s->kind == SLOT_COUNT ? agg_kind(slot_agg(v, s)) : AGG_OTHER;
    return k == AGG_SUM || k == AGG_AVG;
}

/* Which input rows a slot counts: " FILTER (WHERE …)" or nothing. `more` may add a condition on the weight. */
static Status put_slot_filter(StrBuf *b, const IvmView *v, const Slot *s, const char *more, Error *err)
{
    const Expr *filter = s->kind == SLOT_ROWS ? NULL : slot_agg(v, s)->func->filter;
    const char *and_ = "";
    int tests_arg = s->kind == SLOT_TRUE || s->kind == SLOT_FALSE || (s->kind == SLOT_COUNT && slot_agg(v, s)->args.n);
    if (!filter && !tests_arg && !more[0])
        return OK;
    sb_addc(b, " FILTER (WHERE ");
    if (filter) {
        sb_addc(b, "(");
        TRY(put_expr(b, filter, err));
        sb_addc(b, ")");
        and_ = " AND ";
    }
    if (tests_arg && counts_sum(v, s)) {
        sb_addc(b, and_);
        TRY(put_not_null(b, slot_arg(v, s), err));
        and_ = " AND ";
    } else if (tests_arg) {
        sb_fmt(b, "%s%s(", and_, s->kind == SLOT_FALSE ? "NOT " : "");
        TRY(put_expr(b, slot_arg(v, s), err));
        sb_addc(b, s->kind == SLOT_COUNT ? ") IS NOT NULL" : ")");
        and_ = " AND ";
    }
    if (more[0])
        sb_fmt(b, "%s%s", and_, more);
    sb_addc(b, ")");
    return OK;
}

static int is_decimal_sum(const IvmView *v, const Slot *s) { return slot_arg(v, s)->type.kind == DT_DECIMAL; }

/* The type that sums are added in. */
static Str add_type(Arena *a, const IvmView *v, const Slot *s)
{
    return is_decimal_sum(v, s) ? str_fmt(a, "DECIMAL(38,%d)", slot_arg(v, s)->type.scale) : S("HUGEINT");
}

/* count(x) for a plain column: the engine knows it as the one that AVG divides by, and filters nothing. */
static int counts_column(const IvmView *v, const Slot *s)
{
    return counts_sum(v, s) && !slot_agg(v, s)->func->filter && slot_arg(v, s)->kind == EX_COLUMN;
}

/* A slot over all rows of the input. */
static Status put_slot_full(StrBuf *b, const IvmView *v, const Slot *s, Error *err)
{
    if (s->kind == SLOT_SUM) {
        sb_addc(b, "coalesce(sum(");
        TRY(put_expr(b, slot_arg(v, s), err));
        sb_addc(b, ")");
        TRY(put_slot_filter(b, v, s, "", err));
        sb_addc(b, ", 0)");
        return OK;
    }
    if (counts_column(v, s)) {
        sb_addc(b, "count(");
        TRY(put_expr(b, slot_arg(v, s), err));
        sb_addc(b, ")");
        return OK;
    }
    if (is_extreme(s)) {
        sb_addc(b, s->kind == SLOT_MIN ? "min(" : "max(");
        TRY(put_expr(b, slot_arg(v, s), err));
        sb_addc(b, ")");
    } else {
        sb_addc(b, "count(*)");
    }
    return put_slot_filter(b, v, s, "", err);
}

/* A slot's change over the input's delta, whose weight is n<id>.w. */
static Status put_slot_delta(StrBuf *b, const IvmView *v, const Slot *s, Error *err)
{
    int in = v->agg->in.p[0]->id;
    if (s->kind == SLOT_SUM) {
        Str type = add_type(b->a, v, s);
        sb_fmt(b, "coalesce(sum(CAST(n%d.w AS %s) * CAST(", in, is_decimal_sum(v, s) ? "DECIMAL(18,0)" : "HUGEINT");
        TRY(put_expr(b, slot_arg(v, s), err));
        sb_fmt(b, " AS " STR_FMT "))", STR_ARG(type));
    } else {
        sb_fmt(b, "coalesce(sum(n%d.w)", in);
    }
    TRY(put_slot_filter(b, v, s, "", err));
    sb_addc(b, ", 0)");
    return OK;
}

/* The extreme of the rows that came (w > 0) or went. */
static Status put_extreme(StrBuf *b, const IvmView *v, const Slot *s, const char *sign, Error *err)
{
    sb_addc(b, s->kind == SLOT_MIN ? "min(" : "max(");
    TRY(put_expr(b, slot_arg(v, s), err));
    sb_addc(b, ")");
    return put_slot_filter(b, v, s, str_z(b->a, str_fmt(b->a, "n%d.w %s 0", v->agg->in.p[0]->id, sign)), err);
}

/* ---- values from slots ----------------------------------------------------------------------------------------- */

static size_t slot_index(const IvmView *v, size_t agg, SlotKind kind)
{
    for (size_t i = 1; i < v->slots.n; i++)
        if (v->slots.p[i].agg == agg && v->slots.p[i].kind == kind)
            return i;
    return 0;
}

/* As the printer of sql/ writes SUM and AVG: the same functions over the merged sum instead of sum(). */
static void put_sum_value(StrBuf *b, const IvmView *v, const Slot *s, size_t at)
{
    const DataType *t = &slot_agg(v, s)->type;
    if (t->kind == DT_INT64 && !is_decimal_sum(v, s))
        sb_fmt(b, "firn_long(m.x%zu)", at);
    else if (t->kind == DT_DECIMAL && t->precision == 38)
        sb_fmt(b, "firn_round_s%d(m.x%zu)", t->scale, at);
    else
        sb_fmt(b, "CAST(m.x%zu AS " STR_FMT ")", at, STR_ARG(data_type_sql(b->a, t)));
}

static void put_avg_value(StrBuf *b, const DataType *t, size_t sum, size_t count)
{
    Str type = data_type_sql(b->a, t);
    if (t->kind == DT_DECIMAL)
        sb_fmt(b, "CAST(firn_div_s%d(m.x%zu, CAST(m.x%zu AS BIGINT)) AS " STR_FMT ")", t->scale, sum, count, STR_ARG(type));
    else
        sb_fmt(b, "CAST(CAST(m.x%zu AS DOUBLE) / m.x%zu AS " STR_FMT ")", sum, count, STR_ARG(type));
}

/* The aggregate's value from the slots x0, x1 … of alias m; the casts are those of the query's own types. */
static void put_value(StrBuf *b, const IvmView *v, size_t agg)
{
    const Expr *x = v->agg->exprs.p[agg];
    size_t sum = slot_index(v, agg, SLOT_SUM), count = slot_index(v, agg, SLOT_COUNT);
    size_t t = slot_index(v, agg, SLOT_TRUE), f = slot_index(v, agg, SLOT_FALSE);
    Str type = data_type_sql(b->a, &x->type);
    switch (agg_kind(x)) {
    case AGG_COUNT_STAR:
    case AGG_COUNT:
        sb_fmt(b, "CAST(m.x%zu AS " STR_FMT ")", count, STR_ARG(type));
        break;
    case AGG_SUM:
    case AGG_AVG:
        sb_fmt(b, "CASE WHEN m.x%zu > 0 THEN ", count);
        if (agg_kind(x) == AGG_SUM)
            put_sum_value(b, v, &v->slots.p[sum], sum);
        else
            put_avg_value(b, &x->type, sum, count);
        sb_addc(b, " END");
        break;
    case AGG_MIN:
    case AGG_MAX:
        sb_fmt(b, "CAST(m.x%zu AS " STR_FMT ")", slot_index(v, agg, agg_kind(x) == AGG_MIN ? SLOT_MIN : SLOT_MAX), STR_ARG(type));
        break;
    case AGG_BOOL_AND:
        sb_fmt(b, "CASE WHEN m.x%zu + m.x%zu > 0 THEN m.x%zu = 0 END", t, f, f);
        break;
    case AGG_BOOL_OR:
        sb_fmt(b, "CASE WHEN m.x%zu + m.x%zu > 0 THEN m.x%zu > 0 END", t, f, t);
        break;
    case AGG_OTHER:
        break;
    }
}

/* ", n3.k AS __ivm_k1, CAST(n3.x0 AS BIGINT) AS __ivm_num_rec …" in the order of v->hidden */
static Str hidden_columns(Arena *a, const IvmView *v)
{
    StrBuf b = sb_new(a);
    int in = v->agg->id;
    sb_add(&b, hidden_keys(a, v));
    for (size_t k = 1; k <= v->slots.n; k++) {
        size_t i = k % v->slots.n;                                      /* slot 0 is stored last */
        const Slot *s = &v->slots.p[i];
        if (!s->hidden)
            continue;
        sb_fmt(&b, ", CAST(n%d.x%zu AS " STR_FMT ") AS ", in, i, STR_ARG(data_type_sql(a, &s->type)));
        sql_ident(&b, s->store);
    }
    return sb_str(&b);
}

Status merge_full_sql(Emit *e, Str *ret, Error *err)
{
    const IvmView *v = e->v;
    StrBuf extra = sb_new(e->a);
    Str groups = {0};
    for (size_t i = 0; i < v->slots.n; i++) {
        if (!v->slots.p[i].hidden)
            continue;
        sb_addc(&extra, ", ");
        TRY(put_slot_full(&extra, v, &v->slots.p[i], err));
        sb_fmt(&extra, " AS x%zu", i);
    }
    TRY(agg_select_sql(e, v->agg, SIDE_NEW, NULL, sb_str(&extra), &groups, err));
    return root_select_sql(e, str_fmt(e->a, "(" STR_FMT ")", STR_ARG(groups)), hidden_columns(e->a, v), ret, err);
}

/* ---- the steps -------------------------------------------------------------------------------------------------- */

static int has_extremes(const IvmView *v)
{
    for vec_each(const Slot, s, &v->slots)
        if (is_extreme(s))
            return 1;
    return 0;
}

/* Extremes must not see rows that cancel each other, so their input is consolidated. */
static Status input_delta(Emit *e, Str *ret, Error *err)
{
    const Node *in = e->v->agg->in.p[0];
    if (has_extremes(e->v) && !emit_unit(e, in))
        return delta_table(e, in, ret, err);
    TRY(delta_sql(e, in, ret, err));
    *ret = str_fmt(e->a, "(" STR_FMT ")", STR_ARG(*ret));
    return OK;
}

static Status group_step(Emit *e, int deletes, Error *err)
{
    const IvmView *v = e->v;
    Str change = {0};
    StrBuf b = sb_new(e->a);
    int unit = emit_unit(e, v->agg->in.p[0]);
    TRY(input_delta(e, &change, err));
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < v->agg->nkeys; i++) {
        TRY(put_expr(&b, v->agg->exprs.p[i], err));
        sb_fmt(&b, " AS k%zu, ", i + 1);
    }
    for (size_t i = 0; i < v->slots.n; i++) {
        const Slot *s = &v->slots.p[i];
        sb_addc(&b, i ? ", " : "");
        TRY(is_extreme(s) ? put_extreme(&b, v, s, ">", err) : unit ? put_slot_full(&b, v, s, err) : put_slot_delta(&b, v, s, err));
        sb_fmt(&b, " AS x%zu", i);
        if (!is_extreme(s) || !deletes)
            continue;
        sb_addc(&b, ", ");
        TRY(put_extreme(&b, v, s, "<", err));
        sb_fmt(&b, " AS y%zu", i);
    }
    sb_fmt(&b, " FROM " STR_FMT " n%d", STR_ARG(change), v->agg->in.p[0]->id);
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(&b, "%s%zu", i ? ", " : " GROUP BY ", i + 1);
    TRY(emit_step(e, S("ivm_g"), sb_str(&b), err));
    e->plan->steps.p[e->plan->steps.n - 1].once = 1;
    return OK;
}

static Str stored(Arena *a, const Slot *s) { return str_cat(a, S("v."), sql_ident_str(a, s->store)); }

static void put_merged(StrBuf *b, const IvmView *v, size_t i)
{
    const Slot *s = &v->slots.p[i];
    Str old = stored(b->a, s);
    if (is_extreme(s)) {
        sb_fmt(b, "CASE WHEN " STR_FMT " IS NULL THEN g.x%zu WHEN g.x%zu IS NULL THEN " STR_FMT " WHEN g.x%zu %s " STR_FMT
               " THEN g.x%zu ELSE " STR_FMT " END AS x%zu", STR_ARG(old), i, i, STR_ARG(old), i, s->kind == SLOT_MIN ? "<" : ">",
               STR_ARG(old), i, STR_ARG(old), i);
        return;
    }
    Str type = s->kind == SLOT_SUM ? add_type(b->a, v, s) : S("HUGEINT");
    sb_fmt(b, "CAST(coalesce(" STR_FMT ", 0) AS " STR_FMT ") + CAST(g.x%zu AS " STR_FMT ") AS x%zu", STR_ARG(old), STR_ARG(type), i,
           STR_ARG(type), i);
}

/* The stored extreme went and nothing as extreme came. */
static void put_lost(StrBuf *b, const IvmView *v, int deletes)
{
    const char *or_ = "";
    for (size_t i = 0; deletes && i < v->slots.n; i++) {
        const Slot *s = &v->slots.p[i];
        if (!is_extreme(s))
            continue;
        Str old = stored(b->a, s);
        const char *op = s->kind == SLOT_MIN ? "<=" : ">=";
        sb_fmt(b, "%scoalesce(g.y%zu %s " STR_FMT ", FALSE) AND NOT coalesce(g.x%zu %s " STR_FMT ", FALSE)", or_, i, op, STR_ARG(old), i,
               op, STR_ARG(old));
        or_ = " OR ";
    }
    sb_addc(b, or_[0] ? "" : "FALSE");
}

static void put_touched(StrBuf *b, const IvmView *v, int deletes)
{
    for (size_t i = 0; i < v->slots.n; i++) {
        sb_addc(b, i ? " OR " : "");
        if (!is_extreme(&v->slots.p[i]))
            sb_fmt(b, "g.x%zu <> 0", i);
        else if (deletes)
            sb_fmt(b, "g.x%zu IS NOT NULL OR g.y%zu IS NOT NULL", i, i);
        else
            sb_fmt(b, "g.x%zu IS NOT NULL", i);
    }
}

static Str merged_text(Emit *e, int deletes, KeyNulls nulls)
{
    const IvmView *v = e->v;
    StrBuf b = sb_new(e->a);
    sb_addc(&b, "SELECT v.\"__file\" AS f, v.\"__pos\" AS p, ");
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(&b, "g.k%zu AS k%zu, ", i + 1, i + 1);
    for (size_t i = 0; i < v->slots.n; i++) {
        put_merged(&b, v, i);
        sb_addc(&b, ", ");
    }
    put_lost(&b, v, deletes);
    sb_addc(&b, " AS lost");
    put_stored_visible(&b, v);
    sb_addc(&b, " FROM ivm_g g LEFT JOIN v ON ");
    put_stored_keys(&b, v, "g", nulls);
    sb_addc(&b, " WHERE ");
    put_touched(&b, v, deletes);
    return sb_str(&b);
}

/* Keys without NULL are compared by `=`, which lets the engine skip stored rows that are far from them: what is known of the groups that changed when they are there. */
static Str count_nulls(Arena *a, const IvmView *v)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; v->target == IVM_LIVE && i < v->agg->nkeys; i++)
        if (node_nullable(v->agg, i))
            sb_fmt(&b, "%sk%zu IS NULL", b.n ? " OR " : "SELECT count(*) FROM ivm_g WHERE ", i + 1);
    return sb_str(&b);
}

static Status merge_step(Emit *e, int deletes, Error *err)
{
    TRY(emit_step(e, S("ivm_m"), merged_text(e, deletes, KEYS_MAY_BE_NULL), err));
    IvmStep *step = &e->plan->steps.p[e->plan->steps.n - 1];
    step->nulls_sql = count_nulls(e->a, e->v);
    if (step->nulls_sql.n)
        step->no_nulls = merged_text(e, deletes, KEYS_NOT_NULL);
    return OK;
}

/* Extremes of the groups that lost theirs, read from the new state. */
static Status again_step(Emit *e, Error *err)
{
    const IvmView *v = e->v;
    StrBuf b = sb_new(e->a), keys = sb_new(e->a), extra = sb_new(e->a);
    Str groups = {0};
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(&keys, "%sm.k%zu", i ? ", " : "", i + 1);
    sb_addc(&b, "SELECT ");
    sb_add(&b, v->agg->nkeys ? sb_str(&keys) : S("1 AS k0"));
    sb_addc(&b, " FROM ivm_m m WHERE m.lost AND m.x0 > 0");
    TRY(emit_step(e, S("ivm_c"), sb_str(&b), err));
    for (size_t i = 0; i < v->slots.n; i++) {
        if (!is_extreme(&v->slots.p[i]))
            continue;
        sb_addc(&extra, ", ");
        TRY(put_slot_full(&extra, v, &v->slots.p[i], err));
        sb_fmt(&extra, " AS x%zu", i);
    }
    Restrict only = restrict_to_keys(e->a, v->agg, S("ivm_c"));
    TRY(agg_select_sql(e, v->agg, SIDE_NEW, v->agg->nkeys ? &only : NULL, sb_str(&extra), &groups, err));
    b = sb_new(e->a);
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(&b, "x.c%zu AS k%zu, ", i + 1, i + 1);
    const char *comma = "";
    for (size_t i = 0; i < v->slots.n; i++)
        if (is_extreme(&v->slots.p[i])) {
            sb_fmt(&b, "%sx.x%zu", comma, i);
            comma = ", ";
        }
    sb_fmt(&b, " FROM (" STR_FMT ") x%s", STR_ARG(groups), v->agg->nkeys ? "" : " WHERE EXISTS (SELECT 1 FROM ivm_c)");
    return emit_step(e, S("ivm_x"), sb_str(&b), err);
}

/* ivm_m with the extremes of ivm_x put in: what groups are now. */
static Str merged_groups(Arena *a, const IvmView *v, int again)
{
    StrBuf b = sb_new(a);
    if (!again)
        return S("ivm_m");
    sb_addc(&b, "(SELECT m.* REPLACE (");
    const char *comma = "";
    for (size_t i = 0; i < v->slots.n; i++)
        if (is_extreme(&v->slots.p[i])) {
            sb_fmt(&b, "%sCASE WHEN m.lost THEN x.x%zu ELSE m.x%zu END AS x%zu", comma, i, i, i);
            comma = ", ";
        }
    sb_addc(&b, ") FROM ivm_m m LEFT JOIN ivm_x x ON ");
    for (size_t i = 0; i < v->agg->nkeys; i++) {
        sb_addc(&b, i ? " AND " : "");
        put_same(&b, str_fmt(a, "m.k%zu", i + 1), str_fmt(a, "x.k%zu", i + 1), node_type(v->agg, i), node_nullable(v->agg, i));
    }
    sb_addc(&b, v->agg->nkeys ? ")" : "TRUE)");
    return sb_str(&b);
}

/* The groups with the values of their aggregates: what the root stands on. */
static Str valued_groups(Arena *a, const IvmView *v, Str groups, const char *where)
{
    StrBuf b = sb_new(a);
    sb_addc(&b, "(SELECT m.*");
    for (size_t i = 0; i < v->agg->exprs.n; i++) {
        if (!v->agg->used[i])
            continue;
        sb_addc(&b, ", ");
        if (i < v->agg->nkeys)
            sb_fmt(&b, "m.k%zu", i + 1);
        else
            put_value(&b, v, i);
        sb_fmt(&b, " AS c%zu", i + 1);
    }
    sb_fmt(&b, " FROM " STR_FMT " m%s)", STR_ARG(groups), where);
    return sb_str(&b);
}

static Status insert_groups(Emit *e, int again, Error *err)
{
    const IvmView *v = e->v;
    Str groups = valued_groups(e->a, v, merged_groups(e->a, v, again), v->agg->nkeys ? " WHERE m.x0 > 0" : "");
    return root_select_sql(e, groups, hidden_columns(e->a, v), &e->plan->insert_sql, err);
}

/* What can never be of a group, if its stored state is right. */
static void put_broken(StrBuf *b, const IvmView *v, const char *m)
{
    sb_fmt(b, "%s.x0 < 0", m);
    for (size_t i = 1; i < v->slots.n; i++) {
        const Slot *s = &v->slots.p[i];
        if (s->kind == SLOT_SUM)
            sb_fmt(b, " OR %s.x%zu <> 0 AND %s.x%zu = 0", m, i, m, slot_index(v, s->agg, SLOT_COUNT));
        else if (!is_extreme(s))
            sb_fmt(b, " OR %s.x%zu < 0 OR %s.x%zu > %s.x0", m, i, m, i, m);
    }
    if (!v->agg->nkeys)
        sb_fmt(b, " OR %s.f IS NULL", m);
}

static void check_groups(Emit *e)
{
    const IvmView *v = e->v;
    StrBuf b = sb_new(e->a);
    sb_addc(&b, "SELECT (SELECT count(*) FROM ivm_m m WHERE ");
    put_broken(&b, v, "m");
    sb_addc(&b, ") + (SELECT count(*) FROM (SELECT 1 FROM ivm_m m");
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(&b, "%sm.k%zu", i ? ", " : " GROUP BY ", i + 1);
    sb_addc(&b, " HAVING count(*) > 1) q)");
    e->plan->check_sql = sb_str(&b);
}

/* An expression over aggregates may fail where a group has no rows any more. */
static int shows_columns_only(const IvmView *v)
{
    for vec_each(Expr *, x, &v->root->exprs)
        if ((*x)->kind != EX_COLUMN)
            return 0;
    return 1;
}

/* The stored row that goes, and a number by which a group that is stored twice shows. */
static void put_stored_row(StrBuf *b, const IvmView *v, const char *m)
{
    sb_fmt(b, ", %s.f AS __ivm_file", m);
    put_gone_visible(b, v, m);
    sb_addc(b, ", hash(0");
    for (size_t i = 0; i < v->agg->nkeys; i++)
        sb_fmt(b, ", %s.k%zu", m, i + 1);
    sb_addc(b, ") AS __ivm_group");
}

static Status all_of_groups(Emit *e, int deletes, Error *err)
{
    const IvmView *v = e->v;
    StrBuf b = sb_new(e->a);
    if (deletes && !shows_columns_only(v))
        return OK;
    char *m = str_z(e->a, str_fmt(e->a, "n%d", v->agg->id));
    sb_add(&b, hidden_columns(e->a, v));
    if (v->target == IVM_STORED)
        put_stored_row(&b, v, m);
    sb_fmt(&b, ", %s.p AS __ivm_pos, ", m);
    if (v->agg->nkeys)
        sb_fmt(&b, "%s.x0 <= 0", m);
    else
        sb_addc(&b, "FALSE");
    sb_addc(&b, " AS __ivm_gone, ");
    if (deletes || v->target == IVM_STORED)
        put_broken(&b, v, m);
    else
        sb_addc(&b, "FALSE");
    sb_addc(&b, " AS __ivm_bad");
    return root_select_sql(e, valued_groups(e->a, v, S("ivm_m"), ""), sb_str(&b), &e->plan->groups_sql, err);
}

Status merge_plan(Emit *e, Error *err)
{
    int deletes = emit_deletes(e, e->v->agg->in.p[0]), again = deletes && has_extremes(e->v);
    TRY(group_step(e, deletes, err));
    TRY(merge_step(e, deletes, err));
    if (again)
        TRY(again_step(e, err));
    TRY(insert_groups(e, again, err));
    if (deletes || e->v->target == IVM_STORED)         /* a view that is kept by the tick is checked when something can have gone wrong */
        check_groups(e);
    if (!again)
        TRY(all_of_groups(e, deletes, err));
    StrBuf gone = sb_new(e->a);
    sb_addc(&gone, "SELECT m.f AS \"__file\", m.p AS \"__pos\"");
    put_gone_visible(&gone, e->v, "m");
    sb_addc(&gone, " FROM ivm_m m WHERE m.f IS NOT NULL");
    e->plan->delete_sql = sb_str(&gone);
    return OK;
}
