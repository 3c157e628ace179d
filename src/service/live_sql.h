/* SPDX-License-Identifier: Apache-2.0 */
/* live_sql.h - internal tables, continuous views, sources, sinks and what belongs to them as SQL sees them: names, DDL, rights, what DML needs of them.
 *
 * A session that speaks PostgreSQL's dialect and is connected to a database of the realm has its names there: one part is looked up along search_path, two are
 * schema.name, three database.schema.name.  What is not found there may be a table of the lake.
 * Statements that change names run one after another (realm_ddl_begin), rights are asked in Materialize's words (42501). */
#ifndef FIRN_LIVE_SQL_H
#define FIRN_LIVE_SQL_H

#include "ivm/ivm.h"
#include "live/live.h"
#include "service/objects.h"
#include "service/realm.h"
#include "service/session_int.h"
#include "sql/live_stmt.h"

#define LIVE_DATABASE "materialize"
#define LIVE_TEMP_SCHEMA "mz_temp"

/* ---- names (live_names.c) ------------------------------------------------------------------------------------------------------ */

typedef struct LiveName { Str database, schema, name; } LiveName;
Str live_database(const Run *r);                              /* the session's, whether the realm has it or not */
bool live_speaks(const Run *r);                               /* is it on the live side? */
void live_search_path(Run *r, StrVec *ret);                   /* without the system schemas */
/* Where an object of this name would be made; *live 0: its name is one of the lake. E_NOT_FOUND: no schema has been selected, or there is none of that name. */
NODISCARD Status live_name_new(Run *r, const StrVec *parts, LiveName *ret, int *live, Error *err);
/* The object of this name. E_NOT_FOUND: none. */
NODISCARD Status live_find_object(Run *r, Arena *a, const StrVec *parts, Object *ret, Error *err);
Str live_full(Arena *a, const Object *o);                     /* materialize.public.t, quoted where that is needed */
Str live_full_name(Arena *a, const LiveName *n);
StrVec live_parts(Arena *a, const Object *o);                 /* its three parts */
/* For the binder. E_NOT_FOUND: no name of the live side. */
NODISCARD Status live_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);
bool live_is_table(const BoundTable *t, int64_t *id);
/* The definition bound in this session: text with whole names, and what it uses (each once). */
NODISCARD Status live_settle_names(Run *r, Str definition, Str *whole, Object *uses, Error *err);
/* A kept definition with the names that `renamed` will have. */
NODISCARD Status live_rename_in(Run *r, Str definition, const ObjectVec *renamed, Str *ret, Error *err);
/* live_rename.c: objects as they will be called; what names them is written anew in the same step. Places: with what is in them. */
NODISCARD Status live_rename(Run *r, const ObjectVec *changed, Error *err);
NODISCARD Status live_rename_database(Run *r, RealmDatabase *d, Str name, Error *err);
NODISCARD Status live_rename_schema(Run *r, Str database, RealmSchema *s, Str name, Error *err);
NODISCARD Status live_swap_schemas(Run *r, Str database, const RealmSchema *x, const RealmSchema *y, Error *err);
/* live_text.c: the statement that makes the object as it is now, without ";". */
NODISCARD Status live_text(Service *s, Arena *a, const Object *o, LiveTextHow how, Str *ret, Error *err);

/* ---- rights (live_rights.c): E_DENIED in Materialize's words ---------------------------------------------------------------------- */

NODISCARD Status live_role(Run *r, Str *id, Error *err);      /* the session's role */
/* A privilege on an object, and USAGE of its schema. `letter` as in realm.h; 0: USAGE of the schema alone. */
NODISCARD Status live_ask(Run *r, char letter, const Object *o, Error *err);
NODISCARD Status live_ask_owner(Run *r, const Object *o, Error *err);
NODISCARD Status live_ask_schema(Run *r, char letter, Str database, Str schema, Error *err);
NODISCARD Status live_ask_database(Run *r, char letter, Str database, Error *err);
NODISCARD Status live_ask_cluster(Run *r, char letter, const RealmCluster *c, Error *err);
NODISCARD Status live_ask_session_cluster(Run *r, Error *err);                                           /* that reads: USAGE, and a replica */
NODISCARD Status live_ask_system(Run *r, char letter, Error *err);
NODISCARD Status live_ask_superuser(Run *r, const char *to_what, Error *err);
NODISCARD Status live_ask_owner_of(Run *r, const char *kind, Str name, Str owner, Error *err);          /* "CLUSTER", of what is no object */
NODISCARD Status live_ask_member(Run *r, Str role, Error *err);

/* ---- making (live_make.c): what every CREATE of an object does ---------------------------------------------------------------------- */

/* Where an object of st->name is made: schema and rights are checked.  done: IF NOT EXISTS and it is there, a notice was sent; taken: OR REPLACE of one of the same kind. */
typedef struct LivePlace { LiveName name; Object there; int taken, done; } LivePlace;
NODISCARD Status live_place(Run *r, ObjKind kind, LivePlace *ret, Error *err);
NODISCARD Status live_place_at(Run *r, ObjKind kind, const LiveName *n, LivePlace *ret, Error *err);     /* a name that is known already */
/* A new object: number, owner, the time, default privileges. `uses` is what the statement named so far. */
Object live_object(Run *r, ObjKind kind, const LiveName *n);
void live_use(Arena *a, Object *o, int64_t id);                /* once each */
/* An object that the statement names, of one of these kinds (bits 1 << OBJ_x), with a privilege on it (0: none asked).
 * E_NOT_FOUND "unknown catalog item 'x'"; E_INVALID "x is a table not a connection". */
/* A setting that may be given for all sessions or for a role: known, and not fixed. The value in its one form. */
NODISCARD Status setting_check(Arena *a, Str key, Str *value, Error *err);
const char *live_letters(ObjKind k);                      /* the privileges that an object of this kind has: "arwd", "r", "U", "" */
NODISCARD Status live_need(Run *r, const StrVec *parts, int kinds, char letter, Object *ret, Error *err);
/* The cluster of IN CLUSTER, or the session's, in which the role may create. */
NODISCARD Status live_need_cluster(Run *r, const StrVec *parts, RealmCluster *ret, Error *err);
/* Stored, and in the audit log; all or none of several. How: what the log calls it. */
typedef enum { LIVE_CREATED, LIVE_ALTERED } LiveStored;
NODISCARD Status live_store(Run *r, const Object *o, size_t n, LiveStored how, Error *err);
/* Does an object make progress now, or has its cluster no replica? */
bool live_runs(Service *s, const Object *o);
void live_audit(Run *r, const char *event, const char *type, const Object *o, Json *details);            /* details NULL: the name; o NULL: details alone */
/* NOTICE '<kind> "x" does not exist, skipping' */
void live_note_absent(Run *r, const char *kind, const StrVec *name);
NODISCARD Status live_refuse(Status s, const char *sqlstate, Error *err);                               /* sets it, gives s */

/* live_limits.c: E_LIMIT (53000) "creating table would violate max_tables limit (desired: 3, limit: 2, current: 2)". */
typedef enum { LIMIT_TABLES, LIMIT_SOURCES, LIMIT_SINKS, LIMIT_MVIEWS, LIMIT_SECRETS, LIMIT_KAFKA, LIMIT_POSTGRES, LIMIT_SCHEMA_OBJECTS, LIMIT_CLUSTERS, LIMIT_REPLICAS, LIMIT_DATABASES,
               LIMIT_SCHEMAS, LIMIT_ROLES, LIMITS } LiveLimit;
NODISCARD Status live_limit(Service *s, LiveLimit which, size_t there, size_t more, Error *err);
NODISCARD Status live_limit_objects(Run *r, const Object *o, size_t n, Error *err);     /* of which those count that are new */
NODISCARD Status live_check_ident(Str name, Error *err);
/* settings.c: a setting as ALTER SYSTEM has it, or its default. */
Str setting_system(Service *s, Arena *a, Str key);

/* ---- secrets (live_secret.c) ---------------------------------------------------------------------------------------------------------- */

/* The contents, for resolvers alone: never into a message, a row or a log. E_NOT_FOUND. */
NODISCARD Status live_secret_text(Service *s, Arena *a, int64_t secret, Str *ret, Error *err);

/* ---- what a kind does when its objects' lives change (live_hooks.c has the table; each file of a kind its line) --------------------------- */

typedef struct LiveHooks {
    Status (*start)(Service *s, const Object *o, Error *err);  /* at the server's start, in order of number; a failure is logged */
    void (*drop)(Service *s, const Object *o);                 /* its name is gone */
    void (*pause)(Service *s, const Object *o);                /* its cluster has no replica any more; at start too */
    void (*resume)(Service *s, const Object *o);
    void (*renamed)(Service *s, const Object *o);              /* it, or what it uses, has another name or cluster */
    /* The statement that makes it as it is now; NULL: Object.create_sql. */
    Status (*text)(Service *s, Arena *a, const Object *o, LiveTextHow how, Str *ret, Error *err);
} LiveHooks;
const LiveHooks *live_hooks(ObjKind k);                        /* never NULL */

/* ---- statements --------------------------------------------------------------------------------------------------------------------------- */

/* done 0: the statement's name is not on the live side, and it was not carried out. */
typedef struct LiveDone { int done; } LiveDone;
typedef Status (*LiveHandler)(Run *r, Rows *rows, LiveDone *ret, Error *err);
/* Every statement passes here first (live_statement.c). Handlers of ST_LIVE have nothing to do with the lake: they set done or fail; the command tag is set for them. */
NODISCARD Status live_statement(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_statement_now(Run *r, Rows *rows, LiveDone *ret, Error *err);     /* in a block too */
NODISCARD Status live_create_table(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_view(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_mv(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_drop_stmt(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_show(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter(Run *r, Rows *rows, LiveDone *ret, Error *err);             /* RENAME, OWNER, SET SCHEMA, SET CLUSTER, ADD COLUMN … of every kind */
NODISCARD Status live_comment(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_database(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_schema(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_cluster(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_replica(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_cluster(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_role(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_role(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_secret(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_secret(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_index(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_type(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_system(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_grant(Run *r, Rows *rows, LiveDone *ret, Error *err);              /* GRANT, REVOKE, ALTER DEFAULT PRIVILEGES */
NODISCARD Status live_owned(Run *r, Rows *rows, LiveDone *ret, Error *err);              /* DROP OWNED, REASSIGN OWNED */
/* Of other files: live_connection.h has CREATE, ALTER and VALIDATE CONNECTION. */
NODISCARD Status live_create_sink(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_sink(Run *r, Rows *rows, LiveDone *ret, Error *err);         /* SET FROM, SET and RESET of options */
NODISCARD Status live_create_source(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_alter_source(Run *r, Rows *rows, LiveDone *ret, Error *err);
NODISCARD Status live_create_table_from_source(Run *r, Rows *rows, LiveDone *ret, Error *err);

/* live_drop.c. Drops objects with all that need them; whether that may be has been asked. */
NODISCARD Status live_drop_all(Run *r, const ObjectVec *objects, Error *err);
NODISCARD Status live_replace(Run *r, const ObjectVec *gone, const Object *puts, size_t nputs, Error *err);      /* the same, and others come in the same step */
/* E_CONFLICT (2BP01) "cannot drop …: still depended upon by …" */
NODISCARD Status live_check_users(Run *r, const ObjectVec *named, Error *err);
NODISCARD Status live_wrong_kind(Run *r, const Object *o, const char *verb, ObjKind wanted, Error *err);
/* A subsource or progress relation goes with its source, an index with its relation. */
bool live_is_part(const Object *part, const Object *of);

NODISCARD Status live_drop_schemas(Run *r, LiveDone *ret, Error *err);
NODISCARD Status live_drop_clusters(Run *r, Error *err);
NODISCARD Status live_drop_roles(Run *r, Error *err);
/* What an old owner held, the new one holds, and it grants. */
NODISCARD Status live_grant_roles(Run *r, Error *err);
void live_grants_follow(Arena *a, RealmGrants *g, Str from, Str to);

/* live_options.c: WITH (…) of tables and materialized views, SET and RESET of them. */
NODISCARD Status live_read_options(Run *r, Object *o, Error *err);
NODISCARD Status live_alter_options(Run *r, Object *o, Error *err);
typedef VEC(LiveAssert) LiveAsserts;
NODISCARD Status live_asserts(Run *r, const Object *o, LiveAsserts *ret, Error *err);
int64_t live_next_refresh(const Object *o, int64_t after);                              /* INT64_MAX: none */

/* live_clock.c: refreshes at their times, histories forgotten. */
struct LiveClock *live_clock_new(Service *s);
NODISCARD Status live_clock_start(struct LiveClock *c, Error *err);
void live_clock_wake(struct LiveClock *c);                                              /* an object came or changed */
void live_clock_free(struct LiveClock *c);
int64_t live_schedule(Service *s, Arena *a);                                            /* live_schedule.c: clusters come and go; when to ask again */
int64_t live_refreshed(Service *s, Arena *a, int64_t id);                               /* 0: never */
NODISCARD Status live_note_refreshed(Service *s, Arena *a, int64_t id, int64_t at_ms, Error *err);


/* live_as_of.c: a statement's AS OF, after it is bound and before it is printed; the caller calls run_live_end once its query has begun. */
NODISCARD Status live_as_of_begin(Run *r, Error *err);
NODISCARD Status live_wait_for(Run *r, int64_t t, Error *err);                           /* until no tick will have a time up to t */
NODISCARD Status live_time_of(Run *r, const Expr *given, const char *what, int64_t *ret, Error *err);

/* live_option.c: values of options. E_INVALID "invalid <OPTION> option value: …" */
NODISCARD Status live_opt_text(const LiveOption *o, Str *ret, Error *err);
NODISCARD Status live_opt_bool(const LiveOption *o, int *ret, Error *err);
NODISCARD Status live_opt_int(const LiveOption *o, int64_t least, int64_t most, int64_t *ret, Error *err);
NODISCARD Status live_opt_interval(Arena *a, const LiveOption *o, int64_t *ms, Error *err);
NODISCARD Status live_opt_list(Arena *a, const LiveOption *o, StrVec *ret, Error *err);
NODISCARD Status live_interval_ms(Arena *a, Str text, int64_t *ret, Error *err);
/* live_cluster.c: names of sizes, for mz_cluster_replica_sizes. */
const char *const *live_cluster_sizes(size_t *n);

/* live_pause.c: a view's part in its cluster's pauses. */
void live_pause_view(Service *s, const Object *o);
void live_resume_view(Service *s, const Object *o);
bool live_hold_view(Service *s, Arena *a, const Object *o);                            /* one with REFRESH stands still until its time; false: it has none */
void live_start_view_pause(Service *s, Arena *a, const Object *o);                     /* at start */

NODISCARD Status live_settle_view(Run *r, const Object *o, Error *err);                           /* live_mview.c: histories, refreshes, pauses of one that was made */
/* live_replacement.c: CREATE REPLACEMENT MATERIALIZED VIEW, APPLY REPLACEMENT. */
int64_t live_replaces(const Object *o);                                                 /* the view that it would replace; 0: none */
NODISCARD Status live_plan_replacement(Run *r, Object *o, Error *err);
NODISCARD Status live_apply_replacement(Run *r, Object *o, Error *err);
NODISCARD Status live_check_replacements(Run *r, const Object *o, Error *err);          /* nothing depends on one */
/* At start: its rows may be those of its old query. */
NODISCARD Status live_start_replaced(Service *s, Arena *a, const Object *o, Arena *own, IvmView *v, const LiveViewOptions *how, Error *err);
void live_forget_version(Service *s, const Object *o);

/* live_ddl.c, for views of both kinds. */
NODISCARD Status live_place_or_lake(Run *r, ObjKind kind, LivePlace *p, LiveDone *ret, Error *err);      /* done 0: the name is one of the lake */
NODISCARD Status live_name_columns(Run *r, const Query *q, ObjColumns *ret, Error *err);
NODISCARD Status live_check_unused(Run *r, const Object *o, Error *err);

/* A definition bound and compiled in an arena of its own. */
NODISCARD Status live_compile(Run *r, Arena *own, Str definition, Query **q, IvmView **ret, Error *err);

Query *live_returning_query(Arena *a, const Stmt *st);                                  /* live_returning.c: SELECT what RETURNING names FROM the table */

/* live_session.c: settings of the role, temporary objects. */
void live_session_begin(Session *ss);
void live_note_setting(Session *ss, Str key, Str value);                                /* SET cluster, database: a notice when there is none */
void live_session_undo(Session *ss);                                                     /* what a COMMIT that failed created is dropped */
void live_session_end(Session *ss);
NODISCARD Status live_forget_temporary(Service *s, Arena *a, Error *err);               /* at start */
bool live_is_temporary(const Object *o);
NODISCARD Status live_check_temporary(Run *r, const Object *o, Error *err);             /* what stays does not depend on what goes */

/* live_block.c: statements that change names and wait for COMMIT. */
typedef struct LiveBlock LiveBlock;
NODISCARD Status live_block_may_run(const Session *ss, const Stmt *st, Error *err);      /* of statements that change no names */
typedef enum { BLOCK_NOW, BLOCK_WAITS, BLOCK_LAKE } LiveWait;                             /* as outside of a block; at COMMIT; its name is one of the lake */
NODISCARD Status live_block_take(Run *r, const LiveStmt *l, LiveWait *ret, Error *err);
NODISCARD Status live_block_commit(Run *r, Error *err);
void live_block_forget(Session *ss);
void live_draft_renamed(struct LiveDraft *d, const Object *o);
void live_draft_audit(struct LiveDraft *d, const char *event, const char *type, Json *details);
/* live_tx.c: writes that wait for COMMIT. */
bool live_tx_open(const Session *ss);
void live_tx_add(Session *ss, const LiveWrite *w, size_t n);
NODISCARD Status live_tx_commit(Session *ss, Error *err);
void live_tx_forget(Session *ss);
NODISCARD Status live_tx_may_read(const Session *ss, Error *err);
NODISCARD Status live_tx_may_change(const Session *ss, const char *what, Error *err);

/* subscribe.c */
NODISCARD Status do_subscribe(Run *r, Rows *rows, Error *err);
/* *has 2: nothing is at hand. */
NODISCARD Status subscribe_next(Rows *rows, Arena *a, Value *cells, int *has, Error *err);
void subscribe_end(struct Subscribe *s);

/* At start: the views of the file are compiled and follow from then on; then the hooks' start. */
NODISCARD Status live_start_views(Service *s, Error *err);

#endif
