/* SPDX-License-Identifier: Apache-2.0 */
/* pg_table.c - the tables of a publication, those that a source takes, and what must stay as it was.
 *
 * A table is known by its oid, a column by its name, type and modifier: what changes of a column that is taken is an error of its output (source_postgres.c); columns that
 * come later are nobody's.
 * Options: {"publication", "tables": [["schema", "t"], …] | "schemas": ["s", …] | "all": true, "text_columns": [["t", "c"], …], "exclude_columns": […]} */
#include "source/pg_int.h"

/* ---- the catalog ---------------------------------------------------------------------------------------------------------- */

static const char tables_sql[] =
    "SELECT c.oid, n.nspname, c.relname, c.relreplident FROM pg_catalog.pg_publication_tables p JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname "
    "JOIN pg_catalog.pg_class c ON c.relname = p.tablename AND c.relnamespace = n.oid WHERE p.pubname = ";
static const char columns_sql[] =
    "SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull OR coalesce(a.attnum = ANY (k.indkey), false), coalesce(a.attnum = ANY (k.indkey), false) "
    "FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_index k ON k.indrelid = a.attrelid AND k.indisprimary WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' "
    "AND a.attrelid IN (SELECT c.oid FROM pg_catalog.pg_publication_tables p JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname "
    "JOIN pg_catalog.pg_class c ON c.relname = p.tablename AND c.relnamespace = n.oid WHERE p.pubname = ";

static int64_t number(const PGresult *r, int row, int col)
{
    int64_t v = 0;
    str_to_i64(pg_cell(r, row, col), &v);
    return v;
}

static PgTable *by_oid(PgTables *all, uint32_t oid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->p[i].oid == oid)
            return &all->p[i];
    return NULL;
}

static Status read_columns(Arena *a, const Pg *p, Str publication, PgTables *ret, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf sql = sb_new(a);

    sb_addc(&sql, columns_sql);
    pg_literal(&sql, publication);
    sb_addc(&sql, ") ORDER BY 1, 2");
    TRY(pg_query(p, sb_str(&sql), &r, err));
    for (int i = 0; i < PQntuples(r); i++) {
        PgTable *t = by_oid(ret, (uint32_t)number(r, i, 0));
        PgColumn c = { .num = (int)number(r, i, 1), .name = str_dup(a, pg_cell(r, i, 2)), .type = (uint32_t)number(r, i, 3), .mod = (int32_t)number(r, i, 4), .not_null = str_eq(pg_cell(r, i, 5), S("t")) };
        if (!t)
            continue;
        vec_push(a, &t->columns, c);
        if (str_eq(pg_cell(r, i, 6), S("t")))
            vec_push(a, &t->key, c.name);
    }
    return OK;
}

static Status check_publication(const Pg *p, Arena *a, Str publication, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf sql = sb_new(a);

    sb_addc(&sql, "SELECT 1 FROM pg_catalog.pg_publication WHERE pubname = ");
    pg_literal(&sql, publication);
    TRY(pg_query(p, sb_str(&sql), &r, err));
    if (!PQntuples(r))
        return FAIL(err, E_NOT_FOUND, "publication \"" STR_FMT "\" does not exist", STR_ARG(publication));
    return OK;
}

Status pg_tables(Arena *a, const Pg *p, Str publication, PgTables *ret, Error *err)
{
    CLEANUP(pg_clearp) PGresult *r = NULL;
    StrBuf sql = sb_new(a);

    TRY(check_publication(p, a, publication, err));
    sb_addc(&sql, tables_sql);
    pg_literal(&sql, publication);
    sb_addc(&sql, " ORDER BY 2, 3");
    TRY(pg_query(p, sb_str(&sql), &r, err));
    if (PQntuples(r) > PG_TABLES_MAX)
        return FAIL(err, E_LIMIT, "publication \"" STR_FMT "\" has %d tables, limit is %d", STR_ARG(publication), PQntuples(r), PG_TABLES_MAX);
    for (int i = 0; i < PQntuples(r); i++) {
        PgTable t = { .oid = (uint32_t)number(r, i, 0), .ns = str_dup(a, pg_cell(r, i, 1)), .name = str_dup(a, pg_cell(r, i, 2)), .identity = pg_cell(r, i, 3).p[0] };
        vec_push(a, ret, t);
    }
    return read_columns(a, p, publication, ret, err);
}

/* ---- the choice -------------------------------------------------------------------------------------------------------------- */

typedef VEC(StrVec) Names;

static void names_of(Arena *a, const Json *list, Names *ret)
{
    for (size_t i = 0; list && list->kind == JSON_ARRAY && i < list->array.n; i++) {
        StrVec parts = {0};
        const Json *x = list->array.p[i];
        for (size_t k = 0; x->kind == JSON_ARRAY && k < x->array.n; k++)
            vec_push(a, &parts, x->array.p[k]->kind == JSON_STRING ? x->array.p[k]->string : (Str){0});
        vec_push(a, ret, parts);
    }
}

/* The last n parts name the table: t, schema.t, database.schema.t. */
static bool is_called(const PgTable *t, const StrVec *name, size_t n)
{
    return n && str_eq(name->p[n - 1], t->name) && (n < 2 || str_eq(name->p[n - 2], t->ns));
}

static Status find_table(Arena *a, const PgTables *all, const StrVec *name, Str publication, const PgTable **ret, Error *err)
{
    Str text = str_join(a, name, S("."));

    *ret = NULL;
    for (size_t i = 0; i < all->n; i++) {
        if (!is_called(&all->p[i], name, name->n))
            continue;
        if (*ret)
            return FAIL(err, E_INVALID, "reference " STR_FMT " is ambiguous, consider specifying an additional layer of qualification", STR_ARG(text));
        *ret = &all->p[i];
    }
    if (*ret)
        return OK;
    RAISE(err, E_NOT_FOUND, "reference to " STR_FMT " not found in source", STR_ARG(text));
    error_detail(err, "publication " STR_FMT " has no such table", STR_ARG(publication));
    return err->code;
}

static Status choose_schemas(Arena *a, const Json *schemas, const PgTables *all, Str database, PgTables *ret, Error *err)
{
    StrVec missing = {0};

    for (size_t i = 0; i < schemas->array.n; i++) {
        Str s = schemas->array.p[i]->kind == JSON_STRING ? schemas->array.p[i]->string : (Str){0};
        size_t before = ret->n;
        for (size_t k = 0; k < all->n; k++)
            if (str_eq(all->p[k].ns, s))
                vec_push(a, ret, all->p[k]);
        if (ret->n == before)
            vec_push(a, &missing, s);
    }
    if (!missing.n)
        return OK;
    RAISE(err, E_NOT_FOUND, "database " STR_FMT " missing referenced schemas", STR_ARG(database));
    error_detail(err, "missing schemas: " STR_FMT, STR_ARG(str_join(a, &missing, S(", "))));
    return err->code;
}

static Status choose(Arena *a, const Json *o, const PgTables *all, PgTables *ret, Error *err)
{
    Names wanted = {0};
    Str publication = json_get_str(o, "publication", (Str){0});
    const PgTable *t;

    if (json_get_bool(o, "all", false)) {
        if (!all->n)
            return FAIL(err, E_INVALID, "PUBLICATION " STR_FMT " is empty", STR_ARG(publication));
        for (size_t i = 0; i < all->n; i++)
            vec_push(a, ret, all->p[i]);
        return OK;
    }
    if (json_get(o, "schemas"))
        return choose_schemas(a, json_get(o, "schemas"), all, json_get_str(json_get(o, "connection"), "database", S("postgres")), ret, err);
    names_of(a, json_get(o, "tables"), &wanted);
    for (size_t i = 0; i < wanted.n; i++) {
        TRY(find_table(a, all, &wanted.p[i], publication, &t, err));
        vec_push(a, ret, *t);
    }
    return OK;
}

static PgColumn *column_called(PgTable *t, Str name)
{
    for (size_t i = 0; i < t->columns.n; i++)
        if (str_eq(t->columns.p[i].name, name))
            return &t->columns.p[i];
    return NULL;
}

/* TEXT COLUMNS and EXCLUDE COLUMNS: table.column of a table that is taken. */
static Status columns_as(Arena *a, const Json *list, const char *option, PgTables *chosen, int exclude, Error *err)
{
    Names names = {0};

    names_of(a, list, &names);
    for (size_t i = 0; i < names.n; i++) {
        bool found = false;
        Str column = names.p[i].n ? vec_last(&names.p[i]) : (Str){0};
        for (size_t k = 0; k < chosen->n; k++) {
            if (names.p[i].n < 2 || !is_called(&chosen->p[k], &names.p[i], names.p[i].n - 1))
                continue;
            PgColumn *c = column_called(&chosen->p[k], column);
            if (!c)
                return FAIL(err, E_NOT_FOUND, "invalid %s option value: column \"" STR_FMT "\" does not exist", option, STR_ARG(str_join(a, &names.p[i], S("."))));
            found = true;
            c->as_text |= !exclude;
            c->num = exclude ? -c->num : c->num;
        }
        if (found)
            continue;
        names.p[i].n -= names.p[i].n > 0;
        RAISE(err, E_NOT_FOUND, "%s refers to table not currently being added", option);
        error_detail(err, "the following tables are referenced but not added: " STR_FMT, STR_ARG(str_join(a, &names.p[i], S("."))));
        return err->code;
    }
    return OK;
}

static void leave_out(Arena *a, PgTable *t)
{
    StrVec key = {0};
    size_t n = 0;
    bool whole = true;

    for (size_t i = 0; i < t->key.n; i++) {
        const PgColumn *c = column_called(t, t->key.p[i]);
        whole &= c && c->num > 0;
    }
    for (size_t i = 0; whole && i < t->key.n; i++)
        vec_push(a, &key, t->key.p[i]);
    for (size_t i = 0; i < t->columns.n; i++)
        if (t->columns.p[i].num > 0)
            t->columns.p[n++] = t->columns.p[i];
    t->columns.n = n;
    t->key = key;
}

static Status check_identities(Arena *a, const PgTables *chosen, Error *err)
{
    StrVec without = {0};

    for (size_t i = 0; i < chosen->n; i++)
        if (chosen->p[i].identity != 'f')
            vec_push(a, &without, chosen->p[i].name);
    if (!without.n)
        return OK;
    RAISE(err, E_INVALID, "referenced items not tables with REPLICA IDENTITY FULL");
    error_detail(err, "referenced items: " STR_FMT, STR_ARG(str_join(a, &without, S(", "))));
    error_hint(err, "ALTER TABLE … REPLICA IDENTITY FULL on the PostgreSQL side.");
    return err->code;
}

static Status check_types(Arena *a, const PgTables *chosen, Error *err)
{
    StrVec bad = {0};

    for (size_t i = 0; i < chosen->n; i++)
        for (size_t k = 0; k < chosen->p[i].columns.n; k++) {
            const PgColumn *c = &chosen->p[i].columns.p[k];
            DataType t;
            Str name;
            if (!c->as_text && !pg_type(a, c->type, c->mod, &t, &name))
                vec_push(a, &bad, str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT " (OID %u)", STR_ARG(chosen->p[i].ns), STR_ARG(chosen->p[i].name), STR_ARG(c->name), c->type));
        }
    if (!bad.n)
        return OK;
    RAISE(err, E_INVALID, "referenced tables use unsupported types");
    error_detail(err, "the following columns contain unsupported types:\n" STR_FMT, STR_ARG(str_join(a, &bad, S("\n"))));
    error_hint(err, "Use the TEXT COLUMNS option naming the listed columns, and their values are ingested as text.");
    return err->code;
}

Status pg_choose(Arena *a, const Json *o, const PgTables *all, PgTables *ret, Error *err)
{
    PgTables chosen = {0};

    TRY(choose(a, o, all, &chosen, err));
    for (size_t i = 0; i < chosen.n; i++) {          /* columns are changed below: each table has its own */
        PgTable t = chosen.p[i];
        t.columns.p = arena_array(a, PgColumn, t.columns.n + 1);
        memcpy(t.columns.p, chosen.p[i].columns.p, t.columns.n * sizeof *t.columns.p);
        vec_push(a, ret, t);
    }
    TRY(columns_as(a, json_get(o, "text_columns"), "TEXT COLUMNS", ret, 0, err));
    TRY(columns_as(a, json_get(o, "exclude_columns"), "EXCLUDE COLUMNS", ret, 1, err));
    for (size_t i = 0; i < ret->n; i++)
        leave_out(a, &ret->p[i]);
    TRY(check_identities(a, ret, err));
    return check_types(a, ret, err);
}

/* ---- to an output and back --------------------------------------------------------------------------------------------------------- */

Status pg_output(Arena *a, const PgTable *t, SourceOutput *ret, Error *err)
{
    Json *pin = json_object(a), *columns = json_array(a);

    *ret = (SourceOutput){ .name = t->name, .external = str_fmt(a, STR_FMT "." STR_FMT, STR_ARG(t->ns), STR_ARG(t->name)), .key = t->key };
    json_set(a, pin, "oid", json_int(a, t->oid));
    json_set(a, pin, "schema", json_str(a, t->ns));
    json_set(a, pin, "table", json_str(a, t->name));
    for (size_t i = 0; i < t->columns.n; i++) {
        const PgColumn *c = &t->columns.p[i];
        SourceColumn col = { .name = c->name, .type = { .kind = DT_STRING }, .not_null = c->not_null, .sql_type = S("text") };
        Json *x = json_object(a);
        if (!c->as_text && !pg_type(a, c->type, c->mod, &col.type, &col.sql_type))
            return FAIL(err, E_UNSUPPORTED, "column " STR_FMT " has a type that we have not", STR_ARG(c->name));
        vec_push(a, &ret->columns, col);
        json_set(a, x, "num", json_int(a, c->num));
        json_set(a, x, "name", json_str(a, c->name));
        json_set(a, x, "type", json_int(a, c->type));
        json_set(a, x, "mod", json_int(a, c->mod));
        json_set(a, x, "not_null", json_int(a, c->not_null));
        json_set(a, x, "text", json_int(a, c->as_text));
        json_push(a, columns, x);
    }
    json_set(a, pin, "columns", columns);
    ret->pinned = json_text(a, pin);
    return OK;
}

Status pg_pinned(Arena *a, const SourceOutput *o, PgTable *ret, Error *err)
{
    Json *pin;

    TRY_CTX(json_parse(a, o->pinned, &pin, err), err, "what is kept of table " STR_FMT, STR_ARG(o->external));
    *ret = (PgTable){ .oid = (uint32_t)json_get_int(pin, "oid", 0), .ns = json_get_str(pin, "schema", (Str){0}), .name = json_get_str(pin, "table", (Str){0}), .key = o->key };
    const Json *columns = json_get(pin, "columns");
    for (size_t i = 0; columns && columns->kind == JSON_ARRAY && i < columns->array.n; i++) {
        const Json *x = columns->array.p[i];
        PgColumn c = { .num = (int)json_get_int(x, "num", 0), .name = json_get_str(x, "name", (Str){0}), .type = (uint32_t)json_get_int(x, "type", 0), .mod = (int32_t)json_get_int(x, "mod", -1),
                       .not_null = (int)json_get_int(x, "not_null", 0), .as_text = (int)json_get_int(x, "text", 0) };
        vec_push(a, &ret->columns, c);
    }
    if (ret->columns.n != o->columns.n)
        return FAIL(err, E_CORRUPT, "what is kept of table " STR_FMT " has %zu columns, not %zu", STR_ARG(o->external), ret->columns.n, o->columns.n);
    return OK;
}
