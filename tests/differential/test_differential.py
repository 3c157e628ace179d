# SPDX-License-Identifier: Apache-2.0
"""Incremental equals recomputed: random views over random tables, kept through random changes.

A world (world.py) has 1 to 3 tables (schema.py, data.py), twenty views (queries.py) and four rounds of changes (changes.py) by SQL
and by PyIceberg.  After each refresh the view's stored rows are compared, as bags (compare.py), with the view's query run by the
same server, and with what the DuckDB of the Python package makes of the same query over a copy of the tables.  Sums of floats are
compared up to rounding, everything else exactly.  One view in one world is a case.

Constructs: filters, projections, expressions; inner, left, right, full, cross, self, semi and anti joins; IN, NOT IN, EXISTS, NOT
EXISTS; GROUP BY with COUNT, SUM, AVG, MIN, MAX, COUNT(DISTINCT), BOOL_AND/OR; aggregates without keys; HAVING; DISTINCT; UNION,
EXCEPT, INTERSECT with and without ALL; CTEs; derived tables; nested aggregates; views over views.  None of them may be refreshed in
full but for the reasons in world.ALLOWED.  The table printed at the end gives the shares by construct.

FIRN_DIFF_CASES and FIRN_DIFF_SEED say how many cases the long test runs (2,000) and where it begins; FIRN_DIFF_SHRINK how many
seconds a mismatch is made smaller (60); FIRN_DIFF_VERBOSE tells more.  A mismatch is printed as SQL.  The same seed gives the same world."""
import collections
import os
import pathlib
import shutil
import tempfile
import time

import pytest

import shrink
import world
from conftest import Server
from place import Place

# Views are small here: two of the servers never refresh in full for the cost, one of them keeps rows by delete files, one has the defaults.
SERVERS = {"rewritten": ["refresh.full_share=1000"], "by files": ["refresh.full_share=1000", "refresh.rewrite_rows=1"], "defaults": []}

VERBOSE = bool(os.environ.get("FIRN_DIFF_VERBOSE"))


class Servers:
    def __init__(self, folder):
        self.folder, self.places, self.made = folder, {}, 0

    def place(self, kind):
        if kind not in self.places:
            self.places[kind] = Place(Server(self.folder / kind.replace(" ", "_"), SERVERS[kind]))
        return self.places[kind]

    def namespace(self):
        self.made += 1
        return f"d{self.made}"

    def stop(self):
        for p in self.places.values():
            p.server.stop()


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """In memory where that is possible: what a disk holds after a crash is tested elsewhere."""
    memory = pathlib.Path("/dev/shm")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="firn-differential-", dir=memory if os.access(memory, os.W_OK) else tmp_path_factory.mktemp("differential")))
    s = Servers(folder)
    yield s
    s.stop()
    shutil.rmtree(folder)


def kind_of(seed):
    """The same server for the same seed; those with defaults get large tables, where the cost counts."""
    return ("by files", "rewritten", "by files", "rewritten", "by files", "rewritten", "defaults")[seed % 7]


def run(servers, w, kind):
    return world.Run(w, servers.place(kind), servers.namespace()).go()


def smallest(servers, w, kind, mismatch):
    def fails(candidate):
        try:
            found = run(servers, candidate, kind).mismatches
        except Exception:
            return None
        return next((m for m in found if m.view.name == mismatch.view.name and m.what.split()[:2] == mismatch.what.split()[:2]), None)
    w, mismatch = shrink.shrink(w, mismatch, fails, int(os.environ.get("FIRN_DIFF_SHRINK", "60")))
    return shrink.script(w, mismatch)


def shares(refreshes):
    """Lines of the table: by construct, how its views were refreshed."""
    counts = collections.defaultdict(collections.Counter)
    for r in refreshes:
        how = "incremental" if r.type == "INCREMENTAL" else world.reason_class(r) or "other"
        for label in {"(all)", *r.view.labels}:
            counts[label][how] += 1
    kinds = ["incremental"] + sorted({k for c in counts.values() for k in c} - {"incremental"})
    lines = [f"{'construct':26}{'refreshes':>10}" + "".join(f"{k:>22}" for k in kinds)]
    for label in sorted(counts):
        n = sum(counts[label].values())
        lines.append(f"{label:26}{n:>10}" + "".join(f"{counts[label][k]:>15} {counts[label][k] * 100 / n:5.1f}%" for k in kinds))
    return lines


def summary(total, cases, seconds):
    lines = [f"{cases} cases, {len(total.refreshes)} refreshes ({sum(r.changed != '0' for r in total.refreshes)} changed rows), {total.by_duck} comparisons with DuckDB, {total.changes} changes "
             f"({len(total.refused_changes)} refused), {len(total.refused_views)} views refused, {total.errors} refreshes failed as their query does, {total.unchecked} queries beyond the engine, {seconds:.0f} s"]
    for name, some in (("views refused", [w for _, w in total.refused_views]), ("changes refused", total.refused_changes), ("DuckDB refused", total.duck_refused)):
        for why, n in collections.Counter(w[:300] for w in some).most_common(20 if VERBOSE else 4):
            lines.append(f"  {name} {n} times: {why}")
    return lines + shares(total.refreshes)


def explore(servers, first, cases):
    total, start, seed, scripts, done, seen = world.Outcome(), time.monotonic(), first, [], 0, set()
    while done < cases and len(scripts) < 5:
        kind = kind_of(seed)
        w = world.make(seed, large=kind == "defaults", views=min(world.VIEWS, cases - done))
        began = time.monotonic()
        out = run(servers, w, kind)
        total.add(out)
        if VERBOSE:
            print(f"seed {seed} ({kind}): {len(w.views)} views, {len(out.refreshes)} refreshes, {time.monotonic() - began:.1f} s, {len(out.mismatches)} mismatches", flush=True)
        for m in {m.view.name: m for m in reversed(out.mismatches)}.values():
            if m.what in seen and "fail" in m.what:         # the same error of many views is shown once
                continue
            seen.add(m.what)
            scripts.append(smallest(servers, w, kind, m))
            print(scripts[-1], flush=True)
        done += len(w.views)
        seed += 1
    print("\n" + "\n".join(summary(total, done, time.monotonic() - start)), flush=True)
    return total, scripts


def broken(servers):
    """What `firn verify` finds wrong: hashes of rows and files went along with every refresh."""
    lines = [line for p in servers.places.values() for line in p.server.run("verify").stdout.splitlines()]
    assert any(line.endswith(" proven") for line in lines)
    return [line for line in lines if " broken" in line]


def proven(servers, total, scripts, cases):
    assert not scripts, "\n\n".join(scripts)
    assert broken(servers) == []
    wrong = {f"{r.type}: {r.reason}: {r.view.query.sql()}" for r in total.refreshes if r.type != "INCREMENTAL" and not world.reason_class(r)}
    assert not wrong, f"{len(wrong)} views are not incremental\n" + "\n".join(sorted(wrong)[:20])
    assert len(total.refused_views) * 10 <= cases
    assert len(total.refused_changes) * 4 <= total.changes
    assert sum(r.type == "INCREMENTAL" for r in total.refreshes) * 2 > len(total.refreshes)


def test_some(servers):
    proven(servers, *explore(servers, 5, 60), 60)


@pytest.mark.long
def test_many(servers):
    cases = int(os.environ.get("FIRN_DIFF_CASES", "2000"))
    proven(servers, *explore(servers, int(os.environ.get("FIRN_DIFF_SEED", "1000")), cases), cases)
