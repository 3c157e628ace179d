# SPDX-License-Identifier: Apache-2.0
"""The job's script: runs the statements of a phase in order and writes what became of each as one line of JSON."""
import datetime
import decimal
import json
import sys
import time

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

PHASES = {}                                             # the statements stand here when it is uploaded
args = getResolvedOptions(sys.argv, ["JOB_NAME", "src_db", "ns", "phase"])
spark = GlueContext(SparkContext.getOrCreate()).spark_session


def plain(v):
    return str(v) if isinstance(v, (decimal.Decimal, datetime.date)) else v


def log(entry):
    print(json.dumps(entry), flush=True)


def run(step, statement):
    start = time.time()
    try:
        if isinstance(statement, str):
            rows = [{k: plain(v) for k, v in r.asDict().items()} for r in spark.sql(statement).collect()]
        else:
            rows = spark.sql(statement[2]).writeTo(statement[1]).append()
        log({"step": step, "status": "SUCCESS", "elapsed_sec": round(time.time() - start, 3), "rows": rows})
    except Exception as e:
        log({"step": step, "status": "FAILED", "elapsed_sec": round(time.time() - start, 3), "error": f"{type(e).__name__}: {e}"})


for step, statement in PHASES[args["phase"]]:
    run(step, statement)
