/* SPDX-License-Identifier: Apache-2.0 */
/* pg_conn.c - connections to PostgreSQL that never wait longer than the source runs.
 *
 * Everything is sent and awaited without blocking, in steps, so a server that says nothing holds nobody up.  Keys and certificates are given to libpq as files of
 * memory: they are on no disk.  Settings of the machine (environment, .pgpass) are not asked.
 * Options: {"host", "port", "user", "password", "database", "ssl mode", "ssl certificate authority", "ssl certificate", "ssl key"}. */
#include "source/pg_int.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP_MS = 100, PARAMS_MAX = 24 };

void pg_close(Pg *p)
{
    PQfinish(p->c);
    p->c = NULL;
}

void pg_clearp(PGresult **r) { PQclear(*r); }

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

static Str one_line(Arena *a, const char *text)
{
    Str s = str_trim(str_c(text));
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] == '\n' || s.p[i] == '\t' ? ' ' : s.p[i];
        if (c != ' ' || !b.n || b.p[b.n - 1] != ' ')
            sb_byte(&b, c);
    }
    return sb_str(&b);
}

Status pg_failed(const Pg *p, const PGresult *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    const char *primary = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL, *hint = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_HINT) : NULL;
    const char *detail = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL) : NULL;

    RAISE(err, E_IO, "postgres: " STR_FMT, STR_ARG(one_line(a, primary ? primary : PQerrorMessage(p->c))));
    if (r && PQresultErrorField(r, PG_DIAG_SQLSTATE))
        snprintf(err->kind, sizeof err->kind, "%s", PQresultErrorField(r, PG_DIAG_SQLSTATE));
    if (detail)
        error_detail(err, STR_FMT, STR_ARG(one_line(a, detail)));
    if (hint)
        error_hint(err, STR_FMT, STR_ARG(one_line(a, hint)));
    return err->code;
}

/* ---- waiting -------------------------------------------------------------------------------------------------------------- */

static bool stopping(const Pg *p) { return (p->r && source_stopping(p->r)) || (p->until_us && clock_mono_us() > p->until_us); }

/* Up to wait_ms for the socket; false: nothing came. */
static bool wait_socket(const Pg *p, short events, int wait_ms)
{
    struct pollfd fd = { .fd = PQsocket(p->c), .events = events };

    for (int64_t until = clock_mono_us() + wait_ms * (int64_t)1000; !stopping(p);) {
        int64_t left = (until - clock_mono_us()) / 1000;
        int n = poll(&fd, 1, (int)min_i64(max_i64(left, 0), STEP_MS));
        if (n > 0)
            return true;
        if (left <= 0)
            break;
    }
    return false;
}

/* ---- connecting ------------------------------------------------------------------------------------------------------------- */

typedef struct Params { const char *keys[PARAMS_MAX], *values[PARAMS_MAX]; size_t n; int files[3]; size_t nfiles; } Params;

static void param(Params *p, const char *key, const char *value)
{
    p->keys[p->n] = key;
    p->values[p->n++] = value;
}

static void close_files(Params *p)
{
    for (size_t i = 0; i < p->nfiles; i++)
        close(p->files[i]);
}

static Status memory_file(Arena *a, Params *p, const char *key, Str text, Error *err)
{
    if (!text.n)
        return OK;
    int fd = memfd_create("tls", MFD_CLOEXEC);
    if (fd < 0)
        return FAIL_ERRNO(err, "a file of memory");
    p->files[p->nfiles++] = fd;
    if (fchmod(fd, 0600) != 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
        return FAIL_ERRNO(err, "a file of memory");
    param(p, key, str_fmt(a, "/proc/self/fd/%d", fd).p);
    return OK;
}

static Str text_of(Arena *a, const Json *c, const char *key, Str fallback)
{
    const Json *v = json_get(c, key);
    return v && v->kind == JSON_INT ? str_fmt(a, "%lld", (long long)v->integer) : json_get_str(c, key, fallback);
}

static Status fill_params(Arena *a, const Json *c, PgHow how, Params *p, Error *err)
{
    Str mode = text_of(a, c, "ssl mode", S("prefer"));

    param(p, "host", str_z(a, text_of(a, c, "host", (Str){0})));
    param(p, "port", str_z(a, text_of(a, c, "port", S("5432"))));
    param(p, "user", str_z(a, text_of(a, c, "user", (Str){0})));
    param(p, "password", str_z(a, text_of(a, c, "password", (Str){0})));
    param(p, "dbname", str_z(a, text_of(a, c, "database", S("postgres"))));
    param(p, "sslmode", str_z(a, str_eq(mode, S("verify_ca")) ? S("verify-ca") : str_eq(mode, S("verify_full")) ? S("verify-full") : mode));
    TRY(memory_file(a, p, "sslrootcert", text_of(a, c, "ssl certificate authority", (Str){0}), err));
    TRY(memory_file(a, p, "sslcert", text_of(a, c, "ssl certificate", (Str){0}), err));
    TRY(memory_file(a, p, "sslkey", text_of(a, c, "ssl key", (Str){0}), err));
    param(p, "passfile", "/dev/null");
    param(p, "application_name", "firn");
    param(p, "client_encoding", "UTF8");
    param(p, "keepalives_idle", "30");
    param(p, "tcp_user_timeout", "60000");
    param(p, "options", "-c datestyle=ISO -c intervalstyle=postgres -c timezone=UTC -c extra_float_digits=3 -c bytea_output=hex -c statement_timeout=0 -c idle_in_transaction_session_timeout=0");
    if (how == PG_REPLICATION)
        param(p, "replication", "database");
    param(p, NULL, NULL);
    return OK;
}

static Status finish_connect(const Pg *p, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    int64_t until = clock_mono_us() + PG_CONNECT_S * (int64_t)1000000;

    while (next != PGRES_POLLING_OK && PQstatus(p->c) != CONNECTION_BAD) {
        int64_t left = until - clock_mono_us();
        if (left <= 0 || stopping(p))
            return FAIL(err, E_TIMEOUT, "error connecting to server: no answer within %d seconds", PG_CONNECT_S);
        if (wait_socket(p, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, (int)min_i64(left / 1000, 1000)))
            next = PQconnectPoll(p->c);
    }
    if (PQstatus(p->c) != CONNECTION_BAD)
        return OK;
    Str why = one_line(a, PQerrorMessage(p->c));
    return FAIL(err, E_IO, "error connecting to server: " STR_FMT, STR_ARG(why));
}

Status pg_connect(const Json *connection, PgHow how, SourceRun *r, Pg *ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(close_files) Params params = {0};

    *ret = (Pg){ .r = r, .until_us = r ? 0 : clock_mono_us() + PG_ASK_S * (int64_t)1000000 };
    if (!json_get_str(connection, "host", (Str){0}).n || !json_get_str(connection, "user", (Str){0}).n)
        return FAIL(err, E_INVALID, "a connection to PostgreSQL needs HOST, USER and DATABASE");
    TRY(fill_params(a, connection, how, &params, err));
    ret->c = PQconnectStartParams(params.keys, params.values, 0);
    if (!ret->c)
        return FAIL(err, E_LIMIT, "out of memory");
    Status s = finish_connect(ret, err);
    if (s != OK)
        pg_close(ret);
    else
        PQsetnonblocking(ret->c, 1);
    return s;
}

/* ---- queries ------------------------------------------------------------------------------------------------------------------ */

static Status flush(const Pg *p, Error *err)
{
    int n;

    while ((n = PQflush(p->c)) == 1) {
        if (stopping(p))
            return FAIL(err, p->r ? E_CANCELLED : E_TIMEOUT, "postgres: no answer in time");
        wait_socket(p, POLLOUT | POLLIN, STEP_MS);
        PQconsumeInput(p->c);
    }
    return n < 0 ? pg_failed(p, NULL, err) : OK;
}

static Status next_result(const Pg *p, PGresult **ret, Error *err)
{
    while (PQisBusy(p->c)) {
        if (stopping(p))
            return FAIL(err, p->r ? E_CANCELLED : E_TIMEOUT, "postgres: no answer in time");
        wait_socket(p, POLLIN, STEP_MS);
        if (!PQconsumeInput(p->c))
            return pg_failed(p, NULL, err);
    }
    *ret = PQgetResult(p->c);
    return OK;
}

static bool is_copy(const PGresult *r)
{
    ExecStatusType s = PQresultStatus(r);
    return s == PGRES_COPY_OUT || s == PGRES_COPY_BOTH;
}

Status pg_query(const Pg *p, Str sql, PGresult **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(pg_clearp) PGresult *first = NULL;

    if (!PQsendQuery(p->c, str_z(a, sql)))
        return pg_failed(p, NULL, err);
    TRY(flush(p, err));
    TRY(next_result(p, &first, err));
    for (bool more = first && !is_copy(first); more;) {
        CLEANUP(pg_clearp) PGresult *rest = NULL;
        TRY(next_result(p, &rest, err));
        more = rest != NULL;
    }
    ExecStatusType s = PQresultStatus(first);
    if (s != PGRES_TUPLES_OK && s != PGRES_COMMAND_OK && !is_copy(first))
        return pg_failed(p, first, err);
    *ret = first;
    first = NULL;
    return OK;
}

Status pg_do(const Pg *p, Str sql, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    return pg_query(p, sql, &r, err);
}

static Status end_of_copy(const Pg *p, Error *err)
{
    for (;;) {
        CLEANUP(pg_clearp) PGresult *r = NULL;
        TRY(next_result(p, &r, err));
        if (!r)
            return OK;
        if (PQresultStatus(r) == PGRES_FATAL_ERROR)
            return pg_failed(p, r, err);
        if (is_copy(r))
            return OK;
    }
}

Status pg_copied(const Pg *p, int wait_ms, char **bytes, int *n, Error *err)
{
    *n = PQgetCopyData(p->c, bytes, 1);
    if (*n == 0 && wait_socket(p, POLLIN, wait_ms)) {
        if (!PQconsumeInput(p->c))
            return pg_failed(p, NULL, err);
        *n = PQgetCopyData(p->c, bytes, 1);
    }
    if (*n == -1)
        return end_of_copy(p, err);
    return *n == -2 ? pg_failed(p, NULL, err) : OK;
}

/* ---- small things ----------------------------------------------------------------------------------------------------------------- */

bool pg_lsn(Str text, uint64_t *ret)
{
    unsigned hi, lo;
    char z[32], rest;

    if (text.n >= sizeof z)
        return false;
    memcpy(z, text.p ? text.p : "", text.n);
    z[text.n] = 0;
    if (sscanf(z, "%8X/%8X%c", &hi, &lo, &rest) != 2)
        return false;
    *ret = (uint64_t)hi << 32 | lo;
    return true;
}

Str pg_lsn_text(Arena *a, uint64_t lsn) { return str_fmt(a, "%X/%X", (unsigned)(lsn >> 32), (unsigned)lsn); }

static void quoted(StrBuf *b, Str s, char quote)
{
    sb_byte(b, quote);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == quote)
            sb_byte(b, quote);
        if (s.p[i])
            sb_byte(b, s.p[i]);
    }
    sb_byte(b, quote);
}

void pg_ident(StrBuf *b, Str name) { quoted(b, name, '"'); }
void pg_literal(StrBuf *b, Str text) { quoted(b, text, '\''); }
