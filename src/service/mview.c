/* SPDX-License-Identifier: Apache-2.0 */
/* mview.c - materialized views by SQL: CREATE, REFRESH, ALTER … SCHEDULE, DROP (spec/glue.md 2.1).
 *
 * CREATE MANAGED needs the setting spark.sql.mv.managed.enabled, as there; the definition is kept as written. */
#include "service/ddl_int.h"
#include "access/lakeformation.h"
#include "sched/sched.h"
#include "service/notices.h"
#include "service/tablebuckets.h"

static const char *const REPORT = "refresh %s: %s; %lld source rows read, %lld rows changed, %.1f ms";

static void report(Run *r, const RefreshReport *rep)
{
    session_note(r->ss, "NOTICE", "00000", REPORT, str_z(r->a, rep->type), str_z(r->a, rep->reason), (long long)rep->rows_in, (long long)rep->rows_changed, (double)rep->duration_us / 1000);
}

/* ---- CREATE ------------------------------------------------------------------------------------------------------------ */

/* The catalogs that the definition names, as the session understands them now. */
static Status pin_catalogs(Run *r, const Query *bound, Props *ret, Error *err)
{
    TableRefs refs = {0};

    sql_tables(r->a, bound, &refs);
    for (size_t i = 0; i < refs.n; i++) {
        Str id;
        if (refs.p[i]->name.n != 3)
            continue;
        TRY(name_catalog(r, refs.p[i]->name.p[0], &id, err));
        props_set(r->a, ret, refs.p[i]->name.p[0], id);
    }
    return OK;
}

/* A job says by which Glue it runs; other sessions have the newest. */
static Status check_glue(Run *r, Error *err)
{
    Str version = setting_get(r->ss, S("spark.firn.glue.version"), S("6.0"));
    double v;

    if (str_to_f64(version, &v) && v >= 6.0)
        return OK;
    return FAIL(err, E_UNSUPPORTED, "CREATE MANAGED MATERIALIZED VIEW needs AWS Glue 6.0 or later: this job runs with GlueVersion " STR_FMT, STR_ARG(version));
}

static Status check_settings(Run *r, Error *err)
{
    if (!r->st->managed)
        return OK;
    TRY(check_glue(r, err));
    if (setting_on(r->ss, S("spark.sql.mv.managed.enabled")))
        return OK;
    RAISE(err, E_INVALID, "CREATE MANAGED MATERIALIZED VIEW needs the setting spark.sql.mv.managed.enabled = true in this session");
    error_hint(err, "SET spark.sql.mv.managed.enabled = true");
    return E_INVALID;
}

/* AWS's own parser knows no minutes, although its manual counts in them: aws_compat says what it says. */
static Status no_minutes(const Run *r, const Schedule *s, Error *err)
{
    int line = 1, column = 0;

    for (int i = 0; i < s->unit_position - 1 && (size_t)i < r->text.n; i++, column++)
        if (r->text.p[i] == '\n') {
            line++;
            column = -1;
        }
    RAISE(err, E_SYNTAX, "[PARSE_SYNTAX_ERROR] Syntax error at or near '" STR_FMT "'. SQLSTATE: 42601 (line %d, pos %d)", STR_ARG(s->minutes), line, column);
    err->position = s->unit_position;
    return E_SYNTAX;
}

static Status check_schedule(Run *r, const Schedule *s, Error *err)
{
    if (s->has && s->minutes.n && r->svc->options.aws_compat)
        return no_minutes(r, s, err);
    int64_t min = r->svc->options.schedule_minimum_s;
    if (!s->has || s->seconds >= min)
        return OK;
    RAISE(err, E_INVALID, "a refresh every %lld seconds is below the minimum of %lld seconds (schedule.minimum)", (long long)s->seconds, (long long)min);
    err->position = s->position;
    return E_INVALID;
}

/* Replacing is dropping and creating again; what is system-managed stays so (spec/glue.md 2.9 E8). */
static Status ask_replace(Run *r, const Name *n, const CatRelation *there, Error *err)
{
    CatMview v;
    Ask ask = { .action = ACT_DROP, .api = "CREATE OR REPLACE MATERIALIZED VIEW", .relation = there, .catalog = n->catalog_id, .namespace = n->namespace, .name = n->name };

    if (there->kind == REL_MVIEW) {
        TRY(cat_mview_get(r->svc->catalog, r->a, there->id, &v, err));
        if (v.managed && !r->st->managed)
            return FAIL(err, E_PROTECTED, STR_FMT ", and it stays managed: say CREATE OR REPLACE MANAGED", STR_ARG(access_protected_text(r->a, there, "CREATE OR REPLACE MATERIALIZED VIEW over")));
    }
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}

static Status ask_create(Run *r, const Name *n, const CatRelation *there, Error *err)
{
    Ask ask = { .action = ACT_CREATE, .api = "CREATE MATERIALIZED VIEW", .catalog = n->catalog_id, .namespace = n->namespace, .name = n->name };

    if (there)
        TRY(ask_replace(r, n, there, err));
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}

/* Storage of the view: given, or where the catalog puts tables. */
static Status choose_location(Run *r, const Name *n, const CatRelation *there, Str *ret, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "CREATE MATERIALIZED VIEW");
    SvcName name = { n->catalog_id, n->namespace, n->name };

    if (there) {
        *ret = there->location;
        return OK;
    }
    IceField any = { .id = 1, .name = S("c"), .type = arena_new(r->a, IceType) };
    IceSchema schema = {0};
    vec_push(r->a, &schema.fields, any);
    SvcNewTable nt = { .name = name, .schema = &schema, .location = r->st->location, .stage = 1 };
    SvcTable staged;                                  /* the same rules as for a table; nothing is written */
    TRY(svc_table_create(&call, &nt, &staged, err));
    *ret = staged.metadata->location;
    return OK;
}

/* All files of a view lie in its location: that is what protection covers. */
static Status check_properties(const Props *props, Error *err)
{
    for (size_t i = 0; i < props->n; i++)
        if (str_starts(props->p[i].key, S("write.")) && str_ends(props->p[i].key, S(".path")))
            return FAIL(err, E_INVALID, "a materialized view cannot have property '" STR_FMT "': its files lie in its location", STR_ARG(props->p[i].key));
    return OK;
}

static Status spec_of(Run *r, const Name *n, const CatRelation *there, ViewSpec *spec, Error *err)
{
    const Stmt *st = r->st;
    Binder b;

    run_binder(r, &b);
    Query *q = sql_copy_query(r->a, st->query);
    TRY(sql_check_definition(r->a, q, err));
    TRY(sql_bind_query(r->a, &b, q, err));            /* names, types and the right to read every source, with positions for errors */
    *spec = (ViewSpec){ .catalog = n->catalog_id, .namespace = n->namespace, .name = n->name, .definition = st->query_text, .dialect = r->ss->dialect,
                        .managed = st->managed, .or_replace = st->or_replace, .comment = st->comment, .definer = principal_owner(&r->ss->principal),
                        .column_names = st->column_names, .partitions = st->partitions, .properties = st->props, .schedule = st->schedule, .conn = r->c };
    TRY(pin_catalogs(r, q, &spec->catalogs, err));
    if (st->has_comment)
        props_set(r->a, &spec->properties, S("comment"), st->comment);
    return choose_location(r, n, there, &spec->location, err);
}

/* What Lake Formation grants on a new view is there with the view. */
static Status grants_of(Run *r, ViewSpec *spec, Error *err)
{
    CatChange *doc = arena_new(r->a, CatChange);

    spec->also = doc;
    spec->nalso = 1;
    return lf_created(r->svc->access, r->a, spec->definer, spec->catalog, spec->namespace, spec->name, doc, err);
}

/* A system-managed view lies where nobody else keeps house: in a table bucket, or in the catalog's own warehouse.  A general purpose bucket has an owner with
 * a lifecycle, a policy and other keys of its own.  AWS has the table bucket alone (spec/glue.md 6, row 68). */
static Status check_place(Run *r, const Name *n, Str location, Error *err)
{
    const ServiceOptions *o = &r->svc->options;
    Location l;

    if (!r->st->managed || svc_is_table_bucket(n->catalog_id))
        return OK;
    if (o->aws_compat)
        return FAIL(err, E_UNSUPPORTED, "a system-managed materialized view can be created in an S3 Tables catalog only, not in " STR_FMT " (aws_compat)", STR_ARG(n->catalog_name));
    if (o->managed_anywhere)
        return OK;
    TRY(store_parse_location(r->a, location, &l, err));
    if (!l.file && str_eq(l.bucket, o->warehouse_bucket))
        return OK;
    RAISE(err, E_UNSUPPORTED, "system-managed materialized views are not supported in general purpose buckets: " STR_FMT " would lie at " STR_FMT, STR_ARG(name_display(r->a, n)), STR_ARG(location));
    error_hint(err, "Create it in an S3 Tables catalog or in a namespace of the warehouse bucket, create a regular view, or set managed.general_purpose = on in the server's configuration.");
    return E_UNSUPPORTED;
}

Status do_create_mv(Run *r, Rows *rows, Error *err)
{
    CatRelation rel, *there = NULL;
    CatNamespace ns;
    RefreshReport rep;
    ViewSpec spec;
    Error absent;
    Name n;

    rows_command(rows, "CREATE MATERIALIZED VIEW");
    TRY(check_settings(r, err));
    TRY(check_schedule(r, &r->st->schedule, err));
    TRY(check_properties(&r->st->props, err));
    TRY(name_resolve(r, &r->st->name, &n, err));
    TRY(cat_namespace_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, &ns, err));
    if (cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, &absent) == OK)
        there = &rel;
    if (there && r->st->if_not_exists)
        return OK;
    if (there && !r->st->or_replace)
        return FAIL(err, E_EXISTS, "[TABLE_OR_VIEW_ALREADY_EXISTS] Cannot create table or view " STR_FMT " because it already exists.", STR_ARG(name_display(r->a, &n)));
    TRY(ask_create(r, &n, there, err));
    TRY(spec_of(r, &n, there, &spec, err));
    TRY(check_place(r, &n, spec.location, err));
    if (!there)
        TRY(grants_of(r, &spec, err));
    TRY(refresh_create(r->svc->refresher, r->a, &spec, &rep, err));
    report(r, &rep);
    sched_wake(r->svc->scheduler);
    return OK;
}

/* ---- the others --------------------------------------------------------------------------------------------------------------- */

static Status open_view(Run *r, Name *n, CatRelation *rel, CatMview *v, Error *err)
{
    TRY(name_resolve(r, &r->st->name, n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, n->name, rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    if (rel->kind != REL_MVIEW)
        return FAIL(err, E_INVALID, "[WRONG_COMMAND_FOR_OBJECT_TYPE] " STR_FMT " is not a materialized view", STR_ARG(name_display(r->a, n)));
    return cat_mview_get(r->svc->catalog, r->a, rel->id, v, err);
}

static int given_up(void *ctx)
{
    Session *ss = ctx;
    pthread_mutex_lock(&ss->lock);
    int cancelled = ss->cancelled;
    pthread_mutex_unlock(&ss->lock);
    return cancelled;
}

Status do_refresh_mv(Run *r, Rows *rows, Error *err)
{
    RefreshRequest q = { .full = r->st->full, .trigger = S("ON_DEMAND"), .role = principal_owner(&r->ss->principal), .conn = r->c, .given_up = given_up, .ctx = r->ss };
    RefreshReport rep;
    CatRelation rel;
    CatMview v;
    Name n;

    rows_command(rows, "REFRESH MATERIALIZED VIEW");
    TRY(open_view(r, &n, &rel, &v, err));
    Ask ask = { .action = ACT_REFRESH, .api = "REFRESH MATERIALIZED VIEW", .iam = definer_refresh_action(&v), .relation = &rel, .catalog = rel.catalog, .namespace = rel.namespace, .name = rel.name };
    TRY(access_check(r->svc->access, r->a, &r->ss->principal, &ask, err));
    TRY(refresh_run(r->svc->refresher, r->a, rel.id, &q, &rep, err));
    report(r, &rep);
    return OK;
}

Status do_drop_mv(Run *r, Rows *rows, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "DROP MATERIALIZED VIEW");
    CatRelation rel;
    CatMview v;
    Name n;
    Error ignored;

    rows_command(rows, "DROP MATERIALIZED VIEW");
    Status s = open_view(r, &n, &rel, &v, err);
    if (s == E_NOT_FOUND && r->st->if_exists)
        return OK;
    TRY(s);
    if (refresh_stop(r->svc->refresher, rel.id, &ignored) == OK)
        session_note(r->ss, "NOTICE", "00000", "a running refresh of the view was stopped");
    SvcName name = { n.catalog_id, n.namespace, n.name };
    return svc_table_drop(&call, &name, SVC_PURGE_FILES, err);
}

static Status set_schedule(Run *r, CatMview *v, Error *err)
{
    TRY(check_schedule(r, &r->st->schedule, err));
    if (r->st->schedule_drop && r->svc->options.aws_compat)
        return OK;                                    /* AWS says yes and goes on refreshing */
    int64_t every_s = r->st->schedule_drop ? 0 : r->st->schedule.seconds;
    TRY(cat_mview_schedule(r->svc->catalog, v->relation_id, every_s, every_s ? clock_ms() + every_s * 1000 : 0, err));
    sched_wake(r->svc->scheduler);
    return OK;
}

Status do_alter_mv(Run *r, Rows *rows, Error *err)
{
    CatRelation rel;
    CatMview v;
    Name n;

    rows_command(rows, "ALTER MATERIALIZED VIEW");
    TRY(open_view(r, &n, &rel, &v, err));
    if (r->st->actions.n)
        return do_alter_table(r, rows, err);          /* SET TBLPROPERTIES, RENAME TO */
    TRY(run_ask(r, ACT_SCHEDULE, "ALTER MATERIALIZED VIEW", &rel, err));
    if (r->st->schedule_drop || r->st->schedule.has)
        return set_schedule(r, &v, err);
    return FAIL(err, E_UNSUPPORTED, "this ALTER MATERIALIZED VIEW is not supported");
}
