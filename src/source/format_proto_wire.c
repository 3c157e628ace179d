/* SPDX-License-Identifier: Apache-2.0 */
/* format_proto_wire.c - Protobuf's wire format to cells (Protobuf documentation, "Encoding").
 *
 * Unknown fields, and known ones in a wire type that is not theirs, are passed over, as parsers do.  The last of a singular field wins; parts of a message that
 * come several times are one message, which is what their bytes one after the other are.  Repeated numbers come packed or not.
 * A wire is sticky: after its first failure it stands at its end. */
#include "source/format_proto.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, GROUP = 3, GROUP_END = 4, FIXED32 = 5 };

static void broken(ProtoWire *w, const char *what)
{
    if (w->status == OK)
        w->status = FAIL(w->err, E_CORRUPT, "Protobuf: %s at byte %zu", what, (size_t)(w->p - w->start));
    w->p = w->end;
}

ProtoWire proto_wire(Str bytes, Error *err)
{
    const unsigned char *p = (const unsigned char *)(bytes.n ? bytes.p : "");
    return (ProtoWire){ .p = p, .start = p, .end = p + bytes.n, .err = err };
}

uint64_t proto_varint(ProtoWire *w)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 70 && w->p < w->end; shift += 7) {
        unsigned char c = *w->p++;
        if (shift < 64)
            v |= (uint64_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return v;
    }
    broken(w, "an integer that does not end");
    return 0;
}

static uint64_t fixed(ProtoWire *w, size_t n)
{
    uint64_t v = 0;

    if ((size_t)(w->end - w->p) < n) {
        broken(w, "a number that is cut off");
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)*w->p++ << 8 * i;
    return v;
}

static Str counted(ProtoWire *w)
{
    uint64_t n = proto_varint(w);

    if (n > (uint64_t)(w->end - w->p)) {
        broken(w, "a field longer than the message");
        return S("");
    }
    Str s = str_n((const char *)w->p, (size_t)n);
    w->p += n;
    return s;
}

static bool tag(ProtoWire *w, ProtoTag *ret)
{
    if (w->p == w->end)
        return false;
    uint64_t v = proto_varint(w);
    *ret = (ProtoTag){ .number = (int32_t)(v >> 3), .wire = (int)(v & 7) };
    if (w->status == OK && (v >> 3 < 1 || v >> 3 >= 1 << 29))
        broken(w, "a field number that is none");
    return w->status == OK;
}

static void scalar(ProtoWire *w, ProtoTag *t)
{
    switch (t->wire) {
    case VARINT: t->value = proto_varint(w); break;
    case FIXED64: t->value = fixed(w, 8); break;
    case FIXED32: t->value = fixed(w, 4); break;
    case BYTES: t->bytes = counted(w); break;
    case GROUP: case GROUP_END: break;
    default: broken(w, "a wire type that is none"); break;
    }
}

/* The rest of a group, with what is nested in it. */
static void skip_group(ProtoWire *w)
{
    ProtoTag t;

    for (size_t depth = 1; depth && w->status == OK;) {
        if (!tag(w, &t)) {
            broken(w, "a group that does not end");
            return;
        }
        scalar(w, &t);
        depth += t.wire == GROUP;
        depth -= t.wire == GROUP_END;
    }
}

bool proto_next(ProtoWire *w, ProtoTag *ret)
{
    while (w->status == OK && tag(w, ret)) {
        if (ret->wire == GROUP_END) {
            broken(w, "the end of a group that did not begin");
            return false;
        }
        scalar(w, ret);
        if (ret->wire != GROUP)
            return w->status == OK;
        skip_group(w);
    }
    return false;
}

/* ---- fields to values ------------------------------------------------------------------------------------------------------------------- */

static int wire_of(int kind)
{
    switch (kind) {
    case PROTO_DOUBLE: case PROTO_FIXED64: case PROTO_SFIXED64: return FIXED64;
    case PROTO_FLOAT: case PROTO_FIXED32: case PROTO_SFIXED32: return FIXED32;
    case PROTO_STRING: case PROTO_BYTES: case PROTO_MESSAGE: return BYTES;
    default: return VARINT;
    }
}

static int64_t zigzag(uint64_t v) { return (int64_t)(v >> 1 ^ (0 - (v & 1))); }

static double as_double(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}

static double as_float(uint64_t v)
{
    uint32_t bits = (uint32_t)v;
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static Status enum_value(ProtoDecode *d, const ProtoField *f, int32_t number, const DataType *t, Value *ret)
{
    for vec_each(ProtoSymbol, y, &f->symbols->symbols)
        if (y->number == number) {
            *ret = (Value){ .kind = DT_STRING, .type = t, .string = y->name };
            return OK;
        }
    return FAIL(d->err, E_INVALID, "Protobuf: enum '" STR_FMT "' has no value %d (field '" STR_FMT "')", STR_ARG(f->symbols->name), number, STR_ARG(f->name));
}

static Status message_value(ProtoDecode *d, const ProtoField *f, Str bytes, const DataType *t, Value *ret)
{
    if (++d->depth > FORMAT_MAX_DEPTH)
        return FAIL(d->err, E_LIMIT, "Protobuf: messages nested deeper than %d", FORMAT_MAX_DEPTH);
    d->items += t->nchildren;
    if (d->items > FORMAT_MAX_ITEMS)
        return FAIL(d->err, E_LIMIT, "Protobuf: more than %d values in a message", FORMAT_MAX_ITEMS);
    *ret = (Value){ .kind = DT_STRUCT, .type = t };
    ret->items.n = t->nchildren;
    ret->items.p = arena_array(d->a, Value, t->nchildren + 1);
    TRY(proto_cells(d, f->message, bytes, t->children, sizeof *t->children, ret->items.p));
    d->depth--;
    return OK;
}

static Status value_of(ProtoDecode *d, const ProtoField *f, const ProtoTag *g, const DataType *t, Value *ret)
{
    *ret = (Value){ .kind = t->kind, .type = t };
    switch (f->kind) {
    case PROTO_DOUBLE: ret->real = as_double(g->value); return OK;
    case PROTO_FLOAT: ret->real = as_float(g->value); return OK;
    case PROTO_INT64: case PROTO_SFIXED64: ret->integer = (int64_t)g->value; return OK;
    case PROTO_UINT64: case PROTO_FIXED64: ret->wide = g->value; return OK;
    case PROTO_INT32: case PROTO_SFIXED32: ret->integer = (int32_t)g->value; return OK;
    case PROTO_UINT32: case PROTO_FIXED32: ret->integer = (uint32_t)g->value; return OK;
    case PROTO_SINT32: ret->integer = (int32_t)zigzag((uint32_t)g->value); return OK;
    case PROTO_SINT64: ret->integer = zigzag(g->value); return OK;
    case PROTO_BOOL: ret->boolean = g->value != 0; return OK;
    case PROTO_BYTES: ret->string = g->bytes; return OK;
    case PROTO_STRING: TRY_CTX(format_text_value(g->bytes, t, ret, d->err), d->err, "Protobuf: field '" STR_FMT "'", STR_ARG(f->name)); return OK;
    case PROTO_ENUM: return enum_value(d, f, (int32_t)g->value, t, ret);
    default: return message_value(d, f, g->bytes, t, ret);
    }
}

/* ---- repeated fields and maps --------------------------------------------------------------------------------------------------------------- */

typedef struct Items { Value *p; size_t n, cap; Map places; } Items;      /* places: of a map's keys */

static Status room(ProtoDecode *d, Items *items, size_t more)
{
    d->items += more;
    if (d->items > FORMAT_MAX_ITEMS)
        return FAIL(d->err, E_LIMIT, "Protobuf: more than %d values in a message", FORMAT_MAX_ITEMS);
    while (items->n + more > items->cap) {
        size_t cap = items->cap ? items->cap * 2 : 8;
        items->p = arena_grow(d->a, items->p, items->cap * sizeof(Value), cap * sizeof(Value));
        items->cap = cap;
    }
    return OK;
}

static Status push(ProtoDecode *d, const ProtoField *f, const ProtoTag *g, const DataType *element, Items *items)
{
    TRY(room(d, items, 1));
    return value_of(d, f, g, element, &items->p[items->n++]);
}

static Status push_packed(ProtoDecode *d, const ProtoField *f, Str bytes, const DataType *element, Items *items)
{
    ProtoWire w = proto_wire(bytes, d->err);
    ProtoTag g = { .wire = wire_of(f->kind) };

    while (w.p < w.end) {
        scalar(&w, &g);
        TRY(w.status);
        TRY(push(d, f, &g, element, items));
    }
    return w.status;
}

/* The bytes that tell a map's keys apart. */
static Str key_bytes(Arena *a, const Value *key)
{
    int64_t n = key->kind == DT_BOOL ? key->boolean : key->kind == DT_UINT64 ? (int64_t)key->wide : key->integer;
    return key->kind == DT_STRING ? key->string : str_dup(a, str_n((const char *)&n, sizeof n));
}

/* The last of a key wins. */
static Status push_entry(ProtoDecode *d, const ProtoField *f, Str bytes, const DataType *t, Items *items)
{
    Value entry[2];

    TRY(proto_cells(d, f->message, bytes, t->children, sizeof *t->children, entry));
    if (!items->places.a)
        items->places = map_new(d->a);
    Str key = key_bytes(d->a, &entry[0]);
    size_t at = (size_t)(uintptr_t)map_get(&items->places, key);
    if (!at) {
        TRY(room(d, items, 2));
        at = items->n + 1;
        items->n += 2;
        map_put(&items->places, key, (void *)(uintptr_t)at);
    }
    items->p[at - 1] = entry[0];
    items->p[at] = entry[1];
    return OK;
}

static Status repeated(ProtoDecode *d, const ProtoField *f, const ProtoTag *g, const DataType *t, Items *items)
{
    int wire = wire_of(f->kind);

    if (f->message && f->message->is_map)
        return g->wire == BYTES ? push_entry(d, f, g->bytes, t, items) : OK;
    if (g->wire == wire)
        return push(d, f, g, &t->children[0], items);
    return g->wire == BYTES && wire != BYTES ? push_packed(d, f, g->bytes, &t->children[0], items) : OK;
}

/* ---- a message --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct Found { ProtoTag tag; int has; StrBuf parts; Items items; } Found;      /* parts: of a message that comes several times */

static void clear_others(const ProtoMessage *m, Found *found, size_t i)
{
    for (size_t k = 0; k < m->fields.n; k++)
        if (k != i && m->fields.p[k].oneof == m->fields.p[i].oneof)
            found[k].has = 0;
}

static void take_part(ProtoDecode *d, Found *found, Str bytes)
{
    if (!found->parts.a) {
        found->parts = sb_new(d->a);
        sb_add(&found->parts, found->tag.bytes);
    }
    sb_add(&found->parts, bytes);
}

static Status take(ProtoDecode *d, const ProtoMessage *m, size_t i, const ProtoTag *g, const DataType *t, Found *found)
{
    const ProtoField *f = &m->fields.p[i];

    if (f->repeated)
        return repeated(d, f, g, t, &found[i].items);
    if (g->wire != wire_of(f->kind))
        return OK;
    if (found[i].has && f->message) {
        take_part(d, &found[i], g->bytes);
    } else {
        found[i].tag = *g;
        found[i].parts = (StrBuf){0};
    }
    found[i].has = 1;
    if (f->oneof)
        clear_others(m, found, i);
    return OK;
}

static Status finish(ProtoDecode *d, const ProtoField *f, const Found *found, const DataType *t, Value *ret)
{
    static const ProtoTag zero = { .bytes = { "", 0 } };

    if (f->repeated) {
        *ret = (Value){ .kind = t->kind, .type = t };
        ret->items.p = found->items.p;
        ret->items.n = found->items.n;
        return OK;
    }
    if (found->has) {
        ProtoTag g = found->tag;
        if (found->parts.a)
            g.bytes = str_n(found->parts.p, found->parts.n);
        return value_of(d, f, &g, t, ret);
    }
    *ret = value_null(t);
    if (f->required)
        return FAIL(d->err, E_INVALID, "Protobuf: the required field '" STR_FMT "' is missing", STR_ARG(f->name));
    if (f->presence)
        return OK;
    return f->kind == PROTO_ENUM ? enum_value(d, f, f->symbols->symbols.p[0].number, t, ret) : value_of(d, f, &zero, t, ret);
}

static size_t field_numbered(const ProtoMessage *m, int32_t number, size_t guess)
{
    if (guess < m->fields.n && m->fields.p[guess].number == number)
        return guess;
    for (size_t i = 0; i < m->fields.n; i++)
        if (m->fields.p[i].number == number)
            return i;
    return m->fields.n;
}

static inline const DataType *type_at(const DataType *types, size_t stride, size_t i)
{
    return (const DataType *)((const char *)types + i * stride);
}

Status proto_cells(ProtoDecode *d, const ProtoMessage *m, Str bytes, const DataType *types, size_t stride, Value *ret)
{
    Found *found = arena_array(d->a, Found, m->fields.n + 1);
    ProtoWire w = proto_wire(bytes, d->err);
    ProtoTag g;

    for (size_t i = 0; proto_next(&w, &g); i++) {
        i = field_numbered(m, g.number, i);
        if (i < m->fields.n)
            TRY(take(d, m, i, &g, type_at(types, stride, i), found));
    }
    TRY(w.status);
    for (size_t i = 0; i < m->fields.n; i++)
        TRY(finish(d, &m->fields.p[i], &found[i], type_at(types, stride, i), &ret[i]));
    return OK;
}
