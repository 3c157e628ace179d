/* SPDX-License-Identifier: Apache-2.0 */
/* glue_names.c - what an operation is about: catalog, database, table; and may the caller do it.
 *
 * As on AWS, IAM is asked for the catalog, the database and the table before anything is looked up, so a name that is not there and one
 * that is forbidden look the same to who has no rights.  Glue folds names to lower case; names that other doors made
 * with capitals are found by their exact spelling. */
#include "access/iam.h"
#include "door/glue/glue_int.h"

#define S3_CATALOG "s3tablescatalog"

bool glue_is_bucket(const GlueName *n) { return str_eq(n->w.kind, S("table_bucket")); }

Str glue_fold(AwsCall *c, Str name) { return str_lower(c->a, name); }

SvcName glue_svc_name(const GlueName *n) { return (SvcName){ n->w.id, n->db, n->table }; }

/* ---- catalogs ----------------------------------------------------------------------------------------------------------- */

static Status no_catalog(Str id, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Catalog " STR_FMT " not found.", STR_ARG(id));
}

static bool is_account_id(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n == 12;
}

static Status other_account(AwsCall *c, Str account, Error *err)
{
    return AWS_FAIL(err, E_DENIED, "AccessDeniedException", "User: " STR_FMT " is not authorized to perform: glue:%s on resource: arn:aws:glue:" STR_FMT ":" STR_FMT
                    ":catalog because no resource-based policy allows the glue:%s action", STR_ARG(c->who.arn), c->op->name, STR_ARG(cat_region(glue_catalog(c))),
                    STR_ARG(account), c->op->name);
}

/* "<account>", "<account>:s3tablescatalog/<bucket>", the same without the account, or a catalog's ARN. */
Status glue_warehouse(AwsCall *c, Str id, CatWarehouse *ret, Error *err)
{
    Str account = cat_account(glue_catalog(c)), arn = str_fmt(c->a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":catalog", STR_ARG(cat_region(glue_catalog(c))), STR_ARG(account));
    Str head = {0}, rest = {0}, asked = id;

    if (str_starts(id, arn))
        id = str_starts(str_from(id, arn.n), S("/")) ? str_from(id, arn.n + 1) : account;
    str_cut(id, ':', &head, &rest);
    if (is_account_id(head) && !str_eq(head, account))
        return other_account(c, head, err);
    if (str_starts(id, S(S3_CATALOG "/")))
        id = str_fmt(c->a, STR_FMT ":" STR_FMT, STR_ARG(account), STR_ARG(id));
    if (id.n > 0 && !str_starts(id, account))
        return no_catalog(asked, err);
    Status s = cat_warehouse_get(glue_catalog(c), c->a, id, ret, err);
    return s == E_NOT_FOUND ? no_catalog(asked, err) : s;
}

/* ---- ARNs and rights ------------------------------------------------------------------------------------------------------ */

Str glue_arn(AwsCall *c, const CatWarehouse *w, const char *what, Str db, Str name)
{
    StrBuf b = sb_new(c->a);
    Str account = cat_account(glue_catalog(c)), nested = str_eq(w->id, account) ? (Str){0} : str_from(w->id, account.n + 1);

    sb_fmt(&b, "arn:aws:glue:" STR_FMT ":" STR_FMT ":%s", STR_ARG(cat_region(glue_catalog(c))), STR_ARG(account), what);
    const Str parts[] = { nested, db, name };
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].n > 0)
            sb_fmt(&b, "/" STR_FMT, STR_ARG(parts[i]));
    return sb_str(&b);
}

Status glue_allow(AwsCall *c, Str resource, Error *err)
{
    IamAsk ask = { .action = str_fmt(c->a, "glue:%s", c->op->name).p, .resource = resource, .resource_policy = glue_policy_text(c, resource),
                   .resource_policy_2 = glue_policy_text(c, S("catalog")) };
    return iam_allowed(c->access, c->a, &c->who, &ask, err);
}

static Status allow(AwsCall *c, const GlueName *n, Error *err)
{
    TRY(glue_allow(c, glue_arn(c, &n->w, "catalog", (Str){0}, (Str){0}), err));
    if (n->db.n > 0)
        TRY(glue_allow(c, glue_arn(c, &n->w, "database", n->db, (Str){0}), err));
    if (n->table.n > 0)
        TRY(glue_allow(c, glue_arn(c, &n->w, "table", n->db, n->table), err));
    return OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------ */

static Str spelled_db(AwsCall *c, const CatWarehouse *w, Str db)
{
    CatNamespace ns = {0};
    Error absent;
    return cat_namespace_get(glue_catalog(c), c->a, w->id, db, &ns, &absent) == OK ? db : glue_fold(c, db);
}

static Str spelled_table(AwsCall *c, const GlueName *n, Str table)
{
    CatRelation r = {0};
    Error absent;
    return cat_relation_get(glue_catalog(c), c->a, n->w.id, n->db, table, &r, &absent) == OK ? table : glue_fold(c, table);
}

Status glue_name(AwsCall *c, Str db, Str table, GlueName *ret, Error *err)
{
    if (aws_has(c, "TransactionId") || aws_has(c, "QueryAsOfTime"))
        return FAIL(err, E_UNSUPPORTED, "governed tables and their transactions are not supported: leave TransactionId and QueryAsOfTime out");
    TRY(glue_warehouse(c, aws_str(c, "CatalogId"), &ret->w, err));
    ret->db = db.n > 0 ? spelled_db(c, &ret->w, db) : db;
    ret->table = table.n > 0 ? spelled_table(c, ret, table) : table;
    return allow(c, ret, err);
}

static Status find_database(AwsCall *c, const GlueName *n, CatNamespace *ns, Error *err)
{
    Status s = cat_namespace_get(glue_catalog(c), c->a, n->w.id, n->db, ns, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Database " STR_FMT " not found.", STR_ARG(n->db));
    return s;
}

Status glue_database(AwsCall *c, Str db, GlueName *ret, CatNamespace *ns, Error *err)
{
    TRY(glue_name(c, db, (Str){0}, ret, err));
    return find_database(c, ret, ns, err);
}

Status glue_no_table(Str name, Error *err)
{
    return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Table " STR_FMT " not found.", STR_ARG(name));
}

Status glue_find_table(AwsCall *c, GlueName *n, CatRelation *rel, Error *err)
{
    CatNamespace ns = {0};
    SvcCall call = glue_call(c);
    SvcName name = glue_svc_name(n);

    TRY(find_database(c, n, &ns, err));
    Status s = svc_relation_get(&call, &name, rel, err);
    return s == E_NOT_FOUND ? glue_no_table(n->table, err) : s;
}

Status glue_table(AwsCall *c, Str db, Str table, GlueName *ret, CatRelation *rel, Error *err)
{
    TRY(glue_name(c, db, table, ret, err));
    return glue_find_table(c, ret, rel, err);
}

/* ---- versions and errors ------------------------------------------------------------------------------------------------------ */

Status glue_version_given(AwsCall *c, const CatRelation *r, OptI64 *ret, Error *err)
{
    Str id = aws_str(c, "VersionId");
    int64_t n;

    *ret = (OptI64){0};
    if (id.n == 0)
        return OK;
    if (!str_eq(id, r->version_token) && !str_to_i64(id, &n) && str_find(r->catalog, S(":" S3_CATALOG "/")) < 0)
        return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not an integer.", STR_ARG(id));
    if (!str_eq(id, glue_version_id(c, r)))
        return AWS_FAIL(err, E_CONFLICT, "ConcurrentModificationException", "Update table failed due to concurrent modifications. VersionId " STR_FMT
                        " is not the table's: it is " STR_FMT " now", STR_ARG(id), STR_ARG(glue_version_id(c, r)));
    *ret = SOME_I64(r->version);
    return OK;
}

Json *glue_error_detail(AwsCall *c, const Error *err)
{
    const char *code = err->kind[0] ? err->kind : err->code < STATUS_COUNT && glue_service.code_of[err->code] ? glue_service.code_of[err->code] : "InvalidInputException";
    Json *o = json_object(c->a);

    json_set(c->a, o, "ErrorCode", json_str(c->a, str_dup(c->a, str_c(code))));
    json_set(c->a, o, "ErrorMessage", json_str(c->a, str_dup(c->a, str_c(err->message))));
    return o;
}
