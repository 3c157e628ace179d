/* SPDX-License-Identifier: Apache-2.0 */
/* test_realm.c - the registry of objects and the realm: what they keep over a restart, names, users, grants, members. */
#include "base/test.h"
#include "service/realm.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct Env { Arena *a; char dir[64]; Catalog *c; Objects *o; Realm *r; Error err; } Env;

static void open_all(Env *e)
{
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S("123456789012"), S("us-east-1"), &e->c, &e->err), &e->err);
    assert_ok(realm_open(e->c, &e->r, &e->err), &e->err);
    assert_ok(objects_open(e->c, &e->o, &e->err), &e->err);
}

static void close_all(Env *e)
{
    objects_close(e->o);
    realm_close(e->r);
    cat_close(e->c);
}

static void again(Env *e)
{
    close_all(e);
    open_all(e);
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-realm-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    open_all(e);
    *state = e;
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };
    close_all(e);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

/* ---- objects ------------------------------------------------------------------------------------------------------------------ */

static Object object(Env *e, ObjKind kind, const char *name, int64_t uses)
{
    Object o = { .id = objects_next_id(e->o), .kind = kind, .database = S("materialize"), .schema = S("public"), .name = str_c(name), .owner = S("u1") };
    if (uses)
        vec_push(e->a, &o.uses, uses);
    return o;
}

static int64_t put(Env *e, ObjKind kind, const char *name, int64_t uses)
{
    Object o = object(e, kind, name, uses);
    assert_ok(objects_put(e->o, &o, &e->err), &e->err);
    return o.id;
}

static void test_everything_of_an_object_is_kept(void **state)
{
    Env *e = *state;
    Object o = object(e, OBJ_SINK, "s", 0), got;
    ObjGrant g = { S("u2"), S("u1"), S("r") };
    ObjColumn c = { .name = S("a"), .engine = S("c1"), .type_name = S("integer"), .default_ = S("5"), .default_sql = S("2 + 3"), .type = { .kind = DT_INT32 }, .not_null = 1 };

    o.create_sql = S("CREATE SINK s");
    o.cluster = S("u1");
    o.type = S("iceberg");
    o.version = 3;
    o.comment = S("hello");
    o.detail = json_object(e->a);
    json_set(e->a, o.detail, "k", json_int(e->a, 7));
    vec_push(e->a, &o.grants, g);
    vec_push(e->a, &o.columns, c);
    props_set(e->a, &o.column_comments, S("a"), S("first"));
    assert_ok(objects_put(e->o, &o, &e->err), &e->err);
    again(e);
    assert_ok(objects_find(e->o, e->a, S("materialize"), S("public"), S("s"), &got, &e->err), &e->err);
    assert_int_equal(got.version, 3);
    assert_str(got.create_sql, "CREATE SINK s");
    assert_str(got.cluster, "u1");
    assert_str(got.type, "iceberg");
    assert_int_equal(json_get_int(got.detail, "k", 0), 7);
    assert_int_equal(got.grants.n, 1);
    assert_str(got.grants.p[0].letters, "r");
    assert_str(got.columns.p[0].default_sql, "2 + 3");
    assert_str(props_get(&got.column_comments, S("a"), (Str){0}), "first");
    assert_true(objects_next_id(e->o) > o.id);
}

static void test_old_documents_load(void **state)
{
    Env *e = *state;
    Json *j;
    Object got;

    assert_ok(json_parse(e->a, S("{\"id\": 9, \"kind\": \"table\", \"database\": \"materialize\", \"schema\": \"public\", \"name\": \"old\", \"owner\": \"arn:aws:iam::123456789012:root\","
                                 "\"definition\": \"\", \"comment\": \"\", \"created-ms\": 1, \"columns\": [{\"name\": \"a\", \"engine\": \"c1\", \"type\": \"integer\", \"not-null\": false}], \"uses\": []}"), &j, &e->err), &e->err);
    CatChange ch = { .kind = CH_DOC, .doc_kind = S("live.object"), .doc_key = S("u9"), .doc = j };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    again(e);
    assert_ok(objects_get(e->o, e->a, 9, &got, &e->err), &e->err);
    assert_str(got.owner, REALM_SUPERUSER);
    assert_int_equal(got.columns.n, 1);
    assert_int_equal(objects_next_id(e->o), 10);
}

static void test_names_are_one_each(void **state)
{
    Env *e = *state;
    int64_t x = put(e, OBJ_TABLE, "x", 0), y = put(e, OBJ_VIEW, "y", 0);
    Object o = object(e, OBJ_SINK, "x", 0), both[2];

    assert_int_equal(objects_put(e->o, &o, &e->err), E_EXISTS);
    assert_string_equal(e->err.sqlstate, "42710");
    assert_ok(objects_get(e->o, e->a, x, &both[0], &e->err), &e->err);
    assert_ok(objects_get(e->o, e->a, y, &both[1], &e->err), &e->err);
    both[0].name = S("y");
    both[1].name = S("x");
    ObjChanges swap = { .puts = both, .nputs = 2 };                        /* in one step two may change places */
    assert_ok(objects_change(e->o, &swap, &e->err), &e->err);
    ObjChanges replace = { .puts = &o, .nputs = 1, .deletes = &y, .ndeletes = 1 };
    assert_ok(objects_change(e->o, &replace, &e->err), &e->err);           /* y is called x, and goes */
    both[0].name = S("x");
    ObjChanges taken = { .puts = both, .nputs = 1 };
    assert_int_equal(objects_change(e->o, &taken, &e->err), E_EXISTS);
    assert_false(objects_known(e->o, y));
}

static void test_users_come_before_what_they_use(void **state)
{
    Env *e = *state;
    int64_t t = put(e, OBJ_TABLE, "t", 0), v = put(e, OBJ_VIEW, "v", t), m = put(e, OBJ_MVIEW, "m", v), s = put(e, OBJ_SINK, "s", m), late = put(e, OBJ_VIEW, "late", 0);
    Object o;
    ObjectVec users = {0}, direct = {0};

    assert_ok(objects_get(e->o, e->a, v, &o, &e->err), &e->err);           /* an altered object may use one with a higher number */
    vec_push(e->a, &o.uses, late);
    assert_ok(objects_put(e->o, &o, &e->err), &e->err);
    objects_users(e->o, e->a, late, &users);
    assert_int_equal(users.n, 3);
    assert_int_equal(users.p[0].id, s);
    assert_int_equal(users.p[1].id, m);
    assert_int_equal(users.p[2].id, v);
    objects_direct_users(e->o, e->a, t, &direct);
    assert_int_equal(direct.n, 1);
    assert_true(objects_in_schema(e->o, S("materialize"), S("public")));
    assert_false(objects_in_schema(e->o, S("materialize"), S("other")));
}

/* ---- the realm ------------------------------------------------------------------------------------------------------------------- */

static void test_first_start(void **state)
{
    Env *e = *state;
    RealmSchema s;
    RealmCluster c;

    again(e);
    assert_true(realm_has_database(e->r, S("materialize")));
    assert_ok(realm_schema(e->r, e->a, S("materialize"), S("public"), &s, &e->err), &e->err);
    assert_str(s.id, "u3");
    assert_ok(realm_cluster(e->r, e->a, S("quickstart"), &c, &e->err), &e->err);
    assert_int_equal(c.replicas.n, 1);
    assert_true(realm_cluster_runs(e->r, c.id));
    assert_true(realm_is_superuser(e->r, S(REALM_SUPERUSER)));
    assert_int_equal(realm_database(e->r, e->a, S("nope"), &(RealmDatabase){0}, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.message, "unknown database 'nope'");
}

static Str role(Env *e, const char *name)
{
    RealmRole role = { .name = str_c(name), .inherit = 1 };
    assert_ok(realm_put_role(e->r, &role, &e->err), &e->err);
    return str_dup(e->a, role.id);
}

static void join(Env *e, Str member, Str of)
{
    RealmRole m;
    assert_ok(realm_role_by_id(e->r, e->a, member, &m, &e->err), &e->err);
    vec_push(e->a, &m.member_of, ((RealmMember){ of, S("u1") }));
    assert_ok(realm_put_role(e->r, &m, &e->err), &e->err);
}

static void test_who_holds_what(void **state)
{
    Env *e = *state;
    Str joe = role(e, "joe"), team = role(e, "team"), all = role(e, "all");
    RealmGrants g = {0};

    join(e, joe, team);
    join(e, team, all);
    again(e);
    assert_false(realm_holds(e->r, joe, S("u1"), &g, 'r'));
    realm_grant(e->a, &g, all, S("u1"), S("rw"));
    assert_true(realm_holds(e->r, joe, S("u1"), &g, 'r'));
    assert_true(realm_is_member(e->r, joe, all));
    assert_false(realm_is_member(e->r, all, joe));
    realm_revoke(e->a, &g, all, S("r"));
    assert_false(realm_holds(e->r, joe, S("u1"), &g, 'r'));
    assert_true(realm_holds(e->r, joe, S("u1"), &g, 'w'));
    realm_revoke(e->a, &g, all, S("w"));
    assert_int_equal(g.n, 0);
    realm_grant(e->a, &g, S(REALM_PUBLIC), S("u1"), S("U"));
    assert_true(realm_holds(e->r, joe, S("u1"), &g, 'U'));
    assert_true(realm_holds(e->r, joe, team, &g, 'd'));                    /* owners hold all, members of the owner too */
    assert_true(realm_holds(e->r, S(REALM_SUPERUSER), (Str){0}, &(RealmGrants){0}, 'C'));
    assert_str(realm_grant_text(e->r, e->a, &g.p[0]), "=U/materialize");
}

/* A user named as the superuser, or as a role that somebody else signs in as, gets a role of another name. */
static void test_principals_do_not_share_roles(void **state)
{
    Env *e = *state;
    RealmRole a, b, c, again_a;

    assert_ok(realm_role_of_principal(e->r, e->a, S("arn:user/materialize"), S("materialize"), S("user"), &a, &e->err), &e->err);
    assert_str(a.name, "user/materialize");
    assert_false(a.superuser);
    assert_ok(realm_role_of_principal(e->r, e->a, S("arn:user/lou"), S("lou"), S("user"), &b, &e->err), &e->err);
    assert_str(b.name, "lou");
    assert_ok(realm_role_of_principal(e->r, e->a, S("arn:role/lou"), S("lou"), S("role"), &c, &e->err), &e->err);
    assert_str(c.name, "role/lou");
    Str made = role(e, "eva");
    assert_ok(realm_role_of_principal(e->r, e->a, S("arn:user/eva"), S("eva"), S("user"), &a, &e->err), &e->err);
    assert_true(str_eq(a.id, made));                                       /* CREATE ROLE came first */
    again(e);
    assert_ok(realm_role_of_principal(e->r, e->a, S("arn:role/lou"), S("lou"), S("role"), &again_a, &e->err), &e->err);
    assert_true(str_eq(again_a.id, c.id));
}

static void test_ids_are_not_used_again(void **state)
{
    Env *e = *state;
    RealmCluster c = { .name = S("c"), .owner = S("u1"), .managed = 1 }, d = { .name = S("d"), .owner = S("u1") };

    vec_push(e->a, &c.replicas, ((RealmReplica){ .name = S("r1"), .size = S("25cc") }));
    assert_ok(realm_put_cluster(e->r, &c, &e->err), &e->err);
    assert_ok(realm_delete(e->r, S("cluster"), c.id, &e->err), &e->err);
    c.id = str_dup(e->a, c.id);                                            /* given ids live as long as the realm */
    again(e);
    assert_ok(realm_put_cluster(e->r, &d, &e->err), &e->err);
    assert_false(str_eq(c.id, d.id));
    assert_false(realm_cluster_runs(e->r, d.id));
    assert_int_equal(realm_put_cluster(e->r, &(RealmCluster){ .name = S("d") }, &e->err), E_EXISTS);
}

static void test_audit(void **state)
{
    Env *e = *state;
    RealmEvents all = {0};

    for (int i = 0; i < 3; i++)
        assert_ok(realm_audit(e->r, &(RealmEvent){ .event = S("create"), .type = S("table"), .user = S("joe"), .at_ms = i }, &e->err), &e->err);
    again(e);
    assert_ok(realm_audit(e->r, &(RealmEvent){ .event = S("drop"), .type = S("table") }, &e->err), &e->err);
    assert_ok(realm_events(e->r, e->a, &all, &e->err), &e->err);
    assert_int_equal(all.n, 4);
    assert_int_equal(all.p[3].id, 4);
    assert_str(all.p[0].user, "joe");
}

/* What a draft does is nobody's matter until it is stored and adopted. */
static void test_drafts(void **state)
{
    Env *e = *state;
    int64_t x = put(e, OBJ_TABLE, "x", 0);
    Objects *od = objects_draft(e->o);
    Realm *rd = realm_draft(e->r);
    RealmSchema s;
    Object o;
    ObjectVec puts = {0};

    int64_t before = objects_revision(e->o) + realm_revision(e->r);
    assert_ok(objects_get(od, e->a, x, &o, &e->err), &e->err);
    for (int i = 0; i < 2; i++) {
        o.name = i ? S("z") : S("y");
        assert_ok(objects_put(od, &o, &e->err), &e->err);
    }
    assert_ok(realm_schema(rd, e->a, S("materialize"), S("public"), &s, &e->err), &e->err);
    s.name = S("other");
    assert_ok(realm_put_schema(rd, &s, &e->err), &e->err);
    assert_true(realm_has_schema(rd, S("materialize"), S("other")));
    assert_false(realm_has_schema(e->r, S("materialize"), S("other")));
    assert_int_equal(objects_find(e->o, e->a, S("materialize"), S("public"), S("z"), &o, &e->err), E_NOT_FOUND);
    assert_int_equal(objects_revision(e->o) + realm_revision(e->r), before);
    objects_draft_puts(od, e->a, &puts);
    assert_int_equal(puts.n, 1);
    assert_str(puts.p[0].name, "z");
    const RealmChanges *places = realm_draft_changes(rd);
    ObjChanges ch = { .puts = puts.p, .nputs = puts.n, .also = places->p, .nalso = places->n };
    assert_ok(objects_change(e->o, &ch, &e->err), &e->err);
    realm_adopt(e->r, places);
    objects_close(od);
    realm_close(rd);
    assert_true(objects_revision(e->o) + realm_revision(e->r) > before);
    for (int i = 0; i < 2; i++) {
        assert_true(realm_has_schema(e->r, S("materialize"), S("other")));
        assert_false(realm_has_schema(e->r, S("materialize"), S("public")));
        assert_ok(objects_find(e->o, e->a, S("materialize"), S("public"), S("z"), &o, &e->err), &e->err);
        again(e);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_everything_of_an_object_is_kept), T(test_old_documents_load), T(test_names_are_one_each), T(test_users_come_before_what_they_use), T(test_first_start),
        T(test_who_holds_what), T(test_principals_do_not_share_roles), T(test_ids_are_not_used_again), T(test_audit), T(test_drafts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
