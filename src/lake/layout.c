/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - what columns a Parquet file has, by its own word.
 *
 * Files of one table differ: in order and names (evolution), in having field ids at all (migrated files), in missing
 * partition columns (Hive).  Files are immutable, so layouts are cached by path for the life of the process.
 *
 * Invariants: (1) equal keys mean equal layouts; (2) a cached layout is never freed before the cache. */
#include "lake/lake_int.h"

#include <stdlib.h>

enum { CACHE_MAX = 100000 };                       /* files; beyond that the cache starts anew */

struct LayoutCache { pthread_mutex_t lock; Arena *arena; Map by_path, by_key; };

LayoutCache *layout_cache_new(void)
{
    LayoutCache *c = calloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->arena = arena_create();
    c->by_path = map_new(c->arena);
    c->by_key = map_new(c->arena);
    return c;
}

void layout_cache_free(LayoutCache *c)
{
    if (!c)
        return;
    arena_destroy(c->arena);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- the rows of parquet_schema(), depth first, as a tree ---------------------------------------------------- */

typedef struct SchemaRow { Str file, name, converted, repetition; int64_t children; int32_t field_id; } SchemaRow;
typedef VEC(SchemaRow) SchemaRows;

static void flatten_list(FileColumn *c)
{
    /* three-level lists: group(LIST) > repeated group with one child > element; two-level: group(LIST) > repeated leaf */
    FileColumn *rep = c->children.n == 1 ? &c->children.p[0] : NULL;
    if (!rep || !rep->repeated)
        return;
    if (rep->group && rep->children.n == 1 && !str_eq(rep->name, S("array")) && !str_ends(rep->name, S("_tuple")))
        c->children = rep->children;
}

static void flatten_map(FileColumn *c)
{
    if (c->children.n == 1 && c->children.p[0].repeated)
        c->children = c->children.p[0].children;
}

static size_t read_column(Arena *a, const SchemaRows *rows, size_t at, FileColumn *ret)
{
    const SchemaRow *r = &rows->p[at++];

    *ret = (FileColumn){ .name = str_dup(a, r->name), .field_id = r->field_id, .group = r->children > 0,
                         .repeated = str_eq(r->repetition, S("REPEATED")), .converted = str_dup(a, r->converted) };
    ret->engine = ret->name;
    for (int64_t i = 0; i < r->children && at < rows->n; i++) {
        FileColumn child;
        at = read_column(a, rows, at, &child);
        vec_push(a, &ret->children, child);
    }
    if (str_eq(ret->converted, S("LIST")))
        flatten_list(ret);
    else if (str_eq(ret->converted, S("MAP")) || str_eq(ret->converted, S("MAP_KEY_VALUE")))
        flatten_map(ret);
    return at;
}

static int any_ids(const FileColumns *cols)
{
    for (size_t i = 0; i < cols->n; i++)
        if (cols->p[i].field_id >= 0 || any_ids(&cols->p[i].children))
            return 1;
    return 0;
}

static void key_of(StrBuf *b, const FileColumns *cols)
{
    for (size_t i = 0; i < cols->n; i++) {
        sb_fmt(b, "%zu:" STR_FMT "=%d/" STR_FMT "(", cols->p[i].name.n, STR_ARG(cols->p[i].name), cols->p[i].field_id, STR_ARG(cols->p[i].converted));
        key_of(b, &cols->p[i].children);
        sb_byte(b, ')');
    }
}

/* The engine calls the second of two columns that differ by case only name_1, the third name_2. */
static void name_duplicates(Arena *a, FileColumns *cols)
{
    for (size_t i = 0; i < cols->n; i++) {
        int same = 0;
        for (size_t j = 0; j < i; j++)
            same += str_ieq(cols->p[j].name, cols->p[i].name);
        if (same)
            cols->p[i].engine = str_fmt(a, STR_FMT "_%d", STR_ARG(cols->p[i].name), same);
    }
}

static FileLayout *layout_of(LayoutCache *c, const SchemaRows *rows, size_t from)
{
    FileColumn root;
    StrBuf key = sb_new(c->arena);

    read_column(c->arena, rows, from, &root);
    key_of(&key, &root.children);
    FileLayout *known = map_get(&c->by_key, sb_str(&key));
    if (known)
        return known;
    FileLayout *l = arena_new(c->arena, FileLayout);
    *l = (FileLayout){ .key = sb_str(&key), .columns = root.children, .has_ids = any_ids(&root.children) };
    name_duplicates(c->arena, &l->columns);
    map_put(&c->by_key, l->key, l);
    return l;
}

/* ---- asking the engine --------------------------------------------------------------------------------------- */

static Str schema_query(Arena *a, const StrVec *paths)
{
    StrBuf b = sb_new(a);
    sb_addc(&b, "SELECT file_name, name, coalesce(converted_type, ''), coalesce(repetition_type, ''), coalesce(num_children, 0), "
                "coalesce(field_id, -1) FROM parquet_schema([");
    for (size_t i = 0; i < paths->n; i++) {
        sb_addc(&b, i ? ", " : "");
        sql_lit(&b, paths->p[i]);
    }
    sb_addc(&b, "])");
    return sb_str(&b);
}

static Status read_rows(Arena *a, DuckConn *c, const StrVec *paths, SchemaRows *ret, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    size_t n;

    TRY(duck_query(c, schema_query(a, paths), &r, err));
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++) {
            SchemaRow row = { str_dup(a, duck_value(a, r, 0, i).string), str_dup(a, duck_value(a, r, 1, i).string), str_dup(a, duck_value(a, r, 2, i).string),
                              str_dup(a, duck_value(a, r, 3, i).string), duck_value(a, r, 4, i).integer, (int32_t)duck_value(a, r, 5, i).integer };
            vec_push(a, ret, row);
        }
    }
}

static void store_layouts(LayoutCache *c, const SchemaRows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (i == 0 || !str_eq(rows->p[i].file, rows->p[i - 1].file))
            map_put(&c->by_path, str_dup(c->arena, rows->p[i].file), layout_of(c, rows, i));
}

static void forget_if_full(LayoutCache *c)
{
    if (c->by_path.n < CACHE_MAX)
        return;
    c->by_path = map_new(c->arena);                /* layouts stay: others may hold them (2) */
}

/* Whatever the engine calls it: a data file that cannot be read is corrupt. */
static Status read_or_corrupt(Arena *a, DuckConn *c, const StrVec *paths, SchemaRows *rows, Error *err)
{
    Error why;
    Status s = read_rows(a, c, paths, rows, &why);

    if (s == E_INTERNAL || s == E_INVALID)
        return error_set(err, E_CORRUPT, why.origin, "%s", why.message);
    if (s != OK)
        *err = why;
    return s;
}

Status lake_layouts(Lake *l, Arena *a, DuckConn *c, const StrVec *paths, FileLayout **ret, Error *err)
{
    LayoutCache *cache = l->layouts;
    StrVec unknown = {0};
    SchemaRows rows = {0};

    pthread_mutex_lock(&cache->lock);
    forget_if_full(cache);
    for (size_t i = 0; i < paths->n; i++)
        if (!map_has(&cache->by_path, paths->p[i]))
            vec_push(a, &unknown, paths->p[i]);
    pthread_mutex_unlock(&cache->lock);
    if (unknown.n)
        TRY_CTX(read_or_corrupt(a, c, &unknown, &rows, err), err, "reading the columns of %zu data file(s)", unknown.n);

    pthread_mutex_lock(&cache->lock);
    store_layouts(cache, &rows);
    Str missing = {0};
    for (size_t i = 0; i < paths->n && !missing.n; i++)
        if (!(ret[i] = map_get(&cache->by_path, paths->p[i])))
            missing = paths->p[i];
    pthread_mutex_unlock(&cache->lock);
    if (missing.n)
        return FAIL(err, E_CORRUPT, "data file '" STR_FMT "' has no readable Parquet schema", STR_ARG(missing));
    return OK;
}
