# SPDX-License-Identifier: Apache-2.0
"""The SQL door by the clients that people use: psql, psycopg, asyncpg, SQLAlchemy, and pgjdbc where FIRN_PGJDBC names its jar."""
import asyncio
import datetime
import decimal
import os
import shutil
import subprocess
import textwrap
import threading
import time
import uuid

import asyncpg
import psycopg
import pytest
import sqlalchemy

D = decimal.Decimal
UTC = datetime.timezone.utc


@pytest.fixture(scope="module")
def db(server):
    """One namespace with a table, a view and a materialized view."""
    server.sql("""CREATE NAMESPACE glue_catalog.door;
        CREATE TABLE glue_catalog.door.t1 (id INT NOT NULL COMMENT 'the key', name STRING, amount DECIMAL(10,2), d DATE, ts TIMESTAMP, tags ARRAY<STRING>)
          USING iceberg COMMENT 'a table';
        INSERT INTO glue_catalog.door.t1 VALUES (1, 'a', 1.50, DATE'2026-01-01', NULL, array('x', 'y')), (2, NULL, NULL, NULL, NULL, NULL);
        CREATE MATERIALIZED VIEW glue_catalog.door.m1 AS SELECT name, COUNT(*) AS n FROM glue_catalog.door.t1 GROUP BY name""")
    return server


def psql(server, *commands, dbname="materialize", check=True):
    env = dict(os.environ, PGPASSWORD=server.secret, PGCONNECT_TIMEOUT="10")
    args = ["psql", "-X", "-At", "-h", "127.0.0.1", "-p", str(server.port), "-U", server.key, "-d", dbname]
    for c in commands:
        args += ["-c", c]
    r = subprocess.run(args, capture_output=True, text=True, env=env, timeout=60)
    assert not check or (r.returncode == 0 and not r.stderr), r.stderr
    return r.stdout if check else r


# ---- psql ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dbname", ["materialize", "spark"])
@pytest.mark.parametrize("command,expected", [
    (r"\dt door.*", "door|t1|table|"), (r"\dm door.*", "door|m1|materialized view|"), (r"\dt+ door.*", "a table"),
    (r"\d door.t1", "amount|numeric(10,2)||"), (r"\d door.t1", "tags|text[]"), (r"\d door.t1", "id|integer||not null"),
    (r"\d+ door.t1", "the key"), (r"\dn", "door|"), (r"\l", "materialize|"), (r"\du", "Superuser"),
])
def test_psql_describes(db, dbname, command, expected):
    assert expected in psql(db, command, dbname=dbname)


def test_psql_shows_a_definition(db):
    assert "View definition:\nSELECT name, COUNT(*) AS n FROM glue_catalog.door.t1 GROUP BY name" in psql(db, r"\pset tuples_only off", r"\d+ door.m1")


@pytest.mark.parametrize("command", [r"\d", r"\dt", r"\dv", r"\dv+", r"\di", r"\ds", r"\df", r"\df+", r"\dT", r"\dp", r"\dx", r"\db", r"\dL", r"\dd", r"\da",
                                     r"\dRp", r"\dy", r"\ddp", r"\des", r"\dconfig", r"\conninfo", r"\encoding"])
def test_psql_has_nothing_to_complain_about(db, command):
    r = psql(db, command, check=False)
    assert r.returncode == 0 and r.stderr.strip() in ("", "Did not find any relations.")


def test_psql_shows_results_its_way(db):
    assert "a | 1" in psql(db, r"\x", r"\pset tuples_only off", r"\pset format aligned", "SELECT 1 AS a")
    assert "Time:" in psql(db, r"\timing on", "SELECT 1")
    r = psql(db, "SELECT nosuch", check=False)
    assert r.returncode == 1 and "LINE 1: SELECT nosuch\n               ^" in r.stderr


def test_wrong_password(db):
    for user in (db.key, "AKIANOBODY"):
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(host="127.0.0.1", port=db.port, user=user, password="wrong", dbname="x")


# ---- psycopg ---------------------------------------------------------------------------------------------------------------

CASES = [
    ("42", 42), ("42::bigint", 42), ("1::smallint", 1), ("true", True), ("1.5::double precision", 1.5), ("123.450::numeric(10,3)", D("123.450")),
    ("-0.00010::numeric(10,5)", D("-0.00010")), ("'h\u00e9llo'", "h\u00e9llo"), ("date '1999-12-31'", datetime.date(1999, 12, 31)),
    ("timestamp '2001-02-03 04:05:06.000007'", datetime.datetime(2001, 2, 3, 4, 5, 6, 7)), ("ARRAY[1,2,NULL]", [1, 2, None]),
    ("timestamptz '2001-02-03 04:05:06+02'", datetime.datetime(2001, 2, 3, 2, 5, 6, tzinfo=UTC)),
    ("interval '3 days 04:05:06'", datetime.timedelta(days=3, hours=4, minutes=5, seconds=6)),
    ("uuid '00112233-4455-6677-8899-aabbccddeeff'", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")), ("NULL", None),
    ("ARRAY['a','b\"c','NULL',NULL]", ["a", 'b"c', "NULL", None]), ("'{\"a\":[1,2]}'::jsonb", {"a": [1, 2]}), ("'\\x01ab'::bytea", b"\x01\xab"),
]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("expr,value", CASES)
def test_values_out(db, expr, value, binary):
    with db.connect("materialize") as c:
        got = c.cursor(binary=binary).execute("SELECT " + expr).fetchone()[0]
        assert got == value and isinstance(got, type(value))


@pytest.mark.parametrize("placeholder", ["%s", "%t", "%b"])
@pytest.mark.parametrize("type_,value", [
    ("int", 5), ("bigint", 2**40), ("double precision", 1.25), ("numeric(20,5)", D("3.14159")), ("numeric(38,0)", D("1e30")), ("text", "x'y"),
    ("bytea", b"\0\xff"), ("date", datetime.date(2020, 2, 29)), ("timestamp", datetime.datetime(2020, 1, 2, 3, 4, 5, 6)), ("boolean", False),
    ("timestamptz", datetime.datetime(2020, 1, 2, tzinfo=UTC)), ("interval", datetime.timedelta(days=-1, seconds=5)), ("text", None),
    ("uuid", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")), ("int[]", [1, None, 3]), ("text[]", ["a", 'b"\\ ,', "NULL", ""])])
def test_parameters(db, type_, value, placeholder):
    with db.connect("materialize") as c:
        assert c.execute(f"SELECT {placeholder}::{type_}", (value,)).fetchone()[0] == value


def test_prepared_and_pipelined(db):
    with db.connect("materialize", prepare_threshold=1) as c:
        for i in range(20):
            assert c.execute("SELECT %s::int + 1", (i,)).fetchone()[0] == i + 1
        with c.pipeline():
            cursors = [c.execute("SELECT %s::int", (i,)) for i in range(200)]
        assert [x.fetchone()[0] for x in cursors] == list(range(200))
        with pytest.raises(psycopg.Error):
            with c.pipeline():
                c.execute("SELECT 1")
                c.execute("SELECT nosuch")
                c.execute("SELECT 2")
        assert c.execute("SELECT 7").fetchone()[0] == 7
        c.execute("DEALLOCATE ALL")
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            c.execute("DEALLOCATE nosuch")


def test_errors_carry_state_and_position(db):
    with db.connect("materialize") as c:
        with pytest.raises(psycopg.errors.UndefinedColumn) as e:
            c.execute("SELECT 'é', nosuch")
        assert e.value.diag.statement_position == "13"
        with pytest.raises(psycopg.errors.SyntaxError):
            c.execute("SELEC 1")
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            c.execute("SELECT %s::int", ("abc",))
        with pytest.raises(psycopg.errors.DivisionByZero):
            c.execute("SELECT 1 / 0")
        assert c.execute("SELECT 1").fetchone() == (1,)


def test_cancel(db):
    with db.connect("materialize") as c:
        threading.Timer(0.5, c.cancel).start()
        before = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled):
            c.execute("SELECT count(*) FROM generate_series(1, 100000000000) a(i) WHERE i % 7 = 3")
        assert time.monotonic() - before < 5
        threading.Timer(0.5, c.cancel).start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            for _ in c.cursor().stream("SELECT i FROM generate_series(1, 100000000000) a(i)"):
                pass
        assert c.execute("SELECT 8").fetchone() == (8,)


def test_cursors(db):
    with db.connect("materialize") as c:
        with c.transaction():
            with c.cursor(name="one") as one, c.cursor(name="two") as two:
                one.execute("SELECT i FROM generate_series(1, 1000) t(i) ORDER BY i")
                two.execute("SELECT %s::int + i AS j FROM generate_series(1, 10) t(i) ORDER BY i", (100,))
                assert one.description[0].name == "i" and one.fetchmany(3) == [(1,), (2,), (3,)]
                assert two.fetchone() == (101,) and len(one.fetchall()) == 997 and len(two.fetchall()) == 9
        with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
            c.execute("DECLARE x CURSOR FOR SELECT 1")
        c.execute("DECLARE h CURSOR WITH HOLD FOR SELECT i FROM generate_series(1, 10) t(i) ORDER BY i")
        assert c.execute("MOVE 4 FROM h").statusmessage == "MOVE 4"
        assert c.execute("FETCH FORWARD 2 FROM h").fetchall() == [(5,), (6,)]
        with pytest.raises(psycopg.errors.DuplicateCursor):
            c.execute("DECLARE h CURSOR WITH HOLD FOR SELECT 1")
        c.execute("CLOSE ALL")
        with pytest.raises(psycopg.errors.InvalidCursorName):
            c.execute("FETCH h")
        with pytest.raises(psycopg.errors.DivisionByZero), c.transaction():
            c.execute("DECLARE z CURSOR FOR SELECT 1 / (i - 3) FROM generate_series(1, 10) t(i)")
            c.execute("FETCH ALL FROM z")
        with pytest.raises(psycopg.errors.InvalidCursorName):
            c.execute("FETCH z")
    assert psql(db, r"\set FETCH_COUNT 10", "SELECT i FROM generate_series(1, 25) t(i)").split() == [str(i) for i in range(1, 26)]


def test_copy(db):
    rows = [(10, "a\tb\\c\nd", D("1.50"), datetime.date(2020, 1, 1)), (11, None, None, None), (12, "", D("-7.00"), datetime.date(1999, 1, 1))]
    columns = "id, name, amount, d"
    with db.connect("materialize") as c:
        c.execute("CREATE TABLE glue_catalog.door.copied (id int, name text, amount numeric(10,2), d date)")
        cur = c.cursor()
        for how in ("", "(FORMAT csv)", "(FORMAT binary)"):
            c.execute("DELETE FROM glue_catalog.door.copied")
            with cur.copy(f"COPY glue_catalog.door.copied ({columns}) FROM STDIN {how}") as cp:
                if "binary" in how:
                    cp.set_types(["int4", "text", "numeric", "date"])
                if "csv" in how:
                    cp.write('10,"a\tb\\c\nd",1.50,2020-01-01\n11,,,\n12,"",-7.00,1999-01-01\n')
                else:
                    for r in rows:
                        cp.write_row(r)
            assert cur.rowcount == 3
            assert c.execute(f"SELECT {columns} FROM glue_catalog.door.copied ORDER BY id").fetchall() == rows
        with cur.copy(f"COPY (SELECT {columns} FROM glue_catalog.door.copied ORDER BY id) TO STDOUT") as cp:
            cp.set_types(["int4", "text", "numeric", "date"])
            assert list(cp.rows()) == rows
        with pytest.raises(psycopg.Error):
            with cur.copy(f"COPY glue_catalog.door.copied ({columns}) FROM STDIN") as cp:
                cp.write("1\t2\n")
        assert c.execute("SELECT count(*) FROM glue_catalog.door.copied").fetchone() == (3,)


def test_copy_lists(db):
    rows = [([1, None, 3], ["a", 'b"c\\', "NULL", None, "", "x, y]"]), (None, []), ([], None)]
    with db.connect("materialize") as c:
        c.execute("CREATE TABLE glue_catalog.door.lists (i int[], t text[])")
        for how, types in (("", None), ("(FORMAT binary)", ["int4[]", "text[]"])):
            c.execute("DELETE FROM glue_catalog.door.lists")
            with c.cursor().copy(f"COPY glue_catalog.door.lists FROM STDIN {how}") as cp:
                if types:
                    cp.set_types(types)
                for r in rows:
                    cp.write_row(r)
            assert c.execute("SELECT i, t FROM glue_catalog.door.lists").fetchall() == rows


# ---- asyncpg, SQLAlchemy, pgjdbc --------------------------------------------------------------------------------------------

def test_asyncpg(db):
    async def main():
        c = await asyncpg.connect(host="127.0.0.1", port=db.port, user=db.key, password=db.secret, database="materialize")
        assert await c.fetchval("SELECT ARRAY[1,2]::int[]") == [1, 2]
        assert await c.fetchval("SELECT $1::numeric(10,2)", D("1.50")) == D("1.50")
        assert [tuple(r) for r in await c.fetch("SELECT id, amount, tags FROM glue_catalog.door.t1 ORDER BY id")] == [(1, D("1.50"), ["x", "y"]), (2, None, None)]
        async with c.transaction():
            assert [r["i"] async for r in c.cursor("SELECT i FROM generate_series(1, 1000) t(i)", prefetch=50)] == list(range(1, 1001))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(c.fetchval("SELECT count(*) FROM generate_series(1, 100000000000) a(i) WHERE i % 7 = 3"), 0.5)
        with pytest.raises(asyncpg.UndefinedColumnError):
            await c.fetchval("SELECT nosuch")
        await c.reset()
        await c.close()

        async with asyncpg.create_pool(host="127.0.0.1", port=db.port, user=db.key, password=db.secret, database="materialize", min_size=1, max_size=4) as p:
            assert sorted(await asyncio.gather(*[p.fetchval("SELECT $1::int", i) for i in range(50)])) == list(range(50))
    asyncio.run(main())


def test_sqlalchemy_reflects(db):
    url = sqlalchemy.URL.create("postgresql+psycopg", db.key, db.secret, "127.0.0.1", db.port, "materialize")
    engine = sqlalchemy.create_engine(url)
    i = sqlalchemy.inspect(engine)
    assert "door" in i.get_schema_names()
    assert "t1" in i.get_table_names("door") and i.get_materialized_view_names("door") == ["m1"]
    columns = {c["name"]: c for c in i.get_columns("t1", schema="door")}
    assert str(columns["amount"]["type"]) == "NUMERIC(10, 2)" and str(columns["tags"]["type"].item_type) == "TEXT" and not columns["id"]["nullable"]
    assert columns["id"]["comment"] == "the key" and i.get_table_comment("t1", schema="door") == {"text": "a table"}
    assert i.get_pk_constraint("t1", "door")["constrained_columns"] == [] and i.get_indexes("t1", "door") == [] and i.get_foreign_keys("t1", "door") == []
    assert i.has_table("t1", schema="door") and not i.has_table("nosuch", schema="door")
    meta = sqlalchemy.MetaData()
    meta.reflect(engine, schema="door", views=True)
    with engine.connect() as c:
        t = meta.tables["door.t1"]
        assert c.execute(sqlalchemy.select(t.c.id, t.c.amount).order_by(t.c.id)).all() == [(1, D("1.50")), (2, None)]


JDBC = """
import java.sql.*;
public class Door {
    static int count(ResultSet r) throws SQLException { int n = 0; while (r.next()) n++; return n; }
    static void is(String what, Object got, Object want) { if (!got.equals(want)) throw new AssertionError(what + ": " + got + " instead of " + want); }
    public static void main(String[] a) throws Exception {
        Connection c = DriverManager.getConnection(a[0], a[1], a[2]);
        DatabaseMetaData m = c.getMetaData();
        is("tables", count(m.getTables(null, "door", "t1", new String[] {"TABLE"})), 1);
        is("columns", count(m.getColumns(null, "door", "t1", "%")), 6);
        is("keys", count(m.getPrimaryKeys(null, "door", "t1")), 0);
        is("imported", count(m.getImportedKeys(null, "door", "t1")), 0);
        is("indexes", count(m.getIndexInfo(null, "door", "t1", false, true)), 0);
        is("best", count(m.getBestRowIdentifier(null, "door", "t1", 0, true)), 0);
        is("types", count(m.getTypeInfo()) > 40, true);
        is("schemas", count(m.getSchemas()) >= 3, true);
        is("functions", count(m.getFunctions(null, null, "nosuch%")), 0);
        m.getUDTs(null, null, "%", null); m.getTablePrivileges(null, "door", "t1"); m.getVersionColumns(null, "door", "t1"); m.getCatalogs();
        PreparedStatement p = c.prepareStatement("SELECT ?::int, ?::text, ?::date, ?::numeric(10,2), ?::timestamp");
        for (int i = 0; i < 8; i++) {                        /* the fifth run is prepared on the server, then binary */
            p.setInt(1, i); p.setString(2, "\\u00e9" + i); p.setDate(3, Date.valueOf("2020-02-29"));
            p.setBigDecimal(4, new java.math.BigDecimal("1.50")); p.setTimestamp(5, Timestamp.valueOf("2020-01-01 01:02:03.5"));
            ResultSet r = p.executeQuery(); r.next();
            is("int", r.getInt(1), i); is("text", r.getString(2), "\\u00e9" + i); is("date", r.getDate(3).toString(), "2020-02-29");
            is("numeric", r.getBigDecimal(4).toString(), "1.50"); is("timestamp", r.getTimestamp(5).toString(), "2020-01-01 01:02:03.5");
        }
        c.setAutoCommit(false);
        Statement s = c.createStatement(); s.setFetchSize(10);
        is("fetched", count(s.executeQuery("SELECT i FROM generate_series(1, 105) t(i)")), 105);
        c.commit(); c.setAutoCommit(true);
        ResultSetMetaData q = c.createStatement().executeQuery("SELECT amount FROM glue_catalog.door.t1").getMetaData();
        is("precision", q.getPrecision(1) + "," + q.getScale(1), "10,2");
        is("valid", c.isValid(3), true);
        c.close();
        System.out.println("done");
    }
}
"""


def test_pgjdbc(db, tmp_path):
    jar = os.environ.get("FIRN_PGJDBC")
    if not jar or not shutil.which("java"):
        pytest.skip("FIRN_PGJDBC is not set, or there is no java")
    (tmp_path / "Door.java").write_text(textwrap.dedent(JDBC))
    r = subprocess.run(["java", "-cp", jar, str(tmp_path / "Door.java"), f"jdbc:postgresql://127.0.0.1:{db.port}/materialize", db.key, db.secret],
                       capture_output=True, text=True, timeout=120)
    assert r.stdout == "done\n", r.stderr


@pytest.mark.parametrize("dbname, table, types", [("materialize", "materialize.public.long_values_{n}", "a bigint, b numeric(12,3), c text, d date, e boolean, f double precision"),
                                                  ("spark", "glue_catalog.{ns}.long_values", "a bigint, b decimal(12,3), c string, d date, e boolean, f double")])
def test_long_values_are_as_many_short_ones(server, ns, dbname, table, types):
    """A long VALUES list takes another way than a short one: the same rows come of both."""
    date = "date '2026-01-02'" if dbname == "spark" else "'2026-01-02'"
    rows = ["(1, 1.5, 'x', DATE, true, 1e3)", "(-2, -0.125, '', DATE, false, -2.5e-3)", "(NULL, NULL, NULL, NULL, NULL, NULL)", "(9223372036854775807, 123456789.123, 'it''s', DATE, true, 0e0)",
            "(2147483648, 7, 'é', DATE, false, 1e0)", "(- 5, - 3.25, 'y', DATE, true, - 1e0)"] * 5
    rows = [r.replace("DATE", date) for r in rows]
    for name, parts in (("long", [rows]), ("short", [rows[i:i + 6] for i in range(0, len(rows), 6)])):
        t = table.format(ns=ns, n=ns) + name
        server.sql(f"CREATE TABLE {t} ({types})", dbname=dbname)
        for part in parts:
            server.sql(f"INSERT INTO {t} VALUES {', '.join(part)}", dbname=dbname)
    long, short = (server.sql(f"SELECT * FROM {table.format(ns=ns, n=ns)}{n}", dbname=dbname) for n in ("long", "short"))
    assert len(long) == 30 and sorted(map(repr, long)) == sorted(map(repr, short))
