/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_tables.c - the relations of pg_catalog and information_schema: their columns and types.
 *
 * Names, order and types are PostgreSQL 15's (documentation, chapters 53, 54 and 37); relations about storage, replication and
 * extensions that nothing asks for are left out.  `tableoid` is a system column that psql asks of a few.  The letters are explained in pgcatalog_int.h. */
#include "service/pgcatalog_int.h"

const PgcatTable pgcat_tables[] = {
    { "pg_catalog", "pg_aggregate",
      "aggfnoid:o aggkind:s aggnumdirectargs:h aggtransfn:o aggfinalfn:o aggcombinefn:o aggserialfn:o aggdeserialfn:o "
      "aggmtransfn:o aggminvtransfn:o aggmfinalfn:o aggfinalextra:b aggmfinalextra:b aggfinalmodify:s aggmfinalmodify:s "
      "aggsortop:o aggtranstype:o aggtransspace:i aggmtranstype:o aggmtransspace:i agginitval:s aggminitval:s" },
    { "pg_catalog", "pg_am",
      "oid:o amname:s amhandler:o amtype:s" },
    { "pg_catalog", "pg_amop",
      "oid:o amopfamily:o amoplefttype:o amoprighttype:o amopstrategy:h amoppurpose:s amopopr:o amopmethod:o "
      "amopsortfamily:o" },
    { "pg_catalog", "pg_amproc",
      "oid:o amprocfamily:o amproclefttype:o amprocrighttype:o amprocnum:h amproc:o" },
    { "pg_catalog", "pg_attrdef",
      "oid:o adrelid:o adnum:h adbin:s" },
    { "pg_catalog", "pg_attribute",
      "attrelid:o attname:s atttypid:o attstattarget:i attlen:h attnum:h attndims:i attcacheoff:i atttypmod:i attbyval:b "
      "attalign:s attstorage:s attcompression:s attnotnull:b atthasdef:b atthasmissing:b attidentity:s attgenerated:s "
      "attisdropped:b attislocal:b attinhcount:i attcollation:o attacl:S attoptions:S attfdwoptions:S attmissingval:s" },
    { "pg_catalog", "pg_auth_members",
      "roleid:o member:o grantor:o admin_option:b" },
    { "pg_catalog", "pg_authid",
      "oid:o rolname:s rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolbypassrls:b "
      "rolconnlimit:i rolpassword:s rolvaliduntil:t" },
    { "pg_catalog", "pg_available_extension_versions",
      "name:s version:s installed:b superuser:b trusted:b relocatable:b schema:s requires:S comment:s" },
    { "pg_catalog", "pg_available_extensions",
      "name:s default_version:s installed_version:s comment:s" },
    { "pg_catalog", "pg_cast",
      "oid:o castsource:o casttarget:o castfunc:o castcontext:s castmethod:s" },
    { "pg_catalog", "pg_class",
      "oid:o relname:s relnamespace:o reltype:o reloftype:o relowner:o relam:o relfilenode:o reltablespace:o relpages:i "
      "reltuples:f relallvisible:i reltoastrelid:o relhasindex:b relisshared:b relpersistence:s relkind:s relnatts:h "
      "relchecks:h relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b "
      "relreplident:s relispartition:b relrewrite:o relfrozenxid:o relminmxid:o relacl:S reloptions:S relpartbound:s" },
    { "pg_catalog", "pg_collation",
      "oid:o collname:s collnamespace:o collowner:o collprovider:s collisdeterministic:b collencoding:i collcollate:s "
      "collctype:s colliculocale:s collversion:s" },
    { "pg_catalog", "pg_constraint",
      "oid:o conname:s connamespace:o contype:s condeferrable:b condeferred:b convalidated:b conrelid:o contypid:o "
      "conindid:o conparentid:o confrelid:o confupdtype:s confdeltype:s confmatchtype:s conislocal:b coninhcount:i "
      "connoinherit:b conkey:H confkey:H conpfeqop:O conppeqop:O conffeqop:O confdelsetcols:H conexclop:O conbin:s tableoid:o" },
    { "pg_catalog", "pg_conversion",
      "oid:o conname:s connamespace:o conowner:o conforencoding:i contoencoding:i conproc:o condefault:b" },
    { "pg_catalog", "pg_cursors",
      "name:s statement:s is_holdable:b is_binary:b is_scrollable:b creation_time:t" },
    { "pg_catalog", "pg_database",
      "oid:o datname:s datdba:o encoding:i datlocprovider:s datistemplate:b datallowconn:b datconnlimit:i datfrozenxid:o "
      "datminmxid:o dattablespace:o datcollate:s datctype:s daticulocale:s datcollversion:s datacl:S" },
    { "pg_catalog", "pg_db_role_setting",
      "setdatabase:o setrole:o setconfig:S" },
    { "pg_catalog", "pg_default_acl",
      "oid:o defaclrole:o defaclnamespace:o defaclobjtype:s defaclacl:S" },
    { "pg_catalog", "pg_depend",
      "classid:o objid:o objsubid:i refclassid:o refobjid:o refobjsubid:i deptype:s" },
    { "pg_catalog", "pg_description",
      "objoid:o classoid:o objsubid:i description:s" },
    { "pg_catalog", "pg_enum",
      "oid:o enumtypid:o enumsortorder:f enumlabel:s" },
    { "pg_catalog", "pg_event_trigger",
      "oid:o evtname:s evtevent:s evtowner:o evtfoid:o evtenabled:s evttags:S" },
    { "pg_catalog", "pg_extension",
      "oid:o extname:s extowner:o extnamespace:o extrelocatable:b extversion:s extconfig:O extcondition:S" },
    { "pg_catalog", "pg_foreign_data_wrapper",
      "oid:o fdwname:s fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:S fdwoptions:S" },
    { "pg_catalog", "pg_foreign_server",
      "oid:o srvname:s srvowner:o srvfdw:o srvtype:s srvversion:s srvacl:S srvoptions:S" },
    { "pg_catalog", "pg_foreign_table",
      "ftrelid:o ftserver:o ftoptions:S" },
    { "pg_catalog", "pg_group",
      "groname:s grosysid:o grolist:O" },
    { "pg_catalog", "pg_index",
      "indexrelid:o indrelid:o indnatts:h indnkeyatts:h indisunique:b indnullsnotdistinct:b indisprimary:b indisexclusion:b "
      "indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:V "
      "indcollation:O indclass:O indoption:V indexprs:s indpred:s" },
    { "pg_catalog", "pg_indexes",
      "schemaname:s tablename:s indexname:s tablespace:s indexdef:s" },
    { "pg_catalog", "pg_inherits",
      "inhrelid:o inhparent:o inhseqno:i inhdetachpending:b" },
    { "pg_catalog", "pg_init_privs",
      "objoid:o classoid:o objsubid:i privtype:s initprivs:S" },
    { "pg_catalog", "pg_language",
      "oid:o lanname:s lanowner:o lanispl:b lanpltrusted:b lanplcallfoid:o laninline:o lanvalidator:o lanacl:S tableoid:o" },
    { "pg_catalog", "pg_largeobject_metadata",
      "oid:o lomowner:o lomacl:S" },
    { "pg_catalog", "pg_locks",
      "locktype:s database:o relation:o page:i tuple:h virtualxid:s transactionid:o classid:o objid:o objsubid:h "
      "virtualtransaction:s pid:i mode:s granted:b fastpath:b waitstart:t" },
    { "pg_catalog", "pg_matviews",
      "schemaname:s matviewname:s matviewowner:s tablespace:s hasindexes:b ispopulated:b definition:s" },
    { "pg_catalog", "pg_namespace",
      "oid:o nspname:s nspowner:o nspacl:S" },
    { "pg_catalog", "pg_opclass",
      "oid:o opcmethod:o opcname:s opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b opckeytype:o tableoid:o" },
    { "pg_catalog", "pg_operator",
      "oid:o oprname:s oprnamespace:o oprowner:o oprkind:s oprcanmerge:b oprcanhash:b oprleft:o oprright:o oprresult:o "
      "oprcom:o oprnegate:o oprcode:o oprrest:o oprjoin:o" },
    { "pg_catalog", "pg_opfamily",
      "oid:o opfmethod:o opfname:s opfnamespace:o opfowner:o tableoid:o" },
    { "pg_catalog", "pg_partitioned_table",
      "partrelid:o partstrat:s partnatts:h partdefid:o partattrs:H partclass:O partcollation:O partexprs:s" },
    { "pg_catalog", "pg_policies",
      "schemaname:s tablename:s policyname:s permissive:s roles:S cmd:s qual:s with_check:s" },
    { "pg_catalog", "pg_policy",
      "oid:o polname:s polrelid:o polcmd:s polpermissive:b polroles:O polqual:s polwithcheck:s" },
    { "pg_catalog", "pg_prepared_statements",
      "name:s statement:s prepare_time:t parameter_types:O from_sql:b generic_plans:l custom_plans:l" },
    { "pg_catalog", "pg_prepared_xacts",
      "transaction:o gid:s prepared:t owner:s database:s" },
    { "pg_catalog", "pg_proc",
      "oid:o proname:s pronamespace:o proowner:o prolang:o procost:f prorows:f provariadic:o prosupport:o prokind:s "
      "prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:s proparallel:s pronargs:h pronargdefaults:h "
      "prorettype:o proargtypes:O proallargtypes:O proargmodes:S proargnames:S proargdefaults:s protrftypes:O prosrc:s "
      "probin:s prosqlbody:s proconfig:S proacl:S" },
    { "pg_catalog", "pg_publication",
      "oid:o pubname:s pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b" },
    { "pg_catalog", "pg_publication_namespace",
      "oid:o pnpubid:o pnnspid:o" },
    { "pg_catalog", "pg_publication_rel",
      "oid:o prpubid:o prrelid:o prqual:s prattrs:H" },
    { "pg_catalog", "pg_range",
      "rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o rngcanonical:o rngsubdiff:o" },
    { "pg_catalog", "pg_rewrite",
      "oid:o rulename:s ev_class:o ev_type:s ev_enabled:s is_instead:b ev_qual:s ev_action:s tableoid:o" },
    { "pg_catalog", "pg_roles",
      "rolname:s rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i "
      "rolpassword:s rolvaliduntil:t rolbypassrls:b rolconfig:S oid:o" },
    { "pg_catalog", "pg_rules",
      "schemaname:s tablename:s rulename:s definition:s" },
    { "pg_catalog", "pg_seclabel",
      "objoid:o classoid:o objsubid:i provider:s label:s" },
    { "pg_catalog", "pg_sequence",
      "seqrelid:o seqtypid:o seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l seqcycle:b" },
    { "pg_catalog", "pg_sequences",
      "schemaname:s sequencename:s sequenceowner:s data_type:o start_value:l min_value:l max_value:l increment_by:l cycle:b "
      "cache_size:l last_value:l" },
    { "pg_catalog", "pg_settings",
      "name:s setting:s unit:s category:s short_desc:s extra_desc:s context:s vartype:s source:s min_val:s max_val:s "
      "enumvals:S boot_val:s reset_val:s sourcefile:s sourceline:i pending_restart:b" },
    { "pg_catalog", "pg_shadow",
      "usename:s usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:s valuntil:t useconfig:S" },
    { "pg_catalog", "pg_shdepend",
      "dbid:o classid:o objid:o objsubid:i refclassid:o refobjid:o deptype:s" },
    { "pg_catalog", "pg_shdescription",
      "objoid:o classoid:o description:s" },
    { "pg_catalog", "pg_shseclabel",
      "objoid:o classoid:o provider:s label:s" },
    { "pg_catalog", "pg_stat_activity",
      "datid:o datname:s pid:i leader_pid:i usesysid:o usename:s application_name:s client_addr:s client_hostname:s "
      "client_port:i backend_start:t xact_start:t query_start:t state_change:t wait_event_type:s wait_event:s state:s "
      "backend_xid:o backend_xmin:o query_id:l query:s backend_type:s" },
    { "pg_catalog", "pg_stat_all_indexes",
      "relid:o indexrelid:o schemaname:s relname:s indexrelname:s idx_scan:l idx_tup_read:l idx_tup_fetch:l" },
    { "pg_catalog", "pg_stat_all_tables",
      "relid:o schemaname:s relname:s seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_tup_ins:l n_tup_upd:l "
      "n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:t "
      "last_autovacuum:t last_analyze:t last_autoanalyze:t vacuum_count:l autovacuum_count:l analyze_count:l "
      "autoanalyze_count:l" },
    { "pg_catalog", "pg_stat_database",
      "datid:o datname:s numbackends:i xact_commit:l xact_rollback:l blks_read:l blks_hit:l tup_returned:l tup_fetched:l "
      "tup_inserted:l tup_updated:l tup_deleted:l conflicts:l temp_files:l temp_bytes:l deadlocks:l checksum_failures:l "
      "checksum_last_failure:t blk_read_time:d blk_write_time:d session_time:d active_time:d idle_in_transaction_time:d "
      "sessions:l sessions_abandoned:l sessions_fatal:l sessions_killed:l stats_reset:t" },
    { "pg_catalog", "pg_stat_ssl",
      "pid:i ssl:b version:s cipher:s bits:i client_dn:s client_serial:s issuer_dn:s" },
    { "pg_catalog", "pg_stat_user_functions",
      "funcid:o schemaname:s funcname:s calls:l total_time:d self_time:d" },
    { "pg_catalog", "pg_stat_user_indexes",
      "relid:o indexrelid:o schemaname:s relname:s indexrelname:s idx_scan:l idx_tup_read:l idx_tup_fetch:l" },
    { "pg_catalog", "pg_stat_user_tables",
      "relid:o schemaname:s relname:s seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_tup_ins:l n_tup_upd:l "
      "n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:t "
      "last_autovacuum:t last_analyze:t last_autoanalyze:t vacuum_count:l autovacuum_count:l analyze_count:l "
      "autoanalyze_count:l" },
    { "pg_catalog", "pg_statio_all_tables",
      "relid:o schemaname:s relname:s heap_blks_read:l heap_blks_hit:l idx_blks_read:l idx_blks_hit:l toast_blks_read:l "
      "toast_blks_hit:l tidx_blks_read:l tidx_blks_hit:l" },
    { "pg_catalog", "pg_statio_user_tables",
      "relid:o schemaname:s relname:s heap_blks_read:l heap_blks_hit:l idx_blks_read:l idx_blks_hit:l toast_blks_read:l "
      "toast_blks_hit:l tidx_blks_read:l tidx_blks_hit:l" },
    { "pg_catalog", "pg_statistic_ext",
      "oid:o stxrelid:o stxname:s stxnamespace:o stxowner:o stxstattarget:i stxkeys:H stxkind:S stxexprs:s" },
    { "pg_catalog", "pg_stats",
      "schemaname:s tablename:s attname:s inherited:b null_frac:f avg_width:i n_distinct:f most_common_vals:s "
      "most_common_freqs:F histogram_bounds:s correlation:f most_common_elems:s most_common_elem_freqs:F "
      "elem_count_histogram:F" },
    { "pg_catalog", "pg_subscription",
      "oid:o subdbid:o subskiplsn:s subname:s subowner:o subenabled:b subbinary:b substream:b subtwophasestate:s "
      "subdisableonerr:b subconninfo:s subslotname:s subsynccommit:s subpublications:S" },
    { "pg_catalog", "pg_tables",
      "schemaname:s tablename:s tableowner:s tablespace:s hasindexes:b hasrules:b hastriggers:b rowsecurity:b" },
    { "pg_catalog", "pg_tablespace",
      "oid:o spcname:s spcowner:o spcacl:S spcoptions:S" },
    { "pg_catalog", "pg_timezone_abbrevs",
      "abbrev:s utc_offset:s is_dst:b" },
    { "pg_catalog", "pg_timezone_names",
      "name:s abbrev:s utc_offset:s is_dst:b" },
    { "pg_catalog", "pg_trigger",
      "oid:o tgrelid:o tgparentid:o tgname:s tgfoid:o tgtype:h tgenabled:s tgisinternal:b tgconstrrelid:o tgconstrindid:o "
      "tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:h tgattr:H tgargs:s tgqual:s tgoldtable:s tgnewtable:s tableoid:o" },
    { "pg_catalog", "pg_ts_config",
      "oid:o cfgname:s cfgnamespace:o cfgowner:o cfgparser:o" },
    { "pg_catalog", "pg_ts_config_map",
      "mapcfg:o maptokentype:i mapseqno:i mapdict:o" },
    { "pg_catalog", "pg_ts_dict",
      "oid:o dictname:s dictnamespace:o dictowner:o dicttemplate:o dictinitoption:s" },
    { "pg_catalog", "pg_ts_parser",
      "oid:o prsname:s prsnamespace:o prsstart:o prstoken:o prsend:o prsheadline:o prslextype:o" },
    { "pg_catalog", "pg_ts_template",
      "oid:o tmplname:s tmplnamespace:o tmplinit:o tmpllexize:o" },
    { "pg_catalog", "pg_type",
      "oid:o typname:s typnamespace:o typowner:o typlen:h typbyval:b typtype:c typcategory:c typispreferred:b typisdefined:b "
      "typdelim:c typrelid:o typsubscript:o typelem:o typarray:o typinput:o typoutput:o typreceive:o typsend:o typmodin:o "
      "typmodout:o typanalyze:o typalign:s typstorage:s typnotnull:b typbasetype:o typtypmod:i typndims:i typcollation:o "
      "typdefaultbin:s typdefault:s typacl:S" },
    { "pg_catalog", "pg_user",
      "usename:s usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:s valuntil:t useconfig:S" },
    { "pg_catalog", "pg_user_mapping",
      "oid:o umuser:o umserver:o umoptions:S" },
    { "pg_catalog", "pg_user_mappings",
      "umid:o srvid:o srvname:s umuser:o usename:s umoptions:S" },
    { "pg_catalog", "pg_views",
      "schemaname:s viewname:s viewowner:s definition:s" },
    { "information_schema", "applicable_roles",
      "grantee:s role_name:s is_grantable:s" },
    { "information_schema", "character_sets",
      "character_set_catalog:s character_set_schema:s character_set_name:s character_repertoire:s form_of_use:s "
      "default_collate_catalog:s default_collate_schema:s default_collate_name:s" },
    { "information_schema", "check_constraints",
      "constraint_catalog:s constraint_schema:s constraint_name:s check_clause:s" },
    { "information_schema", "collations",
      "collation_catalog:s collation_schema:s collation_name:s pad_attribute:s" },
    { "information_schema", "column_privileges",
      "grantor:s grantee:s table_catalog:s table_schema:s table_name:s column_name:s privilege_type:s is_grantable:s" },
    { "information_schema", "columns",
      "table_catalog:s table_schema:s table_name:s column_name:s ordinal_position:i column_default:s is_nullable:s "
      "data_type:s character_maximum_length:i character_octet_length:i numeric_precision:i numeric_precision_radix:i "
      "numeric_scale:i datetime_precision:i interval_type:s interval_precision:i character_set_catalog:s "
      "character_set_schema:s character_set_name:s collation_catalog:s collation_schema:s collation_name:s domain_catalog:s "
      "domain_schema:s domain_name:s udt_catalog:s udt_schema:s udt_name:s scope_catalog:s scope_schema:s scope_name:s "
      "maximum_cardinality:i dtd_identifier:s is_self_referencing:s is_identity:s identity_generation:s identity_start:s "
      "identity_increment:s identity_maximum:s identity_minimum:s identity_cycle:s is_generated:s generation_expression:s "
      "is_updatable:s" },
    { "information_schema", "constraint_column_usage",
      "table_catalog:s table_schema:s table_name:s column_name:s constraint_catalog:s constraint_schema:s constraint_name:s" },
    { "information_schema", "constraint_table_usage",
      "table_catalog:s table_schema:s table_name:s constraint_catalog:s constraint_schema:s constraint_name:s" },
    { "information_schema", "domains",
      "domain_catalog:s domain_schema:s domain_name:s data_type:s character_maximum_length:i character_octet_length:i "
      "character_set_catalog:s character_set_schema:s character_set_name:s collation_catalog:s collation_schema:s "
      "collation_name:s numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:s "
      "interval_precision:i domain_default:s udt_catalog:s udt_schema:s udt_name:s scope_catalog:s scope_schema:s "
      "scope_name:s maximum_cardinality:i dtd_identifier:s" },
    { "information_schema", "enabled_roles",
      "role_name:s" },
    { "information_schema", "foreign_tables",
      "foreign_table_catalog:s foreign_table_schema:s foreign_table_name:s foreign_server_catalog:s foreign_server_name:s" },
    { "information_schema", "information_schema_catalog_name",
      "catalog_name:s" },
    { "information_schema", "key_column_usage",
      "constraint_catalog:s constraint_schema:s constraint_name:s table_catalog:s table_schema:s table_name:s column_name:s "
      "ordinal_position:i position_in_unique_constraint:i" },
    { "information_schema", "parameters",
      "specific_catalog:s specific_schema:s specific_name:s ordinal_position:i parameter_mode:s is_result:s as_locator:s "
      "parameter_name:s data_type:s character_maximum_length:i character_octet_length:i character_set_catalog:s "
      "character_set_schema:s character_set_name:s collation_catalog:s collation_schema:s collation_name:s "
      "numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:s "
      "interval_precision:i udt_catalog:s udt_schema:s udt_name:s scope_catalog:s scope_schema:s scope_name:s "
      "maximum_cardinality:i dtd_identifier:s parameter_default:s" },
    { "information_schema", "referential_constraints",
      "constraint_catalog:s constraint_schema:s constraint_name:s unique_constraint_catalog:s unique_constraint_schema:s "
      "unique_constraint_name:s match_option:s update_rule:s delete_rule:s" },
    { "information_schema", "role_column_grants",
      "grantor:s grantee:s table_catalog:s table_schema:s table_name:s column_name:s privilege_type:s is_grantable:s" },
    { "information_schema", "role_table_grants",
      "grantor:s grantee:s table_catalog:s table_schema:s table_name:s privilege_type:s is_grantable:s with_hierarchy:s" },
    { "information_schema", "routine_privileges",
      "grantor:s grantee:s specific_catalog:s specific_schema:s specific_name:s routine_catalog:s routine_schema:s "
      "routine_name:s privilege_type:s is_grantable:s" },
    { "information_schema", "routines",
      "specific_catalog:s specific_schema:s specific_name:s routine_catalog:s routine_schema:s routine_name:s routine_type:s "
      "module_catalog:s module_schema:s module_name:s udt_catalog:s udt_schema:s udt_name:s data_type:s "
      "character_maximum_length:i character_octet_length:i character_set_catalog:s character_set_schema:s "
      "character_set_name:s collation_catalog:s collation_schema:s collation_name:s numeric_precision:i "
      "numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:s interval_precision:i "
      "type_udt_catalog:s type_udt_schema:s type_udt_name:s scope_catalog:s scope_schema:s scope_name:s "
      "maximum_cardinality:i dtd_identifier:s routine_body:s routine_definition:s external_name:s external_language:s "
      "parameter_style:s is_deterministic:s sql_data_access:s is_null_call:s sql_path:s schema_level_routine:s "
      "max_dynamic_result_sets:i is_user_defined_cast:s is_implicitly_invocable:s security_type:s to_sql_specific_catalog:s "
      "to_sql_specific_schema:s to_sql_specific_name:s as_locator:s created:t last_altered:t new_savepoint_level:s "
      "is_udt_dependent:s result_cast_from_data_type:s result_cast_as_locator:s result_cast_char_max_length:i "
      "result_cast_char_octet_length:i result_cast_char_set_catalog:s result_cast_char_set_schema:s "
      "result_cast_char_set_name:s result_cast_collation_catalog:s result_cast_collation_schema:s "
      "result_cast_collation_name:s result_cast_numeric_precision:i result_cast_numeric_precision_radix:i "
      "result_cast_numeric_scale:i result_cast_datetime_precision:i result_cast_interval_type:s "
      "result_cast_interval_precision:i result_cast_type_udt_catalog:s result_cast_type_udt_schema:s "
      "result_cast_type_udt_name:s result_cast_scope_catalog:s result_cast_scope_schema:s result_cast_scope_name:s "
      "result_cast_maximum_cardinality:i result_cast_dtd_identifier:s" },
    { "information_schema", "schemata",
      "catalog_name:s schema_name:s schema_owner:s default_character_set_catalog:s default_character_set_schema:s "
      "default_character_set_name:s sql_path:s" },
    { "information_schema", "sequences",
      "sequence_catalog:s sequence_schema:s sequence_name:s data_type:s numeric_precision:i numeric_precision_radix:i "
      "numeric_scale:i start_value:s minimum_value:s maximum_value:s increment:s cycle_option:s" },
    { "information_schema", "table_constraints",
      "constraint_catalog:s constraint_schema:s constraint_name:s table_catalog:s table_schema:s table_name:s "
      "constraint_type:s is_deferrable:s initially_deferred:s enforced:s nulls_distinct:s" },
    { "information_schema", "table_privileges",
      "grantor:s grantee:s table_catalog:s table_schema:s table_name:s privilege_type:s is_grantable:s with_hierarchy:s" },
    { "information_schema", "tables",
      "table_catalog:s table_schema:s table_name:s table_type:s self_referencing_column_name:s reference_generation:s "
      "user_defined_type_catalog:s user_defined_type_schema:s user_defined_type_name:s is_insertable_into:s is_typed:s "
      "commit_action:s" },
    { "information_schema", "triggers",
      "trigger_catalog:s trigger_schema:s trigger_name:s event_manipulation:s event_object_catalog:s event_object_schema:s "
      "event_object_table:s action_order:i action_condition:s action_statement:s action_orientation:s action_timing:s "
      "action_reference_old_table:s action_reference_new_table:s action_reference_old_row:s action_reference_new_row:s "
      "created:t" },
    { "information_schema", "view_column_usage",
      "view_catalog:s view_schema:s view_name:s table_catalog:s table_schema:s table_name:s column_name:s" },
    { "information_schema", "view_table_usage",
      "view_catalog:s view_schema:s view_name:s table_catalog:s table_schema:s table_name:s" },
    { "information_schema", "views",
      "table_catalog:s table_schema:s table_name:s view_definition:s check_option:s is_updatable:s is_insertable_into:s "
      "is_trigger_updatable:s is_trigger_deletable:s is_trigger_insertable_into:s" },
};

size_t pgcat_ntables(void) { return COUNT_OF(pgcat_tables); }
