# SPDX-License-Identifier: Apache-2.0
"""A real Kafka broker (KRaft, one node) out of Maven's jars, and a schema registry that speaks Confluent's API."""
import base64
import fcntl
import http.server
import json
import pathlib
import random
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid

from conftest import ROOT

JARS = ROOT / "build" / "kafka-jars"
APICURIO = ROOT / "build" / "apicurio"


def missing():
    """Why there can be no broker here; None: there can."""
    if not shutil.which("java"):
        return "Java is not there"
    if not (JARS / ".done").exists() and not shutil.which("mvn"):
        return "Maven is not there, and neither are Kafka's jars"
    return None


def fetch():
    """The jars, once; several tests may ask at the same time."""
    if (JARS / ".done").exists():
        return
    JARS.parent.mkdir(exist_ok=True)
    with open(JARS.parent / ".kafka-jars.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (JARS / ".done").exists():
            subprocess.run(["mvn", "-q", "-B", "-f", str(pathlib.Path(__file__).with_name("kafka-pom.xml")), "dependency:copy-dependencies", f"-DoutputDirectory={JARS}"],
                           check=True, capture_output=True, timeout=600)
            (JARS / ".done").touch()


def free_ports(n):
    """Below those that the system gives to outgoing connections: they stay free until a server takes them, and while it restarts."""
    ports = []
    while len(ports) < n:
        port = random.SystemRandom().randrange(18000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports


class Certificates:
    """An authority, and what it signed for a server on this machine and for a client; as texts: .ca, .client, .client_key."""
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "30")
        for name in ("server", "client"):
            self.openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
            (self.folder / "san").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", f"{name}.pem", "-days", "30", "-extfile", "san")
        (self.folder / "both.pem").write_text(self.text("server.key") + self.text("server.pem"))
        self.ca, self.client, self.client_key = self.text("ca.pem"), self.text("client.pem"), self.text("client.key")

    def openssl(self, *args):
        subprocess.run(["openssl", *args], check=True, capture_output=True, cwd=self.folder)

    def text(self, name):
        return (self.folder / name).read_text()


class Broker:
    """PLAINTEXT at .plain, SASL_PLAINTEXT (user u, password p) at .sasl, TLS with certificates on both sides at .tls. stop, start and kill keep what it holds."""
    def __init__(self, folder):
        fetch()
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        plain, sasl, tls, control = free_ports(4)
        self.plain, self.sasl, self.tls = f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}", f"localhost:{tls}"
        self.certificates = c = Certificates(self.folder / "tls")
        properties = {
            "process.roles": "broker,controller", "node.id": "1", "controller.quorum.voters": f"1@127.0.0.1:{control}", "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.plain},SASL://{self.sasl},TLS://127.0.0.1:{tls},CONTROLLER://127.0.0.1:{control}",
            "advertised.listeners": f"PLAINTEXT://{self.plain},SASL://{self.sasl},TLS://{self.tls}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL",
            "listener.name.tls.ssl.keystore.type": "PEM", "listener.name.tls.ssl.keystore.location": str(c.folder / "both.pem"), "listener.name.tls.ssl.truststore.type": "PEM",
            "listener.name.tls.ssl.truststore.location": str(c.folder / "ca.pem"), "listener.name.tls.ssl.client.auth": "required", "inter.broker.listener.name": "PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN", "listener.name.sasl.plain.sasl.jaas.config": 'org.apache.kafka.common.security.plain.PlainLoginModule required user_u="p";',
            "log.dirs": str(self.folder / "log"), "offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1", "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1", "transaction.state.log.num.partitions": "1", "group.initial.rebalance.delay.ms": "0", "auto.create.topics.enable": "false",
            "log.cleaner.dedupe.buffer.size": "4194304", "log.cleaner.backoff.ms": "500", "log.initial.task.delay.ms": "500", "log.retention.check.interval.ms": "1000", "message.max.bytes": "20000000",
        }
        self.properties = self.folder / "server.properties"
        self.properties.write_text("".join(f"{k}={v}\n" for k, v in properties.items()))
        cluster = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]      # a dash in front would be an option
        self.java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self.properties), wait=True)
        self.process = None
        self.start()

    def java(self, main, *args, wait=False):
        command = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", str(JARS) + "/*", main, *args]
        log = open(self.folder / "broker.log", "ab")
        if wait:
            return subprocess.run(command, check=True, stdout=log, stderr=log, timeout=120)
        return subprocess.Popen(command, stdout=log, stderr=log)

    def start(self):
        self.process = self.java("kafka.Kafka", str(self.properties))
        for _ in range(600):
            try:
                if self.admin().list_topics(timeout=1):
                    return
            except Exception:
                pass
            assert self.process.poll() is None, "the broker ended: " + (self.folder / "broker.log").read_text()[-2000:]
            time.sleep(0.1)
        raise AssertionError("the broker does not answer")

    def admin(self):
        from confluent_kafka.admin import AdminClient
        return AdminClient({"bootstrap.servers": self.plain, "log_level": 0})

    def producer(self, **more):
        from confluent_kafka import Producer
        return Producer({"bootstrap.servers": self.plain, "log_level": 0, "linger.ms": 5, "queue.buffering.max.messages": 2000000} | more)

    def topic(self, name, partitions=1, **config):
        from confluent_kafka.admin import NewTopic
        admin = self.admin()                               # it must outlive what it is asked
        for f in admin.create_topics([NewTopic(name, partitions, 1, config={k.replace("_", "."): str(v) for k, v in config.items()})]).values():
            f.result(30)

    def drop_topic(self, name):
        admin = self.admin()
        for f in admin.delete_topics([name]).values():
            f.result(30)

    def send(self, topic, *values, partition=0, key=None, **more):
        p = self.producer()
        for v in values:
            p.produce(topic, v, key=key, partition=partition, **more)
        assert p.flush(30) == 0

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Registry:
    """Subjects and schemas by Confluent's REST API; with a user, whoever does not name it is refused."""
    def __init__(self, user=None, password=None, certificates=None):
        self.schemas, self.subjects, self.down = {}, {}, False
        expected = user and "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if outer.down:
                    return self.answer(503, {"error_code": 50001, "message": "down"})
                if expected and self.headers.get("Authorization") != expected:
                    return self.answer(401, {"error_code": 401, "message": "who are you?"})
                found = outer.lookup(self.path.split("?")[0].strip("/").split("/"))
                return self.answer(200, found) if found is not None else self.answer(404, {"error_code": 40403, "message": "not found"})

            def answer(self, status, document):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        if certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates.folder / "server.pem", certificates.folder / "server.key")
            context.load_verify_locations(certificates.folder / "ca.pem")
            context.verify_mode = ssl.CERT_REQUIRED
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.url = f"https://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def lookup(self, path):
        if path == ["subjects"]:
            return sorted(self.subjects)
        if len(path) == 3 and path[:2] == ["schemas", "ids"]:
            return self.schemas.get(int(path[2]))
        if len(path) == 4 and path[0] == "subjects" and path[1] in self.subjects:
            versions = self.subjects[path[1]]
            n = len(versions) if path[3] == "latest" else int(path[3])
            return self.schemas[versions[n - 1]] | {"subject": path[1], "version": n, "id": versions[n - 1]} if 0 < n <= len(versions) else None
        return None

    def register(self, subject, schema, type="AVRO"):
        """The schema's id."""
        n = len(self.schemas) + 1
        self.schemas[n] = {"schema": schema if isinstance(schema, str) else json.dumps(schema)} | ({} if type == "AVRO" else {"schemaType": type})
        self.subjects.setdefault(subject, []).append(n)
        return n

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Apicurio:
    """A schema registry of others (Apicurio, by its Confluent-compatible API)."""
    VERSION = "2.6.13.Final"

    def __init__(self, folder):
        self.fetch()
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (port,) = free_ports(1)
        self.log = open(folder / "registry.log", "ab")
        self.process = subprocess.Popen(["java", "-Xmx400m", f"-Dquarkus.http.port={port}", "-Dquarkus.http.host=127.0.0.1", "-jar", f"apicurio-registry-app-{self.VERSION}-runner.jar"],
                                        cwd=APICURIO, stdout=self.log, stderr=self.log)
        self.api = f"http://127.0.0.1:{port}/apis/ccompat/v7"
        self.at_the_root()
        for _ in range(600):
            try:
                urllib.request.urlopen(self.api + "/subjects", timeout=2).read()
                return
            except OSError:
                assert self.process.poll() is None, "the registry ended"
                time.sleep(0.2)
        raise AssertionError("the registry does not answer")

    def at_the_root(self):
        """Its API as if it had no path, which connections may not have."""
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                try:
                    with urllib.request.urlopen(outer.api + self.path, timeout=30) as r:
                        status, body = r.status, r.read()
                except urllib.error.HTTPError as e:
                    status, body = e.code, e.read()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.proxy.server_port}"
        threading.Thread(target=self.proxy.serve_forever, daemon=True).start()

    @classmethod
    def fetch(cls):
        if (APICURIO / ".done").exists():
            return
        APICURIO.mkdir(parents=True, exist_ok=True)
        artifact = f"io.apicurio:apicurio-registry-app:{cls.VERSION}:tar.gz:all"
        subprocess.run(["mvn", "-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={APICURIO}"], check=True, capture_output=True, timeout=600)
        subprocess.run(["tar", "xzf", f"apicurio-registry-app-{cls.VERSION}-all.tar.gz"], check=True, cwd=APICURIO)
        (APICURIO / ".done").touch()

    def register(self, subject, schema, type="AVRO"):
        body = json.dumps({"schema": schema if isinstance(schema, str) else json.dumps(schema)} | ({} if type == "AVRO" else {"schemaType": type})).encode()
        q = urllib.request.Request(f"{self.api}/subjects/{subject}/versions", body, {"Content-Type": "application/vnd.schemaregistry.v1+json"})
        return json.loads(urllib.request.urlopen(q, timeout=30).read())["id"]

    def stop(self):
        self.proxy.shutdown()
        self.proxy.server_close()
        self.process.kill()
        self.process.wait()
        self.log.close()
