/* SPDX-License-Identifier: Apache-2.0 */
/* compat.c - aws_compat: readers of a managed view see its bookkeeping columns, as AWS shows them (spec/glue.md 6, rows 22 and 35).
 *
 * In SQL and Athena alone: to Iceberg's readers the columns stay hidden, whatever the setting. */
#include "service/session_int.h"

Status compat_columns(Run *r, Arena *a, const CatRelation *rel, const IceFields **ret, Error *err)
{
    CatMview v;
    IceFields *fields;

    *ret = NULL;
    if (!r->svc->options.aws_compat || rel->kind != REL_MVIEW)
        return OK;
    TRY(cat_mview_get(r->svc->catalog, a, rel->id, &v, err));
    if (!v.managed)
        return OK;
    TRY(refresh_hidden_fields(a, &v, &fields, err));
    *ret = fields->n ? fields : NULL;
    return OK;
}

Status compat_bind(Run *r, Arena *a, const CatRelation *rel, BoundTable *t, Error *err)
{
    LakeSource *src = t->user;
    IceSchema hidden = {0};
    BoundColumns cols = {0};

    if (src->metadata_table.n)
        return OK;
    TRY(compat_columns(r, a, rel, &src->hidden, err));
    if (!src->hidden)
        return OK;
    hidden.fields = *src->hidden;
    TRY(lake_columns(a, &hidden, &cols, err));
    for (size_t i = 0; i < cols.n; i++)
        vec_push(a, &t->columns, cols.p[i]);
    t->id = str_cat(a, t->id, S("+hidden"));
    return OK;
}
