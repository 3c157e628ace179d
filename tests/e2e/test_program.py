# SPDX-License-Identifier: Apache-2.0
"""The command line, configuration and life of the program, as the contract has them."""
import json
import os
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from conftest import FIRN, ROOT, Server


def firn(*args, env=None):
    return subprocess.run([str(FIRN), *args], capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=60)


def test_usage_and_version(tmp_path):
    assert firn().returncode == 2
    assert firn("nonsense").returncode == 2
    assert firn("version").stdout.startswith("firn ")
    assert firn("serve", "--nonsense", "--data", str(tmp_path / "d")).returncode == 2
    assert "usage" in firn("help").stdout


def test_config(tmp_path):
    r = firn("config", "--data", str(tmp_path))
    assert r.returncode == 0
    for key in ("account", "region", "log.format", "log.level", "sql.trust_local", "aws_compat", "lakeformation.default_permissions", "auth.iceberg", "iceberg.file_root", "test.reset",
                "memory_limit", "threads"):
        assert f"\n{key} " in "\n" + r.stdout, key
    assert firn("config", "account").stdout == "123456789012\n"
    assert firn("config", "region", env={"FIRN_REGION": "eu-north-1"}).stdout == "eu-north-1\n"
    assert firn("config", "region", "--set", "region=eu-west-1", env={"FIRN_REGION": "eu-north-1"}).stdout == "eu-west-1\n"
    f = tmp_path / "firn.conf"
    f.write_text("# a comment\nregion = ap-northeast-1\nsql.trust_local = on\n")
    assert firn("config", "region", "--config", str(f)).stdout == "ap-northeast-1\n"
    for bad in (["--set", "no.such.key=1"], ["--set", "aws_compat=maybe"], ["--set", "nothing"], ["--config", str(tmp_path / "absent")]):
        r = firn("config", *bad)
        assert r.returncode == 2 and r.stderr.startswith("firn: "), bad


def test_without_a_server(tmp_path):
    for args in (["status"], ["env"], ["sql", "-c", "SELECT 1"]):
        assert firn(*args, "--data", str(tmp_path / "none")).returncode == 3, args


def test_commands_with_a_server(server):
    assert server.run("status", check=0).stdout.startswith("ready pid=")
    r = server.run("sql", "-c", "SELECT 1 AS a, 'x,\"y\"' AS b, NULL AS c", "--format", "csv", check=0)
    assert r.stdout == 'a,b,c\n1,"x,""y""",\n'
    r = server.run("sql", "-c", "SELECT 1 AS a, 'x' AS b, CAST(NULL AS INT) AS c, 1.5D AS d, true AS e", "--format", "json", check=0)
    assert json.loads(r.stdout) == {"a": 1, "b": "x", "c": None, "d": 1.5, "e": True}
    assert "(1 row)" in server.run("sql", "-c", "SELECT 1 AS a", check=0).stdout
    r = server.run("sql", "-c", "SELECT nonsense", check=1)
    assert "nonsense" in r.stderr
    assert server.run("sql", "--conf", "spark.sql.catalog.mine.glue.id=123456789012", "-c", "SHOW NAMESPACES IN mine", "--format", "csv", check=0).stdout.startswith("namespace\n")
    assert "integer" in server.run("sql", "--dialect", "materialize", "-c", "SELECT pg_typeof(1)", "--format", "csv").stdout
    env = server.run("env", check=0).stdout
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE",
                 "FIRN_LAKE_URL", "FIRN_ICEBERG_URI"):
        assert f"export {name}='" in env
    endpoints = json.loads((server.data / "endpoints.json").read_text())
    assert endpoints["lake"] == server.lake and endpoints["pid"] == server.process.pid
    assert oct((server.data / "credentials").stat().st_mode)[-3:] == "600"


def test_psql_by_the_environment(server):
    script = f'eval "$({FIRN} env --data {server.data})"; psql -X -At -c "SELECT 40 + 2" && psql -X -At -h 127.0.0.1 -p {server.port} -U materialize -d materialize -c "SELECT 7"'
    r = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert r.stdout == "42\n7\n", r.stderr


def get(url, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=10) as r:
            return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def test_manage_door(server):
    assert get(server.manage + "/healthz") == (200, "ok\n")
    assert get(server.manage + "/readyz")[0] == 200
    code, text = get(server.manage + "/metrics")
    assert code == 200 and "# TYPE firn_refresh_full_total counter" in text and "firn_materialized_views " in text
    assert get(server.manage + "/reset", "POST")[0] == 403
    assert get(server.manage + "/nothing")[0] == 404


def test_reset_where_it_is_allowed(tmp_path):
    s = Server(tmp_path / "data", ["test.reset=on"])
    s.sql("CREATE NAMESPACE glue_catalog.x; CREATE TABLE glue_catalog.x.t (a INT) USING iceberg; INSERT INTO glue_catalog.x.t VALUES (1)")
    assert get(s.manage + "/reset", "POST")[0] == 200
    assert s.sql("SHOW NAMESPACES IN glue_catalog") == [("default",)]
    assert s.s3().list_objects_v2(Bucket="warehouse")["KeyCount"] == 0
    s.sql("CREATE NAMESPACE glue_catalog.x; CREATE TABLE glue_catalog.x.t (a INT) USING iceberg")
    assert s.sql("SELECT count(*) FROM glue_catalog.x.t") == [(0,)]
    s.stop()


def test_a_schedule_below_the_minimum(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg")
    with pytest.raises(Exception, match="below the minimum of 600 seconds"):
        server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.v SCHEDULE REFRESH EVERY 5 MINUTES AS SELECT a FROM glue_catalog.{ns}.t")
    server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.v SCHEDULE REFRESH EVERY 2 HOURS AS SELECT a FROM glue_catalog.{ns}.t")
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.v"))["schedule"] == "7200"


def test_a_schedule_is_carried_out(tmp_path):
    s = Server(tmp_path / "data", ["schedule.minimum=60"])
    s.sql("CREATE NAMESPACE glue_catalog.x; CREATE TABLE glue_catalog.x.t (a INT) USING iceberg; INSERT INTO glue_catalog.x.t VALUES (1)")
    s.sql("CREATE MATERIALIZED VIEW glue_catalog.x.v SCHEDULE REFRESH EVERY 1 MINUTE AS SELECT a, count(*) AS n FROM glue_catalog.x.t GROUP BY a")
    s.sql("CREATE MATERIALIZED VIEW glue_catalog.x.w SCHEDULE REFRESH EVERY 1 MINUTE AS SELECT sum(n) AS s FROM glue_catalog.x.v")
    s.sql("ALTER MATERIALIZED VIEW glue_catalog.x.v ADD SCHEDULE REFRESH EVERY 1 MINUTE; INSERT INTO glue_catalog.x.t VALUES (1), (2)")
    s.stop()
    db = sqlite3.connect(s.data / "catalog.db")            # a minute passes
    assert db.execute("UPDATE mview SET next_due_ms = 1 WHERE schedule_s = 60").rowcount == 2
    db.commit()
    db.close()
    s.start()
    deadline = time.monotonic() + 20
    while s.sql("SELECT * FROM glue_catalog.x.w") != [(3,)] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert sorted(s.sql("SELECT * FROM glue_catalog.x.v")) == [(1, 2), (2, 1)]
    assert s.sql("SELECT * FROM glue_catalog.x.w") == [(3,)]
    s.sql("ALTER MATERIALIZED VIEW glue_catalog.x.v DROP SCHEDULE")
    assert "schedule" not in dict(s.sql("SHOW TBLPROPERTIES glue_catalog.x.v"))
    s.stop()


def test_the_table_of_aws_operations_is_the_programs_own():
    text = subprocess.run([str(FIRN), "version", "--aws-api"], capture_output=True, text=True, check=True).stdout
    assert (ROOT / "docs" / "aws-api-support.md").read_text() == text
