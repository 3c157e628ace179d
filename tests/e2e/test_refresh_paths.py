# SPDX-License-Identifier: Apache-2.0
"""Ways that a change takes into a view: rows that go and come back by position, joins of several tables, rows met in mid-sized views."""
import pytest

QUERIES = {
    "joined": "SELECT r.name, SUM(o.amount * (1 - o.part)) AS total, COUNT(*) AS n FROM glue_catalog.{ns}.o o JOIN glue_catalog.{ns}.c c ON o.c = c.id "
              "JOIN glue_catalog.{ns}.r r ON c.r = r.id WHERE o.amount > 2 GROUP BY r.name",
    "nested": "SELECT n, COUNT(*) AS customers FROM (SELECT c.id AS id, COUNT(o.id) AS n FROM glue_catalog.{ns}.c c LEFT JOIN glue_catalog.{ns}.o o "
              "ON o.c = c.id GROUP BY c.id) t GROUP BY n",
    "names": "SELECT c % 7 AS __gone, SUM(amount) AS __come, COUNT(part) AS o1, AVG(amount) AS k1, COUNT(*) AS f FROM glue_catalog.{ns}.o GROUP BY c % 7",
    "groups": "SELECT id % 9000 AS g, SUM(amount) AS total, AVG(amount) AS mean, COUNT(*) AS n FROM glue_catalog.{ns}.o GROUP BY id % 9000",
}


@pytest.fixture()
def views(server, ns):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.r (id INT, name STRING) USING iceberg;
        CREATE TABLE glue_catalog.{ns}.c (id INT, r INT) USING iceberg;
        CREATE TABLE glue_catalog.{ns}.o (id BIGINT, c INT, amount DECIMAL(10,2), part DECIMAL(10,2)) USING iceberg;
        INSERT INTO glue_catalog.{ns}.r VALUES (0, 'north'), (1, 'south'), (2, NULL);
        INSERT INTO glue_catalog.{ns}.c SELECT CAST(id AS INT), CAST(id % 4 AS INT) FROM range(500);
        INSERT INTO glue_catalog.{ns}.o SELECT id, CAST(id * 7 % 520 AS INT), CAST(id % 1000 AS DECIMAL(10,2)), CASE WHEN id % 11 = 0 THEN NULL ELSE 0.25 END FROM range(20000)""")
    for v, q in QUERIES.items():
        server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.{v} AS {q.format(ns=ns)}")
    return ns


def refreshed(server, ns):
    """Every view, incrementally, equals its query."""
    for v, q in QUERIES.items():
        server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.{v}")
        props = dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.{v}"))
        assert props["lastRefreshType"] in ("INCREMENTAL", "NONE"), props
        assert sorted(server.sql(f"SELECT * FROM glue_catalog.{ns}.{v}"), key=repr) == sorted(server.sql(q.format(ns=ns)), key=repr), v
        assert "proven" in server.run("verify", f"glue_catalog.{ns}.{v}").stdout          # the hash of the rows went along


@pytest.mark.parametrize("version", [2, 3])
def test_deleted_rows_come_back(server, views, version):
    ns, o = views, f"glue_catalog.{views}.o"
    if version == 3:
        server.sql(f"ALTER TABLE {o} SET TBLPROPERTIES ('format-version' = '3')")
    server.sql(f"DELETE FROM {o} WHERE id % 100 = 3")
    refreshed(server, ns)
    before = server.sql(f"SELECT snapshot_id FROM {o}.snapshots ORDER BY committed_at DESC LIMIT 1")[0][0]
    server.sql(f"DELETE FROM {o} WHERE id < 50 OR id % 100 = 4")
    refreshed(server, ns)
    server.sql(f"CALL glue_catalog.system.rollback_to_snapshot('{ns}.o', {before})")
    refreshed(server, ns)
    server.sql(f"DELETE FROM {o} WHERE id BETWEEN 100 AND 180")
    server.sql(f"INSERT INTO {o} VALUES (20001, 3, 5.00, 0.5), (20002, 3, 5.00, 0.5), (20002, 3, 5.00, 0.5)")
    refreshed(server, ns)


@pytest.mark.parametrize("name", ["__pos", "__FILE", "__ivm_x"])
def test_names_of_the_system(server, views, name):
    with pytest.raises(Exception, match="reserved"):
        server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{views}.w AS SELECT c AS {name}, COUNT(*) AS n FROM glue_catalog.{views}.o GROUP BY c")


def test_every_table_of_a_join_changes(server, views):
    ns = views
    server.sql(f"UPDATE glue_catalog.{ns}.r SET name = 'west' WHERE id = 1")
    server.sql(f"INSERT INTO glue_catalog.{ns}.c VALUES (510, 0), (511, 9)")
    server.sql(f"DELETE FROM glue_catalog.{ns}.c WHERE id = 17")
    server.sql(f"UPDATE glue_catalog.{ns}.o SET amount = amount + 1 WHERE id % 500 = 0")
    refreshed(server, ns)
    server.sql(f"INSERT INTO glue_catalog.{ns}.r VALUES (3, 'east')")
    refreshed(server, ns)
