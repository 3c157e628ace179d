/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_int.h - what the files of the live side's grammar share; private to parse_live*.c and to those that call them. */
#ifndef FIRN_PARSE_LIVE_INT_H
#define FIRN_PARSE_LIVE_INT_H

#include "sql/live_stmt.h"
#include "sql/parse_int.h"

enum { LIVE_LIST_MAX = 5000 };                                 /* options, names, columns of one list */

/* Words are compared as unquoted words without regard to case; `words` may be several: "LOAD GENERATOR". */
size_t lp_match(Parser *p, size_t ahead, const char *words);   /* how many tokens; 0: no */
bool lp_take(Parser *p, const char *words);
bool lp_is(Parser *p, const char *words);
void lp_need(Parser *p, const char *words);
void lp_room(Parser *p, size_t n);                             /* a list of so many may go on */

LiveStmt *lp_live(Parser *p, Stmt *s, LiveVerb verb, LiveKind kind);   /* s->live, made when it is not there */
Stmt *lp_new(Parser *p, LiveVerb verb, LiveKind kind);
LiveKind lp_kind(Parser *p);                                   /* CLUSTER REPLICA, MATERIALIZED VIEW …; LK_NONE: no kind stands here */
LiveKind lp_kind_plural(Parser *p);                            /* TABLES, CLUSTERS … */
void lp_names(Parser *p, LiveNames *ret);                      /* a.b, c */
void lp_roles(Parser *p, StrVec *ret);
Str lp_role(Parser *p);
void lp_in_cluster(Parser *p, LiveStmt *l);

/* parse_live_option.c: the options that a place knows, names in upper case, NULL at the end. */
typedef const char *const LiveOptionName;
typedef LiveOptionName *LiveOptionNames;
extern LiveOptionName LIVE_OPT_CONNECTION[], LIVE_OPT_VALIDATE[], LIVE_OPT_SINK_ICEBERG[], LIVE_OPT_SINK_KAFKA[], LIVE_OPT_SINK[], LIVE_OPT_GENERATOR[], LIVE_OPT_SOURCE_POSTGRES[],
    LIVE_OPT_SOURCE_KAFKA[], LIVE_OPT_SOURCE_ICEBERG[], LIVE_OPT_SOURCE[], LIVE_OPT_CLUSTER[], LIVE_OPT_CLUSTER_WITH[], LIVE_OPT_REPLICA[], LIVE_OPT_TABLE[], LIVE_OPT_MVIEW[],
    LIVE_OPT_INDEX[], LIVE_OPT_ROLE[], LIVE_OPT_LIST_TYPE[], LIVE_OPT_MAP_TYPE[], LIVE_OPT_REGISTRY[], LIVE_OPT_EXPLAIN[];
void lp_options(Parser *p, LiveOptionNames known, LiveOptions *ret);         /* ( a [=] 1, b ): one or more */
void lp_options_bare(Parser *p, LiveOptionNames known, LiveOptions *ret);    /* the same without parentheses */
void lp_options_any(Parser *p, LiveOptionNames known, LiveOptions *ret);     /* with or without */
void lp_option_names(Parser *p, LiveOptionNames known, LiveOptions *ret);    /* ( a, b ) of RESET, DROP */
bool lp_option_starts(Parser *p, size_t ahead, LiveOptionNames known);
void lp_with(Parser *p, LiveOptionNames known, LiveOptions *ret);            /* [WITH ( … )] */
void lp_push(Parser *p, LiveOptions *ret, LiveOption o);

/* One a statement family; each behind the words that name it. */
bool lp_create(Parser *p, Stmt *s);                            /* behind CREATE [OR REPLACE] [TEMP]; false: none of the live side's */
void lp_create_connection(Parser *p, Stmt *s);
void lp_create_secret(Parser *p, Stmt *s);
void lp_create_sink(Parser *p, Stmt *s);
void lp_create_source(Parser *p, Stmt *s);
void lp_create_cluster(Parser *p, Stmt *s);
void lp_create_replica(Parser *p, Stmt *s);
void lp_create_index(Parser *p, Stmt *s);
void lp_create_role(Parser *p, Stmt *s);
void lp_create_type(Parser *p, Stmt *s);
bool lp_table_from(Parser *p, Stmt *s);                        /* CREATE TABLE t … FROM SOURCE|WEBHOOK */
bool lp_webhook(Parser *p, LiveStmt *l);                       /* WEBHOOK BODY FORMAT … */
void lp_format_clauses(Parser *p, LiveStmt *l);                /* FORMAT, KEY FORMAT, INCLUDE, ENVELOPE */
bool lp_format(Parser *p, LiveStmt *l);                        /* false: none stands here, or both are known */
void lp_envelope(Parser *p, LiveStmt *l);                      /* behind ENVELOPE */
void lp_references(Parser *p, LiveStmt *l);                    /* a.b [AS c], … */
void lp_mview_clause(Parser *p, Stmt *s);                      /* [(columns)] [IN CLUSTER c] [WITH (…)] */
Stmt *lp_drop(Parser *p);                                      /* behind DROP; NULL: none of the live side's */
void lp_drop_rest(Parser *p, Stmt *s, LiveKind kind);          /* behind the first name: further ones */
Stmt *lp_alter(Parser *p);                                     /* behind ALTER; NULL: … */
bool lp_alter_relation(Parser *p, Stmt *s, LiveKind kind);     /* behind ALTER TABLE x: what only the live side has */
void lp_alter_noted(Parser *p, Stmt *s, LiveKind kind);        /* the lake's action, told to the live side too */
Stmt *lp_comment(Parser *p);                                   /* behind COMMENT ON; NULL: … */
Stmt *lp_grant(Parser *p);                                     /* at GRANT or REVOKE */
Stmt *lp_default_privileges(Parser *p);                        /* behind ALTER DEFAULT PRIVILEGES */
Stmt *lp_reassign(Parser *p);                                  /* at REASSIGN */
Stmt *lp_validate(Parser *p);                                  /* at VALIDATE */
bool lp_copy_files(Parser *p, Stmt *s);                        /* behind COPY t FROM: false: it is no 's3://…' */
bool lp_show(Parser *p, Stmt *s);                              /* behind SHOW */
bool lp_explain(Parser *p, Stmt *s);                           /* behind EXPLAIN: true when an object, not a statement, was named */

#endif
