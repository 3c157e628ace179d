/* SPDX-License-Identifier: Apache-2.0 */
/* project.c - one table column out of one file layout, by field id (Iceberg spec "Column Projection").
 *
 * In this order: the file's column with the id (or, when the file has no ids at all, the name mapping's name); the
 * identity partition value from the manifest; the initial default; null.  Ids and names are never mixed within a file.
 * Nested columns are rebuilt child by child unless file and table agree to the last name. */
#include "lake/lake_int.h"

/* ---- finding ---------------------------------------------------------------------------------------------------- */

static const IceMappedField *mapped(const IceNameMapping *m, int32_t id)
{
    for (size_t i = 0; m && i < m->n; i++)
        if (m->p[i].id.has && m->p[i].id.v == id)
            return &m->p[i];
    return NULL;
}

static const FileColumn *by_name(const FileColumns *cols, Str name)
{
    for (size_t i = 0; i < cols->n; i++)
        if (str_eq(cols->p[i].name, name))
            return &cols->p[i];
    return NULL;
}

static const FileColumn *find(const Projection *p, const FileColumns *cols, const IceNameMapping *mapping, const IceField *f)
{
    if (p->layout->has_ids) {
        for (size_t i = 0; i < cols->n; i++)
            if (cols->p[i].field_id == f->id)
                return &cols->p[i];
        return NULL;
    }
    if (!mapping)                                   /* no ids and no mapping: position by the table's own names */
        return by_name(cols, f->name);
    const IceMappedField *m = mapped(mapping, f->id);
    for (size_t i = 0; m && i < m->names.n; i++) {
        const FileColumn *c = by_name(cols, m->names.p[i]);
        if (c)
            return c;
    }
    return NULL;
}

static const IceNameMapping *child_mapping(const IceNameMapping *mapping, const IceField *f)
{
    static const IceNameMapping none = {0};
    if (!mapping)
        return NULL;
    const IceMappedField *m = mapped(mapping, f->id);
    return m ? (const IceNameMapping *)&m->fields : &none;
}

/* ---- does the file's column already look like the table's? --------------------------------------------------------- */

static bool same_shape(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f)
{
    const IceFields *want = &f->type->fields;

    if (!want->n)
        return !c->group;
    if (c->children.n != want->n)
        return false;
    for (size_t i = 0; i < want->n; i++) {
        const IceField *child = &want->p[i];
        const FileColumn *in_file = f->type->kind == ICE_STRUCT ? find(p, &c->children, mapping, child) : &c->children.p[i];
        if (in_file != &c->children.p[i] || (f->type->kind == ICE_STRUCT && !str_eq(in_file->name, child->name)) ||
            !same_shape(p, in_file, child_mapping(mapping, child), child))
            return false;
    }
    return true;
}

/* ---- writing the expression ----------------------------------------------------------------------------------------- */

static Status missing_value(const Projection *p, const IceField *f, int top, Str *ret, Error *err)
{
    DataType type;
    for (size_t i = 0; top && p->spec && i < p->spec->fields.n && i < p->file->npartition; i++) {
        const IcePartitionField *pf = &p->spec->fields.p[i];
        if (pf->source_id == f->id && pf->transform.kind == TRANSFORM_IDENTITY)
            return lake_value_literal(p->a, f->type, &p->file->partition[i], ret, err);
    }
    TRY(lake_type(p->a, f->type, &type, err));
    Str sql = data_type_sql(p->a, &type);
    if (f->initial_default && f->initial_default->kind != JSON_NULL && !f->type->fields.n) {
        IceValue v;
        TRY_CTX(ice_value_from_json(p->a, f->type, f->initial_default, &v, err), err, "initial default of column '" STR_FMT "'", STR_ARG(f->name));
        return lake_value_literal(p->a, f->type, &v, ret, err);
    }
    *ret = str_fmt(p->a, "CAST(NULL AS " STR_FMT ")", STR_ARG(sql));
    return OK;
}

static Status rebuild(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f, Str value, int depth, Str *ret, Error *err);

static Status rebuild_struct(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f, Str value, int depth, Str *ret, Error *err)
{
    StrBuf b = sb_new(p->a);

    sb_fmt(&b, "CASE WHEN " STR_FMT " IS NULL THEN NULL ELSE struct_pack(", STR_ARG(value));
    for (size_t i = 0; i < f->type->fields.n; i++) {
        const IceField *child = &f->type->fields.p[i];
        const FileColumn *in_file = find(p, &c->children, mapping, child);
        Str part;
        if (in_file) {
            Str inner = str_fmt(p->a, "struct_extract(" STR_FMT ", " STR_FMT ")", STR_ARG(value), STR_ARG(sql_lit_str(p->a, in_file->name)));
            TRY(rebuild(p, in_file, child_mapping(mapping, child), child, inner, depth + 1, &part, err));
        } else {
            TRY(missing_value(p, child, 0, &part, err));
        }
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, child->name);
        sb_fmt(&b, " := " STR_FMT, STR_ARG(part));
    }
    sb_addc(&b, ") END");
    *ret = sb_str(&b);
    return OK;
}

static Status rebuild_list(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f, Str value, int depth, Str *ret, Error *err)
{
    const IceField *element = &f->type->fields.p[0];
    Str var = str_fmt(p->a, "x%d", depth), body;

    TRY(rebuild(p, &c->children.p[0], child_mapping(mapping, element), element, var, depth + 1, &body, err));
    *ret = str_fmt(p->a, "list_transform(" STR_FMT ", lambda x%d: " STR_FMT ")", STR_ARG(value), depth, STR_ARG(body));
    return OK;
}

static Status rebuild_map(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f, Str value, int depth, Str *ret, Error *err)
{
    const IceField *key = &f->type->fields.p[0], *val = &f->type->fields.p[1];
    Str k, v;

    TRY(rebuild(p, &c->children.p[0], child_mapping(mapping, key), key, str_fmt(p->a, "x%d.key", depth), depth + 1, &k, err));
    TRY(rebuild(p, &c->children.p[1], child_mapping(mapping, val), val, str_fmt(p->a, "x%d.value", depth), depth + 1, &v, err));
    *ret = str_fmt(p->a, "map_from_entries(list_transform(map_entries(" STR_FMT "), lambda x%d: struct_pack(k := " STR_FMT ", v := " STR_FMT ")))",
                   STR_ARG(value), depth, STR_ARG(k), STR_ARG(v));
    return OK;
}

static Status rebuild(const Projection *p, const FileColumn *c, const IceNameMapping *mapping, const IceField *f, Str value, int depth, Str *ret, Error *err)
{
    *ret = value;
    if (!f->type->fields.n || same_shape(p, c, mapping, f))
        return OK;
    if (!c->children.n)
        return FAIL(err, E_CORRUPT, "column '" STR_FMT "' is nested in the table but not in the file", STR_ARG(f->name));
    if (f->type->kind == ICE_STRUCT)
        return rebuild_struct(p, c, mapping, f, value, depth, ret, err);
    if (f->type->kind == ICE_LIST)
        return rebuild_list(p, c, mapping, f, value, depth, ret, err);
    if (c->children.n < 2)
        return FAIL(err, E_CORRUPT, "map column '" STR_FMT "' has no key and value in the file", STR_ARG(f->name));
    return rebuild_map(p, c, mapping, f, value, depth, ret, err);
}

Status lake_project(const Projection *p, const IceField *f, Str *ret, Error *err)
{
    const FileColumn *c = find(p, &p->layout->columns, p->mapping, f);
    DataType type;
    Str value;

    if (!c || f->type->kind == ICE_UNKNOWN)
        return missing_value(p, f, 1, ret, err);
    TRY(lake_type(p->a, f->type, &type, err));
    TRY(rebuild(p, c, child_mapping(p->mapping, f), f, str_fmt(p->a, "r." STR_FMT, STR_ARG(sql_ident_str(p->a, c->engine))), 1, &value, err));
    *ret = str_fmt(p->a, "CAST(" STR_FMT " AS " STR_FMT ")", STR_ARG(value), STR_ARG(data_type_sql(p->a, &type)));   /* the engine drops casts to the same type */
    return OK;
}

const FileColumn *lake_file_column(const Projection *p, const IceField *f) { return find(p, &p->layout->columns, p->mapping, f); }

bool lake_needs_partition(const Projection *p, const IceField *f)
{
    if (find(p, &p->layout->columns, p->mapping, f))
        return false;
    for (size_t k = 0; p->spec && k < p->spec->fields.n; k++)
        if (p->spec->fields.p[k].source_id == f->id && p->spec->fields.p[k].transform.kind == TRANSFORM_IDENTITY)
            return true;
    return false;
}
