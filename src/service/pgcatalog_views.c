/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_views.c - the relations that have content, as expressions over the temporary and the static tables.
 *
 * A column without an expression is NULL; a relation that is not here is empty. */
#include "service/pgcatalog_int.h"

const PgcatTable pgcat_temps[PGT_COUNT] = {
    [PGT_REL] = { "", "firn_pg_rel", "oid:o name:s ns:o kind:s owner:o natts:h visible:b definition:s bytes:l rows:d comment:s of:o keys:H acl:S" },
    [PGT_COL] = { "", "firn_pg_col", "rel:o num:h name:s type:o typmod:i ndims:i not_null:b default_:s comment:s" },
    [PGT_NS] = { "", "firn_pg_ns", "oid:o name:s owner:o" },
    [PGT_ROLE] = { "", "firn_pg_role", "oid:o name:s super:b inherit:b login:b" },
    [PGT_DB] = { "", "firn_pg_db", "oid:o name:s" },
    [PGT_SETTING] = { "", "firn_pg_setting", "name:s setting:s" },
    [PGT_SESSION] = { "", "firn_pg_session", "schema:s database:s user_:s pid:i started:t environment:s super:b" },
    [PGT_MEMBER] = { "", "firn_pg_member", "role:o member:o grantor:o" },
    [PGT_REACH] = { "", "firn_pg_reach", "role:o via:o" },                  /* what a role is a member of, itself and PUBLIC (0) too */
    [PGT_MADE] = { "", "firn_pg_made", "oid:o name:s ns:o owner:o kind:s rel:o element:o arr:o" },      /* types that CREATE TYPE made, and their arrays */
    [PGT_ACL] = { "", "firn_pg_acl", "kind:s object:o name:s grantee:o letter:s" },
};

#define REL_NS "firn_pg_rel r JOIN firn_pg_ns n ON n.oid = r.ns"
#define REL_NS_SESSION REL_NS " CROSS JOIN firn_pg_session s"
#define COLUMNS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define OWNER "(SELECT o.name FROM firn_pg_role o WHERE o.oid = r.owner)"
#define IS_ARRAY "(t.element <> 0 AND t.len = -1)"

#define STAT_TABLE COLUMNS("relid", "r.oid", "schemaname", "n.name", "relname", "r.name", "n_live_tup", "CAST(r.rows AS BIGINT)")
#define DATABASE_ROLE COLUMNS("usename", "r.name", "usesysid", "r.oid", "usecreatedb", "r.super", "usesuper", "r.super", "userepl", "false", \
    "usebypassrls", "r.super", "passwd", "'********'")
#define ROLE(...) COLUMNS("oid", "r.oid", "rolname", "r.name", "rolsuper", "r.super", "rolinherit", "r.inherit", "rolcreaterole", "r.super", \
    "rolcreatedb", "r.super", "rolcanlogin", "r.login", "rolreplication", "false", "rolconnlimit", "-1", "rolpassword", "'********'", \
    "rolbypassrls", "r.super" __VA_ARGS__)

const PgcatView pgcat_views[] = {
    { "pg_class", "firn_pg_rel r", COLUMNS("oid", "r.oid", "relname", "r.name", "relnamespace", "r.ns", "reltype", "CASE r.kind WHEN 'c' THEN r.of ELSE 0 END", "reloftype", "0",
        "relowner", "r.owner", "relam", "CASE r.kind WHEN 'v' THEN 0 WHEN 'i' THEN 403 ELSE 2 END", "relfilenode", "0", "reltablespace", "0", "relpages", "0",
        "reltuples", "coalesce(r.rows, -1)", "relallvisible", "0", "reltoastrelid", "0", "relhasindex", "r.oid IN (SELECT x.of FROM firn_pg_rel x WHERE x.kind = 'i')", "relacl", "r.acl", "relisshared", "false",
        "relpersistence", "'p'", "relkind", "r.kind", "relnatts", "r.natts", "relchecks", "0", "relhasrules", "r.kind = 'v'", "relhastriggers",
        "false", "relhassubclass", "false", "relrowsecurity", "false", "relforcerowsecurity", "false", "relispopulated", "true",
        "relreplident", "'d'", "relispartition", "false", "relrewrite", "0", "relfrozenxid", "0", "relminmxid", "0") },
    { "pg_attribute", "firn_pg_col c LEFT JOIN firn_pg_types t ON t.oid = c.type", COLUMNS("attrelid", "c.rel", "attname", "c.name", "atttypid",
        "c.type", "attstattarget", "-1", "attlen", "coalesce(t.len, -1)", "attnum", "c.num", "attndims", "c.ndims", "attcacheoff", "-1", "atttypmod",
        "c.typmod", "attbyval", "coalesce(t.byval, false)", "attalign", "coalesce(t.align, 'i')", "attstorage", "coalesce(t.storage, 'x')",
        "attcompression", "''", "attnotnull", "c.not_null", "atthasdef", "c.default_ IS NOT NULL", "atthasmissing", "false", "attidentity", "''",
        "attgenerated", "''", "attisdropped", "false", "attislocal", "true", "attinhcount", "0", "attcollation", "coalesce(t.coll, 0)") },
    { "pg_attrdef", "firn_pg_col c WHERE c.default_ IS NOT NULL", COLUMNS("oid", "(c.rel + c.num) % 4294967295", "adrelid", "c.rel", "adnum", "c.num",
        "adbin", "c.default_") },
    { "pg_index", "firn_pg_rel r WHERE r.kind = 'i'", COLUMNS("indexrelid", "r.oid", "indrelid", "r.of", "indnatts", "len(r.keys)", "indnkeyatts", "len(r.keys)",
        "indisunique", "false", "indnullsnotdistinct", "false", "indisprimary", "false", "indisexclusion", "false", "indimmediate", "false", "indisclustered", "false",
        "indisvalid", "true", "indcheckxmin", "false", "indisready", "true", "indislive", "true", "indisreplident", "false", "indkey", "r.keys", "indcollation",
        "[0 FOR x IN r.keys]", "indclass", "[0 FOR x IN r.keys]", "indoption", "[0 FOR x IN r.keys]") },
    { "pg_indexes", REL_NS " JOIN firn_pg_rel t ON t.oid = r.of WHERE r.kind = 'i'", COLUMNS("schemaname", "n.name", "tablename", "t.name", "indexname", "r.name",
        "indexdef", "r.definition") },
    { "pg_auth_members", "firn_pg_member m", COLUMNS("roleid", "m.role", "member", "m.member", "grantor", "m.grantor", "admin_option", "false") },
    { "pg_namespace", "firn_pg_ns n", COLUMNS("oid", "n.oid", "nspname", "n.name", "nspowner", "n.owner") },
    { "pg_description", "(SELECT oid, 0 AS sub, comment FROM firn_pg_rel UNION ALL SELECT rel, num, comment FROM firn_pg_col) d WHERE d.comment IS NOT NULL",
      COLUMNS("objoid", "d.oid", "classoid", "1259", "objsubid", "d.sub", "description", "d.comment") },
    { "pg_type", "(SELECT oid, name, 11 AS ns, 10 AS owner, len, byval, kind, category, preferred, 0 AS rel, element, arr, input, output, receive, send, align, storage, coll FROM firn_pg_types "
        "UNION ALL SELECT oid, name, ns, owner, -1, false, kind, CASE kind WHEN 'c' THEN 'C' WHEN 'b' THEN 'A' ELSE 'U' END, false, rel, element, arr, CASE kind WHEN 'c' THEN 2290 ELSE 750 END, "
        "CASE kind WHEN 'c' THEN 2291 ELSE 751 END, CASE kind WHEN 'c' THEN 2402 ELSE 2400 END, CASE kind WHEN 'c' THEN 2403 ELSE 2401 END, 'd', 'x', 0 FROM firn_pg_made) t",
      COLUMNS("oid", "t.oid", "typname", "t.name", "typnamespace", "t.ns", "typowner", "t.owner", "typlen", "t.len", "typbyval",
        "t.byval", "typtype", "t.kind", "typcategory", "t.category", "typispreferred", "t.preferred", "typisdefined", "true", "typdelim", "','",
        "typrelid", "t.rel", "typsubscript", "0", "typelem", "t.element", "typarray", "t.arr", "typinput", "t.input", "typoutput", "t.output",
        "typreceive", "t.receive", "typsend", "t.send", "typmodin", "0", "typmodout", "0", "typanalyze", "0", "typalign", "t.align", "typstorage",
        "t.storage", "typnotnull", "false", "typbasetype", "0", "typtypmod", "-1", "typndims", "0", "typcollation", "t.coll") },
    { "pg_range", "(VALUES (3904, 23), (3906, 1700), (3908, 1114), (3910, 1184), (3912, 1082), (3926, 20)) r(oid, subtype)", COLUMNS("rngtypid", "r.oid", "rngsubtype", "r.subtype",
        "rngmultitypid", "0", "rngcollation", "0", "rngsubopc", "0", "rngcanonical", "0", "rngsubdiff", "0") },
    { "pg_proc", "firn_pg_procs p", COLUMNS("oid", "p.oid", "proname", "p.name", "pronamespace", "11", "proowner", "10", "prolang", "12", "procost", "1",
        "prorows", "0", "provariadic", "0", "prosupport", "0", "prokind", "'f'", "prosecdef", "false", "proleakproof", "false", "proisstrict", "true",
        "proretset", "false", "provolatile", "'i'", "proparallel", "'s'", "pronargs", "1", "pronargdefaults", "0", "prorettype", "p.result",
        "prosrc", "p.name") },
    { "pg_database", "firn_pg_db d", COLUMNS("oid", "d.oid", "datname", "d.name", "datdba", "10", "encoding", "6", "datlocprovider", "'c'", "datistemplate",
        "false", "datallowconn", "true", "datconnlimit", "-1", "datfrozenxid", "0", "datminmxid", "0", "dattablespace", "1663", "datcollate", "'C'",
        "datctype", "'C'") },
    { "pg_authid", "firn_pg_role r", ROLE() },
    { "pg_roles", "firn_pg_role r", ROLE() },
    { "pg_user", "firn_pg_role r", DATABASE_ROLE },
    { "pg_shadow", "firn_pg_role r", DATABASE_ROLE },
    { "pg_settings", "firn_pg_all_setting s", COLUMNS("name", "s.name", "setting", "s.setting", "category", "'Session'", "short_desc", "''", "context", "'user'",
        "vartype", "'string'", "source", "'session'", "boot_val", "s.setting", "reset_val", "s.setting", "pending_restart", "false") },
    { "pg_am", "(VALUES (2, 'iceberg', 't'), (403, 'arrangement', 'i')) a(oid, name, type)", COLUMNS("oid", "a.oid", "amname", "a.name", "amhandler", "3", "amtype", "a.type") },
    { "pg_tablespace", "(VALUES (1663, 'pg_default'), (1664, 'pg_global')) t(oid, name)", COLUMNS("oid", "t.oid", "spcname", "t.name", "spcowner", "10") },
    { "pg_collation", "(VALUES (100, 'default', 'd', -1), (950, 'C', 'c', -1), (951, 'POSIX', 'c', -1)) t(oid, name, provider, encoding)",
      COLUMNS("oid", "t.oid", "collname", "t.name", "collnamespace", "11", "collowner", "10", "collprovider", "t.provider", "collisdeterministic", "true",
        "collencoding", "t.encoding", "collcollate", "CASE WHEN t.oid > 100 THEN t.name END", "collctype", "CASE WHEN t.oid > 100 THEN t.name END") },
    { "pg_language", "(VALUES (12, 'internal', false), (13, 'c', false), (14, 'sql', true)) t(oid, name, trusted)", COLUMNS("oid", "t.oid", "lanname",
        "t.name", "lanowner", "10", "lanispl", "false", "lanpltrusted", "t.trusted", "lanplcallfoid", "0", "laninline", "0", "lanvalidator", "0", "tableoid", "2612") },
    { "pg_timezone_names", "(SELECT 1)", COLUMNS("name", "'UTC'", "abbrev", "'UTC'", "utc_offset", "'00:00:00'", "is_dst", "false") },
    { "pg_tables", REL_NS " WHERE r.kind = 'r'", COLUMNS("schemaname", "n.name", "tablename", "r.name", "tableowner", OWNER, "hasindexes", "false",
        "hasrules", "false", "hastriggers", "false", "rowsecurity", "false") },
    { "pg_views", REL_NS " WHERE r.kind = 'v'", COLUMNS("schemaname", "n.name", "viewname", "r.name", "viewowner", OWNER, "definition", "r.definition") },
    { "pg_matviews", REL_NS " WHERE r.kind = 'm'", COLUMNS("schemaname", "n.name", "matviewname", "r.name", "matviewowner", OWNER, "hasindexes", "false",
        "ispopulated", "true", "definition", "r.definition") },
    { "pg_stat_all_tables", REL_NS " WHERE r.kind NOT IN ('v', 'i')", STAT_TABLE },
    { "pg_stat_user_tables", REL_NS " WHERE r.kind NOT IN ('v', 'i')", STAT_TABLE },
    { "pg_statio_all_tables", REL_NS " WHERE r.kind NOT IN ('v', 'i')", COLUMNS("relid", "r.oid", "schemaname", "n.name", "relname", "r.name") },
    { "pg_statio_user_tables", REL_NS " WHERE r.kind NOT IN ('v', 'i')", COLUMNS("relid", "r.oid", "schemaname", "n.name", "relname", "r.name") },
    { "pg_stat_database", "firn_pg_db d", COLUMNS("datid", "d.oid", "datname", "d.name") },
    { "pg_stat_activity", "firn_pg_session s", COLUMNS("datname", "s.database", "pid", "s.pid", "usename", "s.user_", "state", "'active'", "backend_start",
        "s.started", "backend_type", "'client backend'") },

    { "information_schema_catalog_name", "firn_pg_session s", COLUMNS("catalog_name", "s.database") },
    { "schemata", "firn_pg_ns n CROSS JOIN firn_pg_session s", COLUMNS("catalog_name", "s.database", "schema_name", "n.name", "schema_owner",
        "(SELECT o.name FROM firn_pg_role o WHERE o.oid = n.owner)") },
    { "tables", REL_NS_SESSION " WHERE r.kind <> 'i'", COLUMNS("table_catalog", "s.database", "table_schema", "n.name", "table_name", "r.name", "table_type",
        "CASE r.kind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'BASE TABLE' END", "is_insertable_into",
        "CASE r.kind WHEN 'r' THEN 'YES' ELSE 'NO' END", "is_typed", "'NO'") },
    { "views", REL_NS_SESSION " WHERE r.kind IN ('v', 'm')", COLUMNS("table_catalog", "s.database", "table_schema", "n.name", "table_name", "r.name",
        "view_definition", "r.definition", "check_option", "'NONE'", "is_updatable", "'NO'", "is_insertable_into", "'NO'", "is_trigger_updatable",
        "'NO'", "is_trigger_deletable", "'NO'", "is_trigger_insertable_into", "'NO'") },
    { "columns", REL_NS_SESSION " JOIN firn_pg_col c ON c.rel = r.oid LEFT JOIN firn_pg_types t ON t.oid = c.type WHERE r.kind <> 'i'",
      COLUMNS("table_catalog", "s.database", "table_schema", "n.name", "table_name", "r.name", "column_name", "c.name", "ordinal_position", "c.num",
        "column_default", "c.default_", "is_nullable", "CASE WHEN c.not_null THEN 'NO' ELSE 'YES' END", "data_type",
        "CASE WHEN " IS_ARRAY " THEN 'ARRAY' ELSE firn_pg_format_type(c.type, -1) END", "character_maximum_length",
        "CASE WHEN c.type IN (1042, 1043) AND c.typmod > 4 THEN c.typmod - 4 END", "character_octet_length",
        "CASE WHEN c.type IN (25, 1042, 1043) THEN 1073741824 END", "numeric_precision",
        "CASE c.type WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53 WHEN 1700 THEN CASE WHEN c.typmod > 4 THEN "
        "(c.typmod - 4) >> 16 END END", "numeric_precision_radix",
        "CASE WHEN c.type IN (21, 23, 20, 700, 701) THEN 2 WHEN c.type = 1700 THEN 10 END", "numeric_scale",
        "CASE WHEN c.type IN (21, 23, 20) THEN 0 WHEN c.type = 1700 AND c.typmod > 4 THEN (c.typmod - 4) & 65535 END", "datetime_precision",
        "CASE WHEN c.type = 1082 THEN 0 WHEN c.type IN (1083, 1114, 1184, 1186, 1266) THEN 6 END", "udt_catalog", "s.database", "udt_schema",
        "'pg_catalog'", "udt_name", "t.name", "dtd_identifier", "CAST(c.num AS VARCHAR)", "is_self_referencing", "'NO'", "is_identity", "'NO'",
        "is_generated", "'NEVER'", "is_updatable", "CASE r.kind WHEN 'r' THEN 'YES' ELSE 'NO' END", "identity_cycle", "'NO'") },
    { "table_privileges", REL_NS_SESSION " WHERE r.kind <> 'i'", COLUMNS("grantor", OWNER, "grantee", "s.user_", "table_catalog", "s.database", "table_schema", "n.name",
        "table_name", "r.name", "privilege_type", "'SELECT'", "is_grantable", "'NO'", "with_hierarchy", "'YES'") },
    { "role_table_grants", REL_NS_SESSION " WHERE r.kind <> 'i'", COLUMNS("grantor", OWNER, "grantee", "s.user_", "table_catalog", "s.database", "table_schema", "n.name",
        "table_name", "r.name", "privilege_type", "'SELECT'", "is_grantable", "'NO'", "with_hierarchy", "'YES'") },
    { "enabled_roles", "firn_pg_session s", COLUMNS("role_name", "s.user_") },
    { "character_sets", "firn_pg_session s", COLUMNS("character_set_name", "'UTF8'", "character_repertoire", "'UCS'", "form_of_use", "'UTF8'",
        "default_collate_catalog", "s.database", "default_collate_schema", "'pg_catalog'", "default_collate_name", "'C'") },
};

size_t pgcat_nviews(void) { return COUNT_OF(pgcat_views); }
