# SPDX-License-Identifier: Apache-2.0
"""The clients that people use, as they are: the AWS CLI and psql through `firn env`, PyIceberg, DuckDB.  firn reads what they write."""
import contextlib
import datetime
import decimal
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

D = decimal.Decimal


@pytest.fixture(scope="module")
def env(server):
    """What a shell has after `eval "$(firn env)"`."""
    script = server.run("env", check=0).stdout + "env -0"
    text = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"], "HOME": str(server.data)}).stdout
    return dict(line.split("=", 1) for line in text.split("\0") if line)


# ---- the AWS CLI -------------------------------------------------------------------------------------------------------------

AWS = """
import json, sys
from awscli.clidriver import create_clidriver
for line in sys.stdin:                         # one interpreter for many commands: starting it costs more than they do
    code = create_clidriver().main(json.loads(line))
    print("exit", code, flush=True)
    if code: break
"""


def aws(env, *commands, code=0):
    """What the commands print, each ended by its exit status."""
    r = subprocess.run([sys.executable, "-c", AWS], input="\n".join(json.dumps(c if isinstance(c, list) else c.split()) for c in commands),
                       capture_output=True, text=True, env=dict(env, AWS_MAX_ATTEMPTS="1"), timeout=100)
    out, last = re.split(r"exit (-?\d+)\n", r.stdout), None
    assert len(out) == 2 * len(commands) + 1 and int(out[-2]) == code, r.stdout + r.stderr
    return out[:-1:2] if code == 0 else r.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    for name, data in {"x": b"x" * 10, "empty": b"", "a b/c+d/ü &=?.txt": b"odd", "big": os.urandom(9 << 20)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


def test_aws_copies_and_syncs(env, tree, tmp_path):
    out = aws(env, "s3 mb s3://cli-files", ["s3", "sync", str(tree), "s3://cli-files/t", "--only-show-errors"], ["s3", "sync", str(tree), "s3://cli-files/t"],
              "s3 ls", "s3 ls --recursive --summarize s3://cli-files/t", "s3 ls s3://cli-files/t/", "s3 cp --quiet s3://cli-files/t/big s3://cli-files/u/big",
              ["s3", "sync", "s3://cli-files/t", str(tmp_path / "back"), "--only-show-errors"], "s3 mv s3://cli-files/u/big s3://cli-files/u/moved --quiet",
              "s3 presign s3://cli-files/t/x", ["s3api", "head-object", "--bucket", "cli-files", "--key", "u/moved"])
    assert out[1] == out[2] == ""                                    # the second sync finds nothing to do
    assert "cli-files" in out[3] and "Total Objects: 4" in out[4] and f"Total Size: {(9 << 20) + 13}" in out[4]
    assert [line.split(maxsplit=1)[0] for line in out[5].splitlines() if "PRE" in line] == ["PRE"] and "a b/" in out[5]
    for f in tree.rglob("*"):
        if f.is_file():
            assert (tmp_path / "back" / f.relative_to(tree)).read_bytes() == f.read_bytes(), f
    with urllib.request.urlopen(out[9].strip()) as r:
        assert r.read() == b"x" * 10
    assert json.loads(out[10])["ContentLength"] == 9 << 20 and json.loads(out[10])["ETag"].strip('"').endswith("-2")
    out = aws(env, "s3 rm --recursive s3://cli-files/t --exclude * --include *.txt", "s3 ls --recursive s3://cli-files/t", "s3 rb --force s3://cli-files")
    assert "ü &=?.txt" in out[0] and "txt" not in out[1] and len(out[1].splitlines()) == 3 and "remove_bucket: cli-files" in out[2]


def test_aws_multipart_by_hand(env, tree, tmp_path):
    api = ["s3api", "--bucket", "cli-parts", "--key", "k"]
    parts = [tree / "big", tree / "x"]
    upload = json.loads(aws(env, "s3 mb s3://cli-parts", [*api[:1], "create-multipart-upload", *api[1:], "--content-type", "text/x"])[1])["UploadId"]
    out = aws(env, *[["s3api", "upload-part", *api[1:], "--upload-id", upload, "--part-number", str(n), "--body", str(p)] for n, p in enumerate(parts, 1)],
              ["s3api", "list-parts", *api[1:], "--upload-id", upload], "s3api list-multipart-uploads --bucket cli-parts")
    assert [p["Size"] for p in json.loads(out[2])["Parts"]] == [9 << 20, 10] and json.loads(out[3])["Uploads"][0]["UploadId"] == upload
    done = json.dumps({"Parts": [{"PartNumber": n, "ETag": json.loads(out[n - 1])["ETag"]} for n in (1, 2)]})
    out = aws(env, ["s3api", "complete-multipart-upload", *api[1:], "--upload-id", upload, "--multipart-upload", done],
              ["s3api", "get-object", *api[1:], "--range", "bytes=9437182-", str(tmp_path / "tail")], ["s3api", "head-object", *api[1:]])
    etag = hashlib.md5(b"".join(hashlib.md5(p.read_bytes()).digest() for p in parts)).hexdigest() + "-2"
    assert json.loads(out[0])["ETag"] == f'"{etag}"' and json.loads(out[2])["ContentType"] == "text/x"
    assert (tmp_path / "tail").read_bytes() == (tree / "big").read_bytes()[-2:] + b"x" * 10
    assert "NoSuchUpload" in aws(env, ["s3api", "abort-multipart-upload", *api[1:], "--upload-id", upload], code=255)


def test_aws_is_refused_on_a_managed_view(server, env, ns, tree):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.t (a INT); INSERT INTO glue_catalog.{ns}.t VALUES (1); SET spark.sql.mv.managed.enabled = true;
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT a, count(*) AS n FROM glue_catalog.{ns}.t GROUP BY a""")
    before = server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/m/")["Contents"]
    for command in (["s3", "rm", "--recursive", f"s3://warehouse/{ns}.db/m/"], ["s3", "cp", str(tree / "big"), f"s3://warehouse/{ns}.db/m/data/evil"]):
        r = subprocess.run([sys.executable, "-c", AWS], input=json.dumps(command), capture_output=True, text=True, env=dict(env, AWS_MAX_ATTEMPTS="1"), timeout=60)
        assert "exit 1" in r.stdout and "AccessDenied" in r.stderr and "system-managed materialized view" in r.stderr and f"{ns}.m" in r.stderr, r.stderr
    assert server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/m/")["Contents"] == before


# ---- psql ----------------------------------------------------------------------------------------------------------------------

def psql(env, *args, **more):
    return subprocess.run(["psql", "-X", "-At", *args], capture_output=True, text=True, env=env, timeout=60, **more)


@pytest.mark.skipif(not shutil.which("psql"), reason="there is no psql")
def test_psql_needs_no_options(env, ns, tmp_path):
    t = f"glue_catalog.{ns}.t"
    script = tmp_path / "s.sql"
    script.write_text(f"""CREATE TABLE {t} (id INT, s STRING) USING iceberg;
        \\copy {ns}.t FROM PSTDIN
        \\set lo 2
        SELECT * FROM {t} WHERE id >= :lo ORDER BY id;
        \\copy (SELECT * FROM {t} ORDER BY id) TO '{tmp_path}/out.csv' CSV HEADER
        SELECT count(*) AS n FROM {t} \\gset
        \\echo n is :n
        \\if :{{?nosuch}} \\echo wrong \\endif
        SELECT id, s FROM {t} ORDER BY id LIMIT 1 \\gx
        """)
    r = psql(env, "-v", "ON_ERROR_STOP=1", "-f", str(script), input="1\ta\n2\t\\N\n3\tc\\td\n")
    assert r.returncode == 0 and r.stdout == "CREATE TABLE\nCOPY 3\n2|\n3|c\td\nCOPY 3\nn is 3\nid|1\ns|a\n", (r.stdout, r.stderr)
    assert (tmp_path / "out.csv").read_text() == "id,s\n1,a\n2,\n3,c\td\n"
    assert psql(env, "-c", "SELECT 1", "-c", "SELECT nosuch").returncode == 1
    script.write_text("SELECT nosuch;\nSELECT 2;\n")
    r = psql(env, "-f", str(script))
    assert (r.returncode, r.stdout) == (0, "2\n") and "s.sql:1: ERROR" in r.stderr
    r = psql(env, "-v", "ON_ERROR_STOP=1", "-f", str(script))
    assert (r.returncode, r.stdout) == (3, "")
    assert psql(dict(env, PGPASSWORD="wrong"), "-c", "SELECT 1").returncode == 2


# ---- PyIceberg -------------------------------------------------------------------------------------------------------------------

def test_pyiceberg_makes_and_changes_a_table(server, ns):
    from pyiceberg.exceptions import NoSuchTableError, TableAlreadyExistsError
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import BucketTransform, MonthTransform, TruncateTransform
    from pyiceberg.types import DateType, DecimalType, LongType, NestedField, StringType, StructType
    cat, t = server.pyiceberg(), f"glue_catalog.{ns}.p"
    schema = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "s", StringType()), NestedField(3, "d", DateType()),
                    NestedField(4, "x", DecimalType(10, 2)), NestedField(5, "n", StructType(NestedField(6, "a", LongType()))), identifier_field_ids=[1])
    p = cat.create_table(f"{ns}.p", schema, properties={"a": "b"})
    with pytest.raises(TableAlreadyExistsError):
        cat.create_table(f"{ns}.p", schema)

    def batch(*ids, s=None):
        return pa.Table.from_pylist([{"id": i, "s": s or f"s{i}", "d": datetime.date(2026, 1, i), "x": D(i) / 4, "n": {"a": i}} for i in ids], schema=p.schema().as_arrow())

    p.append(batch(1, 2))
    with p.update_spec() as u:
        u.add_identity("s")
    p.append(batch(3))
    with p.update_spec() as u:
        u.remove_field("s")
        u.add_field("d", MonthTransform(), "month")
        u.add_field("id", BucketTransform(4))
        u.add_field("s", TruncateTransform(1), "first")
    server.sql(f"INSERT INTO {t} VALUES (4, 's4', DATE'2026-01-04', 1, named_struct('a', 4L))")
    assert [r["partition"] for r in p.refresh().inspect.files().to_pylist() if r["spec_id"] == p.spec().spec_id] == [
        {"month": 672, "id_bucket_4": 2, "first": "s", "s": None}]
    with p.update_spec() as u:
        u.remove_field("month")
        u.remove_field("id_bucket_4")
        u.remove_field("first")
    p.append(batch(5))
    with p.update_schema() as u:
        u.rename_column("s", "title")
        u.add_column("more", StringType(), doc="added")
        u.add_column(("n", "b"), StringType())
        u.move_first("more")
        u.update_column("x", DecimalType(12, 2))
    assert server.sql(f"SELECT id, title, d, x, n.a, n.b, more FROM {t} ORDER BY id") == [
        (i, f"s{i}", datetime.date(2026, 1, i), D(i) / 4, i, None, None) for i in range(1, 6)]
    assert [r[:2] for r in server.sql(f"DESCRIBE {t}")][:6] == [("more", "string"), ("id", "bigint"), ("title", "string"), ("d", "date"), ("x", "decimal(12,2)"),
                                                                ("n", "struct<a:bigint,b:string>")]
    server.sql(f"INSERT INTO {t} (id) VALUES (0)")                  # upsert reads by the schema of the last snapshot
    p.refresh()
    rows = pa.Table.from_pylist([{"id": i, "title": f"new{i}", "d": None, "x": None, "n": None, "more": None} for i in (5, 6)], schema=p.schema().as_arrow())
    done = p.upsert(rows)
    assert (done.rows_updated, done.rows_inserted) == (1, 1)
    p.delete("id in (0, 1, 3)")
    p.overwrite(pa.Table.from_pylist([{"id": 7, "title": "over"}], schema=p.schema().as_arrow()), overwrite_filter="id == 2")
    assert server.sql(f"SELECT id, title FROM {t} ORDER BY id") == [(4, "s4"), (5, "new5"), (6, "new6"), (7, "over")]
    assert server.sql(f"SELECT count(*) FROM {t} VERSION AS OF {p.history()[1].snapshot_id}") == [(3,)]
    with p.manage_snapshots() as m:
        m.create_tag(p.history()[0].snapshot_id, "first")
        m.create_branch(p.history()[1].snapshot_id, "dev")
    assert server.sql(f"SELECT count(*) FROM {t}.tag_first") == [(2,)] and server.sql(f"SELECT count(*) FROM {t}.branch_dev") == [(3,)]
    p.append(pa.Table.from_pylist([{"id": 9}], schema=p.schema().as_arrow()), branch="dev")
    assert server.sql(f"SELECT max(id) FROM {t} VERSION AS OF 'dev'") == [(9,)] and server.sql(f"SELECT max(id) FROM {t}") == [(7,)]

    server.sql(f"UPDATE {t} SET title = concat(title, '!') WHERE id > 4; DELETE FROM {t} WHERE id = 4; ALTER TABLE {t} DROP COLUMN more")
    p.refresh()
    assert sorted((r["id"], r["title"]) for r in p.scan().to_arrow().to_pylist()) == [(5, "new5!"), (6, "new6!"), (7, "over!")]
    assert p.schema().column_names == ["id", "title", "d", "x", "n.a", "n.b"] or [f.name for f in p.schema().fields] == ["id", "title", "d", "x", "n"]
    with p.transaction() as tx:
        tx.set_properties({"k": "v"})
        tx.append(pa.Table.from_pylist([{"id": 20}], schema=p.schema().as_arrow()))
    assert dict(server.sql(f"SHOW TBLPROPERTIES {t}"))["k"] == "v" and server.sql(f"SELECT max(id) FROM {t}") == [(20,)]
    cat.rename_table(f"{ns}.p", f"{ns}.q")
    assert server.sql(f"SELECT count(*) FROM glue_catalog.{ns}.q") == [(4,)]
    cat.drop_table(f"{ns}.q")
    with pytest.raises(NoSuchTableError):
        cat.load_table(f"{ns}.q")


def test_pyiceberg_adopts_files(server, ns):
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType
    cat = server.pyiceberg()
    p = cat.create_table(f"{ns}.a", Schema(NestedField(1, "id", LongType()), NestedField(2, "s", StringType())))
    for n in (1, 2):
        buf = io.BytesIO()
        pq.write_table(pa.table({"id": [n, n * 10], "s": ["x", None]}), buf)
        server.s3().put_object(Bucket="warehouse", Key=f"{ns}.db/a/in/{n}.parquet", Body=buf.getvalue())
    p.add_files([f"s3://warehouse/{ns}.db/a/in/{n}.parquet" for n in (1, 2)])
    t = f"glue_catalog.{ns}.a"
    assert server.sql(f"SELECT id, s FROM {t} ORDER BY id") == [(1, "x"), (2, "x"), (10, None), (20, None)]
    server.sql(f"DELETE FROM {t} WHERE id = 10; ALTER TABLE {t} RENAME COLUMN s TO t")
    assert sorted((r["id"], r["t"]) for r in p.refresh().scan().to_arrow().to_pylist()) == [(1, "x"), (2, "x"), (20, None)]


def test_pyiceberg_sees_views(server, ns):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.t (a INT, b STRING); INSERT INTO glue_catalog.{ns}.t VALUES (1, 'x'), (2, 'y');
        CREATE VIEW glue_catalog.{ns}.v AS SELECT a FROM glue_catalog.{ns}.t; CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT b, count(*) AS n FROM glue_catalog.{ns}.t GROUP BY b""")
    cat = server.pyiceberg()
    assert cat.list_views(ns) == [(ns, "v")] and sorted(cat.list_tables(ns)) == [(ns, "m"), (ns, "t")]
    assert cat.view_exists(f"{ns}.v") and not cat.view_exists(f"{ns}.t") and not cat.table_exists(f"{ns}.v")
    cat.drop_view(f"{ns}.v")
    assert not cat.view_exists(f"{ns}.v")


def test_vended_credentials_reach_one_table(server, ns):
    import boto3
    import botocore.config
    from botocore.exceptions import ClientError
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT); CREATE TABLE glue_catalog.{ns}.t2 (a INT); INSERT INTO glue_catalog.{ns}.t VALUES (1); INSERT INTO glue_catalog.{ns}.t2 VALUES (1)")
    p = server.pyiceberg().load_table(f"{ns}.t").io.properties
    s3 = boto3.client("s3", endpoint_url=server.lake, aws_access_key_id=p["s3.access-key-id"], aws_secret_access_key=p["s3.secret-access-key"],
                      aws_session_token=p.get("s3.session-token"), region_name="us-east-1", config=botocore.config.Config(s3={"addressing_style": "path"}))
    found = [o["Key"] for o in s3.list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t/")["Contents"]]
    assert len(found) >= 3 and s3.list_objects(Bucket="warehouse", Prefix=f"{ns}.db/t/data/")["Contents"]
    assert s3.get_object(Bucket="warehouse", Key=found[0])["Body"].read() and s3.list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t/../t2/")["KeyCount"] == 0
    other = server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t2/")["Contents"][0]["Key"]
    for call in (lambda: s3.list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t"), lambda: s3.list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/t2/"),
                 lambda: s3.list_objects_v2(Bucket="warehouse"),
                 lambda: s3.list_object_versions(Bucket="warehouse"), lambda: s3.list_multipart_uploads(Bucket="warehouse"), lambda: s3.list_buckets(),
                 lambda: s3.get_object(Bucket="warehouse", Key=other), lambda: s3.put_object(Bucket="warehouse", Key=other, Body=b"x"),
                 lambda: s3.delete_bucket(Bucket="warehouse")):
        with pytest.raises(ClientError) as e:
            call()
        assert e.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


# ---- DuckDB ----------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def duck(server):
    import importlib.util
    import pathlib
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for ext in ("httpfs", "avro", "iceberg"):
        spec = importlib.util.find_spec(f"duckdb_extension_{ext}")
        con.execute(f"INSTALL '{next(pathlib.Path(spec.submodule_search_locations[0]).rglob(f'{ext}.duckdb_extension'))}'; LOAD {ext}")
    con.execute(f"""CREATE SECRET s (TYPE iceberg, CLIENT_ID '{server.key}', CLIENT_SECRET '{server.secret}', OAUTH2_SERVER_URI '{server.lake}/iceberg/v1/oauth/tokens');
        ATTACH '123456789012' AS lake (TYPE iceberg, ENDPOINT '{server.lake}/iceberg', SECRET s)""")
    with contextlib.closing(con):
        yield con


def test_duckdb_writes(server, ns, duck):
    t = f"lake.{ns}.d"
    duck.execute(f"CREATE TABLE {t} (id BIGINT, s VARCHAR, x DECIMAL(10,2), d DATE, ts TIMESTAMP, l INTEGER[], st STRUCT(a INTEGER, b VARCHAR))")
    duck.execute(f"INSERT INTO {t} VALUES (1, 'a', 1.5, '2026-01-01', '2026-01-01 01:02:03', [1, 2], {{a: 1, b: 'x'}}), (2, NULL, NULL, NULL, NULL, NULL, NULL)")
    duck.execute(f"INSERT INTO {t} SELECT i, 's' || i, i / 4, NULL, NULL, [i], NULL FROM range(3, 1003) r(i)")
    g = f"glue_catalog.{ns}.d"
    assert server.sql(f"SELECT id, s, x, d, ts, l, st.a, st.b FROM {g} WHERE id < 3 ORDER BY id") == [
        (1, "a", D("1.50"), datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 1, 2, 3), [1, 2], 1, "x"), (2, None, None, None, None, None, None, None)]
    assert server.sql(f"SELECT count(*), sum(id), sum(x), sum(l[0]) FROM {g}") == [(1002, 502503, D("125626.50"), 502501)]
    server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT id % 2 AS odd, count(*) AS n, sum(x) AS x FROM {g} GROUP BY id % 2")
    duck.execute(f"DELETE FROM {t} WHERE id > 900; UPDATE {t} SET s = 'u' WHERE id = 2")
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m")
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.m"))["lastRefreshType"] == "INCREMENTAL"
    assert server.sql(f"SELECT odd, n FROM glue_catalog.{ns}.m ORDER BY odd") == [(0, 450), (1, 450)]
    assert server.sql(f"SELECT s FROM {g} WHERE id = 2") == [("u",)]
    server.sql(f"DELETE FROM {g} WHERE id BETWEEN 10 AND 19; ALTER TABLE {g} RENAME COLUMN s TO t; INSERT INTO {g} (id, t) VALUES (5000, 'firn')")
    assert duck.execute(f"SELECT count(*), sum(id), max(t) FILTER (id = 5000) FROM lake.{ns}.d").fetchone() == (891, 405450 - 145 + 5000, "firn")
    assert duck.execute(f"SELECT * FROM lake.{ns}.m ORDER BY odd").fetchall() == server.sql(f"SELECT * FROM glue_catalog.{ns}.m ORDER BY odd")
    with duck.begin() as tx:
        tx.execute(f"INSERT INTO {t} (id) VALUES (6000)")
        tx.rollback()
    assert server.sql(f"SELECT count(*) FROM {g} WHERE id = 6000") == [(0,)]
