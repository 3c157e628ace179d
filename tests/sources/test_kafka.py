# SPDX-License-Identifier: Apache-2.0
"""Kafka sources against a real broker, and a registry that speaks Confluent's API: formats, envelopes, restarts of both sides, what goes wrong outside."""
import datetime
import decimal
import io
import json
import random
import struct
import threading
import time
import uuid

import fastavro
import psycopg
import pytest

import kafka_broker
from conftest import Server

pytestmark = pytest.mark.skipif(kafka_broker.missing() is not None, reason=str(kafka_broker.missing()))


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    b = kafka_broker.Broker(tmp_path_factory.mktemp("kafka"))
    yield b
    b.stop()


@pytest.fixture(scope="module")
def registry():
    r = kafka_broker.Registry("reader", "se:cret")
    yield r
    r.stop()


@pytest.fixture(scope="module")
def world(tmp_path_factory, broker, registry):
    s = Server(tmp_path_factory.mktemp("firn") / "data", ["sql.trust_local=on"])
    connect(s, broker)
    sql(s, "CREATE SECRET csr_password AS 'se:cret'")
    sql(s, f"CREATE CONNECTION csr TO CONFLUENT SCHEMA REGISTRY (URL '{registry.url}', USERNAME 'reader', PASSWORD SECRET csr_password)")
    yield s
    s.stop()


@pytest.fixture()
def own(tmp_path, broker):
    """A server for one test, which may kill it."""
    s = Server(tmp_path / "data", ["sql.trust_local=on"])
    connect(s, broker)
    yield s
    if s.process.poll() is None:
        s.stop()


@pytest.fixture()
def topic(request):
    return f"t{time.monotonic_ns()}"


def connect(server, broker):
    sql(server, f"CREATE CONNECTION k TO KAFKA (BROKER '{broker.plain}', SECURITY PROTOCOL = 'PLAINTEXT')")


def sql(server, text):
    return server.sql(text, "materialize")


def wait(server, query, wanted, seconds=30):
    """Until the query gives that; what it gives last otherwise."""
    until = time.monotonic() + seconds
    rows = None
    while time.monotonic() < until:
        rows = sql(server, query)
        if rows == wanted:
            return
        time.sleep(0.1)
    statuses = sql(server, "SELECT name, status, error FROM mz_internal.mz_source_statuses WHERE status <> 'running'")
    raise AssertionError(f"{query}: {rows!r:.500}, not {wanted!r:.500}; {statuses}")


def wait_stalled(server, source, text, seconds=30):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rows = sql(server, f"SELECT status, error, details FROM mz_internal.mz_source_statuses WHERE name = '{source}'")
        if rows and rows[0][0] == "stalled" and text in rows[0][1]:
            return rows[0]
        time.sleep(0.1)
    raise AssertionError(f"{source} is {rows}")


def columns(server, relation):
    return [(name, type) for name, null, type, comment in sql(server, f"SHOW COLUMNS FROM {relation}")]


def statistics(server, source):
    return sql(server, f"""SELECT messages_received::bigint, updates_committed::bigint, offset_known::bigint, offset_committed::bigint, snapshot_committed FROM mz_internal.mz_source_statistics
                           JOIN mz_catalog.mz_sources USING (id) WHERE name = '{source}'""")[0]


def errors(server, source):
    """Places and texts of what could not be read, by place."""
    return sql(server, f"SELECT place, error FROM mz_internal.mz_source_errors e JOIN mz_catalog.mz_sources s ON s.id = e.source_id WHERE s.name = '{source}' ORDER BY place")


def avro(schema, value):
    b = io.BytesIO()
    fastavro.schemaless_writer(b, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return b.getvalue()


def framed(id, data):
    return struct.pack(">bI", 0, id) + data


# ---- formats ------------------------------------------------------------------------------------------------------------------------------


def test_json_with_metadata(world, broker, topic):
    broker.topic(topic, 2, retention_ms=-1)               # the time that it says is long ago
    broker.send(topic, b'{"b": [1, {"c": null}], "a": "x"}', b"17", partition=1, key=b"k", timestamp=1700000000123, headers=[("h", b"v"), ("n", None)])
    sql(world, f"""CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') KEY FORMAT TEXT VALUE FORMAT JSON
                   INCLUDE KEY AS id, PARTITION, OFFSET AS o, TIMESTAMP AS ts, HEADERS, HEADER 'h' AS one ENVELOPE NONE""")
    assert columns(world, topic) == [("id", "text"), ("data", "jsonb"), ("partition", "integer"), ("o", "uint8"), ("ts", "timestamp without time zone"),
                                     ("headers", "record(key: text, value: bytea) list"), ("one", "text")]
    wait(world, f"SELECT id, data->>'a', partition, o::text, ts::text, one FROM {topic} ORDER BY o", [
        ("k", "x", 1, "0", "2023-11-14 22:13:20.123", "v"), ("k", None, 1, "1", "2023-11-14 22:13:20.123", "v")])
    assert sql(world, f"SELECT data->'b'->1->>'c' IS NULL FROM {topic} WHERE o = 0") == [(True,)]


def test_text_bytes_csv(world, broker, topic):
    broker.topic(topic)
    broker.send(topic, b'1,"a,b"', b"2,c")
    for name, clause, shown in (("text", "FORMAT TEXT", [("text", "text")]), ("bytes", "FORMAT BYTES", [("data", "bytea")]),
                                ("csv", "FORMAT CSV WITH 2 COLUMNS", [("column1", "text"), ("column2", "text")]),
                                ("named", "FORMAT CSV WITH HEADER (id, name)", [("id", "text"), ("name", "text")])):
        sql(world, f"CREATE SOURCE {topic}_{name} FROM KAFKA CONNECTION k (TOPIC '{topic}') {clause}")
        assert columns(world, f"{topic}_{name}") == shown
    wait(world, f"SELECT * FROM {topic}_text ORDER BY 1", [('1,"a,b"',), ("2,c",)])
    wait(world, f"SELECT * FROM {topic}_bytes ORDER BY 1", [(b'1,"a,b"',), (b"2,c",)])
    wait(world, f"SELECT * FROM {topic}_csv ORDER BY 1", [("1", "a,b"), ("2", "c")])
    wait(world, f"SELECT name FROM {topic}_named ORDER BY id", [("a,b",), ("c",)])


V1 = {"type": "record", "name": "user", "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"], "default": None},
      {"name": "born", "type": {"type": "int", "logicalType": "date"}}, {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}}]}
V2 = {"type": "record", "name": "user", "fields": V1["fields"][:2] + [{"name": "extra", "type": "string"}] + V1["fields"][2:]}
V3 = {"type": "record", "name": "user", "fields": V1["fields"][:1]}


def test_avro_by_a_registry(world, broker, registry, topic):
    broker.topic(topic)
    one = registry.register(f"{topic}-value", V1)
    row = {"name": "ann", "age": 41, "born": datetime.date(1984, 5, 6), "price": decimal.Decimal("12.50")}
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE NONE")
    assert columns(world, topic) == [("name", "text"), ("age", "integer"), ("born", "date"), ("price", "numeric(10,2)")]
    two, three = registry.register(f"{topic}-value", V2), registry.register(f"{topic}-value", V3)
    broker.send(topic, framed(one, avro(V1, row)), framed(two, avro(V2, row | {"name": "bob", "extra": "x"})),
                framed(three, avro(V3, {"name": "no way"})), framed(9999, b"?"), b"\x01", framed(one, avro(V1, row)[:-1]))
    wait(world, f"SELECT name, age, born::text, price::text FROM {topic} ORDER BY 1", [("ann", 41, "1984-05-06", "12.50"), ("bob", 41, "1984-05-06", "12.50")])
    until = time.monotonic() + 20
    while statistics(world, topic)[0] < 6 and time.monotonic() < until:
        time.sleep(0.1)
    received, committed, known, done, snapshot = statistics(world, topic)
    assert (received, committed, known, done, snapshot) == (6, 2, 6, 6, True)
    found = errors(world, topic)
    assert [place for place, error in found] == [f"topic {topic}, partition 0, offset {n}" for n in (2, 3, 4, 5)]
    for (place, error), text in zip(found, ("no field 'born'", "no schema with id 9999", "too short", "Avro")):
        assert text in error


def test_each_avro_type(world, broker, registry, topic):
    utc = datetime.timezone.utc
    each = [("b", "boolean", True, "boolean"), ("i", "int", -7, "integer"), ("l", "long", 1 << 40, "bigint"), ("f", "float", 1.5, "real"), ("d", "double", -0.25, "double precision"),
            ("by", "bytes", b"\x00\xff", "bytea"), ("s", "string", "h\u00e9", "text"), ("fx", {"type": "fixed", "name": "fx4", "size": 4}, b"abcd", "bytea"),
            ("en", {"type": "enum", "name": "color", "symbols": ["red", "blue"]}, "blue", "text"),
            ("de", {"type": "bytes", "logicalType": "decimal", "precision": 38, "scale": 3}, decimal.Decimal("-12345678901234567890123456789012345.678"), "numeric(38,3)"),
            ("dt", {"type": "int", "logicalType": "date"}, datetime.date(1969, 12, 31), "date"),
            ("tm", {"type": "int", "logicalType": "time-millis"}, datetime.time(1, 2, 3, 4000), "time without time zone"),
            ("tu", {"type": "long", "logicalType": "time-micros"}, datetime.time(23, 59, 59, 999999), "time without time zone"),
            ("ts", {"type": "long", "logicalType": "timestamp-millis"}, datetime.datetime(2026, 11, 30, 10, 0, 0, 123000, utc), "timestamp without time zone"),
            ("us", {"type": "long", "logicalType": "timestamp-micros"}, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, utc), "timestamp without time zone"),
            ("u", {"type": "string", "logicalType": "uuid"}, uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), "uuid"), ("n", ["null", "string"], None, "text"),
            ("a", {"type": "array", "items": ["null", "int"]}, [1, None, 3], "integer list"), ("m", {"type": "map", "values": "long"}, {"k": 5}, "map[text=>bigint]")]
    schema = {"type": "record", "name": "row", "fields": [{"name": name, "type": type} for name, type, value, shown in each]}
    broker.topic(topic)
    broker.send(topic, framed(registry.register(f"{topic}-value", schema), avro(schema, {name: value for name, type, value, shown in each})))
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE NONE")
    assert columns(world, topic) == [(name, shown) for name, type, value, shown in each]
    plain = [value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value for name, type, value, shown in each]
    wait(world, f"SELECT {', '.join(name for name, *_ in each[:-2])}, m->'k' FROM {topic}", [(*plain[:-2], 5)])
    wait(world, f"SELECT a[1], a[2] IS NULL, a[3] FROM {topic}", [(1, True, 3)])


def test_avro_upsert_and_debezium(world, broker, registry, topic):
    broker.topic(topic, 2)
    key = {"type": "record", "name": "k", "fields": [{"name": "id", "type": "int"}]}
    value = {"type": "record", "name": "Value", "fields": [{"name": "id", "type": "int"}, {"name": "v", "type": ["null", "string"]}]}
    envelope = {"type": "record", "name": "Envelope", "fields": [{"name": "before", "type": ["null", value]}, {"name": "after", "type": ["null", "Value"]}, {"name": "op", "type": "string"}]}
    k, e = registry.register(f"{topic}-key", key), registry.register(f"{topic}-value", envelope)
    keyed = lambda i: framed(k, avro(key, {"id": i}))
    change = lambda before, after, op: framed(e, avro(envelope, {"before": before, "after": after, "op": op}))
    broker.send(topic, change(None, {"id": 1, "v": "a"}, "c"), change({"id": 1, "v": "a"}, {"id": 1, "v": "b"}, "u"), key=keyed(1))
    broker.send(topic, change(None, {"id": 2, "v": "c"}, "r"), change({"id": 2, "v": "c"}, None, "d"), None, key=keyed(2), partition=1)
    broker.send(topic, change(None, {"id": 3, "v": None}, "r"), key=keyed(3), partition=1)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE DEBEZIUM")
    assert columns(world, topic) == [("id", "integer"), ("v", "text")]
    wait(world, f"SELECT * FROM {topic} ORDER BY id", [(1, "b"), (3, None)])
    sql(world, f"CREATE SOURCE {topic}_u FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE UPSERT")
    assert columns(world, f"{topic}_u") == [("id", "integer"), ("before", "record(id: integer, v: text)"), ("after", "record(id: integer, v: text)"), ("op", "text")]
    wait(world, f"SELECT id, op FROM {topic}_u ORDER BY id", [(1, "u"), (3, "r")])
    with pytest.raises(psycopg.Error, match="Cannot use INCLUDE KEY with ENVELOPE DEBEZIUM"):
        sql(world, f"CREATE SOURCE {topic}_n FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr INCLUDE KEY ENVELOPE DEBEZIUM")


PROTO = 'syntax = "proto3"; package p; enum Kind { UNKNOWN = 0; GOOD = 1; } message Item { int32 id = 1; Kind kind = 2; repeated string tags = 3; Inner inner = 4; message Inner { uint64 n = 1; } }'


def item_class():
    """The same message by Google's library, and its descriptor set."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    files = descriptor_pb2.FileDescriptorSet()
    f = files.file.add(name="p.proto", package="p", syntax="proto3")
    kind = f.enum_type.add(name="Kind")
    kind.value.add(name="UNKNOWN", number=0)
    kind.value.add(name="GOOD", number=1)
    m = f.message_type.add(name="Item")
    m.nested_type.add(name="Inner").field.add(name="n", number=1, type=4, label=1)
    for n, (name, type, label, of) in enumerate((("id", 5, 1, ""), ("kind", 14, 1, ".p.Kind"), ("tags", 9, 3, ""), ("inner", 11, 1, ".p.Item.Inner")), 1):
        m.field.add(name=name, number=n, type=type, label=label, **({"type_name": of} if of else {}))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(f)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.Item")), files.SerializeToString().hex()


def test_protobuf(world, broker, registry, topic):
    Item, descriptors = item_class()
    broker.topic(topic)
    broker.topic(topic + "_b")
    shown = [("id", "integer"), ("kind", "text"), ("tags", "text list"), ("inner", "record(n: uint8)")]
    full, empty = Item(id=-1, kind=1, tags=["a", "b"], inner={"n": 2**63}).SerializeToString(), Item().SerializeToString()
    id = registry.register(f"{topic}-value", PROTO, "PROTOBUF")
    broker.send(topic, framed(id, b"\x00" + full), framed(id, b"\x02\x00" + empty), framed(id, b"\x00" + b"\x10\x07"), framed(id + 1000, b"\x00"))
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT PROTOBUF USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE NONE")
    broker.send(topic + "_b", full, empty, b"\xff")
    sql(world, f"CREATE SOURCE {topic}_b FROM KAFKA CONNECTION k (TOPIC '{topic}_b') FORMAT PROTOBUF MESSAGE 'p.Item' USING SCHEMA '\\x{descriptors}' ENVELOPE NONE")
    for name in (topic, topic + "_b"):
        assert columns(world, name) == shown
        wait(world, f"SELECT id, kind FROM {name} ORDER BY id", [(-1, "GOOD"), (0, "UNKNOWN")])


@pytest.mark.long
def test_a_registry_that_nobody_here_wrote(own, broker, tmp_path, topic):
    registry = kafka_broker.Apicurio(tmp_path / "registry")
    try:
        Item, _ = item_class()
        sql(own, f"CREATE CONNECTION real TO CONFLUENT SCHEMA REGISTRY (URL '{registry.url}')")
        for name, schema, type, message, bad in ((topic + "_a", V1, "AVRO", avro(V3, {"name": "x"}) + b"\x00" + b"\x02" + b"\x02\x01", b"?"),
                                                 (topic + "_p", PROTO, "PROTOBUF", b"\x00" + Item(id=7, kind=1, inner={"n": 1}).SerializeToString(), b"\x00\xff")):
            broker.topic(name)
            id = registry.register(f"{name}-value", schema, type)
            sql(own, f"CREATE SOURCE {name} FROM KAFKA CONNECTION k (TOPIC '{name}') FORMAT {type} USING CONFLUENT SCHEMA REGISTRY CONNECTION real ENVELOPE NONE")
            broker.send(name, framed(id, message), framed(id, bad), framed(id + 1000, message))
        wait(own, f"SELECT name, age, born::text, price::text FROM {topic}_a", [("x", None, "1970-01-02", "0.01")])
        wait(own, f"SELECT id, kind FROM {topic}_p", [(7, "GOOD")])
        for name in (topic + "_a", topic + "_p"):
            assert len(errors(own, name)) == 2
    finally:
        registry.stop()


# ---- envelopes, poison ------------------------------------------------------------------------------------------------------------------------


def test_upsert(world, broker, topic):
    broker.topic(topic)
    for key, value in ((b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", None), (b"c", b"4"), (b"d", None)):
        broker.send(topic, value, key=key)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') KEY FORMAT TEXT VALUE FORMAT TEXT ENVELOPE UPSERT")
    assert columns(world, topic) == [("key", "text"), ("text", "text")]
    sql(world, f"CREATE MATERIALIZED VIEW {topic}_v AS SELECT count(*) AS n, sum(text::int) AS s FROM {topic}")
    wait(world, f"SELECT n, s FROM {topic}_v", [(2, 7)])
    broker.send(topic, b"10", key=b"b")
    broker.send(topic, None, key=b"a")
    wait(world, f"SELECT n, s FROM {topic}_v", [(2, 14)])
    wait(world, f"SELECT * FROM {topic} ORDER BY 1", [("b", "10"), ("c", "4")])


def test_a_value_that_cannot_be_decoded_is_its_keys_error(world, broker, topic):
    broker.topic(topic)
    for key, value in ((b"a", b"1"), (b"b", b"2")):
        broker.send(topic, value, key=key)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') KEY FORMAT TEXT VALUE FORMAT JSON ENVELOPE UPSERT")
    sql(world, f"CREATE MATERIALIZED VIEW {topic}_v AS SELECT count(*) AS n FROM {topic}")
    wait(world, f"SELECT n FROM {topic}_v", [(2,)])
    broker.send(topic, b"{", key=b"a")

    def until(q, good):
        deadline = time.monotonic() + 60
        got = None
        while time.monotonic() < deadline:
            try:
                got = sql(world, q)
            except Exception as e:
                got = str(e)
            if good(got):
                return True
            time.sleep(0.1)
        raise AssertionError(f"{q}: {got!r:.500}")
    for q in (f"SELECT * FROM {topic}", f"SELECT * FROM {topic}_v"):
        until(q, lambda got: "Envelope error: Upsert: Value error" in str(got))
    broker.send(topic, None, key=b"a")                                        # retracted: what reads it is well again
    until(f"SELECT n FROM {topic}_v", lambda got: got == [(1,)])
    until(f"SELECT key FROM {topic}", lambda got: got == [("b",)])


def test_poison_is_passed_over(world, broker, topic):
    broker.topic(topic)
    huge = b'"' + b"x" * 10_000_000 + b'"'
    for key, value in ((b"a", b'{"a": 1}'), (b"b", b"{"), (b"c", b"\xff"), (b"d", huge), (b"\xfe", b"1"), (b"e", b"[2]")):
        broker_send_big(broker, topic, key, value)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') KEY FORMAT TEXT VALUE FORMAT JSON ENVELOPE UPSERT (VALUE DECODING ERRORS = INLINE)")
    assert columns(world, topic) == [("key", "text"), ("data", "jsonb"), ("error", "record(description: text)")]
    wait(world, f"SELECT key, data IS NULL, error IS NULL, length(data::text) FROM {topic} ORDER BY 1",
         [("a", False, True, 7), ("b", True, False, None), ("c", True, False, None), ("d", False, True, 10_000_002), ("e", False, True, 3)])
    assert "JSON" in sql(world, f"SELECT (error).description FROM {topic} WHERE key = 'b'")[0][0]
    assert statistics(world, topic)[:2] == (6, 5)
    broker.send(topic, b"7", key=b"b")
    wait(world, f"SELECT data::text, error IS NULL FROM {topic} WHERE key = 'b'", [("7", True)])


def broker_send_big(broker, topic, key, value):
    p = broker.producer(**{"message.max.bytes": 20_000_000})
    p.produce(topic, value, key=key)
    assert p.flush(30) == 0


def test_only_what_is_committed_is_read(world, broker, topic):
    broker.topic(topic)
    p = broker.producer(**{"transactional.id": topic})
    p.init_transactions(30)
    for n, end in enumerate((p.commit_transaction, p.abort_transaction, p.commit_transaction, p.abort_transaction)):
        p.begin_transaction()
        for i in range(10):
            p.produce(topic, str(n * 10 + i).encode())
        end(30)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT TEXT INCLUDE OFFSET")
    wait(world, f"SELECT count(*), sum(text::int) FROM {topic}", [(20, sum(range(10)) + sum(range(20, 30)))])
    p.begin_transaction()
    p.produce(topic, b"100")
    p.flush(10)
    time.sleep(1)
    assert sql(world, f"SELECT count(*) FROM {topic}") == [(20,)]
    p.commit_transaction(30)
    wait(world, f"SELECT count(*), sum(text::int) FROM {topic}", [(21, sum(range(10)) + sum(range(20, 30)) + 100)])


def test_tables_from_a_source(own, broker, topic):
    broker.topic(topic)
    broker.send(topic, b'{"a": 1}', b"{", key=b"k")
    sql(own, f"CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC '{topic}')")
    sql(own, f'CREATE TABLE j FROM SOURCE s (REFERENCE "{topic}") FORMAT JSON')
    wait(own, "SELECT data::text FROM j", [('{"a":1}',)])
    sql(own, f'CREATE TABLE t FROM SOURCE s (REFERENCE "{topic}") KEY FORMAT TEXT VALUE FORMAT TEXT INCLUDE OFFSET ENVELOPE UPSERT')      # begins at the beginning
    wait(own, 'SELECT key, text, "offset"::int FROM t', [("k", "{", 1)])
    with pytest.raises(psycopg.Error, match="reference to nothing not found in source"):
        sql(own, "CREATE TABLE x FROM SOURCE s (REFERENCE nothing) FORMAT JSON")
    own.kill()
    own.start()
    broker.send(topic, b"[2]", key=b"k")
    wait(own, "SELECT data::text FROM j ORDER BY 1", [("[2]",), ('{"a":1}',)])
    wait(own, 'SELECT key, text, "offset"::int FROM t', [("k", "[2]", 2)])
    sql(own, "DROP TABLE j")
    broker.send(topic, b"x", key=b"l")
    wait(own, "SELECT key, text FROM t ORDER BY 1", [("k", "[2]"), ("l", "x")])
    sql(own, f"CREATE SOURCE named (a, b) FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT TEXT INCLUDE OFFSET")
    wait(own, "SELECT a, b::int FROM named WHERE b > 1 ORDER BY b", [("[2]", 2), ("x", 3)])


# ---- where to begin, and how far --------------------------------------------------------------------------------------------------------------------


def test_start_offset_and_timestamp(world, broker, topic):
    broker.topic(topic, 2)
    now = int(time.time() * 1000)
    for i in range(10):
        broker.send(topic, str(i).encode(), partition=i % 2, timestamp=now - 3600_000 * (10 - i))
    make = lambda name, options: sql(world, f"CREATE SOURCE {topic}_{name} FROM KAFKA CONNECTION k (TOPIC '{topic}', {options}) FORMAT TEXT")
    make("o", "START OFFSET (3, 4)")
    make("t", f"START TIMESTAMP {now - 3600_000 * 4 - 1000}")
    make("r", f"START TIMESTAMP -{3600_000 * 2 + 600_000}")
    wait(world, f"SELECT text FROM {topic}_o ORDER BY 1", [("6",), ("8",), ("9",)])
    wait(world, f"SELECT text FROM {topic}_t ORDER BY 1", [("6",), ("7",), ("8",), ("9",)])
    wait(world, f"SELECT text FROM {topic}_r ORDER BY 1", [("8",), ("9",)])
    with pytest.raises(psycopg.Error, match="START OFFSET specified more partitions"):
        make("x", "START OFFSET (1, 2, 3)")
    with pytest.raises(psycopg.Error, match="START TIMESTAMP and START OFFSET"):
        make("y", "START OFFSET (1), START TIMESTAMP 1")
    with pytest.raises(psycopg.Error, match="does not exist"):
        sql(world, f"CREATE SOURCE {topic}_z FROM KAFKA CONNECTION k (TOPIC 'no.{topic}') FORMAT TEXT")


def test_many_partitions(world, broker, topic):
    broker.topic(topic, 100)
    p = broker.producer()
    for i in range(50_000):
        p.produce(topic, b"x" * 300, partition=i % 100)
    assert p.flush(60) == 0
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT TEXT INCLUDE PARTITION")
    wait(world, f"SELECT count(*), count(DISTINCT partition) FROM {topic}", [(50_000, 100)], 30)


def test_partitions_that_come_later(world, broker, topic):
    from confluent_kafka.admin import NewPartitions
    broker.topic(topic)
    broker.send(topic, b"1")
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}', TOPIC METADATA REFRESH INTERVAL '500ms') FORMAT TEXT INCLUDE PARTITION")
    wait(world, f"SELECT text, partition FROM {topic}", [("1", 0)])
    admin = broker.admin()
    for f in admin.create_partitions([NewPartitions(topic, 3)]).values():
        f.result(30)
    time.sleep(1)
    broker.send(topic, b"2", partition=2)
    broker.send(topic, b"3", partition=0)
    wait(world, f"SELECT text, partition FROM {topic} ORDER BY 1", [("1", 0), ("2", 2), ("3", 0)])


def test_the_group_shows_the_place(world, broker, topic):
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
    broker.topic(topic)
    broker.send(topic, b"1", b"2", b"3")
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}', GROUP ID PREFIX 'mine-') FORMAT TEXT")
    wait(world, f"SELECT count(*) FROM {topic}", [(3,)])
    id = sql(world, f"SELECT id FROM mz_catalog.mz_sources WHERE name = '{topic}'")[0][0]
    admin, until, offset = broker.admin(), time.monotonic() + 30, None
    while offset != 3 and time.monotonic() < until:
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(f"mine-materialize-firn-{id}", [TopicPartition(topic, 0)])])
        offset = next(iter(asked.values())).result(30).topic_partitions[0].offset
        time.sleep(0.2)
    assert offset == 3


# ---- what goes wrong outside -----------------------------------------------------------------------------------------------------------------------------


def test_connections_are_tried(world, broker, registry):
    sql(world, "CREATE SECRET right_password AS 'p'")
    sql(world, "CREATE SECRET wrong_password AS 'q'")
    sasl = "SECURITY PROTOCOL = 'SASL_PLAINTEXT', SASL MECHANISMS = 'PLAIN', SASL USERNAME = 'u', SASL PASSWORD = SECRET"
    sql(world, f"CREATE CONNECTION good TO KAFKA (BROKER '{broker.sasl}', {sasl} right_password)")
    sql(world, "VALIDATE CONNECTION good")
    with pytest.raises(psycopg.Error, match="(?i)authentication"):
        sql(world, f"CREATE CONNECTION bad TO KAFKA (BROKER '{broker.sasl}', {sasl} wrong_password)")
    sql(world, f"CREATE CONNECTION unseen TO KAFKA (BROKER '{broker.sasl}', {sasl} wrong_password) WITH (VALIDATE = false)")
    with pytest.raises(psycopg.Error, match="(?i)authentication"):
        sql(world, "VALIDATE CONNECTION unseen")
    with pytest.raises(psycopg.Error, match="refused"):
        sql(world, "CREATE CONNECTION nobody TO KAFKA (BROKER '127.0.0.1:1', SECURITY PROTOCOL = 'PLAINTEXT')")
    sql(world, "VALIDATE CONNECTION csr")
    with pytest.raises(psycopg.Error, match="401"):
        sql(world, f"CREATE CONNECTION stranger TO CONFLUENT SCHEMA REGISTRY (URL '{registry.url}')")


def test_sasl_source(world, broker, topic):
    broker.topic(topic)
    broker.send(topic, b"x")
    sql(world, "CREATE SECRET sasl_password AS 'p'")
    sql(world, f"CREATE CONNECTION sasl TO KAFKA (BROKERS ('{broker.sasl}'), SECURITY PROTOCOL = 'SASL_PLAINTEXT', SASL MECHANISMS = 'PLAIN', SASL USERNAME = 'u', SASL PASSWORD = SECRET sasl_password)")
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION sasl (TOPIC '{topic}') FORMAT TEXT")
    wait(world, f"SELECT * FROM {topic}", [("x",)])


def test_tls_on_both_sides(own, broker, topic):
    c = broker.certificates
    tls = kafka_broker.Registry(certificates=c)
    broker.topic(topic)
    broker.send(topic, framed(tls.register(f"{topic}-value", '"long"'), avro("long", 7)))
    sql(own, f"CREATE SECRET key AS '{c.client_key}'")
    sql(own, f"CREATE SECRET ca AS '{c.ca}'")
    client = f"SSL CERTIFICATE = '{c.client}', SSL KEY = SECRET key"
    sql(own, f"CREATE CONNECTION tk TO KAFKA (BROKER '{broker.tls}', SSL CERTIFICATE AUTHORITY = SECRET ca, {client})")        # SSL is the default protocol
    sql(own, f"CREATE CONNECTION tr TO CONFLUENT SCHEMA REGISTRY (URL '{tls.url}', SSL CERTIFICATE AUTHORITY = '{c.ca}', {client})")
    sql(own, f"CREATE SOURCE s FROM KAFKA CONNECTION tk (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION tr ENVELOPE NONE")
    wait(own, "SELECT * FROM s", [(7,)])
    with pytest.raises(psycopg.Error, match="(?i)certificate"):
        sql(own, f"CREATE CONNECTION x TO KAFKA (BROKER '{broker.tls}', {client})")                              # nobody vouches for the broker
    with pytest.raises(psycopg.Error, match="(?i)ssl|certificate|peer"):
        sql(own, f"CREATE CONNECTION y TO CONFLUENT SCHEMA REGISTRY (URL '{tls.url}', {client})")
    with pytest.raises(psycopg.Error):
        sql(own, f"CREATE CONNECTION z TO KAFKA (BROKER '{broker.tls}', SSL CERTIFICATE AUTHORITY = '{c.ca}')")      # and nobody for us
    tls.stop()


def test_a_registry_that_is_away_stalls(world, broker, registry, topic):
    broker.topic(topic)
    one = registry.register(f"{topic}-value", '"long"')
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION csr ENVELOPE NONE")
    two = registry.register(f"{topic}-value", '"int"')
    registry.down = True
    broker.send(topic, framed(two, avro("int", 7)), framed(one, avro("long", 8)))
    wait_stalled(world, topic, "schema registry")
    registry.down = False
    wait(world, f"SELECT * FROM {topic} ORDER BY 1", [(7,), (8,)])


def test_a_topic_that_is_made_anew_stalls(world, broker, topic):
    broker.topic(topic)
    broker.send(topic, *[b"old"] * 5)
    sql(world, f"CREATE SOURCE {topic} FROM KAFKA CONNECTION k (TOPIC '{topic}', TOPIC METADATA REFRESH INTERVAL '500ms') FORMAT TEXT")
    wait(world, f"SELECT count(*) FROM {topic}", [(5,)])
    broker.drop_topic(topic)
    wait_stalled(world, topic, "does not exist")
    broker.topic(topic)
    broker.send(topic, *[b"new"] * 2)
    error = wait_stalled(world, topic, "made anew", 60)
    assert "ends at 2" in error[1] and "create it anew" in str(error[2])
    assert sql(world, f"SELECT count(*), count(DISTINCT text) FROM {topic}") == [(5, 1)]


def test_messages_that_went_unread_stall(own, broker, topic):
    from confluent_kafka import TopicPartition
    broker.topic(topic)
    broker.send(topic, *[b"x"] * 5)
    sql(own, f"CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT TEXT")
    wait(own, "SELECT count(*) FROM s", [(5,)])
    own.stop()
    broker.send(topic, *[b"y"] * 5)
    admin = broker.admin()
    for f in admin.delete_records([TopicPartition(topic, 0, 8)]).values():
        f.result(30)
    own.start()
    assert "oldest there is now 8" in wait_stalled(own, "s", "some went unread")[1]


def test_compacted_topics_have_gaps(own, broker, topic):
    broker.topic(topic, cleanup_policy="compact", segment_ms=100, min_cleanable_dirty_ratio=0.01, max_compaction_lag_ms=500, segment_bytes=20000)
    for round in range(6):
        broker.send(topic, *[f"{round}-{i}".encode() + b"." * 500 for i in range(20)], key=b"same")
        time.sleep(0.3)
    broker.send(topic, b"last", key=b"other")
    from confluent_kafka import Consumer, TopicPartition
    seen = 121
    for _ in range(60):                                   # until the cleaner has been there
        c = Consumer({"bootstrap.servers": broker.plain, "group.id": "look", "auto.offset.reset": "earliest", "log_level": 0, "enable.partition.eof": True})
        c.assign([TopicPartition(topic, 0, 0)])
        seen = 0
        while True:
            m = c.poll(10)
            if m is None or m.error():
                break
            seen += 1
        c.close()
        if seen < 100:
            break
        time.sleep(0.5)
    assert seen < 100, "nothing was compacted"
    sql(own, f"CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC '{topic}') KEY FORMAT TEXT VALUE FORMAT TEXT ENVELOPE UPSERT")
    wait(own, "SELECT key, left(text, 4) FROM s ORDER BY 1", [("other", "last"), ("same", "5-19")])
    own.kill()
    own.start()
    broker.send(topic, b"more", key=b"third")
    wait(own, "SELECT key, left(text, 4) FROM s ORDER BY 1", [("other", "last"), ("same", "5-19"), ("third", "more")])


# ---- exactly once ---------------------------------------------------------------------------------------------------------------------------------------------


class Changes(threading.Thread):
    """Sends changes to an append-only topic (numbers) and to one by key; knows what both must come to. Idempotent: the broker may go away in between."""
    def __init__(self, broker, append, upsert, n, partitions, rate=None):
        super().__init__()
        self.broker, self.append, self.upsert, self.n, self.partitions, self.rate = broker, append, upsert, n, partitions, rate
        self.state, self.failed, self.sent = {}, [], 0

    def run(self):
        rnd = random.Random(7)
        p = self.broker.producer(**{"enable.idempotence": True, "message.timeout.ms": 300000})
        done = lambda e, m: self.failed.append(str(e)) if e else None
        for i in range(self.n):
            key = f"k{rnd.randrange(self.n // 20 + 1)}"
            value = None if rnd.random() < 0.1 else str(i)
            while True:
                try:
                    p.produce(self.append, str(i).encode(), partition=i % self.partitions, on_delivery=done)
                    break
                except BufferError:
                    p.poll(0.1)
            p.produce(self.upsert, value and value.encode(), key=key.encode(), partition=hash_of(key) % self.partitions, on_delivery=done)
            if value is None:
                self.state.pop(key, None)
            else:
                self.state[key] = i
            self.sent = i + 1
            if i % 1000 == 0:
                p.poll(0)
                if self.rate:
                    time.sleep(1000 / self.rate)
        left = p.flush(300)
        if left:
            self.failed.append(f"{left} were not sent")


def hash_of(key):
    return sum(key.encode())


def exactly_once(own, broker, topic, n, rate, rounds, restart_broker):
    broker.topic(topic + "_a", 3)
    broker.topic(topic + "_u", 3)
    sql(own, f"CREATE SOURCE a FROM KAFKA CONNECTION k (TOPIC '{topic}_a') FORMAT TEXT INCLUDE PARTITION, OFFSET")
    sql(own, f"CREATE SOURCE u FROM KAFKA CONNECTION k (TOPIC '{topic}_u') KEY FORMAT TEXT VALUE FORMAT TEXT ENVELOPE UPSERT")
    sql(own, "CREATE MATERIALIZED VIEW av AS SELECT count(*) AS n, sum(text::bigint) AS s FROM a")
    sql(own, "CREATE MATERIALIZED VIEW uv AS SELECT count(*) AS n, sum(text::bigint) AS s FROM u")
    changes = Changes(broker, topic + "_a", topic + "_u", n, 3, rate)
    changes.start()
    for i in range(rounds):
        time.sleep(random.Random(i).uniform(1, 3))
        if restart_broker and i % 4 == 3:
            (broker.kill if i % 8 == 3 else broker.stop)()
            time.sleep(1)
            broker.start()
        elif i % 2:
            own.stop()
            own.start()
        else:
            own.kill()
            own.start()
    changes.join()
    assert not changes.failed
    wait(own, "SELECT n::bigint, s::bigint FROM av", [(n, n * (n - 1) // 2)], 300)
    assert sql(own, "SELECT count(DISTINCT text), count(DISTINCT (partition, \"offset\")), max(\"offset\")::bigint FROM a")[0][:2] == (n, n)
    wait(own, "SELECT n::bigint, s::bigint FROM uv", [(len(changes.state), sum(changes.state.values()))], 300)
    assert dict(sql(own, "SELECT key, text::bigint FROM u")) == changes.state


def test_exactly_once_over_restarts(own, broker, topic):
    exactly_once(own, broker, topic, 20_000, 4000, 4, restart_broker=False)


@pytest.mark.long
def test_a_million_changes_over_restarts_of_both_sides(own, broker, topic):
    exactly_once(own, broker, topic, 1_000_000, 20_000, 24, restart_broker=True)


def test_a_broker_that_restarts(own, broker, topic):
    broker.topic(topic)
    broker.send(topic, b"1")
    sql(own, f"CREATE SOURCE s FROM KAFKA CONNECTION k (TOPIC '{topic}') FORMAT TEXT")
    wait(own, "SELECT * FROM s", [("1",)])
    broker.kill()
    wait_stalled(own, "s", "no broker can be reached")
    broker.start()
    broker.send(topic, b"2")
    wait(own, "SELECT * FROM s ORDER BY 1", [("1",), ("2",)], 60)
    wait(own, "SELECT status FROM mz_internal.mz_source_statuses WHERE name = 's'", [("running",)])
