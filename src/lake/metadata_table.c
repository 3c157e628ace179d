/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_table.c - what a table says of itself: t.snapshots, t.files, … with Spark's columns.
 *
 * A metadata table is a temporary table that is filled when a query reads it.  Its columns are a fixed list, but for three whose
 * types depend on the table: `partition` (absent in unpartitioned tables), `readable_metrics`, and `row` of position deletes.
 * Structs are kept as their leaves and packed by the query: nested engine values are dear to make, and most queries ask for few of them.
 *
 * Invariants: (1) the binder's columns and the filled table come from the same MdShape, so they cannot differ; (2) leaves are made, filled
 * and packed in the same order, depth first. */
#include "lake/metadata_table_int.h"

typedef struct MdColumn { const char *name, *type; } MdColumn;               /* type NULL: depends on the table */

static const MdColumn snapshot_columns[] = {
    { "committed_at", "timestamp" }, { "snapshot_id", "bigint" }, { "parent_id", "bigint" }, { "operation", "string" },
    { "manifest_list", "string" }, { "summary", "map<string,string>" },
};
static const MdColumn history_columns[] = {
    { "made_current_at", "timestamp" }, { "snapshot_id", "bigint" }, { "parent_id", "bigint" }, { "is_current_ancestor", "boolean" },
};
static const MdColumn ref_columns[] = {
    { "name", "string" }, { "type", "string" }, { "snapshot_id", "bigint" }, { "max_reference_age_in_ms", "bigint" },
    { "min_snapshots_to_keep", "int" }, { "max_snapshot_age_in_ms", "bigint" },
};
static const MdColumn log_columns[] = {
    { "timestamp", "timestamp" }, { "file", "string" }, { "latest_snapshot_id", "bigint" }, { "latest_schema_id", "int" },
    { "latest_sequence_number", "bigint" },
};
static const MdColumn manifest_columns[] = {
    { "content", "int" }, { "path", "string" }, { "length", "bigint" }, { "partition_spec_id", "int" }, { "added_snapshot_id", "bigint" },
    { "added_data_files_count", "int" }, { "existing_data_files_count", "int" }, { "deleted_data_files_count", "int" },
    { "added_delete_files_count", "int" }, { "existing_delete_files_count", "int" }, { "deleted_delete_files_count", "int" },
    { "partition_summaries", "array<struct<contains_null:boolean,contains_nan:boolean,lower_bound:string,upper_bound:string>>" },
    { "reference_snapshot_id", "bigint" },
};
static const MdColumn file_columns[] = {
    { "content", "int" }, { "file_path", "string" }, { "file_format", "string" }, { "spec_id", "int" }, { "partition", NULL },
    { "record_count", "bigint" }, { "file_size_in_bytes", "bigint" }, { "column_sizes", "map<int,bigint>" },
    { "value_counts", "map<int,bigint>" }, { "null_value_counts", "map<int,bigint>" }, { "nan_value_counts", "map<int,bigint>" },
    { "lower_bounds", "map<int,binary>" }, { "upper_bounds", "map<int,binary>" }, { "key_metadata", "binary" },
    { "split_offsets", "array<bigint>" }, { "equality_ids", "array<int>" }, { "sort_order_id", "int" }, { "first_row_id", "bigint" },
    { "referenced_data_file", "string" }, { "content_offset", "bigint" }, { "content_size_in_bytes", "bigint" }, { "readable_metrics", NULL },
};
static const MdColumn entry_columns[] = {
    { "status", "int" }, { "snapshot_id", "bigint" }, { "sequence_number", "bigint" }, { "file_sequence_number", "bigint" },
    { "data_file", NULL }, { "readable_metrics", NULL },
};
static const MdColumn partition_columns[] = {
    { "partition", NULL }, { "spec_id", "int" }, { "record_count", "bigint" }, { "file_count", "int" },
    { "total_data_file_size_in_bytes", "bigint" }, { "position_delete_record_count", "bigint" }, { "position_delete_file_count", "int" },
    { "equality_delete_record_count", "bigint" }, { "equality_delete_file_count", "int" }, { "last_updated_at", "timestamp" },
    { "last_updated_snapshot_id", "bigint" },
};
static const MdColumn position_columns[] = {
    { "file_path", "string" }, { "pos", "bigint" }, { "row", NULL }, { "partition", NULL }, { "spec_id", "int" }, { "delete_file_path", "string" },
    { "content_offset", "bigint" }, { "content_size_in_bytes", "bigint" },
};

typedef struct MdTable { const char *name; const MdColumn *columns; size_t n; MdFiller fill; } MdTable;
#define COLUMNS(list) list, COUNT_OF(list)

static const MdTable tables[] = {
    { "snapshots", COLUMNS(snapshot_columns), md_fill_snapshots },
    { "history", COLUMNS(history_columns), md_fill_history },
    { "refs", COLUMNS(ref_columns), md_fill_refs },
    { "metadata_log_entries", COLUMNS(log_columns), md_fill_metadata_log },
    { "manifests", manifest_columns, COUNT_OF(manifest_columns) - 1, md_fill_manifests },      /* without reference_snapshot_id */
    { "all_manifests", COLUMNS(manifest_columns), md_fill_all_manifests },
    { "files", COLUMNS(file_columns), md_fill_files },
    { "data_files", COLUMNS(file_columns), md_fill_data_files },
    { "delete_files", COLUMNS(file_columns), md_fill_delete_files },
    { "all_files", COLUMNS(file_columns), md_fill_all_files },
    { "all_data_files", COLUMNS(file_columns), md_fill_all_data_files },
    { "all_delete_files", COLUMNS(file_columns), md_fill_all_delete_files },
    { "entries", COLUMNS(entry_columns), md_fill_entries },
    { "all_entries", COLUMNS(entry_columns), md_fill_all_entries },
    { "partitions", COLUMNS(partition_columns), md_fill_partitions },
    { "position_deletes", COLUMNS(position_columns), md_fill_position_deletes },
};

static const MdTable *find(Str name)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        if (str_ieq(name, str_c(tables[i].name)))
            return &tables[i];
    return NULL;
}

bool lake_is_metadata_table(Str name) { return find(name) != NULL; }

/* ---- the partition type ------------------------------------------------------------------------------------------------- */

static const IceField *source_of(const IceMetadata *m, const IcePartitionField *f)
{
    int32_t id = f->source_ids.n ? f->source_ids.p[0] : f->source_id;
    const IceField *source = ice_field_by_id(ice_current_schema(m), id);

    for (size_t i = m->schemas.n; !source && i-- > 0; )
        source = ice_field_by_id(m->schemas.p[i], id);
    return source;
}

static MdPartField *part_field(MdPartFields *fields, int32_t id)
{
    for (size_t i = 0; i < fields->n; i++)
        if (fields->p[i].id == id)
            return &fields->p[i];
    return NULL;
}

static bool name_taken(const MdPartFields *fields, Str name)
{
    for (size_t i = 0; i < fields->n; i++)
        if (str_ieq(fields->p[i].name, name))
            return true;
    return false;
}

/* A field that a later spec voided keeps the type of the spec that had it. */
static void add_part_field(Arena *a, const IceMetadata *m, const IcePartitionField *f, MdPartFields *ret)
{
    const IceField *source = source_of(m, f);
    MdPartField *have = part_field(ret, f->field_id);
    MdPartField one = { .id = f->field_id, .name = f->name };
    Error unreadable;

    if (!source || (have && (f->transform.kind == TRANSFORM_VOID || have->ice)))
        return;
    one.ice = ice_transform_result(a, &f->transform, source->type);
    if (!one.ice || lake_type(a, one.ice, &one.type, &unreadable) != OK)
        return;
    if (have) {
        have->ice = one.ice;
        have->type = one.type;
        return;
    }
    if (name_taken(ret, one.name))
        one.name = str_fmt(a, STR_FMT "_%d", STR_ARG(one.name), (int)one.id);
    if (f->transform.kind == TRANSFORM_VOID)
        one.ice = NULL;
    vec_push(a, ret, one);
}

static void partition_fields(Arena *a, const IceMetadata *m, MdPartFields *ret)
{
    MdPartFields all = {0};

    for (size_t i = m->specs.n; i-- > 0; )                       /* newest names first */
        for (size_t k = 0; k < m->specs.p[i]->fields.n; k++)
            add_part_field(a, m, &m->specs.p[i]->fields.p[k], &all);
    for (size_t i = 0; i < all.n; i++) {                          /* by field id */
        vec_push(a, ret, all.p[i]);
        for (size_t k = ret->n - 1; k > 0 && ret->p[k - 1].id > ret->p[k].id; k--) {
            MdPartField t = ret->p[k];
            ret->p[k] = ret->p[k - 1];
            ret->p[k - 1] = t;
        }
    }
}

/* ---- the metrics type ------------------------------------------------------------------------------------------------------ */

static void insert_metric(Arena *a, MdMetrics *ret, MdMetric x)
{
    size_t at = 0;

    for (; at < ret->n && str_cmp(ret->p[at].name, x.name) < 0; at++) ;
    for (size_t i = 0; i < ret->n; i++)
        if (str_ieq(ret->p[i].name, x.name))                      /* the engine's structs fold case: the first one is shown */
            return;
    vec_push(a, ret, x);
    for (size_t i = ret->n - 1; i > at; i--)
        ret->p[i] = ret->p[i - 1];
    ret->p[at] = x;
}

static void metric_fields(Arena *a, const IceFields *fields, Str prefix, MdMetrics *ret)
{
    for (size_t i = 0; i < fields->n; i++) {
        const IceField *f = &fields->p[i];
        MdMetric x = { .field = f, .name = prefix.n ? str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(f->name)) : f->name };
        Error unreadable;
        if (f->type->fields.n)
            metric_fields(a, &f->type->fields, x.name, ret);
        else if (f->type->kind < ICE_STRUCT && f->type->kind != ICE_UNKNOWN && lake_type(a, f->type, &x.type, &unreadable) == OK)
            insert_metric(a, ret, x);
    }
}

/* ---- the row type ---------------------------------------------------------------------------------------------------------- */

static DataType struct_type(Arena *a, size_t max)
{
    return (DataType){ .kind = DT_STRUCT, .children = arena_array(a, DataType, max + 1), .names = arena_array(a, Str, max + 1) };
}

static void add_child(DataType *t, Str name, DataType child)
{
    t->names[t->nchildren] = name;
    t->children[t->nchildren++] = child;
}

static DataType partition_type(Arena *a, const MdShape *s)
{
    DataType t = struct_type(a, s->partition.n);
    for (size_t i = 0; i < s->partition.n; i++)
        add_child(&t, s->partition.p[i].name, s->partition.p[i].type);
    return t;
}

static DataType metrics_type(Arena *a, const MdShape *s)
{
    static const char *const counts[] = { "column_size", "value_count", "null_value_count", "nan_value_count" };
    DataType t = struct_type(a, s->metrics.n);

    for (size_t i = 0; i < s->metrics.n; i++) {
        DataType one = struct_type(a, 6);
        for (size_t k = 0; k < COUNT_OF(counts); k++)
            add_child(&one, str_c(counts[k]), (DataType){ .kind = DT_INT64 });
        add_child(&one, S("lower_bound"), s->metrics.p[i].type);
        add_child(&one, S("upper_bound"), s->metrics.p[i].type);
        add_child(&t, s->metrics.p[i].name, one);
    }
    return t;
}

static DataType row_of_schema(Arena *a, const IceMetadata *m)
{
    IceType all = { .kind = ICE_STRUCT, .fields = ice_current_schema(m)->fields };
    DataType t = { .kind = DT_STRUCT };
    Error unreadable;
    return lake_type(a, &all, &t, &unreadable) == OK ? t : (DataType){ .kind = DT_STRUCT };
}

static Status add_columns(Arena *a, const IceMetadata *m, const MdColumn *columns, size_t n, MdShape *s, DataType *ret, Error *err);

/* A type that depends on the table; without children: the column is left out. */
static Status special_type(Arena *a, const IceMetadata *m, const char *name, MdShape *s, DataType *ret, Error *err)
{
    *ret = (DataType){ .kind = DT_STRUCT };
    if (str_eq(str_c(name), S("partition")))
        *ret = partition_type(a, s);
    else if (str_eq(str_c(name), S("readable_metrics")))
        *ret = metrics_type(a, s);
    else if (str_eq(str_c(name), S("row")))
        *ret = row_of_schema(a, m);
    else
        return add_columns(a, m, file_columns, COUNT_OF(file_columns) - 1, s, ret, err);
    return OK;
}

static Status add_columns(Arena *a, const IceMetadata *m, const MdColumn *columns, size_t n, MdShape *s, DataType *ret, Error *err)
{
    bool by_partition = columns == partition_columns;

    *ret = struct_type(a, n);
    for (size_t i = 0; i < n; i++) {
        DataType t;
        if (by_partition && !s->partition.n && i < 2)              /* partition, spec_id */
            continue;
        if (columns[i].type)
            TRY(sql_parse_type(a, DIALECT_SPARK, str_c(columns[i].type), &t, err));
        else
            TRY(special_type(a, m, columns[i].name, s, &t, err));
        if (columns[i].type || t.nchildren)
            add_child(ret, str_c(columns[i].name), t);
    }
    return OK;
}

static Status shape_of(Arena *a, const IceMetadata *m, const MdTable *which, MdShape *ret, Error *err)
{
    *ret = (MdShape){0};
    partition_fields(a, m, &ret->partition);
    metric_fields(a, &ice_current_schema(m)->fields, (Str){0}, &ret->metrics);
    return add_columns(a, m, which->columns, which->n, ret, &ret->row, err);
}

/* ---- leaves (2) -------------------------------------------------------------------------------------------------------------- */

/* `row` is null as a whole. */
static bool has_leaves(const DataType *row, size_t i)
{
    return row->children[i].kind == DT_STRUCT && !str_eq(row->names[i], S("row"));
}

typedef VEC(DuckColumn) Leaves;

static void add_leaf(Arena *a, const DataType *t, Leaves *ret)
{
    DuckColumn leaf = { str_fmt(a, "c%zu", ret->n), *t };
    vec_push(a, ret, leaf);
}

static void add_leaves(Arena *a, const DataType *t, Leaves *ret)
{
    if (t->kind != DT_STRUCT)
        add_leaf(a, t, ret);
    for (size_t i = 0; t->kind == DT_STRUCT && i < t->nchildren; i++)
        add_leaves(a, &t->children[i], ret);
}

static void pack_leaves(const DataType *t, size_t *next, StrBuf *b)
{
    if (t->kind != DT_STRUCT) {
        sb_fmt(b, "c%zu", (*next)++);
        return;
    }
    sb_addc(b, "struct_pack(");
    for (size_t i = 0; i < t->nchildren; i++) {
        sb_addc(b, i ? ", " : "");
        sql_ident(b, t->names[i]);
        sb_addc(b, " := ");
        pack_leaves(&t->children[i], next, b);
    }
    sb_byte(b, ')');
}

static Str packing_sql(Arena *a, const DataType *row, Str table)
{
    StrBuf b = sb_new(a);
    size_t next = 0;

    sb_addc(&b, "SELECT ");
    for (size_t i = 0; i < row->nchildren; i++) {
        sb_addc(&b, i ? ", " : "");
        if (has_leaves(row, i))
            pack_leaves(&row->children[i], &next, &b);
        else
            sb_fmt(&b, "c%zu", next++);
        sb_addc(&b, " AS ");
        sql_ident(&b, row->names[i]);
    }
    sb_fmt(&b, " FROM temp." STR_FMT, STR_ARG(sql_ident_str(a, table)));
    return sb_str(&b);
}

static void append_leaves(DuckAppender *ap, const DataType *t, const Value *v)
{
    static const Value null = { .kind = DT_NULL };

    if (t->kind != DT_STRUCT) {
        duck_append(ap, v);
        return;
    }
    for (size_t i = 0; i < t->nchildren; i++)
        append_leaves(ap, &t->children[i], v->kind == DT_STRUCT ? &v->items.p[i] : &null);
}

void md_row(MdFill *f, const MdCells *c)
{
    for (size_t i = 0; i < c->type->nchildren; i++)
        if (has_leaves(c->type, i))
            append_leaves(f->ap, &c->type->children[i], &c->values[i]);
        else
            duck_append(f->ap, &c->values[i]);
    duck_end_row(f->ap);
}

/* ---- the doors -------------------------------------------------------------------------------------------------------------- */

static Status no_such(const LakeTable *t, Str which, Error *err)
{
    return FAIL(err, E_NOT_FOUND, "table " STR_FMT "." STR_FMT " has no metadata table '" STR_FMT "'", STR_ARG(t->relation.namespace), STR_ARG(t->relation.name), STR_ARG(which));
}

Status lake_metadata_columns(Arena *a, const LakeTable *t, Str which, BoundColumns *ret, Error *err)
{
    const MdTable *md = find(which);
    MdShape shape;

    if (!md)
        return no_such(t, which, err);
    TRY(shape_of(a, t->meta, md, &shape, err));
    for (size_t i = 0; i < shape.row.nchildren; i++)
        vec_push(a, ret, ((BoundColumn){ .name = shape.row.names[i], .engine = shape.row.names[i], .type = shape.row.children[i], .nullable = 1 }));
    return OK;
}

Status lake_metadata_table(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str which, const IceSnapshot *snapshot, LakeRelation *ret, Error *err)
{
    const MdTable *md = find(which);
    MdShape shape;
    Leaves leaves = {0};
    Error ignored;

    *ret = (LakeRelation){0};
    if (!md)
        return no_such(t, which, err);
    TRY(shape_of(a, t->meta, md, &shape, err));
    for (size_t i = 0; i < shape.row.nchildren; i++)
        if (has_leaves(&shape.row, i))
            add_leaves(a, &shape.row.children[i], &leaves);
        else
            add_leaf(a, &shape.row.children[i], &leaves);
    Str name = str_fmt(a, "__md%llu", (unsigned long long)lake_serial(l));
    MdFill f = { .lake = l, .a = a, .c = c, .t = t, .snapshot = snapshot, .shape = &shape };
    TRY(duck_temp_table(c, name, leaves.p, leaves.n, &f.ap, err));
    vec_push(a, &ret->temp_tables, name);
    Status s = md->fill(&f, err);
    Status done = duck_append_done(f.ap, s == OK ? err : &ignored);
    if (s != OK)
        return error_context(err, "metadata table " STR_FMT "." STR_FMT, STR_ARG(t->relation.name), STR_ARG(which));
    ret->sql = packing_sql(a, &shape.row, name);
    return done;
}

/* ---- cells -------------------------------------------------------------------------------------------------------------------- */

MdCells md_cells(Arena *a, const DataType *type)
{
    MdCells c = { .a = a, .type = type, .values = arena_array(a, Value, type->nchildren + 1) };
    for (size_t i = 0; i < type->nchildren; i++)
        c.values[i] = (Value){ .kind = DT_NULL, .type = &type->children[i] };
    return c;
}

static ptrdiff_t at(const MdCells *c, const char *name)
{
    for (size_t i = 0; i < c->type->nchildren; i++)
        if (str_eq(c->type->names[i], str_c(name)))
            return (ptrdiff_t)i;
    return -1;
}

const DataType *md_type(const MdCells *c, const char *name)
{
    ptrdiff_t i = at(c, name);
    return i < 0 ? NULL : &c->type->children[i];
}

void md_set(MdCells *c, const char *name, Value v)
{
    ptrdiff_t i = at(c, name);
    if (i >= 0)
        c->values[i] = v;
}

void md_i64(MdCells *c, const char *name, int64_t v)
{
    const DataType *t = md_type(c, name);
    if (t && t->kind == DT_BOOL)
        md_set(c, name, (Value){ .kind = DT_BOOL, .type = t, .boolean = v != 0 });
    else if (t)
        md_set(c, name, (Value){ .kind = t->kind, .type = t, .integer = v });
}

void md_opt(MdCells *c, const char *name, OptI64 v)
{
    if (v.has)
        md_i64(c, name, v.v);
}

void md_time(MdCells *c, const char *name, int64_t ms)
{
    int64_t us;
    if (!__builtin_mul_overflow(ms, 1000, &us))
        md_i64(c, name, us);
}

void md_str(MdCells *c, const char *name, Str s)
{
    const DataType *t = md_type(c, name);
    if (t)
        md_set(c, name, (Value){ .kind = t->kind, .type = t, .string = s });
}

void md_str_or_null(MdCells *c, const char *name, Str s)
{
    if (s.n)
        md_str(c, name, s);
}

Value md_struct(const MdCells *c)
{
    return (Value){ .kind = DT_STRUCT, .type = c->type, .items = { c->values, c->type->nchildren } };
}
