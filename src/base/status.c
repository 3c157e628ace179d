/* SPDX-License-Identifier: Apache-2.0 */
/* status.c - the one table from a Status to what each protocol calls it, and the Error that carries it.
 *
 * Invariants: (1) every Status has a row; (2) an Error is written by the first failure and only extended afterwards. */
#include "base/base.h"

#include <errno.h>
#include <stdio.h>

typedef struct {
    const char *name;
    int http;
    const char *sqlstate;
    const char *iceberg;
} StatusRow;

static const StatusRow rows[STATUS_COUNT] = {
    [OK]            = { "OK",            200, "00000", "" },
    [E_INVALID]     = { "E_INVALID",     400, "22023", "BadRequestException" },
    [E_SYNTAX]      = { "E_SYNTAX",      400, "42601", "BadRequestException" },
    [E_NOT_FOUND]   = { "E_NOT_FOUND",   404, "42P01", "NotFoundException" },
    [E_EXISTS]      = { "E_EXISTS",      409, "42P07", "AlreadyExistsException" },
    [E_NOT_EMPTY]   = { "E_NOT_EMPTY",   409, "2BP01", "NamespaceNotEmptyException" },
    [E_CONFLICT]    = { "E_CONFLICT",    409, "40001", "CommitFailedException" },
    [E_DENIED]      = { "E_DENIED",      403, "42501", "ForbiddenException" },
    [E_AUTH]        = { "E_AUTH",        401, "28P01", "NotAuthorizedException" },
    [E_PROTECTED]   = { "E_PROTECTED",   403, "42501", "ForbiddenException" },
    [E_QUARANTINED] = { "E_QUARANTINED", 409, "58030", "ValidationException" },
    [E_LIMIT]       = { "E_LIMIT",       400, "54000", "BadRequestException" },
    [E_CORRUPT]     = { "E_CORRUPT",     500, "XX001", "ServiceFailureException" },
    [E_UNSUPPORTED] = { "E_UNSUPPORTED", 406, "0A000", "UnsupportedOperationException" },
    [E_IO]          = { "E_IO",          500, "58030", "ServiceFailureException" },
    [E_FULL]        = { "E_FULL",        507, "53100", "ServiceFailureException" },
    [E_TIMEOUT]     = { "E_TIMEOUT",     503, "57014", "ServiceUnavailableException" },
    [E_CANCELLED]   = { "E_CANCELLED",   499, "57014", "ServiceUnavailableException" },
    [E_UNAVAILABLE] = { "E_UNAVAILABLE", 503, "53300", "ServiceUnavailableException" },
    [E_UNKNOWN]     = { "E_UNKNOWN",     500, "40003", "CommitStateUnknownException" },
    [E_OVERFLOW]    = { "E_OVERFLOW",    400, "22003", "BadRequestException" },
    [E_DIVISION]    = { "E_DIVISION",    400, "22012", "BadRequestException" },
    [E_INTERNAL]    = { "E_INTERNAL",    500, "XX000", "ServiceFailureException" },
};

const char *status_name(Status s) { return rows[s].name; }
int status_http(Status s) { return rows[s].http; }
const char *status_sqlstate(Status s) { return rows[s].sqlstate; }
const char *status_iceberg(Status s) { return rows[s].iceberg; }

static void fill(char *to, size_t size, const char *fmt, va_list ap)
{
    int n = vsnprintf(to, size, fmt, ap);
    if (n >= (int)size)                       /* cut at a character, not inside one */
        for (char *p = to + size - 2; p > to && ((unsigned char)*p & 0xC0) == 0x80; p--)
            *p = 0;
}

Status error_set(Error *err, Status code, const char *origin, const char *fmt, ...)
{
    va_list ap;

    *err = (Error){ .code = code };
    snprintf(err->origin, sizeof err->origin, "%s", origin);
    va_start(ap, fmt);
    fill(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    return code;
}

Status error_context(Error *err, const char *fmt, ...)
{
    char head[512], tail[LIMIT_ERROR_TEXT];
    va_list ap;

    va_start(ap, fmt);
    fill(head, sizeof head, fmt, ap);
    va_end(ap);
    memcpy(tail, err->message, sizeof tail);
    size_t n = strlen(head);
    memcpy(err->message, head, n);
    snprintf(err->message + n, sizeof err->message - n, ": %.*s", (int)(sizeof err->message - n - 3), tail);
    return err->code;
}

void error_hint(Error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
}

void error_detail(Error *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
}

static Status status_of_errno(int e)
{
    switch (e) {
    case ENOSPC: case EDQUOT: return E_FULL;
    case ENOENT: return E_NOT_FOUND;
    case EEXIST: return E_EXISTS;
    case ETIMEDOUT: return E_TIMEOUT;
    default: return E_IO;
    }
}

Status error_errno(Error *err, int errnum, const char *origin, const char *fmt, ...)
{
    char what[512], why[128];
    va_list ap;

    va_start(ap, fmt);
    fill(what, sizeof what, fmt, ap);
    va_end(ap);
    return error_set(err, status_of_errno(errnum), origin, "%s: %s", what, strerror_r(errnum, why, sizeof why));
}
