/* SPDX-License-Identifier: Apache-2.0 */
/* remote.h - Iceberg catalogs elsewhere: the REST catalog protocol from the client's side, and the object store behind it.
 *
 * Knows four kinds of catalogs: any REST catalog (OAuth2 client credentials, a Google service account, bearer token and its exchange, SigV4), S3 Tables and Glue by their Iceberg REST
 * endpoints (SigV4), firn's own by any of these.  A RemoteTable is what one loadTable said, with a Store through which its files are read and written; lake/ and iceberg/
 * work on that Store as on ours.  Answers are bounded and believed in nothing: metadata is parsed by iceberg/'s own parser, locations must lie below the
 * table's.  (Iceberg REST specification; spec/materialize.md 1.3, 2.5; spec/iceberg.md.)
 * Any thread may call; one RemoteCatalog holds one token and its expiry. */
#ifndef FIRN_REMOTE_H
#define FIRN_REMOTE_H

#include "base/base.h"
#include "iceberg/iceberg.h"
#include "net/net.h"
#include "store/store.h"

/* Where AWS keys come from: asked before each signed request, so they may be refreshed. */
typedef struct RemoteKeys { void *ctx; Status (*get)(void *ctx, Arena *a, AwsKeys *ret, Error *err); } RemoteKeys;

typedef enum { REMOTE_REST, REMOTE_S3TABLES, REMOTE_GLUE } RemoteKind;
/* Who lets us at a table's files: our own keys; the catalog's vended credentials (else our own, else its signatures); the catalog's signatures. */
typedef enum { REMOTE_OWN_KEYS, REMOTE_VENDED, REMOTE_SIGNING } RemoteDelegation;
typedef struct RemoteOptions {
    RemoteKind kind;
    Str url, warehouse;
    Str endpoint;                     /* takes the place of scheme, host and port of url, and of the object store's: contract.md, "ENDPOINT" */
    Str region;
    RemoteKeys keys;                  /* S3TABLES, GLUE: signs; REST: the object store's keys when the catalog vends none. get NULL: none */
    Str credential, scope, oauth2_url;        /* REST: "id:secret" or "secret"; scope "" means "catalog" */
    Str bearer;                       /* REST: a token that is given; exchanged for a new one before it ends, where it says when */
    Str google_key;                   /* REST: a service account's key, in JSON: tokens are got with it */
    Str sign_name, sign_region;       /* REST: requests are signed with keys for this service ("execute-api"); region "": `region`. The catalog's configuration may ask for it too */
    RemoteDelegation delegation;
    int timeout_ms;                   /* a request; 0: 30,000 */
    Str dir;                          /* a folder for copies of objects and files on their way out; "": the system's for temporary files */
    int64_t cache_bytes;              /* of copies there; 0: 8 GiB */
    Props storage;                    /* s3.endpoint, s3.region, s3.path-style-access: where the catalog does not tell them */
} RemoteOptions;

typedef struct RemoteCatalog RemoteCatalog;
/* Copies the options; asks GET /v1/config.  E_AUTH, E_DENIED: with the catalog's own words; E_UNAVAILABLE, E_TIMEOUT; E_INVALID: an answer that is none. */
NODISCARD Status remote_open(const RemoteOptions *o, RemoteCatalog **ret, Error *err);
void remote_close(RemoteCatalog *c);          /* after its tables have ended */
void remote_closep(RemoteCatalog **c);

typedef VEC(StrVec) RemoteNamespaces;
NODISCARD Status remote_namespaces(RemoteCatalog *c, Arena *a, RemoteNamespaces *ret, Error *err);
NODISCARD Status remote_namespace_find(RemoteCatalog *c, Str ns, Error *err);                          /* E_NOT_FOUND: there is none */
NODISCARD Status remote_namespace_create(RemoteCatalog *c, Str ns, Error *err);                       /* one level; E_EXISTS is OK to ignore */

NODISCARD Status remote_tables(RemoteCatalog *c, Arena *a, Str ns, StrVec *names, Error *err);        /* E_NOT_FOUND: no such namespace */

typedef struct RemoteTable {
    RemoteCatalog *catalog;
    Str ns, name, metadata_location;  /* ns: levels joined by 0x1F */
    IceMetadata *meta;                /* all but the store is in the arena of the last call that changed it */
    Str etag;                         /* of the catalog's answer, when it gave one */
    Str token;                        /* the catalog's, for requests about this table; "": as for others */
    Store *store;                     /* of the table's files, with the credentials that came with it (renewed while it is open); refuses what lies elsewhere.
                                         Owned: remote_table_end */
} RemoteTable;
/* E_UNSUPPORTED: its files are not in an S3 object store. E_AUTH: no credentials for them. */
NODISCARD Status remote_table_load(RemoteCatalog *c, Arena *a, Str ns, Str name, RemoteTable *ret, Error *err);       /* E_NOT_FOUND, kind NoSuchTable or NoSuchNamespace */
typedef struct RemoteNew { const IceSchema *schema; const IceSpec *spec; const IceSortOrder *order; Str location; Props props; } RemoteNew;
/* E_EXISTS; E_NOT_FOUND, kind NoSuchNamespace; E_UNKNOWN as for a commit. spec and order may be NULL. */
NODISCARD Status remote_table_create(RemoteCatalog *c, Arena *a, Str ns, Str name, const RemoteNew *n, RemoteTable *ret, Error *err);
/* The same table as it is now: meta and metadata_location anew, the store goes on. E_NOT_FOUND also when it was made anew (another uuid). */
NODISCARD Status remote_table_reload(RemoteTable *t, Arena *a, Error *err);
/* For those who look again and again: when it has not changed, the table stays as it is and `a` is not needed any more. */
NODISCARD Status remote_table_poll(RemoteTable *t, Arena *a, int *changed, Error *err);
/* E_CONFLICT: 409, not done.  E_UNKNOWN: it may or may not have been done (5xx, lost answer): load and look.  Others: not done. On OK the table is as after. */
NODISCARD Status remote_table_commit(RemoteTable *t, Arena *a, const IceUpdates *ups, const IceRequirements *rqs, Error *err);
NODISCARD Status remote_table_drop(RemoteCatalog *c, Str ns, Str name, Error *err);                      /* files stay, but where the catalog insists (S3 Tables) */
void remote_table_end(RemoteTable *t);        /* one that was never loaded, all zero, is fine */

/* ---- AWS STS, for connections that assume a role ---------------------------------------------------------------------------------- */

typedef struct RemoteSts { Str endpoint, region; AwsKeys keys; int timeout_ms; } RemoteSts;                             /* endpoint "": https://sts.<region>.amazonaws.com */
typedef struct RemoteRole { AwsKeys keys; int64_t expires_ms; } RemoteRole;
/* external_id may be empty. E_DENIED with AWS's message. */
NODISCARD Status remote_assume_role(const RemoteSts *s, Arena *a, Str role_arn, Str session_name, Str external_id, RemoteRole *ret, Error *err);
NODISCARD Status remote_caller(const RemoteSts *s, Arena *a, Str *arn, Error *err);                     /* GetCallerIdentity */

#endif
