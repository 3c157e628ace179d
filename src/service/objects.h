/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - named objects of the live side: tables, views, sources, sinks, indexes, connections, secrets of databases and schemas.
 *
 * Durable as documents of the catalog (kind "live.object"), held in memory.  An object's number is never used again; its text form is u<N>.
 * Names compare exactly. Any thread may call. */
#ifndef FIRN_OBJECTS_H
#define FIRN_OBJECTS_H

#include "catalog/catalog.h"
#include "duck/duck.h"

typedef enum { OBJ_TABLE, OBJ_VIEW, OBJ_MVIEW, OBJ_SOURCE, OBJ_SINK, OBJ_INDEX, OBJ_CONNECTION, OBJ_SECRET, OBJ_TYPE, OBJ_KINDS } ObjKind;
const char *obj_kind_name(ObjKind k);             /* "table", "view", "materialized-view" …, as mz_objects.type has them */
const char *obj_kind_words(ObjKind k);            /* "materialized view": as messages have them */

typedef struct ObjColumn {
    Str name, engine, type_name;
    Str default_, default_sql;                    /* the value as text; the expression as written, empty in those of earlier versions */
    DataType type;
    int not_null;
} ObjColumn;
typedef VEC(ObjColumn) ObjColumns;
typedef struct ObjGrant { Str grantee, grantor, letters; } ObjGrant;      /* ids of roles; letters as realm.h */
typedef VEC(ObjGrant) ObjGrants;
typedef struct Object {
    int64_t id;
    ObjKind kind;
    Str database, schema, name;
    Str owner;                                    /* id of a role; objects of earlier versions: the superuser's */
    Str definition;                               /* the query of a view, as written */
    Str comment;
    Props column_comments;                        /* by column */
    Str create_sql;                               /* the statement, normalised: names whole, options sorted (sql_live_text); empty for old tables and views */
    Str cluster;                                  /* id; "" for what needs none */
    Str type;                                     /* connections, sources, sinks: "aws", "iceberg-catalog", "kafka", "load-generator", "iceberg" … as mz_connections.type, mz_sources.type */
    int64_t version;                              /* of sinks: one more with each ALTER */
    Json *detail;                                 /* by kind, its owner's file says what; NULL: nothing */
    ObjGrants grants;
    ObjColumns columns;
    struct { int64_t *p; size_t n, cap; } uses;   /* objects that its definition names */
    int64_t created_ms;
} Object;
typedef VEC(Object) ObjectVec;

typedef struct Objects Objects;
NODISCARD Status objects_open(Catalog *c, Objects **ret, Error *err);
void objects_close(Objects *o);
NODISCARD Status objects_reset(Objects *o, Error *err);                       /* forgets what the catalog forgot */

/* Results live in the arena. E_NOT_FOUND. */
NODISCARD Status objects_find(Objects *o, Arena *a, Str database, Str schema, Str name, Object *ret, Error *err);
void objects_list(Objects *o, Arena *a, ObjectVec *ret);                      /* by number */
bool objects_known(Objects *o, int64_t id);
int64_t objects_next_id(Objects *o);
NODISCARD Status objects_get(Objects *o, Arena *a, int64_t id, Object *ret, Error *err);
/* Stores it under its number, given by objects_next_id. E_EXISTS by name. */
NODISCARD Status objects_put(Objects *o, const Object *obj, Error *err);
NODISCARD Status objects_delete(Objects *o, const int64_t *ids, size_t n, Error *err);
/* Several at once, all or nothing: first what goes, then what comes or changes (names are checked against what is then there), and further changes of the catalog. */
typedef struct ObjChanges { const Object *puts; size_t nputs; const int64_t *deletes; size_t ndeletes; CatChange *also; size_t nalso; } ObjChanges;
NODISCARD Status objects_change(Objects *o, const ObjChanges *ch, Error *err);
/* A copy whose changes stay in it: to try what they would do.  Closed like any other. */
Objects *objects_draft(Objects *of);
void objects_draft_puts(Objects *draft, Arena *a, ObjectVec *ret);            /* what was put into it, as it is now there */
int64_t objects_revision(Objects *o);                                         /* another one after each change */
/* Objects that use one of these, and so on, the furthest first. */
void objects_users(Objects *o, Arena *a, int64_t id, ObjectVec *ret);
void objects_direct_users(Objects *o, Arena *a, int64_t id, ObjectVec *ret);  /* those alone that name it */
bool objects_in_schema(Objects *o, Str database, Str schema);                 /* schema "": in the database */

#endif
