# SPDX-License-Identifier: Apache-2.0
"""Functions and small statements of the PostgreSQL door, against values that PostgreSQL, Materialize or a standard document."""
import datetime
import decimal
import hashlib
import hmac
import threading
import time
import uuid
import zlib

import boto3
import psycopg
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("functions") / "data")
    yield s
    s.stop()


class AsSent(psycopg.adapt.Loader):
    """The text of a value as the server sent it."""
    def load(self, data):
        return bytes(data).decode()


@pytest.fixture(scope="module")
def db(server):
    with server.connect("materialize") as c:
        c.adapters.register_loader("interval", AsSent)
        yield c


def one(db, expression, *params):
    return db.execute(f"SELECT {expression}", params, prepare=False).fetchone()[0]


def state(db, sql):
    with pytest.raises(psycopg.Error) as e:
        db.execute(sql)
    return e.value.sqlstate, e.value.diag.message_primary


@pytest.mark.parametrize("expression,text", [
    ("justify_days(interval '35 days')", "1 mon 5 days"),
    ("justify_hours(interval '27 hours')", "1 day 03:00:00"),
    ("justify_interval(interval '1 mon -1 hour')", "29 days 23:00:00"),
    ("justify_days(interval '-35 days')", "-1 mons -5 days"),
    ("justify_days(interval '1 mon -5 days')", "25 days"),
    ("justify_hours(interval '1 day -1 hour')", "23:00:00"),
    ("justify_interval(interval '-1 mon 1 hour')", "-29 days -23:00:00"),
    ("justify_interval(interval '1 year 40 days 25:00:00')", "1 year 1 mon 11 days 01:00:00"),
    ("justify_interval(interval '6 months 3 days 12 hours 3 minutes 2 seconds')", "6 mons 3 days 12:03:02"),
])
def test_justify(db, expression, text):
    assert one(db, expression) == text


def test_justify_columns_and_range(db):
    db.execute("CREATE TABLE spans (i interval)")
    db.execute("INSERT INTO spans VALUES ('29 days 24 hours'), (NULL)")
    assert db.execute("SELECT justify_interval(i) FROM spans ORDER BY i", prepare=False).fetchall() == [("1 mon",), (None,)]
    assert state(db, "SELECT justify_days(interval '2147483647 months' + interval '30 days')") == ("22008", "interval out of range")


@pytest.mark.parametrize("arguments,want", [
    ("'foobarbequebaz', '(bar)(beque)'", ["bar", "beque"]),
    ("'foobarbequebaz', 'bar.*que'", ["barbeque"]),
    ("'foobarbequebaz', 'nothing'", None),
    ("'ABC', 'b'", None),
    ("'ABC', '(b)', 'i'", ["B"]),
    ("'ac', 'a(b)?c'", [None]),
    ("'ac', 'a(b*)c'", [""]),
    ("'x', '(a)|(x)'", [None, "x"]),
    ("NULL, 'a'", None),
    ("'2026-11-30', '^(?P<year>[0-9]{4})-(?:[0-9]{2})-([0-9]{2})$'", ["2026", "30"]),
])
def test_regexp_match(db, arguments, want):
    assert one(db, f"regexp_match({arguments})") == want


def test_interval_text(db):
    for text in ["1 year 2 mons -3 days +04:05:06.7", "-1 mons", "00:00:00", "-00:00:00.000001", "1 day", "-1 days +02:03:00"]:
        assert one(db, f"(interval '{text}')::text") == one(db, f"interval '{text}'") == text
    assert one(db, "'in ' || interval '1 mon'") == "in 1 mon"


def test_csv_extract(db):
    db.execute("CREATE TABLE csvs (id int, data text)")
    db.execute("INSERT INTO csvs VALUES (1, 'some,data'), (2, 'more,data'), (2, 'also,data'), (3, E'\"x,\"\"y\",1\\nz,2\\nshort\\n'), (4, 'a,b,c'), (5, NULL)")
    sql = "SELECT csv.* FROM csvs, csv_extract(2, data) csv ORDER BY 1"
    cursor = db.execute(sql)
    assert [c.name for c in cursor.description] == ["column1", "column2"]
    assert cursor.fetchall() == [("also", "data"), ("more", "data"), ("some", "data"), ('x,"y', "1"), ("z", "2")]
    assert db.execute("SELECT column3 FROM csv_extract(3, 'a,b,c')").fetchall() == [("c",)]
    assert state(db, "SELECT * FROM csv_extract(0, 'a')")[0] == "42883"


def test_in_a_view_that_is_kept(db):
    db.execute("CREATE TABLE kept (a int, t text, i interval)")
    db.execute("CREATE MATERIALIZED VIEW kept_f AS SELECT a, regexp_match(t, '(x)(y)?') AS r, justify_interval(i)::text AS j, kafka_murmur2(t) AS k FROM kept")
    db.execute("CREATE MATERIALIZED VIEW kept_csv AS SELECT kept.a, csv.* FROM kept, csv_extract(2, kept.t) csv")
    db.execute("INSERT INTO kept VALUES (1, 'x,y', '40 days'), (2, 'abc', NULL)")
    assert db.execute("SELECT * FROM kept_f ORDER BY a").fetchall() == [(1, ["x", None], "1 mon 10 days", one(db, "kafka_murmur2('x,y')")), (2, None, None, 479470107)]
    assert db.execute("SELECT * FROM kept_csv").fetchall() == [(1, "x", "y")]
    db.execute("UPDATE kept SET t = 'xy,z' WHERE a = 1")
    assert db.execute("SELECT r FROM kept_f WHERE a = 1").fetchall() == [(["x", "y"],)]
    assert db.execute("SELECT * FROM kept_csv").fetchall() == [(1, "xy", "z")]


def test_parse_ident(db):
    assert one(db, """parse_ident('"SomeSchema".someTable')""") == ["SomeSchema", "sometable"]
    assert one(db, "parse_ident('foo.bar[1]', false)") == ["foo", "bar"]
    assert one(db, """parse_ident(' first . "  second  " ." third   ".   fourth ')""") == ["first", "  second  ", " third   ", "fourth"]
    assert state(db, "SELECT parse_ident('foo.bar[1]')") == ("22023", 'string is not a valid identifier: "foo.bar[1]"')


def test_map_build(db):
    assert one(db, "map_build(ARRAY[ROW('b', 1), ROW('a', 2), ROW('b', 3)])") in ({"a": 2, "b": 3}, "{a=>2,b=>3}")
    assert one(db, "map_build(ARRAY[ROW('b', 1), ROW('b', 3)]) -> 'b'") == 3


def test_regexp_match_refuses_what_it_cannot_tell(db):
    assert state(db, "SELECT regexp_match('abc', 'a(b*)?c')")[0] == "0A000"
    assert state(db, "SELECT regexp_match('abc', 'a', 'g')")[0] == "22023"
    db.execute("CREATE TABLE patterns (p text)")
    assert state(db, "SELECT regexp_match('abc', p) FROM patterns")[0] == "0A000"


def test_strip_nulls(db):
    assert one(db, """jsonb_strip_nulls('[{"f1":1,"f2":null},2,null,3]')""") == [{"f1": 1}, 2, None, 3]
    assert one(db, """jsonb_strip_nulls('{"a":{"b":null,"c":{"d":null}}}')""") == {"a": {"c": {}}}


@pytest.mark.parametrize("name", ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"])
def test_digests(db, name):
    assert one(db, f"digest('firn', '{name}')") == hashlib.new(name, b"firn").digest()
    assert one(db, f"hmac('firn', 'key', '{name}')") == hmac.new(b"key", b"firn", name).digest()
    if name in ("sha224", "sha256", "sha384", "sha512"):
        assert one(db, f"{name}('firn'::bytea)") == hashlib.new(name, b"firn").digest()


def test_hashes(db):
    assert int(one(db, "crc32('firn')")) == zlib.crc32(b"firn") == int(one(db, "crc32('firn'::bytea)"))          # uint4 and uint8: the driver knows no such types
    # the vectors of Kafka's own test, without the sign bit
    for text, want in [("21", -973932308), ("foobar", -790332482), ("a-little-bit-long-string", -985981536), ("a-little-bit-longer-string", -1486304829),
                       ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971), ("abc", 479470107)]:
        assert one(db, "kafka_murmur2(%s)", text) == want & 0x7FFFFFFF
    assert int(one(db, "seahash('to be or not to be')")) == 1988685042348123509       # the vector of the reference implementation


def test_uuid_v5(db):
    assert one(db, "uuid_generate_v5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')") == uuid.uuid5(uuid.NAMESPACE_DNS, "www.example.com")
    assert one(db, "uuid_generate_v5('6ba7b811-9dad-11d1-80b4-00c04fd430c8'::uuid, '')") == uuid.uuid5(uuid.NAMESPACE_URL, "")


def test_array_fill(db):
    assert one(db, "array_fill(7, ARRAY[3])") == [7, 7, 7]
    assert one(db, "array_fill('x'::text, ARRAY[0])") == []
    assert state(db, "SELECT array_fill(1, NULL)") == ("22004", "dimension array or low bound array cannot be null")
    assert state(db, "SELECT array_fill(1, ARRAY[2] || ARRAY[2])")[0] == "0A000"


def test_iso8601(db):
    assert one(db, "try_parse_monotonic_iso8601_timestamp('2015-09-18T23:56:04.123Z')") == datetime.datetime(2015, 9, 18, 23, 56, 4, 123000)
    for text in ["nope", "2015-09-18 23:56:04.123Z", "2015-09-18T23:56:04Z", "2015-13-18T23:56:04.123Z", "2015-02-29T23:56:04.123Z", "2015-09-18T24:00:00.000Z", "2015-09-18T23:56:60.000Z"]:
        assert one(db, "try_parse_monotonic_iso8601_timestamp(%s)", text) is None, text


def test_default_values(db):
    db.execute("CREATE TABLE defaults (a int DEFAULT 7, b text, c numeric(5,2) DEFAULT 1.5)")
    assert db.execute("INSERT INTO defaults DEFAULT VALUES").rowcount == 1
    with db.transaction():
        db.execute("INSERT INTO defaults DEFAULT VALUES")
        db.execute("INSERT INTO defaults DEFAULT VALUES")
    assert db.execute("SELECT * FROM defaults").fetchall() == [(7, None, decimal.Decimal("1.50"))] * 3
    assert db.execute("INSERT INTO defaults DEFAULT VALUES RETURNING a, c").fetchall() == [(7, decimal.Decimal("1.50"))]
    assert state(db, "INSERT INTO defaults (a) DEFAULT VALUES")[0] == "42601"
    db.execute("CREATE TABLE strict (a int NOT NULL)")
    assert state(db, "INSERT INTO strict DEFAULT VALUES")[0] == "23502"


def test_the_code_is_not_part_of_the_text(db):
    assert state(db, "SELECT digest('a', 'sha3')") == ("22023", "invalid hash algorithm 'sha3'")
    assert state(db, "SELECT repeat('x', 100000000)") == ("54000", "the result of the function would be too large")
    assert state(db, "SELECT 1 / 0") == ("22012", "division by zero")


SLOW = "SELECT count(*) FROM generate_series(1, 400000) a, generate_series(1, 400000) b WHERE a + b = 7"


def cancelled(slow, cancel):
    """What the session that runs SLOW hears when the other one cancels it; whether that one was told true."""
    pid = slow.execute("SELECT pg_backend_pid()").fetchone()[0]
    heard = []

    def run():
        try:
            slow.execute(SLOW)
        except psycopg.Error as e:
            heard.append(e.sqlstate)

    t = threading.Thread(target=run)
    t.start()
    time.sleep(0.5)
    try:
        return cancel.execute("SELECT pg_cancel_backend(%s)", (pid,)).fetchone()[0], heard, t
    except psycopg.Error as e:
        return e.sqlstate, heard, t


def test_cancel_backend(server, db):
    with server.connect("materialize") as slow:
        told, heard, t = cancelled(slow, db)
        t.join(20)
        assert told is True and heard == ["57014"]
        assert slow.execute("SELECT 1").fetchone() == (1,)                           # the session goes on
    cursor = db.execute("SELECT pg_cancel_backend(123456789)")
    assert cursor.description[0].name == "pg_cancel_backend" and cursor.fetchall() == [(False,)]
    assert one(db, "pg_cancel_backend(NULL)") is None


def test_cancel_backend_asks(server, db):
    iam = boto3.client("iam", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")

    def user(name):
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return psycopg.connect(host="127.0.0.1", port=server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True)

    for name in ("ann", "bob"):
        iam.create_user(UserName=name)
    with user("ann") as ann, user("ann") as again, user("bob") as bob:
        for c in (ann, again, bob):
            c.execute("SELECT 1")
        told, heard, t = cancelled(ann, bob)
        assert told == "42501" and not heard
        assert again.execute("SELECT pg_cancel_backend(%s)", (ann.info.backend_pid,)).fetchone() == (True,)      # the same role
        t.join(20)
        assert heard == ["57014"]
        told, heard, t = cancelled(bob, db)                                          # a superuser
        t.join(20)
        assert told is True and heard == ["57014"]


def test_cancel_backend_stands_alone(db):
    for sql in ["SELECT pg_cancel_backend(1) FROM generate_series(1, 2)", "SELECT 1 WHERE pg_cancel_backend(1)", "SELECT * FROM (SELECT pg_cancel_backend(1)) x"]:
        assert state(db, sql) == ("0A000", "pg_cancel_backend in this position not yet supported"), sql
    assert state(db, "CREATE MATERIALIZED VIEW cancels AS SELECT pg_cancel_backend(1)")[0] == "0A000"


# ---- to_char, ROWS FROM -----------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value,pattern,text", [                                   # as PostgreSQL 15 has them; more of them in src/codec/test_time_char.c
    ("timestamp '2024-02-29 13:05:09.123456'", "YYYY-MM-DD HH24:MI:SS.US", "2024-02-29 13:05:09.123456"),
    ("timestamptz '2024-02-29 13:05:09+02'", "FMDay, FMDDth FMMonth YYYY HH12:MI am TZ OF", "Thursday, 29th February 2024 11:05 am UTC +00"),
    ("date '2021-01-03'", 'IYYY-"W"IW-ID Q DDD', "2020-W53-7 1 003"),
    ("timestamp 'infinity'", "YYYY", None),
    ("NULL::timestamp", "YYYY", None),
])
def test_to_char(db, value, pattern, text):
    assert one(db, f"to_char({value}, '{pattern}')") == text


def test_to_char_in_views(db):
    assert "to_char" in state(db, "SELECT to_char(interval '1 day', 'DD')")[1]
    db.execute("CREATE TABLE tc (at timestamp, n int)")
    db.execute("INSERT INTO tc VALUES ('2024-02-29 10:00', 1), ('2024-02-01 00:00', 2), ('2024-03-01 00:00', 4)")
    db.execute("CREATE MATERIALIZED VIEW tc_by_month AS SELECT to_char(at, 'Mon YYYY') AS month, sum(n) AS n FROM tc GROUP BY 1")
    db.execute("DELETE FROM tc WHERE n = 2")
    db.execute("INSERT INTO tc VALUES ('2024-03-31 23:59:59', 8)")
    assert db.execute("SELECT * FROM tc_by_month ORDER BY n").fetchall() == [("Feb 2024", 1), ("Mar 2024", 12)]
    db.execute("DROP TABLE tc CASCADE")


@pytest.mark.parametrize("sql,want", [
    ("SELECT * FROM ROWS FROM (generate_series(1, 3), generate_series(10, 11))", [(1, 10), (2, 11), (3, None)]),
    ("SELECT t.a, t.b, t.n FROM ROWS FROM (generate_series(1, 2), unnest(ARRAY['x', 'y', 'z'])) WITH ORDINALITY AS t(a, b, n)", [(1, "x", 1), (2, "y", 2), (None, "z", 3)]),
    ("SELECT * FROM ROWS FROM (unnest(ARRAY[1, 2], ARRAY['a']), abs(-5)) AS t(a, b, c)", [(1, "a", 5), (2, None, None)]),
    ("SELECT * FROM ROWS FROM (jsonb_array_elements_text('[\"p\", \"q\"]'), regexp_split_to_table('1,2,3', ',')) AS t(a, b)", [("p", "1"), ("q", "2"), (None, "3")]),
    ("SELECT x FROM ROWS FROM (generate_series(1, 2)) AS x", [(1,), (2,)]),
    ("SELECT generate_series, unnest FROM ROWS FROM (generate_series(1, 1), unnest(ARRAY[]::int[]))", [(1, None)]),
    ("SELECT * FROM ROWS FROM (generate_series(3, 1), unnest(NULL::int[])) WITH ORDINALITY", []),
    ("SELECT v.n, t.* FROM (VALUES (1), (2)) v(n), ROWS FROM (generate_series(1, v.n), unnest(ARRAY[v.n * 10])) AS t(a, b) ORDER BY 1, 2", [(1, 1, 10), (2, 1, 20), (2, 2, None)]),
    ("SELECT * FROM unnest(ARRAY[1], ARRAY[2, 3]) WITH ORDINALITY", [(1, 2, 1), (None, 3, 2)]),
])
def test_rows_from(db, sql, want):
    assert db.execute(sql).fetchall() == want


def test_rows_from_in_views(db):
    assert "aggregate functions are not allowed" in state(db, "SELECT * FROM ROWS FROM (count(1))")[1]
    assert state(db, "SELECT * FROM ROWS FROM (1)")[0] == "42601" and state(db, "SELECT * FROM ROWS FROM ()")[0] == "42601"
    db.execute("CREATE TABLE rf (a int[], b text[])")
    db.execute("INSERT INTO rf VALUES (ARRAY[1, 2], ARRAY['x']), (ARRAY[3], ARRAY['y', 'z'])")
    db.execute("CREATE MATERIALIZED VIEW rf_v AS SELECT t.n, count(t.a) AS a, count(t.b) AS b FROM rf, ROWS FROM (unnest(rf.a), unnest(rf.b)) WITH ORDINALITY AS t(a, b, n) GROUP BY t.n")
    assert db.execute("SELECT * FROM rf_v ORDER BY n").fetchall() == [(1, 2, 2), (2, 1, 1)]
    db.execute("DELETE FROM rf WHERE a = ARRAY[3]")
    db.execute("INSERT INTO rf VALUES (NULL, ARRAY['p', 'q', 'r'])")
    assert db.execute("SELECT * FROM rf_v ORDER BY n").fetchall() == [(1, 1, 2), (2, 1, 1), (3, 0, 1)]
    db.execute("DROP TABLE rf CASCADE")


# ---- arrays of several dimensions ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("expression,want", [                                       # as PostgreSQL 15
    ("cardinality(ARRAY[[1,2,3],[4,5,6]])", 6), ("array_length(ARRAY[[1,2,3],[4,5,6]], 2)", 3), ("array_upper(ARRAY[[[1],[2]]], 3)", 1),
    ("array_to_string(ARRAY[[1,2],[3,NULL]], ',')", "1,2,3"), ("array_to_string(ARRAY[[1,2],[3,NULL]], ',', '*')", "1,2,3,*"),
    ("array_cat(ARRAY[[1,2]], ARRAY[3,4])", [[1, 2], [3, 4]]), ("array_cat(ARRAY[3,4], ARRAY[[1,2]])", [[3, 4], [1, 2]]), ("array_cat(ARRAY[1], ARRAY[2])", [1, 2]),
    ("array_cat(NULL, ARRAY[2])", [2]),
    ("(SELECT array_agg(x) FROM unnest(ARRAY[[1,2],[3,4]]) x)", [1, 2, 3, 4]), ("(SELECT array_agg(x) FROM (SELECT unnest(ARRAY[[[1],[2]],[[3],[4]]]) AS x) q)", [1, 2, 3, 4]),
    ("(SELECT array_agg(n ORDER BY n) FROM unnest(ARRAY[[1,2],[3,4]]) WITH ORDINALITY AS t(x, n))", [1, 2, 3, 4]),
    ("(SELECT array_agg(x) FROM generate_subscripts(ARRAY[[1,2,3],[4,5,6]], 2) x)", [1, 2, 3]), ("(SELECT array_agg(x) FROM generate_subscripts(ARRAY[4,5,6], 1, true) x)", [3, 2, 1]),
    ("(SELECT count(*) FROM generate_subscripts(ARRAY[4,5,6], 2) x)", 0),
    ("2 = ANY (ARRAY[[1,2],[3,4]])", True), ("5 <> ALL (ARRAY[[5,4],[5,5]])", False), ("5 = ALL (ARRAY[[5,5],[5,5]])", True),
    ("array_fill(7, ARRAY[2,3])", [[7, 7, 7], [7, 7, 7]]), ("array_fill(7, ARRAY[3])", [7, 7, 7]),
])
def test_several_dimensions(db, expression, want):
    assert one(db, expression) == want


def test_several_dimensions_refused(db):
    assert state(db, "SELECT ARRAY[[1,2],[3]]") == ("2202E", "multidimensional arrays must have array expressions with matching dimensions")
    for f in ("array_position", "array_remove", "array_append"):
        assert "array" in state(db, f"SELECT {f}(ARRAY[[1,2]], 2)")[1] and state(db, f"SELECT {f}(ARRAY[[1,2]], 2)")[0] == "0A000"
    assert state(db, "SELECT array_fill(1, ARRAY[100000, 100000])")[0] == "54000"
    assert state(db, "SELECT array_fill(1, ARRAY[1,1,1,1,1,1,1])")[0] == "54000"


def test_lists_of_lists_are_not_arrays(db):
    assert db.execute("SELECT unnest(LIST[LIST[1,2],LIST[3]])::text").fetchall() == [("{1,2}",), ("{3}",)]
    assert db.execute("SELECT x::text FROM unnest(LIST[LIST[1,2],LIST[3]]) x").fetchall() == [("{1,2}",), ("{3}",)]
    db.execute("CREATE TABLE ll (l int list list)")
    db.execute("INSERT INTO ll VALUES (LIST[LIST[1,2],LIST[3]])")
    assert db.execute("SELECT x::text FROM ll, unnest(l) x").fetchall() == [("{1,2}",), ("{3}",)]
    db.execute("DROP TABLE ll")
