/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - CALL catalog.system.procedure(…): Iceberg's Spark procedures, with their names, arguments and result columns.
 *
 * A table of definitions drives everything: argument names, kinds and order, and the right that the caller needs on the table, which is asked
 * before the procedure runs.  A managed view is maintained by firn alone, so procedures that change or expire it are refused. */
#include "service/call.h"
#include "service/call_int.h"
#include "service/external.h"

static const CallColumn rewrite_columns[] = { { "rewritten_data_files_count", DT_INT32 }, { "added_data_files_count", DT_INT32 }, { "rewritten_bytes_count", DT_INT64 },
                                                { "failed_data_files_count", DT_INT32 }, { "removed_delete_files_count", DT_INT32 } };
static const CallColumn delete_columns[] = { { "rewritten_delete_files_count", DT_INT32 }, { "added_delete_files_count", DT_INT32 }, { "rewritten_bytes_count", DT_INT64 },
                                             { "added_bytes_count", DT_INT64 } };
static const CallColumn manifest_columns[] = { { "rewritten_manifests_count", DT_INT32 }, { "added_manifests_count", DT_INT32 } };
static const CallColumn expire_columns[] = { { "deleted_data_files_count", DT_INT64 }, { "deleted_position_delete_files_count", DT_INT64 }, { "deleted_equality_delete_files_count", DT_INT64 },
                                             { "deleted_manifest_files_count", DT_INT64 }, { "deleted_manifest_lists_count", DT_INT64 }, { "deleted_statistics_files_count", DT_INT64 } };
static const CallColumn orphan_columns[] = { { "orphan_file_location", DT_STRING } };
static const CallColumn add_columns[] = { { "added_files_count", DT_INT64 }, { "changed_partition_count", DT_INT64 } };
static const CallColumn register_columns[] = { { "current_snapshot_id", DT_INT64 }, { "total_records_count", DT_INT64 }, { "total_data_files_count", DT_INT64 } };
static const CallColumn move_columns[] = { { "previous_snapshot_id", DT_INT64 }, { "current_snapshot_id", DT_INT64 } };
static const CallColumn pick_columns[] = { { "source_snapshot_id", DT_INT64 }, { "current_snapshot_id", DT_INT64 } };
static const CallColumn forward_columns[] = { { "branch_updated", DT_STRING }, { "previous_ref", DT_INT64 }, { "updated_ref", DT_INT64 } };
static const CallColumn ancestor_columns[] = { { "snapshot_id", DT_INT64 }, { "timestamp", DT_INT64 } };
static const CallColumn verify_columns[] = { { "view", DT_STRING }, { "status", DT_STRING }, { "found", DT_STRING } };
#define COLUMNS(list) list, COUNT_OF(list)

static const ProcDef procs[] = {
    { "rewrite_data_files", call_rewrite_data_files, ACT_WRITE_DATA, COLUMNS(rewrite_columns), { { "table", ARG_TEXT, 1 }, { "strategy", ARG_TEXT, 0 }, { "sort_order", ARG_TEXT, 0 }, { "options", ARG_MAP, 0 },
      { "where", ARG_TEXT, 0 }, { "branch", ARG_TEXT, 0 } } },
    { "rewrite_position_delete_files", call_rewrite_position_delete_files, ACT_WRITE_DATA, COLUMNS(delete_columns), { { "table", ARG_TEXT, 1 }, { "options", ARG_MAP, 0 }, { "where", ARG_TEXT, 0 } } },
    { "rewrite_manifests", call_rewrite_manifests, ACT_WRITE_DATA, COLUMNS(manifest_columns), { { "table", ARG_TEXT, 1 }, { "use_caching", ARG_BOOL, 0 }, { "spec_id", ARG_LONG, 0 } } },
    { "expire_snapshots", call_expire_snapshots, ACT_WRITE_DATA, COLUMNS(expire_columns), { { "table", ARG_TEXT, 1 }, { "older_than", ARG_TIME, 0 }, { "retain_last", ARG_LONG, 0 },
      { "max_concurrent_deletes", ARG_LONG, 0 }, { "stream_results", ARG_BOOL, 0 }, { "snapshot_ids", ARG_LONGS, 0 }, { "clean_expired_metadata", ARG_BOOL, 0 } } },
    { "remove_orphan_files", call_remove_orphan_files, ACT_WRITE_DATA, COLUMNS(orphan_columns), { { "table", ARG_TEXT, 1 }, { "older_than", ARG_TIME, 0 }, { "location", ARG_TEXT, 0 }, { "dry_run", ARG_BOOL, 0 },
      { "max_concurrent_deletes", ARG_LONG, 0 } } },
    { "add_files", call_add_files, ACT_WRITE_DATA, COLUMNS(add_columns), { { "table", ARG_TEXT, 1 }, { "source_table", ARG_TEXT, 1 }, { "partition_filter", ARG_MAP, 0 }, { "check_duplicate_files", ARG_BOOL, 0 },
      { "parallelism", ARG_LONG, 0 } } },
    { "register_table", call_register_table, ACT_REGISTER, COLUMNS(register_columns), { { "table", ARG_TEXT, 1 }, { "metadata_file", ARG_TEXT, 1 } } },
    { "rollback_to_snapshot", call_rollback_to_snapshot, ACT_WRITE_DATA, COLUMNS(move_columns), { { "table", ARG_TEXT, 1 }, { "snapshot_id", ARG_LONG, 1 } } },
    { "rollback_to_timestamp", call_rollback_to_timestamp, ACT_WRITE_DATA, COLUMNS(move_columns), { { "table", ARG_TEXT, 1 }, { "timestamp", ARG_TIME, 1 } } },
    { "set_current_snapshot", call_set_current_snapshot, ACT_WRITE_DATA, COLUMNS(move_columns), { { "table", ARG_TEXT, 1 }, { "snapshot_id", ARG_LONG, 0 }, { "ref", ARG_TEXT, 0 } } },
    { "cherrypick_snapshot", call_cherrypick_snapshot, ACT_WRITE_DATA, COLUMNS(pick_columns), { { "table", ARG_TEXT, 1 }, { "snapshot_id", ARG_LONG, 1 } } },
    { "publish_changes", call_publish_changes, ACT_WRITE_DATA, COLUMNS(pick_columns), { { "table", ARG_TEXT, 1 }, { "wap_id", ARG_TEXT, 1 } } },
    { "fast_forward", call_fast_forward, ACT_WRITE_DATA, COLUMNS(forward_columns), { { "table", ARG_TEXT, 1 }, { "branch", ARG_TEXT, 1 }, { "to", ARG_TEXT, 1 } } },
    { "verify", call_verify, ACT_ADMIN, COLUMNS(verify_columns), { { "table", ARG_TEXT, 0 }, { "deep", ARG_BOOL, 0 } } },
    { "ancestors_of", call_ancestors_of, ACT_READ_METADATA, COLUMNS(ancestor_columns), { { "table", ARG_TEXT, 1 }, { "snapshot_id", ARG_LONG, 0 } } },
};

static const char *const known_but_absent[] = { "snapshot", "migrate", "compute_table_stats", "compute_partition_stats", "create_changelog_view", "rewrite_table_path" };

/* ---- which procedure ---------------------------------------------------------------------------------------------------------------- */

static Status unknown_proc(Str name, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(known_but_absent); i++)
        if (str_ieq(name, str_c(known_but_absent[i])))
            return FAIL(err, E_UNSUPPORTED, "procedure system." STR_FMT " is not supported", STR_ARG(name));
    Status s = FAIL(err, E_NOT_FOUND, "[ROUTINE_NOT_FOUND] The routine `system`.`" STR_FMT "` cannot be found.", STR_ARG(name));
    memcpy(err->sqlstate, "42883", 6);
    return s;
}

/* [catalog.]system.procedure */
static Status find_proc(Arena *a, const StrVec *n, const ProcDef **ret, Error *err)
{
    if (n->n < 2 || n->n > 3 || !str_ieq(n->p[n->n - 2], S("system")))
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a procedure: procedures are called as <catalog>.system.<name>", STR_ARG(str_join(a, n, S("."))));
    for (size_t i = 0; i < COUNT_OF(procs); i++)
        if (str_ieq(n->p[n->n - 1], str_c(procs[i].name))) {
            *ret = &procs[i];
            return OK;
        }
    return unknown_proc(n->p[n->n - 1], err);
}

Status call_describe(Arena *a, const Stmt *st, RowColumns *ret, Error *err)
{
    const ProcDef *def;

    TRY(find_proc(a, &st->name, &def, err));
    for (size_t i = 0; i < def->ncolumns; i++)
        vec_push(a, ret, ((RowColumn){ str_c(def->columns[i].name), { .kind = def->columns[i].kind } }));
    return OK;
}

const Arg *call_arg(const Call *c, const char *name)
{
    for (size_t i = 0; i < CALL_ARGS_MAX && c->def->args[i].name; i++)
        if (str_eq(str_c(c->def->args[i].name), str_c(name)))
            return &c->args[i];
    static const Arg none = {0};
    return &none;
}

Status call_table_name(Call *c, Str text, StrVec *parts, Error *err)
{
    StrVec given = {0};

    TRY_CTX(sql_parse_name(c->r->a, c->r->ss->dialect, text, &given, err), err, "table '" STR_FMT "'", STR_ARG(text));
    if (!given.n || given.n > 3)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a table name", STR_ARG(text));
    if (given.n < 3 && c->catalog.n) {
        vec_push(c->r->a, parts, c->catalog);
        if (given.n == 1)
            vec_push(c->r->a, parts, c->r->ss->namespace);
    }
    for (size_t i = 0; i < given.n; i++)
        vec_push(c->r->a, parts, given.p[i]);
    return OK;
}

/* The table is opened and the right asked for. (The one that makes a table is asked by its verb.) */
static Status open_target(Call *c, Error *err)
{
    Run *r = c->r;
    StrVec parts = {0};
    CatRelation rel = {0};

    if (c->def->action == ACT_ADMIN)                 /* looks for its views itself, and asks for each */
        return OK;
    TRY(call_table_name(c, c->args[0].text, &parts, err));
    TRY(name_resolve(r, &parts, &c->name, err));
    if (c->def->action == ACT_REGISTER)
        return OK;
    Status s = cat_relation_get(r->svc->catalog, r->a, c->name.catalog_id, c->name.namespace, c->name.name, &rel, err);
    if (s == E_NOT_FOUND || c->name.metadata_table.n)
        return table_not_found(r, &parts, r->st->position, err);
    TRY(s);
    TRY(run_ask(r, c->def->action, str_fmt(r->a, "CALL %s on", c->def->name).p, &rel, err));
    if (rel.kind == REL_VIEW)
        return FAIL(err, E_INVALID, STR_FMT " is a view, not a table", STR_ARG(name_display(r->a, &c->name)));
    TRY(lake_open_relation(r->svc->lake, r->a, &rel, &c->table, err));
    c->table.rights = external_rights(r);
    return OK;
}

Status do_call(Run *r, Rows *rows, Error *err)
{
    Call c = { .r = r, .rows = rows, .catalog = r->st->name.n == 3 ? r->st->name.p[0] : (Str){0} };

    rows->tag = "CALL";
    TRY(find_proc(r->a, &r->st->name, &c.def, err));
    TRY(call_describe(r->a, r->st, &rows->columns, err));
    TRY(call_read_args(&c, err));
    TRY(open_target(&c, err));
    return c.def->run(&c, err);
}

/* ---- results -------------------------------------------------------------------------------------------------------------------------- */

void call_row(Call *c, const int64_t *values, size_t n)
{
    Value *row = rows_row(c->rows);
    for (size_t i = 0; i < n; i++)
        cell_int(c->rows, row, i, values[i]);
}
