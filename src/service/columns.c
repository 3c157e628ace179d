/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - Lake Formation's column permissions in SQL: what a reader may not select is not there.
 *
 * A table that is bound for a reader with some columns offers those alone: stars expand to them, other names do not resolve.
 * Invariants: (1) what would show hidden columns another way is refused to such a reader: metadata tables with statistics, definitions of materialized
 * views (their refresh reads every column), DELETE, UPDATE and MERGE (their conditions read); (2) a view is bound with the reader's own rights. */
#include "access/lakeformation.h"
#include "service/session_int.h"

static Status columns_of(Run *r, const CatRelation *rel, LfColumns *ret, Error *err)
{
    return lf_columns(r->svc->access, r->a, &r->ss->principal, rel->catalog, rel->namespace, rel->name, ret, err);
}

static bool shows_no_values(Str metadata_table)
{
    static const char *const names[] = { "snapshots", "history", "refs", "metadata_log_entries", "refreshes" };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_eq(metadata_table, str_c(names[i])))
            return true;
    return false;
}

static Status refuse(const Name *n, const char *what, Error *err)
{
    return FAIL(err, E_DENIED, "Insufficient Lake Formation permission(s): Required Select on every column of " STR_FMT " for %s", STR_ARG(n->name), what);
}

/* Older versions of a table may call a column otherwise: it is the column as it is called now that was granted. */
static Str name_now(const BoundTable *t, const BoundColumn *col)
{
    const LakeSource *src = t->user;
    const IceField *f = src && src->table.meta && col->field_id > 0 ? ice_field_by_id(ice_current_schema(src->table.meta), col->field_id) : NULL;

    return f ? f->name : col->name;
}

Status run_limit_columns(Run *r, Arena *a, const CatRelation *rel, const Name *n, BoundTable *t, Error *err)
{
    BoundColumns kept = {0};
    LfColumns may;

    if (shows_no_values(n->metadata_table))
        return OK;
    TRY(columns_of(r, rel, &may, err));
    if (may.all)
        return OK;
    if (n->metadata_table.n)
        return refuse(n, "this metadata table", err);
    if (r->st->kind == ST_CREATE_MV)
        return refuse(n, "a materialized view", err);
    if (rel->kind == REL_VIEW)
        return refuse(n, "a view", err);
    for vec_each(BoundColumn, col, &t->columns)
        if (lf_column_allowed(&may, name_now(t, col)))
            vec_push(a, &kept, *col);
    t->columns = kept;
    return OK;
}

Status run_every_column(Run *r, const Name *n, const CatRelation *rel, const char *what, Error *err)
{
    LfColumns may;

    TRY(columns_of(r, rel, &may, err));
    return may.all ? OK : refuse(n, what, err);
}

/* Who may see the table and select nothing of it sees how it is made; who may select some columns sees those. */
Status run_seen_schema(Run *r, const CatRelation *rel, const IceSchema *s, const IceSchema **ret, Error *err)
{
    IceSchema *seen = arena_new(r->a, IceSchema);
    LfColumns may;

    *ret = s;
    TRY(columns_of(r, rel, &may, err));
    if (may.all || (!may.only.n && !may.has_but))
        return OK;
    *seen = *s;
    seen->fields = (IceFields){0};
    for vec_each(IceField, f, &s->fields)
        if (lf_column_allowed(&may, f->name))
            vec_push(r->a, &seen->fields, *f);
    *ret = seen;
    return OK;
}
