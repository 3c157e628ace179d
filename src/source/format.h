/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - the bytes of a message to the cells of a row: text, bytes, JSON, CSV, Avro, Protobuf.
 *
 * A format is opened once for a source (it may ask a schema registry) and decodes messages from then on.  What the columns depend on is pinned when the source is
 * made: a schema that changes in the registry later changes how messages are read, never which columns there are.
 * A message that cannot be decoded is its own fault (format_is_poison) or that of the way there (a registry that does not answer): the first is counted and passed
 * over, the second stalls the source, so that no message is lost for it.
 * A Format belongs to one thread at a time. Nothing here knows Kafka.
 *
 * Options (JSON; SQL's words in lower case, joined by underscores; numbers and booleans may be texts):
 *   {"format": "text" | "bytes" | "json"}
 *   {"format": "csv", "columns": 3, "delimited_by": ","}, {"format": "csv", "header": ["a", "b"]}        a header names the columns
 *   {"format": "avro", "registry": {connection}}                                  the reader's schema is the newest of the topic's subject
 *   {"format": "avro", "schema": "{…}", "registry": {connection}}                 the reader's schema is given
 *   {"format": "avro", "schema": "{…}", "confluent_wire_format": true}            no registry: what stands before the data is passed over; false: nothing does
 *   {"format": "protobuf", "message": "pkg.M", "schema": "\\x0a…"}                a FileDescriptorSet in hexadecimal; messages are bare
 *   {"format": "protobuf", "registry": {connection}, "message": "pkg.M"}          the subject's schema; without "message" its first one
 *   {connection}: {"url", "username", "password", "ssl certificate authority", "ssl certificate", "ssl key"} */
#ifndef FIRN_SOURCE_FORMAT_H
#define FIRN_SOURCE_FORMAT_H

#include "source/source.h"

enum {
    FORMAT_MESSAGE_MAX  = 64 * 1024 * 1024,      /* a message's key or value */
    FORMAT_MAX_COLUMNS  = 2000,
    FORMAT_MAX_DEPTH    = 100,                   /* nesting of types and values */
    FORMAT_MAX_ITEMS    = 1000 * 1000,           /* elements of the lists and maps of one message */
};

typedef VEC(SourceColumn) FormatColumns;
typedef struct Format Format;

typedef enum { FORMAT_WHOLE, FORMAT_AFTER } FormatPart;      /* AFTER: Debezium's record, of which the columns are those of "after" */
typedef struct FormatOptions {
    const Json *options;
    FormatPart part;
    Str subject;                  /* in the registry: "<topic>-value" */
    Str pinned;                   /* what format_pinned gave when the source was made; "": it is being made, the registry is asked */
} FormatOptions;

/* Errors are those of CREATE SOURCE when nothing is pinned yet. */
NODISCARD Status format_open(Arena *a, const FormatOptions *o, Format **ret, Error *err);
const FormatColumns *format_columns(const Format *f);
/* What must stay: give it back at the next open. "" when there is nothing. */
Str format_pinned(const Format *f);
/* Has it columns of names of its own (Avro, CSV, Protobuf), or just one that we name? */
bool format_is_composite(const Format *f);
/* One cell for each column; nested values and texts live in `a` or point into `bytes`. *gone 1: with FORMAT_AFTER, the row was deleted and cells are not set. */
NODISCARD Status format_decode(Format *f, Arena *a, Str bytes, Value *cells, int *gone, Error *err);
bool format_is_poison(Status s);

/* An option that may be a number or a text of one; false: it is there and is none. */
bool format_option_int(const Json *options, const char *key, int64_t fallback, int64_t *ret);
bool format_option_bool(const Json *options, const char *key, bool fallback, bool *ret);

/* Strict RFC 8259 to the text that stands for the value: members sorted by name (of one name the last), no blanks, escapes only where they must be.
 * E_SYNTAX with the byte's offset: also bad UTF-8, \u0000, lone surrogates, nesting over FORMAT_MAX_DEPTH. */
NODISCARD Status format_json_text(Arena *a, Str text, Str *ret, Error *err);

/* ---- the registry (Confluent's REST API, format_registry.c) ------------------------------------------------------------------------- */

typedef struct Registry Registry;
/* type "AVRO", "PROTOBUF", "JSON"; references: texts of the schemas it refers to, those that others need first; names: what they are called there. */
typedef struct RegistrySchema { int32_t id; Str type, text; StrVec references, names; } RegistrySchema;
NODISCARD Status registry_open(Arena *a, const Json *connection, Registry **ret, Error *err);
/* The newest of a subject. E_NOT_FOUND: no such subject. */
NODISCARD Status registry_latest(Registry *r, Arena *a, Str subject, RegistrySchema *ret, Error *err);
/* E_INVALID: the registry knows none of this id. E_UNAVAILABLE, E_TIMEOUT, E_AUTH: it could not be asked. */
NODISCARD Status registry_by_id(Registry *r, Arena *a, int32_t id, RegistrySchema *ret, Error *err);
/* Does it answer, and to these credentials? */
NODISCARD Status registry_check(Registry *r, Arena *a, Error *err);
/* An answer's text to a schema without its references; for the fuzzer too. */
NODISCARD Status registry_answer(Arena *a, Str body, RegistrySchema *ret, Json **references, Error *err);

#endif
