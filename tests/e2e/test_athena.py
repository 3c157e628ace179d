# SPDX-License-Identifier: Apache-2.0
"""Athena by boto3: executions and their states, result files, paging, errors, workgroups, tokens, prepared statements, metadata, protection."""
import csv
import io
import json
import re
import sqlite3
import threading
import time
import uuid

import boto3
import botocore.config
import botocore.exceptions
import pytest

ClientError = botocore.exceptions.ClientError
ACCOUNT = "123456789012"


class Athena:
    """A client, where its results go, and a statement run to its end."""

    def __init__(self, server, key=None, secret=None, bucket="results"):
        conf = dict(endpoint_url=server.lake, region_name="us-east-1", aws_access_key_id=key or server.key, aws_secret_access_key=secret or server.secret)
        self.c = boto3.client("athena", **conf, config=botocore.config.Config(retries={"max_attempts": 1}))
        self.s3 = server.s3()
        self.out = f"s3://{bucket}/athena/"

    def start(self, sql, database=None, catalog=None, **more):
        context = {k: v for k, v in (("Database", database), ("Catalog", catalog)) if v}
        more.setdefault("ResultConfiguration", {"OutputLocation": self.out})
        return self.c.start_query_execution(QueryString=sql, QueryExecutionContext=context, **more)["QueryExecutionId"]

    def wait(self, qid, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            q = self.c.get_query_execution(QueryExecutionId=qid)["QueryExecution"]
            if q["Status"]["State"] not in ("QUEUED", "RUNNING"):
                return q
            time.sleep(0.02)
        raise AssertionError("the query does not end")

    def run(self, sql, database=None, catalog=None, **more):
        return self.wait(self.start(sql, database, catalog, **more))

    def ok(self, sql, database=None, catalog=None, **more):
        q = self.run(sql, database, catalog, **more)
        assert q["Status"]["State"] == "SUCCEEDED", q["Status"]
        return q

    def failed(self, sql, database=None, catalog=None, **more):
        q = self.run(sql, database, catalog, **more)
        assert q["Status"]["State"] == "FAILED", (sql, q["Status"])
        return q["Status"]

    def results(self, qid, **more):
        return self.c.get_query_results(QueryExecutionId=qid, **more)

    def rows(self, sql, database=None, catalog=None, **more):
        """The rows without the header."""
        q = self.ok(sql, database, catalog, **more)
        data = [[d.get("VarCharValue") for d in r["Data"]] for r in self.results(q["QueryExecutionId"])["ResultSet"]["Rows"]]
        return data[1:] if q["ResultConfiguration"]["OutputLocation"].endswith(".csv") else data

    def object(self, uri):
        bucket, key = uri[5:].split("/", 1)
        return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()


@pytest.fixture(scope="module")
def ath(server):
    a = Athena(server)
    a.s3.create_bucket(Bucket="results")
    return a


@pytest.fixture(scope="module")
def db(server):
    name = f"ath{time.monotonic_ns()}"
    server.sql(f"""CREATE NAMESPACE glue_catalog.{name};
        CREATE TABLE glue_catalog.{name}.sales (id INT, name STRING, amount DECIMAL(10,2)) USING iceberg;
        INSERT INTO glue_catalog.{name}.sales VALUES (1, 'Alice', 10.50), (2, 'Bob', 20.25), (3, NULL, NULL)""")
    return name


@pytest.fixture()
def wg(ath):
    name = f"wg-{uuid.uuid4().hex[:8]}"
    ath.c.create_work_group(Name=name, Configuration={"ResultConfiguration": {"OutputLocation": "s3://results/wg/"}, "EnforceWorkGroupConfiguration": True})
    return name


def refused(call, *args, code="InvalidRequestException", **more):
    with pytest.raises(ClientError) as e:
        call(*args, **more)
    assert e.value.response["Error"]["Code"] == code, e.value.response["Error"]
    return e.value.response["Error"]["Message"]


# ---- queries and their results ---------------------------------------------------------------------------------------------------

def test_select_and_its_files(ath, db):
    q = ath.ok("SELECT id, name, amount FROM sales ORDER BY id", db)
    assert q["StatementType"] == "DML" and q["SubstatementType"] == "SELECT" and q["WorkGroup"] == "primary"
    assert q["Statistics"]["DataScannedInBytes"] > 0 and q["Statistics"]["TotalExecutionTimeInMillis"] >= q["Statistics"]["EngineExecutionTimeInMillis"]
    where = q["ResultConfiguration"]["OutputLocation"]
    assert where == f"s3://results/athena/{q['QueryExecutionId']}.csv"
    assert ath.object(where) == b'"id","name","amount"\n"1","Alice","10.50"\n"2","Bob","20.25"\n"3",,\n'
    meta = ath.object(where + ".metadata")
    assert b"decimal" in meta and b"amount" in meta
    r = ath.results(q["QueryExecutionId"])["ResultSet"]
    assert [[d.get("VarCharValue") for d in row["Data"]] for row in r["Rows"]] == [["id", "name", "amount"], ["1", "Alice", "10.50"], ["2", "Bob", "20.25"], ["3", None, None]]
    cols = r["ResultSetMetadata"]["ColumnInfo"]
    assert [(c["Name"], c["Type"], c["Precision"], c["Scale"]) for c in cols] == [("id", "integer", 10, 0), ("name", "varchar", 2147483647, 0), ("amount", "decimal", 10, 2)]
    stats = ath.c.get_query_runtime_statistics(QueryExecutionId=q["QueryExecutionId"])["QueryRuntimeStatistics"]
    assert stats["Rows"]["OutputRows"] == 3 and stats["Rows"]["OutputBytes"] == len(ath.object(where)) and stats["OutputStage"]["State"] == "FINISHED"


def test_text_that_csv_must_quote(ath, db, server):
    server.sql(f"CREATE TABLE glue_catalog.{db}.texts (i INT, s STRING) USING iceberg")
    texts = ['plain', 'a,b', 'say "hi"', 'two\nlines', '', ' blanks ', 'é ☃', None]
    with server.connect() as c:
        for i, t in enumerate(texts):
            c.execute(f"INSERT INTO glue_catalog.{db}.texts VALUES (%s, %s)", (i, t))
    q = ath.ok("SELECT s FROM texts ORDER BY i", db)
    assert [r["Data"][0].get("VarCharValue") for r in ath.results(q["QueryExecutionId"])["ResultSet"]["Rows"]][1:] == texts
    body = ath.object(q["ResultConfiguration"]["OutputLocation"]).decode()
    assert [r[0] for r in csv.reader(io.StringIO(body), lineterminator="\n") if r][1:7] == texts[:4] + texts[4:6]
    assert body.endswith('\n"é ☃"\n\n')


def test_pages(ath, db):
    q = ath.ok("SELECT a.id * 100 + b.id AS n, a.name FROM sales a CROSS JOIN sales b ORDER BY 1", db)
    seen, token, pages = [], None, 0
    while True:
        r = ath.results(q["QueryExecutionId"], MaxResults=4, **({"NextToken": token} if token else {}))
        seen += [row["Data"][0].get("VarCharValue") for row in r["ResultSet"]["Rows"]]
        pages += 1
        token = r.get("NextToken")
        if not token:
            break
        last = token
    assert seen == ["n"] + [str(a * 100 + b) for a in (1, 2, 3) for b in (1, 2, 3)] and pages == 3
    other = ath.ok("SELECT 1", db)
    assert "token" in refused(ath.results, other["QueryExecutionId"], NextToken=last).lower()
    refused(ath.results, q["QueryExecutionId"], NextToken="bm90IGEgdG9rZW4=")


def test_every_type_of_a_table(ath, db, server):
    t = f"glue_catalog.{db}.kinds"
    server.sql(f"""CREATE TABLE {t} (b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(12,3), s STRING, dt DATE, ts TIMESTAMP_NTZ, tz TIMESTAMP, bin BINARY,
                   arr ARRAY<INT>, m MAP<STRING, INT>, r STRUCT<x: INT, y: STRING>) USING iceberg;
        INSERT INTO {t} SELECT true, 7, 1234567890123, CAST(1.5 AS FLOAT), 1e10, 3.250, 'x', DATE '2024-02-29', TIMESTAMP_NTZ '2024-02-29 12:34:56.789012',
            TIMESTAMP '2024-02-29 12:34:56 UTC', X'00ff', array(1, NULL, 3), map('k', 1), named_struct('x', 1, 'y', 'z')""")
    q = ath.ok("SELECT * FROM kinds", db)
    r = ath.results(q["QueryExecutionId"])["ResultSet"]
    assert [d.get("VarCharValue") for d in r["Rows"][1]["Data"]] == [
        "true", "7", "1234567890123", "1.5", "1.0E10", "3.250", "x", "2024-02-29", "2024-02-29 12:34:56.789012", "2024-02-29 12:34:56.000000 UTC", "00 ff",
        "[1, null, 3]", "{k=1}", "{x=1, y=z}"]
    assert [c["Type"] for c in r["ResultSetMetadata"]["ColumnInfo"]] == [
        "boolean", "integer", "bigint", "float", "double", "decimal", "varchar", "date", "timestamp", "timestamp with time zone", "varbinary", "array", "map", "row"]


def test_writes(ath, db, server):
    server.sql(f"CREATE TABLE glue_catalog.{db}.target (id INT, name STRING) USING iceberg")
    q = ath.ok("INSERT INTO target SELECT id, name FROM sales", db)
    assert q["SubstatementType"] == "INSERT" and not q["ResultConfiguration"]["OutputLocation"].endswith((".csv", ".txt"))
    files = ath.object(q["Statistics"]["DataManifestLocation"]).decode().split()
    assert files and all(f.startswith("s3://") and f.endswith(".parquet") for f in files)
    for f in files:
        ath.object(f)
    assert ath.results(q["QueryExecutionId"])["UpdateCount"] == 3
    assert ath.results(ath.ok("DELETE FROM target WHERE id = 1", db)["QueryExecutionId"])["UpdateCount"] == 1
    assert ath.results(ath.ok("UPDATE target SET name = 'X' WHERE id = 2", db)["QueryExecutionId"])["UpdateCount"] == 1
    assert ath.rows("SELECT * FROM target ORDER BY id", db) == [["2", "X"], ["3", None]]


def test_text_results(ath, db):
    q = ath.ok("SHOW DATABASES")
    assert q["StatementType"] == "UTILITY" and q["ResultConfiguration"]["OutputLocation"].endswith(".txt")
    assert [db] in ath.rows("SHOW DATABASES")
    name = f"made{time.monotonic_ns()}"
    q = ath.ok(f"CREATE DATABASE {name}")
    assert q["StatementType"] == "DDL" and ath.object(q["ResultConfiguration"]["OutputLocation"]) == b""
    assert ath.results(q["QueryExecutionId"])["ResultSet"]["Rows"] == []
    assert ath.c.get_database(CatalogName="AwsDataCatalog", DatabaseName=name)["Database"]["Name"] == name
    ath.ok(f"DROP DATABASE {name}")
    refused(ath.c.get_database, CatalogName="AwsDataCatalog", DatabaseName=name, code="MetadataException")


# ---- errors ------------------------------------------------------------------------------------------------------------------------

def test_failures_say_what_and_where(ath, db):
    s = ath.failed("SELECT * FROM nowhere", db)
    assert s["StateChangeReason"].startswith("TABLE_NOT_FOUND: line 1:15: Table") and s["AthenaError"]["ErrorCategory"] == 2 and s["AthenaError"]["ErrorType"] == 1006
    s = ath.failed("SELECT nothing FROM sales", db)
    assert s["StateChangeReason"].startswith("COLUMN_NOT_FOUND: line 1:8:") and not s["AthenaError"]["Retryable"]
    s = ath.failed("SELECT 1 / (id - id) FROM sales", db)
    assert s["StateChangeReason"].startswith("DIVISION_BY_ZERO") and s["AthenaError"]["ErrorMessage"] == s["StateChangeReason"]
    q = ath.run("SELECT * FROM nowhere", db)
    assert "FAILED" in refused(ath.results, q["QueryExecutionId"])


def test_requests_that_do_not_start(ath, db, wg):
    assert re.match(r"line 1:1: mismatched input", refused(ath.start, "SELEC 1", db))
    refused(ath.start, "SELECT 1; SELECT 2", db)
    assert refused(ath.start, "SELECT 1", db, WorkGroup="nowhere") == "WorkGroup does not exist"
    assert refused(ath.start, "SELECT 1", db, ResultConfiguration={}).startswith("No output location provided.")
    assert refused(ath.start, "SELECT 1", db, ResultConfiguration={"OutputLocation": "results/x"}) == "outputLocation is not a valid S3 path."
    assert "SSE_KMS" in refused(ath.start, "SELECT 1", db, ResultConfiguration={"OutputLocation": ath.out, "EncryptionConfiguration": {"EncryptionOption": "SSE_KMS", "KmsKey": "k"}})
    assert "not found" in refused(ath.start, "SELECT 1", db, "nowhere")
    assert refused(ath.c.get_query_execution, QueryExecutionId="1") == "QueryExecution 1 was not found"
    for sql in ("CREATE MATERIALIZED VIEW v AS SELECT 1", "REFRESH MATERIALIZED VIEW v", "DROP MATERIALIZED VIEW v", "ALTER MATERIALIZED VIEW v DROP SCHEDULE"):
        refused(ath.start, sql, db)
    ath.c.update_work_group(WorkGroup=wg, State="DISABLED")
    assert "disabled" in refused(ath.start, "SELECT 1", db, WorkGroup=wg)


def test_output_bucket(ath, db):
    """Made when it is not there, as Athena does; a name that no bucket can have is refused."""
    bucket = f"made-{uuid.uuid4().hex[:10]}"
    q = ath.ok("SELECT 1", db, ResultConfiguration={"OutputLocation": f"s3://{bucket}/x"})
    assert q["ResultConfiguration"]["OutputLocation"].startswith(f"s3://{bucket}/x/")
    assert refused(ath.start, "SELECT 1", db, ResultConfiguration={"OutputLocation": "s3://Not_A_Bucket/x"}).startswith("Unable to verify/create output bucket Not_A_Bucket")


# ---- workgroups, tokens, parameters -------------------------------------------------------------------------------------------------

def test_workgroup_holds(ath, db, wg):
    q = ath.ok("SELECT 1", db, WorkGroup=wg)
    assert q["ResultConfiguration"]["OutputLocation"].startswith("s3://results/wg/")
    ath.c.update_work_group(WorkGroup=wg, ConfigurationUpdates={"EnforceWorkGroupConfiguration": False, "BytesScannedCutoffPerQuery": 10000000})
    q = ath.ok("SELECT 1", db, WorkGroup=wg)
    assert q["ResultConfiguration"]["OutputLocation"].startswith(ath.out)
    conf = ath.c.get_work_group(WorkGroup=wg)["WorkGroup"]["Configuration"]
    assert conf["BytesScannedCutoffPerQuery"] == 10000000 and not conf["EnforceWorkGroupConfiguration"] and conf["ResultConfiguration"] == {"OutputLocation": "s3://results/wg/"}
    ath.c.update_work_group(WorkGroup=wg, ConfigurationUpdates={"RemoveBytesScannedCutoffPerQuery": True, "ResultConfigurationUpdates": {"RemoveOutputLocation": True}})
    conf = ath.c.get_work_group(WorkGroup=wg)["WorkGroup"]["Configuration"]
    assert "BytesScannedCutoffPerQuery" not in conf and conf["ResultConfiguration"] == {}
    ath.c.create_named_query(Name="n", Database=db, QueryString="SELECT 1", WorkGroup=wg)
    assert "not empty" in refused(ath.c.delete_work_group, WorkGroup=wg)
    ath.c.delete_work_group(WorkGroup=wg, RecursiveDeleteOption=True)
    refused(ath.c.get_work_group, WorkGroup=wg)
    refused(ath.c.delete_work_group, WorkGroup="primary")


def test_scan_limit(ath, db, server, wg):
    server.sql(f"CREATE TABLE glue_catalog.{db}.big (s STRING) USING iceberg; INSERT INTO glue_catalog.{db}.big SELECT uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || uuid() || CAST(id AS STRING) FROM range(90000)")
    ath.c.update_work_group(WorkGroup=wg, ConfigurationUpdates={"BytesScannedCutoffPerQuery": 10000000})
    q = ath.run("SELECT count(*) FROM big WHERE s > 'a'", db, WorkGroup=wg)
    assert q["Status"]["State"] == "CANCELLED" and "Bytes scanned limit was exceeded" in q["Status"]["StateChangeReason"] and q["Statistics"]["DataScannedInBytes"] > 10000000
    assert ath.rows("SELECT count(*) FROM big WHERE s > ''", db) == [["90000"]]


def test_request_tokens(ath, db):
    token = uuid.uuid4().hex
    one = ath.start("SELECT 1 AS x", db, ClientRequestToken=token)
    assert ath.start("SELECT 1 AS x", db, ClientRequestToken=token) == one
    assert refused(ath.start, "SELECT 2 AS x", db, ClientRequestToken=token) == "Idempotent parameters do not match"
    assert ath.start("SELECT 1 AS x", db, ClientRequestToken=uuid.uuid4().hex) != one


def test_parameters(ath, db):
    assert ath.rows("SELECT id FROM sales WHERE name = ? AND amount > ?", db, ExecutionParameters=["'Bob'", "1.5"]) == [["2"]]
    assert ath.rows("SELECT count(*) FROM sales WHERE name = ?", db, ExecutionParameters=["''' OR 1 = 1 --'"]) == [["0"]]
    for bad in ("name", "(SELECT 'Bob')", "'a' FROM sales", "1; DROP TABLE sales", "1) OR (1 = 1"):
        ath.failed("SELECT id FROM sales WHERE name = ?", db, ExecutionParameters=[bad])
    assert "Incorrect number of parameters" in ath.failed("SELECT ?", db, ExecutionParameters=["1", "2"])["StateChangeReason"]
    assert "Incorrect number of parameters" in ath.failed("SELECT id FROM sales WHERE id = ?", db)["StateChangeReason"]


def test_prepared_statements(ath, db, wg):
    ath.c.create_prepared_statement(StatementName="by_id", WorkGroup=wg, QueryStatement="SELECT name FROM sales WHERE id = ?")
    refused(ath.c.create_prepared_statement, StatementName="by_id", WorkGroup=wg, QueryStatement="SELECT 1")
    assert ath.rows("EXECUTE by_id USING 2", db, WorkGroup=wg) == [["Bob"]]
    assert ath.rows("EXECUTE by_id", db, WorkGroup=wg, ExecutionParameters=["1"]) == [["Alice"]]
    ath.ok("PREPARE two FROM SELECT id FROM sales WHERE name = ? AND id < ?", db, WorkGroup=wg)
    assert ath.c.get_prepared_statement(StatementName="two", WorkGroup=wg)["PreparedStatement"]["QueryStatement"] == "SELECT id FROM sales WHERE name = ? AND id < ?"
    assert ath.rows("EXECUTE two USING 'Alice', 10", db, WorkGroup=wg) == [["1"]]
    assert {p["StatementName"] for p in ath.c.list_prepared_statements(WorkGroup=wg)["PreparedStatements"]} == {"by_id", "two"}
    ath.ok("DEALLOCATE PREPARE two", db, WorkGroup=wg)
    refused(ath.start, "EXECUTE two USING 'a', 1", db, WorkGroup=wg, code="ResourceNotFoundException")
    ath.c.update_prepared_statement(StatementName="by_id", WorkGroup=wg, QueryStatement="SELECT id + ? AS n FROM sales WHERE id = 1", Description="d")
    assert ath.rows("EXECUTE by_id USING 41", db, WorkGroup=wg) == [["42"]]
    batch = ath.c.batch_get_prepared_statement(PreparedStatementNames=["by_id", "two"], WorkGroup=wg)
    assert [p["Description"] for p in batch["PreparedStatements"]] == ["d"] and [p["StatementName"] for p in batch["UnprocessedPreparedStatementNames"]] == ["two"]
    ath.c.delete_prepared_statement(StatementName="by_id", WorkGroup=wg)
    refused(ath.c.get_prepared_statement, StatementName="by_id", WorkGroup=wg, code="ResourceNotFoundException")


# ---- the life of an execution ---------------------------------------------------------------------------------------------------------

def test_lists_are_newest_first(ath, db, wg):
    ids = [ath.start(f"SELECT {i}", db, WorkGroup=wg) for i in range(7)]
    for i in ids:
        ath.wait(i)
    first = ath.c.list_query_executions(WorkGroup=wg, MaxResults=3)
    newer = ath.start("SELECT 99", db, WorkGroup=wg)                  # moves nothing of the pages that follow
    second = ath.c.list_query_executions(WorkGroup=wg, MaxResults=10, NextToken=first["NextToken"])
    got = first["QueryExecutionIds"] + second["QueryExecutionIds"]
    assert sorted(got) == sorted(ids) and "NextToken" not in second and newer not in got
    times = [ath.c.get_query_execution(QueryExecutionId=i)["QueryExecution"]["Status"]["SubmissionDateTime"] for i in got]
    assert times == sorted(times, reverse=True)
    batch = ath.c.batch_get_query_execution(QueryExecutionIds=ids[:2] + ["nothing"])
    assert [q["QueryExecutionId"] for q in batch["QueryExecutions"]] == ids[:2] and batch["UnprocessedQueryExecutionIds"][0]["QueryExecutionId"] == "nothing"


LONG = "SELECT count(*) FROM {db}.many a CROSS JOIN {db}.many b CROSS JOIN {db}.many c WHERE a.i * b.i + c.i < 0"


@pytest.fixture(scope="module")
def many(server, db):
    server.sql(f"CREATE TABLE glue_catalog.{db}.many (i BIGINT) USING iceberg; INSERT INTO glue_catalog.{db}.many SELECT id FROM range(50000)")


def test_stop(ath, db, many):
    qid = ath.start(LONG.format(db=db), db)
    assert ath.c.get_query_execution(QueryExecutionId=qid)["QueryExecution"]["Status"]["State"] in ("QUEUED", "RUNNING")
    assert "not yet finished" in refused(ath.results, qid)
    begun = time.time()
    ath.c.stop_query_execution(QueryExecutionId=qid)
    q = ath.wait(qid)
    assert q["Status"]["State"] == "CANCELLED" and time.time() - begun < 5 and "CompletionDateTime" in q["Status"]
    ath.c.stop_query_execution(QueryExecutionId=qid)                  # again: nothing
    assert ath.wait(qid)["Status"]["State"] == "CANCELLED"


def test_queue(ath, db, many):
    """More than can run at once: the rest wait, and may be stopped while they do."""
    ids = [ath.start(LONG.format(db=db), db) for _ in range(6)]
    states = [ath.c.get_query_execution(QueryExecutionId=i)["QueryExecution"]["Status"]["State"] for i in ids]
    assert states.count("RUNNING") == 4 and states.count("QUEUED") == 2
    waiting = ids[states.index("QUEUED")]
    ath.c.stop_query_execution(QueryExecutionId=waiting)
    assert ath.wait(waiting)["Status"]["State"] == "CANCELLED"
    threads = [threading.Thread(target=ath.c.stop_query_execution, kwargs={"QueryExecutionId": i}) for i in ids]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert [ath.wait(i)["Status"]["State"] for i in ids] == ["CANCELLED"] * 6


def test_restart(fresh):
    a = Athena(fresh)
    a.s3.create_bucket(Bucket="results")
    fresh.sql("CREATE NAMESPACE glue_catalog.r; CREATE TABLE glue_catalog.r.many (i BIGINT) USING iceberg; INSERT INTO glue_catalog.r.many SELECT id FROM range(50000)")
    done = a.ok("SELECT count(*) FROM many", "r")["QueryExecutionId"]
    left = a.start(LONG.format(db="r"), "r")
    fresh.kill()
    fresh.start()
    a = Athena(fresh)
    assert a.results(done)["ResultSet"]["Rows"][1]["Data"][0]["VarCharValue"] == "50000"
    q = a.c.get_query_execution(QueryExecutionId=left)["QueryExecution"]
    assert q["Status"]["State"] == "FAILED" and q["Status"]["AthenaError"]["ErrorCategory"] == 1 and q["Status"]["AthenaError"]["Retryable"]
    assert a.c.list_query_executions()["QueryExecutionIds"] == [left, done]
    running = a.start(LONG.format(db="r"), "r")
    fresh.stop()                                                       # ends in time though a query runs
    fresh.start()
    a = Athena(fresh)
    assert a.c.get_query_execution(QueryExecutionId=running)["QueryExecution"]["Status"]["State"] == "CANCELLED"


def test_history_ends(fresh):
    """Executions older than 45 days are forgotten."""
    a = Athena(fresh)
    a.s3.create_bucket(Bucket="results")
    recent = a.ok("SELECT 1", ClientRequestToken="t" * 32)["QueryExecutionId"]
    fresh.stop()
    with sqlite3.connect(fresh.data / "catalog.db") as c:
        (text,) = c.execute("SELECT value FROM doc WHERE kind = 'athena.query'").fetchone()
        for qid, days in (("11111111-old", 46), ("22222222-new", 44)):
            ms = int((time.time() - days * 86400) * 1000)
            record = dict(json.loads(text), Id=qid, SubmittedMs=ms, TokenKey=qid, ReuseKey=qid)
            c.execute("INSERT INTO doc VALUES ('athena.query', ?, ?)", (qid, json.dumps(record)))
            c.execute("INSERT INTO doc VALUES ('athena.index', ?, ?)", (f"primary/{2**63 - 1 - ms:016x}/{qid}", json.dumps({"id": qid, "ms": ms})))
            c.execute("INSERT INTO doc VALUES ('athena.token', ?, ?)", (qid, json.dumps({"id": qid, "of": "x"})))
            c.execute("INSERT INTO doc VALUES ('athena.reuse', ?, ?)", (qid, json.dumps({"id": qid, "ms": ms})))
    fresh.start()
    a = Athena(fresh)
    assert a.c.list_query_executions()["QueryExecutionIds"] == [recent, "22222222-new"]
    refused(a.c.get_query_execution, QueryExecutionId="11111111-old")
    fresh.stop()
    with sqlite3.connect(fresh.data / "catalog.db") as c:
        assert c.execute("SELECT count(*) FROM doc WHERE key LIKE '%11111111-old%'").fetchone() == (0,)
    fresh.start()


def test_results_used_again(ath, db, server):
    server.sql(f"CREATE TABLE glue_catalog.{db}.again (i INT) USING iceberg; INSERT INTO glue_catalog.{db}.again VALUES (1)")
    reuse = {"ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled": True, "MaxAgeInMinutes": 60}}}
    first = ath.ok("SELECT count(*) FROM again", db, **reuse)
    assert not first["Statistics"]["ResultReuseInformation"]["ReusedPreviousResult"]
    server.sql(f"INSERT INTO glue_catalog.{db}.again VALUES (2)")
    second = ath.ok("SELECT count(*) FROM again", db, **reuse)
    assert second["Statistics"]["ResultReuseInformation"]["ReusedPreviousResult"] and second["Statistics"]["DataScannedInBytes"] == 0
    assert ath.results(second["QueryExecutionId"])["ResultSet"]["Rows"][1]["Data"][0]["VarCharValue"] == "1"
    assert ath.rows("SELECT count(*) FROM again", db) == [["2"]]
    server.sql(f"DROP TABLE glue_catalog.{db}.again")
    assert ath.run("SELECT count(*) FROM again", db, **reuse)["Status"]["State"] == "FAILED"


def test_results_are_not_used_by_who_lost_the_right(ath, db, people):
    user, name, _ = people(*READ, WRITE_RESULTS)
    reuse = {"ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled": True}}}
    user.ok("SELECT max(id) FROM sales", db, **reuse)
    assert user.ok("SELECT max(id) FROM sales", db, **reuse)["Statistics"]["ResultReuseInformation"]["ReusedPreviousResult"]
    assert not ath.ok("SELECT max(id) FROM sales", db, **reuse)["Statistics"]["ResultReuseInformation"]["ReusedPreviousResult"]
    doc = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["athena:*", "s3:*"], "Resource": "*"}]}
    people.iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=json.dumps(doc))
    assert user.run("SELECT max(id) FROM sales", db, **reuse)["Status"]["State"] == "FAILED"


def test_long_cells_and_many_rows(ath, db):
    q = ath.ok("SELECT n, lpad(CAST(n AS varchar), 300000, '\"') AS s FROM UNNEST(SEQUENCE(1, 20)) AS x(n) ORDER BY n", db)
    seen, token = [], None
    while True:
        r = ath.results(q["QueryExecutionId"], **({"NextToken": token} if token else {}))
        seen += [[d["VarCharValue"] for d in row["Data"]] for row in r["ResultSet"]["Rows"]]
        token = r.get("NextToken")
        if not token:
            break
    assert [s[0] for s in seen[1:]] == [str(i) for i in range(1, 21)] and all(len(s[1]) == 300000 and s[1].endswith('"' + s[0]) for s in seen[1:])
    q = ath.ok("SELECT n FROM UNNEST(SEQUENCE(1, 10000)) AS x(n)", db)
    first = ath.results(q["QueryExecutionId"])
    assert len(first["ResultSet"]["Rows"]) == 1000 and "NextToken" in first
    assert ath.object(q["ResultConfiguration"]["OutputLocation"]).count(b"\n") == 10001


def test_many_at_once(ath, db):
    answers, problems = [], []

    def work(i):
        try:
            for k in range(8):
                answers.append(ath.rows(f"SELECT count(*) + {i * 100 + k} FROM sales", db) == [[str(3 + i * 100 + k)]])
        except Exception as e:
            problems.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not problems and len(answers) == 64 and all(answers)


# ---- metadata ------------------------------------------------------------------------------------------------------------------------

def test_metadata(ath, db, server):
    server.sql(f"CREATE TABLE glue_catalog.{db}.meta (i INT COMMENT 'the number', r STRUCT<a: ARRAY<BIGINT>, b: DECIMAL(5,1)>) USING iceberg; CREATE VIEW glue_catalog.{db}.meta_view AS SELECT i FROM glue_catalog.{db}.meta")
    t = ath.c.get_table_metadata(CatalogName="AwsDataCatalog", DatabaseName=db, TableName="META")["TableMetadata"]
    assert t["Columns"] == [{"Name": "i", "Type": "int", "Comment": "the number"}, {"Name": "r", "Type": "struct<a:array<bigint>,b:decimal(5,1)>"}]
    assert t["TableType"] == "EXTERNAL_TABLE" and t["Parameters"]["table_type"] == "ICEBERG" and t["Parameters"]["metadata_location"].endswith(".metadata.json")
    listed = {t["Name"]: t["TableType"] for t in ath.c.list_table_metadata(CatalogName="awsdatacatalog", DatabaseName=db, Expression="meta.*")["TableMetadataList"]}
    assert listed == {"meta": "EXTERNAL_TABLE", "meta_view": "VIRTUAL_VIEW"}
    refused(ath.c.list_table_metadata, CatalogName="AwsDataCatalog", DatabaseName=db, Expression="(a+)+$")
    refused(ath.c.get_table_metadata, CatalogName="AwsDataCatalog", DatabaseName=db, TableName="nothing", code="MetadataException")
    refused(ath.c.get_database, CatalogName="nothing", DatabaseName=db, code="MetadataException")
    assert ath.c.get_database(CatalogName="AwsDataCatalog", DatabaseName=db)["Database"]["Name"] == db
    names, token = [], None
    while True:
        r = ath.c.list_databases(CatalogName="AwsDataCatalog", MaxResults=1, **({"NextToken": token} if token else {}))
        names += [d["Name"] for d in r["DatabaseList"]]
        token = r.get("NextToken")
        if not token:
            break
    assert db in names and "default" in names and len(names) == len(set(names))


def test_data_catalogs(ath, db):
    name = f"cat_{uuid.uuid4().hex[:8]}"
    ath.c.create_data_catalog(Name=name, Type="GLUE", Parameters={"catalog-id": ACCOUNT}, Tags=[{"Key": "k", "Value": "v"}])
    refused(ath.c.create_data_catalog, Name=name, Type="GLUE", Parameters={"catalog-id": ACCOUNT})
    assert "connector" in refused(ath.c.create_data_catalog, Name="lam", Type="LAMBDA", Parameters={"function": "f"})
    assert name in [c["CatalogName"] for c in ath.c.list_data_catalogs()["DataCatalogsSummary"]]
    assert ath.rows("SELECT count(*) FROM sales", db, name) == [["3"]]
    assert ath.rows(f"SELECT count(*) FROM {name}.{db}.sales", db) == [["3"]]
    assert ath.c.list_tags_for_resource(ResourceARN=f"arn:aws:athena:us-east-1:{ACCOUNT}:datacatalog/{name}")["Tags"] == [{"Key": "k", "Value": "v"}]
    ath.c.update_data_catalog(Name=name, Type="GLUE", Parameters={"catalog-id": f"{ACCOUNT}:s3tablescatalog/nothing"})
    assert "does not exist" in refused(ath.start, "SELECT 1", db, name)
    ath.c.delete_data_catalog(Name=name)
    refused(ath.c.get_data_catalog, Name=name)


def test_named_queries(ath, db, wg):
    token = uuid.uuid4().hex
    args = dict(Name="n", Database=db, QueryString="SELECT 1", WorkGroup=wg, ClientRequestToken=token)
    qid = ath.c.create_named_query(**args)["NamedQueryId"]
    assert ath.c.create_named_query(**args)["NamedQueryId"] == qid
    refused(ath.c.create_named_query, **dict(args, QueryString="SELECT 2"))
    ath.c.update_named_query(NamedQueryId=qid, Name="m", QueryString="SELECT 3")
    assert ath.c.get_named_query(NamedQueryId=qid)["NamedQuery"] == {"Name": "m", "Database": db, "QueryString": "SELECT 3", "NamedQueryId": qid, "WorkGroup": wg}
    assert ath.c.list_named_queries(WorkGroup=wg)["NamedQueryIds"] == [qid]
    batch = ath.c.batch_get_named_query(NamedQueryIds=[qid, "x"])
    assert len(batch["NamedQueries"]) == 1 and batch["UnprocessedNamedQueryIds"][0]["NamedQueryId"] == "x"
    ath.c.delete_named_query(NamedQueryId=qid)
    refused(ath.c.get_named_query, NamedQueryId=qid)


# ---- materialized views ---------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def views(server, db):
    server.sql(f"""SET spark.sql.mv.managed.enabled = true;
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.{db}.managed AS SELECT name, count(*) AS n, sum(amount) AS s FROM glue_catalog.{db}.sales GROUP BY name;
        CREATE MATERIALIZED VIEW glue_catalog.{db}.regular AS SELECT name, count(*) AS n, sum(amount) AS s FROM glue_catalog.{db}.sales GROUP BY name""")


def test_views_are_read(ath, db, views):
    q = ath.ok("SELECT * FROM managed ORDER BY name", db)
    r = ath.results(q["QueryExecutionId"])["ResultSet"]["Rows"]
    assert [d["VarCharValue"] for d in r[0]["Data"]] == ["name", "n", "s"] and len(r) == 4


def test_managed_view_refuses_writes(ath, db, views):
    before = ath.rows("SELECT * FROM managed ORDER BY name", db)
    for sql in ("INSERT INTO managed VALUES ('Mallory', 1, 77777.77)", "DELETE FROM managed WHERE name = 'Bob'", "UPDATE managed SET n = 9 WHERE name = 'Bob'"):
        s = ath.failed(sql, db)
        reason = s["StateChangeReason"]
        assert (s["AthenaError"]["ErrorCategory"], s["AthenaError"]["ErrorType"]) == (2, 1500)
        assert reason.startswith("PERMISSION_DENIED: Access Denied (Service: S3, Status Code: 403, Request ID: ")
        assert "Athena will not delete data in your account." in reason and "system-managed materialized view" in reason and f"{db}.managed" in reason
    assert ath.rows("SELECT * FROM managed ORDER BY name", db) == before


def test_regular_view_takes_inserts(ath, db, views):
    ath.ok("INSERT INTO regular VALUES ('Mallory', 1, 77777.77)", db)
    assert ["Mallory", "1", "77777.77"] in ath.rows("SELECT * FROM regular", db)


def test_results_cannot_go_into_a_managed_view(ath, db, views, server):
    where = ath.c.get_table_metadata(CatalogName="AwsDataCatalog", DatabaseName=db, TableName="managed")["TableMetadata"]["Parameters"]["location"]
    s = ath.failed("SELECT 1", db, ResultConfiguration={"OutputLocation": where + "/data/"})
    assert s["AthenaError"]["ErrorType"] == 401 and s["StateChangeReason"].startswith("Access denied when writing output to url") and "system-managed materialized view" in s["StateChangeReason"]


# ---- rights ------------------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def people(server):
    """Makes users with the statements that are given: (client, key id)."""
    iam = boto3.client("iam", endpoint_url=server.lake, region_name="us-east-1", aws_access_key_id=server.key, aws_secret_access_key=server.secret)

    def make(*statements):
        name = f"u{uuid.uuid4().hex[:10]}"
        iam.create_user(UserName=name)
        if statements:
            doc = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": a, "Resource": r} for a, r in statements]}
            iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=json.dumps(doc))
        k = iam.create_access_key(UserName=name)["AccessKey"]
        return Athena(server, k["AccessKeyId"], k["SecretAccessKey"]), name, k["AccessKeyId"]

    make.iam = iam
    return make


READ = (["athena:*", "glue:Get*"], "*"), (["s3:GetObject", "s3:ListBucket"], "*")
WRITE_RESULTS = (["s3:PutObject"], "arn:aws:s3:::results/athena/*")


def test_rights(ath, db, wg, people):
    nobody, *_ = people()
    assert "athena:StartQueryExecution" in refused(nobody.start, "SELECT 1", db, code="AccessDeniedException")
    one, *_ = people((["athena:*"], f"arn:aws:athena:us-east-1:{ACCOUNT}:workgroup/{wg}"))
    refused(one.start, "SELECT 1", db, code="AccessDeniedException")
    assert one.c.get_work_group(WorkGroup=wg)["WorkGroup"]["Name"] == wg
    reader, *_ = people(*READ)
    s = reader.failed("SELECT count(*) FROM sales", db)
    assert (s["AthenaError"]["ErrorCategory"], s["AthenaError"]["ErrorType"]) == (2, 401)
    assert s["StateChangeReason"].startswith("Access denied when writing output to url: s3://results/athena/") and "s3:PutObject" in s["StateChangeReason"]
    writer, *_ = people(*READ, WRITE_RESULTS)
    assert writer.rows("SELECT count(*) FROM sales", db) == [["3"]]
    s = writer.failed("INSERT INTO sales VALUES (9, 'x', 1)", db)
    assert s["StateChangeReason"].startswith("PERMISSION_DENIED:") and s["AthenaError"]["ErrorCategory"] == 2
    refused(writer.start, "SELECT 1", db, ResultConfiguration={"OutputLocation": f"s3://not-there-{uuid.uuid4().hex[:8]}/"})
    blind, *_ = people((["athena:*"], "*"), WRITE_RESULTS)
    assert "PERMISSION_DENIED" in blind.failed("SELECT * FROM sales", db)["StateChangeReason"] or "does not exist" in blind.failed("SELECT * FROM sales", db)["StateChangeReason"]


def test_results_are_read_by_who_may_read_them(ath, db, people):
    q = ath.ok("SELECT name FROM sales", db)
    looker, *_ = people((["athena:*"], "*"))
    assert looker.c.get_query_execution(QueryExecutionId=q["QueryExecutionId"])["QueryExecution"]["Status"]["State"] == "SUCCEEDED"
    assert "s3:GetObject" in refused(looker.results, q["QueryExecutionId"], code="AccessDeniedException")
    stranger, *_ = people((["athena:*"], f"arn:aws:athena:us-east-1:{ACCOUNT}:workgroup/other"))
    refused(stranger.c.get_query_execution, QueryExecutionId=q["QueryExecutionId"], code="AccessDeniedException")
    batch = stranger.c.batch_get_query_execution(QueryExecutionIds=[q["QueryExecutionId"]])
    assert batch["QueryExecutions"] == [] and batch["UnprocessedQueryExecutionIds"][0]["ErrorCode"] == "ACCESS_DENIED"


def test_key_goes_while_its_query_waits(ath, db, many, people):
    busy = [ath.start(LONG.format(db=db), db) for _ in range(4)]
    user, name, key = people(*READ, WRITE_RESULTS)
    qid = user.start("SELECT 1", db)
    assert ath.c.get_query_execution(QueryExecutionId=qid)["QueryExecution"]["Status"]["State"] == "QUEUED"
    people.iam.delete_access_key(UserName=name, AccessKeyId=key)
    for b in busy:
        ath.c.stop_query_execution(QueryExecutionId=b)
    s = ath.wait(qid)["Status"]
    assert s["State"] == "FAILED" and "not valid any more" in s["StateChangeReason"]


def test_tokens_of_others(ath, db, people):
    """A request token is its principal's: another one's query is not given away."""
    token = uuid.uuid4().hex
    mine = ath.start("SELECT 1 AS x", db, ClientRequestToken=token)
    user, *_ = people(*READ, WRITE_RESULTS)
    assert user.start("SELECT 1 AS x", db, ClientRequestToken=token) != mine


# ---- bad input -----------------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def raw(server):
    """Any body to any operation, signed."""
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials
    import requests

    def post(op, body):
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        req = botocore.awsrequest.AWSRequest("POST", server.lake + "/", data=data, headers={"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "AmazonAthena." + op})
        botocore.auth.SigV4Auth(botocore.credentials.Credentials(server.key, server.secret), "athena", "us-east-1").add_auth(req)
        r = requests.post(server.lake + "/", data=data, headers=dict(req.headers), timeout=60)
        return r.status_code, r.json()

    return post


def test_bad_requests(raw, ath, db):
    bad = [
        ("StartQueryExecution", {}), ("StartQueryExecution", {"QueryString": 5}), ("StartQueryExecution", {"QueryString": ""}), ("StartQueryExecution", {"QueryString": "x" * 262145}),
        ("StartQueryExecution", {"QueryString": "SELECT 1", "ClientRequestToken": "short"}), ("StartQueryExecution", {"QueryString": "SELECT 1", "ResultConfiguration": {"OutputLocation": "s3://"}}),
        ("StartQueryExecution", {"QueryString": "SELECT 1", "ResultConfiguration": {"OutputLocation": "file:///etc/"}}), ("StartQueryExecution", {"QueryString": "SELECT 1", "ResultConfiguration": {"OutputLocation": "s3:///x"}}),
        ("StartQueryExecution", {"QueryString": "SELECT ?", "ExecutionParameters": ["1"] * 1001}), ("StartQueryExecution", {"QueryString": "SELECT 1", "ResultReuseConfiguration": {"ResultReuseByAgeConfiguration": {"Enabled": True, "MaxAgeInMinutes": 10081}}}),
        ("StartQueryExecution", {"QueryString": "SELECT 1", "QueryExecutionContext": {"Catalog": "123456789012:s3tablescatalog/../x"}}), ("StartQueryExecution", {"QueryString": "SELECT 1", "QueryExecutionContext": {"Catalog": "999999999999:s3tablescatalog/b"}}),
        ("GetQueryResults", {"QueryExecutionId": "x", "MaxResults": 1001}), ("GetQueryResults", {"QueryExecutionId": "x" * 129}), ("GetQueryExecution", {"QueryExecutionId": ["x"]}), ("BatchGetQueryExecution", {"QueryExecutionIds": ["x"] * 51}),
        ("CreateWorkGroup", {"Name": "a/b"}), ("CreateWorkGroup", {"Name": "x" * 129}), ("CreateWorkGroup", {"Name": "ok-1", "Configuration": {"BytesScannedCutoffPerQuery": 5}}), ("CreateWorkGroup", {"Name": "ok-2", "Configuration": {"ResultConfiguration": {"OutputLocation": "http://x"}}}),
        ("CreateWorkGroup", {"Name": "ok-3", "Tags": [{"Key": f"k{i}", "Value": "v"} for i in range(51)]}), ("CreateWorkGroup", {"Name": "ok-4", "Configuration": {"EngineVersion": {"SelectedEngineVersion": "Athena engine version 2"}}}),
        ("CreateDataCatalog", {"Name": "AwsDataCatalog", "Type": "GLUE"}), ("CreateDataCatalog", {"Name": "a b", "Type": "GLUE"}), ("CreateDataCatalog", {"Name": "x", "Type": "NONSENSE"}),
        ("CreatePreparedStatement", {"StatementName": "1x", "WorkGroup": "primary", "QueryStatement": "SELECT 1"}), ("CreateCapacityReservation", {"Name": "r", "TargetDpus": 1}),
        ("TagResource", {"ResourceARN": f"arn:aws:athena:us-east-1:999999999999:workgroup/primary", "Tags": []}), ("ListTableMetadata", {"CatalogName": "AwsDataCatalog", "DatabaseName": db, "Expression": "x{1,255}{1,255}"}),
        ("StartSession", {"WorkGroup": "primary", "EngineConfiguration": {"MaxConcurrentDpus": 2}}), ("NoSuchOperation", {}), ("StartQueryExecution", "{"), ("StartQueryExecution", "[]"), ("StartQueryExecution", b"\xff\xfe"),
        ("StartQueryExecution", {"QueryString": "SELECT " + "(" * 5000 + "1" + ")" * 5000, "ResultConfiguration": {"OutputLocation": "s3://results/x/"}}),
    ]
    for op, body in bad:
        status, answer = raw(op, body)
        assert 400 <= status < 500 and answer["__type"] and (answer.get("Message") or answer.get("message")), (op, str(body)[:200], status, answer)
    assert ath.rows("SELECT 1", db) == [["1"]]


def test_hostile_statements(ath, db):
    """Engine words that are no part of Athena do nothing; local files are out of reach."""
    for sql in ("SELECT * FROM read_csv('/etc/passwd')", "COPY (SELECT 1) TO '/tmp/x'", "ATTACH '/tmp/x.db'", "PRAGMA version", "INSTALL httpfs", "SELECT * FROM '/etc/passwd'", "SELECT getenv('HOME')",
                "SELECT * FROM parquet.`/etc/passwd`", "UNLOAD (SELECT 1) TO '/tmp/x' WITH (format = 'PARQUET')", "UNLOAD (SELECT 1 AS a) TO 'file:///tmp/x' WITH (format = 'PARQUET')",
                "CREATE EXTERNAL TABLE evil (a string) LOCATION 'file:///etc/'", "CREATE TABLE evil WITH (external_location = 'file:///tmp/x') AS SELECT 1 AS a"):
        try:
            q = ath.run(sql, db)
            assert q["Status"]["State"] == "FAILED", sql
            text = q["Status"]["StateChangeReason"]
        except ClientError as e:
            assert e.response["Error"]["Code"] == "InvalidRequestException", sql
            text = e.response["Error"]["Message"]
        assert "root:" not in text


# ---- files beside tables ---------------------------------------------------------------------------------------------------------------------

def put(ath, key, text):
    ath.s3.put_object(Bucket="results", Key=key, Body=text.encode())


def keys(ath, prefix):
    return [o["Key"] for o in ath.s3.list_objects_v2(Bucket="results", Prefix=prefix).get("Contents", [])]


def test_unload(ath, db):
    import pyarrow.parquet as pq
    place = f"u{uuid.uuid4().hex[:8]}/"
    q = ath.ok(f"UNLOAD (SELECT id, name, amount FROM sales WHERE id < ?) TO 's3://results/{place}' WITH (format = 'PARQUET', compression = 'SNAPPY')", db, ExecutionParameters=["3"])
    assert q["StatementType"] == "DML" and q["SubstatementType"] == "UNLOAD" and ath.results(q["QueryExecutionId"])["UpdateCount"] == 2
    files = ath.object(q["Statistics"]["DataManifestLocation"]).decode().split()
    assert [f"s3://results/{k}" for k in keys(ath, place)] == files and len(files) == 1
    t = pq.read_table(io.BytesIO(ath.object(files[0])))
    assert t.column_names == ["id", "name", "amount"] and sorted(t["id"].to_pylist()) == [1, 2] and str(t.schema.field("amount").type) == "decimal128(10, 2)"
    assert "HIVE_PATH_ALREADY_EXISTS" in ath.failed(f"UNLOAD (SELECT 1 AS a) TO 's3://results/{place}' WITH (format = 'PARQUET')", db)["StateChangeReason"]
    other = f"u{uuid.uuid4().hex[:8]}/"
    ath.ok(f"UNLOAD (SELECT id FROM sales) TO 's3://results/{other}' WITH (format = 'JSON', compression = 'NONE')", db)
    assert sorted(json.loads(line)["id"] for line in ath.object(f"s3://results/{keys(ath, other)[0]}").splitlines()) == [1, 2, 3]
    for bad in ("format = 'ORC'", "format = 'PARQUET', partitioned_by = ARRAY['id']", "format = 'PARQUET', compression = 'LZ4'", "format = 'PARQUET', nonsense = '1'"):
        assert ath.failed(f"UNLOAD (SELECT id FROM sales) TO 's3://results/{other}x/' WITH ({bad})", db)["StateChangeReason"].startswith("NOT_SUPPORTED")
    assert keys(ath, other + "x") == []


def test_unload_by_rights(ath, db, people, views):
    user, *_ = people(*READ, WRITE_RESULTS)
    assert "s3:PutObject" in user.failed("UNLOAD (SELECT 1 AS a) TO 's3://results/private/' WITH (format = 'PARQUET')", db)["StateChangeReason"]
    where = ath.c.get_table_metadata(CatalogName="AwsDataCatalog", DatabaseName=db, TableName="managed")["TableMetadata"]["Parameters"]["location"]
    assert "system-managed materialized view" in ath.failed(f"UNLOAD (SELECT 1 AS a) TO '{where}/x/' WITH (format = 'PARQUET')", db)["StateChangeReason"]


def test_insert_into_an_external_table_by_rights(ath, db, people):
    place = f"r{uuid.uuid4().hex[:8]}/"
    ath.ok(f"CREATE TABLE byright WITH (external_location = 's3://results/{place}') AS SELECT 1 AS a", db)
    user, *_ = people(*READ, WRITE_RESULTS, (["glue:*"], "*"))
    assert user.failed("INSERT INTO byright VALUES (2)", db)["StateChangeReason"].startswith("PERMISSION_DENIED")
    assert len(keys(ath, place)) == 1


def test_external_tables(ath, db):
    place = f"e{uuid.uuid4().hex[:8]}/"
    put(ath, place + "a.csv", 'id,name\n1,"Alice, the first"\n2,Bob\n')
    ath.ok(f"""CREATE EXTERNAL TABLE `{db}`.`ext` (`id` string, `name` string COMMENT 'who') ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'
               LOCATION 's3://results/{place}' TBLPROPERTIES ('skip.header.line.count'='1')""", db)
    assert ath.rows("SELECT id, name FROM ext ORDER BY id", db) == [["1", "Alice, the first"], ["2", "Bob"]]
    t = ath.c.get_table_metadata(CatalogName="AwsDataCatalog", DatabaseName=db, TableName="ext")["TableMetadata"]
    assert t["Columns"][1] == {"Name": "name", "Type": "string", "Comment": "who"} and t["Parameters"]["skip.header.line.count"] == "1"
    assert ["ext"] in ath.rows("SHOW TABLES", db)
    assert "already exists" in ath.failed(f"CREATE EXTERNAL TABLE ext (a string) LOCATION 's3://results/{place}'", db)["StateChangeReason"]
    ath.ok(f"CREATE EXTERNAL TABLE IF NOT EXISTS ext (a string) LOCATION 's3://results/{place}'", db)
    assert "Parquet" in ath.failed("INSERT INTO ext VALUES ('3', 'x')", db)["StateChangeReason"]
    ath.ok("DROP TABLE ext", db)
    assert keys(ath, place) == [place + "a.csv"]                       # the files are not the table's


def test_create_table_as(ath, db):
    place = f"c{uuid.uuid4().hex[:8]}/"
    q = ath.ok(f"CREATE TABLE made WITH (format = 'PARQUET', external_location = 's3://results/{place}', write_compression = 'ZSTD') AS SELECT id, name, amount FROM sales", db)
    assert q["SubstatementType"] == "CREATE_TABLE_AS_SELECT" and ath.results(q["QueryExecutionId"])["UpdateCount"] == 3
    assert ath.object(q["Statistics"]["DataManifestLocation"]).decode().split() == [f"s3://results/{k}" for k in keys(ath, place)]
    assert ath.rows("SELECT id, amount FROM made WHERE name = 'Bob'", db) == [["2", "20.25"]]
    q = ath.ok("INSERT INTO made (name, id) VALUES ('Dora', 4)", db)
    assert ath.results(q["QueryExecutionId"])["UpdateCount"] == 1 and len(keys(ath, place)) == 2
    assert ath.rows("SELECT id, name, amount FROM made ORDER BY id", db)[2:] == [["3", None, None], ["4", "Dora", None]]
    assert ath.rows("SHOW COLUMNS IN made", db)[0] == ["id                  "]
    ath.failed("INSERT INTO made VALUES ('x', 'y', 'z')", db)
    assert "not an Iceberg table" in ath.failed("DELETE FROM made", db)["StateChangeReason"] and len(keys(ath, place)) == 2
    ath.ok("CREATE TABLE made2 AS SELECT 1 AS a", db)
    assert ath.rows("SELECT a FROM made2", db) == [["1"]]
    lake = f"l{uuid.uuid4().hex[:8]}/"
    ath.ok(f"CREATE TABLE lake WITH (table_type = 'ICEBERG', is_external = false, location = 's3://results/{lake}') AS SELECT id, name FROM sales", db)
    assert keys(ath, lake) and ath.rows("SELECT count(*) FROM lake", db) == [["3"]]
    before = keys(ath, place)
    for sql in (f"CREATE TABLE made WITH (external_location = 's3://results/{place}y/') AS SELECT 1 AS a", f"CREATE TABLE broken WITH (external_location = 's3://results/{place}z/') AS SELECT id / 0 AS a FROM sales"):
        ath.failed(sql, db)
    assert keys(ath, place) == before                                  # what failed leaves nothing
    for t in ("made", "made2", "lake"):
        ath.ok(f"DROP TABLE {t}", db)
    assert keys(ath, lake) == [] and keys(ath, place) == before


def test_table_buckets(ath, server):
    """The first document's catalog: s3tablescatalog/<bucket>, with and without the account."""
    s3t = boto3.client("s3tables", endpoint_url=server.lake, region_name="us-east-1", aws_access_key_id=server.key, aws_secret_access_key=server.secret)
    bucket = f"tb-{uuid.uuid4().hex[:10]}"
    arn = s3t.create_table_bucket(name=bucket)["arn"]
    s3t.create_namespace(tableBucketARN=arn, namespace=["analytics"])
    cat = f"s3tablescatalog/{bucket}"
    ath.ok("CREATE TABLE t (id int, name string) TBLPROPERTIES ('table_type'='ICEBERG')", "analytics", cat)
    ath.ok("INSERT INTO t VALUES (1, 'a')", "analytics", cat)
    assert ath.rows("SELECT * FROM t", "analytics", f"{ACCOUNT}:{cat}") == [["1", "a"]]
    assert ath.rows(f'SELECT name FROM "{cat}"."analytics"."t"') == [["a"]]
    assert [t["Name"] for t in ath.c.list_table_metadata(CatalogName=cat, DatabaseName="analytics")["TableMetadataList"]] == ["t"]
    assert [d["Name"] for d in ath.c.list_databases(CatalogName=cat)["DatabaseList"]] == ["analytics"]
    assert ath.rows("SHOW TABLES", "analytics", cat) == [["t"]]
    s = ath.failed("SELECT * FROM nowhere", "analytics", cat)
    assert f"{cat}.analytics.nowhere" in s["StateChangeReason"]
    assert "not found" in refused(ath.start, "SELECT 1", "analytics", "s3tablescatalog/nothing-here")
