/* SPDX-License-Identifier: Apache-2.0 */
/* logs_int.h - what the files behind logs.h share. */
#ifndef FIRN_LOGS_INT_H
#define FIRN_LOGS_INT_H

#include "catalog/catalog_int.h"
#include "catalog/logs.h"

/* One connection reads, one writes; each has a lock. */
struct Logs { pthread_mutex_t write_lock, read_lock; Db writer, reader; };

/* CLEANUP(logs_unlockp) pthread_mutex_t *lock = logs_lock(&l->read_lock); then queries of l->reader. */
pthread_mutex_t *logs_lock(pthread_mutex_t *m);
void logs_unlockp(pthread_mutex_t **m);

/* CLEANUP(logs_tx_endp) Logs *tx = NULL; rolls back unless logs_tx_commit was OK. */
NODISCARD Status logs_tx_begin(Logs *l, Logs **tx, Error *err);
NODISCARD Status logs_tx_commit(Logs **tx, Error *err);
void logs_tx_endp(Logs **tx);

/* Ids of rows; E_NOT_FOUND in the service's words. */
NODISCARD Status logs_group_id(Db *db, Str group, int64_t *ret, Error *err);
NODISCARD Status logs_stream_id(Db *db, int64_t group_id, Str stream, int64_t *ret, Error *err);
NODISCARD Status logs_group_insert(Db *db, const LogGroup *g, Error *err);
NODISCARD Status logs_stream_insert(Db *db, int64_t group_id, Str name, Error *err);
NODISCARD Status logs_group_shrink(Db *db, int64_t group_id, int64_t bytes, Error *err);

#endif
