# SPDX-License-Identifier: Apache-2.0
"""Catalogs elsewhere, in each way that they let their clients in: signed requests (SigV4) to a REST catalog, object store requests that the catalog signs, keys that end soon, tokens of tables.
Sinks and sources go through each, over restarts.  The catalog behind is another firn."""
import json
import time
import urllib.parse
import urllib.request

import psycopg
import pytest

from catalog_door import TOKEN, Door
from conftest import Server, run, until

NS = "access"


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("lake") / "data")
    s.sql(f"CREATE NAMESPACE glue_catalog.{NS}")
    yield s
    s.stop()


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("live") / "data")
    yield s
    s.stop()


def bearer(lake):
    form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": lake.key, "client_secret": lake.secret, "scope": "catalog"}).encode()
    return {"Authorization": "Bearer " + json.load(urllib.request.urlopen(f"{lake.lake}/iceberg/v1/oauth/tokens", form))["access_token"]}


def door(lake, **more):
    return Door(f"{lake.lake}/iceberg", bearer(lake), lake.lake, (lake.key, lake.secret), path="/iceberg", **more)


def life(live, lake, name):
    """A sink into the catalog and a source out of it again: inserts, changes, a restart, changes."""
    t, rows = f"{name}_t", lambda: [tuple(r) for r in live.sql(f"SELECT a, b FROM {name}_back ORDER BY a", "materialize")]
    run(live, f"CREATE TABLE {name} (a int, b text)", f"INSERT INTO {name} VALUES (1, 'one'), (2, 'two'), (3, 'three')",
        f"CREATE SINK {name}_sink FROM {name} INTO ICEBERG CATALOG CONNECTION {name}_c (NAMESPACE '{NS}', TABLE '{t}') KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')")
    until(lambda: table(lake, t), [(1, "one"), (2, "two"), (3, "three")])
    run(live, f"CREATE SOURCE {name}_back FROM ICEBERG CATALOG CONNECTION {name}_c (NAMESPACE '{NS}', TABLE '{t}', REFRESH INTERVAL '1s')")
    until(rows, [(1, "one"), (2, "two"), (3, "three")])
    run(live, f"UPDATE {name} SET b = 'zwei' WHERE a = 2", f"DELETE FROM {name} WHERE a = 1")
    until(rows, [(2, "zwei"), (3, "three")])
    live.kill()
    live.start()
    run(live, f"INSERT INTO {name} VALUES (4, 'four')", f"DELETE FROM {name} WHERE a = 3")
    until(rows, [(2, "zwei"), (4, "four")])
    assert table(lake, t) == [(2, "zwei"), (4, "four")]


def table(lake, t):
    try:
        return [tuple(r) for r in lake.sql(f"SELECT a, b FROM glue_catalog.{NS}.{t} ORDER BY a")]
    except psycopg.Error:
        return None


def test_signed_requests(live, lake):
    run(live, f"CREATE SECRET sk AS '{lake.secret}'",
        f"CREATE CONNECTION keys TO AWS (ACCESS KEY ID = '{lake.key}', SECRET ACCESS KEY = SECRET sk, REGION = 'us-east-1')",
        f"CREATE CONNECTION sigv4_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{lake.lake}/iceberg', AWS CONNECTION = keys, SIGNING NAME = 'execute-api', SIGNING REGION = 'eu-west-1')")
    ((_, made),) = live.sql("SHOW CREATE CONNECTION sigv4_c", "materialize")
    assert "SIGNING NAME = 'execute-api', SIGNING REGION = 'eu-west-1'" in made
    life(live, lake, "sigv4")


@pytest.mark.parametrize("options, words", [
    ("AWS CONNECTION = none_such", "unknown catalog item 'none_such'"),
    ("AWS CONNECTION = wrong, SIGNING NAME = 'execute-api'", "failed to connect to catalog"),
    ("AWS CONNECTION = wrong", "ICEBERG rest connections do not support AWS CONNECTION"),
    ("SIGNING NAME = 'execute-api'", "SIGNING NAME needs an AWS CONNECTION"),
    ("AWS CONNECTION = wrong, SIGNING NAME = 'a/b'", "invalid SIGNING NAME option value"),
    ("SIGNING REGION = 'x', BEARER TOKEN = SECRET ws", "SIGNING REGION needs a SIGNING NAME"),
    ("BEARER TOKEN = SECRET ws, ACCESS DELEGATION = 'no'", "expected 'vended-credentials' or 'remote-signing'"),
])
def test_refused(live, lake, options, words):
    run(live, "CREATE SECRET IF NOT EXISTS ws AS 'wrong-secret'",
        f"CREATE CONNECTION IF NOT EXISTS wrong TO AWS (ACCESS KEY ID = '{lake.key}', SECRET ACCESS KEY = SECRET ws, REGION = 'us-east-1')")
    with pytest.raises(psycopg.Error) as e:
        run(live, f"CREATE CONNECTION refused TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{lake.lake}/iceberg', {options})")
    assert words in str(e.value) and "wrong-secret" not in str(e.value)


def test_requests_that_the_catalog_signs(live, lake):
    d = door(lake)
    run(live, f"CREATE SECRET IF NOT EXISTS door AS '{TOKEN}'",
        f"CREATE CONNECTION signs_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{d.url}', BEARER TOKEN = SECRET door, ACCESS DELEGATION = 'remote-signing')")
    life(live, lake, "signs")
    assert {m for m, _ in d.signed} >= {"GET", "PUT", "HEAD"} and all(u.startswith(lake.lake) for _, u in d.signed)
    assert {h.get("x-iceberg-access-delegation") for m, p, h in d.asked if m == "GET" and "/tables/" in p} == {"remote-signing"}


def test_a_catalog_that_only_signs_is_asked_to(live, lake):
    """Without a word in the connection: it vends nothing, there are no keys, so its signatures are asked for."""
    d = door(lake, table_token="token-of-table")
    run(live, f"CREATE SECRET IF NOT EXISTS door AS '{TOKEN}'", f"CREATE CONNECTION asks_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{d.url}', BEARER TOKEN = SECRET door)")
    life(live, lake, "asks")
    tokens = {(p.endswith("/sign"), h.get("authorization")) for m, p, h in d.asked if m == "POST"}
    assert (True, "Bearer token-of-table") in tokens and (True, f"Bearer {TOKEN}") not in tokens


def test_keys_that_end_soon(live, lake):
    d = door(lake, mode="vends")
    d.life_s = 4
    run(live, f"CREATE SECRET IF NOT EXISTS door AS '{TOKEN}'",
        f"CREATE CONNECTION short_c TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{d.url}', BEARER TOKEN = SECRET door, ACCESS DELEGATION = 'vended-credentials')")
    life(live, lake, "short")
    for i in range(5):
        run(live, f"INSERT INTO short VALUES ({10 + i}, 'later')")
        time.sleep(1.1)
    until(lambda: len(table(lake, "short_t") or []), 7)
    assert d.count("GET", "/credentials") >= 1
