# SPDX-License-Identifier: Apache-2.0
"""firn as a client of a catalog that is not its own: Iceberg's REST fixture server in front of firn's S3 door (make test-long; make setup-bench gets it, else FIRN_SUITES names where it is started).

The C test (build/dev/test_foreign) makes, writes, changes, reads and drops tables through remote/ and lake/."""
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request

import pytest

import places
from conftest import ROOT, Server

SUITES = os.environ.get("FIRN_SUITES")
PROGRAM = pathlib.Path(os.environ.get("FIRN_TEST_FOREIGN", ROOT / "build" / "dev" / "test_foreign"))
pytestmark = [pytest.mark.long, pytest.mark.skipif(not SUITES and not places.FIXTURE, reason="no fixture server (make setup-bench)"), pytest.mark.skipif(not shutil.which("java"), reason="no Java"),
              pytest.mark.skipif(not PROGRAM.exists(), reason="make dev was not run")]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    firn = Server(folder / "data")
    firn.s3().create_bucket(Bucket="foreign")
    port = free_port()
    log = open(folder / "standin.log", "wb")
    keys = dict(os.environ, AWS_REGION="us-east-1", AWS_ACCESS_KEY_ID=firn.key, AWS_SECRET_ACCESS_KEY=firn.secret)
    if places.FIXTURE:
        env = dict(keys, CATALOG_REST_PORT=str(port), CATALOG_WAREHOUSE="s3://foreign/w", CATALOG_URI="jdbc:sqlite:file:foreign?mode=memory&cache=shared", CATALOG_INCLUDE__CREDENTIALS="true",
                   CATALOG_IO__IMPL="org.apache.iceberg.aws.s3.S3FileIO", CATALOG_S3_ENDPOINT=firn.lake, CATALOG_S3_PATH__STYLE__ACCESS="true", CATALOG_S3_ACCESS__KEY__ID=firn.key,
                   CATALOG_S3_SECRET__ACCESS__KEY=firn.secret)
        standin = subprocess.Popen(["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{places.PEERS}/fixture/*", "org.apache.iceberg.rest.RESTCatalogServer"],
                                   stdout=log, stderr=log, env=env)
    else:
        standin = subprocess.Popen(
            [str(pathlib.Path(SUITES) / "rck" / "standin"), str(port), "s3://foreign/w", "io-impl=org.apache.iceberg.aws.s3.S3FileIO", f"s3.endpoint={firn.lake}",
             "s3.path-style-access=true", f"s3.access-key-id={firn.key}", f"s3.secret-access-key={firn.secret}", "include-credentials=true"],
            stdout=log, stderr=log, env=keys)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/v1/config", timeout=5).read()
            break
        except OSError:
            assert standin.poll() is None, (folder / "standin.log").read_text()[-2000:]
            time.sleep(0.2)
    yield firn, url
    standin.terminate()
    standin.wait(20)
    log.close()
    firn.stop()


@pytest.mark.parametrize("keys", ["own", "vended"])
def test_life_of_tables(catalog, keys):
    firn, url = catalog
    env = dict(os.environ, FIRN_FOREIGN_CATALOG=url, FIRN_FOREIGN_S3=firn.lake)
    env.update({"FIRN_FOREIGN_KEYS": f"{firn.key}:{firn.secret}"} if keys == "own" else {"FIRN_FOREIGN_VENDED": "1"})
    r = subprocess.run([str(PROGRAM)], env=env, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, r.stdout + r.stderr
    assert "[  PASSED  ] 4 test(s)" in r.stdout + r.stderr
