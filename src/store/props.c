/* SPDX-License-Identifier: Apache-2.0 */
/* props.c - properties as one blob: "<bytes>:<key><bytes>:<value>" for each pair, so that any byte may stand in them. */
#include "store/store_int.h"

static bool unpack_one(Str *rest, Str *ret);

Str props_pack(Arena *a, const Props *p)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; p && i < p->n; i++) {
        sb_fmt(&b, "%zu:", p->p[i].key.n);
        sb_add(&b, p->p[i].key);
        sb_fmt(&b, "%zu:", p->p[i].value.n);
        sb_add(&b, p->p[i].value);
    }
    return sb_str(&b);
}

void props_unpack(Arena *a, Str packed, Props *ret)
{
    KeyValue kv;
    while (unpack_one(&packed, &kv.key) && unpack_one(&packed, &kv.value))
        vec_push(a, ret, kv);
}

void props_copy(Arena *a, const Props *from, Props *ret)
{
    *ret = (Props){0};
    for (size_t i = 0; from && i < from->n; i++) {
        KeyValue kv = { str_dup(a, from->p[i].key), str_dup(a, from->p[i].value) };
        vec_push(a, ret, kv);
    }
}

static bool unpack_one(Str *rest, Str *ret)
{
    Str digits, tail;
    int64_t n;
    if (!str_cut(*rest, ':', &digits, &tail) || !str_to_i64(digits, &n) || n < 0 || (size_t)n > tail.n)
        return false;
    *ret = str_sub(tail, 0, (size_t)n);
    *rest = str_from(tail, (size_t)n);
    return true;
}
