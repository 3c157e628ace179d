/* SPDX-License-Identifier: Apache-2.0 */
/* maintain.c - data files rewritten: many small ones, and ones with many deletes, become few of the target size.
 *
 * Plan on one snapshot, read each group of files with the deletes that stand, write new files, commit all groups as one `replace`.
 *
 * Invariants: (1) the new files carry the sequence number of the snapshot that was read, so equality deletes committed meanwhile still
 * apply to them; (2) a delete that came meanwhile for a file that was rewritten is a conflict: everything written is discarded and the plan
 * is made anew; (3) files are grouped by partition, and those of an older spec together: the new ones have the current spec. */
#include "lake/maintain.h"
#include "lake/lake_int.h"

enum { REWRITE_ROUNDS = 4, DEFAULT_MIN_INPUT = 5 };
#define DEFAULT_GROUP_BYTES (100ll << 30)
#define DEFAULT_TARGET_BYTES (512ll << 20)

typedef struct Group { VEC(const IceTask *) tasks; int64_t bytes; bool deletes; } Group;
typedef VEC(Group *) Groups;

typedef struct Rewrite {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    LakeTable table;
    LakeRewrite o;                    /* defaults filled in */
    const IceSnapshot *snapshot;
    IceScan scan;
    Groups groups;
    Str order_by;
    LakeFiles files;                  /* written */
    IceChange change;
    LakeRewritten *ret;
} Rewrite;

/* ---- the plan ------------------------------------------------------------------------------------------------------------------ */

static void fill_defaults(Rewrite *r, const LakeRewrite *o)
{
    int64_t target = DEFAULT_TARGET_BYTES;

    if (!str_to_i64(props_get(&r->table.meta->properties, S("write.target-file-size-bytes"), S("536870912")), &target) || target < 1)
        target = DEFAULT_TARGET_BYTES;
    r->o = *o;
    r->o.target_bytes = o->target_bytes > 0 ? o->target_bytes : target;
    r->o.min_bytes = o->min_bytes > 0 ? o->min_bytes : (int64_t)((double)r->o.target_bytes * 0.75);
    r->o.max_bytes = o->max_bytes > 0 ? o->max_bytes : (int64_t)((double)r->o.target_bytes * 1.8);
    r->o.max_group_bytes = o->max_group_bytes > 0 ? o->max_group_bytes : DEFAULT_GROUP_BYTES;
    r->o.min_input_files = o->min_input_files > 0 ? o->min_input_files : DEFAULT_MIN_INPUT;
    r->o.delete_file_threshold = o->delete_file_threshold > 0 ? o->delete_file_threshold : INT32_MAX;
    r->o.delete_ratio_threshold = o->delete_ratio_threshold > 0 ? o->delete_ratio_threshold : 0.3;
}

/* Only deletes of this file alone tell how much of it is gone. */
static bool many_deletes(const Rewrite *r, const IceTask *t)
{
    int64_t gone = 0;

    if ((int64_t)t->deletes.n >= r->o.delete_file_threshold)
        return true;
    for (size_t i = 0; i < t->deletes.n; i++)
        if (t->deletes.p[i]->file.content == CONTENT_POSITION_DELETES && t->deletes.p[i]->file.referenced_data_file.n)
            gone += t->deletes.p[i]->file.record_count;
    return t->data->file.record_count > 0 && (double)gone / (double)t->data->file.record_count >= r->o.delete_ratio_threshold;
}

static bool wants_rewrite(const Rewrite *r, const IceTask *t)
{
    int64_t size = t->data->file.size;

    if (r->o.among && !strvec_has(r->o.among, t->data->file.path))
        return false;
    return r->o.rewrite_all || size < r->o.min_bytes || size > r->o.max_bytes || many_deletes(r, t);
}

static Str partition_key(Rewrite *r, const IceFile *f)
{
    StrBuf b = sb_new(r->a);
    const IceSpec *spec = ice_spec(r->table.meta, f->spec_id);

    if (f->spec_id != r->table.meta->default_spec_id || !spec)
        return S("other spec");
    sb_fmt(&b, "%d", (int)f->spec_id);
    for (size_t i = 0; i < f->npartition; i++) {
        const IceValue *v = &f->partition[i];
        IceType type = { .kind = v->kind, .scale = v->scale, .precision = 38 };
        Str bytes = v->null ? S("") : ice_value_encode(r->a, &type, v);
        sb_fmt(&b, "/%d:%zu:", v->null, bytes.n);
        sb_add(&b, bytes);
    }
    return sb_str(&b);
}

static Group *group_for(Rewrite *r, Map *open, const IceFile *f)
{
    Str key = partition_key(r, f);
    Group *g = map_get(open, key);

    if (g && g->bytes + f->size <= r->o.max_group_bytes)
        return g;
    g = arena_new(r->a, Group);
    map_put(open, key, g);
    vec_push(r->a, &r->groups, g);
    return g;
}

static bool worth_it(const Rewrite *r, const Group *g)
{
    if (r->o.rewrite_all || g->deletes || g->bytes > r->o.max_bytes)
        return true;
    return g->tasks.n > 1 && ((int64_t)g->tasks.n >= r->o.min_input_files || g->bytes > r->o.target_bytes);
}

static Status plan(Rewrite *r, Error *err)
{
    Map open = map_new(r->a);
    size_t kept = 0;

    TRY(lake_plan(r->lake, r->a, &r->table, r->snapshot, NULL, &r->scan, err));
    for (size_t i = 0; i < r->scan.tasks.n; i++) {
        const IceTask *t = &r->scan.tasks.p[i];
        if (!wants_rewrite(r, t))
            continue;
        Group *g = group_for(r, &open, &t->data->file);
        vec_push(r->a, &g->tasks, t);
        g->bytes += t->data->file.size;
        g->deletes |= many_deletes(r, t);
    }
    for (size_t i = 0; i < r->groups.n; i++)
        if (worth_it(r, r->groups.p[i]))
            r->groups.p[kept++] = r->groups.p[i];
    r->groups.n = kept;
    return OK;
}

/* ---- the work -------------------------------------------------------------------------------------------------------------------- */

static Status order_text(Rewrite *r, Error *err)
{
    const IceSchema *s = ice_current_schema(r->table.meta);
    BoundColumns cols = {0};
    StrBuf b = sb_new(r->a);

    TRY(lake_columns(r->a, s, &cols, err));
    for (size_t i = 0; r->o.order && i < r->o.order->fields.n; i++) {
        const IceSortField *f = &r->o.order->fields.p[i];
        Str expr = {0};
        for (size_t k = 0; k < cols.n; k++)
            if (cols.p[k].field_id == f->source_id)
                TRY(lake_transform_sql(r->a, &f->transform, s->fields.p[k].type, sql_ident_str(r->a, cols.p[k].engine), &expr, err));
        if (!expr.n)
            return FAIL(err, E_UNSUPPORTED, "sorting by a nested column is not supported");
        sb_fmt(&b, "%s" STR_FMT " %s NULLS %s", i ? ", " : "", STR_ARG(expr), f->descending ? "DESC" : "ASC", f->nulls_last ? "LAST" : "FIRST");
    }
    r->order_by = sb_str(&b);
    return OK;
}

/* The writer takes its target size from the table's properties. */
static LakeTable with_target(Rewrite *r)
{
    LakeTable t = r->table;
    Props props = {0};

    t.meta = arena_new(r->a, IceMetadata);
    *t.meta = *r->table.meta;
    for (size_t i = 0; i < r->table.meta->properties.n; i++)
        vec_push(r->a, &props, r->table.meta->properties.p[i]);
    props_set(r->a, &props, S("write.target-file-size-bytes"), str_fmt(r->a, "%lld", (long long)r->o.target_bytes));
    t.meta->properties = props;
    return t;
}

/* Format 3: a row that moves keeps its id and the sequence number of its last change (spec "Row Lineage"). */
enum { ROW_ID = 2147483540, LAST_UPDATED = 2147483539 };

static IceFields hidden_fields(Rewrite *r)
{
    static IceType number = { .kind = ICE_LONG };
    IceFields all = {0};

    for (size_t i = 0; r->o.hidden && i < r->o.hidden->n; i++)
        vec_push(r->a, &all, r->o.hidden->p[i]);
    if (r->table.meta->format_version >= 3) {
        vec_push(r->a, &all, ((IceField){ .id = ROW_ID, .name = S("_row_id"), .type = &number }));
        vec_push(r->a, &all, ((IceField){ .id = LAST_UPDATED, .name = S("_last_updated_sequence_number"), .type = &number }));
    }
    return all;
}

static Status file_numbers(Rewrite *r, const Group *g, Str *ret, Error *err)
{
    StrBuf b = sb_new(r->a);

    for (size_t i = 0; i < g->tasks.n; i++) {
        const IceEntry *e = g->tasks.p[i]->data;
        Str local;
        TRY(store_local_path(r->lake->store, r->a, e->file.path, &local, err));
        sb_addc(&b, i ? ", (" : "(");
        sql_lit(&b, local);
        if (e->file.first_row_id.has)
            sb_fmt(&b, ", CAST(%lld AS BIGINT)", (long long)e->file.first_row_id.v);
        else
            sb_addc(&b, ", CAST(NULL AS BIGINT)");
        sb_fmt(&b, ", CAST(%lld AS BIGINT))", (long long)e->sequence_number.v);
    }
    *ret = sb_str(&b);
    return OK;
}

/* The scan with the lineage columns filled where the files leave them to be inherited. */
static Status with_lineage(Rewrite *r, const Group *g, const IceFields *hidden, Str scan, Str *ret, Error *err)
{
    BoundColumns cols = {0};
    StrBuf b = sb_new(r->a);
    Str numbers;

    TRY(lake_columns(r->a, ice_current_schema(r->table.meta), &cols, err));
    TRY(file_numbers(r, g, &numbers, err));
    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < cols.n; i++)
        sb_fmt(&b, "q." STR_FMT ", ", STR_ARG(sql_ident_str(r->a, cols.p[i].engine)));
    for (size_t i = 0; i + 2 < hidden->n; i++)
        sb_fmt(&b, "q." STR_FMT ", ", STR_ARG(sql_ident_str(r->a, hidden->p[i].name)));
    sb_addc(&b, "coalesce(q._row_id, f.first_row_id + q.__pos) AS _row_id, "
                "coalesce(q._last_updated_sequence_number, f.number) AS _last_updated_sequence_number FROM (");
    sb_fmt(&b, STR_FMT ") q JOIN (VALUES " STR_FMT ") f(file, first_row_id, number) ON q.__file = f.file", STR_ARG(scan), STR_ARG(numbers));
    *ret = sb_str(&b);
    return OK;
}

static Status write_group(Rewrite *r, const Group *g, const StrVec *paths, LakeFiles *made, Error *err)
{
    const IceSchema *s = ice_current_schema(r->table.meta);
    LakeTable target = with_target(r);
    IceFields hidden = hidden_fields(r);
    int lineage = r->table.meta->format_version >= 3;
    LakeScan scan = { .snapshot = r->snapshot, .schema = s, .hidden = &hidden, .only_files = paths, .positions = lineage };
    LakeWrite w = { .table = &target, .schema = s, .hidden = &hidden, .order_by = r->order_by, .prefix = r->o.prefix };
    LakeRelation rel = {0};
    int64_t rows;

    TRY(lake_scan(r->lake, r->a, r->c, &r->table, &scan, &rel, err));
    Str sql = rel.sql;
    Status done = lineage ? with_lineage(r, g, &hidden, rel.sql, &sql, err) : OK;
    if (done == OK)
        done = lake_write(r->lake, r->a, r->c, &w, sql, made, &rows, err);
    lake_relation_drop(r->c, &rel);
    return done;
}

static Status rewrite_group(Rewrite *r, const Group *g, Error *err)
{
    StrVec paths = {0};
    LakeFiles made = {0};

    for (size_t i = 0; i < g->tasks.n; i++) {
        vec_push(r->a, &paths, g->tasks.p[i]->data->file.path);
        vec_push(r->a, &r->change.remove_data, g->tasks.p[i]->data->file.path);
    }
    TRY(write_group(r, g, &paths, &made, err));
    for (size_t i = 0; i < made.n; i++) {
        if (r->o.order && r->o.order->id > 0)
            made.p[i].file.sort_order_id = SOME_I32(r->o.order->id);
        vec_push(r->a, &r->files, made.p[i]);
        vec_push(r->a, &r->change.add_data, made.p[i].file);
    }
    r->ret->rewritten_files += (int64_t)g->tasks.n;
    r->ret->rewritten_bytes += g->bytes;
    r->ret->added_files += (int64_t)made.n;
    return OK;
}

static void describe_change(Rewrite *r)
{
    r->change.operation = S("replace");
    r->change.base_snapshot = SOME_I64(r->snapshot->id);
    r->change.check_conflicts = 1;                                                        /* (2) */
    if (r->table.meta->format_version > 1)
        r->change.data_sequence_number = SOME_I64(r->snapshot->sequence_number);          /* (1) */
}

static Status commit_groups(Rewrite *r, Error *err)
{
    LakeTable next;
    int64_t gone = 0;

    describe_change(r);
    TRY(lake_commit(r->lake, r->a, &r->table, &r->change, NULL, 0, &next, err));
    const IceSnapshot *s = ice_current_snapshot(next.meta);
    if (s && str_to_i64(props_get(&s->summary, S("removed-delete-files"), S("0")), &gone))
        r->ret->removed_delete_files = gone;
    return OK;
}

static Status rewrite_groups(Rewrite *r, const LakeRewrite *o, Error *err)
{
    *r->ret = (LakeRewritten){0};
    r->snapshot = ice_current_snapshot(r->table.meta);
    if (!r->snapshot)
        return OK;
    fill_defaults(r, o);
    TRY(plan(r, err));
    TRY(order_text(r, err));
    for (size_t i = 0; i < r->groups.n; i++)
        TRY(rewrite_group(r, r->groups.p[i], err));
    return OK;
}

Status lake_rewrite_prepare(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeRewrite *o, IceChange *ch, LakeFiles *files, LakeRewritten *ret, Error *err)
{
    Rewrite r = { .lake = l, .a = a, .c = c, .table = *t, .ret = ret };

    Status s = rewrite_groups(&r, o, err);
    if (s != OK) {
        lake_discard(l, &r.files);
        return s;
    }
    if (r.groups.n)
        describe_change(&r);
    *ch = r.change;
    *files = r.files;
    return OK;
}

Status lake_rewrite_files(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeRewrite *o, LakeRewritten *ret, Error *err)
{
    LakeTable now = *t;

    for (int round = 1; ; round++) {
        Rewrite r = { .lake = l, .a = a, .c = c, .table = now, .ret = ret };
        CatRelation rel;
        Status s = rewrite_groups(&r, o, err);
        if (s == OK && r.groups.n)
            s = commit_groups(&r, err);
        if (s == OK)
            return OK;
        lake_discard(l, &r.files);
        *ret = (LakeRewritten){0};
        if (s != E_CONFLICT || round == REWRITE_ROUNDS)
            return s;
        TRY(cat_relation_by_id(l->catalog, a, t->relation.id, &rel, err));
        TRY(lake_open_relation(l, a, &rel, &now, err));
        now.rights = t->rights;
    }
}
