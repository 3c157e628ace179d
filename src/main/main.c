/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the command line. */
#include "main/main_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char usage_text[] =
    "usage:\n"
    "  firn serve   [--data DIR] [--lake ADDR:PORT] [--sql ADDR:PORT] [--manage ADDR:PORT] [--config FILE] [--set KEY=VALUE]...\n"
    "  firn sql     [-c SQL | -f FILE] [--format table|csv|json] [--dialect spark|materialize] [--conf K=V]... [--as ROLE_ARN]\n"
    "  firn status  [--wait SECONDS]      is every door answering?\n"
    "  firn env     [--profile NAME]      shell exports for aws, psql and SDKs: eval \"$(firn env)\"\n"
    "  firn verify  [VIEW...] [--deep]    prove that views hold what was computed\n"
    "  firn config  [KEY]                 every key with value, origin and meaning\n"
    "  firn version [--aws-api]           with every AWS operation that is answered\n"
    "Every command takes --data DIR (default $FIRN_DATA, else ./firn-data).\n"
    "Exit: 0 done; 1 the answer is no or the statement failed; 2 wrong usage or configuration; 3 no server.\n";

int usage_error(const char *fmt, ...)
{
    va_list ap;
    fputs("firn: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputs("\n('firn help' shows the usage)\n", stderr);
    return EXIT_USAGE;
}

const char *args_value(Args *args, const char *name)
{
    const char *arg = args->v[args->at];
    size_t n = strlen(name);

    if (strcmp(arg, name) == 0 && args->at + 1 < args->n) {
        args->at += 2;
        return args->v[args->at - 1];
    }
    if (strncmp(arg, name, n) == 0 && arg[n] == '=') {
        args->at++;
        return arg + n + 1;
    }
    return NULL;
}

bool args_flag(Args *args, const char *name)
{
    if (strcmp(args->v[args->at], name) != 0)
        return false;
    args->at++;
    return true;
}

/* Options of the program that any command takes are pulled out first; the rest stays in order. */
typedef struct Common { const char *data, *config; StrVec sets; const char *lake, *sql, *manage; } Common;

static bool take_common(Common *c, Arena *a, Args *args, bool serve)
{
    const char *v;

    if ((v = args_value(args, "--data")))
        return c->data = v, true;
    if ((v = args_value(args, "--config")))
        return c->config = v, true;
    if ((v = args_value(args, "--set"))) {
        vec_push(a, &c->sets, str_c(v));
        return true;
    }
    if (!serve)
        return false;
    if ((v = args_value(args, "--lake")))
        return c->lake = v, true;
    if ((v = args_value(args, "--sql")))
        return c->sql = v, true;
    if ((v = args_value(args, "--manage")))
        return c->manage = v, true;
    return false;
}

static Status apply_common(Config *c, const Common *o, Error *err)
{
    const char *data = o->data ? o->data : getenv("FIRN_DATA");
    const struct { const char *key, *value; } doors[] = { { "lake", o->lake }, { "sql", o->sql }, { "manage", o->manage } };

    c->data = str_c(data && *data ? data : "./firn-data");
    if (o->config)
        TRY(config_file(c, str_c(o->config), err));
    TRY(config_environment(c, err));
    for (size_t i = 0; i < o->sets.n; i++) {
        Str key, value;
        if (!str_cut(o->sets.p[i], '=', &key, &value))
            return FAIL(err, E_INVALID, "--set " STR_FMT ": not of the form KEY=VALUE", STR_ARG(o->sets.p[i]));
        TRY(config_set(c, str_trim(key), str_trim(value), "--set", err));
    }
    for (size_t i = 0; i < COUNT_OF(doors); i++)
        if (doors[i].value)
            TRY(config_set(c, str_c(doors[i].key), str_c(doors[i].value), "--option", err));
    return OK;
}

typedef struct Command { const char *name; int (*run)(Config *c, Args *args); } Command;

static int run_serve(Config *c, Args *args)
{
    if (args->at < args->n)
        return usage_error("serve: unknown argument '%s'", args->v[args->at]);
    return cmd_serve(c);
}

static int run_version(Config *c UNUSED, Args *args)
{
    if (args->at < args->n && args_flag(args, "--aws-api")) {
        print_aws_api();
        return EXIT_DONE;
    }
    printf("firn %s (engine %s)\n", FIRN_VERSION, duck_version());
    return EXIT_DONE;
}

static int run_help(Config *c UNUSED, Args *args UNUSED)
{
    fputs(usage_text, stdout);
    return EXIT_DONE;
}

static int run_later(Config *c UNUSED, Args *args)
{
    return usage_error("'%s' is not in this version yet", args->v[1]);
}

static const Command commands[] = {
    { "serve", run_serve }, { "sql", cmd_sql }, { "status", cmd_status }, { "env", cmd_env }, { "verify", cmd_verify }, { "config", cmd_config },
    { "version", run_version }, { "--version", run_version }, { "help", run_help }, { "--help", run_help }, { "-h", run_help },
    { "backup", run_later }, { "restore", run_later }, { "demo", run_later },
};

int main(int argc, char **argv)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Config config;
    Common common = {0};
    Error err;

    if (argc < 2) {
        fputs(usage_text, stderr);
        return EXIT_USAGE;
    }
    const Command *cmd = NULL;
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            cmd = &commands[i];
    if (!cmd)
        return usage_error("unknown command '%s'", argv[1]);
    Args in = { argc, argv, 2 }, rest = { 2, arena_array(a, char *, (size_t)argc + 1), 2 };
    rest.v[0] = argv[0];
    rest.v[1] = argv[1];
    while (in.at < in.n)
        if (!take_common(&common, a, &in, cmd->run == run_serve))
            rest.v[rest.n++] = in.v[in.at++];
    config_init(&config, a);
    if (apply_common(&config, &common, &err) != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        return EXIT_USAGE;
    }
    return cmd->run(&config, &rest);
}
