/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the catalog's life: open, close, reset, backup, probe; its keys.
 *
 * Two key files live beside catalog.db: catalog.key seals secrets at rest, evidence.key signs evidence.  The catalog remembers
 * a mark of each, so that a lost or foreign key file is an error at start and not a surprise later. */
#include "catalog/catalog_int.h"

#include <stdlib.h>
#include <unistd.h>

static Status check_seal_key(Db *db, Catalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str mark = {0}, plain = {0};

    TRY(cat_setting_get(db, a, "seal.mark", &mark, err));
    if (mark.n > 0) {
        if (aes_open(a, c->seal_key, mark, &plain, err) != OK)
            return FAIL(err, E_CORRUPT, "catalog.key is not the key of this catalog; restore it from the backup");
        return OK;
    }
    TRY(aes_seal(a, c->seal_key, S("firn"), &mark, err));
    return cat_setting_put(db, "seal.mark", mark, err);
}

static Status check_sign_key(Db *db, Catalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str known = {0};

    TRY(ed25519_public(c->a, c->sign_seed, &c->sign_pub, err));
    TRY(cat_setting_get(db, a, "sign.public", &known, err));
    if (known.n == 0)
        return cat_setting_put(db, "sign.public", c->sign_pub, err);
    if (!str_eq(known, c->sign_pub))
        return FAIL(err, E_CORRUPT, "evidence.key is not the key of this catalog; restore it from the backup");
    return OK;
}

static Status check_account(Db *db, Catalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str known = {0};

    TRY(cat_setting_get(db, a, "account", &known, err));
    if (known.n == 0)
        return cat_setting_put(db, "account", c->account, err);
    if (!str_eq(known, c->account))
        return FAIL(err, E_INVALID, "this data folder belongs to account " STR_FMT ", not " STR_FMT, STR_ARG(known), STR_ARG(c->account));
    return OK;
}

/* The ARN follows the configured region. */
static Status ensure_account_warehouse(Db *db, Catalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    QUERY(q, db, "INSERT INTO warehouse(id, sql_name, kind, arn, bucket, created_ms, props)"
                 " VALUES(?, 'glue_catalog', 'account', ?, 'firn-warehouse', ?, '{}')"
                 " ON CONFLICT(id) DO UPDATE SET arn = excluded.arn", err);
    cq_text(&q, c->account);
    cq_text(&q, str_fmt(a, "arn:aws:glue:" STR_FMT ":" STR_FMT ":catalog", STR_ARG(c->region), STR_ARG(c->account)));
    cq_int(&q, clock_ms());
    return cq_run(&q);
}

static Status prepare_file(Catalog *c, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_schema_migrate(db, err));
    TRY(check_account(db, c, err));
    TRY(check_seal_key(db, c, err));
    TRY(check_sign_key(db, c, err));
    TRY(ensure_account_warehouse(db, c, err));
    return cat_writer_commit(&db, err);
}

static Status open_all(Catalog *c, Error *err)
{
    int fresh = 0;

    TRY(cat_key_file(c->a, str_cat(c->a, c->dir, S("catalog.key")), &c->seal_key, &fresh, err));
    TRY(cat_key_file(c->a, str_cat(c->a, c->dir, S("evidence.key")), &c->sign_seed, &fresh, err));
    TRY(cat_db_open(c, &c->writer, err));
    return prepare_file(c, err);
}

Status cat_open(Str path, Str account, Str region, Catalog **ret, Error *err)
{
    Catalog *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->a = arena_create();
    c->path = str_dup(c->a, path);
    c->dir = str_dup(c->a, str_sub(path, 0, (size_t)(str_rchr(path, '/') + 1)));
    c->account = str_dup(c->a, account);
    c->region = str_dup(c->a, region);
    c->writer.catalog = c;
    pthread_mutex_init(&c->write_lock, NULL);
    pthread_mutex_init(&c->pool_lock, NULL);
    pthread_cond_init(&c->pool_free, NULL);
    Status s = open_all(c, err);
    if (s != OK) {
        cat_close(c);
        return error_context(err, "opening catalog '" STR_FMT "'", STR_ARG(path));
    }
    *ret = c;
    return OK;
}

void cat_close(Catalog *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->nidle; i++) {
        cat_db_close(c->idle[i]);
        free(c->idle[i]);
    }
    cat_db_close(&c->writer);
    pthread_cond_destroy(&c->pool_free);
    pthread_mutex_destroy(&c->pool_lock);
    pthread_mutex_destroy(&c->write_lock);
    arena_destroy(c->a);
    free(c);
}

Str cat_account(const Catalog *c) { return c->account; }
Str cat_region(const Catalog *c) { return c->region; }

/* Root keys are the account root's own: no session of it survives. */
Status cat_reset(Catalog *c, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_db_exec(db, "DELETE FROM evidence; DELETE FROM run; DELETE FROM mview_source; DELETE FROM mview; DELETE FROM relation;"
                    "DELETE FROM namespace; DELETE FROM warehouse WHERE kind <> 'account'; DELETE FROM doc;"
                    "DELETE FROM access_key WHERE expires_ms > 0 OR principal NOT LIKE '%:root' OR scope IS NOT NULL", err));
    return cat_writer_commit(&db, err);
}

Status cat_probe(Catalog *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    TRY(cat_setting_put(db, "probe", str_fmt(a, "%lld", (long long)clock_ms()), err));
    return cat_writer_commit(&db, err);
}

Status cat_signing_key(Catalog *c, Arena *a, Str *seed, Str *pub, Error *err)
{
    if (c->sign_seed.n != KEY_FILE_BYTES)
        return FAIL(err, E_INTERNAL, "no signing key");
    *seed = str_dup(a, c->sign_seed);
    *pub = str_dup(a, c->sign_pub);
    return OK;
}

static Status copy_pages(Db *from, const char *to_path, Error *err)
{
    sqlite3 *to = NULL;
    int rc = sqlite3_open(to_path, &to);
    sqlite3_backup *b = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from->h, "main") : NULL;
    Status s = OK;

    if (!b || sqlite3_backup_step(b, -1) != SQLITE_DONE)
        s = FAIL(err, E_IO, "writing the backup '%s': %s", to_path, sqlite3_errmsg(to));
    sqlite3_backup_finish(b);
    sqlite3_close(to);
    return s;
}

Status cat_backup(Catalog *c, Str to_path, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_reader_backp) Db *db = NULL;
    char *z = str_z(a, to_path);

    if (access(z, F_OK) == 0)
        return FAIL(err, E_EXISTS, "'%s' exists already", z);
    TRY(cat_reader_take(c, &db, err));
    return copy_pages(db, z, err);
}
