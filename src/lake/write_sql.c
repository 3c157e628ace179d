/* SPDX-License-Identifier: Apache-2.0 */
/* write_sql.c - the engine's COPY of a write: field ids, partition expressions, options.
 *
 * Partition values travel as typed text in the partition key; the engine splits by it, write_stats.c reads it back. */
#include "lake/write_int.h"

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
    case TRANSFORM_DAY:                               /* a date by its type, so text of a date */
        *ret = str_fmt(a, "CAST(" STR_FMT " AS DATE)", STR_ARG(col));
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

Str write_engine_name(const WriteJob *j, int32_t field_id)
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
        Str name = source ? write_engine_name(j, f->source_id) : (Str){0}, expr;
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

enum { ZSTD_LEVEL_MAX = 22, FRESH_LEVEL = 1, FRESH_DICTIONARY = 4096 };

/* How hard the codec tries, when the table or the style says so; dictionaries that are soon given up are not begun. */
static void effort(const WriteJob *j, Str codec, StrBuf *b)
{
    Str asked = props_get(&j->w->table->meta->properties, S("write.parquet.compression-level"), (Str){0});
    int64_t level = j->w->style == LAKE_STYLE_FRESH ? FRESH_LEVEL : 0;

    if (asked.n && (!str_to_i64(asked, &level) || level < 1 || level > ZSTD_LEVEL_MAX))
        level = 0;
    if (level && str_eq(codec, S("zstd")))
        sb_fmt(b, ", COMPRESSION_LEVEL %lld", (long long)level);
    if (j->w->style == LAKE_STYLE_FRESH)
        sb_fmt(b, ", DICTIONARY_SIZE_LIMIT %d", FRESH_DICTIONARY);
}

Status write_copy_sql(WriteJob *j, Str sql, Str *ret, Error *err)
{
    StrBuf select = sb_new(j->a), by = sb_new(j->a), b = sb_new(j->a);
    Str all = S("*"), codec = codec_name(j->w->table->meta), ids = lake_field_ids(j->a, &j->w->schema->fields, j->w->hidden, &j->columns);
    int64_t target = 512ll << 20;

    if (!str_to_i64(props_get(&j->w->table->meta->properties, S("write.target-file-size-bytes"), S("536870912")), &target) || target < 1 << 20)
        target = 512ll << 20;
    j->sql = sql;
    TRY(partition_columns(j, &select, &by, err));
    if (j->w->equality.n)
        TRY(write_equality_columns(j, &all, &ids, err));
    sb_fmt(&b, "COPY (SELECT " STR_FMT STR_FMT " FROM (" STR_FMT ") q", STR_ARG(all), STR_ARG(sb_str(&select)), STR_ARG(sql));
    if (j->w->order_by.n)
        sb_fmt(&b, " ORDER BY " STR_FMT, STR_ARG(j->w->order_by));
    sb_addc(&b, ") TO ");
    sql_lit(&b, j->dir);
    sb_fmt(&b, " (FORMAT parquet, RETURN_STATS, COMPRESSION " STR_FMT ", FIELD_IDS " STR_FMT, STR_ARG(codec), STR_ARG(ids));
    effort(j, codec, &b);
    if (by.n)
        sb_fmt(&b, ", PARTITION_BY (" STR_FMT "), OVERWRITE_OR_IGNORE", STR_ARG(sb_str(&by)));
    else
        sb_fmt(&b, ", FILE_SIZE_BYTES %lld", (long long)target);
    sb_byte(&b, ')');
    *ret = sb_str(&b);
    return OK;
}
