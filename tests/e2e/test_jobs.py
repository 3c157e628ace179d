# SPDX-License-Identifier: Apache-2.0
"""Glue jobs by boto3: pythonshell jobs try everything but Spark itself (tests/clients has that), and what a script must not reach."""
import base64
import json
import os
import pathlib
import re
import time
import urllib.request

import boto3
import botocore.config
import pytest
from botocore.exceptions import ClientError

from conftest import Server

TRUST = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "glue.amazonaws.com"}, "Action": "sts:AssumeRole"}]})
POLICY = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": ["arn:aws:s3:::scripts", "arn:aws:s3:::scripts/open/*"]}]})


def client(server, service):
    return boto3.client(service, endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1",
                        config=botocore.config.Config(retries={"max_attempts": 1}))


class Glue:
    """One server, a role, a bucket of scripts."""

    def __init__(self, server):
        self.server, self.glue, self.logs, self.iam, self.s3 = server, client(server, "glue"), client(server, "logs"), client(server, "iam"), server.s3()
        self.s3.create_bucket(Bucket="scripts")
        self.role = self.iam.create_role(RoleName="runner", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
        self.iam.put_role_policy(RoleName="runner", PolicyName="p", PolicyDocument=POLICY)

    def job(self, script, key=None, kind="pythonshell", **more):
        name = f"j{time.monotonic_ns()}"
        key = key or f"open/{name}.py"
        if script is not None:
            self.s3.put_object(Bucket="scripts", Key=key, Body=script.encode())
        self.glue.create_job(Name=name, Role=more.pop("Role", self.role), Command={"Name": kind, "ScriptLocation": f"s3://scripts/{key}", "PythonVersion": "3"}, **more)
        return name

    def state(self, job, run):
        return self.glue.get_job_run(JobName=job, RunId=run)["JobRun"]

    def wait(self, job, run, states=("SUCCEEDED", "FAILED", "STOPPED", "TIMEOUT"), seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            r = self.state(job, run)
            if r["JobRunState"] in states:
                return r
            time.sleep(0.1)
        raise AssertionError(f"still {r['JobRunState']}")

    def run(self, job, **args):
        return self.wait(job, self.glue.start_job_run(JobName=job, **args)["JobRunId"])

    def lines(self, run, what="output"):
        try:
            return [e["message"] for e in self.logs.get_log_events(logGroupName=f"/aws-glue/jobs/{what}", logStreamName=run["Id"] if isinstance(run, dict) else run, startFromHead=True)["events"]]
        except ClientError as e:
            assert e.response["Error"]["Code"] == "ResourceNotFoundException"
            return []


@pytest.fixture(scope="module")
def g(server):
    return Glue(server)


def code(call, **args):
    with pytest.raises(ClientError) as e:
        call(**args)
    return e.value.response["Error"]["Code"], e.value.response["Error"]["Message"]


# ---- records


def test_jobs_are_records(g):
    name = g.job("pass", DefaultArguments={"--a": "1"}, Timeout=30, GlueVersion="6.0", WorkerType="G.1X", NumberOfWorkers=2, Tags={"t": "1"})
    job = g.glue.get_job(JobName=name)["Job"]
    assert job["Role"] == g.role and job["Timeout"] == 30 and job["DefaultArguments"] == {"--a": "1"} and job["ExecutionProperty"] == {"MaxConcurrentRuns": 1} and job["MaxCapacity"] == 2.0
    assert abs(job["CreatedOn"].timestamp() - time.time()) < 60 and job["MaxRetries"] == 0
    assert code(g.glue.create_job, Name=name, Role=g.role, Command={"Name": "glueetl", "ScriptLocation": "s3://x/y"})[0] == "AlreadyExistsException"
    assert name in g.glue.list_jobs()["JobNames"] and g.glue.list_jobs(Tags={"t": "1"})["JobNames"] == [name] and g.glue.list_jobs(Tags={"t": "2"})["JobNames"] == []
    g.glue.update_job(JobName=name, JobUpdate={"Role": g.role, "Command": job["Command"], "Timeout": 5})
    updated = g.glue.get_job(JobName=name)["Job"]
    assert updated["Timeout"] == 5 and "DefaultArguments" not in updated and updated["CreatedOn"] == job["CreatedOn"]
    batch = g.glue.batch_get_jobs(JobNames=[name, "none"])
    assert [j["Name"] for j in batch["Jobs"]] == [name] and batch["JobsNotFound"] == ["none"]
    assert g.glue.reset_job_bookmark(JobName=name)["JobBookmarkEntry"]["JobName"] == name
    g.glue.delete_job(JobName=name)
    g.glue.delete_job(JobName=name)
    assert code(g.glue.get_job, JobName=name)[0] == "EntityNotFoundException"
    assert code(g.glue.start_job_run, JobName=name)[0] == "EntityNotFoundException"


def test_pages(g):
    names = sorted(g.job("pass") for _ in range(3))
    found = [n for page in g.glue.get_paginator("get_jobs").paginate(PaginationConfig={"PageSize": 2}) for n in (j["Name"] for j in page["Jobs"])]
    assert [n for n in found if n in names] == names


def test_passing_a_role_is_asked(g, server):
    g.iam.create_user(UserName="maker")
    g.iam.put_user_policy(UserName="maker", PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "glue:*", "Resource": "*"}]}))
    key = g.iam.create_access_key(UserName="maker")["AccessKey"]
    maker = boto3.client("glue", endpoint_url=server.lake, aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"], region_name="us-east-1")
    what = {"Name": "made", "Role": g.role, "Command": {"Name": "pythonshell", "ScriptLocation": "s3://scripts/open/x.py"}}
    error, message = code(maker.create_job, **what)
    assert error == "AccessDeniedException" and "iam:PassRole" in message
    g.iam.put_user_policy(UserName="maker", PolicyName="q", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "iam:PassRole", "Resource": g.role}]}))
    maker.create_job(**what)


# ---- running


def test_a_run(g):
    run = g.run(g.job("import sys\nprint('one'); print('two', file=sys.stderr); print('drei ä')"))
    assert re.fullmatch("jr_[0-9a-f]{64}", run["Id"]) and run["JobRunState"] == "SUCCEEDED" and run["Attempt"] == 0 and run["LogGroupName"] == "/aws-glue/jobs"
    assert run["StartedOn"] <= run["CompletedOn"] and run["ExecutionTime"] >= 0
    assert g.lines(run) == ["one", "drei ä"] and g.lines(run, "error") == ["two"]


def test_its_end_is_an_event(g, server):
    failed = g.run(g.job("1/0"))
    token = base64.b64encode(f"{server.key}:{server.secret}".encode()).decode()
    end = time.time() + 5
    found = []
    while not found and time.time() < end:                                 # recorded first, told then
        r = json.load(urllib.request.urlopen(urllib.request.Request(f"{server.manage}/api/events?max=1000", headers={"Authorization": f"Basic {token}"})))
        found = [e for e in r["events"] if e["detail"].get("jobRunId") == failed["Id"]]
    assert len(found) == 1 and found[0]["detail-type"] == "Glue Job State Change"
    assert found[0]["detail"]["state"] == "FAILED" and found[0]["detail"]["severity"] == "ERROR" and "division" in found[0]["detail"]["message"]


def test_output_comes_as_it_is_printed(g):
    job = g.job("import time\nprint('first', flush=True)\ntime.sleep(30)\nprint('last')")
    run = g.glue.start_job_run(JobName=job)["JobRunId"]
    end = time.time() + 15
    while time.time() < end and g.lines(run) != ["first"]:
        time.sleep(0.1)
    assert g.lines(run) == ["first"] and g.state(job, run)["JobRunState"] == "RUNNING"
    g.glue.batch_stop_job_run(JobName=job, JobRunIds=[run])
    assert g.wait(job, run)["JobRunState"] == "STOPPED"


def test_arguments(g):
    job = g.job("import sys, json\nfrom awsglue.utils import getResolvedOptions\n"
                "print(json.dumps(getResolvedOptions(sys.argv, ['JOB_NAME', 'src_db', 'phase', 'fixed'])))\nprint('--conf' in sys.argv)",
                DefaultArguments={"--src_db": "d", "--phase": "one", "--conf": "a=b --conf c=d", "--fixed": "default"}, NonOverridableArguments={"--fixed": "yes"})
    run = g.run(job, Arguments={"--phase": "--two with spaces", "--fixed": "no"})
    assert run["JobRunState"] == "SUCCEEDED", g.lines(run, "error")
    options, conf = g.lines(run)
    options = json.loads(options)
    assert options["JOB_NAME"] == job and options["src_db"] == "d" and options["phase"] == "--two with spaces" and options["fixed"] == "yes" and options["JOB_RUN_ID"] == run["Id"]
    assert conf == "False" and run["Arguments"] == {"--phase": "--two with spaces", "--fixed": "no"}
    missing = g.run(g.job("import sys\nfrom awsglue.utils import getResolvedOptions\ngetResolvedOptions(sys.argv, ['nothing'])"))
    assert missing["JobRunState"] == "FAILED" and "nothing" in missing["ErrorMessage"]


def test_failures_say_why(g):
    run = g.run(g.job("print('before')\n1/0"))
    assert run["JobRunState"] == "FAILED" and run["ErrorMessage"] == "ZeroDivisionError: division by zero"
    assert g.lines(run) == ["before"] and any("Traceback" in x for x in g.lines(run, "error"))
    run = g.run(g.job("import sys\nsys.exit(3)"))
    assert run["JobRunState"] == "FAILED" and "3" in run["ErrorMessage"]
    run = g.run(g.job("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)"))
    assert run["JobRunState"] == "FAILED" and "11" in run["ErrorMessage"]


def test_the_script_is_read_with_the_roles_rights(g):
    run = g.run(g.job("print(1)", key="closed/x.py"))
    assert run["JobRunState"] == "FAILED" and "s3://scripts/closed/x.py" in run["ErrorMessage"] and "403" in run["ErrorMessage"]
    run = g.run(g.job(None, key="open/none.py"))
    assert run["JobRunState"] == "FAILED" and "404" in run["ErrorMessage"]


def test_modules(g):
    g.s3.put_object(Bucket="scripts", Key="open/lib/helper.py", Body=b"ANSWER = 42")
    run = g.run(g.job("import helper\nprint(helper.ANSWER)", DefaultArguments={"--extra-py-files": "s3://scripts/open/lib/helper.py"}))
    assert g.lines(run) == ["42"], g.lines(run, "error")


def test_environment(g, server):
    """The role's own temporary credentials and firn's address, and nothing of the server's environment."""
    script = """
import json, os, hashlib, hmac, datetime, urllib.request, urllib.error
e = os.environ
print(json.dumps({k: e[k] for k in sorted(e)}))
"""
    run = g.run(g.job(script))
    env = json.loads(g.lines(run)[0])
    assert env["AWS_ENDPOINT_URL"] == server.lake and env["AWS_REGION"] == "us-east-1" and env["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert not [k for k in env if k.startswith("FIRN_ROOT") or k in ("FIRN_DATA", "USER", "LD_PRELOAD")]
    keys = {"aws_access_key_id": env["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": env["AWS_SECRET_ACCESS_KEY"], "aws_session_token": env["AWS_SESSION_TOKEN"]}
    s = boto3.client("s3", endpoint_url=server.lake, region_name="us-east-1", config=botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}), **keys)
    with pytest.raises(ClientError) as e:                                  # the run is over: its keys are gone
        s.get_object(Bucket="scripts", Key="open/x")
    assert e.value.response["Error"]["Code"] in ("InvalidAccessKeyId", "InvalidToken", "ExpiredToken")


def test_role_that_does_not_trust_glue(g):
    role = g.iam.create_role(RoleName="foreign", AssumeRolePolicyDocument=TRUST.replace("glue.", "ec2."))["Role"]["Arn"]
    job = g.job("pass", Role=role)
    error, message = code(g.glue.start_job_run, JobName=job)
    assert error == "InvalidInputException" and message.startswith(f"Role {role} should be given assume role permissions for Glue Service")


@pytest.mark.long
def test_timeout(g):
    job = g.job("import time\nprint('x', flush=True)\ntime.sleep(300)", Timeout=1)
    run = g.wait(job, g.glue.start_job_run(JobName=job)["JobRunId"], seconds=90)
    assert run["JobRunState"] == "TIMEOUT" and 58 <= run["ExecutionTime"] <= 65 and run["ErrorMessage"]


def test_stop_takes_the_whole_family(g):
    marker = f"marker{time.monotonic_ns()}"
    job = g.job(f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'], start_new_session=True)\nprint('up', flush=True)\ntime.sleep(600)")
    run = g.glue.start_job_run(JobName=job)["JobRunId"]
    end = time.time() + 20
    while time.time() < end and not g.lines(run):
        time.sleep(0.1)

    def alive():
        return [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in _read(p)]

    assert alive()
    r = g.glue.batch_stop_job_run(JobName=job, JobRunIds=[run, "jr_none"])
    assert r["SuccessfulSubmissions"] == [{"JobName": job, "JobRunId": run}] and r["Errors"][0]["ErrorDetail"]["ErrorCode"] == "EntityNotFoundException"
    assert g.wait(job, run)["JobRunState"] == "STOPPED"
    end = time.time() + 5
    while time.time() < end and alive():
        time.sleep(0.1)
    assert not alive()
    again = g.glue.batch_stop_job_run(JobName=job, JobRunIds=[run])
    assert not again["SuccessfulSubmissions"] and "STOPPED" in again["Errors"][0]["ErrorDetail"]["ErrorMessage"]


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_runs_at_once(g):
    job = g.job("import time\ntime.sleep(20)", ExecutionProperty={"MaxConcurrentRuns": 2})
    ids = [g.glue.start_job_run(JobName=job)["JobRunId"] for _ in range(2)]
    assert code(g.glue.start_job_run, JobName=job)[0] == "ConcurrentRunsExceededException"
    g.glue.batch_stop_job_run(JobName=job, JobRunIds=ids)
    for i in ids:
        g.wait(job, i)
    assert {r["Id"] for r in g.glue.get_job_runs(JobName=job)["JobRuns"]} == set(ids)
    third = g.glue.start_job_run(JobName=job)["JobRunId"]
    assert g.glue.get_job_runs(JobName=job)["JobRuns"][0]["Id"] == third
    g.glue.batch_stop_job_run(JobName=job, JobRunIds=[third])


def test_retries(g):
    job = g.job("raise ValueError('again')", MaxRetries=1)
    first = g.glue.start_job_run(JobName=job)["JobRunId"]
    g.wait(job, first)
    second = g.wait(job, first + "_attempt_1")
    assert second["Attempt"] == 1 and second["PreviousRunId"] == first and second["JobRunState"] == "FAILED"
    time.sleep(1)
    assert len(g.glue.get_job_runs(JobName=job)["JobRuns"]) == 2


def test_without_spark(tmp_path):
    """A Spark job fails at once, and says how to get one."""
    s = Server(tmp_path / "data", ["glue.spark_home=/nowhere"])
    try:
        g = Glue(s)
        job = g.job("print(1)", kind="glueetl")
        began = time.time()
        run = g.run(job)
        assert run["JobRunState"] == "FAILED" and "make setup-spark" in run["ErrorMessage"] and time.time() - began < 5
    finally:
        s.stop()


def test_off(tmp_path):
    s = Server(tmp_path / "data", ["glue.jobs=off"])
    try:
        g = Glue(s)
        job = g.job("print(1)")
        error, message = code(g.glue.start_job_run, JobName=job)
        assert error == "OperationNotSupportedException" and "glue.jobs" in message
    finally:
        s.stop()


def test_a_killed_server(tmp_path):
    """Its runs are FAILED after the start, their processes and folders are gone."""
    folders = set(pathlib.Path("/tmp").glob("firn-job-*"))
    s = Server(tmp_path / "data")
    try:
        g = Glue(s)
        marker = f"marker{time.monotonic_ns()}"
        job = g.job(f"import time, subprocess, sys\nprint('up', flush=True)\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)', '{marker}'])")
        run = g.glue.start_job_run(JobName=job)["JobRunId"]
        end = time.time() + 20
        while time.time() < end and not g.lines(run):
            time.sleep(0.1)
        s.kill()
        end = time.time() + 10
        while time.time() < end and [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in _read(p)]:
            time.sleep(0.1)
        assert not [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if marker.encode() in _read(p)]
        left = set(pathlib.Path("/tmp").glob("firn-job-*")) - folders
        s.start()
        r = client(s, "glue").get_job_run(JobName=job, RunId=run)["JobRun"]
        assert [p for p in left if not p.exists()]
        assert r["JobRunState"] == "FAILED" and "server stopped" in r["ErrorMessage"]
    finally:
        s.stop()


# ---- what a script must not reach

ATTACK = r"""
import json, os, signal, sys, ctypes
data, server = sys.argv[sys.argv.index('--data') + 1], int(sys.argv[sys.argv.index('--pid') + 1])
got = {}

def attempt(name, f):
    try:
        got[name] = repr(f())[:200]
    except BaseException as e:
        got[name] = 'refused: ' + type(e).__name__

for file in ('credentials', 'catalog.db', 'catalog.key', 'evidence.key', 'logs.db', 'store'):
    attempt('read ' + file, lambda: open(os.path.join(data, file), 'rb').read(10) if file != 'store' else os.listdir(os.path.join(data, file)))
attempt('write into the data folder', lambda: open(os.path.join(data, 'planted'), 'w').write('x'))
for n in ('environ', 'cmdline', 'maps', 'root', 'fd', 'cwd'):
    attempt('/proc/server/' + n, lambda: open(f'/proc/{server}/{n}', 'rb').read(10) if n in ('environ', 'maps') else os.listdir(f'/proc/{server}/{n}') if n in ('fd', 'root', 'cwd') else None or open(f'/proc/{server}/environ', 'rb').read(1))
for n in ('environ', 'mem', 'maps'):                                     # process 1 here is a copy of the server
    attempt('/proc/1/' + n, lambda: open(f'/proc/1/{n}', 'rb').read(10) or 1 / 0)
attempt('signal the server', lambda: os.kill(server, signal.SIGTERM))
attempt('see the server', lambda: [p for p in map(int, filter(str.isdigit, os.listdir('/proc'))) if b'serve' in open(f'/proc/{p}/cmdline', 'rb').read() or data.encode() in open(f'/proc/{p}/cmdline', 'rb').read() and p != os.getpid()][0])
attempt('become root', lambda: os.setuid(0))
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *args):
    if getattr(libc, name)(*args) != 0:
        raise OSError(ctypes.get_errno(), name)

got['no new privileges'] = [l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')][0]
got['capabilities'] = [l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')][0]
attempt('unmount the cover', lambda: call('umount2', data.encode(), 2))
attempt('new namespaces, then unmount', lambda: (call('unshare', 0x10000000 | 0x00020000), call('umount2', data.encode(), 2)))
attempt('read credentials after that', lambda: open(os.path.join(data, 'credentials'), 'rb').read(10))
attempt('trace the server', lambda: call('ptrace', 16, server, 0, 0))
attempt('write outside of /tmp', lambda: open('/var/tmp/firn-escape', 'w').write('x'))
attempt('write to the program', lambda: open(sys.argv[sys.argv.index('--program') + 1], 'r+b'))
attempt('inherited descriptors', lambda: [n for n in os.listdir('/proc/self/fd') if int(n) > 3 and os.readlink(f'/proc/self/fd/{n}') != f'/proc/{os.getpid()}/fd'][0])
open('own-file', 'w').write('the folder of the run is writable')
print(json.dumps(got))
"""


def attack(server, g):
    run = g.run(g.job(ATTACK), Arguments={"--data": str(server.data), "--pid": str(server.process.pid), "--program": os.readlink(f"/proc/{server.process.pid}/exe")})
    assert run["JobRunState"] == "SUCCEEDED", g.lines(run, "error")
    got = json.loads(g.lines(run)[-1])
    assert got.pop("no new privileges") == "1" and int(got.pop("capabilities"), 16) == 0
    return {k: v for k, v in got.items() if not v.startswith("refused: ")}


def test_a_script_is_shut_off(g, server):
    assert attack(server, g) == {}
    assert server.process.poll() is None and not (server.data / "planted").exists() and (server.data / "credentials").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another user")
def test_as_another_user(tmp_path):
    """glue.job_user: the script runs as it."""
    s = Server(tmp_path / "data", ["glue.job_user=daemon"])
    try:
        g = Glue(s)
        run = g.run(g.job("import os, pwd\nprint(pwd.getpwuid(os.getuid()).pw_name, os.getgroups())"))
        assert g.lines(run) == ["daemon []"], (run, g.lines(run, "error"))
        assert attack(s, g) == {}
    finally:
        s.stop()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to start the server as")
def test_a_server_that_is_not_root(tmp_path):
    """User namespaces: no other user is needed."""
    class AsNobody(Server):
        def start(self):
            import conftest
            import subprocess
            real = subprocess.Popen
            conftest.subprocess.Popen = lambda args, **more: real(args, user="nobody", group="nogroup", extra_groups=[], **more)
            try:
                super().start()
            finally:
                conftest.subprocess.Popen = real

    folder = pathlib.Path(f"/tmp/firn-nobody-{time.monotonic_ns()}")
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    s = AsNobody(folder / "data")
    try:
        g = Glue(s)
        job = g.job("print(1)")
        try:
            run = g.glue.start_job_run(JobName=job)["JobRunId"]
        except ClientError as e:
            assert e.response["Error"]["Code"] == "OperationNotSupportedException" and "glue.jobs = unsafe" not in e.response["Error"]["Message"]
            pytest.skip("user namespaces are not allowed here; the run was refused")
        g.wait(job, run)
        assert attack(s, g) == {}
    finally:
        s.stop()
        import shutil
        shutil.rmtree(folder)


def test_memory_and_files_are_limited(tmp_path):
    s = Server(tmp_path / "data", ["glue.job_memory=256MB"])
    try:
        g = Glue(s)
        run = g.run(g.job("x = bytearray(1 << 30)\nprint('had it')"))
        assert run["JobRunState"] == "FAILED" and "MemoryError" in run["ErrorMessage"], run
        run = g.run(g.job("f = [open('/dev/null') for _ in range(100000)]"))
        assert run["JobRunState"] == "FAILED" and "Too many open files" in run["ErrorMessage"]
    finally:
        s.stop()


def test_output_has_a_limit(g):
    run = g.run(g.job("import sys\nfor _ in range(80): sys.stdout.write('x' * 999999 + '\\n')\nprint('end')"))
    assert run["JobRunState"] == "SUCCEEDED"
    events = [e for page in g.logs.get_paginator("filter_log_events").paginate(logGroupName="/aws-glue/jobs/output", logStreamNames=[run["Id"]]) for e in page["events"]]
    assert sum(len(e["message"]) for e in events) < 70_000_000 and "over its limit" in events[-1]["message"]


# ---- Spark

SPARK = """
import json, sys, time
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "src_db", "ns", "phase"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
o, m = f"glue_catalog.{args['src_db']}.orders", f"s3t_catalog.{args['ns']}.summary"
query = f"SELECT customer_name, COUNT(*) AS order_count, SUM(amount) AS total_amount FROM {o} GROUP BY customer_name"


def run(step, sql):
    start = time.time()
    try:
        rows = [list(map(str, r)) for r in glue.sql(sql).collect()]
        print(json.dumps({"step": step, "status": "SUCCESS", "seconds": round(time.time() - start, 2), "rows": rows}), flush=True)
    except Exception as e:
        print(json.dumps({"step": step, "status": "FAILED", "error": str(e)}), flush=True)


run("table", f"CREATE TABLE {o} (id INT, customer_name STRING, amount DECIMAL(10,2), order_date DATE) USING iceberg TBLPROPERTIES ('format-version'='2')")
run("insert", f"INSERT INTO {o} VALUES (1, 'Alice', 150.00, DATE '2026-10-01'), (2, 'Bob', 200.50, DATE '2026-10-01'), (3, 'Alice', 75.25, DATE '2026-10-02')")
run("create", f"CREATE MANAGED MATERIALIZED VIEW {m} AS {query}")
run("show", f"SHOW VIEWS IN s3t_catalog.{args['ns']}")
run("select", f"SELECT * FROM {m} ORDER BY 1")
run("write", f"INSERT INTO {m} VALUES ('Mallory', 9, 9.99)")
run("more", f"INSERT INTO {o} VALUES (4, 'Carol', 1.00, DATE '2026-10-03')")
run("refresh", f"REFRESH MATERIALIZED VIEW {m}")
run("again", f"SELECT count(*) FROM {m}")
job.commit()
"""


def spark_is_there():
    import conftest
    build = pathlib.Path(os.path.realpath(conftest.FIRN)).parent.parent
    return list(build.glob("venv-spark/lib/python3*/site-packages/pyspark/bin/spark-submit")) and list(build.glob("firn-spark.jar"))


@pytest.mark.long
@pytest.mark.skipif(not spark_is_there(), reason="Spark is not there; `make setup-spark` gets it")
def test_spark_with_the_first_documents_chain(g, server):
    """The --conf chain as AWS documents it, in an environment that is shut off; nothing of firn is named in it."""
    bucket = "job-tables"
    client(server, "s3tables").create_table_bucket(name=bucket)
    client(server, "s3tables").create_namespace(tableBucketARN=f"arn:aws:s3tables:us-east-1:123456789012:bucket/{bucket}", namespace=["analytics"])
    g.s3.create_bucket(Bucket="job-warehouse")
    g.glue.create_database(DatabaseInput={"Name": "job_src", "LocationUri": "s3://job-warehouse/job_src.db"})
    role = g.iam.create_role(RoleName="sparkrunner", AssumeRolePolicyDocument=TRUST)["Role"]["Arn"]
    g.iam.put_role_policy(RoleName="sparkrunner", PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": ["glue:*", "lakeformation:GetDataAccess", "s3tables:*"], "Resource": "*"},
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"], "Resource": ["arn:aws:s3:::job-warehouse*", "arn:aws:s3:::scripts*"]},
        {"Effect": "Allow", "Action": "iam:PassRole", "Resource": role}]}))
    chain = ["spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"]
    for name, glue_id, warehouse in (("glue_catalog", "123456789012", "s3://job-warehouse/warehouse"), ("s3t_catalog", f"123456789012:s3tablescatalog/{bucket}", "s3://job-warehouse/mv-warehouse")):
        c = f"spark.sql.catalog.{name}"
        chain += [f"{c}=org.apache.iceberg.spark.SparkCatalog", f"{c}.type=glue", f"{c}.glue.id={glue_id}", f"{c}.glue.account-id=123456789012", f"{c}.warehouse={warehouse}", f"{c}.glue.region=us-east-1"]
    chain += ["spark.sql.defaultCatalog=s3t_catalog", "spark.sql.optimizer.answerQueriesWithMVs.enabled=true", "spark.sql.materializedViews.metadataCache.enabled=true", "spark.sql.mv.managed.enabled=true"]
    job = g.job(SPARK, kind="glueetl", Role=role, GlueVersion="6.0", WorkerType="G.1X", NumberOfWorkers=2, Timeout=30,
                DefaultArguments={"--enable-glue-datacatalog": "true", "--job-language": "python", "--src_db": "job_src", "--ns": "analytics", "--phase": "phase1", "--conf": " --conf ".join(chain)})
    run = g.wait(job, g.glue.start_job_run(JobName=job, Arguments={"--phase": "phase1"})["JobRunId"], seconds=400)
    assert run["JobRunState"] == "SUCCEEDED", (run, g.lines(run, "error")[-30:])
    steps = {x["step"]: x for x in map(json.loads, g.lines(run))}
    assert [s for s, x in steps.items() if x["status"] == "FAILED"] == ["write"], steps
    assert "system-managed materialized view" in steps["write"]["error"]
    assert steps["create"]["seconds"] < 5 and steps["show"]["rows"] == [["analytics", "summary", "False", "FRESH"]]
    assert steps["select"]["rows"] == [["Alice", "2", "225.25"], ["Bob", "1", "200.50"]] and steps["again"]["rows"] == [["3"]]
    g.glue.update_job(JobName=job, JobUpdate={**{k: v for k, v in g.glue.get_job(JobName=job)["Job"].items() if k in ("Role", "Command", "DefaultArguments", "WorkerType", "NumberOfWorkers", "Timeout")},
                                              "GlueVersion": "5.1"})
    older = g.wait(job, g.glue.start_job_run(JobName=job, Arguments={"--phase": "phase1"})["JobRunId"], seconds=400)
    steps = {x["step"]: x for x in map(json.loads, g.lines(older))}
    assert steps["create"]["status"] == "FAILED" and "GlueVersion 5.1" in steps["create"]["error"], steps
