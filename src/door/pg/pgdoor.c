/* SPDX-License-Identifier: Apache-2.0 */
/* pgdoor.c - the listener: accepts connections, a thread for each, cancels by key, ends them all.
 *
 * The list of connections is under one lock; a connection is freed by the listener (or by close) after its thread was
 * joined.  Invariants: (1) a session is cancelled only under the lock and while its connection is busy, so it cannot end at
 * the same time; (2) no thread outlives pgdoor_close. */
#include "door/pg/pg_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128, TICK_MS = 1000, GONE_AFTER_US = 900000, LAST_WAIT_US = 2000000 };

/* ---- the list of connections -------------------------------------------------------------------------------------- */

static void conn_free(PgConn *c)
{
    pthread_join(c->thread, NULL);
    arena_destroy(c->arena);
    free(c);
}

/* Takes finished connections off the list and frees them. */
static void reap(PgDoor *d)
{
    PgConn *done = NULL;

    pthread_mutex_lock(&d->lock);
    for (PgConn **at = &d->conns; *at;) {
        PgConn *c = *at;
        if (!c->finished) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        c->next = done;
        done = c;
        d->nconns--;
    }
    pthread_mutex_unlock(&d->lock);
    for (PgConn *next; done; done = next) {
        next = done->next;
        conn_free(done);
    }
}

static void cancel_locked(PgConn *c)
{
    if (!c->busy || !c->session)
        return;
    __atomic_store_n(&c->cancelled, 1, __ATOMIC_RELAXED);
    if (c->door->hooks.cancel)
        c->door->hooks.cancel(c->session);
}

void pg_cancel(PgDoor *d, int32_t id, int32_t key)
{
    pthread_mutex_lock(&d->lock);
    for (PgConn *c = d->conns; c; c = c->next)
        if (c->id == id && c->key == key)
            cancel_locked(c);
    pthread_mutex_unlock(&d->lock);
}

/* A command whose client has gone is cancelled: nobody waits for it. */
static void cancel_gone(PgDoor *d)
{
    int64_t now = clock_mono_us();

    pthread_mutex_lock(&d->lock);
    for (PgConn *c = d->conns; c; c = c->next) {
        struct pollfd p = { .fd = c->wire.fd, .events = POLLRDHUP };
        if (!c->busy || c->finished || poll(&p, 1, 0) <= 0)
            continue;
        if (!c->gone_us)
            c->gone_us = now;
        else if (now - c->gone_us > GONE_AFTER_US)
            cancel_locked(c);
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- accepting ------------------------------------------------------------------------------------------------------- */

static void socket_options(int fd)
{
    int on = 1, idle = 60, every = 15, count = 4;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

static bool is_loopback(const struct sockaddr_storage *s)
{
    if (s->ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)s)->sin_addr.s_addr) >> 24 == 127;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)s)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

static Str peer_name(Arena *a, const struct sockaddr_storage *s, socklen_t n)
{
    char host[64] = "", port[16] = "";
    getnameinfo((const struct sockaddr *)s, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    return str_fmt(a, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static PgConn *conn_new(PgDoor *d, int fd, const struct sockaddr_storage *s, socklen_t n)
{
    PgConn *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->door = d;
    c->arena = arena_create();
    c->login.peer = peer_name(c->arena, s, n);
    c->login.loopback = is_loopback(s);
    c->key = (int32_t)rand_u64();
    pg_wire_init(&c->wire, fd);
    return c;
}

static bool start(PgDoor *d, PgConn *c)
{
    pthread_mutex_lock(&d->lock);
    bool ok = d->nconns < d->max_connections + PG_SPARE && !pthread_create(&c->thread, NULL, pg_conn_main, c);
    if (ok) {
        d->last_id = d->last_id == INT32_MAX ? 1 : d->last_id + 1;
        c->id = d->last_id;
        c->next = d->conns;
        d->conns = c;
        d->nconns++;
    }
    pthread_mutex_unlock(&d->lock);
    return ok;
}

static void accept_one(PgDoor *d)
{
    struct sockaddr_storage s = { 0 };
    socklen_t n = sizeof s;

    int fd = accept4(d->listener, (struct sockaddr *)&s, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            poll(NULL, 0, 50);                           /* no descriptors: let some go */
        return;
    }
    socket_options(fd);
    PgConn *c = conn_new(d, fd, &s, n);
    if (!start(d, c)) {
        pg_wire_done(&c->wire);
        arena_destroy(c->arena);
        free(c);
    }
}

static void *listen_main(void *door)
{
    PgDoor *d = door;
    struct pollfd p[2] = { { .fd = d->listener, .events = POLLIN }, { .fd = d->wake[0], .events = POLLIN } };
    int64_t last = 0;

    while (!__atomic_load_n(&d->stopping, __ATOMIC_ACQUIRE)) {
        p[0].revents = p[1].revents = 0;
        int ready = poll(p, 2, TICK_MS);
        reap(d);                                         /* before accepting: what has ended counts no more */
        if (ready > 0 && p[0].revents)
            accept_one(d);
        if (clock_mono_us() - last > TICK_MS * 1000) {
            cancel_gone(d);
            last = clock_mono_us();
        }
    }
    return NULL;
}

/* ---- open ---------------------------------------------------------------------------------------------------------------- */

static void addr_freep(struct addrinfo **a)
{
    if (*a)
        freeaddrinfo(*a);
}

static int bound_port(int fd)
{
    struct sockaddr_storage s = { 0 };
    socklen_t n = sizeof s;

    getsockname(fd, (struct sockaddr *)&s, &n);
    return ntohs(s.ss_family == AF_INET ? ((struct sockaddr_in *)&s)->sin_port : ((struct sockaddr_in6 *)&s)->sin6_port);
}

static Status listen_on(const PgDoorOptions *o, int *ret, Error *err)
{
    CLEANUP(addr_freep) struct addrinfo *found = NULL;
    CLEANUP(file_closep) int fd = -1;
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    char *host = str_z(a, o->addr.n ? o->addr : S("127.0.0.1")), *port = str_z(a, str_fmt(a, "%d", o->port));
    int on = 1, why = getaddrinfo(host, port, &want, &found);

    if (why)
        return FAIL(err, E_IO, "SQL door: address '%s': %s", host, gai_strerror(why));
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return FAIL_ERRNO(err, "SQL door: socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, BACKLOG))
        return FAIL_ERRNO(err, "SQL door: listening on %s:%s", host, port);
    *ret = fd;
    fd = -1;
    return OK;
}

static void door_free(PgDoor *d)
{
    file_closep(&d->listener);
    file_closep(&d->wake[0]);
    file_closep(&d->wake[1]);
    SSL_CTX_free(d->tls);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static void door_freep(PgDoor **d)
{
    if (*d)
        door_free(*d);
}

Status pgdoor_open(const PgDoorOptions *o, const PgHooks *h, PgDoor **ret, Error *err)
{
    CLEANUP(door_freep) PgDoor *d = calloc(1, sizeof *d);

    if (!d)
        abort();
    d->hooks = *h;
    d->listener = d->wake[0] = d->wake[1] = -1;
    d->max_connections = o->max_connections > 0 ? o->max_connections : PG_CONNECTIONS;
    d->max_message = min_size(o->max_message ? o->max_message : PG_MESSAGE_DEFAULT, PG_MESSAGE_MAX);
    pthread_mutex_init(&d->lock, NULL);
    rand_bytes(d->salt_key, sizeof d->salt_key);
    if (o->tls_cert.n && o->tls_key.n)
        TRY(pg_tls_new(o->tls_cert, o->tls_key, &d->tls, err));
    TRY(listen_on(o, &d->listener, err));
    d->port = bound_port(d->listener);
    if (pipe2(d->wake, O_CLOEXEC | O_NONBLOCK))
        return FAIL_ERRNO(err, "SQL door: pipe");
    if (pthread_create(&d->thread, NULL, listen_main, d))
        return FAIL(err, E_UNAVAILABLE, "SQL door: no thread for the listener");
    *ret = d;
    d = NULL;
    return OK;
}

int pgdoor_port(const PgDoor *d) { return d->port; }

int64_t pgdoor_connections(const PgDoor *door)
{
    PgDoor *d = (PgDoor *)door;                           /* the lock alone changes */
    pthread_mutex_lock(&d->lock);
    int64_t n = d->nsessions;
    pthread_mutex_unlock(&d->lock);
    return n;
}

/* ---- close ---------------------------------------------------------------------------------------------------------------- */

typedef enum { END_IDLE, END_CANCEL, END_CUT } EndHow;

static void end_connections(PgDoor *d, EndHow how)
{
    pthread_mutex_lock(&d->lock);
    for (PgConn *c = d->conns; c; c = c->next) {
        if (c->finished || (how == END_IDLE && c->busy))
            continue;
        if (how == END_CANCEL)
            cancel_locked(c);
        shutdown(c->wire.fd, how == END_CUT ? SHUT_RDWR : SHUT_RD);
    }
    pthread_mutex_unlock(&d->lock);
}

/* Ends idle connections again and again, until all are finished or the time is over. */
static bool wait_finished(PgDoor *d, int64_t until_us, EndHow how)
{
    for (;;) {
        end_connections(d, how);
        reap(d);
        pthread_mutex_lock(&d->lock);
        bool none = !d->conns;
        pthread_mutex_unlock(&d->lock);
        if (none || clock_mono_us() >= until_us)
            return none;
        poll(NULL, 0, 20);
    }
}

void pgdoor_close(PgDoor *d, int grace_seconds)
{
    if (!d)
        return;
    __atomic_store_n(&d->stopping, 1, __ATOMIC_RELEASE);
    ssize_t woken UNUSED = write(d->wake[1], "x", 1);
    pthread_join(d->thread, NULL);
    file_closep(&d->listener);
    d->listener = -1;
    if (!wait_finished(d, clock_mono_us() + grace_seconds * INT64_C(1000000), END_IDLE)
        && !wait_finished(d, clock_mono_us() + LAST_WAIT_US, END_CANCEL))
        while (!wait_finished(d, clock_mono_us() + LAST_WAIT_US, END_CUT))
            ;
    door_free(d);
}
