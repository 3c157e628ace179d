/* SPDX-License-Identifier: Apache-2.0 */
/* glue_later.c - operations that are not there yet. */
#include "door/glue/glue_int.h"

#define LATER(name_) Status glue_##name_(AwsCall *c, Error *err) { return FAIL(err, E_UNSUPPORTED, "%s is not supported yet", c->op->name); }
LATER(create_partition) LATER(get_partition) LATER(get_partitions) LATER(update_partition) LATER(delete_partition)
LATER(batch_create_partition) LATER(batch_get_partition) LATER(batch_update_partition) LATER(batch_delete_partition)
LATER(create_partition_index) LATER(get_partition_indexes) LATER(delete_partition_index)
LATER(create_function) LATER(get_function) LATER(get_functions) LATER(update_function) LATER(delete_function)
LATER(tag_resource) LATER(untag_resource) LATER(get_tags)
LATER(get_statistics) LATER(update_statistics) LATER(delete_statistics)
LATER(put_policy) LATER(get_policy) LATER(get_policies) LATER(delete_policy)
LATER(create_connection) LATER(get_connection) LATER(get_connections) LATER(update_connection) LATER(delete_connection) LATER(batch_delete_connection)
LATER(search_tables)
Status glue_tag_put(AwsCall *c, Str arn, const Json *tags, Error *err) { (void)c; (void)arn; return json_len(tags) ? FAIL(err, E_UNSUPPORTED, "tags are not supported yet") : OK; }
