/* SPDX-License-Identifier: Apache-2.0 */
/* print_loop.c - WITH MUTUALLY RECURSIVE as one recursive query of the engine.
 *
 * The recursive relation holds the whole state of each iteration: rows tagged by CTE, each CTE's columns as one struct, and a row tagged -1 that stands for
 * the iteration.  The step computes every CTE in turn (those in front as they are now, itself and those behind as they were), and gives the new state as long as
 * it differs from the old and the limit is not reached.  The state with the highest number is the result.  Names: c1l the relation, c1i the number, c1x the
 * number of differences, c1f the result; c<k>o and c<k>n the old and the new rows of a CTE. */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

static void add_type(Print *p, const BoundColumns *cols)
{
    for (size_t i = 0; i < cols->n; i++) {
        sb_fmt(&p->out, "%sf%zu ", i ? ", " : "STRUCT(", i + 1);
        print_type(p, &cols->p[i].type);
    }
    add(p, ")");
}

/* NULL of each CTE's struct, but for `own`: its columns packed. */
static void add_row(Print *p, const Query *q, size_t own)
{
    for (size_t k = 0; k < q->ctes.n; k++) {
        const BoundColumns *cols = &q->ctes.p[k].query->columns;
        add(p, ", ");
        if (k != own) {
            add(p, "CAST(NULL AS ");
            add_type(p, cols);
            add(p, ")");
            continue;
        }
        for (size_t i = 0; i < cols->n; i++) {
            sb_fmt(&p->out, "%s'f%zu': x.", i ? ", " : "{", i + 1);
            sql_ident(&p->out, cols->p[i].engine);
        }
        add(p, "}");
    }
}

/* The columns of CTE k out of the relation's struct. */
static void add_unpacked(Print *p, const Query *q, size_t k)
{
    const BoundColumns *cols = &q->ctes.p[k].query->columns;

    for (size_t i = 0; i < cols->n; i++) {
        sb_fmt(&p->out, "%sd%zu.f%zu AS ", i ? ", " : "SELECT ", k, i + 1);
        sql_ident(&p->out, cols->p[i].engine);
    }
}

static Str name_of(Print *p, const Query *q, size_t k, const char *suffix) { return str_cat(p->a, q->ctes.p[k].engine, str_c(suffix)); }

static void add_old(Print *p, const Query *q, size_t k)
{
    sb_add(&p->out, name_of(p, q, k, "o"));
    add(p, " AS (");
    add_unpacked(p, q, k);
    sb_fmt(&p->out, " FROM " STR_FMT " WHERE tag = %zu), ", STR_ARG(name_of(p, q, 0, "l")), k);
}

static void add_new(Print *p, const Query *q, size_t k)
{
    size_t scope = p->ctes.n;

    for (size_t i = 0; i < q->ctes.n; i++)
        vec_push(p->a, &p->ctes, ((CteName){ q->ctes.p[i].query, name_of(p, q, i, i < k ? "n" : "o") }));
    sb_add(&p->out, name_of(p, q, k, "n"));
    print_names(p, &q->ctes.p[k].query->columns);
    add(p, " AS MATERIALIZED (");
    print_query(p, q->ctes.p[k].query);
    add(p, "), ");
    p->ctes.n = scope;
}

static void add_differences(Print *p, const Query *q)
{
    sb_add(&p->out, name_of(p, q, 0, "x"));
    add(p, " AS MATERIALIZED (SELECT ");
    for (size_t k = 0; k < q->ctes.n; k++)
        for (int way = 0; way < 2; way++)
            sb_fmt(&p->out, "%s(SELECT count(*) FROM (FROM " STR_FMT " EXCEPT ALL FROM " STR_FMT "))", k || way ? " + " : "", STR_ARG(name_of(p, q, k, way ? "n" : "o")),
                   STR_ARG(name_of(p, q, k, way ? "o" : "n")));
    add(p, " AS n)");
}

/* Beyond the limit: an error, or nothing more. */
static void add_limit(Print *p, const Query *q)
{
    Str i = name_of(p, q, 0, "i"), x = name_of(p, q, 0, "x");

    sb_fmt(&p->out, " WHERE CASE WHEN " STR_FMT ".n = 0 THEN FALSE WHEN " STR_FMT ".it <= %lld THEN TRUE ELSE ", STR_ARG(x), STR_ARG(i), (long long)q->loop->limit);
    if (q->loop->end == LOOP_RETURN_AT)
        add(p, "FALSE END");
    else
        sb_fmt(&p->out, "CAST(error('Evaluation error: Recursive query exceeded the recursion limit %lld. (Use RETURN AT RECURSION LIMIT to not error, but return the current state as "
               "the final result when reaching the limit.) SQLSTATE: 54000') AS BOOLEAN) END", (long long)q->loop->limit);
}

static void add_step(Print *p, const Query *q)
{
    Str l = name_of(p, q, 0, "l"), i = name_of(p, q, 0, "i"), x = name_of(p, q, 0, "x");

    sb_fmt(&p->out, "(WITH " STR_FMT " AS (SELECT max(it) + 1 AS it FROM " STR_FMT "), ", STR_ARG(i), STR_ARG(l));
    for (size_t k = 0; k < q->ctes.n; k++)
        add_old(p, q, k);
    for (size_t k = 0; k < q->ctes.n; k++)
        add_new(p, q, k);
    add_differences(p, q);
    sb_fmt(&p->out, " SELECT " STR_FMT ".it, q.* FROM " STR_FMT ", " STR_FMT ", (SELECT -1 AS tag", STR_ARG(i), STR_ARG(i), STR_ARG(x));
    add_row(p, q, SIZE_MAX);
    for (size_t k = 0; k < q->ctes.n; k++) {
        sb_fmt(&p->out, " UNION ALL SELECT %zu", k);
        add_row(p, q, k);
        sb_fmt(&p->out, " FROM " STR_FMT " x", STR_ARG(name_of(p, q, k, "n")));
    }
    add(p, ") q");
    add_limit(p, q);
    add(p, ")");
}

void print_loop(Print *p, const Query *q)
{
    Str l = name_of(p, q, 0, "l"), f = name_of(p, q, 0, "f");

    sb_fmt(&p->out, "WITH RECURSIVE " STR_FMT "(it, tag", STR_ARG(l));
    for (size_t k = 0; k < q->ctes.n; k++)
        sb_fmt(&p->out, ", d%zu", k);
    add(p, ") AS (SELECT CAST(0 AS BIGINT), -1");
    add_row(p, q, SIZE_MAX);
    add(p, " UNION ALL ");
    add_step(p, q);
    sb_fmt(&p->out, "), " STR_FMT " AS MATERIALIZED (SELECT * FROM " STR_FMT " WHERE it = (SELECT max(it) FROM " STR_FMT "))", STR_ARG(f), STR_ARG(l), STR_ARG(l));
    for (size_t k = 0; k < q->ctes.n; k++) {
        add(p, ", ");
        sb_add(&p->out, q->ctes.p[k].engine);
        add(p, " AS (");
        add_unpacked(p, q, k);
        sb_fmt(&p->out, " FROM " STR_FMT " WHERE tag = %zu)", STR_ARG(f), k);
        vec_push(p->a, &p->ctes, ((CteName){ q->ctes.p[k].query, q->ctes.p[k].engine }));
    }
    add(p, " ");
}
