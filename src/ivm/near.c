/* SPDX-License-Identifier: Apache-2.0 */
/* near.c - few rows of a large table, found by keys, for the live side.
 *
 * The engine keeps the least and the greatest value of each block of a table, and lets a join's keys skip blocks, but only where `=` compares them: IS NOT
 * DISTINCT FROM reads everything.  So where NULLs may be equal, one column is compared by `=`, and the rows that have NULL there, which blocks know of too, are
 * read apart.  Rows in order of their coming have their keys close together more often than not: then a tick reads what it touches, not the table.
 * Tables of the lake are left alone: there two reads are two reads. */
#include "ivm/ivm_int.h"

/* The column by which blocks are most likely skipped: integers, decimals and times before texts.  Never what has parts, nor floats: blocks know little of NaN. */
static int rank(const DataType *t)
{
    switch (t->kind) {
    case DT_BOOL:
    case DT_FLOAT:
    case DT_DOUBLE:
    case DT_INTERVAL:
    case DT_JSON:
        return 0;
    case DT_STRING:
    case DT_BINARY:
        return 1;
    default:
        return t->nchildren ? 0 : 2;
    }
}

typedef struct Best { size_t at; int rank; } Best;

static void consider(Best *best, size_t at, const DataType *t)
{
    if (rank(t) > best->rank)
        *best = (Best){ at, rank(t) };
}

/* ---- restricted scans ---------------------------------------------------------------------------------------------- */

/* The column to split by; SIZE_MAX: one is compared by `=` anyhow, or none is fit. */
static size_t split_column(const Node *n, const Restrict *only)
{
    Best best = { SIZE_MAX, 0 };
    for (size_t i = 0; i < only->n; i++) {
        const DataType *t = node_type(n, only->cols[i]);
        if (rank(t) && (only->strict || !node_nullable(n, only->cols[i])))
            return SIZE_MAX;
        consider(&best, i, t);
    }
    return best.at;
}

void restrict_scan(Emit *e, const Node *n, const Restrict *only, StrBuf *b)
{
    size_t split = e->v->target == IVM_LIVE ? split_column(n, only) : SIZE_MAX;
    StrBuf c = sb_new(e->a);

    if (split == SIZE_MAX) {
        restrict_above(e, n, only, b);
        return;
    }
    sb_addc(&c, "SELECT ");
    put_columns(&c, n, "x");
    sb_addc(&c, " FROM (");
    put_restricted(&c, n, only, sb_str(b), split);
    sb_addc(&c, " UNION ALL ");
    put_restricted(&c, n, only, sb_str(b), SIZE_MAX);
    sb_fmt(&c, " WHERE x.c%zu IS NULL) x", only->cols[split] + 1);
    *b = c;
}

/* ---- stored rows of the view ------------------------------------------------------------------------------------------ */

static void put_near(StrBuf *b, Str column, Str key, Str from)
{
    Str name = sql_ident_str(b->a, column);
    sb_fmt(b, "(SELECT s.* FROM v s JOIN (SELECT DISTINCT " STR_FMT " AS r " STR_FMT ") r ON s." STR_FMT " = r.r UNION ALL SELECT s.* FROM v s WHERE s." STR_FMT " IS NULL) v",
           STR_ARG(key), STR_ARG(from), STR_ARG(name), STR_ARG(name));
}

/* The column to read by; SIZE_MAX: v as it is, for one is compared by `=` anyhow, or none is fit. */
static size_t near_column(const IvmView *v, const Node *n, size_t ncols)
{
    Best best = { SIZE_MAX, 0 };
    for (size_t i = 0; v->target == IVM_LIVE && i < ncols; i++) {
        if (rank(node_type(n, i)) && !node_nullable(n, i))
            return SIZE_MAX;
        consider(&best, i, node_type(n, i));
    }
    return best.at;
}

void put_groups_near(StrBuf *b, const IvmView *v, Str from)
{
    size_t at = near_column(v, v->agg, v->agg->nkeys);
    if (at == SIZE_MAX)
        sb_addc(b, "v");
    else
        put_near(b, v->keys.p[at].store, str_fmt(b->a, "k%zu", at + 1), from);
}

void put_rows_near(StrBuf *b, const IvmView *v, Str from)
{
    size_t at = near_column(v, v->root, node_ncols(v->root));
    if (at == SIZE_MAX)
        sb_addc(b, "v");
    else
        put_near(b, v->visible.p[at].engine, str_fmt(b->a, "c%zu", at + 1), from);
}
