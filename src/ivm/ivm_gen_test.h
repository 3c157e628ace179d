/* SPDX-License-Identifier: Apache-2.0 */
/* ivm_gen_test.h - random queries and data for the differential test: tables, rows, and SELECTs of every incremental construct.
 *
 * Deterministic by seed.  Values are few, so that joins meet, groups repeat, rows are equal and NULLs are everywhere;
 * doubles are multiples of a quarter, so that their sums do not depend on order. */
#ifndef FIRN_IVM_GEN_TEST_H
#define FIRN_IVM_GEN_TEST_H

#include "base/base.h"

typedef struct Gen { Arena *a; uint64_t state; int next_alias, correlated; StrVec ctes; } Gen;
typedef struct GenColumn { Str text; char type; } GenColumn;     /* i int, n decimal, d double, s string, b boolean */
typedef VEC(GenColumn) GenScope;

/* A Str as a C string, evaluated once: arguments here draw random numbers. */
static inline const char *gen_z(Gen *g, Str s) { return str_z(g->a, s); }
#define Z(s) gen_z(g, s)

static const struct { const char *name, *types, *names, *nullable; } GEN_TABLES[] = {
    { "t", "iinds", "abcds", "10111" }, { "u", "iisb", "abse", "1101" }, { "w", "ini", "acx", "011" },
};

static inline uint64_t gen_next(Gen *g)
{
    g->state ^= g->state << 13;
    g->state ^= g->state >> 7;
    g->state ^= g->state << 17;
    return g->state * 0x2545F4914F6CDD1Dull >> 11;
}
static inline size_t gen_below(Gen *g, size_t n) { return (size_t)(gen_next(g) % n); }
static inline int gen_chance(Gen *g, int percent) { return (int)gen_below(g, 100) < percent; }

static inline Str gen_literal(Gen *g, char type)
{
    switch (type) {
    case 'i': return str_fmt(g->a, "%d", (int)gen_below(g, 5));
    case 'n': return str_fmt(g->a, "%d.%d0", (int)gen_below(g, 4), (int)gen_below(g, 3));
    case 'd': return str_fmt(g->a, "CAST(%d.%s AS DOUBLE)", (int)gen_below(g, 3), gen_chance(g, 50) ? "25" : "5");
    case 's': return str_fmt(g->a, "'%c'", (char)('x' + gen_below(g, 3)));
    default:  return gen_chance(g, 50) ? S("TRUE") : S("FALSE");
    }
}

/* A value for a table, in engine text. */
static inline Str gen_value(Gen *g, char type, char nullable)
{
    if (nullable == '1' && gen_chance(g, 18))
        return S("NULL");
    if (type == 'd' && gen_chance(g, 8))
        return gen_chance(g, 50) ? S("'-0.0'::DOUBLE") : S("'NaN'::DOUBLE");
    return gen_literal(g, type);
}

static inline const char *gen_sql_type(char type)
{
    return type == 'i' ? "INTEGER" : type == 'n' ? "DECIMAL(10,2)" : type == 'd' ? "DOUBLE" : type == 's' ? "VARCHAR" : "BOOLEAN";
}

/* ---- expressions ----------------------------------------------------------------------------------------- */

static inline Str gen_column(Gen *g, const GenScope *s, char type)
{
    size_t n = 0, k;
    for (size_t i = 0; i < s->n; i++)
        n += s->p[i].type == type;
    if (!n)
        return gen_literal(g, type);
    k = gen_below(g, n);
    for (size_t i = 0; i < s->n; i++)
        if (s->p[i].type == type && !k--)
            return s->p[i].text;
    return S("NULL");
}

static inline Str gen_pred(Gen *g, const GenScope *s, int depth);

static inline Str gen_expr(Gen *g, const GenScope *s, char type, int depth)
{
    if (depth <= 0 || gen_chance(g, 60))
        return gen_chance(g, 88) ? gen_column(g, s, type) : gen_literal(g, type);
    Str x = gen_expr(g, s, type, depth - 1), y = gen_expr(g, s, type, depth - 1);
    if (gen_chance(g, 25))
        return str_fmt(g->a, "coalesce(%s, %s)", Z(x), Z(y));
    if (gen_chance(g, 25))
        return str_fmt(g->a, "CASE WHEN %s THEN %s ELSE %s END", Z(gen_pred(g, s, 0)), Z(x), Z(y));
    switch (type) {
    case 'i': return str_fmt(g->a, "(%s + %d)", Z(x), (int)gen_below(g, 3));
    case 's': return str_fmt(g->a, "upper(%s)", Z(x));
    case 'b': return str_fmt(g->a, "(%s)", Z(gen_pred(g, s, depth - 1)));
    default:  return x;
    }
}

static inline Str gen_pred(Gen *g, const GenScope *s, int depth)
{
    static const char *const ops[] = { "=", "<>", "<", "<=", ">", ">=" };
    char type = "iiinsb"[gen_below(g, 6)];
    if (depth > 0 && gen_chance(g, 30))
        return str_fmt(g->a, "(%s %s %s)", Z(gen_pred(g, s, depth - 1)), gen_chance(g, 50) ? "AND" : "OR",
                       Z(gen_pred(g, s, depth - 1)));
    Str x = gen_expr(g, s, type, depth);
    if (gen_chance(g, 20))
        return str_fmt(g->a, "%s IS %sNULL", Z(x), gen_chance(g, 50) ? "NOT " : "");
    return str_fmt(g->a, "%s %s %s", Z(x), ops[gen_below(g, 6)], Z(gen_expr(g, s, type, depth)));
}

/* ---- FROM ------------------------------------------------------------------------------------------------- */

static inline Str gen_query(Gen *g, const char *types, int depth);
static inline Str gen_select(Gen *g, const char *types, int depth);

static inline const char *gen_types(Gen *g)
{
    static const char *const some[] = { "i", "ii", "is", "in", "ins", "iis", "si", "ni", "iii", "sb", "id" };
    return some[gen_below(g, COUNT_OF(some))];
}

static inline Str gen_leaf(Gen *g, GenScope *s, int depth)
{
    Str alias = str_fmt(g->a, "x%d", ++g->next_alias);
    if (depth > 0 && gen_chance(g, 25)) {
        const char *types = gen_types(g);
        Str q = gen_query(g, types, depth - 1);
        for (size_t i = 0; types[i]; i++)
            vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.o%zu", Z(alias), i + 1), types[i] }));
        return str_fmt(g->a, "(%s) %s", Z(q), Z(alias));
    }
    if (g->ctes.n && gen_chance(g, 30)) {
        size_t k = gen_below(g, g->ctes.n);
        Str types = g->ctes.p[k];
        for (size_t i = 0; i < types.n; i++)
            vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.o%zu", Z(alias), i + 1), types.p[i] }));
        return str_fmt(g->a, "cte%zu %s", k, Z(alias));
    }
    size_t k = gen_below(g, COUNT_OF(GEN_TABLES));
    for (size_t i = 0; GEN_TABLES[k].types[i]; i++)
        vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.%c", Z(alias), GEN_TABLES[k].names[i]), GEN_TABLES[k].types[i] }));
    return str_fmt(g->a, "c.n.%s %s", GEN_TABLES[k].name, Z(alias));
}

static inline Str gen_on(Gen *g, const GenScope *l, const GenScope *r, int more)
{
    char type = "iiis"[gen_below(g, 4)];
    GenScope both = {0};
    for (size_t i = 0; i < l->n; i++)
        vec_push(g->a, &both, l->p[i]);
    for (size_t i = 0; i < r->n; i++)
        vec_push(g->a, &both, r->p[i]);
    Str on = str_fmt(g->a, "%s = %s", Z(gen_column(g, l, type)), Z(gen_column(g, r, type)));
    if (more && gen_chance(g, 35))
        on = str_fmt(g->a, "%s AND %s", Z(on), Z(gen_pred(g, &both, 0)));
    return on;
}

static inline Str gen_from(Gen *g, GenScope *s, int depth)
{
    static const char *const kinds[] = { "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN" };
    Str from = gen_leaf(g, s, depth);
    size_t joins = gen_chance(g, 55) ? 0 : 1 + gen_below(g, 2);
    for (size_t i = 0; i < joins; i++) {
        GenScope r = {0};
        const char *kind = kinds[gen_below(g, COUNT_OF(kinds) - (g->correlated ? 2 : 0))];      /* an engine limit */
        Str right = gen_leaf(g, &r, depth - 1);
        from = str_fmt(g->a, "%s %s %s", Z(from), kind, Z(right));
        if (kind[0] != 'C')
            from = str_fmt(g->a, "%s ON %s", Z(from), Z(gen_on(g, s, &r, kind[0] != 'F')));
        for (size_t k = 0; k < r.n && !strstr(kind, "SEMI") && !strstr(kind, "ANTI"); k++)
            vec_push(g->a, s, r.p[k]);
    }
    return from;
}

/* ---- subqueries in WHERE ------------------------------------------------------------------------------------ */

static inline Str gen_subquery(Gen *g, const GenScope *outer, int depth)
{
    GenScope s = {0};
    char type = gen_chance(g, 80) ? 'i' : 's';
    Str not_ = gen_chance(g, 50) ? S("NOT ") : S(""), x = gen_expr(g, outer, type, 0);
    if (gen_chance(g, 20)) {
        char types[2] = { type, 0 };
        return str_fmt(g->a, "%s %sIN (%s)", Z(x), Z(not_), Z(gen_query(g, types, depth - 1)));
    }
    g->correlated++;
    Str from = gen_from(g, &s, depth - 1), where = S("");
    g->correlated--;
    if (gen_chance(g, 40))
        where = str_fmt(g->a, " WHERE %s", Z(gen_pred(g, &s, 1)));
    int in = gen_chance(g, 50);
    if (!in || gen_chance(g, 30))
        where = str_fmt(g->a, "%s%s %s", Z(where), where.n ? " AND" : " WHERE", Z(gen_on(g, outer, &s, 1)));
    if (in && type == 'i' && gen_chance(g, 15))
        return str_fmt(g->a, "%s %sIN (SELECT CAST(%s AS BIGINT) FROM %s%s)", Z(x), Z(not_), Z(gen_expr(g, &s, type, 0)), Z(from), Z(where));
    if (in)
        return str_fmt(g->a, "%s %sIN (SELECT %s FROM %s" "%s)", Z(x), Z(not_),
                       Z(gen_expr(g, &s, type, 0)), Z(from), Z(where));
    return str_fmt(g->a, "%sEXISTS (SELECT 1 FROM %s" "%s)", Z(not_), Z(from), Z(where));
}

static inline Str gen_scalar_subquery(Gen *g, int depth)
{
    GenScope s = {0};
    static const char *const aggs[] = { "count(*)", "max(%s)", "min(%s)", "count(%s)" };
    Str from = gen_from(g, &s, depth - 1), x = gen_column(g, &s, 'i');
    size_t k = gen_below(g, 4);
    Str agg = k ? str_fmt(g->a, "%.*s(%s)", k == 3 ? 5 : 3, aggs[k], Z(x)) : S("count(*)");
    return str_fmt(g->a, "(SELECT %s FROM %s)", Z(agg), Z(from));
}

static inline Str gen_where(Gen *g, const GenScope *s, int depth)
{
    StrVec parts = {0};
    if (gen_chance(g, 45))
        vec_push(g->a, &parts, gen_pred(g, s, 1));
    if (depth > 0 && gen_chance(g, 25))
        vec_push(g->a, &parts, gen_subquery(g, s, depth));
    if (depth > 0 && gen_chance(g, 6))
        vec_push(g->a, &parts, str_fmt(g->a, "%s <= %s", Z(gen_column(g, s, 'i')), Z(gen_scalar_subquery(g, depth))));
    return parts.n ? str_fmt(g->a, " WHERE %s", Z(str_join(g->a, &parts, S(" AND ")))) : S("");
}

/* ---- SELECT ------------------------------------------------------------------------------------------------- */

static inline Str gen_filter(Gen *g, const GenScope *s)
{
    return gen_chance(g, 15) ? str_fmt(g->a, " FILTER (WHERE %s)", Z(gen_pred(g, s, 0))) : S("");
}

/* An aggregate whose value has the wanted type (or one that goes with it in a set operation after a cast). */
static inline Str gen_aggregate(Gen *g, const GenScope *s, char type)
{
    Str x = gen_expr(g, s, type, 1), f = gen_filter(g, s), d = gen_chance(g, 12) ? S("DISTINCT ") : S("");
    const char *fn = "min";
    switch (type) {
    case 'i':
        if (gen_chance(g, 25))
            return str_fmt(g->a, "CAST(count(*)%s AS INT)", Z(f));
        fn = (const char *const[]){ "min", "max", "sum", "count", "sum" }[gen_below(g, 5)];
        break;
    case 'n': fn = (const char *const[]){ "min", "max", "sum", "avg" }[gen_below(g, 4)]; break;
    case 'd': {
        fn = (const char *const[]){ "min", "max", "sum", "avg", "avg" }[gen_below(g, 5)];
        if (fn[0] == 'a')
            x = gen_expr(g, s, 'i', 1);
        break;
    }
    case 's': fn = gen_chance(g, 50) ? "min" : "max"; break;
    default: fn = gen_chance(g, 50) ? "bool_and" : "bool_or"; x = gen_chance(g, 50) ? x : gen_pred(g, s, 0); break;
    }
    if (fn[0] == 'm' || fn[0] == 'b')
        d = S("");
    Str call = str_fmt(g->a, "%s(%s" "%s)%s", fn, Z(d), Z(x), Z(f));
    return type == 'i' || type == 'n' ? str_fmt(g->a, "CAST(%s AS %s)", Z(call), type == 'i' ? "INT" : "DECIMAL(10,2)") : call;
}

static inline Str gen_bare_aggregate(Gen *g, const GenScope *s)
{
    static const char *const fns[] = { "count", "sum", "avg", "min", "max", "sum", "avg" };
    char type = "innd"[gen_below(g, 4)];
    Str f = gen_filter(g, s);
    if (gen_chance(g, 20))
        return str_fmt(g->a, "count(*)%s", Z(f));
    const char *fn = fns[gen_below(g, COUNT_OF(fns))];
    return str_fmt(g->a, "%s(%s%s)%s", fn, fn[0] != 'm' && gen_chance(g, 10) ? "DISTINCT " : "",
                   Z(gen_expr(g, s, type, 1)), Z(f));
}

/* A group key: never a bare number, which would be an ordinal. */
static inline Str gen_key(Gen *g, const GenScope *s, char type, int depth)
{
    Str x = gen_expr(g, s, type, depth);
    return x.p[0] >= '0' && x.p[0] <= '9' ? str_fmt(g->a, "(%s + 0)", Z(x)) : x;
}

static inline Str gen_plain(Gen *g, const char *types, int depth)
{
    GenScope s = {0};
    StrVec items = {0};
    Str from = gen_from(g, &s, depth), where = gen_where(g, &s, depth);
    for (size_t i = 0; types[i]; i++)
        vec_push(g->a, &items, str_fmt(g->a, "%s AS o%zu", Z(gen_expr(g, &s, types[i], 1)), i + 1));
    return str_fmt(g->a, "SELECT %s%s FROM %s%s", gen_chance(g, 15) ? "DISTINCT " : "", Z(str_join(g->a, &items, S(", "))),
                   Z(from), Z(where));
}

static inline Str gen_grouped(Gen *g, const char *types, int depth)
{
    GenScope s = {0};
    StrVec items = {0}, keys = {0};
    size_t n = strlen(types);
    Str from = gen_from(g, &s, depth), where = gen_where(g, &s, depth), by = S(""), having = S("");
    size_t nkeys = gen_chance(g, 15) ? 0 : 1 + gen_below(g, 2);
    for (size_t i = 0; i < nkeys; i++)
        vec_push(g->a, &keys, gen_key(g, &s, i < n ? types[i] : 'i', gen_chance(g, 25)));
    int show = gen_chance(g, 75);
    for (size_t i = 0; i < n; i++)
        vec_push(g->a, &items, str_fmt(g->a, "%s AS o%zu", Z(i < nkeys && show ? keys.p[i] : gen_aggregate(g, &s, types[i])), i + 1));
    if (nkeys)
        by = str_fmt(g->a, " GROUP BY %s", Z(str_join(g->a, &keys, S(", "))));
    if (gen_chance(g, 20))
        having = str_fmt(g->a, " HAVING %s %s %s", Z(gen_aggregate(g, &s, 'i')), gen_chance(g, 50) ? ">" : "<=",
                         Z(depth > 0 && gen_chance(g, 15) ? gen_scalar_subquery(g, depth) : gen_literal(g, 'i')));
    return str_fmt(g->a, "SELECT %s FROM %s%s%s%s", Z(str_join(g->a, &items, S(", "))), Z(from),
                   Z(where), Z(by), Z(having));
}

static inline Str gen_select(Gen *g, const char *types, int depth)
{
    return gen_chance(g, 55) ? gen_plain(g, types, depth) : gen_grouped(g, types, depth);
}

static inline Str gen_query(Gen *g, const char *types, int depth)
{
    static const char *const ops[] = { "UNION ALL", "UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL" };
    Str q = gen_select(g, types, depth);
    if (gen_chance(g, 14))
        q = str_fmt(g->a, "%s %s %s", Z(q), ops[gen_below(g, COUNT_OF(ops))], Z(gen_select(g, types, depth - 1)));
    return q;
}

/* A grouped query whose select list holds bare aggregates and expressions over them: what MERGE and REPLACE are for. */
static inline Str gen_top_group(Gen *g, int depth)
{
    GenScope s = {0};
    StrVec items = {0}, keys = {0};
    Str from = gen_from(g, &s, depth), where = gen_where(g, &s, depth), by = S("");
    size_t nkeys = gen_chance(g, 15) ? 0 : 1 + gen_below(g, 3), n = 1 + gen_below(g, 4);
    for (size_t i = 0; i < nkeys; i++) {
        vec_push(g->a, &keys, gen_key(g, &s, "iisnbd"[gen_below(g, 6)], gen_chance(g, 20)));
        if (gen_chance(g, 80))
            vec_push(g->a, &items, str_fmt(g->a, "%s AS k%zu", Z(keys.p[i]), i + 1));
    }
    for (size_t i = 0; i < n; i++) {
        Str x = gen_bare_aggregate(g, &s);
        if (gen_chance(g, 20))
            x = str_fmt(g->a, "coalesce(%s, 0) + count(*)", Z(x));
        else if (gen_chance(g, 10))
            x = str_fmt(g->a, "CASE WHEN count(*) > 2 THEN %s END", Z(x));
        vec_push(g->a, &items, str_fmt(g->a, "%s AS v%zu", Z(x), i + 1));
    }
    if (nkeys)
        by = str_fmt(g->a, " GROUP BY %s", Z(str_join(g->a, &keys, S(", "))));
    return str_fmt(g->a, "SELECT %s FROM %s%s%s", Z(str_join(g->a, &items, S(", "))), Z(from), Z(where),
                   Z(by));
}

/* ---- what only live views keep: windows, top-k, lateral joins, functions that give rows, correlated subqueries, grouping sets ------- */

/* Every column in sight, so that rows without order are equal in all that is read. */
static inline Str gen_total_order(Gen *g, const GenScope *s)
{
    StrVec parts = {0};
    vec_push(g->a, &parts, str_fmt(g->a, "%s%s", Z(gen_column(g, s, "iinsd"[gen_below(g, 5)])), gen_chance(g, 40) ? " DESC" : ""));
    for (size_t i = 0; i < s->n; i++)
        vec_push(g->a, &parts, gen_chance(g, 30) ? str_fmt(g->a, "%s DESC", Z(s->p[i].text)) : s->p[i].text);
    return str_join(g->a, &parts, S(", "));
}

static inline Str gen_partition(Gen *g, const GenScope *s)
{
    Str key = gen_chance(g, 80) ? gen_column(g, s, 'i') : str_fmt(g->a, "(%s + 1)", Z(gen_column(g, s, 'i')));
    return gen_chance(g, 25) ? str_fmt(g->a, "%s, %s", Z(key), Z(gen_column(g, s, 's'))) : key;
}

static inline Str gen_over(Gen *g, const GenScope *s, const char *frame)
{
    return str_fmt(g->a, "OVER (PARTITION BY %s ORDER BY %s%s)", Z(gen_partition(g, s)), Z(gen_total_order(g, s)), frame);
}

static inline Str gen_window(Gen *g, const GenScope *s)
{
    static const char *const frames[] = { " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW", " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING", "",
                                          " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING" };
    const char *frame = frames[gen_below(g, COUNT_OF(frames))];
    Str x = gen_column(g, s, 'i');
    switch (gen_below(g, 9)) {
    case 0: return str_fmt(g->a, "row_number() %s", Z(gen_over(g, s, "")));
    case 1: return str_fmt(g->a, "CAST(rank() OVER (PARTITION BY %s ORDER BY %s) AS INT)", Z(gen_partition(g, s)), Z(gen_column(g, s, 'i')));
    case 2: return str_fmt(g->a, "CAST(dense_rank() OVER (PARTITION BY %s ORDER BY %s DESC) AS INT)", Z(gen_partition(g, s)), Z(gen_column(g, s, 'n')));
    case 3: return str_fmt(g->a, "lag(%s%s) %s", Z(x), gen_chance(g, 30) ? ", 2, 77" : "", Z(gen_over(g, s, "")));
    case 4: return str_fmt(g->a, "lead(%s) %s", Z(x), Z(gen_over(g, s, "")));
    case 5: return str_fmt(g->a, "first_value(%s) %s", Z(x), Z(gen_over(g, s, frame)));
    case 6: return str_fmt(g->a, "last_value(%s) %s", Z(x), Z(gen_over(g, s, frame)));
    case 7: return str_fmt(g->a, "CAST(sum(%s) OVER (PARTITION BY %s ORDER BY %s) AS INT)", Z(x), Z(gen_partition(g, s)), Z(gen_column(g, s, 'i')));
    default: return str_fmt(g->a, "CAST(%s(%s) %s AS INT)", (const char *const[]){ "sum", "count", "min", "max" }[gen_below(g, 4)], Z(x), Z(gen_over(g, s, frame)));
    }
}

/* FROM … WHERE of a subquery that names the outer columns. */
static inline Str gen_correlated_from(Gen *g, const GenScope *outer, GenScope *inner)
{
    g->correlated++;
    Str from = gen_from(g, inner, 0);
    g->correlated--;
    Str on = gen_chance(g, 85) ? gen_on(g, outer, inner, 1) : gen_pred(g, inner, 1);
    return str_fmt(g->a, "%s WHERE %s", Z(from), Z(on));
}

static inline Str gen_correlated_scalar(Gen *g, const GenScope *outer)
{
    static const char *const aggs[] = { "max(%s)", "min(%s)", "CAST(count(%s) AS INT)", "CAST(count(%s) + 1 AS INT)", "CAST(sum(%s) AS INT)" };
    GenScope s = {0};
    Str from = gen_correlated_from(g, outer, &s), x = gen_column(g, &s, 'i');
    if (gen_chance(g, 30))
        return str_fmt(g->a, "(SELECT %s FROM %s ORDER BY %s LIMIT 1)", Z(x), Z(from), Z(gen_total_order(g, &s)));
    const char *agg = aggs[gen_below(g, COUNT_OF(aggs))], *at = strstr(agg, "%s");
    return str_fmt(g->a, "(SELECT %.*s%s%s FROM %s)", (int)(at - agg), agg, Z(x), at + 2, Z(from));
}

/* A subquery as a truth value. */
static inline Str gen_truth(Gen *g, const GenScope *outer)
{
    GenScope s = {0};
    Str x = gen_column(g, outer, 'i');
    Str from = gen_chance(g, 50) ? gen_correlated_from(g, outer, &s) : gen_from(g, &s, 0);
    switch (gen_below(g, 3)) {
    case 0: return str_fmt(g->a, "%sEXISTS (SELECT 1 FROM %s)", gen_chance(g, 40) ? "NOT " : "", Z(from));
    default: return str_fmt(g->a, "%s %sIN (SELECT %s FROM %s)", Z(x), gen_chance(g, 50) ? "NOT " : "", Z(gen_column(g, &s, 'i')), Z(from));
    }
}

static inline Str gen_live_item(Gen *g, const GenScope *s)
{
    switch (gen_below(g, 5)) {
    case 0: return gen_correlated_scalar(g, s);
    case 1: return str_fmt(g->a, "CASE WHEN %s THEN 1 ELSE 0 END", Z(gen_truth(g, s)));
    case 2: return gen_expr(g, s, 'i', 1);
    default: return gen_window(g, s);
    }
}

/* A lateral relation behind what is in sight; it adds its columns. */
static inline Str gen_lateral(Gen *g, GenScope *s)
{
    Str alias = str_fmt(g->a, "x%d", ++g->next_alias);
    GenScope in = {0};
    int left = gen_chance(g, 35);
    if (gen_chance(g, 35)) {
        Str f = gen_chance(g, 60) ? str_fmt(g->a, "explode(array(%s, %s))", Z(gen_column(g, s, 'i')), Z(gen_column(g, s, 'i')))
                                  : str_fmt(g->a, "explode(sequence(1, %s))", Z(gen_column(g, s, 'i')));
        vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.o1", Z(alias)), 'i' }));
        return left ? str_fmt(g->a, " LEFT JOIN LATERAL %s AS %s(o1) ON TRUE", Z(f), Z(alias)) : str_fmt(g->a, ", LATERAL %s AS %s(o1)", Z(f), Z(alias));
    }
    Str from = gen_correlated_from(g, s, &in), body;
    switch (gen_below(g, 3)) {
    case 0: body = str_fmt(g->a, "SELECT %s AS o1, %s AS o2 FROM %s ORDER BY %s LIMIT %d", Z(gen_column(g, &in, 'i')), Z(gen_column(g, &in, 's')), Z(from),
                           Z(gen_total_order(g, &in)), 1 + (int)gen_below(g, 3)); break;
    case 1: body = str_fmt(g->a, "SELECT max(%s) AS o1, min(%s) AS o2 FROM %s", Z(gen_column(g, &in, 'i')), Z(gen_column(g, &in, 's')), Z(from)); break;
    default: {
        Str key = gen_column(g, &in, 's');
        body = gen_chance(g, 50) ? str_fmt(g->a, "SELECT %s AS o1, %s AS o2 FROM %s", Z(gen_column(g, &in, 'i')), Z(key), Z(from))
                                 : str_fmt(g->a, "SELECT CAST(count(*) AS INT) AS o1, %s AS o2 FROM %s GROUP BY %s", Z(key), Z(from), Z(key));
    }
    }
    vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.o1", Z(alias)), 'i' }));
    vec_push(g->a, s, ((GenColumn){ str_fmt(g->a, "%s.o2", Z(alias)), 's' }));
    return left ? str_fmt(g->a, " LEFT JOIN LATERAL (%s) %s ON TRUE", Z(body), Z(alias)) : str_fmt(g->a, ", LATERAL (%s) %s", Z(body), Z(alias));
}

static inline Str gen_grouping_sets(Gen *g)
{
    GenScope s = {0};
    StrVec items = {0};
    Str from = gen_from(g, &s, 1), where = gen_where(g, &s, 0), k1 = gen_column(g, &s, 'i'), k2 = gen_column(g, &s, 's'), by;
    switch (gen_below(g, 3)) {
    case 0: by = str_fmt(g->a, "ROLLUP (%s, %s)", Z(k1), Z(k2)); break;
    case 1: by = str_fmt(g->a, "CUBE (%s, %s)", Z(k1), Z(k2)); break;
    default: by = str_fmt(g->a, "GROUPING SETS ((%s), (%s, %s), ())", Z(k2), Z(k1), Z(k2)); break;
    }
    vec_push(g->a, &items, str_fmt(g->a, "%s AS k1", Z(k1)));
    vec_push(g->a, &items, str_fmt(g->a, "%s AS k2", Z(k2)));
    if (gen_chance(g, 50))
        vec_push(g->a, &items, str_fmt(g->a, "CAST(grouping(%s) AS INT) AS g", Z(k1)));
    for (size_t i = 0; i < 2; i++)
        vec_push(g->a, &items, str_fmt(g->a, "%s AS v%zu", Z(gen_bare_aggregate(g, &s)), i));
    return str_fmt(g->a, "SELECT %s FROM %s%s GROUP BY %s%s", Z(str_join(g->a, &items, S(", "))), Z(from), Z(where), Z(by), gen_chance(g, 20) ? " HAVING count(*) > 1" : "");
}

static inline Str gen_live_select(Gen *g)
{
    GenScope s = {0};
    StrVec items = {0};
    Str from = gen_chance(g, 70) ? gen_leaf(g, &s, 1) : gen_from(g, &s, 1), where = S("");
    if (gen_chance(g, 40))
        from = str_fmt(g->a, "%s%s", Z(from), Z(gen_lateral(g, &s)));
    if (gen_chance(g, 25))
        where = str_fmt(g->a, " WHERE %s OR %s", Z(gen_pred(g, &s, 0)), Z(gen_truth(g, &s)));
    else if (gen_chance(g, 30))
        where = gen_where(g, &s, 1);
    vec_push(g->a, &items, str_fmt(g->a, "%s AS o1", Z(gen_column(g, &s, 'i'))));
    vec_push(g->a, &items, str_fmt(g->a, "%s AS o2", Z(gen_live_item(g, &s))));
    vec_push(g->a, &items, str_fmt(g->a, "%s AS o3", Z(gen_chance(g, 40) ? gen_live_item(g, &s) : gen_column(g, &s, 's'))));
    Str q = str_fmt(g->a, "SELECT %s%s FROM %s%s", gen_chance(g, 10) ? "DISTINCT " : "", Z(str_join(g->a, &items, S(", "))), Z(from), Z(where));
    if (gen_chance(g, 15))
        return str_fmt(g->a, "%s QUALIFY row_number() %s <= %d", Z(q), Z(gen_over(g, &s, "")), 1 + (int)gen_below(g, 3));
    return q;
}

static inline Str gen_live_view(Gen *g)
{
    g->ctes = (StrVec){0};
    g->next_alias = 0;
    if (gen_chance(g, 15))
        return gen_grouping_sets(g);
    Str q = gen_live_select(g);
    if (gen_chance(g, 14)) {
        GenScope s = {0};
        Str from = gen_from(g, &s, 1), x = gen_column(g, &s, 's'), where = gen_where(g, &s, 1);
        return str_fmt(g->a, "SELECT %s%s AS o1, %s AS o2 FROM %s%s ORDER BY %s LIMIT %d", "", Z(x), Z(gen_expr(g, &s, 'i', 1)), Z(from), Z(where), Z(gen_total_order(g, &s)), 1 + (int)gen_below(g, 5));
    }
    switch (gen_below(g, 8)) {
    case 0: return str_fmt(g->a, "SELECT o1, count(*) AS n, sum(o2) AS t FROM (%s) q GROUP BY o1", Z(q));
    case 1: return str_fmt(g->a, "SELECT q.o1, q.o2, t.s FROM (%s) q JOIN c.n.t t ON q.o2 = t.a", Z(q));
    case 2: return str_fmt(g->a, "SELECT o1, o2 FROM (%s) q WHERE o2 <= 2", Z(q));
    case 3: return str_fmt(g->a, "SELECT o1, o2 FROM (%s) q UNION ALL SELECT a, b FROM c.n.u", Z(q));
    default: return q;
    }
}

static inline Str gen_view(Gen *g)
{
    StrBuf b = sb_new(g->a);
    g->ctes = (StrVec){0};
    g->next_alias = 0;
    size_t n = gen_chance(g, 20) ? 1 + gen_below(g, 2) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *types = gen_types(g);
        Str q = gen_query(g, types, 1);
        sb_fmt(&b, "%scte%zu AS (%s)", i ? ", " : "WITH ", i, Z(q));
        vec_push(g->a, &g->ctes, str_c(types));
    }
    Str body = gen_chance(g, 45) ? gen_top_group(g, 2) : gen_query(g, gen_types(g), 2);
    sb_fmt(&b, "%s%s", n ? " " : "", Z(body));
    return sb_str(&b);
}

#endif
