/* SPDX-License-Identifier: Apache-2.0 */
/* parse_alter.c - ALTER TABLE, VIEW, NAMESPACE: properties, columns, names; parse_alter_iceberg.c has Iceberg's own.
 *
 * One action a column: `path` is the column's whole path, but for ADD the path of its parent. */
#include "sql/parse_live_int.h"

enum { ACTIONS_MAX = 1000 };

static Stmt *alter_namespace(Parser *p);
static Stmt *alter_other(Parser *p);
static bool set_action(Parser *p, AlterAction *x);
static bool column_action(Parser *p, Stmt *s, AlterAction *x);
static void push(Parser *p, Stmt *s, AlterAction x);

Stmt *p_alter(Parser *p)
{
    Stmt *live;

    p_need(p, K_ALTER);
    if (p_postgres(p) && (live = lp_alter(p)))
        return live;
    if (p_take2(p, K_MATERIALIZED, K_VIEW))
        return p_alter_mv(p);
    if (p_is(p, K_NAMESPACE) || p_is(p, K_DATABASE) || p_is(p, K_SCHEMA))
        return alter_namespace(p);
    if (!p_is(p, K_TABLE) && !p_is(p, K_VIEW))
        return alter_other(p);
    Stmt *s = s_new(p, ST_ALTER_TABLE);
    s->what = p_take(p, K_VIEW) ? S("view") : S("table");
    p_take(p, K_TABLE);
    p_if_exists(p, s);
    if (p_postgres(p))
        p_take(p, K_ONLY);
    p_stmt_name(p, s);
    LiveKind kind = str_eq(s->what, S("view")) ? LK_VIEW : LK_TABLE;
    if (p_postgres(p) && lp_alter_relation(p, s, kind))
        return s;
    do
        p_alter_action(p, s);
    while (p_postgres(p) && p_take_op(p, ','));
    if (p_postgres(p))
        lp_alter_noted(p, s, kind);
    return s;
}

static Stmt *alter_other(Parser *p)
{
    static const char *const OTHERS[] = { "CLUSTER", "SOURCE", "SINK", "CONNECTION", "SECRET", "INDEX", "ROLE", "USER", "FUNCTION", "TYPE",
                                          "SEQUENCE", "EXTENSION", "DEFAULT", "PUBLICATION", "SUBSCRIPTION", "POLICY", "GROUP", "NETWORK" };
    Stmt *s = s_new(p, ST_NOOP);

    if (p_is_word_like(p, "SYSTEM"))
        P_FAIL(p, E_DENIED, p_pos(p), "ALTER SYSTEM is not allowed");                /* spark; postgres: the executor's matter */
    for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
        if (p_is_word_like(p, OTHERS[i]))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "ALTER %s is not supported", OTHERS[i]);
    p_syntax(p);
    return s;
}

static void push(Parser *p, Stmt *s, AlterAction x)
{
    if (s->actions.n >= ACTIONS_MAX)
        P_FAIL(p, E_LIMIT, x.position, "more than %d changes in one ALTER", ACTIONS_MAX);
    else
        vec_push(p->a, &s->actions, x);
}

static bool owner(Parser *p, AlterAction *x)
{
    if (!p_take2(p, K_OWNER, K_TO))
        return false;
    x->kind = AT_SET_OWNER;
    vec_push(p->a, &x->new_name, p_label(p));
    return true;
}

static bool rename_to(Parser *p, AlterAction *x)
{
    if (!p_take2(p, K_RENAME, K_TO))
        return false;
    x->kind = AT_RENAME;
    p_name(p, &x->new_name);
    return true;
}

static Stmt *alter_namespace(Parser *p)
{
    Stmt *s = s_new(p, ST_ALTER_NAMESPACE);
    AlterAction x = { .position = p_pos(p) };
    LiveKind kind = p_is(p, K_DATABASE) ? LK_DATABASE : LK_SCHEMA;

    p_next(p);
    if (p_postgres(p))
        p_if_exists(p, s);
    p_stmt_name(p, s);
    if (p_postgres(p) && lp_alter_relation(p, s, kind))
        return s;
    if (p_take(p, K_SET)) {
        if (p_take(p, K_LOCATION)) {
            x.kind = AT_SET_LOCATION;
            x.location = p_string(p);
        } else if (p_take(p, K_DBPROPERTIES) || p_take(p, K_PROPERTIES)) {
            x.kind = AT_SET_PROPS;
            p_props(p, &x.props);
        } else if (!owner(p, &x)) {
            p_syntax(p);
        }
    } else if (p_take2(p, K_UNSET, K_DBPROPERTIES) || p_take2(p, K_UNSET, K_PROPERTIES)) {
        x.kind = AT_UNSET_PROPS;
        x.if_exists = p_take2(p, K_IF, K_EXISTS);
        p_prop_keys(p, &x.props);
    } else if (!rename_to(p, &x) && !owner(p, &x)) {
        p_syntax(p);
    }
    push(p, s, x);
    if (p_postgres(p))
        lp_alter_noted(p, s, kind);
    return s;
}

void p_alter_action(Parser *p, Stmt *s)
{
    AlterAction x = { .position = p_pos(p) };

    if (p_alter_iceberg(p, &x) || rename_to(p, &x) || owner(p, &x) || set_action(p, &x)) {
        push(p, s, x);
    } else if (!column_action(p, s, &x)) {
        static const char *const OTHERS[] = { "ENABLE", "DISABLE", "CLUSTER", "INHERIT", "VALIDATE", "RECOVER", "REPLICA", "ATTACH", "DETACH", "AS" };
        for (size_t i = 0; i < COUNT_OF(OTHERS); i++)
            if (p_is_word_like(p, OTHERS[i]))
                P_FAIL(p, E_UNSUPPORTED, x.position, "ALTER … %s is not supported", OTHERS[i]);
        p_syntax(p);
    }
}

static bool set_action(Parser *p, AlterAction *x)
{
    if (p_take2(p, K_SET, K_TBLPROPERTIES)) {
        x->kind = AT_SET_PROPS;
        p_props(p, &x->props);
    } else if (p_take2(p, K_UNSET, K_TBLPROPERTIES)) {
        x->kind = AT_UNSET_PROPS;
        x->if_exists = p_take2(p, K_IF, K_EXISTS);
        p_prop_keys(p, &x->props);
    } else if (p_take2(p, K_SET, K_LOCATION)) {
        x->kind = AT_SET_LOCATION;
        x->location = p_string(p);
    } else if (p_is2(p, K_SET, K_OWNER)) {
        p_next(p);
        return owner(p, x);
    } else {
        return false;
    }
    return true;
}

static LiveKind comment_kind(Parser *p, Stmt *s)
{
    s->what = S("table");
    if (p_take(p, K_COLUMN))
        return LK_COLUMN;
    if (p_is(p, K_NAMESPACE) || p_is(p, K_DATABASE) || p_is(p, K_SCHEMA)) {
        LiveKind kind = p_is(p, K_DATABASE) ? LK_DATABASE : LK_SCHEMA;
        p_next(p);
        s->kind = ST_ALTER_NAMESPACE;
        return kind;
    }
    if (p_is(p, K_VIEW) || p_is2(p, K_MATERIALIZED, K_VIEW)) {
        s->what = S("view");
        LiveKind kind = p_take(p, K_MATERIALIZED) ? LK_MVIEW : LK_VIEW;
        p_need(p, K_VIEW);
        return kind;
    }
    p_need(p, K_TABLE);
    return LK_TABLE;
}

/* COMMENT ON TABLE|VIEW|COLUMN|NAMESPACE x IS 'text'|NULL: the change of the property or column that it is. */
Stmt *p_comment_on(Parser *p)
{
    Stmt *s = s_new(p, ST_ALTER_TABLE);
    AlterAction x = { .kind = AT_SET_PROPS, .position = p_pos(p) };

    Stmt *live;
    p_need(p, K_COMMENT);
    p_need(p, K_ON);
    if (p_postgres(p) && (live = lp_comment(p)))
        return live;
    LiveKind kind = comment_kind(p, s);
    bool column = kind == LK_COLUMN;
    p_stmt_name(p, s);
    p_need(p, K_IS);
    ColumnDef c = { .position = x.position };
    bool none = p_take(p, K_NULL);
    c.comment = none ? S("") : p_string(p);
    if (p_postgres(p)) {
        lp_live(p, s, LV_COMMENT, kind);
        s->has_comment = !none;
        s->comment = c.comment;
    }
    if (column && s->name.n < 2) {
        p_syntax(p);
    } else if (column) {
        x.kind = AT_ALTER_COLUMN;
        x.set_comment = 1;
        c.name = s->name.p[--s->name.n];
        if (s->live)
            vec_push(p->a, &s->live->to, c.name);
        vec_push(p->a, &x.path, c.name);
        vec_push(p->a, &x.names, c.name);
        vec_push(p->a, &x.columns, c);
    } else {
        x.kind = none ? AT_UNSET_PROPS : AT_SET_PROPS;
        x.if_exists = none;
        props_set(p->a, &x.props, S("comment"), c.comment);
    }
    push(p, s, x);
    return s;
}

/* ---- columns -------------------------------------------------------------------------------------------------------- */

/* FIRST | AFTER x */
static bool placed(Parser *p, ColumnDef *c)
{
    if (p_take(p, K_FIRST))
        c->first = 1;
    else if (p_take(p, K_AFTER))
        c->after = p_ident(p);
    else
        return false;
    return true;
}

static void add_option(Parser *p, ColumnDef *c)
{
    for (;;) {
        if (p_take2(p, K_NOT, K_NULL))
            c->not_null = 1;
        else if (p_take(p, K_COMMENT))
            c->comment = p_string(p);
        else if (p_take(p, K_DEFAULT))
            c->default_ = p_expr_level(p, LV_OTHER);
        else if (!placed(p, c) && (p_spark(p) || !p_take(p, K_NULL)))
            return;
    }
}

static void add_column(Parser *p, Stmt *s, AlterAction x)
{
    ColumnDef c = { .position = p_pos(p) };

    x.path = (StrVec){0};
    x.columns = (ColumnDefs){0};
    p_name(p, &x.path);
    if (x.path.n)
        c.name = x.path.p[--x.path.n];
    c.type = p_type(p);
    add_option(p, &c);
    if (p_is(p, K_PRIMARY) || p_is(p, K_UNIQUE) || p_is(p, K_REFERENCES) || p_is(p, K_CHECK) || p_is(p, K_GENERATED))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "constraints other than NOT NULL are not supported");
    AlterAction *last = s->actions.n ? &vec_last(&s->actions) : NULL;
    if (last && last->kind == AT_ADD_COLUMNS && last->position == x.position && !last->path.n && !x.path.n) {
        vec_push(p->a, &last->columns, c);
        return;
    }
    vec_push(p->a, &x.columns, c);
    push(p, s, x);
}

static void add_columns(Parser *p, Stmt *s, AlterAction x)
{
    x.kind = AT_ADD_COLUMNS;
    if (p_is(p, K_CONSTRAINT) || p_is2(p, K_PRIMARY, K_KEY) || p_is2(p, K_FOREIGN, K_KEY) || p_is(p, K_UNIQUE) || p_is(p, K_CHECK))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "table constraints are not supported");
    if (!p_take(p, K_COLUMNS))
        p_take(p, K_COLUMN);
    x.if_not_exists = p_take3(p, K_IF, K_NOT, K_EXISTS);
    bool list = p_take_op(p, '(');
    do
        add_column(p, s, x);
    while ((p_spark(p) || list) && p_take_op(p, ','));
    if (list)
        p_need_op(p, ')');
}

static void drop_columns(Parser *p, Stmt *s, AlterAction x)
{
    x.kind = AT_DROP_COLUMNS;
    if (!p_take(p, K_COLUMNS))
        p_take(p, K_COLUMN);
    x.if_exists = p_take2(p, K_IF, K_EXISTS);
    bool list = p_take_op(p, '(');
    do {
        x.path = (StrVec){0};
        x.names = (StrVec){0};
        p_name(p, &x.path);
        vec_push(p->a, &x.names, str_join(p->a, &x.path, S(".")));
        push(p, s, x);
    } while ((p_spark(p) || list) && p_take_op(p, ','));
    if (list)
        p_need_op(p, ')');
    if (!p_spark(p) && !p_take(p, K_CASCADE))
        p_take(p, K_RESTRICT);
}

static void rename_column(Parser *p, AlterAction *x)
{
    x->kind = AT_RENAME_COLUMN;
    p_take(p, K_COLUMN);
    p_name(p, &x->path);
    vec_push(p->a, &x->names, str_join(p->a, &x->path, S(".")));
    p_need(p, K_TO);
    vec_push(p->a, &x->new_name, p_ident(p));
}

static bool alter_column_null(Parser *p, AlterAction *x, ColumnDef *c)
{
    if (p_take3(p, K_SET, K_NOT, K_NULL)) {
        x->set_not_null = 1;
    } else if (p_take3(p, K_DROP, K_NOT, K_NULL)) {
        x->drop_not_null = 1;
    } else if (p_take2(p, K_SET, K_DEFAULT)) {
        x->set_default = 1;
        c->default_ = p_expr(p);
    } else if (p_take2(p, K_DROP, K_DEFAULT)) {
        x->drop_default = 1;
    } else {
        return false;
    }
    return true;
}

/* CHANGE COLUMN a a bigint COMMENT 'x' FIRST: Hive's form; it may not rename. */
static void change_column(Parser *p, AlterAction *x, ColumnDef *c)
{
    Str name = p_ident(p);

    if (!p->status && !str_ieq(name, vec_last(&x->path)))
        P_FAIL(p, E_UNSUPPORTED, x->position, "renaming by CHANGE COLUMN is not supported; use RENAME COLUMN");
    c->type = p_type(p);
    x->set_type = 1;
    if ((x->set_comment = p_take(p, K_COMMENT)))
        c->comment = p_string(p);
    x->set_position = placed(p, c);
}

static void alter_column(Parser *p, AlterAction *x)
{
    ColumnDef c = { .position = p_pos(p) };

    x->kind = AT_ALTER_COLUMN;
    p_take(p, K_COLUMN);
    p_name(p, &x->path);
    if (p->status)
        return;
    c.name = vec_last(&x->path);
    vec_push(p->a, &x->names, str_join(p->a, &x->path, S(".")));
    if (p_take(p, K_TYPE) || p_take3(p, K_SET, K_DATA, K_TYPE)) {
        x->set_type = 1;
        c.type = p_type(p);
        if (p_is(p, K_USING))
            P_FAIL(p, E_UNSUPPORTED, p_pos(p), "ALTER COLUMN … TYPE … USING is not supported");
    } else if (p_take(p, K_COMMENT)) {
        x->set_comment = 1;
        c.comment = p_string(p);
    } else if (!alter_column_null(p, x, &c) && !(x->set_position = placed(p, &c))) {
        change_column(p, x, &c);
    }
    vec_push(p->a, &x->columns, c);
}

static bool column_action(Parser *p, Stmt *s, AlterAction *x)
{
    if (p_spark(p) && (p_is2(p, K_ADD, K_PARTITION) || p_is2(p, K_DROP, K_PARTITION) || p_is2(p, K_ADD, K_IF)))
        P_FAIL(p, E_UNSUPPORTED, x->position, "ALTER TABLE … %s PARTITION is not supported; use PARTITION FIELD", p_is(p, K_ADD) ? "ADD" : "DROP");
    if (p_take(p, K_ADD)) {
        add_columns(p, s, *x);
    } else if (p_take(p, K_DROP)) {
        drop_columns(p, s, *x);
    } else if (p_take(p, K_RENAME)) {
        rename_column(p, x);
        push(p, s, *x);
    } else if (p_take(p, K_ALTER) || (p_spark(p) && p_take(p, K_CHANGE))) {
        alter_column(p, x);
        push(p, s, *x);
    } else {
        return false;
    }
    return true;
}
