/* SPDX-License-Identifier: Apache-2.0 */
/* test_jobs.c - arguments and --conf chains; children in every way of shutting off that this machine allows. */
#include "base/test.h"
#include "jobs/jobs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Str conf_text(Arena *a, const Props *conf)
{
    StrBuf b = sb_new(a);
    for vec_each(KeyValue, kv, conf)
        sb_fmt(&b, "%s" STR_FMT "=" STR_FMT, b.n ? ";" : "", STR_ARG(kv->key), STR_ARG(kv->value));
    return sb_str(&b);
}

static void conf(void **state UNUSED)
{
    Arena *a = arena_create();
    Props p = {0};
    Error err;

    assert_ok(job_conf(a, S("a=b --conf c=d=e  --conf\n x.y = two words --conf z=--confuse"), &p, &err), &err);
    assert_str(conf_text(a, &p), "a=b;c=d=e;x.y=two words;z=--confuse");
    p = (Props){0};
    assert_ok(job_conf(a, S(""), &p, &err), &err);
    assert_int_equal(p.n, 0);
    assert_ok(job_conf(a, S("--conf a=1 --conf a=2"), &p, &err), &err);
    assert_str(conf_text(a, &p), "a=2");
    assert_status(job_conf(a, S("a=b --conf nothing"), &p, &err), E_INVALID);
    assert_status(job_conf(a, S("=b"), &p, &err), E_INVALID);
    arena_destroy(a);
}

static void completed(void **state UNUSED)
{
    Arena *a = arena_create();
    JobReach r = { .lake_url = S("http://h:1"), .sql_url = S("postgres://h:2"), .region = S("us-east-1"), .has_extension = 1 };
    Props p = {0};
    Error err;

    assert_ok(job_conf(a, S("spark.sql.extensions=X --conf spark.sql.catalog.g=org.apache.iceberg.spark.SparkCatalog --conf spark.sql.catalog.g.type=glue --conf spark.sql.catalog.g.glue.region=eu-west-1"
                            " --conf spark.sql.catalog.g.s3.endpoint=http://mine --conf spark.sql.catalog.h=org.other.Catalog --conf spark.sql.catalog.h.type=glue"
                            " --conf spark.sql.catalog.t=org.apache.iceberg.spark.SparkCatalog --conf spark.sql.catalog.t.catalog-impl=software.amazon.s3tables.iceberg.S3TablesCatalog"), &p, &err), &err);
    job_complete_conf(a, &r, &p);
    assert_str(props_get(&p, S("spark.sql.catalog.g.glue.endpoint"), S("")), "http://h:1");
    assert_str(props_get(&p, S("spark.sql.catalog.g.s3.endpoint"), S("")), "http://mine");
    assert_str(props_get(&p, S("spark.sql.catalog.g.client.region"), S("")), "eu-west-1");
    assert_str(props_get(&p, S("spark.sql.catalog.g.s3.path-style-access"), S("")), "true");
    assert_str(props_get(&p, S("spark.sql.catalog.t.s3tables.endpoint"), S("")), "http://h:1");
    assert_str(props_get(&p, S("spark.sql.catalog.t.client.region"), S("")), "us-east-1");
    assert_false(props_has(&p, S("spark.sql.catalog.h.glue.endpoint")));
    assert_str(props_get(&p, S("spark.sql.extensions"), S("")), "X,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.firn.spark.FirnSparkSessionExtensions");
    assert_str(props_get(&p, S("spark.firn.sql.url"), S("")), "postgres://h:2");
    arena_destroy(a);
}

static void arguments(void **state UNUSED)
{
    Arena *a = arena_create();
    Json *job, *run;
    StrVec argv = {0};
    Error err;

    assert_ok(json_parse(a, S("{\"DefaultArguments\": {\"--a\": \"1\", \"--b\": \"2\", \"--conf\": \"x=y\"}, \"NonOverridableArguments\": {\"--b\": \"3\"}}"), &job, &err), &err);
    assert_ok(json_parse(a, S("{\"--a\": \"9\", \"--b\": \"9\"}"), &run, &err), &err);
    Props p = job_arguments(a, job, run);
    job_script_arguments(a, S("j"), S("jr_1"), &p, &argv);
    assert_str(str_join(a, &argv, S(" ")), str_z(a, str_cat(a, str_cat(a, S("--JOB_NAME j --JOB_RUN_ID jr_1 --JOB_ID j_"), hash_hex(a, HASH_SHA256, S("j"))), S(" --a 9 --b 3"))));
    arena_destroy(a);
}

/* ---- children ----------------------------------------------------------------------------------------------------------------- */

typedef struct Box { Arena *a; char secret_dir[64], dir[64]; Str secret; } Box;

static void box(Box *b)
{
    b->a = arena_create();
    strcpy(b->secret_dir, "/tmp/firn-secret-XXXXXX");
    strcpy(b->dir, "/tmp/firn-box-XXXXXX");
    assert_non_null(mkdtemp(b->secret_dir));
    assert_non_null(mkdtemp(b->dir));
    b->secret = str_fmt(b->a, "%s/secret", b->secret_dir);
    int fd = open(b->secret.p, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, "hush", 4), 4);
    close(fd);
}

static void unbox(Box *b)
{
    unlink(b->secret.p);
    rmdir(b->secret_dir);
    rmdir(b->dir);
    arena_destroy(b->a);
}

/* Runs a shell command as a job would; its exit status, its output in `out`. */
static int shell(Box *b, JobShut shut, const char *command, char *out, size_t cap)
{
    char sh[] = "/bin/sh", c_option[] = "-c", path[] = "PATH=/usr/bin:/bin", *argv[] = { sh, c_option, str_z(b->a, str_c(command)), NULL }, *envp[] = { path, NULL };
    bool root = geteuid() == 0;
    JobChild c = { .argv = argv, .envp = envp, .dir = b->dir, .cover = b->secret_dir, .shut = shut, .change_user = root, .uid = 65534, .gid = 65534, .memory_bytes = 1 << 28 };
    int o, e, status;
    size_t n = 0;
    Error err;
    pid_t pid;

    if (root)
        assert_int_equal(chown(b->dir, 65534, 65534), 0);
    assert_ok(job_child_start(&c, &pid, &o, &e, &err), &err);
    for (ssize_t got; n < cap - 1 && (got = read(o, out + n, cap - 1 - n)) > 0; )
        n += (size_t)got;
    out[n] = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(o);
    close(e);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void shut_off(JobShut shut)
{
    char out[4096];
    Box b;

    box(&b);
    assert_int_equal(shell(&b, shut, "echo hello; exit 7", out, sizeof out), 7);
    assert_string_equal(out, "hello\n");
    assert_int_equal(shell(&b, shut, str_fmt(b.a, "cat " STR_FMT " 2>/dev/null; ls -A %s 2>/dev/null; true", STR_ARG(b.secret), b.secret_dir).p, out, sizeof out), 0);
    assert_string_equal(out, "");
    assert_int_equal(shell(&b, shut, str_fmt(b.a, "cat /proc/%d/environ >/dev/null 2>&1 || echo no; kill -0 %d 2>/dev/null || echo no", (int)getpid(), (int)getpid()).p, out, sizeof out), 0);
    assert_string_equal(out, "no\nno\n");
    assert_int_equal(shell(&b, shut, "kill -9 $$", out, sizeof out), 128 + 9);
    assert_int_equal(shell(&b, shut, "echo x > mine && cat mine && rm mine", out, sizeof out), 0);
    assert_string_equal(out, "x\n");
    assert_int_equal(shell(&b, shut, "env; ls /proc/self/fd | wc -l", out, sizeof out), 0);
    assert_null(strstr(out, "HOME"));
    unbox(&b);
}

static void in_namespaces(void **state UNUSED)
{
    char out[4096];
    Box b;
    bool root = geteuid() == 0;

    if (job_child_probe("/nonexistent", root, 65534, 65534) != SHUT_NAMESPACES)
        skip();
    shut_off(SHUT_NAMESPACES);
    box(&b);
    assert_int_equal(shell(&b, SHUT_NAMESPACES, "touch /var/tmp/firn-escape 2>/dev/null || echo no; echo $$", out, sizeof out), 0);
    assert_string_equal(out, "no\n2\n");
    unbox(&b);
}

static void by_user(void **state UNUSED)
{
    if (geteuid() != 0)
        skip();
    shut_off(SHUT_USER);                              /* folders of mkdtemp are the owner's alone, as the data folder is */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(conf), cmocka_unit_test(completed), cmocka_unit_test(arguments), cmocka_unit_test(in_namespaces), cmocka_unit_test(by_user) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
