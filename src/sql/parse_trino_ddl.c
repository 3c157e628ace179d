/* SPDX-License-Identifier: Apache-2.0 */
/* parse_trino_ddl.c - Athena's DDL: Iceberg tables, external tables (Hive's), views, ALTER; OPTIMIZE, VACUUM, MSCK, UNLOAD.
 *
 * Athena's table properties become Iceberg's here; what it means beyond that (vacuum_…, optimize_…) is kept under its own name. */
#include "sql/parse_int.h"

static Stmt *create_table(Parser *p, Stmt *s);
static Stmt *create_view(Parser *p, Stmt *s);
static Stmt *create_database(Parser *p, Stmt *s);
static void iceberg_properties(Parser *p, Stmt *s, int at);

Stmt *p_create_trino(Parser *p)
{
    Stmt *s = s_new(p, ST_CREATE_TABLE);
    int at = p_pos(p);

    p_need(p, K_CREATE);
    s->or_replace = p_take2(p, K_OR, K_REPLACE);
    if (p_is(p, K_MATERIALIZED) || p_is(p, K_MANAGED))
        p_unsupported(p, at, "materialized views are made, refreshed and dropped in Spark SQL; they can only be read here");
    if (p_is_word_like(p, "protected"))
        p_unsupported(p, at, "PROTECTED MULTI DIALECT views are not supported");
    if (p_take(p, K_VIEW))
        return create_view(p, s);
    if (s->or_replace)
        p_expecting(p, "'VIEW'");
    if (p_take(p, K_DATABASE) || p_take(p, K_SCHEMA))
        return create_database(p, s);
    if (p_take(p, K_EXTERNAL)) {
        s->hive = arena_new(p->a, HiveTable);
        s->provider = S("hive");
    }
    p_need(p, K_TABLE);
    return create_table(p, s);
}

/* The columns of a view and of CREATE TABLE AS need names of their own. */
static void need_names(Parser *p, const Query *q)
{
    while (q && q->body == BODY_SETOP)
        q = q->left;
    if (p->status || !q || q->body != BODY_SELECT || !q->select)
        return;
    for (size_t i = 0; i < q->select->items.n; i++) {
        const SelectItem *item = &q->select->items.p[i];
        if (item->alias.n || item->expr->kind == EX_STAR || item->expr->kind == EX_COLUMN || item->expr->kind == EX_FIELD)
            continue;
        P_FAIL(p, E_INVALID, item->expr->position, "COLUMN_NAME_NOT_SPECIFIED: line %d:%d: Column name not specified at position %zu", p_line(p, item->expr->position),
               p_column(p, item->expr->position), i + 1);
        return;
    }
}

/* ---- views, databases --------------------------------------------------------------------------------------------------------- */

static Stmt *create_view(Parser *p, Stmt *s)
{
    s->kind = ST_CREATE_VIEW;
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_is_op(p, '('))
        p_ident_list(p, &s->column_names);
    if (p_take(p, K_COMMENT))
        p_comment(p, s);
    if (p_take(p, K_TBLPROPERTIES))
        p_props(p, &s->props);
    p_need(p, K_AS);
    p->hive--;
    p_query_as_text(p, s);
    if (!s->column_names.n)
        need_names(p, s->query);
    p->hive++;
    return s;
}

static Stmt *create_database(Parser *p, Stmt *s)
{
    s->kind = ST_CREATE_NAMESPACE;
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    for (;;) {
        if (p_take(p, K_COMMENT))
            p_comment(p, s);
        else if (p_take(p, K_LOCATION))
            s->location = p_string(p);
        else if (p_take2(p, K_WITH, K_DBPROPERTIES))
            p_props(p, &s->props);
        else
            return s;
    }
}

/* ---- CREATE TABLE ---------------------------------------------------------------------------------------------------------------- */

static void columns(Parser *p, Stmt *s)
{
    p_need_op(p, '(');
    do
        p_column_def(p, &s->columns);
    while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* PARTITIONED BY (day(ts), region), or Hive's (region string). */
static void partitions(Parser *p, Stmt *s)
{
    if (!s->hive) {
        p_partition_fields(p, &s->partitions);
        return;
    }
    p_need_op(p, '(');
    do
        p_column_def(p, &s->hive->partition_columns);
    while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* DELIMITED FIELDS TERMINATED BY ',' … */
static void delimited(Parser *p, HiveTable *h)
{
    static const struct { const char *word, *prop; } CLAUSES[] = {
        { "fields", "field.delim" }, { "escaped", "escape.delim" }, { "collection", "collection.delim" }, { "map", "mapkey.delim" },
        { "lines", "line.delim" }, { "null", "serialization.null.format" },
    };

    h->serde = S("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe");
    for (size_t i = 0; i < COUNT_OF(CLAUSES); i++)
        while (p_is_word_like(p, CLAUSES[i].word)) {
            p_next(p);
            while (p_is_kind(p, TK_WORD))                         /* TERMINATED BY, ITEMS TERMINATED BY, DEFINED AS */
                p_next(p);
            props_set(p->a, &h->serde_props, str_c(CLAUSES[i].prop), p_string(p));
            if (p->status)
                return;
            i = 0;                                                /* in any order */
        }
}

static void row_format(Parser *p, HiveTable *h)
{
    if (p_is_word_like(p, "delimited")) {
        p_next(p);
        delimited(p, h);
        return;
    }
    p_need(p, K_SERDE);
    h->serde = p_string(p);
    if (p_is(p, K_WITH) && p_peek(p, 1)->kind == TK_WORD && str_ieq(p_peek(p, 1)->text, S("serdeproperties"))) {
        p->at += 2;
        p_props(p, &h->serde_props);
    }
}

static void stored_as(Parser *p, HiveTable *h)
{
    if (!p_is_word_like(p, "inputformat")) {
        h->stored_as = str_lower(p->a, p_label(p));
        return;
    }
    p_next(p);
    h->input_format = p_string(p);
    if (p_is_word_like(p, "outputformat")) {
        p_next(p);
        h->output_format = p_string(p);
    }
}

static bool hive_clause(Parser *p, HiveTable *h)
{
    if (p_take2(p, K_ROW, K_FORMAT)) {
        row_format(p, h);
    } else if (p_take2(p, K_STORED, K_AS)) {
        stored_as(p, h);
    } else if (p_take(p, K_CLUSTERED)) {
        p_unsupported(p, p_pos(p), "CLUSTERED BY is not supported");
    } else {
        return false;
    }
    return true;
}

static bool clause(Parser *p, Stmt *s)
{
    if (p_take2(p, K_PARTITIONED, K_BY))
        partitions(p, s);
    else if (p_take(p, K_COMMENT))
        p_comment(p, s);
    else if (p_take(p, K_LOCATION))
        s->location = p_string(p);
    else if (p_take(p, K_TBLPROPERTIES))
        p_props(p, &s->props);
    else if (!s->hive || !hive_clause(p, s->hive))
        return false;
    return true;
}

/* A field of partitioning = ARRAY['day(ts)']: the text is read as PARTITIONED BY's item. */
static void partition_text(Parser *p, Stmt *s, Str text, int at)
{
    Parser inner = { .a = p->a, .dialect = p->dialect, .lex = { .a = p->a, .dialect = p->dialect, .text = text }, .err = p->err, .hive = 1 };

    p_partition_field(&inner, &s->partitions);
    if (!inner.status && !p_at_end(&inner))
        p_syntax(&inner);
    if (inner.status) {
        p->status = inner.status;
        p->err->position = at;
    }
}

/* WITH (table_type = 'ICEBERG', partitioning = ARRAY['day(ts)'], …) */
static void with_properties(Parser *p, Stmt *s)
{
    p_need_op(p, '(');
    do {
        int at = p_pos(p);
        Str key = str_lower(p->a, p_label(p));
        p_need_op(p, '=');
        if (p_take(p, K_ARRAY)) {
            bool ours = str_eq(key, S("partitioning")) || str_eq(key, S("partitioned_by"));
            p_need_op(p, '[');
            do {
                Str item = p_string(p);
                if (ours && !p->status)
                    partition_text(p, s, item, at);
            } while (p_take_op(p, ','));
            p_need_op(p, ']');
            if (!ours)
                p_unsupported(p, at, str_fmt(p->a, "the table property " STR_FMT " is not supported", STR_ARG(key)).p);
        } else {
            props_set(p->a, &s->props, key, p_prop_value(p));
        }
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* CREATE TABLE t WITH (…) AS query */
static void table_as(Parser *p, Stmt *s)
{
    p->hive--;
    if (p_take(p, K_WITH))
        with_properties(p, s);
    p_need(p, K_AS);
    p_query_as_text(p, s);
    need_names(p, s->query);
    if (p_take(p, K_WITH)) {
        if (p_is(p, K_NO))
            p_unsupported(p, p_pos(p), "WITH NO DATA is not supported");
        p_need(p, K_DATA);
    }
    p->hive++;
}

static Stmt *create_table(Parser *p, Stmt *s)
{
    int at = s->position;

    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_is(p, K_LIKE))
        p_unsupported(p, p_pos(p), "CREATE TABLE … LIKE is not supported");
    if (p_is(p, K_WITH) || p_is(p, K_AS)) {
        if (s->hive)
            p_syntax(p);
        table_as(p, s);
    } else {
        columns(p, s);
        while (clause(p, s))
            ;
    }
    if (!s->hive && !p->status)
        iceberg_properties(p, s, at);
    return s;
}

/* ---- Athena's properties ------------------------------------------------------------------------------------------------------------- */

static bool is_data_format(Str value) { return str_ieq(value, S("parquet")); }

void p_iceberg_properties(Parser *p, Props *props, int at)
{
    static const char *const NAMES[][2] = { { "write_compression", "write.parquet.compression-codec" }, { "compression_level", "write.parquet.compression-level" },
                                            { "write_target_data_file_size_bytes", "write.target-file-size-bytes" }, { "format", "write.format.default" },
                                            { "parquet_compression", "write.parquet.compression-codec" } };
    Props out = { 0 };

    for (size_t i = 0; i < props->n; i++) {
        Str key = props->p[i].key, value = props->p[i].value;
        for (size_t k = 0; k < COUNT_OF(NAMES); k++)
            if (str_ieq(key, str_c(NAMES[k][0])))
                key = str_c(NAMES[k][1]);
        if (str_eq(key, S("write.format.default")) && !is_data_format(value))
            p_unsupported(p, at, "data files are written as PARQUET only");
        if (str_starts(key, S("write.")))
            value = str_lower(p->a, value);
        if (!str_ieq(key, S("table_type")) && !str_ieq(key, S("is_external")) && !str_ieq(key, S("location")))
            props_set(p->a, &out, key, value);
    }
    *props = out;
}

static void iceberg_properties(Parser *p, Stmt *s, int at)
{
    Str type = props_get(&s->props, S("table_type"), S(""));

    if (s->query && (!type.n || str_ieq(type, S("hive")))) {        /* CREATE TABLE AS makes Hive's tables unless told otherwise */
        s->hive = arena_new(p->a, HiveTable);
        s->provider = S("hive");
        return;
    }
    if (!str_ieq(type, S("iceberg")))
        p_unsupported(p, at, "only Iceberg tables can be made: say table_type = 'ICEBERG' in TBLPROPERTIES or WITH");
    if (!s->location.n)
        s->location = props_get(&s->props, S("location"), S(""));
    p_iceberg_properties(p, &s->props, at);
    s->provider = S("iceberg");
}

/* ---- ALTER ------------------------------------------------------------------------------------------------------------------------------ */

static void alter_properties(Parser *p, Stmt *s)
{
    for (size_t i = 0; i < s->actions.n; i++)
        if (s->actions.p[i].kind == AT_SET_PROPS || s->actions.p[i].kind == AT_UNSET_PROPS)
            p_iceberg_properties(p, &s->actions.p[i].props, s->position);
}

static void push(Parser *p, Stmt *s, AlterAction x) { vec_push(p->a, &s->actions, x); }

/* CHANGE [COLUMN] old new type [COMMENT 'x'] [FIRST | AFTER c]: two actions when it renames. */
static void change_column(Parser *p, Stmt *s, int at)
{
    AlterAction rename = { .kind = AT_RENAME_COLUMN, .position = at }, alter = { .kind = AT_ALTER_COLUMN, .position = at, .set_type = 1 };
    ColumnDef c = { .position = p_pos(p) };

    p_take(p, K_COLUMN);
    Str old = p_ident(p);
    c.name = p_ident(p);
    c.type = p_type(p);
    if ((alter.set_comment = p_take(p, K_COMMENT)))
        c.comment = p_string(p);
    if (p_take(p, K_FIRST))
        alter.set_position = c.first = 1;
    else if ((alter.set_position = p_take(p, K_AFTER)))
        c.after = p_ident(p);
    if (p->status)
        return;
    if (!str_ieq(old, c.name)) {
        vec_push(p->a, &rename.path, old);
        vec_push(p->a, &rename.names, old);
        vec_push(p->a, &rename.new_name, c.name);
        push(p, s, rename);
    }
    vec_push(p->a, &alter.path, c.name);
    vec_push(p->a, &alter.names, c.name);
    vec_push(p->a, &alter.columns, c);
    push(p, s, alter);
}

static void add_columns(Parser *p, Stmt *s, int at)
{
    AlterAction x = { .kind = AT_ADD_COLUMNS, .position = at };

    p_need_op(p, '(');
    do
        p_column_def(p, &x.columns);
    while (p_take_op(p, ','));
    p_need_op(p, ')');
    push(p, s, x);
}

static void drop_column(Parser *p, Stmt *s, int at)
{
    AlterAction x = { .kind = AT_DROP_COLUMNS, .position = at };

    p_name(p, &x.path);
    vec_push(p->a, &x.names, str_join(p->a, &x.path, S(".")));
    push(p, s, x);
}

static Stmt *alter_table(Parser *p)
{
    Stmt *s = s_new(p, ST_ALTER_TABLE);

    s->what = S("table");
    p_stmt_name(p, s);
    int at = p_pos(p);
    if (p_is2(p, K_ADD, K_PARTITION) || p_is2(p, K_DROP, K_PARTITION) || p_is2(p, K_ADD, K_IF) || p_is2(p, K_DROP, K_IF) || p_is(p, K_PARTITION))
        p_unsupported(p, at, "partitions of Iceberg tables are not added or dropped by statements");
    if (p_take2(p, K_ADD, K_COLUMNS)) {
        add_columns(p, s, at);
    } else if (p_take2(p, K_DROP, K_COLUMN)) {
        drop_column(p, s, at);
    } else if (p_take(p, K_CHANGE)) {
        change_column(p, s, at);
    } else if (p_is2(p, K_REPLACE, K_COLUMNS)) {
        p_unsupported(p, at, "REPLACE COLUMNS is not supported for Iceberg tables");
    } else if (p_is2(p, K_SET, K_TBLPROPERTIES) || p_is2(p, K_UNSET, K_TBLPROPERTIES) || p_is2(p, K_RENAME, K_TO) || p_is2(p, K_SET, K_LOCATION)) {
        p_alter_action(p, s);
        alter_properties(p, s);
    } else {
        p_expecting(p, "'ADD', 'CHANGE', 'DROP', 'RENAME', 'SET', 'UNSET'");
    }
    return s;
}

Stmt *p_alter_trino(Parser *p)
{
    int at = p_pos(p);

    p_need(p, K_ALTER);
    if (p_is(p, K_MATERIALIZED))
        p_unsupported(p, at, "materialized views are made, refreshed and dropped in Spark SQL; they can only be read here");
    if (p_is(p, K_VIEW))
        p_unsupported(p, at, "ALTER VIEW is not supported");
    if (p_take(p, K_DATABASE) || p_take(p, K_SCHEMA)) {
        Stmt *s = s_new(p, ST_ALTER_NAMESPACE);
        AlterAction x = { .kind = AT_SET_PROPS, .position = p_pos(p) };
        p_stmt_name(p, s);
        p_need(p, K_SET);
        p_need(p, K_DBPROPERTIES);
        p_props(p, &x.props);
        push(p, s, x);
        return s;
    }
    p_need(p, K_TABLE);
    return alter_table(p);
}

/* ---- upkeep, UNLOAD ------------------------------------------------------------------------------------------------------------------------ */

/* OPTIMIZE t REWRITE DATA USING BIN_PACK [WHERE …] */
Stmt *p_optimize_trino(Parser *p)
{
    Stmt *s = s_new(p, ST_OPTIMIZE);

    p_next(p);
    p_stmt_name(p, s);
    if (!p_is_word_like(p, "rewrite"))
        p_expecting(p, "'REWRITE'");
    p_next(p);
    p_need(p, K_DATA);
    p_need(p, K_USING);
    if (!p_is_word_like(p, "bin_pack"))
        p_expecting(p, "'BIN_PACK'");
    p_next(p);
    p->hive--;
    if (p_take(p, K_WHERE)) {
        int from = p_pos(p) - 1;
        s->where = p_expr(p);
        s->query_text = p_text(p, from, p_last_end(p));
    }
    p->hive++;
    return s;
}

Stmt *p_vacuum_trino(Parser *p)
{
    Stmt *s = s_new(p, ST_VACUUM);

    p_need(p, K_VACUUM);
    p_stmt_name(p, s);
    return s;
}

/* MSCK REPAIR TABLE t: finds partitions of external tables. */
Stmt *p_repair_trino(Parser *p)
{
    Stmt *s = s_new(p, ST_REPAIR_TABLE);

    p_next(p);
    if (!p_is_word_like(p, "repair"))
        p_expecting(p, "'REPAIR'");
    p_next(p);
    p_need(p, K_TABLE);
    p_stmt_name(p, s);
    return s;
}

/* UNLOAD (query) TO 's3://…' WITH (format = 'PARQUET', …) */
Stmt *p_unload_trino(Parser *p)
{
    Stmt *s = s_new(p, ST_UNLOAD);

    p_next(p);
    p_need_op(p, '(');
    p_query_as_text(p, s);
    p_need_op(p, ')');
    p_need(p, K_TO);
    s->location = p_string(p);
    p_need(p, K_WITH);
    p_need_op(p, '(');
    do {
        Str key = str_lower(p->a, p_label(p));
        p_need_op(p, '=');
        if (p_take(p, K_ARRAY)) {
            p_need_op(p, '[');
            do
                vec_push(p->a, &s->column_names, p_string(p));
            while (p_take_op(p, ','));
            p_need_op(p, ']');
        } else {
            props_set(p->a, &s->props, key, p_prop_value(p));
        }
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
    return s;
}
