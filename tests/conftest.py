# SPDX-License-Identifier: Apache-2.0
"""A firn server for tests, and the real clients that talk to it.

FIRN names the binary (default build/firn); FIRN_FIXTURES and FIRN_SUITES the folders of foreign tables and suites, where they are."""
import configparser
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import boto3
import botocore.config
import psycopg
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRN = pathlib.Path(os.environ.get("FIRN", ROOT / "build" / "firn"))


class Server:
    """One firn process on a data folder of its own."""

    def __init__(self, data, settings=()):
        self.data = pathlib.Path(data)
        self.settings = list(settings)
        self.process = None
        self.start()

    def start(self):
        args = [str(FIRN), "serve", "--data", str(self.data)]
        for door in ("lake", "sql", "manage"):
            args += [f"--{door}", "127.0.0.1:0"]
        for s in self.settings:
            args += ["--set", s]
        self.log = open(self.data.parent / (self.data.name + ".log"), "ab")
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline().decode()
        if not line.startswith("ready "):
            self.process.wait()
            raise RuntimeError("firn did not start: " + (self.data.parent / (self.data.name + ".log")).read_text()[-2000:])
        urls = dict(p.split("=", 1) for p in line.split()[1:])
        self.lake, self.sql_url, self.manage = urls["lake"], urls["sql"], urls["manage"]
        self.port = int(self.sql_url.rsplit(":", 1)[1])
        cfg = configparser.ConfigParser()
        cfg.read(self.data / "credentials")
        self.key = cfg["default"]["aws_access_key_id"]
        self.secret = cfg["default"]["aws_secret_access_key"]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            code = self.process.wait(20)
            assert code == 0, f"firn ended with {code}"
        self.log.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def connect(self, dbname="spark", **more):
        return psycopg.connect(host="127.0.0.1", port=self.port, user=self.key, password=self.secret, dbname=dbname, autocommit=True, **more)

    def sql(self, text, dbname="spark"):
        """Every row of the last statement's result; one connection is kept for each database."""
        pool = self.__dict__.setdefault("_pool", {})
        c = pool.get((dbname, self.process.pid))
        if c is None or c.closed:
            c = pool[(dbname, self.process.pid)] = self.connect(dbname)
        cur = c.execute(text, prepare=False)
        while cur.nextset():
            pass
        return cur.fetchall() if cur.description else []

    def s3(self):
        return boto3.client("s3", endpoint_url=self.lake, aws_access_key_id=self.key, aws_secret_access_key=self.secret, region_name="us-east-1",
                            config=botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))

    def pyiceberg(self, **more):
        from pyiceberg.catalog import load_catalog
        props = {"type": "rest", "uri": f"{self.lake}/iceberg", "credential": f"{self.key}:{self.secret}", "warehouse": "123456789012"}
        props.update(more)
        return load_catalog("firn", **props)

    def run(self, *args, check=None, text=True):
        r = subprocess.run([str(FIRN), *args, "--data", str(self.data)], capture_output=True, text=text)
        if check is not None:
            assert r.returncode == check, f"{args}: exit {r.returncode}\n{r.stdout}\n{r.stderr}"
        return r


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("firn") / "data", ["sql.trust_local=on"])
    yield s
    s.stop()


@pytest.fixture
def db(server):
    """A session in the database of live objects."""
    with server.connect("materialize") as c:
        yield c


@pytest.fixture()
def fresh(tmp_path):
    """A server for one test, which may kill or break it."""
    s = Server(tmp_path / "data")
    yield s
    if s.process.poll() is None:
        s.stop()


@pytest.fixture()
def ns(server):
    """A namespace of its own for each test: glue_catalog.<ns>."""
    name = f"n{time.monotonic_ns()}"
    server.sql(f"CREATE NAMESPACE glue_catalog.{name}")
    return name


def until(ask, want=True, seconds=60):
    """Asks until the answer is `want`; it must be by then."""
    end = time.monotonic() + seconds
    while (got := ask()) != want and time.monotonic() < end:
        time.sleep(0.1)
    assert got == want


def run(server, *texts):
    """Statements on live objects, one by one."""
    for t in texts:
        server.sql(t, "materialize")


def fixtures_folder():
    p = os.environ.get("FIRN_FIXTURES")
    return pathlib.Path(p) if p else None
