# SPDX-License-Identifier: Apache-2.0
"""Exactly once, from outside: one firn writes into another's catalog through a proxy that spoils things, is killed at any moment, and is written to all the time.

Every state that the relation has ever had is known.  Whenever a table is looked at, it must be one of them, and never an older one than at the last look; when the
writer rests, it must be the newest.  The sinks keep their tables in shape meanwhile, every few seconds.  FIRN_EXACTLY_ROUNDS: how many rounds the long test has (100)."""
import os
import pathlib
import random
import sys
import threading
import time

import psycopg
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guide"))

from conftest import Server                                    # noqa: E402
from guide_place import Place, until                           # noqa: E402
from rest_side import Proxy                                    # noqa: E402

BUCKET, NS = "exactly", "once"
COMMIT_FAULTS = [502, 500, 504, 409, -500, -503, -409, -429, ("twice",), ("delay", 0.5), ("delay", 3)]


def frozen(state):
    return frozenset((k, *v) for k, v in state.items())


def grouped(state):
    g = {}
    for k, (v, _) in state.items():
        n, total = g.get(k % 7, (0, 0))
        g[k % 7] = (n + 1, total + v)
    return frozenset((k, *v) for k, v in g.items())


class History:
    """The states of the relation, in order."""

    def __init__(self):
        self.state, self.n, self.seen, self.groups = {}, 0, {frozenset(): 0}, {frozenset()}

    def advance(self, state):
        self.state, self.n = state, self.n + 1
        self.seen[frozen(state)] = self.n
        self.groups.add(grouped(state))


class Writer(threading.Thread):
    """One change after another; when the server dies under one, the relation itself says whether it was made."""

    def __init__(self, world, rng):
        super().__init__(daemon=True)
        self.w, self.rng, self.h = world, rng, History()
        self.stopping, self.resting, self.rested, self.error = threading.Event(), threading.Event(), threading.Event(), None

    def change(self):
        r, s, n = self.rng, dict(self.h.state), self.h.n + 1
        keys = r.sample(sorted(s), min(len(s), r.randint(1, 4)))
        what = r.random()
        if what < 0.45 or not keys:
            new = {k: (r.randint(0, 99), f"i{n}") for k in r.sample(range(1000), 5) if k not in s}
            if not new:
                return None, None
            s.update(new)
            return "INSERT INTO t VALUES " + ", ".join(f"({k}, {v}, '{x}')" for k, (v, x) in new.items()), s
        where = "k IN (" + ", ".join(map(str, keys)) + ")"
        if what < 0.8:
            s.update({k: (s[k][0] + 1, f"u{n}") for k in keys})
            return f"UPDATE t SET v = v + 1, s = 'u{n}' WHERE {where}", s
        for k in keys:
            del s[k]
        return f"DELETE FROM t WHERE {where}", s

    def one(self, c):
        text, state = self.change()
        if not text:
            return
        self.pending = state
        c.execute(text, prepare=False)
        self.h.advance(state)
        self.pending = None

    def settle(self, c):
        rows = frozenset(tuple(x) for x in c.execute("SELECT k, v, s FROM t").fetchall())
        if self.pending is not None and rows == frozen(self.pending):
            self.h.advance(self.pending)
        assert rows == frozen(self.h.state), "an acknowledged write was lost, or one that was never sent was made"
        self.pending = None

    def run(self):
        self.pending, c = None, None
        try:
            while not self.stopping.is_set():
                try:
                    if c is None or c.closed:
                        c = self.w.a.connect("materialize")
                        self.settle(c)
                    if self.resting.is_set() and self.pending is None:
                        self.rested.set()
                        time.sleep(0.02)
                        continue
                    self.one(c)
                    time.sleep(self.rng.random() * 0.03)
                except (psycopg.OperationalError, psycopg.InterfaceError, ConnectionError, OSError):
                    c = None
                    time.sleep(0.1)
        except BaseException as e:                             # noqa: B036
            self.error = e


class World:
    def __init__(self, folder, seed):
        self.rng = random.Random(seed)
        (folder / "a").mkdir()
        (folder / "b").mkdir()
        self.b = Place(folder / "b", [])
        self.bucket = self.b.table_bucket(BUCKET, NS)
        self.proxy = Proxy(self.b.server.lake, self.rule)
        self.commit_fault, self.store_fault, self.share = None, None, 0
        self.a = Server(folder / "a" / "data")
        self.last = {}
        self.sinks()
        self.writer = Writer(self, random.Random(seed + 1))
        self.writer.start()

    def sinks(self):
        c, s = self.a.connect("materialize"), self.b.server
        for text in (f"CREATE SECRET k AS '{s.secret}'",
                     f"CREATE CONNECTION aws TO AWS (ACCESS KEY ID = '{s.key}', SECRET ACCESS KEY = SECRET k, REGION = 'us-east-1', ENDPOINT = '{self.proxy.url}')",
                     "CREATE CONNECTION catalog TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', "
                     f"WAREHOUSE = '{self.bucket}', AWS CONNECTION = aws)",
                     "CREATE TABLE t (k int, v int, s text)",
                     "CREATE MATERIALIZED VIEW m AS SELECT k % 7 AS g, count(*) AS n, sum(v) AS total FROM t GROUP BY k % 7"):
            c.execute(text)
        keep = ", PROPERTIES = ('sink.maintenance=on', 'sink.maintenance.interval-ms=4000', 'sink.rewrite.min-files=6', 'sink.rewrite.delete-files=6', 'sink.expire.max-age-ms=20000', 'sink.expire.min-snapshots=5')"
        for name, relation, mode, more in (("upserted", "t", "KEY (k) NOT ENFORCED MODE UPSERT", ""), ("placed", "t", "KEY (k) NOT ENFORCED MODE UPSERT", ", DELETES = 'positions'"),
                                           ("appended", "t", "MODE APPEND", ""), ("groups", "m", "KEY (g) MODE UPSERT", "")):
            c.execute(f"CREATE SINK {name}_sink FROM {relation} INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE '{NS}', TABLE '{name}') {mode} WITH (COMMIT INTERVAL '1s'{more}{keep})")
        c.close()

    def rule(self, method, path, n):
        commit = method == "POST" and "/tables/" in path and "/namespaces/" in path
        fault = self.commit_fault if commit else self.store_fault if "/iceberg/" not in path else None
        return fault if fault and self.rng.random() < self.share else None

    # ---- looking

    def read(self, name, columns):
        return [tuple(r) for r in self.b.read(BUCKET, f"{NS}.{name}", columns, "1")]

    def rows(self, name):
        if name == "appended":
            rows = self.read(name, "k, v, s, _mz_diff, _mz_timestamp")
            assert len(rows) == len(set(rows)), "a change stands twice"
            net = {}
            for *row, diff, _ in rows:
                net[tuple(row)] = net.get(tuple(row), 0) + diff
            assert set(net.values()) <= {0, 1}, "a row went that had not come, or came twice"
            return frozenset(r for r, d in net.items() if d)
        rows = self.read(name, "k, v, s" if name != "groups" else "g, n, CAST(total AS BIGINT)")
        assert len(rows) == len(set(rows)), f"{name}: a row stands twice"
        return frozenset(rows)

    def check(self, name):
        h = self.writer.h
        rows = self.rows(name)
        if name == "groups":
            assert rows in h.groups or rows == grouped(self.writer.pending or {}), f"{name} is no state that the view has had"
            return
        n = h.seen.get(rows)
        if n is None and self.writer.pending is not None and rows == frozen(self.writer.pending):
            n = h.n + 1
        assert n is not None, f"{name} is no state that the relation has had"
        assert n >= self.last.get(name, 0), f"{name} went back from {self.last[name]} to {n}"
        self.last[name] = n

    def check_all(self, names=("upserted", "placed", "appended", "groups")):
        for name in names:
            try:
                self.check(name)
            except psycopg.Error as e:
                if "not exist" not in str(e) and "cannot be found" not in str(e) and "no table" not in str(e).lower():
                    raise

    # ---- a round

    def spoil(self):
        r = self.rng
        self.share = r.choice([0.3, 0.6, 1.0])
        self.commit_fault = r.choice([None, *COMMIT_FAULTS])
        self.store_fault = r.choice([None, None, None, -503, -500, ("delay", 1)])

    def round(self):
        self.spoil()
        time.sleep(self.rng.uniform(0.5, 2.5))
        if self.rng.random() < 0.7:
            self.a.kill()
            time.sleep(self.rng.random())
            self.a.start()
            self.commit_fault = self.rng.choice([None, self.commit_fault])
            time.sleep(self.rng.uniform(0, 1))
        self.check_all()
        self.commit_fault = self.store_fault = None
        self.writer.rested.clear()
        self.writer.resting.set()
        until(lambda: self.writer.rested.is_set() or self.writer.error)
        assert not self.writer.error, self.writer.error
        until(self.caught_up, 90)
        self.check_all()
        self.writer.resting.clear()

    def caught_up(self):
        state = self.writer.h.state
        try:
            return all(self.rows(name) == (grouped(state) if name == "groups" else frozen(state)) for name in ("upserted", "placed", "appended", "groups"))
        except psycopg.Error:
            return False

    def statuses(self):
        with self.a.connect("materialize") as c:
            return c.execute("SELECT s.name, h.status, h.error FROM mz_internal.mz_sink_status_history h JOIN mz_sinks s ON s.id = h.sink_id ORDER BY h.occurred_at").fetchall()[-12:]

    def end(self):
        self.writer.stopping.set()
        self.writer.join(10)
        self.a.stop()
        self.proxy.stop()
        self.b.stop()


def rounds(folder, n):
    seed = int(os.environ.get("FIRN_SINK_SEED", "1"))
    w = World(folder, seed)
    try:
        for i in range(n):
            try:
                w.round()
            except AssertionError as e:
                raise AssertionError(f"round {i + 1} (seed {seed}), commits answered by {w.commit_fault}, files by {w.store_fault}: {e}\n{w.statuses()}") from e
        assert w.writer.h.n > n
    finally:
        w.end()


def test_a_few_rounds(tmp_path):
    rounds(tmp_path, 3)


@pytest.mark.long
def test_a_hundred_rounds(tmp_path):
    rounds(tmp_path, int(os.environ.get("FIRN_EXACTLY_ROUNDS", "100")))
