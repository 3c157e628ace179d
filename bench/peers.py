# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL beside firn: the system's own binaries, a cluster of the run's own, durable as it ships."""
import os
import pathlib
import pwd
import shutil
import subprocess

import psycopg

from objects import free_port


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
