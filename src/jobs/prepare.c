/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c - what a run needs before it starts: the role's credentials, a folder, the script, a command line and an environment.
 *
 * Script and files are read through the lake door with the role's own credentials, so that exactly what the role may read can be run.
 * The environment holds nothing of the server's but JAVA_HOME. */
#include "access/iam.h"
#include "jobs/jobs_int.h"
#include "net/net.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const GLUE = "glue.amazonaws.com";
static const char *const NO_SPARK = "this job needs Apache Spark, and none is here: run `make setup-spark`, or set glue.spark_home to a Spark 4 installation";

bool job_is_python(const Json *job) { return str_eq(json_get_str(json_get(job, "Command"), "Name", (Str){0}), S("pythonshell")); }

Status job_runnable(Jobs *j, const Json *job, Error *err)
{
    Str kind = json_get_str(json_get(job, "Command"), "Name", S("glueetl"));

    if (job_is_python(job))
        return j->tools.python.n ? OK : FAIL(err, E_UNSUPPORTED, "no python3 is here: set glue.python");
    if (!str_eq(kind, S("glueetl")) && !str_eq(kind, S("gluestreaming")))
        return FAIL(err, E_UNSUPPORTED, "jobs of kind '" STR_FMT "' are not supported: glueetl and pythonshell are", STR_ARG(kind));
    return j->tools.spark_home.n ? OK : FAIL(err, E_UNSUPPORTED, "%s", NO_SPARK);
}

/* ---- the role ------------------------------------------------------------------------------------------------------------- */

static Status role_arn(Jobs *j, Arena *a, const Json *job, Str *ret, Error *err)
{
    Json *record;

    *ret = json_get_str(job, "Role", (Str){0});
    if (str_starts(*ret, S("arn:")))
        return OK;
    TRY(iam_get(j->svc->access, a, IAM_ROLE, *ret, &record, err));
    *ret = json_get_str(record, "Arn", (Str){0});
    return OK;
}

Status job_role_trusts_us(Jobs *j, Arena *a, const Json *job, Error *err)
{
    Str role, given = json_get_str(job, "Role", (Str){0});
    Principal ignored;
    Error why;

    if (role_arn(j, a, job, &role, &why) == OK && iam_assume_service(j->svc->access, a, role, GLUE, S("GlueJobRunnerSession"), &ignored, &why) == OK)
        return OK;
    RAISE(err, E_INVALID, "Role " STR_FMT " should be given assume role permissions for Glue Service: %s", STR_ARG(given), why.message);
    return E_INVALID;
}

static Status take_role(JobRun *r, Error *err)
{
    enum { SPARE_SECONDS = 600 };
    Str role;

    TRY(role_arn(r->jobs, r->a, r->definition, &role, err));
    TRY_CTX(iam_assume_service_key(r->jobs->svc->access, r->a, role, GLUE, S("GlueJobRunnerSession"), r->timeout_ms / 1000 + SPARE_SECONDS, &r->key, err), err, "the job's role");
    return OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------------------ */

static Status own(JobRun *r, const char *path, Error *err)
{
    const Jobs *j = r->jobs;
    if (j->change_user && chown(path, j->uid, j->gid) != 0)
        return FAIL_ERRNO(err, "giving '%s' to the job's user", path);
    return OK;
}

/* /tmp/firn-job-<of the data folder>-…: what a dead server left is known by its name. */
static Str folder_prefix(Arena *a, const Jobs *j)
{
    return str_fmt(a, "/tmp/firn-job-" STR_FMT "-", STR_ARG(str_sub(hash_hex(a, HASH_SHA256, j->data), 0, 12)));
}

static Status make_folder(JobRun *r, Error *err)
{
    char *path = str_z(r->a, str_cat(r->a, folder_prefix(r->a, r->jobs), S("XXXXXX")));

    if (!mkdtemp(path))
        return FAIL_ERRNO(err, "making a folder for the job");
    r->dir = str_c(path);
    return own(r, r->dir.p, err);
}

static Status write_out(JobRun *r, Str name, Str bytes, Error *err)
{
    Str path = str_fmt(r->a, STR_FMT "/" STR_FMT, STR_ARG(r->dir), STR_ARG(name));
    CLEANUP(file_closep) int fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0)
        return FAIL_ERRNO(err, "making '%s'", path.p);
    for (size_t at = 0; at < bytes.n; ) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);
        if (n < 0)
            return FAIL_ERRNO(err, "writing '%s'", path.p);
        at += (size_t)n;
    }
    return own(r, path.p, err);
}

/* "s3://bucket/a/b.py" */
static Status fetch(JobRun *r, Str location, Str *bytes, Error *err)
{
    AwsKeys keys = { r->key.id, r->key.secret, r->key.token };
    HttpReply reply;
    ptrdiff_t at = str_find(location, S("://"));
    Str scheme = at > 0 ? str_sub(location, 0, (size_t)at) : (Str){0};

    if (!str_eq(scheme, S("s3")) && !str_eq(scheme, S("s3a")) && !str_eq(scheme, S("s3n")))
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not an s3:// location", STR_ARG(location));
    HttpCall call = { .method = "GET", .sign = &keys, .service = S("s3"), .region = cat_region(r->jobs->svc->catalog), .max_bytes = SCRIPT_BYTES_MAX };
    call.url = str_fmt(r->a, STR_FMT "/" STR_FMT, STR_ARG(r->jobs->lake_url), STR_ARG(url_encode(r->a, str_from(location, (size_t)at + 3), 1)));
    TRY_CTX(http_call(r->a, &call, &reply, err), err, "reading '" STR_FMT "'", STR_ARG(location));
    if (reply.status != 200) {
        Xml *x;
        Str why = xml_parse(r->a, reply.body, &x, err) == OK ? xml_child_text(x, "Message", (Str){0}) : (Str){0};
        return FAIL(err, reply.status == 403 ? E_DENIED : E_NOT_FOUND, "'" STR_FMT "' cannot be read by the job's role: HTTP %d " STR_FMT, STR_ARG(location), reply.status, STR_ARG(why));
    }
    *bytes = reply.body;
    return OK;
}

/* The last part of a location as a harmless file name. */
static Str file_name(Arena *a, Str location, Str fallback)
{
    Str s = str_from(location, (size_t)(str_rchr(location, '/') + 1));
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s.n && b.n < 200; i++) {
        char ch = s.p[i];
        bool fine = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') || ch == '_' || ch == '-' || (ch == '.' && b.n);
        sb_byte(&b, fine ? ch : '_');
    }
    return b.n ? sb_str(&b) : fallback;
}

/* A comma-separated argument's files, into the folder; their names. */
static Status fetch_list(JobRun *r, const char *argument, StrVec *names, Error *err)
{
    StrVec parts = {0};
    Str bytes, text = props_get(&r->arguments, str_c(argument), (Str){0});

    str_split(r->a, text, ',', &parts);
    for vec_each(Str, p, &parts) {
        Str location = str_trim(*p), name = file_name(r->a, location, S("file"));
        if (!location.n)
            continue;
        TRY_CTX(fetch(r, location, &bytes, err), err, "%s", argument);
        TRY(write_out(r, name, bytes, err));
        vec_push(r->a, names, name);
    }
    return OK;
}

/* The package awsglue goes along, since the folder where it is kept may be hidden from the script. */
static Status copy_support(JobRun *r, Error *err)
{
    Str from = r->jobs->tools.support, to = str_fmt(r->a, STR_FMT "/awsglue", STR_ARG(r->dir));
    DIR *d = from.n ? opendir(str_z(r->a, from)) : NULL;
    Status s = OK;

    if (!d)
        return OK;                                    /* scripts that need it say so */
    if (mkdir(to.p, 0755) != 0)
        s = FAIL_ERRNO(err, "making '%s'", to.p);
    for (struct dirent *e; s == OK && (e = readdir(d)); ) {
        char buf[65536];
        if (!str_ends(str_c(e->d_name), S(".py")))
            continue;
        CLEANUP(file_closep) int fd = open(str_fmt(r->a, STR_FMT "/%s", STR_ARG(from), e->d_name).p, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf);
        s = n < 0 ? FAIL_ERRNO(err, "reading '%s'", e->d_name) : write_out(r, str_fmt(r->a, "awsglue/%s", e->d_name), str_n(buf, (size_t)n), err);
    }
    closedir(d);
    return s;
}

static int remove_one(const char *path, const struct stat *st UNUSED, int what UNUSED, struct FTW *at UNUSED) { return remove(path); }

static void remove_folder(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT); }

void job_clean_old(Jobs *j)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str prefix = str_from(folder_prefix(a, j), strlen("/tmp/"));
    DIR *d = opendir("/tmp");

    for (struct dirent *e; d && (e = readdir(d)); )
        if (str_starts(str_c(e->d_name), prefix))
            remove_folder(str_fmt(a, "/tmp/%s", e->d_name).p);
    if (d)
        closedir(d);
}

void job_clean(JobRun *r)
{
    Error ignored;

    if (r->dir.n)
        remove_folder(r->dir.p);
    if (r->key.id.n && cat_key_delete(r->jobs->svc->catalog, r->key.id, &ignored) != OK)
        log_error(&ignored, "a job's credentials could not be taken back", NULL);
}

/* ---- the command ---------------------------------------------------------------------------------------------------------------- */

static char **strings(Arena *a, const StrVec *v)
{
    char **ret = arena_array(a, char *, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        ret[i] = str_z(a, v->p[i]);
    return ret;
}

static void env(JobRun *r, StrVec *v, const char *name, Str value)
{
    if (value.n)
        vec_push(r->a, v, str_fmt(r->a, "%s=" STR_FMT, name, STR_ARG(value)));
}

static void environment(JobRun *r, const StrVec *modules, StrVec *v)
{
    const Jobs *j = r->jobs;
    Str region = cat_region(j->svc->catalog), home = j->shut == SHUT_NAMESPACES ? S("/tmp") : r->dir;
    StrBuf path = sb_new(r->a);

    sb_add(&path, home);
    for vec_each(Str, m, modules)
        sb_fmt(&path, ":" STR_FMT "/" STR_FMT, STR_ARG(home), STR_ARG(*m));
    env(r, v, "PATH", S("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
    env(r, v, "HOME", home);
    env(r, v, "TMPDIR", home);
    env(r, v, "LANG", S("C.UTF-8"));
    env(r, v, "TZ", S("UTC"));
    env(r, v, "JAVA_HOME", str_c(getenv("JAVA_HOME")));
    env(r, v, "PYTHONPATH", sb_str(&path));
    env(r, v, "PYTHONUNBUFFERED", S("1"));
    env(r, v, "PYTHONDONTWRITEBYTECODE", S("1"));
    env(r, v, "AWS_ACCESS_KEY_ID", r->key.id);
    env(r, v, "AWS_SECRET_ACCESS_KEY", r->key.secret);
    env(r, v, "AWS_SESSION_TOKEN", r->key.token);
    env(r, v, "AWS_REGION", region);
    env(r, v, "AWS_DEFAULT_REGION", region);
    env(r, v, "AWS_ENDPOINT_URL", j->lake_url);
    env(r, v, "AWS_EC2_METADATA_DISABLED", S("true"));
    env(r, v, "FIRN_LAKE_URL", j->lake_url);
    env(r, v, "FIRN_ICEBERG_URI", str_cat(r->a, j->lake_url, S("/iceberg")));
    env(r, v, "FIRN_SQL_URL", j->sql_url);
    if (!job_is_python(r->definition)) {
        env(r, v, "SPARK_HOME", j->tools.spark_home);
        env(r, v, "PYSPARK_PYTHON", j->tools.spark_python);
        env(r, v, "PYSPARK_DRIVER_PYTHON", j->tools.spark_python);
        env(r, v, "SPARK_LOCAL_IP", S("127.0.0.1"));
        env(r, v, "SPARK_LOCAL_DIRS", home);
    }
}

static void conf_argument(JobRun *r, StrVec *v, Str key, Str value)
{
    vec_push(r->a, v, S("--conf"));
    vec_push(r->a, v, str_fmt(r->a, STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(value)));
}

static void defaults(Arena *a, Props *conf)
{
    static const char *const all[][2] = { { "spark.ui.enabled", "false" }, { "spark.sql.catalogImplementation", "in-memory" }, { "spark.driver.host", "127.0.0.1" },
                                          { "spark.driver.bindAddress", "127.0.0.1" }, { "spark.ui.showConsoleProgress", "false" } };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (!props_has(conf, str_c(all[i][0])))
            props_set(a, conf, str_c(all[i][0]), str_c(all[i][1]));
}

static Str joined(Arena *a, Str x, Str y) { return !x.n ? y : !y.n ? x : str_fmt(a, STR_FMT "," STR_FMT, STR_ARG(x), STR_ARG(y)); }

static Status spark_command(JobRun *r, const StrVec *modules, StrVec *v, Error *err)
{
    enum { MIB = 1048576, HEAP_PERCENT = 60 };
    const Jobs *j = r->jobs;
    JobReach reach = { .lake_url = j->lake_url, .sql_url = j->sql_url, .region = cat_region(j->svc->catalog), .has_extension = j->tools.has_extension,
                       .glue_version = json_get_str(r->definition, "GlueVersion", (Str){0}) };
    Props conf = {0};
    StrVec own_jars = {0};

    TRY(job_conf(r->a, props_get(&r->arguments, S("--conf"), (Str){0}), &conf, err));
    TRY(fetch_list(r, "--extra-jars", &own_jars, err));
    job_complete_conf(r->a, &reach, &conf);
    defaults(r->a, &conf);
    Str jars = joined(r->a, joined(r->a, props_get(&conf, S("spark.jars"), (Str){0}), j->tools.jars), str_join(r->a, &own_jars, S(",")));
    if (jars.n)
        props_set(r->a, &conf, S("spark.jars"), jars);
    vec_push(r->a, v, str_fmt(r->a, STR_FMT "/bin/spark-submit", STR_ARG(j->tools.spark_home)));
    vec_push(r->a, v, S("--master"));
    vec_push(r->a, v, S("local[2]"));
    if (j->options.memory_bytes > 0) {
        vec_push(r->a, v, S("--driver-memory"));
        vec_push(r->a, v, str_fmt(r->a, "%lldm", (long long)max_i64(512, j->options.memory_bytes / MIB * HEAP_PERCENT / 100)));
    }
    for vec_each(KeyValue, kv, &conf)
        conf_argument(r, v, kv->key, kv->value);
    if (modules->n) {
        vec_push(r->a, v, S("--py-files"));
        vec_push(r->a, v, str_join(r->a, modules, S(",")));
    }
    return OK;
}

static Status command(JobRun *r, const StrVec *modules, Str script, StrVec *v, Error *err)
{
    if (job_is_python(r->definition)) {
        vec_push(r->a, v, r->jobs->tools.python);
        vec_push(r->a, v, S("-u"));
    } else {
        TRY(spark_command(r, modules, v, err));
    }
    vec_push(r->a, v, script);
    job_script_arguments(r->a, r->job, r->id, &r->arguments, v);
    return OK;
}

Status job_prepare(JobRun *r, JobChild *c, Error *err)
{
    Str location = json_get_str(json_get(r->definition, "Command"), "ScriptLocation", (Str){0}), script = file_name(r->a, location, S("script.py")), bytes;
    StrVec modules = {0}, files = {0}, argv = {0}, envp = {0};
    Jobs *j = r->jobs;

    if (props_has(&r->arguments, S("--additional-python-modules")))
        return FAIL(err, E_UNSUPPORTED, "--additional-python-modules is not supported: nothing is installed for a run; give wheels by --extra-py-files");
    TRY(take_role(r, err));
    TRY(make_folder(r, err));
    TRY_CTX(fetch(r, location, &bytes, err), err, "the job's script");
    TRY(write_out(r, script, bytes, err));
    TRY(fetch_list(r, "--extra-py-files", &modules, err));
    TRY(fetch_list(r, "--extra-files", &files, err));
    TRY(copy_support(r, err));
    TRY(command(r, &modules, script, &argv, err));
    environment(r, &modules, &envp);
    *c = (JobChild){ .argv = strings(r->a, &argv), .envp = strings(r->a, &envp), .dir = r->dir.p, .cover = j->data.p, .shut = j->shut,
                     .change_user = j->change_user, .uid = j->uid, .gid = j->gid, .memory_bytes = j->options.memory_bytes };
    return OK;
}
