/* SPDX-License-Identifier: Apache-2.0 */
/* alter_columns.c - columns added, dropped, renamed, moved and widened, by field id, at any depth.
 *
 * The rules are those of the reference's SchemaUpdate.  Dropping a column only takes it out of the schema: its id stays taken, and old
 * snapshots keep showing it. */
#include "service/alter_int.h"

/* ---- finding ----------------------------------------------------------------------------------------------------------------- */

static ptrdiff_t index_of(const IceFields *fields, Str name)
{
    for (size_t i = 0; i < fields->n; i++)
        if (str_eq(fields->p[i].name, name))
            return (ptrdiff_t)i;
    for (size_t i = 0; i < fields->n; i++)
        if (str_ieq(fields->p[i].name, name))
            return (ptrdiff_t)i;
    return -1;
}

/* A field in its container; *kind is the container's. NULL: none. */
typedef struct Place { IceFields *in; size_t at; IceTypeKind kind; } Place;

static bool find_place(IceFields *top, const Str *path, size_t n, Place *ret)
{
    IceFields *in = top;
    IceTypeKind kind = ICE_STRUCT;

    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at = index_of(in, path[i]);
        if (at < 0)
            return false;
        *ret = (Place){ in, (size_t)at, kind };
        kind = in->p[at].type->kind;
        in = &in->p[at].type->fields;
    }
    return n > 0;
}

const IceField *alter_field(const IceSchema *s, const StrVec *path)
{
    const IceFields *in = &s->fields;
    const IceField *f = NULL;

    for (size_t i = 0; i < path->n; i++) {
        ptrdiff_t at = index_of(in, path->p[i]);
        if (at < 0)
            return NULL;
        f = &in->p[at];
        in = &f->type->fields;
    }
    return f;
}

const IceField *alter_field_named(Arena *a, const IceSchema *s, Str name)
{
    StrVec path = {0};
    const IceField *f = ddl_field(s, name);

    if (f)
        return f;
    str_split(a, name, '.', &path);
    return alter_field(s, &path);
}

Status alter_no_column(Run *r, const Name *table, Str column, Error *err)
{
    Status s;
    if (r->ss->dialect == DIALECT_SPARK)
        s = FAIL(err, E_INVALID, "[FIELD_NOT_FOUND] No such struct field `" STR_FMT "` in table " STR_FMT ".", STR_ARG(column), STR_ARG(name_display(r->a, table)));
    else
        s = FAIL(err, E_INVALID, "column \"" STR_FMT "\" of relation \"" STR_FMT "\" does not exist", STR_ARG(column), STR_ARG(table->name));
    memcpy(err->sqlstate, "42703", 6);
    return s;
}

static Status already_there(Run *r, const Name *table, Str column, const char *doing, Error *err)
{
    Status s;
    if (r->ss->dialect == DIALECT_SPARK)
        s = FAIL(err, E_EXISTS, "[FIELD_ALREADY_EXISTS] Cannot %s column, because `" STR_FMT "` already exists in table " STR_FMT ".", doing, STR_ARG(column), STR_ARG(name_display(r->a, table)));
    else
        s = FAIL(err, E_EXISTS, "column \"" STR_FMT "\" of relation \"" STR_FMT "\" already exists", STR_ARG(column), STR_ARG(table->name));
    memcpy(err->sqlstate, "42701", 6);
    return s;
}

/* ---- places -------------------------------------------------------------------------------------------------------------------- */

static void move_within(IceFields *in, size_t from, size_t to)
{
    IceField f = in->p[from];
    for (; from < to; from++)
        in->p[from] = in->p[from + 1];
    for (; from > to; from--)
        in->p[from] = in->p[from - 1];
    in->p[to] = f;
}

static Status put_in_place(Alter *x, IceFields *in, size_t at, const ColumnDef *d, Error *err)
{
    if (d->first) {
        move_within(in, at, 0);
        return OK;
    }
    if (!d->after.n)
        return OK;
    ptrdiff_t after = index_of(in, d->after);
    if (after < 0)
        return alter_no_column(x->r, &x->name, d->after, err);
    if ((size_t)after == at)
        return FAIL(err, E_INVALID, "Cannot move " STR_FMT " after itself", STR_ARG(d->after));
    move_within(in, at, (size_t)after < at ? (size_t)after + 1 : (size_t)after);
    return OK;
}

/* ---- defaults -------------------------------------------------------------------------------------------------------------------- */

static Status default_json(Alter *x, const Expr *e, const IceField *f, Json **ret, Error *err)
{
    Arena *a = x->r->a;
    int version = x->format_version ? x->format_version : x->table.meta->format_version;
    DataType type;
    IceValue iv = { .kind = f->type->kind, .scale = f->type->scale };
    Value v;

    if (version < 3)
        return FAIL(err, E_UNSUPPORTED, "column '" STR_FMT "': default values need format version 3, the table has %d", STR_ARG(f->name), version);
    if (f->type->fields.n)
        return FAIL(err, E_UNSUPPORTED, "column '" STR_FMT "': default values of nested types are not supported", STR_ARG(f->name));
    TRY(lake_type(a, f->type, &type, err));
    TRY(run_constant(x->r, e, &type, f->name, &v, err));
    if (v.kind == DT_NULL) {
        *ret = NULL;
        return OK;
    }
    switch (f->type->kind) {
    case ICE_BOOLEAN: iv.integer = v.boolean; break;
    case ICE_FLOAT: case ICE_DOUBLE: iv.real = v.real; break;
    case ICE_DECIMAL: iv.decimal = v.wide; break;
    case ICE_STRING: case ICE_BINARY: case ICE_FIXED: case ICE_UUID: iv.bytes = v.string; break;
    default: iv.integer = v.integer; break;
    }
    *ret = ice_value_json(a, f->type, &iv);
    return OK;
}

/* ---- ADD ---------------------------------------------------------------------------------------------------------------------------- */

/* The fields to which a column of this parent is added: a struct's own, a list's element's, a map's value's. */
static Status container(Alter *x, const StrVec *parent, IceFields **ret, Error *err)
{
    IceSchema *s = alter_schema(x);
    Place at;

    *ret = &s->fields;
    if (!parent->n)
        return OK;
    if (!find_place(&s->fields, parent->p, parent->n, &at))
        return alter_no_column(x->r, &x->name, str_join(x->r->a, parent, S(".")), err);
    IceType *t = at.in->p[at.at].type;
    while (t->kind == ICE_LIST || t->kind == ICE_MAP)
        t = t->fields.p[t->fields.n - 1].type;
    if (t->kind != ICE_STRUCT)
        return FAIL(err, E_INVALID, "Cannot add to non-struct column: " STR_FMT, STR_ARG(str_join(x->r->a, parent, S("."))));
    *ret = &t->fields;
    return OK;
}

static Status add_one(Alter *x, const AlterAction *act, const ColumnDef *d, Error *err)
{
    Arena *a = x->r->a;
    IceFields *in;

    TRY(container(x, &act->path, &in, err));
    if (index_of(in, d->name) >= 0)
        return act->if_not_exists ? OK : already_there(x->r, &x->name, d->name, "add", err);
    IceField f = { .id = ++x->last_id, .name = d->name, .doc = d->comment, .has_doc = d->comment.n > 0, .required = d->not_null };
    int32_t next = x->last_id + 1;
    TRY_CTX(lake_ice_type(a, &d->type, &next, &f.type, err), err, "column '" STR_FMT "'", STR_ARG(d->name));
    x->last_id = next - 1;
    if (d->default_) {
        TRY(default_json(x, d->default_, &f, &f.initial_default, err));
        f.write_default = f.initial_default;
    }
    if (d->not_null && !f.initial_default)
        return FAIL(err, E_INVALID, "Incompatible change: cannot add required column without a default value: " STR_FMT, STR_ARG(d->name));
    vec_push(a, in, f);
    return put_in_place(x, in, in->n - 1, d, err);
}

/* ---- DROP, RENAME ---------------------------------------------------------------------------------------------------------------------- */

static Status need_place(Alter *x, const AlterAction *act, Place *ret, Error *err)
{
    if (find_place(&alter_schema(x)->fields, act->path.p, act->path.n, ret))
        return OK;
    return alter_no_column(x->r, &x->name, str_join(x->r->a, &act->path, S(".")), err);
}

static Status struct_only(const Place *p, const AlterAction *act, Arena *a, const char *doing, Error *err)
{
    if (p->kind == ICE_STRUCT)
        return OK;
    return FAIL(err, E_INVALID, "Cannot %s '" STR_FMT "': it is the %s of a %s", doing, STR_ARG(str_join(a, &act->path, S("."))),
                p->kind == ICE_LIST ? "element" : "key or value", p->kind == ICE_LIST ? "list" : "map");
}

static Status drop_identifier_check(const IceSchema *s, const IceField *f, Error *err)
{
    for (size_t i = 0; i < s->identifiers.n; i++)
        if (s->identifiers.p[i] == f->id)
            return FAIL(err, E_INVALID, "Cannot delete identifier field " STR_FMT ". Drop it from the identifier fields first.", STR_ARG(f->name));
    for (size_t i = 0; i < f->type->fields.n; i++)
        TRY(drop_identifier_check(s, &f->type->fields.p[i], err));
    return OK;
}

static Status drop_column(Alter *x, const AlterAction *act, Error *err)
{
    Place p;

    if (act->if_exists && !alter_field(alter_see(x), &act->path))
        return OK;
    TRY(need_place(x, act, &p, err));
    TRY(struct_only(&p, act, x->r->a, "drop", err));
    TRY(drop_identifier_check(x->schema, &p.in->p[p.at], err));
    if (p.in->n == 1)
        return FAIL(err, E_INVALID, "Cannot drop '" STR_FMT "': it is the only column%s", STR_ARG(str_join(x->r->a, &act->path, S("."))), act->path.n > 1 ? " of its struct" : "");
    move_within(p.in, p.at, p.in->n - 1);
    p.in->n--;
    return OK;
}

static Status rename_column(Alter *x, const AlterAction *act, Error *err)
{
    Str to = vec_last(&act->new_name);
    Place p;

    TRY(need_place(x, act, &p, err));
    TRY(struct_only(&p, act, x->r->a, "rename", err));
    ptrdiff_t other = index_of(p.in, to);
    if (other >= 0 && (size_t)other != p.at)
        return already_there(x->r, &x->name, to, "rename", err);
    p.in->p[p.at].name = to;
    return OK;
}

/* ---- ALTER COLUMN ------------------------------------------------------------------------------------------------------------------------ */

static Str type_text(Alter *x, const IceType *t)
{
    DataType d;
    Error unreadable;
    return lake_type(x->r->a, t, &d, &unreadable) == OK ? sql_type_name(x->r->a, x->r->ss->dialect, &d) : json_text(x->r->a, ice_type_json(x->r->a, t));
}

static bool partitions_by(const Alter *x, int32_t id)
{
    const IceMetadata *m = x->table.meta;
    for (size_t i = 0; i < m->specs.n; i++)
        for (size_t k = 0; k < m->specs.p[i]->fields.n; k++)
            if (m->specs.p[i]->fields.p[k].source_id == id && m->specs.p[i]->fields.p[k].transform.kind != TRANSFORM_VOID)
                return true;
    return false;
}

static Status change_type(Alter *x, const AlterAction *act, IceField *f, const ColumnDef *d, Error *err)
{
    int version = x->format_version ? x->format_version : x->table.meta->format_version;
    int32_t next = 0;
    Str path = str_join(x->r->a, &act->path, S("."));
    IceType *to;

    TRY_CTX(lake_ice_type(x->r->a, &d->type, &next, &to, err), err, "column '" STR_FMT "'", STR_ARG(path));
    if (f->type->fields.n || to->fields.n)
        return FAIL(err, E_UNSUPPORTED, "Cannot update '" STR_FMT "' field's type from " STR_FMT " to " STR_FMT ": change a nested type field by field", STR_ARG(path),
                    STR_ARG(type_text(x, f->type)), STR_ARG(type_text(x, to)));
    if (!ice_type_promotes(f->type, to, version))
        return FAIL(err, E_INVALID, "Cannot change column type: " STR_FMT ": " STR_FMT " -> " STR_FMT " (a type may become wider only: int to bigint, float to double, "
                    "decimal to more digits with the same scale%s)", STR_ARG(path), STR_ARG(type_text(x, f->type)), STR_ARG(type_text(x, to)), version >= 3 ? ", date to timestamp_ntz" : "");
    if (f->type->kind == ICE_DATE && to->kind != ICE_DATE && partitions_by(x, f->id))
        return FAIL(err, E_INVALID, "Cannot change column type: " STR_FMT ": a date that partitions the table stays a date", STR_ARG(path));
    f->type = to;
    return OK;
}

static Status alter_one(Alter *x, const AlterAction *act, Error *err)
{
    const ColumnDef *d = &act->columns.p[0];
    Place p;

    TRY(need_place(x, act, &p, err));
    IceField *f = &p.in->p[p.at];
    if (act->set_type)
        TRY(change_type(x, act, f, d, err));
    if (act->set_comment) {
        f->doc = d->comment;
        f->has_doc = 1;
    }
    if (act->set_not_null && !f->required)
        return FAIL(err, E_UNSUPPORTED, "Cannot change nullable column to non-nullable: " STR_FMT, STR_ARG(str_join(x->r->a, &act->path, S("."))));
    if (act->drop_not_null) {
        TRY(struct_only(&p, act, x->r->a, "make nullable", err));
        TRY(drop_identifier_check(x->schema, f, err));
        f->required = 0;
    }
    if (act->set_default)
        TRY(default_json(x, d->default_, f, &f->write_default, err));
    if (act->drop_default)
        f->write_default = NULL;
    if (!act->set_position)
        return OK;
    TRY(struct_only(&p, act, x->r->a, "move", err));
    return put_in_place(x, p.in, p.at, d, err);
}

Status alter_columns(Alter *x, const AlterAction *act, Error *err)
{
    switch (act->kind) {
    case AT_ADD_COLUMNS:
        for (size_t i = 0; i < act->columns.n; i++)
            TRY(add_one(x, act, &act->columns.p[i], err));
        return OK;
    case AT_DROP_COLUMNS: return drop_column(x, act, err);
    case AT_RENAME_COLUMN: return rename_column(x, act, err);
    default: return alter_one(x, act, err);
    }
}

/* ---- what else needs the columns ------------------------------------------------------------------------------------------------------------ */

Status alter_check_sources(const Alter *x, Error *err)
{
    const IceMetadata *m = x->table.meta;
    const IceSpec *spec = x->spec ? x->spec : ice_spec(m, m->default_spec_id);
    const IceSortOrder *order = x->order;

    for (size_t i = 0; !order && i < m->orders.n; i++)
        if (m->orders.p[i]->id == m->default_order_id)
            order = m->orders.p[i];
    for (size_t i = 0; x->schema && spec && i < spec->fields.n; i++)
        if (spec->fields.p[i].transform.kind != TRANSFORM_VOID && !ice_field_by_id(x->schema, spec->fields.p[i].source_id))
            return FAIL(err, E_INVALID, "Cannot find source column for partition field: " STR_FMT " (drop the partition field first)", STR_ARG(spec->fields.p[i].name));
    for (size_t i = 0; x->schema && order && i < order->fields.n; i++)
        if (!ice_field_by_id(x->schema, order->fields.p[i].source_id))
            return FAIL(err, E_INVALID, "Cannot find source column for sort field %zu of the table's write order (change it by WRITE ORDERED BY or WRITE UNORDERED first)", i + 1);
    return OK;
}
