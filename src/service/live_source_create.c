/* SPDX-License-Identifier: Apache-2.0 */
/* live_source_create.c - CREATE SOURCE, CREATE TABLE … FROM SOURCE, ALTER SOURCE.
 *
 * The connector says which outputs there are; the source itself is a relation when one of them has no name, others become subsources (FOR ALL TABLES, FOR TABLES, FOR SCHEMAS) or
 * tables.  Order: relations in live/, then the names, then the thread; a drop goes the other way.
 * Statements ask outside first and store in one step what they found: nobody waits for a slow server. */
#include "service/live_source.h"
#include "service/live_connection.h"

/* ---- outputs to objects ------------------------------------------------------------------------------------------------------------ */

static void set_output(Run *r, Object *o, const SourceOutput *out)
{
    Json *x = json_object(r->a), *key = json_array(r->a);

    if (!o->detail)
        o->detail = json_object(r->a);
    json_set(r->a, x, "name", json_str(r->a, out->name));
    json_set(r->a, x, "external", json_str(r->a, out->external));
    json_set(r->a, x, "pinned", json_str(r->a, out->pinned));
    for (size_t i = 0; i < out->key.n; i++)
        json_push(r->a, key, json_str(r->a, out->key.p[i]));
    json_set(r->a, x, "key", key);
    json_set(r->a, o->detail, "output", x);
    o->columns = (ObjColumns){0};
    for (size_t i = 0; i < out->columns.n; i++) {
        const SourceColumn *c = &out->columns.p[i];
        ObjColumn col = { .name = c->name, .engine = str_fmt(r->a, "c%zu", i + 1), .type = c->type, .type_name = c->sql_type.n ? c->sql_type : sql_type_name(r->a, DIALECT_POSTGRES, &c->type), .not_null = c->not_null };
        vec_push(r->a, &o->columns, col);
    }
}

static Object part_of(Run *r, const Object *source, ObjKind kind, const LiveName *n, const char *type, const SourceOutput *out)
{
    Object o = live_object(r, kind, n);

    o.type = str_c(type);
    o.uses.n = 0;
    live_use(r->a, &o, source->id);
    set_output(r, &o, out);
    json_set(r->a, o.detail, "source", json_int(r->a, source->id));
    return o;
}

typedef struct Made { Object *p; size_t n, cap; } Made;

static Status make_relations(Service *s, Arena *a, const Made *m, Error *err)
{
    for (size_t i = 0; i < m->n; i++) {
        LiveColumns cols = {0};
        if (!json_get(m->p[i].detail, "output"))
            continue;
        for (size_t k = 0; k < m->p[i].columns.n; k++) {
            LiveColumn c = { .engine = m->p[i].columns.p[k].engine, .type = m->p[i].columns.p[k].type };
            vec_push(a, &cols, c);
        }
        TRY(live_table_create(s->live, m->p[i].id, &cols, err));
    }
    return OK;
}

static void drop_relations(Service *s, const Made *m)
{
    Error ignored;
    for (size_t i = 0; i < m->n; i++)
        (void)!live_drop(s->live, &m->p[i].id, 1, &ignored);
}

static Status store(Run *r, const Made *m, Error *err)
{
    Status s = make_relations(r->svc, r->a, m, err);

    if (s == OK) {
        realm_ddl_begin(r->svc->realm);
        s = live_store(r, m->p, m->n, LIVE_CREATED, err);
        realm_ddl_end(r->svc->realm);
    }
    if (s != OK)
        drop_relations(r->svc, m);
    return s;
}

/* ---- asking the connector ------------------------------------------------------------------------------------------------------------------ */

static Status discover(Run *r, Str type, const Json *options, SourceOutputs *ret, Error *err)
{
    const SourceConnector *c = source_connector(type);
    SourceSpec spec = { .type = type, .ctx = r->svc, .catalog = source_catalog_of };
    Json *resolved;

    if (!c || !c->discover)
        return live_refuse(FAIL(err, E_UNSUPPORTED, STR_FMT " sources are not supported", STR_ARG(type)), "0A000", err);
    TRY(source_resolve(r->svc, r->a, options, &resolved, err));
    spec.options = resolved;
    return c->discover(r->a, &spec, ret, err);
}

static Status rename_columns(Run *r, SourceOutputs *outputs, Error *err)
{
    const StrVec *names = &r->st->column_names;

    if (!names->n)
        return OK;
    if (outputs->n != 1 || outputs->p[0].columns.n != names->n)
        return live_refuse(FAIL(err, E_INVALID, "column list specifies %zu names, but the source has %zu columns", names->n, outputs->n == 1 ? outputs->p[0].columns.n : 0), "42601", err);
    for (size_t i = 0; i < names->n; i++) {
        SourceOutput *o = &outputs->p[0];
        for (size_t k = 0; k < o->key.n; k++)
            if (str_eq(o->key.p[k], o->columns.p[i].name))
                o->key.p[k] = names->p[i];
        o->columns.p[i].name = names->p[i];
    }
    return OK;
}

/* ---- CREATE SOURCE ----------------------------------------------------------------------------------------------------------------------------- */

/* In the source's schema, unless FOR TABLES (x AS a.b) says otherwise. */
static Status part_name(Run *r, const Object *source, const SourceOutput *out, size_t i, LiveName *ret, Error *err)
{
    const LiveStmt *l = r->st->live;
    int live;

    *ret = (LiveName){ source->database, source->schema, out->name };
    if (i >= l->tables.n || !l->tables.p[i].name.n)
        return OK;
    if (l->tables.p[i].name.n == 1) {
        ret->name = l->tables.p[i].name.p[0];
        return OK;
    }
    TRY(live_name_new(r, &l->tables.p[i].name, ret, &live, err));
    return live ? OK : live_refuse(FAIL(err, E_NOT_FOUND, "unknown schema '" STR_FMT "'", STR_ARG(l->tables.p[i].name.p[0])), "3F000", err);
}

static Status add_part(Run *r, const Object *source, ObjKind kind, const LiveName *n, const char *type, const SourceOutput *out, Made *m, Error *err)
{
    LivePlace p;

    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->p[i].name, n->name) && str_eq(m->p[i].schema, n->schema) && str_eq(m->p[i].database, n->database)) {
            RAISE(err, E_EXISTS, "multiple subsources would be named " STR_FMT, STR_ARG(n->name));
            error_hint(err, "Use FOR TABLES (… AS …) to give them names of their own.");
            return live_refuse(E_EXISTS, "42710", err);
        }
    TRY(live_place_at(r, kind, n, &p, err));
    if (p.taken)
        return live_refuse(FAIL(err, E_EXISTS, "catalog item \"" STR_FMT "\" already exists", STR_ARG(live_full_name(r->a, n))), "42710", err);
    vec_push(r->a, m, part_of(r, source, kind, n, type, out));
    return OK;
}

static Status add_progress(Run *r, const Object *source, Made *m, Error *err)
{
    Str column = str_eq(source->type, S("postgres")) ? S("lsn") : S("offset");
    SourceOutput out = { .external = S(SOURCE_PROGRESS) };
    SourceColumn c = { .name = column, .type = { .kind = DT_UINT64 }, .sql_type = S("uint8") };
    Str name = r->st->live->progress.n ? r->st->live->progress : str_cat(r->a, source->name, S("_progress"));

    if (!str_eq(source->type, S("postgres")) && !str_eq(source->type, S("load-generator")))
        return OK;
    vec_push(r->a, &out.columns, c);
    return add_part(r, source, OBJ_SOURCE, &(LiveName){ source->database, source->schema, name }, "progress", &out, m, err);
}

static Status check_tables(Run *r, const SourceOutputs *outputs, Error *err)
{
    const LiveStmt *l = r->st->live;
    bool single = outputs->n == 1 && !outputs->p[0].name.n;

    if (single && l->all_tables)
        return FAIL(err, E_INVALID, "FOR ALL TABLES is only valid for multi-output sources");
    if (single && (l->tables.n || l->schemas.n))
        return FAIL(err, E_INVALID, "FOR %s (..) is only valid for multi-output sources", l->tables.n ? "TABLES" : "SCHEMAS");
    return OK;
}

static Status add_outputs(Run *r, Made *m, const SourceOutputs *outputs, Error *err)
{
    const LiveStmt *l = r->st->live;
    const Object source = m->p[0];
    LiveName n;

    TRY(check_tables(r, outputs, err));
    TRY(add_progress(r, &source, m, err));
    for (size_t i = 0; i < outputs->n; i++) {
        if (!outputs->p[i].name.n) {
            set_output(r, &m->p[0], &outputs->p[i]);
            continue;
        }
        if (!l->all_tables && !l->tables.n && !l->schemas.n)
            continue;                                 /* CREATE TABLE … FROM SOURCE will take them */
        TRY(part_name(r, &source, &outputs->p[i], i, &n, err));
        TRY(add_part(r, &source, OBJ_SOURCE, &n, "subsource", &outputs->p[i], m, err));
    }
    return OK;
}

/* The statement as it would be written in full. */
static Str text_of(Run *r, const Object *o)
{
    LiveStmt l = *r->st->live;
    Stmt st = *r->st;
    Object used;
    Error gone;

    st.live = &l;
    st.name = live_parts(r->a, o);
    st.if_not_exists = 0;
    if (l.connection.n && live_find_object(r, r->a, &l.connection, &used, &gone) == OK)
        l.connection = live_parts(r->a, &used);
    if (l.from.n && live_find_object(r, r->a, &l.from, &used, &gone) == OK)
        l.from = live_parts(r->a, &used);
    l.cluster = (StrVec){0};
    if (o->cluster.n)
        vec_push(r->a, &l.cluster, realm_cluster_name(r->svc->realm, r->a, o->cluster));
    return sql_live_text(r->a, &st, LIVE_TEXT_WHOLE);
}

static Status webhook_check(Run *r, const Object *o, const Json *options, Error *err)
{
    Json *resolved;

    if (!str_eq(o->type, S("webhook")))
        return OK;
    TRY(source_resolve(r->svc, r->a, options, &resolved, err));
    return webhook_check_bind(r->a, r->c, resolved, err);
}

Status live_create_source(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    ObjKind kind = r->st->live->kind == LK_TABLE ? OBJ_TABLE : OBJ_SOURCE;                /* CREATE TABLE … FROM WEBHOOK */
    SourceOutputs outputs = {0};
    RealmCluster cluster = {0};
    Made m = {0};
    Json *options;
    LivePlace p;

    ret->done = 1;
    TRY(live_place(r, kind, &p, err));
    if (p.done)
        return OK;
    if (kind == OBJ_SOURCE)
        TRY(live_need_cluster(r, &r->st->live->cluster, &cluster, err));
    Object o = live_object(r, kind, &p.name);
    o.cluster = cluster.id;
    TRY(source_options_of(r, &o, &options, err));
    TRY(discover(r, o.type, options, &outputs, err));
    TRY(webhook_check(r, &o, options, err));
    TRY(rename_columns(r, &outputs, err));
    o.detail = json_object(r->a);
    json_set(r->a, o.detail, "options", options);
    o.create_sql = text_of(r, &o);
    vec_push(r->a, &m, o);
    TRY(add_outputs(r, &m, &outputs, err));
    TRY(store(r, &m, err));
    return source_begin(r->svc, &m.p[0], err);
}

/* ---- tables from sources -------------------------------------------------------------------------------------------------------------------------- */

static Status choose_output(Run *r, const SourceOutputs *outputs, const SourceOutput **ret, Error *err)
{
    const StrVec *ref = &r->st->live->reference;

    *ret = NULL;
    if (!ref->n && outputs->n != 1)
        return FAIL(err, E_INVALID, "multi-output sources require an external reference");
    for (size_t i = 0; i < outputs->n; i++) {
        const SourceOutput *o = &outputs->p[i];
        bool mine = !ref->n || str_eq(vec_last(ref), o->name) || str_eq(str_join(r->a, ref, S(".")), o->external) || (outputs->n == 1 && !o->name.n);
        if (mine && !*ret)
            *ret = o;
    }
    return *ret ? OK : FAIL(err, E_NOT_FOUND, "reference to " STR_FMT " not found in source", STR_ARG(str_join(r->a, ref, S("."))));
}

Status live_create_table_from_source(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    SourceOutputs outputs = {0};
    const SourceOutput *out;
    Object source;
    Made m = {0};
    Json *options;
    LivePlace p;

    ret->done = 1;
    TRY(live_place(r, OBJ_TABLE, &p, err));
    if (p.done)
        return OK;
    TRY(live_need(r, &r->st->live->from, 1 << OBJ_SOURCE, 'r', &source, err));
    Object table = live_object(r, OBJ_TABLE, &p.name);
    TRY(source_table_options(r, &table, &source, &options, err));
    TRY(discover(r, source.type, options, &outputs, err));
    TRY(choose_output(r, &outputs, &out, err));
    Object o = part_of(r, &source, OBJ_TABLE, &p.name, "", out);
    if (r->st->live->format.kind.n)
        json_set(r->a, o.detail, "table_options", json_copy(r->a, options));
    for (size_t i = 0; i < table.uses.n; i++)
        live_use(r->a, &o, table.uses.p[i]);
    o.create_sql = text_of(r, &o);
    vec_push(r->a, &m, o);
    TRY(store(r, &m, err));
    return source_begin(r->svc, &source, err);
}

/* ---- ALTER SOURCE ----------------------------------------------------------------------------------------------------------------------------------- */

static Status add_references(Run *r, const Object *source, Error *err)
{
    SourceOutputs outputs = {0};
    Json *options, *tables = json_array(r->a);
    Made m = {0};
    Object ignored = {0};
    LiveName n;

    TRY(source_table_options(r, &ignored, source, &options, err));
    for (size_t i = 0; i < r->st->live->tables.n; i++) {
        Json *parts = json_array(r->a);
        for (size_t k = 0; k < r->st->live->tables.p[i].external.n; k++)
            json_push(r->a, parts, json_str(r->a, r->st->live->tables.p[i].external.p[k]));
        json_push(r->a, tables, parts);
    }
    json_set(r->a, options, "tables", tables);
    TRY(discover(r, source->type, options, &outputs, err));
    for (size_t i = 0; i < outputs.n; i++) {
        TRY(part_name(r, source, &outputs.p[i], i, &n, err));
        TRY(add_part(r, source, OBJ_SOURCE, &n, "subsource", &outputs.p[i], &m, err));
    }
    TRY(store(r, &m, err));
    return source_begin(r->svc, source, err);
}

static Status drop_references(Run *r, const Object *source, Error *err)
{
    ObjectVec parts = {0};

    for (size_t i = 0; i < r->st->live->also.n; i++) {
        Object o;
        TRY(live_need(r, &r->st->live->also.p[i], 1 << OBJ_SOURCE, 0, &o, err));
        if (source_part_of(&o) != source->id || !str_eq(o.type, S("subsource")))
            return FAIL(err, E_INVALID, STR_FMT " is not a subsource of " STR_FMT, STR_ARG(o.name), STR_ARG(source->name));
        vec_push(r->a, &parts, o);
    }
    realm_ddl_begin(r->svc->realm);
    Status s = r->st->cascade ? OK : live_check_users(r, &parts, err);
    if (s == OK)
        s = live_drop_all(r, &parts, err);
    realm_ddl_end(r->svc->realm);
    return s;
}

/* RETAIN HISTORY */
static Status set_options(Run *r, Object *source, Error *err)
{
    realm_ddl_begin(r->svc->realm);
    Status s = live_alter_options(r, source, err);
    realm_ddl_end(r->svc->realm);
    return s;
}

Status live_alter_source(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Object o;

    ret->done = 1;
    TRY(live_need(r, &r->st->name, 1 << OBJ_SOURCE, 0, &o, err));
    TRY(live_ask_owner(r, &o, err));
    switch (r->st->live->alter) {
    case ALTER_ADD_REFERENCES:
        if (!str_eq(o.type, S("postgres")))
            return FAIL(err, E_UNSUPPORTED, "ALTER SOURCE … ADD SUBSOURCE is for PostgreSQL sources");
        return add_references(r, &o, err);
    case ALTER_DROP_REFERENCES: return drop_references(r, &o, err);
    case ALTER_REFRESH_REFERENCES: return OK;         /* references are looked up when they are named */
    case ALTER_SET: case ALTER_RESET: return set_options(r, &o, err);
    default: return FAIL(err, E_UNSUPPORTED, "this form of ALTER SOURCE is not supported");
    }
}
