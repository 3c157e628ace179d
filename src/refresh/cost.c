/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - is a full refresh cheaper?
 *
 * The unit is a source row read by a full refresh; the weights were measured by bench/ (bench/README.md).  A changed row costs more
 * than one that is only read: it is looked up in the view and written.  A plan that recomputes affected keys reads the sources
 * for them, and each changed row draws the other rows of its key along.  Below SURE rows both ways take moments, and only a
 * change of most rows makes a refresh full. */
#include "refresh/refresh_int.h"

static const double
    PER_CHANGE = 8,                   /* joined, grouped, met with the stored row */
    PER_STORED = 20,                  /* a stored row that goes and comes: at most one a changed row */
    PER_WRITTEN = 4,                  /* a row of the view written by a full refresh */
    OTHERS = 0.05,                    /* share of the sources that the joins of a change read */
    AFFECTED = 0.4,                   /* the same where keys are recomputed */
    DRAWN = 72;                       /* rows of a changed row's key */
enum { SURE = 1000 * 1000 };

int64_t snapshot_total(const IceSnapshot *s, Str key)
{
    int64_t n = 0;
    return s && str_to_i64(props_get(&s->summary, key, (Str){0}), &n) ? n : 0;
}

static bool recomputes(const IvmPlan *p)
{
    for (size_t i = 0; i < p->steps.n; i++)
        if (str_starts(p->steps.p[i].name, S("ivm_k")) || str_starts(p->steps.p[i].name, S("ivm_r")))
            return true;
    return false;
}

static double incremental_cost(const Job *j, const IvmPlan *p, double changed, double total, double stored)
{
    double cost = PER_CHANGE * changed + PER_STORED * (changed < stored ? changed : stored);
    if (ivm_nsources(j->bound.view) > 1)
        cost += OTHERS * total;
    if (recomputes(p))
        cost += AFFECTED * total + DRAWN * changed;
    return cost;
}

Status job_full_is_cheaper(Job *j, int64_t changed, int *ret, Str *why, Error *err)
{
    double total = 0, stored = (double)snapshot_total(ice_current_snapshot(j->table.meta), S("total-records")), share = j->r->options.full_share;
    IvmPlan *p;

    for (size_t i = 0; i < j->bound.sources.n; i++)
        total += (double)j->changes[i].rows;
    *ret = total > 1000 && (double)changed > share * total;
    if (!*ret && total >= SURE) {
        TRY(ivm_plan(j->a, j->bound.view, j->changes, &p, err));
        *ret = incremental_cost(j, p, (double)changed, total, stored) > (total + PER_WRITTEN * stored) * share * 2;
    }
    *why = str_fmt(j->a, "cost: up to %lld of %.0f source rows changed, a full refresh is cheaper", (long long)changed, total);
    return OK;
}
