# SPDX-License-Identifier: Apache-2.0
"""Tables written by other engines read as their makers' readers read them.

The fixtures carry relative or foreign locations.  Each is put into a bucket under a prefix of the same length as its old location, so that
paths inside metadata and manifests can be replaced byte by byte; Avro blocks are unpacked and packed again for that."""
import gzip
import importlib.util
import io
import json
import struct
import zlib

import pytest

from conftest import fixtures_folder

FOLDER = fixtures_folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="FIRN_FIXTURES is not set")
EXPECTED = json.loads((FOLDER / "expected.json").read_text()) if FOLDER else {}
NAMES = [k for k in EXPECTED if not k.startswith("_")]


def long_at(b):
    shift = value = 0
    while True:
        byte = b.read(1)[0]
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7


def long_bytes(n):
    n = (n << 1) ^ (n >> 63)
    out = bytearray()
    while n > 0x7F:
        out.append((n & 0x7F) | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def replace_in_avro(data, old, new):
    """The same container with `old` replaced by `new` (of equal length) in every block."""
    b = io.BytesIO(data)
    assert b.read(4) == b"Obj\x01"
    codec, start = b"null", 4
    while (n := long_at(b)) != 0:
        if n < 0:
            long_at(b)
        for _ in range(abs(n)):
            key = b.read(long_at(b))
            value = b.read(long_at(b))
            if key == b"avro.codec":
                codec = value
    sync = b.read(16)
    out = bytearray(data[:b.tell()].replace(old, new))
    while (head := b.read(1)):
        b.seek(-1, 1)
        count, block = long_at(b), b.read(long_at(b))
        assert b.read(16) == sync
        if codec == b"deflate":
            block = zlib.decompress(block, -15)
        else:
            assert codec == b"null", codec
        block = block.replace(old, new)
        if codec == b"deflate":
            c = zlib.compressobj(6, zlib.DEFLATED, -15)
            block = c.compress(block) + c.flush()
        out += long_bytes(count) + long_bytes(len(block)) + block + sync
    return bytes(out)


def replaced(path, data, old, new):
    if path.suffix == ".avro":
        return replace_in_avro(data, old, new)
    if path.suffix != ".json":
        return data
    packed = data[:2] == b"\x1f\x8b"
    metadata = json.loads((gzip.decompress(data) if packed else data).replace(old, new))
    metadata["location"] = new.decode()
    text = json.dumps(metadata).encode()
    return gzip.compress(text) if packed else text


def as_stored(value, kind):
    """A float's text is the shortest that gives the same 32 bits: back to those."""
    return struct.unpack("f", struct.pack("f", value))[0] if kind == "float" and value is not None else value


def metadata_text(path):
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data


@pytest.fixture(scope="module")
def bucket(server):
    server.s3().create_bucket(Bucket="fxt")
    server.sql("CREATE NAMESPACE glue_catalog.fixtures")
    return server


def old_location(metadata):
    """What the paths of the files begin with: not always the table's own location."""
    for s in metadata.get("snapshots", []):
        for path in [s.get("manifest-list")] + s.get("manifests", []):
            if path:
                return path.split("/metadata/")[0]
    return metadata["location"]


def load(server, name, i):
    want = EXPECTED[name]
    folder = FOLDER / name
    meta = folder / want["metadata"]
    old = old_location(json.loads(metadata_text(meta)))
    prefix = (f"t{i}" + "x" * 200)[: len(old) - len("s3://fxt/")]
    new = "s3://fxt/" + prefix
    assert len(new) == len(old)
    s3 = server.s3()
    for f in folder.rglob("*"):
        if f.is_file() and not f.name.endswith(".crc"):
            key = f"{prefix}/{f.relative_to(folder).as_posix()}"
            s3.put_object(Bucket="fxt", Key=key, Body=replaced(f, f.read_bytes(), old.encode(), new.encode()))
    server.sql(f"CALL glue_catalog.system.register_table(table => 'fixtures.t{i}', metadata_file => '{new}/{want['metadata']}')")
    return f"glue_catalog.fixtures.t{i}"


# expected.json has what DuckDB 1.5.5 read, which applied an equality delete of partition 0 to partition 1 as well (its makers have corrected that
# since).  The specification's scan planning: the delete file's partition must equal the data file's.
CORRECTED = {"iceberg/equality_delete_cross_partition/warehouse/ns/t": ["0\t999\tp0-k999", "1\t100\tp1-k100", "1\t888\tp1-k888"]}


@pytest.mark.parametrize("i", range(len(NAMES)), ids=[n.split("/")[-1] for n in NAMES])
def test_reads_as_expected(bucket, i):
    name = NAMES[i]
    want = EXPECTED[name]
    spec = importlib.util.spec_from_file_location("render", FOLDER / "render.py")
    render = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(render)
    table = load(bucket, name, i)
    rows = [[as_stored(v, c[1]) for v, c in zip(r, want["columns"])] for r in bucket.sql(f"SELECT * FROM {table}")]
    if name in CORRECTED:
        assert sorted(render.row(r, want["columns"]) for r in rows) == CORRECTED[name]
        return
    assert len(rows) == want["rows"]
    assert render.digest(rows, want["columns"]) == want["md5"], "\n".join(render.row(r, want["columns"]) for r in rows[:3])
