/* SPDX-License-Identifier: Apache-2.0 */
/* subscribe.c - SUBSCRIBE: a relation's rows, then its changes as they happen.
 *
 * A query becomes a continuous view for as long as somebody reads it.  Rows come in batches, one a timestamp; envelopes and WITHIN TIMESTAMP ORDER BY work on a batch
 * (subscribe_batch.c).  Invariant: all rows of a timestamp are given before any progress beyond it. */
#include "service/mzcatalog.h"
#include "service/subscribe_int.h"

#include <stdlib.h>

enum { WAIT_MS = 250, IDLE_US = 1000000 };

/* ---- what to read ------------------------------------------------------------------------------------------------------- */

static Status definition_of(Run *r, Str *ret, Error *err)
{
    Object o;
    StrBuf b = sb_new(r->a);

    *ret = r->st->query_text;
    if (ret->n)
        return OK;
    Status s = live_find_object(r, r->a, &r->st->name, &o, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    sb_addc(&b, "SELECT * FROM ");
    for (size_t i = 0; i < r->st->name.n; i++) {
        sb_addc(&b, i ? "." : "");
        sql_ident(&b, r->st->name.p[i]);
    }
    *ret = sb_str(&b);
    return OK;
}

static Status compile_view(Run *r, Arena *own, RowColumns *cols, IvmView **v, Error *err)
{
    Str definition;
    Query *q;

    TRY(definition_of(r, &definition, err));
    TRY(live_compile(r, own, definition, &q, v, err));
    for (size_t i = 0; i < q->columns.n; i++)
        vec_push(r->a, cols, ((RowColumn){ str_dup(r->a, q->columns.p[i].name), q->columns.p[i].type }));
    return OK;
}

static Status make_view(Run *r, Subscribe *s, RowColumns *cols, Error *err)
{
    Arena *own = arena_create();
    int64_t id = objects_next_id(r->svc->objects);
    IvmView *v;

    Status st = compile_view(r, own, cols, &v, err);
    if (st == OK)
        st = live_view_add(r->svc->live, id, own, v, LIVE_FILL, err);
    if (st != OK)
        arena_destroy(own);
    else
        s->id = s->view = id;
    return st;
}

/* SELECT * FROM name, and nothing else: that relation. NULL: more than that. */
static const StrVec *whole_relation(const Query *q)
{
    const Select *s = q->body == BODY_SELECT && !q->ctes.n && !q->order.n && !q->limit && !q->offset ? q->select : NULL;

    if (!s || s->distinct || s->distinct_on.n || s->items.n != 1 || s->where || s->grouping != GROUP_NONE || s->having || s->qualify || !s->from)
        return NULL;
    const Expr *e = s->items.p[0].expr;
    const TableRef *t = s->from;
    bool star = e->kind == EX_STAR && !e->name.n && !e->args.n && !e->except.n && !s->items.p[0].alias.n;
    return star && t->kind == TR_TABLE && !t->column_aliases.n && !t->as_of.has ? &t->name : NULL;
}

/* A table or a materialized view as it is is watched itself; other queries become views of their own. */
static Status choose(Run *r, Subscribe *s, RowColumns *cols, Error *err)
{
    Object o;
    Error absent;

    const StrVec *name = r->st->query_text.n ? whole_relation(r->st->query) : &r->st->name;
    if (!name || live_find_object(r, r->a, name, &o, &absent) != OK || o.kind == OBJ_VIEW)
        return make_view(r, s, cols, err);
    TRY(live_ask(r, 'r', &o, err));
    for (size_t i = 0; i < o.columns.n; i++)
        vec_push(r->a, cols, ((RowColumn){ o.columns.p[i].name, o.columns.p[i].type }));
    s->id = o.id;
    return OK;
}

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

static Status truth(const Stmt *st, Str key, int fallback, int *ret, Error *err)
{
    Str v = props_get(&st->props, key, fallback ? S("true") : S("false"));

    *ret = str_ieq(v, S("true")) || str_ieq(v, S("on"));
    if (!*ret && !str_ieq(v, S("false")) && !str_ieq(v, S("off")))
        return FAIL(err, E_INVALID, "invalid " STR_FMT " option value: it is true or false", STR_ARG(key));
    return OK;
}

static ptrdiff_t column_at(const RowColumns *cols, Str name)
{
    for (size_t i = 0; i < cols->n; i++)
        if (str_eq(cols->p[i].name, name))
            return (ptrdiff_t)i;
    return -1;
}

static Status no_column(Str name, Error *err)
{
    RAISE(err, E_INVALID, "column \"" STR_FMT "\" does not exist", STR_ARG(name));
    memcpy(err->sqlstate, "42703", 6);
    return E_INVALID;
}

static Status envelope_of(Run *r, Subscribe *s, const RowColumns *cols, Error *err)
{
    const StrVec *names = &r->st->column_names;

    s->envelope = str_eq(r->st->what, S("upsert")) ? ENV_UPSERT : str_eq(r->st->what, S("debezium")) ? ENV_DEBEZIUM : ENV_NONE;
    for (size_t i = 0; s->envelope && i < names->n; i++) {
        ptrdiff_t at = column_at(cols, names->p[i]);
        if (at < 0)
            return no_column(names->p[i], err);
        vec_push(r->a, &s->keys, (size_t)at);
    }
    for (size_t i = 0; i < cols->n; i++)
        if (!s->envelope || !strvec_has(names, cols->p[i].name))
            vec_push(r->a, &s->values, i);
    return OK;
}

static Status order_of(Run *r, Subscribe *s, const RowColumns *cols, Error *err)
{
    const OrderVec *within = &r->st->within;

    if (within->n && s->envelope)
        return FAIL(err, E_UNSUPPORTED, "WITHIN TIMESTAMP ORDER BY together with ENVELOPE is not supported");
    s->order = arena_alloc(r->a, (within->n + 1) * sizeof *s->order);
    for (size_t i = 0; i < within->n; i++) {
        const Expr *e = within->p[i].expr;
        ptrdiff_t at = e->kind == EX_COLUMN ? column_at(cols, vec_last(&e->name)) : -1;
        bool diff = e->kind == EX_COLUMN && str_eq(vec_last(&e->name), S("mz_diff"));
        if (e->kind != EX_COLUMN)
            return FAIL(err, E_UNSUPPORTED, "WITHIN TIMESTAMP ORDER BY takes columns");
        if (at < 0 && !diff)
            return no_column(vec_last(&e->name), err);
        s->order[i].col = diff ? SIZE_MAX : (size_t)at;
        s->order[i].descending = within->p[i].descending;
        s->order[i].nulls_first = within->p[i].nulls_first < 0 ? within->p[i].descending : within->p[i].nulls_first;
    }
    s->norder = within->n;
    return OK;
}

/* A time to come is waited for; one that has passed must be known of the relation. AT LEAST: the earliest one that is. */
static Status as_of(Run *r, Subscribe *s, int64_t t, Error *err)
{
    int64_t now = live_now(s->live), oldest = live_oldest(s->live, s->id);

    if (r->st->as_of.branch.n)
        t = max_i64(t, oldest);
    if (t > now)
        TRY(live_wait_for(r, t, err));
    s->as_of = t > now && live_oldest(s->live, s->id) > t ? INT64_MAX : t;             /* it changed as the time came: then it begins with that */
    return OK;
}

static Status times_of(Run *r, Subscribe *s, Error *err)
{
    int64_t t;

    s->up_to = s->as_of = INT64_MAX;
    if (r->st->where)
        TRY(live_time_of(r, r->st->where, "UP TO", &s->up_to, err));
    if (!r->st->as_of.has)
        return OK;
    TRY(live_time_of(r, r->st->as_of.timestamp, "AS OF", &t, err));
    if (s->up_to < t)
        return FAIL(err, E_INVALID, "subscription lower bound (`AS OF`) is greater than its upper bound (`UP TO`): %lld > %lld", (long long)t, (long long)s->up_to);
    return as_of(r, s, t, err);
}

/* ---- columns of the answer -------------------------------------------------------------------------------------------------------- */

size_t sub_head(const Subscribe *s) { return 2 + (size_t)s->progress; }

size_t sub_width(const Subscribe *s)
{
    return sub_head(s) + (s->envelope == ENV_DEBEZIUM ? s->keys.n + 2 * s->values.n : s->ncols);
}

static void answer_columns(Rows *rows, const Subscribe *s, const RowColumns *cols)
{
    Arena *a = rows->run.a;

    vec_push(a, &rows->columns, ((RowColumn){ S("mz_timestamp"), { .kind = DT_DECIMAL, .precision = 38 } }));
    if (s->progress)
        rows_column(rows, "mz_progressed", DT_BOOL);
    rows_column(rows, s->envelope ? "mz_state" : "mz_diff", s->envelope ? DT_STRING : DT_INT64);
    for (size_t i = 0; i < s->keys.n; i++)
        vec_push(a, &rows->columns, cols->p[s->keys.p[i]]);
    for (int pass = 0; pass < (s->envelope == ENV_DEBEZIUM ? 2 : 1); pass++)
        for (size_t i = 0; i < s->values.n; i++) {
            RowColumn c = cols->p[s->values.p[i]];
            if (s->envelope == ENV_DEBEZIUM)
                c.name = str_cat(a, pass ? S("after_") : S("before_"), c.name);
            vec_push(a, &rows->columns, c);
        }
}

/* ---- beginning ------------------------------------------------------------------------------------------------------------------------ */

static const DataType *column_types(Arena *a, const RowColumns *cols)
{
    DataType *types = arena_array(a, DataType, cols->n + 1);
    for (size_t i = 0; i < cols->n; i++)
        types[i] = data_type_copy(a, &cols->p[i].type);
    return types;
}

static Status begin(Run *r, Subscribe *s, Rows *rows, Error *err)
{
    RowColumns cols = {0};

    TRY(choose(r, s, &cols, err));
    s->ncols = cols.n;
    s->types = column_types(r->a, &cols);
    TRY(truth(r->st, S("snapshot"), 1, &s->with_snapshot, err));
    TRY(truth(r->st, S("progress"), 0, &s->progress, err));
    TRY(envelope_of(r, s, &cols, err));
    TRY(order_of(r, s, &cols, err));
    TRY(times_of(r, s, err));
    answer_columns(rows, s, &cols);
    if (s->as_of == INT64_MAX)
        TRY(live_watch(s->live, s->id, r->c, s->with_snapshot ? &s->snapshot : NULL, &s->watch, err));
    else
        TRY(live_watch_from(s->live, s->id, s->as_of, r->c, s->with_snapshot ? &s->snapshot : NULL, &s->past, &s->watch, err));
    s->start = live_watch_start(s->watch);
    s->phase = s->up_to <= s->start ? SUB_DONE : SUB_FIRST;
    return OK;
}

Status do_subscribe(Run *r, Rows *rows, Error *err)
{
    Subscribe *s = arena_new(r->a, Subscribe);

    s->live = r->svc->live;
    s->batch = arena_create();
    rows->subscribe = s;                                   /* whatever happens, rows_close ends it */
    s->svc = r->svc;
    TRY(begin(r, s, rows, err));
    s->ticket = mz_subscription_begin(r->svc, r->ss, r->live_used.n ? r->live_used.p : &s->id, r->live_used.n ? r->live_used.n : 1);
    return OK;
}

void subscribe_end(Subscribe *s)
{
    Error ignored;

    if (!s)
        return;
    mz_subscription_end(s->svc, s->ticket);
    duck_result_free(s->snapshot);
    duck_result_free(s->past);
    if (s->watch)
        live_watch_end(s->watch);
    if (s->view)
        (void)!live_drop(s->live, &s->view, 1, &ignored);
    arena_destroy(s->batch);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------------------- */

static const DataType timestamp_type = { .kind = DT_DECIMAL, .precision = 38 };

void sub_put_head(const Subscribe *s, Value *row, int64_t t, int progressed)
{
    row[0] = (Value){ .kind = DT_DECIMAL, .type = &timestamp_type, .wide = t };
    if (s->progress)
        row[1] = (Value){ .kind = DT_BOOL, .boolean = progressed != 0 };
}

static int give_progress(Subscribe *s, Value *cells, int64_t t)
{
    for (size_t i = 0; i < sub_width(s); i++)
        cells[i] = (Value){ .kind = DT_NULL };
    sub_put_head(s, cells, t, 1);
    s->told = t;
    return 1;
}

static void new_batch(Subscribe *s)
{
    arena_destroy(s->batch);
    s->batch = arena_create();
    memset(&s->out, 0, sizeof s->out);
    s->out_at = 0;
}

/* The rows at the start: one by one, or as one batch where it is looked at whole. */
static Status read_snapshot(Subscribe *s, SubChanges *ret, size_t max, Error *err)
{
    while (ret->n < max && !s->snap_done) {
        if (s->snap_at == s->snap_rows) {
            s->snap_at = 0;
            TRY(duck_next(s->snapshot, &s->snap_rows, err));
            s->snap_done = !s->snap_rows;
            if (s->snap_done)
                return OK;
        }
        SubChange c = { .cells = arena_array(s->batch, Value, s->ncols + 1), .weight = 1 };
        for (size_t i = 0; i < s->ncols; i++) {
            Value v = duck_value(s->batch, s->snapshot, i, s->snap_at);
            c.cells[i] = value_copy(s->batch, &v, &s->types[i]);
        }
        s->snap_at++;
        vec_push(s->batch, ret, c);
    }
    return OK;
}

enum { SNAPSHOT_STEP = 1000 };

static Status snapshot_batch(Subscribe *s, Error *err)
{
    SubChanges changes = {0};

    new_batch(s);
    if (s->snapshot)
        TRY(read_snapshot(s, &changes, s->envelope || s->norder ? SIZE_MAX : SNAPSHOT_STEP, err));
    if (changes.n) {
        sub_batch(s, &changes, s->start);
        return OK;
    }
    duck_result_free(s->snapshot);
    s->snapshot = NULL;
    s->phase = s->past ? SUB_PAST : SUB_CHANGES;
    return OK;
}

static Status next_past(Subscribe *s, Error *err)
{
    if (!s->past || s->past_at < s->past_rows)
        return OK;
    s->past_at = 0;
    TRY(duck_next(s->past, &s->past_rows, err));
    if (!s->past_rows) {
        duck_result_free(s->past);
        s->past = NULL;
    }
    return OK;
}

static int64_t past_time(Subscribe *s) { return duck_value(s->batch, s->past, 0, s->past_at).integer; }

static SubChange past_change(Subscribe *s)
{
    SubChange c = { .cells = arena_array(s->batch, Value, s->ncols + 1), .weight = duck_value(s->batch, s->past, 1, s->past_at).integer };
    for (size_t i = 0; i < s->ncols; i++) {
        Value v = duck_value(s->batch, s->past, i + 2, s->past_at);
        c.cells[i] = value_copy(s->batch, &v, &s->types[i]);
    }
    s->past_at++;
    return c;
}

/* What changed after AS OF and before the watch began: a timestamp at a time. */
static Status past_batch(Subscribe *s, Error *err)
{
    SubChanges changes = {0};
    int64_t t = 0;

    new_batch(s);
    TRY(next_past(s, err));
    while (s->past && (!changes.n || past_time(s) == t)) {
        t = past_time(s);
        SubChange c = past_change(s);
        vec_push(s->batch, &changes, c);
        TRY(next_past(s, err));
    }
    if (changes.n && t >= s->up_to)
        s->phase = SUB_DONE;
    else if (changes.n)
        sub_batch(s, &changes, t);
    else
        s->phase = SUB_CHANGES;
    return OK;
}

static SubChange own_change(Subscribe *s, const LiveChange *c)
{
    SubChange r = { .cells = arena_array(s->batch, Value, s->ncols + 1), .weight = c->weight };
    for (size_t i = 0; i < s->ncols; i++)
        r.cells[i] = value_copy(s->batch, &c->cells[i], &s->types[i]);
    return r;
}

/* All changes of the next timestamp; none: *progress is how far there are none. */
static Status change_batch(Subscribe *s, int64_t *progress, Error *err)
{
    SubChanges changes = {0};
    int64_t t = 0;
    int has = 1;

    new_batch(s);
    if (!s->has_pending)
        TRY(live_watch_next(s->watch, WAIT_MS, &s->pending, &s->has_pending, progress, err));
    while (has && s->has_pending && (!changes.n || s->pending.t == t)) {
        t = s->pending.t;
        SubChange c = own_change(s, &s->pending);
        vec_push(s->batch, &changes, c);
        TRY(live_watch_next(s->watch, 0, &s->pending, &has, progress, err));
        s->has_pending = has;
    }
    if (changes.n && t < s->up_to) {
        sub_batch(s, &changes, t);
        *progress = t;
    } else if (changes.n) {
        s->phase = SUB_DONE;
    }
    return OK;
}

/* Nothing changed: time may have gone on all the same. */
static int idle(Subscribe *s, Value *cells, int64_t progress)
{
    int64_t now = clock_mono_us();

    if (s->up_to != INT64_MAX || now - s->idle_since_us > IDLE_US) {
        progress = max_i64(progress, live_advance(s->live));
        s->idle_since_us = now;
    }
    if (progress >= s->up_to)
        s->phase = SUB_DONE;
    if (s->progress && progress > s->told)
        return give_progress(s, cells, min_i64(progress, s->up_to));
    return s->phase == SUB_DONE ? 0 : 2;
}

static int take(Subscribe *s, Value *cells)
{
    memcpy(cells, s->out.p[s->out_at++], sub_width(s) * sizeof *cells);
    return 1;
}

Status subscribe_next(Rows *rows, Arena *a UNUSED, Value *cells, int *has, Error *err)
{
    Subscribe *s = rows->subscribe;
    int64_t progress = 0;

    for (;;) {
        if (s->out_at < s->out.n) {
            *has = take(s, cells);
            return OK;
        }
        switch (s->phase) {
        case SUB_FIRST:
            s->phase = SUB_SNAPSHOT;
            s->idle_since_us = clock_mono_us();
            if (s->progress) {
                *has = give_progress(s, cells, s->start);
                return OK;
            }
            break;
        case SUB_SNAPSHOT:
            TRY(snapshot_batch(s, err));
            break;
        case SUB_PAST:
            TRY(past_batch(s, err));
            break;
        case SUB_CHANGES:
            TRY(change_batch(s, &progress, err));
            if (s->out.n || s->phase == SUB_DONE)
                break;
            *has = idle(s, cells, progress);
            return OK;
        case SUB_DONE:
            *has = 0;
            return OK;
        }
    }
}
