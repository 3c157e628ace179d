/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - EXPLAIN of a query, and of a refresh.
 *
 * A query: the engine's plan, before it what each table's scan reads and skips; EXTENDED shows the engine's text too, with tables by their
 * names: where files lie is nobody's business.  A refresh: how the view is kept, and the delta SQL for a change of every source. */
#include "service/live_sql.h"
#include "service/prune.h"

static void plan_line(Rows *rows, Str text) { cell_str(rows, rows_row(rows), 0, text); }

/* Tables by name instead of their files. */
static Status print_name(void *ctx UNUSED, StrBuf *out, const TableRef *ref, Error *err UNUSED)
{
    sql_ident(out, ref->table->display.n ? ref->table->display : ref->table->id);
    return OK;
}

static void scans(Run *r, Rows *rows)
{
    for (size_t i = 0; i < r->scanned.n; i++) {
        const Scanned *s = &r->scanned.p[i];
        plan_line(rows, str_fmt(r->a, "Scan " STR_FMT ": %lld file(s), %lld bytes, at most %lld rows; %lld file(s) skipped by partition and statistics", STR_ARG(s->name),
                                (long long)s->files, (long long)s->bytes, (long long)s->rows, (long long)s->skipped));
    }
}

static Status engine_plan(Run *r, Rows *rows, Str sql, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    size_t n;

    TRY(duck_query(r->c, str_fmt(r->a, "EXPLAIN %s" STR_FMT, r->st->analyze ? "ANALYZE " : "", STR_ARG(sql)), &res, err));
    for (;;) {
        TRY(duck_next(res, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++)
            plan_line(rows, duck_value(r->a, res, duck_ncols(res) - 1, i).string);
    }
}

static Status explain_query(Run *r, Rows *rows, Error *err)
{
    Printer p = run_printer(r), names = { .table = print_name };
    Query *q = r->st->inner->query;
    Str sql, readable;
    Binder b;

    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, q, err));
    prune_query(r, q);
    TRY(sql_print_query(r->a, &p, q, &sql, err));
    scans(r, rows);
    if (r->st->extended) {
        TRY(sql_print_query(r->a, &names, q, &readable, err));
        plan_line(rows, readable);
    }
    return engine_plan(r, rows, sql, err);
}

static Status explain_refresh(Run *r, Rows *rows, Error *err)
{
    StrVec lines = {0};
    CatRelation rel;
    CatMview v;
    Name n;
    Str text;

    TRY(name_resolve(r, &r->st->inner->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->inner->name, r->st->position, err);
    TRY(s);
    TRY(run_ask(r, ACT_READ_METADATA, "EXPLAIN REFRESH of", &rel, err));
    TRY(cat_mview_get(r->svc->catalog, r->a, rel.id, &v, err));
    TRY(refresh_explain(r->svc->refresher, r->a, &v, &text, err));
    str_split(r->a, text, '\n', &lines);
    for (size_t i = 0; i < lines.n; i++)
        plan_line(rows, lines.p[i]);
    return OK;
}

/* A view of the live side: how it is kept (or, a plain view, how it would be), and its delta SQL. */
static Status explain_view(Run *r, Rows *rows, Error *err)
{
    CLEANUP(arena_destroyp) Arena *own = arena_create();
    StrVec lines = {0};
    IvmView *v;
    Object o;
    Query *q;
    Str text;

    TRY(live_find_object(r, r->a, &r->st->name, &o, err));
    TRY(live_ask(r, 'r', &o, err));
    if (o.kind != OBJ_MVIEW && o.kind != OBJ_VIEW)
        return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not a view", STR_ARG(o.name));
    TRY(live_compile(r, own, o.definition, &q, &v, err));
    TRY(ivm_explain(own, v, &text, err));
    str_split(r->a, str_dup(r->a, text), '\n', &lines);
    for (size_t i = 0; i < lines.n; i++)
        plan_line(rows, lines.p[i]);
    return OK;
}

Status do_explain(Run *r, Rows *rows, Error *err)
{
    const Stmt *inner = r->st->inner;

    rows->tag = "EXPLAIN";
    int object = !inner && r->st->name.n && r->ss->dialect == DIALECT_POSTGRES;
    rows_column(rows, object ? "Optimized Plan" : r->ss->dialect == DIALECT_SPARK ? "plan" : "QUERY PLAN", DT_STRING);
    if (object)
        return explain_view(r, rows, err);
    if (inner && inner->kind == ST_QUERY)
        return explain_query(r, rows, err);
    if (inner && inner->kind == ST_REFRESH_MV)
        return explain_refresh(r, rows, err);
    return FAIL(err, E_UNSUPPORTED, "EXPLAIN works on queries and on REFRESH MATERIALIZED VIEW");
}
