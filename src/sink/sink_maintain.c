/* SPDX-License-Identifier: Apache-2.0 */
/* sink_maintain.c - stub */
#include "sink/sink_int.h"
Str policy_get(const SinkSpec *s, const char *key, Str fallback) { return props_get(&s->props, str_c(key), fallback); }
int64_t policy_i64(const SinkSpec *s, const char *key, int64_t fallback)
{
    int64_t n;
    return str_to_i64(policy_get(s, key, (Str){0}), &n) ? n : fallback;
}
Status maintain(Sink *s, Arena *a UNUSED, Table *t UNUSED, Error *err UNUSED)
{
    s->maintain_due_us = clock_mono_us() + 600000000;
    return OK;
}
