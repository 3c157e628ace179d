# SPDX-License-Identifier: Apache-2.0
"""Connections of the SQL door: each rule with its words, secrets by reference, ALTER, VALIDATE, and catalogs that lie, stall or refuse."""
import base64
import json
import socket
import threading
import time
import urllib.parse

import boto3
import psycopg
import pytest

from catalog_door import Stub, say
from conftest import Server

KEY = "wJalrXUtnFEMI-very-secret-key-0123456789"
ARN = "arn:aws:iam::123456789012:role/R"
BUCKET = "arn:aws:s3tables:us-east-1:123456789012:bucket/b"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("connections") / "data", ["log.level=debug"])
    yield s
    s.stop()


@pytest.fixture(scope="module")
def db(server):
    with server.connect("materialize") as c:
        c.execute(f"CREATE SECRET k AS '{KEY}'")
        c.execute("CREATE SECRET cred AS 'id:the-oauth-secret-of-ours/+='")
        c.execute("CREATE TABLE t (a int)")
        c.execute(f"CREATE CONNECTION role TO AWS (ASSUME ROLE ARN '{ARN}', REGION = 'us-east-1')")
        c.execute("CREATE CONNECTION keys TO AWS (ACCESS KEY ID = 'AKIDX', SECRET ACCESS KEY = SECRET k, ENDPOINT 'localhost:1')")
        yield c


def rows(db, sql):
    return db.execute(sql, prepare=False).fetchall()


def fails(db, sql, *words, detail=None, hint=None):
    with pytest.raises(psycopg.Error) as e:
        db.execute(sql)
    for w in words:
        assert w in e.value.diag.message_primary, e.value.diag.message_primary
    if detail:
        assert detail in (e.value.diag.message_detail or ""), e.value.diag.message_detail
    if hint:
        assert hint in (e.value.diag.message_hint or ""), e.value.diag.message_hint
    return e.value


# ---- rules and their words -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, message", [
    ("BROKER 'a:1', URL 'http://x'", "AWS connections do not support BROKER, URL values"),
    ("ACCESS KEY ID 'x'", "must specify both ACCESS KEY ID and SECRET ACCESS KEY with optional SESSION TOKEN"),
    ("SECRET ACCESS KEY = SECRET k", "must specify both ACCESS KEY ID and SECRET ACCESS KEY with optional SESSION TOKEN"),
    ("SESSION TOKEN 'x'", "must specify both ACCESS KEY ID and SECRET ACCESS KEY with optional SESSION TOKEN"),
    ("ASSUME ROLE SESSION NAME 'x'", "must specify ASSUME ROLE ARN with optional ASSUME ROLE SESSION NAME"),
    ("REGION 'us-east-1'", "must specify either ASSUME ROLE ARN or ACCESS KEY ID and SECRET ACCESS KEY"),
    (f"ACCESS KEY ID 'x', SECRET ACCESS KEY SECRET k, ASSUME ROLE ARN '{ARN}'", "cannot specify both ACCESS KEY ID and ASSUME ROLE ARN"),
    ("ACCESS KEY ID 'x', SECRET ACCESS KEY 'plain'", "invalid SECRET ACCESS KEY option value: must provide a secret value"),
    ("REGION 'a', REGION 'b'", "REGION specified more than once"),
    ("REGION 5", "invalid REGION option value: cannot use value as string"),
    ("ACCESS KEY ID SECRET nope", "unknown catalog item 'nope'"),
    ("ACCESS KEY ID 'x', SECRET ACCESS KEY SECRET t", "t is not a secret"),
])
def test_aws_rules(db, options, message):
    fails(db, f"CREATE CONNECTION bad TO AWS ({options})", message)
    assert rows(db, "SELECT count(*) FROM mz_connections WHERE name = 'bad'") == [(0,)]


S3T = f"CATALOG TYPE 's3tablesrest', URL 'http://localhost:1', WAREHOUSE '{BUCKET}', AWS CONNECTION role"


@pytest.mark.parametrize("options, message", [
    ("URL 'http://x', BROKER 'a:1'", "ICEBERG CATALOG connections do not support BROKER values"),
    ("URL 'http://x'", "invalid CONNECTION: ICEBERG connections must specify CATALOG TYPE"),
    ("CATALOG TYPE 'hive', URL 'http://x'", "invalid CATALOG TYPE option value"),
    ("CATALOG TYPE 'rest'", "invalid CONNECTION: must specify URL"),
    ("CATALOG TYPE 'rest', URL 'nonsense'", "parsing Iceberg catalog url: "),
    (f"{S3T}, OAUTH2 SERVER URL 'http://x'", "invalid CONNECTION: ICEBERG s3tablesrest connections do not support OAUTH2 SERVER URL"),
    (f"{S3T}, ACCESS DELEGATION 'vended-credentials'", "invalid CONNECTION: ICEBERG s3tablesrest connections do not support ACCESS DELEGATION"),
    (f"{S3T}, STORAGE PROVIDER 's3'", "invalid CONNECTION: ICEBERG s3tablesrest connections do not support STORAGE PROVIDER"),
    ("CATALOG TYPE 's3tablesrest', URL 'http://x', AWS CONNECTION role", "invalid CONNECTION: ICEBERG s3tablesrest connections must specify WAREHOUSE"),
    ("CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w'", "invalid CONNECTION: ICEBERG s3tablesrest connections require an AWS connection"),
    ("CATALOG TYPE 'rest', URL 'http://x', AWS CONNECTION role", "invalid CONNECTION: ICEBERG rest connections do not support AWS CONNECTION.\n\nTry s3tablesrest instead."),
    ("CATALOG TYPE 'rest', URL 'http://x'", "invalid CONNECTION: ICEBERG rest connections require a CREDENTIAL or GCP CONNECTION"),
    ("CATALOG TYPE 'rest', URL 'http://x', CREDENTIAL SECRET cred, STORAGE PROVIDER 'azure'", "invalid iceberg storage provider, expected 's3', 'gcs', or 'adls'"),
    ("CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w', AWS CONNECTION t", "t is not a connection"),
])
def test_iceberg_rules(db, options, message):
    fails(db, f"CREATE CONNECTION bad TO ICEBERG CATALOG ({options})", message)


def test_iceberg_plan_time_acceptance(db):
    """The 20th and 21st of the upstream tests: accepted, and defaults stay out of SHOW CREATE."""
    for i, (more, shown) in enumerate([("OAUTH2 SERVER URL 'https://auth.example.com/token'", "OAUTH2 SERVER URL = 'https://auth.example.com/token', "), ("", ""),
                                       ("STORAGE PROVIDER 'GCS'", "STORAGE PROVIDER = 'GCS', "), ("STORAGE PROVIDER 'adls'", "STORAGE PROVIDER = 'adls', ")]):
        more = f", {more}" if more else ""
        db.execute(f"CREATE CONNECTION plan{i} TO ICEBERG CATALOG (CATALOG TYPE = 'REST', URL = 'https://catalog.example.com', CREDENTIAL = SECRET cred, WAREHOUSE = 'wh'{more}) WITH (VALIDATE = false)")
        assert rows(db, f"SHOW CREATE CONNECTION plan{i}") == [(f"materialize.public.plan{i}",
            f"CREATE CONNECTION materialize.public.plan{i} TO ICEBERG CATALOG (CATALOG TYPE = 'rest', CREDENTIAL = SECRET materialize.public.cred, {shown}URL = 'https://catalog.example.com', WAREHOUSE = 'wh');")]
        db.execute(f"DROP CONNECTION plan{i}")
    db.execute("CREATE CONNECTION other TO KAFKA (BROKER 'k:9092', SECURITY PROTOCOL PLAINTEXT) WITH (VALIDATE = false)")
    fails(db, "CREATE CONNECTION bad TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w', AWS CONNECTION other)", "other is not an AWS connection")
    db.execute("DROP CONNECTION other")


BIGLAKE = "https://biglake.googleapis.com/iceberg/v1/restcatalog"


@pytest.fixture
def gcp(db):
    db.execute("CREATE SECRET account AS '{\"type\": \"service_account\", \"client_email\": \"x@y.iam.gserviceaccount.com\", \"private_key\": \"not-one-not-one\", \"token_uri\": \"https://evil.example/token\"}'")
    db.execute("CREATE CONNECTION google TO GCP (SERVICE ACCOUNT KEY = SECRET account)")
    yield db
    db.execute("DROP CONNECTION google")
    db.execute("DROP SECRET account")


@pytest.mark.parametrize("options, message", [
    (f"URL '{BIGLAKE}', GCP CONNECTION google, CREDENTIAL SECRET cred", "invalid CONNECTION: ICEBERG rest connections may set CREDENTIAL or GCP CONNECTION, not both"),
    (f"URL '{BIGLAKE}', GCP CONNECTION google, OAUTH2 SERVER URL 'https://x'", "invalid CONNECTION: OAUTH2 SERVER URL applies to CREDENTIAL auth, not GCP CONNECTION"),
    (f"URL '{BIGLAKE}', GCP CONNECTION google, STORAGE PROVIDER 's3'", "invalid CONNECTION: ICEBERG GCP CONNECTION implies STORAGE PROVIDER 'gcs', not 's3'"),
    *((f"URL '{url}', GCP CONNECTION google", f"GCP connection can only be used with '{BIGLAKE}'") for url in (
        "https://evil.example/iceberg/v1/restcatalog", "http://biglake.googleapis.com/iceberg/v1/restcatalog", BIGLAKE + "/x", "https://biglake.googleapis.com.evil.example/iceberg/v1/restcatalog")),
    (f"URL '{BIGLAKE}', GCP CONNECTION role", "role is not a GCP connection"),
    (f"URL '{BIGLAKE}', GCP CONNECTION nope", "unknown catalog item 'nope'"),
])
def test_gcp_rules(gcp, options, message):
    """The 22nd of the upstream tests: a token of Google's goes to Google alone."""
    fails(gcp, f"CREATE CONNECTION bad TO ICEBERG CATALOG (CATALOG TYPE 'rest', WAREHOUSE 'w', {options}) WITH (VALIDATE = false)", message)


def test_gcp(gcp):
    fails(gcp, "CREATE CONNECTION bad TO GCP (SERVICE ACCOUNT KEY = 'plain')", "invalid SERVICE ACCOUNT KEY option value: must provide a secret value")
    fails(gcp, "CREATE CONNECTION bad TO GCP (REGION = 'x')", "GCP connections do not support REGION values")
    fails(gcp, f"CREATE CONNECTION bad TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w', AWS CONNECTION role, GCP CONNECTION google)",
          "invalid CONNECTION: ICEBERG s3tablesrest connections do not support GCP CONNECTION")
    assert rows(gcp, "SHOW CREATE CONNECTION google") == [("materialize.public.google", "CREATE CONNECTION materialize.public.google TO GCP (SERVICE ACCOUNT KEY = SECRET materialize.public.account);")]
    assert rows(gcp, "SELECT type FROM mz_connections WHERE name = 'google'") == [("gcp",)] and ("google", "gcp") in [r[:2] for r in rows(gcp, "SHOW CONNECTIONS")]
    for more in ("", ", STORAGE PROVIDER 'GCS'"):
        gcp.execute(f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{BIGLAKE}', WAREHOUSE = 'gs://w', GCP CONNECTION google{more}) WITH (VALIDATE = false)")
        shown = ", STORAGE PROVIDER = 'GCS'" if more else ""
        assert rows(gcp, "SHOW CREATE CONNECTION lake")[0][1] == (
            f"CREATE CONNECTION materialize.public.lake TO ICEBERG CATALOG (CATALOG TYPE = 'rest', GCP CONNECTION = materialize.public.google{shown}, URL = '{BIGLAKE}', WAREHOUSE = 'gs://w');")
        fails(gcp, "DROP CONNECTION google", "still depended upon by connection \"lake\"")
        e = fails(gcp, "VALIDATE CONNECTION lake", "the token_uri of a service account key must be https:// of googleapis.com")        # nothing is sent anywhere
        assert "not-one" not in str(e)
        gcp.execute("DROP CONNECTION lake")
    gcp.execute("ALTER SECRET account AS '{\"type\": \"service_account\", \"client_email\": \"x@y\", \"private_key\": \"not-one-not-one\"}'")
    e = fails(gcp, f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{BIGLAKE}', GCP CONNECTION google)", "the private key is no RSA key")
    assert "not-one" not in str(e)


@pytest.mark.parametrize("to, message", [
    ("KAFKA (SECURITY PROTOCOL PLAINTEXT)", "invalid CONNECTION: must set one of BROKER, BROKERS, or AWS PRIVATELINK"),
    ("KAFKA (BROKER 'a:1', BROKERS ('b:1'))", "invalid CONNECTION: can only set one of BROKER, BROKERS, or AWS PRIVATELINK"),
    ("KAFKA (BROKER 'a:1,b:2', SECURITY PROTOCOL PLAINTEXT)", "invalid CONNECTION: cannot specify multiple Kafka broker addresses in one string."),
    ("KAFKA (BROKER 'a:1', SECURITY PROTOCOL 'tls')", "unknown security protocol: TLS"),
    ("KAFKA (BROKER 'a:1', SASL USERNAME 'u')", "SASL MECHANISMS must be specified"),
    ("KAFKA (BROKER 'a:1', SASL MECHANISMS PLAIN, SASL USERNAME 'u')", "SASL PASSWORD must be specified"),
    ("KAFKA (BROKER 'a:1', SSL CERTIFICATE 'x')", "SSL KEY must be specified with SSL CERTIFICATE"),
    ("KAFKA (BROKER 'a:1', SECURITY PROTOCOL PLAINTEXT, SSL KEY SECRET k)", "option SSL KEY not supported with this configuration"),
    ("KAFKA (BROKER 'a:1', SECURITY PROTOCOL SSL, SASL USERNAME 'u')", "option SASL USERNAME not supported with this configuration"),
    ("KAFKA (BROKER 'a:1', SECURITY PROTOCOL PLAINTEXT, PROGRESS TOPIC REPLICATION FACTOR 0)", "PROGRESS TOPIC REPLICATION FACTOR must be greater than 0"),
    ("CONFLUENT SCHEMA REGISTRY (USER 'u')", "invalid CONNECTION: must specify URL"),
    ("CONFLUENT SCHEMA REGISTRY (URL 'http://x/sub')", "invalid CONNECTION: URL must have an empty path"),
    ("POSTGRES (HOST 'h', USER 'u')", "DATABASE option is required"),
    ("POSTGRES (DATABASE 'd', USER 'u')", "HOST option is required"),
    ("POSTGRES (HOST 'h', DATABASE 'd')", "USER option is required"),
    ("POSTGRES (HOST 'h', DATABASE 'd', USER 'u', SSL MODE 'prefer')", 'invalid CONNECTION: unknown SSL MODE "prefer"'),
    ("POSTGRES (HOST 'h', DATABASE 'd', USER 'u', SSL KEY SECRET k)", "invalid CONNECTION: both SSL KEY and SSL CERTIFICATE are required"),
    ("POSTGRES (HOST 'h', DATABASE 'd', USER 'u', PORT 99999)", "invalid PORT option value"),
    ("POSTGRES (HOST 'h', DATABASE 'd', USER 'u', PASSWORD 'plain')", "invalid PASSWORD option value: must provide a secret value"),
    ("MYSQL (HOST 'h', USER 'u')", "MYSQL connections are not supported"),
    ("SQL SERVER (HOST 'h', USER 'u', DATABASE 'd', PASSWORD SECRET k)", "SQL SERVER connections are not supported"),
    ("SSH TUNNEL (HOST 'h', USER 'u')", "SSH TUNNEL connections are not supported"),
    ("AWS PRIVATELINK (SERVICE NAME 'n', AVAILABILITY ZONES ('z'))", "AWS PRIVATELINK connections are not supported"),
])
def test_rules_of_sources(db, to, message):
    fails(db, f"CREATE CONNECTION bad TO {to} WITH (VALIDATE = false)", message)


def test_names(db):
    fails(db, f"CREATE CONNECTION role TO AWS (ASSUME ROLE ARN '{ARN}')", 'connection "materialize.public.role" already exists')
    db.execute(f"CREATE CONNECTION IF NOT EXISTS role TO AWS (ASSUME ROLE ARN '{ARN}')")
    fails(db, "VALIDATE CONNECTION nope", "unknown catalog item 'nope'")
    fails(db, "VALIDATE CONNECTION t", "is not a connection")
    fails(db, "DROP SECRET k", 'cannot drop secret "k": still depended upon by connection "keys"')
    assert rows(db, "SELECT name, type FROM mz_connections ORDER BY 1") == [("keys", "aws"), ("role", "aws")]


def test_aws_connections_are_shown(db):
    ids = dict(rows(db, "SELECT name, id FROM mz_objects WHERE name IN ('role', 'keys', 'k')"))
    role, = rows(db, f"SELECT * FROM mz_internal.mz_aws_connections WHERE id = '{ids['role']}'")
    assert role[1:3] == (None, "us-east-1") and role[8] == ARN and role[11].endswith("_" + ids["role"])
    keys, = rows(db, f"SELECT * FROM mz_internal.mz_aws_connections WHERE id = '{ids['keys']}'")
    assert keys == (ids["keys"], "localhost:1", None, "AKIDX", None, ids["k"], None, None, None, None, None, None, None)


def test_names_follow_a_rename(db):
    db.execute("ALTER SECRET k RENAME TO k2")
    assert "SECRET ACCESS KEY = SECRET materialize.public.k2" in rows(db, "SHOW CREATE CONNECTION keys")[0][1]
    db.execute("ALTER SECRET k2 RENAME TO k")


def test_rights(server, db):
    """CREATE on the schema makes connections; secrets and connections in them ask for USAGE; altering is the owner's."""
    iam = boto3.client("iam", endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    iam.create_user(UserName="mia")
    key = iam.create_access_key(UserName="mia")["AccessKey"]
    mia = psycopg.connect(host="127.0.0.1", port=server.port, user=key["AccessKeyId"], password=key["SecretAccessKey"], dbname="materialize", autocommit=True)
    role_of_account = iam.create_role(RoleName="of-the-account", AssumeRolePolicyDocument=trusting("arn:aws:iam::123456789012:root"))["Role"]["Arn"]
    make = "CREATE CONNECTION hers TO AWS (ACCESS KEY ID = 'x', SECRET ACCESS KEY = SECRET k)"

    def refused(sql, *words):
        assert fails(mia, sql, *words).sqlstate == "42501"
    refused(make, "permission denied for")
    db.execute("GRANT CREATE ON SCHEMA public TO mia")
    refused(make, "permission denied for SECRET")
    db.execute("GRANT USAGE ON SECRET k TO mia")
    mia.execute(make)
    refused("VALIDATE CONNECTION role", "permission denied for CONNECTION")
    refused("ALTER CONNECTION role SET (REGION = 'x')", "must be owner of CONNECTION")
    refused("CREATE CONNECTION cat TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w', AWS CONNECTION role) WITH (VALIDATE = false)", "permission denied for CONNECTION")
    db.execute("GRANT USAGE ON CONNECTION role TO mia")
    mia.execute("CREATE CONNECTION cat TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'http://x', WAREHOUSE 'w', AWS CONNECTION role) WITH (VALIDATE = false)")
    mia.execute(f"CREATE CONNECTION up TO AWS (ASSUME ROLE ARN = '{role_of_account}', ENDPOINT = '{server.lake}')")
    fails(mia, "VALIDATE CONNECTION up", "not authorized to perform: sts:AssumeRole")          # she may not become who trusts the account
    mia.execute("DROP CONNECTION hers, cat, up")
    mia.close()
    db.execute("REVOKE CREATE ON SCHEMA public FROM mia")


# ---- ALTER ------------------------------------------------------------------------------------------------------------------------------------


def test_alter(db):
    db.execute(f"CREATE CONNECTION a TO AWS (ASSUME ROLE ARN '{ARN}', REGION 'us-east-1')")
    fails(db, "ALTER CONNECTION a SET (REGION 'x'), RESET (REGION)", "cannot both SET and DROP/RESET options REGION")
    fails(db, "ALTER CONNECTION a SET (BROKER 'x')", "AWS connections do not support BROKER values")
    fails(db, "ALTER CONNECTION a DROP (BROKER)", "AWS connections do not support BROKER values")
    fails(db, "ALTER CONNECTION a DROP (ASSUME ROLE ARN)", "must specify either ASSUME ROLE ARN or ACCESS KEY ID and SECRET ACCESS KEY")
    db.execute("ALTER CONNECTION a SET (REGION 'eu-west-1', ASSUME ROLE SESSION NAME 'me')")
    assert "ASSUME ROLE SESSION NAME = 'me', REGION = 'eu-west-1'" in rows(db, "SHOW CREATE CONNECTION a")[0][1]
    db.execute("ALTER CONNECTION a DROP (REGION), RESET (ASSUME ROLE SESSION NAME)")
    assert rows(db, "SHOW CREATE CONNECTION a")[0][1] == f"CREATE CONNECTION materialize.public.a TO AWS (ASSUME ROLE ARN = '{ARN}');"
    assert rows(db, "SHOW REDACTED CREATE CONNECTION a")[0][1] == "CREATE CONNECTION materialize.public.a TO AWS (ASSUME ROLE ARN = '<REDACTED>');"
    fails(db, "ALTER CONNECTION nope SET (REGION 'x')", "unknown catalog item 'nope'")
    db.execute("ALTER CONNECTION IF EXISTS nope SET (REGION 'x')")
    db.execute(f"CREATE CONNECTION i TO ICEBERG CATALOG ({S3T}) WITH (VALIDATE = false)")
    fails(db, "ALTER CONNECTION i SET (WAREHOUSE 'w')", "cannot be altered in the requested way", hint="drop and recreate")
    db.execute("DROP CONNECTION a")
    db.execute("DROP CONNECTION i")


# ---- AWS, tried -----------------------------------------------------------------------------------------------------------------------------------


def test_validation_says_which_step(server, db):
    fails(db, "VALIDATE CONNECTION role", "internal error: no AWS connection role configured", hint="ENDPOINT")
    fails(db, "VALIDATE CONNECTION keys", "sts:GetCallerIdentity")
    db.execute(f"CREATE CONNECTION mine TO AWS (ACCESS KEY ID '{server.key}', SECRET ACCESS KEY SECRET k, ENDPOINT '{server.lake}')")
    fails(db, "VALIDATE CONNECTION mine", "sts:GetCallerIdentity", "signature")
    db.execute(f"ALTER SECRET k AS '{server.secret}'")
    db.execute("VALIDATE CONNECTION mine")
    db.execute(f"CREATE CONNECTION nobody TO AWS (ASSUME ROLE ARN 'arn:aws:iam::123456789012:role/nobody', ENDPOINT '{server.lake}')")
    fails(db, "VALIDATE CONNECTION nobody", "assuming role arn:aws:iam::123456789012:role/nobody", "not authorized to perform: sts:AssumeRole", hint="example_trust_policy")
    db.execute(f"ALTER SECRET k AS '{KEY}'")
    fails(db, "VALIDATE CONNECTION mine", "signature")                            # the new secret holds from the next use on


def trusting(who, external_id=None):
    st = {"Effect": "Allow", "Principal": {"AWS": who}, "Action": "sts:AssumeRole"}
    if external_id:
        st["Condition"] = {"StringEquals": {"sts:ExternalId": external_id}}
    return json.dumps({"Version": "2012-10-17", "Statement": [st]})


def there(server):
    try:
        return server.sql("SELECT count(*) FROM elsewhere.made_on_demand.t")[0][0]
    except psycopg.errors.UndefinedTable:
        return None


def test_an_account_elsewhere(server, tmp_path):
    """As with AWS itself: firn's own key there takes firn's own role, that one the user's."""
    def api(service):
        return boto3.client(service, endpoint_url=server.lake, aws_access_key_id=server.key, aws_secret_access_key=server.secret, region_name="us-east-1")
    iam, tables = api("iam"), api("s3tables")
    user = iam.create_user(UserName="firn")["User"]["Arn"]
    key = iam.create_access_key(UserName="firn")["AccessKey"]
    jump = iam.create_role(RoleName="FirnConnection", AssumeRolePolicyDocument=trusting(user))["Role"]["Arn"]
    iam.put_role_policy(RoleName="FirnConnection", PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"}]}))
    bucket = tables.create_table_bucket(name="elsewhere")["arn"]
    target = iam.create_role(RoleName="target", AssumeRolePolicyDocument=trusting(jump, "PENDING"))["Role"]["Arn"]
    iam.put_role_policy(RoleName="target", PolicyName="p", PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3tables:*", "Resource": [bucket, bucket + "/table/*"]}]}))
    s = Server(tmp_path / "data", [f"aws.endpoint={server.lake}", f"aws.connection_role_arn={jump}", f"aws.access_key_id={key['AccessKeyId']}", f"aws.secret_access_key={key['SecretAccessKey']}"])
    try:
        with s.connect("materialize") as db:
            db.execute(f"CREATE CONNECTION c TO AWS (ASSUME ROLE ARN = '{target}', REGION = 'us-east-1')")
            ((principal, external_id),) = rows(db, "SELECT principal, external_id FROM mz_internal.mz_aws_connections")
            assert principal == jump
            fails(db, "VALIDATE CONNECTION c", f"assuming role {target}")
            iam.update_assume_role_policy(RoleName="target", PolicyDocument=trusting(jump, external_id))
            db.execute("VALIDATE CONNECTION c")
            db.execute(f"CREATE CONNECTION i TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE '{bucket}', AWS CONNECTION c)")
            db.execute("CREATE TABLE t (a int)")
            db.execute("INSERT INTO t VALUES (1), (2)")
            db.execute("CREATE SINK s FROM t INTO ICEBERG CATALOG CONNECTION i (NAMESPACE 'made_on_demand', TABLE 't') MODE APPEND WITH (COMMIT INTERVAL '1s')")
            deadline = time.monotonic() + 60
            while there(server) != 2:
                assert time.monotonic() < deadline, rows(db, "SELECT status, error FROM mz_internal.mz_sink_statuses")
                time.sleep(0.3)
            db.execute("DROP SINK s")
            iam.update_assume_role_policy(RoleName="FirnConnection", PolicyDocument=trusting("arn:aws:iam::123456789012:root"))
            iam.delete_role_policy(RoleName="FirnConnection", PolicyName="p")
            fails(db, "VALIDATE CONNECTION c", "firn's own role: assuming role " + jump)
    finally:
        s.stop()
    assert key["SecretAccessKey"] not in (tmp_path / "data.log").read_text()


# ---- catalogs that are not what they should be -----------------------------------------------------------------------------------------------------------


class Catalog(Stub):
    """An HTTP server that answers as it is told, by path; what was asked is kept."""

    def __init__(self, answer):
        self.asked, self.answer = [], answer
        super().__init__(self.serve)

    def serve(self, h, body):
        self.asked.append((h.command, h.path, dict(h.headers), body.decode()))
        self.answer(h, body.decode())


def good(h, body):
    if "oauth/tokens" in h.path:
        say(h, 200, {"access_token": "tok-0123456789", "token_type": "bearer", "expires_in": 3600})
    elif "/v1/config" in h.path:
        say(h, 200, {"defaults": {}, "overrides": {}})
    else:
        say(h, 200, {"namespaces": [["a"]]})


def but(path, answer):
    return lambda h, body: answer(h, body) if path in h.path else good(h, body)


def slowly(h, body):
    h.send_response(200)
    h.send_header("content-length", "1000")
    h.end_headers()
    try:
        for _ in range(600):
            h.wfile.write(b" ")
            h.wfile.flush()
            time.sleep(0.1)
    except OSError:
        pass


def echo(h, body):
    say(h, 401, {"error": "invalid_client", "error_description": "no such client: " + body + " " + urllib.parse.unquote(body)})


def huge(h, body):
    h.send_response(200)
    h.send_header("transfer-encoding", "chunked")
    h.end_headers()
    try:
        while True:
            h.wfile.write(b"10000\r\n" + b"[" * 65536 + b"\r\n")
    except OSError:
        pass


def half(h, body):
    h.send_response(200)
    h.send_header("content-length", "1000")
    h.end_headers()
    h.wfile.write(b'{"defaults"')
    h.wfile.flush()
    h.connection.shutdown(socket.SHUT_RDWR)


def around(h, body):
    say(h, 307, "", [("location", h.path)])


CONNECT, LIST = "failed to connect to catalog: ", "failed to list namespaces: "
HOSTILE = {
    "html": ("/v1/config", lambda h, b: say(h, 200, "<html>hello</html>"), CONNECT), "empty": ("/v1/config", lambda h, b: say(h, 200, ""), CONNECT),
    "array": ("/v1/config", lambda h, b: say(h, 200, []), CONNECT), "500": ("/v1/config", lambda h, b: say(h, 500, {"error": {"message": "boom", "type": "X", "code": 500}}), CONNECT),
    "403": ("/v1/config", lambda h, b: say(h, 403, {"error": {"message": "not for you", "type": "ForbiddenException", "code": 403}}), CONNECT + ".*not for you"),
    "404": ("/v1/config", lambda h, b: say(h, 404, {"error": {"message": "no such warehouse", "type": "NotFoundException", "code": 404}}), CONNECT + ".*no such warehouse"),
    "redirects": ("/v1/config", around, CONNECT), "half an answer": ("/v1/config", half, CONNECT), "without end": ("/v1/config", huge, CONNECT),
    "a wrong key": ("oauth/tokens", echo, CONNECT), "a token of nothing": ("oauth/tokens", lambda h, b: say(h, 200, {"access_token": 5}), CONNECT),
    "namespaces of nonsense": ("/v1/namespaces", lambda h, b: say(h, 200, {"namespaces": "none"}), LIST),
    "namespaces denied": ("/v1/namespaces", lambda h, b: say(h, 403, {"error": {"message": "may not list", "type": "ForbiddenException", "code": 403}}), LIST + ".*may not list"),
    "pages without end": ("/v1/namespaces", lambda h, b: say(h, 200, {"namespaces": [["a"]], "next-page-token": "again"}), LIST),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_hostile_catalogs(db, how):
    path, answer, words = HOSTILE[how]
    c = Catalog(but(path, answer))
    began = time.monotonic()
    with pytest.raises(psycopg.Error, match="(?s)" + words) as e:
        db.execute(f"CREATE CONNECTION hostile TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{c.url}', WAREHOUSE 'w', CREDENTIAL SECRET cred)")
    assert time.monotonic() - began < 45, how
    assert "the-oauth-secret-of-ours" not in str(e.value) and (how != "a wrong key" or "no such client" in str(e.value))
    assert rows(db, "SELECT count(*) FROM mz_connections WHERE name = 'hostile'") == [(0,)]
    assert rows(db, "SELECT 1") == [(1,)]


REST = "CATALOG TYPE 'rest', URL '{}', CREDENTIAL SECRET cred"


def test_nobody_is_there(db):
    with socket.socket() as s:                                                    # bound, not listening
        s.bind(("127.0.0.1", 0))
        fails(db, f"CREATE CONNECTION dead TO ICEBERG CATALOG ({REST.format('http://127.0.0.1:%d' % s.getsockname()[1])})", CONNECT)


def test_slow_ones(server, db):
    """Listening and mute, drop by drop, at each place: all at once, each in its own time."""
    mute = socket.socket()
    mute.bind(("127.0.0.1", 0))
    mute.listen()
    db.execute(f"CREATE CONNECTION slow_sts TO AWS (ASSUME ROLE ARN '{ARN}', ENDPOINT '{Catalog(slowly).url}')")
    statements = [f"CREATE CONNECTION slow{i} TO ICEBERG CATALOG ({o})" for i, o in enumerate([
        REST.format("http://127.0.0.1:%d" % mute.getsockname()[1]), REST.format(Catalog(but("/v1/config", slowly)).url), REST.format(Catalog(but("oauth/tokens", slowly)).url),
        REST.format(Catalog(but("/v1/namespaces", slowly)).url), f"CATALOG TYPE 's3tablesrest', URL 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE '{BUCKET}', AWS CONNECTION slow_sts"])]
    ended = {}

    def run(i, text):
        began = time.monotonic()
        with server.connect("materialize") as c:
            try:
                c.execute(text)
                ended[i] = "it went through"
            except psycopg.Error as e:
                ended[i] = (time.monotonic() - began, str(e))
    threads = [threading.Thread(target=run, args=(i, t)) for i, t in enumerate(statements + ["VALIDATE CONNECTION slow_sts"])]
    for t in threads:
        t.start()
    began = time.monotonic()
    assert rows(db, "SELECT 1") == [(1,)] and time.monotonic() - began < 5        # the others go on
    for t in threads:
        t.join(60)
    mute.close()
    assert len(ended) == len(threads)
    for i, e in ended.items():
        assert e[0] < 45 and ("failed to " in e[1] or "assuming role" in e[1]), (i, e)
    db.execute("DROP CONNECTION slow_sts")


STS = {"html": lambda h, b: say(h, 200, "<html>hello</html>"), "empty": lambda h, b: say(h, 200, ""), "json": lambda h, b: say(h, 200, {}), "500": lambda h, b: say(h, 500, "oh"),
       "half": half, "without end": huge, "redirects": around,
       "no keys": lambda h, b: say(h, 200, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId></Credentials></AssumeRoleResult></AssumeRoleResponse>"),
       "over already": lambda h, b: say(h, 200, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>"
                                        "<Expiration>1999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>")}


@pytest.mark.parametrize("how", STS)
def test_hostile_sts(db, how):
    c = Catalog(STS[how])
    db.execute(f"CREATE CONNECTION sts TO AWS (ASSUME ROLE ARN '{ARN}', ENDPOINT '{c.url}')")
    began = time.monotonic()
    try:
        fails(db, "VALIDATE CONNECTION sts")
        fails(db, "CREATE CONNECTION dead TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE 'w', AWS CONNECTION sts)", CONNECT)
        assert time.monotonic() - began < 90
        assert all(KEY not in a[3] for a in c.asked)
    finally:
        db.execute("DROP CONNECTION sts")


ROLE_KEYS = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA{n}</AccessKeyId>
<SecretAccessKey>secret-of-a-session</SecretAccessKey><SessionToken>token-{n}</SessionToken><Expiration>{end}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""


def test_keys_are_renewed_before_they_end(db):
    """Remembered as long as they are good for five minutes more, and as long as the connection says the same."""
    life = [3600]
    made = []

    def answer(h, body):
        if "Action=AssumeRole" in body:
            made.append(body)
            end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + life[0]))
            say(h, 200, ROLE_KEYS.format(n=len(made), end=end))
        else:
            good(h, body)
    c = Catalog(answer)
    db.execute(f"CREATE CONNECTION renew TO AWS (ASSUME ROLE ARN '{ARN}', ASSUME ROLE SESSION NAME 'me', ENDPOINT '{c.url}')")
    db.execute(f"CREATE CONNECTION renewed TO ICEBERG CATALOG (CATALOG TYPE 's3tablesrest', URL 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE '{BUCKET}', AWS CONNECTION renew)")
    assert len(made) == 1 and "ExternalId=mz_" in made[0] and "RoleSessionName=me" in made[0]
    lists = [a for a in c.asked if "/iceberg/v1/namespaces" in a[1]]
    assert "Credential=ASIA1/" in lists[0][2]["authorization"] and "/us-east-1/s3tables/" in lists[0][2]["authorization"] and lists[0][2]["x-amz-security-token"] == "token-1"
    db.execute("VALIDATE CONNECTION renewed")
    assert len(made) == 1
    db.execute("ALTER CONNECTION renew SET (ASSUME ROLE SESSION NAME 'you')")
    life[0] = 240                                                                 # less than is asked for: each use takes new ones
    db.execute("VALIDATE CONNECTION renewed")
    n = len(made)
    assert n > 1 and "RoleSessionName=you" in made[1]
    db.execute("VALIDATE CONNECTION renewed")
    assert len(made) > n
    db.execute("DROP CONNECTION renewed, renew")


def test_what_goes_while_it_is_tried(server, db):
    """A catalog that takes its time, and a secret, a name and a connection that change meanwhile: all or nothing."""
    gate = threading.Event()

    def answer(h, body):
        gate.wait(20)
        good(h, body)
    c = Catalog(but("/v1/config", answer))

    def meanwhile(text, *then):
        gate.clear()
        n, got = len(c.asked), []

        def run():
            with server.connect("materialize") as own:
                try:
                    own.execute(text)
                    got.append("done")
                except psycopg.Error as e:
                    got.append(str(e))
        t = threading.Thread(target=run)
        t.start()
        while len(c.asked) < n + 2:                                               # the token, then the configuration
            time.sleep(0.02)
        for sql in then:
            db.execute(sql)
        gate.set()
        t.join(30)
        return got[0]
    db.execute("CREATE SECRET passing AS 'id:secret-passing'")
    make = f"CREATE CONNECTION {{}} TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{c.url}', CREDENTIAL SECRET {{}})"
    assert "was dropped meanwhile" in meanwhile(make.format("m1", "passing"), "DROP SECRET passing")
    assert "already exists" in meanwhile(make.format("m2", "cred"), "CREATE CONNECTION m2 TO KAFKA (BROKER 'x:1', SECURITY PROTOCOL PLAINTEXT) WITH (VALIDATE = false)")
    assert meanwhile(make.format("m3", "cred"), "ALTER SECRET cred RENAME TO cred2") == "done"
    assert "CREDENTIAL = SECRET materialize.public.cred2" in rows(db, "SHOW CREATE CONNECTION m3")[0][1]
    db.execute("ALTER SECRET cred2 RENAME TO cred")
    assert rows(db, "SELECT name FROM mz_connections WHERE name LIKE 'm_' ORDER BY 1") == [("m2",), ("m3",)]
    db.execute("DROP CONNECTION m2, m3")


def test_a_good_catalog(db):
    c = Catalog(good)
    db.execute(f"CREATE CONNECTION rest TO ICEBERG CATALOG (CATALOG TYPE 'rest', URL '{c.url}', WAREHOUSE 'wh', CREDENTIAL SECRET cred)")
    db.execute("VALIDATE CONNECTION rest")
    token = [a for a in c.asked if "oauth/tokens" in a[1]][0]
    assert "client_id=id" in token[3] and "client_secret=the-oauth-secret-of-ours%2F%2B%3D" in token[3] and "scope=catalog" in token[3]
    config = [a for a in c.asked if "/v1/config" in a[1]][0]
    assert "warehouse=wh" in config[1] and config[2].get("Authorization", config[2].get("authorization")) == "Bearer tok-0123456789"
    db.execute("DROP CONNECTION rest")


@pytest.mark.parametrize("to", ["KAFKA (BROKERS ('127.0.0.1:1', '127.0.0.1:2'), SECURITY PROTOCOL SASL_PLAINTEXT, SASL MECHANISMS PLAIN, SASL USERNAME 'u', SASL PASSWORD SECRET k)",
                                "POSTGRES (HOST '127.0.0.1', PORT 1, DATABASE 'd', USER 'u', PASSWORD SECRET k)", "POSTGRES (HOST 'no-such-host.invalid', DATABASE 'd', USER 'u')",
                                "CONFLUENT SCHEMA REGISTRY (URL 'http://127.0.0.1:1', USER 'u', PASSWORD SECRET k)"])
def test_sources_that_are_not_there(db, to):
    began = time.monotonic()
    e = fails(db, f"CREATE CONNECTION dead TO {to}")
    assert time.monotonic() - began < 45 and e.diag.message_primary and KEY not in str(e)
    assert rows(db, "SELECT count(*) FROM mz_connections WHERE name = 'dead'") == [(0,)]
    db.execute(f"CREATE CONNECTION dead TO {to} WITH (VALIDATE = false)")
    fails(db, "VALIDATE CONNECTION dead")
    db.execute("ALTER SYSTEM SET enable_default_connection_validation = off")
    db.execute(f"CREATE CONNECTION dead2 TO {to}")
    db.execute("ALTER SYSTEM RESET enable_default_connection_validation")
    db.execute("DROP CONNECTION dead, dead2")


def test_a_registry(db):
    asked = []

    def answer(h, body):
        asked.append(h.headers.get("authorization"))
        say(h, 200, []) if asked[-1] else say(h, 401, {"error_code": 40101, "message": "who is it?"})
    c = Catalog(answer)
    fails(db, f"CREATE CONNECTION reg TO CONFLUENT SCHEMA REGISTRY (URL '{c.url}')", "who is it?")
    db.execute(f"CREATE CONNECTION reg TO CONFLUENT SCHEMA REGISTRY (URL '{c.url}', USER 'u', PASSWORD SECRET k)")
    assert asked[-1] == "Basic " + base64.b64encode(f"u:{KEY}".encode()).decode()
    db.execute("DROP CONNECTION reg")


# ---- secrets stay secret ------------------------------------------------------------------------------------------------------------------------------------


def test_secrets_are_nowhere(server, db):
    """Last: neither in the log nor in what a question can show, in the data folder only sealed."""
    fails(db, "SELECT * FROM k", "")
    shown = ""
    for q in ("SHOW SECRETS", "SHOW CREATE CONNECTION keys", "SELECT * FROM mz_secrets", "SELECT * FROM mz_connections", "SELECT * FROM mz_internal.mz_aws_connections",
              "SELECT * FROM pg_stat_activity", "SELECT * FROM mz_catalog.mz_audit_events", "SHOW ALL"):
        try:
            shown += str(rows(db, q))
        except psycopg.Error as e:
            shown += str(e)
    log = (server.data.parent / (server.data.name + ".log")).read_text()
    for secret in (KEY, "the-oauth-secret-of-ours", server.secret):
        assert secret not in shown
        assert secret not in log
        for f in server.data.glob("catalog.db*"):
            assert secret.encode() not in f.read_bytes(), f
