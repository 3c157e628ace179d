/* SPDX-License-Identifier: Apache-2.0 */
/* print_from.c - bound table references as the engine's text: name or parenthesised query, AS alias.
 *
 * Functions in FROM become queries with unnest, so that arrays of outer columns need nothing special. */
#include "sql/print_int.h"

static void add(Print *p, const char *z) { sb_addc(&p->out, z); }

static void print_alias(Print *p, const TableRef *t)
{
    add(p, " AS ");
    sb_add(&p->out, t->engine);
}

static void print_base(Print *p, const TableRef *t)
{
    if (!p->p->table) {
        PRINT_FAIL(p, E_INTERNAL, "no text for base tables");
        return;
    }
    p->status = p->p->table(p->p->ctx, &p->out, t, p->err);
    print_alias(p, t);
}

/* A reference to a CTE that is not in scope here (a part of a query printed alone) is written out. */
static void print_cte_ref(Print *p, const TableRef *t)
{
    for (size_t i = p->ctes.n; i-- > 0;)
        if (p->ctes.p[i].query == t->query) {
            sb_add(&p->out, p->ctes.p[i].engine);
            print_alias(p, t);
            return;
        }
    add(p, "(");
    print_query(p, t->query);
    add(p, ")");
    print_alias(p, t);
}

/* ---- joins ------------------------------------------------------------------------------------------------------- */

static const char *join_words(JoinKind k)
{
    static const char *const words[] = {
        [JOIN_INNER] = " INNER JOIN ", [JOIN_LEFT] = " LEFT JOIN ", [JOIN_RIGHT] = " RIGHT JOIN ", [JOIN_FULL] = " FULL JOIN ",
        [JOIN_CROSS] = " CROSS JOIN ", [JOIN_SEMI] = " SEMI JOIN ", [JOIN_ANTI] = " ANTI JOIN ",
    };
    return words[k];
}

static void print_join(Print *p, const TableRef *t)
{
    add(p, "(");
    print_table(p, t->left);
    add(p, join_words(t->join));
    if (t->right->kind == TR_FUNCTION || (t->right->kind == TR_QUERY && t->right->lateral))
        add(p, "LATERAL ");
    print_table(p, t->right);
    if (t->join != JOIN_CROSS) {
        add(p, " ON ");
        print_expr(p, t->on);
    }
    add(p, ")");
}

/* ---- functions ----------------------------------------------------------------------------------------------------- */

static void as_column(Print *p, const TableRef *t, size_t i)
{
    add(p, " AS ");
    sql_ident(&p->out, t->columns.p[i].engine);
}

/* OUTER: an empty or NULL array gives one row of NULL. */
static void print_unnest(Print *p, const TableRef *t, const Expr *array, const char *part)
{
    add(p, "unnest(");
    if (t->outer)
        add(p, "CASE WHEN len(");
    for (int i = 0; i < (t->outer ? 2 : 1); i++) {
        if (i)
            add(p, ") > 0 THEN ");
        add(p, part);
        print_expr(p, array);
        add(p, *part ? ")" : "");
    }
    add(p, t->outer ? " ELSE [NULL] END)" : ")");
}

/* The number of the row; of several lists up to the end of the longest. */
static void print_ordinality(Print *p, const TableRef *t, size_t col)
{
    add(p, t->args.n > 1 ? ", unnest(range(1, 1 + greatest(" : ", generate_subscripts(");
    for (size_t i = 0; i < t->args.n; i++) {
        add(p, i ? ", " : "");
        add(p, t->args.n > 1 ? "len(" : "");
        print_expr(p, t->args.p[i]);
        add(p, t->args.n > 1 ? ")" : "");
    }
    add(p, t->args.n > 1 ? ")))" : ", 1)");
    as_column(p, t, col);
}

static void print_explode(Print *p, const TableRef *t)
{
    size_t col = 0;

    if (str_eq(t->name.p[0], S("posexplode"))) {
        add(p, "CAST(");
        add(p, t->outer ? "CASE WHEN len(" : "generate_subscripts(");
        print_expr(p, t->args.p[0]);
        if (t->outer) {
            add(p, ") > 0 THEN generate_subscripts(");
            print_expr(p, t->args.p[0]);
        }
        add(p, t->outer ? ", 1) - 1 END AS INTEGER)" : ", 1) - 1 AS INTEGER)");
        as_column(p, t, col++);
    }
    for (size_t i = 0; i < t->args.n; i++) {
        if (col)
            add(p, ", ");
        int is_map = t->args.p[i]->type.kind == DT_MAP;
        print_unnest(p, t, t->args.p[i], is_map ? "map_keys(" : "");
        as_column(p, t, col++);
        if (!is_map)
            continue;
        add(p, ", ");
        print_unnest(p, t, t->args.p[i], "map_values(");
        as_column(p, t, col++);
    }
    if (t->ordinality)
        print_ordinality(p, t, col);
}

/* The elements of one array, or a part of each; NULL behind its end. */
static void print_elements(Print *p, const TableRef *t, size_t col, const Expr *array, const char *part, Str field)
{
    add(p, col ? ", " : "");
    add(p, field.n ? "struct_extract(unnest(" : "unnest(");
    add(p, part);
    print_expr(p, array);
    add(p, *part ? "))" : ")");
    if (field.n) {
        add(p, ", ");
        sql_lit(&p->out, field);
        add(p, ")");
    }
    as_column(p, t, col);
}

/* Trino's UNNEST. The longest array decides how many rows there are. */
static void print_unnest_trino(Print *p, const TableRef *t)
{
    size_t col = 0;

    for (size_t i = 0; i < t->args.n; i++) {
        const DataType *a = &t->args.p[i]->type, *item = &a->children[0];
        if (a->kind == DT_MAP) {
            print_elements(p, t, col++, t->args.p[i], "map_keys(", S(""));
            print_elements(p, t, col++, t->args.p[i], "map_values(", S(""));
        } else if (item->kind == DT_STRUCT) {
            for (size_t k = 0; k < item->nchildren; k++)
                print_elements(p, t, col++, t->args.p[i], "", item->names[k]);
        } else {
            print_elements(p, t, col++, t->args.p[i], "", S(""));
        }
    }
    if (!t->ordinality)
        return;
    add(p, ", unnest(range(1, 1 + greatest(0");
    for (size_t i = 0; i < t->args.n; i++) {
        add(p, t->args.p[i]->type.kind == DT_MAP ? ", cardinality(" : ", len(");
        print_expr(p, t->args.p[i]);
        add(p, ")");
    }
    add(p, ")))");
    as_column(p, t, col);
}

static void print_inline(Print *p, const TableRef *t)
{
    for (size_t i = 0; i < t->columns.n; i++) {
        if (i)
            add(p, ", ");
        add(p, "struct_extract(firn_row, ");
        sql_lit(&p->out, t->args.p[0]->type.children[0].names[i]);
        add(p, ")");
        as_column(p, t, i);
    }
    add(p, " FROM (SELECT ");
    print_unnest(p, t, t->args.p[0], "");
    add(p, " AS firn_row)");
}

static void print_stack(Print *p, const TableRef *t)
{
    size_t width = t->columns.n;

    for (size_t j = 0; j < width; j++) {
        add(p, j ? ", unnest([" : "unnest([");
        for (size_t i = 1 + j; i < t->args.n; i += width) {
            if (i > width)
                add(p, ", ");
            print_expr(p, t->args.p[i]);
        }
        add(p, "])");
        as_column(p, t, j);
    }
}

static void print_json_tuple(Print *p, const TableRef *t)
{
    for (size_t i = 1; i < t->args.n; i++) {
        add(p, i > 1 ? ", json_extract_string(" : "json_extract_string(");
        print_expr(p, t->args.p[0]);
        add(p, ", '$.\"' || ");
        print_expr(p, t->args.p[i]);
        add(p, " || '\"')");
        as_column(p, t, i - 1);
    }
}

/* As a list, whose places are known. */
static void print_numbered_series(Print *p, const TableRef *t)
{
    add(p, "CAST(unnest(");
    for (int i = 0; i < 2; i++) {
        sb_add(&p->out, t->name.p[0]);
        add(p, "(");
        print_exprs(p, &t->args, 0);
        add(p, i ? "), 1)" : ")) AS ");
        if (i)
            break;
        print_type(p, &t->columns.p[0].type);
        add(p, ")");
        as_column(p, t, 0);
        add(p, ", generate_subscripts(");
    }
    as_column(p, t, 1);
}

static void print_series(Print *p, const TableRef *t)
{
    Str name = t->name.p[0];

    if (t->ordinality) {
        print_numbered_series(p, t);
        return;
    }
    add(p, "CAST(");
    sb_add(&p->out, name);
    add(p, " AS ");
    print_type(p, &t->columns.p[0].type);
    add(p, ")");
    as_column(p, t, 0);
    add(p, " FROM ");
    sb_add(&p->out, name);
    add(p, "(");
    print_exprs(p, &t->args, 0);
    add(p, ")");
}

static void print_json_each(Print *p, const TableRef *t)
{
    add(p, "key");
    as_column(p, t, 0);
    add(p, str_ends(t->name.p[0], S("_text")) ? ", value ->> '$'" : ", value");
    as_column(p, t, 1);
    add(p, " FROM json_each(CASE WHEN json_type(");
    print_expr(p, t->args.p[0]);
    add(p, ") = 'OBJECT' THEN ");
    print_expr(p, t->args.p[0]);
    add(p, " END)");
}

/* A call as a relation.  The place of a row: that of the element in the list which is spread ("unnest(" list ")"). */
static void print_one_call(Print *p, const TableRef *t)
{
    const Expr *e = t->args.p[0];
    Str list = e->kind == EX_FUNCTION ? e->func->engine : S("");

    print_expr(p, e);
    as_column(p, t, 0);
    if (!t->ordinality)
        return;
    if (e->kind == EX_FUNCTION && e->func->class == FN_TABLE) {
        add(p, ", generate_subscripts(");
        print_template(p, str_sub(list, 7, list.n - 1), &e->args, e);
        add(p, ", 1)");
    } else {
        add(p, ", CAST(1 AS BIGINT)");
    }
    as_column(p, t, 1);
}

static void print_function(Print *p, const TableRef *t)
{
    Str name = t->name.p[0];

    add(p, "(SELECT ");
    if (str_eq(name, S("inline"))) {
        print_inline(p, t);
    } else if (str_eq(name, S("stack"))) {
        print_stack(p, t);
    } else if (str_eq(name, S("json_tuple"))) {
        print_json_tuple(p, t);
    } else if (str_eq(name, S("range")) || str_eq(name, S("generate_series"))) {
        print_series(p, t);
    } else if (t->name.n > 1) {
        print_unnest_trino(p, t);
    } else if (str_eq(name, S("(scalar)"))) {
        print_one_call(p, t);
    } else if (str_eq(name, S("jsonb_each")) || str_eq(name, S("jsonb_each_text")) || str_eq(name, S("json_each")) || str_eq(name, S("json_each_text"))) {
        print_json_each(p, t);
    } else {
        print_explode(p, t);
    }
    add(p, ")");
    print_alias(p, t);
}

void print_table(Print *p, const TableRef *t)
{
    if (p->status != OK)
        return;
    switch (t->kind) {
    case TR_TABLE: case TR_FILE: print_base(p, t); return;
    case TR_CTE: print_cte_ref(p, t); return;
    case TR_JOIN: print_join(p, t); return;
    case TR_FUNCTION: print_function(p, t); return;
    case TR_QUERY:
        add(p, "(");
        print_query(p, t->query);
        add(p, ")");
        print_alias(p, t);
        return;
    case TR_VALUES:
        add(p, "(");
        print_values(p, t->rows.p, t->rows.n);
        add(p, ")");
        print_alias(p, t);
        print_names(p, &t->columns);
        return;
    }
}
