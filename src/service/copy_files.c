/* SPDX-License-Identifier: Apache-2.0 */
/* copy_files.c - COPY INTO t FROM 's3://bucket/…' (FORMAT PARQUET | CSV, AWS CONNECTION = c [, FILES = […] | PATTERN = '…'] …).
 *
 * Objects are listed and read with the connection's own keys, at its own endpoint: who may use the connection copies what that may read, and nothing of this machine.
 * Parquet goes by the names of columns, CSV by their order.  Each file is staged by itself, so what is wrong with one is said of that one; all of them are one commit.
 * Invariants: (1) how much will be fetched is known, and within the limits, before anything is; (2) no error shows a path of this machine. */
#include "service/dml_int.h"
#include "service/live_connection.h"
#include "service/live_sql.h"

#define COPY_BYTES_MAX (10ll << 30)                  /* of all files together, as Materialize has it */
enum { COPY_FILES_MAX = 10000, COPY_LINE_MAX = 16 << 20 };

typedef enum { FILE_PARQUET, FILE_CSV } FileFormat;
typedef struct CsvOptions { Str delimiter, quote, escape, null; int header; } CsvOptions;
typedef struct Copy {
    Run *r;
    Dml dml;
    const LiveStmt *l;
    FileFormat format;
    CsvOptions csv;
    Str pattern;
    StrVec names;                                    /* FILES */
    int all;                                         /* neither FILES nor PATTERN */
    CopyColumns columns;
    Location at;
    Store *store;
    StrVec files;                                    /* their locations */
    int64_t bytes;
} Copy;

/* ---- options ------------------------------------------------------------------------------------------------------------------------- */

static Status invalid(Error *err, const char *text) { return live_refuse(FAIL(err, E_INVALID, "%s", text), "22023", err); }

static Status text_option(const Copy *c, const char *name, Str *ret, Error *err)
{
    const LiveOption *o = live_option(&c->l->options, name);
    return o ? live_opt_text(o, ret, err) : OK;
}

static Status format(Copy *c, Error *err)
{
    Str f = {0};

    TRY(text_option(c, "FORMAT", &f, err));
    if (!f.n)
        return invalid(err, "COPY FROM files requires FORMAT PARQUET or FORMAT CSV");
    c->format = str_ieq(f, S("csv")) ? FILE_CSV : FILE_PARQUET;
    if (str_ieq(f, S("csv")) || str_ieq(f, S("parquet")))
        return OK;
    return live_refuse(FAIL(err, E_UNSUPPORTED, "COPY FROM files of FORMAT " STR_FMT " is not supported: PARQUET and CSV are", STR_ARG(str_upper(c->r->a, f))), "0A000", err);
}

static Status one_byte(Str v, const char *what, Error *err)
{
    if (v.n == 1 && v.p[0] != '\n' && v.p[0] != '\r')
        return OK;
    return live_refuse(FAIL(err, E_INVALID, "COPY %s must be a single one-byte character", what), "22023", err);
}

static Status csv(Copy *c, Error *err)
{
    const LiveOption *header = live_option(&c->l->options, "HEADER");
    CsvOptions *o = &c->csv;

    *o = (CsvOptions){ .delimiter = S(","), .quote = S("\"") };
    TRY(text_option(c, "DELIMITER", &o->delimiter, err));
    TRY(text_option(c, "QUOTE", &o->quote, err));
    o->escape = o->quote;
    TRY(text_option(c, "ESCAPE", &o->escape, err));
    TRY(text_option(c, "NULL", &o->null, err));
    if (header)
        TRY(live_opt_bool(header, &o->header, err));
    TRY(one_byte(o->delimiter, "delimiter", err));
    TRY(one_byte(o->quote, "quote", err));
    TRY(one_byte(o->escape, "escape", err));
    return str_eq(o->delimiter, o->quote) ? invalid(err, "COPY delimiter and quote must be different") : OK;
}

static Status no_csv(const Copy *c, Error *err)
{
    static const char *const names[] = { "DELIMITER", "ESCAPE", "HEADER", "NULL", "QUOTE" };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (live_option(&c->l->options, names[i]))
            return live_refuse(FAIL(err, E_INVALID, "COPY %s is only available in CSV mode", names[i]), "22023", err);
    return OK;
}

static Status which(Copy *c, Error *err)
{
    const LiveOption *files = live_option(&c->l->options, "FILES"), *pattern = live_option(&c->l->options, "PATTERN");

    c->all = !files && !pattern;
    if (files && pattern)
        return invalid(err, "cannot specify both FILES and PATTERN");
    if (files)
        TRY(live_opt_list(c->r->a, files, &c->names, err));
    if (c->names.n > COPY_FILES_MAX)
        return FAIL(err, E_LIMIT, "FILES has %zu names, the limit is %d", c->names.n, COPY_FILES_MAX);
    return pattern ? live_opt_text(pattern, &c->pattern, err) : OK;
}

static Status options(Copy *c, Object *connection, Error *err)
{
    const LiveOption *o = live_option(&c->l->options, "AWS CONNECTION");

    TRY(format(c, err));
    TRY(c->format == FILE_CSV ? csv(c, err) : no_csv(c, err));
    TRY(which(c, err));
    if (!o)
        return invalid(err, "COPY FROM 's3://…' requires an AWS CONNECTION");
    if (o->kind != OPT_NAME)
        return invalid(err, "invalid AWS CONNECTION option value: must provide an object");
    TRY(connection_need(c->r, &o->names, "aws", connection, err));
    TRY(store_parse_location(c->r->a, c->r->st->location, &c->at, err));
    return c->at.bucket.n ? OK : FAIL(err, E_INVALID, "'" STR_FMT "' names no bucket", STR_ARG(c->r->st->location));
}

/* ---- which files --------------------------------------------------------------------------------------------------------------------------- */

/* One character of a class "[a-z]", "[!x]" that begins at pattern[*at]; *at goes behind it. A '[' without its end is itself. */
static bool in_class(Str pattern, size_t *at, char c)
{
    size_t i = *at + 1;
    bool not = i < pattern.n && pattern.p[i] == '!', found = false;
    size_t first = i + not;

    for (i = first; i < pattern.n && (pattern.p[i] != ']' || i == first); i++) {
        bool range = i + 2 < pattern.n && pattern.p[i + 1] == '-' && pattern.p[i + 2] != ']';
        char lo = pattern.p[i], hi = range ? pattern.p[i + 2] : lo;
        found = found || (c >= lo && c <= hi);
        i += range ? 2 : 0;
    }
    if (i >= pattern.n)
        return pattern.p[(*at)++] == c;
    *at = i + 1;
    return found != not;
}

/* Does the character at s fit what stands at pattern[*at]? */
static bool fits_one(Str pattern, size_t *at, char c)
{
    if (pattern.p[*at] == '[')
        return in_class(pattern, at, c);
    return pattern.p[(*at)++] == c || pattern.p[*at - 1] == '?';
}

/* '*' is any text, slashes too; the last star alone is ever tried again, so it takes no more than the product of the lengths. */
static bool fits(Str s, Str pattern)
{
    size_t i = 0, p = 0, star = SIZE_MAX, from = 0;

    while (i < s.n) {
        size_t next = p;
        if (p < pattern.n && pattern.p[p] == '*') {
            star = ++p;
            from = i;
        } else if (p < pattern.n && fits_one(pattern, &next, s.p[i])) {
            p = next;
            i++;
        } else if (star != SIZE_MAX) {
            p = star;
            i = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

static Status take(Copy *c, Str key, int64_t size, Error *err)
{
    if (c->files.n >= COPY_FILES_MAX)
        return FAIL(err, E_LIMIT, "'" STR_FMT "' has more than %d files to copy", STR_ARG(c->r->st->location), COPY_FILES_MAX);
    c->bytes += max_i64(size, 0);
    if (c->bytes > COPY_BYTES_MAX)
        return FAIL(err, E_LIMIT, "the files of '" STR_FMT "' are more than %lld bytes, which is what one COPY may take", STR_ARG(c->r->st->location), COPY_BYTES_MAX);
    vec_push(c->r->a, &c->files, store_s3_uri(c->r->a, c->at.bucket, key));
    return OK;
}

static Str folder(const Copy *c)
{
    return c->at.key.n && !str_ends(c->at.key, S("/")) ? str_cat(c->r->a, c->at.key, S("/")) : c->at.key;
}

/* Markers of folders have no bytes. */
static bool wanted(const Copy *c, const ObjectInfo *o, Str below)
{
    if (!o->size && str_ends(o->key, S("/")))
        return false;
    return str_starts(o->key, below) && (c->all || fits(str_from(o->key, below.n), c->pattern));
}

static Status list(Copy *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *listing = arena_create();
    Str below = folder(c);
    ObjectInfos there = {0};

    TRY(store_list_all(c->store, listing, store_s3_uri(listing, c->at.bucket, below), &there, err));
    for vec_each(const ObjectInfo, o, &there)
        if (wanted(c, o, below))
            TRY(take(c, o->key, o->size, err));
    return OK;
}

static Status one(Copy *c, Str key, Error *err)
{
    ObjectInfo o = {0};

    TRY(store_stat(c->store, c->r->a, store_s3_uri(c->r->a, c->at.bucket, key), &o, err));
    return take(c, key, o.size, err);
}

/* The object of that very name, else what is in the folder of that name. */
static Status by_url(Copy *c, Error *err)
{
    Error why;
    Status s = c->all && c->at.key.n && !str_ends(c->at.key, S("/")) ? one(c, c->at.key, &why) : E_NOT_FOUND;

    if (s == OK)
        return OK;
    if (s != E_NOT_FOUND && s != E_DENIED) {
        *err = why;
        return s;
    }
    TRY(list(c, err));
    if (!c->files.n && s == E_DENIED)
        *err = why;
    return c->files.n || s != E_DENIED ? OK : s;
}

static Status by_name(Copy *c, Error *err)
{
    for vec_each(const Str, name, &c->names) {
        Str key = str_cat(c->r->a, folder(c), *name);
        TRY_CTX(one(c, key, err), err, "file '" STR_FMT "'", STR_ARG(store_s3_uri(c->r->a, c->at.bucket, key)));
    }
    return OK;
}

static Status find(Copy *c, Error *err)
{
    TRY(c->names.n ? by_name(c, err) : by_url(c, err));
    if (c->files.n)
        return OK;
    RAISE(err, E_NOT_FOUND, "there are no files to copy at '" STR_FMT "'", STR_ARG(c->r->st->location));
    error_hint(err, "The URL names one object or a folder; FILES and PATTERN choose among what is in the folder.");
    return live_refuse(E_NOT_FOUND, "22023", err);
}

/* ---- one file -------------------------------------------------------------------------------------------------------------------------------- */

static void option(StrBuf *b, const char *name, Str value)
{
    sb_fmt(b, ", %s = ", name);
    sql_lit(b, value);
}

static Status packed(Str uri, Str *ret, Error *err)
{
    static const struct { const char *end, *name; } kinds[] = { { ".gz", "gzip" }, { ".zst", "zstd" }, { ".bz2", NULL }, { ".xz", NULL }, { ".snappy", NULL }, { ".lz4", NULL }, { "", "uncompressed" } };
    size_t k = 0;

    while (!str_ends(uri, str_c(kinds[k].end)))
        k++;
    *ret = str_c(kinds[k].name ? kinds[k].name : "");
    return kinds[k].name ? OK : FAIL(err, E_UNSUPPORTED, "CSV files can be packed by gzip or zstd");
}

/* (SELECT … AS f0, … AS f1 FROM …), and what these are. */
static Status csv_rows(const Copy *c, Str uri, Str path, StrBuf *b, DataType *types, Error *err)
{
    Str how;

    TRY(packed(uri, &how, err));
    sb_addc(b, "read_csv(");
    sql_lit(b, path);
    sb_fmt(b, ", auto_detect = false, strict_mode = true, null_padding = false, allow_quoted_nulls = false, hive_partitioning = false, max_line_size = %d, columns = {", COPY_LINE_MAX);
    for (size_t i = 0; i < c->columns.n; i++) {
        sb_fmt(b, "%s'f%zu': 'VARCHAR'", i ? ", " : "", i);
        types[i] = (DataType){ .kind = DT_STRING };
    }
    sb_fmt(b, "}, header = %s", c->csv.header ? "true" : "false");
    option(b, "delim", c->csv.delimiter);
    option(b, "quote", c->csv.quote);
    option(b, "escape", c->csv.escape);
    option(b, "nullstr", c->csv.null);
    option(b, "compression", how);
    sb_byte(b, ')');
    return OK;
}

static Status parquet_rows(const Copy *c, Str path, StrBuf *b, DataType *types, Error *err)
{
    Arena *a = c->r->a;
    DuckColumns have = {0};
    Str from = str_fmt(a, "read_parquet(" STR_FMT ", hive_partitioning = false)", STR_ARG(sql_lit_str(a, path)));

    TRY(duck_describe(c->r->c, a, str_cat(a, S("SELECT * FROM "), from), &have, err));
    sb_addc(b, "(SELECT ");
    for (size_t i = 0; i < c->columns.n; i++) {
        Str name = c->dml.columns.p[c->columns.p[i]].name;
        const DuckColumn *there = duck_column_named(&have, name);
        if (!there)
            return live_refuse(FAIL(err, E_INVALID, "column \"" STR_FMT "\" is not in the file", STR_ARG(name)), "42703", err);
        types[i] = there->type;
        sb_addc(b, i ? ", " : "");
        sql_ident(b, there->name);
        sb_fmt(b, " AS f%zu", i);
    }
    sb_fmt(b, " FROM " STR_FMT ")", STR_ARG(from));
    return OK;
}

static Status write_path(Copy *c, Str uri, Str path, int64_t *n, Error *err)
{
    StrBuf rows = sb_new(c->r->a);
    DataType *types = arena_array(c->r->a, DataType, c->columns.n + 1);
    Str sql;

    TRY(c->format == FILE_CSV ? csv_rows(c, uri, path, &rows, types, err) : parquet_rows(c, path, &rows, types, err));
    TRY(copy_columns_sql(&c->dml, &c->columns, types, sb_str(&rows), &sql, err));
    return dml_write(&c->dml, sql, n, err);
}

/* (2) The copy's path is longer than the word. */
static void hide(char *text, Str path)
{
    static const char word[] = "it";

    for (char *at = text; path.n >= sizeof word && (at = strstr(at, path.p)); at += sizeof word - 1) {
        memmove(at + sizeof word - 1, at + path.n, strlen(at + path.n) + 1);
        memcpy(at, word, sizeof word - 1);
    }
}

static Status write_file(Copy *c, Str uri, int64_t *rows, Error *err)
{
    Str path = {0};
    int64_t n = 0;

    Status s = store_local_path(c->store, c->r->a, uri, &path, err);
    if (s == OK)
        s = write_path(c, uri, path, &n, err);
    store_paths_done(c->store);
    *rows += n;
    if (s == OK)
        return OK;
    hide(err->message, path);
    hide(err->detail, path);
    hide(err->hint, path);
    error_context(err, "file '" STR_FMT "'", STR_ARG(uri));
    return s;
}

static Status write_all(Copy *c, int64_t *rows, Error *err)
{
    for vec_each(const Str, uri, &c->files)
        TRY(write_file(c, *uri, rows, err));
    return OK;
}

/* ---- whole ------------------------------------------------------------------------------------------------------------------------------------- */

static void close_store(Store **s) { store_close(*s); }
static void free_cache(StoreCache **c) { store_cache_free(*c); }

static Status with_store(Copy *c, int64_t connection, int64_t *rows, Error *err)
{
    CLEANUP(free_cache) StoreCache *cache = NULL;
    CLEANUP(close_store) Store *store = NULL;
    Service *s = c->r->svc;

    TRY(store_cache_open(str_fmt(c->r->a, STR_FMT "/remote", STR_ARG(s->options.dir)), COPY_BYTES_MAX, &cache, err));
    TRY(connection_open_store(s, connection, cache, &store, err));
    c->store = store;
    TRY(find(c, err));                                                 /* (1) */
    return write_all(c, rows, err);
}

Status do_copy_files(Run *r, Rows *rows, Error *err)
{
    Copy c = { .r = r, .l = r->st->live };
    Object connection;
    int64_t n = 0;

    TRY(options(&c, &connection, err));
    TRY(dml_open(&c.dml, r, "COPY into", err));
    TRY(copy_columns(&c.dml, &c.columns, err));
    TRY(dml_finish(&c.dml, with_store(&c, connection.id, &n, err), err));
    dml_tag(rows, "COPY", n);
    return OK;
}
