/* SPDX-License-Identifier: Apache-2.0 */
/* child.c - a process that cannot reach the data folder or the server.
 *
 * Between fork and exec only system calls are made: the server has threads, and whatever lock they held is held for ever in the child.
 *
 * In namespaces: a new mount namespace where the run's folder is /tmp, the data folder lies under an empty file system and everything but
 * /tmp is read-only; a new process namespace with a /proc of its own, so that the server has no number there; for a server that is not root also a
 * user namespace, which gives the right to do the former.  A server that is root changes to glue.job_user or nobody before the script runs.
 *   server -- A (leads the group, outside) -- B (process 1 inside: reaps, and all inside end with it) -- C (the script)
 * By user alone (root, glue.job_user, no namespaces allowed): the data folder's mode 0700 and the kernel's rules for signals and /proc do it.
 *
 * Invariants: (1) nothing is inherited but three descriptors and the given environment, and the copies of the server that stay (A, B) are out of reach; (2) no new privileges, no capabilities, no system calls that make namespaces or reach into processes (filter.c); (3) a step that
 * fails ends the child with 126, and says which step on its error stream: a script never runs less shut off than it should. */
#include "jobs/jobs_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <grp.h>
#include <unistd.h>

enum { PROCESSES_MAX = 4096, FILES_MAX = 4096, EXIT_SETUP = 126, EXIT_SIGNAL = 128 };
static const rlim_t FILE_BYTES_MAX = 4ULL << 30;

/* ---- in the child: system calls alone ---------------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) give_up(const char *step)
{
    char text[16];
    int e = errno, n = 0;
    const char *parts[] = { "firn: the job cannot be shut off: ", step, ": errno ", text, "\n" };

    for (int k = 100; k; k /= 10)
        text[n++] = (char)('0' + e / k % 10);
    text[n] = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    _exit(EXIT_SETUP);
}

static void must(int rc, const char *step)
{
    if (rc != 0)
        give_up(step);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        give_up(path);
    close(fd);
}

static void limit(int what, rlim_t n, const char *step)
{
    struct rlimit now;

    must(getrlimit(what, &now), step);
    if (now.rlim_max == RLIM_INFINITY || n < now.rlim_max)
        now.rlim_max = n;
    now.rlim_cur = now.rlim_max;
    must(setrlimit(what, &now), step);
}

static void set_limits(const JobChild *c)
{
    limit(RLIMIT_CORE, 0, "limit of core files");
    limit(RLIMIT_NOFILE, FILES_MAX, "limit of open files");
    limit(RLIMIT_NPROC, PROCESSES_MAX, "limit of processes");
    limit(RLIMIT_FSIZE, FILE_BYTES_MAX, "limit of file size");
    if (c->memory_bytes > 0)
        limit(RLIMIT_DATA, (rlim_t)c->memory_bytes, "limit of memory");
}

static void change_user(const JobChild *c)
{
    if (!c->change_user)
        return;
    must(setgroups(0, NULL), "setgroups");
    must(setresgid(c->gid, c->gid, c->gid), "setresgid");
    must(setresuid(c->uid, c->uid, c->uid), "setresuid");
}

static void protect(unsigned long long set, unsigned long long clear, const char *path, unsigned flags, const char *step)
{
    struct mount_attr attr = { .attr_set = set, .attr_clr = clear };
    must((int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attr, sizeof attr), step);
}

/* The run's folder becomes /tmp first: a data folder that lies below /tmp is gone by that already. */
static void set_mounts(const JobChild *c)
{
    struct stat st;

    must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private mounts");
    must(mount(c->dir, "/tmp", NULL, MS_BIND, NULL), "the run's folder as /tmp");
    if (stat(c->cover, &st) == 0)
        must(mount("none", c->cover, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,mode=0555"), "cover of the data folder");
    else if (errno != ENOENT)
        give_up("data folder");
    must(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "an own /proc");
    protect(MOUNT_ATTR_RDONLY, 0, "/", AT_RECURSIVE, "read-only mounts");
    protect(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, MOUNT_ATTR_RDONLY, "/tmp", 0, "a writable /tmp");
    if (stat("/dev/shm", &st) == 0)
        must(mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "size=256m,mode=1777"), "an own /dev/shm");
}

static void __attribute__((noreturn)) run_script(const JobChild *c)
{
    sigset_t none;

    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    must(job_filter_calls(), "the filter of system calls");
    execve(c->argv[0], c->argv, c->envp);
    give_up(c->argv[0]);
}

/* As process 1 of its namespace it has to collect everybody; the script's own end is what counts. */
static void __attribute__((noreturn)) be_init(pid_t script)
{
    int status;
    pid_t p;

    while ((p = wait(&status)) != script)
        if (p < 0 && errno != EINTR)
            _exit(EXIT_SETUP);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

static pid_t must_fork(void)
{
    pid_t p = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);      /* fork(3) runs handlers of libraries, which may wait for locks */
    if (p < 0)
        give_up("fork");
    return p;
}

/* What a copy of the server must not show: its command line and environment in /proc/1, which anybody may read. */
typedef struct Told { char uid[64], gid[64]; struct { char *p; size_t n; } wipe[2]; } Told;

static void forget(const Told *t)
{
    for (size_t i = 0; i < COUNT_OF(t->wipe); i++)
        for (volatile char *p = t->wipe[i].p; p && p < t->wipe[i].p + t->wipe[i].n; p++)
            *p = 0;
}

/* This process is a copy of the server with all its secrets: not dumpable, its memory is closed to the script, which may run as the same user. */
static void __attribute__((noreturn)) inside(const JobChild *c, const Told *t)
{
    forget(t);
    set_mounts(c);
    must(chdir("/tmp"), "chdir");
    change_user(c);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "death with the parent");
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "closed memory");
    set_limits(c);
    pid_t script = must_fork();
    if (script == 0)
        run_script(c);
    be_init(script);
}

static void enter_namespaces(uid_t uid, const char *uid_map, const char *gid_map)
{
    int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;

    if (uid != 0)
        flags |= CLONE_NEWUSER;
    must(unshare(flags), "namespaces");
    if (uid == 0)
        return;
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", uid_map);
    write_file("/proc/self/gid_map", gid_map);
}

static void __attribute__((noreturn)) by_user(const JobChild *c)
{
    must(chdir(c->dir), "chdir");
    change_user(c);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "death with the parent");
    set_limits(c);
    run_script(c);
}

static void __attribute__((noreturn)) child(const JobChild *c, const Told *t, int out, int errors)
{
    int null = open("/dev/null", O_RDONLY);

    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(errors, STDERR_FILENO) < 0)
        _exit(EXIT_SETUP);
    must((int)syscall(SYS_close_range, 3, ~0U, 0), "closing descriptors");      /* (1) */
    must(setsid() < 0, "a session of its own");
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "death with the server");
    if (c->shut != SHUT_NAMESPACES)
        by_user(c);
    enter_namespaces(geteuid(), t->uid, t->gid);
    pid_t init = must_fork();
    if (init == 0)
        inside(c, t);
    close(STDOUT_FILENO);
    int status;
    while (waitpid(init, &status, 0) < 0)
        if (errno != EINTR)
            _exit(EXIT_SETUP);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status));
}

/* ---- in the server -------------------------------------------------------------------------------------------------------------- */

static void close_pair(int p[2])
{
    file_closep(&p[0]);
    file_closep(&p[1]);
}

/* Where this process keeps its arguments and environment: fields 48 to 51 of /proc/self/stat (proc(5)). */
static void find_own_words(Told *t)
{
    enum { ARG_START = 48, AFTER_NAME = 3 };
    unsigned long at[4] = {0};
    char buf[4096];
    CLEANUP(file_closep) int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, buf, sizeof buf - 1) : -1;

    buf[n > 0 ? n : 0] = 0;
    char *p = strrchr(buf, ')');
    for (int field = AFTER_NAME - 1; p && field < ARG_START; field++)
        p = strchr(p + 1, ' ');
    if (!p || sscanf(p, " %lu %lu %lu %lu", &at[0], &at[1], &at[2], &at[3]) != 4)
        return;
    for (int i = 0; i < 2; i++)
        if (at[2 * i] && at[2 * i + 1] > at[2 * i]) {
            t->wipe[i].p = (char *)at[2 * i];
            t->wipe[i].n = at[2 * i + 1] - at[2 * i];
        }
}

Status job_child_start(const JobChild *c, pid_t *pid, int *out, int *errors, Error *err)
{
    int o[2] = { -1, -1 }, e[2] = { -1, -1 };
    Told t = {0};

    snprintf(t.uid, sizeof t.uid, "%u %u 1\n", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(t.gid, sizeof t.gid, "%u %u 1\n", (unsigned)getegid(), (unsigned)getegid());
    find_own_words(&t);
    if (pipe2(o, O_CLOEXEC) != 0 || pipe2(e, O_CLOEXEC) != 0) {
        Status s = FAIL_ERRNO(err, "making pipes for a job");
        close_pair(o);
        close_pair(e);
        return s;
    }
    pid_t p = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (p == 0)
        child(c, &t, o[1], e[1]);
    file_closep(&o[1]);
    file_closep(&e[1]);
    if (p < 0) {
        Status s = FAIL_ERRNO(err, "starting a job");
        close_pair(o);
        close_pair(e);
        return s;
    }
    *pid = p;
    *out = o[0];
    *errors = e[0];
    return OK;
}

void job_child_kill(pid_t pid)
{
    if (pid <= 0)
        return;
    if (kill(-pid, SIGKILL) != 0)
        kill(pid, SIGKILL);                           /* before its setsid */
}

static bool works(JobShut shut, const char *cover, int change, uid_t uid, gid_t gid)
{
    char yes[] = "/bin/true", dir[] = "/tmp/firn-probe-XXXXXX", *argv[] = { yes, NULL }, *envp[] = { NULL };
    JobChild c = { .argv = argv, .envp = envp, .dir = dir, .cover = cover, .shut = shut, .change_user = change, .uid = uid, .gid = gid };
    int out = -1, errors = -1, status = -1;
    Error ignored;
    pid_t pid;

    if (!mkdtemp(dir))
        return false;
    if (chown(dir, change ? uid : (uid_t)-1, change ? gid : (gid_t)-1) == 0 && job_child_start(&c, &pid, &out, &errors, &ignored) == OK)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    file_closep(&out);
    file_closep(&errors);
    rmdir(dir);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

JobShut job_child_probe(const char *cover, int change, uid_t uid, gid_t gid)
{
    if (works(SHUT_NAMESPACES, cover, change, uid, gid))
        return SHUT_NAMESPACES;
    return change && geteuid() == 0 && works(SHUT_USER, cover, change, uid, gid) ? SHUT_USER : SHUT_OPEN;
}
