/* SPDX-License-Identifier: Apache-2.0 */
/* dml.c - what INSERT (insert.c), DELETE, UPDATE, TRUNCATE (update.c) and MERGE (merge.c) share.
 *
 * Each becomes at most two relations of the engine (rows to delete as positions, rows to write) and one commit.  Rows are deleted by
 * position deletes or deletion vectors; tables of format 1, and those whose write.<op>.mode is copy-on-write, get the touched files
 * rewritten.  What was read is what the commit is checked against (Iceberg's conflict rules, serializable unless the table says snapshot).
 *
 * Invariants: (1) access is asked before anything is computed; (2) after an error the files written are removed. */
#include "access/lakeformation.h"
#include "service/dml_int.h"

/* Which permissions of Lake Formation a statement needs on its target. */
static uint32_t permissions_of(const Stmt *st)
{
    switch (st->kind) {
    case ST_DELETE: case ST_TRUNCATE: return LF_DELETE;
    case ST_UPDATE: case ST_MERGE: return LF_INSERT | LF_DELETE;
    default: return st->overwrite ? LF_INSERT | LF_DELETE : LF_INSERT;
    }
}

static Status ask_write(Run *r, const char *api, const CatRelation *rel, Error *err)
{
    Ask ask = { .action = ACT_WRITE_DATA, .api = api, .lf = permissions_of(r->st), .relation = rel, .catalog = rel->catalog, .namespace = rel->namespace, .name = rel->name };
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}

/* Its conditions read the target. */
static bool reads_target(const Stmt *st) { return st->kind == ST_DELETE || st->kind == ST_UPDATE || st->kind == ST_MERGE; }

Status dml_open(Dml *d, Run *r, const char *api, Error *err)
{
    int live;

    *d = (Dml){ .r = r };
    TRY(dml_live_open(d, api, &live, err));
    if (live)
        return OK;
    TRY(open_table(r, &r->st->name, &d->name, &d->table, err));
    TRY(cat_intact_check(&d->table.relation, err));
    if (d->name.metadata_table.n)
        return FAIL(err, E_INVALID, "%s: metadata table '" STR_FMT "' cannot be written", api, STR_ARG(d->name.metadata_table));
    TRY(ask_write(r, api, &d->table.relation, err));                                  /* (1) */
    if (reads_target(r->st)) {
        TRY(run_ask(r, ACT_READ_DATA, api, &d->table.relation, err));
        TRY(run_every_column(r, &d->name, &d->table.relation, api, err));
    }
    d->change.branch = d->name.ref;
    d->change.base_snapshot = d->table.meta->current_snapshot_id;
    return lake_columns(r->a, ice_current_schema(d->table.meta), &d->columns, err);
}

Status dml_commit(Dml *d, Error *err)
{
    LakeTable next;
    if (d->live)
        return dml_live_commit(d, err);
    bool anything = d->change.add_data.n || d->change.add_deletes.n || d->change.remove_data.n || d->change.remove_deletes.n || d->change.replace_all;

    if (!anything)
        return OK;
    Status s = ask_write(d->r, "commit", &d->table.relation, err);                      /* once more: it may have become managed meanwhile */
    if (s == OK)
        s = lake_commit(d->r->svc->lake, d->r->a, &d->table, &d->change, NULL, 0, &next, err);
    if (s != OK)
        lake_discard(d->r->svc->lake, &d->files);                                       /* (2) */
    for (size_t i = 0; s == OK && i < d->files.n; i++)
        vec_push(d->r->a, &d->r->written, d->files.p[i].file.path);
    return s;
}

static Status write_files(Dml *d, Str sql, int64_t *rows, Error *err)
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

Status dml_write(Dml *d, Str sql, int64_t *rows, Error *err)
{
    return d->live ? dml_live_write(d, sql, rows, err) : write_files(d, sql, rows, err);
}

void dml_tag(Rows *rows, const char *tag, int64_t n)
{
    rows->tag = tag;
    rows->tag_counts = 1;
    rows->changed = n;
}

/* ---- columns of the target ------------------------------------------------------------------------------------------------ */

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
    if (d->r->dialect == DIALECT_TRINO)
        RAISE(err, E_INVALID, "COLUMN_NOT_FOUND: Insert column name does not exist in target table: " STR_FMT, STR_ARG(name));
    else
        RAISE(err, E_INVALID, "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `" STR_FMT "` cannot be resolved in table " STR_FMT, STR_ARG(name), STR_ARG(name_display(d->r->a, &d->name)));
    memcpy(err->sqlstate, "42703", 6);
    return E_INVALID;
}

Status dml_arity(Dml *d, size_t have, size_t want, Error *err)
{
    StrBuf cols = sb_new(d->r->a);

    for (size_t i = 0; i < d->columns.n; i++)
        sb_fmt(&cols, "%s`" STR_FMT "`", i ? ", " : "", STR_ARG(d->columns.p[i].name));
    if (d->r->dialect == DIALECT_TRINO) {
        RAISE(err, E_INVALID, "TYPE_MISMATCH: Insert query has mismatched column types: Table: [" STR_FMT "], Query: %zu columns for %zu", STR_ARG(sb_str(&cols)), have, want);
        memcpy(err->sqlstate, "21S01", 6);
        return E_INVALID;
    }
    RAISE(err, E_INVALID, "[INSERT_COLUMN_ARITY_MISMATCH.%s] Cannot write to " STR_FMT ", the reason is %s data columns: Table columns: " STR_FMT ". %zu data columns for %zu.",
         have < want ? "NOT_ENOUGH_DATA_COLUMNS" : "TOO_MANY_DATA_COLUMNS", STR_ARG(name_display(d->r->a, &d->name)), have < want ? "not enough" : "too many",
         STR_ARG(sb_str(&cols)), have, want);
    memcpy(err->sqlstate, "21S01", 6);
    return E_INVALID;
}

Expr *dml_column_expr(Arena *a, TableRef *rel, size_t col, const BoundColumn *c)
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

Str dml_default_text(Dml *d, size_t col)
{
    if (d->live && d->live->columns.p[col].default_.n)
        return sql_lit_str(d->r->a, d->live->columns.p[col].default_);
    return S("NULL");
}

/* The value of a column that the statement leaves out: its write default (v3), else null. */
Status dml_default(Dml *d, size_t col, Expr **ret, Error *err)
{
    Arena *a = d->r->a;
    IceValue v;

    if (d->live) {
        *ret = dml_live_default(d, col);
        return OK;
    }
    const IceField *f = &ice_current_schema(d->table.meta)->fields.p[col];
    *ret = dml_null(a);
    if (!f->write_default || f->write_default->kind == JSON_NULL || f->type->fields.n)
        return OK;
    TRY(ice_value_from_json(a, f->type, f->write_default, &v, err));
    (*ret)->value = lake_value(a, &d->columns.p[col].type, &v);
    (*ret)->type = d->columns.p[col].type;
    return OK;
}

Status dml_select_item(Dml *d, Expr *e, size_t col, StrBuf *out, Error *err)
{
    Printer p = run_printer(d->r);
    Str text;

    TRY(sql_assign_cast(d->r->a, d->r->ss->dialect, &e, &d->columns.p[col].type, d->columns.p[col].name, err));
    TRY(sql_print_expr(d->r->a, &p, e, &text, err));
    sb_fmt(out, "%s" STR_FMT " AS ", col ? ", " : "", STR_ARG(text));
    sql_ident(out, d->columns.p[col].engine);
    return OK;
}

/* ---- the target in engine text --------------------------------------------------------------------------------------------- */

TableRef *dml_target(Dml *d, Str alias)
{
    TableRef *t = arena_new(d->r->a, TableRef);
    *t = (TableRef){ .kind = TR_TABLE, .name = d->r->st->name, .alias = alias };
    return t;
}

/* ---- rows of the target with their positions -------------------------------------------------------------------------------------- */

static const IceSnapshot *target_snapshot(const Dml *d)
{
    const IceRef *ref = d->name.ref.n ? ice_ref(d->table.meta, d->name.ref) : NULL;

    if (!d->name.ref.n)
        return ice_current_snapshot(d->table.meta);
    return ref ? ice_snapshot(d->table.meta, ref->snapshot_id) : NULL;
}

static Status lake_target(Dml *d, Str *ret, Error *err)
{
    LakeScan scan = { .snapshot = target_snapshot(d), .schema = ice_current_schema(d->table.meta), .hidden = dml_lineage_fields(d), .positions = 1 };
    LakeRelation rel;

    TRY(lake_scan(d->r->svc->lake, d->r->a, d->r->c, &d->table, &scan, &rel, err));
    *ret = str_fmt(d->r->a, "(" STR_FMT ")", STR_ARG(rel.sql));
    return OK;
}

static Status target_scan(Dml *d, Str *ret, Error *err)
{
    if (!d->live)
        return lake_target(d, ret, err);
    *ret = dml_live_target(d);
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

Status dml_positions_where(Dml *d, Str where, Str *ret, Error *err)
{
    Str sql;

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

    if (d->live)
        return dml_live_delete(d, sql, n, err);
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
        dml_live_forget(d);
        return s;
    }
    if (!d->live)
        operation_of(d);
    return dml_commit(d, err);
}
