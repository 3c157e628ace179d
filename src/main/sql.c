/* SPDX-License-Identifier: Apache-2.0 */
/* sql.c - firn sql: statements to a running server, by the PostgreSQL protocol like any other client.
 *
 * Without -c or -f: lines from the terminal (libedit) or standard input, a statement ends with a semicolon. */
#include "main/main_int.h"

#include <editline/readline.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef enum { FORM_TABLE, FORM_CSV, FORM_JSON } Form;
typedef struct Client { Config *c; PGconn *pg; Form form; } Client;

/* ---- printing -------------------------------------------------------------------------------------------------------------- */

static void csv_cell(const char *z)
{
    if (!strpbrk(z, ",\"\n\r")) {
        fputs(z, stdout);
        return;
    }
    putchar('"');
    for (; *z; z++) {
        if (*z == '"')
            putchar('"');
        putchar(*z);
    }
    putchar('"');
}

static void print_csv(const PGresult *r)
{
    for (int i = 0; i < PQnfields(r); i++) {
        fputs(i ? "," : "", stdout);
        csv_cell(PQfname(r, i));
    }
    putchar('\n');
    for (int row = 0; row < PQntuples(r); row++) {
        for (int i = 0; i < PQnfields(r); i++) {
            fputs(i ? "," : "", stdout);
            if (!PQgetisnull(r, row, i))
                csv_cell(PQgetvalue(r, row, i));
        }
        putchar('\n');
    }
}

enum { OID_BOOL = 16, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_FLOAT4 = 700, OID_FLOAT8 = 701, OID_NUMERIC = 1700 };

static Json *json_cell(Arena *a, const PGresult *r, int row, int i)
{
    Str v = str_c(PQgetvalue(r, row, i));
    int64_t n;
    double d;

    if (PQgetisnull(r, row, i))
        return json_null(a);
    switch (PQftype(r, i)) {
    case OID_BOOL: return json_bool(a, str_eq(v, S("t")));
    case OID_INT2: case OID_INT4: case OID_INT8: return str_to_i64(v, &n) ? json_int(a, n) : json_str(a, v);
    case OID_FLOAT4: case OID_FLOAT8: return str_to_f64(v, &d) && d - d == 0 ? json_real(a, d) : json_str(a, v);
    default: return json_str(a, v);
    }
}

/* One JSON object a line. */
static void print_json(const PGresult *r)
{
    for (int row = 0; row < PQntuples(r); row++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        Json *o = json_object(a);
        for (int i = 0; i < PQnfields(r); i++)
            json_set(a, o, PQfname(r, i), json_cell(a, r, row, i));
        puts(json_text(a, o).p);
    }
}

static void print_table(const PGresult *r)
{
    char separator[] = "|";
    PQprintOpt o = { .header = 1, .align = 1, .fieldSep = separator };
    PQprint(stdout, r, &o);
}

static void print_rows(Client *cl, const PGresult *r)
{
    if (cl->form == FORM_CSV)
        print_csv(r);
    else if (cl->form == FORM_JSON)
        print_json(r);
    else
        print_table(r);
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static bool print_result(Client *cl, const PGresult *r)
{
    switch (PQresultStatus(r)) {
    case PGRES_TUPLES_OK:
        print_rows(cl, r);
        return true;
    case PGRES_COMMAND_OK:
        if (cl->form == FORM_TABLE && isatty(STDOUT_FILENO))
            puts(PQcmdStatus((PGresult *)r));
        return true;
    case PGRES_EMPTY_QUERY:
        return true;
    default:
        fputs(PQresultErrorMessage(r), stderr);
        return false;
    }
}

static bool run_text(Client *cl, const char *text)
{
    bool ok = true;

    if (!PQsendQuery(cl->pg, text)) {
        fputs(PQerrorMessage(cl->pg), stderr);
        return false;
    }
    for (PGresult *r; (r = PQgetResult(cl->pg)); PQclear(r)) {
        if (PQresultStatus(r) == PGRES_COPY_IN)
            PQputCopyEnd(cl->pg, "firn sql does not send COPY data: use psql");
        ok = print_result(cl, r) && ok;
    }
    fflush(stdout);
    return ok;
}

/* A statement is complete when a line ends with a semicolon; the server's parser knows strings and comments. */
static bool complete(Str text)
{
    Str t = str_trim(text);
    return t.n && t.p[t.n - 1] == ';';
}

static int interactive(Client *cl)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    StrBuf b = sb_new(a);
    bool tty = isatty(STDIN_FILENO) != 0, ok = true;
    char *line;

    while ((line = readline(!tty ? "" : b.n ? "  ...> " : "firn> "))) {
        sb_addc(&b, line);
        sb_byte(&b, '\n');
        if (tty && *line)
            add_history(line);
        free(line);
        if (!complete(sb_str(&b)))
            continue;
        ok = run_text(cl, sb_str(&b).p);
        if (!ok && !tty)
            return EXIT_NO;
        b.n = 0;
    }
    if (str_trim(sb_str(&b)).n)
        ok = run_text(cl, sb_str(&b).p);
    return ok ? EXIT_DONE : EXIT_NO;
}

static int run_file(Client *cl, const char *path)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(file_closep) int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    StrBuf b = sb_new(a);
    char buf[65536];
    ssize_t n;

    if (fd < 0)
        return usage_error("'%s' cannot be opened", path);
    while ((n = read(fd, buf, sizeof buf)) > 0)
        sb_add(&b, str_n(buf, (size_t)n));
    return run_text(cl, sb_str(&b).p) ? EXIT_DONE : EXIT_NO;
}

/* ---- connecting ----------------------------------------------------------------------------------------------------------------- */

static void add_option(StrBuf *b, Str key, Str value)
{
    sb_addc(b, b->n ? " -c " : "-c ");
    Str parts[] = { key, S("="), value };
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < parts[k].n; i++) {
            if (parts[k].p[i] == ' ' || parts[k].p[i] == '\\')
                sb_byte(b, '\\');
            sb_byte(b, parts[k].p[i]);
        }
}

PGconn *server_connect(Config *c, const char *database, const StrVec *conf)
{
    Arena *a = c->a;
    StrBuf options = sb_new(a);
    Str id, secret, key, value;
    Endpoints e;
    Error err;

    if (endpoints_read(a, c->data, &e, &err) != OK || credentials_read(a, c->data, S("default"), &id, &secret, &err) != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        return NULL;
    }
    for (size_t i = 0; conf && i < conf->n; i++) {
        if (!str_cut(conf->p[i], '=', &key, &value)) {
            usage_error("--conf " STR_FMT ": not of the form K=V", STR_ARG(conf->p[i]));
            return NULL;
        }
        add_option(&options, key, value);
    }
    Str address = str_from(e.sql, sizeof "postgres://" - 1);
    ptrdiff_t colon = str_rchr(address, ':');
    const char *const keys[] = { "host", "port", "user", "password", "dbname", "application_name", "options", NULL };
    const char *const values[] = { str_z(a, str_sub(address, 0, (size_t)max_i64(0, colon))), str_z(a, str_from(address, (size_t)(colon + 1))), str_z(a, id), str_z(a, secret),
                                   database, "firn", sb_str(&options).p, NULL };
    PGconn *pg = PQconnectdbParams(keys, values, 0);
    if (PQstatus(pg) == CONNECTION_OK)
        return pg;
    fputs(PQerrorMessage(pg), stderr);
    PQfinish(pg);
    return NULL;
}

int cmd_sql(Config *c, Args *args)
{
    Client cl = { .c = c };
    const char *text = NULL, *file = NULL, *v, *database = "spark";
    StrVec conf = {0};

    while (args->at < args->n) {
        if ((v = args_value(args, "-c")))
            text = v;
        else if ((v = args_value(args, "-f")))
            file = v;
        else if ((v = args_value(args, "--conf")))
            vec_push(c->a, &conf, str_c(v));
        else if ((v = args_value(args, "--dialect")))
            database = strcmp(v, "spark") == 0 ? "spark" : "materialize";
        else if ((v = args_value(args, "--format")))
            cl.form = strcmp(v, "csv") == 0 ? FORM_CSV : strcmp(v, "json") == 0 ? FORM_JSON : FORM_TABLE;
        else if ((v = args_value(args, "--as")))
            vec_push(c->a, &conf, str_fmt(c->a, "firn.role=%s", v));
        else
            return usage_error("sql: unknown argument '%s'", args->v[args->at]);
    }
    cl.pg = server_connect(c, database, &conf);
    if (!cl.pg)
        return EXIT_NO_SERVER;
    int code = text ? (run_text(&cl, text) ? EXIT_DONE : EXIT_NO) : file ? run_file(&cl, file) : interactive(&cl);
    PQfinish(cl.pg);
    return code;
}
