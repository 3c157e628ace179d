# SPDX-License-Identifier: Apache-2.0
"""Who asks: root, IAM users, roles through STS, vended sessions; and what each of them holds in his hands."""
import json
import time

import boto3
import botocore.config
import botocore.exceptions
import psycopg

EVERYTHING = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
ACCOUNT = "123456789012"


def unique(prefix):
    return f"{prefix}{time.monotonic_ns()}"


class Person:
    """Keys, and clients that use them."""

    def __init__(self, server, key, secret, token=None, arn=None):
        self.server, self.key, self.secret, self.token, self.arn = server, key, secret, token, arn

    def client(self, service):
        return boto3.client(service, endpoint_url=self.server.lake, aws_access_key_id=self.key, aws_secret_access_key=self.secret, aws_session_token=self.token, region_name="us-east-1",
                            config=botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}, parameter_validation=False))

    def connect(self, dbname="spark"):
        return psycopg.connect(host="127.0.0.1", port=self.server.port, user=self.key, password=self.secret, dbname=dbname, autocommit=True)

    def sql(self, text, dbname="spark"):
        with self.connect(dbname) as c:
            cur = c.execute(text, prepare=False)
            while cur.nextset():
                pass
            return cur.fetchall() if cur.description else []


def root(server):
    return Person(server, server.key, server.secret, arn=f"arn:aws:iam::{ACCOUNT}:root")


def user(server, policy=EVERYTHING, name=None):
    iam = root(server).client("iam")
    name = name or unique("u")
    arn = iam.create_user(UserName=name)["User"]["Arn"]
    if policy:
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=json.dumps(policy))
    k = iam.create_access_key(UserName=name)["AccessKey"]
    return Person(server, k["AccessKeyId"], k["SecretAccessKey"], arn=arn)


def role(server, policy=EVERYTHING, name=None):
    """A role, and a session of it by root."""
    iam = root(server).client("iam")
    name = name or unique("r")
    trust = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root", "Service": "glue.amazonaws.com"}}]}
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    if policy:
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=json.dumps(policy))
    return assume(server, arn)


def assume(server, arn, by=None):
    by = by or user(server)
    c = by.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
    return Person(server, c["AccessKeyId"], c["SecretAccessKey"], c["SessionToken"], arn=arn)


def denied(call, *words, codes=("AccessDeniedException", "AccessDenied")):
    """The call ends in a refusal with these words."""
    try:
        call()
    except botocore.exceptions.ClientError as e:
        assert e.response["Error"]["Code"] in codes, e
        text = str(e)
    except psycopg.Error as e:
        text = str(e)
    else:
        raise AssertionError("not refused")
    for w in words:
        assert w in text, text
    return text
