/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_kafkamessage.c - a message of a topic in each format: 'j' JSON, 'c' CSV, 't' text, 'a' Avro, 'd' Debezium's envelope, 'p' Protobuf.
 *
 * A failure must carry a message and be the message's own; JSON that is taken is taken again and stays as it is; cells that come out are whole. */
#include "source/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char avro[] =
    "{\"format\": \"avro\", \"confluent_wire_format\": false, \"schema\": \"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"e\\\",\\\"fields\\\":[{\\\"name\\\":\\\"before\\\",\\\"type\\\":[\\\"null\\\",\\\"int\\\"]},{\\\"name\\\":\\\"after\\\",\\\"type\\\":[\\\"null\\\","
    "{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"r\\\",\\\"fields\\\":[{\\\"name\\\":\\\"l\\\",\\\"type\\\":\\\"long\\\"},{\\\"name\\\":\\\"d\\\",\\\"type\\\":{\\\"type\\\":\\\"bytes\\\",\\\"logicalType\\\":\\\"decimal\\\",\\\"precision\\\":38,\\\"scale\\\":3}},"
    "{\\\"name\\\":\\\"u\\\",\\\"type\\\":{\\\"type\\\":\\\"string\\\",\\\"logicalType\\\":\\\"uuid\\\"}},{\\\"name\\\":\\\"t\\\",\\\"type\\\":{\\\"type\\\":\\\"long\\\",\\\"logicalType\\\":\\\"timestamp-millis\\\"}},"
    "{\\\"name\\\":\\\"a\\\",\\\"type\\\":{\\\"type\\\":\\\"array\\\",\\\"items\\\":[\\\"null\\\",\\\"string\\\"]}},{\\\"name\\\":\\\"m\\\",\\\"type\\\":{\\\"type\\\":\\\"map\\\",\\\"values\\\":\\\"double\\\"}},"
    "{\\\"name\\\":\\\"x\\\",\\\"type\\\":[\\\"int\\\",\\\"null\\\",{\\\"type\\\":\\\"enum\\\",\\\"name\\\":\\\"c\\\",\\\"symbols\\\":[\\\"a\\\",\\\"b\\\"]},\\\"bytes\\\"]},"
    "{\\\"name\\\":\\\"s\\\",\\\"type\\\":{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"i\\\",\\\"fields\\\":[{\\\"name\\\":\\\"n\\\",\\\"type\\\":[\\\"null\\\",\\\"float\\\"]}]}}]}]}]}\"}";

/* message M { int32 a = 1; repeated sint64 b = 2; string c = 3; E d = 4; N e = 5; map<string, N> f = 6; oneof o { bool g = 7; bytes h = 8; } } enum E { Z = 0; } message N { double x = 1; } */
static const char protobuf[] =
    "{\"format\": \"protobuf\", \"message\": \"M\", \"schema\": \""
    "0acf010a0166220e0a014e12090a017818012001280122a5010a014d12090a016118012001280512090a016218022003281212090a0163180320012809120d0a016418042001280e32022e"
    "45120d0a016518052001280b32022e4e12140a016618062003280b32092e4d2e46456e747279120b0a01671807200128084800120b0a016818082001280c48001a2c0a0646456e74727912"
    "0b0a036b657918012001280912110a0576616c756518022001280b32022e4e3a02380142030a016f2a0a0a014512050a015a1000620670726f746f33"
    "\"}";

static const char *options_of(uint8_t kind)
{
    switch (kind) {
    case 'j': return "{\"format\": \"json\"}";
    case 'c': return "{\"format\": \"csv\", \"columns\": 3, \"delimited_by\": \";\"}";
    case 't': return "{\"format\": \"text\"}";
    case 'a': case 'd': return avro;
    case 'p': return protobuf;
    default: return NULL;
    }
}

static void json_again(Arena *a, Str text)
{
    Str again;
    Error err;
    if (format_json_text(a, text, &again, &err) != OK || !str_eq(text, again))
        abort();
}

static void message(Arena *a, uint8_t kind, Str bytes)
{
    FormatOptions o = { .part = kind == 'd' ? FORMAT_AFTER : FORMAT_WHOLE };
    Json *options;
    Format *f;
    Error err = {0};
    int gone;

    if (json_parse(a, str_c(options_of(kind)), &options, &err) != OK)
        abort();
    o.options = options;
    if (format_open(a, &o, &f, &err) != OK)
        abort();
    size_t n = format_columns(f)->n;
    Value *cells = arena_array(a, Value, n);
    Status s = format_decode(f, a, bytes, cells, &gone, &err);
    if (s != OK && (!format_is_poison(s) || !err.message[0]))
        abort();
    for (size_t i = 0; s == OK && !gone && i < n; i++)
        (void)value_copy(a, &cells[i], &format_columns(f)->p[i].type);
    if (s == OK && kind == 'j')
        json_again(a, cells[0].string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (size >= 1 && size < 65536 && options_of(data[0]))
        message(a, data[0], str_n((const char *)data + 1, size - 1));
    return 0;
}
