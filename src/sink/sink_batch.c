/* SPDX-License-Identifier: Apache-2.0 */
/* sink_batch.c - what one commit brings: the changes of a span of time, netted by the engine, as text of encoded rows.
 *
 * Changes that cancel out inside the span are gone before anything is written: k updates of a key are one row that goes and one that comes, so no delete ever has to
 * reach a row of its own commit.  The netting spills to disk when it must; where nothing can cancel out, the log is written as it stands.  A span ends at a tick: `to` is
 * the time of the newest change, never the clock's.
 * Invariants: (1) a span that has net changes is committed whole or not at all; (2) as many rows are written as were counted. */
#include "sink/sink_int.h"

#define NET "temp.sink_net"

/* ---- columns ---------------------------------------------------------------------------------------------------------------- */

static Str engine_columns(Arena *a, const SinkSpec *s)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s->columns.n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, s->columns.p[i].engine);
    }
    return sb_str(&b);
}

static bool is_key(const SinkSpec *s, Str name)
{
    for vec_each(const Str, k, &s->key)
        if (str_eq(*k, name))
            return true;
    return false;
}

static bool partitions_by(const IceSpec *spec, int32_t id)
{
    for (size_t i = 0; i < spec->fields.n; i++)
        if (spec->fields.p[i].source_id == id)
            return true;
    return false;
}

static const Encoding *encoding_of(const Batch *b, const SinkSpec *s, Str name, Str *engine)
{
    for (size_t i = 0; i < s->columns.n; i++)
        if (str_eq(s->columns.p[i].name, name)) {
            *engine = s->columns.p[i].engine;
            return b->encodings.p[i];
        }
    return NULL;
}

static Str own_column(Arena *a, const Batch *b, const char *name)
{
    if (str_eq(str_c(name), S("_mz_diff")))
        return b->rows_whole ? S("CAST(1 AS INTEGER)") : S("CAST(sign(__n) AS INTEGER)");
    return b->rows_whole ? str_fmt(a, "CAST(%lld AS BIGINT)", (long long)b->to) : S("__t");
}

/* One column of the table out of the relation's. */
static Str column_sql(Arena *a, const Batch *b, const SinkSpec *s, const IceField *f, const BoundColumn *col)
{
    Str engine = {0}, type = data_type_sql(a, &col->type);
    const Encoding *e = encoding_of(b, s, f->name, &engine);

    if (e && ice_type_equal(e->ice, f->type) && e->conv != CONV_STRUCT && e->conv != CONV_ARRAY && e->conv != CONV_RANGE)
        return sink_encode(a, s, e, sql_ident_str(a, engine));
    if (e)
        return str_fmt(a, "CAST(" STR_FMT " AS " STR_FMT ")", STR_ARG(sink_encode(a, s, e, sql_ident_str(a, engine))), STR_ARG(type));
    if (s->mode == SINK_APPEND && (str_eq(f->name, S("_mz_diff")) || str_eq(f->name, S("_mz_timestamp"))))
        return own_column(a, b, str_z(a, f->name));
    return str_fmt(a, "CAST(NULL AS " STR_FMT ")", STR_ARG(type));
}

typedef enum { ALL_COLUMNS, NEEDED_COLUMNS } Columns;

static Status select_list(Arena *a, const Batch *b, const SinkSpec *s, const IceMetadata *m, Columns which, Str *ret, Error *err)
{
    const IceSchema *schema = ice_current_schema(m);
    const IceSpec *spec = ice_spec(m, m->default_spec_id);
    BoundColumns cols = {0};
    StrBuf sql = sb_new(a);

    TRY(lake_columns(a, schema, &cols, err));
    for (size_t i = 0; i < schema->fields.n; i++) {
        const IceField *f = &schema->fields.p[i];
        if (which == NEEDED_COLUMNS && !is_key(s, f->name) && !partitions_by(spec, f->id))
            continue;
        sb_fmt(&sql, "%s" STR_FMT " AS ", sql.n ? ", " : "", STR_ARG(column_sql(a, b, s, f, &cols.p[i])));
        sql_ident(&sql, cols.p[i].engine);
    }
    *ret = sb_str(&sql);
    return OK;
}

/* ---- the span ------------------------------------------------------------------------------------------------------------------ */

/* What a look at the log's times and weights tells. */
typedef struct Span { int64_t oldest, newest, come, go, most; } Span;

static Status weigh(Sink *s, Arena *a, Str log, bool *has, Span *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    int64_t *fields[] = { &ret->oldest, &ret->newest, &ret->come, &ret->go, &ret->most };
    size_t n;

    *ret = (Span){0};
    TRY(duck_query_held(s->conn, str_fmt(a, "SELECT min(__t), max(__t), CAST(coalesce(sum(__w) FILTER (__w > 0), 0) AS BIGINT), CAST(coalesce(-sum(__w) FILTER (__w < 0), 0) AS BIGINT), "
                                         "coalesce(max(abs(__w)), 0) FROM " STR_FMT " q", STR_ARG(log)), &r, err));
    TRY(duck_next(r, &n, err));
    *has = n && duck_value(a, r, 0, 0).kind != DT_NULL;
    for (size_t i = 0; *has && i < COUNT_OF(fields); i++)
        *fields[i] = duck_value(a, r, i, 0).integer;
    return OK;
}

static Status span(Sink *s, Batch *b, Span *ret, Error *err)
{
    int64_t upto = s->note.cut_relation ? s->note.cut_upto : INT64_MAX;
    bool has = false;
    Str log;

    b->relation = s->note.cut_relation ? s->note.cut_relation : s->spec.relation;
    b->from = s->note.from;
    TRY(live_log_sql(s->all->o.live, b->a, b->relation, b->from, upto, &log, err));
    TRY(weigh(s, b->a, log, &has, ret, err));
    b->to = has ? ret->newest : b->from;
    b->finishes_cut = s->note.cut_relation != 0;
    if (b->finishes_cut)
        b->to = max_i64(b->to, s->note.cut_upto);
    b->upper = b->seals ? SEALED : b->to + 1;
    return OK;
}

/* The relation as the log has it: after SET FROM the older one may lack columns. */
static Status log_columns(Sink *s, Batch *b, Str log, Str *ret, Error *err)
{
    DuckColumns have = {0};
    StrBuf sql = sb_new(b->a);

    if (!b->finishes_cut) {
        *ret = engine_columns(b->a, &s->spec);
        return OK;
    }
    TRY(duck_describe(s->conn, b->a, str_fmt(b->a, "SELECT * FROM " STR_FMT " q", STR_ARG(log)), &have, err));
    for (size_t i = 0; i < s->spec.columns.n; i++) {
        const SinkColumn *c = &s->spec.columns.p[i];
        Str name = sql_ident_str(b->a, c->engine), type = data_type_sql(b->a, &c->type);
        bool known = false;
        for (size_t k = 0; k < have.n; k++)
            known |= str_eq(have.p[k].name, c->engine);
        sb_fmt(&sql, "%sCAST(" STR_FMT " AS " STR_FMT ") AS " STR_FMT, i ? ", " : "", STR_ARG(known ? name : S("NULL")), STR_ARG(type), STR_ARG(name));
    }
    *ret = sb_str(&sql);
    return OK;
}

/* Has the log columns that the sink has not?  Without them rows of one time may be the same. */
static Status wider(Sink *s, Batch *b, Str log, bool *ret, Error *err)
{
    DuckColumns have = {0};

    TRY(duck_describe(s->conn, b->a, str_fmt(b->a, "SELECT * FROM " STR_FMT " q", STR_ARG(log)), &have, err));
    *ret = have.n != s->spec.columns.n + 2;           /* __t, __w */
    return OK;
}

/* May changes of the span cancel out?  Those of one time are netted when they are logged (live.h); append tells times apart. */
static Status cancels(Sink *s, Batch *b, const Span *sp, Str log, bool *ret, Error *err)
{
    *ret = b->finishes_cut;
    if (*ret || !sp->come || !sp->go)
        return OK;
    if (s->spec.mode == SINK_APPEND)
        return wider(s, b, log, ret, err);
    *ret = sp->oldest < sp->newest;                   /* of one time: a row that goes and comes again as it was is written twice, and stands as it was */
    return OK;
}

static Status net(Sink *s, Batch *b, Str log, Error *err)
{
    const char *by_time = s->spec.mode == SINK_APPEND ? "__t, " : "";
    Str cols;

    TRY(log_columns(s, b, log, &cols, err));
    return duck_exec(s->conn, str_fmt(b->a, "CREATE OR REPLACE TEMP TABLE sink_net AS SELECT %s" STR_FMT ", CAST(sum(__w) AS BIGINT) AS __n FROM " STR_FMT " q GROUP BY ALL HAVING sum(__w) <> 0",
                                      by_time, STR_ARG(cols), STR_ARG(log)), err);
}

static Status count(Sink *s, Batch *b, Span *sp, Error *err)
{
    bool has;

    return weigh(s, b->a, str_fmt(b->a, "(SELECT CAST(0 AS BIGINT) AS __t, __n AS __w FROM " NET ")"), &has, sp, err);
}

/* Where the changes are read: net, each row with its __n. */
static Status changes(Sink *s, Batch *b, Span *sp, Str *ret, Error *err)
{
    bool cancel = false;
    Str log;

    TRY(live_log_sql(s->all->o.live, b->a, b->relation, b->from, b->to, &log, err));
    TRY(cancels(s, b, sp, log, &cancel, err));
    if (!cancel) {
        *ret = str_fmt(b->a, "(SELECT __t, " STR_FMT ", __w AS __n FROM " STR_FMT " l)", STR_ARG(engine_columns(b->a, &s->spec)), STR_ARG(log));
        return OK;
    }
    TRY(net(s, b, log, err));
    TRY(count(s, b, sp, err));
    *ret = S(NET);
    return OK;
}

/* Rows that stand several times are written several times. */
static Str repeated(Arena *a, Str source, int64_t most, const char *where)
{
    return str_fmt(a, "(SELECT *%s FROM " STR_FMT " n%s) q", most > 1 ? ", unnest(range(abs(__n))) AS __i" : "", STR_ARG(source), where);
}

static Status plan_changes(Sink *s, const Table *t, Batch *b, Span *sp, Error *err)
{
    const IceMetadata *m = t->remote.meta;
    bool append = s->spec.mode == SINK_APPEND;
    Str list, source;

    TRY(changes(s, b, sp, &source, err));
    b->ninserts = append ? sp->come + sp->go : sp->come;
    b->ndeletes = append ? 0 : sp->go;
    TRY(select_list(b->a, b, &s->spec, m, ALL_COLUMNS, &list, err));
    b->inserts = str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT, STR_ARG(list), STR_ARG(repeated(b->a, source, sp->most, append ? "" : " WHERE __n > 0")));
    if (!b->ndeletes)
        return OK;
    TRY(select_list(b->a, b, &s->spec, m, NEEDED_COLUMNS, &list, err));
    b->deletes = str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT " q WHERE __n < 0", STR_ARG(list), STR_ARG(source));       /* a key that stands there twice deletes no more than once */
    return OK;
}

/* The relation's rows as of the newest change that this transaction sees: after it there was none. */
static Status plan_rows(Sink *s, const Table *t, Batch *b, Error *err)
{
    Span ignored;
    Str rows, list;
    bool has = false;

    TRY(duck_exec(s->conn, S("BEGIN TRANSACTION"), err));
    b->rows_whole = 1;
    TRY(span(s, b, &ignored, err));
    if (!s->spec.snapshot && !b->replace)
        return OK;                                    /* only the frontier */
    TRY(live_relation_sql(s->all->o.live, b->a, b->relation, &rows, err));
    TRY(duck_scalar_i64(s->conn, str_fmt(b->a, "SELECT count(*) FROM " STR_FMT " q", STR_ARG(rows)), &b->ninserts, &has, err));
    TRY(select_list(b->a, b, &s->spec, t->remote.meta, ALL_COLUMNS, &list, err));
    b->inserts = str_fmt(b->a, "SELECT " STR_FMT " FROM " STR_FMT " q", STR_ARG(list), STR_ARG(rows));
    return OK;
}

Status batch_plan(Sink *s, const Table *t, Batch *b, Error *err)
{
    IceSchema *ours = NULL;
    Span sp;

    TRY(sink_encodings(b->a, &s->spec, &b->encodings, &ours, err));
    for (size_t i = 0; i < b->encodings.n; i++) {
        const IceField *f = ice_field_by_name(ice_current_schema(t->remote.meta), ours->fields.p[i].name);
        if (f)
            sink_encoding_fit(b->a, b->encodings.p[i], f->type);
    }
    b->lower = s->note.frontier;
    b->first = !s->note.frontier;
    b->replace = sink_rebuilds(s);
    b->seals = s->ended && !s->note.cut_relation;
    if (b->first || b->replace)
        return plan_rows(s, t, b, err);
    TRY(span(s, b, &sp, err));
    return b->to > b->from ? plan_changes(s, t, b, &sp, err) : OK;
}

void batch_drop(Sink *s, Batch *b)
{
    Error ignored;

    if (b->rows_whole)
        (void)!duck_exec(s->conn, S("ROLLBACK"), &ignored);
    (void)!duck_exec(s->conn, S("DROP TABLE IF EXISTS " NET "; DROP TABLE IF EXISTS temp.sink_keys"), &ignored);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------ */

/* The column as the encoded rows call it. */
static Str encoded_name(Arena *a, const IceSchema *schema, Str name)
{
    BoundColumns cols = {0};
    Error ignored;

    if (lake_columns(a, schema, &cols, &ignored) == OK)
        for vec_each(const BoundColumn, c, &cols)
            if (str_eq(c->name, name))
                return sql_ident_str(a, c->engine);
    return sql_ident_str(a, name);
}

static Str order_sql(Arena *a, const SinkSpec *s, const IceSchema *schema)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < s->order.n; i++) {
        const SinkOrder *o = &s->order.p[i];
        sb_fmt(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(encoded_name(a, schema, o->column)));
        sb_fmt(&b, " %s NULLS %s", o->descending ? "DESC" : "ASC", o->nulls_first ? "FIRST" : "LAST");
    }
    return sb_str(&b);
}

static Str key_order_sql(Arena *a, const SinkSpec *s, const IceSchema *schema)
{
    StrVec names = {0};
    for vec_each(const Str, k, &s->key) {
        Str name = encoded_name(a, schema, *k);
        vec_push(a, &names, name);
    }
    return str_join(a, &names, S(", "));
}

static Status write_inserts(Sink *s, Table *t, Batch *b, Error *err)
{
    const IceMetadata *m = t->remote.meta;
    LakeWrite w = { .table = &t->lt, .schema = ice_current_schema(m), .validate_required = 1, .order_by = order_sql(b->a, &s->spec, ice_current_schema(m)), .prefix = S("mz_data-"), .style = LAKE_STYLE_FRESH };
    size_t before = b->files.n;
    int64_t rows = 0;

    TRY(lake_write(t->lake, b->a, s->conn, &w, b->inserts, &b->files, &rows, err));
    if (rows != b->ninserts)
        return FAIL(err, E_INTERNAL, "%lld rows were written where %lld were to be", (long long)rows, (long long)b->ninserts);      /* (2) */
    for (size_t i = before; i < b->files.n; i++) {
        if (s->spec.order.n)
            b->files.p[i].file.sort_order_id = SOME_I32(m->default_order_id);
        vec_push(b->a, &b->change.add_data, b->files.p[i].file);
    }
    return OK;
}

static Status key_ids(Sink *s, const IceSchema *schema, Arena *a, int32_t **ret, Error *err)
{
    int32_t *ids = arena_array(a, int32_t, s->spec.key.n + 1);

    for (size_t i = 0; i < s->spec.key.n; i++) {
        const IceField *f = ice_field_by_name(schema, s->spec.key.p[i]);
        if (!f)
            return FAIL(err, E_CONFLICT, "Iceberg table '" STR_FMT "' has no column '" STR_FMT "'", STR_ARG(s->spec.table), STR_ARG(s->spec.key.p[i]));
        ids[i] = f->id;
    }
    *ret = ids;
    return OK;
}

static Status write_equality(Sink *s, Table *t, Batch *b, Error *err)
{
    const IceSchema *schema = ice_current_schema(t->remote.meta);
    LakeWrite w = { .table = &t->lt, .schema = schema, .order_by = key_order_sql(b->a, &s->spec, schema), .prefix = S("mz_data-"), .style = LAKE_STYLE_FRESH };
    size_t before = b->files.n;
    int64_t rows = 0;
    int32_t *ids;

    TRY(key_ids(s, schema, b->a, &ids, err));
    w.equality.p = ids;
    w.equality.n = s->spec.key.n;
    TRY(lake_write(t->lake, b->a, s->conn, &w, b->deletes, &b->files, &rows, err));
    for (size_t i = before; i < b->files.n; i++)
        vec_push(b->a, &b->change.add_deletes, b->files.p[i].file);
    return OK;
}

Status batch_positions(Sink *s, Table *t, Batch *b, Error *err)
{
    const IceSnapshot *snapshot = ice_current_snapshot(t->remote.meta);
    LakeScan scan = { .snapshot = snapshot, .schema = ice_current_schema(t->remote.meta), .positions = 1 };
    StrBuf on = sb_new(b->a);
    LakeRelation rows = {0};
    int64_t n = 0;

    b->change.remove_data.n = b->change.add_deletes.n = 0;
    lake_discard(t->lake, &b->position_files);
    b->position_files.n = 0;
    TRY(duck_exec(s->conn, str_fmt(b->a, "CREATE OR REPLACE TEMP TABLE sink_keys AS " STR_FMT, STR_ARG(b->deletes)), err));
    for vec_each(const Str, k, &s->spec.key) {
        Str name = encoded_name(b->a, scan.schema, *k);
        sb_fmt(&on, "%sq." STR_FMT " IS NOT DISTINCT FROM k." STR_FMT, on.n ? " AND " : "", STR_ARG(name), STR_ARG(name));
    }
    TRY(lake_scan(t->lake, b->a, s->conn, &t->lt, &scan, &rows, err));
    Str sql = str_fmt(b->a, "SELECT q.__file, q.__pos FROM (" STR_FMT ") q SEMI JOIN temp.sink_keys k ON " STR_FMT, STR_ARG(rows.sql), STR_ARG(sb_str(&on)));
    Status st = lake_delete_rows(t->lake, b->a, s->conn, &t->lt, sql, &b->change, &b->position_files, &n, err);
    lake_relation_drop(s->conn, &rows);
    b->positions_of = snapshot ? snapshot->id : 0;
    b->change.check_conflicts = 1;
    b->change.isolation = ISOLATION_SNAPSHOT;
    b->change.base_snapshot = snapshot ? SOME_I64(snapshot->id) : (OptI64){0};
    return st;
}

Status batch_write(Sink *s, Table *t, Batch *b, Error *err)
{
    if (b->ninserts)
        TRY(write_inserts(s, t, b, err));
    if (!b->ndeletes)
        return OK;
    return s->spec.deletes == SINK_DELETES_EQUALITY ? write_equality(s, t, b, err) : batch_positions(s, t, b, err);
}
