/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_macros.c - PostgreSQL's catalog functions as macros over the temporary tables (documentation 9.26).
 *
 * Parameters begin with an underscore and inner tables have aliases of their own, so that no argument's column is caught by a
 * column inside.  What a function says of things that do not exist here (triggers, rules, functions) is NULL or true. */
#include "service/pgcatalog_int.h"

#define MACRO(head, body) "CREATE OR REPLACE MACRO firn_pg_" head " AS " body
#define ALWAYS(name, value) MACRO(name "(_x)", value)
#define NO_TEXT(name) MACRO(name "(_x)", "CAST(NULL AS VARCHAR)")

const char *const pgcat_macros[] = {
    MACRO("version()", "'PostgreSQL 15.0 (firn) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit'"),
    MACRO("quote_ident(_s)", "CASE WHEN regexp_full_match(_s, '[a-z_][a-z0-9_$]*') AND _s NOT IN ('all', 'and', 'as', 'case', 'cast', "
          "'check', 'column', 'constraint', 'create', 'current_date', 'default', 'desc', 'distinct', 'else', 'end', 'except', 'false', "
          "'fetch', 'for', 'foreign', 'from', 'grant', 'group', 'having', 'in', 'into', 'limit', 'not', 'null', 'offset', 'on', 'only', "
          "'or', 'order', 'primary', 'references', 'select', 'table', 'then', 'to', 'true', 'union', 'unique', 'user', 'using', 'when', "
          "'where', 'window', 'with') THEN _s ELSE '\"' || replace(_s, '\"', '\"\"') || '\"' END"),

    /* ---- names to ids ---- */
    MACRO("unquote_path(_s)", "CASE WHEN starts_with(_s, '\"') THEN replace(_s, '\"', '') ELSE lower(_s) END"),
    MACRO("unquote(_s)", "CASE WHEN starts_with(_s, '\"') THEN replace(_s[2:-2], '\"\"', '\"') ELSE lower(_s) END"),
    MACRO("system_oid(_s)", "(SELECT firn_s.oid FROM firn_pg_system firn_s WHERE firn_s.name = _s)"),
    MACRO("relation_oid(_ns, _name)", "(SELECT min(firn_r.oid) FROM firn_pg_rel firn_r, firn_pg_ns firn_n WHERE firn_n.oid = firn_r.ns AND "
          "firn_r.name = _name AND CASE WHEN _ns = '' THEN firn_r.visible ELSE firn_n.name = _ns END)"),
    MACRO("to_regclass(_s)", "CASE WHEN regexp_full_match(_s, '[0-9]+') THEN TRY_CAST(_s AS UINTEGER) ELSE coalesce("
          "firn_pg_relation_oid(firn_pg_unquote_path(regexp_extract(_s, '^(?:(.*)\\.)?(\"(?:[^\"]|\"\")*\"|[^.\"]*)$', 1)), "
          "firn_pg_unquote(regexp_extract(_s, '^(?:(.*)\\.)?(\"(?:[^\"]|\"\")*\"|[^.\"]*)$', 2))), "
          "firn_pg_system_oid(regexp_replace(lower(_s), '^pg_catalog\\.', ''))) END"),
    MACRO("to_regtype(_s)", "CASE WHEN regexp_full_match(_s, '[0-9]+') THEN TRY_CAST(_s AS UINTEGER) ELSE (SELECT min(firn_t.oid) FROM "
          "firn_pg_type_name firn_t WHERE regexp_replace(lower(_s), '^pg_catalog\\.', '') IN (firn_t.short, firn_t.long) HAVING count(*) > 0 UNION ALL SELECT min(firn_d.oid) FROM firn_pg_made firn_d "
          "JOIN firn_pg_ns firn_n ON firn_n.oid = firn_d.ns WHERE replace(_s, '\"', '') IN (firn_d.name, firn_n.name || '.' || firn_d.name) LIMIT 1) END"),
    MACRO("to_regproc(_s)", "CASE WHEN regexp_full_match(_s, '[0-9]+') THEN TRY_CAST(_s AS UINTEGER) ELSE (SELECT min(firn_p.oid) FROM "
          "firn_pg_procs firn_p WHERE firn_p.name = regexp_replace(lower(_s), '^pg_catalog\\.', '')) END"),
    MACRO("to_regprocedure(_s)", "firn_pg_to_regproc(regexp_replace(_s, '\\(.*\\)$', ''))"),
    MACRO("to_regnamespace(_s)", "CASE WHEN regexp_full_match(_s, '[0-9]+') THEN TRY_CAST(_s AS UINTEGER) ELSE (SELECT min(firn_n.oid) FROM "
          "firn_pg_ns firn_n WHERE firn_n.name = firn_pg_unquote(_s)) END"),
    MACRO("to_regrole(_s)", "CASE WHEN regexp_full_match(_s, '[0-9]+') THEN TRY_CAST(_s AS UINTEGER) ELSE (SELECT min(firn_r.oid) FROM "
          "firn_pg_role firn_r WHERE lower(firn_r.name) = lower(firn_pg_unquote(_s))) END"),
    MACRO("to_regcollation(_s)", "CASE lower(trim(_s, '\"')) WHEN 'default' THEN 100::UINTEGER WHEN 'c' THEN 950::UINTEGER END"),
    MACRO("to_regoper(_s)", "TRY_CAST(_s AS UINTEGER)"),
    MACRO("to_regoperator(_s)", "TRY_CAST(_s AS UINTEGER)"),
    MACRO("to_regconfig(_s)", "TRY_CAST(_s AS UINTEGER)"),
    MACRO("to_regdictionary(_s)", "TRY_CAST(_s AS UINTEGER)"),
    MACRO("relation(_x)", "coalesce(TRY_CAST(CAST(_x AS VARCHAR) AS UINTEGER), firn_pg_to_regclass(CAST(_x AS VARCHAR)))"),

    /* ---- ids to texts ---- */
    MACRO("format_type(_t, _m)", "CASE WHEN _t IS NULL THEN NULL ELSE coalesce((SELECT firn_t.base_long || CASE WHEN coalesce(_m, -1) < 4 THEN '' "
          "WHEN firn_t.base = 1700 THEN '(' || ((_m - 4) >> 16) || ',' || ((_m - 4) & 65535) || ')' "
          "WHEN firn_t.base IN (1042, 1043) THEN '(' || (_m - 4) || ')' ELSE '' END || firn_t.suffix FROM firn_pg_type_name firn_t "
          "WHERE firn_t.oid = _t), (SELECT CASE firn_d.kind WHEN 'b' THEN substr(firn_d.name, 2) || '[]' ELSE firn_d.name END FROM firn_pg_made firn_d WHERE firn_d.oid = _t), CASE WHEN _t = 0 THEN '-' ELSE '?\?\?' END) END"),
    MACRO("from_regclass(_x)", "coalesce((SELECT CASE WHEN firn_r.visible THEN '' ELSE firn_pg_quote_ident(firn_n.name) || '.' END || firn_pg_quote_ident(firn_r.name) "
          "FROM firn_pg_rel firn_r JOIN firn_pg_ns firn_n ON firn_n.oid = firn_r.ns WHERE firn_r.oid = _x), (SELECT firn_s.name FROM firn_pg_system firn_s "
          "WHERE firn_s.oid = _x), CASE WHEN _x = 0 THEN '-' ELSE CAST(_x AS VARCHAR) END)"),
    MACRO("pg_get_userbyid(_x)", "coalesce((SELECT firn_r.name FROM firn_pg_role firn_r WHERE firn_r.oid = _x), 'unknown (OID=' || _x || ')')"),
    MACRO("pg_get_expr(_x, _rel)", "CAST(_x AS VARCHAR)"),
    MACRO("pg_get_viewdef(_x)", "(SELECT firn_r.definition FROM firn_pg_rel firn_r WHERE firn_r.oid = firn_pg_relation(_x))"),
    MACRO("obj_description(_x, _kind)", "(SELECT firn_r.comment FROM firn_pg_rel firn_r WHERE firn_r.oid = _x AND coalesce(_kind, '') IN ('', 'pg_class'))"),
    MACRO("col_description(_x, _n)", "(SELECT firn_c.comment FROM firn_pg_col firn_c WHERE firn_c.rel = _x AND firn_c.num = _n)"),
    MACRO("shobj_description(_x, _kind)", "CAST(NULL AS VARCHAR)"),
    MACRO("pg_get_serial_sequence(_t, _c)", "CAST(NULL AS VARCHAR)"),
    MACRO("pg_describe_object(_class, _x, _sub)", "CAST(NULL AS VARCHAR)"),
    MACRO("pg_get_indexdef(_x, _n)", "CASE WHEN coalesce(_n, 0) = 0 THEN (SELECT firn_r.definition FROM firn_pg_rel firn_r WHERE firn_r.oid = _x AND firn_r.kind = 'i') "
          "ELSE (SELECT firn_c.name FROM firn_pg_col firn_c WHERE firn_c.rel = _x AND firn_c.num = _n) END"), NO_TEXT("pg_get_constraintdef"), NO_TEXT("pg_get_functiondef"), NO_TEXT("pg_get_function_arguments"),
    NO_TEXT("pg_get_function_result"), NO_TEXT("pg_get_function_identity_arguments"), NO_TEXT("pg_get_function_sqlbody"),
    NO_TEXT("pg_get_ruledef"), NO_TEXT("pg_get_triggerdef"), NO_TEXT("pg_get_statisticsobjdef_columns"), NO_TEXT("pg_get_partkeydef"),
    NO_TEXT("pg_tablespace_location"),

    /* ---- visible without a schema ---- */
    MACRO("pg_table_is_visible(_x)", "coalesce((SELECT firn_r.visible FROM firn_pg_rel firn_r WHERE firn_r.oid = _x), _x < 16384)"),
    ALWAYS("pg_type_is_visible", "true"), ALWAYS("pg_function_is_visible", "true"), ALWAYS("pg_operator_is_visible", "true"),
    ALWAYS("pg_opclass_is_visible", "true"), ALWAYS("pg_opfamily_is_visible", "true"), ALWAYS("pg_collation_is_visible", "true"),
    ALWAYS("pg_conversion_is_visible", "true"), ALWAYS("pg_ts_config_is_visible", "true"), ALWAYS("pg_ts_dict_is_visible", "true"),
    ALWAYS("pg_ts_parser_is_visible", "true"), ALWAYS("pg_ts_template_is_visible", "true"), ALWAYS("pg_statistics_obj_is_visible", "true"),
    ALWAYS("pg_relation_is_publishable", "false"), ALWAYS("pg_is_other_temp_schema", "false"),

    /* ---- sizes ---- */
    MACRO("pg_relation_size(_x)", "coalesce((SELECT firn_r.bytes FROM firn_pg_rel firn_r WHERE firn_r.oid = firn_pg_relation(_x)), 0)"),
    MACRO("pg_table_size(_x)", "firn_pg_pg_relation_size(_x)"),
    MACRO("pg_total_relation_size(_x)", "firn_pg_pg_relation_size(_x)"),
    MACRO("pg_indexes_size(_x)", "CAST(0 AS BIGINT)"),
    MACRO("pg_database_size(_x)", "CAST((SELECT coalesce(sum(firn_r.bytes), 0) FROM firn_pg_rel firn_r) AS BIGINT)"),
    MACRO("pg_tablespace_size(_x)", "firn_pg_pg_database_size(_x)"),
    MACRO("pg_size_pretty(_n)", "CASE WHEN abs(_n) < 10240 THEN _n || ' bytes' WHEN abs(_n) < 10485248 THEN ((_n + 512) // 1024) || ' kB' "
          "WHEN abs(_n) < 10737418240 THEN ((_n + 524288) // 1048576) || ' MB' WHEN abs(_n) < 10995116277760 THEN ((_n + 536870912) // 1073741824) "
          "|| ' GB' ELSE ((_n + 549755813888) // 1099511627776) || ' TB' END"),

    /* ---- the session ---- */
    MACRO("pg_encoding_to_char(_x)", "CASE _x WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END"),
    MACRO("pg_char_to_encoding(_s)", "CASE WHEN lower(_s) IN ('utf8', 'utf-8', 'unicode') THEN 6 WHEN lower(_s) = 'sql_ascii' THEN 0 ELSE -1 END"),
    MACRO("pg_backend_pid()", "(SELECT firn_s.pid FROM firn_pg_session firn_s)"),
    MACRO("pg_postmaster_start_time()", "(SELECT firn_s.started FROM firn_pg_session firn_s)"),

    /* ---- rights ---- */
    MACRO("user_oid(_u)", "coalesce(TRY_CAST(CAST(_u AS VARCHAR) AS UINTEGER), firn_pg_to_regrole(CAST(_u AS VARCHAR)))"),
    MACRO("me()", "(SELECT firn_r.oid FROM firn_pg_role firn_r, firn_pg_session firn_s WHERE firn_r.name = firn_s.user_)"),
    MACRO("letters(_p)", "list_transform(string_split(upper(CAST(_p AS VARCHAR)), ','), lambda firn_p: CASE trim(firn_p) WHEN 'SELECT' THEN 'r' WHEN 'INSERT' THEN 'a' "
          "WHEN 'UPDATE' THEN 'w' WHEN 'DELETE' THEN 'd' WHEN 'USAGE' THEN 'U' WHEN 'CREATE' THEN 'C' WHEN 'CREATEROLE' THEN 'R' WHEN 'CREATEDB' THEN 'B' "
          "WHEN 'CREATECLUSTER' THEN 'N' WHEN 'CREATENETWORKPOLICY' THEN 'P' ELSE '' END)"),
    MACRO("all_may(_u)", "coalesce((SELECT bool_or(firn_r.super) FROM firn_pg_role firn_r WHERE firn_r.oid = _u), false)"),
    MACRO("holds(_u, _kind, _oid, _name, _p)", "firn_pg_all_may(_u) OR EXISTS (SELECT 1 FROM firn_pg_acl firn_x JOIN firn_pg_reach firn_y ON firn_y.via = firn_x.grantee "
          "WHERE firn_y.role = _u AND firn_x.kind = _kind AND (firn_x.object = _oid OR firn_x.name = _name) AND list_contains(firn_pg_letters(_p), firn_x.letter))"),
    MACRO("has(_kind, _user, _oid, _name, _p)", "CASE WHEN NOT EXISTS (SELECT 1 FROM firn_pg_reach) THEN true ELSE firn_pg_holds(_user, _kind, _oid, _name, _p) END"),
    MACRO("who(_x, _z)", "CASE WHEN _z IS NULL THEN firn_pg_me() ELSE firn_pg_user_oid(_x) END"),
    MACRO("what(_x, _y, _z)", "CASE WHEN _z IS NULL THEN CAST(_x AS VARCHAR) ELSE CAST(_y AS VARCHAR) END"),
    MACRO("which(_y, _z)", "coalesce(CAST(_z AS VARCHAR), CAST(_y AS VARCHAR))"),
    MACRO("has_table(_x, _y, _z)", "firn_pg_has('r', firn_pg_who(_x, _z), firn_pg_relation(firn_pg_what(_x, _y, _z)), NULL, firn_pg_which(_y, _z))"),
    MACRO("has_schema(_x, _y, _z)", "firn_pg_has('s', firn_pg_who(_x, _z), firn_pg_to_regnamespace(firn_pg_what(_x, _y, _z)), NULL, firn_pg_which(_y, _z))"),
    MACRO("has_database(_x, _y, _z)", "firn_pg_has('d', firn_pg_who(_x, _z), TRY_CAST(firn_pg_what(_x, _y, _z) AS UINTEGER), firn_pg_what(_x, _y, _z), firn_pg_which(_y, _z))"),
    MACRO("has_cluster(_x, _y, _z)", "firn_pg_has('c', firn_pg_who(_x, _z), NULL, firn_pg_what(_x, _y, _z), firn_pg_which(_y, _z))"),
    MACRO("has_item(_x, _y, _z)", "firn_pg_has('i', firn_pg_who(_x, _z), TRY_CAST(firn_pg_what(_x, _y, _z) AS UINTEGER), firn_pg_what(_x, _y, _z), firn_pg_which(_y, _z))"),
    MACRO("has_type(_x, _y, _z)", "firn_pg_to_regtype(firn_pg_what(_x, _y, _z)) IS NOT NULL OR firn_pg_has_item(_x, _y, _z)"),
    MACRO("has_system(_x, _y)", "firn_pg_has('y', firn_pg_who(_x, _y), 0::UINTEGER, NULL, firn_pg_which(_x, _y))"),
    MACRO("has_role(_x, _y, _z)", "CASE WHEN NOT EXISTS (SELECT 1 FROM firn_pg_reach) THEN true ELSE firn_pg_all_may(firn_pg_who(_x, _z)) OR EXISTS (SELECT 1 FROM firn_pg_reach firn_y "
          "WHERE firn_y.role = firn_pg_who(_x, _z) AND firn_y.via = firn_pg_user_oid(firn_pg_what(_x, _y, _z))) END"),
    MACRO("aclexplode(_l)", "flatten(list_transform(_l, lambda firn_x: list_transform(string_split(split_part(split_part(firn_x, '=', 2), '/', 1), ''), lambda firn_c: struct_pack("
          "grantor := split_part(firn_x, '/', 2), grantee := CASE WHEN starts_with(firn_x, '=') THEN 'p' ELSE split_part(firn_x, '=', 1) END, privilege_type := CASE firn_c "
          "WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' WHEN 'U' THEN 'USAGE' WHEN 'C' THEN 'CREATE' WHEN 'R' THEN 'CREATEROLE' "
          "WHEN 'B' THEN 'CREATEDB' WHEN 'N' THEN 'CREATECLUSTER' WHEN 'P' THEN 'CREATENETWORKPOLICY' END, is_grantable := false))))"),

    MACRO("mz_environment_id()", "(SELECT firn_s.environment FROM firn_pg_session firn_s)"),
    MACRO("mz_is_superuser()", "(SELECT firn_s.super FROM firn_pg_session firn_s)"),
    MACRO("mz_uptime()", "(SELECT now() - firn_s.started FROM firn_pg_session firn_s)"),
    MACRO("txid_current()", "epoch_us(now())"),
    MACRO("current_schemas(_implicit)", "(SELECT CASE WHEN _implicit THEN ['pg_catalog'] ELSE CAST([] AS VARCHAR[]) END || CASE WHEN firn_s.schema = '' "
          "THEN CAST([] AS VARCHAR[]) ELSE [firn_s.schema] END FROM firn_pg_session firn_s)"),
    MACRO("current_setting(_name)", "(SELECT min(firn_s.setting) FROM firn_pg_all_setting firn_s WHERE lower(firn_s.name) = lower(_name))"),
    NULL,
};
