/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - schemas: parsing, looking up, fresh ids, what a format version allows.
 *
 * Columns are known by id; names may change and may differ by case only.  Invariants of a parsed schema:
 * 1. no id occurs twice, nested fields included; 2. no name occurs twice in one struct; 3. identifier ids exist. */
#include "iceberg/iceberg_int.h"

static Status collect_ids(Arena *a, const IceFields *fields, Map *seen, Error *err)
{
    for vec_each(IceField, f, fields) {
        Str key = str_fmt(a, "%d", (int)f->id);
        IceField *other = map_get(seen, key);
        if (other)
            return FAIL(err, E_INVALID, "Invalid schema: fields '" STR_FMT "' and '" STR_FMT "' have the same id %d",
                        STR_ARG(other->name), STR_ARG(f->name), (int)f->id);
        map_put(seen, key, f);
        TRY(collect_ids(a, &f->type->fields, seen, err));
    }
    return OK;
}

static Status identifiers(Arena *a, const Json *j, IceSchema *s, Error *err)
{
    const Json *ids = json_get(j, "identifier-field-ids");

    for (size_t i = 0; i < json_len(ids); i++) {
        const Json *id = json_at(ids, i);
        if (!json_is(id, JSON_INT) || !ice_field_by_id(s, (int32_t)id->integer))
            return FAIL(err, E_INVALID, "Cannot add identifier field: no field with that id in the schema");
        vec_push(a, &s->identifiers, (int32_t)id->integer);
    }
    return OK;
}

Status ice_schema_parse(Arena *a, const Json *j, IceSchema **ret, Error *err)
{
    IceSchema *s = arena_new(a, IceSchema);
    Map seen = map_new(a);

    if (!json_is(j, JSON_OBJECT))
        return FAIL(err, E_INVALID, "Cannot parse schema from non-object");
    if (!str_eq(json_get_str(j, "type", S("struct")), S("struct")))
        return FAIL(err, E_INVALID, "Cannot parse schema: its type is not struct");
    s->id = ice_opt_i32(j, "schema-id").v;
    TRY(ice_field_parse_all(a, j, 0, &s->fields, err));
    TRY(collect_ids(a, &s->fields, &seen, err));
    TRY(identifiers(a, j, s, err));
    *ret = s;
    return OK;
}

Json *ice_schema_json(Arena *a, const IceSchema *s)
{
    IceType t = { .kind = ICE_STRUCT, .fields = s->fields };
    Json *o = json_object(a), *body = ice_type_json(a, &t);

    json_set(a, o, "type", json_str(a, S("struct")));
    json_set(a, o, "schema-id", json_int(a, s->id));
    json_set(a, o, "fields", json_get(body, "fields"));
    if (s->identifiers.n) {
        Json *ids = json_array(a);
        for vec_each(const int32_t, id, &s->identifiers)
            json_push(a, ids, json_int(a, *id));
        json_set(a, o, "identifier-field-ids", ids);
    }
    return o;
}

/* ---- lookups ------------------------------------------------------------------------------------------------- */

static const IceField *find_id(const IceFields *fields, int32_t id)
{
    for vec_each(const IceField, f, fields) {
        const IceField *in = f->id == id ? f : find_id(&f->type->fields, id);
        if (in)
            return in;
    }
    return NULL;
}

const IceField *ice_field_by_id(const IceSchema *s, int32_t id) { return s ? find_id(&s->fields, id) : NULL; }

const IceField *ice_top_field(const IceSchema *s, int32_t id)
{
    for vec_each(const IceField, f, &s->fields)
        if (f->id == id)
            return f;
    return NULL;
}

/* A dot in a name is literal, so every way to cut the path is tried: at most NAME_STEPS of them. A list's element and a
 * map's value may be left out of the path, as in the reference's short names. */
enum { NAME_STEPS = 100000 };

static const IceField *find_name(const IceFields *fields, Str path, int *steps)
{
    const IceField *in;

    for vec_each(const IceField, f, fields) {
        if (++*steps > NAME_STEPS)
            return NULL;
        if (str_eq(f->name, path))
            return f;
        if (path.n <= f->name.n || !str_starts(path, f->name) || path.p[f->name.n] != '.')
            continue;
        const IceType *t = f->type;
        Str rest = str_from(path, f->name.n + 1);
        if ((in = find_name(&t->fields, rest, steps)))
            return in;
        if ((t->kind == ICE_LIST || t->kind == ICE_MAP) && (in = find_name(&vec_last(&t->fields).type->fields, rest, steps)))
            return in;
    }
    return NULL;
}

const IceField *ice_field_by_name(const IceSchema *s, Str dotted)
{
    int steps = 0;
    return find_name(&s->fields, dotted, &steps);
}

const IceField *ice_field_any(const IceMetadata *m, int32_t id)
{
    const IceField *f = ice_field_by_id(ice_current_schema(m), id);

    for (size_t i = m->schemas.n; !f && i-- > 0;)
        f = ice_field_by_id(m->schemas.p[i], id);
    return f;
}

bool ice_same_schema(const IceSchema *x, const IceSchema *y)
{
    if (!ice_fields_equal(&x->fields, &y->fields) || x->identifiers.n != y->identifiers.n)
        return false;
    for (size_t i = 0; i < x->identifiers.n; i++) {
        bool found = false;
        for (size_t k = 0; k < y->identifiers.n; k++)
            found |= x->identifiers.p[i] == y->identifiers.p[k];
        if (!found)
            return false;
    }
    return true;
}

static int32_t highest(const IceFields *fields, int32_t best)
{
    for vec_each(const IceField, f, fields) {
        best = f->id > best ? f->id : best;
        best = highest(&f->type->fields, best);
    }
    return best;
}

int32_t ice_schema_highest_id(const IceSchema *s) { return highest(&s->fields, 0); }

/* ---- fresh ids -------------------------------------------------------------------------------------------------- */

/* All fields of a struct get their ids before any of their children do. */
static IceFields fresh(Arena *a, const IceFields *fields, int32_t *last)
{
    IceFields out = { 0 };

    for vec_each(const IceField, f, fields) {
        vec_push(a, &out, *f);
        vec_last(&out).id = ++*last;
    }
    for vec_each(IceField, f, &out) {
        if (!ice_is_nested(f->type))
            continue;
        IceType *t = arena_new(a, IceType);
        *t = *f->type;
        t->fields = fresh(a, &f->type->fields, last);
        f->type = t;
    }
    return out;
}

int32_t ice_id_twin(const IceFields *from, const IceFields *to, int32_t id)
{
    for (size_t i = 0; i < from->n && i < to->n; i++) {
        if (from->p[i].id == id)
            return to->p[i].id;
        int32_t in = ice_id_twin(&from->p[i].type->fields, &to->p[i].type->fields, id);
        if (in >= 0)
            return in;
    }
    return -1;
}

IceSchema *ice_schema_assign_ids(Arena *a, const IceSchema *s, int32_t *last_id)
{
    IceSchema *out = arena_new(a, IceSchema);

    out->id = s->id;
    out->fields = fresh(a, &s->fields, last_id);
    for vec_each(const int32_t, id, &s->identifiers)
        vec_push(a, &out->identifiers, ice_id_twin(&s->fields, &out->fields, *id));
    return out;
}

/* ---- what a format version allows ----------------------------------------------------------------------------- */

static void too_new(Arena *a, const IceFields *fields, Str prefix, int version, StrBuf *problems)
{
    for vec_each(const IceField, f, fields) {
        Str name = prefix.n ? str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(f->name)) : f->name;
        Str type = ice_type_text(a, f->type);
        if (ice_type_since(f->type) > version)
            sb_fmt(problems, " - Invalid type for " STR_FMT ": " STR_FMT " is not supported until v%d", STR_ARG(name),
                   STR_ARG(type), ice_type_since(f->type));
        if (f->initial_default && version < 3)
            sb_fmt(problems, " - Invalid initial default for " STR_FMT ": non-null default is not supported until v3",
                   STR_ARG(name));
        too_new(a, &f->type->fields, name, version, problems);
    }
}

Status ice_schema_check_version(Arena *a, const IceSchema *s, int version, Error *err)
{
    StrBuf problems = sb_new(a);

    too_new(a, &s->fields, S(""), version, &problems);
    if (problems.n)
        return FAIL(err, E_INVALID, "Invalid schema for v%d:" STR_FMT, version, STR_ARG(sb_str(&problems)));
    return OK;
}
