# SPDX-License-Identifier: Apache-2.0
"""Types of the materialize dialect: what psql prints, drivers in text and binary, COPY, views over them, SUBSCRIBE, sinks, restarts."""
import asyncio
import datetime
import decimal
import pathlib
import subprocess
import sys

import asyncpg
import psycopg
import pytest
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.range import Int4Range, Range

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guide"))

UTC = datetime.timezone.utc


def rows(db, sql, *args):
    return db.execute(sql, args or None, prepare=False).fetchall()


def one(db, sql, *args):
    (r,) = rows(db, sql, *args)
    return r if len(r) > 1 else r[0]


def texts(db, *expressions):
    """Each as text on the wire, whatever its type."""
    with psycopg.RawCursor(db) as c:
        c.execute("SELECT " + ", ".join(expressions), prepare=False)
        return [c.pgresult.get_value(0, i).decode() if c.pgresult.get_value(0, i) is not None else None for i in range(len(expressions))]


def refused(db, sql, words, state=None):
    with pytest.raises(psycopg.Error, match=words) as e:
        db.execute(sql, prepare=False)
    assert state is None or e.value.sqlstate == state, e.value.sqlstate


def psql(server, sql):
    r = subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(server.port), "-U", "materialize", "materialize", "-XAtc", sql], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout.strip()


def with_asyncpg(server, work):
    async def run():
        c = await asyncpg.connect(host="127.0.0.1", port=server.port, user=server.key, password=server.secret, database="materialize")
        try:
            return await work(c)
        finally:
            await c.close()
    return asyncio.run(run())


# ---- ranges ----------------------------------------------------------------------------------------------------------------

def test_ranges_are_canonical(db):
    cases = {"'[1,10]'::int4range": "[1,11)", "'(5,15)'::int4range": "[6,15)", "'[1,1)'::int4range": "empty", "'(1,2)'::int8range": "empty", "'(,5]'::int4range": "(,6)", "'[,]'::int8range": "(,)",
             "'[1.50,2.0]'::numrange": "[1.5,2]", "'(1,1]'::numrange": "empty", "'[2020-01-31,2020-02-01]'::daterange": "[2020-01-31,2020-02-02)", "' EMPTY '::tsrange": "empty",
             "'[2020-01-01,2020-01-02 03:04:05.5]'::tsrange": '["2020-01-01 00:00:00","2020-01-02 03:04:05.5"]', "'[2020-01-01 00:00:00+02,)'::tstzrange": '["2019-12-31 22:00:00+00",)',
             "int4range(1, 5)": "[1,5)", "int4range(1, 5, '(]')": "[2,6)", "numrange(NULL, 1.5, '[]')": "(,1.5]", "daterange('2020-01-01', NULL)": "[2020-01-01,)", "int4range(NULL, NULL)": "(,)"}
    assert texts(db, *cases) == list(cases.values())
    assert [one(db, f"SELECT ({c})::text") for c in cases] == list(cases.values())
    refused(db, "SELECT '[5,1]'::int4range", "range lower bound must be less than or equal to range upper bound", "22000")
    refused(db, "SELECT '[1,2'::int4range", "malformed range literal", "22P02")
    refused(db, "SELECT '[a,2)'::int4range", "invalid input syntax for type integer", "22P02")
    refused(db, "SELECT '[1,2147483647]'::int4range", "integer out of range", "22003")
    refused(db, "SELECT int4range(1, 2, '[[')", "invalid range bound flags", "42601")
    refused(db, "SELECT int4range(1, 2, NULL)", "must not be null")
    refused(db, "SELECT int4range(1, 2)::int8range", "cannot cast type int4range to int8range", "42846")


def test_range_operators(db):
    true = ["int4range(1, 5) @> 4", "3 <@ int4range(1, 5)", "int4range(1, 5) @> int4range(2, 3)", "int4range(1, 5) @> 'empty'", "'empty' <@ int4range(1, 5)", "int4range(1, 5) && int4range(4, 9)",
            "int4range(1, 5) -|- int4range(5, 7)", "numrange(1, 5, '[]') -|- numrange(5, 7, '()')", "int4range(1, 5) << int4range(5, 7)", "int4range(5, 7) >> int4range(1, 5)", "int4range(1, 5) &< int4range(0, 5)",
            "int4range(3, 5) &> int4range(3, 4)", "int4range(1, 5) = '[1,4]'", "int4range(1, 5) <> int4range(1, 6)", "'empty'::int4range < int4range(NULL, 1)", "int4range(NULL, 1) < int4range(-5, 1)",
            "int4range(1, 2) < int4range(1, NULL)", "numrange(1, 2, '[)') < numrange(1, 2, '[]')", "numrange(1, 2, '[)') < numrange(1, 2, '()')", "numrange(1.5, 2) @> 1.75", "daterange('2020-01-01', '2020-02-01') @> DATE '2020-01-31'",
            "tsrange('2020-01-01', '2020-02-01') @> TIMESTAMP '2020-01-01'", "int8range(1, 5) @> 2::smallint", "(int4range(1, 5) @> NULL::int) IS NULL"]
    false = ["int4range(1, 5) @> 5", "int4range(1, 5) && 'empty'", "'empty'::int4range << int4range(1, 2)", "numrange(1, 5, '[]') -|- numrange(5, 7, '[)')", "int4range(1, 5) << int4range(4, 7)", "int4range(1, NULL) &< int4range(0, 5)"]
    assert rows(db, "SELECT " + ", ".join(true)) == [(True,) * len(true)]
    assert rows(db, "SELECT " + ", ".join(false)) == [(False,) * len(false)]
    assert texts(db, "int4range(1, 5) + int4range(3, 9)", "int4range(1, 5) + int4range(5, 9)", "int4range(1, 5) * int4range(3, 9)", "int4range(1, 3) * int4range(5, 9)", "int4range(1, 5) - int4range(3, 9)",
                 "int4range(3, 9) - int4range(1, 5)", "int4range(1, 5) - int4range(0, 9)", "numrange(1, 5) - numrange(3, 9, '(]')", "'empty' + int4range(1, 2)", "int4range(1, 2) + NULL") == [
        "[1,9)", "[1,9)", "[3,5)", "empty", "[1,3)", "[5,9)", "empty", "[1,3]", "[1,2)", None]
    refused(db, "SELECT int4range(1, 3) + int4range(5, 9)", "result of range union would not be contiguous", "22000")
    refused(db, "SELECT int4range(1, 9) - int4range(3, 5)", "result of range difference would not be contiguous", "22000")
    refused(db, "SELECT int4range(1, 3) && int8range(5, 9)", "operator does not exist: int4range && int8range", "42883")
    assert rows(db, """SELECT lower(r), upper(r), isempty(r), lower_inc(r), upper_inc(r), lower_inf(r), upper_inf(r) FROM (VALUES (1, numrange(1, 2, '(]')), (2, numrange(NULL, 2)), (3, 'empty'), (4, NULL)) v(i, r)
                       ORDER BY i""") == [(1, 2, False, False, True, False, False), (None, 2, False, False, False, True, False), (None, None, True, False, False, False, False), (None,) * 7]


def test_ranges_in_tables_and_views(server, db):
    db.execute("CREATE TABLE rg (id int, r int4range, t tstzrange, d daterange, n numrange, l int8range, s tsrange, a int4range[])")
    db.execute("CREATE MATERIALIZED VIEW rg_groups AS SELECT r, count(*) AS n, max(t) AS last FROM rg GROUP BY r")
    db.execute("CREATE TABLE points (p int, r int4range)")
    db.execute("CREATE MATERIALIZED VIEW rg_joined AS SELECT g.id, p.p FROM rg g JOIN points p ON g.r @> p.p")
    db.execute("CREATE MATERIALIZED VIEW rg_equal AS SELECT g.id, p.p FROM rg g JOIN points p ON g.r = p.r")
    db.execute("CREATE INDEX rg_r ON rg (r)")
    db.execute("INSERT INTO points VALUES (3, '[1,9]'), (12, 'empty')")
    db.execute("INSERT INTO rg VALUES (1, '[1,9]', '[2020-01-01,)', '[2020-01-01,2020-01-05]', '[1.5,2.5)', '[1,2]', '(,2020-01-01]', '{\"[1,2]\",empty,NULL}'), (2, 'empty', NULL, NULL, NULL, NULL, NULL, '{}')")
    db.execute("INSERT INTO rg (id, r) VALUES (%s, %s), (4, NULL)", (3, Range(1, 10)))
    assert rows(db, "SELECT r::text AS x, n FROM rg_groups ORDER BY r") == [("empty", 1), ("[1,10)", 2), (None, 1)]
    assert rows(db, "SELECT * FROM rg_joined ORDER BY 1") == [(1, 3), (3, 3)]
    assert rows(db, "SELECT * FROM rg_equal ORDER BY 1") == [(1, 3), (2, 12), (3, 3)]
    db.execute("UPDATE rg SET r = r * int4range(1, 4) WHERE id = 3")
    db.execute("DELETE FROM rg WHERE r @> 8")
    assert rows(db, "SELECT r::text AS x, n FROM rg_groups ORDER BY r") == [("empty", 1), ("[1,4)", 1), (None, 1)]
    assert rows(db, "SELECT * FROM rg_joined") == [(3, 3)]
    assert rows(db, "SELECT DISTINCT r FROM rg WHERE r IN ('[1,3]', 'empty') ORDER BY r DESC") == [(Range(1, 4),), (Range(empty=True),)]
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM rg")] == ["integer", "int4range", "tstzrange", "daterange", "numrange", "int8range", "tsrange", "int4range[]"]
    assert "r int4range" in rows(db, "SHOW CREATE TABLE rg")[0][1] and one(db, "SELECT pg_typeof(r) FROM rg LIMIT 1") == "int4range"
    with server.connect("materialize") as s:
        s.execute("BEGIN")
        s.execute("DECLARE c CURSOR FOR SUBSCRIBE rg_groups")
        assert sorted(str(r[2]) for r in s.execute("FETCH ALL c WITH (timeout = '1s')").fetchall()) == ["None", "[1, 4)", "empty"]
        db.execute("INSERT INTO rg (id, r) VALUES (9, '[7,8)')")
        assert [r[2] for r in s.execute("FETCH ALL c WITH (timeout = '2s')").fetchall()] == [Range(7, 8)]


def test_ranges_over_the_wire(server, db):
    db.execute("CREATE TABLE rw (id int, r int4range, t tstzrange, d daterange, n numrange, l int8range, s tsrange, a int4range[])")
    at, plain = datetime.datetime(2020, 1, 1, tzinfo=UTC), datetime.datetime(2020, 1, 1)
    values = (Range(1, 5), Range(at, None), Range(datetime.date(2020, 1, 1), datetime.date(2020, 1, 5)), Range(decimal.Decimal("1.5"), decimal.Decimal("2"), "[]"), Range(None, 7), Range(None, plain, "(]"),
              [Int4Range(1, 2), None, Int4Range(empty=True)])
    for binary in (False, True):
        with db.cursor(binary=binary) as c:
            p = "%b" if binary else "%s"
            c.execute("DELETE FROM rw")
            c.execute(f"INSERT INTO rw VALUES (1, {p}, {p}, {p}, {p}, {p}, {p}, {p}::int4range[])", values)
            c.execute("INSERT INTO rw (id, r) VALUES (2, 'empty')")
            assert c.execute("SELECT r, t, d, n, l, s, a FROM rw WHERE id = 1").fetchone() == values
            assert [d.type_code for d in c.description] == [3904, 3910, 3912, 3906, 3926, 3908, 3905]
            assert c.execute("SELECT r FROM rw WHERE id = 2").fetchone()[0].isempty
            assert c.execute(f"SELECT id FROM rw WHERE r = {p}", (Range(1, 4, "[]"),)).fetchone() == (1,)

    async def work(c):
        await c.execute("DELETE FROM rw")
        r = asyncpg.Range(1, 5)
        await c.execute("INSERT INTO rw VALUES (1, $1, $2, $3, $4, $5, $6, $7::int4range[])", r, asyncpg.Range(at, None), asyncpg.Range(datetime.date(2020, 1, 1), None), asyncpg.Range(decimal.Decimal("1.5"), None),
                        asyncpg.Range(None, 7), asyncpg.Range(plain, None), [r])
        got = await c.fetchrow("SELECT r, t, n, l, a, int4range(1, 1) FROM rw")
        return list(got) == [r, asyncpg.Range(at, None), asyncpg.Range(decimal.Decimal("1.5"), None), asyncpg.Range(None, 7), [r], asyncpg.Range(empty=True)]
    assert with_asyncpg(server, work)


# ---- COPY ----------------------------------------------------------------------------------------------------------------------

def test_copy_in_and_out(server, db):
    db.execute("CREATE TYPE cpoint AS (x int, y text)")
    db.execute("CREATE TABLE co (id int, r int4range, p cpoint, l int list, ll text list list, m map[text=>int], a text[], c char(4), n numeric, t mz_timestamp)")
    db.execute("""INSERT INTO co VALUES (1, '[1,5]', ROW(1, 'a,"b" c'), LIST[1, NULL], LIST[LIST['x y', NULL], LIST[]], MAP['k' => 1, 'a b' => NULL], ARRAY['q"', 'NULL', NULL, ''], 'ab ', 1.50, 1700000000000),
                  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, 'empty', ROW(NULL, ''), '{}', '{}', '{}', '{}', '', 0, 0)""")
    whole = rows(db, "SELECT id, r::text, p::text, l::text, ll::text, m::text, a, c, n::text, t::text FROM co ORDER BY id")
    assert whole[0] == (1, "[1,6)", '(1,"a,""b"" c")', "{1,NULL}", '{{"x y",NULL},{}}', '{"a b"=>NULL,k=>1}', ['q"', "NULL", None, ""], "ab  ", "1.5", "1700000000000")
    assert whole[2] == (3, "empty", '(,"")', "{}", "{}", "{}", [], "    ", "0", "0")
    for how in ("text", "csv"):
        with db.cursor() as c:
            with c.copy(f"COPY (SELECT * FROM co ORDER BY id) TO STDOUT (FORMAT {how})") as out:
                data = b"".join(bytes(x) for x in out)
            db.execute("CREATE TABLE co_back (id int, r int4range, p cpoint, l int list, ll text list list, m map[text=>int], a text[], c char(4), n numeric, t mz_timestamp)")
            with c.copy(f"COPY co_back FROM STDIN (FORMAT {how})") as into:
                into.write(data)
        assert rows(db, "SELECT id, r::text, p::text, l::text, ll::text, m::text, a, c, n::text, t::text FROM co_back ORDER BY id") == whole
        db.execute("DROP TABLE co_back")
    with pytest.raises(psycopg.Error, match="malformed range literal"):
        with db.cursor() as c, c.copy("COPY co (id, r) FROM STDIN") as into:
            into.write(b"9\t[1,2\n")
    assert one(db, "SELECT count(*) FROM co") == 3
    db.execute("CREATE TABLE cb (id int, r int4range, p cpoint)")
    with db.cursor() as c:
        with c.copy("COPY (SELECT id, r, p FROM co WHERE id < 3) TO STDOUT (FORMAT binary)") as out:
            data = b"".join(bytes(x) for x in out)
        with c.copy("COPY cb FROM STDIN (FORMAT binary)") as into:
            into.write(data)
    assert rows(db, "SELECT id, r::text, p::text FROM cb ORDER BY id") == [(1, "[1,6)", '(1,"a,""b"" c")'), (2, None, None)]


# ---- types that were created --------------------------------------------------------------------------------------------------------

def test_created_types(server, db):
    db.execute("CREATE TYPE point AS (x int, y int)")
    db.execute("CREATE TYPE named AS (name text, at point)")
    db.execute("CREATE TYPE path AS LIST (ELEMENT TYPE = point)")
    db.execute("CREATE TYPE places AS MAP (KEY TYPE = text, VALUE TYPE = point)")
    db.execute("CREATE TABLE made (id int, v named, p path, m places, l named list, a point[])")
    db.execute("""INSERT INTO made VALUES (1, ROW('a', ROW(1, 2)), LIST[ROW(1, 2)], MAP['k' => ROW(3, 4)], LIST[ROW('b', NULL)], ARRAY[ROW(5, 6)]), (2, NULL, NULL, NULL, NULL, NULL),
                  (3, ROW(NULL, ROW(NULL, NULL)), '{}', '{}', '{}', '{}'), (4, '(z,"(7,8)")', '{"(1,2)","(3,)"}', '{a=>"(1,2)"}', '{"(q,\\"(1,2)\\")"}', '{"(1,2)"}')""")
    assert texts(db, "(SELECT v FROM made WHERE id = 1)", "(SELECT m FROM made WHERE id = 1)", "(SELECT p FROM made WHERE id = 4)", "(SELECT l FROM made WHERE id = 4)", "(SELECT v FROM made WHERE id = 3)") == [
        '(a,"(1,2)")', '{k=>"(3,4)"}', '{"(1,2)","(3,)"}', '{"(q,\\"(1,2)\\")"}', '(,"(,)")']
    assert rows(db, "SELECT id, (v).name, (v).at.x, ((p)[1]).y, (m->'k').x FROM made ORDER BY id") == [(1, "a", 1, 2, 3), (2, None, None, None, None), (3, None, None, None, None), (4, "z", 7, 2, None)]
    db.execute("CREATE MATERIALIZED VIEW made_groups AS SELECT (v).at AS at, count(*) AS n FROM made GROUP BY (v).at")
    db.execute("UPDATE made SET v = ROW('b', ROW(1, 2)) WHERE id = 4")
    assert sorted(rows(db, "SELECT at::text, n FROM made_groups"), key=str) == [("(,)", 1), ("(1,2)", 2), (None, 1)]
    db.execute("CREATE VIEW made_view AS SELECT '(5,6)'::point AS p")
    assert "materialize.public.point" in one(db, "SHOW CREATE VIEW made_view")[1]
    db.execute("CREATE SCHEMA elsewhere")
    with server.connect("materialize", options="-csearch_path=elsewhere") as other:
        assert one(other, "SELECT (p).x FROM materialize.public.made_view") == 5
        refused(other, "SELECT '(1,2)'::point", 'type "point" does not exist', "42704")
        assert one(other, "SELECT ('(1,2)'::public.point).y") == 2
    refused(db, "DROP TYPE point", 'still depended upon by type "named"', "2BP01")
    refused(db, "DROP TYPE named", 'still depended upon by table "made"', "2BP01")
    refused(db, "SELECT ROW(1)::point", "cannot cast", "42846")
    refused(db, "INSERT INTO made (id, v) VALUES (9, '(a)')", "Too few columns", "22P02")
    refused(db, "CREATE TABLE nothing (a nosuch)", 'type "nosuch" does not exist', "42704")
    info = CompositeInfo.fetch(db, "named")
    register_composite(CompositeInfo.fetch(db, "point"), db)
    register_composite(info, db)
    for binary in (False, True):
        with db.cursor(binary=binary) as c:
            v = c.execute("SELECT v FROM made WHERE id = 1").fetchone()[0]
            assert (v.name, v.at.x, v.at.y) == ("a", 1, 2) and c.description[0].type_code == info.oid

    async def work(c):
        r = await c.fetchrow("SELECT v, a FROM made WHERE id = 1")
        back = await c.fetchval("SELECT ($1::named)::text", ("n", (8, 9)))
        return r["v"]["name"], r["v"]["at"]["y"], [dict(x) for x in r["a"]], back
    assert with_asyncpg(server, work) == ("a", 2, [{"x": 5, "y": 6}], '(n,"(8,9)")')
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        c.execute("INSERT INTO made (id, v) VALUES (5, ROW('late', ROW(1, 2)))")
        assert rows(c, "SELECT n FROM made_groups WHERE at = ROW(1, 2)::point") == [(3,)]
        assert rows(c, "SHOW COLUMNS FROM made")[1][2] == "materialize.public.named"
        c.execute("DROP TABLE made CASCADE")
        c.execute("DROP TYPE point CASCADE")
        refused(c, "SELECT NULL::named", "does not exist")


def test_types_renamed(db):
    db.execute("CREATE SCHEMA homes")
    db.execute("CREATE TYPE homes.inner_t AS (x int)")
    db.execute("CREATE TYPE outer_t AS (i homes.inner_t)")
    db.execute("CREATE TYPE list_t AS LIST (ELEMENT TYPE = homes.inner_t)")
    db.execute("CREATE TABLE ren (a homes.inner_t, b outer_t, c list_t)")
    db.execute("CREATE MATERIALIZED VIEW ren_v AS SELECT a, '(1)'::homes.inner_t AS k FROM ren")
    db.execute("ALTER TYPE homes.inner_t RENAME TO core_t")
    db.execute("ALTER SCHEMA homes RENAME TO places")
    full = "materialize.places.core_t"
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM ren")] == [full, "materialize.public.outer_t", "materialize.public.list_t"]
    for what in ("TYPE outer_t", "TYPE list_t", "TABLE ren", "MATERIALIZED VIEW ren_v"):
        assert full in one(db, f"SHOW CREATE {what}")[1], what
    db.execute("INSERT INTO ren VALUES (ROW(1), ROW(ROW(2)), LIST[ROW(3)])")
    assert one(db, "SELECT a::text, k::text FROM ren_v") == ("(1)", "(1)") and one(db, "SELECT pg_typeof((b).i) FROM ren") == full
    refused(db, "DROP TYPE places.core_t", "still depended upon")


# ---- lists and maps -----------------------------------------------------------------------------------------------------------------------

def test_lists(db):
    assert texts(db, "LIST[1, 2] || 3", "LIST[1] || LIST[2]", "0 || LIST[1]", "LIST[LIST[1], LIST[2, 3]] || LIST[4]", "list_append(LIST[1], NULL)", "list_prepend(1, LIST[2])", "list_cat(LIST[1], LIST[2])",
                 "list_remove(LIST[1, 2, 1, NULL], 1)", "'{1,NULL}'::int list", "'{{a},{}}'::text list list", "LIST[]::int list || 1", "(LIST[1, 2, 3])[2:3]") == [
        "{1,2,3}", "{1,2}", "{0,1}", "{{1},{2,3},{4}}", "{1,NULL}", "{1,2}", "{1,2}", "{2,NULL}", "{1,NULL}", "{{a},{}}", "{1}", "{2,3}"]
    assert one(db, "SELECT list_length(LIST[1, NULL]), (LIST[1, 2])[2], pg_typeof(LIST[1] || 2), pg_typeof(LIST[LIST['a']]), pg_typeof(ARRAY[1]), LIST[1, 2] = '{1,2}', LIST[1] < LIST[2]") == (
        2, 2, "integer list", "text list list", "integer[]", True, True)
    assert rows(db, "SELECT g, list_agg(x ORDER BY x DESC), pg_typeof(list_agg(x)) FROM (VALUES (1, 2), (1, 3), (2, NULL)) v(g, x) GROUP BY g ORDER BY g") == [(1, [3, 2], "integer list"), (2, [None], "integer list")]
    db.execute("CREATE TABLE li (id int, l int list, ll text list list)")
    db.execute("CREATE MATERIALIZED VIEW li_groups AS SELECT l, count(*) AS n, list_agg(id ORDER BY id) AS ids FROM li GROUP BY l")
    db.execute("INSERT INTO li VALUES (1, '{1,2}', '{{a}}'), (2, LIST[1, 2], NULL), (3, '{}', '{{},{b,NULL}}'), (4, NULL, '{}')")
    assert sorted(rows(db, "SELECT l, n, ids FROM li_groups"), key=str) == [(None, 1, [4]), ([1, 2], 2, [1, 2]), ([], 1, [3])]
    db.execute("DELETE FROM li WHERE id = 1")
    assert rows(db, "SELECT n, ids FROM li_groups WHERE l = LIST[1, 2]") == [(1, [2])]
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM li")] == ["integer", "integer list", "text list list"]
    refused(db, "SELECT 'x'::int list", "malformed list literal", "22P02")
    refused(db, "SELECT LIST[1] || 'a'::text", "")


def test_maps(db):
    assert texts(db, "MAP['b' => 2, 'a' => NULL]", "'{b=>2, a=>NULL, \"x y\"=>3}'::map[text=>int]", "MAP['o' => ['i' => 1]]", "'{a=>{b=>1}}'::map[text=>map[text=>int]]", "'{a=>{1,2}}'::map[text=>int list]") == [
        "{a=>NULL,b=>2}", '{a=>NULL,b=>2,"x y"=>3}', "{o=>{i=>1}}", "{a=>{b=>1}}", "{a=>{1,2}}"]
    assert one(db, """SELECT m->'a', m->'z', m ? 'a', m ?& ARRAY['a', 'z'], m ?| ARRAY['a', 'z'], m @> '{a=>1}', m @> '{a=>2}', '{a=>1}' <@ m, map_length(m), m = '{b=>2,a=>1}' FROM (SELECT '{a=>1,b=>2}'::map[text=>int] AS m) q""") == (
        1, None, True, False, True, True, False, True, 2, True)
    assert texts(db, "(SELECT map_agg(k, v ORDER BY v) FROM (VALUES ('a', 1), ('b', 2), ('a', 3), (NULL, 4)) x(k, v))", "map_build(LIST[ROW('k', 1), ROW('k', 2)])") == ["{a=>3,b=>2}", "{k=>2}"]
    db.execute("CREATE TABLE ma (id int, m map[text=>int])")
    db.execute("CREATE MATERIALIZED VIEW ma_groups AS SELECT m, count(*) AS n FROM ma GROUP BY m")
    db.execute("INSERT INTO ma VALUES (1, '{a=>1,b=>2}'), (2, '{b=>2,a=>1}'), (3, '{}'), (4, NULL)")
    assert sorted(rows(db, "SELECT m::text, n FROM ma_groups"), key=str) == [("{a=>1,b=>2}", 2), ("{}", 1), (None, 1)]
    refused(db, "SELECT '{a}'::map[text=>int]", "malformed map literal", "22P02")
    refused(db, "SELECT '{NULL=>1}'::map[text=>int]", "malformed map literal")


# ---- the rest ---------------------------------------------------------------------------------------------------------------------------------

def test_numeric_without_digits(db):
    db.execute("CREATE TABLE nu (a numeric, l numeric list)")
    db.execute("INSERT INTO nu VALUES (1.50, '{1.50,2}'), (100, NULL), (-0.0000000001, NULL), (NULL, NULL)")
    assert texts(db, "(SELECT sum(a) FROM nu)", "(SELECT a + 1 FROM nu WHERE a = 1.5)", "(SELECT l FROM nu WHERE a = 1.5)", "(SELECT a::text FROM nu WHERE a = 100)") == ["101.4999999999", "2.5", "{1.5,2}", "100"]
    assert sorted(r[0] for r in rows(db, "SELECT a FROM nu WHERE a IS NOT NULL")) == [decimal.Decimal("-1E-10"), decimal.Decimal("1.5"), 100]
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM nu")] == ["numeric", "numeric list"]


def test_char(db):
    db.execute("CREATE TABLE ch (id int, c char(3), d char)")
    db.execute("INSERT INTO ch VALUES (1, 'a', 'x'), (2, 'ab ', 'y'), (3, 'a     ', NULL)")
    assert rows(db, "SELECT c, c || '|', length(c), c = 'a  ', c = 'a' FROM ch ORDER BY id") == [("a  ", "a|", 1, True, True), ("ab ", "ab|", 2, False, False), ("a  ", "a|", 1, True, True)]
    assert rows(db, "SELECT c, count(*) FROM ch GROUP BY c ORDER BY c") == [("a  ", 2), ("ab ", 1)]
    refused(db, "INSERT INTO ch (c) VALUES ('abcd')", r"value too long for type character\(3\)", "22001")
    assert one(db, "SELECT 'abcd'::char(2), 'abcd'::varchar(3), 'abcd'::char(10)") == ("ab", "abc", "abcd      ")
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM ch")] == ["integer", "character(3)", "character(1)"]


def test_mz_timestamp(db):
    db.execute("CREATE TABLE mt (t mz_timestamp)")
    db.execute("INSERT INTO mt VALUES (1700000000000), ('5')")
    assert texts(db, "(SELECT max(t) FROM mt)", "5::mz_timestamp", "'18446744073709551615'::mz_timestamp") == ["1700000000000", "5", "18446744073709551615"]
    assert one(db, "SELECT pg_typeof(t) FROM mt LIMIT 1") == "mz_timestamp" and rows(db, "SELECT t < 10 FROM mt ORDER BY t") == [(True,), (False,)]
    cur = db.execute("SELECT t FROM mt", prepare=False)
    assert cur.description[0].type_code == 16552
    refused(db, "SELECT (-1)::mz_timestamp", "")


def test_pg_type(db):
    assert rows(db, """SELECT t.typname, t.typtype, t.typcategory, a.typname FROM pg_type t JOIN pg_type a ON a.oid = t.typarray WHERE t.typname IN ('int4range', 'tstzrange', 'mz_timestamp', 'uint8', 'bpchar')
                       ORDER BY 1""") == [("bpchar", "b", "S", "_bpchar"), ("int4range", "r", "R", "_int4range"), ("mz_timestamp", "b", "N", "_mz_timestamp"), ("tstzrange", "r", "R", "_tstzrange"), ("uint8", "b", "N", "_uint8")]
    assert rows(db, "SELECT rngsubtype::regtype::text FROM pg_range WHERE rngtypid = 'numrange'::regtype") == [("numeric",)]
    db.execute("CREATE TYPE shown AS (a int, r int4range)")
    assert rows(db, "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = (SELECT typrelid FROM pg_type WHERE typname = 'shown') ORDER BY attnum") == [("a", "integer"), ("r", "int4range")]
    db.execute("CREATE TABLE shown_t (s shown, ss shown[], c char(3))")
    assert rows(db, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shown_t'::regclass ORDER BY attnum") == [("shown",), ("shown[]",), ("character(3)",)]
    assert rows(db, "SELECT name, category FROM mz_types WHERE name IN ('shown', 'int4range') ORDER BY 1") == [("int4range", "range"), ("shown", "composite")]


# ---- sinks -----------------------------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    from test_upstream_cases import Cases
    c = Cases(tmp_path_factory.mktemp("types_sink"))
    yield c
    c.db.close()
    c.stop()


def test_a_sink_of_all_of_them(cases):
    from guide_place import until
    c = cases
    c.run("CREATE TYPE sp AS (x int, r int4range)")
    c.run("CREATE TABLE st (id int NOT NULL, r int4range, n numrange, t tstzrange, p sp, l int list, a int[], m map[text=>int], lp sp list, c char(3), q numeric, mt mz_timestamp)")
    c.run("""INSERT INTO st VALUES (1, '[1,9]', '[1.5,2.5)', '[2020-01-01,)', ROW(1, '[1,2]'), '{1,NULL}', '{1,2}', '{a=>1}', LIST[ROW(2, 'empty')], 'ab', 1.50, 1700000000000),
             (2, 'empty', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)""")
    upsert, u = c.sink("st", "KEY (id) NOT ENFORCED MODE UPSERT")
    append, a = c.sink("st", "MODE APPEND")
    columns = ("id, r.lower, r.upper, r.lower_inclusive, r.upper_inclusive, r.empty, CAST(n.lower AS STRING), unix_millis(t.lower), t.upper, p.x, p.r.upper, l, a.items, a.dimensions, m, lp[0].x, lp[0].r.empty, "
               "c, CAST(q AS STRING), CAST(mt AS STRING)")
    first = (1, 1, 10, True, False, False, "1.5000000000", 1577836800000, None, 1, 3, [1, None], [1, 2], 1, {"a": 1}, 2, True, "ab", "1.5000000000", "1700000000000")
    second = (2, None, None, False, False, True) + (None,) * 14
    until(lambda: c.there(u, columns) == [first, second])
    until(lambda: c.there(a, columns) == [first, second])
    arrow = c.catalog(c.bucket).load_table(f"default_namespace.{u}").scan().to_arrow().sort_by("id").to_pylist()     # another reader
    assert arrow[0]["r"] == {"lower": 1, "upper": 10, "lower_inclusive": True, "upper_inclusive": False, "empty": False} and arrow[1]["p"] is None
    c.run("UPDATE st SET r = r + '[10,12]', p = ROW(5, NULL) WHERE id = 1")
    c.run("DELETE FROM st WHERE id = 2")
    until(lambda: c.there(u, "id, r.upper, p.x, p.r.upper") == [(1, 13, 5, None)])
    until(lambda: c.there(a, "id, r.upper, _mz_diff", "1, 2, 3") == [(1, 10, -1), (1, 10, 1), (1, 13, 1), (2, None, -1), (2, None, 1)])
    for k in ("r", "p", "l", "m"):
        c.refused(f"CREATE SINK sx FROM st INTO ICEBERG CATALOG CONNECTION catalog (NAMESPACE 'n', TABLE 't') KEY ({k}) NOT ENFORCED MODE UPSERT WITH (COMMIT INTERVAL '1s')",
                  "cannot be used as an Iceberg equality delete key")
    c.drop(upsert)
    c.drop(append)
