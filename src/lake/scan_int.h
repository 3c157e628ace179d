/* SPDX-License-Identifier: Apache-2.0 */
/* scan_int.h - units of a scan, shared by scan.c, changes.c and deletes.c. */
#ifndef FIRN_LAKE_SCAN_INT_H
#define FIRN_LAKE_SCAN_INT_H

#include "lake/lake_int.h"

/* A data file with the deletes that apply to it, resolved to local paths. */
typedef struct ScanUnit {
    const IceTask *task;
    Str local;
    FileLayout *layout;
    const IceSpec *spec;
    int index;                        /* in the tables of deleted positions */
} ScanUnit;
typedef VEC(ScanUnit) ScanUnits;

typedef struct ScanBuild {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeTable *table;
    const IceSchema *schema;
    const IceFields *hidden;
    const uint8_t *reads;
    int positions;
    BoundColumns columns;             /* of the schema, engine names */
    IceNameMapping mapping;
    int has_mapping;
    Str pos_table, dv_table;          /* temporary tables of (f INTEGER, pos BIGINT); empty: none */
    LakeRelation *ret;
} ScanBuild;

NODISCARD Status scan_begin(ScanBuild *b, Error *err);
bool scan_reads(const ScanBuild *b, size_t field);
NODISCARD Status scan_units(ScanBuild *b, const IceScan *scan, const StrVec *only, ScanUnits *ret, Error *err);
/* Puts the deleted positions of all units into temporary tables. `indices` must be set. */
NODISCARD Status scan_positions(ScanBuild *b, const ScanUnits *units, Error *err);
/* Text of the condition that holds for the live rows of a unit; "" when nothing is deleted. */
NODISCARD Status scan_live(ScanBuild *b, const ScanUnit *u, Str *ret, Error *err);
/* SELECT of the columns over these files (of one layout), with extra text after the columns and a condition (both may be empty). */
NODISCARD Status scan_select(ScanBuild *b, const ScanUnit *const *units, size_t n, Str extra, Str condition, Str *ret, Error *err);
/* SELECT of typed nulls without rows, with the extra columns. */
NODISCARD Status scan_empty(ScanBuild *b, Str extra, Str *ret, Error *err);
/* Units without deletes and alike in layout and constants joined to groups, others alone: UNION ALL of scan_select. */
NODISCARD Status scan_union(ScanBuild *b, const ScanUnits *units, Str extra, StrVec *selects, Error *err);

#endif
