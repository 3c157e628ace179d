# SPDX-License-Identifier: Apache-2.0
"""The narrow path: a table, two views, refreshes, a denied write at each door, foreign readers."""
import psycopg
import pytest
from botocore.exceptions import ClientError

VIEW = "SELECT customer_name, COUNT(*) AS order_count, SUM(amount) AS total_amount FROM glue_catalog.{ns}.orders GROUP BY customer_name"


@pytest.fixture()
def views(server, ns):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.orders (id INT, customer_name STRING, amount DECIMAL(10,2), order_date DATE) USING iceberg;
        INSERT INTO glue_catalog.{ns}.orders VALUES (1,'Alice',100.50,DATE'2026-01-01'),(2,'Bob',200.00,DATE'2026-01-02'),
          (3,'Alice',124.75,DATE'2026-01-03'),(4,'Carol',320.00,DATE'2026-01-04'),(5,'Bob',100.49,DATE'2026-01-05');
        SET spark.sql.mv.managed.enabled = true""")
    q = VIEW.format(ns=ns)
    server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.regular AS {q}")
    server.sql(f"CREATE MANAGED MATERIALIZED VIEW glue_catalog.{ns}.managed AS {q}")
    return ns


def rows(server, ns, view):
    return [(n, c, str(t)) for n, c, t in server.sql(f"SELECT * FROM glue_catalog.{ns}.{view} ORDER BY customer_name")]


FIRST = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 1, "320.00")]


def test_views_hold_the_query(server, views):
    assert rows(server, views, "regular") == FIRST
    assert rows(server, views, "managed") == FIRST
    assert server.sql(f"SHOW VIEWS IN glue_catalog.{views}") == [(views, "managed", False, "FRESH"), (views, "regular", False, "FRESH")]


def test_incremental_refresh(server, views):
    ns = views
    server.sql(f"INSERT INTO glue_catalog.{ns}.orders VALUES (6,'Dave',1.50,NULL)")
    server.sql(f"DELETE FROM glue_catalog.{ns}.orders WHERE customer_name = 'Bob'")
    server.sql(f"UPDATE glue_catalog.{ns}.orders SET amount = amount + 1 WHERE id = 1")
    assert server.sql(f"SHOW VIEWS IN glue_catalog.{ns}")[0][3] == "STALE"
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.managed")
    assert rows(server, ns, "managed") == [("Alice", 2, "226.25"), ("Carol", 1, "320.00"), ("Dave", 1, "1.50")]
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.managed"))["lastRefreshType"] == "INCREMENTAL"
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.managed")
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.managed"))["lastRefreshType"] == "NONE"


@pytest.mark.parametrize("statement", [
    "INSERT INTO {v} VALUES ('Mallory', 1, 1.0)", "DELETE FROM {v}", "DELETE FROM {v} WHERE customer_name = 'Alice'",
    "UPDATE {v} SET order_count = 0", "TRUNCATE TABLE {v}", "INSERT OVERWRITE {v} VALUES ('Mallory', 1, 1.0)",
    "MERGE INTO {v} t USING (SELECT 'Alice' AS n) s ON t.customer_name = s.n WHEN MATCHED THEN DELETE",
    "ALTER TABLE {v} ADD COLUMNS (note STRING)", "ALTER TABLE {v} RENAME TO {v}2", "ALTER TABLE {v} DROP COLUMN order_count"])
def test_sql_writes_to_a_managed_view_are_refused(server, views, statement):
    v = f"glue_catalog.{views}.managed"
    before = server.sql(f"SELECT snapshot_id FROM {v}.snapshots")
    with pytest.raises(psycopg.Error) as e:
        server.sql(statement.format(v=v))
    assert "system-managed materialized view" in str(e.value) or "managed materialized view" in str(e.value)
    assert f"{views}.managed" in str(e.value)
    assert rows(server, views, "managed") == FIRST
    assert server.sql(f"SELECT snapshot_id FROM {v}.snapshots") == before


def test_a_regular_view_may_be_written_and_is_repaired(server, views):
    server.sql(f"INSERT INTO glue_catalog.{views}.regular VALUES ('Mallory', 999, 99999.99)")
    assert len(rows(server, views, "regular")) == 4
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.regular")
    assert rows(server, views, "regular") == FIRST
    props = dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{views}.regular"))
    assert props["lastRefreshType"] == "FULL" and "another writer" in props["lastRefreshReason"]


def test_s3_writes_to_a_managed_view_are_refused(server, views):
    s3 = server.s3()
    listing = s3.list_objects_v2(Bucket="warehouse", Prefix=f"{views}.db/managed/")["Contents"]
    assert listing
    for key in [listing[0]["Key"], f"{views}.db/managed/data/evil.parquet"]:
        for call in (lambda: s3.put_object(Bucket="warehouse", Key=key, Body=b"x"), lambda: s3.delete_object(Bucket="warehouse", Key=key),
                     lambda: s3.create_multipart_upload(Bucket="warehouse", Key=key),
                     lambda: s3.copy_object(Bucket="warehouse", Key=key, CopySource={"Bucket": "warehouse", "Key": listing[0]["Key"]})):
            with pytest.raises(ClientError) as e:
                call()
            assert e.value.response["Error"]["Code"] == "AccessDenied"
            assert "system-managed materialized view" in e.value.response["Error"]["Message"]
    s3.get_object(Bucket="warehouse", Key=listing[0]["Key"])["Body"].read()
    server.run("verify", f"{views}.managed")


def test_rest_writes_to_a_managed_view_are_refused(server, views):
    import pyarrow as pa
    from pyiceberg.exceptions import ForbiddenError
    cat = server.pyiceberg()
    t = cat.load_table(f"{views}.managed")
    assert [f.name for f in t.schema().fields] == ["customer_name", "order_count", "total_amount"]
    assert t.scan().to_arrow().num_rows == 3
    with pytest.raises(Exception) as e:
        t.append(pa.Table.from_pylist([{"customer_name": "Mallory", "order_count": 1, "total_amount": None}], schema=t.schema().as_arrow()))
    assert "system-managed materialized view" in str(e.value) or "AccessDenied" in str(e.value) or "ACCESS_DENIED" in str(e.value)
    with pytest.raises(ForbiddenError):
        with t.update_schema() as u:
            u.add_column("note", __import__("pyiceberg.types").types.StringType())
    with pytest.raises(ForbiddenError):
        cat.rename_table(f"{views}.managed", f"{views}.managed2")


def test_pyiceberg_writes_count_as_changes(server, views):
    import decimal
    import pyarrow as pa
    t = server.pyiceberg().load_table(f"{views}.orders")
    t.append(pa.Table.from_pylist([{"id": 7, "customer_name": "Eve", "amount": decimal.Decimal("5.00"), "order_date": None}], schema=t.schema().as_arrow()))
    t.delete("customer_name = 'Carol'")
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.managed")
    assert rows(server, views, "managed") == [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Eve", 1, "5.00")]
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{views}.managed"))["lastRefreshType"] == "INCREMENTAL"


def test_duckdb_reads_the_view(server, views):
    duckdb = pytest.importorskip("duckdb")
    import importlib.util
    import pathlib
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for ext in ("httpfs", "avro", "iceberg"):
        spec = importlib.util.find_spec(f"duckdb_extension_{ext}")
        file = next(pathlib.Path(spec.submodule_search_locations[0]).rglob(f"{ext}.duckdb_extension"))
        con.execute(f"INSTALL '{file}'; LOAD {ext}")
    con.execute(f"""CREATE SECRET s (TYPE iceberg, CLIENT_ID '{server.key}', CLIENT_SECRET '{server.secret}', OAUTH2_SERVER_URI '{server.lake}/iceberg/v1/oauth/tokens')""")
    con.execute(f"ATTACH '123456789012' AS lake (TYPE iceberg, ENDPOINT '{server.lake}/iceberg', SECRET s)")
    got = con.execute(f"SELECT * FROM lake.{views}.managed ORDER BY customer_name").fetchall()
    assert [(n, c, str(t)) for n, c, t in got] == FIRST
