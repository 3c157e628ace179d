/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog.c - the emulated catalog put into the engine, and names resolved to it.
 *
 * Views and macros live in the engine's own schema, made once; what they look at are temporary tables of each connection, so
 * that a session sees its own objects by the same views.  Invariant: nothing here depends on a user's text. */
#include "service/pgcatalog_int.h"

enum { INSTALL_TRIES = 5, INT2VECTOR = 22 };

/* ---- columns and names ------------------------------------------------------------------------------------------------ */

static DataType letter_type(char c)
{
    static const DataType text = { .kind = DT_STRING }, oid = { .kind = DT_UINT32 }, i16 = { .kind = DT_INT16 }, f32 = { .kind = DT_FLOAT };

    switch (c) {
    case 'o': return oid;
    case 'b': return (DataType){ .kind = DT_BOOL };
    case 'h': return i16;
    case 'i': return (DataType){ .kind = DT_INT32 };
    case 'l': return (DataType){ .kind = DT_INT64 };
    case 'f': return f32;
    case 'd': return (DataType){ .kind = DT_DOUBLE };
    case 't': return (DataType){ .kind = DT_TIMESTAMPTZ };
    case 'S': return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&text };
    case 'O': return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&oid };
    case 'H': return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&i16 };
    case 'V': return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&i16, .length = INT2VECTOR };
    case 'F': return (DataType){ .kind = DT_LIST, .nchildren = 1, .children = (DataType *)&f32 };
    case 'c': return (DataType){ .kind = DT_STRING, .precision = 1 };            /* "char": drivers tell kinds of types by its bytes */
    default: return text;
    }
}

bool pgcat_next_column(Str *rest, Str *name, DataType *type)
{
    Str head, letter;

    if (!rest->n)
        return false;
    str_cut(*rest, ' ', &head, rest);
    str_cut(head, ':', name, &letter);
    *type = letter_type(letter.n ? letter.p[0] : 's');
    return true;
}

const PgcatTable *pgcat_table(Str schema, Str name)
{
    for (size_t i = 0; i < pgcat_ntables(); i++)
        if (str_eq(str_c(pgcat_tables[i].name), name) && str_eq(str_c(pgcat_tables[i].schema), schema))
            return &pgcat_tables[i];
    return NULL;
}

Str pgcat_engine_name(Arena *a, const PgcatTable *t) { return str_fmt(a, "firn_%s_%s", t->schema, t->name); }

Status pgcat_resolve(void *ctx UNUSED, Arena *a, Str schema, Str name, BoundTable **ret, Error *err)
{
    const PgcatTable *t = pgcat_table(schema, name);
    BoundColumn c = { .nullable = 1 };

    if (!t)
        return FAIL(err, E_NOT_FOUND, "relation \"" STR_FMT "." STR_FMT "\" does not exist", STR_ARG(schema), STR_ARG(name));
    BoundTable *b = arena_new(a, BoundTable);
    b->id = pgcat_engine_name(a, t);
    b->display = str_fmt(a, "%s.%s", t->schema, t->name);
    for (Str rest = str_c(t->columns); pgcat_next_column(&rest, &c.name, &c.type);) {
        c.engine = c.name;
        vec_push(a, &b->columns, c);
    }
    *ret = b;
    return OK;
}

/* ---- the views ----------------------------------------------------------------------------------------------------------- */

static const PgcatView *view_of(const char *name)
{
    for (size_t i = 0; i < pgcat_nviews(); i++)
        if (str_eq(str_c(pgcat_views[i].name), str_c(name)))
            return &pgcat_views[i];
    return NULL;
}

static const char *expr_of(const PgcatView *v, Str column)
{
    for (const char *const *e = v ? v->exprs : NULL; e && *e; e += 2)
        if (str_eq(str_c(e[0]), column))
            return e[1];
    return "NULL";
}

static Str view_sql(Arena *a, const PgcatTable *t)
{
    const PgcatView *v = view_of(t->name);
    StrBuf b = sb_new(a);
    DataType type;
    Str name;

    sb_addc(&b, "CREATE OR REPLACE VIEW ");
    sql_ident(&b, pgcat_engine_name(a, t));
    const char *comma = " AS SELECT ";
    for (Str rest = str_c(t->columns); pgcat_next_column(&rest, &name, &type); comma = ", ") {
        sb_addc(&b, comma);
        sb_addc(&b, "CAST(");
        sb_addc(&b, expr_of(v, name));
        sb_addc(&b, " AS ");
        sb_add(&b, data_type_sql(a, &type));
        sb_addc(&b, ") AS ");
        sql_ident(&b, name);
    }
    sb_addc(&b, v ? " FROM " : " FROM (SELECT 1) WHERE false");
    sb_addc(&b, v ? v->from : "");
    return sb_str(&b);
}

/* ---- install ---------------------------------------------------------------------------------------------------------------- */

static bool installed(DuckConn *c)
{
    Error unused;
    int64_t n;
    bool has;
    return duck_scalar_i64(c, S("SELECT n FROM firn_pg_installed"), &n, &has, &unused) == OK;
}

static Status exec_all(DuckConn *c, const char *const *texts, Error *err)
{
    for (; *texts; texts++)
        TRY_CTX(duck_exec(c, str_c(*texts), err), err, "installing pg_catalog: %.60s", *texts);
    return OK;
}

static Status install(DuckConn *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgCatObjects nothing = { 0 };

    TRY(pgcat_fill(c, &nothing, err));                     /* what the macros and views look at must be there */
    TRY(exec_all(c, pgcat_static, err));
    TRY(exec_all(c, pgcat_macros, err));
    for (size_t i = 0; i < pgcat_ntables(); i++)
        TRY_CTX(duck_exec(c, view_sql(a, &pgcat_tables[i]), err), err, "installing pg_catalog: %s", pgcat_tables[i].name);
    return duck_exec(c, S("CREATE OR REPLACE TABLE firn_pg_installed AS SELECT 1 AS n"), err);
}

/* Two connections may install at the same time: then one meets the other's changes, and finds all done a little later. */
Status pgcat_install(DuckConn *c, Error *err)
{
    Status s = OK;

    for (int i = 0; i < INSTALL_TRIES; i++) {
        if (installed(c))
            return OK;
        s = install(c, err);
        if (s == OK || s == E_CANCELLED)
            return s;
    }
    return installed(c) ? OK : s;
}
