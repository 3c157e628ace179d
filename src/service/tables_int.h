/* SPDX-License-Identifier: Apache-2.0 */
/* tables_int.h - what the files behind tables.h share. */
#ifndef FIRN_SERVICE_TABLES_INT_H
#define FIRN_SERVICE_TABLES_INT_H

#include "access/lakeformation.h"
#include "service/tables.h"

enum {
    COMMIT_ATTEMPTS  = 20,
    NAME_BYTES_MAX   = 255,
    LEVELS_MAX       = 16,
    COMMIT_TABLES_MAX = 256,
};

NODISCARD Status tables_kind(Error *err, const char *iceberg_name);                      /* puts err->kind; returns err->code */
NODISCARD Status tables_check_name(const SvcName *name, Error *err);
NODISCARD Status tables_check_namespace(Str ns, Error *err);
NODISCARD Status tables_ask(const SvcCall *c, Action act, const CatRelation *r, const SvcName *name, Error *err);
/* May the tables and views of a namespace be listed? */
NODISCARD Status tables_ask_list(const SvcCall *c, Str catalog, Str ns, Error *err);
/* The relation of that name when it is a table (or materialized view): E_NOT_FOUND with the reference's text. */
NODISCARD Status tables_get(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err);
/* What is told of a name that is not there: `s`, or E_DENIED where the caller may not know. */
NODISCARD Status tables_missing(const SvcCall *c, const SvcName *name, Status s, Error *err);
/* tables_get for who asks by name. */
NODISCARD Status tables_find(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err);
NODISCARD Status tables_get_view(const SvcCall *c, const SvcName *name, CatRelation *ret, Error *err);
/* What the principal may see of a namespace. */
NODISCARD Status tables_list(const SvcCall *c, Str catalog, Str ns, int kind_mask, CatPage page, CatRelations *ret, Error *err);
/* E_EXISTS when the name is taken; says by what. */
NODISCARD Status tables_must_be_free(const SvcCall *c, const SvcName *name, RelKind wanted, Error *err);

/* ---- tables_location.c ------------------------------------------------------------------------------------------------ */

/* May this relation (0: a new one) keep its files there: a place that the principal may write, and nobody else's. */
NODISCARD Status tables_location_allowed(const SvcCall *c, Str uri, int64_t self, Error *err);
/* As above, but a relation at exactly this place is fine unless it is protected (one metadata file registered twice). */
NODISCARD Status tables_location_shareable(const SvcCall *c, Str uri, Error *err);
/* A view has no data: it may lie where a regular relation does, not where a managed one does. */
NODISCARD Status tables_view_location_allowed(const SvcCall *c, Str uri, Error *err);
NODISCARD Status tables_readable(const SvcCall *c, Str uri, Error *err);
/* Where a new table or view goes when nobody says where. Makes the bucket if it is the catalog's own. */
NODISCARD Status tables_default_location(const SvcCall *c, const CatNamespace *ns, Str name, Str uuid, Str *ret, Error *err);
/* A metadata file may be written: below the relation's location, or where tables_location_allowed says. */
NODISCARD Status tables_metadata_allowed(const SvcCall *c, Str file, Str location, int64_t self, Error *err);
/* The same of every place that `next`'s write.*.path properties name and `base` (may be NULL) did not. */
NODISCARD Status tables_paths_allowed(const SvcCall *c, const IceMetadata *base, const IceMetadata *next, int64_t self, Error *err);
/* ---- tables_bucket.c: table buckets' own rules; other catalogs pass -------------------------------------------------------- */

NODISCARD Status tables_bucket_namespace(Str catalog, Str ns, Error *err);
NODISCARD Status tables_bucket_name(const SvcName *n, Error *err);
/* A place that a client names for a new table: only one that was staged for it. */
NODISCARD Status tables_bucket_location(const SvcCall *c, Str catalog, Str uri, Error *err);
bool tables_is_staged_storage(const SvcCall *c, Str uri);
NODISCARD Status tables_private_bucket(const SvcCall *c, Str uuid, Str *ret, Error *err);
/* With all that is in it; does nothing when the location is not a whole private bucket. */
void tables_drop_private_bucket(const SvcCall *c, Str uri);
/* E_INVALID for a table that was created without a schema. */
NODISCARD Status tables_has_metadata(const CatRelation *r, Error *err);

bool tables_within(Arena *a, Str uri, Str prefix);

#endif
