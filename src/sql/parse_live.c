/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live.c - the live side's statements (Materialize's manual): the words, names and kinds that all of them share; CREATE and DROP by kind.
 *
 * In the postgres dialect only.  Most of its words are no keywords of the lexer: they stay free as names and are compared as text. */
#include "sql/parse_live_int.h"

static const struct { LiveKind kind; const char *words, *plural; } KINDS[] = {
    { LK_REPLICA, "CLUSTER REPLICA", "CLUSTER REPLICAS" }, { LK_CLUSTER, "CLUSTER", "CLUSTERS" }, { LK_MVIEW, "MATERIALIZED VIEW", "MATERIALIZED VIEWS" },
    { LK_DATABASE, "DATABASE", "DATABASES" }, { LK_SCHEMA, "SCHEMA", "SCHEMAS" }, { LK_ROLE, "ROLE", "ROLES" }, { LK_SECRET, "SECRET", "SECRETS" },
    { LK_CONNECTION, "CONNECTION", "CONNECTIONS" }, { LK_SOURCE, "SOURCE", "SOURCES" }, { LK_SINK, "SINK", "SINKS" }, { LK_INDEX, "INDEX", "INDEXES" },
    { LK_TABLE, "TABLE", "TABLES" }, { LK_VIEW, "VIEW", "VIEWS" }, { LK_COLUMN, "COLUMN", "COLUMNS" }, { LK_TYPE, "TYPE", "TYPES" }, { LK_SYSTEM, "SYSTEM", "SYSTEM" },
};

const char *live_kind_words(LiveKind k)
{
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (KINDS[i].kind == k)
            return KINDS[i].words;
    return "";
}

const LiveOption *live_option(const LiveOptions *o, const char *name)
{
    for vec_each(const LiveOption, x, o)
        if (str_eq(x->name, str_c(name)))
            return x;
    return NULL;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

static bool is_word(Parser *p, size_t ahead, Str word)
{
    const Token *t = p_peek(p, ahead);
    if (t->kind == TK_NUMBER)                              /* PUBLIC KEY 1 */
        return str_eq(t->text, word);
    return t->kind == TK_WORD && str_ieq(t->text, word);
}

size_t lp_match(Parser *p, size_t ahead, const char *words)
{
    Str rest = str_c(words), word;
    size_t n = 0;

    while (rest.n) {
        if (!str_cut(rest, ' ', &word, &rest))
            rest = S("");
        if (!is_word(p, ahead + n, word))
            return 0;
        n++;
    }
    return n;
}

bool lp_is(Parser *p, const char *words) { return lp_match(p, 0, words) > 0; }

bool lp_take(Parser *p, const char *words)
{
    size_t n = lp_match(p, 0, words);
    p->at += n;
    return n > 0;
}

/* The error is at the word that is not what it must be. */
void lp_need(Parser *p, const char *words)
{
    Str rest = str_c(words), word;

    while (rest.n) {
        if (!str_cut(rest, ' ', &word, &rest))
            rest = S("");
        if (!is_word(p, 0, word)) {
            p_syntax(p);
            return;
        }
        p->at++;
    }
}

void lp_room(Parser *p, size_t n)
{
    if (n >= LIVE_LIST_MAX)
        P_FAIL(p, E_LIMIT, p_pos(p), "a list of more than %d elements", LIVE_LIST_MAX);
}

/* ---- what statements share ---------------------------------------------------------------------------------------------------- */

LiveStmt *lp_live(Parser *p, Stmt *s, LiveVerb verb, LiveKind kind)
{
    if (!s->live)
        s->live = arena_new(p->a, LiveStmt);
    s->live->verb = verb;
    s->live->kind = kind;
    return s->live;
}

Stmt *lp_new(Parser *p, LiveVerb verb, LiveKind kind)
{
    Stmt *s = s_new(p, ST_LIVE);
    lp_live(p, s, verb, kind);
    return s;
}

LiveKind lp_kind(Parser *p)
{
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (lp_take(p, KINDS[i].words))
            return KINDS[i].kind;
    return lp_take(p, "USER") ? LK_ROLE : LK_NONE;
}

LiveKind lp_kind_plural(Parser *p)
{
    for (size_t i = 0; i < COUNT_OF(KINDS); i++)
        if (lp_take(p, KINDS[i].plural))
            return KINDS[i].kind;
    return LK_NONE;
}

void lp_names(Parser *p, LiveNames *ret)
{
    do {
        StrVec name = {0};
        p_name(p, &name);
        lp_room(p, ret->n);
        vec_push(p->a, ret, name);
    } while (p_take_op(p, ','));
}

/* [GROUP] role; PUBLIC is a role to the grammar. */
Str lp_role(Parser *p)
{
    if (lp_is(p, "GROUP") && p_is_ident(p, 1))
        p_next(p);
    return p_is(p, K_CURRENT_USER) || p_is(p, K_SESSION_USER) ? p_label(p) : p_ident(p);
}

void lp_roles(Parser *p, StrVec *ret)
{
    do {
        lp_room(p, ret->n);
        vec_push(p->a, ret, lp_role(p));
    } while (p_take_op(p, ','));
}

void lp_in_cluster(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "IN CLUSTER"))
        vec_push(p->a, &l->cluster, p_ident(p));
}

/* ---- CREATE, DROP ---------------------------------------------------------------------------------------------------------------- */

bool lp_create(Parser *p, Stmt *s)
{
    static const struct { const char *words; LiveKind kind; void (*parse)(Parser *p, Stmt *s); } CREATES[] = {
        { "SECRET", LK_SECRET, lp_create_secret }, { "CONNECTION", LK_CONNECTION, lp_create_connection }, { "SINK", LK_SINK, lp_create_sink },
        { "SOURCE", LK_SOURCE, lp_create_source }, { "CLUSTER REPLICA", LK_REPLICA, lp_create_replica }, { "CLUSTER", LK_CLUSTER, lp_create_cluster },
        { "INDEX", LK_INDEX, lp_create_index }, { "DEFAULT INDEX", LK_INDEX, lp_create_index }, { "ROLE", LK_ROLE, lp_create_role }, { "USER", LK_ROLE, lp_create_role },
        { "TYPE", LK_TYPE, lp_create_type },
    };

    for (size_t i = 0; i < COUNT_OF(CREATES); i++)
        if (lp_is(p, CREATES[i].words)) {
            if (s->or_replace || s->temporary)
                p_syntax(p);
            s->kind = ST_LIVE;
            lp_live(p, s, LV_CREATE, CREATES[i].kind)->is_default = p_is(p, K_DEFAULT);
            lp_need(p, CREATES[i].words);
            CREATES[i].parse(p, s);
            return true;
        }
    return false;
}

static void cascade(Parser *p, Stmt *s)
{
    s->cascade = p_take(p, K_CASCADE);
    if (!s->cascade)
        p_take(p, K_RESTRICT);
}

/* DROP OWNED BY a, b */
static Stmt *drop_owned(Parser *p)
{
    Stmt *s = lp_new(p, LV_DROP_OWNED, LK_NONE);
    lp_roles(p, &s->live->roles);
    cascade(p, s);
    return s;
}

void lp_drop_rest(Parser *p, Stmt *s, LiveKind kind)
{
    lp_live(p, s, LV_DROP, kind);
    if (p_take_op(p, ','))
        lp_names(p, &s->live->also);
}

Stmt *lp_drop(Parser *p)
{
    static const LiveKind DROPS[] = { LK_REPLICA, LK_CLUSTER, LK_ROLE, LK_SECRET, LK_CONNECTION, LK_SOURCE, LK_SINK, LK_INDEX, LK_TYPE };

    if (lp_take(p, "OWNED BY"))
        return drop_owned(p);
    for (size_t i = 0; i < COUNT_OF(DROPS); i++)
        if (lp_take(p, live_kind_words(DROPS[i])) || (DROPS[i] == LK_ROLE && lp_take(p, "USER"))) {
            Stmt *s = lp_new(p, LV_DROP, DROPS[i]);
            p_if_exists(p, s);
            p_stmt_name(p, s);
            lp_drop_rest(p, s, DROPS[i]);
            cascade(p, s);
            return s;
        }
    return NULL;
}

/* ---- VALIDATE, REASSIGN ------------------------------------------------------------------------------------------------------------ */

Stmt *lp_validate(Parser *p)
{
    Stmt *s = s_new(p, ST_VALIDATE);

    lp_live(p, s, LV_ALTER, LK_CONNECTION);
    lp_need(p, "VALIDATE CONNECTION");
    p_stmt_name(p, s);
    return s;
}

Stmt *lp_reassign(Parser *p)
{
    Stmt *s = lp_new(p, LV_REASSIGN_OWNED, LK_NONE);

    lp_need(p, "REASSIGN OWNED BY");
    lp_roles(p, &s->live->roles);
    lp_need(p, "TO");
    vec_push(p->a, &s->live->to, lp_role(p));
    return s;
}
