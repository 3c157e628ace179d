# SPDX-License-Identifier: Apache-2.0
"""The query surface of continuous views by example: windows, top-k, lateral joins, functions that give rows, subqueries, recursion, time."""
import time

import psycopg
import pytest

from conftest import Server

NOTES = []


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("live_views") / "data")
    yield s
    s.stop()


@pytest.fixture
def db(server):
    with server.connect("materialize") as c:
        NOTES.clear()
        c.add_notice_handler(lambda d: NOTES.append(d.message_primary))
        c.execute("CREATE TABLE t (id int, g int, x int, s text, j jsonb, arr int[], ts timestamp)")
        c.execute("CREATE TABLE e (a int, b int)")
        c.execute("""INSERT INTO t VALUES (1, 1, 5, 'a b', '{"k": 1, "l": [1, 2]}', ARRAY[1, 2], '2130-01-01'), (2, 1, 7, 'c', '[1, "x", null]', NULL, '2020-01-01'),
                                          (3, 2, 1, NULL, NULL, '{}', NULL)""")
        c.execute("INSERT INTO e VALUES (1, 2), (2, 3), (3, 4)")
        c.made = []
        yield c
        for v in reversed(c.made):
            c.execute(f"DROP MATERIALIZED VIEW {v}")
        c.execute("DROP TABLE t")
        c.execute("DROP TABLE e")


def view(db, query):
    name = f"v{len(db.made)}"
    db.execute(f"CREATE MATERIALIZED VIEW {name} AS {query}")
    db.made.append(name)
    return name


def rows(db, sql):
    return sorted(db.execute(sql, prepare=False).fetchall(), key=repr)


def write(db):
    db.execute("""INSERT INTO t VALUES (4, 2, 9, 'z y x', '{"q": null}', ARRAY[7], '2131-01-01'), (5, 1, 6, 'e', '["p"]', ARRAY[NULL, 3], '2131-01-01')""")
    db.execute("INSERT INTO e VALUES (4, 1)")
    db.execute("DELETE FROM t WHERE id = 2")


INCREMENTAL = {
    "SELECT id, row_number() OVER (PARTITION BY g ORDER BY x DESC, id) AS rn FROM t": [(1, 2), (3, 2), (4, 1), (5, 1)],
    "SELECT DISTINCT ON (g) g, id, x FROM t ORDER BY g, x DESC, id": [(1, 5, 6), (2, 4, 9)],
    "SELECT id FROM t ORDER BY x DESC LIMIT 2": [(4,), (5,)],
    "SELECT t.id, u.u FROM t, unnest(t.arr) AS u(u)": [(1, 1), (1, 2), (4, 7), (5, 3), (5, None)],
    "SELECT t.id, k.k FROM t, jsonb_object_keys(t.j) AS k(k)": [(1, "k"), (1, "l"), (4, "q")],
    "SELECT t.id, k.key, k.value FROM t, jsonb_each_text(t.j) AS k": [(1, "k", "1"), (1, "l", "[1,2]"), (4, "q", None)],
    "SELECT t.id, v, o FROM t CROSS JOIN LATERAL jsonb_array_elements_text(t.j) WITH ORDINALITY AS k(v, o)": [(5, "p", 1)],
    "SELECT id, generate_series(1, g) AS n FROM t": [(1, 1), (3, 1), (3, 2), (4, 1), (4, 2), (5, 1)],
    "SELECT id, regexp_split_to_table(s, ' ') AS w FROM t": [(1, "a"), (1, "b"), (4, "x"), (4, "y"), (4, "z"), (5, "e")],
    "SELECT id FROM t WHERE mz_now() <= ts": [(1,), (4,), (5,)],
    "SELECT id, (SELECT count(*) FROM e WHERE e.a = t.g) AS n FROM t": [(1, 1), (3, 1), (4, 1), (5, 1)],
    "SELECT g, top.id FROM (SELECT DISTINCT g FROM t) gs, LATERAL (SELECT id FROM t WHERE t.g = gs.g ORDER BY x DESC LIMIT 1) top": [(1, 5), (2, 4)],
    "SELECT id FROM t WHERE x > 8 OR EXISTS (SELECT 1 FROM e WHERE e.a = t.id AND e.b < 4)": [(1,), (4,)],
    "SELECT id, x IN (SELECT b + 2 FROM e) AS known FROM t": [(1, True), (3, False), (4, False), (5, True)],
    "SELECT g, array_agg(x ORDER BY x) AS xs, string_agg(s, ',' ORDER BY s) AS ss FROM t GROUP BY g": [(1, [5, 6], "a b,e"), (2, [1, 9], "z y x")],
    "SELECT g, s, count(*) AS n FROM t GROUP BY ROLLUP (g, s)": [(1, "a b", 1), (1, "e", 1), (1, None, 2), (2, "z y x", 1), (2, None, 1), (2, None, 2), (None, None, 4)],
}


@pytest.mark.parametrize("query", list(INCREMENTAL))
def test_kept(db, query):
    v = view(db, query)
    assert NOTES == []
    write(db)
    assert rows(db, f"SELECT * FROM {v}") == sorted(INCREMENTAL[query], key=repr) == rows(db, query)


def test_recursion(db):
    query = "WITH MUTUALLY RECURSIVE reach (a int, b int) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM reach r JOIN e ON r.b = e.a) SELECT * FROM reach"
    v = view(db, query)
    assert "mutually recursive" in NOTES[0]
    assert len(rows(db, f"SELECT * FROM {v}")) == 6
    write(db)
    assert len(rows(db, f"SELECT * FROM {v}")) == 16
    count = "c (n int) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT * FROM c"
    assert rows(db, f"WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 3) {count}") == [(1,), (2,), (3,)]
    with pytest.raises(psycopg.Error, match="exceeded the recursion limit 3"):
        db.execute(f"WITH MUTUALLY RECURSIVE (RECURSION LIMIT 3) {count}", prepare=False)
    both = """WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 50) ev (n int) AS (SELECT 0 UNION SELECT n + 1 FROM od WHERE n < 6), od (n int) AS (SELECT n + 1 FROM ev WHERE n < 6)
              SELECT 'even', n FROM ev UNION ALL SELECT 'odd', n FROM od"""
    assert rows(db, both) == [("even", 0), ("even", 2), ("even", 4), ("even", 6), ("odd", 1), ("odd", 3), ("odd", 5)]
    with pytest.raises(psycopg.Error, match="declared column"):
        db.execute("WITH MUTUALLY RECURSIVE c (n int) AS (SELECT ARRAY[1]) SELECT * FROM c", prepare=False)


def test_rows_that_come_and_go_with_time(db):
    db.execute("CREATE TABLE ev (id int, at timestamptz)")
    v = view(db, "SELECT id FROM ev WHERE mz_now() >= at AND mz_now() < at + INTERVAL '3 seconds'")
    n = view(db, f"SELECT count(*) AS n FROM {v}")
    db.execute("INSERT INTO ev SELECT 1, now() UNION ALL SELECT 2, now() + INTERVAL '3 seconds'")
    seen, until = [], time.monotonic() + 12
    while time.monotonic() < until and (not seen or seen[-1] != []):
        now = [r[0] for r in rows(db, f"SELECT id FROM {v}")]
        assert rows(db, f"SELECT n FROM {n}")[0][0] in (len(now), len(now) + 1, len(now) - 1)
        if not seen or seen[-1] != now:
            seen.append(now)
        time.sleep(0.1)
    assert seen[0] == [1] and [2] in seen and seen[-1] == []
    db.made = [m for m in db.made if m not in (v, n)]
    db.execute(f"DROP MATERIALIZED VIEW {n}")
    db.execute(f"DROP MATERIALIZED VIEW {v}")
    db.execute("DROP TABLE ev")


def test_what_cannot_be_materialized(db):
    for call, said in (("now()", "current_timestamp"), ("current_user", "current_user"), ("mz_now()", "mz_now"), ("random()", "random")):
        with pytest.raises(psycopg.errors.FeatureNotSupported, match=f"cannot materialize call to {said}"):
            db.execute(f"CREATE MATERIALIZED VIEW bad AS SELECT {call} AS x FROM t")


def test_after_a_restart(tmp_path):
    """What is stored beside the visible columns is found again."""
    s = Server(tmp_path / "data")
    with s.connect("materialize") as db:
        db.execute("CREATE TABLE t (id int, g int, x int, s text, j jsonb, arr int[], ts timestamp)")
        db.execute("CREATE TABLE e (a int, b int)")
        db.execute("""INSERT INTO t VALUES (1, 1, 5, 'a b', '{"k": 1, "l": [1, 2]}', ARRAY[1, 2], '2130-01-01'), (2, 1, 7, 'c', '[1, "x", null]', NULL, '2020-01-01'),
                                          (3, 2, 1, NULL, NULL, '{}', NULL)""")
        db.execute("INSERT INTO e VALUES (1, 2), (2, 3), (3, 4)")
        for i, query in enumerate(INCREMENTAL):
            db.execute(f"CREATE MATERIALIZED VIEW v{i} AS {query}")
    s.stop()
    s.start()
    with s.connect("materialize") as db:
        write(db)
        for i, query in enumerate(INCREMENTAL):
            assert rows(db, f"SELECT * FROM v{i}") == sorted(INCREMENTAL[query], key=repr), query
        plan = "\n".join(r[0] for r in db.execute("EXPLAIN MATERIALIZED VIEW v0", prepare=False).fetchall())
        assert plan.startswith("Incremental: rows by their change") and "row_number() over" in plan
    s.stop()
