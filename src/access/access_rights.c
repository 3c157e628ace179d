/* SPDX-License-Identifier: Apache-2.0 */
/* access_rights.c - what a question is in IAM's words: actions and ARNs, all of which must be allowed.
 *
 * Relations of the account's catalog are Glue's: an action is asked on the catalog, the database and the table, as Glue does.  Relations of table buckets are
 * S3 Tables': one ARN, with the policies of the table and of its bucket.  Objects and buckets are S3's, with the bucket's policy; objects of a table bucket,
 * and what is reached by credentials vended for a table, are asked as the table's data.  SQL reads and writes files for its caller, who
 * needs s3:GetObject and s3:PutObject on them as well (Ask.storage). */
#include "access/iam_int.h"

typedef struct Rights {
    Access *x;
    Arena *a;
    const Principal *p;
    const Ask *ask;
    const CatRelation *r;              /* NULL: a namespace, a name to come, or no relation at all */
    Str catalog, namespace, name;
    Str table_bucket;                  /* "" the account's catalog */
    Props context;
} Rights;

/* ---- the subject ------------------------------------------------------------------------------------------------------------ */

static Str bucket_of_catalog(Str id)
{
    Str marker = S(":s3tablescatalog/");
    ptrdiff_t at = str_find(id, marker);
    return at < 0 ? (Str){0} : str_from(id, (size_t)at + marker.n);
}

static void subject_of(Rights *q)
{
    const Ask *ask = q->ask;
    const CatRelation *r = q->r;

    q->catalog = r ? r->catalog : ask->catalog;
    q->namespace = r ? r->namespace : ask->namespace;
    q->name = r ? r->name : ask->name;
    q->table_bucket = bucket_of_catalog(q->catalog);
    for (size_t i = 0; ask->context && i < ask->context->n; i++)
        vec_push(q->a, &q->context, ask->context->p[i]);
}

static void add_context(Rights *q, const char *key, Str value) { vec_push(q->a, &q->context, ((KeyValue){ str_c(key), value })); }

static Str region(const Rights *q) { return cat_region(q->x->catalog); }
static Str account(const Rights *q) { return cat_account(q->x->catalog); }

/* ---- asking --------------------------------------------------------------------------------------------------------------------- */

static Status ask_iam(Rights *q, const char *action, Str resource, Str policy, Str policy_2, Error *err)
{
    IamAsk ask = { .action = action, .resource = resource, .resource_policy = policy, .resource_policy_2 = policy_2, .context = &q->context };
    return q->ask->quiet ? iam_allowed_quietly(q->x, q->a, q->p, &ask, err) : iam_allowed(q->x, q->a, q->p, &ask, err);
}

static bool is_root(const Rights *q) { return q->p->kind == PR_ROOT && !q->p->session; }

/* ---- Glue -------------------------------------------------------------------------------------------------------------------------- */

static Str glue_arn(const Rights *q, const char *what, Str path)
{
    StrBuf b = sb_new(q->a);
    bool more = q->table_bucket.n > 0 || path.n > 0;

    sb_fmt(&b, "arn:aws:glue:" STR_FMT ":" STR_FMT ":%s", STR_ARG(region(q)), STR_ARG(account(q)), what);
    if (more)
        sb_byte(&b, '/');
    if (q->table_bucket.n)
        sb_fmt(&b, "s3tablescatalog/" STR_FMT "%s", STR_ARG(q->table_bucket), path.n ? "/" : "");
    sb_add(&b, path);
    return sb_str(&b);
}

/* The table comes first: it is what a refusal should name. */
static Status ask_glue(Rights *q, const char *action, Error *err)
{
    Str none = {0}, ns = cat_display_name(q->a, q->namespace, none);

    if (is_root(q))
        return OK;
    if (q->name.n)
        TRY(ask_iam(q, action, glue_arn(q, "table", str_fmt(q->a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(q->name))), none, none, err));
    if (ns.n)
        TRY(ask_iam(q, action, glue_arn(q, "database", ns), none, none, err));
    return ask_iam(q, action, glue_arn(q, "catalog", none), none, none, err);
}

static const char *glue_action(const Rights *q)
{
    bool namespace = q->namespace.n > 0;
    switch (q->ask->action) {
    case ACT_READ_METADATA: return q->name.n ? "glue:GetTable" : namespace ? "glue:GetDatabase" : "glue:GetDatabases";
    case ACT_READ_DATA: return "glue:GetTable";
    case ACT_REFRESH: return "glue:StartMaterializedViewRefreshTaskRun";
    case ACT_DROP: return "glue:DeleteTable";
    case ACT_CREATE: case ACT_REGISTER: return q->r ? "glue:UpdateTable" : "glue:CreateTable";
    case ACT_NAMESPACE_CREATE: return "glue:CreateDatabase";
    case ACT_NAMESPACE_ALTER: return "glue:UpdateDatabase";
    case ACT_NAMESPACE_DROP: return "glue:DeleteDatabase";
    default: return "glue:UpdateTable";
    }
}

/* ---- S3 ------------------------------------------------------------------------------------------------------------------------------ */

static Status bucket_policy(Rights *q, Str bucket, Str *ret, Error *err)
{
    *ret = (Str){0};
    return q->x->bucket_policy && bucket.n ? q->x->bucket_policy(q->x->bucket_ctx, q->a, bucket, ret, err) : OK;
}

static Status ask_s3(Rights *q, const char *action, Str bucket, Str key, Error *err)
{
    Str policy;
    Str arn = !bucket.n ? S("*") : key.n ? str_fmt(q->a, "arn:aws:s3:::" STR_FMT "/" STR_FMT, STR_ARG(bucket), STR_ARG(key)) : str_cat(q->a, S("arn:aws:s3:::"), bucket);

    TRY(bucket_policy(q, bucket, &policy, err));
    return ask_iam(q, action, arn, policy, (Str){0}, err);
}

static const char *s3_action(const Rights *q)
{
    if (strncmp(q->ask->api, "s3:", 3) == 0)
        return q->ask->api;
    switch (q->ask->action) {
    case ACT_OBJECT_GET: return "s3:GetObject";
    case ACT_OBJECT_LIST: return "s3:ListBucket";
    case ACT_OBJECT_DELETE: return "s3:DeleteObject";
    case ACT_BUCKET_CREATE: return "s3:CreateBucket";
    case ACT_BUCKET_DELETE: return "s3:DeleteBucket";
    case ACT_BUCKET_LIST: return "s3:ListAllMyBuckets";
    case ACT_BUCKET_CONFIG: return "s3:PutBucketConfiguration";
    default: return "s3:PutObject";
    }
}

/* A listing is of the bucket, its prefix a condition key; so is what lists versions and uploads. */
static Status ask_object(Rights *q, Error *err)
{
    const Ask *ask = q->ask;
    const char *action = ask->iam ? ask->iam : s3_action(q);
    bool lists = strncmp(action, "s3:ListBucket", strlen("s3:ListBucket")) == 0;

    if (lists && ask->key.n && !props_has(&q->context, S("s3:prefix")))
        add_context(q, "s3:prefix", ask->key);
    return ask_s3(q, action, ask->bucket, lists ? (Str){0} : ask->key, err);
}

/* The files of a relation, which firn touches for its caller. */
static Status ask_storage(Rights *q, Error *err)
{
    Str bucket, key, uri = q->r->location;

    if (!str_starts(uri, S("s3")) || str_find(uri, S("://")) < 0)
        return OK;
    str_cut(str_from(uri, (size_t)str_find(uri, S("://")) + 3), '/', &bucket, &key);
    while (key.n && key.p[key.n - 1] == '/')
        key.n--;
    Str all = key.n ? str_cat(q->a, key, S("/*")) : S("*");
    TRY(ask_s3(q, "s3:GetObject", bucket, all, err));
    return q->ask->action == ACT_WRITE_DATA ? ask_s3(q, "s3:PutObject", bucket, all, err) : OK;
}

/* ---- S3 Tables -------------------------------------------------------------------------------------------------------------------------- */

static Str tables_policy(Rights *q, Str arn)
{
    Json *doc;
    Error ignored;
    if (cat_doc_get(q->x->catalog, q->a, S("s3tables.policy"), arn, &doc, &ignored) != OK)
        return (Str){0};
    return json_is(doc, JSON_STRING) ? doc->string : json_get_str(doc, "policy", json_get_str(doc, "resourcePolicy", (Str){0}));
}

static Status ask_s3tables(Rights *q, const char *action, Error *err)
{
    Str bucket = str_fmt(q->a, "arn:aws:s3tables:" STR_FMT ":" STR_FMT ":bucket/" STR_FMT, STR_ARG(region(q)), STR_ARG(account(q)), STR_ARG(q->table_bucket));
    Str table = q->r ? cat_relation_arn(q->x->catalog, q->a, q->r) : bucket;

    if (q->namespace.n)
        add_context(q, "s3tables:namespace", cat_display_name(q->a, q->namespace, (Str){0}));
    if (q->name.n)
        add_context(q, "s3tables:tableName", q->name);
    return ask_iam(q, action, table, q->r ? tables_policy(q, table) : (Str){0}, tables_policy(q, bucket), err);
}

static const char *s3tables_action(const Rights *q)
{
    bool namespace = q->namespace.n > 0;
    switch (q->ask->action) {
    case ACT_READ_METADATA: return q->name.n ? "s3tables:GetTable" : namespace ? "s3tables:GetNamespace" : "s3tables:ListNamespaces";
    case ACT_READ_DATA: case ACT_OBJECT_GET: case ACT_OBJECT_LIST: return "s3tables:GetTableData";
    case ACT_WRITE_DATA: case ACT_OBJECT_PUT: case ACT_OBJECT_DELETE: return "s3tables:PutTableData";
    case ACT_DROP: return "s3tables:DeleteTable";
    case ACT_RENAME: return "s3tables:RenameTable";
    case ACT_CREATE: case ACT_REGISTER: return q->r ? "s3tables:UpdateTableMetadataLocation" : "s3tables:CreateTable";
    case ACT_NAMESPACE_CREATE: case ACT_NAMESPACE_ALTER: return "s3tables:CreateNamespace";
    case ACT_NAMESPACE_DROP: return "s3tables:DeleteNamespace";
    default: return "s3tables:UpdateTableMetadataLocation";
    }
}

/* ---- which of them --------------------------------------------------------------------------------------------------------------------- */

static bool is_object(Action act) { return act >= ACT_OBJECT_GET && act <= ACT_OBJECT_DELETE; }
static bool is_bucket(Action act) { return act >= ACT_BUCKET_CREATE && act <= ACT_BUCKET_LIST; }

/* The IAM action that the asker names: by `iam`, or by an api that is one. */
static const char *own_action(const Ask *ask)
{
    if (ask->iam)
        return ask->iam;
    return strncmp(ask->api, "glue:", 5) == 0 || strncmp(ask->api, "s3tables:", 9) == 0 ? ask->api : NULL;
}

static Status ask_relation(Rights *q, Error *err)
{
    const char *own = own_action(q->ask);

    if (own && strncmp(own, "glue:", 5) == 0)
        return ask_glue(q, own, err);
    if (q->table_bucket.n && q->ask->action == ACT_REFRESH)
        return ask_glue(q, glue_action(q), err);
    if (q->table_bucket.n)
        return ask_s3tables(q, own ? own : s3tables_action(q), err);
    if (own)
        return ask_iam(q, own, S("*"), (Str){0}, (Str){0}, err);
    TRY(ask_glue(q, glue_action(q), err));
    bool data = q->ask->action == ACT_READ_DATA || q->ask->action == ACT_WRITE_DATA;
    return q->r && q->r->kind != REL_VIEW && q->ask->storage && data && !is_root(q) ? ask_storage(q, err) : OK;
}

/* Data of a table: its own rights stand for its files. */
static Status ask_table_object(Rights *q, Error *err)
{
    bool read = q->ask->action == ACT_OBJECT_GET || q->ask->action == ACT_OBJECT_LIST;

    if (q->table_bucket.n)
        return ask_s3tables(q, s3tables_action(q), err);
    return ask_glue(q, read ? "glue:GetTable" : "glue:UpdateTable", err);
}

/* The table whose files a listing is of. */
static const CatRelation *listed(Rights *q, CatRelation *r)
{
    Error ignored;
    Str uri = str_fmt(q->a, "s3://" STR_FMT "/" STR_FMT, STR_ARG(q->ask->bucket), STR_ARG(q->ask->key));
    return cat_relation_by_location(q->x->catalog, q->a, uri, r, &ignored) == OK ? r : NULL;
}

static Status ask_objects(Rights *q, Error *err)
{
    CatRelation r = {0};

    if (!q->r && q->ask->action == ACT_OBJECT_LIST && (q->p->scope || str_ends(q->ask->bucket, S("--table-s3")))) {
        q->r = listed(q, &r);
        subject_of(q);
    }
    if (!q->r && q->p->scope && str_ends(q->ask->bucket, S("--table-s3")))      /* staged for a table to come: the scope was vended for it alone */
        return OK;
    return q->r && (q->table_bucket.n || q->p->scope) ? ask_table_object(q, err) : ask_object(q, err);
}

Status rights_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *relation, Error *err)
{
    Rights q = { .x = x, .a = a, .p = p, .ask = ask, .r = relation };

    subject_of(&q);
    if (is_object(ask->action))
        return ask_objects(&q, err);
    if (is_bucket(ask->action))
        return ask_object(&q, err);
    if (ask->action == ACT_ADMIN && !ask->iam)
        return ask_iam(&q, "firn:Administer", S("*"), (Str){0}, (Str){0}, err);
    return ask_relation(&q, err);
}
