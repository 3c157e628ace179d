# SPDX-License-Identifier: Apache-2.0
"""What Materialize's own tests of the sink demand, in our words and numbered as there: modes, keys, types, idle and finite inputs, ALTER, conflicts, lost answers, other writers.

20 to 22 are about statements alone: tests/e2e/test_connections.py (GCP connections are refused by name).
9 and 10: an input that has ended is written so ("mz-frontier": "[]"), once, and the sink does nothing more.
17: a frontier inside of what waits, that this server has not written, says nothing sure of the rows before it: nothing is written on top (as in 16), until the relation is written anew."""
import itertools
import json
import sqlite3
import threading
import time
import urllib.error

import duckdb
import psycopg
import pytest

from guide_place import Place, until
from rest_side import Proxy, Rest

BUCKET, NS = "cases", "default_namespace"


class Cases(Place):
    def __init__(self, folder):
        super().__init__(folder, [])
        self.bucket = self.table_bucket(BUCKET, NS)
        self.rest = Rest(self.server, self.bucket)
        self.db = self.server.connect("materialize")
        self.db.execute(f"CREATE SECRET k AS '{self.server.secret}'")
        self.proxies = []
        self.n = itertools.count(1)
        self.connect("catalog", self.server.lake)

    def connect(self, name, endpoint):
        self.db.execute(f"CREATE CONNECTION {name}_aws TO AWS (ACCESS KEY ID = '{self.server.key}', SECRET ACCESS KEY = SECRET k, REGION = 'us-east-1', ENDPOINT = '{endpoint}')")
        self.db.execute(f"CREATE CONNECTION {name} TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', "
                        f"WAREHOUSE = '{self.bucket}', AWS CONNECTION = {name}_aws)")

    def proxied(self, rule):
        p = Proxy(self.server.lake)
        self.proxies.append(p)
        name = f"proxied{len(self.proxies)}"
        self.connect(name, p.url)
        p.rule = rule
        return name

    def q(self, text):
        return self.db.execute(text, prepare=False).fetchall()

    def run(self, *texts):
        for t in texts:
            self.db.execute(t, prepare=False)

    def may(self, text, what):
        """What firn has not (yet) skips the case, by its own words."""
        try:
            self.run(text)
        except (psycopg.errors.UndefinedObject, psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported, psycopg.errors.InvalidParameterValue) as e:
            pytest.skip(f"{what}: {e.diag.message_primary}")

    def sink(self, relation, mode, interval="1s", connection="catalog", table=None, name=None):
        name = name or f"s{next(self.n)}_{relation}"
        table = table or f"{name}_t"
        self.run(f"CREATE SINK {name} FROM {relation} INTO ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{table}') {mode} WITH (COMMIT INTERVAL '{interval}')")
        return name, table

    def refused(self, text, *words):
        with pytest.raises(psycopg.Error) as e:
            self.run(text)
        for w in words:
            assert w in str(e.value) + (e.value.diag.message_hint or ""), str(e.value)

    def there(self, table, columns="*", order="1"):
        rows = self.read(BUCKET, f"{NS}.{table}", columns, order)
        return None if rows is None else [tuple(r) for r in rows]

    def meta(self, table):
        return self.rest.load(NS, table)

    def state(self, sink):
        ((s, e),) = self.q(f"SELECT status, error FROM mz_internal.mz_sink_statuses WHERE name = '{sink}'")
        return s, e or ""

    def history(self, sink):
        return self.q(f"SELECT h.status, h.error FROM mz_internal.mz_sink_status_history h JOIN mz_sinks s ON s.id = h.sink_id WHERE s.name = '{sink}' ORDER BY occurred_at")

    def drop(self, *sinks):
        for s in sinks:
            self.run(f"DROP SINK {s}")


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    c = Cases(tmp_path_factory.mktemp("cases"))
    yield c
    c.db.close()
    c.stop()
    for p in c.proxies:
        p.stop()


def test_01_a_catalog(c):
    c.run("CREATE TABLE c1 (a int, b text)", "INSERT INTO c1 VALUES (1, 'x'), (2, 'y'), (3, NULL)")
    s, t = c.sink("c1", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1, "x"), (2, "y"), (3, None)])
    assert c.catalog(c.bucket).load_table(f"{NS}.{t}").scan().to_arrow().num_rows == 3          # another reader
    c.drop(s)


def test_02_append(c):
    c.run("CREATE TABLE c2 (a int, b text)", "INSERT INTO c2 VALUES (1, 'x'), (2, 'y'), (3, 'z')")
    s, t = c.sink("c2", "MODE APPEND")
    until(lambda: [r[:3] for r in c.there(t) or []] == [(1, "x", 1), (2, "y", 1), (3, "z", 1)])
    c.run("DELETE FROM c2 WHERE a = 3")
    until(lambda: len(c.there(t)) == 4)
    c.run("UPDATE c2 SET b = 'w' WHERE a = 1")
    rows = until(lambda: c.there(t, order="a, _mz_timestamp, _mz_diff") if len(c.there(t)) == 6 else None)
    assert [r[:3] for r in rows] == [(1, "x", 1), (1, "x", -1), (1, "w", 1), (2, "y", 1), (3, "z", 1), (3, "z", -1)]
    assert rows[1][3] == rows[2][3] and None not in [r[3] for r in rows]
    c.drop(s)


@pytest.mark.parametrize("column", ["_mz_diff", "_mz_timestamp"])
def test_03_names_that_append_takes(c, column):
    c.run(f'CREATE TABLE c3{column} (a int, "{column}" int)')
    c.refused(f"CREATE SINK s3 FROM c3{column} INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') MODE APPEND WITH (COMMIT INTERVAL '1s')",
              f'column "{column}" conflicts with the system column that MODE APPEND adds to the Iceberg table')


@pytest.mark.parametrize("type_", ["float4", "float8", "map[text=>int]", "int list", "int4range"])
def test_04_types_of_keys(c, type_):
    name = "c4_" + "".join(x for x in type_ if x.isalnum())
    c.run(f"CREATE TABLE {name} (a int, k {type_})")
    c.refused(f"CREATE SINK s4 FROM {name} INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') KEY (k) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')",
              "cannot be used as an Iceberg equality delete key")
    s, t = c.sink(name, "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [])
    c.drop(s)


def test_05_records(c):
    c.run("CREATE TYPE c5_point AS (x int, y int)")
    c.run("CREATE TYPE c5_named AS (name text, at c5_point)")
    c.run("CREATE TABLE c5 (id int, v c5_named)", "INSERT INTO c5 VALUES (1, ROW('a', ROW(1, 2))), (2, NULL), (3, ROW(NULL, NULL))")
    s, t = c.sink("c5", "KEY (id) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t, "id, v.name, v.at.x, v.at.y") == [(1, "a", 1, 2), (2, None, None, None), (3, None, None, None)])
    c.run("UPDATE c5 SET v = ROW('b', ROW(5, NULL)) WHERE id = 1")
    until(lambda: c.there(t, "id, v.name, v.at.x, v.at.y")[0] == (1, "b", 5, None))
    c.drop(s)


def test_06_uuid(c):
    c.run("CREATE TABLE c6 (id int, u uuid)", "INSERT INTO c6 VALUES (1, 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'), (2, NULL)")
    s, t = c.sink("c6", "KEY (id) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), (2, None)])
    assert [f["type"] for f in c.meta(t)["schemas"][0]["fields"]] == ["int", "string"]
    c.run("UPDATE c6 SET u = NULL WHERE id = 1", "UPDATE c6 SET u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12' WHERE id = 2")
    until(lambda: c.there(t) == [(1, None), (2, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12")])
    assert c.state(s) == ("running", "")
    c.drop(s)


def test_07_uuid_of_older_days(c):
    c.rest.create(NS, "c7_t", [("id", "int", False), ("u", "fixed[16]", False)])
    c.run("CREATE TABLE c7 (id int, u uuid)", "INSERT INTO c7 VALUES (1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')")
    s, t = c.sink("c7", "KEY (id) NOT ENFORCED MODE UPSERT", table="c7_t")
    until(lambda: c.there(t, "id, hex(u)") == [(1, "A0EEBC999C0B4EF8BB6D6BB9BD380A11")])
    c.run("INSERT INTO c7 VALUES (2, NULL)")
    until(lambda: len(c.there(t)) == 2)
    m = c.meta(t)
    assert next(x for x in m["schemas"] if x["schema-id"] == m["current-schema-id"])["fields"][1]["type"] == "fixed[16]" and c.state(s)[0] == "running"
    c.drop(s)


def test_08_idle(c):
    c.run("CREATE TABLE c8 (a int)", "INSERT INTO c8 VALUES (1)")
    s, t = c.sink("c8", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1,)])
    n = len(c.meta(t)["snapshots"])
    time.sleep(5)
    assert len(c.meta(t)["snapshots"]) == n                                       # nothing happened, nothing was committed
    c.run("INSERT INTO c8 VALUES (2)")
    until(lambda: c.there(t) == [(1,), (2,)])
    assert [e for _, e in c.history(s) if e] == []
    c.drop(s)


def ends(c, source):
    """Until the source says that nothing will come any more."""
    until(lambda: c.q(f"SELECT f.write_frontier FROM mz_internal.mz_frontiers f JOIN mz_objects o ON o.id = f.object_id WHERE o.name = '{source}'") == [(None,)])


def frontiers(c, t):
    return [s["summary"]["mz-frontier"] for s in sorted(c.meta(t)["snapshots"], key=lambda s: s["sequence-number"])]


def test_09_an_input_without_rows(c):
    c.run("CREATE SOURCE c9 FROM LOAD GENERATOR COUNTER (AS OF 5, UP TO 5)")
    ends(c, "c9")
    s, t = c.sink("c9", "MODE APPEND")
    until(lambda: c.there(t) is not None and c.meta(t)["snapshots"])
    time.sleep(2)
    assert frontiers(c, t) == ["[]"] and c.there(t) == [] and [e for _, e in c.history(s) if e] == []
    c.drop(s)


def test_10_an_input_that_ends(c):
    c.run("CREATE SOURCE c10 FROM LOAD GENERATOR COUNTER (AS OF 99, UP TO 100)")
    s, t = c.sink("c10", "MODE APPEND")
    until(lambda: sorted(r[0] for r in c.there(t) or []) == list(range(1, 101)))
    until(lambda: frontiers(c, t)[-1] == "[]")
    ends(c, s)
    time.sleep(2.5)
    seen = frontiers(c, t)
    assert len(seen) <= 2 and "[]" not in seen[:-1]
    c.db.close()
    c.server.kill()
    c.server.start()
    c.db = c.server.connect("materialize")
    until(lambda: c.state(s)[0] == "running")
    ends(c, s)
    time.sleep(2)
    assert frontiers(c, t) == seen and len(c.there(t)) == 100
    c.drop(s)


def test_10b_an_input_that_ends_late(c):
    c.run("CREATE SOURCE c10b FROM LOAD GENERATOR COUNTER (TICK INTERVAL '300ms', UP TO 12)")
    s, t = c.sink("c10b", "MODE APPEND")
    until(lambda: c.meta(t)["snapshots"] if c.there(t) is not None else None)
    assert frontiers(c, t)[0] != "[]"
    until(lambda: frontiers(c, t)[-1] == "[]")
    assert sorted(r[0] for r in c.there(t)) == list(range(1, 13))
    assert all(x != "[]" for x in frontiers(c, t)[:-1])
    c.drop(s)


def test_11_alter_the_interval(c):
    c.run("CREATE TABLE c11 (a int)", "INSERT INTO c11 VALUES (1)")
    s, t = c.sink("c11", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1,)])
    c.refused(f"ALTER SINK {s} SET (SNAPSHOT)", "ALTER SINK")
    c.refused(f"ALTER SINK {s} RESET (SNAPSHOT)", "ALTER SINK ... RESET (SNAPSHOT) not yet supported")
    c.refused(f"ALTER SINK {s} RESET (COMMIT INTERVAL)", "Iceberg sink must specify COMMIT INTERVAL")
    c.refused(f"ALTER SINK {s} SET (COMMIT INTERVAL = '0s')", "COMMIT INTERVAL must be at least 1 second")
    c.run(f"ALTER SINK {s} SET (COMMIT INTERVAL = '1h')")
    assert "COMMIT INTERVAL = '1h'" in c.q(f"SHOW CREATE SINK {s}")[0][1]
    until(lambda: c.state(s)[0] == "running")
    time.sleep(1)
    c.run("INSERT INTO c11 VALUES (2)")
    time.sleep(4)
    assert c.there(t) == [(1,)]
    n = len(c.history(s))
    c.run(f"ALTER SINK {s} SET (COMMIT INTERVAL = '1h')")                         # the same text: nothing happens
    time.sleep(1)
    assert len(c.history(s)) == n
    c.run(f"ALTER SINK {s} SET (COMMIT INTERVAL = '1s')")
    until(lambda: c.there(t) == [(1,), (2,)], 20)
    assert c.state(s) == ("running", "")
    c.drop(s)


def test_12_a_table_that_another_sink_has_left(c):
    c.run("CREATE TABLE c12 (a int)", "INSERT INTO c12 VALUES (1)")
    s, t = c.sink("c12", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1,)])
    c.drop(s)
    c.run("ALTER TABLE c12 ADD COLUMN b text", "INSERT INTO c12 VALUES (2, 'x')")
    s, _ = c.sink("c12", "KEY (a) NOT ENFORCED MODE UPSERT", table=t)
    until(lambda: "schema does not match expected schema" in " ".join(e or "" for _, e in c.history(s)))
    assert c.there(t) == [(1,)] and c.q("SELECT 1") == [(1,)]
    c.drop(s)


def test_13_conflicts(c):
    """Somebody else commits all the time what changes no row."""
    c.run("CREATE TABLE c13 (a int)", "INSERT INTO c13 VALUES (-1), (-2), (-3)")
    s, t = c.sink("c13", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) and len(c.there(t)) == 3)
    stop, made = threading.Event(), []

    def disturb():
        while not stop.is_set():
            try:
                made.append(c.rest.forge(NS, t))
            except urllib.error.HTTPError:
                pass
            time.sleep(0.01)
    x = threading.Thread(target=disturb)
    x.start()
    for i in range(40):
        c.run(f"INSERT INTO c13 VALUES ({i})")
        time.sleep(0.1)
    try:
        until(lambda: len(c.there(t)) == 43, 60)
    finally:
        stop.set()
        x.join()
        print(f"{len(made)} snapshots in between")
    assert len(made) > 100 and c.state(s)[0] == "running"
    c.drop(s)


@pytest.mark.parametrize("what", [502, ("delay", 3), -503, ("twice",), *(pytest.param(x, marks=pytest.mark.long) for x in (500, 504, -429, -500))])
def test_14_answers_that_are_lost(c, what):
    """Of the second commit, once."""
    commits, seen = [], []

    def rule(method, path, n):
        if method == "POST" and "/tables/" in path and "/namespaces/" in path:
            commits.append(path)
            if len(commits) == 2:
                seen.append(what)
                return what
        return None
    name = "c14_" + "".join(x if x.isalnum() else "_" for x in str(what))
    connection = c.proxied(rule)
    c.run(f"CREATE TABLE {name} (a int)", f"INSERT INTO {name} VALUES (0)")
    s, t = c.sink(name, "MODE APPEND", connection=connection)
    until(lambda: len(c.there(t) or []) == 1)
    for i in range(1, 13):
        c.run(f"INSERT INTO {name} VALUES ({i})")
        time.sleep(0.25)
    until(lambda: len(c.there(t)) >= 13)
    time.sleep(2)
    assert sorted(r[0] for r in c.there(t)) == list(range(13)) and seen == [what]
    assert c.state(s)[0] == "running"
    c.drop(s)


def fenced(c, name, **summary):
    c.run(f"CREATE TABLE {name} (a int)", f"INSERT INTO {name} VALUES (1)")
    s, t = c.sink(name, "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1,)])
    m = c.meta(t)
    last = m["snapshots"][-1]["summary"]
    forged = c.rest.forge(NS, t, **{k: (v(last) if callable(v) else v) for k, v in summary.items()})
    c.run(f"INSERT INTO {name} VALUES (2)")
    status, error = until(lambda: c.state(s) if c.state(s)[0] != "running" else None)
    assert "another writer" in error or "Fenced off" in error, error
    time.sleep(2)
    assert c.meta(t)["current-snapshot-id"] == forged and c.there(t) == [(1,)]
    c.drop(s)


def test_15_another_writer(c):
    fenced(c, "c15", mz_sink_id="u999999", mz_sink_version="999")


def test_16_a_frontier_that_is_not_ours(c):
    fenced(c, "c16", mz_frontier=lambda last: json.dumps([json.loads(last["mz-frontier"])[0] + 1000]))


def test_17_a_frontier_inside_of_a_batch(c):
    c.run("CREATE TABLE c17 (a int)", "INSERT INTO c17 VALUES (1), (2)")
    s, t = c.sink("c17", "MODE APPEND")
    until(lambda: len(c.there(t) or []) == 2)
    c.run(f"ALTER SINK {s} SET (COMMIT INTERVAL = '1h')")
    until(lambda: c.state(s)[0] == "running")
    time.sleep(1)
    c.run("INSERT INTO c17 VALUES (3), (4)")
    last = c.meta(t)["snapshots"][-1]["summary"]
    forged = c.rest.forge(NS, t, mz_frontier=json.dumps([c.q("SELECT mz_now()::text::bigint")[0][0] + 1]), mz_sink_version=last["mz-sink-version"])
    time.sleep(0.1)
    c.run("INSERT INTO c17 VALUES (5), (6)", f"ALTER SINK {s} SET (COMMIT INTERVAL = '1s')")
    until(lambda: "another writer" in c.state(s)[1])
    assert c.meta(t)["current-snapshot-id"] == forged and sorted(r[0] for r in c.there(t)) == [1, 2]
    c.run(f"ALTER SINK {s} SET (SNAPSHOT = true)")
    until(lambda: sorted(r[0] for r in c.there(t)) == [1, 2, 3, 4, 5, 6])
    c.drop(s)


def test_16b_snapshots_without_progress(c):
    c.run("CREATE TABLE c16b (a int)", "INSERT INTO c16b VALUES (1)")
    s, t = c.sink("c16b", "KEY (a) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t) == [(1,)])
    c.rest.forge(NS, t, "replace", mz_frontier=None, mz_sink_id=None, mz_sink_version=None)       # a compaction is nobody's writing
    c.run("INSERT INTO c16b VALUES (2)")
    until(lambda: c.there(t) == [(1,), (2,)])
    c.rest.forge(NS, t, "append", mz_frontier=None, mz_sink_id=None, mz_sink_version=None)
    c.run("INSERT INTO c16b VALUES (3)")
    until(lambda: "missing 'mz-frontier' property" in c.state(s)[1])
    assert c.there(t) == [(1,), (2,)]
    c.drop(s)


def test_18_a_large_batch(c):
    c.run("CREATE TABLE c18 (a int, b int)")
    s, t = c.sink("c18", "KEY (a) NOT ENFORCED MODE UPSERT", interval="1h")
    until(lambda: c.there(t) == [])
    c.run("INSERT INTO c18 SELECT g, 0 FROM generate_series(1, 110000) g", "UPDATE c18 SET b = 1 WHERE a <= 100")
    c.run(f"ALTER SINK {s} SET (COMMIT INTERVAL = '1s')")
    until(lambda: c.there(t, "count(*), count(DISTINCT a), sum(b)") == [(110000, 110000, 100)], 90)
    c.drop(s)


def test_19_vended_credentials(c):
    """A `rest` catalog, which gives keys for the table's files with the table."""
    c.run(f"CREATE SECRET cred AS '{c.server.key}:{c.server.secret}'",
          f"CREATE CONNECTION vended TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{c.server.lake}/iceberg', WAREHOUSE = '{c.bucket}', CREDENTIAL = SECRET cred, ACCESS DELEGATION = 'vended-credentials')",
          "CREATE TABLE c19 (a int)", "INSERT INTO c19 VALUES (1), (2)")
    s, t = c.sink("c19", "KEY (a) NOT ENFORCED MODE UPSERT", connection="vended")
    until(lambda: c.there(t) == [(1,), (2,)])
    c.run("DELETE FROM c19 WHERE a = 1")
    until(lambda: c.there(t) == [(2,)])
    assert c.state(s) == ("running", "")
    c.drop(s)


def test_23_the_audit_log(c):
    c.may("CREATE MATERIALIZED VIEW c23 AS SELECT id::text AS id, event_type, object_type FROM mz_catalog.mz_audit_events", "a continuous view of the system's catalog")
    s, t = c.sink("c23", "MODE APPEND")
    until(lambda: c.there(t))
    c.run("CREATE TABLE c23_later (a int)", "DROP TABLE c23_later")
    until(lambda: [r[1:3] for r in c.there(t)].count(("drop", "table")) >= 1)
    assert c.there(t, "count(*)", "1") and not [r for r in c.there(t) if r[3] == -1]
    c.drop(s)


@pytest.mark.parametrize("by", ["region", "day(at)", "bucket(16, id)", "region, month(at)", "truncate(2, region)"])
def test_24_partitions(c, by):
    name = "c24_" + "".join(x for x in by if x.isalnum())
    c.run(f"CREATE TABLE {name} (id int, region text, at timestamp)", f"INSERT INTO {name} VALUES (1, 'eu', '2026-11-01 10:00:00'), (2, 'us', '2026-11-02 10:00:00'), (3, NULL, NULL)")
    s, t = c.sink(name, f"KEY (id) NOT ENFORCED PARTITION BY ({by}) MODE UPSERT")
    until(lambda: [r[:2] for r in c.there(t) or []] == [(1, "eu"), (2, "us"), (3, None)])
    m = c.meta(t)
    spec = next(x for x in m["partition-specs"] if x["spec-id"] == m["default-spec-id"])["fields"]
    assert len(spec) == (2 if by == "region, month(at)" else 1)
    c.run(f"UPDATE {name} SET region = 'ap' WHERE id = 1", f"DELETE FROM {name} WHERE id = 2")
    until(lambda: [r[:2] for r in c.there(t)] == [(1, "ap"), (3, None)])
    c.drop(s)


def test_24b_partitions_refused(c):
    c.run("CREATE TABLE c24 (id int, region text)")
    for by, words in (("nope", "column referenced in PARTITION BY does not exist"), ("day(region)", "PARTITION BY transform")):
        c.refused(f"CREATE SINK s24 FROM c24 INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') KEY (id) NOT ENFORCED PARTITION BY ({by}) MODE UPSERT WITH (COMMIT INTERVAL '1s')", words)


@pytest.fixture(scope="module")
def files(c):
    """A bucket of firn's own S3, and what puts a query's rows into it."""
    s3 = c.server.s3()
    s3.create_bucket(Bucket="copied")

    def put(key, query=None, how="FORMAT parquet", body=None):
        local = c.folder / "copied"
        if query:
            duckdb.sql(f"COPY ({query}) TO '{local}' ({how})")
        s3.put_object(Bucket="copied", Key=key, Body=local.read_bytes() if query else body)
    return put


def copy(c, table, where, more="FORMAT PARQUET"):
    return c.db.execute(f"COPY INTO {table} FROM 's3://copied/{where}' ({more}, AWS CONNECTION = catalog_aws)", prepare=False).rowcount


def test_25_ranges_out_of_parquet(c, files):
    struct = "struct_pack(lower := {lo}, upper := {hi}, lower_inclusive := {li}, upper_inclusive := {hi_in}, empty := {e})"
    rows = [(1, "1", "10", "true", "true", "false"), (2, "5", "15", "false", "false", "false"), (3, "NULL", "7", "false", "true", "false"), (4, "NULL", "NULL", "false", "false", "true"),
            (5, "3", "3", "true", "false", "false"), (6, "2", "4", "true", "false", "false")]
    files("ranges/structs.parquet", " UNION ALL ".join(f"SELECT {i} AS id, " + struct.format(lo=f"{lo}::int", hi=f"{hi}::int", li=li, hi_in=hi_in, e=e) + " AS r" for i, lo, hi, li, hi_in, e in rows)
          + " UNION ALL SELECT 7, NULL")
    files("ranges/texts.parquet", "SELECT * FROM (VALUES (11, '[1,10]'), (12, '(5,15)'), (13, '(,7]'), (14, 'empty'), (15, NULL)) v(id, r)")
    c.run("CREATE TABLE c25 (id int, r int4range)")
    assert copy(c, "c25", "ranges") == 12
    assert c.q("SELECT id, r::text FROM c25 ORDER BY id") == [
        (1, "[1,11)"), (2, "[6,15)"), (3, "(,8)"), (4, "empty"), (5, "empty"), (6, "[2,4)"), (7, None), (11, "[1,11)"), (12, "[6,15)"), (13, "(,8)"), (14, "empty"), (15, None)]
    assert c.q("SELECT count(*) FROM c25 WHERE r = int4range(1, 11)") == [(2,)]
    s, t = c.sink("c25", "KEY (id) NOT ENFORCED MODE UPSERT")
    until(lambda: c.there(t, "r.lower, r.upper, r.lower_inclusive, r.upper_inclusive", "id")[:2] == [(1, 11, True, False), (6, 15, True, False)] if c.there(t) else None)
    c.drop(s)
    # A range that is none takes the whole statement with it.
    files("wrong/a.parquet", "SELECT 20 AS id, '[1,2]' AS r")
    files("wrong/b.parquet", "SELECT 21 AS id, '[2,1]' AS r")
    c.refused("COPY INTO c25 FROM 's3://copied/wrong' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "file 's3://copied/wrong/b.parquet'", "lower bound must be less than or equal to range upper bound")
    assert c.q("SELECT count(*) FROM c25") == [(12,)]


def test_25b_other_ranges_and_types(c, files):
    files("kinds.parquet", """SELECT 9000000000::bigint AS big, 1.25::decimal(10, 2) AS n, date '2026-11-30' AS d, timestamp '2026-11-30 10:00:00.25' AS ts, timestamptz '2026-11-30 10:00:00+00' AS tz,
          true AS b, 'x' AS t, '\x61\x62'::blob AS by, [1, 2, NULL] AS l, 7::uinteger AS u, '{"a": 1}' AS j, interval '1 day' AS iv, uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' AS id, 1.5::double AS f,
          struct_pack(lower := date '2026-01-01', upper := date '2026-01-31', lower_inclusive := true, upper_inclusive := true, empty := false) AS dr,
          struct_pack(lower := 1.5::decimal(38, 10), upper := 2.5::decimal(38, 10), lower_inclusive := false, upper_inclusive := true, empty := false) AS nr, '(1,2]' AS r8""")
    c.run("CREATE TABLE kinds (r8 int8range, nr numrange, dr daterange, f float8, id uuid, iv interval, j jsonb, u uint4, l int list, by bytea, t text, b bool, tz timestamptz, ts timestamp, d date, n numeric, big bigint)")
    assert copy(c, "kinds", "kinds.parquet") == 1
    assert c.q("SELECT r8::text, nr::text, dr::text, f, id::text, iv::text, j::text, u, l::text, by, t, b, tz::text, ts::text, d::text, n::text, big FROM kinds") == [
        ("[2,3)", "(1.5,2.5]", "[2026-01-01,2026-02-01)", 1.5, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "1 day", '{"a":1}', "7", "{1,2,NULL}", b"ab", "x", True, "2026-11-30 10:00:00+00",
         "2026-11-30 10:00:00.25", "2026-11-30", "1.25", 9000000000)]
    files("parts.parquet", """SELECT struct_pack(x := 1, y := 2) AS p, map(['k'], [5]) AS m, [struct_pack(x := 3, y := NULL::int)] AS ps, ['[1,2]', NULL, 'empty'] AS rs, struct_pack(items := [1, 2], dimensions := 1) AS a,
          [struct_pack(lower := 1, upper := 2, lower_inclusive := false, upper_inclusive := true, empty := false)] AS sr, 1 AS "we""ird $1" """)
    c.run("CREATE TYPE pair AS (x int, y int)", 'CREATE TABLE parts (p pair, m map[text=>int], ps pair[], rs int4range[], a int[], sr int4range[], "we""ird $1" int)')
    assert copy(c, "parts", "parts.parquet") == 1
    assert c.q('SELECT p::text, m::text, ps::text, rs::text, a::text, sr::text, "we""ird $1" FROM parts') == [("(1,2)", "{k=>5}", '{"(3,)"}', '{"[1,3)",NULL,empty}', "{1,2}", '{"[2,3)"}', 1)]
    files("dimensions.parquet", "SELECT struct_pack(items := [1, 2], dimensions := 2) AS a")
    c.refused("COPY INTO parts (a) FROM 's3://copied/dimensions.parquet' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "several dimensions cannot be copied")
    # By name; what is not named is the column's default, what is named must be there and fit.
    c.run("CREATE TABLE named (d text DEFAULT 'none', big int8, t text)")
    assert copy(c, "named (t, big)", "kinds.parquet") == 1
    assert c.q("SELECT * FROM named") == [("none", 9000000000, "x")]
    c.run("CREATE TABLE more (t text, absent int)", "CREATE TABLE unlike (l int)")
    c.refused("COPY INTO more FROM 's3://copied/kinds.parquet' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", 'file \'s3://copied/kinds.parquet\': column "absent" is not in the file')
    c.refused("COPY INTO unlike FROM 's3://copied/kinds.parquet' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", 'column "l" is of type integer but expression is of type')
    c.run("CREATE TABLE narrow (big int)", "CREATE TABLE strict (l int NOT NULL)")
    c.refused("COPY INTO narrow FROM 's3://copied/kinds.parquet' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "file 's3://copied/kinds.parquet'", "9000000000")
    files("null.parquet", "SELECT NULL::int AS l")
    c.refused("COPY INTO strict FROM 's3://copied/null.parquet' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "violates not-null constraint")


def test_25c_which_files(c, files):
    for key, n in (("many/a.parquet", 1), ("many/deep/b.parquet", 2), ("many/c.txt", 3), ("manyother/d.parquet", 4)):
        files(key, f"SELECT {n} AS a")
    c.run("CREATE TABLE w (a int)")

    def got(where, more=""):
        n = copy(c, "w", where, "FORMAT PARQUET" + more)
        rows = sorted(r[0] for r in c.q("SELECT a FROM w"))
        c.run("DELETE FROM w")
        assert n == len(rows)
        return rows
    assert got("many") == [1, 2, 3] and got("many/") == [1, 2, 3] and got("many/a.parquet") == [1]
    assert got("many", ", FILES = ['a.parquet', 'deep/b.parquet']") == [1, 2] and got("", ", FILES ('manyother/d.parquet')") == [4]
    assert got("many", ", PATTERN = '*.parquet'") == [1, 2] and got("", ", PATTERN = 'many*[ab].p?rquet'") == [1, 2] and got("many", ", PATTERN '[!a-b].txt'") == [3]
    for where, more, words in (("nothing", "", "there are no files to copy at 's3://copied/nothing'"), ("many", ", PATTERN = 'x*'", "there are no files to copy"),
                               ("many", ", FILES = ['a.parquet', 'gone']", "file 's3://copied/many/gone'"), ("many", ", FILES = ['a'], PATTERN = 'b'", "cannot specify both FILES and PATTERN"),
                               ("many", ", HEADER", "COPY HEADER is only available in CSV mode")):
        c.refused(f"COPY INTO w FROM 's3://copied/{where}' (FORMAT PARQUET, AWS CONNECTION = catalog_aws{more})", words)
    c.refused("COPY INTO w FROM 's3://copied/many' (FORMAT PARQUET)", "requires an AWS CONNECTION")
    c.refused("COPY INTO w FROM 's3://copied/many' (AWS CONNECTION = catalog_aws)", "requires FORMAT PARQUET or FORMAT CSV")
    c.refused("COPY INTO w FROM 's3://copied/many' (FORMAT TEXT, AWS CONNECTION = catalog_aws)", "FORMAT TEXT is not supported")
    c.refused("COPY INTO w FROM 's3://copied/many' (FORMAT PARQUET, AWS CONNECTION = catalog)", "is not an AWS connection")
    c.refused("COPY INTO w FROM 's3://no-such-bucket/many' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "s3://no-such-bucket/many")
    files("broken.parquet", body=b"PAR1 but no more than that")
    with pytest.raises(psycopg.Error) as e:
        copy(c, "w", "broken.parquet")
    assert "file 's3://copied/broken.parquet'" in str(e.value) and str(c.folder) not in str(e.value) and "\n" not in e.value.diag.message_primary
    assert c.q("SELECT count(*) FROM w") == [(0,)]
    # In a block it waits for COMMIT as any write.
    c.run("BEGIN")
    assert copy(c, "w", "many/a.parquet") == 1
    c.run("ROLLBACK")
    assert c.q("SELECT count(*) FROM w") == [(0,)]


def test_25f_into_a_table_of_the_lake(c, files):
    """One commit of all files, or none."""
    for key, query in (("lake/1.parquet", "SELECT 1 AS id, 'a' AS t"), ("lake/2.parquet", "SELECT 2 AS id, 'b' AS t"), ("bad/1.parquet", "SELECT 3 AS id, 'c' AS t"), ("bad/2.parquet", "SELECT 'x' AS id, 'd' AS t")):
        files(key, query)
    c.server.sql("CREATE DATABASE glue_catalog.copies")
    c.server.sql("CREATE TABLE glue_catalog.copies.t (id int, t string)")
    assert copy(c, "glue_catalog.copies.t", "lake") == 2
    c.refused("COPY INTO glue_catalog.copies.t FROM 's3://copied/bad' (FORMAT PARQUET, AWS CONNECTION = catalog_aws)", "file 's3://copied/bad/2.parquet'")
    assert sorted(c.server.sql("SELECT * FROM glue_catalog.copies.t")) == [(1, "a"), (2, "b")] and c.server.sql("SELECT count(*) FROM glue_catalog.copies.t.snapshots") == [(1,)]


def test_25d_csv(c, files):
    files("x.csv", body=b'1,plain,"[1,10]"\n2,"with ""quotes"", and comma","(5,15)"\n3,,\n4,"",empty\n')
    files("y.csv.gz", "SELECT * FROM (VALUES (5, 'gz', '[1,1]')) v", "FORMAT csv, HEADER false, COMPRESSION gzip")
    files("z.csv", body=b"id|t|r\r\n6|~it's|x~|NIL\r\n")
    c.run("CREATE TABLE csvs (id int, t text, r int4range)")
    assert copy(c, "csvs", "x.csv", "FORMAT CSV") == 4 and copy(c, "csvs", "y.csv.gz", "FORMAT CSV") == 1
    assert copy(c, "csvs", "z.csv", "FORMAT = 'csv', HEADER = true, DELIMITER = '|', QUOTE = '~', NULL = 'NIL'") == 1
    assert c.q("SELECT id, t, r::text FROM csvs ORDER BY id") == [(1, "plain", "[1,11)"), (2, 'with "quotes", and comma', "[6,15)"), (3, None, None), (4, "", "empty"), (5, "gz", "[1,2)"), (6, "it's|x", None)]
    files("long.csv", body=b"7," + b"x" * 5_000_000 + b",empty\n")
    files("none.csv", body=b"")
    assert copy(c, "csvs", "long.csv", "FORMAT CSV") == 1 and copy(c, "csvs", "none.csv", "FORMAT CSV") == 0
    assert c.q("SELECT length(t) FROM csvs WHERE id = 7") == [(5_000_000,)]
    c.run("DELETE FROM csvs WHERE id = 7")
    files("short.csv", body=b"1,a\n")
    files("number.csv", body=b"1,a,\nx,b,\n")
    for name in ("short", "number"):
        c.refused(f"COPY INTO csvs FROM 's3://copied/{name}.csv' (FORMAT CSV, AWS CONNECTION = catalog_aws)", f"file 's3://copied/{name}.csv'")
    assert c.q("SELECT count(*) FROM csvs") == [(6,)]


def test_25e_rights(c, files):
    """Of the connection's keys in the bucket, of the session's role on the connection and the table."""
    files("rights/a.parquet", "SELECT 1 AS a")
    c.aws("iam", "create-user", "--user-name", "copier")
    c.aws("iam", "put-user-policy", "--user-name", "copier", "--policy-name", "p", "--policy-document", json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::copied"}, {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::copied/rights/*"}]}))
    key = c.aws("iam", "create-access-key", "--user-name", "copier")["AccessKey"]
    c.run(f"CREATE SECRET copier_key AS '{key['SecretAccessKey']}'",
          f"CREATE CONNECTION copier TO AWS (ACCESS KEY ID = '{key['AccessKeyId']}', SECRET ACCESS KEY = SECRET copier_key, REGION = 'us-east-1', ENDPOINT = '{c.server.lake}')",
          "CREATE TABLE rights (a int)")
    c.run("COPY INTO rights FROM 's3://copied/rights' (FORMAT PARQUET, AWS CONNECTION = copier)")
    files("secret.parquet", "SELECT 2 AS a")
    with pytest.raises(psycopg.Error) as e:
        c.run("COPY INTO rights FROM 's3://copied/secret.parquet' (FORMAT PARQUET, AWS CONNECTION = copier)")
    assert "s3://copied/secret.parquet" in str(e.value) and key["SecretAccessKey"] not in str(e.value)
    clerk = psycopg.connect(host="127.0.0.1", port=c.server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True)
    statement = "COPY INTO rights FROM 's3://copied/rights' (FORMAT PARQUET, AWS CONNECTION = copier)"
    for denied, grant in (("permission denied for CONNECTION", "GRANT USAGE ON CONNECTION copier TO copier"), ("permission denied for TABLE", "GRANT INSERT ON rights TO copier")):
        with pytest.raises(psycopg.Error, match=denied):
            clerk.execute(statement)
        c.run(grant)
    assert clerk.execute(statement).rowcount == 1
    clerk.close()
    assert c.q("SELECT * FROM rights") == [(1,), (1,)]


def test_26_an_interval_of_an_earlier_version(c):
    """What stands in the catalog may be shorter than what may be written today."""
    c.run("CREATE TABLE c26 (a int)", "INSERT INTO c26 VALUES (1)")
    c.refused(f"CREATE SINK s26 FROM c26 INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE '{NS}', TABLE 't26') MODE APPEND WITH (COMMIT INTERVAL '999ms')",
              "COMMIT INTERVAL must be at least 1 second")
    s, t = c.sink("c26", "KEY (a) NOT ENFORCED MODE UPSERT", interval="17h")
    until(lambda: c.there(t) == [(1,)])
    c.db.close()
    c.server.stop()
    with sqlite3.connect(c.server.data / "catalog.db") as catalog:
        changed = catalog.execute("UPDATE doc SET value = replace(CAST(value AS text), '17h', '100ms') WHERE kind = 'live.object' AND CAST(value AS text) LIKE '%17h%'").rowcount
    catalog.close()
    assert changed == 1
    for _ in range(2):                                                            # it stays so
        c.server.start()
        c.db = c.server.connect("materialize")
        assert "COMMIT INTERVAL = '1s'" in c.q(f"SHOW CREATE SINK {s}")[0][1]
        assert "COMMIT INTERVAL = '1s'" in c.q(f"SELECT create_sql FROM mz_sinks WHERE name = '{s}'")[0][0]
        c.db.close()
        c.server.stop()
    c.server.start()
    c.db = c.server.connect("materialize")
    c.run("INSERT INTO c26 VALUES (2)")
    until(lambda: c.there(t) == [(1,), (2,)], 20)
    assert c.state(s) == ("running", "")
    c.drop(s)


# ---- and what ours promises beyond ----------------------------------------------------------------------------------------------------------------


def test_a_connection_that_is_altered(c):
    """Its sinks begin anew with what it says now: a dead endpoint stalls them, the right one lets them go on; another catalog's sinks never notice."""
    c.connect("moved", c.server.lake)
    c.run("CREATE TABLE c30 (a int)", "INSERT INTO c30 VALUES (1)")
    s, t = c.sink("c30", "KEY (a) NOT ENFORCED MODE UPSERT", connection="moved")
    other, u = c.sink("c30", "MODE APPEND")
    until(lambda: c.there(t) == [(1,)] and len(c.there(u) or []) == 1)
    c.run("ALTER CONNECTION moved_aws SET (ENDPOINT = 'http://127.0.0.1:1')", "INSERT INTO c30 VALUES (2)")
    status, error = until(lambda: c.state(s) if c.state(s)[0] == "stalled" else None)
    assert "connect" in error and c.server.secret not in error
    until(lambda: len(c.there(u)) == 2)
    assert c.there(t) == [(1,)] and c.state(other)[0] == "running"
    c.run(f"ALTER CONNECTION moved_aws SET (ENDPOINT = '{c.server.lake}')")
    until(lambda: c.there(t) == [(1,), (2,)])
    c.drop(s, other)


def test_keys_that_are_taken_away(c):
    """The key of the connection is not good any more; then it is again."""
    user = c.aws("iam", "create-user", "--user-name", "sinker")["User"]
    c.aws("iam", "put-user-policy", "--user-name", "sinker", "--policy-name", "p", "--policy-document",
          json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3tables:*", "Resource": [c.bucket, c.bucket + "/table/*"]}]}))
    key = c.aws("iam", "create-access-key", "--user-name", "sinker")["AccessKey"]
    c.run(f"CREATE SECRET sinker_key AS '{key['SecretAccessKey']}'",
          f"CREATE CONNECTION sinker_aws TO AWS (ACCESS KEY ID = '{key['AccessKeyId']}', SECRET ACCESS KEY = SECRET sinker_key, REGION = 'us-east-1', ENDPOINT = '{c.server.lake}')",
          f"CREATE CONNECTION sinker TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE = '{c.bucket}', AWS CONNECTION = sinker_aws)")
    c.run("CREATE TABLE c31 (a int)", "INSERT INTO c31 VALUES (1)")
    s, t = c.sink("c31", "MODE APPEND", connection="sinker")
    until(lambda: len(c.there(t) or []) == 1)
    c.aws("iam", "update-access-key", "--user-name", "sinker", "--access-key-id", key["AccessKeyId"], "--status", "Inactive")
    c.run("INSERT INTO c31 VALUES (2)")
    status, error = until(lambda: c.state(s) if c.state(s)[0] == "stalled" else None)
    assert key["SecretAccessKey"] not in error
    c.aws("iam", "update-access-key", "--user-name", "sinker", "--access-key-id", key["AccessKeyId"], "--status", "Active")
    c.run("INSERT INTO c31 VALUES (3)")
    until(lambda: sorted(r[0] for r in c.there(t)) == [1, 2, 3], 90)
    assert user["UserName"] == "sinker"
    c.drop(s)
