# SPDX-License-Identifier: Apache-2.0
"""Bad days: a full disk, a folder that cannot be written or is gone, a stop under load, a second server, statements that are too long or too large."""
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import psycopg
import pytest
import requests
from botocore.exceptions import ClientError

from conftest import FIRN, Server

HEAVY = "SELECT count(*), sum(a.id * b.id % 7) FROM range(300000) a JOIN range(300000) b ON a.id % 1000 = b.id % 1001"
HEAVY_PG = "SELECT count(*), max((a % 7) * (b % 7)) FROM generate_series(1, 3000000) AS x(a) JOIN generate_series(1, 3000000) AS y(b) ON a % 1000 = b % 1001"
RANGE = "CREATE TABLE glue_catalog.n.t USING iceberg AS SELECT id, concat('name ', id % 97) AS k FROM range({n})"


def made(server, n=1000):
    server.sql(f"""CREATE NAMESPACE glue_catalog.n; SET spark.sql.mv.managed.enabled = true; {RANGE.format(n=n)};
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.n.m AS SELECT k, count(*) AS c FROM glue_catalog.n.t GROUP BY k""")
    return server


def total(server):
    return server.sql("SELECT count(*) FROM glue_catalog.n.t")[0][0], server.sql("SELECT sum(c) FROM glue_catalog.n.m")[0][0]


def get(server, path):
    return requests.get(server.manage + path, timeout=10)


@pytest.fixture()
def small_disk(tmp_path):
    """A file system of 48 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)], capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk):
    s = made(Server(small_disk / "data"))
    try:
        s.s3().create_bucket(Bucket="things")
        s.s3().put_object(Bucket="things", Key="old", Body=b"old")
        assert total(s) == (1000, 1000) and get(s, "/readyz").status_code == 200
        free = os.statvfs(small_disk)
        (small_disk / "ballast").write_bytes(b"\0" * (free.f_bavail * free.f_frsize))
        for text in ("INSERT INTO glue_catalog.n.t SELECT id, 'x' FROM range(200000)", "UPDATE glue_catalog.n.t SET k = 'y'", "REFRESH MATERIALIZED VIEW glue_catalog.n.m FULL",
                     "CREATE TABLE glue_catalog.n.u USING iceberg AS SELECT id, uuid() AS u FROM range(200000)"):
            with pytest.raises(psycopg.Error) as e:
                s.sql(text)
            assert e.value.sqlstate == "53100" and ("full" in str(e.value) or "No space" in str(e.value)), f"{text}: {e.value.sqlstate} {e.value}"
        for key in ("new", "old"):
            with pytest.raises(ClientError) as e:
                s.s3().put_object(Bucket="things", Key=key, Body=os.urandom(3 << 20))
            assert e.value.response["ResponseMetadata"]["HTTPStatusCode"] in (503, 507), e.value
        assert get(s, "/readyz").status_code == 503 and get(s, "/healthz").status_code == 200
        assert total(s) == (1000, 1000)
        assert s.s3().get_object(Bucket="things", Key="old")["Body"].read() == b"old"
        (small_disk / "ballast").unlink()
        s.sql("INSERT INTO glue_catalog.n.t SELECT id, 'x' FROM range(2000); REFRESH MATERIALIZED VIEW glue_catalog.n.m")
        s.s3().put_object(Bucket="things", Key="new", Body=b"new")
        assert total(s) == (3000, 3000) and get(s, "/readyz").status_code == 200
        s.run("verify", check=0)
        s.kill()
        s.start()
        assert total(s) == (3000, 3000)
        s.run("verify", check=0)
    finally:
        (small_disk / "ballast").unlink(missing_ok=True)
        s.kill() if s.process.poll() is None else None


def test_a_full_disk_at_start(small_disk):
    s = made(Server(small_disk / "data"))
    s.stop()
    free = os.statvfs(small_disk)
    with open(small_disk / "ballast", "wb", buffering=0) as f:
        try:
            f.write(b"\0" * (free.f_bavail * free.f_frsize))
            while True:
                f.write(b"\0" * 4096)
        except OSError:
            pass
    try:
        s.start()                                # it may serve reads …
        assert total(s) == (1000, 1000)
        s.kill()
    except RuntimeError as e:                    # … or say why not
        assert "full" in str(e) or "No space" in str(e), str(e)
    (small_disk / "ballast").unlink()
    s.start()
    assert total(s) == (1000, 1000)
    s.run("verify", check=0)
    s.stop()


@pytest.mark.parametrize("make", ["read-only", "is a file", "no parent"])
def test_a_folder_that_cannot_be_used(tmp_path, make):
    folder = tmp_path / "data"
    if make == "read-only":
        folder.mkdir()
        if os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", str(folder)], capture_output=True).returncode != 0:
            pytest.skip("a read-only file system needs root")
        os.geteuid() == 0 or folder.chmod(0o500)
    elif make == "is a file":
        folder.write_text("x")
    else:
        folder = tmp_path / "file"
        folder.write_text("x")
        folder = folder / "data"
    try:
        r = subprocess.run([str(FIRN), "serve", "--data", str(folder), "--lake", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--manage", "127.0.0.1:0"], capture_output=True, text=True, timeout=20)
        assert r.returncode in (1, 2) and r.stdout == "" and str(folder) in r.stderr and len(r.stderr.splitlines()) <= 2, (r.returncode, r.stderr)
    finally:
        if make == "read-only" and os.geteuid() == 0:
            subprocess.run(["umount", "-l", str(folder)])


def test_the_objects_folder_is_gone(tmp_path):
    s = made(Server(tmp_path / "data"))
    objects = next(p for p in s.data.rglob("objects") if p.is_dir())
    away = tmp_path / "away"
    objects.rename(away)
    for text in ("SELECT count(*) FROM glue_catalog.n.t WHERE id > 3", "INSERT INTO glue_catalog.n.t VALUES (1, 'x')", "REFRESH MATERIALIZED VIEW glue_catalog.n.m FULL"):
        with pytest.raises(psycopg.Error) as e:
            s.sql(text)
        assert (e.value.sqlstate or "XX000") != "XX000", f"{text}: {e.value.sqlstate} {e.value}"
    assert get(s, "/readyz").status_code == 503 and get(s, "/healthz").status_code == 200
    if objects.exists():
        shutil.rmtree(objects)
    away.rename(objects)
    try:
        s.sql("REFRESH MATERIALIZED VIEW glue_catalog.n.m FULL")
        assert total(s) == (1000, 1000)
        s.sql("INSERT INTO glue_catalog.n.t VALUES (1, 'x'); REFRESH MATERIALIZED VIEW glue_catalog.n.m")
        assert total(s) == (1001, 1001) and get(s, "/readyz").status_code == 200
        s.run("verify", check=0)
    finally:
        s.stop()


def test_sigterm_under_load(tmp_path):
    s = made(Server(tmp_path / "data"))
    acked, stop = [], threading.Event()

    def insert(n):
        try:
            c = s.connect()
            while not stop.is_set():
                c.execute(f"INSERT INTO glue_catalog.n.t VALUES ({n}, 'load')", prepare=False)
                acked.append(n)
        except psycopg.Error:
            pass

    def heavy():
        try:
            s.connect().execute(HEAVY.replace("300000", "3000000"))
        except psycopg.Error:
            pass

    def put():
        s3 = s.s3()
        try:
            s3.create_bucket(Bucket="things")
            while not stop.is_set():
                s3.put_object(Bucket="things", Key="k", Body=os.urandom(1 << 20))
        except Exception:                        # noqa: BLE001 - the server ends
            pass
    idle = s.connect()
    threads = [threading.Thread(target=t, args=a) for t, a in ((insert, (1,)), (insert, (2,)), (heavy, ()), (put, ()))]
    for t in threads:
        t.start()
    while len(acked) < 3:
        time.sleep(0.05)
    begun = time.monotonic()
    s.process.send_signal(signal.SIGTERM)
    code = s.process.wait(20)
    took = time.monotonic() - begun
    stop.set()
    for t in threads:
        t.join(20)
        assert not t.is_alive()
    idle.close()
    log = (s.data.parent / "data.log").read_text()
    assert code == 0 and took < 10, f"exit {code} after {took:.1f} s\n{log[-2000:]}"
    ports = s.lake, s.sql_url, s.manage
    s.start()
    assert (s.lake, s.sql_url, s.manage) == ports
    n, = s.sql("SELECT count(*) FROM glue_catalog.n.t WHERE k = 'load'")[0]
    assert len(acked) <= n <= len(acked) + 2
    s.stop()


def test_a_second_server_is_told_who_has_the_folder(server):
    r = subprocess.run([str(FIRN), "serve", "--data", str(server.data), "--lake", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--manage", "127.0.0.1:0"], capture_output=True, text=True, timeout=20)
    assert r.returncode == 1 and str(server.process.pid) in r.stderr, (r.returncode, r.stderr)
    e = json.loads((server.data / "endpoints.json").read_text())
    assert e["pid"] == server.process.pid and e["lake"] == server.lake
    assert oct((server.data / "credentials").stat().st_mode)[-3:] == "600"
    assert subprocess.run([str(FIRN), "status", "--data", str(server.data)], capture_output=True).returncode == 0


def test_ports_are_kept_over_a_kill(fresh):
    ports = fresh.lake, fresh.sql_url, fresh.manage
    fresh.kill()
    assert subprocess.run([str(FIRN), "status", "--data", str(fresh.data)], capture_output=True).returncode != 0
    fresh.start()
    assert (fresh.lake, fresh.sql_url, fresh.manage) == ports


@pytest.mark.parametrize("dialect", ["spark", "materialize"])
def test_statement_timeout(server, dialect):
    with server.connect(dialect) as c:
        c.execute("SET statement_timeout = '300ms'")
        begun = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled) as e:
            c.execute(HEAVY_PG if dialect == "materialize" else HEAVY.replace("300000", "3000000"))
        assert "timeout" in str(e.value) and time.monotonic() - begun < 5
        assert c.execute("SELECT 1").fetchone() == (1,)
    with server.connect(dialect, options="-c statement_timeout=200") as c:
        assert c.execute("SHOW statement_timeout").fetchone()[-1] in ("200", "200ms")


def test_cancel(server):
    with server.connect() as c:
        for text in (HEAVY.replace("300000", "9000000"), "EXPLAIN ANALYZE " + HEAVY.replace("300000", "9000000")):
            timer = threading.Timer(0.5, c.cancel)
            begun = time.monotonic()
            timer.start()
            with pytest.raises(psycopg.Error) as e:
                c.execute(text)
            if e.value.sqlstate != "57014":
                assert "EXPLAIN" in text, e.value
            timer.join()
            assert time.monotonic() - begun < 8
            assert c.execute("SELECT 1").fetchone() == (1,)


def test_a_refresh_that_waits_for_another_one_can_be_given_up(server, ns):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.t USING iceberg AS SELECT id FROM range(20);
        CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT a.id % 10 AS k, sum(a.id * b.id % 7) AS c FROM glue_catalog.{ns}.t a JOIN glue_catalog.{ns}.t b ON a.id % 7 <> b.id % 11 GROUP BY a.id % 10;
        INSERT INTO glue_catalog.{ns}.t SELECT id FROM range(400000)""")
    first = server.connect()
    t = threading.Thread(target=lambda: pytest.raises(psycopg.errors.QueryCanceled, first.execute, f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v FULL"))
    t.start()
    time.sleep(1)
    with server.connect(options="-c statement_timeout=500") as c:
        begun = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled):
            c.execute(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v")
        assert time.monotonic() - begun < 4
    assert t.is_alive()
    first.cancel()
    t.join(10)
    assert not t.is_alive()


def test_cancel_of_a_write_leaves_nothing(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT, s STRING) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1, 'x')")
    with server.connect() as c:
        for text in (f"INSERT INTO glue_catalog.{ns}.t SELECT a.id, md5(cast(b.id AS STRING)) FROM range(3000000) a JOIN range(3000) b ON a.id % 100 = b.id % 100",
                     f"CREATE TABLE glue_catalog.{ns}.u USING iceberg AS SELECT a.id, md5(cast(b.id AS STRING)) AS h FROM range(3000000) a JOIN range(3000) b ON a.id % 100 = b.id % 100",
                     f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT a.id % 10 AS k, count(*) AS c FROM glue_catalog.{ns}.t a, range(100000) b, range(100000) d GROUP BY 1"):
            threading.Timer(0.6, c.cancel).start()
            with pytest.raises(psycopg.Error):
                c.execute(text)
            time.sleep(0.3)
    assert server.sql(f"SELECT count(*) FROM glue_catalog.{ns}.t") == [(1,)]
    assert [r[1] for r in server.sql(f"SHOW TABLES IN glue_catalog.{ns}")] == ["t"]
    keys = [o["Key"] for o in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/").get("Contents", [])]
    assert len([k for k in keys if k.endswith(".parquet")]) == 1 and not [k for k in keys if "/u/" in k or "/v/" in k], keys


def test_a_query_larger_than_memory(tmp_path):
    s = Server(tmp_path / "data", ["memory_limit=100MB"])
    try:
        with s.connect() as c:
            try:                                 # a sort of about 200 MB: by spilling, or a clean refusal
                cur = c.execute("SELECT count(*), max(h) FROM (SELECT h, row_number() OVER (ORDER BY h) AS r FROM (SELECT concat(md5(cast(id AS STRING)), md5(cast(id + 1 AS STRING))) AS h FROM range(1500000)) x) y")
                assert cur.fetchone()[0] == 1500000
            except psycopg.Error as e:
                assert e.sqlstate == "53200", f"{e.sqlstate} {e}"
            assert c.execute("SELECT 1").fetchone() == (1,)
            with pytest.raises(psycopg.Error) as e:
                c.execute("SELECT length(array_join(collect_list(h), '')) FROM (SELECT concat(md5(cast(id AS STRING)), md5(cast(id + 1 AS STRING))) AS h FROM range(2000000)) x")
            assert e.value.sqlstate in ("53200", "54000"), f"{e.value.sqlstate} {e.value}"
            assert c.execute("SELECT 1").fetchone() == (1,)
        spill = s.data / "spill"
        assert not spill.exists() or sum(p.stat().st_size for p in spill.rglob("*") if p.is_file()) == 0
    finally:
        s.stop()


def test_a_heavy_query_starves_nobody(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t USING iceberg AS SELECT id FROM range(100); CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT count(*) AS c FROM glue_catalog.{ns}.t")
    connections = [server.connect() for _ in range(3)]
    threads = [threading.Thread(target=lambda c=c: pytest.raises(psycopg.Error, c.execute, HEAVY.replace("300000", "9000000"))) for c in connections]
    for t in threads:
        t.start()
    try:
        time.sleep(0.5)
        slow = []
        for text in (f"SELECT count(*) FROM glue_catalog.{ns}.t", f"INSERT INTO glue_catalog.{ns}.t VALUES (1)", f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v", f"SELECT c FROM glue_catalog.{ns}.v"):
            begun = time.monotonic()
            server.sql(text)
            slow.append((round(time.monotonic() - begun, 2), text))
        assert all(t.is_alive() for t in threads), "the heavy queries were not heavy"
        assert max(slow)[0] < 2, slow
        begun = time.monotonic()
        assert get(server, "/readyz").status_code == 200 and time.monotonic() - begun < 2
    finally:
        for c in connections:
            c.cancel()
        for t in threads:
            t.join(20)
            assert not t.is_alive()


def test_health_and_metrics(server, ns):
    assert get(server, "/healthz").text == "ok\n" and get(server, "/readyz").text == "ready\n"
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t USING iceberg AS SELECT id FROM range(100); CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT count(*) AS c FROM glue_catalog.{ns}.t")

    def read():
        r = get(server, "/metrics")
        assert r.headers["content-type"].startswith("text/plain")
        lines = [line.rsplit(" ", 1) for line in r.text.splitlines() if line and line[0] != "#"]
        assert all(f"# TYPE {name.split('{')[0]} " in r.text for name, _ in lines)
        return {name: float(value) for name, value in lines}
    before = read()
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v FULL")
    after = read()
    assert after["firn_refresh_full_total"] == before["firn_refresh_full_total"] + 1
    assert after["firn_materialized_views"] >= 1 and after["firn_uptime_seconds"] > before["firn_uptime_seconds"]
    assert get(server, "/nothing").status_code == 404 and requests.post(server.manage + "/reset", timeout=10).status_code == 403
