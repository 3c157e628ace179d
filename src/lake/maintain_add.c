/* SPDX-License-Identifier: Apache-2.0 */
/* maintain_add.c - existing Parquet files become part of a table where they are.
 *
 * Such files have no field ids: the table gets a name mapping so that every reader resolves them by name.  Hive's folders (k=v) give the
 * values of identity partitions; a column may be there and nowhere in the file. */
#include "lake/maintain.h"
#include "lake/lake_int.h"

typedef struct Adding {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeTable *table;
    const IceSpec *spec;
    Str root;
    IceChange change;
} Adding;

/* ---- partition values ---------------------------------------------------------------------------------------------------------------- */

static Str url_decoded(Arena *a, Str s)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < s.n; i++) {
        Str byte;
        if (s.p[i] == '%' && i + 2 < s.n && hex_decode(a, str_sub(s, i + 1, i + 3), &byte)) {
            sb_add(&b, byte);
            i += 2;
        } else {
            sb_byte(&b, s.p[i]);
        }
    }
    return sb_str(&b);
}

static bool folder_value(Arena *a, Str path, Str name, Str *ret)
{
    StrVec parts = {0};
    str_split(a, path, '/', &parts);
    for (size_t i = 0; i + 1 < parts.n; i++) {
        Str key, value;
        if (str_cut(parts.p[i], '=', &key, &value) && str_ieq(url_decoded(a, key), name)) {
            *ret = url_decoded(a, value);
            return true;
        }
    }
    return false;
}

static Status partition_value(Adding *x, const IcePartitionField *f, Str path, IceValue *ret, Error *err)
{
    const IceField *source = ice_field_by_id(ice_current_schema(x->table->meta), f->source_id);
    Str text;

    if (f->transform.kind == TRANSFORM_VOID) {
        *ret = (IceValue){ .null = 1 };
        return OK;
    }
    if (f->transform.kind != TRANSFORM_IDENTITY || !source)
        return FAIL(err, E_INVALID, "Cannot add data files to target table because that table is partitioned by the non-identity transform '" STR_FMT "'", STR_ARG(f->transform.text));
    *ret = (IceValue){ .null = 1, .kind = source->type->kind };
    if (!folder_value(x->a, str_from(path, x->root.n), f->name, &text))
        return FAIL(err, E_INVALID, "'" STR_FMT "' has no folder '" STR_FMT "=…' for the table's partition field", STR_ARG(path), STR_ARG(f->name));
    if (str_eq(text, S("__HIVE_DEFAULT_PARTITION__")))
        return OK;
    if (!lake_value_parse(x->a, source->type, text, ret))
        return FAIL(err, E_INVALID, "'" STR_FMT "': '" STR_FMT "' is not a value of partition column '" STR_FMT "'", STR_ARG(path), STR_ARG(text), STR_ARG(source->name));
    return OK;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------------- */

static Status row_count(Adding *x, Str local, int64_t *ret, Error *err)
{
    bool has;
    return duck_scalar_i64(x->c, str_fmt(x->a, "SELECT num_rows FROM parquet_file_metadata(" STR_FMT ")", STR_ARG(sql_lit_str(x->a, local))), ret, &has, err);
}

static Status one_file(Adding *x, Str uri, Error *err)
{
    IceFile f = { .content = CONTENT_DATA, .format = S("PARQUET"), .path = uri, .spec_id = x->spec->id, .npartition = x->spec->fields.n };
    ObjectInfo info;
    Str local;

    TRY(store_stat(x->lake->store, x->a, uri, &info, err));
    f.size = info.size;
    TRY(store_local_path(x->lake->store, x->a, uri, &local, err));
    TRY_CTX(row_count(x, local, &f.record_count, err), err, "'" STR_FMT "' is not a readable Parquet file", STR_ARG(uri));
    f.partition = arena_array(x->a, IceValue, f.npartition + 1);
    for (size_t i = 0; i < f.npartition; i++)
        TRY(partition_value(x, &x->spec->fields.p[i], uri, &f.partition[i], err));
    vec_push(x->a, &x->change.add_data, f);
    return OK;
}

static Status refuse_duplicates(Adding *x, const LakeTable *base, Error *err)
{
    const IceSnapshot *s = ice_current_snapshot(base->meta);
    IceScan scan = {0};
    Map live = map_new(x->a);

    if (s)
        TRY(ice_scan(x->a, x->lake->store, base->meta, s, NULL, &scan, err));
    for (size_t i = 0; i < scan.tasks.n; i++)
        map_put(&live, scan.tasks.p[i].data->file.path, x);
    for (size_t i = 0; i < x->change.add_data.n; i++)
        if (map_has(&live, x->change.add_data.p[i].path))
            return FAIL(err, E_EXISTS, "Cannot complete import because data files to be imported already exist within the target table: " STR_FMT
                        ". Set 'check_duplicate_files' to false to force the import.", STR_ARG(x->change.add_data.p[i].path));
    return OK;
}

static int64_t partitions_of(const Adding *x)
{
    Map seen = map_new(x->a);
    for (size_t i = 0; i < x->change.add_data.n; i++)
        map_put(&seen, ice_partition_path(x->a, x->spec, ice_current_schema(x->table->meta), x->change.add_data.p[i].partition), &seen);
    return (int64_t)seen.n;
}

/* ---- the commit ------------------------------------------------------------------------------------------------------------------------ */

typedef struct AddCtx { Adding *x; LakeAddMode mode; } AddCtx;

static Status prepare_add(void *ctx, Arena *a, const LakeTable *base, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err)
{
    AddCtx *c = ctx;

    if (c->mode == ADD_CHECK_DUPLICATES)
        TRY(refuse_duplicates(c->x, base, err));
    vec_push(a, rqs, ((IceRequirement){ .kind = RQ_DEFAULT_SPEC, .number = SOME_I64(c->x->spec->id) }));
    if (!props_has(&base->meta->properties, S("schema.name-mapping.default"))) {
        Props set = {0};
        props_set(a, &set, S("schema.name-mapping.default"), ice_name_mapping_of(a, ice_current_schema(base->meta)));
        vec_push(a, ups, ((IceUpdate){ .kind = UP_SET_PROPERTIES, .props = set }));
    }
    return ice_change_prepare(a, c->x->lake->store, base->meta, &c->x->change, clock_ms(), ups, rqs, written, err);
}

Status lake_add_files(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str root, const StrVec *uris, LakeAddMode mode, int64_t *files, int64_t *partitions, Error *err)
{
    Adding x = { .lake = l, .a = a, .c = c, .table = t, .root = root, .spec = ice_spec(t->meta, t->meta->default_spec_id), .change = { .operation = S("append") } };
    AddCtx ctx = { &x, mode };
    LakeTable next;

    *files = *partitions = 0;
    for (size_t i = 0; i < uris->n; i++)
        TRY(one_file(&x, uris->p[i], err));
    if (!uris->n)
        return OK;
    TRY(lake_commit_with(l, a, t, prepare_add, NULL, &ctx, NULL, 0, &next, err));
    *files = (int64_t)uris->n;
    *partitions = partitions_of(&x);
    return OK;
}
