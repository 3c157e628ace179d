# SPDX-License-Identifier: Apache-2.0
"""dbt with the adapter for Materialize: a project with a seed, a source, a view, a materialized view with an index, and tests; then once more, and its documentation."""
import json
import pathlib
import subprocess
import sys
import textwrap

import pytest

from conftest import Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guide"))

from guide_place import Place, until                           # noqa: E402

DBT = pathlib.Path(sys.executable).parent / "dbt"
pytestmark = pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed (tests/requirements.txt)")

FILES = {
    "dbt_project.yml": """
        name: firn
        version: '1.0'
        profile: firn
        model-paths: [models]
        seed-paths: [seeds]
        flags: {send_anonymous_usage_stats: false}
        """,
    "seeds/people.csv": "id,name,age\n1,ann,30\n2,bob,41\n3,cyd,\n",
    "models/counter.sql": """
        {{ config(materialized='source', cluster='quickstart') }}
        FROM LOAD GENERATOR COUNTER (TICK INTERVAL '10ms', UP TO 50)
        """,
    "models/adults.sql": """
        {{ config(materialized='view') }}
        select id, name, age from {{ ref('people') }} where age > 35
        """,
    "models/by_age.sql": """
        {{ config(materialized='materialized_view', cluster='quickstart', indexes=[{'columns': ['age']}]) }}
        select age, count(*) as n from {{ ref('people') }} group by age
        """,
    "models/schema.yml": """
        version: 2
        models:
          - name: by_age
            description: people by age
            config: {persist_docs: {relation: true, columns: true}}
            columns:
              - name: n
                description: how many
                tests: [not_null]
          - name: adults
            columns:
              - name: id
                tests: [unique, not_null]
        """,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(tmp_path_factory.mktemp("dbt") / "data")
    yield s
    s.stop()


@pytest.fixture(scope="module")
def project(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    profile = {"firn": {"target": "dev", "outputs": {"dev": {
        "type": "materialize", "host": "127.0.0.1", "port": server.port, "user": server.key, "password": server.secret, "dbname": "materialize", "schema": "public",
        "cluster": "quickstart", "sslmode": "disable", "threads": 2}}}}
    (folder / "profiles.yml").write_text(json.dumps(profile))
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text if name.endswith(".csv") else textwrap.dedent(text))
    return folder


def dbt(project, *args):
    r = subprocess.run([str(DBT), "--no-use-colors", *args, "--profiles-dir", str(project), "--project-dir", str(project)], capture_output=True, text=True, cwd=project)
    assert r.returncode == 0, r.stdout[-3000:] + r.stderr[-1000:]
    return r.stdout


def test_debug(project):
    assert "All checks passed!" in dbt(project, "debug")


def test_a_project_twice(server, project):
    for _ in range(2):
        assert "PASS=1 " in dbt(project, "seed")
        assert "PASS=3 " in dbt(project, "run")
        assert "PASS=3 " in dbt(project, "test")
        assert sorted(server.sql("SELECT * FROM by_age", "materialize"), key=str) == [(30, 1), (41, 1), (None, 1)]
        assert server.sql("SELECT name FROM adults", "materialize") == [("bob",)]
        assert server.sql("SELECT i.name FROM mz_indexes i JOIN mz_objects o ON o.id = i.on_id WHERE o.name = 'by_age'", "materialize")


def test_docs(project):
    dbt(project, "docs", "generate")
    nodes = json.loads((project / "target" / "catalog.json").read_text())["nodes"]
    assert nodes["model.firn.by_age"]["metadata"]["type"] == "materialized_view"
    assert nodes["model.firn.by_age"]["metadata"]["comment"] == "people by age"
    assert nodes["model.firn.by_age"]["columns"]["n"] == {"type": "bigint", "index": 2, "name": "n", "comment": "how many"}
    assert nodes["model.firn.counter"]["metadata"]["type"] == "source"
    assert nodes["seed.firn.people"]["columns"]["age"]["type"] == "integer"


def test_a_deployment(server, project, tmp_path):
    """Blue and green: a second schema and cluster are made, filled, waited for, and change places with the first."""
    for sql in ("CREATE CLUSTER prod (SIZE '25cc')", "CREATE SCHEMA prod", "CREATE TABLE public.visits (page text)", "INSERT INTO visits VALUES ('a'), ('a'), ('b')",
                "CREATE ROLE reader", "GRANT USAGE ON SCHEMA prod TO reader"):
        server.sql(sql, "materialize")
    profile = json.loads((project / "profiles.yml").read_text())
    profile["firn"]["outputs"]["dev"].update(schema="prod", cluster="prod")
    (tmp_path / "profiles.yml").write_text(json.dumps(profile))
    (tmp_path / "dbt_project.yml").write_text(textwrap.dedent(FILES["dbt_project.yml"]) + "vars: {deployment: {dev: {clusters: [prod], schemas: [prod]}}}\n")
    (tmp_path / "models").mkdir()
    model = tmp_path / "models" / "by_page.sql"
    text = "{{ config(materialized='materialized_view', cluster='prod', indexes=[{'default': True}]) }}\nselect page, count(*) %s as n from materialize.public.visits group by page\n"
    model.write_text(text % "")
    dbt(tmp_path, "run")
    dbt(tmp_path, "run-operation", "deploy_init")
    model.write_text(text % "* 10")
    dbt(tmp_path, "run", "--vars", "deploy: true")
    assert "ready (hydration: 2/2" in dbt(tmp_path, "run-operation", "deploy_await")
    assert sorted(server.sql("SELECT * FROM prod.by_page", "materialize")) == [("a", 2), ("b", 1)]
    dbt(tmp_path, "run-operation", "deploy_promote")
    assert sorted(server.sql("SELECT * FROM prod.by_page", "materialize")) == [("a", 20), ("b", 10)]
    dbt(tmp_path, "run-operation", "deploy_cleanup")
    server.sql("INSERT INTO visits VALUES ('b')", "materialize")
    assert sorted(server.sql("SELECT * FROM prod.by_page", "materialize")) == [("a", 20), ("b", 20)]
    assert server.sql("SELECT has_schema_privilege('reader', 'prod', 'USAGE')", "materialize") == [(True,)]
    assert server.sql("SELECT name FROM mz_schemas WHERE name LIKE 'prod%'", "materialize") == [("prod",)]


def test_a_sink(tmp_path):
    """A model that is a sink into a table bucket of this very server."""
    place = Place(tmp_path, [])
    s, bucket = place.server, place.table_bucket("dbt", "marts")
    for sql in ("CREATE TABLE visits (page text)", "INSERT INTO visits VALUES ('a'), ('a'), ('b')", f"CREATE SECRET k AS '{s.secret}'",
                f"CREATE CONNECTION aws TO AWS (ACCESS KEY ID = '{s.key}', SECRET ACCESS KEY = SECRET k, REGION = 'us-east-1', ENDPOINT = '{s.lake}')",
                f"CREATE CONNECTION lake TO ICEBERG CATALOG (CATALOG TYPE = 's3tablesrest', URL = 'https://s3tables.us-east-1.amazonaws.com/iceberg', WAREHOUSE = '{bucket}', "
                "AWS CONNECTION = aws)"):
        s.sql(sql, "materialize")
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    profile = {"firn": {"target": "dev", "outputs": {"dev": {
        "type": "materialize", "host": "127.0.0.1", "port": s.port, "user": s.key, "password": s.secret, "dbname": "materialize", "schema": "public",
        "cluster": "quickstart", "sslmode": "disable", "threads": 1}}}}
    (folder / "profiles.yml").write_text(json.dumps(profile))
    (folder / "dbt_project.yml").write_text(textwrap.dedent(FILES["dbt_project.yml"]))
    (folder / "models" / "by_page.sql").write_text("{{ config(materialized='materialized_view') }}\nselect page, count(*) as n from materialize.public.visits group by page\n")
    (folder / "models" / "out.sql").write_text("{{ config(materialized='sink', cluster='quickstart') }}\nFROM {{ ref('by_page') }}\nINTO ICEBERG CATALOG CONNECTION lake (NAMESPACE 'marts', TABLE 'by_page')"
                                               "\nKEY (page) MODE UPSERT WITH (COMMIT INTERVAL '1s')\n")
    assert "PASS=2 " in dbt(folder, "run")
    until(lambda: sorted(place.read("dbt", "marts.by_page") or []) == [("a", 2), ("b", 1)])
    s.sql("INSERT INTO visits VALUES ('b')", "materialize")
    until(lambda: sorted(place.read("dbt", "marts.by_page") or []) == [("a", 2), ("b", 2)])
    ((name, kind, envelope, cluster),) = s.sql("SELECT s.name, s.type, s.envelope_type, c.name FROM mz_sinks s JOIN mz_clusters c ON c.id = s.cluster_id", "materialize")
    assert (name, kind, envelope, cluster) == ("out", "iceberg", "upsert", "quickstart")
    assert s.sql("SELECT i.namespace, i.\"table\", t.status FROM mz_iceberg_sinks i JOIN mz_internal.mz_sink_statuses t ON t.id = i.id", "materialize") == [("marts", "by_page", "running")]
    ((staged, committed),) = s.sql("SELECT messages_staged::int, messages_committed::int FROM mz_internal.mz_sink_statistics", "materialize")
    assert staged >= 3 and committed >= 3
    place.stop()
