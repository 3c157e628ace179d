# SPDX-License-Identifier: Apache-2.0
"""Run inside build/venv-athena: what one client does, as one line of JSON.  athena_driver.py pyathena|wrangler DATABASE BUCKET"""
import datetime
import decimal
import json
import sys

database, bucket = sys.argv[2:4]
OUT = f"s3://{bucket}/out/"


def plain(v):
    if isinstance(v, (datetime.date, datetime.datetime, decimal.Decimal)):
        return str(v)
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v.item() if hasattr(v, "item") else v


def pyathena():
    from pyathena import connect
    from pyathena.cursor import DictCursor
    from pyathena.error import OperationalError
    from pyathena.pandas.cursor import PandasCursor

    conn = connect(s3_staging_dir=OUT, schema_name=database)
    c = conn.cursor()
    r = {}
    r["create"] = c.execute(f"CREATE TABLE {database}.t (id int, name string, amount decimal(10,2)) LOCATION 's3://{bucket}/t' TBLPROPERTIES ('table_type'='ICEBERG')").state
    r["insert"] = c.execute("INSERT INTO t VALUES (1, 'a', DECIMAL '1.50'), (2, NULL, NULL)").rowcount
    r["types"] = c.execute("""SELECT 1, 'x', DATE '2020-01-01', DECIMAL '1.50', true, 1.5e0, ARRAY[1, 2], TIMESTAMP '2020-01-01 10:00:00.123', CAST(NULL AS varchar),
                              MAP(ARRAY['k'], ARRAY[1]), X'00ff'""").fetchone()[:10]
    r["rows"] = c.execute("SELECT * FROM t ORDER BY id").fetchall()
    r["description"] = [d[:2] for d in c.description]
    r["pyformat"] = c.execute("SELECT name FROM t WHERE id = %(id)s", {"id": 1}).fetchall()
    r["qmark"] = c.execute("SELECT id FROM t WHERE name = ?", ["'a'"], paramstyle="qmark").fetchall()
    r["many"] = len(c.execute("SELECT n FROM UNNEST(SEQUENCE(1, 2500)) AS x(n)").fetchall())
    r["dict"] = conn.cursor(DictCursor).execute("SELECT id, name FROM t ORDER BY id").fetchall()
    r["pandas"] = conn.cursor(PandasCursor).execute("SELECT id, amount FROM t WHERE id = 1").as_pandas().to_dict("records")
    r["unload"] = conn.cursor(PandasCursor, unload=True).execute("SELECT id, amount FROM t WHERE id = 1").as_pandas().to_dict("records")
    r["show"] = c.execute("SHOW TABLES").fetchall()
    r["describe"] = c.execute("DESCRIBE t").fetchall()
    r["metadata"] = [[x.name, x.type] for x in c.get_table_metadata("t").columns]
    r["databases"] = [d.name for d in c.list_databases("AwsDataCatalog")]
    try:
        c.execute("SELECT * FROM nowhere")
    except OperationalError as e:
        r["error"] = str(e)
    return r


def wrangler():
    import awswrangler as wr
    import pandas as pd

    at = dict(database=database, s3_output=OUT)
    r = {}
    wr.athena.to_iceberg(df=pd.DataFrame({"id": [1, 2], "s": ["a", "b"]}), database=database, table="ice", temp_path=f"s3://{bucket}/tmp/ice/", table_location=f"s3://{bucket}/ice/", s3_output=OUT)
    wr.athena.to_iceberg(df=pd.DataFrame({"id": [2, 3], "s": ["B", "c"]}), database=database, table="ice", temp_path=f"s3://{bucket}/tmp/ice2/", s3_output=OUT, merge_cols=["id"])
    r["merged"] = wr.athena.read_sql_query("SELECT * FROM ice ORDER BY id", ctas_approach=False, **at).to_dict("records")
    r["ctas"] = wr.athena.read_sql_query("SELECT * FROM ice ORDER BY id", ctas_approach=True, database=database, s3_output=f"s3://{bucket}/ctas/").to_dict("records")
    r["unload"] = wr.athena.read_sql_query("SELECT * FROM ice ORDER BY id", ctas_approach=False, unload_approach=True, database=database, s3_output=f"s3://{bucket}/unload/").to_dict("records")
    r["named"] = wr.athena.read_sql_query("SELECT s FROM ice WHERE id = :id", params={"id": 1}, ctas_approach=False, **at).to_dict("records")
    r["chunks"] = [len(d) for d in wr.athena.read_sql_query("SELECT * FROM ice", ctas_approach=False, chunksize=2, **at)]
    r["cached"] = wr.athena.read_sql_query("SELECT count(*) AS n FROM ice", ctas_approach=False, athena_cache_settings={"max_cache_seconds": 300}, **at).to_dict("records")
    r["describe"] = wr.athena.describe_table(table="ice", **at)[["Column Name", "Type"]].values.tolist()
    r["state"] = wr.athena.wait_query(wr.athena.start_query_execution("SELECT 1", **at))["Status"]["State"]
    r["catalog"] = wr.catalog.get_table_types(database=database, table="ice")
    r["tables"] = sorted(t["Name"] for t in wr.catalog.get_tables(database=database))
    return r


print(json.dumps(plain({"pyathena": pyathena, "wrangler": wrangler}[sys.argv[1]]())))
