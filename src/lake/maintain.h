/* SPDX-License-Identifier: Apache-2.0 */
/* maintain.h - a table kept in shape: files rewritten, snapshots expired, orphans removed, manifests merged, files adopted.
 *
 * Each is one commit (or none) that leaves the table's rows as they were, but for lake_add_files, which appends.  Rights are asked
 * by the caller.  Files are deleted only after the commit that lets go of them, only where the table itself owns the storage, and
 * never while another relation at the same place reaches them. */
#ifndef FIRN_LAKE_MAINTAIN_H
#define FIRN_LAKE_MAINTAIN_H

#include "lake/lake.h"

/* ---- data files ------------------------------------------------------------------------------------------------------ */

/* Which files are rewritten: the rules and the names of the reference's SizeBasedFileRewritePlanner. 0: the default. */
typedef struct LakeRewrite {
    int64_t target_bytes, min_bytes, max_bytes, max_group_bytes;      /* table's write.target-file-size-bytes, 75 %, 180 %, 100 GB */
    int64_t min_input_files;                                          /* 5 */
    int64_t delete_file_threshold;                                    /* none */
    double delete_ratio_threshold;                                    /* 0.3 */
    int rewrite_all;
    const IceSortOrder *order;                                        /* NULL: rows keep their order */
    const StrVec *among;                                              /* only these data files; NULL: all */
    const IceFields *hidden;                                          /* fields beside the schema's that the files must keep; NULL: none */
    Str prefix;                                                       /* of the new files' names; empty: none */
} LakeRewrite;
typedef struct LakeRewritten { int64_t rewritten_files, added_files, rewritten_bytes, removed_delete_files; } LakeRewritten;
/* A `replace` snapshot with the same rows: deletes that stood are applied, deletes that came meanwhile make it start over, then E_CONFLICT. */
NODISCARD Status lake_rewrite_files(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeRewrite *rw, LakeRewritten *ret, Error *err);
/* The same up to the commit, for a table that another catalog keeps: what to commit and the files that it names. ret->rewritten_files 0: nothing is to be done. */
NODISCARD Status lake_rewrite_prepare(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, const LakeRewrite *rw, IceChange *ch, LakeFiles *files, LakeRewritten *ret, Error *err);

typedef struct LakeMergedDeletes { int64_t rewritten_files, added_files, rewritten_bytes, added_bytes; } LakeMergedDeletes;
/* Position delete files of a partition, when there are at least min_input_files (0: 5) of them, become one. Format 2; others: nothing to do. */
NODISCARD Status lake_merge_deletes(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, int64_t min_input_files, LakeMergedDeletes *ret, Error *err);

/* ---- snapshots, manifests, orphans ------------------------------------------------------------------------------------ */

typedef struct LakeExpired { int64_t snapshots, data_files, position_deletes, equality_deletes, manifests, manifest_lists, statistics; } LakeExpired;
/* Snapshots in `pinned` stay (incremental views still need them). E_INVALID: gc.enabled is false, or a named snapshot has a ref. */
NODISCARD Status lake_expire(Lake *l, Arena *a, const LakeTable *t, const IceExpire *e, const int64_t *pinned, size_t npinned, LakeExpired *ret, Error *err);

NODISCARD Status lake_rewrite_manifests(Lake *l, Arena *a, const LakeTable *t, int64_t *rewritten, int64_t *added, Error *err);

typedef enum { ORPHANS_REMOVE, ORPHANS_LIST } LakeOrphanMode;
/* Objects below `location` (empty: the table's) last changed before older_than_ms that no metadata reaches; their locations. */
NODISCARD Status lake_remove_orphans(Lake *l, Arena *a, const LakeTable *t, Str location, int64_t older_than_ms, LakeOrphanMode mode, StrVec *ret, Error *err);

/* ---- adopting files ------------------------------------------------------------------------------------------------------ */

typedef enum { ADD_CHECK_DUPLICATES, ADD_ANYWAY } LakeAddMode;
/* Appends existing Parquet files to the table where they are. Values of identity partitions come from the folders' names (k=v) below
 * `root`. Sets a name mapping when the table has none: such files carry no field ids. E_INVALID, E_EXISTS: a file is in the table already. */
NODISCARD Status lake_add_files(Lake *l, Arena *a, DuckConn *c, const LakeTable *t, Str root, const StrVec *uris, LakeAddMode mode, int64_t *files, int64_t *partitions, Error *err);

#endif
