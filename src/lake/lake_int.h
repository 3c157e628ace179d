/* SPDX-License-Identifier: Apache-2.0 */
/* lake_int.h - shared inside lake/ only. */
#ifndef FIRN_LAKE_INT_H
#define FIRN_LAKE_INT_H

#include "lake/lake.h"

/* A Parquet file's columns as the file itself tells them. */
typedef struct FileColumn FileColumn;
typedef VEC(FileColumn) FileColumns;
struct FileColumn {
    Str name;                         /* in the file */
    Str engine;                       /* as the engine calls it: duplicates without regard to case get a suffix */
    int32_t field_id;                 /* -1: none */
    int group;                        /* has children */
    int repeated;
    int converted;                    /* the format's ConvertedType; -1: none */
    FileColumns children;             /* lists: one, the element; maps: key, value; structs: fields */
};
typedef struct FileLayout { Str key; FileColumns columns; int has_ids; } FileLayout;      /* equal keys: equal layouts, types too */

typedef struct LayoutCache LayoutCache;
LayoutCache *layout_cache_new(void);
void layout_cache_free(LayoutCache *c);
/* Layouts of several files, good as long as the lake. */
NODISCARD Status lake_layouts(Lake *l, Arena *a, const StrVec *local_paths, FileLayout **ret, Error *err);

/* footer.c: the list of columns in a file's footer, depth first, the root among them. Text points into what was read. */
typedef struct FileElement { Str name, raw; int64_t children; int32_t field_id; int converted, repeated; } FileElement;      /* raw: all that the file says of it; -1: not said */
typedef VEC(FileElement) FileElements;
bool lake_footer_elements(Arena *a, Str footer, FileElements *ret);      /* false: these bytes hold no whole list */
NODISCARD Status lake_footer_read(Arena *a, Str path, FileElements *ret, Error *err);

/* deleted.c: rows that delete files name, decoded. */
Cache *deleted_cache_new(void);

/* hot.c: files that are read again and again, decoded. */
typedef struct HotCache HotCache;
HotCache *hot_cache_new(DuckEngine *e, int64_t budget);
void hot_cache_free(HotCache *c);

struct Lake { Catalog *catalog; Store *store; LayoutCache *layouts; Cache *deleted, *manifests; HotCache *hot; pthread_mutex_t lock; uint64_t serial; LakeHooks hooks; };
uint64_t lake_serial(Lake *l);                            /* for names of temporary tables */

/* place.c: may this file be read as the table's? E_DENIED. And a snapshot's list with its manifests; ice_scan where they may. */
NODISCARD Status lake_file_allowed(Lake *l, Arena *a, const LakeTable *t, Str uri, Error *err);
NODISCARD Status lake_manifests_allowed(Lake *l, Arena *a, const LakeTable *t, const IceSnapshot *s, const StrVec *manifests, Error *err);
NODISCARD Status lake_plan(Lake *l, Arena *a, const LakeTable *t, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err);

/* The engine text that gives `field` out of a file of this layout, relation alias r; partition constants for identity columns. */
typedef struct Projection { Arena *a; const FileLayout *layout; const IceNameMapping *mapping; const IceSpec *spec; const IceSchema *schema; const IceFile *file; } Projection;
NODISCARD Status lake_project(const Projection *p, const IceField *field, Str *ret, Error *err);
/* The file's column that holds the field; NULL: none. */
const FileColumn *lake_file_column(const Projection *p, const IceField *f);
/* The projection of this field depends on the file's partition tuple. */
bool lake_needs_partition(const Projection *p, const IceField *f);

/* Text of a value in the engine's notation back to an Iceberg value. false: not of this type. */
bool lake_value_parse(Arena *a, const IceType *t, Str text, IceValue *ret);
/* A literal of exactly this value and type. */
NODISCARD Status lake_value_literal(Arena *a, const IceType *t, const IceValue *v, Str *ret, Error *err);
/* {'a': 1, 's': {__duckdb_field_id: 2, …}} */
Str lake_field_ids(Arena *a, const IceFields *fields, const IceFields *hidden, const BoundColumns *names);
/* The expression that computes a partition value from engine column `col`. */
NODISCARD Status lake_transform_sql(Arena *a, const IceTransform *t, const IceType *source, Str col, Str *ret, Error *err);

#endif
