# SPDX-License-Identifier: Apache-2.0
"""CREATE SOURCE … FROM ICEBERG CATALOG: tables of firn's own catalog, written by Spark SQL and by PyIceberg, as live relations with a continuous view over them."""
import functools

import boto3
import psycopg
import pyarrow
import pytest

import conftest

until = functools.partial(conftest.until, seconds=40)


@pytest.fixture()
def db(server, ns):
    with server.connect("materialize") as c:
        c.execute(f"CREATE SCHEMA {ns}")
        c.execute(f"SET search_path = {ns}")
        c.execute(f"CREATE SECRET cred AS '{server.key}:{server.secret}'")
        c.execute(f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{server.lake}/iceberg', CREDENTIAL SECRET cred)")
        yield c


def test_rows_and_changes(server, ns, db):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT, name STRING, price DECIMAL(10,2)) USING iceberg")
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1, 'a', 1.50), (2, 'b', 2.25)")
    db.execute(f"CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', TABLE 't', REFRESH INTERVAL '1s')")
    db.execute("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, sum(price) AS total FROM s")
    until(lambda: db.execute("SELECT id, name, price::text FROM s ORDER BY id").fetchall(), [(1, "a", "1.50"), (2, "b", "2.25")])
    until(lambda: db.execute("SELECT n, total::text FROM v").fetchall(), [(2, "3.75")])
    server.sql(f"UPDATE glue_catalog.{ns}.t SET price = 10.00 WHERE id = 1")
    server.sql(f"DELETE FROM glue_catalog.{ns}.t WHERE id = 2")
    until(lambda: db.execute("SELECT n, total::text FROM v").fetchall(), [(1, "10.00")])
    table = server.pyiceberg().load_table(f"{ns}.t")
    table.append(pyarrow.table({"id": [3], "name": ["c"], "price": pyarrow.array(["0.25"]).cast(pyarrow.decimal128(10, 2))}, schema=table.schema().as_arrow()))
    until(lambda: db.execute("SELECT n, total::text FROM v").fetchall(), [(2, "10.25")])
    server.sql(f"INSERT OVERWRITE glue_catalog.{ns}.t VALUES (7, 'z', 7.00)")
    until(lambda: db.execute("SELECT id, name FROM s").fetchall(), [(7, "z")])
    db.execute("DROP SOURCE s CASCADE")


def test_every_type(server, ns, db):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(38,10), dt DATE, ts TIMESTAMP_NTZ, tz TIMESTAMP, s STRING, bin BINARY) USING iceberg")
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (true, 1, 9223372036854775807, 1.5, 2.5, 1234567890123456789012345678.0123456789, DATE'2026-01-02', TIMESTAMP_NTZ'2026-01-02 03:04:05.123456', "
               f"TIMESTAMP'2026-01-02 03:04:05.123456', 'ü''x', X'00ff'), (null, null, null, null, null, null, null, null, null, null, null)")
    db.execute(f"CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', TABLE 't', REFRESH INTERVAL '1s')")
    until(lambda: db.execute("SELECT count(*) FROM s").fetchone()[0], 2)
    row = db.execute("SELECT b, i, l, f, d, n::text, dt::text, ts::text, tz::text, s, bin FROM s WHERE i IS NOT NULL").fetchone()
    assert row[:9] == (True, 1, 9223372036854775807, 1.5, 2.5, "1234567890123456789012345678.0123456789", "2026-01-02", "2026-01-02 03:04:05.123456", "2026-01-02 03:04:05.123456+00")
    assert (row[9], bytes(row[10])) == ("ü'x", b"\x00\xff")
    server.sql(f"DELETE FROM glue_catalog.{ns}.t WHERE i = 1")
    until(lambda: db.execute("SELECT count(*), count(i) FROM s").fetchone(), (1, 0))


def test_nested(server, ns, db):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT, l ARRAY<INT>, m MAP<STRING, INT>, s STRUCT<x: INT, y: STRING>) USING iceberg")
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1, array(1, 2), map('k', 3), named_struct('x', 4, 'y', 'z')), (2, NULL, NULL, NULL)")
    db.execute(f"CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', TABLE 't', REFRESH INTERVAL '1s')")
    until(lambda: db.execute("SELECT id, l[2], m->'k', (s).y FROM s ORDER BY id").fetchall(), [(1, 2, 3, "z"), (2, None, None, None)])
    server.sql(f"DELETE FROM glue_catalog.{ns}.t WHERE id = 1")
    until(lambda: db.execute("SELECT count(*) FROM s").fetchone()[0], 1)


def test_several_tables(server, ns, db):
    for t in ("a", "b"):
        server.sql(f"CREATE TABLE glue_catalog.{ns}.{t} (id BIGINT) USING iceberg")
        server.sql(f"INSERT INTO glue_catalog.{ns}.{t} VALUES (1)")
    db.execute(f"CREATE SOURCE both_of FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', REFRESH INTERVAL '1s') FOR TABLES (a, {ns}.b AS other)")
    until(lambda: db.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM other)").fetchone(), (1, 1))
    server.sql(f"INSERT INTO glue_catalog.{ns}.b VALUES (2)")
    until(lambda: db.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM other)").fetchone(), (1, 2))
    db.execute("DROP SOURCE both_of CASCADE")
    for what in ("FOR ALL TABLES", f"FOR SCHEMAS ({ns})"):
        db.execute(f"CREATE SOURCE whole FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', REFRESH INTERVAL '1s') {what}")
        until(lambda: db.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)").fetchone(), (1, 2))
        db.execute("DROP SOURCE whole CASCADE")


def test_table_buckets(server, ns, db):
    """By S3 Tables' endpoint: signed requests, the connection's own keys for the files."""
    api = boto3.client("s3tables", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    name = "b" + ns[-20:]
    arn = api.create_table_bucket(name=name)["arn"]
    server.sql(f"CREATE NAMESPACE `{name}`.shop")
    server.sql(f"CREATE TABLE `{name}`.shop.t (id BIGINT) USING iceberg")
    server.sql(f"INSERT INTO `{name}`.shop.t VALUES (1), (2)")
    db.execute(f"CREATE SECRET secret_key AS '{server.secret}'")
    db.execute(f"CREATE CONNECTION aws TO AWS (ENDPOINT '{server.lake}', REGION 'us-east-1', ACCESS KEY ID '{server.key}', SECRET ACCESS KEY SECRET secret_key)")
    db.execute(f"CREATE CONNECTION buckets TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE '{arn}', AWS CONNECTION aws)")
    db.execute("CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION buckets (NAMESPACE 'shop', TABLE 't', REFRESH INTERVAL '1s')")
    until(lambda: db.execute("SELECT sum(id) FROM s").fetchone()[0], 3)
    server.sql(f"DELETE FROM `{name}`.shop.t WHERE id = 1")
    until(lambda: db.execute("SELECT sum(id) FROM s").fetchone()[0], 2)


def test_drift_is_said(server, ns, db):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT, name STRING) USING iceberg")
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1, 'a')")
    db.execute(f"CREATE SOURCE drifting FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE '{ns}', TABLE 't', REFRESH INTERVAL '1s')")
    until(lambda: db.execute("SELECT count(*) FROM drifting").fetchone()[0], 1)
    server.sql(f"ALTER TABLE glue_catalog.{ns}.t DROP COLUMN name")
    until(lambda: db.execute("SELECT status FROM mz_internal.mz_source_statuses WHERE name = 'drifting'").fetchone()[0], "stalled")
    error, = db.execute("SELECT error FROM mz_internal.mz_source_statuses WHERE name = 'drifting'").fetchone()
    assert 'column "name" was dropped' in error


def test_refused(server, ns, db):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT) USING iceberg")
    for options, words in [(f"NAMESPACE '{ns}', TABLE 'none'", "does not exist"), (f"TABLE 't'", "must specify NAMESPACE"), (f"NAMESPACE '{ns}'", "must specify TABLE"),
                           (f"NAMESPACE '{ns}', TABLE 't', REFRESH INTERVAL '1ms'", "one second")]:
        with pytest.raises(psycopg.Error, match=words):
            db.execute(f"CREATE SOURCE bad FROM ICEBERG CATALOG CONNECTION lake ({options})")
    assert db.execute("SELECT count(*) FROM mz_sources WHERE name = 'bad'").fetchone()[0] == 0


def test_restart(fresh):
    fresh.sql("CREATE NAMESPACE glue_catalog.n")
    fresh.sql("CREATE TABLE glue_catalog.n.t (id BIGINT) USING iceberg")
    fresh.sql("INSERT INTO glue_catalog.n.t VALUES (1)")
    with fresh.connect("materialize") as c:
        c.execute(f"CREATE SECRET cred AS '{fresh.key}:{fresh.secret}'")
        c.execute(f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{fresh.lake}/iceberg', CREDENTIAL SECRET cred)")
        c.execute("CREATE SOURCE s FROM ICEBERG CATALOG CONNECTION lake (NAMESPACE 'n', TABLE 't', REFRESH INTERVAL '1s')")
        until(lambda: c.execute("SELECT sum(id) FROM s").fetchone()[0], 1)
        fresh.sql("INSERT INTO glue_catalog.n.t VALUES (2), (3)")
    fresh.kill()
    fresh.start()
    with fresh.connect("materialize") as c:
        until(lambda: c.execute("SELECT sum(id), count(*) FROM s").fetchone(), (6, 3))
        fresh.sql("DELETE FROM glue_catalog.n.t WHERE id = 2")
        until(lambda: c.execute("SELECT sum(id), count(*) FROM s").fetchone(), (4, 2))
