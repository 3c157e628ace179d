/* SPDX-License-Identifier: Apache-2.0 */
/* print_live_int.h - what the files of the live side's printer share; private to print_live*.c. */
#ifndef FIRN_PRINT_LIVE_INT_H
#define FIRN_PRINT_LIVE_INT_H

#include "sql/live_stmt.h"
#include "sql/parse_int.h"

typedef struct LivePrint { Arena *a; StrBuf b; LiveTextHow how; } LivePrint;

void pl_word(LivePrint *p, const char *words);                /* a blank before, but at the beginning and behind `(` */
void pl_upper(LivePrint *p, Str words);
void pl_ident(LivePrint *p, Str name);                        /* no blank before */
void pl_name(LivePrint *p, const StrVec *name);               /* with a blank before */
void pl_references(LivePrint *p, const LiveStmt *l);          /* a AS b, c */
void pl_names(LivePrint *p, const LiveNames *names);
void pl_one(LivePrint *p, Str name);
void pl_list(LivePrint *p, const StrVec *names);              /* " (a, b)" */
void pl_idents(LivePrint *p, const StrVec *names);            /* " a, b" */
void pl_string(LivePrint *p, Str s);                          /* a literal; redacted when so wanted */
void pl_kept_string(LivePrint *p, Str s);                     /* a literal that tells nothing: never redacted */
void pl_raw(LivePrint *p, Str text);                          /* a query or expression as written; its literals redacted when so wanted */
void pl_options(LivePrint *p, const LiveOptions *o);          /* " (A = 1, B = 'x')", sorted */
void pl_options_bare(LivePrint *p, const LiveOptions *o);
void pl_with(LivePrint *p, const LiveOptions *o);             /* " WITH (…)", nothing for none */
void pl_option_names(LivePrint *p, const LiveOptions *o);
void pl_format(LivePrint *p, const LiveStmt *l);
void pl_envelope(LivePrint *p, const LiveStmt *l);
void pl_webhook(LivePrint *p, const LiveStmt *l);
void pl_columns(LivePrint *p, const ColumnDefs *c);

void pl_create(LivePrint *p, const Stmt *s);
void pl_other(LivePrint *p, const Stmt *s);                   /* print_live_alter.c: ALTER, DROP, COMMENT, GRANT … */

#endif
