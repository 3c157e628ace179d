/* SPDX-License-Identifier: Apache-2.0 */
/* mzcatalog.c - names of mz_catalog and mz_internal to temporary tables and views of the statement's connection.
 *
 * A relation is made when a query names it, with those that it is defined over, once a statement: two references see the same rows.
 * Invariant: no text of a user is part of any statement made here. */
#include "service/mzcatalog_int.h"

/* ---- columns ---------------------------------------------------------------------------------------------------------------- */

typedef struct Letter { char letter; DataTypeKind kind; const char *name; } Letter;

static const Letter LETTERS[] = {
    { 's', DT_STRING, "text" }, { 'o', DT_UINT32, "oid" }, { 'b', DT_BOOL, "boolean" }, { 'i', DT_INT32, "integer" }, { 'l', DT_INT64, "bigint" }, { 'u', DT_UINT64, "uint8" },
    { 'w', DT_INT64, "uint4" }, { 'n', DT_DECIMAL, "numeric" }, { 'd', DT_DOUBLE, "double precision" }, { 't', DT_TIMESTAMPTZ, "timestamp with time zone" },
    { 'v', DT_INTERVAL, "interval" }, { 'j', DT_JSON, "jsonb" }, { 'U', DT_UUID, "uuid" }, { 'B', DT_BINARY, "bytea" }, { 'm', DT_UINT64, "mz_timestamp" },
    { 'S', DT_LIST, "text list" }, { 'A', DT_LIST, "mz_aclitem[]" }, { 'L', DT_LIST, "uint8 list" },
};

static const Letter *letter_row(char c)
{
    for (size_t i = 0; i < COUNT_OF(LETTERS); i++)
        if (LETTERS[i].letter == c)
            return &LETTERS[i];
    return &LETTERS[0];
}

DataType mz_letter_type(char letter)
{
    static const DataType text = { .kind = DT_STRING }, u64 = { .kind = DT_UINT64 };
    DataType t = { .kind = letter_row(letter)->kind };

    if (t.kind == DT_DECIMAL) {
        t.precision = 18;
        t.scale = 2;
    } else if (t.kind == DT_LIST) {
        t.nchildren = 1;
        t.children = (DataType *)(letter == 'L' ? &u64 : &text);
    }
    return t;
}

const char *mz_letter_name(char letter) { return letter_row(letter)->name; }

bool mz_next_column(Str *rest, Str *name, char *letter, bool *not_null)
{
    Str head, type;

    if (!rest->n)
        return false;
    str_cut(*rest, ' ', &head, rest);
    str_cut(head, ':', name, &type);
    *letter = type.n ? type.p[0] : 's';
    *not_null = type.n > 1;
    return true;
}

const MzRelation *mz_relation(Str schema, Str name)
{
    for (size_t i = 0; i < mz_nrelations(); i++)
        if (str_eq(str_c(mz_relations[i].name), name) && (!schema.n || str_eq(str_c(mz_relations[i].schema), schema)))
            return &mz_relations[i];
    return NULL;
}

static Str engine_name(Arena *a, const MzRelation *m) { return str_fmt(a, "firn_%s", m->name); }

/* ---- making -------------------------------------------------------------------------------------------------------------------- */

static Status fill_table(Run *r, const MzRelation *m, Error *err)
{
    MzFill f = { .r = r, .a = r->a, .w = mz_world(r), .err = err, .now_ms = r->now_us / 1000 };
    DuckColumns columns = {0};
    DuckColumn c;
    bool not_null;
    char letter;

    for (Str rest = str_c(m->columns); mz_next_column(&rest, &c.name, &letter, &not_null);) {
        c.type = mz_letter_type(letter);
        vec_push(r->a, &columns, c);
    }
    TRY(duck_temp_table(r->c, engine_name(r->a, m), columns.p, columns.n, &f.ap, err));
    Status s = m->fill ? m->fill(&f) : OK;
    Error ignored;
    Status done = duck_append_done(f.ap, s == OK ? err : &ignored);
    return s != OK ? s : done;
}

static Status make(Run *r, const MzRelation *m, Error *err);

static Status make_needed(Run *r, const char *needs, Error *err)
{
    Str rest = str_c(needs), name;

    while (rest.n) {
        if (!str_cut(rest, ' ', &name, &rest))
            rest = (Str){0};
        TRY(make(r, mz_relation((Str){0}, name), err));
    }
    return OK;
}

static Status make_view(Run *r, const MzRelation *m, Error *err)
{
    StrBuf b = sb_new(r->a), names = sb_new(r->a);
    bool not_null;
    char letter;
    Str name;
    int n = 0;

    TRY(make_needed(r, m->needs, err));
    if (strstr(m->sql, "firn_pg_session"))
        TRY(run_fill_pg_catalog(r, err));
    sb_addc(&b, "CREATE OR REPLACE TEMPORARY VIEW ");
    sql_ident(&b, engine_name(r->a, m));
    for (Str rest = str_c(m->columns); mz_next_column(&rest, &name, &letter, &not_null); n++) {
        DataType t = mz_letter_type(letter);
        sb_fmt(&b, "%s CAST(q.c%d AS ", n ? "," : " AS SELECT", n);
        sb_add(&b, data_type_sql(r->a, &t));
        sb_addc(&b, ") AS ");
        sql_ident(&b, name);
        sb_fmt(&names, "%sc%d", n ? ", " : "", n);
    }
    sb_fmt(&b, " FROM (%s) AS q(" STR_FMT ")", m->sql, STR_ARG(sb_str(&names)));
    return duck_exec(r->c, sb_str(&b), err);
}

static Status make(Run *r, const MzRelation *m, Error *err)
{
    MzWorld *w = mz_world(r);
    Str name = str_c(m->name);

    if (map_has(&w->made, name))
        return OK;
    map_put(&w->made, name, w);
    TRY_CTX(m->sql ? make_view(r, m, err) : fill_table(r, m, err), err, "%s.%s", m->schema, m->name);
    return OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------------ */

static bool is_mz_schema(Str s) { return str_eq(s, S("mz_catalog")) || str_eq(s, S("mz_internal")); }

static const MzRelation *named(const TableRef *ref)
{
    const StrVec *n = &ref->name;

    if (!n->n || n->n > 3 || !str_starts(n->p[n->n - 1], S("mz_")))
        return NULL;
    if (n->n == 1)
        return mz_relation(S("mz_catalog"), n->p[0]);
    return is_mz_schema(n->p[n->n - 2]) ? mz_relation(n->p[n->n - 2], n->p[n->n - 1]) : NULL;
}

Status mzcat_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    const MzRelation *m = named(ref);
    BoundColumn c = {0};
    bool not_null;
    char letter;

    if (!m || !live_speaks(r))
        return E_NOT_FOUND;
    TRY(make(r, m, err));
    BoundTable *b = arena_new(a, BoundTable);
    b->id = engine_name(a, m);
    b->display = str_fmt(a, "%s.%s", m->schema, m->name);
    for (Str rest = str_c(m->columns); mz_next_column(&rest, &c.name, &letter, &not_null);) {
        c.engine = c.name;
        c.type = mz_letter_type(letter);
        c.nullable = !not_null;
        vec_push(a, &b->columns, c);
    }
    if (a != r->a && str_eq(str_c(m->name), S("mz_audit_events")))        /* a definition that is to be followed: it is bound in an arena of its own */
        mz_audit_bind(a, b);
    *ret = b;
    return OK;
}
