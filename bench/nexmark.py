# SPDX-License-Identifier: Apache-2.0
"""Nexmark as continuous views: events per second through a durable tick and the view behind it, and the process's peak memory.

The generator is ours, of the benchmark's shape (1 person, 3 auctions, 46 bids of 50 events; a hundred auctions in flight; 10,000 events a second of event time). Each query has a
server of its own; events come in ticks of FIRN_BENCH_TICK (100,000) as INSERT … SELECT in one transaction, so their making is in the figure.
Peers are nexmark-peer/'s programs: the same queries by hand over differential-dataflow and over the dbsp crate, in memory, with as many threads, ticks of the same size and a result
that is kept. They read the same events out of files; reading is not in their figure. What they have in the end is compared with the view (rows, and the sum of the rows' CRC-32).
FIRN_BENCH_EVENTS   events a query, default 10,000,000; a query stops after FIRN_BENCH_SECONDS (300), the peers then get as many
FIRN_BENCH_QUERIES  which of them
NEXMARK_PEERS       which peers of "dataflow circuit", default dataflow"""
import os
import pathlib
import re
import shutil
import subprocess
import time

from server import Server
from sinks import run_sql

CHECKED = 1_000_000                                  # events up to which a view is compared with its query
PEERS = {"dataflow": "differential-dataflow", "circuit": "dbsp"}
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
    "person": (f"g / 50, 'person ' || (g / 50), 'p' || (g / 50) || '@example.org', '4000' || {h(1, 1000000)}, substr('AustinBoiseDenver', ({h(2, 3)})::int * 6 + 1, 6), "
               f"substr('ORIDCAWANVAZ', ({h(3, 6)})::int * 2 + 1, 2), {TIME}, 'x'", "g % 50 = 0"),
    "auction": (f"g / 50 * 3 + g % 50 - 1, 'item ' || g, 'description', {h(4, 1000)}, {h(5, 2000)}, {TIME}, {TIME} + ({h(6, 20000)}) * interval '1 millisecond', "
                f"greatest(g / 50 - {h(7, 100)}, 0), 10 + {h(8, 5)}, 'x'", "g % 50 BETWEEN 1 AND 3"),
    "bid": (f"greatest(g / 50 * 3 - {h(9, 100)}, 0), greatest(g / 50 - {h(10, 1000)}, 0), 100 + {h(11, 10000)}, 'channel-' || {h(12, 100)}, 'https://example.org/item?id=' || {h(13, 10000)}, "
            f"{TIME}, 'x'", "g % 50 > 3"),
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


def made(table, lo, hi, more=""):
    cells, which = EVENTS[table]
    return f"SELECT {more}{cells} FROM generate_series({lo}, {hi}) g WHERE {which}"


def feed(db, tables, lo, hi):
    run_sql(db, "BEGIN")
    for t in tables:
        run_sql(db, f"INSERT INTO {t} {made(t, lo, hi)}")
    run_sql(db, "COMMIT")


def milliseconds(column):
    return f"(extract(epoch FROM {column}) * 1000)::bigint"


def write_events(db, folder, tables, events):
    """For the peers: a file a table, tab-separated, the event's number first, times in milliseconds."""
    folder.mkdir()
    for t in tables:
        columns = [c.split() for c in TABLES[t].split(", ")]
        cells = ", ".join(milliseconds(name) if type_ == "timestamp" else name for name, type_ in columns)
        query = f"SELECT n, {cells} FROM ({made(t, 0, events - 1, 'g, ')}) e(n, {', '.join(name for name, _ in columns)}) ORDER BY n"
        with open(folder / t, "wb") as out, db.cursor().copy(f"COPY ({query}) TO STDOUT") as copy:
            for block in copy:
                out.write(block)


def tally(db):
    """The view as a bag in two numbers, as the peers count (nexmark-peer/src/rows.rs)."""
    columns = run_sql(db, "SELECT * FROM v LIMIT 0").description
    cells = {1114: milliseconds("{}"), 1700: "floor({} * 1000)::bigint"}
    row = ", ".join(cells.get(c.type_code, "{}").format(c.name) + "::text" for c in columns)
    return [int(n) for n in run_sql(db, f"SELECT count(*), coalesce(sum(crc32(concat_ws('|', {row}))), 0) FROM v").fetchone()]


def check(db, query):
    """The view is its query, as bags."""
    wrong = run_sql(db, f"SELECT count(*) FROM ((SELECT * FROM v EXCEPT ALL ({query})) UNION ALL (({query}) EXCEPT ALL SELECT * FROM v)) q").fetchone()[0]
    assert wrong == 0, f"{wrong} rows differ"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Figure:
    """What one side took: `peer` is its name."""
    def __init__(self, name, rate, peak, cpu, tally):
        self.name, self.rate, self.peak, self.cpu, self.tally = name, rate, peak, cpu, tally

    def __str__(self):
        return f"{self.name} {self.rate:,.0f}/s, {self.peak:,.0f} MiB, {self.cpu:.1f} s of processors".lstrip()


def ours(server, db, name, events, tick):
    """The figure, how many events went in, and what the engine had to compute anew."""
    query, notes, pid = QUERIES[name], [], server.process.pid
    tables = reads(query)
    for t in tables:
        run_sql(db, f"CREATE TABLE {t} ({TABLES[t]})")
    db.add_notice_handler(lambda n: notes.append(n.message_primary))
    run_sql(db, f"CREATE MATERIALIZED VIEW v AS {query}")
    limit = float(os.environ.get("FIRN_BENCH_SECONDS", 300))
    begun, burnt, done = time.monotonic(), cpu_seconds(pid), 0
    while done < events and time.monotonic() - begun < limit:
        feed(db, tables, done, min(done + tick, events) - 1)
        done = min(done + tick, events)
    figure = Figure("", done / (time.monotonic() - begun), peak_mib(pid), cpu_seconds(pid) - burnt, None)
    if done <= CHECKED:
        check(db, query)
    figure.tally = tally(db)
    return figure, done, [n for n in notes if "computed anew" in n]


def build_peer(peer, target):
    """The program, or why there is none."""
    if not shutil.which("cargo"):
        return None, "cargo is not there"
    place = pathlib.Path(__file__).parent / "nexmark-peer"
    built = subprocess.run(["cargo", "build", "--release", "--locked", "--manifest-path", place / "Cargo.toml", "--target-dir", target, "--features", peer, "--bin", peer], capture_output=True, text=True)
    return (target / "release" / peer, None) if built.returncode == 0 else (None, f"cargo cannot build it: {built.stderr.strip().splitlines()[-1]}")


def theirs(peer, program, name, folder, events, tick, threads):
    out = subprocess.run([program, name, folder, str(events), str(tick), str(threads)], check=True, capture_output=True, text=True).stdout.split()
    return Figure(PEERS[peer], float(out[0]), float(out[1]), float(out[2]), [int(n) for n in out[3:]])


def one(report, name, figure, done, why, others):
    what = f"{name}, {done:,} events{' (computed anew)' if why else ''}"
    for other in others:
        assert other.tally == figure.tally, f"{name}: {other.name} has {other.tally}, the view {figure.tally}"
        report.add("nexmark", what, str(figure), str(other), f"{figure.rate / other.rate:.2f}", "aim 0.5", None)
    if not others:
        report.add("nexmark", what, str(figure), "", "", "", None)


def run(binary, connect, folder, threads, report):
    events, tick = int(os.environ.get("FIRN_BENCH_EVENTS", 10_000_000)), int(os.environ.get("FIRN_BENCH_TICK", 100_000))
    names, programs = os.environ.get("FIRN_BENCH_QUERIES", " ".join(QUERIES)).split(), {}
    for peer in os.environ.get("NEXMARK_PEERS", "dataflow").split():
        program, missing = build_peer(peer, pathlib.Path(__file__).resolve().parent.parent / "build" / "nexmark-peer")
        if program:
            programs[peer] = program
        else:
            report.note("nexmark", f"{PEERS[peer]} is not compared: {missing}")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    written = folder / "events"
    for name in names:
        place = folder / name
        place.mkdir()
        server = Server(binary, place / "data", threads)
        try:
            with connect(server) as db:
                if programs and not written.exists():
                    write_events(db, written, sorted({t for n in names for t in reads(QUERIES[n])}), events)
                figure, done, why = ours(server, db, name, events, tick)
        finally:
            server.stop()
            shutil.rmtree(place)
        one(report, name, figure, done, why, [theirs(p, programs[p], name, written, done, tick, threads) for p in programs])
