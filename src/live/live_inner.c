/* SPDX-License-Identifier: Apache-2.0 */
/* live_inner.c - the inner views of a view: aggregates below its top, kept as relations of their own (ivm_arranged).
 *
 * An inner view is a relation like any other that the view reads; nobody has a name for it.  Its number says whose it is and which, and what it holds, so that a table of an
 * earlier start, or of the query that stood there before, is taken over just when it is the same.
 * What cannot be made leaves the view without inner ones. */
#include "live/live_int.h"

enum { OWNER_BITS = 32, PLACE_BITS = 5, WHAT_BITS = 26 };

int64_t live_owner(int64_t id) { return id & (((int64_t)1 << OWNER_BITS) - 1); }
bool live_is_inner(int64_t id) { return id >> OWNER_BITS != 0; }

static uint64_t mix(uint64_t h, Str s)
{
    for (size_t i = 0; i < s.n; i++)
        h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3ull;
    return (h ^ 0xff) * 0x100000001b3ull;
}

/* What it holds: its rows, its columns, and what it reads them from. */
static uint64_t what_it_is(const IvmInner *x)
{
    uint64_t h = mix(0xcbf29ce484222325ull, x->text);

    for (size_t i = 0; i < ivm_nsources(x->view); i++)
        h = mix(h, ivm_source(x->view, i)->id);
    for (size_t i = 0; i < ivm_hidden(x->view)->n; i++)
        h = mix(h, ivm_hidden(x->view)->p[i].engine);
    return h ^ h >> 32;
}

static int64_t number_of(int64_t owner, size_t place, const IvmInner *x)
{
    int64_t what = (int64_t)(what_it_is(x) & (((uint64_t)1 << WHAT_BITS) - 1));
    return owner | (int64_t)(place + 1) << OWNER_BITS | what << (OWNER_BITS + PLACE_BITS);
}

static bool is_of(const IvmView *v, int64_t id)
{
    for (size_t i = 0; v && i < ivm_inner(v)->n; i++) {
        int64_t n;
        if (str_to_i64(str_from(ivm_inner(v)->p[i].table->id, 5), &n) && n == id)
            return true;
    }
    return false;
}

void live_inners_of(Live *l, Arena *a, int64_t owner, Inners *ret)
{
    for (size_t i = 0; i < l->rels.n; i++)
        if (live_is_inner(l->rels.p[i]->id) && live_owner(l->rels.p[i]->id) == owner)
            vec_push(a, ret, l->rels.p[i]->id);
}

void live_inners_keep(Live *l, int64_t owner, const IvmView *v)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Inners all = {0}, gone = {0};
    Error ignored;

    live_inners_of(l, a, owner, &all);
    for vec_each(int64_t, id, &all)
        if (!is_of(v, *id))
            vec_push(a, &gone, *id);
    if (live_drop_led(l, gone.p, gone.n, &ignored) != OK)      /* the next start tries again */
        log_error(&ignored, "what a view does not need any more is kept", NULL);
    for (size_t i = 0; v && i < ivm_inner(v)->n; i++) {
        int64_t n;
        Relation *r = str_to_i64(str_from(ivm_inner(v)->p[i].table->id, 5), &n) ? live_find(l, n) : NULL;
        if (r)
            r->view = ivm_inner(v)->p[i].view;                 /* the same, but of the arena that stays */
    }
}

static Status make(Live *l, int64_t owner, Arena *owned, const IvmInner *x, size_t place, Error *err)
{
    int64_t id = number_of(owner, place, x);
    LiveViewOptions o = { .fill = LIVE_FILL };

    x->table->id = live_source_id(owned, id);
    const Relation *there = live_find(l, id);
    if (there && there->view)
        return OK;
    if (there)
        o.fill = LIVE_KEEP;
    return live_add_led(l, id, NULL, x->view, &o, err);
}

IvmView *live_inners_make(Live *l, int64_t owner, Arena *owned, const IvmView *view)
{
    IvmView *v = ivm_arranged(view);
    Error why;

    if (!v || live_is_inner(owner) || ivm_inner(v)->n >= 1 << PLACE_BITS)
        return NULL;
    for (size_t i = 0; i < ivm_inner(v)->n; i++)
        if (make(l, owner, owned, &ivm_inner(v)->p[i], i, &why) != OK)
            return NULL;
    return v;
}
