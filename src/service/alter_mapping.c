/* SPDX-License-Identifier: Apache-2.0 */
/* alter_mapping.c - the property schema.name-mapping.default kept true when columns change.
 *
 * Files without field ids are read by it, so what it says of old names must stay: a renamed field gets one more name, an added
 * one gets an entry, a dropped one keeps its entry.  A name that moves to another field of the same level leaves the old one: new
 * files mean the new field by it. */
#include "service/alter_int.h"

static Json *entry_of(const Json *level, int32_t id)
{
    for (size_t i = 0; i < json_len(level); i++)
        if (json_get_int(json_at(level, i), "field-id", -1) == id)
            return json_at(level, i);
    return NULL;
}

static bool has_name(const Json *names, Str name)
{
    for (size_t i = 0; i < json_len(names); i++)
        if (json_is(json_at(names, i), JSON_STRING) && str_eq(json_at(names, i)->string, name))
            return true;
    return false;
}

static void take_name(Arena *a, Json *entry, Str name)
{
    const Json *old = json_get(entry, "names");
    Json *names = json_array(a);

    if (!has_name(old, name))
        return;
    for (size_t i = 0; i < json_len(old); i++)
        if (!str_eq(json_at(old, i)->string, name))
            json_push(a, names, json_at(old, i));
    json_set(a, entry, "names", names);
}

static void give_name(Arena *a, Json *level, Json *entry, Str name)
{
    Json *names = json_get(entry, "names");

    if (has_name(names, name))
        return;
    for (size_t i = 0; i < json_len(level); i++)
        take_name(a, json_at(level, i), name);
    if (!names) {
        names = json_array(a);
        json_set(a, entry, "names", names);
    }
    json_push(a, names, json_str(a, name));
}

static void update_level(Arena *a, Json *level, const IceFields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        const IceField *f = &fields->p[i];
        Json *entry = entry_of(level, f->id);
        if (!entry) {
            entry = json_object(a);
            json_set(a, entry, "field-id", json_int(a, f->id));
            json_push(a, level, entry);
        }
        give_name(a, level, entry, f->name);
        if (!f->type->fields.n)
            continue;
        if (!json_is(json_get(entry, "fields"), JSON_ARRAY))
            json_set(a, entry, "fields", json_array(a));
        update_level(a, json_get(entry, "fields"), &f->type->fields);
    }
}

Status alter_mapping(Arena *a, Str mapping, const IceSchema *s, Str *ret, Error *err)
{
    IceNameMapping checked = {0};
    Json *root;

    TRY(ice_name_mapping_parse(a, mapping, &checked, err));
    TRY(json_parse(a, mapping, &root, err));
    if (!json_is(root, JSON_ARRAY))
        return FAIL(err, E_INVALID, "a name mapping is a JSON array");
    update_level(a, root, &s->fields);
    *ret = json_text(a, root);
    return OK;
}
