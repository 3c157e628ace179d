# SPDX-License-Identifier: Apache-2.0
"""A door before an Iceberg REST catalog that lets its callers at the files in the ways that catalogs have: it signs their requests, or vends keys that soon end.

Callers show the token "door-token"; the catalog behind is asked with `behind` (a header). What was asked is kept."""
import http.client
import http.server
import json
import socketserver
import threading
import time
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials

TOKEN = "door-token"


class Stub:
    """An HTTP server of a thread a request: `serve(handler, body)` answers."""

    def __init__(self, serve, path=""):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *a):
                pass

            def do_GET(self):
                serve(self, self.rfile.read(int(self.headers.get("content-length") or 0)))
            do_POST = do_PUT = do_DELETE = do_HEAD = do_GET

        class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
        self.server = Threads(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}{path}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Unsigned(botocore.auth.S3SigV4Auth):
    """Signs what it does not see the body of."""

    def payload(self, request):
        return "UNSIGNED-PAYLOAD"


class Door(Stub):
    def __init__(self, catalog, behind, s3, keys, region="us-east-1", mode="signs", path="", table_token=""):
        """mode: signs | vends | none; path: of the catalog's URL that callers see too; keys: (id, secret) that sign."""
        self.catalog, self.behind, self.s3, self.keys, self.region, self.mode, self.path, self.table_token = urllib.parse.urlsplit(catalog), behind, s3, keys, region, mode, path, table_token
        self.asked, self.signed, self.life_s, self.vend = [], [], 3600, None
        super().__init__(self.serve, path)

    def serve(self, h, body):
        self.asked.append((h.command, h.path, dict(h.headers)))
        token = (h.headers.get("authorization") or "").removeprefix("Bearer ")
        if token not in (TOKEN, self.table_token or TOKEN):
            return say(h, 401, {"error": {"message": "who are you?", "type": "NotAuthorizedException", "code": 401}})
        if h.path == f"{self.path}/v1/aws/s3/sign" and self.mode == "signs":
            return say(h, 200, self.sign(json.loads(body)))
        c = http.client.HTTPConnection(self.catalog.hostname, self.catalog.port, timeout=60)
        headers = {k: v for k, v in h.headers.items() if k.lower() in ("content-type", "accept", "if-none-match")}
        c.request(h.command, h.path, body or None, {**headers, **self.behind, "X-Iceberg-Access-Delegation": "vended-credentials"})
        r = c.getresponse()
        data = r.read()
        c.close()
        if "/tables" in h.path and data.startswith(b"{") and r.status == 200:
            data = json.dumps(self.changed(json.loads(data))).encode()
        say(h, r.status, data, [(k, v) for k, v in r.getheaders() if k.lower() == "etag"])

    def changed(self, answer):
        """The catalog's answer with our ways in the place of its own."""
        if "metadata" in answer:
            keep = {k: v for k, v in answer.get("config", {}).items() if not k.startswith("s3.") and k != "token"}
            answer["config"] = {**keep, "s3.endpoint": self.s3, "s3.path-style-access": "true", "s3.region": self.region}
            if self.table_token:
                answer["config"]["token"] = self.table_token
        if self.mode == "signs":
            answer.pop("storage-credentials", None)
            if "config" in answer:
                answer["config"]["s3.remote-signing-enabled"] = "true"
        elif self.mode != "vends":
            answer.pop("storage-credentials", None)
        elif "metadata" in answer or "storage-credentials" in answer:
            answer["storage-credentials"] = [{"prefix": "s3://", "config": self.vended()}]
        return answer

    def vended(self):
        key, secret, token = self.vend() if self.vend else (*self.keys, "")
        config = {"s3.access-key-id": key, "s3.secret-access-key": secret, "s3.session-token-expires-at-ms": str(int((time.time() + self.life_s) * 1000))}
        return {**config, "s3.session-token": token} if token else config

    def sign(self, q):
        assert set(q) >= {"region", "uri", "method", "headers"}, q
        self.signed.append((q["method"], q["uri"]))
        r = botocore.awsrequest.AWSRequest(q["method"], q["uri"], headers={k: ",".join(v) for k, v in q["headers"].items()})
        Unsigned(botocore.credentials.Credentials(*self.keys), "s3", q["region"]).add_auth(r)
        return {"uri": r.url, "headers": {k: [v] for k, v in r.headers.items()}}

    def count(self, method, end):
        return sum(1 for m, p, _ in self.asked if m == method and p.split("?")[0].endswith(end))


def say(h, status, body, headers=()):
    data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
    h.send_response(status)
    for k, v in headers:
        h.send_header(k, v)
    h.send_header("content-type", "application/json")
    h.send_header("content-length", str(len(data)))
    h.end_headers()
    h.wfile.write(data)
