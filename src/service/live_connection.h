/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection.h - connections of the live side: planned, validated, altered, and opened for those that use them.
 *
 * An Object of kind OBJ_CONNECTION; its `type` is as mz_connections.type has it.  `detail` is {"options": {"REGION": {"text": …}, "PORT": {"number": …}, "SECRET ACCESS KEY":
 * {"secret": <object id>}, "AWS CONNECTION": {"object": <object id>}, "BROKERS": {"list": [text …]}}}: secrets stand there by reference alone, names follow a rename.
 * What a connection gives away (keys, passwords) leaves this file for rooms that send it, never for a message, a log line or a row.
 * (spec/materialize.md 1.2-1.4; contract.md, "ENDPOINT".)  Any thread may call what takes a Service. */
#ifndef FIRN_LIVE_CONNECTION_H
#define FIRN_LIVE_CONNECTION_H

#include "remote/remote.h"
#include "service/live_sql.h"
#include "sql/live_stmt.h"

/* ---- statements (the dispatch is live_statement.c's; the command tag is the caller's) ------------------------------------------------------- */

NODISCARD Status live_create_connection(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_connection(Run *r, Rows *rows, LiveDone *ret, Error *err);        /* SET, RESET, DROP of options; RENAME TO and OWNER TO are those of every object */
NODISCARD Status live_validate(Run *r, Rows *rows, LiveDone *ret, Error *err);
extern const LiveHooks connection_hooks;                                                    /* OBJ_CONNECTION's */

/* ---- for sinks and sources ------------------------------------------------------------------------------------------------------------------- */

/* The catalog of an ICEBERG CATALOG connection, with keys that stay fresh as long as it is open. aws: an AWS connection whose keys write the files where the
 * catalog vends none (USING AWS CONNECTION), 0: none. Waits for the lake door at a start. */
NODISCARD Status connection_open_catalog(Service *s, int64_t connection, RemoteCatalog **ret, Error *err);
NODISCARD Status connection_open_catalog_with(Service *s, int64_t connection, int64_t aws, RemoteCatalog **ret, Error *err);
/* The options as connectors take them: names in lower case ("ssl certificate authority"), secrets as their text, lists as arrays; "type" is the connection's. */
NODISCARD Status connection_options(Service *s, Arena *a, int64_t connection, Json **ret, Error *err);
/* E_INVALID "\"materialize.public.x\" is not an iceberg catalog connection" when its type is another. */
NODISCARD Status connection_need(Run *r, const StrVec *name, const char *type, Object *ret, Error *err);
/* The object store of an AWS connection, with its endpoint and keys. The cache outlives it. */
NODISCARD Status connection_open_store(Service *s, int64_t connection, StoreCache *cache, Store **ret, Error *err);
/* The keys of an AWS connection, good for five minutes at least. */
NODISCARD Status connection_keys(Service *s, Arena *a, int64_t connection, AwsKeys *ret, Error *err);

/* ---- what mz_internal.mz_aws_connections and mz_environment_id() show -------------------------------------------------------------------------- */

/* Empty texts and ids of 0 are NULL. */
typedef struct AwsConnection {
    int64_t id;
    Str endpoint, region, access_key_id;
    int64_t access_key_id_secret, secret_access_key_secret;
    Str session_token;
    int64_t session_token_secret;
    Str role_arn, session_name, principal, external_id, example_trust_policy;       /* the last one is JSON */
} AwsConnection;
typedef VEC(AwsConnection) AwsConnections;
NODISCARD Status connection_list_aws(Service *s, Arena *a, AwsConnections *ret, Error *err);
/* A UUID made at first use and kept with the data folder. */
NODISCARD Status connection_environment(Service *s, Arena *a, Str *ret, Error *err);

/* ---- life ----------------------------------------------------------------------------------------------------------------------------------------- */

struct Connections *connections_new(void);
void connections_stop(struct Connections *c);                                       /* the service closes: nobody waits for doors any more */
void connections_free(struct Connections *c);                                       /* after everything that may still hold a catalog */
void connections_forget(struct Connections *c);                                     /* a reset */

#endif
