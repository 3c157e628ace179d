/* SPDX-License-Identifier: Apache-2.0 */
/* dml.c - INSERT, INSERT OVERWRITE, DELETE, UPDATE, TRUNCATE (MERGE is in merge.c).
 *
 * Each becomes at most two relations of the engine (rows to delete as positions, rows to write) and one commit.  Rows are deleted by
 * position deletes or deletion vectors; tables of format 1, and those whose write.<op>.mode is copy-on-write, get the touched files
 * rewritten.  What was read is what the commit is checked against (Iceberg's conflict rules, serializable unless the table says snapshot).
 *
 * Invariants: (1) access is asked before anything is computed; (2) after an error the files written are removed. */
#include "service/dml_int.h"

Status dml_open(Dml *d, Run *r, const char *api, Error *err)
{
    *d = (Dml){ .r = r };
    TRY(open_table(r, &r->st->name, &d->name, &d->table, err));
    if (d->name.metadata_table.n)
        return FAIL(err, E_INVALID, "%s: metadata table '" STR_FMT "' cannot be written", api, STR_ARG(d->name.metadata_table));
    TRY(run_ask(r, ACT_WRITE_DATA, api, &d->table.relation, err));                     /* (1) */
    d->change.branch = d->name.ref;
    d->change.base_snapshot = d->table.meta->current_snapshot_id;
    return lake_columns(r->a, ice_current_schema(d->table.meta), &d->columns, err);
}

static Status dml_commit(Dml *d, Error *err)
{
    LakeTable next;
    bool anything = d->change.add_data.n || d->change.add_deletes.n || d->change.remove_data.n || d->change.remove_deletes.n || d->change.replace_all;

    if (!anything)
        return OK;
    for (size_t i = 0; i < d->change.add_data.n; i++)
        d->change.add_data.p[i].content = CONTENT_DATA;
    Status s = run_ask(d->r, ACT_WRITE_DATA, "commit", &d->table.relation, err);       /* once more: it may have become managed meanwhile */
    if (s == OK)
        s = lake_commit(d->r->svc->lake, d->r->a, &d->table, &d->change, NULL, 0, &next, err);
    if (s != OK)
        lake_discard(d->r->svc->lake, &d->files);                                       /* (2) */
    return s;
}

Status dml_write(Dml *d, Str sql, int64_t *rows, Error *err)
{
    LakeWrite w = { .table = &d->table, .schema = ice_current_schema(d->table.meta), .validate_required = 1,
                    .hidden = d->lineage ? dml_lineage_fields(d) : NULL };
    LakeFiles files = {0};

    TRY(lake_write(d->r->svc->lake, d->r->a, d->r->c, &w, sql, &files, rows, err));
    for (size_t i = 0; i < files.n; i++) {
        vec_push(d->r->a, &d->files, files.p[i]);
        vec_push(d->r->a, &d->change.add_data, files.p[i].file);
    }
    return OK;
}

void dml_tag(Rows *rows, const char *tag, int64_t n)
{
    rows->tag = tag;
    rows->tag_counts = 1;
    rows->changed = n;
}

/* ---- INSERT ------------------------------------------------------------------------------------------------------------------ */

ptrdiff_t dml_column(const Dml *d, Str name)
{
    for (size_t i = 0; i < d->columns.n; i++)
        if (str_eq(d->columns.p[i].name, name))
            return (ptrdiff_t)i;
    for (size_t i = 0; i < d->columns.n; i++)
        if (str_ieq(d->columns.p[i].name, name))
            return (ptrdiff_t)i;
    return -1;
}

Status dml_unknown_column(Dml *d, Str name, Error *err)
{
    RAISE(err, E_INVALID, "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `" STR_FMT "` cannot be resolved in table " STR_FMT, STR_ARG(name), STR_ARG(name_display(d->r->a, &d->name)));
    memcpy(err->sqlstate, "42703", 6);
    return E_INVALID;
}

Status dml_arity(Dml *d, size_t have, size_t want, Error *err)
{
    StrBuf cols = sb_new(d->r->a);

    for (size_t i = 0; i < d->columns.n; i++)
        sb_fmt(&cols, "%s`" STR_FMT "`", i ? ", " : "", STR_ARG(d->columns.p[i].name));
    RAISE(err, E_INVALID, "[INSERT_COLUMN_ARITY_MISMATCH.%s] Cannot write to " STR_FMT ", the reason is %s data columns: Table columns: " STR_FMT ". %zu data columns for %zu.",
         have < want ? "NOT_ENOUGH_DATA_COLUMNS" : "TOO_MANY_DATA_COLUMNS", STR_ARG(name_display(d->r->a, &d->name)), have < want ? "not enough" : "too many",
         STR_ARG(sb_str(&cols)), have, want);
    memcpy(err->sqlstate, "21S01", 6);
    return E_INVALID;
}

/* For each table column the index of the source column that feeds it, or -1. */
static Status map_columns(Dml *d, const Query *q, ptrdiff_t *from, Error *err)
{
    const Stmt *st = d->r->st;
    size_t dynamic = 0;

    for (size_t i = 0; i < d->columns.n; i++)
        from[i] = -1;
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

static Expr *column_expr(Arena *a, TableRef *rel, size_t col, const BoundColumn *c)
{
    Expr *e = arena_new(a, Expr);
    *e = (Expr){ .kind = EX_COLUMN, .rel = rel, .col = (int)col, .type = c->type, .nullable = c->nullable };
    vec_push(a, &e->name, c->name);
    return e;
}

Expr *dml_null(Arena *a)
{
    Expr *e = arena_new(a, Expr);
    *e = (Expr){ .kind = EX_LITERAL, .value = { .kind = DT_NULL }, .type = { .kind = DT_NULL }, .nullable = 1 };
    return e;
}

static const Expr *static_value(const Dml *d, size_t col)
{
    const Stmt *st = d->r->st;
    for (size_t k = 0; k < st->static_partition.n; k++)
        if (st->static_partition.p[k].value && dml_column(d, st->static_partition.p[k].column.p[0]) == (ptrdiff_t)col)
            return st->static_partition.p[k].value;
    return NULL;
}

/* The value of a column that the statement leaves out: its write default (v3), else null. */
Status dml_default(Dml *d, size_t col, Expr **ret, Error *err)
{
    const IceField *f = &ice_current_schema(d->table.meta)->fields.p[col];
    Arena *a = d->r->a;
    IceValue v;

    *ret = dml_null(a);
    if (!f->write_default || f->write_default->kind == JSON_NULL || f->type->fields.n)
        return OK;
    TRY(ice_value_from_json(a, f->type, f->write_default, &v, err));
    (*ret)->value = lake_value(a, &d->columns.p[col].type, &v);
    (*ret)->type = d->columns.p[col].type;
    return OK;
}

static Status select_item(Dml *d, Expr *e, size_t col, StrBuf *out, Error *err)
{
    Printer p = run_printer(d->r);
    Str text;

    TRY(sql_assign_cast(d->r->a, d->r->ss->dialect, &e, &d->columns.p[col].type, d->columns.p[col].name, err));
    TRY(sql_print_expr(d->r->a, &p, e, &text, err));
    sb_fmt(out, "%s" STR_FMT " AS ", col ? ", " : "", STR_ARG(text));
    sql_ident(out, d->columns.p[col].engine);
    return OK;
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

    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, q, err));
    TRY(map_columns(d, q, from, err));
    *src = (TableRef){ .kind = TR_QUERY, .query = q, .engine = S("ins"), .columns = q->columns };
    TRY(sql_print_query(r->a, &p, q, &inner, err));
    sb_addc(&out, "SELECT ");
    for (size_t i = 0; i < d->columns.n; i++) {
        Expr *e;
        const Expr *fixed = static_value(d, i);
        if (fixed) {
            e = sql_copy_expr(r->a, fixed);
            TRY(sql_bind_expr(r->a, &b, NULL, e, err));
        } else if (from[i] >= 0) {
            e = column_expr(r->a, src, (size_t)from[i], &q->columns.p[from[i]]);
        } else {
            TRY(dml_default(d, i, &e, err));
        }
        TRY(select_item(d, e, i, &out, err));
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

TableRef *dml_target(Dml *d, Str alias)
{
    TableRef *t = arena_new(d->r->a, TableRef);
    *t = (TableRef){ .kind = TR_TABLE, .name = d->r->st->name, .alias = alias };
    return t;
}

static Status positions_where(Dml *d, TableRef *from, Str where, Str *ret, Error *err);

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
    TRY(positions_where(d, NULL, sb_str(&where), &sql, err));
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

Status do_insert(Run *r, Rows *rows, Error *err)
{
    Dml d;
    Str sql;

    TRY(dml_open(&d, r, "INSERT into", err));
    TRY(insert_select(&d, r->st->query, &sql, err));
    TRY(dml_write(&d, sql, &d.rows, err));
    d.change.operation = S("append");
    Status s = r->st->overwrite ? overwrite(&d, err) : OK;
    if (s != OK) {
        lake_discard(r->svc->lake, &d.files);
        return s;
    }
    TRY(dml_commit(&d, err));
    dml_tag(rows, "INSERT 0", d.rows);
    return OK;
}

/* ---- rows of the target with their positions -------------------------------------------------------------------------------------- */

static const IceSnapshot *target_snapshot(const Dml *d)
{
    const IceRef *ref = d->name.ref.n ? ice_ref(d->table.meta, d->name.ref) : NULL;

    if (!d->name.ref.n)
        return ice_current_snapshot(d->table.meta);
    return ref ? ice_snapshot(d->table.meta, ref->snapshot_id) : NULL;
}

static Status target_scan(Dml *d, Str *ret, Error *err)
{
    LakeScan scan = { .snapshot = target_snapshot(d), .schema = ice_current_schema(d->table.meta), .hidden = dml_lineage_fields(d), .positions = 1 };
    LakeRelation rel;

    TRY(lake_scan(d->r->svc->lake, d->r->a, d->r->c, &d->table, &scan, &rel, err));
    *ret = str_fmt(d->r->a, "(" STR_FMT ")", STR_ARG(rel.sql));
    return OK;
}

Status dml_print_target(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    TargetPrinter *t = ctx;
    Str sql;

    if (ref != t->target)
        return t->inner.table(t->inner.ctx, out, ref, err);
    TRY(target_scan(t->d, &sql, err));
    sb_add(out, sql);
    return OK;
}

static Status positions_where(Dml *d, TableRef *from, Str where, Str *ret, Error *err)
{
    Str sql;

    (void)from;
    TRY(target_scan(d, &sql, err));
    *ret = str_fmt(d->r->a, "SELECT __file, __pos FROM " STR_FMT " t WHERE " STR_FMT, STR_ARG(sql), STR_ARG(where));
    return OK;
}

/* write.<op>.mode, and format 1, which has no delete files. */
static bool copy_on_write(const Dml *d, const char *op)
{
    Str key = str_fmt(d->r->a, "write.%s.mode", op);
    return d->table.meta->format_version < 2 || str_eq(props_get(&d->table.meta->properties, key, S("merge-on-read")), S("copy-on-write"));
}

/* The touched files' other rows are written anew and the files removed. `hits` is an engine table of (__file, __pos). */
static Status rewrite_touched(Dml *d, Str hits, Error *err)
{
    Run *r = d->r;
    StrBuf cols = sb_new(r->a);
    Str scan;
    int64_t kept, gone;

    for (size_t i = 0; i < d->columns.n; i++) {
        sb_addc(&cols, i ? ", t." : "t.");
        sql_ident(&cols, d->columns.p[i].engine);
    }
    TRY(target_scan(d, &scan, err));
    sb_add(&cols, dml_lineage_items(d, S("t"), S("t."), LINEAGE_MOVED));
    Str sql = str_fmt(r->a, "SELECT " STR_FMT " FROM " STR_FMT " t SEMI JOIN " STR_FMT " f ON f.__file = t.__file ANTI JOIN " STR_FMT " h ON h.__file = t.__file AND h.__pos = t.__pos" STR_FMT,
                      STR_ARG(sb_str(&cols)), STR_ARG(scan), STR_ARG(hits), STR_ARG(hits), STR_ARG(dml_lineage_join(d, S("t."))));
    TRY(dml_write(d, sql, &kept, err));
    /* every live row of the touched files counts as deleted: the files go whole */
    Str all = str_fmt(r->a, "SELECT t.__file, t.__pos FROM " STR_FMT " t SEMI JOIN " STR_FMT " f ON f.__file = t.__file", STR_ARG(scan), STR_ARG(hits));
    return lake_delete_rows(r->svc->lake, r->a, r->c, &d->table, all, &d->change, &d->files, &gone, err);
}

/* Puts the deletion of the rows that `sql` gives (DISTINCT __file, __pos) into the change. */
Status dml_delete_hits(Dml *d, Str sql, const char *op, int64_t *n, Error *err)
{
    Run *r = d->r;
    bool has;

    TRY(duck_exec(r->c, str_fmt(r->a, "CREATE OR REPLACE TEMP TABLE dml_hits AS SELECT DISTINCT __file, __pos FROM (" STR_FMT ") q", STR_ARG(sql)), err));
    TRY(duck_scalar_i64(r->c, S("SELECT count(*) FROM dml_hits"), n, &has, err));
    if (!*n)
        return OK;
    TRY(dml_lineage_begin(d, target_snapshot(d), err));
    if (copy_on_write(d, op))
        return rewrite_touched(d, S("dml_hits"), err);
    return lake_delete_rows(r->svc->lake, r->a, r->c, &d->table, S("SELECT __file, __pos FROM dml_hits"), &d->change, &d->files, n, err);
}

static void operation_of(Dml *d)
{
    bool gone = d->change.add_deletes.n || d->change.remove_data.n;
    d->change.operation = !gone ? S("append") : d->change.add_data.n ? S("overwrite") : S("delete");
    d->change.check_conflicts = 1;
    Str level = props_get(&d->table.meta->properties, S("write.delete.isolation-level"), S("serializable"));
    d->change.isolation = str_eq(level, S("snapshot")) ? ISOLATION_SNAPSHOT : ISOLATION_SERIALIZABLE;
}

Status dml_finish(Dml *d, Status s, Error *err)
{
    if (s != OK) {
        lake_discard(d->r->svc->lake, &d->files);
        return s;
    }
    operation_of(d);
    return dml_commit(d, err);
}

/* ---- DELETE ----------------------------------------------------------------------------------------------------------------------------- */

static Status bind_target(Dml *d, TableRef *target, Expr *where, Str *cond, Error *err)
{
    Run *r = d->r;
    Printer p = run_printer(r);
    Expr truth = { .kind = EX_LITERAL, .value = { .kind = DT_BOOL, .boolean = true } };
    Binder b;

    run_binder(r, &b);
    if (!where) {
        where = arena_new(r->a, Expr);
        *where = truth;
    }
    TRY(sql_bind_expr(r->a, &b, target, where, err));
    if (where->type.kind != DT_BOOL && where->type.kind != DT_NULL)
        return FAIL(err, E_INVALID, "the condition is of type " STR_FMT ", not boolean", STR_ARG(sql_type_name(r->a, r->ss->dialect, &where->type)));
    return sql_print_expr(r->a, &p, where, cond, err);
}

Status do_delete(Run *r, Rows *rows, Error *err)
{
    Dml d;
    Str cond, text, sql;

    TRY(dml_open(&d, r, "DELETE from", err));
    if (r->st->from)
        return FAIL(err, E_UNSUPPORTED, "DELETE … USING is not supported: use WHERE … IN or EXISTS");
    TableRef *target = dml_target(&d, r->st->alias);
    TRY(bind_target(&d, target, r->st->where, &cond, err));
    TargetPrinter tp = { &d, target, run_printer(r) };
    Printer p = { .ctx = &tp, .table = dml_print_target };
    TRY(sql_print_table(r->a, &p, target, &text, err));
    sql = str_fmt(r->a, "SELECT " STR_FMT ".__file, " STR_FMT ".__pos FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(target->engine), STR_ARG(target->engine), STR_ARG(text), STR_ARG(cond));
    TRY(dml_finish(&d, dml_delete_hits(&d, sql, "delete", &d.rows, err), err));
    dml_tag(rows, "DELETE", d.rows);
    return OK;
}

Status do_truncate(Run *r, Rows *rows, Error *err)
{
    Dml d;

    TRY(dml_open(&d, r, "TRUNCATE", err));
    d.change.operation = S("delete");
    d.change.replace_all = ice_current_snapshot(d.table.meta) != NULL;
    TRY(dml_commit(&d, err));
    rows_command(rows, "TRUNCATE TABLE");
    return OK;
}

/* ---- UPDATE ------------------------------------------------------------------------------------------------------------------------------- */

/* The new value of each column as text, over the target's engine alias. */
Status dml_assigned(Dml *d, TableRef *scope, TableRef *target, const AssignVec *set, StrBuf *out, Error *err)
{
    Run *r = d->r;
    Expr **values = arena_array(r->a, Expr *, d->columns.n + 1);
    Binder b;

    run_binder(r, &b);
    for (size_t i = 0; i < set->n; i++) {
        Str col = set->p[i].column.p[set->p[i].column.n - 1];
        ptrdiff_t at = dml_column(d, col);
        if (at < 0)
            return dml_unknown_column(d, col, err);
        if (values[at])
            return FAIL(err, E_INVALID, "column '" STR_FMT "' is set twice", STR_ARG(col));
        values[at] = set->p[i].value;
        TRY(sql_bind_expr(r->a, &b, scope, values[at], err));
    }
    for (size_t i = 0; i < d->columns.n; i++)
        TRY(select_item(d, values[i] ? values[i] : column_expr(r->a, target, i, &d->columns.p[i]), i, out, err));
    return OK;
}

Status do_update(Run *r, Rows *rows, Error *err)
{
    Dml d;
    Str cond, text;
    StrBuf items = sb_new(r->a);
    int64_t written;

    TRY(dml_open(&d, r, "UPDATE", err));
    if (r->st->from)
        return FAIL(err, E_UNSUPPORTED, "UPDATE … FROM is not supported: use MERGE INTO");
    TableRef *target = dml_target(&d, r->st->alias);
    TRY(bind_target(&d, target, r->st->where, &cond, err));
    TRY(dml_assigned(&d, target, target, &r->st->set, &items, err));
    TargetPrinter tp = { &d, target, run_printer(r) };
    Printer p = { .ctx = &tp, .table = dml_print_target };
    TRY(sql_print_table(r->a, &p, target, &text, err));
    Str hits = str_fmt(r->a, "SELECT " STR_FMT ".__file, " STR_FMT ".__pos FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(target->engine), STR_ARG(target->engine), STR_ARG(text), STR_ARG(cond));
    Status s = dml_delete_hits(&d, hits, "update", &d.rows, err);
    Str row = sql_ident_str(r->a, target->engine), at = str_cat(r->a, row, S("."));
    Str new_rows = str_fmt(r->a, "SELECT " STR_FMT STR_FMT " FROM " STR_FMT STR_FMT " WHERE " STR_FMT, STR_ARG(sb_str(&items)), STR_ARG(dml_lineage_items(&d, row, at, LINEAGE_CHANGED)),
                           STR_ARG(text), STR_ARG(dml_lineage_join(&d, at)), STR_ARG(cond));
    if (s == OK && d.rows)
        s = dml_write(&d, new_rows, &written, err);
    TRY(dml_finish(&d, s, err));
    dml_tag(rows, "UPDATE", d.rows);
    return OK;
}

