/* SPDX-License-Identifier: Apache-2.0 */
/* footer.c - the columns that a Parquet file names in its footer.
 *
 * The footer is a Thrift structure (compact protocol) whose second field is the list of columns, depth first; what comes after that list (row groups, statistics) is
 * the most of it and is not looked at.  So a file costs two small reads, where the engine's parquet_schema() is a statement of its own.
 *
 * Invariants: (1) nothing is read past the end: a decoder that has failed gives zeros; (2) every element takes at least one byte, so what is counted in a header is
 * bounded by the bytes that are there. */
#include "lake/lake_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOOTER_MAX = 256 << 20, FIRST_READ = 64 << 10, TAIL = 8, THRIFT_DEPTH = 32, COLUMN_DEPTH = 64 };
enum { T_STOP, T_TRUE, T_FALSE, T_BYTE, T_I16, T_I32, T_I64, T_DOUBLE, T_BINARY, T_LIST, T_SET, T_MAP, T_STRUCT };

typedef struct Thrift { const uint8_t *p, *end; int bad; } Thrift;

/* ---- the compact protocol ---------------------------------------------------------------------------------------------- */

static uint8_t byte_of(Thrift *t)
{
    t->bad |= t->p >= t->end;
    return t->bad ? 0 : *t->p++;
}

static uint64_t varint(Thrift *t)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = byte_of(t);
        v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80)
            return v;
    }
    t->bad = 1;
    return 0;
}

static int64_t zigzag(Thrift *t)
{
    uint64_t v = varint(t);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static Str bytes_of(Thrift *t, uint64_t n)
{
    if (t->bad || n > (uint64_t)(t->end - t->p)) {
        t->bad = 1;
        return (Str){0};
    }
    Str s = str_n((const char *)t->p, (size_t)n);
    t->p += n;
    return s;
}

/* The next field of a structure; false: there is none. *id holds the last one's. */
static bool next_field(Thrift *t, int *id, int *type)
{
    uint8_t head = byte_of(t);

    *type = head & 15;
    if (t->bad || *type == T_STOP)
        return false;
    *id = head >> 4 ? *id + (head >> 4) : (int16_t)zigzag(t);
    return !t->bad;
}

static uint64_t list_head(Thrift *t, int *type)
{
    uint8_t head = byte_of(t);
    uint64_t n = head >> 4 == 15 ? varint(t) : head >> 4;

    *type = head & 15;
    t->bad |= n > (uint64_t)(t->end - t->p);            /* (2) */
    return t->bad ? 0 : n;
}

static void skip(Thrift *t, int type, int depth);

static void skip_many(Thrift *t, int type, uint64_t n, int depth)
{
    for (uint64_t i = 0; i < n && !t->bad; i++) {
        if (type == T_TRUE || type == T_FALSE)
            byte_of(t);                                 /* in a list, a truth is a byte of its own */
        else
            skip(t, type, depth);
    }
}

static void skip_map(Thrift *t, int depth)
{
    uint64_t n = varint(t);
    uint8_t kinds = n ? byte_of(t) : 0;

    t->bad |= n > (uint64_t)(t->end - t->p);
    for (uint64_t i = 0; i < n && !t->bad; i++) {
        skip_many(t, kinds >> 4, 1, depth);
        skip_many(t, kinds & 15, 1, depth);
    }
}

static void skip_struct(Thrift *t, int depth)
{
    for (int id = 0, type; next_field(t, &id, &type); )
        skip(t, type, depth);
}

static void skip(Thrift *t, int type, int depth)
{
    int of;
    uint64_t n;

    if (depth >= THRIFT_DEPTH) {
        t->bad = 1;
        return;
    }
    switch (type) {
    case T_TRUE: case T_FALSE: return;
    case T_BYTE: byte_of(t); return;
    case T_I16: case T_I32: case T_I64: varint(t); return;
    case T_DOUBLE: bytes_of(t, 8); return;
    case T_BINARY: n = varint(t); bytes_of(t, n); return;
    case T_LIST: case T_SET: n = list_head(t, &of); skip_many(t, of, n, depth + 1); return;
    case T_MAP: skip_map(t, depth + 1); return;
    case T_STRUCT: skip_struct(t, depth + 1); return;
    default: t->bad = 1;
    }
}

/* ---- columns ------------------------------------------------------------------------------------------------------------- */

enum { EL_REPETITION = 3, EL_NAME = 4, EL_CHILDREN = 5, EL_CONVERTED = 6, EL_FIELD_ID = 9 };
enum { REPEATED = 2 };

static FileElement element_of(Thrift *t)
{
    FileElement e = { .field_id = -1, .converted = -1 };
    const uint8_t *start = t->p;

    for (int id = 0, type; next_field(t, &id, &type); ) {
        if (id == EL_NAME && type == T_BINARY)
            e.name = bytes_of(t, varint(t));
        else if (type != T_I32)
            skip(t, type, 0);
        else {
            int32_t v = (int32_t)zigzag(t);
            e.repeated = id == EL_REPETITION ? v == REPEATED : e.repeated;
            e.children = id == EL_CHILDREN ? v : e.children;
            e.converted = id == EL_CONVERTED ? v : e.converted;
            e.field_id = id == EL_FIELD_ID ? v : e.field_id;
        }
    }
    e.raw = str_n((const char *)start, (size_t)(t->p - start));
    return e;
}

/* Every element but the root is somebody's child, no deeper than we follow. */
static bool one_tree(const FileElements *els)
{
    int64_t open[COLUMN_DEPTH];
    int depth = 0;

    for (size_t i = 0; i < els->n; i++) {
        while (depth && !open[depth - 1])
            depth--;
        if (i && !depth)
            return false;
        if (i)
            open[depth - 1]--;
        if (els->p[i].children < 0 || (els->p[i].children && depth == COLUMN_DEPTH))
            return false;
        if (els->p[i].children)
            open[depth++] = els->p[i].children;
    }
    while (depth && !open[depth - 1])
        depth--;
    return els->n && !depth;
}

bool lake_footer_elements(Arena *a, Str footer, FileElements *ret)
{
    Thrift t = { (const uint8_t *)footer.p, (const uint8_t *)footer.p + footer.n, 0 };
    int of = 0;

    for (int id = 0, type; next_field(&t, &id, &type); ) {
        if (id != 2 || type != T_LIST) {
            skip(&t, type, 0);
            continue;
        }
        uint64_t n = list_head(&t, &of);
        for (uint64_t i = 0; i < n && !t.bad && of == T_STRUCT; i++)
            vec_push(a, ret, element_of(&t));
        break;
    }
    bool good = !t.bad && one_tree(ret);
    for (size_t i = 0; good && i < ret->n; i++)
        good = str_is_utf8(ret->p[i].name);
    return good;
}

/* ---- the file --------------------------------------------------------------------------------------------------------------- */

static Status read_at(Arena *a, int fd, Str path, int64_t at, size_t n, Str *ret, Error *err)
{
    char *p = arena_array(a, char, n + 1);
    size_t got = 0;

    while (got < n) {
        ssize_t r = pread(fd, p + got, n - got, (off_t)(at + (int64_t)got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return FAIL_ERRNO(err, "reading data file '" STR_FMT "'", STR_ARG(path));
        if (!r)
            return FAIL(err, E_CORRUPT, "data file '" STR_FMT "' became shorter", STR_ARG(path));
        got += (size_t)r;
    }
    *ret = str_n(p, n);
    return OK;
}

/* Where the footer begins and how long it is. */
static Status find_footer(Arena *a, int fd, Str path, int64_t *at, size_t *n, Error *err)
{
    struct stat st;
    Str tail;

    if (fstat(fd, &st) != 0)
        return FAIL_ERRNO(err, "looking at data file '" STR_FMT "'", STR_ARG(path));
    if (st.st_size < 4 + TAIL)
        return FAIL(err, E_CORRUPT, "data file '" STR_FMT "' is too small to be a Parquet file", STR_ARG(path));
    TRY(read_at(a, fd, path, st.st_size - TAIL, TAIL, &tail, err));
    const uint8_t *b = (const uint8_t *)tail.p;
    *n = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
    *at = st.st_size - TAIL - (int64_t)*n;
    if (str_eq(str_from(tail, 4), S("PARE")))
        return FAIL(err, E_UNSUPPORTED, "data file '" STR_FMT "' is encrypted", STR_ARG(path));
    if (!str_eq(str_from(tail, 4), S("PAR1")) || *at < 4)
        return FAIL(err, E_CORRUPT, "data file '" STR_FMT "' is not a Parquet file", STR_ARG(path));
    return *n <= FOOTER_MAX ? OK : FAIL(err, E_LIMIT, "the footer of data file '" STR_FMT "' is %zu bytes, limit is %d", STR_ARG(path), *n, FOOTER_MAX);
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

Status lake_footer_read(Arena *a, Str path, FileElements *ret, Error *err)
{
    CLEANUP(close_fd) int fd = open(str_z(a, path), O_RDONLY | O_CLOEXEC);
    int64_t at = 0;
    size_t n = 0;
    Str text;

    if (fd < 0)
        return FAIL_ERRNO(err, "opening data file '" STR_FMT "'", STR_ARG(path));
    TRY(find_footer(a, fd, path, &at, &n, err));
    for (size_t part = min_size(n, FIRST_READ); ; part = n) {       /* the columns come first; many of them need all */
        *ret = (FileElements){0};
        TRY(read_at(a, fd, path, at, part, &text, err));
        if (lake_footer_elements(a, text, ret))
            return OK;
        if (part == n)
            return FAIL(err, E_CORRUPT, "data file '" STR_FMT "' has no readable Parquet schema", STR_ARG(path));
    }
}
