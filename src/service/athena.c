/* SPDX-License-Identifier: Apache-2.0 */
/* athena.c - Athena's own statements: OPTIMIZE, VACUUM, MSCK REPAIR TABLE, UNLOAD; and SHOW and DESCRIBE in Athena's columns.
 *
 * OPTIMIZE and VACUUM are the procedures of call_maintain.c with the arguments that the statement and the table's vacuum_… properties
 * say; they give no rows. */
#include "service/athena.h"

#include "service/ddl_int.h"
#include "service/describe_int.h"

enum { VACUUM_AGE_SECONDS = 432000, VACUUM_KEEP = 1, VACUUM_ORPHAN_SECONDS = 259200 };

/* ---- upkeep ------------------------------------------------------------------------------------------------------------- */

static Expr *text(Run *r, Str s)
{
    Expr *e = arena_new(r->a, Expr);
    e->kind = EX_LITERAL;
    e->type.kind = DT_STRING;
    e->value = (Value){ .kind = DT_STRING, .string = s };
    return e;
}

static Expr *number(Run *r, int64_t n)
{
    Expr *e = arena_new(r->a, Expr);
    e->kind = EX_LITERAL;
    e->type.kind = DT_INT64;
    e->value = (Value){ .kind = DT_INT64, .integer = n };
    return e;
}

static Expr *instant(Run *r, int64_t us)
{
    Expr *e = arena_new(r->a, Expr);
    e->kind = EX_LITERAL;
    e->type.kind = DT_TIMESTAMPTZ;
    e->value = (Value){ .kind = DT_TIMESTAMPTZ, .integer = us };
    return e;
}

static void add(Run *r, Stmt *call, const char *name, Expr *value)
{
    Assign x = { .value = value };
    vec_push(r->a, &x.column, str_c(name));
    vec_push(r->a, &call->call_args, x);
}

/* CALL system.<procedure>(table => this statement's) */
static Stmt *procedure(Run *r, const char *name)
{
    Stmt *call = arena_new(r->a, Stmt);
    StrBuf table = sb_new(r->a);

    *call = (Stmt){ .kind = ST_CALL, .start = r->st->start, .end = r->st->end, .position = r->st->position };
    vec_push(r->a, &call->name, S("system"));
    vec_push(r->a, &call->name, str_c(name));
    for (size_t i = 0; i < r->st->name.n; i++) {
        sb_addc(&table, i ? "." : "");
        sql_ident(&table, r->st->name.p[i]);
    }
    add(r, call, "table", text(r, sb_str(&table)));
    return call;
}

/* The procedure's rows are not the statement's. */
static Status run_call(Run *r, Rows *rows, Stmt *call, Error *err)
{
    const Stmt *own = r->st;

    r->st = call;
    Status s = do_call(r, rows, err);
    r->st = own;
    rows->columns = (RowColumns){0};
    rows->memory.n = 0;
    return s;
}

Status do_optimize(Run *r, Rows *rows, Error *err)
{
    Stmt *call = procedure(r, "rewrite_data_files");

    if (r->st->where)
        add(r, call, "where", text(r, r->st->query_text));
    TRY(run_call(r, rows, call, err));
    rows_command(rows, "OPTIMIZE");
    return OK;
}

static int64_t seconds_of(const Props *p, const char *key, int64_t absent)
{
    int64_t n;
    return str_to_i64(props_get(p, str_c(key), S("")), &n) && n >= 0 ? n : absent;
}

Status do_vacuum(Run *r, Rows *rows, Error *err)
{
    LakeTable t;
    Name n;

    TRY(open_table(r, &r->st->name, &n, &t, err));
    const Props *p = &t.meta->properties;
    Stmt *expire = procedure(r, "expire_snapshots"), *orphans = procedure(r, "remove_orphan_files");
    int64_t orphan_age = seconds_of(p, "vacuum_max_metadata_files_to_keep_age_seconds", VACUUM_ORPHAN_SECONDS);
    add(r, expire, "older_than", instant(r, r->now_us - seconds_of(p, "vacuum_max_snapshot_age_seconds", VACUUM_AGE_SECONDS) * 1000000));
    add(r, expire, "retain_last", number(r, seconds_of(p, "vacuum_min_snapshots_to_keep", VACUUM_KEEP)));
    add(r, orphans, "older_than", instant(r, r->now_us - orphan_age * 1000000));
    TRY(run_call(r, rows, expire, err));
    TRY(run_call(r, rows, orphans, err));
    rows_command(rows, "VACUUM");
    return OK;
}

static Status refuse(Run *r, const char *what, Error *err)
{
    RAISE(err, E_UNSUPPORTED, "NOT_SUPPORTED: %s", what);
    err->position = r->st->position;
    return E_UNSUPPORTED;
}

Status do_repair_table(Run *r, Rows *rows UNUSED, Error *err)
{
    return refuse(r, "MSCK REPAIR TABLE is for external tables; an Iceberg table knows its partitions", err);
}

/* ---- SHOW ----------------------------------------------------------------------------------------------------------------- */

const char *athena_column(const Run *r, const char *spark, const char *athena) { return r->ss->dialect == DIALECT_TRINO ? athena : spark; }

static Str hive_type(Run *r, const DataType *t)
{
    Str s = sql_type_name(r->a, DIALECT_SPARK, t);
    return t->kind == DT_TIMESTAMP || t->kind == DT_TIMESTAMP_NS ? S("timestamp") : s;
}

Status athena_type(Run *r, const IceType *type, Str *ret, Error *err)
{
    DataType t;

    TRY(lake_type(r->a, type, &t, err));
    *ret = hive_type(r, &t);
    return OK;
}

static void partitioned_by(Run *r, StrBuf *b, const LakeTable *t, const IceSchema *s)
{
    const IceSpec *spec = ice_spec(t->meta, t->meta->default_spec_id);

    for (size_t i = 0; spec && i < spec->fields.n; i++) {
        const IceField *f = ice_field_by_id(s, spec->fields.p[i].source_id);
        const IceTransform *tr = &spec->fields.p[i].transform;
        Str name = f ? f->name : spec->fields.p[i].name;
        sb_addc(b, i ? ", " : "PARTITIONED BY (");
        if (tr->kind == TRANSFORM_IDENTITY)
            sb_fmt(b, "`" STR_FMT "`", STR_ARG(name));
        else if (tr->width)
            sb_fmt(b, "%s(%d, `" STR_FMT "`)", tr->kind == TRANSFORM_BUCKET ? "bucket" : "truncate", tr->width, STR_ARG(name));
        else
            sb_fmt(b, STR_FMT "(`" STR_FMT "`)", STR_ARG(ice_transform_text(r->a, tr)), STR_ARG(name));
    }
    sb_addc(b, spec && spec->fields.n ? ")\n" : "");
}

/* The statement that makes the table, a row a line. */
Status athena_create_text(Run *r, const Name *n, const LakeTable *t, Str *ret, Error *err)
{
    const IceSchema *s = ice_current_schema(t->meta);
    StrBuf b = sb_new(r->a);

    sb_fmt(&b, "CREATE TABLE " STR_FMT "." STR_FMT " (\n", STR_ARG(n->namespace), STR_ARG(n->name));
    for (size_t i = 0; i < s->fields.n; i++) {
        Str type;
        TRY(athena_type(r, s->fields.p[i].type, &type, err));
        sb_fmt(&b, "  `" STR_FMT "` " STR_FMT "%s", STR_ARG(s->fields.p[i].name), STR_ARG(type), i + 1 < s->fields.n ? ",\n" : ")\n");
    }
    partitioned_by(r, &b, t, s);
    sb_addc(&b, "LOCATION ");
    describe_string(&b, t->meta->location);
    sb_addc(&b, "\nTBLPROPERTIES (\n  'table_type'='iceberg'");
    for (size_t i = 0; i < t->meta->properties.n; i++) {
        sb_addc(&b, ",\n  ");
        describe_string(&b, t->meta->properties.p[i].key);
        sb_byte(&b, '=');
        describe_string(&b, t->meta->properties.p[i].value);
    }
    sb_addc(&b, "\n)");
    *ret = sb_str(&b);
    return OK;
}

void athena_lines(Run *r, Rows *rows, Str text_)
{
    StrVec lines = {0};

    str_split(r->a, text_, '\n', &lines);
    for (size_t i = 0; i < lines.n; i++)
        cell_str(rows, rows_row(rows), 0, lines.p[i]);
}

Status athena_show_view(Run *r, Rows *rows, Error *err)
{
    CatRelation rel;
    IceView *v;
    Name n;

    rows_column(rows, "Create View", DT_STRING);
    TRY(name_resolve(r, &r->st->name, &n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n.catalog_id, n.namespace, n.name, &rel, err);
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    TRY(run_ask(r, ACT_READ_METADATA, "SHOW CREATE VIEW", &rel, err));
    if (rel.kind != REL_VIEW)
        return FAIL(err, E_INVALID, "NOT_SUPPORTED: Relation '" STR_FMT "' is a table, not a view", STR_ARG(name_display(r->a, &n)));
    TRY(ice_view_read(r->a, r->svc->store, rel.metadata_location, &v, err));
    for (size_t i = 0; i < v->versions.n; i++)
        if (v->versions.p[i]->id == v->current_version_id && v->versions.p[i]->reprs.n) {
            StrBuf b = sb_new(r->a);
            sb_addc(&b, "CREATE VIEW ");
            sql_ident(&b, n.namespace);
            sb_byte(&b, '.');
            sql_ident(&b, n.name);
            sb_fmt(&b, " AS\n" STR_FMT, STR_ARG(v->versions.p[i]->reprs.p[0].sql));
            athena_lines(r, rows, sb_str(&b));
        }
    return OK;
}
