# SPDX-License-Identifier: Apache-2.0
"""Other people's suites against firn, through the scripts in FIRN_SUITES (make test-long; skipped where a suite's own source is not there).

Each script closes with `N passed, N failed, N skipped`.  What is known to differ, and why, is in the lists below; everything else must pass."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import Server

SUITES = os.environ.get("FIRN_SUITES")
SOURCES = pathlib.Path(os.environ.get("SUITES_HOME", pathlib.Path.home() / ".cache" / "firn-suites")) / "src"
pytestmark = [pytest.mark.long, pytest.mark.skipif(not SUITES, reason="FIRN_SUITES is not set")]

S3_DIFFERENT = {
    "test_object_set_get_unicode_metadata": "the client reads header bytes as Latin-1; the bytes come back as they were sent",
    "test_object_read_unreadable": "the key is valid UTF-8: absent, not malformed",
    "test_object_create_bad_contentlength_none": "the client adds the header again: the test cannot send what it means",
    "test_list_buckets_paginated": "wants an account without buckets; the warehouse's is there",
}
PYICEBERG_DIFFERENT = {
    "test_add_files_with_timestamp_tz_ns_fails": "writes outside of the table's prefix with credentials vended for it: refused",
    "test_rest_custom_namespace_separator": "needs a server whose separator is a dot: names with dots would be unreachable",
}

# By service of moto's suites.
MOTO_DIFFERENT = {
    "s3tables": {
        "test_update_table_metadata_location": "wants a location that does not end with .metadata.json; AWS documents that it must",
        "test_write_metadata_to_table": "wants a pointer to a file that is not table metadata: the table could not be read",
        "test_rename_table": "wants a namespace with a hyphen; AWS allows [0-9a-z_]",
    },
}


def summary(r):
    m = re.findall(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", r.stdout)
    assert m, r.stdout[-2000:] + r.stderr[-2000:]
    return int(m[-1][0]), int(m[-1][1]), r.stdout


def unexpected(text, known):
    failed = [line for line in text.splitlines() if line.startswith("FAILED ")]
    return [line for line in failed if not any(name in line for name in known)]


@pytest.mark.skipif(not shutil.which("mvn") or not shutil.which("java"), reason="needs Java and Maven")
def test_iceberg_rest_compatibility_kit(tmp_path):
    s = Server(tmp_path / "data", ["auth.iceberg=off", f"iceberg.file_root={'/tmp'}", f"warehouse=file:{tmp_path}/warehouse"])
    r = subprocess.run([f"{SUITES}/rck/run", f"{s.lake}/iceberg", "123456789012", "rck.requires-namespace-create=true"], capture_output=True, text=True, timeout=1500)
    passed, failed, text = summary(r)
    s.stop()
    assert failed == 0 and passed >= 144, text[-3000:]


@pytest.mark.skipif(not (SOURCES / "s3-tests").exists(), reason="needs a checkout of s3-tests")
def test_s3_tests(tmp_path):
    s = Server(tmp_path / "data")
    r = subprocess.run([f"{SUITES}/s3tests/run", s.lake, s.key, s.secret], capture_output=True, text=True, timeout=1800)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= 235 and not unexpected(text, S3_DIFFERENT), text[-3000:]


@pytest.mark.skipif(not (SOURCES / "iceberg-python").exists(), reason="needs a checkout of iceberg-python")
def test_pyiceberg(tmp_path):
    s = Server(tmp_path / "data", ["auth.iceberg=off", "warehouse=s3://warehouse"])
    s.s3().create_bucket(Bucket="warehouse")
    r = subprocess.run([f"{SUITES}/pyiceberg/run", f"{s.lake}/iceberg"], capture_output=True, text=True, timeout=1800)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= 560 and not unexpected(text, PYICEBERG_DIFFERENT), text[-3000:]


def moto(tmp_path, service, least):
    s = Server(tmp_path / "data", ["test.reset=on", "root.access_key_id=FOOBARKEY", "root.secret_access_key=FOOBARSECRET"])
    env = {**os.environ, "MOTO_RESET": f"{s.manage}/reset"}
    r = subprocess.run([f"{SUITES}/moto/run", s.lake.rsplit(":", 1)[1], service], capture_output=True, text=True, timeout=900, env=env)
    passed, _, text = summary(r)
    s.stop()
    assert passed >= least and not unexpected(text, MOTO_DIFFERENT.get(service, {})), text[-3000:]


needs_moto = pytest.mark.skipif(not (SOURCES / "moto").exists(), reason="needs a checkout of moto")


@needs_moto
def test_moto_s3tables(tmp_path):
    moto(tmp_path, "s3tables", 25)
