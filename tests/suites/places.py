# SPDX-License-Identifier: Apache-2.0
"""Other people's object stores and catalogs: MinIO (MINIO, or what tools/setup-bench made), Iceberg's REST fixture server (jars of tools/setup-bench), SeaweedFS (WEED names its program)."""
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

import boto3
from botocore.config import Config

import conftest
from conftest import ROOT

PEERS = ROOT / "build" / "peers"
MINIO = os.environ.get("MINIO") or (str(PEERS / "minio") if (PEERS / "minio").exists() else None)
FIXTURE = shutil.which("java") and list((PEERS / "fixture").glob("*.jar"))
WEED = os.environ.get("WEED")
KEYS = ("admin", "password")
until = functools.partial(conftest.until, seconds=90)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def answers(url, process, log):
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=5).read()
            return
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)
    raise AssertionError(f"nothing answers at {url}")


class Minio:
    def __init__(self, folder, region="us-east-1"):
        self.folder, self.port, self.region = pathlib.Path(folder), free_port(), region
        self.url, self.hosts = f"http://127.0.0.1:{self.port}", f"http://localhost:{self.port}"
        self.start()

    def start(self):
        env = dict(os.environ, MINIO_ROOT_USER=KEYS[0], MINIO_ROOT_PASSWORD=KEYS[1], MINIO_UPDATE="off", MINIO_BROWSER="off", MINIO_DOMAIN="localhost", MINIO_REGION_NAME=self.region)
        log = self.folder / "minio.log"
        self.process = subprocess.Popen([MINIO, "server", "--address", f"127.0.0.1:{self.port}", str(self.folder / "objects")], env=env, stdout=open(log, "ab"), stderr=subprocess.STDOUT)
        answers(f"{self.url}/minio/health/live", self.process, log)

    def client(self, service="s3"):
        return boto3.client(service, endpoint_url=self.url, aws_access_key_id=KEYS[0], aws_secret_access_key=KEYS[1], region_name=self.region, config=Config(s3={"addressing_style": "path"}))

    def vend(self):
        """Keys of a session, by STS."""
        k = self.client("sts").assume_role(RoleArn="arn:xxx:xxx:xxx:xxxx", RoleSessionName="vended", DurationSeconds=900)["Credentials"]
        return k["AccessKeyId"], k["SecretAccessKey"], k["SessionToken"]

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.go_on()
        self.process.kill()
        self.process.wait(20)


class Fixture:
    """A catalog whose tables lie in `bucket` of a Minio."""

    def __init__(self, folder, minio, bucket):
        port = free_port()
        log = pathlib.Path(folder) / "fixture.log"
        env = dict(os.environ, AWS_REGION=minio.region, AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1], CATALOG_REST_PORT=str(port), CATALOG_WAREHOUSE=f"s3://{bucket}/w",
                   CATALOG_URI="jdbc:sqlite:file:fixture?mode=memory&cache=shared", CATALOG_IO__IMPL="org.apache.iceberg.aws.s3.S3FileIO", CATALOG_S3_ENDPOINT=minio.url,
                   CATALOG_S3_PATH__STYLE__ACCESS="true", CATALOG_S3_ACCESS__KEY__ID=KEYS[0], CATALOG_S3_SECRET__ACCESS__KEY=KEYS[1])
        self.process = subprocess.Popen(["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{PEERS}/fixture/*", "org.apache.iceberg.rest.RESTCatalogServer"],
                                        env=env, stdout=open(log, "wb"), stderr=subprocess.STDOUT)
        self.url = f"http://127.0.0.1:{port}"
        answers(f"{self.url}/v1/config", self.process, log)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


ROLE = "arn:aws:iam::000000000000:role/Vended"
WEED_IAM = {
    "identities": [{"name": "admin", "credentials": [{"accessKey": KEYS[0], "secretKey": KEYS[1]}], "actions": ["Admin", "Read", "List", "Tagging", "Write"]}],
    "sts": {"tokenDuration": "12h", "maxSessionLength": "24h", "issuer": "tests", "signingKey": "a2V5LW9mLXRlc3RzLWtleS1vZi10ZXN0cy1rZXktb2YtdGVzdHM="},
    "roles": [{"roleName": "Vended", "roleArn": ROLE, "attachedPolicies": ["Everything"], "trustPolicy": {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Federated": "iceberg-catalog"}, "Action": ["sts:AssumeRole", "sts:AssumeRoleWithCredentials"]}]}}],
    "policies": [{"name": "Everything", "document": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}}],
}


class Weed:
    """SeaweedFS: an object store with an Iceberg REST catalog of its own (OAuth2, signed requests, credentials by STS for one table's prefix); the warehouse is a table bucket.
    external: it tells clients where its store is, and vends; it then takes signatures for the store's host alone."""

    def __init__(self, folder, bucket, external=True):
        self.folder, self.bucket, self.external = pathlib.Path(folder), bucket, external
        (self.folder / "data").mkdir()
        (self.folder / "iam.json").write_text(json.dumps(WEED_IAM))
        self.ports = {p: free_port() for p in ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc", "s3.port.iceberg")}
        self.url, self.s3 = f"http://127.0.0.1:{self.ports['s3.port.iceberg']}", f"http://127.0.0.1:{self.ports['s3.port']}"
        self.start()

    def start(self):
        iam, log = self.folder / "iam.json", self.folder / "weed.log"
        args = [WEED, "mini", f"-dir={self.folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false", "-webdav=false", "-admin.ui=false", f"-s3.config={iam}",
                f"-s3.iam.config={iam}", f"-s3.iceberg.credentialRole={ROLE}", f"-tableBucket={self.bucket}"] + ([f"-s3.externalUrl={self.s3}"] if self.external else [])
        self.process = subprocess.Popen(args + [f"-{k}={v}" for k, v in self.ports.items()], cwd=self.folder, stdout=open(log, "ab"), stderr=subprocess.STDOUT,
                                        env=dict(os.environ, AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1]))
        answers(f"{self.url}/v1/config?warehouse=s3://{self.bucket}/", self.process, log)
        time.sleep(2)

    def stop(self):
        self.process.kill()
        self.process.wait(20)
