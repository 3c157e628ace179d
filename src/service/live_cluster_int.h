/* SPDX-License-Identifier: Apache-2.0 */
/* live_cluster_int.h - shared by the files of clusters. */
#ifndef FIRN_LIVE_CLUSTER_INT_H
#define FIRN_LIVE_CLUSTER_INT_H

#include "service/live_sql.h"

NODISCARD Status cluster_bail(Error *err, const char *text);                             /* E_INVALID, 22023 */
NODISCARD Status cluster_read_option(Run *r, const LiveOption *o, RealmCluster *c, Error *err);
NODISCARD Status cluster_only_managed(const LiveOptions *o, Error *err);              /* options that an unmanaged cluster has not */
NODISCARD Status cluster_check_factor(Run *r, const RealmCluster *c, Error *err);
NODISCARD Status cluster_check_name(Str name, Error *err);
void cluster_fit_replicas(Arena *a, RealmCluster *c);
bool cluster_managed_name(Str replica);                                                  /* r1, r2 … */
ptrdiff_t cluster_replica_at(const RealmCluster *c, Str name);                           /* -1: none */
/* An unmanaged cluster of the session's own. */
NODISCARD Status cluster_unmanaged(Run *r, Str name, RealmCluster *c, Error *err);
/* Stored; what is in it pauses or goes on when `ran` was otherwise. */
NODISCARD Status cluster_store(Service *s, Arena *a, RealmCluster *c, int ran, Error *err);
Json *cluster_details(Arena *a, const RealmCluster *c, Str replica);

#endif
