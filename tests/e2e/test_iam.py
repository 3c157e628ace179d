# SPDX-License-Identifier: Apache-2.0
"""Users and roles at every door: what a policy allows works, what it does not is refused in AWS's words, and a change holds at once."""
import json
import time

import boto3
import botocore.config
import psycopg
import pytest
from botocore.exceptions import ClientError

from conftest import Server

ACCOUNT = "123456789012"


def client(server, service, keys=None, **more):
    keys = keys or {"AccessKeyId": server.key, "SecretAccessKey": server.secret}
    cfg = botocore.config.Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"})
    return boto3.client(service, endpoint_url=server.lake, region_name="us-east-1", aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"],
                        aws_session_token=keys.get("SessionToken"), config=cfg, **more)


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*", **s} for s in statements]})


def trust(principal, action="sts:AssumeRole", **more):
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": principal, "Action": action, **more}]})


def code(call, *a, **k):
    with pytest.raises(ClientError) as e:
        call(*a, **k)
    return e.value.response["Error"]["Code"], e.value.response["Error"]["Message"]


def connect(server, keys, **more):
    return psycopg.connect(host="127.0.0.1", port=server.port, user=keys["AccessKeyId"], password=keys["SecretAccessKey"], dbname="spark", autocommit=True, **more)


def sql_as(server, keys, text):
    with connect(server, keys) as c:
        cur = c.execute(text, prepare=False)
        return cur.fetchall() if cur.description else []


@pytest.fixture(scope="module")
def iam(server):
    return client(server, "iam")


@pytest.fixture(scope="module")
def sts(server):
    return client(server, "sts")


@pytest.fixture(scope="module")
def tables(server):
    """Two tables with rows, and a bucket."""
    server.sql("CREATE NAMESPACE glue_catalog.acl")
    server.sql("CREATE TABLE glue_catalog.acl.orders (id INT, amount INT) USING iceberg")
    server.sql("INSERT INTO glue_catalog.acl.orders VALUES (1, 10), (2, 20)")
    server.sql("CREATE TABLE glue_catalog.acl.secrets (id INT) USING iceberg")
    server.sql("INSERT INTO glue_catalog.acl.secrets VALUES (7)")
    s3 = server.s3()
    s3.create_bucket(Bucket="acl-bucket")
    s3.put_object(Bucket="acl-bucket", Key="open/a", Body=b"a")
    s3.put_object(Bucket="acl-bucket", Key="closed/b", Body=b"b")
    return server


def user(iam, name, *statements):
    iam.create_user(UserName=name)
    if statements:
        iam.put_user_policy(UserName=name, PolicyName="inline", PolicyDocument=policy(*statements))
    return iam.create_access_key(UserName=name)["AccessKey"]


def role(iam, sts, name, *statements, principal=None, **assume):
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust(principal or {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}))["Role"]["Arn"]
    if statements:
        iam.put_role_policy(RoleName=name, PolicyName="inline", PolicyDocument=policy(*statements))
    return arn, sts.assume_role(RoleArn=arn, RoleSessionName="test", **assume)["Credentials"]


READ_ORDERS = ({"Action": ["glue:GetTable", "glue:GetDatabase"], "Resource": [f"arn:aws:glue:us-east-1:{ACCOUNT}:catalog", f"arn:aws:glue:us-east-1:{ACCOUNT}:database/acl",
                                                                               f"arn:aws:glue:us-east-1:{ACCOUNT}:table/acl/orders"]},
               {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::*/acl.db/orders/*"})


def test_identity(server, iam, sts):
    assert sts.get_caller_identity()["Arn"] == f"arn:aws:iam::{ACCOUNT}:root"
    key = user(iam, "who")
    me = client(server, "sts", key).get_caller_identity()
    assert me["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/who" and me["UserId"].startswith("AIDA") and me["Account"] == ACCOUNT
    arn, creds = role(iam, sts, "who-role")
    me = client(server, "sts", creds).get_caller_identity()
    assert me["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/who-role/test" and me["UserId"].startswith("AROA") and me["UserId"].endswith(":test")


def test_s3_denied_and_allowed(tables, iam):
    key = user(iam, "s3user", {"Action": "s3:GetObject", "Resource": "arn:aws:s3:::acl-bucket/open/*"},
               {"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::acl-bucket", "Condition": {"StringLike": {"s3:prefix": "open/*"}}})
    s3 = client(tables, "s3", key)
    assert s3.get_object(Bucket="acl-bucket", Key="open/a")["Body"].read() == b"a"
    c, m = code(s3.get_object, Bucket="acl-bucket", Key="closed/b")
    assert c == "AccessDenied"
    assert m == (f"User: arn:aws:iam::{ACCOUNT}:user/s3user is not authorized to perform: s3:GetObject on resource: arn:aws:s3:::acl-bucket/closed/b "
                 "because no identity-based policy allows the s3:GetObject action")
    assert code(s3.put_object, Bucket="acl-bucket", Key="open/x", Body=b"x")[0] == "AccessDenied"
    assert [o["Key"] for o in s3.list_objects_v2(Bucket="acl-bucket", Prefix="open/")["Contents"]] == ["open/a"]
    assert code(s3.list_objects_v2, Bucket="acl-bucket")[0] == "AccessDenied"
    assert code(s3.list_buckets)[0] == "AccessDenied"
    iam.put_user_policy(UserName="s3user", PolicyName="home", PolicyDocument=policy({"Action": "s3:ListBucket", "Resource": "arn:aws:s3:::acl-bucket", "Condition": {
        "StringEquals": {"s3:prefix": ["", "home/"], "s3:delimiter": "/"}}}))
    assert [p["Prefix"] for p in s3.list_objects_v2(Bucket="acl-bucket", Prefix="", Delimiter="/")["CommonPrefixes"]] == ["closed/", "open/"]
    assert code(s3.list_objects_v2, Bucket="acl-bucket", Prefix="")[0] == "AccessDenied"            # without the delimiter it would show everything
    iam.put_user_policy(UserName="s3user", PolicyName="no", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Sid": "Never", "Effect": "Deny", "Action": "s3:*", "Resource": "*"}]}))
    c, m = code(s3.get_object, Bucket="acl-bucket", Key="open/a")
    assert "with an explicit deny in an identity-based policy" in m and "Never" in m


def test_bucket_policy(tables, iam):
    key = user(iam, "guest")
    s3, root = client(tables, "s3", key), tables.s3()
    assert code(s3.get_object, Bucket="acl-bucket", Key="open/a")[0] == "AccessDenied"
    arn = f"arn:aws:iam::{ACCOUNT}:user/guest"
    root.put_bucket_policy(Bucket="acl-bucket", Policy=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": arn}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acl-bucket/open/*"},
        {"Sid": "Frozen", "Effect": "Deny", "Principal": "*", "Action": "s3:DeleteObject", "Resource": "arn:aws:s3:::acl-bucket/*"}]}))
    try:
        assert s3.get_object(Bucket="acl-bucket", Key="open/a")["Body"].read() == b"a"
        assert code(s3.get_object, Bucket="acl-bucket", Key="closed/b")[0] == "AccessDenied"
        c, m = code(root.delete_object, Bucket="acl-bucket", Key="open/a")
        assert c == "AccessDenied" and "explicit deny in a resource-based policy" in m
    finally:
        root.delete_bucket_policy(Bucket="acl-bucket")
    assert code(s3.get_object, Bucket="acl-bucket", Key="open/a")[0] == "AccessDenied"


def test_source_address_and_bad_bucket_policies(tables, iam):
    key = user(iam, "local", {"Action": "s3:GetObject", "Condition": {"IpAddress": {"aws:SourceIp": "127.0.0.0/8"}}})
    client(tables, "s3", key).get_object(Bucket="acl-bucket", Key="open/a")
    iam.put_user_policy(UserName="local", PolicyName="inline", PolicyDocument=policy({"Action": "s3:GetObject", "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}}))
    assert code(client(tables, "s3", key).get_object, Bucket="acl-bucket", Key="open/a")[0] == "AccessDenied"
    for bad in ({"Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}, {"Statement": [{"Effect": "Maybe", "Principal": "*", "Action": "s3:*", "Resource": "*"}]}):
        assert code(tables.s3().put_bucket_policy, Bucket="acl-bucket", Policy=json.dumps(bad))[0] == "MalformedPolicy"


def test_table_buckets(tables, iam, sts):
    root = client(tables, "s3tables")
    bucket = root.create_table_bucket(name="acl-tables")["arn"]
    root.create_namespace(tableBucketARN=bucket, namespace=["sales"])
    tables.sql('CREATE TABLE `acl-tables`.sales.t (id INT) USING iceberg')
    tables.sql('INSERT INTO `acl-tables`.sales.t VALUES (1), (2)')
    table = root.get_table(tableBucketARN=bucket, namespace="sales", name="t")["tableARN"]
    arn, creds = role(iam, sts, "t-reader", {"Action": ["s3tables:GetTable", "s3tables:GetTableData", "s3tables:GetNamespace", "s3tables:GetTableMetadataLocation"], "Resource": [bucket, bucket + "/table/*"]})
    count = "SELECT count(*) FROM `acl-tables`.sales.t"
    assert sql_as(tables, creds, count) == [(2,)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="s3tables:PutTableData on resource: " + table):
        sql_as(tables, creds, "INSERT INTO `acl-tables`.sales.t VALUES (3)")
    assert code(client(tables, "s3tables", creds).delete_table, tableBucketARN=bucket, namespace="sales", name="t")[0] == "AccessDeniedException"
    # the table's policy gives, the bucket's takes
    key = user(iam, "t-guest")
    who = f"arn:aws:iam::{ACCOUNT}:user/t-guest"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        sql_as(tables, key, count)
    root.put_table_policy(tableBucketARN=bucket, namespace="sales", name="t", resourcePolicy=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": who}, "Action": "s3tables:*", "Resource": table}]}))
    assert sql_as(tables, key, count) == [(2,)]
    root.put_table_bucket_policy(tableBucketARN=bucket, resourcePolicy=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Sid": "Nobody", "Effect": "Deny", "Principal": {"AWS": who}, "Action": "s3tables:GetTableData", "Resource": bucket + "/*"}]}))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="explicit deny in a resource-based policy.*Nobody"):
        sql_as(tables, key, count)
    # files of the table are its data, at the S3 door too
    where = root.get_table(tableBucketARN=bucket, namespace="sales", name="t")["metadataLocation"]
    at = dict(zip(("Bucket", "Key"), where[len("s3://"):].split("/", 1)))
    assert client(tables, "s3", creds).get_object(**at)["ResponseMetadata"]["HTTPStatusCode"] == 200
    c, m = code(client(tables, "s3", creds).put_object, Bucket=at["Bucket"], Key="data/x", Body=b"x")
    assert c == "AccessDenied" and "s3tables:PutTableData" in m
    assert code(client(tables, "s3", user(iam, "s3-all", {"Action": "s3:*"})).get_object, **at)[0] == "AccessDenied"


def test_sql(tables, iam, sts):
    arn, creds = role(iam, sts, "reader", *READ_ORDERS)
    assert sql_as(tables, creds, "SELECT sum(amount) FROM glue_catalog.acl.orders") == [(30,)]
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="glue:GetTable on resource: .*table/acl/secrets because no identity-based policy"):
        sql_as(tables, creds, "SELECT * FROM glue_catalog.acl.secrets")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="glue:UpdateTable"):
        sql_as(tables, creds, "INSERT INTO glue_catalog.acl.orders VALUES (3, 30)")
    key = user(iam, "sqluser", {"Action": "glue:*"})
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="s3:GetObject"):
        sql_as(tables, key, "SELECT * FROM glue_catalog.acl.orders")
    iam.attach_user_policy(UserName="sqluser", PolicyArn="arn:aws:iam::aws:policy/AmazonS3FullAccess")
    sql_as(tables, key, "INSERT INTO glue_catalog.acl.orders VALUES (3, 30)")
    assert sql_as(tables, key, "SELECT count(*) FROM glue_catalog.acl.orders") == [(3,)]
    tables.sql("DELETE FROM glue_catalog.acl.orders WHERE id = 3")
    with pytest.raises(psycopg.OperationalError):
        sql_as(tables, {"AccessKeyId": creds["AccessKeyId"], "SecretAccessKey": "x" * 40}, "SELECT 1")


def test_open_sql_session_follows_changes(tables, iam, sts):
    arn, creds = role(iam, sts, "passing", *READ_ORDERS)
    key = user(iam, "keyed", *READ_ORDERS)
    query = "SELECT count(*) FROM glue_catalog.acl.orders"
    with connect(tables, creds) as a, connect(tables, key) as b:
        assert a.execute(query, prepare=False).fetchone() == (2,)
        assert b.execute(query, prepare=False).fetchone() == (2,)
        iam.update_access_key(UserName="keyed", AccessKeyId=key["AccessKeyId"], Status="Inactive")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not active"):
            b.execute(query, prepare=False)
        # what the console's "revoke older sessions" writes
        iam.put_role_policy(RoleName="passing", PolicyName="AWSRevokeOlderSessions", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
            {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"DateLessThan": {"aws:TokenIssueTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))}}}]}))
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="explicit deny"):
            a.execute(query, prepare=False)
        iam.delete_role_policy(RoleName="passing", PolicyName="AWSRevokeOlderSessions")
        assert a.execute(query, prepare=False).fetchone() == (2,)
        iam.delete_role_policy(RoleName="passing", PolicyName="inline")
        iam.delete_role(RoleName="passing")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no longer exists"):
            a.execute(query, prepare=False)
        iam.create_role(RoleName="passing", AssumeRolePolicyDocument=trust({"AWS": f"arn:aws:iam::{ACCOUNT}:root"}))
        iam.put_role_policy(RoleName="passing", PolicyName="inline", PolicyDocument=policy(*READ_ORDERS))
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="no longer exists"):      # another role of the same name
            a.execute(query, prepare=False)
    assert code(client(tables, "sts", creds).get_caller_identity)[0] == "InvalidClientTokenId"
    assert code(client(tables, "s3", key).list_buckets)[0] == "InvalidAccessKeyId"


def test_assume_role_conditions(server, iam, sts):
    root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    arn = iam.create_role(RoleName="partner", AssumeRolePolicyDocument=trust(root, Condition={"StringEquals": {"sts:ExternalId": "s3cret"}}))["Role"]["Arn"]
    c, m = code(sts.assume_role, RoleArn=arn, RoleSessionName="x1")
    assert c == "AccessDenied" and m == f"User: arn:aws:iam::{ACCOUNT}:root is not authorized to perform: sts:AssumeRole on resource: {arn}"
    assert code(sts.assume_role, RoleArn=arn, RoleSessionName="x1", ExternalId="wrong")[0] == "AccessDenied"
    sts.assume_role(RoleArn=arn, RoleSessionName="x1", ExternalId="s3cret")
    nowhere = f"arn:aws:iam::{ACCOUNT}:role/nowhere"
    assert code(sts.assume_role, RoleArn=nowhere, RoleSessionName="x1") == ("AccessDenied", m.replace(arn, nowhere))
    # named by its account, a user needs a policy of its own; named itself, it does not
    key = user(iam, "assumer")
    iam.create_role(RoleName="plain", AssumeRolePolicyDocument=trust(root))
    mine = client(server, "sts", key)
    plain = f"arn:aws:iam::{ACCOUNT}:role/plain"
    assert code(mine.assume_role, RoleArn=plain, RoleSessionName="x1")[0] == "AccessDenied"
    iam.put_user_policy(UserName="assumer", PolicyName="p", PolicyDocument=policy({"Action": "sts:AssumeRole", "Resource": plain}))
    mine.assume_role(RoleArn=plain, RoleSessionName="x1")
    iam.delete_user_policy(UserName="assumer", PolicyName="p")
    iam.update_assume_role_policy(RoleName="plain", PolicyDocument=trust({"AWS": f"arn:aws:iam::{ACCOUNT}:user/assumer"}))
    mine.assume_role(RoleArn=plain, RoleSessionName="x1")
    assert code(mine.assume_role, RoleArn=plain, RoleSessionName="x1", DurationSeconds=7200)[0] == "ValidationError"
    assert code(mine.assume_role, RoleArn=plain, RoleSessionName="x1", Tags=[{"Key": "team", "Value": "a"}])[0] == "AccessDenied"      # TagSession is not in the trust
    # who is named must be there, and one made anew under the name is another
    c, m = code(iam.update_assume_role_policy, RoleName="plain", PolicyDocument=trust({"AWS": f"arn:aws:iam::{ACCOUNT}:user/nobody-here"}))
    assert c == "MalformedPolicyDocument" and m == f'Invalid principal in policy: "AWS":"arn:aws:iam::{ACCOUNT}:user/nobody-here"'
    iam.delete_access_key(UserName="assumer", AccessKeyId=key["AccessKeyId"])
    iam.delete_user(UserName="assumer")
    mine = client(server, "sts", user(iam, "assumer"))
    assert code(mine.assume_role, RoleArn=plain, RoleSessionName="x1")[0] == "AccessDenied"
    iam.update_assume_role_policy(RoleName="plain", PolicyDocument=trust({"AWS": f"arn:aws:iam::{ACCOUNT}:user/assumer"}))
    mine.assume_role(RoleArn=plain, RoleSessionName="x1")
    iam.update_user(UserName="assumer", NewUserName="renamed", NewPath="/team/")
    assert mine.get_caller_identity()["Arn"] == f"arn:aws:iam::{ACCOUNT}:user/team/renamed"
    mine.assume_role(RoleArn=plain, RoleSessionName="x1")
    # only a service may take this one
    iam.create_role(RoleName="forglue", AssumeRolePolicyDocument=trust({"Service": "glue.amazonaws.com"}))
    assert code(sts.assume_role, RoleArn=f"arn:aws:iam::{ACCOUNT}:role/forglue", RoleSessionName="x1")[0] == "AccessDenied"


def test_session_tags_and_policies(tables, iam, sts):
    root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    arn = iam.create_role(RoleName="tagged", AssumeRolePolicyDocument=trust(root, ["sts:AssumeRole", "sts:TagSession"]))["Role"]["Arn"]
    iam.put_role_policy(RoleName="tagged", PolicyName="p", PolicyDocument=policy({"Action": "s3:GetObject", "Resource": "arn:aws:s3:::acl-bucket/${aws:PrincipalTag/folder}/*"}))
    creds = sts.assume_role(RoleArn=arn, RoleSessionName="x1", Tags=[{"Key": "folder", "Value": "open"}])["Credentials"]
    s3 = client(tables, "s3", creds)
    s3.get_object(Bucket="acl-bucket", Key="open/a")
    assert code(s3.get_object, Bucket="acl-bucket", Key="closed/b")[0] == "AccessDenied"
    creds = sts.assume_role(RoleArn=arn, RoleSessionName="x1", Tags=[{"Key": "folder", "Value": "open"}], Policy=policy({"Action": "s3:PutObject"}))["Credentials"]
    c, m = code(client(tables, "s3", creds).get_object, Bucket="acl-bucket", Key="open/a")
    assert c == "AccessDenied" and "no session policy allows" in m


def test_boundary(tables, iam):
    key = user(iam, "bounded", {"Action": "*"})
    arn = iam.create_policy(PolicyName="only-open", PolicyDocument=policy({"Action": "s3:*", "Resource": "arn:aws:s3:::acl-bucket/open/*"}))["Policy"]["Arn"]
    s3 = client(tables, "s3", key)
    s3.get_object(Bucket="acl-bucket", Key="closed/b")
    iam.put_user_permissions_boundary(UserName="bounded", PermissionsBoundary=arn)
    s3.get_object(Bucket="acl-bucket", Key="open/a")
    c, m = code(s3.get_object, Bucket="acl-bucket", Key="closed/b")
    assert "because no permissions boundary allows the s3:GetObject action" in m
    iam.delete_user_permissions_boundary(UserName="bounded")
    s3.get_object(Bucket="acl-bucket", Key="closed/b")


def test_a_second_root_key_that_is_deactivated(tables, iam):
    key = iam.create_access_key()["AccessKey"]
    with connect(tables, key) as c:
        c.execute("SELECT count(*) FROM glue_catalog.acl.orders", prepare=False)
        iam.update_access_key(AccessKeyId=key["AccessKeyId"], Status="Inactive")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not active"):
            c.execute("SELECT count(*) FROM glue_catalog.acl.orders", prepare=False)
    iam.delete_access_key(AccessKeyId=key["AccessKeyId"])


def test_groups_and_managed_policies(tables, iam):
    key = user(iam, "member")
    iam.create_group(GroupName="readers")
    iam.attach_group_policy(GroupName="readers", PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
    s3 = client(tables, "s3", key)
    assert code(s3.list_buckets)[0] == "AccessDenied"
    iam.add_user_to_group(GroupName="readers", UserName="member")
    s3.list_buckets()
    client(tables, "iam", key).list_users()
    assert code(client(tables, "iam", key).create_user, UserName="nobody")[0] == "AccessDenied"
    assert sql_as(tables, key, "SELECT count(*) FROM glue_catalog.acl.secrets") == [(1,)]
    iam.remove_user_from_group(GroupName="readers", UserName="member")
    assert code(s3.list_buckets)[0] == "AccessDenied"


def test_iceberg_rest_with_a_roles_keys(tables, iam, sts):
    arn, creds = role(iam, sts, "restreader", {"Action": ["glue:GetTable", "glue:GetDatabase", "glue:GetDatabases", "glue:GetTables"]})
    props = {"rest.sigv4-enabled": "true", "rest.signing-name": "glue", "rest.signing-region": "us-east-1", "client.access-key-id": creds["AccessKeyId"],
             "client.secret-access-key": creds["SecretAccessKey"], "client.session-token": creds["SessionToken"], "client.region": "us-east-1", "credential": ""}
    from pyiceberg.catalog import load_catalog
    cat = load_catalog("role", type="rest", uri=f"{tables.lake}/iceberg", warehouse=ACCOUNT, **{k: v for k, v in props.items() if v})
    assert ("acl", "orders") in cat.list_tables("acl")
    t = cat.load_table("acl.orders")
    assert sorted(t.scan().to_arrow()["id"].to_pylist()) == [1, 2]                    # by vended credentials: the table's rights suffice for its storage
    with pytest.raises(Exception, match="glue:UpdateTable|not authorized"):
        with t.transaction() as tx:
            tx.set_properties({"a": "b"})
    with pytest.raises(Exception, match="not authorized"):
        cat.create_table("acl.fresh", schema=t.schema())
    # OAuth2: a user's keys
    key = user(iam, "restuser", {"Action": "glue:Get*"})
    cat = tables.pyiceberg(credential=f"{key['AccessKeyId']}:{key['SecretAccessKey']}")
    assert sorted(cat.load_table("acl.orders").scan().to_arrow()["id"].to_pylist()) == [1, 2]
    iam.update_access_key(UserName="restuser", AccessKeyId=key["AccessKeyId"], Status="Inactive")
    with pytest.raises(Exception):
        cat.load_table("acl.orders")


def test_firn_sql_as_a_role(tables, iam):
    arn = iam.create_role(RoleName="job", AssumeRolePolicyDocument=trust({"Service": "glue.amazonaws.com"}))["Role"]["Arn"]
    iam.put_role_policy(RoleName="job", PolicyName="p", PolicyDocument=policy(*READ_ORDERS))
    assert tables.run("sql", "--as", arn, "--format", "csv", "-c", "SELECT sum(amount) AS s FROM glue_catalog.acl.orders", check=0).stdout == "s\n30\n"
    assert "is not authorized to perform: glue:GetTable" in tables.run("sql", "--as", arn, "-c", "SELECT * FROM glue_catalog.acl.secrets", check=1).stderr
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=trust({"Service": "ec2.amazonaws.com"}))
    assert "sts:AssumeRole" in tables.run("sql", "--as", arn, "-c", "SELECT 1").stderr
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=trust({"Service": "glue.amazonaws.com"}))
    key = user(iam, "passer")
    options = f"-c firn.role={arn}"
    with pytest.raises(psycopg.OperationalError, match="iam:PassRole"):
        connect(tables, key, options=options)
    iam.put_user_policy(UserName="passer", PolicyName="p", PolicyDocument=policy({"Action": "iam:PassRole", "Resource": arn, "Condition": {"StringEquals": {"iam:PassedToService": "glue.amazonaws.com"}}}))
    with connect(tables, key, options=options) as c:
        assert c.execute("SELECT current_user()", prepare=False).fetchone()[0] == f"arn:aws:sts::{ACCOUNT}:assumed-role/job/GlueJobRunnerSession"


def test_tokens(tables, iam, sts):
    key = user(iam, "tokened", {"Action": ["s3:*", "iam:*", "sts:*"]})
    mine = client(tables, "sts", key)
    creds = mine.get_session_token()["Credentials"]
    client(tables, "s3", creds).list_buckets()
    assert code(client(tables, "iam", creds).list_users)[0] == "AccessDenied"
    assert code(client(tables, "sts", creds).get_session_token)[0] == "AccessDenied"
    assert code(client(tables, "s3", {**creds, "SessionToken": "x" + creds["SessionToken"]}).list_buckets)[0] == "InvalidToken"
    fed = mine.get_federation_token(Name="bob", Policy=policy({"Action": "s3:GetObject"}))
    assert fed["FederatedUser"]["Arn"] == f"arn:aws:sts::{ACCOUNT}:federated-user/bob"
    client(tables, "s3", fed["Credentials"]).get_object(Bucket="acl-bucket", Key="open/a")
    assert code(client(tables, "s3", fed["Credentials"]).list_buckets)[0] == "AccessDenied"
    assert client(tables, "sts", fed["Credentials"]).get_caller_identity()["UserId"] == f"{ACCOUNT}:bob"


def test_simulator(iam):
    iam.create_user(UserName="simulated")
    iam.put_user_policy(UserName="simulated", PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [
        {"Sid": "Read", "Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::b/*", "Condition": {"StringEquals": {"aws:PrincipalTag/t": "1"}}},
        {"Sid": "No", "Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "*"}]}))
    arn = f"arn:aws:iam::{ACCOUNT}:user/simulated"
    r = iam.simulate_principal_policy(PolicySourceArn=arn, ActionNames=["s3:GetObject", "s3:DeleteObject", "s3:PutObject"], ResourceArns=["arn:aws:s3:::b/k"])["EvaluationResults"]
    assert [x["EvalDecision"] for x in r] == ["implicitDeny", "explicitDeny", "implicitDeny"]
    assert r[0]["MissingContextValues"] == ["aws:PrincipalTag/t"] and r[1]["MatchedStatements"][0]["SourcePolicyId"] == "p"
    text = json.dumps(iam.get_user_policy(UserName="simulated", PolicyName="p")["PolicyDocument"])
    m = r[1]["MatchedStatements"][0]
    assert json.loads(text[m["StartPosition"]["Column"]:m["EndPosition"]["Column"]])["Sid"] == "No" and m["StartPosition"]["Line"] == 1
    r = iam.simulate_principal_policy(PolicySourceArn=arn, ActionNames=["s3:GetObject"], ResourceArns=["arn:aws:s3:::b/k"],
                                      ContextEntries=[{"ContextKeyName": "aws:PrincipalTag/t", "ContextKeyValues": ["1"], "ContextKeyType": "string"}])["EvaluationResults"]
    assert r[0]["EvalDecision"] == "allowed"
    assert iam.get_context_keys_for_principal_policy(PolicySourceArn=arn)["ContextKeyNames"] == ["aws:PrincipalTag/t"]


def test_bad_policies(iam):
    assert code(iam.create_policy, PolicyName="bad", PolicyDocument="{") == ("MalformedPolicyDocument", "Syntax errors in policy.")
    assert code(iam.create_policy, PolicyName="bad", PolicyDocument=policy({"Action": "s3:Get*"}) + " " * 20480)[0] == "MalformedPolicyDocument"
    big = policy({"Action": ["s3:" + "x" * 100] * 100})
    assert code(iam.create_policy, PolicyName="bad", PolicyDocument=big)[0] == "LimitExceeded"
    assert code(iam.create_role, RoleName="bad", AssumeRolePolicyDocument=policy({"Action": "s3:Get*"}))[0] == "MalformedPolicyDocument"
    assert code(iam.create_user, UserName="a b")[0] == "ValidationError"
    assert code(iam.create_user, UserName="x" * 65)[0] == "ValidationError"
    assert code(iam.attach_user_policy, UserName="who", PolicyArn=f"arn:aws:iam::{ACCOUNT}:policy/none")[0] == "NoSuchEntity"
    assert code(iam.delete_policy, PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")[0] == "AccessDenied"


def sample(shape, name, variant):
    """A value of this shape: 0 plausible, 1 hostile."""
    if shape.type_name == "structure":
        return {k: sample(v, k, variant) for k, v in shape.members.items() if variant or k in shape.required_members}
    if shape.type_name == "list":
        return [sample(shape.member, name, variant)] * (1 if not variant else 3)
    if shape.type_name == "map":
        return {"k": sample(shape.value, name, variant)}
    if shape.type_name in ("integer", "long"):
        return 7 if not variant else 2**31 - 1
    if shape.type_name == "boolean":
        return True
    if shape.type_name == "timestamp":
        return 1700000000
    if variant:
        return "\u00e4<&>'\"%s${aws:username}/../*" * 3
    return {"Arn": f"arn:aws:iam::{ACCOUNT}:policy/nothing", "Document": policy({"Action": "s3:Get*"}), "List": "x"}.get(next((e for e in ("Arn", "Document") if name.endswith(e)), ""), "nothing-of-that-name")


@pytest.mark.parametrize("service", ["iam", "sts"])
def test_every_operation_answers(server, iam, service):
    """Whatever is sent, the answer is an error of the service's own or success; without rights it is a refusal."""
    powerless = user(iam, "powerless-" + service)
    cfg = dict(parameter_validation=False, retries={"max_attempts": 1})
    as_root, as_nobody = (boto3.client(service, endpoint_url=server.lake, region_name="us-east-1", aws_access_key_id=k["AccessKeyId"], aws_secret_access_key=k["SecretAccessKey"],
                                       config=botocore.config.Config(**cfg)) for k in ({"AccessKeyId": server.key, "SecretAccessKey": server.secret}, powerless))
    model = as_root.meta.service_model
    free = {"GetCallerIdentity", "GetSessionToken", "AssumeRoleWithSAML", "AssumeRoleWithWebIdentity"}
    seen = {}
    for op in model.operation_names:
        shape = model.operation_model(op).input_shape
        for variant, who in ((0, as_root), (1, as_root), (0, as_nobody)):
            if op.startswith("Delete") and who is as_root and variant == 0 and op == "DeleteAccountPasswordPolicy":
                continue
            try:
                who._make_api_call(op, sample(shape, "", variant) if shape else {})
                answer = "OK"
            except ClientError as e:
                answer = e.response["Error"]["Code"]
                assert e.response["ResponseMetadata"]["HTTPStatusCode"] < 500, (op, e)
            seen.setdefault(answer, []).append(op)
            if who is as_nobody and op not in free:
                assert answer != "OK", op
                assert answer in ("AccessDenied", "ValidationError", "UnsupportedOperation", "InvalidAction", "InvalidInput", "LimitExceeded", "SerializationException", "MalformedPolicyDocument", "NoSuchEntity", "MalformedCertificate"), (op, answer)
    assert len(seen.get("AccessDenied", [])) > (100 if service == "iam" else 3), seen
    if service == "iam":
        assert len(set(seen.get("InvalidAction", []))) < 40, seen["InvalidAction"]      # newer operations than the API that is implemented


def test_denials_are_logged(tables, iam):
    key = user(iam, "logged")
    code(client(tables, "s3", key).list_buckets)
    lines = [line for line in (tables.data.parent / (tables.data.name + ".log")).read_text().splitlines() if "access denied" in line and "user/logged" in line]
    assert len(lines) == 1 and "s3:ListAllMyBuckets" in lines[0] and "identity-based policy" in lines[0]


def test_survives_a_restart(tmp_path):
    s = Server(tmp_path / "data")
    try:
        iam, sts = client(s, "iam"), client(s, "sts")
        key = user(iam, "kept", {"Action": "s3:ListAllMyBuckets"})
        arn, creds = role(iam, sts, "keptrole", {"Action": "s3:ListAllMyBuckets"})
        s.stop()
        s.start()
        client(s, "s3", key).list_buckets()
        client(s, "s3", creds).list_buckets()
        assert code(client(s, "s3", creds).create_bucket, Bucket="nope")[0] == "AccessDenied"
    finally:
        s.stop()
