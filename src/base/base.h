/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what every room stands on: arenas, strings, vectors, maps, errors, time, randomness, log.
 *
 * Memory.  What a function returns lives in the Arena it was given; an arena is freed whole.  Out of memory
 *   aborts the process, so every size that comes from outside is checked against a named limit first.
 * Errors.  What can fail returns a Status and takes `Error *err` last.  `err` is filled only on failure.
 *   Raise with FAIL, forward with TRY, add context with TRY_CTX.
 * Threads. An Arena, a StrBuf or a Map belongs to one thread at a time.  Logging may be called from any thread. */
#ifndef FIRN_BASE_H
#define FIRN_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <pthread.h>

#define NODISCARD __attribute__((warn_unused_result))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
#define UNUSED __attribute__((unused))

/* ---- limits ------------------------------------------------------------------------------------------- */

enum {
    LIMIT_JSON_BYTES      = 64 * 1024 * 1024,   /* a JSON document, table metadata included */
    LIMIT_JSON_DEPTH      = 512,
    LIMIT_MANIFEST_BYTES  = 256 * 1024 * 1024,  /* an Avro manifest or manifest list */
    LIMIT_XML_BYTES       = 4 * 1024 * 1024,
    LIMIT_REQUEST_BYTES   = 64 * 1024 * 1024,   /* a buffered HTTP request body */
    LIMIT_SQL_BYTES       = 1024 * 1024,
    LIMIT_SQL_DEPTH       = 200,                /* nesting of expressions and queries */
    LIMIT_ERROR_TEXT      = 2048,
};

/* ---- status and errors -------------------------------------------------------------------------------- */

/* One table (base/status.c) maps each Status to an HTTP status, a SQLSTATE and an Iceberg error type. */
typedef enum {
    OK = 0,
    E_INVALID,       /* the caller's input is wrong */
    E_SYNTAX,        /* text does not parse; err->position may say where */
    E_NOT_FOUND,
    E_EXISTS,
    E_NOT_EMPTY,
    E_CONFLICT,      /* someone committed first; nothing was changed */
    E_DENIED,        /* authenticated, not allowed */
    E_AUTH,          /* not authenticated */
    E_PROTECTED,     /* refused by the protection of managed views */
    E_QUARANTINED,   /* evidence does not match; reads are refused until a full refresh */
    E_LIMIT,         /* a named limit was exceeded */
    E_CORRUPT,       /* stored bytes are not what they must be */
    E_UNSUPPORTED,
    E_IO,            /* the operating system or a remote said no */
    E_FULL,          /* no space left */
    E_TIMEOUT,
    E_CANCELLED,
    E_UNAVAILABLE,   /* try again later */
    E_UNKNOWN,       /* the outcome is not known: read before trying again */
    E_OVERFLOW,      /* a number does not fit its type */
    E_DIVISION,      /* division by zero */
    E_INTERNAL,      /* a defect of firn */
    STATUS_COUNT
} Status;

typedef struct Error {
    Status code;
    char sqlstate[6];                 /* empty: taken from the table */
    int position;                     /* 1-based byte offset into the statement, 0: none */
    char kind[80];                    /* protocol error name that overrides the table's, or empty */
    char message[LIMIT_ERROR_TEXT];   /* one line: what, where */
    char detail[1024];
    char hint[512];                   /* what to do */
    char origin[64];                  /* file:line that raised it */
} Error;

Status error_set(Error *err, Status code, const char *origin, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Put "context: " in front of the message. Returns err->code. */
Status error_context(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_hint(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
void error_detail(Error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Raise from errno: maps ENOSPC and EDQUOT to E_FULL, ENOENT to E_NOT_FOUND, the rest to E_IO. */
Status error_errno(Error *err, int errnum, const char *origin, const char *fmt, ...) PRINTF_LIKE(4, 5);

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)
#define ORIGIN __FILE__ ":" STRINGIFY(__LINE__)   /* the build maps __FILE__ to the path below src/ */
#define FAIL(err, code, ...) (error_set((err), (code), ORIGIN, __VA_ARGS__), (code))     /* never OK, and the compiler sees it */
/* As a statement, when more is said of the error before it is returned. */
#define RAISE(err, code, ...) ((void)error_set((err), (code), ORIGIN, __VA_ARGS__))
#define FAIL_ERRNO(err, ...) error_errno((err), errno, ORIGIN, __VA_ARGS__)
#define TRY(expr) do { Status try_s_ = (expr); if (try_s_ != OK) return try_s_; } while (0)
/* TRY_CTX(expr, err, "context %s", x): on failure the context is put in front of the message. */
#define TRY_CTX(expr, err, ...) do { Status try_s_ = (expr); \
    if (try_s_ != OK) { error_context((err), __VA_ARGS__); return try_s_; } } while (0)

const char *status_name(Status s);          /* "E_CONFLICT" */
int status_http(Status s);                  /* 409 */
const char *status_sqlstate(Status s);      /* "40001" */
const char *status_iceberg(Status s);       /* "CommitFailedException" */

/* ---- arena -------------------------------------------------------------------------------------------- */

typedef struct Arena Arena;
Arena *arena_create(void);
void arena_destroy(Arena *a);                                   /* NULL is fine */
void arena_destroyp(Arena **a);                                 /* for CLEANUP */
void *arena_alloc(Arena *a, size_t size);                       /* zeroed, aligned to 16 */
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size);
size_t arena_used(const Arena *a);
/* Something shared that what lies in the arena points into: released when the arena is destroyed. */
void arena_keep(Arena *a, void (*release)(void *what), void *what);
#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* ---- strings ------------------------------------------------------------------------------------------ */

/* A view of bytes; not NUL-terminated unless it says so. `p` NULL with n 0 is the empty string. */
typedef struct Str { const char *p; size_t n; } Str;

#define S(lit) ((Str){ "" lit "", sizeof(lit) - 1 })
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

Str str_c(const char *z);                               /* view of a C string; NULL gives empty */
Str str_n(const char *p, size_t n);
Str str_dup(Arena *a, Str s);                           /* copy; the copy is NUL-terminated */
char *str_z(Arena *a, Str s);                           /* NUL-terminated copy */
Str str_fmt(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);   /* NUL-terminated */
Str str_cat(Arena *a, Str x, Str y);
bool str_eq(Str x, Str y);
bool str_ieq(Str x, Str y);                             /* ASCII case folded */
int str_cmp(Str x, Str y);                              /* bytewise order */
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
Str str_sub(Str s, size_t from, size_t to);             /* clamped */
Str str_from(Str s, size_t from);
Str str_trim(Str s);
Str str_lower(Arena *a, Str s);                         /* ASCII */
Str str_upper(Arena *a, Str s);
ptrdiff_t str_find(Str s, Str needle);                  /* -1: absent */
ptrdiff_t str_chr(Str s, char c);
ptrdiff_t str_rchr(Str s, char c);
bool str_cut(Str s, char sep, Str *head, Str *tail);    /* at the first sep; false: absent, head = s, tail = "" */
bool str_to_i64(Str s, int64_t *ret);                   /* whole string, decimal, range checked */
bool str_to_f64(Str s, double *ret);
bool str_is_utf8(Str s);
bool str_like(Str s, Str pattern);                      /* SQL LIKE with % and _, no escape */

/* A growing string. In an arena it needs no release. */
typedef struct StrBuf { Arena *a; char *p; size_t n, cap; } StrBuf;
StrBuf sb_new(Arena *a);
void sb_add(StrBuf *b, Str s);
void sb_addc(StrBuf *b, const char *z);
void sb_byte(StrBuf *b, char c);
void sb_fmt(StrBuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
Str sb_str(StrBuf *b);                                  /* NUL-terminated view; the buffer may go on */

/* ---- vectors ------------------------------------------------------------------------------------------ */

#define VEC(T) struct { T *p; size_t n, cap; }
typedef VEC(Str) StrVec;
#define vec_push(a, v, x) do { \
    if ((v)->n == (v)->cap) vec_grow_((a), (void **)&(v)->p, &(v)->cap, sizeof(*(v)->p)); \
    (v)->p[(v)->n++] = (x); } while (0)
#define vec_last(v) ((v)->p[(v)->n - 1])
#define vec_each(T, it, v) (T *it = (v)->p; (size_t)(it - (v)->p) < (v)->n; it++)     /* for vec_each(Str, s, &names) */
void vec_grow_(Arena *a, void **p, size_t *cap, size_t size);
Str str_join(Arena *a, const StrVec *v, Str sep);
void str_split(Arena *a, Str s, char sep, StrVec *ret); /* "" gives one empty part */
bool strvec_has(const StrVec *v, Str s);

/* ---- map from string to pointer; keeps insertion order ------------------------------------------------ */

typedef struct MapEntry { Str key; void *value; } MapEntry;
typedef struct Map { Arena *a; MapEntry *entries; size_t n, cap; uint32_t *slots; size_t nslots; } Map;
Map map_new(Arena *a);
void *map_get(const Map *m, Str key);                   /* NULL: absent */
bool map_has(const Map *m, Str key);
void map_put(Map *m, Str key, void *value);             /* replaces; the key is not copied */
bool map_del(Map *m, Str key);

/* ---- cache of shared values by key; any thread --------------------------------------------------------- */

/* Values are counted by reference: the cache has its own, and each get gives one.  It holds max_bytes at most, as far as cache_put
 * was told; what was not asked for lately makes way. */
typedef struct Cache Cache;
Cache *cache_new(size_t max_bytes, void *(*ref)(void *value) /* gives the value */, void (*unref)(void *value));
void cache_free(Cache *c);                              /* NULL is fine */
void *cache_get(Cache *c, Str key);                     /* NULL: not there */
void cache_put(Cache *c, Str key, void *value, size_t bytes);       /* the caller keeps its reference */

/* String to string properties, in insertion order. */
typedef struct KeyValue { Str key, value; } KeyValue;
typedef VEC(KeyValue) Props;
Str props_get(const Props *p, Str key, Str fallback);
bool props_has(const Props *p, Str key);
void props_set(Arena *a, Props *p, Str key, Str value);
bool props_del(Props *p, Str key);

/* ---- optional integers -------------------------------------------------------------------------------- */

typedef struct OptI64 { int64_t v; bool has; } OptI64;
typedef struct OptI32 { int32_t v; bool has; } OptI32;
#define SOME_I64(x) ((OptI64){ (x), true })
#define SOME_I32(x) ((OptI32){ (x), true })

/* ---- time, randomness --------------------------------------------------------------------------------- */

int64_t clock_ms(void);                                 /* Unix epoch, milliseconds */
int64_t clock_us(void);
int64_t clock_mono_us(void);                            /* never goes back */
Str time_iso8601(Arena *a, int64_t ms);                 /* 2026-11-30T10:22:17.123Z */
void rand_bytes(void *p, size_t n);                     /* from the kernel */
uint64_t rand_u64(void);
Str uuid_v4(Arena *a);                                  /* lower case with dashes */
Str hex_encode(Arena *a, Str bytes);                    /* lower case */
bool hex_decode(Arena *a, Str hex, Str *ret);

/* ---- log ---------------------------------------------------------------------------------------------- */

typedef enum { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR } LogLevel;
void log_setup(LogLevel level, bool json);              /* once, at start; lines go to standard error */
bool log_enabled(LogLevel level);
/* One line. `fields` are key, value pairs of C strings ended by NULL: log_event(LOG_INFO, "refresh done", "view", v, NULL). */
void log_event(LogLevel level, const char *event, ...) __attribute__((sentinel));
void log_error(const Error *err, const char *event, ...) __attribute__((sentinel));

/* ---- small things ------------------------------------------------------------------------------------- */

void file_closep(int *fd);                              /* for CLEANUP: closes fd >= 0 */
static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }
static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
