# SPDX-License-Identifier: Apache-2.0
"""The live side: what a durable write costs under a continuous view, what views cost that do nothing, how many can watch.

tick    one row and 1,000 rows into a table of 1,000,000 under a join with aggregate; PostgreSQL's plain INSERT of the same rows, with the same durability, beside it
idle    200 views over one table, nothing written
fanout  500 connections subscribed to one view: from the write to the last of them"""
import os
import selectors
import time

import psycopg

import peers
import sinks
from report import median, ms
from sinks import run_sql

BASE, CUSTOMERS, VIEWS, WATCHERS = 1_000_000, 10_000, 200, 500


def connect(server):
    return psycopg.connect(server.db.info.dsn, user=server.key, password=server.secret, dbname="materialize", autocommit=True)


def load(db, name):
    run_sql(db, f"CREATE TABLE {name} (id bigint, customer int, amount numeric(10,2), day date)")
    run_sql(db, f"INSERT INTO {name} SELECT g, g % {CUSTOMERS} + 1, g % 1000, date '2026-01-01' FROM generate_series(1, {BASE}) g")


def rows_text(first, n):
    return ", ".join(f"({first + k}, {(first * 37 + k) % CUSTOMERS + 1}, {k % 100}.25, '2026-02-01')" for k in range(n))


def inserts(db, name, first, rows, times):
    taken = []
    for i in range(times):
        text = f"INSERT INTO {name} VALUES {rows_text(first + i * rows, rows)}"
        begun = time.perf_counter()
        run_sql(db, text)
        taken.append(time.perf_counter() - begun)
    return taken


def tick(server, folder, report, rounds):
    ours = connect(server)
    load(ours, "orders")
    run_sql(ours, "CREATE TABLE customers (id int, region text)")
    run_sql(ours, f"INSERT INTO customers SELECT g, 'r' || (g % 50) FROM generate_series(1, {CUSTOMERS}) g")
    run_sql(ours, "CREATE MATERIALIZED VIEW by_region AS SELECT c.region, count(*) AS n, sum(o.amount) AS amount FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.region")
    peer = peers.Postgres(folder) if peers.postgres_binaries() else None
    if peer:
        load(peer.db, "orders")
    first = BASE + 1
    for rows, target in ((1, 0.005), (1000, 0.030)):
        x, y = [], []
        for _ in range(rounds + 1):                  # the first warms up
            x.append(inserts(ours, "orders", first, rows, 100 if rows == 1 else 20))
            if peer:
                y.append(inserts(peer.db, "orders", first, rows, 100 if rows == 1 else 20))
            first += 100_000
        mine, theirs = median(sum(x[1:], [])), median(sum(y[1:], [])) if peer else 0
        report.add("tick", f"{rows:,} row{'s' * (rows > 1)}, p50", ms(mine), f"PostgreSQL without a view {ms(theirs)}" if peer else "PostgreSQL is not installed",
                   f"{mine / theirs:.1f}" if peer else "", f"<= {target * 1000:.0f} ms", mine <= target)
    kept = run_sql(ours, "SELECT count(*), sum(n), sum(amount) FROM by_region").fetchall()
    assert kept == run_sql(ours, "SELECT count(DISTINCT c.region), count(*), sum(o.amount) FROM orders o JOIN customers c ON o.customer = c.id").fetchall(), "the view is not its query"
    ours.close()
    if peer:
        peer.stop()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def burnt(pid, seconds):
    before = cpu_seconds(pid)
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / seconds * 100


def idle(server, report, seconds=10):
    db = connect(server)
    run_sql(db, "CREATE TABLE quiet (k int, x bigint)")
    run_sql(db, "INSERT INTO quiet SELECT g % 100, g FROM generate_series(1, 10000) g")
    without = burnt(server.process.pid, seconds)
    for i in range(VIEWS):
        run_sql(db, f"CREATE MATERIALIZED VIEW quiet_{i} AS SELECT k, count(*) AS n, sum(x) AS x FROM quiet WHERE k <> {i} GROUP BY k")
    time.sleep(2)
    share = burnt(server.process.pid, seconds)
    report.add("idle", f"{VIEWS} views, nothing changes", f"{share:.2f} % of a processor", f"none {without:.2f} %", "", "no more", share <= without + 0.5)
    db.close()


def fanout(server, report, rounds):
    db = connect(server)
    run_sql(db, "CREATE TABLE news (id bigint, text text)")
    run_sql(db, "CREATE MATERIALIZED VIEW shown AS SELECT id, upper(text) AS text FROM news")
    watchers, pick = [connect(server) for _ in range(WATCHERS)], selectors.DefaultSelector()
    for w in watchers:
        w.pgconn.send_query(b"COPY (SUBSCRIBE (SELECT * FROM shown) WITH (SNAPSHOT = false)) TO STDOUT")
        pick.register(w.fileno(), selectors.EVENT_READ, w)
    settle(pick)
    last = []
    for i in range(rounds * 5):
        begun = time.perf_counter()
        run_sql(db, f"INSERT INTO news VALUES ({i}, 'x')")
        last.append(until_all(pick, watchers, begun))
    report.add("fanout", f"{WATCHERS} subscribers, write to the last of them", ms(median(last)), "", "", "", None)
    for w in watchers:
        w.pgconn.get_cancel().cancel()
        w.close()
    db.close()


def settle(pick):
    """Every subscription stands: its COPY has begun, and nothing comes for a while."""
    quiet = time.monotonic() + 2
    while time.monotonic() < quiet:
        for key, _ in pick.select(0.1):
            key.data.pgconn.consume_input()
            quiet = time.monotonic() + 2


def until_all(pick, watchers, begun):
    missing = {w.fileno() for w in watchers}
    while missing:
        for key, _ in pick.select(30) or [(None, None)]:
            if key is None:
                raise SystemExit(f"{len(missing)} subscribers heard nothing")
            os.read(key.fd, 1 << 16)
            missing.discard(key.fd)
    return time.perf_counter() - begun


def run(server, folder, topics, report, rounds):
    if "tick" in topics:
        tick(server, folder, report, rounds)
    if "idle" in topics:
        idle(server, report)
    if "fanout" in topics:
        fanout(server, report, rounds)
    if "sink" in topics:
        with connect(server) as db:
            sinks.run(db, server, report, rounds)
