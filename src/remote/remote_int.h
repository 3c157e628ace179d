/* SPDX-License-Identifier: Apache-2.0 */
/* remote_int.h - what the files of the remote room share. */
#ifndef FIRN_REMOTE_INT_H
#define FIRN_REMOTE_INT_H

#include "remote/remote.h"

enum {
    CALL_TIMEOUT_MS   = 30000,
    CALL_TRIES        = 3,                          /* of a request that only reads */
    CALL_PAUSE_MS     = 200,
    CALL_AGAIN_MAX_S  = 10,                         /* of Retry-After that is heeded */
    SMALL_ANSWER_MAX  = 4 * 1024 * 1024,            /* everything but tables */
    NAMESPACES_MAX    = 100000,
    TABLES_MAX        = 100000,                     /* of one namespace */
    PAGES_MAX         = 10000,
    HEADERS_MAX       = 64,                         /* that a catalog may ask for */
    CREDENTIALS_MAX   = 1000,                       /* of one table */
    TOKEN_BYTES_MAX   = 64 * 1024,
    WORDS_MAX         = 600,                        /* of a catalog's own words in a message */
    TOKEN_EARLY_MS    = 60 * 1000,
    TOKEN_LIFE_MS     = 60 * 60 * 1000,             /* of a token that does not say */
    VENDED_EARLY_MS   = 15 * 60 * 1000,             /* spec/materialize.md 1.3 */
    VENDED_LIFE_MS    = 5 * 60 * 1000,
    TOKEN_AGAIN_MS    = 5000,
    TOKEN_EXCHANGE_AGAIN_MS = 30 * 1000,
    SIGNED_HEADERS_MAX = 64,                        /* that a signer gives a request */
};
#define NS_SEPARATOR '\x1f'

struct RemoteCatalog {
    Arena *a;                                       /* all strings but the token */
    RemoteOptions o;
    Str base;                                       /* url by the ENDPOINT rule, no slash at its end */
    Str oauth_url;
    Str prefix;                                     /* "/x", or empty */
    Str separator;                                  /* of namespace levels in a path, encoded */
    Props defaults, overrides;                      /* of its configuration; what the options say lies between */
    Str sign_name, sign_region;                     /* "": requests are not signed */
    Props headers;                                  /* header.X */
    StoreCache *cache;
    HttpPool *pool;
    pthread_mutex_t mu;                             /* the token's */
    Arena *token_arena;
    Str token;
    int64_t token_due_ms;                           /* 0: none */
    int64_t token_tried_ms;                         /* of an exchange that failed */
};

/* ---- answers (answer.c): pure, of bytes from outside ------------------------------------------------------------ */

typedef enum { DOES_READ, DOES_LIST /* up to here nothing is changed */, DOES_CREATE, DOES_COMMIT, DOES_DROP } Does;
/* What an answer outside of 2xx means for a request of this sort, in the catalog's own words. Never OK. */
NODISCARD Status remote_judge(Arena *a, Does does, int http, Str body, Error *err);
Str remote_words(Arena *a, Str s);                  /* one line, UTF-8, WORDS_MAX bytes */

NODISCARD Status remote_parse_config(Arena *a, Str body, Props *defaults, Props *overrides, Error *err);
typedef struct TokenAnswer { Str token; int64_t life_ms; } TokenAnswer;
NODISCARD Status remote_parse_token(Arena *a, Str body, TokenAnswer *ret, Error *err);
NODISCARD Status remote_judge_token(Arena *a, int http, Str body, Error *err);
bool remote_is_token(Str s);                        /* such that it can stand in a header */
int64_t remote_token_ends(Arena *a, Str token);     /* of a JWT that says when, in ms; 0: not known */
/* What a signer answers: the URL, and the headers that the request has then. */
NODISCARD Status remote_parse_signed(Arena *a, Str body, Str *url, Props *headers, Error *err);
typedef struct StorageGrant { Str prefix; Props config; } StorageGrant;
typedef VEC(StorageGrant) StorageGrants;
typedef struct TableAnswer { Str metadata_location; IceMetadata *meta; Props config; StorageGrants grants; } TableAnswer;
NODISCARD Status remote_parse_table(Arena *a, Str body, TableAnswer *ret, Error *err);
NODISCARD Status remote_parse_grants(Arena *a, Str body, StorageGrants *ret, Error *err);
NODISCARD Status remote_parse_namespaces(Arena *a, Str body, RemoteNamespaces *ret, Str *next, Error *err);
NODISCARD Status remote_parse_tables(Arena *a, Str body, StrVec *names, Str *next, Error *err);
NODISCARD Status remote_parse_role(Arena *a, Str body, RemoteRole *ret, Error *err);
NODISCARD Status remote_parse_caller(Arena *a, Str body, Str *arn, Error *err);
NODISCARD Status remote_judge_sts(Arena *a, int http, Str body, Error *err);
/* Where the files of a table may lie; E_INVALID: metadata_location is not there. E_UNSUPPORTED: no object store. */
NODISCARD Status remote_places(Arena *a, const IceMetadata *m, Str metadata_location, StrVec *ret, Error *err);

/* ---- requests (call.c, token.c) ---------------------------------------------------------------------------------- */

typedef struct RemoteCall {
    const char *method;
    Str path;                                       /* below /v1/<prefix>; "/namespaces/…" */
    Str query;                                      /* encoded */
    const Json *body;
    Does does;
    size_t max;                                     /* bytes of the answer; 0: SMALL_ANSWER_MAX */
    int bare;                                       /* no prefix: config */
    Str url;                                        /* takes the place of base, prefix and path: of this catalog's own host (remote_own_url) */
    Str token;                                      /* the table's; refused, the catalog's is tried */
    const char *delegates;                          /* the access that is asked for; NULL: the answer brings no credentials */
    Str unless;                                     /* the ETag of what is known: an answer of 304 gives an empty body */
    Str *etag;                                      /* gets the answer's, or ""; may be NULL */
} RemoteCall;
NODISCARD Status remote_call(RemoteCatalog *c, Arena *a, const RemoteCall *q, Str *body, Error *err);
Str remote_namespace_path(RemoteCatalog *c, Arena *a, Str ns);
Str remote_table_path(RemoteCatalog *c, Arena *a, Str ns, Str name);
Json *remote_namespace_json(Arena *a, Str ns);
Str remote_url_at(Arena *a, Str url, Str endpoint);     /* contract.md, "ENDPOINT" */
Str remote_endpoint(Arena *a, Str endpoint);            /* with a scheme, without a slash at its end */
Str remote_setting(const RemoteCatalog *c, const char *key);            /* overrides, then defaults */
const char *remote_delegates(const RemoteCatalog *c);
#define DELEGATES_SIGNING "remote-signing"

/* The bearer token as it is good now: given, or got by client credentials. Empty: none. */
NODISCARD Status remote_token(RemoteCatalog *c, Arena *a, Str *ret, Error *err);
void remote_token_refused(RemoteCatalog *c, Str token);
bool remote_token_anew(const RemoteCatalog *c);        /* can another one be got? */
/* google.c: the request for a token, of the account of this key (its JSON). E_DENIED: not from Google. */
NODISCARD Status remote_google_ask(Arena *a, Str key_text, int64_t now_s, Str *url, Str *body, Error *err);

/* ---- storage (storage.c) -------------------------------------------------------------------------------------------- */

/* E_AUTH, kind NoCredentials: neither the catalog nor the connection has any. */
NODISCARD Status remote_storage_open(RemoteCatalog *c, Str ns, Str name, const TableAnswer *t, Store **ret, Error *err);

/* ---- somebody who signs (signer.c) ------------------------------------------------------------------------------------ */

/* The URL of a table's signer, by what the catalog says of it; E_DENIED: of another host than the catalog's. */
NODISCARD Status remote_signer_url(const RemoteCatalog *c, Arena *a, Str uri, Str endpoint, Str *ret, Error *err);
NODISCARD Status remote_sign(RemoteCatalog *c, Arena *a, Str signer, Str token, StoreS3Request *r, Error *err);

#endif
