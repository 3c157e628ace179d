# SPDX-License-Identifier: Apache-2.0
"""Reading: pruning by partitions and statistics, files on S3 paths, time travel, metadata tables, views."""
import io

import psycopg
import pytest


def test_pruning_never_changes_an_answer(server, ns):
    t = f"glue_catalog.{ns}.t"
    server.sql(f"CREATE TABLE {t} (id INT, d DATE, s STRING, x DECIMAL(10,2)) USING iceberg PARTITIONED BY (months(d), bucket(4, id))")
    for m in (1, 2, 3):
        server.sql(f"INSERT INTO {t} SELECT CAST(id AS INT), make_date(2026, {m}, CAST(1 + id % 28 AS INT)), concat('s', id), CAST(id AS DECIMAL(10,2)) / 4 FROM range(0, 200)")
    server.sql(f"INSERT INTO {t} VALUES (NULL, NULL, NULL, NULL)")
    for where, want in [("d = DATE'2026-02-03'", 8), ("d BETWEEN DATE'2026-01-10' AND DATE'2026-01-12'", 21), ("id = 7", 3), ("id IN (1, 2, 999)", 6), ("s = 's15'", 3),
                        ("x > 49", 9), ("5 > id", 15), ("id IS NOT NULL", 600), ("id IS NULL", 1), ("d > DATE'2026-02-28'", 200), ("id = 7 OR id = 8", 6), ("NOT id = 7", 597)]:
        assert server.sql(f"SELECT count(*) FROM {t} WHERE {where}") == [(want,)], where
    plan = "\n".join(r[0] for r in server.sql(f"EXPLAIN EXTENDED SELECT count(*) FROM {t} WHERE d = DATE'2026-02-03'"))
    assert "Scan " + t + ": 4 file(s)" in plan and "9 file(s) skipped" in plan, plan
    assert str(server.data) not in plan


def test_outer_joins_with_pruned_sides(server, ns):
    a, b = f"glue_catalog.{ns}.a", f"glue_catalog.{ns}.b"
    server.sql(f"CREATE TABLE {a} (k INT) USING iceberg; CREATE TABLE {b} (k INT, v INT) USING iceberg PARTITIONED BY (v)")
    server.sql(f"INSERT INTO {a} VALUES (1), (2), (3); INSERT INTO {b} VALUES (1, 10), (2, 20)")
    assert server.sql(f"SELECT a.k, b.v FROM {a} a LEFT JOIN {b} b ON a.k = b.k WHERE b.v = 10") == [(1, 10)]
    assert server.sql(f"SELECT a.k FROM {a} a LEFT JOIN {b} b ON a.k = b.k WHERE b.v IS NULL") == [(3,)]


def test_files_on_s3_paths(server, ns):
    import pyarrow as pa
    import pyarrow.parquet as pq
    s3 = server.s3()
    buf = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]}), buf)
    for i in range(2):
        s3.put_object(Bucket="warehouse", Key=f"{ns}/in/part-{i}.parquet", Body=buf.getvalue())
    s3.put_object(Bucket="warehouse", Key=f"{ns}/in/_SUCCESS", Body=b"")
    s3.put_object(Bucket="warehouse", Key=f"{ns}/x.csv", Body=b'1,"a,b"\n2,c\n')
    s3.put_object(Bucket="warehouse", Key=f"{ns}/x.json", Body=b'{"n": 1, "s": "u"}\n{"n": 2}\n')
    assert server.sql(f"SELECT count(*), sum(a) FROM parquet.`s3://warehouse/{ns}/in/`") == [(6, 12)]
    assert server.sql(f"SELECT b FROM parquet.`s3://warehouse/{ns}/in/part-0.parquet` WHERE a = 3") == [("z",)]
    assert server.sql(f"SELECT _c0, _c1 FROM csv.`s3://warehouse/{ns}/x.csv` ORDER BY 1") == [("1", "a,b"), ("2", "c")]
    assert server.sql(f"SELECT n, s FROM json.`s3://warehouse/{ns}/x.json` ORDER BY n") == [(1, "u"), (2, None)]
    for bad in ("parquet.`/etc/passwd`", "csv.`file:///etc/passwd`", "parquet.`s3://warehouse/absent/`", "text.`s3://warehouse/x`", f"parquet.`s3://warehouse/{ns}/x.csv`"):
        with pytest.raises(psycopg.Error):
            server.sql(f"SELECT * FROM {bad}")


def test_time_travel_and_metadata_tables(server, ns):
    t = f"glue_catalog.{ns}.t"
    server.sql(f"CREATE TABLE {t} (a INT) USING iceberg; INSERT INTO {t} VALUES (1)")
    first = server.sql(f"SELECT snapshot_id FROM {t}.snapshots")[0][0]
    server.sql(f"ALTER TABLE {t} CREATE TAG one AS OF VERSION {first}")
    server.sql(f"INSERT INTO {t} VALUES (2); ALTER TABLE {t} ADD COLUMNS (b STRING)")
    assert server.sql(f"SELECT * FROM {t} VERSION AS OF {first}") == [(1,)]
    assert server.sql(f"SELECT a FROM {t} VERSION AS OF 'one'") == [(1,)]
    assert server.sql(f"SELECT a FROM {t}.tag_one") == [(1,)]
    assert sorted(server.sql(f"SELECT * FROM {t}")) == [(1, None), (2, None)]
    assert server.sql(f"SELECT count(*) FROM {t}.history") == [(2,)]
    assert server.sql(f"SELECT name, type FROM {t}.refs ORDER BY name") == [("main", "BRANCH"), ("one", "TAG")]
    assert [r[0] for r in server.sql(f"SELECT operation FROM {t}.snapshots ORDER BY committed_at")] == ["append", "append"]
    for m in ("files", "manifests", "partitions", "entries", "metadata_log_entries", "all_data_files"):
        assert server.sql(f"SELECT count(*) FROM {t}.{m}")[0][0] >= 1
    with pytest.raises(psycopg.Error, match="Cannot find snapshot with ID 12345"):
        server.sql(f"SELECT * FROM {t} VERSION AS OF 12345")
    for when, n in [("'2099-01-01'", 2), ("DATE'2099-01-01'", 2), ("4102444800", 2), ("current_timestamp() + INTERVAL 1 DAY", 2)]:
        assert server.sql(f"SELECT count(*) FROM {t} TIMESTAMP AS OF {when}") == [(n,)]
    made = server.sql(f"SELECT committed_at FROM {t}.snapshots ORDER BY committed_at")[0][0]
    assert server.sql(f"SELECT * FROM {t} TIMESTAMP AS OF '{made}'") == [(1,)]
    for when, why in [("'2001-01-01'", "older than the given time"), ("current_timestamp() - INTERVAL 1 DAY", "older than the given time"), ("NULL", "not NULL"), ("'junk'", "junk")]:
        with pytest.raises(psycopg.Error, match=why):
            server.sql(f"SELECT * FROM {t} TIMESTAMP AS OF {when}")


def test_views(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT, b STRING) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1, 'x'), (2, 'y')")
    server.sql(f"CREATE VIEW glue_catalog.{ns}.v AS SELECT a + 1 AS c, b FROM glue_catalog.{ns}.t WHERE a > 1")
    server.sql(f"CREATE VIEW glue_catalog.{ns}.w (q) AS SELECT c * 2 FROM glue_catalog.{ns}.v")
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.w") == [(6,)]
    assert server.sql(f"SHOW VIEWS IN glue_catalog.{ns}") == [(ns, "v", False, None), (ns, "w", False, None)]
    server.sql(f"CREATE OR REPLACE VIEW glue_catalog.{ns}.w AS SELECT c + 100 AS q, b FROM glue_catalog.{ns}.v")
    assert server.sql(f"SELECT q, b FROM glue_catalog.{ns}.w") == [(103, "y")]
    with pytest.raises(psycopg.Error):
        server.sql(f"CREATE OR REPLACE VIEW glue_catalog.{ns}.w AS SELECT nothing FROM glue_catalog.{ns}.v")
    assert server.sql(f"SELECT q, b FROM glue_catalog.{ns}.w") == [(103, "y")]
    server.sql(f"DROP VIEW glue_catalog.{ns}.w")
    with pytest.raises(psycopg.errors.UndefinedTable):
        server.sql(f"SELECT * FROM glue_catalog.{ns}.w")


def test_refresh_history(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1)")
    server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT a, count(*) AS n FROM glue_catalog.{ns}.t GROUP BY a")
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1)")
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v; REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v FULL")
    rows = server.sql(f"SELECT status, type, reason FROM glue_catalog.{ns}.v.refreshes ORDER BY started_at")
    assert [r[:2] for r in rows] == [("SUCCEEDED", "FULL"), ("SUCCEEDED", "INCREMENTAL"), ("SUCCEEDED", "FULL")]
    assert rows[2][2] == "FULL was asked for"
    plan = "\n".join(r[0] for r in server.sql(f"EXPLAIN REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v"))
    assert "s0_chg" in plan and "__ivm_num_rec" in plan


def test_partition_values_of_every_kind(server, ns):
    """Values that are awkward in paths, null, negative and before 1970; PyIceberg prunes by them and finds the rows."""
    t = f"glue_catalog.{ns}.t"
    server.sql(f"CREATE TABLE {t} (a INT, p STRING, ts TIMESTAMP, d DATE, x DECIMAL(9,2)) USING iceberg PARTITIONED BY (p, hours(ts), months(d), bucket(8, a), truncate(3, x))")
    values = ["a/b", "50%", "ü" * 50, "x" * 300, "a=b&c", "", None, "NULL", "n", "'q'", "\\bs", "line\nbreak"]
    literal = lambda s: "NULL" if s is None else "'" + s.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    server.sql(f"INSERT INTO {t} VALUES " + ", ".join(
        f"({i}, {literal(p)}, TIMESTAMP'1969-12-31 23:{i:02d}:59.5', DATE'1960-01-{i + 1:02d}', {(i - 6) * 3.25})" for i, p in enumerate(values)))
    assert server.sql(f"SELECT p FROM {t} ORDER BY a") == [(p,) for p in values]
    for i, p in enumerate(values):
        assert server.sql(f"SELECT a FROM {t} WHERE p <=> {literal(p)} AND a = {i} AND x = {(i - 6) * 3.25}") == [(i,)]
    table = server.pyiceberg().load_table(f"{ns}.t")
    assert table.scan().to_arrow().num_rows == len(values)
    for i in range(len(values)):
        assert table.scan(row_filter=f"a = {i}").to_arrow()["p"].to_pylist() == [values[i]]
    assert sorted(table.scan(row_filter="x < -16").to_arrow()["a"].to_pylist()) == [0, 1]
    assert table.scan(row_filter="ts < '1970-01-01T00:00:00+00:00' and d < '1960-01-03'").to_arrow().num_rows == 2


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"])
@pytest.mark.parametrize("transform", ["years", "months", "days", "hours"])
def test_time_transforms(server, ns, kind, transform):
    if kind == "DATE" and transform == "hours":
        pytest.skip("hours() does not take a date")
    t = f"glue_catalog.{ns}.t"
    server.sql(f"CREATE TABLE {t} (a INT, d {kind}) USING iceberg PARTITIONED BY ({transform}(d))")
    server.sql(f"INSERT INTO {t} VALUES (1, {kind}'2024-02-29'), (2, {kind}'1969-12-31'), (3, NULL), (4, {kind}'1960-01-01')")
    assert server.sql(f"SELECT a FROM {t} WHERE d = {kind}'1969-12-31'") == [(2,)]
    value = {"DATE": "2024-02-29", "TIMESTAMP": "2024-02-29T00:00:00+00:00", "TIMESTAMP_NTZ": "2024-02-29T00:00:00"}[kind]
    table = server.pyiceberg().load_table(f"{ns}.t")
    assert table.scan(row_filter=f"d = '{value}'").to_arrow()["a"].to_pylist() == [1]
    assert table.scan().to_arrow().num_rows == 4


@pytest.mark.parametrize("version", [2, 3])
def test_count_is_what_reading_counts(server, ns, version):
    """count(*) alone is answered by metadata; with a condition that always holds, the rows are read."""
    t = f"glue_catalog.{ns}.t"

    def both(*at):
        want = server.sql(f"SELECT count(*) FROM {t} {' '.join(at)} WHERE a IS NULL OR a IS NOT NULL")
        assert server.sql(f"SELECT count(*) FROM {t} {' '.join(at)}") == server.sql(f"SELECT count(*) AS n FROM {t} {' '.join(at)} x") == want
        return want[0][0]

    server.sql(f"CREATE TABLE {t} (a INT, p INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '{version}')")
    assert both() == 0
    server.sql(f"INSERT INTO {t} SELECT CAST(id AS INT), CAST(id % 3 AS INT) FROM range(3000); INSERT INTO {t} VALUES (NULL, NULL)")
    first = server.sql(f"SELECT snapshot_id FROM {t}.snapshots ORDER BY committed_at DESC")[0][0]
    assert both() == 3001
    server.sql(f"DELETE FROM {t} WHERE a % 7 = 0")
    assert both() == 3001 - 429
    server.sql(f"DELETE FROM {t} WHERE a % 5 = 0; UPDATE {t} SET p = 9 WHERE a < 100; DELETE FROM {t} WHERE p = 1")
    both()
    assert both(f"VERSION AS OF {first}") == 3001
    assert server.sql(f"SELECT count(*) + 1 FROM {t} VERSION AS OF {first}") == [(3002,)]
    assert server.sql(f"SELECT count(*) FROM {t} VERSION AS OF {first} LIMIT 0") == []
    assert server.sql(f"SELECT count(DISTINCT p), count(a) FROM {t} VERSION AS OF {first}") == [(3, 3000)]


def test_a_column_that_was_promoted(server, ns):
    """Files of other writers say of a column no more than its physical type: those before and those after a promotion are not read as one."""
    import pyarrow as pa
    from pyiceberg.schema import Schema
    from pyiceberg.types import FloatType, DoubleType, IntegerType, LongType, NestedField
    t = server.pyiceberg().create_table(f"{ns}.t", Schema(NestedField(1, "a", IntegerType()), NestedField(2, "f", FloatType())))
    for i in range(3):
        t.append(pa.table({"a": pa.array([i], pa.int32()), "f": pa.array([0.5], pa.float32())}))
    with t.update_schema() as u:
        u.update_column("a", LongType())
        u.update_column("f", DoubleType())
    t.append(pa.table({"a": pa.array([2 ** 40], pa.int64()), "f": pa.array([1e300], pa.float64())}))
    assert server.sql(f"SELECT a, f FROM glue_catalog.{ns}.t ORDER BY a") == [(0, 0.5), (1, 0.5), (2, 0.5), (2 ** 40, 1e300)]
