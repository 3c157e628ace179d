/* SPDX-License-Identifier: Apache-2.0 */
/* call_maintain.c - procedures that keep a table in shape: rewrite_data_files, rewrite_manifests, expire_snapshots, remove_orphan_files. */
#include "service/call_int.h"
#include "service/upkeep.h"

enum { HOUR_MS = 3600000, ORPHAN_DEFAULT_DAYS = 3, ORPHAN_MINIMUM_HOURS = 24 };

/* ---- rewrite_data_files: options ------------------------------------------------------------------------------------------------ */

static Status option_number(const KeyValue *kv, int64_t *ret, Error *err)
{
    if (!str_to_i64(kv->value, ret) || *ret <= 0)
        return FAIL(err, E_INVALID, "option '" STR_FMT "' must be a positive number, not '" STR_FMT "'", STR_ARG(kv->key), STR_ARG(kv->value));
    return OK;
}

/* Options that say how the reference divides its work: nothing to divide here. */
static bool is_idle_option(Str key)
{
    static const char *const idle[] = { "max-concurrent-file-group-rewrites", "partial-progress.enabled", "partial-progress.max-commits", "partial-progress.max-failed-commits",
                                        "use-starting-sequence-number", "rewrite-job-order", "shuffle-partitions-per-file", "compression-factor", "remove-dangling-deletes", "max-files-to-rewrite" };
    for (size_t i = 0; i < COUNT_OF(idle); i++)
        if (str_eq(key, str_c(idle[i])))
            return true;
    return false;
}

static Status read_option(const KeyValue *kv, LakeRewrite *rw, Error *err)
{
    const struct { const char *key; int64_t *at; } numbers[] = {
        { "target-file-size-bytes", &rw->target_bytes }, { "min-file-size-bytes", &rw->min_bytes }, { "max-file-size-bytes", &rw->max_bytes },
        { "max-file-group-size-bytes", &rw->max_group_bytes }, { "min-input-files", &rw->min_input_files }, { "delete-file-threshold", &rw->delete_file_threshold },
    };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (str_eq(kv->key, str_c(numbers[i].key)))
            return option_number(kv, numbers[i].at, err);
    if (str_eq(kv->key, S("rewrite-all"))) {
        rw->rewrite_all = str_ieq(kv->value, S("true"));
        return OK;
    }
    if (str_eq(kv->key, S("delete-ratio-threshold"))) {
        if (!str_to_f64(kv->value, &rw->delete_ratio_threshold) || !(rw->delete_ratio_threshold > 0 && rw->delete_ratio_threshold <= 1))
            return FAIL(err, E_INVALID, "option 'delete-ratio-threshold' must be in range (0, 1], not '" STR_FMT "'", STR_ARG(kv->value));
        return OK;
    }
    if (is_idle_option(kv->key))
        return OK;
    return FAIL(err, E_INVALID, "Cannot use options [" STR_FMT "], they are not supported by the action or the rewriter", STR_ARG(kv->key));
}

static Status check_sizes(const LakeRewrite *rw, Error *err)
{
    if (rw->target_bytes && rw->min_bytes && rw->min_bytes >= rw->target_bytes)
        return FAIL(err, E_INVALID, "'target-file-size-bytes' (%lld) must be > 'min-file-size-bytes' (%lld)", (long long)rw->target_bytes, (long long)rw->min_bytes);
    if (rw->target_bytes && rw->max_bytes && rw->max_bytes <= rw->target_bytes)
        return FAIL(err, E_INVALID, "'target-file-size-bytes' (%lld) must be < 'max-file-size-bytes' (%lld)", (long long)rw->target_bytes, (long long)rw->max_bytes);
    return OK;
}

/* ---- rewrite_data_files: order ----------------------------------------------------------------------------------------------------- */

/* "a DESC NULLS LAST, bucket(4, b)": cut at commas outside of parentheses and quotes. */
static void cut_list(Arena *a, Str text, StrVec *ret)
{
    int depth = 0;
    char quote = 0;
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        char ch = text.p[i];
        if (quote) {
            quote = ch == quote ? 0 : quote;
        } else if (ch == '`' || ch == '"' || ch == '\'') {
            quote = ch;
        } else if (ch == ',' && !depth) {
            vec_push(a, ret, str_trim(str_sub(text, from, i)));
            from = i + 1;
        } else {
            depth += (ch == '(') - (ch == ')');
        }
    }
    vec_push(a, ret, str_trim(str_from(text, from)));
}

static bool take_word(Str *s, Str word)
{
    if (s->n <= word.n || !str_ieq(str_from(*s, s->n - word.n), word))
        return false;
    char before = s->p[s->n - word.n - 1];
    if (before != ' ' && before != '\t' && before != '\n' && before != ')')
        return false;
    *s = str_trim(str_sub(*s, 0, s->n - word.n));
    return true;
}

static Status order_item(Call *c, Str text, OrderItem *ret, Error *err)
{
    *ret = (OrderItem){ .nulls_first = -1 };
    bool first = take_word(&text, S("FIRST")), last = !first && take_word(&text, S("LAST"));

    if ((first || last) && !take_word(&text, S("NULLS")))
        return FAIL(err, E_SYNTAX, "sort_order: NULLS expected before FIRST or LAST");
    if (first || last)
        ret->nulls_first = first;
    ret->descending = take_word(&text, S("DESC"));
    if (!ret->descending)
        take_word(&text, S("ASC"));
    TRY_CTX(sql_parse_expr(c->r->a, c->r->ss->dialect, text, &ret->expr, err), err, "sort_order");
    return OK;
}

static const IceSortOrder *default_order(const IceMetadata *m)
{
    for (size_t i = 0; i < m->orders.n; i++)
        if (m->orders.p[i]->id == m->default_order_id && m->orders.p[i]->fields.n)
            return m->orders.p[i];
    return NULL;
}

static Status rewrite_order(Call *c, LakeRewrite *rw, Error *err)
{
    const Arg *text = call_arg(c, "sort_order"), *strategy = call_arg(c, "strategy");
    bool sort = text->has || (strategy->has && str_ieq(strategy->text, S("sort")));
    IceSortOrder *made;
    OrderVec items = {0};
    StrVec parts = {0};

    if (strategy->has && !str_ieq(strategy->text, S("sort")) && !str_ieq(strategy->text, S("binpack")))
        return FAIL(err, E_INVALID, "unsupported strategy: " STR_FMT ". Only binpack or sort is supported", STR_ARG(strategy->text));
    if (strategy->has && !str_ieq(strategy->text, S("sort")) && text->has)
        return FAIL(err, E_INVALID, "Cannot set strategy to binpack when a sort_order is given");
    if (!sort)
        return OK;
    if (!text->has) {
        rw->order = default_order(c->table.meta);
        return rw->order ? OK : FAIL(err, E_INVALID, "Cannot sort data without a valid sort order: table " STR_FMT " is unsorted and no sort_order is given", STR_ARG(name_display(c->r->a, &c->name)));
    }
    cut_list(c->r->a, text->text, &parts);
    for (size_t i = 0; i < parts.n; i++) {
        OrderItem item;
        TRY(order_item(c, parts.p[i], &item, err));
        vec_push(c->r->a, &items, item);
    }
    TRY(alter_order_of(c->r, &c->name, ice_current_schema(c->table.meta), &items, &made, err));
    rw->order = made;
    return OK;
}

/* ---- rewrite_data_files: where ------------------------------------------------------------------------------------------------------- */

typedef struct WherePrinter { const TableRef *target; Str sql; Printer inner; } WherePrinter;

static Status print_target(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    WherePrinter *w = ctx;
    if (ref != w->target)
        return w->inner.table(w->inner.ctx, out, ref, err);
    sb_fmt(out, "(" STR_FMT ")", STR_ARG(w->sql));
    return OK;
}

/* The engine names files by local paths; the table by locations. */
static Status local_files(Call *c, Str sql, Map *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    size_t n;

    TRY(duck_query(c->r->c, sql, &res, err));
    for (;;) {
        TRY(duck_next(res, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++)
            map_put(ret, str_dup(c->r->a, duck_value(c->r->a, res, 0, i).string), ret);
    }
}

static Status files_of(Call *c, const IceSnapshot *s, const Map *locals, StrVec *ret, Error *err)
{
    IceScan scan = {0};

    TRY(ice_scan(c->r->a, c->r->svc->store, c->table.meta, s, NULL, &scan, err));
    for (size_t i = 0; i < scan.tasks.n; i++) {
        Str local;
        TRY(store_local_path(c->r->svc->store, c->r->a, scan.tasks.p[i].data->file.path, &local, err));
        if (map_has(locals, local))
            vec_push(c->r->a, ret, scan.tasks.p[i].data->file.path);
    }
    return OK;
}

/* Files that hold a row for which the condition is true. */
static Status rewrite_where(Call *c, LakeRewrite *rw, Error *err)
{
    Run *r = c->r;
    const Arg *where = call_arg(c, "where");
    const IceSnapshot *s = ice_current_snapshot(c->table.meta);
    LakeScan scan = { .snapshot = s, .schema = ice_current_schema(c->table.meta), .positions = 1 };
    TableRef *target = arena_new(r->a, TableRef);
    Map locals = map_new(r->a);
    StrVec *among = arena_new(r->a, StrVec);
    LakeRelation rel;
    Expr *e;
    Binder b;
    Str cond, text;

    if (!where->has || !s)
        return OK;
    *target = (TableRef){ .kind = TR_TABLE };
    TRY(call_table_name(c, c->args[0].text, &target->name, err));
    TRY_CTX(sql_parse_expr(r->a, r->ss->dialect, where->text, &e, err), err, "argument 'where'");
    run_binder(r, &b);
    TRY_CTX(sql_bind_expr(r->a, &b, target, e, err), err, "argument 'where'");
    if (e->type.kind != DT_BOOL)
        return FAIL(err, E_INVALID, "argument 'where' is of type " STR_FMT ", not boolean", STR_ARG(sql_type_name(r->a, r->ss->dialect, &e->type)));
    TRY(lake_scan(r->svc->lake, r->a, r->c, &c->table, &scan, &rel, err));
    vec_push(r->a, &r->relations, rel);
    WherePrinter w = { target, rel.sql, run_printer(r) };
    Printer p = { .ctx = &w, .table = print_target };
    TRY(sql_print_table(r->a, &p, target, &text, err));
    TRY(sql_print_expr(r->a, &p, e, &cond, err));
    Str sql = str_fmt(r->a, "SELECT DISTINCT " STR_FMT ".__file FROM " STR_FMT " WHERE " STR_FMT, STR_ARG(target->engine), STR_ARG(text), STR_ARG(cond));
    TRY(local_files(c, sql, &locals, err));
    rw->among = among;
    return files_of(c, s, &locals, among, err);
}

/* ---- rewrite_data_files ------------------------------------------------------------------------------------------------------------------ */

/* A view's files carry hidden state that the rewritten ones must keep. */
static Status hidden_of(Call *c, LakeRewrite *rw, Error *err)
{
    IceFields *fields = arena_new(c->r->a, IceFields);
    CatMview v;

    if (c->table.relation.kind != REL_MVIEW)
        return OK;
    TRY(cat_mview_get(c->r->svc->catalog, c->r->a, c->table.relation.id, &v, err));
    for (size_t i = 0; i < json_len(v.hidden); i++) {
        const Json *h = json_at(v.hidden, i);
        IceField f = { .id = (int32_t)json_get_int(h, "id", -1), .name = json_get_str(h, "name", (Str){0}) };
        TRY(ice_type_parse(c->r->a, json_get(h, "type"), &f.type, err));
        vec_push(c->r->a, fields, f);
    }
    rw->hidden = fields->n ? fields : NULL;
    return OK;
}

Status call_rewrite_data_files(Call *c, Error *err)
{
    const Arg *options = call_arg(c, "options");
    LakeRewrite rw = {0};
    LakeRewritten done;

    if (call_arg(c, "branch")->has && !str_eq(call_arg(c, "branch")->text, S("main")))
        return FAIL(err, E_UNSUPPORTED, "rewrite_data_files works on the main branch only");
    for (size_t i = 0; i < options->map.n; i++)
        TRY(read_option(&options->map.p[i], &rw, err));
    TRY(check_sizes(&rw, err));
    TRY(rewrite_order(c, &rw, err));
    TRY(rewrite_where(c, &rw, err));
    TRY(hidden_of(c, &rw, err));
    TRY(lake_rewrite_files(c->r->svc->lake, c->r->a, c->r->c, &c->table, &rw, &done, err));
    call_row(c, (const int64_t[]){ done.rewritten_files, done.added_files, done.rewritten_bytes, 0, done.removed_delete_files }, 5);
    return OK;
}

Status call_rewrite_position_delete_files(Call *c, Error *err)
{
    const Arg *options = call_arg(c, "options");
    LakeRewrite sizes = {0};
    LakeMergedDeletes done;

    if (call_arg(c, "where")->has)
        return FAIL(err, E_UNSUPPORTED, "rewrite_position_delete_files takes no condition here: it looks at every partition");
    for (size_t i = 0; i < options->map.n; i++)
        TRY(read_option(&options->map.p[i], &sizes, err));
    TRY(lake_merge_deletes(c->r->svc->lake, c->r->a, c->r->c, &c->table, sizes.rewrite_all ? 2 : sizes.min_input_files, &done, err));
    call_row(c, (const int64_t[]){ done.rewritten_files, done.added_files, done.rewritten_bytes, done.added_bytes }, 4);
    return OK;
}

/* ---- the others ---------------------------------------------------------------------------------------------------------------------------- */

Status call_rewrite_manifests(Call *c, Error *err)
{
    int64_t n[2];

    if (call_arg(c, "spec_id")->has && call_arg(c, "spec_id")->number != c->table.meta->default_spec_id)
        return FAIL(err, E_UNSUPPORTED, "rewrite_manifests rewrites the manifests of every partition spec; spec_id cannot choose another than the current one");
    TRY(lake_rewrite_manifests(c->r->svc->lake, c->r->a, &c->table, &n[0], &n[1], err));
    call_row(c, n, 2);
    return OK;
}

Status call_expire_snapshots(Call *c, Error *err)
{
    const Arg *ids = call_arg(c, "snapshot_ids"), *retain = call_arg(c, "retain_last");
    IceExpire e = { .older_than_ms = call_arg(c, "older_than")->number, .now_ms = clock_ms() };
    LakeExpired done;
    SnapshotIds pinned = {0};

    if (retain->has && (retain->number < 1 || retain->number > INT32_MAX))
        return FAIL(err, E_INVALID, "Number of snapshots to retain must be at least 1, cannot be: %lld", (long long)retain->number);
    if (call_arg(c, "clean_expired_metadata")->number)
        return FAIL(err, E_UNSUPPORTED, "clean_expired_metadata is not supported: old schemas and specs stay");
    e.retain_last = (int)retain->number;
    for (size_t i = 0; i < ids->longs.n; i++)
        vec_push(c->r->a, &e.ids, ids->longs.p[i]);
    TRY(upkeep_pinned(c->r->svc, c->r->a, &c->table, &pinned, err));
    TRY(lake_expire(c->r->svc->lake, c->r->a, &c->table, &e, pinned.p, pinned.n, &done, err));
    call_row(c, (const int64_t[]){ done.data_files, done.position_deletes, done.equality_deletes, done.manifests, done.manifest_lists, done.statistics }, 6);
    return OK;
}

Status call_remove_orphan_files(Call *c, Error *err)
{
    int64_t now = clock_ms(), older = now - (int64_t)ORPHAN_DEFAULT_DAYS * 24 * HOUR_MS;
    bool dry = call_arg(c, "dry_run")->number != 0;
    StrVec found = {0};

    if (call_arg(c, "older_than")->has)
        older = call_arg(c, "older_than")->number;
    if (!dry && older > now - (int64_t)ORPHAN_MINIMUM_HOURS * HOUR_MS)
        return FAIL(err, E_INVALID, "Cannot remove orphan files with an interval less than 24 hours. Executing this procedure with a short interval may corrupt the table "
                    "if other operations are happening at the same time.");
    if (str_ieq(props_get(&c->table.meta->properties, S("gc.enabled"), S("true")), S("false")))
        return FAIL(err, E_INVALID, "Cannot delete orphan files: GC is disabled (deleting files may corrupt other tables)");
    TRY(lake_remove_orphans(c->r->svc->lake, c->r->a, &c->table, call_arg(c, "location")->text, older, dry ? ORPHANS_LIST : ORPHANS_REMOVE, &found, err));
    for (size_t i = 0; i < found.n; i++)
        cell_str(c->rows, rows_row(c->rows), 0, found.p[i]);
    return OK;
}
