# SPDX-License-Identifier: Apache-2.0
"""kill -9 at a random moment under mixed load: what was acknowledged is there, nothing half-done is visible, views are right.

Each writer keeps a journal: for whatever it writes the states that it may be found in.  An acknowledged change leaves one state; a
change that the kill interrupted leaves two, the old one and the new one, and never one between."""
import collections
import hashlib
import os
import random
import sqlite3
import threading
import time

import psycopg
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from conftest import Server

ROWS_VIEW = "SELECT batch, count(*) AS n, sum(v) AS s, min(id) AS lo, max(id) AS hi FROM glue_catalog.{ns}.t GROUP BY batch"
JOIN_VIEW = "SELECT t.batch, t.v, p.k, count(*) AS n FROM glue_catalog.{ns}.t LEFT JOIN glue_catalog.{ns}.p ON t.id = p.id GROUP BY t.batch, t.v, p.k"
REFUSED = {"40001", "40P01"}                     # a lost race: surely nothing was changed


class Journal(dict):
    """thing: the states that it may be in."""

    def try_change(self, thing, old, new, act):
        """True: done. False: surely not done. None: unknown, so both are possible."""
        self[thing] = {old, new}
        done = act()
        if done is not None:
            self[thing] = {new if done else old}
        return done

    def settle(self, found, what):
        """Each thing is in a state that it may be in; that is its state from now on."""
        wrong = [f"{thing}: found {found.get(thing)!r}, may be {states!r}" for thing, states in self.items() if found.get(thing) not in states]
        wrong += [f"{thing}: found {state!r}, was never written" for thing, state in found.items() if thing not in self and state is not None]
        assert not wrong, f"{what}: {len(wrong)} wrong of {len(self)}\n  " + "\n  ".join(wrong[:20])
        for thing in self:
            self[thing] = {found.get(thing)}


class Load:
    def __init__(self, server, seed):
        self.server, self.random, self.n = server, random.Random(seed), 0
        self.tables, self.appended, self.objects, self.named = Journal(), Journal(), Journal(), Journal()
        self.done = collections.Counter()
        self.strange = []
        server.s3().create_bucket(Bucket="things")
        self.new_namespace()

    def new_namespace(self):
        self.n += 1
        self.ns = f"k{self.n}"
        self.tables.clear(), self.appended.clear(), self.named.clear()
        self.server.sql(f"""CREATE NAMESPACE glue_catalog.{self.ns}; SET spark.sql.mv.managed.enabled = true;
            CREATE TABLE glue_catalog.{self.ns}.t (id BIGINT, batch BIGINT, v INT) USING iceberg;
            CREATE TABLE glue_catalog.{self.ns}.p (id BIGINT, k STRING) USING iceberg;
            CREATE MANAGED MATERIALIZED VIEW glue_catalog.{self.ns}.m AS {ROWS_VIEW.format(ns=self.ns)};
            CREATE MATERIALIZED VIEW glue_catalog.{self.ns}.r AS {JOIN_VIEW.format(ns=self.ns)}""")

    # ---- the writers: each runs until the server is gone

    def statement(self, c, text):
        try:
            c.execute(text, prepare=False)
            return True
        except psycopg.OperationalError as e:
            if e.sqlstate in REFUSED:
                return False
            if e.sqlstate not in (None, "57P01"):
                self.strange.append(f"{text}: {e.sqlstate} {e}")
            return None
        except psycopg.Error as e:
            if e.sqlstate not in REFUSED:
                self.strange.append(f"{text}: {e.sqlstate} {e}")
            return False

    def sql_writer(self, rnd, writer):
        ns, c = self.ns, self.server.connect()
        mine = []
        while not self.stop:
            b = writer * 1000000 + rnd.randrange(1000000)
            kind = rnd.random() if mine else 0
            if kind < 0.5:
                n = rnd.choice([1, 3, 20, 400])
                ok = self.tables.try_change(b, None, (n, 1, 1), lambda: self.statement(c, f"INSERT INTO glue_catalog.{ns}.t SELECT id, {b}, 1 FROM range({n})"))
                mine += [(b, n, 1)] if ok else []
            else:
                b, n, v = mine.pop(rnd.randrange(len(mine)))
                if kind < 0.8:
                    ok = self.tables.try_change(b, (n, v, v), (n, v + 1, v + 1), lambda: self.statement(c, f"UPDATE glue_catalog.{ns}.t SET v = v + 1 WHERE batch = {b}"))
                    mine += [] if ok is None else [(b, n, v + ok)]
                else:
                    ok = self.tables.try_change(b, (n, v, v), None, lambda: self.statement(c, f"DELETE FROM glue_catalog.{ns}.t WHERE batch = {b}"))
                    mine += [(b, n, v)] if ok is False else []
            self.done["sql"] += ok is True
            if ok is None:
                return

    def refresher(self, rnd, writer):
        c = self.server.connect()
        while not self.stop:
            view = rnd.choice("mr")
            ok = self.statement(c, f"REFRESH MATERIALIZED VIEW glue_catalog.{self.ns}.{view}" + rnd.choice(["", "", "", " FULL"]))
            self.done["refresh"] += ok is True
            if ok is None:
                return

    def compactor(self, rnd, writer):
        c = self.server.connect()
        while not self.stop:
            time.sleep(rnd.random() / 2)
            ok = self.statement(c, f"CALL glue_catalog.system.rewrite_data_files(table => '{self.ns}.{rnd.choice('tp')}')")
            self.done["compaction"] += ok is True
            if ok is None:
                return

    def definer(self, rnd, writer):
        ns, c = self.ns, self.server.connect()
        there = []
        while not self.stop:
            if there and rnd.random() < 0.4:
                name = there.pop()
                ok = self.named.try_change(name, True, None, lambda: self.statement(c, f"DROP TABLE glue_catalog.{ns}.{name}"))
            else:
                name = f"d{writer}_{rnd.randrange(10**9)}"
                ok = self.named.try_change(name, None, True, lambda: self.statement(c, f"CREATE TABLE glue_catalog.{ns}.{name} USING iceberg AS SELECT 7 AS a"))
                there += [name] if ok else []
            self.done["ddl"] += ok is True
            if ok is None:
                return

    def appender(self, rnd, writer):
        import pyarrow as pa
        from pyiceberg.exceptions import CommitFailedException, NoSuchTableError
        catalog = self.server.pyiceberg()
        while not self.stop:
            k, n = f"w{writer}-{rnd.randrange(10**9)}", rnd.choice([1, 7, 50])

            def act():
                try:
                    t = catalog.load_table(f"{self.ns}.p")
                    t.append(pa.table({"id": pa.array(range(n), pa.int64()), "k": pa.array([k] * n, pa.string())}))
                    return True
                except (CommitFailedException, NoSuchTableError):
                    return False
                except Exception:                # noqa: BLE001 - whatever the client makes of a server that dies
                    return None
            ok = self.appended.try_change(k, None, n, act)
            self.done["rest"] += ok is True
            if ok is None:
                return

    def putter(self, rnd, writer):
        s3, keys = self.server.s3(), {}
        while not self.stop:
            key = f"w{writer}/{rnd.randrange(60)}"
            old = next(iter(self.objects.get(key, {None}))) if key not in keys else keys[key]
            body = None if old and rnd.random() < 0.2 else rnd.randbytes(rnd.choice([0, 10, 4000, 300000]))
            new = None if body is None else hashlib.sha256(body).hexdigest()

            def act():
                try:
                    s3.delete_object(Bucket="things", Key=key) if body is None else s3.put_object(Bucket="things", Key=key, Body=body)
                    return True
                except ClientError as e:
                    self.strange.append(f"S3 {key}: {e}")
                    return None
                except (BotoCoreError, OSError):
                    return None
            ok = self.objects.try_change(key, old, new, act)
            if ok is None:
                return
            keys[key] = new
            self.done["s3"] += 1

    def joiner(self, rnd, writer):
        """Large objects in parts: an upload that was not completed leaves no object."""
        s3 = self.server.s3()
        while not self.stop:
            key = f"large{writer}/{rnd.randrange(10**9)}"
            parts = [rnd.randbytes(5 << 20), rnd.randbytes(100)]

            def act():
                try:
                    u = s3.create_multipart_upload(Bucket="things", Key=key)["UploadId"]
                    tags = [s3.upload_part(Bucket="things", Key=key, UploadId=u, PartNumber=i + 1, Body=p)["ETag"] for i, p in enumerate(parts)]
                    s3.complete_multipart_upload(Bucket="things", Key=key, UploadId=u, MultipartUpload={"Parts": [{"PartNumber": i + 1, "ETag": e} for i, e in enumerate(tags)]})
                    return True
                except ClientError as e:
                    self.strange.append(f"S3 {key}: {e}")
                    return None
                except (BotoCoreError, OSError):
                    return None
            ok = self.objects.try_change(key, None, hashlib.sha256(b"".join(parts)).hexdigest(), act)
            if ok is None:
                return
            self.done["multipart"] += 1
            time.sleep(rnd.random())

    def guarded(self, writer, rnd, n):
        try:
            writer(rnd, n)
        except (psycopg.OperationalError, BotoCoreError, OSError):
            pass                                 # the server went away while the client was connecting
        except Exception as e:                   # noqa: BLE001
            if not self.stop:
                self.strange.append(f"{writer.__name__}: {e!r}")

    def round(self):
        self.stop, before = False, sum(self.done.values())
        writers = [self.sql_writer, self.sql_writer, self.refresher, self.compactor, self.definer, self.appender, self.putter, self.putter, self.joiner]
        threads = [threading.Thread(target=self.guarded, args=(w, random.Random(self.random.random()), i)) for i, w in enumerate(writers)]
        for t in threads:
            t.start()
        until = time.monotonic() + self.random.choice([0.2, 0.5, 1.0, 2.0]) + self.random.random()
        while time.monotonic() < until or (sum(self.done.values()) == before and time.monotonic() < until + 20):
            time.sleep(0.005)
        self.server.kill()
        self.stop = True
        for t in threads:
            t.join(30)
            assert not t.is_alive(), "a writer hangs on a dead server"
        self.server.start()

    # ---- after the restart

    def check(self, whole=True):
        s, ns = self.server, self.ns
        assert not self.strange, "\n".join(self.strange[:10])
        self.tables.settle({b: (n, lo, hi) for b, n, lo, hi, ids in s.sql(f"SELECT batch, count(*), min(v), max(v), count(DISTINCT id) FROM glue_catalog.{ns}.t GROUP BY batch") if n == ids}, "rows of SQL")
        self.appended.settle(dict(s.sql(f"SELECT k, count(*) FROM glue_catalog.{ns}.p GROUP BY k")), "rows of REST")
        self.named.settle({r[1]: True for r in s.sql(f"SHOW TABLES IN glue_catalog.{ns}") if r[1].startswith("d")}, "tables")
        for name in [n for n, states in self.named.items() if states == {True}][:3]:
            assert s.sql(f"SELECT a FROM glue_catalog.{ns}.{name}") == [(7,)]
        self.check_objects()
        self.check_store()
        r = s.run("verify")
        assert r.returncode in (0, 1) and " broken" not in r.stdout and "could not" not in r.stdout, r.stdout + r.stderr
        for view, query in (("m", ROWS_VIEW), ("r", JOIN_VIEW)):
            s.sql(f"REFRESH MATERIALIZED VIEW glue_catalog.{ns}.{view}")
            query = query.format(ns=ns)
            for a, b in ((f"SELECT * FROM glue_catalog.{ns}.{view}", query), (query, f"SELECT * FROM glue_catalog.{ns}.{view}")):
                assert s.sql(f"SELECT count(*) FROM (({a}) EXCEPT ALL ({b})) d") == [(0,)], f"view {view} differs from its query"
        if whole:
            s.run("verify", check=0)
        assert s.sql(f"SELECT count(*) FROM glue_catalog.{ns}.m.refreshes WHERE status NOT IN ('SUCCEEDED', 'FAILED', 'STOPPED')") == [(0,)]

    def check_objects(self):
        s3, found = self.server.s3(), {}
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket="things"):
            for o in page.get("Contents", []):
                body = s3.get_object(Bucket="things", Key=o["Key"])["Body"].read()
                assert len(body) == o["Size"]
                found[o["Key"]] = hashlib.sha256(body).hexdigest()
        self.objects.settle(found, "objects")

    def check_store(self):
        """Every file that the index names is there, and no other one."""
        db = next(self.server.data.rglob("store.db"))
        named = {b for b, in sqlite3.connect(db).execute("SELECT blob FROM objects UNION SELECT blob FROM parts")}
        files = {p.name if len(p.name) > 30 else p.parent.name + p.name for p in (db.parent / "objects").rglob("*") if p.is_file()}
        assert named == files, f"missing: {sorted(named - files)[:5]}, nobody's: {sorted(files - named)[:5]}"


def rounds(tmp_path, n, seed):
    server = Server(tmp_path / "data")
    load = Load(server, seed)
    try:
        for i in range(n):
            if i and i % 10 == 0:
                load.new_namespace()
            load.round()
            try:
                load.check(i % 4 == 0)
            except BaseException as e:
                e.add_note(f"round {i} of seed {seed}; done so far: {dict(load.done)}")
                raise
    finally:
        if server.process.poll() is None:
            server.stop()
    print(dict(load.done))
    return load.done


def test_five_kills(tmp_path):
    done = rounds(tmp_path, 5, time.time_ns())
    assert done["sql"] and done["s3"] and done["ddl"]


@pytest.mark.long
def test_two_hundred_kills(tmp_path):
    n = int(os.environ.get("FIRN_KILLS", 200))
    done = rounds(tmp_path, n, time.time_ns())
    assert all(done[k] > n // 10 for k in ("sql", "s3", "ddl", "rest", "refresh"))
