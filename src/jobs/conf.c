/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c - a job's arguments and its --conf chain.
 *
 * Glue has one argument --conf and so people write the rest of the chain into its value: "a=b --conf c=d".  Catalogs of the chain are
 * left as they are; what is added is where firn is, and only where the chain does not say it. */
#include "jobs/jobs_int.h"

static void merge(Arena *a, Props *to, const Json *from)
{
    for (size_t i = 0; i < json_len(from) && json_is(from, JSON_OBJECT) && to->n < ARGUMENTS_MAX; i++)
        if (json_is(from->object.p[i].value, JSON_STRING))
            props_set(a, to, from->object.p[i].key, from->object.p[i].value->string);
}

Props job_arguments(Arena *a, const Json *job, const Json *run_arguments)
{
    Props ret = {0};

    merge(a, &ret, json_get(job, "DefaultArguments"));
    merge(a, &ret, run_arguments);
    merge(a, &ret, json_get(job, "NonOverridableArguments"));
    return ret;
}

/* ---- the chain ------------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* The next "--conf" that stands alone, from `at` on; the length when there is none. */
static size_t next_conf(Str s, size_t at)
{
    const Str word = S("--conf");

    for (; at < s.n; at++)
        if (str_starts(str_from(s, at), word) && (at == 0 || is_blank(s.p[at - 1])) && (at + word.n == s.n || is_blank(s.p[at + word.n])))
            return at;
    return s.n;
}

static Status one_conf(Arena *a, Str text, Props *ret, Error *err)
{
    Str key, value;

    if (!str_cut(text, '=', &key, &value) || !str_trim(key).n)
        return FAIL(err, E_INVALID, "--conf '" STR_FMT "' is not of the form key=value", STR_ARG(text));
    if (ret->n == CONF_MAX)
        return FAIL(err, E_LIMIT, "a job has at most %d --conf settings", CONF_MAX);
    props_set(a, ret, str_trim(key), str_trim(value));
    return OK;
}

Status job_conf(Arena *a, Str text, Props *ret, Error *err)
{
    for (size_t at = 0; at < text.n; ) {
        size_t end = next_conf(text, at);
        Str part = str_trim(str_sub(text, at, end));
        if (part.n)
            TRY(one_conf(a, part, ret, err));
        at = end + strlen("--conf");
    }
    return OK;
}

/* ---- the script's own arguments ---------------------------------------------------------------------------------------------- */

static bool is_runners(Str name)
{
    static const char *const own[] = { "--conf", "--extra-py-files", "--extra-jars", "--extra-files", "--additional-python-modules", "--python-modules-installer-option",
                                       "--job-language", "--class", "--scriptLocation", "--user-jars-first" };
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (str_eq(name, str_c(own[i])))
            return true;
    return false;
}

static void add(Arena *a, StrVec *v, Str name, Str value)
{
    vec_push(a, v, name);
    vec_push(a, v, value);
}

void job_script_arguments(Arena *a, Str job, Str run_id, const Props *arguments, StrVec *ret)
{
    add(a, ret, S("--JOB_NAME"), job);
    add(a, ret, S("--JOB_RUN_ID"), run_id);
    add(a, ret, S("--JOB_ID"), str_cat(a, S("j_"), hash_hex(a, HASH_SHA256, job)));
    for vec_each(KeyValue, kv, arguments)
        if (!is_runners(kv->key))
            add(a, ret, kv->key, kv->value);
}

/* ---- where firn is ------------------------------------------------------------------------------------------------------------- */

static const char *const CATALOG = "spark.sql.catalog.";
static const char *const EXTENSIONS = "spark.sql.extensions";
static const char *const ICEBERG_EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions";
static const char *const FIRN_EXTENSION = "io.firn.spark.FirnSparkSessionExtensions";

static Str conf_of(Arena *a, const Props *conf, Str catalog, const char *what)
{
    return props_get(conf, str_fmt(a, "%s" STR_FMT ".%s", CATALOG, STR_ARG(catalog), what), (Str){0});
}

static void offer(Arena *a, Props *conf, Str catalog, const char *what, Str value)
{
    Str key = str_fmt(a, "%s" STR_FMT ".%s", CATALOG, STR_ARG(catalog), what);
    if (!props_has(conf, key))
        props_set(a, conf, key, value);
}

static void complete_catalog(Arena *a, const JobReach *r, Props *conf, Str name)
{
    Str impl = conf_of(a, conf, name, "catalog-impl"), type = conf_of(a, conf, name, "type"), region = conf_of(a, conf, name, "glue.region");
    bool glue = str_eq(type, S("glue")) || str_ends(impl, S(".GlueCatalog")), rest = str_eq(type, S("rest")) || str_ends(impl, S(".RESTCatalog"));
    bool s3tables = str_ends(impl, S(".S3TablesCatalog"));

    if (!glue && !rest && !s3tables)
        return;
    if (glue)
        offer(a, conf, name, "glue.endpoint", r->lake_url);
    if (s3tables)
        offer(a, conf, name, "s3tables.endpoint", r->lake_url);
    if (rest)
        offer(a, conf, name, "uri", str_cat(a, r->lake_url, S("/iceberg")));
    offer(a, conf, name, "s3.endpoint", r->lake_url);
    offer(a, conf, name, "s3.path-style-access", S("true"));
    offer(a, conf, name, "client.region", region.n ? region : r->region);
    offer(a, conf, name, "cache-enabled", S("false"));      /* views are refreshed behind Spark's back */
}

static void add_extension(Arena *a, Props *conf, const char *name)
{
    Str now = props_get(conf, str_c(EXTENSIONS), (Str){0});
    if (str_find(now, str_c(name)) < 0)
        props_set(a, conf, str_c(EXTENSIONS), now.n ? str_fmt(a, STR_FMT ",%s", STR_ARG(now), name) : str_c(name));
}

void job_complete_conf(Arena *a, const JobReach *r, Props *conf)
{
    bool iceberg = false;

    for (size_t i = 0; i < conf->n; i++) {            /* what is added has a dot in the catalog's place */
        Str name = str_starts(conf->p[i].key, str_c(CATALOG)) ? str_from(conf->p[i].key, strlen(CATALOG)) : (Str){0};
        if (!name.n || str_chr(name, '.') >= 0 || !str_starts(conf->p[i].value, S("org.apache.iceberg.spark.")))
            continue;
        iceberg = true;
        complete_catalog(a, r, conf, name);
    }
    if (iceberg)
        add_extension(a, conf, ICEBERG_EXTENSION);
    if (r->has_extension) {
        add_extension(a, conf, FIRN_EXTENSION);
        if (r->glue_version.n)
            props_set(a, conf, S("spark.firn.glue.version"), r->glue_version);
        if (!props_has(conf, S("spark.firn.sql.url")))
            props_set(a, conf, S("spark.firn.sql.url"), r->sql_url);
    }
}
