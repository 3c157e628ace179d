/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_source.c - CREATE SOURCE of all kinds; CREATE TABLE … FROM SOURCE, FROM WEBHOOK. */
#include "sql/parse_live_int.h"

/* ---- webhooks ------------------------------------------------------------------------------------------------------------------- */

/* HEADERS [( [NOT] 'a', … )] | HEADER 'a' AS b [BYTES] */
static void webhook_include(Parser *p, LiveStmt *l)
{
    LiveInclude x = {0};

    if (lp_take(p, "HEADER")) {
        Str name = p_string(p);
        p_need(p, K_AS);
        x.alias = p_ident(p);
        x.name = str_cat(p->a, lp_take(p, "BYTES") ? S("header bytes:") : S("header:"), name);
        vec_push(p->a, &l->include, x);
        return;
    }
    lp_need(p, "HEADERS");
    x.name = S("headers");
    vec_push(p->a, &l->include, x);
    if (!p_take_op(p, '('))
        return;
    do {
        bool not = p_take(p, K_NOT);
        x.name = str_cat(p->a, not ? S("not header:") : S("only header:"), p_string(p));
        lp_room(p, l->include.n);
        vec_push(p->a, &l->include, x);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

/* HEADERS [AS h] [BYTES], BODY [AS b] [BYTES], SECRET s [AS n] [BYTES] */
static void check_input(Parser *p, LiveStmt *l)
{
    LiveOption o = { .position = p_pos(p) };

    if (lp_take(p, "HEADERS")) {
        o.name = S("HEADERS");
    } else if (lp_take(p, "BODY")) {
        o.name = S("BODY");
    } else {
        lp_need(p, "SECRET");
        o.kind = OPT_SECRET;
        p_name(p, &o.names);
    }
    if (p_take(p, K_AS)) {
        o.text = p_ident(p);
        if (o.name.n) {
            o.kind = OPT_NAME;
            vec_push(p->a, &o.names, o.text);
        }
    }
    if (lp_take(p, "BYTES"))
        lp_push(p, &o.list, (LiveOption){ .name = S("BYTES"), .position = p_pos(p) });
    lp_push(p, &l->check_with, o);
    if (o.kind == OPT_SECRET && !p->status)
        vec_last(&l->check_with).name = S("SECRET");         /* there may be several */
}

/* CHECK ( [WITH ( … )] expression ) */
static void check(Parser *p, LiveStmt *l)
{
    p_need_op(p, '(');
    if (p_is(p, K_WITH)) {
        p_next(p);
        p_need_op(p, '(');
        do
            check_input(p, l);
        while (p_take_op(p, ','));
        p_need_op(p, ')');
    }
    int from = p_pos(p) - 1;
    l->check = p_expr(p);
    l->check_text = p_text(p, from, p_last_end(p));
    p_need_op(p, ')');
}

bool lp_webhook(Parser *p, LiveStmt *l)
{
    if (!lp_take(p, "WEBHOOK"))
        return false;
    l->type = S("webhook");
    lp_need(p, "BODY FORMAT");
    if (lp_take(p, "JSON ARRAY"))
        l->format.kind = S("json array");
    else if (lp_take(p, "JSON"))
        l->format.kind = S("json");
    else if (lp_take(p, "TEXT"))
        l->format.kind = S("text");
    else if (lp_take(p, "BYTES"))
        l->format.kind = S("bytes");
    else
        p_syntax(p);
    while (lp_take(p, "INCLUDE"))
        do
            webhook_include(p, l);
        while (p_take_op(p, ','));
    if (p_take(p, K_CHECK))
        check(p, l);
    return true;
}

/* ---- where a source reads ---------------------------------------------------------------------------------------------------------- */

static void generator(Parser *p, LiveStmt *l)
{
    static const char *const KINDS[] = { "CLOCK", "COUNTER", "MARKETING", "AUCTION", "TPCH", "DATUMS", "KEY VALUE" };

    l->type = S("load generator");
    for (size_t i = 0; i < COUNT_OF(KINDS) && !l->generator.n; i++)
        if (lp_take(p, KINDS[i]))
            l->generator = str_lower(p->a, str_c(KINDS[i]));
    if (!l->generator.n)
        p_syntax(p);
    if (p_is_op(p, '('))
        lp_options(p, LIVE_OPT_GENERATOR, &l->options);
}

static void from(Parser *p, LiveStmt *l)
{
    static const struct { const char *words, *type; LiveOptionNames options; } KINDS[] = {
        { "POSTGRES CONNECTION", "postgres", LIVE_OPT_SOURCE_POSTGRES }, { "KAFKA CONNECTION", "kafka", LIVE_OPT_SOURCE_KAFKA },
        { "MYSQL CONNECTION", "mysql", LIVE_OPT_SOURCE_POSTGRES }, { "SQL SERVER CONNECTION", "sql server", LIVE_OPT_SOURCE_POSTGRES },
        { "ICEBERG CATALOG CONNECTION", "iceberg catalog", LIVE_OPT_SOURCE_ICEBERG },
    };

    if (lp_take(p, "LOAD GENERATOR")) {
        generator(p, l);
        return;
    }
    if (lp_webhook(p, l))
        return;
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (lp_take(p, KINDS[i].words)) {
            l->type = str_c(KINDS[i].type);
            p_name(p, &l->connection);
            if (p_is_op(p, '('))
                lp_options(p, KINDS[i].options, &l->options);
            return;
        }
    p_syntax(p);
}

void lp_references(Parser *p, LiveStmt *l)
{
    do {
        LiveReference r = {0};
        p_name(p, &r.external);
        if (p_take(p, K_AS) || (p_is(p, K_INTO) && (p_next(p), true)))
            p_name(p, &r.name);
        lp_room(p, l->tables.n);
        vec_push(p->a, &l->tables, r);
    } while (p_take_op(p, ','));
}

/* FOR ALL TABLES | FOR TABLES (…) | FOR SCHEMAS (…) */
static bool for_tables(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "FOR ALL TABLES")) {
        l->all_tables = 1;
    } else if (lp_take(p, "FOR TABLES")) {
        p_need_op(p, '(');
        lp_references(p, l);
        p_need_op(p, ')');
    } else if (lp_take(p, "FOR SCHEMAS")) {
        p_ident_list(p, &l->schemas);
    } else {
        return false;
    }
    return true;
}

void lp_create_source(Parser *p, Stmt *s)
{
    LiveStmt *l = s->live;

    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_is_op(p, '('))
        p_ident_list(p, &s->column_names);
    lp_in_cluster(p, l);
    p_need(p, K_FROM);
    from(p, l);
    if (!str_eq(l->type, S("webhook")))
        lp_format_clauses(p, l);
    for_tables(p, l);
    if (lp_take(p, "EXPOSE PROGRESS")) {
        p_need(p, K_AS);
        l->progress = p_ident(p);
    }
    lp_with(p, LIVE_OPT_SOURCE, &l->with);
}

/* ---- tables from sources --------------------------------------------------------------------------------------------------------------- */

static void table_source(Parser *p, Stmt *s)
{
    LiveStmt *l = lp_live(p, s, LV_CREATE, LK_TABLE);

    p_name(p, &l->from);
    if (p_take_op(p, '(')) {
        lp_need(p, "REFERENCE");
        p_take_op(p, '=');
        if (p_is_kind(p, TK_STRING))
            vec_push(p->a, &l->reference, p_string(p));
        else
            p_name(p, &l->reference);
        p_need_op(p, ')');
    }
    lp_format_clauses(p, l);
    lp_with(p, LIVE_OPT_TABLE, &l->with);
}

/* Behind the name and the columns. */
bool lp_table_from(Parser *p, Stmt *s)
{
    if (!p_is(p, K_FROM))
        return false;
    p_next(p);
    if (lp_take(p, "SOURCE")) {
        table_source(p, s);
    } else {
        s->kind = ST_LIVE;
        if (!lp_webhook(p, lp_live(p, s, LV_CREATE, LK_TABLE)))
            p_syntax(p);
    }
    return true;
}
