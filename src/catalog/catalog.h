/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.h - everything durable that has a name.
 *
 * Owns the SQLite file catalog.db (WAL, synchronous=FULL); nobody else opens it.  Any thread may call; writers serialise
 * inside, readers do not wait for them.  Results live in the caller's arena.  Never touches table data or the network.
 * E_NOT_FOUND carries the Iceberg name of what is missing in err->kind (NoSuchTableException, …); doors of other protocols
 * put their own name there.
 *
 * A catalog id is "<account>" (SQL name glue_catalog) or "<account>:s3tablescatalog/<bucket>" (SQL name: the bucket).
 * A namespace of several levels is one Str joined by 0x1F.  Names are compared exactly. */
#ifndef FIRN_CATALOG_H
#define FIRN_CATALOG_H

#include "base/base.h"
#include "codec/codec.h"
#include "iceberg/iceberg.h"

typedef struct Catalog Catalog;

/* Makes the file and the account's catalog when absent. `account` is fixed at first start: E_INVALID when it differs later. */
NODISCARD Status cat_open(Str path, Str account, Str region, Catalog **ret, Error *err);
void cat_close(Catalog *c);
NODISCARD Status cat_reset(Catalog *c, Error *err);                      /* empties all but account and root key (test.reset) */
NODISCARD Status cat_backup(Catalog *c, Str to_path, Error *err);        /* catalog.db alone: catalog.key and evidence.key are copied by the caller. E_EXISTS */
NODISCARD Status cat_probe(Catalog *c, Error *err);                      /* can it be written now */
Str cat_account(const Catalog *c);
Str cat_display_name(Arena *a, Str ns, Str name);                        /* as people write them: a.b.t; name may be empty */
Str cat_region(const Catalog *c);

/* ---- catalogs (warehouses) ---------------------------------------------------------------------------------------- */

typedef struct CatWarehouse {
    Str id, sql_name, kind;           /* kind: "account" or "table_bucket" */
    Str arn;                          /* arn:aws:s3tables:<region>:<account>:bucket/<bucket>, or arn:aws:glue:<region>:<account>:catalog */
    Str bucket;                       /* account: the warehouse bucket; table_bucket: its name (storage is a private bucket a table) */
    int64_t created_ms;
    Props props;
} CatWarehouse;
typedef VEC(CatWarehouse) CatWarehouses;
NODISCARD Status cat_warehouse_create(Catalog *c, const CatWarehouse *w, Error *err);      /* E_EXISTS */
/* By id, SQL name, ARN, or "" for the account's. E_NOT_FOUND. */
NODISCARD Status cat_warehouse_get(Catalog *c, Arena *a, Str any_name, CatWarehouse *ret, Error *err);
NODISCARD Status cat_warehouse_list(Catalog *c, Arena *a, CatWarehouses *ret, Error *err);
NODISCARD Status cat_warehouse_delete(Catalog *c, Str id, Error *err);                     /* E_NOT_EMPTY */

/* ---- namespaces ------------------------------------------------------------------------------------------------------ */

typedef struct CatNamespace { Str catalog, name, uuid; int64_t created_ms; Str owner; Props props; } CatNamespace;
typedef VEC(CatNamespace) CatNamespaces;
NODISCARD Status cat_namespace_create(Catalog *c, const CatNamespace *n, Error *err);      /* E_EXISTS "Namespace already exists: x"; E_NOT_FOUND parent */
NODISCARD Status cat_namespace_get(Catalog *c, Arena *a, Str catalog, Str name, CatNamespace *ret, Error *err);   /* E_NOT_FOUND "Namespace does not exist: x" */
NODISCARD Status cat_namespace_props(Catalog *c, Str catalog, Str name, const Props *props, Error *err);          /* replaces all */
/* Sets and removes in one step; `removed` and `missing` name what was asked to go and was or was not there. */
NODISCARD Status cat_namespace_update(Catalog *c, Arena *a, Str catalog, Str name, const Props *set, const StrVec *remove, StrVec *removed, StrVec *missing, Error *err);
NODISCARD Status cat_namespace_delete(Catalog *c, Str catalog, Str name, Error *err);      /* E_NOT_EMPTY "Namespace x is not empty." */
typedef struct CatPage { Str after; int max; } CatPage;                  /* max 0: all; after: the last name seen, exclusive */
NODISCARD Status cat_namespace_list(Catalog *c, Arena *a, Str catalog, Str parent, CatPage page, CatNamespaces *ret, Error *err);

/* ---- relations: tables, views, materialized views ------------------------------------------------------------------------ */

/* EXTERNAL: a table of the Glue catalog that is not Iceberg (Hive-style, or a Glue view). It owns no storage (`location` is empty) and no
 * metadata file: its definition is in `extra`, and files are read by the reader's own rights. */
typedef enum { REL_TABLE, REL_VIEW, REL_MVIEW, REL_EXTERNAL } RelKind;
typedef struct CatRelation {
    int64_t id;                       /* given by the catalog; never used again */
    Str catalog, namespace, name;
    RelKind kind;
    Str uuid;                         /* of the Iceberg table or view */
    Str metadata_location;
    Str version_token;                /* 20 hex digits, new with every change of the pointer */
    Str view_token;                   /* the version token; an older one once the pointer was moved past the catalog, until a refresh moves it */
    Str resource_id;                  /* the table's id in its ARN: it stays when the Iceberg uuid changes */
    Str location;                     /* the storage prefix */
    Str owner;                        /* ARN */
    int64_t created_ms, updated_ms;
    int64_t version;                  /* counts SWAPs and EXTRAs, from 0 */
    Json *extra;                      /* per-relation JSON of upper rooms (Glue parameters, …) or NULL */
} CatRelation;
typedef VEC(CatRelation) CatRelations;

NODISCARD Status cat_relation_get(Catalog *c, Arena *a, Str catalog, Str ns, Str name, CatRelation *ret, Error *err);   /* E_NOT_FOUND "Table does not exist: ns.name" */
NODISCARD Status cat_relation_by_id(Catalog *c, Arena *a, int64_t id, CatRelation *ret, Error *err);
NODISCARD Status cat_relation_by_uuid(Catalog *c, Arena *a, Str uuid, CatRelation *ret, Error *err);
/* kind_mask: bit 1 << RelKind. Ordered by name. */
NODISCARD Status cat_relation_list(Catalog *c, Arena *a, Str catalog, Str ns, int kind_mask, CatPage page, CatRelations *ret, Error *err);
/* The relation whose storage prefix holds this object location (longest prefix at a '/' boundary). E_NOT_FOUND: none. */
NODISCARD Status cat_relation_by_location(Catalog *c, Arena *a, Str uri, CatRelation *ret, Error *err);
/* Some relation whose storage prefix lies strictly below this location, a managed view first. E_NOT_FOUND: none. */
NODISCARD Status cat_relation_below(Catalog *c, Arena *a, Str uri, CatRelation *ret, Error *err);
/* arn:aws:s3tables:<region>:<account>:bucket/<bucket>/table/<resource id>, or arn:aws:glue:<region>:<account>:table/<namespace>/<name>. */
Str cat_relation_arn(const Catalog *c, Arena *a, const CatRelation *r);
/* A table of a table bucket by its ARN. E_NOT_FOUND. */
NODISCARD Status cat_relation_by_arn(Catalog *c, Arena *a, Str arn, CatRelation *ret, Error *err);
/* The integrity of a materialized view: its pointer is the one that was last written through the catalog. True for everything else. */
bool cat_intact(const CatRelation *r);
/* E_QUARANTINED in AWS's words for Spark when it is not; err->detail has those for Athena, err->kind is MaterializedViewIntegrity. */
NODISCARD Status cat_intact_check(const CatRelation *r, Error *err);
/* Does the metadata that the relation points at keep to the relation's place? Whoever may write the table's objects can overwrite that file.
 * E_INVALID: its location is another than the catalog's, or it sends files into another relation's storage. */
NODISCARD Status cat_metadata_keeps_place(Catalog *c, Arena *a, const CatRelation *r, const IceMetadata *m, Error *err);
NODISCARD Status cat_relation_extra(Catalog *c, int64_t id, const Json *extra, Error *err);

/* ---- one transaction for everything that must change together --------------------------------------------------------------- */

typedef enum { CH_CREATE, CH_SWAP, CH_DROP, CH_RENAME, CH_MVIEW, CH_RUN, CH_EVIDENCE, CH_DOC, CH_EXTRA } CatChangeKind;
typedef struct CatMview CatMview;
typedef struct CatRun CatRun;
typedef struct CatEvidence CatEvidence;
typedef struct CatChange {
    CatChangeKind kind;
    CatRelation *relation;            /* CREATE: all but id, which is filled; SWAP, DROP, EXTRA: catalog, namespace, name (uuid checked when set) */
    Str expected, next;               /* SWAP: metadata locations; DROP: expected may be empty */
    Str new_location;                 /* SWAP: the storage prefix changed; empty: not */
    Str new_uuid;                     /* SWAP: the metadata is of another uuid; empty: not */
    int past_catalog;                 /* SWAP: the pointer is moved past the catalog: view_token stays */
    Str new_namespace, new_name;      /* RENAME */
    CatMview *mview;                  /* MVIEW: inserted or replaced; its relation_id 0 means the relation CREATEd before in this transaction */
    CatRun *run;                      /* RUN: inserted or replaced */
    CatEvidence *evidence;            /* EVIDENCE: appended; prev_hash must be the chain's head: E_CONFLICT */
    Str doc_kind, doc_key;            /* DOC: value NULL deletes */
    Json *doc;                        /* EXTRA: the relation's new extra; SWAP: the same when not NULL */
    OptI64 version;                   /* SWAP, EXTRA: when set, the relation's version must be this: E_CONFLICT */
} CatChange;
/* All or nothing. E_CONFLICT: a pointer is not as expected ("Commit failed: …"), nothing changed. E_EXISTS: name taken, "Table already exists: ns.t",
 * "View with same name already exists: ns.t" and so on by the reference's texts. E_NOT_FOUND. E_INVALID: the location overlaps the storage of
 * another table or materialized view (equal places are fine among tables). Durable when it returns. */
NODISCARD Status cat_commit(Catalog *c, CatChange *changes, size_t n, Error *err);

/* ---- materialized views --------------------------------------------------------------------------------------------------------- */

struct CatMview {
    int64_t relation_id;
    int managed;
    Str definition;                   /* SQL as written */
    Str dialect;                      /* "spark" or "postgres" */
    Str definer;                      /* ARN */
    Str comment;
    int64_t schedule_s;               /* 0: none */
    int64_t next_due_ms;              /* 0: none */
    int64_t read_schedule_s, read_due_ms;      /* as they were read: writing the row leaves the stored ones alone unless these differ from the two above */
    Str state;                        /* "CREATING", "ACTIVE", "FAILED" */
    Str quarantine;                   /* reason; empty: none */
    int64_t snapshot_id;              /* that the last refresh committed; 0: none */
    Str metadata_location;            /* the pointer that the last refresh left */
    int64_t view_version;             /* raised by OR REPLACE */
    Json *sources;                    /* [{catalog, namespace, name, uuid, snapshot-id, metadata-location}] pinned by the last refresh */
    Json *hidden;                     /* [{id, name, type}] hidden Iceberg fields */
    Json *columns;                    /* definition's output columns */
    Str last_type, last_reason, last_run;      /* FULL INCREMENTAL NONE */
    int64_t last_refresh_ms;
    int64_t created_ms;
    Json *extra;
};
typedef VEC(CatMview) CatMviews;
NODISCARD Status cat_mview_get(Catalog *c, Arena *a, int64_t relation_id, CatMview *ret, Error *err);       /* E_NOT_FOUND */
NODISCARD Status cat_mview_list(Catalog *c, Arena *a, CatMviews *ret, Error *err);
NODISCARD Status cat_mview_due(Catalog *c, Arena *a, int64_t now_ms, CatMviews *ret, Error *err);
/* Sets the schedule alone (0: none): a run that is under way does not undo it. E_NOT_FOUND. */
NODISCARD Status cat_mview_schedule(Catalog *c, int64_t relation_id, int64_t schedule_s, int64_t next_due_ms, Error *err);
/* Marks the view as broken, unless it was refreshed since `last_run`: E_CONFLICT. */
NODISCARD Status cat_mview_quarantine(Catalog *c, int64_t relation_id, Str last_run, Str reason, Error *err);
/* The next due time, unless the schedule is no longer `schedule_s`. */
NODISCARD Status cat_mview_postpone(Catalog *c, int64_t relation_id, int64_t schedule_s, int64_t next_due_ms, Error *err);
/* Views that read the relation with this uuid. */
NODISCARD Status cat_mview_readers(Catalog *c, Arena *a, Str source_uuid, CatMviews *ret, Error *err);

/* ---- refresh runs ------------------------------------------------------------------------------------------------------------------ */

struct CatRun {
    Str id;                           /* UUID */
    int64_t relation_id;
    Str status;                       /* STARTING RUNNING SUCCEEDED FAILED STOPPED */
    Str type, reason, error, role, trigger;
    int64_t created_ms, started_ms, finished_ms, rows_in, rows_changed, bytes, snapshot_id, full_estimate_us;
};
typedef VEC(CatRun) CatRuns;
NODISCARD Status cat_run_get(Catalog *c, Arena *a, Str id, CatRun *ret, Error *err);
NODISCARD Status cat_run_list(Catalog *c, Arena *a, int64_t relation_id, int max, CatRuns *ret, Error *err);      /* 0: of every view; newest first */
/* Runs left STARTING or RUNNING by a dead server become FAILED; gives them. */
NODISCARD Status cat_run_recover(Catalog *c, Arena *a, CatRuns *ret, Error *err);

/* ---- evidence (design idea 2) ------------------------------------------------------------------------------------------------------- */

struct CatEvidence { int64_t relation_id, seq, created_ms; Str hash, prev_hash, signature; Json *body; };   /* hash: of the canonical body text */
typedef VEC(CatEvidence) CatEvidences;
NODISCARD Status cat_evidence_head(Catalog *c, Arena *a, int64_t relation_id, CatEvidence *ret, Error *err);   /* E_NOT_FOUND: none yet */
NODISCARD Status cat_evidence_list(Catalog *c, Arena *a, int64_t relation_id, CatEvidences *ret, Error *err);  /* oldest first */

/* ---- principals' keys --------------------------------------------------------------------------------------------------------------- */

typedef struct CatKey {
    Str id, secret, token;            /* AKIA…: no token; ASIA…: with one */
    Str principal;                    /* ARN; arn:aws:iam::<account>:root */
    int64_t created_ms, expires_ms;   /* 0: never */
    Json *scope;                      /* session policy or NULL: see access/ */
    int active;
} CatKey;
NODISCARD Status cat_key_put(Catalog *c, const CatKey *k, Error *err);       /* secrets are sealed at rest with the key file beside the catalog */
NODISCARD Status cat_key_get(Catalog *c, Arena *a, Str id, CatKey *ret, Error *err);
NODISCARD Status cat_key_delete(Catalog *c, Str id, Error *err);
NODISCARD Status cat_key_expire(Catalog *c, int64_t now_ms, Error *err);     /* forgets sessions past their end */

/* Text for a document that a copy of catalog.db alone must not give away (a password): sealed with the key file, base64. E_CORRUPT. */
NODISCARD Status cat_seal(Catalog *c, Arena *a, Str plain, Str *ret, Error *err);
NODISCARD Status cat_unseal(Catalog *c, Arena *a, Str sealed, Str *ret, Error *err);

/* ---- documents: small durable JSON of upper rooms, by kind and key -------------------------------------------------------------------- */

/* Documents of these kinds have keys "<relation id>/…" and go with their relation. */
#define DOC_PARTITION "relation.partition"
#define DOC_PARTITION_INDEX "relation.partition-index"
#define DOC_VERSION "relation.version"
#define DOC_STATISTICS "relation.statistics"

typedef struct CatDoc { Str kind, key; Json *value; } CatDoc;
typedef VEC(CatDoc) CatDocs;
NODISCARD Status cat_doc_get(Catalog *c, Arena *a, Str kind, Str key, Json **ret, Error *err);      /* E_NOT_FOUND */
NODISCARD Status cat_doc_list(Catalog *c, Arena *a, Str kind, Str prefix, CatDocs *ret, Error *err);

/* The server's signing key (Ed25519), made at first start in `evidence.key` beside the catalog, mode 0600. */
NODISCARD Status cat_signing_key(Catalog *c, Arena *a, Str *seed, Str *pub, Error *err);

#endif
