/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - bytes to values and back: JSON, Avro containers, XML, URLs, hashes, compression, roaring bitmaps.
 *
 * Pure: no files, no sockets, no clock.  Every decoder checks sizes against the limits of base.h before it
 * believes them, and answers E_CORRUPT (binary) or E_SYNTAX (text) with the byte offset.
 * Results live in the caller's arena. */
#ifndef FIRN_CODEC_H
#define FIRN_CODEC_H

#include "base/base.h"

/* ---- JSON (RFC 8259) ----------------------------------------------------------------------------------- */

/* Other libraries export functions with the names of ours (jansson: json_array, json_object, …).  Hidden, ours
 * are used by firn alone, and a shared library that needs its own gets its own. */
#pragma GCC visibility push(hidden)

typedef enum { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;
typedef struct Json Json;
typedef struct JsonMember { Str key; Json *value; } JsonMember;
struct Json {
    JsonKind kind;
    bool above_i64;                                       /* JSON_INT of 2^63 to 2^64-1, as real metadata has them:
                                                             `integer` is the two's complement; written back unchanged */
    union {
        bool boolean;
        int64_t integer;                                  /* the full 64 bits */
        double real;
        Str string;
        struct { Json **p; size_t n, cap; } array;
        struct { JsonMember *p; size_t n, cap; } object;  /* insertion order; keys are unique */
    };
};

/* E_SYNTAX with line and column: also for duplicate keys, NUL in strings, bad UTF-8, integers over 64 bits and
 * reals out of range.  E_LIMIT: LIMIT_JSON_BYTES, LIMIT_JSON_DEPTH, or too many values.  `-0` and `1.0` are reals.
 * The tree does not point into `text`. */
NODISCARD Status json_parse(Arena *a, Str text, Json **ret, Error *err);
/* json_walk.c, on texts. The scalar at a path of the form $."name"[n], numbers as they are written; false: an object, an array, null, nothing, no JSON. */
bool json_scalar_at(Arena *a, Str text, Str path, Str *ret);
/* Without blanks, members in order of their names, of one name the last; false: no JSON, or nested beyond 200 levels. */
bool json_sorted(Arena *a, Str text, Str *ret);
bool json_without_nulls(Arena *a, Str text, Str *ret);                    /* the same, and members that are null are left out, at every depth */

/* time_unit.c: units of time by their names, singular, plural or short, whatever their case.  NULL: it is none. */
typedef enum {
    UNIT_YEAR, UNIT_MONTH, UNIT_DAY, UNIT_HOUR, UNIT_MINUTE, UNIT_SECOND, UNIT_MILLISECOND, UNIT_MICROSECOND, UNIT_WEEK, UNIT_QUARTER, UNIT_DECADE, UNIT_CENTURY,
    UNIT_MILLENNIUM, TIME_UNITS
} TimeUnitKind;
typedef struct TimeUnit { const char *name, *names; int months, days; int64_t micros; } TimeUnit;
extern const TimeUnit time_units[TIME_UNITS];
const TimeUnit *time_unit(Str word);

/* interval_text.c: PostgreSQL's texts of intervals. The fields that a literal names behind its text: what is smaller than `to` is cut off, what is larger than `from`
 * (where it is another) too; digits of the seconds, -1: all. NULL: none are named. */
typedef struct Interval { int32_t months, days; int64_t micros; } Interval;
typedef enum { INTERVAL_ANY, INTERVAL_YEAR, INTERVAL_MONTH, INTERVAL_DAY, INTERVAL_HOUR, INTERVAL_MINUTE, INTERVAL_SECOND } IntervalField;
typedef struct IntervalFields { IntervalField from, to; int digits; } IntervalFields;
typedef enum { INTERVAL_PARSED, INTERVAL_MALFORMED, INTERVAL_TOO_LARGE } IntervalParse;
IntervalField interval_field(Str word);                                  /* INTERVAL_ANY: it is none */
IntervalParse interval_parse(Arena *a, Str text, const IntervalFields *f, Interval *ret);

/* calendar.c: days since 1970-01-01 in the proleptic Gregorian calendar; year 0 is 1 BC. month 1 to 12. */
typedef struct CalendarDay { int64_t year; int month, day; } CalendarDay;
int64_t calendar_days(int64_t year, int64_t month, int64_t day);
CalendarDay calendar_day(int64_t days);
int calendar_month_length(int64_t year, int64_t month);

/* time_char.c: a point in time by a pattern of PostgreSQL's to_char. zone: what TZ stands for. */
Str time_char(Arena *a, int64_t micros, const char *zone, Str pattern);
/* instant_text.c: the forms of dates and points in time that PostgreSQL reads (20000102, …T3:04z, +0530, BC) as the one that the engine reads; false: it is none of them. */
bool instant_text(Arena *a, Str text, Str *ret);

/* jsonb.c: PostgreSQL's jsonb. One text for each value: no blanks, members by name and of one name the last, numbers and escapes in one form.
 * LENIENT: NaN, inf and their kin, as an engine writes numbers that JSON does not have, become strings. false: no JSON, or nested beyond 200 levels. */
typedef enum { JSONB_STRICT, JSONB_LENIENT } JsonbWords;
typedef enum { JSONB_AS_JSON, JSONB_AS_TEXT } JsonbResult;
typedef enum { JSONB_DONE, JSONB_MALFORMED, JSONB_FROM_SCALAR, JSONB_FROM_OBJECT } JsonbDelete;
bool jsonb_text(Arena *a, Str text, JsonbWords words, Str *ret);
bool jsonb_contains(Arena *a, Str whole, Str part, bool *ret);            /* @> */
bool jsonb_has_key(Arena *a, Str text, Str key, bool *ret);               /* ?: a member's name, or a string in an array */
bool jsonb_concat(Arena *a, Str left, Str right, Str *ret);               /* || */
JsonbDelete jsonb_without_key(Arena *a, Str text, Str key, Str *ret);
JsonbDelete jsonb_without_item(Arena *a, Str text, int64_t at, Str *ret);
/* false: there is none. As text: a string without its quotes, null is none. The path: a JSON array of strings. */
bool jsonb_member(Arena *a, Str text, Str key, JsonbResult as, Str *ret);
bool jsonb_path(Arena *a, Str text, Str path, JsonbResult as, Str *ret);

/* text_parts.c. The parts of a qualified name as PostgreSQL's parse_ident has them: plain ones in lower case, blanks around them left out; false: it is none. */
typedef enum { IDENT_ALONE, IDENT_THEN_ANYTHING } IdentEnd;
bool ident_parts(Arena *a, Str text, IdentEnd end, Json **ret);
/* The records of n fields of a CSV text, as arrays of strings; none, when its first record has not as many. */
Json *csv_records(Arena *a, Str text, size_t n);

/* nested_text.c: PostgreSQL's texts of values that have parts.  Each gives the parts as they are written, a part with parts of its own as its text, NULL as JSON's null.
 * false: malformed. */
bool array_items(Arena *a, Str text, Json **ret);                         /* {a,"b c",NULL,{d}}: strings and nulls */
bool record_fields(Arena *a, Str text, Json **ret);                       /* (a,"b ""c""",): nothing is NULL, "" the empty text */
bool map_items(Arena *a, Str text, Json **keys, Json **values);           /* {a=>1,"b"=>NULL}: keys are strings */
typedef struct RangeText { bool empty, lower_inclusive, upper_inclusive; StrVec lower, upper; } RangeText;      /* a bound that is not there: no element */
bool range_parts(Arena *a, Str text, RangeText *ret);                     /* [1,"2 3"), empty */
/* A part's text as it stands in each of them; in an array and a map NULL as a word is quoted too. */
typedef enum { NESTED_ARRAY, NESTED_RECORD, NESTED_MAP, NESTED_RANGE } NestedText;
void nested_quote(StrBuf *b, NestedText in, Str part);

Json *json_null(Arena *a);
Json *json_bool(Arena *a, bool v);
Json *json_int(Arena *a, int64_t v);
Json *json_real(Arena *a, double v);
Json *json_str(Arena *a, Str v);
Json *json_array(Arena *a);
Json *json_object(Arena *a);
void json_push(Arena *a, Json *array, Json *v);
void json_set(Arena *a, Json *object, const char *key, Json *v);      /* replaces */
void json_set_s(Arena *a, Json *object, Str key, Json *v);
bool json_del(Json *object, Str key);

/* Lookups are forgiving: a NULL or a wrong kind on the way gives NULL or the fallback. */
Json *json_get(const Json *object, const char *key);
Json *json_get_s(const Json *object, Str key);
Str json_get_str(const Json *object, const char *key, Str fallback);
int64_t json_get_int(const Json *object, const char *key, int64_t fallback);
bool json_get_bool(const Json *object, const char *key, bool fallback);
size_t json_len(const Json *array_or_object);              /* 0 for everything else */
Json *json_at(const Json *array, size_t i);
bool json_is(const Json *v, JsonKind kind);                /* false for NULL */

/* Lookups that insist: E_INVALID "missing field 'key'" or "field 'key' must be a string". TRY_CTX adds the where. */
NODISCARD Status json_need_str(const Json *object, const char *key, Str *ret, Error *err);
NODISCARD Status json_need_int(const Json *object, const char *key, int64_t *ret, Error *err);
NODISCARD Status json_need(const Json *object, const char *key, JsonKind kind, Json **ret, Error *err);

Str json_text(Arena *a, const Json *v);                    /* compact; reals round-trip; non-ASCII kept as UTF-8 */
void json_write(StrBuf *b, const Json *v);
Json *json_copy(Arena *a, const Json *v);
bool json_equal(const Json *x, const Json *y);             /* object order does not matter */
#pragma GCC visibility pop

/* ---- Avro object containers (Avro 1.11 "Object Container Files") --------------------------------------- */

/* Avro values decoded generically by the writer's schema.  Records carry field ids (`field-id`) where the
 * schema has them, so that readers resolve by id and fall back to the name. */
typedef enum { AVRO_NULL, AVRO_BOOL, AVRO_INT, AVRO_LONG, AVRO_FLOAT, AVRO_DOUBLE, AVRO_BYTES, AVRO_STRING,
               AVRO_FIXED, AVRO_ENUM, AVRO_ARRAY, AVRO_MAP, AVRO_RECORD, AVRO_UNION } AvroKind;
typedef struct AvroSchema AvroSchema;
typedef struct AvroField { Str name; int32_t id; AvroSchema *type; Json *fallback; StrVec aliases; } AvroField;      /* id -1: none; fallback: its default, NULL: none */
struct AvroSchema {
    AvroKind kind;
    Str name, logical;                                    /* full name with its namespace; logicalType or empty */
    int32_t element_id, key_id, value_id;                 /* -1: none */
    int32_t size, precision, scale;                       /* fixed; decimal */
    int32_t min_bytes;                                    /* no value of this type is encoded shorter */
    bool adjust_to_utc;
    AvroSchema *element;                                  /* array element, map value */
    struct { AvroField *p; size_t n, cap; } fields;       /* record */
    struct { AvroSchema **p; size_t n, cap; } branches;   /* union */
    StrVec symbols;                                       /* enum */
    Str symbol_default;                                   /* enum: stands for symbols that a reader does not know; empty: none */
    StrVec aliases;                                       /* of a named type */
    Str connect;                                          /* connect.name: what a type means to Kafka Connect and Debezium; empty: nothing */
};
typedef struct AvroValue AvroValue;
struct AvroValue {
    AvroKind kind;                                        /* never AVRO_UNION: the chosen branch stands here */
    const AvroSchema *schema;
    union {
        bool boolean;
        int64_t integer;                                  /* int, long, enum index */
        double real;
        Str bytes;                                        /* bytes, string, fixed */
        struct { AvroValue *p; size_t n; } items;         /* array; record: one for each schema field, in order */
        struct { Str *keys; AvroValue *p; size_t n; } map;
    };
};
typedef struct AvroFile { Props meta; AvroSchema *schema; struct { AvroValue *p; size_t n, cap; } rows; } AvroFile;

NODISCARD Status avro_schema_parse(Arena *a, Str json, AvroSchema **ret, Error *err);
/* With types that other texts define (the references of a schema registry), the texts in the order in which they need each other. */
NODISCARD Status avro_schema_parse_with(Arena *a, const StrVec *others, Str json, AvroSchema **ret, Error *err);
/* One value by itself, as messages hold it: by the schema of who wrote it, the bytes taken to the last one. Strings point into `bytes`. */
NODISCARD Status avro_value_read(Arena *a, const AvroSchema *s, Str bytes, AvroValue *ret, Error *err);
/* Codecs null, deflate, snappy (with CRC), zstandard; others are E_UNSUPPORTED.  The header's map is in `meta`.
 * E_CORRUPT also for a schema that is wrong.  E_LIMIT: file or unpacked blocks over LIMIT_MANIFEST_BYTES, too many or
 * too deeply nested values.  A long of 2^63 to 2^64-1 (some writers' snapshot ids) comes out as its two's complement,
 * the same `integer` that json_parse gives for it. */
NODISCARD Status avro_read(Arena *a, Str file, AvroFile *ret, Error *err);
/* Field of a record value by id, else by name; NULL when absent. A null value is returned as AVRO_NULL. */
const AvroValue *avro_field(const AvroValue *record, int32_t id, const char *name);

/* Writes rows whose values match `schema` (a union takes a value of any of its branches; AVRO_NULL the null one).
 * An int may stand for a long, a float for a double, and the other way round when it fits.
 * `meta` goes into the header beside avro.schema and avro.codec; its keys "avro.…" are left out.  `codec` is "null",
 * "deflate" or "zstandard".  E_INVALID: a value does not fit; the message has the row and the path of fields. */
NODISCARD Status avro_write(Arena *a, Str schema_json, const Props *meta, const char *codec,
                            const AvroValue *rows, size_t nrows, Str *ret, Error *err);

/* ---- XML ---------------------------------------------------------------------------------------------- */

typedef struct Xml Xml;
struct Xml { Str name, text; struct { Xml **p; size_t n, cap; } children; Props attrs; };   /* local names, prefix dropped */
NODISCARD Status xml_parse(Arena *a, Str text, Xml **ret, Error *err);    /* no DTD, no external entity; depth <= 64 */
Xml *xml_child(const Xml *x, const char *name);                           /* first of that name, NULL: none */
Str xml_child_text(const Xml *x, const char *name, Str fallback);

/* A writer that owns escaping and closing. Sticky; xw_done checks that all is closed. */
typedef struct XmlWriter { StrBuf b; StrVec open; bool in_tag; } XmlWriter;
XmlWriter xw_new(Arena *a);                                               /* writes the declaration */
void xw_open(XmlWriter *w, const char *name);
void xw_attr(XmlWriter *w, const char *name, Str value);                  /* right after xw_open */
void xw_text(XmlWriter *w, Str text);
void xw_close(XmlWriter *w);
void xw_elem(XmlWriter *w, const char *name, Str text);                   /* <name>text</name> */
void xw_int(XmlWriter *w, const char *name, int64_t v);
void xw_bool(XmlWriter *w, const char *name, int truth);
Str xw_done(XmlWriter *w);

/* ---- text encodings ------------------------------------------------------------------------------------ */

Str base64_encode(Arena *a, Str bytes);
NODISCARD Status base64_decode(Arena *a, Str text, Str *ret, Error *err); /* standard alphabet, padding optional; URL alphabet accepted */
Str url_encode(Arena *a, Str s, int keep_slash);                          /* RFC 3986 unreserved kept, upper-case hex */
NODISCARD Status url_decode(Arena *a, Str s, int plus_is_space, Str *ret, Error *err);
NODISCARD Status url_query_parse(Arena *a, Str query, Props *ret, Error *err);   /* decoded; repeated keys stay */
Str http_date(Arena *a, int64_t ms);                                      /* Sun, 06 Nov 1994 08:49:37 GMT */
bool http_date_parse(Str s, int64_t *ms);                                 /* that form; UTC and +0000 stand for GMT */
bool iso8601_parse(Str s, int64_t *ms);                                   /* 2026-11-30T10:22:17[.123](Z|+hh:mm) and basic form 20261130T102217Z */

/* ---- hashes (OpenSSL) ----------------------------------------------------------------------------------- */

typedef enum { HASH_MD5, HASH_SHA1, HASH_SHA256, HASH_CRC32, HASH_CRC32C, HASH_CRC64NVME, HASH_SHA512, HASH_SHA224, HASH_SHA384 } HashKind;
typedef struct Hasher Hasher;                                             /* heap; hasher_free */
Hasher *hasher_new(HashKind kind);
void hasher_add(Hasher *h, Str bytes);
Str hasher_done(Hasher *h, Arena *a);                                     /* raw bytes, CRCs big-endian; ends the hasher's use, not its life */
void hasher_free(Hasher *h);
void hasher_freep(Hasher **h);
Str hash_bytes(Arena *a, HashKind kind, Str bytes);                       /* raw */
Str hash_hex(Arena *a, HashKind kind, Str bytes);
Str hmac_sha256(Arena *a, Str key, Str bytes);                            /* raw 32 bytes */
Str hmac_bytes(Arena *a, HashKind kind, Str key, Str bytes);              /* raw; of MD5 and the SHAs */
Str pbkdf2_sha256(Arena *a, Str password, Str salt, int rounds);          /* 32 bytes */
bool str_eq_const_time(Str x, Str y);
uint32_t murmur3_32(Str bytes);                                           /* seed 0, Iceberg bucket transform */
/* Ed25519. Keys and signatures are raw: 32-byte seed, 32-byte public key, 64-byte signature. */
NODISCARD Status ed25519_generate(Arena *a, Str *seed, Str *pub, Error *err);
NODISCARD Status ed25519_public(Arena *a, Str seed, Str *pub, Error *err);
NODISCARD Status ed25519_sign(Arena *a, Str seed, Str message, Str *sig, Error *err);
bool ed25519_verify(Str pub, Str message, Str sig);
/* RSASSA-PKCS1-v1_5 with SHA-256, by a private key in PEM. */
NODISCARD Status rs256_sign(Arena *a, Str pem, Str message, Str *sig, Error *err);
/* A JSON Web Token of these claims, signed so (RFC 7519); kid "" is left out. */
NODISCARD Status jwt_rs256(Arena *a, Str pem, Str kid, const Json *claims, Str *ret, Error *err);
/* AES-256-GCM with a fresh nonce in front; E_CORRUPT when the tag does not match. */
NODISCARD Status aes_seal(Arena *a, Str key32, Str plain, Str *ret, Error *err);
NODISCARD Status aes_open(Arena *a, Str key32, Str sealed, Str *ret, Error *err);

/* ---- compression ---------------------------------------------------------------------------------------- */

/* E_LIMIT when more than `limit` bytes come out, before they are held; E_CORRUPT for the rest.  gzip and zstd take
 * streams that follow one another; raw deflate ignores what follows its end (some Avro writers leave bytes there). */

NODISCARD Status gzip_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err);
NODISCARD Status gzip_pack(Arena *a, Str bytes, Str *ret, Error *err);
NODISCARD Status deflate_unpack(Arena *a, Str raw, size_t limit, Str *ret, Error *err);      /* raw deflate */
NODISCARD Status deflate_pack(Arena *a, Str bytes, Str *ret, Error *err);
NODISCARD Status zstd_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err);
NODISCARD Status zstd_pack(Arena *a, Str bytes, Str *ret, Error *err);
NODISCARD Status snappy_unpack(Arena *a, Str bytes, size_t limit, Str *ret, Error *err);     /* raw snappy block */

/* ---- roaring bitmaps (64-bit portable form, RoaringFormatSpec) and Puffin ------------------------------- */

/* Positions are below 2^63, ascending and unique; writing others aborts, since they would delete wrong rows.
 * Readers check structure, order and counts: E_CORRUPT; more than 64 million positions are E_LIMIT. */
typedef VEC(uint64_t) Positions;
NODISCARD Status roaring_read(Arena *a, Str bytes, Positions *ret, Error *err);
Str roaring_write(Arena *a, const Positions *p);
/* A deletion-vector-v1 blob: length, magic, roaring, CRC (Puffin spec). A bare blob is what the manifest's
 * content_offset and content_size_in_bytes point at. */
NODISCARD Status dv_blob_read(Arena *a, Str blob, Positions *ret, Error *err);
Str dv_blob_write(Arena *a, const Positions *p);

typedef struct PuffinBlob { Str type; VEC(int32_t) fields; int64_t snapshot_id, sequence_number, offset, length;
                            Str codec; Props props; Str bytes; } PuffinBlob;
typedef VEC(PuffinBlob) PuffinBlobs;
/* `codec` of a blob is empty or "zstd"; lz4, of blobs or footers, is E_UNSUPPORTED. A deletion vector has no codec. */
NODISCARD Status puffin_read(Arena *a, Str file, PuffinBlobs *blobs, Props *props, Error *err);   /* bytes unpacked */
NODISCARD Status puffin_write(Arena *a, PuffinBlobs *blobs, const Props *props, Str *ret, Error *err); /* fills offset and length */

#endif
