/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_doc.c - grants as they are kept: one document of the catalog for each resource, found by its name.
 *
 * Key: a letter for the kind, then the parts of the name, 0x1E between them (names hold no control characters but 0x1F).
 * Invariants: (1) an entry without permissions and grant options is not kept; (2) a document without entries stays: it says that the
 * resource is Lake Formation's; (3) entries of one principal and one part of the resource are one. */
#include "access/lakeformation_int.h"

#include <stdlib.h>

static const char DOC_KIND[] = "lf.grant";

static const LfPermissionName permission_names[] = {
    { "ALL", "All", LF_ALL }, { "SELECT", "Select", LF_SELECT }, { "ALTER", "Alter", LF_ALTER }, { "DROP", "Drop", LF_DROP }, { "DELETE", "Delete", LF_DELETE },
    { "INSERT", "Insert", LF_INSERT }, { "DESCRIBE", "Describe", LF_DESCRIBE }, { "CREATE_DATABASE", "Create Database", LF_CREATE_DATABASE },
    { "CREATE_TABLE", "Create Table", LF_CREATE_TABLE }, { "DATA_LOCATION_ACCESS", "Data Location Access", LF_DATA_LOCATION },
    { "CREATE_LF_TAG", "Create LF Tag", LF_CREATE_TAG }, { "ASSOCIATE", "Associate", LF_ASSOCIATE }, { "GRANT_WITH_LF_TAG_EXPRESSION", "Grant With LF Tag Expression", LF_GRANT_TAG },
    { "CREATE_LF_TAG_EXPRESSION", "Create LF Tag Expression", LF_CREATE_EXPRESSION }, { "CREATE_CATALOG", "Create Catalog", LF_CREATE_CATALOG }, { "SUPER_USER", "Super user", LF_SUPER },
};

const LfPermissionName *lf_permission_names(size_t *n)
{
    *n = COUNT_OF(permission_names);
    return permission_names;
}

/* ---- keys -------------------------------------------------------------------------------------------------------------- */

static void add_part(StrBuf *b, Str part)
{
    sb_byte(b, 0x1E);
    sb_add(b, part);
}

Str lf_key_prefix(Arena *a, char kind, Str catalog, Str database)
{
    StrBuf b = sb_new(a);

    sb_byte(&b, kind);
    add_part(&b, catalog);
    if (database.n)
        add_part(&b, database);
    sb_byte(&b, 0x1E);
    return sb_str(&b);
}

static int by_key(const void *x, const void *y) { return str_cmp(((const LfTagPair *)x)->key, ((const LfTagPair *)y)->key); }
static int by_text(const void *x, const void *y) { return str_cmp(*(const Str *)x, *(const Str *)y); }

/* The same expression gives the same text, however its keys and values are ordered. */
static void add_expression(Arena *a, StrBuf *b, const LfTagPairs *e)
{
    LfTagPair *sorted = arena_array(a, LfTagPair, e->n + 1);

    if (e->n)
        memcpy(sorted, e->p, e->n * sizeof *sorted);
    qsort(sorted, e->n, sizeof *sorted, by_key);
    for (size_t i = 0; i < e->n; i++) {
        Str *values = arena_array(a, Str, sorted[i].values.n + 1);
        if (sorted[i].values.n)
            memcpy(values, sorted[i].values.p, sorted[i].values.n * sizeof *values);
        qsort(values, sorted[i].values.n, sizeof *values, by_text);
        add_part(b, sorted[i].key);
        for (size_t k = 0; k < sorted[i].values.n; k++) {
            sb_byte(b, 0x1F);
            sb_add(b, values[k]);
        }
    }
}

Str lf_key(Arena *a, const LfResource *r)
{
    static const char letters[] = { [LF_CATALOG] = 'c', [LF_DATABASE] = 'd', [LF_TABLE] = 't', [LF_COLUMNS] = 't', [LF_LOCATION] = 'l', [LF_TAG] = 'g', [LF_TAG_POLICY] = 'p' };
    StrBuf b = sb_new(a);

    sb_byte(&b, r->kind == LF_TABLE && r->wildcard ? 'w' : letters[r->kind]);
    add_part(&b, r->catalog);
    switch (r->kind) {
    case LF_CATALOG: break;
    case LF_DATABASE: add_part(&b, r->database); break;
    case LF_TABLE: case LF_COLUMNS:
        add_part(&b, r->database);
        add_part(&b, r->wildcard && r->kind == LF_TABLE ? (Str){0} : r->table);
        break;
    case LF_LOCATION: add_part(&b, r->location); break;
    case LF_TAG: add_part(&b, r->tag.key); break;
    case LF_TAG_POLICY:
        add_part(&b, r->policy_on == LF_DATABASE ? S("DATABASE") : S("TABLE"));
        add_expression(a, &b, &r->expression);
        break;
    }
    return sb_str(&b);
}

Str lf_display(Arena *a, const LfResource *r)
{
    Str name = r->kind == LF_CATALOG ? r->catalog : r->kind == LF_LOCATION ? r->location : r->kind == LF_TAG ? r->tag.key
             : (r->kind == LF_TABLE || r->kind == LF_COLUMNS) && !r->wildcard ? r->table : r->database;
    char *text = str_z(a, name);

    for (size_t i = 0; i < name.n; i++)
        if (text[i] == 0x1F)
            text[i] = '.';
    return (Str){ text, name.n };
}

LfPart lf_part(const LfResource *r)
{
    if (r->kind == LF_TAG)
        return LF_ONLY;
    return r->kind != LF_COLUMNS ? LF_WHOLE : r->columns.n ? LF_ONLY : LF_BUT;
}

const StrVec *lf_names(const LfResource *r)
{
    if (r->kind == LF_TAG)
        return &r->tag.values;
    return r->columns.n ? &r->columns : &r->excluded;
}

/* ---- to and from JSON ---------------------------------------------------------------------------------------------------- */

static Json *strings_json(Arena *a, const StrVec *v)
{
    Json *list = json_array(a);
    for vec_each(Str, s, v)
        json_push(a, list, json_str(a, *s));
    return list;
}

static void strings_of(Arena *a, const Json *list, StrVec *ret)
{
    for (size_t i = 0; i < json_len(list); i++)
        vec_push(a, ret, json_at(list, i)->string);
}

static Json *pairs_json(Arena *a, const LfTagPairs *v)
{
    Json *o = json_object(a);
    for vec_each(LfTagPair, t, v)
        json_set_s(a, o, t->key, strings_json(a, &t->values));
    return o;
}

static void pairs_of(Arena *a, Str catalog, const Json *o, LfTagPairs *ret)
{
    for (size_t i = 0; i < json_len(o); i++) {
        LfTagPair t = { .catalog = catalog, .key = o->object.p[i].key };
        strings_of(a, o->object.p[i].value, &t.values);
        vec_push(a, ret, t);
    }
}

static Json *resource_json(Arena *a, const LfResource *r)
{
    Json *o = json_object(a);

    json_set(a, o, "kind", json_int(a, r->kind == LF_COLUMNS ? LF_TABLE : r->kind));
    json_set(a, o, "catalog", json_str(a, r->catalog));
    json_set(a, o, "database", json_str(a, r->database));
    json_set(a, o, "table", json_str(a, r->table));
    json_set(a, o, "wildcard", json_bool(a, r->wildcard != 0));
    json_set(a, o, "location", json_str(a, r->location));
    json_set(a, o, "tag", json_str(a, r->tag.key));
    json_set(a, o, "policy_on", json_int(a, r->policy_on));
    json_set(a, o, "expression", pairs_json(a, &r->expression));
    return o;
}

static LfResource resource_of(Arena *a, const Json *o)
{
    LfResource r = { .kind = (LfKind)json_get_int(o, "kind", LF_TABLE), .catalog = json_get_str(o, "catalog", (Str){0}), .database = json_get_str(o, "database", (Str){0}),
                     .table = json_get_str(o, "table", (Str){0}), .wildcard = json_get_bool(o, "wildcard", false), .location = json_get_str(o, "location", (Str){0}),
                     .policy_on = (LfKind)json_get_int(o, "policy_on", LF_TABLE) };

    r.tag = (LfTagPair){ .catalog = r.catalog, .key = json_get_str(o, "tag", (Str){0}) };
    pairs_of(a, r.catalog, json_get(o, "expression"), &r.expression);
    return r;
}

static Json *entry_json(Arena *a, const LfEntry *e)
{
    Json *o = json_object(a);

    json_set(a, o, "principal", json_str(a, e->principal));
    json_set(a, o, "permissions", json_int(a, e->permissions));
    json_set(a, o, "grantable", json_int(a, e->grantable));
    json_set(a, o, "updated_ms", json_int(a, e->updated_ms));
    json_set(a, o, "updated_by", json_str(a, e->updated_by));
    if (e->part != LF_WHOLE)
        json_set(a, o, e->part == LF_ONLY ? "only" : "but", strings_json(a, &e->names));
    return o;
}

static LfEntry entry_of(Arena *a, const Json *o)
{
    LfEntry e = { .principal = json_get_str(o, "principal", (Str){0}), .permissions = (uint32_t)json_get_int(o, "permissions", 0), .grantable = (uint32_t)json_get_int(o, "grantable", 0),
                  .updated_ms = json_get_int(o, "updated_ms", 0), .updated_by = json_get_str(o, "updated_by", (Str){0}) };

    e.part = json_get(o, "only") ? LF_ONLY : json_get(o, "but") ? LF_BUT : LF_WHOLE;
    strings_of(a, json_get(o, e.part == LF_ONLY ? "only" : "but"), &e.names);
    return e;
}

static LfDoc doc_of(Arena *a, const Json *o)
{
    LfDoc d = { .resource = resource_of(a, json_get(o, "resource")) };
    const Json *list = json_get(o, "grants");

    for (size_t i = 0; i < json_len(list); i++)
        vec_push(a, &d.entries, entry_of(a, json_at(list, i)));
    return d;
}

/* ---- in the catalog ---------------------------------------------------------------------------------------------------------- */

Status lf_load(Access *x, Arena *a, const LfResource *r, LfDoc *ret, int *there, Error *err)
{
    Json *o = NULL;

    *ret = (LfDoc){ .resource = *r };
    if (r->kind == LF_COLUMNS)
        ret->resource.kind = LF_TABLE;
    Status s = cat_doc_get(x->catalog, a, str_c(DOC_KIND), lf_key(a, r), &o, err);
    *there = s == OK;
    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    *ret = doc_of(a, o);
    return OK;
}

Status lf_load_all(Access *x, Arena *a, Str prefix, LfDocs *ret, Error *err)
{
    CatDocs docs = {0};

    TRY(cat_doc_list(x->catalog, a, str_c(DOC_KIND), prefix, &docs, err));
    for vec_each(CatDoc, d, &docs)
        vec_push(a, ret, doc_of(a, d->value));
    return OK;
}

CatChange lf_store_change(Arena *a, const LfDoc *d)
{
    Json *o = json_object(a), *list = json_array(a);

    for vec_each(LfEntry, e, &d->entries)
        if (e->permissions || e->grantable)
            json_push(a, list, entry_json(a, e));
    json_set(a, o, "resource", resource_json(a, &d->resource));
    json_set(a, o, "grants", list);
    return (CatChange){ .kind = CH_DOC, .doc_kind = str_c(DOC_KIND), .doc_key = lf_key(a, &d->resource), .doc = o };
}

Status lf_store(Access *x, Arena *a, const LfDoc *d, Error *err)
{
    CatChange ch = lf_store_change(a, d);
    return cat_commit(x->catalog, &ch, 1, err);
}

/* Read, change, write: one at a time. */
void lf_lock(Access *x) { pthread_mutex_lock(&x->lf_lock); }

void lf_unlockp(Access **x)
{
    if (*x)
        pthread_mutex_unlock(&(*x)->lf_lock);
}
