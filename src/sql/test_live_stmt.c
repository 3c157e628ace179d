/* SPDX-License-Identifier: Apache-2.0 */
/* test_live_stmt.c - the live side's statements: each of the guide and of the manual parses, prints normalised, and parses again to the same text; wrong ones say so, and where. */
#include "sql/live_stmt.h"
#include "sql/parse_int.h"
#include "test.h"

#include <stdio.h>

static Arena *arena;
static Error err;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroyp(&arena);
    return 0;
}

static Stmt *one(const char *sql)
{
    StmtVec v = {0};
    if (sql_parse(arena, DIALECT_POSTGRES, str_c(sql), &v, &err) != OK)
        print_error("%s\n  %s (position %d)\n", sql, err.message, err.position);
    assert_int_equal(v.n, 1);
    return v.p[0];
}

/* Text in, normalised text out, and that text stays as it is. */
static void is(const char *sql, const char *wanted)
{
    Str text = sql_live_text(arena, one(sql), LIVE_TEXT_WHOLE);

    assert_str(text, wanted);
    Str again = sql_live_text(arena, one(str_z(arena, text)), LIVE_TEXT_WHOLE);
    assert_str(again, wanted);
}

static void same(const char *sql) { is(sql, sql); }

static void fails_at(const char *sql, Status code, int position, const char *message)
{
    StmtVec v = {0};
    Status s = sql_parse(arena, DIALECT_POSTGRES, str_c(sql), &v, &err);

    if (s == OK)
        print_error("parsed: %s\n", sql);
    assert_status(s, code);
    assert_str(str_c(err.message), message);
    assert_int_equal(err.position, position);
}

/* ---- the guide ---------------------------------------------------------------------------------------------------------------------- */

static void guide(void **state)
{
    (void)state;
    is("CREATE CONNECTION aws_connection TO AWS (\n    ASSUME ROLE ARN = 'arn:aws:iam::1:role/r',\n    REGION = 'us-east-1'\n);",
       "CREATE CONNECTION aws_connection TO AWS (ASSUME ROLE ARN = 'arn:aws:iam::1:role/r', REGION = 'us-east-1')");
    is("CREATE CONNECTION iceberg_catalog_connection TO ICEBERG CATALOG (CATALOG TYPE = 'S3TablesRest', URL = 'https://x/iceberg', WAREHOUSE = 'arn', AWS CONNECTION = aws_connection);",
       "CREATE CONNECTION iceberg_catalog_connection TO ICEBERG CATALOG (AWS CONNECTION = aws_connection, CATALOG TYPE = 's3tablesrest', URL = 'https://x/iceberg', WAREHOUSE = 'arn')");
    is("CREATE SINK s IN CLUSTER c FROM m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE = 'n', TABLE = 't') KEY (id) MODE UPSERT WITH (COMMIT INTERVAL = '1m');",
       "CREATE SINK s IN CLUSTER c FROM m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE = 'n', TABLE = 't') KEY (id) MODE UPSERT WITH (COMMIT INTERVAL = '1m')");
    same("CREATE SINK s IN CLUSTER c FROM m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE = 'n', TABLE = 't') MODE APPEND WITH (COMMIT INTERVAL = '1m')");
    same("ALTER SINK s SET (COMMIT INTERVAL = '1m')");
    same("ALTER CLUSTER c SET (REPLICATION FACTOR = 0)");
    same("DROP CLUSTER REPLICA c.r");
    same("CREATE CLUSTER REPLICA c.r (SIZE = '25cc')");
}

static void guide_trees(void **state)
{
    (void)state;
    Stmt *s = one("CREATE SINK IF NOT EXISTS a.b.s IN CLUSTER c FROM x.m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE 'n', TABLE 't') USING AWS CONNECTION w KEY (id, \"K\") NOT ENFORCED "
                  "PARTITION BY (day(ts), bucket(16, id)) ORDER BY (ts DESC) MODE UPSERT WITH (SNAPSHOT false, COMMIT INTERVAL '10s')");
    LiveStmt *l = s->live;

    assert_int_equal(s->kind, ST_LIVE);
    assert_true(s->if_not_exists && l->verb == LV_CREATE && l->kind == LK_SINK);
    assert_str(str_join(arena, &s->name, S(".")), "a.b.s");
    assert_str(str_join(arena, &l->from, S(".")), "x.m");
    assert_str(l->type, "iceberg catalog");
    assert_str(l->connection.p[0], "i");
    assert_str(l->aws_connection.p[0], "w");
    assert_str(live_option(&l->options, "TABLE")->text, "t");
    assert_true(l->has_key && l->not_enforced && l->key.n == 2);
    assert_str(l->key.p[1], "K");
    assert_int_equal(l->partitions.n, 2);
    assert_int_equal(l->order.n, 1);
    assert_str(l->mode, "upsert");
    assert_int_equal(live_option(&l->with, "SNAPSHOT")->kind, OPT_BOOL);
    assert_str(live_option(&l->with, "COMMIT INTERVAL")->text, "10s");
    assert_null(live_option(&l->with, "VERSION"));
    assert_int_equal(one("CREATE SINK FROM m INTO ICEBERG CATALOG CONNECTION i (TABLE 't') MODE APPEND")->name.n, 0);
    assert_str(one("CREATE SINK s FROM m INTO ICEBERG CATALOG CONNECTION i (TABLE 't') ENVELOPE UPSERT")->live->envelope, "upsert");
}

/* ---- connections, secrets -------------------------------------------------------------------------------------------------------------- */

static void connections(void **state)
{
    (void)state;
    is("create secret if not exists s as 'x' || 'y'", "CREATE SECRET s AS '<REDACTED>'");
    assert_non_null(one("CREATE SECRET s AS decode('aGk=', 'base64')")->live->value);
    same("ALTER SECRET IF EXISTS a.s AS '<REDACTED>'");
    same("ALTER SECRET s RENAME TO t");
    same("ALTER SECRET s OWNER TO joe");
    same("DROP SECRET IF EXISTS s, a.b CASCADE");
    is("CREATE CONNECTION c TO AWS (ACCESS KEY ID = 'k', SECRET ACCESS KEY = SECRET s, SESSION TOKEN SECRET t, ENDPOINT 'minio:9000') WITH (VALIDATE = false)",
       "CREATE CONNECTION c TO AWS (ACCESS KEY ID = 'k', ENDPOINT = 'minio:9000', SECRET ACCESS KEY = SECRET s, SESSION TOKEN = SECRET t) WITH (VALIDATE = false)");
    is("CREATE CONNECTION c FOR AWS REGION 'r', ASSUME ROLE ARN 'a', ASSUME ROLE SESSION NAME 'n' WITH (VALIDATE)",
       "CREATE CONNECTION c TO AWS (ASSUME ROLE ARN = 'a', ASSUME ROLE SESSION NAME = 'n', REGION = 'r') WITH (VALIDATE)");
    is("CREATE CONNECTION materialize.public.sp TO ICEBERG CATALOG (URL = 'u', CATALOG TYPE = 'REST', WAREHOUSE = 'wh', CREDENTIAL = SECRET materialize.public.c, SCOPE 'x', "
       "OAUTH2 SERVER URL 'o', ACCESS DELEGATION 'vended-credentials', STORAGE PROVIDER 'gcs')",
       "CREATE CONNECTION materialize.public.sp TO ICEBERG CATALOG (ACCESS DELEGATION = 'vended-credentials', CATALOG TYPE = 'rest', CREDENTIAL = SECRET materialize.public.c, "
       "OAUTH2 SERVER URL = 'o', SCOPE = 'x', STORAGE PROVIDER = 'gcs', URL = 'u', WAREHOUSE = 'wh')");
    same("CREATE CONNECTION c TO GCP (SERVICE ACCOUNT KEY = SECRET s)");
    is("CREATE CONNECTION pg TO POSTGRES (HOST 'h', PORT 5432, USER postgres, PASSWORD SECRET p, SSL MODE 'require', SSL CERTIFICATE AUTHORITY SECRET ca, DATABASE 'postgres')",
       "CREATE CONNECTION pg TO POSTGRES (DATABASE = 'postgres', HOST = 'h', PASSWORD = SECRET p, PORT = 5432, SSL CERTIFICATE AUTHORITY = SECRET ca, SSL MODE = 'require', USER = postgres)");
    is("CREATE CONNECTION k TO KAFKA (BROKERS ('a:1', 'b:2' USING SSH TUNNEL t), PROGRESS TOPIC REPLICATION FACTOR 2, SASL MECHANISMS = 'PLAIN')",
       "CREATE CONNECTION k TO KAFKA (BROKERS = ('a:1', 'b:2' USING SSH TUNNEL t), PROGRESS TOPIC REPLICATION FACTOR = 2, SASL MECHANISMS = 'PLAIN')");
    same("CREATE CONNECTION k TO KAFKA (BROKER = 'a:1' USING AWS PRIVATELINK p (AVAILABILITY ZONE = 'z', PORT = 9092))");
    same("CREATE CONNECTION c TO CONFLUENT SCHEMA REGISTRY (PASSWORD = SECRET p, URL = 'u', USER = 'x')");
    same("CREATE CONNECTION t TO SSH TUNNEL (HOST = 'h', PORT = 22, USER = 'u')");
    is("CREATE CONNECTION p TO AWS PRIVATELINK (SERVICE NAME 's', AVAILABILITY ZONES ('a', 'b'))", "CREATE CONNECTION p TO AWS PRIVATELINK (AVAILABILITY ZONES = ('a', 'b'), SERVICE NAME = 's')");
    same("CREATE CONNECTION p TO AWS (CATALOG TYPE = 'x')");       /* the planner's matter */
    is("ALTER CONNECTION c SET (HOST 'x', PORT 1), RESET (USER, DATABASE) WITH (VALIDATE = true)", "ALTER CONNECTION c SET (HOST = 'x', PORT = 1), RESET (USER, DATABASE) WITH (VALIDATE = true)");
    is("ALTER CONNECTION c DROP (SSL KEY)", "ALTER CONNECTION c RESET (SSL KEY)");
    same("ALTER CONNECTION c ROTATE KEYS");
    same("VALIDATE CONNECTION a.b.c");
}

static void redaction(void **state)
{
    (void)state;
    assert_str(sql_live_text(arena, one("CREATE CONNECTION c TO AWS (ACCESS KEY ID = 'k', SECRET ACCESS KEY = SECRET s)"), LIVE_TEXT_REDACTED),
               "CREATE CONNECTION c TO AWS (ACCESS KEY ID = '<REDACTED>', SECRET ACCESS KEY = SECRET s)");
    assert_str(sql_live_text(arena, one("CREATE VIEW v AS SELECT a + 1, 'x' FROM t"), LIVE_TEXT_REDACTED), "CREATE VIEW v AS SELECT a + '<REDACTED>', '<REDACTED>' FROM t");
}

static void wrong_connections(void **state)
{
    (void)state;
    fails_at("CREATE CONNECTION c TO AWS ()", E_SYNTAX, 29, "syntax error at or near \")\"");
    fails_at("CREATE CONNECTION c TO AWS (REGIN = 'x')", E_SYNTAX, 29, "syntax error at or near \"REGIN\"");
    fails_at("CREATE CONNECTION c TO AWS (REGION = )", E_SYNTAX, 38, "syntax error at or near \")\"");
    fails_at("CREATE CONNECTION c TO AWS (REGION = 'x',)", E_SYNTAX, 42, "syntax error at or near \")\"");
    fails_at("CREATE CONNECTION c TO AWS (REGION 'x', ENDPOINT 'y', REGION 'z')", E_INVALID, 55, "REGION specified more than once");
    fails_at("CREATE CONNECTION c TO NOWHERE (A 1)", E_SYNTAX, 24, "syntax error at or near \"NOWHERE\"");
    fails_at("CREATE OR REPLACE SECRET s AS 'x'", E_SYNTAX, 19, "syntax error at or near \"SECRET\"");
    fails_at("CREATE SECRET s", E_SYNTAX, 16, "syntax error at end of input");
    fails_at("VALIDATE SINK s", E_SYNTAX, 10, "syntax error at or near \"SINK\"");
    fails_at("ALTER CONNECTION c", E_SYNTAX, 19, "syntax error at end of input");
}

/* ---- sinks, sources ----------------------------------------------------------------------------------------------------------------------- */

static void sinks(void **state)
{
    (void)state;
    same("CREATE SINK a.b.s FROM materialize.public.m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE = 'n', TABLE = 't') USING AWS CONNECTION w KEY (id, \"K\") NOT ENFORCED "
         "PARTITION BY (day(ts), bucket(16, id), region) ORDER BY (ts DESC, id) MODE UPSERT WITH (COMMIT INTERVAL = '10s', SNAPSHOT = false)");
    same("CREATE SINK k FROM m INTO KAFKA CONNECTION c (TOPIC = 't') KEY (id) FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION r ENVELOPE UPSERT");
    same("CREATE SINK k FROM m INTO KAFKA CONNECTION c (TOPIC = 't') KEY (id) HEADERS h KEY FORMAT TEXT VALUE FORMAT JSON ENVELOPE DEBEZIUM WITH (SNAPSHOT = true)");
    same("CREATE SINK IN CLUSTER c FROM m INTO ICEBERG CATALOG CONNECTION i (TABLE = 't')");
    same("ALTER SINK IF EXISTS s RESET (COMMIT INTERVAL)");
    same("ALTER SINK s SET FROM a.b");
    same("DROP SINK IF EXISTS a, b CASCADE");
    same("ALTER SINK s OWNER TO r");
    fails_at("CREATE SINK s FROM m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE 'n') MODE REPLACE", E_SYNTAX, 77, "syntax error at or near \"REPLACE\"");
    fails_at("CREATE SINK s FROM m INTO ICEBERG CATALOG CONNECTION i (NAMESPACE 'n') MODE APPEND MODE APPEND", E_SYNTAX, 84, "syntax error at or near \"MODE\"");
    fails_at("CREATE SINK s FROM m INTO ICEBERG CATALOG CONNECTION i (TOPIC 'n')", E_SYNTAX, 57, "syntax error at or near \"TOPIC\"");
    fails_at("CREATE SINK s FROM m", E_SYNTAX, 21, "syntax error at end of input");
    fails_at("CREATE SINK s FROM m INTO ICEBERG CATALOG CONNECTION i (TABLE 't') KEY ()", E_SYNTAX, 73, "syntax error at or near \")\"");
}

static void sources(void **state)
{
    (void)state;
    is("CREATE SOURCE s FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s', UP TO 10)", "CREATE SOURCE s FROM LOAD GENERATOR COUNTER (TICK INTERVAL = '1s', UP TO = 10)");
    is("CREATE SOURCE s IN CLUSTER c FROM LOAD GENERATOR KEY VALUE (KEYS 100, AS OF 5, TRANSACTIONAL SNAPSHOT false) EXPOSE PROGRESS AS p WITH (RETAIN HISTORY FOR '1h')",
       "CREATE SOURCE s IN CLUSTER c FROM LOAD GENERATOR KEY VALUE (AS OF = 5, KEYS = 100, TRANSACTIONAL SNAPSHOT = false) EXPOSE PROGRESS AS p WITH (RETAIN HISTORY = FOR '1h')");
    same("CREATE SOURCE s FROM LOAD GENERATOR AUCTION FOR ALL TABLES");
    same("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION = 'p', TEXT COLUMNS = (a.b, c)) FOR TABLES (public.t AS t2, x)");
    same("CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION = 'p') FOR SCHEMAS (a, b)");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (START OFFSET = (0, 10), TOPIC = 't') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION r ENVELOPE DEBEZIUM");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (START TIMESTAMP = -60000, TOPIC = 't') KEY FORMAT TEXT VALUE FORMAT JSON INCLUDE KEY AS k, PARTITION, OFFSET, TIMESTAMP AS ts, HEADERS, "
         "HEADER 'c_id' AS client_id, HEADER 'raw' AS r BYTES ENVELOPE UPSERT (VALUE DECODING ERRORS = (INLINE AS e))");
    is("CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC 't') FORMAT BYTES ENVELOPE UPSERT (VALUE DECODING ERRORS INLINE)",
       "CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT BYTES ENVELOPE UPSERT (VALUE DECODING ERRORS = (INLINE AS error))");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT CSV WITH 3 COLUMNS DELIMITED BY ';'");
    same("CREATE SOURCE s (a, b) FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT CSV WITH HEADER (a, b) ENVELOPE NONE");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT PROTOBUF MESSAGE 'm' USING SCHEMA 's'");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT AVRO USING SCHEMA '{}' (CONFLUENT WIRE FORMAT = false)");
    same("CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC = 't') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION r KEY STRATEGY ID 3 VALUE STRATEGY LATEST SEED KEY SCHEMA 'a' VALUE SCHEMA 'b'");
    same("CREATE SOURCE s FROM WEBHOOK BODY FORMAT JSON");
    same("CREATE SOURCE s IN CLUSTER c FROM WEBHOOK BODY FORMAT JSON ARRAY INCLUDE HEADERS (NOT 'authorization', 'x') INCLUDE HEADER 'ts' AS ts BYTES "
         "CHECK (WITH (HEADERS, BODY AS b BYTES, SECRET w AS s BYTES) decode(headers->'x', 'base64') = hmac(b, s, 'sha256'))");
    same("CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION c (NAMESPACE = 'n', TABLE = 't')");
    same("CREATE TABLE t FROM SOURCE s (REFERENCE = public.x) WITH (TEXT COLUMNS = (a, b))");
    is("CREATE TABLE t (a, b) FROM SOURCE s (REFERENCE \"x.y\") FORMAT JSON INCLUDE KEY ENVELOPE NONE", "CREATE TABLE t (a, b) FROM SOURCE s (REFERENCE = \"x.y\") FORMAT JSON INCLUDE KEY ENVELOPE NONE");
    same("CREATE TABLE t FROM WEBHOOK BODY FORMAT TEXT");
    same("ALTER SOURCE s ADD SUBSOURCE a.b AS c, d WITH (TEXT COLUMNS = (x))");
    same("ALTER SOURCE s DROP SUBSOURCE c, d CASCADE");
    same("ALTER SOURCE s SET (RETAIN HISTORY = FOR '1h')");
    same("ALTER SOURCE s RENAME TO t");
    same("DROP SOURCE s CASCADE");
    fails_at("CREATE SOURCE s FROM LOAD GENERATOR NOTHING", E_SYNTAX, 37, "syntax error at or near \"NOTHING\"");
    fails_at("CREATE SOURCE s FROM WEBHOOK BODY FORMAT XML", E_SYNTAX, 42, "syntax error at or near \"XML\"");
    fails_at("CREATE SOURCE s", E_SYNTAX, 16, "syntax error at end of input");
}

/* ---- clusters and the rest -------------------------------------------------------------------------------------------------------------------- */

static void clusters(void **state)
{
    (void)state;
    is("CREATE CLUSTER c SIZE '25cc', REPLICATION FACTOR 2", "CREATE CLUSTER c (REPLICATION FACTOR = 2, SIZE = '25cc')");
    same("CREATE CLUSTER c (AVAILABILITY ZONES = ('a', 'b'), INTROSPECTION INTERVAL = '1s', MANAGED = true, SCHEDULE = MANUAL, SIZE = '25cc', WORKLOAD CLASS = 'w')");
    same("CREATE CLUSTER c (SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = '1h'), SIZE = '25cc')");
    is("CREATE CLUSTER c REPLICAS (r1 (SIZE '25cc'), r2 (SIZE = '50cc', AVAILABILITY ZONE 'z'))", "CREATE CLUSTER c (REPLICAS (r1 (SIZE = '25cc'), r2 (AVAILABILITY ZONE = 'z', SIZE = '50cc')))");
    is("CREATE CLUSTER c REPLICAS ()", "CREATE CLUSTER c (REPLICAS ())");
    same("ALTER CLUSTER IF EXISTS c SET (SIZE = '50cc') WITH (WAIT = UNTIL READY (ON TIMEOUT = commit, TIMEOUT = '10s'))");
    is("ALTER CLUSTER c SET (SIZE '1') WITH (WAIT FOR '1s')", "ALTER CLUSTER c SET (SIZE = '1') WITH (WAIT = FOR '1s')");
    same("ALTER CLUSTER c RESET (REPLICATION FACTOR, MANAGED)");
    same("ALTER CLUSTER a SWAP WITH b");
    same("ALTER CLUSTER a RENAME TO b");
    same("ALTER CLUSTER REPLICA c.r RENAME TO q");
    same("DROP CLUSTER IF EXISTS a, b CASCADE");
    is("CREATE INDEX ON t (a, lower(b))", "CREATE INDEX ON t (a, lower(b))");
    same("CREATE INDEX i IN CLUSTER c ON a.t (a) WITH (RETAIN HISTORY = FOR '1h')");
    is("CREATE INDEX i ON t USING ARRANGEMENT (a)", "CREATE INDEX i ON t (a)");
    same("CREATE DEFAULT INDEX IN CLUSTER c ON t");
    same("ALTER INDEX i SET (RETAIN HISTORY = FOR '1h')");
    same("ALTER INDEX i RESET (RETAIN HISTORY)");
    same("CREATE ROLE joe INHERIT LOGIN");
    is("CREATE ROLE joe WITH LOGIN PASSWORD 'x' SUPERUSER", "CREATE ROLE joe LOGIN PASSWORD '<REDACTED>' SUPERUSER");
    same("ALTER ROLE joe NOINHERIT");
    is("ALTER ROLE joe SET cluster TO quick", "ALTER ROLE joe SET cluster = 'quick'");
    same("ALTER ROLE joe RESET cluster");
    same("DROP ROLE IF EXISTS joe, jane");
    same("ALTER SYSTEM SET max_sinks = '5'");
    same("ALTER SYSTEM RESET ALL");
    same("CREATE TYPE t AS LIST (ELEMENT TYPE = integer)");
    same("CREATE TYPE t AS MAP (KEY TYPE = text, VALUE TYPE = a.b)");
    same("CREATE TYPE t AS (a integer, b text)");
    same("CREATE DATABASE d");
    same("CREATE SCHEMA d.s");
    same("ALTER SCHEMA d.s RENAME TO x");
    same("ALTER SCHEMA s SWAP WITH x");
    same("ALTER DATABASE d OWNER TO r");
    same("DROP DATABASE IF EXISTS d CASCADE");
    fails_at("CREATE CLUSTER c", E_SYNTAX, 17, "syntax error at end of input");
    fails_at("CREATE CLUSTER REPLICA c (SIZE '1')", E_SYNTAX, 26, "syntax error at or near \"(\"");
    fails_at("CREATE CLUSTER c (SIZE '1', SIZE '2')", E_INVALID, 29, "SIZE specified more than once");
    fails_at("CREATE DEFAULT INDEX ON t (a)", E_SYNTAX, 27, "syntax error at or near \"(\"");
    fails_at("ALTER CLUSTER c SET (SIZE '1') WITH (WAIT UNTIL LATER ())", E_SYNTAX, 49, "syntax error at or near \"LATER\"");
}

static void relations(void **state)
{
    (void)state;
    same("CREATE TABLE a.t (a integer NOT NULL, b text DEFAULT 'x', c numeric(10,2)) WITH (RETAIN HISTORY = FOR '1h')");
    is("CREATE TABLE t (a int) WITH (PARTITION BY (a))", "CREATE TABLE t (a integer) WITH (PARTITION BY = (a))");
    same("CREATE TEMPORARY TABLE t (a integer)");
    same("CREATE VIEW v (a, b) AS SELECT 1, 2");
    same("CREATE MATERIALIZED VIEW m (a) IN CLUSTER c WITH (ASSERT NOT NULL = a, ASSERT NOT NULL = b, REFRESH = EVERY '1 day' ALIGNED TO '2024-01-01', REFRESH = AT CREATION) AS SELECT 1");
    is("CREATE MATERIALIZED VIEW m WITH (REFRESH ON COMMIT, RETAIN HISTORY FOR '1h', ASSERT NOT NULL a) AS SELECT 1",
       "CREATE MATERIALIZED VIEW m WITH (ASSERT NOT NULL = a, REFRESH = ON COMMIT, RETAIN HISTORY = FOR '1h') AS SELECT 1");
    is("CREATE MATERIALIZED VIEW m WITH (REFRESH = AT mz_now()::text::int8 + 2) AS SELECT 1", "CREATE MATERIALIZED VIEW m WITH (REFRESH = AT mz_now()::text::int8 + 2) AS SELECT 1");
    same("CREATE REPLACEMENT MATERIALIZED VIEW r FOR a.m IN CLUSTER c AS SELECT 1");
    same("ALTER MATERIALIZED VIEW m APPLY REPLACEMENT r");
    same("ALTER MATERIALIZED VIEW m SET CLUSTER c");
    same("ALTER MATERIALIZED VIEW m SET (RETAIN HISTORY = FOR '1h')");
    same("ALTER MATERIALIZED VIEW m RENAME TO n");
    same("ALTER MATERIALIZED VIEW m OWNER TO r");
    same("ALTER TABLE t RESET (RETAIN HISTORY)");
    same("ALTER TABLE t RENAME TO u");
    same("ALTER TABLE t OWNER TO r");
    same("ALTER TABLE t SET SCHEMA s");
    is("ALTER TABLE t ADD COLUMN c int", "ALTER TABLE t ADD COLUMN (c integer)");
    same("ALTER VIEW v RENAME TO w");
    same("DROP TABLE a, b");
    same("DROP VIEW IF EXISTS a CASCADE");
    same("DROP MATERIALIZED VIEW a, b.c");
    Stmt *s = one("ALTER TABLE t RENAME TO u");
    assert_int_equal(s->kind, ST_ALTER_TABLE);              /* the lake has it, too */
    assert_int_equal(s->actions.n, 1);
    assert_int_equal(s->live->alter, ALTER_RENAME);
    s = one("CREATE MATERIALIZED VIEW m WITH (REFRESH EVERY '1h' ALIGNED TO now()) AS SELECT 1");
    const LiveOption *o = live_option(&s->live->with, "REFRESH");
    assert_int_equal(o->kind, OPT_GROUP);
    assert_str(o->text, "EVERY");
    assert_int_equal(o->list.n, 2);
    assert_non_null(o->list.p[1].expr);
    assert_int_equal(one("CREATE TABLE t (a int) WITH ('format' = 'parquet')")->props.n, 1);
}

static void rights(void **state)
{
    (void)state;
    is("GRANT SELECT, INSERT ON TABLE a.t, u TO joe, jane", "GRANT SELECT, INSERT ON TABLE a.t, u TO joe, jane");
    is("GRANT ALL PRIVILEGES ON t TO GROUP joe", "GRANT ALL ON TABLE t TO joe");
    same("GRANT USAGE ON CLUSTER c TO public");
    same("GRANT CREATE ON SCHEMA a.b TO joe");
    same("GRANT CREATEROLE, CREATECLUSTER ON SYSTEM TO joe");
    same("GRANT SELECT ON ALL TABLES IN SCHEMA a.b, c TO joe");
    same("REVOKE USAGE ON ALL SECRETS IN DATABASE d FROM joe");
    same("GRANT USAGE ON ALL CLUSTERS TO joe");
    same("GRANT admin, dev TO joe");
    same("REVOKE admin FROM joe");
    same("ALTER DEFAULT PRIVILEGES FOR ROLE joe IN SCHEMA a GRANT SELECT ON TABLES TO jane");
    same("ALTER DEFAULT PRIVILEGES FOR ALL ROLES REVOKE ALL ON CONNECTIONS FROM public");
    same("REASSIGN OWNED BY a, b TO c");
    same("DROP OWNED BY a, b CASCADE");
    Stmt *s = one("GRANT SELECT ON ALL TABLES IN SCHEMA s TO joe");
    assert_int_equal(s->kind, ST_GRANT);
    assert_true(s->live->all_in && s->live->kind == LK_TABLE && s->live->in_kind == LK_SCHEMA && s->live->containers.n == 1);
    fails_at("GRANT FLY ON t TO joe", E_SYNTAX, 7, "syntax error at or near \"FLY\"");
    fails_at("GRANT SELECT ON ALL THINGS TO joe", E_SYNTAX, 21, "syntax error at or near \"THINGS\"");
    fails_at("REVOKE SELECT ON t TO joe", E_SYNTAX, 20, "syntax error at or near \"TO\"");
}

static void comments(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "TABLE", "VIEW", "MATERIALIZED VIEW", "SOURCE", "SINK", "INDEX", "SECRET", "CONNECTION", "CLUSTER", "CLUSTER REPLICA", "ROLE", "TYPE",
                                         "SCHEMA", "DATABASE" };
    for (size_t i = 0; i < COUNT_OF(KINDS); i++) {
        same(str_fmt(arena, "COMMENT ON %s a.b IS 'it''s'", KINDS[i]).p);
        same(str_fmt(arena, "COMMENT ON %s a IS NULL", KINDS[i]).p);
    }
    same("COMMENT ON COLUMN a.t.c IS 'x'");
    assert_str(one("COMMENT ON COLUMN a.t.c IS 'x'")->live->to.p[0], "c");
    fails_at("COMMENT ON THING a IS 'x'", E_SYNTAX, 12, "syntax error at or near \"THING\"");
}

/* ---- SHOW, EXPLAIN, AS OF ---------------------------------------------------------------------------------------------------------------------- */

static void shows(void **state)
{
    (void)state;
    static const struct { const char *sql, *what; } ALL[] = {
        { "SHOW SECRETS FROM s LIKE 'a%'", "secrets" }, { "SHOW CONNECTIONS", "connections" }, { "SHOW SINKS FROM s IN CLUSTER c", "sinks" }, { "SHOW SOURCES IN CLUSTER c", "sources" },
        { "SHOW SUBSOURCES ON s", "subsources" }, { "SHOW CLUSTERS LIKE 'q%'", "clusters" }, { "SHOW CLUSTER REPLICAS WHERE cluster = 'c'", "cluster replicas" },
        { "SHOW INDEXES ON t", "indexes" }, { "SHOW ROLES", "roles" }, { "SHOW TYPES", "types" }, { "SHOW OBJECTS FROM s", "objects" }, { "SHOW DATABASES", "namespaces" },
        { "SHOW SCHEMAS FROM d", "namespaces" }, { "SHOW FULL TABLES FROM s", "tables" }, { "SHOW MATERIALIZED VIEWS IN CLUSTER c", "materialized views" },
        { "SHOW PRIVILEGES ON TABLES FOR joe", "privileges" }, { "SHOW ROLE MEMBERSHIP FOR joe", "role membership" }, { "SHOW DEFAULT PRIVILEGES", "default privileges" },
        { "SHOW CREATE SINK s", "create" }, { "SHOW CREATE TABLE s", "create table" }, { "SHOW CREATE MATERIALIZED VIEW s", "create materialized view" },
        { "SHOW COLUMNS FROM t LIKE 'x'", "columns" },
    };

    for (size_t i = 0; i < COUNT_OF(ALL); i++) {
        Stmt *s = one(ALL[i].sql);
        assert_int_equal(s->kind, ST_SHOW);
        assert_str(s->what, ALL[i].what);
    }
    Stmt *s = one("SHOW SINKS FROM s IN CLUSTER c WHERE type = 'iceberg'");
    assert_str(s->name.p[0], "s");
    assert_str(s->live->cluster.p[0], "c");
    assert_non_null(s->where);
    assert_int_equal(one("SHOW DATABASES")->live->kind, LK_DATABASE);
    s = one("SHOW REDACTED CREATE CONNECTION c");
    assert_true(s->live->redacted && s->live->kind == LK_CONNECTION);
    assert_str(one("SHOW cluster")->setting, "cluster");
    assert_str(one("SHOW database")->setting, "database");
    assert_int_equal(one("SHOW TRANSACTION ISOLATION LEVEL")->kind, ST_SHOW_SETTING);
}

static void explains(void **state)
{
    (void)state;
    Stmt *s = one("EXPLAIN OPTIMIZED PLAN WITH (arity, join implementations) AS TEXT FOR SELECT 1");
    assert_str(s->what, "optimized plan");
    assert_int_equal(s->live->with.n, 2);
    assert_int_equal(s->inner->kind, ST_QUERY);
    s = one("EXPLAIN MATERIALIZED VIEW a.m");
    assert_null(s->inner);
    assert_int_equal(s->live->kind, LK_MVIEW);
    assert_str(one("EXPLAIN TIMESTAMP FOR SELECT 1")->what, "timestamp");
    assert_str(one("EXPLAIN PHYSICAL PLAN FOR INDEX i")->what, "physical plan");
    assert_str(one("EXPLAIN FILTER PUSHDOWN FOR SELECT 1")->what, "filter pushdown");
    assert_str(one("EXPLAIN ANALYZE CPU, MEMORY WITH SKEW FOR INDEX i")->what, "analyze cpu, memory");
    assert_int_equal(one("EXPLAIN CREATE MATERIALIZED VIEW m AS SELECT 1")->inner->kind, ST_CREATE_MV);
    assert_int_equal(one("EXPLAIN ANALYZE SELECT 1")->analyze, 1);
}

static void as_of(void **state)
{
    (void)state;
    Stmt *s = one("SELECT * FROM t AS OF 12345");
    assert_true(s->as_of.has && s->as_of.timestamp && !s->as_of.branch.n);
    s = one("SELECT * FROM t x WHERE a = 1 ORDER BY a LIMIT 2 AS OF AT LEAST mz_now()");
    assert_str(s->as_of.branch, "at least");
    assert_false(one("SELECT 1 AS of FROM t")->as_of.has);
    assert_int_equal(one("BEGIN ISOLATION LEVEL STRICT SERIALIZABLE READ ONLY")->kind, ST_BEGIN);
    assert_int_equal(one("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")->kind, ST_NOOP);
    assert_str(one("SET CLUSTER = c")->setting_value, "c");
}

static void copies(void **state)
{
    (void)state;
    Stmt *s = one("COPY INTO t (a, b) FROM 's3://b/dir' (FORMAT PARQUET, AWS CONNECTION = m.public.c, FILES = ['x', 'y/z'])");
    assert_int_equal(s->kind, ST_COPY);
    assert_str(s->what, "from");
    assert_str(s->location, "s3://b/dir");
    assert_int_equal(s->column_names.n, 2);
    assert_str(live_option(&s->live->options, "FORMAT")->text, "parquet");
    assert_int_equal(live_option(&s->live->options, "AWS CONNECTION")->names.n, 3);
    assert_int_equal(live_option(&s->live->options, "FILES")->list.n, 2);
    s = one("COPY t FROM 's3://b' WITH (AWS CONNECTION c, FORMAT = 'csv', HEADER, NULL 'x', DELIMITER = '|', PATTERN '*.csv')");
    assert_str(live_option(&s->live->options, "NULL")->text, "x");
    assert_int_equal(live_option(&s->live->options, "HEADER")->kind, OPT_NONE);
    assert_int_equal(one("COPY INTO t FROM STDIN")->location.n, 0);
    fails_at("COPY t FROM '/etc/passwd' (FORMAT CSV)", E_DENIED, 13, "COPY reads and writes only STDIN and STDOUT");
    fails_at("COPY t FROM 'file:///etc/passwd' (FORMAT CSV)", E_DENIED, 13, "COPY reads and writes only STDIN and STDOUT");
    fails_at("COPY t TO 's3://b/x' (FORMAT CSV)", E_DENIED, 11, "COPY reads and writes only STDIN and STDOUT");
    fails_at("COPY t FROM 's3://b/x'", E_SYNTAX, 23, "syntax error at end of input");
    fails_at("COPY (SELECT 1) FROM 's3://b/x' (FORMAT CSV)", E_SYNTAX, 22, "syntax error at or near \"'s3://b/x'\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guide), cmocka_unit_test(guide_trees), cmocka_unit_test(connections), cmocka_unit_test(redaction), cmocka_unit_test(wrong_connections),
        cmocka_unit_test(sinks), cmocka_unit_test(sources), cmocka_unit_test(clusters), cmocka_unit_test(relations), cmocka_unit_test(rights), cmocka_unit_test(comments),
        cmocka_unit_test(shows), cmocka_unit_test(explains), cmocka_unit_test(as_of), cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
