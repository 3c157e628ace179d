/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_objects.c - objects of all kinds, their columns, and what depends on what. System relations are objects, too: s1000 and on, in the order of mzcatalog_tables.c. */
#include "service/mzcatalog_int.h"

/* ---- what most relations begin with --------------------------------------------------------------------------------------------- */

static void schema_id(MzFill *f, const Object *o)
{
    const RealmSchema *s = mz_schema_of(f->w, o);
    mz_opt(f, s ? s->id : (Str){0});
}

void mz_object_acls(MzFill *f, const Object *o)
{
    StrVec v = {0};
    mz_acls(f->a, o->owner, mz_all_letters(o->kind), &o->grants, &v);
    mz_list(f, &v);
}

/* id, oid, schema_id, name */
void mz_object_head(MzFill *f, const Object *o)
{
    mz_ident(f, o->id);
    mz_int(f, mz_object_oid(o->id));
    schema_id(f, o);
    mz_str(f, o->name);
}

/* create_sql, redacted_create_sql */
void mz_object_tail(MzFill *f, const Object *o)
{
    mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_WHOLE));
    mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_REDACTED));
    mz_end(f);
}

static Str system_schema(const MzRelation *m) { return str_eq(str_c(m->schema), S("mz_catalog")) ? S("s1") : S("s3"); }

/* What everybody may read. */
static void system_acls(MzFill *f)
{
    StrVec v = {0};
    vec_push(f->a, &v, S("=r/s1"));
    mz_list(f, &v);
}

/* ---- mz_objects ------------------------------------------------------------------------------------------------------------------- */

static void system_object(MzFill *f, size_t i)
{
    const MzRelation *m = &mz_relations[i];

    mz_str(f, mz_system_id(f->a, i));
    mz_int(f, mz_system_oid(i));
    mz_str(f, system_schema(m));
    mz_str(f, str_c(m->name));
    mz_str(f, m->sql ? S("view") : S("table"));
    mz_str(f, S("s1"));
    mz_null(f);
    system_acls(f);
    mz_end(f);
}

Status mzf_objects(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        mz_object_head(f, o);
        mz_str(f, str_c(obj_kind_name(o->kind)));
        mz_str(f, o->owner);
        mz_opt(f, o->cluster);
        mz_object_acls(f, o);
        mz_end(f);
    }
    for (size_t i = 0; i < mz_nrelations(); i++)
        system_object(f, i);
    return OK;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------------ */

static void user_columns(MzFill *f, const Object *o)
{
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        mz_ident(f, o->id);
        mz_str(f, c->name);
        mz_u64(f, i + 1);
        mz_bool(f, !c->not_null);
        mz_str(f, c->type_name);
        mz_opt(f, c->default_);
        mz_int(f, pgcat_type_oid(&c->type));
        mz_int(f, pgcat_typmod(&c->type));
        mz_end(f);
    }
}

static void system_columns(MzFill *f, size_t i)
{
    Str rest = str_c(mz_relations[i].columns), name;
    bool not_null;
    char letter;

    for (uint64_t n = 1; mz_next_column(&rest, &name, &letter, &not_null); n++) {
        DataType t = mz_letter_type(letter);
        mz_str(f, mz_system_id(f->a, i));
        mz_str(f, name);
        mz_u64(f, n);
        mz_bool(f, !not_null);
        mz_str(f, str_c(mz_letter_name(letter)));
        mz_null(f);
        mz_int(f, pgcat_type_oid(&t));
        mz_int(f, pgcat_typmod(&t));
        mz_end(f);
    }
}

Status mzf_columns(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects)
        user_columns(f, o);
    for (size_t i = 0; i < mz_nrelations(); i++)
        system_columns(f, i);
    return OK;
}

/* ---- by kind ---------------------------------------------------------------------------------------------------------------------------- */

/* The source that a table comes from. */
static void source_of(MzFill *f, const Object *o)
{
    const Stmt *s = mz_statement(f, o);
    const Object *src = s && s->live && s->live->from.n ? mz_object_by_name(f->w, &s->live->from) : NULL;
    mz_ident(f, src ? src->id : 0);
}

static void system_table(MzFill *f, size_t i)
{
    const MzRelation *m = &mz_relations[i];

    mz_str(f, mz_system_id(f->a, i));
    mz_int(f, mz_system_oid(i));
    mz_str(f, system_schema(m));
    mz_str(f, str_c(m->name));
    if (m->sql)
        mz_str(f, str_c(m->sql));
    mz_str(f, S("s1"));
    system_acls(f);
    mz_null(f);
    mz_null(f);
    if (!m->sql)
        mz_null(f);
    mz_end(f);
}

static void system_tables(MzFill *f, bool views)
{
    for (size_t i = 0; i < mz_nrelations(); i++)
        if ((mz_relations[i].sql != NULL) == views)
            system_table(f, i);
}

Status mzf_tables(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_TABLE)
            continue;
        mz_object_head(f, o);
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_WHOLE));
        mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_REDACTED));
        source_of(f, o);
        mz_end(f);
    }
    system_tables(f, false);
    return OK;
}

Status mzf_views(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_VIEW)
            continue;
        mz_object_head(f, o);
        mz_str(f, o->definition);
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_object_tail(f, o);
    }
    system_tables(f, true);
    return OK;
}

Status mzf_mviews(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_MVIEW)
            continue;
        mz_object_head(f, o);
        mz_str(f, o->cluster);
        mz_str(f, o->definition);
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_object_tail(f, o);
    }
    return OK;
}

Status mzf_replacements(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (!live_replaces(o))
            continue;
        mz_str(f, mz_id(f->a, o->id));
        mz_str(f, mz_id(f->a, live_replaces(o)));
        mz_end(f);
    }
    return OK;
}

Status mzf_secrets(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_SECRET)
            continue;
        mz_object_head(f, o);
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_end(f);
    }
    return OK;
}

Status mzf_connections(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_CONNECTION)
            continue;
        mz_object_head(f, o);
        mz_str(f, o->type);
        mz_str(f, o->owner);
        mz_object_acls(f, o);
        mz_str(f, mz_create_sql(f, o, LIVE_TEXT_WHOLE));
        mz_str(f, mz_create_sql(f, o, LIVE_TEXT_REDACTED));
        mz_end(f);
    }
    return OK;
}

/* ---- indexes -------------------------------------------------------------------------------------------------------------------------------- */

static const Object *indexed(MzFill *f, const Object *o) { return o->uses.n ? mz_object_by_id(f->w, o->uses.p[0]) : NULL; }

Status mzf_indexes(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const Object *on = o->kind == OBJ_INDEX ? indexed(f, o) : NULL;
        if (!on)
            continue;
        mz_ident(f, o->id);
        mz_int(f, mz_object_oid(o->id));
        mz_str(f, o->name);
        mz_ident(f, on->id);
        mz_opt(f, o->cluster);
        mz_str(f, o->owner);
        mz_object_tail(f, o);
    }
    return OK;
}

static void index_column(MzFill *f, const Object *o, const Object *on, size_t i, const Expr *e, Str text)
{
    bool nullable = true;
    size_t at = 0;

    for (size_t k = 0; e->kind == EX_COLUMN && k < on->columns.n; k++)
        if (str_eq(on->columns.p[k].name, vec_last(&e->name))) {
            at = k + 1;
            nullable = !on->columns.p[k].not_null;
        }
    mz_ident(f, o->id);
    mz_u64(f, i + 1);
    if (at)
        mz_u64(f, at), mz_null(f);
    else
        mz_null(f), mz_str(f, text);
    mz_bool(f, nullable);
    mz_end(f);
}

Status mzf_index_columns(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const Object *on = o->kind == OBJ_INDEX ? indexed(f, o) : NULL;
        const Stmt *s = on ? mz_statement(f, o) : NULL;
        for (size_t i = 0; s && s->live && i < s->live->exprs.n; i++)
            index_column(f, o, on, i, s->live->exprs.p[i], s->live->expr_texts.p[i]);
    }
    return OK;
}

/* ---- the rest -------------------------------------------------------------------------------------------------------------------------------------- */

Status mzf_dependencies(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects)
        for (size_t i = 0; i < o->uses.n; i++) {
            mz_ident(f, o->id);
            mz_ident(f, o->uses.p[i]);
            mz_end(f);
        }
    return OK;
}

/* One version each: the global id is the object's own. */
Status mzf_global_ids(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        mz_ident(f, o->id);
        mz_ident(f, o->id);
        mz_end(f);
    }
    return OK;
}

/* detail.refresh (live_options.c); none: with each commit. */
static void strategy(MzFill *f, const Object *o, const Json *one)
{
    int64_t every = json_get_int(one, "every-ms", 0);

    mz_ident(f, o->id);
    mz_str(f, !one ? S("on-commit") : every ? S("every") : S("at"));
    mz_interval(f, every ? every : -1);
    mz_time(f, every ? json_get_int(one, "aligned-ms", 0) : -1);
    mz_time(f, one && !every ? json_get_int(one, "at-ms", 0) : -1);
    mz_end(f);
}

Status mzf_refresh_strategies(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const Json *list = json_get(o->detail, "refresh");
        if (o->kind != OBJ_MVIEW)
            continue;
        for (size_t i = 0; list && i < json_len(list); i++)
            strategy(f, o, json_at(list, i));
        if (!list)
            strategy(f, o, NULL);
    }
    return OK;
}

Status mzf_refreshes(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_MVIEW || !json_get(o->detail, "refresh"))
            continue;
        int64_t last = live_refreshed(f->r->svc, f->a, o->id), following = live_next_refresh(o, f->now_ms);
        mz_ident(f, o->id);
        if (last)
            mz_u64(f, (uint64_t)last);
        else
            mz_null(f);
        if (following < INT64_MAX)
            mz_u64(f, (uint64_t)following);
        else
            mz_null(f);
        mz_end(f);
    }
    return OK;
}

/* What RETAIN HISTORY asked for, else Materialize's own second. */
Status mzf_retention(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_TABLE && o->kind != OBJ_SOURCE && o->kind != OBJ_MVIEW && o->kind != OBJ_INDEX)
            continue;
        mz_ident(f, o->id);
        mz_str(f, S("FOR"));
        mz_json(f, str_fmt(f->a, "%lld", (long long)json_get_int(o->detail, "retain-ms", 1000)));
        mz_end(f);
    }
    return OK;
}
