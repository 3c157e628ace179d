/* SPDX-License-Identifier: Apache-2.0 */
/* format_proto_schema.c - messages and enums by name, and names to what they mean (Protobuf language specification, "Reference"). */
#include "source/format_proto.h"

ProtoSchema *proto_schema(Arena *a)
{
    ProtoSchema *s = arena_new(a, ProtoSchema);
    s->a = a;
    s->messages = map_new(a);
    s->enums = map_new(a);
    return s;
}

Str proto_join(Arena *a, Str scope, Str name)
{
    return scope.n ? str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(scope), STR_ARG(name)) : name;
}

static Status may_add(ProtoSchema *s, Str name, Error *err)
{
    if (map_has(&s->messages, name) || map_has(&s->enums, name))
        return FAIL(err, E_INVALID, "Protobuf: '" STR_FMT "' is defined twice", STR_ARG(str_sub(name, 0, 200)));
    if (s->messages.n + s->enums.n >= PROTO_MAX_TYPES)
        return FAIL(err, E_LIMIT, "Protobuf: more than %d types in a schema", PROTO_MAX_TYPES);
    return OK;
}

Status proto_new_message(ProtoSchema *s, Str name, ProtoMessage **ret, Error *err)
{
    TRY(may_add(s, name, err));
    *ret = arena_new(s->a, ProtoMessage);
    (*ret)->name = name;
    map_put(&s->messages, name, *ret);
    return OK;
}

Status proto_new_enum(ProtoSchema *s, Str name, ProtoEnum **ret, Error *err)
{
    TRY(may_add(s, name, err));
    *ret = arena_new(s->a, ProtoEnum);
    (*ret)->name = name;
    map_put(&s->enums, name, *ret);
    return OK;
}

Status proto_push_field(ProtoSchema *s, ProtoMessage *m, ProtoField f, Error *err)
{
    if (m->fields.n >= PROTO_MAX_FIELDS)
        return FAIL(err, E_LIMIT, "Protobuf: message '" STR_FMT "' has more than %d fields", STR_ARG(m->name), PROTO_MAX_FIELDS);
    if (!f.name.n || f.number < 1 || f.number >= 1 << 29)
        return FAIL(err, E_INVALID, "Protobuf: message '" STR_FMT "' has a field without a name or with number %d", STR_ARG(m->name), f.number);
    for vec_each(ProtoField, o, &m->fields)
        if (o->number == f.number || str_eq(o->name, f.name))
            return FAIL(err, E_INVALID, "Protobuf: message '" STR_FMT "' uses the name or number of field '" STR_FMT "' twice", STR_ARG(m->name), STR_ARG(f.name));
    vec_push(s->a, &m->fields, f);
    return OK;
}

Status proto_push_symbol(ProtoSchema *s, ProtoEnum *e, ProtoSymbol y, Error *err)
{
    if (e->symbols.n >= PROTO_MAX_FIELDS)
        return FAIL(err, E_LIMIT, "Protobuf: enum '" STR_FMT "' has more than %d values", STR_ARG(e->name), PROTO_MAX_FIELDS);
    vec_push(s->a, &e->symbols, y);
    return OK;
}

/* ---- names -------------------------------------------------------------------------------------------------------------------------- */

static bool set_type(const ProtoSchema *s, Str name, ProtoField *f)
{
    f->message = map_get(&s->messages, name);
    f->symbols = f->message ? NULL : map_get(&s->enums, name);
    if (f->message)
        f->kind = PROTO_MESSAGE;
    else if (f->symbols)
        f->kind = PROTO_ENUM;
    return f->message || f->symbols;
}

/* ".a.B" is whole; "B" is looked for in a.M.B, a.B, B. */
static bool find_type(const ProtoSchema *s, Str scope, ProtoField *f)
{
    if (str_starts(f->type_name, S(".")))
        return set_type(s, str_from(f->type_name, 1), f);
    for (;;) {
        if (set_type(s, proto_join(s->a, scope, f->type_name), f))
            return true;
        ptrdiff_t dot = str_rchr(scope, '.');
        if (!scope.n)
            return false;
        scope = str_sub(scope, 0, dot < 0 ? 0 : (size_t)dot);
    }
}

static Status resolve_field(const ProtoSchema *s, const ProtoMessage *m, ProtoField *f, Error *err)
{
    if (f->kind == PROTO_GROUP)
        return FAIL(err, E_UNSUPPORTED, "Protobuf: groups are not supported (field '" STR_FMT "' of '" STR_FMT "')", STR_ARG(f->name), STR_ARG(m->name));
    if (f->kind && f->kind != PROTO_MESSAGE && f->kind != PROTO_ENUM)
        return OK;
    if (!find_type(s, m->name, f))
        return FAIL(err, E_INVALID, "Protobuf: type '" STR_FMT "' of field '" STR_FMT "' of '" STR_FMT "' is not defined", STR_ARG(str_sub(f->type_name, 0, 200)), STR_ARG(f->name), STR_ARG(m->name));
    if (f->kind == PROTO_ENUM && !f->symbols->symbols.n)
        return FAIL(err, E_INVALID, "Protobuf: enum '" STR_FMT "' has no values", STR_ARG(f->symbols->name));
    if (f->message)
        f->presence = !f->repeated;
    return OK;
}

Status proto_resolve(ProtoSchema *s, Error *err)
{
    for (size_t i = 0; i < s->messages.n; i++) {
        ProtoMessage *m = s->messages.entries[i].value;
        for vec_each(ProtoField, f, &m->fields)
            TRY(resolve_field(s, m, f, err));
        if (m->is_map && (m->fields.n != 2 || m->fields.p[0].number != 1 || m->fields.p[1].number != 2 || m->fields.p[0].message || m->fields.p[0].repeated || m->fields.p[1].repeated))
            return FAIL(err, E_INVALID, "Protobuf: '" STR_FMT "' is no entry of a map", STR_ARG(m->name));
    }
    return OK;
}

Status proto_message(const ProtoSchema *s, Str name, const ProtoMessage **ret, Error *err)
{
    size_t found = 0;

    if (str_starts(name, S(".")))
        name = str_from(name, 1);
    *ret = map_get(&s->messages, name);
    if (*ret)
        return OK;
    for (size_t i = 0; i < s->messages.n; i++) {
        Str whole = s->messages.entries[i].key;
        if (whole.n > name.n && str_ends(whole, name) && whole.p[whole.n - name.n - 1] == '.') {
            *ret = s->messages.entries[i].value;
            found++;
        }
    }
    if (found == 1)
        return OK;
    return FAIL(err, E_NOT_FOUND, "Message \"" STR_FMT "\" not found in file descriptor set%s", STR_ARG(str_sub(name, 0, 200)), found ? ", or found more than once" : "");
}
