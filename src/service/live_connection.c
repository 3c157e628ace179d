/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection.c - CREATE, ALTER and VALIDATE CONNECTION.
 *
 * Order: the statement is planned (options, rules), then the name is looked at, then - where asked, or by the type's default - the connection is tried, and last it is
 * stored: a connection that cannot be used is not made, and a changed one that cannot be used stays as it was. */
#include "service/live_connection_int.h"
#include "service/live_sink.h"
#include "service/live_source.h"

static const char *const aws_options[] = { "ACCESS KEY ID", "SECRET ACCESS KEY", "SESSION TOKEN", "ENDPOINT", "REGION", "ASSUME ROLE ARN", "ASSUME ROLE SESSION NAME", NULL };
static const char *const iceberg_options[] = { "ACCESS DELEGATION", "AWS CONNECTION", "BEARER TOKEN", "CATALOG TYPE", "CREDENTIAL", "GCP CONNECTION", "OAUTH2 SERVER URL", "SCOPE", "SIGNING NAME", "SIGNING REGION",
                                               "STORAGE PROVIDER", "URL", "WAREHOUSE", NULL };
static const char *const kafka_options[] = { "AWS CONNECTION", "BROKER", "BROKERS", "PROGRESS TOPIC", "PROGRESS TOPIC REPLICATION FACTOR", "AWS PRIVATELINK", "SSH TUNNEL", "SSL KEY",
                                             "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY", "SASL MECHANISMS", "SASL USERNAME", "SASL PASSWORD", "SECURITY PROTOCOL", NULL };
static const char *const registry_options[] = { "AWS PRIVATELINK", "PASSWORD", "PORT", "SSH TUNNEL", "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY", "SSL KEY", "URL", "USER", NULL };
static const char *const postgres_options[] = { "AWS PRIVATELINK", "DATABASE", "HOST", "PASSWORD", "PORT", "SSH TUNNEL", "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY", "SSL KEY",
                                                "SSL MODE", "USER", NULL };
static const char *const mysql_options[] = { "AWS PRIVATELINK", "HOST", "PASSWORD", "PORT", "SSH TUNNEL", "SSL CERTIFICATE", "SSL CERTIFICATE AUTHORITY", "SSL KEY", "SSL MODE", "USER",
                                             "AWS CONNECTION", NULL };
static const char *const ssh_options[] = { "HOST", "PORT", "USER", "PUBLIC KEY 1", "PUBLIC KEY 2", NULL };
static const char *const privatelink_options[] = { "AVAILABILITY ZONES", "PORT", "SERVICE NAME", NULL };
static const char *const gcp_options[] = { "SERVICE ACCOUNT KEY", NULL };
static const char *const glue_registry_options[] = { "AWS CONNECTION", "REGISTRY", "REGION", NULL };

static const ConnType types[] = {
    { "aws", "AWS", "aws", aws_options, conn_plan_aws, conn_validate_aws, 0 },
    { "iceberg catalog", "ICEBERG CATALOG", "iceberg-catalog", iceberg_options, conn_plan_iceberg, conn_validate_iceberg, 1 },
    { "kafka", "KAFKA", "kafka", kafka_options, conn_plan_kafka, conn_validate_source, 1 },
    { "confluent schema registry", "CONFLUENT SCHEMA REGISTRY", "confluent-schema-registry", registry_options, conn_plan_registry, conn_validate_registry, 1 },
    { "postgres", "POSTGRES", "postgres", postgres_options, conn_plan_postgres, conn_validate_source, 1 },
    { "mysql", "MYSQL", "mysql", mysql_options, conn_plan_none, NULL, 0 },
    { "sql server", "SQL SERVER", "sql-server", postgres_options, conn_plan_none, NULL, 0 },
    { "ssh tunnel", "SSH TUNNEL", "ssh-tunnel", ssh_options, conn_plan_none, NULL, 0 },
    { "aws privatelink", "AWS PRIVATELINK", "aws-privatelink", privatelink_options, conn_plan_none, NULL, 0 },
    { "gcp", "GCP", "gcp", gcp_options, conn_plan_gcp, NULL, 0 },
    { "aws glue schema registry", "AWS GLUE SCHEMA REGISTRY", "aws-glue-schema-registry", glue_registry_options, conn_plan_none, NULL, 0 },
};

const ConnType *conn_type_of(Str word)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_eq(word, str_c(types[i].word)))
            return &types[i];
    return NULL;
}

const ConnType *conn_type_named(Str name)
{
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_eq(name, str_c(types[i].name)))
            return &types[i];
    return NULL;
}

/* ---- VALIDATE -------------------------------------------------------------------------------------------------------------------------------------- */

/* ALTER SYSTEM SET enable_default_connection_validation = off */
static bool defaults_are_off(Run *r)
{
    Props all = {0};

    realm_settings(r->svc->realm, r->a, &all);
    Str v = props_get(&all, S("enable_default_connection_validation"), S("on"));
    return str_ieq(v, S("off")) || str_ieq(v, S("false"));
}

/* WITH (VALIDATE [= b]), else the type's default, which a setting of the system turns off for all. */
static Status whether_to_validate(Run *r, const ConnType *t, int *ret, Error *err)
{
    const LiveOptions *with = &r->st->live->with;

    *ret = t->by_default && !defaults_are_off(r);
    for (size_t i = 0; i < with->n; i++) {
        const LiveOption *o = &with->p[i];
        if (!str_eq(o->name, S("VALIDATE")))
            return FAIL(err, E_SYNTAX, "unknown option " STR_FMT " of WITH", STR_ARG(o->name));
        if (i)
            return FAIL(err, E_INVALID, "VALIDATE specified more than once");
        if (o->kind != OPT_NONE && o->kind != OPT_BOOL)
            return FAIL(err, E_INVALID, "invalid VALIDATE option value: cannot use value as boolean");
        *ret = o->kind == OPT_NONE || str_ieq(o->text, S("true"));
    }
    return OK;
}

static Status validate(Run *r, const ConnType *t, const Object *o, Error *err)
{
    if (!t || !t->validate)
        return FAIL(err, E_UNSUPPORTED, "validating %s connections is not supported", t ? t->title : "these");
    return t->validate(r->svc, r->a, o, err);
}

/* letter: the privilege that is asked for, 0: none. */
static Status find_connection(Run *r, const StrVec *name, char letter, Object *ret, Error *err)
{
    TRY(live_need(r, name, -1, letter, ret, err));
    return ret->kind == OBJ_CONNECTION ? OK : FAIL(err, E_INVALID, STR_FMT " is not a connection", STR_ARG(ret->name));
}

Status connection_need(Run *r, const StrVec *name, const char *type, Object *ret, Error *err)
{
    const ConnType *t = conn_type_named(str_c(type));
    Str word = !t || strcmp(type, "aws") == 0 ? S("AWS") : str_c(t->word);

    TRY(live_need(r, name, -1, 'U', ret, err));
    if (ret->kind == OBJ_CONNECTION && str_eq(ret->type, str_c(type)))
        return OK;
    return FAIL(err, E_INVALID, "\"" STR_FMT "\" is not %s " STR_FMT " connection", STR_ARG(live_full(r->a, ret)), strchr("AEIOUaeiou", word.p[0]) ? "an" : "a", STR_ARG(word));
}

Status live_validate(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Object o;

    ret->done = 1;
    TRY(find_connection(r, &r->st->name, 'U', &o, err));
    return validate(r, conn_type_named(o.type), &o, err);
}

/* ---- CREATE ------------------------------------------------------------------------------------------------------------------------------------------- */

static Status plan(ConnPlan *p, Error *err)
{
    TRY(conn_allowed(p, err));
    return p->type->plan(p, err);
}

static Json *detail_of(Arena *a, Json *options)
{
    Json *d = json_object(a);
    json_set(a, d, "options", options);
    return d;
}

/* Trying it took its time: is all that it names still there? */
static Status still_there(Run *r, const Object *o, Error *err)
{
    for (size_t i = 0; i < o->uses.n; i++)
        if (!objects_known(r->svc->objects, o->uses.p[i]))
            return live_refuse(FAIL(err, E_CONFLICT, "what connection \"" STR_FMT "\" uses was dropped meanwhile", STR_ARG(o->name)), "40001", err);
    return OK;
}

/* The object as it is now (it may have another name) with the new options; `before` is what the statement has read. */
static Status take_over(Run *r, Object *o, const Json *before, Error *err)
{
    Json *detail = o->detail;

    TRY(objects_get(r->svc->objects, r->a, o->id, o, err));
    if (!json_equal(before, o->detail))
        return live_refuse(FAIL(err, E_CONFLICT, "connection \"" STR_FMT "\" was altered meanwhile", STR_ARG(o->name)), "40001", err);
    o->detail = detail;
    return OK;
}

static Status store_it(Run *r, Object *o, const Json *before, Error *err)
{
    if (before)
        TRY(take_over(r, o, before, err));
    conn_uses(r->a, o);
    TRY(still_there(r, o, err));
    TRY(conn_create_sql(r->svc, r->a, o, LIVE_TEXT_WHOLE, &o->create_sql, err));
    return live_store(r, o, 1, before ? LIVE_ALTERED : LIVE_CREATED, err);
}

static Status finish(Run *r, Object *o, const Json *before, Error *err)
{
    realm_ddl_begin(r->svc->realm);
    Status s = store_it(r, o, before, err);
    realm_ddl_end(r->svc->realm);
    return s;
}

Status live_create_connection(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    ConnPlan p = { .r = r, .a = r->a, .type = conn_type_of(r->st->live->type), .options = json_object(r->a) };
    LivePlace place;
    int wanted;

    ret->done = 1;
    if (!p.type)
        return FAIL(err, E_UNSUPPORTED, STR_FMT " connections are not supported", STR_ARG(str_upper(r->a, r->st->live->type)));
    TRY(conn_read_options(&p, &r->st->live->options, err));
    TRY(plan(&p, err));
    TRY(whether_to_validate(r, p.type, &wanted, err));
    TRY(live_place(r, OBJ_CONNECTION, &place, err));
    if (place.done)
        return OK;
    Object o = live_object(r, OBJ_CONNECTION, &place.name);
    o.type = str_c(p.type->name);
    o.detail = detail_of(r->a, p.options);
    if (wanted)
        TRY(validate(r, p.type, &o, err));
    return finish(r, &o, NULL, err);
}

/* ---- ALTER ---------------------------------------------------------------------------------------------------------------------------------------------- */

static Status no_contradiction(Run *r, Error *err)
{
    const LiveStmt *l = r->st->live;
    StrVec both = {0};

    for (size_t i = 0; i < l->options.n; i++)
        if (live_option(&l->drop, str_z(r->a, l->options.p[i].name)))
            vec_push(r->a, &both, l->options.p[i].name);
    if (!both.n)
        return OK;
    return FAIL(err, E_INVALID, "cannot both SET and DROP/RESET options " STR_FMT, STR_ARG(str_join(r->a, &both, S(", "))));
}

/* Who names one of a pair that exclude each other takes the other one away. */
static void exclude(ConnPlan *p, const Json *set)
{
    static const char *const pairs[][2] = { { "BROKER", "BROKERS" }, { "BROKERS", "BROKER" } };

    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (conn_has(set, pairs[i][0]) && !conn_has(set, pairs[i][1]))
            (void)!json_del(p->options, str_c(pairs[i][1]));
}

static Status merge(ConnPlan *p, const Object *o, Error *err)
{
    const LiveStmt *l = p->r->st->live;
    Json *set = p->options;
    Map gone = map_new(p->a);

    for (size_t i = 0; i < l->drop.n; i++) {
        ConnPlan only = { .r = p->r, .a = p->a, .type = p->type, .options = json_object(p->a) };
        json_set_s(p->a, only.options, l->drop.p[i].name, json_null(p->a));
        TRY(conn_allowed(&only, err));
        map_put(&gone, l->drop.p[i].name, p);
    }
    p->options = json_copy(p->a, json_get(o->detail, "options"));
    for (size_t i = 0; i < l->drop.n; i++)
        (void)!json_del(p->options, l->drop.p[i].name);
    exclude(p, set);
    for (size_t i = 0; i < json_len(set); i++)
        json_set_s(p->a, p->options, set->object.p[i].key, set->object.p[i].value);
    return OK;
}

/* Sinks and sources keep what they have until they start anew: what they cannot follow is refused. */
static Status may_alter(Run *r, const Object *o, const ConnType *t, Error *err)
{
    static const char *const fixed[] = { "PROGRESS TOPIC", "PROGRESS TOPIC REPLICATION FACTOR" };
    const LiveStmt *l = r->st->live;

    if (str_eq(o->type, S("iceberg-catalog"))) {
        RAISE(err, E_UNSUPPORTED, "connection \"" STR_FMT "\" cannot be altered in the requested way", STR_ARG(live_full(r->a, o)));
        error_hint(err, "Options of an Iceberg catalog connection are fixed: drop and recreate it, and the sinks that use it.");
        return E_UNSUPPORTED;
    }
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        if (live_option(&l->options, fixed[i]) || live_option(&l->drop, fixed[i]))
            return FAIL(err, E_INVALID, "cannot ALTER CONNECTION option %s", fixed[i]);
    return t ? OK : FAIL(err, E_CORRUPT, "connection \"" STR_FMT "\" is of unknown type '" STR_FMT "'", STR_ARG(o->name), STR_ARG(o->type));
}

/* Sinks and sources open the connection when they begin: they begin anew. What does not is a status of its own; the connection is altered. */
static void restart_users(Run *r, const Object *o)
{
    ObjectVec users = {0};
    Error err;

    objects_users(r->svc->objects, r->a, o->id, &users);
    for vec_each(const Object, u, &users) {
        Status s = u->kind == OBJ_SINK ? sink_restart(r->svc, u, &err) : u->kind == OBJ_SOURCE ? source_hooks.start(r->svc, u, &err) : OK;
        if (s != OK)
            log_error(&err, "restart after ALTER CONNECTION", "name", str_z(r->a, u->name), NULL);
    }
}

static Status alter(Run *r, Object *o, Error *err)
{
    ConnPlan p = { .r = r, .a = r->a, .type = conn_type_named(o->type), .options = json_object(r->a) };
    const Json *before = o->detail;
    int wanted;

    TRY(no_contradiction(r, err));
    TRY(may_alter(r, o, p.type, err));
    TRY(conn_read_options(&p, &r->st->live->options, err));
    TRY(conn_allowed(&p, err));
    TRY(merge(&p, o, err));
    TRY(plan(&p, err));
    TRY(whether_to_validate(r, p.type, &wanted, err));
    o->detail = detail_of(r->a, p.options);
    if (wanted)
        TRY(validate(r, p.type, o, err));
    TRY(finish(r, o, before, err));
    restart_users(r, o);
    return OK;
}

Status live_alter_connection(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Object o;

    ret->done = 1;
    if (r->st->live->alter == ALTER_ROTATE_KEYS)
        return FAIL(err, E_UNSUPPORTED, "ROTATE KEYS is for SSH TUNNEL connections, which are not supported");
    Status s = find_connection(r, &r->st->name, 0, &o, err);
    if (s == E_NOT_FOUND && r->st->if_exists) {
        live_note_absent(r, "connection", &r->st->name);
        return OK;
    }
    TRY(s);
    TRY(live_ask_owner(r, &o, err));
    return alter(r, &o, err);
}

const LiveHooks connection_hooks = { .text = conn_create_sql };
