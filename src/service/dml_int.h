/* SPDX-License-Identifier: Apache-2.0 */
/* dml_int.h - shared by INSERT, DELETE, UPDATE (dml.c) and MERGE (merge.c). */
#ifndef FIRN_DML_INT_H
#define FIRN_DML_INT_H

#include "live/live.h"
#include "service/objects.h"
#include "service/session_int.h"

typedef struct Dml {
    Run *r;
    Name name;
    LakeTable table;
    BoundColumns columns;
    IceChange change;
    LakeFiles files;
    int64_t rows;
    const Object *live;                                  /* an internal table: `table` and `change` are then empty */
    VEC(LiveWrite) live_writes;
    int lineage;                                         /* rows are written with their ids (lineage.c) */
} Dml;

/* Opens the target and asks for the right to write it: before anything is computed. */
NODISCARD Status dml_open(Dml *d, Run *r, const char *api, Error *err);
/* Writes rows of an engine query, all of the table's columns in order and then those of lineage.c, as new data files of the change. */
NODISCARD Status dml_write(Dml *d, Str sql, int64_t *rows, Error *err);
/* Puts the deletion of the rows that `sql` gives (__file, __pos) into the change; op: "delete", "update", "merge".  From here on rows of
 * format 3 are written with their ids. */
NODISCARD Status dml_delete_hits(Dml *d, Str sql, const char *op, int64_t *n, Error *err);
/* Commits after s == OK, discards the files otherwise. */
NODISCARD Status dml_finish(Dml *d, Status s, Error *err);
/* A long VALUES list of constants as a temporary table; *ret selects its rows. done 0: it is not one, and is printed as any query. */
NODISCARD Status values_stage(Run *r, const Query *q, Str *ret, int *done, Error *err);
void dml_tag(Rows *rows, const char *tag, int64_t n);

TableRef *dml_target(Dml *d, Str alias);
/* A printer that writes the target with __file and __pos. */
typedef struct TargetPrinter { Dml *d; const TableRef *target; Printer inner; } TargetPrinter;
NODISCARD Status dml_print_target(void *ctx, StrBuf *out, const TableRef *ref, Error *err);

ptrdiff_t dml_column(const Dml *d, Str name);           /* exact case first; -1: none */
NODISCARD Status dml_unknown_column(Dml *d, Str name, Error *err);
NODISCARD Status dml_arity(Dml *d, size_t have, size_t want, Error *err);
/* The value of a column that the statement leaves out. */
NODISCARD Status dml_default(Dml *d, size_t col, Expr **ret, Error *err);
/* "expr AS column, …" for every column: the assigned value, else the target's own. */
NODISCARD Status dml_assigned(Dml *d, TableRef *scope, TableRef *target, const AssignVec *set, StrBuf *out, Error *err);
/* The same as the engine's text of a string: COPY casts it like the others. */
Str dml_default_text(Dml *d, size_t col);
Expr *dml_null(Arena *a);
Expr *dml_column_expr(Arena *a, TableRef *rel, size_t col, const BoundColumn *c);
/* "expr AS column" with the cast that storing it needs; col 0 begins the list. */
NODISCARD Status dml_select_item(Dml *d, Expr *e, size_t col, StrBuf *out, Error *err);
/* SELECT __file, __pos of the target's rows that satisfy `where` (engine text). */
NODISCARD Status dml_positions_where(Dml *d, Str where, Str *ret, Error *err);
NODISCARD Status dml_commit(Dml *d, Error *err);

/* copy.c: the columns that COPY's fields go to, in order; and the rows of `from`, whose fields are f0, f1 … of these types, as rows of the table. */
typedef VEC(ptrdiff_t) CopyColumns;
NODISCARD Status copy_columns(Dml *d, CopyColumns *ret, Error *err);
NODISCARD Status copy_columns_sql(Dml *d, const CopyColumns *columns, const DataType *types, Str from, Str *ret, Error *err);
NODISCARD Status do_copy_files(Run *r, Rows *rows, Error *err);                 /* copy_files.c: COPY … FROM 's3://…' */

/* live_dml.c: the same for an internal table. */
NODISCARD Status dml_live_open(Dml *d, const char *api, int *live, Error *err);
NODISCARD Status dml_live_write(Dml *d, Str sql, int64_t *rows, Error *err);
NODISCARD Status dml_live_delete(Dml *d, Str sql, int64_t *n, Error *err);
Str dml_live_target(Dml *d);
Expr *dml_live_default(Dml *d, size_t col);
NODISCARD Status dml_live_commit(Dml *d, Error *err);
void dml_live_forget(Dml *d);
/* live_returning.c: worked out before the commit, given after it; nothing without RETURNING. */
NODISCARD Status dml_live_returning(Dml *d, Rows *rows, Error *err);
NODISCARD Status dml_live_returned(Dml *d, Rows *rows, Error *err);

/* lineage.c. The two hidden fields, NULL before format 3. */
const IceFields *dml_lineage_fields(const Dml *d);
/* Lets the rows that are written from now on keep their ids; `s` is the snapshot that they were read at. */
NODISCARD Status dml_lineage_begin(Dml *d, const IceSnapshot *s, Error *err);
typedef enum { LINEAGE_MOVED, LINEAGE_CHANGED } LineageMode;
/* ", … AS _row_id, … AS _last_updated_sequence_number" or nothing; `row` holds the hidden columns, `at` (with its dot, or empty) __file and __pos. */
Str dml_lineage_items(const Dml *d, Str row, Str at, LineageMode mode);
/* The join that those need, or nothing. */
Str dml_lineage_join(const Dml *d, Str at);

#endif
