/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - rows of a query into new data files of a table.
 *
 * The engine writes Parquet below the store's scratch folder, split by partition; each file is then measured, adopted by
 * the store (synced and renamed, not copied) and described as an Iceberg data file.
 *
 * Invariants: (1) nothing refers to a file before it is durable; (2) on any error the files written are removed;
 * (3) partition values travel as typed text in the partition key, never through a path of the final location. */
#include "lake/lake_int.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- field ids --------------------------------------------------------------------------------------------------------- */

static void field_ids(Arena *a, StrBuf *b, const IceField *f, Str name)
{
    sql_lit(b, name);
    if (!f->type->fields.n) {
        sb_fmt(b, ": %d", f->id);
        return;
    }
    sb_fmt(b, ": {__duckdb_field_id: %d", f->id);
    for (size_t i = 0; i < f->type->fields.n; i++) {
        sb_addc(b, ", ");
        field_ids(a, b, &f->type->fields.p[i], f->type->fields.p[i].name);
    }
    sb_byte(b, '}');
}

Str lake_field_ids(Arena *a, const IceFields *fields, const IceFields *hidden, const BoundColumns *names)
{
    StrBuf b = sb_new(a);

    sb_byte(&b, '{');
    for (size_t i = 0; i < fields->n; i++) {
        sb_addc(&b, i ? ", " : "");
        field_ids(a, &b, &fields->p[i], names->p[i].engine);
    }
    for (size_t i = 0; hidden && i < hidden->n; i++) {
        sb_addc(&b, i + fields->n ? ", " : "");
        field_ids(a, &b, &hidden->p[i], hidden->p[i].name);
    }
    sb_byte(&b, '}');
    return sb_str(&b);
}

/* ---- partition expressions ------------------------------------------------------------------------------------------------ */

/* v - (((u mod W) + W) mod W) at the scale of v, where u is the unscaled value: the digits of its text without the point. */
static Str truncate_decimal(Arena *a, int width, int scale, Str col)
{
    Str unscaled = str_fmt(a, "CAST(replace(CAST(" STR_FMT " AS VARCHAR), '.', '') AS HUGEINT)", STR_ARG(col));
    StrBuf unit = sb_new(a);

    sb_addc(&unit, scale ? "0." : "1");
    for (int i = 1; i < scale; i++)
        sb_byte(&unit, '0');
    sb_addc(&unit, scale ? "1" : "");
    return str_fmt(a, "CAST(" STR_FMT " AS DECIMAL(38,%d)) - CAST(CAST(((" STR_FMT " %% %d) + %d) %% %d AS DECIMAL(18,0)) * CAST('" STR_FMT "' AS DECIMAL(%d,%d)) AS DECIMAL(38,%d))",
                   STR_ARG(col), scale, STR_ARG(unscaled), width, width, width, STR_ARG(sb_str(&unit)), scale + 1, scale, scale);
}

Status lake_transform_sql(Arena *a, const IceTransform *t, const IceType *source, Str col, Str *ret, Error *err)
{
    bool date = source->kind == ICE_DATE;
    const char *unit[] = { [TRANSFORM_YEAR] = "year", [TRANSFORM_MONTH] = "month", [TRANSFORM_DAY] = "day", [TRANSFORM_HOUR] = "hour" };

    switch (t->kind) {
    case TRANSFORM_IDENTITY:
        *ret = col;
        return OK;
    case TRANSFORM_BUCKET:
        *ret = str_fmt(a, "firn_bucket(%d, " STR_FMT ")", t->width, STR_ARG(col));
        return OK;
    case TRANSFORM_TRUNCATE:
        *ret = source->kind == ICE_DECIMAL ? truncate_decimal(a, t->width, source->scale, col) : str_fmt(a, "firn_truncate(%d, " STR_FMT ")", t->width, STR_ARG(col));
        return OK;
    case TRANSFORM_VOID:
        *ret = S("NULL");
        return OK;
    case TRANSFORM_YEAR: case TRANSFORM_MONTH:
        *ret = str_fmt(a, "CAST(datediff('%s', DATE '1970-01-01', CAST(" STR_FMT " AS DATE)) AS INTEGER)", unit[t->kind],
                       STR_ARG(source->kind == ICE_TIMESTAMPTZ ? str_fmt(a, "CAST(" STR_FMT " AS TIMESTAMP)", STR_ARG(col)) : col));
        return OK;
    case TRANSFORM_DAY:
        *ret = str_fmt(a, "CAST(datediff('day', DATE '1970-01-01', CAST(" STR_FMT " AS DATE)) AS INTEGER)", STR_ARG(col));
        return OK;
    case TRANSFORM_HOUR:
        if (date)
            return FAIL(err, E_INVALID, "hour() cannot partition a date");
        *ret = str_fmt(a, "CAST(floor(epoch_us(" STR_FMT ") / 3600000000.0) AS INTEGER)", STR_ARG(col));
        return OK;
    case TRANSFORM_UNKNOWN:
        break;
    }
    return FAIL(err, E_UNSUPPORTED, "firn cannot write partitions by '" STR_FMT "'", STR_ARG(t->text));
}

/* A file that the engine wrote into the scratch folder. */
typedef struct FreshFile { LakeFile lf; Str local; int stored; } FreshFile;

typedef struct WriteJob {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeWrite *w;
    const IceSpec *spec;
    BoundColumns columns;
    VEC(IceType *) partition_types;
    StrVec partition_sql;             /* text of each partition value, over the file's columns */
    Str dir;                          /* scratch folder of this write, "" until made */
    VEC(FreshFile) fresh;
    LakeFiles *files;
    int64_t rows;
} WriteJob;

static Str engine_name(const WriteJob *j, int32_t field_id)
{
    for (size_t i = 0; i < j->columns.n; i++)
        if (j->columns.p[i].field_id == field_id)
            return j->columns.p[i].engine;
    return (Str){0};
}

enum { LONG_VALUE = 60 };                          /* bytes, each up to three in the name; a longer value would not fit a folder's name: its hash stands there */

/* The key is 'n' for null, 'v' and the engine's text of the value, or 'h' and a hash, when the value is read back from the file (3). */
static Status partition_columns(WriteJob *j, StrBuf *select, StrBuf *by, Error *err)
{
    for (size_t i = 0; i < j->spec->fields.n; i++) {
        const IcePartitionField *f = &j->spec->fields.p[i];
        const IceField *source = ice_field_by_id(j->w->schema, f->source_id);
        Str name = source ? engine_name(j, f->source_id) : (Str){0}, expr;
        if (!source && f->transform.kind == TRANSFORM_VOID) {
            expr = S("NULL");
            vec_push(j->a, &j->partition_types, arena_new(j->a, IceType));
        } else if (!name.n) {
            return FAIL(err, E_UNSUPPORTED, "partition field '" STR_FMT "' has no top-level source column", STR_ARG(f->name));
        } else {
            TRY(lake_transform_sql(j->a, &f->transform, source->type, sql_ident_str(j->a, name), &expr, err));
            vec_push(j->a, &j->partition_types, ice_transform_result(j->a, &f->transform, source->type));
        }
        bool binary = vec_last(&j->partition_types)->kind == ICE_BINARY || vec_last(&j->partition_types)->kind == ICE_FIXED;
        Str text = str_fmt(j->a, "%s" STR_FMT "%s", binary ? "hex(" : "CAST(", STR_ARG(expr), binary ? ")" : " AS VARCHAR)");
        sb_fmt(select, ", CASE WHEN " STR_FMT " IS NULL THEN 'n' WHEN strlen(" STR_FMT ") > %d THEN 'h' || md5(" STR_FMT ") ELSE 'v' || " STR_FMT " END AS __p%zu",
               STR_ARG(expr), STR_ARG(text), LONG_VALUE, STR_ARG(text), STR_ARG(text), i);
        vec_push(j->a, &j->partition_sql, text);
        sb_fmt(by, "%s__p%zu", i ? ", " : "", i);
    }
    return OK;
}

/* ---- the COPY ------------------------------------------------------------------------------------------------------------------ */

static Str codec_name(const IceMetadata *m)
{
    Str c = props_get(&m->properties, S("write.parquet.compression-codec"), S("zstd"));
    static const char *const known[] = { "zstd", "snappy", "gzip", "lz4", "uncompressed", "brotli" };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_ieq(c, str_c(known[i])))
            return str_c(known[i]);
    return S("zstd");
}

static Status copy_sql(WriteJob *j, Str sql, Str *ret, Error *err)
{
    StrBuf select = sb_new(j->a), by = sb_new(j->a), b = sb_new(j->a);
    int64_t target = 512ll << 20;

    if (!str_to_i64(props_get(&j->w->table->meta->properties, S("write.target-file-size-bytes"), S("536870912")), &target) || target < 1 << 20)
        target = 512ll << 20;
    TRY(partition_columns(j, &select, &by, err));
    sb_fmt(&b, "COPY (SELECT *" STR_FMT " FROM (" STR_FMT ") q", STR_ARG(sb_str(&select)), STR_ARG(sql));
    if (j->w->order_by.n)
        sb_fmt(&b, " ORDER BY " STR_FMT, STR_ARG(j->w->order_by));
    sb_addc(&b, ") TO ");
    sql_lit(&b, j->dir);
    sb_fmt(&b, " (FORMAT parquet, RETURN_STATS, COMPRESSION " STR_FMT ", FIELD_IDS " STR_FMT, STR_ARG(codec_name(j->w->table->meta)),
           STR_ARG(lake_field_ids(j->a, &j->w->schema->fields, j->w->hidden, &j->columns)));
    if (by.n)
        sb_fmt(&b, ", PARTITION_BY (" STR_FMT "), OVERWRITE_OR_IGNORE", STR_ARG(sb_str(&by)));
    else
        sb_fmt(&b, ", FILE_SIZE_BYTES %lld", (long long)target);
    sb_byte(&b, ')');
    *ret = sb_str(&b);
    return OK;
}

/* ---- what the engine says of a file ----------------------------------------------------------------------------------------------- */

static Str map_text(const Value *map, const char *key)
{
    for (size_t i = 0; map->kind == DT_MAP && i + 1 < map->items.n; i += 2)
        if (str_eq(map->items.p[i].string, str_c(key)) && map->items.p[i + 1].kind != DT_NULL)
            return map->items.p[i + 1].string;
    return (Str){0};
}

static bool map_int(const Value *map, const char *key, int64_t *ret)
{
    return str_to_i64(map_text(map, key), ret);
}

/* `"a"."element"` to the field it names. */
static const IceField *stats_field(const WriteJob *j, Str path)
{
    const IceFields *level = NULL;
    const IceField *f = NULL;
    Str rest = path;

    while (rest.n >= 2 && rest.p[0] == '"') {
        StrBuf name = sb_new(j->a);
        size_t i = 1;
        for (; i < rest.n && (rest.p[i] != '"' || (i + 1 < rest.n && rest.p[i + 1] == '"')); i++) {
            sb_byte(&name, rest.p[i]);
            i += rest.p[i] == '"';
        }
        Str part = sb_str(&name);
        f = NULL;
        for (size_t k = 0; !level && k < j->columns.n; k++)
            if (str_eq(j->columns.p[k].engine, part))
                f = &j->w->schema->fields.p[k];
        for (size_t k = 0; level && k < level->n; k++)
            if (str_eq(level->p[k].name, part))
                f = &level->p[k];
        if (!f)
            return NULL;
        level = &f->type->fields;
        rest = str_from(rest, i + 2);
    }
    return f;
}

enum { BOUND_CHARS = 16 };                        /* truncate(16), the format's default metrics mode */

static Str cut_lower(Str s)
{
    size_t i = 0;
    for (int chars = 0; i < s.n && chars < BOUND_CHARS; chars++)
        for (i++; i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80; i++) ;
    return str_sub(s, 0, i);
}

/* The smallest string above every one that starts so: the last character that can be raised is raised. false: there is none. */
static bool cut_upper(Arena *a, Str s, Str *ret)
{
    Str cut = cut_lower(s);
    if (cut.n == s.n) {
        *ret = s;
        return true;
    }
    char *p = str_z(a, cut);
    for (size_t n = cut.n; n-- > 0; )
        if ((unsigned char)p[n] < 0x7F) {         /* raised within ASCII only: never touches a surrogate or a lead byte */
            p[n]++;
            *ret = str_n(p, n + 1);
            return true;
        }
    return false;
}

static void add_bound(WriteJob *j, IceFile *f, const IceField *field, Str text, int upper)
{
    IceValue v;

    if (!text.p || !lake_value_parse(j->a, field->type, text, &v))
        return;
    if ((field->type->kind == ICE_FLOAT || field->type->kind == ICE_DOUBLE) && v.real != v.real)
        return;
    if (field->type->kind == ICE_STRING) {
        Str cut = upper ? (Str){0} : cut_lower(v.bytes);
        if (upper && !cut_upper(j->a, v.bytes, &cut))
            return;
        v.bytes = cut;
    }
    IceBound bound = { field->id, ice_value_encode(j->a, field->type, &v) };
    if (upper)
        vec_push(j->a, &f->upper, bound);
    else
        vec_push(j->a, &f->lower, bound);
}

static void column_stats(WriteJob *j, IceFile *f, const Value *stats)
{
    for (size_t i = 0; stats->kind == DT_MAP && i + 1 < stats->items.n; i += 2) {
        const IceField *field = stats_field(j, stats->items.p[i].string);
        const Value *s = &stats->items.p[i + 1];
        int64_t n;
        if (!field)
            continue;
        if (map_int(s, "column_size_bytes", &n))
            vec_push(j->a, &f->column_sizes, ((IceCount){ field->id, n }));
        if (map_int(s, "num_values", &n))
            vec_push(j->a, &f->value_counts, ((IceCount){ field->id, n }));
        if (map_int(s, "null_count", &n))
            vec_push(j->a, &f->null_counts, ((IceCount){ field->id, n }));
        bool nan = str_eq(map_text(s, "has_nan"), S("true"));
        bool nested = ice_field_by_id(j->w->schema, field->id) != NULL && !engine_name(j, field->id).n;
        if (nan || nested)
            continue;                             /* a NaN's place among the bounds is not told; nested bounds help nobody */
        add_bound(j, f, field, map_text(s, "min"), 0);
        add_bound(j, f, field, map_text(s, "max"), 1);
    }
}

static Status long_value(WriteJob *j, size_t i, Str file, Str *ret, Error *err)
{
    bool has = false;
    Str sql = str_fmt(j->a, "SELECT 'v' || " STR_FMT " FROM read_parquet(" STR_FMT ", hive_partitioning = false) LIMIT 1",
                      STR_ARG(j->partition_sql.p[i]), STR_ARG(sql_lit_str(j->a, file)));
    *ret = (Str){0};
    return duck_scalar_str(j->c, j->a, sql, ret, &has, err);
}

static Status partition_tuple(WriteJob *j, IceFile *f, Str file, const Value *keys, Error *err)
{
    f->npartition = j->spec->fields.n;
    f->partition = arena_array(j->a, IceValue, f->npartition + 1);
    for (size_t i = 0; i < f->npartition; i++) {
        Str text = map_text(keys, str_fmt(j->a, "__p%zu", i).p);
        if (text.n && text.p[0] == 'h')
            TRY(long_value(j, i, file, &text, err));
        f->partition[i] = (IceValue){ .null = 1, .kind = j->partition_types.p[i]->kind };
        if (text.n && text.p[0] == 'v' && !lake_value_parse(j->a, j->partition_types.p[i], str_from(text, 1), &f->partition[i]))
            return FAIL(err, E_INTERNAL, "partition value '" STR_FMT "' of field '" STR_FMT "' cannot be read back", STR_ARG(text), STR_ARG(j->spec->fields.p[i].name));
    }
    return OK;
}

static Status check_required(const WriteJob *j, const IceFile *f, Error *err)
{
    for (size_t i = 0; j->w->validate_required && i < f->null_counts.n; i++) {
        const IceField *field = ice_field_by_id(j->w->schema, f->null_counts.p[i].id);
        if (!field || !field->required || !f->null_counts.p[i].n || !engine_name(j, field->id).n)
            continue;
        RAISE(err, E_INVALID, "null value in column \"" STR_FMT "\" of table \"" STR_FMT "\" violates not-null constraint", STR_ARG(field->name), STR_ARG(j->w->table->relation.name));
        memcpy(err->sqlstate, "23502", 6);
        return E_INVALID;
    }
    return OK;
}

/* ---- adopting ------------------------------------------------------------------------------------------------------------------------ */

/* What a file will be called and hold; its bytes are adopted afterwards. */
static Status describe(WriteJob *j, const Value *row, Error *err)
{
    LakeFile lf = { .file = { .content = CONTENT_DATA, .format = S("PARQUET"), .spec_id = j->spec->id } };

    lf.file.record_count = row[1].integer;
    if (!lf.file.record_count)
        return OK;                                   /* an empty file stays in the scratch folder, which is removed */
    column_stats(j, &lf.file, &row[4]);
    TRY(partition_tuple(j, &lf.file, row[0].string, &row[5], err));
    TRY(check_required(j, &lf.file, err));
    Str path = ice_partition_path(j->a, j->spec, j->w->schema, lf.file.partition);
    Str name = str_fmt(j->a, "%05zu-0-" STR_FMT ".parquet", j->fresh.n, STR_ARG(uuid_v4(j->a)));
    lf.file.path = ice_data_location(j->a, j->w->table->meta, path, name);
    if (j->w->table->meta->default_order_id == 0)
        lf.file.sort_order_id = SOME_I32(0);
    vec_push(j->a, &j->fresh, ((FreshFile){ .lf = lf, .local = str_dup(j->a, row[0].string) }));
    return OK;
}

/* Threads that take the next file each: the store commits what arrives together in one transaction. */
enum { ADOPTERS = 8 };

typedef struct Adopters { WriteJob *j; pthread_mutex_t lock; size_t next, done; Status status; Error err; } Adopters;

static FreshFile *take_fresh(Adopters *ad)
{
    pthread_mutex_lock(&ad->lock);
    FreshFile *f = ad->status == OK && ad->next < ad->j->fresh.n ? &ad->j->fresh.p[ad->next++] : NULL;
    pthread_mutex_unlock(&ad->lock);
    return f;
}

static void adopted(Adopters *ad, FreshFile *f, Status s, const ObjectInfo *info, const Error *err)
{
    pthread_mutex_lock(&ad->lock);
    if (s == OK) {
        f->lf.file.size = info->size;
        f->lf.sha256 = str_dup(ad->j->a, info->sha256);
        f->stored = 1;
    } else if (ad->status == OK) {
        ad->status = s;
        ad->err = *err;
    }
    pthread_mutex_unlock(&ad->lock);
}

static void *adopt_some(void *arg)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Adopters *ad = arg;

    for (FreshFile *f; (f = take_fresh(ad)); ) {
        ObjectInfo info = {0};
        Error err;
        Status s = store_adopt(ad->j->lake->store, f->lf.file.path, f->local, a, &info, &err);
        adopted(ad, f, s, &info, &err);
    }
    return NULL;
}

static Status adopt_fresh(WriteJob *j, Error *err)
{
    Adopters ad = { .j = j };
    pthread_t threads[ADOPTERS];
    size_t n = 0, want = min_size(j->fresh.n, ADOPTERS);

    pthread_mutex_init(&ad.lock, NULL);
    while (want > 1 && n < want - 1 && pthread_create(&threads[n], NULL, adopt_some, &ad) == 0)
        n++;
    adopt_some(&ad);
    while (n)
        pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&ad.lock);
    for (size_t i = 0; i < j->fresh.n; i++) {
        if (!j->fresh.p[i].stored)
            continue;
        vec_push(j->a, j->files, j->fresh.p[i].lf);   /* also after an error: the caller discards them */
        j->rows += j->fresh.p[i].lf.file.record_count;
    }
    if (ad.status != OK)
        *err = ad.err;
    return ad.status;
}

static Status describe_all(WriteJob *j, DuckResult *r, Error *err)
{
    size_t n;
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++) {
            Value row[6];
            for (size_t k = 0; k < COUNT_OF(row) && k < duck_ncols(r); k++)
                row[k] = duck_value(j->a, r, k, i);
            TRY(describe(j, row, err));
        }
    }
}

static void remove_tree(Arena *a, Str dir);

static Status run(WriteJob *j, Str sql, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Str copy;

    TRY(lake_columns(j->a, j->w->schema, &j->columns, err));
    TRY(copy_sql(j, sql, &copy, err));
    if (mkdir(j->dir.p, 0700) != 0)
        return FAIL_ERRNO(err, "making scratch folder '%s'", j->dir.p);
    TRY(duck_query_held(j->c, copy, &r, err));        /* held: long partition values are asked for on the same connection */
    TRY(describe_all(j, r, err));
    return adopt_fresh(j, err);
}

Status lake_write(Lake *l, Arena *a, DuckConn *c, const LakeWrite *w, Str sql, LakeFiles *files, int64_t *rows, Error *err)
{
    WriteJob j = { .lake = l, .a = a, .c = c, .w = w, .files = files };
    size_t before = files->n;

    j.spec = ice_spec(w->table->meta, w->table->meta->default_spec_id);
    if (!j.spec)
        return FAIL(err, E_CORRUPT, "the default partition spec %d is missing", w->table->meta->default_spec_id);
    j.dir = str_fmt(a, STR_FMT "/write-" STR_FMT, STR_ARG(store_scratch(l->store)), STR_ARG(uuid_v4(a)));
    Status s = run(&j, sql, err);
    remove_tree(a, j.dir);
    if (s != OK) {                                   /* (2) */
        LakeFiles mine = { .p = files->p + before, .n = files->n - before };
        lake_discard(l, &mine);
        files->n = before;
        return s;
    }
    *rows = j.rows;
    return OK;
}

void lake_discard(Lake *l, const LakeFiles *files)
{
    Error ignored;
    for (size_t i = 0; i < files->n; i++)
        if (store_delete(l->store, files->p[i].file.path, &ignored) != OK)
            continue;                                /* an orphan: found by remove_orphan_files */
}

/* ---- scratch folders -------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *ftw UNUSED)
{
    return remove(path);
}

static void remove_tree(Arena *a, Str dir)
{
    nftw(str_z(a, dir), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
