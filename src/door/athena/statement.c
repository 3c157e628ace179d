/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c - what a text is, before it runs: its type in Athena's words, where its result goes, statements that the door itself carries out.
 *
 * DDL makes, changes and drops; DML is queries, writes and CREATE TABLE AS; UTILITY is what only looks (SHOW, DESCRIBE, EXPLAIN).  Results of queries
 * are CSV, of DDL and UTILITY plain text. */
#include "door/athena/athena_int.h"

/* Materialized views are made and changed elsewhere: Athena only reads them (and writes those that are not managed). */
typedef struct KindRow { StmtKind kind; const char *type, *substatement; OutKind out; } KindRow;
static const KindRow KINDS[] = {
    { ST_QUERY, "DML", "SELECT", OUT_CSV }, { ST_INSERT, "DML", "INSERT", OUT_NONE }, { ST_UPDATE, "DML", "UPDATE", OUT_NONE }, { ST_DELETE, "DML", "DELETE", OUT_NONE },
    { ST_MERGE, "DML", "MERGE", OUT_NONE }, { ST_TRUNCATE, "DML", "TRUNCATE", OUT_NONE }, { ST_CREATE_TABLE, "DDL", "CREATE_TABLE", OUT_TXT },
    { ST_DROP_TABLE, "DDL", "DROP_TABLE", OUT_TXT }, { ST_ALTER_TABLE, "DDL", "ALTER_TABLE", OUT_TXT }, { ST_CREATE_VIEW, "DDL", "CREATE_VIEW", OUT_TXT },
    { ST_DROP_VIEW, "DDL", "DROP_VIEW", OUT_TXT }, { ST_CREATE_NAMESPACE, "DDL", "CREATE_DATABASE", OUT_TXT }, { ST_DROP_NAMESPACE, "DDL", "DROP_DATABASE", OUT_TXT },
    { ST_ALTER_NAMESPACE, "DDL", "ALTER_DATABASE", OUT_TXT },
    { ST_SHOW, "UTILITY", "SHOW", OUT_TXT }, { ST_DESCRIBE, "UTILITY", "DESCRIBE", OUT_TXT },
    { ST_EXPLAIN, "UTILITY", "EXPLAIN", OUT_TXT }, { ST_CALL, "DDL", "CALL", OUT_TXT },
};

static const KindRow *kind_row(StmtKind k)
{
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (KINDS[i].kind == k)
            return &KINDS[i];
    return NULL;
}

static Str substatement(Arena *a, const KindRow *row, const Stmt *s)
{
    if (s->kind == ST_CREATE_TABLE && s->query)
        return S("CREATE_TABLE_AS_SELECT");
    if ((s->kind == ST_SHOW || s->kind == ST_DESCRIBE) && s->what.n) {
        StrBuf b = sb_new(a);
        sb_fmt(&b, "%s_", row->substatement);
        Str what = str_upper(a, s->what);
        for (size_t i = 0; i < what.n; i++)
            sb_byte(&b, what.p[i] == ' ' ? '_' : what.p[i]);
        return sb_str(&b);
    }
    return str_c(row->substatement);
}

static Status classify_parsed(Arena *a, const Stmt *s, AthStmt *ret, Error *err)
{
    const KindRow *row = kind_row(s->kind);

    if (!row)
        return FAIL(err, E_SYNTAX, "Queries of this type are not supported");
    *ret = (AthStmt){ .kind = s->kind, .type = str_c(row->type), .what = s->what, .out = row->out, .nparams = s->nparams };
    ret->substatement = substatement(a, row, s);
    if (s->kind == ST_CREATE_TABLE && s->query) {
        ret->type = S("DML");
        ret->out = OUT_NONE;
    }
    return OK;
}

Status stmt_classify(Arena *a, Str text, AthStmt *ret, Error *err)
{
    StmtVec stmts = {0};
    UnloadText unload;
    Prep prep;

    TRY(prep_parse(a, text, &prep, err));
    if (prep.kind != PREP_NONE) {
        static const char *const names[] = { [PREP_PREPARE] = "PREPARE", [PREP_EXECUTE] = "EXECUTE", [PREP_DEALLOCATE] = "DEALLOCATE" };
        *ret = (AthStmt){ .kind = ST_PREPARE, .type = S("DDL"), .substatement = str_c(names[prep.kind]), .out = prep.kind == PREP_EXECUTE ? OUT_CSV : OUT_TXT, .door = prep.kind };
        ret->type = prep.kind == PREP_EXECUTE ? S("DML") : S("DDL");
        return OK;
    }
    TRY(unload_parse(a, text, &unload, err));
    TRY(sql_parse(a, ATH_DIALECT, unload.query.n ? unload.query : text, &stmts, err));
    if (unload.query.n && (stmts.n != 1 || stmts.p[0]->kind != ST_QUERY))
        return FAIL(err, E_SYNTAX, "UNLOAD takes one query");
    if (unload.query.n) {
        *ret = (AthStmt){ .kind = ST_QUERY, .type = S("DML"), .substatement = S("UNLOAD"), .out = OUT_NONE, .nparams = stmts.p[0]->nparams, .unload = 1 };
        return OK;
    }
    if (stmts.n != 1)
        return FAIL(err, E_SYNTAX, stmts.n ? "Only one sql statement is allowed" : "SQL statement is empty");
    return classify_parsed(a, stmts.p[0], ret, err);
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

static bool take_char(Cursor *c, char k)
{
    skip_space(c);
    bool there = c->at < c->text.n && c->text.p[c->at] == k;
    c->at += there;
    return there;
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

/* ---- UNLOAD --------------------------------------------------------------------------------------------------------------------- */

/* 'it''s' */
static bool take_string(Arena *a, Cursor *c, Str *ret)
{
    StrBuf b = sb_new(a);

    if (!take_char(c, '\''))
        return false;
    while (c->at < c->text.n) {
        char k = c->text.p[c->at++];
        if (k == '\'' && !(c->at < c->text.n && c->text.p[c->at] == '\'')) {
            *ret = sb_str(&b);
            return true;
        }
        c->at += k == '\'';
        sb_byte(&b, k);
    }
    return false;
}

static Status unload_option(Arena *a, Cursor *c, Unload *to, Error *err)
{
    Str name = take_name(c), value = {0};

    if (!name.n || !take_char(c, '='))
        return FAIL(err, E_SYNTAX, "UNLOAD … WITH needs name = value");
    if (!take_string(a, c, &value))
        value = take_until(c, ",)");
    if (str_ieq(name, S("format")))
        to->format = value;
    else if (str_ieq(name, S("compression")))
        to->compression = value;
    else
        return FAIL(err, E_UNSUPPORTED, "UNLOAD option '" STR_FMT "' is not supported: format and compression are", STR_ARG(name));
    return OK;
}

Status unload_parse(Arena *a, Str text, UnloadText *ret, Error *err)
{
    Cursor c = { .text = str_trim(text) };

    *ret = (UnloadText){0};
    while (str_ends(c.text, S(";")))
        c.text = str_trim(str_sub(c.text, 0, c.text.n - 1));
    if (!take_word(&c, "UNLOAD"))
        return OK;
    if (!take_char(&c, '('))
        return FAIL(err, E_SYNTAX, "UNLOAD needs its query in parentheses");
    ret->query = take_until(&c, ")");
    if (!ret->query.n || !take_char(&c, ')') || !take_word(&c, "TO") || !take_string(a, &c, &ret->to.location))
        return FAIL(err, E_SYNTAX, "UNLOAD (query) TO 's3://…' is expected");
    if (take_word(&c, "WITH")) {
        bool more = take_char(&c, '(');
        while (more) {
            TRY(unload_option(a, &c, &ret->to, err));
            more = take_char(&c, ',');
        }
        if (!take_char(&c, ')'))
            return FAIL(err, E_SYNTAX, "UNLOAD … WITH needs a closing parenthesis");
    }
    skip_space(&c);
    if (c.at < c.text.n)
        return FAIL(err, E_SYNTAX, "mismatched input after UNLOAD. Expecting: <EOF>");
    return OK;
}
