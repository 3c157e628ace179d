/* SPDX-License-Identifier: Apache-2.0 */
/* rest_int.h - what the files of the REST door share. */
#ifndef FIRN_REST_INT_H
#define FIRN_REST_INT_H

#include "door/rest/restdoor.h"

enum {
    TOKEN_SECONDS    = 3600,
    VEND_SECONDS     = 3600,
    PAGE_DEFAULT     = 1000,
    PAGE_MAX         = 10000,
    SEGMENTS_MAX     = 12,
    TOKEN_BYTES_MAX  = 4096,
};

struct RestDoor {
    Arena *a;
    RestOptions o;
};

/* One request on its way. */
typedef struct RestCall {
    RestDoor *d;
    HttpRequest *r;
    HttpAnswer *ret;
    Arena *a;
    Principal who;
    CatWarehouse warehouse;            /* that the path's prefix names; the account's without one */
    Str ns, name;                      /* decoded from the path; levels joined by 0x1F */
    Str body;
    int has_body;                      /* it was read */
    SvcCall svc;
} RestCall;

typedef Status (*RestVerb)(RestCall *c, Error *err);

/* No caller needed; a failure must not look like an unknown outcome; known to the specification, but not offered here. */
typedef enum { ROUTE_OPEN = 1, ROUTE_COMMIT = 2, ROUTE_ABSENT = 4 } RouteFlags;
typedef struct RestRoute {
    const char *method, *path;         /* as the config endpoint lists it: "/v1/{prefix}/namespaces/{namespace}" */
    RestVerb verb;
    const char *api;                   /* name for refusals */
    int flags;
} RestRoute;
extern const RestRoute rest_routes[];
extern const size_t rest_routes_n;

/* ---- rest_auth.c */
NODISCARD Status rest_authenticate(RestCall *c, Error *err);
/* Who a bearer token stands for, and the access key that it was made for. */
NODISCARD Status rest_token_principal(RestCall *c, Str token, Principal *ret, CatKey *parent, Error *err);

/* ---- rest_answer.c */
void rest_json(RestCall *c, int status, const Json *body);
void rest_empty(RestCall *c, int status);
void rest_fail(RestCall *c, const RestRoute *route, const Error *err);
void rest_header(RestCall *c, const char *name, Str value);
/* Reads the body once. */
NODISCARD Status rest_read(RestCall *c, Error *err);
/* Everything but the reading of the socket: what the fuzzer drives. */
void rest_dispatch(RestCall *c);
/* The request's body as a JSON object. */
NODISCARD Status rest_body(RestCall *c, Json **ret, Error *err);

/* ---- rest_names.c: identifiers, namespaces, paging */
Json *rest_levels(Arena *a, Str ns);
Json *rest_identifier(Arena *a, Str ns, Str name);
NODISCARD Status rest_parse_namespace(RestCall *c, const Json *levels, Str *ret, Error *err);
NODISCARD Status rest_parse_identifier(RestCall *c, const Json *j, SvcName *ret, Error *err);
NODISCARD Status rest_parse_props(RestCall *c, const Json *object, const char *key, Props *ret, Error *err);
NODISCARD Status rest_parse_strings(RestCall *c, const Json *object, const char *key, StrVec *ret, Error *err);
Json *rest_props(Arena *a, const Props *p);
/* *size: 0 when the caller did not ask for pages. Asks for one more than the page holds. */
NODISCARD Status rest_page(RestCall *c, CatPage *ret, size_t *size, Error *err);
/* Sets next-page-token when there is more than `size`; gives how many belong to this page. */
size_t rest_page_end(RestCall *c, Json *answer, size_t n, size_t size, Str last_name);
SvcName rest_name(const RestCall *c);

/* ---- rest_storage.c: what a client needs to reach the files */
Json *rest_storage_config(RestCall *c, const CatKey *key);             /* key NULL: without credentials */
NODISCARD Status rest_vend(RestCall *c, const SvcTable *t, Json *config, Json **credentials, Error *err);
bool rest_wants_credentials(const RestCall *c);

/* ---- the verbs */
NODISCARD Status rest_get_config(RestCall *c, Error *err);
NODISCARD Status rest_post_token(RestCall *c, Error *err);
NODISCARD Status rest_list_namespaces(RestCall *c, Error *err);
NODISCARD Status rest_create_namespace(RestCall *c, Error *err);
NODISCARD Status rest_load_namespace(RestCall *c, Error *err);
NODISCARD Status rest_head_namespace(RestCall *c, Error *err);
NODISCARD Status rest_drop_namespace(RestCall *c, Error *err);
NODISCARD Status rest_alter_namespace(RestCall *c, Error *err);
NODISCARD Status rest_list_tables(RestCall *c, Error *err);
NODISCARD Status rest_create_table(RestCall *c, Error *err);
NODISCARD Status rest_register_table(RestCall *c, Error *err);
NODISCARD Status rest_load_table(RestCall *c, Error *err);
NODISCARD Status rest_head_table(RestCall *c, Error *err);
NODISCARD Status rest_commit_table(RestCall *c, Error *err);
NODISCARD Status rest_drop_table(RestCall *c, Error *err);
NODISCARD Status rest_unregister_table(RestCall *c, Error *err);
NODISCARD Status rest_table_credentials(RestCall *c, Error *err);
NODISCARD Status rest_report_metrics(RestCall *c, Error *err);
NODISCARD Status rest_rename_table(RestCall *c, Error *err);
NODISCARD Status rest_commit_transaction(RestCall *c, Error *err);
NODISCARD Status rest_list_views(RestCall *c, Error *err);
NODISCARD Status rest_create_view(RestCall *c, Error *err);
NODISCARD Status rest_load_view(RestCall *c, Error *err);
NODISCARD Status rest_head_view(RestCall *c, Error *err);
NODISCARD Status rest_commit_view(RestCall *c, Error *err);
NODISCARD Status rest_drop_view(RestCall *c, Error *err);
NODISCARD Status rest_rename_view(RestCall *c, Error *err);
NODISCARD Status rest_register_view(RestCall *c, Error *err);
NODISCARD Status rest_absent(RestCall *c, Error *err);

#endif
