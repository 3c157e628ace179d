/* SPDX-License-Identifier: Apache-2.0 */
/* pg_apply.c - what the messages of the stream do to the batch: rows of our tables, truncations, tables that are not what they were.
 *
 * A table whose columns change, that is dropped, or whose old rows are not sent breaks its own output for good, and the others go on. */
#include "source/pg_stream.h"

/* ---- tables ---------------------------------------------------------------------------------------------------------------------- */

void pg_break(PgStream *s, PgStreamTable *t, Str why)
{
    if (t->broken)
        return;
    t->broken = 1;
    t->why = str_dup(s->a, why);
    s->dirty = 1;
    source_output_broken(s->r, t->output, t->why, S("Drop the table and create it anew from the source."));
}

static Str altered(PgStream *s, const PgStreamTable *t, Str column, const char *how)
{
    return str_fmt(s->a, "incompatible schema change: source table " STR_FMT " with oid %u has been altered: column \"" STR_FMT "\" %s", STR_ARG(t->place), t->t.oid, STR_ARG(column), how);
}

static const PgColumn *by_number(const PgTable *t, int num)
{
    for (size_t i = 0; i < t->columns.n; i++)
        if (t->columns.p[i].num == num)
            return &t->columns.p[i];
    return NULL;
}

static void compare(PgStream *s, PgStreamTable *t, const PgTable *now)
{
    for (size_t i = 0; i < t->t.columns.n && !t->broken; i++) {
        const PgColumn *was = &t->t.columns.p[i], *is = by_number(now, was->num);
        if (!is)
            pg_break(s, t, altered(s, t, was->name, "was dropped"));
        else if (!str_eq(is->name, was->name))
            pg_break(s, t, altered(s, t, was->name, "was renamed"));
        else if (!was->as_text && (is->type != was->type || is->mod != was->mod))
            pg_break(s, t, altered(s, t, was->name, "has another type"));
        else if (was->not_null && !is->not_null)
            pg_break(s, t, altered(s, t, was->name, "may be NULL now"));
    }
}

Status pg_check_tables(PgStream *s, const Pg *p, Error *err)
{
    PgTables all = {0};

    TRY(pg_tables(s->message, p, s->publication, &all, err));
    for (size_t i = 0; i < s->tables.n; i++) {
        PgStreamTable *t = &s->tables.p[i];
        const PgTable *now = NULL;
        for (size_t k = 0; k < all.n; k++)
            if (all.p[k].oid == t->t.oid)
                now = &all.p[k];
        if (t->broken)
            continue;
        if (!now)
            pg_break(s, t, str_fmt(s->a, "source table " STR_FMT " with oid %u has been dropped, or is no longer in publication " STR_FMT, STR_ARG(t->place), t->t.oid, STR_ARG(s->publication)));
        else
            compare(s, t, now);
    }
    return OK;
}

static PgStreamTable *table_of(PgStream *s, uint32_t oid)
{
    for (size_t i = 0; i < s->tables.n; i++)
        if (s->tables.p[i].t.oid == oid)
            return &s->tables.p[i];
    return NULL;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------------- */

static Str place_of(PgStream *s, const PgStreamTable *t)
{
    return s->tx ? str_fmt(s->message, STR_FMT " at %X/%X", STR_ARG(t->place), (unsigned)(s->tx >> 32), (unsigned)s->tx) : str_fmt(s->message, STR_FMT " in the snapshot", STR_ARG(t->place));
}

Status pg_put_row(PgStream *s, const PgStreamTable *t, const PgTuple *cells, int weight, Error *err)
{
    Value *row = arena_array(s->message, Value, cells->n + 1);
    const SourceOutput *o = &source_spec(s->r)->outputs->p[t->output];

    for (size_t i = 0; i < cells->n; i++) {
        Error why;
        row[i] = (Value){ .kind = DT_NULL };
        if (cells->p[i].kind != 't' || pg_value(s->message, 0, &o->columns.p[i].type, cells->p[i].text, &row[i], &why) == OK)
            continue;
        source_error(s->r, place_of(s, t), str_fmt(s->message, "column " STR_FMT ": %s", STR_ARG(o->columns.p[i].name), why.message));
        return OK;
    }
    TRY(pg_open_batch(s, err));
    source_row(s->b, t->output, weight, row);
    return OK;
}

/* The output's columns of a tuple; values that were not sent are those of `before`. false: the output is broken now. */
static bool gather(PgStream *s, PgStreamTable *t, const PgTuple *from, const PgTuple *before, PgTuple *ret)
{
    for (size_t i = 0; i < t->t.columns.n; i++) {
        PgCell c = from->p[t->map[i]];
        if (c.kind == 'u' && before && before->n == from->n)
            c = before->p[t->map[i]];
        if (c.kind == 'u') {
            pg_break(s, t, S("TOASTed value missing from old row. Did you forget to set REPLICA IDENTITY to FULL for your table?"));
            return false;
        }
        if (c.kind == 'n' && t->t.columns.p[i].not_null) {
            pg_break(s, t, altered(s, t, t->t.columns.p[i].name, "may be NULL now"));
            return false;
        }
        vec_push(s->message, ret, c);
    }
    return true;
}

static Status put(PgStream *s, PgStreamTable *t, const PgTuple *tuple, const PgTuple *before, int weight, Error *err)
{
    PgTuple cells = {0};

    if (tuple->n != t->width)
        return FAIL(err, E_CORRUPT, "postgres: a row of " STR_FMT " has %zu columns, not %zu", STR_ARG(t->place), tuple->n, t->width);
    return gather(s, t, tuple, before, &cells) ? pg_put_row(s, t, &cells, weight, err) : OK;
}

static bool is_for_us(const PgStream *s, const PgStreamTable *t) { return t && !t->broken && t->map && !s->skip && s->tx >= t->from; }

static Status change(PgStream *s, const PgMessage *m, Error *err)
{
    PgStreamTable *t = table_of(s, m->relation);

    if (!is_for_us(s, t))
        return OK;
    if (m->kind != 'I' && m->old_kind != 'O') {
        pg_break(s, t, S("old row missing from replication stream. Did you forget to set REPLICA IDENTITY to FULL for your table?"));
        return OK;
    }
    if (m->kind != 'I')
        TRY(put(s, t, &m->before, NULL, -1, err));
    return m->kind == 'D' || t->broken ? OK : put(s, t, &m->after, m->kind == 'U' ? &m->before : NULL, 1, err);
}

static Status truncated(PgStream *s, const PgMessage *m, Error *err)
{
    for (size_t i = 0; i < m->truncated.n; i++) {
        const PgStreamTable *t = table_of(s, m->truncated.p[i]);
        if (!t || t->broken || s->skip || s->tx < t->from)
            continue;
        TRY(pg_open_batch(s, err));
        source_truncate(s->b, t->output);
    }
    return OK;
}

static int column_at(const PgMessage *m, Str name)
{
    for (size_t i = 0; i < m->columns.n; i++)
        if (str_eq(m->columns.p[i].name, name))
            return (int)i;
    return -1;
}

/* What a relation looks like from now on. Columns that are not ours may come and go. */
static void relation(PgStream *s, const PgMessage *m)
{
    PgStreamTable *t = table_of(s, m->relation);

    if (!t || t->broken)
        return;
    t->map = arena_array(s->a, int, t->t.columns.n + 1);
    t->width = m->columns.n;
    for (size_t i = 0; i < t->t.columns.n && !t->broken; i++) {
        const PgColumn *c = &t->t.columns.p[i];
        int at = t->map[i] = column_at(m, c->name);
        if (at < 0)
            pg_break(s, t, altered(s, t, c->name, "was dropped or renamed"));
        else if (!c->as_text && (m->columns.p[at].type != c->type || m->columns.p[at].mod != c->mod))
            pg_break(s, t, altered(s, t, c->name, "has another type"));
    }
}

bool pg_has_pending(const PgStream *s) { return s->b || s->dirty; }

Status pg_apply(PgStream *s, const PgMessage *m, Error *err)
{
    switch (m->kind) {
    case 'B':
        s->in_tx = 1;
        s->tx = m->final_lsn;
        s->skip = m->final_lsn < s->lsn;
        return OK;
    case 'C':
        s->in_tx = 0;
        if (!s->skip)
            s->seen = m->end_lsn;
        if (!pg_has_pending(s))                          /* nothing of it was ours: the server needs not keep it */
            s->lsn = s->acked = (uint64_t)max_i64((int64_t)s->lsn, (int64_t)s->seen);
        return OK;
    case 'R': relation(s, m); return OK;
    case 'I': case 'U': case 'D': return change(s, m, err);
    case 'T': return truncated(s, m, err);
    default: return OK;
    }
}
