/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - Spark, Python and the jars, as given or as `make setup-spark` and `make install` leave them near the program. */
#include "jobs/jobs_int.h"

#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static Str program_folder(Arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    Str s = n > 0 ? str_dup(a, str_n(path, (size_t)n)) : (Str){0};
    ptrdiff_t slash = str_rchr(s, '/');
    return slash > 0 ? str_sub(s, 0, (size_t)slash) : S(".");
}

/* Every path that matches below the folder, joined by commas; the first alone when `one`. */
static Str matching(Arena *a, Str folder, const char *pattern, int one)
{
    glob_t g = {0};
    StrVec found = {0};

    if (glob(str_fmt(a, STR_FMT "/%s", STR_ARG(folder), pattern).p, 0, NULL, &g) == 0)
        for (size_t i = 0; i < g.gl_pathc && !(one && found.n); i++) {
            char real[4096];
            Str path = str_c(realpath(g.gl_pathv[i], real) ? real : g.gl_pathv[i]);
            vec_push(a, &found, str_dup(a, path));
        }
    globfree(&g);
    return str_join(a, &found, S(","));
}

static Str look(Arena *a, Str program, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Str found = matching(a, program, patterns[i], 1);
        if (found.n)
            return found;
    }
    return (Str){0};
}

static Str find_python(Arena *a)
{
    static const char *const places[] = { "/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3" };
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (access(places[i], X_OK) == 0)
            return str_dup(a, str_c(places[i]));
    return (Str){0};
}

static Str join(Arena *a, Str x, Str y) { return !x.n ? y : !y.n ? x : str_fmt(a, STR_FMT "," STR_FMT, STR_ARG(x), STR_ARG(y)); }

/* pyspark of a virtual environment is run by that environment's Python (which is a link: its name matters, not its target). */
static Str python_beside(Arena *a, Str spark_home)
{
    ptrdiff_t lib = str_find(spark_home, S("/lib/python3"));
    Str python = lib > 0 ? str_fmt(a, STR_FMT "/bin/python", STR_ARG(str_sub(spark_home, 0, (size_t)lib))) : (Str){0};
    return python.n && access(python.p, X_OK) == 0 ? python : (Str){0};
}

/* May any user run it? Every folder on the way to the real file must let others through. */
static bool for_everybody(Arena *a, Str path)
{
    char real[4096];
    struct stat st;

    if (!realpath(str_z(a, path), real) || stat(real, &st) != 0 || !(st.st_mode & S_IXOTH))
        return false;
    for (char *slash; (slash = strrchr(real, '/')) && slash > real; ) {
        *slash = 0;
        if (stat(real, &st) != 0 || !(st.st_mode & S_IXOTH))
            return false;
    }
    return true;
}

void job_tools(Arena *a, const JobsOptions *o, int other_user, JobTools *ret)
{
    static const char *const sparks[] = { "../venv-spark/lib/python3*/site-packages/pyspark", "../share/firn/spark" };
    static const char *const jar_folders[] = { "../spark-jars", "../share/firn/jars" };
    static const char *const extensions[] = { "../firn-spark.jar", "../share/firn/firn-spark.jar" };
    static const char *const supports[] = { "../../clients/awsglue", "../share/firn/awsglue" };
    Str program = program_folder(a), extension = look(a, program, extensions, COUNT_OF(extensions));

    *ret = (JobTools){ .spark_home = o->spark_home.n ? o->spark_home : look(a, program, sparks, COUNT_OF(sparks)), .python = o->python.n ? o->python : find_python(a),
                       .support = o->support.n ? o->support : look(a, program, supports, COUNT_OF(supports)) };
    if (ret->spark_home.n && access(str_fmt(a, STR_FMT "/bin/spark-submit", STR_ARG(ret->spark_home)).p, X_OK) != 0)
        ret->spark_home = (Str){0};
    ret->spark_python = python_beside(a, ret->spark_home);
    if (!ret->spark_python.n || (other_user && !for_everybody(a, ret->spark_python)))
        ret->spark_python = ret->python;              /* Spark brings its own modules for any Python */
    Str jars = look(a, program, jar_folders, COUNT_OF(jar_folders));
    ret->jars = o->jars.n ? o->jars : jars.n ? matching(a, jars, "*.jar", 0) : (Str){0};
    ret->jars = join(a, ret->jars, extension);
    ret->has_extension = extension.n > 0;
}
