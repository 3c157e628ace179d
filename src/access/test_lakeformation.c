/* SPDX-License-Identifier: Apache-2.0 */
/* test_lakeformation.c - defaults, grants and what they allow, columns, tags, and names that are dropped, renamed and made again. */
#include "base/test.h"
#include "access/lakeformation.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ACCOUNT S("123456789012")

typedef struct Env { Arena *a; char dir[64]; Catalog *c; Access *x; Error err; Principal root, ann, bob; } Env;

static Principal role(const char *name)
{
    static char arn[2][80];
    static int next;
    char *text = arn[next++ % 2];
    snprintf(text, sizeof arn[0], "arn:aws:iam::123456789012:role/%s", name);
    return (Principal){ .kind = PR_ROLE, .arn = S("arn:aws:sts::123456789012:assumed-role/x/s"), .role_arn = str_c(text) };
}

static int setup(void **state)
{
    Env *e = calloc(1, sizeof *e);

    e->a = arena_create();
    strcpy(e->dir, "/tmp/firn-lf-XXXXXX");
    if (!mkdtemp(e->dir))
        return -1;
    *state = e;
    assert_ok(cat_open(str_fmt(e->a, "%s/catalog.db", e->dir), ACCOUNT, S("us-east-1"), &e->c, &e->err), &e->err);
    e->x = access_new(e->c);
    e->root = access_root(e->a, e->x);
    e->ann = role("ann");
    e->bob = role("bob");
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

static void make_db(Env *e, const Principal *p, Str name)
{
    CatNamespace n = { .catalog = ACCOUNT, .name = name };
    assert_ok(lf_namespace_create(e->x, e->a, p, &n, &e->err), &e->err);
}

static CatRelation make_table(Env *e, const Principal *p, Str db, Str name)
{
    CatRelation *r = arena_new(e->a, CatRelation);
    *r = (CatRelation){ .catalog = ACCOUNT, .namespace = db, .name = name, .kind = REL_TABLE, .uuid = uuid_v4(e->a), .metadata_location = S("m"), .location = str_fmt(e->a, "s3://b/%s", uuid_v4(e->a).p) };
    CatChange ch = { .kind = CH_CREATE, .relation = r };
    assert_ok(lf_commit(e->x, e->a, p, &ch, 1, &e->err), &e->err);
    return *r;
}

static LfResource db_of(Str db) { return (LfResource){ .kind = LF_DATABASE, .catalog = ACCOUNT, .database = db }; }
static LfResource table_of(Str db, Str t) { return (LfResource){ .kind = LF_TABLE, .catalog = ACCOUNT, .database = db, .table = t, .wildcard = t.n == 0 }; }

static Status grant(Env *e, const Principal *to, LfResource r, uint32_t bits)
{
    LfGrant g = { .resource = r, .principal = principal_owner(to), .permissions = bits };
    return lf_grant(e->x, e->a, &g, &e->err);
}

static Status take_back(Env *e, Str from, LfResource r, uint32_t bits)
{
    LfGrant g = { .resource = r, .principal = from, .permissions = bits };
    return lf_revoke(e->x, e->a, &g, &e->err);
}

static Status allowed(Env *e, const Principal *p, LfResource r, uint32_t need) { return lf_allowed(e->x, e->a, p, &r, need, &e->err); }

static void test_open_by_default(void **state)
{
    Env *e = *state;
    assert_ok(lf_first_start(e->x, S("iam_allowed_principals"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->root, S("d"), S("t"));
    assert_ok(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT | LF_DROP), &e->err);
    assert_ok(allowed(e, &e->ann, db_of(S("d")), LF_CREATE_TABLE), &e->err);
    assert_ok(take_back(e, S("IAM_ALLOWED_PRINCIPALS"), table_of(S("d"), S("t")), LF_ALL), &e->err);
    assert_status(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);
    assert_string_equal(e->err.message, "Insufficient Lake Formation permission(s): Required Describe on t");
    assert_ok(allowed(e, &e->root, table_of(S("d"), S("t")), LF_SELECT), &e->err);
}

static void test_closed_when_defaults_are_none(void **state)
{
    Env *e = *state;
    LfResource catalog = { .kind = LF_CATALOG, .catalog = ACCOUNT };

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    assert_ok(lf_first_start(e->x, S("iam_allowed_principals"), &e->err), &e->err);      /* does nothing */
    make_db(e, &e->root, S("d"));
    make_table(e, &e->ann, S("d"), S("t"));
    assert_status(allowed(e, &e->bob, catalog, LF_CREATE_DATABASE), E_DENIED);
    assert_status(allowed(e, &e->bob, db_of(S("d")), LF_DESCRIBE), E_DENIED);
    assert_string_equal(e->err.message, "Insufficient Lake Formation permission(s): Required Describe on d");
    assert_status(allowed(e, &e->bob, table_of(S("d"), S("t")), LF_DESCRIBE), E_DENIED);
    assert_status(allowed(e, &e->bob, db_of(S("nowhere")), LF_DESCRIBE), E_DENIED);
    assert_ok(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT | LF_DROP | LF_ALTER), &e->err);      /* made it */
    assert_ok(allowed(e, &e->ann, db_of(S("d")), LF_DESCRIBE), &e->err);                 /* holds a table in it */
    assert_status(allowed(e, &e->ann, db_of(S("d")), LF_CREATE_TABLE), E_DENIED);
    assert_string_equal(e->err.message, "Insufficient Lake Formation permission(s): Required Create Table on d");
    assert_ok(grant(e, &e->bob, table_of(S("d"), (Str){0}), LF_ALL), &e->err);
    assert_ok(allowed(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT), &e->err);
    assert_ok(grant(e, &e->bob, db_of(S("d")), LF_ALL), &e->err);
    assert_ok(allowed(e, &e->bob, db_of(S("d")), LF_CREATE_TABLE | LF_DROP), &e->err);
}

static void test_grants_are_checked(void **state)
{
    Env *e = *state;
    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    assert_status(grant(e, &e->ann, db_of(S("nowhere")), LF_DESCRIBE), E_NOT_FOUND);
    assert_status(grant(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), E_NOT_FOUND);
    assert_status(grant(e, &e->ann, db_of(S("d")), LF_SELECT), E_INVALID);
    assert_status(take_back(e, principal_owner(&e->ann), db_of(S("d")), LF_DROP), E_INVALID);
    assert_ok(grant(e, &e->ann, db_of(S("d")), LF_DROP), &e->err);
    assert_status(take_back(e, principal_owner(&e->ann), db_of(S("d")), LF_ALTER), E_INVALID);
    assert_string_equal(e->err.message, "No permissions revoked. Grantee does not have: [ALTER]");
    assert_ok(take_back(e, principal_owner(&e->ann), db_of(S("d")), LF_DROP), &e->err);
}

static void test_grant_option(void **state)
{
    Env *e = *state;
    LfGrant g = { .principal = principal_owner(&e->bob), .permissions = LF_SELECT };

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->ann, S("d"), S("t"));
    g.resource = table_of(S("d"), S("t"));
    assert_ok(lf_may_grant(e->x, e->a, &e->ann, &g, &e->err), &e->err);
    assert_status(lf_may_grant(e->x, e->a, &e->bob, &g, &e->err), E_DENIED);
    g.resource = db_of(S("d"));
    g.permissions = LF_DESCRIBE;
    assert_status(lf_may_grant(e->x, e->a, &e->ann, &g, &e->err), E_DENIED);
    assert_ok(lf_may_grant(e->x, e->a, &e->root, &g, &e->err), &e->err);
}

static LfColumns columns(Env *e, const Principal *p, Str table)
{
    LfColumns c;
    assert_ok(lf_columns(e->x, e->a, p, ACCOUNT, S("d"), table, &c, &e->err), &e->err);
    return c;
}

static void test_columns(void **state)
{
    Env *e = *state;
    LfResource some = { .kind = LF_COLUMNS, .catalog = ACCOUNT, .database = S("d"), .table = S("t") }, but = some;

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->root, S("d"), S("t"));
    vec_push(e->a, &some.columns, S("a"));
    vec_push(e->a, &some.columns, S("b"));
    assert_ok(grant(e, &e->ann, some, LF_SELECT), &e->err);
    LfColumns c = columns(e, &e->ann, S("t"));
    assert_false(c.all);
    assert_true(lf_column_allowed(&c, S("A")) && lf_column_allowed(&c, S("b")) && !lf_column_allowed(&c, S("secret")));
    some.columns.n = 1;
    assert_ok(take_back(e, principal_owner(&e->ann), some, LF_SELECT), &e->err);
    c = columns(e, &e->ann, S("t"));
    assert_true(!lf_column_allowed(&c, S("a")) && lf_column_allowed(&c, S("b")));
    vec_push(e->a, &but.excluded, S("secret"));
    assert_ok(grant(e, &e->bob, but, LF_SELECT), &e->err);
    c = columns(e, &e->bob, S("t"));
    assert_true(!c.all && lf_column_allowed(&c, S("x")) && !lf_column_allowed(&c, S("SECRET")));
    assert_ok(allowed(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT | LF_DESCRIBE), &e->err);
    assert_ok(grant(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT), &e->err);
    assert_true(columns(e, &e->bob, S("t")).all);
}

/* Nobody inherits what was granted on a dropped name; a renamed table keeps its grants. */
static void test_drop_and_rename(void **state)
{
    Env *e = *state;
    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    CatRelation r = make_table(e, &e->root, S("d"), S("t"));
    assert_ok(grant(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT), &e->err);
    CatChange rename = { .kind = CH_RENAME, .relation = &r, .new_namespace = S("d"), .new_name = S("u") };
    assert_ok(lf_commit(e->x, e->a, &e->root, &rename, 1, &e->err), &e->err);
    assert_ok(allowed(e, &e->bob, table_of(S("d"), S("u")), LF_SELECT), &e->err);
    make_table(e, &e->root, S("d"), S("t"));
    assert_status(allowed(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);
    r.name = S("u");
    CatChange drop = { .kind = CH_DROP, .relation = &r };
    assert_ok(lf_commit(e->x, e->a, &e->root, &drop, 1, &e->err), &e->err);
    make_table(e, &e->root, S("d"), S("u"));
    assert_status(allowed(e, &e->bob, table_of(S("d"), S("u")), LF_SELECT), E_DENIED);
}

/* A database made again under a dropped one's name starts anew; making one that is there changes nothing. */
static void test_databases_made_again(void **state)
{
    Env *e = *state;
    CatNamespace n = { .catalog = ACCOUNT, .name = S("d") };

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->ann, S("d"));
    assert_ok(grant(e, &e->bob, table_of(S("d"), (Str){0}), LF_SELECT), &e->err);
    assert_status(lf_namespace_create(e->x, e->a, &e->bob, &n, &e->err), E_EXISTS);
    assert_ok(allowed(e, &e->ann, db_of(S("d")), LF_DROP), &e->err);
    assert_status(allowed(e, &e->bob, db_of(S("d")), LF_DROP), E_DENIED);
    assert_ok(lf_namespace_delete(e->x, e->a, ACCOUNT, S("d"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->root, S("d"), S("t"));
    assert_status(allowed(e, &e->bob, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);
    assert_status(allowed(e, &e->ann, db_of(S("d")), LF_DESCRIBE), E_DENIED);
}

static void test_tags(void **state)
{
    Env *e = *state;
    LfResource policy = { .kind = LF_TAG_POLICY, .catalog = ACCOUNT, .policy_on = LF_TABLE }, col = { .kind = LF_COLUMNS, .catalog = ACCOUNT, .database = S("d"), .table = S("t") };
    LfResource db = db_of(S("d"));
    LfTagPair want = { .catalog = ACCOUNT, .key = S("level") };
    StrVec values = {0};

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->root, S("d"), S("t"));
    vec_push(e->a, &values, S("open"));
    vec_push(e->a, &values, S("shut"));
    assert_ok(lf_tag_put(e->x, e->a, ACCOUNT, S("level"), &values, &e->err), &e->err);
    assert_status(allowed(e, &e->ann, (LfResource){ .kind = LF_TAG, .catalog = ACCOUNT, .tag = { ACCOUNT, S("level"), {0} } }, LF_ASSOCIATE), E_DENIED);
    vec_push(e->a, &want.values, S("open"));
    vec_push(e->a, &policy.expression, want);
    assert_ok(grant(e, &e->ann, policy, LF_SELECT), &e->err);
    assert_status(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);
    assert_ok(lf_tag_assign(e->x, e->a, &db, S("level"), S("open"), &e->err), &e->err);
    assert_ok(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), &e->err);            /* from its database */
    assert_true(columns(e, &e->ann, S("t")).all);
    vec_push(e->a, &col.columns, S("pin"));
    assert_ok(lf_tag_assign(e->x, e->a, &col, S("level"), S("shut"), &e->err), &e->err);
    LfColumns c = columns(e, &e->ann, S("t"));
    assert_true(!c.all && lf_column_allowed(&c, S("name")) && !lf_column_allowed(&c, S("pin")));
    assert_status(lf_tag_assign(e->x, e->a, &db, S("level"), S("none"), &e->err), E_NOT_FOUND);
    assert_ok(lf_tag_delete(e->x, e->a, ACCOUNT, S("level"), &e->err), &e->err);
    assert_status(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);
}

static void test_administrators(void **state)
{
    Env *e = *state;
    Json *settings = NULL, *who = json_object(e->a), *list = json_array(e->a);

    assert_ok(lf_first_start(e->x, S("none"), &e->err), &e->err);
    make_db(e, &e->root, S("d"));
    make_table(e, &e->root, S("d"), S("t"));
    assert_false(lf_is_admin(e->x, e->a, &e->ann));
    assert_ok(lf_settings(e->x, e->a, &settings, &e->err), &e->err);
    json_set(e->a, who, "DataLakePrincipalIdentifier", json_str(e->a, principal_owner(&e->ann)));
    json_push(e->a, list, who);
    json_set(e->a, settings, "DataLakeAdmins", list);
    assert_ok(lf_settings_put(e->x, settings, &e->err), &e->err);
    assert_true(lf_is_admin(e->x, e->a, &e->ann) && lf_is_admin(e->x, e->a, &e->root) && !lf_is_admin(e->x, e->a, &e->bob));
    assert_ok(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_DESCRIBE), &e->err);
    assert_status(allowed(e, &e->ann, table_of(S("d"), S("t")), LF_SELECT), E_DENIED);       /* sees all, reads what is granted */
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_open_by_default), T(test_closed_when_defaults_are_none), T(test_grants_are_checked), T(test_grant_option), T(test_columns),
        T(test_drop_and_rename), T(test_databases_made_again), T(test_tags), T(test_administrators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
