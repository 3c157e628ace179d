/* SPDX-License-Identifier: Apache-2.0 */
/* insert.c - INSERT INTO and INSERT OVERWRITE: columns by position, by list or by name, static partitions, defaults.
 *
 * OVERWRITE replaces the whole table (static mode without PARTITION), the rows of the named partition values, or, in dynamic mode, the
 * partitions that get new rows. */
#include "service/athena.h"
#include "service/dml_int.h"
#include "service/external.h"

/* For each table column the index of the source column that feeds it, or -1. */
static Status map_columns(Dml *d, const Query *q, ptrdiff_t *from, Error *err)
{
    const Stmt *st = d->r->st;
    size_t dynamic = 0;

    for (size_t i = 0; i < d->columns.n; i++)
        from[i] = -1;
    if (st->what.n)
        return OK;                                     /* DEFAULT VALUES */
    for (size_t i = 0; st->by_name && i < q->columns.n; i++) {
        ptrdiff_t at = dml_column(d, q->columns.p[i].name);
        if (at < 0)
            return dml_unknown_column(d, q->columns.p[i].name, err);
        from[at] = (ptrdiff_t)i;
    }
    if (st->by_name)
        return OK;
    for (size_t i = 0; i < st->static_partition.n; i++)
        dynamic += !st->static_partition.p[i].value;
    size_t fixed = st->static_partition.n - dynamic, want = st->column_names.n ? st->column_names.n : d->columns.n - fixed;
    if (q->columns.n != want)
        return dml_arity(d, q->columns.n, want, err);
    for (size_t i = 0; i < st->column_names.n; i++) {
        ptrdiff_t at = dml_column(d, st->column_names.p[i]);
        if (at < 0)
            return dml_unknown_column(d, st->column_names.p[i], err);
        from[at] = (ptrdiff_t)i;
    }
    size_t next = 0;
    for (size_t i = 0; !st->column_names.n && i < d->columns.n; i++) {
        bool is_fixed = false;
        for (size_t k = 0; k < st->static_partition.n; k++)
            is_fixed |= st->static_partition.p[k].value && dml_column(d, st->static_partition.p[k].column.p[0]) == (ptrdiff_t)i;
        if (!is_fixed)
            from[i] = (ptrdiff_t)next++;
    }
    return OK;
}

static const Expr *static_value(const Dml *d, size_t col)
{
    const Stmt *st = d->r->st;
    for (size_t k = 0; k < st->static_partition.n; k++)
        if (st->static_partition.p[k].value && dml_column(d, st->static_partition.p[k].column.p[0]) == (ptrdiff_t)col)
            return st->static_partition.p[k].value;
    return NULL;
}

static Status insert_select(Dml *d, Query *q, Str *ret, Error *err)
{
    Run *r = d->r;
    Printer p = run_printer(r);
    TableRef *src = arena_new(r->a, TableRef);
    ptrdiff_t *from = arena_array(r->a, ptrdiff_t, d->columns.n + 1);
    StrBuf out = sb_new(r->a);
    Binder b;
    Str inner;
    int staged;

    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, q, err));
    TRY(map_columns(d, q, from, err));
    *src = (TableRef){ .kind = TR_QUERY, .query = q, .engine = S("ins"), .columns = q->columns };
    TRY(values_stage(r, q, &inner, &staged, err));
    if (!staged)
        TRY(sql_print_query(r->a, &p, q, &inner, err));
    sb_addc(&out, "SELECT ");
    for (size_t i = 0; i < d->columns.n; i++) {
        Expr *e;
        const Expr *fixed = static_value(d, i);
        if (fixed) {
            e = sql_copy_expr(r->a, fixed);
            TRY(sql_bind_expr(r->a, &b, NULL, e, err));
        } else if (from[i] >= 0) {
            e = dml_column_expr(r->a, src, (size_t)from[i], &q->columns.p[from[i]]);
        } else {
            TRY(dml_default(d, i, &e, err));
        }
        TRY(dml_select_item(d, e, i, &out, err));
    }
    sb_fmt(&out, " FROM (" STR_FMT ") AS ins", STR_ARG(inner));
    *ret = sb_str(&out);
    return OK;
}

/* ---- INSERT OVERWRITE ------------------------------------------------------------------------------------------------------------ */

static bool same_partition(const IceFile *x, const IceFile *y)
{
    if (x->spec_id != y->spec_id || x->npartition != y->npartition)
        return false;
    for (size_t i = 0; i < x->npartition; i++)
        if (ice_value_cmp(&x->partition[i], &y->partition[i]))
            return false;
    return true;
}

/* Dynamic: the partitions that get new rows lose their old files. */
static Status overwrite_partitions(Dml *d, Error *err)
{
    IceScan scan = {0};
    const IceSnapshot *s = ice_current_snapshot(d->table.meta);

    if (s)
        TRY(ice_scan(d->r->a, d->r->svc->store, d->table.meta, s, NULL, &scan, err));
    for (size_t i = 0; i < scan.tasks.n; i++) {
        const IceFile *old = &scan.tasks.p[i].data->file;
        for (size_t k = 0; k < d->change.add_data.n; k++)
            if (same_partition(old, &d->change.add_data.p[k])) {
                vec_push(d->r->a, &d->change.remove_data, old->path);
                break;
            }
    }
    return OK;
}

/* PARTITION (a = 1): the rows with these values go. */
static Status overwrite_static(Dml *d, Error *err)
{
    Run *r = d->r;
    StrBuf where = sb_new(r->a);
    int64_t gone;
    Str sql;

    for (size_t i = 0; i < d->columns.n; i++) {
        const Expr *fixed = static_value(d, i);
        Printer p = run_printer(r);
        Expr *e;
        Binder b;
        Str text;
        if (!fixed)
            continue;
        run_binder(r, &b);
        e = sql_copy_expr(r->a, fixed);
        TRY(sql_bind_expr(r->a, &b, NULL, e, err));
        TRY(sql_assign_cast(r->a, r->ss->dialect, &e, &d->columns.p[i].type, d->columns.p[i].name, err));
        TRY(sql_print_expr(r->a, &p, e, &text, err));
        sb_fmt(&where, "%s" STR_FMT " IS NOT DISTINCT FROM " STR_FMT, where.n ? " AND " : "", STR_ARG(sql_ident_str(r->a, d->columns.p[i].engine)), STR_ARG(text));
    }
    TRY(dml_positions_where(d, sb_str(&where), &sql, err));
    return lake_delete_rows(r->svc->lake, r->a, r->c, &d->table, sql, &d->change, &d->files, &gone, err);
}

static Status overwrite(Dml *d, Error *err)
{
    const Stmt *st = d->r->st;
    bool dynamic = str_ieq(setting_get(d->r->ss, S("spark.sql.sources.partitionOverwriteMode"), S("static")), S("dynamic"));
    int fixed = 0;

    for (size_t i = 0; i < st->static_partition.n; i++)
        fixed += st->static_partition.p[i].value != NULL;
    d->change.operation = S("overwrite");
    d->change.check_conflicts = 1;
    if (fixed)
        return overwrite_static(d, err);
    if (dynamic || st->static_partition.n)
        return overwrite_partitions(d, err);
    d->change.replace_all = 1;
    return OK;
}

/* ---- tables that are not Iceberg -------------------------------------------------------------------------------------------- */

static Status can_take_rows(const Run *r, const LakeTable *t, Error *err)
{
    const Json *glue = json_get(t->relation.extra, "glue");
    Str serde = json_get_str(json_get(json_get(glue, "StorageDescriptor"), "SerdeInfo"), "SerializationLibrary", (Str){0});

    if (r->st->overwrite)
        return FAIL(err, E_UNSUPPORTED, STR_FMT "." STR_FMT " is not an Iceberg table: its rows cannot be replaced", STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    if (!str_ends(serde, S("ParquetHiveSerDe")) || json_len(json_get(glue, "PartitionKeys")))
        return FAIL(err, E_UNSUPPORTED, STR_FMT "." STR_FMT " is not an Iceberg table: rows go into external tables of Parquet without partitions alone", STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    return OK;
}

/* The rows by the table's own column names. */
static Str select_by_name(Dml *d, Str sql)
{
    StrBuf b = sb_new(d->r->a);

    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < d->columns.n; i++) {
        sb_addc(&b, i ? ", q." : "q.");
        sql_ident(&b, d->columns.p[i].engine);
        sb_addc(&b, " AS ");
        sql_ident(&b, d->columns.p[i].name);
    }
    sb_addc(&b, " FROM (");
    sb_add(&b, sql);
    sb_addc(&b, ") q");
    return sb_str(&b);
}

/* Athena's: one more file below the table's location, by the caller's right to put it there. */
static Status insert_external(Run *r, Rows *rows, const CatRelation *rel, Error *err)
{
    Dml d = { .r = r };
    Str sql;

    TRY(external_open(r, r->a, rel, &d.table, err));
    TRY(can_take_rows(r, &d.table, err));
    TRY(run_ask(r, ACT_WRITE_DATA, "INSERT into", rel, err));
    TRY(lake_columns(r->a, ice_current_schema(d.table.meta), &d.columns, err));
    TRY(insert_select(&d, r->st->query, &sql, err));
    Unload u = { .location = d.table.meta->location };
    TRY(unload_add(r, &u, select_by_name(&d, sql), &d.rows, err));
    dml_tag(rows, "INSERT 0", d.rows);
    return OK;
}

static bool is_external(Run *r, CatRelation *rel)
{
    Name n;
    Error ignored;

    return name_resolve(r, &r->st->name, &n, &ignored) == OK && !n.metadata_table.n && !n.ref.n
        && cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, rel, &ignored) == OK && rel->kind == REL_EXTERNAL && !external_is_view(rel);
}

Status do_insert(Run *r, Rows *rows, Error *err)
{
    CatRelation rel;
    Dml d;
    Str sql;

    if (r->dialect == DIALECT_TRINO && is_external(r, &rel))
        return insert_external(r, rows, &rel, err);
    TRY(dml_open(&d, r, "INSERT into", err));
    if (r->st->returning.n && !d.live)
        return FAIL(err, E_UNSUPPORTED, "RETURNING is not supported for tables of the lake");
    TRY(insert_select(&d, r->st->query, &sql, err));
    TRY(dml_write(&d, sql, &d.rows, err));
    d.change.operation = S("append");
    Status s = r->st->overwrite ? overwrite(&d, err) : OK;
    if (s != OK) {
        lake_discard(r->svc->lake, &d.files);
        return s;
    }
    s = dml_live_returning(&d, rows, err);
    if (s != OK) {
        dml_live_forget(&d);
        return s;
    }
    TRY(dml_commit(&d, err));
    dml_tag(rows, "INSERT 0", d.rows);
    return dml_live_returned(&d, rows, err);
}
