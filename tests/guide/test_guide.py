# SPDX-License-Identifier: Apache-2.0
"""The second document, row by row: its statements in their order, word for word but for what it says to replace, through psql.

firn plays both sides: Materialize, and AWS with IAM, STS and S3 Tables (`aws.endpoint = own`).  Each row asserts what the document promises, and what a reader of
the table sees."""
import json
import re
import time

import pytest

from guide_place import (ACCOUNT, APPEND, AWS_CONNECTION, CATALOG_CONNECTION, EXTERNAL_ID, LAG, PRINCIPAL, UPSERT, Failed, Place, until)

BUCKET, NS = "guide-bucket", "analytics"
ORDERS = [(1, "Alice", 150), (2, "Bob", 200), (3, "Alice", 75), (4, "Carol", 320)]


class Guide(Place):
    """The place and what the steps have made so far."""

    def __init__(self, folder):
        super().__init__(folder)
        self.bucket = self.table_bucket(BUCKET, NS)
        self.role_arn = self.role("MaterializeIceberg", self.policy("MaterializeS3Tables", self.bucket))
        self.external_id = None

    def sink(self, text, sink, **more):
        return self.psql(text % ({"sink": sink, "cluster": "sink_cluster", "namespace": NS, "interval": "1s"} | more))

    def table(self, table, order="1"):
        rows = self.read(BUCKET, f"{NS}.{table}", order=order)
        return [tuple(map(str, r)) for r in rows] if rows is not None else None

    def totals(self):
        return [tuple(r) for r in self.rows("SELECT customer, total FROM totals ORDER BY 1")]

    def in_step(self, table="totals_iceberg"):
        """The table equals the view, by rows."""
        until(lambda: self.table(table) == self.totals(), 60)

    def committed(self, name):
        """Snapshots in their order, with the progress they carry."""
        return [(json.loads(s.summary["mz-frontier"]), s.summary["mz-sink-id"], int(s.summary["mz-sink-version"])) for s in self.snapshots(self.bucket, f"{NS}.{name}")]


@pytest.fixture(scope="module")
def g(tmp_path_factory):
    g = Guide(tmp_path_factory.mktemp("guide"))
    yield g
    g.stop()


# ---- the Iceberg catalog connection (steps 2 to 4) -----------------------------------------------------------------------------------------


def test_row_01_an_aws_connection(g):
    assert g.psql(AWS_CONNECTION % {"role": g.role_arn}) == "CREATE CONNECTION"
    assert g.rows("SELECT name, type FROM mz_connections WHERE name = 'aws_connection'") == [["aws_connection", "aws"]]


def test_row_02_its_external_id(g):
    rows = g.rows(EXTERNAL_ID % {"role": g.role_arn})
    assert len(rows) == 1
    g.external_id = rows[0][0]
    assert re.fullmatch(r"mz_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}_u\d+", g.external_id)
    ((principal, trust),) = g.rows("SELECT principal, example_trust_policy FROM mz_internal.mz_aws_connections")
    assert principal == PRINCIPAL
    statement = json.loads(trust)["Statement"][0]
    assert statement["Principal"]["AWS"] == principal and statement["Condition"]["StringEquals"]["sts:ExternalId"] == g.external_id


def test_row_02b_the_trust_is_still_pending(g):
    g.refused("VALIDATE CONNECTION aws_connection;", "assuming role " + g.role_arn, "is not authorized to perform: sts:AssumeRole", "HINT", "external ID")
    g.refused(CATALOG_CONNECTION % {"bucket": g.bucket}, "failed to connect to catalog", "sts:AssumeRole")
    assert g.rows("SELECT count(*) FROM mz_connections WHERE name = 'iceberg_catalog_connection'") == [["0"]]


def test_row_02c_a_role_that_asks_for_no_external_id(g):
    g.aws("iam", "update-assume-role-policy", "--role-name", "MaterializeIceberg", "--policy-document", json.dumps(
        {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": PRINCIPAL}, "Action": "sts:AssumeRole"}]}))
    g.refused("VALIDATE CONNECTION aws_connection;", "role trust policy does not require an external ID",
              f"The trust policy for the connection's role ({g.role_arn}) is insecure and allows any Materialize customer to assume the role.", "HINT")


def test_row_03_a_catalog_connection(g):
    g.trust("MaterializeIceberg", g.external_id)
    assert g.psql("VALIDATE CONNECTION aws_connection;") == "VALIDATE CONNECTION"
    assert g.psql(CATALOG_CONNECTION % {"bucket": g.bucket}) == "CREATE CONNECTION"
    assert g.psql("VALIDATE CONNECTION iceberg_catalog_connection;") == "VALIDATE CONNECTION"
    shown = g.psql("SHOW CREATE CONNECTION iceberg_catalog_connection;")
    assert shown.split("|", 1) == ["materialize.public.iceberg_catalog_connection",
                                   "CREATE CONNECTION materialize.public.iceberg_catalog_connection TO ICEBERG CATALOG (AWS CONNECTION = materialize.public.aws_connection, "
                                   "CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', "
                                   f"WAREHOUSE = '{g.bucket}');"]
    assert [r[:2] for r in g.rows("SHOW CONNECTIONS")] == [["aws_connection", "aws"], ["iceberg_catalog_connection", "iceberg-catalog"]]


# ---- the sinks -----------------------------------------------------------------------------------------------------------------------------


def test_row_04_a_sink_in_upsert_mode(g):
    g.psql("CREATE CLUSTER sink_cluster (SIZE = '25cc');"
           "CREATE TABLE orders (id int, customer text, amount int);"
           "CREATE MATERIALIZED VIEW totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer;")
    g.psql("INSERT INTO orders VALUES " + ", ".join(map(str, ORDERS)))
    g.refused(UPSERT % {"sink": "orders_sink", "cluster": "sink_cluster", "object": "orders", "namespace": NS, "table": "orders_iceberg", "key": "id", "interval": "1s"},
              "upsert key could not be validated as unique", "There are no known valid unique keys for the underlying relation")
    assert g.sink(UPSERT, "totals_sink", object="totals", table="totals_iceberg", key="customer") == "CREATE SINK"
    g.in_step()
    g.psql("INSERT INTO orders VALUES (5, 'Bob', 1), (6, 'Dave', 9); DELETE FROM orders WHERE customer = 'Carol'; UPDATE orders SET amount = amount + 1 WHERE id = 1;")
    g.in_step()
    assert g.table("totals_iceberg") == [("Alice", "226"), ("Bob", "201"), ("Dave", "9")]


def test_row_05_a_sink_in_append_mode(g):
    assert g.sink(APPEND, "changes_sink", object="orders", table="orders_changes") == "CREATE SINK"
    n = int(g.rows("SELECT count(*) FROM orders")[0][0])
    until(lambda: len(g.table("orders_changes") or []) == n)
    g.psql("UPDATE orders SET amount = 1000 WHERE id = 2; DELETE FROM orders WHERE id = 3;")
    until(lambda: len(g.table("orders_changes")) == n + 3)
    rows = g.table("orders_changes", "id, _mz_timestamp, _mz_diff")
    assert [r[:4] for r in rows if r[0] == "2"] == [("2", "Bob", "200", "1"), ("2", "Bob", "200", "-1"), ("2", "Bob", "1000", "1")]
    assert len({r[4] for r in rows if r[0] == "2"}) == 2                          # both halves of an update carry one time
    schema = g.catalog(g.bucket).load_table(f"{NS}.orders_changes").schema()
    assert [(f.name, str(f.field_type), f.required) for f in schema.fields[-2:]] == [("_mz_diff", "int", True), ("_mz_timestamp", "long", True)]


def test_row_06_lag(g):
    def both():
        rows = dict(g.rows(LAG % {"sink": "totals_sink", "object": "totals"}))
        return rows if len(rows) == 2 else None
    rows = until(both, 90)
    for lag in rows.values():
        assert re.fullmatch(r"\d\d:\d\d:\d\d(\.\d+)?", lag) and lag < "00:00:30", rows


def test_row_07_another_commit_interval(g):
    before = g.committed("totals_iceberg")
    assert g.psql("ALTER SINK totals_sink SET (COMMIT INTERVAL = '1m');") == "ALTER SINK"
    assert "COMMIT INTERVAL = '1m'" in g.psql("SHOW CREATE SINK totals_sink;")
    until(lambda: g.status("totals_sink")[0] == "running")
    g.psql("INSERT INTO orders VALUES (7, 'Eve', 70);")
    g.psql("ALTER SINK totals_sink SET (COMMIT INTERVAL = '1s');")
    g.in_step()
    after = g.committed("totals_iceberg")
    assert after[: len(before)] == before and after[-1][2] == before[-1][2] + 2    # a version for each ALTER
    g.refused("ALTER SINK totals_sink SET (COMMIT INTERVAL = '100ms');", "COMMIT INTERVAL must be at least 1 second")


def test_row_08_replicas_of_a_managed_cluster(g):
    assert g.psql("ALTER CLUSTER sink_cluster SET (REPLICATION FACTOR = 0);") == "ALTER CLUSTER"
    until(lambda: g.status("totals_sink")[0] == "paused")
    before = g.committed("totals_iceberg")
    for i in range(3):
        g.psql(f"INSERT INTO orders VALUES ({10 + i}, 'Frank', 1);")
        time.sleep(1.1)
    assert g.committed("totals_iceberg") == before
    assert g.psql("ALTER CLUSTER sink_cluster SET (REPLICATION FACTOR = 1);") == "ALTER CLUSTER"
    g.in_step()
    assert len(g.committed("totals_iceberg")) == len(before) + 1                   # one commit catches up


def test_row_09_replicas_of_an_unmanaged_cluster(g):
    g.psql("CREATE CLUSTER unmanaged REPLICAS (main (SIZE = '25cc'));")
    g.psql("CREATE MATERIALIZED VIEW counts AS SELECT customer, count(*) AS n FROM orders GROUP BY customer;")
    g.sink(UPSERT, "counts_sink", cluster="unmanaged", object="counts", table="counts_iceberg", key="customer")
    until(lambda: g.table("counts_iceberg") == [tuple(r) for r in g.rows("SELECT customer, n FROM counts ORDER BY 1")])
    assert g.psql("DROP CLUSTER REPLICA unmanaged.main;") == "DROP CLUSTER REPLICA"
    until(lambda: g.status("counts_sink")[0] == "paused")
    g.psql("INSERT INTO orders VALUES (20, 'Grace', 5);")
    assert g.psql("CREATE CLUSTER REPLICA unmanaged.main (SIZE = '25cc');") == "CREATE CLUSTER REPLICA"
    until(lambda: g.table("counts_iceberg") == [tuple(r) for r in g.rows("SELECT customer, n FROM counts ORDER BY 1")])
    g.refused("DROP CLUSTER REPLICA sink_cluster.r1;", "cannot modify managed cluster")


def test_row_10_a_table_that_is_there(g):
    """Adopted when it fits and has no snapshot; refused, with what to do, when it holds what is not ours."""
    api = g.api("s3tables")
    for name in ("empty", "foreign"):
        api.create_table(tableBucketARN=g.bucket, namespace=NS, name=name, format="ICEBERG",
                         metadata={"iceberg": {"schema": {"fields": [{"name": "customer", "type": "string"}, {"name": "n", "type": "long", "required": name == "never"}]}}})
    g.server.sql(f"INSERT INTO `{BUCKET}`.{NS}.foreign VALUES ('Mallory', 1)")
    g.sink(UPSERT, "foreign_sink", object="counts", table="foreign", key="customer")
    until(lambda: g.status("foreign_sink")[0] == "stalled")
    assert g.table("foreign") == [("Mallory", "1")]
    g.psql("DROP SINK foreign_sink;")


def test_row_11_progress_stands_in_the_snapshots(g):
    id_ = g.rows("SELECT id FROM mz_sinks WHERE name = 'totals_sink'")[0][0]
    progress = g.committed("totals_iceberg")
    assert {p[1] for p in progress} == {id_}
    frontiers = [p[0][0] for p in progress]
    assert frontiers == sorted(frontiers) and all(1.7e12 < f < 2.5e12 for f in frontiers)


def test_row_13_kill_at_any_point(g):
    """Neither loss nor a double: the table equals the view after kills amid commits."""
    for i in range(5):
        for k in range(4):
            g.psql(f"INSERT INTO orders VALUES ({1000 + 10 * i + k}, 'c{(i * k) % 5}', {i + k});")
        time.sleep(0.4 * i)
        g.server.kill()
        g.server.start()
    g.in_step()
    net = {}
    until(lambda: int(g.rows("SELECT count(*) FROM orders")[0][0]) == sum(int(r[3]) for r in g.table("orders_changes")), 60)
    for id_, customer, amount, diff, _ in g.table("orders_changes"):
        net[id_, customer, amount] = net.get((id_, customer, amount), 0) + int(diff)
    live = {}
    for r in g.rows("SELECT id, customer, amount FROM orders"):
        live[tuple(r)] = live.get(tuple(r), 0) + 1
    assert {k: v for k, v in net.items() if v} == live


def test_row_13b_dropped_sinks_leave_the_table(g):
    before = g.table("totals_iceberg")
    g.refused("DROP CONNECTION iceberg_catalog_connection;", "still depended upon by sink")
    assert g.psql("DROP SINK totals_sink;") == "DROP SINK"
    assert g.table("totals_iceberg") == before


def test_row_12_input_compacted_past_resume_upper(g):
    """A sink made anew upon its old table: what lies between is not known, so nothing is written until it is said that the table begins anew."""
    counts = lambda: [tuple(r) for r in g.rows("SELECT customer, n FROM counts ORDER BY 1")]
    until(lambda: g.table("counts_iceberg") == counts())
    before = counts()
    g.psql("DROP SINK counts_sink;")
    g.psql("INSERT INTO orders VALUES (5000, 'Heidi', 8);")
    g.sink(UPSERT, "again", object="counts", table="counts_iceberg", key="customer")
    status, error = until(lambda: g.status("again") if g.status("again")[0] == "stalled" else None)
    assert "input compacted past resume upper" in error
    time.sleep(2)
    assert g.table("counts_iceberg") == before
    assert g.psql("ALTER SINK again SET (SNAPSHOT = true);") == "ALTER SINK"
    until(lambda: g.table("counts_iceberg") == counts())
    until(lambda: g.status("again")[0] == "running")


def test_row_14_no_secret_in_the_log(g):
    log = (g.folder / "data.log").read_text()
    assert g.server.secret not in log
    for word in ("SecretAccessKey", "aws_secret_access_key", "SessionToken", "Authorization:", "x-amz-security-token"):
        assert word not in log


# ---- the trust policy to the letter -------------------------------------------------------------------------------------------------------------


def test_the_principal_of_materialize_cloud(tmp_path):
    """With Materialize's own role as principal the trust policy of the document needs no change but the external id."""
    cloud = "arn:aws:iam::664411391173:role/MaterializeConnection"
    p = Place(tmp_path, ["aws.endpoint=own", f"aws.connection_role_arn={cloud}"])
    try:
        bucket = p.table_bucket("cloud", NS)
        role = p.role("R", p.policy("P", bucket), principal=cloud)
        p.psql(AWS_CONNECTION % {"role": role})
        p.refused(CATALOG_CONNECTION % {"bucket": bucket}, "sts:AssumeRole")
        ((external_id,),) = p.rows(EXTERNAL_ID % {"role": role})
        assert p.rows("SELECT principal FROM mz_internal.mz_aws_connections") == [[cloud]]
        p.trust("R", external_id, principal="arn:aws:iam::111111111111:role/MaterializeConnection")      # somebody else
        p.refused("VALIDATE CONNECTION aws_connection;", "sts:AssumeRole")
        p.trust("R", external_id, principal=cloud)
        assert p.psql("VALIDATE CONNECTION aws_connection;") == "VALIDATE CONNECTION"
        assert p.psql(CATALOG_CONNECTION % {"bucket": bucket}) == "CREATE CONNECTION"
        p.server.stop()
        p.server.start()                                                          # the environment is the same
        assert p.rows(EXTERNAL_ID % {"role": role}) == [[external_id]]
        assert p.psql("VALIDATE CONNECTION iceberg_catalog_connection;") == "VALIDATE CONNECTION"
    finally:
        p.stop()
