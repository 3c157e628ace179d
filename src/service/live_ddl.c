/* SPDX-License-Identifier: Apache-2.0 */
/* live_ddl.c - internal tables, views and continuous materialized views made and dropped.
 *
 * Order: the relation is made in live/, then its name in the catalog; dropping goes the other way.  So a crash between leaves at most rows without a name, which the next
 * start removes. */
#include "live/live.h"
#include "service/live_sql.h"

static Status sqlstate(Status s, const char *code, Error *err)
{
    memcpy(err->sqlstate, code, 6);
    return s;
}

/* ---- what stands there already ------------------------------------------------------------------------------------------- */

typedef struct Place { LiveName name; Object there; int taken, done; } Place;

/* done: IF NOT EXISTS and it does; taken: OR REPLACE of one of the same kind. */
static Status find_place(Run *r, ObjKind kind, Place *p, Error *err)
{
    Error absent;

    p->taken = objects_find(r->svc->objects, r->a, p->name.database, p->name.schema, p->name.name, &p->there, &absent) == OK;
    if (!p->taken)
        return OK;
    if (r->st->if_not_exists) {
        session_note(r->ss, "NOTICE", "42710", "%s \"%s\" already exists, skipping", obj_kind_name(p->there.kind), str_z(r->a, p->name.name));
        p->done = 1;
        return OK;
    }
    if (r->st->or_replace && p->there.kind == kind)
        return OK;
    RAISE(err, E_EXISTS, "%s \"" STR_FMT "." STR_FMT "." STR_FMT "\" already exists", obj_kind_name(p->there.kind), STR_ARG(p->name.database), STR_ARG(p->name.schema), STR_ARG(p->name.name));
    return sqlstate(E_EXISTS, "42710", err);
}

static Object new_object(Run *r, ObjKind kind, const LiveName *n)
{
    Object o = { .id = objects_next_id(r->svc->objects), .kind = kind, .database = n->database, .schema = n->schema, .name = n->name, .owner = principal_owner(&r->ss->principal),
                 .definition = r->st->query_text, .comment = r->st->comment, .created_ms = clock_ms() };
    for (size_t i = 0; i < r->live_used.n; i++)
        vec_push(r->a, &o.uses, r->live_used.p[i]);
    return o;
}

static Status refuse_clauses(const Run *r, Error *err)
{
    const Stmt *st = r->st;
    if (st->temporary)
        return FAIL(err, E_UNSUPPORTED, "temporary objects are not supported");
    if (st->partitions.n || st->location.n || st->props.n || st->provider.n || st->schedule.has || st->managed)
        return FAIL(err, E_UNSUPPORTED, "PARTITIONED BY, LOCATION, USING, SCHEDULE and table properties are for tables of the lake: name one as glue_catalog.<namespace>.<table>");
    return OK;
}

/* The named one goes, with what needs it: the furthest first. */
static Status drop_objects(Run *r, const Object *o, Error *err)
{
    ObjectVec all = {0};
    struct { int64_t *p; size_t n, cap; } ids = {0};

    objects_users(r->svc->objects, r->a, o->id, &all);
    vec_push(r->a, &all, *o);
    for (size_t i = 0; i < all.n; i++)
        vec_push(r->a, &ids, all.p[i].id);
    TRY(objects_delete(r->svc->objects, ids.p, ids.n, err));
    return live_drop(r->svc->live, ids.p, ids.n, err);
}

static Status check_users(Run *r, const Object *o, Error *err)
{
    ObjectVec users = {0};

    objects_users(r->svc->objects, r->a, o->id, &users);
    if (!users.n || r->st->cascade)
        return OK;
    const Object *u = &users.p[users.n - 1];
    RAISE(err, E_CONFLICT, "cannot drop %s \"" STR_FMT "\": still depended upon by %s \"" STR_FMT "\"", obj_kind_name(o->kind), STR_ARG(o->name), obj_kind_name(u->kind), STR_ARG(u->name));
    error_hint(err, "Use DROP ... CASCADE to drop the dependent objects too.");
    return sqlstate(E_CONFLICT, "2BP01", err);
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------ */

/* A default is worked out once: what cannot be a constant is refused. */
static Status default_text(Run *r, const ColumnDef *d, Str *ret, Error *err)
{
    Printer p = run_printer(r);
    Expr *e = sql_copy_expr(r->a, d->default_);
    Binder b;
    Str text;
    bool has;

    run_binder(r, &b);
    b.now_has = 0;
    TRY(sql_bind_expr(r->a, &b, NULL, e, err));
    TRY(sql_assign_cast(r->a, DIALECT_POSTGRES, &e, &d->type, d->name, err));
    TRY(sql_print_expr(r->a, &p, e, &text, err));
    TRY_CTX(duck_scalar_str(r->c, r->a, str_fmt(r->a, "SELECT CAST(" STR_FMT " AS VARCHAR)", STR_ARG(text)), ret, &has, err), err, "DEFAULT of column \"" STR_FMT "\"", STR_ARG(d->name));
    if (!has)
        *ret = (Str){0};
    return OK;
}

static Status columns_of_defs(Run *r, ObjColumns *ret, Error *err)
{
    const ColumnDefs *defs = &r->st->columns;

    for (size_t i = 0; i < defs->n; i++) {
        const ColumnDef *d = &defs->p[i];
        ObjColumn c = { .name = d->name, .engine = str_fmt(r->a, "c%zu", i + 1), .type = d->type, .type_name = sql_type_name(r->a, DIALECT_POSTGRES, &d->type), .not_null = d->not_null };
        for (size_t k = 0; k < i; k++)
            if (str_eq(defs->p[k].name, d->name)) {
                RAISE(err, E_INVALID, "column \"" STR_FMT "\" specified more than once", STR_ARG(d->name));
                return sqlstate(E_INVALID, "42701", err);
            }
        if (d->default_)
            TRY(default_text(r, d, &c.default_, err));
        vec_push(r->a, ret, c);
    }
    return OK;
}

static Status make_table(Run *r, Object *o, Error *err)
{
    LiveColumns cols = {0};
    Error ignored;

    for (size_t i = 0; i < o->columns.n; i++) {
        LiveColumn c = { .engine = o->columns.p[i].engine, .type = o->columns.p[i].type, .not_null = o->columns.p[i].not_null };
        vec_push(r->a, &cols, c);
    }
    TRY(live_table_create(r->svc->live, o->id, &cols, err));
    Status s = objects_put(r->svc->objects, o, err);
    if (s != OK)
        (void)!live_drop(r->svc->live, &o->id, 1, &ignored);
    return s;
}

Status live_create_table(Run *r, LiveDone *ret, Error *err)
{
    Place p = {0};

    ret->done = live_name_new(r, &r->st->name, &p.name);
    if (!ret->done)
        return OK;
    TRY(refuse_clauses(r, err));
    TRY(find_place(r, OBJ_KINDS, &p, err));
    if (p.done)
        return OK;
    if (r->st->query || r->st->target.n)
        return FAIL(err, E_UNSUPPORTED, "CREATE TABLE AS and LIKE are not supported here: create the table, then INSERT");
    Object o = new_object(r, OBJ_TABLE, &p.name);
    TRY(live_ask(r, "CREATE TABLE", &o, err));
    TRY(columns_of_defs(r, &o.columns, err));
    if (!o.columns.n)
        return FAIL(err, E_UNSUPPORTED, "a table has at least one column");
    return make_table(r, &o, err);
}

/* ---- views --------------------------------------------------------------------------------------------------------------------- */

static Status name_columns(Run *r, const Query *q, ObjColumns *ret, Error *err)
{
    const StrVec *names = &r->st->column_names;

    if (names->n > q->columns.n)
        return FAIL(err, E_INVALID, "the view's definition has %zu columns, %zu names are given", q->columns.n, names->n);
    for (size_t i = 0; i < q->columns.n; i++) {
        const BoundColumn *b = &q->columns.p[i];
        ObjColumn c = { .name = i < names->n ? names->p[i] : b->name, .engine = b->engine, .type = b->type, .type_name = sql_type_name(r->a, DIALECT_POSTGRES, &b->type), .not_null = 0 };
        for (size_t k = 0; k < i; k++)
            if (str_eq(ret->p[k].name, c.name)) {
                RAISE(err, E_INVALID, "column \"" STR_FMT "\" specified more than once", STR_ARG(c.name));
                return sqlstate(E_INVALID, "42701", err);
            }
        vec_push(r->a, ret, c);
    }
    return OK;
}

Status live_create_view(Run *r, LiveDone *ret, Error *err)
{
    Place p = {0};
    Binder b;

    ret->done = live_name_new(r, &r->st->name, &p.name);
    if (!ret->done)
        return OK;
    TRY(refuse_clauses(r, err));
    TRY(find_place(r, OBJ_VIEW, &p, err));
    if (p.done)
        return OK;
    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, r->st->query, err));
    Object o = new_object(r, OBJ_VIEW, &p.name);
    TRY(live_ask(r, "CREATE VIEW", &o, err));
    TRY(name_columns(r, r->st->query, &o.columns, err));
    if (p.taken) {
        TRY(check_users(r, &p.there, err));
        o.id = p.there.id;
    }
    return objects_put(r->svc->objects, &o, err);
}

/* Bound in an arena of the view's own: the compiled view points into it. */
Status live_compile(Run *r, Arena *own, Str definition, Query **q, IvmView **ret, Error *err)
{
    Binder b;

    TRY(sql_parse_query(own, DIALECT_POSTGRES, str_dup(own, definition), q, err));
    run_binder(r, &b);
    b.text = str_dup(own, definition);
    b.now_has = 0;                                        /* a view's result does not depend on when it was made */
    TRY(sql_bind_query(own, &b, *q, err));
    return ivm_compile(own, *q, ret, err);
}

static Status make_mv(Run *r, Object *o, const Place *p, Arena *own, IvmView *v, Error *err)
{
    Error ignored;

    Status s = live_view_add(r->svc->live, o->id, own, v, LIVE_FILL, err);
    if (s != OK) {
        arena_destroy(own);
        return s;
    }
    if (p->taken)
        s = drop_objects(r, &p->there, err);
    if (s == OK)
        s = objects_put(r->svc->objects, o, err);
    if (s != OK)
        (void)!live_drop(r->svc->live, &o->id, 1, &ignored);
    return s;
}

Status live_create_mv(Run *r, LiveDone *ret, Error *err)
{
    Place p = {0};
    IvmView *v;
    Query *q;

    ret->done = live_name_new(r, &r->st->name, &p.name);
    if (!ret->done)
        return OK;
    TRY(refuse_clauses(r, err));
    TRY(find_place(r, OBJ_MVIEW, &p, err));
    if (p.done)
        return OK;
    if (p.taken)
        TRY(check_users(r, &p.there, err));
    Arena *own = arena_create();
    Status s = live_compile(r, own, r->st->query_text, &q, &v, err);
    Object o = new_object(r, OBJ_MVIEW, &p.name);
    if (s == OK)
        s = live_ask(r, "CREATE MATERIALIZED VIEW", &o, err);
    if (s == OK)
        s = name_columns(r, q, &o.columns, err);
    if (s != OK) {
        arena_destroy(own);
        return s;
    }
    if (ivm_shape(v) == IVM_FULL_ONLY)
        session_note(r->ss, "NOTICE", "00000", "the view is computed anew at each change: %s", str_z(r->a, ivm_reason(v)));
    return make_mv(r, &o, &p, own, v, err);
}

/* ---- dropping --------------------------------------------------------------------------------------------------------------------- */

Status live_drop_object(Run *r, ObjKind kind, LiveDone *ret, Error *err)
{
    LiveName n;
    Object o;
    Error absent;

    if (live_find_object(r, r->a, &r->st->name, &o, &absent) != OK) {
        ret->done = live_name_new(r, &r->st->name, &n) && r->st->if_exists && r->st->name.n == 1;
        return OK;                                        /* it may be a table of the lake */
    }
    ret->done = 1;
    if (o.kind != kind) {
        RAISE(err, E_INVALID, "\"" STR_FMT "\" is not a %s", STR_ARG(o.name), obj_kind_name(kind));
        error_hint(err, "It is a %s: use DROP %s.", obj_kind_name(o.kind), o.kind == OBJ_TABLE ? "TABLE" : o.kind == OBJ_VIEW ? "VIEW" : "MATERIALIZED VIEW");
        return sqlstate(E_INVALID, "42809", err);
    }
    TRY(live_ask(r, "DROP", &o, err));
    TRY(check_users(r, &o, err));
    return drop_objects(r, &o, err);
}

/* ---- starting ------------------------------------------------------------------------------------------------------------------------ */

static Status start_view(Session *ss, DuckConn *c, const Object *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Run r = { .ss = ss, .svc = ss->svc, .a = a, .c = c, .dialect = DIALECT_POSTGRES, .now_us = clock_us() };
    Arena *own = arena_create();
    IvmView *v;
    Query *q;

    Status s = live_compile(&r, own, o->definition, &q, &v, err);
    if (s == OK)
        s = live_view_add(ss->svc->live, o->id, own, v, LIVE_KEEP, err);
    if (s != OK)
        arena_destroy(own);
    return s;
}

Status live_start_views(Service *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    SessionOptions so = { .principal = access_root(a, s->access), .dialect = DIALECT_POSTGRES, .database = S(LIVE_DATABASE) };
    ObjectVec all = {0};
    Session *ss;
    Status st = OK;

    objects_list(s->objects, a, &all);
    TRY(session_open(s, &so, &ss, err));
    st = duck_connect(s->engine, &c, err);
    for (size_t i = 0; st == OK && i < all.n; i++)
        if (all.p[i].kind == OBJ_MVIEW) {
            st = start_view(ss, c, &all.p[i], err);
            if (st != OK)
                error_context(err, "materialized view \"" STR_FMT "\"", STR_ARG(all.p[i].name));
        }
    session_close(ss);
    return st;
}
