/* SPDX-License-Identifier: Apache-2.0 */
/* live_alter.c - relations that change while they live: another column, a view that pauses, goes on, or follows only when it is told to.
 *
 * A paused view takes no part in ticks: its rows are those of the moment it paused.  When it goes on, and when a held one is refreshed, it is computed whole and replaced; its
 * change is the difference, so what reads it follows as ever. */
#include "live/live_int.h"

bool live_has(Live *l, int64_t id)
{
    pthread_mutex_lock(&l->lock);
    bool has = live_find(l, id) != NULL;
    pthread_mutex_unlock(&l->lock);
    return has;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------ */

static Status widen(Live *l, Arena *a, const Relation *r, const LiveColumn *c, Error *err)
{
    StrBuf b = sb_new(a);
    Str name = sql_ident_str(a, c->engine), type = data_type_sql(a, &c->type);

    sb_fmt(&b, "ALTER TABLE " STR_FMT " ADD COLUMN " STR_FMT " " STR_FMT, STR_ARG(live_table(a, r->id)), STR_ARG(name), STR_ARG(type));
    if (r->readers.n)
        sb_fmt(&b, "; ALTER TABLE " STR_FMT " ADD COLUMN " STR_FMT " " STR_FMT, STR_ARG(live_log_table(a, r->id)), STR_ARG(name), STR_ARG(type));
    return live_together(l, sb_str(&b), err);
}

static Status add_column(Live *l, int64_t id, const LiveColumn *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Relation *r = live_find(l, id);
    DuckColumns cols = {0};

    if (!r || r->view)
        return FAIL(err, E_NOT_FOUND, "there is no table %lld", (long long)id);
    TRY(widen(l, a, r, c, err));
    tick_forget_views(l);                                 /* those over it have its old columns */
    TRY(duck_describe(l->conn, r->a, str_fmt(a, "SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(sql_ident_str(a, c->engine)), STR_ARG(live_table(a, id))), &cols, err));
    LiveColumn mine = { .engine = str_dup(r->a, c->engine), .type = cols.p[0].type };
    pthread_mutex_lock(&l->lock);
    vec_push(r->a, &r->cols, mine);
    pthread_mutex_unlock(&l->lock);
    return OK;
}

Status live_table_add_column(Live *l, int64_t id, const LiveColumn *c, Error *err)
{
    live_lead(l);
    Status s = add_column(l, id, c, err);
    live_unlead(l);
    return s;
}

/* ---- pauses --------------------------------------------------------------------------------------------------------------------- */

/* With those that it alone reads. */
static void pause(Live *l, Relation *r)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Inners inner = {0};

    r->paused = 1;
    live_inners_of(l, a, r->id, &inner);
    for vec_each(int64_t, id, &inner)
        live_find(l, *id)->paused = 1;
}

void live_view_pause(Live *l, int64_t id, const Error *why)
{
    live_lead(l);
    Relation *r = live_find(l, id);
    if (r && r->view && (why || r->paused))               /* one that is told of no reason any more has none */
        relation_error(l, r, why);
    if (r && r->view)
        pause(l, r);
    live_unlead(l);
}

static Status catch_up(Live *l, Relation *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Tick t = { .l = l, .a = a, .refresh = r };
    return tick_run(&t, err);
}

static Status refresh(Live *l, int64_t id, int goes_on, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Inners inner = {0};
    Relation *r = live_find(l, id);

    if (!r || !r->view)
        return FAIL(err, E_NOT_FOUND, "there is no view %lld", (long long)id);
    live_order(l);                                        /* inner ones read earlier ones */
    for (size_t i = 0; i < l->order.n; i++)
        if (live_is_inner(l->order.p[i]->id) && live_owner(l->order.p[i]->id) == id)
            vec_push(a, &inner, l->order.p[i]->id);
    for vec_each(int64_t, x, &inner) {
        live_find(l, *x)->paused &= !goes_on;
        TRY(catch_up(l, live_find(l, *x), err));
    }
    if (goes_on)
        r->paused = 0;
    return catch_up(l, r, err);
}

Status live_view_resume(Live *l, int64_t id, Error *err)
{
    live_lead(l);
    Status s = refresh(l, id, 1, err);
    live_unlead(l);
    return s;
}

Status live_view_refresh(Live *l, int64_t id, Error *err)
{
    live_lead(l);
    Status s = refresh(l, id, 0, err);
    live_unlead(l);
    return s;
}
