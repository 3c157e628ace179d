# SPDX-License-Identifier: Apache-2.0
"""The Iceberg REST door: commits per second of one client, beside Iceberg's own Java fixture server (peers.py)."""
import time

import requests

from peers import Fixture
from report import median


def session(uri, key=None, secret=None):
    s = requests.Session()
    if key:
        r = s.post(f"{uri}/v1/oauth/tokens", data={"grant_type": "client_credentials", "client_id": key, "client_secret": secret, "scope": "catalog"})
        r.raise_for_status()
        s.headers["Authorization"] = "Bearer " + r.json()["access_token"]
    prefix = s.get(f"{uri}/v1/config").json().get("overrides", {}).get("prefix")
    return s, f"{uri}/v1/{prefix}" if prefix else f"{uri}/v1"


def prepare(s, base):
    s.post(f"{base}/namespaces", json={"namespace": ["benchrest"]}).raise_for_status()
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
    s.post(f"{base}/namespaces/benchrest/tables", json={"name": "t", "schema": schema}).raise_for_status()


def commits(s, base, n):
    begun = time.monotonic()
    for i in range(n):
        r = s.post(f"{base}/namespaces/benchrest/tables/t", json={"requirements": [], "updates": [{"action": "set-properties", "updates": {"n": str(i)}}]})
        r.raise_for_status()
    return n / (time.monotonic() - begun)


def run(server, folder, report, rounds, n=100):
    fixture = Fixture(folder)
    try:
        compare(server, fixture.uri, report, rounds, n)
    finally:
        fixture.stop()


def compare(server, uri, report, rounds, n):
    ours = session(f"{server.lake}/iceberg", server.key, server.secret)
    peer = session(uri.rstrip("/")) if uri else None
    for p in (ours, peer):
        if p:
            prepare(*p)
    x, y = [], []
    for _ in range(rounds):
        x.append(commits(*ours, n))
        if peer:
            y.append(commits(*peer, n))
    if not peer:
        report.add("REST commits", "one client", f"{median(x):.0f}/s", "no fixture server (make setup-bench)", "", "", None)
    else:
        report.add("REST commits", "one client", f"{median(x):.0f}/s", f"Java fixture {median(y):.0f}/s", f"{median(x) / median(y):.2f}", "", None)
