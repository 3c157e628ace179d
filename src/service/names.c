/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - what a name in a statement means in this session.
 *
 * catalog.namespace.table, with the session's catalog and namespace for what is left out.  A catalog name is one of: a name given by
 * `spark.sql.catalog.<name>.glue.id` (session, then configuration), glue_catalog and spark_catalog for the account's catalog, a table
 * bucket's own name.  A trailing part may be a metadata table (t.snapshots) or a reference (t.branch_x, t.tag_x). */
#include "service/session_int.h"
#include "service/athena.h"
#include "service/external.h"
#include "service/files.h"
#include "service/live_sql.h"
#include "live/live.h"
#include "service/mzcatalog.h"
#include "service/pgcatalog.h"
#include "service/prune.h"
#include "service/refreshes.h"

Status name_catalog(Run *r, Str sql_name, Str *id, Error *err)
{
    CatWarehouse w;
    Str key = str_fmt(r->a, "spark.sql.catalog." STR_FMT ".glue.id", STR_ARG(sql_name));
    Str given = setting_get(r->ss, key, (Str){0});

    if (!given.n && (str_eq(sql_name, S("glue_catalog")) || str_eq(sql_name, S("spark_catalog")) || str_ieq(sql_name, S("awsdatacatalog"))))
        given = cat_account(r->svc->catalog);
    TRY(cat_warehouse_get(r->svc->catalog, r->a, given.n ? given : sql_name, &w, err));
    *id = w.id;
    return OK;
}

static bool is_catalog(Run *r, Str name)
{
    Str id;
    Error ignored;
    return name_catalog(r, name, &id, &ignored) == OK;
}

static Str current_catalog(Run *r)
{
    return setting_get(r->ss, S("spark.sql.defaultCatalog"), r->ss->catalog_name);
}

Status name_namespace(Run *r, const StrVec *parts, Name *ret, Error *err)
{
    *ret = (Name){ .catalog_name = current_catalog(r), .namespace = r->ss->namespace };
    if (parts->n > 2)
        return FAIL(err, E_INVALID, "'" STR_FMT "' has too many parts for a namespace", STR_ARG(str_join(r->a, parts, S("."))));
    if (parts->n == 2) {
        ret->catalog_name = parts->p[0];
        ret->namespace = parts->p[1];
    } else if (parts->n == 1) {
        ret->namespace = parts->p[0];
    }
    return name_catalog(r, ret->catalog_name, &ret->catalog_id, err);
}

static Status plain(Run *r, const Str *p, size_t n, Name *ret, Error *err)
{
    *ret = (Name){ .catalog_name = current_catalog(r), .namespace = r->ss->namespace, .name = p[n - 1] };
    if (n >= 2)
        ret->namespace = p[n - 2];
    if (n == 3)
        ret->catalog_name = p[0];
    return name_catalog(r, ret->catalog_name, &ret->catalog_id, err);
}

static bool exists(Run *r, const Name *n)
{
    CatRelation rel;
    Error ignored;
    return cat_relation_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, n->name, &rel, &ignored) == OK;
}

static bool take_suffix(Str part, Name *ret)
{
    if (lake_is_metadata_table(part) || str_eq(part, S("refreshes")))
        ret->metadata_table = part;
    else if (str_starts(part, S("branch_")))
        ret->ref = str_from(part, 7);
    else if (str_starts(part, S("tag_")))
        ret->ref = str_from(part, 4);
    else
        return false;
    return true;
}

/* The longest reading that names an existing relation wins; else the plain reading, for messages and for CREATE. */
Status name_resolve(Run *r, const StrVec *parts, Name *ret, Error *err)
{
    Error why;
    Name base;

    if (!parts->n || parts->n > 4)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a table name: catalog.namespace.table is the longest form", STR_ARG(str_join(r->a, parts, S("."))));
    if (parts->n <= 3) {
        bool known = parts->n < 3 || is_catalog(r, parts->p[0]);
        Status s = known ? plain(r, parts->p, parts->n, ret, &why) : E_NOT_FOUND;
        if (s == OK && exists(r, ret))
            return OK;
    }
    Name suffix = {0};
    if (parts->n >= 2 && take_suffix(parts->p[parts->n - 1], &suffix) && plain(r, parts->p, parts->n - 1, &base, &why) == OK && exists(r, &base)) {
        base.metadata_table = suffix.metadata_table;
        base.ref = suffix.ref;
        *ret = base;
        return OK;
    }
    if (parts->n == 4)
        return FAIL(err, E_NOT_FOUND, "'" STR_FMT "' is not a table name: catalog.namespace.table is the longest form", STR_ARG(str_join(r->a, parts, S("."))));
    return plain(r, parts->p, parts->n, ret, err);
}

Str name_display(Arena *a, const Name *n)
{
    return str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(n->catalog_name), STR_ARG(n->namespace), STR_ARG(n->name));
}

Status table_not_found(Run *r, const StrVec *parts, int position, Error *err)
{
    if (r->ss->dialect == DIALECT_SPARK) {
        StrBuf b = sb_new(r->a);
        for (size_t i = 0; i < parts->n; i++)
            sb_fmt(&b, "%s`" STR_FMT "`", i ? "." : "", STR_ARG(parts->p[i]));
        RAISE(err, E_NOT_FOUND, "[TABLE_OR_VIEW_NOT_FOUND] The table or view " STR_FMT " cannot be found. Verify the spelling and correctness of the schema and catalog.", STR_ARG(sb_str(&b)));
    } else if (r->ss->dialect == DIALECT_TRINO) {
        Str catalog = parts->n > 2 ? parts->p[0] : current_catalog(r), schema = parts->n > 1 ? parts->p[parts->n - 2] : r->ss->namespace;
        RAISE(err, E_NOT_FOUND, "TABLE_NOT_FOUND: Table '" STR_FMT "." STR_FMT "." STR_FMT "' does not exist", STR_ARG(str_lower(r->a, catalog)), STR_ARG(schema), STR_ARG(vec_last(parts)));
    } else {
        RAISE(err, E_NOT_FOUND, "relation \"" STR_FMT "\" does not exist", STR_ARG(str_join(r->a, parts, S("."))));
    }
    memcpy(err->sqlstate, "42P01", 6);
    err->position = position;
    return E_NOT_FOUND;
}

Status open_table(Run *r, const StrVec *parts, Name *name, LakeTable *ret, Error *err)
{
    TRY(name_resolve(r, parts, name, err));
    Status s = lake_open(r->svc->lake, r->a, name->catalog_id, name->namespace, name->name, ret, err);
    ret->rights = external_rights(r);
    return s == E_NOT_FOUND && !ret->relation.id ? table_not_found(r, parts, r->st->position, err) : s;
}

/* ---- for the binder -------------------------------------------------------------------------------------------------------- */

/* A snapshot's id, or the name of a branch or tag. */
static Status version_of(const Expr *e, LakeName *n, Error *err)
{
    if (e->kind == EX_LITERAL && e->value.kind == DT_STRING && e->value.string.n) {
        n->ref = e->value.string;
        return OK;
    }
    if (e->kind == EX_LITERAL && (e->value.kind == DT_INT32 || e->value.kind == DT_INT64)) {
        n->version = SOME_I64(e->value.integer);
        return OK;
    }
    RAISE(err, E_INVALID, "VERSION AS OF needs a constant: a snapshot's id, or the name of a branch or tag");
    err->position = e->position;
    return E_INVALID;
}

/* The binder has made it a TIMESTAMPTZ without columns: '2026-01-01', current_timestamp() - INTERVAL 1 DAY, … */
static Status timestamp_of(Run *r, const Expr *e, LakeName *n, Error *err)
{
    Printer p = run_printer(r);
    int64_t ms = 0;
    bool has = false;
    Str text;

    TRY(sql_print_expr(r->a, &p, e, &text, err));
    TRY_CTX(duck_scalar_i64(r->c, str_fmt(r->a, "SELECT epoch_ms(" STR_FMT ")", STR_ARG(text)), &ms, &has, err), err, "TIMESTAMP AS OF");
    if (!has) {
        RAISE(err, E_INVALID, "TIMESTAMP AS OF needs a time, not NULL");
        err->position = e->position;
        return E_INVALID;
    }
    n->timestamp_ms = SOME_I64(ms);
    return OK;
}

static Status time_travel(Run *r, const TableRef *ref, LakeName *n, Error *err)
{
    const AsOf *as = &ref->as_of;

    if (as->branch.n)
        n->ref = as->branch;
    if (as->version)
        TRY(version_of(as->version, n, err));
    return as->timestamp ? timestamp_of(r, as->timestamp, n, err) : OK;
}

static Status resolve_pg(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    bool qualified = ref->name.n >= 2 && (str_ieq(ref->name.p[ref->name.n - 2], S("pg_catalog")) || str_ieq(ref->name.p[ref->name.n - 2], S("information_schema")));

    if (!qualified && !(ref->name.n == 1 && str_starts(ref->name.p[0], S("pg_"))))
        return E_NOT_FOUND;
    Str schema = qualified ? ref->name.p[ref->name.n - 2] : S("pg_catalog");
    TRY(pgcat_resolve(NULL, a, str_lower(a, schema), str_lower(a, ref->name.p[ref->name.n - 1]), ret, err));
    return run_fill_pg_catalog(r, err);
}

static Status view_query(Run *r, Arena *a, const CatRelation *rel, const Name *n, BoundTable **ret, Error *err);

/* <view>.refreshes lives in the catalog, not in the table. */
static Status bind_refreshes(Run *r, Arena *a, const LakeTable *t, const Name *n, BoundTable **ret, Error *err)
{
    BoundTable *b = arena_new(a, BoundTable);
    LakeSource *src = arena_new(a, LakeSource);

    if (t->relation.kind != REL_MVIEW)
        return FAIL(err, E_NOT_FOUND, STR_FMT " is not a materialized view: it has no refreshes", STR_ARG(name_display(r->a, n)));
    *src = (LakeSource){ .table = *t, .metadata_table = n->metadata_table };
    TRY(refreshes_columns(a, &b->columns, err));
    b->id = str_fmt(a, STR_FMT "/refreshes", STR_ARG(t->relation.uuid));
    b->display = name_display(a, n);
    b->user = src;
    *ret = b;
    return OK;
}

/* That there is no such table is told to who may see the namespace. */
static Status may_know(Run *r, const Name *n, Error *err)
{
    Ask ask = { .action = ACT_READ_METADATA, .api = "SELECT", .catalog = n->catalog_id, .namespace = n->namespace, .name = n->name };
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}

static Status resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    Run *r = ctx;
    LakeTable *t = arena_new(a, LakeTable);
    CatRelation rel;
    Name n = {0};

    if (r->dialect == DIALECT_TRINO && athena_is_schema_table(&ref->name))
        return athena_schema_table(r, a, &ref->name, ret, err);
    Status pg = resolve_pg(r, a, ref, ret, err);
    if (pg != E_NOT_FOUND)
        return pg;
    Status mz = mzcat_resolve(r, a, ref, ret, err);
    if (mz != E_NOT_FOUND)
        return mz;
    Status live = live_resolve(r, a, ref, ret, err);
    if (live != E_NOT_FOUND)
        return live;
    Status s = name_resolve(r, &ref->name, &n, err);
    if (s == OK)
        s = cat_relation_get(r->svc->catalog, a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND && n.name.n)
        TRY(may_know(r, &n, err));
    if (s == E_NOT_FOUND)
        return table_not_found(r, &ref->name, ref->position, err);
    TRY(s);
    TRY(run_ask(r, n.metadata_table.n ? ACT_READ_METADATA : ACT_READ_DATA, "SELECT", &rel, err));
    if (!str_eq(n.metadata_table, S("refreshes")))
        TRY(cat_intact_check(&rel, err));
    if (rel.kind == REL_EXTERNAL && n.metadata_table.n)
        return FAIL(err, E_INVALID, STR_FMT " is not an Iceberg table: it has no metadata tables", STR_ARG(name_display(a, &n)));
    if (rel.kind == REL_VIEW || external_is_view(&rel)) {
        TRY(view_query(r, a, &rel, &n, ret, err));
        return run_limit_columns(r, a, &rel, &n, *ret, err);
    }
    TRY(external_open(r, a, &rel, t, err));
    if (str_eq(n.metadata_table, S("refreshes")))
        return bind_refreshes(r, a, t, &n, ret, err);
    LakeName ln = { .catalog_name = n.catalog_name, .namespace = n.namespace, .name = n.name, .metadata_table = n.metadata_table, .ref = n.ref };
    TRY(time_travel(r, ref, &ln, err));
    s = lake_bind_table(r->svc->lake, a, t, &ln, ret, err);
    if (s == E_NOT_FOUND)                                    /* the table is there; what lacks is a snapshot, or a metadata table */
        s = err->code = E_INVALID;
    TRY(s);
    TRY(compat_bind(r, a, &rel, *ret, err));
    return run_limit_columns(r, a, &rel, &n, *ret, err);
}

/* Who and where a session of the live side is, in its own words. */
static void live_binder(Run *r, Binder *b)
{
    StrVec path = {0};
    Error absent;
    Str role;

    if (live_role(r, &role, &absent) == OK)
        b->current_user = realm_role_name(r->svc->realm, r->a, role);
    live_search_path(r, &path);
    if (path.n)
        b->current_namespace = path.p[0];
    b->current_catalog = live_database(r);
}

void run_binder(Run *r, Binder *b)
{
    *b = (Binder){ .dialect = r->dialect, .text = r->text, .ctx = r, .resolve = resolve, .resolve_file = files_resolve, .resolve_type = live_resolve_type, .probe = r->c, .params = r->params, .nparams = r->nparams,
                   .now_has = 1, .now_us = r->now_us, .current_user = r->ss->principal.arn, .current_catalog = current_catalog(r),
                   .current_namespace = r->ss->namespace, .case_sensitive = setting_on(r->ss, S("spark.sql.caseSensitive")) };
    if (live_speaks(r))
        live_binder(r, b);
}

/* ---- plain views ------------------------------------------------------------------------------------------------------------------ */

enum { VIEW_DEPTH = 32 };

static const IceViewRepr *pick_repr(const IceViewVersion *v)
{
    for (size_t i = 0; i < v->reprs.n; i++)
        if (str_ieq(v->reprs.p[i].dialect, S("spark")))
            return &v->reprs.p[i];
    for (size_t i = 0; i < v->reprs.n; i++)
        if (str_ieq(v->reprs.p[i].dialect, S("postgres")) || str_ieq(v->reprs.p[i].dialect, S("duckdb")))
            return &v->reprs.p[i];
    return v->reprs.n ? &v->reprs.p[0] : NULL;
}

static const IceViewVersion *current_version(const IceView *v)
{
    for (size_t i = 0; i < v->versions.n; i++)
        if (v->versions.p[i]->id == v->current_version_id)
            return v->versions.p[i];
    return NULL;
}

/* Bound with the view's own default catalog and namespace. */
static Status bind_view(Run *r, Arena *a, const IceViewVersion *v, const IceViewRepr *repr, Query **q, Error *err)
{
    Session *ss = r->ss;
    Str catalog = ss->catalog_name, ns = ss->namespace;
    Dialect d = str_ieq(repr->dialect, S("spark")) ? DIALECT_SPARK : str_ieq(repr->dialect, S("trino")) ? DIALECT_TRINO : DIALECT_POSTGRES;
    Binder b;

    TRY(sql_parse_query(a, d, repr->sql, q, err));
    if (v->default_catalog.n)
        ss->catalog_name = v->default_catalog;
    if (v->default_namespace.n)
        ss->namespace = str_join(a, &v->default_namespace, S("\x1f"));
    run_binder(r, &b);
    b.dialect = d;
    b.params = NULL;
    Status s = sql_bind_query(a, &b, *q, err);
    ss->catalog_name = catalog;
    ss->namespace = ns;
    return s;
}

static Status read_version(Run *r, Arena *a, const CatRelation *rel, const IceViewVersion **ret, Error *err)
{
    IceView *view;

    if (rel->kind == REL_EXTERNAL)
        return external_view(a, rel, ret, err);
    TRY(ice_view_read(a, r->svc->store, rel->metadata_location, &view, err));
    *ret = current_version(view);
    return OK;
}

static Status view_query(Run *r, Arena *a, const CatRelation *rel, const Name *n, BoundTable **ret, Error *err)
{
    BoundTable *t = arena_new(a, BoundTable);
    const IceViewVersion *v;

    TRY(read_version(r, a, rel, &v, err));
    const IceViewRepr *repr = v ? pick_repr(v) : NULL;
    if (!repr)
        return FAIL(err, E_UNSUPPORTED, "view " STR_FMT " has no SQL that can be run here", STR_ARG(name_display(a, n)));
    if (++r->view_depth > VIEW_DEPTH)
        return FAIL(err, E_LIMIT, "views are nested deeper than %d levels: does " STR_FMT " read itself?", VIEW_DEPTH, STR_ARG(name_display(a, n)));
    Status s = bind_view(r, a, v, repr, &t->view, err);
    r->view_depth--;
    if (s != OK)
        return error_context(err, "view " STR_FMT, STR_ARG(name_display(a, n))), s;
    t->id = rel->uuid;
    t->display = name_display(a, n);
    t->columns = t->view->columns;
    *ret = t;
    return OK;
}

/* ---- for the printer ------------------------------------------------------------------------------------------------------------------------ */

static Status print_table(void *ctx, StrBuf *out, const TableRef *ref, Error *err)
{
    Run *r = ctx;
    LakeRelation rel;

    if (ref->kind == TR_FILE) {
        files_print(out, ref);
        return OK;
    }
    int64_t live;
    if (live_is_table(ref->table, &live)) {
        Str text;
        if (!r->live_as_of.has && !r->live_exclusive)
            TRY(live_freshen(r->svc->live, live, err));
        TRY(r->live_as_of.has ? live_state_sql(r->svc->live, r->a, live, r->live_as_of.v, &text, err) : live_relation_sql(r->svc->live, r->a, live, &text, err));
        sb_add(out, text);
        return OK;
    }
    if (!ref->table->user) {                          /* pg_catalog: an engine table of that name */
        sql_ident(out, ref->table->id);
        return OK;
    }
    const LakeSource *src = ref->table->user;
    if (str_eq(src->metadata_table, S("refreshes")))
        TRY(refreshes_relation(r->svc, r->a, r->c, src->table.relation.id, &rel, err));
    else
        TRY(lake_source_relation(r->svc->lake, r->a, r->c, src, prune_of(r, ref), &rel, err));
    vec_push(r->a, &r->relations, rel);
    vec_push(r->a, &r->scanned, ((Scanned){ ref->table->display, rel.files, rel.files_skipped, rel.bytes, rel.rows_upper }));
    sb_fmt(out, "(" STR_FMT ")", STR_ARG(rel.sql));
    return OK;
}

Printer run_printer(Run *r) { return (Printer){ .ctx = r, .table = print_table }; }

Status run_ask(Run *r, Action action, const char *api, const CatRelation *rel, Error *err)
{
    Ask ask = { .action = action, .api = api, .relation = rel, .catalog = rel->catalog, .namespace = rel->namespace, .name = rel->name, .storage = 1 };
    return access_check(r->svc->access, r->a, &r->ss->principal, &ask, err);
}
