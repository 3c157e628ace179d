# SPDX-License-Identifier: Apache-2.0
"""A catalog that takes requests and does not answer holds up nobody: not ALTER, not DROP, not other sinks, not the end of the server; and nothing is lost by it."""
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guide"))

from conftest import Server                                    # noqa: E402
from guide_place import Place, until                           # noqa: E402
from rest_side import Proxy                                    # noqa: E402

NS = "hanging"


def took(what):
    begun = time.monotonic()
    what()
    return time.monotonic() - begun


def test_a_catalog_that_hangs(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    b, fault = Place(tmp_path / "b", []), {}
    bucket, s = b.table_bucket("hanging", NS), b.server
    proxy = Proxy(s.lake, lambda method, path, n: fault.get("now"))
    a = Server(tmp_path / "a" / "data")
    try:
        c = a.connect("materialize")
        c.execute(f"CREATE SECRET k AS '{s.secret}'")
        for name, url in (("slow", proxy.url), ("quick", s.lake)):
            c.execute(f"CREATE CONNECTION {name}_aws TO AWS (ACCESS KEY ID = '{s.key}', SECRET ACCESS KEY = SECRET k, REGION = 'us-east-1', ENDPOINT = '{url}')")
            c.execute(f"CREATE CONNECTION {name} TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE = '{bucket}', AWS CONNECTION = {name}_aws)")
        c.execute("CREATE TABLE t (k int)")
        c.execute("INSERT INTO t VALUES (1)")
        for name, connection in (("kept", "slow"), ("gone", "slow"), ("other", "quick")):
            c.execute(f"CREATE SINK {name} FROM t INTO ICEBERG CATALOG CONNECTION {connection} (NAMESPACE '{NS}', TABLE '{name}') MODE APPEND WITH (COMMIT INTERVAL '1s')")

        def rows(name):
            return [r[0] for r in b.read("hanging", f"{NS}.{name}", "k") or []]
        until(lambda: rows("kept") == rows("gone") == rows("other") == [1])
        fault["now"] = ("delay", 25)
        c.execute("INSERT INTO t VALUES (2)")
        until(lambda: rows("other") == [1, 2], 20)
        time.sleep(1)
        assert took(lambda: c.execute("ALTER SINK kept SET (COMMIT INTERVAL = '2s')")) < 8
        assert took(lambda: c.execute("DROP SINK gone")) < 8
        c.close()

        def stop():
            a.process.send_signal(signal.SIGTERM)
            assert a.process.wait(30) == 0
        assert took(stop) < 10
        a.log.close()
        fault.clear()
        a.start()
        until(lambda: rows("kept") == [1, 2])
        time.sleep(2)
        assert rows("kept") == [1, 2]
    finally:
        a.stop()
        proxy.stop()
        b.stop()
