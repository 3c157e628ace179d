/* SPDX-License-Identifier: Apache-2.0 */
/* equality.c - equality delete files: the values of some columns; rows that have them, and were there before, go.
 *
 * The write is that of data files (write.c) with fewer columns.  Partition values are computed from the rows that are given, whole: a delete reaches just the
 * files of its own partition, so it must be told by the row as it stands in the table, not by the one that takes its place.
 * The format lists ids and columns in the order of the schema. */
#include "lake/write_int.h"

static bool is_key(const WriteJob *j, int32_t id)
{
    for (size_t i = 0; i < j->w->equality.n; i++)
        if (j->w->equality.p[i] == id)
            return true;
    return false;
}

Status write_equality_columns(const WriteJob *j, Str *select, Str *field_ids, Error *err)
{
    StrBuf b = sb_new(j->a);
    IceFields fields = {0};
    BoundColumns names = {0};

    for (size_t i = 0; i < j->columns.n; i++) {
        if (!is_key(j, j->columns.p[i].field_id))
            continue;
        sb_addc(&b, fields.n ? ", " : "");
        sql_ident(&b, j->columns.p[i].engine);
        vec_push(j->a, &fields, j->w->schema->fields.p[i]);
        vec_push(j->a, &names, j->columns.p[i]);
    }
    if (fields.n != j->w->equality.n)
        return FAIL(err, E_INVALID, "equality deletes need columns of the table's own level");
    *select = sb_str(&b);
    *field_ids = lake_field_ids(j->a, &fields, NULL, &names);
    return OK;
}

void write_equality_file(const WriteJob *j, IceFile *f)
{
    f->content = CONTENT_EQUALITY_DELETES;
    for (size_t i = 0; i < j->columns.n; i++)
        if (is_key(j, j->columns.p[i].field_id))
            vec_push(j->a, &f->equality_ids, j->columns.p[i].field_id);
}

Str write_equality_long(const WriteJob *j, size_t i, Str hash)
{
    Str text = j->partition_sql.p[i];
    return str_fmt(j->a, "SELECT 'v' || " STR_FMT " FROM (" STR_FMT ") q WHERE md5(" STR_FMT ") = " STR_FMT " LIMIT 1", STR_ARG(text), STR_ARG(j->sql), STR_ARG(text),
                   STR_ARG(sql_lit_str(j->a, hash)));
}
