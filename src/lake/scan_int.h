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
    const RowSet *deleted;            /* by position; NULL: no file says of any. Lent to the connection as `lent` */
    int64_t lent;
    Str hot;                          /* what stands for the file in the text: a table of the engine; empty: the file itself */
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
    LakeRelation *ret;
} ScanBuild;

NODISCARD Status scan_begin(ScanBuild *b, Error *err);
bool scan_reads(const ScanBuild *b, size_t field);
NODISCARD Status scan_units(ScanBuild *b, const IceScan *scan, const StrVec *only, ScanUnits *ret, Error *err);
/* deleted.c: sets `deleted` and `lent` of all units. */
NODISCARD Status scan_positions(ScanBuild *b, ScanUnits *units, Error *err);
bool scan_is_dv(const IceFile *f);
bool scan_by_position(const IceTask *t);                              /* no equality delete applies */
uint8_t *scan_columns(ScanBuild *b, const ScanUnit *u);               /* one a column of the file's layout: is it read? */
/* hot.c: sets `hot` of units whose files are tables of the engine. HOT_MAKE: of those too that are asked for again and again, they become such tables. */
typedef enum { HOT_MAKE, HOT_AS_IT_IS } HotUse;
void scan_hot(ScanBuild *b, ScanUnits *units, HotUse use);
NODISCARD Status scan_may_read(ScanBuild *b, const IceFile *f, Error *err);
/* Text of the condition that holds for the live rows of a unit; "" when nothing is deleted. */
NODISCARD Status scan_live(ScanBuild *b, const ScanUnit *u, Str *ret, Error *err);
/* SELECT of the columns over these files (of one layout), with extra text after the columns and a condition (both may be empty). */
NODISCARD Status scan_select(ScanBuild *b, const ScanUnit *const *units, size_t n, Str extra, Str condition, Str *ret, Error *err);
/* SELECT of typed nulls without rows, with the extra columns. */
NODISCARD Status scan_empty(ScanBuild *b, Str extra, Str *ret, Error *err);
/* Units without deletes and alike in layout and constants joined to groups, others alone: UNION ALL of scan_select. */
NODISCARD Status scan_union(ScanBuild *b, const ScanUnits *units, Str extra, StrVec *selects, Error *err);

#endif
