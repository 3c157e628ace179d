/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_int.h - private to pgcatalog*.c: what the emulated relations are made of. */
#ifndef FIRN_PGCATALOG_INT_H
#define FIRN_PGCATALOG_INT_H

#include "service/pgcatalog.h"

/* `columns` are "name:letter name:letter …": o oid, s text, b boolean, h int2, i int4, l int8, f float4, d float8, t timestamptz;
 * S O H F arrays of those; V int2vector. */
typedef struct PgcatTable { const char *schema, *name, *columns; } PgcatTable;
extern const PgcatTable pgcat_tables[];
size_t pgcat_ntables(void);
const PgcatTable *pgcat_table(Str schema, Str name);     /* NULL: there is none */
Str pgcat_engine_name(Arena *a, const PgcatTable *t);
/* Splits the next "name:letter" off *rest; false: none left. */
bool pgcat_next_column(Str *rest, Str *name, DataType *type);

/* A relation with content: `from` is the text behind FROM, `exprs` are column, expression … NULL; other columns are NULL. */
typedef struct PgcatView { const char *name, *from; const char *const *exprs; } PgcatView;
extern const PgcatView pgcat_views[];
size_t pgcat_nviews(void);

/* SQL texts, each a statement, NULL at the end: the static tables (before the views), the macros (before the views too). */
extern const char *const pgcat_static[];
extern const char *const pgcat_macros[];

/* The temporary tables that hold a connection's objects, as "name(columns)"; NULL at the end. */
typedef enum { PGT_REL, PGT_COL, PGT_NS, PGT_ROLE, PGT_DB, PGT_SETTING, PGT_SESSION, PGT_MEMBER, PGT_REACH, PGT_MADE, PGT_ACL, PGT_COUNT } PgcatTemp;
extern const PgcatTable pgcat_temps[PGT_COUNT];

#endif
