/* SPDX-License-Identifier: Apache-2.0 */
/* location.c - URIs to buckets and keys or paths.  Keys are taken verbatim: Iceberg locations are not URL-encoded. */
#include "store/store_int.h"

static Status parse_file(Arena *a, Str uri, Str rest, Location *ret, Error *err);

Status store_parse_location(Arena *a, Str uri, Location *ret, Error *err)
{
    static const char *const s3[] = { "s3://", "s3a://", "s3n://" };
    if (str_starts(uri, S("file:")))
        return parse_file(a, uri, str_from(uri, 5), ret, err);
    for (size_t i = 0; i < COUNT_OF(s3); i++) {
        if (!str_starts(uri, str_c(s3[i])))
            continue;
        Str rest = str_from(uri, strlen(s3[i]));
        *ret = (Location){0};
        str_cut(rest, '/', &ret->bucket, &ret->key);
        if (!ret->bucket.n)
            return FAIL(err, E_INVALID, "location '" STR_FMT "' names no bucket", STR_ARG(uri));
        return OK;
    }
    return FAIL(err, E_INVALID, "location '" STR_FMT "' is neither s3:// nor file:", STR_ARG(uri));
}

Str store_s3_uri(Arena *a, Str bucket, Str key)
{
    StrBuf b = sb_new(a);
    sb_addc(&b, "s3://");
    sb_add(&b, bucket);
    sb_byte(&b, '/');
    sb_add(&b, key);
    return sb_str(&b);
}

Status key_check(Str bucket, Str key, Error *err)
{
    if (!bucket.n || bucket.n > BUCKET_BYTES_MAX)
        return FAIL(err, E_INVALID, "a bucket name has 1 to %d bytes, not %zu", BUCKET_BYTES_MAX, bucket.n);
    if (!key.n)
        return FAIL(err, E_INVALID, "an object in bucket '" STR_FMT "' needs a key", STR_ARG(bucket));
    if (key.n > KEY_BYTES_MAX)
        return FAIL(err, E_LIMIT, "key of %zu bytes, limit is %d", key.n, KEY_BYTES_MAX);
    return OK;
}

/* file:/x, file:///x and file://localhost/x name the same path; doubled slashes are one. */
static Status parse_file(Arena *a, Str uri, Str rest, Location *ret, Error *err)
{
    StrBuf b = sb_new(a);
    if (str_starts(rest, S("//localhost/")))
        rest = str_from(rest, 11);
    else if (str_starts(rest, S("//")) && !str_starts(rest, S("///")))
        return FAIL(err, E_INVALID, "location '" STR_FMT "' names a host", STR_ARG(uri));
    if (!str_starts(rest, S("/")) || memchr(rest.p, 0, rest.n))
        return FAIL(err, E_INVALID, "location '" STR_FMT "' is not an absolute path", STR_ARG(uri));
    for (size_t i = 0; i < rest.n; i++)
        if (rest.p[i] != '/' || i == 0 || rest.p[i - 1] != '/')
            sb_byte(&b, rest.p[i]);
    *ret = (Location){ .file = 1, .path = sb_str(&b) };
    return OK;
}
