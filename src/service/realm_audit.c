/* SPDX-License-Identifier: Apache-2.0 */
/* realm_audit.c - the audit log of the live side: what mz_audit_events shows, the newest AUDIT_EVENTS_MAX. */
#include "service/realm_int.h"

enum { AUDIT_EVENTS_MAX = 100000 };
#define AUDIT_KIND "live.audit"

static Str key_of(Arena *a, int64_t id) { return str_fmt(a, "%020lld", (long long)id); }

static CatChange doc(Arena *a, int64_t id, Json *value) { return (CatChange){ .kind = CH_DOC, .doc_kind = S(AUDIT_KIND), .doc_key = key_of(a, id), .doc = value }; }

static Json *to_json(Arena *a, const RealmEvent *e)
{
    Json *j = json_object(a);

    json_set(a, j, "event", json_str(a, e->event));
    json_set(a, j, "type", json_str(a, e->type));
    json_set(a, j, "details", e->details ? json_copy(a, e->details) : json_object(a));
    json_set(a, j, "user", json_str(a, e->user));
    json_set(a, j, "at-ms", json_int(a, e->at_ms));
    return j;
}

Status realm_audit(Realm *r, const RealmEvent *e, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    pthread_mutex_lock(&r->lock);
    int64_t id = r->next_event++;
    CatChange ch[3] = { doc(a, id, to_json(a, e)), { .kind = CH_DOC, .doc_kind = S("live.next"), .doc_key = S("audit"), .doc = json_int(a, r->next_event) }, doc(a, id - AUDIT_EVENTS_MAX, NULL) };
    Status s = cat_commit(r->catalog, ch, id > AUDIT_EVENTS_MAX ? 3 : 2, err);
    pthread_mutex_unlock(&r->lock);
    return s;
}

Status realm_events_open(Realm *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Json *next = NULL;
    Status s = cat_doc_get(r->catalog, a, S("live.next"), S("audit"), &next, err);

    r->next_event = s == OK && json_is(next, JSON_INT) ? next->integer : 1;
    return s == E_NOT_FOUND ? OK : s;
}

static RealmEvent of_json(int64_t id, const Json *j)
{
    return (RealmEvent){ .id = id, .event = json_get_str(j, "event", (Str){0}), .type = json_get_str(j, "type", (Str){0}), .details = json_get(j, "details"),
                         .user = json_get_str(j, "user", (Str){0}), .at_ms = json_get_int(j, "at-ms", 0) };
}

Status realm_events_after(Realm *r, Arena *a, int64_t after, RealmEvents *ret, Error *err)
{
    pthread_mutex_lock(&r->lock);
    int64_t end = r->next_event;
    pthread_mutex_unlock(&r->lock);
    for (int64_t id = max_i64(after + 1, end - AUDIT_EVENTS_MAX); id < end; id++) {
        Json *j;
        Status s = cat_doc_get(r->catalog, a, S(AUDIT_KIND), key_of(a, id), &j, err);
        if (s == OK)
            vec_push(a, ret, of_json(id, j));
        else if (s != E_NOT_FOUND)
            return s;
    }
    return OK;
}

Status realm_events(Realm *r, Arena *a, RealmEvents *ret, Error *err)
{
    CatDocs docs = {0};

    TRY(cat_doc_list(r->catalog, a, S(AUDIT_KIND), (Str){0}, &docs, err));
    for (size_t i = 0; i < docs.n; i++) {
        int64_t id;
        if (str_to_i64(docs.p[i].key, &id))
            vec_push(a, ret, of_json(id, docs.p[i].value));
    }
    return OK;
}
