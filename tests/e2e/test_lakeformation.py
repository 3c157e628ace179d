# SPDX-License-Identifier: Apache-2.0
"""Lake Formation: what is granted is what is allowed, at every door; columns that are not granted are not there."""
import json
import time

import botocore.exceptions
import psycopg
import pytest

from conftest import Server
from principals import ACCOUNT, Person, assume, denied, role, root, unique, user

E17 = "Insufficient Lake Formation permission(s): Required "


@pytest.fixture(scope="module")
def closed(tmp_path_factory):
    """Nothing is open by default (lakeformation.default_permissions = none)."""
    s = Server(tmp_path_factory.mktemp("lf") / "data", ["lakeformation.default_permissions=none"])
    yield s
    s.stop()


def table(db, name=None):
    return {"Table": {"DatabaseName": db, "Name": name}} if name else {"Table": {"DatabaseName": db, "TableWildcard": {}}}


def database(db):
    return {"Database": {"Name": db}}


def columns(db, name, *names, excluded=()):
    r = {"DatabaseName": db, "Name": name}
    r.update({"ColumnNames": list(names)} if names else {"ColumnWildcard": {"ExcludedColumnNames": list(excluded)}})
    return {"TableWithColumns": r}


def grant(by, to, resource, *permissions, option=()):
    by.client("lakeformation").grant_permissions(Principal={"DataLakePrincipalIdentifier": to.arn if isinstance(to, Person) else to}, Resource=resource,
                                                 Permissions=list(permissions), PermissionsWithGrantOption=list(option))


def revoke(by, to, resource, *permissions):
    by.client("lakeformation").revoke_permissions(Principal={"DataLakePrincipalIdentifier": to.arn if isinstance(to, Person) else to}, Resource=resource, Permissions=list(permissions))


def listed(by, **more):
    return by.client("lakeformation").list_permissions(**more)["PrincipalResourcePermissions"]


def code(call, **args):
    with pytest.raises(botocore.exceptions.ClientError) as e:
        call(**args)
    return e.value.response["Error"]["Code"], e.value.response["Error"]["Message"]


def athena(who, db, text):
    """The rows of a query, or the words of its failure."""
    c = who.client("athena")
    q = c.start_query_execution(QueryString=text, QueryExecutionContext={"Database": db}, ResultConfiguration={"OutputLocation": "s3://warehouse/athena-results/"})["QueryExecutionId"]
    for _ in range(600):
        s = c.get_query_execution(QueryExecutionId=q)["QueryExecution"]["Status"]
        if s["State"] not in ("QUEUED", "RUNNING"):
            break
        time.sleep(0.05)
    if s["State"] != "SUCCEEDED":
        return s["StateChangeReason"]
    return [tuple(d.get("VarCharValue") for d in r["Data"]) for r in c.get_query_results(QueryExecutionId=q)["ResultSet"]["Rows"]]


@pytest.fixture()
def db(closed):
    """A database of root with table people (id, name, pin) and three rows."""
    n = unique("d")
    closed.sql(f"""CREATE NAMESPACE glue_catalog.{n};
        CREATE TABLE glue_catalog.{n}.people (id INT, name STRING, pin STRING) USING iceberg;
        INSERT INTO glue_catalog.{n}.people VALUES (1, 'ann', '111'), (2, 'bob', '222'), (3, 'cas', '333')""")
    return n


# ---- settings ---------------------------------------------------------------------------------------------------------------

def test_settings(fresh):
    lf = root(fresh).client("lakeformation")
    s = lf.get_data_lake_settings()["DataLakeSettings"]
    default = [{"Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}, "Permissions": ["ALL"]}]
    assert s["CreateDatabaseDefaultPermissions"] == s["CreateTableDefaultPermissions"] == default
    s["DataLakeAdmins"] = [{"DataLakePrincipalIdentifier": f"arn:aws:iam::{ACCOUNT}:role/boss"}]
    s["CreateTableDefaultPermissions"] = []
    lf.put_data_lake_settings(DataLakeSettings=s)
    assert lf.get_data_lake_settings()["DataLakeSettings"] == s
    fresh.stop()
    fresh.start()
    assert root(fresh).client("lakeformation").get_data_lake_settings()["DataLakeSettings"] == s
    assert code(root(fresh).client("lakeformation").put_data_lake_settings, DataLakeSettings={"DataLakeAdmins": [{"DataLakePrincipalIdentifier": "nobody"}]}) == ("InvalidInputException", "Invalid principal, nobody")


def test_none_empties_the_defaults(closed):
    s = root(closed).client("lakeformation").get_data_lake_settings()["DataLakeSettings"]
    assert s["CreateDatabaseDefaultPermissions"] == s["CreateTableDefaultPermissions"] == []


def test_open_by_default(server):
    n = unique("d")
    server.sql(f"CREATE NAMESPACE glue_catalog.{n}; CREATE TABLE glue_catalog.{n}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{n}.t VALUES (1)")
    ann = user(server)
    assert ann.sql(f"SELECT a FROM glue_catalog.{n}.t") == [(1,)]
    revoke(root(server), "IAM_ALLOWED_PRINCIPALS", table(n, "t"), "ALL")
    denied(lambda: ann.sql(f"SELECT a FROM glue_catalog.{n}.t"), E17 + "Describe on t")
    grant(root(server), ann, table(n, "t"), "SELECT")
    assert ann.sql(f"SELECT a FROM glue_catalog.{n}.t") == [(1,)]
    denied(lambda: ann.sql(f"INSERT INTO glue_catalog.{n}.t VALUES (2)"), E17 + "Insert on t")


# ---- rows 9 to 13 of the walk-through -----------------------------------------------------------------------------------------

def test_job_role_before_and_after_its_grants(closed):
    me = root(closed)
    job, src, tb = role(closed), unique("src"), unique("tb")
    closed.sql(f"CREATE NAMESPACE glue_catalog.{src}")
    arn = me.client("s3tables").create_table_bucket(name=tb)["arn"]
    me.client("s3tables").create_namespace(tableBucketARN=arn, namespace=["analytics"])
    catalog = f"{ACCOUNT}:s3tablescatalog/{tb}"
    create = f"CREATE TABLE IF NOT EXISTS glue_catalog.{src}.orders (id INT, customer_name STRING, amount DECIMAL(10,2), order_date DATE) USING iceberg TBLPROPERTIES('format-version'='2')"
    denied(lambda: job.sql(create), E17, "Create Table")
    grant(me, job.arn, database(src), "ALL")
    grant(me, job.arn, table(src), "ALL")
    grant(me, job.arn, {"Catalog": {"Id": catalog}}, "DESCRIBE")
    job.sql(create)
    job.sql(f"INSERT INTO glue_catalog.{src}.orders VALUES (1, 'Alice', 10.5, DATE '2026-01-01')")
    view = f"SET spark.sql.mv.managed.enabled=true; CREATE MANAGED MATERIALIZED VIEW {tb}.analytics.v AS SELECT customer_name, count(*) AS n FROM glue_catalog.{src}.orders GROUP BY customer_name"
    denied(lambda: job.sql(view), E17)
    grant(me, job.arn, {"Database": {"CatalogId": catalog, "Name": "analytics"}}, "ALL")
    grant(me, job.arn, {"Table": {"CatalogId": catalog, "DatabaseName": "analytics", "TableWildcard": {}}}, "ALL")
    job.sql(view)
    assert job.sql(f"SELECT * FROM {tb}.analytics.v") == [("Alice", 1)]


# ---- who sees what ------------------------------------------------------------------------------------------------------------------

def test_nothing_is_seen_without_a_grant(closed, db):
    ann = user(closed)
    where = f"glue_catalog.{db}"
    for q in ("SELECT * FROM {}.people", "DESCRIBE TABLE {}.people", "DROP TABLE {}.people", "ALTER TABLE {}.people ADD COLUMNS (x INT)", "INSERT INTO {}.people VALUES (9, 'x', 'y')", "SHOW CREATE TABLE {}.people"):
        denied(lambda q=q: ann.sql(q.format(where)), E17 + "Describe on people")
    denied(lambda: ann.sql(f"CREATE TABLE {where}.mine (a INT) USING iceberg"), E17 + f"Create Table on {db}")
    denied(lambda: ann.sql(f"DROP NAMESPACE {where}"), E17 + f"Drop on {db}")
    denied(lambda: ann.sql(f"CREATE NAMESPACE glue_catalog.{unique('mine')}"), E17 + f"Create Database on {ACCOUNT}")
    assert db not in [r[0] for r in ann.sql("SHOW NAMESPACES IN glue_catalog")]
    assert ann.sql(f"SHOW TABLES IN {where}") == []
    assert ann.sql(f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{db}'", "postgres") == []
    assert ann.sql(f"SELECT 1 FROM information_schema.schemata WHERE schema_name = '{db}'", "postgres") == []
    assert ann.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{db}'", "postgres") == []
    grant(root(closed), ann, table(db, "people"), "DESCRIBE")
    assert db in [r[0] for r in ann.sql("SHOW NAMESPACES IN glue_catalog")]
    assert [r[1] for r in ann.sql(f"SHOW TABLES IN {where}")] == ["people"]
    denied(lambda: ann.sql(f"SELECT * FROM {where}.people"), E17 + "Select on people")


def test_a_missing_table_looks_like_a_forbidden_one(closed, db):
    ann = user(closed)
    there = denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.people"), E17)
    absent = denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.nothing"), E17)
    assert there.replace("people", "?") == absent.replace("nothing", "?")
    grant(root(closed), ann, table(db), "DESCRIBE")
    with pytest.raises(psycopg.Error, match="TABLE_OR_VIEW_NOT_FOUND"):
        ann.sql(f"SELECT * FROM glue_catalog.{db}.nothing")


def test_rest_and_objects(closed, db):
    ann = user(closed)
    catalog = lambda who: closed.pyiceberg(credential=f"{who.key}:{who.secret}")
    denied_words = "Insufficient Lake Formation permission"
    with pytest.raises(Exception, match=denied_words):
        catalog(ann).load_table((db, "people"))
    grant(root(closed), ann, table(db, "people"), "SELECT")
    assert catalog(ann).load_table((db, "people")).scan().to_arrow().num_rows == 3
    t = catalog(root(closed)).load_table((db, "people"))
    path = next(iter(t.inspect.files().to_pylist()))["file_path"].removeprefix("s3://").split("/", 1)
    s3 = ann.client("s3")
    assert s3.get_object(Bucket=path[0], Key=path[1])["Body"].read()[:4] == b"PAR1"
    denied(lambda: s3.put_object(Bucket=path[0], Key=path[1], Body=b"x"), E17 + "Insert on people")
    revoke(root(closed), ann, table(db, "people"), "SELECT")
    denied(lambda: s3.get_object(Bucket=path[0], Key=path[1]), E17 + "Select on people")


def test_commits_by_rest_need_what_they_do(closed, db):
    import pyarrow
    ann = user(closed)
    grant(root(closed), ann, table(db, "people"), "SELECT")
    t = lambda: closed.pyiceberg(credential=f"{ann.key}:{ann.secret}").load_table((db, "people"))
    rows = pyarrow.table({"id": pyarrow.array([9], pyarrow.int32()), "name": ["zoe"], "pin": ["999"]})
    with pytest.raises(Exception, match="Required Insert on people"):
        t().append(rows)
    grant(root(closed), ann, table(db, "people"), "INSERT")
    t().append(rows)
    with pytest.raises(Exception, match="Required Delete on people"):
        t().delete("id = 9")
    with pytest.raises(Exception, match="Required Delete on people"):
        t().overwrite(rows)
    with pytest.raises(Exception, match="Required Alter on people"):
        with t().update_schema() as u:
            u.delete_column("pin")
    grant(root(closed), ann, table(db, "people"), "DELETE")
    t().delete("id = 9")
    assert closed.sql(f"SELECT count(*) FROM glue_catalog.{db}.people") == [(3,)]


# ---- columns --------------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["named", "all but"])
def test_columns(closed, db, how):
    ann, t = user(closed), f"glue_catalog.{db}.people"
    resource = columns(db, "people", "id", "name") if how == "named" else columns(db, "people", excluded=["pin"])
    grant(root(closed), ann, resource, "SELECT")
    assert ann.sql(f"SELECT * FROM {t} ORDER BY id") == [(1, "ann"), (2, "bob"), (3, "cas")]
    assert ann.sql(f"SELECT count(*) FROM {t} WHERE id > 1") == [(2,)]
    for q in ("SELECT pin FROM {t}", "SELECT id FROM {t} WHERE pin = '111'", "SELECT count(DISTINCT pin) FROM {t}", "SELECT id FROM {t} ORDER BY pin", "SELECT x.pin FROM {t} x", "SELECT PIN FROM {t}",
              "SELECT * FROM {t} a JOIN {t} b USING (pin)", "WITH c AS (SELECT * FROM {t}) SELECT pin FROM c", "SELECT (SELECT max(pin) FROM {t})"):
        with pytest.raises(psycopg.Error, match="pin|PIN"):
            ann.sql(q.format(t=t))
    for q in ("SELECT * FROM {t}.files", "SELECT * FROM {t}.partitions", "SELECT * FROM {t}.entries", "DELETE FROM {t} WHERE pin = '111'", "UPDATE {t} SET id = 9 WHERE pin = '111'",
              f"CREATE MATERIALIZED VIEW glue_catalog.{db}.m AS SELECT * FROM {{t}}", "SHOW CREATE TABLE {t}"):
        denied(lambda q=q: ann.sql(q.format(t=t)), "Insufficient Lake Formation permission")
    assert [r[0] for r in ann.sql(f"DESCRIBE TABLE {t}")] == ["id", "name"]
    assert [r[0] for r in ann.sql(f"SHOW COLUMNS IN {t}")] == ["id", "name"]
    assert [r[0] for r in ann.sql(f"SELECT column_name FROM information_schema.columns WHERE table_schema = '{db}' ORDER BY ordinal_position", "postgres")] == ["id", "name"]
    assert ann.sql(f"SELECT * FROM {db}.people ORDER BY 1", "postgres")[0] == (1, "ann")
    with pytest.raises(Exception, match="Insufficient Lake Formation permission"):
        closed.pyiceberg(credential=f"{ann.key}:{ann.secret}").load_table((db, "people"))
    path = next(iter(closed.pyiceberg().load_table((db, "people")).inspect.files().to_pylist()))["file_path"].removeprefix("s3://").split("/", 1)
    denied(lambda: ann.client("s3").get_object(Bucket=path[0], Key=path[1]), E17 + "Select on people")
    arn = f"arn:aws:glue:us-east-1:{ACCOUNT}:table/{db}/people"
    denied(lambda: ann.client("lakeformation").get_temporary_glue_table_credentials(TableArn=arn, Permissions=["SELECT"]), codes=("AccessDeniedException", "PermissionTypeMismatchException"))
    grant(root(closed), ann, table(db, "people"), "SELECT")
    assert ann.sql(f"SELECT pin FROM {t} WHERE id = 2") == [("222",)]
    revoke(root(closed), ann, table(db, "people"), "SELECT")
    assert ann.sql(f"SELECT * FROM {t} WHERE id = 2") == [(2, "bob")]


def test_columns_in_older_versions(closed, db):
    """A hidden column stays hidden under the names that it had before."""
    ann, t = user(closed), f"glue_catalog.{db}.people"
    first = closed.sql(f"SELECT snapshot_id FROM {t}.snapshots")[0][0]
    closed.sql(f"ALTER TABLE {t} RENAME COLUMN pin TO code; ALTER TABLE {t} RENAME COLUMN name TO who")
    grant(root(closed), ann, columns(db, "people", excluded=["code"]), "SELECT")
    assert ann.sql(f"SELECT * FROM {t} VERSION AS OF {first} WHERE id = 1") == ann.sql(f"SELECT * FROM {t} WHERE id = 1") == [(1, "ann")]
    for q in (f"SELECT pin FROM {t} VERSION AS OF {first}", f"SELECT code FROM {t}", f"SELECT code FROM {t} VERSION AS OF {first}"):
        with pytest.raises(psycopg.Error, match="pin|code"):
            ann.sql(q)
    for q in (f"CREATE TABLE glue_catalog.{db}.mine LIKE {t}", f"CALL glue_catalog.system.register_table(table => '{db}.mine', metadata_file => '{{m}}')",
              f"CALL glue_catalog.system.add_files(table => '{db}.own', source_table => '{db}.people')"):
        grant(root(closed), ann, database(db), "CREATE_TABLE")
        m = closed.pyiceberg().load_table((db, "people")).metadata_location
        with pytest.raises(psycopg.Error):
            ann.sql(q.format(m=m))
    denied(lambda: ann.client("glue").get_table_versions(DatabaseName=db, TableName="people"), "Required Select on every column of people")
    denied(lambda: ann.client("glue").get_table_version(DatabaseName=db, TableName="people"), "Required Select on every column of people")


def test_columns_through_athena_and_glue(closed, db):
    ann = user(closed)
    assert "Insufficient Lake Formation permission" in athena(ann, db, "SELECT * FROM people")
    grant(root(closed), ann, columns(db, "people", "id", "name"), "SELECT")
    assert athena(ann, db, "SELECT * FROM people ORDER BY id") == [("id", "name"), ("1", "ann"), ("2", "bob"), ("3", "cas")]
    assert "Column 'pin' cannot be resolved or requester is not authorized to access requested resources" in athena(ann, db, "SELECT pin FROM people")
    assert "Insufficient Lake Formation permission" in athena(ann, db, 'SELECT * FROM "people$files"')
    t = ann.client("glue").get_table(DatabaseName=db, Name="people")["Table"]
    assert [c["Name"] for c in t["StorageDescriptor"]["Columns"]] == ["id", "name"] and t["IsRegisteredWithLakeFormation"]
    meta = ann.client("athena").list_table_metadata(CatalogName="AwsDataCatalog", DatabaseName=db)["TableMetadataList"]
    assert all("pin" not in [c["Name"] for c in m["Columns"]] for m in meta)
    assert [x["Name"] for x in user(closed).client("glue").get_databases()["DatabaseList"] if x["Name"] == db] == []
    assert user(closed).client("glue").search_tables(SearchText="people")["TableList"] == []
    denied(lambda: user(closed).client("glue").get_table(DatabaseName=db, Name="people"), E17 + "Describe on people")
    denied(lambda: user(closed).client("glue").get_table(DatabaseName=db, Name="nothing"), E17 + "Describe on nothing")
    denied(lambda: user(closed).client("glue").get_database(Name=db), E17 + f"Describe on {db}")


def test_views_are_read_with_the_readers_rights(closed, db):
    ann = user(closed)
    closed.sql(f"CREATE VIEW glue_catalog.{db}.v AS SELECT name, pin FROM glue_catalog.{db}.people")
    grant(root(closed), ann, table(db, "v"), "SELECT")
    denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.v"), E17 + "Describe on people")
    grant(root(closed), ann, columns(db, "people", "name"), "SELECT")
    with pytest.raises(psycopg.Error, match="pin"):
        ann.sql(f"SELECT * FROM glue_catalog.{db}.v")


def test_runs_are_the_definers(closed, db):
    """A view is refreshed with its definer's rights of now, whoever asks."""
    job = role(closed)
    grant(root(closed), job.arn, database(db), "ALL")
    grant(root(closed), job.arn, table(db, "people"), "SELECT")
    view = f"glue_catalog.{db}.v"
    job.sql(f"CREATE MATERIALIZED VIEW {view} AS SELECT name, count(*) AS c FROM glue_catalog.{db}.people GROUP BY name")
    closed.sql(f"INSERT INTO glue_catalog.{db}.people VALUES (4, 'dee', '444')")
    closed.sql(f"REFRESH MATERIALIZED VIEW {view}")
    revoke(root(closed), job.arn, table(db, "people"), "SELECT")
    closed.sql(f"INSERT INTO glue_catalog.{db}.people VALUES (5, 'eve', '555')")
    denied(lambda: closed.sql(f"REFRESH MATERIALIZED VIEW {view}"), "Insufficient Lake Formation permission")
    grant(root(closed), job.arn, columns(db, "people", "name"), "SELECT")
    denied(lambda: closed.sql(f"REFRESH MATERIALIZED VIEW {view} FULL"), "Insufficient Lake Formation permission")
    grant(root(closed), job.arn, table(db, "people"), "SELECT")
    closed.sql(f"REFRESH MATERIALIZED VIEW {view}")
    assert closed.sql(f"SELECT count(*) FROM {view}") == [(5,)]


# ---- grants ---------------------------------------------------------------------------------------------------------------------------------

def test_grant_list_revoke(closed, db):
    me, ann = root(closed), user(closed)
    grant(me, ann, table(db, "people"), "SELECT", "INSERT", option=["SELECT"])
    grant(me, ann, table(db, "people"), "ALTER")
    mine, = [p for p in listed(me, Resource=table(db, "people")) if p["Principal"]["DataLakePrincipalIdentifier"] == ann.arn]
    assert mine["Resource"] == {"Table": {"CatalogId": ACCOUNT, "DatabaseName": db, "Name": "people"}}
    assert mine["Permissions"] == ["SELECT", "ALTER", "INSERT"] and mine["PermissionsWithGrantOption"] == ["SELECT"]
    assert mine["LastUpdatedBy"] == me.arn and abs(mine["LastUpdated"].timestamp() - time.time()) < 60
    revoke(me, ann, table(db, "people"), "ALTER", "INSERT")
    mine, = listed(me, Resource=table(db, "people"), Principal={"DataLakePrincipalIdentifier": ann.arn})
    assert mine["Permissions"] == ["SELECT"]
    assert code(me.client("lakeformation").revoke_permissions, Principal={"DataLakePrincipalIdentifier": ann.arn}, Resource=table(db, "people"), Permissions=["DROP"]) == (
        "InvalidInputException", "No permissions revoked. Grantee does not have: [DROP]")


def test_grant_option_and_administrators(closed, db):
    me, ann, bob = root(closed), user(closed), user(closed)
    denied(lambda: grant(ann, bob, table(db, "people"), "SELECT"), "Resource does not exist or requester is not authorized to access requested permissions.")
    grant(me, ann, table(db, "people"), "SELECT", option=["SELECT"])
    grant(ann, bob, table(db, "people"), "SELECT")
    assert len(bob.sql(f"SELECT * FROM glue_catalog.{db}.people")) == 3
    denied(lambda: grant(ann, bob, table(db, "people"), "DROP"), "not authorized")
    denied(lambda: grant(bob, ann, table(db, "people"), "SELECT"), "not authorized")
    assert [p["Principal"]["DataLakePrincipalIdentifier"] for p in listed(bob, Resource=table(db, "people"))] == [bob.arn]
    lf = me.client("lakeformation")
    s = lf.get_data_lake_settings()["DataLakeSettings"]
    lf.put_data_lake_settings(DataLakeSettings={**s, "DataLakeAdmins": [{"DataLakePrincipalIdentifier": bob.arn}]})
    try:
        grant(bob, ann, table(db, "people"), "DROP")
        assert bob.sql(f"DESCRIBE TABLE glue_catalog.{db}.people")
    finally:
        lf.put_data_lake_settings(DataLakeSettings=s)
    ann.sql(f"DROP TABLE glue_catalog.{db}.people")


def test_creators_own_what_they_make(closed, db):
    ann, bob = user(closed), user(closed)
    grant(root(closed), ann, database(db), "CREATE_TABLE")
    ann.sql(f"CREATE TABLE glue_catalog.{db}.mine (a INT) USING iceberg; INSERT INTO glue_catalog.{db}.mine VALUES (1)")
    grant(ann, bob, table(db, "mine"), "SELECT")
    assert bob.sql(f"SELECT * FROM glue_catalog.{db}.mine") == [(1,)]
    ann.sql(f"ALTER TABLE glue_catalog.{db}.mine RENAME TO glue_catalog.{db}.ours")
    assert bob.sql(f"SELECT * FROM glue_catalog.{db}.ours") == [(1,)]
    ann.sql(f"DROP TABLE glue_catalog.{db}.ours")
    closed.sql(f"CREATE TABLE glue_catalog.{db}.ours (a INT) USING iceberg")
    denied(lambda: bob.sql(f"SELECT * FROM glue_catalog.{db}.ours"), E17 + "Describe on ours")


def test_bad_grants(closed, db):
    lf = root(closed).client("lakeformation")
    who = {"DataLakePrincipalIdentifier": f"arn:aws:iam::{ACCOUNT}:role/x"}

    def bad(resource, permissions=("SELECT",), principal=who, **more):
        return code(lf.grant_permissions, Principal=principal, Resource=resource, Permissions=list(permissions), **more)

    assert bad(database("nowhere"), ["DESCRIBE"]) == ("EntityNotFoundException", "Database not found.")
    assert bad(table(db, "nothing")) == ("EntityNotFoundException", "Table not found.")
    assert bad(table(db, "people"), ["FLY"])[1] == "Please grant only valid Lake Formation permissions. [FLY] are not all valid Lake Formation permissions."
    assert bad(database(db), ["SELECT"])[1].startswith("Permissions modification is invalid")
    assert bad(table(db, "people"), principal={"DataLakePrincipalIdentifier": "ann"}) == ("InvalidInputException", "Invalid principal, ann")
    assert bad({}) == ("InvalidInputException", "Resource must have either the catalog, table or database field populated.")
    assert bad({**table(db, "people"), **database(db)})[0] == "InvalidInputException"
    assert bad(table(db, "people"), Condition={"Expression": "x = 1"})[0] == "InvalidInputException"
    assert bad({"DataCellsFilter": {"TableCatalogId": ACCOUNT, "DatabaseName": db, "TableName": "people", "Name": "f"}})[0] == "InvalidInputException"
    assert bad(database(db), ["DESCRIBE"], CatalogId="999999999999")[0] == "AccessDeniedException"
    assert code(lf.list_permissions, Principal=who) == ("InvalidInputException", "Resource is mandatory if Principal is set in the input.")
    assert code(lf.list_permissions, NextToken="bm9uc2Vuc2U=")[0] == "InvalidInputException"


def test_batch(closed, db):
    lf, ann = root(closed).client("lakeformation"), user(closed)
    entry = lambda i, resource, *p: {"Id": i, "Principal": {"DataLakePrincipalIdentifier": ann.arn}, "Resource": resource, "Permissions": list(p)}
    failed, = lf.batch_grant_permissions(Entries=[entry("1", table(db, "people"), "SELECT"), entry("2", database("nowhere"), "DROP"), entry("3", database(db), "DESCRIBE")])["Failures"]
    assert failed["RequestEntry"]["Id"] == "2" and failed["Error"] == {"ErrorCode": "EntityNotFoundException", "ErrorMessage": "Database not found."}
    assert len(ann.sql(f"SELECT * FROM glue_catalog.{db}.people")) == 3
    assert lf.batch_revoke_permissions(Entries=[entry("1", table(db, "people"), "SELECT")])["Failures"] == []
    denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.people"), E17)


def test_pages(closed, db):
    me = root(closed)
    for i in range(5):
        grant(me, f"arn:aws:iam::{ACCOUNT}:role/r{i}", table(db, "people"), "SELECT")
    seen, token = [], {}
    while True:
        page = me.client("lakeformation").list_permissions(Resource=table(db, "people"), MaxResults=2, **token)
        seen += page["PrincipalResourcePermissions"]
        assert len(page["PrincipalResourcePermissions"]) <= 2
        if "NextToken" not in page:
            break
        token = {"NextToken": page["NextToken"]}
    assert len({p["Principal"]["DataLakePrincipalIdentifier"] for p in seen}) == len(seen) == 5


# ---- tags -------------------------------------------------------------------------------------------------------------------------------------

def test_tags_grant(closed, db):
    me, ann = root(closed), user(closed)
    lf, key = me.client("lakeformation"), unique("level")
    lf.create_lf_tag(TagKey=key, TagValues=["open", "shut"])
    policy = {"LFTagPolicy": {"ResourceType": "TABLE", "Expression": [{"TagKey": key, "TagValues": ["open"]}]}}
    grant(me, ann, policy, "SELECT")
    denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.people"), E17)
    assert lf.add_lf_tags_to_resource(Resource=database(db), LFTags=[{"TagKey": key, "TagValues": ["open"]}])["Failures"] == []
    assert len(ann.sql(f"SELECT * FROM glue_catalog.{db}.people")[0]) == 3
    assert lf.add_lf_tags_to_resource(Resource=columns(db, "people", "pin"), LFTags=[{"TagKey": key, "TagValues": ["shut"]}])["Failures"] == []
    assert ann.sql(f"SELECT * FROM glue_catalog.{db}.people WHERE id = 1") == [(1, "ann")]
    found = lf.search_tables_by_lf_tags(Expression=[{"TagKey": key, "TagValues": ["open"]}])["TableList"]
    assert [t["Table"]["Name"] for t in found] == ["people"] and found[0]["LFTagsOnColumns"][0]["Name"] == "pin"
    assert [d["Database"]["Name"] for d in lf.search_databases_by_lf_tags(Expression=[{"TagKey": key, "TagValues": ["open"]}])["DatabaseList"]] == [db]
    failures = ann.client("lakeformation").add_lf_tags_to_resource(Resource=columns(db, "people", "pin"), LFTags=[{"TagKey": key, "TagValues": ["open"]}])["Failures"]
    assert failures[0]["Error"]["ErrorCode"] == "AccessDeniedException"
    lf.delete_lf_tag(TagKey=key)
    denied(lambda: ann.sql(f"SELECT * FROM glue_catalog.{db}.people"), E17)


# ---- locations and credentials ---------------------------------------------------------------------------------------------------------------------

def test_locations(closed):
    lf, bucket = root(closed).client("lakeformation"), unique("b")
    arn = f"arn:aws:s3:::{bucket}/x"
    lf.register_resource(ResourceArn=arn, UseServiceLinkedRole=True)
    assert code(lf.register_resource, ResourceArn=arn, UseServiceLinkedRole=True)[0] == "AlreadyExistsException"
    assert lf.describe_resource(ResourceArn=arn)["ResourceInfo"]["RoleArn"].endswith("AWSServiceRoleForLakeFormationDataAccess")
    assert [r["ResourceArn"] for r in lf.list_resources(FilterConditionList=[{"Field": "RESOURCE_ARN", "ComparisonOperator": "EQ", "StringValueList": [arn]}])["ResourceInfoList"]] == [arn]
    lf.update_resource(ResourceArn=arn, RoleArn=f"arn:aws:iam::{ACCOUNT}:role/x")
    ann = user(closed)
    root(closed).client("s3").create_bucket(Bucket=bucket)
    keys = ann.client("lakeformation").get_temporary_data_location_credentials
    denied(lambda: keys(DataLocations=[f"s3://{bucket}/x"], CredentialsScope="READWRITE"), "Data Location Access")
    grant(root(closed), ann, {"DataLocation": {"ResourceArn": arn}}, "DATA_LOCATION_ACCESS")
    c = keys(DataLocations=[f"s3://{bucket}/x"], CredentialsScope="READWRITE")["Credentials"]
    s3 = Person(closed, c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"]).client("s3")
    s3.put_object(Bucket=bucket, Key="x/y", Body=b"1")
    denied(lambda: s3.put_object(Bucket=bucket, Key="z", Body=b"1"), "limited")
    lf.deregister_resource(ResourceArn=arn)
    assert code(lf.describe_resource, ResourceArn=arn)[0] == "EntityNotFoundException"


def test_tables_in_registered_locations(closed, db):
    me, ann, bucket = root(closed), user(closed), unique("b")
    me.client("s3").create_bucket(Bucket=bucket)
    grant(me, ann, database(db), "CREATE_TABLE")
    make = lambda: ann.sql(f"CREATE TABLE glue_catalog.{db}.{unique('t')} (a INT) USING iceberg LOCATION 's3://{bucket}/x/{unique('p')}'")
    make()
    me.client("lakeformation").register_resource(ResourceArn=f"arn:aws:s3:::{bucket}/x", UseServiceLinkedRole=True)
    denied(make, E17 + "Data Location Access")
    ann.sql(f"CREATE TABLE glue_catalog.{db}.{unique('t')} (a INT) USING iceberg")
    grant(me, ann, {"DataLocation": {"ResourceArn": f"arn:aws:s3:::{bucket}/x"}}, "DATA_LOCATION_ACCESS")
    make()
    own = unique("d")
    closed.sql(f"CREATE NAMESPACE glue_catalog.{own} LOCATION 's3://{bucket}/x/own'")
    bob = user(closed)
    grant(me, bob, database(own), "CREATE_TABLE")
    bob.sql(f"CREATE TABLE glue_catalog.{own}.t (a INT) USING iceberg")


def test_table_credentials(closed, db):
    ann = user(closed)
    arn = f"arn:aws:glue:us-east-1:{ACCOUNT}:table/{db}/people"
    ask = lambda *p: ann.client("lakeformation").get_temporary_glue_table_credentials(TableArn=arn, Permissions=list(p), SupportedPermissionTypes=["COLUMN_PERMISSION"])
    denied(lambda: ask("SELECT"), E17)
    grant(root(closed), ann, table(db, "people"), "SELECT")
    c = ask("SELECT")
    s3 = Person(closed, c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"]).client("s3")
    path = next(iter(closed.pyiceberg().load_table((db, "people")).inspect.files().to_pylist()))["file_path"].removeprefix("s3://").split("/", 1)
    assert s3.get_object(Bucket=path[0], Key=path[1])["Body"].read()[:4] == b"PAR1"
    denied(lambda: s3.put_object(Bucket=path[0], Key=path[1], Body=b""), "reading only")
    denied(lambda: ask("SELECT", "INSERT"), E17 + "Insert on people")
    revoke(root(closed), ann, table(db, "people"), "SELECT")
    denied(lambda: s3.get_object(Bucket=path[0], Key=path[1]), E17 + "Select on people")


def test_filters_are_refused(closed, db):
    lf = root(closed).client("lakeformation")
    assert lf.list_data_cells_filter()["DataCellsFilters"] == []
    data = {"TableCatalogId": ACCOUNT, "DatabaseName": db, "TableName": "people", "Name": "f", "RowFilter": {"FilterExpression": "id = 1"}}
    assert code(lf.create_data_cells_filter, TableData=data)[0] == "InvalidInputException"


def test_paths_and_principals(closed, db):
    me, ann = root(closed), user(closed)
    lf, arn = me.client("lakeformation"), "arn:aws:s3:::warehouse/%s.db" % db
    assert ann.client("lakeformation").get_data_lake_principal()["Identity"] == ann.arn
    assert code(lf.get_effective_permissions_for_path, ResourceArn=arn)[0] == "EntityNotFoundException"
    lf.register_resource(ResourceArn=arn, UseServiceLinkedRole=True)
    grant(me, ann, table(db, "people"), "SELECT")
    grant(me, ann, {"DataLocation": {"ResourceArn": arn}}, "DATA_LOCATION_ACCESS")
    found = lf.get_effective_permissions_for_path(ResourceArn=arn)["Permissions"]
    assert {next(iter(p["Resource"])) for p in found} == {"Table", "DataLocation"}
    denied(lambda: ann.client("lakeformation").get_effective_permissions_for_path(ResourceArn=arn))
    c = ann.client("lakeformation").get_temporary_glue_partition_credentials(TableArn=f"arn:aws:glue:us-east-1:{ACCOUNT}:table/{db}/people", Partition={"Values": ["x"]}, Permissions=["SELECT"])
    assert c["AccessKeyId"].startswith("ASIA") and c["Expiration"].timestamp() > time.time() + 3000


@pytest.mark.parametrize("call,args", [
    ("grant_permissions", {}), ("grant_permissions", {"Principal": {"DataLakePrincipalIdentifier": ""}, "Resource": {}, "Permissions": []}),
    ("grant_permissions", {"Principal": {"DataLakePrincipalIdentifier": f"arn:aws:iam::{ACCOUNT}:role/x"}, "Resource": {"Database": {"Name": "d" * 256}}, "Permissions": ["ALL"]}),
    ("grant_permissions", {"Principal": {"DataLakePrincipalIdentifier": f"arn:aws:iam::{ACCOUNT}:role/x"}, "Resource": {"Table": {"DatabaseName": "d"}}, "Permissions": ["ALL"]}),
    ("grant_permissions", {"Principal": {"DataLakePrincipalIdentifier": f"arn:aws:iam::{ACCOUNT}:role/x"}, "Resource": {"DataLocation": {"ResourceArn": "arn:aws:s3:::../x/"}}, "Permissions": ["SELECT"]}),
    ("list_permissions", {"ResourceType": "EVERYTHING"}), ("list_permissions", {"MaxResults": 0}), ("list_permissions", {"MaxResults": "x"}),
    ("register_resource", {"ResourceArn": "arn:aws:s3:::"}), ("register_resource", {"ResourceArn": "arn:aws:s3:::b"}),
    ("create_lf_tag", {"TagKey": "k" * 129, "TagValues": ["v"]}), ("create_lf_tag", {"TagKey": "k", "TagValues": []}), ("create_lf_tag", {"TagKey": "k", "TagValues": ["v" * 257]}),
    ("add_lf_tags_to_resource", {"Resource": {"Catalog": {}}, "LFTags": [{"TagKey": "k", "TagValues": ["v"]}]}),
    ("get_temporary_glue_table_credentials", {"TableArn": "arn:aws:glue:us-east-1:999999999999:table/d/t"}), ("get_temporary_glue_table_credentials", {"TableArn": "x", "DurationSeconds": 1}),
    ("put_data_lake_settings", {"DataLakeSettings": {"CreateTableDefaultPermissions": [{"Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}, "Permissions": ["FLY"]}]}}),
])
def test_bad_input(closed, call, args):
    assert code(getattr(root(closed).client("lakeformation"), call), **args)[0] in ("InvalidInputException", "SerializationException")
