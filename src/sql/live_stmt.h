/* SPDX-License-Identifier: Apache-2.0 */
/* live_stmt.h - the tree of the live side's own statements (postgres dialect; Materialize's manual, spec/materialize.md 1).
 *
 * Stmt.live is set for every statement below, whatever its kind; the executor asks for it first.
 *   ST_LIVE      what the lake has not: CREATE, ALTER, DROP, COMMENT ON of secrets, connections, sources, sinks, clusters, replicas, roles, indexes, types; ALTER TABLE|VIEW|
 *                MATERIALIZED VIEW … SET (…), RESET (…), SET CLUSTER, SET SCHEMA, APPLY REPLACEMENT; ALTER SYSTEM; DROP OWNED, REASSIGN OWNED.
 *   lake kinds   CREATE TABLE (FROM SOURCE, WITH), VIEW, MATERIALIZED VIEW (columns in column_names), DATABASE and SCHEMA (ST_CREATE_NAMESPACE); DROP of these (further names
 *                in `also`); ALTER … RENAME TO, OWNER TO, ADD COLUMN (ST_ALTER_TABLE, ST_ALTER_MV, ST_ALTER_NAMESPACE, with the lake's `actions` besides); COMMENT ON TABLE,
 *                VIEW, MATERIALIZED VIEW, COLUMN, SCHEMA, DATABASE (the same): the parser cannot know where the name lies.
 *   ST_SHOW      `what`: "secrets", "connections", "sinks", "sources", "subsources", "clusters", "cluster replicas", "indexes", "roles", "types", "objects", "privileges",
 *                "role membership", "default privileges", "create" (of `kind`) …; databases and schemas are "namespaces" with `kind`.  Schema in name, cluster, ON relation in
 *                `from`, FOR role in roles, LIKE in pattern, WHERE in Stmt.where.
 *   ST_EXPLAIN   `what`: "", "raw plan", "decorrelated plan", "locally optimized plan", "optimized plan", "physical plan", "timestamp", "filter pushdown", "key schema",
 *                "value schema", "analyze …"; inner, or name and live->kind (VIEW v, INDEX i, MATERIALIZED VIEW m: then inner is NULL); AS TEXT|JSON in format.kind.
 *   ST_GRANT, ST_REVOKE, ST_VALIDATE (VALIDATE CONNECTION name).
 *   ST_QUERY     SELECT … AS OF [AT LEAST] t: Stmt.as_of, as in SUBSCRIBE. */
#ifndef FIRN_LIVE_STMT_H
#define FIRN_LIVE_STMT_H

#include "sql/sql.h"

typedef enum { LK_NONE, LK_DATABASE, LK_SCHEMA, LK_CLUSTER, LK_REPLICA, LK_ROLE, LK_SECRET, LK_CONNECTION, LK_SOURCE, LK_SINK, LK_INDEX, LK_TABLE, LK_VIEW,
               LK_MVIEW, LK_COLUMN, LK_TYPE, LK_SYSTEM, LK_KINDS } LiveKind;
const char *live_kind_words(LiveKind k);                 /* "CLUSTER REPLICA", "MATERIALIZED VIEW" */
typedef enum { LV_CREATE, LV_ALTER, LV_DROP, LV_DROP_OWNED, LV_REASSIGN_OWNED, LV_COMMENT } LiveVerb;

/* NAME [=] [value]: names are keywords in upper case, one blank between ("ASSUME ROLE ARN").
 *   RETAIN HISTORY = FOR '1h'               STRING "1h"
 *   REFRESH = ON COMMIT | AT CREATION       GROUP, text "ON COMMIT" | "AT CREATION"
 *   REFRESH = EVERY '1d' [ALIGNED TO e]     GROUP, text "EVERY", list EVERY STRING, ALIGNED TO EXPR;   REFRESH = AT e: text "AT", list AT EXPR.  May come several times.
 *   SCHEDULE = MANUAL                       NAME;   ON REFRESH (HYDRATION TIME ESTIMATE = '1h'): GROUP, text "ON REFRESH"
 *   WAIT FOR '1s'                           GROUP, text "FOR", list FOR STRING;   WAIT UNTIL READY (TIMEOUT = …, ON TIMEOUT = COMMIT): text "UNTIL READY"
 *   BROKER 'h:1' USING SSH TUNNEL x         STRING, and list holds SSH TUNNEL NAME, or AWS PRIVATELINK NAME and its options
 *   TEXT COLUMNS (a, b.c), PARTITION BY     LIST of NAMEs;  ASSERT NOT NULL = c: NAME; it may come several times */
typedef enum { OPT_NONE, OPT_STRING, OPT_NUMBER, OPT_BOOL, OPT_NAME, OPT_SECRET, OPT_LIST, OPT_GROUP, OPT_EXPR, OPT_TYPE } OptionKind;
typedef struct LiveOption LiveOption;
typedef VEC(LiveOption) LiveOptions;
struct LiveOption {
    Str name;
    OptionKind kind;
    int position;
    Str text;                            /* STRING, NUMBER, BOOL ("true"), NAME of one part, EXPR: as written */
    StrVec names;                        /* NAME, SECRET: parts */
    LiveOptions list;                    /* LIST: unnamed elements; GROUP: options in parentheses */
    Expr *expr;                          /* EXPR */
    DataType type;                       /* TYPE, when it is none of the user's own (then names, too, is set) */
};

typedef struct LiveInclude { Str name, alias; } LiveInclude;                /* INCLUDE KEY AS k, HEADER 'x' AS h */
/* kind: "json", "json array", "avro", "text", "bytes", "csv", "protobuf", "regex"; registry: "confluent schema registry", "aws glue schema registry", "schema" (inline).
 * options: as in the manual; CSV: HEADER LIST | COLUMNS NUMBER, DELIMITED BY STRING; REGEX, SCHEMA, MESSAGE, SEED KEY SCHEMA … STRING. */
typedef struct LiveFormat { Str kind, registry; LiveOptions options; StrVec connection; } LiveFormat;
typedef struct LiveReference { StrVec external, name; } LiveReference;           /* FOR TABLES (public.t AS t2, …) */
typedef VEC(StrVec) LiveNames;
typedef struct LiveReplica { Str name; LiveOptions options; } LiveReplica;

typedef enum { ALTER_NONE, ALTER_SET, ALTER_RESET, ALTER_RENAME, ALTER_OWNER, ALTER_SWAP, ALTER_SET_FROM, ALTER_SET_CLUSTER, ALTER_SECRET_AS, ALTER_SET_SCHEMA, ALTER_ROTATE_KEYS, ALTER_ROLE_OPTIONS,
               ALTER_ROLE_SET, ALTER_ADD_REFERENCES, ALTER_DROP_REFERENCES, ALTER_REFRESH_REFERENCES, ALTER_APPLY_REPLACEMENT, ALTER_SYSTEM_SET, ALTER_SYSTEM_RESET, ALTER_ADD_COLUMN } LiveAlter;

typedef struct LiveStmt {
    LiveVerb verb;
    LiveKind kind;                       /* the object's name is Stmt.name (replica: cluster.replica; COMMENT ON COLUMN: the relation, the column is `to`); if_exists,
                                            if_not_exists, cascade are Stmt's; COMMENT: Stmt.comment, has_comment 0: NULL */
    Str type;                            /* lower case: CONNECTION "aws", "iceberg catalog", "kafka", "postgres", "confluent schema registry", "ssh tunnel" …;
                                            SOURCE "load generator", "postgres", "kafka", "webhook", "iceberg catalog"; SINK "iceberg catalog", "kafka" */
    Str generator;                       /* LOAD GENERATOR: "counter", "key value" … */
    StrVec cluster;                      /* IN CLUSTER; empty: the session's */
    StrVec from;                         /* SINK FROM relation; TABLE FROM SOURCE source; INDEX ON relation; ALTER SINK SET FROM */
    StrVec connection;                   /* INTO ICEBERG CATALOG CONNECTION x; FROM POSTGRES CONNECTION x */
    StrVec aws_connection;               /* USING AWS CONNECTION */
    LiveOptions options;                 /* (…) behind the type or connection */
    LiveOptions with;                    /* WITH (…) */
    LiveOptions drop;                    /* RESET (…), DROP (…) of ALTER: names only; its SET (…) is `options`; ALTER_SET when there are both */
    int has_key, not_enforced;
    StrVec key;                          /* KEY (a, b) */
    Str mode, envelope;                  /* "upsert", "append"; "none", "upsert", "debezium", "materialize" */
    LiveOptions envelope_options;        /* ENVELOPE UPSERT (VALUE DECODING ERRORS = INLINE [AS e]): VALUE DECODING ERRORS NAME (e or error) */
    PartitionFields partitions;          /* PARTITION BY (day(ts), bucket(16, c)) */
    OrderVec order;                      /* ORDER BY (…) of a sink: columns */
    LiveFormat key_format, format;       /* FORMAT, or KEY FORMAT … VALUE FORMAT … */
    VEC(LiveInclude) include;            /* names lower case: "key", "timestamp", "partition", "offset", "headers", "header:x", "header bytes:x"; webhooks: "headers", "not header:x" */
    Expr *check;                         /* webhook CHECK (…) */
    Str check_text;
    LiveOptions check_with;              /* WITH (HEADERS [AS h], BODY [AS b], SECRET s [AS n] [BYTES]): HEADERS, BODY NAME (the alias) or NONE; SECRET: SECRET, text the alias;
                                            BYTES: list holds a BYTES NONE */
    int all_tables;                      /* FOR ALL TABLES */
    VEC(LiveReference) tables;           /* FOR TABLES (…); ALTER SOURCE ADD SUBSOURCE */
    StrVec schemas;                      /* FOR SCHEMAS (…) */
    StrVec headers;                      /* HEADERS col of a Kafka sink */
    StrVec reference;                    /* TABLE … FROM SOURCE s (REFERENCE x) */
    Str progress;                        /* EXPOSE PROGRESS AS p */
    ExprVec exprs;                       /* INDEX (…): expressions; empty with `is_default` */
    VEC(Str) expr_texts;
    int is_default;                      /* CREATE DEFAULT INDEX */
    VEC(LiveReplica) replicas;           /* CREATE CLUSTER c REPLICAS (…) */
    int has_replicas;
    Expr *value;                         /* SECRET … AS */
    LiveAlter alter;
    StrVec to;                           /* RENAME TO, OWNER TO, SWAP WITH, SET CLUSTER, SET SCHEMA, APPLY REPLACEMENT; REASSIGN OWNED … TO */
    StrVec roles;                        /* DROP OWNED BY, REASSIGN OWNED BY; GRANT role, …; SHOW … FOR */
    LiveNames also;                      /* DROP x, y, z: the names behind the first; ALTER SOURCE … DROP SUBSOURCE: all of them */
    Str setting, setting_value;          /* ALTER ROLE … SET, ALTER SYSTEM SET; ALTER SYSTEM RESET ALL: "all" */
    int setting_reset;                   /* ALTER ROLE … RESET x, SET x TO DEFAULT */
    int restrict_;                       /* DROP … RESTRICT: written */
    int redacted;                        /* SHOW REDACTED CREATE */
    /* GRANT, REVOKE, ALTER DEFAULT PRIVILEGES */
    StrVec privileges;                   /* upper case: "SELECT", "USAGE", "ALL"; empty: roles are granted */
    int all_in;                          /* ON ALL TABLES [IN SCHEMA|DATABASE x, …]: kind is the object's, in_kind the container's (LK_NONE: everywhere) */
    LiveKind in_kind;
    LiveNames objects;                   /* GRANT … ON a, b; kind LK_TABLE when none is written, LK_SYSTEM: none */
    LiveNames containers;                /* … IN SCHEMA a.b, c */
    StrVec grantees;                     /* TO, FROM: roles; PUBLIC is "public" */
    int default_privileges, for_all_roles;
    StrVec for_roles;                    /* ALTER DEFAULT PRIVILEGES FOR ROLE a, b; empty and not for_all_roles: the current one */
    int replacement;                     /* CREATE REPLACEMENT MATERIALIZED VIEW r FOR from */
} LiveStmt;

/* A CREATE statement as Materialize keeps it: names as they are in `s` (resolved by the caller), options sorted by name, values quoted, "…;" at the end left out, IF NOT EXISTS
 * and OR REPLACE too; queries and expressions as written.  Redacted: literals become '<REDACTED>'; a secret's value is so in both.  Other statements are printed for tests and
 * messages, GRANT and SHOW not (empty). */
typedef enum { LIVE_TEXT_WHOLE, LIVE_TEXT_REDACTED } LiveTextHow;
Str sql_live_text(Arena *a, const Stmt *s, LiveTextHow how);
const LiveOption *live_option(const LiveOptions *o, const char *name);           /* NULL: not given */

#endif
