/* SPDX-License-Identifier: Apache-2.0 */
/* print_live_part.c - the parts of the live side's normalised texts: names, literals, options, formats.
 *
 * Invariant: what is printed parses again, in the postgres dialect, to the same tree (a test and the fuzzer look). */
#include "sql/print_live_int.h"

static void space(LivePrint *p)
{
    if (p->b.n && p->b.p[p->b.n - 1] != '(' && p->b.p[p->b.n - 1] != ' ')
        sb_byte(&p->b, ' ');
}

void pl_word(LivePrint *p, const char *words)
{
    space(p);
    sb_addc(&p->b, words);
}

void pl_upper(LivePrint *p, Str words)
{
    space(p);
    sb_add(&p->b, str_upper(p->a, words));
}

/* ---- names ----------------------------------------------------------------------------------------------------------------------- */

static bool plain(Str s)
{
    if (!s.n || !((s.p[0] >= 'a' && s.p[0] <= 'z') || s.p[0] == '_'))
        return false;
    for (size_t i = 1; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '_'))
            return false;
    /* words that begin something else where an option's value stands */
    if (str_eq(s, S("secret")) || str_eq(s, S("interval")) || str_eq(s, S("group")) || str_eq(s, S("current_user")) || str_eq(s, S("session_user")))
        return false;
    return !(lex_keyword_flags(lex_keyword(s)) & (KW_RESERVED | KW_RESERVED_PG));
}

void pl_ident(LivePrint *p, Str name)
{
    if (plain(name)) {
        sb_add(&p->b, name);
        return;
    }
    sb_byte(&p->b, '"');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '"')
            sb_byte(&p->b, '"');
        sb_byte(&p->b, name.p[i]);
    }
    sb_byte(&p->b, '"');
}

void pl_one(LivePrint *p, Str name)
{
    space(p);
    pl_ident(p, name);
}

void pl_name(LivePrint *p, const StrVec *name)
{
    space(p);
    for (size_t i = 0; i < name->n; i++) {
        if (i)
            sb_byte(&p->b, '.');
        pl_ident(p, name->p[i]);
    }
}

void pl_names(LivePrint *p, const LiveNames *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_name(p, &names->p[i]);
    }
}

void pl_idents(LivePrint *p, const StrVec *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_one(p, names->p[i]);
    }
}

void pl_list(LivePrint *p, const StrVec *names)
{
    pl_word(p, "(");
    pl_idents(p, names);
    sb_byte(&p->b, ')');
}

/* ---- literals and raw text ----------------------------------------------------------------------------------------------------------- */

void pl_kept_string(LivePrint *p, Str s)
{
    space(p);
    sb_byte(&p->b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\'')
            sb_byte(&p->b, '\'');
        sb_byte(&p->b, s.p[i]);
    }
    sb_byte(&p->b, '\'');
}

void pl_string(LivePrint *p, Str s) { pl_kept_string(p, p->how == LIVE_TEXT_REDACTED ? S("<REDACTED>") : s); }

/* Every literal becomes '<REDACTED>'; what lies between them, comments too, stays but for the comments. */
static void redacted(LivePrint *p, Str text)
{
    Lexer l = { .a = p->a, .dialect = DIALECT_POSTGRES, .text = text };
    int at = 0;

    for (;;) {
        Token t = lex_next(&l);
        if (t.kind == TK_END || t.kind == TK_BAD)
            return;
        if (t.start > at && at)
            sb_byte(&p->b, ' ');
        if (t.kind == TK_STRING || t.kind == TK_NUMBER || t.kind == TK_BYTES)
            sb_addc(&p->b, "'<REDACTED>'");
        else
            sb_add(&p->b, str_sub(text, (size_t)t.start, (size_t)t.end));
        at = t.end;
    }
}

void pl_raw(LivePrint *p, Str text)
{
    space(p);
    if (p->how == LIVE_TEXT_REDACTED)
        redacted(p, text);
    else
        sb_add(&p->b, text);
}

/* ---- options ---------------------------------------------------------------------------------------------------------------------------- */

static void option_value(LivePrint *p, const LiveOption *o);

static void elements(LivePrint *p, const LiveOptions *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (i)
            sb_addc(&p->b, ", ");
        option_value(p, &list->p[i]);
    }
}

/* REFRESH, SCHEDULE, WAIT: the words, then what belongs to them. */
static void group(LivePrint *p, const LiveOption *o)
{
    bool word = o->list.n && str_eq(o->list.p[0].name, o->text);

    pl_upper(p, o->text);
    if (o->list.n && word) {
        option_value(p, &o->list.p[0]);
        for (size_t i = 1; i < o->list.n; i++) {
            pl_upper(p, o->list.p[i].name);
            option_value(p, &o->list.p[i]);
        }
    } else if (o->list.n) {
        pl_options(p, &o->list);
    }
}

static void used(LivePrint *p, const LiveOptions *list)
{
    for vec_each(const LiveOption, o, list) {
        pl_word(p, "USING");
        pl_upper(p, o->name);
        pl_name(p, &o->names);
        if (o->list.n)
            pl_options(p, &o->list);
    }
}

static void string_option(LivePrint *p, const LiveOption *o)
{
    if (str_eq(o->name, S("RETAIN HISTORY")))
        pl_word(p, "FOR");
    if (str_eq(o->name, S("CATALOG TYPE")))
        pl_kept_string(p, str_lower(p->a, o->text));
    else
        pl_string(p, o->text);
    used(p, &o->list);
}

static void option_value(LivePrint *p, const LiveOption *o)
{
    switch (o->kind) {
    case OPT_NONE: break;
    case OPT_STRING: string_option(p, o); break;
    case OPT_NUMBER:
        if (p->how == LIVE_TEXT_REDACTED)
            pl_string(p, S(""));
        else
            space(p), sb_add(&p->b, o->text);
        break;
    case OPT_BOOL: pl_word(p, str_eq(o->text, S("true")) ? "true" : "false"); break;
    case OPT_NAME:
        if (str_eq(o->name, S("SCHEDULE")) && str_eq(o->text, S("manual")))
            pl_word(p, "MANUAL");
        else
            pl_name(p, &o->names);
        break;
    case OPT_SECRET: pl_word(p, "SECRET"); pl_name(p, &o->names); break;
    case OPT_LIST: pl_word(p, "("); elements(p, &o->list); sb_byte(&p->b, ')'); break;
    case OPT_GROUP: group(p, o); break;
    case OPT_EXPR: pl_raw(p, o->text); break;
    case OPT_TYPE:
        if (o->names.n)
            pl_name(p, &o->names);
        else
            space(p), sb_add(&p->b, sql_type_name(p->a, DIALECT_POSTGRES, &o->type));
        break;
    }
}

/* By name; those of one name in the order given. */
static LiveOptions sorted(LivePrint *p, const LiveOptions *o)
{
    LiveOptions v = {0};

    for vec_each(const LiveOption, x, o) {
        size_t i = v.n;
        vec_push(p->a, &v, *x);
        for (; i && str_cmp(v.p[i - 1].name, x->name) > 0; i--)
            v.p[i] = v.p[i - 1];
        v.p[i] = *x;
    }
    return v;
}

void pl_options_bare(LivePrint *p, const LiveOptions *o)
{
    LiveOptions v = sorted(p, o);

    for (size_t i = 0; i < v.n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_upper(p, v.p[i].name);
        if (v.p[i].kind == OPT_NONE)
            continue;
        if ((str_ends(v.p[i].name, S("DOC ON TYPE")) || str_ends(v.p[i].name, S("DOC ON COLUMN"))) && v.p[i].names.n)
            pl_name(p, &v.p[i].names);
        pl_word(p, "=");
        option_value(p, &v.p[i]);
    }
}

void pl_options(LivePrint *p, const LiveOptions *o)
{
    pl_word(p, "(");
    pl_options_bare(p, o);
    sb_byte(&p->b, ')');
}

void pl_with(LivePrint *p, const LiveOptions *o)
{
    if (!o->n)
        return;
    pl_word(p, "WITH");
    pl_options(p, o);
}

void pl_option_names(LivePrint *p, const LiveOptions *o)
{
    pl_word(p, "(");
    for (size_t i = 0; i < o->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_upper(p, o->p[i].name);
    }
    sb_byte(&p->b, ')');
}

void pl_columns(LivePrint *p, const ColumnDefs *c)
{
    pl_word(p, "(");
    for (size_t i = 0; i < c->n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        pl_one(p, c->p[i].name);
        space(p);
        sb_add(&p->b, sql_type_name(p->a, DIALECT_POSTGRES, &c->p[i].type));
        if (c->p[i].not_null)
            pl_word(p, "NOT NULL");
        if (c->p[i].default_text.n) {
            pl_word(p, "DEFAULT");
            pl_raw(p, c->p[i].default_text);
        }
    }
    sb_byte(&p->b, ')');
}
