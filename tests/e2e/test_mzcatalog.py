# SPDX-License-Identifier: Apache-2.0
"""mz_catalog, mz_internal and the live side in pg_catalog: what the guide asks, what Materialize's console, drivers and psql ask."""
import datetime
import os
import re
import subprocess
import time

import psycopg
import pytest
import sqlalchemy

from conftest import ROOT, Server, until


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("mz") / "data")
    with s.connect("materialize") as c:
        c.execute("CREATE TABLE t (id int NOT NULL DEFAULT 5, name varchar(10), price numeric(10,2), tags text[])")
        c.execute("CREATE VIEW v AS SELECT id, name FROM t")
        c.execute("CREATE MATERIALIZED VIEW m AS SELECT name, count(*) AS n FROM v GROUP BY name")
        c.execute("CREATE INDEX i ON t (id, lower(name))")
        c.execute("CREATE SECRET hush AS 'do-not-show'")
        c.execute("CREATE CONNECTION aws_connection TO AWS (ASSUME ROLE ARN = 'arn:aws:iam::123456789012:role/x', REGION = 'us-east-1')")
        c.execute("CREATE CONNECTION keys TO AWS (ACCESS KEY ID = 'AK', SECRET ACCESS KEY = SECRET hush)")
        c.execute("COMMENT ON TABLE t IS 'the table'")
        c.execute("COMMENT ON COLUMN t.name IS 'the name'")
    yield s
    s.stop()


def rows(db, sql):
    return db.execute(sql, prepare=False).fetchall()


def relations():
    text = (ROOT / "src" / "service" / "mzcatalog_tables.c").read_text()
    return re.findall(r'\{ "(mz_\w+)", "(mz_\w+)"', text)


# ---- the guide ---------------------------------------------------------------------------------------------------------------------


def test_external_id(db):
    (found,), = rows(db, """SELECT external_id FROM mz_internal.mz_aws_connections awsc JOIN mz_connections c ON awsc.id = c.id
                            WHERE c.name = 'aws_connection' AND awsc.assume_role_arn = 'arn:aws:iam::123456789012:role/x'""")
    (environment,), = rows(db, "SELECT mz_environment_id()")
    (number,), = rows(db, "SELECT id FROM mz_connections WHERE name = 'aws_connection'")
    assert found == f"mz_{environment}_{number}"
    (policy, principal), = rows(db, f"SELECT example_trust_policy, principal FROM mz_internal.mz_aws_connections WHERE id = '{number}'")
    assert policy["Statement"][0]["Condition"]["StringEquals"]["sts:ExternalId"] == found
    assert policy["Statement"][0]["Principal"]["AWS"] == principal
    (secret_id, hush), = rows(db, "SELECT a.secret_access_key_secret_id, s.id FROM mz_internal.mz_aws_connections a, mz_secrets s WHERE a.access_key_id = 'AK' AND s.name = 'hush'")
    assert secret_id == hush


def test_lag(db):
    found = dict(rows(db, """SELECT o.name, l.lag FROM mz_internal.mz_wallclock_global_lag AS l JOIN mz_catalog.mz_objects AS o ON o.id = l.object_id
                             WHERE o.name IN ('m', 't')"""))
    assert set(found) == {"m", "t"}
    for lag in found.values():
        assert datetime.timedelta(0) <= lag < datetime.timedelta(seconds=5) and lag.microseconds == 0
    history = rows(db, "SELECT object_id, lag, occurred_at FROM mz_internal.mz_wallclock_global_lag_recent_history")
    assert history and all(r[2].second == 0 for r in history)


def test_lag_stands_where_nothing_runs(server):
    with server.connect("materialize") as db:
        db.execute("CREATE CLUSTER asleep (SIZE '25cc')")
        db.execute("CREATE MATERIALIZED VIEW nap IN CLUSTER asleep AS SELECT id FROM t")
        rows(db, "SELECT count(*) FROM mz_internal.mz_wallclock_global_lag")
        db.execute("ALTER CLUSTER asleep SET (REPLICATION FACTOR = 0)")
        time.sleep(2.2)
        (before, after), = rows(db, """SELECT f.write_frontier::numeric, g.write_frontier::numeric FROM mz_internal.mz_frontiers f, mz_internal.mz_frontiers g, mz_objects x, mz_objects y
                                       WHERE f.object_id = x.id AND x.name = 'nap' AND g.object_id = y.id AND y.name = 't'""")
        assert after - before >= 2000
        (lag,), = rows(db, "SELECT local_lag FROM mz_internal.mz_materialization_lag l JOIN mz_objects o ON o.id = l.object_id WHERE o.name = 'nap'")
        assert lag >= datetime.timedelta(seconds=2)
        assert rows(db, "SELECT * FROM mz_internal.mz_hydration_statuses h JOIN mz_objects o ON o.id = h.object_id WHERE o.name = 'nap'") == []
        db.execute("DROP CLUSTER asleep CASCADE")


def test_views_by_the_clock(db):
    db.execute("CREATE MATERIALIZED VIEW daily WITH (REFRESH = EVERY '1 day' ALIGNED TO '2026-01-01', REFRESH = AT CREATION) AS SELECT count(*) AS n FROM t")
    (strategies,) = (rows(db, "SELECT s.type, s.interval FROM mz_internal.mz_materialized_view_refresh_strategies s JOIN mz_objects o ON o.id = s.materialized_view_id "
                              "WHERE o.name = 'daily' ORDER BY 1 DESC"),)
    assert strategies[0] == ("every", datetime.timedelta(days=1)) and {s[0] for s in strategies} <= {"every", "at"}
    ((last, following),) = rows(db, "SELECT last_completed_refresh::numeric, next_refresh::numeric FROM mz_internal.mz_materialized_view_refreshes r "
                                    "JOIN mz_objects o ON o.id = r.materialized_view_id WHERE o.name = 'daily'")
    assert abs(int(last) - time.time() * 1000) < 60_000 and int(following) % 86_400_000 == 0 and following > last
    assert rows(db, "SELECT l.lag FROM mz_internal.mz_wallclock_global_lag l JOIN mz_objects o ON o.id = l.object_id WHERE o.name = 'daily'") == [(datetime.timedelta(0),)]
    db.execute("DROP MATERIALIZED VIEW daily")


# ---- every relation ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schema,name", relations())
def test_each_relation_answers(db, schema, name):
    cur = db.execute(f"SELECT * FROM {schema}.{name}", prepare=False)
    cur.fetchall()
    told = rows(db, f"SELECT c.name FROM mz_columns c JOIN mz_objects o ON o.id = c.id WHERE o.name = '{name}' ORDER BY c.position")
    assert [c.name for c in cur.description] == [n for n, in told]


def test_objects(db):
    found = {name: kind for name, kind in rows(db, "SELECT name, type FROM mz_objects WHERE id LIKE 'u%'")}
    assert {"t": "table", "v": "view", "m": "materialized-view", "i": "index", "hush": "secret", "keys": "connection"}.items() <= found.items()
    assert rows(db, "SELECT name, nullable, type, \"default\" FROM mz_columns WHERE id = (SELECT id FROM mz_tables WHERE name = 't') ORDER BY position")[0] == ("id", False, "integer", "5")
    assert rows(db, "SELECT name FROM mz_internal.mz_object_fully_qualified_names WHERE database_name = 'materialize' AND schema_name = 'public' AND name = 'm'")
    pairs = set(rows(db, "SELECT a.name, b.name FROM mz_internal.mz_object_dependencies d JOIN mz_objects a ON a.id = d.object_id JOIN mz_objects b ON b.id = d.referenced_object_id"))
    assert {("v", "t"), ("i", "t"), ("m", "v")} <= pairs
    assert ("m", "t") in set(rows(db, """SELECT a.name, b.name FROM mz_internal.mz_object_transitive_dependencies d JOIN mz_objects a ON a.id = d.object_id
                                         JOIN mz_objects b ON b.id = d.referenced_object_id"""))
    assert rows(db, "SELECT index_position::int, on_position::int, on_expression FROM mz_index_columns ORDER BY 1") == [(1, 1, None), (2, None, "lower(name)")] or \
        rows(db, "SELECT index_position::int, on_position::int FROM mz_index_columns ORDER BY 1") == [(1, 1), (2, None)]


def test_types(db):
    db.execute("CREATE TYPE numbers AS LIST (ELEMENT TYPE = int4)")
    db.execute("CREATE TYPE dictionary AS MAP (KEY TYPE = text, VALUE TYPE = int4)")
    assert rows(db, "SELECT name, category FROM mz_types WHERE id LIKE 'u%' ORDER BY name") == [("dictionary", "map"), ("numbers", "list")]
    assert rows(db, "SELECT e.name FROM mz_list_types l JOIN mz_types e ON e.id = l.element_id") == [("int4",)]
    assert rows(db, "SELECT k.name, v.name FROM mz_map_types m JOIN mz_types k ON k.id = m.key_id JOIN mz_types v ON v.id = m.value_id") == [("text", "int4")]
    assert rows(db, "SELECT category FROM mz_types WHERE name = 'timestamptz'") == [("date-time",)]
    db.execute("DROP TYPE numbers, dictionary")


def test_create_sql_never_tells_a_secret(db):
    for name in ("mz_connections", "mz_tables", "mz_views", "mz_materialized_views", "mz_indexes"):
        for sql, redacted in rows(db, f"SELECT create_sql, redacted_create_sql FROM {name} WHERE id LIKE 'u%'"):
            assert sql.startswith("CREATE ") and redacted.startswith("CREATE ")
            assert "do-not-show" not in sql
    (sql, redacted), = rows(db, "SELECT create_sql, redacted_create_sql FROM mz_connections WHERE name = 'aws_connection'")
    assert sql == "CREATE CONNECTION materialize.public.aws_connection TO AWS (ASSUME ROLE ARN = 'arn:aws:iam::123456789012:role/x', REGION = 'us-east-1')"
    assert "role/x" not in redacted and "<REDACTED>" in redacted


def test_places_and_roles(db):
    assert rows(db, "SELECT s.name FROM mz_schemas s JOIN mz_databases d ON d.id = s.database_id WHERE d.name = 'materialize' AND s.name = 'public'") == [("public",)]
    assert rows(db, "SELECT c.name, r.name, r.size FROM mz_clusters c JOIN mz_cluster_replicas r ON r.cluster_id = c.id WHERE c.name = 'quickstart'") == [("quickstart", "r1", "25cc")]
    assert rows(db, "SELECT status FROM mz_internal.mz_cluster_replica_statuses s JOIN mz_cluster_replicas r ON r.id = s.replica_id JOIN mz_clusters c ON c.id = r.cluster_id "
                    "WHERE c.name = 'quickstart'") == [("online",)]
    assert rows(db, "SELECT rolsuper FROM mz_roles WHERE name = current_user") == [(True,)]
    assert rows(db, "SELECT comment FROM mz_internal.mz_comments WHERE object_sub_id IS NULL AND object_type = 'table'") == [("the table",)]
    assert rows(db, "SELECT comment, object_sub_id FROM mz_internal.mz_comments WHERE object_sub_id IS NOT NULL") == [("the name", 2)]


def test_grants_show(db):
    db.execute("CREATE ROLE reader")
    db.execute("GRANT SELECT ON t TO reader")
    assert rows(db, "SELECT grantor, grantee, privilege_type FROM mz_internal.mz_show_object_privileges WHERE name = 't' AND grantee = 'reader'") == [("materialize", "reader", "SELECT")]
    (acl,), = rows(db, "SELECT privileges FROM mz_tables WHERE name = 't'")
    (role,), = rows(db, "SELECT id FROM mz_roles WHERE name = 'reader'")
    assert any(a.startswith(f"{role}=r/") for a in acl)
    db.execute("REVOKE SELECT ON t FROM reader")
    db.execute("DROP ROLE reader")


def test_who_may_what(db):
    for sql in ("CREATE ROLE joe", "CREATE ROLE boss", "GRANT boss TO joe", "GRANT SELECT ON t TO boss", "GRANT CREATEDB ON SYSTEM TO joe"):
        db.execute(sql)
    asked = {
        "has_table_privilege('t', 'SELECT')": True, "has_table_privilege('joe', 't', 'SELECT')": True, "has_table_privilege('joe', 't', 'INSERT')": False,
        "has_table_privilege('joe', 't'::regclass, 'SELECT, INSERT')": True, "has_schema_privilege('joe', 'public', 'CREATE')": False,
        "has_schema_privilege('joe', 'public', 'USAGE')": True, "has_database_privilege('joe', 'materialize', 'CREATE')": False,
        "has_cluster_privilege('joe', 'quickstart', 'USAGE')": True, "has_cluster_privilege('joe', 'quickstart', 'CREATE')": False,
        "has_system_privilege('CREATECLUSTER')": True, "has_system_privilege('joe', 'CREATECLUSTER')": False, "has_system_privilege('joe', 'CREATEDB')": True,
        "pg_has_role('joe', 'boss', 'MEMBER')": True, "pg_has_role('boss', 'joe', 'MEMBER')": False,
    }
    assert dict(zip(asked, rows(db, "SELECT " + ", ".join(asked))[0])) == asked
    assert rows(db, """WITH p AS (SELECT mz_internal.mz_aclexplode(t.privileges).* FROM mz_tables t WHERE name = 't')
                       SELECT r.name, p.privilege_type FROM p JOIN mz_roles r ON r.id = p.grantee WHERE r.name = 'boss'""") == [("boss", "SELECT")]
    assert rows(db, "SELECT rolname FROM pg_roles r JOIN pg_auth_members m ON m.roleid = r.oid WHERE m.member = (SELECT oid FROM pg_roles WHERE rolname = 'joe')") == [("boss",)]
    for sql in ("REVOKE SELECT ON t FROM boss", "REVOKE CREATEDB ON SYSTEM FROM joe", "DROP ROLE joe", "DROP ROLE boss"):
        db.execute(sql)


def test_the_audit_log(db):
    db.execute("CREATE TABLE audited (a int)")
    db.execute("DROP TABLE audited")
    found = rows(db, "SELECT event_type, object_type, \"user\" FROM mz_audit_events WHERE details->>'item' = 'audited' ORDER BY id")
    assert found == [("create", "table", "materialize"), ("drop", "table", "materialize")]


def test_a_view_of_the_audit_log(fresh):
    """It follows, over a kill and a start, and no event is in it twice."""
    with fresh.connect("materialize") as db:
        db.execute("CREATE VIEW happened AS SELECT id, event_type, object_type FROM mz_audit_events")
        db.execute("CREATE MATERIALIZED VIEW counted AS SELECT event_type, count(*) AS n FROM happened GROUP BY event_type")
        db.execute("CREATE MATERIALIZED VIEW every_event AS SELECT id::text AS id, object_type FROM mz_catalog.mz_audit_events")
        db.execute("CREATE TABLE a (x int)")
        db.execute("DROP TABLE a")
        until(lambda: rows(db, "SELECT * FROM counted ORDER BY 1"), [("create", 4), ("drop", 1)], seconds=10)
    fresh.kill()
    fresh.start()
    with fresh.connect("materialize") as db:
        db.execute("CREATE TABLE b (x int)")
        until(lambda: rows(db, "SELECT * FROM counted ORDER BY 1"), [("create", 5), ("drop", 1)], seconds=10)
        assert rows(db, "SELECT count(*), count(DISTINCT id) FROM every_event") == [(6, 6)]
        with pytest.raises(psycopg.Error, match="can read only"):
            db.execute("CREATE MATERIALIZED VIEW no AS SELECT name FROM mz_objects")


def test_sessions(server, db):
    ((mine, address),) = rows(db, "SELECT s.connection_id, s.client_ip FROM mz_internal.mz_sessions s WHERE s.connection_id = pg_backend_pid()")
    assert mine == db.info.backend_pid and address == "127.0.0.1"
    before = rows(db, "SELECT count(*) FROM mz_internal.mz_sessions")[0][0]
    with server.connect("materialize"):
        assert rows(db, "SELECT count(*) FROM mz_internal.mz_sessions")[0][0] == before + 1


def test_subscriptions(server, db):
    with server.connect("materialize") as other:
        with other.transaction():
            other.execute("DECLARE c CURSOR FOR SUBSCRIBE t")
            other.execute("FETCH 1 c WITH (timeout = '1s')")
            found = rows(db, """SELECT s.referenced_object_ids, x.id FROM mz_internal.mz_subscriptions s JOIN mz_internal.mz_sessions x ON x.id = s.session_id""")
            assert [f[0] for f in found] == [[rows(db, "SELECT id FROM mz_tables WHERE name = 't'")[0][0]]]
    assert rows(db, "SELECT * FROM mz_internal.mz_subscriptions") == []


def test_names(server, db):
    assert rows(db, "SELECT count(*) > 100 FROM mz_objects") == [(True,)]               # mz_catalog is on every path
    assert rows(db, "SELECT count(*) > 100 FROM materialize.mz_catalog.mz_objects") == [(True,)]
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("SELECT * FROM mz_aws_connections")                                  # mz_internal is not
    with pytest.raises(psycopg.errors.UndefinedTable):
        db.execute("SELECT * FROM mz_internal.mz_no_such_thing")
    with server.connect("spark") as lake, pytest.raises(psycopg.Error):
        lake.execute("SELECT * FROM mz_catalog.mz_objects")                             # the lake has none of it


# ---- pg_catalog, information_schema -------------------------------------------------------------------------------------------------


def test_numbers_agree(db):
    assert rows(db, "SELECT count(*) FROM mz_relations o JOIN pg_class c ON c.oid = o.oid AND c.relname = o.name WHERE o.name IN ('t', 'v', 'm')") == [(3,)]
    assert rows(db, "SELECT count(*) FROM mz_schemas s JOIN pg_namespace n ON n.oid = s.oid AND n.nspname = s.name WHERE s.name IN ('public', 'mz_catalog', 'pg_catalog')") == [(3,)]
    assert rows(db, "SELECT count(*) FROM mz_roles r JOIN pg_roles p ON p.oid = r.oid AND p.rolname = r.name WHERE r.name = current_user") == [(1,)]
    assert rows(db, "SELECT count(*) FROM mz_databases d JOIN pg_database p ON p.oid = d.oid WHERE p.datname = current_database()") == [(1,)]
    assert rows(db, "SELECT 't'::regclass::oid = (SELECT oid FROM mz_tables WHERE name = 't')") == [(True,)]


def psql(server, command):
    env = dict(os.environ, PGPASSWORD=server.secret)
    r = subprocess.run(["psql", "-X", "-A", "-t", "-h", "127.0.0.1", "-p", str(server.port), "-U", server.key, "-d", "materialize", "-c", command], env=env, capture_output=True, text=True)
    assert r.returncode == 0 and not r.stderr, r.stderr
    return r.stdout


@pytest.mark.parametrize("command,wanted", [
    (r"\d", "public|t|table|materialize"), (r"\dt", "public|t|table|materialize"), (r"\dv", "public|v|view|materialize"), (r"\dm", "public|m|materialized view|materialize"),
    (r"\di", "public|i|index|materialize|t"), (r"\d t", "id|integer||not null|5"), (r"\d+ t", "the name"), (r"\d m", "n|bigint"), (r"\d i", "id|integer|yes|id"),
    (r"\dt+", "the table"), (r"\dn", "public|"), (r"\du", "materialize|Superuser"), (r"\l", "materialize|materialize|UTF8"), (r"\dp", "public|t|table|"), (r"\dT", ""), (r"\df", ""),
    (r"\d mz_catalog.mz_sinks", "envelope_type|text"), (r"\dt mz_internal.*", "mz_internal|mz_frontiers|table|mz_system"),
])
def test_psql(server, command, wanted):
    assert wanted in psql(server, command)


def test_sqlalchemy(server):
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://{server.key}:{server.secret}@127.0.0.1:{server.port}/materialize")
    found = sqlalchemy.inspect(engine)
    assert "t" in found.get_table_names(schema="public")
    assert {"v"} <= set(found.get_view_names(schema="public"))
    assert {"m"} <= set(found.get_materialized_view_names(schema="public"))
    columns = {c["name"]: c for c in found.get_columns("t", schema="public")}
    assert columns["id"]["nullable"] is False and isinstance(columns["price"]["type"], sqlalchemy.Numeric)
    assert columns["name"]["comment"] == "the name"
    assert found.get_table_comment("t", schema="public")["text"] == "the table"
    assert [x["name"] for x in found.get_indexes("t", schema="public")] == ["i"]
    assert found.get_pk_constraint("t", schema="public")["constrained_columns"] == [] and found.get_foreign_keys("t", schema="public") == []
    table = sqlalchemy.Table("t", sqlalchemy.MetaData(), autoload_with=engine)
    with engine.connect() as c:
        c.execute(table.insert().values(id=1, name="x"))
        c.commit()
        assert c.execute(sqlalchemy.select(table.c.name).where(table.c.id == 1)).fetchall() == [("x",)]
    engine.dispose()


def test_a_dashboard_looks_around(db):
    """The questions of tools that read tables through the JDBC driver of PostgreSQL: schemas, tables, columns, keys, rights."""
    assert ("public",) in rows(db, "SELECT nspname AS TABLE_SCHEM FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND nspname !~ '^pg_temp_' ORDER BY TABLE_SCHEM")
    found = rows(db, """SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' END AS type,
                               d.description AS description
                        FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0)
                        LEFT JOIN pg_catalog.pg_class dc ON (d.classoid = dc.oid AND dc.relname = 'pg_class')
                        WHERE c.relnamespace = n.oid AND n.nspname = 'public' AND c.relkind IN ('r', 'v', 'm') ORDER BY name""")
    assert ("public", "t", "TABLE", "the table") in found and ("public", "m", "MATERIALIZED VIEW", None) in found
    columns = rows(db, """SELECT c.column_name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name) ELSE format('"%s"."%s"', c.udt_schema, c.udt_name) END,
                                 c.ordinal_position - 1, col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS REGCLASS) AS OID), c.ordinal_position)
                          FROM information_schema.columns c WHERE c.table_schema = 'public' AND c.table_name = 't' ORDER BY 3""")
    assert columns[0][:3] == ("id", "int4", 0) and columns[1][3] == "the name"
    assert rows(db, "SELECT count(*) FROM information_schema.table_constraints") == [(0,)]
    assert rows(db, "SELECT 1 FROM information_schema.tables WHERE table_schema = 'public' AND table_name = 'i'") == []


def test_the_session(server, db):
    assert rows(db, "SELECT current_user, session_user, current_database(), current_schema()") == [("materialize", "materialize", "materialize", "public")]
    assert rows(db, "SELECT mz_version()")[0][0].startswith("v") and rows(db, "SELECT mz_is_superuser()") == [(True,)]
    assert rows(db, "SHOW transaction_isolation") == [("strict serializable",)] and rows(db, "SHOW cluster") == [("quickstart",)]
    assert rows(db, "SHOW max_sinks") == [("1000",)]
    names = {r[0] for r in rows(db, "SHOW ALL")}
    assert {"cluster", "database", "welcome_message", "mz_version", "search_path"} <= names
    assert db.info.parameter_status("mz_version") == rows(db, "SHOW mz_version")[0][0]
    assert db.info.parameter_status("cluster") == "quickstart"
    db.execute("SET welcome_message = on")
    with server.connect("spark") as lake, pytest.raises(psycopg.Error):
        lake.execute("SHOW max_sinks_of_another_place")
