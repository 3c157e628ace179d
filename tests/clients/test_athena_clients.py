# SPDX-License-Identifier: Apache-2.0
"""Clients of Athena that nobody here wrote: PyAthena, awswrangler, dbt with a project of a seed and three models, the AWS CLI.

They live in build/venv-athena, which is made here (their versions do not go with the other clients')."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from test_clients import aws, env                     # noqa: F401  (env is a fixture)

HERE = pathlib.Path(__file__).resolve().parent
VENV = HERE.parent.parent / "build" / "venv-athena"
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def venv():
    """The environment, as its requirements say; without a package index the tests are skipped."""
    wanted, stamp = (HERE / "athena_requirements.txt").read_text(), VENV / "made-of.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        r = subprocess.run([str(VENV / "bin" / "pip"), "-q", "install", "-r", str(HERE / "athena_requirements.txt")], capture_output=True, text=True)
        if r.returncode:
            pytest.skip("Athena's clients cannot be installed: " + r.stderr[-300:])
        stamp.write_text(wanted)
    return VENV / "bin"


@pytest.fixture(scope="module")
def place(server, env):                               # noqa: F811
    """A bucket, and what a shell needs."""
    server.s3().create_bucket(Bucket="clients")
    return dict(env, HOME=str(server.data), DBT_SEND_ANONYMOUS_USAGE_STATS="false", PATH=os.environ["PATH"])


def drive(venv, place, client, database):
    r = subprocess.run([str(venv / "python"), str(HERE / "athena_driver.py"), client, database, "clients"], capture_output=True, text=True, env=place, timeout=300)
    assert r.returncode == 0, r.stderr[-3000:]
    return json.loads(r.stdout.splitlines()[-1])


def test_pyathena(server, venv, place, ns):
    r = drive(venv, place, "pyathena", ns)
    assert r["create"] == "SUCCEEDED" and r["insert"] == 2
    assert r["types"] == [1, "x", "2020-01-01", "1.50", True, 1.5, [1, 2], "2020-01-01 10:00:00.123000", None, {"k": "1"}]
    assert r["rows"] == [[1, "a", "1.50"], [2, None, None]]
    assert r["description"] == [["id", "integer"], ["name", "varchar"], ["amount", "decimal"]]
    assert r["pyformat"] == [["a"]] and r["qmark"] == [[1]] and r["many"] == 2500
    assert r["dict"] == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
    assert r["pandas"] == r["unload"] == [{"id": 1, "amount": "1.50"}]
    assert r["show"] == [["t"]] and r["describe"][0] == ["id                  \tint                 \t                    "]
    assert r["metadata"] == [["id", "int"], ["name", "string"], ["amount", "decimal(10,2)"]] and ns in r["databases"]
    assert r["error"].startswith("TABLE_NOT_FOUND: line 1:15:")
    assert server.sql(f"SELECT name FROM glue_catalog.{ns}.t WHERE id = 1") == [("a",)]


def test_awswrangler(server, venv, place, ns):
    r = drive(venv, place, "wrangler", ns)
    rows = [{"id": 1, "s": "a"}, {"id": 2, "s": "B"}, {"id": 3, "s": "c"}]
    assert r["merged"] == r["ctas"] == r["unload"] == rows
    assert r["named"] == [{"s": "a"}] and r["chunks"] == [2, 1] and r["cached"] == [{"n": 3}] and r["state"] == "SUCCEEDED"
    assert r["describe"] == [["id", "bigint"], ["s", "string"]] and r["catalog"] == {"id": "bigint", "s": "string"}
    assert r["tables"] == ["ice"]                      # nothing that CREATE TABLE AS made for a while is left


# ---- dbt -------------------------------------------------------------------------------------------------------------------------

PROJECT = {
    "dbt_project.yml": """
name: shop
version: "1.0"
profile: shop
model-paths: [models]
seed-paths: [seeds]
seeds: {shop: {+table_type: iceberg, +s3_data_naming: schema_table_unique}}
""",
    "profiles.yml": """
shop:
  target: dev
  outputs:
    dev: {type: athena, region_name: us-east-1, s3_staging_dir: "s3://clients/dbt/staging/", s3_data_dir: "s3://clients/dbt/data/", schema: NS, database: awsdatacatalog, threads: 2, num_retries: 0}
""",
    "seeds/orders.csv": "id,customer,amount,day\n1,Alice,10.50,2024-01-01\n2,Bob,20.25,2024-01-02\n3,Alice,5.00,2024-01-02\n",
    "models/customers.sql": """{{ config(materialized='table', table_type='iceberg', s3_data_naming='schema_table_unique') }}
select customer, count(*) as n, cast(sum(amount) as decimal(10,2)) as total from {{ ref('orders') }} group by customer""",
    "models/big_customers.sql": """{{ config(materialized='view') }}
select customer, total from {{ ref('customers') }} where n > 1""",
    "models/days.sql": """{{ config(materialized='incremental', table_type='iceberg', incremental_strategy='merge', unique_key='day', s3_data_naming='schema_table_unique') }}
select day, count(*) as n from {{ ref('orders') }}
{% if is_incremental() %} where day >= (select max(day) from {{ this }}) {% endif %}
group by day""",
    "models/schema.yml": """
version: 2
models:
  - {name: customers, columns: [{name: customer, data_tests: [unique, not_null]}]}
  - {name: days, columns: [{name: day, data_tests: [unique, not_null]}]}
""",
}


def test_dbt(server, venv, place, ns, tmp_path):
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("NS", ns))

    def dbt(*args):
        r = subprocess.run([str(venv / "dbt"), "--no-use-colors", *args, "--profiles-dir", ".", "--project-dir", "."], cwd=tmp_path, capture_output=True, text=True, env=place, timeout=300)
        assert r.returncode == 0, r.stdout[-3000:]
        return r.stdout

    def counts(out):
        return out.split("Done. ")[1].split(" NO-OP")[0]

    assert "All checks passed!" in dbt("debug")
    assert counts(dbt("seed")) == "PASS=1 WARN=0 ERROR=0 SKIP=0"
    assert counts(dbt("run")) == "PASS=3 WARN=0 ERROR=0 SKIP=0"
    assert server.sql(f"SELECT customer, n, CAST(total AS STRING) FROM glue_catalog.{ns}.customers ORDER BY 1") == [("Alice", 2, "15.50"), ("Bob", 1, "20.25")]
    assert server.sql(f"SELECT CAST(day AS STRING), n FROM glue_catalog.{ns}.days ORDER BY 1") == [("2024-01-01", 1), ("2024-01-02", 2)]
    server.sql(f"INSERT INTO glue_catalog.{ns}.orders VALUES (4, 'Carol', 1.00, DATE '2024-01-02'), (5, 'Carol', 2.00, DATE '2024-01-03')")
    assert counts(dbt("run")) == "PASS=3 WARN=0 ERROR=0 SKIP=0"
    assert server.sql(f"SELECT CAST(day AS STRING), n FROM glue_catalog.{ns}.days ORDER BY 1") == [("2024-01-01", 1), ("2024-01-02", 3), ("2024-01-03", 1)]
    assert counts(dbt("test")) == "PASS=4 WARN=0 ERROR=0 SKIP=0"


# ---- the AWS CLI -------------------------------------------------------------------------------------------------------------------

def test_aws_cli(server, env, ns):                     # noqa: F811
    """Rows 35 to 38 of the first document, on the account's catalog."""
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.orders (customer_name STRING, amount DECIMAL(10,2)) USING iceberg;
        INSERT INTO glue_catalog.{ns}.orders VALUES ('Alice', 100.00), ('Alice', 125.25), ('Bob', 300.49), ('Carol', 320.00);
        SET spark.sql.mv.managed.enabled = true;
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.{ns}.managed AS SELECT customer_name, count(*) AS order_count, sum(amount) AS total_amount FROM glue_catalog.{ns}.orders GROUP BY customer_name;
        CREATE MATERIALIZED VIEW glue_catalog.{ns}.regular AS SELECT customer_name, count(*) AS order_count, sum(amount) AS total_amount FROM glue_catalog.{ns}.orders GROUP BY customer_name""")

    def run(sql):
        start = ["athena", "start-query-execution", "--query-string", sql, "--work-group", "primary", "--query-execution-context", f"Catalog=AwsDataCatalog,Database={ns}",
                 "--result-configuration", "OutputLocation=s3://clients-cli/athena-results/"]
        qid = json.loads(aws(env, start)[0])["QueryExecutionId"]
        for _ in range(50):
            q = json.loads(aws(env, ["athena", "get-query-execution", "--query-execution-id", qid])[0])["QueryExecution"]
            if q["Status"]["State"] not in ("QUEUED", "RUNNING"):
                return qid, q["Status"]
        raise AssertionError("the query does not end")

    qid, status = run("SELECT * FROM managed ORDER BY customer_name")
    assert status["State"] == "SUCCEEDED"
    rows = json.loads(aws(env, ["athena", "get-query-results", "--query-execution-id", qid])[0])["ResultSet"]["Rows"]
    assert [[d["VarCharValue"] for d in r["Data"]] for r in rows] == [["customer_name", "order_count", "total_amount"], ["Alice", "2", "225.25"], ["Bob", "1", "300.49"], ["Carol", "1", "320.00"]]
    qid, status = run("INSERT INTO managed VALUES ('Mallory_athena', 1, 77777.77)")
    assert status["State"] == "FAILED" and (status["AthenaError"]["ErrorCategory"], status["AthenaError"]["ErrorType"]) == (2, 1500)
    assert f"'s3://clients-cli/athena-results/{qid}-manifest.csv'" in status["StateChangeReason"] and "system-managed materialized view" in status["StateChangeReason"]
    assert run("INSERT INTO regular VALUES ('Mallory_athena', 1, 77777.77)")[1]["State"] == "SUCCEEDED"
    qid, _ = run("SELECT customer_name FROM regular WHERE customer_name LIKE 'Mallory%'")
    assert json.loads(aws(env, ["athena", "get-query-results", "--query-execution-id", qid])[0])["ResultSet"]["Rows"][1]["Data"] == [{"VarCharValue": "Mallory_athena"}]
