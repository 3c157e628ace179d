/* SPDX-License-Identifier: Apache-2.0 */
/* live_sink.c - CREATE SINK and ALTER SINK (spec/materialize.md 1.5, 1.6).
 *
 * Planning alone: the catalog is asked by the sink itself, and what goes wrong there is its status.  Checks come in Materialize's order and words.  An ALTER that changes
 * something gives the sink its next version and starts it anew: what was not committed comes with the first commit of the new version. */
#include "service/live_connection.h"
#include "service/live_sink.h"

/* ---- what it reads ------------------------------------------------------------------------------------------------------------- */

static bool is_system(const StrVec *name)
{
    static const char *const schemas[] = { "mz_catalog", "mz_internal", "mz_introspection", "pg_catalog", "information_schema", NULL };
    Str schema = name->n > 1 ? name->p[name->n - 2] : (Str){0};

    for (const char *const *s = schemas; *s; s++)
        if (str_eq(schema, str_c(*s)))
            return true;
    return name->n == 1 && (str_starts(name->p[0], S("mz_")) || str_starts(name->p[0], S("pg_")));
}

static Status cannot_be_sunk(Run *r, const Object *o, Error *err)
{
    RAISE(err, E_INVALID, "%s \"" STR_FMT "\" cannot be exported as a sink", obj_kind_words(o->kind), STR_ARG(live_full(r->a, o)));
    if (o->kind == OBJ_VIEW)
        error_hint(err, "Create a materialized view of it, and sink that.");
    return live_refuse(E_INVALID, "42809", err);
}

static Status find_from(Run *r, const StrVec *name, Object *ret, Error *err)
{
    Status s = live_find_object(r, r->a, name, ret, err);

    if (s == E_NOT_FOUND && is_system(name))
        return live_refuse(FAIL(err, E_UNSUPPORTED, "creating a sink directly on a catalog object not yet supported"), "0A000", err);
    if (s == E_NOT_FOUND)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown catalog item '" STR_FMT "'", STR_ARG(str_join(r->a, name, S(".")))), "42704", err);
    TRY(s);
    if ((ret->kind != OBJ_TABLE && ret->kind != OBJ_MVIEW && ret->kind != OBJ_SOURCE) || !live_has(r->svc->live, ret->id))
        return cannot_be_sunk(r, ret, err);
    return live_ask(r, 'r', ret, err);
}

/* ---- the key ---------------------------------------------------------------------------------------------------------------------- */

static Status key_column(const Object *from, const StrVec *key, size_t i, Error *err)
{
    const ObjColumn *col = NULL;
    Str name = key->p[i];

    for (size_t k = 0; k < i; k++)
        if (str_eq(key->p[k], name))
            return live_refuse(FAIL(err, E_INVALID, "duplicate column referenced in KEY: " STR_FMT, STR_ARG(name)), "42701", err);
    for vec_each(const ObjColumn, c, &from->columns) {
        if (!str_eq(c->name, name))
            continue;
        if (col)
            return live_refuse(FAIL(err, E_INVALID, "column referenced in KEY is ambiguous: " STR_FMT, STR_ARG(name)), "42702", err);
        col = c;
    }
    if (!col)
        return live_refuse(FAIL(err, E_INVALID, "column referenced in KEY does not exist: " STR_FMT, STR_ARG(name)), "42703", err);
    SinkColumn sc = { .name = col->name, .type = col->type, .sql_type = col->type_name };
    if (sink_key_type(&sc))
        return OK;
    RAISE(err, E_INVALID, "column \"" STR_FMT "\" of type " STR_FMT " cannot be used as an Iceberg equality delete key", STR_ARG(name), STR_ARG(col->type_name));
    error_hint(err, "Use primitive, non-floating-point columns as KEY.");
    return live_refuse(E_INVALID, "42804", err);
}

static Str key_text(Arena *a, const StrVec *key)
{
    StrVec quoted = {0};
    for vec_each(const Str, k, key)
        vec_push(a, &quoted, sql_ident_str(a, *k));
    return str_fmt(a, "(" STR_FMT ")", STR_ARG(str_join(a, &quoted, S(", "))));
}

static bool is_within(const StrVec *unique, const StrVec *key)
{
    for vec_each(const Str, u, unique)
        if (!strvec_has(key, *u))
            return false;
    return true;
}

static Status not_unique(Run *r, const Object *from, const LiveKeys *known, const StrVec *key, Error *err)
{
    StrBuf b = sb_new(r->a);

    RAISE(err, E_INVALID, "upsert key could not be validated as unique");
    for (size_t i = 0; i < known->n; i++)
        sb_fmt(&b, "\n  " STR_FMT, STR_ARG(key_text(r->a, &known->p[i])));
    Str what = str_fmt(r->a, "Materialize could not prove that the specified upsert envelope key " STR_FMT " was a unique key of the underlying relation \"" STR_FMT "\". ",
                       STR_ARG(key_text(r->a, key)), STR_ARG(live_full(r->a, from)));
    if (known->n)
        error_detail(err, STR_FMT "The following keys are known to be unique for the underlying relation:" STR_FMT, STR_ARG(what), STR_ARG(sb_str(&b)));
    else
        error_detail(err, STR_FMT "There are no known valid unique keys for the underlying relation.", STR_ARG(what));
    error_hint(err, "See: https://materialize.com/s/sink-key-selection");
    return live_refuse(E_INVALID, "42P10", err);
}

static Status check_key(Run *r, const LiveStmt *l, const Object *from, Error *err)
{
    LiveKeys known = {0};

    for (size_t i = 0; i < l->key.n; i++)
        TRY(key_column(from, &l->key, i, err));
    live_unique_keys(r, from, &known);
    for (size_t i = 0; i < known.n; i++)
        if (is_within(&known.p[i], &l->key))
            return OK;
    if (!l->not_enforced)
        return not_unique(r, from, &known, &l->key, err);
    session_note(r->ss, "NOTICE", "00000", "upsert key not validated to be unique");
    session_note_detail(r->ss, "Materialize could not validate that the specified upsert envelope key %s is a unique key of the underlying relation \"%s\". If this key is not unique, the sink might produce "
                        "multiple updates for the same key at the same time, which may confuse downstream consumers.", str_z(r->a, key_text(r->a, &l->key)), str_z(r->a, live_full(r->a, from)));
    return OK;
}

static Status check_append(const LiveStmt *l, const Object *from, Error *err)
{
    if (l->has_key)
        return FAIL(err, E_INVALID, "KEY is not supported for MODE APPEND Iceberg sinks");
    for vec_each(const ObjColumn, c, &from->columns)
        if (str_eq(c->name, S("_mz_diff")) || str_eq(c->name, S("_mz_timestamp")))
            return FAIL(err, E_INVALID, "column \"" STR_FMT "\" conflicts with the system column that MODE APPEND adds to the Iceberg table", STR_ARG(c->name));
    return OK;
}

static Status check_mode(Run *r, const LiveStmt *l, const Object *from, Error *err)
{
    if (str_eq(l->mode, S("append")))
        return check_append(l, from, err);
    return l->has_key ? check_key(r, l, from, err) : FAIL(err, E_INVALID, "upsert sinks must specify a key");
}

/* ---- CREATE SINK -------------------------------------------------------------------------------------------------------------------- */

static Status check_clauses(const LiveStmt *l, Error *err)
{
    if (!str_eq(l->type, S("iceberg catalog")))
        return live_refuse(FAIL(err, E_UNSUPPORTED, "Kafka sinks are not supported"), "0A000", err);
    if (l->envelope.n)
        return FAIL(err, E_INVALID, "ENVELOPE is not supported for Iceberg sinks, use MODE instead");
    if (!l->mode.n)
        return FAIL(err, E_INVALID, "MODE clause is required");
    if (l->format.kind.n || l->key_format.kind.n || l->headers.n)
        return FAIL(err, E_INVALID, "FORMAT and HEADERS are not supported for Iceberg sinks");
    return OK;
}

typedef struct Named { Object from, connection, aws; } Named;

static Status resolve(Run *r, const LiveStmt *l, Named *ret, Error *err)
{
    *ret = (Named){0};
    TRY(find_from(r, &l->from, &ret->from, err));
    TRY(check_mode(r, l, &ret->from, err));
    TRY(connection_need(r, &l->connection, "iceberg-catalog", &ret->connection, err));
    return l->aws_connection.n ? connection_need(r, &l->aws_connection, "aws", &ret->aws, err) : OK;
}

static void whole_names(Run *r, const Named *n, LiveStmt *l)
{
    l->from = live_parts(r->a, &n->from);
    l->connection = live_parts(r->a, &n->connection);
    if (n->aws.id)
        l->aws_connection = live_parts(r->a, &n->aws);
}

static void describe(Run *r, const Named *n, const Stmt *st, Object *o)
{
    Stmt text = *st;

    text.name = live_parts(r->a, o);
    text.if_not_exists = 0;
    text.live->cluster = (StrVec){0};
    vec_push(r->a, &text.live->cluster, realm_cluster_name(r->svc->realm, r->a, o->cluster));
    o->create_sql = sql_live_text(r->a, &text, LIVE_TEXT_WHOLE);
    o->type = S("iceberg");
    if (!o->detail)
        o->detail = json_object(r->a);
    json_set(r->a, o->detail, "from", json_int(r->a, n->from.id));
    json_set(r->a, o->detail, "connection", json_int(r->a, n->connection.id));
    json_set(r->a, o->detail, "aws", json_int(r->a, n->aws.id));
    o->uses.n = 0;
    live_use(r->a, o, n->from.id);
    live_use(r->a, o, n->connection.id);
    if (n->aws.id)
        live_use(r->a, o, n->aws.id);
}

static Status check_spec(Run *r, const Object *o, const LiveStmt *l, const Named *n, Error *err)
{
    SinkSpec spec;

    TRY(sink_spec_of(r->a, o, l, &n->from, &n->connection, &spec, err));
    return sink_check(r->a, &spec, err);
}

Status live_create_sink(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    LiveStmt l = *r->st->live;
    Stmt st = *r->st;
    RealmCluster cluster;
    LivePlace p;
    Named n;

    ret->done = 1;
    TRY(live_place(r, OBJ_SINK, &p, err));
    if (p.done)
        return OK;
    TRY(check_clauses(&l, err));
    TRY(resolve(r, &l, &n, err));
    TRY(live_need_cluster(r, &l.cluster, &cluster, err));
    Object o = live_object(r, OBJ_SINK, &p.name);
    o.cluster = cluster.id;
    whole_names(r, &n, &l);
    st.live = &l;
    TRY(check_spec(r, &o, &l, &n, err));
    describe(r, &n, &st, &o);
    TRY(live_store(r, &o, 1, LIVE_CREATED, err));
    Status s = sink_restart(r->svc, &o, err);
    Error ignored;
    if (s != OK)
        (void)!objects_delete(r->svc->objects, &o.id, 1, &ignored);
    return s;
}

/* ---- ALTER SINK ----------------------------------------------------------------------------------------------------------------------- */

static LiveOption *option_in(LiveOptions *o, Str name)
{
    for (size_t i = 0; i < o->n; i++)
        if (str_eq(o->p[i].name, name))
            return &o->p[i];
    return NULL;
}

static bool same_option(const LiveOption *x, const LiveOption *y)
{
    if (x->kind != y->kind || !str_eq(x->text, y->text) || x->list.n != y->list.n)
        return false;
    for (size_t i = 0; i < x->list.n; i++)
        if (!same_option(&x->list.p[i], &y->list.p[i]))
            return false;
    return true;
}

static bool can_change(Str name)
{
    static const char *const names[] = { "COMMIT INTERVAL", "COMMIT SIZE", "LOG LIMIT", "DELETES", "POISON", "PROPERTIES" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_eq(name, str_c(names[i])))
            return true;
    return false;
}

static Status not_yet(const char *verb, Str name, Error *err)
{
    return live_refuse(FAIL(err, E_UNSUPPORTED, "ALTER SINK ... %s (" STR_FMT ") not yet supported", verb, STR_ARG(name)), "0A000", err);
}

/* SNAPSHOT = true, said in full, writes the relation anew: the one repair there is. */
static Status set_one(Run *r, Object *o, LiveOptions *with, const LiveOption *set, int *changed, Error *err)
{
    int snapshot = 0;

    if (str_eq(set->name, S("SNAPSHOT")) && set->kind != OPT_NONE)
        TRY(live_opt_bool(set, &snapshot, err));
    if (snapshot) {
        json_set(r->a, o->detail, "rebuild", json_int(r->a, o->version + 1));
        *changed = 1;
        return OK;
    }
    if (!can_change(set->name))
        return not_yet("SET", set->name, err);
    LiveOption *old = option_in(with, set->name);
    if (old && same_option(old, set))
        return OK;
    *changed = 1;
    if (old)
        *old = *set;
    else
        vec_push(r->a, with, *set);
    return OK;
}

static Status reset_one(LiveOptions *with, const LiveOption *name, int *changed, Error *err)
{
    if (!can_change(name->name))
        return not_yet("RESET", name->name, err);
    if (!option_in(with, name->name))
        return FAIL(err, E_INVALID, "cannot RESET " STR_FMT ": option is not set", STR_ARG(name->name));
    size_t k = 0;
    for (size_t i = 0; i < with->n; i++)
        if (!str_eq(with->p[i].name, name->name))
            with->p[k++] = with->p[i];
    with->n = k;
    *changed = 1;
    return OK;
}

static Status change_options(Run *r, Object *o, LiveOptions *with, int *changed, Error *err)
{
    const LiveStmt *l = r->st->live;

    for (size_t i = 0; i < l->options.n; i++)
        TRY(set_one(r, o, with, &l->options.p[i], changed, err));
    for (size_t i = 0; i < l->drop.n; i++)
        TRY(reset_one(with, &l->drop.p[i], changed, err));
    return OK;
}

static Status named_of(Run *r, const Object *o, Named *ret, Error *err)
{
    *ret = (Named){0};
    TRY(objects_get(r->svc->objects, r->a, json_get_int(o->detail, "from", 0), &ret->from, err));
    TRY(objects_get(r->svc->objects, r->a, json_get_int(o->detail, "connection", 0), &ret->connection, err));
    int64_t aws = json_get_int(o->detail, "aws", 0);
    return aws ? objects_get(r->svc->objects, r->a, aws, &ret->aws, err) : OK;
}

static Status change_from(Run *r, LiveStmt *l, Named *n, int *changed, Error *err)
{
    Object from;

    TRY(find_from(r, &r->st->live->from, &from, err));
    *changed = from.id != n->from.id;
    n->from = from;
    return check_mode(r, l, &n->from, err);
}

static Status alter(Run *r, Object *o, Error *err)
{
    int changed = 0;
    Stmt *st;
    Named n;

    TRY(sink_statement(r->a, o, &st, err));
    TRY(named_of(r, o, &n, err));
    if (r->st->live->alter == ALTER_SET_FROM)
        TRY(change_from(r, st->live, &n, &changed, err));
    else if (r->st->live->alter == ALTER_SET || r->st->live->alter == ALTER_RESET)
        TRY(change_options(r, o, &st->live->with, &changed, err));
    else
        return live_refuse(FAIL(err, E_UNSUPPORTED, "this ALTER SINK is not supported"), "0A000", err);
    whole_names(r, &n, st->live);
    TRY(check_spec(r, o, st->live, &n, err));
    if (!changed)
        return OK;
    o->version++;
    describe(r, &n, st, o);
    TRY(live_store(r, o, 1, LIVE_ALTERED, err));
    return sink_restart(r->svc, o, err);
}

Status live_alter_sink(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Object o;
    Error absent;

    ret->done = 1;
    if (r->st->if_exists && live_find_object(r, r->a, &r->st->name, &o, &absent) == E_NOT_FOUND) {
        live_note_absent(r, "sink", &r->st->name);
        return OK;
    }
    TRY(live_need(r, &r->st->name, 1 << OBJ_SINK, 0, &o, err));
    TRY(live_ask_owner(r, &o, err));
    return alter(r, &o, err);
}
