# SPDX-License-Identifier: Apache-2.0
"""Peers beside firn: PostgreSQL (the system's own binaries, a cluster of the run's own, durable as it ships), MinIO and Iceberg's REST fixture server (tools/setup-bench)."""
import os
import pathlib
import pwd
import shutil
import subprocess

import psycopg

from objects import free_port, wait_for

PEERS = pathlib.Path(__file__).resolve().parent.parent / "build" / "peers"


class Fixture:
    """The Java fixture server: FIXTURE_REST's, or one of the run's own; uri is None where there is neither."""

    def __init__(self, folder):
        self.process, self.uri = None, os.environ.get("FIXTURE_REST")
        if self.uri or not shutil.which("java") or not list((PEERS / "fixture").glob("*.jar")):
            return
        port = free_port()
        env = dict(os.environ, CATALOG_REST_PORT=str(port), CATALOG_WAREHOUSE=f"file://{folder}", CATALOG_URI="jdbc:sqlite:file:fixture?mode=memory&cache=shared")
        self.process = subprocess.Popen(["java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{PEERS}/fixture/*", "org.apache.iceberg.rest.RESTCatalogServer"],
                                        env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(port)
        self.uri = f"http://127.0.0.1:{port}"

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)


def postgres_binaries():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Postgres:
    def __init__(self, folder):
        self.bin, self.folder, self.port = postgres_binaries(), pathlib.Path(folder), free_port()
        self.folder.mkdir(parents=True)
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            for p in (self.folder, *self.folder.parents):
                if str(p).startswith("/tmp/") or str(p).startswith("/var/tmp/"):
                    p.chmod(p.stat().st_mode | 0o011)
            shutil.chown(self.folder, "postgres", "postgres")
        self.run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "bench")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-w", "-o", f"-p {self.port} -c unix_socket_directories={self.folder} -c listen_addresses=127.0.0.1", "start")
        self.db = psycopg.connect(host="127.0.0.1", port=self.port, user="bench", dbname="postgres", autocommit=True)

    def run(self, program, *args):
        command = [str(self.bin / program), *args]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def stop(self):
        self.db.close()
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "fast", "-w", "stop")
