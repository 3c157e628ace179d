/* SPDX-License-Identifier: Apache-2.0 */
/* blob.c - immutable files of opaque names, objects/<first two hex digits>/<32 hex digits>.
 *
 * A blob is written once, sealed (file and folder synced), then named by an index row; only then it counts.  A blob that
 * no row names is garbage from a crash and goes away at the next start.
 * Invariants: (1) a sealed blob is never written again; (2) a blob is removed only after the commit that dropped its row. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_int.h"

static void path_of(const Store *s, BlobId id, char *buf, size_t cap);
static Status sync_folder_of(Store *s, BlobId id, Error *err);
static void sweep_dir(const char *dir, const Map *named);
static Status copy_slow(int to, int from, Error *err);
static Status make_dir(const char *path, int *made, Error *err);

BlobId blob_new_id(void)
{
    BlobId id;
    unsigned char raw[BLOB_ID_LEN / 2];
    rand_bytes(raw, sizeof raw);
    for (size_t i = 0; i < sizeof raw; i++)
        snprintf(id.z + 2 * i, 3, "%02x", raw[i]);
    return id;
}

BlobId blob_from(Str s)
{
    BlobId id = {{0}};
    if (s.n)
        memcpy(id.z, s.p, min_size(s.n, BLOB_ID_LEN));
    return id;
}

Status blob_create(Store *s, BlobId id, int *fd, Error *err)
{
    char path[PATH_MAX];
    path_of(s, id, path, sizeof path);
    int f = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f < 0)
        return FAIL_ERRNO(err, "creating '%s'", path);
    *fd = f;
    return OK;
}

Status blob_open(Store *s, BlobId id, int *fd, Error *err)
{
    char path[PATH_MAX];
    path_of(s, id, path, sizeof path);
    int f = open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0)
        return FAIL_ERRNO(err, "opening '%s'", path);
    *fd = f;
    return OK;
}

Status blob_seal(Store *s, BlobId id, int fd, Error *err)
{
    if (!s->sync)
        return OK;
    if (fsync(fd) < 0)
        return FAIL_ERRNO(err, "syncing object file %s", id.z);
    return sync_folder_of(s, id, err);
}

Status blob_link(Store *s, BlobId from, BlobId to, Error *err)
{
    char old[PATH_MAX], new[PATH_MAX];
    path_of(s, from, old, sizeof old);
    path_of(s, to, new, sizeof new);
    if (link(old, new) < 0)
        return FAIL_ERRNO(err, "linking '%s'", old);
    return s->sync ? sync_folder_of(s, to, err) : OK;
}

Status blob_take(Store *s, const char *path, BlobId id, Error *err)
{
    char to[PATH_MAX];
    path_of(s, id, to, sizeof to);
    return rename(path, to) < 0 ? FAIL_ERRNO(err, "moving '%s' into the store", path) : OK;
}

void blob_remove(Store *s, BlobId id)
{
    char path[PATH_MAX];
    if (!id.z[0])
        return;
    path_of(s, id, path, sizeof path);
    unlink(path);                                            /* what stays is swept at the next start */
}

Str blob_path(Store *s, Arena *a, BlobId id)
{
    char path[PATH_MAX];
    path_of(s, id, path, sizeof path);
    return str_dup(a, str_c(path));
}

Status blob_dirs(Store *s, Error *err)
{
    char path[PATH_MAX];
    const char *dirs[] = { s->dir.p, s->objects.p, s->scratch.p };
    int made = 0;
    for (size_t i = 0; i < COUNT_OF(dirs); i++)
        TRY(make_dir(dirs[i], &made, err));
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "%s/%02x", s->objects.p, (unsigned)i);
        TRY(make_dir(path, &made, err));
    }
    if (!s->sync || !made)
        return OK;
    TRY(dir_sync(s->objects.p, err));
    return dir_sync(s->dir.p, err);
}

Status blob_sweep(Store *s, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(reader_give) Reader r = {0};
    Map named = map_new(a);
    char path[PATH_MAX];

    TRY(reader_take(s->index, &r, err));
    Q q = q_open(r.db, Q_BLOBS);
    while (q_row(&q))
        map_put(&named, q_str(&q, 0, a), a);
    TRY(q_done(&q, err));
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "%s/%02x", s->objects.p, (unsigned)i);
        sweep_dir(path, &named);
    }
    return OK;
}

void blob_empty(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (str_eq(str_c(e->d_name), S(".")) || str_eq(str_c(e->d_name), S("..")))
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM)) {
            char path[PATH_MAX];
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
            blob_empty(path);
            rmdir(path);
        }
    }
    closedir(d);
}

Status fd_write_all(int fd, Str bytes, Error *err)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FAIL_ERRNO(err, "writing an object file");
        bytes = str_from(bytes, (size_t)n);
    }
    return OK;
}

Status fd_read_at(Arena *a, int fd, int64_t offset, int64_t length, Str *ret, Error *err)
{
    char *buf = arena_alloc(a, (size_t)length + 1);
    int64_t got = 0;
    while (got < length) {
        ssize_t n = pread(fd, buf + got, (size_t)(length - got), offset + got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FAIL_ERRNO(err, "reading an object file");
        if (n == 0)
            return FAIL(err, E_CORRUPT, "object file ends at byte %lld, %lld expected", (long long)(offset + got), (long long)(offset + length));
        got += n;
    }
    *ret = str_n(buf, (size_t)length);
    return OK;
}

Status fd_append(int to, int from, Error *err)
{
    for (;;) {
        ssize_t n = copy_file_range(from, NULL, to, NULL, 1u << 30, 0);
        if (n == 0)
            return OK;
        if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
            return copy_slow(to, from, err);
        if (n < 0 && errno != EINTR)
            return FAIL_ERRNO(err, "copying an object file");
    }
}

Status dir_sync(const char *dir, Error *err)
{
    CLEANUP(file_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return FAIL_ERRNO(err, "syncing the folder '%s'", dir);
    return OK;
}

static void path_of(const Store *s, BlobId id, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s/%.2s/%s", s->objects.p, id.z, id.z);
}

static Status sync_folder_of(Store *s, BlobId id, Error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%.2s", s->objects.p, id.z);
    return dir_sync(path, err);
}

static void sweep_dir(const char *dir, const Map *named)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && !map_has(named, str_c(e->d_name)))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static Status copy_slow(int to, int from, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    char *buf = arena_alloc(a, COPY_CHUNK);
    for (;;) {
        ssize_t n = read(from, buf, COPY_CHUNK);
        if (n == 0)
            return OK;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FAIL_ERRNO(err, "reading an object file");
        TRY(fd_write_all(to, str_n(buf, (size_t)n), err));
    }
}

static Status make_dir(const char *path, int *made, Error *err)
{
    if (mkdir(path, 0700) == 0)
        *made = 1;
    else if (errno != EEXIST)
        return FAIL_ERRNO(err, "making the folder '%s'", path);
    return OK;
}
