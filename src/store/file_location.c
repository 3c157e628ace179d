/* SPDX-License-Identifier: Apache-2.0 */
/* file_location.c - file: URIs under the folder that the configuration allows.
 *
 * Writing is the same bargain as for objects: a temporary file beside the target, synced, renamed over it (or linked, when
 * it must be new), the folder synced.  Nothing outside file_root is touched: no "..", and no symbolic link on the way. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_int.h"

#define TEMP_PREFIX ".firn-new-"
enum { DEPTH_MAX = 64 };

static Status no_links(const Store *s, Str path, Error *err);
static Status make_parents(const Store *s, Arena *a, Str path, Error *err);
static Str parent(Arena *a, Str path);
static Status publish(StoreWriter *w, const PutCondition *cond, Error *err);
static Status place(StoreWriter *w, const PutCondition *cond, Error *err);
static Status walk(Arena *a, Str dir, Str prefix, int depth, ObjectInfos *ret, Error *err);
static ObjectInfo info_of(Arena *a, Str path, const struct stat *st);

Status file_check(const Store *s, Str path, Error *err)
{
    if (!s->file_root.n)
        return FAIL(err, E_DENIED, "file: locations are not allowed (iceberg.file_root is not set): '" STR_FMT "'", STR_ARG(path));
    bool inside = str_starts(path, s->file_root) && (path.n == s->file_root.n || path.p[s->file_root.n] == '/' || s->file_root.n == 1);
    if (!inside || path.n >= PATH_MAX || str_find(path, S("/../")) >= 0 || str_ends(path, S("/..")))
        return FAIL(err, E_DENIED, "'" STR_FMT "' is not under the allowed folder '" STR_FMT "'", STR_ARG(path), STR_ARG(s->file_root));
    return no_links(s, path, err);
}

Status file_put_open(Store *s, Str path, StoreWriter **ret, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TRY(store_gate(s, err));
    TRY(file_check(s, path, err));
    TRY(make_parents(s, a, path, err));
    Str temp = str_fmt(a, STR_FMT "/" TEMP_PREFIX "%s", STR_ARG(parent(a, path)), blob_new_id().z);
    int fd = open(temp.p, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return FAIL_ERRNO(err, "creating '%s'", temp.p);
    StoreWriter *w = calloc(1, sizeof(*w));
    if (!w)
        abort();
    *w = (StoreWriter){ .s = s, .a = arena_create(), .fd = fd, .large = 1 };
    w->path = str_dup(w->a, path);
    w->temp = str_dup(w->a, temp);
    hashes_start(&w->hashes);
    *ret = w;
    return OK;
}

Status file_put_commit(StoreWriter *w, const PutCondition *cond, Arena *a, ObjectInfo *ret, Error *err)
{
    Status st = store_gate(w->s, err);
    if (st == OK)
        st = publish(w, cond, err);
    if (st == OK) {
        *ret = (ObjectInfo){ .key = str_dup(a, w->path), .size = w->size, .modified_ms = clock_ms() };
        ret->etag = hex_encode(a, hashes_get(&w->hashes, a, HASH_MD5));
        ret->sha256 = hex_encode(a, hashes_get(&w->hashes, a, HASH_SHA256));
    } else {
        unlink(w->temp.p);
    }
    writer_free(w);
    return st;
}

Status file_stat(Store *s, Arena *a, Str path, ObjectInfo *ret, Error *err)
{
    struct stat st;
    const char *z = str_z(a, path);
    TRY(file_check(s, path, err));
    if (stat(z, &st) < 0)
        return FAIL_ERRNO(err, "file '%s'", z);
    if (!S_ISREG(st.st_mode))
        return FAIL(err, E_NOT_FOUND, "'%s' is not a file", z);
    *ret = info_of(a, path, &st);
    return OK;
}

Status file_open(Store *s, Arena *a, Str path, int *fd, ObjectInfo *ret, Error *err)
{
    TRY(file_stat(s, a, path, ret, err));
    int f = open(str_z(a, path), O_RDONLY | O_CLOEXEC);
    if (f < 0)
        return FAIL_ERRNO(err, "opening '" STR_FMT "'", STR_ARG(path));
    *fd = f;
    return OK;
}

Status file_adopt(Store *s, Str path, Str local, Arena *a, ObjectInfo *ret, Error *err)
{
    CLEANUP(file_closep) int from = open(str_z(a, local), O_RDONLY | O_CLOEXEC);
    CLEANUP(store_put_abandonp) StoreWriter *w = NULL;
    char *buf = arena_alloc(a, COPY_CHUNK);
    ssize_t n;
    if (from < 0)
        return FAIL_ERRNO(err, "opening '" STR_FMT "'", STR_ARG(local));
    TRY(file_put_open(s, path, &w, err));
    while ((n = read(from, buf, COPY_CHUNK)) > 0)
        TRY(store_put_add(w, str_n(buf, (size_t)n), err));
    if (n < 0)
        return FAIL_ERRNO(err, "reading '" STR_FMT "'", STR_ARG(local));
    StoreWriter *mine = w;
    w = NULL;
    TRY(file_put_commit(mine, NULL, a, ret, err));
    unlink(str_z(a, local));
    return OK;
}

Status file_delete(Store *s, Str path, Error *err)
{
    char z[PATH_MAX];
    TRY(file_check(s, path, err));
    snprintf(z, sizeof z, STR_FMT, STR_ARG(path));
    if (unlink(z) < 0 && errno != ENOENT)
        return FAIL_ERRNO(err, "deleting '%s'", z);
    return OK;
}

/* A prefix need not end at a folder: the folder above is walked and filtered. */
Status file_list(Store *s, Arena *a, Str prefix, ObjectInfos *ret, Error *err)
{
    TRY(file_check(s, prefix, err));
    Str dir = str_ends(prefix, S("/")) ? str_sub(prefix, 0, prefix.n - 1) : parent(a, prefix);
    if (dir.n < s->file_root.n)
        dir = s->file_root;
    return walk(a, dir, prefix, 0, ret, err);
}

static Status no_links(const Store *s, Str path, Error *err)
{
    char z[PATH_MAX];
    struct stat st;
    for (size_t i = s->file_root.n + 1; i <= path.n; i++) {
        if (i < path.n && path.p[i] != '/')
            continue;
        snprintf(z, sizeof z, "%.*s", (int)i, path.p);
        if (lstat(z, &st) < 0)
            return OK;                                       /* what does not exist is no link */
        if (S_ISLNK(st.st_mode))
            return FAIL(err, E_DENIED, "'%s' is a symbolic link", z);
    }
    return OK;
}

static Status make_parents(const Store *s, Arena *a, Str path, Error *err)
{
    for (size_t i = s->file_root.n + 1; i < path.n; i++) {
        if (path.p[i] != '/')
            continue;
        Str dir = str_dup(a, str_sub(path, 0, i));
        if (mkdir(dir.p, 0755) == 0 && s->sync)
            TRY(dir_sync(parent(a, dir).p, err));
        else if (access(dir.p, F_OK) < 0)
            return FAIL_ERRNO(err, "making the folder '%s'", dir.p);
    }
    return OK;
}

static Str parent(Arena *a, Str path)
{
    ptrdiff_t at = str_rchr(path, '/');
    return str_dup(a, at > 0 ? str_sub(path, 0, (size_t)at) : S("/"));
}

static Status publish(StoreWriter *w, const PutCondition *cond, Error *err)
{
    if (w->s->sync && fsync(w->fd) < 0)
        return FAIL_ERRNO(err, "syncing '%s'", w->temp.p);
    TRY(place(w, cond, err));
    return w->s->sync ? dir_sync(parent(w->a, w->path).p, err) : OK;
}

static Status place(StoreWriter *w, const PutCondition *cond, Error *err)
{
    if (cond && cond->if_match.n)
        return FAIL(err, E_UNSUPPORTED, "files cannot be replaced by ETag: '%s'", w->path.p);
    if (!cond || !cond->if_none_match)
        return rename(w->temp.p, w->path.p) < 0 ? FAIL_ERRNO(err, "renaming to '%s'", w->path.p) : OK;
    if (link(w->temp.p, w->path.p) < 0)
        return errno == EEXIST ? FAIL(err, E_CONFLICT, "'%s' exists", w->path.p) : FAIL_ERRNO(err, "linking '%s'", w->path.p);
    unlink(w->temp.p);
    return OK;
}

static Status walk(Arena *a, Str dir, Str prefix, int depth, ObjectInfos *ret, Error *err)
{
    struct stat st;
    if (depth > DEPTH_MAX)
        return FAIL(err, E_LIMIT, "folders deeper than %d under '" STR_FMT "'", DEPTH_MAX, STR_ARG(prefix));
    struct dirent **names = NULL;
    int n = scandir(str_z(a, dir), &names, NULL, alphasort);
    if (n < 0)
        return errno == ENOENT || errno == ENOTDIR ? OK : FAIL_ERRNO(err, "listing '" STR_FMT "'", STR_ARG(dir));
    Status status = OK;
    for (int i = 0; i < n; i++) {
        Str name = str_c(names[i]->d_name);
        Str path = str_fmt(a, STR_FMT "/" STR_FMT, STR_ARG(dir), STR_ARG(name));
        bool skip = str_eq(name, S(".")) || str_eq(name, S("..")) || str_starts(name, S(TEMP_PREFIX));
        if (!skip && status == OK && lstat(path.p, &st) == 0) {
            if (S_ISDIR(st.st_mode) && (str_starts(path, prefix) || str_starts(prefix, path)))
                status = walk(a, path, prefix, depth + 1, ret, err);
            else if (S_ISREG(st.st_mode) && str_starts(path, prefix))
                vec_push(a, ret, info_of(a, path, &st));
        }
        free(names[i]);
    }
    free(names);
    return status;
}

static ObjectInfo info_of(Arena *a, Str path, const struct stat *st)
{
    return (ObjectInfo){ .key = str_dup(a, path), .size = st->st_size,
                         .modified_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
                         .etag = str_fmt(a, "%llx-%llx", (unsigned long long)st->st_ino, (unsigned long long)st->st_mtim.tv_sec) };
}
