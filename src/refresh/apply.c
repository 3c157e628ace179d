/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - carrying out a plan on one engine connection.
 *
 * The plan's steps become temporary tables; so do the rows that go, with where they lie and their hash, and those that come: two
 * tables, or one for the groups of an aggregate.  Both then become files.  Each engine statement costs its planning, so steps that
 * are read once stand inside of the next one, and what is to be known of the rows is asked at once.
 *
 * Invariants: (1) nothing is committed here; (2) after an error every file written by this run is discarded by the caller;
 * (3) a broken invariant of the stored state (check_sql) turns the run into a full one. */
#include "refresh/refresh_int.h"

const char *const ROW_HASH_ALGORITHM = "engine-hash-sum-1";

/* ---- row hash ------------------------------------------------------------------------------------------------------------- */

static Str hash_of(Arena *a, const StrVec *cells)
{
    Str list = str_join(a, cells, S(", "));
    return str_fmt(a, "hash(" STR_FMT ")", STR_ARG(list));
}

static Str sum_of_hashes(Arena *a, Str hash) { return str_fmt(a, "CAST(coalesce(sum(CAST(" STR_FMT " AS HUGEINT)), 0) AS VARCHAR)", STR_ARG(hash)); }

Str row_hash_sql(Arena *a, const BoundColumns *visible, Str from)
{
    StrVec cells = {0};

    for vec_each(const BoundColumn, c, visible)
        vec_push(a, &cells, sql_ident_str(a, c->engine));
    Str sum = sum_of_hashes(a, hash_of(a, &cells));
    return str_fmt(a, "SELECT " STR_FMT " AS h, count(*) AS n FROM " STR_FMT, STR_ARG(sum), STR_ARG(from));
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

    TRY(duck_query_held(c, sql, &r, err));
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

    for (size_t i = 0; i < j->bound.sources.n; i++)
        j->rows_in += snapshot_total(j->bound.sources.p[i]->snapshot, S("total-records"));
    TRY(ivm_full_sql(j->a, j->bound.view, &sql, err));
    TRY(job_with_states(j, sql, &sql, err));
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

/* ---- rows that go and come -------------------------------------------------------------------------------------------------------- */

/* As FROM items of the engine: __file, __pos of stored rows that go, and what comes, visible and hidden. */
typedef struct Turnover { Str goes, comes; int64_t deleted, inserted, broken; } Turnover;

/* A step that is read once stands as WITH before the next one's text, where the engine need not know how few rows it has: the view it is
 * joined to is small.  *last: the same of the last step, for whoever reads it instead of a table; NULL: it is a table as well. */
static Status run_steps(Job *j, const IvmPlan *p, bool small, Str *last, Error *err)
{
    Str with = {0};

    for (size_t i = 0; i < p->steps.n; i++) {
        const IvmStep *s = &p->steps.p[i];
        Str sql = str_cat(j->a, with, s->sql);
        bool inside = (s->once && small) || (last && i + 1 == p->steps.n);
        with = inside ? str_fmt(j->a, "WITH " STR_FMT " AS (" STR_FMT ") ", STR_ARG(s->name), STR_ARG(sql)) : (Str){0};
        if (inside)
            continue;
        TRY(job_with_states(j, sql, &sql, err));
        TRY_CTX(duck_table_as(j->c, s->name, sql, NULL, err), err, "step " STR_FMT " of the incremental plan", STR_ARG(s->name));
    }
    if (last)
        *last = with;
    return OK;
}

/* Of a row under the alias q. */
static Str hash_of_visible(Job *j)
{
    StrVec cells = {0};

    for vec_each(const IvmColumn, c, ivm_visible(j->bound.view))
        vec_push(j->a, &cells, str_cat(j->a, S("q."), sql_ident_str(j->a, c->engine)));
    return hash_of(j->a, &cells);
}

/* The same of the stored row that goes. */
static Str hash_of_gone(Job *j)
{
    StrVec cells = {0};

    for (size_t i = 0; i < ivm_visible(j->bound.view)->n; i++)
        vec_push(j->a, &cells, str_fmt(j->a, "q.__ivm_o%zu", i + 1));
    return hash_of(j->a, &cells);
}

/* What the rows do to the view's hash and how many of them there are, and how many invariants of the stored state are broken.
 * sql: hash and number of what comes, hash and number of what goes, broken invariants. */
static Status judge(Job *j, Str sql, Turnover *t, Error *err)
{
    __int128 come, gone;
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query_held(j->c, sql, &r, err));
    TRY(duck_next(r, &n, err));
    if (n != 1 || !wide_parse(duck_value(j->a, r, 0, 0).string, &come) || !wide_parse(duck_value(j->a, r, 2, 0).string, &gone))
        return FAIL(err, E_INTERNAL, "the row hash could not be computed");
    t->inserted = duck_value(j->a, r, 1, 0).integer;
    t->deleted = duck_value(j->a, r, 3, 0).integer;
    t->broken = duck_value(j->a, r, 4, 0).integer;
    j->hash_delta = come - gone;
    return OK;
}

/* Groups of an aggregate, each with its old row: one table holds both what goes and what comes. */
static Status groups_turn(Job *j, const IvmPlan *p, bool small, Turnover *t, Error *err)
{
    Str with, sql;

    TRY(run_steps(j, p, small, &with, err));
    sql = str_fmt(j->a, STR_FMT "SELECT q.*, CASE WHEN NOT q.__ivm_gone THEN " STR_FMT " END AS __ivm_come, CASE WHEN q.__ivm_file IS NOT NULL THEN " STR_FMT " END AS __ivm_went FROM (" STR_FMT ") q",
                  STR_ARG(with), STR_ARG(hash_of_visible(j)), STR_ARG(hash_of_gone(j)), STR_ARG(p->groups_sql));
    TRY(job_with_states(j, sql, &sql, err));
    TRY(duck_table_as(j->c, S("r_groups"), sql, NULL, err));
    *t = (Turnover){ .goes = S("(SELECT __ivm_file AS __file, __ivm_pos AS __pos FROM r_groups WHERE __ivm_file IS NOT NULL)"), .comes = S("(SELECT * FROM r_groups WHERE NOT __ivm_gone)") };
    sql = str_fmt(j->a, "SELECT " STR_FMT ", count(__ivm_come), " STR_FMT ", count(__ivm_went), count(*) FILTER (WHERE __ivm_bad) + count(*) - count(DISTINCT __ivm_group) FROM r_groups",
                  STR_ARG(sum_of_hashes(j->a, S("__ivm_come"))), STR_ARG(sum_of_hashes(j->a, S("__ivm_went"))));
    return judge(j, sql, t, err);
}

static Status rows_that_go(Job *j, const IvmPlan *p, Error *err)
{
    Str sql = S("SELECT CAST(NULL AS VARCHAR) AS __file, CAST(NULL AS BIGINT) AS __pos, CAST(NULL AS UBIGINT) AS __went WHERE false");

    if (p->delete_sql.n) {
        sql = str_fmt(j->a, "SELECT q.__file, q.__pos, " STR_FMT " AS __went FROM (" STR_FMT ") q", STR_ARG(hash_of_gone(j)), STR_ARG(p->delete_sql));
        TRY(job_with_states(j, sql, &sql, err));
    }
    return duck_table_as(j->c, S("r_del"), sql, NULL, err);
}

static Status rows_that_come(Job *j, const IvmPlan *p, Error *err)
{
    Str sql;

    TRY(job_with_states(j, p->insert_sql, &sql, err));
    return duck_table_as(j->c, S("r_ins"), sql, NULL, err);
}

static Status check_plan(Job *j, const IvmPlan *p, int64_t *broken, Error *err)
{
    bool has;
    Str sql;

    *broken = 0;
    if (!p->check_sql.n)
        return OK;
    TRY(job_with_states(j, p->check_sql, &sql, err));
    return duck_scalar_i64(j->c, sql, broken, &has, err);
}

/* Rows that go in one table, rows that come in another one. */
static Status rows_turn(Job *j, const IvmPlan *p, bool small, Turnover *t, Error *err)
{
    Error ignored;
    Str sql;

    *t = (Turnover){ .goes = S("r_del"), .comes = S("r_ins") };
    TRY(run_steps(j, p, small, NULL, err));
    TRY(rows_that_go(j, p, err));
    Status s = rows_that_come(j, p, err);
    if (s != OK)                                     /* a broken state may not even give rows */
        return check_plan(j, p, &t->broken, &ignored) == OK && t->broken ? OK : s;
    sql = str_fmt(j->a, "SELECT i.h, i.n, d.h, d.n, CAST((" STR_FMT ") AS BIGINT) FROM (SELECT " STR_FMT " AS h, count(*) AS n FROM r_ins q) i, (SELECT " STR_FMT " AS h, count(*) AS n FROM r_del) d",
                  STR_ARG(p->check_sql.n ? p->check_sql : S("SELECT 0")), STR_ARG(sum_of_hashes(j->a, hash_of_visible(j))), STR_ARG(sum_of_hashes(j->a, S("__went"))));
    TRY(job_with_states(j, sql, &sql, err));
    return judge(j, sql, t, err);
}

enum { SMALL_VIEW = 20000 };

static bool may_be_of_the_state(Status s) { return s == E_OVERFLOW || s == E_DIVISION || s == E_INVALID || s == E_INTERNAL; }

/* What fails over groups may do so for a broken state: the other way asks for that. */
static Status turnover(Job *j, const IvmPlan *p, Turnover *t, Error *err)
{
    const IceSnapshot *now = ice_current_snapshot(j->table.meta);
    bool small = now && snapshot_total(now, S("total-records")) <= SMALL_VIEW;

    if (p->groups_sql.n) {
        Status s = groups_turn(j, p, small, t, err);
        if (!may_be_of_the_state(s))
            return s;
    }
    return rows_turn(j, p, small, t, err);
}

/* ---- incremental ------------------------------------------------------------------------------------------------------------------ */

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

enum { SMALL_ROWS = 4000, LARGE_PART = 8 };         /* rows that cost less to write than a second file; 1/8 of a view */

/* Small views, views that change much, and views in too many pieces are written whole: readers get few files and no delete files. */
static bool should_rewrite(Job *j)
{
    const IceSnapshot *s = ice_current_snapshot(j->table.meta);

    if (!s)
        return true;
    int64_t rows = snapshot_total(s, S("total-records")), files = snapshot_total(s, S("total-data-files")), deletes = snapshot_total(s, S("total-position-deletes"));
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

static Status apply_rewrite(Job *j, const BoundColumns *cols, const Turnover *t, Error *err)
{
    Str mine = visible_and_hidden(j, cols, "c."), theirs = visible_and_hidden(j, cols, "v.");
    Str sql = str_fmt(j->a, "SELECT " STR_FMT " FROM v ANTI JOIN " STR_FMT " d ON d.__file = v.__file AND d.__pos = v.__pos UNION ALL SELECT " STR_FMT " FROM " STR_FMT " c",
                      STR_ARG(theirs), STR_ARG(t->goes), STR_ARG(mine), STR_ARG(t->comes));
    TRY(job_with_states(j, sql, &sql, err));
    j->rewrite = 1;
    j->change.replace_all = 1;
    j->change.operation = S("overwrite");
    return write_rows(j, sql, err);
}

static Status apply_merge_on_read(Job *j, const BoundColumns *cols, const Turnover *t, Error *err)
{
    LakeFiles deletes = {0};
    int64_t n;

    if (t->inserted)
        TRY(write_rows(j, str_fmt(j->a, "SELECT " STR_FMT " FROM " STR_FMT " c", STR_ARG(visible_and_hidden(j, cols, "c.")), STR_ARG(t->comes)), err));
    if (t->deleted)
        TRY(lake_delete_rows(j->r->lake, j->a, j->c, &j->table, str_fmt(j->a, "SELECT __file, __pos FROM " STR_FMT " d", STR_ARG(t->goes)), &j->change, &deletes, &n, err));
    for (size_t i = 0; i < deletes.n; i++)
        vec_push(j->a, &j->files, deletes.p[i]);
    j->change.operation = !t->deleted ? S("append") : !t->inserted ? S("delete") : S("overwrite");
    return OK;
}

/* (3) */
static Status start_anew(Job *j, int64_t broken, Error *err)
{
    j->type = RUN_FULL;
    j->reason = str_fmt(j->a, "the stored state of the view was inconsistent in %lld place(s)", (long long)broken);
    j->rows_in = 0;
    return job_full(j, err);
}

static Status apply_plan(Job *j, const IvmPlan *p, Error *err)
{
    BoundColumns cols = {0};
    Turnover t;

    TRY(lake_columns(j->a, ice_current_schema(j->table.meta), &cols, err));
    TRY(turnover(j, p, &t, err));
    if (t.broken)
        return start_anew(j, t.broken, err);
    j->rows_changed = t.deleted + t.inserted;
    j->count_delta = t.inserted - t.deleted;
    if (!j->rows_changed)
        return OK;
    return should_rewrite(j) ? apply_rewrite(j, &cols, &t, err) : apply_merge_on_read(j, &cols, &t, err);
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
    TRY(job_changes(j, err));
    if (nothing_read_changed(j))
        return OK;
    if (!j->plan->insert_sql.n && !j->plan->delete_sql.n)        /* only sources of a CTE that nobody reads changed */
        return OK;
    return apply_plan(j, j->plan, err);
}
