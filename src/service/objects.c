/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - the registry: what is held in memory of the catalog's documents (objects_doc.c), and how it changes.
 *
 * Invariants: (1) memory changes after the catalog has; (2) entries are immutable: a changed object is another entry; readers copy what they need. */
#include "service/objects_int.h"
#include "sql/sql.h"

#include <stdlib.h>

struct Objects {
    Catalog *catalog;
    pthread_mutex_t lock;
    Arena *a;                          /* of the entries; forgotten ones stay until reset: names are few */
    VEC(Object *) entries;             /* by number */
    int64_t next;
    int64_t revision;                  /* one more with each change */
    struct { int64_t *p; size_t n, cap; } touched;     /* a draft: what was put */
};

static const char *const KIND = "live.object";

const char *obj_kind_name(ObjKind k)
{
    static const char *const names[OBJ_KINDS] = { "table", "view", "materialized-view", "source", "sink", "index", "connection", "secret", "type" };
    return names[k];
}

const char *obj_kind_words(ObjKind k) { return k == OBJ_MVIEW ? "materialized view" : obj_kind_name(k); }

static Str key_of(Arena *a, int64_t id) { return str_fmt(a, "u%lld", (long long)id); }

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
    *e = object_copy(o->a, obj);
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
        TRY(object_of(a, docs.p[i].value, &obj, err));
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
        *ret = object_copy(a, e);
    pthread_mutex_unlock(&o->lock);
    return e ? OK : FAIL(err, E_NOT_FOUND, "there is no such object");
}

void objects_list(Objects *o, Arena *a, ObjectVec *ret)
{
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->entries.n; i++) {
        Object e = object_copy(a, o->entries.p[i]);
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

Status objects_get(Objects *o, Arena *a, int64_t id, Object *ret, Error *err)
{
    pthread_mutex_lock(&o->lock);
    const Object *e = by_id(o, id);
    if (e)
        *ret = object_copy(a, e);
    pthread_mutex_unlock(&o->lock);
    return e ? OK : FAIL(err, E_NOT_FOUND, "there is no object u%lld", (long long)id);
}

bool objects_in_schema(Objects *o, Str database, Str schema)
{
    bool any = false;

    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->entries.n && !any; i++)
        any = str_eq(o->entries.p[i]->database, database) && (!schema.n || str_eq(o->entries.p[i]->schema, schema));
    pthread_mutex_unlock(&o->lock);
    return any;
}

/* ---- changing ---------------------------------------------------------------------------------------------------------------- */

static bool among(const int64_t *ids, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static bool same_name(const Object *x, const Object *y) { return str_eq(x->name, y->name) && str_eq(x->schema, y->schema) && str_eq(x->database, y->database); }

/* Who has the name of put `k` when all is done; NULL: nobody else. Types have names of their own beside relations, as in PostgreSQL's catalogs; here they share them. */
static const Object *who_has(const Objects *o, const ObjChanges *ch, size_t k)
{
    for (size_t i = 0; i < ch->nputs; i++)
        if (i != k && same_name(&ch->puts[i], &ch->puts[k]))
            return &ch->puts[i];
    for (size_t i = 0; i < o->entries.n; i++) {
        const Object *e = o->entries.p[i];
        bool moves = among(ch->deletes, ch->ndeletes, e->id);
        for (size_t p = 0; p < ch->nputs; p++)
            moves |= ch->puts[p].id == e->id;
        if (!moves && same_name(e, &ch->puts[k]))
            return e;
    }
    return NULL;
}

static Status check_names(const Objects *o, const ObjChanges *ch, Error *err)
{
    for (size_t k = 0; k < ch->nputs; k++) {
        const Object *there = who_has(o, ch, k);
        if (!there)
            continue;
        RAISE(err, E_EXISTS, "%s \"" STR_FMT "." STR_FMT "." STR_FMT "\" already exists", obj_kind_words(there->kind), STR_ARG(there->database), STR_ARG(there->schema), STR_ARG(there->name));
        memcpy(err->sqlstate, "42710", 6);
        return E_EXISTS;
    }
    return OK;
}

static void forget(Objects *o, const ObjChanges *ch)
{
    size_t k = 0;

    for (size_t i = 0; i < o->entries.n; i++)
        if (!among(ch->deletes, ch->ndeletes, o->entries.p[i]->id))
            o->entries.p[k++] = o->entries.p[i];
    o->entries.n = k;
}

static Status change(Objects *o, Arena *a, const ObjChanges *ch, Error *err)
{
    CatChange *all = arena_array(a, CatChange, ch->nputs + ch->ndeletes + ch->nalso + 1);
    size_t n = 0;

    TRY(check_names(o, ch, err));
    for (size_t i = 0; i < ch->ndeletes; i++)
        all[n++] = (CatChange){ .kind = CH_DOC, .doc_kind = str_c(KIND), .doc_key = key_of(a, ch->deletes[i]) };
    for (size_t i = 0; i < ch->nputs; i++)
        all[n++] = (CatChange){ .kind = CH_DOC, .doc_kind = str_c(KIND), .doc_key = key_of(a, ch->puts[i].id), .doc = object_json(a, &ch->puts[i]) };
    for (size_t i = 0; i < ch->nalso; i++)
        all[n++] = ch->also[i];
    all[n++] = (CatChange){ .kind = CH_DOC, .doc_kind = S("live.next"), .doc_key = S("id"), .doc = json_int(a, o->next) };
    if (o->catalog)
        TRY(cat_commit(o->catalog, all, n, err));
    for (size_t i = 0; !o->catalog && i < ch->nputs; i++)
        vec_push(o->a, &o->touched, ch->puts[i].id);
    o->revision++;
    forget(o, ch);                                        /* (1) */
    for (size_t i = 0; i < ch->nputs; i++)
        remember(o, &ch->puts[i]);
    return OK;
}

Status objects_change(Objects *o, const ObjChanges *ch, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    pthread_mutex_lock(&o->lock);
    Status s = change(o, a, ch, err);
    pthread_mutex_unlock(&o->lock);
    return s;
}

Status objects_put(Objects *o, const Object *obj, Error *err)
{
    ObjChanges ch = { .puts = obj, .nputs = 1 };
    return objects_change(o, &ch, err);
}

Status objects_delete(Objects *o, const int64_t *ids, size_t n, Error *err)
{
    ObjChanges ch = { .deletes = ids, .ndeletes = n };
    return objects_change(o, &ch, err);
}

/* ---- drafts ---------------------------------------------------------------------------------------------------------------- */

Objects *objects_draft(Objects *of)
{
    Objects *o = calloc(1, sizeof *o);

    if (!o)
        abort();
    o->a = arena_create();
    pthread_mutex_init(&o->lock, NULL);
    pthread_mutex_lock(&of->lock);
    o->next = of->next;
    for (size_t i = 0; i < of->entries.n; i++) {
        Object *e = arena_new(o->a, Object);
        *e = object_copy(o->a, of->entries.p[i]);
        vec_push(o->a, &o->entries, e);
    }
    pthread_mutex_unlock(&of->lock);
    return o;
}

void objects_draft_puts(Objects *o, Arena *a, ObjectVec *ret)
{
    for (size_t i = 0; i < o->touched.n; i++) {
        const Object *e = by_id(o, o->touched.p[i]);
        if (!e || among(o->touched.p, i, o->touched.p[i]))
            continue;
        Object mine = object_copy(a, e);
        vec_push(a, ret, mine);
    }
}

int64_t objects_revision(Objects *o)
{
    pthread_mutex_lock(&o->lock);
    int64_t revision = o->revision;
    pthread_mutex_unlock(&o->lock);
    return revision;
}

/* ---- who uses what ------------------------------------------------------------------------------------------------------------ */

void objects_direct_users(Objects *o, Arena *a, int64_t id, ObjectVec *ret)
{
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->entries.n; i++)
        if (among(o->entries.p[i]->uses.p, o->entries.p[i]->uses.n, id)) {
            Object e = object_copy(a, o->entries.p[i]);
            vec_push(a, ret, e);
        }
    pthread_mutex_unlock(&o->lock);
}

typedef VEC(const Object *) Entries;

static bool uses_any(const Object *e, const Entries *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (among(e->uses.p, e->uses.n, of->p[i]->id))
            return true;
    return false;
}

static bool holds(const Entries *v, const Object *e)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->p[i] == e)
            return true;
    return false;
}

/* An altered object may use one with a higher number than its own: round by round until nobody new is found. */
static void closure(const Objects *o, Arena *a, const Object *of, Entries *found)
{
    size_t before = 0;

    vec_push(a, found, of);
    while (found->n != before) {
        before = found->n;
        for (size_t i = 0; i < o->entries.n; i++)
            if (!holds(found, o->entries.p[i]) && uses_any(o->entries.p[i], found))
                vec_push(a, found, o->entries.p[i]);
    }
}

static bool is_used(const Object *e, const Entries *by)
{
    for (size_t i = 0; i < by->n; i++)
        if (by->p[i] != e && among(by->p[i]->uses.p, by->p[i]->uses.n, e->id))
            return true;
    return false;
}

/* Whom nobody of the rest uses goes next. */
static const Object *take_unused(Entries *rest)
{
    size_t at = rest->n - 1;

    for (size_t i = rest->n; i > 0; i--)
        if (!is_used(rest->p[i - 1], rest)) {
            at = i - 1;
            break;
        }
    const Object *e = rest->p[at];
    memmove(&rest->p[at], &rest->p[at + 1], (rest->n - at - 1) * sizeof *rest->p);
    rest->n--;
    return e;
}

void objects_users(Objects *o, Arena *a, int64_t id, ObjectVec *ret)
{
    Entries rest = {0};

    pthread_mutex_lock(&o->lock);
    const Object *of = by_id(o, id);
    if (of)
        closure(o, a, of, &rest);
    while (rest.n) {
        const Object *e = take_unused(&rest);
        if (e == of)
            continue;
        Object mine = object_copy(a, e);
        vec_push(a, ret, mine);
    }
    pthread_mutex_unlock(&o->lock);
}
