# SPDX-License-Identifier: Apache-2.0
"""Sinks: rows per second out of a live table into an Iceberg table, durable, through the REST catalog and S3 over loopback.

The backlog of a paused sink is written by one commit: from the resumption to the snapshot that has it, as a reader of the table sees it. Beside it, into tables of the same catalog:
PyIceberg appends the same rows, already in its memory, by one commit; Flink's Iceberg sink gets the same rows from memory and commits once (flink-peer/, which Maven builds into build/
where it is installed; FLINK names another jar that is called like it). Upsert: a table of as many rows, each of them changed once. What all have written is compared at the end."""
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.parse

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from report import median

ROWS = int(os.environ.get("FIRN_BENCH_SINK_ROWS", 1_000_000))
HERE = pathlib.Path(__file__).resolve().parent
WAREHOUSE = "123456789012"


def run_sql(db, text):
    return db.execute(text, prepare=False)


def catalog(server):
    return load_catalog("bench", **{"type": "rest", "uri": f"{server.lake}/iceberg", "credential": f"{server.key}:{server.secret}", "warehouse": WAREHOUSE, "header.X-Iceberg-Access-Delegation": "vended-credentials"})


def select_rows(first, n):
    return f"SELECT g, g % 1000, g * 0.5::double precision, 'row number ' || g, date '2026-01-01' + (g % 365)::int FROM generate_series({first}, {first + n - 1}) g"


def prepare(db, server):
    run_sql(db, f"CREATE SECRET lake_credential AS '{server.key}:{server.secret}'")
    run_sql(db, f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{server.lake}/iceberg', WAREHOUSE = '{WAREHOUSE}', CREDENTIAL = SECRET lake_credential, "
                "ACCESS DELEGATION = 'vended-credentials')")


class Watch:
    """A table as the REST catalog tells it, asked for without a client's own work: what measures takes little from what is measured."""

    def __init__(self, server, name):
        at = urllib.parse.urlsplit(f"{server.lake}/iceberg")
        self.http, self.name, base = http.client.HTTPConnection(at.hostname, at.port), name, at.path
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": server.key, "client_secret": server.secret, "scope": "catalog"})
        token = self.ask("POST", f"{base}/v1/oauth/tokens", form, {"Content-Type": "application/x-www-form-urlencoded"})["access_token"]
        self.headers = {"Authorization": f"Bearer {token}"}
        config = self.ask("GET", f"{base}/v1/config?warehouse={WAREHOUSE}", None, self.headers)
        prefix = {**config["defaults"], **config["overrides"]}.get("prefix", "")
        self.path = f"{base}/v1/{prefix + '/' if prefix else ''}namespaces/bench/tables/{name}"

    def ask(self, method, path, body, headers):
        self.http.request(method, path, body, headers)
        reply = self.http.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise SystemExit(f"{method} {path}: {reply.status} {text[:300]}")
        return json.loads(text)

    def snapshots(self):
        return self.ask("GET", self.path, None, self.headers)["metadata"].get("snapshots", [])

    def records(self):
        s = max(self.snapshots(), key=lambda s: s.get("sequence-number", 0), default=None)
        return int(s["summary"]["total-records"]) if s else 0

    def wait(self, records, seconds=300):
        end = time.monotonic() + seconds
        while (have := self.records()) < records:
            if time.monotonic() > end:
                raise SystemExit(f"{self.name}: the sink has written {have} of {records} rows")
            time.sleep(0.005)


def our_round(db, server, cat, n, mode):
    """Paused, filled, let go: from the resumption to the commit."""
    name = f"out_{mode}_{n}"
    run_sql(db, f"CREATE CLUSTER {name} (SIZE = '25cc')")
    run_sql(db, f"CREATE TABLE {name} (id bigint NOT NULL, k bigint, x double precision, s text, d date)")
    if mode == "upsert":
        run_sql(db, f"INSERT INTO {name} {select_rows(1, ROWS)}")
    how = "MODE APPEND" if mode == "append" else "KEY (id) NOT ENFORCED MODE UPSERT"
    run_sql(db, f"CREATE SINK s_{name} IN CLUSTER {name} FROM {name} INTO ICEBERG CATALOG CONNECTION lake (NAMESPACE = 'bench', TABLE = '{name}') {how} WITH (COMMIT INTERVAL = '1s')")
    until_there(cat, name)
    table = Watch(server, name)
    table.wait(ROWS if mode == "upsert" else 0)
    run_sql(db, f"ALTER CLUSTER {name} SET (REPLICATION FACTOR = 0)")
    if mode == "append":
        run_sql(db, f"INSERT INTO {name} {select_rows(1, ROWS)}")
    else:
        run_sql(db, f"UPDATE {name} SET x = x + 1")
    before, snapshots = table.records(), len(table.snapshots())
    begun = time.monotonic()
    run_sql(db, f"ALTER CLUSTER {name} SET (REPLICATION FACTOR = 1)")
    table.wait(before + ROWS)
    taken = time.monotonic() - begun
    assert len(table.snapshots()) == snapshots + 1, "the backlog was not one commit"
    run_sql(db, f"DROP SINK s_{name}")
    run_sql(db, f"DROP TABLE {name}")
    run_sql(db, f"DROP CLUSTER {name}")
    return taken


def until_there(cat, name, seconds=60):
    end = time.monotonic() + seconds
    while not cat.namespace_exists("bench") or not cat.table_exists(f"bench.{name}"):
        if time.monotonic() > end:
            raise SystemExit(f"the sink did not make its table bench.{name}")
        time.sleep(0.1)


def in_memory(db):
    values = run_sql(db, f"SELECT * FROM ({select_rows(1, ROWS)}) q").fetchall()
    return pa.table([pa.array(c) for c in zip(*values)], names=["id", "k", "x", "s", "d"])


def peer_round(cat, rows, n):
    t = cat.create_table(f"bench.peer_{n}", schema=rows.schema)
    begun = time.monotonic()
    t.append(rows)
    return time.monotonic() - begun


# ---- Flink


def flink_jar():
    """The peer's jar, made when it is older than its source; or why there is none."""
    if os.environ.get("FLINK"):
        return pathlib.Path(os.environ["FLINK"]), ""
    jar, source = HERE.parent / "build/flink-peer/flink-peer.jar", HERE / "flink-peer"
    newest = max(p.stat().st_mtime for p in source.rglob("*") if p.is_file())
    if jar.exists() and jar.stat().st_mtime >= newest:
        return jar, ""
    if not shutil.which("mvn") or not shutil.which("java"):
        return None, "Flink: mvn and java are not installed"
    made = subprocess.run(["mvn", "-q", "-B", "-f", str(source / "pom.xml"), f"-Dfirn.target={jar.parent}", "package"], capture_output=True, text=True, check=False)
    return (jar, "") if made.returncode == 0 else (None, f"Flink: Maven did not build the peer: {(made.stdout + made.stderr).strip().splitlines()[:1]}")


def flink_rounds(jar, server, mode, rounds):
    """Tables and seconds of each round."""
    opens = [f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in ("lang", "util", "net", "nio", "time")]       # as Flink's own start scripts do
    command = ["java", "-Xmx4g", *opens, "-jar", str(jar), f"{server.lake}/iceberg", f"{server.key}:{server.secret}", WAREHOUSE, "bench", str(ROWS), mode, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("round ")]
    if done.returncode or len(lines) != rounds or any(line[3] != "1" for line in lines):
        raise SystemExit(f"the Flink peer: {done.stdout[-500:]}{done.stderr[-3000:]}")
    return [line[1] for line in lines], [float(line[2]) for line in lines]


def digest(server, table):
    """What a table holds: rows, keys, and sums over every column."""
    return server.sql(f"SELECT count(*), count(DISTINCT id), sum(id), sum(k), sum(x), sum(length(s)), sum(date_part('day', d)) FROM bench.{table}")


def same(server, mode, tables):
    found = {t: digest(server, t) for t in tables}
    if len({str(d) for d in found.values()}) != 1:
        raise SystemExit(f"{mode}: the tables differ: {found}")


# ---- the rows of the report


def beside(report, mode, ours, name, theirs, target):
    ratio = median(theirs) / median(ours)
    report.add("sink", f"{mode}, {ROWS:,} rows", f"{ROWS / median(ours):,.0f} rows/s", f"{name} {ROWS / median(theirs):,.0f} rows/s", f"{ratio:.2f}", f">= {target}", ratio >= target)


def append_part(db, server, report, rounds, jar, cat):
    rows, ours, theirs = in_memory(db), [], []
    for n in range(rounds + 1):                          # the first warms up
        ours.append(our_round(db, server, cat, n, "append"))
        theirs.append(peer_round(cat, rows, n))
    tables = ["out_append_0", "peer_0"]
    beside(report, "append", ours[1:], "PyIceberg", theirs[1:], 0.8)
    if jar:
        names, theirs = flink_rounds(jar, server, "append", rounds)
        beside(report, "append", ours[1:], "Flink", theirs, 2)
        tables.append(names[0])
    same(server, "append", tables)


def upsert_part(db, server, report, rounds, jar, cat):
    ours = [our_round(db, server, cat, n, "upsert") for n in range(rounds + 1)]
    tables = ["out_upsert_0"]
    if jar:
        names, theirs = flink_rounds(jar, server, "upsert", rounds)
        beside(report, "upsert", ours[1:], "Flink", theirs, 2)
        tables.append(names[0])
    else:
        report.add("sink", f"upsert, {ROWS:,} rows", f"{ROWS / median(ours[1:]):,.0f} rows/s", "", "", "", None)
    same(server, "upsert", tables)


def run(db, server, report, rounds):
    cat, (jar, why) = catalog(server), flink_jar()
    if not jar:
        report.note("sink", why)
    prepare(db, server)
    append_part(db, server, report, rounds, jar, cat)
    upsert_part(db, server, report, rounds, jar, cat)
