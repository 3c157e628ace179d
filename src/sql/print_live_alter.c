/* SPDX-License-Identifier: Apache-2.0 */
/* print_live_alter.c - the live side's other statements as text: ALTER, DROP, COMMENT, GRANT, REVOKE, VALIDATE. */
#include "sql/print_live_int.h"

/* ---- GRANT, REVOKE ------------------------------------------------------------------------------------------------------------------------ */

static void privileges(LivePrint *p, const StrVec *v)
{
    for (size_t i = 0; i < v->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_upper(p, v->p[i]);
    }
}

static void plural(LivePrint *p, LiveKind k)
{
    const char *words = live_kind_words(k);
    pl_word(p, words);
    sb_addc(&p->b, k == LK_INDEX ? "ES" : "S");
}

static void containers(LivePrint *p, const LiveStmt *l)
{
    if (l->in_kind == LK_NONE)
        return;
    pl_word(p, "IN");
    pl_word(p, live_kind_words(l->in_kind));
    pl_names(p, &l->containers);
}

static void default_privileges(LivePrint *p, const LiveStmt *l)
{
    pl_word(p, "ALTER DEFAULT PRIVILEGES");
    if (l->for_all_roles) {
        pl_word(p, "FOR ALL ROLES");
    } else if (l->for_roles.n) {
        pl_word(p, "FOR ROLE");
        pl_idents(p, &l->for_roles);
    }
    containers(p, l);
}

static void on_objects(LivePrint *p, const LiveStmt *l)
{
    pl_word(p, "ON");
    if (l->default_privileges || l->all_in) {
        if (l->all_in)
            pl_word(p, "ALL");
        plural(p, l->kind);
        if (l->all_in)
            containers(p, l);
        return;
    }
    pl_word(p, live_kind_words(l->kind));
    pl_names(p, &l->objects);
}

static void grant(LivePrint *p, const Stmt *s)
{
    const LiveStmt *l = s->live;

    if (l->default_privileges)
        default_privileges(p, l);
    pl_word(p, s->kind == ST_REVOKE ? "REVOKE" : "GRANT");
    if (l->privileges.n) {
        privileges(p, &l->privileges);
        on_objects(p, l);
    } else {
        pl_idents(p, &l->roles);
    }
    pl_word(p, s->kind == ST_REVOKE ? "FROM" : "TO");
    pl_idents(p, &l->grantees);
}

/* ---- DROP, COMMENT ----------------------------------------------------------------------------------------------------------------------------- */

static void drop(LivePrint *p, const Stmt *s)
{
    pl_word(p, "DROP");
    pl_word(p, live_kind_words(s->live->kind));
    if (s->if_exists)
        pl_word(p, "IF EXISTS");
    pl_name(p, &s->name);
    if (s->live->also.n) {
        sb_byte(&p->b, ',');
        pl_names(p, &s->live->also);
    }
    if (s->cascade)
        pl_word(p, "CASCADE");
}

static void owned(LivePrint *p, const Stmt *s)
{
    bool drops = s->live->verb == LV_DROP_OWNED;

    pl_word(p, drops ? "DROP OWNED BY" : "REASSIGN OWNED BY");
    pl_idents(p, &s->live->roles);
    if (drops && s->cascade)
        pl_word(p, "CASCADE");
    if (!drops) {
        pl_word(p, "TO");
        pl_name(p, &s->live->to);
    }
}

static void comment(LivePrint *p, const Stmt *s)
{
    pl_word(p, "COMMENT ON");
    pl_word(p, live_kind_words(s->live->kind));
    pl_name(p, &s->name);
    if (s->live->kind == LK_COLUMN && s->live->to.n) {
        sb_byte(&p->b, '.');
        pl_ident(p, s->live->to.p[0]);
    }
    pl_word(p, "IS");
    if (s->has_comment)
        pl_string(p, s->comment);
    else
        pl_word(p, "NULL");
}

/* ---- ALTER ------------------------------------------------------------------------------------------------------------------------------------------ */

static void setting(LivePrint *p, const LiveStmt *l)
{
    StrVec parts = {0};

    pl_word(p, l->setting_reset || l->alter == ALTER_SYSTEM_RESET ? "RESET" : "SET");
    str_split(p->a, l->setting, '.', &parts);
    if (l->alter == ALTER_SYSTEM_RESET && str_eq(l->setting, S("all")))
        pl_word(p, "ALL");
    else
        pl_name(p, &parts);
    if (l->setting_reset || l->alter == ALTER_SYSTEM_RESET)
        return;
    pl_word(p, "=");
    pl_string(p, l->setting_value);
}

static void set_options(LivePrint *p, const LiveStmt *l)
{
    if (l->options.n) {
        pl_word(p, "SET");
        pl_options(p, &l->options);
    }
    if (l->options.n && l->drop.n)
        sb_byte(&p->b, ',');
    if (l->drop.n) {
        pl_word(p, "RESET");
        pl_option_names(p, &l->drop);
    }
}

static void drop_references(LivePrint *p, const Stmt *s)
{
    pl_word(p, "DROP SUBSOURCE");
    pl_names(p, &s->live->also);
    if (s->cascade)
        pl_word(p, "CASCADE");
}

static void role_options(LivePrint *p, const LiveOptions *o)
{
    for vec_each(const LiveOption, x, o) {
        pl_upper(p, x->name);
        if (str_eq(x->name, S("PASSWORD")))
            pl_word(p, "'<REDACTED>'");
    }
}

static void action(LivePrint *p, const Stmt *s)
{
    static const struct { LiveAlter alter; const char *words; } TO[] = {
        { ALTER_RENAME, "RENAME TO" }, { ALTER_OWNER, "OWNER TO" }, { ALTER_SWAP, "SWAP WITH" }, { ALTER_SET_CLUSTER, "SET CLUSTER" }, { ALTER_SET_SCHEMA, "SET SCHEMA" },
        { ALTER_APPLY_REPLACEMENT, "APPLY REPLACEMENT" },
    };
    const LiveStmt *l = s->live;

    for (size_t i = 0; i < COUNT_OF(TO); i++)
        if (l->alter == TO[i].alter) {
            pl_word(p, TO[i].words);
            pl_name(p, &l->to);
        }
    switch (l->alter) {
    case ALTER_SET: case ALTER_RESET: set_options(p, l); break;
    case ALTER_SET_FROM: pl_word(p, "SET FROM"); pl_name(p, &l->from); break;
    case ALTER_SECRET_AS: pl_word(p, "AS '<REDACTED>'"); break;
    case ALTER_ROTATE_KEYS: pl_word(p, "ROTATE KEYS"); break;
    case ALTER_ROLE_OPTIONS: role_options(p, &l->options); break;
    case ALTER_ROLE_SET: case ALTER_SYSTEM_SET: case ALTER_SYSTEM_RESET: setting(p, l); break;
    case ALTER_ADD_REFERENCES: pl_word(p, "ADD SUBSOURCE"); pl_references(p, l); break;
    case ALTER_DROP_REFERENCES: drop_references(p, s); break;
    case ALTER_REFRESH_REFERENCES: pl_word(p, "REFRESH REFERENCES"); break;
    case ALTER_ADD_COLUMN: {
        ColumnDefs one = s->columns;
        pl_word(p, "ADD COLUMN");
        if (s->if_not_exists)
            pl_word(p, "IF NOT EXISTS");
        pl_columns(p, &one);
        break;
    }
    default: break;
    }
}

static void alter(LivePrint *p, const Stmt *s)
{
    pl_word(p, "ALTER");
    pl_word(p, live_kind_words(s->live->kind));
    if (s->if_exists)
        pl_word(p, "IF EXISTS");
    if (s->name.n)
        pl_name(p, &s->name);
    action(p, s);
    pl_with(p, &s->live->with);
}

void pl_other(LivePrint *p, const Stmt *s)
{
    if (s->kind == ST_GRANT || s->kind == ST_REVOKE) {
        grant(p, s);
        return;
    }
    if (s->kind == ST_VALIDATE) {
        pl_word(p, "VALIDATE CONNECTION");
        pl_name(p, &s->name);
        return;
    }
    if (s->kind == ST_SHOW || s->kind == ST_EXPLAIN)
        return;
    switch (s->live->verb) {
    case LV_DROP: drop(p, s); break;
    case LV_DROP_OWNED: case LV_REASSIGN_OWNED: owned(p, s); break;
    case LV_COMMENT: comment(p, s); break;
    case LV_ALTER: alter(p, s); break;
    case LV_CREATE: break;
    }
}
