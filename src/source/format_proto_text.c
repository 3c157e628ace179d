/* SPDX-License-Identifier: Apache-2.0 */
/* format_proto_text.c - .proto text, as schema registries keep it, to types (Protobuf language specification, proto2, proto3 and editions).
 *
 * What messages do not need (options, services, extensions, reserved names) is passed over by its brackets.  Imports are what the caller has added before; a few of
 * google/protobuf's own files are known here. */
#include "source/format_proto.h"

enum { MAX_NESTING = 64 };

typedef enum { T_END, T_WORD, T_NUMBER, T_STRING, T_SIGN } TokenKind;
typedef struct { TokenKind kind; Str text; size_t at; } Token;
typedef struct { ProtoSchema *s; const char *start, *p, *end; Token now; int proto3, depth; int32_t oneofs; Status status; Error *err; } Parser;

static Status body(Parser *p, ProtoMessage *m);

/* ---- tokens: sticky, after a failure all that follows is the end --------------------------------------------------------------------------- */

static void fail(Parser *p, const char *what)
{
    if (p->status == OK)
        p->status = FAIL(p->err, E_SYNTAX, "Protobuf: %s at byte %zu of the schema, before '" STR_FMT "'", what, p->now.at, STR_ARG(str_sub(p->now.text, 0, 40)));
    p->p = p->end;
    p->now = (Token){0};
}

static void blanks(Parser *p)
{
    while (p->p < p->end) {
        Str rest = str_n(p->p, (size_t)(p->end - p->p));
        ptrdiff_t n = 0;
        if (strchr(" \t\r\n\f\v", *p->p))
            p->p++;
        else if (str_starts(rest, S("//")))
            p->p += (n = str_chr(rest, '\n')) < 0 ? (ptrdiff_t)rest.n : n;
        else if (str_starts(rest, S("/*")))
            p->p += (n = str_find(str_from(rest, 2), S("*/"))) < 0 ? (ptrdiff_t)rest.n : n + 4;
        else
            return;
    }
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void string_token(Parser *p)
{
    char quote = *p->p++;

    while (p->p < p->end && *p->p != quote && *p->p != '\n')
        p->p += *p->p == '\\' && p->p + 1 < p->end ? 2 : 1;
    if (p->p < p->end && *p->p == quote)
        p->p++;
    else
        fail(p, "a string that does not end");
}

/* Words hold dots: names of types come whole. */
static void next(Parser *p)
{
    blanks(p);
    const char *from = p->p;
    p->now = (Token){ .kind = T_END, .at = (size_t)(from - p->start) };
    if (p->p == p->end)
        return;
    char c = *p->p;
    if (is_letter(c) || (c == '.' && p->p + 1 < p->end && is_letter(p->p[1]))) {
        for (p->now.kind = T_WORD; p->p < p->end && (is_letter(*p->p) || is_digit(*p->p) || *p->p == '.'); p->p++)
            ;
    } else if (is_digit(c)) {
        for (p->now.kind = T_NUMBER; p->p < p->end && (is_letter(*p->p) || is_digit(*p->p) || *p->p == '.'); p->p++)
            ;
    } else if (c == '"' || c == '\'') {
        p->now.kind = T_STRING;
        string_token(p);
    } else {
        p->now.kind = T_SIGN;
        p->p++;
    }
    if (p->status == OK)
        p->now.text = str_n(from, (size_t)(p->p - from));
}

static bool at(const Parser *p, const char *text) { return (p->now.kind == T_WORD || p->now.kind == T_SIGN) && str_eq(p->now.text, str_c(text)); }

static bool take(Parser *p, const char *text)
{
    if (!at(p, text))
        return false;
    next(p);
    return true;
}

static void need(Parser *p, const char *text)
{
    if (!take(p, text))
        fail(p, text[1] ? "no word that must stand" : text[0] == ';' ? "no ';'" : text[0] == '{' ? "no '{'" : text[0] == '=' ? "no '='" : "a sign missing");
}

static Str word(Parser *p, const char *what)
{
    Str s = p->now.text;

    if (p->now.kind != T_WORD)
        fail(p, what);
    else
        next(p);
    return p->status == OK ? s : S("");
}

static int32_t number(Parser *p)
{
    int64_t v = 0;
    bool minus = take(p, "-");
    Str s = p->now.text;
    bool hex = s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');

    if (p->now.kind != T_NUMBER || s.n > 12)
        fail(p, "no number");
    for (size_t i = hex ? 2 : 0; p->status == OK && i < s.n; i++) {
        char c = s.p[i];
        int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
        if (digit >= (hex ? 16 : 10))
            fail(p, "no number");
        v = v * (hex ? 16 : 10) + digit;
    }
    v = minus ? -v : v;
    if (v < INT32_MIN || v > INT32_MAX)
        fail(p, "a number out of range");
    if (p->status == OK)
        next(p);
    return p->status == OK ? (int32_t)v : 0;
}

/* ---- what is passed over ----------------------------------------------------------------------------------------------------------------------- */

/* To a ';', or past a block in braces. */
static void skip_statement(Parser *p)
{
    size_t depth = 0;

    while (p->status == OK && p->now.kind != T_END) {
        bool open = at(p, "{") || at(p, "[") || at(p, "("), close = at(p, "}") || at(p, "]") || at(p, ")");
        bool brace = at(p, "}"), end = at(p, ";");
        if (close && !depth) {
            fail(p, "a bracket closed that was not opened");
            return;
        }
        depth += open;
        depth -= close;
        next(p);
        if (!depth && (end || brace))
            return;
    }
    fail(p, "a statement that does not end");
}

static void skip_brackets(Parser *p)
{
    size_t depth = 0;

    if (!at(p, "["))
        return;
    do {
        depth += at(p, "[") || at(p, "{");
        depth -= at(p, "]") || at(p, "}");
        if (p->now.kind == T_END)
            fail(p, "options that do not end");
        next(p);
    } while (depth && p->status == OK);
}

/* ---- enums and fields --------------------------------------------------------------------------------------------------------------------------- */

static Status enumeration(Parser *p, Str scope)
{
    ProtoEnum *e;
    Str name = word(p, "no name of an enum");

    TRY(p->status);
    TRY(proto_new_enum(p->s, proto_join(p->s->a, scope, name), &e, p->err));
    need(p, "{");
    while (p->status == OK && !take(p, "}")) {
        if (at(p, "option") || at(p, "reserved") || at(p, ";")) {
            skip_statement(p);
            continue;
        }
        ProtoSymbol y = { .name = word(p, "no name of an enum's value") };
        need(p, "=");
        y.number = number(p);
        skip_brackets(p);
        need(p, ";");
        TRY(p->status);
        TRY(proto_push_symbol(p->s, e, y, p->err));
    }
    return p->status;
}

static int kind_of(Str type)
{
    static const struct { const char *name; int kind; } scalars[] = {
        { "double", PROTO_DOUBLE }, { "float", PROTO_FLOAT }, { "int64", PROTO_INT64 }, { "uint64", PROTO_UINT64 }, { "int32", PROTO_INT32 }, { "fixed64", PROTO_FIXED64 },
        { "fixed32", PROTO_FIXED32 }, { "bool", PROTO_BOOL }, { "string", PROTO_STRING }, { "bytes", PROTO_BYTES }, { "uint32", PROTO_UINT32 },
        { "sfixed32", PROTO_SFIXED32 }, { "sfixed64", PROTO_SFIXED64 }, { "sint32", PROTO_SINT32 }, { "sint64", PROTO_SINT64 }, { "group", PROTO_GROUP },
    };
    for (size_t i = 0; i < COUNT_OF(scalars); i++)
        if (str_eq(type, str_c(scalars[i].name)))
            return scalars[i].kind;
    return 0;
}

/* name = number [options]; */
static Status end_field(Parser *p, ProtoMessage *m, ProtoField f)
{
    f.name = word(p, "no name of a field");
    need(p, "=");
    f.number = number(p);
    skip_brackets(p);
    need(p, ";");
    TRY(p->status);
    return proto_push_field(p->s, m, f, p->err);
}

static void set_type(Parser *p, ProtoField *f)
{
    f->type_name = word(p, "no type of a field");
    f->kind = kind_of(f->type_name);
    if (f->kind == PROTO_GROUP)
        fail(p, "groups are not supported:");
}

static Status plain_field(Parser *p, ProtoMessage *m, int32_t oneof)
{
    ProtoField f = { .oneof = oneof };
    int optional = 0;

    if (take(p, "repeated"))
        f.repeated = 1;
    else if (take(p, "required"))
        f.required = 1;
    else
        optional = take(p, "optional");
    set_type(p, &f);
    f.presence = !f.repeated && !f.required && (optional || oneof || !p->proto3);
    return end_field(p, m, f);
}

/* map<key, value> name = n; is repeated Entry name = n; with message Entry { key = 1; value = 2; } inside. */
static Status map_field(Parser *p, ProtoMessage *m)
{
    ProtoField f = { .repeated = 1, .kind = PROTO_MESSAGE }, key = { .name = S("key"), .number = 1 }, value = { .name = S("value"), .number = 2 };
    ProtoMessage *entry;

    need(p, "<");
    set_type(p, &key);
    need(p, ",");
    set_type(p, &value);
    need(p, ">");
    TRY(p->status);
    if (!key.kind || key.kind == PROTO_DOUBLE || key.kind == PROTO_FLOAT || key.kind == PROTO_BYTES)
        return FAIL(p->err, E_INVALID, "Protobuf: a map's key cannot be of type '" STR_FMT "'", STR_ARG(key.type_name));
    TRY(proto_new_message(p->s, str_fmt(p->s->a, STR_FMT ".%zu-entry", STR_ARG(m->name), m->fields.n), &entry, p->err));
    entry->is_map = 1;
    TRY(proto_push_field(p->s, entry, key, p->err));
    TRY(proto_push_field(p->s, entry, value, p->err));
    f.type_name = str_cat(p->s->a, S("."), entry->name);
    return end_field(p, m, f);
}

static Status oneof(Parser *p, ProtoMessage *m)
{
    int32_t n = ++p->oneofs;

    word(p, "no name of a oneof");
    need(p, "{");
    while (p->status == OK && !take(p, "}")) {
        if (at(p, "option") || at(p, ";"))
            skip_statement(p);
        else
            TRY(plain_field(p, m, n));
    }
    return p->status;
}

/* ---- messages and the file ------------------------------------------------------------------------------------------------------------------------- */

static Status message(Parser *p, Str scope, ProtoMessage **ret)
{
    Str name = word(p, "no name of a message");

    TRY(p->status);
    TRY(proto_new_message(p->s, proto_join(p->s->a, scope, name), ret, p->err));
    if (++p->depth > MAX_NESTING)
        return FAIL(p->err, E_LIMIT, "Protobuf: message types nested deeper than %d", MAX_NESTING);
    need(p, "{");
    TRY(body(p, *ret));
    p->depth--;
    return p->status;
}

/* Is the word a field's type or the beginning of a statement? "message.x y = 1;" does not occur: a dot belongs to the word. */
static Status statement(Parser *p, ProtoMessage *m)
{
    ProtoMessage *nested;

    if (take(p, "message")) {
        TRY(message(p, m->name, &nested));
        vec_push(p->s->a, &m->nested, nested);
        return OK;
    }
    if (take(p, "enum"))
        return enumeration(p, m->name);
    if (take(p, "oneof"))
        return oneof(p, m);
    if (take(p, "map"))
        return map_field(p, m);
    if (at(p, "option") || at(p, "reserved") || at(p, "extensions") || at(p, "extend") || at(p, ";")) {
        skip_statement(p);
        return p->status;
    }
    return plain_field(p, m, 0);
}

static Status body(Parser *p, ProtoMessage *m)
{
    while (p->status == OK && !take(p, "}"))
        TRY(statement(p, m));
    return p->status;
}

static Status google_file(ProtoSchema *s, Str path, Error *err);

static Status import(Parser *p)
{
    if (!take(p, "public"))
        (void)take(p, "weak");
    Str path = p->now.text;
    if (p->now.kind != T_STRING)
        fail(p, "no name of an import");
    next(p);
    need(p, ";");
    TRY(p->status);
    return google_file(p->s, str_sub(path, 1, path.n - 1), p->err);
}

static Status file_statement(Parser *p, Str *package)
{
    ProtoMessage *m;

    if (take(p, "syntax")) {
        need(p, "=");
        p->proto3 = p->now.kind == T_STRING && str_eq(str_sub(p->now.text, 1, p->now.text.n - 1), S("proto3"));
        next(p);
        need(p, ";");
    } else if (take(p, "package")) {
        *package = word(p, "no name of a package");
        need(p, ";");
    } else if (take(p, "import")) {
        TRY(import(p));
    } else if (take(p, "message")) {
        TRY(message(p, *package, &m));
        vec_push(p->s->a, &p->s->top, m);
    } else if (take(p, "enum")) {
        TRY(enumeration(p, *package));
    } else {
        skip_statement(p);
    }
    return p->status;
}

Status proto_add_text(ProtoSchema *s, Str text, Error *err)
{
    Str own = str_dup(s->a, str_sub(text, 0, PROTO_MAX_BYTES));
    Parser p = { .s = s, .start = own.p, .p = own.p, .end = own.p + own.n, .err = err };
    Str package = S("");

    if (text.n > PROTO_MAX_BYTES)
        return FAIL(err, E_LIMIT, "Protobuf: a schema of %zu bytes, the limit is %d", text.n, PROTO_MAX_BYTES);
    if (!str_is_utf8(own) || memchr(own.p, 0, own.n))
        return FAIL(err, E_SYNTAX, "Protobuf: the schema is not UTF-8 text");
    next(&p);
    s->top.n = 0;
    while (p.status == OK && p.now.kind != T_END)
        TRY(file_statement(&p, &package));
    return p.status;
}

/* ---- google/protobuf's own files ---------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *path, *type, *text; } google[] = {
    { "google/protobuf/timestamp.proto", "google.protobuf.Timestamp", "syntax = \"proto3\"; package google.protobuf; message Timestamp { int64 seconds = 1; int32 nanos = 2; }" },
    { "google/protobuf/duration.proto", "google.protobuf.Duration", "syntax = \"proto3\"; package google.protobuf; message Duration { int64 seconds = 1; int32 nanos = 2; }" },
    { "google/protobuf/empty.proto", "google.protobuf.Empty", "syntax = \"proto3\"; package google.protobuf; message Empty {}" },
    { "google/protobuf/any.proto", "google.protobuf.Any", "syntax = \"proto3\"; package google.protobuf; message Any { string type_url = 1; bytes value = 2; }" },
    { "google/protobuf/wrappers.proto", "google.protobuf.DoubleValue",
      "syntax = \"proto3\"; package google.protobuf; message DoubleValue { double value = 1; } message FloatValue { float value = 1; } message Int64Value { int64 value = 1; }"
      "message UInt64Value { uint64 value = 1; } message Int32Value { int32 value = 1; } message UInt32Value { uint32 value = 1; } message BoolValue { bool value = 1; }"
      "message StringValue { string value = 1; } message BytesValue { bytes value = 1; }" },
};

static Status google_file(ProtoSchema *s, Str path, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(google); i++) {
        if (!str_eq(path, str_c(google[i].path)) || map_has(&s->messages, str_c(google[i].type)))
            continue;
        ProtoSchema other = *s;
        other.top.p = NULL;
        other.top.n = other.top.cap = 0;
        TRY(proto_add_text(&other, str_c(google[i].text), err));
        s->messages = other.messages;
        s->enums = other.enums;
    }
    return OK;
}
