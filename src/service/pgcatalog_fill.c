/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_fill.c - one connection's objects into its temporary tables.
 *
 * Object ids are hashes of names, moved on where two collide: a name keeps its id as long as it keeps its neighbours, which
 * is all that clients need within a connection. */
#include "service/pgcatalog_int.h"

enum { OID_FIRST = 2000000, OID_ROOT_ROLE = 10, OID_PG_CATALOG = 11, OID_INFORMATION_SCHEMA = 13000, OID_PUBLIC = 2200 };

typedef struct Fill {
    Arena *a;
    DuckConn *c;
    Error *err;
    const PgCatObjects *o;
    Map taken;                                             /* oid as text */
    Map namespaces, roles;                                 /* name: oid */
} Fill;

/* ---- ids -------------------------------------------------------------------------------------------------------------------- */

static uint32_t hash_of(Str kind, Str x, Str y)
{
    uint32_t h = 2166136261u;
    Str parts[] = { kind, S("\1"), x, S("\1"), y };

    for (size_t k = 0; k < COUNT_OF(parts); k++)
        for (size_t i = 0; i < parts[k].n; i++)
            h = (h ^ (unsigned char)parts[k].p[i]) * 16777619u;
    return OID_FIRST + h % (0x7fffffffu - OID_FIRST);
}

static uint32_t new_oid(Fill *f, Str kind, Str x, Str y)
{
    for (uint32_t oid = hash_of(kind, x, y);; oid++) {
        Str key = str_fmt(f->a, "%u", oid);
        if (!map_has(&f->taken, key)) {
            map_put(&f->taken, key, f);
            return oid;
        }
    }
}

static uint32_t oid_in(const Map *m, Str name, uint32_t fallback)
{
    const uint32_t *oid = map_get(m, name);
    return oid ? *oid : fallback;
}

static uint32_t name_oid(Fill *f, Map *m, Str kind, Str name, uint32_t fixed)
{
    uint32_t *oid = arena_new(f->a, uint32_t);
    *oid = fixed ? fixed : new_oid(f, kind, name, S(""));
    map_put(m, name, oid);
    return *oid;
}

/* ---- types of columns -------------------------------------------------------------------------------------------------------- */

/* Types that are more than their kind; 0: it is none. The array of one is the next number, of one that was made a far one. A column of a made list or map has that type. */
static uint32_t marked_oid(const DataType *t, const DataType *e, int ndims)
{
    static const uint32_t ranges[RANGE_KINDS] = { [RANGE_INT4] = 3904, [RANGE_INT8] = 3926, [RANGE_NUM] = 3906, [RANGE_DATE] = 3912, [RANGE_TS] = 3908, [RANGE_TSTZ] = 3910 };
    uint32_t oid = ranges[data_type_range(e)];

    if (t->made)
        return t->made->oid;
    if (e->made)
        return ndims ? e->made->oid + MADE_ARRAY_OFFSET : e->made->oid;
    if (e->mark == MARK_BPCHAR)
        return ndims ? 1014 : 1042;
    if (e->mark == MARK_MAP)
        return ndims ? 0 : 16385;
    if (e->mark == MARK_MZ_TIMESTAMP)
        oid = 16552;
    else if (e->kind == DT_UINT16)
        oid = 16460;
    else if (e->kind == DT_UINT32 && e->precision)
        oid = 16462;
    return oid && ndims ? oid + 1 : oid;
}

static uint32_t type_oid(const DataType *t, int *ndims)
{
    static const struct { uint32_t oid, array; } oids[] = {
        [DT_BOOL] = { 16, 1000 }, [DT_INT8] = { 21, 1005 }, [DT_INT16] = { 21, 1005 }, [DT_INT32] = { 23, 1007 }, [DT_INT64] = { 20, 1016 },
        [DT_INT128] = { 1700, 1231 }, [DT_UINT8] = { 21, 1005 }, [DT_UINT16] = { 23, 1007 }, [DT_UINT32] = { 26, 1028 },
        [DT_UINT64] = { 16464, 16465 }, [DT_UINT128] = { 1700, 1231 }, [DT_FLOAT] = { 700, 1021 }, [DT_DOUBLE] = { 701, 1022 },
        [DT_DECIMAL] = { 1700, 1231 }, [DT_BINARY] = { 17, 1001 }, [DT_DATE] = { 1082, 1182 }, [DT_TIME] = { 1083, 1183 },
        [DT_TIMESTAMP] = { 1114, 1115 }, [DT_TIMESTAMPTZ] = { 1184, 1185 }, [DT_TIMESTAMP_NS] = { 1114, 1115 },
        [DT_TIMETZ] = { 1266, 1270 }, [DT_INTERVAL] = { 1186, 1187 }, [DT_UUID] = { 2950, 2951 }, [DT_JSON] = { 114, 199 },
        [DT_MAP] = { 114, 199 }, [DT_STRUCT] = { 2249, 2287 },
    };
    const DataType *e = t;

    for (*ndims = 0; e->kind == DT_LIST; e = &e->children[0])
        ++*ndims;
    if (marked_oid(t, e, *ndims))
        return marked_oid(t, e, *ndims);
    bool bounded = e->kind == DT_STRING && e->length > 0;
    uint32_t oid = bounded ? 1043 : (size_t)e->kind < COUNT_OF(oids) && oids[e->kind].oid ? oids[e->kind].oid : 25;
    uint32_t array = bounded ? 1015 : oid == 25 ? 1009 : oids[e->kind].array;
    return *ndims ? array : oid;
}

static int32_t typmod_of(const DataType *t)
{
    while (t->kind == DT_LIST)
        t = &t->children[0];
    if (t->kind == DT_DECIMAL && t->precision > 0 && t->mark != MARK_NUMERIC)
        return (t->precision << 16 | t->scale) + 4;
    return t->kind == DT_STRING && t->length > 0 ? t->length + 4 : -1;
}

uint32_t pgcat_type_oid(const DataType *t)
{
    int ndims;
    return type_oid(t, &ndims);
}

int32_t pgcat_typmod(const DataType *t) { return typmod_of(t); }

/* ---- rows ------------------------------------------------------------------------------------------------------------------------ */

static Status begin(Fill *f, PgcatTemp which, DuckAppender **ret)
{
    const PgcatTable *t = &pgcat_temps[which];
    VEC(DuckColumn) columns = { 0 };
    DuckColumn c;

    for (Str rest = str_c(t->columns); pgcat_next_column(&rest, &c.name, &c.type);)
        vec_push(f->a, &columns, c);
    return duck_temp_table(f->c, str_c(t->name), columns.p, columns.n, ret, f->err);
}

static void append_text(DuckAppender *ap, Str s)
{
    if (s.p && s.n)
        duck_append_str(ap, s);
    else
        duck_append_null(ap);
}

static void append_opt(DuckAppender *ap, OptI64 v)
{
    if (v.has)
        duck_append_i64(ap, v.v);
    else
        duck_append_null(ap);
}

static void append_value(DuckAppender *ap, Value v) { duck_append(ap, &v); }
static void append_bool(DuckAppender *ap, bool truth) { append_value(ap, (Value){ .kind = DT_BOOL, .boolean = truth }); }

static void role_row(Fill *f, DuckAppender *ap, PgCatRole r)
{
    if (!r.name.n || map_has(&f->roles, r.name))
        return;
    duck_append_i64(ap, name_oid(f, &f->roles, S("role"), r.name, r.oid));
    duck_append_str(ap, r.name);
    append_bool(ap, r.super);
    append_bool(ap, r.inherit);
    append_bool(ap, r.login);
    duck_end_row(ap);
}

static PgCatRole named_role(Str name, uint32_t oid) { return (PgCatRole){ .name = name, .oid = oid, .super = 1, .inherit = 1, .login = 1 }; }

static Status fill_roles(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_ROLE, &ap));
    for vec_each(PgCatRole, r, &f->o->numbered_roles)
        role_row(f, ap, *r);
    role_row(f, ap, named_role(f->o->user, OID_ROOT_ROLE));            /* who is asking owns what nobody else does */
    for vec_each(Str, r, &f->o->roles)
        role_row(f, ap, named_role(*r, 0));
    for vec_each(PgCatRelation, r, &f->o->relations)
        role_row(f, ap, named_role(r->owner, 0));
    return duck_append_done(ap, f->err);
}

static Status fill_members(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_MEMBER, &ap));
    for vec_each(PgCatMember, m, &f->o->members) {
        duck_append_i64(ap, m->role);
        duck_append_i64(ap, m->member);
        duck_append_i64(ap, m->grantor);
        duck_end_row(ap);
    }
    return duck_append_done(ap, f->err);
}

static void reach_row(DuckAppender *ap, uint32_t role, uint32_t via)
{
    duck_append_i64(ap, role);
    duck_append_i64(ap, via);
    duck_end_row(ap);
}

/* Depth first; a circle of members ends where it began. */
static void reach(Fill *f, DuckAppender *ap, uint32_t role, uint32_t via, Map *seen)
{
    Str key = str_fmt(f->a, "%u", via);

    if (map_has(seen, key))
        return;
    map_put(seen, key, f);
    reach_row(ap, role, via);
    for vec_each(PgCatMember, m, &f->o->members)
        if (m->member == via)
            reach(f, ap, role, m->role, seen);
}

static Status fill_reach(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_REACH, &ap));
    for vec_each(PgCatRole, r, &f->o->numbered_roles) {
        Map seen = map_new(f->a);
        reach(f, ap, r->oid, r->oid, &seen);
        reach_row(ap, r->oid, 0);
    }
    return duck_append_done(ap, f->err);
}

static Status fill_acls(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_ACL, &ap));
    for vec_each(PgCatAcl, x, &f->o->acls)
        for (size_t i = 0; i < x->letters.n; i++) {
            duck_append_str(ap, str_n(&x->kind, 1));
            duck_append_i64(ap, x->object);
            duck_append_str(ap, x->name);
            duck_append_i64(ap, x->grantee);
            duck_append_str(ap, str_sub(x->letters, i, i + 1));
            duck_end_row(ap);
        }
    return duck_append_done(ap, f->err);
}

static void namespace_row(Fill *f, DuckAppender *ap, Str name, uint32_t fixed, Str owner)
{
    if (map_has(&f->namespaces, name))
        return;
    duck_append_i64(ap, name_oid(f, &f->namespaces, S("namespace"), name, fixed));
    duck_append_str(ap, name);
    duck_append_i64(ap, oid_in(&f->roles, owner, OID_ROOT_ROLE));
    duck_end_row(ap);
}

static Status fill_namespaces(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_NS, &ap));
    namespace_row(f, ap, S("pg_catalog"), OID_PG_CATALOG, (Str){0});
    namespace_row(f, ap, S("information_schema"), OID_INFORMATION_SCHEMA, (Str){0});
    for vec_each(PgCatNamed, n, &f->o->numbered_namespaces)
        namespace_row(f, ap, n->name, n->oid, n->owner);
    for vec_each(Str, n, &f->o->namespaces)
        namespace_row(f, ap, *n, str_eq(*n, S("public")) ? OID_PUBLIC : 0, (Str){0});
    for vec_each(PgCatRelation, r, &f->o->relations)
        namespace_row(f, ap, r->namespace, 0, (Str){0});
    return duck_append_done(ap, f->err);
}

static Status fill_databases(Fill *f)
{
    Map seen = map_new(f->a);
    DuckAppender *ap;

    TRY(begin(f, PGT_DB, &ap));
    for vec_each(PgCatNamed, d, &f->o->numbered_databases) {
        duck_append_i64(ap, name_oid(f, &seen, S("database"), d->name, d->oid));
        duck_append_str(ap, d->name);
        duck_end_row(ap);
    }
    for (size_t i = 0; i <= f->o->databases.n; i++) {
        Str name = i ? f->o->databases.p[i - 1] : f->o->database;
        if (!name.n || map_has(&seen, name))
            continue;
        duck_append_i64(ap, name_oid(f, &seen, S("database"), name, 0));
        duck_append_str(ap, name);
        duck_end_row(ap);
    }
    return duck_append_done(ap, f->err);
}

static void append_list(Fill *f, DuckAppender *ap, const StrVec *v)
{
    static const DataType text = { .kind = DT_STRING }, list = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&text };
    Value x = { .kind = DT_LIST, .type = &list, .items = { .p = arena_array(f->a, Value, v->n + 1), .n = v->n } };

    for (size_t i = 0; i < v->n; i++)
        x.items.p[i] = (Value){ .kind = DT_STRING, .type = &text, .string = v->p[i] };
    if (v->n)
        duck_append(ap, &x);
    else
        duck_append_null(ap);
}

/* of, keys */
static void append_index(Fill *f, DuckAppender *ap, const PgCatRelation *r)
{
    static const DataType i16 = { .kind = DT_INT16 }, list = { .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&i16 };
    Value x = { .kind = DT_LIST, .type = &list, .items = { .p = arena_array(f->a, Value, r->index_keys.n + 1), .n = r->index_keys.n } };

    if (r->kind != 'i') {
        append_opt(ap, r->kind == 'c' ? SOME_I64(r->index_of) : (OptI64){ 0 });
        duck_append_null(ap);
        return;
    }
    for (size_t i = 0; i < r->index_keys.n; i++)
        x.items.p[i] = (Value){ .kind = DT_INT16, .type = &i16, .integer = r->index_keys.p[i] };
    duck_append_i64(ap, r->index_of);
    duck_append(ap, &x);
}

static void relation_row(Fill *f, DuckAppender *ap, const PgCatRelation *r, uint32_t oid)
{
    char kind[2] = { r->kind, 0 };

    duck_append_i64(ap, oid);
    duck_append_str(ap, r->name);
    duck_append_i64(ap, oid_in(&f->namespaces, r->namespace, OID_PG_CATALOG));
    duck_append_str(ap, str_c(kind));
    duck_append_i64(ap, oid_in(&f->roles, r->owner, OID_ROOT_ROLE));
    duck_append_i64(ap, (int64_t)r->columns.n);
    append_bool(ap, !f->o->current_schema.n || str_eq(f->o->current_schema, r->namespace));
    append_text(ap, r->definition);
    append_opt(ap, r->bytes);
    if (r->rows.has)
        append_value(ap, (Value){ .kind = DT_DOUBLE, .real = (double)r->rows.v });
    else
        duck_append_null(ap);
    append_text(ap, r->comment);
    append_index(f, ap, r);
    append_list(f, ap, &r->acl);
    duck_end_row(ap);
}

static void column_row(DuckAppender *ap, uint32_t rel, size_t num, const PgCatColumn *c)
{
    int ndims;
    uint32_t type = type_oid(&c->type, &ndims);

    duck_append_i64(ap, rel);
    duck_append_i64(ap, (int64_t)num);
    duck_append_str(ap, c->name);
    duck_append_i64(ap, type);
    duck_append_i64(ap, typmod_of(&c->type));
    duck_append_i64(ap, ndims);
    append_bool(ap, c->not_null != 0);
    append_text(ap, c->default_);
    append_text(ap, c->comment);
    duck_end_row(ap);
}

static Status fill_relations(Fill *f)
{
    const PgCatObjects *o = f->o;
    uint32_t *oids = arena_array(f->a, uint32_t, o->relations.n + 1);
    DuckAppender *ap;

    TRY(begin(f, PGT_REL, &ap));
    for (size_t i = 0; i < o->relations.n; i++) {
        oids[i] = o->relations.p[i].oid ? o->relations.p[i].oid : new_oid(f, S("relation"), o->relations.p[i].namespace, o->relations.p[i].name);
        relation_row(f, ap, &o->relations.p[i], oids[i]);
    }
    TRY(duck_append_done(ap, f->err));
    TRY(begin(f, PGT_COL, &ap));
    for (size_t i = 0; i < o->relations.n; i++)
        for (size_t k = 0; k < o->relations.p[i].columns.n && k < INT16_MAX; k++)
            column_row(ap, oids[i], k + 1, &o->relations.p[i].columns.p[k]);
    return duck_append_done(ap, f->err);
}

static Status fill_made(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_MADE, &ap));
    for vec_each(PgCatMade, m, &f->o->made) {
        duck_append_i64(ap, m->oid);
        duck_append_str(ap, m->name);
        duck_append_i64(ap, oid_in(&f->namespaces, m->namespace, OID_PG_CATALOG));
        duck_append_i64(ap, oid_in(&f->roles, m->owner, OID_ROOT_ROLE));
        duck_append_str(ap, str_n(&m->kind, 1));
        duck_append_i64(ap, m->relation);
        duck_append_i64(ap, m->element);
        duck_append_i64(ap, m->array);
        duck_end_row(ap);
    }
    return duck_append_done(ap, f->err);
}

static Status fill_settings(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_SETTING, &ap));
    for vec_each(KeyValue, kv, &f->o->settings) {
        duck_append_str(ap, kv->key);
        duck_append_str(ap, kv->value);
        duck_end_row(ap);
    }
    return duck_append_done(ap, f->err);
}

static Status fill_session(Fill *f)
{
    DuckAppender *ap;

    TRY(begin(f, PGT_SESSION, &ap));
    duck_append_str(ap, f->o->current_schema);
    duck_append_str(ap, f->o->database);
    duck_append_str(ap, f->o->user);
    duck_append_i64(ap, f->o->backend_pid);
    append_value(ap, (Value){ .kind = DT_TIMESTAMPTZ, .integer = f->o->started_us.has ? f->o->started_us.v : clock_us() });
    append_text(ap, f->o->environment);
    append_bool(ap, f->o->superuser != 0);
    duck_end_row(ap);
    return duck_append_done(ap, f->err);
}

Status pgcat_fill(DuckConn *c, const PgCatObjects *objects, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Fill f = { .a = a, .c = c, .err = err, .o = objects, .taken = map_new(a), .namespaces = map_new(a), .roles = map_new(a) };

    TRY(fill_roles(&f));
    TRY(fill_members(&f));
    TRY(fill_reach(&f));
    TRY(fill_acls(&f));
    TRY(fill_namespaces(&f));
    TRY(fill_databases(&f));
    TRY(fill_relations(&f));
    TRY(fill_made(&f));
    TRY(fill_settings(&f));
    return fill_session(&f);
}
