/* SPDX-License-Identifier: Apache-2.0 */
/* lakeformation_int.h - what the files behind lakeformation.h share: grants as they are kept. */
#ifndef FIRN_LAKEFORMATION_INT_H
#define FIRN_LAKEFORMATION_INT_H

#include "access/access_int.h"
#include "access/lakeformation.h"

#define LF_EVERYBODY S("IAM_ALLOWED_PRINCIPALS")

enum {
    LF_OF_CATALOG  = LF_CREATE_DATABASE | LF_CREATE_CATALOG | LF_DESCRIBE | LF_ALTER | LF_DROP | LF_SUPER | LF_ALL | LF_CREATE_TAG | LF_CREATE_EXPRESSION,
    LF_OF_DATABASE = LF_DESCRIBE | LF_ALTER | LF_DROP | LF_CREATE_TABLE | LF_ALL,
    LF_OF_TABLE    = LF_SELECT | LF_INSERT | LF_DELETE | LF_DESCRIBE | LF_ALTER | LF_DROP | LF_ALL,
    LF_OF_TAG      = LF_DESCRIBE | LF_ASSOCIATE | LF_GRANT_TAG | LF_ALTER | LF_DROP | LF_ALL,
};

/* What one principal has on a resource.  Entries of LF_COLUMNS grants live in the document of their table. */
typedef enum { LF_WHOLE, LF_ONLY, LF_BUT } LfPart;
typedef struct LfEntry {
    Str principal;
    uint32_t permissions, grantable;
    int64_t updated_ms;
    Str updated_by;
    LfPart part;
    StrVec names;                     /* columns that are (LF_ONLY) or are not (LF_BUT) meant; values of a tag */
} LfEntry;
typedef struct LfDoc { LfResource resource; VEC(LfEntry) entries; } LfDoc;
typedef VEC(LfDoc) LfDocs;

/* ---- lakeformation_doc.c ---------------------------------------------------------------------------------------------- */

Str lf_key(Arena *a, const LfResource *r);                                /* LF_COLUMNS: the table's */
Str lf_key_prefix(Arena *a, char kind, Str catalog, Str database);
/* *there 0: no document. */
NODISCARD Status lf_load(Access *x, Arena *a, const LfResource *r, LfDoc *ret, int *there, Error *err);
NODISCARD Status lf_load_all(Access *x, Arena *a, Str prefix, LfDocs *ret, Error *err);
CatChange lf_store_change(Arena *a, const LfDoc *d);
NODISCARD Status lf_store(Access *x, Arena *a, const LfDoc *d, Error *err);
Str lf_display(Arena *a, const LfResource *r);                            /* for messages: orders, sales */
LfPart lf_part(const LfResource *r);
const StrVec *lf_names(const LfResource *r);

/* ---- lakeformation_check.c ------------------------------------------------------------------------------------------- */

/* The names under which grants may stand for p: its own, the group of all principals, IAM_ALLOWED_PRINCIPALS. */
void lf_identities(Access *x, Arena *a, const Principal *p, StrVec *ret);
uint32_t lf_expand(LfKind kind, uint32_t bits);                          /* ALL and SUPER spelt out */
uint32_t lf_kind_bits(LfKind kind);
/* Grants by tags on this resource (a table's column when set). */
NODISCARD Status lf_by_tags(Access *x, Arena *a, const StrVec *who, const LfResource *r, Str column, uint32_t *permissions, uint32_t *grantable, Error *err);

void lf_lock(Access *x);
void lf_unlockp(Access **x);                                              /* for CLEANUP */

#endif
