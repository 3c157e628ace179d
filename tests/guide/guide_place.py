# SPDX-License-Identifier: Apache-2.0
"""The place where the second document is replayed: a server that plays both sides, psql, the AWS CLI, and the table as readers see it.

Statements go through psql as the document has them: -v ON_ERROR_STOP, no startup file, one session each unless told otherwise."""
import json
import os
import subprocess
import time

import boto3
import botocore.config
import psycopg

from conftest import ROOT, Server

ACCOUNT, REGION = "123456789012", "us-east-1"
AWS = ROOT / "build" / "venv" / "bin" / "aws"
PRINCIPAL = f"arn:aws:iam::{ACCOUNT}:role/MaterializeConnection"

# Step 1 of the document, word for word but for the bucket, the principal and the external id.
POLICY = """{
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "s3tables:*",
            "Resource": [
                "%(bucket)s",
                "%(bucket)s/table/*"
            ]
        }
    ]
}"""
TRUST = """{
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {
                "AWS": "%(principal)s"
            },
            "Action": "sts:AssumeRole",
            "Condition": {
                "StringEquals": {
                    "sts:ExternalId": "%(external_id)s"
                }
            }
        }
    ]
}"""
AWS_CONNECTION = """CREATE CONNECTION aws_connection TO AWS (
    ASSUME ROLE ARN = '%(role)s',
    REGION = 'us-east-1'
);"""
EXTERNAL_ID = """SELECT external_id
FROM mz_internal.mz_aws_connections awsc
JOIN mz_connections c ON awsc.id = c.id
WHERE c.name = 'aws_connection'
AND awsc.assume_role_arn = '%(role)s';"""
CATALOG_CONNECTION = """CREATE CONNECTION iceberg_catalog_connection TO ICEBERG CATALOG (
    CATALOG TYPE = 's3tablesrest',
    URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg',
    WAREHOUSE = '%(bucket)s',
    AWS CONNECTION = aws_connection
);"""
UPSERT = """CREATE SINK %(sink)s
  IN CLUSTER %(cluster)s
  FROM %(object)s
  INTO ICEBERG CATALOG CONNECTION iceberg_catalog_connection (
    NAMESPACE = '%(namespace)s',
    TABLE = '%(table)s'
  )
  KEY (%(key)s)
  MODE UPSERT
  WITH (COMMIT INTERVAL = '%(interval)s');"""
APPEND = """CREATE SINK %(sink)s
  IN CLUSTER %(cluster)s
  FROM %(object)s
  INTO ICEBERG CATALOG CONNECTION iceberg_catalog_connection (
    NAMESPACE = '%(namespace)s',
    TABLE = '%(table)s'
  )
  MODE APPEND
  WITH (COMMIT INTERVAL = '%(interval)s');"""
LAG = """SELECT o.name, l.lag
FROM mz_internal.mz_wallclock_global_lag AS l
JOIN mz_catalog.mz_objects AS o ON o.id = l.object_id
WHERE o.name IN ('%(sink)s', '%(object)s');"""


class Failed(Exception):
    """A statement or command that ended badly; its text is what it printed."""


def until(what, seconds=60, pause=0.25):
    """The first true answer of `what`."""
    end = time.monotonic() + seconds
    while True:
        v = what()
        if v:
            return v
        assert time.monotonic() < end, f"not within {seconds} s; last: {v!r}"
        time.sleep(pause)


class Place:
    def __init__(self, folder, settings=("aws.endpoint=own",)):
        self.folder = folder
        self.server = Server(folder / "data", ["sql.trust_local=on", *settings])
        self.n = 0

    def stop(self):
        self.server.stop()

    # ---- this side: psql

    def psql(self, text, user="materialize", options="-At"):
        """What psql prints for the statements of one session."""
        s = self.server
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "AWS_"))} | {"PGCONNECT_TIMEOUT": "10", "PSQLRC": "/dev/null"}
        if user != "materialize":
            env["PGPASSWORD"] = s.secret
            user = s.key
        r = subprocess.run(["psql", "-X", "-h", "localhost", "-p", str(s.port), "-U", user, "-d", "materialize", "-v", "ON_ERROR_STOP=1", *options.split(), "-c", text],
                           capture_output=True, text=True, env=env, timeout=120)
        if r.returncode:
            raise Failed(r.stderr + r.stdout)
        return r.stdout.strip()

    def rows(self, text):
        out = self.psql(text, options="-At -F |")
        return [line.split("|") for line in out.splitlines()]

    def refused(self, text, *words):
        """The statement fails, and says these words."""
        try:
            out = self.psql(text)
        except Failed as e:
            for w in words:
                assert w in str(e), str(e)
            return str(e)
        raise AssertionError(f"it went through: {text}\n{out}")

    # ---- the other side: AWS

    def environment(self, key=None, secret=None, token=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        return env | {"AWS_ACCESS_KEY_ID": key or self.server.key, "AWS_SECRET_ACCESS_KEY": secret or self.server.secret, "AWS_ENDPOINT_URL": self.server.lake, "AWS_REGION": REGION,
                      "AWS_DEFAULT_REGION": REGION, "AWS_PAGER": "", "AWS_CONFIG_FILE": "/dev/null"} | ({"AWS_SESSION_TOKEN": token} if token else {})

    def aws(self, *args, **who):
        r = subprocess.run([str(AWS), *args, "--output", "json"], capture_output=True, text=True, env=self.environment(**who), timeout=120)
        if r.returncode:
            raise Failed(r.stderr)
        return json.loads(r.stdout) if r.stdout.strip() else None

    def api(self, service):
        return boto3.client(service, endpoint_url=self.server.lake, region_name=REGION, aws_access_key_id=self.server.key, aws_secret_access_key=self.server.secret,
                            config=botocore.config.Config(retries={"max_attempts": 1}))

    def table_bucket(self, name, namespace=None):
        arn = self.aws("s3tables", "create-table-bucket", "--name", name)["arn"]
        if namespace:
            self.aws("s3tables", "create-namespace", "--table-bucket-arn", arn, "--namespace", namespace)
        return arn

    def policy(self, name, bucket):
        return self.aws("iam", "create-policy", "--policy-name", name, "--policy-document", POLICY % {"bucket": bucket})["Policy"]["Arn"]

    def role(self, name, policy, external_id="PENDING", principal=PRINCIPAL):
        trust = TRUST % {"principal": principal, "external_id": external_id}
        arn = self.aws("iam", "create-role", "--role-name", name, "--assume-role-policy-document", trust)["Role"]["Arn"]
        self.aws("iam", "attach-role-policy", "--role-name", name, "--policy-arn", policy)
        return arn

    def trust(self, role, external_id, principal=PRINCIPAL):
        self.aws("iam", "update-assume-role-policy", "--role-name", role, "--policy-document", TRUST % {"principal": principal, "external_id": external_id})

    # ---- the table, as others read it

    def catalog(self, bucket):
        from pyiceberg.catalog import load_catalog
        return load_catalog("s3t", **{"type": "rest", "uri": f"{self.server.lake}/iceberg", "warehouse": bucket, "rest.sigv4-enabled": "true", "rest.signing-name": "s3tables",
                                      "rest.signing-region": REGION, "client.access-key-id": self.server.key, "client.secret-access-key": self.server.secret, "client.region": REGION,
                                      "s3.endpoint": self.server.lake, "s3.path-style-access": "true"})

    def snapshots(self, bucket, name):
        return list(self.catalog(bucket).load_table(name).snapshots())

    def read(self, bucket_name, table, columns="*", order="1"):
        """By firn's own Spark SQL, which knows equality deletes; None: it is not there yet."""
        try:
            return self.server.sql(f"SELECT {columns} FROM `{bucket_name}`.{table} ORDER BY {order}")
        except psycopg.errors.UndefinedTable:
            return None

    def status(self, sink):
        return self.rows(f"SELECT status, coalesce(error, '') FROM mz_internal.mz_sink_statuses WHERE name = '{sink}'")[0]
