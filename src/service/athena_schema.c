/* SPDX-License-Identifier: Apache-2.0 */
/* athena_schema.c - information_schema as Trino has it: schemata, tables, columns, views of one catalog, with Trino's type names.
 *
 * Each is made when a statement names it, as a query of constant rows.  What the session may not see is not there; a relation that cannot be
 * read has no columns. */
#include "service/athena.h"

#include "access/lakeformation.h"

enum { RELATIONS_MAX = 20000, ROWS_MAX = 500000, WIDTH_MAX = 8 };

typedef enum { COL_TEXT, COL_NUMBER } ColKind;
typedef struct SchemaTable SchemaTable;
typedef struct Made { Run *r; Arena *a; Str catalog, id; const SchemaTable *table; ExprRows rows; Error *err; } Made;
struct SchemaTable { const char *name; const char *columns[WIDTH_MAX]; int number; Status (*fill)(Made *m); };     /* number: the column that is no text; -1: none */

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static Expr *cell(Made *m, DataTypeKind kind, int is_null)
{
    Expr *e = arena_new(m->a, Expr);
    e->kind = EX_LITERAL;
    e->type.kind = kind;
    e->value.kind = is_null ? DT_NULL : kind;
    return e;
}

static void add_text(Made *m, ExprVec *row, Str s)
{
    Expr *e = cell(m, DT_STRING, s.p == NULL);
    e->value.string = s;
    vec_push(m->a, row, e);
}

static void add_number(Made *m, ExprVec *row, int64_t n)
{
    Expr *e = cell(m, DT_INT64, 0);
    e->value.integer = n;
    vec_push(m->a, row, e);
}

static Status push(Made *m, ExprVec row)
{
    if (m->rows.n >= ROWS_MAX)
        return FAIL(m->err, E_LIMIT, "information_schema.%s has more than %d rows", m->table->name, ROWS_MAX);
    vec_push(m->a, &m->rows, row);
    return OK;
}

/* ---- what there is ------------------------------------------------------------------------------------------------------------ */

static Status namespaces(Made *m, CatNamespaces *ret)
{
    TRY(cat_namespace_list(m->r->svc->catalog, m->a, m->id, (Str){0}, (CatPage){0}, ret, m->err));
    return lf_filter_namespaces(m->r->svc->access, m->a, &m->r->ss->principal, ret, m->err);
}

static Status each_relation(Made *m, Status (*visit)(Made *m, const CatRelation *rel))
{
    CatNamespaces list = {0};
    size_t seen = 0;

    TRY(namespaces(m, &list));
    for (size_t i = 0; i < list.n; i++) {
        CatRelations rels = {0};
        TRY(cat_relation_list(m->r->svc->catalog, m->a, m->id, list.p[i].name, 1 << REL_TABLE | 1 << REL_VIEW | 1 << REL_MVIEW | 1 << REL_EXTERNAL, (CatPage){0}, &rels, m->err));
        TRY(lf_filter_relations(m->r->svc->access, m->a, &m->r->ss->principal, &rels, m->err));
        if ((seen += rels.n) > RELATIONS_MAX)
            return FAIL(m->err, E_LIMIT, "information_schema lists catalogs of up to %d tables", RELATIONS_MAX);
        for (size_t k = 0; k < rels.n; k++)
            TRY(visit(m, &rels.p[k]));
    }
    return OK;
}

static Status fill_schemata(Made *m)
{
    CatNamespaces list = {0};

    TRY(namespaces(m, &list));
    for (size_t i = 0; i <= list.n; i++) {
        ExprVec row = {0};
        add_text(m, &row, m->catalog);
        add_text(m, &row, i < list.n ? list.p[i].name : S("information_schema"));
        TRY(push(m, row));
    }
    return OK;
}

static void add_name(Made *m, ExprVec *row, const CatRelation *rel)
{
    add_text(m, row, m->catalog);
    add_text(m, row, rel->namespace);
    add_text(m, row, rel->name);
}

static Status table_row(Made *m, const CatRelation *rel)
{
    ExprVec row = {0};

    add_name(m, &row, rel);
    add_text(m, &row, rel->kind == REL_VIEW ? S("VIEW") : S("BASE TABLE"));
    return push(m, row);
}

static Status column_rows(Made *m, const CatRelation *rel)
{
    TableRef ref = { .kind = TR_TABLE };
    BoundTable *t;
    Binder b;
    Error ignored;

    run_binder(m->r, &b);
    vec_push(m->a, &ref.name, m->catalog);
    vec_push(m->a, &ref.name, rel->namespace);
    vec_push(m->a, &ref.name, rel->name);
    if (b.resolve(b.ctx, m->a, &ref, &t, &ignored) != OK)
        return OK;
    for (size_t i = 0; i < t->columns.n; i++) {
        ExprVec row = {0};
        add_name(m, &row, rel);
        add_text(m, &row, t->columns.p[i].name);
        add_number(m, &row, (int64_t)i + 1);
        add_text(m, &row, (Str){0});
        add_text(m, &row, t->columns.p[i].nullable ? S("YES") : S("NO"));
        add_text(m, &row, sql_type_name(m->a, DIALECT_TRINO, &t->columns.p[i].type));
        TRY(push(m, row));
    }
    return OK;
}

static Status view_row(Made *m, const CatRelation *rel)
{
    ExprVec row = {0};
    IceView *v;
    Error ignored;
    Str text = (Str){0};

    if (rel->kind != REL_VIEW)
        return OK;
    if (ice_view_read(m->a, m->r->svc->store, rel->metadata_location, &v, &ignored) == OK)
        for (size_t i = 0; i < v->versions.n; i++)
            if (v->versions.p[i]->id == v->current_version_id && v->versions.p[i]->reprs.n)
                text = v->versions.p[i]->reprs.p[0].sql;
    add_name(m, &row, rel);
    add_text(m, &row, text);
    return push(m, row);
}

static Status fill_tables(Made *m) { return each_relation(m, table_row); }
static Status fill_columns(Made *m) { return each_relation(m, column_rows); }
static Status fill_views(Made *m) { return each_relation(m, view_row); }

static const SchemaTable tables[] = {
    { "schemata", { "catalog_name", "schema_name" }, -1, fill_schemata },
    { "tables", { "table_catalog", "table_schema", "table_name", "table_type" }, -1, fill_tables },
    { "columns", { "table_catalog", "table_schema", "table_name", "column_name", "ordinal_position", "column_default", "is_nullable", "data_type" }, 4, fill_columns },
    { "views", { "table_catalog", "table_schema", "table_name", "view_definition" }, -1, fill_views },
};

/* ---- the relation ----------------------------------------------------------------------------------------------------------------- */

bool athena_is_schema_table(const StrVec *name)
{
    return name->n >= 2 && str_ieq(name->p[name->n - 2], S("information_schema"));
}

/* Without rows the types come from one row of nulls, which LIMIT 0 takes away. */
static Status bound_rows(Made *m, Query **ret)
{
    Query *q = arena_new(m->a, Query);
    Binder b;

    *q = (Query){ .body = BODY_VALUES };
    if (!m->rows.n) {
        ExprVec row = {0};
        for (int i = 0; i < WIDTH_MAX && m->table->columns[i]; i++)
            vec_push(m->a, &row, cell(m, i == m->table->number ? DT_INT64 : DT_STRING, 1));
        vec_push(m->a, &m->rows, row);
        q->limit = cell(m, DT_INT64, 0);
    }
    q->rows = m->rows;
    run_binder(m->r, &b);
    b.params = NULL;
    TRY(sql_bind_query(m->a, &b, q, m->err));
    for (size_t i = 0; i < q->columns.n; i++)
        q->columns.p[i].name = str_c(m->table->columns[i]);
    *ret = q;
    return OK;
}

Status athena_schema_table(Run *r, Arena *a, const StrVec *name, BoundTable **ret, Error *err)
{
    Made m = { .r = r, .a = a, .err = err, .catalog = name->n > 2 ? name->p[0] : r->ss->catalog_name };
    BoundTable *t = arena_new(a, BoundTable);

    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (str_ieq(vec_last(name), str_c(tables[i].name)))
            m.table = &tables[i];
    if (!m.table)
        return E_NOT_FOUND;
    TRY(name_catalog(r, m.catalog, &m.id, err));
    m.catalog = str_lower(a, m.catalog);
    TRY(m.table->fill(&m));
    TRY(bound_rows(&m, &t->view));
    t->id = t->display = str_fmt(a, STR_FMT ".information_schema.%s", STR_ARG(m.catalog), m.table->name);
    t->columns = t->view->columns;
    *ret = t;
    return OK;
}
