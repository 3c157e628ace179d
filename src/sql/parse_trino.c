/* SPDX-License-Identifier: Apache-2.0 */
/* parse_trino.c - which statement of Athena it is.
 *
 * Queries and DML are Trino's; most DDL is Hive's, with backquoted names, "texts" and backslashes in texts (Parser.hive); CREATE VIEW and
 * CREATE TABLE AS are Trino's again.  What Athena does not have is refused here by name; sessions' own words (SET, BEGIN …) pass, for
 * clients of the SQL door. */
#include "sql/parse_int.h"

static Stmt *drop(Parser *p);
static Stmt *show(Parser *p);
static Stmt *describe(Parser *p);
static Stmt *prepare(Parser *p);
static Stmt *execute(Parser *p);
static Stmt *deallocate(Parser *p);
static Stmt *refused(Parser *p);

static Stmt *hive(Parser *p, Stmt *(*parse)(Parser *))
{
    p->hive++;
    Stmt *s = parse(p);
    p->hive--;
    return s;
}

Stmt *p_stmt_trino(Parser *p)
{
    const Token *t = p_peek(p, 0);

    if (p_is_op(p, '('))
        return p_query_stmt(p);
    switch (t->kind == TK_WORD ? t->id : K_NONE) {
    case K_SELECT: case K_WITH: case K_VALUES: case K_TABLE: return p_query_stmt(p);
    case K_INSERT: return p_insert(p);
    case K_UPDATE: return p_update(p);
    case K_DELETE: return p_delete(p);
    case K_MERGE: return p_merge(p);
    case K_CREATE: return hive(p, p_create_trino);
    case K_DROP: return hive(p, drop);
    case K_ALTER: return hive(p, p_alter_trino);
    case K_SHOW: return hive(p, show);
    case K_DESCRIBE: case K_DESC: return hive(p, describe);
    case K_EXPLAIN: return p_explain(p);
    case K_PREPARE: return prepare(p);
    case K_EXECUTE: return execute(p);
    case K_DEALLOCATE: return deallocate(p);
    case K_VACUUM: return hive(p, p_vacuum_trino);
    case K_USE: return p_use(p);
    case K_SET: return p_set(p);
    case K_RESET: return p_reset(p);
    case K_BEGIN: case K_START: case K_COMMIT: case K_ROLLBACK: return p_transaction(p);
    case K_DISCARD: return p_discard(p);
    default: break;
    }
    if (p_is_word_like(p, "optimize"))
        return hive(p, p_optimize_trino);
    if (p_is_word_like(p, "msck"))
        return hive(p, p_repair_trino);
    if (p_is_word_like(p, "unload"))
        return p_unload_trino(p);
    return refused(p);
}

static Stmt *refused(Parser *p)
{
    static const char *const HOST[] = { "ATTACH", "DETACH", "INSTALL", "LOAD", "PRAGMA", "EXPORT", "IMPORT", "CHECKPOINT", "FORCE", "COPY", "SUMMARIZE", "DO", "ADD" };
    static const char *const OTHERS[] = { "GRANT", "REVOKE", "CALL", "ANALYZE", "TRUNCATE", "REFRESH", "COMMENT", "DENY", "USING", "LOCK", "CACHE", "REPLACE" };
    const Token *t = p_peek(p, 0);
    Stmt *s = s_new(p, ST_NOOP);

    for (size_t i = 0; i < COUNT_OF(HOST); i++)
        if (p_is_word_like(p, HOST[i]))
            P_FAIL(p, E_DENIED, t->start + 1, "%s is not allowed: statements do not reach the server's files, extensions or settings", HOST[i]);
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (p_is_word_like(p, OTHERS[i]))
            p_unsupported(p, t->start + 1, str_fmt(p->a, "%s: queries of this type are not supported", OTHERS[i]).p);
    p_expecting(p, "'ALTER', 'CREATE', 'DEALLOCATE', 'DELETE', 'DESC', 'DESCRIBE', 'DROP', 'EXECUTE', 'EXPLAIN', 'INSERT', 'MERGE', 'MSCK', 'OPTIMIZE', 'PREPARE', 'SHOW', "
                   "'UNLOAD', 'UPDATE', 'VACUUM', <query>");
    return s;
}

void p_unsupported(Parser *p, int position, const char *what)
{
    P_FAIL(p, E_UNSUPPORTED, position, "NOT_SUPPORTED: line %d:%d: %s", p_line(p, position), p_column(p, position), what);
}

/* ---- DROP ------------------------------------------------------------------------------------------------------------------ */

static Stmt *drop(Parser *p)
{
    int at = p_pos(p);

    if (p_is_at(p, 1, K_MATERIALIZED))
        p_unsupported(p, at, "materialized views are made, refreshed and dropped in Spark SQL; they can only be read here");
    Stmt *s = p_drop(p);
    s->purge = s->kind == ST_DROP_TABLE;                          /* Athena deletes an Iceberg table's files */
    return s;
}

/* ---- SHOW, DESCRIBE --------------------------------------------------------------------------------------------------------- */

static bool show_list(Parser *p, Stmt *s)
{
    static const struct { Keyword k; const char *what; } LISTS[] = {
        { K_DATABASES, "namespaces" }, { K_SCHEMAS, "namespaces" }, { K_TABLES, "tables" }, { K_VIEWS, "views" }, { K_CATALOGS, "catalogs" },
    };

    for (size_t i = 0; i < COUNT_OF(LISTS); i++)
        if (p_take(p, LISTS[i].k)) {
            s->what = str_c(LISTS[i].what);
            p_show_scope(p, s);
            return true;
        }
    return false;
}

static Stmt *show(Parser *p)
{
    Stmt *s = s_new(p, ST_SHOW);

    p_need(p, K_SHOW);
    if (show_list(p, s))
        return s;
    if (p_take2(p, K_CREATE, K_TABLE) || p_take2(p, K_CREATE, K_VIEW)) {
        s->what = p_last_is(p, "view") ? S("create view") : S("create table");
        p_stmt_name(p, s);
    } else if (p_take(p, K_TBLPROPERTIES)) {
        s->what = S("tblproperties");
        p_stmt_name(p, s);
        if (p_is_op(p, '('))
            p_prop_keys(p, &s->props);
    } else if (p_take(p, K_COLUMNS)) {
        s->what = S("columns");
        if (!p_take(p, K_IN))
            p_need(p, K_FROM);
        p_stmt_name(p, s);
        if (p_take(p, K_IN) || p_take(p, K_FROM)) {                /* SHOW COLUMNS IN t IN db */
            StrVec full = {0};
            p_name(p, &full);
            for (size_t i = 0; i < s->name.n; i++)
                vec_push(p->a, &full, s->name.p[i]);
            s->name = full;
        }
    } else if (p_take(p, K_PARTITIONS)) {
        s->what = S("partitions");
        p_stmt_name(p, s);
    } else if (p_is_word_like(p, "functions") || p_is_word_like(p, "session") || p_is_word_like(p, "stats")) {
        p_unsupported(p, s->position, "queries of this type are not supported");
    } else {
        p->hive--;
        s->kind = ST_SHOW_SETTING;
        s->setting = p_label(p);
        p->hive++;
    }
    return s;
}

static Stmt *describe(Parser *p)
{
    Stmt *s = s_new(p, ST_DESCRIBE);

    p_next(p);
    if (p_is_word_like(p, "input") || p_is_word_like(p, "output"))
        p_unsupported(p, s->position, "DESCRIBE INPUT and OUTPUT are not supported");
    if (p_take(p, K_DATABASE) || p_take(p, K_SCHEMA)) {
        s->what = S("namespace");
    } else {
        s->what = S("table");
        p_take(p, K_TABLE);
    }
    if ((p_is(p, K_EXTENDED) || p_is(p, K_FORMATTED)) && !p_is_op_at(p, 1, '.')) {
        p_next(p);
        s->extended = 1;
    }
    p_stmt_name(p, s);
    if (p_is(p, K_PARTITION))
        p_unsupported(p, p_pos(p), "DESCRIBE of a partition is not supported");
    if (p_is_ident(p, 0))
        p_name(p, &s->column_names);
    return s;
}

/* ---- prepared statements ------------------------------------------------------------------------------------------------------ */

/* PREPARE name FROM statement */
static Stmt *prepare(Parser *p)
{
    Stmt *s = s_new(p, ST_PREPARE);

    p_need(p, K_PREPARE);
    s->stmt_name = p_ident(p);
    p_need(p, K_FROM);
    int from = p_pos(p) - 1;
    if (!p_enter(p))
        return s;
    if (p_is(p, K_PREPARE))
        p_syntax(p);
    s->inner = p_stmt(p);
    p_leave(p);
    s->inner->start = from;
    s->inner->end = p_last_end(p);
    s->inner->nparams = p->nparams;
    s->query_text = p_text(p, from, p_last_end(p));
    return s;
}

/* EXECUTE name [USING a, b] */
static Stmt *execute(Parser *p)
{
    Stmt *s = s_new(p, ST_EXECUTE);

    p_need(p, K_EXECUTE);
    if (p_is(p, K_IMMEDIATE))
        p_unsupported(p, s->position, "EXECUTE IMMEDIATE is not supported");
    s->stmt_name = p_ident(p);
    if (!p_take(p, K_USING))
        return s;
    do {
        Assign x = { .value = p_expr(p) };
        vec_push(p->a, &s->call_args, x);
    } while (p_take_op(p, ','));
    return s;
}

static Stmt *deallocate(Parser *p)
{
    Stmt *s = s_new(p, ST_DEALLOCATE);

    p_need(p, K_DEALLOCATE);
    p_need(p, K_PREPARE);
    s->stmt_name = p_ident(p);
    return s;
}
