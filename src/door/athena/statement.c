/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c - what a text is, before it runs: its type in Athena's words, where its result goes, statements that the door itself carries out.
 *
 * DDL makes, changes and drops; DML is queries, writes and CREATE TABLE AS; UTILITY is what only looks (SHOW, DESCRIBE, EXPLAIN).  Results of queries
 * are CSV, of DDL and UTILITY plain text. */
#include "door/athena/athena_int.h"

/* Materialized views are made and changed elsewhere: Athena only reads them (and writes those that are not managed); so their statements have no class. */
static Status classify_parsed(const Stmt *s, AthStmt *ret, Error *err)
{
    static const char *const types[] = { [CLASS_DDL] = "DDL", [CLASS_DML] = "DML", [CLASS_UTILITY] = "UTILITY" };
    Str substatement;
    StmtClass class = sql_stmt_class(s, &substatement);

    if (class == CLASS_OTHER)
        return FAIL(err, E_SYNTAX, "Queries of this type are not supported");
    *ret = (AthStmt){ .kind = s->kind, .type = str_c(types[class]), .substatement = substatement, .what = s->what, .nparams = s->nparams };
    ret->out = s->kind == ST_QUERY ? OUT_CSV : class == CLASS_DML ? OUT_NONE : OUT_TXT;
    return OK;
}

Status stmt_classify(Arena *a, Str text, AthStmt *ret, Error *err)
{
    StmtVec stmts = {0};
    Prep prep;

    TRY(prep_parse(a, text, &prep, err));
    if (prep.kind != PREP_NONE) {
        static const char *const names[] = { [PREP_PREPARE] = "PREPARE", [PREP_EXECUTE] = "EXECUTE", [PREP_DEALLOCATE] = "DEALLOCATE" };
        bool runs = prep.kind == PREP_EXECUTE;
        *ret = (AthStmt){ .kind = ST_PREPARE, .type = runs ? S("DML") : S("UTILITY"), .substatement = str_c(names[prep.kind]), .out = runs ? OUT_CSV : OUT_TXT, .door = prep.kind };
        return OK;
    }
    TRY(sql_parse(a, ATH_DIALECT, text, &stmts, err));
    if (stmts.n != 1)
        return FAIL(err, E_SYNTAX, stmts.n ? "Only one sql statement is allowed" : "SQL statement is empty");
    return classify_parsed(stmts.p[0], ret, err);
}

Str stmt_column_name(const AthStmt *st, size_t i, Str own)
{
    static const struct { StmtKind kind; const char *what, *names[3]; } table[] = {
        { ST_SHOW, "tables", { "tab_name" } }, { ST_SHOW, "views", { "views" } }, { ST_SHOW, "namespaces", { "database_name" } }, { ST_SHOW, "columns", { "field" } },
        { ST_SHOW, "create table", { "createtab_stmt" } }, { ST_SHOW, "create view", { "Create View" } }, { ST_SHOW, "partitions", { "partition" } },
        { ST_SHOW, "tblproperties", { "prpt_name", "prpt_value" } }, { ST_DESCRIBE, "table", { "col_name", "data_type", "comment" } }, { ST_EXPLAIN, "", { "Query Plan" } },
    };
    for (size_t k = 0; k < COUNT_OF(table); k++)
        if (table[k].kind == st->kind && (!table[k].what[0] || str_eq(st->what, str_c(table[k].what))) && i < 3 && table[k].names[i])
            return str_c(table[k].names[i]);
    return own;
}

bool stmt_pads(const AthStmt *st)
{
    return (st->kind == ST_SHOW && str_eq(st->what, S("columns"))) || st->kind == ST_DESCRIBE;
}

/* ---- PREPARE, EXECUTE, DEALLOCATE ----------------------------------------------------------------------------------------------- */

typedef struct Cursor { Str text; size_t at; } Cursor;

static void skip_space(Cursor *c)
{
    while (c->at < c->text.n) {
        Str rest = str_from(c->text, c->at);
        char k = rest.p[0];
        if (k == ' ' || k == '\t' || k == '\n' || k == '\r') {
            c->at++;
        } else if (str_starts(rest, S("--"))) {
            ptrdiff_t end = str_chr(rest, '\n');
            c->at = end < 0 ? c->text.n : c->at + (size_t)end;
        } else if (str_starts(rest, S("/*"))) {
            ptrdiff_t end = str_find(rest, S("*/"));
            c->at = end < 0 ? c->text.n : c->at + (size_t)end + 2;
        } else {
            return;
        }
    }
}

static bool is_name(char k)
{
    return (k >= 'a' && k <= 'z') || (k >= 'A' && k <= 'Z') || (k >= '0' && k <= '9') || k == '_' || k == '@' || k == ':';
}

static Str take_name(Cursor *c)
{
    skip_space(c);
    bool quoted = c->at < c->text.n && c->text.p[c->at] == '"';
    size_t from = c->at += quoted;
    while (c->at < c->text.n && (is_name(c->text.p[c->at]) || (quoted && c->text.p[c->at] == '-')))
        c->at++;
    Str name = str_sub(c->text, from, c->at);
    if (!quoted)
        return name;
    bool closed = c->at < c->text.n && c->text.p[c->at] == '"';
    c->at += closed;
    return closed ? name : (Str){0};
}

static bool take_word(Cursor *c, const char *word)
{
    Cursor was = *c;
    if (str_ieq(take_name(c), str_c(word)))
        return true;
    *c = was;
    return false;
}

/* To the first of `ends` outside of quotes, brackets and comments. */
static Str take_until(Cursor *c, const char *ends)
{
    size_t from = c->at;
    int depth = 0;

    for (char quote = 0; c->at < c->text.n; c->at++) {
        char k = c->text.p[c->at];
        Cursor after = *c;
        if (quote) {
            quote = k == quote ? 0 : quote;
            continue;
        }
        skip_space(&after);
        if (after.at > c->at && (k == '-' || k == '/')) {
            c->at = after.at - 1;
            continue;
        }
        if (!depth && k && strchr(ends, k))
            break;
        if (k == '\'' || k == '"')
            quote = k;
        depth += k == '(' || k == '[';
        depth -= k == ')' || k == ']';
    }
    return str_trim(str_sub(c->text, from, c->at));
}

static Status take_using(Arena *a, Cursor *c, StrVec *ret, Error *err)
{
    bool more = take_word(c, "USING");

    while (more) {
        Str item = take_until(c, ",");
        if (!item.n)
            return FAIL(err, E_SYNTAX, "EXECUTE … USING needs an expression between its commas");
        if (ret->n >= ATH_PARAMS_MAX)
            return FAIL(err, E_LIMIT, "more than %d parameters", ATH_PARAMS_MAX);
        vec_push(a, ret, item);
        more = c->at < c->text.n;
        c->at += more;
    }
    return OK;
}

Status prep_parse(Arena *a, Str text, Prep *ret, Error *err)
{
    Cursor c = { .text = str_trim(text) };

    *ret = (Prep){0};
    while (str_ends(c.text, S(";")))
        c.text = str_trim(str_sub(c.text, 0, c.text.n - 1));
    if (take_word(&c, "PREPARE"))
        ret->kind = PREP_PREPARE;
    else if (take_word(&c, "EXECUTE"))
        ret->kind = PREP_EXECUTE;
    else if (take_word(&c, "DEALLOCATE") && take_word(&c, "PREPARE"))
        ret->kind = PREP_DEALLOCATE;
    else
        return OK;
    ret->name = take_name(&c);
    if (!ret->name.n)
        return FAIL(err, E_SYNTAX, "a prepared statement's name is missing");
    if (ret->kind == PREP_PREPARE && take_word(&c, "FROM")) {
        skip_space(&c);
        ret->query = str_from(c.text, c.at);
    }
    if (ret->kind == PREP_EXECUTE)
        TRY(take_using(a, &c, &ret->params, err));
    skip_space(&c);
    if (ret->kind == PREP_PREPARE ? !ret->query.n : c.at < c.text.n)
        return FAIL(err, E_SYNTAX, "mismatched input after the name of a prepared statement. Expecting: %s", ret->kind == PREP_PREPARE ? "'FROM'" : ret->kind == PREP_EXECUTE ? "'USING', <EOF>" : "<EOF>");
    return OK;
}
