/* SPDX-License-Identifier: Apache-2.0 */
/* refreshes.c - the metadata table <view>.refreshes: what each refresh run read, changed and decided, from the catalog's runs. */
#include "service/refreshes.h"

static const struct { const char *name; DataTypeKind kind; } columns[] = {
    { "run_id", DT_STRING }, { "started_at", DT_TIMESTAMPTZ }, { "finished_at", DT_TIMESTAMPTZ }, { "status", DT_STRING }, { "type", DT_STRING },
    { "reason", DT_STRING }, { "rows_in", DT_INT64 }, { "rows_changed", DT_INT64 }, { "snapshot_id", DT_INT64 }, { "error", DT_STRING },
};

Status refreshes_columns(Arena *a, BoundColumns *ret, Error *err UNUSED)
{
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        vec_push(a, ret, ((BoundColumn){ .name = str_c(columns[i].name), .engine = str_c(columns[i].name), .type = { .kind = columns[i].kind }, .nullable = i > 0 }));
    return OK;
}

static void time_cell(DuckAppender *ap, int64_t ms)
{
    static const DataType type = { .kind = DT_TIMESTAMPTZ };
    Value v = { .kind = ms ? DT_TIMESTAMPTZ : DT_NULL, .type = &type, .integer = ms ? ms * 1000 : 0 };
    duck_append(ap, &v);
}

static void text_cell(DuckAppender *ap, Str s)
{
    if (s.n)
        duck_append_str(ap, s);
    else
        duck_append_null(ap);
}

static void run_row(DuckAppender *ap, const CatRun *r)
{
    duck_append_str(ap, r->id);
    time_cell(ap, r->started_ms ? r->started_ms : r->created_ms);
    time_cell(ap, r->finished_ms);
    text_cell(ap, r->status);
    text_cell(ap, r->type);
    text_cell(ap, r->reason);
    duck_append_i64(ap, r->rows_in);
    duck_append_i64(ap, r->rows_changed);
    if (r->snapshot_id)
        duck_append_i64(ap, r->snapshot_id);
    else
        duck_append_null(ap);
    text_cell(ap, r->error);
    duck_end_row(ap);
}

Status refreshes_relation(Service *s, Arena *a, DuckConn *c, int64_t relation_id, LakeRelation *ret, Error *err)
{
    DuckColumn cols[COUNT_OF(columns)];
    DuckAppender *ap = NULL;
    CatRuns runs = {0};
    Str name = str_fmt(a, "__refreshes_%lld_%llx", (long long)relation_id, (unsigned long long)rand_u64());

    for (size_t i = 0; i < COUNT_OF(columns); i++)
        cols[i] = (DuckColumn){ str_c(columns[i].name), { .kind = columns[i].kind } };
    *ret = (LakeRelation){0};
    TRY(cat_run_list(s->catalog, a, relation_id, 0, &runs, err));
    TRY(duck_temp_table(c, name, cols, COUNT_OF(cols), &ap, err));
    vec_push(a, &ret->temp_tables, name);
    for (size_t i = 0; i < runs.n; i++)
        run_row(ap, &runs.p[i]);
    TRY(duck_append_done(ap, err));
    ret->sql = str_fmt(a, "SELECT * FROM temp." STR_FMT, STR_ARG(sql_ident_str(a, name)));
    ret->rows_upper = (int64_t)runs.n;
    return OK;
}
