/* SPDX-License-Identifier: Apache-2.0 */
/* pg_int.h - private to the SQL door: packets, transport, connection, and the parts a connection is made of. */
#ifndef FIRN_PG_INT_H
#define FIRN_PG_INT_H

#include <openssl/ssl.h>

#include "codec/codec.h"
#include "door/pg/pgdoor.h"

enum {
    PG_STARTUP_BYTES    = 10000,                /* a start-up packet */
    PG_SASL_BYTES       = 4096,                 /* a password message */
    PG_MESSAGE_MAX      = 1024 * 1024 * 1024,   /* a claim beyond this is no message: the connection ends */
    PG_MESSAGE_DEFAULT  = 64 * 1024 * 1024,
    PG_ROW_BYTES        = 1000 * 1000 * 1000,   /* a message that we send */
    PG_FLUSH_BYTES      = 32 * 1024,
    PG_BUFFER_BYTES     = 8 * 1024,
    PG_STARTUP_SECONDS  = 60,
    PG_CONNECTIONS      = 256,
    PG_SPARE            = 16,                   /* sockets beyond the limit: cancel requests and refusals */
    PG_STATEMENTS       = 10000,                /* prepared in one connection */
    PG_PORTALS          = 1000,
    PG_PARAMS           = 65535,
    PG_VALUE_DEPTH      = 64,
    PG_ARENA_BYTES      = 1024 * 1024,          /* rows of one statement before their arena is renewed */
    PG_SCRAM_ROUNDS     = 4096,
};

enum {
    OID_BOOL = 16, OID_BYTEA = 17, OID_CHAR = 18, OID_NAME = 19, OID_INT8 = 20, OID_INT2 = 21, OID_INT2VECTOR = 22,
    OID_INT4 = 23, OID_REGPROC = 24, OID_TEXT = 25, OID_OID = 26, OID_JSON = 114, OID_FLOAT4 = 700, OID_FLOAT8 = 701,
    OID_UNKNOWN = 705, OID_BPCHAR = 1042, OID_VARCHAR = 1043, OID_DATE = 1082, OID_TIME = 1083, OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184, OID_INTERVAL = 1186, OID_TIMETZ = 1266, OID_NUMERIC = 1700, OID_RECORD = 2249,
    OID_MAP = 16385, OID_INT4RANGE = 3904, OID_NUMRANGE = 3906, OID_TSRANGE = 3908, OID_TSTZRANGE = 3910, OID_DATERANGE = 3912, OID_INT8RANGE = 3926, OID_MZ_TIMESTAMP = 16552,
    OID_RECORD_ARRAY = 2287, OID_UUID = 2950, OID_JSONB = 3802, OID_UINT2 = 16460, OID_UINT4 = 16462, OID_UINT8 = 16464,
};

/* PostgreSQL's epoch, 2000-01-01, after Unix's. */
#define PG_EPOCH_DAYS 10957
#define PG_EPOCH_US (PG_EPOCH_DAYS * INT64_C(86400000000))
#define US_PER_DAY INT64_C(86400000000)

/* ---- packets: a reader over received bytes, a writer; both sticky ----------------------------------------- */

typedef struct PgIn { const unsigned char *p; size_t n, at; int bad; } PgIn;
PgIn pg_in(Str bytes);
uint8_t pg_in_u8(PgIn *in);
int16_t pg_in_i16(PgIn *in);
int32_t pg_in_i32(PgIn *in);
int64_t pg_in_i64(PgIn *in);
Str pg_in_cstr(PgIn *in);                        /* up to the NUL, which is passed */
Str pg_in_bytes(PgIn *in, size_t n);
size_t pg_in_left(const PgIn *in);
bool pg_in_done(const PgIn *in);                 /* all was there and nothing is left */

typedef struct PgOut { char *p; size_t n, cap, start; int bad; } PgOut;    /* heap; bad: beyond PG_ROW_BYTES */
void pg_out_begin(PgOut *o, char type);
void pg_out_end(PgOut *o);                       /* sets the length */
void pg_out_undo(PgOut *o);                      /* forgets the message begun; bad is cleared */
void pg_out_u8(PgOut *o, int v);
void pg_out_i16(PgOut *o, int v);
void pg_out_i32(PgOut *o, int64_t v);
void pg_out_i64(PgOut *o, int64_t v);
void pg_out_bytes(PgOut *o, Str s);
void pg_out_z(PgOut *o, const char *z);          /* without its NUL */
void pg_out_cstr(PgOut *o, Str s);               /* with a NUL; NULs inside are dropped */
void pg_out_fmt(PgOut *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
size_t pg_out_len_begin(PgOut *o);               /* a 4-byte length to be set … */
void pg_out_len_end(PgOut *o, size_t at);        /* … to what came since */
void pg_out_free(PgOut *o);

/* ---- transport: a socket, with TLS or without -------------------------------------------------------------- */

typedef struct PgWire {
    int fd;
    SSL *ssl;
    char *in;                                    /* received, not yet read: in[from, to) */
    size_t from, to, cap;
    char *body;                                  /* the message read last */
    size_t body_cap;
    PgOut out;
    int64_t deadline_us;                         /* monotonic; 0: none */
    int dead, ended;                             /* nothing goes in or out any more; nothing comes in */
} PgWire;
void pg_wire_init(PgWire *w, int fd);
void pg_wire_done(PgWire *w);                    /* closes */
/* E_IO: gone; E_TIMEOUT: deadline. The start-up packet without its length. E_INVALID: not one. */
NODISCARD Status pg_wire_startup(PgWire *w, Str *ret, Error *err);
/* The next message; *body lives until the next call. E_IO: gone. E_INVALID: a broken length, the stream is lost.
 * E_LIMIT: longer than `limit`; it has been skipped and the stream goes on. */
NODISCARD Status pg_wire_message(PgWire *w, size_t limit, char *type, Str *body, Error *err);
NODISCARD Status pg_wire_accept_tls(PgWire *w, SSL_CTX *ctx, Error *err);
bool pg_wire_peek_tls(PgWire *w);                /* the first byte is of a TLS handshake */
bool pg_wire_pending(const PgWire *w);           /* received bytes are waiting in the buffer */
void pg_wire_flush(PgWire *w);
void pg_wire_look(PgWire *w);                       /* dead when the client has hung up */
void pg_wire_flush_if_full(PgWire *w);

NODISCARD Status pg_tls_new(Str cert, Str key, SSL_CTX **ret, Error *err);
/* The tls-server-end-point channel binding of our certificate (RFC 5929). */
Str pg_tls_end_point(Arena *a, SSL *ssl);

/* ---- SCRAM-SHA-256, server's side (RFC 5802, 7677); pure ---------------------------------------------------- */

typedef struct PgScram {
    Str secret, salt, end_point;                 /* end_point empty: no channel binding offered */
    int sham;                                    /* the user is unknown: fail at the end */
    int plus;                                    /* the mechanism chosen is -PLUS */
    Str client_first_bare, gs2, server_first, nonce;
} PgScram;
/* First client message in, server's first out. E_INVALID: malformed. */
NODISCARD Status pg_scram_first(Arena *a, PgScram *s, Str message, Str *reply, Error *err);
/* E_AUTH: the proof is wrong, or the user is a sham. */
NODISCARD Status pg_scram_final(Arena *a, PgScram *s, Str message, Str *reply, Error *err);

/* ---- values ------------------------------------------------------------------------------------------------- */

int32_t pg_typmod(const DataType *t);
int pg_type_len(int32_t oid);
int32_t pg_array_oid(int32_t element);           /* 0: none */
int32_t pg_element_oid(int32_t array);           /* 0: not an array */
/* The type that a declared parameter has; DT_INVALID: not known, to be inferred. Nested types live in static memory. */
DataType pg_oid_type(int32_t oid);
void pg_text_out(PgOut *o, const Value *v);
NODISCARD Status pg_binary_out(PgOut *o, const Value *v, int32_t oid, Error *err);
/* The same with the type that was declared: it has the marks that the engine's has not. */
void pg_text_as(PgOut *o, const Value *v, const DataType *t);
NODISCARD Status pg_binary_as(PgOut *o, const Value *v, const DataType *t, int32_t oid, Error *err);
const DataType *pg_part_type(const Value *v, const DataType *t, size_t i);
void pg_quote_from(PgOut *o, size_t from, NestedText in);
/* pg_nested.c: ranges, records and maps. */
void pg_range_out(PgOut *o, const Value *v, const DataType *t);
void pg_map_out(PgOut *o, const Value *v, const DataType *t);
NODISCARD Status pg_range_binary(PgOut *o, const Value *v, int32_t oid, Error *err);
NODISCARD Status pg_record_binary(PgOut *o, const Value *v, const DataType *t, Error *err);
bool pg_is_nested_oid(int32_t oid);              /* a range or a record */
bool pg_has_fields(const DataType *t);           /* a record, a range or a map, or a list of such */
/* As their texts, DT_STRING: the statement casts it. */
NODISCARD Status pg_nested_unbinary(Arena *a, const DataType *t, int32_t oid, Str bytes, Value *ret, Error *err);
RangeKind pg_range_of_oid(int32_t oid);
int32_t pg_oid_of_range(RangeKind k);
NODISCARD Status pg_text_parse(Arena *a, const DataType *t, Str text, Value *ret, Error *err);
NODISCARD Status pg_binary_parse(Arena *a, const DataType *t, int32_t oid, Str bytes, Value *ret, Error *err);
/* A value as another type; E_INVALID: no such conversion, E_OVERFLOW. */
NODISCARD Status pg_value_coerce(Arena *a, const DataType *t, Value *v, Error *err);
/* Dates and times as text. false: not one. */
bool pg_date_parse(Str s, int64_t *days);
bool pg_timestamp_parse(Str s, int64_t *micros); /* a zone is applied, without one it is UTC */
bool pg_time_parse(Str s, int64_t *micros, int *zone_seconds);
bool pg_interval_parse(Str s, Value *ret);
void pg_date_out(PgOut *o, int64_t days);
void pg_time_out(PgOut *o, int64_t micros);
void pg_timestamp_out(PgOut *o, int64_t micros, int kind);        /* DT_TIMESTAMP or DT_TIMESTAMPTZ */
void pg_interval_out(PgOut *o, const Value *v);
int64_t pg_floor_micros(int64_t nanos);
void pg_json_out(PgOut *o, const Value *v);
NODISCARD Status pg_numeric_parse(Arena *a, const DataType *t, Str text, Value *ret, Error *err);
NODISCARD Status pg_numeric_unpack(Arena *a, Str bytes, Value *ret, Error *err);
void pg_numeric_out(PgOut *o, __int128 v, int scale);
void pg_unsigned_out(PgOut *o, unsigned __int128 v);
void pg_numeric_pack(PgOut *o, __int128 v, int scale);
NODISCARD Status pg_numeric_rescale(const DataType *t, Value *v, Error *err);

/* ---- COPY framing; pure --------------------------------------------------------------------------------------- */

typedef enum { PG_COPY_TEXT, PG_COPY_CSV, PG_COPY_BINARY } PgCopyFormat;
typedef struct PgCopy {
    PgCopyFormat format;
    int header;
    char delimiter, quote, escape;
    Str null;
} PgCopy;
/* E_INVALID: an option that is not one, or two that do not go together. */
NODISCARD Status pg_copy_options(const Props *options, PgCopy *ret, Error *err);
/* One row, framed, after pg_out_begin('d'). Binary columns by their types. */
NODISCARD Status pg_copy_row_out(const PgCopy *c, PgOut *o, const PgColumns *columns, const Value *cells, Error *err);
void pg_copy_header_out(const PgCopy *c, PgOut *o, const PgColumns *columns);      /* CSV and text names, binary signature */

/* Received bytes to rows. Feed, then take rows until there is none. */
typedef struct PgCopyIn {
    PgCopy copy;
    const PgColumns *columns;                    /* binary: the types */
    char *p;                                     /* heap: bytes not yet taken */
    size_t n, at, cap, limit;
    int started, ended, at_end;                  /* header passed; end marker seen; no more bytes will come */
    int64_t line;
} PgCopyIn;
void pg_copy_in_done(PgCopyIn *c);
NODISCARD Status pg_copy_feed(PgCopyIn *c, Str bytes, Error *err);
typedef struct PgFields { Str *fields; int *nulls; size_t n, cap; } PgFields;
NODISCARD Status pg_copy_take(PgCopyIn *c, Arena *a, PgFields *ret, int *has, Error *err);

/* ---- connection ------------------------------------------------------------------------------------------------- */

typedef struct PgStatement PgStatement;
struct PgStatement { PgStatement *next; Str name, text; PgPrepared prepared; VEC(int32_t) oids; int empty; Arena *arena; };

typedef struct PgPortal PgPortal;
struct PgPortal {
    PgPortal *next;
    Str name;
    PgStatement *statement;
    Arena *arena;                                /* parameters, cursor */
    Value *params;
    size_t nparams;
    VEC(int16_t) formats;                        /* none: text; one: for all */
    PgCursor cursor;
    int open, done;                              /* the cursor was given; it has ended */
    int64_t rows;
};

typedef struct PgConn {
    struct PgDoor *door;
    struct PgConn *next;
    pthread_t thread;
    PgWire wire;
    Arena *arena;                                /* as long as the connection: login, parameters sent */
    PgLogin login;
    int32_t id, key;
    void *session;
    Props sent;                                  /* ParameterStatus as sent last */
    PgStatement *statements;
    PgPortal *portals;
    size_t nstatements, nportals;
    Str text;                                    /* the statement being worked on: for error positions */
    int skip;                                    /* an error in the extended protocol: until Sync */
    int counted;                                 /* is one of max_connections */
    /* under the door's lock */
    int busy, finished;
    int cancelled;                               /* atomic: of the command that runs */
    int64_t gone_us;                             /* when the client was first seen gone while busy */
} PgConn;

struct PgDoor {
    PgHooks hooks;
    SSL_CTX *tls;
    size_t max_message;
    int max_connections;
    int listener, wake[2], port;
    pthread_t thread;
    pthread_mutex_t lock;
    PgConn *conns;
    int64_t nconns, nsessions;
    int stopping;                                /* atomic */
    int32_t last_id;
    char salt_key[32];
};

void *pg_conn_main(void *conn);                  /* the thread of a connection */
void pg_cancel(PgDoor *d, int32_t id, int32_t key);

NODISCARD Status pg_startup(PgConn *c, int *proceed, Error *err);      /* *proceed 0: a cancel request, nothing more to do */
NODISCARD Status pg_authenticate(PgConn *c, Error *err);
NODISCARD Status pg_login_options(Arena *a, Str text, Props *ret, Error *err);

void pg_send_error(PgConn *c, const char *severity, const Error *err);
void pg_send_notices(PgConn *c);
void pg_send_parameters(PgConn *c);
void pg_send_ready(PgConn *c);
void pg_send_columns(PgConn *c, const PgColumns *columns, const int16_t *formats, size_t nformats);
Status pg_send_row(PgConn *c, const PgColumns *columns, const Value *cells, const int16_t *formats, size_t nformats, Error *err);
void pg_send_tag(PgConn *c, PgCursor *cur, Arena *a, int64_t rows);
void pg_send_simple(PgConn *c, char type);       /* a message without a body */
int16_t pg_format_of(const int16_t *formats, size_t n, size_t i);

/* One cursor's rows to the client: up to `max` (0: all). *more: stopped by max. */
NODISCARD Status pg_run_rows(PgConn *c, PgCursor *cur, int64_t max, const int16_t *formats, size_t nformats, int64_t *rows,
                             int *more, Error *err);
NODISCARD Status pg_run_copy_out(PgConn *c, PgCursor *cur, int64_t *rows, Error *err);
NODISCARD Status pg_run_copy_in(PgConn *c, PgCursor *cur, int64_t *rows, Error *err);
NODISCARD Status pg_check_cancel(PgConn *c, Error *err);
void pg_cursor_close(PgCursor *cur);
NODISCARD Status pg_forget(PgConn *c, const PgCursor *cur, Error *err);

void pg_simple_query(PgConn *c, Str text);
/* Messages P B D E C H S. The Status is that of the message: the caller reports it and skips to Sync. */
NODISCARD Status pg_extended(PgConn *c, char type, Str body, Error *err);
/* pg_named.c: by name, NULL: none; or an error with its SQLSTATE. */
PgStatement *pg_statement_of(const PgConn *c, Str name);
PgPortal *pg_portal_of(const PgConn *c, Str name);
Status pg_find_statement(PgConn *c, Str name, PgStatement **ret, Error *err);
Status pg_find_portal(PgConn *c, Str name, PgPortal **ret, Error *err);
Status pg_no_portal(Str name, Error *err);
void pg_keep_statement(PgConn *c, PgStatement *s);
void pg_keep_portal(PgConn *c, PgPortal *p);
void pg_statement_free(PgConn *c, PgStatement *s);   /* and its portals */
void pg_portal_free(PgConn *c, PgPortal *p);
Status pg_fail_state(Error *err, Status s, const char *sqlstate);
Status pg_violation(const char *message, Error *err);
Status pg_on_bind(PgConn *c, PgIn *in, Error *err);
int32_t pg_param_oid(const PgStatement *s, size_t i);
void pg_drop_portals(PgConn *c);
void pg_drop_unnamed(PgConn *c);                 /* they end with a simple query */
void pg_drop_statements(PgConn *c);

#endif
