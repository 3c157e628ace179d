/* SPDX-License-Identifier: Apache-2.0 */
/* test_access.c - protection for every principal, scopes at boundaries, sessions that end. */
#include "base/test.h"
#include "access/access.h"

#include <stdlib.h>
#include <unistd.h>

#define ROOT_ARN "arn:aws:iam::123456789012:root"

typedef struct Env { Arena *a; char dir[64]; Catalog *c; Access *x; Error err; CatRelation managed, regular, table; Principal root; } Env;

static void make(Env *e, RelKind kind, Str name, int managed, CatRelation *ret)
{
    *ret = (CatRelation){ .catalog = S("123456789012"), .namespace = S("db"), .name = name, .kind = kind, .uuid = uuid_v4(e->a),
                          .metadata_location = S("m"), .location = str_cat(e->a, S("s3://b/db/"), name) };
    CatMview v = { .managed = managed };
    CatChange ch[2] = { { .kind = CH_CREATE, .relation = ret }, { .kind = CH_MVIEW, .mview = &v } };
    assert_ok(cat_commit(e->c, ch, kind == REL_MVIEW ? 2 : 1, &e->err), &e->err);
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);
    CatNamespace n = { .catalog = S("123456789012"), .name = S("db") };

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-acc-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), S("123456789012"), S("us-east-1"), &e->c, &e->err), &e->err);
    e->x = access_new(e->c);
    e->root = access_root(e->a, e->x);
    assert_ok(cat_namespace_create(e->c, &n, &e->err), &e->err);
    make(e, REL_MVIEW, S("mv"), 1, &e->managed);
    make(e, REL_MVIEW, S("rv"), 0, &e->regular);
    make(e, REL_TABLE, S("t"), 0, &e->table);
    return 0;
}

static int teardown(void **state)
{
    Env *e = *state;
    const char *names[] = { "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.key", "evidence.key" };
    access_free(e->x);
    cat_close(e->c);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unlink(str_z(e->a, str_fmt(e->a, "%s/%s", e->dir, names[i])));
    rmdir(e->dir);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static Status ask_rel(Env *e, const Principal *p, Action act, const CatRelation *r)
{
    Ask ask = { .action = act, .api = "INSERT", .relation = r };
    return access_check(e->x, e->a, p, &ask, &e->err);
}

static Status ask_obj(Env *e, const Principal *p, Action act, Str key)
{
    Ask ask = { .action = act, .api = "s3:PutObject", .bucket = S("b"), .key = key };
    return access_check(e->x, e->a, p, &ask, &e->err);
}

static void test_root_is_bound_by_protection(void **state)
{
    Env *e = *state;
    const Action refused[] = { ACT_WRITE_DATA, ACT_ALTER, ACT_RENAME, ACT_REGISTER };
    const Action allowed[] = { ACT_READ_DATA, ACT_READ_METADATA, ACT_ALTER_PROPERTIES, ACT_SCHEDULE, ACT_REFRESH, ACT_DROP };

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        assert_status(ask_rel(e, &e->root, refused[i], &e->managed), E_PROTECTED);
        assert_string_equal(e->err.message, "Cannot INSERT db.mv: it is a system-managed materialized view; only firn's own refresh writes it");
        assert_string_equal(e->err.hint, "Use REFRESH MATERIALIZED VIEW, or DROP MATERIALIZED VIEW and create it again.");
        assert_ok(ask_rel(e, &e->root, refused[i], &e->regular), &e->err);
        assert_ok(ask_rel(e, &e->root, refused[i], &e->table), &e->err);
    }
    for (size_t i = 0; i < COUNT_OF(allowed); i++)
        assert_ok(ask_rel(e, &e->root, allowed[i], &e->managed), &e->err);
}

static void test_objects_of_a_managed_view(void **state)
{
    Env *e = *state;
    assert_ok(ask_obj(e, &e->root, ACT_OBJECT_GET, S("db/mv/data/x")), &e->err);
    assert_status(ask_obj(e, &e->root, ACT_OBJECT_PUT, S("db/mv/data/x")), E_PROTECTED);
    assert_non_null(strstr(e->err.message, "Cannot s3:PutObject db.mv: it is a system-managed materialized view"));
    assert_status(ask_obj(e, &e->root, ACT_OBJECT_DELETE, S("db/mv/metadata/v1.metadata.json")), E_PROTECTED);
    assert_status(ask_obj(e, &e->root, ACT_OBJECT_PUT, S("db/mv")), E_PROTECTED);
    assert_ok(ask_obj(e, &e->root, ACT_OBJECT_PUT, S("db/mv2/x")), &e->err);
    assert_ok(ask_obj(e, &e->root, ACT_OBJECT_PUT, S("db/rv/x")), &e->err);
}

static void test_only_its_own_run_writes(void **state)
{
    Env *e = *state;
    Principal own = access_system(e->a, e->x, e->managed.id), other = access_system(e->a, e->x, e->regular.id);
    assert_ok(ask_rel(e, &own, ACT_WRITE_DATA, &e->managed), &e->err);
    assert_ok(ask_obj(e, &own, ACT_OBJECT_PUT, S("db/mv/data/x")), &e->err);
    assert_status(ask_rel(e, &other, ACT_WRITE_DATA, &e->managed), E_PROTECTED);
    assert_status(ask_rel(e, &own, ACT_WRITE_DATA, &e->table), E_DENIED);
    assert_status(ask_obj(e, &own, ACT_OBJECT_PUT, S("elsewhere/x")), E_DENIED);
    assert_ok(ask_rel(e, &own, ACT_READ_DATA, &e->table), &e->err);
}

static void test_dropped_name_protects_nothing(void **state)
{
    Env *e = *state;
    CatChange ch = { .kind = CH_DROP, .relation = &e->managed };
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_ok(ask_obj(e, &e->root, ACT_OBJECT_DELETE, S("db/mv/data/x")), &e->err);
}

static CatKey vend(Env *e, Str prefix, int write_too, Principal *ret)
{
    StrVec v = {0};
    CatKey k = {0};
    Str secret = {0};
    vec_push(e->a, &v, prefix);
    assert_ok(access_vend(e->x, e->a, &e->root, &v, write_too, 3600, &k, &e->err), &e->err);
    assert_ok(access_by_key(e->x, e->a, k.id, k.token, &secret, ret, &e->err), &e->err);
    assert_true(str_eq(secret, k.secret));
    assert_non_null(ret->scope);
    return k;
}

static void test_scopes_end_at_boundaries(void **state)
{
    Env *e = *state;
    Principal p = {0};
    vend(e, S("s3://b/db/t"), 1, &p);
    assert_ok(ask_obj(e, &p, ACT_OBJECT_PUT, S("db/t/data/x")), &e->err);
    assert_ok(ask_obj(e, &p, ACT_OBJECT_LIST, S("db/t/")), &e->err);
    assert_status(ask_obj(e, &p, ACT_OBJECT_LIST, S("db/t")), E_DENIED);
    assert_status(ask_obj(e, &p, ACT_OBJECT_GET, S("db/t2/data/x")), E_DENIED);
    assert_status(ask_obj(e, &p, ACT_OBJECT_LIST, (Str){0}), E_DENIED);
    assert_status(ask_rel(e, &p, ACT_DROP, &e->table), E_DENIED);
    Ask ask = { .action = ACT_BUCKET_LIST, .api = "s3:HeadBucket", .bucket = S("b") };
    assert_ok(access_check(e->x, e->a, &p, &ask, &e->err), &e->err);
    ask.bucket = S("c");
    assert_status(access_check(e->x, e->a, &p, &ask, &e->err), E_DENIED);
}

static void test_vended_for_reading(void **state)
{
    Env *e = *state;
    Principal p = {0};
    vend(e, S("s3://b/db/t/"), 0, &p);
    assert_ok(ask_obj(e, &p, ACT_OBJECT_GET, S("db/t/data/x")), &e->err);
    assert_status(ask_obj(e, &p, ACT_OBJECT_PUT, S("db/t/data/x")), E_DENIED);
}

/* Write rights vended before the location became a managed view's do not outlive that. */
static void test_protection_beats_older_sessions(void **state)
{
    Env *e = *state;
    Principal p = {0};
    CatRelation late = {0};
    vend(e, S("s3://b/db/late"), 1, &p);
    assert_ok(ask_obj(e, &p, ACT_OBJECT_PUT, S("db/late/x")), &e->err);
    make(e, REL_MVIEW, S("late"), 1, &late);
    assert_status(ask_obj(e, &p, ACT_OBJECT_PUT, S("db/late/x")), E_PROTECTED);
    assert_ok(ask_obj(e, &p, ACT_OBJECT_GET, S("db/late/x")), &e->err);
}

static void test_vending_is_reused(void **state)
{
    Env *e = *state;
    Principal p = {0};
    CatKey k1 = vend(e, S("s3://b/db/t"), 1, &p), k2 = vend(e, S("s3://b/db/t"), 1, &p), k3 = vend(e, S("s3://b/db/t"), 0, &p);
    assert_true(str_eq(k1.id, k2.id));
    assert_false(str_eq(k1.id, k3.id));
    assert_ok(cat_key_delete(e->c, k1.id, &e->err), &e->err);
    k2 = vend(e, S("s3://b/db/t"), 1, &p);
    assert_false(str_eq(k1.id, k2.id));
}

static void test_keys(void **state)
{
    Env *e = *state;
    CatKey k = { .id = S("AKIAX"), .secret = S("s"), .principal = S(ROOT_ARN), .active = 1 };
    CatKey old = { .id = S("ASIAX"), .secret = S("s"), .token = S("t"), .principal = S(ROOT_ARN), .active = 1, .expires_ms = 5 };
    Principal p = {0};
    Str secret = {0};
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    assert_ok(cat_key_put(e->c, &old, &e->err), &e->err);
    assert_ok(access_by_key(e->x, e->a, S("AKIAX"), (Str){0}, &secret, &p, &e->err), &e->err);
    assert_int_equal(p.kind, PR_ROOT);
    assert_status(access_by_key(e->x, e->a, S("AKIAX"), S("t"), &secret, &p, &e->err), E_AUTH);
    assert_string_equal(e->err.kind, "InvalidToken");
    assert_status(access_by_key(e->x, e->a, S("ASIAX"), S("t"), &secret, &p, &e->err), E_AUTH);
    assert_string_equal(e->err.kind, "ExpiredToken");
    assert_status(access_by_key(e->x, e->a, S("AKIAY"), (Str){0}, &secret, &p, &e->err), E_AUTH);
    assert_string_equal(e->err.kind, "InvalidAccessKeyId");
    k.active = 0;
    assert_ok(cat_key_put(e->c, &k, &e->err), &e->err);
    assert_status(access_by_key(e->x, e->a, S("AKIAX"), (Str){0}, &secret, &p, &e->err), E_AUTH);
}

static void test_users_need_policies(void **state)
{
    Env *e = *state;
    Principal user = { .kind = PR_USER, .arn = S("arn:aws:iam::123456789012:user/u") };
    assert_status(ask_rel(e, &user, ACT_READ_DATA, &e->table), E_DENIED);
    assert_non_null(strstr(e->err.message, "user/u"));
    assert_status(ask_rel(e, &user, ACT_WRITE_DATA, &e->managed), E_PROTECTED);
}

static void test_quarantine(void **state)
{
    Env *e = *state;
    CatMview v = { .relation_id = e->managed.id, .managed = 1, .quarantine = S("file x has another hash") };
    CatChange ch = { .kind = CH_MVIEW, .mview = &v };
    Principal own = access_system(e->a, e->x, e->managed.id);
    assert_ok(cat_commit(e->c, &ch, 1, &e->err), &e->err);
    assert_status(ask_rel(e, &e->root, ACT_READ_DATA, &e->managed), E_QUARANTINED);
    assert_non_null(strstr(e->err.message, "file x has another hash"));
    assert_status(ask_obj(e, &e->root, ACT_OBJECT_GET, S("db/mv/data/x")), E_QUARANTINED);
    assert_ok(ask_rel(e, &e->root, ACT_REFRESH, &e->managed), &e->err);
    assert_ok(ask_rel(e, &own, ACT_READ_DATA, &e->managed), &e->err);
}

static void test_bucket_under_a_managed_view(void **state)
{
    Env *e = *state;
    Ask ask = { .action = ACT_BUCKET_DELETE, .api = "s3:DeleteBucket", .bucket = S("b") };
    assert_status(access_check(e->x, e->a, &e->root, &ask, &e->err), E_PROTECTED);
    ask.action = ACT_BUCKET_CONFIG;                          /* shared with others */
    assert_ok(access_check(e->x, e->a, &e->root, &ask, &e->err), &e->err);
    ask.action = ACT_BUCKET_DELETE;
    ask.bucket = S("c");
    assert_ok(access_check(e->x, e->a, &e->root, &ask, &e->err), &e->err);
}

static void test_private_bucket(void **state)
{
    Env *e = *state;
    CatRelation r = { .catalog = S("123456789012"), .namespace = S("db"), .name = S("p"), .kind = REL_MVIEW, .uuid = uuid_v4(e->a),
                      .metadata_location = S("m"), .location = S("s3://x--table-s3") };
    CatMview v = { .managed = 1 };
    CatChange ch[2] = { { .kind = CH_CREATE, .relation = &r }, { .kind = CH_MVIEW, .mview = &v } };
    Ask ask = { .action = ACT_BUCKET_CONFIG, .api = "s3:PutBucketPolicy", .bucket = S("x--table-s3") };
    assert_ok(cat_commit(e->c, ch, 2, &e->err), &e->err);
    assert_status(access_check(e->x, e->a, &e->root, &ask, &e->err), E_PROTECTED);
    ask.action = ACT_BUCKET_DELETE;
    assert_status(access_check(e->x, e->a, &e->root, &ask, &e->err), E_PROTECTED);
    ask = (Ask){ .action = ACT_OBJECT_PUT, .api = "s3:PutObject", .bucket = S("x--table-s3"), .key = S("data/a") };
    assert_status(access_check(e->x, e->a, &e->root, &ask, &e->err), E_PROTECTED);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_root_is_bound_by_protection), T(test_objects_of_a_managed_view), T(test_only_its_own_run_writes),
        T(test_dropped_name_protects_nothing), T(test_scopes_end_at_boundaries), T(test_vended_for_reading),
        T(test_protection_beats_older_sessions), T(test_vending_is_reused), T(test_keys), T(test_users_need_policies),
        T(test_quarantine), T(test_bucket_under_a_managed_view), T(test_private_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
