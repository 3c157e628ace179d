/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - a child's two streams, line by line into the logs, while time and stop are watched.
 *
 * Lines are gathered for a moment and written together.  A stream that is longer than OUTPUT_BYTES_MAX is read on and thrown away, with
 * one line that says so: a script cannot fill the disk by printing. */
#include "jobs/jobs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 65536, READ_BYTES = 65536, POLL_MS = 100, GATHER_LINES = 500, GATHER_BYTES = 256 * 1024, ERROR_CHARS = 1000, LEFT_BEHIND_US = 1000000 };

typedef struct Stream { const char *group; int fd, is_errors; Arena *a; LogEvents lines; size_t gathered, used; char part[LINE_MAX_BYTES]; size_t npart; } Stream;

static void flush(JobRun *r, Stream *s)
{
    Error err;

    if (s->lines.n && logs_write_all(r->jobs->svc->logs, str_c(s->group), 0, r->id, &s->lines, &err) != OK)
        log_error(&err, "a job's output could not be stored", "run", str_z(r->a, r->id), NULL);
    arena_destroy(s->a);
    s->a = arena_create();
    s->lines = (LogEvents){0};
    s->gathered = 0;
}

/* "ZeroDivisionError: division by zero", "org.x.SomeException: …" */
static bool names_an_error(Str line)
{
    Str head, tail;
    ptrdiff_t blank = str_chr(line, ' ');

    str_cut(blank < 0 ? line : str_sub(line, 0, (size_t)blank), ':', &head, &tail);
    return str_ends(head, S("Error")) || str_ends(head, S("Exception")) || str_ends(head, S("Exit")) || str_ends(head, S("Interrupt"));
}

static void keep_error(JobRun *r, Str line)
{
    if (str_trim(line).n && (names_an_error(line) || !names_an_error(r->last_error)))
        r->last_error = str_dup(r->a, str_sub(line, 0, ERROR_CHARS));
}

/* Bytes that are no UTF-8 become '?': the logs are text. */
static Str as_text(Arena *a, Str s)
{
    if (str_is_utf8(s) && str_chr(s, 0) < 0)
        return str_dup(a, s);
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = s.p[i] > 0 ? s.p[i] : '?';
    return str_n(p, s.n);
}

static void add_line(JobRun *r, Stream *s, Str line)
{
    LogEvent e = { .time_ms = clock_ms() };

    if (s->used > OUTPUT_BYTES_MAX)
        return;
    s->used += line.n + LOGS_EVENT_OVERHEAD;
    if (!line.n)
        return;                                       /* the service has no empty events */
    e.message = s->used > OUTPUT_BYTES_MAX ? S("[firn: the output is over its limit; the rest is not kept]") : as_text(s->a, line);
    if (s->is_errors)
        keep_error(r, e.message);
    vec_push(s->a, &s->lines, e);
    s->gathered += line.n;
    if (s->lines.n >= GATHER_LINES || s->gathered >= GATHER_BYTES)
        flush(r, s);
}

static void take(JobRun *r, Stream *s, Str bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        bool end = bytes.p[i] == '\n';
        if (!end)
            s->part[s->npart++] = bytes.p[i];
        if (end || s->npart == sizeof s->part) {
            size_t n = s->npart && end && s->part[s->npart - 1] == '\r' ? s->npart - 1 : s->npart;
            add_line(r, s, str_n(s->part, n));
            s->npart = 0;
        }
    }
}

/* false: the stream has ended. */
static bool read_some(JobRun *r, Stream *s)
{
    char buf[READ_BYTES];
    ssize_t n = read(s->fd, buf, sizeof buf);

    if (n > 0)
        take(r, s, str_n(buf, (size_t)n));
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void finish(JobRun *r, Stream *s)
{
    if (s->npart)
        add_line(r, s, str_n(s->part, s->npart));
    flush(r, s);
    arena_destroy(s->a);
}

static bool wait_and_read(JobRun *r, Stream *streams)
{
    struct pollfd p[2] = { { .fd = streams[0].fd, .events = POLLIN }, { .fd = streams[1].fd, .events = POLLIN } };
    int n = poll(p, 2, POLL_MS);

    for (int i = 0; i < 2; i++) {
        if (n > 0 && p[i].revents && !read_some(r, &streams[i]))
            streams[i].fd = -1;
        if (n <= 0)
            flush(r, &streams[i]);
    }
    return streams[0].fd >= 0 || streams[1].fd >= 0;
}

static bool was_stopped(JobRun *r)
{
    pthread_mutex_lock(&r->jobs->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->jobs->lock);
    return stop;
}

static bool has_ended(pid_t pid)
{
    siginfo_t gone = {0};                             /* only looked at: run.c collects it */
    return waitid(P_PID, (id_t)pid, &gone, WEXITED | WNOHANG | WNOWAIT) == 0 && gone.si_pid;
}

static PumpEnd why_end(JobRun *r)
{
    if (was_stopped(r))
        return PUMP_STOPPED;
    return clock_mono_us() - r->started_mono_us > r->timeout_ms * 1000 ? PUMP_TIMEOUT : PUMP_ENDED;
}

/* Somebody that the script left behind may hold a stream open: it is killed with the group, and not waited for. */
static PumpEnd pump(JobRun *r, Stream *s)
{
    int64_t gone_us = 0;
    PumpEnd end = PUMP_ENDED;

    while (wait_and_read(r, s)) {
        if (end == PUMP_ENDED && !gone_us)
            end = why_end(r);
        if (!gone_us && has_ended(r->pid))
            gone_us = clock_mono_us();
        if (end != PUMP_ENDED || gone_us)
            job_child_kill(r->pid);
        if (gone_us && clock_mono_us() - gone_us > LEFT_BEHIND_US)
            break;
    }
    return end == PUMP_ENDED && was_stopped(r) ? PUMP_STOPPED : end;
}

PumpEnd job_pump(JobRun *r)
{
    Stream *s = arena_array(r->a, Stream, 2);

    s[0] = (Stream){ .group = JOB_OUTPUT_GROUP, .fd = r->out, .a = arena_create() };
    s[1] = (Stream){ .group = JOB_ERROR_GROUP, .fd = r->errors, .is_errors = 1, .a = arena_create() };
    fcntl(r->out, F_SETFL, O_NONBLOCK);
    fcntl(r->errors, F_SETFL, O_NONBLOCK);
    PumpEnd end = pump(r, s);
    finish(r, &s[0]);
    finish(r, &s[1]);
    return end;
}

void job_say(JobRun *r, const char *group, Str text)
{
    Error err;
    if (logs_write(r->jobs->svc->logs, str_c(group), r->id, text, &err) != OK)
        log_error(&err, "a job's log could not be written", "run", str_z(r->a, r->id), NULL);
}
