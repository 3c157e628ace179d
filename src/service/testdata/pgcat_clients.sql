-- What drivers and tools ask, by topic, in our own words; statements are separated by a line of two semicolons.
;;
SELECT current_database(), current_schema(), current_schemas(true), current_user, session_user, version()
;;
SELECT current_setting('server_version_num')::int >= 90000 AS modern, set_config('jit', 'off', false), pg_backend_pid() > 0
;;
SELECT 't1'::regclass::oid, to_regclass('public.t1'), to_regclass('nosuch'), 'pg_catalog.int4'::regtype::oid, CAST('pg_class' AS REGCLASS)
;;
-- SQLAlchemy: names of one kind
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND pg_catalog.pg_table_is_visible(c.oid) AND n.nspname != 'pg_catalog'
;;
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\_%' ORDER BY nspname
;;
-- SQLAlchemy: columns
SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
  (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef) AS dflt,
  a.attnotnull, c.relname, dsc.description, a.attgenerated,
  (SELECT json_build_object('always', a.attidentity = 'a', 'start', s.seqstart, 'cycle', s.seqcycle) FROM pg_sequence s
   WHERE a.attidentity != '' AND s.seqrelid = CAST(CAST(pg_get_serial_sequence(CAST(CAST(a.attrelid AS REGCLASS) AS TEXT), a.attname) AS REGCLASS) AS OID)) AS ident
FROM pg_class c LEFT OUTER JOIN pg_attribute a ON c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
LEFT OUTER JOIN pg_description dsc ON dsc.objoid = a.attrelid AND dsc.objsubid = a.attnum AND dsc.classoid = CAST('pg_catalog.pg_class' AS REGCLASS)
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = ANY (ARRAY['r', 'v', 'm']) AND c.relname IN ('t1', 'v1') ORDER BY c.relname, a.attnum
;;
-- SQLAlchemy: keys
SELECT r.conrelid, con.conname, attr.attname, con.indnkeyatts FROM (
  SELECT co.oid, co.conname, co.conrelid, unnest(co.conkey) AS attnum, generate_subscripts(co.conkey, 1) AS ord, 1 AS indnkeyatts
  FROM pg_constraint co WHERE co.contype = 'p') con
JOIN pg_constraint r ON r.oid = con.oid JOIN pg_attribute attr ON attr.attnum = con.attnum AND attr.attrelid = con.conrelid ORDER BY con.ord
;;
SELECT i.indexrelid, i.indrelid, ci.relname, i.indisunique, i.indkey, i.indoption, am.amname, pg_get_expr(i.indpred, i.indrelid), ci.reloptions
FROM pg_index i JOIN pg_class ci ON i.indexrelid = ci.oid JOIN pg_am am ON ci.relam = am.oid
LEFT JOIN pg_constraint co ON i.indrelid = co.conrelid AND i.indexrelid = co.conindid AND co.contype = ANY (ARRAY['p', 'u', 'x'])
WHERE NOT i.indisprimary ORDER BY i.indrelid, ci.relname
;;
SELECT t.typname, e.labels FROM pg_type t LEFT JOIN (SELECT enumtypid, array_agg(CAST(enumlabel AS TEXT) ORDER BY enumsortorder) AS labels
FROM pg_enum GROUP BY enumtypid) e ON t.oid = e.enumtypid WHERE t.typtype = 'e'
;;
-- psycopg: one type by name
SELECT typname AS name, oid, typarray AS array_oid, oid::regtype::text AS regtype, typdelim AS delimiter FROM pg_type t WHERE t.oid = to_regtype($1) ORDER BY t.oid
;;
-- asyncpg: types with their elements, recursively
WITH RECURSIVE tree(oid, name, kind, elem, depth) AS (
  SELECT t.oid, t.typname, t.typtype, t.typelem, 0 FROM pg_type t WHERE t.oid = ANY ($1::oid[])
  UNION ALL
  SELECT t.oid, t.typname, t.typtype, t.typelem, tree.depth + 1 FROM pg_type t, tree WHERE tree.elem <> 0 AND t.oid = tree.elem)
SELECT DISTINCT *, (SELECT format_type(oid, NULL)) FROM tree ORDER BY depth DESC
;;
-- pgjdbc: tables, columns, primary keys, types
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,
  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN 'SYSTEM TABLE' WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE'
  WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE NULL END AS TABLE_TYPE, d.description AS REMARKS
FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass)
WHERE c.relnamespace = n.oid AND c.relname LIKE '%' AND (false OR (c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'))
ORDER BY TABLE_TYPE, TABLE_SCHEM, TABLE_NAME
;;
SELECT * FROM (SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen,
  row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') AS attidentity, t.typbasetype, t.typtype
  FROM pg_namespace n JOIN pg_class c ON (c.relnamespace = n.oid) JOIN pg_attribute a ON (a.attrelid = c.oid) JOIN pg_type t ON (a.atttypid = t.oid)
  WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'public') c WHERE true AND attname LIKE '%'
;;
SELECT result.attname, result.key_seq FROM (SELECT a.attname, (i.keys).n AS key_seq FROM pg_class ct JOIN pg_attribute a ON (ct.oid = a.attrelid)
  JOIN (SELECT ix.indrelid, information_schema._pg_expandarray(ix.indkey) AS keys FROM pg_index ix WHERE ix.indisprimary) i
  ON (a.attnum = (i.keys).x AND a.attrelid = i.indrelid)) result, (SELECT 1) x
;;
SELECT typinput = 'array_in'::regproc AS is_array, typtype, typname, t.oid FROM pg_type t
LEFT JOIN (SELECT ns.oid AS nspoid, ns.nspname, r.r FROM pg_namespace ns JOIN (SELECT s.r, (current_schemas(false))[s.r] AS nspname
  FROM generate_series(1, array_upper(current_schemas(false), 1)) AS s(r)) AS r USING (nspname)) AS sp ON sp.nspoid = typnamespace
WHERE typname = 'int4' ORDER BY sp.r, t.oid DESC
;;
SELECT setting FROM pg_settings WHERE name = 'max_index_keys'
;;
-- Npgsql: all types with what they are made of
SELECT ns.nspname, typ.oid, typ.typname, typ.typtype, typ.typnotnull, elemtyp.oid AS elemtypoid FROM (
  SELECT t.oid, t.typname, t.typnamespace, t.typnotnull, t.typrelid, CASE WHEN p.proname = 'array_recv' THEN 'a' ELSE t.typtype END AS typtype,
  CASE WHEN p.proname = 'array_recv' THEN t.typelem WHEN t.typtype = 'r' THEN r.rngsubtype END AS elemtypoid
  FROM pg_type t LEFT JOIN pg_class c ON (c.oid = t.typrelid) LEFT JOIN pg_proc p ON p.oid = t.typreceive LEFT JOIN pg_range r ON (r.rngtypid = t.oid)) typ
LEFT JOIN pg_type elemtyp ON elemtyp.oid = typ.elemtypoid JOIN pg_namespace ns ON (ns.oid = typ.typnamespace)
WHERE typ.typtype IN ('b', 'r', 'm', 'e', 'd') OR (typ.typtype = 'a' AND elemtyp.typtype IN ('b', 'r', 'm', 'e', 'd'))
ORDER BY CASE WHEN typ.typtype IN ('b', 'e', 'p') THEN 0 WHEN typ.typtype = 'r' THEN 1 ELSE 2 END
;;
-- DBeaver: schemas, relations with their descriptions, columns with defaults
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0
AND d.classoid = 'pg_namespace'::regclass ORDER BY nspname
;;
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relkind NOT IN ('i', 'I', 'c')
;;
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped ORDER BY a.attnum
;;
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')
;;
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate OR db.datname = 'materialize' ORDER BY db.datname
;;
-- Metabase, Superset, Grafana
SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' END AS type,
  d.description, stat.n_live_tup AS estimated_row_count FROM pg_catalog.pg_class c INNER JOIN pg_catalog.pg_namespace n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_description d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
LEFT JOIN pg_stat_user_tables stat ON n.nspname = stat.schemaname AND c.relname = stat.relname
WHERE c.relnamespace = n.oid AND n.nspname !~ '^(information_schema|catalog_history|pg_)' AND c.relkind IN ('r', 'p', 'v', 'f', 'm') ORDER BY type, schema, name
;;
WITH table_privileges AS (SELECT NULL AS role, t.schemaname AS schema, t.objectname AS "table", pg_catalog.has_any_column_privilege(current_user,
  '"' || replace(t.schemaname, '"', '""') || '"."' || replace(t.objectname, '"', '""') || '"', 'update') AS update,
  pg_catalog.has_table_privilege(current_user, '"' || t.schemaname || '"."' || t.objectname || '"', 'SELECT') AS "select"
  FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables UNION SELECT schemaname, viewname FROM pg_views UNION SELECT schemaname, matviewname FROM pg_matviews) t
  WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema' AND pg_catalog.has_schema_privilege(current_user, t.schemaname, 'usage'))
SELECT t.* FROM table_privileges t
;;
SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog', '_timescaledb_internal') AND
table_type = 'BASE TABLE' AND table_schema IN (SELECT CASE WHEN trim(unnest) = '"$user"' THEN user ELSE trim(unnest) END FROM unnest(string_to_array(current_setting('search_path'), ',')))
;;
SELECT column_name, udt_name::text, data_type, ordinal_position, character_maximum_length, numeric_precision, numeric_scale FROM information_schema.columns
WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position
;;
SELECT kcu.column_name FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name
AND tc.table_schema = kcu.table_schema WHERE tc.constraint_type = 'PRIMARY KEY' AND tc.table_name = 't1'
;;
SELECT schema_name, schema_owner FROM information_schema.schemata WHERE catalog_name = current_database()
;;
SELECT pg_size_pretty(pg_total_relation_size('public.t1')), pg_relation_size('t1'::regclass), pg_database_size(current_database()), obj_description('t1'::regclass, 'pg_class'), col_description('t1'::regclass, 1)
;;
SELECT pid, usename, state FROM pg_stat_activity WHERE pid = pg_backend_pid()
;;
SELECT table_name, view_definition FROM information_schema.views UNION ALL SELECT viewname, definition FROM pg_views
;;
SELECT rolname, rolsuper, oid FROM pg_roles WHERE rolname = current_user
