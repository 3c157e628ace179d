# SPDX-License-Identifier: Apache-2.0
"""The SQL of the materialize database: operators, functions and their errors at the edges, and in continuous views."""
import psycopg
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("livesql") / "data")
    yield s
    s.stop()


@pytest.fixture(scope="module")
def db(server):
    with server.connect("materialize") as c:
        yield c


def texts(db, select):
    """The values of the only row, as they are sent."""
    r = db.pgconn.exec_(f"SELECT {select}".encode())
    assert not r.error_message, r.error_message
    assert r.ntuples == 1
    return [None if (v := r.get_value(0, i)) is None else v.decode() for i in range(r.nfields)]


def fails(db, select, sqlstate, words=""):
    with pytest.raises(psycopg.Error) as e:
        db.execute(f"SELECT {select}", prepare=False)
    assert e.value.sqlstate == sqlstate, e.value
    assert words in str(e.value)


def test_null_arguments(db):
    assert texts(db, "substr('hello', NULL, 3), substr('hello', 2, NULL), lpad('x', NULL, 'y'), rpad('x', NULL), repeat('x', NULL), split_part('a', NULL, 1)") == [None] * 6
    assert texts(db, "array_upper(ARRAY[1], NULL), '[1]'::jsonb -> NULL::int, NULL::jsonb || '1', '{}'::jsonb - NULL::text") == [None] * 4


def test_strings_at_the_edges(db):
    assert texts(db, "substr('abcdef', -2, 5), substr('abcdef', 2, 2147483647), substr('abc', -2147483648), lpad('abc', 5, ''), lpad('abc', 2, '')") == ["ab", "bcdef", "abc", "abc", "ab"]
    assert texts(db, "split_part('abc', '', 1), split_part('abc', '', 2), split_part('a-b-c', '-', -1), concat(true, 1, false, NULL)") == ["abc", "", "c", "t1f"]
    fails(db, "substr('abc', 2, -1)", "22011", "negative substring length not allowed")
    fails(db, "split_part('abc', 'b', 0)", "22023", "field position must not be zero")
    fails(db, "chr(0)", "54000", "null character not permitted")
    fails(db, "chr(-1)", "54000", "too large for encoding: -1")
    fails(db, "chr(55296)", "54000", "not valid for encoding")


def test_shifts_count_modulo_the_width(db):
    assert texts(db, "1::int4 << 33, 1::int8 << 65, 1::int2 << 15, -32767::int2 >> 20, (-9)::int8 >> -63, 3::int4 << 31") == ["2", "2", "-32768", "-1", "-5", "-2147483648"]


def test_functions_without_a_value(db):
    for call, state in [("sqrt(-1)", "2201F"), ("ln(0)", "2201E"), ("log10(-1.0)", "2201E"), ("log(2, 0)", "2201E"), ("pow(0, -1)", "2201F"), ("power(-2, 0.5)", "2201F"),
                        ("power(10, 400)", "22003"), ("asin(2)", "22003"), ("acos(-1.5)", "22003"), ("acosh(0.5)", "22003"), ("atanh(2)", "22003"), ("log(1, 5)", "22012")]:
        fails(db, call, state)
    assert texts(db, "log(2, 64), log(3, 243), log(100), power(2, -2), sqrt('NaN'::float8), ln(NULL)") == ["6", "5", "2", "0.25", "NaN", None]


def test_dimensions(db):
    assert texts(db, "array_length(ARRAY[[1, 2], [3, 4], [5, 6]], 2), array_length(ARRAY[[1, 2]], 1), array_length(ARRAY[1], 2), array_lower(ARRAY['a'], 0), array_upper(ARRAY[7, 8], 1)") \
        == ["2", "1", None, None, "2"]


def test_type_names(db):
    assert texts(db, "pg_typeof('1'), pg_typeof(text '1'), pg_typeof(1.50), pg_typeof(1.5::numeric(10, 4)), pg_typeof(ARRAY[1.5])") == ["unknown", "text", "numeric", "numeric", "numeric[]"]
    assert db.execute("SELECT pg_typeof(max(x)) FROM (VALUES (1::int2), (2::int2)) t(x)").fetchall() == [("smallint",)]


def test_real_to_numeric(db):
    assert texts(db, "1.3::real::numeric(10, 3), (-0.1)::real::numeric(10, 8), true::int, 0::bool") == ["1.300", "-0.10000000", "1", "f"]
    for cast in ("1.5::bool", "true::numeric", "1::int2::bool", "1::jsonb", "true::jsonb", "'\"2020-01-01\"'::jsonb::date"):
        fails(db, cast, "42846")


def test_jsonb_has_one_text(db):
    assert texts(db, """'{"b": 1, "a": [1.50, 1e2, "\\u0041"], "b": {}}'::jsonb""") == ['{"a":[1.5,100,"A"],"b":{}}']
    assert texts(db, """'{"a":1,"b":2}'::jsonb = '{"b":2.0, "a":1}'::jsonb, '[1, 2]'::jsonb <> '[1,2.00]'::jsonb""") == ["t", "f"]
    assert texts(db, "to_jsonb('NaN'::float8), to_jsonb('\\x01ff'::bytea), jsonb_build_object('b', 1, 'a', NULL), jsonb_build_array(1.50, 'x', NULL, interval '1 day')") \
        == ['"NaN"', '"\\\\x01ff"', '{"a":null,"b":1}', '[1.5,"x",null,"1 day"]']
    fails(db, "'{a: 1}'::jsonb", "22P02", "invalid input syntax for type jsonb")
    fails(db, "jsonb_build_object('a')", "22023")


def test_jsonb_operators(db):
    assert texts(db, """'{"a":{"b":1,"c":2}}'::jsonb @> '{"a":{"b":1.0}}', '[1,2]'::jsonb @> '1', '1'::jsonb <@ '[1]', '{"a":1}'::jsonb ? 'a', '["x"]'::jsonb ? 'y'""") == ["t", "t", "t", "t", "f"]
    assert texts(db, """'{"a":1}'::jsonb || '{"a":2,"b":3}', '[1]'::jsonb || '2', '1'::jsonb || '[]'""") == ['{"a":2,"b":3}', "[1,2]", "[1]"]
    assert texts(db, """'{"a":1,"b":2}'::jsonb - 'a', '["a","b"]'::jsonb - 'a', '[1,2,3]'::jsonb - -1, '[1]'::jsonb - 7""") == ['{"b":2}', '["b"]', "[1,2]", "[1]"]
    assert texts(db, """'{"a":{"b":[10,"x"]}}'::jsonb #> '{a,b,0}', '{"a":{"b":[10,"x"]}}'::jsonb #>> ARRAY['a','b','-1'], '{"a":1}'::jsonb #> '{z}'""") == ["10", "x", None]
    assert texts(db, """('{"a":{"b":[10,"x"]}}'::jsonb)['a']['b'][1], '{"$.a":5,"a":6}'::jsonb -> '$.a', '{"":7}'::jsonb ->> '', '{"/a":8}'::jsonb -> '/a', '{"a":1}'::jsonb -> ''""") == ['"x"', "5", "7", "8", None]
    assert texts(db, "'{}'::jsonb - 1, '1'::jsonb - 'a'") == [None, None]
    fails(db, "'{}'::jsonb || 'x'::text", "42883", "operator does not exist: jsonb || text")


def test_jsonb_scalars(db):
    assert texts(db, "'1.5'::jsonb::int, '2'::jsonb::float8, '1.25'::jsonb::numeric(6, 2), 'true'::jsonb::bool, 'null'::jsonb::int") == ["2", "2", "1.25", "t", None]
    fails(db, "'\"1\"'::jsonb::float8", "22023", "cannot cast jsonb string to type double precision")
    fails(db, "'1'::jsonb::bool", "22023", "cannot cast jsonb number to type boolean")
    fails(db, "'[1]'::jsonb::int", "22023", "cannot cast jsonb array to type integer")


def test_jsonb_rows(db):
    assert db.execute("SELECT value::text FROM jsonb_array_elements('[1,null,\"a\"]')").fetchall() == [("1",), ("null",), ('"a"',)]
    assert db.execute("SELECT * FROM jsonb_object_keys('{\"b\":1,\"a\":2}')").fetchall() == [("a",), ("b",)]
    assert texts(db, "jsonb_object_agg(k, v), jsonb_object_agg(v, k), jsonb_object_agg(k, v) FILTER (WHERE false) FROM (VALUES ('b', 1), ('a', NULL)) t(k, v) WHERE v IS NOT NULL") \
        == ['{"b":1}', '{"1":"b"}', None]
    fails(db, "jsonb_object_agg(NULL, 1)", "22004")


def test_jsonb_in_views(db):
    db.execute("CREATE TABLE docs (id int, doc jsonb)")
    db.execute("CREATE MATERIALIZED VIEW by_doc AS SELECT doc, count(*) AS n FROM docs GROUP BY doc")
    db.execute("CREATE MATERIALIZED VIEW tagged AS SELECT id, doc || '{\"seen\":true}' AS d FROM docs WHERE doc @> '{\"t\":1}'")
    db.execute("""INSERT INTO docs VALUES (1, '{"t":1,"u":2}'), (2, '{"u": 2.0, "t": 1.00}'), (3, '{"t":2}')""")
    with db.cursor() as c, c.copy("COPY docs FROM STDIN") as copy:
        copy.write_row((4, '{"u" :2, "t":1}'))
    db.execute("INSERT INTO docs VALUES (%s, %s)", (5, '{ "t" : 1e0, "u":2 }'))
    assert db.execute("SELECT doc::text, n FROM by_doc ORDER BY n").fetchall() == [('{"t":2}', 1), ('{"t":1,"u":2}', 4)]
    assert db.execute("SELECT id, d::text FROM tagged ORDER BY id LIMIT 1").fetchall() == [(1, '{"seen":true,"t":1,"u":2}')]
    db.execute("DELETE FROM docs WHERE doc = '{\"u\":2,\"t\":1}'")
    assert db.execute("SELECT doc::text, n FROM by_doc").fetchall() == [('{"t":2}', 1)]
    assert db.execute("SELECT * FROM tagged").fetchall() == []


def test_hmac_of_bytes(db):
    import hashlib
    import hmac
    assert texts(db, "hmac('\\xcd'::bytea, '\\x0102', 'sha256'), hmac('cd', 'k', 'md5')") == ["\\x" + hmac.new(b"\1\2", b"\xcd", hashlib.sha256).hexdigest(), "\\x" + hmac.new(b"k", b"cd", hashlib.md5).hexdigest()]


def test_intervals(db):
    assert texts(db, "interval '1-2 3 4:5:6.7', '-1-2 3 -4:5:6.7'::interval, interval '1 day 2 hours ago', interval '10.333 years', interval '1.2345678 s'") \
        == ["1 year 2 mons 3 days 04:05:06.7", "-1 years -2 mons +3 days -04:05:06.7", "-1 days -02:00:00", "10 years 3 mons", "00:00:01.234568"]
    assert texts(db, "interval '1-2 3 4:5:6.7' MONTH TO MINUTE, interval '12:34:56' HOUR, interval '10:20' MINUTE TO SECOND, interval '1.239' SECOND(2)") == ["2 mons 3 days 04:05:00", "12:00:00", "00:10:20", "00:00:01.24"]
    assert texts(db, "interval '1 day' s") == ["1 day"]
    for text in ("1 year 2 years", "1-13", "1:2 3 hours", "soon", ""):
        fails(db, f"interval '{text}'", "22007", "invalid input syntax for type interval")
        fails(db, f"'{text}'::text::interval", "22007")
    fails(db, "interval '2147483648 days'", "22015")


def test_operators_bind_as_postgresql_has_it(db):
    assert texts(db, "~1 + 1, (~1) + 1, 2 * ~1 + 1, ~1 | 2") == ["-3", "-1", "-6", "-2"]


def test_long_units(db):
    assert texts(db, "date_trunc('century', timestamp '2000-11-26'), date_trunc('millennium', timestamp '2019-11-26'), date_trunc('decades', timestamp '0001-01-01' - interval '2 years'), "
                     "date_trunc('century', timestamp '0001-01-01' - interval '1 second'), date_trunc('ms', timestamp '2019-01-01 00:00:00.123456')") \
        == ["1901-01-01 00:00:00", "2001-01-01 00:00:00", "0011-01-01 00:00:00 BC", "0100-01-01 00:00:00 BC", "2019-01-01 00:00:00.123"]
    assert texts(db, "extract(decade from timestamp '0001-01-01' - interval '11 years 1 second'), extract(ms from timestamp '2020-01-01 00:00:01.5')::int, extract(us from time '00:00:01')::int, date_part('hour', date '2020-01-01')") == ["-2", "1500", "1000000", "0"]
    fails(db, "extract(hour from date '2020-01-01')", "0A000", "not supported for type date")
    fails(db, "extract(century from time '11:12:13')", "0A000", "not supported for type time")
    fails(db, "extract(foo from date '2020-01-01')", "22023", "not recognized")


def test_bytes_as_text(db):
    assert texts(db, "encode(repeat('a', 57)::bytea, 'base64'), encode('\\x00ff5c41', 'escape'), decode('\\000a\\\\', 'escape'), decode(E'41 42\t43', 'hex'), decode('YW Jj', 'base64'), 'a\\001b'::bytea") \
        == ["YWFh" * 19, "\\000\\377\\\\A", "\\x00615c", "\\x414243", "\\x616263", "\\x610162"]
    assert texts(db, "encode(repeat('a', 58)::bytea, 'base64')") == ["YWFh" * 19 + "\nYQ=="]
    for call, words in [("decode('0', 'hex')", "odd number of digits"), ("decode('0g', 'hex')", "invalid hexadecimal digit: \"g\""), ("decode('aaa@', 'base64')", "invalid symbol"),
                        ("decode('a', 'base64')", "end sequence"), ("decode('=', 'base64')", "unexpected"), ("encode('a', 'rot13')", "unrecognized encoding")]:
        fails(db, call, "22023", words)
    fails(db, "'a\\9'::bytea", "22P02", "invalid input syntax for type bytea")


def test_rows_are_compared_field_by_field(db):
    assert texts(db, "(1, 2) = (1, NULL), (1, NULL) = (2, NULL), (1, 2) < (1, NULL), (1, 2) < (2, NULL), (1, 2) <> (3, NULL), (1, 2) >= (1, 2)") == [None, "f", None, "t", "t", "t"]
    assert texts(db, "(1, 2) NOT IN ((1, NULL)), (1, 2) IN ((3, 4), (1, 2)), (1, NULL) IN ((2, NULL)), (1, 2) NOT IN ((3, 4), (5, 6), (7, 8)), (1, 2) NOT IN (SELECT 1, NULL::int)") == [None, "t", "f", "t", None]


def test_whole_rows(db):
    db.execute("CREATE TABLE left_rows (a int, b text)")
    db.execute("CREATE TABLE right_rows (a int, c text)")
    db.execute("INSERT INTO left_rows VALUES (1, 'x'), (2, 'y')")
    db.execute("INSERT INTO right_rows VALUES (1, 'p')")
    assert db.execute("SELECT row_to_json(l)::text, (l).b FROM left_rows l ORDER BY l.a").fetchall() == [('{"a":1,"b":"x"}', "x"), ('{"a":2,"b":"y"}', "y")]
    assert db.execute("SELECT l.a, count(r) FROM left_rows l LEFT JOIN right_rows r USING (a) GROUP BY l.a ORDER BY 1").fetchall() == [(1, 1), (2, 0)]
    db.execute("CREATE MATERIALIZED VIEW with_rows AS SELECT l.a, to_jsonb(r)::text AS r, (l.a, l.b) < (2, 'z') AS less FROM left_rows l LEFT JOIN right_rows r USING (a)")
    db.execute("INSERT INTO right_rows VALUES (2, 'q')")
    db.execute("DELETE FROM right_rows WHERE a = 1")
    assert db.execute("SELECT * FROM with_rows ORDER BY a").fetchall() == [(1, None, True), (2, '{"a":2,"c":"q"}', True)]
    with pytest.raises(psycopg.errors.AmbiguousColumn):
        db.execute("SELECT a FROM left_rows, right_rows")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        db.execute("SELECT z FROM left_rows")


def test_names_of_function_results(db):
    assert db.execute("SELECT js.value::text FROM jsonb_array_elements('[1]') js").fetchall() == [("1",)]
    assert db.execute("SELECT x FROM generate_series(1, 2) x").fetchall() == [(1,), (2,)]
    assert db.execute("SELECT e.v::text FROM jsonb_array_elements('[1]') AS e(v)").fetchall() == [("1",)]


def test_times_of_day(db):
    assert texts(db, "time '10:00' - time '09:30', date '2020-01-01' + time '01:02:03', interval '49:00'::time, interval '-1 hour'::time, interval '7 months'::time, time '01:00'::interval") \
        == ["00:30:00", "2020-01-01 01:02:03", "01:00:00", "23:00:00", "00:00:00", "01:00:00"]


def test_small_casts_and_subscripts(db):
    assert texts(db, "pg_typeof(1::float4 / 2::float4), pg_typeof(1::float4 / 2), 1::bigint::bool, 'a'::string, (ARRAY[1, 2])[-1], (ARRAY[1, 2])[0], (ARRAY[1, 2])[2]") == ["real", "double precision", "t", "a", None, None, "2"]
    assert db.execute("SELECT u, date_trunc(u, timestamp '1999-05-06 07:08:09.123456')::text FROM (VALUES ('hour'), ('century'), ('milliseconds')) v(u) ORDER BY u").fetchall() \
        == [("century", "1901-01-01 00:00:00"), ("hour", "1999-05-06 07:00:00"), ("milliseconds", "1999-05-06 07:08:09.123")]


def test_points_in_time_as_text(db):
    assert texts(db, "timestamptz '2000-01-01 01:00:00z', timestamptz '2000-01-01 01:00:00-6', timestamptz '2000-01-01T01:00+0530', '2000-01-01 01:00:00 +02:00'::text::timestamptz, timestamptz '2000-01-01 01:00 utc'") \
        == ["2000-01-01 01:00:00+00", "2000-01-01 07:00:00+00", "1999-12-31 19:30:00+00", "1999-12-31 23:00:00+00", "2000-01-01 01:00:00+00"]
    assert texts(db, "date '20000102', timestamp '20000102 03:04:05', date '2000-1-2', timestamp '2000-01-02T03:04', timestamp '2000-01-02', date '2000-01-02 03:04:05', timestamp '2000-01-02 03:04:05.6789+05'") \
        == ["2000-01-02", "2000-01-02 03:04:05", "2000-01-02", "2000-01-02 03:04:00", "2000-01-02 00:00:00", "2000-01-02", "2000-01-02 03:04:05.6789"]
    assert texts(db, "timestamp '0044-03-15 12:00:00 BC', timestamptz 'epoch', '0001-01-01 BC'::date") == ["0044-03-15 12:00:00 BC", "1970-01-01 00:00:00+00", "0001-01-01 BC"]
    for wrong in ("date '2000-13-01'", "timestamp '2000-01-01 25:00'", "date 'soon'"):
        with pytest.raises(psycopg.errors.DataError):
            db.execute(f"SELECT {wrong}")
