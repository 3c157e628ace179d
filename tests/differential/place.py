# SPDX-License-Identifier: Apache-2.0
"""Where worlds run: one server with its settings, and the connections to it."""
import re

import psycopg

REPORT = re.compile(r"refresh (\w+): (.*); \d+ source rows read, (\d+) rows changed")


class Place:
    def __init__(self, server):
        self.server, self.connection, self.catalog, self.notices = server, None, None, []

    def open(self):
        if self.connection is None or self.connection.closed:
            self.connection = self.server.connect()
            self.connection.add_notice_handler(lambda d: self.notices.append(d.message_primary))
            self.connection.execute("SET spark.sql.mv.managed.enabled = true", prepare=False)
        return self.connection

    def sql(self, text):
        cur = self.open().execute(text, prepare=False)
        return cur.fetchall() if cur.description else []

    def rows_and_types(self, text):
        cur = self.open().execute(text, prepare=False)
        names = psycopg.adapters.types
        return cur.fetchall(), [(d.name, names[d.type_code].name, d.precision, d.scale) for d in cur.description]

    def attempt(self, text):
        """Empty, or the error in one line."""
        try:
            self.sql(text)
        except psycopg.OperationalError:
            raise
        except psycopg.Error as e:
            return str(e).splitlines()[0]
        return ""

    def refresh(self, text):
        """(error, (type, reason, rows changed))."""
        self.notices.clear()
        error = self.attempt(text)
        found = [m.groups() for m in map(REPORT.match, self.notices) if m]
        return error, found[-1] if found else ("", "", "0")

    def pyiceberg(self):
        if self.catalog is None:
            self.catalog = self.server.pyiceberg()
        return self.catalog
