/* SPDX-License-Identifier: Apache-2.0 */
/* print_live.c - CREATE statements of the live side as the catalog keeps them (mz_objects' create_sql, SHOW CREATE).
 *
 * Names as they stand in the tree, unquoted where that reads the same, options sorted, the catalog's type in lower case; queries as written (spec/materialize.md 1.4). */
#include "sql/print_live_int.h"

static void cluster(LivePrint *p, const LiveStmt *l)
{
    if (!l->cluster.n)
        return;
    pl_word(p, "IN CLUSTER");
    pl_name(p, &l->cluster);
}

/* A secret's value is never shown. */
static void secret(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    pl_word(p, "AS '<REDACTED>'");
}

static void connection(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    pl_word(p, "TO");
    pl_upper(p, s->live->type);
    pl_options(p, &s->live->options);
    pl_with(p, &s->live->with);
}

/* ---- sinks, sources ------------------------------------------------------------------------------------------------------------------------ */

static void partition_fields(LivePrint *p, const PartitionFields *f)
{
    for (size_t i = 0; i < f->n; i++) {
        StrVec parts = {0};
        bool identity = str_eq(f->p[i].transform, S("identity"));
        if (i)
            sb_byte(&p->b, ',');
        else
            pl_word(p, "PARTITION BY (");
        if (!identity) {
            pl_word(p, "");
            sb_add(&p->b, f->p[i].transform);
            sb_byte(&p->b, '(');
        }
        if (f->p[i].width)
            sb_fmt(&p->b, "%d, ", f->p[i].width);
        str_split(p->a, f->p[i].column, '.', &parts);
        pl_name(p, &parts);
        if (!identity)
            sb_byte(&p->b, ')');
    }
    if (f->n)
        sb_byte(&p->b, ')');
}

static void order(LivePrint *p, const OrderVec *o)
{
    for (size_t i = 0; i < o->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        else
            pl_word(p, "ORDER BY (");
        if (o->p[i].expr->kind == EX_COLUMN)
            pl_name(p, &o->p[i].expr->name);
        if (o->p[i].descending)
            pl_word(p, "DESC");
        if (o->p[i].nulls_first >= 0)
            pl_word(p, o->p[i].nulls_first ? "NULLS FIRST" : "NULLS LAST");
    }
    if (o->n)
        sb_byte(&p->b, ')');
}

static void sink_key(LivePrint *p, const LiveStmt *l)
{
    if (!l->has_key)
        return;
    pl_word(p, "KEY");
    pl_list(p, &l->key);
    if (l->not_enforced)
        pl_word(p, "NOT ENFORCED");
}

static void sink(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    if (s->name.n)
        pl_name(p, &s->name);
    cluster(p, l);
    pl_word(p, "FROM");
    pl_name(p, &l->from);
    pl_word(p, "INTO");
    pl_upper(p, l->type);
    pl_word(p, "CONNECTION");
    pl_name(p, &l->connection);
    pl_options(p, &l->options);
    if (l->aws_connection.n) {
        pl_word(p, "USING AWS CONNECTION");
        pl_name(p, &l->aws_connection);
    }
    sink_key(p, l);
    if (l->headers.n) {
        pl_word(p, "HEADERS");
        pl_name(p, &l->headers);
    }
    partition_fields(p, &l->partitions);
    order(p, &l->order);
    pl_format(p, l);
    pl_envelope(p, l);
    if (l->mode.n) {
        pl_word(p, "MODE");
        pl_upper(p, l->mode);
    }
    pl_with(p, &l->with);
}

void pl_references(LivePrint *p, const LiveStmt *l)
{
    for (size_t i = 0; i < l->tables.n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_name(p, &l->tables.p[i].external);
        if (l->tables.p[i].name.n) {
            pl_word(p, "AS");
            pl_name(p, &l->tables.p[i].name);
        }
    }
}

static void for_tables(LivePrint *p, const LiveStmt *l)
{
    if (l->all_tables)
        pl_word(p, "FOR ALL TABLES");
    if (l->schemas.n) {
        pl_word(p, "FOR SCHEMAS");
        pl_list(p, &l->schemas);
    }
    if (l->tables.n) {
        pl_word(p, "FOR TABLES (");
        pl_references(p, l);
        sb_byte(&p->b, ')');
    }
}

static void source_from(LivePrint *p, const LiveStmt *l)
{
    if (str_eq(l->type, S("webhook"))) {
        pl_webhook(p, l);
        return;
    }
    pl_upper(p, l->type);
    if (l->generator.n) {
        pl_upper(p, l->generator);
    } else {
        pl_word(p, "CONNECTION");
        pl_name(p, &l->connection);
    }
    if (l->options.n)
        pl_options(p, &l->options);
    pl_format(p, l);
    pl_envelope(p, l);
}

static void source(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    pl_name(p, &s->name);
    if (s->column_names.n)
        pl_list(p, &s->column_names);
    cluster(p, l);
    pl_word(p, "FROM");
    source_from(p, l);
    for_tables(p, l);
    if (l->progress.n) {
        pl_word(p, "EXPOSE PROGRESS AS");
        pl_one(p, l->progress);
    }
    pl_with(p, &l->with);
}

/* ---- clusters, indexes, roles, types --------------------------------------------------------------------------------------------------------- */

static void cluster_object(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    pl_name(p, &s->name);
    pl_word(p, "(");
    if (l->options.n)
        pl_options_bare(p, &l->options);
    if (l->has_replicas) {
        if (l->options.n)
            sb_byte(&p->b, ',');
        pl_word(p, "REPLICAS (");
        for (size_t i = 0; i < l->replicas.n; i++) {
            if (i)
                sb_byte(&p->b, ',');
            pl_one(p, l->replicas.p[i].name);
            pl_options(p, &l->replicas.p[i].options);
        }
        sb_byte(&p->b, ')');
    }
    sb_byte(&p->b, ')');
}

static void replica(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    pl_options(p, &s->live->options);
}

static void index_object(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    if (s->name.n)
        pl_name(p, &s->name);
    cluster(p, l);
    pl_word(p, "ON");
    pl_name(p, &l->from);
    for (size_t i = 0; i < l->expr_texts.n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        else
            pl_word(p, "(");
        pl_raw(p, l->expr_texts.p[i]);
    }
    if (l->expr_texts.n)
        sb_byte(&p->b, ')');
    pl_with(p, &l->with);
}

static void role(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    for vec_each(const LiveOption, o, &s->live->options) {
        pl_upper(p, o->name);
        if (str_eq(o->name, S("PASSWORD")))
            pl_word(p, "'<REDACTED>'");
    }
}

static void type(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    pl_word(p, "AS");
    if (str_eq(s->live->type, S("record"))) {
        pl_columns(p, &s->columns);
        return;
    }
    pl_upper(p, s->live->type);
    pl_options(p, &s->live->options);
}

/* ---- relations ---------------------------------------------------------------------------------------------------------------------------------- */

static void table(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    pl_name(p, &s->name);
    if (s->columns.n)
        pl_columns(p, &s->columns);
    else if (s->column_names.n)
        pl_list(p, &s->column_names);
    if (!l)
        return;
    if (l->from.n) {
        pl_word(p, "FROM SOURCE");
        pl_name(p, &l->from);
        if (l->reference.n) {
            pl_word(p, "(REFERENCE =");
            pl_name(p, &l->reference);
            sb_byte(&p->b, ')');
        }
        pl_format(p, l);
        pl_envelope(p, l);
    } else if (str_eq(l->type, S("webhook"))) {
        pl_word(p, "FROM");
        pl_webhook(p, l);
    }
    pl_with(p, &l->with);
}

static void view(LivePrint *p, const Stmt *s)
{
    pl_name(p, &s->name);
    if (s->live && s->live->replacement) {
        pl_word(p, "FOR");
        pl_name(p, &s->live->from);
    }
    if (s->column_names.n)
        pl_list(p, &s->column_names);
    if (s->live) {
        cluster(p, s->live);
        pl_with(p, &s->live->with);
    }
    pl_word(p, "AS");
    pl_raw(p, s->query_text);
}

static void relation(LivePrint *p, const Stmt *s)
{
    if (s->temporary)
        pl_word(p, "TEMPORARY");
    if (s->kind == ST_CREATE_TABLE) {
        pl_word(p, "TABLE");
        table(p, s);
        if (s->query_text.n) {
            pl_word(p, "AS");
            pl_raw(p, s->query_text);
        }
    } else if (s->kind == ST_CREATE_NAMESPACE) {
        pl_word(p, s->live && s->live->kind == LK_DATABASE ? "DATABASE" : "SCHEMA");
        pl_name(p, &s->name);
    } else {
        if (s->live && s->live->replacement)
            pl_word(p, "REPLACEMENT");
        pl_word(p, s->kind == ST_CREATE_MV ? "MATERIALIZED VIEW" : "VIEW");
        view(p, s);
    }
}

void pl_create(LivePrint *p, const Stmt *s)
{
    static void (*const PRINTERS[LK_KINDS])(LivePrint *, const Stmt *) = {
        [LK_SECRET] = secret, [LK_CONNECTION] = connection, [LK_SINK] = sink, [LK_SOURCE] = source, [LK_CLUSTER] = cluster_object, [LK_REPLICA] = replica,
        [LK_INDEX] = index_object, [LK_ROLE] = role, [LK_TYPE] = type, [LK_TABLE] = table,
    };

    pl_word(p, "CREATE");
    if (s->kind != ST_LIVE) {
        relation(p, s);
        return;
    }
    if (s->live->is_default)
        pl_word(p, "DEFAULT");
    pl_word(p, live_kind_words(s->live->kind));
    if (PRINTERS[s->live->kind])
        PRINTERS[s->live->kind](p, s);
}

Str sql_live_text(Arena *a, const Stmt *s, LiveTextHow how)
{
    LivePrint p = { .a = a, .b = sb_new(a), .how = how };

    if (s->kind == ST_CREATE_TABLE || s->kind == ST_CREATE_VIEW || s->kind == ST_CREATE_MV || s->kind == ST_CREATE_NAMESPACE ||
        (s->kind == ST_LIVE && s->live->verb == LV_CREATE))
        pl_create(&p, s);
    else if (s->live)
        pl_other(&p, s);
    return sb_str(&p.b);
}
