# SPDX-License-Identifier: Apache-2.0
"""CloudWatch Logs by boto3, the log and the events of refresh runs, and the webhook."""
import base64
import http.server
import json
import threading
import time
import urllib.error
import urllib.request

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import pytest
from botocore.exceptions import ClientError

from conftest import Server

DAY = 86400000


def client(server, service, **more):
    return boto3.client(service, endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1",
                        config=botocore.config.Config(retries={"max_attempts": 1}), **more)


@pytest.fixture()
def logs(server):
    return client(server, "logs")


@pytest.fixture()
def group(logs):
    name = f"/test/g{time.monotonic_ns()}"
    logs.create_log_group(logGroupName=name)
    yield name
    logs.delete_log_group(logGroupName=name)


def code(call, **args):
    with pytest.raises(ClientError) as e:
        call(**args)
    return e.value.response["Error"]["Code"]


def put(logs, group, stream, messages, at=None):
    at = at or int(time.time() * 1000)
    return logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[{"timestamp": at + i, "message": m} for i, m in enumerate(messages)])


def test_groups(logs):
    base = f"/test/groups{time.monotonic_ns()}"
    for n in ("a", "b", "c"):
        logs.create_log_group(logGroupName=f"{base}/{n}", tags={"n": n})
    assert code(logs.create_log_group, logGroupName=f"{base}/a") == "ResourceAlreadyExistsException"
    assert code(logs.create_log_group, logGroupName="not valid!") == "InvalidParameterException"
    page = logs.describe_log_groups(logGroupNamePrefix=base, limit=2)
    assert [g["logGroupName"][-1] for g in page["logGroups"]] == ["a", "b"]
    rest = logs.describe_log_groups(logGroupNamePrefix=base, limit=2, nextToken=page["nextToken"])
    assert [g["logGroupName"][-1] for g in rest["logGroups"]] == ["c"] and "nextToken" not in rest
    assert code(logs.describe_log_groups, logGroupNamePrefix=base + "/", nextToken=page["nextToken"]) == "InvalidParameterException"
    assert [g["logGroupName"] for g in logs.describe_log_groups(logGroupNamePattern=base[2:] + "/b")["logGroups"]] == [base + "/b"]
    arn = page["logGroups"][0]["logGroupArn"]
    assert arn == f"arn:aws:logs:us-east-1:123456789012:log-group:{base}/a" and page["logGroups"][0]["arn"] == arn + ":*"
    logs.tag_resource(resourceArn=arn, tags={"x": "y"})
    logs.untag_resource(resourceArn=arn, tagKeys=["n"])
    assert logs.list_tags_for_resource(resourceArn=arn)["tags"] == {"x": "y"}
    logs.put_retention_policy(logGroupName=f"{base}/a", retentionInDays=7)
    assert code(logs.put_retention_policy, logGroupName=f"{base}/a", retentionInDays=8) == "InvalidParameterException"
    assert logs.describe_log_groups(logGroupNamePrefix=f"{base}/a")["logGroups"][0]["retentionInDays"] == 7
    logs.delete_retention_policy(logGroupName=f"{base}/a")
    assert "retentionInDays" not in logs.describe_log_groups(logGroupNamePrefix=f"{base}/a")["logGroups"][0]
    for n in ("a", "b", "c"):
        logs.delete_log_group(logGroupName=f"{base}/{n}")
    assert code(logs.delete_log_group, logGroupName=f"{base}/a") == "ResourceNotFoundException"


def test_streams(logs, group):
    now = int(time.time() * 1000)
    for i, n in enumerate(("one", "two", "three")):
        logs.create_log_stream(logGroupName=group, logStreamName=n)
        put(logs, group, n, ["x"], now - i * 1000)
    assert code(logs.create_log_stream, logGroupName=group, logStreamName="one") == "ResourceAlreadyExistsException"
    assert code(logs.create_log_stream, logGroupName=group, logStreamName="a:b") == "InvalidParameterException"

    def names(**args):
        out, token = [], {}
        while token is not None:
            r = logs.describe_log_streams(logGroupName=group, limit=2, **args, **token)
            out += [s["logStreamName"] for s in r["logStreams"]]
            token = {"nextToken": r["nextToken"]} if "nextToken" in r else None
        return out

    assert names() == ["one", "three", "two"]
    assert names(descending=True) == ["two", "three", "one"]
    assert names(orderBy="LastEventTime", descending=True) == ["one", "two", "three"]
    assert names(orderBy="LastEventTime") == ["three", "two", "one"]
    assert names(logStreamNamePrefix="t") == ["three", "two"]
    logs.delete_log_stream(logGroupName=group, logStreamName="two")
    assert names() == ["one", "three"]


def test_put_rules(logs, group):
    logs.create_log_stream(logGroupName=group, logStreamName="s")
    now = int(time.time() * 1000)
    assert code(logs.put_log_events, logGroupName=group, logStreamName="s", logEvents=[{"timestamp": now, "message": "a"}, {"timestamp": now - 1, "message": "b"}]) == "InvalidParameterException"
    assert code(logs.put_log_events, logGroupName=group, logStreamName="s", logEvents=[{"timestamp": now - 2 * DAY, "message": "a"}, {"timestamp": now, "message": "b"}]) == "InvalidParameterException"
    r = logs.put_log_events(logGroupName=group, logStreamName="s", logEvents=[{"timestamp": t, "message": str(t)} for t in (now - 20 * DAY, now, now + DAY)])
    assert r["rejectedLogEventsInfo"] == {"tooOldLogEventEndIndex": 1, "tooNewLogEventStartIndex": 2}
    assert [e["message"] for e in logs.get_log_events(logGroupName=group, logStreamName="s")["events"]] == [str(now)]
    big = "x" * 600_000
    assert code(logs.put_log_events, logGroupName=group, logStreamName="s", logEvents=[{"timestamp": now, "message": big}] * 2) == "InvalidParameterException"
    assert code(logs.put_log_events, logGroupName=group, logStreamName="no", logEvents=[{"timestamp": now, "message": "a"}]) == "ResourceNotFoundException"


def test_get_in_both_directions(logs, group):
    logs.create_log_stream(logGroupName=group, logStreamName="s")
    put(logs, group, "s", [f"m{i}" for i in range(10)])

    def get(**args):
        r = logs.get_log_events(logGroupName=group, logStreamName="s", **args)
        return [e["message"] for e in r["events"]], r

    tail, r = get(limit=3)
    assert tail == ["m7", "m8", "m9"]
    before, r2 = get(limit=4, nextToken=r["nextBackwardToken"])
    assert before == ["m3", "m4", "m5", "m6"]
    assert get(nextToken=r2["nextForwardToken"])[0] == ["m7", "m8", "m9"]
    head, r = get(limit=4, startFromHead=True)
    assert head == ["m0", "m1", "m2", "m3"]
    _, end = get(nextToken=r["nextForwardToken"])
    nothing, again = get(nextToken=end["nextForwardToken"])
    assert nothing == [] and again["nextForwardToken"] == end["nextForwardToken"]      # how a poller sees that it is at the end
    put(logs, group, "s", ["later"], int(time.time() * 1000) + 1000)
    assert get(nextToken=again["nextForwardToken"])[0] == ["later"]
    assert code(logs.get_log_events, logGroupName=group, logStreamName="s", nextToken="f/1") == "InvalidParameterException"
    assert code(logs.get_log_events, logGroupName=group, logStreamName="none") == "ResourceNotFoundException"


def test_filter(logs, group):
    for s in ("a1", "a2", "b1"):
        logs.create_log_stream(logGroupName=group, logStreamName=s)
    t = int(time.time() * 1000)
    put(logs, group, "a1", ["ERROR disk full", '{"level": "warn", "n": 5}', "INFO fine"], t)
    put(logs, group, "a2", ["ERROR net", "127.0.0.1 joe 404"], t + 10)
    put(logs, group, "b1", ["WARN ERROR both"], t + 20)

    def find(pattern="", **args):
        return [e["message"] for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group, filterPattern=pattern, **args) for e in page["events"]]

    assert len(find()) == 6
    assert find("ERROR") == ["ERROR disk full", "ERROR net", "WARN ERROR both"]
    assert find("ERROR -WARN") == ["ERROR disk full", "ERROR net"]
    assert find('"disk full"') == ["ERROR disk full"]
    assert find("?WARN ?INFO") == ["INFO fine", "WARN ERROR both"]
    assert find('{ $.level = "warn" && $.n >= 5 }') == ['{"level": "warn", "n": 5}']
    assert find("[ip, user, status = 4*]") == ["127.0.0.1 joe 404"]
    assert find("ERROR", logStreamNamePrefix="a") == ["ERROR disk full", "ERROR net"]
    assert find("ERROR", logStreamNames=["b1"]) == ["WARN ERROR both"]
    assert find(startTime=t + 10, endTime=t + 20) == ["ERROR net", "127.0.0.1 joe 404", "WARN ERROR both"]
    assert find(PaginationConfig={"PageSize": 2}) == find()
    assert code(logs.filter_log_events, logGroupName=group, filterPattern='{ $.a = }') == "InvalidParameterException"
    assert code(logs.filter_log_events, logGroupName=group, filterPattern="%x%") == "InvalidParameterException"


def test_denied(server, logs):
    """The wrong secret is refused; nobody is let in by an unsigned request."""
    bad = boto3.client("logs", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key="wrong" * 8, region_name="us-east-1")
    assert code(bad.describe_log_groups) in ("InvalidSignatureException", "SignatureDoesNotMatch")


# ---- refresh runs


def make_view(server, ns):
    server.sql(f"""SET spark.sql.mv.managed.enabled = true; CREATE TABLE glue_catalog.{ns}.t (id BIGINT, v INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1, 1);
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.{ns}.v AS SELECT v, count(*) AS n FROM glue_catalog.{ns}.t GROUP BY v""")


def last_run(server, ns):
    return server.sql(f"SELECT run_id, status FROM glue_catalog.{ns}.v.refreshes ORDER BY started_at DESC LIMIT 1")[0]


def test_refresh_writes_its_log(server, logs, ns):
    make_view(server, ns)
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (2, 1); REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v")
    run, status = last_run(server, ns)
    assert status == "SUCCEEDED"
    lines = [e["message"] for e in logs.get_log_events(logGroupName="/aws-glue/materialized-views", logStreamName=run, startFromHead=True)["events"]]
    assert f"refresh of {ns}.v" in lines[0] and run in lines[0]
    assert any(f"source {ns}.t" in x and "snapshot" in x for x in lines)
    assert any(x.startswith("INFO decision INCREMENTAL: ") or x.startswith("INFO decision FULL: ") for x in lines)
    assert any("1 files" in x or "files, evidence" in x for x in lines) and lines[-1].startswith("INFO succeeded in ")


def events_of(server, ns, after=0):
    token = base64.b64encode(f"{server.key}:{server.secret}".encode()).decode()
    found = []
    while True:
        r = json.load(urllib.request.urlopen(urllib.request.Request(f"{server.manage}/api/events?after={after}&max=50", headers={"Authorization": f"Basic {token}"})))
        found += [e for e in r["events"] if e["detail"].get("databaseName") == ns]
        if not r["events"]:
            return found
        after = r["next"]


def test_events(server, ns):
    make_view(server, ns)
    server.sql(f"INSERT INTO glue_catalog.{ns}.t VALUES (2, 1); REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v FULL")
    server.sql(f"ALTER TABLE glue_catalog.{ns}.t RENAME COLUMN v TO w")
    with pytest.raises(Exception):
        server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.v")
    events = events_of(server, ns)
    assert [e["detail-type"].removeprefix("Glue Materialized View Refresh Task ") for e in events] == ["Started", "Succeeded", "Started", "Succeeded", "Started", "Failed"]
    assert all(e["source"] == "aws.glue" and e["account"] == "123456789012" and e["region"] == "us-east-1" and e["detail"]["tableName"] == "v" for e in events)
    assert events[3]["detail"]["refreshType"] == "FULL" and events[3]["detail"]["processedBytes"] > 0
    assert events[5]["detail"]["status"] == "FAILED" and events[5]["detail"]["errorMessage"]
    assert [e["sequence"] for e in events] == sorted(e["sequence"] for e in events)
    assert events_of(server, ns, events[4]["sequence"]) == events[5:]


def test_events_need_a_key(server):
    url = f"{server.manage}/api/events"
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(url)
    assert e.value.code == 401
    wrong = base64.b64encode(f"{server.key}:wrong".encode()).decode()
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"Basic {wrong}"}))
    assert e.value.code == 401
    request = botocore.awsrequest.AWSRequest("GET", url, params={"after": "0"})
    botocore.auth.SigV4Auth(botocore.credentials.Credentials(server.key, server.secret), "glue", "us-east-1").add_auth(request)
    prepared = request.prepare()
    assert "events" in json.load(urllib.request.urlopen(urllib.request.Request(prepared.url, headers=dict(prepared.headers))))
    with pytest.raises(urllib.error.HTTPError) as e:                       # signed for another query
        urllib.request.urlopen(urllib.request.Request(prepared.url.replace("after=0", "after=1"), headers=dict(prepared.headers)))
    assert e.value.code == 401


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.server.answers:
            status = self.server.answers.pop(0)
        else:
            status = 200
        if status == 200:
            self.server.got.append(body)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_webhook(tmp_path):
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    hook.got, hook.answers = [], [503, 200, 500]
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    s = Server(tmp_path / "data", [f"events.webhook=http://127.0.0.1:{hook.server_port}/firn"])
    try:
        s.sql("CREATE NAMESPACE glue_catalog.w")
        make_view(s, "w")
        s.sql("INSERT INTO glue_catalog.w.t VALUES (2, 1); REFRESH MATERIALIZED VIEW glue_catalog.w.v")
        deadline = time.time() + 30
        while len(hook.got) < 4 and time.time() < deadline:
            time.sleep(0.1)
        assert [e["detail-type"].rsplit(" ", 1)[1] for e in hook.got] == ["Started", "Succeeded"] * 2
        s.stop()                                     # what was delivered is not sent again
        s.start()
        s.sql("INSERT INTO glue_catalog.w.t VALUES (3, 1); REFRESH MATERIALIZED VIEW glue_catalog.w.v")
        while len(hook.got) < 6 and time.time() < deadline + 20:
            time.sleep(0.1)
        sequences = [e["sequence"] for e in hook.got]
        assert len(sequences) == 6 and sequences == sorted(set(sequences))
        while "firn_webhook_sent_total 2\n" not in urllib.request.urlopen(s.manage + "/metrics").read().decode():       # counted when the answer is in
            assert time.time() < deadline + 20
            time.sleep(0.1)
    finally:
        s.stop()
        hook.shutdown()
