/* SPDX-License-Identifier: Apache-2.0 */
/* live_replace.c - another query behind a view's rows; the order in which views follow.
 *
 * The view keeps its number, its log and its readers; its table becomes another one when the new query keeps other hidden state, and its change is the difference of the visible
 * rows.  So the new query may read younger relations than the view: order is that of reading, not of numbers. */
#include "live/live_int.h"

/* ---- order -------------------------------------------------------------------------------------------------------------------- */

typedef struct Placed { bool *done; size_t left; } Placed;      /* by place in rels */

static bool is_ready(const Live *l, const Relation *r, const Placed *p)
{
    for (size_t i = 0; i < r->sources.n; i++) {
        size_t at = live_rel_place(l, r->sources.p[i]);
        if (at < l->rels.n && l->rels.p[at]->id == r->sources.p[i] && !p->done[at])
            return false;
    }
    return true;
}

static size_t place_ready(Live *l, Placed *p, bool all)
{
    size_t placed = 0;

    for (size_t i = 0; i < l->rels.n; i++) {
        Relation *r = l->rels.p[i];
        if (p->done[i] || (r->view && !all && !is_ready(l, r, p)))
            continue;
        p->done[i] = true;
        placed++;
        if (r->view)
            vec_push(l->a, &l->order, r);
    }
    return placed;
}

bool live_is_timed(Live *l, const Relation *r)
{
    bool timed = r->view && ivm_uses_now(r->view);

    for (size_t i = 0; !timed && i < r->sources.n; i++) {
        const Relation *s = live_find(l, r->sources.p[i]);
        timed = s && s->timed;
    }
    return timed;
}

/* Views stand nearly always in order of their numbers: then one round places all. */
void live_order(Live *l)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (l->ordered)
        return;
    Placed p = { .done = arena_array(a, bool, l->rels.n + 1), .left = l->rels.n };
    memset(p.done, 0, l->rels.n * sizeof *p.done);
    l->order.n = 0;
    while (p.left) {
        size_t placed = place_ready(l, &p, false);
        p.left -= placed ? placed : place_ready(l, &p, true);
    }
    l->ordered = 1;
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->order.n; i++)
        l->order.p[i]->timed = live_is_timed(l, l->order.p[i]);
    pthread_mutex_unlock(&l->lock);
}

/* ---- replacing ------------------------------------------------------------------------------------------------------------------ */

static Status same_columns(const Relation *r, const IvmView *view, Error *err)
{
    const IvmColumns *v = ivm_visible(view);
    bool same = v->n == r->cols.n;

    for (size_t i = 0; same && i < v->n; i++)
        same = str_eq(v->p[i].engine, r->cols.p[i].engine) && data_type_equal(&v->p[i].type, &r->cols.p[i].type);
    return same ? OK : FAIL(err, E_INVALID, "the columns of a view's new query are not those of its old one");
}

/* What the relation is with the new query: the old parts until the tick is done. */
typedef struct Old { IvmView *view; Arena *arena; int64_t *sources; LiveAssert *asserts; size_t nsources, nasserts; Whole whole; int64_t time; } Old;

static Old take_new(Relation *r, Arena *owned, IvmView *view, const LiveViewOptions *o)
{
    Old old = { .view = r->view, .arena = r->view_arena, .sources = r->sources.p, .nsources = r->sources.n, .asserts = r->asserts.p, .nasserts = r->asserts.n, .whole = r->whole,
                .time = r->time };

    r->view = view;
    r->view_arena = owned;
    r->sources.p = NULL;
    r->sources.n = r->sources.cap = 0;
    r->asserts.p = NULL;
    r->asserts.n = r->asserts.cap = 0;
    live_set_asserts(r, o);
    r->whole = WHOLE_NO;
    r->time = 0;
    return old;
}

static void take_back(Relation *r, const Old *old)
{
    r->view = old->view;
    r->view_arena = old->arena;
    r->sources.p = old->sources;
    r->sources.n = r->sources.cap = old->nsources;
    r->asserts.p = old->asserts;
    r->asserts.n = r->asserts.cap = old->nasserts;
    r->whole = old->whole;
    r->time = old->time;
}

static Status run_replace(Live *l, Relation *r, const LiveNote *note, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    TRY(live_find_sources(l, r, err));
    for (size_t i = 0; i < r->sources.n; i++)
        if (r->sources.p[i] == r->id)
            return FAIL(err, E_INVALID, "a view cannot read itself");
    l->ordered = 0;
    Tick t = { .l = l, .a = a, .replace = r, .replaced = live_create_sql(a, r), .extra_notes = note, .nextra_notes = 1 };
    Status s = tick_run(&t, err);
    tick_forget_views(l);                                 /* those over it have its old table */
    return s;
}

/* A table of an earlier start has the view's hidden columns as its own. */
static void columns_of(Live *l, Relation *r, const IvmView *view)
{
    const IvmColumns *v = ivm_visible(view);

    pthread_mutex_lock(&l->lock);
    r->cols.n = 0;
    for (size_t i = 0; i < v->n; i++) {
        LiveColumn c = { .engine = v->p[i].engine, .type = v->p[i].type };
        vec_push(r->a, &r->cols, c);
    }
    pthread_mutex_unlock(&l->lock);
}

/* They lay in the arena that goes. */
static void keep_names(Live *l, Relation *r)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < r->cols.n; i++)
        r->cols.p[i].engine = str_dup(r->a, r->cols.p[i].engine);
    pthread_mutex_unlock(&l->lock);
}

static Status replace(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, const LiveNote *note, Error *err)
{
    Relation *r = live_find(l, id);

    if (!r)
        return FAIL(err, E_NOT_FOUND, "there is no view %lld", (long long)id);
    if (r->view)
        TRY(same_columns(r, view, err));
    else
        columns_of(l, r, view);
    IvmView *arranged = live_inners_make(l, id, owned, view);
    Old old = take_new(r, owned, arranged ? arranged : view, o);
    Status s = run_replace(l, r, note, err);
    if (s != OK) {
        take_back(r, &old);
        live_inners_keep(l, id, old.view);
        l->ordered = 0;
        return s;
    }
    live_inners_keep(l, id, arranged);
    keep_names(l, r);
    l->counts.views += old.view == NULL;
    arena_destroy(old.arena);
    return OK;
}

Status live_view_replace(Live *l, int64_t id, Arena *owned, IvmView *view, const LiveViewOptions *o, const LiveNote *note, Error *err)
{
    live_lead(l);
    Status s = replace(l, id, owned, view, o, note, err);
    if (s == OK && ivm_uses_now(view))
        time_begin(l);
    live_unlead(l);
    return s;
}
