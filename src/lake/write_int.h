/* SPDX-License-Identifier: Apache-2.0 */
/* write_int.h - one write of rows into data files, shared by write.c, write_sql.c and write_stats.c. */
#ifndef FIRN_LAKE_WRITE_INT_H
#define FIRN_LAKE_WRITE_INT_H

#include "lake/lake_int.h"

/* A file that the engine wrote into the scratch folder. */
typedef struct FreshFile { LakeFile lf; Str local; int stored; } FreshFile;

typedef struct WriteJob {
    Lake *lake;
    Arena *a;
    DuckConn *c;
    const LakeWrite *w;
    const IceSpec *spec;
    BoundColumns columns;
    VEC(IceType *) partition_types;
    StrVec partition_sql;             /* text of each partition value, over the file's columns */
    Str dir;                          /* scratch folder of this write, "" until made */
    Str sql;                          /* the rows */
    VEC(FreshFile) fresh;
    LakeFiles *files;
    int64_t rows;
} WriteJob;

Str write_engine_name(const WriteJob *j, int32_t field_id);      /* empty: not a top-level column */
/* The COPY of `sql` into j->dir, split by partition; fills partition_types and partition_sql. */
NODISCARD Status write_copy_sql(WriteJob *j, Str sql, Str *ret, Error *err);
/* What the engine's answer says of a file: statistics and bounds; the partition tuple; nulls where none may be. */
void write_column_stats(WriteJob *j, IceFile *f, const Value *stats);
NODISCARD Status write_partition_tuple(WriteJob *j, IceFile *f, Str file, const Value *keys, Error *err);
NODISCARD Status write_check_required(const WriteJob *j, const IceFile *f, Error *err);

/* equality.c: of the files that an equality delete writes. */
NODISCARD Status write_equality_columns(const WriteJob *j, Str *select, Str *field_ids, Error *err);
void write_equality_file(const WriteJob *j, IceFile *f);
Str write_equality_long(const WriteJob *j, size_t i, Str hash);      /* a query of the long partition value whose hash stands in the key */

#endif
