# SPDX-License-Identifier: Apache-2.0
"""Hostile SQL: nothing that a user's statement says reaches the host's files, the engine's settings or its catalogs.

Each statement must end in an error.  A canary file is watched by inotify: no statement may open, read or change it or anything
beside it, and its text may not appear in an answer.  After each statement the same connection must still answer."""
import ctypes
import os
import struct

import psycopg
import pytest

CANARY = "canary-5d1f"

# What reads a file, a setting or a catalog of the engine, as a table expression. {f}: the canary's path; {d}: its folder.
TABLES = [
    "read_csv('{f}')", "read_csv_auto('{f}')", "read_csv(['{f}'])", "READ_CSV('{f}', header = false)", "read_csv('{f}', auto_detect => true)", "\"read_csv\"('{f}')",
    "read_text('{f}')", "read_blob('{f}')", "read_parquet('{f}')", "parquet_scan('{f}')", "read_json('{f}')", "read_json_auto('{f}')", "read_json_objects('{f}')",
    "read_ndjson('{f}')", "read_ndjson_auto('{f}')", "read_ndjson_objects('{f}')", "read_duckdb('{f}')", "glob('{d}/*')", "glob('{d}')", "sniff_csv('{f}')",
    "parquet_metadata('{f}')", "parquet_schema('{f}')", "parquet_file_metadata('{f}')", "parquet_kv_metadata('{f}')", "parquet_full_metadata('{f}')",
    "parquet_bloom_probe('{f}', 'a', 1)", "read_xlsx('{f}')", "st_read('{f}')", "iceberg_scan('{d}')", "iceberg_metadata('{d}')", "iceberg_snapshots('{d}')", "delta_scan('{d}')",
    "sqlite_scan('{f}', 't')", "postgres_scan('dbname=x', 'public', 't')", "mysql_scan('', '', '')", "main.read_text('{f}')", "system.main.read_text('{f}')",
    "query('SELECT * FROM read_text(''{f}'')')", "query_table('{f}')", "query_table(['{f}'])", "json_execute_serialized_sql('{{}}')",
    "duckdb_settings()", "duckdb_secrets()", "duckdb_databases()", "duckdb_extensions()", "duckdb_functions()", "duckdb_tables()", "duckdb_views()", "duckdb_columns()",
    "duckdb_schemas()", "duckdb_memory()", "duckdb_temporary_files()", "duckdb_external_file_cache()", "duckdb_logs()", "duckdb_variables()", "duckdb_prepared_statements()",
    "duckdb_optimizers()", "pragma_database_size()", "pragma_table_info('x')", "pragma_storage_info('x')", "pragma_show('x')", "pragma_user_agent()", "pragma_platform()",
    "pragma_version()", "which_secret('s3://a/b', 's3')", "seq_scan('x')", "arrow_scan(1, 2, 3)", "arrow_scan_dumb(1, 2, 3)", "pandas_scan(1)", "python_map_function(1)",
    "test_all_types()", "test_vector_types(NULL)", "checkpoint()", "force_checkpoint()", "repeat_row(1, num_rows = 9)", "truncate_duckdb_logs()",
    "sqlite_master", "main.sqlite_master", "sqlite_schema", "sqlite_temp_master", "duckdb_settings", "duckdb_tables", "main.duckdb_views", "system.main.duckdb_settings",
    "temp.sqlite_master", "memory.main.x", "system.information_schema.tables_", "firn_secrets", "catalog.principals",
    "\"{f}\"", "\"file://{f}\"", "\"{d}/../{b}/canary.csv\"", "\"{d}/*.csv\"", "\"s3://other/x.parquet\"", "\"https://127.0.0.1:1/x.csv\"", "\"/etc/passwd\"", "\"file.parquet\"",
]
SPARK_TABLES = [
    "csv.`{f}`", "csv.`file:{f}`", "csv.`file://{f}`", "parquet.`{f}`", "json.`{f}`", "text.`{f}`", "binaryFile.`{f}`", "orc.`{f}`", "avro.`{f}`", "csv.`file://localhost{f}`",
    "csv.`s3://warehouse/../..{f}`", "csv.`s3://warehouse/%2e%2e/%2e%2e{f}`", "csv.`s3:/{f}`", "csv.`{d}/*`", "CSV.`{f}`", "`csv`.`{f}`", "parquet.`/etc/passwd`",
    "csv.`http://127.0.0.1:1/x`", "csv.`hdfs://h/x`", "delta.`{d}`", "iceberg.`{d}`", "`{f}`", "`{d}/canary.parquet`", "`s3://other/x.parquet`", "`file.parquet`",
    "glue_catalog.`{d}`.`canary.csv`", "glue_catalog.default.`{f}`", "`..`.`..`.`{f}`",
]
PG_TABLES = ["pg_ls_dir('{d}')", "pg_ls_logdir()", "pg_ls_waldir()", "pg_stat_file('{f}')", "pg_read_file('{f}')", "dblink('host=x', 'SELECT 1')",
             "\"{f}\" AS t(a)", "public.\"{f}\"", "pg_catalog.\"{f}\"", "information_schema.\"{f}\"", "pg_shadow_x", "pg_hba_file_rules()"]

# The same, as a value.
SCALARS = [
    "getenv('HOME')", "getenv('PATH')", "getvariable('x')", "nextval('s')",
    "read_text('{f}')", "pg_read_file('{f}')", "pg_read_binary_file('{f}')", "pg_ls_dir('{d}')", "lo_import('{f}')", "lo_export(1, '{o}')", "lo_get(1)", "lo_from_bytea(0, 'x')",
    "pg_file_write('{o}', 'x', false)", "pg_reload_conf()", "pg_rotate_logfile()", "pg_sleep(1e9)", "sleep_ms(100000)", "pg_terminate_backend(1)",
    "query_to_xml('SELECT 1', true, false, '')", "database_to_xml(true, false, '')", "dblink_exec('x')", "write_log('x')", "json_serialize_sql('SELECT 1')", "json_deserialize_sql('x')",
    "java_method('java.lang.System', 'getenv')", "reflect('java.lang.Runtime', 'getRuntime')", "input_file_name()", "from_substrait('x')", "load_extension('x')", "writefile('{o}', 'x')",
    "readfile('{f}')", "edit('x')", "file_read('{f}')", "shellfs('id')", "sqlite_version()", "sqlite_compileoption_get(1)", "current_query()", "txid_current_x()", "parse_path('{f}')",
    "add_parquet_key('k', 'v')", "alias(1)", "which_secret('s3://a', 's3')", "main.getenv('HOME')", "system.main.getenv('HOME')", "\"getenv\"('HOME')",
    "hash_of_file('{f}')", "in_search_path('main', 'main')", "ducklake_x()", "duckdb_settings()", "error_x('x')", "version_x()",
]

# How a table expression can be hidden.  {t}: the expression; {v}: a fresh name; {n}: the namespace.
NEST = [
    "SELECT * FROM {t}", "SELECT count(*) FROM {t}", "WITH c AS (SELECT * FROM {t}) SELECT * FROM c", "SELECT * FROM (SELECT * FROM (SELECT * FROM {t}) a) b",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM {t})", "SELECT (SELECT count(*) FROM {t})", "SELECT 1 FROM {n}.t WHERE a IN (SELECT 1 FROM {t})",
    "SELECT * FROM {n}.t JOIN {t} ON true", "SELECT * FROM {n}.t, {t}", "SELECT a FROM {n}.t UNION ALL SELECT 1 FROM {t}",
    "CREATE VIEW {n}.{v} AS SELECT * FROM {t}", "CREATE MATERIALIZED VIEW {n}.{v} AS SELECT count(*) AS c FROM {t}",
    "INSERT INTO {n}.t SELECT 1 FROM {t}", "EXPLAIN SELECT * FROM {t}", "COPY (SELECT * FROM {t}) TO STDOUT",
    "DELETE FROM {n}.t WHERE a IN (SELECT 1 FROM {t})", "UPDATE {n}.t SET a = (SELECT 1 FROM {t})", "MERGE INTO {n}.t USING (SELECT 1 AS a FROM {t}) s ON {n}.t.a = s.a WHEN MATCHED THEN DELETE",
]
NEST_SPARK = ["CREATE TABLE {n}.{v} USING iceberg AS SELECT * FROM {t}", "CREATE OR REPLACE TABLE {n}.{v} USING iceberg AS SELECT * FROM {t}",
              "CREATE MANAGED MATERIALIZED VIEW {n}.{v} AS SELECT count(*) AS c FROM {t}", "INSERT OVERWRITE {n}.t SELECT 1 FROM {t}", "EXPLAIN EXTENDED SELECT * FROM {t}",
              "SELECT * FROM {n}.t LATERAL VIEW explode(array((SELECT count(*) FROM {t}))) AS x"]
NEST_PG = ["SELECT * FROM {n}.t, LATERAL (SELECT * FROM {t}) x", "CREATE TABLE {n}.{v} AS SELECT * FROM {t}", "WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT 1 FROM {t}) SELECT * FROM c",
           "EXPLAIN ANALYZE SELECT * FROM {t}"]
NEST_SCALAR = ["SELECT {e}", "SELECT a FROM {n}.t WHERE CAST({e} AS VARCHAR(10)) = 'x'", "SELECT a FROM {n}.t ORDER BY {e}", "SELECT a FROM {n}.t GROUP BY a HAVING {e} IS NULL",
               "INSERT INTO {n}.t VALUES ({e})", "CREATE VIEW {n}.{v} AS SELECT {e} AS x", "CREATE MATERIALIZED VIEW {n}.{v} AS SELECT max(CAST({e} AS INT)) AS x FROM {n}.t",
               "SELECT CASE WHEN true THEN {e} END", "SELECT coalesce(NULL, {e})", "UPDATE {n}.t SET a = {e}", "DELETE FROM {n}.t WHERE {e} IS NOT NULL", "SELECT * FROM (VALUES ({e})) v"]

# Whole statements. {o}: a path that must not come into being.
STATEMENTS = [
    "COPY {n}.t TO '{o}'", "COPY {n}.t FROM '{f}'", "COPY (SELECT 1) TO '{o}'", "COPY (SELECT 1) TO '{o}' (FORMAT parquet)", "COPY (SELECT 1) TO '{o}' WITH (FORMAT csv, HEADER)",
    "COPY {n}.t TO PROGRAM 'touch {o}'", "COPY {n}.t FROM PROGRAM 'cat {f}'", "COPY (SELECT 1) TO PROGRAM 'touch {o}'", "COPY {n}.t FROM 's3://other/x'", "COPY {n}.t FROM 'file://{f}' (FORMAT CSV, AWS CONNECTION = c)", "COPY INTO {n}.t FROM 's3://other/x' (FORMAT CSV, AWS CONNECTION = none)", "COPY (SELECT 1) TO 's3://warehouse/x'",
    "COPY FROM DATABASE memory TO x", "COPY (SELECT 1) TO '/dev/stdout'", "COPY {n}.t FROM '/dev/stdin'",
    "ATTACH '{f}'", "ATTACH '{o}' AS x", "ATTACH DATABASE '{o}' AS x (TYPE sqlite)", "ATTACH ':memory:' AS x", "DETACH memory", "DETACH DATABASE IF EXISTS memory", "USE memory", "USE system.main",
    "INSTALL httpfs", "INSTALL '{o}'", "FORCE INSTALL httpfs FROM core", "LOAD httpfs", "LOAD '{f}'", "UPDATE EXTENSIONS", "CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')", "DROP SECRET s",
    "PRAGMA database_list", "PRAGMA version", "PRAGMA table_info('t')", "PRAGMA memory_limit='1MB'", "PRAGMA enable_profiling='json'", "PRAGMA profiling_output='{o}'", "PRAGMA threads=1",
    "PRAGMA platform", "PRAGMA user_agent", "PRAGMA disable_checkpoint_on_shutdown",
    "SET memory_limit = '1MB'", "SET threads = 1", "SET enable_external_access = true", "SET lock_configuration = false", "SET allow_unsigned_extensions = true", "SET temp_directory = '{d}'",
    "SET home_directory = '{d}'", "SET secret_directory = '{d}'", "SET extension_directory = '{d}'", "SET custom_extension_repository = 'http://127.0.0.1:1'", "SET profiling_output = '{o}'",
    "SET enable_profiling = 'json'", "SET log_query_path = '{o}'", "SET allowed_directories = ['{d}']", "SET allowed_paths = ['{f}']", "SET file_search_path = '{d}'", "SET GLOBAL memory_limit = '1MB'",
    "SET SESSION threads = 1", "SET LOCAL memory_limit = '1MB'", "SET VARIABLE x = 1", "SET max_memory = '1MB'", "SET disabled_filesystems = ''", "SET autoload_known_extensions = true",
    "SET python_enable_replacements = true", "SET server_version = '1'", "SET session_authorization = 'x'", "RESET memory_limit", "RESET GLOBAL threads", "SET SCHEMA 'main'", "SHOW memory_limit",
    "EXPORT DATABASE '{d}'", "IMPORT DATABASE '{d}'", "CHECKPOINT", "FORCE CHECKPOINT", "CALL pragma_version()", "CALL duckdb_settings()", "CALL read_text('{f}')",
    "CREATE MACRO f(x) AS x", "CREATE MACRO f() AS TABLE SELECT * FROM read_text('{f}')", "CREATE FUNCTION f() RETURNS int AS 'system' LANGUAGE C", "CREATE FUNCTION f AS 'x.Y' USING JAR '{f}'",
    "CREATE EXTENSION file_fdw", "CREATE SERVER s FOREIGN DATA WRAPPER f", "CREATE FOREIGN TABLE x (a int) SERVER s OPTIONS (filename '{f}')", "CREATE SEQUENCE s", "CREATE TYPE x AS ENUM ('a')",
    "CREATE INDEX i ON {n}.t (a)", "CREATE TRIGGER x AFTER INSERT ON t EXECUTE FUNCTION f()", "CREATE RULE r AS ON INSERT TO t DO ALSO NOTHING", "DO $$ BEGIN END $$", "DO 'x' LANGUAGE plpythonu",
    "LISTEN x", "NOTIFY x", "ALTER SYSTEM SET work_mem = '1GB'", "ALTER DATABASE x SET y = 1", "ALTER ROLE x SUPERUSER", "SET ROLE postgres", "LOCK TABLE t", "REINDEX TABLE t", "CLUSTER t",
    "FROM read_text('{f}')", "FROM '{f}'", "SELECT * FROM '{f}'", "SELECT * FROM '{d}/*.csv'", "DESCRIBE '{f}'", "DESCRIBE SELECT * FROM read_text('{f}')", "SUMMARIZE {n}.t", "SHOW ALL TABLES",
    "PIVOT {n}.t ON a", "UNPIVOT {n}.t ON a INTO NAME x VALUE y", "SELECT * FROM {n}.t; SELECT * FROM read_text('{f}')", "SELECT 1; COPY (SELECT 1) TO '{o}'", "SELECT 1; ATTACH '{o}'",
    "PREPARE x AS SELECT * FROM read_text('{f}')", "EXECUTE x('{f}')", "EXECUTE IMMEDIATE 'SELECT 1'", "DECLARE c CURSOR FOR SELECT * FROM read_text('{f}')",
    "SELECT * FROM {n}.t AT (VERSION => 1), read_text('{f}')", "SELECT COLUMNS(*) FROM {n}.t", "SELECT * EXCLUDE (a), getenv('HOME') FROM {n}.t", "SELECT {{'a': getenv('HOME')}}",
    "SELECT list_transform([1], x -> getenv('HOME'))", "SELECT list_transform([1], lambda x: getenv('HOME'))", "SELECT [getenv('HOME') FOR x IN [1]]", "SELECT 'HOME'.getenv()",
    "SELECT sum(a) OVER (ORDER BY getenv('HOME')) FROM {n}.t", "SELECT count(*) FILTER (WHERE getenv('HOME') <> '') FROM {n}.t", "INSERT INTO {n}.t BY NAME SELECT 1 AS a FROM read_text('{f}')",
    "INSERT INTO {n}.t SELECT 1 RETURNING getenv('HOME')", "INSERT INTO sqlite_master VALUES (1)", "DELETE FROM duckdb_settings", "UPDATE duckdb_settings SET value = 1", "DROP TABLE sqlite_master",
    "CREATE TABLE memory.main.x (a int)", "CREATE TEMP TABLE x AS SELECT * FROM read_text('{f}')", "CREATE TEMP VIEW x AS SELECT * FROM read_text('{f}')", "CREATE TABLE \"{o}\" AS SELECT 1",
    "SELECT 1 INTO OUTFILE '{o}'", "SELECT * INTO x FROM read_text('{f}')", "LOAD DATA INFILE '{f}' INTO TABLE {n}.t",
]
SPARK_STATEMENTS = [
    "LOAD DATA LOCAL INPATH '{f}' INTO TABLE {n}.t", "LOAD DATA INPATH 's3://other/x' INTO TABLE {n}.t", "INSERT OVERWRITE DIRECTORY '{o}' SELECT 1", "INSERT OVERWRITE LOCAL DIRECTORY '{o}' USING csv SELECT 1",
    "CREATE TABLE {n}.{v} USING csv LOCATION '{f}'", "CREATE TABLE {n}.{v} USING csv OPTIONS (path '{f}')", "CREATE TABLE {n}.{v} (a INT) USING iceberg LOCATION '{o}'",
    "CREATE TABLE {n}.{v} (a INT) USING iceberg LOCATION 'file:{o}'", "CREATE TABLE {n}.{v} (a INT) USING iceberg LOCATION 's3://other/{v}'",
    "CREATE EXTERNAL TABLE {n}.{v} (a INT) STORED AS textfile LOCATION '{f}'", "CREATE TEMPORARY VIEW x USING csv OPTIONS (path '{f}')", "ADD JAR '{f}'", "ADD FILE '{f}'", "LIST JARS", "LIST FILES",
    "CREATE TEMPORARY FUNCTION f AS 'java.lang.Runtime'", "SELECT TRANSFORM (a) USING 'cat {f}' AS (b) FROM {n}.t", "FROM {n}.t SELECT TRANSFORM (a) USING '/bin/sh'", "REFRESH '{d}'", "CACHE TABLE x AS SELECT * FROM csv.`{f}`",
    "MSCK REPAIR TABLE {n}.t", "CALL glue_catalog.system.register_table(table => '{n}.{v}', metadata_file => '{f}')",
    "CALL glue_catalog.system.register_table(table => '{n}.{v}', metadata_file => 'file:{f}')", "CALL glue_catalog.system.register_table(table => '{n}.{v}', metadata_file => 's3://other/m.json')",
    "CALL glue_catalog.system.add_files(table => '{n}.t', source_table => '`csv`.`{f}`')", "CALL glue_catalog.system.add_files(table => '{n}.t', source_table => '`parquet`.`file:{d}/canary.parquet`')",
    "CALL glue_catalog.system.remove_orphan_files(table => '{n}.t', location => '{d}')", "CALL glue_catalog.system.remove_orphan_files(table => '{n}.t', location => 'file:{d}')",
    "CALL glue_catalog.system.remove_orphan_files(table => '{n}.t', location => 's3://warehouse/')", "CALL system.main.pragma_version()", "SET memory_limit=1MB", "SET temp_directory={d}",
    "SHOW CREATE TABLE csv.`{f}`", "DESCRIBE csv.`{f}`", "DESCRIBE EXTENDED csv.`{f}`", "DROP TABLE csv.`{f}`", "INSERT INTO csv.`{o}` SELECT 1", "ALTER TABLE csv.`{f}` ADD COLUMNS (b INT)",
    "ALTER TABLE {n}.t SET LOCATION 'file:{o}'", "ALTER TABLE {n}.t SET TBLPROPERTIES ('write.data.path'='{o}')", "ALTER TABLE {n}.t SET TBLPROPERTIES ('write.data.path'='file:{o}')",
    "ALTER TABLE {n}.t SET TBLPROPERTIES ('write.metadata.path'='s3://other/x')",
]
PG_STATEMENTS = ["SET \"memory_limit\" = '1MB'", "SET memory_limit TO '1MB'", "SELECT * FROM {n}.t WHERE a = pg_read_file('{f}')::int", "SELECT pg_catalog.pg_read_file('{f}')",
                 "SELECT $$x$$ || getenv($$HOME$$)", "SELECT E'\\x41' || read_text('{f}')", "TABLE sqlite_master", "TABLE \"{f}\"", "VALUES (getenv('HOME'))", "SELECT U&'x' || getenv('HOME')"]


class Watch:
    """inotify on the canary's folder and file: what was opened, read, made or changed."""
    OPEN, ACCESS, MODIFY, CREATE, DELETE, ATTRIB, MOVE = 0x20, 0x1, 0x2, 0x100, 0x200, 0x4, 0xC0

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        mask = self.OPEN | self.ACCESS | self.MODIFY | self.CREATE | self.DELETE | self.ATTRIB | self.MOVE
        assert self.fd >= 0 and libc.inotify_add_watch(self.fd, str(folder).encode(), mask) >= 0

    def events(self):
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return []
        found, at = [], 0
        while at < len(data):
            _, mask, _, n = struct.unpack_from("iIII", data, at)
            found.append((hex(mask), data[at + 16:at + 16 + n].rstrip(b"\0").decode()))
            at += 16 + n
        return found


class Attack:
    def __init__(self, server, ns, dialect, folder):
        self.server, self.dialect, self.folder = server, dialect, folder
        self.words = {"f": folder / "canary.csv", "d": folder, "b": folder.name, "o": folder / "out", "n": ns, "v": "evil"}
        self.connection = server.connect(dialect)
        self.watch = Watch(folder)
        self.tried, self.failures = 0, []

    def statement(self, template, **more):
        return template.format(**{**self.words, **more})

    def refused(self, text, prepare=None):
        """One statement; whatever is wrong is collected."""
        self.tried += 1
        if self.connection.closed:
            self.connection = self.server.connect(self.dialect)
        answer = error = None
        try:
            if text.startswith("COPY") and "STD" in text:
                with self.connection.cursor().copy(text) as c:
                    answer = b"".join(bytes(b) for b in c)
            else:
                cur = self.connection.execute(text, prepare=prepare)
                while not prepare and cur.nextset():
                    pass
                answer = cur.fetchall() if cur.description else cur.statusmessage
        except psycopg.Error as e:
            error = e
        wrong = []
        if error is None:
            wrong.append(f"accepted: {answer!r:.200}")
        elif CANARY in str(error) or "root:" in str(error):
            wrong.append(f"the error shows the file: {error}")
        elif isinstance(error, psycopg.OperationalError) and error.sqlstate is None or (error.sqlstate or "").startswith("XX"):
            wrong.append(f"not a clean refusal: {error.sqlstate} {error}")
        events = self.watch.events()
        if events:
            wrong.append(f"the folder was touched: {events}")
        try:
            if self.connection.execute("SELECT 40 + 2", prepare=False).fetchall() != [(42,)]:
                wrong.append("the connection answers wrong")
        except psycopg.Error as e:
            wrong.append(f"the connection is lost: {e}")
        if wrong:
            self.failures.append(f"{text}\n      " + "\n      ".join(wrong))

    def done(self, least):
        assert not self.failures, f"{len(self.failures)} of {self.tried} statements:\n  " + "\n  ".join(self.failures[:40])
        assert self.tried >= least
        assert sorted(p.name for p in self.folder.iterdir()) == ["canary.csv", "canary.json", "canary.parquet"]


@pytest.fixture(params=["spark", "materialize", "athena"])
def attack(request, server, ns, tmp_path):
    folder = tmp_path / "secret"
    folder.mkdir()
    import pyarrow as pa
    import pyarrow.parquet
    pyarrow.parquet.write_table(pa.table({"a": [CANARY]}), folder / "canary.parquet")
    (folder / "canary.csv").write_text(f"a\n{CANARY}\n")
    (folder / "canary.json").write_text('{"a": "%s"}\n' % CANARY)
    server.sql(f"CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1)")
    a = Attack(server, f"glue_catalog.{ns}", request.param, folder)
    yield a
    a.connection.close()
    assert server.sql(f"SELECT a FROM glue_catalog.{ns}.t") == [(1,)]
    assert server.sql(f"SHOW TABLES IN glue_catalog.{ns}")[0][1] == "t" and len(server.sql(f"SHOW TABLES IN glue_catalog.{ns}")) == 1
    assert server.sql(f"SHOW VIEWS IN glue_catalog.{ns}") == []


def tables(attack):
    return TABLES + (SPARK_TABLES if attack.dialect == "spark" else PG_TABLES)


def test_table_expressions(attack):
    for t in tables(attack):
        attack.refused(attack.statement("SELECT * FROM " + t))
    attack.done(105)


def test_table_expressions_prepared(attack):
    for t in tables(attack):
        attack.refused(attack.statement("SELECT * FROM " + t), prepare=True)
    attack.done(105)


def test_table_expressions_nested(attack):
    nests = NEST + (NEST_SPARK if attack.dialect == "spark" else NEST_PG)
    for i, t in enumerate(tables(attack)):
        for nest in nests if i % 12 == 0 else [nests[i % len(nests)], nests[(i * 5 + 7) % len(nests)]]:
            attack.refused(attack.statement(nest, t=attack.statement(t)))
    attack.done(300)


def test_scalar_expressions(attack):
    for i, e in enumerate(SCALARS):
        for nest in NEST_SCALAR if i % 10 == 0 else [NEST_SCALAR[0], NEST_SCALAR[i % len(NEST_SCALAR)]]:
            attack.refused(attack.statement(nest, e=attack.statement(e)))
    attack.done(120)


def test_statements(attack):
    for s in STATEMENTS + (SPARK_STATEMENTS if attack.dialect == "spark" else PG_STATEMENTS):
        attack.refused(attack.statement(s))
    attack.done(140)


def test_every_table_function_of_the_engine(attack):
    """Whatever the engine has (asked of a DuckDB of the same version): none of it is reachable but what PostgreSQL or Spark have too."""
    duckdb = pytest.importorskip("duckdb")
    names = [r[0] for r in duckdb.connect().execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro', 'pragma')").fetchall()]
    offered = {"generate_series", "range", "unnest", "repeat", "json_each", "version", "pg_timezone_names", "histogram"}
    for name in sorted(set(names) - offered):
        attack.refused(f"SELECT * FROM {name}('{attack.words['f']}')")
        attack.refused(f"SELECT * FROM {name}()")
    attack.done(100)


PLACES = ["{f}", "file:{f}", "file://{f}", "s3://other/x", "s3://warehouse", "s3://warehouse/", "s3://warehouse/{s}.db", "s3://warehouse/{s}.db/mv", "s3://warehouse/{s}.db/mv/data",
          "s3a://warehouse/{s}.db/mv", "s3n://warehouse/{s}.db/mv/x", "s3://warehouse/{s}.db/other/data", "http://127.0.0.1:1/x", "../x", "data", "s3:///x", "s3://"]


def test_storage_in_foreign_places(server, ns, tmp_path):
    """Neither a location nor a property sends files to the host, to another's storage or to a managed view's."""
    server.sql(f"""CREATE TABLE glue_catalog.{ns}.t (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.t VALUES (1); SET spark.sql.mv.managed.enabled = true;
        CREATE TABLE glue_catalog.{ns}.other (a INT) USING iceberg; INSERT INTO glue_catalog.{ns}.other VALUES (1);
        CREATE MANAGED MATERIALIZED VIEW glue_catalog.{ns}.mv AS SELECT a, count(*) AS c FROM glue_catalog.{ns}.t GROUP BY a""")
    before = sorted(o["Key"] for o in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/")["Contents"])
    accepted = []
    for place in PLACES:
        p = place.format(f=tmp_path / "out", s=ns)
        for statement in [f"CREATE TABLE glue_catalog.{ns}.evil (a INT) USING iceberg LOCATION '{p}'", f"CREATE TABLE glue_catalog.{ns}.evil USING iceberg LOCATION '{p}' AS SELECT 1 AS a",
                          f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.evil LOCATION '{p}' AS SELECT a FROM glue_catalog.{ns}.t",
                          f"ALTER TABLE glue_catalog.{ns}.t SET LOCATION '{p}'", f"ALTER TABLE glue_catalog.{ns}.t SET TBLPROPERTIES ('location' = '{p}')"]:
            try:
                server.sql(statement)
                accepted.append(statement)
            except psycopg.Error:
                pass
        for key in ("write.data.path", "write.metadata.path", "write.object-storage.path", "write.folder-storage.path"):
            for statement in [f"ALTER TABLE glue_catalog.{ns}.t SET TBLPROPERTIES ('{key}' = '{p}')", f"CREATE TABLE glue_catalog.{ns}.evil (a INT) USING iceberg TBLPROPERTIES ('{key}' = '{p}')",
                              f"CREATE MATERIALIZED VIEW glue_catalog.{ns}.evil TBLPROPERTIES ('{key}' = '{p}') AS SELECT a FROM glue_catalog.{ns}.t"]:
                try:
                    server.sql(statement)
                    accepted.append(statement)
                except psycopg.Error:
                    pass
    assert not accepted, "\n".join(accepted)
    for i, place in enumerate(["{f}", "file:{f}", "s3://other/x", "s3://warehouse/{s}.db/mv"]):
        try:
            server.sql(f"CREATE NAMESPACE glue_catalog.{ns}_{i} LOCATION '{place.format(f=tmp_path / 'out', s=ns)}'")
        except psycopg.Error:
            continue
        with pytest.raises(psycopg.Error):
            server.sql(f"CREATE TABLE glue_catalog.{ns}_{i}.t USING iceberg AS SELECT 1 AS a")
    assert list(tmp_path.iterdir()) == []
    assert sorted(o["Key"] for o in server.s3().list_objects_v2(Bucket="warehouse", Prefix=f"{ns}.db/")["Contents"]) == before


@pytest.mark.parametrize("dialect", ["spark", "materialize"])
@pytest.mark.parametrize("option", ["memory_limit=1MB", "enable_external_access=true", "lock_configuration=false", "temp_directory=/tmp", "server_version=1"])
def test_startup_options(server, dialect, option):
    with pytest.raises(psycopg.Error):
        server.connect(dialect, options=f"-c {option}").close()


def test_current_setting_knows_no_engine_setting(server):
    for name in ("memory_limit", "secret_directory", "temp_directory", "threads", "lock_configuration", "extension_directory"):
        try:
            assert server.sql(f"SELECT current_setting('{name}')", "materialize") == [(None,)]
        except psycopg.Error:
            pass


def test_views_made_through_rest(server, ns, tmp_path):
    """A view's SQL is stored as it comes from Iceberg REST; reading it obeys the same list."""
    import requests
    (tmp_path / "canary.csv").write_text(f"a\n{CANARY}\n")
    token = requests.post(f"{server.lake}/iceberg/v1/oauth/tokens", data={"grant_type": "client_credentials", "client_id": server.key, "client_secret": server.secret, "scope": "catalog"}).json()["access_token"]
    head = {"Authorization": f"Bearer {token}"}
    prefix = requests.get(f"{server.lake}/iceberg/v1/config", params={"warehouse": "123456789012"}, headers=head).json()
    prefix = {**prefix.get("defaults", {}), **prefix.get("overrides", {})}.get("prefix", "")
    base = f"{server.lake}/iceberg/v1/{prefix + '/' if prefix else ''}namespaces/{ns}/views"
    for dialect in ("spark", "postgres", "duckdb", "trino"):
        body = {"name": f"v_{dialect}", "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "a", "required": False, "type": "string"}]}, "properties": {},
                "view-version": {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": [ns],
                                 "representations": [{"type": "sql", "sql": f"SELECT * FROM read_csv('{tmp_path}/canary.csv')", "dialect": dialect}]}}
        r = requests.post(base, json=body, headers=head)
        for speaker in ("spark", "materialize"):
            with pytest.raises(psycopg.Error) as e:
                server.sql(f"SELECT * FROM glue_catalog.{ns}.v_{dialect}", speaker)
            assert CANARY not in str(e.value)
        if r.status_code == 200:
            requests.delete(f"{base}/v_{dialect}", headers=head)
