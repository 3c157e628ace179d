/* SPDX-License-Identifier: Apache-2.0 */
/* pg_startup.c - from the first byte to a session: TLS, cancel requests, start-up parameters, authentication.
 *
 * Until a client has proven who it is, it can make us hold a few kilobytes and one minute, nothing more. */
#include "door/pg/pg_int.h"

#include <stdio.h>

enum { CODE_CANCEL = 80877102, CODE_SSL = 80877103, CODE_GSS = 80877104, VERSION_MAJOR = 3, VERSION_3_0 = 3 << 16 };

static Status refuse(Error *err, Status s, const char *sqlstate)
{
    snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
    return s;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------- */

/* One word of `options`: blanks separate, a backslash takes the next byte as it is. */
static bool option_word(Arena *a, Str s, size_t *at, Str *ret)
{
    StrBuf b = sb_new(a);

    while (*at < s.n && strchr(" \t\n\r\v\f", s.p[*at]))
        ++*at;
    if (*at == s.n)
        return false;
    for (; *at < s.n && !strchr(" \t\n\r\v\f", s.p[*at]); ++*at) {
        if (s.p[*at] == '\\' && *at + 1 < s.n)
            ++*at;
        sb_byte(&b, s.p[*at]);
    }
    *ret = sb_str(&b);
    return true;
}

static Status set_option(Arena *a, Str setting, Props *ret, Error *err)
{
    Str key, value;

    if (!str_cut(setting, '=', &key, &value) || !key.n) {
        RAISE(err, E_INVALID, "invalid command-line argument \"" STR_FMT "\" in the options", STR_ARG(str_sub(setting, 0, 80)));
        return refuse(err, E_INVALID, "42601");
    }
    char *name = str_z(a, key);
    for (char *p = name; *p; p++)
        if (*p == '-')
            *p = '_';
    props_set(a, ret, str_n(name, key.n), value);
    return OK;
}

Status pg_login_options(Arena *a, Str text, Props *ret, Error *err)
{
    size_t at = 0;
    Str word;

    while (option_word(a, text, &at, &word)) {
        if (str_eq(word, S("-c"))) {
            if (!option_word(a, text, &at, &word))
                word = S("");
        } else if (str_starts(word, S("-c")) || str_starts(word, S("--"))) {
            word = str_from(word, 2);
        } else {
            RAISE(err, E_INVALID, "invalid command-line argument \"" STR_FMT "\" in the options", STR_ARG(str_sub(word, 0, 80)));
            return refuse(err, E_INVALID, "42601");
        }
        TRY(set_option(a, word, ret, err));
    }
    return OK;
}

static bool is_utf8_name(Str s)
{
    static const char *const names[] = { "utf8", "utf-8", "unicode", "'utf8'", "'utf-8'", "sql_ascii", "auto", "" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_ieq(s, str_c(names[i])))
            return true;
    return false;
}

static Status one_parameter(PgConn *c, Str key, Str value, Error *err)
{
    Arena *a = c->arena;

    key = str_dup(a, key);
    value = str_dup(a, value);
    if (str_eq(key, S("user"))) {
        c->login.user = value;
    } else if (str_eq(key, S("database"))) {
        c->login.database = value;
    } else if (str_eq(key, S("options"))) {
        return pg_login_options(a, value, &c->login.options, err);
    } else if (str_eq(key, S("replication"))) {
        if (!str_ieq(value, S("false")) && !str_ieq(value, S("off")) && !str_ieq(value, S("no")) && !str_eq(value, S("0")))
            return FAIL(err, E_UNSUPPORTED, "replication connections are not supported");
    } else if (str_eq(key, S("client_encoding"))) {
        if (!is_utf8_name(value))
            return FAIL(err, E_INVALID, "client_encoding \"" STR_FMT "\" is not supported: use UTF8", STR_ARG(value));
    } else {
        if (str_eq(key, S("application_name")))
            c->login.application = value;
        props_set(a, &c->login.options, key, value);
    }
    return OK;
}

static Status negotiate(PgConn *c, int minor, const StrVec *unknown)
{
    PgOut *o = &c->wire.out;

    if (!minor && !unknown->n)
        return OK;
    pg_out_begin(o, 'v');
    pg_out_i32(o, VERSION_3_0);
    pg_out_i32(o, (int64_t)unknown->n);
    for vec_each(Str, s, unknown)
        pg_out_cstr(o, *s);
    pg_out_end(o);
    return OK;
}

static Status read_parameters(PgConn *c, int minor, PgIn *in, Error *err)
{
    StrVec unknown = { 0 };

    for (;;) {
        Str key = pg_in_cstr(in);
        if (in->bad || (!key.n && !pg_in_done(in)))
            break;
        if (!key.n) {
            if (!c->login.user.n) {
                RAISE(err, E_INVALID, "no user name specified in the start-up packet");
                return refuse(err, E_INVALID, "28000");
            }
            if (!c->login.database.n)
                c->login.database = c->login.user;
            return negotiate(c, minor, &unknown);
        }
        Str value = pg_in_cstr(in);
        if (in->bad || !str_is_utf8(key) || !str_is_utf8(value))
            break;
        if (str_starts(key, S("_pq_.")))
            vec_push(c->arena, &unknown, str_dup(c->arena, key));
        else
            TRY(one_parameter(c, key, value, err));
    }
    RAISE(err, E_INVALID, "invalid start-up packet layout");
    return refuse(err, E_INVALID, "08P01");
}

/* ---- the first packets ------------------------------------------------------------------------------------------------ */

static void answer_byte(PgConn *c, char b)
{
    pg_out_u8(&c->wire.out, b);
    c->wire.out.start = c->wire.out.n;
    pg_wire_flush(&c->wire);
}

static Status ask_tls(PgConn *c, Error *err)
{
    if (!c->door->tls || c->wire.ssl) {
        answer_byte(c, 'N');
        return OK;
    }
    if (pg_wire_pending(&c->wire))
        return pg_wire_accept_tls(&c->wire, c->door->tls, err);      /* fails: see there */
    answer_byte(c, 'S');
    TRY(pg_wire_accept_tls(&c->wire, c->door->tls, err));
    c->login.tls = 1;
    return OK;
}

Status pg_startup(PgConn *c, int *proceed, Error *err)
{
    Str packet;

    *proceed = 0;
    if (c->door->tls && pg_wire_peek_tls(&c->wire)) {
        TRY(pg_wire_accept_tls(&c->wire, c->door->tls, err));
        c->login.tls = 1;
    }
    for (int tries = 0; tries < 4; tries++) {
        TRY(pg_wire_startup(&c->wire, &packet, err));
        PgIn in = pg_in(packet);
        int32_t code = pg_in_i32(&in);
        if (code == CODE_SSL) {
            TRY(ask_tls(c, err));
        } else if (code == CODE_GSS) {
            answer_byte(c, 'N');
        } else if (code == CODE_CANCEL) {
            int32_t id = pg_in_i32(&in), key = pg_in_i32(&in);
            if (pg_in_done(&in))
                pg_cancel(c->door, id, key);
            return OK;
        } else if (code >> 16 != VERSION_MAJOR) {
            return FAIL(err, E_UNSUPPORTED, "unsupported frontend protocol %u.%u: server supports 3.0", (unsigned)code >> 16,
                        (unsigned)code & 0xffff);
        } else {
            *proceed = 1;
            return read_parameters(c, code & 0xffff, &in, err);
        }
    }
    return FAIL(err, E_INVALID, "too many requests before the start-up packet");
}

/* ---- authentication ----------------------------------------------------------------------------------------------------- */

static void send_auth(PgConn *c, int code, Str data)
{
    pg_out_begin(&c->wire.out, 'R');
    pg_out_i32(&c->wire.out, code);
    pg_out_bytes(&c->wire.out, data);
    pg_out_end(&c->wire.out);
    pg_wire_flush(&c->wire);
}

static Status read_password(PgConn *c, Str *body, Error *err)
{
    char type;

    TRY(pg_wire_message(&c->wire, PG_SASL_BYTES, &type, body, err));
    if (type == 'p')
        return OK;
    RAISE(err, E_INVALID, "expected a SASL response, got message type %d", type);
    return refuse(err, E_INVALID, "08P01");
}

static Status auth_failed(PgConn *c, Error *err)
{
    char why[128];
    snprintf(why, sizeof why, "%.100s", err->message);
    int wrong_proof = err->code == E_AUTH;

    RAISE(err, E_AUTH, "password authentication failed for user \"" STR_FMT "\"", STR_ARG(str_sub(c->login.user, 0, 200)));
    if (!wrong_proof)
        error_detail(err, "%s", why);
    error_hint(err, "The user is an access key id, the password its secret.");
    return E_AUTH;
}

static Status choose_mechanism(PgConn *c, PgScram *s, Str body, Str *first, Error *err)
{
    PgIn in = pg_in(body);
    Str name = pg_in_cstr(&in);
    int32_t n = pg_in_i32(&in);

    s->plus = str_eq(name, S("SCRAM-SHA-256-PLUS")) && s->end_point.n;
    if (in.bad || (!s->plus && !str_eq(name, S("SCRAM-SHA-256"))) || n < 0 || (size_t)n != pg_in_left(&in)) {
        RAISE(err, E_INVALID, "client selected an invalid SASL authentication mechanism");
        return refuse(err, E_INVALID, "08P01");
    }
    *first = str_dup(c->arena, pg_in_bytes(&in, (size_t)n));
    return OK;
}

static Status scram(PgConn *c, Arena *a, PgScram *s, Error *err)
{
    Str body, reply;

    s->end_point = c->wire.ssl ? pg_tls_end_point(a, c->wire.ssl) : (Str){ 0 };
    send_auth(c, 10, s->end_point.n ? str_n("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0", 34) : str_n("SCRAM-SHA-256\0", 15));
    TRY(read_password(c, &body, err));
    TRY(choose_mechanism(c, s, body, &body, err));
    if (pg_scram_first(a, s, body, &reply, err) != OK)
        return auth_failed(c, err);
    send_auth(c, 11, reply);
    TRY(read_password(c, &body, err));
    if (pg_scram_final(a, s, body, &reply, err) != OK)
        return auth_failed(c, err);
    send_auth(c, 12, reply);
    return OK;
}

Status pg_authenticate(PgConn *c, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    PgHooks *h = &c->door->hooks;
    PgScram s = { 0 };
    int trust = 0;

    Status known = h->secret(h->ctx, a, &c->login, &s.secret, &trust, err);
    if (known != OK && known != E_AUTH)
        return known;
    s.sham = known == E_AUTH;
    if (s.sham)
        s.secret = S("no such user");
    s.salt = str_sub(hmac_sha256(a, str_n(c->door->salt_key, sizeof c->door->salt_key), c->login.user), 0, 16);
    if (!trust || s.sham)
        TRY(scram(c, a, &s, err));
    send_auth(c, 0, (Str){ 0 });
    return OK;
}
