# SPDX-License-Identifier: Apache-2.0
"""Objects of the live side: databases, schemas, clusters, secrets, roles, rights, names that change, drops, SHOW."""
import subprocess
import time

import boto3
import psycopg
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("objects") / "data")
    yield s
    s.stop()


def rows(c, sql):
    return [tuple(r) for r in c.execute(sql, prepare=False).fetchall()]


def refused(c, sql, match, code=None):
    with pytest.raises(psycopg.Error, match=match) as e:
        c.execute(sql, prepare=False)
    if code:
        assert e.value.sqlstate == code
    return e.value


def notices(c, sql):
    got = []

    def handler(diagnostic):
        got.append(diagnostic.message_primary)
    c.add_notice_handler(handler)
    c.execute(sql, prepare=False)
    c.remove_notice_handler(handler)
    return got


@pytest.fixture(scope="module")
def users(server):
    """Connections of IAM users by name, made at first use."""
    iam = boto3.client("iam", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    made = {}

    def user(name):
        if name not in made:
            iam.create_user(UserName=name)
            key = iam.create_access_key(UserName=name)["AccessKey"]
            made[name] = psycopg.connect(host="127.0.0.1", port=server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True)
        return made[name]
    yield user
    for c in made.values():
        c.close()


# ---- databases and schemas ------------------------------------------------------------------------------------------------------

def test_databases_and_schemas(server, db):
    db.execute("CREATE DATABASE shop")
    refused(db, "CREATE DATABASE shop", "database 'shop' already exists", "42P04")
    assert notices(db, "CREATE DATABASE IF NOT EXISTS shop") == ['database "shop" already exists, skipping']
    db.execute("CREATE SCHEMA shop.sales")
    assert ("shop", "") in rows(db, "SHOW DATABASES")
    assert [r[0] for r in rows(db, "SHOW SCHEMAS FROM shop")].count("sales") == 1
    db.execute("CREATE TABLE shop.sales.orders (id int)")
    db.execute("INSERT INTO shop.sales.orders VALUES (1)")
    with server.connect("shop") as c:
        refused(c, "SELECT * FROM orders", "orders")
        c.execute("SET search_path = sales")
        assert rows(c, "SELECT * FROM orders") == [(1,)]
        c.execute("CREATE TABLE t (a int)")
        assert rows(c, "SHOW TABLES") == [("orders", ""), ("t", "")]
        c.execute("SET search_path = nowhere")
        refused(c, "CREATE TABLE t2 (a int)", "no schema has been selected to create in", "3F000")
    assert rows(db, "SELECT * FROM shop.sales.orders") == [(1,)]
    refused(db, "DROP SCHEMA shop.sales", "cannot be dropped without CASCADE while it contains objects", "2BP01")
    refused(db, "DROP DATABASE shop RESTRICT", "cannot be dropped with RESTRICT while it contains schemas")
    db.execute("DROP SCHEMA shop.sales CASCADE")
    db.execute("DROP DATABASE shop")
    refused(db, "SELECT * FROM shop.sales.orders", "orders")
    assert notices(db, "DROP DATABASE IF EXISTS shop") == ['database "shop" does not exist, skipping']
    refused(db, "ALTER SCHEMA nosuch RENAME TO other", "unknown schema 'nosuch'", "3F000")
    refused(db, "DROP SCHEMA nosuch", "unknown schema 'nosuch'", "3F000")
    refused(db, "CREATE SCHEMA mz_mine", "unacceptable schema name", "42939")
    refused(db, "CREATE TABLE mz_catalog.t (a int)", "system schema", "42501")


def test_names_change(server, db):
    db.execute("CREATE SCHEMA ren")
    db.execute("CREATE TABLE ren.t (a int, b text)")
    db.execute("CREATE VIEW ren.v AS SELECT t.a FROM ren.t WHERE t.a > 0")
    db.execute("CREATE MATERIALIZED VIEW ren.mv AS SELECT a, count(*) AS n FROM ren.v GROUP BY a")
    db.execute("INSERT INTO ren.t VALUES (1, 'x'), (-1, 'y')")
    db.execute("ALTER TABLE ren.t RENAME TO \"My T\"")
    assert rows(db, "SHOW CREATE VIEW ren.v")[0][1] == 'CREATE VIEW materialize.ren.v AS SELECT t.a FROM materialize.ren."My T" AS t WHERE t.a > 0;'
    db.execute("ALTER SCHEMA ren RENAME TO ren2")
    db.execute('INSERT INTO ren2."My T" VALUES (5, NULL)')
    assert rows(db, "SELECT * FROM ren2.mv ORDER BY 1") == [(1, 1), (5, 1)]
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        c.execute('INSERT INTO ren2."My T" VALUES (5, NULL)')
        assert rows(c, "SELECT * FROM ren2.mv ORDER BY 1") == [(1, 1), (5, 2)]
        c.execute("ALTER VIEW ren2.v RENAME TO v9")
        assert "materialize.ren2.v9" in rows(c, "SHOW CREATE MATERIALIZED VIEW ren2.mv")[0][1]
        refused(c, "ALTER VIEW ren2.mv RENAME TO x", "is not a view")
        c.execute("CREATE SCHEMA other")
        c.execute("CREATE TABLE other.o (a int)")
        c.execute("ALTER SCHEMA ren2 SWAP WITH other")
        assert rows(c, "SELECT count(*) FROM ren2.o") == [(0,)]
        assert rows(c, "SELECT * FROM other.mv ORDER BY 1") == [(1, 1), (5, 2)]
        c.execute("DROP SCHEMA other CASCADE")
        c.execute("DROP SCHEMA ren2 CASCADE")


# ---- secrets ------------------------------------------------------------------------------------------------------------------------

def test_secrets(server, db):
    db.execute("CREATE SECRET token AS 'very-hidden-words'")
    assert "very-hidden-words" not in str(rows(db, "SHOW CREATE SECRET token"))
    assert rows(db, "SHOW SECRETS") == [("token", "")]
    refused(db, "CREATE SECRET token AS 'x'", "secret \"materialize.public.token\" already exists", "42710")
    refused(db, "SELECT * FROM token", "is a secret and so cannot be depended upon")
    refused(db, "CREATE SECRET n AS 1", "implicitly casting from integer to bytea", "42804")
    refused(db, "CREATE SECRET n AS (SELECT 'x')", "does not allow subqueries")
    db.execute("ALTER SECRET token AS decode('aGk=', 'base64')")
    db.execute("ALTER SECRET token RENAME TO token2")
    assert rows(db, "SHOW SECRETS LIKE 'tok%'") == [("token2", "")]
    for f in server.data.rglob("*"):
        if f.is_file():
            assert b"very-hidden-words" not in f.read_bytes(), f
    db.execute("DROP SECRET token2")
    assert notices(db, "DROP SECRET IF EXISTS token2") == ['secret "token2" does not exist, skipping']
    refused(db, "DROP SECRET token2", "unknown catalog item 'token2'")


# ---- clusters --------------------------------------------------------------------------------------------------------------------------

def test_clusters(db):
    refused(db, "CREATE CLUSTER c1 (REPLICATION FACTOR = 1)", "SIZE must be specified for managed clusters")
    refused(db, "CREATE CLUSTER c1 (SIZE = 'huge')", "unknown cluster replica size huge")
    db.execute("CREATE CLUSTER c1 (SIZE = '50cc', REPLICATION FACTOR = 2)")
    assert ("c1", "r1 (50cc), r2 (50cc)", "") in rows(db, "SHOW CLUSTERS")
    refused(db, "CREATE CLUSTER REPLICA c1.r1 (SIZE = '25cc')", "r1 is reserved for replicas of managed clusters")
    refused(db, "CREATE CLUSTER REPLICA c1.mine (SIZE = '25cc')", "cannot modify managed cluster c1")
    refused(db, "ALTER CLUSTER c1 SET (SIZE = '100cc') WITH (WAIT UNTIL READY (ON TIMEOUT = COMMIT))", "TIMEOUT=<duration> option is required")
    db.execute("ALTER CLUSTER c1 SET (SIZE = '100cc') WITH (WAIT UNTIL READY (TIMEOUT = '10s', ON TIMEOUT = 'COMMIT'))")
    assert rows(db, "SHOW CLUSTER REPLICAS WHERE cluster = 'c1'") == [("c1", "r1", "100cc", True, ""), ("c1", "r2", "100cc", True, "")]
    db.execute("CREATE CLUSTER c2 REPLICAS (one (SIZE = '25cc'))")
    db.execute("CREATE CLUSTER REPLICA c2.two (SIZE = '25cc')")
    db.execute("DROP CLUSTER REPLICA c2.one")
    assert rows(db, "SHOW CLUSTERS LIKE 'c2'") == [("c2", "two (25cc)", "")]
    db.execute("ALTER CLUSTER c1 SWAP WITH c2")
    assert rows(db, "SHOW CLUSTERS LIKE 'c2'") == [("c2", "r1 (100cc), r2 (100cc)", "")]
    db.execute("ALTER CLUSTER c2 RENAME TO c3")
    refused(db, "CREATE CLUSTER mz_x (SIZE = '25cc')", "reserved")
    refused(db, "ALTER CLUSTER c3 SET (REPLICATION FACTOR 6)", "max_replicas_per_cluster")
    db.execute("DROP CLUSTER c1")
    db.execute("DROP CLUSTER c3")
    assert [r[0] for r in rows(db, "SHOW CLUSTERS")] == ["mz_catalog_server", "mz_probe", "mz_support", "mz_system", "quickstart"]


def test_a_cluster_without_replicas_pauses(server, db):
    db.execute("CREATE CLUSTER paused (SIZE = '25cc')")
    db.execute("CREATE TABLE ticks (a int)")
    db.execute("CREATE MATERIALIZED VIEW sums IN CLUSTER paused AS SELECT sum(a)::int AS s FROM ticks")
    db.execute("CREATE MATERIALIZED VIEW sums2 AS SELECT s + 1 AS s FROM sums")
    db.execute("INSERT INTO ticks VALUES (1)")
    db.execute("ALTER CLUSTER paused SET (REPLICATION FACTOR 0)")
    db.execute("INSERT INTO ticks VALUES (2)")
    e = refused(db, "SELECT * FROM sums", 'cluster "paused" has no replicas', "55000")
    assert "REPLICATION FACTOR" in e.diag.message_hint
    assert rows(db, "SELECT * FROM sums2") == [(2,)]
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        refused(c, "SELECT * FROM sums", "no replicas")
        c.execute("INSERT INTO ticks VALUES (10)")
        c.execute("ALTER CLUSTER paused SET (REPLICATION FACTOR 1)")
        assert rows(c, "SELECT * FROM sums") == [(13,)]
        assert rows(c, "SELECT * FROM sums2") == [(14,)]
        c.execute("INSERT INTO ticks VALUES (1)")
        assert rows(c, "SELECT * FROM sums2") == [(15,)]
        refused(c, "DROP CLUSTER paused", 'cannot drop cluster "paused": still depended upon by materialized view "sums"', "2BP01")
        c.execute("ALTER MATERIALIZED VIEW sums SET CLUSTER quickstart")
        c.execute("DROP CLUSTER paused")
        assert rows(c, "SHOW MATERIALIZED VIEWS LIKE 'sums'") == [("sums", "quickstart", "")]
        c.execute("DROP TABLE ticks CASCADE")


# ---- dropping -----------------------------------------------------------------------------------------------------------------------------

def test_drop(db):
    db.execute("CREATE TABLE d1 (a int)")
    db.execute("CREATE TABLE d2 (a int)")
    db.execute("CREATE VIEW dv AS SELECT a FROM d1")
    db.execute("CREATE MATERIALIZED VIEW dmv AS SELECT a FROM dv")
    db.execute("CREATE INDEX d1_idx ON d1 (a)")
    e = refused(db, "DROP TABLE d1", 'cannot drop table "d1": still depended upon by view "dv"', "2BP01")
    assert e.diag.message_hint == "Use DROP ... CASCADE to drop the dependent objects too."
    e = refused(db, "DROP VIEW dmv", "is not a view", "42809")
    assert e.diag.message_hint == "Use DROP MATERIALIZED VIEW to remove a materialized view."
    refused(db, "DROP TABLE dv", "is a view not a table", "42809")
    db.execute("DROP TABLE d1, d2 CASCADE")
    assert rows(db, "SHOW OBJECTS WHERE name LIKE 'd%'") == []
    db.execute("DROP TABLE IF EXISTS d1")
    db.execute("CREATE TABLE d3 (a int)")
    db.execute("CREATE DEFAULT INDEX ON d3")
    assert rows(db, "SHOW INDEXES ON d3") == [("d3_primary_idx", "d3", "quickstart", "{a}", "")]
    assert rows(db, "SHOW CREATE INDEX d3_primary_idx")[0][1] == "CREATE INDEX materialize.public.d3_primary_idx IN CLUSTER quickstart ON materialize.public.d3 (a);".replace("(a)", '("a")')
    db.execute("DROP TABLE d3")
    assert rows(db, "SHOW INDEXES") == []


# ---- roles and rights ------------------------------------------------------------------------------------------------------------------------

def test_rights(db, users):
    lou = users("lou")
    db.execute("CREATE TABLE priv (a int)")
    db.execute("INSERT INTO priv VALUES (1)")
    e = refused(lou, "SELECT * FROM priv", 'permission denied for TABLE "materialize.public.priv"', "42501")
    assert e.diag.message_detail == """The 'lou' role needs SELECT privileges on TABLE "materialize.public.priv\""""
    db.execute("GRANT SELECT ON priv TO lou")
    assert rows(lou, "SELECT * FROM priv") == [(1,)]
    refused(lou, "INSERT INTO priv VALUES (2)", "permission denied for TABLE")
    refused(lou, "DROP TABLE priv", "must be owner of TABLE materialize.public.priv", "42501")
    refused(lou, "CREATE TABLE mine (a int)", 'permission denied for SCHEMA "materialize.public"')
    refused(lou, "CREATE CLUSTER mine (SIZE = '25cc')", "permission denied for SYSTEM")
    refused(lou, "GRANT SELECT ON priv TO lou", "must be owner")
    db.execute("GRANT INSERT, UPDATE, DELETE ON priv TO lou")
    lou.execute("INSERT INTO priv VALUES (2)")
    lou.execute("UPDATE priv SET a = 3 WHERE a = 2")
    db.execute("REVOKE ALL ON priv FROM lou")
    refused(lou, "SELECT * FROM priv", "permission denied")
    db.execute("CREATE ROLE readers")
    db.execute("GRANT readers TO lou")
    db.execute("GRANT SELECT ON priv TO readers")
    assert rows(lou, "SELECT count(*) FROM priv") == [(2,)]
    refused(db, "GRANT lou TO readers", 'role "readers" is a member of role "lou"|is a member of role')
    db.execute("CREATE VIEW seen AS SELECT count(*) AS n FROM priv")
    refused(lou, "SELECT * FROM seen", 'permission denied for VIEW "materialize.public.seen"')
    db.execute("REVOKE SELECT ON priv FROM readers")
    db.execute("GRANT SELECT ON seen TO PUBLIC")
    assert rows(lou, "SELECT * FROM seen") == [(2,)]                   # by its owner's rights
    refused(db, "GRANT USAGE ON priv TO lou", "invalid privilege types USAGE for TABLE")
    db.execute("GRANT CREATE ON SCHEMA public TO lou")
    lou.execute("CREATE TABLE mine (a int)")
    lou.execute("INSERT INTO mine VALUES (1)")
    refused(lou, "CREATE MATERIALIZED VIEW mine_mv AS SELECT * FROM mine", 'permission denied for CLUSTER "quickstart"')
    e = refused(db, "DROP ROLE lou", 'role "lou" cannot be dropped because some objects depend on it', "2BP01")
    assert "owner of table" in e.diag.message_detail
    db.execute("REASSIGN OWNED BY lou TO materialize")
    db.execute("REVOKE CREATE ON SCHEMA public FROM lou")
    refused(lou, "SELECT * FROM mine", "permission denied")
    db.execute("DROP ROLE lou")
    db.execute("DROP TABLE priv, mine CASCADE")
    db.execute("DROP ROLE readers")


def test_default_privileges(db, users):
    kim = users("kim")
    refused(kim, "CREATE SCHEMA kims", 'permission denied for DATABASE "materialize"')
    db.execute("ALTER DEFAULT PRIVILEGES FOR ROLE materialize IN SCHEMA public GRANT SELECT ON TABLES TO kim")
    db.execute("CREATE TABLE later (a int)")
    assert rows(kim, "SELECT * FROM later") == []
    db.execute("ALTER DEFAULT PRIVILEGES FOR ROLE materialize IN SCHEMA public REVOKE SELECT ON TABLES FROM kim")
    db.execute("CREATE TABLE later2 (a int)")
    refused(kim, "SELECT * FROM later2", "permission denied")
    assert ("materialize", "kim", "materialize", "public", "later", "table", "SELECT") in rows(db, "SHOW PRIVILEGES ON TABLES FOR kim")
    db.execute("DROP TABLE later, later2")


def test_a_user_named_as_the_superuser_is_not_it(db, users):
    other = users("materialize")
    db.execute("CREATE TABLE safe (a int)")
    refused(other, "SELECT * FROM safe", "permission denied")
    db.execute("DROP TABLE safe")


# ---- the rest -----------------------------------------------------------------------------------------------------------------------------------

def test_owner_comment_column(db, users):
    users("joe").execute("SHOW TABLES")
    db.execute("CREATE TABLE oc (a int)")
    db.execute("COMMENT ON TABLE oc IS 'what it is'")
    db.execute("COMMENT ON COLUMN oc.a IS 'a number'")
    assert ("oc", "what it is") in rows(db, "SHOW TABLES")
    assert rows(db, "SHOW COLUMNS FROM oc") == [("a", True, "integer", "a number")]
    refused(db, "COMMENT ON COLUMN oc.b IS 'x'", "does not exist", "42703")
    db.execute("INSERT INTO oc VALUES (1)")
    db.execute("CREATE MATERIALIZED VIEW oc_mv AS SELECT count(*) AS n FROM oc")
    db.execute("ALTER TABLE oc ADD COLUMN b text")
    db.execute("INSERT INTO oc VALUES (2, 'two')")
    assert rows(db, "SELECT * FROM oc ORDER BY a") == [(1, None), (2, "two")]
    assert rows(db, "SELECT n FROM oc_mv") == [(2,)]
    refused(db, "ALTER TABLE oc ADD COLUMN b int", 'column "b" of relation "oc" already exists', "42701")
    db.execute("ALTER TABLE oc OWNER TO joe")
    assert rows(users("joe"), "SELECT count(*) FROM oc") == [(2,)]
    db.execute("DROP TABLE oc CASCADE")


# ---- options of relations -----------------------------------------------------------------------------------------------------------------------

def test_assert_not_null(server, db):
    db.execute("CREATE TABLE an (a int, b int)")
    refused(db, "CREATE MATERIALIZED VIEW an_mv WITH (ASSERT NOT NULL z) AS SELECT a, b FROM an", 'column "z" in ASSERT NOT NULL option not found')
    db.execute("CREATE MATERIALIZED VIEW an_mv WITH (ASSERT NOT NULL a) AS SELECT a, b FROM an")
    db.execute("INSERT INTO an VALUES (1, NULL)")
    assert rows(db, "SELECT * FROM an_mv") == [(1, None)]
    db.execute("INSERT INTO an VALUES (NULL, 2)")
    refused(db, "SELECT * FROM an_mv", 'column "a" must not be null')
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        c.execute("INSERT INTO an VALUES (NULL, 3)")
        refused(c, "SELECT * FROM an_mv", 'column "a" must not be null')
        c.execute("DELETE FROM an WHERE a IS NULL")
        assert rows(c, "SELECT * FROM an_mv") == [(1, None)]
        assert "ASSERT NOT NULL" in rows(c, "SHOW CREATE MATERIALIZED VIEW an_mv")[0][1]
        c.execute("DROP TABLE an CASCADE")


def test_a_view_of_a_broken_query_is_made(db):
    db.execute("CREATE TABLE bq (a int)")
    db.execute("INSERT INTO bq VALUES (0)")
    db.execute("CREATE MATERIALIZED VIEW bq_mv AS SELECT 10 / a AS q FROM bq")
    refused(db, "SELECT * FROM bq_mv", "division by zero")
    db.execute("UPDATE bq SET a = 5")
    assert rows(db, "SELECT * FROM bq_mv") == [(2,)]
    db.execute("DROP TABLE bq CASCADE")


def test_as_of(server, db):
    db.execute("CREATE TABLE hist (a int, t text) WITH (RETAIN HISTORY FOR '1h')")
    db.execute("CREATE MATERIALIZED VIEW hist_mv WITH (RETAIN HISTORY FOR '1h') AS SELECT t, count(*) AS n FROM hist GROUP BY t")
    db.execute("INSERT INTO hist VALUES (1, 'x'), (1, 'x')")
    time.sleep(0.05)
    first = int(time.time() * 1000)
    time.sleep(0.05)
    db.execute("INSERT INTO hist VALUES (2, 'y')")
    db.execute("DELETE FROM hist WHERE a = 1")
    assert rows(db, f"SELECT * FROM hist AS OF {first}") == [(1, "x"), (1, "x")]
    assert rows(db, f"SELECT * FROM hist_mv AS OF {first}") == [("x", 2)]
    assert rows(db, f"SELECT count(*) FROM hist h JOIN hist_mv m ON m.t = h.t AS OF {first}") == [(2,)]
    assert rows(db, "SELECT * FROM hist") == [(2, "y")]
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute(f"DECLARE s CURSOR FOR SUBSCRIBE hist_mv AS OF {first}")
        got = c.execute("FETCH 10 s WITH (timeout = '1s')", prepare=False).fetchall()
        while len(got) < 3:
            got += c.execute("FETCH 10 s WITH (timeout = '1s')", prepare=False).fetchall()
        assert [(int(r[1]), r[2], r[3]) for r in got] == [(1, "x", 2), (1, "y", 1), (-1, "x", 2)]
        assert int(got[0][0]) == first < int(got[1][0]) < int(got[2][0])
        db.execute("INSERT INTO hist VALUES (3, 'y')")
        more = []
        while len(more) < 2:
            more += c.execute("FETCH 10 s WITH (timeout = '1s')", prepare=False).fetchall()
        assert sorted((int(r[1]), r[2], r[3]) for r in more) == [(-1, "y", 1), (1, "y", 2)]
        c.execute("ROLLBACK")
    db.execute("DELETE FROM hist WHERE a = 3")
    refused(db, "COPY (SUBSCRIBE hist AS OF 1) TO STDOUT", "is not valid for all inputs")
    ahead = int(time.time() * 1000) + 700
    begun = time.time()
    assert rows(db, f"SELECT * FROM hist AS OF {ahead}") == [(2, "y")]
    assert time.time() - begun > 0.5
    refused(db, "SELECT * FROM hist AS OF 1", r"Timestamp \(1\) is not valid for all inputs: \[Antichain")
    assert rows(db, "SELECT * FROM hist AS OF AT LEAST 1") in ([], [(1, "x"), (1, "x")])
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        assert rows(c, f"SELECT * FROM hist_mv AS OF {first}") == [("x", 2)]
        c.execute("ALTER MATERIALIZED VIEW hist_mv SET (RETAIN HISTORY FOR '2h')")
        assert "2h" in rows(c, "SHOW CREATE MATERIALIZED VIEW hist_mv")[0][1]
        c.execute("ALTER TABLE hist RESET (RETAIN HISTORY)")
        refused(c, f"SELECT * FROM hist AS OF {first}", "is not valid for all inputs")
        c.execute("DROP TABLE hist CASCADE")
    with server.connect("materialize") as c:
        refused(c, "CREATE TABLE h2 (a int) WITH (RETAIN HISTORY FOR '1ms')", "RETAIN HISTORY cannot be set lower than 1000ms")
        c.execute("CREATE TABLE h2 (a int)")
        c.execute("INSERT INTO h2 VALUES (1)")
        before = int(time.time() * 1000) - 500
        refused(c, f"SELECT * FROM h2 AS OF {before}", "is not valid for all inputs")
        c.execute("DROP TABLE h2")


def test_comment_on_a_replica(db):
    db.execute("CREATE CLUSTER noted REPLICAS (mine (SIZE '25cc'), other (SIZE '25cc'))")
    db.execute("COMMENT ON CLUSTER REPLICA noted.mine IS 'the first one'")
    assert rows(db, "SHOW CLUSTER REPLICAS WHERE cluster = 'noted'") == [("noted", "mine", "25cc", True, "the first one"), ("noted", "other", "25cc", True, "")]
    assert rows(db, "SELECT object_type, comment FROM mz_internal.mz_comments c JOIN mz_cluster_replicas r ON r.id = c.id WHERE r.name = 'mine'") == [("cluster-replica", "the first one")]
    refused(db, "COMMENT ON CLUSTER REPLICA noted.none IS 'x'", "unknown cluster replica 'none'", "42704")
    db.execute("COMMENT ON CLUSTER REPLICA noted.mine IS NULL")
    assert rows(db, "SELECT count(*) FROM mz_internal.mz_comments WHERE object_type = 'cluster-replica'") == [(0,)]
    db.execute("DROP CLUSTER noted")


def replica_events(c, cluster):
    return [tuple(r) for r in rows(c, f"SELECT event_type, details->>'reason' FROM mz_audit_events WHERE object_type = 'cluster-replica' AND details->>'cluster_name' = '{cluster}' ORDER BY id")]


def until_within(seconds, ask):
    """What fails on the way is not yet so."""
    deadline = time.time() + seconds
    while True:
        try:
            if ask():
                return
        except psycopg.errors.ObjectNotInPrerequisiteState:
            pass
        assert time.time() < deadline
        time.sleep(0.05)


def test_a_cluster_with_a_schedule(server, db):
    """It runs from the estimate before a refresh until it is done; its views stay readable, what follows each commit does not."""
    refused(db, "CREATE CLUSTER sc (SIZE '25cc', SCHEDULE = ON REFRESH, REPLICATION FACTOR 1)", "REPLICATION FACTOR cannot be given together with any SCHEDULE other than MANUAL")
    refused(db, "CREATE CLUSTER sc (SIZE '25cc', SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = '-1 s'))", "HYDRATION TIME ESTIMATE")
    refused(db, "CREATE CLUSTER sc (SIZE '25cc', SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = 'soon'))", "invalid HYDRATION TIME ESTIMATE option value")
    db.execute("CREATE CLUSTER sc (SIZE '25cc', SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = '1 hour'))")
    assert "SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = '3600 s')" in rows(db, "SHOW CREATE CLUSTER sc")[0][1] and "REPLICATION FACTOR" not in rows(db, "SHOW CREATE CLUSTER sc")[0][1]
    schedule = "SELECT s.type, s.refresh_hydration_time_estimate::text FROM mz_internal.mz_cluster_schedules s JOIN mz_clusters c ON c.id = s.cluster_id WHERE c.name = 'sc'"
    assert rows(db, schedule) == [("on-refresh", "01:00:00")]
    factor = "SELECT replication_factor FROM mz_clusters WHERE name = 'sc'"
    assert rows(db, factor) == [(0,)] and rows(db, "SHOW CLUSTER REPLICAS WHERE cluster = 'sc'") == []                       # nothing is due
    refused(db, "ALTER CLUSTER sc SET (REPLICATION FACTOR 1)", "REPLICATION FACTOR cannot be set if the cluster SCHEDULE is anything other than MANUAL")
    db.execute("ALTER CLUSTER sc SET (SCHEDULE = ON REFRESH)")
    assert rows(db, schedule) == [("on-refresh", "00:00:00")]
    db.execute("CREATE TABLE sct (a int)")
    db.execute("INSERT INTO sct VALUES (1)")
    db.execute("CREATE MATERIALIZED VIEW sc_every IN CLUSTER sc WITH (REFRESH AT CREATION, REFRESH EVERY '3s') AS SELECT count(*) AS n FROM sct")
    db.execute("CREATE MATERIALIZED VIEW sc_commit IN CLUSTER sc AS SELECT count(*) AS n FROM sct")
    assert rows(db, "SELECT n FROM sc_every") == [(1,)] and rows(db, factor) == [(0,)]                                       # as the last refresh has left it
    e = refused(db, "SELECT n FROM sc_commit", 'cluster "sc" has no replicas', "55000")
    assert "SCHEDULE = MANUAL" in e.diag.message_hint
    db.execute("INSERT INTO sct VALUES (2)")
    assert rows(db, "SELECT n FROM sc_every") == [(1,)]
    until_within(8, lambda: rows(db, "SELECT n FROM sc_every") == [(2,)])
    until_within(2, lambda: rows(db, factor) == [(0,)])
    events = replica_events(db, "sc")
    assert events[:2] == [("create", "schedule"), ("drop", "schedule")] and len(events) % 2 == 0
    # With an estimate as long as the pause between refreshes it is always about to be needed.
    db.execute("ALTER CLUSTER sc SET (SCHEDULE = ON REFRESH (HYDRATION TIME ESTIMATE = '3s'))")
    until_within(5, lambda: rows(db, factor) == [(1,)])
    until_within(5, lambda: rows(db, "SELECT n FROM sc_commit") == [(2,)])
    db.execute("ALTER CLUSTER sc RESET (SCHEDULE)")
    assert rows(db, schedule) == [("manual", None)] and "SCHEDULE = MANUAL" in rows(db, "SHOW CREATE CLUSTER sc")[0][1]
    assert rows(db, factor) == [(1,)]
    db.execute("ALTER CLUSTER sc SET (REPLICATION FACTOR 0)")
    refused(db, "SELECT n FROM sc_every", 'cluster "sc" has no replicas', "55000")
    db.execute("ALTER CLUSTER sc SET (SCHEDULE = ON REFRESH)")
    assert rows(db, "SELECT n FROM sc_every") == [(2,)]
    until_within(5, lambda: rows(db, factor) == [(0,)])
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        assert rows(c, schedule) == [("on-refresh", "00:00:00")]
        c.execute("INSERT INTO sct VALUES (3)")
        until_within(8, lambda: rows(c, "SELECT n FROM sc_every") == [(3,)])
        c.execute("DROP CLUSTER sc CASCADE")


def test_a_schedule_whose_refresh_fails(server, db):
    """What the refresh has left is an error then; it stays one when the cluster goes and comes, until a refresh works."""
    db.execute("CREATE CLUSTER sf (SIZE '25cc', SCHEDULE = ON REFRESH)")
    db.execute("CREATE TABLE sft (a int)")
    db.execute("INSERT INTO sft VALUES (1)")
    db.execute("CREATE MATERIALIZED VIEW sf_v IN CLUSTER sf WITH (REFRESH AT CREATION, REFRESH EVERY '1s') AS SELECT sum(1 / a) AS n FROM sft")
    db.execute("INSERT INTO sft VALUES (0)")

    def fails():
        try:
            db.execute("SELECT n FROM sf_v", prepare=False)
        except psycopg.errors.DivisionByZero:
            return True
    until_within(8, fails)
    events = len(replica_events(db, "sf"))
    while len(replica_events(db, "sf")) < events + 4:
        assert fails()
    db.execute("DELETE FROM sft WHERE a = 0")
    db.execute("INSERT INTO sft VALUES (1)")

    def heals():
        return not fails() and rows(db, "SELECT n FROM sf_v") == [(2,)]
    until_within(10, heals)
    until_within(3, lambda: rows(db, "SELECT replication_factor FROM mz_clusters WHERE name = 'sf'") == [(0,)])
    db.execute("DROP CLUSTER sf CASCADE")
    db.execute("DROP TABLE sft")


def test_refresh(server, db):
    db.execute("CREATE TABLE rf (a int)")
    db.execute("INSERT INTO rf VALUES (1)")
    db.execute("CREATE MATERIALIZED VIEW rf_once WITH (REFRESH AT CREATION) AS SELECT count(*) AS n FROM rf")
    db.execute("CREATE MATERIALIZED VIEW rf_every WITH (REFRESH = EVERY '2s') AS SELECT count(*) AS n FROM rf")
    db.execute("CREATE MATERIALIZED VIEW rf_later WITH (REFRESH = EVERY '1 day' ALIGNED TO '2099-01-01') AS SELECT count(*) AS n FROM rf")
    db.execute("CREATE MATERIALIZED VIEW rf_up AS SELECT n + 1 AS n FROM rf_every")
    refused(db, "CREATE MATERIALIZED VIEW x WITH (REFRESH ON COMMIT, REFRESH EVERY '1s') AS SELECT 1 AS a", "not compatible")
    refused(db, "SELECT * FROM rf_later", "has not been refreshed yet", "55000")
    db.execute("INSERT INTO rf VALUES (2)")
    assert rows(db, "SELECT * FROM rf_once") == [(1,)]
    assert rows(db, "SELECT * FROM rf_every") == [(1,)]
    deadline = time.time() + 8
    while rows(db, "SELECT * FROM rf_every") != [(2,)]:
        assert time.time() < deadline
        time.sleep(0.1)
    assert rows(db, "SELECT * FROM rf_up") == [(3,)]
    assert rows(db, "SELECT * FROM rf_once") == [(1,)]
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        c.execute("INSERT INTO rf VALUES (3)")
        assert rows(c, "SELECT * FROM rf_once") == [(1,)]
        deadline = time.time() + 8
        while rows(c, "SELECT * FROM rf_up") != [(4,)]:
            assert time.time() < deadline
            time.sleep(0.1)
        c.execute("DROP TABLE rf CASCADE")


def test_temporary_objects_end_with_their_session(server, db):
    db.execute("CREATE TABLE tt (a int)")
    db.execute("INSERT INTO tt VALUES (1)")
    with server.connect("materialize") as c:
        c.execute("CREATE TEMP TABLE tt (a int, b int)")
        c.execute("INSERT INTO tt VALUES (2, 3)")
        assert rows(c, "SELECT * FROM tt") == [(2, 3)]
        assert rows(c, "SELECT * FROM mz_temp.tt") == [(2, 3)]
        assert rows(c, "SELECT * FROM public.tt") == [(1,)]
        c.execute("CREATE TEMP VIEW tv AS SELECT b FROM tt")
        assert rows(c, "SELECT * FROM tv") == [(3,)]
        refused(c, "CREATE VIEW stays AS SELECT b FROM tv", "non-temporary items cannot depend on temporary item")
        assert rows(db, "SELECT * FROM tt") == [(1,)]
        refused(db, "SELECT * FROM tv", "tv")
    server.kill()
    server.start()
    with server.connect("materialize") as c:
        assert rows(c, "SELECT * FROM tt") == [(1,)]
        c.execute("DROP TABLE tt")


def test_settings_of_roles(server, db, users):
    users("sam").execute("SHOW TABLES")
    db.execute("CREATE CLUSTER sams (SIZE = '25cc', REPLICATION FACTOR = 0)")
    db.execute("ALTER ROLE sam SET cluster = sams")
    db.execute("CREATE TABLE st (a int)")
    db.execute("GRANT SELECT ON st TO sam")
    iam = boto3.client("iam", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    key = iam.create_access_key(UserName="sam")["AccessKey"]
    with psycopg.connect(host="127.0.0.1", port=server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True) as c:
        assert rows(c, "SHOW cluster") == [("sams",)]
        refused(c, "SELECT * FROM st", 'permission denied for CLUSTER "sams"', "42501")
        db.execute("GRANT USAGE ON CLUSTER sams TO sam")
        refused(c, "SELECT * FROM st", 'CLUSTER "sams" has no replicas available', "55000")
        assert notices(c, "SET cluster = nowhere") == ['cluster "nowhere" does not exist']
        refused(c, "SELECT * FROM st", "unknown cluster 'nowhere'")
        c.execute("RESET cluster")
        assert rows(c, "SELECT * FROM st") == []
    db.execute("DROP TABLE st")
    db.execute("DROP CLUSTER sams")


def test_psql(server):
    env = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": server.key, "PGPASSWORD": server.secret, "PGDATABASE": "materialize", "PATH": "/usr/bin:/bin"}
    script = """CREATE CLUSTER pc (SIZE = '25cc', REPLICATION FACTOR = 0);
CREATE SECRET ps AS 'x';
SHOW CLUSTERS LIKE 'pc';
DROP SECRET ps;
DROP CLUSTER pc;
SET CLUSTER = quickstart;
SHOW cluster;"""
    out = subprocess.run(["psql", "-XAt", "-v", "ON_ERROR_STOP=1"], input=script, env=env, capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    assert out.stdout.splitlines() == ["CREATE CLUSTER", "CREATE SECRET", "pc||", "DROP SECRET", "DROP CLUSTER", "SET", "quickstart"]


def test_insert_returning(server, db):
    db.execute("CREATE TABLE ret (a int NOT NULL, b text DEFAULT 'd')")
    assert rows(db, "INSERT INTO ret VALUES (1, 'x'), (2, 'y') RETURNING a + 1 AS a, b") == [(2, "x"), (3, "y")]
    cur = db.execute("INSERT INTO ret (a) VALUES (%s) RETURNING *", (7,))
    assert [tuple(r) for r in cur.fetchall()] == [(7, "d")] and cur.statusmessage == "INSERT 0 1"
    assert rows(db, "INSERT INTO ret SELECT a + 10, b FROM ret WHERE a = 1 RETURNING a") == [(11,)]
    refused(db, "INSERT INTO ret VALUES (1, 'x') RETURNING nope", "nope")
    assert rows(db, "SELECT count(*) FROM ret") == [(4,)]
    refused(db, "DELETE FROM ret RETURNING a", "RETURNING is not supported")
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        assert rows(c, "INSERT INTO ret VALUES (20, 'tx') RETURNING b") == [("tx",)]
        c.execute("ROLLBACK")
    assert rows(db, "SELECT count(*) FROM ret") == [(4,)]
    db.execute("DROP TABLE ret")


def test_types(server, db):
    db.execute("CREATE TABLE ty (a uint2, b uint4, c uint8, l int list, m map[text=>int], n text list list, v varchar(2), i interval, u uuid)")
    db.execute("INSERT INTO ty (a, b, c, l, n, v, i, u) VALUES (65535, 4294967295, 18446744073709551615, ARRAY[1, NULL], ARRAY[ARRAY['a']], 'xy', '1 day', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6')")
    db.execute("CREATE MATERIALIZED VIEW tym AS SELECT a, max(c) AS c, ROW(a, v) AS r FROM ty GROUP BY a, v")
    refused(db, "INSERT INTO ty (a) VALUES (-1)", "out of range")
    refused(db, "INSERT INTO ty (v) VALUES ('xyz')", r"value too long for type character varying\(2\)", "22001")
    cur = db.execute("SELECT a, b, c FROM ty", prepare=False)
    assert [d.type_code for d in cur.description] == [16460, 16462, 16464]          # Materialize's numbers
    assert [int(x) for x in cur.fetchone()] == [65535, 4294967295, 18446744073709551615]
    with db.cursor(binary=True) as b:
        assert b.execute("SELECT a, b, c, l, n, i::text FROM ty").fetchone() == (b"\xff\xff", b"\xff" * 4, b"\xff" * 8, [1, None], [["a"]], "1 day")
    assert [r[2] for r in rows(db, "SHOW COLUMNS FROM ty")][:6] == ["uint2", "uint4", "uint8", "integer list", "map[text=>integer]", "text list list"]
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        c.execute("INSERT INTO ty (a, c) VALUES (1, 2)")
        assert [int(r[1]) for r in rows(c, "SELECT * FROM tym ORDER BY a")] == [2, 18446744073709551615]
        assert rows(c, "SHOW COLUMNS FROM tym")[2][2] == "record(f1 uint2, f2 character varying(2))"
        c.execute("DROP TABLE ty CASCADE")


def test_a_block_changes_names_by_one_statement_or_by_renames(server, db):
    one, kinds = "this transaction can only execute a single statement", "transactions which modify objects are restricted to just modifying objects"
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        assert c.execute("CREATE TABLE txt (a int)").statusmessage == "CREATE TABLE"
        assert rows(db, "SHOW OBJECTS LIKE 'tx_'") == []                      # it comes with COMMIT
        refused(c, "CREATE MATERIALIZED VIEW txm AS SELECT count(*) AS n FROM txt", one, "25000")
        c.execute("COMMIT")
        assert rows(db, "SHOW OBJECTS LIKE 'tx_'") == []
        for other in ("INSERT INTO txt VALUES (1)", "SELECT 1", "SHOW TABLES", "GRANT SELECT ON txt TO PUBLIC", "ALTER TABLE txt RENAME TO txu"):
            c.execute("BEGIN")
            c.execute("CREATE TABLE txt (a int)")
            refused(c, other, one, "25000")
            c.execute("ROLLBACK")
        c.execute("BEGIN")
        c.execute("CREATE TABLE txt (a int)")
        c.execute("ROLLBACK")
        assert rows(db, "SHOW OBJECTS LIKE 'tx_'") == []
        c.execute("BEGIN")
        c.execute("CREATE TABLE txt (a int)")
        c.execute("SET application_name = 'x'")
        c.execute("COMMIT")
        assert rows(c, "SELECT * FROM txt") == []
        c.execute("BEGIN")
        c.execute("CREATE TABLE txt (a int)")
        refused(c, "COMMIT", "already exists", "42710")                       # said by COMMIT
        assert rows(c, "SELECT * FROM txt") == []                             # and the block is over
        for never in ("DROP TABLE txt", "ALTER TABLE txt OWNER TO materialize", "DROP CLUSTER IF EXISTS nope"):
            c.execute("BEGIN")
            refused(c, never, never + " cannot be run inside a transaction block", "25001")
            c.execute("ROLLBACK")
        c.execute("BEGIN")
        c.execute("INSERT INTO txt VALUES (1)")
        refused(c, "CREATE TABLE txu (a int)", "transaction in write-only mode", "25000")
        c.execute("ROLLBACK")
        c.execute("BEGIN")
        c.execute("COMMENT ON TABLE txt IS 'in a block'")
        c.execute("COMMIT")
        assert rows(c, "SHOW TABLES LIKE 'txt'") == [("txt", "in a block")]
        c.execute("BEGIN")
        c.execute("ALTER TABLE txt RENAME TO txu")
        refused(c, "SELECT 1", kinds, "25000")
        c.execute("ROLLBACK")
        c.execute("BEGIN")
        c.execute("ALTER TABLE txt RENAME TO txu")
        refused(c, "DROP TABLE txu", "does not exist|unknown")
        c.execute("COMMIT")
        assert [r[0] for r in rows(c, "SHOW TABLES LIKE 'tx_'")] == ["txt"]
        c.execute("DROP TABLE txt")


def test_renames_of_a_block_come_together(server, db):
    for s in ("CREATE TABLE blue (a int)", "CREATE TABLE green (a int)", "INSERT INTO blue VALUES (1)", "INSERT INTO green VALUES (2)", "CREATE VIEW over_blue AS SELECT a FROM blue",
              "CREATE SCHEMA prod", "CREATE SCHEMA prod_new", "CREATE TABLE prod.t (a int)", "CREATE TABLE prod_new.t (a int)", "INSERT INTO prod_new.t VALUES (7)",
              "CREATE CLUSTER cl_a SIZE '25cc'", "CREATE CLUSTER cl_b SIZE '50cc'"):
        db.execute(s)
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute("ALTER TABLE blue RENAME TO tmp")
        c.execute("ALTER TABLE green RENAME TO blue")                         # the block sees what it did before
        assert c.execute("ALTER TABLE tmp RENAME TO green").statusmessage == "ALTER TABLE"
        c.execute("ALTER SCHEMA prod SWAP WITH prod_new")
        c.execute("ALTER CLUSTER cl_a SWAP WITH cl_b")
        assert rows(db, "SELECT a FROM blue") == [(1,)] and rows(db, "SELECT * FROM prod.t") == []
        c.execute("COMMIT")
    assert rows(db, "SELECT a FROM blue") == [(2,)] and rows(db, "SELECT a FROM green") == [(1,)] and rows(db, "SELECT a FROM over_blue") == [(1,)]
    assert "green" in rows(db, "SHOW CREATE VIEW over_blue")[0][1]
    assert rows(db, "SELECT * FROM prod.t") == [(7,)]
    assert rows(db, "SELECT name, size FROM mz_clusters WHERE name LIKE 'cl_%' ORDER BY name") == [("cl_a", "50cc"), ("cl_b", "25cc")]
    assert rows(db, "SELECT count(*) FROM mz_audit_events WHERE event_type = 'alter' AND details::text LIKE '%\"blue\"%'")[0][0] >= 1
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute("ALTER TABLE blue RENAME TO tmp")
        refused(c, "ALTER TABLE blue RENAME TO x", "unknown catalog item 'blue'|does not exist")
        c.execute("COMMIT")
        c.execute("BEGIN")
        c.execute("ALTER TABLE blue RENAME TO tmp")
        db.execute("CREATE TABLE meanwhile (a int)")
        refused(c, "COMMIT", "another session modified the catalog while this DDL transaction was open", "40001")
        c.execute("BEGIN")
        c.execute("ALTER TABLE blue RENAME TO tmp")
        c.execute("ROLLBACK")
    assert [r[0] for r in rows(db, "SHOW TABLES LIKE 'tmp'")] == []
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        assert rows(c, "SELECT a FROM blue") == [(2,)] and rows(c, "SELECT * FROM prod.t") == [(7,)] and rows(c, "SELECT a FROM over_blue") == [(1,)]
        for s in ("DROP VIEW over_blue", "DROP TABLE blue", "DROP TABLE green", "DROP TABLE meanwhile", "DROP SCHEMA prod CASCADE", "DROP SCHEMA prod_new CASCADE", "DROP CLUSTER cl_a", "DROP CLUSTER cl_b"):
            c.execute(s)


def test_sources_of_a_block_come_together(server, db):
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute("CREATE SOURCE lg_one FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        c.execute("CREATE SOURCE lg_two FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        assert rows(db, "SHOW SOURCES LIKE 'lg_%'") == []
        c.execute("ALTER SOURCE lg_two RENAME TO lg_three")
        refused(c, "CREATE SOURCE lg_four FROM LOAD GENERATOR COUNTER", "in a transaction CREATE comes before ALTER", "0A000")
        c.execute("ROLLBACK")
        c.execute("BEGIN")
        c.execute("CREATE SOURCE lg_one FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        c.execute("CREATE SOURCE lg_one FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        refused(c, "COMMIT", "already exists", "42710")
        assert rows(db, "SHOW SOURCES LIKE 'lg_%'") == []                     # the first one went with it
        c.execute("BEGIN")
        c.execute("CREATE SOURCE lg_one FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        c.execute("CREATE SOURCE lg_two FROM LOAD GENERATOR COUNTER (TICK INTERVAL '1s')")
        c.execute("ALTER SOURCE lg_two RENAME TO lg_three")
        c.execute("COMMIT")
        assert sorted(r[0] for r in rows(db, "SHOW SOURCES LIKE 'lg_%'") if "progress" not in r[0]) == ["lg_one", "lg_three"]
        c.execute("DROP SOURCE lg_one CASCADE")
        c.execute("DROP SOURCE lg_three CASCADE")


def changes(c, n):
    got = []
    while len(got) < n:
        got += c.execute("FETCH ALL s WITH (timeout = '1s')", prepare=False).fetchall()
    return sorted((int(r[1]),) + tuple(r[2:]) for r in got)


def test_replacement_of_a_materialized_view(server, db):
    for s in ("CREATE TABLE rp (k int, v int)", "INSERT INTO rp VALUES (1, 10), (2, 20), (3, 30)", "CREATE MATERIALIZED VIEW rmv AS SELECT k, v FROM rp WHERE k < 3",
              "CREATE VIEW rv AS SELECT sum(v) AS s FROM rmv", "CREATE MATERIALIZED VIEW above AS SELECT count(*) AS n, sum(v) AS s FROM rmv", "CREATE TABLE later (k int)",
              "INSERT INTO later VALUES (2), (3)", "CREATE MATERIALIZED VIEW young AS SELECT k FROM later"):
        db.execute(s)
    e = refused(db, "CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rmv AS SELECT k, v::bigint AS v, 1 AS x FROM rp", "replacement schema differs from target schema", "0A000")
    assert e.diag.message_detail == 'column "v" at position 2: type mismatch (target: integer, replacement: bigint)\nextra column "x" at position 3'
    e = refused(db, "CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rmv AS SELECT k AS q FROM rp", "replacement schema differs", "0A000")
    assert e.diag.message_detail == 'column at position 1: name mismatch (target: "k", replacement: "q")\nmissing column "v" at position 2'
    refused(db, "CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rp AS SELECT k, v FROM rp", "is a table not a materialized view")
    refused(db, "CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rmv AS SELECT n::int AS k, s::int AS v FROM above", "which depends on it", "0A000")
    db.execute("CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rmv AS SELECT rp.k, max(rp.v) AS v FROM rp JOIN young y ON y.k = rp.k GROUP BY rp.k")
    assert rows(db, "SELECT * FROM rr ORDER BY k") == [(2, 20), (3, 30)]
    assert "CREATE REPLACEMENT MATERIALIZED VIEW materialize.public.rr FOR materialize.public.rmv" in rows(db, "SHOW CREATE MATERIALIZED VIEW rr")[0][1]
    assert rows(db, "SELECT a.name, b.name FROM mz_internal.mz_replacements r JOIN mz_objects a ON a.id = r.id JOIN mz_objects b ON b.id = r.target_id") == [("rr", "rmv")]
    refused(db, "CREATE REPLACEMENT MATERIALIZED VIEW r2 FOR rmv AS SELECT k, v FROM rp", "already has a replacement")
    refused(db, "CREATE VIEW over_rr AS SELECT * FROM rr", 'replacement "materialize.public.rr" cannot be depended upon')
    refused(db, "DROP MATERIALIZED VIEW rmv", "still depended upon by")
    refused(db, "ALTER MATERIALIZED VIEW above APPLY REPLACEMENT rr", "was not created as its replacement")
    with server.connect("materialize") as c:
        c.execute("BEGIN")
        c.execute("DECLARE s CURSOR FOR SUBSCRIBE rmv")
        assert changes(c, 2) == [(1, 1, 10), (1, 2, 20)]
        assert db.execute("ALTER MATERIALIZED VIEW rmv APPLY REPLACEMENT rr").statusmessage == "ALTER MATERIALIZED VIEW"
        assert changes(c, 2) == [(-1, 1, 10), (1, 3, 30)]                     # the difference alone
        db.execute("INSERT INTO later VALUES (1)")                            # the new query follows a younger view, and what reads it follows
        assert changes(c, 1) == [(1, 1, 10)]
        c.execute("COMMIT")
    assert rows(db, "SELECT * FROM above") == [(3, 60)] and rows(db, "SELECT * FROM rv") == [(60,)]
    assert rows(db, "SHOW MATERIALIZED VIEWS LIKE 'rr'") == []
    text = rows(db, "SHOW CREATE MATERIALIZED VIEW rmv")[0][1]
    assert "CREATE MATERIALIZED VIEW materialize.public.rmv" in text and "max(" in text and "REPLACEMENT" not in text
    refused(db, "DROP TABLE later", "still depended upon by")
    server.stop()
    server.start()
    with server.connect("materialize") as c:
        assert rows(c, "SELECT * FROM above") == [(3, 60)]
        c.execute("DELETE FROM later WHERE k = 3")
        assert rows(c, "SELECT * FROM rmv ORDER BY k") == [(1, 10), (2, 20)] and rows(c, "SELECT * FROM above") == [(2, 30)]
        c.execute("CREATE REPLACEMENT MATERIALIZED VIEW rr FOR rmv AS SELECT k, v / (k - 9) AS v FROM rp")
        c.execute("INSERT INTO rp VALUES (9, 9)")
        refused(c, "ALTER MATERIALIZED VIEW rmv APPLY REPLACEMENT rr", "division by zero")
        assert rows(c, "SELECT * FROM rmv ORDER BY k") == [(1, 10), (2, 20)]  # nothing has changed
        c.execute("DELETE FROM rp WHERE k = 9")
        c.execute("ALTER MATERIALIZED VIEW rmv APPLY REPLACEMENT rr")
        assert rows(c, "SELECT * FROM rmv ORDER BY k") == [(1, -1), (2, -2), (3, -5)]
        c.execute("DROP TABLE later CASCADE")
        c.execute("DROP TABLE rp CASCADE")


def limited(server, db, name, value, statements, refused_one, current):
    db.execute(f"ALTER SYSTEM SET {name} = {value}")
    for s in statements:
        db.execute(s)
    assert rows(db, f"SHOW {name}") == [(str(value),)]
    what = refused_one[1]
    e = refused(db, refused_one[0], rf"creating {what} would violate {name} limit \(desired: {current + 1}, limit: {value}, current: {current}\)", "53000")
    assert e.diag.message_hint == f"Drop an existing {what} or contact support to request a limit increase."
    db.execute(f"ALTER SYSTEM RESET {name}")


def test_limits(server, db):
    there = {k: rows(db, f"SELECT count(*) FROM {k} WHERE id LIKE 'u%'")[0][0] for k in ("mz_tables", "mz_materialized_views", "mz_databases", "mz_clusters", "mz_secrets", "mz_roles")}
    db.execute("CREATE TABLE li (a int)")
    limited(server, db, "max_tables", there["mz_tables"] + 2, ["CREATE TABLE li2 (a int)"], ("CREATE TABLE li3 (a int)", "table"), there["mz_tables"] + 2)
    limited(server, db, "max_materialized_views", there["mz_materialized_views"], [], ("CREATE MATERIALIZED VIEW lim AS SELECT * FROM li", "materialized view"), there["mz_materialized_views"])
    limited(server, db, "max_databases", there["mz_databases"], [], ("CREATE DATABASE lid", "database"), there["mz_databases"])
    limited(server, db, "max_clusters", there["mz_clusters"], [], ("CREATE CLUSTER lic SIZE '25cc'", "cluster"), there["mz_clusters"])
    limited(server, db, "max_secrets", there["mz_secrets"], [], ("CREATE SECRET lis AS 'x'", "secret"), there["mz_secrets"])
    limited(server, db, "max_roles", there["mz_roles"], [], ("CREATE ROLE lir", "role"), there["mz_roles"])
    limited(server, db, "max_schemas_per_database", 1, ["CREATE DATABASE lid"], ("CREATE SCHEMA lid.more", "schema"), 1)
    limited(server, db, "max_objects_per_schema", 1, ["CREATE TABLE lid.public.t (a int)"], ("CREATE VIEW lid.public.v AS SELECT 1", "object"), 1)
    limited(server, db, "max_replicas_per_cluster", 1, [], ("ALTER CLUSTER quickstart SET (REPLICATION FACTOR 2)", "cluster replica"), 1)
    refused(db, "SET max_tables = 3", 'parameter "max_tables" cannot be changed', "55P02")
    refused(db, "ALTER SYSTEM SET max_tables = 'many'", 'parameter "max_tables" requires a "unsigned integer" value', "22023")
    assert rows(db, "SHOW max_tables") == [("200",)] and rows(db, "SHOW max_result_size") == [("1GB",)]
    long = "n" * 256
    for s in (f"CREATE TABLE {long} (a int)", f"CREATE SCHEMA {long}", f"CREATE ROLE {long}", f"ALTER TABLE li RENAME TO {long}"):
        refused(db, s, r"identifier too long \(len: 256, max: 255", "42622")
    db.execute("INSERT INTO li SELECT generate_series(1, 100)")
    db.execute("SET max_query_result_size = '500B'")
    refused(db, "SELECT * FROM li", "total result exceeds max size of 500B", "53200")
    db.execute("RESET max_query_result_size")
    refused(db, "SET max_query_result_size = 'x'", 'requires a "bytes" value', "22023")
    db.execute("ALTER SYSTEM SET max_result_size = '400B'")
    refused(db, "SELECT * FROM li", "result exceeds max size of 400B", "53200")
    assert len(rows(db, "SELECT * FROM li LIMIT 5")) == 5
    db.execute("ALTER SYSTEM RESET max_result_size")
    assert len(rows(db, "SELECT * FROM li")) == 100
    for s in ("DROP TABLE li", "DROP TABLE li2", "DROP DATABASE lid CASCADE"):
        db.execute(s)


def test_a_read_of_a_temporal_filter_is_of_its_own_moment(server, db):
    db.execute("CREATE TABLE tf (k int, until timestamptz)")
    db.execute("CREATE MATERIALIZED VIEW tfm AS SELECT k FROM tf WHERE mz_now() <= until")
    db.execute("CREATE MATERIALIZED VIEW tfc AS SELECT count(*) AS n FROM tfm")
    late = []
    for k in range(3):
        until = time.time() + 1.5
        db.execute("INSERT INTO tf VALUES (%s, to_timestamp(%s))", (k, until))
        assert rows(db, "SELECT k FROM tfm") == [(k,)]
        while time.time() < until + 0.02:
            time.sleep(0.005)
        late.append((rows(db, "SELECT k FROM tfm"), rows(db, "SELECT n FROM tfc")))
    assert late == [([], [(0,)])] * 3
    db.execute("DROP TABLE tf CASCADE")


def test_history_of_a_source(server, db):
    db.execute("CREATE SOURCE hsrc FROM LOAD GENERATOR COUNTER (TICK INTERVAL '100ms')")
    db.execute("ALTER SOURCE hsrc SET (RETAIN HISTORY FOR '1h')")
    assert "RETAIN HISTORY = FOR '1h'" in rows(db, "SHOW CREATE SOURCE hsrc")[0][1]
    time.sleep(1.2)
    then = int(time.time() * 1000)
    before = rows(db, f"SELECT count(*) FROM hsrc AS OF {then}")
    time.sleep(0.6)
    assert rows(db, f"SELECT count(*) FROM hsrc AS OF {then}") == before < rows(db, "SELECT count(*) FROM hsrc")
    db.execute("ALTER SOURCE hsrc RESET (RETAIN HISTORY)")
    assert "RETAIN" not in rows(db, "SHOW CREATE SOURCE hsrc")[0][1]
    refused(db, "ALTER SOURCE hsrc SET (NOPE = 1)", "NOPE|nope")
    db.execute("DROP SOURCE hsrc CASCADE")
