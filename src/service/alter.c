/* SPDX-License-Identifier: Apache-2.0 */
/* alter.c - ALTER TABLE and ALTER VIEW … SET TBLPROPERTIES: every action of a statement becomes part of one commit.
 *
 * The rights for all actions are asked before anything is looked at.  Columns, partitions, storage and references of a managed view
 * are not changed by anyone; its properties may be, but for those that say where or how its files are written.
 *
 * Invariants: (1) field ids are never given out twice: new ones come after last-column-id; (2) a statement that fails changes nothing. */
#include "service/alter_int.h"

#include <unistd.h>

enum { ALTER_ROUNDS = 12, FIRST_WAIT_US = 2000, LONGEST_WAIT = 6 };

/* ---- rights ------------------------------------------------------------------------------------------------------------------ */

/* Properties that are no properties: they change the table's form or storage. */
static bool is_structural(Str key)
{
    return str_eq(key, S("format-version")) || str_eq(key, S("location")) || str_ends(key, S(".path"));
}

static Action action_of(const AlterAction *act)
{
    if (act->kind == AT_RENAME)
        return ACT_RENAME;
    if (act->kind != AT_SET_PROPS && act->kind != AT_UNSET_PROPS)
        return ACT_ALTER;
    for (size_t i = 0; i < act->props.n; i++)
        if (is_structural(act->props.p[i].key))
            return ACT_ALTER;
    return ACT_ALTER_PROPERTIES;
}

static Str what_of(Arena *a, const AlterAction *act)
{
    Str column = act->columns.n ? act->columns.p[0].name : str_join(a, &act->path, S("."));

    switch (act->kind) {
    case AT_ADD_COLUMNS: return str_fmt(a, "ADD COLUMN " STR_FMT, STR_ARG(column));
    case AT_DROP_COLUMNS: return str_fmt(a, "DROP COLUMN " STR_FMT, STR_ARG(column));
    case AT_RENAME_COLUMN: return str_fmt(a, "RENAME COLUMN " STR_FMT, STR_ARG(column));
    case AT_ALTER_COLUMN: return str_fmt(a, "ALTER COLUMN " STR_FMT, STR_ARG(column));
    case AT_ADD_PARTITION: return S("ADD PARTITION FIELD");
    case AT_DROP_PARTITION: return S("DROP PARTITION FIELD");
    case AT_REPLACE_PARTITION: return S("REPLACE PARTITION FIELD");
    case AT_SET_LOCATION: return S("SET LOCATION");
    case AT_WRITE_ORDER: return S("WRITE ORDERED BY");
    case AT_CREATE_REF: return str_fmt(a, "CREATE " STR_FMT " " STR_FMT, STR_ARG(str_upper(a, act->ref_kind)), STR_ARG(act->ref));
    case AT_DROP_REF: return str_fmt(a, "DROP " STR_FMT " " STR_FMT, STR_ARG(str_upper(a, act->ref_kind)), STR_ARG(act->ref));
    case AT_SET_IDENTIFIER: case AT_DROP_IDENTIFIER: return S("IDENTIFIER FIELDS");
    case AT_SET_PROPS: return S("SET TBLPROPERTIES");
    case AT_UNSET_PROPS: return S("UNSET TBLPROPERTIES");
    case AT_RENAME: return S("RENAME");
    case AT_SET_OWNER: return S("SET OWNER");
    }
    return S("ALTER TABLE");
}

/* A view's columns are its definition's: another shape could never be refreshed. A comment changes nothing. */
static Status refuse_view_columns(Run *r, const AlterAction *act, const CatRelation *rel, Error *err)
{
    bool columns = act->kind == AT_ADD_COLUMNS || act->kind == AT_DROP_COLUMNS || act->kind == AT_RENAME_COLUMN || act->kind == AT_ALTER_COLUMN;
    bool comment = act->set_comment && !act->set_type && !act->set_position;

    if (rel->kind != REL_MVIEW || !columns || comment)
        return OK;
    Status s = FAIL(err, E_UNSUPPORTED, "Cannot apply unsupported change to materialized view " STR_FMT "." STR_FMT ": " STR_FMT ": its columns are those of its definition",
                    STR_ARG(rel->namespace), STR_ARG(rel->name), STR_ARG(what_of(r->a, act)));
    error_hint(err, "Use CREATE OR REPLACE MATERIALIZED VIEW with another query.");
    return s;
}

static Status ask_all(Run *r, const CatRelation *rel, Error *err)
{
    for (size_t i = 0; i < r->st->actions.n; i++) {
        const AlterAction *act = &r->st->actions.p[i];
        Status s = run_ask(r, action_of(act), "ALTER TABLE", rel, err);
        if (s == E_PROTECTED && act->kind != AT_RENAME)
            return error_context(err, "Cannot apply unsupported change to managed materialized view: " STR_FMT, STR_ARG(what_of(r->a, act)));
        TRY(s);
        TRY(refuse_view_columns(r, act, rel, err));
    }
    return OK;
}

/* Views' properties change by ACT_ALTER_PROPERTIES, which is narrow; a table's by ACT_ALTER. */
static Action commit_as(const Run *r, const CatRelation *rel)
{
    for (size_t i = 0; i < r->st->actions.n; i++)
        if (action_of(&r->st->actions.p[i]) != ACT_ALTER_PROPERTIES)
            return ACT_ALTER;
    return rel->kind == REL_MVIEW ? ACT_ALTER_PROPERTIES : ACT_ALTER;
}

/* ---- the working state ----------------------------------------------------------------------------------------------------------- */

static IceType *copy_type(Arena *a, const IceType *t);

static IceFields copy_fields(Arena *a, const IceFields *from)
{
    IceFields to = {0};
    for (size_t i = 0; i < from->n; i++) {
        IceField f = from->p[i];
        f.type = copy_type(a, f.type);
        vec_push(a, &to, f);
    }
    return to;
}

static IceType *copy_type(Arena *a, const IceType *t)
{
    IceType *n = arena_new(a, IceType);
    *n = *t;
    n->fields = copy_fields(a, &t->fields);
    return n;
}

IceSchema *alter_schema(Alter *x)
{
    const IceSchema *now = ice_current_schema(x->table.meta);

    if (x->schema)
        return x->schema;
    x->schema = arena_new(x->r->a, IceSchema);
    x->schema->id = -1;
    x->schema->fields = copy_fields(x->r->a, &now->fields);
    for (size_t i = 0; i < now->identifiers.n; i++)
        vec_push(x->r->a, &x->schema->identifiers, now->identifiers.p[i]);
    x->last_id = x->table.meta->last_column_id;              /* (1) */
    return x->schema;
}

const IceSchema *alter_see(const Alter *x) { return x->schema ? x->schema : ice_current_schema(x->table.meta); }

/* ---- properties -------------------------------------------------------------------------------------------------------------------- */

static Status refuse_reserved(Str key, Error *err)
{
    if (str_eq(key, S("sort-order")))
        return FAIL(err, E_INVALID, "Cannot specify the 'sort-order' because it's a reserved table property. Please use the command 'ALTER TABLE ... WRITE ORDERED BY' to specify write sort-orders.");
    if (str_eq(key, S("identifier-fields")))
        return FAIL(err, E_INVALID, "Cannot specify the 'identifier-fields' because it's a reserved table property. Please use the command 'ALTER TABLE ... SET IDENTIFIER FIELDS' to specify identifier fields.");
    if (str_eq(key, S("current-snapshot-id")) || str_eq(key, S("cherry-pick-snapshot-id")))
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a property: use CALL system.set_current_snapshot or system.cherrypick_snapshot", STR_ARG(key));
    if (str_eq(key, S("provider")) || str_eq(key, S("uuid")))
        return FAIL(err, E_INVALID, "property '" STR_FMT "' is reserved", STR_ARG(key));
    return OK;
}

static Status set_properties(Alter *x, const AlterAction *act, Error *err)
{
    for (size_t i = 0; i < act->props.n; i++) {
        const KeyValue *kv = &act->props.p[i];
        int64_t version;
        TRY(refuse_reserved(kv->key, err));
        if (str_eq(kv->key, S("location"))) {
            x->location = kv->value;
        } else if (str_eq(kv->key, S("format-version"))) {
            if (!str_to_i64(kv->value, &version) || version < 1 || version > 3)
                return FAIL(err, E_INVALID, "unsupported format version '" STR_FMT "'", STR_ARG(kv->value));
            if (version < x->table.meta->format_version)
                return FAIL(err, E_INVALID, "Cannot downgrade v%d table to v%lld", x->table.meta->format_version, (long long)version);
            x->format_version = (int)version;
        } else {
            props_set(x->r->a, &x->set, kv->key, kv->value);
        }
    }
    return OK;
}

static Status unset_properties(Alter *x, const AlterAction *act, Error *err)
{
    for (size_t i = 0; i < act->props.n; i++) {
        TRY(refuse_reserved(act->props.p[i].key, err));
        vec_push(x->r->a, &x->unset, act->props.p[i].key);
    }
    return OK;
}

/* ---- one commit ---------------------------------------------------------------------------------------------------------------------- */

static Status apply_action(Alter *x, const AlterAction *act, Error *err)
{
    switch (act->kind) {
    case AT_SET_PROPS: return set_properties(x, act, err);
    case AT_UNSET_PROPS: return unset_properties(x, act, err);
    case AT_ADD_COLUMNS: case AT_DROP_COLUMNS: case AT_RENAME_COLUMN: case AT_ALTER_COLUMN: return alter_columns(x, act, err);
    case AT_ADD_PARTITION: case AT_DROP_PARTITION: case AT_REPLACE_PARTITION: return alter_partition(x, act, err);
    case AT_SET_LOCATION: x->location = act->location; return OK;
    case AT_WRITE_ORDER: return alter_write_order(x, act, err);
    case AT_CREATE_REF: case AT_DROP_REF: return alter_ref(x, act, err);
    case AT_SET_IDENTIFIER: case AT_DROP_IDENTIFIER: return alter_identifiers(x, act, err);
    case AT_RENAME: return FAIL(err, E_UNSUPPORTED, "RENAME TO cannot be combined with other changes");
    case AT_SET_OWNER: return FAIL(err, E_UNSUPPORTED, "the owner of a table cannot be changed");
    }
    return FAIL(err, E_INTERNAL, "ALTER action %d", (int)act->kind);
}

static void require(SvcCommit *c, Arena *a, IceRequirementKind kind, int64_t number)
{
    vec_push(a, &c->requirements, ((IceRequirement){ .kind = kind, .number = SOME_I64(number) }));
}

static Status add_schema(Alter *x, SvcCommit *c, Error *err)
{
    const IceMetadata *m = x->table.meta;
    Arena *a = x->r->a;
    Str mapping = props_get(&m->properties, S("schema.name-mapping.default"), (Str){0});

    if (!x->schema)
        return OK;
    if (mapping.n && !props_has(&x->set, S("schema.name-mapping.default"))) {
        TRY_CTX(alter_mapping(a, mapping, x->schema, &mapping, err), err, "property schema.name-mapping.default");
        props_set(a, &x->set, S("schema.name-mapping.default"), mapping);
    }
    require(c, a, RQ_CURRENT_SCHEMA, m->current_schema_id);
    require(c, a, RQ_LAST_FIELD_ID, m->last_column_id);
    vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_ADD_SCHEMA, .schema = x->schema }));
    vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_SET_CURRENT_SCHEMA, .number = -1 }));
    return OK;
}

static void add_spec_and_order(Alter *x, SvcCommit *c)
{
    const IceMetadata *m = x->table.meta;
    Arena *a = x->r->a;

    if (x->spec) {
        require(c, a, RQ_DEFAULT_SPEC, m->default_spec_id);
        require(c, a, RQ_LAST_PARTITION_ID, m->last_partition_id);
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_ADD_SPEC, .spec = x->spec }));
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_SET_DEFAULT_SPEC, .number = -1 }));
    }
    if (x->order) {
        require(c, a, RQ_DEFAULT_ORDER, m->default_order_id);
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_ADD_ORDER, .order = x->order }));
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_SET_DEFAULT_ORDER, .number = -1 }));
    }
}

static Status build_commit(Alter *x, SvcCommit *c, Error *err)
{
    Arena *a = x->r->a;

    *c = (SvcCommit){ .name = { x->name.catalog_id, x->name.namespace, x->name.name }, .as = commit_as(x->r, &x->table.relation) };
    TRY(alter_check_sources(x, err));
    vec_push(a, &c->requirements, ((IceRequirement){ .kind = RQ_UUID, .text = x->table.meta->uuid }));
    if (x->format_version)
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_UPGRADE_FORMAT, .number = x->format_version }));
    TRY(add_schema(x, c, err));
    add_spec_and_order(x, c);
    if (x->location.n)
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_SET_LOCATION, .text = x->location }));
    if (x->set.n)
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_SET_PROPERTIES, .props = x->set }));
    if (x->unset.n)
        vec_push(a, &c->updates, ((IceUpdate){ .kind = UP_REMOVE_PROPERTIES, .keys = x->unset }));
    for (size_t i = 0; i < x->refs.n; i++)
        vec_push(a, &c->updates, x->refs.p[i]);
    for (size_t i = 0; i < x->ref_requirements.n; i++)
        vec_push(a, &c->requirements, x->ref_requirements.p[i]);
    return OK;
}

static Status alter_once(Run *r, const Name *n, const CatRelation *rel, Error *err)
{
    Alter x = { .r = r, .name = *n };
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "ALTER TABLE");
    SvcCommit commit;
    SvcTable made;

    TRY(lake_open_relation(r->svc->lake, r->a, rel, &x.table, err));
    for (size_t i = 0; i < r->st->actions.n; i++)
        TRY(apply_action(&x, &r->st->actions.p[i], err));
    TRY(build_commit(&x, &commit, err));
    return commit.updates.n ? svc_table_commit(&call, &commit, &made, err) : OK;
}

/* ---- renaming; plain views -------------------------------------------------------------------------------------------------------- */

/* A new name of one part stays in the old one's namespace. */
static Status rename_relation(Run *r, const Name *n, const CatRelation *rel, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, rel->kind == REL_VIEW ? "ALTER VIEW … RENAME" : "ALTER TABLE … RENAME");
    const StrVec *to = &r->st->actions.p[0].new_name;
    SvcName from = { n->catalog_id, n->namespace, n->name };
    Name next;

    if (to->n > 3)
        return FAIL(err, E_INVALID, "'" STR_FMT "' is not a table name", STR_ARG(str_join(r->a, to, S("."))));
    TRY(name_resolve(r, to, &next, err));
    SvcName target = { next.catalog_id, next.namespace, vec_last(to) };
    if (to->n == 1)
        target = (SvcName){ n->catalog_id, n->namespace, to->p[0] };
    if (to->n == 2)
        target.catalog = n->catalog_id;
    return rel->kind == REL_VIEW ? svc_view_rename(&call, &from, &target, err) : svc_table_rename(&call, &from, &target, err);
}

static void view_update(Arena *a, const AlterAction *act, Json *updates)
{
    Json *u = json_object(a);

    if (act->kind == AT_SET_PROPS) {
        Json *set = json_object(a);
        for (size_t i = 0; i < act->props.n; i++)
            json_set_s(a, set, act->props.p[i].key, json_str(a, act->props.p[i].value));
        json_set(a, u, "action", json_str(a, S("set-properties")));
        json_set(a, u, "updates", set);
    } else {
        Json *keys = json_array(a);
        for (size_t i = 0; i < act->props.n; i++)
            json_push(a, keys, json_str(a, act->props.p[i].key));
        json_set(a, u, "action", json_str(a, S("remove-properties")));
        json_set(a, u, "removals", keys);
    }
    json_push(a, updates, u);
}

static Status alter_view(Run *r, const Name *n, Error *err)
{
    SvcCtx ctx;
    SvcCall call = ddl_call(r, &ctx, "ALTER VIEW");
    SvcName name = { n->catalog_id, n->namespace, n->name };
    Json *updates = json_array(r->a);
    SvcView made;

    for (size_t i = 0; i < r->st->actions.n; i++) {
        const AlterAction *act = &r->st->actions.p[i];
        if (act->kind != AT_SET_PROPS && act->kind != AT_UNSET_PROPS)
            return FAIL(err, E_UNSUPPORTED, STR_FMT " is not supported for views", STR_ARG(what_of(r->a, act)));
        view_update(r->a, act, updates);
    }
    return svc_view_commit(&call, &name, json_array(r->a), updates, &made, err);
}

/* ---- the statement -------------------------------------------------------------------------------------------------------------------- */

static Status find_relation(Run *r, Name *n, CatRelation *rel, bool *there, Error *err)
{
    TRY(name_resolve(r, &r->st->name, n, err));
    Status s = cat_relation_get(r->svc->catalog, r->a, n->catalog_id, n->namespace, n->name, rel, err);
    *there = s == OK;
    if (s == E_NOT_FOUND && r->st->if_exists)
        return OK;
    if (s == E_NOT_FOUND)
        return table_not_found(r, &r->st->name, r->st->position, err);
    TRY(s);
    if (n->metadata_table.n || n->ref.n)
        return FAIL(err, E_INVALID, "ALTER TABLE needs a table, not '" STR_FMT "'", STR_ARG(str_join(r->a, &r->st->name, S("."))));
    if (rel->kind == REL_VIEW && str_eq(r->st->what, S("table")) && r->st->actions.p[0].kind != AT_RENAME)
        return FAIL(err, E_INVALID, "[EXPECT_TABLE_NOT_VIEW] " STR_FMT " is a view: use ALTER VIEW", STR_ARG(name_display(r->a, n)));
    if (rel->kind != REL_VIEW && str_eq(r->st->what, S("view")))
        return FAIL(err, E_INVALID, "[EXPECT_VIEW_NOT_TABLE] " STR_FMT " is not a view: use ALTER TABLE", STR_ARG(name_display(r->a, n)));
    return OK;
}

Status do_alter_table(Run *r, Rows *rows, Error *err)
{
    CatRelation rel = {0};
    bool there;
    Name n;

    rows_command(rows, str_eq(r->st->what, S("view")) ? "ALTER VIEW" : "ALTER TABLE");
    if (!r->st->actions.n)
        return FAIL(err, E_INVALID, "ALTER TABLE without an action");
    TRY(find_relation(r, &n, &rel, &there, err));
    if (!there)
        return OK;
    TRY(ask_all(r, &rel, err));
    if (r->st->actions.n == 1 && r->st->actions.p[0].kind == AT_RENAME)
        return rename_relation(r, &n, &rel, err);
    if (rel.kind == REL_VIEW)
        return alter_view(r, &n, err);
    for (int round = 1; ; round++) {
        Status s = alter_once(r, &n, &rel, err);
        if (s != E_CONFLICT || round == ALTER_ROUNDS)
            return s;
        usleep((useconds_t)(rand_u64() % (FIRST_WAIT_US << (round < LONGEST_WAIT ? round : LONGEST_WAIT))));
        TRY(cat_relation_by_id(r->svc->catalog, r->a, rel.id, &rel, err));      /* someone was faster: decide anew */
    }
}
