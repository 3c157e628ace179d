/* SPDX-License-Identifier: Apache-2.0 */
/* live_index.c - CREATE INDEX, CREATE DEFAULT INDEX.
 *
 * An index is an object with a name, a cluster and its keys: what Materialize's clients ask for and drop.  Relations here are always at hand and maintained, so it changes
 * nothing about how they are read.  detail: {"on": object, "keys": [{"text": …, "position": 1-based column or 0}]}. */
#include "service/live_sql.h"

enum { INDEX_KEYS_MAX = 32 };

static size_t position_of(const Object *on, const Expr *e)
{
    if (e->kind != EX_COLUMN)
        return 0;
    for (size_t i = 0; i < on->columns.n; i++)
        if (str_eq(on->columns.p[i].name, vec_last(&e->name)))
            return i + 1;
    return 0;
}

static Json *key_json(Arena *a, Str text, size_t position)
{
    Json *j = json_object(a);
    json_set(a, j, "text", json_str(a, text));
    json_set(a, j, "position", json_int(a, (int64_t)position));
    return j;
}

/* Bound over the relation, so what is no expression of its columns is refused. */
static Status given_keys(Run *r, const Object *on, Json *keys, Error *err)
{
    const LiveStmt *l = r->st->live;

    if (l->exprs.n > INDEX_KEYS_MAX)
        return FAIL(err, E_LIMIT, "an index has at most %d keys", INDEX_KEYS_MAX);
    for (size_t i = 0; i < l->exprs.n; i++) {
        TableRef from = { .kind = TR_TABLE, .name = l->from };
        Expr *e = l->exprs.p[i];
        size_t position = position_of(on, e);
        Binder b;
        run_binder(r, &b);
        TRY(sql_bind_expr(r->a, &b, &from, e, err));
        json_push(r->a, keys, key_json(r->a, position ? on->columns.p[position - 1].name : l->expr_texts.p[i], position));
    }
    return OK;
}

static void all_keys(Arena *a, const Object *on, Json *keys)
{
    for (size_t i = 0; i < on->columns.n; i++)
        json_push(a, keys, key_json(a, on->columns.p[i].name, i + 1));
}

/* t_primary_idx, t_a_b_idx, t_expr_idx; a number behind when that is taken. */
static Str free_name(Run *r, const Object *on, const Json *keys)
{
    StrBuf b = sb_new(r->a);
    Error absent;
    Object there;

    sb_add(&b, on->name);
    if (r->st->live->is_default)
        sb_addc(&b, "_primary");
    for (size_t i = 0; !r->st->live->is_default && i < json_len(keys); i++)
        sb_fmt(&b, "_" STR_FMT, STR_ARG(json_get_int(json_at(keys, i), "position", 0) ? json_get_str(json_at(keys, i), "text", (Str){0}) : S("expr")));
    sb_addc(&b, "_idx");
    Str base = sb_str(&b), name = base;
    for (int n = 1; objects_find(r->svc->objects, r->a, on->database, on->schema, name, &there, &absent) == OK; n++)
        name = str_fmt(r->a, STR_FMT "%d", STR_ARG(base), n);
    return name;
}

static Status place(Run *r, const Object *on, const Json *keys, LivePlace *p, Error *err)
{
    LiveName n = { on->database, on->schema, r->st->name.n ? vec_last(&r->st->name) : free_name(r, on, keys) };
    return live_place_at(r, OBJ_INDEX, &n, p, err);
}

static Str text_of(Run *r, const Object *o, const Object *on, Str cluster)
{
    LiveStmt l = *r->st->live;
    Stmt st = { .kind = ST_LIVE, .live = &l, .name = live_parts(r->a, o) };

    l.from = live_parts(r->a, on);
    l.is_default = 0;
    l.cluster = (StrVec){0};
    vec_push(r->a, &l.cluster, cluster);
    l.expr_texts.n = 0;
    const Json *keys = json_get(o->detail, "keys");
    for (size_t i = 0; i < json_len(keys); i++) {
        Str key = json_get_str(json_at(keys, i), "text", (Str){0});
        vec_push(r->a, &l.expr_texts, json_get_int(json_at(keys, i), "position", 0) ? sql_ident_str(r->a, key) : key);
    }
    return sql_live_text(r->a, &st, LIVE_TEXT_WHOLE);
}

Status live_create_index(Run *r, Rows *rows UNUSED, LiveDone *ret, Error *err)
{
    Json *detail = json_object(r->a), *keys = json_array(r->a);
    RealmCluster cluster;
    LivePlace p;
    Object on;

    ret->done = 1;
    TRY(live_need(r, &r->st->live->from, 1 << OBJ_TABLE | 1 << OBJ_VIEW | 1 << OBJ_MVIEW | 1 << OBJ_SOURCE, 0, &on, err));
    TRY(live_ask_owner(r, &on, err));
    if (r->st->live->is_default)
        all_keys(r->a, &on, keys);
    else
        TRY(given_keys(r, &on, keys, err));
    TRY(live_need_cluster(r, &r->st->live->cluster, &cluster, err));
    TRY(place(r, &on, keys, &p, err));
    if (p.done)
        return OK;
    Object o = live_object(r, OBJ_INDEX, &p.name);
    json_set(r->a, detail, "on", json_int(r->a, on.id));
    json_set(r->a, detail, "keys", keys);
    o.detail = detail;
    o.cluster = cluster.id;
    live_use(r->a, &o, on.id);
    o.create_sql = text_of(r, &o, &on, cluster.name);
    return live_store(r, &o, 1, LIVE_CREATED, err);
}
