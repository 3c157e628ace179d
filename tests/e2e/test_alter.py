# SPDX-License-Identifier: Apache-2.0
"""ALTER TABLE: schema evolution by field id, partition evolution, references; and what is refused on views."""
import threading

import psycopg
import pytest


@pytest.fixture()
def t(server, ns):
    name = f"glue_catalog.{ns}.t"
    server.sql(f"""CREATE TABLE {name} (id INT NOT NULL, name STRING, amount DECIMAL(10,2), s STRUCT<a:INT,b:STRING>, l ARRAY<STRUCT<x:INT>>,
        m MAP<STRING,STRUCT<y:INT>>, ts TIMESTAMP)""")
    server.sql(f"""INSERT INTO {name} VALUES (1,'a',1.5,named_struct('a',1,'b','x'),array(named_struct('x',1)),map('k',named_struct('y',2)),
        TIMESTAMP '2024-01-01 00:00:00')""")
    return name


def columns(server, t):
    return [(r[0], r[1]) for r in server.sql(f"DESCRIBE {t}") if r[0] and not r[0].startswith("#")]


def refused(server, statement):
    with pytest.raises(psycopg.Error) as e:
        server.sql(statement)
    return e.value


def test_columns_by_id(server, t):
    for action in ("ADD COLUMNS (c1 INT COMMENT 'hello', c2 STRING AFTER id)", "ADD COLUMN s.c BIGINT FIRST", "ADD COLUMN l.element.z STRING",
                   "ADD COLUMN m.value.w STRING", "RENAME COLUMN name TO title", "RENAME COLUMN s.a TO aa", "ALTER COLUMN id TYPE BIGINT",
                   "ALTER COLUMN amount TYPE DECIMAL(20,2)", "ALTER COLUMN title COMMENT 'the title'", "ALTER COLUMN ts FIRST", "DROP COLUMN c1, s.b"):
        server.sql(f"ALTER TABLE {t} {action}")
    names = columns(server, t)[:8]
    assert names == [("ts", "timestamp"), ("id", "bigint"), ("c2", "string"), ("title", "string"), ("amount", "decimal(20,2)"),
                     ("s", "struct<c:bigint,aa:int>"), ("l", "array<struct<x:int,z:string>>"), ("m", "map<string,struct<y:int,w:string>>")]
    server.sql(f"INSERT INTO {t} (id, title) VALUES (5000000000, 'big')")
    assert server.sql(f"SELECT id, title, s.aa, l[0].x, m['k'].y, c2 FROM {t} ORDER BY id") == [(1, "a", 1, 1, 2, None), (5000000000, "big", None, None, None, None)]
    server.sql(f"ALTER TABLE {t} ADD COLUMN c1 STRING")                    # a dropped column that comes again is a new one
    assert server.sql(f"SELECT DISTINCT c1 FROM {t}") == [(None,)]


@pytest.mark.parametrize("action,state,words", [
    ("ALTER COLUMN amount TYPE DECIMAL(20,3)", "22023", "Cannot change column type: amount: decimal(10,2) -> decimal(20,3)"),
    ("ALTER COLUMN name TYPE INT", "22023", "Cannot change column type: name: string -> int"),
    ("ALTER COLUMN name SET NOT NULL", "0A000", "Cannot change nullable column to non-nullable: name"),
    ("DROP COLUMN nope", "42703", "nope"), ("ADD COLUMN NAME STRING", "42701", "already exists"),
    ("ADD COLUMN n INT NOT NULL", "22023", "cannot add required column without a default value: n"),
    ("ADD COLUMN n INT DEFAULT 5", "0A000", "format version 3"),
    ("DROP COLUMN m.key", "22023", "key or value of a map"), ("RENAME COLUMN id TO name", "42701", "already exists"),
    ("DROP PARTITION FIELD id", "22023", "Cannot find partition field to remove"),
    ("SET IDENTIFIER FIELDS name", "22023", "not a required field"),
    ("SET TBLPROPERTIES ('sort-order' = 'x')", "22023", "WRITE ORDERED BY"), ("SET TBLPROPERTIES ('format-version' = '1')", "22023", "Cannot downgrade v2 table to v1"),
    ("REPLACE BRANCH nope", None, "Branch does not exist: nope"), ("DROP BRANCH main", "22023", "Cannot remove main branch")])
def test_refused(server, t, action, state, words):
    before = columns(server, t)
    e = refused(server, f"ALTER TABLE {t} {action}")
    assert words in str(e)
    assert state is None or e.sqlstate == state
    assert columns(server, t) == before


def test_partitions_evolve(server, t):
    for action in ("ADD PARTITION FIELD bucket(4, id)", "ADD PARTITION FIELD days(ts) AS day", "REPLACE PARTITION FIELD day WITH months(ts)"):
        server.sql(f"ALTER TABLE {t} {action}")
    assert "Cannot find source column for partition field: ts_month" in str(refused(server, f"ALTER TABLE {t} DROP COLUMN ts"))
    server.sql(f"INSERT INTO {t} (id, ts) VALUES (7, TIMESTAMP '2024-05-05 01:00:00'), (8, NULL)")
    assert server.sql(f"SELECT spec_id > 0, partition.id_bucket_4 IS NULL, record_count FROM {t}.files ORDER BY file_path") != []
    assert server.sql(f"SELECT sum(record_count), count(*) FROM {t}.partitions") == [(3, 3)]
    server.sql(f"ALTER TABLE {t} DROP PARTITION FIELD ts_month")
    server.sql(f"ALTER TABLE {t} DROP COLUMN ts")
    assert server.sql(f"SELECT id FROM {t} ORDER BY id") == [(1,), (7,), (8,)]


def test_defaults_need_format_3(server, t):
    server.sql(f"ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
    server.sql(f"ALTER TABLE {t} ADD COLUMN d INT DEFAULT 5")
    server.sql(f"ALTER TABLE {t} ALTER COLUMN d SET DEFAULT 9")
    server.sql(f"INSERT INTO {t} (id) VALUES (2)")
    assert server.sql(f"SELECT id, d FROM {t} ORDER BY id") == [(1, 5), (2, 9)]


def test_references(server, t):
    server.sql(f"ALTER TABLE {t} CREATE TAG one RETAIN 10 DAYS")
    server.sql(f"ALTER TABLE {t} CREATE BRANCH dev WITH SNAPSHOT RETENTION 2 SNAPSHOTS 3 DAYS")
    server.sql(f"INSERT INTO {t} (id) VALUES (2)")
    assert server.sql(f"SELECT count(*) FROM {t}.tag_one") == [(1,)]
    assert server.sql(f"SELECT count(*) FROM {t} VERSION AS OF 'dev'") == [(1,)]
    assert server.sql(f"SELECT name, type, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM {t}.refs ORDER BY name") == [
        ("dev", "BRANCH", None, 2, 259200000), ("main", "BRANCH", None, None, None), ("one", "TAG", 864000000, None, None)]
    assert "is a branch not a tag" in str(refused(server, f"ALTER TABLE {t} DROP TAG dev"))
    server.sql(f"ALTER TABLE {t} DROP TAG one")
    server.sql(f"ALTER TABLE {t} REPLACE BRANCH dev")
    assert server.sql(f"SELECT count(*) FROM {t}.branch_dev") == [(2,)]


def test_rename_and_views(server, ns, t):
    server.sql(f"ALTER TABLE {t} RENAME TO t2")
    assert server.sql(f"SELECT count(*) FROM glue_catalog.{ns}.t2") == [(1,)]
    server.sql(f"CREATE VIEW glue_catalog.{ns}.v AS SELECT id FROM glue_catalog.{ns}.t2")
    server.sql(f"ALTER VIEW glue_catalog.{ns}.v SET TBLPROPERTIES ('a' = 'b')")
    assert "use ALTER VIEW" in str(refused(server, f"ALTER TABLE glue_catalog.{ns}.v ADD COLUMN x INT"))
    server.sql(f"ALTER VIEW glue_catalog.{ns}.v RENAME TO v2")
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.v2") == [(1,)]
    server.sql(f"ALTER TABLE IF EXISTS glue_catalog.{ns}.nope RENAME TO x")


def test_foreign_reader_sees_the_same(server, ns, t):
    server.sql(f"ALTER TABLE {t} RENAME COLUMN s.b TO bb")
    server.sql(f"ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id)")
    server.sql(f"ALTER TABLE {t} WRITE ORDERED BY id DESC")
    server.sql(f"INSERT INTO {t} (id, name, s) VALUES (2, 'y', named_struct('a', 6, 'bb', 'w'))")
    table = server.pyiceberg().load_table(f"{ns}.t")
    assert [(r["id"], r["name"], r["s"]) for r in sorted(table.scan().to_arrow().to_pylist(), key=lambda r: r["id"])] == [
        (1, "a", {"a": 1, "bb": "x"}), (2, "y", {"a": 6, "bb": "w"})]
    assert [f.name for f in table.spec().fields] == ["id_bucket_4"]
    assert str(table.sort_order().fields[0]) == "1 DESC NULLS LAST"


def test_many_at_once_lose_nothing(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.many (id INT)")
    errors = []

    def work(i):
        try:
            with server.connect() as c:
                for k in range(4):
                    c.execute(f"ALTER TABLE glue_catalog.{ns}.many ADD COLUMN c{i}_{k} INT", prepare=False)
        except psycopg.Error as e:
            errors.append(str(e))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for x in threads:
        x.start()
    for x in threads:
        x.join()
    assert errors == []
    names = [n for n, _ in columns(server, f"glue_catalog.{ns}.many")]
    assert len(names) == len(set(names)) == 13


@pytest.mark.parametrize("action", ["ADD COLUMNS (note STRING)", "DROP COLUMN n", "RENAME COLUMN n TO k", "ALTER COLUMN n TYPE BIGINT", "ADD PARTITION FIELD name",
                                    "SET LOCATION 's3://x/y'", "WRITE ORDERED BY n", "CREATE TAG x", "SET TBLPROPERTIES ('location' = 's3://x/y')",
                                    "SET TBLPROPERTIES ('write.data.path' = 's3://x/y')", "SET TBLPROPERTIES ('format-version' = '3')"])
def test_managed_views_keep_their_form(server, ns, t, action):
    v = f"glue_catalog.{ns}.m"
    server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW {v} AS SELECT name, COUNT(*) AS n FROM {t} GROUP BY name")
    e = refused(server, f"ALTER TABLE {v} {action}")
    assert str(e).startswith("Cannot apply unsupported change to managed materialized view: ")
    assert "system-managed materialized view" in str(e) and f"{ns}.m" in str(e)
    server.sql(f"ALTER TABLE {v} SET TBLPROPERTIES ('note' = 'fine')")
    assert dict(server.sql(f"SHOW TBLPROPERTIES {v}"))["note"] == "fine"
    server.sql(f"INSERT INTO {t} (id, name) VALUES (3, 'z')")
    server.sql(f"REFRESH MATERIALIZED VIEW {v}")
    assert dict(server.sql(f"SHOW TBLPROPERTIES {v}"))["lastRefreshType"] == "INCREMENTAL"


def test_columns_of_a_regular_view_are_its_definitions(server, ns, t):
    v = f"glue_catalog.{ns}.r"
    server.sql(f"CREATE MATERIALIZED VIEW {v} AS SELECT name, COUNT(*) AS n FROM {t} GROUP BY name")
    assert "its columns are those of its definition" in str(refused(server, f"ALTER TABLE {v} ADD COLUMN note STRING"))
    server.sql(f"ALTER TABLE {v} ALTER COLUMN n COMMENT 'how many'")
    server.sql(f"INSERT INTO {t} (id, name) VALUES (3, 'z')")
    server.sql(f"REFRESH MATERIALIZED VIEW {v}")
    assert server.sql(f"SELECT * FROM {v} ORDER BY name") == [("a", 1), ("z", 1)]
