/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_tables.c - the relations of mz_catalog and mz_internal: columns and types as Materialize's manual has them (system catalog), and who fills each.
 *
 * Sorted by schema and name.  "name:letter", `!` behind it: never NULL; the letters are explained in mzcatalog_int.h. */
#include "service/mzcatalog_int.h"

const MzRelation mz_relations[] = {
    { "mz_catalog", "mz_array_types", "id:s element_id:s", .needs = "", .sql =
      "SELECT 's' || arr, 's' || oid FROM firn_pg_types WHERE arr <> 0" },
    { "mz_catalog", "mz_audit_events", "id:u! event_type:s! object_type:s! details:j! user:s occurred_at:t!", .fill = mzf_audit_events },
    { "mz_catalog", "mz_aws_privatelink_connections", "id:s principal:s", .fill = NULL },
    { "mz_catalog", "mz_base_types", "id:s", .needs = "", .sql =
      "SELECT 's' || oid FROM firn_pg_types WHERE element = 0 AND kind = 'b'" },
    { "mz_catalog", "mz_cluster_replica_frontiers", "object_id:s replica_id:s write_frontier:m", .fill = mzf_replica_frontiers },
    { "mz_catalog", "mz_cluster_replica_sizes", "size:s! processes:u! workers:u! cpu_nano_cores:u! memory_bytes:u! disk_bytes:u credits_per_hour:n!", .fill = mzf_replica_sizes },
    { "mz_catalog", "mz_cluster_replicas", "id:s! name:s! cluster_id:s! size:s availability_zone:s owner_id:s! disk:b", .fill = mzf_replicas },
    { "mz_catalog", "mz_clusters",
      "id:s! name:s! owner_id:s! privileges:A! managed:b! size:s replication_factor:w disk:b availability_zones:S "
      "introspection_debugging:b introspection_interval:v", .fill = mzf_clusters },
    { "mz_catalog", "mz_columns", "id:s name:s position:u nullable:b type:s default:s type_oid:o type_mod:i", .fill = mzf_columns },
    { "mz_catalog", "mz_connections", "id:s! oid:o! schema_id:s! name:s! type:s! owner_id:s! privileges:A! create_sql:s! redacted_create_sql:s!", .fill = mzf_connections },
    { "mz_catalog", "mz_databases", "id:s! oid:o! name:s! owner_id:s! privileges:A!", .fill = mzf_databases },
    { "mz_catalog", "mz_default_privileges", "role_id:s database_id:s schema_id:s object_type:s grantee:s privileges:s", .fill = mzf_default_privileges },
    { "mz_catalog", "mz_egress_ips", "egress_ip:s prefix_length:i cidr:s", .fill = NULL },
    { "mz_catalog", "mz_functions", "id:s! oid:o! schema_id:s! name:s! argument_type_ids:S! variadic_argument_type_id:s return_type_id:s returns_set:b! owner_id:s!", .needs = "", .sql =
      "SELECT 's' || oid, oid, 's2', name, CAST([] AS VARCHAR[]), NULL, 's' || result, false, 's1' FROM firn_pg_procs" },
    { "mz_catalog", "mz_iceberg_sinks", "id:s! namespace:s! table:s!", .fill = mzf_iceberg_sinks },
    { "mz_catalog", "mz_index_columns", "index_id:s! index_position:u! on_position:u on_expression:s nullable:b!", .fill = mzf_index_columns },
    { "mz_catalog", "mz_indexes", "id:s oid:o name:s on_id:s cluster_id:s owner_id:s create_sql:s redacted_create_sql:s", .fill = mzf_indexes },
    { "mz_catalog", "mz_kafka_connections", "id:s brokers:S sink_progress_topic:s", .fill = mzf_kafka_connections },
    { "mz_catalog", "mz_kafka_sinks", "id:s topic:s", .fill = mzf_kafka_sinks },
    { "mz_catalog", "mz_kafka_sources", "id:s group_id_prefix:s topic:s", .fill = mzf_kafka_sources },
    { "mz_catalog", "mz_list_types", "id:s element_id:s element_modifiers:L", .fill = mzf_list_types },
    { "mz_catalog", "mz_map_types", "id:s key_id:s value_id:s key_modifiers:L value_modifiers:L", .fill = mzf_map_types },
    { "mz_catalog", "mz_materialized_views", "id:s! oid:o! schema_id:s! name:s! cluster_id:s! definition:s owner_id:s! privileges:A! create_sql:s! redacted_create_sql:s!", .fill = mzf_mviews },
    { "mz_catalog", "mz_objects", "id:s oid:o schema_id:s name:s type:s owner_id:s cluster_id:s privileges:A", .fill = mzf_objects },
    { "mz_catalog", "mz_pseudo_types", "id:s", .needs = "", .sql =
      "SELECT 's' || oid FROM firn_pg_types WHERE kind = 'p'" },
    { "mz_catalog", "mz_recent_storage_usage", "object_id:s size_bytes:u", .fill = NULL },
    { "mz_catalog", "mz_relations", "id:s oid:o schema_id:s name:s type:s owner_id:s cluster_id:s privileges:A", .needs = "mz_objects", .sql =
      "SELECT * FROM firn_mz_objects WHERE type IN ('table', 'source', 'view', 'materialized-view')" },
    { "mz_catalog", "mz_role_members", "role_id:s! member:s! grantor:s!", .fill = mzf_role_members },
    { "mz_catalog", "mz_role_parameters", "role_id:s! parameter_name:s! parameter_value:s!", .fill = mzf_role_parameters },
    { "mz_catalog", "mz_roles", "id:s! oid:o! name:s! inherit:b! rolcanlogin:b rolsuper:b", .fill = mzf_roles },
    { "mz_catalog", "mz_schemas", "id:s! oid:o! database_id:s name:s! owner_id:s! privileges:A!", .fill = mzf_schemas },
    { "mz_catalog", "mz_secrets", "id:s! oid:o! schema_id:s! name:s! owner_id:s! privileges:A!", .fill = mzf_secrets },
    { "mz_catalog", "mz_sinks",
      "id:s! oid:o! schema_id:s! name:s! type:s! connection_id:s size:s envelope_type:s format:s key_format:s value_format:s "
      "cluster_id:s! owner_id:s! create_sql:s! redacted_create_sql:s!", .fill = mzf_sinks },
    { "mz_catalog", "mz_sources",
      "id:s oid:o schema_id:s name:s type:s connection_id:s size:s envelope_type:s key_format:s value_format:s cluster_id:s owner_id:s "
      "privileges:A create_sql:s redacted_create_sql:s", .fill = mzf_sources },
    { "mz_catalog", "mz_ssh_tunnel_connections", "id:s public_key_1:s public_key_2:s", .fill = NULL },
    { "mz_catalog", "mz_storage_usage", "object_id:s size_bytes:u collection_timestamp:t", .fill = NULL },
    { "mz_catalog", "mz_system_privileges", "privileges:s", .fill = mzf_system_privileges },
    { "mz_catalog", "mz_tables", "id:s! oid:o! schema_id:s! name:s! owner_id:s! privileges:A! create_sql:s redacted_create_sql:s source_id:s", .fill = mzf_tables },
    { "mz_catalog", "mz_timezone_abbreviations", "abbreviation:s utc_offset:v dst:b timezone_name:s", .needs = "", .sql =
      "SELECT min(abbrev), min(utc_offset), bool_or(is_dst), name FROM pg_timezone_names() GROUP BY name" },
    { "mz_catalog", "mz_timezone_names", "name:s", .needs = "", .sql =
      "SELECT name FROM pg_timezone_names()" },
    { "mz_catalog", "mz_types", "id:s! oid:o! schema_id:s! name:s! category:s! owner_id:s! privileges:A! create_sql:s redacted_create_sql:s", .fill = mzf_types },
    { "mz_catalog", "mz_views", "id:s! oid:o! schema_id:s! name:s! definition:s owner_id:s! privileges:A! create_sql:s! redacted_create_sql:s!", .fill = mzf_views },
    { "mz_internal", "mz_aws_connections",
      "id:s endpoint:s region:s access_key_id:s access_key_id_secret_id:s secret_access_key_secret_id:s session_token:s "
      "session_token_secret_id:s assume_role_arn:s assume_role_session_name:s principal:s external_id:s example_trust_policy:j", .fill = mzf_aws_connections },
    { "mz_internal", "mz_aws_privatelink_connection_status_history", "occurred_at:t connection_id:s status:s", .fill = NULL },
    { "mz_internal", "mz_aws_privatelink_connection_statuses", "id:s name:s last_status_change_at:t status:s", .fill = NULL },
    { "mz_internal", "mz_cluster_deployment_lineage", "cluster_id:s current_deployment_cluster_id:s cluster_name:s", .needs = "mz_clusters", .sql =
      "SELECT id, id, name FROM firn_mz_clusters" },
    { "mz_internal", "mz_cluster_replica_history", "replica_id:s size:s cluster_id:s cluster_name:s replica_name:s created_at:t dropped_at:t credits_per_hour:n", .needs = "mz_cluster_replicas mz_clusters mz_audit_events mz_cluster_replica_sizes", .sql =
      "SELECT r.id, r.size, r.cluster_id, c.name, r.name, (SELECT max(e.occurred_at) FROM firn_mz_audit_events e WHERE e.object_type = "
      "'cluster-replica' AND e.event_type = 'create' AND json_extract_string(e.details, '$.replica_id') = r.id), NULL, (SELECT s.credits_per_hour "
      "FROM firn_mz_cluster_replica_sizes s WHERE s.size = r.size) FROM firn_mz_cluster_replicas r JOIN firn_mz_clusters c ON c.id = r.cluster_id" },
    { "mz_internal", "mz_cluster_replica_metrics", "replica_id:s process_id:u cpu_nano_cores:u memory_bytes:u disk_bytes:u heap_bytes:u heap_limit:u", .fill = NULL },
    { "mz_internal", "mz_cluster_replica_metrics_history", "replica_id:s process_id:u cpu_nano_cores:u memory_bytes:u disk_bytes:u occurred_at:t heap_bytes:u heap_limit:u", .fill = NULL },
    { "mz_internal", "mz_cluster_replica_name_history", "occurred_at:t id:s previous_name:s new_name:s", .fill = NULL },
    { "mz_internal", "mz_cluster_replica_status_history", "replica_id:s process_id:u status:s reason:s occurred_at:t", .needs = "mz_cluster_replica_statuses", .sql =
      "SELECT replica_id, process_id, status, reason, updated_at FROM firn_mz_cluster_replica_statuses" },
    { "mz_internal", "mz_cluster_replica_statuses", "replica_id:s process_id:u status:s reason:s updated_at:t", .fill = mzf_replica_statuses },
    { "mz_internal", "mz_cluster_replica_utilization", "replica_id:s process_id:u cpu_percent:d memory_percent:d disk_percent:d heap_percent:d", .fill = NULL },
    { "mz_internal", "mz_cluster_replica_utilization_history", "replica_id:s process_id:u cpu_percent:d memory_percent:d disk_percent:d heap_percent:d occurred_at:t", .fill = NULL },
    { "mz_internal", "mz_cluster_schedules", "cluster_id:s type:s refresh_hydration_time_estimate:v", .fill = mzf_schedules },
    { "mz_internal", "mz_cluster_workload_classes", "id:s workload_class:s", .fill = mzf_workloads },
    { "mz_internal", "mz_comments", "id:s! object_type:s! object_sub_id:i comment:s!", .fill = mzf_comments },
    { "mz_internal", "mz_compute_dependencies", "object_id:s dependency_id:s", .needs = "mz_object_dependencies mz_objects", .sql =
      "SELECT d.* FROM firn_mz_object_dependencies d JOIN firn_mz_objects o ON o.id = d.object_id WHERE o.type IN ('index', 'materialized-view')" },
    { "mz_internal", "mz_compute_hydration_statuses", "object_id:s replica_id:s hydrated:b hydration_time:v", .fill = mzf_compute_hydration },
    { "mz_internal", "mz_compute_operator_hydration_statuses", "replica_id:s object_id:s physical_plan_node_id:u hydrated:b", .fill = NULL },
    { "mz_internal", "mz_frontiers", "object_id:s read_frontier:m write_frontier:m", .fill = mzf_frontiers },
    { "mz_internal", "mz_history_retention_strategies", "id:s strategy:s value:j", .fill = mzf_retention },
    { "mz_internal", "mz_hydration_statuses", "object_id:s replica_id:s hydrated:b", .fill = mzf_hydration },
    { "mz_internal", "mz_index_advice", "object_id:s hint:s details:s referenced_object_ids:S", .fill = NULL },
    { "mz_internal", "mz_kafka_source_tables", "id:s topic:s envelope_type:s key_format:s value_format:s", .fill = mzf_kafka_tables },
    { "mz_internal", "mz_materialization_dependencies", "object_id:s dependency_id:s", .needs = "mz_object_dependencies mz_objects", .sql =
      "SELECT d.* FROM firn_mz_object_dependencies d JOIN firn_mz_objects o ON o.id = d.object_id WHERE o.type IN ('index', 'materialized-view', "
      "'sink')" },
    { "mz_internal", "mz_materialization_lag", "object_id:s local_lag:v global_lag:v slowest_local_input_id:s slowest_global_input_id:s", .fill = mzf_materialization_lag },
    { "mz_internal", "mz_materialized_view_refresh_strategies", "materialized_view_id:s type:s interval:v aligned_to:t at:t", .fill = mzf_refresh_strategies },
    { "mz_internal", "mz_materialized_view_refreshes", "materialized_view_id:s last_completed_refresh:m next_refresh:m", .fill = mzf_refreshes },
    { "mz_internal", "mz_mysql_source_tables", "id:s schema_name:s table_name:s", .fill = NULL },
    { "mz_internal", "mz_network_policies", "id:s name:s owner_id:s privileges:A oid:o", .fill = NULL },
    { "mz_internal", "mz_network_policy_rules", "name:s policy_id:s action:s address:s direction:s", .fill = NULL },
    { "mz_internal", "mz_notices",
      "id:s notice_type:s message:s hint:s action:s redacted_message:s redacted_hint:s redacted_action:s action_type:s object_id:s "
      "created_at:t", .fill = NULL },
    { "mz_internal", "mz_notices_redacted", "id:s notice_type:s message:s hint:s action:s action_type:s object_id:s created_at:t", .fill = NULL },
    { "mz_internal", "mz_object_dependencies", "object_id:s! referenced_object_id:s!", .fill = mzf_dependencies },
    { "mz_internal", "mz_object_fully_qualified_names", "id:s name:s object_type:s schema_id:s schema_name:s database_id:s database_name:s cluster_id:s", .needs = "mz_objects mz_schemas mz_databases", .sql =
      "SELECT o.id, o.name, o.type, s.id, s.name, d.id, d.name, o.cluster_id FROM firn_mz_objects o JOIN firn_mz_schemas s ON s.id = o.schema_id "
      "LEFT JOIN firn_mz_databases d ON d.id = s.database_id" },
    { "mz_internal", "mz_object_global_ids", "id:s global_id:s", .fill = mzf_global_ids },
    { "mz_internal", "mz_object_history", "id:s cluster_id:s object_type:s created_at:t dropped_at:t", .needs = "mz_audit_events", .sql =
      "SELECT json_extract_string(details, '$.id') AS id, max(json_extract_string(details, '$.cluster_id')), min(object_type), min(occurred_at) "
      "FILTER (WHERE event_type = 'create'), max(occurred_at) FILTER (WHERE event_type = 'drop') FROM firn_mz_audit_events WHERE event_type IN "
      "('create', 'drop') AND json_extract_string(details, '$.id') IS NOT NULL GROUP BY 1" },
    { "mz_internal", "mz_object_lifetimes", "id:s previous_id:s object_type:s event_type:s occurred_at:t", .needs = "mz_audit_events", .sql =
      "SELECT json_extract_string(details, '$.id'), json_extract_string(details, '$.previous_id'), object_type, event_type, occurred_at FROM "
      "firn_mz_audit_events WHERE event_type IN ('create', 'drop')" },
    { "mz_internal", "mz_object_transitive_dependencies", "object_id:s referenced_object_id:s", .needs = "mz_object_dependencies", .sql =
      "WITH RECURSIVE reach(object_id, referenced_object_id) AS (SELECT * FROM firn_mz_object_dependencies UNION SELECT r.object_id, "
      "d.referenced_object_id FROM reach r JOIN firn_mz_object_dependencies d ON d.object_id = r.referenced_object_id) SELECT * FROM reach" },
    { "mz_internal", "mz_postgres_source_tables", "id:s schema_name:s table_name:s", .fill = mzf_postgres_tables },
    { "mz_internal", "mz_postgres_sources", "id:s replication_slot:s timeline_id:u", .fill = mzf_postgres },
    { "mz_internal", "mz_prepared_statement_history", "id:U session_id:U name:s sql:s prepared_at:t", .fill = NULL },
    { "mz_internal", "mz_recent_activity_log",
      "execution_id:U sample_rate:d cluster_id:s application_name:s cluster_name:s database_name:s search_path:S transaction_isolation:s "
      "execution_timestamp:u transient_index_id:s params:S mz_version:s began_at:t finished_at:t finished_status:s error_message:s "
      "result_size:l rows_returned:l execution_strategy:s transaction_id:u prepared_statement_id:U sql_hash:B prepared_statement_name:s "
      "session_id:U prepared_at:t statement_type:s throttled_count:u connected_at:t initial_application_name:s authenticated_user:s sql:s", .fill = NULL },
    { "mz_internal", "mz_replacements", "id:s! target_id:s!", .fill = mzf_replacements },
    { "mz_internal", "mz_session_history", "session_id:U connected_at:t initial_application_name:s authenticated_user:s", .fill = mzf_session_history },
    { "mz_internal", "mz_sessions", "id:U! connection_id:w! role_id:s! client_ip:s connected_at:t!", .fill = mzf_sessions },
    { "mz_internal", "mz_show_all_my_privileges", "grantor:s grantee:s database:s schema:s name:s object_type:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT * FROM firn_mz_show_all_privileges WHERE true AND (grantee = 'PUBLIC' OR grantee = (SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_all_privileges", "grantor:s grantee:s database:s schema:s name:s object_type:s privilege_type:s", .fill = mzf_show_privileges },
    { "mz_internal", "mz_show_cluster_privileges", "grantor:s grantee:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'cluster'" },
    { "mz_internal", "mz_show_cluster_replicas", "cluster:s replica:s replica_id:s size:s ready:b comment:s", .needs = "mz_clusters mz_cluster_replicas mz_comments", .sql =
      "SELECT k.name, o.name, o.id, o.size, true, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id "
      "IS NULL AND c.object_type = 'cluster-replica'), '') FROM firn_mz_cluster_replicas o JOIN firn_mz_clusters k ON k.id = o.cluster_id" },
    { "mz_internal", "mz_show_clusters", "id:s name:s replicas:s comment:s", .needs = "mz_clusters mz_cluster_replicas mz_comments", .sql =
      "SELECT o.id, o.name, (SELECT string_agg(r.name || ' (' || r.size || ')', ', ' ORDER BY r.name) FROM firn_mz_cluster_replicas r WHERE "
      "r.cluster_id = o.id), coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL AND "
      "c.object_type = 'cluster'), '') FROM firn_mz_clusters o" },
    { "mz_internal", "mz_show_columns", "id:s name:s nullable:b type:s position:u comment:s", .needs = "mz_columns mz_comments", .sql =
      "SELECT o.id, o.name, o.nullable, o.type, o.position, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND "
      "c.object_sub_id = o.position), '') FROM firn_mz_columns o" },
    { "mz_internal", "mz_show_connections", "id:s schema_id:s name:s type:s comment:s", .needs = "mz_connections mz_comments", .sql =
      "SELECT o.id, o.schema_id, o.name, o.type, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS "
      "NULL AND c.object_type = 'connection'), '') FROM firn_mz_connections o" },
    { "mz_internal", "mz_show_database_privileges", "grantor:s grantee:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'database'" },
    { "mz_internal", "mz_show_databases", "id:s name:s comment:s", .needs = "mz_databases mz_comments", .sql =
      "SELECT o.id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL AND "
      "c.object_type = 'database'), '') FROM firn_mz_databases o" },
    { "mz_internal", "mz_show_default_privileges", "object_owner:s database:s schema:s object_type:s grantee:s privilege_type:s", .needs = "mz_default_privileges mz_roles mz_databases mz_schemas", .sql =
      "SELECT coalesce(r.name, 'PUBLIC') AS object_owner, d.name, s.name, p.object_type, coalesce(g.name, 'PUBLIC') AS grantee, p.privileges FROM "
      "firn_mz_default_privileges p LEFT JOIN firn_mz_roles r ON r.id = p.role_id LEFT JOIN firn_mz_roles g ON g.id = p.grantee LEFT JOIN "
      "firn_mz_databases d ON d.id = p.database_id LEFT JOIN firn_mz_schemas s ON s.id = p.schema_id" },
    { "mz_internal", "mz_show_indexes", "id:s name:s on:s cluster:s key:S on_id:s schema_id:s cluster_id:s comment:s", .needs = "mz_indexes mz_objects mz_clusters mz_index_columns mz_columns mz_comments", .sql =
      "SELECT o.id, o.name, r.name, k.name, (SELECT list(coalesce(i.on_expression, (SELECT min(c.name) FROM firn_mz_columns c WHERE c.id = "
      "o.on_id AND c.position = i.on_position)) ORDER BY i.index_position) FROM firn_mz_index_columns i WHERE i.index_id = o.id), o.on_id, "
      "x.schema_id, o.cluster_id, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL AND "
      "c.object_type = 'index'), '') FROM firn_mz_indexes o JOIN firn_mz_objects r ON r.id = o.on_id JOIN firn_mz_objects x ON x.id = o.id LEFT "
      "JOIN firn_mz_clusters k ON k.id = o.cluster_id" },
    { "mz_internal", "mz_show_materialized_views", "id:s name:s cluster:s schema_id:s cluster_id:s comment:s", .needs = "mz_materialized_views mz_clusters mz_comments", .sql =
      "SELECT o.id, o.name, k.name, o.schema_id, o.cluster_id, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND "
      "c.object_sub_id IS NULL AND c.object_type = 'materialized-view'), '') FROM firn_mz_materialized_views o LEFT JOIN firn_mz_clusters k ON "
      "k.id = o.cluster_id" },
    { "mz_internal", "mz_show_my_cluster_privileges", "grantor:s grantee:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'cluster' AND (grantee = 'PUBLIC' OR "
      "grantee = (SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_my_database_privileges", "grantor:s grantee:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'database' AND (grantee = 'PUBLIC' OR "
      "grantee = (SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_my_default_privileges", "object_owner:s database:s schema:s object_type:s grantee:s privilege_type:s", .needs = "mz_default_privileges mz_roles mz_databases mz_schemas", .sql =
      "SELECT coalesce(r.name, 'PUBLIC') AS object_owner, d.name, s.name, p.object_type, coalesce(g.name, 'PUBLIC') AS grantee, p.privileges FROM "
      "firn_mz_default_privileges p LEFT JOIN firn_mz_roles r ON r.id = p.role_id LEFT JOIN firn_mz_roles g ON g.id = p.grantee LEFT JOIN "
      "firn_mz_databases d ON d.id = p.database_id LEFT JOIN firn_mz_schemas s ON s.id = p.schema_id WHERE g.name IS NULL OR g.name = (SELECT "
      "user_ FROM firn_pg_session)" },
    { "mz_internal", "mz_show_my_object_privileges", "grantor:s grantee:s database:s schema:s name:s object_type:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT * FROM firn_mz_show_all_privileges WHERE object_type NOT IN ('cluster', 'database', 'schema', 'system') AND (grantee = 'PUBLIC' OR "
      "grantee = (SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_my_role_members", "role:s member:s grantor:s", .needs = "mz_show_role_members", .sql =
      "SELECT * FROM firn_mz_show_role_members WHERE member = (SELECT user_ FROM firn_pg_session)" },
    { "mz_internal", "mz_show_my_schema_privileges", "grantor:s grantee:s database:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, database, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'schema' AND (grantee = "
      "'PUBLIC' OR grantee = (SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_my_system_privileges", "grantor:s grantee:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'system' AND (grantee = 'PUBLIC' OR grantee = "
      "(SELECT user_ FROM firn_pg_session))" },
    { "mz_internal", "mz_show_object_privileges", "grantor:s grantee:s database:s schema:s name:s object_type:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT * FROM firn_mz_show_all_privileges WHERE object_type NOT IN ('cluster', 'database', 'schema', 'system')" },
    { "mz_internal", "mz_show_role_members", "role:s member:s grantor:s", .needs = "mz_role_members mz_roles", .sql =
      "SELECT r.name, m.name, g.name FROM firn_mz_role_members x JOIN firn_mz_roles r ON r.id = x.role_id JOIN firn_mz_roles m ON m.id = x.member "
      "LEFT JOIN firn_mz_roles g ON g.id = x.grantor" },
    { "mz_internal", "mz_show_roles", "id:s name:s comment:s", .needs = "mz_roles mz_comments", .sql =
      "SELECT o.id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL AND "
      "c.object_type = 'role'), '') FROM firn_mz_roles o WHERE o.id NOT LIKE 's%'" },
    { "mz_internal", "mz_show_schema_privileges", "grantor:s grantee:s database:s name:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, database, name, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'schema'" },
    { "mz_internal", "mz_show_schemas", "id:s database_id:s name:s comment:s", .needs = "mz_schemas mz_comments", .sql =
      "SELECT o.id, o.database_id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL "
      "AND c.object_type = 'schema'), '') FROM firn_mz_schemas o" },
    { "mz_internal", "mz_show_secrets", "id:s schema_id:s name:s comment:s", .needs = "mz_secrets mz_comments", .sql =
      "SELECT o.id, o.schema_id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL "
      "AND c.object_type = 'secret'), '') FROM firn_mz_secrets o" },
    { "mz_internal", "mz_show_sinks", "id:s name:s type:s cluster:s schema_id:s cluster_id:s comment:s", .needs = "mz_sinks mz_clusters mz_comments", .sql =
      "SELECT o.id, o.name, o.type, k.name, o.schema_id, o.cluster_id, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id "
      "AND c.object_sub_id IS NULL AND c.object_type = 'sink'), '') FROM firn_mz_sinks o JOIN firn_mz_clusters k ON k.id = o.cluster_id" },
    { "mz_internal", "mz_show_sources", "id:s name:s type:s cluster:s schema_id:s cluster_id:s comment:s", .needs = "mz_sources mz_clusters mz_comments", .sql =
      "SELECT o.id, o.name, o.type, k.name, o.schema_id, o.cluster_id, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id "
      "AND c.object_sub_id IS NULL AND c.object_type = 'source'), '') FROM firn_mz_sources o LEFT JOIN firn_mz_clusters k ON k.id = o.cluster_id" },
    { "mz_internal", "mz_show_system_privileges", "grantor:s grantee:s privilege_type:s", .needs = "mz_show_all_privileges", .sql =
      "SELECT grantor, grantee, privilege_type FROM firn_mz_show_all_privileges WHERE object_type = 'system'" },
    { "mz_internal", "mz_show_tables", "id:s schema_id:s name:s source_id:s comment:s", .needs = "mz_tables mz_comments", .sql =
      "SELECT o.id, o.schema_id, o.name, o.source_id, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND "
      "c.object_sub_id IS NULL AND c.object_type = 'table'), '') FROM firn_mz_tables o" },
    { "mz_internal", "mz_show_types", "id:s schema_id:s name:s comment:s", .needs = "mz_types mz_comments", .sql =
      "SELECT o.id, o.schema_id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL "
      "AND c.object_type = 'type'), '') FROM firn_mz_types o" },
    { "mz_internal", "mz_show_views", "id:s schema_id:s name:s comment:s", .needs = "mz_views mz_comments", .sql =
      "SELECT o.id, o.schema_id, o.name, coalesce((SELECT min(c.comment) FROM firn_mz_comments c WHERE c.id = o.id AND c.object_sub_id IS NULL "
      "AND c.object_type = 'view'), '') FROM firn_mz_views o" },
    { "mz_internal", "mz_sink_statistics", "id:s replica_id:s messages_staged:u messages_committed:u bytes_staged:u bytes_committed:u", .fill = mzf_sink_statistics },
    { "mz_internal", "mz_sink_status_history", "occurred_at:t sink_id:s status:s error:s details:j replica_id:s", .fill = mzf_sink_history },
    { "mz_internal", "mz_sink_statuses", "id:s name:s type:s last_status_change_at:t status:s error:s details:j", .fill = mzf_sink_statuses },
    { "mz_internal", "mz_source_references", "source_id:s namespace:s name:s updated_at:t columns:S", .fill = NULL },
    { "mz_internal", "mz_source_error_counts", "id:s errors:u", .fill = mzf_source_error_counts },         /* firn's own, as the next one */
    { "mz_internal", "mz_source_errors", "source_id:s occurred_at:t place:s error:s", .fill = mzf_source_errors },
    { "mz_internal", "mz_source_statistics",
      "id:s replica_id:s messages_received:u bytes_received:u updates_staged:u updates_committed:u records_indexed:u bytes_indexed:u "
      "rehydration_latency:v snapshot_records_known:u snapshot_records_staged:u snapshot_committed:b offset_known:u offset_committed:u", .fill = mzf_source_statistics },
    { "mz_internal", "mz_source_status_history", "occurred_at:t source_id:s status:s error:s details:j replica_id:s", .fill = mzf_source_history },
    { "mz_internal", "mz_source_statuses", "id:s name:s type:s last_status_change_at:t status:s error:s details:j", .fill = mzf_source_statuses },
    { "mz_internal", "mz_sql_server_source_tables", "id:s schema_name:s table_name:s", .fill = NULL },
    { "mz_internal", "mz_statement_execution_history",
      "id:U prepared_statement_id:U sample_rate:d params:S began_at:t finished_at:t finished_status:s error_message:s result_size:l "
      "rows_returned:l execution_strategy:s", .fill = NULL },
    { "mz_internal", "mz_statement_lifecycle_history", "statement_id:U event_type:s occurred_at:t", .fill = NULL },
    { "mz_internal", "mz_subscriptions", "id:s! session_id:U! cluster_id:s! created_at:t! referenced_object_ids:S!", .fill = mzf_subscriptions },
    { "mz_internal", "mz_wallclock_global_lag", "object_id:s! lag:v", .fill = mzf_lag },
    { "mz_internal", "mz_wallclock_global_lag_histogram", "period_start:t period_end:t object_id:s lag_seconds:u labels:j count:l", .fill = mzf_lag_histogram },
    { "mz_internal", "mz_wallclock_global_lag_history", "object_id:s lag:v occurred_at:t", .fill = mzf_lag_history },
    { "mz_internal", "mz_wallclock_global_lag_recent_history", "object_id:s lag:v occurred_at:t", .fill = mzf_lag_recent },
    { "mz_internal", "mz_wallclock_lag_history", "object_id:s replica_id:s lag:v occurred_at:t", .fill = mzf_lag_replicas },
    { "mz_internal", "mz_webhook_sources", "id:s name:s url:s", .fill = mzf_webhooks },
};

size_t mz_nrelations(void) { return COUNT_OF(mz_relations); }
