/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - rows of a query into new data files of a table.
 *
 * The engine writes Parquet below the store's scratch folder, split by partition; each file is then measured, adopted by
 * the store (synced and renamed, not copied) and described as an Iceberg data file.
 *
 * Invariants: (1) nothing refers to a file before it is durable; (2) on any error the files written are removed;
 * (3) partition values travel as typed text in the partition key, never through a path of the final location. */
#include "lake/write_int.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- adopting ------------------------------------------------------------------------------------------------------------------------ */

/* What a file will be called and hold; its bytes are adopted afterwards. */
static Status describe(WriteJob *j, const Value *row, Error *err)
{
    LakeFile lf = { .file = { .content = CONTENT_DATA, .format = S("PARQUET"), .spec_id = j->spec->id } };

    lf.file.record_count = row[1].integer;
    if (!lf.file.record_count)
        return OK;                                   /* an empty file stays in the scratch folder, which is removed */
    write_column_stats(j, &lf.file, &row[4]);
    TRY(write_partition_tuple(j, &lf.file, row[0].string, &row[5], err));
    TRY(write_check_required(j, &lf.file, err));
    Str path = ice_partition_path(j->a, j->spec, j->w->schema, lf.file.partition);
    Str name = str_fmt(j->a, STR_FMT "%05zu-0-" STR_FMT ".parquet", STR_ARG(j->w->prefix), j->fresh.n, STR_ARG(uuid_v4(j->a)));
    lf.file.path = ice_data_location(j->a, j->w->table->meta, path, name);
    if (j->w->table->meta->default_order_id == 0)
        lf.file.sort_order_id = SOME_I32(0);
    if (j->w->equality.n)
        write_equality_file(j, &lf.file);
    vec_push(j->a, &j->fresh, ((FreshFile){ .lf = lf, .local = str_dup(j->a, row[0].string) }));
    return OK;
}

/* Threads that take the next file each: the store commits what arrives together in one transaction. */
enum { ADOPTERS = 8 };

typedef struct Adopters { WriteJob *j; pthread_mutex_t lock; size_t next, done; Status status; Error err; } Adopters;

static FreshFile *take_fresh(Adopters *ad)
{
    pthread_mutex_lock(&ad->lock);
    FreshFile *f = ad->status == OK && ad->next < ad->j->fresh.n ? &ad->j->fresh.p[ad->next++] : NULL;
    pthread_mutex_unlock(&ad->lock);
    return f;
}

static void adopted(Adopters *ad, FreshFile *f, Status s, const ObjectInfo *info, const Error *err)
{
    pthread_mutex_lock(&ad->lock);
    if (s == OK) {
        f->lf.file.size = info->size;
        f->lf.sha256 = str_dup(ad->j->a, info->sha256);
        f->stored = 1;
    } else if (ad->status == OK) {
        ad->status = s;
        ad->err = *err;
    }
    pthread_mutex_unlock(&ad->lock);
}

static void *adopt_some(void *arg)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Adopters *ad = arg;

    for (FreshFile *f; (f = take_fresh(ad)); ) {
        ObjectInfo info = {0};
        Error err;
        Status s = store_adopt(ad->j->lake->store, f->lf.file.path, f->local, a, &info, &err);
        adopted(ad, f, s, &info, &err);
    }
    return NULL;
}

static Status adopt_fresh(WriteJob *j, Error *err)
{
    Adopters ad = { .j = j };
    pthread_t threads[ADOPTERS];
    size_t n = 0, want = min_size(j->fresh.n, ADOPTERS);

    pthread_mutex_init(&ad.lock, NULL);
    while (want > 1 && n < want - 1 && pthread_create(&threads[n], NULL, adopt_some, &ad) == 0)
        n++;
    adopt_some(&ad);
    while (n)
        pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&ad.lock);
    for (size_t i = 0; i < j->fresh.n; i++) {
        if (!j->fresh.p[i].stored)
            continue;
        vec_push(j->a, j->files, j->fresh.p[i].lf);   /* also after an error: the caller discards them */
        j->rows += j->fresh.p[i].lf.file.record_count;
    }
    if (ad.status != OK)
        *err = ad.err;
    return ad.status;
}

static Status describe_all(WriteJob *j, DuckResult *r, Error *err)
{
    size_t n;
    for (;;) {
        TRY(duck_next(r, &n, err));
        if (!n)
            return OK;
        for (size_t i = 0; i < n; i++) {
            Value row[6];
            for (size_t k = 0; k < COUNT_OF(row) && k < duck_ncols(r); k++)
                row[k] = duck_value(j->a, r, k, i);
            TRY(describe(j, row, err));
        }
    }
}

static void remove_tree(Arena *a, Str dir);

static Status run(WriteJob *j, Str sql, Error *err)
{
    CLEANUP(duck_result_freep) DuckResult *r = NULL;
    Str copy;

    TRY(lake_columns(j->a, j->w->schema, &j->columns, err));
    TRY(write_copy_sql(j, sql, &copy, err));
    if (mkdir(j->dir.p, 0700) != 0)
        return FAIL_ERRNO(err, "making scratch folder '%s'", j->dir.p);
    TRY(duck_query_held(j->c, copy, &r, err));        /* held: long partition values are asked for on the same connection */
    TRY(describe_all(j, r, err));
    return adopt_fresh(j, err);
}

Status lake_write(Lake *l, Arena *a, DuckConn *c, const LakeWrite *w, Str sql, LakeFiles *files, int64_t *rows, Error *err)
{
    WriteJob j = { .lake = l, .a = a, .c = c, .w = w, .files = files };
    size_t before = files->n;

    j.spec = ice_spec(w->table->meta, w->table->meta->default_spec_id);
    if (!j.spec)
        return FAIL(err, E_CORRUPT, "the default partition spec %d is missing", w->table->meta->default_spec_id);
    j.dir = str_fmt(a, STR_FMT "/write-" STR_FMT, STR_ARG(store_scratch(l->store)), STR_ARG(uuid_v4(a)));
    Status s = run(&j, sql, err);
    remove_tree(a, j.dir);
    if (s != OK) {                                   /* (2) */
        LakeFiles mine = { .p = files->p + before, .n = files->n - before };
        lake_discard(l, &mine);
        files->n = before;
        return s;
    }
    *rows = j.rows;
    return OK;
}

void lake_discard(Lake *l, const LakeFiles *files)
{
    Error ignored;
    for (size_t i = 0; i < files->n; i++)
        if (store_delete(l->store, files->p[i].file.path, &ignored) != OK)
            continue;                                /* an orphan: found by remove_orphan_files */
}

/* ---- scratch folders -------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st UNUSED, int kind UNUSED, struct FTW *ftw UNUSED)
{
    return remove(path);
}

static void remove_tree(Arena *a, Str dir)
{
    nftw(str_z(a, dir), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
