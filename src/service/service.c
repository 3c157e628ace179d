/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - the data folder opened and closed.
 *
 * DIR/catalog.db, store/, spill/, credentials (0600), evidence.key, lock.  One process a folder: the lock is an flock on DIR/lock, whose text
 * is the owner's pid.  Half-done work is found by the rooms as they open: temporary files by store/, dead runs by refresh/. */
#include "access/lakeformation.h"
#include "service/service.h"
#include "access/iam.h"
#include "sched/sched.h"
#include "live/live.h"
#include "service/ddl_int.h"
#include "service/live_connection.h"
#include "service/live_sink.h"
#include "service/live_source.h"
#include "service/live_sql.h"
#include "catalog/logs.h"
#include "service/guard.h"
#include "service/notices.h"
#include "service/mzcatalog.h"
#include "service/pgcatalog.h"
#include "service/reset.h"
#include "service/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct ServiceBox { Service s; Arena *arena; int lock; } ServiceBox;      /* Service first: freed by its address */

SvcCtx service_ctx(Service *s)
{
    return (SvcCtx){ .catalog = s->catalog, .access = s->access, .store = s->store, .warehouse_bucket = s->options.warehouse_bucket, .file_root = s->options.file_root };
}

/* ---- the lock ---------------------------------------------------------------------------------------------------------- */

static Status take_lock(Arena *a, Str dir, int *ret, Error *err)
{
    char pid[32] = {0};
    Str path = str_fmt(a, STR_FMT "/lock", STR_ARG(dir));
    CLEANUP(file_closep) int fd = open(path.p, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return FAIL_ERRNO(err, "opening '%s'", path.p);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (read(fd, pid, sizeof pid - 1) < 0)
            pid[0] = 0;
        return FAIL(err, E_CONFLICT, "data folder '" STR_FMT "' is in use by process %d", STR_ARG(dir), atoi(pid));
    }
    int n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n)
        return FAIL_ERRNO(err, "writing '%s'", path.p);
    *ret = fd;
    fd = -1;
    return OK;
}

/* ---- credentials ----------------------------------------------------------------------------------------------------------- */

static Str random_text(Arena *a, const char *alphabet, size_t n)
{
    size_t size = strlen(alphabet);
    char *p = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        p[i] = alphabet[rand_u64() % size];
    return str_n(p, n);
}

static Status write_credentials(Arena *a, Str dir, const CatKey *k, Error *err)
{
    Str path = str_fmt(a, STR_FMT "/credentials", STR_ARG(dir)), tmp = str_fmt(a, STR_FMT ".tmp", STR_ARG(path));
    Str text = str_fmt(a, "[default]\naws_access_key_id = " STR_FMT "\naws_secret_access_key = " STR_FMT "\n", STR_ARG(k->id), STR_ARG(k->secret));
    CLEANUP(file_closep) int fd = open(tmp.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        return FAIL_ERRNO(err, "opening '%s'", tmp.p);
    if (write(fd, text.p, text.n) != (ssize_t)text.n || fsync(fd) != 0 || rename(tmp.p, path.p) != 0)
        return FAIL_ERRNO(err, "writing '%s'", path.p);
    return OK;
}

static bool file_exists(Arena *a, Str dir, const char *name)
{
    return access(str_fmt(a, STR_FMT "/%s", STR_ARG(dir), name).p, F_OK) == 0;
}

/* The account root's key: fixed by configuration, else made once and written to DIR/credentials. */
static Status root_key(Service *s, Arena *a, Error *err)
{
    const ServiceOptions *o = &s->options;
    CatKey k = { .id = o->root_key_id, .secret = o->root_secret, .active = 1, .created_ms = clock_ms() };

    k.principal = str_fmt(a, "arn:aws:iam::" STR_FMT ":root", STR_ARG(cat_account(s->catalog)));
    if (!k.id.n && file_exists(a, o->dir, "credentials"))
        return OK;
    if (!k.id.n)
        k.id = str_cat(a, S("AKIA"), random_text(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16));
    if (!k.secret.n)
        k.secret = random_text(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 40);
    TRY(cat_key_put(s->catalog, &k, err));
    return write_credentials(a, o->dir, &k, err);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------ */

static Status make_dir(Str path, Error *err)
{
    if (mkdir(path.p, 0700) != 0 && errno != EEXIST)
        return FAIL_ERRNO(err, "making folder '%s'", path.p);
    return OK;
}

static Status ensure_bucket(Service *s, Error *err)
{
    BucketInfo b = { .name = s->options.warehouse_bucket, .owner = cat_account(s->catalog), .region = cat_region(s->catalog), .created_ms = clock_ms() };
    if (str_chr(b.name, ':') >= 0)                    /* the warehouse is a URI: its owner's matter */
        return OK;
    Status st = store_bucket_create(s->store, &b, err);
    return st == E_EXISTS ? OK : st;
}

/* The namespace that sessions start in. */
static Status ensure_default(Service *s, Arena *a, Error *err)
{
    CatNamespace n = { .catalog = cat_account(s->catalog), .name = S("default"), .created_ms = clock_ms(), .owner = str_fmt(a, "arn:aws:iam::" STR_FMT ":root", STR_ARG(cat_account(s->catalog))) };
    Principal root = access_root(a, s->access);
    props_set(a, &n.props, S("comment"), S("Default Hive database"));
    Status st = lf_namespace_create(s->access, a, &root, &n, err);
    return st == E_EXISTS ? OK : st;
}

/* The emulated pg_catalog is made once for all connections. */
static Status install_pg_catalog(Service *s, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    TRY(duck_connect(s->engine, &c, err));
    return pgcat_install(c, err);
}

static int keep_live(void *ctx, int64_t id) { return id == MZ_AUDIT_RELATION || objects_known(ctx, id); }

/* Names first: rows without one are what a creation left that did not end. */
static Status open_live(Service *s, Arena *a, Error *err)
{
    TRY(realm_open(s->catalog, &s->realm, err));
    TRY(objects_open(s->catalog, &s->objects, err));
    TRY(live_forget_temporary(s, a, err));
    LiveSetup o = { .engine = s->engine, .path = str_fmt(a, STR_FMT "/live.db", STR_ARG(s->options.dir)), .keep = keep_live, .ctx = s->objects };
    TRY(live_open(&o, &s->live, err));
    TRY(mz_audit_open(s, err));
    s->live_clock = live_clock_new(s);
    s->sources = live_sources_new(s);
    s->sinks = live_sinks_new(s);
    return live_start_views(s, err);
}

static Status keep_hot(Service *s, Error *err)
{
    CLEANUP(duck_disconnectp) DuckConn *c = NULL;
    int64_t memory = 0;
    bool has;

    TRY(duck_connect(s->engine, &c, err));
    TRY(duck_scalar_i64(c, S("SELECT CAST(parse_formatted_bytes(current_setting('memory_limit')) AS BIGINT)"), &memory, &has, err));
    lake_keep_hot(s->lake, s->engine, min_i64(s->options.hot_bytes, memory / 4));
    return OK;
}

static Status open_rooms(Service *s, Arena *a, Error *err)
{
    ServiceOptions *o = &s->options;
    StoreOptions so = { .dir = str_fmt(a, STR_FMT "/store", STR_ARG(o->dir)), .file_root = o->file_root, .sync = 1 };
    DuckOptions dopt = { .memory_limit = o->memory_limit, .temp_dir = str_fmt(a, STR_FMT "/spill", STR_ARG(o->dir)), .threads = o->threads };

    TRY_CTX(cat_open(str_fmt(a, STR_FMT "/catalog.db", STR_ARG(o->dir)), o->account, o->region, &s->catalog, err), err, "catalog");
    TRY(logs_open(str_fmt(a, STR_FMT "/logs.db", STR_ARG(o->dir)), &s->logs, err));
    TRY_CTX(store_open_local(&so, &s->store, err), err, "object store");
    TRY_CTX(duck_open(&dopt, &s->engine, err), err, "engine");
    s->access = access_new(s->catalog);
    s->connections = connections_new();
    if (o->aws_role.n)
        TRY_CTX(iam_set_connection_role(s->access, o->aws_role, err), err, "aws.connection_role_arn");
    s->guard = guard_new(s);
    LakeHooks hooks = guard_hooks(s->guard);
    s->lake = lake_new(s->catalog, s->store, &hooks);
    TRY_CTX(keep_hot(s, err), err, "memory of hot files");
    o->refresher.full_keeps_broken = o->aws_compat;
    s->refresher = refresher_new(s->lake, s->engine, &o->refresher);
    s->notices = notices_new(s, o->webhook);
    RefreshHooks told = notices_hooks(s->notices);
    refresher_hooks(s->refresher, &told);
    s->watch = watch_new();
    s->mz_sessions = mz_sessions_new();
    s->started_ms = clock_ms();
    TRY_CTX(install_pg_catalog(s, err), err, "pg_catalog");
    TRY(open_live(s, a, err));
    TRY(root_key(s, a, err));
    TRY(ensure_bucket(s, err));
    TRY(lf_first_start(s->access, o->lf_defaults, err));
    return ensure_default(s, a, err);
}

Status service_open(const ServiceOptions *o, Service **ret, Error *err)
{
    Arena *a = arena_create();
    ServiceBox *box = arena_new(a, ServiceBox);

    *box = (ServiceBox){ .s = { .options = *o }, .arena = a, .lock = -1 };
    box->s.options.dir = str_dup(a, o->dir);
    if (!o->warehouse_bucket.n)
        box->s.options.warehouse_bucket = S("warehouse");
    if (!o->schedule_minimum_s)
        box->s.options.schedule_minimum_s = 600;
    Status s = make_dir(box->s.options.dir, err);
    if (s == OK)
        s = take_lock(a, box->s.options.dir, &box->lock, err);
    if (s == OK)
        s = open_rooms(&box->s, a, err);
    if (s != OK) {
        service_close(&box->s);
        return s;
    }
    *ret = &box->s;
    return OK;
}

Status service_start(Service *s, Error *err)
{
    TRY(refresh_recover(s->refresher, err));
    TRY(live_clock_start(s->live_clock, err));
    TRY(sched_start(s->refresher, s->catalog, NULL, &s->scheduler, err));
    TRY(notices_start(s->notices, err));
    sources_wake(s->sources);
    s->mz_lag = mz_lag_start(s);
    s->mz_audit = mz_audit_start(s);
    return guard_start(s->guard, err);
}

void service_close(Service *s)
{
    ServiceBox *box = (ServiceBox *)s;

    if (!s)
        return;
    connections_stop(s->connections);
    mz_audit_stop(s->mz_audit);
    mz_lag_stop(s->mz_lag);
    sinks_free(s->sinks);                             /* their threads use all below: first of all */
    sources_free(s->sources);
    sched_stop(s->scheduler);
    live_clock_free(s->live_clock);
    guard_free(s->guard);
    notices_free(s->notices);
    watch_free(s->watch);
    mz_sessions_free(s->mz_sessions);
    refresher_free(s->refresher);
    lake_free(s->lake);
    access_free(s->access);
    live_close(s->live);
    objects_close(s->objects);
    realm_close(s->realm);
    connections_free(s->connections);
    duck_close(s->engine);
    store_close(s->store);
    logs_close(s->logs);
    cat_close(s->catalog);
    file_closep(&box->lock);
    arena_destroy(box->arena);
}

Status service_reset(Service *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    sinks_free(s->sinks);
    s->sinks = NULL;
    sources_stop_all(s->sources);
    TRY(cat_reset(s->catalog, err));
    iam_forget(s->access);
    TRY(live_reset(s->live, err));
    TRY(realm_reset(s->realm, err));
    TRY(objects_reset(s->objects, err));
    mz_lag_forget(s->mz_lag);
    TRY(mz_audit_open(s, err));
    connections_forget(s->connections);
    TRY(store_reset(s->store, err));
    TRY(logs_reset(s->logs, err));
    TRY(ensure_bucket(s, err));
    TRY(lf_first_start(s->access, s->options.lf_defaults, err));
    s->sinks = live_sinks_new(s);
    return ensure_default(s, a, err);
}
