/* SPDX-License-Identifier: Apache-2.0 */
/* glue_search.c - SearchTables: tables of every database by text and by properties.
 *
 * A text finds what holds it, whatever the case, in names, descriptions, columns and parameters; in quotes it must be the whole of one of them. */
#include "door/glue/glue_int.h"

#include <stdlib.h>

typedef struct Search { Str text; int whole; const Json *filters; } Search;

static bool holds(AwsCall *c, Str in, const Search *s)
{
    Str low = str_lower(c->a, in);
    return s->whole ? str_eq(low, s->text) : str_find(low, s->text) >= 0;
}

static bool columns_hold(AwsCall *c, const Json *columns, const Search *s)
{
    for (size_t i = 0; i < json_len(columns); i++)
        if (holds(c, json_get_str(json_at(columns, i), "Name", (Str){0}), s) || holds(c, json_get_str(json_at(columns, i), "Comment", (Str){0}), s))
            return true;
    return false;
}

static bool text_found(AwsCall *c, const Json *t, const Search *s)
{
    const Json *params = json_get(t, "Parameters");

    if (s->text.n == 0 || holds(c, json_get_str(t, "Name", (Str){0}), s) || holds(c, json_get_str(t, "Description", (Str){0}), s)
        || holds(c, json_get_str(t, "DatabaseName", (Str){0}), s))
        return true;
    if (columns_hold(c, json_get(json_get(t, "StorageDescriptor"), "Columns"), s) || columns_hold(c, json_get(t, "PartitionKeys"), s))
        return true;
    for (size_t i = 0; i < json_len(params); i++)
        if (holds(c, params->object.p[i].key, s) || holds(c, params->object.p[i].value->string, s))
            return true;
    return false;
}

/* A property of the table by name, or one of its parameters; times as text of milliseconds. */
static Str property(AwsCall *c, const Json *t, Str key)
{
    Json *v = json_get_s(t, key);

    if (!v && str_eq(key, S("TableName")))
        v = json_get(t, "Name");
    if (!v)
        v = json_get_s(json_get(t, "Parameters"), key);
    if (json_is(v, JSON_STRING))
        return v->string;
    return json_is(v, JSON_REAL) ? str_fmt(c->a, "%.0f", v->real * 1000) : json_is(v, JSON_INT) ? str_fmt(c->a, "%lld", (long long)v->integer) : (Str){0};
}

static int order_of(Str x, Str y)
{
    double d, e;
    int64_t ms;

    if (str_to_f64(x, &d) && iso8601_parse(y, &ms))
        return d < (double)ms ? -1 : d > (double)ms;
    if (str_to_f64(x, &d) && str_to_f64(y, &e))
        return d < e ? -1 : d > e;
    return str_cmp(x, y);
}

static bool filter_holds(AwsCall *c, const Json *t, const Json *f)
{
    Str have = property(c, t, json_get_str(f, "Key", (Str){0})), want = json_get_str(f, "Value", (Str){0}), cmp = json_get_str(f, "Comparator", S("EQUALS"));

    if (str_eq(cmp, S("EQUALS")))
        return str_ieq(have, want);
    int order = order_of(have, want);
    if (have.n == 0)
        return false;
    if (str_eq(cmp, S("GREATER_THAN")))
        return order > 0;
    if (str_eq(cmp, S("GREATER_THAN_EQUALS")))
        return order >= 0;
    return str_eq(cmp, S("LESS_THAN")) ? order < 0 : order <= 0;
}

static bool matches(AwsCall *c, const Json *t, const Search *s)
{
    for (size_t i = 0; i < json_len(s->filters); i++)
        if (!filter_holds(c, t, json_at(s->filters, i)))
            return false;
    return text_found(c, t, s);
}

static Status search_database(AwsCall *c, const GlueName *n, Str db, const Search *s, Json *list, Error *err)
{
    SvcCall call = glue_call(c);
    CatRelations all = {0};

    TRY(svc_relation_list(&call, n->w.id, db, (CatPage){0}, &all, err));
    for vec_each(CatRelation, r, &all) {
        Json *t = NULL;
        TRY(glue_show(c, r, aws_bool(c, "IncludeStatusDetails", false) ? SHOW_STATUS : 0, &t, err));
        if (matches(c, t, s))
            json_push(c->a, list, t);
    }
    return OK;
}

/* ---- order -------------------------------------------------------------------------------------------------------------------- */

typedef struct Sorter { AwsCall *c; Str key; int descending; } Sorter;

static int by_key(const void *x, const void *y, void *arg)
{
    const Sorter *s = arg;
    int order = order_of(property(s->c, *(Json *const *)x, s->key), property(s->c, *(Json *const *)y, s->key));
    return s->descending ? -order : order;
}

static void sort(AwsCall *c, Json *list)
{
    const Json *first = json_at(aws_get(c, "SortCriteria"), 0);
    Sorter s = { c, json_get_str(first, "FieldName", (Str){0}), str_eq(json_get_str(first, "Sort", (Str){0}), S("DESC")) };

    if (first && list->array.n > 1)
        qsort_r(list->array.p, list->array.n, sizeof *list->array.p, by_key, &s);
}

Status glue_search_tables(AwsCall *c, Error *err)
{
    Search s = { .text = str_lower(c->a, str_trim(aws_str(c, "SearchText"))), .filters = aws_get(c, "Filters") };
    Json *list = json_array(c->a);
    SvcCall call = glue_call(c);
    CatNamespaces all = {0};
    GlueName n = {0};

    TRY(glue_name(c, (Str){0}, (Str){0}, &n, err));
    s.whole = s.text.n > 1 && s.text.p[0] == '"' && s.text.p[s.text.n - 1] == '"';
    if (s.whole)
        s.text = str_sub(s.text, 1, s.text.n - 1);
    TRY(svc_namespace_list(&call, n.w.id, (Str){0}, (CatPage){0}, &all, err));
    for vec_each(CatNamespace, ns, &all)
        TRY(search_database(c, &n, ns->name, &s, list, err));
    sort(c, list);
    return aws_page(c, "TableList", list, "NextToken", "MaxResults", PAGE_TABLES, "NextToken", err);
}
