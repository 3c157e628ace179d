/* SPDX-License-Identifier: Apache-2.0 */
/* glue_regex.c - the patterns of GetTables, GetUserDefinedFunctions: a small regular expression that must match the whole name.
 *
 * As in Glue a '*' after a plain character (or first) is a wildcard of its own; after '.', a class, a group or an escape it repeats.  The pattern becomes
 * a program of an automaton whose states are all followed at once: the time is pattern times name, whatever the pattern. */
#include "door/glue/glue_int.h"

enum { PROGRAM_MAX = 20000, NESTING_MAX = 50, REPEAT_MAX = 1000 };

typedef enum { IN_SET, IN_SPLIT, IN_JUMP, IN_MATCH } Step;
typedef struct Set { uint64_t bits[4]; } Set;
typedef struct Instruction { Step op; Set set; int x, y; } Instruction;
struct GluePattern { VEC(Instruction) code; };

typedef struct Compiler { Arena *a; Str text; size_t at; int depth; GluePattern *p; Error *err; Status status; } Compiler;

static void fail(Compiler *k, const char *what)
{
    if (k->status == OK)
        k->status = FAIL(k->err, E_INVALID, "Expression is not a valid pattern: %s at character %zu", what, k->at + 1);
}

static int emit(Compiler *k, Instruction in)
{
    if (k->p->code.n >= PROGRAM_MAX) {
        fail(k, "it is too large");
        return 0;
    }
    vec_push(k->a, &k->p->code, in);
    return (int)k->p->code.n - 1;
}

static bool more(const Compiler *k) { return k->status == OK && k->at < k->text.n; }
static char look(const Compiler *k) { return k->text.p[k->at]; }

/* ---- sets of bytes ------------------------------------------------------------------------------------------------------ */

static void set_add(Set *s, unsigned char from, unsigned char to)
{
    for (int b = from; b <= to; b++)
        s->bits[b >> 6] |= 1ull << (b & 63);
}

static bool set_has(const Set *s, unsigned char b) { return s->bits[b >> 6] >> (b & 63) & 1; }

static void set_invert(Set *s)
{
    for (size_t i = 0; i < 4; i++)
        s->bits[i] = ~s->bits[i];
}

static void set_join(Set *s, const Set *other)
{
    for (size_t i = 0; i < 4; i++)
        s->bits[i] |= other->bits[i];
}

/* \w \d \s and their opposites; everything else stands for itself. */
static Set escaped(char c)
{
    Set s = {0};
    char low = (char)(c | 32);

    if (low == 'w' || low == 'd')
        set_add(&s, '0', '9');
    if (low == 'w') {
        set_add(&s, 'a', 'z');
        set_add(&s, 'A', 'Z');
        set_add(&s, '_', '_');
    }
    if (low == 's') {
        set_add(&s, ' ', ' ');
        set_add(&s, '\t', '\r');
    }
    if (low != 'w' && low != 'd' && low != 's')
        set_add(&s, (unsigned char)c, (unsigned char)c);
    else if (c != low)
        set_invert(&s);
    return s;
}

static char class_char(Compiler *k, Set *whole, bool *is_set)
{
    *is_set = false;
    if (look(k) != '\\')
        return k->text.p[k->at++];
    k->at++;
    if (!more(k)) {
        fail(k, "it ends in a backslash");
        return 0;
    }
    char c = k->text.p[k->at++];
    *is_set = strchr("wWdDsS", c) != NULL;
    *whole = escaped(c);
    return c;
}

static void class_item(Compiler *k, Set *s)
{
    Set whole;
    bool is_set, last_is_set;
    char from = class_char(k, &whole, &is_set);

    if (is_set) {
        set_join(s, &whole);
        return;
    }
    char to = from;
    if (k->at + 1 < k->text.n && look(k) == '-' && k->text.p[k->at + 1] != ']') {
        k->at++;
        to = class_char(k, &whole, &last_is_set);
        if (last_is_set || (unsigned char)to < (unsigned char)from)
            fail(k, "a range goes backwards");
    }
    set_add(s, (unsigned char)from, (unsigned char)to);
}

static Set class_of(Compiler *k)
{
    Set s = {0};
    bool inverted = more(k) && look(k) == '^';

    k->at += inverted;
    for (bool first = true; more(k) && (first || look(k) != ']'); first = false)
        class_item(k, &s);
    if (more(k))
        k->at++;
    else
        fail(k, "a class is not closed");
    if (inverted)
        set_invert(&s);
    return s;
}

/* ---- pieces --------------------------------------------------------------------------------------------------------------- */

static void alternatives(Compiler *k);

static void group(Compiler *k)
{
    if (++k->depth > NESTING_MAX)
        fail(k, "it is nested too deeply");
    if (k->at + 1 < k->text.n && look(k) == '?' && k->text.p[k->at + 1] == ':')
        k->at += 2;
    alternatives(k);
    if (more(k) && look(k) == ')')
        k->at++;
    else
        fail(k, "a group is not closed");
    k->depth--;
}

/* One atom; false for a plain character, which Glue's '*' does not repeat. */
static bool atom(Compiler *k)
{
    Set s = {0};
    char c = k->text.p[k->at++];

    if (c == '(') {
        group(k);
        return true;
    }
    if (c == '.') {
        set_invert(&s);
    } else if (c == '[') {
        s = class_of(k);
    } else if (c == '\\' && more(k)) {
        s = escaped(k->text.p[k->at++]);
    } else if (c == '\\') {
        fail(k, "it ends in a backslash");
    } else {
        set_add(&s, (unsigned char)c, (unsigned char)c);
    }
    emit(k, (Instruction){ .op = IN_SET, .set = s });
    return c == '.' || c == '[' || c == '\\';
}

/* The piece's code again, moved to the end. */
static void copy_code(Compiler *k, int from, int to)
{
    int shift = (int)k->p->code.n - from;

    for (int i = from; i < to && k->status == OK; i++) {
        Instruction in = k->p->code.p[i];
        if (in.op == IN_SPLIT || in.op == IN_JUMP) {
            in.x += shift;
            in.y += shift;
        }
        emit(k, in);
    }
}

/* Room for one instruction in front of the piece. false: the pattern failed. */
static bool insert_before(Compiler *k, int from, Instruction in)
{
    emit(k, in);
    if (k->status != OK)
        return false;
    for (int i = (int)k->p->code.n - 1; i > from; i--) {
        k->p->code.p[i] = k->p->code.p[i - 1];
        Instruction *moved = &k->p->code.p[i];
        if (moved->op == IN_SPLIT || moved->op == IN_JUMP) {
            moved->x += moved->x >= from;
            moved->y += moved->y >= from;
        }
    }
    k->p->code.p[from] = in;
    return true;
}

static void optional(Compiler *k, int from)
{
    if (insert_before(k, from, (Instruction){ .op = IN_SPLIT, .x = from + 1 }))
        k->p->code.p[from].y = (int)k->p->code.n;
}

static void star(Compiler *k, int from)
{
    if (!insert_before(k, from, (Instruction){ .op = IN_SPLIT, .x = from + 1 }))
        return;
    emit(k, (Instruction){ .op = IN_JUMP, .x = from });
    k->p->code.p[from].y = (int)k->p->code.n;
}

static int64_t count(Compiler *k)
{
    int64_t n = -1;
    size_t from = k->at;
    while (more(k) && look(k) >= '0' && look(k) <= '9')
        k->at++;
    if (k->at > from && (!str_to_i64(str_sub(k->text, from, k->at), &n) || n > REPEAT_MAX))
        fail(k, "a repetition is too large");
    return n;
}

/* {m}, {m,}, {m,n} */
static void braces(Compiler *k, int from)
{
    int to = (int)k->p->code.n;
    int64_t min = count(k), max = min;

    if (more(k) && look(k) == ',') {
        k->at++;
        max = count(k);
    }
    if (!more(k) || look(k) != '}' || min < 0 || (max >= 0 && max < min)) {
        fail(k, "a repetition is wrong");
        return;
    }
    k->at++;
    for (int64_t i = 1; i < min; i++)
        copy_code(k, from, to);
    for (int64_t i = min > 0 ? min : 1; i < max && k->status == OK; i++) {
        int at = (int)k->p->code.n;
        copy_code(k, from, to);
        optional(k, at);
    }
    int last = (int)k->p->code.n;
    if (max < 0) {
        copy_code(k, from, to);
        star(k, last);
    }
    if (min == 0)
        optional(k, from);
}

static void wildcard(Compiler *k)
{
    Set any = {0};
    int from = (int)k->p->code.n;

    set_invert(&any);
    emit(k, (Instruction){ .op = IN_SET, .set = any });
    star(k, from);
}

static void repeat(Compiler *k, int from, bool repeats)
{
    while (more(k) && strchr("*+?{", look(k))) {
        char c = k->text.p[k->at++];
        if (c == '*' && !repeats)
            wildcard(k);
        else if (c == '*')
            star(k, from);
        else if (c == '?')
            optional(k, from);
        else if (c == '+')
            emit(k, (Instruction){ .op = IN_SPLIT, .x = from, .y = (int)k->p->code.n + 1 });
        else
            braces(k, from);
    }
}

static void sequence(Compiler *k)
{
    while (more(k) && look(k) != '|' && look(k) != ')') {
        int from = (int)k->p->code.n;
        char c = look(k);
        if (c == '^' || c == '$') {                       /* the whole name is matched anyway */
            k->at++;
            continue;
        }
        if (c == '*') {
            k->at++;
            wildcard(k);
            continue;
        }
        repeat(k, from, atom(k));
    }
}

/* Each further choice wraps all before it: their jumps to the end meet its jump. */
static void alternatives(Compiler *k)
{
    int from = (int)k->p->code.n;

    sequence(k);
    while (more(k) && look(k) == '|') {
        k->at++;
        if (!insert_before(k, from, (Instruction){ .op = IN_SPLIT, .x = from + 1 }))
            return;
        int jump = emit(k, (Instruction){ .op = IN_JUMP });
        k->p->code.p[from].y = (int)k->p->code.n;
        sequence(k);
        k->p->code.p[jump].x = (int)k->p->code.n;
    }
}

Status glue_pattern(Arena *a, Str text, GluePattern **ret, Error *err)
{
    Compiler k = { .a = a, .text = text, .p = arena_new(a, GluePattern), .err = err };

    alternatives(&k);
    if (k.status == OK && k.at < text.n)
        fail(&k, "a group is closed that was not opened");
    emit(&k, (Instruction){ .op = IN_MATCH });
    *ret = k.p;
    return k.status;
}

/* ---- matching ----------------------------------------------------------------------------------------------------------------- */

typedef struct States { int *list; uint32_t *mark; uint32_t round; size_t n; } States;

/* Follows jumps without a deep stack: `todo` holds what is still to visit. */
static void visit(const GluePattern *p, States *s, int start, int *todo)
{
    size_t n = 0;

    todo[n++] = start;
    while (n > 0) {
        int at = todo[--n];
        if (s->mark[at] == s->round)
            continue;
        s->mark[at] = s->round;
        const Instruction *in = &p->code.p[at];
        if (in->op == IN_JUMP) {
            todo[n++] = in->x;
        } else if (in->op == IN_SPLIT) {
            todo[n++] = in->y;
            todo[n++] = in->x;
        } else {
            s->list[s->n++] = at;
        }
    }
}

bool glue_matches(Arena *a, const GluePattern *p, Str name)
{
    size_t size = p->code.n;
    States now = { arena_array(a, int, size), arena_array(a, uint32_t, size), 1, 0 }, next = { arena_array(a, int, size), arena_array(a, uint32_t, size), 1, 0 };
    int *todo = arena_array(a, int, 2 * size + 2);

    visit(p, &now, 0, todo);
    for (size_t i = 0; i < name.n; i++) {
        next.n = 0;
        next.round++;
        for (size_t k = 0; k < now.n; k++) {
            const Instruction *in = &p->code.p[now.list[k]];
            if (in->op == IN_SET && set_has(&in->set, (unsigned char)name.p[i]))
                visit(p, &next, now.list[k] + 1, todo);
        }
        States swap = now;
        now = next;
        next = swap;
    }
    for (size_t k = 0; k < now.n; k++)
        if (p->code.p[now.list[k]].op == IN_MATCH)
            return true;
    return false;
}
