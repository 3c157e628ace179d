/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - one line an event, on standard error, as text or JSON.
 *
 * The level and the form are set once at start and only read afterwards. */
#include "base/base.h"

#include <stdio.h>
#include <unistd.h>

static struct { LogLevel level; bool json; } setup = { LOG_INFO, false };

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_setup(LogLevel level, bool json)
{
    setup.level = level;
    setup.json = json;
}

bool log_enabled(LogLevel level) { return level >= setup.level; }

static void quoted(StrBuf *b, const char *z)
{
    sb_byte(b, '"');
    for (; *z; z++) {
        unsigned char c = (unsigned char)*z;
        if (c == '"' || c == '\\')
            sb_fmt(b, "\\%c", c);
        else if (c < 0x20)
            sb_fmt(b, "\\u%04x", c);
        else
            sb_byte(b, (char)c);
    }
    sb_byte(b, '"');
}

static bool plain(const char *z)
{
    for (; *z; z++)
        if ((unsigned char)*z <= ' ' || *z == '"' || *z == '=')
            return false;
    return true;
}

static void field(StrBuf *b, const char *key, const char *value)
{
    if (setup.json) {
        sb_byte(b, ',');
        quoted(b, key);
        sb_byte(b, ':');
        quoted(b, value);
    } else if (*value && plain(value)) {
        sb_fmt(b, " %s=%s", key, value);
    } else {
        sb_fmt(b, " %s=", key);
        quoted(b, value);
    }
}

static void emit(LogLevel level, const char *event, const Error *err, va_list ap)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Str when = time_iso8601(a, clock_ms());

    if (setup.json) {
        sb_fmt(&b, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":", when.p, level_names[level]);
        quoted(&b, event);
    } else {
        sb_fmt(&b, "%s %-5s %s", when.p, level_names[level], event);
    }
    for (const char *key = va_arg(ap, const char *); key; key = va_arg(ap, const char *)) {
        const char *value = va_arg(ap, const char *);
        field(&b, key, value ? value : "");
    }
    if (err) {
        field(&b, "code", status_name(err->code));
        field(&b, "error", err->message);
        if (*err->detail)
            field(&b, "detail", err->detail);
        field(&b, "origin", err->origin);
    }
    sb_addc(&b, setup.json ? "}\n" : "\n");
    if (write(STDERR_FILENO, b.p, b.n) < 0) { /* nowhere left to say so */ }
}

void log_event(LogLevel level, const char *event, ...)
{
    va_list ap;
    if (!log_enabled(level))
        return;
    va_start(ap, event);
    emit(level, event, NULL, ap);
    va_end(ap);
}

void log_error(const Error *err, const char *event, ...)
{
    va_list ap;
    va_start(ap, event);
    emit(LOG_ERROR, event, err, ap);
    va_end(ap);
}
