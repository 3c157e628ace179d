/* SPDX-License-Identifier: Apache-2.0 */
/* fields.c - the text of an operation's fields, compiled.
 *
 * The grammar is in aws.h.  Texts are constants of the program: one that does not compile is a defect, found by aws_check_service. */
#include "aws/aws_int.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Scan { Arena *a; Str text; size_t at; } Scan;

static char peek(const Scan *s) { return s->at < s->text.n ? s->text.p[s->at] : 0; }

static void skip_blanks(Scan *s)
{
    while (peek(s) == ' ' || peek(s) == '\n')
        s->at++;
}

static bool take(Scan *s, char c)
{
    if (peek(s) != c)
        return false;
    s->at++;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ':' || c == '.' || c == '/';
}

static Str word(Scan *s)
{
    size_t from = s->at;
    while (is_word(peek(s)))
        s->at++;
    return str_sub(s->text, from, s->at);
}

static bool number(Scan *s, int64_t *ret)
{
    size_t from = s->at;
    while (peek(s) >= '0' && peek(s) <= '9')
        s->at++;
    return str_to_i64(str_sub(s->text, from, s->at), ret);
}

/* "1-255", straight after the type. */
static void range(Scan *s, AwsType *t)
{
    size_t from = s->at;

    if (number(s, &t->min) && take(s, '-') && number(s, &t->max))
        t->ranged = 1;
    else
        s->at = from;
}

static AwsType *type_of(Scan *s);

static AwsType *enclosed(Scan *s, AwsType *t, char close)
{
    t->item = type_of(s);
    if (!t->item || !take(s, close))
        return NULL;
    range(s, t);
    return t;
}

static AwsType *choice(Scan *s, AwsType *t)
{
    if (!take(s, '('))
        return NULL;
    do {
        Str w = word(s);
        vec_push(s->a, &t->choices, w);
    } while (take(s, '|'));
    return take(s, ')') ? t : NULL;
}

static AwsType *simple(Scan *s, AwsType *t)
{
    static const struct { char letter; AwsKind kind; } letters[] = {
        { 's', T_STR }, { 'i', T_INT }, { 'l', T_INT }, { 'd', T_REAL }, { 'b', T_BOOL }, { 't', T_TIME }, { 'x', T_BLOB }, { '*', T_ANY },
    };
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (take(s, letters[i].letter)) {
            t->kind = letters[i].kind;
            range(s, t);
            return t;
        }
    return NULL;
}

static AwsType *type_of(Scan *s)
{
    AwsType *t = arena_new(s->a, AwsType);

    if (take(s, '[')) {
        t->kind = T_LIST;
        return enclosed(s, t, ']');
    }
    if (take(s, '<')) {
        t->kind = T_MAP;
        return enclosed(s, t, '>');
    }
    if (take(s, '{')) {
        t->kind = T_STRUCT;
        t->shape = word(s);
        return take(s, '}') ? t : NULL;
    }
    if (take(s, 'e')) {
        t->kind = T_ENUM;
        return choice(s, t);
    }
    return simple(s, t);
}

Status aws_fields(Arena *a, Str text, AwsMembers *ret, Error *err)
{
    Scan s = { .a = a, .text = text };

    *ret = (AwsMembers){0};
    skip_blanks(&s);
    while (s.at < text.n) {
        AwsMember m = { .name = word(&s) };
        m.required = take(&s, '!');
        skip_blanks(&s);
        m.type = m.name.n ? type_of(&s) : NULL;
        skip_blanks(&s);
        if (!m.type || (s.at < text.n && !take(&s, ',')))
            return FAIL(err, E_SYNTAX, "field '" STR_FMT "': not understood: '" STR_FMT "'", STR_ARG(m.name), STR_ARG(str_sub(text, s.at, s.at + 40)));
        skip_blanks(&s);
        vec_push(a, ret, m);
    }
    return OK;
}

const AwsMember *aws_member(const AwsMembers *m, Str name)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->p[i].name, name))
            return &m->p[i];
    return NULL;
}

/* ---- texts are right -------------------------------------------------------------------------------------------- */

static void die(const AwsService *s, const char *where, const char *why)
{
    fprintf(stderr, "%s.%s: %s\n", s->scope, where, why);
    abort();
}

static bool has_shape(const AwsService *s, Str name)
{
    for (size_t i = 0; i < s->nshapes; i++)
        if (str_eq(name, str_c(s->shapes[i].name)))
            return true;
    return false;
}

static void check_type(const AwsService *s, const char *where, const AwsType *t)
{
    for (; t; t = t->item)
        if (t->kind == T_STRUCT && !has_shape(s, t->shape))
            die(s, where, "names a structure that is not among the shapes");
}

static void check_text(Arena *a, const AwsService *s, const char *where, const char *text)
{
    AwsMembers m;
    Error err;

    if (aws_fields(a, str_c(text), &m, &err) != OK)
        die(s, where, err.message);
    for (size_t i = 0; i < m.n; i++)
        check_type(s, where, m.p[i].type);
}

void aws_check_service(const AwsService *s)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    for (size_t i = 0; i < s->nshapes; i++)
        check_text(a, s, s->shapes[i].name, s->shapes[i].fields);
    for (size_t i = 0; i < s->nops; i++) {
        check_text(a, s, s->ops[i].name, s->ops[i].fields ? s->ops[i].fields : "");
        if (s->protocol == AWS_REST_JSON && (!s->ops[i].method || !s->ops[i].path))
            die(s, s->ops[i].name, "has no method and path");
    }
}

void aws_describe(const AwsService *s, StrBuf *ret)
{
    sb_fmt(ret, "## %s\n\n| operation | supported | |\n|---|---|---|\n", s->title);
    for (size_t i = 0; i < s->nops; i++)
        sb_fmt(ret, "| `%s` | %s | %s |\n", s->ops[i].name, s->ops[i].handler ? "yes" : "no", s->ops[i].note ? s->ops[i].note : "");
    sb_addc(ret, "\n");
}
