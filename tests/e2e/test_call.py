# SPDX-License-Identifier: Apache-2.0
"""CALL catalog.system.…: maintenance keeps the rows, rollback moves them, views' snapshots survive, files are adopted."""
import duckdb
import psycopg
import pytest


@pytest.fixture()
def t(server, ns):
    name = f"glue_catalog.{ns}.t"
    server.sql(f"CREATE TABLE {name} (id INT, name STRING) PARTITIONED BY (name)")
    for i in range(6):
        server.sql(f"INSERT INTO {name} VALUES ({i}, 'a'), ({i + 100}, 'b')")
    return name


def call(server, text):
    with server.connect() as c:
        cur = c.execute("CALL " + text, prepare=False)
        return [dict(zip([d.name for d in cur.description], r)) for r in cur.fetchall()]


def refused(server, text):
    with pytest.raises(psycopg.Error) as e:
        server.sql("CALL " + text)
    return str(e.value)


def rows(server, t):
    return server.sql(f"SELECT count(*), sum(id) FROM {t}")[0]


def snapshots(server, t):
    return [r[0] for r in server.sql(f"SELECT snapshot_id FROM {t}.snapshots ORDER BY committed_at")]


def test_rewrite_data_files(server, ns, t):
    server.sql(f"DELETE FROM {t} WHERE id IN (3, 104)")
    server.sql(f"INSERT INTO {t} VALUES (50, 'a'), (51, 'a')")
    server.sql(f"DELETE FROM {t} WHERE id = 50")
    before = rows(server, t)
    r = call(server, f"glue_catalog.system.rewrite_data_files(table => '{ns}.t', where => 'name = ''b''')")[0]
    assert (r["rewritten_data_files_count"], r["added_data_files_count"], r["failed_data_files_count"]) == (5, 1, 0)
    r = call(server, f"glue_catalog.system.rewrite_data_files('{ns}.t', 'sort', 'id DESC NULLS LAST, name')")[0]
    assert r["added_data_files_count"] == 1 and r["rewritten_bytes_count"] > 0
    assert rows(server, t) == before
    assert server.sql(f"SELECT content, count(*), sum(record_count) FROM {t}.files GROUP BY content") == [(0, 2, before[0])]
    assert server.sql(f"SELECT operation FROM {t}.snapshots ORDER BY committed_at DESC LIMIT 1") == [("replace",)]
    assert server.pyiceberg().load_table(f"{ns}.t").scan().to_arrow().num_rows == before[0]


@pytest.mark.parametrize("text,words", [
    ("system.rewrite_data_files(table => '{t}', options => map('nonsense', 'true'))", "Cannot use options [nonsense]"),
    ("system.rewrite_data_files('{t}', 'zip')", "Only binpack or sort"), ("system.rewrite_data_files('{t}', sort_order => 'zorder(id, name)')", "zorder"),
    ("system.rewrite_data_files(tabel => '{t}')", "has no argument 'tabel'"), ("system.rewrite_data_files()", "needs argument 'table'"),
    ("system.rewrite_data_files('{t}', where => '1; DROP TABLE x')", "argument 'where'"), ("system.rewrite_data_files('{t}', where => 'nope = 1')", "nope"),
    ("system.nope('{t}')", "cannot be found"), ("nope('{t}')", "not a procedure"), ("system.expire_snapshots('{t}', retain_last => 0)", "at least 1"),
    ("system.remove_orphan_files('{t}', older_than => current_timestamp())", "less than 24 hours"),
    ("system.remove_orphan_files(table => '{t}', dry_run => true, location => 's3://warehouse')", "not inside"),
    ("system.rollback_to_snapshot('{t}', 1)", "unknown snapshot id: 1"), ("system.rollback_to_snapshot('{t}', 'x')", "must be an integer"),
    ("system.set_current_snapshot('{t}')", "Either snapshot_id or ref"), ("system.fast_forward('{t}', 'main', 'nope')", "Ref does not exist: nope")])
def test_refused(server, ns, t, text, words):
    before = snapshots(server, t)
    assert words in refused(server, text.format(t=f"{ns}.t"))
    assert snapshots(server, t) == before


def test_rollback_and_references(server, ns, t):
    snaps = snapshots(server, t)
    assert call(server, f"system.rollback_to_snapshot('{ns}.t', {snaps[1]})") == [{"previous_snapshot_id": snaps[-1], "current_snapshot_id": snaps[1]}]
    assert rows(server, t)[0] == 4
    assert "not an ancestor" in refused(server, f"system.rollback_to_snapshot('{ns}.t', {snaps[-1]})")
    call(server, f"system.set_current_snapshot('{ns}.t', {snaps[-1]})")
    assert rows(server, t)[0] == 12
    server.sql(f"ALTER TABLE {t} CREATE BRANCH dev AS OF VERSION {snaps[2]}")
    assert call(server, f"system.fast_forward('{ns}.t', 'dev', 'main')") == [{"branch_updated": "dev", "previous_ref": snaps[2], "updated_ref": snaps[-1]}]
    assert [r["snapshot_id"] for r in call(server, f"system.ancestors_of('{ns}.t')")] == snaps[::-1]


def test_cherrypick(server, ns, t):
    base = snapshots(server, t)[-1]
    server.sql(f"INSERT INTO {t} VALUES (1000, 'c')")
    picked = snapshots(server, t)[-1]
    call(server, f"system.rollback_to_snapshot('{ns}.t', {base})")
    server.sql(f"INSERT INTO {t} VALUES (2000, 'c')")
    call(server, f"system.cherrypick_snapshot('{ns}.t', {picked})")
    assert server.sql(f"SELECT id FROM {t} WHERE id >= 1000 ORDER BY id") == [(1000,), (2000,)]
    assert "already picked" in refused(server, f"system.cherrypick_snapshot('{ns}.t', {picked})")


def objects(server, ns):
    pages = server.s3().get_paginator("list_objects_v2").paginate(Bucket="warehouse", Prefix=f"{ns}.db/t/")
    return {o["Key"] for p in pages for o in p.get("Contents", [])}


def test_expire_and_orphans(server, ns, t):
    before, had = rows(server, t), objects(server, ns)
    call(server, f"system.rewrite_data_files('{ns}.t', options => map('rewrite-all', 'true'))")
    call(server, f"system.rewrite_manifests('{ns}.t')")
    r = call(server, f"system.expire_snapshots(table => '{ns}.t', older_than => TIMESTAMP '2099-01-01 00:00:00', retain_last => 1)")[0]
    assert r["deleted_data_files_count"] == 12 and r["deleted_manifest_lists_count"] == 7
    assert len([k for k in had if k.endswith(".parquet")]) == 12
    assert len([k for k in objects(server, ns) if k.endswith(".parquet")]) == 2
    assert rows(server, t) == before
    server.s3().put_object(Bucket="warehouse", Key=f"{ns}.db/t/data/junk.parquet", Body=b"junk")
    assert call(server, f"system.remove_orphan_files('{ns}.t')") == []
    assert call(server, f"system.remove_orphan_files(table => '{ns}.t', older_than => TIMESTAMP '2099-01-01 00:00:00', dry_run => true)") == [
        {"orphan_file_location": f"s3://warehouse/{ns}.db/t/data/junk.parquet"}]
    assert rows(server, t) == before


def test_views_keep_the_snapshots_that_they_need(server, ns, t):
    v = f"glue_catalog.{ns}.m"
    server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW {v} AS SELECT name, COUNT(*) AS n FROM {t} GROUP BY name")
    pinned = snapshots(server, t)[-1]
    server.sql(f"INSERT INTO {t} VALUES (200, 'c')")
    call(server, f"system.rewrite_data_files('{ns}.t', options => map('rewrite-all', 'true'))")
    call(server, f"system.expire_snapshots('{ns}.t', current_timestamp(), 1)")
    assert pinned in snapshots(server, t)
    server.sql(f"REFRESH MATERIALIZED VIEW {v}")
    assert dict(server.sql(f"SHOW TBLPROPERTIES {v}"))["lastRefreshType"] == "INCREMENTAL"
    assert server.sql(f"SELECT * FROM {v} ORDER BY name") == [("a", 6), ("b", 6), ("c", 1)]
    call(server, f"system.expire_snapshots('{ns}.t', current_timestamp(), 1)")
    assert pinned not in snapshots(server, t)
    for text in ("rewrite_data_files('{v}')", "expire_snapshots('{v}')", "remove_orphan_files('{v}')", "rewrite_manifests('{v}')", "rollback_to_snapshot('{v}', 1)"):
        assert "system-managed materialized view" in refused(server, "system." + text.format(v=f"{ns}.m"))


def test_add_files_and_register(server, ns, tmp_path):
    duckdb.sql(f"COPY (SELECT range::INT id, 'v' || range vv FROM range(10)) TO '{tmp_path}/x.parquet'")
    s3 = server.s3()
    s3.create_bucket(Bucket=f"ext-{ns}")
    for folder in ("name=x%20y", "name=z"):
        s3.upload_file(f"{tmp_path}/x.parquet", f"ext-{ns}", f"in/{folder}/f.parquet")
    s3.put_object(Bucket=f"ext-{ns}", Key="in/_SUCCESS", Body=b"")
    h = f"glue_catalog.{ns}.h"
    server.sql(f"CREATE TABLE {h} (id INT, vv STRING, name STRING) PARTITIONED BY (name)")
    source = f"`parquet`.`s3://ext-{ns}/in`"
    assert call(server, f"system.add_files('{ns}.h', '{source}')") == [{"added_files_count": 2, "changed_partition_count": 2}]
    assert server.sql(f"SELECT name, count(*), sum(id), max(vv) FROM {h} GROUP BY name ORDER BY name") == [("x y", 10, 45, "v9"), ("z", 10, 45, "v9")]
    assert "already exist" in refused(server, f"system.add_files('{ns}.h', '{source}')")
    server.sql(f"ALTER TABLE {h} RENAME COLUMN vv TO ww")
    assert server.sql(f"SELECT max(ww) FROM {h}") == [("v9",)]
    mapping = server.pyiceberg().load_table(f"{ns}.h").name_mapping()
    assert [f.names for f in mapping.root if f.field_id == 2] == [["vv", "ww"]]
    latest = server.sql(f"SELECT file FROM {h}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1")[0][0]
    assert call(server, f"system.register_table('{ns}.h2', '{latest}')")[0]["total_records_count"] == 20
    assert server.sql(f"SELECT count(*) FROM glue_catalog.{ns}.h2") == [(20,)]


def test_rewrite_position_delete_files(server, ns):
    d = f"glue_catalog.{ns}.d"
    server.sql(f"CREATE TABLE {d} (id INT)")
    server.sql(f"INSERT INTO {d} VALUES (1), (2), (3), (4), (5), (6), (7), (8)")
    for i in (2, 4, 6):
        server.sql(f"DELETE FROM {d} WHERE id = {i}")
    assert server.sql(f"SELECT count(*) FROM {d}.position_deletes") == [(3,)]
    r = call(server, f"system.rewrite_position_delete_files(table => '{ns}.d', options => map('rewrite-all', 'true'))")[0]
    assert (r["rewritten_delete_files_count"], r["added_delete_files_count"]) == (3, 1)
    assert server.sql(f"SELECT id FROM {d} ORDER BY id") == [(1,), (3,), (5,), (7,), (8,)]
    assert server.sql(f"SELECT content, count(*) FROM {d}.delete_files GROUP BY content") == [(1, 1)]
    assert sorted(server.pyiceberg().load_table(f"{ns}.d").scan().to_arrow()["id"].to_pylist()) == [1, 3, 5, 7, 8]


def test_rewritten_rows_keep_their_ids(server, ns, tmp_path):
    v3 = f"glue_catalog.{ns}.v3"
    server.sql(f"CREATE TABLE {v3} (id INT) TBLPROPERTIES ('format-version' = '3')")
    server.sql(f"INSERT INTO {v3} VALUES (1), (2)")
    server.sql(f"INSERT INTO {v3} VALUES (3)")
    server.sql(f"DELETE FROM {v3} WHERE id = 1")
    call(server, f"system.rewrite_data_files('{ns}.v3', options => map('rewrite-all', 'true'))")
    bucket, key = server.sql(f"SELECT file_path FROM {v3}.files WHERE content = 0")[0][0][5:].split("/", 1)
    server.s3().download_file(bucket, key, f"{tmp_path}/v3.parquet")
    assert sorted(duckdb.sql(f"SELECT id, _row_id, _last_updated_sequence_number FROM '{tmp_path}/v3.parquet'").fetchall()) == [(2, 1, 1), (3, 2, 2)]
