/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_check.c - what grants allow: the permissions of a principal on a resource, and the answer to access_check.
 *
 * What counts for a table: grants on it, on its database's wildcard, and by tags.  Any permission on a table lets one see it, and its database.
 * Invariants: (1) a resource without a document, and what IAM_ALLOWED_PRINCIPALS has all on, is IAM's alone; (2) only a grant on the whole table
 * opens its files: who may see some columns reads through SQL; (3) S3 Tables' own operations are IAM's and resource policies' matter, as on AWS. */
#include "access/lakeformation_int.h"

void lf_identities(Access *x, Arena *a, const Principal *p, StrVec *ret)
{
    vec_push(a, ret, principal_owner(p));
    vec_push(a, ret, str_fmt(a, STR_FMT ":IAMPrincipals", STR_ARG(cat_account(x->catalog))));
    vec_push(a, ret, LF_EVERYBODY);
}

uint32_t lf_kind_bits(LfKind kind)
{
    switch (kind) {
    case LF_CATALOG: return LF_OF_CATALOG;
    case LF_DATABASE: return LF_OF_DATABASE;
    case LF_TABLE: return LF_OF_TABLE;
    case LF_COLUMNS: return LF_SELECT;
    case LF_LOCATION: return LF_DATA_LOCATION;
    case LF_TAG: return LF_OF_TAG;
    case LF_TAG_POLICY: return LF_OF_DATABASE | LF_OF_TABLE;
    }
    return 0;
}

uint32_t lf_expand(LfKind kind, uint32_t bits)
{
    return bits & (LF_ALL | LF_SUPER) ? bits | lf_kind_bits(kind) : bits;
}

/* ---- by tags ------------------------------------------------------------------------------------------------------------ */

static bool policy_speaks(const LfDoc *d, const StrVec *who)
{
    for vec_each(LfEntry, e, &d->entries)
        if (strvec_has(who, e->principal))
            return true;
    return false;
}

Status lf_by_tags(Access *x, Arena *a, const StrVec *who, const LfResource *r, Str column, uint32_t *permissions, uint32_t *grantable, Error *err)
{
    LfDocs policies = {0};
    LfTagPairs tags = {0};
    bool known = false;

    TRY(lf_load_all(x, a, lf_key_prefix(a, 'p', r->catalog, r->kind == LF_DATABASE ? S("DATABASE") : S("TABLE")), &policies, err));
    for vec_each(LfDoc, d, &policies) {
        if (!policy_speaks(d, who))
            continue;
        if (!known)
            TRY(lf_tags_effective(x, a, r, column, &tags, err));
        known = true;
        if (!lf_tags_match(&tags, &d->resource.expression))
            continue;
        for vec_each(LfEntry, e, &d->entries)
            if (strvec_has(who, e->principal)) {
                *permissions |= e->permissions;
                *grantable |= e->grantable;
            }
    }
    return OK;
}

/* ---- on a resource --------------------------------------------------------------------------------------------------------- */

static uint32_t of_entries(const LfDoc *d, const StrVec *who)
{
    uint32_t bits = 0;

    for vec_each(LfEntry, e, &d->entries)
        if (strvec_has(who, e->principal))
            bits |= e->permissions;
    return bits;
}

/* A catalog is open while new databases are: nobody makes a document for it but a grant. */
static Status catalog_open(Access *x, Arena *a, int *ret, Error *err)
{
    Json *settings = NULL;

    TRY(lf_settings(x, a, &settings, err));
    const Json *list = json_get(settings, "CreateDatabaseDefaultPermissions");
    for (size_t i = 0; i < json_len(list); i++)
        if (str_eq(json_get_str(json_get(json_at(list, i), "Principal"), "DataLakePrincipalIdentifier", (Str){0}), LF_EVERYBODY))
            *ret = 1;
    return OK;
}

/* A database without a document was made before Lake Formation was there; one that is not there at all is the catalog's to tell of. */
static Status made_before(Access *x, Arena *a, const LfResource *r, int *ret, Error *err)
{
    CatNamespace there;

    *ret = r->kind == LF_TABLE && !r->wildcard;
    if (r->kind != LF_DATABASE)
        return OK;
    Status s = cat_namespace_get(x->catalog, a, r->catalog, r->database, &there, err);
    *ret = s == OK;
    return s == E_NOT_FOUND ? catalog_open(x, a, ret, err) : s;
}

static Status direct(Access *x, Arena *a, const StrVec *who, const LfResource *r, uint32_t *bits, Error *err)
{
    LfDoc d;
    int there, open = 0;

    TRY(lf_load(x, a, r, &d, &there, err));
    *bits |= of_entries(&d, who);
    if (r->kind == LF_CATALOG)
        TRY(catalog_open(x, a, &open, err));
    else if (!there)
        TRY(made_before(x, a, r, &open, err));                                            /* (1) */
    if (open)
        *bits |= lf_kind_bits(r->kind);
    return OK;
}

static LfResource wildcard_of(const LfResource *r)
{
    return (LfResource){ .kind = LF_TABLE, .catalog = r->catalog, .database = r->database, .wildcard = 1 };
}

/* Some permission on some table of the database. */
static Status sees_a_table(Access *x, Arena *a, const StrVec *who, const LfResource *r, uint32_t *bits, Error *err)
{
    LfResource wild = wildcard_of(r);
    LfDocs tables = {0};
    uint32_t any = 0;

    TRY(direct(x, a, who, &wild, &any, err));
    if (!any)
        TRY(lf_load_all(x, a, lf_key_prefix(a, 't', r->catalog, r->database), &tables, err));
    for vec_each(LfDoc, d, &tables)
        any |= of_entries(d, who);
    if (any)
        *bits |= LF_DESCRIBE;
    return OK;
}

Status lf_effective(Access *x, Arena *a, const Principal *p, const LfResource *r, uint32_t *ret, Error *err)
{
    LfResource wild = wildcard_of(r);
    uint32_t bits = 0, ignored = 0;
    StrVec who = {0};

    lf_identities(x, a, p, &who);
    TRY(direct(x, a, &who, r, &bits, err));
    if (r->kind == LF_TABLE && !r->wildcard)
        TRY(direct(x, a, &who, &wild, &bits, err));
    if (r->kind == LF_TABLE || r->kind == LF_DATABASE)
        TRY(lf_by_tags(x, a, &who, r, (Str){0}, &bits, &ignored, err));
    if (r->kind == LF_DATABASE && !bits)
        TRY(sees_a_table(x, a, &who, r, &bits, err));
    bits = lf_expand(r->kind, bits);
    if (bits && (r->kind == LF_TABLE || r->kind == LF_DATABASE))
        bits |= LF_DESCRIBE;
    *ret = bits;
    return OK;
}

Status lf_governs(Access *x, Arena *a, const LfResource *r, int *ret, Error *err)
{
    StrVec everybody = {0};
    uint32_t bits = 0;

    vec_push(a, &everybody, LF_EVERYBODY);
    TRY(direct(x, a, &everybody, r, &bits, err));
    *ret = !(bits & LF_ALL);
    return OK;
}

/* ---- decisions ----------------------------------------------------------------------------------------------------------------- */

/* What administrators have without a grant. */
static uint32_t implicit(Access *x, Arena *a, const Principal *p, LfKind kind)
{
    if (lf_is_admin(x, a, p))
        return LF_DESCRIBE | (kind == LF_CATALOG ? LF_CREATE_DATABASE | LF_CREATE_CATALOG | LF_CREATE_TAG | LF_CREATE_EXPRESSION : 0) | (kind == LF_LOCATION ? LF_DATA_LOCATION : 0);
    return lf_is_reader(x, a, p) ? LF_DESCRIBE : 0;
}

static Status refuse(Arena *a, const LfResource *r, uint32_t missing, Error *err)
{
    size_t n;
    const LfPermissionName *names = lf_permission_names(&n);

    for (size_t i = 0; i < n; i++)
        if (missing & names[i].bit)
            return FAIL(err, E_DENIED, "Insufficient Lake Formation permission(s): Required %s on " STR_FMT, names[i].title, STR_ARG(lf_display(a, r)));
    return FAIL(err, E_DENIED, "Insufficient Lake Formation permission(s) on " STR_FMT, STR_ARG(lf_display(a, r)));
}

static bool is_judged(const Principal *p) { return p->kind == PR_USER || p->kind == PR_ROLE; }

Status lf_allowed(Access *x, Arena *a, const Principal *p, const LfResource *r, uint32_t need, Error *err)
{
    uint32_t have = 0;

    if (!is_judged(p))
        return OK;
    TRY(lf_effective(x, a, p, r, &have, err));
    if (need & ~have || !(have & LF_DESCRIBE))
        have |= implicit(x, a, p, r->kind);
    if (r->kind == LF_TABLE && !(have & LF_DESCRIBE))                                   /* says no more than of a table that is not there */
        return refuse(a, r, LF_DESCRIBE, err);
    return need & ~have ? refuse(a, r, need & ~have, err) : OK;
}

static Status sees(Access *x, Arena *a, const Principal *p, const LfResource *r, bool *ret, Error *err)
{
    Status s = lf_allowed(x, a, p, r, LF_DESCRIBE, err);

    *ret = s == OK;
    return s == E_DENIED ? OK : s;
}

Status lf_filter_relations(Access *x, Arena *a, const Principal *p, CatRelations *list, Error *err)
{
    size_t n = 0;

    for (size_t i = 0; is_judged(p) && i < list->n; i++) {
        LfResource r = { .kind = LF_TABLE, .catalog = list->p[i].catalog, .database = list->p[i].namespace, .table = list->p[i].name };
        bool ok;
        TRY(sees(x, a, p, &r, &ok, err));
        if (ok)
            list->p[n++] = list->p[i];
    }
    list->n = is_judged(p) ? n : list->n;
    return OK;
}

Status lf_filter_namespaces(Access *x, Arena *a, const Principal *p, CatNamespaces *list, Error *err)
{
    size_t n = 0;

    for (size_t i = 0; is_judged(p) && i < list->n; i++) {
        LfResource r = { .kind = LF_DATABASE, .catalog = list->p[i].catalog, .database = list->p[i].name };
        bool ok;
        TRY(sees(x, a, p, &r, &ok, err));
        if (ok)
            list->p[n++] = list->p[i];
    }
    list->n = is_judged(p) ? n : list->n;
    return OK;
}

/* ---- for access_check --------------------------------------------------------------------------------------------------------------- */

static uint32_t need_of(Action act)
{
    switch (act) {
    case ACT_READ_DATA: return LF_SELECT;
    case ACT_WRITE_DATA: return LF_INSERT;
    case ACT_READ_METADATA: return LF_DESCRIBE;
    case ACT_ALTER: case ACT_ALTER_PROPERTIES: case ACT_SCHEDULE: case ACT_REFRESH: case ACT_RENAME: case ACT_NAMESPACE_ALTER: return LF_ALTER;
    case ACT_DROP: case ACT_NAMESPACE_DROP: return LF_DROP;
    case ACT_CREATE: case ACT_REGISTER: return LF_CREATE_TABLE;
    case ACT_NAMESPACE_CREATE: return LF_CREATE_DATABASE;
    default: return 0;
    }
}

static LfResource table_of(const CatRelation *r)
{
    return (LfResource){ .kind = LF_TABLE, .catalog = r->catalog, .database = r->namespace, .table = r->name };
}

/* What the question is about, when no relation of that name is there. */
static LfResource named_of(const Ask *ask)
{
    LfResource r = { .kind = LF_TABLE, .catalog = ask->catalog, .database = ask->namespace, .table = ask->name };

    if (ask->action == ACT_NAMESPACE_CREATE || !ask->namespace.n)
        r.kind = LF_CATALOG;
    else if (ask->action == ACT_CREATE || ask->action == ACT_REGISTER || !ask->name.n)
        r.kind = LF_DATABASE;
    return r;
}

static Status whole_table(Access *x, Arena *a, const Principal *p, const LfResource *r, Error *err)
{
    LfColumns cols;

    TRY(lf_columns(x, a, p, r->catalog, r->database, r->table, &cols, err));
    return cols.all ? OK : refuse(a, r, LF_SELECT, err);
}

/* Files of a relation: read by who may select all of it, written by who may change it (2). */
static Status object_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *rel, Error *err)
{
    LfResource r = table_of(rel);
    uint32_t have = 0;

    if (ask->action == ACT_OBJECT_GET)
        return whole_table(x, a, p, &r, err);
    if (ask->action != ACT_OBJECT_PUT && ask->action != ACT_OBJECT_DELETE)
        return OK;
    TRY(lf_effective(x, a, p, &r, &have, err));
    return have & (LF_INSERT | LF_DELETE | LF_ALTER) ? OK : refuse(a, &r, LF_INSERT, err);
}

/* A name that is nobody's: it may be known to be free by who sees the whole database. */
static Status free_name_check(Access *x, Arena *a, const Principal *p, const LfResource *r, Error *err)
{
    LfResource db = { .kind = LF_DATABASE, .catalog = r->catalog, .database = r->database }, wild = wildcard_of(r);
    uint32_t on_db = 0, on_tables = 0;
    int judged = 0;

    TRY(lf_governs(x, a, &db, &judged, err));
    if (!judged)
        return OK;
    TRY(lf_effective(x, a, p, &db, &on_db, err));
    TRY(lf_effective(x, a, p, &wild, &on_tables, err));
    if (on_db & LF_CREATE_TABLE || on_tables || lf_is_reader(x, a, p))
        return OK;
    return refuse(a, r, LF_DESCRIBE, err);
}

static Status check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *relation, Error *err)
{
    uint32_t need = ask->lf ? ask->lf : need_of(ask->action);

    if (!is_judged(p) || (ask->iam && str_starts(str_c(ask->iam), S("s3tables:"))))      /* (3) */
        return OK;
    if (relation && !ask->relation)
        return object_check(x, a, p, ask, relation, err);
    if (!need || !(relation || ask->catalog.n))
        return OK;
    LfResource r = relation ? table_of(relation) : named_of(ask);
    if (!relation && r.kind == LF_TABLE)
        return free_name_check(x, a, p, &r, err);
    if (r.kind == LF_CATALOG && ask->action == ACT_READ_METADATA)                        /* lists hold what one may see */
        return OK;
    return lf_allowed(x, a, p, &r, relation && ask->action == ACT_REGISTER && !ask->lf ? LF_ALTER : need, err);
}

/* Like IAM's refusals: an event that says what decided. */
static void log_denial(Arena *a, const Principal *p, const Ask *ask, const Error *err)
{
    log_event(LOG_INFO, "access denied", "principal", str_z(a, p->arn), "action", ask->api ? ask->api : "", "by", "Lake Formation", "how", err->message, NULL);
}

Status lf_check(Access *x, Arena *a, const Principal *p, const Ask *ask, const CatRelation *relation, Error *err)
{
    Status s = check(x, a, p, ask, relation, err);

    if (s == E_DENIED && !ask->quiet)
        log_denial(a, p, ask, err);
    return s;
}
