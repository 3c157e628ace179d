/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_location.c - registered locations: where tables are put by who has DATA_LOCATION_ACCESS only.
 *
 * A place belongs to the registered location that holds it; a grant on that, on the place, or on anything between and above counts.  As on AWS, who
 * may create tables in a database whose own location is there needs no more for what lies below it. */
#include "access/lakeformation_int.h"

static const char LOCATION[] = "lf.location";

static Str without_slash(Str s)
{
    while (s.n > 0 && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

static bool within(Str what, Str place)
{
    place = without_slash(place);
    return place.n > 0 && str_starts(what, place) && (what.n == place.n || what.p[place.n] == '/');
}

Status lf_registered(Access *x, Arena *a, Str arn, Str *ret, Error *err)
{
    CatDocs all = {0};

    *ret = (Str){0};
    TRY(cat_doc_list(x->catalog, a, str_c(LOCATION), (Str){0}, &all, err));
    for vec_each(CatDoc, d, &all)
        if (within(without_slash(arn), d->key) && d->key.n > ret->n)
            *ret = d->key;
    return OK;
}

static Status granted(Access *x, Arena *a, const Principal *p, Str arn, bool *ret, Error *err)
{
    LfResource r = { .kind = LF_LOCATION, .catalog = cat_account(x->catalog), .location = arn };
    Status s = lf_allowed(x, a, p, &r, LF_DATA_LOCATION, err);

    *ret = s == OK;
    return s == E_DENIED ? OK : s;
}

/* On the place itself, or on what it lies in. */
static Status granted_above(Access *x, Arena *a, const Principal *p, Str arn, bool *ret, Error *err)
{
    ptrdiff_t slash;

    arn = without_slash(arn);
    TRY(granted(x, a, p, arn, ret, err));
    while (!*ret && (slash = str_rchr(arn, '/')) > 0) {
        Str folder = str_sub(arn, 0, (size_t)slash + 1);
        arn = str_sub(arn, 0, (size_t)slash);
        TRY(granted(x, a, p, arn, ret, err));
        if (!*ret)
            TRY(granted(x, a, p, folder, ret, err));
    }
    return OK;
}

static Status by_database(Access *x, Arena *a, const Principal *p, Str uri, bool *ret, Error *err)
{
    CatNamespaces all = {0};

    TRY(cat_namespace_list(x->catalog, a, cat_account(x->catalog), (Str){0}, (CatPage){0}, &all, err));
    for (size_t i = 0; i < all.n && !*ret; i++) {
        LfResource db = { .kind = LF_DATABASE, .catalog = all.p[i].catalog, .database = all.p[i].name };
        uint32_t have = 0;
        if (!within(uri, props_get(&all.p[i].props, S("location"), (Str){0})))
            continue;
        TRY(lf_effective(x, a, p, &db, &have, err));
        *ret = (have & LF_CREATE_TABLE) != 0;
    }
    return OK;
}

Status lf_location_granted(Access *x, Arena *a, const Principal *p, Str arn, Error *err)
{
    bool ok = false;

    TRY(granted_above(x, a, p, arn, &ok, err));
    return ok ? OK : FAIL(err, E_DENIED, "Insufficient Lake Formation permission(s): Required Data Location Access on " STR_FMT, STR_ARG(arn));
}

Status lf_location_allowed(Access *x, Arena *a, const Principal *p, Str uri, Error *err)
{
    Str registered = {0};
    bool ok = false;

    if (p->kind == PR_ROOT || p->kind == PR_SYSTEM || !str_starts(uri, S("s3://")))
        return OK;
    Str arn = str_cat(a, S("arn:aws:s3:::"), str_from(uri, 5));
    TRY(lf_registered(x, a, arn, &registered, err));
    if (!registered.n)
        return OK;
    TRY(by_database(x, a, p, uri, &ok, err));
    return ok ? OK : lf_location_granted(x, a, p, arn, err);
}
