/* SPDX-License-Identifier: Apache-2.0 */
/* apply_int.h - metadata in the making, shared by the apply*.c files. */
#ifndef FIRN_ICEBERG_APPLY_INT_H
#define FIRN_ICEBERG_APPLY_INT_H

#include "iceberg/iceberg_int.h"

typedef struct Build {
    Arena *a;
    IceMetadata *m;
    int64_t now;
    int changed, timed, removed;           /* timed: last_updated_ms is set by this commit; removed: snapshots went */
    OptI32 added_schema, added_spec, added_order;
    VEC(int64_t) added, was_main;          /* snapshots of this commit; those that main pointed to during it */
} Build;

static inline bool ice_has_id(const int64_t *p, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == id)
            return true;
    return false;
}

#define HAS_ID(v, id) ice_has_id((v).p, (v).n, (id))

#define COPY_LIST(a, v) do {                                                       \
    void *to_ = (v).n ? arena_alloc((a), (v).n * sizeof *(v).p) : NULL;            \
    if ((v).n)                                                                     \
        memcpy(to_, (v).p, (v).n * sizeof *(v).p);                                 \
    (v).p = to_;                                                                   \
    (v).cap = (v).n;                                                               \
} while (0)

/* Keeps the elements for which `keep` (an expression over `it`) holds. */
#define FILTER(T, v, keep) do {                                                    \
    size_t out_ = 0;                                                               \
    for (size_t i_ = 0; i_ < (v).n; i_++) {                                        \
        T it = (v).p[i_];                                                          \
        if (keep)                                                                  \
            (v).p[out_++] = it;                                                    \
    }                                                                              \
    (v).n = out_;                                                                  \
} while (0)

NODISCARD Status ice_add_schema(Build *b, const IceSchema *s, Error *err);
NODISCARD Status ice_add_spec(Build *b, const IceSpec *s, Error *err);
NODISCARD Status ice_add_order(Build *b, const IceSortOrder *o, Error *err);
/* The asked id, or the one added last when that is -1. */
NODISCARD Status ice_set_current_schema(Build *b, int64_t asked, Error *err);
NODISCARD Status ice_set_default_spec(Build *b, int64_t asked, Error *err);
NODISCARD Status ice_set_default_order(Build *b, int64_t asked, Error *err);
NODISCARD Status ice_remove_schemas(Build *b, const IceUpdate *u, Error *err);
NODISCARD Status ice_remove_specs(Build *b, const IceUpdate *u, Error *err);

NODISCARD Status ice_add_snapshot(Build *b, IceSnapshot *s, Error *err);
NODISCARD Status ice_set_ref(Build *b, const IceRef *r, Error *err);
void ice_remove_ref(Build *b, Str name);
void ice_remove_snapshots(Build *b, const IceUpdate *u);
void ice_set_statistics(Build *b, Json **list, const IceUpdate *u);
void ice_remove_statistics(Build *b, Json **list, int64_t snapshot);
/* Leaves out what was current only inside of this commit, and what came before a removed snapshot. */
void ice_finish_snapshot_log(Build *b);

#endif
