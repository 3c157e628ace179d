/* SPDX-License-Identifier: Apache-2.0 */
/* ivm.h - the compiler of incremental view maintenance: a bound query in, a plan of delta SQL out.
 *
 * Pure: no I/O, no clock, no engine.  The plan is text over relation names that the caller provides as views or
 * tables of one engine connection:
 *
 *   s<i>_old, s<i>_new   source i at the version of the last refresh, and now: the columns of its BoundTable,
 *                        under their engine names
 *   s<i>_chg             the change of source i: the same columns and __w BIGINT, a signed weight, never zero;
 *                        no row stands in it with both signs
 *   v                    the stored rows of the view: visible columns (engine names), hidden columns, and
 *                        __file VARCHAR, __pos BIGINT, which say where a stored row lies
 *
 * Sources are numbered by distinct BoundTable.id in order of appearance; a table used twice is one source, each
 * use a leaf of its own.  Rules and their sources: spec/ivm.md section 2 (Z-sets; telescoping joins; outer, semi
 * and set operations by counting in the old and the new state; aggregates by hidden sums and counts).
 *
 * Property (tested at random): stored rows after apply(plan) equal full_sql on s<i>_new, as bags. */
#ifndef FIRN_IVM_H
#define FIRN_IVM_H

#include "base/base.h"
#include "sql/sql.h"

typedef enum {
    IVM_BAG,          /* no state: the delta of the rows themselves */
    IVM_MERGE,        /* grouped or global aggregate whose state merges; hidden columns */
    IVM_REPLACE,      /* rows of the affected keys are replaced by the query restricted to them */
    IVM_FULL_ONLY     /* not incremental: `reason` says which construct */
} IvmShape;

typedef struct IvmColumn { Str name, engine; DataType type; int nullable; } IvmColumn;    /* hidden: name = engine = "__ivm_…" */
typedef VEC(IvmColumn) IvmColumns;

typedef struct IvmView IvmView;        /* compiled once for a definition */

/* Who keeps the view: a table of the lake (refresh/), or live/, for which more is incremental: windows, top-k, functions that give rows, lateral joins,
 * correlated subqueries, GROUPING SETS, temporal filters. */
typedef enum { IVM_STORED, IVM_LIVE } IvmTarget;

/* The query must be bound.  Never fails for a construct it does not know: the shape is then IVM_FULL_ONLY.
 * Errors: E_LIMIT (a plan larger than the limits), E_INTERNAL. */
NODISCARD Status ivm_compile(Arena *a, const Query *q, IvmView **ret, Error *err);                          /* for IVM_STORED */
NODISCARD Status ivm_compile_for(Arena *a, const Query *q, IvmTarget target, IvmView **ret, Error *err);

/* For IVM_LIVE, the same view over inner ones: aggregates below the top are views of their own, whose tables it reads, so that none is computed again from its rows.  NULL: there are none.
 * The inner ones stand in an order in which each reads earlier ones alone.  Their tables are the last sources of them all, in that order; who keeps them says by what id
 * (table->id; `text` is an inner view's rows in SQL: what it is).  Sources have the same numbers in all. */
typedef struct IvmInner { IvmView *view; BoundTable *table; Str text; } IvmInner;
typedef VEC(IvmInner) IvmInners;
IvmView *ivm_arranged(const IvmView *v);
const IvmInners *ivm_inner(const IvmView *v);       /* of an arranged one */

IvmShape ivm_shape(const IvmView *v);
/* The engine refuses the view's texts: from now on it is IVM_FULL_ONLY, without hidden columns. */
void ivm_give_up(IvmView *v, Str why);
/* Does the result depend on mz_now()?  Then time is one more source of the view: the caller offers the relation s_now of one row (t_old, t_new: BIGINT
 * milliseconds, t_old <= t_new) wherever it offers s<i>_new, gives ivm_plan one more IvmChange behind those of the sources, which says whether time moved, and
 * asks for a plan whenever it did, whether or not a source changed. */
int ivm_uses_now(const IvmView *v);
/* One line: the construct that makes the view full only ("window function row_number() at position 31"), or, for an
 * incremental view, how it is kept ("aggregate merged by hidden state"). */
Str ivm_reason(const IvmView *v);
/* Every construct met, for statistics: "inner join", "left join", "count", "having", … */
const StrVec *ivm_constructs(const IvmView *v);
const IvmColumns *ivm_visible(const IvmView *v);
const IvmColumns *ivm_hidden(const IvmView *v);      /* stored beside the visible ones in the same files */
size_t ivm_nsources(const IvmView *v);
const BoundTable *ivm_source(const IvmView *v, size_t i);
/* Does any plan read this column of the source? Others may be left out of s<i>_chg (which is then consolidated over fewer). */
int ivm_source_reads(const IvmView *v, size_t source, size_t column);

/* The whole result, visible then hidden columns, over s<i>_new. */
NODISCARD Status ivm_full_sql(Arena *a, const IvmView *v, Str *ret, Error *err);
/* The query alone, visible columns only, over s<i>_new: what the user wrote (the oracle of tests and of verify --deep). */
NODISCARD Status ivm_query_sql(Arena *a, const IvmView *v, Str *ret, Error *err);

/* One a source; empty deltas drop out of the plan. */
typedef struct IvmChange {
    int changed, has_deletes;
    int unit;                  /* every __w of s<i>_chg is 1: nothing is multiplied by it */
    int64_t rows;              /* about as many rows has the source: small ones are joined together; 0: not known */
} IvmChange;

/* CREATE TEMP TABLE name AS sql, in order.  `once`: the next step alone reads it, once: it may stand there as WITH name AS (sql).
 * For IVM_LIVE: where nulls_sql, over the steps before, counts nothing, no_nulls gives the same as sql and reads less.  Worth asking when many rows changed. */
typedef struct IvmStep { Str name, sql, nulls_sql, no_nulls; int once; } IvmStep;
typedef struct IvmPlan {
    VEC(IvmStep) steps;
    Str delete_sql;        /* SELECT __file, __pos, and for IVM_STORED the visible columns as __ivm_o1, __ivm_o2 …: stored rows that go; empty when none can.
                              Of IVM_BAG and IVM_MERGE it reads steps alone: it gives the same when rows have come to v */
    Str insert_sql;        /* SELECT visible…, hidden…: rows that come */
    Str check_sql;         /* SELECT count(*) of broken invariants (negative counts, a row to delete that is not there);
                              non-zero: the stored state is wrong, refresh in full. Empty: nothing to check */
    Str groups_sql;        /* of IVM_MERGE: the last step read once, in place of the three above.  visible…, hidden…, for IVM_STORED __ivm_file, __ivm_o1 …
                              and __ivm_group (a number of the group: no two rows may have the same), then __ivm_pos (of the stored row that goes, NULL: none),
                              __ivm_gone (nothing takes its place), __ivm_bad (an invariant is broken). Empty: not offered */
} IvmPlan;

/* A plan for one refresh. E_UNSUPPORTED for IVM_FULL_ONLY. */
NODISCARD Status ivm_plan(Arena *a, const IvmView *v, const IvmChange *changes, IvmPlan **ret, Error *err);

/* For EXPLAIN: how the view is kept or why it is not incremental, its constructs and sources, and the delta plan for a change of all of them. */
NODISCARD Status ivm_explain(Arena *a, const IvmView *v, Str *ret, Error *err);
/* For golden files and EXPLAIN: the plan as readable text. */
Str ivm_plan_text(Arena *a, const IvmView *v, const IvmPlan *p);

#endif
