/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - result files: written through the store with the caller's right to put the object, asked before the first byte and again before
 * the last. */
#include "door/athena/athena_int.h"

struct OutFile {
    Service *svc;
    Arena *a;                         /* of the text */
    Arena *caller;
    const Principal *who;
    Str uri;
    StoreWriter *w;
    StrBuf text;
    int64_t bytes;
};

Status out_allowed(Service *svc, Arena *a, const Principal *who, Str uri, Error *err)
{
    Location at;

    TRY(store_parse_location(a, uri, &at, err));
    if (at.file || !at.key.n)
        return FAIL(err, E_INVALID, "outputLocation is not a valid S3 path.");
    Ask ask = { .action = ACT_OBJECT_PUT, .api = "s3:PutObject", .bucket = at.bucket, .key = at.key };
    return access_check(svc->access, a, who, &ask, err);
}

Status out_open(Service *svc, Arena *a, const Principal *who, Str uri, const char *content_type, OutFile **ret, Error *err)
{
    OutFile *f = arena_new(a, OutFile);
    Props headers = {0};
    Location at;

    TRY(out_allowed(svc, a, who, uri, err));
    TRY(store_parse_location(a, uri, &at, err));
    *f = (OutFile){ .svc = svc, .caller = a, .who = who, .uri = uri };
    TRY(store_put_open(svc->store, at.bucket, at.key, &f->w, err));
    props_set(a, &headers, S("content-type"), str_c(content_type));
    store_put_headers(f->w, &headers, NULL);
    f->a = arena_create();
    f->text = sb_new(f->a);
    *ret = f;
    return OK;
}

StrBuf *out_text(OutFile *f) { return &f->text; }

Status out_flush(OutFile *f, size_t above, Error *err)
{
    if (f->text.n <= above)
        return OK;
    TRY(store_put_add(f->w, sb_str(&f->text), err));
    f->bytes += (int64_t)f->text.n;
    if (f->text.cap > 4 * ATH_PIECE_BYTES) {              /* one long row: its memory is given back */
        arena_destroy(f->a);
        f->a = arena_create();
        f->text = sb_new(f->a);
    }
    f->text.n = 0;
    return OK;
}

Status out_commit(OutFile *f, int64_t *bytes, Error *err)
{
    ObjectInfo info;

    TRY(out_flush(f, 0, err));
    TRY(out_allowed(f->svc, f->caller, f->who, f->uri, err));
    StoreWriter *w = f->w;
    f->w = NULL;
    TRY(store_put_commit(w, NULL, f->caller, &info, err));
    *bytes = f->bytes;
    return OK;
}

void out_closep(OutFile **f)
{
    if (!*f)
        return;
    if ((*f)->w)
        store_put_abandon((*f)->w);
    arena_destroy((*f)->a);
    *f = NULL;
}
