/* SPDX-License-Identifier: Apache-2.0 */
/* key_file.c - secret keys that live in files beside the catalog.
 *
 * A key file holds 32 raw bytes and is readable by its owner alone.  It is made under another name, synced and
 * linked, so a crash leaves all of it or nothing. */
#include "catalog/catalog_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static Status read_key(Arena *a, const char *path, int fd, Str *ret, Error *err)
{
    char *p = arena_alloc(a, KEY_FILE_BYTES + 1);
    struct stat st;

    if (fstat(fd, &st) != 0)
        return FAIL_ERRNO(err, "reading '%s'", path);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return FAIL(err, E_IO, "'%s' can be read by others; make its mode 0600", path);
    ssize_t n = read(fd, p, KEY_FILE_BYTES + 1);
    if (n < 0)
        return FAIL_ERRNO(err, "reading '%s'", path);
    if (n != KEY_FILE_BYTES)
        return FAIL(err, E_CORRUPT, "'%s' is not a key file of %d bytes", path, KEY_FILE_BYTES);
    *ret = str_n(p, KEY_FILE_BYTES);
    return OK;
}

static Status sync_dir_of(Arena *a, const char *path, Error *err)
{
    ptrdiff_t slash = str_rchr(str_c(path), '/');
    const char *dir = slash < 0 ? "." : str_z(a, str_n(path, slash ? (size_t)slash : 1));
    CLEANUP(file_closep) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        return FAIL_ERRNO(err, "syncing '%s'", dir);
    return OK;
}

static Status make_key(Arena *a, const char *path, Str *ret, Error *err)
{
    char *bytes = arena_alloc(a, KEY_FILE_BYTES);
    char *temp = str_z(a, str_fmt(a, "%s.new", path));

    rand_bytes(bytes, KEY_FILE_BYTES);
    unlink(temp);
    CLEANUP(file_closep) int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return FAIL_ERRNO(err, "making '%s'", temp);
    if (write(fd, bytes, KEY_FILE_BYTES) != KEY_FILE_BYTES || fsync(fd) != 0 || rename(temp, path) != 0) {
        Status s = FAIL_ERRNO(err, "writing '%s'", path);
        unlink(temp);
        return s;
    }
    *ret = str_n(bytes, KEY_FILE_BYTES);
    return sync_dir_of(a, path, err);
}

Status cat_key_file(Arena *a, Str path, Str *ret, int *fresh, Error *err)
{
    char *z = str_z(a, path);
    CLEANUP(file_closep) int fd = open(z, O_RDONLY | O_CLOEXEC);

    *fresh = 0;
    if (fd >= 0)
        return read_key(a, z, fd, ret, err);
    if (errno != ENOENT)
        return FAIL_ERRNO(err, "opening '%s'", z);
    *fresh = 1;
    return make_key(a, z, ret, err);
}
