# SPDX-License-Identifier: Apache-2.0
"""A server with managed views, everybody who may attack them, and the state that no attack may change."""
import json
import sqlite3
import time

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.exceptions
import psycopg
import requests

from conftest import Server
from principals import ACCOUNT, EVERYTHING, Person, assume, root, unique, user
import principals

RULE = "system-managed materialized view"


class Refused(Exception):
    """An answer of HTTP or of a job that says no."""


def words_of(error):
    if isinstance(error, botocore.exceptions.ClientError):
        e = error.response.get("Error", {})
        return e.get("Message", "") + " " + e.get("Code", str(error))
    return str(error)


def http(who, method, path, body=None, service="glue"):
    """A request to Iceberg REST, signed by these keys; Refused with its text when it fails."""
    r = botocore.awsrequest.AWSRequest(method=method, url=who.server.lake + path, data=json.dumps(body) if body is not None else None, headers={"Content-Type": "application/json"})
    botocore.auth.SigV4Auth(botocore.credentials.Credentials(who.key, who.secret, who.token), service, "us-east-1").add_auth(r)
    answer = requests.request(method, r.url, data=r.body, headers=dict(r.headers), timeout=60)
    if answer.status_code >= 400:
        raise Refused(f"{answer.status_code} {answer.text}")
    return answer.json() if answer.text else {}


class Lake:
    def __init__(self, folder):
        self.files = folder / "files"
        self.files.mkdir()
        self.server = s = Server(folder / "data", [f"iceberg.file_root={self.files}", "managed.general_purpose=on"])
        self.root = root(s)
        s.sql("""CREATE NAMESPACE glue_catalog.n; SET spark.sql.mv.managed.enabled = true;
            CREATE TABLE glue_catalog.n.s (id INT, k STRING, a DECIMAL(10,2)) USING iceberg;
            INSERT INTO glue_catalog.n.s VALUES (1, 'x', 1.5), (2, 'y', 2.5), (3, 'x', 4);
            CREATE MANAGED MATERIALIZED VIEW glue_catalog.n.m AS SELECT k, count(*) AS c, sum(a) AS t FROM glue_catalog.n.s GROUP BY k;
            INSERT INTO glue_catalog.n.s VALUES (4, 'z', 8);
            REFRESH MATERIALIZED VIEW glue_catalog.n.m;
            CREATE TABLE glue_catalog.n.other (k STRING, c BIGINT, t DECIMAL(20,2)) USING iceberg;
            INSERT INTO glue_catalog.n.other VALUES ('mallory', 999, 99999.99)""")
        self.people = {"root": self.root}
        self.missing, self.known = {}, {}
        self.probe()
        self.make_people()
        self.make_bucket_view()

    # ---- what is there -------------------------------------------------------------------------------------------------------

    def probe(self):
        """Doors that do not answer: why their attacks are not tried."""
        calls = {"iam": "list_users", "sts": "get_caller_identity", "lakeformation": "get_data_lake_settings", "glue": "get_databases", "s3tables": "list_table_buckets", "athena": "list_work_groups"}
        for service, call in calls.items():
            try:
                getattr(self.root.client(service), call)()
            except Exception as e:
                self.missing[service] = f"{service} does not answer: {words_of(e)[:100]}"

    def make_people(self):
        if "iam" in self.missing or "sts" in self.missing:
            return
        self.people["admin user"] = user(self.server)
        self.people["role"] = principals.role(self.server)
        if "lakeformation" in self.missing:
            return
        boss = self.people["data lake administrator"] = user(self.server)
        lf = self.root.client("lakeformation")
        s = lf.get_data_lake_settings()["DataLakeSettings"]
        lf.put_data_lake_settings(DataLakeSettings={**s, "DataLakeAdmins": [{"DataLakePrincipalIdentifier": boss.arn}]})

    def vended(self, view="m"):
        """Keys that Iceberg REST hands out for the view."""
        c = http(self.root, "GET", f"/iceberg/v1/{self.prefix()}/namespaces/n/tables/{view}")["config"]
        return Person(self.server, c["s3.access-key-id"], c["s3.secret-access-key"], c["s3.session-token"])

    def prefix(self):
        c = http(self.root, "GET", f"/iceberg/v1/config?warehouse={ACCOUNT}")
        return {**c.get("defaults", {}), **c.get("overrides", {})}.get("prefix", ACCOUNT)

    def make_bucket_view(self):
        """The same view in a table bucket: tb.analytics.v."""
        self.arn = None
        if "s3tables" in self.missing:
            return
        api = self.root.client("s3tables")
        self.arn = api.create_table_bucket(name="tb-protected")["arn"]
        api.create_namespace(tableBucketARN=self.arn, namespace=["analytics"])
        self.server.sql("""SET spark.sql.mv.managed.enabled = true; SET spark.sql.catalog.s3t.glue.id = 123456789012:s3tablescatalog/tb-protected;
            CREATE MANAGED MATERIALIZED VIEW s3t.analytics.v AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k""")
        self.private = api.get_table(tableBucketARN=self.arn, namespace="analytics", name="v")["warehouseLocation"].removeprefix("s3://")

    # ---- a view of one's own -------------------------------------------------------------------------------------------------------

    def bucket(self):
        name = unique("b")
        self.root.client("s3").create_bucket(Bucket=name)
        return name

    def claim(self, bucket, key="x"):
        """A managed view that comes to live at s3://bucket/key."""
        name = unique("c")
        self.server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW glue_catalog.n.{name} LOCATION 's3://{bucket}/{key}' AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k")
        return f"glue_catalog.n.{name}"

    def regular(self):
        name = unique("r")
        self.server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.n.{name} AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k")
        return f"glue_catalog.n.{name}"

    def manage(self, view):
        self.server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE OR REPLACE MANAGED MATERIALIZED VIEW {view} AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k")

    # ---- what must not change --------------------------------------------------------------------------------------------------------

    def place(self, view="glue_catalog.n.m"):
        """Bucket and prefix of the view's storage."""
        if ".analytics." in view:
            return self.private, ""
        location = http(self.root, "GET", f"/iceberg/v1/{self.prefix()}/namespaces/n/tables/{view.split('.')[-1]}")["metadata"]["location"]
        bucket, _, key = location.removeprefix("s3://").partition("/")
        return bucket, key + "/"

    def objects(self, view="glue_catalog.n.m"):
        bucket, prefix = self.place(view)
        if not prefix:                                   # a table bucket's storage cannot be listed, there as here
            with sqlite3.connect(self.server.data / "store" / "store.db", timeout=10) as c:
                return [(k.decode(), e, n) for k, e, n in c.execute("SELECT key, etag, size FROM objects WHERE bucket = ? ORDER BY key", (bucket,))]
        found = []
        for page in self.root.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            found += [(o["Key"], o["ETag"], o["Size"]) for o in page.get("Contents", [])]
        return found

    def key(self, part, view="glue_catalog.n.m"):
        return [k for k, _, _ in self.objects(view) if part in k][-1]

    def state(self, view="glue_catalog.n.m"):
        """Rows, snapshots, definition and every object."""
        setting = "SET spark.sql.catalog.s3t.glue.id = 123456789012:s3tablescatalog/tb-protected; "
        q = lambda text: self.server.sql(setting + text)
        return {"rows": q(f"SELECT * FROM {view} ORDER BY k"), "snapshots": q(f"SELECT committed_at, snapshot_id, operation FROM {view}.snapshots ORDER BY committed_at"),
                "text": q(f"SHOW CREATE TABLE {view}"), "columns": q(f"DESCRIBE TABLE {view}"), "objects": self.objects(view)}

    def before(self, view):
        """The state that the view has had since it was first looked at."""
        if view not in self.known:
            self.known[view] = self.state(view)
        return self.known[view]
