/* SPDX-License-Identifier: Apache-2.0 */
/* store_s3_folder.c - the folder of a cache: made for one cache, gone with it, also when its process was killed.
 *
 * Invariant: a lock says that the owner lives; a folder that has none is swept by whoever makes another one beside it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_s3_int.h"

#define FOLDER_PREFIX "firn-objects-"
enum { FOLDER_DEPTH = 4, UNLOCKED_S = 60 };

struct CacheFolder { int lock; char dir[PATH_MAX]; };

static Status lock_folder(CacheFolder *f, Error *err);
static void sweep(const char *dir);
static void remove_folder(const char *dir, int depth);

Status cache_folder_make(Str dir, CacheFolder **ret, Error *err)
{
    const char *tmp = getenv("TMPDIR");
    Str parent = dir.n ? dir : tmp && *tmp ? str_c(tmp) : S("/tmp");
    CacheFolder *f = calloc(1, sizeof *f);

    if (!f)
        abort();
    *ret = f;
    f->lock = -1;
    if (parent.n + 64 > sizeof f->dir)
        return FAIL(err, E_INVALID, "the folder's name for copies of objects is too long");
    memcpy(f->dir, parent.p, parent.n);
    if (dir.n && mkdir(f->dir, 0700) < 0 && errno != EEXIST)
        return FAIL_ERRNO(err, "making the folder '" STR_FMT "'", STR_ARG(parent));
    sweep(f->dir);
    strcpy(f->dir + parent.n, "/" FOLDER_PREFIX "XXXXXX");
    return lock_folder(f, err);
}

static Status lock_folder(CacheFolder *f, Error *err)
{
    char scratch[PATH_MAX];

    if (!mkdtemp(f->dir))
        return FAIL_ERRNO(err, "making a folder for copies of objects");
    f->lock = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock < 0 || flock(f->lock, LOCK_SH | LOCK_NB) < 0)
        return FAIL_ERRNO(err, "locking the folder '%s'", f->dir);
    if (snprintf(scratch, sizeof scratch, "%s%s", f->dir, CACHE_SCRATCH) >= (int)sizeof scratch || mkdir(scratch, 0700) < 0)
        return FAIL_ERRNO(err, "making the folder '%s'", scratch);
    return OK;
}

const char *cache_folder_dir(const CacheFolder *f)
{
    return f->dir;
}

void cache_folder_remove(CacheFolder *f)
{
    if (!f)
        return;
    if (f->lock >= 0)
        remove_folder(f->dir, 0);
    file_closep(&f->lock);
    free(f);
}

/* A folder that can be locked whole belongs to nobody any more. One that was just made is not locked yet. */
static void sweep(const char *dir)
{
    DIR *d = opendir(dir);
    struct stat st;

    for (struct dirent *e; d && (e = readdir(d)); ) {
        char path[PATH_MAX];
        if (strncmp(e->d_name, FOLDER_PREFIX, sizeof FOLDER_PREFIX - 1) != 0 || snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path)
            continue;
        CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        bool ours = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid();
        if (ours && st.st_mtim.tv_sec + UNLOCKED_S < clock_ms() / 1000 && flock(fd, LOCK_EX | LOCK_NB) == 0)
            remove_folder(path, 0);
    }
    if (d)
        closedir(d);
}

/* unlink takes a symbolic link itself: only real folders are entered. */
static void remove_folder(const char *dir, int depth)
{
    DIR *d = depth < FOLDER_DEPTH ? opendir(dir) : NULL;

    for (struct dirent *e; d && (e = readdir(d)); ) {
        char path[PATH_MAX];
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= (int)sizeof path)
            continue;
        if (unlink(path) < 0 && errno != ENOENT)
            remove_folder(path, depth + 1);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}
