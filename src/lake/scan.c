/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - a table at a snapshot as a query over its files.
 *
 * Files that look alike and have no deletes are read by one read_parquet; a file with deletes has a branch of its own
 * with the condition that keeps its live rows.  Deleted positions are sets of row numbers (deleted.c).
 *
 * Invariants: (1) every data file of the snapshot is in exactly one branch; (2) every branch gives the same columns with the
 * same types in the same order. */
#include "lake/external_int.h"
#include "lake/scan_int.h"

/* ---- columns ------------------------------------------------------------------------------------------------------ */

Status scan_begin(ScanBuild *b, Error *err)
{
    Str mapping = props_get(&b->table->meta->properties, S("schema.name-mapping.default"), (Str){0});

    TRY(lake_columns(b->a, b->schema, &b->columns, err));
    if (mapping.n) {
        TRY_CTX(ice_name_mapping_parse(b->a, mapping, &b->mapping, err), err, "property schema.name-mapping.default");
        b->has_mapping = 1;
    }
    return OK;
}

static Projection projection(const ScanBuild *b, const ScanUnit *u)
{
    return (Projection){ .a = b->a, .layout = u->layout, .mapping = b->has_mapping ? &b->mapping : NULL,
                         .spec = u->spec, .schema = b->schema, .file = &u->task->data->file };
}

uint8_t *scan_columns(ScanBuild *b, const ScanUnit *u)
{
    uint8_t *read = arena_array(b->a, uint8_t, u->layout->columns.n + 1);
    Projection p = projection(b, u);

    memset(read, 0, u->layout->columns.n + 1);
    for (size_t i = 0; i < b->schema->fields.n + (b->hidden ? b->hidden->n : 0); i++) {
        bool visible = i < b->schema->fields.n;
        const FileColumn *c = lake_file_column(&p, visible ? &b->schema->fields.p[i] : &b->hidden->p[i - b->schema->fields.n]);
        if (c && (!visible || scan_reads(b, i)))
            read[c - u->layout->columns.p] = 1;
    }
    return read;
}

bool scan_reads(const ScanBuild *b, size_t field) { return !b->reads || b->reads[field]; }

/* The columns that are read, each by what its maker gives; a relation has one at least. */
typedef Status (*ColumnText)(ScanBuild *b, const Projection *p, const IceField *f, Str *ret, Error *err);

static Status add_column(ScanBuild *b, const Projection *p, const IceField *f, Str name, ColumnText text, StrBuf *out, Error *err)
{
    Str sql;

    TRY(text(b, p, f, &sql, err));
    sb_fmt(out, "%s" STR_FMT " AS ", out->n ? ", " : "", STR_ARG(sql));
    sql_ident(out, name);
    return OK;
}

static Status column_list(ScanBuild *b, const Projection *p, ColumnText text, Str *ret, Error *err)
{
    StrBuf out = sb_new(b->a);

    for (size_t i = 0; i < b->schema->fields.n; i++)
        if (scan_reads(b, i))
            TRY(add_column(b, p, &b->schema->fields.p[i], b->columns.p[i].engine, text, &out, err));
    for (size_t i = 0; b->hidden && i < b->hidden->n; i++)
        TRY(add_column(b, p, &b->hidden->p[i], b->hidden->p[i].name, text, &out, err));
    if (!out.n)
        sb_addc(&out, "NULL AS __nothing");
    *ret = sb_str(&out);
    return OK;
}

static Status projected(ScanBuild *b UNUSED, const Projection *p, const IceField *f, Str *ret, Error *err) { return lake_project(p, f, ret, err); }

static Status typed_null(ScanBuild *b, const Projection *p UNUSED, const IceField *f, Str *ret, Error *err)
{
    DataType t;
    TRY(lake_type(b->a, f->type, &t, err));
    *ret = str_fmt(b->a, "CAST(NULL AS " STR_FMT ")", STR_ARG(data_type_sql(b->a, &t)));
    return OK;
}

Status scan_empty(ScanBuild *b, Str extra, Str *ret, Error *err)
{
    StrBuf out = sb_new(b->a);
    Str columns;

    TRY(column_list(b, NULL, typed_null, &columns, err));
    sb_fmt(&out, "SELECT " STR_FMT, STR_ARG(columns));
    if (b->positions)
        sb_addc(&out, ", CAST(NULL AS VARCHAR) AS __file, CAST(NULL AS BIGINT) AS __pos");
    sb_add(&out, extra);
    sb_addc(&out, " WHERE false");
    *ret = sb_str(&out);
    return OK;
}

static void add_files(const ScanUnit *const *units, size_t n, const char *more, StrBuf *out)
{
    if (units[0]->hot.n) {
        sb_add(out, units[0]->hot);                /* alone in its group */
        return;
    }
    sb_addc(out, "read_parquet([");
    for (size_t i = 0; i < n; i++) {
        sb_addc(out, i ? ", " : "");
        sql_lit(out, units[i]->local);
    }
    sb_fmt(out, "], hive_partitioning = false%s)", more);
}

Status scan_select(ScanBuild *b, const ScanUnit *const *units, size_t n, Str extra, Str condition, Str *ret, Error *err)
{
    StrBuf out = sb_new(b->a);
    Projection p = projection(b, units[0]);
    Str columns;

    TRY_CTX(column_list(b, &p, projected, &columns, err), err, "data file '" STR_FMT "'", STR_ARG(units[0]->task->data->file.path));
    sb_fmt(&out, "SELECT " STR_FMT, STR_ARG(columns));
    if (b->positions)
        sb_addc(&out, ", r.filename AS __file, r.file_row_number AS __pos");
    sb_add(&out, extra);
    sb_addc(&out, " FROM ");
    add_files(units, n, b->positions || condition.n ? ", file_row_number = true, filename = true" : "", &out);
    sb_addc(&out, " r");
    if (condition.n)
        sb_fmt(&out, " WHERE " STR_FMT, STR_ARG(condition));
    *ret = sb_str(&out);
    return OK;
}

bool scan_by_position(const IceTask *t)
{
    for (size_t k = 0; k < t->deletes.n; k++)
        if (t->deletes.p[k]->file.content == CONTENT_EQUALITY_DELETES)
            return false;
    return true;
}

bool scan_is_dv(const IceFile *f) { return f->content == CONTENT_POSITION_DELETES && str_eq(f->format, S("PUFFIN")); }

/* ---- units ---------------------------------------------------------------------------------------------------------- */

Status scan_may_read(ScanBuild *b, const IceFile *f, Error *err)
{
    LakeHooks *h = &b->lake->hooks;

    if (!str_eq(f->format, S("PARQUET")) && !scan_is_dv(f))
        return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "' is an " STR_FMT " file: only Parquet data files can be read", STR_ARG(f->path), STR_ARG(f->format));
    if (f->key_metadata.n)
        return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "' is encrypted", STR_ARG(f->path));
    TRY(lake_file_allowed(b->lake, b->a, b->table, f->path, err));
    return h->before_read ? h->before_read(h->ctx, b->a, f->path, err) : OK;
}

static Status resolve(ScanBuild *b, const IceFile *f, Str *local, Error *err)
{
    TRY(scan_may_read(b, f, err));
    return store_local_path(b->lake->store, b->a, f->path, local, err);
}

/* Data and delete files together, side by side where they are elsewhere. */
static void prefetch(ScanBuild *b, const IceScan *scan, const StrVec *only)
{
    StrVec uris = {0};
    Map seen = map_new(b->a);

    for (size_t i = 0; !b->lake->catalog && i < scan->tasks.n; i++) {
        const IceTask *t = &scan->tasks.p[i];
        if (only && !strvec_has(only, t->data->file.path))
            continue;
        vec_push(b->a, &uris, t->data->file.path);
        for (size_t k = 0; k < t->deletes.n; k++) {
            Str path = t->deletes.p[k]->file.path;
            if (scan_is_dv(&t->deletes.p[k]->file) || map_has(&seen, path))
                continue;
            map_put(&seen, path, &seen);
            vec_push(b->a, &uris, path);
        }
    }
    store_prefetch(b->lake->store, &uris);
}

Status scan_units(ScanBuild *b, const IceScan *scan, const StrVec *only, ScanUnits *ret, Error *err)
{
    StrVec locals = {0};

    prefetch(b, scan, only);
    for (size_t i = 0; i < scan->tasks.n; i++) {
        const IceTask *t = &scan->tasks.p[i];
        if (only && !strvec_has(only, t->data->file.path))
            continue;
        ScanUnit u = { .task = t, .spec = ice_spec(b->table->meta, t->data->file.spec_id) };
        TRY(resolve(b, &t->data->file, &u.local, err));
        vec_push(b->a, &locals, u.local);
        vec_push(b->a, ret, u);
        b->ret->rows_upper += t->data->file.record_count;
        b->ret->bytes += t->data->file.size;
    }
    FileLayout **layouts = arena_array(b->a, FileLayout *, ret->n + 1);
    TRY(lake_layouts(b->lake, b->a, &locals, layouts, err));
    for (size_t i = 0; i < ret->n; i++)
        ret->p[i].layout = layouts[i];
    b->ret->files = (int64_t)ret->n;
    b->ret->files_skipped = (int64_t)(scan->files_total - ret->n);
    return OK;
}

/* ---- live rows ------------------------------------------------------------------------------------------------------------- */

static const IceField *field_anywhere(const IceMetadata *m, int32_t id)
{
    const IceField *f = ice_field_by_id(ice_current_schema(m), id);
    for (size_t i = m->schemas.n; !f && i-- > 0; )
        f = ice_field_by_id(m->schemas.p[i], id);
    return f;
}

/* NOT EXISTS (a row of the delete file equal in every equality column, null equal to null). Spec "Equality Delete Files". */
static Status and_not_equal(ScanBuild *b, const ScanUnit *u, const IceFile *d, StrBuf *out, Error *err)
{
    StrVec paths = {0};
    FileLayout *layout;
    StrBuf cond = sb_new(b->a), cols = sb_new(b->a);
    Str local, mine, theirs;

    TRY(resolve(b, d, &local, err));
    vec_push(b->a, &paths, local);
    TRY(lake_layouts(b->lake, b->a, &paths, &layout, err));
    Projection data = projection(b, u), del = { .a = b->a, .layout = layout, .mapping = data.mapping, .schema = b->schema, .file = d };
    for (size_t i = 0; i < d->equality_ids.n; i++) {
        const IceField *f = field_anywhere(b->table->meta, d->equality_ids.p[i]);
        if (!f)
            return FAIL(err, E_CORRUPT, "equality delete file '" STR_FMT "' uses unknown field id %d", STR_ARG(d->path), d->equality_ids.p[i]);
        TRY(lake_project(&data, f, &mine, err));
        TRY(lake_project(&del, f, &theirs, err));
        sb_fmt(&cols, "%s" STR_FMT " AS e%zu", i ? ", " : "", STR_ARG(theirs), i);
        sb_fmt(&cond, "%se.e%zu IS NOT DISTINCT FROM " STR_FMT, i ? " AND " : "", i, STR_ARG(mine));
    }
    if (!d->equality_ids.n)
        return FAIL(err, E_CORRUPT, "equality delete file '" STR_FMT "' names no columns", STR_ARG(d->path));
    sb_fmt(out, "%sNOT EXISTS (SELECT 1 FROM (SELECT " STR_FMT " FROM read_parquet(" STR_FMT ", hive_partitioning = false) r) e WHERE " STR_FMT ")",
           out->n ? " AND " : "", STR_ARG(sb_str(&cols)), STR_ARG(sql_lit_str(b->a, local)), STR_ARG(sb_str(&cond)));
    return OK;
}

Status scan_live(ScanBuild *b, const ScanUnit *u, Str *ret, Error *err)
{
    StrBuf out = sb_new(b->a);

    if (rowset_count(u->deleted))
        sb_fmt(&out, "NOT firn_in_rows(%lld, r.file_row_number)", (long long)u->lent);
    for (size_t k = 0; k < u->task->deletes.n; k++)
        if (u->task->deletes.p[k]->file.content == CONTENT_EQUALITY_DELETES)
            TRY(and_not_equal(b, u, &u->task->deletes.p[k]->file, &out, err));
    *ret = sb_str(&out);
    return OK;
}

/* ---- grouping ---------------------------------------------------------------------------------------------------------------- */

static bool needs_partition(const ScanBuild *b, const Projection *p)
{
    for (size_t i = 0; i < b->schema->fields.n; i++)
        if (scan_reads(b, i) && lake_needs_partition(p, &b->schema->fields.p[i]))
            return true;
    return false;
}

static Str group_key(ScanBuild *b, const ScanUnit *u)
{
    Projection p = projection(b, u);
    if (u->task->deletes.n || u->hot.n)
        return str_fmt(b->a, "f%p", (const void *)u);
    if (needs_partition(b, &p))
        return str_fmt(b->a, "p%p/%d/" STR_FMT, (void *)u->layout, u->spec->id, STR_ARG(ice_partition_path(b->a, u->spec, ice_current_schema(b->table->meta), u->task->data->file.partition)));
    return str_fmt(b->a, "l%p", (void *)u->layout);
}

typedef VEC(const ScanUnit *) UnitRefs;

static double off(int64_t rows, double mean)
{
    double r = (double)rows + 1;
    return r > mean ? r / mean : mean / r;
}

/* The engine takes the first file's rows times the number of files for the whole: the most typical file goes first, or a small
 * newest file makes a join build its table from the large side. */
static void typical_first(UnitRefs *g)
{
    double mean = 1;
    size_t best = 0;

    for (size_t i = 0; i < g->n; i++)
        mean += (double)g->p[i]->task->data->file.record_count / (double)g->n;
    for (size_t i = 1; i < g->n; i++)
        if (off(g->p[i]->task->data->file.record_count, mean) < off(g->p[best]->task->data->file.record_count, mean))
            best = i;
    const ScanUnit *first = g->p[best];
    g->p[best] = g->p[0];
    g->p[0] = first;
}

Status scan_union(ScanBuild *b, const ScanUnits *units, Str extra, StrVec *selects, Error *err)
{
    Map groups = map_new(b->a);

    for (size_t i = 0; i < units->n; i++) {
        Str key = group_key(b, &units->p[i]);
        UnitRefs *g = map_get(&groups, key);
        if (!g) {
            g = arena_new(b->a, UnitRefs);
            map_put(&groups, key, g);
        }
        vec_push(b->a, g, &units->p[i]);
    }
    for (size_t i = 0; i < groups.n; i++) {
        UnitRefs *g = groups.entries[i].value;
        Str live, sql;
        typical_first(g);
        TRY(scan_live(b, g->p[0], &live, err));
        TRY(scan_select(b, g->p, g->n, extra, live, &sql, err));
        vec_push(b->a, selects, sql);
    }
    return OK;
}

Status lake_scan(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeScan *s, LakeRelation *ret, Error *err)
{
    ScanBuild b = { .lake = l, .a = a, .c = c, .table = t, .schema = s->schema, .hidden = s->hidden, .reads = s->reads, .positions = s->positions, .ret = ret };
    IceScan scan = {0};
    ScanUnits units = {0};
    StrVec selects = {0};

    *ret = (LakeRelation){0};
    if (t->external)
        return external_scan(l, a, c, t, s, ret, err);
    TRY(scan_begin(&b, err));
    if (s->snapshot)
        TRY_CTX(lake_plan(l, a, t, s->snapshot, s->where, &scan, err), err, "table " STR_FMT "." STR_FMT, STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    TRY(scan_units(&b, &scan, s->only_files, &units, err));
    TRY(scan_positions(&b, &units, err));
    if (s->hot)
        scan_hot(&b, &units, HOT_MAKE);
    TRY(scan_union(&b, &units, (Str){0}, &selects, err));
    if (!selects.n) {
        Str sql;
        TRY(scan_empty(&b, (Str){0}, &sql, err));
        vec_push(a, &selects, sql);
    }
    ret->sql = str_join(a, &selects, S(" UNION ALL "));
    return OK;
}

void lake_relation_drop(DuckConn *c, const LakeRelation *r)
{
    for (size_t i = 0; i < r->temp_tables.n; i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Error ignored;
        if (duck_exec(c, str_fmt(a, "DROP TABLE IF EXISTS temp." STR_FMT, STR_ARG(r->temp_tables.p[i])), &ignored) != OK)
            continue;                              /* dies with the connection */
    }
    for (size_t i = 0; i < r->row_sets.n; i++)
        duck_rows_return(c, r->row_sets.p[i]);
    for (size_t i = 0; i < r->holds.n; i++)
        duck_let_go(c, r->holds.p[i]);
}
