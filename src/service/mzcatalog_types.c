/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_types.c - mz_types and its kin: the users' own, and PostgreSQL's as pg_catalog has them. */
#include "service/mzcatalog_int.h"

static void built_in_type(MzFill *f, const Value *row)
{
    static const struct { char letter; const char *name; } CATEGORIES[] = { { 'A', "array" }, { 'B', "boolean" }, { 'D', "date-time" }, { 'N', "numeric" }, { 'P', "pseudo" }, { 'R', "range" },
        { 'S', "string" }, { 'T', "timespan" }, { 'U', "user-defined" }, { 'V', "bit-string" }, { 'X', "unknown" }, { 'Z', "internal" } };
    const char *category = "user-defined";
    StrVec acl = {0};

    for (size_t i = 0; i < COUNT_OF(CATEGORIES); i++)
        if (row[2].string.n && row[2].string.p[0] == CATEGORIES[i].letter)
            category = CATEGORIES[i].name;
    vec_push(f->a, &acl, S("=U/s1"));
    mz_str(f, str_fmt(f->a, "s%lld", (long long)row[0].integer));
    mz_int(f, row[0].integer);
    mz_str(f, S("s2"));
    mz_str(f, row[1].string);
    mz_str(f, str_c(category));
    mz_str(f, S("s1"));
    mz_list(f, &acl);
    mz_null(f);
    mz_null(f);
    mz_end(f);
}

static Status built_in_types(MzFill *f)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    size_t n;

    TRY(duck_query(f->r->c, S("SELECT oid, name, category FROM firn_pg_types ORDER BY oid"), &res, f->err));
    for (;;) {
        TRY(duck_next(res, &n, f->err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++) {
            Value row[3];
            for (size_t k = 0; k < COUNT_OF(row); k++)
                row[k] = duck_value(f->a, res, k, i);
            built_in_type(f, row);
        }
    }
}

static Str own_category(MzFill *f, const Object *o)
{
    const Stmt *s = mz_statement(f, o);
    return s && s->live && (str_eq(s->live->type, S("list")) || str_eq(s->live->type, S("map"))) ? s->live->type : S("composite");
}

Status mzf_types(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_TYPE)
            continue;
        mz_object_head(f, o);
        mz_str(f, own_category(f, o));
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_object_tail(f, o);
    }
    return built_in_types(f);
}

/* A type by the id of mz_types: of the user's own by name, else the built-in one. */
static Str type_id(MzFill *f, const LiveOption *o)
{
    const Object *own = o && o->names.n ? mz_object_by_name(f->w, &o->names) : NULL;
    if (own)
        return mz_id(f->a, own->id);
    return o && !o->names.n ? str_fmt(f->a, "s%u", pgcat_type_oid(&o->type)) : (Str){0};
}

Status mzf_list_types(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const Stmt *s = o->kind == OBJ_TYPE ? mz_statement(f, o) : NULL;
        if (!s || !s->live || !str_eq(s->live->type, S("list")))
            continue;
        mz_ident(f, o->id);
        mz_opt(f, type_id(f, live_option(&s->live->options, "ELEMENT TYPE")));
        mz_null(f);
        mz_end(f);
    }
    return OK;
}

Status mzf_map_types(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const Stmt *s = o->kind == OBJ_TYPE ? mz_statement(f, o) : NULL;
        if (!s || !s->live || !str_eq(s->live->type, S("map")))
            continue;
        mz_ident(f, o->id);
        mz_opt(f, type_id(f, live_option(&s->live->options, "KEY TYPE")));
        mz_opt(f, type_id(f, live_option(&s->live->options, "VALUE TYPE")));
        mz_null(f);
        mz_null(f);
        mz_end(f);
    }
    return OK;
}
