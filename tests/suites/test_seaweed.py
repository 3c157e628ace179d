# SPDX-License-Identifier: Apache-2.0
"""firn as a client of SeaweedFS's Iceberg REST catalog and object store (make test-long; WEED names the program): OAuth2 with credentials vended by STS, requests signed with own keys, restarts of both."""
import time

import psycopg
import pytest

import places
from conftest import Server, run

pytestmark = [pytest.mark.long, pytest.mark.skipif(not places.WEED, reason="WEED names no program")]
BUCKET, NS = "lake", "ns"
REST = "CATALOG TYPE = 'rest', URL = '{url}', WAREHOUSE = 's3://lake/'"


@pytest.fixture(scope="module")
def weeds(tmp_path_factory):
    """By connection: one that vends, one that is asked with signatures and leaves the store to the client's own keys."""
    all = {"oauth": places.Weed(tmp_path_factory.mktemp("oauth"), BUCKET), "signed": places.Weed(tmp_path_factory.mktemp("signed"), BUCKET, external=False)}
    yield all
    for w in all.values():
        w.stop()


@pytest.fixture(scope="module")
def live(tmp_path_factory, weeds):
    s = Server(tmp_path_factory.mktemp("live") / "data")
    try:
        key, secret = places.KEYS
        run(s, f"CREATE SECRET pair AS '{key}:{secret}'", f"CREATE SECRET sk AS '{secret}'", "CREATE SECRET bad AS 'admin:wrong-password'",
            f"CREATE CONNECTION aws TO AWS (ACCESS KEY ID = '{key}', SECRET ACCESS KEY = SECRET sk, REGION = 'us-east-1', ENDPOINT = '{weeds['signed'].s3}')",
            f"CREATE CONNECTION oauth TO ICEBERG CATALOG ({REST.format(url=weeds['oauth'].url)}, CREDENTIAL = SECRET pair, ACCESS DELEGATION = 'vended-credentials')",
            f"CREATE CONNECTION signed TO ICEBERG CATALOG ({REST.format(url=weeds['signed'].url)}, AWS CONNECTION = aws, SIGNING NAME = 's3tables', SIGNING REGION = 'us-east-1')")
        yield s
    finally:
        s.stop()


def test_wrong_credentials(live, weeds):
    with pytest.raises(psycopg.Error, match="failed to connect to catalog.*invalid_client|failed to connect to catalog.*Invalid client") as e:
        run(live, f"CREATE CONNECTION refused TO ICEBERG CATALOG ({REST.format(url=weeds['oauth'].url)}, CREDENTIAL = SECRET bad)")
    assert "wrong-password" not in str(e.value)
    run(live, "VALIDATE CONNECTION oauth", "VALIDATE CONNECTION signed")


@pytest.mark.parametrize("connection", ["oauth", "signed"])
@pytest.mark.parametrize("deletes", ["equality", "positions"])
def test_sinks_and_sources(live, weeds, connection, deletes):
    weed = weeds[connection]
    t = f"{connection}_{deletes}"
    run(live, f"CREATE TABLE {t} (a int, b text, n numeric(12,2), at timestamp)", f"INSERT INTO {t} VALUES (1, 'one', 1.50, '2026-01-02 03:04:05'), (2, 'two', NULL, NULL), (3, 'ünï', 3, NULL)",
        f"CREATE SINK {t}_u FROM {t} INTO ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{t}_u') KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s', DELETES = '{deletes}')")
    places.until(lambda: live.sql(f"SELECT status, error FROM mz_internal.mz_sink_statuses WHERE name = '{t}_u'", "materialize"), [("running", None)])       # two at once leave half a namespace there
    run(live, f"CREATE SINK {t}_a FROM {t} INTO ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{t}_a') MODE APPEND WITH (COMMIT INTERVAL '1s')")
    running = [(f"{t}_a", "running", None), (f"{t}_u", "running", None)]
    places.until(lambda: live.sql(f"SELECT name, status, error FROM mz_internal.mz_sink_statuses WHERE name LIKE '{t}\\__' ORDER BY name", "materialize"), running)
    places.until(lambda: made(live, f"CREATE SOURCE {t}_back FROM ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{t}_u', REFRESH INTERVAL '1s')"))
    places.until(lambda: made(live, f"CREATE SOURCE {t}_log FROM ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{t}_a', REFRESH INTERVAL '1s')"))
    rows = lambda: [tuple(r) for r in live.sql(f"SELECT a, b, n::text, at::text FROM {t}_back ORDER BY a", "materialize")]               # noqa: E731
    net = lambda: [r[0] for r in live.sql(f"SELECT a FROM {t}_log GROUP BY a, b, n, at HAVING sum(_mz_diff) = 1 ORDER BY a", "materialize")]      # noqa: E731
    want = [(1, "one", "1.50", "2026-01-02 03:04:05"), (2, "two", None, None), (3, "ünï", "3.00", None)]
    places.until(rows, want)
    run(live, f"UPDATE {t} SET b = 'zwei' WHERE a = 2", f"DELETE FROM {t} WHERE a = 1")
    want = [(2, "zwei", None, None), (3, "ünï", "3.00", None)]
    places.until(rows, want)
    live.kill()
    live.start()
    run(live, f"INSERT INTO {t} VALUES (4, 'four', 4, NULL)")
    want += [(4, "four", "4.00", None)]
    places.until(rows, want)
    weed.stop()
    run(live, f"DELETE FROM {t} WHERE a = 3", f"INSERT INTO {t} VALUES (5, 'five', 5, NULL)")
    time.sleep(3)
    weed.start()
    want = [want[0], want[2], (5, "five", "5.00", None)]
    places.until(rows, want, seconds=150)
    places.until(net, [2, 4, 5], seconds=150)
    places.until(lambda: live.sql(f"SELECT name, status, error FROM mz_internal.mz_sink_statuses WHERE name LIKE '{t}\\__' ORDER BY name", "materialize"), running)


def made(live, text):
    try:
        run(live, text)
        return True
    except psycopg.Error as e:
        if "exist" in str(e) or "found" in str(e).lower():
            return False
        raise
