/* SPDX-License-Identifier: Apache-2.0 */
/* change_int.h - one commit in the making, shared by the change_*.c files. */
#ifndef FIRN_ICEBERG_CHANGE_INT_H
#define FIRN_ICEBERG_CHANGE_INT_H

#include "iceberg/iceberg_int.h"

typedef struct Commit {
    Arena *a;
    Store *st;
    const IceMetadata *m;
    const IceChange *ch;
    const IceSnapshot *parent;               /* NULL: there is no snapshot yet */
    StrVec *written;
    int64_t id, sequence_number;
    Str uuid;
    int nfiles;                              /* manifests named so far */
    Map doomed_data, doomed_deletes;         /* paths to remove; the value says: found */
    Map vectored;                            /* data files that get a new deletion vector */
    size_t nfound_data, nfound_deletes;
    IceEntries removed;                      /* entries that this commit removes */
    IceManifests data, deletes;              /* the new list */
} Commit;

/* Commits are named in `written` before they are written, so that a failed write is cleaned up too. */
Str ice_commit_manifest_path(Commit *c);
NODISCARD Status ice_commit_write(Commit *c, int32_t spec_id, int deletes, const IceEntries *entries, IceManifest *ret, Error *err);
/* Carries the parent's manifests over; those that hold removed files are rewritten. */
NODISCARD Status ice_commit_filter(Commit *c, Error *err);
/* Small manifests of one kind and spec are merged (MergeAppend's rules). */
NODISCARD Status ice_commit_merge(Commit *c, IceManifests *list, Error *err);
/* Manifests are regrouped by spec, so each must have one: E_CORRUPT. */
NODISCARD Status ice_check_specs(const IceMetadata *m, const IceManifests *list, Error *err);
/* E_CONFLICT when what others committed since the base forbids this change. */
NODISCARD Status ice_commit_check(Commit *c, Error *err);
void ice_commit_summary(Commit *c, IceSnapshot *s);
/* The branch's head; a branch that is not there yet starts at main's. NULL: nothing yet. */
const IceSnapshot *ice_branch_head(const IceMetadata *m, Str branch);
/* Manifest list, snapshot, updates and requirements for c's manifests. */
NODISCARD Status ice_commit_finish(Commit *c, int64_t now_ms, IceUpdates *ups, IceRequirements *rqs, Error *err);
/* Every entry of the rewritten manifest that carries row ids keeps its manifest's; else a new range is assigned. */
void ice_commit_keep_row_ids(const IceManifest *from, const IceEntries *entries, IceManifest *to);
void ice_commit_init(Commit *c, Arena *a, Store *st, const IceMetadata *m, const IceChange *ch, StrVec *written);

#endif
