/* SPDX-License-Identifier: Apache-2.0 */
/* reach_int.h - walks over files, shared by reach.c and expire.c. */
#ifndef FIRN_ICEBERG_REACH_INT_H
#define FIRN_ICEBERG_REACH_INT_H

#include "iceberg/iceberg_int.h"

/* The snapshot's list and manifests into ret, the manifests (IceManifest) into `manifests` too. */
NODISCARD Status ice_reach_snapshot(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, Map *manifests, Map *ret, Error *err);
/* The live files of a manifest. */
NODISCARD Status ice_reach_manifest(Arena *a, Store *st, const IceMetadata *m, const IceManifest *mf, Map *ret, Error *err);

#endif
