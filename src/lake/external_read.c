/* SPDX-License-Identifier: Apache-2.0 */
/* external_read.c - files of an external table as engine text.
 *
 * Parquet and JSON go by name, whatever the case, and columns that no file has are null; CSV goes by position and is read as text, then cast: what does not
 * read as its column's type is null, as in Hive.  Partition values come from a list of files joined by the file's name; files of partitions that
 * surely hold no wanted row are left out. */
#include "lake/external_int.h"

#define FILE_COLUMN "__firn_file"

typedef struct Reader { Lake *l; Arena *a; DuckConn *c; const LakeTable *t; const LakeExternal *ext; const IceSchema *schema; BoundColumns columns; const IcePredicates *where; StrVec locals; VEC(size_t) partitions; int64_t bytes; } Reader;      /* partitions: of the locals */

static Str serde(const Reader *r, const char *key, Str fallback) { return json_get_str(r->ext->serde, key, fallback); }

static bool bare(const Reader *r, size_t column)
{
    IceTypeKind k = r->schema->fields.p[column].type->kind;
    return k != ICE_STRUCT && k != ICE_LIST && k != ICE_MAP;
}

/* ---- what the engine reads -------------------------------------------------------------------------------------------------- */

static bool compares(IcePredOp op, int order)
{
    switch (op) {
    case PRED_EQ: case PRED_IN: return order == 0;
    case PRED_LT: return order < 0;
    case PRED_LE: return order <= 0;
    case PRED_GT: return order > 0;
    case PRED_GE: return order >= 0;
    default: return true;
    }
}

/* Only types whose texts the engine reads just as we do. */
static bool may_hold(const Reader *r, const IceField *key, Str text, const IcePredicate *p)
{
    IceTypeKind k = key->type->kind;
    IceValue v = {0};

    if (k != ICE_INT && k != ICE_LONG && k != ICE_DATE && k != ICE_STRING)
        return true;
    if (p->op == PRED_IS_NULL || p->op == PRED_NOT_NULL || p->op == PRED_STARTS || p->op == PRED_NE || !lake_value_parse(r->a, key->type, text, &v))
        return true;
    for (size_t i = 0; i < p->n; i++)
        if (p->values[i].kind != v.kind || compares(p->op, ice_value_cmp(&v, &p->values[i])))
            return true;
    return p->n == 0;
}

static bool wanted(const Reader *r, size_t partition)
{
    const StrVec *values = (const StrVec *)&r->ext->partitions.p[partition];

    for (size_t i = 0; r->where && i < r->where->n; i++)
        for (size_t k = 0; k < values->n; k++) {
            const IceField *key = &r->schema->fields.p[r->ext->ncolumns + k];
            if (key->id == r->where->p[i].field_id && !may_hold(r, key, values->p[k], &r->where->p[i]))
                return false;
        }
    return true;
}

static Status local_files(Reader *r, Error *err)
{
    for vec_each(ExternalFile, f, &((LakeExternal *)r->ext)->files) {
        Str local;
        if (!wanted(r, f->partition))
            continue;
        vec_push(r->a, &r->partitions, f->partition);
        TRY(store_local_path(r->l->store, r->a, f->uri, &local, err));
        vec_push(r->a, &r->locals, local);
        r->bytes += f->size;
    }
    return OK;
}

static void file_list(const Reader *r, StrBuf *b)
{
    sb_byte(b, '[');
    for (size_t i = 0; i < r->locals.n; i++) {
        sb_addc(b, i ? ", " : "");
        sql_lit(b, r->locals.p[i]);
    }
    sb_byte(b, ']');
}

/* By the ending of the names; files of one table are packed alike. */
static Status compression(const Reader *r, const char **ret, Error *err)
{
    static const struct { const char *end, *name; } kinds[] = { { ".gz", "gzip" }, { ".zst", "zstd" }, { ".bz2", NULL }, { ".snappy", NULL }, { ".lz4", NULL }, { "", "uncompressed" } };

    *ret = NULL;
    for (size_t i = 0; i < r->ext->files.n; i++) {
        size_t k = 0;
        while (!str_ends(r->ext->files.p[i].uri, str_c(kinds[k].end)))
            k++;
        if (!kinds[k].name)
            return FAIL(err, E_UNSUPPORTED, "'" STR_FMT "': text files can be packed by gzip or zstd", STR_ARG(r->ext->files.p[i].uri));
        if (*ret && strcmp(*ret, kinds[k].name) != 0)
            return FAIL(err, E_UNSUPPORTED, "the table's files are packed in different ways");
        *ret = kinds[k].name;
    }
    return OK;
}

static void option(StrBuf *b, const char *name, Str value)
{
    sb_fmt(b, ", %s = ", name);
    sql_lit(b, value);
}

/* "\001", "\t", "," … as SerDe parameters spell them. */
static Str separator(const Reader *r, Str s)
{
    int64_t code;

    if (str_eq(s, S("\\t")))
        return S("\t");
    if (str_starts(s, S("\\u")) && s.n == 6 && s.p[2] == '0' && s.p[3] == '0') {
        Str byte;
        if (hex_decode(r->a, str_from(s, 4), &byte))
            return byte;
    }
    if (s.n > 1 && s.p[0] == '\\' && str_to_i64(str_from(s, 1), &code) && code >= 0 && code < 128)
        return str_fmt(r->a, "%c", (char)code);
    return s;
}

static int64_t skipped_lines(const Reader *r)
{
    int64_t n = 0;
    Str text = json_get_str(r->ext->parameters, "skip.header.line.count", serde(r, "skip.header.line.count", S("0")));
    return str_to_i64(text, &n) && n > 0 && n < 1000 ? n : 0;
}

static Status csv_reader(const Reader *r, StrBuf *b, Error *err)
{
    bool quoted = r->ext->format == EXT_CSV;
    Str delim = quoted ? serde(r, "separatorChar", S(",")) : serde(r, "field.delim", serde(r, "serialization.format", S("\x01")));
    const char *packed;

    TRY(compression(r, &packed, err));
    delim = str_eq(delim, S("1")) ? S("\x01") : separator(r, delim);
    if (delim.n != 1)
        return FAIL(err, E_UNSUPPORTED, "fields are divided by '" STR_FMT "': one character is supported", STR_ARG(delim));
    sb_addc(b, "read_csv(");
    file_list(r, b);
    sb_addc(b, ", header = false, auto_detect = false, null_padding = true, strict_mode = false, hive_partitioning = false, filename = '" FILE_COLUMN "', columns = {");
    for (size_t i = 0; i < r->ext->ncolumns; i++)
        sb_fmt(b, "%s'c%zu': 'VARCHAR'", i ? ", " : "", i);
    sb_fmt(b, "}, skip = %lld", (long long)skipped_lines(r));
    option(b, "delim", delim);
    option(b, "quote", quoted ? separator(r, serde(r, "quoteChar", S("\""))) : (Str){0});
    option(b, "escape", quoted ? separator(r, serde(r, "escapeChar", S("\\"))) : (Str){0});
    option(b, "compression", str_c(packed));
    if (!quoted)
        option(b, "nullstr", serde(r, "serialization.null.format", S("\\N")));
    sb_byte(b, ')');
    return OK;
}

static void parquet_reader(const Reader *r, StrBuf *b)
{
    sb_addc(b, "read_parquet(");
    file_list(r, b);
    sb_addc(b, ", hive_partitioning = false, union_by_name = true, filename = '" FILE_COLUMN "')");
}

static Status json_reader(const Reader *r, StrBuf *b, Str columns, Error *err)
{
    const char *packed;

    TRY(compression(r, &packed, err));
    sb_addc(b, "read_json(");
    file_list(r, b);
    sb_addc(b, ", format = 'newline_delimited', hive_partitioning = false, union_by_name = true, filename = '" FILE_COLUMN "'");
    option(b, "compression", str_c(packed));
    if (str_ieq(serde(r, "ignore.malformed.json", (Str){0}), S("true")))
        sb_addc(b, ", ignore_errors = true");
    sb_add(b, columns);
    sb_byte(b, ')');
    return OK;
}

/* ---- columns ---------------------------------------------------------------------------------------------------------------------- */

static Status type_sql(const Reader *r, size_t column, Str *ret, Error *err)
{
    DataType t;
    TRY_CTX(lake_type(r->a, r->schema->fields.p[column].type, &t, err), err, "column '" STR_FMT "'", STR_ARG(r->schema->fields.p[column].name));
    *ret = data_type_sql(r->a, &t);
    return OK;
}

/* openx's SerDe: "mapping.<column>" is the key in the file. */
static Str key_of(const Reader *r, Str column)
{
    Str key = serde(r, str_fmt(r->a, "mapping." STR_FMT, STR_ARG(column)).p, (Str){0});
    return key.n > 0 ? key : column;
}

/* A second look with the types that the table says: the first one gives the keys' spelling. */
static Status typed_json(const Reader *r, StrBuf *b, DuckColumns *have, Error *err)
{
    StrBuf untyped = sb_new(r->a), columns = sb_new(r->a);
    size_t n = 0;

    TRY(json_reader(r, &untyped, (Str){0}, err));
    TRY(duck_describe(r->c, r->a, str_cat(r->a, S("SELECT * FROM "), sb_str(&untyped)), have, err));
    sb_addc(&columns, ", columns = {");
    for (size_t i = 0; i < r->ext->ncolumns; i++) {
        const DuckColumn *there = duck_column_named(have, key_of(r, r->schema->fields.p[i].name));
        Str type;
        if (!there)
            continue;
        TRY(type_sql(r, i, &type, err));
        sb_addc(&columns, n++ ? ", " : "");
        sql_lit(&columns, there->name);
        sb_addc(&columns, ": ");
        sql_lit(&columns, type);
    }
    sb_byte(&columns, '}');
    return json_reader(r, b, n > 0 ? sb_str(&columns) : (Str){0}, err);
}

static Status reader(const Reader *r, StrBuf *b, DuckColumns *have, Error *err)
{
    if (r->ext->format == EXT_TEXT || r->ext->format == EXT_CSV)
        return csv_reader(r, b, err);
    if (r->ext->format == EXT_JSON)
        return typed_json(r, b, have, err);
    parquet_reader(r, b);
    return duck_describe(r->c, r->a, str_cat(r->a, S("SELECT * FROM "), sb_str(b)), have, err);
}

static void cast(StrBuf *b, const char *how, Str what, Str type)
{
    sb_fmt(b, "%s(", how);
    sb_add(b, what);
    sb_fmt(b, " AS " STR_FMT ")", STR_ARG(type));
}

static Status column(const Reader *r, StrBuf *b, size_t i, const DuckColumns *have, Error *err)
{
    bool text = r->ext->format == EXT_TEXT || r->ext->format == EXT_CSV;
    Str name = r->schema->fields.p[i].name, type;

    TRY(type_sql(r, i, &type, err));
    if (text && !bare(r, i))
        return FAIL(err, E_UNSUPPORTED, "column '" STR_FMT "': arrays, maps and structures in CSV cannot be read", STR_ARG(name));
    if (text) {
        cast(b, "TRY_CAST", str_fmt(r->a, "f.c%zu", i), type);
        return OK;
    }
    const DuckColumn *there = duck_column_named(have, r->ext->format == EXT_JSON ? key_of(r, name) : name);
    cast(b, "CAST", there ? str_cat(r->a, S("f."), sql_ident_str(r->a, there->name)) : S("NULL"), type);
    return OK;
}

/* Values are text; Hive's name for null is null. */
static Status key_column(const Reader *r, StrBuf *b, size_t i, Error *err)
{
    Str type;
    TRY(type_sql(r, i, &type, err));
    cast(b, "TRY_CAST", str_fmt(r->a, "NULLIF(p.k%zu, '__HIVE_DEFAULT_PARTITION__')", i - r->ext->ncolumns), type);
    return OK;
}

/* (file, k0, k1 …) of every file. */
static void partition_list(const Reader *r, StrBuf *b, size_t nkeys)
{
    sb_addc(b, " JOIN (VALUES ");
    for (size_t i = 0; i < r->locals.n; i++) {
        const StrVec *v = (const StrVec *)&r->ext->partitions.p[r->partitions.p[i]];
        sb_addc(b, i ? ", (" : "(");
        sql_lit(b, r->locals.p[i]);
        for (size_t k = 0; k < nkeys; k++) {
            sb_addc(b, ", ");
            sql_lit(b, v->p[k]);
        }
        sb_byte(b, ')');
    }
    sb_addc(b, ") AS p(file");
    for (size_t k = 0; k < nkeys; k++)
        sb_fmt(b, ", k%zu", k);
    sb_addc(b, ") ON f." FILE_COLUMN " = p.file");
}

/* ---- whole ---------------------------------------------------------------------------------------------------------------------------- */

static Status no_rows(const Reader *r, StrBuf *b, Error *err)
{
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < r->schema->fields.n; i++) {
        Str type;
        TRY(type_sql(r, i, &type, err));
        sb_addc(b, i ? ", " : "");
        cast(b, "CAST", S("NULL"), type);
        sb_addc(b, " AS ");
        sql_ident(b, r->columns.p[i].engine);
    }
    sb_addc(b, " WHERE false");
    return OK;
}

static Status select_list(const Reader *r, StrBuf *b, const DuckColumns *have, Error *err)
{
    sb_addc(b, "SELECT ");
    for (size_t i = 0; i < r->schema->fields.n; i++) {
        sb_addc(b, i ? ", " : "");
        TRY(i < r->ext->ncolumns ? column(r, b, i, have, err) : key_column(r, b, i, err));
        sb_addc(b, " AS ");
        sql_ident(b, r->columns.p[i].engine);
    }
    return OK;
}

static Status rows(Reader *r, StrBuf *b, Error *err)
{
    size_t nkeys = r->schema->fields.n - r->ext->ncolumns;
    StrBuf from = sb_new(r->a);
    DuckColumns have = {0};

    TRY_CTX(reader(r, &from, &have, err), err, "files of the table are not readable");
    TRY(select_list(r, b, &have, err));
    sb_fmt(b, " FROM " STR_FMT " AS f", STR_ARG(sb_str(&from)));
    if (nkeys > 0)
        partition_list(r, b, nkeys);
    return OK;
}

Status external_scan(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeScan *s, LakeRelation *ret, Error *err)
{
    Reader r = { .l = l, .a = a, .c = c, .t = t, .ext = t->external, .schema = s->schema, .where = s->where };
    StrBuf b = sb_new(a);

    TRY(lake_columns(a, s->schema, &r.columns, err));
    TRY(local_files(&r, err));
    TRY_CTX(r.locals.n > 0 ? rows(&r, &b, err) : no_rows(&r, &b, err), err, "table " STR_FMT "." STR_FMT, STR_ARG(t->relation.namespace), STR_ARG(t->relation.name));
    *ret = (LakeRelation){ .sql = sb_str(&b), .files = (int64_t)r.locals.n, .files_skipped = (int64_t)(r.ext->files.n - r.locals.n), .bytes = r.bytes };
    return OK;
}
