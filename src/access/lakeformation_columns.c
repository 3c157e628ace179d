/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_columns.c - which columns of a table a principal may select.
 *
 * Grants of names, grants of all but names, and tags of single columns are put together; SELECT on the table, on all tables of its database or by
 * the table's own tags gives every column but those whose own tags take it back. */
#include "access/lakeformation_int.h"

static bool has_name(const StrVec *v, Str name)
{
    for vec_each(Str, s, v)
        if (str_ieq(*s, name))
            return true;
    return false;
}

bool lf_column_allowed(const LfColumns *c, Str name)
{
    return c->all || has_name(&c->only, name) || (c->has_but && !has_name(&c->but, name));
}

/* All but x or all but y: all but what is in both. */
static void widen_but(Arena *a, LfColumns *c, const StrVec *but)
{
    StrVec both = {0};

    for vec_each(Str, s, but)
        if (!c->has_but || has_name(&c->but, *s))
            vec_push(a, &both, *s);
    c->has_but = 1;
    c->but = both;
}

static void take_entry(Arena *a, const LfEntry *e, LfColumns *c)
{
    if (!(lf_expand(LF_TABLE, e->permissions) & LF_SELECT))
        return;
    if (e->part == LF_ONLY)
        for vec_each(Str, s, &e->names)
            vec_push(a, &c->only, *s);
    else if (e->part == LF_BUT)
        widen_but(a, c, &e->names);
    else
        c->all = 1;
}

static void take_doc(Arena *a, const LfDoc *d, const StrVec *who, LfColumns *c)
{
    for vec_each(LfEntry, e, &d->entries)
        if (strvec_has(who, e->principal))
            take_entry(a, e, c);
}

/* Columns with tags of their own are judged by those; the others go with the table. */
static Status take_tags(Access *x, Arena *a, const StrVec *who, const LfResource *t, LfColumns *c, Error *err)
{
    uint32_t table = 0, ignored = 0;
    StrVec tagged = {0}, denied = {0};

    TRY(lf_by_tags(x, a, who, t, (Str){0}, &table, &ignored, err));
    TRY(lf_tagged_columns(x, a, t, &tagged, err));
    for vec_each(Str, name, &tagged) {
        uint32_t bits = 0;
        TRY(lf_by_tags(x, a, who, t, *name, &bits, &ignored, err));
        if (lf_expand(LF_TABLE, bits) & LF_SELECT)
            vec_push(a, &c->only, *name);
        else
            vec_push(a, &denied, *name);
    }
    if (!(lf_expand(LF_TABLE, table) & LF_SELECT))
        return OK;
    if (denied.n)
        widen_but(a, c, &denied);
    else
        c->all = 1;
    return OK;
}

Status lf_columns(Access *x, Arena *a, const Principal *p, Str catalog, Str ns, Str table, LfColumns *ret, Error *err)
{
    LfResource t = { .kind = LF_TABLE, .catalog = catalog, .database = ns, .table = table }, wild = { .kind = LF_TABLE, .catalog = catalog, .database = ns, .wildcard = 1 };
    StrVec who = {0};
    LfDoc d;
    int there;

    *ret = (LfColumns){0};
    TRY(lf_load(x, a, &t, &d, &there, err));
    if (p->kind == PR_ROOT || p->kind == PR_SYSTEM || !there) {
        ret->all = 1;
        return OK;
    }
    lf_identities(x, a, p, &who);
    take_doc(a, &d, &who, ret);
    TRY(lf_load(x, a, &wild, &d, &there, err));
    take_doc(a, &d, &who, ret);
    if (!ret->all)
        TRY(take_tags(x, a, &who, &t, ret, err));
    if (ret->has_but && !ret->but.n)
        ret->all = 1;
    return OK;
}

Status lf_whole_table(Access *x, Arena *a, const Principal *p, const CatRelation *r, Error *err)
{
    LfColumns may;

    TRY(lf_columns(x, a, p, r->catalog, r->namespace, r->name, &may, err));
    return may.all ? OK : FAIL(err, E_DENIED, "Insufficient Lake Formation permission(s): Required Select on every column of " STR_FMT, STR_ARG(r->name));
}
