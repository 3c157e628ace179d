/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_policy.c - policies of every kind: what parses can be asked, an added deny of everything wins, and wildcards match as a plain table says. */
#include "access/policy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIKE_MAX = 48 };

static size_t step(Str s, size_t i)
{
    for (i++; i < s.n && ((unsigned char)s.p[i] & 0xC0) == 0x80; i++)
        ;
    return i;
}

/* The reference: try everything, on short texts. */
static bool like(Str t, size_t i, Str p, size_t k, int *budget)
{
    if (--*budget < 0)
        return false;
    if (k == p.n)
        return i == t.n;
    if (p.p[k] == '*')
        return like(t, i, p, k + 1, budget) || (i < t.n && like(t, step(t, i), p, k, budget));
    if (i == t.n)
        return false;
    return p.p[k] == '?' ? like(t, step(t, i), p, k + 1, budget) : p.p[k] == t.p[i] && like(t, i + 1, p, k + 1, budget);
}

static void check_like(Str input)
{
    Str text, pattern;
    int budget = 200000;
    if (!str_cut(input, '\n', &pattern, &text) || text.n > LIKE_MAX || pattern.n > LIKE_MAX || !str_is_utf8(text) || !str_is_utf8(pattern))
        return;
    bool wanted = like(text, 0, pattern, 0, &budget);
    if (budget >= 0 && wanted != policy_like(text, pattern))
        abort();
}

static void ask(const Policy *p, Str text)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    KeyValue kv[] = { { S("aws:username"), S("bob") }, { S("aws:CurrentTime"), S("2026-11-30T12:00:00Z") }, { S("aws:SourceIp"), S("10.1.2.3") }, { S("aws:TagKeys"), S("a") }, { S("aws:TagKeys"), S("b") },
                      { S("s3:prefix"), S("x/*") }, { S("a"), S("1") } };
    Props context = { kv, COUNT_OF(kv), COUNT_OF(kv) };
    PolicyAsk q = { .action = S("s3:GetObject"), .resource = S("arn:aws:s3:::b/x/y"), .principal = S("arn:aws:sts::1:assumed-role/r/s"), .principal_role = S("arn:aws:iam::1:role/r"),
                    .account = S("1"), .context = &context };
    PolicyMatch m;
    StrVec keys = {0};

    PolicyAnswer answer = policy_decide(p, &q, &m);
    if ((answer == POLICY_SILENT) != (m.statement < 0))
        abort();
    size_t from, to;
    bool placed = policy_place(text, m.statement, &from, &to);
    if (m.statement >= 0 && !placed && str_chr(text, '\\') < 0)          /* a key in escapes is not found */
        abort();
    if (placed && (from >= to || to > text.n || text.p[from] != '{' || text.p[to - 1] != '}'))
        abort();
    q.context = NULL;
    (void)policy_decide(p, &q, &m);
    policy_context_keys(a, p, &keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str text = str_n((const char *)data, size);
    Policy *p;
    Error err;

    check_like(text);
    for (int kind = POLICY_IDENTITY; kind <= POLICY_SESSION; kind++) {
        Status s = policy_parse(a, text, (PolicyKind)kind, &p, &err);
        if (s == OK)
            ask(p, text);
        else if (s != E_INVALID || strcmp(err.kind, "MalformedPolicyDocument") != 0)
            abort();
    }
    return 0;
}
