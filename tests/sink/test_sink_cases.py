# SPDX-License-Identifier: Apache-2.0
"""What firn's sinks do beyond upstream's: relations and columns that change, every kind of delete file, tables found or lost, poison, repair.  Upstream's own cases:
tests/guide/test_upstream_cases.py."""
import json
import pathlib
import sys
import time
import urllib.request

import psycopg
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guide"))

from guide_place import Place, until                           # noqa: E402
from rest_side import Rest                                     # noqa: E402

BUCKET, NS = "sinks", "here"


class Sinks(Place):
    def __init__(self, folder):
        super().__init__(folder, [])
        self.bucket = self.table_bucket(BUCKET, NS)
        self.rest = Rest(self.server, self.bucket)
        self.db = self.server.connect("materialize")
        s = self.server
        self.run(f"CREATE SECRET k AS '{s.secret}'",
                 f"CREATE CONNECTION aws TO AWS (ACCESS KEY ID = '{s.key}', SECRET ACCESS KEY = SECRET k, REGION = 'us-east-1', ENDPOINT = '{s.lake}')",
                 f"CREATE CONNECTION catalog TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE = '{self.bucket}', AWS CONNECTION = aws)")

    def run(self, *texts):
        for t in texts:
            self.db.execute(t, prepare=False)

    def q(self, text):
        return self.db.execute(text, prepare=False).fetchall()

    def refused(self, text, *words):
        with pytest.raises(psycopg.Error) as e:
            self.run(text)
        said = str(e.value) + (e.value.diag.message_hint or "")
        for w in words:
            assert w in said, said

    def sink(self, name, relation, mode="KEY (a) NOT ENFORCED MODE UPSERT", more="", ns=NS):
        self.run(f"CREATE SINK {name} FROM {relation} INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE '{ns}', TABLE '{name}_t') {mode} WITH (COMMIT INTERVAL '1s'{more})")
        return f"{name}_t"

    def rows(self, table, columns="*", ns=NS):
        r = self.read(BUCKET, f"{ns}.{table}", columns, "1")
        return None if r is None else [tuple(x) for x in r]

    def foreign(self, table):
        """Another reader's rows, where it knows the deletes."""
        t = self.catalog(self.bucket).load_table(f"{NS}.{table}").scan().to_arrow().to_pylist()
        return sorted(tuple(r.values()) for r in t)

    def meta(self, table):
        return self.rest.load(NS, table)

    def state(self, sink):
        ((s, e),) = self.q(f"SELECT status, error FROM mz_internal.mz_sink_statuses WHERE name = '{sink}'")
        return s, e or ""


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    c = Sinks(tmp_path_factory.mktemp("sinks"))
    yield c
    c.db.close()
    c.stop()


def test_a_new_column(c):
    c.run("CREATE TABLE grows (a int, b text)", "INSERT INTO grows VALUES (1, 'x'), (2, 'y')")
    t = c.sink("grows_s", "grows")
    until(lambda: c.rows(t) == [(1, "x"), (2, "y")])
    c.run("ALTER TABLE grows ADD COLUMN n bigint", "UPDATE grows SET n = 7 WHERE a = 2", "INSERT INTO grows VALUES (3, 'z', 8)")
    until(lambda: c.rows(t) == [(1, "x", None), (2, "y", 7), (3, "z", 8)])
    assert [f["name"] for f in c.meta(t)["schemas"][-1]["fields"]] == ["a", "b", "n"] and c.state("grows_s") == ("running", "")


def test_another_relation(c):
    """What the old relation had up to the change comes first, then what the new one has from there on: none is lost, none comes twice."""
    c.run("CREATE TABLE from_1 (a int, b text)", "CREATE TABLE from_2 (a int, b text, n int)", "INSERT INTO from_1 VALUES (1, 'one')", "INSERT INTO from_2 VALUES (9, 'before', 0)")
    t = c.sink("moves_s", "from_1")
    until(lambda: c.rows(t) == [(1, "one")])
    c.run("INSERT INTO from_1 VALUES (2, 'two')", "ALTER SINK moves_s SET FROM from_2", "INSERT INTO from_2 VALUES (3, 'three', 33)", "INSERT INTO from_1 VALUES (4, 'unseen')")
    until(lambda: c.rows(t) == [(1, "one", None), (2, "two", None), (3, "three", 33)])
    assert "FROM materialize.public.from_2" in c.q("SHOW CREATE SINK moves_s")[0][1]
    c.run("UPDATE from_2 SET n = 34 WHERE a = 3")
    until(lambda: c.rows(t)[-1] == (3, "three", 34))


@pytest.mark.parametrize("kind, version", [("positions", 2), ("vectors", 3)])
def test_deletes_that_everybody_reads(c, kind, version):
    c.run(f"CREATE TABLE {kind} (a int, b text)", f"INSERT INTO {kind} SELECT g, 'x' FROM generate_series(1, 100) g")
    t = c.sink(f"{kind}_s", kind, more=f", DELETES = '{kind}'")
    until(lambda: len(c.rows(t) or []) == 100)
    c.run(f"UPDATE {kind} SET b = 'y' WHERE a <= 10")
    until(lambda: [r for r in c.rows(t) if r[1] == "y"] == [(i, "y") for i in range(1, 11)])
    c.run(f"DELETE FROM {kind} WHERE a > 50")
    until(lambda: len(c.rows(t)) == 50)
    m = c.meta(t)
    assert m["format-version"] == version
    files = c.server.sql(f"SELECT content, file_format FROM `{BUCKET}`.{NS}.{t}.delete_files")
    assert files and {f[0] for f in files} == {1}
    if version == 2:
        assert c.foreign(t) == sorted((i, "y" if i <= 10 else "x") for i in range(1, 51))


def test_summaries(c):
    c.run("CREATE TABLE says (a int, b text)", "INSERT INTO says VALUES (1, 'x'), (2, 'y')")
    t = c.sink("says_s", "says")
    until(lambda: len(c.rows(t) or []) == 2)
    for text, left in (("INSERT INTO says VALUES (3, 'z')", 3), ("UPDATE says SET b = 'w' WHERE a = 1", 3), ("DELETE FROM says WHERE a = 2", 2)):
        n = len(c.meta(t)["snapshots"])
        c.run(text)
        until(lambda: len(c.meta(t)["snapshots"]) > n)
        assert len(c.rows(t)) == left
    assert [s["summary"]["operation"] for s in c.meta(t)["snapshots"]] == ["append", "append", "overwrite", "delete"]
    f = [json.loads(s["summary"]["mz-frontier"])[0] for s in c.meta(t)["snapshots"]]
    assert f == sorted(f) and len(set(f)) == len(f)


def test_nothing_on_net_is_no_commit(c):
    c.run("CREATE TABLE net (a int, b int)", "INSERT INTO net VALUES (1, 1)")
    t = c.sink("net_s", "net")
    until(lambda: c.rows(t) == [(1, 1)])
    n = len(c.meta(t)["snapshots"])
    c.run("BEGIN", "INSERT INTO net VALUES (2, 2)", "COMMIT")
    until(lambda: len(c.meta(t)["snapshots"]) == n + 1)
    c.run("ALTER SINK net_s SET (COMMIT INTERVAL = '1h')")
    time.sleep(1.5)
    n = len(c.meta(t)["snapshots"])
    c.run("INSERT INTO net VALUES (3, 3)", "DELETE FROM net WHERE a = 3", "ALTER SINK net_s SET (COMMIT INTERVAL = '1s')")
    time.sleep(3)
    assert len(c.meta(t)["snapshots"]) == n and c.state("net_s")[0] == "running"


def test_a_batch_that_grows_large(c):
    c.run("CREATE TABLE large (a int, b text)")
    t = c.sink("large_s", "large", more=", COMMIT SIZE = 10000")
    until(lambda: c.rows(t) == [])
    c.run("ALTER SINK large_s SET (COMMIT INTERVAL = '1h')")
    until(lambda: c.state("large_s")[0] == "running")
    time.sleep(2)
    c.run("INSERT INTO large VALUES (1, 'small')")
    time.sleep(3)
    assert c.rows(t) == []
    c.run("INSERT INTO large SELECT g, 'x' FROM generate_series(2, 5000) g")
    until(lambda: len(c.rows(t)) == 5000, 20)


def test_without_a_snapshot(c):
    c.run("CREATE TABLE later (a int)", "INSERT INTO later VALUES (1)")
    t = c.sink("later_s", "later", more=", SNAPSHOT = false")
    until(lambda: c.rows(t) == [])
    c.run("INSERT INTO later VALUES (2)")
    until(lambda: c.rows(t) == [(2,)])


def test_the_namespace_is_made(c):
    c.run("CREATE TABLE fresh (a int)", "INSERT INTO fresh VALUES (1)")
    t = c.sink("fresh_s", "fresh", ns="made")
    until(lambda: c.rows(t, ns="made") == [(1,)])


def test_a_table_that_is_there(c):
    c.rest.create(NS, "empty_s_t", [("a", "long", False), ("b", "string", False)])
    c.run("CREATE TABLE there (a int, b text)", "INSERT INTO there VALUES (1, 'x')")
    t = c.sink("empty_s", "there")
    until(lambda: c.rows(t) == [(1, "x")])                                        # an int goes into a long
    c.rest.create(NS, "wrong_s_t", [("a", "string", False), ("b", "string", False)])
    c.sink("wrong_s", "there")
    until(lambda: "schema does not match expected schema" in c.state("wrong_s")[1])
    c.server.sql(f"CREATE TABLE `{BUCKET}`.{NS}.full_s_t (a int, b string)")
    c.server.sql(f"INSERT INTO `{BUCKET}`.{NS}.full_s_t VALUES (5, 'theirs')")
    c.sink("full_s", "there")
    until(lambda: "missing 'mz-frontier' property" in c.state("full_s")[1])
    assert c.rows("full_s_t") == [(5, "theirs")]


def test_partitions_of_a_table_that_is_there(c):
    c.run("CREATE TABLE parts (a int, b text)")
    c.server.sql(f"CREATE TABLE `{BUCKET}`.{NS}.cut_s_t (a int, b string) USING iceberg PARTITIONED BY (b)")
    c.sink("cut_s", "parts")
    until(lambda: "is partitioned but sink has no PARTITION BY" in c.state("cut_s")[1])
    c.server.sql(f"CREATE TABLE `{BUCKET}`.{NS}.whole_s_t (a int, b string)")
    c.sink("whole_s", "parts", "KEY (a) NOT ENFORCED PARTITION BY (b) MODE UPSERT")
    until(lambda: "is unpartitioned but sink specifies PARTITION BY" in c.state("whole_s")[1])
    c.server.sql(f"CREATE TABLE `{BUCKET}`.{NS}.other_s_t (a int, b string) USING iceberg PARTITIONED BY (bucket(4, a))")
    c.sink("other_s", "parts", "KEY (a) NOT ENFORCED PARTITION BY (b) MODE UPSERT")
    until(lambda: "partition spec mismatch" in c.state("other_s")[1])


def test_order(c):
    c.run("CREATE TABLE sorted (a int, b int)", "INSERT INTO sorted SELECT g, (g * 7) % 100 FROM generate_series(1, 99) g")
    t = c.sink("sorted_s", "sorted", "KEY (a) NOT ENFORCED ORDER BY (b DESC) MODE UPSERT")
    until(lambda: len(c.rows(t) or []) == 99)
    m = c.meta(t)
    order = next(o for o in m["sort-orders"] if o["order-id"] == m["default-sort-order-id"])
    assert order["fields"][0]["direction"] == "desc"
    assert [r["b"] for r in c.catalog(c.bucket).load_table(f"{NS}.{t}").scan().to_arrow().to_pylist()] == sorted([(g * 7) % 100 for g in range(1, 100)], reverse=True)


def test_poison(c):
    """A value that the column's type cannot hold stops the sink until it is gone; or becomes NULL, if that was asked for."""
    c.run("CREATE TABLE poison (a int, at timestamp)", "INSERT INTO poison VALUES (1, '2026-11-01')")
    t, u = c.sink("poison_s", "poison"), c.sink("lenient_s", "poison", more=", POISON = 'null'")
    until(lambda: len(c.rows(t) or []) == 1 and len(c.rows(u) or []) == 1)
    c.run("INSERT INTO poison VALUES (2, 'infinity'), (3, '2026-11-03')")
    until(lambda: c.state("poison_s") == ("stalled", "Cannot represent special value infinity in parquet"))
    until(lambda: [(a, at is None) for a, at in c.rows(u)] == [(1, False), (2, True), (3, False)])
    assert len(c.rows(t)) == 1
    c.run("DELETE FROM poison WHERE a = 2")
    until(lambda: [a for a, _ in c.rows(t)] == [1, 3])
    assert c.state("poison_s") == ("running", "")


def test_metrics(c):
    c.run("CREATE TABLE measured (a int)", "INSERT INTO measured VALUES (1)")
    t = c.sink("measured_s", "measured")
    until(lambda: c.rows(t) == [(1,)])
    c.run("UPDATE measured SET a = 2")
    until(lambda: c.rows(t) == [(2,)])
    ((id_,),) = c.q("SELECT id FROM mz_sinks WHERE name = 'measured_s'")
    text = until(lambda: next((x for x in [urllib.request.urlopen(f"{c.server.manage}/metrics").read().decode()] if f'mz_sink_iceberg_snapshots_committed{{sink_id="{id_}"}} 2' in x), None))
    for name, value in (("data_files_written", 2), ("delete_files_written", 1), ("commit_conflicts", 0), ("stashed_rows", 0)):
        assert f'mz_sink_iceberg_{name}{{sink_id="{id_}"}} {value}' in text
    staged, committed = map(int, c.q(f"SELECT messages_staged, messages_committed FROM mz_internal.mz_sink_statistics WHERE id = '{id_}'")[0])
    assert staged == committed == 3


def test_a_table_that_was_dropped(c):
    c.run("CREATE TABLE gone (a int)", "INSERT INTO gone VALUES (1)")
    t = c.sink("gone_s", "gone")
    until(lambda: c.rows(t) == [(1,)])
    c.server.sql(f"DROP TABLE `{BUCKET}`.{NS}.{t}")
    c.run("INSERT INTO gone VALUES (2)")
    until(lambda: c.state("gone_s")[0] == "stalled" and c.state("gone_s")[1])
    time.sleep(2)
    assert c.rows(t) is None                                                      # never made anew by itself
    c.run("ALTER SINK gone_s SET (SNAPSHOT = true)")
    until(lambda: c.rows(t) == [(1,), (2,)])
    c.run("DELETE FROM gone WHERE a = 1")
    until(lambda: c.rows(t) == [(2,)])


def test_a_table_that_was_rolled_back(c):
    c.run("CREATE TABLE back (a int)", "INSERT INTO back VALUES (1)")
    t = c.sink("back_s", "back")
    until(lambda: c.rows(t) == [(1,)])
    c.run("INSERT INTO back VALUES (2)")
    until(lambda: c.rows(t) == [(1,), (2,)])
    first = c.meta(t)["snapshots"][0]["snapshot-id"]
    c.rest.call("POST", c.rest.table(NS, t), {"requirements": [], "updates": [{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": first}]})
    c.run("INSERT INTO back VALUES (3)")
    until(lambda: "input compacted past resume upper" in c.state("back_s")[1])
    assert c.rows(t) == [(1,)]
    c.run("ALTER SINK back_s SET (SNAPSHOT = true)")
    until(lambda: c.rows(t) == [(1,), (2,), (3,)])


def test_keys_that_are_surely_unique(c):
    c.run("CREATE TABLE u (a int, b int, n int)", "CREATE MATERIALIZED VIEW u_groups AS SELECT a, b, sum(n) AS n FROM u GROUP BY a, b",
          "CREATE MATERIALIZED VIEW u_distinct AS SELECT DISTINCT a FROM u", "CREATE MATERIALIZED VIEW u_over AS SELECT a AS x, b AS y, n FROM u_groups WHERE n > 0",
          "CREATE MATERIALIZED VIEW u_one AS SELECT count(*) AS n FROM u", "CREATE MATERIALIZED VIEW u_joined AS SELECT g.a, g.b, g.n FROM u_groups g JOIN u_distinct d ON g.a = d.a",
          "CREATE MATERIALIZED VIEW u_many AS SELECT d.a, u.n FROM u_distinct d JOIN u ON u.a = d.a")
    make = "CREATE SINK u_s FROM {} INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'none', TABLE 'u_t') KEY ({}) MODE UPSERT WITH (COMMIT INTERVAL '1h')"
    for relation, key in (("u_groups", "a, b"), ("u_groups", "b, a, n"), ("u_distinct", "a"), ("u_over", "x, y"), ("u_one", "n"), ("u_joined", "a, b")):
        c.run(make.format(relation, key), "DROP SINK u_s")
    for relation, key in (("u", "a"), ("u_groups", "a"), ("u_over", "x"), ("u_many", "a")):
        c.refused(make.format(relation, key), "upsert key could not be validated as unique")
    c.refused(make.format("u_groups", "a"), '("a", "b")')


def test_statements_that_are_refused(c):
    c.run("CREATE TABLE r (a int, b text)", "CREATE VIEW r_v AS SELECT a FROM r")
    s = "CREATE SINK r_s FROM r INTO ICEBERG CATALOG CONNECTION catalog "
    for text, words in (
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a) NOT ENFORCED WITH (COMMIT INTERVAL '1s')", "MODE clause is required"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a) NOT ENFORCED ENVELOPE UPSERT WITH (COMMIT INTERVAL '1s')", "ENVELOPE is not supported for Iceberg sinks, use MODE instead"),
            (s + "(NAMESPACE 'n', TABLE 't') MODE UPSERT WITH (COMMIT INTERVAL '1s')", "upsert sinks must specify a key"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a) NOT ENFORCED MODE APPEND WITH (COMMIT INTERVAL '1s')", "KEY is not supported for MODE APPEND Iceberg sinks"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a, a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')", "duplicate column referenced in KEY: a"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (c) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')", "column referenced in KEY does not exist: c"),
            (s + "(NAMESPACE 'n') KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')", "Iceberg sink must specify TABLE"),
            (s + "(TABLE 't') KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')", "Iceberg sink must specify NAMESPACE"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a) NOT ENFORCED MODE UPSERT", "Iceberg sink must specify COMMIT INTERVAL"),
            (s + "(NAMESPACE 'n', TABLE 't') KEY (a) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '999ms')", "COMMIT INTERVAL must be at least 1 second"),
            ("CREATE SINK r_s FROM r_v INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') MODE APPEND WITH (COMMIT INTERVAL '1s')", "cannot be exported as a sink"),
            ("CREATE SINK r_s FROM mz_catalog.mz_tables INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') MODE APPEND WITH (COMMIT INTERVAL '1s')",
             "creating a sink directly on a catalog object not yet supported"),
            ("CREATE SINK r_s FROM r INTO ICEBERG CATALOG CONNECTION aws (NAMESPACE 'n', TABLE 't') MODE APPEND WITH (COMMIT INTERVAL '1s')", "is not an iceberg catalog connection")):
        c.refused(text, words)
    assert c.q("SHOW SINKS LIKE 'r_s'") == []


def test_show_and_drop(c):
    c.run("CREATE TABLE d (a int)")
    t = c.sink("d_s", "d")
    until(lambda: c.rows(t) == [])
    assert c.q("SHOW SINKS LIKE 'd_s'")[0][:3] == ("d_s", "iceberg", "quickstart")
    c.refused("DROP TABLE d", "still depended upon by sink")
    c.refused("DROP CONNECTION catalog", "still depended upon by sink")
    c.run("DROP SINK d_s", "DROP SINK IF EXISTS d_s")
    assert c.rows(t) == []
