# SPDX-License-Identifier: Apache-2.0
"""The Glue Data Catalog by its API: the same tables as SQL and REST show, materialized views' rules, refresh runs, partitions.

Calls are signed here and sent raw: models of clients drop members that they do not know."""
import json
import threading
import time
import uuid

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
import requests

import conftest
import principals

ACCOUNT = "123456789012"
PARQUET = {"InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
           "SerdeInfo": {"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "Parameters": {}}}


class GlueError(Exception):
    def __init__(self, status, body):
        self.status, self.code, self.message = status, body.get("__type"), body.get("Message", "")
        super().__init__(f"{status} {self.code}: {self.message}")


class Glue:
    """glue.GetTable(DatabaseName=…) -> the answer, or GlueError."""

    def __init__(self, server, person=None):
        self.server, self.person = server, person or principals.root(server)

    def __getattr__(self, op):
        def call(**body):
            r = botocore.awsrequest.AWSRequest("POST", self.server.lake + "/", data=json.dumps(body),
                                               headers={"x-amz-target": "AWSGlue." + op, "content-type": "application/x-amz-json-1.1"})
            botocore.auth.SigV4Auth(botocore.credentials.Credentials(self.person.key, self.person.secret, self.person.token), "glue", "us-east-1").add_auth(r)
            answer = requests.post(r.url, data=r.body, headers=dict(r.headers), timeout=60)
            if answer.status_code != 200:
                raise GlueError(answer.status_code, answer.json())
            return answer.json()
        return call


def refused(code, call, *a, **k):
    with pytest.raises(GlueError) as e:
        call(*a, **k)
    assert e.value.code == code, e.value
    return e.value.message


@pytest.fixture()
def glue(server):
    return Glue(server)


@pytest.fixture(scope="module")
def bucket(server):
    """A table bucket with a namespace: its name and its catalog id."""
    s3t = boto3.client("s3tables", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    name = f"tb-{uuid.uuid4().hex[:12]}"
    arn = s3t.create_table_bucket(name=name)["arn"]
    s3t.create_namespace(tableBucketARN=arn, namespace=["analytics"])
    server.sql(f"""CREATE NAMESPACE glue_catalog.src; CREATE TABLE glue_catalog.src.orders (id INT, customer_name STRING, amount DECIMAL(10,2)) USING iceberg;
        INSERT INTO glue_catalog.src.orders VALUES (1, 'Alice', 100.25), (2, 'Bob', 200.49), (3, 'Alice', 125.00)""")
    return name, f"{ACCOUNT}:s3tablescatalog/{name}"


QUERY = "SELECT customer_name, COUNT(*) AS order_count, SUM(amount) AS total FROM glue_catalog.src.orders GROUP BY customer_name"


@pytest.fixture()
def views(server, bucket):
    """A managed and a regular view in the table bucket."""
    name, catalog = bucket
    tail = uuid.uuid4().hex[:8]
    managed, regular = f"managed_{tail}", f"regular_{tail}"
    server.sql(f"""SET spark.sql.mv.managed.enabled = true; CREATE MANAGED MATERIALIZED VIEW `{name}`.analytics.{managed} AS {QUERY};
        CREATE MATERIALIZED VIEW `{name}`.analytics.{regular} AS {QUERY}""")
    return {"CatalogId": catalog, "DatabaseName": "analytics"}, managed, regular


# ---- catalogs, databases ------------------------------------------------------------------------------------------------------------


def test_catalogs(glue, bucket):
    name, catalog = bucket
    c = glue.GetCatalog(CatalogId=catalog)["Catalog"]
    assert c["Name"] == name and c["ResourceArn"] == f"arn:aws:glue:us-east-1:{ACCOUNT}:catalog/s3tablescatalog/{name}"
    assert c["FederatedCatalog"]["ConnectionName"] == "aws:s3tables"
    assert glue.GetCatalog(CatalogId="s3tablescatalog")["Catalog"]["FederatedCatalog"]["Identifier"].endswith(":bucket/*")
    assert catalog in [x["CatalogId"] for x in glue.GetCatalogs(Recursive=True)["CatalogList"]]
    assert catalog in [x["CatalogId"] for x in glue.GetCatalogs(ParentCatalogId="s3tablescatalog")["CatalogList"]]
    refused("EntityNotFoundException", glue.GetCatalog, CatalogId=f"{ACCOUNT}:s3tablescatalog/nowhere")
    refused("AccessDeniedException", glue.GetDatabases, CatalogId="999999999999")
    fed = {"Identifier": f"arn:aws:s3tables:us-east-1:{ACCOUNT}:bucket/*", "ConnectionName": "aws:s3tables"}
    glue.CreateCatalog(Name="s3tablescatalog", CatalogInput={"FederatedCatalog": fed, "Description": "all"})
    assert glue.GetCatalog(CatalogId="s3tablescatalog")["Catalog"]["Description"] == "all"
    refused("AlreadyExistsException", glue.CreateCatalog, Name="s3tablescatalog", CatalogInput={"FederatedCatalog": fed})
    glue.DeleteCatalog(CatalogId="s3tablescatalog")
    assert catalog in [x["CatalogId"] for x in glue.GetCatalogs(Recursive=True)["CatalogList"]]


def test_databases_of_a_table_bucket(glue, bucket):
    dbs = glue.GetDatabases(CatalogId=bucket[1])["DatabaseList"]
    assert [(d["Name"], d["CatalogId"]) for d in dbs] == [("analytics", bucket[1])]
    assert dbs[0]["FederatedDatabase"]["ConnectionType"] == "aws:s3tables"


def test_database_is_the_namespace(server, glue, ns):
    glue.UpdateDatabase(Name=ns, DatabaseInput={"Name": ns, "Description": "d", "LocationUri": f"s3://warehouse/x{ns}", "Parameters": {"k": "v"}})
    assert dict(server.sql(f"DESCRIBE NAMESPACE glue_catalog.{ns}"))["k"] == "v"
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id INT) USING iceberg")
    assert glue.GetTable(DatabaseName=ns, Name="t")["Table"]["StorageDescriptor"]["Location"] == f"s3://warehouse/x{ns}/t"
    assert glue.GetDatabase(Name=ns.upper())["Database"]["Description"] == "d"
    glue.DeleteDatabase(Name=ns)
    assert refused("EntityNotFoundException", glue.GetDatabase, Name=ns) == f"Database {ns} not found."


# ---- Iceberg tables --------------------------------------------------------------------------------------------------------------------


def test_table_of_sql(server, glue, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id BIGINT NOT NULL COMMENT 'the id', s STRUCT<a: INT, b: ARRAY<STRING>>, d DECIMAL(10,2), ts TIMESTAMP) USING iceberg")
    t = glue.GetTable(DatabaseName=ns, Name="t", AttributesToGet=["LATEST_ICEBERG_METADATA"])["Table"]
    columns = {c["Name"]: c for c in t["StorageDescriptor"]["Columns"]}
    assert {n: c["Type"] for n, c in columns.items()} == {"id": "bigint", "s": "struct<a:int,b:array<string>>", "d": "decimal(10,2)", "ts": "timestamp"}
    assert columns["id"]["Comment"] == "the id"
    assert columns["id"]["Parameters"] == {"iceberg.field.id": "1", "iceberg.field.optional": "false", "iceberg.field.current": "true"}
    assert t["Parameters"]["table_type"] == "ICEBERG" and t["TableType"] == "EXTERNAL_TABLE" and t["VersionId"] == "1"
    assert t["IcebergTableMetadata"]["Schemas"][0]["Fields"][0]["Name"] == "id"
    first = t["Parameters"]["metadata_location"]
    server.sql(f"INSERT INTO glue_catalog.{ns}.t (id) VALUES (1)")
    t = glue.GetTable(DatabaseName=ns, Name="t")["Table"]
    assert t["Parameters"]["previous_metadata_location"] == first and t["VersionId"] == "2"


def commit(glue, s3, ns, table, more):
    """A commit as a Glue client makes it: metadata written beside the old, then the pointer."""
    t = glue.GetTable(DatabaseName=ns, Name=table)["Table"]
    old = t["Parameters"]["metadata_location"]
    b, key = old.removeprefix("s3://").split("/", 1)
    meta = json.loads(s3.get_object(Bucket=b, Key=key)["Body"].read())
    meta["properties"].update(more)
    meta["last-updated-ms"] += 1
    new = old.rsplit("/", 1)[0] + f"/{int(old.rsplit('/', 1)[1][:5]) + 1:05d}-{uuid.uuid4()}.metadata.json"
    b, key = new.removeprefix("s3://").split("/", 1)
    s3.put_object(Bucket=b, Key=key, Body=json.dumps(meta).encode())
    return t, old, new


def test_commit_is_a_swap(server, glue, ns):
    s3 = server.s3()
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id INT) USING iceberg")
    t, old, new = commit(glue, s3, ns, "t", {"k": "1"})
    body = {"Name": "t", "TableType": "EXTERNAL_TABLE", "Description": "mine",
            "Parameters": {"table_type": "ICEBERG", "metadata_location": new, "previous_metadata_location": old}}
    glue.UpdateTable(DatabaseName=ns, TableInput=body, VersionId=t["VersionId"], SkipArchive=True)
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.t"))["k"] == "1"
    shown = glue.GetTable(DatabaseName=ns, Name="t")["Table"]
    assert shown["Description"] == "mine" and shown["Parameters"]["k"] == "1" and shown["VersionId"] == "2"
    _, _, later = commit(glue, s3, ns, "t", {"k": "2"})
    body["Parameters"]["metadata_location"] = later
    refused("ConcurrentModificationException", glue.UpdateTable, DatabaseName=ns, TableInput=body, VersionId="1")
    refused("ConcurrentModificationException", glue.UpdateTable, DatabaseName=ns, TableInput=body)         # previous_metadata_location is old
    refused("InvalidInputException", glue.UpdateTable, DatabaseName=ns, TableInput=body, VersionId="x")
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.t"))["k"] == "1"


def test_commits_do_not_lose_each_other(server, glue, ns):
    s3 = server.s3()
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id INT) USING iceberg")

    def body(old, new):
        return {"Name": "t", "TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "ICEBERG", "metadata_location": new, "previous_metadata_location": old}}

    t, old, new = commit(glue, s3, ns, "t", {"k": "1"})
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1)")               # another door was faster
    for more in ({"VersionId": t["VersionId"]}, {}):
        refused("ConcurrentModificationException", glue.UpdateTable, DatabaseName=ns, TableInput=body(old, new), **more)
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.t") == [(1,)]
    rounds = [commit(glue, s3, ns, "t", {"k": str(i)}) for i in range(8)]    # all from one base
    done = []

    def update(i):
        try:
            glue.UpdateTable(DatabaseName=ns, TableInput=body(*rounds[i][1:]), VersionId=rounds[i][0]["VersionId"])
            done.append(i)
        except GlueError as e:
            assert e.code == "ConcurrentModificationException", e

    threads = [threading.Thread(target=update, args=(i,)) for i in range(8)]
    for x in threads:
        x.start()
    for x in threads:
        x.join()
    assert len(done) == 1
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.t"))["k"] == str(done[0])


def test_pointer_into_another_table_is_refused(server, glue, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.a (id INT) USING iceberg; CREATE TABLE glue_catalog.{ns}.b (id INT) USING iceberg")
    a = glue.GetTable(DatabaseName=ns, Name="a")["Table"]["Parameters"]["metadata_location"]
    body = {"Name": "b", "TableType": "EXTERNAL_TABLE", "Parameters": {"table_type": "ICEBERG", "metadata_location": a}}
    refused("InvalidInputException", glue.UpdateTable, DatabaseName=ns, TableInput=body)
    body["Parameters"]["metadata_location"] = a.rsplit("/", 1)[0] + "/none.metadata.json"
    with pytest.raises(GlueError):
        glue.UpdateTable(DatabaseName=ns, TableInput=body)


def test_open_table_format(server, glue, ns):
    schema = {"SchemaId": 0, "Type": "struct", "Fields": [{"Id": 1, "Name": "id", "Type": "long", "Required": True},
              {"Id": 2, "Name": "day", "Type": "date", "Required": False, "Doc": "when"}]}
    create = {"Location": f"s3://warehouse/otf/{ns}", "Schema": schema, "Properties": {"p": "q"},
              "PartitionSpec": {"SpecId": 0, "Fields": [{"SourceId": 2, "FieldId": 1000, "Transform": "month", "Name": "day_month"}]}}
    server.sql(f"CREATE TABLE glue_catalog.{ns}.makes_the_bucket (id INT) USING iceberg")
    glue.CreateTable(DatabaseName=ns, Name="t", OpenTableFormatInput={"IcebergInput": {"MetadataOperation": "CREATE", "Version": "2", "CreateIcebergTableInput": create}})
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (1, DATE '2026-11-30')")
    assert len(server.sql(f"SELECT * FROM glue_catalog.{ns}.t")) == 1
    t = glue.GetTable(DatabaseName=ns, Name="t", AttributesToGet=["LATEST_ICEBERG_METADATA"])["Table"]
    assert t["IcebergTableMetadata"]["PartitionSpecs"][0]["Fields"][0]["Transform"] == "month"
    update = {"Updates": [{"Action": "set-properties", "Schema": schema, "Location": create["Location"], "Properties": {"p": "r"}}]}
    glue.UpdateTable(DatabaseName=ns, Name="t", UpdateOpenTableFormatInput={"UpdateIcebergInput": {"UpdateIcebergTableInput": update}})
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.t"))["p"] == "r"


def test_table_bucket_reserves_a_place(server, glue, bucket):
    catalog = {"CatalogId": bucket[1], "DatabaseName": "analytics"}
    refused("InvalidInputException", glue.CreateTable, **catalog, TableInput={"Name": "hive", "StorageDescriptor": PARQUET})
    glue.CreateTable(**catalog, TableInput={"Name": "bare", "Parameters": {"format": "ICEBERG"}})
    t = glue.GetTable(**catalog, Name="bare")["Table"]
    assert t["StorageDescriptor"]["Location"].endswith("--table-s3") and t["TableType"] == "customer" and "metadata_location" not in t["Parameters"]
    refused("FederationSourceException", glue.UpdateTable, **catalog, TableInput={"Name": "bare"})
    glue.DeleteTable(**catalog, Name="bare")
    refused("EntityNotFoundException", glue.GetTable, **catalog, Name="bare")


def test_versions(server, glue, ns):
    def body(*names):
        return {"Name": "t", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": dict(PARQUET, Columns=[{"Name": n, "Type": "int"} for n in names], Location="s3://b/t")}
    glue.CreateTable(DatabaseName=ns, TableInput=body("a"))
    glue.UpdateTable(DatabaseName=ns, TableInput=body("a", "b"), VersionId="1")
    refused("ConcurrentModificationException", glue.UpdateTable, DatabaseName=ns, TableInput=body("c"), VersionId="1")
    versions = glue.GetTableVersions(DatabaseName=ns, TableName="t")["TableVersions"]
    assert [len(v["Table"]["StorageDescriptor"]["Columns"]) for v in versions] == [1, 2]
    refused("InvalidInputException", glue.DeleteTableVersion, DatabaseName=ns, TableName="t", VersionId="2")
    glue.DeleteTableVersion(DatabaseName=ns, TableName="t", VersionId="1")
    refused("EntityNotFoundException", glue.GetTableVersion, DatabaseName=ns, TableName="t", VersionId="1")


def test_pages_and_patterns(glue, ns):
    names = [f"table_{i}" for i in range(7)] + ["other.x"]
    for n in names:
        glue.CreateTable(DatabaseName=ns, TableInput={"Name": n, "TableType": "EXTERNAL_TABLE"})
    seen, token = [], {}
    while True:
        page = glue.GetTables(DatabaseName=ns, MaxResults=3, Expression="table_[0-6]", **token)
        seen += [t["Name"] for t in page["TableList"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert seen == names[:7]
    refused("InvalidInputException", glue.GetTables, DatabaseName=ns, MaxResults=3, **token)               # a token of another call
    assert [t["Name"] for t in glue.GetTables(DatabaseName=ns, Expression="(table_1|table_2|o*)")["TableList"]] == ["other.x", "table_1", "table_2"]
    for bad in ("(", "[a", "a{1001}", "((((a{50}){50}){50}){50})", "a{2,1}", "\\"):
        refused("InvalidInputException", glue.GetTables, DatabaseName=ns, Expression=bad)
    began = time.monotonic()
    glue.GetTables(DatabaseName=ns, Expression="(a*)*" * 20 + "(t|ta|tab)*" * 20)
    assert time.monotonic() - began < 5
    assert sorted(t["Name"] for t in glue.SearchTables(SearchText="table_3")["TableList"]) == ["table_3"]


# ---- materialized views -----------------------------------------------------------------------------------------------------------------


def test_view_definition(glue, views):
    at, managed, regular = views
    t = glue.GetTable(**at, Name=managed, IncludeStatusDetails=True)["Table"]
    v = t["ViewDefinition"]
    assert t["IsMaterializedView"] is True and v["IsManaged"] is True and v["IsProtected"] is True
    assert v["Definer"] == f"arn:aws:iam::{ACCOUNT}:root" and v["ViewVersionToken"] == t["VersionId"]
    assert v["SubObjects"] == [f"arn:aws:glue:us-east-1:{ACCOUNT}:table/src/orders"] and len(v["SubObjectVersionIds"]) == 1
    assert v["SubObjectsStatistics"] == [{"SourceType": "ICEBERG"}] and v["LastRefreshType"] == "FULL"
    assert v["Representations"][0]["ViewOriginalText"] == QUERY and v["Representations"][0]["IsStale"] is False
    assert t["Status"]["Action"] == "CREATE" and t["Status"]["State"] == "SUCCESS" and t["Status"]["RequestTime"] <= t["Status"]["UpdateTime"]
    assert [c["Name"] for c in t["StorageDescriptor"]["Columns"]] == ["customer_name", "order_count", "total"]
    assert "Status" not in glue.GetTable(**at, Name=managed)["Table"]
    r = glue.GetTable(**at, Name=regular, IncludeStatusDetails=True)["Table"]
    assert r["ViewDefinition"]["IsManaged"] is False and r["ViewDefinition"]["IsProtected"] is True and "Status" not in r


def as_input(table, **changes):
    keep = ("Name", "Owner", "Retention", "StorageDescriptor", "PartitionKeys", "Parameters", "ViewDefinition")
    body = {k: table[k] for k in keep if k in table} | {"TableType": "EXTERNAL_TABLE"} | changes
    for rep in (body["ViewDefinition"] or {}).get("Representations", []):
        rep.pop("IsStale", None)
    return {k: v for k, v in body.items() if v is not None}


def test_update_rules(server, glue, views, bucket):
    at, managed, regular = views
    t = glue.GetTable(**at, Name=managed)["Table"]
    version = {"VersionId": t["VersionId"], "ViewUpdateAction": "REPLACE"}
    before = server.sql(f"SELECT * FROM `{bucket[0]}`.analytics.{managed} ORDER BY 1")
    unmanaged = as_input(t, ViewDefinition=dict(t["ViewDefinition"], IsManaged=False))
    for code, text, call in [
        ("FederationSourceException", "versionToken is null", dict(TableInput=unmanaged, ViewUpdateAction="REPLACE")),
        ("InvalidInputException", "Materialized views must have table type EXTERNAL_TABLE.", dict(version, TableInput=dict(unmanaged, TableType="customer"))),
        ("InvalidInputException", "View update action must be one of: [ADD, REPLACE, ADD_OR_REPLACE, DROP]", dict(VersionId=t["VersionId"], TableInput=unmanaged)),
        ("InvalidInputException", "Cannot modify ViewDefinition.IsManaged on a system-managed materialized view. This field is immutable after creation.",
         dict(version, TableInput=unmanaged)),
        ("InvalidInputException", "Cannot modify ViewDefinition on a system-managed materialized view. This field is immutable after creation.",
         dict(version, TableInput=as_input(t, ViewDefinition=None, Description="x"))),
    ]:
        assert refused(code, glue.UpdateTable, **at, **call).startswith(text)
    assert f"analytics.{managed}" in refused("InvalidInputException", glue.UpdateTable, **at, **version, TableInput=unmanaged)
    for name in (managed, regular):
        t = glue.GetTable(**at, Name=name)["Table"]
        other = json.loads(json.dumps(t["ViewDefinition"]))
        other["Representations"][0]["ViewOriginalText"] = QUERY.replace("SUM(amount)", "SUM(amount)*2")
        text = refused("InvalidInputException", glue.UpdateTable, **at, VersionId=t["VersionId"], ViewUpdateAction="REPLACE", TableInput=as_input(t, ViewDefinition=other))
        assert text == "Update of ViewOriginalText for Materialized View is not available."
        refused("ConcurrentModificationException", glue.UpdateTable, **at, VersionId="0" * 20, ViewUpdateAction="REPLACE", TableInput=as_input(t))
    t = glue.GetTable(**at, Name=managed)["Table"]
    for change in (dict(Parameters=dict(t["Parameters"], metadata_location=t["Parameters"]["metadata_location"].replace("00000-", "00001-"))),
                   dict(StorageDescriptor=dict(t["StorageDescriptor"], Location="s3://warehouse/elsewhere")),
                   dict(StorageDescriptor=dict(t["StorageDescriptor"], Columns=t["StorageDescriptor"]["Columns"][:2])),
                   dict(ViewDefinition=dict(t["ViewDefinition"], Definer=f"arn:aws:iam::{ACCOUNT}:role/mallory")),
                   dict(ViewDefinition=dict(t["ViewDefinition"], SubObjects=[f"arn:aws:glue:us-east-1:{ACCOUNT}:table/src/other"]))):
        text = refused("InvalidInputException", glue.UpdateTable, **at, **version, TableInput=as_input(t, **change))
        assert "system-managed materialized view" in text and f"analytics.{managed}" in text
    assert glue.GetTable(**at, Name=managed)["Table"]["VersionId"] == version["VersionId"]
    assert server.sql(f"SELECT * FROM `{bucket[0]}`.analytics.{managed} ORDER BY 1") == before


def test_descriptions_are_kept(glue, views):
    at, managed, regular = views
    for name in (managed, regular):
        t = glue.GetTable(**at, Name=name)["Table"]
        glue.UpdateTable(**at, VersionId=t["VersionId"], ViewUpdateAction="REPLACE",
                         TableInput=as_input(t, Description="kept", Parameters=dict(t["Parameters"], note="mine")))
        after = glue.GetTable(**at, Name=name)["Table"]
        assert after["Description"] == "kept" and after["Parameters"]["note"] == "mine" and after["ViewDefinition"]["ViewVersionToken"] == after["VersionId"]
    t = glue.GetTable(**at, Name=regular)["Table"]
    glue.UpdateTable(**at, VersionId=t["VersionId"], TableInput=as_input(t, ViewDefinition=None, Description="again"))      # no ViewDefinition: it stays
    after = glue.GetTable(**at, Name=regular)["Table"]
    assert after["Description"] == "again" and after["ViewDefinition"]["Representations"] and after["Parameters"]["note"] == "mine"
    seconds = dict(t["ViewDefinition"], RefreshSeconds=3600)
    glue.UpdateTable(**at, VersionId=after["VersionId"], ViewUpdateAction="REPLACE", TableInput=as_input(after, ViewDefinition=seconds))
    assert glue.GetTable(**at, Name=regular)["Table"]["ViewDefinition"]["RefreshSeconds"] == 3600
    refused("InvalidInputException", glue.UpdateTable, **at, VersionId=after["VersionId"], ViewUpdateAction="REPLACE",
            TableInput=as_input(after, ViewDefinition=dict(seconds, RefreshSeconds=5)))


def test_write_through_the_catalog_keeps_the_token(server, glue, views, bucket):
    at, managed, regular = views
    server.sql(f"INSERT INTO `{bucket[0]}`.analytics.{regular} VALUES ('Mallory', 1, 1.00)")
    t = glue.GetTable(**at, Name=regular)["Table"]
    assert t["ViewDefinition"]["ViewVersionToken"] == t["VersionId"] and "integrity" not in t["Parameters"]


def test_broken_integrity_is_shown(server, glue, views, bucket):
    at, _, regular = views
    s3t = principals.root(server).client("s3tables")
    server.sql(f"INSERT INTO `{bucket[0]}`.analytics.{regular} VALUES ('Mallory', 1, 1.00)")
    arn = f"arn:aws:s3tables:us-east-1:{ACCOUNT}:bucket/{bucket[0]}"
    name = {"tableBucketARN": arn, "namespace": "analytics", "name": regular}
    before = glue.GetTable(**at, Name=regular)["Table"]
    token = s3t.get_table_metadata_location(**name)["versionToken"]
    s3t.update_table_metadata_location(**name, versionToken=token, metadataLocation=before["Parameters"]["previous_metadata_location"])
    t = glue.GetTable(**at, Name=regular)["Table"]
    assert t["ViewDefinition"]["ViewVersionToken"] == before["VersionId"] != t["VersionId"] and t["Parameters"]["integrity"] == "BROKEN"
    run = glue.StartMaterializedViewRefreshTaskRun(**at, TableName=regular, FullRefresh=True)["MaterializedViewRefreshTaskRunId"]
    assert wait_for(glue, at["CatalogId"], run)["Status"] == "SUCCEEDED"
    t = glue.GetTable(**at, Name=regular)["Table"]
    assert t["ViewDefinition"]["ViewVersionToken"] == t["VersionId"] and "integrity" not in t["Parameters"]


def test_aws_compat_keeps_no_description(tmp_path):
    server = conftest.Server(tmp_path / "data", ["aws_compat=on"])
    try:
        glue = Glue(server)
        server.sql(f"CREATE NAMESPACE glue_catalog.src; CREATE TABLE glue_catalog.src.orders (id INT, customer_name STRING, amount DECIMAL(10,2)) USING iceberg; "
                   f"CREATE MATERIALIZED VIEW glue_catalog.src.v AS {QUERY}")
        t = glue.GetTable(DatabaseName="src", Name="v")["Table"]
        glue.UpdateTable(DatabaseName="src", ViewUpdateAction="REPLACE", TableInput=as_input(t, Description="lost"))
        glue.UpdateTable(DatabaseName="src", TableInput=as_input(t, ViewDefinition=None, Description="lost"))
        assert "Description" not in glue.GetTable(DatabaseName="src", Name="v")["Table"]
    finally:
        server.stop()


def wait_for(glue, catalog, run):
    for _ in range(300):
        r = glue.GetMaterializedViewRefreshTaskRun(CatalogId=catalog, MaterializedViewRefreshTaskRunId=run)["MaterializedViewRefreshTaskRun"]
        if r["Status"] not in ("STARTING", "RUNNING"):
            return r
        time.sleep(0.05)
    raise AssertionError(r)


def test_refresh_runs(server, glue, views, bucket):
    at, managed, _ = views
    who = dict(at, TableName=managed)
    refused("MaterializedViewRefreshTaskNotRunningException", glue.StopMaterializedViewRefreshTaskRun, **who)
    server.sql("INSERT INTO glue_catalog.src.orders VALUES (9, 'Carol', 50.00)")
    assert glue.GetTable(**at, Name=managed)["Table"]["ViewDefinition"]["Representations"][0]["IsStale"] is True
    first = glue.StartMaterializedViewRefreshTaskRun(**who)["MaterializedViewRefreshTaskRunId"]
    r = wait_for(glue, at["CatalogId"], first)
    assert r["Status"] == "SUCCEEDED" and r["RefreshType"] == "INCREMENTAL" and r["ProcessedBytes"] > 0, r
    assert r["CreationTime"] <= r["StartTime"] <= r["EndTime"] <= r["LastUpdated"] and r["CustomerId"] == ACCOUNT
    assert r["Role"] == f"arn:aws:iam::{ACCOUNT}:root" and r["DPUSeconds"] >= 0
    second = wait_for(glue, at["CatalogId"], glue.StartMaterializedViewRefreshTaskRun(**who, FullRefresh=True)["MaterializedViewRefreshTaskRunId"])
    assert second["RefreshType"] == "FULL"
    runs = glue.ListMaterializedViewRefreshTaskRuns(**who)["MaterializedViewRefreshTaskRuns"]
    assert [x["MaterializedViewRefreshTaskRunId"] for x in runs[:2]] == [second["MaterializedViewRefreshTaskRunId"], first]
    assert ("Carol", 1) in [(x[0], x[1]) for x in server.sql(f"SELECT * FROM `{bucket[0]}`.analytics.{managed}")]
    refused("EntityNotFoundException", glue.GetMaterializedViewRefreshTaskRun, CatalogId=at["CatalogId"], MaterializedViewRefreshTaskRunId=str(uuid.uuid4()))
    refused("EntityNotFoundException", glue.StartMaterializedViewRefreshTaskRun, **dict(who, TableName="nothing"))
    refused("InvalidInputException", glue.StartMaterializedViewRefreshTaskRun, CatalogId=ACCOUNT, DatabaseName="src", TableName="orders")


def test_a_run_is_stopped(server, glue, ns):
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.big (id BIGINT) USING iceberg; INSERT INTO glue_catalog.{ns}.big SELECT id FROM range(3000);
        CREATE MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT COUNT(*) AS n FROM glue_catalog.{ns}.big a JOIN glue_catalog.{ns}.big b ON a.id <> b.id;
        INSERT INTO glue_catalog.{ns}.big SELECT id FROM range(60000)""")
    who = {"CatalogId": ACCOUNT, "DatabaseName": ns, "TableName": "v"}
    run = glue.StartMaterializedViewRefreshTaskRun(**who, FullRefresh=True)["MaterializedViewRefreshTaskRunId"]
    refused("MaterializedViewRefreshTaskRunningException", glue.StartMaterializedViewRefreshTaskRun, **who)
    glue.StopMaterializedViewRefreshTaskRun(**who)
    assert wait_for(glue, ACCOUNT, run)["Status"] == "STOPPED"
    assert server.sql(f"SELECT n FROM glue_catalog.{ns}.v") == [(3000 * 2999,)]
    refused("MaterializedViewRefreshTaskNotRunningException", glue.StopMaterializedViewRefreshTaskRun, **who)


def test_views_are_dropped(server, glue, views, bucket):
    at, managed, regular = views
    where = glue.GetTable(**at, Name=managed)["Table"]["StorageDescriptor"]["Location"].removeprefix("s3://")
    glue.DeleteTable(**at, Name=managed)
    assert glue.BatchDeleteTable(**at, TablesToDelete=[regular, "nothing"])["Errors"][0]["TableName"] == "nothing"
    assert where not in [b["Name"] for b in server.s3().list_buckets()["Buckets"]]
    with pytest.raises(Exception):
        server.sql(f"SELECT * FROM `{bucket[0]}`.analytics.{managed}")


# ---- partitions ----------------------------------------------------------------------------------------------------------------------------


@pytest.fixture()
def partitioned(glue, ns):
    keys = [{"Name": "year", "Type": "int"}, {"Name": "region", "Type": "string"}]
    glue.CreateTable(DatabaseName=ns, TableInput={"Name": "p", "TableType": "EXTERNAL_TABLE", "PartitionKeys": keys, "StorageDescriptor": dict(PARQUET, Location="s3://b/p")})
    parts = [{"Values": [str(y), r]} for y in (2024, 2025, 2026) for r in ("eu", "us", "a/b", "it's")]
    assert "Errors" not in glue.BatchCreatePartition(DatabaseName=ns, TableName="p", PartitionInputList=parts)
    return {"DatabaseName": ns, "TableName": "p"}


@pytest.mark.parametrize("expression, n", [
    ("year = 2025", 4), ("year > 2024 AND region = 'eu'", 2), ("year IN (2024, 2026) and region like '%s%'", 4), ("region = 'it''s' or year = 2024", 6),
    ("NOT (year = 2024 OR year = 2025)", 4), ("year BETWEEN 2024 AND 2025", 8), ("year not between 2024 and 2025", 4), ("region IS NOT NULL", 12), ("", 12),
    ("((year)) = ((2025)) AND ((region) = 'eu')", 1),
])
def test_partition_expressions(glue, partitioned, expression, n):
    assert len(glue.GetPartitions(**partitioned, Expression=expression)["Partitions"]) == n


@pytest.mark.parametrize("expression", [
    "nothing = 1", "year = 'x'", "year LIKE '2'", "year =", "year", "(year = 2024", "year = 2024)", "year = 2024 year", "'a' = 'a'", "year IN ()",
    "region = 'open", "(" * 900 + "year = 1" + ")" * 900, "NOT " * 400 + "year = 1", "year BETWEEN 1", "region IS", "region NOT IS NULL",
])
def test_bad_partition_expressions(glue, partitioned, expression):
    refused("InvalidInputException", glue.GetPartitions, **partitioned, Expression=expression)


def test_partitions_page_and_segment(glue, partitioned):
    seen, token = [], {}
    while True:
        page = glue.GetPartitions(**partitioned, MaxResults=5, **token)
        seen += [tuple(p["Values"]) for p in page["Partitions"]]
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert len(seen) == len(set(seen)) == 12
    parts = [glue.GetPartitions(**partitioned, Segment={"SegmentNumber": i, "TotalSegments": 3})["Partitions"] for i in range(3)]
    assert sorted(tuple(p["Values"]) for s in parts for p in s) == sorted(seen)
    refused("InvalidInputException", glue.GetPartitions, **partitioned, Segment={"SegmentNumber": 3, "TotalSegments": 3})
    glue.DeletePartition(**partitioned, PartitionValues=["2024", "a/b"])
    refused("EntityNotFoundException", glue.GetPartition, **partitioned, PartitionValues=["2024", "a/b"])
    refused("InvalidInputException", glue.CreatePartition, **partitioned, PartitionInput={"Values": ["2024"]})


def test_partition_indexes_and_statistics(glue, partitioned):
    glue.CreatePartitionIndex(**partitioned, PartitionIndex={"IndexName": "by_year", "Keys": ["year"]})
    assert glue.GetPartitionIndexes(**partitioned)["PartitionIndexDescriptorList"][0]["Keys"] == [{"Name": "year", "Type": "int"}]
    refused("InvalidInputException", glue.CreatePartitionIndex, **partitioned, PartitionIndex={"IndexName": "bad", "Keys": ["nothing"]})
    glue.DeletePartitionIndex(**partitioned, IndexName="by_year")
    one = {"ColumnName": "year", "ColumnType": "int", "AnalyzedTime": 1700000000, "StatisticsData": {"Type": "LONG", "LongColumnStatisticsData": {
           "MinimumValue": 1, "MaximumValue": 2, "NumberOfNulls": 0, "NumberOfDistinctValues": 2}}}
    glue.UpdateColumnStatisticsForTable(**partitioned, ColumnStatisticsList=[one])
    glue.UpdateColumnStatisticsForPartition(**partitioned, PartitionValues=["2024", "eu"], ColumnStatisticsList=[dict(one, ColumnType="bigint")])
    got = glue.GetColumnStatisticsForTable(**partitioned, ColumnNames=["year", "other"])
    assert got["ColumnStatisticsList"][0]["ColumnType"] == "int" and got["Errors"][0]["ColumnName"] == "other"
    assert glue.GetColumnStatisticsForPartition(**partitioned, PartitionValues=["2024", "eu"], ColumnNames=["year"])["ColumnStatisticsList"][0]["ColumnType"] == "bigint"
    glue.DeleteColumnStatisticsForTable(**partitioned, ColumnName="year")
    refused("EntityNotFoundException", glue.DeleteColumnStatisticsForTable, **partitioned, ColumnName="year")


def test_functions_and_tags(glue, ns):
    f = {"FunctionName": "F1", "ClassName": "x.Y", "OwnerName": "me", "OwnerType": "USER", "ResourceUris": [{"ResourceType": "JAR", "Uri": "s3://b/j"}]}
    glue.CreateUserDefinedFunction(DatabaseName=ns, FunctionInput=f)
    refused("AlreadyExistsException", glue.CreateUserDefinedFunction, DatabaseName=ns, FunctionInput=f)
    assert [x["FunctionName"] for x in glue.GetUserDefinedFunctions(DatabaseName=ns, Pattern="f*")["UserDefinedFunctions"]] == ["f1"]
    glue.DeleteUserDefinedFunction(DatabaseName=ns, FunctionName="f1")
    refused("EntityNotFoundException", glue.GetUserDefinedFunction, DatabaseName=ns, FunctionName="f1")
    arn = f"arn:aws:glue:us-east-1:{ACCOUNT}:database/{ns}"
    glue.TagResource(ResourceArn=arn, TagsToAdd={"a": "1", "b": "2"})
    glue.UntagResource(ResourceArn=arn, TagsToRemove=["a"])
    assert glue.GetTags(ResourceArn=arn)["Tags"] == {"b": "2"}
    refused("InvalidInputException", glue.GetTags, ResourceArn="x")


# ---- bad input -------------------------------------------------------------------------------------------------------------------------------


def test_bad_input(glue, ns):
    for code, op, body in [
        ("InvalidInputException", "GetTable", {"DatabaseName": ns}),
        ("InvalidInputException", "GetTable", {"DatabaseName": ns, "Name": "n" * 256}),
        ("InvalidInputException", "CreateTable", {"DatabaseName": ns}),
        ("InvalidInputException", "CreateTable", {"DatabaseName": ns, "TableInput": {"Name": "a\u0001b"}}),
        ("EntityNotFoundException", "CreateTable", {"DatabaseName": "nowhere", "TableInput": {"Name": "t"}}),
        ("InvalidInputException", "CreateTable", {"DatabaseName": ns, "TableInput": {"Name": "t", "Parameters": {"table_type": "ICEBERG", "metadata_location": "s3://warehouse/x"}}}),
        ("SerializationException", "CreateTable", {"DatabaseName": ns, "TableInput": {"Name": 5}}),
        ("SerializationException", "CreateTable", {"DatabaseName": ns, "TableInput": []}),
        ("UnsupportedOperationException", "CreateCrawler", {}),
        ("UnknownOperationException", "Nothing", {}),
    ]:
        refused(code, getattr(glue, op), **body)


# ---- tables that are not Iceberg, in SQL --------------------------------------------------------------------------------------------------------

TEXT = {"InputFormat": "org.apache.hadoop.mapred.TextInputFormat"}


def serde(library, **parameters):
    return dict(TEXT, SerdeInfo={"SerializationLibrary": library, "Parameters": parameters})


def columns(text):
    return [dict(zip(("Name", "Type"), c.split(":", 1))) for c in text.split(" ")]


def parquet(rows):
    import io

    import pyarrow
    import pyarrow.parquet
    b = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), b)
    return b.getvalue()


@pytest.fixture()
def files(server, ns):
    """put(key, bytes) below a bucket of one's own."""
    s3, b = server.s3(), f"files-{ns}"
    s3.create_bucket(Bucket=b)

    def put(key, body):
        s3.put_object(Bucket=b, Key=key, Body=body if isinstance(body, bytes) else body.encode())
        return f"s3://{b}/"
    put.bucket = b
    put.s3 = s3
    return put


def external(glue, ns, name, location, sd, cols, keys=None, **more):
    table = {"Name": name, "TableType": "EXTERNAL_TABLE", "StorageDescriptor": dict(sd, Columns=columns(cols), Location=location), **more}
    if keys:
        table["PartitionKeys"] = columns(keys)
    glue.CreateTable(DatabaseName=ns, TableInput=table)


def test_parquet_table(server, glue, ns, files):
    at = files("t/a.parquet", parquet([{"Id": 1, "name": "x"}, {"Id": 2, "name": None}]))
    files("t/b.parquet", parquet([{"Id": 3, "extra": 1.5}]))
    files("t/_SUCCESS", "")
    external(glue, ns, "t", at + "t/", PARQUET, "id:bigint name:string missing:int")
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.t ORDER BY id") == [(1, "x", None), (2, None, None), (3, None, None)]
    assert server.sql(f"SELECT COUNT(*), SUM(id) FROM glue_catalog.{ns}.t WHERE id > 1") == [(2, 5)]
    assert (ns, "t", False) in server.sql(f"SHOW TABLES IN glue_catalog.{ns}")
    assert [r[:2] for r in server.sql(f"DESCRIBE glue_catalog.{ns}.t")] == [("id", "bigint"), ("name", "string"), ("missing", "int")]
    assert server.sql(f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{ns}' AND table_name = 't' ORDER BY ordinal_position", "materialize") == [("id",), ("name",), ("missing",)]
    for statement in (f"INSERT INTO glue_catalog.{ns}.t VALUES (1, 'x', 1)", f"DELETE FROM glue_catalog.{ns}.t", f"ALTER TABLE glue_catalog.{ns}.t ADD COLUMNS (z INT)",
                      f"SELECT * FROM glue_catalog.{ns}.t.snapshots"):
        with pytest.raises(Exception, match="not an Iceberg table"):
            server.sql(statement)
    server.sql(f"DROP TABLE glue_catalog.{ns}.t")
    assert files.s3.list_objects_v2(Bucket=files.bucket)["KeyCount"] == 3


def test_text_tables(server, glue, ns, files):
    at = files("lazy/a.txt", "1|x|2026-01-02\n2|\\N|bad\n3|\"q\"\n")
    external(glue, ns, "lazy", at + "lazy", serde("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", **{"field.delim": "|"}), "a:int b:string c:date")
    assert server.sql(f"SELECT a, b, CAST(c AS STRING) FROM glue_catalog.{ns}.lazy ORDER BY a") == [(1, "x", "2026-01-02"), (2, None, None), (3, '"q"', None)]
    files("csv/a.csv", 'h1,h2\n1,"a,b"\n2,"say ""hi"""\n')
    external(glue, ns, "csv", at + "csv", serde("org.apache.hadoop.hive.serde2.OpenCSVSerde", escapeChar='"'), "a:int b:string", Parameters={"skip.header.line.count": "1"})
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.csv ORDER BY a") == [(1, "a,b"), (2, 'say "hi"')]
    import gzip
    files("json/a.json.gz", gzip.compress(b'{"A": 1, "tags": ["x", "y"], "s": {"k": 2}}\n{"A": 2, "other": true}\n'))
    external(glue, ns, "json", at + "json", serde("org.openx.data.jsonserde.JsonSerDe"), "a:int tags:array<string> s:struct<k:bigint>")
    assert server.sql(f"SELECT a, size(tags), s.k FROM glue_catalog.{ns}.json ORDER BY a")[0] == (1, 2, 2)


def test_partitions_by_registry_and_by_path(server, glue, ns, files):
    at = files("p/year=2025/region=eu/a.parquet", parquet([{"v": 1}]))
    files("p/year=2026/region=a%20b/a.parquet", parquet([{"v": 2}, {"v": 3}]))
    files("elsewhere/a.parquet", parquet([{"v": 10}]))
    external(glue, ns, "p", at + "p", PARQUET, "v:bigint", "year:int region:string")
    rows = f"SELECT year, region, SUM(v) FROM glue_catalog.{ns}.p GROUP BY year, region ORDER BY year"
    assert server.sql(rows) == [(2025, "eu", 1), (2026, "a b", 5)]
    glue.CreatePartition(DatabaseName=ns, TableName="p", PartitionInput={"Values": ["2030", "x'y"], "StorageDescriptor": {"Location": at + "elsewhere"}})
    glue.CreatePartition(DatabaseName=ns, TableName="p", PartitionInput={"Values": ["2025", "eu"]})
    assert server.sql(rows) == [(2025, "eu", 1), (2030, "x'y", 10)]
    assert server.sql(f"SELECT v FROM glue_catalog.{ns}.p WHERE year = 2030") == [(10,)]
    for where, rows in (("year = 2030", [(10,)]), ("year > 2025 AND region = 'x''y'", [(10,)]), ("region IN ('eu', 'us')", [(1,)]), ("year < 2000", []), ("region = 'eu' AND v = 1", [(1,)])):
        assert server.sql(f"SELECT v FROM glue_catalog.{ns}.p WHERE {where}") == rows, where
    plan = "\n".join(r[0] for r in server.sql(f"EXPLAIN SELECT v FROM glue_catalog.{ns}.p WHERE year = 2030"))
    assert "1 file(s) skipped" in plan, plan
    external(glue, ns, "empty", at + "nothing/", PARQUET, "v:bigint", "k:string")
    assert server.sql(f"SELECT COUNT(*) FROM glue_catalog.{ns}.empty") == [(0,)]


@pytest.mark.parametrize("reason, sd, more", [
    ("ORC", {"InputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"}, {}),
    ("Avro", {"InputFormat": "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"}, {}),
    ("Hudi", {"InputFormat": "org.apache.hudi.hadoop.HoodieParquetInputFormat"}, {}),
    ("Delta", {}, {"Parameters": {"spark.sql.sources.provider": "delta"}}),
    ("RegexSerDe", serde("org.apache.hadoop.hive.serde2.RegexSerDe"), {}),
    ("format", {}, {}),
    ("is not a type", dict(PARQUET, broken=1), {}),
])
def test_other_formats_are_refused(server, glue, ns, reason, sd, more):
    external(glue, ns, "t", "s3://warehouse/none", sd, "a:int" if "broken" not in sd else "a:nonsense<int", **more)
    with pytest.raises(Exception, match=reason):
        server.sql(f"SELECT * FROM glue_catalog.{ns}.t")


def test_glue_views(server, glue, ns):
    import base64
    server.sql(f"CREATE TABLE glue_catalog.{ns}.o (id INT) USING iceberg; INSERT INTO glue_catalog.{ns}.o VALUES (1), (2)")
    rep = {"Dialect": "SPARK", "DialectVersion": "3.5", "ViewOriginalText": "SELECT id + 1 AS n FROM o", "ViewExpandedText": f"SELECT id + 1 AS n FROM glue_catalog.{ns}.o"}
    glue.CreateTable(DatabaseName=ns, TableInput={"Name": "v", "TableType": "VIRTUAL_VIEW", "ViewDefinition": {"Representations": [rep]}})
    assert server.sql(f"SELECT SUM(n) FROM glue_catalog.{ns}.v") == [(5,)]
    t = glue.GetTable(DatabaseName=ns, Name="v")["Table"]
    assert t["IsMultiDialectView"] is True
    athena = dict(rep, Dialect="ATHENA", DialectVersion="3")
    body = {"Name": "v", "TableType": "VIRTUAL_VIEW", "ViewDefinition": {"Representations": [athena]}}
    refused("InvalidInputException", glue.UpdateTable, DatabaseName=ns, TableInput=body)
    refused("InvalidInputException", glue.UpdateTable, DatabaseName=ns, TableInput=body, ViewUpdateAction="REPLACE")
    glue.UpdateTable(DatabaseName=ns, TableInput=body, ViewUpdateAction="ADD")
    assert [r["Dialect"] for r in glue.GetTable(DatabaseName=ns, Name="v")["Table"]["ViewDefinition"]["Representations"]] == ["SPARK", "ATHENA"]
    presto = base64.b64encode(json.dumps({"originalSql": "SELECT max(id) AS m FROM o", "catalog": "awsdatacatalog", "schema": ns}).encode()).decode()
    glue.CreateTable(DatabaseName=ns, TableInput={"Name": "pv", "TableType": "VIRTUAL_VIEW", "ViewOriginalText": f"/* Presto View: {presto} */"})
    assert server.sql(f"SELECT m FROM glue_catalog.{ns}.pv") == [(2,)]


def test_view_over_files(server, glue, ns, files):
    at = files("o/a.parquet", parquet([{"k": "x", "v": 1}, {"k": "y", "v": 2}]))
    external(glue, ns, "o", at + "o", PARQUET, "k:string v:bigint")
    server.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT k, SUM(v) AS total FROM glue_catalog.{ns}.o GROUP BY k; REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m")
    definition = glue.GetTable(DatabaseName=ns, Name="m")["Table"]["ViewDefinition"]
    assert definition["SubObjectsStatistics"] == [{"SourceType": "HIVE_PARQUET"}] and definition["Representations"][0]["IsStale"] is False
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.m ORDER BY k") == [("x", 1), ("y", 2)]
    files("o/b.parquet", parquet([{"k": "x", "v": 10}]))
    assert glue.GetTable(DatabaseName=ns, Name="m")["Table"]["ViewDefinition"]["Representations"][0]["IsStale"] is True
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m")
    props = dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.m"))
    assert props["lastRefreshType"] == "FULL" and "not an Iceberg table" in props["lastRefreshReason"], props
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.m ORDER BY k") == [("x", 11), ("y", 2)]
    server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m")
    assert dict(server.sql(f"SHOW TBLPROPERTIES glue_catalog.{ns}.m"))["lastRefreshType"] == "NONE"


# ---- who may ------------------------------------------------------------------------------------------------------------------------------------


def allow(*actions, resource="*"):
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource}


def somebody(server, *statements):
    return Glue(server, principals.role(server, {"Version": "2012-10-17", "Statement": list(statements)}))


def test_rights_are_asked_before_names(server, glue, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (id INT) USING iceberg; CREATE TABLE glue_catalog.{ns}.u (id INT) USING iceberg")
    nobody = somebody(server, allow("s3:ListAllMyBuckets"))
    there, absent = (refused("AccessDeniedException", nobody.GetTable, DatabaseName=ns, Name=n) for n in ("t", "nothing"))
    assert there == absent and "glue:GetTable" in there
    refused("AccessDeniedException", nobody.GetDatabases)
    arn = f"arn:aws:glue:us-east-1:{ACCOUNT}"
    one = somebody(server, allow("glue:GetTable", resource=[f"{arn}:catalog", f"{arn}:database/{ns}", f"{arn}:table/{ns}/t"]))
    assert one.GetTable(DatabaseName=ns, Name="t")["Table"]["Name"] == "t"
    refused("AccessDeniedException", one.GetTable, DatabaseName=ns, Name="u")
    refused("AccessDeniedException", one.DeleteTable, DatabaseName=ns, Name="t")
    refused("AccessDeniedException", somebody(server, allow("glue:GetTable", resource=f"{arn}:table/{ns}/t")).GetTable, DatabaseName=ns, Name="t")      # catalog and database too
    denied = somebody(server, allow("glue:*"), {"Effect": "Deny", "Action": "glue:GetTable", "Resource": f"{arn}:table/{ns}/u"})
    denied.GetTable(DatabaseName=ns, Name="t")
    assert "explicit deny" in refused("AccessDeniedException", denied.GetTable, DatabaseName=ns, Name="u")


def test_resource_policy_denies(server, glue, ns):
    glue.CreateTable(DatabaseName=ns, TableInput={"Name": "t"})
    who = somebody(server, allow("glue:*"))
    who.GetTable(DatabaseName=ns, Name="t")
    arn = f"arn:aws:glue:us-east-1:{ACCOUNT}:table/{ns}/t"
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": "glue:GetTable", "Resource": arn}]}
    glue.PutResourcePolicy(PolicyInJson=json.dumps(policy), ResourceArn=arn)
    assert "resource-based policy" in refused("AccessDeniedException", who.GetTable, DatabaseName=ns, Name="t")
    glue.DeleteResourcePolicy(ResourceArn=arn)
    who.GetTable(DatabaseName=ns, Name="t")
    refused("InvalidInputException", glue.PutResourcePolicy, PolicyInJson="{}")
    refused("InvalidInputException", glue.PutResourcePolicy, PolicyInJson="no")


def test_refresh_needs_its_own_action(server, views):
    at, managed, _ = views
    who = somebody(server, allow("glue:GetTable", "glue:GetDatabase", "s3tables:*", "lakeformation:GetDataAccess"))
    text = refused("AccessDeniedException", who.StartMaterializedViewRefreshTaskRun, **at, TableName=managed)
    action = "glue:StartMaterializedViewRefreshTaskRun"
    session = who.person.client("sts").get_caller_identity()["Arn"]
    assert text == f"User: {session} is not authorized to perform: {action} because no identity-based policy allows the {action} action"
    for op in ("StopMaterializedViewRefreshTaskRun", "ListMaterializedViewRefreshTaskRuns"):
        refused("AccessDeniedException", getattr(who, op), **at, TableName=managed)
    may = somebody(server, allow("glue:*"), allow("s3tables:*"), allow("lakeformation:GetDataAccess"))
    run = may.StartMaterializedViewRefreshTaskRun(**at, TableName=managed)["MaterializedViewRefreshTaskRunId"]
    assert wait_for(may, at["CatalogId"], run)["Status"] == "SUCCEEDED"


def test_files_are_read_by_the_readers_rights(server, glue, ns, files):
    at = files("t/a.parquet", parquet([{"id": 1}]))
    external(glue, ns, "t", at + "t/", PARQUET, "id:bigint")
    text = f"SELECT * FROM glue_catalog.{ns}.t"
    catalog_only = principals.role(server, {"Version": "2012-10-17", "Statement": [allow("glue:*")]})
    with pytest.raises(Exception, match="s3:"):
        catalog_only.sql(text)
    files_too = principals.role(server, {"Version": "2012-10-17", "Statement": [allow("glue:*"), allow("s3:GetObject", "s3:ListBucket")]})
    assert files_too.sql(text) == [(1,)]
    files_only = principals.role(server, {"Version": "2012-10-17", "Statement": [allow("s3:*")]})
    with pytest.raises(Exception, match="glue:"):
        files_only.sql(text)


def test_a_refresh_reads_files_as_the_definer(server, glue, ns, files):
    at = files("o/a.parquet", parquet([{"k": "x", "v": 1}]))
    external(glue, ns, "o", at + "o", PARQUET, "k:string v:bigint")
    name = principals.unique("definer")
    definer = principals.role(server, {"Version": "2012-10-17", "Statement": [allow("glue:*", "s3:*", "iam:PassRole")]}, name=name)
    definer.sql(f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT k, SUM(v) AS total FROM glue_catalog.{ns}.o GROUP BY k; REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m")
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.m") == [("x", 1)]
    files("o/b.parquet", parquet([{"k": "x", "v": 10}]))
    iam = principals.root(server).client("iam")
    policies = iam.list_role_policies(RoleName=name)["PolicyNames"]
    deny = {"Effect": "Deny", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{files.bucket}/*"}
    iam.put_role_policy(RoleName=name, PolicyName=policies[0], PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allow("glue:*", "s3:*"), deny]}))
    who = {"CatalogId": ACCOUNT, "DatabaseName": ns, "TableName": "m"}
    run = wait_for(glue, ACCOUNT, glue.StartMaterializedViewRefreshTaskRun(**who)["MaterializedViewRefreshTaskRunId"])
    assert run["Status"] == "FAILED" and "s3:GetObject" in run["ErrorMessage"] and run["Role"].endswith(name), run
    assert server.sql(f"SELECT * FROM glue_catalog.{ns}.m") == [("x", 1)]
    iam.put_role_policy(RoleName=name, PolicyName=policies[0], PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [allow("glue:*", "s3:*")]}))
    run = wait_for(glue, ACCOUNT, glue.StartMaterializedViewRefreshTaskRun(**who)["MaterializedViewRefreshTaskRunId"])
    assert run["Status"] == "SUCCEEDED" and server.sql(f"SELECT * FROM glue_catalog.{ns}.m") == [("x", 11)]


def test_passwords_of_connections_lie_sealed(tmp_path):
    server = conftest.Server(tmp_path / "data")
    glue = Glue(server)
    glue.CreateConnection(ConnectionInput={"Name": "wh", "ConnectionType": "JDBC", "ConnectionProperties": {"JDBC_CONNECTION_URL": "jdbc:x://y", "USERNAME": "u", "PASSWORD": "not-for-everybody"}})
    assert glue.GetConnection(Name="wh")["Connection"]["ConnectionProperties"]["PASSWORD"] == "not-for-everybody"
    assert "PASSWORD" not in glue.GetConnection(Name="wh", HidePassword=True)["Connection"]["ConnectionProperties"]
    assert glue.GetConnections()["ConnectionList"][0]["ConnectionProperties"]["USERNAME"] == "u"
    server.stop()
    for file in (tmp_path / "data").glob("catalog.db*"):
        assert b"not-for-everybody" not in file.read_bytes()


def test_aws_compat_knows_no_minutes_and_keeps_schedules(tmp_path):
    server = conftest.Server(tmp_path / "data", ["aws_compat=on"])
    boto3.client("s3tables", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1").create_table_bucket(name="compat-bucket")
    with server.connect() as c:
        def sql(text):
            return c.execute(text, prepare=False)
        sql("SET spark.sql.mv.managed.enabled = true")
        sql("SET spark.sql.catalog.s3t.glue.id = '" + ACCOUNT + ":s3tablescatalog/compat-bucket'")
        sql("CREATE NAMESPACE s3t.ns")
        sql("CREATE TABLE s3t.ns.t (a INT)")
        sql("CREATE MANAGED MATERIALIZED VIEW s3t.ns.v AS SELECT a, COUNT(*) AS n FROM s3t.ns.t GROUP BY a")
        with pytest.raises(Exception, match=r"\[PARSE_SYNTAX_ERROR\] Syntax error at or near 'MINUTES'. SQLSTATE: 42601 \(line 1, pos 63\)"):
            sql("ALTER MATERIALIZED VIEW s3t.ns.v ADD SCHEDULE REFRESH EVERY 10 MINUTES")
        sql("ALTER MATERIALIZED VIEW s3t.ns.v ADD SCHEDULE REFRESH EVERY 1 HOUR")
        sql("ALTER MATERIALIZED VIEW s3t.ns.v DROP SCHEDULE")
        sql("INSERT INTO s3t.ns.t VALUES (7), (7)")
        sql("REFRESH MATERIALIZED VIEW s3t.ns.v")
        assert sql("SELECT * FROM s3t.ns.v").fetchall() == [(7, 2, 2)]               # a, n, __ivm_num_rec
        assert [r[0] for r in sql("DESCRIBE s3t.ns.v").fetchall()][:3] == ["a", "n", "__ivm_num_rec"]
        assert sql("SELECT __ivm_num_rec FROM s3t.ns.v WHERE a = 7").fetchall() == [(2,)]
    v = Glue(server).GetTable(CatalogId=ACCOUNT + ":s3tablescatalog/compat-bucket", DatabaseName="ns", Name="v")["Table"]["ViewDefinition"]
    assert v["RefreshSeconds"] == 3600
    server.stop()
