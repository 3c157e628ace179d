# SPDX-License-Identifier: Apache-2.0
"""Trino's SQL as Athena has it, spoken over the SQL door (dbname=athena): tables, DML, views, SHOW, upkeep, time travel, errors."""
import datetime
import decimal

import psycopg
import pytest


@pytest.fixture()
def q(server):
    """Runs a statement of Athena: its rows."""
    return lambda text: server.sql(text, "athena")


@pytest.fixture()
def names(server):
    """Runs a statement of Athena: the names of its columns and its rows."""
    def run(text):
        with server.connect("athena") as c:
            cur = c.execute(text, prepare=False)
            return [d.name for d in cur.description], cur.fetchall()
    return run


@pytest.fixture()
def db(server, q):
    import time
    name = f"a{time.monotonic_ns()}"
    q(f"CREATE DATABASE {name} COMMENT 'tests'")
    return name


@pytest.fixture()
def orders(q, db):
    q(f"""CREATE TABLE {db}.orders (id bigint, item string, qty int, price decimal(10,2), ts timestamp)
          PARTITIONED BY (day(ts)) TBLPROPERTIES ('table_type'='ICEBERG', 'format'='parquet', 'write_compression'='zstd')""")
    q(f"""INSERT INTO {db}.orders VALUES (1, 'nut', 3, DECIMAL '1.50', TIMESTAMP '2024-01-01 10:00:00'),
          (2, 'bolt', 5, DECIMAL '0.25', TIMESTAMP '2024-01-01 11:00:00'), (3, 'nut', 1, DECIMAL '1.60', TIMESTAMP '2024-01-02 09:30:00')""")
    return f"{db}.orders"


def refused(q, text, *words):
    with pytest.raises(psycopg.Error) as e:
        q(text)
    for w in words:
        assert w in str(e.value), str(e.value)


def test_select(q, orders):
    assert q(f"SELECT item, sum(qty), sum(price * qty) FROM {orders} GROUP BY 1 ORDER BY item") == [
        ("bolt", 5, decimal.Decimal("1.25")), ("nut", 4, decimal.Decimal("6.10"))]
    assert q(f'SELECT "o"."id" FROM "awsdatacatalog"."{orders.split(".")[0]}"."orders" o WHERE date_trunc(\'day\', ts) = TIMESTAMP \'2024-01-02 00:00:00\'') == [(3,)]
    assert q(f"SELECT id, n FROM {orders} CROSS JOIN UNNEST(sequence(1, qty)) AS t(n) WHERE id <> 2 ORDER BY 1, 2") == [(1, 1), (1, 2), (1, 3), (3, 1)]
    assert q("SELECT 7 / 2, CAST(2.5e0 AS integer), try(1 / 0)") == [(3, 3, None)]


def test_dml(q, orders):
    q(f"UPDATE {orders} SET qty = qty + 10 WHERE item = 'nut'")
    q(f"DELETE FROM {orders} WHERE id = 2")
    assert q(f"SELECT id, qty FROM {orders} ORDER BY id") == [(1, 13), (3, 11)]
    q(f"""MERGE INTO {orders} t USING (VALUES (1, 'gone', 0), (9, 'new', 7)) AS s(id, item, qty) ON t.id = s.id
          WHEN MATCHED AND s.qty = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET qty = s.qty
          WHEN NOT MATCHED THEN INSERT (id, item, qty, price, ts) VALUES (s.id, s.item, s.qty, DECIMAL '2.00', TIMESTAMP '2024-02-01 00:00:00')""")
    assert q(f"SELECT id, item, qty FROM {orders} ORDER BY id") == [(3, "nut", 11), (9, "new", 7)]
    q(f"INSERT INTO {orders} (id, item) SELECT 10, 'partial'")
    assert q(f"SELECT price FROM {orders} WHERE id = 10") == [(None,)]
    q(f"INSERT INTO {orders} SELECT 11, NULL, NULL, NULL, NULL")
    assert q(f"SELECT id FROM {orders} WHERE ts IS NULL ORDER BY id") == [(10,), (11,)]
    refused(q, f"INSERT INTO {orders} (id) VALUES ('x')", "TYPE_MISMATCH", "mismatched column types")


def test_ctas_and_partitions(q, orders, db, names):
    q(f"""CREATE TABLE {db}.copy WITH (table_type = 'ICEBERG', is_external = false, format = 'PARQUET', partitioning = ARRAY['month(ts)', 'bucket(id, 4)'])
          AS SELECT id, ts, CAST(price AS double) AS p FROM {orders}""")
    assert q(f"SELECT count(*) FROM {db}.copy") == [(3,)]
    text = "\n".join(r[0] for r in q(f"SHOW CREATE TABLE {db}.copy"))
    assert "PARTITIONED BY (month(`ts`), bucket(4, `id`))" in text and "'table_type'='iceberg'" in text and "`p` double" in text
    cols, rows = names(f'SELECT * FROM {db}."copy$partitions"')
    assert cols == ["partition", "record_count", "file_count", "total_size"] and sum(r[1] for r in rows) == 3


def test_views(q, server, orders, db):
    q(f"CREATE VIEW {db}.v AS SELECT item, sum(qty) AS n FROM {orders} GROUP BY item")
    assert q(f"SELECT * FROM {db}.v ORDER BY 1") == [("bolt", 5), ("nut", 4)]
    q(f"CREATE OR REPLACE VIEW {db}.v (thing, n) AS SELECT item, 7 / 2 FROM {orders} WHERE id = 1")
    assert q(f"SELECT thing, n FROM {db}.v") == [("nut", 3)]
    assert server.sql(f"SELECT thing, n FROM glue_catalog.{db}.v", "spark") == [("nut", 3)]        # Trino's meaning, wherever it is read
    server.sql(f"CREATE VIEW glue_catalog.{db}.sv AS SELECT 7 / 2 AS x", "spark")
    assert q(f"SELECT x FROM {db}.sv") == [(3.5,)]
    assert q(f"SHOW VIEWS IN {db}") == [("sv",), ("v",)]
    assert q(f"SHOW CREATE VIEW {db}.v")[0][0].startswith("CREATE VIEW")
    q(f"DROP VIEW {db}.v")
    q(f"DROP VIEW IF EXISTS {db}.v")
    refused(q, f"SELECT * FROM {db}.v", f"Table 'awsdatacatalog.{db}.v' does not exist")


def test_show_and_describe(q, names, orders, db):
    assert names(f"SHOW TABLES IN {db}") == (["tab_name"], [("orders",)])
    assert names(f"SHOW TABLES IN {db} 'x*'")[1] == []
    cols, rows = names("SHOW DATABASES")
    assert cols == ["database_name"] and (db,) in rows
    assert names(f"SHOW COLUMNS IN {orders}") == (["field"], [("id",), ("item",), ("qty",), ("price",), ("ts",)])
    assert names(f"SHOW COLUMNS FROM orders FROM {db}")[1][0] == ("id",)
    cols, rows = names(f"SHOW TBLPROPERTIES {orders}")
    assert cols == ["prpt_name", "prpt_value"] and ("write.parquet.compression-codec", "zstd") in rows
    cols, rows = names(f"DESCRIBE {orders}")
    assert cols == ["col_name", "data_type", "comment"] and rows[:5] == [("id", "bigint", None), ("item", "string", None), ("qty", "int", None), ("price", "decimal(10,2)", None), ("ts", "timestamp", None)]
    assert names(f"EXPLAIN SELECT * FROM {orders}")[1]


def test_alter(q, orders, db):
    q(f"ALTER TABLE {orders} ADD COLUMNS (note string COMMENT 'c', extra int)")
    q(f"ALTER TABLE {orders} CHANGE COLUMN extra more bigint")
    q(f"ALTER TABLE {orders} DROP COLUMN note")
    assert [r[0] for r in q(f"SHOW COLUMNS IN {orders}")] == ["id", "item", "qty", "price", "ts", "more"]
    q(f"ALTER TABLE {orders} SET TBLPROPERTIES ('write_compression'='snappy', 'vacuum_min_snapshots_to_keep'='2')")
    assert ("write.parquet.compression-codec", "snappy") in q(f"SHOW TBLPROPERTIES {orders}")
    q(f"ALTER TABLE {orders} RENAME TO {db}.renamed")
    assert q(f"SELECT count(*) FROM {db}.renamed") == [(3,)]
    q(f"DROP TABLE `{db}`.`renamed`")
    refused(q, f"SELECT 1 FROM {db}.renamed", "TABLE_NOT_FOUND")


def test_upkeep(q, orders, db):
    q(f"INSERT INTO {orders} VALUES (4, 'x', 1, DECIMAL '1.00', TIMESTAMP '2024-01-01 12:00:00')")
    q(f"DELETE FROM {orders} WHERE id = 1")
    before = q(f'SELECT count(*) FROM {db}."orders$files"')[0][0]
    q(f"OPTIMIZE {orders} REWRITE DATA USING BIN_PACK WHERE ts < TIMESTAMP '2024-01-02 00:00:00'")
    q(f"OPTIMIZE {orders} REWRITE DATA USING BIN_PACK")
    assert q(f'SELECT count(*) FROM {db}."orders$files"')[0][0] <= before
    q(f"ALTER TABLE {orders} SET TBLPROPERTIES ('vacuum_max_snapshot_age_seconds'='0')")
    q(f"VACUUM {orders}")
    assert q(f'SELECT count(*) FROM {db}."orders$snapshots"') == [(1,)]
    assert q(f"SELECT id FROM {orders} ORDER BY 1") == [(2,), (3,), (4,)]


def test_time_travel(q, orders, db):
    first = q(f'SELECT snapshot_id FROM {db}."orders$snapshots"')[0][0]
    q(f"DELETE FROM {orders} WHERE id = 1")
    assert q(f"SELECT count(*) FROM {orders} FOR VERSION AS OF {first}") == [(3,)]
    assert q(f"SELECT count(*) FROM {orders} FOR TIMESTAMP AS OF (current_timestamp + interval '1' day) AS o") == [(2,)]
    assert [r[0] for r in q(f'SELECT is_current_ancestor FROM {db}."orders$history" ORDER BY made_current_at')] == [True, True]
    assert q(f'SELECT name, type FROM {db}."orders$refs"') == [("main", "BRANCH")]
    assert q(f'SELECT count(*) FROM {db}."orders$manifests"')[0][0] >= 1


def test_managed_views_are_read_only(q, server, orders, db):
    server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW glue_catalog.{db}.mv AS SELECT item, count(*) AS n FROM glue_catalog.{db}.orders GROUP BY item", "spark")
    assert q(f"SELECT item, n FROM {db}.mv ORDER BY 1") == [("bolt", 1), ("nut", 2)]
    for text in (f"INSERT INTO {db}.mv VALUES ('x', BIGINT '1')", f"DELETE FROM {db}.mv", f"UPDATE {db}.mv SET n = 1", f"DROP TABLE {db}.mv", f"VACUUM {db}.mv",
                 f"ALTER TABLE {db}.mv ADD COLUMNS (x int)", f"OPTIMIZE {db}.mv REWRITE DATA USING BIN_PACK"):
        refused(q, text)
    refused(q, f"CREATE MATERIALIZED VIEW {db}.mv2 AS SELECT 1 AS a", "NOT_SUPPORTED")
    refused(q, f"REFRESH MATERIALIZED VIEW {db}.mv", "NOT_SUPPORTED")
    assert q(f"SELECT item, n FROM {db}.mv ORDER BY 1") == [("bolt", 1), ("nut", 2)]


def test_errors(q, orders, db):
    refused(q, f"SELECT nope FROM {orders}", "COLUMN_NOT_FOUND: line 1:8: Column 'nope' cannot be resolved")
    refused(q, f"SELECT * FROM {db}.nope", f"TABLE_NOT_FOUND: line 1:15: Table 'awsdatacatalog.{db}.nope' does not exist")
    refused(q, f"\n\nSELECT * FROM {db}.nope", "line 3:15")
    refused(q, "SELECT * FORM x", "line 1:10: mismatched input 'FORM'. Expecting:")
    refused(q, f"SELECT 1 FROM {orders} WHERE item = 1", "TYPE_MISMATCH", "Cannot apply operator: varchar = integer")
    refused(q, f"SELECT 1 / (id - id) FROM {orders}", "DIVISION_BY_ZERO")
    refused(q, f"SELECT CAST(item AS integer) FROM {orders}", "INVALID_CAST_ARGUMENT: Cannot cast 'nut' to INTEGER")
    refused(q, "SELECT foo(1)", "FUNCTION_NOT_FOUND", "Function 'foo' not registered")
    refused(q, f"UNLOAD (SELECT * FROM {orders}) TO 's3://warehouse/x/' WITH (format = 'ORC')")
    refused(q, f"MSCK REPAIR TABLE {orders}")
    refused(q, "DROP DATABASE no_such_database_here")


def test_parameters(server, orders):
    with server.connect("athena") as c:
        assert c.execute(f"SELECT id FROM {orders} WHERE id > %s AND item = %s ORDER BY id", (0, "nut")).fetchall() == [(1,), (3,)]


def test_types(q, db):
    q(f"""CREATE TABLE {db}.types (b boolean, i int, l bigint, f float, d double, dc decimal(20,5), dt date, ts timestamp, s string, bin binary,
          a array<int>, m map<string,bigint>, st struct<x:int,y:string>) TBLPROPERTIES ('table_type'='ICEBERG')""")
    q(f"""INSERT INTO {db}.types VALUES (true, 1, BIGINT '2', REAL '1.5', 2.5e0, DECIMAL '1.00000', DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00.123456', 'é', X'00ff',
          ARRAY[1, 2], MAP(ARRAY['k'], ARRAY[BIGINT '5']), CAST(ROW(1, 'y') AS ROW(x integer, y varchar)))""")
    row = q(f"SELECT b, i, l, f, d, dc, dt, ts, s, to_hex(bin), cardinality(a), m['k'], st.y, typeof(ts), typeof(a), typeof(st), typeof(m) FROM {db}.types")[0]
    assert row == (True, 1, 2, 1.5, 2.5, decimal.Decimal("1.00000"), datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 0, 0, 0, 123456), "é", "00FF", 2, 5, "y",
                   "timestamp(6)", "array(integer)", "row(x integer, y varchar)", "map(varchar, bigint)")


def test_information_schema(q, orders, db):
    q(f"CREATE VIEW {db}.v AS SELECT 1 AS one")
    assert q(f"SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = '{db}' ORDER BY 1") == [("orders", "BASE TABLE"), ("v", "VIEW")]
    assert q(f"SELECT column_name, ordinal_position, data_type FROM awsdatacatalog.information_schema.columns WHERE table_schema = '{db}' AND table_name = 'orders' ORDER BY 2") == [
        ("id", 1, "bigint"), ("item", 2, "varchar"), ("qty", 3, "integer"), ("price", 4, "decimal(10,2)"), ("ts", 5, "timestamp(6)")]
    assert q(f"SELECT table_catalog, view_definition FROM information_schema.views WHERE table_schema = '{db}'") == [("awsdatacatalog", "SELECT 1 AS one")]
    assert (db,) in q("SELECT schema_name FROM information_schema.schemata")
    refused(q, "SELECT * FROM information_schema.nope", "TABLE_NOT_FOUND")
