# SPDX-License-Identifier: Apache-2.0
"""Sinks: rows per second out of a live table into an Iceberg table, durable, through the REST catalog and S3 over loopback.

The backlog of a paused sink is written by one commit; PyIceberg appends the same rows, already in its memory, by one commit to a table of the same catalog.
FLINK names a jar that does the same with Flink's Iceberg sink: java -jar FLINK <catalog uri> <credential> <rows> <append|upsert>, seconds on its last line."""
import os
import subprocess
import time

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from report import median


def run_sql(db, text):
    return db.execute(text, prepare=False)

ROWS = 1_000_000


def catalog(server):
    return load_catalog("bench", **{"type": "rest", "uri": f"{server.lake}/iceberg", "credential": f"{server.key}:{server.secret}", "warehouse": "123456789012", "header.X-Iceberg-Access-Delegation": "vended-credentials"})


def select_rows(first, n):
    return f"SELECT g, g % 1000, g * 0.5::double precision, 'row number ' || g, date '2026-01-01' + (g % 365)::int FROM generate_series({first}, {first + n - 1}) g"


def prepare(db, server):
    run_sql(db, f"CREATE SECRET lake_credential AS '{server.key}:{server.secret}'")
    run_sql(db, f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE = 'rest', URL = '{server.lake}/iceberg', WAREHOUSE = '123456789012', CREDENTIAL = SECRET lake_credential, "
                "ACCESS DELEGATION = 'vended-credentials')")


def frontier(table):
    """Data records of the newest snapshot, and the table, read anew."""
    table.refresh()
    s = table.current_snapshot()
    return int(s.summary["total-records"]) if s else 0


def wait_for(table, records, seconds=300):
    end = time.monotonic() + seconds
    while frontier(table) < records:
        if time.monotonic() > end:
            raise SystemExit(f"the sink has written {frontier(table)} of {records} rows")
        time.sleep(0.005)


def our_round(db, cat, n, mode):
    """Paused, filled, let go: from the resumption to the commit."""
    name = f"out_{mode}_{n}"
    run_sql(db, f"CREATE CLUSTER {name} (SIZE = '25cc')")
    run_sql(db, f"CREATE TABLE {name} (id bigint NOT NULL, k bigint, x double precision, s text, d date)")
    if mode == "upsert":
        run_sql(db, f"INSERT INTO {name} {select_rows(1, ROWS)}")
    how = "MODE APPEND" if mode == "append" else "KEY (id) NOT ENFORCED MODE UPSERT"
    run_sql(db, f"CREATE SINK s_{name} IN CLUSTER {name} FROM {name} INTO ICEBERG CATALOG CONNECTION lake (NAMESPACE = 'bench', TABLE = '{name}') {how} WITH (COMMIT INTERVAL = '1s')")
    until_there(cat, name)
    table = cat.load_table(f"bench.{name}")
    wait_for(table, ROWS if mode == "upsert" else 0)
    run_sql(db, f"ALTER CLUSTER {name} SET (REPLICATION FACTOR = 0)")
    if mode == "append":
        run_sql(db, f"INSERT INTO {name} {select_rows(1, ROWS)}")
    else:
        run_sql(db, f"UPDATE {name} SET x = x + 1")
    before = frontier(table)
    begun = time.monotonic()
    run_sql(db, f"ALTER CLUSTER {name} SET (REPLICATION FACTOR = 1)")
    wait_for(table, before + ROWS)
    taken = time.monotonic() - begun
    run_sql(db, f"DROP SINK s_{name}")
    run_sql(db, f"DROP TABLE {name}")
    return taken


def until_there(cat, name, seconds=60):
    end = time.monotonic() + seconds
    while not cat.namespace_exists("bench") or not cat.table_exists(f"bench.{name}"):
        if time.monotonic() > end:
            raise SystemExit(f"the sink did not make its table bench.{name}")
        time.sleep(0.1)


def peer_round(cat, rows, n):
    t = cat.create_table(f"bench.peer_{n}", schema=rows.schema)
    begun = time.monotonic()
    t.append(rows)
    return time.monotonic() - begun


def flink(server, mode):
    jar = os.environ.get("FLINK")
    if not jar:
        return None
    out = subprocess.run(["java", "-jar", jar, f"{server.lake}/iceberg", f"{server.key}:{server.secret}", str(ROWS), mode], check=True, capture_output=True, text=True).stdout
    return float(out.split()[-1])


def run(db, server, report, rounds):
    cat = catalog(server)
    prepare(db, server)
    for mode in ("append", "upsert"):
        ours = [our_round(db, cat, n, mode) for n in range(rounds)]
        rate = ROWS / median(ours)
        f = flink(server, mode)
        report.add("sink", f"{mode}, {ROWS:,} rows", f"{rate:,.0f} rows/s", f"Flink {ROWS / f:,.0f} rows/s" if f else "FLINK names no jar", f"{rate * f / ROWS:.2f}" if f else "", ">= 2" if f else "",
                   rate * f / ROWS >= 2 if f else None)
        if mode == "append":
            values = run_sql(db, f"SELECT * FROM ({select_rows(1, ROWS)}) q").fetchall()
            rows = pa.table([pa.array(c) for c in zip(*values)], names=["id", "k", "x", "s", "d"])
            peer = ROWS / median([peer_round(cat, rows, n) for n in range(rounds)])
            report.add("sink", f"append, {ROWS:,} rows", f"{rate:,.0f} rows/s", f"PyIceberg {peer:,.0f} rows/s", f"{rate / peer:.2f}", ">= 0.8", rate / peer >= 0.8)
