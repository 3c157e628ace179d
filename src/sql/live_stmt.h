/* SPDX-License-Identifier: Apache-2.0 */
/* live_stmt.h - the tree of the live side's own statements (postgres dialect; Materialize's manual, spec/materialize.md 1).
 *
 * CREATE, ALTER, DROP of what no other statement makes (ST_LIVE), GRANT, REVOKE, VALIDATE CONNECTION.  CREATE TABLE, VIEW and MATERIALIZED VIEW keep their kinds and carry
 * a LiveStmt for IN CLUSTER, WITH (…), FROM SOURCE; ALTER TABLE|VIEW|MATERIALIZED VIEW … OWNER TO, RENAME TO, SET (…), RESET (…), SET CLUSTER, SET SCHEMA are ST_LIVE in the
 * postgres dialect, as is COMMENT ON; DROP of several names and of tables and views too when the session's database is on the live side: the parser cannot know, so
 * ST_DROP_TABLE, ST_DROP_VIEW, ST_DROP_MV carry the further names in live->also. */
#ifndef FIRN_LIVE_STMT_H
#define FIRN_LIVE_STMT_H

#include "sql/sql.h"

typedef enum { LK_NONE, LK_DATABASE, LK_SCHEMA, LK_CLUSTER, LK_REPLICA, LK_ROLE, LK_SECRET, LK_CONNECTION, LK_SOURCE, LK_SINK, LK_INDEX, LK_TABLE, LK_VIEW,
               LK_MVIEW, LK_COLUMN, LK_TYPE, LK_SYSTEM, LK_KINDS } LiveKind;
const char *live_kind_words(LiveKind k);                 /* "CLUSTER REPLICA", "MATERIALIZED VIEW" */
typedef enum { LV_CREATE, LV_ALTER, LV_DROP, LV_DROP_OWNED, LV_REASSIGN_OWNED, LV_COMMENT } LiveVerb;

/* NAME [=] [value]: names are keywords in upper case, one blank between ("ASSUME ROLE ARN"). */
typedef enum { OPT_NONE, OPT_STRING, OPT_NUMBER, OPT_BOOL, OPT_NAME, OPT_SECRET, OPT_LIST, OPT_GROUP, OPT_EXPR } OptionKind;
typedef struct LiveOption LiveOption;
typedef VEC(LiveOption) LiveOptions;
struct LiveOption {
    Str name;
    OptionKind kind;
    int position;
    Str text;                            /* STRING, NUMBER, BOOL ("true"), NAME of one part, EXPR: as written */
    StrVec names;                        /* NAME, SECRET: parts; AT/ALIGNED TO and the like: EXPR */
    LiveOptions list;                    /* LIST: unnamed elements; GROUP: options in parentheses */
};

typedef struct LiveInclude { Str name, alias; } LiveInclude;                /* INCLUDE KEY AS k, HEADER 'x' AS h */
typedef struct LiveFormat { Str kind; LiveOptions options; StrVec connection; } LiveFormat;   /* "json", "avro", "text", "bytes", "csv", "protobuf"; USING … CONNECTION */
typedef struct LiveReference { StrVec external, name; } LiveReference;           /* FOR TABLES (public.t AS t2, …) */
typedef struct LiveReplica { Str name; LiveOptions options; } LiveReplica;

typedef enum { ALTER_NONE, ALTER_SET, ALTER_RESET, ALTER_RENAME, ALTER_OWNER, ALTER_SWAP, ALTER_SET_FROM, ALTER_SET_CLUSTER, ALTER_SECRET_AS, ALTER_ROTATE_KEYS, ALTER_ROLE_OPTIONS,
               ALTER_ROLE_SET, ALTER_ADD_REFERENCES, ALTER_DROP_REFERENCES, ALTER_APPLY_REPLACEMENT, ALTER_SYSTEM_SET, ALTER_SYSTEM_RESET, ALTER_ADD_COLUMN } LiveAlter;

typedef struct LiveStmt {
    LiveVerb verb;
    LiveKind kind;                       /* the object's name is Stmt.name (replica: cluster.replica; column: …, column); if_exists, if_not_exists, cascade are Stmt's */
    Str type;                            /* lower case: CONNECTION "aws", "iceberg catalog", "kafka", "postgres", "confluent schema registry", "ssh tunnel" …;
                                            SOURCE "load generator", "postgres", "kafka", "webhook", "iceberg catalog"; SINK "iceberg catalog", "kafka" */
    Str generator;                       /* LOAD GENERATOR: "counter", "key value" … */
    StrVec cluster;                      /* IN CLUSTER; empty: the session's */
    StrVec from;                         /* SINK FROM relation; TABLE FROM SOURCE source; INDEX ON relation; ALTER SINK SET FROM */
    StrVec connection;                   /* INTO ICEBERG CATALOG CONNECTION x; FROM POSTGRES CONNECTION x */
    StrVec aws_connection;               /* USING AWS CONNECTION */
    LiveOptions options;                 /* (…) behind the type or connection */
    LiveOptions with;                    /* WITH (…); SET (…), RESET (…), DROP (…) of ALTER: `drop` for the last */
    LiveOptions drop;
    int has_key, not_enforced;
    StrVec key;                          /* KEY (a, b) */
    Str mode, envelope;                  /* "upsert", "append"; "none", "upsert", "debezium", "materialize" */
    PartitionFields partitions;          /* PARTITION BY (day(ts), bucket(16, c)) */
    OrderVec order;                      /* ORDER BY (…) of a sink: columns */
    LiveFormat key_format, format;       /* FORMAT, or KEY FORMAT … VALUE FORMAT … */
    VEC(LiveInclude) include;            /* names lower case: "key", "timestamp", "partition", "offset", "headers", "header:x", "header bytes:x"; webhooks: "headers", "not header:x" */
    Expr *check;                         /* webhook CHECK (…) */
    Str check_text;
    LiveOptions check_with;              /* WITH (HEADERS [AS h], BODY [AS b], SECRET s [AS n] [BYTES]) */
    int all_tables;                      /* FOR ALL TABLES */
    VEC(LiveReference) tables;           /* FOR TABLES (…); ALTER SOURCE ADD SUBSOURCE */
    StrVec schemas;                      /* FOR SCHEMAS (…) */
    StrVec reference;                    /* TABLE … FROM SOURCE s (REFERENCE x) */
    Str progress;                        /* EXPOSE PROGRESS AS p */
    ExprVec exprs;                       /* INDEX (…): expressions; empty with `is_default` */
    VEC(Str) expr_texts;
    int is_default;                      /* CREATE DEFAULT INDEX */
    VEC(LiveReplica) replicas;           /* CREATE CLUSTER c REPLICAS (…) */
    int has_replicas;
    Expr *value;                         /* SECRET … AS */
    LiveAlter alter;
    StrVec to;                           /* RENAME TO, OWNER TO, SWAP WITH, SET CLUSTER, APPLY REPLACEMENT */
    StrVec roles;                        /* DROP ROLE a, b; DROP OWNED BY; GRANT role */
    VEC(StrVec) also;                    /* DROP x, y, z: the names behind the first */
    Str setting, setting_value;          /* ALTER ROLE … SET, ALTER SYSTEM SET */
    int redacted;                        /* SHOW REDACTED CREATE */
    /* GRANT, REVOKE */
    StrVec privileges;                   /* upper case: "SELECT", "USAGE", "ALL"; empty: roles are granted */
    int all_in;                          /* ON ALL TABLES IN SCHEMA|DATABASE x; kind is the object's, `in_kind` the container's; default_: ALTER DEFAULT PRIVILEGES */
    LiveKind in_kind;
    VEC(StrVec) objects;
    int default_privileges;
    StrVec for_roles, in_schemas;
    Str replacement_for;
    int replacement;                     /* CREATE REPLACEMENT MATERIALIZED VIEW r FOR from */
} LiveStmt;

/* The statement as Materialize keeps it: names as they are in `s` (resolved by the caller), options sorted by name, values quoted, "…;" at the end left out.
 * redacted: literals become '<REDACTED>'. */
typedef enum { LIVE_TEXT_WHOLE, LIVE_TEXT_REDACTED } LiveTextHow;
Str sql_live_text(Arena *a, const Stmt *s, LiveTextHow how);
const LiveOption *live_option(const LiveOptions *o, const char *name);           /* NULL: not given */

#endif
