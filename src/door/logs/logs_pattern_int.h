/* SPDX-License-Identifier: Apache-2.0 */
/* logs_pattern_int.h - the tree of a filter pattern. */
#ifndef FIRN_LOGS_PATTERN_INT_H
#define FIRN_LOGS_PATTERN_INT_H

#include "door/logs/logs_pattern.h"

typedef enum { LC_EQ, LC_NE, LC_LT, LC_LE, LC_GT, LC_GE, LC_IS_NULL, LC_IS_TRUE, LC_IS_FALSE, LC_NOT_EXISTS } LogCompare;
typedef struct LogTest { LogCompare op; Str text; int numeric; double number; } LogTest;

typedef struct LogTerm { Str text; char mark; } LogTerm;             /* mark: 0, '-', '?' */

typedef struct LogStep { Str name; size_t index; } LogStep;          /* name.p NULL: an index */
typedef VEC(LogStep) LogPath;
typedef struct LogNode LogNode;
struct LogNode { enum { LN_AND, LN_OR, LN_TEST } kind; LogNode *left, *right; LogPath path; LogTest test; };

typedef struct LogField { int rest; VEC(LogTest) tests; } LogField;

struct LogPattern {
    enum { LP_TERMS, LP_JSON, LP_WORDS } kind;
    VEC(LogTerm) terms;
    LogNode *root;
    VEC(LogField) fields;
    int has_rest;
};

#endif
