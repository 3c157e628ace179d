/* SPDX-License-Identifier: Apache-2.0 */
/* live.c - the file opened, its relations, who leads.
 *
 * live.db is attached to the engine as `live`; `stage` is a database in memory that writers fill and ticks read.
 * Invariants: (1) live.r<id> exists for every relation of the registry and for no other; (2) the clock never shows a time twice: its end is written ahead, and
 * a start begins there. */
#include "live/live_int.h"

#include <stdio.h>
#include <stdlib.h>

Status live_exec(Live *l, Str sql, Error *err) { return duck_exec(l->conn, sql, err); }

Status live_together(Live *l, Str statements, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error ignored;
    Status s = live_exec(l, str_fmt(a, "BEGIN TRANSACTION; " STR_FMT "; COMMIT", STR_ARG(statements)), err);

    if (s != OK)
        (void)!live_exec(l, S("ROLLBACK"), &ignored);
    return s;
}

Str live_table(Arena *a, int64_t id) { return str_fmt(a, "live.r%lld", (long long)id); }
Str live_log_table(Arena *a, int64_t id) { return str_fmt(a, "live.log%lld", (long long)id); }
Str live_source_id(Arena *a, int64_t id) { return str_fmt(a, "live:%lld", (long long)id); }

Str live_columns_sql(Arena *a, const LiveColumns *cols, const char *prefix)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < cols->n; i++) {
        sb_fmt(&b, "%s%s", i ? ", " : "", prefix);
        sql_ident(&b, cols->p[i].engine);
    }
    return sb_str(&b);
}

size_t live_rel_place(const Live *l, int64_t id)
{
    size_t lo = 0, hi = l->rels.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (l->rels.p[mid]->id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

Relation *live_find(Live *l, int64_t id)
{
    size_t lo = live_rel_place(l, id);
    return lo < l->rels.n && l->rels.p[lo]->id == id ? l->rels.p[lo] : NULL;
}

/* ---- the lead ---------------------------------------------------------------------------------------------------------- */

void live_lead(Live *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->leading)
        pthread_cond_wait(&l->changed, &l->lock);
    l->leading = 1;
    pthread_mutex_unlock(&l->lock);
}

void live_unlead(Live *l)
{
    pthread_mutex_lock(&l->lock);
    l->leading = 0;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

/* ---- relations ----------------------------------------------------------------------------------------------------------- */

static Relation *relation_new(int64_t id)
{
    Arena *a = arena_create();
    Relation *r = arena_new(a, Relation);
    r->id = id;
    r->a = a;
    return r;
}

static void relation_free(Relation *r)
{
    arena_destroy(r->view_arena);
    free(r->error);
    free(r->readers.p);
    arena_destroy(r->a);
}

void relation_error(Live *l, Relation *r, const Error *why)
{
    Error *e = why ? malloc(sizeof *e) : NULL;

    if (why && !e)
        abort();
    if (why)
        *e = *why;
    pthread_mutex_lock(&l->lock);
    free(r->error);
    r->error = e;
    pthread_mutex_unlock(&l->lock);
}

static void register_relation(Live *l, Relation *r)
{
    pthread_mutex_lock(&l->lock);
    r->changed = l->now;
    r->timed = live_is_timed(l, r);
    l->ordered = 0;
    vec_push(l->a, &l->rels, r);
    for (size_t i = l->rels.n - 1; i > 0 && l->rels.p[i - 1]->id > r->id; i--) {
        l->rels.p[i] = l->rels.p[i - 1];
        l->rels.p[i - 1] = r;
    }
    pthread_mutex_unlock(&l->lock);
}

static void unregister(Live *l, Relation *r)
{
    pthread_mutex_lock(&l->lock);
    size_t k = 0;
    l->ordered = 0;
    for (size_t i = 0; i < l->rels.n; i++)
        if (l->rels.p[i] != r)
            l->rels.p[k++] = l->rels.p[i];
    l->rels.n = k;
    watch_forget(l, r->id);
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    relation_free(r);
}

static void copy_columns(Relation *r, const LiveColumns *cols)
{
    for (size_t i = 0; i < cols->n; i++) {
        LiveColumn c = { .engine = str_dup(r->a, cols->p[i].engine), .not_null = cols->p[i].not_null, .type = cols->p[i].type };
        vec_push(r->a, &r->cols, c);
    }
}

static void column_sql(StrBuf *b, Arena *a, Str name, const DataType *t, int not_null)
{
    if (b->p[b->n - 1] != '(')
        sb_addc(b, ", ");
    sql_ident(b, name);
    sb_fmt(b, " " STR_FMT "%s", STR_ARG(data_type_sql(a, t)), not_null ? " NOT NULL" : "");
}

Str live_create_sql(Arena *a, const Relation *r)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "CREATE TABLE " STR_FMT " (", STR_ARG(live_table(a, r->id)));
    for (size_t i = 0; i < r->cols.n; i++)
        column_sql(&b, a, r->cols.p[i].engine, &r->cols.p[i].type, r->cols.p[i].not_null);
    for (size_t i = 0; r->view && i < ivm_hidden(r->view)->n; i++)
        column_sql(&b, a, ivm_hidden(r->view)->p[i].engine, &ivm_hidden(r->view)->p[i].type, 0);
    sb_addc(&b, ")");
    return sb_str(&b);
}

#define GIVEN_UP "the engine does not take its delta plan"

/* Types hold pointers of the caller's: the file has them again, by name. */
static Status own_types(Live *l, Relation *r, Error *err)
{
    DuckColumns cols = {0};

    TRY(duck_describe(l->conn, r->a, str_fmt(r->a, "SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(live_columns_sql(r->a, &r->cols, "")), STR_ARG(live_table(r->a, r->id))), &cols, err));
    for (size_t i = 0; i < cols.n && i < r->cols.n; i++)
        r->cols.p[i].type = cols.p[i].type;
    return OK;
}

static Status make_table(Live *l, Relation *r, Error *err)
{
    TRY(live_exec(l, live_create_sql(r->a, r), err));
    Status s = own_types(l, r, err);
    Error ignored;
    if (s != OK)
        (void)!live_exec(l, str_fmt(r->a, "DROP TABLE " STR_FMT, STR_ARG(live_table(r->a, r->id))), &ignored);
    return s;
}

static Status table_create(Live *l, Relation *r, Error *err)
{
    if (live_find(l, r->id))
        return FAIL(err, E_EXISTS, "relation %lld exists", (long long)r->id);
    if (l->rels.n >= RELATIONS_MAX)
        return FAIL(err, E_LIMIT, "there are %d relations: no more fit", RELATIONS_MAX);
    return make_table(l, r, err);
}

Status live_table_create(Live *l, int64_t id, const LiveColumns *cols, Error *err)
{
    Relation *r = relation_new(id);

    copy_columns(r, cols);
    live_lead(l);
    Status s = table_create(l, r, err);
    if (s == OK)
        register_relation(l, r);
    live_unlead(l);
    if (s != OK)
        relation_free(r);
    return s;
}

/* A table of an earlier start. */
static Status table_keep(Live *l, int64_t id, Error *err)
{
    Relation *r = relation_new(id);
    DuckColumns cols = {0};

    Status s = duck_describe(l->conn, r->a, str_fmt(r->a, "SELECT * FROM " STR_FMT, STR_ARG(live_table(r->a, id))), &cols, err);
    for (size_t i = 0; s == OK && i < cols.n; i++) {
        LiveColumn c = { .engine = cols.p[i].name, .type = cols.p[i].type };
        vec_push(r->a, &r->cols, c);
    }
    if (s == OK)
        register_relation(l, r);
    else
        relation_free(r);
    return s;
}

/* ---- views ---------------------------------------------------------------------------------------------------------------- */

Status live_find_sources(Live *l, Relation *r, Error *err)
{
    for (size_t i = 0; i < ivm_nsources(r->view); i++) {
        Str id = ivm_source(r->view, i)->id;
        int64_t n;
        if (!str_starts(id, S("live:")) || !str_to_i64(str_from(id, 5), &n) || !live_find(l, n))
            return FAIL(err, E_INVALID, "a continuous view can read only internal tables, sources and views, not " STR_FMT, STR_ARG(ivm_source(r->view, i)->display));
        vec_push(r->a, &r->sources, n);
    }
    return OK;
}

static void view_columns(Relation *r)
{
    const IvmColumns *v = ivm_visible(r->view);
    for (size_t i = 0; i < v->n; i++) {
        LiveColumn c = { .engine = v->p[i].engine, .type = v->p[i].type };
        vec_push(r->a, &r->cols, c);
    }
}

static bool beyond_engine(const Relation *r, Status s)
{
    return ivm_shape(r->view) != IVM_FULL_ONLY && (s == E_INTERNAL || s == E_UNSUPPORTED || s == E_SYNTAX);
}

static Status fill_view(Live *l, Relation *r, const LiveViewOptions *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Tick t = { .l = l, .a = a, .fill = r };
    Error ignored;

    TRY(make_table(l, r, err));
    Status s = tick_run(&t, err);
    if (beyond_engine(r, s) && !ivm_inner(r->view)->n) {                           /* the plan's text, or the query itself? */
        ivm_give_up(r->view, S(GIVEN_UP));
        TRY(live_exec(l, str_fmt(a, "DROP TABLE " STR_FMT, STR_ARG(live_table(a, r->id))), err));
        TRY(make_table(l, r, err));
        t = (Tick){ .l = l, .a = a, .fill = r };
        s = tick_run(&t, err);
    }
    if (o->errors_stay && (s == E_DIVISION || s == E_OVERFLOW || s == E_INVALID)) {
        relation_error(l, r, err);
        return OK;
    }
    if (s != OK)
        (void)!live_exec(l, str_fmt(a, "DROP TABLE " STR_FMT, STR_ARG(live_table(a, r->id))), &ignored);
    return s;
}

/* Are these just the hidden columns that the view keeps? Another release may have kept others. */
static bool are_hidden(const Relation *r, const DuckColumns *stored)
{
    const IvmColumns *hidden = ivm_hidden(r->view);

    if (stored->n != r->cols.n + hidden->n)
        return false;
    for (size_t i = 0; i < hidden->n; i++)
        if (!str_eq(stored->p[r->cols.n + i].name, hidden->p[i].engine))
            return false;
    return true;
}

/* A view that was given up when it was made still is. Where the file has not what the view keeps, its table becomes another one; who reads it sees no change. */
static Status fit_table(Live *l, Relation *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    DuckColumns stored = {0};

    TRY(duck_describe(l->conn, a, str_fmt(a, "SELECT * FROM " STR_FMT, STR_ARG(live_table(a, r->id))), &stored, err));
    if (ivm_hidden(r->view)->n && stored.n == r->cols.n && !ivm_inner(r->view)->n)
        ivm_give_up(r->view, S(GIVEN_UP));
    if (are_hidden(r, &stored))
        return OK;
    Tick t = { .l = l, .a = a, .replace = r, .fill = r, .replaced = live_create_sql(a, r) };
    Status s = tick_run(&t, err);
    tick_forget_views(l);
    return s;
}

static Status add_view(Live *l, Relation *r, const LiveViewOptions *o, Error *err)
{
    Relation *kept = live_find(l, r->id);

    TRY(live_find_sources(l, r, err));
    view_columns(r);
    if (o->fill == LIVE_KEEP && kept && !kept->view) {   /* it was found in the file as a table; its types are those */
        TRY(own_types(l, r, err));
        TRY(fit_table(l, r, err));
        r->readers.p = kept->readers.p;
        r->readers.n = kept->readers.n;
        r->readers.cap = kept->readers.cap;
        kept->readers.p = NULL;
        unregister(l, kept);
        return OK;
    }
    if (kept)
        return FAIL(err, E_EXISTS, "relation %lld exists", (long long)r->id);
    return fill_view(l, r, o, err);
}

Status live_view_add(Live *l, int64_t id, Arena *owned, IvmView *view, LiveFill fill, Error *err)
{
    LiveViewOptions o = { .fill = fill };
    return live_view_add_with(l, id, owned, view, &o, err);
}

void live_set_asserts(Relation *r, const LiveViewOptions *o)
{
    r->asserts.n = 0;
    for (size_t i = 0; i < o->nasserts; i++) {
        LiveAssert x = { str_dup(r->a, o->asserts[i].engine), str_dup(r->a, o->asserts[i].message) };
        vec_push(r->a, &r->asserts, x);
    }
}

Status live_add_led(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, Error *err)
{
    Relation *r = relation_new(id);

    r->view = view;
    live_set_asserts(r, o);
    Status s = add_view(l, r, o, err);
    if (s != OK) {
        relation_free(r);
        return s;
    }
    r->view_arena = owned;
    register_relation(l, r);
    l->counts.views += !live_is_inner(id);
    if (ivm_uses_now(view))
        time_begin(l);
    return OK;
}

/* Over inner views where that can be, else as it is. */
static Status add_with_inners(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, Error *err)
{
    IvmView *arranged = live_inners_make(l, id, owned, view);

    if (arranged && live_add_led(l, id, owned, arranged, o, err) == OK) {
        live_inners_keep(l, id, arranged);
        return OK;
    }
    live_inners_keep(l, id, NULL);
    return live_add_led(l, id, owned, view, o, err);
}

Status live_view_add_with(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, Error *err)
{
    live_lead(l);
    Status s = add_with_inners(l, id, owned, view, o, err);
    live_unlead(l);
    return s;
}

/* ---- dropping ------------------------------------------------------------------------------------------------------------- */

static bool among(const int64_t *ids, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static Status check_drop(Live *l, const int64_t *ids, size_t n, Error *err)
{
    for (size_t i = 0; i < l->rels.n; i++) {
        const Relation *r = l->rels.p[i];
        if (among(ids, n, r->id))
            continue;
        for (size_t k = 0; k < r->sources.n; k++)
            if (among(ids, n, r->sources.p[k]))
                return FAIL(err, E_CONFLICT, "relation %lld is read by view %lld", (long long)r->sources.p[k], (long long)r->id);
    }
    return OK;
}

static Status drop_all(Live *l, const int64_t *ids, size_t n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);

    TRY(check_drop(l, ids, n, err));
    for (size_t i = 0; i < n; i++)
        sb_fmt(&b, "%sDROP TABLE IF EXISTS " STR_FMT "; DROP TABLE IF EXISTS " STR_FMT, i ? "; " : "", STR_ARG(live_table(a, ids[i])), STR_ARG(live_log_table(a, ids[i])));
    return n ? live_together(l, sb_str(&b), err) : OK;
}

Status live_drop_led(Live *l, const int64_t *ids, size_t n, Error *err)
{
    TRY(drop_all(l, ids, n, err));
    for (size_t i = 0; i < n; i++) {
        Relation *r = live_find(l, ids[i]);
        if (!r)
            continue;
        l->counts.views -= r->view != NULL && !live_is_inner(r->id);
        unregister(l, r);
    }
    return OK;
}

Status live_drop(Live *l, const int64_t *ids, size_t n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Inners all = {0};

    live_lead(l);
    for (size_t i = 0; i < n; i++) {
        vec_push(a, &all, ids[i]);
        live_inners_of(l, a, ids[i], &all);
    }
    Status s = live_drop_led(l, all.p, all.n, err);
    live_unlead(l);
    return s;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------------- */

Status live_relation_sql(Live *l, Arena *a, int64_t id, Str *ret, Error *err)
{
    Status s = OK;

    pthread_mutex_lock(&l->lock);
    const Relation *r = live_find(l, id);
    if (!r)
        s = FAIL(err, E_NOT_FOUND, "relation %lld does not exist", (long long)id);
    else if (r->error) {
        *err = *r->error;
        s = err->code;
    } else
        *ret = str_fmt(a, "(SELECT " STR_FMT " FROM " STR_FMT ")", STR_ARG(live_columns_sql(a, &r->cols, "")), STR_ARG(live_table(a, id)));
    pthread_mutex_unlock(&l->lock);
    return s;
}

bool relation_reads(const Relation *r, int64_t id)
{
    for (size_t i = 0; i < r->sources.n; i++)
        if (r->sources.p[i] == id)
            return true;
    return false;
}

/* Each view stands behind those that it reads: one pass is enough. Views become well by a tick of their own (live_view.c). */
static void fail_from(Live *l, Relation *table, const Error *why)
{
    Relation *broken[1 + RELATION_READERS_MAX];
    size_t n = 1;

    broken[0] = table;
    relation_error(l, table, why);
    live_order(l);
    for (size_t i = 0; why && i < l->order.n && n < COUNT_OF(broken); i++)
        for (size_t k = 0; k < n; k++)
            if (relation_reads(l->order.p[i], broken[k]->id)) {
                relation_error(l, l->order.p[i], why);
                broken[n++] = l->order.p[i];
                break;
            }
}

/* What reads it has its error until it is computed anew: no row may come. */
static void heal_from(Live *l, const Relation *table)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    struct { int64_t *p; size_t n, cap; } well = {0};
    Error ignored;

    vec_push(a, &well, table->id);
    live_order(l);
    for (size_t i = 0; i < l->order.n; i++) {
        Relation *r = l->order.p[i];
        bool reads = false;
        for (size_t k = 0; k < well.n; k++)
            reads |= relation_reads(r, well.p[k]);
        if (!reads || !r->error || r->paused)
            continue;
        Tick t = { .l = l, .a = a, .refresh = r };
        (void)!tick_run(&t, &ignored);                    /* its own error is its own matter */
        vec_push(a, &well, r->id);
    }
}

void live_table_fail(Live *l, int64_t id, const Error *why)
{
    live_lead(l);
    Relation *r = live_find(l, id);
    bool heals = r && !r->view && r->error && !why;
    if (r && !r->view)
        fail_from(l, r, why);
    if (heals)
        heal_from(l, r);
    live_unlead(l);
}

Str live_rows_sql(Arena *a, int64_t id) { return str_fmt(a, "(SELECT *, rowid AS __rid FROM " STR_FMT ")", STR_ARG(live_table(a, id))); }

int64_t live_now(Live *l)
{
    pthread_mutex_lock(&l->lock);
    int64_t now = l->now;
    pthread_mutex_unlock(&l->lock);
    return now;
}

LiveCounts live_counts(Live *l)
{
    pthread_mutex_lock(&l->lock);
    LiveCounts c = l->counts;
    c.broken = 0;
    for (size_t i = 0; i < l->rels.n; i++)
        c.broken += l->rels.p[i]->error != NULL && !live_is_inner(l->rels.p[i]->id);
    pthread_mutex_unlock(&l->lock);
    return c;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------ */

static Status read_clock(Live *l, Error *err)
{
    bool has = false;

    TRY(live_exec(l, S("CREATE TABLE IF NOT EXISTS live.clock (clock_end BIGINT); CREATE TABLE IF NOT EXISTS live.readers (id BIGINT, reader VARCHAR, done BIGINT)"), err));
    TRY(duck_scalar_i64(l->conn, S("SELECT max(clock_end) FROM live.clock"), &l->clock_end, &has, err));
    l->now = has ? l->clock_end : clock_ms();         /* (2) */
    return OK;
}

/* (1): tables r<id> of the file that are known stay, others go. */
static Status sweep(Live *l, const LiveSetup *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    StrVec names = {0};
    size_t n;

    TRY(duck_query_held(l->conn, S("SELECT table_name FROM duckdb_tables() WHERE database_name = 'live' AND regexp_full_match(table_name, 'r[0-9]+') ORDER BY CAST(table_name[2:] AS BIGINT)"), &r, err));
    do {
        TRY(duck_next(r, &n, err));
        for (size_t i = 0; i < n; i++)
            vec_push(a, &names, str_dup(a, duck_value(a, r, 0, i).string));
    } while (n);
    for (size_t i = 0; i < names.n; i++) {
        int64_t id = 0;
        str_to_i64(str_from(names.p[i], 1), &id);
        if (!o->keep || o->keep(o->ctx, live_owner(id)))
            TRY(table_keep(l, id, err));
        else
            TRY(live_exec(l, str_fmt(a, "DROP TABLE " STR_FMT "; DROP TABLE IF EXISTS " STR_FMT, STR_ARG(live_table(a, id)), STR_ARG(live_log_table(a, id))), err));
    }
    return OK;
}

static Status open_file(Live *l, const LiveSetup *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    TRY(duck_connect(o->engine, &l->conn, err));
    TRY_CTX(live_exec(l, str_fmt(a, "ATTACH " STR_FMT " AS live (STORAGE_VERSION 'latest')", STR_ARG(sql_lit_str(a, o->path))), err), err, "live tables");
    TRY(live_exec(l, S("ATTACH ':memory:' AS stage"), err));
    TRY(read_clock(l, err));
    TRY(sweep(l, o, err));
    TRY(notes_open(l, err));
    TRY(statuses_open(l, err));
    return log_open(l, err);
}

Status live_open(const LiveSetup *o, Live **ret, Error *err)
{
    Live *l = calloc(1, sizeof *l);

    if (!l)
        abort();
    l->a = arena_create();
    l->engine = o->engine;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    Status s = open_file(l, o, err);
    if (s != OK) {
        live_close(l);
        return s;
    }
    *ret = l;
    return OK;
}

/* What was reserved and not used is given back: the next start begins where this one ends. */
static void give_clock_back(Live *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error ignored;

    if (l->clock_end > l->now)
        (void)!live_together(l, str_fmt(a, "DELETE FROM live.clock; INSERT INTO live.clock VALUES (%lld)", (long long)l->now), &ignored);
}

void live_close(Live *l)
{
    Error ignored;

    if (!l)
        return;
    time_end(l);
    if (l->conn) {
        statuses_flush(l);
        give_clock_back(l);
    }
    if (l->conn)
        (void)!live_exec(l, S("DETACH live; DETACH stage"), &ignored);      /* writes the log into the file */
    duck_disconnect(l->conn);
    for (size_t i = 0; i < l->rels.n; i++)
        relation_free(l->rels.p[i]);
    notes_free(l);
    statuses_free(l);
    tick_forget_views(l);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->changed);
    arena_destroy(l->a);
    free(l);
}

Status live_reset(Live *l, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    struct { int64_t *p; size_t n, cap; } ids = {0};

    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->rels.n; i++)
        vec_push(a, &ids, l->rels.p[i]->id);
    pthread_mutex_unlock(&l->lock);
    TRY(live_drop(l, ids.p, ids.n, err));
    statuses_reset(l);
    return notes_reset(l, err);
}
