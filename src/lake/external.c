/* SPDX-License-Identifier: Apache-2.0 */
/* external.c - tables of the Glue catalog that are not Iceberg: what they are made of.
 *
 * The definition is the relation's extra "glue", in the shape of Glue's TableInput.  Files are listed below the table's location, or below that of
 * each partition: those registered (documents DOC_PARTITION), or, when none are, the folders key=value themselves.
 * Invariants: (1) every file that is read was asked for; (2) the snapshot's id changes when a file comes, goes or changes, or the
 * definition does. */
#include "lake/external_int.h"

enum { FILES_MAX = 20000, PARTITIONS_MAX = 20000 };
#define FINGERPRINT_MASK 0x1FFFFFFFFFFFFFll            /* below 2^53: clients read ids as doubles */

typedef struct Found { Lake *l; Arena *a; const LakeRights *rights; LakeExternal *ext; const Json *def; Str location; Error *err; } Found;

/* ---- formats -------------------------------------------------------------------------------------------------------------- */

static const struct { const char *serde; ExternalFormat format; } serdes[] = {
    { "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", EXT_PARQUET }, { "parquet.hive.serde.ParquetHiveSerDe", EXT_PARQUET },
    { "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", EXT_TEXT }, { "org.apache.hadoop.hive.serde2.OpenCSVSerde", EXT_CSV },
    { "org.openx.data.jsonserde.JsonSerDe", EXT_JSON }, { "org.apache.hive.hcatalog.data.JsonSerDe", EXT_JSON },
    { "org.apache.hadoop.hive.serde2.JsonSerDe", EXT_JSON },
};

static Status not_read(Str what, Error *err)
{
    return FAIL(err, E_UNSUPPORTED, "tables of " STR_FMT " cannot be read here: Iceberg, Parquet, CSV and JSON can", STR_ARG(what));
}

/* Formats that only look like plain files. */
static Status check_kind(const Json *def, Error *err)
{
    static const struct { const char *word, *name; } inputs[] = {
        { "Hoodie", "Hudi" }, { "Symlink", "symlink manifests" }, { "Orc", "ORC" }, { "Avro", "Avro" }, { "Delta", "Delta Lake" }, { "SequenceFile", "sequence files" },
        { "RCFile", "RC files" },
    };
    const Json *params = json_get(def, "Parameters");
    Str input = json_get_str(json_get(def, "StorageDescriptor"), "InputFormat", (Str){0});
    Str type = json_get_str(params, "table_type", (Str){0}), provider = json_get_str(params, "spark.sql.sources.provider", (Str){0});

    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        if (str_find(input, str_c(inputs[i].word)) >= 0)
            return not_read(str_c(inputs[i].name), err);
    if (str_ieq(type, S("DELTA")) || str_ieq(provider, S("delta")))
        return not_read(S("Delta Lake"), err);
    if (str_ieq(type, S("HUDI")) || str_ieq(provider, S("hudi")))
        return not_read(S("Hudi"), err);
    return OK;
}

static Status format_of(const Json *def, ExternalFormat *ret, Error *err)
{
    const Json *serde = json_get(json_get(def, "StorageDescriptor"), "SerdeInfo");
    Str library = json_get_str(serde, "SerializationLibrary", (Str){0}), class = json_get_str(json_get(def, "Parameters"), "classification", (Str){0});

    TRY(check_kind(def, err));
    for (size_t i = 0; i < COUNT_OF(serdes); i++)
        if (str_eq(library, str_c(serdes[i].serde))) {
            *ret = serdes[i].format;
            return OK;
        }
    if (library.n > 0)
        return not_read(library, err);
    *ret = str_ieq(class, S("json")) ? EXT_JSON : str_ieq(class, S("csv")) ? EXT_CSV : EXT_PARQUET;
    return str_ieq(class, S("json")) || str_ieq(class, S("csv")) || str_ieq(class, S("parquet")) ? OK
         : FAIL(err, E_UNSUPPORTED, "the table says nothing of its files' format: StorageDescriptor.SerdeInfo is empty");
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

static Status add_fields(Arena *a, const Json *columns, int32_t *next, IceSchema *s, Error *err)
{
    for (size_t i = 0; i < json_len(columns); i++) {
        const Json *col = json_at(columns, i);
        IceField f = { .id = (*next)++, .name = json_get_str(col, "Name", (Str){0}), .doc = json_get_str(col, "Comment", (Str){0}) };
        f.has_doc = f.doc.n > 0;
        TRY_CTX(hive_type_parse(a, json_get_str(col, "Type", S("string")), next, &f.type, err), err, "column '" STR_FMT "'", STR_ARG(f.name));
        vec_push(a, &s->fields, f);
    }
    return OK;
}

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

/* Names that begin with '_' or '.' are markers and metadata, not data. */
static bool is_data(Str key)
{
    ptrdiff_t slash = str_rchr(key, '/');
    Str name = slash < 0 ? key : str_from(key, (size_t)slash + 1);
    return name.n > 0 && name.p[0] != '_' && name.p[0] != '.';
}

static Status may(const Found *f, LakeMay what, Str bucket, Str key)
{
    return f->rights ? f->rights->may(f->rights->ctx, f->a, what, bucket, key, f->err) : OK;
}

static Status list_below(const Found *f, Str folder, ObjectInfos *ret)
{
    Location l = {0};

    TRY(store_parse_location(f->a, folder, &l, f->err));
    if (l.file)
        return FAIL(f->err, E_DENIED, "an external table cannot lie at a file: location: '" STR_FMT "'", STR_ARG(folder));
    Str prefix = l.key.n > 0 && !str_ends(l.key, S("/")) ? str_cat(f->a, l.key, S("/")) : l.key;
    TRY(may(f, LAKE_MAY_LIST, l.bucket, prefix));
    Status s = store_list_all(f->l->store, f->a, store_s3_uri(f->a, l.bucket, prefix), ret, f->err);
    if (s == E_NOT_FOUND)
        return FAIL(f->err, E_INVALID, "the table's bucket '" STR_FMT "' does not exist", STR_ARG(l.bucket));
    return s;
}

static Status add_file(const Found *f, const ObjectInfo *o, size_t partition)
{
    ExternalFile file = { store_s3_uri(f->a, o->bucket, o->key), o->etag, o->size, partition };

    if (f->ext->files.n >= FILES_MAX)
        return FAIL(f->err, E_LIMIT, "the table has more than %d files", FILES_MAX);
    TRY(may(f, LAKE_MAY_READ, o->bucket, o->key));     /* (1) */
    vec_push(f->a, &f->ext->files, file);
    return OK;
}

static Status add_folder(const Found *f, Str folder, size_t partition)
{
    ObjectInfos objects = {0};

    TRY(list_below(f, folder, &objects));
    for vec_each(ObjectInfo, o, &objects)
        if (is_data(o->key) && o->size > 0)
            TRY(add_file(f, o, partition));
    return OK;
}

/* ---- partitions ------------------------------------------------------------------------------------------------------------------ */

static Str default_folder(const Found *f, const Json *keys, const StrVec *values)
{
    StrBuf b = sb_new(f->a);

    sb_add(&b, f->location);
    for (size_t i = 0; i < json_len(keys); i++)
        sb_fmt(&b, "/" STR_FMT "=" STR_FMT, STR_ARG(json_get_str(json_at(keys, i), "Name", (Str){0})), STR_ARG(url_encode(f->a, values->p[i], 0)));
    return sb_str(&b);
}

static Status registered(const Found *f, const Json *doc)
{
    const Json *input = json_get(doc, "input"), *values = json_get(input, "Values"), *keys = json_get(f->def, "PartitionKeys");
    Str folder = json_get_str(json_get(input, "StorageDescriptor"), "Location", (Str){0});
    Str library = json_get_str(json_get(json_get(input, "StorageDescriptor"), "SerdeInfo"), "SerializationLibrary", (Str){0});
    Str own = json_get_str(json_get(json_get(f->def, "StorageDescriptor"), "SerdeInfo"), "SerializationLibrary", (Str){0});
    StrVec v = {0};

    if (json_len(values) != json_len(keys))
        return FAIL(f->err, E_INVALID, "a partition has %zu values, the table %zu partition keys", json_len(values), json_len(keys));
    if (library.n > 0 && !str_eq(library, own))
        return FAIL(f->err, E_UNSUPPORTED, "a partition is of another format than its table: " STR_FMT, STR_ARG(library));
    for (size_t i = 0; i < json_len(values); i++)
        vec_push(f->a, &v, json_at(values, i)->string);
    vec_push(f->a, &f->ext->partitions, v);
    return add_folder(f, folder.n > 0 ? folder : default_folder(f, keys, &v), f->ext->partitions.n - 1);
}

/* "k=v/k2=v2/" at the start of what follows the location; false: the file is in no partition. */
static bool path_values(Arena *a, Str rest, const Json *keys, StrVec *ret)
{
    Error bad;

    while (rest.n > 0 && rest.p[0] == '/')
        rest = str_from(rest, 1);
    for (size_t i = 0; i < json_len(keys); i++) {
        Str segment, name, value, decoded;
        if (!str_cut(rest, '/', &segment, &rest) || !str_cut(segment, '=', &name, &value) || !str_ieq(name, json_get_str(json_at(keys, i), "Name", (Str){0})))
            return false;
        if (url_decode(a, value, 0, &decoded, &bad) != OK)
            return false;
        vec_push(a, ret, decoded);
    }
    return true;
}

static Status by_path(const Found *f)
{
    const Json *keys = json_get(f->def, "PartitionKeys");
    Map known = map_new(f->a);
    ObjectInfos objects = {0};
    Location l = {0};

    TRY(list_below(f, f->location, &objects));
    TRY(store_parse_location(f->a, f->location, &l, f->err));
    for vec_each(ObjectInfo, o, &objects) {
        StrVec v = {0};
        if (!is_data(o->key) || o->size == 0 || !path_values(f->a, str_from(o->key, l.key.n), keys, &v))
            continue;
        Str key = str_join(f->a, &v, S("\x01"));
        size_t *at = map_get(&known, key);
        if (!at) {
            if (f->ext->partitions.n >= PARTITIONS_MAX)
                return FAIL(f->err, E_LIMIT, "the table has more than %d partitions", PARTITIONS_MAX);
            at = arena_new(f->a, size_t);
            *at = f->ext->partitions.n;
            vec_push(f->a, &f->ext->partitions, v);
            map_put(&known, key, at);
        }
        TRY(add_file(f, o, *at));
    }
    return OK;
}

static Status find_files(const Found *f, int64_t relation_id)
{
    CatDocs docs = {0};

    if (!json_len(json_get(f->def, "PartitionKeys"))) {
        StrVec none = {0};
        vec_push(f->a, &f->ext->partitions, none);
        return add_folder(f, f->location, 0);
    }
    TRY(cat_doc_list(f->l->catalog, f->a, S(DOC_PARTITION), str_fmt(f->a, "%lld/", (long long)relation_id), &docs, f->err));
    if (docs.n > PARTITIONS_MAX)
        return FAIL(f->err, E_LIMIT, "the table has more than %d partitions", PARTITIONS_MAX);
    for vec_each(CatDoc, d, &docs)
        TRY(registered(f, d->value));
    return docs.n > 0 ? OK : by_path(f);
}

/* ---- the made-up metadata ------------------------------------------------------------------------------------------------------------ */

/* What of the definition decides which rows there are: not its description, not what other engines note in its parameters. */
static void definition_text(const Found *f, StrBuf *b)
{
    static const char *const read[] = { "classification", "skip.header.line.count" };

    sb_add(b, json_text(f->a, json_get(f->def, "StorageDescriptor")));
    if (json_get(f->def, "PartitionKeys"))
        sb_add(b, json_text(f->a, json_get(f->def, "PartitionKeys")));
    for (size_t i = 0; i < COUNT_OF(read); i++)
        sb_fmt(b, "\n" STR_FMT, STR_ARG(json_get_str(json_get(f->def, "Parameters"), read[i], (Str){0})));
}

static int64_t fingerprint(const Found *f)
{
    StrBuf b = sb_new(f->a);
    uint64_t n = 0;

    definition_text(f, &b);
    for vec_each(ExternalFile, file, &f->ext->files)
        sb_fmt(&b, "\n" STR_FMT " %lld " STR_FMT " " STR_FMT, STR_ARG(file->uri), (long long)file->size, STR_ARG(file->etag),
               STR_ARG(str_join(f->a, (StrVec *)&f->ext->partitions.p[file->partition], S("\x01"))));
    Str hash = hash_bytes(f->a, HASH_SHA256, sb_str(&b));
    for (size_t i = 0; i < 8; i++)
        n = n << 8 | (unsigned char)hash.p[i];
    int64_t id = (int64_t)(n & FINGERPRINT_MASK);
    return id ? id : 1;
}

static IceMetadata *made_up(const Found *f, const CatRelation *r, IceSchema *schema)
{
    IceMetadata *m = arena_new(f->a, IceMetadata);
    IceSnapshot *s = arena_new(f->a, IceSnapshot);
    IceSpec *spec = arena_new(f->a, IceSpec);

    *s = (IceSnapshot){ .id = fingerprint(f), .timestamp_ms = r->updated_ms, .schema_id = SOME_I32(0), .operation = S("append") };
    *m = (IceMetadata){ .format_version = 2, .uuid = r->uuid, .location = f->location, .last_updated_ms = r->updated_ms, .current_snapshot_id = SOME_I64(s->id) };
    vec_push(f->a, &m->schemas, schema);
    vec_push(f->a, &m->specs, spec);
    vec_push(f->a, &m->snapshots, s);
    return m;
}

static Status open_found(Found *f, const CatRelation *r, LakeTable *ret)
{
    const Json *sd = json_get(f->def, "StorageDescriptor");
    IceSchema *schema = arena_new(f->a, IceSchema);
    int32_t next = 1;

    if (str_ieq(json_get_str(f->def, "TableType", (Str){0}), S("VIRTUAL_VIEW")))
        return FAIL(f->err, E_UNSUPPORTED, "it is a view of the Glue catalog");
    TRY(format_of(f->def, &f->ext->format, f->err));
    TRY(add_fields(f->a, json_get(sd, "Columns"), &next, schema, f->err));
    f->ext->ncolumns = schema->fields.n;
    TRY(add_fields(f->a, json_get(f->def, "PartitionKeys"), &next, schema, f->err));
    f->location = json_get_str(sd, "Location", (Str){0});
    while (f->location.n > 1 && f->location.p[f->location.n - 1] == '/')
        f->location.n--;
    if (!schema->fields.n || !f->location.n)
        return FAIL(f->err, E_INVALID, "the table has no %s", schema->fields.n ? "location" : "columns");
    f->ext->serde = json_get(json_get(sd, "SerdeInfo"), "Parameters");
    f->ext->parameters = json_get(f->def, "Parameters");
    TRY(find_files(f, r->id));
    ret->meta = made_up(f, r, schema);
    ret->external = f->ext;
    return OK;
}

Status lake_open_external(Lake *l, Arena *a, const CatRelation *r, const LakeRights *rights, LakeTable *ret, Error *err)
{
    Found f = { .l = l, .a = a, .rights = rights, .ext = arena_new(a, LakeExternal), .def = json_get(r->extra, "glue"), .err = err };

    *ret = (LakeTable){ .relation = *r };
    TRY_CTX(open_found(&f, r, ret), err, "table " STR_FMT "." STR_FMT, STR_ARG(r->namespace), STR_ARG(r->name));
    return OK;
}

Status lake_external_schema(Arena *a, const CatRelation *r, IceSchema **ret, Error *err)
{
    const Json *def = json_get(r->extra, "glue");
    int32_t next = 1;

    *ret = arena_new(a, IceSchema);
    TRY(add_fields(a, json_get(json_get(def, "StorageDescriptor"), "Columns"), &next, *ret, err));
    return add_fields(a, json_get(def, "PartitionKeys"), &next, *ret, err);
}

Str lake_source_type(const LakeTable *t)
{
    if (!t->external)
        return S("ICEBERG");
    return t->external->format == EXT_PARQUET ? S("HIVE_PARQUET") : t->external->format == EXT_JSON ? S("HIVE_JSON") : S("HIVE_CSV");
}
