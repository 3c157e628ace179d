/* SPDX-License-Identifier: Apache-2.0 */
/* test_store.c - objects over both backends: put, replace, conditions, ranges, copies, listing, crash leftovers. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store.h"
#include "test.h"

typedef struct Env { Arena *a; Store *s; char dir[64]; int local; Error err; } Env;

static void open_env(Env *e)
{
    StoreOptions o = { .dir = str_c(e->dir), .file_root = str_fmt(e->a, "%s/files", e->dir), .sync = 1 };
    if (e->local)
        assert_ok(store_open_local(&o, &e->s, &e->err), &e->err);
    else
        assert_ok(store_open_memory(&e->s, &e->err), &e->err);
}

static int setup(void **state, int local)
{
    Env *e = calloc(1, sizeof *e);
    e->a = arena_create();
    e->local = local;
    strcpy(e->dir, "/tmp/firn-test-XXXXXX");
    assert_non_null(mkdtemp(e->dir));
    open_env(e);
    BucketInfo b = { .name = S("b"), .owner = S("me"), .region = S("us-east-1") };
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    *state = e;
    return 0;
}

static int setup_local(void **state) { return setup(state, 1); }
static int setup_memory(void **state) { return setup(state, 0); }

static int teardown(void **state)
{
    Env *e = *state;
    store_close(e->s);
    char cmd[128];
    snprintf(cmd, sizeof cmd, "rm -rf %s", e->dir);
    assert_int_equal(system(cmd), 0);
    arena_destroy(e->a);
    free(e);
    return 0;
}

static void put(Env *e, const char *uri, const char *text)
{
    assert_ok(store_put(e->s, str_c(uri), str_c(text), &e->err), &e->err);
}

static void expect(Env *e, const char *uri, const char *text)
{
    Str got;
    assert_ok(store_read(e->s, e->a, str_c(uri), 1000, &got, &e->err), &e->err);
    assert_str(got, text);
}

static int count_files(Env *e)
{
    char cmd[160], line[32] = "";
    snprintf(cmd, sizeof cmd, "find %s/objects -type f | wc -l", e->dir);
    FILE *f = popen(cmd, "r");
    assert_non_null(fgets(line, sizeof line, f));
    pclose(f);
    return atoi(line);
}

static void test_put_and_read(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str part;
    put(e, "s3://b/k", "hello");
    put(e, "s3a://b/k", "hello again");
    expect(e, "s3n://b/k", "hello again");
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);
    assert_int_equal(o.size, 11);
    assert_str(o.etag, "44997f87b891f89472b7f2bbe4e000c3");
    assert_str(o.sha256, "3908c567feda72bc0dbdb2dff040fe0d3470dcd51b942374378a476930dbf6b3");
    assert_ok(store_read_range(e->s, e->a, S("s3://b/k"), 6, 5, &part, &e->err), &e->err);
    assert_str(part, "again");
    assert_status(store_read_range(e->s, e->a, S("s3://b/k"), 6, 6, &part, &e->err), E_INVALID);
    assert_status(store_read(e->s, e->a, S("s3://b/k"), 10, &part, &e->err), E_LIMIT);
}

static void test_missing(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str s;
    assert_status(store_stat(e->s, e->a, S("s3://b/none"), &o, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchKey");
    assert_non_null(strstr(e->err.message, "s3://b/none"));
    assert_status(store_read(e->s, e->a, S("s3://c/none"), 10, &s, &e->err), E_NOT_FOUND);
    assert_string_equal(e->err.kind, "NoSuchBucket");
    assert_status(store_put(e->s, S("s3://c/none"), S("x"), &e->err), E_NOT_FOUND);
    assert_status(store_put(e->s, S("http://c/none"), S("x"), &e->err), E_INVALID);
    assert_ok(store_delete(e->s, S("s3://b/none"), &e->err), &e->err);
}

static void test_conditions(void **state)
{
    Env *e = *state;
    ObjectInfo o, p;
    StoreWriter *w;
    assert_ok(store_put_new(e->s, S("s3://b/k"), S("one"), &e->err), &e->err);
    assert_status(store_put_new(e->s, S("s3://b/k"), S("two"), &e->err), E_EXISTS);
    expect(e, "s3://b/k", "one");
    assert_ok(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), &e->err);
    PutCondition match = { .if_match = o.etag };
    assert_ok(store_put_open(e->s, S("b"), S("k"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("three"), &e->err), &e->err);
    assert_ok(store_put_commit(w, &match, e->a, &p, &e->err), &e->err);
    assert_ok(store_put_open(e->s, S("b"), S("k"), &w, &e->err), &e->err);
    assert_status(store_put_commit(w, &match, e->a, &p, &e->err), E_CONFLICT);
    expect(e, "s3://b/k", "three");
    assert_status(store_delete_if(e->s, S("s3://b/k"), &match, &e->err), E_CONFLICT);
    if (e->local)
        assert_int_equal(count_files(e), 1);
}

static void test_abandon_and_old_reader(void **state)
{
    Env *e = *state;
    StoreWriter *w;
    ObjectInfo o;
    int fd;
    char buf[8] = "";
    put(e, "s3://b/k", "old");
    assert_ok(store_open_fd(e->s, e->a, S("s3://b/k"), &fd, &o, &e->err), &e->err);
    assert_ok(store_put_open(e->s, S("b"), S("k"), &w, &e->err), &e->err);
    assert_ok(store_put_add(w, S("never"), &e->err), &e->err);
    store_put_abandon(w);
    expect(e, "s3://b/k", "old");
    put(e, "s3://b/k", "new");
    assert_ok(store_delete(e->s, S("s3://b/k"), &e->err), &e->err);
    assert_int_equal(read(fd, buf, 7), 3);
    assert_string_equal(buf, "old");
    close(fd);
    if (e->local)
        assert_int_equal(count_files(e), 0);
}

static void list(Env *e, ListQuery q, const char *want)
{
    ListResult r;
    StrBuf b = sb_new(e->a);
    q.bucket = S("b");
    assert_ok(store_list(e->s, e->a, &q, &r, &e->err), &e->err);
    for vec_each(ObjectInfo, o, &r.objects) {
        sb_add(&b, o->key);
        sb_byte(&b, ' ');
    }
    sb_addc(&b, "|");
    for vec_each(Str, p, &r.prefixes) {
        sb_byte(&b, ' ');
        sb_add(&b, *p);
    }
    if (r.truncated)
        sb_fmt(&b, " > " STR_FMT, STR_ARG(r.next_after));
    assert_str(sb_str(&b), want);
}

static void test_list(void **state)
{
    Env *e = *state;
    static const char *const keys[] = { "a", "b/1", "b/2", "b/c/3", "b0", "c", "b\xff/x", "d/" };
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        put(e, str_fmt(e->a, "s3://b/%s", keys[i]).p, "x");
    list(e, (ListQuery){ .max = 100 }, "a b/1 b/2 b/c/3 b0 b\xff/x c d/ |");
    list(e, (ListQuery){ .max = 100, .delimiter = S("/") }, "a b0 c | b/ b\xff/ d/");
    list(e, (ListQuery){ .max = 2, .delimiter = S("/") }, "a | b/ > b/");
    list(e, (ListQuery){ .max = 2, .delimiter = S("/"), .after = S("b/") }, "b0 | b\xff/ > b\xff/");
    list(e, (ListQuery){ .max = 2, .delimiter = S("/"), .after = S("b\xff/") }, "c | d/");
    list(e, (ListQuery){ .max = 100, .prefix = S("b/"), .delimiter = S("/") }, "b/1 b/2 | b/c/");
    list(e, (ListQuery){ .max = 1, .prefix = S("b/"), .after = S("b/1") }, "b/2 | > b/2");
    list(e, (ListQuery){ .max = 100, .prefix = S("b/"), .after = S("zzz") }, "|");
    list(e, (ListQuery){ .max = 100, .prefix = S("b/"), .after = S("a") }, "b/1 b/2 b/c/3 |");
    list(e, (ListQuery){ .max = 0 }, "|");
    ObjectInfos all = {0};
    assert_ok(store_list_all(e->s, e->a, S("s3://b/b/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 3);
}

static void test_copy_and_tags(void **state)
{
    Env *e = *state;
    Props h = {0}, t = {0};
    ObjectInfo o;
    put(e, "s3://b/k", "bytes");
    props_set(e->a, &h, S("content-type"), S("text/plain"));
    props_set(e->a, &t, S("tag"), S("v:1"));
    assert_ok(store_copy(e->s, &(CopyRequest){ .from = S("s3://b/k"), .to = S("s3://b/k2"), .headers = &h, .tags = &t }, e->a, &o, &e->err), &e->err);
    assert_ok(store_delete(e->s, S("s3://b/k"), &e->err), &e->err);
    expect(e, "s3://b/k2", "bytes");
    assert_ok(store_copy(e->s, &(CopyRequest){ .from = S("s3://b/k2"), .to = S("s3://b/k2") }, e->a, &o, &e->err), &e->err);
    assert_ok(store_stat(e->s, e->a, S("s3://b/k2"), &o, &e->err), &e->err);
    assert_str(props_get(&o.headers, S("content-type"), S("")), "text/plain");
    assert_str(props_get(&o.tags, S("tag"), S("")), "v:1");
    assert_ok(store_set_tags(e->s, S("s3://b/k2"), &(Props){0}, &e->err), &e->err);
    assert_ok(store_stat(e->s, e->a, S("s3://b/k2"), &o, &e->err), &e->err);
    assert_int_equal(o.tags.n, 0);
    if (e->local)
        assert_int_equal(count_files(e), 1);
}

static void test_buckets(void **state)
{
    Env *e = *state;
    BucketInfo b = { .name = S("b2"), .region = S("eu-west-1") };
    BucketInfos all = {0};
    assert_ok(store_bucket_create(e->s, &b, &e->err), &e->err);
    assert_status(store_bucket_create(e->s, &b, &e->err), E_EXISTS);
    assert_ok(store_bucket_config(e->s, S("b2"), S("{}"), &e->err), &e->err);
    assert_ok(store_bucket_get(e->s, e->a, S("b2"), &b, &e->err), &e->err);
    assert_str(b.config, "{}");
    assert_str(b.region, "eu-west-1");
    put(e, "s3://b2/k", "x");
    assert_status(store_bucket_delete(e->s, S("b2"), &e->err), E_NOT_EMPTY);
    assert_ok(store_delete(e->s, S("s3://b2/k"), &e->err), &e->err);
    assert_ok(store_bucket_delete(e->s, S("b2"), &e->err), &e->err);
    assert_status(store_bucket_delete(e->s, S("b2"), &e->err), E_NOT_FOUND);
    assert_ok(store_bucket_list(e->s, e->a, &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
}

static void test_adopt(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    Str path = str_fmt(e->a, STR_FMT "/new.parquet", STR_ARG(store_scratch(e->s)));
    int fd = open(path.p, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "data", 4), 4);
    close(fd);
    assert_ok(store_adopt(e->s, S("s3://b/t/f.parquet"), path, e->a, &o, &e->err), &e->err);
    assert_str(o.etag, "8d777f385d3dfec8815d20f7496026dc");
    assert_int_not_equal(access(path.p, F_OK), 0);
    expect(e, "s3://b/t/f.parquet", "data");
    assert_status(store_adopt(e->s, S("s3://b/t/f2"), S("/etc/hostname"), e->a, &o, &e->err), E_INVALID);
}

static void test_file_locations(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    ObjectInfos all = {0};
    Str root = str_fmt(e->a, "%s/files", e->dir), got;
    assert_int_equal(mkdir(root.p, 0700), 0);
    Str uri = str_fmt(e->a, "file://" STR_FMT "/t/data/x", STR_ARG(root));
    assert_ok(store_put_new(e->s, uri, S("x"), &e->err), &e->err);
    assert_status(store_put_new(e->s, uri, S("y"), &e->err), E_EXISTS);
    assert_ok(store_put(e->s, uri, S("z"), &e->err), &e->err);
    assert_ok(store_read(e->s, e->a, uri, 10, &got, &e->err), &e->err);
    assert_str(got, "z");
    assert_ok(store_list_all(e->s, e->a, str_fmt(e->a, "file:" STR_FMT "/t/", STR_ARG(root)), &all, &e->err), &e->err);
    assert_int_equal(all.n, 1);
    assert_status(store_put(e->s, str_fmt(e->a, "file:" STR_FMT "/../up", STR_ARG(root)), S("x"), &e->err), E_DENIED);
    assert_status(store_stat(e->s, e->a, S("file:///etc/hostname"), &o, &e->err), E_DENIED);
    Str link = str_fmt(e->a, STR_FMT "/etc", STR_ARG(root));
    assert_int_equal(symlink("/etc", link.p), 0);
    assert_status(store_stat(e->s, e->a, str_fmt(e->a, "file:" STR_FMT "/hostname", STR_ARG(link)), &o, &e->err), E_DENIED);
    assert_ok(store_delete(e->s, uri, &e->err), &e->err);
    assert_status(store_stat(e->s, e->a, uri, &o, &e->err), E_NOT_FOUND);
}

/* A process that dies leaves a sealed blob without a row: gone after the next start; what was committed stays. */
static void test_crash_leftovers(void **state)
{
    Env *e = *state;
    put(e, "s3://b/k", "kept");
    store_close(e->s);
    if (fork() == 0) {
        StoreWriter *w;
        StoreOptions o = { .dir = str_c(e->dir), .sync = 1 };
        if (store_open_local(&o, &e->s, &e->err) != OK || store_put(e->s, S("s3://b/k3"), S("committed"), &e->err) != OK ||
            store_put_open(e->s, S("b"), S("k2"), &w, &e->err) != OK || store_put_add(w, S("half"), &e->err) != OK)
            _exit(1);
        int fd = open(str_fmt(e->a, STR_FMT "/left", STR_ARG(store_scratch(e->s))).p, O_CREAT | O_WRONLY, 0600);
        _exit(fd < 0);
    }
    int status;
    assert_true(wait(&status) > 0 && status == 0);
    assert_int_equal(count_files(e), 3);
    open_env(e);
    assert_int_equal(count_files(e), 2);
    assert_int_not_equal(access(str_fmt(e->a, "%s/scratch/left", e->dir).p, F_OK), 0);
    expect(e, "s3://b/k", "kept");
    expect(e, "s3://b/k3", "committed");
}

/* The file of a small object was never synced and is lost or torn by a crash: the journal brings it back. */
static void test_journal(void **state)
{
    Env *e = *state;
    char cmd[160];
    put(e, "s3://b/kept", "before");
    store_close(e->s);
    if (fork() == 0) {
        StoreOptions o = { .dir = str_c(e->dir), .sync = 1 };
        _exit(store_open_local(&o, &e->s, &e->err) != OK || store_put(e->s, S("s3://b/lost"), S("small"), &e->err) != OK ||
              store_put(e->s, S("s3://b/torn"), S("smaller"), &e->err) != OK || store_put(e->s, S("s3://b/gone"), S("x"), &e->err) != OK ||
              store_delete(e->s, S("s3://b/gone"), &e->err) != OK);
    }
    int status;
    assert_true(wait(&status) > 0 && status == 0);
    snprintf(cmd, sizeof cmd, "cd %s/objects && rm $(grep -rlx small .) && : > $(grep -rlx smaller .)", e->dir);
    assert_int_equal(system(cmd), 0);
    open_env(e);
    expect(e, "s3://b/kept", "before");
    expect(e, "s3://b/lost", "small");
    expect(e, "s3://b/torn", "smaller");
    assert_int_equal(count_files(e), 3);
}

static void test_fail_at(void **state)
{
    Env *e = *state;
    ObjectInfo o;
    put(e, "s3://b/k", "old");
    int64_t n = 1;
    for (;; n++) {
        store_memory_fail_at(e->s, n, E_IO);
        Status st = store_put(e->s, S("s3://b/k"), S("new"), &e->err);
        store_memory_fail_at(e->s, 0, OK);
        if (st == OK)
            break;
        assert_status(st, E_IO);
        expect(e, "s3://b/k", "old");
    }
    assert_true(n >= 3);
    expect(e, "s3://b/k", "new");
    assert_ok(store_reset(e->s, &e->err), &e->err);
    assert_status(store_stat(e->s, e->a, S("s3://b/k"), &o, &e->err), E_NOT_FOUND);
    assert_ok(store_probe(e->s, &e->err), &e->err);
}

static void *put_many(void *arg)
{
    Env *e = arg;
    Error err;
    for (int i = 0; i < 25; i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "s3://b/%lx-%d", (unsigned long)pthread_self(), i);
        assert_ok(store_put(e->s, str_c(uri), str_c(uri), &err), &err);
        assert_ok(store_put(e->s, S("s3://b/shared"), str_c(uri), &err), &err);
    }
    return NULL;
}

static void test_many_writers(void **state)
{
    Env *e = *state;
    pthread_t t[8];
    ObjectInfos all = {0};
    for (size_t i = 0; i < COUNT_OF(t); i++)
        pthread_create(&t[i], NULL, put_many, e);
    for (size_t i = 0; i < COUNT_OF(t); i++)
        pthread_join(t[i], NULL);
    assert_ok(store_list_all(e->s, e->a, S("s3://b/"), &all, &e->err), &e->err);
    assert_int_equal(all.n, 8 * 25 + 1);
    if (e->local)
        assert_int_equal(count_files(e), 8 * 25 + 1);
}

#define BOTH(t) cmocka_unit_test_setup_teardown(t, setup_local, teardown), cmocka_unit_test_setup_teardown(t, setup_memory, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_put_and_read), BOTH(test_missing), BOTH(test_conditions), BOTH(test_abandon_and_old_reader), BOTH(test_list),
        BOTH(test_copy_and_tags), BOTH(test_buckets), BOTH(test_adopt), BOTH(test_many_writers),
        cmocka_unit_test_setup_teardown(test_file_locations, setup_local, teardown),
        cmocka_unit_test_setup_teardown(test_crash_leftovers, setup_local, teardown),
        cmocka_unit_test_setup_teardown(test_journal, setup_local, teardown),
        cmocka_unit_test_setup_teardown(test_fail_at, setup_memory, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
