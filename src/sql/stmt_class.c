/* SPDX-License-Identifier: Apache-2.0 */
/* stmt_class.c - a statement's type and subtype, as Athena reports them (StatementType, SubstatementType). */
#include "sql/sql.h"

typedef struct ShowRow { const char *what, *substatement; } ShowRow;

static const ShowRow SHOWS[] = {
    { "namespaces", "SHOW_DATABASES" }, { "tables", "SHOW_TABLES" }, { "views", "SHOW_VIEWS" }, { "columns", "SHOW_COLUMNS" },
    { "create table", "SHOW_CREATE_TABLE" }, { "create view", "SHOW_CREATE_VIEW" }, { "tblproperties", "SHOW_TBLPROPERTIES" },
    { "partitions", "SHOW_PARTITIONS" }, { "catalogs", "SHOW_CATALOGS" },
};

static Str alter_of(const Stmt *s)
{
    switch (s->actions.n ? s->actions.p[0].kind : AT_SET_PROPS) {
    case AT_ADD_COLUMNS: return S("ALTER_TABLE_ADD_COLUMN");
    case AT_DROP_COLUMNS: return S("ALTER_TABLE_DROP_COLUMN");
    case AT_RENAME_COLUMN: case AT_ALTER_COLUMN: return S("ALTER_TABLE_CHANGE_COLUMN");
    case AT_RENAME: return S("ALTER_TABLE_RENAME");
    case AT_SET_LOCATION: return S("ALTER_TABLE_SET_LOCATION");
    default: return S("ALTER_TABLE_SET_TBLPROPERTIES");
    }
}

static Str show_of(const Stmt *s)
{
    for (size_t i = 0; i < COUNT_OF(SHOWS); i++)
        if (str_eq(s->what, str_c(SHOWS[i].what)))
            return str_c(SHOWS[i].substatement);
    return S("SHOW");
}

StmtClass sql_stmt_class(const Stmt *s, Str *substatement)
{
    static const struct { StmtKind kind; StmtClass class; const char *name; } ROWS[] = {
        { ST_QUERY, CLASS_DML, "SELECT" }, { ST_INSERT, CLASS_DML, "INSERT" }, { ST_UPDATE, CLASS_DML, "UPDATE" }, { ST_DELETE, CLASS_DML, "DELETE" },
        { ST_MERGE, CLASS_DML, "MERGE" }, { ST_OPTIMIZE, CLASS_DML, "OPTIMIZE" }, { ST_VACUUM, CLASS_DML, "VACUUM" }, { ST_UNLOAD, CLASS_DML, "UNLOAD" },
        { ST_DROP_TABLE, CLASS_DDL, "DROP_TABLE" }, { ST_CREATE_VIEW, CLASS_DDL, "CREATE_VIEW" }, { ST_DROP_VIEW, CLASS_DDL, "DROP_VIEW" },
        { ST_CREATE_NAMESPACE, CLASS_DDL, "CREATE_DATABASE" }, { ST_DROP_NAMESPACE, CLASS_DDL, "DROP_DATABASE" },
        { ST_ALTER_NAMESPACE, CLASS_DDL, "ALTER_DATABASE_SET_DBPROPERTIES" }, { ST_REPAIR_TABLE, CLASS_DDL, "MSCK_REPAIR_TABLE" },
        { ST_DESCRIBE, CLASS_UTILITY, "DESCRIBE_TABLE" }, { ST_EXPLAIN, CLASS_UTILITY, "EXPLAIN" }, { ST_PREPARE, CLASS_UTILITY, "PREPARE" },
        { ST_EXECUTE, CLASS_DML, "EXECUTE" }, { ST_DEALLOCATE, CLASS_UTILITY, "DEALLOCATE" },
    };

    *substatement = S("");
    if (s->kind == ST_CREATE_TABLE) {
        *substatement = s->query ? S("CREATE_TABLE_AS_SELECT") : S("CREATE_TABLE");
        return s->query ? CLASS_DML : CLASS_DDL;
    }
    if (s->kind == ST_ALTER_TABLE)
        return *substatement = alter_of(s), CLASS_DDL;
    if (s->kind == ST_SHOW)
        return *substatement = show_of(s), CLASS_UTILITY;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++)
        if (ROWS[i].kind == s->kind)
            return *substatement = str_c(ROWS[i].name), ROWS[i].class;
    return CLASS_OTHER;
}
