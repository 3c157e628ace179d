/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog.h - pg_catalog and information_schema as PostgreSQL's clients expect them.
 *
 * Every relation of the two schemas is an engine view or table of the name firn_<schema>_<relation>, over a handful of small
 * temporary tables that hold this connection's objects; every function of PostgreSQL's catalog is a macro firn_pg_<function>.
 * Sources: PostgreSQL 15 documentation, chapters 9.26, 37, 53 and 54; what clients ask: spec/materialize.md 6. */
#ifndef FIRN_PGCATALOG_H
#define FIRN_PGCATALOG_H

#include "sql/sql.h"

typedef struct PgCatColumn { Str name; DataType type; int not_null; Str comment, default_; } PgCatColumn;
typedef struct PgCatRelation {
    Str namespace, name;
    char kind;                          /* r table, v view, m materialized view, i index, c the fields of a type that was made */
    uint32_t oid;                       /* 0: a hash of the name */
    uint32_t index_of;                  /* c: the type; i: its relation, definition is the statement, columns are those of the relation that it has */
    VEC(int64_t) index_keys;            /* i: their numbers; 0: an expression */
    StrVec acl;
    Str owner, comment, definition;     /* definition: of views */
    VEC(PgCatColumn) columns;
    OptI64 rows, bytes;
} PgCatRelation;

/* What is known by number elsewhere, too: the live side's. */
typedef struct PgCatNamed { Str name; uint32_t oid; Str owner; } PgCatNamed;
typedef struct PgCatRole { Str name; uint32_t oid; int super, inherit, login; } PgCatRole;
/* kind: 'r' relation, 's' schema, 'd' database, 'c' cluster, 'i' other items, 'y' the system; grantee 0: PUBLIC */
typedef struct PgCatAcl { char kind; uint32_t object; Str name; uint32_t grantee; Str letters; } PgCatAcl;
/* kind: c a record, l a list, m a map, b the array of one. relation: of its fields, 0: none */
typedef struct PgCatMade { Str name, namespace, owner; uint32_t oid, relation, element, array; char kind; } PgCatMade;
typedef struct PgCatMember { uint32_t role, member, grantor; } PgCatMember;

typedef struct PgCatObjects PgCatObjects;
struct PgCatObjects {
    Str database, user;                 /* of the session; both are also listed in pg_database and pg_roles */
    Str current_schema;                 /* empty: every relation is visible without its schema */
    StrVec namespaces;                  /* pg_catalog and information_schema are added */
    VEC(PgCatRelation) relations;       /* their owners are added to the roles */
    StrVec databases, roles;            /* more of them */
    VEC(PgCatNamed) numbered_namespaces, numbered_databases;
    VEC(PgCatRole) numbered_roles;      /* with these, the user is one of them */
    VEC(PgCatMember) members;
    VEC(PgCatMade) made;
    VEC(PgCatAcl) acls;
    Props settings;                     /* pg_settings and current_setting(); PostgreSQL's usual ones are added */
    int32_t backend_pid;
    Str environment;                    /* mz_environment_id() */
    int superuser;                      /* mz_is_superuser() */
    OptI64 started_us;                  /* pg_postmaster_start_time() */
};

/* Makes the views, tables and macros in the engine, once: they are seen by all of its connections, also by such as are open.
 * Cheap when it has been done; any thread may call. The macros that ask for objects need pgcat_fill on their connection. */
NODISCARD Status pgcat_install(DuckConn *c, Error *err);
/* (Re)makes this connection's objects. Object ids are stable: they come from the names. Nothing of `objects` is kept. */
NODISCARD Status pgcat_fill(DuckConn *c, const PgCatObjects *objects, Error *err);
/* The relation `schema`.`name` (lower case; "pg_catalog" or "information_schema"): its `id` is the engine's name for it, `user` is
 * NULL. E_NOT_FOUND: no such relation. */
NODISCARD Status pgcat_resolve(void *ctx, Arena *a, Str schema, Str name, BoundTable **ret, Error *err);

/* PostgreSQL's numbers for a column's type. */
uint32_t pgcat_type_oid(const DataType *t);
int32_t pgcat_typmod(const DataType *t);

#endif
