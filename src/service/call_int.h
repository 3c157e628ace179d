/* SPDX-License-Identifier: Apache-2.0 */
/* call_int.h - shared by the files of CALL catalog.system.procedure(…). */
#ifndef FIRN_CALL_INT_H
#define FIRN_CALL_INT_H

#include "lake/maintain.h"
#include "service/alter_int.h"

enum { CALL_ARGS_MAX = 12 };

typedef enum { ARG_TEXT, ARG_LONG, ARG_BOOL, ARG_TIME, ARG_LONGS, ARG_MAP } ArgKind;
typedef struct ArgDef { const char *name; ArgKind kind; int required; } ArgDef;

/* An argument as given. `has` 0: left out or null. Times in milliseconds. */
typedef struct Arg {
    int has;
    Str text;
    int64_t number;                   /* long, time, truth */
    Props map;
    struct { int64_t *p; size_t n, cap; } longs;
} Arg;

typedef struct Call Call;
typedef Status (*ProcHandler)(Call *c, Error *err);
typedef struct CallColumn { const char *name; DataTypeKind kind; } CallColumn;
typedef struct ProcDef {
    const char *name;
    ProcHandler run;
    Action action;
    const CallColumn *columns;
    size_t ncolumns;
    ArgDef args[CALL_ARGS_MAX];       /* end at name NULL; the first is the table */
} ProcDef;

struct Call {
    Run *r;
    Rows *rows;
    const ProcDef *def;
    Str catalog;                      /* SQL name of the catalog that was called; empty: the session's */
    Arg args[CALL_ARGS_MAX];
    Name name;                        /* of the table, unless the procedure makes it */
    LakeTable table;
};

const Arg *call_arg(const Call *c, const char *name);
NODISCARD Status call_read_args(Call *c, Error *err);
/* Name parts of a table argument: 'db.t', with the called catalog in front when it has none. */
NODISCARD Status call_table_name(Call *c, Str text, StrVec *parts, Error *err);

/* A row of integers. */
void call_row(Call *c, const int64_t *values, size_t n);

NODISCARD Status call_rewrite_data_files(Call *c, Error *err);
NODISCARD Status call_rewrite_position_delete_files(Call *c, Error *err);
NODISCARD Status call_rewrite_manifests(Call *c, Error *err);
NODISCARD Status call_expire_snapshots(Call *c, Error *err);
NODISCARD Status call_remove_orphan_files(Call *c, Error *err);
NODISCARD Status call_add_files(Call *c, Error *err);
NODISCARD Status call_register_table(Call *c, Error *err);
NODISCARD Status call_rollback_to_snapshot(Call *c, Error *err);
NODISCARD Status call_rollback_to_timestamp(Call *c, Error *err);
NODISCARD Status call_set_current_snapshot(Call *c, Error *err);
NODISCARD Status call_cherrypick_snapshot(Call *c, Error *err);
NODISCARD Status call_publish_changes(Call *c, Error *err);
NODISCARD Status call_fast_forward(Call *c, Error *err);
NODISCARD Status call_ancestors_of(Call *c, Error *err);
NODISCARD Status call_verify(Call *c, Error *err);

#endif
