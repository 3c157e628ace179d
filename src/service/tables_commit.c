/* SPDX-License-Identifier: Apache-2.0 */
/* tables_commit.c - optimistic commits to one table or to several at once.
 *
 * Read the pointers, check the requirements, apply the updates, write the new metadata files, swap all pointers in one transaction.
 * Whoever loses the race starts over from the new base; a requirement that no longer holds ends it.
 * Invariants: (1) E_CONFLICT means that nothing was changed; (2) files written for a commit that surely failed are removed;
 * (3) metadata names no manifest list that the principal may not read. */
#include "service/tables_int.h"

#include <time.h>

typedef struct Pending {
    const SvcCommit *commit;
    CatRelation relation;
    int exists, changed, written;
    IceMetadata *base, *next;
    Str file;
} Pending;

/* ---- one table: what it was, what it becomes ------------------------------------------------------------------------- */

static bool wants_create(const SvcCommit *m)
{
    for vec_each(IceRequirement, rq, &m->requirements)
        if (rq->kind == RQ_CREATE)
            return true;
    return false;
}

static Status only_properties(const SvcCommit *m, Error *err)
{
    for vec_each(IceUpdate, up, &m->updates) {
        if (up->kind != UP_SET_PROPERTIES && up->kind != UP_REMOVE_PROPERTIES)
            return FAIL(err, E_INVALID, "only properties can be changed here");
        for vec_each(KeyValue, kv, &up->props)
            if (str_ends(kv->key, S(".path")))
                return FAIL(err, E_INVALID, "property '" STR_FMT "' says where data is written and cannot be changed here", STR_ARG(kv->key));
    }
    return OK;
}

/* ---- what a commit is in Lake Formation's words ------------------------------------------------------------------------- */

static bool adds(const SvcCommit *m, int64_t snapshot)
{
    for vec_each(IceUpdate, up, &m->updates)
        if (up->kind == UP_ADD_SNAPSHOT && up->snapshot && up->snapshot->id == snapshot)
            return true;
    return false;
}

static uint32_t permissions_of_snapshot(const IceSnapshot *s)
{
    return s && str_eq(s->operation, S("append")) ? LF_INSERT : s && str_eq(s->operation, S("delete")) ? LF_DELETE : LF_INSERT | LF_DELETE;
}

/* Rows come, rows go (an older snapshot made current is both), or the table is made another. */
static uint32_t permissions_of(const SvcCommit *m)
{
    uint32_t bits = 0;

    for vec_each(IceUpdate, up, &m->updates)
        switch (up->kind) {
        case UP_ADD_SNAPSHOT: bits |= permissions_of_snapshot(up->snapshot); break;
        case UP_SET_REF: bits |= adds(m, up->ref.snapshot_id) ? 0 : LF_INSERT | LF_DELETE; break;
        case UP_REMOVE_SNAPSHOTS: case UP_REMOVE_REF: bits |= LF_DELETE; break;
        case UP_SET_STATISTICS: case UP_REMOVE_STATISTICS: case UP_SET_PARTITION_STATISTICS: case UP_REMOVE_PARTITION_STATISTICS: bits |= LF_INSERT; break;
        default: bits |= LF_ALTER;
        }
    return bits;
}

static Status ask_commit(const SvcCall *c, const SvcCommit *m, const CatRelation *r, Error *err)
{
    Ask ask = { .action = m->as, .api = c->api, .iam = c->iam, .relation = r, .catalog = r->catalog, .namespace = r->namespace, .name = r->name };

    if (m->as == ACT_WRITE_DATA)
        ask.lf = permissions_of(m);
    return access_check(c->ctx->access, c->a, c->who, &ask, err);
}

static Status read_base(const SvcCall *c, Pending *p, Error *err)
{
    Status s = tables_get(c, &p->commit->name, &p->relation, err);
    if (s == E_NOT_FOUND && wants_create(p->commit)) {
        TRY(tables_must_be_free(c, &p->commit->name, REL_TABLE, err));
        return tables_ask(c, ACT_CREATE, NULL, &p->commit->name, err);
    }
    TRY(s);
    p->exists = 1;
    TRY(ask_commit(c, p->commit, &p->relation, err));
    if (p->commit->as == ACT_ALTER_PROPERTIES)
        TRY(only_properties(p->commit, err));
    TRY(tables_has_metadata(&p->relation, err));
    TRY(ice_metadata_read(c->a, c->ctx->store, p->relation.metadata_location, &p->base, err));
    return cat_metadata_keeps_place(c->ctx->catalog, c->a, &p->relation, p->base, err);
}

static Status snapshots_inside(const SvcCall *c, const Pending *p, Error *err)
{
    for vec_each(IceUpdate, up, &p->commit->updates) {
        if (up->kind != UP_ADD_SNAPSHOT || !up->snapshot)
            continue;
        Str list = up->snapshot->manifest_list;
        if (list.n > 0 && !tables_within(c->a, list, p->next->location))
            TRY_CTX(tables_readable(c, list, err), err, "manifest list of snapshot %lld", (long long)up->snapshot->id);
    }
    return OK;
}

/* A table made by a commit may come without a location: the catalog chooses. */
static Status with_location(const SvcCall *c, const Pending *p, IceUpdates *ups, Error *err)
{
    CatNamespace ns = {0};
    IceUpdate place = { .kind = UP_SET_LOCATION };
    const SvcName *n = &p->commit->name;

    *ups = p->commit->updates;
    if (p->exists)
        return OK;
    TRY(cat_namespace_get(c->ctx->catalog, c->a, n->catalog, n->namespace, &ns, err));
    for vec_each(IceUpdate, up, ups)
        if (up->kind == UP_SET_LOCATION)
            return OK;
    TRY(tables_default_location(c, &ns, n->name, uuid_v4(c->a), &place.text, err));
    ups->cap = ups->n;                                     /* the caller's array is not touched: growing copies */
    vec_push(c->a, ups, place);
    return OK;
}

/* A client may say too little of the row ids that its snapshot takes (v3): the manifest list knows.  A list that cannot be read is the client's matter. */
static void raise_added_rows(const SvcCall *c, const IceMetadata *base, IceUpdates *ups)
{
    for (size_t i = 0; base && i < ups->n; i++) {
        const IceSnapshot *s = ups->p[i].kind == UP_ADD_SNAPSHOT ? ups->p[i].snapshot : NULL;
        Error unreadable;
        int64_t end;
        if (!s || !s->first_row_id.has || !s->manifest_list.n || ice_snapshot_rows_end(c->a, c->ctx->store, base, s, &end, &unreadable) != OK)
            continue;
        if (end - s->first_row_id.v <= (s->added_rows.has ? s->added_rows.v : 0))
            continue;
        IceSnapshot *raised = arena_new(c->a, IceSnapshot);
        IceUpdate *copy = arena_array(c->a, IceUpdate, ups->n);
        *raised = *s;
        raised->added_rows = SOME_I64(end - s->first_row_id.v);
        memcpy(copy, ups->p, ups->n * sizeof *copy);  /* the caller's array is not touched */
        copy[i].snapshot = raised;
        *ups = (IceUpdates){ .p = copy, .n = ups->n, .cap = ups->n };
    }
}

static Status plan(const SvcCall *c, Pending *p, Error *err)
{
    IceUpdates ups = {0};

    TRY(tables_check_name(&p->commit->name, err));
    TRY(read_base(c, p, err));
    Str previous = p->exists ? p->relation.metadata_location : (Str){0};
    TRY(ice_requirements_check(p->base, &p->commit->requirements, err));
    TRY(with_location(c, p, &ups, err));
    raise_added_rows(c, p->base, &ups);
    TRY(ice_metadata_apply(c->a, p->base, previous, &ups, clock_ms(), &p->next, &p->changed, err));
    if (!p->changed && p->exists)
        return OK;
    p->changed = 1;
    if (!p->exists || !str_eq(p->next->location, p->base->location))
        TRY(tables_bucket_location(c, p->commit->name.catalog, p->next->location, err));
    if (!p->exists || !str_eq(p->next->location, p->base->location))
        TRY(tables_location_allowed(c, p->next->location, p->relation.id, err));
    TRY(tables_paths_allowed(c, p->exists ? p->base : NULL, p->next, p->relation.id, err));
    TRY(snapshots_inside(c, p, err));
    p->file = ice_metadata_next_location(c->a, p->next, previous);
    return tables_metadata_allowed(c, p->file, p->next->location, p->relation.id, err);
}

/* ---- all tables: write, swap, or take back ------------------------------------------------------------------------------- */

static Status write_files(const SvcCall *c, Pending *ps, size_t n, Error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!ps[i].changed)
            continue;
        TRY(ice_metadata_write(c->a, c->ctx->store, ps[i].next, ps[i].file, err));
        ps[i].written = 1;
    }
    return OK;
}

static void take_back(const SvcCall *c, Pending *ps, size_t n)
{
    Error ignored;
    for (size_t i = 0; i < n; i++)
        if (ps[i].written)
            (void)!store_delete(c->ctx->store, ps[i].file, &ignored);
}

static CatChange change_of(const SvcCall *c, Pending *p)
{
    const SvcName *n = &p->commit->name;

    if (p->exists)
        return (CatChange){ .kind = CH_SWAP, .relation = &p->relation, .expected = p->relation.metadata_location, .next = p->file,
                            .new_location = p->next->location };
    p->relation = (CatRelation){ .catalog = n->catalog, .namespace = n->namespace, .name = n->name, .kind = REL_TABLE,
                                 .uuid = p->next->uuid, .location = p->next->location, .metadata_location = p->file, .owner = principal_owner(c->who) };
    return (CatChange){ .kind = CH_CREATE, .relation = &p->relation };
}

static Status swap_all(const SvcCall *c, Pending *ps, size_t n, Error *err)
{
    CatChange *changes = arena_array(c->a, CatChange, n);
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (ps[i].changed)
            changes[k++] = change_of(c, &ps[i]);
    return k > 0 ? lf_commit(c->ctx->access, c->a, c->who, changes, k, err) : OK;
}

/* One attempt. *lost: somebody else was faster, nothing is changed, another attempt may do. */
static Status attempt(const SvcCall *c, Pending *ps, size_t n, int *lost, Error *err)
{
    for (size_t i = 0; i < n; i++)
        TRY(plan(c, &ps[i], err));
    Status s = write_files(c, ps, n, err);
    if (s == OK) {
        s = swap_all(c, ps, n, err);
        *lost = s == E_CONFLICT;
    }
    if (s != OK && s != E_UNKNOWN)
        take_back(c, ps, n);
    return s;
}

static void wait_a_little(int round)
{
    int64_t ns = (int64_t)(rand_u64() % ((uint64_t)min_i64(round + 1, 10) * 2000000));
    nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL);
}

static Status commit_all(const SvcCall *c, const SvcCommit *commits, size_t n, Pending *ps, Error *err)
{
    Status s = OK;

    for (int round = 0; round < COMMIT_ATTEMPTS; round++) {
        int lost = 0;
        for (size_t i = 0; i < n; i++)
            ps[i] = (Pending){ .commit = &commits[i] };
        s = attempt(c, ps, n, &lost, err);
        if (s == OK || !lost)
            return s;
        wait_a_little(round);
    }
    return s;
}

static bool in_log(const IceMetadata *m, Str file)
{
    for vec_each(IceLogEntry, e, &m->metadata_log)
        if (str_eq(e->file, file))
            return true;
    return false;
}

/* write.metadata.delete-after-commit.enabled: metadata files that fell out of the log go, those in the table's own storage. */
static void delete_old_metadata(const SvcCall *c, const Pending *p)
{
    Error ignored;

    if (!p->exists || !p->changed
        || !str_ieq(props_get(&p->next->properties, S("write.metadata.delete-after-commit.enabled"), S("false")), S("true")))
        return;
    for vec_each(IceLogEntry, e, &p->base->metadata_log)
        if (!in_log(p->next, e->file) && tables_within(c->a, e->file, p->next->location))
            (void)!store_delete(c->ctx->store, e->file, &ignored);
}

Status svc_table_commit(const SvcCall *c, const SvcCommit *commit, SvcTable *ret, Error *err)
{
    Pending p;

    TRY(commit_all(c, commit, 1, &p, err));
    ret->metadata = p.changed ? p.next : p.base;
    if (p.exists && !p.changed) {
        ret->relation = p.relation;
        return OK;
    }
    delete_old_metadata(c, &p);
    TRY(tables_get(c, &commit->name, &ret->relation, err));
    ret->relation.metadata_location = p.file;              /* what this commit made, whatever came since */
    return OK;
}

static Status named_once(const SvcCall *c, const SvcCommit *commits, size_t n, Error *err)
{
    Map seen = map_new(c->a);

    for (size_t i = 0; i < n; i++) {
        const SvcName *m = &commits[i].name;
        Str key = str_fmt(c->a, STR_FMT "%c" STR_FMT, STR_ARG(m->namespace), 1, STR_ARG(m->name));
        if (map_has(&seen, key))
            return FAIL(err, E_INVALID, "table " STR_FMT " is named twice in one transaction", STR_ARG(cat_display_name(c->a, m->namespace, m->name)));
        map_put(&seen, key, &seen);
    }
    return OK;
}

Status svc_table_commit_all(const SvcCall *c, const SvcCommit *commits, size_t n, Error *err)
{
    if (n > COMMIT_TABLES_MAX)
        return FAIL(err, E_LIMIT, "a transaction of %zu tables, limit is %d", n, COMMIT_TABLES_MAX);
    TRY(named_once(c, commits, n, err));
    Pending *ps = arena_array(c->a, Pending, n);
    TRY(commit_all(c, commits, n, ps, err));
    for (size_t i = 0; i < n; i++)
        delete_old_metadata(c, &ps[i]);
    return OK;
}
