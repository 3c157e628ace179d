# SPDX-License-Identifier: Apache-2.0
"""The catalog's side of a test: requests of our own to Iceberg REST, snapshots that nobody wrote, and a proxy that loses, delays and spoils answers."""
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request

from catalog_door import Stub


class Rest:
    """Iceberg REST by hand, with the account root's token."""

    def __init__(self, server, warehouse):
        self.base = f"{server.lake}/iceberg/v1"
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "client_id": server.key, "client_secret": server.secret, "scope": "catalog"}).encode()
        self.token = self.call("POST", f"{self.base}/oauth/tokens", form, {"content-type": "application/x-www-form-urlencoded"})["access_token"]
        config = self.call("GET", f"{self.base}/config?warehouse={urllib.parse.quote(warehouse, safe='')}")
        prefix = {**config["defaults"], **config["overrides"]}.get("prefix", "")
        self.root = f"{self.base}/{prefix}" if prefix else self.base

    def call(self, method, url, body=None, headers=None):
        h = dict(headers or {})
        if hasattr(self, "token"):
            h["authorization"] = f"Bearer {self.token}"
        if isinstance(body, (dict, list)):
            body, h["content-type"] = json.dumps(body).encode(), "application/json"
        with urllib.request.urlopen(urllib.request.Request(url, body, h, method=method), timeout=30) as r:
            text = r.read()
        return json.loads(text) if text else None

    def table(self, ns, name):
        return f"{self.root}/namespaces/{ns}/tables/{name}"

    def load(self, ns, name):
        return self.call("GET", self.table(ns, name))["metadata"]

    def create(self, ns, name, fields):
        schema = {"type": "struct", "schema-id": 0, "fields": [{"id": i + 1, "name": n, "type": t, "required": r} for i, (n, t, r) in enumerate(fields)]}
        return self.call("POST", f"{self.root}/namespaces/{ns}/tables", {"name": name, "schema": schema})

    def forge(self, ns, name, operation="append", **summary):
        """A snapshot with the rows of the current one and another summary; raises on 409 as any writer would."""
        m = self.load(ns, name)
        now = next(s for s in m["snapshots"] if s["snapshot-id"] == m["current-snapshot-id"])
        s = {"snapshot-id": random.getrandbits(62), "parent-snapshot-id": now["snapshot-id"], "sequence-number": m["last-sequence-number"] + 1,
             "timestamp-ms": max(int(time.time() * 1000), now["timestamp-ms"]), "manifest-list": now["manifest-list"], "schema-id": now.get("schema-id", m["current-schema-id"]),
             "summary": {**now["summary"], "operation": operation, **{k.replace("_", "-"): v for k, v in summary.items()}}}
        s["summary"] = {k: v for k, v in s["summary"].items() if v is not None}
        self.call("POST", self.table(ns, name), {"requirements": [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": now["snapshot-id"]}],
                                                 "updates": [{"action": "add-snapshot", "snapshot": s}, {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": s["snapshot-id"]}]})
        return s["snapshot-id"]


class Proxy(Stub):
    """In front of a server's lake door. `rule(method, path, n)` says what becomes of a request: None passes; a number is the status that the client sees after the server has
    done it; -n is a status instead of doing it; ("delay", s); ("twice",)."""

    def __init__(self, target, rule=None):
        self.target, self.rule, self.seen = target, rule or (lambda *a: None), []
        super().__init__(self.serve)

    def serve(self, h, body):
        self.seen.append((h.command, h.path))
        what = self.rule(h.command, h.path, len(self.seen))
        if isinstance(what, int) and what < 0:
            return self.refuse(h, -what)
        if isinstance(what, tuple) and what[0] == "delay":
            time.sleep(what[1])
        status, data, headers = self.forward(h, body)
        if isinstance(what, tuple) and what[0] == "twice":
            self.forward(h, body)
        if isinstance(what, int):
            return self.refuse(h, what)
        self.answer(h, status, data, headers)

    def forward(self, h, body):
        r = urllib.request.Request(self.target + h.path, body or None, {k: v for k, v in h.headers.items() if k.lower() not in ("connection", "content-length")}, method=h.command)
        try:
            with urllib.request.urlopen(r, timeout=60) as a:
                return a.status, a.read(), dict(a.headers)
        except urllib.error.HTTPError as e:
            return e.code, e.read(), dict(e.headers)

    def refuse(self, h, status):
        self.answer(h, status, b'{"error":{"message":"by the proxy","type":"ServiceFailure","code":%d}}' % status, {})

    def answer(self, h, status, data, headers):
        h.send_response(status)
        for k, v in headers.items():
            if k.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                h.send_header(k, v)
        h.send_header("content-length", headers.get("Content-Length", str(len(data))) if h.command == "HEAD" else str(len(data)))
        h.end_headers()
        if h.command != "HEAD":
            h.wfile.write(data)
