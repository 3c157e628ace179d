# SPDX-License-Identifier: Apache-2.0
"""firn's extension in a plain Spark session: materialized views by Spark's SQL, and their protection in Spark's own words.

`make setup-spark` builds it.  The same statements over the two ways by which Spark reaches the catalog: Iceberg REST and Glue's API."""
import boto3
import pytest

from conftest import ROOT, Server
from test_spark import JARS, PYTHON, Spark

JAR = ROOT / "build" / "firn-spark.jar"
S3TABLES_JARS = sorted((ROOT / "build" / "spark-jars" / "s3tables").glob("*.jar"))
pytestmark = [pytest.mark.long, pytest.mark.skipif(not PYTHON.exists() or len(JARS) < 2 or not JAR.exists(), reason="Spark or the extension is not there; `make setup-spark` gets them")]

EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.firn.spark.FirnSparkSessionExtensions"
DENIED = "system-managed materialized view"
BUCKET = "lake-bucket"
QUERY = "SELECT customer_name, COUNT(*) AS order_count, SUM(amount) AS total_amount FROM glue_catalog.{ns}.orders GROUP BY customer_name"


def conf_of(server, kind):
    """Settings of a session whose catalogs glue_catalog and s3t are reached by REST or by Glue's API."""
    common = {"spark.sql.extensions": EXTENSIONS, "spark.firn.sql.url": server.sql_url, "spark.sql.mv.managed.enabled": "true"}
    if kind == "rest":
        settings = Spark.settings(server, server.data, [])
        bucket = {k.replace(".glue_catalog", ".s3t"): v for k, v in settings.items() if k.startswith("spark.sql.catalog.glue_catalog")}
        return common | bucket | {"spark.sql.catalog.s3t.warehouse": f"arn:aws:s3tables:us-east-1:123456789012:bucket/{BUCKET}"}

    def glue(name, glue_id):
        p = f"spark.sql.catalog.{name}"
        return {p: "org.apache.iceberg.spark.SparkCatalog", f"{p}.type": "glue", f"{p}.glue.endpoint": server.lake, f"{p}.glue.id": glue_id, f"{p}.client.region": "us-east-1", f"{p}.s3.endpoint": server.lake,
                f"{p}.s3.path-style-access": "true", f"{p}.warehouse": "s3://warehouse/", f"{p}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO", f"{p}.cache-enabled": "false"}
    cleared = {f"spark.sql.catalog.glue_catalog{k}": None for k in (".uri", ".credential", ".oauth2-server-uri")}
    return common | cleared | glue("glue_catalog", "123456789012") | glue("s3t", f"123456789012:s3tablescatalog/{BUCKET}")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("firn") / "data", ["sql.trust_local=on"])
    yield s
    s.stop()


@pytest.fixture(scope="module", params=["rest", "glue"])
def spark(server, request):
    log = server.data.parent / f"spark-{request.param}.log"
    env = {"AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_REGION": "us-east-1"}
    s = Spark(server, log, conf_of(server, request.param) | s3_tables(server), env, [JAR, *S3TABLES_JARS])
    s.kind = request.param
    yield s
    s.stop()


@pytest.fixture()
def views(server, spark, ns):
    """A source, a regular and a managed view of it, made by Spark."""
    t = f"glue_catalog.{ns}.orders"
    spark.sql(f"CREATE TABLE IF NOT EXISTS {t} (id INT, customer_name STRING, amount DECIMAL(10,2), order_date DATE) USING iceberg TBLPROPERTIES ('format-version'='2')",
              f"""INSERT INTO {t} VALUES (1, 'Alice', 150.00, DATE '2026-10-01'), (2, 'Bob', 200.50, DATE '2026-10-01'), (3, 'Alice', 75.25, DATE '2026-10-02'),
                  (4, 'Carol', 320.00, DATE '2026-10-02'), (5, 'Bob', 99.99, DATE '2026-10-03')""",
              f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.regular AS {QUERY.format(ns=ns)}",
              f"create /* in any case */ managed materialized view\n -- and with comments\n glue_catalog.`{ns}`.managed\nAS {QUERY.format(ns=ns)};")
    return ns


FIVE = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 1, "320.00")]


def rows(spark, ns, view):
    return spark.sql(f"SELECT * FROM glue_catalog.{ns}.{view} ORDER BY customer_name")


def properties(spark, ns, view):
    return dict(spark.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.{view}"))


# ---- the grammar ------------------------------------------------------------------------------------------------------------------------

def test_created_and_shown(server, spark, views):
    assert rows(spark, views, "regular") == FIVE and rows(spark, views, "managed") == FIVE and spark.columns == ["customer_name", "order_count", "total_amount"]
    assert spark.sql(f"SHOW VIEWS IN glue_catalog.{views}") == [(views, "managed", False, "FRESH"), (views, "regular", False, "FRESH")]
    assert spark.columns == ["namespace", "viewName", "isTemporary", "stalenessStatus"]
    assert [r[1] for r in spark.sql(f"SHOW VIEWS FROM glue_catalog.{views} LIKE 'man*'")] == ["managed"] == [r[1] for r in spark.sql(f"show views in glue_catalog.{views} 'man*'")]
    assert [properties(spark, views, v)["isManaged"] for v in ("regular", "managed")] == ["false", "true"]
    assert spark.sql(f"SHOW TBLPROPERTIES glue_catalog.{views}.managed ('lastRefreshType')") == [("lastRefreshType", "FULL")]
    assert server.run("verify", f"{views}.managed").returncode == 0


def test_described(spark, views):
    for view, managed in (("regular", "false"), ("managed", "true")):
        lines = spark.sql(f"DESCRIBE EXTENDED glue_catalog.{views}.{view}")
        assert [r[:2] for r in lines[:3]] == [("customer_name", "string"), ("order_count", "bigint"), ("total_amount", "decimal(20,2)")]
        assert "__ivm" not in str(lines)
        facts = {r[0]: r[1] for r in lines if r[0]}
        assert facts["Type"] == "MANAGED" and f"isManaged={managed}" in facts["Materialized View Properties"] and "stalenessStatus=FRESH" in facts["Materialized View Properties"]
    assert spark.sql(f"DESC glue_catalog.{views}.managed") == [("customer_name", "string", None), ("order_count", "bigint", None), ("total_amount", "decimal(20,2)", None)]
    assert "Materialized View Properties" in str(spark.sql(f"DESCRIBE MATERIALIZED VIEW glue_catalog.{views}.managed"))


def test_a_table_is_described_by_spark(spark, views):
    lines = {r[0]: r[1] for r in spark.sql(f"DESCRIBE EXTENDED glue_catalog.{views}.orders")}
    assert "Materialized View Properties" not in lines and lines["Provider"] == "iceberg"
    assert "isMaterializedView" not in properties(spark, views, "orders")
    spark.sql(f"ALTER TABLE glue_catalog.{views}.orders SET TBLPROPERTIES ('a' = 'b')", f"ALTER TABLE glue_catalog.{views}.orders ADD COLUMNS (note STRING)")
    assert properties(spark, views, "orders")["a"] == "b"


def test_stale_and_refreshed(spark, views):
    spark.sql(f"INSERT INTO glue_catalog.{views}.orders VALUES (6, 'Carol', 180.00, DATE '2026-10-04'), (7, 'Dave', 50.00, DATE '2026-10-04')")
    assert [r[3] for r in spark.sql(f"SHOW VIEWS IN glue_catalog.{views}")] == ["STALE", "STALE"]
    spark.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.managed FULL", f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.regular")
    seven = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 2, "500.00"), ("Dave", 1, "50.00")]
    assert rows(spark, views, "managed") == seven == rows(spark, views, "regular")
    assert properties(spark, views, "managed")["lastRefreshType"] == "FULL" and properties(spark, views, "regular")["lastRefreshType"] in ("INCREMENTAL", "FULL")
    assert [r[3] for r in spark.sql(f"SHOW VIEWS IN glue_catalog.{views}")] == ["FRESH", "FRESH"]


def test_schedules_and_properties(spark, views):
    v = f"glue_catalog.{views}.managed"
    for clause, seconds in (("ADD SCHEDULE REFRESH EVERY 10 MINUTES", "600"), ("ADD SCHEDULE REFRESH EVERY 10 MINUTE", "600"), ("ALTER SCHEDULE EVERY 1 HOUR", "3600"), ("ADD SCHEDULE REFRESH EVERY 2 DAYS", "172800"),
                            ("DROP SCHEDULE", None)):
        spark.sql(f"ALTER MATERIALIZED VIEW {v} {clause}")
        assert properties(spark, views, "managed").get("schedule") == seconds, clause
    before = spark.sql(f"SELECT count(*) FROM {v}.snapshots")
    spark.sql(f"ALTER TABLE {v} SET TBLPROPERTIES ('blog.note'='updated-by-owner', 'quote' = 'it''s \\\\ here')")
    assert properties(spark, views, "managed")["blog.note"] == "updated-by-owner" and spark.sql(f"SELECT count(*) FROM {v}.snapshots") == before
    spark.sql(f"ALTER TABLE {v} UNSET TBLPROPERTIES ('blog.note')")
    assert "blog.note" not in properties(spark, views, "managed")
    spark.sql(f"COMMENT ON TABLE {v} IS 'orders by customer'")
    assert properties(spark, views, "managed")["comment"] == "orders by customer"
    why = spark.fails(f"ALTER MATERIALIZED VIEW {v} ADD SCHEDULE REFRESH EVERY 1 MINUTE")
    assert "AnalysisException" in why and "below the minimum of 600 seconds" in why and "SQLSTATE" in why


def test_replaced_and_dropped(server, spark, views):
    v = f"glue_catalog.{views}.managed"
    spark.sql(f"CREATE OR REPLACE MANAGED MATERIALIZED VIEW {v} COMMENT 'only two' SCHEDULE REFRESH EVERY 2 HOURS AS SELECT customer_name, MAX(amount) AS top FROM glue_catalog.{views}.orders WHERE id < 3 GROUP BY customer_name")
    assert rows(spark, views, "managed") == [("Alice", "150.00"), ("Bob", "200.50")] and properties(spark, views, "managed")["schedule"] == "7200"
    spark.sql(f"CREATE MATERIALIZED VIEW IF NOT EXISTS {v} AS SELECT 1 AS one FROM glue_catalog.{views}.orders")
    assert "already exists" in spark.fails(f"CREATE MATERIALIZED VIEW {v} AS SELECT 1 AS one FROM glue_catalog.{views}.orders")
    spark.sql(f"DROP MATERIALIZED VIEW {v}", f"DROP MATERIALIZED VIEW glue_catalog.{views}.regular", f"DROP MATERIALIZED VIEW IF EXISTS {v}")
    assert spark.sql(f"SHOW VIEWS IN glue_catalog.{views}") == [] and "TABLE_OR_VIEW_NOT_FOUND" in spark.fails(f"DROP MATERIALIZED VIEW {v}")
    assert "contents" not in {k.lower() for k in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{views}.db/managed/")}


def test_short_names(spark, views):
    spark.sql(f"USE glue_catalog.{views}", f"CREATE MANAGED MATERIALIZED VIEW short AS SELECT count(*) AS n FROM glue_catalog.{views}.orders")
    try:
        assert spark.sql("SELECT n FROM short") == [(5,)] and "short" in [r[1] for r in spark.sql("SHOW VIEWS")]
        spark.sql("REFRESH MATERIALIZED VIEW short", f"CREATE TEMPORARY VIEW fleeting AS SELECT 1 AS x")
        assert ("", "fleeting", True, None) in spark.sql("SHOW VIEWS") and spark.sql("SELECT * FROM fleeting") == [(1,)]
        assert [r[0] for r in spark.sql("DESCRIBE fleeting")] == ["x"]
        assert DENIED in spark.fails("INSERT INTO short VALUES (1)") and DENIED in spark.fails(f"DELETE FROM {views}.short")
        spark.sql("DROP MATERIALIZED VIEW short", "DROP VIEW fleeting")
    finally:
        spark.sql("USE spark_catalog.default")


# ---- refusals -----------------------------------------------------------------------------------------------------------------------------

def test_errors_keep_their_words(spark, views):
    why = spark.fails(f"ALTER MATERIALIZED VIEW glue_catalog.{views}.managed ADD SCHEDULE REFRESH EVERY 10 FORTNIGHTS")
    assert "[PARSE_SYNTAX_ERROR] Syntax error at or near 'FORTNIGHTS'" in why and "SQLSTATE: 42601" in why and "^^^" in why
    why = spark.fails(f"CREATE MATERIALIZED VIEW glue_catalog.{views}.bad AS SELECT * FROM glue_catalog.{views}.orders ORDER BY id")
    assert "AnalysisException" in why and "ORDER BY is not allowed" in why
    assert "TABLE_OR_VIEW_NOT_FOUND" in spark.fails(f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.nothing")
    assert "is not a materialized view" in spark.fails(f"REFRESH MATERIALIZED VIEW glue_catalog.{views}.orders")
    spark.sql("SET spark.sql.mv.managed.enabled=false")
    assert "spark.sql.mv.managed.enabled" in spark.fails(f"CREATE MANAGED MATERIALIZED VIEW glue_catalog.{views}.off AS {QUERY.format(ns=views)}")
    spark.sql("SET spark.sql.mv.managed.enabled=true")


WRITES = ["INSERT INTO {v} VALUES ('Mallory_sql', 999, 99999.99)", "INSERT INTO {v} VALUES ('Mallory_sql', 999)", "INSERT INTO {v} VALUES ('Mallory_sql', 999, 99999.99, 1, 1)",
          "INSERT OVERWRITE {v} VALUES ('Mallory_sql', 999, 99999.99)", "INSERT INTO {v} (customer_name) VALUES ('Mallory')", "DELETE FROM {v} WHERE customer_name = 'Alice'", "DELETE FROM {v}",
          "UPDATE {v} SET order_count = 0", "MERGE INTO {v} t USING (SELECT 'Bob' AS k) s ON t.customer_name = s.k WHEN MATCHED THEN DELETE", "TRUNCATE TABLE {v}",
          {"append": "{v}", "query": "SELECT 'Mallory_df' AS customer_name, 1L AS order_count, CAST(88888.88 AS DECIMAL(20,2)) AS total_amount"}]
CHANGES = {"ADD COLUMNS (note STRING)": "AddColumn", "DROP COLUMN order_count": "DropColumn", "RENAME COLUMN order_count TO n": "RenameColumn", "ALTER COLUMN order_count COMMENT 'x'": "AlterColumn",
           "ALTER COLUMN order_count TYPE DECIMAL(30,0)": "AlterColumn"}


def test_nobody_writes_a_managed_view(server, spark, views):
    v = f"glue_catalog.{views}.managed"
    ids = spark.sql(f"SELECT snapshot_id FROM {v}.snapshots")
    for text in WRITES:
        statement = {k: x.format(v=v) for k, x in text.items()} if isinstance(text, dict) else text.format(v=v)
        why = spark.fails(statement)
        assert DENIED in why and f"{views}.managed" in why and "REFRESH MATERIALIZED VIEW" in why and "42501" in why, f"{text}: {why}"
    for change, kind in CHANGES.items():
        why = spark.fails(f"ALTER TABLE {v} {change}")
        assert "Cannot apply unsupported change to managed materialized view: " in why and DENIED in why and f"{views}.managed" in why, f"{change}: {why[:2000]}"
    for text in ("ALTER TABLE {v} ADD PARTITION FIELD customer_name", "ALTER TABLE {v} CREATE TAG evil", "ALTER TABLE {v} WRITE ORDERED BY customer_name",
                 "CALL glue_catalog.system.rewrite_data_files(table => '{ns}.managed', options => map('rewrite-all', 'true'))", "CREATE OR REPLACE TABLE {v} (a INT) USING iceberg",
                 "ALTER TABLE {v} RENAME TO {ns}.elsewhere"):
        why = spark.fails(text.format(v=v, ns=views))
        assert DENIED in why and f"{views}.managed" in why, f"{text}: {why}"
    assert rows(spark, views, "managed") == FIVE and spark.sql(f"SELECT snapshot_id FROM {v}.snapshots") == ids
    assert server.run("verify", f"{views}.managed").returncode == 0


def test_a_regular_view_may_be_written(spark, views):
    v = f"glue_catalog.{views}.regular"
    spark.sql(f"INSERT INTO {v} VALUES ('Mallory_sql', 999, 99999.99)")
    spark.append(v, "SELECT 'Mallory_df' AS customer_name, 1L AS order_count, CAST(88888.88 AS DECIMAL(20,2)) AS total_amount")
    assert rows(spark, views, "regular") == FIVE + [("Mallory_df", 1, "88888.88"), ("Mallory_sql", 999, "99999.99")]
    spark.sql(f"DELETE FROM {v} WHERE customer_name = 'Mallory_df'")
    operations = [r[0] for r in spark.sql(f"SELECT operation FROM {v}.snapshots ORDER BY committed_at")]
    assert operations == ["overwrite", "append", "append", "delete"]
    spark.sql(f"REFRESH MATERIALIZED VIEW {v}")
    assert rows(spark, views, "regular") == FIVE


# ---- nothing else changes -------------------------------------------------------------------------------------------------------------------

def test_nothing_else_changes(spark, ns):
    t = f"glue_catalog.{ns}.t"
    spark.sql(f"CREATE TABLE {t} (a INT, b STRING) USING iceberg", f"INSERT INTO {t} VALUES (1, 'x'), (2, 'y')", f"UPDATE {t} SET b = 'z' WHERE a = 1", f"ALTER TABLE {t} ADD PARTITION FIELD b",
              f"CALL glue_catalog.system.rewrite_manifests('{ns}.t')")
    assert spark.sql(f"WITH q AS (SELECT * FROM {t}) SELECT a FROM q WHERE a IN (SELECT max(a) FROM {t})") == [(2,)]
    assert spark.sql(f"SHOW TABLES IN glue_catalog.{ns}") == [(ns, "t", False)]
    assert spark.sql("SHOW VIEWS IN spark_catalog.default") == [] and spark.columns == ["namespace", "viewName", "isTemporary"]
    assert "PARSE_SYNTAX_ERROR" in spark.fails("CREATE MANAGED VIEW x AS SELECT 1") and "REFRESH statements cannot contain" in spark.fails("REFRESH MATERIALIZED VIEW spark_catalog.default.x")
    assert spark.sql("SELECT 'CREATE MATERIALIZED VIEW' AS s -- REFRESH MATERIALIZED VIEW x") == [("CREATE MATERIALIZED VIEW",)]


# ---- without the extension: the doors' own refusals, in what Spark throws ----------------------------------------------------------------------

@pytest.fixture(scope="module")
def plain(server):
    """Spark's GlueCatalog alone."""
    env = {"AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_REGION": "us-east-1"}
    without = {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions", "spark.firn.sql.url": None}
    s = Spark(server, server.data.parent / "spark-plain.log", conf_of(server, "glue") | s3_tables(server) | without, env, S3TABLES_JARS)
    yield s
    s.stop()


def made_by_sql(server, catalog, ns):
    """The same as the fixture `views` makes, in this catalog."""
    server.sql(f"CREATE TABLE glue_catalog.{ns}.orders (id INT, customer_name STRING, amount DECIMAL(10,2), order_date DATE) USING iceberg")
    server.sql(f"INSERT INTO glue_catalog.{ns}.orders VALUES (1, 'Alice', 150.00, DATE '2026-10-01'), (2, 'Bob', 200.50, DATE '2026-10-01'), (3, 'Alice', 75.25, DATE '2026-10-02')")
    server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW {catalog}.{ns}.managed AS {QUERY.format(ns=ns)}; CREATE MATERIALIZED VIEW {catalog}.{ns}.regular AS {QUERY.format(ns=ns)}")


def test_a_plain_session_is_refused_by_storage(server, plain, ns):
    made_by_sql(server, "glue_catalog", ns)
    v = f"glue_catalog.{ns}.managed"
    for statement in (f"INSERT INTO {v} VALUES ('Mallory', 1, 1)", f"DELETE FROM {v} WHERE customer_name = 'Alice'", {"append": v, "query": "SELECT 'M' AS customer_name, 1L AS order_count, CAST(1 AS DECIMAL(20,2)) AS total_amount"},
                      f"ALTER TABLE {v} ADD COLUMNS (note STRING)", f"TRUNCATE TABLE {v}"):
        why = plain.fails(statement)
        assert DENIED in why and f"{ns}.managed" in why and "Attempt Count: 2" not in why, f"{statement}: {why}"
    two = [("Alice", 2, "225.25"), ("Bob", 1, "200.50")]
    assert plain.sql(f"SELECT * FROM {v} ORDER BY customer_name") == two
    plain.sql(f"INSERT INTO glue_catalog.{ns}.regular VALUES ('Mallory', 1, 1)")
    assert len(plain.sql(f"SELECT * FROM glue_catalog.{ns}.regular")) == 3
    assert "PARSE_SYNTAX_ERROR" in plain.fails(f"CREATE MANAGED MATERIALIZED VIEW {v}2 AS SELECT 1")


# ---- table buckets: Spark's GlueCatalog and S3 Tables' own catalog -------------------------------------------------------------------------------

def s3_tables(server):
    p = "spark.sql.catalog.s3tables"
    return {p: "org.apache.iceberg.spark.SparkCatalog", f"{p}.catalog-impl": "software.amazon.s3tables.iceberg.S3TablesCatalog", f"{p}.warehouse": f"arn:aws:s3tables:us-east-1:123456789012:bucket/{BUCKET}",
            f"{p}.s3tables.endpoint": server.lake, f"{p}.client.region": "us-east-1", f"{p}.s3.endpoint": server.lake, f"{p}.s3.path-style-access": "true", f"{p}.http-client.type": "urlconnection",
            f"{p}.cache-enabled": "false"} if S3TABLES_JARS else {}


@pytest.fixture()
def bucket_ns(server, ns):
    """The namespace in the account's catalog, and one of the same name in the table bucket."""
    boto = boto3.client("s3tables", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    arn = f"arn:aws:s3tables:us-east-1:123456789012:bucket/{BUCKET}"
    if arn not in [b["arn"] for b in boto.list_table_buckets()["tableBuckets"]]:
        assert boto.create_table_bucket(name=BUCKET)["arn"] == arn
    boto.create_namespace(tableBucketARN=arn, namespace=[ns])
    return ns


@pytest.mark.parametrize("catalog", ["s3t", "s3tables"])
def test_table_buckets(server, spark, bucket_ns, catalog):
    """s3t: GlueCatalog with s3tablescatalog/<bucket>, or the bucket's ARN by REST; s3tables: S3 Tables' own catalog.

    Iceberg's GlueCatalog chooses the location of a new table itself, which a table bucket does not allow: there firn's SQL makes the table."""
    if catalog == "s3tables" and not S3TABLES_JARS:
        pytest.skip("S3TablesCatalog is not there")
    ns, t, v = bucket_ns, f"{catalog}.{bucket_ns}.orders", f"{catalog}.{bucket_ns}.managed"
    create = "CREATE TABLE {t} (id INT, customer_name STRING, amount DECIMAL(10,2)) USING iceberg TBLPROPERTIES ('format-version'='2')"
    if (spark.kind, catalog) == ("glue", "s3t"):
        server.sql(create.format(t=f"`{BUCKET}`.{ns}.orders"))
    else:
        spark.sql(create.format(t=t))
    spark.sql(f"INSERT INTO {t} VALUES (1, 'Alice', 150.00), (2, 'Bob', 200.50), (3, 'Alice', 75.25)", f"UPDATE {t} SET amount = 76 WHERE id = 3", f"ALTER TABLE {t} ADD COLUMNS (note STRING)",
              f"CREATE MANAGED MATERIALIZED VIEW {v} AS SELECT customer_name, SUM(amount) AS total FROM {t} GROUP BY customer_name")
    assert spark.sql(f"SELECT * FROM {v} ORDER BY 1") == [("Alice", "226.00"), ("Bob", "200.50")]
    assert spark.sql(f"SHOW VIEWS IN {catalog}.{ns}") == [(ns, "managed", False, "FRESH")]
    spark.sql(f"DELETE FROM {t} WHERE id = 2", f"REFRESH MATERIALIZED VIEW {v}")
    assert spark.sql(f"SELECT * FROM {v}") == [("Alice", "226.00")] == [(a, str(b)) for a, b in server.sql(f'SELECT * FROM `{BUCKET}`.{ns}.managed')]
    why = spark.fails(f"INSERT INTO {v} VALUES ('Mallory', 1)")
    assert DENIED in why and f"{ns}.managed" in why
    facts = {r[0]: r[1] for r in spark.sql(f"DESCRIBE EXTENDED {v}")}
    assert facts["Location"].endswith("--table-s3") and f"IMV_mvCatalogID=123456789012:s3tablescatalog/{BUCKET}" in facts["Materialized View Properties"]
    assert sorted(r[1] for r in spark.sql(f"SHOW TABLES IN {catalog}.{ns}")) == ["managed", "orders"]
    spark.sql(f"DROP MATERIALIZED VIEW {v}", f"DROP TABLE s3t.{ns}.orders PURGE")        # S3TablesCatalog cannot drop from Spark, PURGE or not
    assert spark.sql(f"SHOW TABLES IN {catalog}.{ns}") == []


def test_a_plain_session_on_a_table_bucket(server, plain, bucket_ns):
    made_by_sql(server, f"`{BUCKET}`", bucket_ns)
    for catalog in ["s3t"] + (["s3tables"] if S3TABLES_JARS else []):
        v = f"{catalog}.{bucket_ns}.managed"
        for statement in (f"INSERT INTO {v} VALUES ('Mallory', 1, 1)", f"DELETE FROM {v} WHERE customer_name = 'Alice'", f"ALTER TABLE {v} ADD COLUMNS (note STRING)"):
            why = plain.fails(statement)
            assert DENIED in why and f"{bucket_ns}.managed" in why, f"{statement}: {why}"
        assert plain.sql(f"SELECT * FROM {v} ORDER BY customer_name") == [("Alice", 2, "225.25"), ("Bob", 1, "200.50")]
    plain.sql(f"INSERT INTO s3t.{bucket_ns}.regular VALUES ('Mallory', 1, 1)")
    assert len(server.sql(f"SELECT * FROM `{BUCKET}`.{bucket_ns}.regular")) == 3


def test_swapped_metadata(server, spark, bucket_ns):
    """A regular view whose metadata was set back by S3 Tables' API: reads fail with AWS's words until a full refresh."""
    made_by_sql(server, f"`{BUCKET}`", bucket_ns)
    boto = boto3.client("s3tables", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    name = {"tableBucketARN": f"arn:aws:s3tables:us-east-1:123456789012:bucket/{BUCKET}", "namespace": bucket_ns, "name": "regular"}
    before = boto.get_table_metadata_location(**name)
    v = f"s3t.{bucket_ns}.regular"
    spark.sql(f"INSERT INTO {v} VALUES ('Mallory', 1, 1)")
    now = boto.get_table_metadata_location(**name)
    swapped = boto.update_table_metadata_location(**name, versionToken=now["versionToken"], metadataLocation=before["metadataLocation"])
    expected = f"Materialized view regular integrity check failed: versionId ({swapped['versionToken']}) != viewVersionToken ({now['versionToken']}). Please recreate the materialized view or run a full refresh"
    for text in (f"SELECT * FROM {v}", f"SELECT count(*) FROM {v}.snapshots", f"SELECT 1 WHERE EXISTS (SELECT * FROM {v})"):
        why = spark.fails(text)
        assert "org.apache.iceberg.exceptions.ValidationException" in why and expected in why, why
    spark.sql(f"REFRESH MATERIALIZED VIEW {v} FULL")
    assert spark.sql(f"SELECT * FROM {v} ORDER BY customer_name") == [("Alice", 2, "225.25"), ("Bob", 1, "200.50")]
