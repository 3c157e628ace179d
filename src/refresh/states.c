/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - the relations that a plan names (ivm.h): changes of sources, their old and new states, the view's stored rows.
 *
 * All but some changes are text, put where a statement names them: the engine binds it once for each use, and only the columns that
 * the view reads.  (Views would be bound when they are made too; common table expressions below a correlated subquery are more than
 * the engine can plan.)  A change that is read several times, that may cancel out, or that is some rows of a file, becomes a temporary table.
 *
 * Invariant: a state costs a look at the table's manifests only when a statement names it. */
#include "refresh/refresh_int.h"

/* ---- changes -------------------------------------------------------------------------------------------------------- */

/* The columns of a source that any plan reads, one byte a field; at least one, which keeps the grouping of a bare count(*) honest.
 * NULL: the query is printed as it was written, all of them. */
const uint8_t *job_source_reads(Job *j, size_t i)
{
    const BoundTable *t = ivm_source(j->bound.view, i);
    uint8_t *reads = arena_array(j->a, uint8_t, t->columns.n + 1), any = 0;

    if (ivm_shape(j->bound.view) == IVM_FULL_ONLY)
        return NULL;
    for (size_t k = 0; k < t->columns.n; k++)
        any |= reads[k] = ivm_source_reads(j->bound.view, i, k) != 0;
    reads[0] |= !any;
    return reads;
}

static Str read_columns(Job *j, size_t i)
{
    const BoundTable *t = ivm_source(j->bound.view, i);
    const uint8_t *reads = job_source_reads(j, i);
    StrBuf cols = sb_new(j->a);

    for (size_t k = 0; k < t->columns.n; k++) {
        if (!reads[k])
            continue;
        sb_addc(&cols, cols.n ? ", " : "");
        sql_ident(&cols, t->columns.p[k].engine);
    }
    return sb_str(&cols);
}

static bool both_signs(const LakeChanges *d) { return d->has_inserts && d->has_deletes; }       /* rows of one sign cannot cancel out */

static Str change_sql(Job *j, size_t i)
{
    const LakeChanges *d = &j->deltas[i];
    bool both = both_signs(d);

    return str_fmt(j->a, "SELECT " STR_FMT ", %s AS __w FROM (" STR_FMT ") q%s", STR_ARG(read_columns(j, i)),
                   both ? "CAST(sum(__w) AS BIGINT)" : "__w", STR_ARG(d->relation.sql), both ? " GROUP BY ALL HAVING sum(__w) <> 0" : "");
}

static Status change_table(Job *j, size_t i, Error *err)
{
    int64_t rows = 0;

    TRY_CTX(duck_table_as(j->c, str_fmt(j->a, "s%zu_chg", i), change_sql(j, i), &rows, err), err, "changes of " STR_FMT, STR_ARG(ivm_source(j->bound.view, i)->display));
    j->rows_in += rows;
    j->changes[i].changed = rows > 0;
    return OK;
}

/* ---- states --------------------------------------------------------------------------------------------------------- */

static const IceSnapshot *pinned_snapshot(Job *j, size_t i)
{
    const LakeSource *s = j->bound.sources.p[i];
    Pinned p = pinned_source(&j->mview, s->table.meta->uuid);
    return p.has && p.snapshot_id >= 0 ? ice_snapshot(s->table.meta, p.snapshot_id) : NULL;
}

static Status source_state(Job *j, size_t i, const IceSnapshot *snapshot, Str *sql, Error *err)
{
    const LakeSource *s = j->bound.sources.p[i];
    LakeScan scan = { .snapshot = snapshot, .schema = s->schema, .reads = job_source_reads(j, i), .hot = j->type == RUN_INCREMENTAL };
    LakeRelation rel;

    if (sql->n)
        return OK;
    TRY(lake_scan(j->r->lake, j->a, j->c, &s->table, &scan, &rel, err));
    *sql = rel.sql;
    return OK;
}

static Status view_state(Job *j, Str *sql, Error *err)
{
    LakeScan scan = { .snapshot = ice_current_snapshot(j->table.meta), .schema = ice_current_schema(j->table.meta), .hidden = j->hidden, .positions = 1 };
    LakeRelation rel;

    if (sql->n)
        return OK;
    TRY(lake_scan(j->r->lake, j->a, j->c, &j->table, &scan, &rel, err));
    *sql = rel.sql;
    return OK;
}

typedef enum { NAMES_NOTHING, NAMES_NEW, NAMES_OLD, NAMES_CHANGE } Named;

/* What of which source a word names: s<i>_new, s<i>_old, s<i>_chg. */
static Named named(Job *j, Str word, size_t *source)
{
    static const struct { const char *end; Named what; } ends[] = { { "_new", NAMES_NEW }, { "_old", NAMES_OLD }, { "_chg", NAMES_CHANGE } };
    int64_t i = 0;

    for (size_t k = 0; k < COUNT_OF(ends); k++)
        if (str_starts(word, S("s")) && str_ends(word, str_c(ends[k].end)) && str_to_i64(str_sub(word, 1, word.n - 4), &i) && i >= 0 && (size_t)i < j->bound.sources.n) {
            *source = (size_t)i;
            return ends[k].what;
        }
    return NAMES_NOTHING;
}

static SourceState *state_at(Job *j, size_t i)
{
    if (!j->states)
        j->states = arena_array(j->a, SourceState, j->bound.sources.n + 1);
    return &j->states[i];
}

static Status source_text(Job *j, size_t i, Named what, Str *ret, Error *err)
{
    SourceState *s = state_at(j, i);

    if (what == NAMES_NEW) {
        TRY(source_state(j, i, j->bound.sources.p[i]->snapshot, &s->is, err));
        *ret = s->is;
    } else if (what == NAMES_OLD) {
        TRY(source_state(j, i, pinned_snapshot(j, i), &s->was, err));
        *ret = s->was;
    } else {
        *ret = s->change;
    }
    return OK;
}

/* The text of the relation that a word names; empty: it names none. */
static Status state_of(Job *j, Str word, Str *ret, Error *err)
{
    size_t i;
    Named what = named(j, word, &i);

    *ret = (Str){0};
    if (what != NAMES_NOTHING) {
        TRY(source_text(j, i, what, ret, err));
        if (ret->n)
            *ret = str_fmt(j->a, "(" STR_FMT ")", STR_ARG(*ret));
    } else if (str_eq(word, S("v"))) {
        TRY(view_state(j, &j->stored, err));
        *ret = str_fmt(j->a, "(" STR_FMT ") v", STR_ARG(j->stored));
    }
    return OK;
}

static bool in_word(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* A quoted text or name, a word, or one byte of anything else. */
static Str token(Str sql)
{
    size_t n = 1;

    if (sql.p[0] == '\'' || sql.p[0] == '"') {
        while (n < sql.n && sql.p[n] != sql.p[0])
            n++;
        return str_n(sql.p, n < sql.n ? n + 1 : n);
    }
    while (in_word(sql.p[0]) && n < sql.n && in_word(sql.p[n]))
        n++;
    return str_n(sql.p, n);
}

/* The next token of sql that starts at `at`; bare: it is no part of a name with points, so it may name a relation. */
static Str next_token(Str sql, size_t at, bool *bare)
{
    Str t = token(str_from(sql, at));
    *bare = !(at && sql.p[at - 1] == '.') && !(at + t.n < sql.n && sql.p[at + t.n] == '.');
    return t;
}

Status job_with_states(Job *j, Str sql, Str *ret, Error *err)
{
    StrBuf b = sb_new(j->a);
    Str state;

    for (size_t at = 0; at < sql.n; ) {
        bool bare;
        Str t = next_token(sql, at, &bare);
        state = (Str){0};
        if (bare)
            TRY(state_of(j, t, &state, err));
        sb_add(&b, state.n ? state : t);
        at += t.n;
    }
    *ret = sb_str(&b);
    return OK;
}

/* ---- the plan ------------------------------------------------------------------------------------------------------- */

static void count_names(Job *j, Str sql, size_t *names)
{
    for (size_t at = 0; at < sql.n; ) {
        bool bare;
        size_t i;
        Str t = next_token(sql, at, &bare);
        if (bare && named(j, t, &i) == NAMES_CHANGE)
            names[i]++;
        at += t.n;
    }
}

/* How often the plan names each source's change. */
static size_t *names_of_changes(Job *j)
{
    size_t *names = arena_array(j->a, size_t, j->bound.sources.n + 1);

    for vec_each(const IvmStep, s, &j->plan->steps)
        count_names(j, s->sql, names);
    count_names(j, j->plan->insert_sql, names);
    count_names(j, j->plan->delete_sql, names);
    count_names(j, j->plan->check_sql, names);
    return names;
}

/* The plan for files that changed shows which changes must be tables; where none of their rows is one that the view reads, it is made anew. */
Status job_changes(Job *j, Error *err)
{
    bool fewer = false;

    TRY(ivm_plan(j->a, j->bound.view, j->changes, &j->plan, err));
    const size_t *names = names_of_changes(j);
    for (size_t i = 0; i < j->bound.sources.n; i++) {
        const LakeChanges *d = &j->deltas[i];
        if (!j->changes[i].changed)
            continue;
        if (names[i] < 2 && d->whole && d->rows_upper && !both_signs(d)) {
            state_at(j, i)->change = change_sql(j, i);
            j->rows_in += d->rows_upper;
            continue;
        }
        TRY(change_table(j, i, err));
        fewer |= !j->changes[i].changed;
    }
    return fewer ? ivm_plan(j->a, j->bound.view, j->changes, &j->plan, err) : OK;
}
