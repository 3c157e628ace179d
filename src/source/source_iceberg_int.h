/* SPDX-License-Identifier: Apache-2.0 */
/* source_iceberg_int.h - what the files of the Iceberg source share. */
#ifndef FIRN_SOURCE_ICEBERG_INT_H
#define FIRN_SOURCE_ICEBERG_INT_H

#include "remote/remote.h"
#include "source/source_int.h"

NODISCARD Status iceberg_discover(Arena *a, const SourceSpec *s, SourceOutputs *ret, Error *err);
NODISCARD Status iceberg_interval(const Json *options, int64_t *us, Error *err);
NODISCARD Status iceberg_open_catalog(const SourceSpec *s, RemoteCatalog **ret, Error *err);
bool iceberg_shortened(const DataType *t);           /* stored with less precision than the table has */

#endif
