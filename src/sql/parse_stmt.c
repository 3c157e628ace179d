/* SPDX-License-Identifier: Apache-2.0 */
/* parse_stmt.c - which statement it is, and the clauses that several statements share.
 *
 * What is not known is refused by name: statements that could reach the host (ATTACH, LOAD, COPY to a path …) are
 * denied, statements that other systems have are unsupported, everything else is a syntax error. */
#include "sql/parse_live_int.h"

enum { PROPS_MAX = 5000 };

static Stmt *refused(Parser *p);
static Stmt *session_stmt(Parser *p);
static Stmt *live_or_refused(Parser *p);

Stmt *p_stmt(Parser *p)
{
    const Token *t = p_peek(p, 0);

    if (p_trino(p))
        return p_stmt_trino(p);
    if (p_is_op(p, '('))
        return p_query_stmt(p);
    switch (t->kind == TK_WORD ? t->id : K_NONE) {
    case K_SELECT: case K_WITH: case K_VALUES: case K_TABLE: return p_query_stmt(p);
    case K_INSERT: return p_insert(p);
    case K_UPDATE: return p_update(p);
    case K_DELETE: return p_delete(p);
    case K_MERGE: return p_merge(p);
    case K_TRUNCATE: return p_truncate(p);
    case K_CREATE: return p_create(p);
    case K_REPLACE: return p_replace_table(p);
    case K_DROP: return p_drop(p);
    case K_ALTER: return p_alter(p);
    case K_REFRESH: return p_refresh(p);
    case K_SHOW: return p_show(p);
    case K_DESCRIBE: case K_DESC: return p_describe(p);
    case K_EXPLAIN: return p_explain(p);
    case K_CALL: return p_call_stmt(p);
    case K_USE: return p_use(p);
    default: return session_stmt(p);
    }
}

static Stmt *session_stmt(Parser *p)
{
    const Token *t = p_peek(p, 0);

    switch (t->kind == TK_WORD ? t->id : K_NONE) {
    case K_SET: return p_set(p);
    case K_RESET: return p_reset(p);
    case K_BEGIN: case K_START: case K_COMMIT: case K_END: case K_ROLLBACK: case K_ABORT: return p_transaction(p);
    case K_PREPARE: return p_prepare(p);
    case K_EXECUTE: return p_execute(p);
    case K_DEALLOCATE: return p_deallocate(p);
    case K_DECLARE: return p_declare(p);
    case K_FETCH: case K_MOVE: return p_fetch(p);
    case K_CLOSE: return p_close(p);
    case K_COPY: return p_copy(p);
    case K_DISCARD: return p_discard(p);
    case K_COMMENT: return p_comment_on(p);
    case K_ANALYZE: case K_VACUUM: case K_CACHE: case K_UNCACHE: case K_CLEAR:
    case K_SAVEPOINT: case K_RELEASE: case K_UNLISTEN: return p_noop_stmt(p);
    case K_GRANT: return p_postgres(p) ? lp_grant(p) : refused(p);
    default: return p_is_subscribe(p) ? p_subscribe(p) : live_or_refused(p);
    }
}

static Stmt *live_or_refused(Parser *p)
{
    if (p_postgres(p) && lp_is(p, "REVOKE"))
        return lp_grant(p);
    if (p_postgres(p) && lp_is(p, "VALIDATE"))
        return lp_validate(p);
    if (p_postgres(p) && lp_is(p, "REASSIGN"))
        return lp_reassign(p);
    return refused(p);
}

Stmt *s_new(Parser *p, StmtKind kind)
{
    Stmt *s = arena_new(p->a, Stmt);
    s->kind = kind;
    s->position = p_pos(p);
    return s;
}

/* Read to the end without understanding. */
Stmt *s_noop(Parser *p, Str what)
{
    Stmt *s = s_new(p, ST_NOOP);
    s->what = what;
    while (!p_at_end(p))
        p_next(p);
    return s;
}

Stmt *p_query_stmt(Parser *p)
{
    Query head = {0};
    Stmt *s = s_new(p, ST_QUERY);

    /* WITH … INSERT: the CTEs belong to the statement's query. */
    if (p_is(p, K_WITH)) {
        int start = p_pos(p);
        p_ctes(p, &head);
        if (p_is(p, K_INSERT)) {
            s = p_insert(p);
            if (s->query && s->query->ctes.n)
                P_FAIL(p, E_UNSUPPORTED, start, "WITH before and inside of INSERT is not supported");
            else if (s->query) {
                s->query->ctes = head.ctes;
                s->query->loop = head.loop;
            }
            return s;
        }
        if (p_is(p, K_UPDATE) || p_is(p, K_DELETE) || p_is(p, K_MERGE))
            P_FAIL(p, E_UNSUPPORTED, start, "WITH before UPDATE, DELETE and MERGE is not supported");
        s->query = p_query_after(p, &head, start);
    } else {
        s->query = p_query(p);
    }
    s->query_text = p_text(p, s->query->position - 1, p_last_end(p));
    if (p_as_of_starts(p))
        p_as_of_live(p, &s->as_of);
    return s;
}

/* Statements of the engine or of other systems. */
static Stmt *refused(Parser *p)
{
    static const char *const HOST[] = { "ATTACH", "DETACH", "INSTALL", "LOAD", "PRAGMA", "EXPORT", "IMPORT", "CHECKPOINT", "FORCE",
                                        "ADD", "SUMMARIZE", "DO" };
    static const char *const OTHERS[] = { "GRANT", "REVOKE", "REINDEX", "CLUSTER", "LOCK", "SECURITY", "REASSIGN",
                                          "SUBSCRIBE", "TAIL", "VALIDATE", "INSPECT", "PIVOT", "UNPIVOT", "FROM", "MSCK", "REPAIR", "LIST",
                                          "UNLOCK", "OPTIMIZE", "LISTEN", "NOTIFY" };
    const Token *t = p_peek(p, 0);
    Stmt *s = s_new(p, ST_NOOP);

    for (size_t i = 0; i < COUNT_OF(HOST); i++)
        if (p_is_word_like(p, HOST[i]))
            P_FAIL(p, E_DENIED, t->start + 1, "%s is not allowed: statements do not reach the server's files, extensions or settings", HOST[i]);
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (p_is_word_like(p, OTHERS[i]))
            P_FAIL(p, E_UNSUPPORTED, t->start + 1, "%s is not supported", OTHERS[i]);
    p_syntax(p);
    return s;
}

/* ---- shared clauses -------------------------------------------------------------------------------------------- */

void p_stmt_name(Parser *p, Stmt *s)
{
    s->position = p_pos(p);
    p_name(p, &s->name);
}

void p_if_exists(Parser *p, Stmt *s) { s->if_exists = p_take2(p, K_IF, K_EXISTS); }
void p_if_not_exists(Parser *p, Stmt *s) { s->if_not_exists = p_take3(p, K_IF, K_NOT, K_EXISTS); }

void p_query_as_text(Parser *p, Stmt *s)
{
    int from = p_pos(p) - 1;
    s->query = p_query(p);
    s->query_text = p_text(p, from, p_last_end(p));
}

void p_comment(Parser *p, Stmt *s)
{
    s->has_comment = 1;
    s->comment = p_string(p);
}

static Str prop_key(Parser *p)
{
    StrVec parts = {0};

    if (p_is_kind(p, TK_STRING))
        return p_string(p);
    do
        vec_push(p->a, &parts, p_label(p));
    while (p_take_op(p, '.'));
    return str_join(p->a, &parts, S("."));
}

Str p_prop_value(Parser *p)
{
    bool negative;
    Str s = S("");

    if (p_is_kind(p, TK_STRING) || (p->hive && p_is_kind(p, TK_QUOTED)))
        return p_string(p);
    negative = p_take_op(p, '-');
    if (p_is_kind(p, TK_NUMBER) || (!negative && (p_is(p, K_TRUE) || p_is(p, K_FALSE)))) {
        s = p_text(p, p_peek(p, 0)->start, p_peek(p, 0)->end);
        p_next(p);
        return negative ? str_cat(p->a, S("-"), s) : s;
    }
    p_syntax(p);
    return s;
}

static void add_prop(Parser *p, Props *ret, Str key, Str value)
{
    if (ret->n >= PROPS_MAX)
        P_FAIL(p, E_LIMIT, p_pos(p), "more than %d properties", PROPS_MAX);
    else
        props_set(p->a, ret, key, value);
}

void p_props(Parser *p, Props *ret)
{
    p_need_op(p, '(');
    if (p_take_op(p, ')'))
        return;
    do {
        int at = p_pos(p);
        Str key = prop_key(p);
        p_take_op(p, '=');
        Str value = p_prop_value(p);
        if (props_has(ret, key))
            P_FAIL(p, E_INVALID, at, "[DUPLICATE_KEY] Found duplicate keys '" STR_FMT "'. SQLSTATE: 23505", STR_ARG(key));
        add_prop(p, ret, key, value);
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}

void p_prop_keys(Parser *p, Props *ret)
{
    p_need_op(p, '(');
    do
        add_prop(p, ret, prop_key(p), S(""));
    while (p_take_op(p, ','));
    p_need_op(p, ')');
}

void p_assigns(Parser *p, AssignVec *ret)
{
    p->values++;
    do {
        Assign x = {0};
        if (p_is_op(p, '('))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "assigning to several columns at once is not supported");
        p_name(p, &x.column);
        p_need_op(p, '=');
        x.value = p_expr(p);
        vec_push(p->a, ret, x);
    } while (p_take_op(p, ','));
    p->values--;
}

/* ---- partition fields --------------------------------------------------------------------------------------------- */

static const struct { const char *name, *transform; int width; } TRANSFORMS[] = {
    { "identity", "identity", 0 }, { "bucket", "bucket", 1 }, { "truncate", "truncate", 1 }, { "year", "year", 0 },
    { "years", "year", 0 }, { "month", "month", 0 }, { "months", "month", 0 }, { "day", "day", 0 }, { "days", "day", 0 },
    { "date", "day", 0 }, { "hour", "hour", 0 }, { "hours", "hour", 0 }, { "date_hour", "hour", 0 },
};

static Str dotted(Parser *p)
{
    StrVec name = {0};
    p_name(p, &name);
    return str_join(p->a, &name, S("."));
}

/* bucket(16, id), truncate(4, x) and truncate(x, 4) */
static void width_arguments(Parser *p, PartitionField *f)
{
    bool first = p_is_kind(p, TK_NUMBER);
    int at = p_pos(p);
    int64_t n = 0;

    if (first) {
        n = p_integer(p);
        p_need_op(p, ',');
    }
    f->column = dotted(p);
    if (!first) {
        p_need_op(p, ',');
        at = p_pos(p);
        n = p_integer(p);
    }
    if (n < 1 || n > INT32_MAX)
        P_FAIL(p, E_INVALID, at, "invalid width %lld of the partition transform", (long long)n);
    f->width = (int)n;
}

static void transform(Parser *p, PartitionField *f)
{
    int at = p_pos(p);
    Str name = p_label(p);

    p_need_op(p, '(');
    for (size_t i = 0; i < COUNT_OF(TRANSFORMS); i++) {
        if (!str_ieq(name, str_c(TRANSFORMS[i].name)))
            continue;
        f->transform = str_c(TRANSFORMS[i].transform);
        if (TRANSFORMS[i].width)
            width_arguments(p, f);
        else
            f->column = dotted(p);
        p_need_op(p, ')');
        return;
    }
    P_FAIL(p, E_INVALID, at, "unknown partition transform '" STR_FMT "'", STR_ARG(name));
}

void p_partition_field(Parser *p, PartitionFields *ret)
{
    PartitionField f = { .transform = S("identity") };

    if (p_is_op_at(p, 1, '('))
        transform(p, &f);
    else
        f.column = dotted(p);
    vec_push(p->a, ret, f);
}

void p_partition_fields(Parser *p, PartitionFields *ret)
{
    p_need_op(p, '(');
    do {
        p_partition_field(p, ret);
        if (!p_is_op(p, ',') && !p_is_op(p, ')') && p_type_is(p))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "partition columns with types are not supported; declare the column in the table's list");
    } while (p_take_op(p, ','));
    p_need_op(p, ')');
}
