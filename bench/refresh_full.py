# SPDX-License-Identifier: Apache-2.0
"""Full refresh against the peer engine's own COPY of the same query over the same files; scans against its read_parquet."""
import time

import lake
import tpch
from report import median, ms

SCANS = {
    "count": "SELECT count(*) FROM {c}lineitem",
    "filtered sum": "SELECT sum(l_extendedprice * l_discount) FROM {c}lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_quantity < 24",
    "Q1": tpch.VIEWS["Q1"],
    "join": "SELECT o.o_orderpriority, count(*) FROM {c}orders o JOIN {c}lineitem l ON l.l_orderkey = o.o_orderkey WHERE l.l_shipmode = 'AIR' GROUP BY o.o_orderpriority",
}


def timed(run):
    begun = time.monotonic()
    run()
    return time.monotonic() - begun


def pairs(rounds, ours, peer):
    """Both in turn; a first round warms both and does not count."""
    x, y = [], []
    for n in range(rounds + 1):
        a, b = ours(), timed(peer)
        if n:
            x.append(a)
            y.append(b)
    return median(x), median(y)


def create(tables):
    for name, query in tpch.VIEWS.items():
        tables.server.sql(f"CREATE MATERIALIZED VIEW {lake.PREFIX}v_{name} AS " + query.format(c=lake.PREFIX))


def full(tables, report, rounds):
    out = tables.folder / "out.parquet"
    for name, query in tpch.VIEWS.items():
        text = query.format(c="")
        a, b = pairs(rounds, lambda: tables.server.timed(f"REFRESH MATERIALIZED VIEW {lake.PREFIX}v_{name} FULL"),
                     lambda: tables.peer.execute(f"COPY ({text}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)"))
        report.add("full refresh", name, ms(a), f"DuckDB COPY {ms(b)}", f"{a / b:.2f}", "<= 1.25", a / b <= 1.25)


def scans(tables, report, rounds):
    for name, query in SCANS.items():
        a, b = pairs(rounds, lambda: tables.server.timed(query.format(c=lake.PREFIX)), lambda: tables.peer.execute(query.format(c="")).fetchall())
        report.add("SELECT", name, ms(a), f"read_parquet {ms(b)}", f"{a / b:.2f}", "<= 1.15", a / b <= 1.15)
