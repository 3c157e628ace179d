# SPDX-License-Identifier: Apache-2.0
"""Spark with Iceberg's own runtime against firn, in both directions: what one writes the other reads, the same rows.

`make setup-spark` gets it.  Two catalogs of one session: glue_catalog, named as firn names it, with OAuth2 and vended credentials;
keys with requests signed by its own."""
import datetime
import decimal
import json
import os
import pathlib
import subprocess

import psycopg
import pytest

from conftest import ROOT

PYTHON = ROOT / "build" / "venv-spark" / "bin" / "python"
JARS = sorted((ROOT / "build" / "spark-jars").glob("*.jar"))
pytestmark = [pytest.mark.long, pytest.mark.skipif(not PYTHON.exists() or len(JARS) < 2, reason="Spark is not there; `make setup-spark` gets it")]

DENIED = "system-managed materialized view"


class SparkError(Exception):
    pass


class Spark:
    """A Spark session in a process of its own; `conf` adds to its settings or replaces them (None takes one out), `env` to its environment."""
    def __init__(self, server, log, conf=(), env=(), jars=()):
        settings = self.settings(server, log, jars) | dict(conf)
        settings = {k: v for k, v in settings.items() if v is not None}
        self.log = open(log, "wb")
        self.process = subprocess.Popen([str(PYTHON), str(pathlib.Path(__file__).with_name("spark_driver.py")), json.dumps(settings)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.log, text=True, env=dict(os.environ, SPARK_LOCAL_IP="127.0.0.1", TZ="UTC") | dict(env), cwd=log.parent)
        ready = self.process.stdout.readline()
        assert ready, "Spark did not start: " + log.read_text()[-2000:]

    @staticmethod
    def settings(server, log, jars):
        catalog = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": f"{server.lake}/iceberg", ".warehouse": "123456789012",
                   ".credential": f"{server.key}:{server.secret}", ".oauth2-server-uri": f"{server.lake}/iceberg/v1/oauth/tokens",
                   ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO", ".cache-enabled": "false", ".client.region": "us-east-1"}
        keys = {".s3.endpoint": server.lake, ".s3.path-style-access": "true", ".s3.access-key-id": server.key, ".s3.secret-access-key": server.secret,
                ".header.X-Iceberg-Access-Delegation": "", ".rest.auth.type": "sigv4", ".rest.auth.sigv4.delegate-auth-type": "none", ".rest.signing-name": "glue",
                ".rest.signing-region": "us-east-1", ".rest.access-key-id": server.key, ".rest.secret-access-key": server.secret}
        conf = {"spark.jars": ",".join(map(str, [*JARS, *jars])), "spark.driver.memory": "1g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
                "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "UTC",
                "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
                "spark.sql.warehouse.dir": str(log.parent / "spark-warehouse")}
        conf |= {f"spark.sql.catalog.glue_catalog{k}": v for k, v in catalog.items()}
        return conf | {f"spark.sql.catalog.keys{k}": v for k, v in (catalog | keys).items()}

    def append(self, table, query):
        """By the DataFrame API."""
        return self.sql({"append": table, "query": query})

    def sql(self, *statements):
        """The last statement's rows as tuples; self.columns has their names, self.seconds the time it took."""
        for s in statements:
            self.process.stdin.write(json.dumps(s) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            self.seconds = answer["seconds"]
            if "error" in answer:
                raise SparkError(answer["error"])
        self.columns = answer["columns"]
        return [tuple(r) for r in answer["rows"]]

    def fails(self, statement):
        with pytest.raises(SparkError) as e:
            self.sql(statement)
        return str(e.value)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.log.close()


@pytest.fixture(scope="module")
def spark(server):
    s = Spark(server, server.data.parent / "spark.log")
    yield s
    s.stop()


def plain(v):
    """As spark_driver.py has it."""
    if isinstance(v, datetime.datetime) and v.tzinfo:
        v = v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(v, (decimal.Decimal, datetime.date)):
        return str(v)
    if isinstance(v, (bytes, bytearray)):
        return v.hex()
    return [plain(x) for x in v] if isinstance(v, (list, tuple)) else v


@pytest.fixture()
def both(server, spark):
    """Runs a query here and there, checks that the rows are the same, and returns them."""
    def run(query):
        mine, theirs = [tuple(map(plain, r)) for r in server.sql(query)], spark.sql(query)
        assert mine == theirs, query
        return mine
    return run


def made(ns, name="t"):
    return f"glue_catalog.{ns}.{name}"


def snapshots(server, t):
    return [r[0] for r in server.sql(f"SELECT snapshot_id FROM {t}.snapshots ORDER BY committed_at")]


def refresh(server, view):
    server.sql(f"REFRESH MATERIALIZED VIEW {view}")
    return dict(server.sql(f"SHOW TBLPROPERTIES {view}"))["lastRefreshType"]


# ---- what Spark writes, firn reads --------------------------------------------------------------------------------------------------

LEAVES = "id, b, l, f, d, x, dt, ts, tn, s, hex(bin) AS bin, a, st.p, st.q.r, m['k'] AS mk, get(a2, 0).z AS z"
COLUMNS = """(id INT NOT NULL, b BOOLEAN, l BIGINT, f FLOAT, d DOUBLE, x DECIMAL(18,4), dt DATE, ts TIMESTAMP, tn TIMESTAMP_NTZ, s STRING, bin BINARY,
    a ARRAY<INT>, st STRUCT<p: INT, q: STRUCT<r: STRING>>, m MAP<STRING, INT>, a2 ARRAY<STRUCT<z: DECIMAL(5,2)>>)"""
VALUES = """(1, true, 9007199254740993, CAST(1.5 AS FLOAT), 2.25D, 12345.6789, DATE'2026-02-28', TIMESTAMP'2026-01-02 03:04:05.000006', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999',
    'grüße', X'00FF', array(1, NULL, 3), named_struct('p', 1, 'q', named_struct('r', 'deep')), map('k', 7), array(named_struct('z', 1.25))),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, false, -1, CAST('-0.0' AS FLOAT), CAST('NaN' AS DOUBLE), -0.0001, DATE'0001-01-01', TIMESTAMP'1900-01-01 00:00:00', TIMESTAMP_NTZ'2100-01-01 00:00:00', '',
    X'', array(), named_struct('p', NULL, 'q', NULL), map(), array())"""


@pytest.mark.parametrize("writer", ["spark", "firn"])
@pytest.mark.parametrize("version", [2, 3])
def test_values(server, spark, both, ns, writer, version):
    run = spark.sql if writer == "spark" else server.sql
    run(f"CREATE TABLE {made(ns)} {COLUMNS} USING iceberg TBLPROPERTIES ('format-version' = '{version}')")
    run(f"INSERT INTO {made(ns)} VALUES {VALUES}")
    nan = f"CASE WHEN isnan(d) THEN 'NaN' ELSE CAST(d AS STRING) END AS d"
    rows = both(f"SELECT {LEAVES.replace(' d,', f' {nan},')} FROM {made(ns)} ORDER BY id")
    assert rows[0] == (1, True, 9007199254740993, 1.5, "2.25", "12345.6789", "2026-02-28", "2026-01-02 03:04:05.000006", "1969-12-31 23:59:59.999999", "grüße",
                       "00FF", [1, None, 3], 1, "deep", 7, "1.25")
    assert rows[1] == (2,) + (None,) * 15 and rows[2][4] == "NaN" and rows[2][6] == "0001-01-01" and rows[2][11] == []
    assert [r[:2] for r in server.sql(f"DESCRIBE {made(ns)}")][:15] == [r[:2] for r in spark.sql(f"DESCRIBE {made(ns)}")][:15]


@pytest.mark.parametrize("catalog,version,mode", [("glue_catalog", 2, "copy-on-write"), ("glue_catalog", 2, "merge-on-read"), ("keys", 3, "copy-on-write"),
                                                  ("glue_catalog", 3, "merge-on-read"), ("keys", 2, "merge-on-read")])
def test_spark_writes(server, spark, both, ns, catalog, version, mode):
    w, t = f"{catalog}.{ns}.t", made(ns)
    modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    spark.sql(f"CREATE TABLE {w} (id INT, k STRING, x DECIMAL(10,2)) USING iceberg PARTITIONED BY (k, bucket(2, id)) TBLPROPERTIES ('format-version' = '{version}', {modes})",
              f"INSERT INTO {w} SELECT CAST(id AS INT), concat('k', id % 3), CAST(id AS DECIMAL(10,2)) / 4 FROM range(0, 60)")
    q = f"SELECT id, k, x FROM {t} ORDER BY id, x"
    assert len(both(q)) == 60
    spark.sql(f"DELETE FROM {w} WHERE id % 10 = 7")
    assert len(both(q)) == 54
    spark.sql(f"UPDATE {w} SET x = x + 100, k = 'moved' WHERE id BETWEEN 20 AND 24")
    assert [r[1] for r in both(q) if r[0] in (20, 24)] == ["moved", "moved"]
    spark.sql(f"""MERGE INTO {w} t USING (SELECT CAST(id AS INT) AS id FROM range(55, 65)) s ON t.id = s.id
        WHEN MATCHED AND t.id = 55 THEN DELETE WHEN MATCHED THEN UPDATE SET x = -1 WHEN NOT MATCHED THEN INSERT (id, k, x) VALUES (s.id, 'new', 0)""")
    rows = both(q)
    assert 55 not in [r[0] for r in rows] and (60, "new", "0.00") in rows and (58, "k1", "-1.00") in rows
    server.sql(f"DELETE FROM {t} WHERE id < 5; UPDATE {t} SET k = 'firn' WHERE id = 30")          # on top of Spark's deletes
    assert [r for r in both(q) if r[0] in (4, 5, 30)] == [(5, "k2", "1.25"), (30, "firn", "7.50")]
    spark.sql(f"DELETE FROM {w} WHERE id IN (30, 31)")                                         # and Spark's on top of firn's
    assert not [r for r in both(q) if r[0] in (30, 31)]
    formats = {r[0] for r in server.sql(f"SELECT file_format FROM {t}.all_delete_files")}
    assert formats == ({"PUFFIN" if version == 3 else "PARQUET"} if mode == "merge-on-read" else set())
    spark.sql(f"INSERT OVERWRITE {w} PARTITION (k = 'new') SELECT 1000, 5.5")
    assert [r for r in both(q) if r[1] == "new"] == [(1000, "new", "5.50")]
    spark.sql(f"DELETE FROM {w} WHERE k = 'k0'")                                               # whole partitions: metadata only
    assert both(f"SELECT count(*) FROM {t} WHERE k = 'k0'") == [(0,)]
    spark.sql(f"TRUNCATE TABLE {w}")
    assert both(q) == []


def test_created_as_select_and_replaced(server, spark, both, ns):
    t = made(ns)
    spark.sql(f"CREATE TABLE {t} USING iceberg PARTITIONED BY (p) AS SELECT id, id % 2 AS p FROM range(10)")
    assert both(f"SELECT count(*), sum(p) FROM {t}") == [(10, 5)]
    spark.sql(f"CREATE OR REPLACE TABLE {t} USING iceberg AS SELECT 'x' AS s, id FROM range(3)")
    assert both(f"SELECT * FROM {t} ORDER BY id") == [("x", 0), ("x", 1), ("x", 2)]
    assert "already exists" in spark.fails(f"CREATE TABLE {t} (a INT) USING iceberg").lower().replace("table_or_view_already_exists", "already exists")
    spark.sql(f"ALTER TABLE {t} RENAME TO {ns}.t2")
    assert both(f"SELECT count(*) FROM {t}2") == [(3,)] and both(f"SHOW TABLES IN glue_catalog.{ns}") == [(ns, "t2", False)]
    spark.sql(f"DROP TABLE {t}2", f"CREATE NAMESPACE glue_catalog.{ns}x", f"DROP NAMESPACE glue_catalog.{ns}x")
    assert both(f"SHOW TABLES IN glue_catalog.{ns}") == []


def test_spark_evolves(server, spark, both, ns):
    t = made(ns)
    spark.sql(f"CREATE TABLE {t} (id INT, s STRING, st STRUCT<a: INT>, d DATE) USING iceberg PARTITIONED BY (days(d))",
              f"INSERT INTO {t} VALUES (1, 'a', named_struct('a', 1), DATE'2026-01-05')", f"ALTER TABLE {t} ADD COLUMNS (n BIGINT COMMENT 'new' AFTER id, st.b STRING)",
              f"ALTER TABLE {t} RENAME COLUMN s TO title", f"ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT", f"ALTER TABLE {t} REPLACE PARTITION FIELD days(d) WITH months(d)",
              f"ALTER TABLE {t} ADD PARTITION FIELD truncate(1, title)", f"INSERT INTO {t} VALUES (5000000000, 7, 'b', named_struct('a', 2, 'b', 'x'), DATE'2026-02-05')",
              f"ALTER TABLE {t} DROP COLUMN n", f"ALTER TABLE {t} ALTER COLUMN title FIRST", f"ALTER TABLE {t} WRITE ORDERED BY id DESC")
    assert both(f"SELECT title, id, st.a, st.b, d FROM {t} ORDER BY id") == [("a", 1, 1, None, "2026-01-05"), ("b", 5000000000, 2, "x", "2026-02-05")]
    assert both(f"SELECT title FROM {t} WHERE d < DATE'2026-01-31'") == [("a",)]
    server.sql(f"INSERT INTO {t} VALUES ('c', 3, named_struct('a', 3, 'b', 'y'), DATE'2026-03-05'); ALTER TABLE {t} ADD COLUMN n STRING; ALTER TABLE {t} DROP PARTITION FIELD title_trunc_1")
    server.sql(f"ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id); INSERT INTO {t} VALUES ('d', 4, NULL, DATE'2026-04-05', 'again'); DELETE FROM {t} WHERE title = 'a'")
    assert both(f"SELECT title, id, st.b, n FROM {t} ORDER BY title") == [("b", 5000000000, "x", None), ("c", 3, "y", None), ("d", 4, None, "again")]
    assert [r[0] for r in both(f"SELECT id FROM {t} WHERE id = 4")] == [4]
    assert both(f"SELECT spec_id, sum(record_count) FROM {t}.files WHERE content = 0 GROUP BY spec_id ORDER BY spec_id")


def test_references_and_time_travel(server, spark, both, ns):
    t = made(ns)
    spark.sql(f"CREATE TABLE {t} (id INT) USING iceberg", f"INSERT INTO {t} VALUES (1)", f"ALTER TABLE {t} CREATE TAG one", f"ALTER TABLE {t} CREATE BRANCH dev RETAIN 7 DAYS",
              f"INSERT INTO {t} VALUES (2)", f"INSERT INTO {t}.branch_dev VALUES (100)", f"DELETE FROM {t}.branch_dev WHERE id = 1")
    assert both(f"SELECT id FROM {t} VERSION AS OF 'one'") == [(1,)] and both(f"SELECT id FROM {t} VERSION AS OF 'dev'") == [(100,)]
    assert both(f"SELECT id FROM {t}.branch_dev") == [(100,)] and both(f"SELECT id FROM {t} ORDER BY id") == [(1,), (2,)]
    first = spark.sql(f"SELECT snapshot_id, CAST(committed_at AS STRING) FROM {t}.snapshots ORDER BY committed_at")[0]
    assert both(f"SELECT id FROM {t} VERSION AS OF {first[0]}") == [(1,)]
    assert both(f"SELECT id FROM {t} TIMESTAMP AS OF '{first[1]}'") == [(1,)]
    server.sql(f"ALTER TABLE {t} CREATE TAG two; ALTER TABLE {t} CREATE BRANCH more; INSERT INTO {t} VALUES (3)")
    assert both(f"SELECT count(*) FROM {t} VERSION AS OF 'two'") == [(2,)]
    spark.sql(f"INSERT INTO {t}.branch_more VALUES (4), (5)", f"CALL glue_catalog.system.fast_forward('{ns}.t', 'dev', 'dev')", f"ALTER TABLE {t} DROP TAG one")
    assert both(f"SELECT count(*) FROM {t}.branch_more") == [(4,)]
    assert both(f"SELECT name, type, max_reference_age_in_ms FROM {t}.refs ORDER BY name") == [
        ("dev", "BRANCH", 7 * 86400000), ("main", "BRANCH", None), ("more", "BRANCH", None), ("two", "TAG", None)]
    for m in ("snapshot_id, parent_id, operation FROM {t}.snapshots ORDER BY committed_at, snapshot_id", "snapshot_id, is_current_ancestor FROM {t}.history ORDER BY made_current_at",
              "content, file_path, record_count, file_size_in_bytes FROM {t}.files ORDER BY file_path", "path, added_data_files_count FROM {t}.manifests ORDER BY path",
              "status, snapshot_id, sequence_number FROM {t}.entries ORDER BY snapshot_id", "file_path FROM {t}.all_data_files ORDER BY file_path", "record_count, file_count FROM {t}.partitions"):
        both("SELECT " + m.format(t=t))


def test_spark_procedures(server, spark, both, ns):
    t = made(ns)
    spark.sql(f"CREATE TABLE {t} (id INT, k STRING) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'format-version' = '2')")
    for i in range(6):
        spark.sql(f"INSERT INTO {t} SELECT CAST(id + {i * 10} AS INT), 'k{i}' FROM range(10)")
    spark.sql(f"DELETE FROM {t} WHERE id % 10 = 3")
    q, ids = f"SELECT id, k FROM {t} ORDER BY id", snapshots(server, t)
    before = both(q)
    call = lambda text: spark.sql(f"CALL glue_catalog.system.{text}")
    assert call(f"rewrite_position_delete_files(table => '{ns}.t', options => map('rewrite-all', 'true'))")[0][0] >= 1 and both(q) == before
    assert call(f"rewrite_data_files(table => '{ns}.t', options => map('rewrite-all', 'true'))")[0][1] == 1 and both(q) == before
    assert call(f"rewrite_manifests('{ns}.t')")[0][0] >= 1 and both(q) == before
    call(f"rollback_to_snapshot('{ns}.t', {ids[2]})")
    assert both(f"SELECT count(*) FROM {t}") == [(30,)]
    call(f"cherrypick_snapshot('{ns}.t', {ids[4]})")
    assert both(f"SELECT count(*), max(k) FROM {t}") == [(40, "k4")]
    call(f"set_current_snapshot('{ns}.t', {ids[6]})")
    assert both(q) == before and [r[0] for r in call(f"ancestors_of('{ns}.t')")] == ids[:7][::-1]
    files = len(server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t/data/")["Contents"])
    assert call(f"expire_snapshots(table => '{ns}.t', older_than => TIMESTAMP '2099-01-01 00:00:00', retain_last => 1)")[0][0] >= 1 and both(q) == before
    assert len(server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t/data/")["Contents"]) < files
    server.sql(f"CALL glue_catalog.system.rewrite_data_files('{ns}.t', options => map('rewrite-all', 'true'))")
    assert both(q) == before
    latest = spark.sql(f"SELECT file FROM {t}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")[0][0]
    call(f"register_table('{ns}.again', '{latest}')")
    assert both(f"SELECT count(*) FROM {t}") == both(f"SELECT count(*) FROM {made(ns, 'again')}")


@pytest.mark.parametrize("properties", [
    {"write.parquet.compression-codec": "gzip", "write.object-storage.enabled": "true", "write.parquet.bloom-filter-enabled.column.id": "true"},
    {"write.parquet.compression-codec": "snappy", "write.data.path": "{location}/elsewhere", "write.metadata.metrics.default": "none", "write.parquet.page-version": "v2"},
    {"write.parquet.row-group-size-bytes": "20000", "write.distribution-mode": "none", "write.target-file-size-bytes": "60000", "write.manifest-lists.enabled": "true"}])
def test_layouts(server, spark, both, ns, properties):
    t = made(ns)
    given = ", ".join(f"'{k}' = '{v.format(location=f's3://warehouse/{ns}.db/t')}'" for k, v in properties.items())
    spark.sql(f"CREATE TABLE {t} (id BIGINT, s STRING, d DATE) USING iceberg PARTITIONED BY (bucket(3, id)) TBLPROPERTIES ({given})",
              f"INSERT INTO {t} SELECT id, md5(CAST(id AS STRING)), date_add(DATE'2026-01-01', CAST(id % 400 AS INT)) FROM range(20000)", f"DELETE FROM {t} WHERE id % 1000 = 1")
    assert both(f"SELECT count(*), sum(id), min(s), max(d) FROM {t}") == [(19980, 199799980, "00003e3b9e5336685200ae85d21b4f5e", "2027-02-04")]
    assert both(f"SELECT s FROM {t} WHERE id = 12345") and both(f"SELECT count(*) FROM {t} WHERE d BETWEEN DATE'2026-03-01' AND DATE'2026-03-05'")[0][0] > 0
    server.sql(f"INSERT INTO {t} VALUES (-1, 'firn', NULL); UPDATE {t} SET s = 'u' WHERE id = 5")
    assert both(f"SELECT id, s FROM {t} WHERE id < 6 AND id <> 1 ORDER BY id")[0] == (-1, "firn") and both(f"SELECT s FROM {t} WHERE id = 5") == [("u",)]


def test_statistics_and_orphans(server, spark, both, ns):
    t = made(ns)
    spark.sql(f"CREATE TABLE {t} (id BIGINT, k STRING) USING iceberg PARTITIONED BY (k)", f"INSERT INTO {t} SELECT id, concat('k', id % 5) FROM range(1000)")
    stats = spark.sql(f"CALL glue_catalog.system.compute_table_stats('{ns}.t')")[0][0]
    assert stats.startswith(f"s3://warehouse/{ns}.db/t/") and stats.endswith(".stats")
    assert spark.sql(f"CALL glue_catalog.system.compute_partition_stats('{ns}.t')")[0][0].startswith(f"s3://warehouse/{ns}.db/t/")
    server.sql(f"INSERT INTO {t} VALUES (1, 'k9'); ALTER TABLE {t} SET TBLPROPERTIES ('a' = 'b'); DELETE FROM {t} WHERE id = 2")
    orphan = f"{ns}.db/t/data/orphan.parquet"
    server.s3().put_object(Bucket="warehouse", Key=orphan, Body=b"orphan")
    gone = f"table => '{ns}.t', older_than => TIMESTAMP '2099-01-01 00:00:00'"
    with server.connect() as c:                                       # the statistics that Spark made are no orphans
        assert c.execute(f"CALL glue_catalog.system.remove_orphan_files({gone}, dry_run => true)", prepare=False).fetchall() == [(f"s3://warehouse/{orphan}",)]
    assert spark.sql(f"CALL glue_catalog.system.remove_orphan_files(table => '{ns}.t', prefix_listing => true)") == []        # too young
    assert both(f"SELECT count(*), sum(id) FROM {t}") == [(1000, 499499)]
    spark.sql(f"CALL glue_catalog.system.rewrite_data_files(table => '{ns}.t', strategy => 'sort', sort_order => 'zorder(id, k)', options => map('rewrite-all', 'true'))")
    assert both(f"SELECT count(*), sum(id) FROM {t}") == [(1000, 499499)]


def test_write_audit_publish(server, spark, both, ns):
    t, v = made(ns), made(ns, "m")
    server.sql(f"""CREATE TABLE {t} (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true'); INSERT INTO {t} VALUES (1);
        CREATE MATERIALIZED VIEW {v} AS SELECT count(*) AS n, sum(id) AS s FROM {t}""")
    try:
        spark.sql("SET spark.wap.id = audit1", f"INSERT INTO {t} VALUES (2)", "RESET spark.wap.id")
        assert both(f"SELECT count(*) FROM {t}.snapshots") == [(2,)] and both(f"SELECT id FROM {t} VERSION AS OF 'main'") == [(1,)] and refresh(server, v) == "NONE"
        spark.sql(f"CALL glue_catalog.system.publish_changes('{ns}.t', 'audit1')")
        assert both(f"SELECT id FROM {t} ORDER BY id") == [(1,), (2,)] and refresh(server, v) == "INCREMENTAL" and both(f"SELECT * FROM {v}") == [(2, 3)]
        spark.sql(f"ALTER TABLE {t} CREATE BRANCH audit", "SET spark.wap.branch = audit", f"INSERT INTO {t} VALUES (3)", "RESET spark.wap.branch")
        assert both(f"SELECT count(*) FROM {t}.branch_audit") == [(3,)] and refresh(server, v) == "NONE"
        spark.sql(f"CALL glue_catalog.system.fast_forward('{ns}.t', 'main', 'audit')")
        assert refresh(server, v) == "INCREMENTAL" and both(f"SELECT * FROM {v}") == [(3, 6)]
    finally:
        spark.sql("RESET spark.wap.id", "RESET spark.wap.branch")


@pytest.mark.parametrize("make,why", [
    ("CREATE TABLE {t} (id INT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')", "variant"),
    ("CREATE TABLE {t} (id INT, v STRING) USING iceberg TBLPROPERTIES ('write.format.default' = 'orc')", "only Parquet"),
    ("CREATE TABLE {t} (id INT, v STRING) USING iceberg TBLPROPERTIES ('write.format.default' = 'avro')", "only Parquet")])
def test_what_firn_cannot_read_it_says(server, spark, ns, make, why):
    t = made(ns)
    spark.sql(make.format(t=t), f"INSERT INTO {t} VALUES (1, {'parse_json(chr(49))' if why == 'variant' else chr(39) + 'x' + chr(39)})")
    with pytest.raises(psycopg.Error, match=why) as e:
        server.sql(f"SELECT * FROM {t}")
    assert e.value.sqlstate == "0A000"
    assert spark.sql(f"SELECT id FROM {t}") == [(1,)] and server.sql(f"SELECT count(*) FROM {t}.snapshots") == [(1,)]


def test_namespaces_and_properties(server, spark, ns):
    spark.sql(f"CREATE NAMESPACE glue_catalog.{ns}x COMMENT 'spark made it' WITH DBPROPERTIES ('a' = 'b')", f"ALTER NAMESPACE glue_catalog.{ns}x SET PROPERTIES ('c' = 'd')")
    assert (f"{ns}x",) in spark.sql("SHOW NAMESPACES IN glue_catalog") and (f"{ns}x",) in server.sql("SHOW NAMESPACES IN glue_catalog")
    told = dict(r[:2] for r in spark.sql(f"DESCRIBE NAMESPACE EXTENDED glue_catalog.{ns}x"))
    assert told["Comment"] == "spark made it" and "(c,d)" in told["Properties"]
    spark.sql(f"CREATE TABLE glue_catalog.{ns}x.t (id INT COMMENT 'key') USING iceberg COMMENT 'a table' TBLPROPERTIES ('p' = 'q')")
    assert "not empty" in spark.fails(f"DROP NAMESPACE glue_catalog.{ns}x")
    spark.sql(f"ALTER TABLE glue_catalog.{ns}x.t SET TBLPROPERTIES ('r' = 's')", f"ALTER TABLE glue_catalog.{ns}x.t UNSET TBLPROPERTIES ('p')")
    mine, theirs = (dict(x(f"SHOW TBLPROPERTIES glue_catalog.{ns}x.t")) for x in (server.sql, spark.sql))
    assert mine["r"] == theirs["r"] == "s" and "p" not in mine and "p" not in theirs
    assert "COMMENT 'a table'" in spark.sql(f"SHOW CREATE TABLE glue_catalog.{ns}x.t")[0][0]
    spark.sql(f"DROP TABLE glue_catalog.{ns}x.t PURGE", f"DROP NAMESPACE glue_catalog.{ns}x")
    assert (f"{ns}x",) not in server.sql("SHOW NAMESPACES IN glue_catalog")


# ---- what firn writes, Spark reads --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("version", [2, 3])
def test_firn_writes(server, spark, both, ns, version):
    t = made(ns)
    server.sql(f"""CREATE TABLE {t} (id INT, k STRING, x DOUBLE) USING iceberg PARTITIONED BY (truncate(2, k)) TBLPROPERTIES ('format-version' = '{version}');
        INSERT INTO {t} SELECT CAST(id AS INT), concat('k', id % 3), id / 4 FROM range(0, 3000)""")
    q = f"SELECT id, k, x FROM {t} ORDER BY id"
    assert len(both(q)) == 3000
    server.sql(f"DELETE FROM {t} WHERE id % 7 = 0; DELETE FROM {t} WHERE id % 11 = 0; UPDATE {t} SET x = -1 WHERE id BETWEEN 100 AND 120")
    server.sql(f"""MERGE INTO {t} t USING (SELECT CAST(id AS INT) AS id FROM range(2990, 3010)) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET k = 'merged' WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, 'new')""")
    rows = both(q)
    assert (101, "k2", -1.0) in rows and (3005, "new", None) in rows and 14 not in {r[0] for r in rows}
    deletes = both(f"SELECT file_format, record_count FROM {t}.delete_files ORDER BY file_path")
    assert {r[0] for r in deletes} == {"PUFFIN" if version == 3 else "PARQUET"}
    assert both(f"SELECT count(*) FROM {t} WHERE k = 'merged'")[0][0] > 0
    server.sql(f"ALTER TABLE {t} RENAME COLUMN x TO y; ALTER TABLE {t} ADD COLUMN z ARRAY<STRING>; ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT; INSERT INTO {t} VALUES (1, 'a', 1, array('q'))")
    assert both(f"SELECT id, y, z FROM {t} WHERE k = 'a'") == [(1, 1.0, ["q"])]
    server.sql(f"INSERT OVERWRITE {t} SELECT id, k, y, z FROM {t} WHERE id < 50")
    assert both(f"SELECT max(id) FROM {t}") == [(48,)]
    if version == 3:
        ids = spark.sql(f"SELECT _row_id FROM {t}")
        assert len(set(ids)) == len(ids) and (None,) not in ids


def test_rows_keep_their_ids(server, spark, both, ns):
    t = made(ns)
    server.sql(f"CREATE TABLE {t} (id INT, s STRING) USING iceberg TBLPROPERTIES ('format-version' = '3'); INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    q = lambda: spark.sql(f"SELECT id, _row_id, _last_updated_sequence_number FROM {t} ORDER BY id")
    first = q()
    spark.sql(f"UPDATE {t} SET s = 'x' WHERE id = 2")
    assert [r[1] for r in q()] == [r[1] for r in first] and q()[1][2] == 2
    server.sql(f"UPDATE {t} SET s = 'y' WHERE id = 3")
    assert [r[1] for r in q()] == [r[1] for r in first] and q()[2][2] == 3
    spark.sql(f"INSERT INTO {t} VALUES (4, 'd')")
    assert q()[3][1] >= 3


# ---- views ----------------------------------------------------------------------------------------------------------------------------

QUERY = "SELECT k, COUNT(*) AS n, SUM(x) AS total, AVG(x) AS mean, MAX(id) AS last FROM {t} GROUP BY k"
OWN = ["k", "n", "total", "mean", "last"]


@pytest.fixture()
def views(server, ns):
    server.sql(f"""CREATE TABLE {made(ns)} (id INT, k STRING, x DECIMAL(10,2)) USING iceberg; SET spark.sql.mv.managed.enabled = true;
        INSERT INTO {made(ns)} SELECT CAST(id AS INT), concat('k', id % 3), CAST(id AS DECIMAL(10,2)) / 4 FROM range(0, 30);
        CREATE MATERIALIZED VIEW {made(ns, 'regular')} AS {QUERY.format(t=made(ns))};
        CREATE MANAGED MATERIALIZED VIEW {made(ns, 'managed')} AS {QUERY.format(t=made(ns))};
        INSERT INTO {made(ns)} VALUES (100, 'k9', 1); DELETE FROM {made(ns)} WHERE id = 4;
        REFRESH MATERIALIZED VIEW {made(ns, 'managed')}; REFRESH MATERIALIZED VIEW {made(ns, 'regular')}""")
    return ns


@pytest.mark.parametrize("kind", ["regular", "managed"])
def test_views_show_their_own_columns(server, spark, both, views, kind):
    v = made(views, kind)
    rows = both(f"SELECT * FROM {v} ORDER BY k")
    assert spark.columns == OWN and [r[:2] for r in rows] == [("k0", 10), ("k1", 9), ("k2", 10), ("k9", 1)]
    assert both(f"{QUERY.format(t=made(views))} ORDER BY k") == rows
    assert [r[0] for r in spark.sql(f"DESCRIBE {v}")][:5] == OWN and "__ivm" not in str(spark.sql(f"DESCRIBE EXTENDED {v}"))
    assert "__ivm" in spark.fails(f"SELECT __ivm_num_rec FROM {v}")
    ids = snapshots(server, v)
    assert [r[0] for r in spark.sql(f"SELECT snapshot_id FROM {v}.snapshots ORDER BY committed_at")] == ids and len(ids) == 2
    both(f"SELECT * FROM {v} VERSION AS OF {ids[0]} ORDER BY k")
    assert spark.columns == OWN
    for m in ("files", "data_files", "entries", "all_data_files", "all_entries"):
        metrics = spark.sql(f"SELECT to_json(readable_metrics) FROM {v}.{m} LIMIT 1")
        assert metrics and list(json.loads(metrics[0][0])) == sorted(OWN), m
    for m in ("history", "manifests", "partitions", "refs", "metadata_log_entries", "delete_files", "all_manifests"):
        spark.sql(f"SELECT * FROM {v}.{m}")
    assert both(f"SELECT sum(record_count) FROM {v}.files WHERE content = 0")[0][0] >= 4
    assert both(f"SELECT n FROM {v} WHERE k = 'k1' AND total > 0") == [(9,)]
    spark.sql(f"CALL glue_catalog.system.create_changelog_view(table => '{views}.{kind}', changelog_view => 'changes', options => map('start-snapshot-id', '{ids[0]}'))")
    assert ("k9", "INSERT") in spark.sql("SELECT k, _change_type FROM changes") and set(OWN) < set(spark.sql("SELECT * FROM changes") and spark.columns)
    assert not [c for c in spark.columns if c.startswith("__")]


@pytest.mark.parametrize("catalog", ["glue_catalog", "keys"])
def test_nobody_writes_a_managed_view(server, spark, both, views, catalog):
    v, own = f"{catalog}.{views}.managed", made(views, "managed")
    rows, ids = both(f"SELECT * FROM {own} ORDER BY k"), snapshots(server, own)
    objects = [o["Key"] for o in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{views}.db/managed/")["Contents"]]
    for text in ("INSERT INTO {v} VALUES ('evil', 1, 1, 1, 1)", "INSERT OVERWRITE {v} VALUES ('evil', 1, 1, 1, 1)", "DELETE FROM {v} WHERE k = 'k1'", "DELETE FROM {v}", "TRUNCATE TABLE {v}",
                 "UPDATE {v} SET n = 0", "MERGE INTO {v} t USING (SELECT 'k1' AS k) s ON t.k = s.k WHEN MATCHED THEN DELETE", "ALTER TABLE {v} ADD COLUMN evil INT",
                 "ALTER TABLE {v} DROP COLUMN n", "ALTER TABLE {v} RENAME COLUMN n TO evil", "ALTER TABLE {v} ADD PARTITION FIELD k", "ALTER TABLE {v} CREATE TAG evil", "ALTER TABLE {v} CREATE BRANCH evil",
                 "ALTER TABLE {v} SET TBLPROPERTIES ('write.data.path' = 's3://elsewhere/x')", "ALTER TABLE {v} RENAME TO {ns}.evil", "CREATE OR REPLACE TABLE {v} (a INT) USING iceberg",
                 "CALL {c}.system.rewrite_data_files(table => '{ns}.managed', options => map('rewrite-all', 'true'))", "CALL {c}.system.rollback_to_snapshot('{ns}.managed', {id})",
                 "CALL {c}.system.expire_snapshots(table => '{ns}.managed', older_than => TIMESTAMP '2099-01-01 00:00:00')", "CALL {c}.system.rewrite_manifests('{ns}.managed', false)"):
        text = text.format(v=v, c=catalog, ns=views, id=ids[0])
        why = spark.fails(text)
        assert DENIED in why and f"{views}.managed" in why, f"{text}: {why[:2000]}"
    assert both(f"SELECT * FROM {own} ORDER BY k") == rows and snapshots(server, own) == ids
    assert [o["Key"] for o in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{views}.db/managed/")["Contents"]] == objects
    assert server.run("verify", f"{views}.managed").returncode == 0


def test_a_regular_view_is_repaired(server, spark, both, views):
    v = made(views, "regular")
    rows = both(f"SELECT * FROM {v} ORDER BY k")
    spark.sql(f"INSERT INTO {v} VALUES ('evil', 1, 1, 1, 1)")
    assert both(f"SELECT count(*) FROM {v}") == [(len(rows) + 1,)]
    assert refresh(server, v) == "FULL" and both(f"SELECT * FROM {v} ORDER BY k") == rows
    spark.sql(f"DELETE FROM {v} WHERE k = 'k1'")
    assert refresh(server, v) == "FULL" and both(f"SELECT * FROM {v} ORDER BY k") == rows
    spark.sql(f"INSERT INTO {made(views)} VALUES (500, 'k1', 2)")
    assert refresh(server, v) == "INCREMENTAL" and both(f"SELECT n FROM {v} WHERE k = 'k1'") == [(10,)]


# ---- Spark's changes to sources ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("version,mode", [(2, "merge-on-read"), (3, "merge-on-read"), (2, "copy-on-write"), (3, "copy-on-write")])
def test_changes_of_sources(server, spark, both, ns, version, mode):
    t, v, joined = made(ns), made(ns, "m"), made(ns, "j")
    modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    spark.sql(f"CREATE TABLE {t} (id INT, k STRING, x DECIMAL(10,2)) USING iceberg PARTITIONED BY (k) TBLPROPERTIES ('format-version' = '{version}', {modes})",
              f"CREATE TABLE {made(ns, 'names')} (k STRING, name STRING) USING iceberg", f"INSERT INTO {made(ns, 'names')} VALUES ('k0', 'zero'), ('k1', 'one')",
              f"INSERT INTO {t} SELECT CAST(id AS INT), concat('k', id % 10), CAST(id AS DECIMAL(10,2)) / 4 FROM range(0, 3000)")
    join = f"SELECT t.id, t.x, n.name FROM {t} t LEFT JOIN {made(ns, 'names')} n ON t.k = n.k"
    server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW {v} AS {QUERY.format(t=t)}; CREATE MATERIALIZED VIEW {joined} AS {join}")
    states = {}

    def step(statement, *expected):
        spark.sql(statement)
        kinds = refresh(server, v), refresh(server, joined)
        assert all(k in expected for k in kinds), f"{statement}: {kinds} {[dict(server.sql(f'SHOW TBLPROPERTIES {x}'))['lastRefreshReason'] for x in (v, joined)]}"
        states[len(states)] = both(f"SELECT * FROM {v} ORDER BY k")
        assert both(f"{QUERY.format(t=t)} ORDER BY k") == states[len(states) - 1], statement
        total = f"SELECT count(*), sum(id), sum(x), count(name) FROM"
        assert both(f"{total} {joined}") == both(f"{total} ({join}) q"), statement

    start = snapshots(server, t)[-1]
    step(f"INSERT INTO {t} VALUES (9000, 'k0', 1.25), (9001, 'k7', NULL)", "INCREMENTAL")
    step(f"DELETE FROM {t} WHERE id IN (3, 13, 4)", "INCREMENTAL")
    step(f"UPDATE {t} SET x = x + 1 WHERE id IN (11, 21, 71)", "INCREMENTAL")
    step(f"MERGE INTO {t} t USING (SELECT CAST(id AS INT) AS id FROM range(2998, 3003)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET k = 'k8' WHEN NOT MATCHED THEN INSERT (id, k, x) VALUES (s.id, 'k9', 0)",
         "INCREMENTAL")
    step(f"CALL glue_catalog.system.rewrite_data_files(table => '{ns}.t', options => map('rewrite-all', 'true'))", "NONE")
    step(f"INSERT OVERWRITE {t} PARTITION (k = 'k9') SELECT 1, 1", "INCREMENTAL")
    step(f"DELETE FROM {t} WHERE k = 'k9'", "INCREMENTAL")
    step(f"ALTER TABLE {t} ADD COLUMN more STRING", "NONE", "INCREMENTAL")
    step(f"INSERT INTO {made(ns, 'names')} VALUES ('k7', 'seven')", "INCREMENTAL", "NONE")
    step(f"CALL glue_catalog.system.rewrite_manifests('{ns}.t')", "NONE")
    step(f"CALL glue_catalog.system.rollback_to_snapshot('{ns}.t', {start})", "INCREMENTAL", "FULL")
    assert both(f"SELECT sum(n) FROM {v}") == [(3000,)]
    step(f"INSERT INTO {t} (id, k, x) VALUES (1, 'k0', 1)", "INCREMENTAL")
    assert server.run("verify", "--deep", f"{ns}.m").returncode == 0


# ---- views of SQL, both at once --------------------------------------------------------------------------------------------------------

def test_views_of_sql(server, spark, both, ns):
    t = made(ns)
    server.sql(f"CREATE TABLE {t} (a INT, b STRING) USING iceberg; INSERT INTO {t} VALUES (1, 'x'), (2, 'y'); CREATE VIEW {made(ns, 'mine')} (c, d) AS SELECT a + 1, b FROM {t} WHERE a > 1")
    assert both(f"SELECT * FROM {made(ns, 'mine')}") == [(3, "y")]
    spark.sql(f"CREATE VIEW {made(ns, 'theirs')} (q COMMENT 'doubled') AS SELECT c * 2 FROM {made(ns, 'mine')}")
    assert both(f"SELECT * FROM {made(ns, 'theirs')}") == [(6,)]
    spark.sql(f"CREATE OR REPLACE VIEW {made(ns, 'theirs')} AS SELECT b, count(*) AS n FROM {t} GROUP BY b")
    assert both(f"SELECT * FROM {made(ns, 'theirs')} ORDER BY b") == [("x", 1), ("y", 1)]
    assert {r[1] for r in spark.sql(f"SHOW VIEWS IN glue_catalog.{ns}") if not r[2]} == {"mine", "theirs"}
    spark.sql(f"ALTER VIEW {made(ns, 'theirs')} RENAME TO glue_catalog.{ns}.other", f"DROP VIEW {made(ns, 'mine')}")
    assert [r[1] for r in server.sql(f"SHOW VIEWS IN glue_catalog.{ns}")] == ["other"]


def test_both_write_at_once(server, spark, both, ns):
    import threading
    t = made(ns)
    server.sql(f"CREATE TABLE {t} (id INT, who STRING) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '30', 'commit.retry.min-wait-ms' = '10')")
    c = server.connect()
    worker = threading.Thread(target=lambda: [c.execute(f"INSERT INTO {t} VALUES ({i}, 'firn')", prepare=False) for i in range(40)])
    worker.start()
    for i in range(5):
        spark.sql(f"INSERT INTO {t} VALUES ({i}, 'spark')")
    worker.join()
    c.close()
    assert both(f"SELECT who, count(*) FROM {t} GROUP BY who ORDER BY who") == [("firn", 40), ("spark", 5)]
