# SPDX-License-Identifier: Apache-2.0
"""Incremental against full refresh, at small changes: new orders with their items, and old orders deleted."""
import lake
import tpch
from report import median, ms

SHARES = (("0.1 %", 0.001, 10.0), ("1 %", 0.01, None))


def refresh(tables, view, word=""):
    t = tables.server.timed(f"REFRESH MATERIALIZED VIEW {lake.PREFIX}v_{view}{word}")
    return t, (tables.server.notes[0] if tables.server.notes else "?").removeprefix("refresh ").split(":")[0]


def check(tables, report):
    """Every view equals the query over rows made anew."""
    tables.witness()
    for name, query in tpch.VIEWS.items():
        got = sorted(tables.server.sql(f"SELECT * FROM {lake.PREFIX}v_{name}"), key=repr)
        want = sorted(tables.peer.execute(query.format(c="")).fetchall(), key=repr)
        same = len(got) == len(want) and all(alike(g, w) for g, w in zip(got, want))
        if not same:
            report.add("check", name, f"{len(got)} rows", f"recomputed: {len(want)} rows", "", "equal", False)


def alike(g, w):
    """AVG of decimals is Spark's decimal here and a double there."""
    return all(x == y or (x is not None and y is not None and not isinstance(x, str) and abs(float(x) - float(y)) <= 1e-5 * max(1.0, abs(float(y)))) for x, y in zip(g, w))


def measure(tables, rounds, change):
    """Medians of both ways for each view, taken in turn after each change."""
    ours, peer, kinds = ({v: [] for v in tpch.VIEWS} for _ in range(3))
    for _ in range(rounds):
        change()
        for v in tpch.VIEWS:
            t, kind = refresh(tables, v)
            ours[v].append(t)
            kinds[v].append(kind)
            peer[v].append(refresh(tables, v, " FULL")[0])
    return {v: (median(ours[v]), median(peer[v]), "/".join(sorted(set(kinds[v])))) for v in tpch.VIEWS}


def run(tables, report, rounds):
    """Times of the incremental side by (share, kind of change, view), for the comparison of sizes."""
    times = {}
    for label, share, target in SHARES:
        n = max(int(tables.size.orders * share), 1)
        for kind, change in (("append", lambda: tables.append(n)), ("delete", lambda: tables.delete(n))):
            for v, (a, b, types) in measure(tables, rounds, change).items():
                times[label, kind, v] = a
                want, ok = (f">= {target:g}", b / a >= target) if target else (">= 0.83", b / a >= 1 / 1.2)
                report.add(f"refresh {label}", f"{v} {kind} ({types.lower()})", ms(a), f"full {ms(b)}", f"{b / a:.1f}", want, ok)
    check(tables, report)
    return times
