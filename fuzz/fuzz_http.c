/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_http.c - the input is what a client sends: over a real connection to the S3 door on a memory store, unsigned requests
 * being allowed.  The server must answer or close, and must still answer a sane request afterwards. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "door/s3/s3door.h"

enum { CHECK_EVERY = 64, RESET_EVERY = 4096 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static HttpServer *server;
static Store *store;

static Status secret(void *ctx, Arena *a, const HttpRequest *r, const SigClaim *c, Str *ret, void **principal, Error *err)
{
    (void)ctx, (void)a, (void)r, (void)c, (void)principal, (void)err;
    *ret = S("secret");
    return OK;
}

static Status allow(void *ctx, Arena *a, void *principal, const char *action, Str bucket, Str key, const Props *context, Error *err)
{
    (void)ctx, (void)a, (void)principal, (void)action, (void)bucket, (void)key, (void)context, (void)err;
    return OK;
}

static void handle(void *door, HttpRequest *r, HttpAnswer *ret)
{
    s3_handle(door, r, ret);
}

static void need(Status st)
{
    if (st != OK)
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    Error err;
    HttpServerOptions o = { .addr = S("127.0.0.1"), .idle_seconds = 5, .name = "fuzz" };
    BucketInfo b = { .name = S("bkt") };

    (void)argc, (void)argv;
    log_setup(LOG_ERROR, false);
    need(store_open_memory(&store, &err));
    need(store_bucket_create(store, &b, &err));
    S3DoorOptions d = { .store = store, .hooks = { .secret = secret, .allow = allow }, .region = S("r"), .owner_id = S("o"), .owner_name = S("o") };
    need(http_serve(&o, handle, s3_door_new(&d), &server, &err));
    return 0;
}

static size_t exchange(const char *p, size_t n)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)http_server_port(server)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    CLEANUP(file_closep) int fd = socket(AF_INET, SOCK_STREAM, 0);
    char buf[4096];
    size_t total = 0;

    if (connect(fd, (struct sockaddr *)&in, sizeof in) < 0)
        abort();
    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            break;
        p += k;
        n -= (size_t)k;
    }
    shutdown(fd, SHUT_WR);
    for (ssize_t k; (k = recv(fd, buf, sizeof buf, 0)) > 0;)
        total += (size_t)k;
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sane[] = "GET /bkt?list-type=2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    static unsigned rounds;
    BucketInfo b = { .name = S("bkt") };
    Error err;

    exchange((const char *)data, size);
    rounds++;
    if (rounds % CHECK_EVERY == 0 && !exchange(sane, sizeof sane - 1))
        abort();
    if (rounds % RESET_EVERY == 0) {
        need(store_reset(store, &err));
        need(store_bucket_create(store, &b, &err));
    }
    return 0;
}
