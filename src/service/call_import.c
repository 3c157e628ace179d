/* SPDX-License-Identifier: Apache-2.0 */
/* call_import.c - procedures that bring in what exists: register_table (a metadata file) and add_files (Parquet files).
 *
 * Files that lie in another table's storage are not added: that table's expiry would delete them from under this one. */
#include "service/call_int.h"

/* ---- register_table ---------------------------------------------------------------------------------------------------------------- */

static void summary_cell(Call *c, Value *row, size_t i, const IceSnapshot *s, Str key)
{
    int64_t n;
    if (s && str_to_i64(props_get(&s->summary, key, (Str){0}), &n))
        cell_int(c->rows, row, i, n);
}

Status call_register_table(Call *c, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(c->r, &ctx, "CALL register_table on");
    SvcName name = { c->name.catalog_id, c->name.namespace, c->name.name };
    SvcTable made;

    TRY(svc_table_register(&call, &name, call_arg(c, "metadata_file")->text, SVC_REGISTER_NEW, &made, err));
    const IceSnapshot *s = ice_current_snapshot(made.metadata);
    Value *row = rows_row(c->rows);
    if (s)
        cell_int(c->rows, row, 0, s->id);
    summary_cell(c, row, 1, s, S("total-records"));
    summary_cell(c, row, 2, s, S("total-data-files"));
    return OK;
}

/* ---- add_files: what lies there --------------------------------------------------------------------------------------------------------- */

/* `parquet`.`s3://bucket/folder` */
static Status source_of(Call *c, Str *ret, Error *err)
{
    Str text = call_arg(c, "source_table")->text;
    StrVec parts = {0};

    TRY_CTX(sql_parse_name(c->r->a, DIALECT_SPARK, text, &parts, err), err, "argument 'source_table'");
    if (parts.n != 2 || str_chr(parts.p[1], '/') < 0)
        return FAIL(err, E_UNSUPPORTED, "source_table must name files, as '`parquet`.`s3://bucket/folder`'; to copy a table use INSERT INTO … SELECT");
    if (!str_ieq(parts.p[0], S("parquet")))
        return FAIL(err, E_UNSUPPORTED, "files of format '" STR_FMT "' cannot be added: only parquet", STR_ARG(parts.p[0]));
    Location loc;
    TRY_CTX(store_parse_location(c->r->a, parts.p[1], &loc, err), err, "argument 'source_table'");
    *ret = loc.file ? parts.p[1] : store_s3_uri(c->r->a, loc.bucket, loc.key);
    while (ret->n && ret->p[ret->n - 1] == '/')
        ret->n--;
    return OK;
}

static bool is_hidden(Str rest)
{
    Str part, more = rest;
    while (more.n) {
        str_cut(more, '/', &part, &more);
        if (part.n && (part.p[0] == '_' || part.p[0] == '.') && str_chr(part, '=') < 0)
            return true;
    }
    return false;
}

/* Every k=v of the filter is a folder of the path. */
static bool in_partition(Call *c, Str rest)
{
    const Props *filter = &call_arg(c, "partition_filter")->map;
    StrVec parts = {0};

    str_split(c->r->a, rest, '/', &parts);
    for (size_t i = 0; i < filter->n; i++)
        if (!strvec_has(&parts, str_fmt(c->r->a, STR_FMT "=" STR_FMT, STR_ARG(filter->p[i].key), STR_ARG(filter->p[i].value))))
            return false;
    return true;
}

static Status may_take(Call *c, const ObjectInfo *o, Str uri, Error *err)
{
    Run *r = c->r;
    Ask ask = { .action = ACT_OBJECT_GET, .api = "CALL add_files from", .bucket = o->bucket, .key = o->key };
    CatRelation owner;
    Error ignored;

    TRY(access_check(r->svc->access, r->a, &r->ss->principal, &ask, err));
    if (cat_relation_by_location(r->svc->catalog, r->a, uri, &owner, &ignored) != OK || owner.id == c->table.relation.id)
        return OK;
    return FAIL(err, E_INVALID, "'" STR_FMT "' belongs to " STR_FMT "." STR_FMT ": its files come and go with that table; use INSERT INTO … SELECT", STR_ARG(uri), STR_ARG(owner.namespace), STR_ARG(owner.name));
}

static Status list_source(Call *c, Str *root, StrVec *ret, Error *err)
{
    Run *r = c->r;
    ObjectInfos found = {0};
    ObjectInfo one;
    Error ignored;

    if (store_stat(r->svc->store, r->a, *root, &one, &ignored) == OK) {
        TRY(may_take(c, &one, *root, err));
        vec_push(r->a, ret, *root);
        *root = str_sub(*root, 0, (size_t)max_i64(0, str_rchr(*root, '/')));
        return OK;
    }
    TRY(store_list_all(r->svc->store, r->a, str_cat(r->a, *root, S("/")), &found, err));
    for (size_t i = 0; i < found.n; i++) {
        Str uri = store_s3_uri(r->a, found.p[i].bucket, found.p[i].key), rest = str_from(uri, min_size(root->n, uri.n));
        if (!found.p[i].size || is_hidden(rest) || !in_partition(c, rest))
            continue;
        TRY(may_take(c, &found.p[i], uri, err));
        vec_push(r->a, ret, uri);
    }
    return OK;
}

Status call_add_files(Call *c, Error *err)
{
    const Arg *check = call_arg(c, "check_duplicate_files");
    LakeAddMode mode = check->has && !check->number ? ADD_ANYWAY : ADD_CHECK_DUPLICATES;
    StrVec files = {0};
    int64_t n[2];
    Str root;

    TRY(source_of(c, &root, err));
    TRY(list_source(c, &root, &files, err));
    TRY(lake_add_files(c->r->svc->lake, c->r->a, c->r->c, &c->table, root, &files, mode, &n[0], &n[1], err));
    call_row(c, n, 2);
    return OK;
}
