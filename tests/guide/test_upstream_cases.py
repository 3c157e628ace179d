# SPDX-License-Identifier: Apache-2.0
"""What Materialize's own tests of the sink demand, in our words and numbered as there: modes, keys, types, idle and finite inputs, ALTER, conflicts, lost answers, other writers.

20 to 22 are about statements alone: tests/e2e/test_connections.py (GCP connections are refused by name).  25 reads Parquet files by COPY FROM, which firn has not;
26 is about sinks of a release that firn never had.
9 and 10: an input that has ended is written so ("mz-frontier": "[]"), once, and the sink does nothing more.
17: a frontier inside of what waits, that this server has not written, says nothing sure of the rows before it: nothing is written on top (as in 16), until the relation is written anew."""
import itertools
import json
import threading
import time
import urllib.error

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
