/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - the registry: documents of the catalog, and what is held of them in memory.
 *
 * Invariants: (1) memory changes after the catalog has; (2) entries are immutable: a changed object is another entry; readers copy what they need. */
#include "service/objects.h"
#include "sql/sql.h"

#include <stdlib.h>

struct Objects {
    Catalog *catalog;
    pthread_mutex_t lock;
    Arena *a;                          /* of the entries; forgotten ones stay until reset: names are few */
    VEC(Object *) entries;             /* by number */
    int64_t next;
};

static const char *const KIND = "live.object";

const char *obj_kind_name(ObjKind k)
{
    static const char *const names[OBJ_KINDS] = { "table", "view", "materialized-view", "source", "sink", "index", "connection", "secret", "type" };
    return names[k];
}

static Str key_of(Arena *a, int64_t id) { return str_fmt(a, "u%lld", (long long)id); }

/* ---- documents -------------------------------------------------------------------------------------------------------- */

static Json *column_json(Arena *a, const ObjColumn *c)
{
    Json *j = json_object(a);
    json_set(a, j, "name", json_str(a, c->name));
    json_set(a, j, "engine", json_str(a, c->engine));
    json_set(a, j, "type", json_str(a, c->type_name));
    json_set(a, j, "not-null", json_bool(a, c->not_null));
    if (c->default_.n)
        json_set(a, j, "default", json_str(a, c->default_));
    return j;
}

static Json *to_json(Arena *a, const Object *o)
{
    Json *j = json_object(a), *cols = json_array(a), *uses = json_array(a);

    json_set(a, j, "id", json_int(a, o->id));
    json_set(a, j, "kind", json_str(a, str_c(obj_kind_name(o->kind))));
    json_set(a, j, "database", json_str(a, o->database));
    json_set(a, j, "schema", json_str(a, o->schema));
    json_set(a, j, "name", json_str(a, o->name));
    json_set(a, j, "owner", json_str(a, o->owner));
    json_set(a, j, "definition", json_str(a, o->definition));
    json_set(a, j, "comment", json_str(a, o->comment));
    json_set(a, j, "created-ms", json_int(a, o->created_ms));
    for (size_t i = 0; i < o->columns.n; i++)
        json_push(a, cols, column_json(a, &o->columns.p[i]));
    for (size_t i = 0; i < o->uses.n; i++)
        json_push(a, uses, json_int(a, o->uses.p[i]));
    json_set(a, j, "columns", cols);
    json_set(a, j, "uses", uses);
    return j;
}

static Str own(Arena *a, const Json *j, const char *key) { return str_dup(a, json_get_str(j, key, (Str){0})); }

static Status column_of(Arena *a, const Json *j, ObjColumn *ret, Error *err)
{
    *ret = (ObjColumn){ .name = own(a, j, "name"), .engine = own(a, j, "engine"), .type_name = own(a, j, "type"), .default_ = own(a, j, "default"), .not_null = json_get_bool(j, "not-null", false) };
    return sql_parse_type(a, DIALECT_POSTGRES, ret->type_name, &ret->type, err);
}

static Status from_json(Arena *a, const Json *j, Object *ret, Error *err)
{
    Str kind = json_get_str(j, "kind", (Str){0});
    const Json *cols = json_get(j, "columns"), *uses = json_get(j, "uses");

    *ret = (Object){ .id = json_get_int(j, "id", 0), .kind = OBJ_KINDS, .database = own(a, j, "database"), .schema = own(a, j, "schema"), .name = own(a, j, "name"), .owner = own(a, j, "owner"),
                     .definition = own(a, j, "definition"), .comment = own(a, j, "comment"), .created_ms = json_get_int(j, "created-ms", 0) };
    for (int k = 0; k < OBJ_KINDS; k++)
        if (str_eq(kind, str_c(obj_kind_name((ObjKind)k))))
            ret->kind = (ObjKind)k;
    if (ret->kind == OBJ_KINDS || ret->id <= 0)
        return FAIL(err, E_CORRUPT, "object '" STR_FMT "' is of unknown kind '" STR_FMT "'", STR_ARG(ret->name), STR_ARG(kind));
    for (size_t i = 0; i < json_len(cols); i++) {
        ObjColumn c;
        TRY_CTX(column_of(a, json_at(cols, i), &c, err), err, "object '" STR_FMT "'", STR_ARG(ret->name));
        vec_push(a, &ret->columns, c);
    }
    for (size_t i = 0; i < json_len(uses); i++)
        if (json_is(json_at(uses, i), JSON_INT))
            vec_push(a, &ret->uses, json_at(uses, i)->integer);
    return OK;
}

static Object copy(Arena *a, const Object *o)
{
    Object r = { .id = o->id, .kind = o->kind, .database = str_dup(a, o->database), .schema = str_dup(a, o->schema), .name = str_dup(a, o->name), .owner = str_dup(a, o->owner),
                 .definition = str_dup(a, o->definition), .comment = str_dup(a, o->comment), .created_ms = o->created_ms };
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        ObjColumn mine = { .name = str_dup(a, c->name), .engine = str_dup(a, c->engine), .type_name = str_dup(a, c->type_name), .default_ = str_dup(a, c->default_),
                           .type = data_type_copy(a, &c->type), .not_null = c->not_null };
        vec_push(a, &r.columns, mine);
    }
    for (size_t i = 0; i < o->uses.n; i++)
        vec_push(a, &r.uses, o->uses.p[i]);
    return r;
}

/* ---- in memory ----------------------------------------------------------------------------------------------------------- */

static const Object *by_id(const Objects *o, int64_t id)
{
    for (size_t i = 0; i < o->entries.n; i++)
        if (o->entries.p[i]->id == id)
            return o->entries.p[i];
    return NULL;
}

static const Object *by_name(const Objects *o, Str database, Str schema, Str name)
{
    for (size_t i = 0; i < o->entries.n; i++) {
        const Object *e = o->entries.p[i];
        if (str_eq(e->name, name) && str_eq(e->schema, schema) && str_eq(e->database, database))
            return e;
    }
    return NULL;
}

static void remember(Objects *o, const Object *obj)
{
    Object *e = arena_new(o->a, Object);
    *e = copy(o->a, obj);
    for (size_t i = 0; i < o->entries.n; i++)
        if (o->entries.p[i]->id == obj->id) {
            o->entries.p[i] = e;
            return;
        }
    vec_push(o->a, &o->entries, e);
    for (size_t i = o->entries.n - 1; i > 0 && o->entries.p[i - 1]->id > e->id; i--) {
        o->entries.p[i] = o->entries.p[i - 1];
        o->entries.p[i - 1] = e;
    }
    o->next = max_i64(o->next, e->id + 1);
}

static Status read_all(Objects *o, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatDocs docs = {0};
    Json *last = NULL;
    Error absent;

    TRY(cat_doc_list(o->catalog, a, str_c(KIND), (Str){0}, &docs, err));
    for (size_t i = 0; i < docs.n; i++) {
        Object obj;
        TRY(from_json(a, docs.p[i].value, &obj, err));
        remember(o, &obj);
    }
    if (cat_doc_get(o->catalog, a, S("live.next"), S("id"), &last, &absent) == OK && json_is(last, JSON_INT))
        o->next = max_i64(o->next, last->integer);
    return OK;
}

Status objects_open(Catalog *c, Objects **ret, Error *err)
{
    Objects *o = calloc(1, sizeof *o);

    if (!o)
        abort();
    *o = (Objects){ .catalog = c, .a = arena_create(), .next = 1 };
    pthread_mutex_init(&o->lock, NULL);
    Status s = read_all(o, err);
    if (s != OK) {
        objects_close(o);
        return s;
    }
    *ret = o;
    return OK;
}

void objects_close(Objects *o)
{
    if (!o)
        return;
    pthread_mutex_destroy(&o->lock);
    arena_destroy(o->a);
    free(o);
}

Status objects_reset(Objects *o, Error *err)
{
    pthread_mutex_lock(&o->lock);
    arena_destroy(o->a);
    o->a = arena_create();
    memset(&o->entries, 0, sizeof o->entries);
    Status s = read_all(o, err);
    pthread_mutex_unlock(&o->lock);
    return s;
}

Status objects_find(Objects *o, Arena *a, Str database, Str schema, Str name, Object *ret, Error *err)
{
    pthread_mutex_lock(&o->lock);
    const Object *e = by_name(o, database, schema, name);
    if (e)
        *ret = copy(a, e);
    pthread_mutex_unlock(&o->lock);
    return e ? OK : FAIL(err, E_NOT_FOUND, "there is no such object");
}

void objects_list(Objects *o, Arena *a, ObjectVec *ret)
{
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->entries.n; i++) {
        Object e = copy(a, o->entries.p[i]);
        vec_push(a, ret, e);
    }
    pthread_mutex_unlock(&o->lock);
}

bool objects_known(Objects *o, int64_t id)
{
    pthread_mutex_lock(&o->lock);
    bool known = by_id(o, id) != NULL;
    pthread_mutex_unlock(&o->lock);
    return known;
}

int64_t objects_next_id(Objects *o)
{
    pthread_mutex_lock(&o->lock);
    int64_t id = o->next++;
    pthread_mutex_unlock(&o->lock);
    return id;
}

/* ---- changing ---------------------------------------------------------------------------------------------------------------- */

static Status put(Objects *o, Arena *a, const Object *obj, Error *err)
{
    const Object *there = by_name(o, obj->database, obj->schema, obj->name);
    CatChange ch[2] = { { .kind = CH_DOC, .doc_kind = str_c(KIND), .doc_key = key_of(a, obj->id), .doc = to_json(a, obj) },
                        { .kind = CH_DOC, .doc_kind = S("live.next"), .doc_key = S("id"), .doc = json_int(a, o->next) } };

    if (there && there->id != obj->id) {
        RAISE(err, E_EXISTS, "%s \"" STR_FMT "." STR_FMT "." STR_FMT "\" already exists", obj_kind_name(there->kind), STR_ARG(obj->database), STR_ARG(obj->schema), STR_ARG(obj->name));
        memcpy(err->sqlstate, "42710", 6);
        return E_EXISTS;
    }
    TRY(cat_commit(o->catalog, ch, COUNT_OF(ch), err));
    remember(o, obj);                                     /* (1) */
    return OK;
}

Status objects_put(Objects *o, const Object *obj, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    pthread_mutex_lock(&o->lock);
    Status s = put(o, a, obj, err);
    pthread_mutex_unlock(&o->lock);
    return s;
}

static bool among(const int64_t *ids, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

Status objects_delete(Objects *o, const int64_t *ids, size_t n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatChange *ch = arena_array(a, CatChange, n + 1);

    for (size_t i = 0; i < n; i++)
        ch[i] = (CatChange){ .kind = CH_DOC, .doc_kind = str_c(KIND), .doc_key = key_of(a, ids[i]) };
    pthread_mutex_lock(&o->lock);
    Status s = cat_commit(o->catalog, ch, n, err);
    size_t k = 0;
    for (size_t i = 0; s == OK && i < o->entries.n; i++)
        if (!among(ids, n, o->entries.p[i]->id))
            o->entries.p[k++] = o->entries.p[i];
    if (s == OK)
        o->entries.n = k;
    pthread_mutex_unlock(&o->lock);
    return s;
}

void objects_users(Objects *o, Arena *a, int64_t id, ObjectVec *ret)
{
    struct { int64_t *p; size_t n, cap; } found = {0};

    vec_push(a, &found, id);
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->entries.n; i++)             /* users have higher numbers than what they use */
        for (size_t k = 0; k < o->entries.p[i]->uses.n; k++)
            if (among(found.p, found.n, o->entries.p[i]->uses.p[k]) && !among(found.p, found.n, o->entries.p[i]->id))
                vec_push(a, &found, o->entries.p[i]->id);
    for (size_t i = found.n; i > 1; i--) {
        Object e = copy(a, by_id(o, found.p[i - 1]));
        vec_push(a, ret, e);
    }
    pthread_mutex_unlock(&o->lock);
}
