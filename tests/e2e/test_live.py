# SPDX-License-Identifier: Apache-2.0
"""Internal tables and continuous views, through psycopg and psql: names of database materialize, kept in step by ticks."""
import subprocess
import threading

import psycopg
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("live") / "data")
    yield s
    s.stop()


def rows(db, sql):
    return db.execute(sql, prepare=False).fetchall()


def test_a_table(db):
    db.execute("CREATE TABLE t (id int NOT NULL, name text, price numeric(10,2) DEFAULT 1.5, at timestamptz, tags text[], doc jsonb)")
    db.execute("INSERT INTO t VALUES (1, 'a', 2.25, '2026-11-30 10:00:00+00', ARRAY['x','y'], '{\"k\": 1}'), (2, NULL, NULL, NULL, NULL, NULL)")
    db.execute("INSERT INTO t (id, name) VALUES (%s, %s)", (3, "c"))
    assert rows(db, "SELECT id, name, price FROM t ORDER BY id") == [(1, "a", pytest.approx(2.25)), (2, None, None), (3, "c", pytest.approx(1.5))]
    assert rows(db, "SELECT tags FROM materialize.public.t WHERE id = 1") == [(["x", "y"],)]
    db.execute("UPDATE t SET price = price + 1, name = upper(name) WHERE id <> 2")
    assert rows(db, "SELECT name, price::text FROM public.t WHERE id = 3") == [("C", "2.50")]
    assert db.execute("DELETE FROM t WHERE id = 2").rowcount == 1
    assert rows(db, "SELECT count(*) FROM t") == [(2,)]
    with pytest.raises(psycopg.errors.NotNullViolation):
        db.execute("INSERT INTO t (name) VALUES ('x')")
    with pytest.raises(psycopg.errors.DuplicateObject):
        db.execute("CREATE TABLE t (a int)")
    db.execute("CREATE TABLE IF NOT EXISTS t (a int)")
    with db.cursor() as c, c.copy("COPY t (id, name) FROM STDIN") as copy:
        copy.write_row((7, "seven"))
    assert rows(db, "SELECT price::text FROM t WHERE id = 7") == [("1.50",)]
    db.execute("DROP TABLE t")
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("SELECT * FROM t")


def test_a_multiset(db):
    db.execute("CREATE TABLE bag (a int)")
    db.execute("INSERT INTO bag VALUES (1), (1), (1)")
    assert rows(db, "SELECT count(*) FROM bag") == [(3,)]
    db.execute("INSERT INTO bag SELECT a + 1 FROM bag")
    assert rows(db, "SELECT a, count(*) FROM bag GROUP BY a ORDER BY a") == [(1, 3), (2, 3)]
    db.execute("TRUNCATE bag")
    assert rows(db, "SELECT * FROM bag") == []


def test_views_follow(db):
    db.execute("CREATE TABLE orders (id int, customer int, amount numeric(10,2))")
    db.execute("CREATE TABLE customers (id int, region text)")
    db.execute("CREATE VIEW big AS SELECT * FROM orders WHERE amount >= 10")
    db.execute("""CREATE MATERIALIZED VIEW by_region AS SELECT c.region, count(*) AS n, sum(o.amount) AS total
                  FROM big o JOIN customers c ON c.id = o.customer GROUP BY c.region""")
    db.execute("CREATE MATERIALIZED VIEW rich AS SELECT region FROM by_region WHERE total > 100")
    db.execute("INSERT INTO customers VALUES (1, 'north'), (2, 'south')")
    db.execute("INSERT INTO orders VALUES (1, 1, 50), (2, 2, 5), (3, 1, 60)")
    assert rows(db, "SELECT region, n, total::text FROM by_region") == [("north", 2, "110.00")]
    assert rows(db, "SELECT * FROM rich") == [("north",)]
    db.execute("UPDATE orders SET amount = 20 WHERE id = 2")
    db.execute("DELETE FROM orders WHERE id = 1")
    assert rows(db, "SELECT region, n, total::text FROM by_region ORDER BY region") == [("north", 1, "60.00"), ("south", 1, "20.00")]
    assert rows(db, "SELECT * FROM rich") == []
    with pytest.raises(psycopg.errors.DependentObjectsStillExist, match="still depended upon by"):
        db.execute("DROP TABLE orders")
    with pytest.raises(psycopg.Error):
        db.execute("INSERT INTO by_region VALUES ('x', 1, 1)")
    db.execute("CREATE OR REPLACE MATERIALIZED VIEW rich AS SELECT region FROM by_region WHERE total > 15")
    assert rows(db, "SELECT * FROM rich ORDER BY 1") == [("north",), ("south",)]
    db.execute("DROP TABLE customers CASCADE")
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("SELECT * FROM by_region")


def test_a_view_that_divides_by_zero_heals(db):
    db.execute("CREATE TABLE pairs (a int, b int)")
    db.execute("CREATE MATERIALIZED VIEW q AS SELECT sum(a / b) AS q FROM pairs")
    db.execute("INSERT INTO pairs VALUES (10, 2), (1, 0)")
    with pytest.raises(psycopg.Error, match="division by zero"):
        db.execute("SELECT * FROM q")
    db.execute("DELETE FROM pairs WHERE b = 0")
    assert rows(db, "SELECT q::int FROM q") == [(5,)]


def test_lost_updates_do_not_happen(server, db):
    db.execute("CREATE TABLE counter (n int)")
    db.execute("INSERT INTO counter VALUES (0)")

    def bump():
        with server.connect("materialize") as c:
            for _ in range(20):
                c.execute("UPDATE counter SET n = n + 1")

    threads = [threading.Thread(target=bump) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert rows(db, "SELECT n FROM counter") == [(80,)]


def test_only_root(server, db, tmp_path):
    db.execute("CREATE TABLE mine (a int)")
    import boto3
    iam = boto3.client("iam", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    iam.create_user(UserName="lou")
    key = iam.create_access_key(UserName="lou")["AccessKey"]
    with psycopg.connect(host="127.0.0.1", port=server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True) as c:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            c.execute("SELECT * FROM mine")


def test_together_with_the_lake(server, db):
    server.sql("CREATE NAMESPACE IF NOT EXISTS glue_catalog.liv")
    server.sql("CREATE TABLE glue_catalog.liv.dim (id INT, label STRING)")
    server.sql("INSERT INTO glue_catalog.liv.dim VALUES (1, 'one')")
    db.execute("CREATE TABLE facts (id int)")
    db.execute("INSERT INTO facts VALUES (1), (2)")
    assert rows(db, "SELECT f.id, d.label FROM facts f LEFT JOIN glue_catalog.liv.dim d ON d.id = f.id ORDER BY 1") == [(1, "one"), (2, None)]
    with pytest.raises(psycopg.Error, match="can read only internal tables"):
        db.execute("CREATE MATERIALIZED VIEW mixed AS SELECT f.id FROM facts f JOIN glue_catalog.liv.dim d ON d.id = f.id")


def test_kill(server, tmp_path):
    s = Server(tmp_path / "data")
    with s.connect("materialize") as c:
        c.execute("CREATE TABLE k (a int)")
        c.execute("CREATE MATERIALIZED VIEW ks AS SELECT count(*) AS n, sum(a) AS s FROM k")
        for i in range(20):
            c.execute(f"INSERT INTO k VALUES ({i})")
    s.kill()
    s = Server(tmp_path / "data")
    with s.connect("materialize") as c:
        assert c.execute("SELECT n, s::int FROM ks").fetchall() == [(20, 190)]
        c.execute("INSERT INTO k VALUES (100)")
        assert c.execute("SELECT n, s::int FROM ks").fetchall() == [(21, 290)]
    s.stop()


def test_psql(server):
    out = subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", server.key, "-d", "materialize", "-At", "-c", "CREATE TABLE p (a int)", "-c", "INSERT INTO p VALUES (5)", "-c", "TABLE p"],
                         env={"PGPASSWORD": server.secret, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert out.stdout.split("\n")[2] == "5"


def test_psql_describes(server, db):
    db.execute("CREATE TABLE described (a int NOT NULL, b numeric(12,3))")
    db.execute("CREATE MATERIALIZED VIEW described_mv AS SELECT a, count(*) AS n FROM described GROUP BY a")

    def psql(command):
        r = subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", server.key, "-d", "materialize", "-c", command],
                           env={"PGPASSWORD": server.secret, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        return r.stdout

    assert "described_mv" in psql("\\dm") and "described" in psql("\\dt")
    assert "numeric(12,3)" in psql("\\d described") and "not null" in psql("\\d described")


def drain(cursor, n):
    """Rows of a subscription until there are n."""
    got = []
    while len(got) < n:
        got += cursor.execute("FETCH ALL c WITH (timeout = '5s')").fetchall()
    return got


def test_subscribe(server, db):
    db.execute("CREATE TABLE s (k int, v text)")
    db.execute("INSERT INTO s VALUES (1, 'a')")
    with server.connect("materialize") as c:
        cur = c.cursor()
        cur.execute("BEGIN")
        cur.execute("DECLARE c CURSOR FOR SUBSCRIBE s")
        first = drain(cur, 1)
        assert [tuple(r[1:]) for r in first] == [(1, 1, "a")]
        db.execute("UPDATE s SET v = 'b' WHERE k = 1")
        both = drain(cur, 2)
        assert sorted(tuple(r[1:]) for r in both) == [(-1, 1, "a"), (1, 1, "b")]
        assert both[0][0] == both[1][0] > first[0][0]                     # one timestamp
        assert cur.execute("FETCH ALL c WITH (timeout = '0s')").fetchall() == []
        cur.execute("COMMIT")


def test_subscribe_to_a_query_by_copy(server, db):
    db.execute("CREATE TABLE sq (k int, v int)")
    db.execute("INSERT INTO sq VALUES (1, 10), (1, 5)")
    with server.connect("materialize") as c, c.cursor() as cur:
        with cur.copy("COPY (SUBSCRIBE (SELECT k, sum(v) AS s FROM sq GROUP BY k) WITH (PROGRESS)) TO STDOUT") as copy:
            lines = (row[1:] for row in copy.rows())
            assert next(lines) == ("t", None, None, None)
            assert next(lines) == ("f", "1", "1", "15")
            db.execute("INSERT INTO sq VALUES (1, 100)")
            seen = set()
            while len(seen) < 2:
                f = next(lines)
                if f[0] == "f":
                    seen.add(f[1:])
            assert seen == {("-1", "1", "15"), ("1", "1", "115")}
            c.cancel()
            with pytest.raises(psycopg.errors.QueryCanceled):
                for _ in lines:
                    pass


def test_subscribe_envelopes(server, db):
    db.execute("CREATE TABLE e (k int, v text)")
    db.execute("INSERT INTO e VALUES (1, 'a'), (2, 'b')")
    with server.connect("materialize") as c:
        cur = c.cursor()
        cur.execute("BEGIN")
        cur.execute("DECLARE c CURSOR FOR SUBSCRIBE e ENVELOPE UPSERT (KEY (k)) WITH (SNAPSHOT = false)")
        db.execute("UPDATE e SET v = 'c' WHERE k = 1")
        assert [tuple(r[1:]) for r in drain(cur, 1)] == [("upsert", 1, "c")]
        db.execute("DELETE FROM e WHERE k = 2")
        assert [tuple(r[1:]) for r in drain(cur, 1)] == [("delete", 2, None)]
        db.execute("INSERT INTO e VALUES (5, 'x'), (5, 'y')")
        assert [tuple(r[1:]) for r in drain(cur, 1)] == [("key_violation", 5, None)]
        cur.execute("COMMIT")
        cur.execute("BEGIN")
        cur.execute("DECLARE c CURSOR FOR SUBSCRIBE e ENVELOPE DEBEZIUM (KEY (k)) WITH (SNAPSHOT = false)")
        db.execute("UPDATE e SET v = 'd' WHERE k = 1")
        assert [tuple(r[1:]) for r in drain(cur, 1)] == [("upsert", 1, "c", "d")]
        db.execute("INSERT INTO e VALUES (9, 'n')")
        assert [tuple(r[1:]) for r in drain(cur, 1)] == [("insert", 9, None, "n")]
        cur.execute("COMMIT")


def test_subscribe_up_to(server, db):
    db.execute("CREATE TABLE u (k int)")
    db.execute("INSERT INTO u VALUES (3), (1), (2)")
    import time
    up_to = int(time.time() * 1000) + 1500
    got = rows(db, f"SUBSCRIBE u WITHIN TIMESTAMP ORDER BY k DESC UP TO {up_to}")
    assert [r[2] for r in got] == [3, 2, 1]
    with pytest.raises(psycopg.Error, match="greater than its upper bound"):
        rows(db, f"SUBSCRIBE u AS OF {up_to + 10**6} UP TO {up_to}")
    with pytest.raises(psycopg.Error, match="is not valid for all inputs"):
        rows(db, "SUBSCRIBE u AS OF 1")
    with pytest.raises(psycopg.errors.UndefinedTable):
        rows(db, "SUBSCRIBE nowhere")


def test_subscriptions_leave_nothing_behind(server, db):
    assert rows(db, "SELECT count(*) FROM pg_catalog.pg_class WHERE relname LIKE 'r1%'") == [(0,)]


def test_transactions_insert_or_read(server, db):
    db.execute("CREATE TABLE x1 (a int)")
    db.execute("CREATE TABLE x2 (a int)")
    db.execute("CREATE MATERIALIZED VIEW x12 AS SELECT x1.a FROM x1 JOIN x2 ON x1.a = x2.a")
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute("INSERT INTO x1 VALUES (1)")
        c.execute("INSERT INTO x2 VALUES (1)")
        assert rows(db, "SELECT count(*) FROM x1") == [(0,)]
        with pytest.raises(psycopg.Error, match="write-only mode"):
            c.execute("SELECT * FROM x1")
        c.execute("ROLLBACK")
        assert rows(db, "SELECT count(*) FROM x1") == [(0,)]
        c.execute("BEGIN")
        c.execute("INSERT INTO x1 VALUES (1)")
        c.execute("INSERT INTO x2 VALUES (1)")
        c.execute("COMMIT")
        assert rows(db, "SELECT * FROM x12") == [(1,)]
        c.execute("BEGIN")
        with pytest.raises(psycopg.Error, match="UPDATE cannot be run inside a transaction block"):
            c.execute("UPDATE x1 SET a = 2")
        c.execute("ROLLBACK")


def test_show(db):
    db.execute("CREATE TABLE shown (a int NOT NULL DEFAULT 5, b text)")
    db.execute("CREATE MATERIALIZED VIEW shown_mv AS SELECT a FROM shown")
    assert ("shown", "") in [tuple(r) for r in rows(db, "SHOW TABLES")]
    assert ("shown_mv", "materialized-view", "") in [tuple(r) for r in rows(db, "SHOW OBJECTS")]
    assert rows(db, "SHOW COLUMNS FROM shown") == [("a", False, "integer", ""), ("b", True, "text", "")]
    assert rows(db, "SHOW CREATE TABLE shown")[0][1] == "CREATE TABLE materialize.public.shown (a integer NOT NULL DEFAULT 5, b text);"
    assert rows(db, "SHOW CREATE MATERIALIZED VIEW shown_mv")[0][1] == "CREATE MATERIALIZED VIEW materialize.public.shown_mv IN CLUSTER quickstart AS SELECT a FROM materialize.public.shown;"


def test_time_goes_on_where_nothing_is_written(server, db):
    db.execute("CREATE TABLE quiet (a int)")
    with server.connect("materialize") as c, c.cursor() as cur:
        with cur.copy("COPY (SUBSCRIBE quiet WITH (PROGRESS)) TO STDOUT") as copy:
            lines = copy.rows()
            times = [int(next(lines)[0]) for _ in range(4)]                # the start, its end, and two seconds later
            assert times[3] > times[2] > times[0]
            assert times[3] - times[2] >= 900
            c.cancel()
            with pytest.raises(psycopg.errors.QueryCanceled):
                for _ in lines:
                    pass
