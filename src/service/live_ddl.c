/* SPDX-License-Identifier: Apache-2.0 */
/* live_ddl.c - internal tables and views made (materialized ones: live_mview.c).
 *
 * Order: the relation is made in live/, then its name in the catalog; dropping goes the other way.  So a crash between leaves at most rows without a name, which the next
 * start removes. */
#include "live/live.h"
#include "service/live_sql.h"

static Status refuse_clauses(const Run *r, Error *err)
{
    const Stmt *st = r->st;
    if (st->partitions.n || st->location.n || st->props.n || st->provider.n || st->schedule.has || st->managed)
        return FAIL(err, E_UNSUPPORTED, "PARTITIONED BY, LOCATION, USING, SCHEDULE and table properties are for tables of the lake: name one as glue_catalog.<namespace>.<table>");
    return OK;
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
                return live_refuse(E_INVALID, "42701", err);
            }
        if (d->default_)
            TRY(default_text(r, d, &c.default_, err));
        c.default_sql = d->default_text;
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
    Status s = live_store(r, o, 1, LIVE_CREATED, err);
    int64_t retain = json_get_int(o->detail, "retain-ms", 0);
    if (s == OK && retain)
        s = live_retain(r->svc->live, o->id, retain, err);
    if (s != OK)
        (void)!live_drop(r->svc->live, &o->id, 1, &ignored);
    return s;
}

static Str table_text(Run *r, const Object *o)
{
    Stmt st = *r->st;
    st.name = live_parts(r->a, o);
    return r->st->live && r->st->live->with.n ? sql_live_text(r->a, &st, LIVE_TEXT_WHOLE) : (Str){0};      /* without options it is made from the columns */
}

/* Where the statement's name is made; *live 0: it is one of the lake. */
Status live_place_or_lake(Run *r, ObjKind kind, LivePlace *p, LiveDone *ret, Error *err)
{
    LiveName n;

    TRY(live_name_new(r, &r->st->name, &n, &ret->done, err));
    if (!ret->done)
        return OK;
    TRY(refuse_clauses(r, err));
    return live_place_at(r, kind, &n, p, err);
}

Status live_create_table(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LivePlace p = {0};

    TRY(live_place_or_lake(r, OBJ_KINDS, &p, ret, err));
    if (!ret->done || p.done)
        return OK;
    if (r->st->query || r->st->target.n)
        return FAIL(err, E_UNSUPPORTED, "CREATE TABLE AS and LIKE are not supported here: create the table, then INSERT");
    Object o = live_object(r, OBJ_TABLE, &p.name);
    o.comment = r->st->comment;
    TRY(columns_of_defs(r, &o.columns, err));
    if (!o.columns.n)
        return FAIL(err, E_UNSUPPORTED, "a table has at least one column");
    TRY(live_read_options(r, &o, err));
    o.create_sql = table_text(r, &o);
    return make_table(r, &o, err);
}

/* ---- views --------------------------------------------------------------------------------------------------------------------- */

Status live_name_columns(Run *r, const Query *q, ObjColumns *ret, Error *err)
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
                return live_refuse(E_INVALID, "42701", err);
            }
        vec_push(r->a, ret, c);
    }
    return OK;
}

Status live_check_unused(Run *r, const Object *o, Error *err)
{
    ObjectVec one = {0};
    vec_push(r->a, &one, *o);
    return live_check_users(r, &one, err);
}

static Status bind_columns(Run *r, Object *o, Error *err)
{
    Binder b;

    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, r->st->query, err));
    return live_name_columns(r, r->st->query, &o->columns, err);
}

Status live_create_view(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LivePlace p = {0};

    TRY(live_place_or_lake(r, OBJ_VIEW, &p, ret, err));
    if (!ret->done || p.done)
        return OK;
    Object o = live_object(r, OBJ_VIEW, &p.name);
    o.comment = r->st->comment;
    TRY(bind_columns(r, &o, err));
    o.uses.n = 0;
    TRY(live_settle_names(r, r->st->query_text, &o.definition, &o, err));
    if (p.taken) {
        TRY(live_check_unused(r, &p.there, err));
        o.id = p.there.id;
    }
    return live_store(r, &o, 1, LIVE_CREATED, err);
}
