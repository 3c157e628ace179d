# SPDX-License-Identifier: Apache-2.0
"""Malformed and oversized input at every door: one clear error each, connection and server live on."""
import copy
import io
import json
import random
import socket
import struct
import uuid

import psycopg
import pytest
import requests
from botocore.exceptions import ClientError


@pytest.fixture(autouse=True)
def lives_on(server):
    yield
    assert server.process.poll() is None, (server.data.parent / "data.log").read_text()[-3000:]
    assert server.sql("SELECT 40 + 2") == [(42,)]
    assert requests.get(server.lake + "/iceberg/v1/config", timeout=10).status_code in (200, 400, 401)


def raw(port, data, timeout=5):
    """What the server answers to these bytes until it closes or falls silent."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while block := s.recv(65536):
                answer += block
        except OSError:
            pass
    return answer


def lake_port(server):
    return int(server.lake.rsplit(":", 1)[1])


# ---- HTTP

HTTP = [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"GET /%zz/%00/../.. HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a?x=%ff%fe&y HTTP/1.1\r\nHost: x\r\n\r\n", b"PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", b"PUT /b/k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nzz\r\n",
        b"PUT /b/k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", b"POST /iceberg/v1/oauth/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nshort",
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 5000 + b"\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 200000 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET http://other/ HTTP/1.1\r\nHost: x\r\n\r\n"]


@pytest.mark.parametrize("data", HTTP, ids=range(len(HTTP)))
def test_http(server, data):
    for port in (lake_port(server), int(server.manage.rsplit(":", 1)[1])):
        answer = raw(port, data, 2)
        assert not answer or answer.startswith(b"HTTP/1.1 ") and answer[9:10] in b"45" or b"OPTIONS" in data or b"other" in data or port != lake_port(server), answer[:200]


AUTHORIZATIONS = ["", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=", "AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=, Signature=", "AWS4-HMAC-SHA256 Credential=x/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=zz",
                  "AWS4-HMAC-SHA256 Credential=" + "/" * 5000, "AWS4-HMAC-SHA256 SignedHeaders=host;host;host, Credential={key}/20200101/us-east-1/s3/aws4_request, Signature=" + "0" * 64, "AWS a:b", "Bearer", "Bearer " + "x" * 9000,
                  "Bearer a.b.c", "Basic !!!", "AWS4-HMAC-SHA256 Credential={key}/99999999/us-east-1/s3/aws4_request,SignedHeaders=host,Signature=" + "f" * 64, "AWS4-ECDSA-P256-SHA256 Credential={key}", "\x7f\x01"]


@pytest.mark.parametrize("text", AUTHORIZATIONS, ids=range(len(AUTHORIZATIONS)))
def test_authorization(server, text):
    for path in ("/warehouse/x", "/iceberg/v1/namespaces", "/"):
        for more in ({}, {"x-amz-date": "20200101T000000Z"}, {"x-amz-date": "yesterday"}, {"x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "x-amz-decoded-content-length": "x"}):
            r = requests.get(server.lake + path, headers={"Authorization": text.format(key=server.key), **more} if text else more, timeout=10)
            assert 400 <= r.status_code < 500 and len(r.text) < 5000, (path, r.status_code, r.text[:300])


PRESIGNED = ["X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=x&X-Amz-Credential=y&X-Amz-Date=z&X-Amz-Expires=-1&X-Amz-SignedHeaders=host&X-Amz-Signature=0",
             "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={key}/20200101/us-east-1/s3/aws4_request&X-Amz-Date=20200101T000000Z&X-Amz-Expires=99999999999&X-Amz-SignedHeaders=host&X-Amz-Signature=" + "0" * 64,
             "AWSAccessKeyId={key}&Expires=x&Signature=%%%", "X-Amz-Signature=" + "a" * 8000]


@pytest.mark.parametrize("query", PRESIGNED, ids=range(len(PRESIGNED)))
def test_presigned(server, query):
    r = requests.get(f"{server.lake}/warehouse/x?{query.format(key=server.key)}", timeout=10)
    assert 400 <= r.status_code < 500, (r.status_code, r.text[:300])


# ---- S3: XML and sizes

XML = [b"", b"<", b"<Delete>", b"<Delete></Create>", b"\xff\xfe\x00", b"<Delete>" + b"<Object><Key>k</Key></Object>" * 1001 + b"</Delete>", b"<a>" * 100000, b"<Delete><Object></Object></Delete>", b"<Delete><Object><Key></Key></Object></Delete>",
       b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]><Delete><Object><Key>&c;</Key></Object></Delete>',
       b'<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&x;</Key></Object></Delete>', b"<Delete>" + b"x" * 3000000 + b"</Delete>"]


def signed(server, method, path, body, query=""):
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    import base64
    import hashlib
    r = AWSRequest(method=method, url=f"{server.lake}{path}{query}", data=body, headers={"Content-MD5": base64.b64encode(hashlib.md5(body).digest()).decode()})
    S3SigV4Auth(Credentials(server.key, server.secret), "s3", "us-east-1").add_auth(r)
    return requests.request(method, r.url, data=body, headers=dict(r.headers), timeout=20)


@pytest.mark.parametrize("body", XML, ids=range(len(XML)))
def test_xml(server, body):
    for method, path, query in (("POST", "/warehouse", "?delete="), ("POST", "/warehouse/k", "?uploadId=none"), ("PUT", "/warehouse/k", "?tagging="), ("PUT", "/warehouse", "?tagging="), ("PUT", "/warehouse", "?versioning=")):
        r = signed(server, method, path, body, query)
        assert 400 <= r.status_code < 500 or r.status_code == 501 or body == b"" or b"root:" not in r.content and r.status_code == 200 and query == "?delete=", (method, path, query, r.status_code, r.text[:300])
        assert b"root:" not in r.content


def test_s3_limits(server):
    s3 = server.s3()
    for call in (lambda: s3.put_object(Bucket="warehouse", Key="k" * 1025, Body=b""), lambda: s3.create_bucket(Bucket="A_b"), lambda: s3.create_bucket(Bucket="x" * 70), lambda: s3.get_object(Bucket="warehouse", Key="none"),
                 lambda: s3.get_object(Bucket="nosuch", Key="k"), lambda: s3.put_object(Bucket="warehouse", Key="k", Body=b"x", Metadata={"a": "b" * 9000}), lambda: s3.upload_part(Bucket="warehouse", Key="k", UploadId="none", PartNumber=1, Body=b""),
                 lambda: s3.list_objects_v2(Bucket="warehouse", ContinuationToken="!!!"), lambda: s3.put_object(Bucket="warehouse", Key="k", Body=b"x", ContentMD5="AAAA"), lambda: s3.copy_object(Bucket="warehouse", Key="k", CopySource="nosuch/k"),
                 lambda: s3.put_object_tagging(Bucket="warehouse", Key="none", Tagging={"TagSet": []}), lambda: s3.get_object(Bucket="warehouse", Key="none", Range="bytes=9-1"), lambda: s3.delete_bucket(Bucket="nosuch")):
        with pytest.raises(ClientError) as e:
            call()
        assert 400 <= e.value.response["ResponseMetadata"]["HTTPStatusCode"] < 500, e.value
    for key in ("a/../b", "..", "/x", "a//b", "\u00fc \n%00?#", "x" * 1024):
        s3.put_object(Bucket="warehouse", Key=key, Body=b"odd")
        assert s3.get_object(Bucket="warehouse", Key=key)["Body"].read() == b"odd"
        s3.delete_object(Bucket="warehouse", Key=key)
    assert not [p for p in server.data.rglob("*") if p.name in ("b", "x") and p.is_file()]


# ---- Iceberg REST: JSON, schemas, metadata

class Rest:
    def __init__(self, server):
        token = requests.post(f"{server.lake}/iceberg/v1/oauth/tokens", data={"grant_type": "client_credentials", "client_id": server.key, "client_secret": server.secret}, timeout=10).json()["access_token"]
        self.head = {"Authorization": f"Bearer {token}"}
        config = requests.get(f"{server.lake}/iceberg/v1/config", params={"warehouse": "123456789012"}, headers=self.head, timeout=10).json()
        prefix = {**config.get("defaults", {}), **config.get("overrides", {})}.get("prefix", "")
        self.base = f"{server.lake}/iceberg/v1/" + (prefix + "/" if prefix else "")

    def post(self, path, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return requests.post(self.base + path, data=data, headers={**self.head, "Content-Type": "application/json"}, timeout=20)

    def refused(self, path, body, least=400):
        r = self.post(path, body)
        assert least <= r.status_code < 500, (path, r.status_code, r.text[:400])
        e = r.json()["error"]
        assert e["message"] and e["code"] == r.status_code and e["type"], r.text
        return e["message"]


@pytest.fixture(scope="module")
def rest(server):
    return Rest(server)


JSON = [b"", b"{", b"[]", b"null", b"1", b'"x"', b'{"name": }', b"\xff\xff", b'{"name": "\xc3\x28"}', b'{"name": 1}', b'{"name": null}', b'{"name": ["x"]}', b"{" * 100000, b"[" * 2000000, b'{"name": "' + b"x" * 300 + b'"}', b'{"name": ""}',
        b'{"name": "a", "name": "b"}', b'{"name": "x", "schema": {"type": "struct"}}', b'{"name": "x", "schema": {"type": "struct", "fields": 7}}', b'{"name": "\\u0000", "schema": {"type":"struct","schema-id":0,"fields":[]}}',
        b'{"namespace": [], "properties": {}}', b'{"namespace": [""], "properties": {}}', b'{"namespace": "x"}', b'{"namespace": ["a\\u001fb"], "properties": {"a": 1}}', b'{"x": 1e999}', b'{"x": 123456789012345678901234567890}']


@pytest.mark.parametrize("body", JSON, ids=range(len(JSON)))
def test_json(server, rest, ns, body):
    for path in (f"namespaces/{ns}/tables", f"namespaces/{ns}/views", f"namespaces/{ns}/register", f"namespaces/{ns}/properties", "namespaces", "transactions/commit", "tables/rename", f"namespaces/{ns}/tables/none"):
        if path.endswith("properties") and body in (b"{}",) or b'"name": "a", "name"' in body and path == "x":
            continue
        r = rest.post(path, body)
        assert 400 <= r.status_code < 500 or r.status_code == 200 and path.endswith("/properties"), (path, r.status_code, r.text[:300])
        assert r.status_code == 200 or r.json()["error"]["message"]


def field(i, name, t="int", **more):
    return {"id": i, "name": name, "type": t, "required": False, **more}


SCHEMAS = {"duplicate ids": [field(1, "a"), field(1, "b")], "duplicate names": [field(1, "a"), field(2, "a")], "nested duplicate ids": [field(1, "a", {"type": "struct", "fields": [field(1, "b")]})],
           "unknown type": [field(1, "a", "integer")], "bad decimal": [field(1, "a", "decimal(99,2)")], "bad fixed": [field(1, "a", "fixed[-1]")], "huge id": [field(2**31, "a")],
           "no name": [{"id": 1, "type": "int", "required": False}], "no type": [{"id": 1, "name": "a", "required": False}], "map without value": [field(1, "a", {"type": "map", "key-id": 2, "key": "int"})]}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas(server, rest, ns, name):
    rest.refused(f"namespaces/{ns}/tables", {"name": "t", "schema": {"type": "struct", "schema-id": 0, "fields": SCHEMAS[name]}})
    assert server.sql(f"SHOW TABLES IN glue_catalog.{ns}") == []


def test_a_schema_that_is_too_deep(server, rest, ns):
    t = '"int"'
    for i in range(3000):
        t = '{"type": "list", "element-id": %d, "element": %s, "element-required": false}' % (i + 2, t)
    rest.refused(f"namespaces/{ns}/tables", ('{"name": "t", "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": false, "type": %s}]}}' % t).encode())


COMMITS = [{"requirements": [], "updates": [{"action": "explode"}]}, {"requirements": [{"type": "assert-moon"}], "updates": []}, {"requirements": [], "updates": [{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 42}]},
           {"requirements": [], "updates": [{"action": "add-snapshot", "snapshot": {"snapshot-id": 1, "sequence-number": 99, "timestamp-ms": 1, "manifest-list": "s3://nosuch/x.avro", "summary": {"operation": "append"}}}]},
           {"requirements": [], "updates": [{"action": "add-snapshot", "snapshot": {"snapshot-id": 1, "sequence-number": 99, "timestamp-ms": 1, "manifest-list": "file:///etc/passwd", "summary": {"operation": "append"}}}]},
           {"requirements": [], "updates": [{"action": "set-current-schema", "schema-id": 99}]}, {"requirements": [], "updates": [{"action": "set-location", "location": "file:///tmp/x"}]}, {"requirements": [], "updates": [{"action": "set-location", "location": "s3://nosuch/x"}]},
           {"requirements": [], "updates": [{"action": "upgrade-format-version", "format-version": 99}]}, {"requirements": [], "updates": [{"action": "upgrade-format-version", "format-version": 1}]}, {"requirements": [], "updates": [{"action": "add-spec", "spec": {"fields": [{"source-id": 99, "transform": "identity", "name": "x"}]}}]},
           {"requirements": [], "updates": [{"action": "add-schema", "schema": {"type": "struct", "fields": [field(1, "a"), field(1, "b")]}}]}, {"requirements": [], "updates": [{"action": "remove-snapshots", "snapshot-ids": "all"}]},
           {"requirements": [], "updates": [{"action": "set-properties", "updates": {"write.data.path": "file:///tmp/x"}}]}]


def test_commits(server, rest, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1)")
    before = requests.get(f"{rest.base}namespaces/{ns}/tables/t", headers=rest.head, timeout=10).json()["metadata-location"]
    for body in COMMITS:
        rest.refused(f"namespaces/{ns}/tables/t", body)
    assert requests.get(f"{rest.base}namespaces/{ns}/tables/t", headers=rest.head, timeout=10).json()["metadata-location"] == before
    assert server.sql(f"SELECT a FROM glue_catalog.{ns}.t") == [(1,)]


# ---- files of a table that somebody made wrong

class Foreign:
    """A good table made by firn, whose files are rewritten through S3 and registered under another name."""

    def __init__(self, server, ns):
        self.server, self.ns = server, ns
        server.sql(f"CREATE TABLE glue_catalog.{ns}.good (a INT, b STRING) USING iceberg; INSERT INTO glue_catalog.{ns}.good VALUES (1, 'x'), (2, 'y'); DELETE FROM glue_catalog.{ns}.good WHERE a = 2")
        self.s3 = server.s3()
        self.prefix = f"{ns}.db/good/"
        keys = [o["Key"] for o in self.s3.list_objects_v2(Bucket="warehouse", Prefix=self.prefix)["Contents"]]
        self.files = {k: self.s3.get_object(Bucket="warehouse", Key=k)["Body"].read() for k in keys}
        self.metadata_key = max(k for k in keys if k.endswith(".metadata.json"))
        self.metadata = json.loads(self.files[self.metadata_key])
        self.n = 0

    def register(self, metadata, name):
        key = f"bad/{self.ns}/{name}-{uuid.uuid4()}.metadata.json"
        self.s3.put_object(Bucket="warehouse", Key=key, Body=metadata if isinstance(metadata, bytes) else json.dumps(metadata).encode())
        return self.server.sql(f"CALL glue_catalog.system.register_table(table => '{self.ns}.{name}', metadata_file => 's3://warehouse/{key}')")

    def changed(self, **changes):
        m = copy.deepcopy(self.metadata)
        m.update(changes)
        return {k: v for k, v in m.items() if v is not None}


@pytest.fixture()
def foreign(server, ns):
    return Foreign(server, ns)


def test_metadata_files(server, foreign):
    good = foreign.metadata
    snapshot = good["snapshots"][-1]
    bad = {
        "no json": b"{", "not an object": b"[1]", "empty": b"", "gzip that is none": b"\x1f\x8b\x08\x00garbage", "no version": foreign.changed(**{"format-version": None}), "version 99": foreign.changed(**{"format-version": 99}),
        "no schemas": foreign.changed(schemas=[]), "current schema absent": foreign.changed(**{"current-schema-id": 77}), "duplicate field ids": foreign.changed(schemas=[{"type": "struct", "schema-id": 0, "fields": [field(1, "a"), field(1, "b")]}]),
        "current snapshot absent": foreign.changed(**{"current-snapshot-id": 12345}), "ref to nothing": foreign.changed(refs={"main": {"type": "branch", "snapshot-id": 12345}}), "default spec absent": foreign.changed(**{"default-spec-id": 9}),
        "location elsewhere": foreign.changed(location="s3://nosuch/t"), "location is a file": foreign.changed(location="file:///etc"), "location is another's": foreign.changed(location=f"s3://warehouse/{foreign.ns}.db"),
        "snapshots twice": foreign.changed(snapshots=[snapshot, snapshot]), "uuid is none": foreign.changed(**{"table-uuid": 7}), "spec with unknown column": foreign.changed(**{"partition-specs": [{"spec-id": 0, "fields": [{"source-id": 99, "field-id": 1000, "name": "x", "transform": "identity"}]}]}),
    }
    accepted = []
    for name, metadata in bad.items():
        table = "bad_" + name.replace(" ", "_").replace("'", "")
        try:
            foreign.register(metadata, table)
        except psycopg.Error as e:
            assert not (e.sqlstate or "XX").startswith("XX000"), f"{name}: {e.sqlstate} {e}"
            continue
        try:                                     # taken as it is: then reading says what is wrong
            server.sql(f"SELECT * FROM glue_catalog.{foreign.ns}.{table}")
            accepted.append(name)
        except psycopg.Error as e:
            assert e.sqlstate != "XX000", f"{name}: {e.sqlstate} {e}"
    assert set(accepted) <= {"spec with unknown column", "snapshots twice"}, accepted


def test_manifests_that_lead_elsewhere(server, foreign, tmp_path):
    """A manifest list, a manifest, a data file outside of what the table may name."""
    (tmp_path / "x.avro").write_bytes(b"Obj\x01secret-canary")
    for place in (f"file://{tmp_path}/x.avro", f"{tmp_path}/x.avro", "s3://nosuch/x.avro", "http://127.0.0.1:1/x.avro", "s3://warehouse/../x.avro", ""):
        m = foreign.changed()
        m["snapshots"][-1]["manifest-list"] = place
        try:
            foreign.register(m, "leads")
            with pytest.raises(psycopg.Error) as e:
                server.sql(f"SELECT * FROM glue_catalog.{foreign.ns}.leads")
            assert "canary" not in str(e.value) and e.value.sqlstate != "XX000", f"{place}: {e.value.sqlstate} {e.value}"
            server.sql(f"DROP TABLE glue_catalog.{foreign.ns}.leads")
        except psycopg.Error as e:
            assert "canary" not in str(e) and e.sqlstate != "XX000", f"{place}: {e.sqlstate} {e}"


def avro_of(foreign, change):
    """The newest manifest, decoded, changed, and written again by another implementation; a list that names it; metadata that names the list."""
    import fastavro
    m = foreign.changed()
    snapshot = m["snapshots"][-1]
    list_key = snapshot["manifest-list"].removeprefix("s3://warehouse/")
    listing = fastavro.reader(io.BytesIO(foreign.files[list_key]))
    entries = list(listing)
    manifest_key = entries[0]["manifest_path"].removeprefix("s3://warehouse/")
    manifest = fastavro.reader(io.BytesIO(foreign.files[manifest_key]))
    rows = list(manifest)
    change(rows)
    out = io.BytesIO()
    meta = {k: v for k, v in manifest.metadata.items() if not k.startswith("avro.")}
    fastavro.writer(out, manifest.writer_schema, rows, metadata=meta)
    foreign.n += 1
    key = f"bad/{foreign.ns}/m{foreign.n}.avro"
    foreign.s3.put_object(Bucket="warehouse", Key=key, Body=out.getvalue())
    entries[0].update(manifest_path=f"s3://warehouse/{key}", manifest_length=len(out.getvalue()))
    out = io.BytesIO()
    fastavro.writer(out, listing.writer_schema, entries, metadata={k: v for k, v in listing.metadata.items() if not k.startswith("avro.")})
    foreign.s3.put_object(Bucket="warehouse", Key=f"bad/{foreign.ns}/l{foreign.n}.avro", Body=out.getvalue())
    snapshot["manifest-list"] = f"s3://warehouse/bad/{foreign.ns}/l{foreign.n}.avro"
    return m


def test_data_files_that_lead_elsewhere(server, foreign, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet
    pyarrow.parquet.write_table(pa.table({"a": pa.array([7], pa.int32()), "b": ["secret-canary"]}), tmp_path / "x.parquet")
    for place in (f"file://{tmp_path}/x.parquet", f"file:{tmp_path}/x.parquet", f"{tmp_path}/x.parquet", "s3://nosuch/x.parquet", "https://127.0.0.1:1/x.parquet", f"s3://warehouse/../../..{tmp_path}/x.parquet"):
        def change(rows, p=place):
            rows[0]["data_file"]["file_path"] = p
        try:
            foreign.register(avro_of(foreign, change), f"leads{foreign.n}")
            rows = server.sql(f"SELECT * FROM glue_catalog.{foreign.ns}.leads{foreign.n}")
            pytest.fail(f"{place}: read {rows}")
        except psycopg.Error as e:
            assert "canary" not in str(e) and e.sqlstate != "XX000", f"{place}: {e.sqlstate} {e}"


def test_manifests_that_lie(server, foreign):
    lies = {"negative size": lambda r: r[0]["data_file"].update(file_size_in_bytes=-5), "negative rows": lambda r: r[0]["data_file"].update(record_count=-5), "unknown status": lambda r: r[0].update(status=77),
            "unknown content": lambda r: r[0]["data_file"].update(content=9), "unknown format": lambda r: r[0]["data_file"].update(file_format="DOC"), "orc": lambda r: r[0]["data_file"].update(file_format="ORC")}
    for name, change in lies.items():
        try:
            foreign.register(avro_of(foreign, change), f"lies{foreign.n}")
            server.sql(f"SELECT count(*), max(b) FROM glue_catalog.{foreign.ns}.lies{foreign.n}")
        except psycopg.Error as e:
            assert e.sqlstate != "XX000", f"{name}: {e.sqlstate} {e}"


@pytest.mark.parametrize("kind", ["data/", "snap-", "-m0.avro", ".metadata.json"])
def test_files_cut_or_scrambled(server, foreign, kind):
    """Each byte range of a file of the good table: an error or the right rows, and never an internal error."""
    key = foreign.metadata_key if kind == ".metadata.json" else [k for k in foreign.files if kind in k][0]
    body, rnd = foreign.files[key], random.Random(kind)
    variants = [b"", body[:1], body[: len(body) // 2], body[:-1], body + b"\0" * 10, b"\0" * len(body), b"PAR1" + b"\xff" * 100 + b"PAR1", body[:-8] + b"\xff\xff\xff\x7f" + body[-4:]]
    for _ in range(12):
        b = bytearray(body)
        for _ in range(rnd.choice([1, 1, 4, 30])):
            b[rnd.randrange(len(b))] = rnd.randrange(256)
        variants.append(bytes(b))
    for i, v in enumerate(variants):
        foreign.s3.put_object(Bucket="warehouse", Key=key, Body=v)
        try:
            server.sql(f"SELECT * FROM glue_catalog.{foreign.ns}.good ORDER BY a")
        except psycopg.Error as e:
            assert e.sqlstate not in ("XX000", "42601"), f"variant {i} of {key}: {e.sqlstate} {e}"
    foreign.s3.put_object(Bucket="warehouse", Key=key, Body=body)
    assert server.sql(f"SELECT a FROM glue_catalog.{foreign.ns}.good") == [(1,)]


def test_add_files_of_anything(server, ns):
    s3 = server.s3()
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg")
    for i, body in enumerate((b"PAR1", b"PAR1" * 100, b"a\n1\n", b"\0" * 1000)):
        s3.put_object(Bucket="warehouse", Key=f"bad/{ns}/add{i}/x.parquet", Body=body)
        with pytest.raises(psycopg.Error) as e:
            server.sql(f"CALL glue_catalog.system.add_files(table => '{ns}.t', source_table => '`parquet`.`s3://warehouse/bad/{ns}/add{i}`')")
        assert e.value.sqlstate != "XX000", f"{i}: {e.value.sqlstate} {e.value}"


# ---- names that lead nowhere or round

def test_cyclic_views(server, rest, ns):
    def view(name, sql):
        body = {"name": name, "schema": {"type": "struct", "schema-id": 0, "fields": [field(1, "a")]}, "properties": {},
                "view-version": {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": [ns], "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}]}}
        assert rest.post(f"namespaces/{ns}/views", body).status_code == 200
    view("a", "SELECT a FROM b")
    view("b", "SELECT a FROM c")
    view("c", "SELECT a FROM a UNION ALL SELECT a FROM b")
    view("self", "SELECT a FROM self")
    for v in ("a", "b", "c", "self"):
        for text in (f"SELECT * FROM glue_catalog.{ns}.{v}", f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.mv AS SELECT count(*) AS n FROM glue_catalog.{ns}.{v}"):
            with pytest.raises(psycopg.Error) as e:
                server.sql(text)
            assert e.value.sqlstate != "XX000", e.value
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; CREATE MATERIALIZED VIEW glue_catalog.{ns}.m1 AS SELECT a FROM glue_catalog.{ns}.t; CREATE MATERIALIZED VIEW glue_catalog.{ns}.m2 AS SELECT a FROM glue_catalog.{ns}.m1")
    with pytest.raises(psycopg.Error):
        server.sql(f"CREATE OR REPLACE MATERIALIZED VIEW glue_catalog.{ns}.m1 AS SELECT a FROM glue_catalog.{ns}.m2")
    with pytest.raises(psycopg.Error):
        server.sql(f"CREATE OR REPLACE MATERIALIZED VIEW glue_catalog.{ns}.m1 AS SELECT a FROM glue_catalog.{ns}.m1")


def test_absent_references(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1); CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT a FROM glue_catalog.{ns}.t")
    t = f"glue_catalog.{ns}.t"
    for text in (f"SELECT * FROM {t} VERSION AS OF 12345", f"SELECT * FROM {t} VERSION AS OF 'nosuch'", f"SELECT * FROM {t} TIMESTAMP AS OF '1999-01-01'", f"SELECT * FROM {t} TIMESTAMP AS OF 'yesterday-ish'", f"SELECT * FROM {t}.branch_none",
                 f"SELECT * FROM {t}.nosuch", f"SELECT * FROM {t}.snapshots.more", "SELECT * FROM glue_catalog.nosuch.t", f"SELECT nosuch FROM {t}", f"SELECT * FROM nosuch.{ns}.t", "SELECT nosuch(1)", f"DROP TABLE {t}x", f"REFRESH MATERIALIZED VIEW {t}",
                 f"REFRESH MATERIALIZED VIEW {t}x", f"CALL glue_catalog.system.nosuch(table => '{ns}.t')", f"CALL glue_catalog.system.rollback_to_snapshot('{ns}.t', 12345)", f"ALTER TABLE {t} DROP COLUMN nosuch", f"INSERT INTO {t} VALUES (1, 2)", f"SELECT * FROM {t} WHERE a = 'x' + 1 +",
                 f"INSERT INTO {t} (nosuch) VALUES (1)", f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.m AS SELECT a FROM {t}", f"CREATE TABLE {t} (a INT) USING iceberg", "CREATE NAMESPACE glue_catalog." + ns, f"DROP NAMESPACE glue_catalog.{ns}", "USE nosuch.nosuch"):
        with pytest.raises(psycopg.Error) as e:
            server.sql(text)
        assert e.value.sqlstate != "XX000" and str(e.value).strip(), f"{text}: {e.value.sqlstate} {e.value}"
    server.sql(f"DROP TABLE {t}")
    with pytest.raises(psycopg.Error) as e:
        server.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.m FULL")
    assert e.value.sqlstate == "42P01", f"{e.value.sqlstate} {e.value}"
    assert server.sql(f"SELECT a FROM glue_catalog.{ns}.m") == [(1,)]


# ---- SQL

SQL = ["SELEC 1", "SELECT", "SELECT 1 FROM", "SELECT (1", "SELECT 'abc", 'SELECT "abc', "SELECT `abc", "SELECT 1 /* open", "SELECT 1e99999", "SELECT 99999999999999999999999999999999999999999999", "SELECT CAST('x' AS INT)", "SELECT 1/0", "SELECT $1", "SELECT ?",
       "SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT " + "-" * 1 + " ".join("- " for _ in range(20000)) + "1", "SELECT " + " + ".join(["1"] * 50000), "SELECT " + "NOT " * 20000 + "true", "SELECT " + ",".join(["1"] * 5000), "WITH " + ",".join(f"c{i} AS (SELECT 1)" for i in range(3000)) + " SELECT 1",
       "SELECT CASE " * 3000, "SELECT array(" * 3000, "SELECT * FROM " + "(SELECT * FROM " * 2000 + "x", "SELECT 'a' || " * 20000 + "'b'", "SELECT \x01", "SELECT \ufffe", "SELECT 1 WHERE a IN (" + ",".join(["1"] * 100000) + ")", "SELECT repeat('x', 2147483647)", "SELECT repeat(repeat('x', 100000), 100000)",
       "SELECT length(repeat('x', 1000000000))", "SELECT DATE '9999999-01-01'", "SELECT TIMESTAMP 'x'", "SELECT INTERVAL '1' century", "SELECT CAST(1 AS DECIMAL(99, 3))", "SELECT CAST(1 AS nosuch)", "SELECT count(count(1))", "SELECT sum(1) OVER (PARTITION BY sum(1) OVER ())", "SELECT 1 ORDER BY 7", "SELECT 1 GROUP BY 9",
       "SELECT regexp_replace('a', '(((((', 'b')", "SELECT 9223372036854775807 + 1", "SELECT substring('abc', -9223372036854775808, 9223372036854775807)", "SELECT a.b.c.d.e.f FROM x", "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT * FROM r) SELECT * FROM r LIMIT 1", ";" * 10000 + "SELECT", "SELECT chr(-1) || lpad('x', 2147483647, 'yz')"]


@pytest.mark.parametrize("dialect", ["spark", "materialize"])
def test_sql(server, dialect):
    c = server.connect(dialect, options="-c statement_timeout=8000")
    for text in SQL:
        try:
            c.execute(text, prepare=False)
        except psycopg.Error as e:
            assert e.sqlstate and e.sqlstate != "XX000" and len(str(e)) < 3000, f"{text[:60]}: {e.sqlstate} {str(e)[:300]}"
        assert not c.closed, text[:60]
        assert c.execute("SELECT 1", prepare=False).fetchone() == (1,), text[:60]
    c.close()


def test_large_statements_and_values(server, ns):
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a STRING) USING iceberg")
    with server.connect() as c:
        c.execute(f"INSERT INTO glue_catalog.{ns}.t VALUES ('{'x' * 900000}')", prepare=False)
        assert c.execute(f"SELECT length(a) FROM glue_catalog.{ns}.t").fetchall() == [(900000,)]
        with c.cursor().copy(f"COPY glue_catalog.{ns}.t FROM STDIN") as copy:
            copy.write_row(["y" * (8 << 20)])
        assert c.execute(f"SELECT max(length(a)) FROM glue_catalog.{ns}.t").fetchall() == [(8 << 20,)]
        for text in (f"SELECT '{'x' * (70 << 20)}'", "SELECT " + " ".join(["1 +"] * 3000000) + " 1"):
            try:
                c.execute(text, prepare=False)
            except psycopg.Error as e:
                assert e.sqlstate in ("54000", "54001", "53200", "08P01", None), f"{e.sqlstate} {str(e)[:200]}"
            if c.closed:
                break


# ---- the PostgreSQL protocol

def message(kind, body):
    return kind + struct.pack("!i", len(body) + 4) + body


def startup(**params):
    body = struct.pack("!i", 196608) + b"".join(k.encode() + b"\0" + v.encode() + b"\0" for k, v in params.items()) + b"\0"
    return struct.pack("!i", len(body) + 4) + body


GOOD = startup(user="firn", database="spark")
WIRE = [b"", b"\0", b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\x04", b"\0\0\0\x08\0\0\0\0", b"\x7f\xff\xff\xff\0\3\0\0", b"GET / HTTP/1.1\r\n\r\n", struct.pack("!ii", 8, 80877103), struct.pack("!iiii", 16, 80877102, 1, 2), startup(), startup(user=""), startup(user="x" * 100000),
        startup(user="nobody", database="spark"), startup(user="firn", database="spark", options="-c"), startup(user="firn", replication="true"), struct.pack("!ii", 9, 131072) + b"\0", GOOD[:10], GOOD + b"Q", GOOD + b"Q\0\0\0\x00", GOOD + b"Q\xff\xff\xff\xff",
        GOOD + b"Q\x7f\xff\xff\xff", GOOD + message(b"Q", b"SELECT 1"), GOOD + message(b"Q", b"\xff\xfe\0"), GOOD + message(b"Q", b"SELECT 1\0garbage\0"), GOOD + message(b"?", b"x"), GOOD + message(b"P", b""), GOOD + message(b"P", b"s\0SELECT 1\0\xff\xff"), GOOD + message(b"B", b"\0\0\0\1"),
        GOOD + message(b"B", b"p\0nosuch\0" + b"\0" * 6), GOOD + message(b"P", b"\0SELECT $1\0\0\0") + message(b"B", b"\0\0\0\0\0\1\x7f\xff\xff\xff") + message(b"S", b""), GOOD + message(b"P", b"\0SELECT $1\0\0\0") + message(b"B", b"\0\0\0\0\xff\xff\0\0") + message(b"S", b""),
        GOOD + message(b"P", b"\0SELECT $1::int\0\0\1\0\0\0\x17") + message(b"B", b"\0\0\0\1\0\1\0\1\0\0\0\x03abc\0\0") + message(b"E", b"\0\0\0\0\0") + message(b"S", b""), GOOD + message(b"E", b"nosuch\0\0\0\0\0") + message(b"S", b""), GOOD + message(b"D", b"Xnosuch\0"), GOOD + message(b"C", b"S"),
        GOOD + message(b"d", b"data") + message(b"c", b"") + message(b"f", b""), GOOD + message(b"p", b"password\0"), GOOD + message(b"F", b"\0" * 12), GOOD + message(b"X", b"") + b"more", GOOD + message(b"H", b"") * 1000, GOOD + message(b"S", b"") * 1000,
        GOOD + message(b"P", b"\0" + b";" * 100 + b"\0\0\0") + message(b"S", b""), GOOD + message(b"P", b"\0SELECT 1\0\xff\xff" + b"\0" * 20) + message(b"S", b"")]


@pytest.mark.parametrize("i", range(len(WIRE)))
def test_pgwire(server, i):
    raw(server.port, WIRE[i], 2)


def test_pgwire_noise(server):
    rnd = random.Random(7)
    for _ in range(40):
        stream = GOOD + b"".join(message(bytes([rnd.choice(b"QPBEDCSHdcfFX?p")]), rnd.randbytes(rnd.randrange(40))) for _ in range(rnd.randrange(1, 6)))
        raw(server.port, stream, 1)


def test_an_idle_or_slow_client_holds_nobody_up(server):
    slow = [socket.create_connection(("127.0.0.1", p)) for p in (server.port, lake_port(server)) for _ in range(20)]
    for s in slow:
        s.sendall(b"\0\0")
    assert server.sql("SELECT 1") == [(1,)]
    assert requests.get(server.lake + "/iceberg/v1/config", timeout=5).status_code in (200, 400, 401)
    for s in slow:
        s.close()
