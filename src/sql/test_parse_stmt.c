/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse_stmt.c - statements: what each becomes, what is refused and how, limits, positions. */
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

static Stmt *one(Dialect d, const char *sql)
{
    StmtVec v = {0};
    assert_ok(sql_parse(arena, d, str_c(sql), &v, &err), &err);
    assert_int_equal(v.n, 1);
    return v.p[0];
}

static Stmt *spark(const char *sql) { return one(DIALECT_SPARK, sql); }
static Stmt *postgres(const char *sql) { return one(DIALECT_POSTGRES, sql); }

static Status fails(Dialect d, const char *sql)
{
    StmtVec v = {0};
    Status s = sql_parse(arena, d, str_c(sql), &v, &err);
    if (s == OK)
        print_error("parsed: %s\n", sql);
    return s;
}

static Str joined(const StrVec *v) { return str_join(arena, v, S(".")); }

/* ---- materialized views ------------------------------------------------------------------------------------------- */

static void create_mv(void **state)
{
    (void)state;
    Stmt *s = spark("CREATE OR REPLACE MANAGED MATERIALIZED VIEW c.n.v SCHEDULE REFRESH EVERY 10 MINUTES COMMENT 'it''s' LOCATION 's3://b/x' "
                    "PARTITIONED BY (region, bucket(16, id)) TBLPROPERTIES ('a' = 'b', c.d = 1) AS  SELECT 1 AS id, 2 AS region -- end\n ;");
    assert_int_equal(s->kind, ST_CREATE_MV);
    assert_true(s->or_replace && s->managed && !s->if_not_exists);
    assert_str(joined(&s->name), "c.n.v");
    assert_int_equal(s->schedule.seconds, 600);
    assert_str(s->comment, "it's");
    assert_str(s->location, "s3://b/x");
    assert_int_equal(s->partitions.n, 2);
    assert_str(s->partitions.p[0].transform, "identity");
    assert_str(s->partitions.p[1].transform, "bucket");
    assert_int_equal(s->partitions.p[1].width, 16);
    assert_str(s->partitions.p[1].column, "id");
    assert_str(props_get(&s->props, S("c.d"), S("")), "1");
    assert_str(s->query_text, "SELECT 1 AS id, 2 AS region");
    assert_int_equal(s->query->select->items.n, 2);
    s = spark("create materialized view if not exists c.n.v schedule every 2 weeks as select * from c.n.t");
    assert_true(s->if_not_exists && !s->managed);
    assert_int_equal(s->schedule.seconds, 1209600);
    assert_status(fails(DIALECT_SPARK, "CREATE MATERIALIZED VIEW v COMMENT 'a' COMMENT 'b' AS SELECT 1"), E_INVALID);
    assert_int_equal(err.position, 40);
    assert_status(fails(DIALECT_SPARK, "CREATE MATERIALIZED VIEW v SCHEDULE EVERY 0 HOURS AS SELECT 1"), E_INVALID);
    assert_status(fails(DIALECT_SPARK, "CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT 1"), E_SYNTAX);
    assert_status(fails(DIALECT_SPARK, "CREATE MANAGED TABLE v AS SELECT 1"), E_SYNTAX);
}

static void other_mv(void **state)
{
    (void)state;
    Stmt *s = spark("REFRESH MATERIALIZED VIEW c.n.v FULL");
    assert_int_equal(s->kind, ST_REFRESH_MV);
    assert_true(s->full);
    assert_false(spark("REFRESH MATERIALIZED VIEW c.n.v")->full);
    s = spark("ALTER MATERIALIZED VIEW c.n.v ADD SCHEDULE REFRESH EVERY 1 HOUR");
    assert_int_equal(s->kind, ST_ALTER_MV);
    assert_int_equal(s->schedule.seconds, 3600);
    assert_true(spark("ALTER MATERIALIZED VIEW v DROP SCHEDULE")->schedule_drop);
    s = spark("ALTER MATERIALIZED VIEW c.n.v RENAME TO c.n.w");
    assert_int_equal(s->actions.p[0].kind, AT_RENAME);
    assert_str(joined(&s->actions.p[0].new_name), "c.n.w");
    s = spark("ALTER MATERIALIZED VIEW v SET TBLPROPERTIES ('k' = 'v')");
    assert_int_equal(s->actions.p[0].kind, AT_SET_PROPS);
    assert_true(spark("DROP MATERIALIZED VIEW IF EXISTS v")->if_exists);
    assert_status(fails(DIALECT_SPARK, "ALTER MATERIALIZED VIEW v ADD COLUMN x int"), E_SYNTAX);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------- */

static void create_table(void **state)
{
    (void)state;
    Stmt *s = spark("CREATE TABLE IF NOT EXISTS c.n.t (id BIGINT NOT NULL COMMENT 'key', d DECIMAL(10,2) DEFAULT 1.5, s STRUCT<a: INT, b: ARRAY<STRING>>) "
                    "USING iceberg PARTITIONED BY (years(ts), truncate(4, x.y)) TBLPROPERTIES ('format-version'='2')");
    assert_int_equal(s->kind, ST_CREATE_TABLE);
    assert_int_equal(s->columns.n, 3);
    assert_true(s->columns.p[0].not_null);
    assert_str(s->columns.p[0].comment, "key");
    assert_non_null(s->columns.p[1].default_);
    assert_str(sql_type_name(arena, DIALECT_SPARK, &s->columns.p[2].type), "struct<a:int,b:array<string>>");
    assert_str(s->provider, "iceberg");
    assert_str(s->partitions.p[0].transform, "year");
    assert_str(s->partitions.p[1].column, "x.y");
    assert_str(props_get(&s->props, S("format-version"), S("")), "2");
    s = spark("CREATE OR REPLACE TABLE t USING iceberg AS SELECT 1 AS x");
    assert_true(s->or_replace && s->query);
    assert_str(s->query_text, "SELECT 1 AS x");
    s = spark("REPLACE TABLE t AS SELECT 1 AS x");
    assert_true(s->or_replace && s->if_exists);
    assert_str(joined(&spark("CREATE TABLE a LIKE b.c")->target), "b.c");
    assert_status(fails(DIALECT_SPARK, "CREATE TABLE t (a INT PRIMARY KEY)"), E_UNSUPPORTED);
    assert_status(fails(DIALECT_SPARK, "CREATE TABLE t (a DECIMAL(39,0))"), E_INVALID);
    assert_status(fails(DIALECT_SPARK, "CREATE TABLE t (a INT) PARTITIONED BY (p INT)"), E_UNSUPPORTED);
    assert_status(fails(DIALECT_SPARK, "CREATE TABLE t (a INT) TBLPROPERTIES ('a'='1', 'a'='2')"), E_INVALID);
    s = postgres("CREATE TEMP TABLE t (a int4 NOT NULL, b text[], c varchar(5)) WITH (x = 1)");
    assert_true(s->temporary && s->columns.n == 3);
    assert_int_equal(s->columns.p[1].type.kind, DT_LIST);
}

static const AlterAction *action(const char *sql, AlterKind kind)
{
    Stmt *s = spark(sql);
    assert_int_equal(s->kind, ST_ALTER_TABLE);
    assert_int_equal(s->actions.p[0].kind, kind);
    return &s->actions.p[0];
}

static void alter_table(void **state)
{
    (void)state;
    Stmt *s = spark("ALTER TABLE t ADD COLUMNS (a STRING, b INT COMMENT 'x' FIRST, p.q DOUBLE AFTER r)");
    assert_int_equal(s->actions.n, 2);
    assert_int_equal(s->actions.p[0].columns.n, 2);
    assert_true(s->actions.p[0].columns.p[1].first);
    assert_str(joined(&s->actions.p[1].path), "p");
    assert_str(s->actions.p[1].columns.p[0].name, "q");
    assert_str(s->actions.p[1].columns.p[0].after, "r");
    assert_int_equal(spark("ALTER TABLE t DROP COLUMNS (a, b.c)")->actions.n, 2);
    const AlterAction *x = action("ALTER TABLE t RENAME COLUMN a.b TO c", AT_RENAME_COLUMN);
    assert_str(joined(&x->path), "a.b");
    assert_str(joined(&x->new_name), "c");
    x = action("ALTER TABLE t ALTER COLUMN a TYPE bigint", AT_ALTER_COLUMN);
    assert_true(x->set_type && !x->set_comment);
    assert_int_equal(x->columns.p[0].type.kind, DT_INT64);
    assert_true(action("ALTER TABLE t ALTER COLUMN a DROP NOT NULL", AT_ALTER_COLUMN)->drop_not_null);
    x = action("ALTER TABLE t ADD PARTITION FIELD bucket(8, id) AS shard", AT_ADD_PARTITION);
    assert_str(x->partitions.p[0].alias, "shard");
    assert_int_equal(action("ALTER TABLE t REPLACE PARTITION FIELD d WITH hours(ts)", AT_REPLACE_PARTITION)->partitions.n, 2);
    x = action("ALTER TABLE t WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY (a, b)", AT_WRITE_ORDER);
    assert_int_equal(x->order.n, 2);
    assert_str(props_get(&x->props, S("write.distribution-mode"), S("")), "hash");
    x = action("ALTER TABLE t CREATE OR REPLACE BRANCH b AS OF VERSION 5 RETAIN 7 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS 2 DAYS", AT_CREATE_REF);
    assert_true(x->replace && x->version.v == 5 && x->retain_ms.v == 7 * 86400000LL && x->min_snapshots.v == 3);
    assert_int_equal(x->snapshot_retain_ms.v, 2 * 86400000LL);
    assert_str(x->ref_kind, "branch");
    assert_str(action("ALTER TABLE t DROP TAG IF EXISTS x", AT_DROP_REF)->ref, "x");
    assert_int_equal(action("ALTER TABLE t SET IDENTIFIER FIELDS a, b.c", AT_SET_IDENTIFIER)->names.n, 2);
    assert_str(props_get(&action("ALTER TABLE t SET TBLPROPERTIES ('a.b'='c')", AT_SET_PROPS)->props, S("a.b"), S("")), "c");
    assert_int_equal(postgres("ALTER TABLE t ADD COLUMN a int, DROP COLUMN b")->actions.n, 2);
    x = action("COMMENT ON TABLE a.t IS 'note'", AT_SET_PROPS);
    assert_str(props_get(&x->props, S("comment"), S("")), "note");
    x = action("COMMENT ON COLUMN a.t.c IS 'note'", AT_ALTER_COLUMN);
    assert_str(x->columns.p[0].comment, "note");
    assert_int_equal(spark("COMMENT ON NAMESPACE a IS NULL")->actions.p[0].kind, AT_UNSET_PROPS);
    assert_status(fails(DIALECT_SPARK, "ALTER TABLE t ADD PARTITION (a = 1)"), E_UNSUPPORTED);
    assert_status(fails(DIALECT_SPARK, "ALTER TABLE t"), E_SYNTAX);
}

/* ---- changes ------------------------------------------------------------------------------------------------------------ */

static void dml(void **state)
{
    (void)state;
    Stmt *s = spark("INSERT INTO a.b.c (x, y) VALUES (1, DEFAULT), (2, 'z')");
    assert_int_equal(s->kind, ST_INSERT);
    assert_int_equal(s->column_names.n, 2);
    assert_int_equal(s->query->rows.n, 2);
    assert_str(s->query->rows.p[0].p[1]->func->name.p[0], "default");
    s = spark("INSERT OVERWRITE TABLE t PARTITION (d = '2020', e) SELECT 1");
    assert_true(s->overwrite && s->static_partition.n == 2 && s->static_partition.p[0].value && !s->static_partition.p[1].value);
    assert_true(spark("INSERT INTO t BY NAME SELECT 1 AS a")->by_name);
    assert_int_equal(spark("INSERT INTO t (SELECT 1)")->column_names.n, 0);
    s = spark("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x");
    assert_int_equal(s->query->ctes.n, 1);
    s = spark("UPDATE t AS u SET u.a = 1, b = b + 1 WHERE c");
    assert_str(s->alias, "u");
    assert_int_equal(s->set.n, 2);
    assert_non_null(s->where);
    s = spark("DELETE FROM a.b.c WHERE x = 1");
    assert_true(s->kind == ST_DELETE && s->where);
    s = spark("MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED AND s.x THEN DELETE WHEN MATCHED THEN UPDATE SET * "
              "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 1) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0");
    assert_int_equal(s->merges.n, 4);
    assert_true(s->merges.p[0].cond && s->merges.p[0].action == MERGE_DELETE);
    assert_int_equal(s->merges.p[1].action, MERGE_UPDATE_ALL);
    assert_int_equal(s->merges.p[2].columns.n, 2);
    assert_int_equal(s->merges.p[3].match, MERGE_NOT_MATCHED_BY_SOURCE);
    assert_str(s->from->alias, "s");
    s = postgres("DELETE FROM t USING u WHERE t.id = u.id RETURNING t.id AS x");
    assert_true(s->from && s->returning.n == 1);
    assert_status(fails(DIALECT_SPARK, "MERGE INTO t USING u ON a WHEN MATCHED THEN INSERT *"), E_SYNTAX);
    assert_status(fails(DIALECT_SPARK, "MERGE INTO t USING u ON a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)"), E_INVALID);
    assert_status(fails(DIALECT_POSTGRES, "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"), E_UNSUPPORTED);
    assert_status(fails(DIALECT_POSTGRES, "INSERT INTO t VALUES (1), (1, 2)"), E_INVALID);
}

/* ---- queries ------------------------------------------------------------------------------------------------------------- */

static Query *query(Dialect d, const char *sql)
{
    Query *q = NULL;
    assert_ok(sql_parse_query(arena, d, str_c(sql), &q, &err), &err);
    return q;
}

static void queries(void **state)
{
    (void)state;
    Query *q = query(DIALECT_SPARK, "SELECT a FROM t UNION ALL SELECT b FROM u INTERSECT SELECT c FROM v ORDER BY 1 LIMIT 2");
    assert_int_equal(q->body, BODY_SETOP);
    assert_true(q->setop == SETOP_UNION && q->all && q->order.n == 1 && q->limit);
    assert_int_equal(q->right->setop, SETOP_INTERSECT);
    q = query(DIALECT_SPARK, "(SELECT 1 LIMIT 1) ORDER BY 1");
    assert_int_equal(q->select->from->kind, TR_QUERY);
    q = query(DIALECT_SPARK, "SELECT * FROM a LEFT SEMI JOIN b ON a.x = b.x, c CROSS JOIN d");
    assert_int_equal(q->select->from->join, JOIN_CROSS);
    assert_int_equal(q->select->from->left->join, JOIN_SEMI);
    assert_int_equal(q->select->from->right->join, JOIN_CROSS);
    q = query(DIALECT_POSTGRES, "SELECT * FROM a LEFT JOIN b JOIN c ON b.x = c.x ON a.x = b.x");
    assert_int_equal(q->select->from->join, JOIN_LEFT);
    assert_int_equal(q->select->from->right->kind, TR_JOIN);
    q = query(DIALECT_SPARK, "SELECT * FROM t LATERAL VIEW OUTER explode(xs) e AS x");
    assert_true(q->select->from->right->lateral && q->select->from->right->outer);
    assert_str(q->select->from->right->column_aliases.p[0], "x");
    q = query(DIALECT_SPARK, "SELECT * FROM parquet.`s3://b/x` p");
    assert_int_equal(q->select->from->kind, TR_FILE);
    assert_str(q->select->from->name.p[1], "s3://b/x");
    q = query(DIALECT_SPARK, "SELECT * FROM VALUES (1, 2) AS t(a, b)");
    assert_int_equal(q->select->from->kind, TR_VALUES);
    assert_int_equal(q->select->from->column_aliases.n, 2);
    q = query(DIALECT_SPARK, "SELECT a, count(*) FROM t GROUP BY a, b GROUPING SETS ((a, b), a, ())");
    assert_true(q->select->grouping == GROUP_SETS && q->select->group_sets.n == 3 && q->select->group_by.n == 2);
    assert_int_equal(query(DIALECT_SPARK, "SELECT a FROM t GROUP BY ALL")->select->grouping, GROUP_ALL);
    assert_int_equal(query(DIALECT_SPARK, "SELECT a FROM t CLUSTER BY a")->spark_sort, 2);
    q = query(DIALECT_POSTGRES, "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a FETCH FIRST 3 ROWS ONLY");
    assert_true(q->select->distinct_on.n == 1 && !q->select->distinct && q->limit);
    q = query(DIALECT_POSTGRES, "SELECT * FROM unnest(x) WITH ORDINALITY AS u(a, b)");
    assert_true(q->select->from->ordinality && q->select->from->column_aliases.n == 2);
    q = query(DIALECT_POSTGRES, "SELECT * FROM ((SELECT 1) UNION (SELECT 2)) x JOIN ((b JOIN c ON true)) ON true");
    assert_int_equal(q->select->from->left->kind, TR_QUERY);
    assert_int_equal(query(DIALECT_POSTGRES, "WITH RECURSIVE r(n) AS (SELECT 1) SELECT * FROM r")->ctes.p[0].recursive, 1);
}

static void loops(void **state)
{
    static const char *const BAD[] = {
        "WITH MUTUALLY RECURSIVE r AS (SELECT 1) SELECT * FROM r", "WITH MUTUALLY RECURSIVE (RECURSION LIMIT 0) r (a int) AS (SELECT 1) SELECT * FROM r",
        "WITH MUTUALLY RECURSIVE (RECURSION LIMIT 10001) r (a int) AS (SELECT 1) SELECT * FROM r", "WITH MUTUALLY RECURSIVE (STOP AT RECURSION LIMIT 5) r (a int) AS (SELECT 1) SELECT * FROM r",
        "WITH MUTUALLY RECURSIVE r (a) AS (SELECT 1) SELECT * FROM r", "SELECT 1 FROM t OPTIONS (SPEED = 10)",
    };
    StmtVec v = {0};
    (void)state;
    Query *q = query(DIALECT_POSTGRES, "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 7) r (a int, b text) AS (SELECT * FROM s), s (a int, b text) AS (SELECT * FROM r) SELECT a FROM s");
    assert_non_null(q->loop);
    assert_true(q->loop->limit == 7 && q->loop->end == LOOP_RETURN_AT && q->ctes.n == 2);
    assert_int_equal(q->loop->types.p[1].p[1].kind, DT_STRING);
    assert_int_equal(query(DIALECT_POSTGRES, "WITH MUTUALLY RECURSIVE r (a int) AS (SELECT 1) SELECT * FROM r")->loop->end, LOOP_ERROR_AT);
    assert_null(query(DIALECT_POSTGRES, "WITH mutually AS (SELECT 1) SELECT * FROM mutually")->loop);
    assert_non_null(query(DIALECT_POSTGRES, "SELECT a, count(*) FROM t GROUP BY a OPTIONS (AGGREGATE INPUT GROUP SIZE = 10, LIMIT INPUT GROUP SIZE = 5) ORDER BY a LIMIT 3")->limit);
    for (size_t i = 0; i < COUNT_OF(BAD); i++)
        assert_int_not_equal(sql_parse(arena, DIALECT_POSTGRES, str_c(BAD[i]), &v, &err), OK);
}

static void time_travel(void **state)
{
    (void)state;
    TableRef *t = query(DIALECT_SPARK, "SELECT * FROM a.b.c VERSION AS OF 123 x")->select->from;
    assert_true(t->as_of.has && t->as_of.version->value.integer == 123);
    assert_str(t->alias, "x");
    assert_int_equal(query(DIALECT_SPARK, "SELECT * FROM t FOR SYSTEM_VERSION AS OF '77'")->select->from->as_of.version->value.integer, 77);
    assert_str(query(DIALECT_SPARK, "SELECT * FROM t VERSION AS OF 'dev'")->select->from->as_of.branch, "dev");
    assert_non_null(query(DIALECT_SPARK, "SELECT * FROM t TIMESTAMP AS OF '2024-01-01'")->select->from->as_of.timestamp);
    assert_true(query(DIALECT_POSTGRES, "SELECT * FROM t FOR TIMESTAMP AS OF now() - interval '1 day' x")->select->from->as_of.has);
    assert_str(query(DIALECT_SPARK, "SELECT * FROM t version")->select->from->alias, "version");
}

/* ---- catalogs, sessions ------------------------------------------------------------------------------------------------------ */

static void shows(void **state)
{
    (void)state;
    Stmt *s = spark("SHOW VIEWS IN c.n LIKE 'x*'");
    assert_int_equal(s->kind, ST_SHOW);
    assert_str(s->what, "views");
    assert_str(joined(&s->name), "c.n");
    assert_str(s->pattern, "x*");
    assert_str(spark("SHOW DATABASES")->what, "namespaces");
    assert_str(spark("SHOW CREATE TABLE a.b")->what, "create table");
    assert_true(props_has(&spark("SHOW TBLPROPERTIES a.b ('lastRefreshType')")->props, S("lastRefreshType")));
    s = spark("DESC TABLE EXTENDED a.b.c");
    assert_true(s->kind == ST_DESCRIBE && s->extended);
    assert_str(s->what, "table");
    assert_str(spark("DESCRIBE MATERIALIZED VIEW v")->what, "materialized view");
    assert_str(spark("DESCRIBE SELECT 1")->query_text, "SELECT 1");
    s = spark("EXPLAIN EXTENDED SELECT 1");
    assert_true(s->extended && s->inner->kind == ST_QUERY);
    s = spark("CALL c.system.expire_snapshots(table => 'a.b', TIMESTAMP '2020-01-01 00:00:00')");
    assert_str(s->call_args.p[0].column.p[0], "table");
    assert_int_equal(s->call_args.p[1].column.n, 0);
    assert_str(postgres("SHOW transaction isolation level")->setting, "transaction_isolation");
}

static void settings(void **state)
{
    StmtVec v = {0};
    (void)state;
    assert_ok(sql_parse(arena, DIALECT_SPARK, S("SET spark.sql.catalog.s3t.glue.id=123:s3tables'catalog/x ; SET \"a.b\" = true;SELECT 1"), &v, &err), &err);
    assert_int_equal(v.n, 3);
    assert_str(v.p[0]->setting, "spark.sql.catalog.s3t.glue.id");
    assert_str(v.p[0]->setting_value, "123:s3tables'catalog/x");
    assert_str(v.p[1]->setting, "a.b");
    assert_str(v.p[1]->setting_value, "true");
    assert_str(spark("SET a.b = 'q r'")->setting_value, "q r");
    assert_str(spark("SET a.b =")->setting_value, "");
    assert_int_equal(spark("SET a.b")->kind, ST_SHOW_SETTING);
    Stmt *s = postgres("SET LOCAL search_path TO a, \"B\", 'c'");
    assert_str(s->what, "local");
    assert_str(s->setting_value, "a, B, c");
    assert_str(postgres("SET \"spark.sql.x\" = on")->setting, "spark.sql.x");
    assert_str(postgres("SET TIME ZONE 'UTC'")->setting, "timezone");
    assert_int_equal(postgres("SET x TO DEFAULT")->kind, ST_RESET);
    assert_int_equal(postgres("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")->kind, ST_NOOP);
    assert_str(postgres("RESET ALL")->what, "all");
}

static void sessions(void **state)
{
    (void)state;
    assert_int_equal(postgres("START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")->kind, ST_BEGIN);
    assert_int_equal(postgres("END")->kind, ST_COMMIT);
    assert_int_equal(postgres("ABORT WORK")->kind, ST_ROLLBACK);
    Stmt *s = postgres("PREPARE p (int, text) AS SELECT $1, $2");
    assert_true(s->columns.n == 2 && s->inner->nparams == 2);
    assert_str(s->query_text, "SELECT $1, $2");
    assert_int_equal(postgres("EXECUTE p(1, 'x')")->call_args.n, 2);
    s = postgres("DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1");
    assert_str(s->what, "hold");
    assert_int_equal(postgres("FETCH FORWARD 10 FROM c")->fetch, 10);
    assert_int_equal(postgres("FETCH ALL IN c")->fetch, -1);
    s = postgres("COPY t (a, b) FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';')");
    assert_str(s->what, "from");
    assert_str(props_get(&s->copy_options, S("format"), S("")), "csv");
    assert_str(props_get(&s->copy_options, S("delimiter"), S("")), ";");
    s = postgres("COPY (SELECT 1) TO STDOUT CSV HEADER");
    assert_true(s->query && props_has(&s->copy_options, S("header")));
    assert_status(fails(DIALECT_POSTGRES, "ROLLBACK TO SAVEPOINT x"), E_UNSUPPORTED);
    assert_status(fails(DIALECT_POSTGRES, "PREPARE p AS ATTACH 'x'"), E_SYNTAX);
}

/* ---- refusals ------------------------------------------------------------------------------------------------------------------ */

static void hostile(void **state)
{
    static const char *const DENIED[] = {
        "ATTACH 'x.db' AS x", "ATTACH DATABASE 'x'", "DETACH x", "INSTALL httpfs", "FORCE INSTALL httpfs", "LOAD httpfs", "LOAD DATA INPATH 'x' INTO TABLE t",
        "PRAGMA database_list", "EXPORT DATABASE 'x'", "IMPORT DATABASE 'x'", "CHECKPOINT", "ADD JAR 'x.jar'",
        "COPY t TO '/tmp/x'", "COPY t FROM '/etc/passwd'", "COPY t FROM PROGRAM 'id'", "COPY (SELECT 1) TO 'x.parquet' (FORMAT parquet)", "DO $$x$$",
    };
    static const char *const SYNTAX[] = {
        "SELECT * FROM 'x.parquet'", "SELECT 1 INTO OUTFILE 'x'", "SELECT TRANSFORM(a) USING 'cat' FROM t", "FROM t",
        "CACHE TABLE x AS SELECT 1", "EXPLAIN SET a = 1", "EXPLAIN COPY t TO STDOUT",
        "SELECT 1; ; garbage", "EXPLAIN EXPLAIN SELECT 1", "PREPARE x AS PREPARE y AS SELECT 1",
    };
    (void)state;
    for (int d = 0; d < 2; d++) {
        for (size_t i = 0; i < COUNT_OF(DENIED); i++) {
            Status s = fails(d, DENIED[i]);
            assert_true(s == E_DENIED || s == E_SYNTAX);
            assert_true(err.position > 0);
        }
        for (size_t i = 0; i < COUNT_OF(SYNTAX); i++)
            assert_true(fails(d, SYNTAX[i]) != OK);
    }
    assert_status(fails(DIALECT_POSTGRES, "COPY t FROM '/etc/passwd'"), E_DENIED);
    assert_string_equal(err.message, "COPY reads and writes only STDIN and STDOUT");
    assert_status(fails(DIALECT_SPARK, "INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1"), E_DENIED);
    assert_status(fails(DIALECT_POSTGRES, "CREATE TRIGGER s"), E_UNSUPPORTED);
    assert_string_equal(err.message, "CREATE TRIGGER is not supported");
    assert_status(fails(DIALECT_SPARK, "SELECT * FROM t PIVOT (sum(x) FOR y IN (1, 2))"), E_UNSUPPORTED);
}

static void syntax_errors(void **state)
{
    (void)state;
    const char *sql = "ALTER MATERIALIZED VIEW s3t_catalog.analytics.customer_summary_managed ADD SCHEDULE REFRESH EVERY 10 SECONDS";
    assert_status(fails(DIALECT_SPARK, sql), E_SYNTAX);
    assert_string_equal(err.message, "[PARSE_SYNTAX_ERROR] Syntax error at or near 'SECONDS'. SQLSTATE: 42601 (line 1, pos 101)");
    assert_int_equal(err.position, 102);
    char want[400] = "== SQL ==\n";
    strcat(strcat(want, sql), "\n");
    for (int i = 0; i < 101; i++)
        strcat(want, "-");
    assert_string_equal(err.detail, strcat(want, "^^^"));
    assert_status(fails(DIALECT_SPARK, "SELECT 1;\n  SELECT\n a FORM b c"), E_SYNTAX);
    assert_string_equal(err.message, "[PARSE_SYNTAX_ERROR] Syntax error at or near 'b'. SQLSTATE: 42601 (line 2, pos 8)");
    assert_int_equal(err.position, 28);
    assert_status(fails(DIALECT_SPARK, "SELECT 1 +"), E_SYNTAX);
    assert_string_equal(err.message, "[PARSE_SYNTAX_ERROR] Syntax error at or near end of input. SQLSTATE: 42601 (line 1, pos 10)");
    assert_status(fails(DIALECT_POSTGRES, "SELECT FROM WHERE"), E_SYNTAX);
    assert_string_equal(err.message, "syntax error at or near \"WHERE\"");
    assert_int_equal(err.position, 13);
    assert_status(fails(DIALECT_POSTGRES, "SELECT (1"), E_SYNTAX);
    assert_string_equal(err.message, "syntax error at end of input");
    assert_status(fails(DIALECT_POSTGRES, "SELECT 'abc"), E_SYNTAX);
    assert_string_equal(err.message, "unterminated quoted string");
    assert_status(fails(DIALECT_POSTGRES, "SELECT /* /* */ 1"), E_SYNTAX);
    assert_status(fails(DIALECT_SPARK, "SELECT '\\0'"), E_SYNTAX);
    assert_status(fails(DIALECT_POSTGRES, "SELECT E'\\xff'"), E_SYNTAX);
}

static Str repeat(const char *head, const char *part, int n, const char *tail)
{
    StrBuf b = sb_new(arena);
    sb_addc(&b, head);
    for (int i = 0; i < n; i++)
        sb_addc(&b, part);
    sb_addc(&b, tail);
    return sb_str(&b);
}

static void limits(void **state)
{
    (void)state;
    StmtVec v = {0};
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT ", "(", 5000, "1"), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT ", "-", 5000, "1"), &v, &err), E_SYNTAX);      /* a comment */
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT ", "NOT ", 5000, "1"), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT 1", "+1", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT a", ".b", 100, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT a", "[0]", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("", "WITH a AS (", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT * FROM ", "(", 5000, "t"), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT 1", " UNION ALL SELECT 1", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("SELECT * FROM t", ", t", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("CREATE TABLE t (a ", "ARRAY<", 5000, ""), &v, &err), E_LIMIT);
    assert_status(sql_parse(arena, DIALECT_SPARK, repeat("", " ", LIMIT_SQL_BYTES, "SELECT 1"), &v, &err), E_LIMIT);
    assert_ok(sql_parse(arena, DIALECT_SPARK, repeat("SELECT 1 WHERE a = 0", " OR a = 1", 20000, ""), &v, &err), &err);
    assert_ok(sql_parse(arena, DIALECT_SPARK, repeat("SELECT a IN (0", ", 1", 20000, ")"), &v, &err), &err);
    assert_ok(sql_parse(arena, DIALECT_SPARK, repeat("", "SELECT 1;", 5000, ""), &v, &err), &err);
    assert_int_equal(v.n, 5000);
    assert_status(sql_parse(arena, DIALECT_SPARK, str_n("SELECT \xff", 8), &v, &err), E_INVALID);
    assert_status(sql_parse(arena, DIALECT_SPARK, str_n("SELECT 1\0", 9), &v, &err), E_INVALID);
}

/* ---- names, types, copies, definitions --------------------------------------------------------------------------------------------- */

static void names_types(void **state)
{
    StrVec v = {0};
    DataType t;
    (void)state;
    assert_ok(sql_parse_name(arena, DIALECT_SPARK, S("a.b.`c d`"), &v, &err), &err);
    assert_true(v.n == 3);
    assert_str(v.p[2], "c d");
    assert_ok(sql_parse_type(arena, DIALECT_SPARK, S("struct<`a b`:timestamp_ntz,c:map<int,array<date>>>"), &t, &err), &err);
    assert_str(sql_type_name(arena, DIALECT_SPARK, &t), "struct<`a b`:timestamp_ntz,c:map<int,array<date>>>");
    assert_ok(sql_parse_type(arena, DIALECT_POSTGRES, S("timestamp(3) with time zone[]"), &t, &err), &err);
    assert_str(sql_type_name(arena, DIALECT_POSTGRES, &t), "timestamp with time zone[]");
    assert_status(sql_parse_type(arena, DIALECT_SPARK, S("decimal(5,6)"), &t, &err), E_INVALID);
    for (Keyword k = K_NONE + 1; k < K_COUNT; k++) {          /* the table is sorted: each word finds itself */
        if (lex_keyword(str_c(lex_keyword_name(k))) != k)
            fail_msg("keyword %s is out of order", lex_keyword_name(k));
    }
}

static int count_columns(void *ctx, Expr *e)
{
    *(int *)ctx += e->kind == EX_COLUMN;
    return 1;
}

static void walks(void **state)
{
    int n = 0, m = 0;
    TableRefs tables = {0}, copied = {0};
    (void)state;
    Query *q = query(DIALECT_SPARK, "WITH c AS (SELECT a FROM x.y.z) SELECT b, sum(d) OVER (PARTITION BY e ORDER BY f) FROM c JOIN t USING (k) "
                                    "WHERE g IN (SELECT h FROM u) GROUP BY i HAVING j ORDER BY l");
    sql_walk_query(q, count_columns, &n);
    assert_int_equal(n, 10);
    Query *copy = sql_copy_query(arena, q);
    q->select->where = NULL;
    sql_walk_query(copy, count_columns, &m);
    assert_int_equal(m, 10);
    sql_tables(arena, copy, &copied);
    sql_tables(arena, q, &tables);
    assert_int_equal(copied.n, 4);
    assert_int_equal(tables.n, 3);
    assert_str(joined(&copied.p[0]->name), "x.y.z");
}

static Status check(const char *sql)
{
    return sql_check_definition(arena, query(DIALECT_SPARK, sql), &err);
}

static void definitions(void **state)
{
    static const struct { const char *sql; int position; } BAD[] = {
        { "SELECT a FROM t", 15 }, { "SELECT a FROM b.t", 15 }, { "SELECT a FROM a.b.t ORDER BY c", 30 }, { "SELECT a FROM a.b.t LIMIT 1", 27 },
        { "SELECT a FROM a.b.t SORT BY a", 1 }, { "SELECT a FROM a.b.t CLUSTER BY a", 1 }, { "SELECT a FROM (SELECT a FROM a.b.t OFFSET 3)", 43 },
        { "SELECT rand() AS r FROM a.b.t", 8 }, { "SELECT a FROM a.b.t WHERE ts < current_timestamp", 32 },
        { "SELECT a FROM a.b.t WHERE x = (SELECT max(y) FROM u)", 51 }, { "SELECT a AS `x y` FROM a.b.t", 8 }, { "SELECT a AS __ivm_x FROM a.b.t", 8 },
        { "SELECT __IVM_num_rec FROM a.b.t", 8 }, { "WITH `c-d` AS (SELECT 1) SELECT * FROM a.b.t", 6 }, { "SELECT a FROM a.`b-c`.t", 15 },
        { "SELECT a FROM parquet.`s3://x/y`", 15 }, { "SELECT a FROM a.b.t VERSION AS OF 1", 15 }, { "SELECT $1 FROM a.b.t", 8 },
        { "SELECT a FROM a.b.t WHERE ts > CAST('now' AS TIMESTAMP)", 32 }, { "SELECT s.`f-g` FROM a.b.t s", 8 }, { "SELECT 1 AS x WHERE EXISTS (SELECT uuid())", 36 },
    };
    (void)state;
    assert_ok(check("SELECT a, count(*) AS n FROM a.b.t WHERE d > current_date - INTERVAL 90 DAYS GROUP BY a"), &err);
    assert_ok(check("WITH c AS (SELECT a FROM a.b.t) SELECT sum(x) OVER (ORDER BY y) AS s FROM c JOIN a.b.u ON true"), &err);
    assert_ok(check("SELECT unix_timestamp(ts) AS u FROM a.b.t"), &err);
    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        Status s = check(BAD[i].sql);
        if (s != E_INVALID || err.position != BAD[i].position)
            fail_msg("%s: %s at %d: %s", BAD[i].sql, status_name(s), s ? err.position : 0, s ? err.message : "");
    }
}

/* What drivers and tools send: it must parse. Written here in their manner. */
static void client_queries(void **state)
{
    static const char *const SQL[] = {
        ("SELECT n.nspname as \"Schema\", c.relname as \"Name\", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' END as \"Type\", "
        "pg_catalog.pg_get_userbyid(c.relowner) as \"Owner\" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r','p','') AND n.nspname !~ '^pg_toast' AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2;"),
        "SELECT c.oid, n.nspname FROM pg_catalog.pg_class c WHERE c.relname OPERATOR(pg_catalog.~) '^(t)$' COLLATE pg_catalog.default ORDER BY 2, 3;",
        ("SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid, true) FROM "
        "pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef) FROM pg_catalog.pg_attribute a "
        "WHERE a.attrelid = '16384' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"),
        "SELECT pg_catalog.array_to_string(d.datacl, E'\\n') AS \"Access privileges\", c.oid::pg_catalog.regclass FROM pg_catalog.pg_database d, x c",
        ("SELECT result.TABLE_SCHEM, result.COLUMN_NAME FROM (SELECT n.nspname AS TABLE_SCHEM, (information_schema._pg_expandarray(i.indkey)) AS KEYS, "
        "a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_index i ON (a.attrelid = i.indrelid)) result "
        "where result.A_ATTNUM = (result.KEYS).x ORDER BY result.table_name"),
        ("SELECT typinput='pg_catalog.array_in'::regproc as is_array FROM pg_catalog.pg_type LEFT JOIN (select ns.oid as nspoid, r.r from pg_namespace as "
        "ns join ( select s.r, (current_schemas(false))[s.r] as nspname from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r "
        "using ( nspname ) ) as sp ON sp.nspoid = typnamespace WHERE typname = $1 ORDER BY sp.r, pg_type.oid DESC LIMIT 1"),
        "SELECT NULL::text AS PKTABLE_CAT, con.conkey[pos.n] FROM pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n) WHERE x = $1",
        "SELECT array_agg(CAST(a.attname AS TEXT) ORDER BY o.ord), con.conkey = ANY(ARRAY[1, 2]) FROM unnest(con.conkey) WITH ORDINALITY AS o(k, ord)",
        ("SELECT t.oid, CASE WHEN t.typtype = 'd' THEN (WITH RECURSIVE x(o, d) AS (SELECT 1, 2 UNION ALL SELECT 3, 4 FROM x) SELECT o FROM x ORDER BY d "
        "DESC LIMIT 1) ELSE NULL END AS basetype FROM pg_catalog.pg_type AS t WHERE t.oid = any($1::oid[])"),
        "SELECT attr.conname, (SELECT coalesce(json_agg(x.y ORDER BY 1), '[]'::json) FROM x) FROM t AS attr WHERE NOT (a IS NOT DISTINCT FROM b)",
        "SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL;", "SAVEPOINT \"_pg3_1\"", "SET extra_float_digits = 3", "BEGIN READ ONLY",
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE", "select pg_catalog.version()", "show standard_conforming_strings",
        "DECLARE \"c1\" NO SCROLL CURSOR FOR SELECT 1", "FETCH FORWARD 5 FROM \"c1\"", "select t.oid, typarray from pg_type t where x !~~* 'a' limit all",
    };
    StmtVec v = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(SQL); i++)
        if (sql_parse(arena, DIALECT_POSTGRES, str_c(SQL[i]), &v, &err) != OK)
            fail_msg("%s at %d in: %s", err.message, err.position, SQL[i]);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(create_mv), T(other_mv), T(create_table), T(alter_table), T(dml), T(queries), T(loops), T(time_travel), T(shows), T(settings), T(sessions),
        T(hostile), T(syntax_errors), T(limits), T(names_types), T(walks), T(definitions), T(client_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
