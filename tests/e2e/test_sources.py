# SPDX-License-Identifier: Apache-2.0
"""Sources that need nothing outside: load generators over restarts, webhooks; what SQL says of them. (PostgreSQL and Kafka: tests/sources.)"""
import hashlib
import hmac
import json
import threading
import time
import urllib.error
import urllib.request

import psycopg
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("sources") / "data")
    yield s
    s.stop()


def rows(db, sql):
    return db.execute(sql, prepare=False).fetchall()


def wait(db, sql, want, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if rows(db, sql) == want:
            return
        time.sleep(0.02)
    assert rows(db, sql) == want


def refused(db, sql):
    with pytest.raises(psycopg.Error) as e:
        db.execute(sql)
    return e.value.diag.message_primary


# ---- load generators ---------------------------------------------------------------------------------------------------------


def test_counter(db):
    db.execute("CREATE SOURCE c FROM LOAD GENERATOR COUNTER (TICK INTERVAL '10ms', AS OF 2, UP TO 50)")
    db.execute("CREATE MATERIALIZED VIEW c_total AS SELECT count(*) AS n, sum(counter) AS s FROM c")
    wait(db, "SELECT n, s FROM c_total", [(50, 1275)])
    db.execute("CREATE SOURCE few (n) FROM LOAD GENERATOR COUNTER (TICK INTERVAL '10ms', MAX CARDINALITY 3, UP TO 20)")
    wait(db, "SELECT n FROM few ORDER BY n", [(18,), (19,), (20,)])
    wait(db, 'SELECT "offset"::text FROM c_progress', [("50",)])
    assert rows(db, "SELECT type, column_name, data_type FROM mz_sources s JOIN information_schema.columns c ON c.table_name = s.name WHERE s.name = 'c'")[0][:2] == ("load-generator", "counter")


def test_refused_options(db):
    make = "CREATE SOURCE x FROM LOAD GENERATOR "
    assert refused(db, make + "COUNTER (SCALE FACTOR 1)") == "COUNTER load generators do not support SCALE FACTOR values"
    assert refused(db, make + "AUCTION (MAX CARDINALITY 1) FOR ALL TABLES") == "AUCTION load generators do not support MAX CARDINALITY values"
    assert refused(db, make + "COUNTER (AS OF 5, UP TO 2)") == "UP TO cannot be less than AS OF"
    assert refused(db, make + "COUNTER FOR ALL TABLES") == "FOR ALL TABLES is only valid for multi-output sources"
    assert refused(db, make + "AUCTION FOR TABLES (bids)") == "FOR TABLES (..) unsupported"
    assert "TICK INTERVAL" in refused(db, make + "COUNTER (TICK INTERVAL 'soon')")
    assert rows(db, "SELECT count(*) FROM mz_sources WHERE name LIKE 'x%'") == [(0,)]


def test_auction(db):
    db.execute("CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '5ms', UP TO 200) FOR ALL TABLES")
    db.execute("CREATE MATERIALIZED VIEW top AS SELECT a.id, a.item, max(b.amount) AS top, count(*) AS n FROM auctions a JOIN bids b ON b.auction_id = a.id GROUP BY a.id, a.item")
    wait(db, "SELECT (SELECT count(*) FROM auctions) + (SELECT count(*) FROM bids)", [(199,)])
    assert rows(db, "SELECT sum(n) = (SELECT count(*) FROM bids) FROM top") == [(True,)]
    assert rows(db, "SELECT count(*) FROM users u WHERE NOT EXISTS (SELECT 1 FROM organizations o WHERE o.id = u.org_id)") == [(0,)]
    assert rows(db, "SELECT min(balance), count(*) = (SELECT count(*) FROM organizations) FROM accounts") == [(10000, True)]
    names = {r[0] for r in rows(db, "SHOW SOURCES")}
    assert {"house", "house_progress", "accounts", "auctions", "bids", "organizations", "users"} <= names
    assert "written by a source" in refused(db, "DELETE FROM bids") or "cannot DELETE" in refused(db, "DELETE FROM bids")
    assert "still depended upon" in refused(db, "DROP SOURCE house")
    db.execute("DROP SOURCE house CASCADE")
    assert not names & {"house", "bids"} & {r[0] for r in rows(db, "SHOW SOURCES")}
    assert "does not exist" in refused(db, "SELECT * FROM bids")


def test_tables_from_a_generator(db):
    db.execute("CREATE SOURCE shop FROM LOAD GENERATOR MARKETING (TICK INTERVAL '5ms', UP TO 100)")
    time.sleep(0.3)
    db.execute("CREATE TABLE who FROM SOURCE shop (REFERENCE customers)")         # it came later, and has all the same
    db.execute("CREATE TABLE leads2 FROM SOURCE shop (REFERENCE leads)")
    wait(db, "SELECT (SELECT count(*) FROM who), (SELECT count(DISTINCT id) FROM leads2), (SELECT count(*) FROM leads2)", [(50, 99, 99)])
    assert "not found in source" in refused(db, "CREATE TABLE nope FROM SOURCE shop (REFERENCE nothing)")
    assert "still depended upon" in refused(db, "DROP SOURCE shop")
    db.execute("DROP TABLE who")
    db.execute("DROP SOURCE shop CASCADE")


def test_all_kinds_over_a_kill(tmp_path):
    s = Server(tmp_path / "data")
    s.sql("CREATE SOURCE tp FROM LOAD GENERATOR TPCH (SCALE FACTOR 0.002, TICK INTERVAL '20ms') FOR ALL TABLES", "materialize")
    s.sql("CREATE SOURCE kv FROM LOAD GENERATOR KEY VALUE (KEYS 64, SNAPSHOT ROUNDS 2, TRANSACTIONAL SNAPSHOT true, VALUE SIZE 10, SEED 7, PARTITIONS 4, BATCH SIZE 4, TICK INTERVAL '20ms') "
          "INCLUDE KEY ENVELOPE UPSERT", "materialize")
    s.sql("CREATE SOURCE cl FROM LOAD GENERATOR CLOCK (TICK INTERVAL '20ms')", "materialize")
    s.sql("CREATE SOURCE da FROM LOAD GENERATOR DATUMS", "materialize")
    s.sql("CREATE SOURCE co FROM LOAD GENERATOR COUNTER (TICK INTERVAL '3ms')", "materialize")
    s.sql("CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n, max(counter) AS top FROM co", "materialize")
    with s.connect("materialize") as c:
        wait(c, "SELECT n > 0 FROM v", [(True,)], 60)
    for _ in range(3):
        time.sleep(0.5)
        seen = s.sql("SELECT n FROM v", "materialize")[0][0]
        s.kill()
        s.start()
        assert s.sql("SELECT n >= %d, n = top FROM v" % seen, "materialize") == [(True, True)]      # nothing that was seen is lost, nothing comes twice
    one = lambda sql: s.sql(sql, "materialize")[0]
    with s.connect("materialize") as c:
        wait(c, "SELECT count(*), count(DISTINCT o_orderkey) FROM orders", [(3000, 3000)], 60)
    assert one("SELECT count(*) FROM lineitem l WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.o_orderkey = l.l_orderkey)") == (0,)
    assert one("SELECT count(*) FROM (SELECT o_orderkey, o_totalprice, sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)) AS s FROM orders JOIN lineitem ON l_orderkey = o_orderkey GROUP BY 1, 2) q "
               "WHERE abs(o_totalprice - s) > 0.01") == (0,)
    with s.connect("materialize") as c:
        wait(c, "SELECT (SELECT count(*) FROM kv), (SELECT count(*) FROM da)", [(64, 7)])
    assert one("SELECT count(*) FROM cl") == (1,)
    with s.connect("materialize") as c:
        wait(c, "SELECT name, status FROM mz_internal.mz_source_statuses WHERE status <> 'running'", [])
    s.stop()


def test_clusters_pause_sources(db):
    db.execute("CREATE CLUSTER idle (SIZE = '25cc', REPLICATION FACTOR = 0)")
    db.execute("CREATE SOURCE waits IN CLUSTER idle FROM LOAD GENERATOR COUNTER (TICK INTERVAL '5ms')")
    time.sleep(0.3)
    assert rows(db, "SELECT count(*) FROM waits") == [(0,)]
    assert rows(db, "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 'waits'") == [("paused",)]
    db.execute("ALTER CLUSTER idle SET (REPLICATION FACTOR = 1)")
    wait(db, "SELECT count(*) > 3 FROM waits", [(True,)])
    db.execute("ALTER CLUSTER idle SET (REPLICATION FACTOR = 0)")
    time.sleep(0.1)
    n = rows(db, "SELECT count(*) FROM waits")
    time.sleep(0.3)
    assert rows(db, "SELECT count(*) FROM waits") == n


# ---- webhooks ------------------------------------------------------------------------------------------------------------------


def post(server, name, body, headers=None, method="POST"):
    r = urllib.request.Request(f"{server.manage}/api/webhook/materialize/public/{name}", data=body, headers=headers or {}, method=method)
    try:
        with urllib.request.urlopen(r) as answer:
            return answer.status
    except urllib.error.HTTPError as e:
        return e.code


def test_webhook_formats(server, db):
    db.execute("CREATE SOURCE wj FROM WEBHOOK BODY FORMAT JSON INCLUDE HEADERS (NOT 'authorization') INCLUDE HEADER 'x-kind' AS kind INCLUDE HEADER 'x-kind' AS raw BYTES")
    assert post(server, "wj", b'{"b": 1, "a": [1, "x"]}', {"X-Kind": "k1", "Authorization": "secret"}) == 200
    assert post(server, "wj", b'{"n": 1}\n{"n": 2}\n') == 200
    assert post(server, "wj", b'{"n": 3') == 400 and post(server, "wj", b"") == 400 and post(server, "wj", b'{"n": 4}\n{"n"') == 400
    assert rows(db, "SELECT body, kind, raw FROM wj WHERE kind IS NOT NULL") == [({"a": [1, "x"], "b": 1}, "k1", b"k1")]
    assert rows(db, "SELECT headers->'x-kind', headers->'authorization', headers->'nothing' FROM wj WHERE kind IS NOT NULL") == [("k1", None, None)]
    assert rows(db, "SELECT body->>'n' FROM wj WHERE kind IS NULL ORDER BY 1") == [("1",), ("2",)]
    db.execute("CREATE SOURCE wa FROM WEBHOOK BODY FORMAT JSON ARRAY")
    assert post(server, "wa", b'[{"a": "],[{"}, [2, [3]], "x,y", null]') == 200 and post(server, "wa", b'{"one": 1}') == 200 and post(server, "wa", b"[]") == 200
    assert sorted(json.dumps(r[0]) for r in rows(db, "SELECT body FROM wa")) == sorted(['{"a": "],[{"}', "[2, [3]]", '"x,y"', "null", '{"one": 1}'])
    db.execute("CREATE SOURCE wt FROM WEBHOOK BODY FORMAT TEXT")
    assert post(server, "wt", "naïve ☃".encode()) == 200 and post(server, "wt", b"\xff\xfe") == 400
    db.execute("CREATE SOURCE wb FROM WEBHOOK BODY FORMAT BYTES")
    assert post(server, "wb", b"\xff\x00\xfe") == 200
    assert rows(db, "SELECT body FROM wt") == [("naïve ☃",)] and rows(db, "SELECT body FROM wb") == [(b"\xff\x00\xfe",)]


def test_webhook_answers(server, db):
    db.execute('CREATE SOURCE "odd name/ü" FROM WEBHOOK BODY FORMAT TEXT')
    assert post(server, "odd%20name%2F%C3%BC", b"x") == 200
    assert post(server, "nobody", b"x") == 404 and post(server, "wt/more", b"x") == 404
    assert post(server, "odd%20name%2F%C3%BC", None, method="GET") == 405
    assert post(server, "odd%20name%2F%C3%BC", b"x" * (2 * 1024 * 1024 + 1)) == 413
    assert post(server, "odd%20name%2F%C3%BC", b"x" * (2 * 1024 * 1024)) == 200
    db.execute("CREATE TABLE plain (a int)")
    assert post(server, "plain", b"x") == 404
    db.execute('DROP SOURCE "odd name/ü"')
    assert post(server, "odd%20name%2F%C3%BC", b"x") == 404
    assert "is a table not a secret" in refused(db, "CREATE SOURCE e FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH (SECRET plain) true)")
    assert "must be type boolean, not type text" in refused(db, "CREATE SOURCE e FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH (BODY) body)")
    assert "does not exist" in refused(db, "CREATE SOURCE e FROM WEBHOOK BODY FORMAT TEXT CHECK (WITH (HEADERS) body = 'a')")


def test_webhook_check(server, db):
    db.execute("CREATE SECRET hook AS 'it''s \\\\ secret'")
    db.execute("CREATE SOURCE signed FROM WEBHOOK BODY FORMAT JSON CHECK (WITH (HEADERS, BODY AS request_body BYTES, SECRET hook AS key BYTES) "
               "constant_time_eq(decode(headers->'x-signature', 'hex'), hmac(request_body, key, 'sha256')))")
    sign = lambda body, key=b"it's \\ secret": {"x-signature": hmac.new(key, body, hashlib.sha256).hexdigest()}
    body = b'{"q": "\'; DROP TABLE plain; --"}'
    assert post(server, "signed", body, sign(body)) == 200
    assert post(server, "signed", body + b" ", sign(body)) == 400 and post(server, "signed", body, sign(body, b"other")) == 400
    assert post(server, "signed", body) == 400 and post(server, "signed", body, {"x-signature": "not hex"}) == 400
    assert rows(db, "SELECT body->>'q' FROM signed") == [("'; DROP TABLE plain; --",)]
    db.execute("ALTER SECRET hook AS 'new'")
    assert post(server, "signed", body, sign(body)) == 400 and post(server, "signed", body, sign(body, b"new")) == 200


def test_webhooks_that_come_together(server, db):
    db.execute("CREATE SOURCE many FROM WEBHOOK BODY FORMAT JSON")
    db.execute("CREATE MATERIALIZED VIEW many_n AS SELECT (body->>'who')::int AS who, count(*) AS n FROM many GROUP BY 1")
    codes = []

    def sender(who):
        for i in range(20):
            codes.append(post(server, "many", json.dumps({"who": who, "i": i}).encode()))

    threads = [threading.Thread(target=sender, args=(w,)) for w in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert codes == [200] * 160
    assert rows(db, "SELECT who, n FROM many_n ORDER BY who") == [(w, 20) for w in range(8)]      # what was answered is there


def test_tables_from_webhooks(server, db):
    db.execute("CREATE TABLE inbox FROM WEBHOOK BODY FORMAT TEXT")
    assert post(server, "inbox", b"hello") == 200
    assert rows(db, "SELECT body FROM inbox") == [("hello",)]
    assert "written by a source" in refused(db, "INSERT INTO inbox VALUES ('mine')")
    db.execute("DROP TABLE inbox")
    assert post(server, "inbox", b"hello") == 404


def test_parts_go_with_their_source(db):
    db.execute("CREATE SOURCE whole FROM LOAD GENERATOR MARKETING (UP TO 3) FOR ALL TABLES")
    assert refused(db, "DROP SOURCE clicks") == 'SOURCE "clicks" is a subsource and must be dropped with ALTER SOURCE...DROP SUBSOURCE'
    assert "is a progress" in refused(db, "DROP SOURCE whole_progress CASCADE")
    db.execute("ALTER SOURCE whole DROP SUBSOURCE clicks")
    assert "does not exist" in refused(db, "SELECT * FROM clicks")
    wait(db, "SELECT count(*) FROM customers", [(50,)])
    db.execute("DROP SOURCE whole")
    assert "does not exist" in refused(db, "SELECT * FROM customers")
