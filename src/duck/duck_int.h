/* SPDX-License-Identifier: Apache-2.0 */
/* duck_int.h - private to the duck room: handles, the shape of a column, errors by type. */
#ifndef FIRN_DUCK_INT_H
#define FIRN_DUCK_INT_H

#ifndef DUCK_STREAMING                  /* one file alone needs the older streaming calls: see duck_result.c */
#define DUCKDB_API_NO_DEPRECATED
#endif
#include <duckdb.h>

#include "duck/duck.h"

typedef struct RowSets RowSets;         /* the sets that are lent: see duck_rowset.c */
struct DuckEngine { duckdb_database db; RowSets *rowsets; };
struct DuckConn { duckdb_connection con; RowSets *rowsets; int64_t *lent; size_t nlent, lent_cap; struct Hold *holds; int64_t last_hold; };

RowSets *rowsets_new(void);
RowSets *rowsets_ref(RowSets *r);       /* of the engine and of each connection */
void rowsets_free(RowSets *r);
void rowsets_end(DuckConn *c);          /* its loans, and its reference */

/* The engine's physical layout of a column beside our own type: what duck_value needs to read a cell. */
typedef struct Shape Shape;
struct Shape {
    duckdb_type id, internal;           /* internal: of DECIMAL and ENUM */
    size_t array_size;                  /* ARRAY: elements of each row */
    const DataType *type;
    size_t nchildren;
    Shape *children;                    /* LIST, ARRAY: element; MAP: key, value; STRUCT, UNION: fields */
    StrVec labels;                      /* ENUM */
};

/* Reads a logical type into our type and its shape, in arena a. */
void duck_shape_read(Arena *a, duckdb_logical_type t, Shape *shape, DataType *type);
/* The engine's type; the caller destroys it. */
duckdb_logical_type duck_logical_type(const DataType *t);
void duck_logical_type_done(duckdb_logical_type *t);

/* Fill err from an engine's error: the status by `type`, the text cleaned to one line. A text that our generated SQL raised
 * by error('… SQLSTATE: 22003') keeps its text and gives its SQLSTATE. */
Status duck_fail(Error *err, duckdb_error_type type, const char *text, const char *origin);
#define DUCK_FAIL(err, type, text) duck_fail((err), (type), (text), ORIGIN)

/* Register firn_bucket and its kin on a connection's database. */
NODISCARD Status duck_functions_register(duckdb_connection con, Error *err);
NODISCARD Status duck_rowset_register(duckdb_connection con, RowSets *sets, Error *err);

#endif
