/* SPDX-License-Identifier: Apache-2.0 */
/* live_view.c - what a tick does to one view.
 *
 * The plan of ivm/ runs over s<i>_old, s<i>_new, s<i>_chg and v, all views of the leader's connection.  A view that cannot be kept incrementally, one that
 * had failed, and one whose stored state contradicts itself, is computed whole and replaced; its change is then the difference. */
#include "live/live_int.h"

Delta *tick_delta(Tick *t, int64_t id)
{
    for (size_t i = 0; i < t->deltas.n; i++)
        if (t->deltas.p[i].rel->id == id)
            return &t->deltas.p[i];
    return NULL;
}

enum { VIEWS_ARENA_MAX = 4 * 1024 * 1024 };

void tick_forget_views(Live *l)
{
    if (l->views_arena)
        arena_destroy(l->views_arena);
    l->views_arena = NULL;
    l->views = (Map){0};
}

static void remember_view(Live *l, Str name, Str sql)
{
    if (l->views_arena && arena_used(l->views_arena) > VIEWS_ARENA_MAX)
        tick_forget_views(l);
    if (!l->views_arena) {
        l->views_arena = arena_create();
        l->views = map_new(l->views_arena);
    }
    Str *text = arena_new(l->views_arena, Str);
    *text = str_dup(l->views_arena, sql);
    map_put(&l->views, str_dup(l->views_arena, name), text);
}

Status tick_temp_view(Tick *t, Str name, Str sql, Error *err)
{
    const Str *there = t->l->views_arena ? map_get(&t->l->views, name) : NULL;

    if (there && str_eq(*there, sql))
        return OK;
    TRY(live_exec(t->l, str_fmt(t->a, "CREATE OR REPLACE TEMP VIEW " STR_FMT " AS " STR_FMT, STR_ARG(name), STR_ARG(sql)), err));
    remember_view(t->l, name, sql);
    return OK;
}

bool tick_heard(const Tick *t, const Relation *r)
{
    if (r->readers.n || watch_wants(t->l, r->id))
        return true;
    for (size_t i = 0; i < t->l->rels.n; i++)
        if (relation_reads(t->l->rels.p[i], r->id))
            return true;
    return false;
}

static Status make(Tick *t, Str name, Str sql, Error *err) { return duck_table_as(t->l->conn, name, sql, NULL, err); }

/* Rows that go and come again cancel out. */
Status tick_difference(Tick *t, Delta *d, Str name, Error *err)
{
    Str cols = live_columns_sql(t->a, &d->rel->cols, "");
    StrBuf parts = sb_new(t->a);

    d->chg = name;
    sb_fmt(&parts, "SELECT " STR_FMT ", 1 AS __d FROM " STR_FMT, STR_ARG(cols), STR_ARG(d->ins));
    if (d->del.n)
        sb_fmt(&parts, " UNION ALL SELECT " STR_FMT ", -1 AS __d FROM " STR_FMT " WHERE rowid IN (SELECT rid FROM " STR_FMT ")", STR_ARG(cols), STR_ARG(live_table(t->a, d->rel->id)), STR_ARG(d->del));
    return make(t, name, str_fmt(t->a, "SELECT " STR_FMT ", CAST(sum(__d) AS BIGINT) AS __w FROM (" STR_FMT ") q GROUP BY ALL HAVING sum(__d) <> 0", STR_ARG(cols), STR_ARG(sb_str(&parts))), err);
}

/* ---- sources ------------------------------------------------------------------------------------------------------------------ */

/* A source's rows as they stand, or with a delta. */
static Str state_with(Tick *t, const Relation *s, const Delta *d)
{
    Str cols = live_columns_sql(t->a, &s->cols, ""), table = live_table(t->a, s->id);

    if (!d)
        return str_fmt(t->a, "SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(cols), STR_ARG(table));
    Str without = d->del.n ? str_fmt(t->a, " WHERE rowid NOT IN (SELECT rid FROM " STR_FMT ")", STR_ARG(d->del)) : (Str){0};
    return str_fmt(t->a, "SELECT " STR_FMT " FROM " STR_FMT STR_FMT " UNION ALL SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(cols), STR_ARG(table), STR_ARG(without),
                   STR_ARG(cols), STR_ARG(d->ins));
}

/* mz_now() is one more source. */
static Status time_state(Tick *t, const Relation *r, IvmChange *changes, Error *err)
{
    int64_t old = r->time ? r->time : t->t;

    changes[r->sources.n] = (IvmChange){ .changed = old != t->t, .has_deletes = 1 };
    return tick_temp_view(t, S("s_now"), str_fmt(t->a, "SELECT CAST(%lld AS BIGINT) AS t_old, CAST(%lld AS BIGINT) AS t_new", (long long)old, (long long)t->t), err);
}

static Status source_states(Tick *t, const Relation *r, IvmChange *changes, Error *err)
{
    for (size_t i = 0; i < r->sources.n; i++) {
        const Relation *s = live_find(t->l, r->sources.p[i]);
        const Delta *d = tick_delta(t, r->sources.p[i]);
        changes[i] = (IvmChange){ .changed = d != NULL, .has_deletes = d && d->has_deletes, .unit = d && d->unit };
        TRY(tick_temp_view(t, str_fmt(t->a, "s%zu_old", i), state_with(t, s, NULL), err));
        TRY(tick_temp_view(t, str_fmt(t->a, "s%zu_new", i), state_with(t, s, d), err));
        if (d && d->chg.n)
            TRY(tick_temp_view(t, str_fmt(t->a, "s%zu_chg", i), str_fmt(t->a, "SELECT * FROM " STR_FMT, STR_ARG(d->chg)), err));
    }
    return ivm_uses_now(r->view) ? time_state(t, r, changes, err) : OK;
}

/* ---- a view's own delta ---------------------------------------------------------------------------------------------------------- */

static Str stored_columns(Tick *t, const Relation *r)
{
    StrBuf b = sb_new(t->a);
    const IvmColumns *hidden = ivm_hidden(r->view);

    sb_add(&b, live_columns_sql(t->a, &r->cols, ""));
    for (size_t i = 0; i < hidden->n; i++) {
        sb_addc(&b, b.n ? ", " : "");
        sql_ident(&b, hidden->p[i].engine);
    }
    return sb_str(&b);
}

static Status count_signs(Tick *t, Delta *d, int64_t *gone, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query_held(t->l->conn, str_fmt(t->a, "SELECT count(*), count(*) FILTER (WHERE __w < 0), count(*) FILTER (WHERE __w <> 1) FROM " STR_FMT, STR_ARG(d->chg)), &r, err));
    TRY(duck_next(r, &n, err));
    d->rows = duck_value(t->a, r, 0, 0).integer;
    *gone = duck_value(t->a, r, 1, 0).integer;
    d->unit = duck_value(t->a, r, 2, 0).integer == 0;
    return OK;
}

/* Nothing goes: the change is what comes, one by one. */
static Status finish_inserts(Tick *t, Delta *d, int64_t came, Error *err)
{
    d->chg = str_fmt(t->a, "vn%lld", (long long)d->rel->id);
    d->rows = came;
    d->unit = 1;
    TRY(tick_temp_view(t, d->chg, str_fmt(t->a, "SELECT " STR_FMT ", CAST(1 AS BIGINT) AS __w FROM " STR_FMT, STR_ARG(live_columns_sql(t->a, &d->rel->cols, "")), STR_ARG(d->ins)), err));
    vec_push(t->a, &t->deltas, *d);
    return OK;
}

/* chg: what the rows that go and come amount to; a delta that amounts to nothing is still applied (hidden state moves), but nobody above hears of it. */
static Status finish(Tick *t, Delta *d, int64_t came, Error *err)
{
    int64_t gone;

    if (!d->del.n)
        return finish_inserts(t, d, came, err);
    TRY(tick_difference(t, d, str_fmt(t->a, "vc%lld", (long long)d->rel->id), err));
    TRY(count_signs(t, d, &gone, err));
    d->has_deletes = gone > 0;
    vec_push(t->a, &t->deltas, *d);
    return OK;
}

/* ASSERT NOT NULL: of the rows that come. */
static Status check_asserts(Tick *t, const Relation *r, Str ins, Error *err)
{
    for (size_t i = 0; i < r->asserts.n; i++) {
        int64_t n = 0;
        bool has;
        TRY(duck_scalar_i64(t->l->conn, str_fmt(t->a, "SELECT count(*) FROM " STR_FMT " WHERE " STR_FMT " IS NULL", STR_ARG(ins), STR_ARG(sql_ident_str(t->a, r->asserts.p[i].engine))), &n, &has, err));
        if (!n)
            continue;
        RAISE(err, E_INVALID, STR_FMT, STR_ARG(r->asserts.p[i].message));
        memcpy(err->sqlstate, "23502", 6);
        return E_INVALID;
    }
    return OK;
}

static Status recompute(Tick *t, Relation *r, Error *err)
{
    Delta d = { .rel = r, .ins = str_fmt(t->a, "vi%lld", (long long)r->id), .del = str_fmt(t->a, "vx%lld", (long long)r->id) };
    int64_t came;
    Str sql;

    TRY(ivm_full_sql(t->a, r->view, &sql, err));
    TRY(duck_table_as(t->l->conn, d.ins, sql, &came, err));
    TRY(check_asserts(t, r, d.ins, err));
    TRY(make(t, d.del, str_fmt(t->a, "SELECT rowid AS rid FROM " STR_FMT, STR_ARG(live_table(t->a, r->id))), err));
    return finish(t, &d, came, err);
}

typedef enum { LAST_TABLE, LAST_INSIDE } LastStep;

static bool asks_nulls(const Tick *t, const IvmPlan *p, size_t step) { return t->rows > FEW_ROWS && step < p->steps.n && p->steps.p[step].nulls_sql.n; }

static Status choose_text(Tick *t, const IvmStep *s, Str *ret, Error *err)
{
    int64_t nulls;
    bool has;

    TRY(duck_scalar_i64(t->l->conn, s->nulls_sql, &nulls, &has, err));
    *ret = nulls ? s->sql : s->no_nulls;
    return OK;
}

/* What the next statement alone reads stands inside of it: each statement costs more than its rows.  *ret: what stands before the text that reads the last step,
 * when that is not to be a table either (LAST_INSIDE). */
static Status run_steps(Tick *t, const IvmPlan *p, LastStep last, Str *ret, Error *err)
{
    *ret = (Str){0};
    for (size_t i = 0; i < p->steps.n; i++) {
        const IvmStep *s = &p->steps.p[i];
        bool once = (s->once && !asks_nulls(t, p, i + 1)) || (last == LAST_INSIDE && i + 1 == p->steps.n);
        Str text = s->sql;
        if (asks_nulls(t, p, i))
            TRY(choose_text(t, s, &text, err));
        Str sql = str_cat(t->a, *ret, text);
        *ret = once ? str_fmt(t->a, "WITH " STR_FMT " AS (" STR_FMT ") ", STR_ARG(s->name), STR_ARG(sql)) : (Str){0};
        if (!once)
            TRY(make(t, s->name, sql, err));
    }
    return OK;
}

static Status check(Tick *t, const IvmPlan *p, int64_t *bad, Error *err)
{
    bool has;

    *bad = 0;
    return p->check_sql.n ? duck_scalar_i64(t->l->conn, p->check_sql, bad, &has, err) : OK;
}

static Str gone_sql(Tick *t, const IvmPlan *p) { return str_fmt(t->a, "SELECT __pos AS rid FROM (" STR_FMT ") q", STR_ARG(p->delete_sql)); }

/* The stored rows that go, found before anything changes. */
static Status find_gone(Tick *t, Delta *d, const IvmPlan *p, Error *err)
{
    int64_t rows = 0;

    if (!p->delete_sql.n)
        return OK;
    Str name = str_fmt(t->a, "vx%lld", (long long)d->rel->id);
    TRY(duck_table_as(t->l->conn, name, gone_sql(t, p), &rows, err));
    if (rows)
        d->del = name;
    return OK;
}

/* Nobody hears of it: new rows go in where the old ones then go. */
static Status apply_at_once(Tick *t, Delta *d, const IvmPlan *p, Error *err)
{
    Str table = live_table(t->a, d->rel->id);
    IvmShape shape = ivm_shape(d->rel->view);

    if ((shape == IVM_BAG || shape == IVM_MERGE) && p->delete_sql.n)
        d->del = str_fmt(t->a, "(" STR_FMT ")", STR_ARG(gone_sql(t, p)));
    else
        TRY(find_gone(t, d, p, err));
    if (p->insert_sql.n)
        TRY(live_exec(t->l, str_fmt(t->a, "INSERT INTO " STR_FMT " " STR_FMT, STR_ARG(table), STR_ARG(p->insert_sql)), err));
    return tick_delete(t, d, err);
}

static Status incremental(Tick *t, Relation *r, const IvmChange *changes, Error *err)
{
    Delta d = { .rel = r, .ins = str_fmt(t->a, "vi%lld", (long long)r->id) };
    IvmPlan *p;
    int64_t bad, came;
    Str with;

    TRY(ivm_plan(t->a, r->view, changes, &p, err));
    if (!p->insert_sql.n && !p->delete_sql.n)
        return OK;
    TRY(tick_temp_view(t, S("v"), str_fmt(t->a, "SELECT *, CAST('' AS VARCHAR) AS __file, rowid AS __pos FROM " STR_FMT, STR_ARG(live_table(t->a, r->id))), err));
    bool heard = tick_heard(t, r) || r->asserts.n;
    if (!heard && p->groups_sql.n && t->rows <= FEW_ROWS && rows_are_plain(r)) {
        TRY(run_steps(t, p, LAST_INSIDE, &with, err));
        return rows_groups(t, r, str_cat(t->a, with, p->groups_sql), err);
    }
    TRY(run_steps(t, p, LAST_TABLE, &with, err));
    TRY(check(t, p, &bad, err));
    if (bad) {
        log_event(LOG_ERROR, "the stored state of a continuous view contradicted itself; it is computed anew", "view", str_fmt(t->a, "%lld", (long long)r->id).p, NULL);
        return recompute(t, r, err);
    }
    if (!heard)
        return apply_at_once(t, &d, p, err);
    TRY(find_gone(t, &d, p, err));
    TRY(duck_table_as(t->l->conn, d.ins, p->insert_sql.n ? p->insert_sql : str_fmt(t->a, "SELECT " STR_FMT " FROM " STR_FMT " WHERE false", STR_ARG(stored_columns(t, r)), STR_ARG(live_table(t->a, r->id))), &came, err));
    TRY(check_asserts(t, r, d.ins, err));
    return finish(t, &d, came, err);
}

static bool has_change(Tick *t, const Relation *r)
{
    for (size_t i = 0; i < r->sources.n; i++) {
        const Delta *d = tick_delta(t, r->sources.p[i]);
        if (d && d->rows != 0)
            return true;
    }
    return false;
}

/* A view with an error waits for its sources to be well. */
static bool source_broken(Tick *t, const Relation *r)
{
    for (size_t i = 0; i < r->sources.n; i++) {
        const Relation *s = live_find(t->l, r->sources.p[i]);
        if (s->error && !tick_delta(t, s->id))
            return true;
    }
    return false;
}

Status tick_view(Tick *t, Relation *r, Error *err)
{
    bool anew = r == t->fill || r == t->refresh || r == t->replace;
    if (r->paused && r != t->refresh && r != t->replace)
        return OK;
    int timed = ivm_uses_now(r->view);
    if (!anew && !timed && !has_change(t, r))
        return OK;
    if (r->error && r != t->replace && source_broken(t, r))
        return OK;
    IvmChange *changes = arena_array(t->a, IvmChange, r->sources.n + 2);
    TRY(source_states(t, r, changes, err));
    r->time_next = r->changed = t->t;
    bool whole = anew || r->error || r->whole || (timed && !r->time) || ivm_shape(r->view) == IVM_FULL_ONLY;
    return whole ? recompute(t, r, err) : incremental(t, r, changes, err);
}
