# SPDX-License-Identifier: Apache-2.0
"""A firn server of a run's own, on loopback, with its clients."""
import configparser
import pathlib
import subprocess
import time

import boto3
import psycopg
from botocore.config import Config


class Server:
    def __init__(self, binary, data, threads):
        self.data = pathlib.Path(data)
        begun = time.monotonic()
        self.process = subprocess.Popen([binary, "serve", "--data", str(data), "--lake", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--manage", "127.0.0.1:0",
                                         "--set", f"threads={threads}"], stdout=subprocess.PIPE, stderr=open(f"{data}.log", "ab"))
        line = self.process.stdout.readline().decode()
        self.ready_after = time.monotonic() - begun
        if not line.startswith("ready "):
            raise SystemExit("firn did not start: " + pathlib.Path(f"{data}.log").read_text()[-1000:])
        urls = dict(p.split("=", 1) for p in line.split()[1:])
        self.lake = urls["lake"]
        cfg = configparser.ConfigParser()
        cfg.read(f"{data}/credentials")
        self.key, self.secret = cfg["default"]["aws_access_key_id"], cfg["default"]["aws_secret_access_key"]
        self.db = psycopg.connect(host="127.0.0.1", port=int(urls["sql"].rsplit(":", 1)[1]), user=self.key, password=self.secret, dbname="spark", autocommit=True)
        self.notes = []
        self.db.add_notice_handler(lambda n: self.notes.append(n.message_primary))

    def sql(self, text):
        self.notes.clear()
        cur = self.db.execute(text, prepare=False)
        return cur.fetchall() if cur.description else []

    def timed(self, text):
        begun = time.monotonic()
        self.sql(text)
        return time.monotonic() - begun

    def s3(self):
        return boto3.client("s3", endpoint_url=self.lake, aws_access_key_id=self.key, aws_secret_access_key=self.secret, region_name="us-east-1",
                            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, request_checksum_calculation="when_required",
                                          response_checksum_validation="when_required"))

    def rss_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self):
        self.db.close()
        self.process.terminate()
        return self.process.wait(60)
