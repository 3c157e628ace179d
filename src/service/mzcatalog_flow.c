/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog_flow.c - sources, sinks and connections by their own kinds: read from the statements that made them. */
#include "service/mzcatalog_int.h"

static const LiveStmt *live_of(MzFill *f, const Object *o, ObjKind kind)
{
    const Stmt *s = o->kind == kind ? mz_statement(f, o) : NULL;
    return s ? s->live : NULL;
}

/* id, oid, schema_id, name, type, connection_id, size */
static void head(MzFill *f, const Object *o, const LiveStmt *l)
{
    const RealmSchema *s = mz_schema_of(f->w, o);
    const Object *c = l && l->connection.n ? mz_object_by_name(f->w, &l->connection) : NULL;

    mz_ident(f, o->id);
    mz_int(f, mz_object_oid(o->id));
    mz_opt(f, s ? s->id : (Str){0});
    mz_str(f, o->name);
    mz_str(f, o->type);
    mz_ident(f, c ? c->id : 0);
    mz_null(f);
}

static void tail(MzFill *f, const Object *o)
{
    mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_WHOLE));
    mz_opt(f, mz_create_sql(f, o, LIVE_TEXT_REDACTED));
    mz_end(f);
}

Status mzf_sources(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SOURCE);
        StrVec acl = {0};
        if (o->kind != OBJ_SOURCE)
            continue;
        head(f, o, l);
        mz_opt(f, l ? l->envelope : (Str){0});
        mz_opt(f, l ? l->key_format.kind : (Str){0});
        mz_opt(f, l ? l->format.kind : (Str){0});
        mz_opt(f, o->cluster);
        mz_str(f, o->owner);
        mz_acls(f->a, o->owner, mz_all_letters(o->kind), &o->grants, &acl);
        mz_list(f, &acl);
        tail(f, o);
    }
    return OK;
}

Status mzf_sinks(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SINK);
        if (o->kind != OBJ_SINK)
            continue;
        head(f, o, l);
        mz_opt(f, l ? l->mode.n ? l->mode : l->envelope : (Str){0});
        mz_null(f);
        mz_opt(f, l ? l->key_format.kind : (Str){0});
        mz_opt(f, l ? l->format.kind : (Str){0});
        mz_str(f, o->cluster);
        mz_str(f, o->owner);
        tail(f, o);
    }
    return OK;
}

static Str option_text(const LiveStmt *l, const char *name)
{
    const LiveOption *o = live_option(&l->options, name);
    return o ? o->text : (Str){0};
}

Status mzf_iceberg_sinks(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SINK);
        if (!l || !str_eq(l->type, S("iceberg catalog")))
            continue;
        mz_ident(f, o->id);
        mz_str(f, option_text(l, "NAMESPACE"));
        mz_str(f, option_text(l, "TABLE"));
        mz_end(f);
    }
    return OK;
}

Status mzf_kafka_sinks(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SINK);
        if (!l || !str_eq(l->type, S("kafka")))
            continue;
        mz_ident(f, o->id);
        mz_str(f, option_text(l, "TOPIC"));
        mz_end(f);
    }
    return OK;
}

Status mzf_kafka_sources(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SOURCE);
        if (!l || !str_eq(l->type, S("kafka")))
            continue;
        mz_ident(f, o->id);
        mz_opt(f, option_text(l, "GROUP ID PREFIX"));
        mz_str(f, option_text(l, "TOPIC"));
        mz_end(f);
    }
    return OK;
}

Status mzf_kafka_connections(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_CONNECTION);
        StrVec brokers = {0};
        if (!l || !str_eq(l->type, S("kafka")))
            continue;
        const LiveOption *many = live_option(&l->options, "BROKERS");
        for (size_t i = 0; many && i < many->list.n; i++)
            vec_push(f->a, &brokers, many->list.p[i].text);
        for vec_each(const LiveOption, x, &l->options)
            if (str_eq(x->name, S("BROKER")))
                vec_push(f->a, &brokers, x->text);
        mz_ident(f, o->id);
        mz_list(f, &brokers);
        mz_opt(f, option_text(l, "PROGRESS TOPIC"));
        mz_end(f);
    }
    return OK;
}

Status mzf_aws_connections(MzFill *f)
{
    AwsConnections all = {0};

    TRY(connection_list_aws(f->r->svc, f->a, &all, f->err));
    for vec_each(AwsConnection, c, &all) {
        mz_ident(f, c->id);
        mz_opt(f, c->endpoint);
        mz_opt(f, c->region);
        mz_opt(f, c->access_key_id);
        mz_ident(f, c->access_key_id_secret);
        mz_ident(f, c->secret_access_key_secret);
        mz_opt(f, c->session_token);
        mz_ident(f, c->session_token_secret);
        mz_opt(f, c->role_arn);
        mz_opt(f, c->session_name);
        mz_opt(f, c->principal);
        mz_opt(f, c->external_id);
        mz_json(f, c->example_trust_policy);
        mz_end(f);
    }
    return OK;
}

Status mzf_postgres(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        if (o->kind != OBJ_SOURCE || !str_eq(o->type, S("postgres")))
            continue;
        mz_ident(f, o->id);
        mz_str(f, json_get_str(json_get(o->detail, "options"), "slot", (Str){0}));
        mz_null(f);                                   /* its timeline: the source itself watches over it */
        mz_end(f);
    }
    return OK;
}

Status mzf_webhooks(MzFill *f)
{
    Str base;

    if (!service_manage_url(f->r->svc, f->a, 0, &base))
        base = (Str){0};
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_SOURCE);
        if (!l || !str_eq(l->type, S("webhook")))
            continue;
        mz_ident(f, o->id);
        mz_str(f, o->name);
        mz_str(f, str_fmt(f->a, STR_FMT "/api/webhook/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(base), STR_ARG(o->database), STR_ARG(o->schema), STR_ARG(o->name)));
        mz_end(f);
    }
    return OK;
}

/* Tables and subsources: the name outside stands in REFERENCE. */
static void outside(MzFill *f, const StrVec *reference)
{
    mz_opt(f, reference->n > 1 ? reference->p[reference->n - 2] : (Str){0});
    mz_opt(f, reference->n ? vec_last(reference) : (Str){0});
}

static const Object *source_of(MzFill *f, const Object *o, const LiveStmt *l, const char *type)
{
    const Object *src = l && l->from.n ? mz_object_by_name(f->w, &l->from) : NULL;
    return o->kind == OBJ_TABLE && src && str_eq(src->type, str_c(type)) ? src : NULL;
}

Status mzf_postgres_tables(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_TABLE);
        if (!source_of(f, o, l, "postgres"))
            continue;
        mz_ident(f, o->id);
        outside(f, &l->reference);
        mz_end(f);
    }
    return OK;
}

Status mzf_kafka_tables(MzFill *f)
{
    for vec_each(Object, o, &f->w->objects) {
        const LiveStmt *l = live_of(f, o, OBJ_TABLE);
        if (!source_of(f, o, l, "kafka"))
            continue;
        mz_ident(f, o->id);
        mz_opt(f, l->reference.n ? vec_last(&l->reference) : (Str){0});
        mz_opt(f, l->envelope);
        mz_opt(f, l->key_format.kind);
        mz_opt(f, l->format.kind);
        mz_end(f);
    }
    return OK;
}
