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

/* ---- the list of columns, depth first, as a tree ------------------------------------------------------------- */

enum { CONVERTED_MAP = 1, CONVERTED_MAP_KEY_VALUE = 2, CONVERTED_LIST = 3 };

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

static size_t read_column(Arena *a, const FileElements *els, size_t at, FileColumn *ret)
{
    const FileElement *e = &els->p[at++];

    *ret = (FileColumn){ .name = str_dup(a, e->name), .field_id = e->field_id, .group = e->children > 0, .repeated = e->repeated, .converted = e->converted };
    ret->engine = ret->name;
    for (int64_t i = 0; i < e->children && at < els->n; i++) {
        FileColumn child;
        at = read_column(a, els, at, &child);
        vec_push(a, &ret->children, child);
    }
    if (ret->converted == CONVERTED_LIST)
        flatten_list(ret);
    else if (ret->converted == CONVERTED_MAP || ret->converted == CONVERTED_MAP_KEY_VALUE)
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

/* All that is said of the columns, their types too: the engine reads several files as the first of them has it. */
static Str key_of(Arena *a, const FileElements *els)
{
    StrBuf b = sb_new(a);
    for (size_t i = 1; i < els->n; i++) {
        sb_fmt(&b, "%zu:", els->p[i].raw.n);
        sb_add(&b, els->p[i].raw);
    }
    return sb_str(&b);
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

static FileLayout *layout_of(LayoutCache *c, const FileElements *els, Str key)
{
    FileLayout *known = map_get(&c->by_key, key);
    FileColumn root;

    if (known)
        return known;
    read_column(c->arena, els, 0, &root);
    FileLayout *l = arena_new(c->arena, FileLayout);
    *l = (FileLayout){ .key = str_dup(c->arena, key), .columns = root.children, .has_ids = any_ids(&root.children) };
    name_duplicates(c->arena, &l->columns);
    map_put(&c->by_key, l->key, l);
    return l;
}

/* ---- the cache ------------------------------------------------------------------------------------------------- */

static FileLayout *look_up(LayoutCache *c, Str path)
{
    pthread_mutex_lock(&c->lock);
    FileLayout *l = map_get(&c->by_path, path);
    pthread_mutex_unlock(&c->lock);
    return l;
}

static FileLayout *keep(LayoutCache *c, Str path, const FileElements *els, Str key)
{
    pthread_mutex_lock(&c->lock);
    if (c->by_path.n >= CACHE_MAX)
        c->by_path = map_new(c->arena);            /* layouts stay: others may hold them (2) */
    FileLayout *l = layout_of(c, els, key);
    map_put(&c->by_path, str_dup(c->arena, path), l);
    pthread_mutex_unlock(&c->lock);
    return l;
}

Status lake_layouts(Lake *l, Arena *a, const StrVec *paths, FileLayout **ret, Error *err)
{
    for (size_t i = 0; i < paths->n; i++) {
        FileElements els = {0};
        if ((ret[i] = look_up(l->layouts, paths->p[i])))
            continue;
        TRY(lake_footer_read(a, paths->p[i], &els, err));
        ret[i] = keep(l->layouts, paths->p[i], &els, key_of(a, &els));
    }
    return OK;
}
