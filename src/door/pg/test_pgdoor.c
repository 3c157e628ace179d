/* SPDX-License-Identifier: Apache-2.0 */
/* test_pgdoor.c - the door over a real socket: a small session behind it, a client of raw messages before it. */
#include "test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door/pg/pg_int.h"

/* ---- the session: a few words instead of SQL ----------------------------------------------------------------------- */

typedef struct { Arena *arena; int cancelled, said; char tx; } Session;
typedef struct { Session *s; StrVec words; } Batch;
typedef struct { Session *s; int64_t n, at; Str sum; Arena *arena; } Run;

static int open_sessions, open_cursors, open_statements;        /* what the door must bring back to 0 */

static Status stub_secret(void *ctx UNUSED, Arena *a UNUSED, const PgLogin *l, Str *secret, int *trust, Error *err)
{
    *trust = str_eq(l->user, S("trusted")) && l->loopback;
    *secret = S("secret");
    return str_eq(l->user, S("trusted")) || str_eq(l->user, S("known")) ? OK : FAIL(err, E_AUTH, "no such user");
}

static Status stub_open(void *ctx UNUSED, const PgLogin *l, void **ret, Error *err)
{
    if (str_eq(l->database, S("closed")))
        return FAIL(err, E_DENIED, "database is closed");
    Session *s = calloc(1, sizeof *s);
    s->tx = 'I';
    __atomic_add_fetch(&open_sessions, 1, __ATOMIC_SEQ_CST);
    *ret = s;
    return OK;
}

static void stub_close(void *session)
{
    free(session);
    __atomic_sub_fetch(&open_sessions, 1, __ATOMIC_SEQ_CST);
}

static void stub_cancel(void *session) { __atomic_store_n(&((Session *)session)->cancelled, 1, __ATOMIC_SEQ_CST); }
static char stub_tx(void *session) { return ((Session *)session)->tx; }

static Status row_next(PgCursor *c, Arena *a, Value *cells, int *has, Error *err UNUSED)
{
    Run *r = c->impl;
    *has = r->at < r->n;
    cells[0] = (Value){ .kind = DT_INT32, .integer = ++r->at };
    cells[1] = (Value){ .kind = DT_STRING, .string = str_fmt(a, "row %lld", (long long)r->at) };
    return OK;
}

static Status sleep_next(PgCursor *c, Arena *a UNUSED, Value *cells UNUSED, int *has UNUSED, Error *err)
{
    Session *s = ((Run *)c->impl)->s;
    for (int i = 0; i < 1000 && !__atomic_load_n(&s->cancelled, __ATOMIC_SEQ_CST); i++)
        usleep(10000);
    s->cancelled = 0;
    return FAIL(err, E_CANCELLED, "canceling statement due to user request");
}

static Str set_tag(PgCursor *c UNUSED, Arena *a UNUSED, int64_t n UNUSED) { return S("SET"); }
static void run_close(PgCursor *c UNUSED) { __atomic_sub_fetch(&open_cursors, 1, __ATOMIC_SEQ_CST); }

static Status take_row(PgCursor *c, Arena *a UNUSED, const Str *fields, const int *nulls, size_t n, Error *err)
{
    if (n != 2 || nulls[0])
        return FAIL(err, E_INVALID, "a row has two columns");
    ((Run *)c->impl)->n += atoi(str_z(((Run *)c->impl)->arena, fields[0]));
    return OK;
}

static Status take_done(PgCursor *c, Arena *a UNUSED, int64_t *n, Error *err UNUSED)
{
    *n = ((Run *)c->impl)->n;
    return OK;
}

static void two_columns(Arena *a, PgColumns *ret)
{
    vec_push(a, ret, ((PgColumn){ .name = S("a"), .type = { .kind = DT_INT32 } }));
    vec_push(a, ret, ((PgColumn){ .name = S("b"), .type = { .kind = DT_STRING } }));
}

static Status do_word(Session *s, Arena *a, Str word, int64_t n, PgCursor *ret, Error *err)
{
    Run *r = arena_new(a, Run);
    *r = (Run){ .s = s, .n = n, .arena = a };
    if (str_eq(word, S("error"))) {
        RAISE(err, E_INVALID, "bad thing");
        error_detail(err, "the detail");
        error_hint(err, "the hint");
        err->position = 4;
        return E_INVALID;
    }
    __atomic_add_fetch(&open_cursors, 1, __ATOMIC_SEQ_CST);
    *ret = (PgCursor){ .impl = r, .close = run_close };
    if (str_eq(word, S("set")) || str_eq(word, S("begin"))) {
        s->tx = str_eq(word, S("begin")) ? 'T' : 'I';
        ret->tag = set_tag;
        return OK;
    }
    if (str_eq(word, S("forget"))) {
        ret->tag = set_tag;
        ret->forget = S("s1");
        return OK;
    }
    if (str_eq(word, S("say")))
        s->said = 1;
    two_columns(a, &ret->columns);
    ret->next = str_eq(word, S("sleep")) ? sleep_next : row_next;
    ret->copy_out = str_eq(word, S("out"));
    ret->copy_in = str_eq(word, S("in"));
    ret->copy_row = take_row;
    ret->copy_done = take_done;
    if (str_eq(word, S("in")))
        r->n = 0;
    return OK;
}

static Status stub_split(void *session, Arena *a, Str text, size_t *n, void **batch, Error *err UNUSED)
{
    Batch *b = arena_new(a, Batch);
    StrVec parts = { 0 };
    str_split(a, text, ';', &parts);
    for vec_each(Str, p, &parts)
        if (str_trim(*p).n)
            vec_push(a, &b->words, str_trim(*p));
    b->s = session;
    *n = b->words.n;
    *batch = b;
    return OK;
}

static Status stub_run(void *session, Arena *a, void *batch, size_t i, PgCursor *ret, Error *err)
{
    return do_word(session, a, ((Batch *)batch)->words.p[i], 5, ret, err);
}

typedef struct { Arena *a; Str word; DataType type; } Prepared;

static Status stub_prepare(void *session UNUSED, Str text, const DataType *declared UNUSED, size_t n UNUSED, PgPrepared *ret, Error *err)
{
    if (str_eq(text, S("no parse"))) {
        RAISE(err, E_SYNTAX, "syntax error");
        err->position = 4;
        return E_SYNTAX;
    }
    Arena *a = arena_create();
    Prepared *p = arena_new(a, Prepared);
    *p = (Prepared){ .a = a, .word = str_dup(a, text), .type = { .kind = DT_INT64 } };
    *ret = (PgPrepared){ .impl = p, .nparams = 1, .param_types = &p->type };
    if (!str_eq(text, S("set")) && !str_eq(text, S("begin")) && !str_eq(text, S("forget")))
        two_columns(a, &ret->columns);
    __atomic_add_fetch(&open_statements, 1, __ATOMIC_SEQ_CST);
    return OK;
}

static void stub_unprepare(void *session UNUSED, PgPrepared *p)
{
    arena_destroy(((Prepared *)p->impl)->a);
    __atomic_sub_fetch(&open_statements, 1, __ATOMIC_SEQ_CST);
}

static Status stub_execute(void *session, Arena *a, PgPrepared *p, const Value *params, size_t n UNUSED, PgCursor *ret, Error *err)
{
    return do_word(session, a, ((Prepared *)p->impl)->word, params[0].kind == DT_NULL ? 0 : params[0].integer, ret, err);
}

static Status stub_cursor(void *session UNUSED, Arena *a, Str name, PgColumns *ret, Error *err)
{
    if (!str_eq(name, S("declared")))
        return FAIL(err, E_NOT_FOUND, "no such cursor");
    two_columns(a, ret);
    return OK;
}

static int stub_notice(void *session, PgNotice *ret)
{
    Session *s = session;
    if (!s->said)
        return 0;
    s->said = 0;
    *ret = (PgNotice){ .message = "said" };
    return 1;
}

static void stub_parameters(void *session, Arena *a, Props *ret)
{
    props_set(a, ret, S("server_version"), S("15.0"));
    props_set(a, ret, S("mode"), ((Session *)session)->tx == 'T' ? S("in") : S("out"));
}

static const PgHooks hooks = {
    .secret = stub_secret, .open = stub_open, .close = stub_close, .cancel = stub_cancel, .tx_status = stub_tx,
    .split = stub_split, .run = stub_run, .prepare = stub_prepare, 
    .unprepare = stub_unprepare, .cursor = stub_cursor, .execute = stub_execute,
    .notice = stub_notice, .parameters = stub_parameters,
};

/* ---- the client: messages as text -------------------------------------------------------------------------------------- */

static Arena *arena;
static PgDoor *door;
static Error err;

typedef struct { int fd, id, key; } Client;

static int dial(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)pgdoor_port(door)) };
    struct timeval wait = { .tv_sec = 10 };
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void put(int fd, const void *p, size_t n) { assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n); }

static void put_message(int fd, char type, Str body)
{
    PgOut o = { 0 };
    pg_out_begin(&o, type);
    pg_out_bytes(&o, body);
    pg_out_end(&o);
    put(fd, o.p, o.n);
    pg_out_free(&o);
}

static void put_startup(int fd, int32_t version, Str body)
{
    PgOut o = { 0 };
    pg_out_i32(&o, (int64_t)body.n + 8);
    pg_out_i32(&o, version);
    pg_out_bytes(&o, body);
    put(fd, o.p, o.n);
    pg_out_free(&o);
}

static bool get(int fd, char *p, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got = recv(fd, p + at, n - at, 0);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

static bool get_message(int fd, char *type, Str *body)
{
    char head[5];
    if (!get(fd, head, 5))
        return false;
    PgIn in = pg_in(str_n(head, 5));
    *type = (char)pg_in_u8(&in);
    size_t n = (size_t)pg_in_i32(&in) - 4;
    char *p = arena_alloc(arena, n + 1);
    *body = str_n(p, n);
    return get(fd, p, n);
}

static Str error_field(Str body, char code)
{
    for (PgIn in = pg_in(body); pg_in_left(&in) > 1;) {
        char c = (char)pg_in_u8(&in);
        Str s = pg_in_cstr(&in);
        if (c == code)
            return s;
    }
    return S("");
}

/* Everything up to ReadyForQuery, or the end: "T D D C:SELECT 2 Z:I". ParameterStatus is left out unless it is `mode`. */
static Str conversation(Client *c)
{
    StrBuf b = sb_new(arena);
    char type;
    Str body;

    for (;;) {
        if (!get_message(c->fd, &type, &body)) {
            sb_addc(&b, "end");
            return sb_str(&b);
        }
        PgIn in = pg_in(body);
        if (type == 'S' && !str_eq(pg_in_cstr(&in), S("mode")))
            continue;
        sb_byte(&b, type);
        if (type == 'E' || type == 'N')
            sb_fmt(&b, ":" STR_FMT "@" STR_FMT, STR_ARG(error_field(body, 'C')), STR_ARG(error_field(body, 'P')));
        else if (type == 'C' || type == 'S')
            sb_fmt(&b, ":" STR_FMT, STR_ARG(str_sub(str_from(body, in.at), 0, body.n - in.at - 1)));
        else if (type == 'R')
            sb_fmt(&b, ":%d", pg_in_i32(&in));
        else if (type == 'd')
            sb_fmt(&b, ":" STR_FMT, STR_ARG(body));
        else if (type == 'K')
            c->id = pg_in_i32(&in), c->key = pg_in_i32(&in);
        else if (type == 'Z') {
            sb_fmt(&b, ":%c", body.p[0]);
            return sb_str(&b);
        }
        sb_byte(&b, ' ');
    }
}

static void says(Client *c, const char *expected) { Str s = conversation(c); assert_str(s, expected); }

static Client sign_in(const char *rest, size_t n)
{
    Client c = { .fd = dial() };
    put_startup(c.fd, 3 << 16, str_n(rest, n));
    return c;
}

static Client trusted(void)
{
    Client c = sign_in("user\0trusted\0\0", 14);
    says(&c, "R:0 S:out K Z:I");
    return c;
}

static void query(Client *c, const char *text) { put_message(c->fd, 'Q', str_n(text, strlen(text) + 1)); }

static Str bytes(const char *fmt, ...)                     /* s: with NUL, h: int16, i: int32, c: a byte, a: int64 with its length */
{
    PgOut o = { 0 };
    va_list ap;
    va_start(ap, fmt);
    for (; *fmt; fmt++) {
        if (*fmt == 's')
            pg_out_cstr(&o, str_c(va_arg(ap, const char *)));
        else if (*fmt == 'h')
            pg_out_i16(&o, va_arg(ap, int));
        else if (*fmt == 'i')
            pg_out_i32(&o, va_arg(ap, int));
        else if (*fmt == 'c')
            pg_out_u8(&o, va_arg(ap, int));
        else if (*fmt == 'a')
            pg_out_i32(&o, 8), pg_out_i64(&o, va_arg(ap, int));
    }
    va_end(ap);
    Str s = str_dup(arena, str_n(o.p, o.n));
    pg_out_free(&o);
    return s;
}

static void parse(Client *c, const char *name, const char *text) { put_message(c->fd, 'P', bytes("ssh", name, text, 0)); }
static void bind_n(Client *c, const char *portal, const char *statement, int n)
{
    put_message(c->fd, 'B', bytes("sshhhah", portal, statement, 1, 1, 1, n, 0));
}
static void execute(Client *c, const char *portal, int max) { put_message(c->fd, 'E', bytes("si", portal, max)); }
static void sync_up(Client *c) { put_message(c->fd, 'S', (Str){ 0 }); }

/* ---- tests ----------------------------------------------------------------------------------------------------------------- */

static int setup(void **state UNUSED)
{
    PgDoorOptions o = { .max_connections = 4, .max_message = 100000 };
    arena = arena_create();
    open_sessions = open_cursors = open_statements = 0;
    return pgdoor_open(&o, &hooks, &door, &err) != OK;
}

static int teardown(void **state UNUSED)
{
    pgdoor_close(door, 0);
    arena_destroy(arena);
    return open_sessions || open_cursors || open_statements;
}

static void test_startup(void **state UNUSED)
{
    static const struct { const char *bytes; size_t n; const char *expected; } cases[] = {
        { "user\0trusted\0database\0closed\0\0", 30, "R:0 E:42501@ end" }, { "user\0\0\0", 7, "E:28000@ end" },
        { "user\0trusted", 12, "E:08P01@ end" }, { "\0", 1, "E:28000@ end" },
        { "user\0trusted\0_pq_.x\0y\0\0", 23, "v R:0 S:out K Z:I" },
        { "user\0trusted\0replication\0true\0\0", 31, "E:0A000@ end" },
        { "user\0trusted\0client_encoding\0LATIN1\0\0", 37, "E:22023@ end" },
        { "user\0trusted\0options\0-c a=b\0\0", 29, "R:0 S:out K Z:I" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Client c = sign_in(cases[i].bytes, cases[i].n);
        says(&c, cases[i].expected);
        close(c.fd);
    }
    Client c = { .fd = dial() };
    put(c.fd, "GET / HTTP/1.1\r\n", 16);
    says(&c, "end");
    close(c.fd);
    c.fd = dial();
    put_startup(c.fd, 2 << 16, S("x"));
    says(&c, "E:0A000@ end");
    close(c.fd);
    c.fd = dial();
    char answer;
    put_startup(c.fd, 80877103, S(""));
    assert_true(get(c.fd, &answer, 1) && answer == 'N');
    put_startup(c.fd, 80877104, S(""));
    assert_true(get(c.fd, &answer, 1) && answer == 'N');
    put_startup(c.fd, 3 << 16 | 7, str_n("user\0trusted\0\0", 14));
    says(&c, "v R:0 S:out K Z:I");
    close(c.fd);
}

static void test_password(void **state UNUSED)
{
    static const char *const users[] = { "user\0known\0\0", "user\0other\0\0" };
    for (size_t i = 0; i < 2; i++) {                        /* known and unknown users look alike */
        Client c = sign_in(users[i], 12);
        char type;
        Str body;
        assert_true(get_message(c.fd, &type, &body) && type == 'R');
        assert_memory_equal(body.p, "\0\0\0\nSCRAM-SHA-256\0", 19);
        Str first = S("n,,n=,r=abc");
        put_message(c.fd, 'p', str_cat(arena, bytes("si", "SCRAM-SHA-256", (int)first.n), first));
        assert_true(get_message(c.fd, &type, &body) && type == 'R' && str_starts(str_from(body, 4), S("r=abc")));
        Str nonce = str_sub(str_from(body, 6), 0, (size_t)str_chr(str_from(body, 6), ','));
        put_message(c.fd, 'p', str_fmt(arena, "c=biws,r=" STR_FMT ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", STR_ARG(nonce)));
        says(&c, "E:28P01@ end");
        close(c.fd);
    }
    Client c = sign_in(users[0], 12);
    put_message(c.fd, 'Q', S("select"));
    says(&c, "R:10 E:08P01@ end");
    close(c.fd);
}

static void test_simple(void **state UNUSED)
{
    Client c = trusted();
    static const char *const cases[][2] = {
        { "rows", "T D D D D D C:SELECT 5 Z:I" }, { "rows;set", "T D D D D D C:SELECT 5 C:SET Z:I" }, { " ; ", "I Z:I" }, { "", "I Z:I" },
        { "error;rows", "E:22023@4 Z:I" }, { "set;error;rows", "C:SET E:22023@4 Z:I" }, { "begin", "C:SET S:in Z:T" },
        { "set", "C:SET S:out Z:I" }, { "say", "T D D D D D N:00000@ C:SELECT 5 Z:I" }, { "forget", "E:26000@ Z:I" },
        { "out", "H d:1\trow 1\n d:2\trow 2\n d:3\trow 3\n d:4\trow 4\n d:5\trow 5\n c C:COPY 5 Z:I" }, { "\377", "E:22021@ Z:I" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        query(&c, cases[i][0]);
        says(&c, cases[i][1]);
    }
    put_message(c.fd, 'F', S("x"));
    says(&c, "E:0A000@ Z:I");
    put_message(c.fd, 'Q', S("no end"));
    says(&c, "E:08P01@ Z:I");
    put_message(c.fd, 'X', S(""));
    says(&c, "end");
    close(c.fd);
}

static void test_position_counts_characters(void **state UNUSED)
{
    Client c = trusted();
    query(&c, "\303\251a;error");                               /* byte 4 is the third character */
    char type;
    Str body;
    while (get_message(c.fd, &type, &body) && type != 'E')
        ;
    assert_str(error_field(body, 'P'), "3");
    assert_str(error_field(body, 'M'), "bad thing");
    assert_str(error_field(body, 'D'), "the detail");
    assert_str(error_field(body, 'H'), "the hint");
    close(c.fd);
}

static void test_extended(void **state UNUSED)
{
    Client c = trusted();

    parse(&c, "", "rows");
    put_message(c.fd, 'D', bytes("cs", 'S', ""));
    bind_n(&c, "", "", 3);
    put_message(c.fd, 'D', bytes("cs", 'P', ""));
    execute(&c, "", 0);
    sync_up(&c);
    says(&c, "1 t T 2 T D D D C:SELECT 3 Z:I");

    parse(&c, "s1", "rows");                                 /* a portal in pieces, and a statement used twice */
    bind_n(&c, "", "s1", 5);
    execute(&c, "", 2);
    execute(&c, "", 3);
    execute(&c, "", 2);
    bind_n(&c, "", "s1", 1);
    execute(&c, "", 0);
    sync_up(&c);
    says(&c, "1 2 D D s D D D s C:SELECT 0 2 D C:SELECT 1 Z:I");

    parse(&c, "s1", "rows");                                 /* an error skips to Sync */
    bind_n(&c, "", "s1", 1);
    query(&c, "set");
    says(&c, "E:42P05@ C:SET Z:I");
    bind_n(&c, "", "nosuch", 1);
    execute(&c, "", 0);
    sync_up(&c);
    says(&c, "E:26000@ Z:I");
    execute(&c, "gone", 0);
    sync_up(&c);
    says(&c, "E:34000@ Z:I");
    put_message(c.fd, 'D', bytes("cs", 'P', "declared"));    /* a statement's cursor */
    put_message(c.fd, 'D', bytes("cs", 'P', "undeclared"));
    sync_up(&c);
    says(&c, "T E:34000@ Z:I");
    parse(&c, "", "no parse");
    sync_up(&c);
    says(&c, "E:42601@4 Z:I");
    parse(&c, "", " ;");
    put_message(c.fd, 'B', bytes("sshhh", "", "", 0, 0, 0));
    execute(&c, "", 0);
    sync_up(&c);
    says(&c, "1 2 I Z:I");
    put_message(c.fd, 'C', bytes("cs", 'S', "s1"));
    put_message(c.fd, 'C', bytes("cs", 'S', "s1"));
    sync_up(&c);
    says(&c, "3 3 Z:I");
    parse(&c, "s1", "forget");
    bind_n(&c, "", "s1", 1);
    execute(&c, "", 0);
    sync_up(&c);
    says(&c, "1 2 C:SET Z:I");
    close(c.fd);
}

static void test_portals_live_in_transactions(void **state UNUSED)
{
    Client c = trusted();
    parse(&c, "r", "rows");
    bind_n(&c, "p", "r", 5);
    execute(&c, "p", 1);
    sync_up(&c);
    says(&c, "1 2 D s Z:I");
    execute(&c, "p", 1);
    sync_up(&c);
    says(&c, "E:34000@ Z:I");
    query(&c, "begin");
    says(&c, "C:SET S:in Z:T");
    bind_n(&c, "p", "r", 5);
    execute(&c, "p", 1);
    sync_up(&c);
    says(&c, "2 D s Z:T");
    bind_n(&c, "p", "r", 5);
    sync_up(&c);
    says(&c, "E:42P03@ Z:T");
    query(&c, "begin");
    says(&c, "C:SET Z:T");
    bind_n(&c, "p", "r", 5);
    execute(&c, "p", 1);
    sync_up(&c);
    says(&c, "2 D s Z:T");
    execute(&c, "p", 0);
    put_message(c.fd, 'C', bytes("cs", 'S', "r"));            /* closes its portal too */
    execute(&c, "p", 0);
    sync_up(&c);
    says(&c, "D D D D C:SELECT 4 3 E:34000@ Z:T");
    close(c.fd);
}

static void test_bind_is_checked(void **state UNUSED)
{
    Client c = trusted();
    Str bad[] = {
        S(""), S("x"), bytes("ss", "", ""), bytes("ssh", "", "", 5), bytes("sshh", "", "", 0, 1), bytes("sshhi", "", "", 0, 1, 8),
        bytes("sshhi", "", "", 0, 1, -2), bytes("sshhihhhh", "", "", 0, 1, -1, 3, 0, 0, 0), bytes("sshhhaih", "", "", 1, 7, 1, 1, 0, 0),
        bytes("sshhahhhh", "", "", 0, 1, 1, 3, 0, 0, 0), bytes("sshhh", "", "", 0, 0, 0), bytes("sshhihs", "", "", 0, 1, -1, 0, "more"),
        bytes("sshhh", "", "", 0, -1, 0),
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        parse(&c, "", "rows");
        put_message(c.fd, 'B', bad[i]);
        sync_up(&c);
        Str s = conversation(&c);
        if (!str_starts(s, S("1 E:")) || !str_ends(s, S(" Z:I")))
            fail_msg("case %zu: " STR_FMT, i, STR_ARG(s));
    }
    close(c.fd);
}

static void test_copy_in(void **state UNUSED)
{
    Client c = trusted();
    query(&c, "in");
    put_message(c.fd, 'd', S("7\tx\n1"));
    put_message(c.fd, 'S', S(""));
    put_message(c.fd, 'd', S("0\ty"));
    put_message(c.fd, 'c', S(""));
    says(&c, "G C:COPY 17 Z:I");
    query(&c, "in;set");
    put_message(c.fd, 'd', S("7\n"));
    put_message(c.fd, 'd', S("8\tx\n"));
    put_message(c.fd, 'c', S(""));
    query(&c, "set");
    says(&c, "G E:22023@ Z:I");
    says(&c, "C:SET Z:I");
    query(&c, "in");
    put_message(c.fd, 'f', bytes("s", "no more"));
    says(&c, "G E:57014@ Z:I");
    query(&c, "in");
    query(&c, "set");                                        /* not a COPY message */
    says(&c, "G E:08P01@ Z:I");
    parse(&c, "", "in");
    bind_n(&c, "", "", 0);
    execute(&c, "", 0);
    sync_up(&c);
    put_message(c.fd, 'd', S("7\tx\n"));
    put_message(c.fd, 'c', S(""));
    sync_up(&c);
    says(&c, "1 2 G C:COPY 7 Z:I");
    query(&c, "in");
    close(c.fd);                                             /* the client dies in the middle */
}

static void test_lengths(void **state UNUSED)
{
    Client c = trusted();
    char *big = arena_alloc(arena, 200000);
    memset(big, 'x', 199999);
    put_message(c.fd, 'Q', str_n(big, 200000));
    says(&c, "E:54000@ Z:I");
    put_message(c.fd, 'P', str_n(big, 200000));
    bind_n(&c, "", "", 1);
    sync_up(&c);
    says(&c, "E:54000@ Z:I");
    query(&c, "rows");
    says(&c, "T D D D D D C:SELECT 5 Z:I");
    put(c.fd, "Q\0\0\0\3", 5);
    says(&c, "E:08P01@ end");
    close(c.fd);
    c = trusted();
    put(c.fd, "Q\x7f\xff\xff\xff", 5);
    says(&c, "E:08P01@ end");
    close(c.fd);
    c = trusted();
    put(c.fd, "~\0\0\0\4", 5);
    says(&c, "E:08P01@ end");
    close(c.fd);
}

static void send_cancel(int id, int key)
{
    int fd = dial();
    char none;
    put_startup(fd, 80877102, bytes("ii", id, key));
    assert_false(get(fd, &none, 1));
    close(fd);
}

static void test_cancel(void **state UNUSED)
{
    Client c = trusted();
    send_cancel(c.id, c.key);                                /* idle: nothing happens */
    query(&c, "rows");
    says(&c, "T D D D D D C:SELECT 5 Z:I");
    query(&c, "sleep");
    usleep(50000);
    send_cancel(c.id, c.key + 1);                            /* a wrong key: nothing */
    send_cancel(c.id, c.key);
    says(&c, "T E:57014@ Z:I");
    query(&c, "rows");
    says(&c, "T D D D D D C:SELECT 5 Z:I");
    close(c.fd);
}

static void test_gone_client_is_cancelled(void **state UNUSED)
{
    Client c = trusted();
    query(&c, "sleep");
    usleep(50000);
    close(c.fd);
    for (int i = 0; i < 500 && pgdoor_connections(door); i++)
        usleep(10000);
    assert_int_equal(pgdoor_connections(door), 0);           /* not after the sleep's own ten seconds */
}

static void test_limit_of_connections(void **state UNUSED)
{
    Client c[4];
    for (size_t i = 0; i < 4; i++)
        c[i] = trusted();
    assert_int_equal(pgdoor_connections(door), 4);
    Client more = sign_in("user\0trusted\0\0", 14);
    says(&more, "R:0 E:53300@ end");
    close(more.fd);
    close(c[0].fd);
    for (int i = 0; i < 500 && pgdoor_connections(door) == 4; i++)
        usleep(10000);
    c[0] = trusted();
    for (size_t i = 0; i < 4; i++)
        close(c[i].fd);
}

static void test_close_of_the_door(void **state UNUSED)
{
    Client idle = trusted(), busy = trusted();
    query(&busy, "sleep");
    usleep(50000);
    int64_t before = clock_mono_us();
    pgdoor_close(door, 1);
    assert_true(clock_mono_us() - before < 4000000);
    door = NULL;
    says(&idle, "E:57P01@ end");
    says(&busy, "T E:57014@ Z:I");
    says(&busy, "E:57P01@ end");
    close(idle.fd);
    close(busy.fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        TEST(test_startup), TEST(test_password), TEST(test_simple), TEST(test_position_counts_characters), TEST(test_extended),
        TEST(test_portals_live_in_transactions), TEST(test_bind_is_checked), TEST(test_copy_in), TEST(test_lengths), TEST(test_cancel),
        TEST(test_gone_client_is_cancelled), TEST(test_limit_of_connections), TEST(test_close_of_the_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
