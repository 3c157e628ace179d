/* SPDX-License-Identifier: Apache-2.0 */
/* parse_int.h - what the files of the parser share; private to parse_*.c, lex*.c and their kin.
 *
 * The parser is sticky: the first error is kept in `err`, from then on every look at the text sees its end, every
 * p_take says no, and the parse functions run out quickly, returning empty but valid nodes.  Only the entry points in
 * parse.c look at `status`.  Loops must therefore end at the end of input. */
#ifndef FIRN_SQL_PARSE_INT_H
#define FIRN_SQL_PARSE_INT_H

#include "sql/sql.h"

enum {
    PARSE_TREE_DEPTH = 1000,      /* height of a finished tree, chains of operators included */
    PARSE_CHAIN_PLAIN = 32,       /* a longer chain of AND or OR becomes a balanced tree */
    PARSE_NAME_PARTS = 16,
    PARSE_PARAMS = 65535,
};

/* ---- tokens ------------------------------------------------------------------------------------------------ */

typedef enum { TK_END, TK_WORD, TK_QUOTED, TK_STRING, TK_NUMBER, TK_BYTES, TK_PARAM, TK_OP, TK_BAD } TokenKind;

typedef enum {
    K_NONE,
#define KW(word, flags) K_##word,
#include "sql/parse_keywords.h"
#undef KW
    K_COUNT
} Keyword;

enum { KW_RESERVED = 1, KW_RESERVED_PG = 2, KW_NO_ALIAS = 4 };

/* Operators of one character are their own code; the others follow. O_OTHER: any operator of PostgreSQL's alphabet. */
typedef enum {
    O_LE = 256, O_GE, O_NE, O_EQ2, O_NULLSAFE, O_CONCAT, O_CAST, O_ARROW, O_ARROW2, O_HASH_ARROW, O_HASH_ARROW2, O_FAT_ARROW,
    O_SHL, O_SHR, O_USHR, O_CONTAINS, O_CONTAINED, O_OVERLAP, O_MATCH_I, O_NOT_MATCH, O_NOT_MATCH_I, O_LIKE, O_NOT_LIKE,
    O_ILIKE, O_NOT_ILIKE, O_OTHER
} TokenOp;

typedef struct Token {
    TokenKind kind;
    int id;                       /* TK_WORD: Keyword; TK_OP: code; TK_PARAM: its number */
    int start, end;               /* byte range in the text, 0-based */
    Str text;                     /* decoded: words folded in the postgres dialect, strings without quotes; TK_BAD: message */
} Token;

typedef struct Lexer { Arena *a; Dialect dialect; Str text; size_t at; } Lexer;
Token lex_next(Lexer *l);
Keyword lex_keyword(Str word);
int lex_keyword_flags(Keyword k);
const char *lex_keyword_name(Keyword k);
/* lex_string.c: l->at is on the opening quote (or the letter before it). */
Token lex_string(Lexer *l);
Token lex_quoted(Lexer *l, char quote);
Token lex_dollar(Lexer *l);       /* $1 or $tag$…$tag$ */
Token lex_bytes(Lexer *l);        /* X'1F' */
Token lex_bad(const Lexer *l, size_t start, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- the cursor (parse.c) ------------------------------------------------------------------------------------ */

typedef struct Parser {
    Arena *a;
    Dialect dialect;
    Lexer lex;
    VEC(Token) tokens;            /* read so far; lexed on demand, because SET takes raw text */
    size_t at;
    Error *err;
    Status status;
    int base;                     /* where the present statement begins: Spark counts lines and columns from there */
    int depth, nparams;
    int values;                   /* inside VALUES or SET: DEFAULT is a value */
    int hive;                     /* Trino: inside one of Athena's Hive-style statements */
    const char *expecting;        /* for Trino's syntax error: what would have been right */
} Parser;

static inline bool p_spark(const Parser *p) { return p->dialect == DIALECT_SPARK; }
static inline bool p_postgres(const Parser *p) { return p->dialect == DIALECT_POSTGRES; }
static inline bool p_trino(const Parser *p) { return p->dialect == DIALECT_TRINO; }

const Token *p_peek(Parser *p, size_t ahead);
void p_next(Parser *p);
int p_pos(Parser *p);                               /* 1-based position of the present token */
int p_last_end(const Parser *p);                    /* end of the token before it, 0-based exclusive */
bool p_is(Parser *p, Keyword k);
bool p_is2(Parser *p, Keyword k1, Keyword k2);
bool p_is_at(Parser *p, size_t ahead, Keyword k);
bool p_take(Parser *p, Keyword k);
bool p_take2(Parser *p, Keyword k1, Keyword k2);
bool p_take3(Parser *p, Keyword k1, Keyword k2, Keyword k3);
void p_need(Parser *p, Keyword k);
bool p_is_op(Parser *p, int op);
bool p_is_op_at(Parser *p, size_t ahead, int op);
bool p_take_op(Parser *p, int op);
void p_need_op(Parser *p, int op);
bool p_at_end(Parser *p);                           /* `;` or the end of the text */
bool p_is_kind(Parser *p, TokenKind kind);

/* Leaves. */
bool p_is_ident(Parser *p, size_t ahead);           /* could be a column's or table's name */
bool p_is_word_like(Parser *p, const char *word);   /* an unquoted word that is no keyword of ours, without regard to case */
Str p_ident(Parser *p);
Str p_label(Parser *p);                             /* any word or quoted identifier */
void p_name(Parser *p, StrVec *ret);                /* a.b.c */
void p_ident_list(Parser *p, StrVec *ret);          /* ( a , b ) */
Str p_string(Parser *p);
int64_t p_integer(Parser *p);
Str p_raw_rest(Parser *p);                          /* the text up to `;` or the end, trimmed; the cursor is moved there */
Str p_text(const Parser *p, int from, int to);      /* 0-based */

/* Errors: the first one stays. */
void p_syntax(Parser *p);                           /* at the present token */
void p_raise(Parser *p, Status code, const char *origin, int position, const char *fmt, ...) PRINTF_LIKE(5, 6);
#define P_FAIL(p, code, position, ...) p_raise((p), (code), ORIGIN, (position), __VA_ARGS__)
void p_raise_syntax(Parser *p, const Token *t);     /* parse_error.c */
void p_expecting(Parser *p, const char *what);      /* p_syntax; what would have been right, as Trino lists it: "'FROM'", "<identifier>" */
int p_line(const Parser *p, int position);          /* of a 1-based position, within the statement */
int p_column(const Parser *p, int position);

/* Nesting: p_enter says no, with E_LIMIT, beyond LIMIT_SQL_DEPTH; then p_leave must not be called. */
bool p_enter(Parser *p);
void p_leave(Parser *p);

/* ---- expressions --------------------------------------------------------------------------------------------- */

/* Binding strength, loosest first. The dialects differ in which operator has which (parse_expr.c). */
typedef enum {
    LV_NONE, LV_OR, LV_AND, LV_NOT, LV_IS, LV_COMPARE, LV_PREDICATE, LV_BIT_OR, LV_BIT_XOR, LV_BIT_AND, LV_SHIFT, LV_OTHER,
    LV_ADD, LV_MUL, LV_POW, LV_ZONE, LV_COLLATE, LV_UNARY, LV_POSTFIX
} Level;

Expr *p_expr(Parser *p);
Expr *p_expr_level(Parser *p, Level min);
Expr *p_expr_from(Parser *p, Expr *left, Level min);          /* go on with what follows `left` */
void p_expr_list(Parser *p, ExprVec *ret);                    /* one or more */
void p_order_items(Parser *p, OrderVec *ret);
Expr *p_predicate(Parser *p, Expr *left, Level min);          /* parse_predicate.c; NULL: none here */
Expr *p_quantified(Parser *p, Op op, Expr *left, int position);
Expr *p_primary(Parser *p);                                   /* parse_primary.c */
Expr *p_postfix(Parser *p, Expr *e);
Expr *p_paren_from(Parser *p, Query **query);                 /* after `(`: a query or an expression; the other is NULL */
Expr *p_special_form(Parser *p);                              /* parse_form.c: EXTRACT(…), TRIM(…) …; NULL: none here */
Expr *p_call(Parser *p, const StrVec *name, int position);    /* parse_call.c: at `(` */
WindowSpec *p_window_spec(Parser *p);                         /* after OVER or `WINDOW w AS` */

Expr *e_new(Parser *p, ExprKind kind, int position);
Expr *e_binary(Parser *p, Op op, Expr *l, Expr *r, int position);
Expr *e_unary(Parser *p, Op op, Expr *x, int position);
Expr *e_call(Parser *p, const char *name, int position);      /* EX_FUNCTION without arguments yet */
Expr *e_string(Parser *p, Str s, int position);
Expr *e_int(Parser *p, int64_t v, int position);
Expr *e_bool(Parser *p, int v, int position);
Expr *e_null(Parser *p, int position);
Expr *e_cast(Parser *p, Expr *x, DataType t, int position);

/* parse_literal.c */
Expr *p_number(Parser *p, int negative);                      /* at TK_NUMBER */
Expr *p_string_literal(Parser *p);                            /* at TK_STRING */
Expr *p_typed_literal(Parser *p);                             /* DATE '…', INTERVAL …; NULL: none here */
bool e_negate(Parser *p, Expr *literal);                      /* a numeric literal in place; false: it is none */
/* parse_interval.c */
Expr *p_interval(Parser *p);                                  /* at INTERVAL; NULL: no literal here */
/* parse_datetime.c */
bool datetime_date(Str text, int64_t *days);
bool datetime_timestamp(Str text, int64_t *micros, bool *zoned);

/* ---- types, queries, statements --------------------------------------------------------------------------------- */

DataType p_type(Parser *p);
DataType p_cast_type(Parser *p);          /* the target of a cast: numeric may be without digits */
bool p_type_is(Parser *p);                                    /* a type's name stands here */
DataType p_type_trino(Parser *p);                             /* parse_type_trino.c */
bool p_type_is_trino(Parser *p);
void p_type_close(Parser *p);                                 /* the > of ARRAY<…>, which may be half of >> */

bool p_query_starts(Parser *p, size_t ahead);                 /* SELECT, WITH, VALUES, TABLE … */
bool p_query_in_parens(Parser *p, size_t ahead);              /* one or more `(` and then a query */
Query *p_query(Parser *p);
Query *p_query_after(Parser *p, Query *head, int position);   /* the query behind WITH …, whose CTEs are head's */
Query *p_query_rest(Parser *p, Query *first);                 /* set operations, ORDER BY, LIMIT after a first query in parentheses */
Select *p_select(Parser *p);                                  /* parse_select.c */
/* parse_loop.c */
bool p_loop_here(Parser *p);                                  /* behind WITH */
void p_loop(Parser *p, Query *q);
void p_ctes(Parser *p, Query *q);                             /* WITH …, when it stands here */
TableRef *p_from(Parser *p);                                  /* after FROM: the whole list */
TableRef *p_table_name(Parser *p);
TableRef *p_metadata_table(Parser *p, TableRef *t);           /* parse_trino_meta.c: "t$files" as a query; others stay */
TableRef *p_table_primary(Parser *p);                         /* a table with its alias, no join */
void p_values_rows(Parser *p, Query *q);
bool p_alias(Parser *p, Str *ret);                            /* [AS] alias */
void p_select_items(Parser *p, SelectItems *ret);

Stmt *p_stmt(Parser *p);
Stmt *p_query_stmt(Parser *p);
/* parse_trino*.c */
Stmt *p_stmt_trino(Parser *p);
Stmt *p_create_trino(Parser *p);
Stmt *p_alter_trino(Parser *p);
Stmt *p_optimize_trino(Parser *p);
Stmt *p_vacuum_trino(Parser *p);
Stmt *p_repair_trino(Parser *p);
Stmt *p_unload_trino(Parser *p);
void p_unsupported(Parser *p, int position, const char *what);
void p_iceberg_properties(Parser *p, Props *props, int at);
bool p_last_is(const Parser *p, const char *word);            /* the token before the present one */
Str p_prop_value(Parser *p);
void p_stmt_name(Parser *p, Stmt *s);
void p_if_exists(Parser *p, Stmt *s);
void p_if_not_exists(Parser *p, Stmt *s);
Stmt *s_new(Parser *p, StmtKind kind);
Stmt *s_noop(Parser *p, Str what);                            /* reads to the end */
void p_props(Parser *p, Props *ret);                          /* ( 'a' = 'b', c.d = 1 ) */
void p_prop_keys(Parser *p, Props *ret);
void p_partition_fields(Parser *p, PartitionFields *ret);     /* ( … ) */
void p_partition_field(Parser *p, PartitionFields *ret);
void p_column_def(Parser *p, ColumnDefs *ret);
void p_assigns(Parser *p, AssignVec *ret);                    /* a = 1, b.c = 2 */
void p_schedule(Parser *p, Schedule *ret);
void p_query_as_text(Parser *p, Stmt *s);                     /* query and query_text */
void p_comment(Parser *p, Stmt *s);

/* One a statement family; each at its first keyword. */
Stmt *p_create(Parser *p);
Stmt *p_create_mv(Parser *p, Stmt *s);                        /* after MATERIALIZED VIEW */
Stmt *p_replace_table(Parser *p);
Stmt *p_drop(Parser *p);
Stmt *p_alter(Parser *p);
Stmt *p_alter_mv(Parser *p);                                  /* after ALTER MATERIALIZED VIEW */
Stmt *p_alter_table(Parser *p, StmtKind kind);                /* after ALTER TABLE|VIEW|NAMESPACE */
void p_alter_action(Parser *p, Stmt *s);                      /* one action, pushed to s->actions */
bool p_alter_iceberg(Parser *p, AlterAction *x);              /* parse_alter_iceberg.c */
Stmt *p_refresh(Parser *p);
Stmt *p_insert(Parser *p);
Stmt *p_update(Parser *p);
Stmt *p_delete(Parser *p);
Stmt *p_merge(Parser *p);
Stmt *p_truncate(Parser *p);
Stmt *p_show(Parser *p);
Stmt *p_describe(Parser *p);
Stmt *p_explain(Parser *p);
Stmt *p_call_stmt(Parser *p);
Stmt *p_use(Parser *p);
Stmt *p_set(Parser *p);
Stmt *p_reset(Parser *p);
Str p_setting_value(Parser *p);
void p_show_scope(Parser *p, Stmt *s);              /* parse_show.c: [IN|FROM ns] [[LIKE] 'pattern'] */
bool p_is_subscribe(Parser *p);                     /* parse_subscribe.c */
bool p_as_of_starts(Parser *p);
void p_as_of_live(Parser *p, AsOf *ret);
Stmt *p_subscribe(Parser *p);
Stmt *p_transaction(Parser *p);
Stmt *p_prepare(Parser *p);
Stmt *p_execute(Parser *p);
Stmt *p_deallocate(Parser *p);
Stmt *p_declare(Parser *p);
Stmt *p_fetch(Parser *p);
Stmt *p_close(Parser *p);
Stmt *p_copy(Parser *p);
Stmt *p_discard(Parser *p);
Stmt *p_noop_stmt(Parser *p);                                 /* ANALYZE, VACUUM, CACHE */
Stmt *p_comment_on(Parser *p);                                /* parse_alter.c */

/* ---- trees (tree.c) ---------------------------------------------------------------------------------------------- */

typedef enum { TREE_EXPR, TREE_QUERY, TREE_TABLE } TreeNodeKind;
typedef struct TreeNode { TreeNodeKind kind; void *p; int height; } TreeNode;     /* p: Expr, Query or TableRef */
typedef enum { TREE_STOP, TREE_ENTER, TREE_PASS } TreeNext;                       /* PASS: not into this node's children */
typedef TreeNext (*TreeVisit)(void *ctx, TreeNode n);
/* Without recursion, so safe on any tree. 0: stopped. */
int tree_walk(TreeNode root, TreeVisit visit, void *ctx);
int tree_height_expr(Expr *e);
int tree_height_query(Query *q);

#endif
