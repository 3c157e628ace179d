# SPDX-License-Identifier: Apache-2.0
"""The first document, row by row: each command and statement in its order, with its outcome, less the defects that its author found.

Commands run as they were typed, by the AWS CLI.  Row 13 comes before row 9, for it is about the time before the grants."""
import json
import os
import re

import pytest

from walk import (ACCOUNT, BUCKET, CONF, HERE, JOB_INPUT, JOB_ROLE, MANAGED, ORDERS, POLICY, REFRESH_RUNS, REGULAR, ROOT, S3T_CATALOG, SRC_DB, TABLE_BUCKET, TB_ARN, Failed, Job, Session, Sql, World)

SPARK = (ROOT / "build" / "venv-spark" / "bin" / "python").exists() and (ROOT / "build" / "firn-spark.jar").exists()
with_spark = [pytest.mark.long, pytest.mark.skipif(not SPARK, reason="Spark is not there; `make setup-spark` gets it")]
RUNNERS = [pytest.param(Sql, id="sql"), pytest.param(Job, id="job", marks=with_spark), pytest.param(Session, id="session", marks=with_spark)]

DENIED = "system-managed materialized view"
QUERY = f"""SELECT
    customer_name,
    COUNT(*) AS order_count,
    SUM(amount) AS total_amount
FROM {ORDERS}
GROUP BY customer_name"""
LIMIT_S = 0.3                                             # of creating and of refreshing a view, without Spark

PHASES = {
    "denied": [("13", f"CREATE TABLE IF NOT EXISTS {ORDERS} (id INT) USING iceberg"), ("13b", "SHOW TABLES IN s3t_catalog.analytics")],
    "phase1": [
        ("14", f"""CREATE TABLE IF NOT EXISTS {ORDERS} (
    id INT,
    customer_name STRING,
    amount DECIMAL(10,2),
    order_date DATE
) USING iceberg
TBLPROPERTIES ('format-version'='2')"""),
        ("15", f"""INSERT INTO {ORDERS} VALUES
    (1, 'Alice', 150.00, DATE '2026-10-01'),
    (2, 'Bob',   200.50, DATE '2026-10-01'),
    (3, 'Alice', 75.25,  DATE '2026-10-02'),
    (4, 'Carol', 320.00, DATE '2026-10-02'),
    (5, 'Bob',   99.99,  DATE '2026-10-03')"""),
        ("16", f"CREATE MATERIALIZED VIEW {REGULAR}\nAS\n{QUERY}"),
        ("17", f"CREATE MANAGED MATERIALIZED VIEW {MANAGED}\nAS\n{QUERY}"),
        ("19", "SHOW VIEWS IN s3t_catalog.analytics"),
        ("22", f"DESCRIBE EXTENDED {MANAGED}"),
        ("23", f"DESCRIBE EXTENDED {REGULAR}")],
    "writes": [
        ("24", f"INSERT INTO {REGULAR} VALUES ('Mallory_sql', 999, 99999.99)"),
        ("25", f"INSERT INTO {MANAGED} VALUES ('Mallory_sql', 999, 99999.99)"),
        ("26", f"INSERT INTO {MANAGED} VALUES ('Mallory_sql', 999, 99999.99, 1, 1)"),
        ("27", ("append", REGULAR, "SELECT 'Mallory_df' AS customer_name, 1L AS order_count, CAST(88888.88 AS DECIMAL(20,2)) AS total_amount")),
        ("28", ("append", MANAGED, "SELECT 'Mallory_df' AS customer_name, 1L AS order_count, CAST(88888.88 AS DECIMAL(20,2)) AS total_amount")),
        ("32", f"SELECT * FROM {REGULAR} ORDER BY customer_name"),
        ("29", f"DELETE FROM {REGULAR} WHERE customer_name = 'Mallory_df'"),
        ("30", f"DELETE FROM {MANAGED} WHERE customer_name = 'Alice'"),
        ("31", f"ALTER TABLE {MANAGED} ADD COLUMNS (note STRING)"),
        ("33", f"SELECT committed_at, snapshot_id, operation FROM {REGULAR}.snapshots ORDER BY committed_at"),
        ("34", f"SELECT committed_at, snapshot_id, operation FROM {MANAGED}.snapshots ORDER BY committed_at")],
    "broken": [
        ("52", f"SELECT * FROM {REGULAR} ORDER BY customer_name"),
        ("53", f"REFRESH MATERIALIZED VIEW {REGULAR} FULL"),
        ("54", f"SELECT * FROM {REGULAR} ORDER BY customer_name"),
        ("54b", f"SELECT operation FROM {REGULAR}.snapshots")],
    "stale": [
        ("55", f"INSERT INTO {ORDERS} VALUES\n    (6, 'Carol', 180.00, DATE '2026-10-04'),\n    (7, 'Dave',  50.00,  DATE '2026-10-04')"),
        ("55b", "SHOW VIEWS IN s3t_catalog.analytics"),
        ("56", f"REFRESH MATERIALIZED VIEW {MANAGED} FULL")],
    "refresh": [
        ("57", f"REFRESH MATERIALIZED VIEW {MANAGED} FULL"),
        ("58", f"SELECT * FROM {MANAGED} ORDER BY customer_name"),
        ("58b", f"SELECT operation FROM {MANAGED}.snapshots ORDER BY committed_at"),
        ("58c", "SHOW VIEWS IN s3t_catalog.analytics")],
    "settings": [
        ("60", f"ALTER TABLE {MANAGED} SET TBLPROPERTIES ('blog.note'='updated-by-owner')"),
        ("60b", f"SHOW TBLPROPERTIES {MANAGED}"),
        ("60c", f"SELECT operation FROM {MANAGED}.snapshots"),
        ("61", f"ALTER MATERIALIZED VIEW {MANAGED} ADD SCHEDULE REFRESH EVERY 10 MINUTES"),
        ("61b", f"DESCRIBE EXTENDED {MANAGED}"),
        ("61c", f"ALTER MATERIALIZED VIEW {MANAGED} ADD SCHEDULE REFRESH EVERY 10 MINUTE"),
        ("61d", f"ALTER MATERIALIZED VIEW {MANAGED} ADD SCHEDULE REFRESH EVERY 9 MINUTES"),
        ("62", f"ALTER MATERIALIZED VIEW {MANAGED} ADD SCHEDULE REFRESH EVERY 1 HOUR"),
        ("62b", f"DESCRIBE EXTENDED {MANAGED}"),
        ("63", f"ALTER MATERIALIZED VIEW {MANAGED} DROP SCHEDULE"),
        ("63b", f"DESCRIBE EXTENDED {MANAGED}")],
    "drop": [("67", f"DROP MATERIALIZED VIEW {REGULAR}"), ("67b", f"DROP MATERIALIZED VIEW {MANAGED}"), ("67c", "SHOW VIEWS IN s3t_catalog.analytics")],
    "limits": [
        ("68", "SET spark.sql.mv.managed.enabled=false"),
        ("68b", f"CREATE MANAGED MATERIALIZED VIEW {MANAGED} AS {QUERY}"),
        ("68c", "SET spark.sql.mv.managed.enabled=true"),
        ("68d", f"CREATE MANAGED MATERIALIZED VIEW glue_catalog.{SRC_DB}.elsewhere AS {QUERY}"),
        ("68e", "SET spark.firn.glue.version=5.1"),                     # as a job of GlueVersion 5.1 has it; tests/e2e/test_jobs.py runs one
        ("68f", f"CREATE MANAGED MATERIALIZED VIEW s3t_catalog.analytics.older AS {QUERY}")],
}


@pytest.fixture(scope="module", params=RUNNERS)
def world(request, tmp_path_factory):
    w = World(tmp_path_factory.mktemp("blog"), request.param)
    yield w
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        for what, seconds in w.times.items():
            print(f"\n{request.param.__name__.lower()}: {what} {seconds * 1000:.0f} ms", end="")
    w.stop()


def spark(world, step):
    """What became of a statement; its phase runs when the first of it is asked for."""
    for name, steps in PHASES.items():
        if step in dict(steps):
            return world.runner.phase(name, steps)[step]
    raise KeyError(step)


def views(outcome):
    return [(r["viewName"], r["isTemporary"], r["stalenessStatus"]) for r in outcome.ok()]


def summary(outcome):
    return [(r["customer_name"], r["order_count"], str(r["total_amount"])) for r in outcome.ok()]


def described(outcome):
    lines = [(r["col_name"], r["data_type"]) for r in outcome.ok()]
    columns = lines[:next(i for i, x in enumerate(lines) if not x[0])]
    return columns, {k: v for k, v in lines[len(columns):] if k}


def timed(world, what, step):
    world.times[what] = spark(world, step).seconds
    busy = os.getloadavg()[0] > 2 * os.cpu_count()           # a figure of a crowded machine says nothing
    assert world.runner.spark or busy or world.times[what] < LIMIT_S, f"{what} took {world.times[what]:.3f} s"


FIVE = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 1, "320.00")]


# ---- create the test resources ---------------------------------------------------------------------------------------------------------

def test_row_01(world):
    world.shell("aws s3api create-bucket --bucket $BUCKET --create-bucket-configuration LocationConstraint=$AWS_REGION")
    assert BUCKET in world.shell("aws s3 ls")


def test_row_02(world):
    assert world.json("aws s3tables create-table-bucket --name $TABLE_BUCKET") == {"arn": TB_ARN}


def test_row_03(world):
    assert world.json("aws s3tables create-namespace --table-bucket-arn $TB_ARN --namespace analytics") == {"tableBucketARN": TB_ARN, "namespace": ["analytics"]}


def test_row_04(world):
    assert world.shell(r'''aws glue create-database --database-input \
  "{\"Name\":\"${SRC_DB}\",\"LocationUri\":\"s3://${BUCKET}/warehouse/${SRC_DB}.db\"}"''') == ""


def test_row_05(world):
    out = world.shell("aws glue get-databases --catalog-id $S3T_CATALOG --query 'DatabaseList[].{Name:Name,CatalogId:CatalogId}' --output table")
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in out.splitlines() if line.startswith("|")]
    assert rows == [["GetDatabases"], ["CatalogId", "Name"], [S3T_CATALOG, "analytics"]]


def test_row_06(world):
    role = world.json("""aws iam create-role --role-name $BUCKET \
  --assume-role-policy-document '{
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "glue.amazonaws.com"}, "Action": "sts:AssumeRole"}]
  }'""")["Role"]
    assert role["Arn"] == JOB_ROLE and role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "glue.amazonaws.com"}


def test_row_07(world):
    (world.folder / "policy.json").write_text(json.dumps(POLICY))
    world.shell("aws iam put-role-policy --role-name $BUCKET --policy-name mv-test --policy-document file://policy.json")
    assert world.json("aws iam get-role-policy --role-name $BUCKET --policy-name mv-test")["PolicyDocument"] == POLICY


def test_row_08(world):
    (world.folder / "job.json").write_text(json.dumps(JOB_INPUT))
    assert world.json("aws glue create-job --cli-input-json file://job.json") == {"Name": BUCKET}


def test_row_13(world):
    """Default permissions are none: IAM policies alone do not allow catalog operations."""
    spark(world, "13").failed("Insufficient Lake Formation permission(s)")
    assert spark(world, "13b").error or not spark(world, "13b").rows


def grant(world, principal, resource, permissions):
    world.shell(f'aws lakeformation grant-permissions --principal DataLakePrincipalIdentifier={principal} --resource "{resource}" --permissions {permissions}')


def granted(world, principal, resource):
    out = world.json(f'aws lakeformation list-permissions --principal DataLakePrincipalIdentifier={principal} --resource "{resource}"')
    return sorted({p for g in out["PrincipalResourcePermissions"] for p in g["Permissions"]})


def test_row_09(world):
    resource = r'{\"Database\":{\"Name\":\"${SRC_DB}\"}}'
    grant(world, "$JOB_ROLE", resource, "ALL")
    assert "ALL" in granted(world, "$JOB_ROLE", resource)


def test_row_10(world):
    grant(world, "$JOB_ROLE", r'{\"Table\":{\"DatabaseName\":\"${SRC_DB}\",\"TableWildcard\":{}}}', "ALL")


def test_row_11(world):
    resource = r'{\"Catalog\":{\"Id\":\"${S3T_CATALOG}\"}}'
    grant(world, "$JOB_ROLE", resource, "DESCRIBE")
    assert granted(world, "$JOB_ROLE", resource) == ["DESCRIBE"]


def test_row_12(world):
    for p in ("$JOB_ROLE", "$ME"):
        grant(world, p, r'{\"Database\":{\"CatalogId\":\"${S3T_CATALOG}\",\"Name\":\"analytics\"}}', "ALL")
        grant(world, p, r'{\"Table\":{\"CatalogId\":\"${S3T_CATALOG}\",\"DatabaseName\":\"analytics\",\"TableWildcard\":{}}}', "ALL")


# ---- create the views -------------------------------------------------------------------------------------------------------------------

def test_row_14(world):
    spark(world, "14").ok()


def test_row_15(world):
    spark(world, "15").ok()


def test_row_16(world):
    spark(world, "16").ok()
    timed(world, "CREATE MATERIALIZED VIEW (9.6 s)", "16")


def test_row_17(world):
    spark(world, "17").ok()
    timed(world, "CREATE MANAGED MATERIALIZED VIEW (211.9 s)", "17")


def test_row_18(world):
    if isinstance(world.runner, Job):
        runs = world.json("aws glue get-job-runs --job-name $BUCKET")["JobRuns"]
        assert {r["JobRunState"] for r in runs} == {"SUCCEEDED"} and [r["Arguments"]["--phase"] for r in runs] == ["phase1", "denied"]
        events = world.json(f"aws logs get-log-events --log-group-name /aws-glue/jobs/output --log-stream-name {runs[0]['Id']} --start-from-head")["events"]
        assert [json.loads(e["message"])["step"] for e in events if e["message"].startswith("{")] == [s for s, _ in PHASES["phase1"]]
        return
    world.shell(f"aws s3 cp {HERE / 'job_script.py'} s3://$BUCKET/scripts/mv_test.py")
    run = None
    try:
        run = world.json("""aws glue start-job-run --job-name $BUCKET --arguments '{"--phase":"phase1"}'""")["JobRunId"]
    except Failed as e:
        assert "glue.jobs" in str(e)
    if run:
        state = world.json(f"aws glue get-job-run --job-name $BUCKET --run-id {run}")["JobRun"]
        assert re.fullmatch("jr_[0-9a-f]{64}", run) and state["JobRunState"] == "FAILED" and "glue.jobs" in state["ErrorMessage"]


def test_row_19(world):
    assert views(spark(world, "19")) == [("customer_summary_managed", False, "FRESH"), ("customer_summary_regular", False, "FRESH")]


DETAILS = ("Table.{Name:Name,IsMaterializedView:IsMaterializedView,IsManaged:ViewDefinition.IsManaged,IsProtected:ViewDefinition.IsProtected,Definer:ViewDefinition.Definer,"
           "StatusAction:Status.Action,StatusState:Status.State,RequestTime:Status.RequestTime,UpdateTime:Status.UpdateTime}")


def test_row_20(world):
    t = world.get_table("customer_summary_managed", DETAILS, "--include-status-details")
    times = t.pop("RequestTime"), t.pop("UpdateTime")
    assert t == {"Name": "customer_summary_managed", "IsMaterializedView": True, "IsManaged": True, "IsProtected": True, "Definer": JOB_ROLE, "StatusAction": "CREATE", "StatusState": "SUCCESS"}
    assert times[0] <= times[1] and all(re.match(r"\d{4}-\d\d-\d\dT", x) for x in times)


def test_row_21(world):
    t = world.get_table("customer_summary_regular", DETAILS, "--include-status-details")
    assert t == {"Name": "customer_summary_regular", "IsMaterializedView": True, "IsManaged": False, "IsProtected": True, "Definer": JOB_ROLE, "StatusAction": None, "StatusState": None,
                 "RequestTime": None, "UpdateTime": None}


COLUMNS = [("customer_name", "string"), ("order_count", "bigint"), ("total_amount", "decimal(20,2)")]


def check_described(outcome, managed):
    columns, facts = described(outcome)
    assert columns == COLUMNS and facts["Type"] == "MANAGED" and facts["Provider"] == "iceberg" and facts["Location"].endswith("--table-s3")
    view = facts["Materialized View Properties"]
    for part in (f"isManaged={managed}", "isMaterializedView=true", "stalenessStatus=FRESH", f"IMV_mvCatalogID={S3T_CATALOG}", "IMV_mvNamespace=analytics", "lastRefreshType=FULL", "viewOriginalText=SELECT"):
        assert part in view, part
    assert "s3TableArn=" + TB_ARN + "/table/" in facts["Table Properties"]


def test_row_22(world):
    check_described(spark(world, "22"), "true")


def test_row_23(world):
    check_described(spark(world, "23"), "false")


# ---- write to the views ---------------------------------------------------------------------------------------------------------------------

def refused(world, step):
    text = spark(world, step).failed(DENIED, "analytics.customer_summary_managed")
    assert spark(world, step).seconds < 5
    return text


def test_row_24(world):
    spark(world, "24").ok()


def test_row_25(world):
    refused(world, "25")


def test_row_26(world):
    refused(world, "26")


def test_row_27(world):
    spark(world, "27").ok()


def test_row_28(world):
    refused(world, "28")


def test_row_29(world):
    spark(world, "29").ok()


def test_row_30(world):
    refused(world, "30")


def test_row_31(world):
    assert "Cannot apply unsupported change to managed materialized view: " in refused(world, "31")


def test_row_32(world):
    assert summary(spark(world, "32")) == FIVE + [("Mallory_df", 1, "88888.88"), ("Mallory_sql", 999, "99999.99")]


def test_row_33(world):
    assert [r["operation"] for r in spark(world, "33").ok()] == ["overwrite", "append", "append", "delete"]


def test_row_34(world):
    assert [r["operation"] for r in spark(world, "34").ok()] == ["overwrite"]


# ---- Athena -----------------------------------------------------------------------------------------------------------------------------------

HEADER = ["customer_name", "order_count", "total_amount"]


def test_row_35(world):
    q, rows = world.athena("SELECT * FROM customer_summary_managed ORDER BY customer_name")
    assert rows == [HEADER] + [[a, str(b), c] for a, b, c in FIVE], q["Status"]


def test_row_36(world):
    q, rows = world.athena("SELECT * FROM customer_summary_regular")
    assert rows and rows[0] == HEADER and ["Mallory_sql", "999", "99999.99"] in rows and len(rows) == 5, q["Status"]


def test_row_37(world):
    q, _ = world.athena("INSERT INTO customer_summary_managed VALUES ('Mallory_athena', 1, 77777.77, 1, 1)")
    s = q["Status"]
    assert s["State"] == "FAILED" and (s["AthenaError"]["ErrorCategory"], s["AthenaError"]["ErrorType"]) == (2, 1500)
    assert s["StateChangeReason"].startswith("PERMISSION_DENIED: Access Denied") and DENIED in s["StateChangeReason"] and "analytics.customer_summary_managed" in s["StateChangeReason"]


def test_row_38(world):
    q, _ = world.athena("INSERT INTO customer_summary_regular VALUES ('Mallory_athena', 1, 77777.77)")
    assert q["Status"]["State"] == "SUCCEEDED", q["Status"]
    assert ["Mallory_athena", "1", "77777.77"] in world.athena("SELECT * FROM customer_summary_regular")[1]


# ---- Glue's UpdateTable -------------------------------------------------------------------------------------------------------------------------

VIEW_INPUT = """IsProtected, Definer, ViewVersionId, ViewVersionToken,
      SubObjects, SubObjectVersionIds, LastRefreshType,
      Representations: [.Representations[] | {Dialect, DialectVersion, ViewOriginalText}]"""


def update(name, view="IsManaged", table_type='"EXTERNAL_TABLE"', version=True, action=True, description="tampered by UpdateTable"):
    """get-table, jq, update-table, as the document has them."""
    definition = "" if view is None else f""",
    ViewDefinition: (.ViewDefinition | {{{VIEW_INPUT}, {view}}})"""
    return f"""set -e
aws glue get-table --catalog-id $S3T_CATALOG --database-name analytics \
  --name {name} --output json > current.json
jq '.Table | {{Name, Description: "{description}", TableType: {table_type}, Parameters, StorageDescriptor{definition}}}' current.json > table_input.json
aws glue update-table --catalog-id $S3T_CATALOG --database-name analytics \
  {"--version-id $(jq -r '.Table.VersionId' current.json)" if version else ""} \
  {"--view-update-action REPLACE" if action else ""} \
  --table-input file://table_input.json"""


def test_row_39(world):
    assert ("An error occurred (InvalidInputException) when calling the UpdateTable operation: Cannot modify ViewDefinition.IsManaged on a system-managed materialized view. "
            "This field is immutable after creation.") in world.denied(update("customer_summary_managed", "IsManaged: false"))


def test_row_40(world):
    why = world.denied(update("customer_summary_managed", "IsManaged: false", version=False))
    assert "FederationSourceException" in why and "versionToken" in why and "--version-id" in why


def test_row_41(world):
    assert "View update action must be one of: [ADD, REPLACE, ADD_OR_REPLACE, DROP]" in world.denied(update("customer_summary_managed", "IsManaged: false", action=False))


def test_row_42(world):
    assert "Materialized views must have table type EXTERNAL_TABLE." in world.denied(update("customer_summary_managed", "IsManaged: false", table_type=".TableType"))
    assert world.get_table("customer_summary_managed", "Table.TableType") == "customer"


def test_row_43(world):
    assert ("(InvalidInputException) when calling the UpdateTable operation: Cannot modify ViewDefinition on a system-managed materialized view. "
            "This field is immutable after creation.") in world.denied(update("customer_summary_managed", None, action=False))


def test_row_44(world):
    world.shell(update("customer_summary_regular", None, action=False, description="without a definition"))
    t = world.get_table("customer_summary_regular", "Table.{Text:ViewDefinition.Representations[0].ViewOriginalText,Description:Description}")
    assert "SUM(amount) AS total_amount" in t["Text"] and t["Description"] == "without a definition"


def test_row_45(world):
    doubled = """IsManaged, Representations: [.Representations[] | {Dialect, DialectVersion, ViewOriginalText: (.ViewOriginalText | sub("SUM\\\\(amount\\\\)"; "SUM(amount) * 2"))}]"""
    for name in ("customer_summary_managed", "customer_summary_regular"):
        assert "(InvalidInputException) when calling the UpdateTable operation: Update of ViewOriginalText for Materialized View is not available." in world.denied(update(name, doubled))


def test_row_46(world):
    for name in ("customer_summary_managed", "customer_summary_regular"):
        world.shell(update(name, description=f"orders of {name}"))
        assert world.get_table(name, "Table.Description") == f"orders of {name}"
    assert world.get_table("customer_summary_managed", "Table.ViewDefinition.IsManaged") is True


# ---- S3 Tables' UpdateTableMetadataLocation -----------------------------------------------------------------------------------------------------

def location(world, name):
    return world.json(f"aws s3tables get-table-metadata-location --table-bucket-arn $TB_ARN --namespace analytics --name {name}")


def test_row_47(world):
    at = location(world, "customer_summary_regular")
    assert re.fullmatch("[0-9a-f]{20}", at["versionToken"]) and at["metadataLocation"].startswith(at["warehouseLocation"] + "/metadata/000")
    assert re.fullmatch(r"s3://[0-9a-z-]{63}", at["warehouseLocation"]) and at["warehouseLocation"].endswith("--table-s3")


def before_athena(world, at):
    """The metadata file of the state before Athena's INSERT: the newest one with another snapshot."""
    def read(where):
        return json.loads(world.shell(f"aws s3 cp {where} -"))
    now = read(at["metadataLocation"])
    for entry in reversed(now["metadata-log"]):
        if read(entry["metadata-file"])["current-snapshot-id"] != now["current-snapshot-id"]:
            return entry["metadata-file"]
    raise AssertionError("there is no older state")


def swap(name, token, where):
    return f"aws s3tables update-table-metadata-location --table-bucket-arn $TB_ARN --namespace analytics --name {name} --version-token {token} --metadata-location {where}"


def test_row_48(world):
    at = location(world, "customer_summary_regular")
    old = before_athena(world, at)
    out = world.json(swap("customer_summary_regular", at["versionToken"], old))
    world.tokens = out["versionToken"], at["versionToken"]
    assert out["name"] == "customer_summary_regular" and out["namespace"] == ["analytics"] and out["metadataLocation"] == old and out["versionToken"] != at["versionToken"]
    assert out["tableARN"].startswith(TB_ARN + "/table/")


def test_row_49(world):
    at = location(world, "customer_summary_managed")
    arn = world.json("aws s3tables get-table --table-bucket-arn $TB_ARN --namespace analytics --name customer_summary_managed")["tableARN"]
    why = world.denied(swap("customer_summary_managed", at["versionToken"], at["metadataLocation"]))
    assert (f"An error occurred (AccessDeniedException) when calling the UpdateTableMetadataLocation operation: User: arn:aws:sts::{ACCOUNT}:assumed-role/cm-user/ishikawa is not authorized to perform: "
            f"s3tables:UpdateTableMetadataLocation on resource: {arn} with an explicit deny in a resource-based policy") in why
    assert location(world, "customer_summary_managed") == at


def test_row_50(world):
    def policy(name):
        return f"aws s3tables get-table-policy --table-bucket-arn $TB_ARN --namespace analytics --name {name}"
    shown = json.loads(world.json(policy("customer_summary_managed"))["resourcePolicy"])
    assert "GlueSystemManagedMaterializedView" in [s.get("Sid") for s in shown["Statement"]]
    assert "(NotFoundException) when calling the GetTablePolicy operation: The specified table policy does not exist." in world.denied(policy("customer_summary_regular"))
    assert "NotFoundException" in world.denied("aws s3tables get-table-bucket-policy --table-bucket-arn $TB_ARN")


def mismatch(world):
    return f"versionId ({world.tokens[0]}) != viewVersionToken ({world.tokens[1]})"


def test_row_51(world):
    q, _ = world.athena("SELECT * FROM customer_summary_regular ORDER BY customer_name")
    assert q["Status"]["State"] == "FAILED" and q["Status"]["StateChangeReason"].startswith(
        f"NOT_SUPPORTED: Materialized view integrity check failed for (catalog:{S3T_CATALOG}$schema:analytics, customer_summary_regular): {mismatch(world)}"), q["Status"]


def test_row_52(world):
    why = spark(world, "52").failed(f"Materialized view customer_summary_regular integrity check failed: {mismatch(world)}. Please recreate the materialized view or run a full refresh")
    assert not world.runner.spark or "org.apache.iceberg.exceptions.ValidationException" in why


def test_row_53(world):
    spark(world, "53").ok()
    assert world.athena("SELECT * FROM customer_summary_regular ORDER BY customer_name")[1] == [HEADER] + [[a, str(b), c] for a, b, c in FIVE]


def test_row_54(world):
    assert summary(spark(world, "54")) == FIVE
    spark(world, "54b").ok()


# ---- the permitted operations --------------------------------------------------------------------------------------------------------------------

def test_row_55(world):
    spark(world, "55").ok()
    assert dict((n, s) for n, _, s in views(spark(world, "55b")))["customer_summary_managed"] == "STALE"


def test_row_56(world):
    spark(world, "56").failed(f"User: arn:aws:sts::{ACCOUNT}:assumed-role/{BUCKET}/GlueJobRunnerSession is not authorized to perform: glue:StartMaterializedViewRefreshTaskRun",
                              "because no identity-based policy allows the glue:StartMaterializedViewRefreshTaskRun action")


def test_row_57(world):
    (world.folder / "policy.json").write_text(json.dumps(POLICY | {"Statement": POLICY["Statement"] + [REFRESH_RUNS]}))
    world.shell("aws iam put-role-policy --role-name $BUCKET --policy-name mv-test --policy-document file://policy.json")
    spark(world, "57").ok()
    timed(world, "REFRESH MATERIALIZED VIEW FULL (456.5 s)", "57")


SEVEN = [("Alice", 2, "225.25"), ("Bob", 2, "300.49"), ("Carol", 2, "500.00"), ("Dave", 1, "50.00")]


def test_row_58(world):
    assert summary(spark(world, "58")) == SEVEN and [r["operation"] for r in spark(world, "58b").ok()] == ["overwrite", "overwrite"]
    assert list(spark(world, "58").rows[0]) == HEADER
    assert dict((n, s) for n, _, s in views(spark(world, "58c")))["customer_summary_managed"] == "FRESH"
    assert world.athena("SELECT * FROM customer_summary_managed ORDER BY customer_name")[1][1:] == [[a, str(b), c] for a, b, c in SEVEN]


RUNS = "aws glue list-materialized-view-refresh-task-runs --catalog-id $S3T_CATALOG --database-name analytics --table-name customer_summary_managed"


def test_row_59(world):
    runs = world.json(RUNS)["MaterializedViewRefreshTaskRuns"]
    assert len(runs) == 1
    r = runs[0]
    assert (r["CustomerId"], r["DatabaseName"], r["TableName"], r["CatalogId"], r["Role"], r["Status"], r["RefreshType"]) == (
        ACCOUNT, "analytics", "customer_summary_managed", S3T_CATALOG, JOB_ROLE, "SUCCEEDED", "FULL")
    assert r["CreationTime"] <= r["StartTime"] <= r["EndTime"] and r["ProcessedBytes"] > 0 and r["DPUSeconds"] >= 0
    assert re.fullmatch("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", r["MaterializedViewRefreshTaskRunId"])


def test_row_60(world):
    spark(world, "60").ok()
    shown = {r["key"]: r["value"] for r in spark(world, "60b").ok()}
    assert shown["blog.note"] == "updated-by-owner" and shown["s3TableArn"].startswith(TB_ARN) and shown["ownerAccountId"] == ACCOUNT
    assert {"createdBy", "current-snapshot-id", "format", "format-version", "warehouse_location", "write.parquet.compression-codec"} <= set(shown)
    assert len(spark(world, "60c").ok()) == 2


def test_row_61(world):
    spark(world, "61").ok()
    assert "schedule=600" in described(spark(world, "61b"))[1]["Materialized View Properties"]
    spark(world, "61c").ok()
    spark(world, "61d").failed("below the minimum of 600 seconds")


def test_row_62(world):
    spark(world, "62").ok()
    assert "schedule=3600" in described(spark(world, "62b"))[1]["Materialized View Properties"]


def test_row_63(world):
    spark(world, "63").ok()
    assert "schedule=" not in described(spark(world, "63b"))[1]["Materialized View Properties"]


def test_row_64(world):
    assert world.get_table("customer_summary_managed", "Table.{IsManaged:ViewDefinition.IsManaged,RefreshSeconds:ViewDefinition.RefreshSeconds,LastRefreshType:ViewDefinition.LastRefreshType}") == {
        "IsManaged": True, "RefreshSeconds": None, "LastRefreshType": "FULL"}


def test_row_65(world):
    assert "(MaterializedViewRefreshTaskNotRunningException)" in world.denied(
        "aws glue stop-materialized-view-refresh-task-run --catalog-id $S3T_CATALOG --database-name analytics --table-name customer_summary_managed")


def test_row_66(world):
    out = world.shell(RUNS + " --query 'MaterializedViewRefreshTaskRuns[].{Id:MaterializedViewRefreshTaskRunId,Status:Status,Created:CreationTime,End:EndTime,DPU:DPUSeconds}' --output table")
    assert "ListMaterializedViewRefreshTaskRuns" in out and out.count("SUCCEEDED") == 1 and "RUNNING" not in out and "STARTING" not in out


def test_row_67(world):
    at = location(world, "customer_summary_managed")["metadataLocation"]
    spark(world, "67").ok()
    spark(world, "67b").ok()
    assert spark(world, "67c").ok() == []
    assert world.json("aws s3tables list-tables --table-bucket-arn $TB_ARN --namespace analytics")["tables"] == []
    assert re.search("404|NoSuch|Not Found", world.denied(f"aws s3 cp {at} -"))


def test_row_68(world):
    """Without the setting: an error that names it.  In a general purpose bucket, and in a job of an older Glue: an error that says so."""
    spark(world, "68b").failed("spark.sql.mv.managed.enabled")
    spark(world, "68d").failed("not supported in general purpose buckets")
    spark(world, "68f").failed("needs AWS Glue 6.0 or later")
