/* SPDX-License-Identifier: Apache-2.0 */
/* format_registry_ids.c - schemas of a registry that are kept: those of writers by id, and the one that is pinned with a source. */
#include "source/format_int.h"

enum { UNKNOWN_MS = 30 * 1000, MAX_KNOWN = 10 * 1000 };

const void *registry_ids_find(RegistryIds *ids, int32_t id)
{
    if (ids->recent < ids->known.n && ids->known.p[ids->recent].id == id)
        return ids->known.p[ids->recent].schema;
    for (size_t i = 0; i < ids->known.n; i++)
        if (ids->known.p[i].id == id) {
            ids->recent = i;
            return ids->known.p[i].schema;
        }
    return NULL;
}

Status registry_ids_ask(RegistryIds *ids, Registry *r, Arena *a, int32_t id, const char *type, RegistrySchema *ret, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(ids->unknown); i++)
        if (ids->unknown[i].why[0] && ids->unknown[i].id == id && clock_ms() < ids->unknown[i].until_ms)
            return FAIL(err, E_INVALID, "%s", ids->unknown[i].why);
    Status s = registry_by_id(r, a, id, ret, err);
    if (s == OK && !str_eq(ret->type, str_c(type)))
        s = FAIL(err, E_INVALID, "schema %d of the registry is " STR_FMT ", not %s", id, STR_ARG(str_sub(ret->type, 0, 40)), type);
    return s == OK ? OK : registry_ids_refuse(ids, id, s, err);
}

Status registry_ids_put(RegistryIds *ids, Arena *keep, int32_t id, const void *schema, Error *err)
{
    RegistryKnown k = { id, schema };

    if (ids->known.n >= MAX_KNOWN)
        return FAIL(err, E_UNAVAILABLE, "more than %d schemas of writers", MAX_KNOWN);
    ids->recent = ids->known.n;
    vec_push(keep, &ids->known, k);
    return OK;
}

Status registry_ids_refuse(RegistryIds *ids, int32_t id, Status s, const Error *err)
{
    if (!format_is_poison(s))
        return s;
    RegistryUnknown *u = &ids->unknown[ids->next_unknown++ % COUNT_OF(ids->unknown)];
    u->id = id;
    u->until_ms = clock_ms() + UNKNOWN_MS;
    memcpy(u->why, err->message, sizeof u->why - 1);
    u->why[sizeof u->why - 1] = 0;
    return s;
}

/* ---- pinned ------------------------------------------------------------------------------------------------------------------------------ */

static Str pin(Arena *a, Str schema, const StrVec *references)
{
    Json *j = json_object(a), *list = json_array(a);

    for vec_each(Str, r, references)
        json_push(a, list, json_str(a, *r));
    json_set(a, j, "schema", json_str(a, schema));
    json_set(a, j, "references", list);
    return json_text(a, j);
}

Str registry_pin_text(Arena *a, Str schema) { return pin(a, schema, &(StrVec){0}); }

Status registry_pin(Registry *r, Arena *a, Str subject, const char *type, Str *ret, Error *err)
{
    RegistrySchema s;

    TRY(registry_latest(r, a, subject, &s, err));
    if (!str_eq(s.type, str_c(type)))
        return FAIL(err, E_INVALID, "the schema of subject '" STR_FMT "' is " STR_FMT ", not %s", STR_ARG(subject), STR_ARG(str_sub(s.type, 0, 40)), type);
    *ret = pin(a, s.text, &s.references);
    return OK;
}

Status registry_unpin(Arena *a, Str pinned, Str *schema, StrVec *references, Error *err)
{
    Json *j, *list;

    TRY_CTX(json_parse(a, pinned, &j, err), err, "the schema that was pinned");
    TRY_CTX(json_need_str(j, "schema", schema, err), err, "the schema that was pinned");
    list = json_get(j, "references");
    for (size_t i = 0; i < json_len(list); i++)
        if (json_is(json_at(list, i), JSON_STRING))
            vec_push(a, references, json_at(list, i)->string);
    return OK;
}
