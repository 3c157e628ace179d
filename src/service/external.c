/* SPDX-License-Identifier: Apache-2.0 */
/* external.c - external tables and Glue views in SQL: opened by the caller's rights, views as text of a dialect.
 *
 * Invariant: an object is read under its own bucket and key by who asks, whatever the table's own rights are. */
#include "service/external.h"

#define PRESTO_MARK "/* Presto View: "

Status external_may(Access *x, Arena *a, const Principal *p, LakeMay what, Str bucket, Str key, Error *err)
{
    Ask ask = { .action = what == LAKE_MAY_LIST ? ACT_OBJECT_LIST : ACT_OBJECT_GET, .api = what == LAKE_MAY_LIST ? "s3:ListBucket" : "s3:GetObject", .bucket = bucket, .key = key };
    return access_check(x, a, p, &ask, err);
}

static Status caller_may(void *ctx, Arena *a, LakeMay what, Str bucket, Str key, Error *err)
{
    Run *r = ctx;
    return external_may(r->svc->access, a, &r->ss->principal, what, bucket, key, err);
}

const LakeRights *external_rights(Run *r)
{
    LakeRights *rights = arena_new(r->a, LakeRights);
    *rights = (LakeRights){ .ctx = r, .may = caller_may };
    return rights;
}

Status external_open(Run *r, Arena *a, const CatRelation *rel, LakeTable *ret, Error *err)
{
    const LakeRights *rights = external_rights(r);

    if (rel->kind == REL_EXTERNAL)
        return lake_open_external(r->svc->lake, a, rel, rights, ret, err);
    TRY(lake_open_relation(r->svc->lake, a, rel, ret, err));
    ret->rights = rights;
    return OK;
}

/* ---- views of the Glue catalog ------------------------------------------------------------------------------------------ */

bool external_is_view(const CatRelation *rel)
{
    const Json *glue = json_get(rel->extra, "glue");
    return rel->kind == REL_EXTERNAL && (str_ieq(json_get_str(glue, "TableType", (Str){0}), S("VIRTUAL_VIEW")) || json_get(glue, "ViewDefinition"));
}

static void add_repr(Arena *a, IceViewVersion *v, Str sql, Str dialect)
{
    IceViewRepr r = { sql, dialect };
    if (sql.n > 0)
        vec_push(a, &v->reprs, r);
}

/* Athena keeps a view as base64 of JSON behind a mark; the base64 is the text up to the mark's end. */
static bool presto_view(Arena *a, Str text, IceViewVersion *v)
{
    Str body, plain;
    Json *j = NULL;
    Error bad;

    if (!str_starts(text, S(PRESTO_MARK)) || !str_ends(text, S("*/")))
        return false;
    body = str_trim(str_sub(text, strlen(PRESTO_MARK), text.n - 2));
    if (base64_decode(a, body, &plain, &bad) != OK || json_parse(a, plain, &j, &bad) != OK)
        return true;
    add_repr(a, v, json_get_str(j, "originalSql", (Str){0}), S("trino"));
    Str schema = json_get_str(j, "schema", (Str){0});
    if (schema.n > 0 && v->default_namespace.n == 1)
        v->default_namespace.p[0] = schema;
    return true;
}

Status external_view(Arena *a, const CatRelation *rel, const IceViewVersion **ret, Error *err)
{
    const Json *glue = json_get(rel->extra, "glue"), *reps = json_get(json_get(glue, "ViewDefinition"), "Representations");
    Str text = json_get_str(glue, "ViewOriginalText", (Str){0});
    IceViewVersion *v = arena_new(a, IceViewVersion);

    vec_push(a, &v->default_namespace, rel->namespace);
    for (size_t i = 0; i < json_len(reps); i++) {
        const Json *rep = json_at(reps, i);
        Str dialect = json_get_str(rep, "Dialect", (Str){0});
        Str sql = json_get_str(rep, "ViewExpandedText", json_get_str(rep, "ViewOriginalText", (Str){0}));
        if (str_ieq(dialect, S("SPARK")) || str_ieq(dialect, S("ATHENA")))
            add_repr(a, v, sql, str_ieq(dialect, S("SPARK")) ? S("spark") : S("trino"));
    }
    if (!v->reprs.n && !presto_view(a, text, v))
        add_repr(a, v, text, S("spark"));
    *ret = v;
    return v->reprs.n ? OK : FAIL(err, E_UNSUPPORTED, "view " STR_FMT "." STR_FMT " has no SPARK or ATHENA text", STR_ARG(rel->namespace), STR_ARG(rel->name));
}
