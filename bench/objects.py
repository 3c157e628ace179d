# SPDX-License-Identifier: Apache-2.0
"""The S3 door: a large GET against nginx, small PUTs against MinIO (MINIO names its binary, or tools/setup-bench made one). Both sync each object: MINIO_FS_OSYNC."""
import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.parse

import boto3
from botocore.config import Config

from report import median

MIB = 1 << 20
NGINX = """daemon off; master_process off; error_log stderr; pid {d}/nginx.pid;
events {{}}
http {{ access_log off; sendfile on; client_body_temp_path {d}/t1; proxy_temp_path {d}/t2; fastcgi_temp_path {d}/t3; uwsgi_temp_path {d}/t4; scgi_temp_path {d}/t5;
  server {{ listen 127.0.0.1:{port}; root {d}/www; }} }}"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing answers at port {port}")


def get(url):
    """Seconds to read the whole body."""
    u = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(u.hostname, u.port)
    buf = bytearray(MIB)
    begun, n = time.monotonic(), 0
    c.request("GET", f"{u.path}?{u.query}" if u.query else u.path)
    r = c.getresponse()
    assert r.status == 200, r.status
    while k := r.readinto(buf):
        n += k
    c.close()
    return time.monotonic() - begun, n


def large_get(server, folder, report, rounds, size=256 * MIB):
    s3 = server.s3()
    folder = pathlib.Path(folder)
    (folder / "www").mkdir(parents=True)
    with open(folder / "www" / "large", "wb") as f:
        for _ in range(size // MIB):
            f.write(os.urandom(MIB))
    s3.upload_file(str(folder / "www" / "large"), "bench", "large")
    ours_url = s3.generate_presigned_url("get_object", Params={"Bucket": "bench", "Key": "large"}, ExpiresIn=3600)
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    peer = None
    if nginx:
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(d=folder, port=port))
        peer = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)], stderr=subprocess.DEVNULL)
        wait_for(port)
    x, y = [], []
    for n in range(rounds + 1):
        for times, url in ((x, ours_url), (y, f"http://127.0.0.1:{port}/large" if peer else None)):
            if url:
                t, got = get(url)
                assert got == size
                times += [size / t / MIB] if n else []
    s3.delete_object(Bucket="bench", Key="large")
    if not peer:
        report.add("GET 256 MiB", "one stream", f"{median(x):.0f} MiB/s", "nginx is not installed", "", "", None)
        return
    peer.terminate()
    peer.wait(10)
    report.add("GET 256 MiB", "one stream", f"{median(x):.0f} MiB/s", f"nginx {median(y):.0f} MiB/s", f"{median(x) / median(y):.2f}", ">= 0.8", median(x) / median(y) >= 0.8)


def puts(s3, n):
    body = os.urandom(4096)
    begun = time.monotonic()
    for i in range(n):
        s3.put_object(Bucket="bench", Key=f"small/{i}", Body=body)
    return n / (time.monotonic() - begun)


def minio_client(binary, folder):
    port = free_port()
    env = dict(os.environ, MINIO_ROOT_USER="benchuser", MINIO_ROOT_PASSWORD="benchsecret", MINIO_FS_OSYNC="on", MINIO_UPDATE="off", MINIO_BROWSER="off")
    p = subprocess.Popen([binary, "server", "--address", f"127.0.0.1:{port}", str(folder)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(port)
    time.sleep(1)
    s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id="benchuser", aws_secret_access_key="benchsecret", region_name="us-east-1",
                      config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"))
    s3.create_bucket(Bucket="bench")
    return p, s3


def small_puts(server, folder, report, rounds, n=500):
    made = pathlib.Path(__file__).resolve().parent.parent / "build" / "peers" / "minio"
    binary = os.environ.get("MINIO") or (made if made.exists() else None)
    peer, theirs = minio_client(binary, folder) if binary else (None, None)
    x, y, ours = [], [], server.s3()
    for _ in range(rounds):
        x.append(puts(ours, n))
        if theirs:
            y.append(puts(theirs, n))
    if not peer:
        report.add("PUT 4 KiB", "one client, durable", f"{median(x):.0f}/s", "no MinIO (make setup-bench)", "", "", None)
        return
    peer.terminate()
    peer.wait(10)
    report.add("PUT 4 KiB", "one client, durable", f"{median(x):.0f}/s", f"MinIO {median(y):.0f}/s", f"{median(x) / median(y):.2f}", "", None)
