/* SPDX-License-Identifier: Apache-2.0 */
/* subscribe_batch.c - the changes of one timestamp as rows of the answer: plain, ordered, by key (UPSERT), before and after (DEBEZIUM).
 *
 * Rows and keys are compared by the text that gives exactly their values. */
#include "service/subscribe_int.h"

#include <stdlib.h>

static Str text_of(Arena *a, const Value *cells, const size_t *cols, size_t n)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < n; i++) {
        sql_value(&b, &cells[cols[i]]);
        sb_byte(&b, 0x1F);
    }
    return sb_str(&b);
}

static Value *new_row(Subscribe *s, int64_t t)
{
    Value *row = arena_array(s->batch, Value, sub_width(s) + 1);
    for (size_t i = 0; i < sub_width(s); i++)
        row[i] = (Value){ .kind = DT_NULL };
    sub_put_head(s, row, t, 0);
    vec_push(s->batch, &s->out, row);
    return row;
}

/* ---- plain ------------------------------------------------------------------------------------------------------------ */

static int compare_values(const Value *x, const Value *y)
{
    if (x->kind == DT_STRING)
        return str_cmp(x->string, y->string);
    if (x->kind == DT_FLOAT || x->kind == DT_DOUBLE)
        return (x->real > y->real) - (x->real < y->real);
    if (x->kind == DT_DECIMAL || x->kind == DT_INT128 || x->kind == DT_UINT64 || x->kind == DT_UINT128)
        return (x->wide > y->wide) - (x->wide < y->wide);
    if (x->kind == DT_BOOL)
        return (int)x->boolean - (int)y->boolean;
    if (x->kind == DT_BINARY || x->kind == DT_JSON || x->kind == DT_UUID || x->kind == DT_ENUM || x->kind == DT_OTHER)
        return str_cmp(x->string, y->string);
    return (x->integer > y->integer) - (x->integer < y->integer);
}

static int compare(const void *p, const void *q, void *ctx)
{
    const Subscribe *s = ctx;
    const SubChange *x = p, *y = q;

    for (size_t i = 0; i < s->norder; i++) {
        int c, sign = s->order[i].descending ? -1 : 1;
        if (s->order[i].col == SIZE_MAX) {
            c = (x->weight > y->weight) - (x->weight < y->weight);
        } else {
            const Value *v = &x->cells[s->order[i].col], *w = &y->cells[s->order[i].col];
            if (v->kind == DT_NULL || w->kind == DT_NULL) {
                c = (v->kind == DT_NULL) - (w->kind == DT_NULL);
                sign = s->order[i].nulls_first ? -1 : 1;
            } else {
                c = compare_values(v, w);
            }
        }
        if (c)
            return c * sign;
    }
    return 0;
}

static void plain(Subscribe *s, SubChanges *changes, int64_t t)
{
    if (s->norder)
        qsort_r(changes->p, changes->n, sizeof *changes->p, compare, s);
    for (size_t i = 0; i < changes->n; i++) {
        Value *row = new_row(s, t);
        size_t at = sub_head(s);
        row[at - 1] = (Value){ .kind = DT_INT64, .integer = changes->p[i].weight };
        memcpy(row + at, changes->p[i].cells, s->ncols * sizeof *row);
    }
}

/* ---- by key --------------------------------------------------------------------------------------------------------------- */

typedef struct KeyState { const Value *any; const Value *gone, *come; int64_t ngone, ncome; } KeyState;

/* Rows that go and come again are no change. */
static void cancel(Subscribe *s, const SubChanges *changes, SubChanges *ret)
{
    Map seen = map_new(s->batch);
    size_t *all = arena_array(s->batch, size_t, s->ncols + 1);

    for (size_t i = 0; i < s->ncols; i++)
        all[i] = i;
    for (size_t i = 0; i < changes->n; i++) {
        Str key = text_of(s->batch, changes->p[i].cells, all, s->ncols);
        SubChange *c = map_get(&seen, key);
        if (c) {
            c->weight += changes->p[i].weight;
            continue;
        }
        c = arena_new(s->batch, SubChange);
        *c = changes->p[i];
        map_put(&seen, key, c);
    }
    for (size_t i = 0; i < seen.n; i++) {
        SubChange *c = seen.entries[i].value;
        if (c->weight)
            vec_push(s->batch, ret, *c);
    }
}

static void gather(Subscribe *s, const SubChanges *changes, Map *keys)
{
    for (size_t i = 0; i < changes->n; i++) {
        const SubChange *c = &changes->p[i];
        Str key = text_of(s->batch, c->cells, s->keys.p, s->keys.n);
        KeyState *k = map_get(keys, key);
        if (!k) {
            k = arena_new(s->batch, KeyState);
            k->any = c->cells;
            map_put(keys, key, k);
        }
        if (c->weight > 0) {
            k->come = c->cells;
            k->ncome += c->weight;
        } else {
            k->gone = c->cells;
            k->ngone -= c->weight;
        }
    }
}

static void put_values(const Subscribe *s, Value *row, const Value *cells)
{
    for (size_t i = 0; cells && i < s->values.n; i++)
        row[i] = cells[s->values.p[i]];
}

static void key_row(Subscribe *s, const KeyState *k, int64_t t)
{
    Value *row = new_row(s, t);
    size_t at = sub_head(s);
    bool violated = k->ncome > 1 || k->ngone > 1;
    Str insert = s->envelope == ENV_UPSERT ? S("upsert") : k->gone ? S("upsert") : S("insert");
    Str state = violated ? S("key_violation") : k->come ? insert : S("delete");

    row[at - 1] = (Value){ .kind = DT_STRING, .string = state };
    for (size_t i = 0; i < s->keys.n; i++)
        row[at + i] = k->any[s->keys.p[i]];
    if (violated)
        return;
    at += s->keys.n;
    if (s->envelope == ENV_DEBEZIUM) {
        put_values(s, row + at, k->gone);
        at += s->values.n;
    }
    put_values(s, row + at, k->come);
}

static void by_key(Subscribe *s, SubChanges *changes, int64_t t)
{
    SubChanges net = {0};
    Map keys = map_new(s->batch);

    cancel(s, changes, &net);
    gather(s, &net, &keys);
    for (size_t i = 0; i < keys.n; i++)
        key_row(s, keys.entries[i].value, t);
}

void sub_batch(Subscribe *s, SubChanges *changes, int64_t t)
{
    if (s->envelope)
        by_key(s, changes, t);
    else
        plain(s, changes, t);
}
