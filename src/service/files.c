/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - SELECT … FROM parquet.`s3://bucket/prefix`, csv.`…`, json.`…`.
 *
 * A path is an object, or a prefix that ends in '/' (or in a '*'), whose objects are read together in key order.  Each object is asked for as s3:GetObject by
 * the caller's own rights; the engine gets the local files of the store, never the path.  As in Spark, csv has no header and its columns
 * are strings _c0, _c1 …; json is one object a line.
 *
 * Invariant: a file that is read passed access_check under its own bucket and key. */
#include "service/files.h"

#include <stdlib.h>

enum { FILES_MAX = 10000 };

typedef struct FileList { StrVec locals; int64_t bytes; } FileList;

static Status add_object(Run *r, Str bucket, Str key, FileList *list, Error *err)
{
    Ask ask = { .action = ACT_OBJECT_GET, .api = "s3:GetObject", .bucket = bucket, .key = key };
    Str local;

    TRY(access_check(r->svc->access, r->a, &r->ss->principal, &ask, err));
    TRY(store_local_path(r->svc->store, r->a, store_s3_uri(r->a, bucket, key), &local, err));
    vec_push(r->a, &list->locals, local);
    return OK;
}

/* Names that begin with '_' or '.' are markers and metadata, not data (as Spark has it). */
static bool is_data(Str key)
{
    ptrdiff_t slash = str_rchr(key, '/');
    Str name = slash < 0 ? key : str_from(key, (size_t)slash + 1);
    return name.n && name.p[0] != '_' && name.p[0] != '.';
}

static Status list_prefix(Run *r, const Location *l, Str prefix, FileList *list, Error *err)
{
    Ask ask = { .action = ACT_OBJECT_LIST, .api = "s3:ListBucket", .bucket = l->bucket, .key = prefix };
    ObjectInfos objects = {0};

    TRY(access_check(r->svc->access, r->a, &r->ss->principal, &ask, err));
    TRY(store_list_all(r->svc->store, r->a, store_s3_uri(r->a, l->bucket, prefix), &objects, err));
    for (size_t i = 0; i < objects.n; i++) {
        if (!is_data(objects.p[i].key) || !objects.p[i].size)
            continue;
        if (list->locals.n >= FILES_MAX)
            return FAIL(err, E_LIMIT, "'" STR_FMT "' has more than %d files", STR_ARG(prefix), FILES_MAX);
        TRY(add_object(r, l->bucket, objects.p[i].key, list, err));
        list->bytes += objects.p[i].size;
    }
    return OK;
}

static Status find_files(Run *r, Str path, FileList *list, Error *err)
{
    Location l = {0};
    ObjectInfo info;
    Error absent;

    TRY(store_parse_location(r->a, path, &l, err));
    if (l.file)
        return FAIL(err, E_DENIED, "file: locations cannot be read in SQL: '" STR_FMT "'", STR_ARG(path));
    bool star = str_ends(l.key, S("*"));
    Str key = star ? str_sub(l.key, 0, l.key.n - 1) : l.key;
    if (str_chr(key, '*') >= 0)
        return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "': a '*' may stand at the end of a path only", STR_ARG(path));
    if (!star && !str_ends(key, S("/")) && key.n && store_stat(r->svc->store, r->a, path, &info, &absent) == OK)
        TRY(add_object(r, l.bucket, key, list, err));
    else
        TRY(list_prefix(r, &l, star || !key.n || str_ends(key, S("/")) ? key : str_cat(r->a, key, S("/")), list, err));
    if (list->locals.n)
        return OK;
    RAISE(err, E_NOT_FOUND, "[PATH_NOT_FOUND] Path does not exist: " STR_FMT ".", STR_ARG(path));
    memcpy(err->sqlstate, "42K03", 6);
    return E_NOT_FOUND;
}

/* ---- engine text ------------------------------------------------------------------------------------------------------ */

static Status reader_sql(Run *r, Str format, const FileList *list, Str *ret, Error *err)
{
    StrBuf b = sb_new(r->a);
    bool parquet = str_ieq(format, S("parquet")), csv = str_ieq(format, S("csv")), json = str_ieq(format, S("json"));

    if (!parquet && !csv && !json)
        return FAIL(err, E_UNSUPPORTED, "files of format '" STR_FMT "' cannot be read: parquet, csv and json can", STR_ARG(format));
    sb_addc(&b, parquet ? "read_parquet([" : csv ? "read_csv([" : "read_json([");
    for (size_t i = 0; i < list->locals.n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_lit(&b, list->locals.p[i]);
    }
    sb_addc(&b, parquet ? "], hive_partitioning = false, union_by_name = true)"
               : csv ? "], header = false, all_varchar = true, delim = ',', quote = '\"', escape = '\\', hive_partitioning = false, union_by_name = false, null_padding = true)"
                     : "], format = 'newline_delimited', hive_partitioning = false, union_by_name = true)");
    *ret = sb_str(&b);
    return OK;
}

static Status file_columns(Run *r, Str format, Str reader, BoundTable *t, Error *err)
{
    DuckColumns cols = {0};

    TRY(duck_describe(r->c, r->a, str_fmt(r->a, "SELECT * FROM " STR_FMT, STR_ARG(reader)), &cols, err));
    for (size_t i = 0; i < cols.n; i++) {
        Str name = str_ieq(format, S("csv")) ? str_fmt(r->a, "_c%zu", i) : cols.p[i].name;
        vec_push(r->a, &t->columns, ((BoundColumn){ .name = name, .engine = cols.p[i].name, .type = cols.p[i].type, .nullable = 1, .field_id = -1 }));
    }
    return OK;
}

Status files_resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    Run *r = ctx;
    BoundTable *t = arena_new(a, BoundTable);
    FileList list = {0};
    Str reader;

    if (ref->name.n != 2)
        return FAIL(err, E_INVALID, "a file is named as format.`path`");
    TRY(find_files(r, ref->name.p[1], &list, err));
    TRY(reader_sql(r, ref->name.p[0], &list, &reader, err));
    TRY_CTX(file_columns(r, ref->name.p[0], reader, t, err), err, "'" STR_FMT "' is not a readable " STR_FMT " file", STR_ARG(ref->name.p[1]), STR_ARG(ref->name.p[0]));
    t->id = str_fmt(a, STR_FMT "@" STR_FMT, STR_ARG(ref->name.p[0]), STR_ARG(ref->name.p[1]));
    t->display = ref->name.p[1];
    t->user = (void *)str_z(a, reader);               /* the engine text, for files_print */
    *ret = t;
    return OK;
}

void files_print(StrBuf *out, const TableRef *ref)
{
    sb_fmt(out, "(SELECT * FROM %s)", (const char *)ref->table->user);
}
