# SPDX-License-Identifier: Apache-2.0
"""A Spark session that reads statements from standard input and answers on standard output, one JSON value a line each way.

Run by the tests with the Python of build/venv-spark; its argument is a JSON object of Spark's settings.  A statement is SQL text, or an object
{"append": table, "query": SQL} for DataFrame.writeTo(table).append()."""
import datetime
import decimal
import json
import os
import sys
import time


def plain(v):
    """The value as JSON has it; decimals and times as text, the way both sides write them."""
    if isinstance(v, (decimal.Decimal, datetime.date)):
        return str(v)
    if isinstance(v, (bytes, bytearray)):
        return v.hex()
    if isinstance(v, dict):
        return {str(plain(k)): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)                                        # what the JVM prints is no answer
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[2]").appName("firn")
    for k, v in json.loads(sys.argv[1]).items():
        builder = builder.config(k, v)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({"ready": spark.version}), file=answers, flush=True)
    for line in sys.stdin:
        start = time.monotonic()
        try:
            statement = json.loads(line)
            if isinstance(statement, dict):
                spark.sql(statement["query"]).writeTo(statement["append"]).append()
                statement = "SELECT 1 WHERE false"
            frame = spark.sql(statement)
            answer = {"columns": frame.columns, "rows": [plain(tuple(r)) for r in frame.collect()]}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        answer["seconds"] = time.monotonic() - start
        print(json.dumps(answer), file=answers, flush=True)
    spark.stop()


main()
