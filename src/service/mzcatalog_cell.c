/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_cell.c - cells of mz_catalog's rows, and the world that they are read from: the realm and the objects, once a statement. */
#include "service/mzcatalog_int.h"

/* ---- cells -------------------------------------------------------------------------------------------------------------------- */

void mz_str(MzFill *f, Str s) { duck_append_str(f->ap, s); }
void mz_null(MzFill *f) { duck_append_null(f->ap); }

void mz_opt(MzFill *f, Str s)
{
    if (s.n)
        duck_append_str(f->ap, s);
    else
        duck_append_null(f->ap);
}

void mz_ident(MzFill *f, int64_t id)
{
    if (id)
        duck_append_str(f->ap, mz_id(f->a, id));
    else
        duck_append_null(f->ap);
}

static void value(MzFill *f, Value v) { duck_append(f->ap, &v); }

void mz_bool(MzFill *f, int truth) { value(f, (Value){ .kind = DT_BOOL, .boolean = truth != 0 }); }
void mz_int(MzFill *f, int64_t v) { duck_append_i64(f->ap, v); }
void mz_u64(MzFill *f, uint64_t v) { value(f, (Value){ .kind = DT_UINT64, .wide = v }); }
void mz_real(MzFill *f, double v) { value(f, (Value){ .kind = DT_DOUBLE, .real = v }); }

void mz_cents(MzFill *f, int64_t hundredths)
{
    static const DataType t = { .kind = DT_DECIMAL, .precision = 18, .scale = 2 };
    value(f, (Value){ .kind = DT_DECIMAL, .type = &t, .wide = hundredths });
}

void mz_time(MzFill *f, int64_t ms)
{
    if (ms < 0)
        mz_null(f);
    else
        value(f, (Value){ .kind = DT_TIMESTAMPTZ, .integer = ms * 1000 });
}

void mz_interval(MzFill *f, int64_t ms)
{
    if (ms < 0)
        mz_null(f);
    else
        value(f, (Value){ .kind = DT_INTERVAL, .interval = { .micros = ms * 1000 } });
}

void mz_json(MzFill *f, Str json)
{
    if (json.n)
        value(f, (Value){ .kind = DT_JSON, .string = json });
    else
        mz_null(f);
}

void mz_uuid(MzFill *f, Str text)
{
    StrBuf hex = sb_new(f->a);
    Str bytes;

    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '-')
            sb_byte(&hex, text.p[i]);
    if (hex_decode(f->a, sb_str(&hex), &bytes) && bytes.n == 16)
        value(f, (Value){ .kind = DT_UUID, .string = bytes });
    else
        mz_null(f);
}

void mz_list(MzFill *f, const StrVec *v)
{
    static const DataType text = { .kind = DT_STRING };
    static const DataType list = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&text };
    Value x = { .kind = DT_LIST, .type = &list };

    if (!v) {
        mz_null(f);
        return;
    }
    x.items.n = v->n;
    x.items.p = arena_array(f->a, Value, v->n + 1);
    for (size_t i = 0; i < v->n; i++)
        x.items.p[i] = (Value){ .kind = DT_STRING, .type = &text, .string = v->p[i] };
    value(f, x);
}

void mz_end(MzFill *f) { duck_end_row(f->ap); }

/* ---- the world -------------------------------------------------------------------------------------------------------------------- */

MzWorld *mz_world(Run *r)
{
    Error ignored;

    if (r->mz)
        return r->mz;
    MzWorld *w = r->mz = arena_new(r->a, MzWorld);
    *w = (MzWorld){ .made = map_new(r->a), .statements = map_new(r->a), .frontiers = map_new(r->a) };
    realm_databases(r->svc->realm, r->a, &w->databases);
    realm_schemas(r->svc->realm, r->a, &w->schemas);
    realm_clusters(r->svc->realm, r->a, &w->clusters);
    realm_roles(r->svc->realm, r->a, &w->roles);
    objects_list(r->svc->objects, r->a, &w->objects);
    if (connection_environment(r->svc, r->a, &w->environment, &ignored) != OK)
        w->environment = (Str){0};
    return w;
}

const RealmDatabase *mz_database_by_id(MzWorld *w, Str id)
{
    for vec_each(RealmDatabase, d, &w->databases)
        if (str_eq(d->id, id))
            return d;
    return NULL;
}

const RealmSchema *mz_schema_of(MzWorld *w, const Object *o)
{
    for vec_each(RealmSchema, s, &w->schemas) {
        const RealmDatabase *d = mz_database_by_id(w, s->database);
        if (str_eq(s->name, o->schema) && d && str_eq(d->name, o->database))
            return s;
    }
    return NULL;
}

const Object *mz_object_by_id(MzWorld *w, int64_t id)
{
    for vec_each(Object, o, &w->objects)
        if (o->id == id)
            return o;
    return NULL;
}

const Object *mz_object_by_name(MzWorld *w, const StrVec *name)
{
    for vec_each(Object, o, &w->objects)
        if (name->n == 3 && str_eq(o->name, name->p[2]) && str_eq(o->schema, name->p[1]) && str_eq(o->database, name->p[0]))
            return o;
    return NULL;
}

Str mz_id(Arena *a, int64_t id) { return str_fmt(a, "u%lld", (long long)id); }
Str mz_system_id(Arena *a, size_t relation) { return str_fmt(a, "s%zu", 1000 + relation); }

/* ---- oids: fixed ranges below those that names are hashed into (pgcatalog_fill.c) ---------------------------------------------------------- */

enum { OID_SYSTEM = 14000, OID_OBJECT = 20000, OID_DATABASE = 1000000, OID_SCHEMA = 1200000, OID_ROLE = 1400000, OID_RANGE = 200000, OID_OBJECTS = OID_DATABASE - OID_OBJECT };

uint32_t mz_object_oid(int64_t id) { return (uint32_t)(OID_OBJECT + id % OID_OBJECTS); }
uint32_t mz_system_oid(size_t relation) { return (uint32_t)(OID_SYSTEM + relation); }

uint32_t mz_realm_oid(char kind, Str id)
{
    static const struct { char kind; const char *id; uint32_t oid; } fixed[] = { { 's', "s2", 11 }, { 's', "s4", 13000 }, { 'r', REALM_SUPERUSER, 10 } };
    int64_t n = 0;

    str_to_i64(str_from(id, 1), &n);
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        if (kind == fixed[i].kind && str_eq(id, str_c(fixed[i].id)))
            return fixed[i].oid;
    uint32_t first = kind == 'd' ? OID_DATABASE : kind == 's' ? OID_SCHEMA : OID_ROLE;
    return first + (uint32_t)(id.n && id.p[0] == 's' ? OID_RANGE - 1000 + n % 1000 : n % (OID_RANGE - 1000));
}

/* ---- statements ------------------------------------------------------------------------------------------------------------------------ */

/* An object without a statement of its own: tables and views of earlier versions. */
static Str made_up_sql(MzFill *f, const Object *o)
{
    StrBuf b = sb_new(f->a);

    if (o->kind == OBJ_VIEW || o->kind == OBJ_MVIEW) {
        sb_fmt(&b, "CREATE %sVIEW " STR_FMT " AS " STR_FMT, o->kind == OBJ_MVIEW ? "MATERIALIZED " : "", STR_ARG(live_full(f->a, o)), STR_ARG(o->definition));
        return sb_str(&b);
    }
    if (o->kind != OBJ_TABLE)
        return (Str){0};
    sb_fmt(&b, "CREATE TABLE " STR_FMT " (", STR_ARG(live_full(f->a, o)));
    for (size_t i = 0; i < o->columns.n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, o->columns.p[i].name);
        sb_fmt(&b, " " STR_FMT "%s", STR_ARG(o->columns.p[i].type_name), o->columns.p[i].not_null ? " NOT NULL" : "");
    }
    sb_addc(&b, ")");
    return sb_str(&b);
}

static Str whole_sql(MzFill *f, const Object *o, LiveTextHow how)
{
    const LiveHooks *h = live_hooks(o->kind);
    Error ignored;
    Str text;

    if (h->text && h->text(f->r->svc, f->a, o, how, &text, &ignored) == OK)
        return text;
    return o->create_sql.n ? o->create_sql : made_up_sql(f, o);
}

const Stmt *mz_statement(MzFill *f, const Object *o)
{
    Str key = mz_id(f->a, o->id);
    StmtVec v = {0};
    Error ignored;

    if (map_has(&f->w->statements, key))
        return map_get(&f->w->statements, key);
    Str text = whole_sql(f, o, LIVE_TEXT_WHOLE);
    Stmt *s = text.n && sql_parse(f->a, DIALECT_POSTGRES, text, &v, &ignored) == OK && v.n == 1 ? v.p[0] : NULL;
    map_put(&f->w->statements, key, s);
    return s;
}

Str mz_create_sql(MzFill *f, const Object *o, LiveTextHow how)
{
    if (how == LIVE_TEXT_WHOLE)
        return whole_sql(f, o, how);
    const Stmt *s = mz_statement(f, o);
    return s ? sql_live_text(f->a, s, how) : (Str){0};
}

/* ---- privileges --------------------------------------------------------------------------------------------------------------------------- */

const char *mz_all_letters(ObjKind k)
{
    switch (k) {
    case OBJ_TABLE: return "arwd";
    case OBJ_VIEW: case OBJ_MVIEW: case OBJ_SOURCE: return "r";
    case OBJ_CONNECTION: case OBJ_SECRET: case OBJ_TYPE: return "U";
    default: return "";
    }
}

/* By ids, PUBLIC as nothing: "=U/s1". */
Str mz_acl(Arena *a, const RealmGrant *g)
{
    return str_fmt(a, STR_FMT "=" STR_FMT "/" STR_FMT, STR_ARG(str_eq(g->grantee, S(REALM_PUBLIC)) ? S("") : g->grantee), STR_ARG(g->letters), STR_ARG(g->grantor));
}

/* The owner holds all of them, said or not. */
void mz_acls(Arena *a, Str owner, const char *all, const RealmGrants *g, StrVec *ret)
{
    bool said = !*all;

    for vec_each(const RealmGrant, x, g) {
        said = said || str_eq(x->grantee, owner);
        vec_push(a, ret, mz_acl(a, x));
    }
    if (!said && owner.n)
        vec_push(a, ret, str_fmt(a, STR_FMT "=%s/" STR_FMT, STR_ARG(owner), all, STR_ARG(owner)));
}
