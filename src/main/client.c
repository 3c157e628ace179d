/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - commands that look for a running server: status, env; and what they read from the data folder. */
#include "main/main_int.h"
#include "net/net.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static Status read_small(Arena *a, Str dir, const char *name, Str *ret, Error *err)
{
    char buf[65536];
    Str path = str_fmt(a, STR_FMT "/%s", STR_ARG(dir), name);
    CLEANUP(file_closep) int fd = open(path.p, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return FAIL(err, E_NOT_FOUND, "'%s' cannot be read: has a server been started on this data folder?", path.p);
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0)
        return FAIL(err, E_IO, "'%s' cannot be read", path.p);
    *ret = str_dup(a, str_n(buf, (size_t)n));
    return OK;
}

Status endpoints_read(Arena *a, Str dir, Endpoints *ret, Error *err)
{
    Str text;
    Json *j;

    TRY(read_small(a, dir, "endpoints.json", &text, err));
    TRY(json_parse(a, text, &j, err));
    *ret = (Endpoints){ json_get_str(j, "lake", (Str){0}), json_get_str(j, "sql", (Str){0}), json_get_str(j, "manage", (Str){0}), json_get_int(j, "pid", 0) };
    return OK;
}

Status credentials_read(Arena *a, Str dir, Str profile, Str *id, Str *secret, Error *err)
{
    StrVec lines = {0};
    Str text, key, value;
    bool mine = false;

    TRY(read_small(a, dir, "credentials", &text, err));
    str_split(a, text, '\n', &lines);
    *id = *secret = (Str){0};
    for (size_t i = 0; i < lines.n; i++) {
        Str line = str_trim(lines.p[i]);
        if (line.n > 2 && line.p[0] == '[')
            mine = str_eq(str_sub(line, 1, line.n - 1), profile);
        else if (mine && str_cut(line, '=', &key, &value))
            *(str_eq(str_trim(key), S("aws_access_key_id")) ? id : secret) = str_trim(value);
    }
    if (!id->n || !secret->n)
        return FAIL(err, E_NOT_FOUND, "profile '" STR_FMT "' is not in '" STR_FMT "/credentials'", STR_ARG(profile), STR_ARG(dir));
    return OK;
}

/* ---- status ----------------------------------------------------------------------------------------------------------- */

static bool answers(Arena *a, Str url, Str *why)
{
    HttpCall c = { .method = "GET", .url = str_cat(a, url, S("/readyz")), .timeout_ms = 2000 };
    HttpReply r;
    Error err;

    if (http_call(a, &c, &r, &err) != OK) {
        *why = str_c(err.message);
        *why = str_dup(a, *why);
        return false;
    }
    *why = str_trim(r.body);
    return r.status == 200;
}

static int status_once(Config *c, Arena *a)
{
    Endpoints e;
    Error err;
    Str why;

    if (endpoints_read(a, c->data, &e, &err) != OK) {
        printf("%s\n", err.message);
        return EXIT_NO_SERVER;
    }
    if (!answers(a, e.manage, &why)) {
        printf("no answer at " STR_FMT ": " STR_FMT "\n", STR_ARG(e.manage), STR_ARG(why));
        return EXIT_NO_SERVER;
    }
    printf("ready pid=%lld lake=" STR_FMT " sql=" STR_FMT " manage=" STR_FMT "\n", (long long)e.pid, STR_ARG(e.lake), STR_ARG(e.sql), STR_ARG(e.manage));
    return EXIT_DONE;
}

int cmd_status(Config *c, Args *args)
{
    int64_t wait_s = 0;

    while (args->at < args->n) {
        const char *v = args_value(args, "--wait");
        if (!v || !str_to_i64(str_c(v), &wait_s))
            return usage_error("status: unknown argument '%s'", args->v[args->at]);
    }
    int64_t until = clock_mono_us() + wait_s * 1000000;
    for (;;) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        int code = status_once(c, a);
        if (code == EXIT_DONE || clock_mono_us() >= until)
            return code;
        usleep(100000);
    }
}

/* ---- env ---------------------------------------------------------------------------------------------------------------- */

static void export(const char *name, Str value)
{
    printf("export %s='", name);
    for (size_t i = 0; i < value.n; i++)
        if (value.p[i] == '\'')
            fputs("'\\''", stdout);
        else
            putchar(value.p[i]);
    puts("'");
}

int cmd_env(Config *c, Args *args)
{
    Arena *a = c->a;
    const char *profile = "default";
    Str id, secret, host, port;
    Endpoints e;
    Error err;

    while (args->at < args->n)
        if (!(profile = args_value(args, "--profile")))
            return usage_error("env: unknown argument '%s'", args->v[args->at]);
    if (endpoints_read(a, c->data, &e, &err) != OK || credentials_read(a, c->data, str_c(profile), &id, &secret, &err) != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        return EXIT_NO_SERVER;
    }
    Str address = str_from(e.sql, sizeof "postgres://" - 1);
    ptrdiff_t colon = str_rchr(address, ':');
    host = str_sub(address, 0, (size_t)max_i64(0, colon));
    port = str_from(address, (size_t)(colon + 1));
    export("AWS_ACCESS_KEY_ID", id);
    export("AWS_SECRET_ACCESS_KEY", secret);
    export("AWS_ENDPOINT_URL", e.lake);
    export("AWS_REGION", config_get(c, "region"));
    export("AWS_DEFAULT_REGION", config_get(c, "region"));
    export("PGHOST", host);
    export("PGPORT", port);
    export("PGUSER", id);
    export("PGPASSWORD", secret);
    export("PGDATABASE", S("spark"));
    export("FIRN_LAKE_URL", e.lake);
    export("FIRN_ICEBERG_URI", str_cat(a, e.lake, S("/iceberg")));
    return EXIT_DONE;
}
