/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_names.c - resources, principals and permissions as the API writes them, and as access/ knows them. */
#include "door/lakeformation/lakeformation_door_int.h"

static const Str s3_arn = { "arn:aws:s3:::", 13 };

const char *door_error_code(const Error *err)
{
    if (err->kind[0])
        return err->kind;
    switch (err->code) {
    case E_NOT_FOUND: return "EntityNotFoundException";
    case E_DENIED: case E_PROTECTED: return "AccessDeniedException";
    default: return "InvalidInputException";
    }
}

void door_strings(AwsCall *c, const Json *list, StrVec *ret)
{
    for (size_t i = 0; i < json_len(list); i++)
        vec_push(c->a, ret, json_at(list, i)->string);
}

Json *door_strings_json(AwsCall *c, const StrVec *v)
{
    Json *list = json_array(c->a);
    for vec_each(Str, s, v)
        json_push(c->a, list, json_str(c->a, *s));
    return list;
}

/* ---- catalogs, principals, permissions -------------------------------------------------------------------------------------- */

Status door_catalog(AwsCall *c, Str given, Str *ret, Error *err)
{
    Str account = cat_account(door_service(c)->catalog);

    *ret = given.n ? given : account;
    if (str_eq(*ret, account) || str_starts(*ret, str_cat(c->a, account, S(":"))))
        return OK;
    return AWS_FAIL(err, E_DENIED, "AccessDeniedException", "Cross account access to the catalog of " STR_FMT " is not granted", STR_ARG(given));
}

static bool is_account(Str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n == 12;
}

Status door_principal(const Json *o, Str *ret, Error *err)
{
    Str s = json_get_str(o, "DataLakePrincipalIdentifier", (Str){0}), head, tail;

    *ret = s;
    if (str_eq(s, S("IAM_ALLOWED_PRINCIPALS")) || is_account(s))
        return OK;
    if (str_cut(s, ':', &head, &tail) && is_account(head) && str_eq(tail, S("IAMPrincipals")))
        return OK;
    if (str_starts(s, S("arn:aws:iam::")) && s.n > 27 && is_account(str_sub(s, 13, 25)) && s.p[25] == ':')
        return OK;
    return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Invalid principal, " STR_FMT, STR_ARG(s));
}

static bool add_permission(Str name, uint32_t *ret)
{
    size_t n;
    const LfPermissionName *names = lf_permission_names(&n);

    for (size_t i = 0; i < n; i++)
        if (str_eq(name, str_c(names[i].name))) {
            *ret |= names[i].bit;
            return true;
        }
    return false;
}

Status door_permissions(AwsCall *c, const Json *list, uint32_t *ret, Error *err)
{
    StrVec all = {0};
    bool ok = true;

    *ret = 0;
    door_strings(c, list, &all);
    for vec_each(Str, s, &all)
        ok &= add_permission(*s, ret);
    if (ok)
        return OK;
    return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Please grant only valid Lake Formation permissions. [" STR_FMT "] are not all valid Lake Formation permissions.", STR_ARG(str_join(c->a, &all, S(", "))));
}

Json *door_permissions_json(AwsCall *c, uint32_t bits)
{
    size_t n;
    const LfPermissionName *names = lf_permission_names(&n);
    Json *list = json_array(c->a);

    for (size_t i = 0; i < n; i++)
        if (bits & names[i].bit)
            json_push(c->a, list, json_str(c->a, str_c(names[i].name)));
    return list;
}

/* ---- tags ------------------------------------------------------------------------------------------------------------------------ */

/* Tags are kept in lower case, as there. */
Status door_expression(AwsCall *c, Str catalog, const Json *list, LfTagPairs *ret, Error *err)
{
    if (!json_len(list))
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Expression is empty");
    for (size_t i = 0; i < json_len(list); i++) {
        const Json *o = json_at(list, i), *values = json_get(o, "TagValues");
        LfTagPair t = { .catalog = catalog, .key = str_lower(c->a, json_get_str(o, "TagKey", (Str){0})) };
        for (size_t k = 0; k < json_len(values); k++)
            vec_push(c->a, &t.values, str_lower(c->a, json_at(values, k)->string));
        vec_push(c->a, ret, t);
    }
    return OK;
}

static Json *pair_json(AwsCall *c, const LfTagPair *t)
{
    Json *o = json_object(c->a);

    json_set(c->a, o, "CatalogId", json_str(c->a, t->catalog));
    json_set(c->a, o, "TagKey", json_str(c->a, t->key));
    json_set(c->a, o, "TagValues", door_strings_json(c, &t->values));
    return o;
}

Json *door_pairs_json(AwsCall *c, const LfTagPairs *pairs)
{
    Json *list = json_array(c->a);
    for vec_each(LfTagPair, t, pairs)
        json_push(c->a, list, pair_json(c, t));
    return list;
}

/* ---- resources in ------------------------------------------------------------------------------------------------------------------ */

typedef Status (*ReadResource)(AwsCall *c, const Json *o, LfResource *ret, Error *err);

static Status invalid(Error *err, const char *text) { return AWS_FAIL(err, E_INVALID, "InvalidInputException", "%s", text); }

static Status read_catalog(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    ret->kind = LF_CATALOG;
    return door_catalog(c, json_get_str(o, "Id", ret->catalog), &ret->catalog, err);
}

static Status read_database(AwsCall *c UNUSED, const Json *o, LfResource *ret, Error *err UNUSED)
{
    ret->kind = LF_DATABASE;
    ret->database = json_get_str(o, "Name", (Str){0});
    return OK;
}

static Status read_table(AwsCall *c UNUSED, const Json *o, LfResource *ret, Error *err)
{
    ret->kind = LF_TABLE;
    ret->database = json_get_str(o, "DatabaseName", (Str){0});
    ret->table = json_get_str(o, "Name", (Str){0});
    ret->wildcard = json_get(o, "TableWildcard") != NULL;
    if (ret->wildcard && ret->table.n)
        return invalid(err, "Table resource must have either a Name or a TableWildcard, not both.");
    return ret->wildcard || ret->table.n ? OK : invalid(err, "Table resource must have a Name or a TableWildcard.");
}

static Status read_columns(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    const Json *wild = json_get(o, "ColumnWildcard");

    ret->kind = LF_COLUMNS;
    ret->database = json_get_str(o, "DatabaseName", (Str){0});
    ret->table = json_get_str(o, "Name", (Str){0});
    door_strings(c, json_get(o, "ColumnNames"), &ret->columns);
    door_strings(c, json_get(wild, "ExcludedColumnNames"), &ret->excluded);
    if (!ret->columns.n && !wild)
        return invalid(err, "TableWithColumns resource must have ColumnNames or a ColumnWildcard.");
    return ret->columns.n && wild ? invalid(err, "TableWithColumns resource must have either ColumnNames or a ColumnWildcard, not both.") : OK;
}

static Status read_location(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    Str uri;

    ret->kind = LF_LOCATION;
    ret->location = json_get_str(o, "ResourceArn", (Str){0});
    return door_location_uri(c, ret->location, &uri, err);
}

static Status read_tag(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    LfTagPairs one = {0};
    Json *list = json_array(c->a);

    json_push(c->a, list, json_copy(c->a, o));
    TRY(door_expression(c, ret->catalog, list, &one, err));
    ret->kind = LF_TAG;
    ret->tag = one.p[0];
    return OK;
}

static Status read_policy(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    ret->kind = LF_TAG_POLICY;
    ret->policy_on = str_eq(json_get_str(o, "ResourceType", (Str){0}), S("DATABASE")) ? LF_DATABASE : LF_TABLE;
    if (json_get(o, "ExpressionName"))
        return AWS_FAIL(err, E_UNSUPPORTED, "InvalidInputException", "Named LF-tag expressions are not supported: give the Expression itself.");
    return door_expression(c, ret->catalog, json_get(o, "Expression"), &ret->expression, err);
}

static Status refuse_filter(AwsCall *c UNUSED, const Json *o UNUSED, LfResource *ret UNUSED, Error *err)
{
    return AWS_FAIL(err, E_UNSUPPORTED, "InvalidInputException", "Data cells filters and row-level policies are not enforced here, so they cannot be granted on: grant SELECT on TableWithColumns instead.");
}

static Status refuse_other(AwsCall *c UNUSED, const Json *o UNUSED, LfResource *ret UNUSED, Error *err)
{
    return AWS_FAIL(err, E_UNSUPPORTED, "InvalidInputException", "Permissions on this kind of resource are not supported.");
}

Status door_resource(AwsCall *c, const Json *o, LfResource *ret, Error *err)
{
    static const struct { const char *name; ReadResource read; } kinds[] = {
        { "Catalog", read_catalog }, { "Database", read_database }, { "Table", read_table }, { "TableWithColumns", read_columns }, { "DataLocation", read_location },
        { "LFTag", read_tag }, { "LFTagPolicy", read_policy }, { "DataCellsFilter", refuse_filter }, { "RLSPolicy", refuse_filter }, { "LFTagExpression", refuse_other },
        { "AnyResource", refuse_other }, { "UserDefinedFunction", refuse_other },
    };
    const Json *body = NULL;
    ReadResource read = NULL;
    int given = 0;

    *ret = (LfResource){0};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (json_get(o, kinds[i].name)) {
            body = json_get(o, kinds[i].name);
            read = kinds[i].read;
            given++;
        }
    if (given != 1)
        return invalid(err, "Resource must have either the catalog, table or database field populated.");
    TRY(door_catalog(c, json_get_str(body, "CatalogId", aws_str(c, "CatalogId")), &ret->catalog, err));
    return read(c, body, ret, err);
}

/* ---- resources out ------------------------------------------------------------------------------------------------------------------- */

static void set(AwsCall *c, Json *o, const char *key, Str v) { json_set(c->a, o, key, json_str(c->a, v)); }

static const char *fill(AwsCall *c, const LfResource *r, Json *o)
{
    switch (r->kind) {
    case LF_CATALOG: set(c, o, "Id", r->catalog); return "Catalog";
    case LF_DATABASE: set(c, o, "CatalogId", r->catalog); set(c, o, "Name", r->database); return "Database";
    case LF_LOCATION: set(c, o, "CatalogId", r->catalog); set(c, o, "ResourceArn", r->location); return "DataLocation";
    case LF_TAG:
        set(c, o, "CatalogId", r->catalog);
        set(c, o, "TagKey", r->tag.key);
        json_set(c->a, o, "TagValues", door_strings_json(c, &r->tag.values));
        return "LFTag";
    case LF_TAG_POLICY:
        set(c, o, "CatalogId", r->catalog);
        set(c, o, "ResourceType", r->policy_on == LF_DATABASE ? S("DATABASE") : S("TABLE"));
        json_set(c->a, o, "Expression", door_pairs_json(c, &r->expression));
        return "LFTagPolicy";
    case LF_TABLE: case LF_COLUMNS: break;
    }
    set(c, o, "CatalogId", r->catalog);
    set(c, o, "DatabaseName", r->database);
    if (!r->wildcard)
        set(c, o, "Name", r->table);
    if (r->kind == LF_TABLE) {
        if (r->wildcard)
            json_set(c->a, o, "TableWildcard", json_object(c->a));
        return "Table";
    }
    Json *wild = json_object(c->a);
    if (r->excluded.n)
        json_set(c->a, wild, "ExcludedColumnNames", door_strings_json(c, &r->excluded));
    if (r->columns.n)
        json_set(c->a, o, "ColumnNames", door_strings_json(c, &r->columns));
    else
        json_set(c->a, o, "ColumnWildcard", wild);
    return "TableWithColumns";
}

Json *door_resource_json(AwsCall *c, const LfResource *r)
{
    Json *outer = json_object(c->a), *o = json_object(c->a);
    const char *name = fill(c, r, o);

    json_set(c->a, outer, name, o);
    return outer;
}

Status door_location_uri(AwsCall *c, Str arn, Str *ret, Error *err)
{
    Str rest = str_from(arn, s3_arn.n);

    if (!str_starts(arn, s3_arn) || !rest.n || rest.p[0] == '/')
        return AWS_FAIL(err, E_INVALID, "InvalidInputException", "Invalid S3 location: " STR_FMT " is not of the form arn:aws:s3:::bucket/prefix", STR_ARG(arn));
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    *ret = str_cat(c->a, S("s3://"), rest);
    return OK;
}
