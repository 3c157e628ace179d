# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL as a source, against a real server: snapshot, stream, types, TOAST, truncation, schema drift; exactly once while either side dies."""
import datetime
import decimal
import random
import threading
import time
import uuid

import psycopg
import pytest

from conftest import Server
from pgserver import PgServer, binaries

pytestmark = pytest.mark.skipif(not binaries(), reason="no PostgreSQL 15 server is installed (apt: postgresql-15)")


@pytest.fixture(scope="module")
def pg():
    server = PgServer()
    yield server
    server.close()


def drop_slots(c):
    """Those of a firn that is gone become free when its connections are seen to be."""
    until = time.monotonic() + 30
    while slots(c) and time.monotonic() < until:
        try:
            c.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        except psycopg.errors.ObjectInUse:
            time.sleep(0.1)
    assert not slots(c)


@pytest.fixture
def up(pg):
    """A connection to an empty database of the upstream, named `postgres` as it is the only one."""
    with pg.connect() as c:
        c.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        for (name,) in c.execute("SELECT pubname FROM pg_publication").fetchall():
            c.execute(f"DROP PUBLICATION {name}")
        drop_slots(c)
        yield c


@pytest.fixture
def firn(tmp_path, pg):
    s = Server(tmp_path / "data")
    s.sql("CREATE SECRET pw AS 'any'", "materialize")
    s.sql(f"CREATE CONNECTION pg TO POSTGRES (HOST '127.0.0.1', PORT {pg.port}, USER postgres, PASSWORD SECRET pw, DATABASE postgres)", "materialize")
    yield s
    if s.process.poll() is None:
        s.stop()


def q(firn, sql):
    return firn.sql(sql, "materialize")


def wait(firn, sql, want, seconds=60):
    until, last = time.monotonic() + seconds, None
    while time.monotonic() < until:
        try:
            last = q(firn, sql)
        except psycopg.Error as e:
            last = str(e)
        if last == want:
            return
        time.sleep(0.05)
    assert last == want, f"{sql}: {q(firn, 'SELECT name, status, error FROM mz_internal.mz_source_statuses')}"


def refused(firn, sql):
    with pytest.raises(psycopg.Error) as e:
        q(firn, sql)
    return e.value.diag


def slots(up):
    return up.execute("SELECT count(*) FROM pg_replication_slots").fetchone()[0]


def test_refusals(up, firn):
    up.execute("""CREATE TYPE mood AS ENUM ('a'); CREATE TABLE plain (a int); CREATE TABLE moody (m mood, n int); ALTER TABLE moody REPLICA IDENTITY FULL;
                  CREATE TABLE fine (a int); ALTER TABLE fine REPLICA IDENTITY FULL; CREATE SCHEMA other; CREATE TABLE other.fine (b int); ALTER TABLE other.fine REPLICA IDENTITY FULL;
                  CREATE PUBLICATION p FOR ALL TABLES""")
    make = "CREATE SOURCE s FROM POSTGRES CONNECTION pg "
    assert 'publication "nobody" does not exist' in refused(firn, make + "(PUBLICATION 'nobody') FOR ALL TABLES").message_primary
    d = refused(firn, make + "(PUBLICATION 'p') FOR TABLES (plain)")
    assert (d.message_primary, d.message_detail) == ("referenced items not tables with REPLICA IDENTITY FULL", "referenced items: plain")
    d = refused(firn, make + "(PUBLICATION 'p') FOR TABLES (moody)")
    assert d.message_primary == "referenced tables use unsupported types" and "public.moody.m (OID" in d.message_detail and "TEXT COLUMNS" in d.message_hint
    assert "not found in source" in refused(firn, make + "(PUBLICATION 'p') FOR TABLES (nothing)").message_primary
    assert "ambiguous" in refused(firn, make + "(PUBLICATION 'p') FOR TABLES (fine)").message_primary
    assert refused(firn, make + "(PUBLICATION 'p') FOR SCHEMAS (nowhere)").message_detail == "missing schemas: nowhere"
    d = refused(firn, make + "(PUBLICATION 'p', TEXT COLUMNS (moody.m)) FOR TABLES (public.fine)")
    assert d.message_primary == "TEXT COLUMNS refers to table not currently being added"
    assert "must specify PUBLICATION" in refused(firn, make + "(TEXT COLUMNS (a.b)) FOR ALL TABLES").message_primary
    assert "DETAILS" in refused(firn, make + "(PUBLICATION 'p', DETAILS 'x') FOR ALL TABLES").message_primary
    assert slots(up) == 0
    up.execute("DROP SCHEMA other CASCADE")


def test_types(up, firn):
    up.execute("""CREATE TABLE t (b bool, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision, n numeric(12,3), nn numeric, t text, vc varchar(5), ch char(4), nm name,
                  by bytea, d date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid, j json, jb jsonb, o oid, ai int[], at text[], an numeric(5,1)[]);
                  ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE t""")
    row = """(true, -32768, 2147483647, -9223372036854775808, 1.5, '-Infinity', -123456789.125, 12345.0000000001, E'tab\\tline\\nback\\\\slash ''q''', 'abc', 'ab', 'nm', '\\x00ff41',
             '0001-01-01', '23:59:59.999999', '1999-12-31 23:59:59.5', '2020-06-01 12:00:00+05:30', '1 year 2 mons 3 days -04:05:06.7', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
             '{"b": [1, 2.50], "a": "\\u00e9"}', '{"z": null}', 4294967295, '{1,NULL,-3}', ARRAY['a,b','q"x',NULL,''], '{1.5,-2.0}')"""
    up.execute(f"INSERT INTO t VALUES {row}")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    wait(firn, "SELECT count(*) FROM t", [(1,)])
    up.execute(f"INSERT INTO t VALUES {row}; INSERT INTO t (i4) VALUES (NULL)")      # by the stream they are the same
    wait(firn, "SELECT count(*) FROM t", [(3,)])
    assert q(firn, "SELECT count(*) FROM (SELECT DISTINCT * FROM t) d") == [(2,)]
    got = q(firn, "SELECT b, i2, i4, i8, f4, f8, n, nn, t, vc, ch, nm, by, d, ti, ts, tz, u, j, jb, ai, at, an FROM t WHERE b")[0]
    utc = datetime.timezone.utc
    assert got == (True, -32768, 2147483647, -9223372036854775808, 1.5, float("-inf"), decimal.Decimal("-123456789.125"), decimal.Decimal("12345.0000000001"), "tab\tline\nback\\slash 'q'", "abc",
                   "ab  ", "nm", b"\x00\xffA", datetime.date(1, 1, 1), datetime.time(23, 59, 59, 999999), datetime.datetime(1999, 12, 31, 23, 59, 59, 500000),
                   datetime.datetime(2020, 6, 1, 6, 30, tzinfo=utc), uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), {"a": "é", "b": [1, 2.5]}, {"z": None}, [1, None, -3],
                   ["a,b", 'q"x', None, ""], [decimal.Decimal("1.5"), decimal.Decimal("-2.0")])
    up.execute("DELETE FROM t WHERE b")
    wait(firn, "SELECT count(*) FROM t", [(1,)])


def test_ranges(up, firn):
    """Of the snapshot and of the stream the same; NULL is not empty; what cannot be held leaves its row out."""
    up.execute("""CREATE TABLE r (id int PRIMARY KEY, i4 int4range, i8 int8range, n numrange, d daterange, ts tsrange, tz tstzrange, a int4range[]);
                  ALTER TABLE r REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE r""")
    rows = ["'[1,10]', '(5,15)', '[1.5,2.25)', '[2026-01-01,2026-01-31]', '[2026-01-01 10:00,2026-01-01 11:00:00.5)', '(2026-01-01 10:00+02,2026-01-01 12:00+00]', ARRAY[int4range '[1,2]', NULL, 'empty']",
            "'(,5]', '[7,)', '(,)', '[2026-01-01,)', '(,2026-01-01)', '[-infinity,infinity)', '{}'", "'empty', '(1,1]', '[3,3]', '[2026-01-01,infinity)', 'empty', NULL, NULL", "NULL, NULL, NULL, NULL, NULL, NULL, NULL"]
    want = [("[1,11)", "[6,15)", "[1.5,2.25)", "[2026-01-01,2026-02-01)", '["2026-01-01 10:00:00","2026-01-01 11:00:00.5")', '("2026-01-01 08:00:00+00","2026-01-01 12:00:00+00"]', '{"[1,3)",NULL,empty}'),
            ("(,6)", "[7,)", "(,)", "[2026-01-01,)", '(,"2026-01-01 00:00:00")', "[-infinity,infinity)", "{}"), ("empty", "empty", "[3,3]", "[2026-01-01,infinity)", "empty", None, None), (None,) * 7]
    for i, r in enumerate(rows):
        up.execute(f"INSERT INTO r VALUES ({i}, {r})")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    assert [t for _, _, t, _ in q(firn, "SHOW COLUMNS FROM r")][1:] == ["int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange", "int4range[]"]
    shown = "SELECT i4::text, i8::text, n::text, d::text, ts::text, tz::text, a::text FROM r"
    wait(firn, f"{shown} ORDER BY id", want)
    for i, r in enumerate(rows):
        up.execute(f"INSERT INTO r VALUES ({i + 10}, {r})")
    wait(firn, f"{shown} WHERE id >= 10 ORDER BY id", want)
    assert q(firn, "SELECT count(*) FROM (SELECT DISTINCT i4, i8, n, d, ts, tz, a FROM r) d") == [(4,)]
    q(firn, "CREATE MATERIALIZED VIEW by_range AS SELECT i4, count(*) AS n FROM r WHERE i4 @> 3 OR i4 = int4range(1, 11) GROUP BY i4")
    up.execute("UPDATE r SET i4 = '[2,4]' WHERE id = 0; DELETE FROM r WHERE id = 11")
    wait(firn, "SELECT i4::text, n FROM by_range ORDER BY 1", [("(,6)", 1), ("[1,11)", 1), ("[2,5)", 1)])
    firn.kill()
    firn.start()
    up.execute("INSERT INTO r (id, i4, n) VALUES (20, '[3,3]', '[0.00000000001,1]'), (21, '[3,3]', '[1,2]')")
    wait(firn, "SELECT i4::text, n::text FROM r WHERE id >= 20", [("[3,4)", "[1,2]")])
    wait(firn, "SELECT i4::text, n FROM by_range ORDER BY 1", [("(,6)", 1), ("[1,11)", 1), ("[2,5)", 1), ("[3,4)", 1)])


def test_changes(up, firn):
    up.execute("""CREATE TABLE pk (id int PRIMARY KEY, v text); ALTER TABLE pk REPLICA IDENTITY FULL; ALTER TABLE pk ALTER v SET STORAGE EXTERNAL;
                  CREATE TABLE bag (a int, b text); ALTER TABLE bag REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES;
                  INSERT INTO pk VALUES (1, 'one'), (2, repeat('x', 100000)); INSERT INTO bag VALUES (1, 'a'), (1, 'a'), (1, 'a'), (2, NULL)""")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR TABLES (pk, bag AS heap)")
    wait(firn, "SELECT count(*) FROM heap", [(4,)])
    q(firn, "CREATE MATERIALIZED VIEW counts AS SELECT a, count(*) AS n FROM heap GROUP BY a")
    up.execute("UPDATE pk SET id = 20 WHERE id = 2; UPDATE pk SET v = NULL WHERE id = 1")           # the long value is not sent again
    up.execute("DELETE FROM bag WHERE ctid = (SELECT min(ctid) FROM bag); UPDATE bag SET b = 'c' WHERE b IS NULL; INSERT INTO bag VALUES (2, 'c')")
    wait(firn, "SELECT id, length(v) FROM pk ORDER BY id", [(1, None), (20, 100000)])
    wait(firn, "SELECT a, b, count(*) FROM heap GROUP BY 1, 2 ORDER BY 1", [(1, "a", 2), (2, "c", 2)])
    assert q(firn, "SELECT a, n FROM counts ORDER BY a") == [(1, 2), (2, 2)]
    with up.transaction():                                                                        # what is undone never comes
        up.execute("INSERT INTO bag VALUES (9, 'kept')")
        with pytest.raises(ZeroDivisionError), up.transaction():
            up.execute("INSERT INTO bag VALUES (10, 'undone')")
            raise ZeroDivisionError
    wait(firn, "SELECT a FROM heap WHERE a > 8", [(9,)])
    up.execute("INSERT INTO bag VALUES (3, 'before'); TRUNCATE bag, pk; INSERT INTO bag VALUES (4, 'after')")
    wait(firn, "SELECT a, b FROM heap", [(4, "after")])
    assert q(firn, "SELECT count(*) FROM pk") == [(0,)] and q(firn, "SELECT a, n FROM counts") == [(4, 1)]
    assert refused(firn, "INSERT INTO pk VALUES (1, 'mine')").sqlstate in ("42809", "0A000")
    wait(firn, "SELECT lsn > 0 FROM s_progress", [(True,)])
    assert slots(up) == 1
    q(firn, "DROP SOURCE s CASCADE")
    assert slots(up) == 0


def test_columns_as_text_and_left_out(up, firn):
    up.execute("""CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE m (id int PRIMARY KEY, m mood, r int4range, p point, secret text); ALTER TABLE m REPLICA IDENTITY FULL;
                  CREATE PUBLICATION p FOR ALL TABLES; INSERT INTO m VALUES (1, 'sad', '[1,5)', '(1,2)', 'x')""")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p', TEXT COLUMNS (m.m, m.r, public.m.p), EXCLUDE COLUMNS (m.secret)) FOR ALL TABLES")
    wait(firn, "SELECT * FROM m", [(1, "sad", "[1,5)", "(1,2)")])
    up.execute("UPDATE m SET m = 'ok', secret = 'y'; ALTER TABLE m DROP secret")                    # nobody here asked for it
    wait(firn, "SELECT * FROM m", [(1, "ok", "[1,5)", "(1,2)")])
    up.execute("UPDATE m SET id = 2")
    wait(firn, "SELECT id FROM m", [(2,)])


def test_tables_from_a_source(up, firn):
    up.execute("""CREATE TABLE a (x int); ALTER TABLE a REPLICA IDENTITY FULL; CREATE TABLE b (x int, y text); ALTER TABLE b REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES;
                  INSERT INTO a SELECT generate_series(1, 100); INSERT INTO b SELECT g, 'b' || g FROM generate_series(1, 100) g""")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p')")
    q(firn, "CREATE TABLE ta FROM SOURCE s (REFERENCE a)")
    wait(firn, "SELECT count(*) FROM ta", [(100,)])
    up.execute("INSERT INTO a VALUES (101); DELETE FROM b WHERE x > 50")
    q(firn, "CREATE TABLE tb FROM SOURCE s (REFERENCE public.b) WITH (EXCLUDE COLUMNS (y))")        # its snapshot is later than the stream's beginning
    up.execute("INSERT INTO a VALUES (102); INSERT INTO b VALUES (51, 'again')")
    wait(firn, "SELECT (SELECT count(*) FROM ta), (SELECT count(*) FROM tb), (SELECT sum(x) FROM tb)", [(102, 51, 1326)])
    assert refused(firn, "DROP SOURCE s").sqlstate == "2BP01"
    q(firn, "DROP TABLE ta")
    up.execute("INSERT INTO b VALUES (52, 'more')")
    wait(firn, "SELECT count(*) FROM tb", [(52,)])


def test_drift(up, firn):
    up.execute("""CREATE TABLE a (x int, y text, z varchar(5) NOT NULL); ALTER TABLE a REPLICA IDENTITY FULL; CREATE TABLE b (x int); ALTER TABLE b REPLICA IDENTITY FULL;
                  CREATE TABLE c (x int PRIMARY KEY, y int); ALTER TABLE c REPLICA IDENTITY FULL; CREATE TABLE d (x int PRIMARY KEY); ALTER TABLE d REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES;
                  INSERT INTO a VALUES (1, 'a', 'z'); INSERT INTO b VALUES (1); INSERT INTO c VALUES (1); INSERT INTO d VALUES (1)""")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    wait(firn, "SELECT count(*) FROM a", [(1,)])
    q(firn, "CREATE MATERIALIZED VIEW over_a AS SELECT count(*) AS n FROM a")
    up.execute("ALTER TABLE a ADD COLUMN more int; INSERT INTO a VALUES (2, 'b', 'z', 5)")          # a new column is nobody's
    wait(firn, "SELECT n FROM over_a", [(2,)])
    up.execute("ALTER TABLE a DROP y; INSERT INTO a VALUES (3, 'z', 5); ALTER TABLE c REPLICA IDENTITY DEFAULT; UPDATE c SET y = 2; ALTER TABLE d ALTER x TYPE bigint; INSERT INTO d VALUES (2); INSERT INTO b VALUES (2)")
    wait(firn, "SELECT count(*) FROM b", [(2,)])
    for table, text in (("a", 'incompatible schema change: source table public.a with oid'), ("over_a", "incompatible schema change"), ("d", 'column "x" has another type'),
                        ("c", "old row missing from replication stream. Did you forget to set REPLICA IDENTITY to FULL for your table?")):
        assert text in refused(firn, f"SELECT * FROM {table}").message_primary
    firn.kill()
    firn.start()
    up.execute("INSERT INTO b VALUES (3)")
    wait(firn, "SELECT count(*) FROM b", [(3,)])
    assert "incompatible schema change" in refused(firn, "SELECT * FROM a").message_primary
    assert q(firn, "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 'a'") == [("stalled",)]
    assert q(firn, "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 's'") == [("running",)]
    up.execute("DROP TABLE b")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            q(firn, "SELECT * FROM b")
        except psycopg.Error as e:
            assert "has been dropped" in str(e)
            break
        time.sleep(0.2)
    else:
        pytest.fail("a dropped table goes unnoticed")


def test_poison(up, firn):
    up.execute("CREATE TABLE n (id int, v numeric(8,2)[], d date); ALTER TABLE n REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES; INSERT INTO n VALUES (1, '{1.5}', '2020-01-01'), (2, NULL, 'infinity')")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    wait(firn, "SELECT id FROM n", [(1,)])
    up.execute("INSERT INTO n VALUES (3, '{NaN}', NULL), (4, '{{1,2},{3,4}}', NULL), (5, '{2}', '2021-01-01'); UPDATE n SET d = '2022-02-02' WHERE id = 2")
    wait(firn, "SELECT id, d FROM n ORDER BY id", [(1, datetime.date(2020, 1, 1)), (2, datetime.date(2022, 2, 2)), (5, datetime.date(2021, 1, 1))])
    assert q(firn, "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 's'") == [("running",)]


def test_a_slot_that_is_gone_is_said(up, firn):
    up.execute("CREATE TABLE t (a int); ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES; INSERT INTO t VALUES (1)")
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    wait(firn, "SELECT count(*) FROM t", [(1,)])
    firn.kill()
    drop_slots(up)
    up.execute("INSERT INTO t VALUES (2)")
    firn.start()
    wait(firn, "SELECT status, error LIKE '%replication slot%does not exist%' FROM mz_internal.mz_source_statuses WHERE name = 's'", [("stalled", True)])
    assert q(firn, "SELECT a FROM t") == [(1,)]                        # never a silent snapshot that would hide what was lost


class Churn(threading.Thread):
    """Changes of three tables in transactions of many sizes, until it has made so many; a server that goes away is waited for."""

    def __init__(self, pg, changes, seed):
        super().__init__(daemon=True)
        self.pg, self.changes, self.made, self.random = pg, changes, 0, random.Random(seed)

    def one(self, c):
        r, n = self.random, 1 if self.random.random() < 0.7 else self.random.randrange(2, 2000)
        kind = r.randrange(10)
        if kind < 4:
            c.execute("INSERT INTO acc SELECT nextval('ids'), (random() * 1000)::int, repeat(md5(g::text), %s) FROM generate_series(1, %s) g", (r.choice([1, 1, 100]), n))
        elif kind < 6:
            c.execute("UPDATE acc SET bal = bal + 1 WHERE id IN (SELECT id FROM acc ORDER BY random() LIMIT %s)", (n,))
        elif kind < 7:
            c.execute("DELETE FROM acc WHERE id IN (SELECT id FROM acc ORDER BY random() LIMIT %s)", (n // 2 + 1,))
        elif kind < 9:
            c.execute("INSERT INTO bag SELECT (random() * 5)::int, NULL FROM generate_series(1, %s)", (n,))
        else:
            c.execute("DELETE FROM bag WHERE ctid IN (SELECT ctid FROM bag LIMIT %s)", (n // 2 + 1,))
        if r.random() < 0.005:
            c.execute("TRUNCATE few")
        c.execute("INSERT INTO few VALUES (%s)", (r.randrange(100),))
        return n + 1

    def run(self):
        while self.made < self.changes:
            try:
                with self.pg.connect() as c:
                    while self.made < self.changes:
                        with c.transaction():
                            n = self.one(c)
                        self.made += n
            except psycopg.Error:
                time.sleep(0.2)


SUMS = {"acc": "SELECT count(*), coalesce(sum(id), 0), coalesce(sum(bal), 0), coalesce(sum(length(t)), 0) FROM acc", "bag": "SELECT a, b, count(*) FROM bag GROUP BY a, b ORDER BY a",
        "few": "SELECT a, count(*) FROM few GROUP BY a ORDER BY a"}


def exactly_once(pg, up, firn, changes, kills, restarts):
    """The source's tables end equal to PostgreSQL's, as bags, though both were killed again and again on the way."""
    up.execute("""CREATE SEQUENCE ids; CREATE TABLE acc (id bigint PRIMARY KEY, bal int, t text); ALTER TABLE acc REPLICA IDENTITY FULL; CREATE TABLE bag (a int, b text);
                  ALTER TABLE bag REPLICA IDENTITY FULL; CREATE TABLE few (a int); ALTER TABLE few REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR ALL TABLES;
                  INSERT INTO acc SELECT nextval('ids'), 0, 'first' FROM generate_series(1, 5000)""")
    churn = Churn(pg, changes, 7)
    churn.start()
    q(firn, "CREATE SOURCE s FROM POSTGRES CONNECTION pg (PUBLICATION 'p') FOR ALL TABLES")
    q(firn, "CREATE MATERIALIZED VIEW total AS SELECT count(*) AS n, sum(bal) AS bal FROM acc")
    marks = sorted([(changes * (i + 1) // (kills + 1), "kill") for i in range(kills)] + [(changes * (2 * i + 1) // (2 * restarts + 1), "restart") for i in range(restarts)])
    for at, what in marks:
        here = q(firn, "SELECT max(lsn) FROM s_progress")
        while (churn.made < at or q(firn, "SELECT max(lsn) FROM s_progress") == here) and churn.is_alive():      # a kill before anything came shows nothing
            time.sleep(0.05)
        if what == "kill":
            firn.kill()
            firn.start()
        else:
            pg.restart(random.Random(at).choice(["immediate", "fast"]))
    churn.join(1800)
    assert not churn.is_alive() and churn.made >= changes
    with pg.connect() as c:
        for table, sql in SUMS.items():
            wait(firn, sql, [tuple(int(x) if isinstance(x, decimal.Decimal) else x for x in row) for row in c.execute(sql).fetchall()], 900)
        want = c.execute("SELECT count(*), sum(bal) FROM acc").fetchone()
        wait(firn, "SELECT n, bal FROM total", [(want[0], want[1])])
        rows = c.execute("SELECT md5(string_agg(id || ',' || bal || ',' || md5(t), ';' ORDER BY id)) FROM acc").fetchone()[0]
    got = q(firn, "SELECT id, bal, md5(t) FROM acc ORDER BY id")
    import hashlib
    assert hashlib.md5(";".join(f"{i},{b},{t}" for i, b, t in got).encode()).hexdigest() == rows


def test_exactly_once(pg, up, firn):
    exactly_once(pg, up, firn, 20_000, 4, 2)


@pytest.mark.long
def test_exactly_once_over_a_million(pg, up, firn):
    exactly_once(pg, up, firn, 1_000_000, 20, 8)
