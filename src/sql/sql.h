/* SPDX-License-Identifier: Apache-2.0 */
/* sql.h - statements: text to tree, names to relations, Spark's and PostgreSQL's meaning to the engine's text.
 *
 * Users' SQL reaches the engine only by this way: parsed by our own parser into the trees below, bound against
 * relations that the caller resolves, functions looked up in an allow-list, and printed anew.  What the parser or
 * the list does not know is refused: there is no pass-through.  (design: user SQL never reaches the host.)
 *
 * Pure but for one thing: the binder may ask a DuckConn for the result type of a scalar function over typed NULLs.
 * Everything lives in the arena that was given; trees are plain data and may be shared, never changed after binding. */
#ifndef FIRN_SQL_H
#define FIRN_SQL_H

#include "base/base.h"
#include "duck/duck.h"

typedef enum { DIALECT_SPARK, DIALECT_POSTGRES, DIALECT_TRINO } Dialect;    /* TRINO: as Athena speaks it, its Hive-style DDL included */

/* ---- expressions ----------------------------------------------------------------------------------------- */

typedef struct Expr Expr;
typedef struct Query Query;
typedef struct Select Select;
typedef struct TableRef TableRef;
typedef VEC(Expr *) ExprVec;
typedef VEC(ExprVec) ExprRows;

typedef enum {
    EX_LITERAL,        /* value (typed); INTERVAL, DATE, TIMESTAMP literals included */
    EX_COLUMN,         /* name parts; bound: rel, col */
    EX_STAR,           /* name = qualifier parts or empty; expanded by the binder */
    EX_PARAM,          /* $n: param (1-based) */
    EX_UNARY,          /* op, args[0] */
    EX_BINARY,         /* op, args[0..1] */
    EX_FUNCTION,       /* func + args: scalar, aggregate or window */
    EX_CAST,           /* args[0] to `type`; try_cast */
    EX_CASE,           /* args: [operand]? when,then…; else_ */
    EX_BETWEEN,        /* args[0] between args[1] and args[2]; negated */
    EX_IN_LIST,        /* args[0] in args[1..]; negated */
    EX_IN_QUERY,       /* args (one or a row) in query; negated */
    EX_EXISTS,         /* query; negated */
    EX_SUBQUERY,       /* scalar */
    EX_QUANTIFIED,     /* args[0] op ANY|ALL (query | args[1] array) ; all */
    EX_LIKE,           /* op: LIKE ILIKE RLIKE SIMILAR or ~ forms; args[0], args[1], [args[2] escape]; negated */
    EX_IS,             /* op: NULL TRUE FALSE UNKNOWN DISTINCT (args[1]); negated */
    EX_FIELD,          /* args[0].name */
    EX_INDEX,          /* args[0][args[1]]; PostgreSQL slices: args[1], args[2] */
    EX_ARRAY,          /* ARRAY[…], array(…) */
    EX_STRUCT,         /* ROW(…), struct(…), named_struct(…): names may be empty */
    EX_LAMBDA,         /* names -> args[0] */
} ExprKind;

typedef enum {
    OP_NONE, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_INT_DIV, OP_MOD, OP_POW, OP_CONCAT, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR,
    OP_SHL, OP_SHR, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_NULLSAFE_EQ, OP_AND, OP_OR, OP_NOT, OP_NEG, OP_PLUS,
    OP_BIT_NOT, OP_LIKE, OP_ILIKE, OP_RLIKE, OP_SIMILAR, OP_REGEX_MATCH, OP_REGEX_IMATCH, OP_IS_NULL, OP_IS_TRUE,
    OP_IS_FALSE, OP_IS_UNKNOWN, OP_IS_DISTINCT, OP_JSON_GET, OP_JSON_GET_TEXT, OP_JSON_PATH, OP_JSON_PATH_TEXT,
    OP_CONTAINS, OP_CONTAINED, OP_OVERLAP, OP_OTHER
} Op;

typedef struct OrderItem { Expr *expr; int descending; int nulls_first; } OrderItem;   /* nulls_first: -1 dialect's default */
typedef VEC(OrderItem) OrderVec;

typedef struct WindowFrame { Str mode, from, to; Expr *from_n, *to_n; Str exclude; } WindowFrame;   /* mode empty: none */
typedef struct WindowSpec { Str base; ExprVec partition; OrderVec order; WindowFrame frame; } WindowSpec;

typedef enum { FN_UNBOUND, FN_SCALAR, FN_AGGREGATE, FN_WINDOW, FN_TABLE } FuncClass;

/* How the engine is to write a bound function is decided by the binder and held in `engine`. */
typedef struct FuncCall {
    StrVec name;                       /* as written: parts */
    Str canonical;                     /* bound: lower-case dialect-free name: "sum", "count", "avg", "count_star", "regexp_extract" … */
    Str engine;                        /* bound: the engine's function, or with `$` a template ($1 … an argument, $* all of them);
                                          empty: printed by canonical name's own rule */
    FuncClass class;
    int distinct, ignore_nulls, star;  /* star: count(*) */
    int volatile_;                     /* bound: not deterministic (rand, uuid, now, current_date …) */
    Expr *filter;                      /* FILTER (WHERE …) */
    OrderVec order;                    /* ordered aggregates, WITHIN GROUP */
    int within_group;                  /* the order was written WITHIN GROUP (…) */
    WindowSpec *over;                  /* NULL: no OVER */
} FuncCall;

/* Spellings with a grammar of their own come out of the parser as plain calls:
 *   EXTRACT(year FROM x)  extract('year', x), the unit in lower case     x AT TIME ZONE z      timezone(z, x)
 *   POSITION(a IN b)      position(a, b)       TRIM(BOTH c FROM x)       trim_both|trim_leading|trim_trailing(x[, c])
 *   SUBSTRING(x FROM a FOR b)  substring(x, a, b)   OVERLAY(x PLACING y FROM a FOR b)  overlay(x, y, a[, b])
 *   DATEADD(day, 1, x), DATEDIFF, TIMESTAMPADD … with a bare unit: the unit is a string literal in lower case
 *   CURRENT_DATE and its kin without parentheses: a call without arguments
 *   EX_CAST: name[0] is the type as written ("pg_catalog.regclass"), type its DataType.  Spark's typed literals are
 *   EX_LITERAL, PostgreSQL's (date '…') EX_CAST of a string; intervals are EX_LITERAL in both.
 *   EX_ARRAY with `query`: ARRAY(query).  EX_STAR with an argument: (row).*.  OP_OTHER: name[0] is the operator's text.
 *   EX_LITERAL: value.type points to the node's own `type`. */
struct Expr {
    ExprKind kind;
    int position;                      /* byte offset in the text that was parsed, 1-based; 0: made by us */
    Op op;
    int negated, try_cast, all, param, has_operand;    /* all: of EX_QUANTIFIED; bound EX_LIKE: there is no escape character */
    Value value;                       /* EX_LITERAL */
    StrVec name;                       /* EX_COLUMN parts, EX_STAR qualifier, EX_FIELD one part, EX_STRUCT names, EX_LAMBDA params */
    ExprVec args;
    Expr *else_;
    Query *query;
    FuncCall *func;
    StrVec except;                     /* EX_STAR: * EXCEPT (…) */
    DataType type;                     /* EX_CAST target; after binding: every expression's type */
    int nullable;                      /* after binding: may be NULL (conservative) */
    TableRef *rel;                     /* EX_COLUMN after binding */
    int col;                           /* column of rel->columns */
    int outer;                         /* EX_COLUMN: how many query levels up (0: own) */
};

/* ---- queries ---------------------------------------------------------------------------------------------- */

typedef struct SelectItem { Expr *expr; Str alias; } SelectItem;
typedef VEC(SelectItem) SelectItems;

typedef enum { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_CROSS, JOIN_SEMI, JOIN_ANTI } JoinKind;
typedef enum { TR_TABLE, TR_QUERY, TR_CTE, TR_JOIN, TR_FUNCTION, TR_VALUES, TR_FILE } TableRefKind;

#define ROWS_FROM "(rows from)"

typedef struct AsOf { int has; Expr *version, *timestamp; Str branch; } AsOf;

/* What a name resolves to. Made by the caller's resolver; `user` is the caller's. */
typedef struct BoundColumn { Str name, engine; DataType type; int nullable; int32_t field_id; } BoundColumn;
typedef VEC(BoundColumn) BoundColumns;
typedef struct BoundTable {
    Str id;                            /* identity: two references to the same table and version have equal ids */
    Str display;                       /* catalog.namespace.name */
    BoundColumns columns;
    Query *view;                       /* set: a plain view, already bound; the reference becomes a derived table */
    void *user;
} BoundTable;

struct TableRef {
    TableRefKind kind;
    int position, lateral;
    StrVec name;                       /* TR_TABLE parts; TR_FUNCTION name (ROWS_FROM: args are the calls); TR_FILE: format, path */
    Str alias;                         /* as written */
    StrVec column_aliases;
    AsOf as_of;
    Query *query;                      /* TR_QUERY, TR_CTE (the shared, bound query) */
    ExprVec args;                      /* TR_FUNCTION */
    int ordinality, outer;             /* WITH ORDINALITY; LATERAL VIEW OUTER */
    ExprRows rows;                     /* TR_VALUES */
    TableRef *left, *right;            /* TR_JOIN */
    JoinKind join;
    int natural;
    StrVec using_;
    Expr *on;                          /* bound: USING and NATURAL have become ON */
    /* after binding */
    BoundTable *table;                 /* TR_TABLE, TR_FILE */
    Str engine;                        /* the alias in engine text, unique in the whole statement: t1, t2 … */
    BoundColumns columns;              /* what it offers, engine names unique without regard to case; not for TR_JOIN */
};

typedef enum { GROUP_NONE, GROUP_PLAIN, GROUP_ALL, GROUP_ROLLUP, GROUP_CUBE, GROUP_SETS } GroupKind;

struct Select {
    int distinct;
    ExprVec distinct_on;
    SelectItems items;                 /* bound: stars expanded, aliases filled with the output names */
    TableRef *from;                    /* NULL: none; commas are cross joins */
    Expr *where;
    GroupKind grouping;
    ExprVec group_by;                  /* bound: ordinals and aliases replaced by their expressions */
    ExprRows group_sets;
    Expr *having, *qualify;
    struct { WindowSpec **p; size_t n, cap; StrVec names; } windows;
    int aggregated;                    /* bound: has GROUP BY or an aggregate */
};

typedef enum { BODY_SELECT, BODY_SETOP, BODY_VALUES } BodyKind;
typedef enum { SETOP_UNION, SETOP_INTERSECT, SETOP_EXCEPT } SetOp;

typedef struct Cte { Str name; StrVec columns; Query *query; int recursive, position; Str engine; } Cte;   /* engine: its name in engine text, after binding */

/* WITH MUTUALLY RECURSIVE: all CTEs see each other and are computed in turn, from nothing, until none of them changes any more, or `limit` times. */
typedef enum { LOOP_ERROR_AT, LOOP_RETURN_AT } LoopEnd;
typedef VEC(DataType) DataTypes;
typedef struct Loop { int64_t limit; LoopEnd end; VEC(DataTypes) types; int position; } Loop;      /* types: of each CTE's columns */

struct Query {
    VEC(Cte) ctes;
    Loop *loop;                        /* NULL: plain WITH */
    BodyKind body;
    Select *select;
    SetOp setop;
    int all, by_name;
    Query *left, *right;               /* BODY_SETOP */
    ExprRows rows;                     /* BODY_VALUES */
    OrderVec order;                    /* bound: EX_COLUMN with rel NULL is the query's own output column `col` */
    int spark_sort;                    /* 1: SORT BY, 2: CLUSTER BY, 3: DISTRIBUTE BY was written (definition rules) */
    Expr *limit, *offset;
    int position, end;                 /* byte range in the statement's text */
    BoundColumns columns;              /* bound: output names as the user sees them, engine names, types */
};

/* ---- statements ------------------------------------------------------------------------------------------- */

typedef enum {
    ST_QUERY, ST_INSERT, ST_UPDATE, ST_DELETE, ST_MERGE, ST_TRUNCATE,
    ST_CREATE_TABLE, ST_DROP_TABLE, ST_ALTER_TABLE, ST_CREATE_VIEW, ST_DROP_VIEW,
    ST_CREATE_NAMESPACE, ST_DROP_NAMESPACE, ST_ALTER_NAMESPACE, ST_USE,
    ST_CREATE_MV, ST_DROP_MV, ST_REFRESH_MV, ST_ALTER_MV,
    ST_SHOW, ST_DESCRIBE, ST_EXPLAIN, ST_CALL, ST_SET, ST_RESET, ST_SHOW_SETTING,
    ST_BEGIN, ST_COMMIT, ST_ROLLBACK, ST_PREPARE, ST_EXECUTE, ST_DEALLOCATE,
    ST_DECLARE, ST_FETCH, ST_CLOSE, ST_COPY, ST_SUBSCRIBE, ST_DISCARD, ST_NOOP,
    ST_LIVE, ST_GRANT, ST_REVOKE, ST_VALIDATE,                          /* of the live side: sql/live_stmt.h */
    ST_OPTIMIZE, ST_VACUUM, ST_REPAIR_TABLE, ST_UNLOAD                  /* Athena's */
} StmtKind;

typedef struct ColumnDef { Str name, comment; DataType type; int not_null, position; Expr *default_; Str default_text; Str after; int first; } ColumnDef;
typedef VEC(ColumnDef) ColumnDefs;
typedef struct PartitionField { Str transform; int width; Str column, alias; } PartitionField;   /* identity bucket truncate year month day hour */
typedef VEC(PartitionField) PartitionFields;

typedef enum { AT_SET_PROPS, AT_UNSET_PROPS, AT_ADD_COLUMNS, AT_DROP_COLUMNS, AT_RENAME_COLUMN, AT_ALTER_COLUMN,
               AT_RENAME, AT_ADD_PARTITION, AT_DROP_PARTITION, AT_REPLACE_PARTITION, AT_SET_LOCATION, AT_WRITE_ORDER,
               AT_CREATE_REF, AT_DROP_REF, AT_SET_IDENTIFIER, AT_DROP_IDENTIFIER, AT_SET_OWNER } AlterKind;
typedef struct AlterAction {
    AlterKind kind;
    Props props;                        /* set; unset: keys only */
    int if_exists, if_not_exists, replace;
    ColumnDefs columns;
    StrVec names;                       /* identifier fields; one column: its dotted path */
    StrVec path, new_name;              /* one action a column: path is its whole path, for AT_ADD_COLUMNS its parent's */
    int set_type, set_not_null, drop_not_null, set_comment, set_position, set_default, drop_default;
    PartitionFields partitions;
    OrderVec order;
    Str location, ref, ref_kind;        /* ref_kind: "branch" or "tag" */
    OptI64 version, retain_ms, snapshot_retain_ms, min_snapshots;
    int position;
} AlterAction;

typedef enum { MERGE_MATCHED, MERGE_NOT_MATCHED, MERGE_NOT_MATCHED_BY_SOURCE } MergeMatch;
typedef enum { MERGE_UPDATE, MERGE_DELETE, MERGE_INSERT, MERGE_UPDATE_ALL, MERGE_INSERT_ALL, MERGE_NOTHING } MergeDo;
typedef struct Assign { StrVec column; Expr *value; } Assign;
typedef VEC(Assign) AssignVec;
typedef struct MergeClause { MergeMatch match; Expr *cond; MergeDo action; AssignVec set; StrVec columns; ExprVec values; } MergeClause;

typedef struct Schedule { int has; int64_t seconds; int position; Str minutes; int unit_position; } Schedule;      /* minutes: the word, when that is the unit */

/* CREATE EXTERNAL TABLE: what Hive's clauses said; empty: nothing. */
typedef struct HiveTable { Str serde, stored_as, input_format, output_format; Props serde_props; ColumnDefs partition_columns; } HiveTable;

typedef struct Stmt Stmt;
struct Stmt {
    StmtKind kind;
    int start, end;                     /* byte range of the statement in the text, end exclusive, no semicolon */
    StrVec name;                        /* the object's name parts */
    StrVec target;                      /* renamed to; LIKE table */
    Str alias;                          /* of the target in UPDATE, DELETE, MERGE */
    int if_exists, if_not_exists, or_replace, cascade, managed, full, extended, temporary, overwrite, by_name, purge, analyze;
    Query *query;                       /* query, CTAS, INSERT source, view definition */
    Str query_text;                     /* the definition as written */
    ColumnDefs columns;
    StrVec column_names;                /* INSERT (a, b), view (a, b) */
    PartitionFields partitions;
    AssignVec static_partition;       /* INSERT … PARTITION (a = 1, b) : value NULL when dynamic */
    Props props;                        /* TBLPROPERTIES, OPTIONS, DBPROPERTIES */
    Str comment, location, provider;
    int has_comment;
    Schedule schedule;
    int schedule_drop;                  /* ALTER MATERIALIZED VIEW … DROP SCHEDULE */
    VEC(AlterAction) actions;
    AssignVec set;                    /* UPDATE */
    Expr *where;
    TableRef *from;                     /* UPDATE … FROM, DELETE … USING, MERGE source */
    Expr *on;                           /* MERGE */
    VEC(MergeClause) merges;
    SelectItems returning;
    Str what;                           /* SHOW what: "views", "tables", "namespaces", "columns", "create table", "tblproperties", "partitions", "catalogs" …; INSERT what: "default values" (a row of them);
                                           DESCRIBE what: "table", "materialized view", "namespace", "query"; CALL procedure in `name` */
    Str pattern;                        /* LIKE */
    AssignVec call_args;              /* CALL: column empty when positional; SET: key parts and value */
    Str setting, setting_value;         /* SET key = value (value as text), RESET, SHOW setting; `all` by what */
    int position;
    Stmt *inner;                        /* EXPLAIN, PREPARE, COPY (SUBSCRIBE …) */
    Str stmt_name;                      /* PREPARE, EXECUTE, cursors */
    int64_t fetch;                      /* FETCH count, -1: all */
    Props copy_options;                 /* COPY: format, header, delimiter, null …; `what`: "to" or "from"; only STDIN and STDOUT exist */
    AsOf as_of;                         /* SUBSCRIBE: timestamp; branch "at least" */
    OrderVec within;                    /* SUBSCRIBE … WITHIN TIMESTAMP ORDER BY; its UP TO is `where`, its envelope `what`, keys column_names */
    int nparams;                        /* highest $n */
    struct LiveStmt *live;                  /* what the live side's grammar said (sql/live_stmt.h); NULL: nothing */
    HiveTable *hive;                    /* CREATE EXTERNAL TABLE, CREATE TABLE AS that is not Iceberg (trino dialect); else NULL */
};
typedef VEC(Stmt *) StmtVec;
/* In the trino dialect: OPTIMIZE t: name, where (and its text in query_text); VACUUM t, MSCK REPAIR TABLE t: name; UNLOAD: query, location, props,
 * column_names (partitioned_by); PREPARE … FROM: inner, query_text; EXECUTE … USING: call_args. */

/* A statement's type and subtype as Athena reports them: "SELECT", "CREATE_TABLE_AS_SELECT", …; empty for what Athena has not. */
typedef enum { CLASS_OTHER, CLASS_DDL, CLASS_DML, CLASS_UTILITY } StmtClass;
StmtClass sql_stmt_class(const Stmt *s, Str *substatement);

/* ---- parsing ---------------------------------------------------------------------------------------------- */

/* All statements of a text. E_SYNTAX with err->position; Spark's form "[PARSE_SYNTAX_ERROR] Syntax error at or near 'X'." in the
 * spark dialect, "syntax error at or near \"X\"" in the postgres one. Limits: LIMIT_SQL_BYTES, LIMIT_SQL_DEPTH. */
NODISCARD Status sql_parse(Arena *a, Dialect d, Str text, StmtVec *ret, Error *err);
NODISCARD Status sql_parse_query(Arena *a, Dialect d, Str text, Query **ret, Error *err);
NODISCARD Status sql_parse_expr(Arena *a, Dialect d, Str text, Expr **ret, Error *err);
NODISCARD Status sql_parse_type(Arena *a, Dialect d, Str text, DataType *ret, Error *err);
/* "a.b.`c d`" to parts. */
NODISCARD Status sql_parse_name(Arena *a, Dialect d, Str text, StrVec *ret, Error *err);

/* The name of a type in a dialect: "decimal(20,2)", "struct<a:int>"; "numeric(20,2)"; "row(a integer)". */
Str sql_type_name(Arena *a, Dialect d, const DataType *t);
/* Digits behind the second of a TIME or TIMESTAMP type in the trino dialect: 0 to 6. */
int sql_time_digits(const DataType *t);

/* Rules on a view's definition (glue.md 2.2): three-part names, forbidden clauses, non-deterministic functions, identifiers,
 * the reserved prefix __ivm. On a bound query. E_INVALID with the position of the first offence. */
NODISCARD Status sql_check_definition(Arena *a, const Query *q, Error *err);

/* A materialized view's query: E_UNSUPPORTED for functions that do not depend on their arguments alone (now(), current_user …); mz_now() may stand in conditions.
 * On a query that is not bound. */
NODISCARD Status sql_check_materializable(const Query *q, Error *err);

/* ---- binding ---------------------------------------------------------------------------------------------- */

typedef struct Binder {
    Dialect dialect;
    void *ctx;
    /* Find a table, view or metadata table by name parts (default catalog and namespace are the resolver's matter).
     * E_NOT_FOUND gets the dialect's message from the binder. */
    Status (*resolve)(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);
    /* SELECT … FROM parquet.`path`: NULL when file reads are not offered. */
    Status (*resolve_file)(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);
    /* A type that CREATE TYPE made, by its parts; `ret` is what it stands for, with its name. NULL: there are none. E_NOT_FOUND gets its message from sql_resolve_type. */
    Status (*resolve_type)(void *ctx, Arena *a, const MadeType *name, DataType *ret, Error *err);
    DuckConn *probe;                    /* types of scalar functions; must outlive the call */
    const Value *params;                /* values for $n; NULL: left as EX_PARAM and typed by context */
    size_t nparams;
    DataType *param_types;              /* in and out when params is NULL: DT_INVALID entries are inferred */
    int now_has;                        /* the statement's fixed time */
    int64_t now_us;
    Str current_user, current_catalog, current_namespace;
    int case_sensitive;
    Str text;                           /* the statement's text; tells whether a name was quoted; may be empty */
    int aliases;                        /* in and out: engine aliases given so far (t1, t2 …); views bound on the way may go on from it */
} Binder;

/* Bind in place: names, types, functions, implicit casts, Spark's result types. E_INVALID with position and the dialect's text. */
NODISCARD Status sql_bind_query(Arena *a, Binder *b, Query *q, Error *err);
/* An expression over one relation (UPDATE, DELETE, CHECK): `from` is bound first when it is not. */
NODISCARD Status sql_bind_expr(Arena *a, Binder *b, TableRef *from, Expr *e, Error *err);
/* A type as it was parsed, and its parts, with every name looked up (MARK_NAMED). 42704. */
NODISCARD Status sql_resolve_type(Arena *a, const Binder *b, DataType *t, Error *err);
/* An engine error in the dialect's words: "[DIVIDE_BY_ZERO] … SQLSTATE: 22012", "division by zero"; others are left alone. */
void sql_engine_error(Dialect d, Error *err);
/* Wrap e in the cast that storing it into `to` needs (Spark's store assignment, ANSI): E_INVALID when there is none. */
NODISCARD Status sql_assign_cast(Arena *a, Dialect d, Expr **e, const DataType *to, Str column, Error *err);

/* ---- printing engine text ---------------------------------------------------------------------------------- */

typedef struct Printer {
    void *ctx;
    /* Write the engine's text of a base table or file: a name or a parenthesised query; the alias is added by the printer. */
    Status (*table)(void *ctx, StrBuf *out, const TableRef *ref, Error *err);
} Printer;
NODISCARD Status sql_print_query(Arena *a, const Printer *p, const Query *q, Str *ret, Error *err);
NODISCARD Status sql_print_expr(Arena *a, const Printer *p, const Expr *e, Str *ret, Error *err);
NODISCARD Status sql_print_table(Arena *a, const Printer *p, const TableRef *t, Str *ret, Error *err);

/* A walk over every expression of a tree, subqueries included; `visit` returning 0 stops it. */
typedef int (*ExprVisit)(void *ctx, Expr *e);
int sql_walk_expr(Expr *e, ExprVisit visit, void *ctx);
int sql_walk_query(Query *q, ExprVisit visit, void *ctx);
/* Every base table reference of a bound query, in order of appearance, views and CTEs entered. */
typedef VEC(TableRef *) TableRefs;
void sql_tables(Arena *a, const Query *q, TableRefs *ret);
Expr *sql_copy_expr(Arena *a, const Expr *e);
Query *sql_copy_query(Arena *a, const Query *q);      /* unbound queries only */

#endif
