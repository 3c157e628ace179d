/* SPDX-License-Identifier: Apache-2.0 */
/* fake_remote_test.h - a catalog of one table in memory that answers remote.h, and lies on request: answers that are lost, requests that are, that come later or twice,
 * conflicts, refusals.  Files lie in a real store. */
#ifndef FIRN_FAKE_REMOTE_TEST_H
#define FIRN_FAKE_REMOTE_TEST_H

#include "remote/remote.h"
#include "test.h"

#include <unistd.h>

typedef enum { FAULT_NONE, FAULT_ANSWER_LOST, FAULT_REQUEST_LOST, FAULT_LATE, FAULT_TWICE, FAULT_CONFLICT, FAULT_DENIED, FAULT_LOAD, FAULT_KINDS } Fault;

struct RemoteCatalog { int unused; };

typedef struct Late { Str updates, requirements; } Late;          /* JSON */
typedef struct Fake {
    pthread_mutex_t lock;
    Arena *a;
    Store *store;
    Str metadata;                     /* JSON of the table; empty: there is none */
    int has_namespace, version;
    int share;                        /* of calls that go wrong, in percent */
    Fault only;                       /* NONE: any */
    int once;                         /* the next commit, then no more */
    int hang_ms, hanging;             /* the next commit is made, and its answer takes so long */
    uint64_t seed;
    VEC(Late) late;
    int64_t commits, faults;
    struct RemoteCatalog catalog;
} Fake;

static Fake fake;                     /* of the test program */

static uint64_t fake_random(void)
{
    fake.seed = fake.seed * 6364136223846793005ull + 1442695040888963407ull;
    return fake.seed >> 33;
}

static Fault fake_fault(void)
{
    if (fake.once) {
        fake.once = 0;
        fake.faults++;
        return fake.only;
    }
    if ((int)(fake_random() % 100) >= fake.share)
        return FAULT_NONE;
    fake.faults++;
    return fake.only ? fake.only : (Fault)(1 + fake_random() % (FAULT_KINDS - 1));
}

static IceMetadata *fake_meta(Arena *a)
{
    IceMetadata *m = NULL;
    Error err;
    if (fake.metadata.n)
        assert_ok(ice_metadata_parse(a, fake.metadata, &m, &err), &err);
    return m;
}

static void fake_publish(Arena *a, const IceMetadata *m)
{
    fake.metadata = str_dup(fake.a, json_text(a, ice_metadata_json(a, m)));
    fake.version++;
}

static Status fake_apply(Arena *a, const IceUpdates *ups, const IceRequirements *rqs, Error *err)
{
    IceMetadata *m = fake_meta(a), *next = NULL;
    int changed = 0;

    if (!m)
        return FAIL(err, E_NOT_FOUND, "Table does not exist");
    TRY(ice_requirements_check(m, rqs, err));
    TRY(ice_metadata_apply(a, m, str_fmt(a, "s3://w/t/metadata/%05d.metadata.json", fake.version), ups, clock_ms(), &next, &changed, err));
    fake_publish(a, next);
    fake.commits++;
    return OK;
}

static Str fake_json(Arena *a, const IceMetadata *m, const IceUpdates *ups)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < ups->n; i++)
        json_push(a, list, ice_update_json(a, m, &ups->p[i]));
    return str_dup(fake.a, json_text(a, list));
}

static Str fake_requirements(Arena *a, const IceMetadata *m, const IceRequirements *rqs)
{
    Json *list = json_array(a);
    for (size_t i = 0; i < rqs->n; i++)
        json_push(a, list, ice_requirement_json(a, m, &rqs->p[i]));
    return str_dup(fake.a, json_text(a, list));
}

static void fake_arrive(Arena *a, const Late *l)
{
    IceRequirements rqs = {0};
    IceUpdates ups = {0};
    Json *j = NULL;
    Error err;

    assert_ok(json_parse(a, l->updates, &j, &err), &err);
    for (size_t i = 0; i < json_len(j); i++) {
        IceUpdate u = {0};
        assert_ok(ice_update_parse(a, json_at(j, i), &u, &err), &err);
        vec_push(a, &ups, u);
    }
    assert_ok(json_parse(a, l->requirements, &j, &err), &err);
    for (size_t i = 0; i < json_len(j); i++) {
        IceRequirement r = {0};
        assert_ok(ice_requirement_parse(a, json_at(j, i), &r, &err), &err);
        vec_push(a, &rqs, r);
    }
    (void)!fake_apply(a, &ups, &rqs, &err);
}

/* What was held back comes now, or still later. */
static void fake_late_ones(Arena *a, int share)
{
    size_t k = 0;
    for (size_t i = 0; i < fake.late.n; i++)
        if ((int)(fake_random() % 100) < share)
            fake_arrive(a, &fake.late.p[i]);
        else
            fake.late.p[k++] = fake.late.p[i];
    fake.late.n = k;
}

/* Somebody else's snapshot that copies the newest summary, as a compaction tool may. */
static void fake_dummy(Arena *a, const char *frontier, const char *version, const char *sink)
{
    IceMetadata *m = fake_meta(a);
    const IceSnapshot *now = ice_current_snapshot(m);
    IceChange ch = { .operation = S("append") };
    IceRequirements rqs = {0};
    IceUpdates ups = {0};
    StrVec written = {0};
    Error err;

    for (size_t i = 0; now && i < now->summary.n; i++)
        if (str_starts(now->summary.p[i].key, S("mz-")))
            props_set(a, &ch.summary, now->summary.p[i].key, now->summary.p[i].value);
    if (frontier)
        props_set(a, &ch.summary, S("mz-frontier"), str_c(frontier));
    if (version)
        props_set(a, &ch.summary, S("mz-sink-version"), str_c(version));
    if (sink)
        props_set(a, &ch.summary, S("mz-sink-id"), str_c(sink));
    assert_ok(ice_change_prepare(a, fake.store, m, &ch, clock_ms(), &ups, &rqs, &written, &err), &err);
    assert_ok(fake_apply(a, &ups, &rqs, &err), &err);
}

/* ---- remote.h ---------------------------------------------------------------------------------------------------------------- */

void remote_close(RemoteCatalog *c UNUSED) { }
void remote_closep(RemoteCatalog **c) { *c = NULL; }
void remote_table_end(RemoteTable *t UNUSED) { }

Status remote_namespace_find(RemoteCatalog *c UNUSED, Str ns UNUSED, Error *err)
{
    return fake.has_namespace ? OK : FAIL(err, E_NOT_FOUND, "no namespace");
}

Status remote_namespace_create(RemoteCatalog *c UNUSED, Str ns UNUSED, Error *err UNUSED)
{
    fake.has_namespace = 1;
    return OK;
}

static void fake_table(Arena *a, Str ns, Str name, RemoteTable *ret)
{
    *ret = (RemoteTable){ .catalog = &fake.catalog, .ns = ns, .name = name, .meta = fake_meta(a), .store = fake.store, .metadata_location = S("s3://w/t/metadata/x.metadata.json") };
}

Status remote_table_load(RemoteCatalog *c UNUSED, Arena *a, Str ns, Str name, RemoteTable *ret, Error *err)
{
    Status s = OK;

    pthread_mutex_lock(&fake.lock);
    fake_late_ones(a, 30);
    if (fake.only == FAULT_LOAD && fake.share && (int)(fake_random() % 100) < fake.share)
        s = FAIL(err, E_UNAVAILABLE, "503 Slow Down");
    else if (!fake.metadata.n)
        s = FAIL(err, E_NOT_FOUND, "Table does not exist: ns.t");
    else
        fake_table(a, ns, name, ret);
    pthread_mutex_unlock(&fake.lock);
    return s;
}

Status remote_table_create(RemoteCatalog *c UNUSED, Arena *a, Str ns, Str name, const RemoteNew *n, RemoteTable *ret, Error *err)
{
    IceNewTable nt = { .location = S("s3://w/t"), .format_version = 2 };
    IceMetadata *m;
    Status s;

    pthread_mutex_lock(&fake.lock);
    if (!fake.has_namespace)
        s = FAIL(err, E_NOT_FOUND, "Namespace does not exist: ns");
    else if (fake.metadata.n)
        s = FAIL(err, E_EXISTS, "Table already exists");
    else {
        nt.schema = arena_new(a, IceSchema);
        *nt.schema = *n->schema;
        nt.spec = arena_new(a, IceSpec);
        nt.order = arena_new(a, IceSortOrder);
        if (n->spec)
            *nt.spec = *n->spec;
        if (n->order)
            *nt.order = *n->order;
        nt.properties = n->props;
        if (str_eq(props_get(&n->props, S("format-version"), S("2")), S("3")))
            nt.format_version = 3;
        s = ice_metadata_new(a, &nt, &m, err);
        if (s == OK) {
            fake_publish(a, m);
            fake_table(a, ns, name, ret);
        }
    }
    pthread_mutex_unlock(&fake.lock);
    return s;
}

static Status fake_commit(Arena *a, const IceMetadata *m, const IceUpdates *ups, const IceRequirements *rqs, Error *err)
{
    Error ignored;
    Late late;

    switch (fake_fault()) {
    case FAULT_ANSWER_LOST:
        (void)!fake_apply(a, ups, rqs, &ignored);
        return FAIL(err, E_UNKNOWN, "502 invalid response from upstream, commit state unknown");
    case FAULT_REQUEST_LOST:
        return FAIL(err, E_UNKNOWN, "500 commit state unknown");
    case FAULT_LATE:
        late = (Late){ fake_json(a, m, ups), fake_requirements(a, m, rqs) };
        vec_push(fake.a, &fake.late, late);
        return FAIL(err, E_UNKNOWN, "504 gateway timeout, commit state unknown");
    case FAULT_TWICE:
        (void)!fake_apply(a, ups, rqs, &ignored);
        return fake_apply(a, ups, rqs, err);
    case FAULT_CONFLICT:
        if (ice_current_snapshot(m))
            fake_dummy(a, NULL, NULL, NULL);
        return fake_apply(a, ups, rqs, err);
    case FAULT_DENIED:
        return FAIL(err, E_DENIED, "403 Forbidden");
    default:
        return fake_apply(a, ups, rqs, err);
    }
}

Status remote_table_commit(RemoteTable *t, Arena *a, const IceUpdates *ups, const IceRequirements *rqs, Error *err)
{
    pthread_mutex_lock(&fake.lock);
    fake_late_ones(a, 30);
    Status s = fake_commit(a, t->meta, ups, rqs, err);
    if (s == OK)
        t->meta = fake_meta(a);
    int ms = fake.hang_ms;
    fake.hanging += ms > 0;
    fake.hang_ms = 0;
    pthread_mutex_unlock(&fake.lock);
    if (ms)
        usleep((useconds_t)ms * 1000);
    return s;
}

#endif
