/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - objects in key order, with common prefixes.
 *
 * A common prefix is answered once and then jumped over: the next read starts at the first key that is above all keys
 * with that prefix, so a listing costs what it returns, not what lies below the prefixes. */
#include "store/store_s3_int.h"

typedef struct Lister {
    Arena *a;
    const ListQuery *q;
    ListResult *ret;
    Str from;             /* where the next scan starts */
    int after;            /* exclusive? */
    int count, done;
} Lister;

static Status scan(Db *db, Lister *l, Error *err);
static bool take(Lister *l, Q *q, Str key);
static bool above(Arena *a, Str prefix, Str *ret);
static void skip(Lister *l, Str prefix);

Status store_list(Store *s, Arena *a, const ListQuery *q, ListResult *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    Lister l = { .a = a, .q = q, .ret = ret, .from = q->prefix };
    *ret = (ListResult){0};
    TRY(store_gate(s, err));
    TRY(reader_take(s->index, &r, err));
    TRY(bucket_need(r.db, q->bucket, err));
    if (q->after.n && str_cmp(q->after, q->prefix) >= 0) {
        l.from = q->after;
        l.after = 1;
        Str cp = list_common_prefix(q, q->after);
        if (cp.n)
            skip(&l, cp);
    }
    while (!l.done && q->max > 0)
        TRY(scan(r.db, &l, err));
    return OK;
}

Status store_list_all(Store *s, Arena *a, Str prefix_uri, ObjectInfos *ret, Error *err)
{
    CLEANUP(reader_give) Reader r = {0};
    Location loc;
    if (s->s3)
        return s3s_list_all(s, a, prefix_uri, ret, err);
    TRY(store_gate(s, err));
    TRY(store_parse_location(a, prefix_uri, &loc, err));
    if (loc.file)
        return file_list(s, a, loc.path, ret, err);
    TRY(reader_take(s->index, &r, err));
    TRY(bucket_need(r.db, loc.bucket, err));
    Q q = q_open(r.db, Q_OBJECT_FROM);
    q_text(&q, loc.bucket);
    q_blob(&q, loc.key);
    while (q_row(&q)) {
        ObjectRow row = {0};
        object_from_row(&q, a, &row);
        if (!str_starts(row.info.key, loc.key))
            break;
        vec_push(a, ret, row.info);
    }
    return q_done(&q, err);
}

/* Reads on from l->from until the page is full, the prefix ends, or a common prefix must be jumped over. */
static Status scan(Db *db, Lister *l, Error *err)
{
    Q q = q_open(db, l->after ? Q_OBJECT_AFTER : Q_OBJECT_FROM);
    q_text(&q, l->q->bucket);
    q_blob(&q, l->from);
    bool jumped = false;
    while (!jumped && !l->done) {
        if (!q_row(&q)) {
            l->done = 1;
            break;
        }
        Str key = q_str(&q, 1, l->a);
        if (!str_starts(key, l->q->prefix))
            l->done = 1;
        else
            jumped = take(l, &q, key);
    }
    return q_done(&q, err);
}

/* True: a common prefix was taken and the scan must start anew. */
static bool take(Lister *l, Q *q, Str key)
{
    if (l->count == l->q->max) {
        l->ret->truncated = l->done = 1;
        return false;
    }
    l->count++;
    Str cp = list_common_prefix(l->q, key);
    if (cp.n) {
        vec_push(l->a, &l->ret->prefixes, cp);
        l->ret->next_after = cp;
        skip(l, cp);
        return true;
    }
    ObjectRow row = {0};
    object_from_row(q, l->a, &row);
    vec_push(l->a, &l->ret->objects, row.info);
    l->ret->next_after = key;
    return false;
}

Str list_common_prefix(const ListQuery *q, Str key)
{
    if (!q->delimiter.n || !str_starts(key, q->prefix))
        return (Str){0};
    ptrdiff_t at = str_find(str_from(key, q->prefix.n), q->delimiter);
    return at < 0 ? (Str){0} : str_sub(key, 0, q->prefix.n + (size_t)at + q->delimiter.n);
}

static void skip(Lister *l, Str prefix)
{
    l->after = 0;
    if (!above(l->a, prefix, &l->from))
        l->done = 1;
}

/* The least string above all strings that start with prefix; false: there is none. */
static bool above(Arena *a, Str prefix, Str *ret)
{
    while (prefix.n && (unsigned char)prefix.p[prefix.n - 1] == 0xff)
        prefix.n--;
    if (!prefix.n)
        return false;
    char *p = str_z(a, prefix);
    p[prefix.n - 1] = (char)((unsigned char)p[prefix.n - 1] + 1);
    *ret = str_n(p, prefix.n);
    return true;
}
