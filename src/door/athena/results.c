/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - GetQueryResults: pages of a result file, read with the caller's right to get the object.
 *
 * A token is the byte where the next row begins, so a page costs what it holds.  The first page of a query begins with the header row. */
#include "door/athena/athena_int.h"

typedef struct Reader {
    AwsCall *c;
    Str uri, text;                    /* the text from `at` on, as far as it is read */
    int64_t at, size;
    size_t used;                      /* of the text */
    int csv;
} Reader;

/* More of the file behind what is there. */
static Status more_text(Reader *r, Error *err)
{
    Str next;
    int64_t from = r->at + (int64_t)r->text.n, want = min_i64(ATH_PIECE_BYTES, r->size - from);

    if (r->text.n - r->used > ATH_ROW_BYTES)
        return FAIL(err, E_CORRUPT, "a row of the result file is longer than %d bytes", ATH_ROW_BYTES);
    TRY(store_read_range(ath_service(r->c)->store, r->c->a, r->uri, from, want, &next, err));
    r->at += (int64_t)r->used;
    r->text = str_cat(r->c->a, str_from(r->text, r->used), next);
    r->used = 0;
    return OK;
}

static Status text_line(Reader *r, CsvLine *ret)
{
    Str rest = str_from(r->text, r->used);
    ptrdiff_t end = str_chr(rest, '\n');

    *ret = (CsvLine){0};
    if (end < 0)
        return OK;
    vec_push(r->c->a, &ret->cells, str_sub(rest, 0, (size_t)end));
    ret->used = (size_t)end + 1;
    ret->has = 1;
    return OK;
}

/* has 0: the file has ended. */
static Status next_line(Reader *r, CsvLine *ret, Error *err)
{
    for (;;) {
        TRY(r->csv ? csv_line(r->c->a, str_from(r->text, r->used), ret, err) : text_line(r, ret));
        if (ret->has || r->at + (int64_t)r->text.n >= r->size)
            break;
        TRY(more_text(r, err));
    }
    r->used += ret->used;
    return OK;
}

static Json *row_shape(Reader *r, const CsvLine *line)
{
    Json *row = json_object(r->c->a), *data = json_array(r->c->a);

    for (size_t i = 0; i < line->cells.n; i++) {
        Json *cell = json_object(r->c->a);
        if (line->cells.p[i].p)
            json_set(r->c->a, cell, "VarCharValue", json_str(r->c->a, line->cells.p[i]));
        json_push(r->c->a, data, cell);
    }
    json_set(r->c->a, row, "Data", data);
    return row;
}

static Status read_page(Reader *r, Json *rows, Str *next, Error *err)
{
    int64_t max = aws_int(r->c, "MaxResults", ATH_PAGE_ROWS), bytes = 0;
    CsvLine line;

    for (int64_t n = 0; n < max && bytes < ATH_PAGE_BYTES; n++) {
        TRY(next_line(r, &line, err));
        if (!line.has)
            break;
        bytes += (int64_t)line.used;
        json_push(r->c->a, rows, row_shape(r, &line));
    }
    int64_t at = r->at + (int64_t)r->used;
    if (at < r->size)
        *next = aws_page_token(r->c, str_fmt(r->c->a, "%lld", (long long)at));
    return OK;
}

static Status open_file(Reader *r, Error *err)
{
    ObjectInfo info;
    Location at;
    Str position;

    TRY(store_parse_location(r->c->a, r->uri, &at, err));
    Ask ask = { .action = ACT_OBJECT_GET, .api = "s3:GetObject", .bucket = at.bucket, .key = at.key };
    TRY(access_check(ath_service(r->c)->access, r->c->a, &r->c->who, &ask, err));
    Status s = store_stat(ath_service(r->c)->store, r->c->a, r->uri, &info, err);
    if (s == E_NOT_FOUND)
        return ATH_INVALID(err, "INVALID_INPUT", "Could not find results at " STR_FMT, STR_ARG(r->uri));
    TRY(s);
    r->size = info.size;
    TRY(aws_page_start(r->c, "NextToken", &position, err));
    if (position.n && (!str_to_i64(position, &r->at) || r->at < 0 || r->at > r->size))
        return ATH_INVALID(err, "INVALID_INPUT", "NextToken is not of this result");
    return OK;
}

static Status check_state(const Json *record, Str id, Error *err)
{
    Str state = json_get_str(record, "State", (Str){0});

    if (str_eq(state, S("SUCCEEDED")))
        return OK;
    if (str_eq(state, S("FAILED")) || str_eq(state, S("CANCELLED")))
        return ATH_INVALID(err, "INVALID_QUERY_STATUS_FOR_RESULT", "Query did not finish successfully. Final query state: " STR_FMT, STR_ARG(state));
    return ATH_INVALID(err, "QUERY_NOT_FINISHED", "Query has not yet finished. Current state: " STR_FMT " (" STR_FMT ")", STR_ARG(state), STR_ARG(id));
}

Status ath_GetQueryResults(AwsCall *c, Error *err)
{
    Reader r = { .c = c };
    Json *record, *set = json_object(c->a), *meta = json_object(c->a), *rows = json_array(c->a);
    Str next = {0};

    TRY(record_find(c, aws_str(c, "QueryExecutionId"), &record, err));
    if (str_eq(aws_str(c, "QueryResultType"), S("DATA_MANIFEST")))
        return ATH_INVALID(err, "INVALID_INPUT", "QueryResultType DATA_MANIFEST is not supported: read Statistics.DataManifestLocation of the query");
    TRY(check_state(record, aws_str(c, "QueryExecutionId"), err));
    r.uri = json_get_str(record, "Output", (Str){0});
    r.csv = str_ends(r.uri, S(".csv"));
    if (r.csv || str_ends(r.uri, S(".txt"))) {
        TRY(open_file(&r, err));
        TRY(read_page(&r, rows, &next, err));
    }
    Json *columns = json_get(record, "Columns");
    json_set(c->a, meta, "ColumnInfo", columns ? columns : json_array(c->a));
    json_set(c->a, set, "Rows", rows);
    json_set(c->a, set, "ResultSetMetadata", meta);
    aws_put(c, "ResultSet", set);
    if (json_get(record, "UpdateCount"))
        aws_put(c, "UpdateCount", json_get(record, "UpdateCount"));
    aws_put_str(c, "NextToken", next);
    return OK;
}
