# SPDX-License-Identifier: Apache-2.0
"""make bench: firn against its peers on one machine, in one run, as ratios.

Data has TPC-H's shape and is made here (tpch.py). Peers run in turn with firn, with as many threads; figures are medians. Only loopback is used.
FIRN_BENCH_ROWS     items in the data, default 6,000,000
FIRN_BENCH_ROUNDS   measured rounds, default 3
FIRN_BENCH_TOPICS   some of: process full scan incremental objects commits tick idle fanout sink nexmark
FIRN_BENCH_LARGE=1  the incremental part again with a base four times as large
MINIO=/path         the MinIO binary to compare small PUTs with; FIXTURE_REST=uri the Java fixture server for commits; else those of tools/setup-bench"""
import os
import pathlib
import sys
import tempfile

import commits
import lake
import live
import nexmark
import objects
import process
import refresh_full
import refresh_incremental
import tpch
from report import Report, ms
from server import Server

LAKE, LIVE = ("full", "scan", "incremental", "objects", "commits"), ("tick", "idle", "fanout", "sink")
TOPICS = ("process", *LAKE, *LIVE, "nexmark")


def say(text):
    print(text, file=sys.stderr, flush=True)


def with_tables(binary, folder, items, threads, run):
    """A server with loaded tables and created views, for `run`."""
    folder.mkdir()
    server = Server(binary, folder / "data", threads)
    try:
        say(f"loading {items:,} items")
        tables = lake.Tables(server, folder / "peer", tpch.Size(items), threads)
        refresh_full.create(tables)
        return run(server, tables)
    finally:
        server.stop()


def with_server(binary, folder, threads, run):
    folder.mkdir()
    server = Server(binary, folder / "data", threads)
    try:
        return run(server)
    finally:
        server.stop()


def main_part(topics, report, rounds, folder):
    def run(server, tables):
        if "full" in topics or "scan" in topics:
            tables.mirror(tpch.SCHEMAS)
        if "full" in topics:
            refresh_full.full(tables, report, rounds)
        if "scan" in topics:
            refresh_full.scans(tables, report, rounds)
        times = refresh_incremental.run(tables, report, rounds) if "incremental" in topics else {}
        if "objects" in topics:
            objects.large_get(server, folder / "nginx", report, rounds)
            objects.small_puts(server, folder / "minio", report, rounds)
        if "commits" in topics:
            commits.run(server, folder / "fixture", report, rounds)
        return times
    return run


def sizes(small, large, n_small, report):
    """The same number of changed rows on a base four times as large."""
    for (label, kind, view), t in sorted(small.items()):
        u = large.get((label, kind, view))
        if u:
            report.add("base x4", f"{view} {kind}, {label} of the small base", ms(u), f"small base {ms(t)}", f"{u / t:.2f}", "<= 1.3", u / t <= 1.3)


def main():
    binary = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/firn").resolve())
    items, rounds = int(os.environ.get("FIRN_BENCH_ROWS", 6_000_000)), int(os.environ.get("FIRN_BENCH_ROUNDS", 3))
    topics = os.environ.get("FIRN_BENCH_TOPICS", " ".join(TOPICS)).split()
    threads, report = len(os.sched_getaffinity(0)), Report()
    with tempfile.TemporaryDirectory(prefix="firn-bench-") as tmp:
        folder = pathlib.Path(tmp)
        if "process" in topics:
            process.run(binary, folder, report, max(rounds, 3))
        times = {}
        if set(topics) & set(LAKE):
            times = with_tables(binary, folder / "main", items, threads, main_part(topics, report, rounds, folder))
        if set(topics) & set(LIVE):
            with_server(binary, folder / "live", threads, lambda server: live.run(server, folder / "postgres", topics, report, rounds))
        if times and os.environ.get("FIRN_BENCH_LARGE") == "1":
            refresh_incremental.SHARES = tuple((label, share / 4, None) for label, share, _ in refresh_incremental.SHARES)
            large = with_tables(binary, folder / "large", items * 4, threads, lambda server, tables: refresh_incremental.run(tables, Report(), rounds))
            sizes(times, large, items, report)
        if "nexmark" in topics:
            nexmark.run(binary, live.connect, folder / "nexmark", threads, report)
    print(f"{items:,} items, {threads} threads, medians of {rounds} rounds")
    report.print()
    print(f"{report.missed} target(s) missed" if report.missed else "every target is met")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
