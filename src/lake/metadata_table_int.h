/* SPDX-License-Identifier: Apache-2.0 */
/* metadata_table_int.h - shared by the files that fill metadata tables. */
#ifndef FIRN_LAKE_METADATA_TABLE_INT_H
#define FIRN_LAKE_METADATA_TABLE_INT_H

#include "lake/lake_int.h"

/* A field of the table's partition type: all specs' fields joined by field id, as the reference's Partitioning.partitionType. */
typedef struct MdPartField { int32_t id; Str name; const IceType *ice; DataType type; } MdPartField;
typedef VEC(MdPartField) MdPartFields;

/* A column that has bounds. `name` is its dotted name. */
typedef struct MdMetric { const IceField *field; Str name; DataType type; } MdMetric;
typedef VEC(MdMetric) MdMetrics;

typedef struct MdShape { MdPartFields partition; MdMetrics metrics; DataType row; } MdShape;       /* row: a struct of the columns */

/* A metadata table being filled. */
typedef struct MdFill {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeTable *t;
    const IceSnapshot *snapshot;
    const MdShape *shape;
    DuckAppender *ap;
} MdFill;

/* Cells of a row or of a nested struct, set by name; unset ones are null, and names that the type lacks are passed over. */
typedef struct MdCells { Arena *a; const DataType *type; Value *values; } MdCells;
MdCells md_cells(Arena *a, const DataType *type);
const DataType *md_type(const MdCells *c, const char *name);                 /* NULL: no such cell */
void md_set(MdCells *c, const char *name, Value v);
void md_i64(MdCells *c, const char *name, int64_t v);                        /* integers, booleans, times */
void md_opt(MdCells *c, const char *name, OptI64 v);
void md_time(MdCells *c, const char *name, int64_t ms);
void md_str(MdCells *c, const char *name, Str s);
void md_str_or_null(MdCells *c, const char *name, Str s);                    /* empty: null */
Value md_struct(const MdCells *c);
void md_row(MdFill *f, const MdCells *c);

typedef Status (*MdFiller)(MdFill *f, Error *err);
NODISCARD Status md_fill_snapshots(MdFill *f, Error *err);
NODISCARD Status md_fill_history(MdFill *f, Error *err);
NODISCARD Status md_fill_refs(MdFill *f, Error *err);
NODISCARD Status md_fill_metadata_log(MdFill *f, Error *err);
NODISCARD Status md_fill_manifests(MdFill *f, Error *err);
NODISCARD Status md_fill_all_manifests(MdFill *f, Error *err);
NODISCARD Status md_fill_files(MdFill *f, Error *err);
NODISCARD Status md_fill_data_files(MdFill *f, Error *err);
NODISCARD Status md_fill_delete_files(MdFill *f, Error *err);
NODISCARD Status md_fill_all_files(MdFill *f, Error *err);
NODISCARD Status md_fill_all_data_files(MdFill *f, Error *err);
NODISCARD Status md_fill_all_delete_files(MdFill *f, Error *err);
NODISCARD Status md_fill_entries(MdFill *f, Error *err);
NODISCARD Status md_fill_all_entries(MdFill *f, Error *err);
NODISCARD Status md_fill_partitions(MdFill *f, Error *err);
NODISCARD Status md_fill_position_deletes(MdFill *f, Error *err);

/* ---- walking manifests ------------------------------------------------------------------------------------------------- */

typedef enum { MD_DATA = 1, MD_DELETES = 2 } MdContent;
/* Called once an entry; `scratch` dies after the manifest. */
typedef Status (*MdVisit)(void *ctx, Arena *scratch, const IceManifest *mf, const IceEntry *e, Error *err);
typedef enum { MD_THIS_SNAPSHOT, MD_ALL_SNAPSHOTS } MdReach;
NODISCARD Status md_walk(MdFill *f, MdReach reach, int contents, MdVisit visit, void *ctx, Error *err);
/* A file's partition tuple as the struct of shape->partition. */
Value md_partition(Arena *a, const MdFill *f, const DataType *type, const IceFile *file);

#endif
