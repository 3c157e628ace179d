# SPDX-License-Identifier: Apache-2.0
"""Attacks on a managed view: each door, each verb, as everybody.  Every one is refused with the rule and the view's name, and changes nothing.

ATTACKS is the list.  An attack is a function of the lake and of who attacks; a late one first prepares something that was allowed, and gives
the view that became managed and the call that then must fail.  Attacks through a door that does not answer are skipped with the reason."""
import http.client as http_client
import os
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import botocore.exceptions
import psycopg
import pytest
import requests

import principals
from lake import ACCOUNT, RULE, Lake, Person, Refused, http, unique, words_of

V = "glue_catalog.n.m"
ATTACKS = []
EVERYBODY = ("root", "admin user", "role", "data lake administrator")


class Attack:
    def __init__(self, name, run, needs=(), view=V, late=False, who=EVERYBODY, says=RULE, or_says=None):
        self.name, self.run, self.needs, self.view, self.late, self.who, self.says, self.or_says = name, run, needs, view, late, who, says, or_says


def attack(name, **more):
    def add(f):
        ATTACKS.append(Attack(name, f, **more))
        return f
    return add


# ---- SQL ---------------------------------------------------------------------------------------------------------------------

SPARK = {
    "INSERT values": "INSERT INTO {v} VALUES ('mallory', 999, 99999.99)",
    "INSERT from a query": "INSERT INTO {v} SELECT * FROM glue_catalog.n.other",
    "INSERT by name": "INSERT INTO {v} BY NAME SELECT 'mallory' AS k",
    "INSERT OVERWRITE": "INSERT OVERWRITE {v} SELECT * FROM glue_catalog.n.other",
    "INSERT into a branch": "INSERT INTO {v}.branch_main VALUES ('mallory', 999, 99999.99)",
    "DELETE some": "DELETE FROM {v} WHERE k = 'x'",
    "DELETE all": "DELETE FROM {v}",
    "DELETE none": "DELETE FROM {v} WHERE false",
    "UPDATE": "UPDATE {v} SET c = 999 WHERE k = 'x'",
    "MERGE": "MERGE INTO {v} USING glue_catalog.n.other o ON {v}.k = o.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    "TRUNCATE": "TRUNCATE TABLE {v}",
    "ADD COLUMNS": "ALTER TABLE {v} ADD COLUMNS (note STRING)",
    "DROP COLUMN": "ALTER TABLE {v} DROP COLUMN t",
    "RENAME COLUMN": "ALTER TABLE {v} RENAME COLUMN k TO j",
    "ALTER COLUMN TYPE": "ALTER TABLE {v} ALTER COLUMN c TYPE DECIMAL(20,0)",
    "ALTER COLUMN COMMENT": "ALTER TABLE {v} ALTER COLUMN k COMMENT 'mine'",
    "ALTER COLUMN DROP NOT NULL": "ALTER TABLE {v} ALTER COLUMN c DROP NOT NULL",
    "SET LOCATION": "ALTER TABLE {v} SET LOCATION 's3://warehouse/elsewhere'",
    "RENAME TO": "ALTER TABLE {v} RENAME TO glue_catalog.n.stolen",
    "ADD PARTITION FIELD": "ALTER TABLE {v} ADD PARTITION FIELD k",
    "WRITE ORDERED BY": "ALTER TABLE {v} WRITE ORDERED BY k",
    "SET IDENTIFIER FIELDS": "ALTER TABLE {v} SET IDENTIFIER FIELDS k",
    "CREATE BRANCH": "ALTER TABLE {v} CREATE BRANCH mine",
    "CREATE TAG": "ALTER TABLE {v} CREATE TAG mine",
    "ALTER VIEW RENAME": "ALTER MATERIALIZED VIEW {v} RENAME TO glue_catalog.n.stolen",
    "CREATE OR REPLACE TABLE": "CREATE OR REPLACE TABLE {v} (k STRING) USING iceberg",
    "REPLACE TABLE as a query": "CREATE OR REPLACE TABLE {v} USING iceberg AS SELECT * FROM glue_catalog.n.other",
    "replace it by an unmanaged view": "CREATE OR REPLACE MATERIALIZED VIEW {v} AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k",
    "rewrite_data_files": "CALL glue_catalog.system.rewrite_data_files(table => 'n.m')",
    "rewrite_manifests": "CALL glue_catalog.system.rewrite_manifests('n.m')",
    "rewrite_position_delete_files": "CALL glue_catalog.system.rewrite_position_delete_files('n.m')",
    "expire_snapshots": "CALL glue_catalog.system.expire_snapshots(table => 'n.m', older_than => TIMESTAMP '2099-01-01 00:00:00')",
    "remove_orphan_files": "CALL glue_catalog.system.remove_orphan_files(table => 'n.m')",
    "rollback_to_snapshot": "CALL glue_catalog.system.rollback_to_snapshot('n.m', {first})",
    "rollback_to_timestamp": "CALL glue_catalog.system.rollback_to_timestamp('n.m', TIMESTAMP '2099-01-01 00:00:00')",
    "set_current_snapshot": "CALL glue_catalog.system.set_current_snapshot('n.m', {first})",
    "cherrypick_snapshot": "CALL glue_catalog.system.cherrypick_snapshot('n.m', {first})",
    "fast_forward": "CALL glue_catalog.system.fast_forward('n.m', 'main', 'mine')",
    "add_files": "CALL glue_catalog.system.add_files(table => 'n.m', source_table => 'n.other')",
    "a table at its place": "CREATE TABLE glue_catalog.n.evil (a INT) USING iceberg LOCATION 's3://{bucket}/{prefix}'",
    "a table inside of it": "CREATE TABLE glue_catalog.n.evil (a INT) USING iceberg LOCATION 's3://{bucket}/{prefix}data'",
    "data of a table into it": "CREATE TABLE glue_catalog.n.evil (a INT) USING iceberg TBLPROPERTIES ('write.data.path' = 's3://{bucket}/{prefix}data')",
    "another table moved there": "ALTER TABLE glue_catalog.n.other SET LOCATION 's3://{bucket}/{prefix}'",
    "another table's data path": "ALTER TABLE glue_catalog.n.other SET TBLPROPERTIES ('write.data.path' = 's3://{bucket}/{prefix}data')",
    "another table's metadata path": "ALTER TABLE glue_catalog.n.other SET TBLPROPERTIES ('write.metadata.path' = 's3://{bucket}/{prefix}metadata')",
    "registered again under a new name": "CALL glue_catalog.system.register_table(table => 'n.evil', metadata_file => '{metadata}')",
    "tables of a namespace whose place it is": "CREATE NAMESPACE glue_catalog.{fresh} LOCATION 's3://{bucket}/{prefix}'; CREATE TABLE glue_catalog.{fresh}.evil (a INT) USING iceberg",
    "a table as a query at its place": "CREATE TABLE glue_catalog.n.evil USING iceberg LOCATION 's3://{bucket}/{prefix}' AS SELECT 1 AS a",
    "a second view at its place": "CREATE MATERIALIZED VIEW glue_catalog.n.evil LOCATION 's3://{bucket}/{prefix}' AS SELECT count(*) AS c FROM glue_catalog.n.s",
}
# Properties may be set, but for those that say where files go or what the table is.
PROPERTIES = {
    "SET write.data.path": "ALTER TABLE {v} SET TBLPROPERTIES ('write.data.path' = 's3://warehouse/evil')",
    "SET write.metadata.path": "ALTER MATERIALIZED VIEW {v} SET TBLPROPERTIES ('write.metadata.path' = 's3://warehouse/evil')",
    "SET format-version": "ALTER TABLE {v} SET TBLPROPERTIES ('format-version' = '3')",
    "SET location": "ALTER TABLE {v} SET TBLPROPERTIES ('location' = 's3://warehouse/evil')",
    "SET current-snapshot-id": "ALTER TABLE {v} SET TBLPROPERTIES ('current-snapshot-id' = '{first}')",
}
POSTGRES = {
    "pg INSERT": "INSERT INTO n.m VALUES ('mallory', 999, 99999.99)",
    "pg INSERT RETURNING": "INSERT INTO n.m SELECT k, c, t FROM n.other",
    "pg UPDATE": "UPDATE n.m SET c = 0",
    "pg DELETE": "DELETE FROM n.m",
    "pg TRUNCATE": "TRUNCATE n.m",
    "pg ALTER TABLE": "ALTER TABLE n.m ADD COLUMN note text",
    "pg RENAME": "ALTER TABLE n.m RENAME TO stolen",
}


def fill(lake, text):
    bucket, prefix = lake.place()
    first = lake.server.sql(f"SELECT snapshot_id FROM {V}.snapshots ORDER BY committed_at")[0][0]
    metadata = f"s3://{bucket}/{lake.key('.metadata.json')}" if "{metadata}" in text else ""
    return text.format(v=V, fresh=unique("ns"), first=first, bucket=bucket, prefix=prefix, metadata=metadata)


for _name, _text in SPARK.items():
    ATTACKS.append(Attack(_name, lambda lake, who, text=_text: who.sql(fill(lake, text))))
for _name, _text in PROPERTIES.items():
    ATTACKS.append(Attack(_name, lambda lake, who, text=_text: who.sql(fill(lake, text)), or_says="is not a property" if "snapshot-id" in _name else None))
for _name, _text in POSTGRES.items():
    ATTACKS.append(Attack(_name, lambda lake, who, text=_text: who.sql(text, "postgres")))


@attack("pg COPY in")
def _(lake, who):
    with who.connect("postgres") as c, c.cursor() as cur:
        with cur.copy("COPY n.m FROM STDIN") as copy:
            copy.write("mallory\t999\t99999.99\n")


@attack("inside of a transaction")
def _(lake, who):
    who.sql(f"BEGIN; INSERT INTO {V} VALUES ('mallory', 999, 99999.99); COMMIT")


@attack("by a prepared statement, made while the view was a regular one", late=True)
def _(lake, who):
    view = lake.regular()
    c = who.connect()
    insert = lambda: c.execute(f"INSERT INTO {view} VALUES ('mallory', %s)", (999,), prepare=True)
    insert()
    lake.manage(view)
    return view, insert


@attack("by COPY that began while the view was a regular one", late=True)
def _(lake, who):
    view = lake.regular()
    c = who.connect("postgres")
    copy = c.cursor().copy(f"COPY {view.removeprefix('glue_catalog.')} FROM STDIN")
    writer = copy.__enter__()
    writer.write("mallory\t999\n")
    lake.manage(view)
    return view, lambda: copy.__exit__(None, None, None)


# ---- S3 ---------------------------------------------------------------------------------------------------------------------------

S3_WHO = EVERYBODY + ("vended session",)


def s3(lake, who):
    return who.client("s3"), *lake.place()


def s3_attack(name, **more):
    return attack(name, who=S3_WHO, **more)


@s3_attack("PutObject of a new key")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.put_object(Bucket=bucket, Key=prefix + "data/evil.parquet", Body=b"x")


@s3_attack("PutObject over a data file")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.put_object(Bucket=bucket, Key=lake.key(".parquet"), Body=b"x")


@s3_attack("PutObject over metadata")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.put_object(Bucket=bucket, Key=lake.key(".metadata.json"), Body=b"{}")


@s3_attack("PutObject over a manifest")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.put_object(Bucket=bucket, Key=lake.key(".avro"), Body=b"x")


@s3_attack("PutObject if it is not there")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.put_object(Bucket=bucket, Key=prefix + "data/new", Body=b"x", IfNoneMatch="*")


@s3_attack("PutObject of the folder's own key")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.put_object(Bucket=bucket, Key=prefix, Body=b"")


@s3_attack("DeleteObject")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.delete_object(Bucket=bucket, Key=lake.key(".parquet"))


@s3_attack("DeleteObject of what is not there")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.delete_object(Bucket=bucket, Key=prefix + "data/nothing")


def bulk(answer):
    errors = answer.get("Errors", [])
    if errors:
        raise Refused("; ".join(f"{e['Code']} {e['Message']}" for e in errors))


@s3_attack("DeleteObjects of everything")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    bulk(c.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": k} for k, _, _ in lake.objects()]}))


@s3_attack("DeleteObjects, quietly")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    bulk(c.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": lake.key(".parquet")}], "Quiet": True}))


@s3_attack("CopyObject into it")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.copy_object(Bucket=bucket, Key=prefix + "data/evil", CopySource={"Bucket": bucket, "Key": lake.key(".parquet")})


@s3_attack("CopyObject onto itself")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    k = lake.key(".parquet")
    c.copy_object(Bucket=bucket, Key=k, CopySource={"Bucket": bucket, "Key": k}, MetadataDirective="REPLACE", Metadata={"a": "b"})


@s3_attack("CreateMultipartUpload")
def _(lake, who):
    c, bucket, prefix = s3(lake, who)
    c.create_multipart_upload(Bucket=bucket, Key=prefix + "data/evil")


@s3_attack("DeleteObject of a version")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.delete_object(Bucket=bucket, Key=lake.key(".parquet"), VersionId="null")


@s3_attack("DeleteObjects of versions")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    bulk(c.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": k, "VersionId": "null"} for k, _, _ in lake.objects()]}))


@s3_attack("PutObjectTagging")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.put_object_tagging(Bucket=bucket, Key=lake.key(".parquet"), Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})


@s3_attack("DeleteObjectTagging")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    c.delete_object_tagging(Bucket=bucket, Key=lake.key(".parquet"))


@s3_attack("presigned PUT")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    send("PUT", c.generate_presigned_url("put_object", {"Bucket": bucket, "Key": lake.key(".parquet")}), b"x")


@s3_attack("presigned DELETE")
def _(lake, who):
    c, bucket, _ = s3(lake, who)
    send("DELETE", c.generate_presigned_url("delete_object", {"Bucket": bucket, "Key": lake.key(".parquet")}))


def send(method, url, data=None):
    a = requests.request(method, url, data=data, timeout=60)
    if a.status_code >= 400:
        raise Refused(f"{a.status_code} {a.text}")


def spelt(name, change):
    """A PUT whose path is spelt otherwise than a client would."""
    @attack("path trick: " + name)
    def _(lake, who):
        bucket, prefix = lake.place()
        raw_put(who, change(bucket, prefix, lake.key(".parquet")))


def raw_put(who, path):
    """Signed as a server reads it: bytes that need no escape are not escaped, escaped slashes stay."""
    host = who.server.lake.removeprefix("http://")
    bucket, key = path.split("?")[0].lstrip("/").split("/", 1)
    plain = f"/{bucket}/" + "/".join(urllib.parse.quote(urllib.parse.unquote(part), safe="~") for part in key.split("/"))
    r = botocore.awsrequest.AWSRequest(method="PUT", url=who.server.lake + plain + ("?" + path.split("?")[1] if "?" in path else ""), data=b"x", headers={"x-amz-content-sha256": "UNSIGNED-PAYLOAD"})
    botocore.auth.S3SigV4Auth(botocore.credentials.Credentials(who.key, who.secret, who.token), "s3", "us-east-1").add_auth(r)
    c = http_client.HTTPConnection(host, timeout=60)
    c.putrequest("PUT", path, skip_host=True, skip_accept_encoding=True)
    for k, v in {**dict(r.headers), "Host": host, "Content-Length": "1"}.items():
        c.putheader(k, v)
    c.endheaders(b"x")
    a = c.getresponse()
    text = a.read().decode()
    if a.status >= 400:
        raise Refused(f"{a.status} {text}")


spelt("every byte escaped", lambda b, p, k: f"/{b}/" + "".join(f"%{c:02X}" for c in k.encode()))
spelt("slashes escaped", lambda b, p, k: f"/{b}/" + k.replace("/", "%2F"))
spelt("a query behind", lambda b, p, k: f"/{b}/{k}?x-id=PutObject")


@attack("configured its private bucket's policy", needs=("s3tables",), view="s3t.analytics.v")
def _(lake, who):
    who.client("s3").put_bucket_policy(Bucket=lake.private, Policy='{"Version":"2012-10-17","Statement":[]}')


@attack("configured its private bucket's life cycle", needs=("s3tables",), view="s3t.analytics.v")
def _(lake, who):
    who.client("s3").put_bucket_lifecycle_configuration(Bucket=lake.private, LifecycleConfiguration={"Rules": [{"ID": "x", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}]})


@attack("deleted its private bucket", needs=("s3tables",), view="s3t.analytics.v")
def _(lake, who):
    who.client("s3").delete_bucket(Bucket=lake.private)


@attack("deleted the bucket that it lives in", late=True)
def _(lake, who):
    bucket = lake.bucket()
    view = lake.claim(bucket)
    return view, lambda: who.client("s3").delete_bucket(Bucket=bucket)


@attack("completed an upload that began before", late=True)
def _(lake, who):
    bucket, c = lake.bucket(), who.client("s3")
    up = c.create_multipart_upload(Bucket=bucket, Key="x/data/evil")["UploadId"]
    tag = c.upload_part(Bucket=bucket, Key="x/data/evil", UploadId=up, PartNumber=1, Body=b"x")["ETag"]
    view = lake.claim(bucket)
    return view, lambda: c.complete_multipart_upload(Bucket=bucket, Key="x/data/evil", UploadId=up, MultipartUpload={"Parts": [{"ETag": tag, "PartNumber": 1}]})


@attack("added a part to an upload that began before", late=True)
def _(lake, who):
    bucket, c = lake.bucket(), who.client("s3")
    up = c.create_multipart_upload(Bucket=bucket, Key="x/data/evil")["UploadId"]
    view = lake.claim(bucket)
    return view, lambda: c.upload_part(Bucket=bucket, Key="x/data/evil", UploadId=up, PartNumber=1, Body=b"x")


@attack("copied a part into an upload that began before", late=True)
def _(lake, who):
    bucket, c = lake.bucket(), who.client("s3")
    c.put_object(Bucket=bucket, Key="src", Body=b"x")
    up = c.create_multipart_upload(Bucket=bucket, Key="x/data/evil")["UploadId"]
    view = lake.claim(bucket)
    return view, lambda: c.upload_part_copy(Bucket=bucket, Key="x/data/evil", UploadId=up, PartNumber=1, CopySource={"Bucket": bucket, "Key": "src"})


@attack("used a URL that was signed before", late=True)
def _(lake, who):
    bucket, c = lake.bucket(), who.client("s3")
    url = c.generate_presigned_url("put_object", {"Bucket": bucket, "Key": "x/data/evil"})
    view = lake.claim(bucket)
    return view, lambda: send("PUT", url, b"x")


@attack("used keys that were vended while it was a regular view", late=True)
def _(lake, who):
    view = lake.regular()
    c = http(who, "GET", f"/iceberg/v1/{lake.prefix()}/namespaces/n/tables/{view.split('.')[-1]}")["config"]
    keys = Person(lake.server, c["s3.access-key-id"], c["s3.secret-access-key"], c["s3.session-token"])
    bucket, prefix = lake.place(view)
    keys.client("s3").put_object(Bucket=bucket, Key=prefix + "note", Body=b"x")
    lake.manage(view)
    return view, lambda: keys.client("s3").put_object(Bucket=bucket, Key=prefix + "evil", Body=b"x")


# ---- Iceberg REST -------------------------------------------------------------------------------------------------------------------------

def rest(lake, who, method, path, body=None):
    return http(who, method, f"/iceberg/v1/{lake.prefix()}{path}", body)


COMMITS = {
    "set-properties of data path": [{"action": "set-properties", "updates": {"write.data.path": "s3://warehouse/evil"}}],
    "set-location": [{"action": "set-location", "location": "s3://warehouse/evil"}],
    "remove-snapshots": [{"action": "remove-snapshots", "snapshot-ids": [1]}],
    "remove-snapshot-ref": [{"action": "remove-snapshot-ref", "ref-name": "main"}],
    "set-snapshot-ref": [{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 1}],
    "upgrade-format-version": [{"action": "upgrade-format-version", "format-version": 3}],
    "assign-uuid": [{"action": "assign-uuid", "uuid": "00000000-0000-4000-8000-000000000000"}],
    "add-schema": [{"action": "add-schema", "schema": {"type": "struct", "schema-id": 7, "fields": [{"id": 99, "name": "evil", "required": False, "type": "string"}]}}],
    "add-snapshot": [{"action": "add-snapshot", "snapshot": {"snapshot-id": 77, "timestamp-ms": 4000000000000, "manifest-list": "s3://warehouse/x.avro", "summary": {"operation": "append"}, "schema-id": 0}}],
}
for _name, _updates in COMMITS.items():
    ATTACKS.append(Attack("REST " + _name, lambda lake, who, u=_updates: rest(lake, who, "POST", "/namespaces/n/tables/m", {"requirements": [], "updates": u})))


@attack("REST transaction that holds it")
def _(lake, who):
    change = lambda t: {"identifier": {"namespace": ["n"], "name": t}, "requirements": [], "updates": [{"action": "set-properties", "updates": {"evil": "1"}}, {"action": "remove-snapshots", "snapshot-ids": [1]}]}
    rest(lake, who, "POST", "/transactions/commit", {"table-changes": [change("other"), change("m")]})


@attack("REST rename")
def _(lake, who):
    rest(lake, who, "POST", "/tables/rename", {"source": {"namespace": ["n"], "name": "m"}, "destination": {"namespace": ["n"], "name": "stolen"}})


@attack("REST register over it")
def _(lake, who):
    m = rest(lake, lake.root, "GET", "/namespaces/n/tables/other")["metadata-location"]
    rest(lake, who, "POST", "/namespaces/n/register", {"name": "m", "metadata-location": m, "overwrite": True})


@attack("REST register its metadata elsewhere")
def _(lake, who):
    m = rest(lake, lake.root, "GET", "/namespaces/n/tables/m")["metadata-location"]
    rest(lake, who, "POST", "/namespaces/n/register", {"name": "evil", "metadata-location": m})


SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "int"}]}


@attack("REST table in its place")
def _(lake, who):
    bucket, prefix = lake.place()
    rest(lake, who, "POST", "/namespaces/n/tables", {"name": "evil", "location": f"s3://{bucket}/{prefix}data", "schema": SCHEMA})


@attack("REST table staged in its place")
def _(lake, who):
    bucket, prefix = lake.place()
    rest(lake, who, "POST", "/namespaces/n/tables", {"name": "evil", "location": f"s3://{bucket}/{prefix}", "schema": SCHEMA, "stage-create": True})


@attack("REST view in its place")
def _(lake, who):
    bucket, prefix = lake.place()
    rest(lake, who, "POST", "/namespaces/n/views", {"name": "evil", "location": f"s3://{bucket}/{prefix}", "schema": SCHEMA, "properties": {}, "view-version": {
        "version-id": 1, "schema-id": 0, "timestamp-ms": 1, "summary": {}, "representations": [{"type": "sql", "sql": "SELECT 1 AS a", "dialect": "spark"}], "default-namespace": ["n"]}})


# ---- Glue -----------------------------------------------------------------------------------------------------------------------------------

def glue_attack(name, **more):
    return attack("Glue " + name, needs=("glue",), **more)


def glue_input(c, **change):
    """GetTable's answer as UpdateTable takes it."""
    t = c.get_table(DatabaseName="n", Name="m")["Table"]
    keep = ("Name", "Description", "Owner", "Retention", "StorageDescriptor", "PartitionKeys", "TableType", "Parameters", "ViewDefinition", "ViewOriginalText", "ViewExpandedText")
    i = {k: v for k, v in t.items() if k in keep and k not in ("ViewOriginalText", "ViewExpandedText")}
    i["TableType"] = "EXTERNAL_TABLE"
    for r in i.get("ViewDefinition", {}).get("Representations", []):
        r.pop("IsStale", None)
    i.update(change)
    return i, t.get("VersionId")


def update(c, i, version):
    c.update_table(DatabaseName="n", TableInput=i, VersionId=version, ViewUpdateAction="REPLACE")


@glue_attack("UpdateTable IsManaged false")
def _(lake, who):
    c = who.client("glue")
    i, v = glue_input(c)
    i["ViewDefinition"] = {**i["ViewDefinition"], "IsManaged": False}
    update(c, i, v)


@glue_attack("UpdateTable without its definition")
def _(lake, who):
    c = who.client("glue")
    i, v = glue_input(c)
    del i["ViewDefinition"]
    update(c, i, v)


@glue_attack("UpdateTable of the pointer")
def _(lake, who):
    c = who.client("glue")
    i, v = glue_input(c)
    i["Parameters"] = {**i["Parameters"], "metadata_location": c.get_table(DatabaseName="n", Name="other")["Table"]["Parameters"]["metadata_location"]}
    update(c, i, v)


@glue_attack("UpdateTable of the columns")
def _(lake, who):
    c = who.client("glue")
    i, v = glue_input(c)
    i["StorageDescriptor"] = {**i["StorageDescriptor"], "Columns": [{"Name": "evil", "Type": "string"}]}
    update(c, i, v)


@glue_attack("UpdateTable of the location")
def _(lake, who):
    c = who.client("glue")
    i, v = glue_input(c)
    i["StorageDescriptor"] = {**i["StorageDescriptor"], "Location": "s3://warehouse/evil"}
    update(c, i, v)


@glue_attack("UpdateTable as Iceberg's catalog commits")
def _(lake, who):
    c = who.client("glue")
    t = c.get_table(DatabaseName="n", Name="m")["Table"]
    other = c.get_table(DatabaseName="n", Name="other")["Table"]["Parameters"]["metadata_location"]
    c.update_table(DatabaseName="n", SkipArchive=True, VersionId=t["VersionId"], TableInput={"Name": "m", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": t["StorageDescriptor"],
                   "Parameters": {"table_type": "ICEBERG", "metadata_location": other, "previous_metadata_location": t["Parameters"]["metadata_location"]}})


@glue_attack("CreateTable in its place")
def _(lake, who):
    bucket, prefix = lake.place()
    who.client("glue").create_table(DatabaseName="n", TableInput={"Name": "evil", "TableType": "EXTERNAL_TABLE", "Parameters": {"classification": "parquet"}, "StorageDescriptor": {
        "Location": f"s3://{bucket}/{prefix}data", "Columns": [{"Name": "a", "Type": "int"}], "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat", "SerdeInfo": {"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"}}})


@glue_attack("CreateTable of Iceberg by its metadata")
def _(lake, who):
    m = rest(lake, lake.root, "GET", "/namespaces/n/tables/m")["metadata-location"]
    who.client("glue").create_table(DatabaseName="n", TableInput={"Name": "evil", "TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "ICEBERG", "metadata_location": m},
                                    "StorageDescriptor": {"Location": m.rsplit("/metadata/", 1)[0], "Columns": []}})


# ---- S3 Tables ------------------------------------------------------------------------------------------------------------------------------------

def bucket_attack(name, **more):
    return attack("S3 Tables " + name, needs=("s3tables",), view="s3t.analytics.v", **more)


def at(lake):
    return {"tableBucketARN": lake.arn, "namespace": "analytics", "name": "v"}


@bucket_attack("UpdateTableMetadataLocation, unchanged")
def _(lake, who):
    now = lake.root.client("s3tables").get_table_metadata_location(**at(lake))
    who.client("s3tables").update_table_metadata_location(**at(lake), versionToken=now["versionToken"], metadataLocation=now["metadataLocation"])


@bucket_attack("RenameTable")
def _(lake, who):
    who.client("s3tables").rename_table(**at(lake), newName="stolen")


@bucket_attack("PutTablePolicy")
def _(lake, who):
    who.client("s3tables").put_table_policy(**at(lake), resourcePolicy='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3tables:*","Resource":"*"}]}')


@bucket_attack("DeleteTablePolicy")
def _(lake, who):
    who.client("s3tables").delete_table_policy(**at(lake))


@bucket_attack("CreateTable over it by Iceberg REST")
def _(lake, who):
    m = lake.root.client("s3tables").get_table_metadata_location(**at(lake))["metadataLocation"]
    prefix = http(lake.root, "GET", f"/iceberg/v1/config?warehouse={urllib.parse.quote(lake.arn, safe='')}").get("overrides", {}).get("prefix") or urllib.parse.quote(lake.arn, safe="")
    http(who, "POST", f"/iceberg/v1/{urllib.parse.quote(urllib.parse.unquote(prefix), safe='')}/namespaces/analytics/register", {"name": "v", "metadata-location": m, "overwrite": True})


@bucket_attack("PutObject")
def _(lake, who):
    who.client("s3").put_object(Bucket=lake.private, Key="data/evil", Body=b"x")


@bucket_attack("DeleteObject")
def _(lake, who):
    who.client("s3").delete_object(Bucket=lake.private, Key=lake.key(".parquet", "s3t.analytics.v"))


@bucket_attack("INSERT")
def _(lake, who):
    who.sql("SET spark.sql.catalog.s3t.glue.id = 123456789012:s3tablescatalog/tb-protected; INSERT INTO s3t.analytics.v VALUES ('mallory', 9)")


# ---- Athena -----------------------------------------------------------------------------------------------------------------------------------------

ATHENA = {
    "INSERT": "INSERT INTO m VALUES ('mallory', 999, DECIMAL '99999.99')",
    "DELETE": "DELETE FROM m WHERE k = 'x'",
    "UPDATE": "UPDATE m SET c = 0",
    "MERGE": "MERGE INTO m USING other o ON m.k = o.k WHEN MATCHED THEN DELETE",
    "OPTIMIZE": "OPTIMIZE m REWRITE DATA USING BIN_PACK",
    "VACUUM": "VACUUM m",
    "ALTER TABLE": "ALTER TABLE m ADD COLUMNS (note string)",
    "CTAS into its place": "CREATE TABLE evil WITH (table_type = 'ICEBERG', is_external = false, location = 's3://{bucket}/{prefix}') AS SELECT * FROM other",
    "UNLOAD into its place": "UNLOAD (SELECT * FROM other) TO 's3://{bucket}/{prefix}data/' WITH (format = 'PARQUET')",
}


def athena(lake, who, text, output=None):
    import time
    c = who.client("athena")
    q = c.start_query_execution(QueryString=text, QueryExecutionContext={"Database": "n"}, ResultConfiguration={"OutputLocation": output or "s3://warehouse/athena-results/"})["QueryExecutionId"]
    for _ in range(200):
        s = c.get_query_execution(QueryExecutionId=q)["QueryExecution"]["Status"]
        if s["State"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
            break
        time.sleep(0.05)
    if s["State"] != "SUCCEEDED":
        raise Refused(s.get("StateChangeReason", "") + str(s.get("AthenaError", "")))


for _name, _text in ATHENA.items():
    ATTACKS.append(Attack("Athena " + _name, lambda lake, who, text=_text: athena(lake, who, fill(lake, text)), needs=("athena",), or_says="not supported" if _name in ("OPTIMIZE", "VACUUM") else None))


@attack("Athena results into its place", needs=("athena",))
def _(lake, who):
    bucket, prefix = lake.place()
    athena(lake, who, "SELECT 1", f"s3://{bucket}/{prefix}data/")


# ---- Lake Formation -------------------------------------------------------------------------------------------------------------------------------------

@attack("Lake Formation keys that write", needs=("lakeformation",))
def _(lake, who):
    who.client("lakeformation").get_temporary_glue_table_credentials(TableArn=f"arn:aws:glue:us-east-1:{ACCOUNT}:table/n/m", Permissions=["SELECT", "INSERT"])


@attack("Lake Formation keys of the place, made before", needs=("lakeformation",), late=True)
def _(lake, who):
    bucket, me = lake.bucket(), lake.root.client("lakeformation")
    arn = f"arn:aws:s3:::{bucket}"
    me.register_resource(ResourceArn=arn, UseServiceLinkedRole=True)
    if who is not lake.root:
        me.grant_permissions(Principal={"DataLakePrincipalIdentifier": who.arn}, Resource={"DataLocation": {"ResourceArn": arn}}, Permissions=["DATA_LOCATION_ACCESS"])
    c = who.client("lakeformation").get_temporary_data_location_credentials(DataLocations=[f"s3://{bucket}"], CredentialsScope="READWRITE")["Credentials"]
    keys = Person(lake.server, c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"])
    keys.client("s3").put_object(Bucket=bucket, Key="free", Body=b"x")
    view = lake.claim(bucket)
    return view, lambda: keys.client("s3").put_object(Bucket=bucket, Key="x/evil", Body=b"x")


# ---- all of them ---------------------------------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    a = Lake(tmp_path_factory.mktemp("protection"))
    yield a
    a.server.stop()


def cases():
    return [pytest.param(a, who, id=f"{a.name} - {who}") for a in ATTACKS for who in a.who]


def as_whom(lake, who):
    if who == "vended session":
        return lake.vended()
    if who not in lake.people:
        pytest.skip(lake.missing.get("iam") or lake.missing.get("lakeformation") or "no such principal")
    return lake.people[who]


@pytest.mark.parametrize("attack_,who", cases())
def test_attack(lake, attack_, who):
    for door in attack_.needs:
        if door in lake.missing:
            pytest.skip(lake.missing[door])
    person, view = as_whom(lake, who), attack_.view
    call = lambda: attack_.run(lake, person)
    if attack_.late:
        view, call = attack_.run(lake, person)
    before = lake.before(view)
    with pytest.raises((psycopg.Error, botocore.exceptions.ClientError, Refused)) as refused:
        call()
    text = words_of(refused.value)
    if attack_.says in text:
        assert view.split(".", 1)[1] in text, text
    else:
        assert attack_.or_says is not None and attack_.or_says in text, text
    assert lake.state(view) == before


def test_there_are_enough():
    assert len(ATTACKS) >= 40 and len({a.name for a in ATTACKS}) == len(ATTACKS)


# ---- what is no single call -------------------------------------------------------------------------------------------------------------------------------------

def test_objects_are_not_reached_by_files(lake):
    """Links in the data folder and in iceberg.file_root lead nowhere: S3 knows objects by its index, and file: places are below the folder itself."""
    c, (bucket, prefix) = lake.root.client("s3"), lake.place()
    blob = next(p for p in (lake.server.data / "store").rglob("*") if p.is_file() and p.stat().st_size > 500)
    before = lake.state()
    for name, make in (("hard", os.link), ("soft", os.symlink)):
        make(blob, lake.server.data / "store" / name)
        make(blob, lake.files / name)
        with pytest.raises(botocore.exceptions.ClientError):
            c.get_object(Bucket=bucket, Key=name)
        c.put_object(Bucket="warehouse", Key=f"store/{name}", Body=b"x")
    os.symlink(lake.server.data, lake.files / "data")
    for place in ("data/store", "data", "soft"):
        with pytest.raises(psycopg.Error):
            lake.server.sql(f"CREATE TABLE glue_catalog.n.{unique('e')} USING iceberg LOCATION 'file:{lake.files}/{place}/x' AS SELECT 1 AS a")
    assert lake.state() == before


def test_rename_and_recreate(lake):
    """A name that is dropped and made again is another thing: the old storage protects nothing, the new one everything."""
    bucket = lake.bucket()
    view = lake.claim(bucket)
    lake.server.sql(f"DROP MATERIALIZED VIEW {view}")
    lake.root.client("s3").put_object(Bucket=bucket, Key="x/free", Body=b"x")
    lake.root.client("s3").delete_object(Bucket=bucket, Key="x/free")
    name = view.split(".")[-1]
    lake.server.sql(f"SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW {view} LOCATION 's3://{bucket}/y' AS SELECT k, count(*) AS c FROM glue_catalog.n.s GROUP BY k")
    before = lake.state(view)
    with pytest.raises(botocore.exceptions.ClientError, match=RULE):
        lake.root.client("s3").put_object(Bucket=bucket, Key="y/evil", Body=b"x")
    with pytest.raises(psycopg.Error, match=f"n.{name}"):
        lake.server.sql(f"DELETE FROM {view}")
    assert lake.state(view) == before


def test_policies_open_nothing(lake):
    """A bucket policy that allows everybody everything."""
    bucket = lake.bucket()
    view = lake.claim(bucket)
    lake.root.client("s3").put_bucket_policy(Bucket=bucket, Policy='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::%s","arn:aws:s3:::%s/*"]}]}' % (bucket, bucket))
    before = lake.state(view)
    for who in lake.people.values():
        with pytest.raises(botocore.exceptions.ClientError, match=RULE):
            who.client("s3").put_object(Bucket=bucket, Key="x/evil", Body=b"x")
    assert lake.state(view) == before


def test_sessions_end_with_their_principal(lake):
    """A SQL session and keys that were had before a revocation: first the rule, then nothing at all."""
    if "iam" in lake.missing or "sts" in lake.missing:
        pytest.skip(lake.missing.get("iam") or lake.missing["sts"])
    session = principals.role(lake.server)
    c = session.connect()
    with pytest.raises(psycopg.Error, match=RULE):
        c.execute(f"DELETE FROM {V}")
    name = session.arn.rsplit("/", 1)[1]
    iam = lake.root.client("iam")
    iam.delete_role_policy(RoleName=name, PolicyName="p")
    before = lake.state()
    with pytest.raises(psycopg.Error):
        c.execute(f"SELECT * FROM {V}")
    iam.delete_role(RoleName=name)
    for text in (f"SELECT * FROM {V}", f"DELETE FROM {V}", f"REFRESH MATERIALIZED VIEW {V}"):
        with pytest.raises(psycopg.Error):
            c.execute(text)
    with pytest.raises(botocore.exceptions.ClientError):
        session.client("s3").list_buckets()
    assert lake.state() == before


def test_everything_is_still_proven(lake):
    r = lake.server.run("verify")
    assert r.returncode == 0, r.stdout
