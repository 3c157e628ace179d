/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_tag.c - LF-tags: their values, what carries them, and what that means for tables and columns.
 *
 * A tag is a document; a database's or table's tags are one document, its columns' within.  A table has its database's tags where it has no value of
 * its own, a column its table's. */
#include "access/lakeformation_int.h"

static const char TAG[] = "lf.tag";
static const char TAGGED[] = "lf.tagged";

static Str tag_key(Arena *a, Str catalog, Str key) { return str_fmt(a, STR_FMT "\x1E" STR_FMT, STR_ARG(catalog), STR_ARG(key)); }

static CatChange change(const char *kind, Str key, Json *doc) { return (CatChange){ .kind = CH_DOC, .doc_kind = str_c(kind), .doc_key = key, .doc = doc }; }

/* ---- definitions --------------------------------------------------------------------------------------------------------- */

static void values_of(Arena *a, const Json *doc, StrVec *ret)
{
    const Json *list = json_get(doc, "values");
    for (size_t i = 0; i < json_len(list); i++)
        vec_push(a, ret, json_at(list, i)->string);
}

Status lf_tag_get(Access *x, Arena *a, Str catalog, Str key, StrVec *values, Error *err)
{
    Json *doc = NULL;
    Status s = cat_doc_get(x->catalog, a, str_c(TAG), tag_key(a, catalog, key), &doc, err);
    if (s == E_NOT_FOUND)
        return FAIL(err, E_NOT_FOUND, "Tag key does not exist");
    TRY(s);
    values_of(a, doc, values);
    return OK;
}

Status lf_tag_put(Access *x, Arena *a, Str catalog, Str key, const StrVec *values, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    Json *doc = json_object(a), *list = json_array(a);
    CatDocs all = {0};

    lf_lock(x);
    if (values->n > LF_VALUES_MAX)
        return FAIL(err, E_LIMIT, "a tag has at most %d values", LF_VALUES_MAX);
    TRY(cat_doc_list(x->catalog, a, str_c(TAG), (Str){0}, &all, err));
    if (all.n >= LF_TAGS_MAX)
        return FAIL(err, E_LIMIT, "an account has at most %d tags", LF_TAGS_MAX);
    for vec_each(Str, v, values)
        json_push(a, list, json_str(a, *v));
    json_set(a, doc, "values", list);
    CatChange ch = change(TAG, tag_key(a, catalog, key), doc);
    return cat_commit(x->catalog, &ch, 1, err);
}

Status lf_tag_list(Access *x, Arena *a, Str catalog, LfTagPairs *ret, Error *err)
{
    CatDocs all = {0};
    Str prefix = tag_key(a, catalog, (Str){0});

    TRY(cat_doc_list(x->catalog, a, str_c(TAG), prefix, &all, err));
    for vec_each(CatDoc, d, &all) {
        LfTagPair t = { .catalog = catalog, .key = str_from(d->key, prefix.n) };
        values_of(a, d->value, &t.values);
        vec_push(a, ret, t);
    }
    return OK;
}

/* ---- what carries tags ------------------------------------------------------------------------------------------------------ */

static Status tagged_get(Access *x, Arena *a, Str key, Json **ret, Error *err)
{
    Status s = cat_doc_get(x->catalog, a, str_c(TAGGED), key, ret, err);
    if (s != E_NOT_FOUND)
        return s;
    *ret = json_object(a);
    json_set(a, *ret, "tags", json_object(a));
    json_set(a, *ret, "columns", json_object(a));
    return OK;
}

static bool forget_tag(Json *doc, Str key)
{
    bool had = json_del(json_get(doc, "tags"), key);
    Json *columns = json_get(doc, "columns");

    for (size_t i = 0; i < json_len(columns); i++)
        had |= json_del(columns->object.p[i].value, key);
    return had;
}

static bool names_tag(const LfResource *r, Str key)
{
    if (r->kind == LF_TAG)
        return str_eq(r->tag.key, key);
    for vec_each(LfTagPair, t, &r->expression)
        if (r->kind == LF_TAG_POLICY && str_eq(t->key, key))
            return true;
    return false;
}

/* Everything that speaks of the tag goes with it, in one transaction. */
Status lf_tag_delete(Access *x, Arena *a, Str catalog, Str key, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    VEC(CatChange) ch = {0};
    CatDocs tagged = {0};
    LfDocs grants = {0};

    lf_lock(x);
    vec_push(a, &ch, change(TAG, tag_key(a, catalog, key), NULL));
    TRY(cat_doc_list(x->catalog, a, str_c(TAGGED), (Str){0}, &tagged, err));
    for vec_each(CatDoc, d, &tagged)
        if (forget_tag(d->value, key))
            vec_push(a, &ch, change(TAGGED, d->key, d->value));
    TRY(lf_load_all(x, a, (Str){0}, &grants, err));
    for vec_each(LfDoc, g, &grants)
        if (names_tag(&g->resource, key))
            vec_push(a, &ch, change("lf.grant", lf_key(a, &g->resource), NULL));
    return cat_commit(x->catalog, ch.p, ch.n, err);
}

static void set_tag(Arena *a, Json *tags, Str key, Str value)
{
    if (value.n)
        json_set_s(a, tags, key, json_str(a, value));
    else
        json_del(tags, key);
}

static void set_columns(Arena *a, Json *doc, const StrVec *names, Str key, Str value)
{
    Json *columns = json_get(doc, "columns");

    for vec_each(Str, name, names) {
        Json *tags = json_get_s(columns, *name);
        if (!tags)
            json_set_s(a, columns, *name, tags = json_object(a));
        set_tag(a, tags, key, value);
    }
}

Status lf_tag_assign(Access *x, Arena *a, const LfResource *r, Str key, Str value, Error *err)
{
    CLEANUP(lf_unlockp) UNUSED Access *locked = x;
    StrVec values = {0};
    Json *doc = NULL;

    lf_lock(x);
    if (lf_tag_get(x, a, r->catalog, key, &values, err) != OK || (value.n && !strvec_has(&values, value)))
        return FAIL(err, E_NOT_FOUND, "Tag or tag value does not exist.");
    TRY(tagged_get(x, a, lf_key(a, r), &doc, err));
    if (r->kind == LF_COLUMNS)
        set_columns(a, doc, &r->columns, key, value);
    else
        set_tag(a, json_get(doc, "tags"), key, value);
    CatChange ch = change(TAGGED, lf_key(a, r), doc);
    return cat_commit(x->catalog, &ch, 1, err);
}

/* ---- reading --------------------------------------------------------------------------------------------------------------------- */

/* A key that is there already keeps its value: it is nearer. */
static void add_tags(Arena *a, Str catalog, const Json *tags, LfTagPairs *ret)
{
    for (size_t i = 0; i < json_len(tags); i++) {
        LfTagPair t = { .catalog = catalog, .key = tags->object.p[i].key };
        bool known = false;
        for vec_each(LfTagPair, have, ret)
            known |= str_eq(have->key, t.key);
        vec_push(a, &t.values, tags->object.p[i].value->string);
        if (!known)
            vec_push(a, ret, t);
    }
}

static const Json *column_tags(const Json *doc, Str column)
{
    const Json *columns = json_get(doc, "columns");

    for (size_t i = 0; i < json_len(columns); i++)
        if (str_ieq(columns->object.p[i].key, column))
            return columns->object.p[i].value;
    return NULL;
}

Status lf_tags_of(Access *x, Arena *a, const LfResource *r, Str column, LfTagPairs *ret, Error *err)
{
    Json *doc = NULL;

    TRY(tagged_get(x, a, lf_key(a, r), &doc, err));
    add_tags(a, r->catalog, column.n ? column_tags(doc, column) : json_get(doc, "tags"), ret);
    return OK;
}

Status lf_tags_effective(Access *x, Arena *a, const LfResource *r, Str column, LfTagPairs *ret, Error *err)
{
    LfResource table = *r, db = { .kind = LF_DATABASE, .catalog = r->catalog, .database = r->database };

    table.kind = LF_TABLE;
    if (r->kind != LF_DATABASE && !r->wildcard) {
        if (column.n)
            TRY(lf_tags_of(x, a, &table, column, ret, err));
        TRY(lf_tags_of(x, a, &table, (Str){0}, ret, err));
    }
    return lf_tags_of(x, a, &db, (Str){0}, ret, err);
}

Status lf_tagged_columns(Access *x, Arena *a, const LfResource *table, StrVec *ret, Error *err)
{
    Json *doc = NULL;

    TRY(tagged_get(x, a, lf_key(a, table), &doc, err));
    const Json *columns = json_get(doc, "columns");
    for (size_t i = 0; i < json_len(columns); i++)
        if (json_len(columns->object.p[i].value))
            vec_push(a, ret, columns->object.p[i].key);
    return OK;
}

bool lf_tags_match(const LfTagPairs *tags, const LfTagPairs *expression)
{
    for vec_each(LfTagPair, want, expression) {
        bool ok = false;
        for vec_each(LfTagPair, have, tags)
            ok |= str_eq(have->key, want->key) && have->values.n && strvec_has(&want->values, have->values.p[0]);
        if (!ok)
            return false;
    }
    return expression->n > 0;
}
