/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - carrying out a plan on one engine connection.
 *
 * Sources and the view become temporary views of the connection under the names that ivm.h fixes; the plan's steps become
 * temporary tables; rows to delete and rows to insert become files.
 *
 * Invariants: (1) nothing is committed here; (2) after an error every file written by this run is discarded by the caller;
 * (3) a broken invariant of the stored state (check_sql) turns the run into a full one. */
#include "refresh/refresh_int.h"

const char *const ROW_HASH_ALGORITHM = "engine-hash-sum-1";

/* ---- names ------------------------------------------------------------------------------------------------------------ */

static Status temp_view(Job *j, Str name, Str sql, Error *err)
{
    return duck_exec(j->c, str_fmt(j->a, "CREATE OR REPLACE TEMP VIEW " STR_FMT " AS " STR_FMT, STR_ARG(name), STR_ARG(sql)), err);
}

static Status source_state(Job *j, size_t i, const IceSnapshot *snapshot, const char *suffix, Error *err)
{
    const LakeSource *s = j->bound.sources.p[i];
    LakeScan scan = { .snapshot = snapshot, .schema = s->schema };
    LakeRelation rel;

    TRY(lake_scan(j->r->lake, j->a, j->c, &s->table, &scan, &rel, err));
    return temp_view(j, str_fmt(j->a, "s%zu_%s", i, suffix), rel.sql, err);
}

static Status count_change(Job *j, size_t i, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query(j->c, str_fmt(j->a, "SELECT count(*), count(*) FILTER (WHERE __w < 0) FROM s%zu_chg", i), &r, err));
    TRY(duck_next(r, &n, err));
    int64_t rows = n ? duck_value(j->a, r, 0, 0).integer : 0, gone = n ? duck_value(j->a, r, 1, 0).integer : 0;
    j->rows_in += rows;
    j->changes[i] = (IvmChange){ .changed = rows > 0, .has_deletes = gone > 0 };
    return OK;
}

static Status source_change(Job *j, size_t i, Error *err)
{
    const BoundTable *t = ivm_source(j->bound.view, i);
    StrBuf cols = sb_new(j->a);

    for (size_t k = 0; k < t->columns.n; k++) {
        if (!ivm_source_reads(j->bound.view, i, k))
            continue;
        sql_ident(&cols, t->columns.p[k].engine);
        sb_addc(&cols, ", ");
    }
    if (!cols.n)                                      /* count(*) alone: one column keeps the grouping honest */
        sb_fmt(&cols, STR_FMT ", ", STR_ARG(sql_ident_str(j->a, t->columns.p[0].engine)));
    const LakeChanges *d = &j->deltas[i];
    bool both = d->has_inserts && d->has_deletes;     /* rows of one sign cannot cancel out */
    Str sql = str_fmt(j->a, "CREATE OR REPLACE TEMP TABLE s%zu_chg AS SELECT " STR_FMT "%s AS __w FROM (" STR_FMT ") q%s", i, STR_ARG(sb_str(&cols)),
                      both ? "CAST(sum(__w) AS BIGINT)" : "__w", STR_ARG(d->relation.sql), both ? " GROUP BY ALL HAVING sum(__w) <> 0" : "");
    TRY_CTX(duck_exec(j->c, sql, err), err, "changes of " STR_FMT, STR_ARG(t->display));
    return count_change(j, i, err);
}

static Status view_state(Job *j, Error *err)
{
    LakeScan scan = { .snapshot = ice_current_snapshot(j->table.meta), .schema = ice_current_schema(j->table.meta), .hidden = j->hidden, .positions = 1 };
    LakeRelation rel;

    TRY(lake_scan(j->r->lake, j->a, j->c, &j->table, &scan, &rel, err));
    return temp_view(j, S("v"), rel.sql, err);
}

static const IceSnapshot *pinned_snapshot(Job *j, size_t i)
{
    const LakeSource *s = j->bound.sources.p[i];
    Pinned p = pinned_source(&j->mview, s->table.meta->uuid);
    return p.has && p.snapshot_id >= 0 ? ice_snapshot(s->table.meta, p.snapshot_id) : NULL;
}

static bool plan_names(const IvmPlan *p, Str relation)
{
    for (size_t i = 0; i < p->steps.n; i++)
        if (str_find(p->steps.p[i].sql, relation) >= 0)
            return true;
    return str_find(p->delete_sql, relation) >= 0 || str_find(p->insert_sql, relation) >= 0 || str_find(p->check_sql, relation) >= 0;
}

/* Only what the plan reads: each state costs its deleted positions. */
static Status plan_states(Job *j, Error *err)
{
    for (size_t i = 0; i < j->bound.sources.n; i++) {
        if (plan_names(j->plan, str_fmt(j->a, "s%zu_new", i)))
            TRY(source_state(j, i, j->bound.sources.p[i]->snapshot, "new", err));
        if (plan_names(j->plan, str_fmt(j->a, "s%zu_old", i)))
            TRY(source_state(j, i, pinned_snapshot(j, i), "old", err));
    }
    return view_state(j, err);
}

Status job_source_views(Job *j, Error *err)
{
    size_t n = j->bound.sources.n;

    for (size_t i = 0; i < n && j->type == RUN_INCREMENTAL; i++)
        if (j->changes[i].changed)
            TRY(source_change(j, i, err));
    if (j->type == RUN_INCREMENTAL) {
        TRY(ivm_plan(j->a, j->bound.view, j->changes, &j->plan, err));
        return plan_states(j, err);
    }
    for (size_t i = 0; i < n; i++)
        TRY(source_state(j, i, j->bound.sources.p[i]->snapshot, "new", err));
    return OK;
}

/* ---- row hash ------------------------------------------------------------------------------------------------------------- */

Str row_hash_sql(Arena *a, const BoundColumns *visible, Str from)
{
    StrBuf b = sb_new(a);

    sb_addc(&b, "SELECT CAST(coalesce(sum(CAST(hash(");
    for (size_t i = 0; i < visible->n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_ident(&b, visible->p[i].engine);
    }
    sb_fmt(&b, ") AS HUGEINT)), 0) AS VARCHAR), count(*) FROM " STR_FMT, STR_ARG(from));
    return sb_str(&b);
}

Str wide_text(Arena *a, __int128 v)
{
    char buf[48], *p = buf + sizeof buf;
    bool negative = v < 0;
    unsigned __int128 u = negative ? -(unsigned __int128)v : (unsigned __int128)v;

    do
        *--p = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (negative)
        *--p = '-';
    return str_dup(a, str_n(p, (size_t)(buf + sizeof buf - p)));
}

bool wide_parse(Str s, __int128 *ret)
{
    bool negative = s.n && s.p[0] == '-';
    unsigned __int128 u = 0;

    if (s.n == (size_t)negative || s.n > 40)
        return false;
    for (size_t i = negative; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        u = u * 10 + (unsigned)(s.p[i] - '0');
    }
    *ret = negative ? (__int128)-u : (__int128)u;
    return true;
}

Status scalar_wide(DuckConn *c, Arena *a, Str sql, __int128 *hash, int64_t *count, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query(c, sql, &r, err));
    TRY(duck_next(r, &n, err));
    if (n != 1 || !wide_parse(duck_value(a, r, 0, 0).string, hash))
        return FAIL(err, E_INTERNAL, "the row hash could not be computed");
    *count = duck_value(a, r, 1, 0).integer;
    return OK;
}

/* ---- full ---------------------------------------------------------------------------------------------------------------------- */

static LakeWrite write_options(Job *j)
{
    return (LakeWrite){ .table = &j->table, .schema = ice_current_schema(j->table.meta), .hidden = j->hidden };
}

/* Hash and count of rows that were just written, read back from the files themselves. */
static Status hash_of_files(Job *j, const LakeFiles *files, size_t from, __int128 *hash, int64_t *count, Error *err)
{
    StrBuf list = sb_new(j->a);
    BoundColumns cols = {0};

    *hash = 0;
    *count = 0;
    for (size_t i = from; i < files->n; i++) {
        Str local;
        TRY(store_local_path(lake_store(j->r->lake), j->a, files->p[i].file.path, &local, err));
        sb_addc(&list, list.n ? ", " : "");
        sql_lit(&list, local);
    }
    if (!list.n)
        return OK;
    TRY(lake_columns(j->a, ice_current_schema(j->table.meta), &cols, err));
    Str src = str_fmt(j->a, "read_parquet([" STR_FMT "], hive_partitioning = false)", STR_ARG(sb_str(&list)));
    return scalar_wide(j->c, j->a, row_hash_sql(j->a, &cols, src), hash, count, err);
}

static void add_files(Job *j, size_t from)
{
    for (size_t i = from; i < j->files.n; i++)
        vec_push(j->a, &j->change.add_data, j->files.p[i].file);
}

Status job_full(Job *j, Error *err)
{
    LakeWrite w = write_options(j);
    int64_t rows, counted;
    Str sql;

    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const IceSnapshot *s = j->bound.sources.p[i]->snapshot;
        int64_t n = 0;
        if (s && str_to_i64(props_get(&s->summary, S("total-records"), (Str){0}), &n))
            j->rows_in += n;
    }
    TRY(ivm_full_sql(j->a, j->bound.view, &sql, err));
    TRY(lake_write(j->r->lake, j->a, j->c, &w, sql, &j->files, &rows, err));
    TRY(hash_of_files(j, &j->files, 0, &j->hash_delta, &counted, err));
    if (counted != rows)
        return FAIL(err, E_CORRUPT, "%lld rows were written, %lld were read back", (long long)rows, (long long)counted);
    add_files(j, 0);
    j->change.replace_all = 1;
    j->change.operation = S("overwrite");
    j->count_delta = j->rows_changed = rows;
    j->rewrite = 1;
    return OK;
}

/* ---- incremental ------------------------------------------------------------------------------------------------------------------ */

static Status run_steps(Job *j, const IvmPlan *p, Error *err)
{
    for (size_t i = 0; i < p->steps.n; i++)
        TRY_CTX(duck_exec(j->c, str_fmt(j->a, "CREATE OR REPLACE TEMP TABLE " STR_FMT " AS " STR_FMT, STR_ARG(p->steps.p[i].name), STR_ARG(p->steps.p[i].sql)), err),
                err, "step " STR_FMT " of the incremental plan", STR_ARG(p->steps.p[i].name));
    return OK;
}

static Status broken(Job *j, const IvmPlan *p, int64_t *ret, Error *err)
{
    bool has;
    *ret = 0;
    return p->check_sql.n ? duck_scalar_i64(j->c, p->check_sql, ret, &has, err) : OK;
}

static Str visible_and_hidden(Job *j, const BoundColumns *cols, const char *prefix)
{
    StrBuf b = sb_new(j->a);
    for (size_t i = 0; i < cols->n; i++) {
        sb_fmt(&b, "%s%s", i ? ", " : "", prefix);
        sql_ident(&b, cols->p[i].engine);
    }
    for (size_t i = 0; i < j->hidden->n; i++) {
        sb_fmt(&b, ", %s", prefix);
        sql_ident(&b, j->hidden->p[i].name);
    }
    return sb_str(&b);
}

static Status count_rows(Job *j, const char *table, int64_t *ret, Error *err)
{
    bool has;
    return duck_scalar_i64(j->c, str_fmt(j->a, "SELECT count(*) FROM %s", table), ret, &has, err);
}

enum { SMALL_ROWS = 4000, LARGE_PART = 8 };         /* rows that cost less to write than a second file; 1/8 of a view */

/* Small views, views that change much, and views in too many pieces are written whole: readers get few files and no delete files. */
static bool should_rewrite(Job *j)
{
    const IceSnapshot *s = ice_current_snapshot(j->table.meta);
    int64_t rows = 0, files = 0, deletes = 0;

    if (!s)
        return true;
    str_to_i64(props_get(&s->summary, S("total-records"), S("0")), &rows);
    str_to_i64(props_get(&s->summary, S("total-data-files"), S("0")), &files);
    str_to_i64(props_get(&s->summary, S("total-position-deletes"), S("0")), &deletes);
    if (rows <= j->r->options.rewrite_rows && (rows <= SMALL_ROWS || j->rows_changed * LARGE_PART > rows))
        return true;
    return files > j->r->options.max_files || deletes * 5 > rows;
}

static Status write_rows(Job *j, Str sql, Error *err)
{
    LakeWrite w = write_options(j);
    int64_t rows;

    TRY(lake_write(j->r->lake, j->a, j->c, &w, sql, &j->files, &rows, err));
    add_files(j, 0);
    return OK;
}

static Status apply_rewrite(Job *j, const BoundColumns *cols, Error *err)
{
    Str mine = visible_and_hidden(j, cols, ""), theirs = visible_and_hidden(j, cols, "v.");
    Str sql = str_fmt(j->a, "SELECT " STR_FMT " FROM v ANTI JOIN r_del d ON d.__file = v.__file AND d.__pos = v.__pos UNION ALL SELECT " STR_FMT " FROM r_ins",
                      STR_ARG(theirs), STR_ARG(mine));
    j->rewrite = 1;
    j->change.replace_all = 1;
    j->change.operation = S("overwrite");
    return write_rows(j, sql, err);
}

static Status apply_merge_on_read(Job *j, const BoundColumns *cols, int64_t deleted, int64_t inserted, Error *err)
{
    LakeFiles deletes = {0};
    int64_t n;

    if (inserted)
        TRY(write_rows(j, str_fmt(j->a, "SELECT " STR_FMT " FROM r_ins", STR_ARG(visible_and_hidden(j, cols, ""))), err));
    if (deleted)
        TRY(lake_delete_rows(j->r->lake, j->a, j->c, &j->table, S("SELECT __file, __pos FROM r_del"), &j->change, &deletes, &n, err));
    for (size_t i = 0; i < deletes.n; i++)
        vec_push(j->a, &j->files, deletes.p[i]);
    j->change.operation = !deleted ? S("append") : !inserted ? S("delete") : S("overwrite");
    return OK;
}

/* What the rows that go and come do to hash and count. */
static Status hash_changes(Job *j, const BoundColumns *cols, Error *err)
{
    __int128 gone, come;
    int64_t ngone, ncome;

    TRY(scalar_wide(j->c, j->a, row_hash_sql(j->a, cols, S("(SELECT v.* FROM v SEMI JOIN r_del d ON d.__file = v.__file AND d.__pos = v.__pos) g")), &gone, &ngone, err));
    TRY(scalar_wide(j->c, j->a, row_hash_sql(j->a, cols, S("r_ins")), &come, &ncome, err));
    j->hash_delta = come - gone;
    j->count_delta = ncome - ngone;
    return OK;
}

static Status apply_plan(Job *j, const IvmPlan *p, Error *err)
{
    BoundColumns cols = {0};
    int64_t deleted = 0, inserted = 0;

    TRY(lake_columns(j->a, ice_current_schema(j->table.meta), &cols, err));
    TRY(duck_exec(j->c, str_fmt(j->a, "CREATE OR REPLACE TEMP TABLE r_del AS " STR_FMT,
                                STR_ARG(p->delete_sql.n ? p->delete_sql : S("SELECT CAST(NULL AS VARCHAR) AS __file, CAST(NULL AS BIGINT) AS __pos WHERE false"))), err));
    TRY(duck_exec(j->c, str_fmt(j->a, "CREATE OR REPLACE TEMP TABLE r_ins AS " STR_FMT, STR_ARG(p->insert_sql)), err));
    TRY(count_rows(j, "r_del", &deleted, err));
    TRY(count_rows(j, "r_ins", &inserted, err));
    j->rows_changed = deleted + inserted;
    if (!j->rows_changed)
        return OK;
    TRY(hash_changes(j, &cols, err));
    if (should_rewrite(j))
        return apply_rewrite(j, &cols, err);
    return apply_merge_on_read(j, &cols, deleted, inserted, err);
}

/* Files changed, but no row that the view reads. */
static bool nothing_read_changed(const Job *j)
{
    for (size_t i = 0; i < j->bound.sources.n; i++)
        if (j->changes[i].changed)
            return false;
    return true;
}

Status job_incremental(Job *j, Error *err)
{
    const IvmPlan *p = j->plan;
    int64_t bad;

    if (nothing_read_changed(j))
        return OK;
    if (!p->insert_sql.n && !p->delete_sql.n)        /* only sources of a CTE that nobody reads changed */
        return OK;
    TRY(run_steps(j, p, err));
    TRY(broken(j, p, &bad, err));
    if (bad) {                                       /* (3) */
        j->type = RUN_FULL;
        j->reason = str_fmt(j->a, "the stored state of the view was inconsistent in %lld place(s)", (long long)bad);
        j->rows_in = 0;
        TRY(job_source_views(j, err));
        return job_full(j, err);
    }
    return apply_plan(j, p, err);
}
