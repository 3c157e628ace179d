/* SPDX-License-Identifier: Apache-2.0 */
/* write_stats.c - what the engine says of the files it wrote, as Iceberg's metrics and partition tuple.
 *
 * Bounds of strings are cut to 16 characters (the format's default metrics mode); columns with NaN and nested columns get none. */
#include "lake/write_int.h"

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

void write_column_stats(WriteJob *j, IceFile *f, const Value *stats)
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
        bool nested = ice_field_by_id(j->w->schema, field->id) != NULL && !write_engine_name(j, field->id).n;
        if (nan || nested)
            continue;                             /* a NaN's place among the bounds is not told; nested bounds help nobody */
        add_bound(j, f, field, map_text(s, "min"), 0);
        add_bound(j, f, field, map_text(s, "max"), 1);
    }
}

static Status long_value(WriteJob *j, size_t i, Str file, Str hash, Str *ret, Error *err)
{
    bool has = false;
    Str sql = j->w->equality.n ? write_equality_long(j, i, hash) : str_fmt(j->a, "SELECT 'v' || " STR_FMT " FROM read_parquet(" STR_FMT ", hive_partitioning = false) LIMIT 1",
                      STR_ARG(j->partition_sql.p[i]), STR_ARG(sql_lit_str(j->a, file)));
    *ret = (Str){0};
    return duck_scalar_str(j->c, j->a, sql, ret, &has, err);
}

Status write_partition_tuple(WriteJob *j, IceFile *f, Str file, const Value *keys, Error *err)
{
    f->npartition = j->spec->fields.n;
    f->partition = arena_array(j->a, IceValue, f->npartition + 1);
    for (size_t i = 0; i < f->npartition; i++) {
        Str text = map_text(keys, str_fmt(j->a, "__p%zu", i).p);
        if (text.n && text.p[0] == 'h')
            TRY(long_value(j, i, file, str_from(text, 1), &text, err));
        f->partition[i] = (IceValue){ .null = 1, .kind = j->partition_types.p[i]->kind };
        if (text.n && text.p[0] == 'v' && !lake_value_parse(j->a, j->partition_types.p[i], str_from(text, 1), &f->partition[i]))
            return FAIL(err, E_INTERNAL, "partition value '" STR_FMT "' of field '" STR_FMT "' cannot be read back", STR_ARG(text), STR_ARG(j->spec->fields.p[i].name));
    }
    return OK;
}

Status write_check_required(const WriteJob *j, const IceFile *f, Error *err)
{
    for (size_t i = 0; j->w->validate_required && i < f->null_counts.n; i++) {
        const IceField *field = ice_field_by_id(j->w->schema, f->null_counts.p[i].id);
        if (!field || !field->required || !f->null_counts.p[i].n || !write_engine_name(j, field->id).n)
            continue;
        RAISE(err, E_INVALID, "null value in column \"" STR_FMT "\" of table \"" STR_FMT "\" violates not-null constraint", STR_ARG(field->name), STR_ARG(j->w->table->relation.name));
        memcpy(err->sqlstate, "23502", 6);
        return E_INVALID;
    }
    return OK;
}
