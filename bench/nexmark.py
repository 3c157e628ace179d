# SPDX-License-Identifier: Apache-2.0
"""Nexmark as continuous views: events per second through a durable tick and the view behind it, and the process's peak memory.

The generator is ours, of the benchmark's shape (1 person, 3 auctions, 46 bids of 50 events; a hundred auctions in flight; 10,000 events a second of event time). Each query has a
server of its own; events come in ticks of FIRN_BENCH_TICK (100,000) as INSERT … SELECT in one transaction, so their making is in the figure.
FIRN_BENCH_EVENTS  events a query, default 10,000,000
NEXMARK_PEER       a program: NEXMARK_PEER <query> <events> prints "events_per_second peak_mib" of the same work (hand-written dataflow, the dbsp crate); "-" where it has not the query"""
import os
import pathlib
import re
import shutil
import subprocess
import time

from server import Server
from sinks import run_sql

CHECKED = 1_000_000                                  # events up to which a view is compared with its query
SALT = "(({g}) * 2654435761 + {n} * 40503) % 4294967291"
START = "timestamp '2026-01-01 00:00:00'"
TIME = START + " + (g / 10) * interval '1 millisecond'"


def h(n, of):
    return f"({SALT.format(g='g', n=n)}) % {of}"


TABLES = {
    "person": "id bigint, name text, email text, credit_card text, city text, state text, date_time timestamp, extra text",
    "auction": "id bigint, item_name text, description text, initial_bid bigint, reserve bigint, date_time timestamp, expires timestamp, seller bigint, category bigint, extra text",
    "bid": "auction bigint, bidder bigint, price bigint, channel text, url text, date_time timestamp, extra text",
}
EVENTS = {
    "person": f"SELECT g / 50, 'person ' || (g / 50), 'p' || (g / 50) || '@example.org', '4000' || {h(1, 1000000)}, substr('AustinBoiseDenver', ({h(2, 3)})::int * 6 + 1, 6), "
              f"substr('ORIDCAWANVAZ', ({h(3, 6)})::int * 2 + 1, 2), {TIME}, 'x' FROM generate_series({{lo}}, {{hi}}) g WHERE g % 50 = 0",
    "auction": f"SELECT g / 50 * 3 + g % 50 - 1, 'item ' || g, 'description', {h(4, 1000)}, {h(5, 2000)}, {TIME}, {TIME} + ({h(6, 20000)}) * interval '1 millisecond', "
               f"greatest(g / 50 - {h(7, 100)}, 0), 10 + {h(8, 5)}, 'x' FROM generate_series({{lo}}, {{hi}}) g WHERE g % 50 BETWEEN 1 AND 3",
    "bid": f"SELECT greatest(g / 50 * 3 - {h(9, 100)}, 0), greatest(g / 50 - {h(10, 1000)}, 0), 100 + {h(11, 10000)}, 'channel-' || {h(12, 100)}, 'https://example.org/item?id=' || {h(13, 10000)}, "
           f"{TIME}, 'x' FROM generate_series({{lo}}, {{hi}}) g WHERE g % 50 > 3",
}
TUMBLE = "date_bin(interval '10 seconds', {t}, " + START + ")"
WINNERS = ("SELECT a.id, a.item_name, a.seller, a.category, a.expires, b.auction, b.bidder, b.price, b.date_time, row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.bidder) AS place "
           "FROM auction a JOIN bid b ON a.id = b.auction WHERE b.date_time BETWEEN a.date_time AND a.expires")
DAY = "date_trunc('day', date_time)"
RANKS = ", ".join(f"count({what}) FILTER (WHERE {cond}) AS {name}{i}" for name, what in (("bids", "*"), ("bidders", "DISTINCT bidder"), ("auctions", "DISTINCT auction"))
                  for i, cond in enumerate(("true", "price < 1000", "price >= 1000 AND price < 5000", "price >= 5000")))
QUERIES = {
    "q0": "SELECT auction, bidder, price, date_time, extra FROM bid",
    "q1": "SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid",
    "q2": "SELECT auction, price FROM bid WHERE auction % 123 = 0",
    "q3": "SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')",
    "q4": "SELECT category, avg(final) AS price FROM (SELECT max(b.price) AS final, a.category FROM auction a JOIN bid b ON a.id = b.auction WHERE b.date_time BETWEEN a.date_time AND a.expires "
          "GROUP BY a.id, a.category) q GROUP BY category",
    "q5": "WITH hops AS (SELECT b.auction, date_bin(interval '2 seconds', b.date_time, " + START + ") - s * interval '2 seconds' AS start FROM bid b, generate_series(0, 4) s), "
          "counts AS (SELECT auction, start, count(*) AS n FROM hops GROUP BY auction, start) "
          "SELECT c.auction, c.start, c.n FROM counts c JOIN (SELECT start, max(n) AS n FROM counts GROUP BY start) m ON c.start = m.start AND c.n = m.n",
    "q6": f"SELECT seller, avg(price) OVER (PARTITION BY seller ORDER BY expires, auction ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price, auction FROM ({WINNERS}) w WHERE place = 1",
    "q7": f"SELECT b.auction, b.price, b.bidder, b.date_time FROM bid b JOIN (SELECT max(price) AS price, {TUMBLE.format(t='date_time')} AS start FROM bid GROUP BY 2) m "
          f"ON b.price = m.price AND {TUMBLE.format(t='b.date_time')} = m.start",
    "q8": f"SELECT p.id, p.name, p.start FROM (SELECT DISTINCT id, name, {TUMBLE.format(t='date_time')} AS start FROM person) p "
          f"JOIN (SELECT DISTINCT seller, {TUMBLE.format(t='date_time')} AS start FROM auction) a ON p.id = a.seller AND p.start = a.start",
    "q9": f"SELECT id, item_name, seller, category, auction, bidder, price, date_time FROM ({WINNERS}) w WHERE place = 1",
    "q12": f"SELECT bidder, {TUMBLE.format(t='date_time')} AS start, count(*) AS bids FROM bid GROUP BY 1, 2",
    "q15": f"SELECT {DAY} AS day, {RANKS} FROM bid GROUP BY 1",
    "q16": f"SELECT channel, {DAY} AS day, {RANKS} FROM bid GROUP BY 1, 2",
    "q17": f"SELECT auction, {DAY} AS day, count(*) AS bids, count(*) FILTER (WHERE price < 1000) AS low, count(*) FILTER (WHERE price >= 5000) AS high, min(price) AS least, max(price) AS most, "
           "avg(price) AS average, sum(price) AS total FROM bid GROUP BY 1, 2",
    "q18": "SELECT auction, bidder, price, channel, date_time FROM (SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC, price) AS place FROM bid) q WHERE place = 1",
    "q19": "SELECT auction, bidder, price, date_time, place FROM (SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time, bidder) AS place FROM bid) q WHERE place <= 10",
    "q20": "SELECT b.auction, b.bidder, b.price, b.channel, a.item_name, a.seller, a.category FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10",
}


def peak_mib(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def reads(query):
    return [t for t in TABLES if re.search(rf"\b(FROM|JOIN) {t}\b", query)]


def feed(db, tables, lo, hi):
    run_sql(db, "BEGIN")
    for t in tables:
        run_sql(db, f"INSERT INTO {t} {EVENTS[t].format(lo=lo, hi=hi)}")
    run_sql(db, "COMMIT")


def check(db, query):
    """The view is its query, as bags."""
    wrong = run_sql(db, f"SELECT count(*) FROM ((SELECT * FROM v EXCEPT ALL ({query})) UNION ALL (({query}) EXCEPT ALL SELECT * FROM v)) q").fetchone()[0]
    assert wrong == 0, f"{wrong} rows differ"


def one(server, db, name, events, tick):
    query, notes = QUERIES[name], []
    tables = reads(query)
    for t in tables:
        run_sql(db, f"CREATE TABLE {t} ({TABLES[t]})")
    db.add_notice_handler(lambda n: notes.append(n.message_primary))
    run_sql(db, f"CREATE MATERIALIZED VIEW v AS {query}")
    begun, done = time.monotonic(), 0
    while done < events and time.monotonic() - begun < 300:
        feed(db, tables, done, min(done + tick, events) - 1)
        done = min(done + tick, events)
    rate = done / (time.monotonic() - begun)
    if done <= CHECKED:
        check(db, query)
    return rate, done, [n for n in notes if "computed anew" in n]


def peer(name, events):
    program = os.environ.get("NEXMARK_PEER")
    out = subprocess.run([program, name, str(events)], check=True, capture_output=True, text=True).stdout.split() if program else ["-"]
    return None if out[0] == "-" else (float(out[0]), float(out[1]))


def run(binary, connect, folder, threads, report):
    events, tick = int(os.environ.get("FIRN_BENCH_EVENTS", 10_000_000)), int(os.environ.get("FIRN_BENCH_TICK", 100_000))
    for name in os.environ.get("FIRN_BENCH_QUERIES", " ".join(QUERIES)).split():
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True)
        server = Server(binary, place / "data", threads)
        try:
            with connect(server) as db:
                rate, done, why = one(server, db, name, events, tick)
            other = peer(name, done)
            report.add("nexmark", f"{name}, {done:,} events{' (computed anew)' if why else ''}", f"{rate:,.0f}/s, {peak_mib(server.process.pid):,.0f} MiB",
                       f"{other[0]:,.0f}/s, {other[1]:,.0f} MiB" if other else "NEXMARK_PEER has it not" if os.environ.get("NEXMARK_PEER") else "NEXMARK_PEER names no program",
                       f"{rate / other[0]:.2f}" if other else "", "aim 0.5" if other else "", None)
        finally:
            server.stop()
            shutil.rmtree(place)
