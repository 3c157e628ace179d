# SPDX-License-Identifier: Apache-2.0
"""The tables of a run: made by the peer engine, loaded through S3 and SQL, and what the peer reads of them."""
import pathlib

import duckdb

import tpch

NAMESPACE = "glue_catalog.tpch"
PREFIX = NAMESPACE + "."


class Tables:
    """orders first … next-1 are in the lake; `low` counts the ones deleted from the front."""

    def __init__(self, server, folder, size, threads):
        self.server, self.size, self.folder = server, size, pathlib.Path(folder)
        self.peer = duckdb.connect(config={"threads": threads})
        self.s3 = server.s3()
        self.low, self.next, self.batch = 0, size.orders, 0
        self.folder.mkdir()
        self.s3.create_bucket(Bucket="bench")
        server.sql(f"CREATE NAMESPACE {NAMESPACE}")
        for name, columns in tpch.SCHEMAS.items():
            server.sql(f"CREATE TABLE {PREFIX}{name} ({columns}) USING iceberg")
        for name, query in tpch.fixed(size).items():
            self.bring(name, query)
        step = 500_000                              # orders a commit: a table of several files
        for first in range(0, size.orders, step):
            self.bring_orders(first, min(first + step, size.orders))

    def bring(self, table, query):
        """Rows of the peer's query, as a Parquet object, into the table."""
        self.batch += 1
        file = self.folder / f"{table}{self.batch}.parquet"
        self.peer.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
        self.s3.upload_file(str(file), "bench", file.name)
        file.unlink()
        self.server.sql(f"INSERT INTO {PREFIX}{table} SELECT * FROM parquet.`s3://bench/{file.name}`")
        self.s3.delete_object(Bucket="bench", Key=file.name)

    def bring_orders(self, first, last):
        self.bring("orders", tpch.orders(self.size, first, last))
        self.bring("lineitem", tpch.lineitem(self.size, first, last))

    def append(self, n):
        self.bring_orders(self.next, self.next + n)
        self.next += n

    def delete(self, n):
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            self.server.sql(f"DELETE FROM {PREFIX}{table} WHERE {key} >= {self.low} AND {key} < {self.low + n}")
        self.low += n

    def objects(self, table):
        return [r[0] for r in self.server.sql(f"SELECT file_path FROM {PREFIX}{table}.data_files")]

    def mirror(self, tables):
        """The data objects of tables, read once through S3: views of the peer over local copies. Only for tables without deletes."""
        for table in tables:
            files = []
            for uri in self.objects(table):
                bucket, key = uri.removeprefix("s3://").split("/", 1)
                files.append(str(self.folder / f"{table}-{len(files)}.parquet"))
                self.s3.download_file(bucket, key, files[-1])
            self.peer.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM read_parquet({files})")

    def witness(self):
        """Every row that the lake should hold, made anew by the peer: what views are checked against."""
        for name, query in tpch.fixed(self.size).items():
            names = [c.split()[0] for c in tpch.SCHEMAS[name].replace("(15,2)", "").split(", ")]
            self.peer.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM ({query}) t({', '.join(names)})")
        for name, query in (("orders", tpch.orders), ("lineitem", tpch.lineitem)):
            names = [c.split()[0] for c in tpch.SCHEMAS[name].replace("(15,2)", "").split(", ")]
            self.peer.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM ({query(self.size, self.low, self.next)}) t({', '.join(names)})")
