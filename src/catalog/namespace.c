/* SPDX-License-Identifier: Apache-2.0 */
/* namespace.c - warehouses (catalogs) and the namespaces in them.
 *
 * A namespace of several levels is one name joined by LEVEL_SEP; its parent is the name before the last separator and must exist.
 * Texts of errors are the reference catalog's: clients and their tests look at them. */
#include "catalog/catalog_int.h"

#define WAREHOUSE_COLUMNS "id, sql_name, kind, arn, bucket, created_ms, props"
#define NAMESPACE_COLUMNS "catalog, name, uuid, created_ms, owner, props"

static bool has_row(Query *q) { return cq_next(q); }

Str cat_display_name(Arena *a, Str ns, Str name)
{
    StrBuf b = sb_new(a);
    for (size_t i = 0; i < ns.n; i++)
        sb_byte(&b, ns.p[i] == LEVEL_SEP ? '.' : ns.p[i]);
    if (ns.n > 0 && name.n > 0)
        sb_byte(&b, '.');
    sb_add(&b, name);
    return sb_str(&b);
}

/* ---- warehouses ------------------------------------------------------------------------------------------------- */

static Status no_warehouse(Error *err, Str name)
{
    (void)FAIL(err, E_NOT_FOUND, "Warehouse does not exist: " STR_FMT, STR_ARG(name));
    return cat_error_kind(err, "NoSuchWarehouseException");
}

static void warehouse_row(Query *q, Arena *a, CatWarehouse *w)
{
    w->id = cq_str(q, a);
    w->sql_name = cq_str(q, a);
    w->kind = cq_str(q, a);
    w->arn = cq_str(q, a);
    w->bucket = cq_str(q, a);
    w->created_ms = cq_i64(q);
    w->props = cq_map(q, a);
}

static Status warehouse_taken(Db *db, const CatWarehouse *w, Error *err)
{
    QUERY(q, db, "SELECT 1 FROM warehouse WHERE id = ?1 OR sql_name = ?2 OR arn = ?3", err);
    cq_text(&q, w->id);
    cq_text(&q, w->sql_name);
    cq_text(&q, w->arn);
    if (has_row(&q))
        return FAIL(err, E_EXISTS, "Catalog already exists: " STR_FMT, STR_ARG(w->id));
    return cq_status(&q);
}

Status cat_warehouse_create(Catalog *c, const CatWarehouse *w, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(warehouse_taken(db, w, err));
    {
        QUERY(q, db, "INSERT INTO warehouse(" WAREHOUSE_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?)", err);
        cq_text(&q, w->id);
        cq_text(&q, w->sql_name);
        cq_text(&q, w->kind);
        cq_text(&q, w->arn);
        cq_text(&q, w->bucket);
        cq_int(&q, w->created_ms ? w->created_ms : clock_ms());
        cq_props(&q, a, &w->props);
        TRY(cq_run(&q));
    }
    return cat_writer_commit(&db, err);
}

Status cat_warehouse_get(Catalog *c, Arena *a, Str any_name, CatWarehouse *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;
    Str name = any_name.n > 0 ? any_name : c->account;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " WAREHOUSE_COLUMNS " FROM warehouse WHERE id = ?1 OR sql_name = ?1 OR arn = ?1"
                 " ORDER BY id = ?1 DESC LIMIT 1", err);
    cq_text(&q, name);
    if (cq_next(&q))
        warehouse_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return no_warehouse(err, name);
    return cq_status(&q);
}

Status cat_warehouse_list(Catalog *c, Arena *a, CatWarehouses *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    *ret = (CatWarehouses){0};
    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " WAREHOUSE_COLUMNS " FROM warehouse ORDER BY id", err);
    while (cq_next(&q)) {
        CatWarehouse w = {0};
        warehouse_row(&q, a, &w);
        vec_push(a, ret, w);
    }
    return cq_status(&q);
}

static Status warehouse_unused(Db *db, Str id, Error *err)
{
    QUERY(q, db, "SELECT 1 FROM namespace WHERE catalog = ? LIMIT 1", err);
    cq_text(&q, id);
    if (has_row(&q))
        return FAIL(err, E_NOT_EMPTY, "Catalog " STR_FMT " is not empty.", STR_ARG(id));
    return cq_status(&q);
}

Status cat_warehouse_delete(Catalog *c, Str id, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    if (str_eq(id, c->account))
        return FAIL(err, E_INVALID, "the account's own catalog cannot be deleted");
    TRY(cat_writer_begin(c, &db, err));
    TRY(warehouse_unused(db, id, err));
    {
        QUERY(q, db, "DELETE FROM warehouse WHERE id = ?", err);
        cq_text(&q, id);
        TRY(cq_run(&q));
        if (cq_changed(&q) == 0)
            return no_warehouse(err, id);
    }
    return cat_writer_commit(&db, err);
}

/* ---- namespaces ---------------------------------------------------------------------------------------------------- */

static Status namespace_missing(Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    (void)FAIL(err, E_NOT_FOUND, "Namespace does not exist: " STR_FMT, STR_ARG(cat_display_name(a, name, (Str){0})));
    return cat_error_kind(err, "NoSuchNamespaceException");
}

static Status namespace_known(Db *db, Str catalog, Str name, bool *ret, Error *err)
{
    QUERY(q, db, "SELECT 1 FROM namespace WHERE catalog = ? AND name = ?", err);
    cq_text(&q, catalog);
    cq_text(&q, name);
    *ret = has_row(&q);
    return cq_status(&q);
}

Status cat_namespace_must_exist(Db *db, Str catalog, Str name, Error *err)
{
    bool known = false;
    TRY(namespace_known(db, catalog, name, &known, err));
    if (known)
        return OK;
    return namespace_missing(name, err);
}

static Status warehouse_must_exist(Db *db, Str id, Error *err)
{
    QUERY(q, db, "SELECT 1 FROM warehouse WHERE id = ?", err);
    cq_text(&q, id);
    if (!has_row(&q) && cq_status(&q) == OK)
        return no_warehouse(err, id);
    return cq_status(&q);
}

static Status namespace_insert(Db *db, const CatNamespace *n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    QUERY(q, db, "INSERT INTO namespace(" NAMESPACE_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?)", err);
    cq_text(&q, n->catalog);
    cq_text(&q, n->name);
    cq_text(&q, n->uuid.n > 0 ? n->uuid : uuid_v4(a));
    cq_int(&q, n->created_ms ? n->created_ms : clock_ms());
    cq_text(&q, n->owner);
    cq_props(&q, a, &n->props);
    return cq_run(&q);
}

Status cat_namespace_create(Catalog *c, const CatNamespace *n, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;
    ptrdiff_t last = str_rchr(n->name, LEVEL_SEP);
    bool known = false;

    TRY(cat_writer_begin(c, &db, err));
    TRY(warehouse_must_exist(db, n->catalog, err));
    TRY(namespace_known(db, n->catalog, n->name, &known, err));
    if (known)
        return FAIL(err, E_EXISTS, "Namespace already exists: " STR_FMT, STR_ARG(cat_display_name(a, n->name, (Str){0})));
    if (last > 0)
        TRY(cat_namespace_must_exist(db, n->catalog, str_sub(n->name, 0, (size_t)last), err));
    TRY(namespace_insert(db, n, err));
    return cat_writer_commit(&db, err);
}

static void namespace_row(Query *q, Arena *a, CatNamespace *n)
{
    n->catalog = cq_str(q, a);
    n->name = cq_str(q, a);
    n->uuid = cq_str(q, a);
    n->created_ms = cq_i64(q);
    n->owner = cq_str(q, a);
    n->props = cq_map(q, a);
}

Status cat_namespace_get(Catalog *c, Arena *a, Str catalog, Str name, CatNamespace *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    TRY(cat_namespace_must_exist(db, catalog, name, err));
    QUERY(q, db, "SELECT " NAMESPACE_COLUMNS " FROM namespace WHERE catalog = ? AND name = ?", err);
    cq_text(&q, catalog);
    cq_text(&q, name);
    if (cq_next(&q))
        namespace_row(&q, a, ret);
    else if (cq_status(&q) == OK)
        return namespace_missing(name, err);
    return cq_status(&q);
}

static Status props_read(Db *db, Arena *a, Str catalog, Str name, Props *ret, Error *err)
{
    QUERY(q, db, "SELECT props FROM namespace WHERE catalog = ? AND name = ?", err);
    cq_text(&q, catalog);
    cq_text(&q, name);
    if (cq_next(&q))
        *ret = cq_map(&q, a);
    return cq_status(&q);
}

static Status props_write(Db *db, Str catalog, Str name, const Props *props, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    QUERY(q, db, "UPDATE namespace SET props = ?3 WHERE catalog = ?1 AND name = ?2", err);
    cq_text(&q, catalog);
    cq_text(&q, name);
    cq_props(&q, a, props);
    return cq_run(&q);
}

Status cat_namespace_props(Catalog *c, Str catalog, Str name, const Props *props, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_namespace_must_exist(db, catalog, name, err));
    TRY(props_write(db, catalog, name, props, err));
    return cat_writer_commit(&db, err);
}

Status cat_namespace_update(Catalog *c, Arena *a, Str catalog, Str name, const Props *set, const StrVec *remove, StrVec *removed, StrVec *missing, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;
    Props props = {0};

    *removed = *missing = (StrVec){0};
    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_namespace_must_exist(db, catalog, name, err));
    TRY(props_read(db, a, catalog, name, &props, err));
    for vec_each(KeyValue, kv, set)
        props_set(a, &props, kv->key, kv->value);
    for vec_each(Str, key, remove) {
        StrVec *to = props_del(&props, *key) ? removed : missing;
        vec_push(a, to, *key);
    }
    TRY(props_write(db, catalog, name, &props, err));
    return cat_writer_commit(&db, err);
}

static Status namespace_must_be_empty(Db *db, Str catalog, Str name, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    QUERY(q, db, "SELECT 1 FROM relation WHERE catalog = ?1 AND namespace = ?2"
                 " UNION ALL SELECT 1 FROM namespace WHERE catalog = ?1 AND name >= ?3 AND name < ?4 LIMIT 1", err);
    cq_text(&q, catalog);
    cq_text(&q, name);
    cq_text(&q, str_cat(a, name, S("\x1f")));
    cq_text(&q, str_cat(a, name, S("\x20")));
    if (has_row(&q))
        return FAIL(err, E_NOT_EMPTY, "Namespace " STR_FMT " is not empty.", STR_ARG(cat_display_name(a, name, (Str){0})));
    return cq_status(&q);
}

Status cat_namespace_delete(Catalog *c, Str catalog, Str name, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_namespace_must_exist(db, catalog, name, err));
    TRY(namespace_must_be_empty(db, catalog, name, err));
    {
        QUERY(q, db, "DELETE FROM namespace WHERE catalog = ? AND name = ?", err);
        cq_text(&q, catalog);
        cq_text(&q, name);
        TRY(cq_run(&q));
    }
    return cat_writer_commit(&db, err);
}

/* Direct children: one level deeper than the parent. */
static Status list_children(Db *db, Arena *a, Str catalog, Str parent, CatPage page, CatNamespaces *ret, Error *err)
{
    Str low = parent.n > 0 ? str_cat(a, parent, S("\x1f")) : (Str){0};
    Str high = parent.n > 0 ? str_cat(a, parent, S("\x20")) : (Str){0};
    QUERY(q, db, "SELECT " NAMESPACE_COLUMNS " FROM namespace WHERE catalog = ?1 AND name > ?2 AND (?3 = '' OR name < ?3)"
                 " AND instr(substr(name, length(?4) + 1), char(31)) = 0 ORDER BY name LIMIT ?5", err);
    cq_text(&q, catalog);
    cq_text(&q, str_cmp(page.after, low) > 0 ? page.after : low);
    cq_text(&q, high);
    cq_text(&q, low);
    cq_int(&q, page.max > 0 ? page.max : -1);
    while (cq_next(&q)) {
        CatNamespace n = {0};
        namespace_row(&q, a, &n);
        vec_push(a, ret, n);
    }
    return cq_status(&q);
}

Status cat_namespace_list(Catalog *c, Arena *a, Str catalog, Str parent, CatPage page, CatNamespaces *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    *ret = (CatNamespaces){0};
    TRY(cat_reader_take(c, &db, err));
    if (parent.n > 0)
        TRY(cat_namespace_must_exist(db, catalog, parent, err));
    return list_children(db, a, catalog, parent, page, ret, err);
}
