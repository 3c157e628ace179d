/* SPDX-License-Identifier: Apache-2.0 */
/* realm_doc.c - documents of the realm: each structure as JSON and back.  Reading copies into the arena, so these serve for copying too. */
#include "service/realm_int.h"

static void text(Arena *a, Json *j, const char *key, Str v)
{
    if (v.n)
        json_set(a, j, key, json_str(a, v));
}

static void flag(Arena *a, Json *j, const char *key, int v)
{
    if (v)
        json_set(a, j, key, json_bool(a, true));
}

static Str own(Arena *a, const Json *j, const char *key) { return str_dup(a, json_get_str(j, key, (Str){0})); }

/* ---- parts ------------------------------------------------------------------------------------------------------------ */

Json *realm_grants_json(Arena *a, const RealmGrants *g)
{
    Json *all = json_array(a);

    for vec_each(RealmGrant, it, g) {
        Json *j = json_object(a);
        json_set(a, j, "grantee", json_str(a, it->grantee));
        json_set(a, j, "grantor", json_str(a, it->grantor));
        json_set(a, j, "letters", json_str(a, it->letters));
        json_push(a, all, j);
    }
    return all;
}

void realm_grants_of(Arena *a, const Json *all, RealmGrants *ret)
{
    for (size_t i = 0; i < json_len(all); i++) {
        const Json *j = json_at(all, i);
        RealmGrant g = { .grantee = own(a, j, "grantee"), .grantor = own(a, j, "grantor"), .letters = own(a, j, "letters") };
        vec_push(a, ret, g);
    }
}

Json *realm_props_json(Arena *a, const Props *p)
{
    Json *j = json_object(a);
    for vec_each(KeyValue, it, p)
        json_set_s(a, j, it->key, json_str(a, it->value));
    return j;
}

void realm_props_of(Arena *a, const Json *j, Props *ret)
{
    for (size_t i = 0; j && json_is(j, JSON_OBJECT) && i < j->object.n; i++)
        if (json_is(j->object.p[i].value, JSON_STRING))
            props_set(a, ret, str_dup(a, j->object.p[i].key), str_dup(a, j->object.p[i].value->string));
}

static Json *texts_json(Arena *a, const StrVec *v)
{
    Json *all = json_array(a);
    for vec_each(Str, s, v)
        json_push(a, all, json_str(a, *s));
    return all;
}

static void texts_of(Arena *a, const Json *all, StrVec *ret)
{
    for (size_t i = 0; i < json_len(all); i++)
        if (json_is(json_at(all, i), JSON_STRING))
            vec_push(a, ret, str_dup(a, json_at(all, i)->string));
}

/* ---- databases and schemas ---------------------------------------------------------------------------------------------- */

Json *realm_database_json(Arena *a, const RealmDatabase *d)
{
    Json *j = json_object(a);

    text(a, j, "id", d->id);
    text(a, j, "name", d->name);
    text(a, j, "owner", d->owner);
    text(a, j, "comment", d->comment);
    json_set(a, j, "grants", realm_grants_json(a, &d->grants));
    return j;
}

RealmDatabase realm_database_of(Arena *a, const Json *j)
{
    RealmDatabase d = { .id = own(a, j, "id"), .name = own(a, j, "name"), .owner = own(a, j, "owner"), .comment = own(a, j, "comment") };
    realm_grants_of(a, json_get(j, "grants"), &d.grants);
    return d;
}

Json *realm_schema_json(Arena *a, const RealmSchema *s)
{
    Json *j = json_object(a);

    text(a, j, "id", s->id);
    text(a, j, "database", s->database);
    text(a, j, "name", s->name);
    text(a, j, "owner", s->owner);
    text(a, j, "comment", s->comment);
    json_set(a, j, "grants", realm_grants_json(a, &s->grants));
    return j;
}

RealmSchema realm_schema_of(Arena *a, const Json *j)
{
    RealmSchema s = { .id = own(a, j, "id"), .database = own(a, j, "database"), .name = own(a, j, "name"), .owner = own(a, j, "owner"), .comment = own(a, j, "comment") };
    realm_grants_of(a, json_get(j, "grants"), &s.grants);
    return s;
}

/* ---- clusters -------------------------------------------------------------------------------------------------------------- */

static Json *replicas_json(Arena *a, const RealmReplicas *all)
{
    Json *list = json_array(a);

    for vec_each(RealmReplica, r, all) {
        Json *j = json_object(a);
        text(a, j, "id", r->id);
        text(a, j, "name", r->name);
        text(a, j, "size", r->size);
        text(a, j, "owner", r->owner);
        text(a, j, "zone", r->zone);
        text(a, j, "comment", r->comment);
        json_push(a, list, j);
    }
    return list;
}

static void replicas_of(Arena *a, const Json *list, RealmReplicas *ret)
{
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *j = json_at(list, i);
        RealmReplica r = { .id = own(a, j, "id"), .name = own(a, j, "name"), .size = own(a, j, "size"), .owner = own(a, j, "owner"), .zone = own(a, j, "zone"),
                          .comment = own(a, j, "comment") };
        vec_push(a, ret, r);
    }
}

Json *realm_cluster_json(Arena *a, const RealmCluster *c)
{
    Json *j = json_object(a);

    text(a, j, "id", c->id);
    text(a, j, "name", c->name);
    text(a, j, "owner", c->owner);
    text(a, j, "size", c->size);
    text(a, j, "schedule", c->schedule);
    text(a, j, "workload", c->workload);
    text(a, j, "comment", c->comment);
    flag(a, j, "managed", c->managed);
    flag(a, j, "introspection-debugging", c->introspection_debugging);
    json_set(a, j, "replication-factor", json_int(a, c->replication_factor));
    json_set(a, j, "introspection-ms", json_int(a, c->introspection_ms));
    json_set(a, j, "hydration-ms", json_int(a, c->hydration_ms));
    json_set(a, j, "zones", texts_json(a, &c->zones));
    json_set(a, j, "replicas", replicas_json(a, &c->replicas));
    json_set(a, j, "grants", realm_grants_json(a, &c->grants));
    return j;
}

RealmCluster realm_cluster_of(Arena *a, const Json *j)
{
    RealmCluster c = { .id = own(a, j, "id"), .name = own(a, j, "name"), .owner = own(a, j, "owner"), .size = own(a, j, "size"), .schedule = own(a, j, "schedule"),
                       .workload = own(a, j, "workload"), .comment = own(a, j, "comment"), .managed = json_get_bool(j, "managed", false),
                       .introspection_debugging = json_get_bool(j, "introspection-debugging", false), .replication_factor = json_get_int(j, "replication-factor", 0),
                       .introspection_ms = json_get_int(j, "introspection-ms", 1000), .hydration_ms = json_get_int(j, "hydration-ms", 0) };
    texts_of(a, json_get(j, "zones"), &c.zones);
    replicas_of(a, json_get(j, "replicas"), &c.replicas);
    realm_grants_of(a, json_get(j, "grants"), &c.grants);
    return c;
}

/* ---- roles ------------------------------------------------------------------------------------------------------------------- */

static Json *members_json(Arena *a, const RealmRole *r)
{
    Json *all = json_array(a);

    for (size_t i = 0; i < r->member_of.n; i++) {
        Json *j = json_object(a);
        text(a, j, "role", r->member_of.p[i].role);
        text(a, j, "grantor", r->member_of.p[i].grantor);
        json_push(a, all, j);
    }
    return all;
}

Json *realm_role_json(Arena *a, const RealmRole *r)
{
    Json *j = json_object(a);

    text(a, j, "id", r->id);
    text(a, j, "name", r->name);
    text(a, j, "comment", r->comment);
    text(a, j, "principal", r->principal);
    flag(a, j, "inherit", r->inherit);
    flag(a, j, "login", r->login);
    flag(a, j, "superuser", r->superuser);
    flag(a, j, "system", r->system);
    json_set(a, j, "settings", realm_props_json(a, &r->settings));
    json_set(a, j, "member-of", members_json(a, r));
    return j;
}

RealmRole realm_role_of(Arena *a, const Json *j)
{
    RealmRole r = { .id = own(a, j, "id"), .name = own(a, j, "name"), .comment = own(a, j, "comment"), .principal = own(a, j, "principal"), .inherit = json_get_bool(j, "inherit", false),
                    .login = json_get_bool(j, "login", false), .superuser = json_get_bool(j, "superuser", false), .system = json_get_bool(j, "system", false) };
    const Json *all = json_get(j, "member-of");

    realm_props_of(a, json_get(j, "settings"), &r.settings);
    for (size_t i = 0; i < json_len(all); i++) {
        RealmMember m = { .role = own(a, json_at(all, i), "role"), .grantor = own(a, json_at(all, i), "grantor") };
        vec_push(a, &r.member_of, m);
    }
    return r;
}

/* ---- default privileges --------------------------------------------------------------------------------------------------------- */

Json *realm_defaults_json(Arena *a, const RealmDefaults *all)
{
    Json *list = json_array(a);

    for vec_each(RealmDefault, d, all) {
        Json *j = json_object(a);
        text(a, j, "role", d->role);
        text(a, j, "database", d->database);
        text(a, j, "schema", d->schema);
        text(a, j, "kind", d->kind);
        text(a, j, "grantee", d->grantee);
        text(a, j, "letters", d->letters);
        json_push(a, list, j);
    }
    return list;
}

void realm_defaults_of(Arena *a, const Json *list, RealmDefaults *ret)
{
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *j = json_at(list, i);
        RealmDefault d = { .role = own(a, j, "role"), .database = own(a, j, "database"), .schema = own(a, j, "schema"), .kind = own(a, j, "kind"), .grantee = own(a, j, "grantee"),
                           .letters = own(a, j, "letters") };
        vec_push(a, ret, d);
    }
}
