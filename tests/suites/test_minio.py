# SPDX-License-Identifier: Apache-2.0
"""firn as a client of an object store and a catalog that are not its own: MinIO behind Iceberg's fixture server (make test-long; make setup-bench gets both).

The C test (build/dev/test_store_foreign) tries the S3 backend alone.  Then sinks and sources: with own keys, keys of STS sessions that the catalog vends, requests that it signs; while MinIO
stands still, is killed, and comes back."""
import os
import pathlib
import subprocess
import time

import pytest

import places
from catalog_door import TOKEN, Door
from conftest import ROOT, Server, run

PROGRAM = pathlib.Path(os.environ.get("FIRN_TEST_STORE_FOREIGN", ROOT / "build" / "dev" / "test_store_foreign"))
pytestmark = [pytest.mark.long, pytest.mark.skipif(not places.MINIO, reason="no MinIO (make setup-bench)")]
needs_fixture = pytest.mark.skipif(not places.FIXTURE, reason="no fixture server (make setup-bench)")
BUCKET, NS = "lake", "ns"


@pytest.fixture(scope="module")
def minio(tmp_path_factory):
    m = places.Minio(tmp_path_factory.mktemp("minio"), "eu-central-1")
    m.client().create_bucket(Bucket=BUCKET)
    yield m
    m.stop()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory, minio):
    c = places.Fixture(tmp_path_factory.mktemp("fixture"), minio, BUCKET)
    yield c
    c.stop()


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("live") / "data")
    run(s, f"CREATE SECRET door AS '{TOKEN}'", f"CREATE SECRET mk AS '{places.KEYS[1]}'")
    yield s
    s.stop()


@pytest.mark.skipif(not PROGRAM.exists(), reason="make dev was not run")
def test_backend(minio):
    minio.client().create_bucket(Bucket="backend")
    env = dict(os.environ, FIRN_FOREIGN_S3=minio.url, FIRN_FOREIGN_HOST_STYLE=minio.hosts, FIRN_FOREIGN_KEYS=":".join(places.KEYS), FIRN_FOREIGN_BUCKET="backend")
    r = subprocess.run([str(PROGRAM)], env=env, capture_output=True, text=True, timeout=600)
    assert r.returncode == 0, r.stdout + r.stderr
    assert "[  PASSED  ] 6 test(s)" in r.stdout + r.stderr
    assert minio.client().list_multipart_uploads(Bucket="backend").get("Uploads", []) == []


def connect(live, minio, catalog, name):
    """The connection <name>_c; what it goes through, and what its sinks say besides."""
    if name == "own":
        d = Door(catalog.url, {}, minio.url, places.KEYS, minio.region, mode="none")
        run(live, f"CREATE CONNECTION own_aws TO AWS (ACCESS KEY ID = '{places.KEYS[0]}', SECRET ACCESS KEY = SECRET mk, REGION = 'us-east-1')")
    else:
        d = Door(catalog.url, {}, minio.url, places.KEYS, minio.region, mode=name)
        d.vend, d.life_s = minio.vend, 6
    more = ", ACCESS DELEGATION = 'remote-signing'" if name == "signs" else ""
    run(live, f"CREATE CONNECTION {name}_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{d.url}', BEARER TOKEN = SECRET door{more})")
    return d, " USING AWS CONNECTION own_aws" if name == "own" else ""


def make(live, name, using):
    run(live, f"CREATE TABLE {name} (a int, b text)", f"INSERT INTO {name} VALUES (1, 'one'), (2, 'two'), (3, 'three')",
        f"CREATE SINK {name}_upserts FROM {name} INTO ICEBERG CATALOG CONNECTION {name}_c (NAMESPACE '{NS}', TABLE '{name}_u'){using} KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')",
        f"CREATE SINK {name}_appends FROM {name} INTO ICEBERG CATALOG CONNECTION {name}_c (NAMESPACE '{NS}', TABLE '{name}_a'){using} MODE APPEND WITH (COMMIT INTERVAL '1s')")


def states(live, name):
    return live.sql(f"SELECT name, status, error FROM mz_internal.mz_sink_statuses WHERE name LIKE '{name}%' ORDER BY name", "materialize")


@needs_fixture
@pytest.mark.parametrize("name", ["own", "vends", "signs"])
def test_sinks_and_sources(live, minio, catalog, name):
    d, using = connect(live, minio, catalog, name)
    make(live, name, using)
    if name == "own":                                           # a source has no USING: its rows are read by another connection
        back = reading_connection(live, minio, catalog)
    else:
        back = f"{name}_c"
    places.until(lambda: [s[1] for s in states(live, name)], ["running", "running"])
    places.until(lambda: bool(d.count("POST", f"/tables/{name}_u") and d.count("POST", f"/tables/{name}_a")))
    run(live, f"CREATE SOURCE {name}_back FROM ICEBERG CATALOG CONNECTION {back} (NAMESPACE '{NS}', TABLE '{name}_u', REFRESH INTERVAL '1s')",
        f"CREATE SOURCE {name}_log FROM ICEBERG CATALOG CONNECTION {back} (NAMESPACE '{NS}', TABLE '{name}_a', REFRESH INTERVAL '1s')")
    rows = lambda: [tuple(r) for r in live.sql(f"SELECT a, b FROM {name}_back ORDER BY a", "materialize")]          # noqa: E731
    net = lambda: [tuple(r) for r in live.sql(f"SELECT a, b FROM {name}_log GROUP BY a, b HAVING sum(_mz_diff) = 1 ORDER BY a", "materialize")]      # noqa: E731
    places.until(rows, [(1, "one"), (2, "two"), (3, "three")])
    places.until(net, rows())
    run(live, f"UPDATE {name} SET b = 'zwei' WHERE a = 2", f"DELETE FROM {name} WHERE a = 1")
    places.until(rows, [(2, "zwei"), (3, "three")])
    live.kill()                                                 # firn, then MinIO, then firn with MinIO standing still
    live.start()
    minio.stop()
    run(live, f"INSERT INTO {name} VALUES (4, 'four')")
    time.sleep(3)
    minio.start()
    places.until(rows, [(2, "zwei"), (3, "three"), (4, "four")], seconds=150)
    minio.pause()
    run(live, f"INSERT INTO {name} VALUES (5, 'five')")
    time.sleep(5)
    live.kill()
    live.start()
    run(live, f"DELETE FROM {name} WHERE a = 3")
    time.sleep(3)
    minio.go_on()
    places.until(rows, [(2, "zwei"), (4, "four"), (5, "five")], seconds=150)
    places.until(net, rows(), seconds=150)
    places.until(lambda: [s[1] for s in states(live, name)], ["running", "running"])
    if name == "vends":
        assert d.count("GET", "/tables/vends_u") > 1            # new keys came
    if name == "signs":
        assert {m for m, _ in d.signed} >= {"GET", "PUT", "HEAD"}


def reading_connection(live, minio, catalog):
    d = Door(catalog.url, {}, minio.url, places.KEYS, minio.region, mode="vends")
    run(live, f"CREATE CONNECTION reads_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{d.url}', BEARER TOKEN = SECRET door)")
    return "reads_c"
