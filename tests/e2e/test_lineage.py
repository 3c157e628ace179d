# SPDX-License-Identifier: Apache-2.0
"""Format 3: rows that statements move or change keep their ids; the sequence number tells which were changed."""
import io

import pyarrow.parquet as pq
import pytest


def lineage(server, t):
    """id: (_row_id, what the file says of the last change), of the newest file with that row; from the files themselves."""
    found = {}
    for path, first in server.sql(f"SELECT file_path, first_row_id FROM {t}.files WHERE content = 0 ORDER BY first_row_id"):
        bucket, key = path[5:].split("/", 1)
        body = server.s3().get_object(Bucket=bucket, Key=key)["Body"].read()
        for pos, r in enumerate(pq.read_table(io.BytesIO(body)).to_pylist()):
            found[r["id"]] = (first + pos if r.get("_row_id") is None else r["_row_id"], r.get("_last_updated_sequence_number"))
    return found


@pytest.mark.parametrize("mode", ["merge-on-read", "copy-on-write"])
def test_rows_keep_their_ids(server, ns, mode):
    t = f"glue_catalog.{ns}.t"
    modes = ", ".join(f"'write.{op}.mode' = '{mode}'" for op in ("delete", "update", "merge"))
    server.sql(f"""CREATE TABLE {t} (id INT, k STRING) PARTITIONED BY (k) TBLPROPERTIES ('format-version' = '3', {modes});
        INSERT INTO {t} SELECT CAST(id AS INT), concat('k', id % 2) FROM range(8)""")
    first = {i: r for i, (r, _) in lineage(server, t).items()}
    assert sorted(first.values()) == list(range(8))
    server.sql(f"UPDATE {t} SET k = 'x' WHERE id = 3; DELETE FROM {t} WHERE id = 4")
    server.sql(f"""MERGE INTO {t} t USING (SELECT CAST(id AS INT) AS id FROM range(6, 10)) s ON t.id = s.id
        WHEN MATCHED AND t.id = 7 THEN DELETE WHEN MATCHED THEN UPDATE SET k = 'm' WHEN NOT MATCHED THEN INSERT (id, k) VALUES (s.id, 'new')""")
    assert server.sql(f"SELECT id, k FROM {t} ORDER BY id") == [(0, "k0"), (1, "k1"), (2, "k0"), (3, "x"), (5, "k1"), (6, "m"), (8, "new"), (9, "new")]
    now = lineage(server, t)
    assert {i: now[i][0] for i in (0, 1, 2, 3, 5, 6)} == {i: first[i] for i in (0, 1, 2, 3, 5, 6)}
    assert {now[i][0] for i in (8, 9)}.isdisjoint(first.values())
    assert now[3][1] is now[6][1] is now[8][1] is None                               # changed by the commit that added the file
    assert all(now[i][1] == (1 if mode == "copy-on-write" else None) for i in (1, 5))  # merely moved, or not even that
