/* SPDX-License-Identifier: Apache-2.0 */
/* iam_cache.c - users and roles with their policies parsed, so that a decision reads no disk.
 *
 * Everything lives in one arena that is dropped whole when any record changes: changes are rare, decisions are not.
 * Invariants: (1) all is read and used under iam->lock; (2) a policy that is gone or does not parse allows nothing, and as a boundary forbids all. */
#include "access/iam_int.h"

#include <stdlib.h>

Iam *iam_new(void)
{
    Iam *i = calloc(1, sizeof *i);
    if (!i)
        abort();
    pthread_mutex_init(&i->lock, NULL);
    i->used_arena = arena_create();
    i->used = map_new(i->used_arena);
    return i;
}

void iam_free(Iam *i)
{
    if (!i)
        return;
    pthread_mutex_destroy(&i->lock);
    arena_destroy(i->a);
    arena_destroy(i->used_arena);
    free(i);
}

static void start(Iam *i)
{
    arena_destroy(i->a);
    i->a = arena_create();
    i->users = map_new(i->a);
    i->roles = map_new(i->a);
    i->keys = map_new(i->a);
    i->managed = map_new(i->a);
    for (size_t k = 0; k < COUNT_OF(i->texts); k++)
        i->texts[k] = map_new(i->a);
}

/* Before something is looked up, never between a look-up and its use. */
static void ready(Iam *i)
{
    if (!i->a)
        start(i);
}

void iam_forget(Access *x)
{
    pthread_mutex_lock(&x->iam->lock);
    start(x->iam);
    pthread_mutex_unlock(&x->iam->lock);
}

Str iam_name_of(Str arn)
{
    ptrdiff_t slash = str_rchr(arn, '/');
    return slash < 0 ? arn : str_from(arn, (size_t)slash + 1);
}

Str iam_account_of(Str arn)
{
    Str rest = arn;
    for (int i = 0; i < 4; i++)
        str_cut(rest, ':', &(Str){0}, &rest);
    str_cut(rest, ':', &rest, &(Str){0});
    return rest;
}

/* ---- policies ------------------------------------------------------------------------------------------------------------ */

Status iam_text_policy(Access *x, Str text, PolicyKind kind, Policy **ret, Error *err)
{
    Iam *i = x->iam;

    ready(i);
    *ret = map_get(&i->texts[kind], text);
    if (*ret)
        return OK;
    Str own = str_dup(i->a, text);
    TRY(policy_parse(i->a, own, kind, ret, err));
    map_put(&i->texts[kind], own, *ret);
    return OK;
}

/* One that does not parse is as if it were not there. */
static Policy *parsed(Access *x, Str text, PolicyKind kind)
{
    Error ignored;
    Policy *p;
    return iam_text_policy(x, text, kind, &p, &ignored) == OK ? p : NULL;
}

Status iam_managed_policy(Access *x, Str arn, Policy **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str text;

    ready(x->iam);
    *ret = map_get(&x->iam->managed, arn);
    if (*ret)
        return OK;
    Status s = iam_policy_text(x, a, arn, &text, err);
    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    *ret = parsed(x, text, POLICY_IDENTITY);
    if (*ret)
        map_put(&x->iam->managed, str_dup(x->iam->a, arn), *ret);
    return OK;
}

static Status add_managed(Access *x, NamedPolicies *to, const Json *arns, Error *err)
{
    for (size_t i = 0; i < json_len(arns); i++) {
        Str arn = json_at(arns, i)->string;
        Policy *p;
        TRY(iam_managed_policy(x, arn, &p, err));
        if (p)
            vec_push(x->iam->a, to, ((NamedPolicy){ str_dup(x->iam->a, arn), p }));
    }
    return OK;
}

static void add_inline(Access *x, NamedPolicies *to, const Json *texts)
{
    for (size_t i = 0; i < json_len(texts); i++) {
        const JsonMember *m = &texts->object.p[i];
        Policy *p = json_is(m->value, JSON_STRING) ? parsed(x, m->value->string, POLICY_IDENTITY) : NULL;
        if (p)
            vec_push(x->iam->a, to, ((NamedPolicy){ str_dup(x->iam->a, m->key), p }));
    }
}

static Status add_policies(Access *x, Entity *e, const Json *record, Error *err)
{
    add_inline(x, &e->identity, json_get(record, "Inline"));
    return add_managed(x, &e->identity, json_get(record, "Attached"), err);
}

static Status add_boundary(Access *x, Entity *e, const Json *record, Error *err)
{
    Str arn = json_get_str(record, "PermissionsBoundary", (Str){0});
    NamedPolicy b = { .name = str_dup(x->iam->a, arn) };

    if (!arn.n)
        return OK;
    TRY(iam_managed_policy(x, arn, &b.policy, err));
    vec_push(x->iam->a, &e->boundary, b);
    return OK;
}

/* ---- entities -------------------------------------------------------------------------------------------------------------- */

static Status add_groups(Access *x, Arena *a, Entity *e, const Json *record, Error *err)
{
    const Json *names = json_get(record, "Groups");
    for (size_t i = 0; i < json_len(names); i++) {
        Json *group;
        Status s = iam_get(x, a, IAM_GROUP, json_at(names, i)->string, &group, err);
        if (s == E_NOT_FOUND)
            continue;
        TRY(s);
        TRY(add_policies(x, e, group, err));
    }
    return OK;
}

static void add_tags(Arena *a, Entity *e, const Json *tags)
{
    for (size_t i = 0; i < json_len(tags); i++)
        if (json_is(tags->object.p[i].value, JSON_STRING))
            props_set(a, &e->tags, str_dup(a, tags->object.p[i].key), str_dup(a, tags->object.p[i].value->string));
}

/* A trust policy names who was there when it was written: of a user or role that was made anew under the name only the old id is left, which is nobody. */
static Policy *trust_of(Access *x, Arena *a, const Json *record)
{
    const Json *ids = json_get(record, "TrustIds");
    Arena *own = x->iam->a;
    Policy *p;
    Json *now;
    Error ignored;

    if (policy_parse(own, str_dup(own, json_get_str(record, "AssumeRolePolicyDocument", (Str){0})), POLICY_TRUST, &p, &ignored) != OK)
        return NULL;
    for (size_t i = 0; i < json_len(ids); i++) {
        Str arn = ids->object.p[i].key, id = ids->object.p[i].value->string;
        IamKind kind = str_find(arn, S(":role/")) >= 0 ? IAM_ROLE : IAM_USER;
        bool same = iam_get(x, a, kind, iam_name_of(arn), &now, &ignored) == OK && str_eq(json_get_str(now, kind == IAM_ROLE ? "RoleId" : "UserId", (Str){0}), id);
        if (!same)
            policy_rename_principal(p, arn, str_dup(own, id));
    }
    return p;
}

static Status load(Access *x, Arena *a, IamKind kind, Str name, Entity *e, Error *err)
{
    Json *record;
    Status s = iam_get(x, a, kind, name, &record, err);

    if (s == E_NOT_FOUND)
        return OK;
    TRY(s);
    Arena *own = x->iam->a;
    e->exists = 1;
    e->arn = str_dup(own, json_get_str(record, "Arn", (Str){0}));
    e->id = str_dup(own, json_get_str(record, kind == IAM_ROLE ? "RoleId" : "UserId", (Str){0}));
    e->max_session_s = json_get_int(record, "MaxSessionDuration", 3600);
    add_tags(own, e, json_get(record, "Tags"));
    if (kind == IAM_ROLE)
        e->trust = trust_of(x, a, record);
    TRY(add_policies(x, e, record, err));
    TRY(add_boundary(x, e, record, err));
    return kind == IAM_USER ? add_groups(x, a, e, record, err) : OK;
}

Status iam_entity(Access *x, IamKind kind, Str name, Entity **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = NULL;
    Iam *i = x->iam;

    ready(i);
    if (arena_used(i->a) > IAM_CACHE_BYTES)
        start(i);
    Map *m = kind == IAM_ROLE ? &i->roles : &i->users;
    *ret = map_get(m, name);
    if (*ret)
        return OK;
    a = arena_create();
    Entity *e = arena_new(i->a, Entity);
    TRY(load(x, a, kind, name, e, err));
    map_put(m, str_dup(i->a, name), e);
    *ret = e;
    return OK;
}

Status iam_key_is_active(Access *x, Str id, bool *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = NULL;
    CatKey k = {0};
    Iam *i = x->iam;

    ready(i);
    const char *known = map_get(&i->keys, id);
    if (!known) {
        a = arena_create();
        Status s = cat_key_get(x->catalog, a, id, &k, err);
        if (s != OK && s != E_NOT_FOUND)
            return s;
        known = s == OK && k.active ? "1" : "0";
        map_put(&i->keys, str_dup(i->a, id), (void *)known);
    }
    *ret = *known == '1';
    return OK;
}

Status iam_root_key(Access *x, const Principal *p, Error *err)
{
    bool active = true;

    if (p->kind != PR_ROOT || !p->key_id.n || p->session || p->scope)
        return OK;
    pthread_mutex_lock(&x->iam->lock);
    Status s = iam_key_is_active(x, p->key_id, &active, err);
    pthread_mutex_unlock(&x->iam->lock);
    TRY(s);
    return active ? OK : FAIL(err, E_DENIED, "User: " STR_FMT " is not authorized: the access key is not active", STR_ARG(p->arn));
}
