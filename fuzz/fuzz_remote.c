/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_remote.c - what catalogs, token servers, STS and object stores elsewhere answer: the first byte says to what question, the rest is the body.
 *
 * No answer makes an outcome of success out of a failure; a table that is believed has its metadata where its files may lie; words for messages are one line of text. */
#include "remote/remote_int.h"
#include "store/store_s3_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void config(Arena *a, Str body)
{
    Props p = {0}, q = {0};
    Error err;
    if (remote_parse_config(a, body, &p, &q, &err) == OK && !str_is_utf8(body))
        abort();
}

static void signed_request(Arena *a, Str body)
{
    Props headers = {0};
    Str url;
    Error err;

    if (remote_token_ends(a, body) < 0)
        abort();
    if (remote_parse_signed(a, body, &url, &headers, &err) != OK)
        return;
    for vec_each(const KeyValue, h, &headers)
        if (!remote_is_token(h->key) || str_eq(h->key, S("host")) || memchr(h->value.p ? h->value.p : "", '\n', h->value.n))
            abort();
}

static void token(Arena *a, Str body)
{
    TokenAnswer t;
    Error err;
    if (remote_parse_token(a, body, &t, &err) == OK && (!t.token.n || memchr(t.token.p, '\n', t.token.n) || t.life_ms <= 0))
        abort();
}

static void table(Arena *a, Str body)
{
    TableAnswer t;
    StrVec places = {0};
    Location at, top;
    Error err;

    if (remote_parse_table(a, body, &t, &err) != OK || remote_places(a, t.meta, t.metadata_location, &places, &err) != OK)
        return;
    if (store_parse_location(a, t.metadata_location, &at, &err) != OK || at.file)
        abort();
    bool inside = false;
    for vec_each(Str, p, &places)
        inside = inside || (store_parse_location(a, *p, &top, &err) == OK && !top.file && str_eq(top.bucket, at.bucket));
    if (!inside || (!t.meta->uuid.n && t.meta->format_version > 1))
        abort();
}

static void judged(Arena *a, Str body)
{
    static const int codes[] = { 100, 300, 307, 400, 401, 403, 404, 405, 408, 409, 412, 419, 422, 429, 500, 501, 502, 503, 504, 599 };
    static const Does does[] = { DOES_READ, DOES_CREATE, DOES_COMMIT, DOES_DROP };
    Error err;

    for (size_t i = 0; i < COUNT_OF(codes); i++)
        for (size_t k = 0; k < COUNT_OF(does); k++) {
            Status st = remote_judge(a, does[k], codes[i], body, &err);
            if (st == OK || (codes[i] >= 500 && does[k] == DOES_COMMIT && st != E_UNKNOWN) || memchr(err.message, '\n', strlen(err.message)))
                abort();
        }
    if (remote_judge_token(a, 400, body, &err) != E_AUTH || remote_judge_sts(a, 403, body, &err) == OK)
        abort();
}

static void sts(Arena *a, Str body)
{
    RemoteRole r;
    Str arn;
    Error err;
    if (remote_parse_role(a, body, &r, &err) == OK && (!r.keys.access_key.n || !r.keys.session_token.n))
        abort();
    if (remote_parse_caller(a, body, &arn, &err) == OK && (!arn.n || !str_is_utf8(arn)))
        abort();
}

static void lists(Arena *a, Str body)
{
    RemoteNamespaces all = {0};
    StorageGrants grants = {0};
    StrVec names = {0};
    ObjectInfos objects = {0};
    Str next;
    Error err;

    if (remote_parse_namespaces(a, body, &all, &next, &err) == OK)
        for vec_each(StrVec, ns, &all)
            if (!ns->n)
                abort();
    if (remote_parse_tables(a, body, &names, &next, &err) == OK)
        for vec_each(Str, n, &names)
            if (!n->n)
                abort();
    if (remote_parse_grants(a, body, &grants, &err) == OK && grants.n > CREDENTIALS_MAX)
        abort();
    if (s3s_list_parse(a, S("b"), body, &objects, &next, &err) == OK)
        for vec_each(ObjectInfo, o, &objects)
            if (!o->key.n || o->size < 0)
                abort();
    (void)s3s_fault(a, body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const questions[])(Arena *, Str) = { config, token, table, judged, sts, lists, signed_request };
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (!size)
        return 0;
    questions[(uint8_t)(data[0] - '0') % COUNT_OF(questions)](a, str_n((const char *)data + 1, size - 1));
    return 0;
}
