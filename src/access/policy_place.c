/* SPDX-License-Identifier: Apache-2.0 */
/* policy_place.c - where a statement stands in its policy's text, for answers that point at it.
 *
 * The text has been parsed before, so the scan only counts brackets outside of strings: at depth 1 stands the member "Statement", its value is
 * the statement, or the list of them. */
#include "access/policy_int.h"

static size_t string_end(Str s, size_t i)              /* i is at the opening quote; gives what follows the closing one */
{
    for (i++; i < s.n && s.p[i] != '"'; i++)
        if (s.p[i] == '\\')
            i++;
    return i + 1;
}

static size_t value_end(Str s, size_t i)               /* i is at an opening bracket */
{
    int depth = 0;
    while (i < s.n) {
        char c = s.p[i];
        if (c == '"') {
            i = string_end(s, i);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        i++;
        if (depth == 0)
            break;
    }
    return i;
}

/* At the value of the member "Statement"; 0: there is none. */
static size_t statements_at(Str s)
{
    int depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') {
            size_t end = string_end(s, i);
            bool key = depth == 1 && str_eq(str_sub(s, i, end), S("\"Statement\""));
            i = end - 1;
            if (!key)
                continue;
            while (++i < s.n && s.p[i] != '{' && s.p[i] != '[')
                ;
            return i < s.n ? i : 0;
        }
        depth += s.p[i] == '{' || s.p[i] == '[';
        depth -= s.p[i] == '}' || s.p[i] == ']';
    }
    return 0;
}

bool policy_place(Str text, int i, size_t *from, size_t *to)
{
    size_t at = statements_at(text);

    if (!at || i < 0)
        return false;
    if (text.p[at] == '{') {
        *from = at;
        *to = value_end(text, at);
        return i == 0;
    }
    for (at++; at < text.n && text.p[at] != ']'; at++) {
        if (text.p[at] != '{')
            continue;
        *from = at;
        *to = value_end(text, at);
        if (i-- == 0)
            return true;
        at = *to - 1;
    }
    return false;
}
