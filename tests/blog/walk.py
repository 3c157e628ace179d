# SPDX-License-Identifier: Apache-2.0
"""The place where the first document is replayed: its names, its two principals, its clients.

Who runs Spark's statements is one of three: `sql` (firn sql, as the job's role), `job` (a Glue job with a real Spark), `session` (a plain Spark session with
firn's extension).  The rows are the same for all."""
import json
import os
import pathlib
import subprocess
import sys
import time

import boto3
import psycopg

from conftest import FIRN, ROOT, Server

HERE = pathlib.Path(__file__).resolve().parent
BIN = ROOT / "build" / "venv" / "bin"
sys.path.append(str(HERE.parent / "clients"))

ACCOUNT, REGION, SUFFIX = "123456789012", "ap-northeast-1", "e603a380"
BUCKET = TABLE_BUCKET = JOB = f"blog-mv-{SUFFIX}"
SRC_DB = f"blog_mv_src_{SUFFIX}"
S3T_CATALOG = f"{ACCOUNT}:s3tablescatalog/{TABLE_BUCKET}"
TB_ARN = f"arn:aws:s3tables:{REGION}:{ACCOUNT}:bucket/{TABLE_BUCKET}"
JOB_ROLE = f"arn:aws:iam::{ACCOUNT}:role/{JOB}"
ME = f"arn:aws:iam::{ACCOUNT}:role/cm-user"
REGULAR, MANAGED = "s3t_catalog.analytics.customer_summary_regular", "s3t_catalog.analytics.customer_summary_managed"
ORDERS = f"glue_catalog.{SRC_DB}.orders"

POLICY = {"Version": "2012-10-17", "Statement": [
    {"Sid": "GlueCatalog", "Effect": "Allow", "Action": ["glue:GetCatalog", "glue:GetCatalogs", "glue:GetTable", "glue:GetTables", "glue:CreateTable", "glue:UpdateTable", "glue:DeleteTable",
                                                         "glue:GetDatabase", "glue:GetDatabases", "cloudwatch:PutMetricData"], "Resource": "*"},
    {"Sid": "S3Objects", "Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], "Resource": [f"arn:aws:s3:::{BUCKET}/*"]},
    {"Sid": "S3List", "Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": [f"arn:aws:s3:::{BUCKET}"]},
    {"Sid": "Logs", "Effect": "Allow", "Action": ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], "Resource": ["arn:aws:logs:*:*:*:/aws-glue/*"]},
    {"Sid": "PassSelf", "Effect": "Allow", "Action": ["iam:PassRole"], "Resource": [JOB_ROLE]},
    {"Sid": "S3TablesBucket", "Effect": "Allow", "Action": ["s3tables:*"], "Resource": [TB_ARN, f"{TB_ARN}/table/*"]},
    {"Sid": "S3TablesList", "Effect": "Allow", "Action": ["s3tables:ListTableBuckets"], "Resource": "*"},
    {"Sid": "LF", "Effect": "Allow", "Action": ["lakeformation:GetDataAccess"], "Resource": "*"}]}
REFRESH_RUNS = {"Sid": "MVRefreshTaskRun", "Effect": "Allow", "Resource": "*", "Action": [
    "glue:StartMaterializedViewRefreshTaskRun", "glue:StopMaterializedViewRefreshTaskRun", "glue:GetMaterializedViewRefreshTaskRun", "glue:ListMaterializedViewRefreshTaskRuns"]}

# The job's --conf, as it stands in the document.
CONF = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.glue_catalog": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.glue_catalog.type": "glue",
    "spark.sql.catalog.glue_catalog.warehouse": f"s3://{BUCKET}/warehouse", "spark.sql.catalog.glue_catalog.glue.region": REGION,
    "spark.sql.catalog.glue_catalog.glue.id": ACCOUNT, "spark.sql.catalog.glue_catalog.glue.account-id": ACCOUNT,
    "spark.sql.catalog.s3t_catalog": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.s3t_catalog.type": "glue",
    "spark.sql.catalog.s3t_catalog.glue.id": S3T_CATALOG, "spark.sql.catalog.s3t_catalog.glue.account-id": ACCOUNT,
    "spark.sql.catalog.s3t_catalog.warehouse": f"s3://{BUCKET}/mv-warehouse", "spark.sql.catalog.s3t_catalog.glue.region": REGION,
    "spark.sql.defaultCatalog": "s3t_catalog", "spark.sql.optimizer.answerQueriesWithMVs.enabled": "true",
    "spark.sql.materializedViews.metadataCache.enabled": "true", "spark.sql.mv.managed.enabled": "true",
}
JOB_INPUT = {
    "Name": JOB, "Role": JOB_ROLE, "Command": {"Name": "glueetl", "ScriptLocation": f"s3://{BUCKET}/scripts/mv_test.py", "PythonVersion": "3"},
    "DefaultArguments": {"--enable-glue-datacatalog": "true", "--job-language": "python", "--src_db": SRC_DB, "--ns": "analytics", "--phase": "phase1",
                         "--conf": " --conf ".join(f"{k}={v}" for k, v in CONF.items())},
    "GlueVersion": "6.0", "WorkerType": "G.1X", "NumberOfWorkers": 2, "Timeout": 30}


class Failed(Exception):
    """A command or statement that ended badly; its text is what it printed."""


class World:
    """A server, cm-user's shell, and the runner of Spark's statements."""

    def __init__(self, folder, runner):
        self.folder = folder
        self.times = {}
        settings = [f"region={REGION}", f"account={ACCOUNT}", "lakeformation.default_permissions=none"]
        if runner is not Job and "glue.jobs" in subprocess.run([FIRN, "config", "--data", folder], capture_output=True, text=True).stdout:
            settings.append("glue.jobs=off")                                       # row 18 without a Spark
        self.server = Server(folder / "data", settings)
        (folder / "aws-config").write_text("[default]\ncli_timestamp_format = iso8601\ncli_pager =\n")
        self.newer_model()
        self.root = self.environment(self.server.key, self.server.secret, "")
        self.me = None
        self.runner = runner(self)

    def environment(self, key, secret, token):
        env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        env |= {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": self.server.lake, "AWS_CONFIG_FILE": str(self.folder / "aws-config"), "AWS_DATA_PATH": str(self.folder / "models"), "AWS_REGION": REGION,
                "AWS_DEFAULT_REGION": REGION, "ACCOUNT_ID": ACCOUNT, "BUCKET": BUCKET, "TABLE_BUCKET": TABLE_BUCKET, "SRC_DB": SRC_DB, "S3T_CATALOG": S3T_CATALOG, "TB_ARN": TB_ARN, "JOB_ROLE": JOB_ROLE,
                "ME": ME, "PATH": f"{BIN}:{env['PATH']}", "TZ": "Asia/Tokyo"}
        return env | ({"AWS_SESSION_TOKEN": token} if token else {})

    def newer_model(self):
        """The CLI brings an older model of Glue than botocore beside it has: one that does not know IsManaged."""
        import botocore
        (self.folder / "models").mkdir()
        (self.folder / "models" / "glue").symlink_to(pathlib.Path(botocore.__file__).parent / "data" / "glue")

    def become_cm_user(self):
        """Before the document begins: the verifier's role, an administrator of the account and of Lake Formation."""
        trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "sts:AssumeRole"}]}
        everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
        self.shell(f"aws iam create-role --role-name cm-user --assume-role-policy-document '{json.dumps(trust)}'", self.root)
        self.shell(f"aws iam put-role-policy --role-name cm-user --policy-name administrator --policy-document '{json.dumps(everything)}'", self.root)
        settings = {"DataLakeAdmins": [{"DataLakePrincipalIdentifier": ME}], "CreateDatabaseDefaultPermissions": [], "CreateTableDefaultPermissions": []}
        self.shell(f"aws lakeformation put-data-lake-settings --data-lake-settings '{json.dumps(settings)}'", self.root)
        c = json.loads(self.shell(f"aws sts assume-role --role-arn {ME} --role-session-name ishikawa", self.root))["Credentials"]
        self.me = self.environment(c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"])

    def shell(self, command, env=None):
        """What the command prints; as cm-user."""
        if env is None and self.me is None:
            self.become_cm_user()
        r = subprocess.run(["bash", "-c", "set -o pipefail\n" + command], capture_output=True, text=True, env=env or self.me, cwd=self.folder, timeout=120)
        if r.returncode:
            raise Failed(f"{command}\n{r.stdout}{r.stderr}")
        return r.stdout

    def boto(self, service):
        """cm-user's boto3, for what is asked again and again."""
        return boto3.client(service, endpoint_url=self.server.lake, region_name=REGION, aws_access_key_id=self.me["AWS_ACCESS_KEY_ID"],
                            aws_secret_access_key=self.me["AWS_SECRET_ACCESS_KEY"], aws_session_token=self.me["AWS_SESSION_TOKEN"])

    def json(self, command):
        return json.loads(self.shell(command))

    def denied(self, command):
        """The error that the command ends with."""
        try:
            out = self.shell(command)
        except Failed as e:
            return str(e).split("\n", 1)[1] if "\n" in str(e) else str(e)
        raise AssertionError(f"{command} succeeded: {out}")

    def get_table(self, name, query, more=""):
        return self.json(f"aws glue get-table --catalog-id $S3T_CATALOG --database-name analytics --name {name} {more} --query '{query}' --output json")

    def athena(self, sql):
        """Runs to its end; the execution and, where it succeeded, its rows with the header."""
        run = self.json("aws athena start-query-execution --work-group primary --query-execution-context Catalog=s3tablescatalog/${TABLE_BUCKET},Database=analytics "
                        f"--result-configuration OutputLocation=s3://${{BUCKET}}/athena-results/ --query-string \"{sql}\"")["QueryExecutionId"]
        athena = self.boto("athena")
        for _ in range(600):
            q = athena.get_query_execution(QueryExecutionId=run)["QueryExecution"]
            if q["Status"]["State"] not in ("QUEUED", "RUNNING"):
                break
            time.sleep(0.05)
        rows = None
        if q["Status"]["State"] == "SUCCEEDED" and sql.upper().startswith("SELECT"):
            rows = [[d.get("VarCharValue") for d in r["Data"]] for r in self.json(f"aws athena get-query-results --query-execution-id {run}")["ResultSet"]["Rows"]]
        return q, rows

    def stop(self):
        self.runner.stop()
        self.server.stop()


# ---- who runs the statements -------------------------------------------------------------------------------------------------------------------

class Outcome:
    def __init__(self, rows=None, error=None, seconds=0.0):
        self.rows, self.error, self.seconds = rows, error, seconds

    def ok(self):
        assert self.error is None, self.error[:3000]
        return self.rows

    def failed(self, *words):
        assert self.error is not None, f"succeeded: {self.rows}"
        for w in words:
            assert w in self.error, f"'{w}' is not in: {self.error[:3000]}"
        return self.error


class Runner:
    """Phases are lists of (step, statement); a statement is SQL, or ("append", table, SELECT). Steps run on after a failure, as the document's script does."""

    def __init__(self, world):
        self.world = world
        self.done = {}

    def phase(self, name, steps):
        if name not in self.done:
            self.done[name] = self.run(name, steps)
        return self.done[name]

    def stop(self):
        pass


class Sql(Runner):
    """firn sql --as the job's role; what is timed by a connection of the same kind, so that the client's own start does not count."""
    spark = False
    timed = ("CREATE MATERIALIZED", "CREATE MANAGED", "REFRESH")

    def __init__(self, world):
        super().__init__(world)
        self.conf = dict(CONF)

    def run(self, name, steps):
        return {step: self.one(text) for step, text in steps}

    def one(self, text):
        if not isinstance(text, str):
            text = f"INSERT INTO {text[1]} {text[2]}"
        if text.startswith("SET "):                                                  # each statement has a session of its own
            self.conf.update([text[4:].split("=", 1)])
        if text.startswith(self.timed):
            return self.connected(text)
        args = [str(FIRN), "sql", "--data", str(self.world.server.data), "--as", JOB_ROLE, "--format", "json"]
        for k, v in self.conf.items():
            args += ["--conf", f"{k}={v}"]
        start = time.monotonic()
        r = subprocess.run([*args, "-c", text], capture_output=True, text=True, timeout=120)
        seconds = time.monotonic() - start
        if r.returncode:
            return Outcome(error=r.stderr, seconds=seconds)
        return Outcome([json.loads(line) for line in r.stdout.splitlines()], seconds=seconds)


    def connected(self, text):
        options = " ".join(f"-c {k}={v}" for k, v in (self.conf | {"firn.role": JOB_ROLE}).items())
        with self.world.server.connect(options=options) as c:
            start = time.monotonic()
            try:
                c.execute(text, prepare=False)
            except psycopg.Error as e:
                return Outcome(error=str(e), seconds=time.monotonic() - start)
            return Outcome([], seconds=time.monotonic() - start)


class Job(Runner):
    """Each phase a run of the Glue job; its results out of the log group /aws-glue/jobs/output."""
    spark = True

    def run(self, name, steps):
        w = self.world
        script = (HERE / "job_script.py").read_text().replace("PHASES = {}", f"PHASES = {({name: steps})!r}", 1)
        (w.folder / "mv_test.py").write_text(script)
        w.shell("aws s3 cp mv_test.py s3://$BUCKET/scripts/mv_test.py")
        run = w.json(f"aws glue start-job-run --job-name $BUCKET --arguments '{{\"--phase\":\"{name}\"}}'")["JobRunId"]
        state = self.wait(run)
        lines = self.log("/aws-glue/jobs/output", run)
        answers = {x["step"]: x for x in map(json.loads, (x for x in lines if x.startswith("{")))}
        missing = [s for s, _ in steps if s not in answers]
        assert not missing, f"{name}: {state}; no result of {missing}\n" + "\n".join([*lines[-20:], *self.log("/aws-glue/jobs/error", run)[-40:]])
        return {s: Outcome(a.get("rows"), a.get("error"), a["elapsed_sec"]) for s, a in answers.items()}

    def wait(self, run):
        glue = self.world.boto("glue")
        for _ in range(1200):
            state = glue.get_job_run(JobName=JOB, RunId=run)["JobRun"]
            if state["JobRunState"] not in ("STARTING", "RUNNING", "STOPPING", "WAITING"):
                return state
            time.sleep(0.5)
        raise AssertionError(f"the job does not end: {state}")

    def log(self, group, run):
        logs = self.world.boto("logs")
        try:
            events = logs.get_log_events(logGroupName=group, logStreamName=run, startFromHead=True)["events"]
        except logs.exceptions.ResourceNotFoundException as e:
            return [str(e)]
        return [line for e in events for line in e["message"].splitlines()]


class Session(Runner):
    """A plain Spark with the extension, on the role's own credentials: for this, cm-user lets itself take the role."""
    spark = True
    process = None

    def run(self, name, steps):
        return {step: self.one(text) for step, text in steps}

    def one(self, text):
        from test_spark import SparkError
        spark = self.opened()
        start = time.monotonic()
        try:
            rows = spark.sql(text) if isinstance(text, str) else spark.append(text[1], text[2])
        except SparkError as e:
            return Outcome(error=str(e), seconds=time.monotonic() - start)
        return Outcome([dict(zip(spark.columns, r)) for r in rows], seconds=spark.seconds)

    def opened(self):
        if self.process is None:
            from test_spark import Spark
            w = self.world
            trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "glue.amazonaws.com", "AWS": ME}, "Action": "sts:AssumeRole"}]}
            w.shell(f"aws iam update-assume-role-policy --role-name $BUCKET --policy-document '{json.dumps(trust)}'")
            c = w.json(f"aws sts assume-role --role-arn $JOB_ROLE --role-session-name GlueJobRunnerSession")["Credentials"]
            env = w.environment(c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"]) | {"FIRN_SQL_URL": w.server.sql_url}
            ours = {"spark.sql.extensions": CONF["spark.sql.extensions"] + ",io.firn.spark.FirnSparkSessionExtensions"}
            for c in ("glue_catalog", "s3t_catalog"):
                ours |= {f"spark.sql.catalog.{c}.cache-enabled": "false", f"spark.sql.catalog.{c}.s3.path-style-access": "true"}
            self.process = Spark(w.server, w.folder / "spark.log", {k: None for k in Spark.settings(w.server, w.folder / "x", []) if k.startswith("spark.sql.catalog.")} | CONF | ours, env,
                                 [ROOT / "build" / "firn-spark.jar"])
        return self.process

    def stop(self):
        if self.process:
            self.process.stop()
