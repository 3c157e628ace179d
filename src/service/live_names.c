/* SPDX-License-Identifier: Apache-2.0 */
/* live_names.c - names of the live side, bound: tables and materialized views are relations of live/, plain views are bound in their place. */
#include "live/live.h"
#include "service/live_sql.h"

#include <stdlib.h>

Str live_database(const Run *r) { return setting_get(r->ss, S("database"), r->ss->database); }

bool live_speaks(const Run *r) { return r->ss->dialect == DIALECT_POSTGRES && realm_has_database(r->svc->realm, live_database(r)); }

static bool is_system_schema(Str s) { return str_starts(s, S("mz_")) || str_eq(s, S("pg_catalog")) || str_eq(s, S("information_schema")); }

void live_search_path(Run *r, StrVec *ret)
{
    StrVec parts = {0};

    str_split(r->a, setting_get(r->ss, S("search_path"), S("public")), ',', &parts);
    for vec_each(Str, p, &parts) {
        Str one = str_trim(*p);
        if (one.n >= 2 && one.p[0] == '"')
            one = str_sub(one, 1, one.n - 1);
        if (one.n && !str_eq(one, S("$user")) && !is_system_schema(one))
            vec_push(r->a, ret, one);
    }
}

/* ---- how names are written --------------------------------------------------------------------------------------------------- */

/* A temporary schema is its session's: mz_temp/<session>. */
static Str shown_schema(Str s) { return str_starts(s, S(LIVE_TEMP_SCHEMA "/")) ? S(LIVE_TEMP_SCHEMA) : s; }

static bool is_plain(Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool letter = (s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_', digit = s.p[i] >= '0' && s.p[i] <= '9';
        if (!letter && (!digit || !i))
            return false;
    }
    return s.n > 0;
}

static void add_part(StrBuf *b, Str part)
{
    if (b->n)
        sb_byte(b, '.');
    if (is_plain(part))
        sb_add(b, part);
    else
        sql_ident(b, part);
}

Str live_full_name(Arena *a, const LiveName *n)
{
    StrBuf b = sb_new(a);

    if (n->database.n)
        add_part(&b, n->database);
    add_part(&b, shown_schema(n->schema));
    add_part(&b, n->name);
    return sb_str(&b);
}

Str live_full(Arena *a, const Object *o) { return live_full_name(a, &(LiveName){ o->database, o->schema, o->name }); }

StrVec live_parts(Arena *a, const Object *o)
{
    StrVec v = {0};

    if (o->database.n)
        vec_push(a, &v, o->database);
    vec_push(a, &v, shown_schema(o->schema));
    vec_push(a, &v, o->name);
    return v;
}

/* ---- where a name would be made ------------------------------------------------------------------------------------------------- */

static Status by_search_path(Run *r, LiveName *ret, Error *err)
{
    StrVec path = {0};

    live_search_path(r, &path);
    for vec_each(Str, schema, &path)
        if (realm_has_schema(r->svc->realm, ret->database, *schema)) {
            ret->schema = *schema;
            return OK;
        }
    return live_refuse(FAIL(err, E_NOT_FOUND, "no schema has been selected to create in"), "3F000", err);
}

/* Made when the first temporary object is. */
static Str temp_schema(Run *r)
{
    if (!r->ss->live_temp.n)
        r->ss->live_temp = str_cat(r->ss->arena, S(LIVE_TEMP_SCHEMA "/"), uuid_v4(r->a));
    return r->ss->live_temp;
}

Status live_name_new(Run *r, const StrVec *parts, LiveName *ret, int *live, Error *err)
{
    *live = 0;
    *ret = (LiveName){ .database = live_database(r) };
    if (r->ss->dialect != DIALECT_POSTGRES || !parts->n || parts->n > 3)
        return OK;
    ret->name = vec_last(parts);
    if (parts->n == 3)
        ret->database = parts->p[0];
    if (!realm_has_database(r->svc->realm, ret->database))
        return OK;
    if (parts->n == 1 && !r->st->temporary) {
        *live = 1;
        return by_search_path(r, ret, err);
    }
    if (parts->n < 3 && (parts->n == 1 || str_eq(parts->p[0], S(LIVE_TEMP_SCHEMA)))) {
        *ret = (LiveName){ .schema = temp_schema(r), .name = ret->name };
        *live = 1;
        return OK;
    }
    ret->schema = parts->p[parts->n - 2];
    *live = realm_has_schema(r->svc->realm, ret->database, ret->schema);
    if (parts->n == 3 && !*live)
        return live_refuse(FAIL(err, E_NOT_FOUND, "unknown schema '" STR_FMT "." STR_FMT "'", STR_ARG(ret->database), STR_ARG(ret->schema)), "3F000", err);
    return OK;
}

/* ---- finding ----------------------------------------------------------------------------------------------------------------------- */

static Status find_along(Run *r, Arena *a, Str name, Object *ret, Error *err)
{
    StrVec path = {0};

    if (r->ss->live_temp.n && objects_find(r->svc->objects, a, (Str){0}, r->ss->live_temp, name, ret, err) == OK)
        return OK;
    live_search_path(r, &path);
    for vec_each(Str, schema, &path)
        if (objects_find(r->svc->objects, a, live_database(r), *schema, name, ret, err) == OK)
            return OK;
    return FAIL(err, E_NOT_FOUND, "relation \"" STR_FMT "\" does not exist", STR_ARG(name));
}

Status live_find_object(Run *r, Arena *a, const StrVec *parts, Object *ret, Error *err)
{
    if (r->ss->dialect != DIALECT_POSTGRES || !parts->n || parts->n > 3 || (parts->n < 3 && !live_speaks(r)))
        return FAIL(err, E_NOT_FOUND, "no such name");
    if (parts->n == 3)
        return objects_find(r->svc->objects, a, parts->p[0], parts->p[1], parts->p[2], ret, err);
    if (parts->n == 1)
        return find_along(r, a, parts->p[0], ret, err);
    if (str_eq(parts->p[0], S(LIVE_TEMP_SCHEMA)))
        return objects_find(r->svc->objects, a, (Str){0}, r->ss->live_temp, parts->p[1], ret, err);
    return objects_find(r->svc->objects, a, live_database(r), parts->p[0], parts->p[1], ret, err);
}

/* ---- binding ---------------------------------------------------------------------------------------------------------- */

static Str display_of(Arena *a, const Object *o) { return str_fmt(a, STR_FMT "." STR_FMT "." STR_FMT, STR_ARG(o->database), STR_ARG(shown_schema(o->schema)), STR_ARG(o->name)); }

static void bind_relation(Arena *a, const Object *o, BoundTable **ret)
{
    BoundTable *t = arena_new(a, BoundTable);

    *t = (BoundTable){ .id = live_source_id(a, o->id), .display = display_of(a, o) };
    for (size_t i = 0; i < o->columns.n; i++) {
        const ObjColumn *c = &o->columns.p[i];
        BoundColumn b = { .name = c->name, .engine = c->engine, .type = c->type, .nullable = !c->not_null, .field_id = (int32_t)i + 1 };
        vec_push(a, &t->columns, b);
    }
    *ret = t;
}

enum { VIEW_DEPTH = 32 };

/* In its own place, with its own parameters: none; with its owner's rights. */
static Status bind_as_owner(Run *r, Arena *a, const Object *o, Query **q, Error *err)
{
    Binder b;

    TRY(sql_parse_query(a, DIALECT_POSTGRES, o->definition, q, err));
    run_binder(r, &b);
    b.dialect = DIALECT_POSTGRES;
    b.params = NULL;
    b.text = o->definition;
    return sql_bind_query(a, &b, *q, err);
}

static Status bind_definition(Run *r, Arena *a, const Object *o, Query **q, Error *err)
{
    Str as = r->live_as;

    if (!str_eq(as, S(REALM_SYSTEM_ROLE)))
        r->live_as = o->owner;
    Status s = bind_as_owner(r, a, o, q, err);
    r->live_as = as;
    return s;
}

static Status bind_view(Run *r, Arena *a, const Object *o, BoundTable **ret, Error *err)
{
    BoundTable *t = arena_new(a, BoundTable);

    if (++r->view_depth > VIEW_DEPTH)
        return FAIL(err, E_LIMIT, "views are nested deeper than %d levels", VIEW_DEPTH);
    Status s = bind_definition(r, a, o, &t->view, err);
    r->view_depth--;
    if (s != OK)
        return error_context(err, "view \"" STR_FMT "\"", STR_ARG(o->name)), s;
    t->id = live_source_id(a, o->id);
    t->display = display_of(a, o);
    t->columns = t->view->columns;
    for (size_t i = 0; i < t->columns.n && i < o->columns.n; i++)
        t->columns.p[i].name = o->columns.p[i].name;
    *ret = t;
    return OK;
}

static void note_use(Run *r, const TableRef *ref, const Object *o)
{
    LiveRef at = { .position = ref->position, .parts = ref->name.n, .id = o->id, .as = ref->alias.n ? (Str){0} : o->name };
    int known = 0;

    for (size_t i = 0; i < r->live_used.n; i++)
        known |= r->live_used.p[i] == o->id;
    if (!known)
        vec_push(r->a, &r->live_used, o->id);
    for (size_t i = 0; i < r->live_refs.n; i++)
        if (r->live_refs.p[i].position == at.position)
            return;
    vec_push(r->a, &r->live_refs, at);
}

static Status is_no_relation(Run *r, const Object *o, Error *err)
{
    const char *kind = obj_kind_words(o->kind);
    return live_refuse(FAIL(err, E_INVALID, "catalog item '" STR_FMT "' is %s %s and so cannot be depended upon", STR_ARG(live_full(r->a, o)), strchr("aeiou", kind[0]) ? "an" : "a", kind), "42809", err);
}

Status live_resolve(Run *r, Arena *a, const TableRef *ref, BoundTable **ret, Error *err)
{
    Object o;

    TRY(live_find_object(r, a, &ref->name, &o, err));
    if (o.kind != OBJ_TABLE && o.kind != OBJ_VIEW && o.kind != OBJ_MVIEW && o.kind != OBJ_SOURCE)
        return is_no_relation(r, &o, err);
    TRY(live_ask(r, 'r', &o, err));
    if (!r->live_returning)
        TRY(live_tx_may_read(r->ss, err));
    if (!r->live_as.n && !r->live_returning)
        TRY(live_ask_session_cluster(r, err));
    if (ref->as_of.has)
        return FAIL(err, E_UNSUPPORTED, "\"" STR_FMT "\" keeps no history: AS OF is for tables of the lake", STR_ARG(o.name));
    if (!r->view_depth)
        note_use(r, ref, &o);
    if (o.kind == OBJ_VIEW)
        return bind_view(r, a, &o, ret, err);
    bind_relation(a, &o, ret);
    return OK;
}

bool live_is_table(const BoundTable *t, int64_t *id) { return str_starts(t->id, S("live:")) && str_to_i64(str_from(t->id, 5), id); }

/* ---- definitions with whole names: another session, with another search path, means the same by them ------------------------------------ */

static size_t skip_blanks(Str s, size_t at)
{
    while (at < s.n && strchr(" \t\r\n\f\v", s.p[at]) && s.p[at])
        at++;
    return at;
}

static size_t skip_quoted(Str s, size_t at)
{
    for (at++; at < s.n; at++) {
        if (s.p[at] != '"')
            continue;
        if (at + 1 >= s.n || s.p[at + 1] != '"')
            return at + 1;
        at++;
    }
    return at;
}

static bool in_word(unsigned char c) { return c >= 128 || c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static size_t skip_part(Str s, size_t at)
{
    if (at < s.n && s.p[at] == '"')
        return skip_quoted(s, at);
    while (at < s.n && in_word((unsigned char)s.p[at]))
        at++;
    return at;
}

/* Where a name of so many parts ends; `at` itself when it is not one (a comment between the dots). */
static size_t name_end(Str s, size_t at, size_t parts)
{
    size_t end = skip_part(s, at);

    for (size_t i = 1; i < parts; i++) {
        size_t dot = skip_blanks(s, end);
        if (dot >= s.n || s.p[dot] != '.')
            return at;
        end = skip_part(s, skip_blanks(s, dot + 1));
    }
    return end;
}

static int by_position(const void *x, const void *y) { return ((const LiveRef *)x)->position - ((const LiveRef *)y)->position; }

/* As it is, or as it will be called; then the old name stays as the alias that columns may be qualified with. */
static Status name_of(Run *r, const LiveRef *ref, const ObjectVec *renamed, Str *ret, Error *err)
{
    Object o;

    TRY(objects_get(r->svc->objects, r->a, ref->id, &o, err));
    for (size_t i = 0; renamed && i < renamed->n; i++)
        if (renamed->p[i].id == ref->id)
            o = renamed->p[i];
    *ret = live_full(r->a, &o);
    if (ref->as.n && !str_eq(ref->as, o.name))
        *ret = str_fmt(r->a, STR_FMT " AS " STR_FMT, STR_ARG(*ret), STR_ARG(is_plain(ref->as) ? ref->as : sql_ident_str(r->a, ref->as)));
    return OK;
}

static Status replace_names(Run *r, Str text, const ObjectVec *renamed, Str *whole, Error *err)
{
    StrBuf b = sb_new(r->a);
    size_t from = 0;
    Str name;

    if (r->live_refs.n)
        qsort(r->live_refs.p, r->live_refs.n, sizeof *r->live_refs.p, by_position);
    for (size_t i = 0; i < r->live_refs.n; i++) {
        const LiveRef *ref = &r->live_refs.p[i];
        size_t at = (size_t)ref->position - 1, end = name_end(text, at, ref->parts);
        if (ref->position < 1 || at < from || end <= at || end > text.n)
            return FAIL(err, E_UNSUPPORTED, "a name of the definition cannot be read again: write it without comments between its parts");
        TRY(name_of(r, ref, renamed, &name, err));
        sb_add(&b, str_sub(text, from, at));
        sb_add(&b, name);
        from = end;
    }
    sb_add(&b, str_from(text, from));
    *whole = sb_str(&b);
    return OK;
}

static Status bind_names(Run *r, Str definition, Error *err)
{
    Binder b;
    Query *q;

    r->live_used.n = r->live_refs.n = r->live_types.n = 0;
    TRY(sql_parse_query(r->a, DIALECT_POSTGRES, definition, &q, err));
    run_binder(r, &b);
    b.text = definition;
    return sql_bind_query(r->a, &b, q, err);
}

Status live_settle_names(Run *r, Str definition, Str *whole, Object *uses, Error *err)
{
    TRY(bind_names(r, definition, err));
    for (size_t i = 0; uses && i < r->live_used.n; i++)
        live_use(r->a, uses, r->live_used.p[i]);
    for (size_t i = 0; uses && i < r->live_types.n; i++)
        live_use(r->a, uses, r->live_types.p[i]);
    return replace_names(r, definition, NULL, whole, err);
}

Status live_rename_in(Run *r, Str definition, const ObjectVec *renamed, Str *ret, Error *err)
{
    TRY(bind_names(r, definition, err));
    return replace_names(r, definition, renamed, ret, err);
}
