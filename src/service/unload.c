/* SPDX-License-Identifier: Apache-2.0 */
/* unload.c - a query's rows as one file below a place of an S3 bucket (Athena's UNLOAD).
 *
 * The engine writes below the store's scratch folder; the store adopts the finished file, so the object is there whole or not at all.  The place must be
 * the caller's to write (and, but for INSERT, empty): asked before the query runs and again before the file is published. */
#include "service/athena.h"
#include "service/prune.h"

#include <unistd.h>

enum { UNLOAD_NAME_MAX = 255 };

static Status place_allowed(Run *r, const Location *at, Str key, Error *err)
{
    Ask ask = { .action = ACT_OBJECT_PUT, .api = "s3:PutObject", .bucket = at->bucket, .key = key };
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}

/* The folder's prefix, and a new name below it that the caller may write. */
static Status find_place(Run *r, Str location, Location *at, Str *folder, Str *key, Error *err)
{
    TRY(store_parse_location(r->a, location, at, err));
    if (at->file)
        return FAIL(err, E_INVALID, "files are written to s3:// alone, not to '" STR_FMT "'", STR_ARG(location));
    *folder = !at->key.n || str_ends(at->key, S("/")) ? at->key : str_cat(r->a, at->key, S("/"));
    *key = str_fmt(r->a, STR_FMT "%lld_" STR_FMT, STR_ARG(*folder), (long long)(r->now_us / 1000), STR_ARG(uuid_v4(r->a)));
    return place_allowed(r, at, *key, err);
}

static Status must_be_empty(Run *r, const Location *at, Str folder, Error *err)
{
    ListQuery q = { .bucket = at->bucket, .prefix = folder, .max = 1 };
    ListResult found = {0};

    TRY(store_list(r->svc->store, r->a, &q, &found, err));
    if (found.objects.n)
        return FAIL(err, E_EXISTS, "HIVE_PATH_ALREADY_EXISTS: Target directory 's3://" STR_FMT "/" STR_FMT "' already holds objects: it must be empty", STR_ARG(at->bucket), STR_ARG(folder));
    return OK;
}

static Status format_options(const Unload *u, StrBuf *b, Error *err)
{
    static const struct { const char *name, *parquet, *json; } codecs[] = {
        { "", "gzip", "gzip" }, { "GZIP", "gzip", "gzip" }, { "SNAPPY", "snappy", NULL }, { "ZSTD", "zstd", "zstd" }, { "NONE", "uncompressed", "none" },
    };
    bool json = str_ieq(u->format, S("JSON"));

    if (!json && u->format.n && !str_ieq(u->format, S("PARQUET")))
        return FAIL(err, E_UNSUPPORTED, "files are written as PARQUET or JSON, not as '" STR_FMT "'", STR_ARG(u->format));
    for (size_t i = 0; i < COUNT_OF(codecs); i++) {
        const char *codec = json ? codecs[i].json : codecs[i].parquet;
        if (!codec || !str_ieq(u->compression, str_c(codecs[i].name)))
            continue;
        sb_fmt(b, "(FORMAT %s, COMPRESSION %s)", json ? "json" : "parquet", codec);
        return OK;
    }
    return FAIL(err, E_UNSUPPORTED, "%s cannot be compressed with '" STR_FMT "'", json ? "JSON" : "PARQUET", STR_ARG(u->compression));
}

static Status check_options(const Stmt *st, Error *err)
{
    if (st->column_names.n)
        return FAIL(err, E_UNSUPPORTED, "UNLOAD does not split its rows by partitioned_by");
    for (size_t i = 0; i < st->props.n; i++)
        if (!str_eq(st->props.p[i].key, S("format")) && !str_eq(st->props.p[i].key, S("compression")))
            return FAIL(err, E_UNSUPPORTED, "UNLOAD option '" STR_FMT "' is not supported: format and compression are", STR_ARG(st->props.p[i].key));
    return OK;
}

/* SELECT of the query's columns by the names that the user sees. */
static Status named_columns(Run *r, const BoundColumns *cols, StrBuf *b, Error *err)
{
    Map names = map_new(r->a);

    for (size_t i = 0; i < cols->n; i++) {
        const BoundColumn *c = &cols->p[i];
        Str lower = str_lower(r->a, c->name);
        if (map_has(&names, lower) || !c->name.n || c->name.n > UNLOAD_NAME_MAX)
            return FAIL(err, E_INVALID, "columns need different names: '" STR_FMT "' is there twice or has none", STR_ARG(c->name));
        map_put(&names, lower, (void *)c);
        sb_addc(b, i ? ", CAST(q." : "CAST(q.");
        sql_ident(b, c->engine);
        sb_addc(b, " AS ");
        sb_add(b, data_type_sql(r->a, &c->type));
        sb_addc(b, ") AS ");
        sql_ident(b, c->name);
    }
    return OK;
}

static Status select_named(Run *r, Str sql, Str *ret, Error *err)
{
    StrBuf b = sb_new(r->a);

    sb_addc(&b, "SELECT ");
    TRY(named_columns(r, &r->st->query->columns, &b, err));
    sb_addc(&b, " FROM (");
    sb_add(&b, sql);
    sb_addc(&b, ") q");
    *ret = sb_str(&b);
    return OK;
}

static Status write_and_adopt(Run *r, const Location *at, Str key, Str path, Str sql, int64_t *n, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *res = NULL;
    ObjectInfo info;

    TRY(duck_query_held(r->c, sql, &res, err));
    *n = duck_changed(res);
    TRY(place_allowed(r, at, key, err));
    Str uri = store_s3_uri(r->a, at->bucket, key);
    TRY(store_adopt(r->svc->store, uri, path, r->a, &info, err));
    vec_push(r->a, &r->written, uri);
    return OK;
}

static Status write_file(Run *r, const Unload *u, const Location *at, Str key, Str select, int64_t *n, Error *err)
{
    Str path = str_fmt(r->a, STR_FMT "/unload-" STR_FMT, STR_ARG(store_scratch(r->svc->store)), STR_ARG(uuid_v4(r->a)));
    StrBuf b = sb_new(r->a);

    sb_addc(&b, "COPY (");
    sb_add(&b, select);
    sb_addc(&b, ") TO ");
    sql_lit(&b, path);
    sb_byte(&b, ' ');
    TRY(format_options(u, &b, err));
    Status s = write_and_adopt(r, at, key, path, sb_str(&b), n, err);
    if (s != OK)
        (void)!unlink(path.p);
    return s;
}

Status unload_add(Run *r, const Unload *u, Str select, int64_t *n, Error *err)
{
    Location at;
    Str folder, key;

    TRY(find_place(r, u->location, &at, &folder, &key, err));
    return write_file(r, u, &at, key, select, n, err);
}

Status unload_query(Run *r, const Unload *u, int64_t *n, Error *err)
{
    Printer p = run_printer(r);
    Binder b;
    Location at;
    Str folder, key, sql, select;

    TRY(find_place(r, u->location, &at, &folder, &key, err));
    TRY(must_be_empty(r, &at, folder, err));
    run_binder(r, &b);
    TRY(sql_bind_query(r->a, &b, r->st->query, err));
    prune_query(r, r->st->query);
    TRY(sql_print_query(r->a, &p, r->st->query, &sql, err));
    TRY(select_named(r, sql, &select, err));
    return write_file(r, u, &at, key, select, n, err);
}

Status do_unload(Run *r, Rows *rows, Error *err)
{
    Unload u = { .location = r->st->location, .format = props_get(&r->st->props, S("format"), (Str){0}), .compression = props_get(&r->st->props, S("compression"), (Str){0}) };

    rows_command(rows, "UNLOAD");
    TRY(check_options(r->st, err));
    return unload_query(r, &u, &rows->changed, err);
}
