# SPDX-License-Identifier: Apache-2.0
"""Buckets as hosts below lake.domain, as SDKs address them by default."""
import socket

import boto3
import botocore.config
import botocore.exceptions
import pytest

from conftest import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("hosts") / "data", ["lake.domain=s3.firn.test"])
    yield s
    s.stop()


@pytest.fixture
def s3(server, monkeypatch):
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: real("127.0.0.1" if str(host).endswith(".firn.test") else host, *more, **named))
    port = server.lake.rsplit(":", 1)[1]
    return boto3.client("s3", endpoint_url=f"http://s3.firn.test:{port}", aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1",
                        config=botocore.config.Config(s3={"addressing_style": "virtual"}, retries={"max_attempts": 1}))


def test_objects_of_a_bucket_that_is_a_host(server, s3):
    s3.create_bucket(Bucket="by.host")
    s3.put_object(Bucket="by.host", Key="iceberg/a b", Body=b"x")             # not the REST catalog's path
    assert s3.get_object(Bucket="by.host", Key="iceberg/a b")["Body"].read() == b"x"
    assert [o["Key"] for o in s3.list_objects_v2(Bucket="by.host")["Contents"]] == ["iceberg/a b"]
    assert server.s3().get_object(Bucket="by.host", Key="iceberg/a b")["Body"].read() == b"x"      # the same bucket in a path
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "by.host", "Key": "iceberg/a b"})
    assert "by.host.s3.firn.test" in url


def test_a_foreign_host_is_no_bucket(server, s3):
    with pytest.raises(botocore.exceptions.ClientError) as e:
        s3.get_object(Bucket="nowhere", Key="k")
    assert e.value.response["Error"]["Code"] == "NoSuchBucket"
