# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of a test's own, with logical replication, on a free port and in a temporary folder."""
import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile

import psycopg


def binaries():
    """The folder of the newest installed server from 15 on; None: there is none."""
    found = [p for p in glob.glob("/usr/lib/postgresql/*/bin/postgres") if int(p.split("/")[4]) >= 15]
    return os.path.dirname(max(found, key=lambda p: int(p.split("/")[4]))) if found else None


def _user():
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    pwd.getpwnam("postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class PgServer:
    def __init__(self, **settings):
        self.bin = binaries()
        self.folder = tempfile.mkdtemp(prefix="firn-pg-", dir="/tmp")
        self.data = f"{self.folder}/data"
        self.port = _free_port()
        self.settings = {"wal_level": "logical", "fsync": "off", "wal_sender_timeout": "10s", "max_replication_slots": "8", **settings}
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o755)
            shutil.chown(self.folder, "postgres", "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync", "--locale=C")
        self.start()

    def _run(self, program, *args):
        subprocess.run([*_user(), f"{self.bin}/{program}", *args], check=True, capture_output=True, text=True, cwd=self.folder)

    def start(self):
        options = " ".join(f"-c {k}={v}" for k, v in self.settings.items())
        self._run("pg_ctl", "-D", self.data, "-w", "-l", f"{self.folder}/log", "-o",
                  f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} {options}", "start")

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def restart(self, mode="immediate"):
        self.stop(mode)
        self.start()

    def connect(self, dbname="postgres"):
        return psycopg.connect(host="127.0.0.1", port=self.port, user="postgres", dbname=dbname, autocommit=True)

    def close(self):
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
