/* SPDX-License-Identifier: Apache-2.0 */
/* print_live_format.c - FORMAT, INCLUDE, ENVELOPE and webhooks in normalised texts. */
#include "sql/print_live_int.h"

/* ---- formats ------------------------------------------------------------------------------------------------------------------------ */

static bool is_seed(Str name)
{
    return str_starts(name, S("SEED ")) || str_ends(name, S(" STRATEGY")) || str_eq(name, S("SCHEMA")) || str_eq(name, S("MESSAGE"));
}

static void strategy(LivePrint *p, const LiveOption *o)
{
    pl_upper(p, o->name);
    if (o->kind == OPT_STRING) {
        pl_word(p, "INLINE");
        pl_string(p, o->text);
    } else if (o->kind == OPT_NUMBER) {
        pl_word(p, "ID");
        sb_byte(&p->b, ' ');
        sb_add(&p->b, o->text);
    } else {
        pl_word(p, "LATEST");
    }
}

static void registry_options(LivePrint *p, const LiveFormat *f)
{
    LiveOptions plain = {0};

    for vec_each(const LiveOption, o, &f->options)
        if (!is_seed(o->name))
            vec_push(p->a, &plain, *o);
    if (plain.n)
        pl_options(p, &plain);
}

static void seeds(LivePrint *p, const LiveFormat *f)
{
    const LiveOption *key = live_option(&f->options, "SEED KEY SCHEMA"), *value = live_option(&f->options, "SEED VALUE SCHEMA");

    for vec_each(const LiveOption, o, &f->options)
        if (str_ends(o->name, S(" STRATEGY")))
            strategy(p, o);
    if (!key && !value)
        return;
    pl_word(p, "SEED");
    if (key) {
        pl_word(p, "KEY SCHEMA");
        pl_string(p, key->text);
    }
    if (value) {
        pl_word(p, "VALUE SCHEMA");
        pl_string(p, value->text);
    }
}

static void string_part(LivePrint *p, const LiveFormat *f, const char *name)
{
    const LiveOption *o = live_option(&f->options, name);
    if (!o)
        return;
    pl_word(p, name);
    pl_string(p, o->text);
}

static void registry(LivePrint *p, const LiveFormat *f)
{
    pl_word(p, "USING");
    if (str_eq(f->registry, S("schema"))) {
        string_part(p, f, "SCHEMA");
        registry_options(p, f);
        return;
    }
    pl_upper(p, f->registry);
    pl_word(p, "CONNECTION");
    pl_name(p, &f->connection);
    registry_options(p, f);
    seeds(p, f);
}

static void csv(LivePrint *p, const LiveFormat *f)
{
    const LiveOption *header = live_option(&f->options, "HEADER"), *columns = live_option(&f->options, "COLUMNS");
    StrVec names = {0};

    pl_word(p, "WITH");
    if (header) {
        pl_word(p, "HEADER");
        for vec_each(const LiveOption, o, &header->list)
            vec_push(p->a, &names, o->text);
        if (names.n)
            pl_list(p, &names);
    } else if (columns) {
        sb_byte(&p->b, ' ');
        sb_add(&p->b, columns->text);
        pl_word(p, "COLUMNS");
    }
    string_part(p, f, "DELIMITED BY");
}

static void one_format(LivePrint *p, const LiveFormat *f)
{
    if (str_eq(f->kind, S("regex"))) {
        string_part(p, f, "REGEX");
        return;
    }
    pl_upper(p, f->kind);
    if (str_eq(f->kind, S("csv")))
        csv(p, f);
    else if (str_eq(f->kind, S("protobuf")))
        string_part(p, f, "MESSAGE");
    if (f->registry.n)
        registry(p, f);
}

void pl_format(LivePrint *p, const LiveStmt *l)
{
    if (l->key_format.kind.n) {
        pl_word(p, "KEY FORMAT");
        one_format(p, &l->key_format);
        pl_word(p, "VALUE");
    }
    if (l->format.kind.n) {
        pl_word(p, "FORMAT");
        one_format(p, &l->format);
    }
}

/* ---- INCLUDE, ENVELOPE ------------------------------------------------------------------------------------------------------------------ */

static bool after(Str s, const char *prefix, Str *rest)
{
    if (!str_starts(s, str_c(prefix)))
        return false;
    *rest = str_from(s, strlen(prefix));
    return true;
}

static void include(LivePrint *p, const LiveInclude *x)
{
    Str header;
    bool bytes = after(x->name, "header bytes:", &header);

    if (bytes || after(x->name, "header:", &header)) {
        pl_word(p, "HEADER");
        pl_kept_string(p, header);
    } else {
        pl_upper(p, x->name);
    }
    if (x->alias.n) {
        pl_word(p, "AS");
        pl_one(p, x->alias);
    }
    if (bytes)
        pl_word(p, "BYTES");
}

void pl_envelope(LivePrint *p, const LiveStmt *l)
{
    const LiveOption *errors = live_option(&l->envelope_options, "VALUE DECODING ERRORS");

    for (size_t i = 0; i < l->include.n; i++) {
        if (i)
            sb_byte(&p->b, ',');
        else
            pl_word(p, "INCLUDE");
        include(p, &l->include.p[i]);
    }
    if (!l->envelope.n)
        return;
    pl_word(p, "ENVELOPE");
    pl_upper(p, l->envelope);
    if (!errors)
        return;
    pl_word(p, "(VALUE DECODING ERRORS = (INLINE AS");
    pl_one(p, errors->text);
    sb_addc(&p->b, "))");
}

/* ---- webhooks ---------------------------------------------------------------------------------------------------------------------------- */

/* HEADERS ( [NOT] 'a', … ): the names behind the word, in the order given. */
static size_t header_list(LivePrint *p, const LiveStmt *l, size_t i)
{
    Str header;
    bool first = true;

    for (; i < l->include.n; i++) {
        bool not = after(l->include.p[i].name, "not header:", &header);
        if (!not && !after(l->include.p[i].name, "only header:", &header))
            break;
        if (first)
            pl_word(p, "(");
        else
            sb_byte(&p->b, ',');
        if (not)
            pl_word(p, "NOT");
        pl_kept_string(p, header);
        first = false;
    }
    if (!first)
        sb_byte(&p->b, ')');
    return i;
}

static void check(LivePrint *p, const LiveStmt *l)
{
    pl_word(p, "CHECK (");
    for (size_t i = 0; i < l->check_with.n; i++) {
        const LiveOption *o = &l->check_with.p[i];
        if (i)
            sb_byte(&p->b, ',');
        else
            pl_word(p, "WITH (");
        pl_upper(p, o->name);
        if (o->kind == OPT_SECRET)
            pl_name(p, &o->names);
        if (o->text.n) {
            pl_word(p, "AS");
            pl_one(p, o->text);
        }
        if (o->list.n)
            pl_word(p, "BYTES");
    }
    if (l->check_with.n)
        sb_byte(&p->b, ')');
    pl_raw(p, l->check_text);
    sb_byte(&p->b, ')');
}

void pl_webhook(LivePrint *p, const LiveStmt *l)
{
    pl_word(p, "WEBHOOK BODY FORMAT");
    pl_upper(p, l->format.kind);
    for (size_t i = 0; i < l->include.n;) {
        pl_word(p, "INCLUDE");
        include(p, &l->include.p[i]);
        i = header_list(p, l, i + 1);
    }
    if (l->check)
        check(p, l);
}
