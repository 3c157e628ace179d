/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pgwire.c - the SQL door fed with anything: a whole connection, COPY portions, values, SCRAM messages.
 *
 * The first byte chooses the target.  Properties: a value that was accepted as binary has a text that is accepted again;
 * a connection gives back every session, cursor and statement that it took. */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door/pg/pg_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- a session that takes everything -------------------------------------------------------------------------------- */

typedef struct { int sessions, cursors, statements; } Taken;
typedef struct { Taken *taken; int rows; } Run;

static Status any_secret(void *ctx UNUSED, Arena *a UNUSED, const PgLogin *l, Str *secret, int *trust, Error *err UNUSED)
{
    *secret = S("secret");
    *trust = !str_eq(l->user, S("known"));
    return OK;
}

static Status any_open(void *ctx, const PgLogin *l UNUSED, void **session, Error *err UNUSED)
{
    ((Taken *)ctx)->sessions++;
    *session = ctx;
    return OK;
}

static void any_close(void *session) { ((Taken *)session)->sessions--; }

static Status next_row(PgCursor *c, Arena *a UNUSED, Value *cells, int *has, Error *err UNUSED)
{
    Run *r = c->impl;
    *has = r->rows-- > 0;
    cells[0] = (Value){ .kind = DT_INT32, .integer = r->rows };
    return OK;
}

static void close_cursor(PgCursor *c) { ((Run *)c->impl)->taken->cursors--; }
static Status take_row(PgCursor *c UNUSED, Arena *a UNUSED, const Str *f UNUSED, const int *nulls UNUSED, size_t n UNUSED,
                       Error *err UNUSED) { return OK; }

static Status any_cursor(Taken *t, Arena *a, Str text, PgCursor *ret, Error *err)
{
    char first = text.n ? text.p[0] : 0;
    if (first == 'e')
        return FAIL(err, E_INVALID, "asked for");
    Run *r = arena_new(a, Run);
    *r = (Run){ t, 3 };
    t->cursors++;
    *ret = (PgCursor){ .impl = r, .close = close_cursor, .next = next_row, .copy_row = take_row, .copy_in = first == 'i', .copy_out = first == 'o',
                       .forget_all = first == 'd' };
    vec_push(a, &ret->columns, ((PgColumn){ .name = S("a"), .type = { .kind = DT_INT32 } }));
    return OK;
}

static Status any_split(void *session UNUSED, Arena *a, Str text, size_t *n, void **batch, Error *err UNUSED)
{
    Str *copy = arena_new(a, Str);
    *copy = text;
    *n = text.n ? 1 : 0;
    *batch = copy;
    return OK;
}

static Status any_run(void *session, Arena *a, void *batch, size_t i UNUSED, PgCursor *ret, Error *err)
{
    return any_cursor(session, a, *(Str *)batch, ret, err);
}

static Status any_prepare(void *session, Str text, const DataType *declared UNUSED, size_t n, PgPrepared *ret, Error *err)
{
    static const DataType types[8] = { { .kind = DT_INT32 }, { .kind = DT_STRING }, { .kind = DT_DECIMAL }, { .kind = DT_TIMESTAMP } };
    if (text.n && text.p[0] == 'e')
        return FAIL(err, E_INVALID, "asked for");
    Arena *a = arena_create();
    *ret = (PgPrepared){ .impl = a, .nparams = (int)(n % 5), .param_types = types };
    vec_push(a, &ret->columns, ((PgColumn){ .name = S("a"), .type = { .kind = DT_INT32 } }));
    ((Taken *)session)->statements++;
    return OK;
}

static void any_unprepare(void *session, PgPrepared *p)
{
    arena_destroy(p->impl);
    ((Taken *)session)->statements--;
}

static Status any_execute(void *session, Arena *a, PgPrepared *p, const Value *v UNUSED, size_t n UNUSED, PgCursor *ret, Error *err)
{
    return any_cursor(session, a, p->nparams == 4 ? S("i") : p->nparams == 3 ? S("o") : S("r"), ret, err);
}

/* ---- targets ------------------------------------------------------------------------------------------------------------ */

static void *drain(void *fd)
{
    char buf[4096];
    while (read(*(int *)fd, buf, sizeof buf) > 0)
        ;
    return NULL;
}

static void connection(Str bytes)
{
    Taken taken = { 0 };
    PgDoor door = { .max_message = 4096, .max_connections = 2, .lock = PTHREAD_MUTEX_INITIALIZER,
                    .hooks = { .ctx = &taken, .secret = any_secret, .open = any_open, .close = any_close, .split = any_split,
                               .run = any_run, .prepare = any_prepare, .unprepare = any_unprepare, .execute = any_execute } };
    PgConn *c = calloc(1, sizeof *c);
    pthread_t reader;
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || fcntl(pair[0], F_SETFL, O_NONBLOCK))
        abort();
    ssize_t put = write(pair[1], bytes.p, bytes.n);
    assert(put == (ssize_t)bytes.n);
    shutdown(pair[1], SHUT_WR);
    c->door = &door;
    c->arena = arena_create();
    pg_wire_init(&c->wire, pair[0]);
    if (pthread_create(&reader, NULL, drain, &pair[1]))
        abort();
    pg_conn_main(c);
    pthread_join(reader, NULL);
    close(pair[1]);
    assert(!taken.sessions && !taken.cursors && !taken.statements);
    arena_destroy(c->arena);
    free(c);
}

static void copy_in(Arena *a, int how, Str bytes)
{
    PgColumns columns = { 0 };
    Error err;
    vec_push(a, &columns, ((PgColumn){ .name = S("a"), .type = { .kind = DT_INT32 } }));
    vec_push(a, &columns, ((PgColumn){ .name = S("b"), .type = { .kind = DT_DECIMAL } }));
    PgCopyIn in = { .copy = { .format = (PgCopyFormat)(how % 3), .delimiter = ',', .quote = '"', .escape = how & 4 ? '\\' : '"',
                              .header = !!(how & 8) }, .columns = &columns, .limit = 1000 };
    size_t step = 1 + (size_t)(how >> 4);
    Status s = OK;

    for (size_t at = 0; s == OK && at <= bytes.n; at += step) {
        PgFields f;
        int has = 1;
        in.at_end = at + step > bytes.n;
        s = pg_copy_feed(&in, str_sub(bytes, at, at + step), &err);
        while (s == OK && has)
            s = pg_copy_take(&in, a, &f, &has, &err);
    }
    pg_copy_in_done(&in);
}

static void value(Arena *a, int which, Str bytes)
{
    static const int32_t oids[] = { OID_BOOL, OID_BYTEA, OID_INT8, OID_INT2, OID_INT4, OID_TEXT, OID_OID, OID_JSON, OID_FLOAT4, OID_FLOAT8,
                                    OID_DATE, OID_TIME, OID_TIMESTAMP, OID_TIMESTAMPTZ, OID_INTERVAL, OID_TIMETZ, OID_NUMERIC, OID_UUID,
                                    OID_JSONB, 1007, 1009, 1231, 1115, 1001 };
    int32_t oid = oids[which % COUNT_OF(oids)];
    DataType t = pg_oid_type(oid);
    Value v, w;
    Str text;
    Error err;

    if (pg_value_parse(a, &t, oid, which & 128 ? 1 : 0, bytes, &v, &err) != OK)
        return;
    if (pg_value_text(a, &v, &text, &err) != OK || oid == OID_JSON || oid == OID_JSONB)
        return;
    if (pg_value_parse(a, &t, oid, 0, text, &w, &err) != OK && oid != OID_INTERVAL && oid != OID_TIMETZ)
        abort();
    (void)(pg_value_binary(a, &v, oid, &text, &err) == OK);
}

static void scram(Arena *a, Str bytes)
{
    PgScram s = { .secret = S("secret"), .salt = S("0123456789abcdef") };
    Str first, final, reply;
    Error err;

    str_cut(bytes, '\n', &first, &final);
    if (pg_scram_first(a, &s, first, &reply, &err) == OK && pg_scram_final(a, &s, final, &reply, &err) == OK)
        abort();                                             /* nobody guesses the nonce */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str rest = size > 2 ? str_n((const char *)data + 2, size - 2) : (Str){ 0 };
    Props options = { 0 };
    Error err;

    if (size < 2 || size > 50000)
        return 0;
    switch (data[0] & 7) {
    case 0: copy_in(a, data[1], rest); return 0;
    case 1: value(a, data[1], rest); return 0;
    case 2: scram(a, rest); return 0;
    case 3:
        if (pg_login_options(a, rest, &options, &err) == OK)
            assert(options.n <= rest.n);
        return 0;
    default: connection(rest); return 0;
    }
}
