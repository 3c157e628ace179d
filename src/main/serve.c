/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - the server: service opened, doors opened, signals awaited.
 *
 * Invariants: (1) nothing listens before the service is open, and "ready" is printed only when all doors listen; (2) SIGTERM ends
 * everything within ten seconds: doors first, then what runs, then the rooms. */
#include "door/manage/managedoor.h"
#include "door/pg/pgdoor.h"
#include "door/rest/restdoor.h"
#include "door/s3/s3door.h"
#include "jobs/jobs.h"
#include "main/main_int.h"
#include "main/wire.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Server {
    Arena *a;
    Config *config;
    Service *svc;
    LakeDoor lake;
    HttpServer *lake_http;
    ManageDoor *manage;
    PgDoor *pg;
    PgWire wire;
} Server;

static Status split_address(Str text, Str *addr, int *port, Error *err)
{
    ptrdiff_t at = str_rchr(text, ':');
    int64_t n;

    if (at <= 0 || !str_to_i64(str_from(text, (size_t)at + 1), &n) || n < 0 || n > 65535)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not ADDR:PORT", STR_ARG(text));
    *addr = str_sub(text, 0, (size_t)at);
    *port = (int)n;
    return OK;
}

/* Port 0 keeps the port chosen by an earlier start on this folder (contract). */
static void keep_port(Server *s, const char *door, int *port)
{
    Endpoints e;
    Error none;

    if (*port || endpoints_read(s->a, s->config->data, &e, &none) != OK)
        return;
    Str url = strcmp(door, "lake") == 0 ? e.lake : strcmp(door, "sql") == 0 ? e.sql : e.manage;
    ptrdiff_t at = str_rchr(url, ':');
    int64_t n;
    if (at > 0 && str_to_i64(str_from(url, (size_t)at + 1), &n))
        *port = (int)n;
}

typedef Status (*OpenAt)(Server *s, Str addr, int port, Error *err);

static Status open_door(Server *s, const char *key, OpenAt open, Error *err)
{
    Str addr;
    int port, kept;

    TRY_CTX(split_address(config_get(s->config, key), &addr, &port, err), err, "%s", key);
    kept = port;
    keep_port(s, key, &kept);
    Status st = open(s, addr, kept, err);
    if (st != OK && kept != port)
        st = open(s, addr, port, err);                /* the old port is taken now */
    if (st != OK)
        error_context(err, "%s door", key);
    return st;
}

static Status open_lake(Server *s, Str addr, int port, Error *err)
{
    HttpServerOptions o = { .addr = addr, .port = port, .max_connections = (int)config_int(s->config, "lake.max_connections"), .name = "lake" };
    TRY(http_serve(&o, lake_handle, &s->lake, &s->lake_http, err));
    return OK;
}

static Str pem_text(Server *s, const char *key)
{
    Str path = config_get(s->config, key);
    char buf[65536];
    CLEANUP(file_closep) int fd = path.n ? open(str_z(s->a, path), O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, buf, sizeof buf) : 0;

    return n > 0 ? str_dup(s->a, str_n(buf, (size_t)n)) : (Str){0};
}

static Status open_sql(Server *s, Str addr, int port, Error *err)
{
    PgDoorOptions o = { .addr = addr, .port = port, .max_connections = (int)config_int(s->config, "sql.max_connections"), .max_message = 64u << 20 };
    o.tls_cert = pem_text(s, "sql.tls_cert");
    o.tls_key = pem_text(s, "sql.tls_key");
    if (config_get(s->config, "sql.tls_cert").n && !o.tls_cert.n)
        return FAIL(err, E_INVALID, "sql.tls_cert cannot be read");
    PgHooks hooks = pg_wire_hooks(&s->wire);
    return pgdoor_open(&o, &hooks, &s->pg, err);
}

static Status open_manage(Server *s, Str addr, int port, Error *err)
{
    ManageOptions o = { .addr = addr, .port = port, .service = s->svc, .reset = config_on(s->config, "test.reset") };
    return manage_open(&o, &s->manage, err);
}

/* ---- endpoints ------------------------------------------------------------------------------------------------------------- */

static Str url_of(Server *s, const char *key, const char *scheme, int port)
{
    Str addr;
    int ignored;
    Error none;

    if (split_address(config_get(s->config, key), &addr, &ignored, &none) != OK)
        addr = S("127.0.0.1");
    if (str_eq(addr, S("0.0.0.0")))
        addr = S("127.0.0.1");
    return str_fmt(s->a, "%s://" STR_FMT ":%d", scheme, STR_ARG(addr), port);
}

static Status announce(Server *s, Error *err)
{
    Str lake = url_of(s, "lake", "http", http_server_port(s->lake_http)), sql = url_of(s, "sql", "postgres", pgdoor_port(s->pg));
    Str manage = url_of(s, "manage", "http", manage_port(s->manage)), path = str_fmt(s->a, STR_FMT "/endpoints.json", STR_ARG(s->config->data));
    Str tmp = str_fmt(s->a, STR_FMT ".tmp", STR_ARG(path));
    Json *j = json_object(s->a);

    json_set(s->a, j, "lake", json_str(s->a, lake));
    json_set(s->a, j, "sql", json_str(s->a, sql));
    json_set(s->a, j, "manage", json_str(s->a, manage));
    json_set(s->a, j, "pid", json_int(s->a, getpid()));
    FILE *f = fopen(tmp.p, "we");
    if (!f || fprintf(f, "%s\n", json_text(s->a, j).p) < 0 || fclose(f) != 0 || rename(tmp.p, path.p) != 0)
        return FAIL(err, E_IO, "'%s' cannot be written", path.p);
    printf("ready lake=%s sql=%s manage=%s\n", lake.p, sql.p, manage.p);
    fflush(stdout);
    return OK;
}

/* ---- jobs -------------------------------------------------------------------------------------------------------------------- */

/* "2GB", "512MB", bytes. */
static bool bytes_of(Str text, int64_t *ret)
{
    static const struct { const char *unit; int64_t factor; } units[] = { { "GB", 1LL << 30 }, { "MB", 1LL << 20 }, { "KB", 1LL << 10 }, { "B", 1 }, { "", 1 } };

    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (str_ends(text, str_c(units[i].unit))) {
            int64_t n;
            if (!str_to_i64(str_trim(str_sub(text, 0, text.n - strlen(units[i].unit))), &n) || n < 0 || n > INT64_MAX / units[i].factor)
                return false;
            *ret = n * units[i].factor;
            return true;
        }
    return false;
}

static Status open_jobs(Server *s, Error *err)
{
    JobsOptions o = { .spark_home = config_get(s->config, "glue.spark_home"), .python = config_get(s->config, "glue.python"), .user = config_get(s->config, "glue.job_user"),
                      .mode = config_get(s->config, "glue.jobs") };

    if (!bytes_of(config_get(s->config, "glue.job_memory"), &o.memory_bytes))
        return FAIL(err, E_INVALID, "glue.job_memory is a size such as 2GB, not '" STR_FMT "'", STR_ARG(config_get(s->config, "glue.job_memory")));
    return jobs_open(s->svc, &o, &s->svc->jobs, err);
}

static void reach_jobs(Server *s)
{
    jobs_reach(s->svc->jobs, url_of(s, "lake", "http", http_server_port(s->lake_http)), url_of(s, "sql", "postgres", pgdoor_port(s->pg)));
}

/* ---- life --------------------------------------------------------------------------------------------------------------------- */

static Status open_all(Server *s, Error *err)
{
    ServiceOptions o;

    config_service(s->config, &o);
    TRY(service_open(&o, &s->svc, err));
    s->wire = (PgWire){ .svc = s->svc, .trust_local = config_on(s->config, "sql.trust_local") };
    TRY(open_jobs(s, err));
    TRY(lake_open_door(&s->lake, s->svc, str_eq(config_get(s->config, "auth.iceberg"), S("off")), err));
    TRY(service_start(s->svc, err));
    TRY(open_door(s, "lake", open_lake, err));
    TRY(open_door(s, "sql", open_sql, err));
    TRY(open_door(s, "manage", open_manage, err));
    reach_jobs(s);
    service_reach(s->svc, url_of(s, "lake", "http", http_server_port(s->lake_http)), url_of(s, "manage", "http", manage_port(s->manage)));
    return announce(s, err);
}

static void close_all(Server *s)
{
    if (s->pg)
        pgdoor_close(s->pg, 3);
    if (s->lake_http)
        http_server_stop(s->lake_http, 3);
    manage_close(s->manage);
    if (s->svc)
        jobs_close(s->svc->jobs);
    lake_close_door(&s->lake);
    service_close(s->svc);
}

static void set_up_log(const Config *c)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    for (int i = 0; i < 4; i++)
        if (str_eq(config_get(c, "log.level"), str_c(names[i])))
            log_setup((LogLevel)i, str_eq(config_get(c, "log.format"), S("json")));
}

int cmd_serve(Config *c)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Server s = { .a = a, .config = c };
    sigset_t set;
    Error err;
    int sig;

    set_up_log(c);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);           /* before any thread: all inherit it */
    Status st = open_all(&s, &err);
    if (st != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        close_all(&s);
        return st == E_INVALID ? EXIT_USAGE : EXIT_NO;
    }
    log_event(LOG_INFO, "ready", "data", str_z(a, c->data), "engine", duck_version(), NULL);
    sigwait(&set, &sig);
    log_event(LOG_INFO, "stopping", NULL);
    close_all(&s);
    return EXIT_DONE;
}
