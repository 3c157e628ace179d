/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_pg.c - the live side in pg_catalog and information_schema: schemas, roles and databases of the realm, relations and indexes of the session's database.
 *
 * Ids are those of mz_catalog.  System relations of mz_catalog and mz_internal are there, too, but not visible without their schema: \d lists what is the user's. */
#include "service/mzcatalog_int.h"

static bool is_relation(ObjKind k) { return k == OBJ_TABLE || k == OBJ_VIEW || k == OBJ_MVIEW || k == OBJ_SOURCE; }
static char kind_of(ObjKind k) { return k == OBJ_VIEW ? 'v' : k == OBJ_MVIEW ? 'm' : 'r'; }

static void add_places(Run *r, MzWorld *w, PgCatObjects *ret)
{
    for vec_each(RealmDatabase, d, &w->databases)
        vec_push(r->a, &ret->numbered_databases, ((PgCatNamed){ d->name, mz_realm_oid('d', d->id), realm_role_name(r->svc->realm, r->a, d->owner) }));
    for vec_each(RealmSchema, s, &w->schemas) {
        const RealmDatabase *d = mz_database_by_id(w, s->database);
        if (!d || str_eq(d->name, live_database(r)))
            vec_push(r->a, &ret->numbered_namespaces, ((PgCatNamed){ s->name, mz_realm_oid('s', s->id), realm_role_name(r->svc->realm, r->a, s->owner) }));
    }
}

static void add_roles(Run *r, MzWorld *w, PgCatObjects *ret)
{
    for vec_each(RealmRole, x, &w->roles) {
        vec_push(r->a, &ret->numbered_roles, ((PgCatRole){ .name = x->name, .oid = mz_realm_oid('r', x->id), .super = x->superuser, .inherit = x->inherit, .login = x->login }));
        for (size_t i = 0; i < x->member_of.n; i++)
            vec_push(r->a, &ret->members, ((PgCatMember){ mz_realm_oid('r', x->member_of.p[i].role), mz_realm_oid('r', x->id), mz_realm_oid('r', x->member_of.p[i].grantor) }));
    }
}

static void add_columns(Run *r, const Object *o, PgCatRelation *rel)
{
    for (size_t k = 0; k < o->columns.n; k++) {
        PgCatColumn c = { .name = o->columns.p[k].name, .type = o->columns.p[k].type, .not_null = o->columns.p[k].not_null, .default_ = o->columns.p[k].default_,
                          .comment = props_get(&o->column_comments, o->columns.p[k].name, (Str){0}) };
        vec_push(r->a, &rel->columns, c);
    }
}

/* By names of roles, as PostgreSQL's aclitem. */
static void add_acl(Run *r, const Object *o, PgCatRelation *rel)
{
    for vec_each(const RealmGrant, g, &o->grants)
        vec_push(r->a, &rel->acl, realm_grant_text(r->svc->realm, r->a, g));
}

/* ---- who may do what, for has_…_privilege ---------------------------------------------------------------------------------------------- */

typedef struct On { char kind; uint32_t object; Str name, owner; const char *all; } On;

static uint32_t grantee_oid(Str id) { return str_eq(id, S(REALM_PUBLIC)) ? 0 : mz_realm_oid('r', id); }

/* The owner holds all. */
static void add_acls(Run *r, On on, const RealmGrants *g, PgCatObjects *ret)
{
    PgCatAcl x = { .kind = on.kind, .object = on.object, .name = on.name };

    x.grantee = grantee_oid(on.owner);
    x.letters = str_c(on.all);
    if (on.owner.n)
        vec_push(r->a, &ret->acls, x);
    for vec_each(const RealmGrant, y, g) {
        x.grantee = grantee_oid(y->grantee);
        x.letters = y->letters;
        vec_push(r->a, &ret->acls, x);
    }
}

static void add_rights(Run *r, MzWorld *w, PgCatObjects *ret)
{
    RealmGrants system = {0};

    realm_system_grants(r->svc->realm, r->a, &system);
    add_acls(r, (On){ 'y', 0, (Str){0}, (Str){0}, "" }, &system, ret);
    for vec_each(RealmCluster, c, &w->clusters)
        add_acls(r, (On){ 'c', 0, c->name, c->owner, "UC" }, &c->grants, ret);
    for vec_each(RealmDatabase, d, &w->databases)
        add_acls(r, (On){ 'd', mz_realm_oid('d', d->id), d->name, d->owner, "UC" }, &d->grants, ret);
    for vec_each(RealmSchema, s, &w->schemas)
        add_acls(r, (On){ 's', mz_realm_oid('s', s->id), (Str){0}, s->owner, "UC" }, &s->grants, ret);
    for vec_each(Object, o, &w->objects)
        add_acls(r, (On){ is_relation(o->kind) ? 'r' : 'i', mz_object_oid(o->id), (Str){0}, o->owner, mz_all_letters(o->kind) }, &o->grants, ret);
    for (size_t i = 0; i < mz_nrelations(); i++)
        vec_push(r->a, &ret->acls, ((PgCatAcl){ 'r', mz_system_oid(i), (Str){0}, 0, S("r") }));
}

static PgCatRelation relation_of(Run *r, const Object *o)
{
    return (PgCatRelation){ .namespace = o->schema, .name = o->name, .owner = realm_role_name(r->svc->realm, r->a, o->owner), .comment = o->comment,
                            .definition = o->definition, .kind = kind_of(o->kind), .oid = mz_object_oid(o->id) };
}

static void add_relation(Run *r, const Object *o, PgCatObjects *ret)
{
    PgCatRelation rel = relation_of(r, o);

    add_columns(r, o, &rel);
    add_acl(r, o, &rel);
    vec_push(r->a, &ret->relations, rel);
}

static int64_t column_number(const Object *on, const Expr *e)
{
    for (size_t k = 0; e->kind == EX_COLUMN && k < on->columns.n; k++)
        if (str_eq(on->columns.p[k].name, vec_last(&e->name)))
            return (int64_t)k + 1;
    return 0;
}

static void index_key(Run *r, const Object *on, const Expr *e, Str text, PgCatRelation *rel)
{
    int64_t n = column_number(on, e);
    PgCatColumn c = { .name = text, .type = { .kind = DT_STRING } };

    if (n)
        c = (PgCatColumn){ .name = on->columns.p[n - 1].name, .type = on->columns.p[n - 1].type };
    vec_push(r->a, &rel->index_keys, n);
    vec_push(r->a, &rel->columns, c);
}

static void add_index(MzFill *f, const Object *o, PgCatObjects *ret)
{
    Run *r = f->r;
    const Object *on = o->uses.n ? mz_object_by_id(f->w, o->uses.p[0]) : NULL;
    const Stmt *s = on ? mz_statement(f, o) : NULL;
    PgCatRelation rel = relation_of(r, o);

    if (!s || !s->live)
        return;
    rel.kind = 'i';
    rel.index_of = mz_object_oid(on->id);
    rel.definition = mz_create_sql(f, o, LIVE_TEXT_WHOLE);
    for (size_t i = 0; i < s->live->exprs.n; i++)
        index_key(r, on, s->live->exprs.p[i], s->live->expr_texts.p[i], &rel);
    vec_push(r->a, &ret->relations, rel);
}

static void add_system(Run *r, size_t i, PgCatObjects *ret)
{
    const MzRelation *m = &mz_relations[i];
    PgCatRelation rel = { .namespace = str_c(m->schema), .name = str_c(m->name), .owner = S("mz_system"), .kind = m->sql ? 'v' : 'r', .oid = mz_system_oid(i) };
    Str rest = str_c(m->columns), name;
    bool not_null;
    char letter;

    while (mz_next_column(&rest, &name, &letter, &not_null))
        vec_push(r->a, &rel.columns, ((PgCatColumn){ .name = name, .type = mz_letter_type(letter), .not_null = not_null }));
    vec_push(r->a, &ret->relations, rel);
}

static void user_name(Run *r, MzWorld *w, PgCatObjects *ret)
{
    Error absent;
    Str id;

    if (live_role(r, &id, &absent) == OK)
        for vec_each(RealmRole, x, &w->roles)
            if (str_eq(x->id, id)) {
                ret->user = x->name;
                ret->superuser = x->superuser;
            }
}

enum { MADE_RELATION_OFFSET = 1800000 };                      /* of the fields of a record type, behind the type's own number */

/* A type, its array, and for a record the relation of its fields. */
static void add_type(Run *r, const Object *o, PgCatObjects *ret)
{
    Str owner = realm_role_name(r->svc->realm, r->a, o->owner);
    char kind = str_eq(o->type, S("list")) ? 'l' : str_eq(o->type, S("map")) ? 'm' : 'c';
    PgCatMade m = { .name = o->name, .namespace = o->schema, .owner = owner, .oid = mz_object_oid(o->id), .kind = kind, .array = mz_object_oid(o->id) + MADE_ARRAY_OFFSET };
    PgCatMade array = { .name = str_fmt(r->a, "_" STR_FMT, STR_ARG(o->name)), .namespace = o->schema, .owner = owner, .oid = m.array, .element = m.oid, .kind = 'b' };

    if (kind == 'c') {
        PgCatRelation rel = { .namespace = o->schema, .name = o->name, .kind = 'c', .oid = m.oid + MADE_RELATION_OFFSET, .index_of = m.oid, .owner = owner };
        m.relation = rel.oid;
        add_columns(r, o, &rel);
        vec_push(r->a, &ret->relations, rel);
    }
    vec_push(r->a, &ret->made, m);
    vec_push(r->a, &ret->made, array);
}

void pgcat_live(Run *r, PgCatObjects *ret)
{
    MzWorld *w = mz_world(r);
    MzFill f = { .r = r, .a = r->a, .w = w };
    StrVec path = {0};

    live_search_path(r, &path);
    ret->current_schema = path.n ? path.p[0] : S("public");
    user_name(r, w, ret);
    ret->environment = w->environment;
    ret->started_us = SOME_I64(r->svc->started_ms * 1000);
    add_places(r, w, ret);
    add_roles(r, w, ret);
    add_rights(r, w, ret);
    for vec_each(Object, o, &w->objects) {
        if (!str_eq(o->database, live_database(r)))
            continue;
        if (is_relation(o->kind))
            add_relation(r, o, ret);
        else if (o->kind == OBJ_INDEX)
            add_index(&f, o, ret);
        else if (o->kind == OBJ_TYPE)
            add_type(r, o, ret);
    }
    for (size_t i = 0; i < mz_nrelations(); i++)
        add_system(r, i, ret);
}
