/* SPDX-License-Identifier: Apache-2.0 */
/* restdoor.c - the door itself: finds the route, the caller and the warehouse, calls the verb, answers.
 *
 * One table of routes serves both dispatch and the list of endpoints that the config answer gives.  The raw path is split at '/' before
 * anything is decoded: names may hold %2F, namespaces %1F. */
#include "door/rest/rest_int.h"

#include <stdlib.h>

#define NS "/v1/{prefix}/namespaces/{namespace}"
const RestRoute rest_routes[] = {
    { "GET",    "/v1/config",                            rest_get_config,         "GetConfig", 0 },
    { "POST",   "/v1/oauth/tokens",                      rest_post_token,         "GetToken", ROUTE_OPEN },
    { "GET",    "/v1/{prefix}/namespaces",               rest_list_namespaces,    "ListNamespaces", 0 },
    { "POST",   "/v1/{prefix}/namespaces",               rest_create_namespace,   "CreateNamespace", 0 },
    { "GET",    NS,                                      rest_load_namespace,     "LoadNamespace", 0 },
    { "HEAD",   NS,                                      rest_head_namespace,     "NamespaceExists", 0 },
    { "DELETE", NS,                                      rest_drop_namespace,     "DropNamespace", 0 },
    { "POST",   NS "/properties",                        rest_alter_namespace,    "UpdateNamespaceProperties", 0 },
    { "GET",    NS "/tables",                            rest_list_tables,        "ListTables", 0 },
    { "POST",   NS "/tables",                            rest_create_table,       "CreateTable", ROUTE_COMMIT },
    { "POST",   NS "/register",                          rest_register_table,     "RegisterTable", ROUTE_COMMIT },
    { "GET",    NS "/tables/{table}",                    rest_load_table,         "LoadTable", 0 },
    { "HEAD",   NS "/tables/{table}",                    rest_head_table,         "TableExists", 0 },
    { "POST",   NS "/tables/{table}",                    rest_commit_table,       "UpdateTable", ROUTE_COMMIT },
    { "DELETE", NS "/tables/{table}",                    rest_drop_table,         "DropTable", 0 },
    { "POST",   NS "/tables/{table}/unregister",         rest_unregister_table,   "UnregisterTable", 0 },
    { "GET",    NS "/tables/{table}/credentials",        rest_table_credentials,  "LoadCredentials", 0 },
    { "POST",   NS "/tables/{table}/metrics",            rest_report_metrics,     "ReportMetrics", 0 },
    { "POST",   "/v1/{prefix}/tables/rename",            rest_rename_table,       "RenameTable", 0 },
    { "POST",   "/v1/{prefix}/transactions/commit",      rest_commit_transaction, "CommitTransaction", ROUTE_COMMIT },
    { "GET",    NS "/views",                             rest_list_views,         "ListViews", 0 },
    { "POST",   NS "/views",                             rest_create_view,        "CreateView", ROUTE_COMMIT },
    { "GET",    NS "/views/{view}",                      rest_load_view,          "LoadView", 0 },
    { "HEAD",   NS "/views/{view}",                      rest_head_view,          "ViewExists", 0 },
    { "POST",   NS "/views/{view}",                      rest_commit_view,        "ReplaceView", ROUTE_COMMIT },
    { "DELETE", NS "/views/{view}",                      rest_drop_view,          "DropView", 0 },
    { "POST",   "/v1/{prefix}/views/rename",             rest_rename_view,        "RenameView", 0 },
    { "POST",   NS "/register-view",                     rest_register_view,      "RegisterView", ROUTE_COMMIT },
    { "POST",   NS "/tables/{table}/plan",               rest_absent,             "PlanTableScan", ROUTE_ABSENT },
    { "GET",    NS "/tables/{table}/plan/{plan}",        rest_absent,             "FetchPlanningResult", ROUTE_ABSENT },
    { "DELETE", NS "/tables/{table}/plan/{plan}",        rest_absent,             "CancelPlanning", ROUTE_ABSENT },
    { "POST",   NS "/tables/{table}/tasks",              rest_absent,             "FetchScanTasks", ROUTE_ABSENT },
    { "POST",   NS "/tables/{table}/sign",               rest_absent,             "SignRequest", ROUTE_ABSENT },
    { "GET",    NS "/functions",                         rest_absent,             "ListFunctions", ROUTE_ABSENT },
    { "GET",    NS "/functions/{function}",              rest_absent,             "LoadFunction", ROUTE_ABSENT },
};
const size_t rest_routes_n = COUNT_OF(rest_routes);

typedef struct Path { Str seg[SEGMENTS_MAX]; size_t n; Str prefix; } Path;      /* raw segments after /v1, without the prefix */

RestDoor *rest_new(const RestOptions *o)
{
    RestDoor *d = calloc(1, sizeof *d);
    if (!d)
        abort();
    d->a = arena_create();
    d->o = *o;
    d->o.svc.warehouse_bucket = str_dup(d->a, o->svc.warehouse_bucket);
    d->o.svc.file_root = str_dup(d->a, o->svc.file_root);
    d->o.lake_url = str_dup(d->a, o->lake_url);
    return d;
}

void rest_free(RestDoor *d)
{
    if (!d)
        return;
    arena_destroy(d->a);
    free(d);
}

/* ---- the path ------------------------------------------------------------------------------------------------------------ */

static bool is_resource(Str s)
{
    static const char *const words[] = { "config", "oauth", "namespaces", "tables", "views", "transactions" };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_eq(s, str_c(words[i])))
            return true;
    return false;
}

/* The prefix is nothing, one segment (a warehouse), or catalogs/<id> as Glue has it. */
static void take_prefix(Path *p)
{
    size_t skip = 0;

    if (p->n > 0 && !is_resource(p->seg[0]))
        skip = str_eq(p->seg[0], S("catalogs")) && p->n > 1 ? 2 : 1;
    if (skip > 0)
        p->prefix = p->seg[skip - 1];
    p->n -= skip;
    memmove(p->seg, p->seg + skip, p->n * sizeof p->seg[0]);
}

static Status split_path(Str path, Path *ret, Error *err)
{
    Str rest = str_from(path, strlen("/iceberg")), head = {0};
    Path p = {0};

    if (!str_starts(rest, S("/v1/")))
        return FAIL(err, E_NOT_FOUND, "no such endpoint: " STR_FMT " (the catalog is below /iceberg/v1)", STR_ARG(path));
    rest = str_from(rest, 4);
    for (bool more = true; more && p.n < SEGMENTS_MAX;) {
        more = str_cut(rest, '/', &head, &rest);
        if (head.n > 0 || more)
            p.seg[p.n++] = head;
    }
    take_prefix(&p);
    *ret = p;
    return OK;
}

/* Does the route's template fit the segments? Captures the raw name parts. */
static bool fits(const RestRoute *route, const Path *p, Str *ns, Str *name)
{
    Str rest = str_from(str_c(route->path), strlen("/v1/")), head = {0};
    size_t i = 0;

    if (str_starts(rest, S("{prefix}/")))
        rest = str_from(rest, strlen("{prefix}/"));
    for (bool more = true; more; i++) {
        more = str_cut(rest, '/', &head, &rest);
        if (i >= p->n)
            return false;
        if (str_eq(head, S("{namespace}")))
            *ns = p->seg[i];
        else if (head.p[0] == '{')
            *name = p->seg[i];
        else if (!str_eq(head, p->seg[i]))
            return false;
    }
    return i == p->n;
}

static Status find_route(RestCall *c, const Path *p, const RestRoute **ret, Str *ns, Str *name, Error *err)
{
    bool known = false;

    for (size_t i = 0; i < rest_routes_n; i++) {
        *ns = *name = (Str){0};
        if (!fits(&rest_routes[i], p, ns, name))
            continue;
        known = true;
        if (str_eq(c->r->method, str_c(rest_routes[i].method))) {
            *ret = &rest_routes[i];
            return OK;
        }
    }
    if (known)
        return FAIL(err, E_UNSUPPORTED, "method " STR_FMT " is not supported here", STR_ARG(c->r->method));
    return FAIL(err, E_NOT_FOUND, "no such endpoint: " STR_FMT, STR_ARG(c->r->path));
}

/* ---- one request --------------------------------------------------------------------------------------------------------- */

static Status find_warehouse(RestCall *c, Str raw_prefix, Error *err)
{
    Str name = {0};
    TRY(url_decode(c->a, raw_prefix, 0, &name, err));
    return cat_warehouse_get(c->d->o.svc.catalog, c->a, name, &c->warehouse, err);
}

static Status prepare(RestCall *c, const Path *p, const RestRoute **route, Error *err)
{
    Str ns = {0}, name = {0};

    TRY(find_route(c, p, route, &ns, &name, err));
    TRY(url_decode(c->a, ns, 0, &c->ns, err));
    TRY(url_decode(c->a, name, 0, &c->name, err));
    if (!((*route)->flags & ROUTE_OPEN))
        TRY(rest_authenticate(c, err));
    if (c->r->length.has ? c->r->length.v > 0 : http_has_header(c->r, "transfer-encoding"))
        TRY(rest_read(c, err));
    TRY(find_warehouse(c, p->prefix, err));
    c->svc = (SvcCall){ .ctx = &c->d->o.svc, .a = c->a, .who = &c->who, .api = (*route)->api };
    return OK;
}

void rest_dispatch(RestCall *c)
{
    const RestRoute *route = NULL;
    Path p = {0};
    Error err = {0};

    Status s = split_path(c->r->path, &p, &err);
    if (s == OK)
        s = prepare(c, &p, &route, &err);
    if (s == OK)
        s = route->verb(c, &err);
    if (s != OK)
        rest_fail(c, route, &err);
}

void rest_handle(RestDoor *d, HttpRequest *r, HttpAnswer *ret)
{
    RestCall c = { .d = d, .r = r, .ret = ret, .a = r->arena };
    rest_dispatch(&c);
}
