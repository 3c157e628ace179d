/* SPDX-License-Identifier: Apache-2.0 */
/* iceberg.h - the table format: schemas, metadata, manifests, snapshots, commits, deletes (Iceberg spec v1, v2, v3).
 *
 * No catalog and no engine: a table is its metadata JSON and the files that it names, read and written through store/.
 * Reads v1, v2, v3; writes v2 and v3.  Metadata values are plain data in an arena and are never changed in place: every
 * update gives a new value.  Unknown JSON members are kept and written back.
 * Never trusts what other writers say of sizes, counts, bounds or totals (spec/iceberg.md 3 and 8 name the traps). */
#ifndef FIRN_ICEBERG_H
#define FIRN_ICEBERG_H

#include "base/base.h"
#include "codec/codec.h"
#include "store/store.h"

/* ---- types and schemas --------------------------------------------------------------------------------------- */

typedef enum {
    ICE_BOOLEAN, ICE_INT, ICE_LONG, ICE_FLOAT, ICE_DOUBLE, ICE_DECIMAL, ICE_DATE, ICE_TIME, ICE_TIMESTAMP, ICE_TIMESTAMPTZ,
    ICE_TIMESTAMP_NS, ICE_TIMESTAMPTZ_NS, ICE_STRING, ICE_UUID, ICE_FIXED, ICE_BINARY, ICE_UNKNOWN, ICE_VARIANT,
    ICE_GEOMETRY, ICE_GEOGRAPHY, ICE_STRUCT, ICE_LIST, ICE_MAP
} IceTypeKind;
typedef struct IceType IceType;
typedef struct IceField {
    int32_t id;
    Str name, doc;
    int required, has_doc;
    IceType *type;
    Json *initial_default, *write_default;            /* NULL: none (single-value JSON) */
} IceField;
typedef VEC(IceField) IceFields;
struct IceType {
    IceTypeKind kind;
    int precision, scale, length;                     /* decimal; fixed */
    Str text;                                         /* geometry, geography: the type's text */
    IceFields fields;                                 /* struct: its fields; list: element; map: key, value */
};
typedef struct IceSchema { int32_t id; IceFields fields; VEC(int32_t) identifiers; } IceSchema;

NODISCARD Status ice_schema_parse(Arena *a, const Json *j, IceSchema **ret, Error *err);   /* E_INVALID: duplicate ids, names, unknown types … */
Json *ice_schema_json(Arena *a, const IceSchema *s);
NODISCARD Status ice_type_parse(Arena *a, const Json *j, IceType **ret, Error *err);
Json *ice_type_json(Arena *a, const IceType *t);
bool ice_type_equal(const IceType *x, const IceType *y);
bool ice_type_promotes(const IceType *from, const IceType *to, int format_version);
const IceField *ice_field_by_id(const IceSchema *s, int32_t id);        /* nested too; NULL: none */
const IceField *ice_field_by_name(const IceSchema *s, Str dotted);      /* exact case; NULL: none */
bool ice_same_schema(const IceSchema *x, const IceSchema *y);           /* but for the id */
/* Fresh ids for a new table, depth first after *last_id, as the reference implementation gives them. */
IceSchema *ice_schema_assign_ids(Arena *a, const IceSchema *s, int32_t *last_id);

/* ---- single values: partition tuples, bounds ------------------------------------------------------------------- */

typedef struct IceValue {
    int null;
    IceTypeKind kind;
    int scale;
    union { int64_t integer; double real; __int128 decimal; Str bytes; };   /* boolean, int, long, dates, times: integer; string, uuid, fixed, binary: bytes */
} IceValue;
/* Appendix D binary form. A shorter form of a promoted type is accepted (4 bytes for a long). false: bytes do not fit the type. */
bool ice_value_decode(Arena *a, const IceType *t, Str bytes, IceValue *ret);
Str ice_value_encode(Arena *a, const IceType *t, const IceValue *v);
int ice_value_cmp(const IceValue *x, const IceValue *y);                /* nulls first; NaN last */
NODISCARD Status ice_value_from_json(Arena *a, const IceType *t, const Json *j, IceValue *ret, Error *err);   /* Appendix D JSON */
Json *ice_value_json(Arena *a, const IceType *t, const IceValue *v);
Str ice_value_text(Arena *a, const IceType *t, const IceValue *v);      /* as in a partition path; "null" */

/* ---- partitioning, ordering --------------------------------------------------------------------------------------- */

typedef enum { TRANSFORM_IDENTITY, TRANSFORM_BUCKET, TRANSFORM_TRUNCATE, TRANSFORM_YEAR, TRANSFORM_MONTH, TRANSFORM_DAY,
               TRANSFORM_HOUR, TRANSFORM_VOID, TRANSFORM_UNKNOWN } TransformKind;
typedef struct IceTransform { TransformKind kind; int width; Str text; } IceTransform;   /* text: as written */
IceTransform ice_transform_parse(Str text);
Str ice_transform_text(Arena *a, const IceTransform *t);
IceType *ice_transform_result(Arena *a, const IceTransform *t, const IceType *source);
/* E_INVALID for a transform that the source type does not allow. */
NODISCARD Status ice_transform_apply(Arena *a, const IceTransform *t, const IceType *source, const IceValue *v, IceValue *ret, Error *err);

typedef struct IcePartitionField { int32_t source_id, field_id; Str name; IceTransform transform; VEC(int32_t) source_ids; } IcePartitionField;
typedef struct IceSpec { int32_t id; VEC(IcePartitionField) fields; } IceSpec;
typedef struct IceSortField { int32_t source_id; IceTransform transform; int descending, nulls_last; VEC(int32_t) source_ids; } IceSortField;
typedef struct IceSortOrder { int32_t id; VEC(IceSortField) fields; } IceSortOrder;
NODISCARD Status ice_spec_parse(Arena *a, const Json *j, IceSpec **ret, Error *err);
NODISCARD Status ice_order_parse(Arena *a, const Json *j, IceSortOrder **ret, Error *err);
Json *ice_spec_json(Arena *a, const IceSpec *s);
Json *ice_order_json(Arena *a, const IceSortOrder *s);
/* "a=1/b=x%2Fy", escaped; "" for an unpartitioned spec. */
Str ice_partition_path(Arena *a, const IceSpec *spec, const IceSchema *s, const IceValue *values);

/* ---- metadata ---------------------------------------------------------------------------------------------------------- */

typedef struct IceSnapshot {
    int64_t id, sequence_number, timestamp_ms;
    OptI64 parent_id, first_row_id, added_rows;
    OptI32 schema_id;
    Str manifest_list;                                 /* empty: v1 `manifests` */
    StrVec manifests;
    Str operation;                                     /* summary's; "" when there is no summary */
    Props summary;                                     /* without operation */
    Json *extra;
} IceSnapshot;
typedef struct IceRef { Str name, type; int64_t snapshot_id; OptI64 max_ref_age_ms, max_snapshot_age_ms; OptI32 min_snapshots; } IceRef;
typedef struct IceLogEntry { int64_t timestamp_ms, snapshot_id; Str file; } IceLogEntry;

typedef struct IceMetadata {
    int format_version;
    Str uuid, location;
    int64_t last_sequence_number, last_updated_ms, next_row_id;
    int32_t last_column_id, current_schema_id, default_spec_id, last_partition_id, default_order_id;
    VEC(IceSchema *) schemas;
    VEC(IceSpec *) specs;
    VEC(IceSortOrder *) orders;
    Props properties;
    OptI64 current_snapshot_id;
    VEC(IceSnapshot *) snapshots;
    VEC(IceLogEntry) snapshot_log, metadata_log;
    VEC(IceRef) refs;
    Json *statistics, *partition_statistics, *encryption_keys;      /* arrays as they stand */
    Json *extra;                                       /* unknown members */
    int unsigned_ids;                                  /* some snapshot ids were above int64: negative ones are written back unsigned */
} IceMetadata;

/* Detects gzip by its magic. E_CORRUPT or E_INVALID with what is wrong. */
NODISCARD Status ice_metadata_parse(Arena *a, Str bytes, IceMetadata **ret, Error *err);
NODISCARD Status ice_metadata_from_json(Arena *a, const Json *j, IceMetadata **ret, Error *err);       /* keeps parts of j */
NODISCARD Status ice_metadata_read(Arena *a, Store *st, Str location, IceMetadata **ret, Error *err);   /* E_NOT_FOUND: "Failed to open input stream for file: <location>" */
Json *ice_metadata_json(Arena *a, const IceMetadata *m);
/* <location>/metadata/<n>-<uuid>.metadata.json, n one more than in `previous` (00000 when empty); honours write.metadata.path and compression. */
Str ice_metadata_next_location(Arena *a, const IceMetadata *m, Str previous);
NODISCARD Status ice_metadata_write(Arena *a, Store *st, const IceMetadata *m, Str location, Error *err);

const IceSchema *ice_schema(const IceMetadata *m, int32_t id);          /* NULL: none */
const IceSchema *ice_current_schema(const IceMetadata *m);
const IceSpec *ice_spec(const IceMetadata *m, int32_t id);
const IceSnapshot *ice_snapshot(const IceMetadata *m, int64_t id);
const IceSnapshot *ice_current_snapshot(const IceMetadata *m);          /* NULL: none */
const IceRef *ice_ref(const IceMetadata *m, Str name);
/* The snapshot that was current on main at that time (snapshot log). NULL: none so early. */
const IceSnapshot *ice_snapshot_at(const IceMetadata *m, int64_t timestamp_ms);
bool ice_is_ancestor(const IceMetadata *m, int64_t ancestor, int64_t of);    /* a snapshot is its own ancestor */

typedef struct IceNewTable { IceSchema *schema; IceSpec *spec; IceSortOrder *order; Str location; Props properties; int format_version; Str uuid; } IceNewTable;
/* Assigns fresh ids (schema's own ids are only used to connect spec and order); spec and order may be NULL; `format-version` in properties is taken out. */
NODISCARD Status ice_metadata_new(Arena *a, const IceNewTable *t, IceMetadata **ret, Error *err);

/* ---- updates and requirements: the REST specification's, typed ---------------------------------------------------------- */

typedef enum {
    UP_ASSIGN_UUID, UP_UPGRADE_FORMAT, UP_ADD_SCHEMA, UP_SET_CURRENT_SCHEMA, UP_ADD_SPEC, UP_SET_DEFAULT_SPEC, UP_ADD_ORDER,
    UP_SET_DEFAULT_ORDER, UP_ADD_SNAPSHOT, UP_SET_REF, UP_REMOVE_SNAPSHOTS, UP_REMOVE_REF, UP_SET_LOCATION, UP_SET_PROPERTIES,
    UP_REMOVE_PROPERTIES, UP_SET_STATISTICS, UP_REMOVE_STATISTICS, UP_SET_PARTITION_STATISTICS, UP_REMOVE_PARTITION_STATISTICS,
    UP_REMOVE_SPECS, UP_REMOVE_SCHEMAS, UP_ADD_ENCRYPTION_KEY, UP_REMOVE_ENCRYPTION_KEY
} IceUpdateKind;
typedef struct IceUpdate {
    IceUpdateKind kind;
    Str text;                                          /* uuid, location, ref name, key id */
    int64_t number;                                    /* format version, schema/spec/order id (-1: last added), snapshot id */
    IceSchema *schema;
    IceSpec *spec;
    IceSortOrder *order;
    IceSnapshot *snapshot;
    IceRef ref;
    Props props;
    StrVec keys;
    VEC(int64_t) ids;
    Json *json;                                        /* statistics files, encryption keys */
} IceUpdate;
typedef VEC(IceUpdate) IceUpdates;

typedef enum { RQ_CREATE, RQ_UUID, RQ_REF_SNAPSHOT, RQ_LAST_FIELD_ID, RQ_CURRENT_SCHEMA, RQ_LAST_PARTITION_ID, RQ_DEFAULT_SPEC, RQ_DEFAULT_ORDER } IceRequirementKind;
typedef struct IceRequirement { IceRequirementKind kind; Str text; OptI64 number; } IceRequirement;   /* RQ_REF_SNAPSHOT: text ref, number absent: must not exist */
typedef VEC(IceRequirement) IceRequirements;

NODISCARD Status ice_update_parse(Arena *a, const Json *j, IceUpdate *ret, Error *err);            /* unknown kinds: E_INVALID */
NODISCARD Status ice_requirement_parse(Arena *a, const Json *j, IceRequirement *ret, Error *err);
/* The same as JSON; m: the table that they are for. */
Json *ice_update_json(Arena *a, const IceMetadata *m, const IceUpdate *u);
Json *ice_requirement_json(Arena *a, const IceMetadata *m, const IceRequirement *r);
/* m NULL: the table does not exist. E_CONFLICT with the reference texts ("Requirement failed: branch main has changed: expected id %s != %s"). */
NODISCARD Status ice_requirements_check(const IceMetadata *m, const IceRequirements *rq, Error *err);
/* A new metadata value; *changed 0 when the updates have no effect. m NULL: build from nothing (create). `previous_location` goes into the
 * metadata log. Rules of the reference's TableMetadata.Builder (spec/iceberg.md 1.4). E_INVALID; E_CONFLICT for a stale sequence number. */
NODISCARD Status ice_metadata_apply(Arena *a, const IceMetadata *m, Str previous_location, const IceUpdates *ups, int64_t now_ms, IceMetadata **ret, int *changed, Error *err);

/* ---- manifests ---------------------------------------------------------------------------------------------------------- */

typedef enum { CONTENT_DATA, CONTENT_POSITION_DELETES, CONTENT_EQUALITY_DELETES } IceContent;
typedef struct IceBound { int32_t id; Str bytes; } IceBound;
typedef struct IceCount { int32_t id; int64_t n; } IceCount;
typedef struct IceFile {                               /* a data or delete file */
    IceContent content;
    Str path, format;                                  /* format upper case: PARQUET, AVRO, ORC, PUFFIN */
    int32_t spec_id;
    IceValue *partition;                               /* one for each field of the spec */
    size_t npartition;
    int64_t record_count, size;
    VEC(IceCount) column_sizes, value_counts, null_counts, nan_counts;
    VEC(IceBound) lower, upper;
    VEC(int64_t) split_offsets;
    VEC(int32_t) equality_ids;
    OptI32 sort_order_id;
    OptI64 first_row_id, content_offset, content_size;
    Str referenced_data_file;                          /* empty: none */
    Str key_metadata;
} IceFile;
typedef enum { ENTRY_EXISTING, ENTRY_ADDED, ENTRY_DELETED } IceEntryStatus;
typedef struct IceEntry { IceEntryStatus status; OptI64 snapshot_id, sequence_number, file_sequence_number; IceFile file; } IceEntry;
typedef VEC(IceEntry) IceEntries;

typedef struct IceSummary { int contains_null, contains_nan, has_nan; Str lower, upper; int has_lower, has_upper; } IceSummary;   /* of one partition field */
typedef struct IceManifest {                           /* an entry of the manifest list */
    Str path;
    int64_t length, sequence_number, min_sequence_number;
    OptI64 added_snapshot_id;
    int32_t spec_id;
    int deletes;                                       /* content: 0 data, 1 deletes */
    OptI64 added_files, existing_files, deleted_files, added_rows, existing_rows, deleted_rows, first_row_id;
    struct { IceSummary *p; size_t n; } partitions;
    Str key_metadata;
} IceManifest;
typedef VEC(IceManifest) IceManifests;

NODISCARD Status ice_manifest_list_read(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, IceManifests *ret, Error *err);
/* The first row id after all that the snapshot's list assigns (v3).  A client's added-rows may be too low: a server that
 * raises it to this, minus first-row-id, before it applies the update keeps later commits from giving ids twice. */
NODISCARD Status ice_snapshot_rows_end(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, int64_t *ret, Error *err);
/* Entries with inherited values filled in; DELETED ones too. E_CORRUPT, E_NOT_FOUND, E_UNSUPPORTED (encrypted). */
NODISCARD Status ice_manifest_read(Arena *a, Store *st, const IceMetadata *m, const IceManifest *mf, IceEntries *ret, Error *err);
/* The same out of a cache of manifests, for a store whose local paths are never written again; NULL: it is read. */
Cache *ice_manifest_cache_new(void);
NODISCARD Status ice_manifest_read_kept(Arena *a, Store *st, Cache *kept, const IceMetadata *m, const IceManifest *mf, IceEntries *ret, Error *err);

/* ---- scanning ---------------------------------------------------------------------------------------------------------------- */

typedef enum { PRED_EQ, PRED_NE, PRED_LT, PRED_LE, PRED_GT, PRED_GE, PRED_IS_NULL, PRED_NOT_NULL, PRED_IN, PRED_STARTS } IcePredOp;
typedef struct IcePredicate { int32_t field_id; IcePredOp op; IceValue *values; size_t n; } IcePredicate;    /* a conjunct; values of the column's own type; may only drop files that surely hold no row */
typedef VEC(IcePredicate) IcePredicates;

typedef struct IceTask {
    IceEntry *data;
    VEC(IceEntry *) deletes;                           /* that apply to it, by the rules of spec 3.5; a deletion vector stands alone */
} IceTask;
typedef struct IceScan { VEC(IceTask) tasks; StrVec manifests /* that the snapshot names */; size_t files_total, files_skipped, manifests_total, manifests_skipped; } IceScan;
NODISCARD Status ice_scan(Arena *a, Store *st, const IceMetadata *m, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err);
NODISCARD Status ice_scan_kept(Arena *a, Store *st, Cache *manifests, const IceMetadata *m, const IceSnapshot *s, const IcePredicates *where, IceScan *ret, Error *err);      /* with a cache of manifests */

/* ---- commits -------------------------------------------------------------------------------------------------------------------- */

typedef enum { ISOLATION_SERIALIZABLE, ISOLATION_SNAPSHOT } IceIsolation;
typedef struct IceChange {                             /* everything folded into one new snapshot */
    Str operation;                                     /* append, overwrite, delete, replace */
    VEC(IceFile) add_data, add_deletes;
    StrVec remove_data, remove_deletes;                /* paths that must be live. Deletes that name a removed data file go with it, and
                                                          an added deletion vector takes the place of its data file's deletes: neither is listed */
    IcePredicates conflict_filter;                     /* rows that the change was decided on; empty: the whole table */
    int check_conflicts;                               /* validate against snapshots that came after `base` */
    int replace_all;                                   /* everything live is removed (INSERT OVERWRITE, full refresh) */
    IceIsolation isolation;
    OptI64 base_snapshot;                              /* what the writer read; absent: it saw an empty table */
    Props summary;                                     /* extra keys (refresh-state, …) */
    Str branch;                                        /* empty: main; a new one starts at main's snapshot */
    OptI32 schema_id;                                  /* default: current */
    int stage_only;                                    /* no ref moves */
    OptI64 data_sequence_number;                       /* of added data files; default: the snapshot's. A rewrite that must not outrun
                                                          equality deletes committed meanwhile gives its base's number */
} IceChange;

/* Writes manifests and a manifest list for `ch` on top of m and gives the updates and requirements that commit it.  On a
 * conflict that the rules forbid: E_CONFLICT "Found conflicting files …".  The files written are named in `written` so that a lost
 * race can remove them, also after an error. Honours commit.manifest.target-size-bytes, commit.manifest-merge.enabled, min-count-to-merge.
 * E_INVALID: the change itself is wrong; E_UNSUPPORTED: a format v1 table (upgrade it first). */
NODISCARD Status ice_change_prepare(Arena *a, Store *st, const IceMetadata *m, const IceChange *ch, int64_t now_ms, IceUpdates *ups, IceRequirements *rqs, StrVec *written, Error *err);

/* New data file location: honours write.data.path, write.object-storage.enabled, partition path. `name` is unique. */
Str ice_data_location(Arena *a, const IceMetadata *m, Str partition_path, Str name);

/* A v3 deletion vector file with one blob a data file: gives the delete entries' content_offset, size, record_count. */
typedef struct IceDv { Str data_file; Positions positions; int64_t offset, size; } IceDv;
NODISCARD Status ice_dv_write(Arena *a, Store *st, Str location, IceDv *dvs, size_t n, int64_t *file_size, Error *err);
NODISCARD Status ice_dv_read(Arena *a, Store *st, const IceFile *f, Positions *ret, Error *err);

/* ---- maintenance -------------------------------------------------------------------------------------------------------------------- */

/* 0 older_than_ms and retain_last: the table's properties decide. With ids and no older_than_ms only those go. */
typedef struct IceExpire { int64_t older_than_ms; int retain_last; VEC(int64_t) ids; int64_t now_ms; } IceExpire;
/* Updates that expire by the retention rules (refs included), and the files that only expired snapshots reach. Snapshots in `pinned` stay. */
NODISCARD Status ice_expire(Arena *a, Store *st, const IceMetadata *m, const IceExpire *e, const int64_t *pinned, size_t npinned, IceUpdates *ups, StrVec *unreachable, Error *err);
/* Every file reachable from the metadata, path to a C string: "data", "delete", "manifest", "manifest-list", "statistics", "metadata". */
NODISCARD Status ice_reachable(Arena *a, Store *st, const IceMetadata *m, Str metadata_location, Map *ret, Error *err);
/* Manifests rewritten by partition and size. No updates when they are as few as their bytes need (nbefore = nafter). */
NODISCARD Status ice_rewrite_manifests(Arena *a, Store *st, const IceMetadata *m, int64_t now_ms, IceUpdates *ups, IceRequirements *rqs, StrVec *written, size_t *nbefore, size_t *nafter, Error *err);

/* ---- name mapping -------------------------------------------------------------------------------------------------------------------- */

typedef struct IceMappedField IceMappedField;
struct IceMappedField { OptI32 id; StrVec names; VEC(IceMappedField) fields; };
typedef VEC(IceMappedField) IceNameMapping;
NODISCARD Status ice_name_mapping_parse(Arena *a, Str json, IceNameMapping *ret, Error *err);
Str ice_name_mapping_of(Arena *a, const IceSchema *s);

/* ---- views (view spec) --------------------------------------------------------------------------------------------------------------- */

typedef struct IceViewRepr { Str sql, dialect; } IceViewRepr;
typedef struct IceViewVersion { int32_t id, schema_id; int64_t timestamp_ms; Props summary; VEC(IceViewRepr) reprs; Str default_catalog; StrVec default_namespace; Json *storage_table; Json *extra; } IceViewVersion;
typedef struct IceView { Str uuid, location; int32_t format_version, current_version_id; VEC(IceViewVersion *) versions; VEC(IceLogEntry) version_log; VEC(IceSchema *) schemas; Props properties; Json *extra; } IceView;
NODISCARD Status ice_view_parse(Arena *a, Str bytes, IceView **ret, Error *err);
NODISCARD Status ice_view_read(Arena *a, Store *st, Str location, IceView **ret, Error *err);
Json *ice_view_json(Arena *a, const IceView *v);
NODISCARD Status ice_view_write(Arena *a, Store *st, const IceView *v, Str location, Error *err);
NODISCARD Status ice_view_version_parse(Arena *a, const Json *j, IceViewVersion **ret, Error *err);
const IceViewVersion *ice_view_version(const IceView *v, int32_t id);    /* NULL: none */
const IceViewVersion *ice_view_current(const IceView *v);
const IceSchema *ice_view_schema(const IceView *v, int32_t id);          /* NULL: none */
NODISCARD Status ice_view_new(Arena *a, Str location, const IceSchema *s, const IceViewVersion *version, const Props *props, int64_t now_ms, IceView **ret, Error *err);
/* `updates` is the request's JSON array (view updates); requirements: assert-view-uuid. The reference ViewMetadata.Builder's rules and messages. */
NODISCARD Status ice_view_apply(Arena *a, const IceView *v, const Json *requirements, const Json *updates, int64_t now_ms, IceView **ret, int *changed, Error *err);
Str ice_view_next_location(Arena *a, const IceView *v, Str previous);

#endif
