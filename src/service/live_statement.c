/* SPDX-License-Identifier: Apache-2.0 */
/* live_statement.c - which statements are the live side's: asked once, before the lake's own way with them.
 *
 * What changes names runs alone (realm_ddl_begin), but for what asks elsewhere first (connections, sources): those store in one step what they have found. */
#include "service/live_connection.h"
#include "service/live_sql.h"

typedef enum { ALONE, TOGETHER } LiveHow;

/* ---- who does what ----------------------------------------------------------------------------------------------------------------- */

static const struct { LiveKind kind; LiveHow how; LiveHandler create, alter; } table[] = {
    { LK_DATABASE, ALONE, live_create_database, live_alter }, { LK_SCHEMA, ALONE, live_create_schema, live_alter },
    { LK_CLUSTER, ALONE, live_create_cluster, live_alter_cluster }, { LK_REPLICA, ALONE, live_create_replica, live_alter_cluster },
    { LK_ROLE, ALONE, live_create_role, live_alter_role }, { LK_SECRET, ALONE, live_create_secret, live_alter_secret },
    { LK_CONNECTION, TOGETHER, live_create_connection, live_alter_connection }, { LK_SOURCE, TOGETHER, live_create_source, live_alter_source },
    { LK_SINK, ALONE, live_create_sink, live_alter_sink }, { LK_INDEX, ALONE, live_create_index, live_alter }, { LK_TABLE, ALONE, live_create_table, live_alter },
    { LK_VIEW, ALONE, live_create_view, live_alter }, { LK_MVIEW, ALONE, live_create_mv, live_alter }, { LK_TYPE, ALONE, live_create_type, live_alter },
    { LK_SYSTEM, ALONE, NULL, live_alter_system },
};

/* RENAME, OWNER, SWAP, SET CLUSTER, SET SCHEMA are the same for every object. */
static bool is_common(const LiveStmt *l)
{
    bool object = l->kind != LK_CLUSTER && l->kind != LK_REPLICA && l->kind != LK_ROLE && l->kind != LK_SYSTEM;
    return object && (l->alter == ALTER_RENAME || l->alter == ALTER_OWNER || l->alter == ALTER_SWAP || l->alter == ALTER_SET_CLUSTER || l->alter == ALTER_SET_SCHEMA);
}

static LiveHandler of_kind(const LiveStmt *l, LiveHow *how)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].kind == l->kind) {
            *how = table[i].how;
            return l->verb == LV_CREATE ? table[i].create : table[i].alter;
        }
    return NULL;
}

static LiveHandler handler_of(const LiveStmt *l, LiveHow *how)
{
    *how = ALONE;
    switch (l->verb) {
    case LV_DROP: return live_drop_stmt;
    case LV_DROP_OWNED: case LV_REASSIGN_OWNED: return live_owned;
    case LV_COMMENT: return live_comment;
    case LV_CREATE:
        if (l->kind != LK_TABLE || (!l->from.n && !str_eq(l->type, S("webhook"))))
            break;
        *how = TOGETHER;
        return l->from.n ? live_create_table_from_source : live_create_source;
    case LV_ALTER:
        if (is_common(l))
            return live_alter;
        break;
    }
    return of_kind(l, how);
}

/* The lake's statements as the live side has them; Stmt.live says more, but not all of them have one. */
static LiveStmt plain(const Stmt *st)
{
    static const struct { StmtKind stmt; LiveVerb verb; LiveKind kind; } as[] = {
        { ST_CREATE_TABLE, LV_CREATE, LK_TABLE }, { ST_CREATE_VIEW, LV_CREATE, LK_VIEW }, { ST_CREATE_MV, LV_CREATE, LK_MVIEW }, { ST_CREATE_NAMESPACE, LV_CREATE, LK_SCHEMA },
        { ST_DROP_TABLE, LV_DROP, LK_TABLE }, { ST_DROP_VIEW, LV_DROP, LK_VIEW }, { ST_DROP_MV, LV_DROP, LK_MVIEW }, { ST_DROP_NAMESPACE, LV_DROP, LK_SCHEMA },
    };

    for (size_t i = 0; i < COUNT_OF(as); i++)
        if (as[i].stmt == st->kind)
            return (LiveStmt){ .verb = as[i].verb, .kind = as[i].kind };
    return (LiveStmt){ .kind = LK_NONE };
}

static const char *tag_of(Run *r, const LiveStmt *l)
{
    static const char *const verbs[] = { "CREATE", "ALTER", "DROP", "DROP OWNED", "REASSIGN OWNED", "COMMENT" };
    if (l->verb > LV_DROP)
        return verbs[l->verb];
    return str_fmt(r->a, "%s %s", verbs[l->verb], live_kind_words(l->kind)).p;
}

static Status run(Run *r, Rows *rows, LiveHow how, LiveHandler h, LiveDone *ret, Error *err)
{
    if (how == TOGETHER)
        return h(r, rows, ret, err);
    realm_ddl_begin(r->svc->realm);
    Status s = h(r, rows, ret, err);
    realm_ddl_end(r->svc->realm);
    return s;
}

/* In a block it waits for COMMIT. */
static bool waits(const Session *ss) { return ss->tx == 'T' && !ss->live_committing; }

static Status of_live(Run *r, Rows *rows, const LiveStmt *l, LiveDone *ret, Error *err)
{
    LiveHow how;
    LiveHandler h = handler_of(l, &how);
    LiveWait wait = BLOCK_NOW;

    if (!h && r->st->kind != ST_LIVE)
        return OK;
    if (!h)
        return FAIL(err, E_UNSUPPORTED, "%s not yet supported", tag_of(r, l));
    if (!r->draft && waits(r->ss))
        TRY(live_block_take(r, l, &wait, err));
    if (wait == BLOCK_NOW)
        TRY(run(r, rows, how, h, ret, err));
    ret->done |= wait == BLOCK_WAITS;
    if (ret->done)
        rows_command(rows, tag_of(r, l));
    else if (r->st->kind == ST_LIVE)
        return FAIL(err, E_INTERNAL, "%s was not carried out", tag_of(r, l));
    return OK;
}

static Status of_grant(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    LiveWait wait = BLOCK_NOW;

    if (waits(r->ss))
        TRY(live_block_take(r, r->st->live, &wait, err));
    if (wait == BLOCK_NOW)
        TRY(run(r, rows, ALONE, live_grant, ret, err));
    ret->done = 1;
    rows_command(rows, r->st->live->default_privileges ? "ALTER DEFAULT PRIVILEGES" : r->st->kind == ST_GRANT ? "GRANT" : "REVOKE");
    return OK;
}

static Status of_validate(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    LiveWait wait = BLOCK_NOW;

    if (waits(r->ss))
        TRY(live_block_take(r, r->st->live, &wait, err));
    ret->done = 1;
    if (wait == BLOCK_NOW)
        TRY(live_validate(r, rows, ret, err));
    rows_command(rows, "VALIDATE CONNECTION");
    return OK;
}

Status live_statement(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    ret->done = 0;
    if (waits(r->ss))
        TRY(live_block_may_run(r->ss, r->st, err));
    return live_statement_now(r, rows, ret, err);
}

Status live_statement_now(Run *r, Rows *rows, LiveDone *ret, Error *err)
{
    LiveStmt as;

    ret->done = 0;
    if (r->ss->dialect != DIALECT_POSTGRES)
        return OK;
    switch (r->st->kind) {
    case ST_SHOW: return live_show(r, rows, ret, err);
    case ST_GRANT: case ST_REVOKE: return of_grant(r, rows, ret, err);
    case ST_VALIDATE: return of_validate(r, rows, ret, err);
    case ST_LIVE: case ST_CREATE_TABLE: case ST_DROP_TABLE: case ST_ALTER_TABLE: case ST_CREATE_VIEW: case ST_DROP_VIEW: case ST_CREATE_NAMESPACE: case ST_DROP_NAMESPACE:
    case ST_ALTER_NAMESPACE: case ST_CREATE_MV: case ST_DROP_MV: case ST_ALTER_MV:
        as = plain(r->st);
        return of_live(r, rows, r->st->live ? r->st->live : &as, ret, err);
    default: return OK;
    }
}
