/* SPDX-License-Identifier: Apache-2.0 */
/* iceberg_int.h - what the files of this room share and nobody else sees. */
#ifndef FIRN_ICEBERG_INT_H
#define FIRN_ICEBERG_INT_H

#include "iceberg/iceberg.h"

enum {
    LIMIT_TYPE_DEPTH = 100,              /* nesting of structs, lists and maps in a schema */
    LIMIT_METADATA_UNPACKED = LIMIT_JSON_BYTES,
    FIRST_PARTITION_ID = 1000,
    FORMAT_VERSION_MAX = 3,
    DELETE_FILE_PATH_ID = 2147483546,    /* reserved column of position delete files */
    ROW_POSITION_ID = 2147483645         /* what a deletion vector's blob names as its field */
};
#define ICE_MAIN S("main")

/* Numbers of other writers may be anything: sums stop at the ends. */
static inline int64_t ice_add_sat(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_add_overflow(x, y, &r) ? (y > 0 ? INT64_MAX : INT64_MIN) : r;
}

static inline int64_t ice_sub_sat(int64_t x, int64_t y)
{
    int64_t r;
    return __builtin_sub_overflow(x, y, &r) ? (y < 0 ? INT64_MAX : INT64_MIN) : r;
}

/* The id after the highest one. */
static inline int32_t ice_next_id(int32_t id) { return id < INT32_MAX ? id + 1 : id; }

/* ---- json helpers (json_util.c) */
/* An id: 63 bits, but some writers went above; those are kept as two's complement and *above is set. */
NODISCARD Status ice_need_id(const Json *o, const char *key, int64_t *ret, int *above, Error *err);
OptI64 ice_opt_i64(const Json *o, const char *key);
OptI32 ice_opt_i32(const Json *o, const char *key);
NODISCARD Status ice_need_i32(const Json *o, const char *key, int32_t *ret, Error *err);
NODISCARD Status ice_props_parse(Arena *a, const Json *o, const char *what, Props *ret, Error *err);
Json *ice_props_json(Arena *a, const Props *p);
/* The members of o that `known` (ended by NULL) does not name; NULL: none. */
Json *ice_unknown_members(Arena *a, const Json *o, const char *const *known);
void ice_add_members(Arena *a, Json *o, const Json *extra);
void ice_set_opt(Arena *a, Json *o, const char *key, OptI64 v);
bool ice_json_same(const Json *x, const Json *y);                    /* both NULL, or equal */
int64_t ice_prop_i64(const Props *p, const char *key, int64_t fallback);
bool ice_prop_is(const Props *p, const char *key, const char *value, const char *fallback);

/* ---- dates (dates.c): proleptic Gregorian, floor for negatives */
int64_t ice_floor_div(int64_t x, int64_t by);
int64_t ice_floor_mod(int64_t x, int64_t by);
bool ice_date_read(Str *s, int64_t *days);                           /* takes the text off the front of s */
bool ice_time_read(Str *s, int64_t *nanos);
void ice_date_write(StrBuf *b, int64_t days);
/* fixed: all digits of the fraction; else none or as many as needed. */
typedef enum { FRACTION_NEEDED, FRACTION_FIXED } IceFraction;
void ice_time_write(StrBuf *b, int64_t of_day, int digits, IceFraction f);    /* units of 10^-digits seconds */

/* ---- schemas */
int ice_type_since(const IceType *t);                                 /* first format version that has it */
IceType *ice_type_new(Arena *a, IceTypeKind kind);
Str ice_type_text(Arena *a, const IceType *t);
bool ice_is_nested(const IceType *t);
bool ice_fields_equal(const IceFields *x, const IceFields *y);
NODISCARD Status ice_field_parse_all(Arena *a, const Json *j, int depth, IceFields *ret, Error *err);
int32_t ice_schema_highest_id(const IceSchema *s);
/* "Invalid schema for v2: …" when a type needs a later format version. */
NODISCARD Status ice_schema_check_version(Arena *a, const IceSchema *s, int version, Error *err);
/* In the current schema, else in the newest older one that has it (a dropped column may still feed an old spec). */
const IceField *ice_field_any(const IceMetadata *m, int32_t id);
const IceField *ice_top_field(const IceSchema *s, int32_t id);
int32_t ice_id_twin(const IceFields *from, const IceFields *to, int32_t id);   /* same place in a schema of the same shape; -1 */

/* ---- partitioning */
int32_t ice_partition_source(const IcePartitionField *f);
IceType *ice_partition_type(Arena *a, const IceMetadata *m, const IcePartitionField *f);   /* NULL: source column unknown */
/* Does the value's kind have the representation that the type needs? */
bool ice_value_fits(const IceType *t, const IceValue *v);
bool ice_spec_compatible(const IceSpec *x, const IceSpec *y);
bool ice_order_same(const IceSortOrder *x, const IceSortOrder *y);
bool ice_is_unpartitioned(const IceSpec *s);
int32_t ice_spec_last_id(const IceSpec *s);
/* Spec id and values as bytes: equal keys, same partition. -0.0 and NaNs are folded. */
Str ice_partition_key(Arena *a, int32_t spec_id, const IceValue *values, size_t n);
__int128 ice_decimal_from_bytes(Str bytes);                           /* big-endian two's complement, at most 16 */
Str ice_decimal_bytes(Arena *a, __int128 v);                          /* the fewest bytes */
Str ice_decimal_bytes_of(Arena *a, __int128 v, size_t n);             /* just n bytes */
int ice_decimal_width(int precision);                                 /* bytes that hold the precision */
Str ice_utf8_prefix(Str s, int64_t code_points);

/* ---- snapshots */
NODISCARD Status ice_snapshot_parse(Arena *a, const Json *j, IceSnapshot **ret, int *above, Error *err);
Json *ice_snapshot_json(Arena *a, const IceMetadata *m, const IceSnapshot *s);
NODISCARD Status ice_ref_parse(const Json *j, Str name, IceRef *ret, int *above, Error *err);
bool ice_ref_equal(const IceRef *x, const IceRef *y);
Json *ice_id_json(Arena *a, const IceMetadata *m, int64_t id);

/* ---- updates */
const char *ice_update_name(IceUpdateKind kind);
const char *ice_requirement_name(IceRequirementKind kind, const char **member);    /* member: of its value; NULL: none */

/* ---- manifests */
bool ice_is_live(const IceEntry *e);
bool ice_is_dv(const IceFile *f);
/* Writes entries as they stand (null sequence numbers stay null) and describes the manifest. Counts, summaries and
 * min_sequence_number come from the entries; `sequence_number` is what ADDED entries will inherit. */
typedef struct IceManifestPlan { Str path; int32_t spec_id; int deletes; int64_t snapshot_id, sequence_number; } IceManifestPlan;
NODISCARD Status ice_manifest_write(Arena *a, Store *st, const IceMetadata *m, const IceManifestPlan *plan, const IceEntries *entries, IceManifest *ret, Error *err);
NODISCARD Status ice_manifest_list_write(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, Str path, const IceManifests *list, Error *err);
Str ice_metadata_file(Arena *a, const IceMetadata *m, Str name);      /* in the table's metadata folder */
Str ice_folder_file(Arena *a, Str location, const Props *props, Str name);   /* the same for views */
Str ice_next_file(Arena *a, Str location, const Props *props, Str codec, Str previous);
NODISCARD Status ice_json_put(Arena *a, Store *st, const Json *j, Str location, Error *err);    /* gzip by the name */
NODISCARD Status ice_json_load(Arena *a, Str bytes, Json **ret, Error *err);                      /* gzip by the magic */

/* ---- pruning (prune.c) */
typedef struct IceRange { int may_null, may_nan, may_value, has_lower, has_upper; IceValue lower, upper; } IceRange;
bool ice_range_may_match(const IcePredicate *p, const IceRange *r);
bool ice_file_may_match(Arena *a, const IceMetadata *m, const IceFile *f, const IcePredicates *where);
bool ice_manifest_may_match(Arena *a, const IceMetadata *m, const IceManifest *mf, const IcePredicates *where);

#endif
