/* SPDX-License-Identifier: Apache-2.0 */
/* parse_trino_meta.c - Trino's metadata tables, "t$snapshots" and its kin, by the tables t.snapshots … that the resolver knows.
 *
 * Those have Spark's columns.  Where Trino's differ, the name becomes a query that chooses and renames; what Spark's lack
 * ("data" of $partitions, row counts of $manifests, bounds as texts of $files) is left out, so naming it is an error. */
#include "sql/parse_int.h"

typedef struct MetaRow { const char *suffix, *except[13], *from, *to; } MetaRow;

static const MetaRow TABLES[] = {
    { "snapshots", { NULL }, NULL, NULL }, { "history", { NULL }, NULL, NULL }, { "refs", { NULL }, NULL, NULL },
    { "manifests", { "content", "added_delete_files_count", "existing_delete_files_count", "deleted_delete_files_count" }, NULL, NULL },
    { "files", { "sort_order_id", "first_row_id", "referenced_data_file", "content_offset", "content_size_in_bytes", "readable_metrics", "lower_bounds", "upper_bounds" }, NULL, NULL },
    { "partitions", { "spec_id", "total_data_file_size_in_bytes", "position_delete_record_count", "position_delete_file_count", "equality_delete_record_count",
                      "equality_delete_file_count", "last_updated_at", "last_updated_snapshot_id" }, "total_data_file_size_in_bytes", "total_size" },
};

static void item(Parser *p, Query *q, const MetaRow *r)
{
    SelectItem star = { .expr = e_new(p, EX_STAR, q->position) }, renamed = { .expr = e_new(p, EX_COLUMN, q->position) };

    for (size_t i = 0; i < COUNT_OF(r->except) && r->except[i]; i++)
        vec_push(p->a, &star.expr->except, str_c(r->except[i]));
    vec_push(p->a, &q->select->items, star);
    if (!r->from)
        return;
    vec_push(p->a, &renamed.expr->name, str_c(r->from));
    renamed.alias = str_c(r->to);
    vec_push(p->a, &q->select->items, renamed);
}

TableRef *p_metadata_table(Parser *p, TableRef *t)
{
    Str last = vec_last(&t->name);
    ptrdiff_t at = str_rchr(last, '$');
    const MetaRow *r = NULL;

    for (size_t i = 0; at > 0 && i < COUNT_OF(TABLES); i++)
        if (str_ieq(str_from(last, (size_t)at + 1), str_c(TABLES[i].suffix)))
            r = &TABLES[i];
    if (!r)
        return t;
    t->name.n--;
    vec_push(p->a, &t->name, str_sub(last, 0, (size_t)at));
    vec_push(p->a, &t->name, str_c(r->suffix));
    if (!r->except[0]) {
        t->alias = last;
        return t;
    }
    Query *q = arena_new(p->a, Query);
    q->body = BODY_SELECT;
    q->position = t->position;
    q->select = arena_new(p->a, Select);
    q->select->from = t;
    item(p, q, r);
    TableRef *derived = arena_new(p->a, TableRef);
    *derived = (TableRef){ .kind = TR_QUERY, .position = t->position, .query = q, .alias = last };
    return derived;
}
