/* SPDX-License-Identifier: Apache-2.0 */
/* alter_int.h - shared by the files of ALTER TABLE, and by CALL where it names columns and orders. */
#ifndef FIRN_ALTER_INT_H
#define FIRN_ALTER_INT_H

#include "service/ddl_int.h"

/* One ALTER statement: all of its actions become one commit. What is not touched stays NULL. */
typedef struct Alter {
    Run *r;
    Name name;
    LakeTable table;
    IceSchema *schema;                /* being edited: a deep copy */
    int32_t last_id;                  /* the highest field id given so far */
    IceSpec *spec;
    IceSortOrder *order;
    Props set;
    StrVec unset;
    Str location;
    int format_version;               /* 0: stays */
    IceUpdates refs;
    IceRequirements ref_requirements;
} Alter;

IceSchema *alter_schema(Alter *x);                       /* to edit; the copy is made at the first call */
const IceSchema *alter_see(const Alter *x);              /* as the statement has left it so far */

/* A field by path: exact case first; list.element, map.key and map.value are fields too. NULL: none. */
const IceField *alter_field(const IceSchema *s, const StrVec *path);
/* "a.b" or a top-level name that has a dot. */
const IceField *alter_field_named(Arena *a, const IceSchema *s, Str name);
NODISCARD Status alter_no_column(Run *r, const Name *table, Str column, Error *err);

NODISCARD Status alter_columns(Alter *x, const AlterAction *act, Error *err);            /* ADD, DROP, RENAME, ALTER COLUMN */
NODISCARD Status alter_check_sources(const Alter *x, Error *err);                        /* spec and order may not lose their columns */
NODISCARD Status alter_identifiers(Alter *x, const AlterAction *act, Error *err);
NODISCARD Status alter_partition(Alter *x, const AlterAction *act, Error *err);
NODISCARD Status alter_write_order(Alter *x, const AlterAction *act, Error *err);
NODISCARD Status alter_ref(Alter *x, const AlterAction *act, Error *err);
/* ORDER BY items over columns and transforms of a schema. E_INVALID; E_UNSUPPORTED: zorder. */
NODISCARD Status alter_order_of(Run *r, const Name *table, const IceSchema *s, const OrderVec *items, IceSortOrder **ret, Error *err);

/* The name mapping's text after the schema changed: new fields are added, renamed ones get one more name. E_INVALID: not a mapping. */
NODISCARD Status alter_mapping(Arena *a, Str mapping, const IceSchema *s, Str *ret, Error *err);

/* The value of a constant expression; `to` NULL: of its own type. Strings live in the run's arena. */
NODISCARD Status run_constant(Run *r, const Expr *e, const DataType *to, Str what, Value *ret, Error *err);

#endif
