# SPDX-License-Identifier: Apache-2.0
"""S3 Tables by its API, the storage behind it by S3, the same tables by SQL and Iceberg REST; integrity tokens; maintenance."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

import boto3
import botocore.config
import botocore.exceptions
import psycopg
import pytest

from conftest import Server

REFUSED = "with an explicit deny in a resource-based policy"


def client(server, service="s3tables"):
    return boto3.client(service, endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1",
                        config=botocore.config.Config(retries={"max_attempts": 1}, parameter_validation=False, s3={"addressing_style": "path"}))


def fails(code, call, *words, **args):
    with pytest.raises(botocore.exceptions.ClientError) as e:
        call(**args)
    error = e.value.response
    assert error["Error"]["Code"] == code, error
    for w in words:
        assert w in error["Error"]["Message"], error
    return error


def restarted(data, *settings):
    return Server(data, settings)


class Bucket:
    """A table bucket of its own with namespace analytics."""

    def __init__(self, server, name=None):
        self.server, self.api = server, client(server)
        self.name = name or f"tb-{time.monotonic_ns()}"
        self.arn = self.api.create_table_bucket(name=self.name)["arn"]
        self.api.create_namespace(tableBucketARN=self.arn, namespace=["analytics"])
        self.use()

    def use(self):
        """The session of server.sql calls this bucket's catalog s3t_catalog, as the walk-through does."""
        self.server.sql(f"SET spark.sql.catalog.s3t_catalog.glue.id = '123456789012:s3tablescatalog/{self.name}'")

    def at(self, table, namespace="analytics"):
        return {"tableBucketARN": self.arn, "namespace": namespace, "name": table}

    def get(self, table):
        return self.api.get_table(**self.at(table))

    def create(self, table, *fields, **more):
        if fields:
            more["metadata"] = {"iceberg": {"schema": {"fields": [{"name": n, "type": t} for n, t in fields]}, **more.pop("iceberg", {})}}
        return self.api.create_table(**self.at(table), format="ICEBERG", **more)

    def sql(self, text):
        return self.server.sql(text.replace("@", "s3t_catalog.analytics."))


@pytest.fixture()
def bucket(server):
    return Bucket(server)


# ---- buckets, namespaces, tables -----------------------------------------------------------------------------------------


def test_bucket_names_and_lists(server):
    api = client(server)
    for bad in ("ab", "a" * 64, "Upper", "under_score", "-start", "end-", "xn--a", "sthree-a", "aws-a", "a--table-s3", "a--x-s3", "dot.ted"):
        fails("BadRequestException", api.create_table_bucket, "The specified bucket name is not valid.", name=bad)
    names = [f"list-{c}-{time.monotonic_ns()}" for c in "bac"]
    arns = [api.create_table_bucket(name=n)["arn"] for n in names]
    assert arns[0] == f"arn:aws:s3tables:us-east-1:123456789012:bucket/{names[0]}"
    fails("ConflictException", api.create_table_bucket, "already exists", name=names[0])
    found = [b["name"] for p in api.get_paginator("list_table_buckets").paginate(prefix="list-", PaginationConfig={"PageSize": 1}) for b in p["tableBuckets"]]
    assert [n for n in found if n in names] == names
    assert api.list_table_buckets(prefix="no-such-")["tableBuckets"] == []
    got = api.get_table_bucket(tableBucketARN=arns[1])
    assert (got["name"], got["ownerAccountId"], got["type"]) == (names[1], "123456789012", "customer") and got["tableBucketId"]
    for a in arns:
        api.delete_table_bucket(tableBucketARN=a)
    fails("NotFoundException", api.get_table_bucket, "The specified table bucket does not exist.", tableBucketARN=arns[0])


def test_foreign_and_malformed_arns(server, bucket):
    api = bucket.api
    fails("AccessDeniedException", api.get_table_bucket, "is not authorized to perform: s3tables:GetTableBucket", tableBucketARN="arn:aws:s3tables:us-east-1:999999999999:bucket/other-bucket")
    fails("BadRequestException", api.get_table_bucket, tableBucketARN="arn:aws:s3:::bucket/x" + "y" * 20)
    fails("NotFoundException", api.get_table, "The specified table does not exist.", tableArn=bucket.arn + "/table/00000000-0000-0000-0000-000000000000")
    fails("BadRequestException", api.get_table, **{"tableBucketARN": bucket.arn, "namespace": "analytics"})
    page = api.list_namespaces(tableBucketARN=bucket.arn, maxNamespaces=1)
    assert "continuationToken" not in page
    fails("BadRequestException", api.list_tables, tableBucketARN=bucket.arn, continuationToken="AAAA")


def test_namespaces(bucket):
    api, b = bucket.api, {"tableBucketARN": bucket.arn}
    for bad in ("Upper", "hy-phen", "_a", "dot.ted", "aws_x"):
        fails("BadRequestException", api.create_namespace, "not valid", **b, namespace=[bad])
    fails("ConflictException", api.create_namespace, **b, namespace=["analytics"])
    got = api.get_namespace(**b, namespace="analytics")
    assert got["namespace"] == ["analytics"] and got["createdBy"] == "123456789012" and got["namespaceId"]
    fails("NotFoundException", api.get_namespace, "The specified namespace does not exist.", **b, namespace="absent")
    bucket.create("t", ("a", "int"))
    fails("ConflictException", api.delete_namespace, "not empty", **b, namespace="analytics")
    fails("ConflictException", api.delete_table_bucket, "not empty", **b)


def test_table_life(bucket):
    api = bucket.api
    made = bucket.create("t", ("id", "long"), ("name", "string"), tags={"k": "v"})
    assert re.fullmatch(re.escape(bucket.arn) + r"/table/[0-9a-f-]{36}", made["tableARN"])
    assert re.fullmatch("[0-9a-f]{20}", made["versionToken"])
    got = bucket.get("t")
    assert got == {**api.get_table(tableArn=made["tableARN"]), "ResponseMetadata": got["ResponseMetadata"]}
    table_id = made["tableARN"].rsplit("/", 1)[1]
    host = got["warehouseLocation"].removeprefix("s3://")
    assert re.fullmatch(r"[a-z0-9-]+--table-s3", host) and len(host) == 63 and host.startswith("-".join(table_id.split("-")[:3]))
    assert re.fullmatch(re.escape(got["warehouseLocation"]) + r"/metadata/00000-[0-9a-f-]{36}\.metadata\.json", got["metadataLocation"])
    assert (got["type"], got["format"], got["namespace"], got["versionToken"]) == ("customer", "ICEBERG", ["analytics"], made["versionToken"])
    fails("ConflictException", bucket.create, "A table with an identical name already exists in the namespace.", table="t")
    fails("ConflictException", api.rename_table, **bucket.at("t"), newName="u", versionToken="0" * 20)
    api.rename_table(**bucket.at("t"), newName="u", versionToken=made["versionToken"])
    assert bucket.get("u")["tableARN"] == made["tableARN"]
    bucket.sql("INSERT INTO @u VALUES (1, 'a')")
    assert bucket.sql("SELECT * FROM @u") == [(1, "a")]
    assert bucket.get("u")["versionToken"] != made["versionToken"] and bucket.get("u")["tableARN"] == made["tableARN"]
    fails("ConflictException", api.delete_table, **bucket.at("u"), versionToken=made["versionToken"])
    api.delete_table(**bucket.at("u"))
    fails("NotFoundException", api.get_table, "The specified table does not exist.", **bucket.at("u"))
    with pytest.raises(botocore.exceptions.ClientError):
        bucket.server.s3().head_bucket(Bucket=host)


def test_create_with_everything(bucket):
    bucket.create("t", ("id", "long"), ("day", "date"), iceberg={
        "partitionSpec": {"fields": [{"sourceId": 2, "transform": "month", "name": "day_month"}]},
        "writeOrder": {"orderId": 1, "fields": [{"sourceId": 1, "transform": "identity", "direction": "desc", "nullOrder": "nulls-last"}]},
        "properties": {"owner": "me", "format-version": "2"}})
    bucket.sql("INSERT INTO @t VALUES (1, DATE '2026-01-05'), (2, DATE '2026-02-05')")
    assert len(bucket.sql("SELECT * FROM @t.partitions")) == 2
    assert ("owner", "me") in bucket.sql("SHOW TBLPROPERTIES @t")
    v2 = {"type": "struct", "fields": [{"id": 1, "name": "l", "required": False, "type": {"type": "list", "element-id": 2, "element": "string", "element-required": False}}]}
    bucket.api.create_table(**bucket.at("v2"), format="ICEBERG", metadata={"iceberg": {"schemaV2": v2}})
    bucket.sql("INSERT INTO @v2 VALUES (array('a', 'b'))")
    assert bucket.sql("SELECT l FROM @v2") == [(["a", "b"],)]
    fails("BadRequestException", bucket.create, table="bad", metadata={"iceberg": {"schema": {"fields": [{"name": "a", "type": "nonsense"}]}}})
    fails("BadRequestException", bucket.create, "The specified table name is not valid.", table="hy-phen")


def test_list_tables(bucket):
    bucket.api.create_namespace(tableBucketARN=bucket.arn, namespace=["b2"])
    for n in ("one", "two", "other"):
        bucket.create(n, ("a", "int"))
    bucket.api.create_table(tableBucketARN=bucket.arn, namespace="b2", name="three", format="ICEBERG")
    names = [t["name"] for p in bucket.api.get_paginator("list_tables").paginate(tableBucketARN=bucket.arn, PaginationConfig={"PageSize": 2}) for t in p["tables"]]
    assert names == ["one", "other", "two", "three"]
    assert [t["name"] for t in bucket.api.list_tables(tableBucketARN=bucket.arn, namespace="analytics", prefix="o")["tables"]] == ["one", "other"]
    token = bucket.api.list_tables(tableBucketARN=bucket.arn, maxTables=1)["continuationToken"]
    fails("BadRequestException", bucket.api.list_tables, tableBucketARN=bucket.arn, prefix="o", continuationToken=token)
    fails("NotFoundException", bucket.api.list_tables, tableBucketARN=bucket.arn, namespace="absent")


def test_names_hold_at_every_door(bucket):
    for name in ("Upper", "hy-phen", "_a"):
        with pytest.raises(psycopg.Error, match="table bucket"):
            bucket.sql(f"CREATE TABLE s3t_catalog.analytics.`{name}` (a INT)")
    with pytest.raises(psycopg.Error, match="table bucket"):
        bucket.server.sql(f"CREATE NAMESPACE `{bucket.name}`.`Upper`")
    with pytest.raises(psycopg.Error, match="storage of its own"):
        bucket.sql("CREATE TABLE @t (a INT) LOCATION 's3://warehouse/elsewhere'")


# ---- a table without metadata, and the metadata location ----------------------------------------------------------------------


def test_table_without_metadata(bucket):
    made = bucket.create("t")
    got = bucket.get("t")
    assert "metadataLocation" not in got and got["versionToken"] == made["versionToken"]
    with pytest.raises(psycopg.Error, match="has no metadata yet"):
        bucket.sql("SELECT * FROM @t")
    assert ("t",) in [r[1:2] for r in bucket.server.sql(f"SHOW TABLES IN `{bucket.name}`.analytics")]
    bucket.server.sql("SELECT count(*) FROM information_schema.tables", "materialize")
    # what a client that writes metadata itself does: borrow another table's metadata and make it its own
    bucket.create("model", ("a", "int"))
    s3, model = bucket.server.s3(), bucket.get("model")
    old = model["metadataLocation"].removeprefix("s3://").split("/", 1)
    meta = json.loads(s3.get_object(Bucket=old[0], Key=old[1])["Body"].read())
    meta["location"], meta["table-uuid"] = got["warehouseLocation"], "11111111-2222-4333-8444-555555555555"
    home, where = got["warehouseLocation"].removeprefix("s3://"), got["warehouseLocation"] + "/metadata/00000-x.metadata.json"
    move = lambda location, token=made["versionToken"]: bucket.api.update_table_metadata_location(**bucket.at("t"), versionToken=token, metadataLocation=location)
    fails("BadRequestException", lambda: move(where), "The specified metadata location is not valid")
    s3.put_object(Bucket=home, Key="metadata/00000-x.metadata.json", Body=json.dumps(meta))
    s3.put_object(Bucket=home, Key="metadata/wrong.metadata.json", Body=b'{"foo": "bar"}')
    fails("ConflictException", lambda: move(where, "0" * 20), "version token")
    for bad in ("s3://abc", model["metadataLocation"], got["warehouseLocation"] + "/metadata/00000-x.json", got["warehouseLocation"] + "/metadata/wrong.metadata.json"):
        fails("BadRequestException", lambda: move(bad), "The specified metadata location is not valid")
    done = move(where)
    assert done["metadataLocation"] == where and done["name"] == "t" and done["namespace"] == ["analytics"] and done["tableARN"] == made["tableARN"]
    assert bucket.get("t")["versionToken"] == done["versionToken"] != made["versionToken"]
    fails("ConflictException", lambda: move(where))
    bucket.sql("INSERT INTO @t VALUES (1)")
    assert bucket.sql("SELECT * FROM @t") == [(1,)]
    assert bucket.get("t")["tableARN"] == made["tableARN"]
    meta["location"] = "s3://warehouse/x"
    s3.put_object(Bucket=home, Key="metadata/00009-x.metadata.json", Body=json.dumps(meta))
    fails("BadRequestException", lambda: move(got["warehouseLocation"] + "/metadata/00009-x.metadata.json", bucket.get("t")["versionToken"]), "not valid")


# ---- the storage by S3 -------------------------------------------------------------------------------------------------------------


def test_storage_knows_few_operations(bucket):
    bucket.create("t", ("a", "int"))
    bucket.sql("INSERT INTO @t VALUES (1)")
    s3, got = bucket.server.s3(), bucket.get("t")
    b, key = got["metadataLocation"].removeprefix("s3://").split("/", 1)
    assert s3.get_object(Bucket=b, Key=key)["Body"].read().startswith(b"{")
    s3.put_object(Bucket=b, Key="data/x", Body=b"1")
    up = s3.create_multipart_upload(Bucket=b, Key="data/y")["UploadId"]
    part = s3.upload_part(Bucket=b, Key="data/y", UploadId=up, PartNumber=1, Body=b"1")
    s3.complete_multipart_upload(Bucket=b, Key="data/y", UploadId=up, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    for call, args in ((s3.list_objects_v2, {}), (s3.list_objects, {}), (s3.delete_object, {"Key": "data/x"}), (s3.delete_objects, {"Delete": {"Objects": [{"Key": "data/x"}]}}),
                       (s3.copy_object, {"Key": "data/z", "CopySource": f"{b}/data/x"}), (s3.put_bucket_policy, {"Policy": "{}"}), (s3.delete_bucket, {}),
                       (s3.put_object_tagging, {"Key": "data/x", "Tagging": {"TagSet": []}}), (s3.put_bucket_versioning, {"VersioningConfiguration": {"Status": "Enabled"}})):
        fails("MethodNotAllowed", call, Bucket=b, **args)
    assert not [x for x in s3.list_buckets()["Buckets"] if x["Name"].endswith("--table-s3")]
    fails("InvalidBucketName", s3.create_bucket, Bucket="mine--table-s3")


# ---- settings -------------------------------------------------------------------------------------------------------------------------


def test_policies(bucket):
    api, arn = bucket.api, bucket.create("t", ("a", "int"))["tableARN"]
    statement = lambda resource: json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
                                                                                     "Action": "s3tables:GetTable", "Resource": resource}]})
    fails("NotFoundException", api.get_table_policy, "The specified table policy does not exist.", **bucket.at("t"))
    fails("NotFoundException", api.get_table_bucket_policy, "The specified table bucket policy does not exist.", tableBucketARN=bucket.arn)
    fails("BadRequestException", api.put_table_policy, **bucket.at("t"), resourcePolicy="{not json")
    api.put_table_policy(**bucket.at("t"), resourcePolicy=statement(arn))
    api.put_table_bucket_policy(tableBucketARN=bucket.arn, resourcePolicy=statement(bucket.arn + "/*"))
    assert json.loads(api.get_table_policy(**bucket.at("t"))["resourcePolicy"]) == json.loads(statement(arn))
    assert json.loads(api.get_table_bucket_policy(tableBucketARN=bucket.arn)["resourcePolicy"]) == json.loads(statement(bucket.arn + "/*"))
    api.delete_table_policy(**bucket.at("t"))
    fails("NotFoundException", api.get_table_policy, **bucket.at("t"))
    api.put_table_policy(**bucket.at("t"), resourcePolicy=statement(arn))
    bucket.sql("DROP TABLE @t")
    bucket.create("t", ("a", "int"))
    fails("NotFoundException", api.get_table_policy, **bucket.at("t"))


def test_settings_are_stored(bucket):
    api, b, arn = bucket.api, {"tableBucketARN": bucket.arn}, bucket.create("t", ("a", "int"), storageClassConfiguration={"storageClass": "STANDARD"})["tableARN"]
    assert api.get_table_bucket_encryption(**b)["encryptionConfiguration"] == {"sseAlgorithm": "AES256"}
    api.put_table_bucket_encryption(**b, encryptionConfiguration={"sseAlgorithm": "AES256"})
    fails("BadRequestException", api.put_table_bucket_encryption, "KMS", **b, encryptionConfiguration={"sseAlgorithm": "aws:kms", "kmsKeyArn": "arn:aws:kms:us-east-1:123456789012:key/x"})
    api.delete_table_bucket_encryption(**b)
    assert api.get_table_encryption(**bucket.at("t"))["encryptionConfiguration"] == {"sseAlgorithm": "AES256"}
    api.put_table_bucket_storage_class(**b, storageClassConfiguration={"storageClass": "INTELLIGENT_TIERING"})
    assert api.get_table_bucket_storage_class(**b)["storageClassConfiguration"] == {"storageClass": "INTELLIGENT_TIERING"}
    assert api.get_table_storage_class(**bucket.at("t"))["storageClassConfiguration"] == {"storageClass": "STANDARD"}
    bucket.create("u", ("a", "int"))
    assert api.get_table_storage_class(**bucket.at("u"))["storageClassConfiguration"] == {"storageClass": "INTELLIGENT_TIERING"}
    api.put_table_bucket_metrics_configuration(**b)
    assert api.get_table_bucket_metrics_configuration(**b)["id"]
    api.delete_table_bucket_metrics_configuration(**b)
    assert "id" not in api.get_table_bucket_metrics_configuration(**b)
    assert api.get_table_record_expiration_configuration(tableArn=arn)["configuration"] == {"status": "disabled"}
    api.put_table_record_expiration_configuration(tableArn=arn, value={"status": "enabled", "settings": {"days": 30}})
    assert api.get_table_record_expiration_configuration(tableArn=arn)["configuration"]["settings"] == {"days": 30}
    assert api.get_table_record_expiration_job_status(tableArn=arn)["status"] == "Failed"


def test_replication_is_refused(bucket):
    api, arn = bucket.api, bucket.create("t", ("a", "int"))["tableARN"]
    to = {"role": "arn:aws:iam::123456789012:role/r", "rules": [{"destinations": [{"destinationTableBucketARN": bucket.arn}]}]}
    fails("BadRequestException", api.put_table_bucket_replication, "does not replicate", tableBucketARN=bucket.arn, configuration=to)
    fails("BadRequestException", api.put_table_replication, "does not replicate", tableArn=arn, configuration=to)
    fails("NotFoundException", api.get_table_bucket_replication, tableBucketARN=bucket.arn)
    fails("NotFoundException", api.delete_table_bucket_replication, tableBucketARN=bucket.arn)
    fails("NotFoundException", api.get_table_replication, tableArn=arn)
    fails("NotFoundException", api.get_table_replication_status, tableArn=arn)


def test_tags(bucket):
    api, arn = bucket.api, bucket.create("t", ("a", "int"), tags={"made": "now"})["tableARN"]
    assert api.list_tags_for_resource(resourceArn=arn)["tags"] == {"made": "now"}
    for resource in (arn, bucket.arn):
        api.tag_resource(resourceArn=resource, tags={"a": "1", "b": "2"})
        api.untag_resource(resourceArn=resource, tagKeys=["a", "made"])
        assert api.list_tags_for_resource(resourceArn=resource)["tags"] == {"b": "2"}
    fails("BadRequestException", api.tag_resource, "reserved", resourceArn=arn, tags={"aws:x": "1"})
    fails("BadRequestException", api.tag_resource, "limit", resourceArn=arn, tags={f"k{i}": "" for i in range(50)})


# ---- materialized views ------------------------------------------------------------------------------------------------------------------


MV = "AS SELECT customer_name, COUNT(*) AS order_count, SUM(amount) AS total_amount FROM glue_catalog.{ns}.orders GROUP BY customer_name"


@pytest.fixture()
def views(server, ns, bucket):
    """The views of the walk-through: customer_summary_regular and customer_summary_managed."""
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.orders (id INT, customer_name STRING, amount DECIMAL(10,2));
        INSERT INTO glue_catalog.{ns}.orders VALUES (1, 'Alice', 100.00), (2, 'Bob', 200.50), (3, 'Alice', 125.25), (4, 'Carol', 320.00), (5, 'Bob', 99.99);
        SET spark.sql.mv.managed.enabled = true""")
    bucket.ns = ns
    bucket.sql("CREATE MATERIALIZED VIEW @customer_summary_regular " + MV.format(ns=ns))
    bucket.sql("CREATE MANAGED MATERIALIZED VIEW @customer_summary_managed " + MV.format(ns=ns))
    return bucket


EXPECTED = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 1, "320.00")]


def rows(bucket, view):
    return [(n, c, str(t)) for n, c, t in bucket.sql(f"SELECT * FROM @{view} ORDER BY customer_name")]


def move_back(bucket, view="customer_summary_regular"):
    """Row 48: the pointer goes back to the metadata file before, with the current token."""
    now = bucket.api.get_table_metadata_location(**bucket.at(view))
    host, key = now["metadataLocation"].removeprefix("s3://").split("/", 1)
    meta = json.loads(bucket.server.s3().get_object(Bucket=host, Key=key)["Body"].read())
    before = meta["metadata-log"][-1]["metadata-file"]
    return now, bucket.api.update_table_metadata_location(**bucket.at(view), versionToken=now["versionToken"], metadataLocation=before)


def described(bucket, view):
    text = dict((r[0], r[1]) for r in bucket.sql(f"DESCRIBE EXTENDED @{view}"))["Materialized View Properties"]
    return dict(kv for kv in (p.split("=", 1) for p in text.strip("[]").split(",") if "=" in p))


def test_managed_view_is_protected(views):
    api, at = views.api, views.at("customer_summary_managed")
    now = api.get_table_metadata_location(**at)
    arn = views.get("customer_summary_managed")["tableARN"]
    text = f"User: arn:aws:iam::123456789012:root is not authorized to perform: s3tables:UpdateTableMetadataLocation on resource: {arn} {REFUSED}"
    e = fails("AccessDeniedException", api.update_table_metadata_location, text, "system-managed materialized view", "analytics.customer_summary_managed", **at,
              versionToken=now["versionToken"], metadataLocation=now["metadataLocation"])
    assert e["ResponseMetadata"]["HTTPStatusCode"] == 403
    fails("AccessDeniedException", api.rename_table, "s3tables:RenameTable", REFUSED, **at, newName="x")
    fails("AccessDeniedException", api.put_table_policy, REFUSED, **at, resourcePolicy='{"Version":"2012-10-17","Statement":[]}')
    fails("AccessDeniedException", api.delete_table_policy, REFUSED, **at)
    policy = json.loads(api.get_table_policy(**at)["resourcePolicy"])
    assert policy["Statement"][0]["Sid"] == "GlueSystemManagedMaterializedView" and policy["Statement"][0]["Effect"] == "Deny"
    fails("NotFoundException", api.get_table_policy, **views.at("customer_summary_regular"))
    s3, host = views.server.s3(), now["warehouseLocation"].removeprefix("s3://")
    fails("AccessDenied", s3.put_object, "system-managed materialized view", Bucket=host, Key="data/x", Body=b"1")
    fails("AccessDenied", s3.create_multipart_upload, Bucket=host, Key="data/x")
    fails("AccessDenied", s3.delete_object, "system-managed materialized view", Bucket=host, Key="metadata/x")
    fails("MethodNotAllowed", s3.list_objects_v2, Bucket=host)
    assert api.get_table_metadata_location(**at)["versionToken"] == now["versionToken"]
    assert rows(views, "customer_summary_managed") == EXPECTED
    assert [t.get("managedByService") for t in api.list_tables(tableBucketARN=views.arn)["tables"]] == ["glue.amazonaws.com", None]
    api.delete_table(**at)
    fails("NotFoundException", api.get_table, **at)


def test_metadata_files_and_snapshots_are_numbered_as_seen(views):
    """Rows 33, 34 and spec/glue.md 1.2: a managed view begins with one overwrite in 00000; a regular one goes on with what others append."""
    assert "/metadata/00000-" in views.get("customer_summary_managed")["metadataLocation"]
    assert [r[0] for r in views.sql("SELECT operation FROM @customer_summary_managed.snapshots")] == ["overwrite"]
    assert [r[0] for r in views.sql("SELECT operation FROM @customer_summary_regular.snapshots ORDER BY committed_at")] == ["overwrite"]
    views.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory_sql', 999, 99999.99)")
    views.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory_df', 1, 88888.88)")
    views.sql("DELETE FROM @customer_summary_regular WHERE customer_name = 'Mallory_df'")
    assert [r[0] for r in views.sql("SELECT operation FROM @customer_summary_regular.snapshots ORDER BY committed_at")] == ["overwrite", "append", "append", "delete"]
    assert "/metadata/00004-" in views.get("customer_summary_regular")["metadataLocation"]


def test_integrity_token(views):
    v = "customer_summary_regular"
    views.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory', 1, 1.00)")
    assert described(views, v)["integrity"] == "OK"
    before, after = move_back(views)
    says = re.escape(f"Materialized view {v} integrity check failed: versionId ({after['versionToken']}) != viewVersionToken ({before['versionToken']}). "
                     "Please recreate the materialized view or run a full refresh")
    for _ in range(2):
        for statement in (f"SELECT * FROM @{v}", f"SELECT * FROM @{v}.snapshots", f"REFRESH MATERIALIZED VIEW @{v}", f"INSERT INTO @{v} VALUES ('x', 1, 1.00)", f"DELETE FROM @{v}"):
            with pytest.raises(psycopg.Error, match=says) as e:
                views.sql(statement)
            assert f"(catalog:123456789012:s3tablescatalog/{views.name}$schema:analytics, {v})" in e.value.diag.message_detail
    d = described(views, v)
    assert (d["integrity"], d["tableVersionToken"], d["viewVersionToken"]) == ("BROKEN", after["versionToken"], before["versionToken"])
    told = views.server.pyiceberg(warehouse=views.arn).load_table(f"analytics.{v}").config
    assert told["firn.integrity"] == "BROKEN" and after["versionToken"] in told["firn.integrity-reason"]
    glue = client(views.server, "glue").get_table(CatalogId=f"123456789012:s3tablescatalog/{views.name}", DatabaseName="analytics", Name=v)["Table"]
    assert (glue["VersionId"], glue["ViewDefinition"]["ViewVersionToken"]) == (after["versionToken"], before["versionToken"])
    assert f"{views.name}.analytics.{v} broken: integrity" in views.server.run("verify", check=1).stdout
    views.sql(f"SELECT * FROM @{v}.refreshes")
    views.sql(f"ALTER TABLE @{v} SET TBLPROPERTIES ('a' = 'b')")                            # a commit by others mends nothing
    assert described(views, v)["integrity"] == "BROKEN"
    views.api.rename_table(**views.at(v), newName="renamed")
    views.api.rename_table(**views.at("renamed"), newName=v)
    assert described(views, v)["integrity"] == "BROKEN"
    views.sql(f"REFRESH MATERIALIZED VIEW @{v} FULL")
    assert rows(views, v) == EXPECTED
    d = described(views, v)
    assert (d["integrity"], d["tableVersionToken"]) == ("OK", d["viewVersionToken"])
    views.server.run("verify", f"{views.name}.analytics.{v}", check=0)
    views.server.sql(f"INSERT INTO glue_catalog.{views.ns}.orders VALUES (6, 'Dave', 50.00)")
    views.sql(f"REFRESH MATERIALIZED VIEW @{v}")
    assert rows(views, v) == EXPECTED + [("Dave", 1, "50.00")]


def test_a_view_over_a_broken_view(views):
    views.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory', 1, 1.00)")
    views.sql(f"CREATE MATERIALIZED VIEW @over AS SELECT count(*) AS n FROM s3t_catalog.analytics.customer_summary_regular")
    move_back(views)
    for full in ("", " FULL"):
        with pytest.raises(psycopg.Error, match="integrity check failed"):
            views.sql("REFRESH MATERIALIZED VIEW @over" + full)
    views.sql("REFRESH MATERIALIZED VIEW @customer_summary_regular FULL")
    views.sql("REFRESH MATERIALIZED VIEW @over")
    assert views.sql("SELECT n FROM @over") == [(3,)]


def test_aws_compat(tmp_path):
    s = Server(tmp_path / "data", ["aws_compat=on"])
    try:
        b = Bucket(s, "compat")
        s.sql("""CREATE NAMESPACE glue_catalog.n; CREATE TABLE glue_catalog.n.orders (id INT, customer_name STRING, amount DECIMAL(10,2)); SET spark.sql.mv.managed.enabled = true""")
        b.sql("CREATE MATERIALIZED VIEW @customer_summary_regular " + MV.format(ns="n"))
        b.sql("CREATE MANAGED MATERIALIZED VIEW @customer_summary_managed " + MV.format(ns="n"))
        with pytest.raises(psycopg.Error, match="S3 Tables catalog only"):
            s.sql("CREATE MANAGED MATERIALIZED VIEW glue_catalog.n.m " + MV.format(ns="n"))
        fails("NotFoundException", b.api.get_table_policy, "The specified table policy does not exist.", **b.at("customer_summary_managed"))
        b.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory', 1, 1.00)")
        move_back(b)
        with pytest.raises(psycopg.Error, match="integrity check failed"):
            b.sql("REFRESH MATERIALIZED VIEW @customer_summary_regular FULL")
    finally:
        s.stop()


# ---- the AWS CLI: rows 2, 3, 5, 47 to 50 -----------------------------------------------------------------------------------------------------


def aws(server, *args, code=0):
    env = {**os.environ, "AWS_ACCESS_KEY_ID": server.key, "AWS_SECRET_ACCESS_KEY": server.secret, "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": server.lake,
           "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    r = subprocess.run([sys.executable, "-m", "awscli", *args], env=env, capture_output=True, text=True)
    assert (r.returncode != 0) == (code != 0), (args, r.stdout, r.stderr)
    return json.loads(r.stdout) if code == 0 and r.stdout.strip() else r.stderr


def test_rows_of_the_walk_through(views):
    s, name = views.server, f"blog-mv-{time.monotonic_ns()}"
    made = aws(s, "s3tables", "create-table-bucket", "--name", name)                                                                     # 2
    assert made == {"arn": f"arn:aws:s3tables:us-east-1:123456789012:bucket/{name}"}
    assert aws(s, "s3tables", "create-namespace", "--table-bucket-arn", made["arn"], "--namespace", "analytics") == {"tableBucketARN": made["arn"], "namespace": ["analytics"]}   # 3
    views.sql("INSERT INTO @customer_summary_regular VALUES ('Mallory', 1, 1.00)")
    at = ("--table-bucket-arn", views.arn, "--namespace", "analytics", "--name")
    now = aws(s, "s3tables", "get-table-metadata-location", *at, "customer_summary_regular")                                            # 47
    assert set(now) == {"versionToken", "metadataLocation", "warehouseLocation"}
    host, key = now["metadataLocation"].removeprefix("s3://").split("/", 1)
    before = json.loads(s.s3().get_object(Bucket=host, Key=key)["Body"].read())["metadata-log"][-1]["metadata-file"]
    done = aws(s, "s3tables", "update-table-metadata-location", *at, "customer_summary_regular", "--version-token", now["versionToken"], "--metadata-location", before)   # 48
    assert set(done) == {"name", "tableARN", "namespace", "versionToken", "metadataLocation"} and done["metadataLocation"] == before
    managed = aws(s, "s3tables", "get-table-metadata-location", *at, "customer_summary_managed")
    text = aws(s, "s3tables", "update-table-metadata-location", *at, "customer_summary_managed", "--version-token", managed["versionToken"],
               "--metadata-location", managed["metadataLocation"], code=1)                                                                  # 49
    assert "(AccessDeniedException)" in text and REFUSED in text
    assert "GlueSystemManagedMaterializedView" in aws(s, "s3tables", "get-table-policy", *at, "customer_summary_managed")["resourcePolicy"]   # 50
    assert "(NotFoundException)" in aws(s, "s3tables", "get-table-policy", *at, "customer_summary_regular", code=1)
    assert "(NotFoundException)" in aws(s, "s3tables", "get-table-bucket-policy", "--table-bucket-arn", views.arn, code=1)


# ---- Iceberg REST with the bucket's ARN as the warehouse ----------------------------------------------------------------------------------------


def test_pyiceberg_rest_with_signatures(bucket):
    import pyarrow as pa
    cat = bucket.server.pyiceberg(credential=None, warehouse=bucket.arn, **{
        "rest.sigv4-enabled": "true", "rest.signing-name": "s3tables", "rest.signing-region": "us-east-1", "client.access-key-id": bucket.server.key,
        "client.secret-access-key": bucket.server.secret, "client.region": "us-east-1"})
    assert ("analytics",) in cat.list_namespaces()
    data = pa.table({"id": pa.array([1, 2], pa.int64()), "s": ["a", "b"]})
    t = cat.create_table("analytics.py", schema=data.schema)
    t.append(data)
    assert t.location() == bucket.get("py")["warehouseLocation"]
    assert bucket.get("py")["metadataLocation"] == cat.load_table("analytics.py").metadata_location
    assert bucket.sql("SELECT * FROM @py ORDER BY id") == [(1, "a"), (2, "b")]
    bucket.create("made", ("id", "long"))
    cat.load_table("analytics.made").append(pa.table({"id": pa.array([7], pa.int64())}))
    assert bucket.sql("SELECT * FROM @made") == [(7,)]
    bucket.create("bare")
    with pytest.raises(Exception, match="no metadata yet"):
        cat.load_table("analytics.bare")
    with cat.create_table_transaction("analytics.staged", schema=data.schema) as tx:
        tx.append(data)
    assert cat.load_table("analytics.staged").scan().to_arrow().num_rows == 2
    cat.drop_table("analytics.py")
    fails("NotFoundException", bucket.api.get_table, **bucket.at("py"))


# ---- maintenance -------------------------------------------------------------------------------------------------------------------------------------


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come")


def status(bucket, table, kind):
    return bucket.api.get_table_maintenance_job_status(**bucket.at(table))["status"][kind]


def test_maintenance_configuration(bucket):
    api = bucket.api
    bucket.create("t", ("a", "int"))
    got = api.get_table_maintenance_configuration(**bucket.at("t"))["configuration"]
    assert got["icebergCompaction"]["settings"]["icebergCompaction"]["targetFileSizeMB"] == 512 and got["icebergCompaction"]["status"] == "enabled"
    assert got["icebergSnapshotManagement"]["settings"]["icebergSnapshotManagement"] == {"minSnapshotsToKeep": 1, "maxSnapshotAgeHours": 120}
    assert api.get_table_bucket_maintenance_configuration(tableBucketARN=bucket.arn)["configuration"]["icebergUnreferencedFileRemoval"]["settings"][
        "icebergUnreferencedFileRemoval"] == {"unreferencedDays": 3, "nonCurrentDays": 10}
    put = lambda kind, settings, state="enabled": api.put_table_maintenance_configuration(**bucket.at("t"), type=kind, value={"status": state, "settings": {kind: settings}})
    put("icebergCompaction", {"targetFileSizeMB": 64}, "disabled")
    put("icebergSnapshotManagement", {"minSnapshotsToKeep": 2, "maxSnapshotAgeHours": 1}, "disabled")
    got = api.get_table_maintenance_configuration(**bucket.at("t"))["configuration"]
    assert got["icebergCompaction"] == {"status": "disabled", "settings": {"icebergCompaction": {"targetFileSizeMB": 64, "strategy": "auto"}}}
    assert got["icebergSnapshotManagement"]["settings"]["icebergSnapshotManagement"] == {"minSnapshotsToKeep": 2, "maxSnapshotAgeHours": 1}
    assert {k: v["status"] for k, v in api.get_table_maintenance_job_status(**bucket.at("t"))["status"].items()} == {
        "icebergCompaction": "Disabled", "icebergSnapshotManagement": "Disabled", "icebergUnreferencedFileRemoval": "Not_Yet_Run"} or status(bucket, "t", "icebergUnreferencedFileRemoval")["status"] == "Successful"
    fails("BadRequestException", put, kind="icebergCompaction", settings={"targetFileSizeMB": 1})
    fails("BadRequestException", put, "z-order", kind="icebergCompaction", settings={"strategy": "z-order"})
    fails("BadRequestException", put, "sort order", kind="icebergCompaction", settings={"strategy": "sort"})
    fails("BadRequestException", lambda: api.put_table_maintenance_configuration(**bucket.at("t"), type="icebergCompaction", value={
        "status": "enabled", "settings": {"icebergSnapshotManagement": {"minSnapshotsToKeep": 1}}}))


def test_maintenance_runs(tmp_path):
    s = Server(tmp_path / "data", ["maintenance.interval=1"])
    try:
        b = Bucket(s, "maintained")
        s.sql("""CREATE NAMESPACE glue_catalog.n; CREATE TABLE glue_catalog.n.orders (id INT, customer_name STRING, amount DECIMAL(10,2));
                 INSERT INTO glue_catalog.n.orders VALUES (1, 'Alice', 1.00); SET spark.sql.mv.managed.enabled = true""")
        b.create("t", ("a", "int"))
        b.api.put_table_maintenance_configuration(**b.at("t"), type="icebergCompaction", value={"status": "disabled"})
        for i in range(8):
            b.sql(f"INSERT INTO @t VALUES ({i})")
        assert len(b.sql("SELECT * FROM @t.files")) == 8
        b.api.put_table_maintenance_configuration(**b.at("t"), type="icebergCompaction", value={"status": "enabled", "settings": {"icebergCompaction": {"targetFileSizeMB": 64, "strategy": "binpack"}}})
        wait_for(lambda: len(b.sql("SELECT * FROM @t.files")) == 1)
        wait_for(lambda: status(b, "t", "icebergCompaction")["status"] == "Successful")
        assert "lastRunTimestamp" in status(b, "t", "icebergCompaction")
        assert b.sql("SELECT a FROM @t ORDER BY a") == [(i,) for i in range(8)]
        assert b.sql("SELECT operation FROM @t.snapshots ORDER BY committed_at DESC LIMIT 1") == [("replace",)]
        for view, kind in (("regular", ""), ("managed", "MANAGED ")):
            b.sql(f"CREATE {kind}MATERIALIZED VIEW @{view} " + MV.format(ns="n"))
            for i in range(3):
                s.sql(f"INSERT INTO glue_catalog.n.orders VALUES ({i}, 'Bob', 1.00)")
                b.sql(f"REFRESH MATERIALIZED VIEW @{view}")
            wait_for(lambda: status(b, view, "icebergCompaction")["status"] == "Disabled")
            assert "its own refreshes" in status(b, view, "icebergCompaction")["failureMessage"]
            wait_for(lambda: status(b, view, "icebergSnapshotManagement")["status"] == "Successful")
        wait_for(lambda: status(b, "managed", "icebergUnreferencedFileRemoval")["status"] == "Successful")
        s.run("verify", check=0)
    finally:
        s.stop()


def test_snapshots_and_unreferenced_files_go(tmp_path):
    """Time is moved by making what is there look old, with the server stopped."""
    data = tmp_path / "data"
    s = Server(data, ["maintenance.interval=0"])
    b = Bucket(s, "aged")
    b.create("t", ("a", "int"))
    for i in range(3):
        b.sql(f"INSERT INTO @t VALUES ({i})")
    s.sql("SET spark.sql.mv.managed.enabled = true")
    b.sql(f"CREATE MANAGED MATERIALIZED VIEW @m AS SELECT count(*) AS n FROM s3t_catalog.analytics.t")
    b.sql("INSERT INTO @t VALUES (3)")
    b.sql("ALTER TABLE @m SET TBLPROPERTIES ('a' = 'b')")
    host = b.get("t")["warehouseLocation"].removeprefix("s3://")
    s.s3().put_object(Bucket=host, Key="data/lost.parquet", Body=b"1")
    import pyarrow as pa
    staged = s.pyiceberg(warehouse=b.arn).create_table_transaction("analytics.never", schema=pa.schema([("id", pa.int64())])).table_metadata.location.removeprefix("s3://")
    s.s3().head_bucket(Bucket=staged)
    s.stop()
    with sqlite3.connect(next(data.rglob("store.db"))) as c:
        c.execute("UPDATE buckets SET created = created - 20 * 86400000")
        c.execute("UPDATE objects SET modified = modified - 20 * 86400000")
    s = Server(data, ["maintenance.interval=1"])
    try:
        b.server, b.api = s, client(s)
        b.use()
        for i in range(4, 24):                                                          # files come and are committed while the round looks for what nobody names
            b.sql(f"INSERT INTO @t VALUES ({i})")
        with pytest.raises(botocore.exceptions.ClientError):
            wait_for(lambda: s.s3().head_object(Bucket=host, Key="data/lost.parquet") and False, 30)
        assert b.sql("SELECT a FROM @t ORDER BY a") == [(i,) for i in range(24)]
        assert len(b.sql("SELECT * FROM @t.snapshots")) >= 4                                # younger than 120 hours
        wait_for(lambda: status(b, "m", "icebergUnreferencedFileRemoval")["status"] == "Successful")
        with pytest.raises(botocore.exceptions.ClientError):                                    # storage of a table that never came
            wait_for(lambda: s.s3().head_bucket(Bucket=staged) and False, 30)
        s.run("verify", check=0)
        b.sql("REFRESH MATERIALIZED VIEW @m")
        assert b.sql("SELECT n FROM @m") == [(24,)]
        s.run("verify", check=0)
    finally:
        s.stop()


def test_compaction_beside_writers(tmp_path):
    """Writers go on while files are rewritten: no row is lost, none doubled."""
    import threading
    s = Server(tmp_path / "data", ["maintenance.interval=1"])
    try:
        b = Bucket(s, "busy")
        b.create("t", ("w", "int"), ("i", "int"))
        errors = []

        def until_done(c, statement):
            while True:
                try:
                    return c.execute(statement, prepare=False)
                except psycopg.errors.SerializationFailure:                              # somebody else was faster: once more
                    pass

        def write(w):
            try:
                with s.connect() as c:
                    for i in range(12):
                        until_done(c, f"INSERT INTO `busy`.analytics.t VALUES ({w}, {i})")
                    until_done(c, f"DELETE FROM `busy`.analytics.t WHERE w = {w} AND i % 4 = 0")
            except Exception as e:
                errors.append(e)
        threads = [threading.Thread(target=write, args=(w,)) for w in range(3)]
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            b.api.put_table_maintenance_configuration(**b.at("t"), type="icebergCompaction", value={"status": "enabled", "settings": {"icebergCompaction": {"targetFileSizeMB": 64}}})
            time.sleep(0.2)
        for t in threads:
            t.join()
        assert not errors, errors
        want = sorted((w, i) for w in range(3) for i in range(12) if i % 4)
        assert b.sql("SELECT w, i FROM @t ORDER BY w, i") == want
        wait_for(lambda: len(b.sql("SELECT * FROM @t.files")) < 9)
        assert b.sql("SELECT w, i FROM @t ORDER BY w, i") == want
    finally:
        s.stop()


# ---- rights --------------------------------------------------------------------------------------------------------------------------------------------


class User:
    """An IAM user with one inline policy."""

    def __init__(self, server, *statements):
        self.server, self.lake, self.name = server, server.lake, f"u{time.monotonic_ns()}"
        iam = client(server, "iam")
        self.arn = iam.create_user(UserName=self.name)["User"]["Arn"]
        iam.put_user_policy(UserName=self.name, PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": list(statements)}))
        key = iam.create_access_key(UserName=self.name)["AccessKey"]
        self.key, self.secret = key["AccessKeyId"], key["SecretAccessKey"]

    def pyiceberg(self, arn, **more):
        return Server.pyiceberg(self, credential=None, warehouse=arn, **{
            "rest.sigv4-enabled": "true", "rest.signing-name": "s3tables", "rest.signing-region": "us-east-1", "client.access-key-id": self.key,
            "client.secret-access-key": self.secret, "client.region": "us-east-1", **more})

    def sql(self, text):
        with psycopg.connect(host="127.0.0.1", port=self.server.port, user=self.key, password=self.secret, dbname="spark", autocommit=True) as c:
            cur = c.execute(text, prepare=False)
            while cur.nextset():
                pass
            return cur.fetchall() if cur.description else []


def allow(actions, *resources):
    return {"Effect": "Allow", "Action": actions, "Resource": list(resources)}


def test_rights_by_identity(bucket):
    import pyarrow as pa
    arn = bucket.create("t", ("id", "long"))["tableARN"]
    other = bucket.create("other", ("id", "long"))["tableARN"]
    reader = User(bucket.server, allow(["s3tables:GetTable", "s3tables:GetTableData", "s3tables:GetTableMetadataLocation"], arn))
    api = client(reader)
    assert api.get_table(tableArn=arn)["name"] == "t" and api.get_table_metadata_location(**bucket.at("t"))["versionToken"]
    for call, args in ((api.get_table, {"tableArn": other}), (api.get_table, bucket.at("other")), (api.get_table, bucket.at("absent")), (api.delete_table, bucket.at("t")),
                       (api.list_tables, {"tableBucketARN": bucket.arn}), (api.get_table_bucket, {"tableBucketARN": bucket.arn}), (api.create_table_bucket, {"name": "mine-it-is"}),
                       (api.list_table_buckets, {}), (api.get_table_bucket, {"tableBucketARN": bucket.arn + "x"}), (api.put_table_policy, {**bucket.at("t"), "resourcePolicy": "{}"}),
                       (api.list_tags_for_resource, {"resourceArn": other})):
        fails("AccessDeniedException", call, f"User: {reader.arn} is not authorized to perform: s3tables:", **args)
    s3, where = client(reader, "s3"), bucket.get("t")["metadataLocation"].removeprefix("s3://").split("/", 1)
    s3.get_object(Bucket=where[0], Key=where[1])
    fails("AccessDenied", s3.put_object, Bucket=where[0], Key="data/x", Body=b"1")
    hidden = bucket.get("other")["metadataLocation"].removeprefix("s3://").split("/", 1)
    fails("AccessDenied", s3.get_object, Bucket=hidden[0], Key=hidden[1])
    assert reader.sql(f"SELECT * FROM `{bucket.name}`.analytics.t") == []
    with pytest.raises(psycopg.Error):
        reader.sql(f"SELECT * FROM `{bucket.name}`.analytics.other")
    with pytest.raises(psycopg.Error):
        reader.sql(f"INSERT INTO `{bucket.name}`.analytics.t VALUES (1)")
    writer = User(bucket.server, allow("s3tables:*", bucket.arn, bucket.arn + "/*"))
    cat = writer.pyiceberg(bucket.arn)
    cat.load_table("analytics.t").append(pa.table({"id": pa.array([1], pa.int64())}))
    with cat.create_table_transaction("analytics.staged", schema=pa.schema([("id", pa.int64())])) as tx:
        tx.append(pa.table({"id": pa.array([2], pa.int64())}))
    assert writer.sql(f"SELECT * FROM `{bucket.name}`.analytics.t UNION ALL SELECT * FROM `{bucket.name}`.analytics.staged ORDER BY 1") == [(1,), (2,)]
    client(writer).delete_table(**bucket.at("staged"))


def test_rights_by_namespace(bucket):
    bucket.api.create_namespace(tableBucketARN=bucket.arn, namespace=["private"])
    user = User(bucket.server, {**allow(["s3tables:CreateTable", "s3tables:GetTable", "s3tables:DeleteTable"], bucket.arn, bucket.arn + "/table/*"),
                                "Condition": {"StringEquals": {"s3tables:namespace": "analytics"}}})
    api = client(user)
    api.create_table(**bucket.at("t"), format="ICEBERG")
    assert api.get_table(**bucket.at("t"))["name"] == "t"
    fails("AccessDeniedException", api.create_table, "s3tables:CreateTable", **bucket.at("t", "private"), format="ICEBERG")
    arn = bucket.api.create_table(**bucket.at("hidden", "private"), format="ICEBERG")["tableARN"]
    for call, args in ((api.get_table, bucket.at("hidden", "private")), (api.get_table, {"tableArn": arn}), (api.delete_table, bucket.at("hidden", "private"))):
        fails("AccessDeniedException", call, **args)
    by_arn = api.get_table(tableArn=bucket.get("t")["tableARN"])
    assert by_arn["name"] == "t"
    api.delete_table(**bucket.at("t"))


def test_rights_by_resource_policies(bucket):
    arn = bucket.create("t", ("id", "long"))["tableARN"]
    guest = User(bucket.server, allow("s3:ListAllMyBuckets", "*"))
    api = client(guest)
    policy = lambda effect, action, resource: json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": effect, "Principal": {"AWS": guest.arn}, "Action": action, "Resource": resource}]})
    fails("AccessDeniedException", api.get_table, tableArn=arn)
    bucket.api.put_table_policy(**bucket.at("t"), resourcePolicy=policy("Allow", ["s3tables:GetTable", "s3tables:GetTableData"], arn))
    assert api.get_table(tableArn=arn)["name"] == "t"
    assert guest.sql(f"SELECT * FROM `{bucket.name}`.analytics.t") == []
    bucket.api.put_table_bucket_policy(tableBucketARN=bucket.arn, resourcePolicy=policy("Deny", "s3tables:GetTableData", bucket.arn + "/*"))
    assert api.get_table(tableArn=arn)["name"] == "t"
    with pytest.raises(psycopg.Error):
        guest.sql(f"SELECT * FROM `{bucket.name}`.analytics.t")
    s3, where = client(guest, "s3"), bucket.get("t")["metadataLocation"].removeprefix("s3://").split("/", 1)
    fails("AccessDenied", s3.get_object, Bucket=where[0], Key=where[1])
    bucket.api.delete_table_bucket_policy(tableBucketARN=bucket.arn)
    s3.get_object(Bucket=where[0], Key=where[1])
    bucket.api.delete_table_policy(**bucket.at("t"))
    fails("AccessDeniedException", api.get_table, tableArn=arn)
    admin = User(bucket.server, allow("s3tables:*", "*"))
    bucket.api.put_table_policy(**bucket.at("t"), resourcePolicy=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3tables:DeleteTable", "Resource": arn}]}))
    fails("AccessDeniedException", client(admin).delete_table, REFUSED, **bucket.at("t"))


def test_a_managed_view_is_protected_from_every_principal(views):
    at, host = views.at("customer_summary_managed"), views.get("customer_summary_managed")["warehouseLocation"].removeprefix("s3://")
    now = views.api.get_table_metadata_location(**at)
    for statements in ([allow("*", "*")], [allow("s3tables:*", "*")]):
        user = User(views.server, *statements)
        api, s3 = client(user), client(user, "s3")
        text = f"User: {user.arn} is not authorized to perform: s3tables:UpdateTableMetadataLocation on resource: "
        fails("AccessDeniedException", api.update_table_metadata_location, text, REFUSED, "analytics.customer_summary_managed", **at,
              versionToken=now["versionToken"], metadataLocation=now["metadataLocation"])
        fails("AccessDenied", s3.put_object, "system-managed materialized view", Bucket=host, Key="data/x", Body=b"1")
        s3.get_object(Bucket=host, Key=now["metadataLocation"].split("/", 3)[3])
        with pytest.raises(Exception, match="system-managed materialized view"):
            user.pyiceberg(views.arn).load_table("analytics.customer_summary_managed").delete()
    assert views.api.get_table_metadata_location(**at)["versionToken"] == now["versionToken"]
    assert rows(views, "customer_summary_managed") == EXPECTED


# ---- bad input ----------------------------------------------------------------------------------------------------------------------------------------


def raw(server, method, path, body=None):
    """A signed request that no client's checks have seen."""
    import requests
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    q = AWSRequest(method, server.lake + path, data=data, headers={"content-type": "application/json"})
    SigV4Auth(Credentials(server.key, server.secret), "s3tables", "us-east-1").add_auth(q)
    return requests.request(method, server.lake + path, data=data, headers=dict(q.headers), timeout=20)


HOSTILE = ["", " ", ".", "..", "../..", "%", "%00", "a" * 300, "a" * 5000, "\u0000", "\u202e", "'; DROP TABLE relation; --", "é", "a/b", "null", "-1", "arn:aws:s3tables:::", "*", "table/*"]
VALUES = [None, True, -1, 1e30, 2**70, "", "x" * 9000, [], {}, [[]], {"a": {"b": [1]}}, ["x"] * 5000]


def test_bad_input_of_every_operation(server, bucket):
    from urllib.parse import quote
    model = bucket.api.meta.service_model
    arn = bucket.create("t", ("a", "int"))["tableARN"]
    good = {"tableBucketARN": bucket.arn, "namespace": "analytics", "name": "t", "tableArn": arn, "resourceArn": arn, "type": "icebergCompaction"}
    assert len(model.operation_names) > 40
    sent = 0
    for name in model.operation_names:
        op = model.operation_model(name)
        if name.startswith(("Delete", "Rename")):
            continue                                                                   # those that would succeed with what is good
        members = op.input_shape.members if op.input_shape else {}
        labels = [m for m in members if members[m].serialization.get("location") == "uri"]
        query = [m for m in members if members[m].serialization.get("location") == "querystring"]
        fields = [m for m in members if m not in labels and m not in query]

        def path(**change):
            uri = op.http["requestUri"].split("?")[0]
            for m in labels:
                uri = uri.replace("{" + m + "}", quote(str({**good, **change}.get(m, "x")), safe=""))
            args = "&".join(f"{m}={quote(str({**good, **change}[m]), safe='')}" for m in query if m in {**good, **change})
            return uri + ("?" + args if args else "")

        tries = [(path(**{m: h}), None if op.http["method"] == "GET" else {}) for m in labels + query for h in HOSTILE if h or m in query]
        tries += [(path(), {m: v}) for m in fields for v in VALUES] + [(path(), v) for v in (b"{", b"\xff\xfe", b"[]", b"null", b'{"a":1,"a":2}', b"[" * 2000, {"unknown": 1})]
        for where, body in tries if op.http["method"] != "GET" else tries[:len(HOSTILE) * (len(labels) + len(query))]:
            r = raw(server, op.http["method"], where, body)
            sent += 1
            assert r.status_code < 500, (name, where[:200], str(body)[:200], r.status_code, r.text)
            if r.status_code >= 400:
                assert r.headers["x-amzn-errortype"] and r.json()["message"], (name, r.text)
    assert sent > 500
    assert bucket.get("t")["name"] == "t" and bucket.sql("SELECT * FROM @t") == []
    r = raw(server, "PUT", "/buckets", {"name": "x" * (17 << 20)})
    assert r.status_code in (400, 413), r.status_code


def test_signatures_are_proven(server):
    good = dict(aws_access_key_id=server.key, aws_secret_access_key=server.secret)
    for change, code in (({"aws_secret_access_key": "wrong"}, "InvalidSignatureException"), ({"aws_access_key_id": "AKIAABSENT00000000"}, "UnrecognizedClientException"),
                         ({"aws_session_token": "x"}, "UnrecognizedClientException")):
        api = boto3.client("s3tables", endpoint_url=server.lake, region_name="us-east-1", config=botocore.config.Config(retries={"max_attempts": 1}), **{**good, **change})
        fails(code, api.list_table_buckets)


# ---- a table names files that are not its own -----------------------------------------------------------------------------------------------------------


def name_foreign_file(s3, metadata_location, uri, size):
    """The table's one manifest is overwritten by one that names another file."""
    import io

    import fastavro
    read = lambda u: s3.get_object(Bucket=u.split("/")[2], Key=u.split("/", 3)[3])["Body"].read()
    listed = json.loads(read(metadata_location))["snapshots"][-1]["manifest-list"]
    manifest = next(fastavro.reader(io.BytesIO(read(listed))))["manifest_path"]
    r = fastavro.reader(io.BytesIO(read(manifest)))
    entries = list(r)
    for e in entries:
        e["data_file"]["file_path"], e["data_file"]["file_size_in_bytes"] = uri, size
    out = io.BytesIO()
    fastavro.writer(out, r.writer_schema, entries, metadata={k: v for k, v in r.metadata.items() if not k.startswith("avro.")})
    s3.put_object(Bucket=manifest.split("/")[2], Key=manifest.split("/", 3)[3], Body=out.getvalue())


@pytest.mark.parametrize("where", ["table", "managed view", "object"])
def test_files_of_others_are_not_read_through_a_table(server, bucket, where):
    bucket.create("secret", ("a", "int"))
    bucket.sql("INSERT INTO @secret VALUES (42); SET spark.sql.mv.managed.enabled = true")
    bucket.sql("CREATE MANAGED MATERIALIZED VIEW @hidden AS SELECT a FROM s3t_catalog.analytics.secret")
    uri = bucket.sql(f"SELECT file_path FROM @{'hidden' if where == 'managed view' else 'secret'}.files")[0][0]
    root = server.s3()
    body = root.get_object(Bucket=uri.split("/")[2], Key=uri.split("/", 3)[3])["Body"].read()
    if where == "object":
        uri = f"s3://warehouse/private/{bucket.name}.parquet"
        root.put_object(Bucket="warehouse", Key=uri.split("/", 3)[3], Body=body)
    bucket.create("mine", ("a", "int"))
    bucket.sql("INSERT INTO @mine VALUES (1)")
    arn = bucket.get("mine")["tableARN"]
    mallory = User(server, allow("s3tables:*", arn), allow(["s3tables:CreateTable", "s3tables:GetNamespace", "s3tables:GetTableBucket"], bucket.arn),
                   allow(["s3tables:GetTable", "s3tables:GetTableData", "s3tables:PutTableData"], arn))
    name_foreign_file(client(mallory, "s3"), bucket.get("mine")["metadataLocation"], uri, len(body))
    mine = f"`{bucket.name}`.analytics.mine"
    for statement in (f"SELECT * FROM {mine}", f"SELECT count(*) FROM {mine}", f"UPDATE {mine} SET a = a + 1", f"DELETE FROM {mine} WHERE a > 0",
                      f"CALL `{bucket.name}`.system.rewrite_data_files(table => 'analytics.mine', options => map('rewrite-all', 'true'))"):
        with pytest.raises(psycopg.Error, match="names the file"):
            mallory.sql(statement)
    if where != "managed view":
        assert bucket.sql("SELECT * FROM @mine") == [(42,)]                                  # root may read both
    view = f"v{time.monotonic_ns()}"
    with pytest.raises(psycopg.Error, match="names the file|not authorized"):
        mallory.sql(f"SET spark.sql.catalog.s3t.glue.id = '123456789012:s3tablescatalog/{bucket.name}'; CREATE MATERIALIZED VIEW s3t.analytics.{view} AS SELECT a FROM s3t.analytics.mine")


@pytest.mark.parametrize("how", ["location", "write.data.path", "write.metadata.path"])
def test_metadata_that_leads_elsewhere_is_not_followed(server, bucket, how):
    """Who may write a table's objects can overwrite its metadata file: nothing is written, read or vended where that says."""
    bucket.create("victim", ("a", "int"))
    bucket.sql("INSERT INTO @victim VALUES (42)")
    arn, victim = bucket.create("mine", ("a", "int"))["tableARN"], bucket.get("victim")["warehouseLocation"]
    bucket.sql("INSERT INTO @mine VALUES (1)")
    mallory = User(server, allow("s3tables:*", arn), allow(["s3tables:GetTableBucket", "s3tables:GetNamespace"], bucket.arn))
    s3, where = client(mallory, "s3"), bucket.get("mine")["metadataLocation"].removeprefix("s3://").split("/", 1)
    meta = json.loads(s3.get_object(Bucket=where[0], Key=where[1])["Body"].read())
    if how == "location":
        meta["location"] = victim
    else:
        meta.setdefault("properties", {})[how] = victim + "/data"
    s3.put_object(Bucket=where[0], Key=where[1], Body=json.dumps(meta))
    count = lambda: sqlite3.connect(next(server.data.rglob("store.db"))).execute("SELECT count(*) FROM objects WHERE bucket = ?", (victim.removeprefix("s3://"),)).fetchone()
    before, mine = count(), f"`{bucket.name}`.analytics.mine"
    for statement in (f"SELECT * FROM {mine}", f"INSERT INTO {mine} VALUES (2)", f"DELETE FROM {mine}", f"ALTER TABLE {mine} SET TBLPROPERTIES ('a' = 'b')",
                      f"CALL `{bucket.name}`.system.rewrite_data_files(table => 'analytics.mine', options => map('rewrite-all', 'true'))"):
        with pytest.raises(psycopg.Error, match="the metadata of analytics.mine"):
            mallory.sql(statement)
    with pytest.raises(Exception, match="the metadata of analytics.mine"):
        mallory.pyiceberg(bucket.arn).load_table("analytics.mine")
    assert count() == before
    assert bucket.sql("SELECT * FROM @victim") == [(42,)]
