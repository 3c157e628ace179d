/* SPDX-License-Identifier: Apache-2.0 */
/* live_rename.c - other names for objects, schemas and databases, and what names them after that.
 *
 * Definitions and statements are kept with whole names, so those of an object's users are written anew in the step that renames it.  What runs does not notice: views are
 * compiled by number. */
#include "service/live_sql.h"
#include "service/mzcatalog_int.h"
#include "service/objects_int.h"

typedef struct Rename { Run *r; ObjectVec changed; ObjectVec puts; } Rename;      /* changed: with their new names; puts: all that is stored */

static bool among(const ObjectVec *v, int64_t id)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->p[i].id == id)
            return true;
    return false;
}

/* ---- statements --------------------------------------------------------------------------------------------------------------------- */

/* A name that stands for a changed object becomes its new one. */
static Status replace_parts(Rename *n, StrVec *parts, Error *err)
{
    Object old;
    Error absent;

    if (parts->n != 3 || objects_find(n->r->svc->objects, n->r->a, parts->p[0], parts->p[1], parts->p[2], &old, &absent) != OK)
        return OK;
    for (size_t i = 0; i < n->changed.n; i++)
        if (n->changed.p[i].id == old.id)
            *parts = live_parts(n->r->a, &n->changed.p[i]);
    (void)err;
    return OK;
}

static Status replace_options(Rename *n, LiveOptions *o, int depth, Error *err)
{
    for (size_t i = 0; i < o->n; i++) {
        TRY(replace_parts(n, &o->p[i].names, err));
        if (depth < 8)
            TRY(replace_options(n, &o->p[i].list, depth + 1, err));
    }
    return OK;
}

static Status replace_in_live(Rename *n, LiveStmt *l, Error *err)
{
    TRY(replace_parts(n, &l->from, err));
    TRY(replace_parts(n, &l->connection, err));
    TRY(replace_parts(n, &l->aws_connection, err));
    TRY(replace_parts(n, &l->format.connection, err));
    TRY(replace_parts(n, &l->key_format.connection, err));
    TRY(replace_options(n, &l->options, 0, err));
    TRY(replace_options(n, &l->with, 0, err));
    TRY(replace_options(n, &l->check_with, 0, err));
    for (size_t i = 0; i < l->tables.n; i++)
        TRY(replace_parts(n, &l->tables.p[i].name, err));
    return OK;
}

/* ---- types of columns ------------------------------------------------------------------------------------------------------------------ */

/* By number in columns, by its parts in a statement that was read again. */
static Status rename_type(Rename *n, DataType *t, Error *err)
{
    MadeType *m = t->made ? arena_new(n->r->a, MadeType) : NULL;

    if (m) {
        *m = *t->made;
        TRY(replace_parts(n, &m->parts, err));
        if (!m->oid && m->parts.n == 3)
            m->name = live_full_name(n->r->a, &(LiveName){ m->parts.p[0], m->parts.p[1], m->parts.p[2] });
        for (size_t i = 0; m->oid && i < n->changed.n; i++)
            if (n->changed.p[i].kind == OBJ_TYPE && m->oid == mz_object_oid(n->changed.p[i].id))
                m->name = live_full(n->r->a, &n->changed.p[i]);
        t->made = m;
    }
    for (size_t i = 0; i < t->nchildren; i++)
        TRY(rename_type(n, &t->children[i], err));
    return OK;
}

static Status rename_column_types(Rename *n, Object *o, Error *err)
{
    const Json *kept = o->kind == OBJ_TYPE ? json_get(o->detail, "data-type") : NULL;
    DataType whole;

    if (kept) {
        TRY(object_type_of(n->r->a, kept, &whole, err));
        TRY(rename_type(n, &whole, err));
        json_set(n->r->a, o->detail, "data-type", object_type_json(n->r->a, &whole));
    }
    for vec_each(ObjColumn, c, &o->columns) {
        TRY(rename_type(n, &c->type, err));
        if (c->type.made || c->type.nchildren)
            c->type_name = sql_type_name(n->r->a, DIALECT_POSTGRES, &c->type);
    }
    return OK;
}

static Status rewrite_statement(Rename *n, Object *o, Error *err)
{
    StmtVec all = {0};

    if (!o->create_sql.n || live_hooks(o->kind)->text)
        return OK;
    TRY(sql_parse(n->r->a, DIALECT_POSTGRES, o->create_sql, &all, err));
    if (all.n != 1 || !all.p[0]->live)
        return OK;
    TRY(replace_in_live(n, all.p[0]->live, err));
    for (size_t i = 0; i < all.p[0]->columns.n; i++)
        TRY(rename_type(n, &all.p[0]->columns.p[i].type, err));
    all.p[0]->name = live_parts(n->r->a, o);
    o->create_sql = sql_live_text(n->r->a, all.p[0], LIVE_TEXT_WHOLE);
    return OK;
}

/* ---- users -------------------------------------------------------------------------------------------------------------------------------- */

static Status rewrite(Rename *n, Object *o, Error *err)
{
    if (o->definition.n)
        TRY_CTX(live_rename_in(n->r, o->definition, &n->changed, &o->definition, err), err, "%s \"" STR_FMT "\"", obj_kind_words(o->kind), STR_ARG(o->name));
    TRY(rename_column_types(n, o, err));
    return rewrite_statement(n, o, err);
}

static Status users_of(Rename *n, int64_t id, Error *err)
{
    ObjectVec users = {0};

    objects_direct_users(n->r->svc->objects, n->r->a, id, &users);
    for (size_t i = 0; i < users.n; i++) {
        if (among(&n->puts, users.p[i].id))
            continue;
        TRY(rewrite(n, &users.p[i], err));
        vec_push(n->r->a, &n->puts, users.p[i]);
    }
    return OK;
}

static Status rename_all(Rename *n, Error *err)
{
    for (size_t i = 0; i < n->changed.n; i++)
        vec_push(n->r->a, &n->puts, n->changed.p[i]);
    for (size_t i = 0; i < n->changed.n; i++)
        TRY(rewrite(n, &n->puts.p[i], err));
    for (size_t i = 0; i < n->changed.n; i++)
        TRY(users_of(n, n->changed.p[i].id, err));
    return OK;
}

Status live_rename(Run *r, const ObjectVec *changed, Error *err)
{
    Rename n = { .r = r, .changed = *changed };
    Str as = r->live_as;

    r->live_as = S(REALM_SYSTEM_ROLE);
    Status s = rename_all(&n, err);
    r->live_as = as;
    TRY(s);
    ObjChanges ch = { .puts = n.puts.p, .nputs = n.puts.n };
    TRY(objects_change(r->svc->objects, &ch, err));
    for (size_t i = 0; i < n.puts.n; i++)
        if (r->draft)
            live_draft_renamed(r->draft, &n.puts.p[i]);
        else if (live_hooks(n.puts.p[i].kind)->renamed)
            live_hooks(n.puts.p[i].kind)->renamed(r->svc, &n.puts.p[i]);
    for (size_t i = 0; i < changed->n; i++)
        live_audit(r, "alter", obj_kind_name(changed->p[i].kind), &changed->p[i], NULL);
    return OK;
}

/* ---- places --------------------------------------------------------------------------------------------------------------------------------- */

static void inside(Run *r, Str database, Str schema, ObjectVec *ret)
{
    ObjectVec all = {0};

    objects_list(r->svc->objects, r->a, &all);
    for (size_t i = 0; i < all.n; i++)
        if (str_eq(all.p[i].database, database) && (!schema.n || str_eq(all.p[i].schema, schema)))
            vec_push(r->a, ret, all.p[i]);
}

/* The objects first: with the place's new name they would not be found by their old one. */
Status live_rename_database(Run *r, RealmDatabase *d, Str name, Error *err)
{
    ObjectVec all = {0};
    RealmDatabase next = *d;

    if (realm_has_database(r->svc->realm, name))
        return live_refuse(FAIL(err, E_EXISTS, "database '" STR_FMT "' already exists", STR_ARG(name)), "42P04", err);
    inside(r, d->name, (Str){0}, &all);
    for (size_t i = 0; i < all.n; i++)
        all.p[i].database = name;
    if (all.n)
        TRY(live_rename(r, &all, err));
    next.name = name;
    return realm_put_database(r->svc->realm, &next, err);
}

Status live_rename_schema(Run *r, Str database, RealmSchema *s, Str name, Error *err)
{
    ObjectVec all = {0};
    RealmSchema next = *s;

    if (realm_has_schema(r->svc->realm, database, name))
        return live_refuse(FAIL(err, E_EXISTS, "schema '" STR_FMT "' already exists", STR_ARG(name)), "42P06", err);
    inside(r, database, s->name, &all);
    for (size_t i = 0; i < all.n; i++)
        all.p[i].schema = name;
    if (all.n)
        TRY(live_rename(r, &all, err));
    next.name = name;
    return realm_put_schema(r->svc->realm, &next, err);
}

Status live_swap_schemas(Run *r, Str database, const RealmSchema *x, const RealmSchema *y, Error *err)
{
    ObjectVec all = {0};

    inside(r, database, x->name, &all);
    size_t of_x = all.n;
    inside(r, database, y->name, &all);
    for (size_t i = 0; i < all.n; i++)
        all.p[i].schema = i < of_x ? y->name : x->name;
    if (all.n)
        TRY(live_rename(r, &all, err));
    return realm_swap(r->svc->realm, S("schema"), x->id, y->id, err);
}
