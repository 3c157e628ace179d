/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_int.h - what the files of connections share. */
#ifndef FIRN_LIVE_CONNECTION_INT_H
#define FIRN_LIVE_CONNECTION_INT_H

#include "service/live_connection.h"

enum {
    CONNECTION_OPTIONS_MAX = 64,       /* options of one statement */
    CONNECTION_VALUE_MAX   = 65536,    /* bytes of one option's text: certificates are the long ones */
    CONNECTION_LIST_MAX    = 256,      /* brokers */
    CONNECTION_CHECK_MS    = 10000,    /* one request of a validation */
    CONNECTION_DOORS_MS    = 30000,    /* a sink waits so long for the doors at a start */
    KEYS_AHEAD_MS          = 5 * 60 * 1000,      /* keys are good for so long when they are given out */
};

/* Types that the grammar knows; those without `plan` are refused. */
typedef struct ConnType ConnType;
typedef struct ConnPlan ConnPlan;
struct ConnType {
    const char *word;                  /* of the grammar, lower case: "iceberg catalog" */
    const char *title;                 /* of messages: "ICEBERG CATALOG" */
    const char *name;                  /* of mz_connections.type: "iceberg-catalog" */
    const char *const *options;        /* allowed ones, ended by NULL */
    Status (*plan)(ConnPlan *p, Error *err);
    Status (*validate)(Service *s, Arena *a, const Object *o, Error *err);
    int by_default;                    /* validated when it is made or altered */
};
const ConnType *conn_type_of(Str word);            /* NULL: none */
const ConnType *conn_type_named(Str name);

/* A connection's options as they will be, checked one by one; rules of the whole are the type's. */
struct ConnPlan {
    Run *r;
    Arena *a;
    const ConnType *type;
    Json *options;                     /* as Object.detail has them */
};
bool conn_has(const Json *options, const char *name);
Str conn_text(const Json *options, const char *name);         /* TEXT or NUMBER; "" otherwise */
int64_t conn_secret(const Json *options, const char *name);   /* 0: none */
int64_t conn_object(const Json *options, const char *name);

/* live_connection_options.c: from what the statement says to a plan, with names resolved. */
NODISCARD Status conn_read_options(ConnPlan *p, const LiveOptions *given, Error *err);
NODISCARD Status conn_allowed(const ConnPlan *p, Error *err);
/* The statement that makes it, from its options. */
NODISCARD Status conn_create_sql(Service *s, Arena *a, const Object *o, LiveTextHow how, Str *ret, Error *err);
void conn_uses(Arena *a, Object *o);               /* from its options */

/* live_connection_plan.c */
NODISCARD Status conn_plan_aws(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_iceberg(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_kafka(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_registry(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_postgres(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_gcp(ConnPlan *p, Error *err);
NODISCARD Status conn_plan_none(ConnPlan *p, Error *err);      /* refuses: there is no implementation */

/* live_connection_life.c: what is behind Service.connections. */
typedef struct KeySource { Service *s; int64_t id; } KeySource;
typedef struct Taken { Str stamp; AwsKeys keys; int64_t expires_ms; } Taken;

struct Connections {
    pthread_mutex_t lock;
    pthread_cond_t reached;
    Arena *a;                          /* of the key sources, doors and the environment's id */
    Arena *keys_arena;                 /* of what is remembered; begun anew when it has grown */
    Map sources, taken;                /* KeySource and Taken by the connection's number */
    Str lake, manage, environment;
    int stopping;                      /* whoever waits for the doors waits no longer */
};
void conn_forget_keys(struct Connections *c);                  /* under the lock */

/* live_connection_aws.c */
NODISCARD Status conn_validate_aws(Service *s, Arena *a, const Object *o, Error *err);
NODISCARD Status conn_keys(Service *s, Arena *a, const Object *aws, AwsKeys *ret, Error *err);
Str conn_endpoint(Service *s, Arena *a, const Object *aws);    /* with its scheme; "": AWS's own */
Str conn_region(Service *s, const Object *aws);
/* For a catalog that lives on: asks conn_keys each time. Lives as long as the service. */
RemoteKeys conn_key_source(Service *s, int64_t aws);

/* live_connection_open.c */
NODISCARD Status conn_validate_iceberg(Service *s, Arena *a, const Object *o, Error *err);
NODISCARD Status conn_validate_source(Service *s, Arena *a, const Object *o, Error *err);
NODISCARD Status conn_validate_registry(Service *s, Arena *a, const Object *o, Error *err);
NODISCARD Status conn_get(Service *s, Arena *a, int64_t id, Object *ret, Error *err);
/* The text of a secret. what: "access key ID", for "internal error: failed to read … from secret store". */
NODISCARD Status conn_secret_text(Service *s, Arena *a, int64_t id, const char *what, Str *ret, Error *err);
NODISCARD Status conn_text_or_secret(Service *s, Arena *a, const Json *options, const char *name, const char *what, Str *ret, Error *err);

#endif
