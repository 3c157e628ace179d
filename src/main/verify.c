/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - firn verify: one line a view, by the data folder alone.
 *
 * With no server on the folder the check is made here, offline.  A running server is asked to make it: it alone knows what is
 * being written at this moment. */
#include "main/main_int.h"

#include <libpq-fe.h>
#include <stdio.h>

static Str full_name(Arena *a, Service *s, const CatRelation *r)
{
    CatWarehouse w;
    Error ignored;
    Str catalog = cat_warehouse_get(s->catalog, a, r->catalog, &w, &ignored) == OK ? w.sql_name : r->catalog;
    return str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(catalog), STR_ARG(r->namespace), STR_ARG(r->name));
}

/* "view", "ns.view" and "catalog.ns.view" name it. */
static bool named(Arena *a, const StrVec *wanted, Str full)
{
    if (!wanted->n)
        return true;
    for (size_t i = 0; i < wanted->n; i++)
        if (str_eq(wanted->p[i], full) || str_ends(full, str_cat(a, S("."), wanted->p[i])))
            return true;
    return false;
}

static int verify_one(Service *s, const CatMview *v, const VerifyOptions *o, const StrVec *wanted, size_t *checked)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    VerifyReport r;
    CatRelation rel;
    Error err;

    if (cat_relation_by_id(s->catalog, a, v->relation_id, &rel, &err) != OK)
        return EXIT_DONE;
    Str name = full_name(a, s, &rel);
    if (!named(a, wanted, name))
        return EXIT_DONE;
    ++*checked;
    if (refresh_verify(s->refresher, a, v->relation_id, o, &r, &err) != OK) {
        printf(STR_FMT " could not be checked: %s\n", STR_ARG(name), err.message);
        return EXIT_USAGE;
    }
    if (r.proven) {
        printf(STR_FMT " proven\n", STR_ARG(name));
        return EXIT_DONE;
    }
    printf(STR_FMT " %s: " STR_FMT "\n", STR_ARG(name), r.drifted ? "drifted" : "broken", STR_ARG(r.what));
    return EXIT_NO;
}

static int verify_all(Service *s, const VerifyOptions *o, const StrVec *wanted)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CatMviews views = {0};
    size_t checked = 0;
    int worst = EXIT_DONE;
    Error err;

    if (cat_mview_list(s->catalog, a, &views, &err) != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < views.n; i++) {
        int one = verify_one(s, &views.p[i], o, wanted, &checked);
        worst = one == EXIT_NO || worst == EXIT_NO ? EXIT_NO : one > worst ? one : worst;
    }
    if (wanted->n && !checked) {
        fprintf(stderr, "firn: no materialized view of that name\n");
        return EXIT_USAGE;
    }
    return worst;
}

/* ---- a running server ------------------------------------------------------------------------------------------------------ */

static int print_found(const PGresult *r, Arena *a, const StrVec *wanted, int *worst)
{
    int checked = 0;

    for (int i = 0; i < PQntuples(r); i++) {
        const char *name = PQgetvalue(r, i, 0), *status = PQgetvalue(r, i, 1), *found = PQgetvalue(r, i, 2);
        if (!named(a, wanted, str_c(name)))
            continue;
        checked++;
        printf("%s %s%s%s\n", name, strcmp(status, "unchecked") == 0 ? "could not be checked" : status, *found ? ": " : "", found);
        if (strcmp(status, "unchecked") == 0)
            *worst = *worst == EXIT_NO ? EXIT_NO : EXIT_USAGE;
        else if (strcmp(status, "proven") != 0)
            *worst = EXIT_NO;
    }
    return checked;
}

static int ask_server(Config *c, const VerifyOptions *o, const StrVec *wanted)
{
    PGconn *pg = server_connect(c, "spark", NULL);
    int worst = EXIT_DONE;

    if (!pg)
        return EXIT_NO_SERVER;
    PGresult *r = PQexec(pg, o->deep ? "CALL glue_catalog.system.verify(deep => true)" : "CALL glue_catalog.system.verify()");
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        fputs(PQresultErrorMessage(r), stderr);
        worst = EXIT_USAGE;
    } else if (!print_found(r, c->a, wanted, &worst) && wanted->n) {
        fprintf(stderr, "firn: no materialized view of that name\n");
        worst = EXIT_USAGE;
    }
    PQclear(r);
    PQfinish(pg);
    return worst;
}

int cmd_verify(Config *c, Args *args)
{
    VerifyOptions o = {0};
    StrVec wanted = {0};
    ServiceOptions so;
    Service *s;
    Error err;

    while (args->at < args->n)
        if (args_flag(args, "--deep"))
            o.deep = 1;
        else if (args->v[args->at][0] == '-')
            return usage_error("verify: unknown argument '%s'", args->v[args->at]);
        else
            vec_push(c->a, &wanted, str_c(args->v[args->at++]));
    log_setup(LOG_ERROR, false);
    config_service(c, &so);
    Status st = service_open(&so, &s, &err);
    if (st == E_CONFLICT)                             /* the folder is in use */
        return ask_server(c, &o, &wanted);
    if (st != OK) {
        fprintf(stderr, "firn: %s\n", err.message);
        return EXIT_USAGE;
    }
    int code = verify_all(s, &o, &wanted);
    service_close(s);
    return code;
}
