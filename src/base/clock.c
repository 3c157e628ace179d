/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - time, randomness and the names made of them. */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static int64_t now_us(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_ms(void) { return now_us(CLOCK_REALTIME) / 1000; }
int64_t clock_us(void) { return now_us(CLOCK_REALTIME); }
int64_t clock_mono_us(void) { return now_us(CLOCK_MONOTONIC); }

Str time_iso8601(Arena *a, int64_t ms)
{
    int64_t rest = ((ms % 1000) + 1000) % 1000;
    time_t t = (time_t)((ms - rest) / 1000);
    struct tm tm;
    char day[40];

    gmtime_r(&t, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    return str_fmt(a, "%s.%03dZ", day, (int)rest);
}

void rand_bytes(void *p, size_t n)
{
    for (char *at = p; n; ) {
        ssize_t got = getrandom(at, min_size(n, 256), 0);
        if (got < 0) {
            if (errno == EINTR)
                continue;
            abort();                              /* without randomness nothing here is safe */
        }
        at += got;
        n -= (size_t)got;
    }
}

uint64_t rand_u64(void)
{
    uint64_t v;
    rand_bytes(&v, sizeof v);
    return v;
}

Str uuid_v4(Arena *a)
{
    unsigned char b[16];
    rand_bytes(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
    return str_fmt(a, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
                   b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

Str hex_encode(Arena *a, Str bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *p = arena_alloc(a, bytes.n * 2 + 1);
    for (size_t i = 0; i < bytes.n; i++) {
        p[2 * i] = digits[(unsigned char)bytes.p[i] >> 4];
        p[2 * i + 1] = digits[(unsigned char)bytes.p[i] & 15];
    }
    return (Str){ p, bytes.n * 2 };
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hex_decode(Arena *a, Str hex, Str *ret)
{
    if (hex.n % 2)
        return false;
    char *p = arena_alloc(a, hex.n / 2 + 1);
    for (size_t i = 0; i < hex.n / 2; i++) {
        int hi = hex_digit(hex.p[2 * i]), lo = hex_digit(hex.p[2 * i + 1]);
        if (hi < 0 || lo < 0)
            return false;
        p[i] = (char)(hi << 4 | lo);
    }
    *ret = (Str){ p, hex.n / 2 };
    return true;
}
