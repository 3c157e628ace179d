/* SPDX-License-Identifier: Apache-2.0 */
/* gen_int.h - load generators: what each has to say, and what they share. */
#ifndef FIRN_SOURCE_GEN_INT_H
#define FIRN_SOURCE_GEN_INT_H

#include "source/source_int.h"

enum { GEN_COLUMNS_MAX = 32, GEN_DECIMAL_PRECISION = 15, GEN_DECIMAL_SCALE = 2 };

typedef struct GenColumn { const char *name; DataTypeKind kind; const char *sql_type; int nullable; } GenColumn;
typedef struct GenTable { const char *name; const GenColumn *columns; size_t ncolumns, nkey; } GenTable;      /* the first nkey columns are unique */

typedef struct Gen Gen;
typedef struct GenClock { int64_t offset, us; } GenClock;       /* from this offset on time goes on from there, a tick an offset */
typedef struct GenKind {
    const char *name;                 /* as SQL has it: "key value" */
    const GenTable *tables;
    size_t ntables;
    const char *options;              /* those that it takes besides TICK INTERVAL, AS OF and UP TO: " MAX CARDINALITY, SEED," */
    int64_t tick_us;                  /* when none is given; 0: nothing comes after the first */
    Status (*check)(const Json *options, Error *err);              /* NULL: nothing */
    Status (*open)(Gen *g, const Json *state, Error *err);         /* state: of save; NULL: from the beginning */
    Status (*step)(Gen *g, SourceBatch *b, Error *err);            /* the rows of g->offset */
    void (*save)(const Gen *g, Arena *a, Json *state);                   /* NULL: the offset says it all */
} GenKind;

struct Gen {
    const GenKind *kind;
    SourceRun *r;
    Arena *a;                         /* as long as the attempt */
    Arena *step;                      /* texts of one batch */
    const Json *options;
    uint64_t seed;
    int64_t offset;                   /* the next one */
    int64_t now_us;                   /* of the offset: the same whenever it is gone through */
    int64_t tick_us;
    VEC(GenClock) clocks;             /* ascending; one a start */
    const int *emit;                  /* by table: its output's number + 1; 0: nobody wants it */
    void *state;
};

extern const GenKind gen_counter, gen_clock, gen_datums, gen_auction, gen_marketing, gen_tpch, gen_key_value;

/* Numbers that depend on the seed and on what they are for, and on nothing else. */
typedef struct GenRand { uint64_t s; } GenRand;
GenRand gen_rand(uint64_t seed, uint64_t what, uint64_t which);
uint64_t gen_next(GenRand *r);
int64_t gen_range(GenRand *r, int64_t from, int64_t below);
double gen_real(GenRand *r);                                       /* [0, 1) */
Str gen_pick(GenRand *r, const char *const *words, size_t n);

void gen_row(const Gen *g, SourceBatch *b, size_t table, int weight, const Value *cells);

extern const DataType gen_decimal;
static inline Value gen_i64(int64_t v) { return (Value){ .kind = DT_INT64, .integer = v }; }
static inline Value gen_i32(int64_t v) { return (Value){ .kind = DT_INT32, .integer = v }; }
static inline Value gen_u64(uint64_t v) { return (Value){ .kind = DT_UINT64, .wide = (__int128)v }; }
static inline Value gen_text(Str s) { return (Value){ .kind = DT_STRING, .string = s }; }
static inline Value gen_bytes(Str s) { return (Value){ .kind = DT_BINARY, .string = s }; }
static inline Value gen_time(int64_t us) { return (Value){ .kind = DT_TIMESTAMPTZ, .integer = us }; }
static inline Value gen_date(int64_t days) { return (Value){ .kind = DT_DATE, .integer = days }; }
static inline Value gen_double(double v) { return (Value){ .kind = DT_DOUBLE, .real = v }; }
static inline Value gen_dec(int64_t cents) { return (Value){ .kind = DT_DECIMAL, .type = &gen_decimal, .wide = cents }; }
static inline Value gen_null(void) { return (Value){ .kind = DT_NULL }; }

#endif
